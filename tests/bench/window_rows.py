"""Rows 9, 10 and 11: the window beside the engine at full speed, and how soon it is there."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.application import Application, build
from app.settings import Settings
from engine import Engine, ModelSpec, Sampling, TurnStats
from tests.bench import ahead_rows
from tests.bench.chat import SCRIPT, Player
from tests.bench.rows import Row, alternate, ratio_row

WRITTEN = 128


def measure(count: int) -> Iterator[Row]:
    """All rows of this module, `count` samples a side.

    No other engine may be in this process: OpenMP counts the threads of all, and lets them spin less.
    """
    with _open_window() as window:
        yield from window.rows(count)
    yield from _start_rows(count)


def measure_ahead(count: int) -> Iterator[Row]:
    """Rows A1 to A4, under the same conditions."""
    with _open_window() as window:
        window.application.window.show()
        yield from ahead_rows.measure(window.application, window.player, count)


@contextmanager
def _open_window() -> Iterator[_Window]:
    app = QApplication.instance() or QApplication(["bench"])
    assert app is not None
    with tempfile.TemporaryDirectory() as folder:
        window = _Window(Path(folder))
        try:
            yield window
        finally:
            window.close()


class _Window:
    """The real window with its own engine on the same model, at 1280 x 800, charts shown. `player` asks that engine
    while the event loop does not run."""

    def __init__(self, folder: Path) -> None:
        sampling = Sampling(temperature=0, max_tokens=WRITTEN)
        settings = Settings(disk_budget_mb=0, sampling=sampling, read_ahead="never", write_ahead=False)
        engine = Engine()
        self.player = Player(engine=engine)
        self.application: Application = build(engine, settings, folder / "bench.db")
        self._session = self.application.session
        self.application.window.resize(1280, 800)
        self._wait_for(
            self._session.answers.model_changed, lambda: self.application.open(ModelSpec(self.player.model.path))
        )
        self.gaps: list[float] = []

    def rows(self, count: int) -> Iterator[Row]:
        self._answer()
        samples = alternate({"window": self._answer, "headless": self._headless}, count)
        yield ratio_row(
            "9", "tok/s with window and charts / headless", samples, "window", "headless", ">= 0.95", "0.99"
        )
        samples = alternate({"visible": self._answer_in_sight, "hidden": self._answer_unseen}, count)
        title = "tok/s with ribbon, charts and tree in sight / window hidden"
        yield ratio_row("9b", title, samples, "visible", "hidden", ">= 0.95", "0.99")
        self.application.window.show()
        for _ in range(count):
            self._watched_answer()
        gaps = sorted(self.gaps)
        p99 = gaps[int(len(gaps) * 0.99)]
        yield Row("10a", "event-loop gap while answering, p99", p99 * 1000, "ms", "<= 33", "16", gaps[-50:])
        yield Row("10b", "event-loop gap while answering, worst", gaps[-1] * 1000, "ms", "<= 150", "50", gaps[-50:])

    def close(self) -> None:
        self.application.window.close()
        self.application.close()

    def _answer(self) -> float:
        """One turn in the window; decode tok/s."""
        self._session.new_conversation()
        self._session.set_system_prompt(SCRIPT.system_prompt)
        question = self.player.new_question()
        self._wait_for(self._session.message_finished, lambda: self._session.send(question))
        stats = self._session.messages[-1].stats
        assert isinstance(stats, TurnStats)
        return stats.tokens_per_s

    def _watched_answer(self) -> None:
        """One turn, while the gaps between ticks of the event loop are noted; such ticks cost speed themselves."""
        ticks = QTimer()
        ticks.setInterval(1)
        last = [time.perf_counter()]

        def tick() -> None:
            now = time.perf_counter()
            self.gaps.append(now - last[0])
            last[0] = now

        ticks.timeout.connect(tick)
        ticks.start()
        self._answer()
        ticks.stop()

    def _answer_in_sight(self) -> float:
        self.application.window.show()
        self.application.tree_presenter.open()
        return self._answer()

    def _answer_unseen(self) -> float:
        self.application.tree_presenter.close()
        self.application.window.hide()
        return self._answer()

    def _headless(self) -> float:
        return self.player.ask([], self.player.new_question(), written=WRITTEN).stats.tokens_per_s

    def _wait_for(self, signal: object, start: object) -> None:
        loop = QEventLoop()
        signal.connect(lambda *_: loop.quit())  # type: ignore[attr-defined]
        QTimer.singleShot(0, start)  # type: ignore[call-overload]
        loop.exec()


def _start_rows(count: int) -> Iterator[Row]:
    """The second start of the program, from the moment its process is started."""

    def once() -> dict[str, float]:
        command = [sys.executable, "-m", "tests.bench.start", str(time.time())]
        output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
        times: dict[str, float] = json.loads(output.splitlines()[-1])
        return times

    once()
    samples = [once() for _ in range(count)]
    for row, key, title, must, aim in (
        ("11a", "visible", "start to visible window", "<= 1.5", "0.7"),
        ("11b", "ready", "start to model ready", "<= 6", "3"),
    ):
        values = [sample[key] for sample in samples]
        yield Row(row, title, statistics.median(values), "s", must, aim, values)
