"""What exactness costs and gives: the same question three times, the idle work after an answer, and, with
`--before TREE`, first tokens and decoding against an earlier checkout, in turns with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from engine import Message, Sampling
from tests.bench.chat import WRITTEN, Player
from tests.bench.engine_rows import SHORT, endless
from tests.bench.rows import Row, Side, alternate, ratio_row

TURNS = 200
QUESTIONS = 120
TOPICS = ("a river", "bread", "the moon", "a bicycle", "tea", "winter", "a library", "salt", "bees", "a lighthouse")
ASKED = (
    "What is {}?", "Say one sentence about {}.", "Name three facts about {}.", "Why do people like {}?",
    "Write a line of verse about {}.", "What colour is {}?", "Where would you find {}?", "Is {} old?",
    "What is {} good for?", "Tell a child about {}.", "What is the opposite of {}?", "Ask me something about {}.",
)  # fmt: skip
"""120 short questions."""


def measure(player: Player, count: int, before: Path | None) -> Iterator[Row]:
    """The rows of this module, `count` samples a side; `before` is a checkout of an earlier state."""
    yield _bit_by_bit()
    yield _repeated(player)
    yield _idle(player, count)
    if before is not None:
        with _earlier(before) as ask:
            yield from _against(player, ask, count)


def _bit_by_bit() -> Row:
    """Turns of real text with everything that may happen between them, on one to four threads: all logits."""
    equal = 0
    for threads in range(1, 5):
        command = [sys.executable, "-m", "tests.engine.exact_turns", "--turns", str(TURNS // 4), "--seed", str(threads)]
        ran = subprocess.run([*command, "--threads", str(threads)], capture_output=True, text=True, check=False)
        equal += int(ran.stdout.splitlines()[-1].split()[0])
    title = f"turns of {TURNS} whose logits are the same bits with the cache and without, 1 to 4 threads"
    return Row("Z3", title, equal, "", str(TURNS), "")


def _repeated(player: Player) -> Row:
    """Greedy answers to short questions, asked again when other questions have taken the lane."""
    sampling = Sampling(temperature=0, max_tokens=24)
    questions = [form.format(topic) for topic in TOPICS for form in ASKED][:QUESTIONS]
    rounds = [[player.ask_plainly("Be brief.", each, sampling).token_ids for each in questions] for _ in range(3)]
    equal = sum(len(set(answers)) == 1 for answers in zip(*rounds, strict=True))
    return Row("Z4", f"greedy answers to {QUESTIONS} short questions equal three times", equal, "", str(QUESTIONS), "")


def _idle(player: Player, count: int) -> Row:
    """Processor time of what is done while nobody waits after an answer, and of reading its tokens as a prompt."""
    history: list[Message] = []

    def after_an_answer() -> float:
        question = player.new_question()
        finished = player.ask([], question, written=200)
        start = time.process_time()
        wait_until_idle(player)
        history[:] = [Message("user", question), Message("assistant", finished.text, finished.token_ids)]
        return time.process_time() - start

    def read_once() -> float:
        responder = player.engine.worker.responder
        assert responder is not None
        cache, model = responder.cache, responder.model
        ids = next(reversed(responder.last_turns.all.values())).ids
        run = cache.begin((*ids, 0), 1)
        cache.restore(run)
        written = len(history[1].token_ids)
        start = time.process_time()
        model.forward(ids[-written:], run.lane, len(ids) - written)
        spent = time.process_time() - start
        cache.finish(run)
        return spent

    with endless(player.engine):
        samples = alternate({"idle": after_an_answer, "once": read_once}, count)
    title = "idle work after an answer / reading its tokens once"
    return ratio_row("Z5", title, samples, "idle", "once", "<= 1.2", "1.05")


def _against(player: Player, ask: Any, count: int) -> Iterator[Row]:
    rows: tuple[tuple[str, str, str, str, str], ...] = (
        ("Z1", "third", "third turn's first token / before", "<= 1.1", "1"),
        ("Z2", "cold", "cold first token / before", "<= 1.1", "1"),
        ("Z6a", "short", "decode tok/s, 60 tokens of context / before", ">= 0.98", "1"),
        ("Z6b", "long", "decode tok/s, 3,000 tokens of context / before", ">= 0.98", "1"),
    )
    own = sides(player)
    for row, name, title, must, aim in rows:
        samples = alternate({"now": own[name], "before": partial(ask, name)}, count)
        yield ratio_row(row, title, samples, "now", "before", must, aim)


def sides(player: Player) -> dict[str, Side]:
    """What is measured here and there, by name: seconds to a first token, or tokens a second."""

    def speed(is_short: bool) -> float:
        with endless(player.engine):
            if is_short:
                return player.ask_plainly("You write.", SHORT, Sampling(0, max_tokens=WRITTEN)).stats.tokens_per_s
            return player.ask([], player.new_question(), written=WRITTEN).stats.tokens_per_s

    return {
        "third": lambda: _third_turn(player),
        "cold": lambda: player.ttft(use_cache=False),
        "short": lambda: speed(True),
        "long": lambda: speed(False),
    }


def _third_turn(player: Player) -> float:
    """TTFT in seconds of the third turn of a new conversation, with the pauses of somebody who reads."""
    history: list[Message] = []
    for _ in range(3):
        question = player.new_question()
        finished = player.ask(history, question, written=24)
        history += [Message("user", question), Message("assistant", finished.text, finished.token_ids)]
        wait_until_idle(player)
    assert finished.stats.ttft_s is not None
    return finished.stats.ttft_s


def wait_until_idle(player: Player) -> None:
    """Until the engine has nothing left to do."""
    engine = player.engine
    worker = getattr(engine, "worker", None) or vars(engine)["_worker"]  # as earlier checkouts have it
    while worker.idle_work is not None:
        time.sleep(0.02)


EARLIER = """
import importlib.util, json, sys
from tests.bench.chat import Player
spec = importlib.util.spec_from_file_location("exact_rows_of_now", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
player = Player()
sides = module.sides(player)
for line in sys.stdin:
    print("->", json.dumps(sides[json.loads(line)]()), flush=True)
player.close()
"""


@contextmanager
def _earlier(tree: Path) -> Iterator[Any]:
    """An earlier checkout in a process of its own, whose engine is driven as the one here."""
    command = [sys.executable, "-c", EARLIER, __file__]
    process = subprocess.Popen(
        command, cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, text=True, stdin=-1, stdout=-1
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def ask(name: str) -> float:
        process.stdin.write(json.dumps(name) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith("-> "):
                return float(json.loads(line[3:]))
        raise RuntimeError(f"the engine in {tree} ended")

    try:
        yield ask
    finally:
        process.stdin.close()
        process.wait(60)
