"""What the menu offers to take conversations out and in: export, import, backup, restore."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from app.chat.session import Session
from app.exchange import backup
from app.exchange.reading import read_conversations
from app.exchange.writing import to_json_text, to_markdown
from app.files import write_whole
from app.history.history import History
from app.history.talks import Talk, read_talk, store_talk
from app.language import plural, tr
from app.transcript.page import print_pdf, to_html
from app.widgets.message_box import MessageBox
from app.widgets.work import Work
from app.window.window import Window
from engine import HeadstartError

KINDS = {
    ".md": tr("Markdown (*.md)"),
    ".html": tr("Web page (*.html)"),
    ".pdf": tr("PDF (*.pdf)"),
    ".headstart": tr("Headstart, with all branches (*.headstart)"),
}
IMPORTS = tr("Conversations (*.zip *.json *.jsonl *.headstart);;All files (*)")
STEP_S = 0.02
"""Seconds that conversations are stored before the window's events have their turn."""


class Exchanging(QObject):
    """Opens the file dialogs and does what was chosen in them. `say` tells the user a sentence, `say_error` what went
    wrong. `restore` closes the program and puts what lies in this folder in place of the user's data. `box` is the
    question before that, None where none was asked yet."""

    def __init__(
        self,
        window: Window,
        session: Session,
        history: History,
        settings: Path,
        *,
        say: Callable[[str], None],
        say_error: Callable[[str, str], None],
        restore: Callable[[tempfile.TemporaryDirectory[str]], None],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._history = history
        self._settings = settings
        self._say = say
        self._say_error = say_error
        self._restore = restore
        self.box: MessageBox | None = None
        self._work: Work | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._store_some)
        self._storing: Iterator[int] = iter(())
        actions = window.commands
        actions.export.triggered.connect(self.export)
        actions.take_in.triggered.connect(self.choose_import)
        actions.back_up.triggered.connect(self.back_up)
        actions.restore.triggered.connect(self.choose_backup)

    def export(self) -> None:
        """Have the user choose a file, and write the conversation in view into it, as its ending says."""
        conversation = self._session.conversation
        if not conversation.id:
            self._say(tr("There is nothing to export yet: this conversation is empty."))
            return
        name = "".join(each if each.isalnum() or each in " -_" else " " for each in conversation.title)[:60].strip()
        chosen, kind = QFileDialog.getSaveFileName(
            self._window, tr("Export this conversation"), f"{name or tr('Conversation')}.md", ";;".join(KINDS.values())
        )
        if not chosen:
            return
        path = Path(chosen)
        if path.suffix not in (*KINDS, ".json"):
            ending = next((ending for ending, label in KINDS.items() if label == kind), ".md")
            path = path.with_name(path.name + ending)
        with self._reporting_to(path):
            write(read_talk(self._history, conversation.id), path)
            self._say(tr("This conversation was written to {path}.", path=path))

    def choose_import(self) -> None:
        """Have the user choose a file with conversations, and take them in."""
        chosen, _ = QFileDialog.getOpenFileName(self._window, tr("Import conversations"), "", IMPORTS)
        if chosen:
            self.take_in(Path(chosen))

    def take_in(self, path: Path) -> None:
        """Take in the conversations of a file: read on a thread of its own, stored between the events of the window."""
        if self._work or self._timer.isActive():
            self._say(tr("Conversations are being imported. Wait for their end first."))
            return
        self._work = work = Work(lambda say: read_conversations(path), self)
        work.done.connect(self._on_read)
        work.failed.connect(self._on_failed)
        self._say(tr("Reading {name}…", name=path.name))
        work.start()

    def back_up(self) -> None:
        """Have the user choose a file, and write everything into it."""
        name = f"Headstart {time.strftime('%Y-%m-%d')}.zip"
        chosen, _ = QFileDialog.getSaveFileName(self._window, tr("Back up everything"), name, tr("Backup (*.zip)"))
        if chosen:
            path = Path(chosen)
            with self._reporting_to(path):
                backup.write_backup(self._history, self._settings, path)
                self._say(
                    tr(
                        "Conversations, saved system prompts and settings were written to {path}. Models "
                        "are not in it.",
                        path=path,
                    )
                )

    def choose_backup(self) -> None:
        """Have the user choose a backup, and go back to it once they agreed."""
        chosen, _ = QFileDialog.getOpenFileName(self._window, tr("Restore a backup"), "", tr("Backup (*.zip)"))
        if not chosen:
            return
        folder = tempfile.TemporaryDirectory(prefix="headstart-restore-")
        with self._reporting_to(Path(chosen)):
            backup.unpack(Path(chosen), Path(folder.name))
            self._ask(Path(chosen).name, folder)
            return
        folder.cleanup()

    def stop(self) -> None:
        """Read and store no more; what is stored stays."""
        self._timer.stop()
        if self._work:
            self._work.stop()
            self._work = None

    def _ask(self, name: str, folder: tempfile.TemporaryDirectory[str]) -> None:
        asked = tr("Go back to what is in {name}?", name=name)
        more = tr(
            "Your conversations, saved system prompts and settings become those of the backup. What "
            "is there now is kept beside them under another name. Headstart closes; start it again then."
        )
        self.box = box = MessageBox(self._window, tr("Restore a backup"), asked, more)
        box.add(tr("Restore and close"), lambda: self._restore(folder), "danger")
        box.add(tr("Cancel"), folder.cleanup, "safe")
        box.rejected.connect(folder.cleanup)
        box.open()

    def _on_read(self, found: tuple[list[Talk], int]) -> None:
        self._work = None
        talks, skipped = found
        self._storing = self._store(talks, skipped)
        self._timer.start(0)

    def _on_failed(self, sentence: str, detail: str) -> None:
        self._work = None
        self._say_error(sentence, detail)

    def _store(self, talks: list[Talk], skipped: int) -> Iterator[int]:
        """Store one conversation after the other; its end says how many there were, and opens the newest."""
        newest = 0
        for talk in talks:
            newest = store_talk(self._history, talk, self._session.new_sampling, time.time())
            yield newest
        left = (
            tr(
                " {count} could not be read.",
                count=plural("{count:,} conversation", "{count:,} conversations", skipped),
            )
            if skipped
            else ""
        )
        self._say(
            tr(
                "{count} imported.{left}",
                count=plural("{count:,} conversation", "{count:,} conversations", len(talks)),
                left=left,
            )
        )
        self._session.conversations_changed.emit()
        self._session.open(newest)

    def _store_some(self) -> None:
        end = time.perf_counter() + STEP_S
        try:
            while time.perf_counter() < end:
                next(self._storing)
        except StopIteration:
            self._timer.stop()
        except HeadstartError as error:
            self._timer.stop()
            self._session.conversations_changed.emit()
            self._say_error(str(error), error.detail)

    def _reporting_to(self, path: Path) -> _Reporting:
        return _Reporting(path, self._say_error)


class _Reporting:
    """What cannot be written or read becomes a sentence in the window."""

    def __init__(self, path: Path, say_error: Callable[[str, str], None]) -> None:
        self._path = path
        self._say_error = say_error

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, HeadstartError):
            self._say_error(str(error), error.detail)
        elif isinstance(error, OSError):
            self._say_error(
                tr("{name} could not be written: {strerror}.", name=self._path.name, strerror=error.strerror or error),
                str(error),
            )
        return isinstance(error, HeadstartError | OSError)


def write(talk: Talk, path: Path) -> None:
    """Write a conversation as the ending of the file says. Raises OSError or HeadstartError where that fails."""
    if path.suffix == ".pdf":
        print_pdf(talk, path)
        return
    made = {".md": to_markdown, ".html": to_html}.get(path.suffix, lambda talk: to_json_text([talk]))
    write_whole(path, made(talk).encode("utf-8"))
