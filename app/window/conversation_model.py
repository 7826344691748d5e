"""Each conversation remembers the model that answered in it; opened under another one, it offers that model again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from PySide6.QtCore import QObject, Signal

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.chat.turn import Turn
from app.history.models import ModelTable, UsedModel
from app.history.records import Conversation, StoredMessage
from app.history.servers import ServerTable
from app.language import tr
from app.widgets.work import Work
from app.window.notice_bar import NoticeBar
from app.words import shortened_line, size, tokens
from engine import HeadstartError, ModelInfo, is_server, model_bytes

LONGEST_NAME = 28
"""Characters of a model's name on the button."""


class ConversationModel(QObject):
    """Notes who answered, and says in the notice what a change of the model would cost. Nothing is loaded unless the
    user presses the button: then `load` opens the model of a path. Where one of the `servers` answers
    a conversation, no model of this computer matters.

    Signals: looked(): it was looked whether the model of the conversation in view is still there.
    """

    looked = Signal()

    def __init__(
        self,
        notice: NoticeBar,
        session: Session,
        bridge: Bridge,
        table: ModelTable,
        *,
        servers: ServerTable,
        load: Callable[[str], None],
    ) -> None:
        super().__init__(session)
        self._notice, self._session, self._bridge, self._table = notice, session, bridge, table
        self._servers, self._load = servers, load
        self._shown_id, self._said = 0, ""
        self._work: Work | None = None
        session.conversation_changed.connect(self._on_conversation)
        session.answers.ended.connect(self._on_ended)
        session.answers.model_changed.connect(lambda _: self._take_back())

    def stop(self) -> None:
        """The program ends."""
        if self._work is not None:
            self._work.stop()

    def _on_ended(self, turn: Turn, message: StoredMessage, is_kept: bool) -> None:
        model = self._session.model
        if is_kept and model and message.stats and not is_server(model.path):
            with self._session.reporting():
                if not self._servers.of(message.conversation_id):
                    self._table.note(message.conversation_id, model.path, model.name)

    def _on_conversation(self, conversation: Conversation) -> None:
        if conversation.id == self._shown_id:
            return
        self._shown_id = conversation.id
        self._take_back()
        used = self._used(conversation.id)
        if used is not None:
            self._work = work = Work(lambda _: model_bytes(used.path), self)
            work.done.connect(partial(self._offer, conversation.id, used))
            work.start()

    def _take_back(self) -> None:
        """What was offered holds no longer."""
        self.stop()
        if self._said and self._notice.text == self._said:
            self._notice.clear()
        self._said = ""

    def _used(self, conversation_id: int) -> UsedModel | None:
        """The model that may be offered: the conversation's own, where another one is open."""
        model = self._session.model
        if not conversation_id or model is None or self._session.answers.loading:
            return None
        try:
            used = None if self._servers.of(conversation_id) else self._table.of(conversation_id)
        except HeadstartError:  # to open the conversation says so, too
            return None
        return used if used and used.path != model.path else None

    def _offer(self, conversation_id: int, used: UsedModel, found: object) -> None:
        """Say what it costs to go back to that model, unless it is gone, or something else happened meanwhile."""
        self.looked.emit()
        model, there = self._session.model, cast(int, found)
        if model is None or not there or conversation_id != self._session.conversation.id:
            return
        self._said = cost_of_switch(used, model, there, self._bridge.read_cache_view().cached_tokens)
        label = tr("Open {shortened_line}", shortened_line=shortened_line(used.name, LONGEST_NAME))
        self._notice.show_offer(self._said, label, partial(self._load, used.path), is_error=False)


def cost_of_switch(used: UsedModel, model: ModelInfo, there: int, cached_tokens: int) -> str:
    """What it takes to open the model of a conversation in place of the one that is open."""
    forgets = (
        tr(", and what {name} has in memory ({tokens}) is forgotten", name=model.name, tokens=tokens(cached_tokens))
        if cached_tokens
        else ""
    )
    return tr(
        "{name} answered in this conversation, and {name2} is open. To open {name}, {size} are read "
        "from disk{forgets}.",
        name=used.name,
        name2=model.name,
        size=size(there),
        forgets=forgets,
    )
