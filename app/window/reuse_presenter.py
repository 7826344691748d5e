"""What the window says about the reuse of a prompt: before it is sent, while it is answered, and why it stopped."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt

from app.chat.places import index_in, ordinal_place
from app.chat.session import Session
from app.history.records import Conversation
from app.language import tr
from app.transcript.message import Answer
from app.window.window import Window
from app.words import next_prompt, recomputes
from engine import Matched, Preview


class ReusePresenter(QObject):
    """The ribbon and the warm boxes of a window, in step with a session."""

    def __init__(self, window: Window, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = window
        self._session = session
        self._ribbon = window.composer.next_prompt
        self._shown_id = 0
        session.conversation_begun.connect(self._on_begun)
        session.conversation_changed.connect(self._on_conversation)
        session.state_changed.connect(self._on_state)
        session.cost.draft_previewed.connect(window.composer.show_preview)
        session.cost.reading_ahead.connect(self._ribbon.show_ahead)
        session.cost.edit_priced.connect(self._on_price)
        session.cost.prompt_previewed.connect(self._on_prompt_previewed)
        session.answers.matched.connect(self._on_matched)
        session.answers.prefill_changed.connect(self._ribbon.show_reading)
        window.composer.draft_changed.connect(self._on_draft)
        window.transcript.wishes.edit_pointed.connect(self._on_edit_pointed)
        window.transcript.wishes.divergence.connect(self.go_to_divergence)

    def go_to_divergence(self, answer_id: int) -> None:
        """Show the message in which the prompt of this answer left what was cached."""
        messages = self._session.messages
        answer = next((message for message in messages if message.id == answer_id), None)
        if answer is None or answer.divergence is None or answer.divergence.message_index < 0:
            return
        had_system_prompt = self._session.had_system_prompt(answer_id)
        index = index_in(messages, answer.divergence.message_index, had_system_prompt, answer.left_out)
        if index < 0:
            self._window.commands.system_prompt.trigger()
        elif index < len(messages):
            self._go_to(messages[index].id)

    def _go_to(self, message_id: int) -> None:
        transcript = self._window.transcript
        if transcript.show_message(message_id) and (message := transcript.message(message_id)):
            stops = (stop for stop in message.tab_stops if stop.isVisibleTo(message))
            next(stops, message).setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_begun(self, number: int) -> None:
        """The conversation in view has a number now: what is shown of its first prompt stays."""
        self._shown_id = number

    def _on_conversation(self, conversation: Conversation) -> None:
        self._drop_price()
        if conversation.id != self._shown_id:
            self._window.composer.show_preview(None)
        self._shown_id = conversation.id

    def _on_state(self, state: str) -> None:
        # While an answer is on its way the ribbon goes from what was estimated to what was matched.
        if state in ("loading", "no_model"):
            self._window.composer.show_preview(None)

    def _on_matched(self, matched: Matched) -> None:
        answer = self._window.transcript.newest
        if isinstance(answer, Answer):
            place = self._session.place_of_divergence(self._session.messages[-1])
            answer.box.show_divergence(matched.divergence, place, matched.computed_tokens)
        if model := self._session.model:
            self._ribbon.show_matched(matched, model.context_length)

    def _on_draft(self, text: str) -> None:
        self._drop_price()
        self._session.cost.draft_changed(text, self._window.composer.editing)

    def _on_edit_pointed(self, message_id: int, pointed: bool) -> None:
        if pointed:
            self._session.cost.consider_edit(message_id)
        else:
            self._drop_price()

    def _drop_price(self) -> None:
        self._session.cost.consider_edit(None)
        self._ribbon.show_newest()

    def _on_prompt_previewed(self, preview: Preview | None) -> None:
        if preview:
            self._ribbon.show_instead(preview, tr("With the changed system prompt"), next_prompt(preview))
        else:
            self._ribbon.show_newest()

    def _on_price(self, message_id: int, preview: Preview) -> None:
        messages = self._session.messages
        index = next((place for place, message in enumerate(messages) if message.id == message_id), -1)
        if index >= 0:
            heading = tr("If you change {ordinal_place}", ordinal_place=ordinal_place(messages, index))
            self._ribbon.show_instead(preview, heading, recomputes(preview))
        if message := self._window.transcript.message(message_id):
            message.tools.show_price(recomputes(preview))
