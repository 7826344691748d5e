"""Rows R1 to R4: what the blocks on disk are worth after a restart, and what they cost meanwhile.

A restart is played by loading the model again: the cache in memory is empty then, and the disk is looked through anew.
The files stay in the system's own cache, as they do where Headstart is closed and opened on the same day.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.worker.engine import Engine
from tests.bench.chat import Player
from tests.bench.engine_rows import endless
from tests.bench.rows import Row, alternate, ratio_row

DISK_BYTES = 4 << 30
WRITTEN = 96
LEAST_FROM_DISK = 2_900
"""Of the 3,000 tokens of the system prompt."""


def measure(folder: Path, count: int) -> Iterator[Row]:
    """All rows of this module, `count` samples a side, with the model in `folder` and a disk tier of its own."""
    with own_data_folder() as data:
        player = Player(str(folder), disk_bytes=DISK_BYTES)
        try:
            player.ttft()
            _wait_until_written(player.engine)
            yield _size(player, data)
            yield from _first_turn(player, count)
            yield _speed(player, count)
        finally:
            player.close()


def _first_turn(player: Player, count: int) -> Iterator[Row]:
    def restarted() -> float:
        _wait_until_written(player.engine)
        player.load()
        finished = player.ask([], player.new_question())
        assert finished.stats.disk_tokens >= LEAST_FROM_DISK, finished.stats
        assert finished.stats.ttft_s is not None
        return finished.stats.ttft_s

    sides = {"restart": restarted, "memory": player.ttft, "cold": lambda: player.ttft(use_cache=False)}
    samples = alternate(sides, count)
    title = "TTFT of the first turn after a restart, 3,000 tokens from disk"
    yield ratio_row("R1", f"{title} / from memory", samples, "restart", "memory", "<= 1.5", "1.15")
    yield ratio_row("R2", f"{title} / cold", samples, "restart", "cold", "<= 0.12", "0.05")


def _speed(player: Player, count: int) -> Row:
    """An answer that begins while 3,000 tokens wait to be written, and one where nothing is kept on disk. The engine
    writes nothing while it answers: what this sees is what the system still does with what was written just before, and
    mostly noise, so that it takes three times the samples."""

    def speed(disk_bytes: int) -> float:
        player.engine.set_disk_budget(0)  # so that all of it is written anew
        player.engine.set_disk_budget(disk_bytes)
        player.ask([], player.new_question())
        return player.ask([], player.new_question(), written=WRITTEN).stats.tokens_per_s

    with endless(player.engine):
        samples = alternate({"written": lambda: speed(DISK_BYTES), "without": lambda: speed(0)}, 3 * count)
    return ratio_row("R3", "tok/s while blocks are written / without", samples, "written", "without", ">= 0.97", "1")


def _size(player: Player, data: Path) -> Row:
    sizes = [path.stat().st_size for path in data.rglob("*.kv")]
    assert sizes
    theory = len(sizes) * 16 * player.model.kv_bytes_per_token
    return Row("R4", "bytes on disk a token / theory", sum(sizes) / theory, "ratio", "<= 1.05", "1.01", [sum(sizes)])


def _wait_until_written(engine: Engine) -> None:
    while engine.worker.idle_work is not None:
        time.sleep(0.02)


@contextmanager
def own_data_folder() -> Iterator[Path]:
    """What is written to disk goes to a folder of this run. Models are found by their paths."""
    before = os.environ.get("HEADSTART_DATA_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEADSTART_DATA_DIR"] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["HEADSTART_DATA_DIR"]
            else:
                os.environ["HEADSTART_DATA_DIR"] = before
