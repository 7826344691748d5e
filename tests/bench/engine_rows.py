"""Rows 1 to 4, 6, 7 and 8: first token and decode speed of the engine against transformers on the same tokens."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import torch

from engine import Finished, Message, Request, Sampling
from engine.models.from_gguf import open_tokenizer
from engine.prompt.template import PromptBuilder
from engine.worker.engine import Engine
from tests.bench.beside import Call, beside
from tests.bench.chat import SCRIPT, WRITTEN, Player
from tests.bench.peers import Transformers
from tests.bench.rows import Row, alternate, ratio_row

SHORT = "Write one long paragraph about a walk along a river in autumn, with the weather, the birds and the light."
GREEDY = Sampling(temperature=0, max_tokens=WRITTEN)
UNDISTURBED = 0.2
"""Processors that other programs may use beside a reading that counts."""


def measure(player: Player, model: Path, count: int) -> Iterator[Row]:
    """All rows of this module, `count` samples a side. The peer reads prompts in the number type that we do."""
    assert player.engine.worker.responder is not None
    builder = PromptBuilder(open_tokenizer(model))
    with beside(Transformers, model, player.engine.worker.responder.model.layout.dtype) as peer:
        yield from _first_token(player, builder, peer, count)
    with beside(Transformers, model, torch.bfloat16) as peer:
        yield from _decode(player, builder, peer, count)
    yield _sampling(player, count)
    yield _switch(player, count)
    yield _busy(player, count)
    yield _estimates(player)


def _first_token(player: Player, builder: PromptBuilder, peer: Call, count: int) -> Iterator[Row]:
    prompt = builder.build([Message("system", SCRIPT.system_prompt), Message("user", player.new_question())]).ids
    first = player.ask([], player.new_question())
    reused = player.ask([], player.new_question()).stats
    assert first.stats.prompt_tokens > reused.computed_tokens > 0
    peer("fill", prompt[: reused.reused_tokens])
    new = prompt[reused.reused_tokens :]
    shares: list[float] = []

    def warm() -> float:
        stats = player.ask([], player.new_question()).stats
        assert stats.ttft_s is not None
        parts = stats.parts
        shares.append((parts.queue + parts.template + parts.lookup + parts.restore) / stats.ttft_s)
        return stats.ttft_s

    samples = alternate({"headstart": warm, "transformers": lambda: peer("warm", new)}, count)
    yield ratio_row("1", "warm TTFT / bare transformers forward", samples, "headstart", "transformers", "<= 1.0", "0.6")
    cold = alternate(
        {"headstart": lambda: player.ttft(use_cache=False), "transformers": lambda: peer("cold", prompt)},
        count,
    )
    yield ratio_row(
        "2", "cold TTFT / one-shot transformers forward", cold, "headstart", "transformers", "<= 1.05", "0.8"
    )
    both = {"warm": samples["headstart"][: len(cold["headstart"])], "cold": cold["headstart"]}
    yield ratio_row("3", "warm TTFT / cold TTFT", both, "warm", "cold", "<= 0.08", "0.04")
    ordered = sorted(shares[1:])
    yield Row(
        "6", "template, tokenise, match: share of warm TTFT", ordered[len(ordered) // 2], "share", "<= 0.08", "0.03",
        shares[1:],
    )  # fmt: skip


def _decode(player: Player, builder: PromptBuilder, peer: Call, count: int) -> Iterator[Row]:
    short = builder.build([Message("system", "You write."), Message("user", SHORT)]).ids
    long = builder.build([Message("system", SCRIPT.system_prompt), Message("user", player.new_question())]).ids
    for row, name, prompt, is_short in (("4a", "60", short, True), ("4b", "3,000", long, False)):

        def own(is_short: bool = is_short) -> float:
            return _written(player, is_short).stats.tokens_per_s

        with endless(player.engine):
            if not is_short:
                peer("fill", prompt[:-16])
            sides = {"headstart": own, "transformers": lambda prompt=prompt: peer("decode", prompt, WRITTEN)}
            samples = alternate(sides, count)
        title = f"decode tok/s / generate() in bf16, {name} tokens of context"
        yield ratio_row(row, title, samples, "headstart", "transformers", ">= 2.5", "5")


def _sampling(player: Player, count: int) -> Row:
    """What choosing tokens as the app does by itself costs, with the repetition penalty over a prompt."""

    def speed(sampling: Sampling) -> float:
        return player.ask_plainly("You write.", SHORT, sampling).stats.tokens_per_s

    sides = {"default": partial(speed, Sampling(max_tokens=WRITTEN)), "greedy": partial(speed, GREEDY)}
    with endless(player.engine):
        samples = alternate(sides, count)
    return ratio_row("4c", "decode tok/s, default sampling / greedy", samples, "default", "greedy", "", "0.95")


def _written(player: Player, is_short: bool) -> Finished:
    question = SHORT if is_short else player.new_question()
    if is_short:
        return player.ask_plainly("You write.", question, GREEDY)
    return player.ask([], question, written=WRITTEN)


def _switch(player: Player, count: int) -> Row:
    """Two conversations on one system prompt, some turns old: the next turn of the same, and of the other."""
    chats: list[list[Message]] = [[], []]
    for history in chats:
        for _ in range(3):
            _turn(player, history)
    state = {"at": 0}

    def same() -> float:
        return _turn(player, chats[state["at"]])

    def other() -> float:
        state["at"] = 1 - state["at"]
        return _turn(player, chats[state["at"]])

    samples = alternate({"same": same, "other": other}, count)
    return ratio_row("7", "TTFT after switching chats / same-chat TTFT", samples, "other", "same", "<= 1.25", "1.05")


def _turn(player: Player, history: list[Message]) -> float:
    """One more turn of a conversation; its TTFT. The history stays short enough to compare turns with each other."""
    question = player.new_question()
    finished = player.ask(history, question, written=8)
    history += [Message("user", question), Message("assistant", finished.text, finished.token_ids)]
    assert finished.stats.ttft_s is not None
    return finished.stats.ttft_s


def _busy(player: Player, count: int) -> Row:
    def disturbed() -> float:
        with busy_process():
            player.ttft()
            return player.ttft()

    samples = alternate({"busy": disturbed, "alone": player.ttft}, count)
    return ratio_row("8", "warm TTFT with another busy process / alone", samples, "busy", "alone", "<= 2.5", "1.5")


def _estimates(player: Player) -> Row:
    """Prompts of 500 tokens and more, read from scratch: the estimate made just before over what was then measured. A
    prompt beside which something else ran says nothing about the estimate, and is read again, three times at most;
    `others` are the processors that were used by something else."""
    samples: list[dict[str, float]] = []
    for share in (0.2, 1.0, 0.5, 0.8, 0.3, 0.9, 0.6, 0.4, 0.7, 1.0):
        text = SCRIPT.system_prompt[: round(share * len(SCRIPT.system_prompt))]
        request = Request((Message("system", text), Message("user", player.new_question())), use_cache=False)
        estimate = player.preview(request).seconds
        for _ in range(3):
            with others() as used:
                stats = player.answer(replace(request, sampling=Sampling(temperature=0, max_tokens=1))).stats
            if used[0] <= UNDISTURBED:
                break
        assert stats.ttft_s is not None
        samples.append({"estimate": estimate, "measured": stats.ttft_s - stats.parts.queue, "others": used[0]})
    near = sum(abs(each["estimate"] / each["measured"] - 1) <= 0.25 for each in samples)
    name = "cold estimates within 25% of what is measured then"
    return Row("E1", name, near / len(samples), "share", ">= 0.9", "1", list(samples))


@contextmanager
def others() -> Iterator[list[float]]:
    """How many processors everything but this process uses inside: one number, there once that has ended."""
    used: list[float] = []

    def busy_s() -> float:
        times = psutil.cpu_times()._asdict()
        idle = times["idle"] + times.get("iowait", 0.0)
        return sum(times.values()) - idle - times.get("guest", 0.0) - time.process_time()

    began, busy = time.perf_counter(), busy_s()
    yield used
    used.append(max(0.0, busy_s() - busy) / (time.perf_counter() - began))


@contextmanager
def busy_process() -> Iterator[None]:
    """Another program that uses one core all the time."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def endless(engine: Engine) -> Iterator[None]:
    """Answers run to their full length: no token ends them, as `min_new_tokens` does for the peer."""
    responder = engine.worker.responder
    assert responder is not None
    ends, responder.end_ids = responder.end_ids, frozenset()
    try:
        yield
    finally:
        responder.end_ids = ends
