"""Downloads of models, each on a thread of its own: begun, paused, gone on with, thrown away. They go on when the
dialog that shows them is closed, and what is here of them outlives the program."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Literal, cast

from PySide6.QtCore import QObject, Signal

from app.language import tr
from app.widgets.work import Work
from engine import (
    HubModel,
    TokenNeededError,
    discard_download,
    fetch_from_hub,
    look_up_on_hub,
    unfinished_downloads,
)

Task = Callable[[Callable[[str, float | None], None]], object]
Stage = Literal["waiting", "running", "paused", "failed", "done"]
SPEED_S = 5.0
"""Over how many of the last seconds the speed is taken."""


@dataclass(eq=False)
class Download:
    """One download. `file` is the GGUF file, at first as the pattern that was asked for, "" for a folder. `here` of
    `bytes` (0 while the Hub was not asked) are on this computer. `says` is what it does, or why it failed, `detail`
    more of that; `needs_token`: the Hub gives the model only to those with a token. `path` opens it once it is done.
    `asked` is the pattern that `file` was found by."""

    repo: str
    file: str
    stage: Stage = "waiting"
    bytes: int = 0
    here: int = 0
    says: str = ""
    detail: str = ""
    needs_token: bool = False
    path: str = ""
    asked: str = ""
    heard: deque[tuple[float, int]] = field(default_factory=deque)

    def is_of(self, repo: str, file: str) -> bool:
        """Whether it is what somebody means by a file, by a pattern of its name, or by the repository alone."""
        is_like = bool(file) and bool(self.file) and fnmatch(self.file.lower(), file.lower())
        return self.repo == repo and (file in (self.file, self.asked) or is_like)

    @property
    def speed(self) -> float:
        """Bytes a second of late, 0.0 where that cannot be said yet."""
        if len(self.heard) < 2 or self.heard[-1][0] <= self.heard[0][0]:
            return 0.0
        (begin, first), (end, last) = self.heard[0], self.heard[-1]
        return max(0.0, (last - first) / (end - begin))

    def note(self, now: float, here: int) -> None:
        """So much is here now."""
        self.here = here
        self.heard.append((now, here))
        while self.heard[0][0] < now - SPEED_S and len(self.heard) > 2:
            self.heard.popleft()


class Downloads(QObject):
    """All downloads since the start, and those that were broken off before. One runs at a time, the others wait.

    Signals: changed(Download): anything about it. finished(Download): its model can be opened. gone(Download): it was
    thrown away.
    """

    changed = Signal(object)
    finished = Signal(object)
    gone = Signal(object)

    def __init__(self, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(parent)
        self._clock = clock
        self._work: Work | None = None
        self._running: Download | None = None
        self._thrown_away: list[Work] = []
        self.all: list[Download] = []

    def find_unfinished(self) -> None:
        """Take in what was broken off, by this program or by one before."""
        for left in unfinished_downloads():
            if not any((each.repo, each.file) == (left.repo, left.file) for each in self.all):
                self.all.append(Download(left.repo, left.file, "paused", here=left.bytes, asked=left.file))

    def begin(self, repo: str, file: str) -> Download:
        """Download a model, or go on with that; it waits where another one is on its way."""
        download = next((each for each in self.all if each.is_of(repo, file)), None)
        if download is None:
            download = Download(repo, file, asked=file)
            self.all.append(download)
        self.go_on(download)
        return download

    def go_on(self, download: Download) -> None:
        """Go on with a download that was paused, or that failed."""
        if download.stage != "running":
            self._change(download, "waiting", tr("Waits for the one before."))
            self._next()

    def pause(self, download: Download) -> None:
        """Leave a download as it is."""
        self._halt(download)
        self._change(download, "paused")
        self._next()

    def cancel(self, download: Download) -> None:
        """Throw away what is here of a download. Nothing is written by it any more when its files are deleted, on a
        thread of their own."""
        self._halt(download)
        self.all.remove(download)
        work = Work(partial(_discard, download.repo, download.file), self)
        work.done.connect(lambda _: self._thrown_away.remove(work))
        work.failed.connect(lambda *_: self._thrown_away.remove(work))
        self._thrown_away.append(work)
        work.start()
        self.gone.emit(download)
        self._next()

    def forget(self, place: Path) -> None:
        """A model was deleted: nothing is known of its download any more."""
        for download in [each for each in self.all if each.stage == "done" and Path(each.path) == place]:
            self.all.remove(download)
            self.gone.emit(download)

    def stop(self) -> None:
        """The program ends: what is here of each stays."""
        for work in (self._work, *self._thrown_away):
            if work is not None:
                work.stop()
        self._work = self._running = None

    def _halt(self, download: Download) -> None:
        if self._running is download and self._work is not None:
            self._work.stop()
            self._work = self._running = None
        download.heard.clear()

    def _next(self) -> None:
        """Begin with the first one that waits, where none is on its way."""
        waiting = next((each for each in self.all if each.stage == "waiting"), None)
        if self._running is not None or waiting is None:
            return
        self._running = waiting
        waiting.needs_token = False
        self._change(waiting, "running", tr("Asking the Hub…"))
        self._run(lambda say: look_up_on_hub(waiting.repo, waiting.file), self._on_found)

    def _run(self, task: Task, done: Callable[[object], None]) -> None:
        self._work = work = Work(lambda say: _or_refused(task, say), self)
        work.progressed.connect(self._on_progress)
        work.done.connect(lambda made: self._refuse(made) if isinstance(made, TokenNeededError) else done(made))
        work.failed.connect(self._on_failed)
        work.start()

    def _on_found(self, found: object) -> None:
        download, model = self._running, cast(HubModel, found)
        assert download is not None
        download.bytes = model.bytes
        download.file = model.place.name if model.place.suffix.lower() == ".gguf" else ""
        for other in [each for each in self.all if each is not download and each.is_of(download.repo, download.file)]:
            self.all.remove(other)
            self.gone.emit(other)
        self._change(download, "running")
        self._run(lambda say: fetch_from_hub(model, say), self._on_fetched)

    def _on_progress(self, what: str, fraction: float | None) -> None:
        download = self._running
        assert download is not None
        before = (download.says, _thousandths(download))
        if fraction is not None:
            download.note(self._clock(), int(fraction * download.bytes))
        download.says = f"{what}…"
        if (download.says, _thousandths(download)) != before:  # it comes with every few kilobytes
            self.changed.emit(download)

    def _on_fetched(self, place: object) -> None:
        download = self._end()
        download.path, download.here = str(cast(Path, place)), download.bytes
        self._change(download, "done")
        self.finished.emit(download)
        self._next()

    def _on_failed(self, sentence: str, detail: str) -> None:
        download = self._end()
        self._change(download, "failed", sentence, detail)
        self._next()

    def _refuse(self, error: TokenNeededError) -> None:
        if self._running is not None:
            self._running.needs_token = True
        self._on_failed(str(error), error.detail)

    def _end(self) -> Download:
        download = self._running
        assert download is not None
        download.heard.clear()
        self._work = self._running = None
        return download

    def _change(self, download: Download, stage: Stage, says: str = "", detail: str = "") -> None:
        download.stage, download.says, download.detail = stage, says, detail
        self.changed.emit(download)


def _thousandths(download: Download) -> int:
    return 1000 * download.here // max(download.bytes, 1)


def _or_refused(task: Task, say: Callable[[str, float | None], None]) -> object:
    """What the task gives, or that the Hub wants a token."""
    try:
        return task(say)
    except TokenNeededError as error:
        return error


def _discard(repo: str, file: str, say: Callable[[str, float | None], None]) -> None:
    discard_download(repo, file, say)
