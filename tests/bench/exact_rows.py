"""What exact mode costs: its first token against the default mode's on the same turns, for some steps of the grid."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine import Message
from engine.worker import loading
from tests.bench.chat import Player
from tests.bench.rows import Row, alternate, ratio_row

STEPS = (64, 128, 256)


def measure(default: Player, count: int) -> Iterator[Row]:
    """Warm and cold for each step, `count` samples a side; the one that is in use is marked."""
    few = max(3, count // 2)
    for letter, step in zip("abc", STEPS, strict=True):
        mark = " (in use)" if step == loading.EXACT_STEP else ""
        with _exact(step) as exact:
            warm = alternate({"exact": lambda e=exact: _third_turn(e), "default": lambda: _third_turn(default)}, few)
            title = f"third turn's TTFT in exact mode, grid {step}{mark} / default mode"
            yield ratio_row(f"X1{letter}", title, warm, "exact", "default", "", "")
            cold = alternate(
                {"exact": lambda e=exact: e.ttft(use_cache=False), "default": lambda: default.ttft(use_cache=False)}, 2
            )
            title = f"cold TTFT in exact mode, grid {step}{mark} / default mode"
            yield ratio_row(f"X2{letter}", title, cold, "exact", "default", "", "")


@contextmanager
def _exact(step: int) -> Iterator[Player]:
    """An engine in exact mode with a grid of `step` tokens."""
    own, loading.EXACT_STEP = loading.EXACT_STEP, step
    try:
        player = Player(exact=True)
    finally:
        loading.EXACT_STEP = own
    try:
        yield player
    finally:
        player.close()


def _third_turn(player: Player) -> float:
    """TTFT in seconds of the third turn of a new conversation, with the pauses in which exact mode reads again what was
    decoded."""
    history: list[Message] = []
    for _ in range(3):
        question = player.new_question()
        finished = player.ask(history, question, written=24)
        history += [Message("user", question), Message("assistant", finished.text, finished.token_ids)]
        _wait_until_idle(player)
    assert finished.stats.ttft_s is not None
    return finished.stats.ttft_s


def _wait_until_idle(player: Player) -> None:
    while player.engine.worker.idle_work is not None:
        time.sleep(0.02)
