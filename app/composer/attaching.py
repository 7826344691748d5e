"""Files on their way into a question: read on a thread of their own, counted, and refused where they do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app import words
from app.chat.session import Session
from app.composer.composer import Composer
from app.documents import Attachment, read_file
from app.language import tr, translated
from app.widgets.work import Work
from engine import Preview

SPARE_TOKENS = 64
"""Tokens left for the question itself, where the beginning of a file is taken."""

NO_FILES = tr("Files go with questions, not with an answer. Save it or cancel, then attach them to your next question.")


class Attaching(QObject):
    """Reads the files that are dropped on the composer, pasted or chosen, one after the other, and says what they cost.

    While one is read, nothing is sent. `say` tells the user a sentence, `say_error` what went wrong, and `offer` one
    with a button of this label that calls the function; `take_back` removes what was said.
    """

    def __init__(
        self,
        composer: Composer,
        session: Session,
        *,
        say: Callable[[str], None],
        say_error: Callable[[str, str], None],
        offer: Callable[[str, str, Callable[[], None]], None],
        take_back: Callable[[], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._composer = composer
        self._session = session
        self._say = say
        self._say_error = say_error
        self._offer = offer
        self._take_back = take_back
        self._waiting: list[tuple[Path, int | None]] = []  # with the question that is edited, None for a new one
        self._read_for: int | None = None
        self._work: Work | None = None
        self._shown_id = session.conversation.id
        composer.attach.clicked.connect(self.choose)
        composer.files_given.connect(self.read)
        composer.files.remove_wanted.connect(self._remove)
        composer.files.stop_wanted.connect(self.stop)
        composer.editing_changed.connect(self._show)
        session.attached.changed.connect(self._show)
        session.conversation_changed.connect(self._on_conversation)
        session.cost.files_previewed.connect(self._on_preview)

    def choose(self) -> None:
        """Have the user choose files."""
        if self._refuses():
            return
        paths, _ = QFileDialog.getOpenFileNames(self._composer, tr("Attach files"))
        self.read(paths)

    def read(self, paths: Sequence[str]) -> None:
        """Take the text of these files into the question."""
        if not self._refuses():
            self._waiting += [(Path(path), self._composer.editing) for path in paths]
            self._read_next()

    def _refuses(self) -> bool:
        """Files go with questions only: nothing would become of one that is given to an answer."""
        if self._composer.is_editing_answer:
            self._say(NO_FILES)
        return self._composer.is_editing_answer

    def stop(self) -> None:
        """Read no more."""
        self._waiting = []
        if self._work:
            self._work.stop()
        self._work = None
        self._composer.set_reading(False)
        self._show()

    def _read_next(self) -> None:
        if self._work or not self._waiting:
            return
        path, self._read_for = self._waiting.pop(0)
        self._work = work = Work(partial(read_file, path), self)
        work.progressed.connect(self._on_progress)
        work.done.connect(self._on_read)
        work.failed.connect(self._on_failed)
        self._composer.set_reading(True)
        self._composer.files.say(tr("Reading {name}", name=path.name), is_reading=True)
        work.start()

    def _on_progress(self, what: str, fraction: float | None) -> None:
        self._composer.files.say(translated(what), is_reading=True)

    def _on_read(self, file: Attachment) -> None:
        self._end_reading()
        edited = self._read_for
        self._session.attached.set_files((*self._session.attached.files(edited), file), edited)
        if file.note:
            self._say(file.note)
        self._read_next()

    def _on_failed(self, sentence: str, detail: str) -> None:
        self._end_reading()
        self._say_error(sentence, detail)
        self._read_next()

    def _end_reading(self) -> None:
        self._work = None
        self._composer.set_reading(False)
        self._show()

    def _on_conversation(self, conversation: object) -> None:
        """Files that are not read yet were meant for the conversation that is left."""
        shown_id = self._session.conversation.id
        if shown_id != self._shown_id and self._work:
            self.stop()
        self._shown_id = shown_id
        self._show()

    def _remove(self, place: int) -> None:
        edited = self._composer.editing
        files = self._session.attached.files(edited)
        self._session.attached.set_files((*files[:place], *files[place + 1 :]), edited)
        self._composer.edit.setFocus()

    def _show(self) -> None:
        if self._work is None:
            self._composer.files.show_files(self._session.attached.files(self._composer.editing))
            self._composer.files.say("")

    def _on_preview(self, without: Preview, whole: Preview) -> None:
        """The draft was counted without its files and with them."""
        files = self._session.attached.files(self._composer.editing)
        if self._work or not files:
            return
        cost = whole.prompt_tokens - without.prompt_tokens
        answer_room = self._session.conversation.sampling.answer_room(whole.context_length)
        room = whole.context_length - answer_room - without.system_tokens - SPARE_TOKENS
        if cost > room:
            self._refuse(files, cost, room, whole.context_length)
            return
        seconds = max(0.0, whole.seconds - without.seconds)
        took = (
            ""
            if whole.is_elsewhere
            else tr(", read once in about {about_seconds}", about_seconds=words.about_seconds(seconds))
        )
        self._composer.files.say(f"{words.tokens(cost)}{took}")

    def _refuse(self, files: tuple[Attachment, ...], cost: int, room: int, context: int) -> None:
        """The newest file goes; its beginning is offered, as much as there is room for."""
        *others, newest = files
        edited = self._composer.editing
        self._session.attached.set_files(tuple(others), edited)
        own = cost * len(newest.text) // max(1, sum(len(each.text) for each in files))
        left = room - (cost - own)
        sentence = tr(
            "{title} has about {tokens}, and the model reads {context:,} with everything else.",
            title=newest.title,
            tokens=words.tokens(own),
            context=context,
        )
        if left < SPARE_TOKENS:
            self._say_error(tr("{sentence} There is no room left for a part of it.", sentence=sentence), "")
            return
        part = newest.beginning(len(newest.text) * left * 9 // (10 * own))

        def take() -> None:
            self._take_back()
            self._session.attached.set_files((*others, part), edited)

        tokens = own * len(part.text) // len(newest.text)
        self._offer(
            tr("{sentence} It was not attached.", sentence=sentence),
            tr("Take its beginning ({tokens})", tokens=words.tokens(tokens)),
            take,
        )
