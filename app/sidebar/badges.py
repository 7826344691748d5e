"""Warm or cold: what the next turn of each listed conversation would wait for, asked for while nothing else happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.history.records import Conversation
from app.widgets.conversation_list import Badge, ConversationList
from engine import BLOCK_TOKENS, Failed, Preview, Request

REST_MS = 600
"""How long nothing must have happened before the first question."""


class Badges(QObject):
    """Asks the engine what the next turn of each row in sight would cost, one after the other, while nothing else is
    outstanding. Rows are conversations, or presets of system prompts.

    All are asked about again after a turn, and whenever something was evicted or dropped or another model came; until
    the answer is there a row keeps its old badge. `request_of` gives the request of a row by its id, None where there
    is none to make; `made` the badge that says what the engine foresees, `badge_of` by itself.
    """

    def __init__(
        self,
        rows: ConversationList,
        session: Session,
        bridge: Bridge,
        request_of: Callable[[int], Request | None],
        made: Callable[[Preview], Badge] | None = None,
    ) -> None:
        super().__init__(rows)
        self._request_of = request_of
        self._made = made or badge_of
        self._rows = rows
        self._session = session
        self._bridge = bridge
        self._fresh: set[int] = set()
        self._awaited = (0, 0)  # the ids of a preview and of its conversation
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.timeout.connect(self.ask)
        self._connect()

    def _connect(self) -> None:
        bridge, session = self._bridge, self._session
        bridge.cache_view.connect(self.refresh)
        bridge.finished.connect(self.refresh)
        bridge.loaded.connect(self.refresh)
        bridge.preview.connect(self._on_preview)
        bridge.failed.connect(self._on_failed)
        session.state_changed.connect(self._on_state)
        session.conversation_changed.connect(self._on_conversation)
        session.cost.draft_previewed.connect(self._on_draft_preview)
        self._rows.looked_at.connect(self._ask_soon)
        self._system_prompt = (0, "")

    def refresh(self, event: object = None) -> None:
        """Ask about all rows again: their badges may be others now."""
        self._fresh.clear()
        self._awaited = (0, 0)
        self._ask_soon()

    def ask(self) -> None:
        """Ask about the next row, unless anything else is outstanding. The timer calls this."""
        if self._bridge.busy:
            return
        number = next((number for number in self._rows.visible_ids() if number not in self._fresh), None)
        if number is None:
            return
        if request := self._request_of(number):
            self._awaited = (self._bridge.request_preview(request), number)
        else:
            self._show(number, None)
            self._rest.start(0)  # to make a request reads the messages: one row in a turn of the event loop

    def close(self) -> None:
        """Ask no more. Safe to call twice."""
        self._rest.stop()
        self._awaited = (0, 0)

    def _ask_soon(self) -> None:
        if self._session.model and any(number not in self._fresh for number in self._rows.visible_ids()):
            self._rest.start(REST_MS)

    def _show(self, number: int, badge: Badge | None) -> None:
        self._fresh.add(number)
        self._rows.show_badge(number, badge)

    def _on_preview(self, preview: Preview) -> None:
        if preview.request_id == self._awaited[0]:
            number, self._awaited = self._awaited[1], (0, 0)
            self._show(number, self._made(preview))
            self.ask()
        else:
            self._ask_soon()

    def _on_failed(self, event: Failed) -> None:
        if event.request_id and event.request_id == self._awaited[0]:
            number, self._awaited = self._awaited[1], (0, 0)
            self._show(number, None)  # opening the conversation says what is wrong
        self._ask_soon()

    def _on_state(self, state: str) -> None:
        if state in ("loading", "no_model"):
            self.close()
            self._fresh.clear()
            self._rows.forget_badges()

    def _on_conversation(self, conversation: Conversation) -> None:
        self._fresh.discard(conversation.id)
        self._ask_soon()

    def _on_draft_preview(self, preview: Preview) -> None:
        """The conversation in view may have got another system prompt."""
        seen = (self._session.conversation.id, self._session.conversation.system_prompt)
        if seen != self._system_prompt:
            self._system_prompt = seen
            self._on_conversation(self._session.conversation)


def badge_of(preview: Preview) -> Badge:
    """What a row says of its next turn, which is warm where at least half of the prompt is reused."""
    is_warm = 2 * preview.reused_tokens >= preview.prompt_tokens
    fits = preview.prompt_tokens < preview.context_length
    reused, prompt = preview.reused_tokens, preview.prompt_tokens
    return Badge(is_warm, preview.seconds, reused, prompt, fits, preview.disk_tokens)


def preset_badge(preview: Preview) -> Badge:
    """What a row says of a conversation that begins with a saved system prompt: whether that is kept in memory, too."""
    badge = badge_of(preview)
    kept = preview.pinned_tokens > max(0, preview.system_tokens - BLOCK_TOKENS)
    return replace(badge, is_resident=badge.is_warm and kept)
