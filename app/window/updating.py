"""Looks for a newer version, where the user wants that, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from app.language import tr
from app.updates import Release, Source, is_newer, newest
from app.widgets.work import Work
from app.window.notice_bar import NoticeBar


class Updating(QObject):
    """Asks `source` for the newest version. `is_offered` says whether there is somebody to ask at all."""

    def __init__(self, source: Source | None, own_version: str, notice: NoticeBar, parent: QObject) -> None:
        super().__init__(parent)
        self._source = source
        self._own = own_version
        self._notice = notice
        self._work: Work | None = None

    @property
    def is_offered(self) -> bool:
        """Whether this Headstart knows where to ask."""
        return self._source is not None

    def ask(self, say: Callable[[str], None] = lambda _: None) -> None:
        """Ask in the background. `say` hears the answer in a sentence; what matters stands in the notice, too."""
        if self._source is None or self._work is not None:
            return
        source = self._source
        self._work = work = Work(lambda _: newest(source), self)
        work.done.connect(lambda release: self._on_answer(release, say))
        work.failed.connect(lambda sentence, detail: self._on_failure(sentence, detail, say))
        work.start()
        say(tr("Asking {host}…", host=source.host))

    def stop(self) -> None:
        """Wait for no answer."""
        if self._work is not None:
            self._work.stop()

    def _on_answer(self, release: Release, say: Callable[[str], None]) -> None:
        self._work = None
        if not is_newer(release.version, self._own):
            say(tr("Headstart {own} is the newest version.", own=self._own))
            return
        sentence = tr("Headstart {version} is there; this is {own}.", version=release.version, own=self._own)
        say(sentence)
        self._notice.show_offer(
            sentence, tr("Open its page"), lambda: QDesktopServices.openUrl(QUrl(release.page)), is_error=False
        )

    def _on_failure(self, sentence: str, detail: str, say: Callable[[str], None]) -> None:
        self._work = None
        say(sentence)
        self._notice.show_error(sentence, detail)
