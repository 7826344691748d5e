"""Titles that the model writes: behind the prompt of the conversation itself, so that all of that is remembered."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.branch import make_title
from app.chat.bridge import Bridge
from app.chat.session import Session
from app.chat.turn import Turn
from app.history.records import StoredMessage
from app.settings import Settings
from engine import Event, Failed, Finished, Matched, Message, Request, Sampling

QUESTION = "Write a title for this conversation: at most six words, in its language, and nothing else."
LIKELIEST = Sampling(temperature=0.0, top_p=1.0, max_tokens=400)
"""Room for the thought of a model that thinks; a title itself ends after a few tokens."""

_AROUND = " \t\"'“”„«»*_#`."


class Titles(QObject):
    """Has one title written at a time, on request, or behind the first answer where the user wants that and has given
    the conversation no title of their own. It runs beside the conversation: what that had in the cache stays, and a
    question that is asked meanwhile breaks it off.

    Signals: written(int, Matched): the conversation with this id has a new title; what its prompt reused and read.
    """

    written = Signal(object, object)

    def __init__(self, session: Session, bridge: Bridge, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._settings = settings
        self._bridge = bridge
        self._request_id = self._conversation_id = 0
        self._before = ""
        self._matched: Matched | None = None
        bridge.aside.connect(self._on_event)
        session.answers.ended.connect(self._on_ended)
        session.message_added.connect(lambda _: self.break_off())
        session.message_reopened.connect(lambda _: self.break_off())

    def can_write(self, conversation_id: int) -> bool:
        """Whether a title can be written now: there is a model, and an answer, and nothing else is being written."""
        return self._request(conversation_id) is not None

    def write(self, conversation_id: int) -> None:
        """Have a title written; nothing happens where that cannot be now."""
        self.break_off()
        if request := self._request(conversation_id):
            self._before = self._title(conversation_id)
            self._conversation_id = conversation_id
            self._request_id = self._bridge.submit_aside(request)

    def break_off(self) -> None:
        """Write no title now. Safe to call when none is being written."""
        request_id, self._request_id = self._request_id, 0
        if request_id:
            self._bridge.cancel(request_id)

    def _request(self, conversation_id: int) -> Request | None:
        """The next prompt of the conversation, with the question for a title at its end."""
        asked = self._session.next_turn(conversation_id) if not self._session.answers.is_answering else None
        if asked is None or [message.role for message in asked.messages[-2:]] != ["assistant", "user"]:
            return None
        messages = (*asked.messages[:-1], Message("user", QUESTION))
        same = replace(asked, messages=messages, sampling=LIKELIEST, stop=(), keep_room=False)
        return replace(same, conversation="", pin_system=False, server=self._bridge.server_of(asked.conversation))

    def _title(self, conversation_id: int) -> str:
        return next((row.title for row in self._session.conversations() if row.id == conversation_id), "")

    def _on_ended(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        is_first = len(turn.request.messages) - (turn.request.messages[0].role == "system") == 1
        is_wanted = self._settings.write_titles and is_first and kept and message.finish_reason == "end"
        if is_wanted and self._session.has_first_title(message.conversation_id):
            QTimer.singleShot(0, self, partial(self.write, message.conversation_id))

    def _on_event(self, event: Event) -> None:
        if not self._request_id or event.request_id != self._request_id:
            return
        if isinstance(event, Matched):
            self._matched = event
        elif isinstance(event, Finished):
            self._request_id = 0
            self._take(clean(event.text) if event.reason == "end" else "")
        elif isinstance(event, Failed):  # nobody waits for it: the first line of the question stays
            self._request_id = 0

    def _take(self, title: str) -> None:
        """Use the title, unless the user gave the conversation one meanwhile, or deleted it."""
        if title and self._before and self._title(self._conversation_id) == self._before:
            self._session.rename(self._conversation_id, title)
            self.written.emit(self._conversation_id, self._matched)


def clean(text: str) -> str:
    """The title in what a model wrote: its first line, without marks around it."""
    line = next((line for line in text.splitlines() if line.strip(_AROUND)), "")
    head, colon, rest = line.partition(":")
    if colon and head.strip(_AROUND).casefold() in ("title", "titel") and rest.strip(_AROUND):
        line = rest
    return make_title(line.strip(_AROUND))
