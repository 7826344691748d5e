"""The minute that shows what the program is for: a support bot is asked two questions, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.chat.session import Session
from app.history.records import StoredMessage
from app.language import tr

QUESTIONS = ("Can I change the delivery address after I have paid?", "And what if the parcel is lost?")
TITLE = tr("Support bot")
NEXT = tr("The rules are remembered now. Ask something else: only your question is new.")
ASK_NEXT = tr("Ask the second question")


class Tour(QObject):
    """Asks the first question when it is told to begin, and offers the second once the first was answered, because
    only that one shows the effect. Whoever writes something of his own in between is left alone.

    `set_prompt` fills in the system prompt of the conversation in view; `offer` shows a sentence with a button.
    """

    def __init__(
        self,
        session: Session,
        system_prompt: str,
        set_prompt: Callable[[str], None],
        send: Callable[[str], None],
        offer: Callable[[str, str, Callable[[], None]], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._system_prompt = system_prompt
        self._set_prompt, self._send, self._offer = set_prompt, send, offer
        self._conversation_id = 0  # of the tour, while the second question is not offered yet
        session.message_finished.connect(self._on_finished)

    def begin(self) -> None:
        """Ask the first question, in the empty conversation in view."""
        self._set_prompt(self._system_prompt)
        self._send(QUESTIONS[0])
        self._conversation_id = self._session.conversation.id
        self._session.rename(self._conversation_id, TITLE)

    def _on_finished(self, answer: StoredMessage) -> None:
        if not self._conversation_id or answer.conversation_id != self._conversation_id:
            return
        self._conversation_id = 0
        if len(self._session.messages) == 2 and answer.finish_reason in ("end", "length"):
            self._offer(NEXT, ASK_NEXT, lambda: self._send(QUESTIONS[1]))
