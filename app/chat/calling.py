"""What happens when a model calls tools: the user is asked, the tools are called, and the model goes on with what they
gave back."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.session import Session
from app.chat.turn import Turn
from app.history.records import Conversation, StoredMessage
from app.settings import Settings
from app.tools.connections import Connections, Outcome
from app.tools.servers import ChosenTool, Rule, ToolServer
from engine import HeadstartError, ModelInfo, ToolCall

LOOK_EVERY_MS = 60
MOST_ROUNDS = 10
"""So often the model may call tools for one question."""

TOO_OFTEN = (
    f"The model called tools {MOST_ROUNDS} times for one question, so they are called no more. Ask again to go on."
)
NOT_ALLOWED = "The user does not allow this tool to be called. Answer without it."
NOT_THERE = "There is no tool with this name."
NO_SERVER = "The tool server {} was removed. Add it again in Tools…, or switch its tools off."
WAITS = "In another conversation the model wants to call a tool, and waits for your word."
SAYS_NOTHING = "[The tool gave nothing back.]"


@dataclass(frozen=True, slots=True)
class Wish:
    """A call that the user is asked about: which of those of its answer it is, and of which tool."""

    number: int
    tool: ChosenTool
    call: ToolCall


@dataclass(slots=True)
class _Round:
    """The calls of one answer: what came back of each, by its number, which of them are under way, by the ids of what
    was asked, and which one the user is asked about. `agreed` are those that the user allowed once."""

    conversation_id: int
    answer: StoredMessage
    tools: dict[str, ChosenTool]
    texts: dict[int, str] = field(default_factory=dict)
    running: dict[int, int] = field(default_factory=dict)
    agreed: set[int] = field(default_factory=set)
    wish: Wish | None = None


class Calling(QObject):
    """Has the tools called that answers ask for, in whichever conversation: each after the user agreed, once or for
    always, as `settings.tool_rules` say. The user is asked about one call after the other, in the conversation in view.

    What a conversation was left with at its end is asked about again when it is opened, and never called by itself.

    Signals: changed(): `wish` or `running` is another one. said(str): something to know. failed(str, str): a sentence
    on what a server could not do, and its detail. rules_changed(): the user's rules are to be stored. listed(str,
    Outcome): what a server says of its tools, after `list_tools`.
    """

    changed = Signal()
    said = Signal(str)
    failed = Signal(str, str)
    rules_changed = Signal()
    listed = Signal(str, object)

    def __init__(
        self, session: Session, settings: Settings, connections: Connections, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._settings = settings
        self._connections = connections
        self._rounds: dict[int, _Round] = {}
        self._listings: dict[int, str] = {}
        self.timer = QTimer(self)
        self.timer.setInterval(LOOK_EVERY_MS)
        self.timer.timeout.connect(self.look)
        session.answers.ended.connect(self._on_ended)
        session.conversation_changed.connect(self._on_conversation)
        session.message_added.connect(self._on_message)
        session.answers.model_changed.connect(self._on_model)

    @property
    def wish(self) -> Wish | None:
        """The call in the conversation in view that the user is asked about."""
        found = self._rounds.get(self._session.conversation.id)
        return found.wish if found else None

    @property
    def running(self) -> list[str]:
        """The names of the tools that are being called in the conversation in view."""
        found = self._rounds.get(self._session.conversation.id)
        return [found.answer.tool_calls[number].name for number in found.running.values()] if found else []

    def decide(self, rule: Rule) -> None:
        """The user's answer to `wish`: once ("ask" stays the rule), or always or never for this tool."""
        found = self._rounds.get(self._session.conversation.id)
        if found is None or found.wish is None:
            return
        if rule == "ask":
            found.agreed.add(found.wish.number)
        else:
            self.set_rule(found.wish.tool, rule)
        self._go_on(found)

    def rule_of(self, tool: ChosenTool) -> Rule:
        """Whether a tool is called without asking, or not at all."""
        kept = self._settings.tool_rules.get(tool.key)
        return "always" if kept == "always" else "never" if kept == "never" else "ask"

    def set_rule(self, tool: ChosenTool, rule: Rule) -> None:
        """Keep a rule for a tool."""
        self._settings.tool_rules.pop(tool.key, None)
        if rule != "ask":
            self._settings.tool_rules[tool.key] = rule
        self.rules_changed.emit()

    def list_tools(self, server: ToolServer) -> None:
        """Ask a server which tools it has; `listed` follows."""
        self._listings[self._connections.list_tools(server)] = server.name
        self.timer.start()

    def forget(self, server: ToolServer) -> None:
        """The user removed this server: it ends, and so do the rules for its tools."""
        self._connections.end(server)
        rules = self._settings.tool_rules
        for key in [key for key in rules if key.startswith(f"{server.name}/")]:
            del rules[key]
        self.rules_changed.emit()

    def stop(self) -> None:
        """Call nothing more for the answer in view; the conversation stays as it is."""
        self._drop(self._session.conversation.id)

    def close(self) -> None:
        """End all servers. Safe to call twice."""
        self.timer.stop()
        self._rounds.clear()
        self._connections.close()

    def look(self) -> None:
        """Take what came out of what was asked. The timer calls this while anything is under way; a test may."""
        for outcome in self._connections.take():
            if name := self._listings.pop(outcome.request_id, ""):
                self.listed.emit(name, outcome)
            for found in list(self._rounds.values()):
                if (number := found.running.pop(outcome.request_id, None)) is not None:
                    found.texts[number] = self._text(outcome)
                    self._go_on(found)
        if not self._connections.is_busy:
            self.timer.stop()

    def _text(self, outcome: Outcome) -> str:
        """What the model is told of an outcome."""
        if outcome.sentence:
            self.failed.emit(outcome.sentence, outcome.detail)
        return outcome.sentence or outcome.text or SAYS_NOTHING

    # How a round begins and ends

    def _on_ended(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        if kept and message.tool_calls and message.finish_reason == "end":
            # The session hears of the end as well: only then is the conversation as it is now.
            QTimer.singleShot(0, self, lambda: self._begin(message.conversation_id, asks_only=False))

    def _on_conversation(self, conversation: Conversation) -> None:
        if conversation.id not in self._rounds:
            self._begin(conversation.id, asks_only=True)
        self.changed.emit()

    def _on_message(self, message: StoredMessage) -> None:
        """The user asked something else meanwhile, or the tools' results are there."""
        self._drop(message.conversation_id)

    def _drop(self, conversation_id: int) -> None:
        if found := self._rounds.pop(conversation_id, None):
            for request_id in found.running:
                self._connections.cancel(request_id)
            self.changed.emit()

    def _begin(self, conversation_id: int, *, asks_only: bool) -> None:
        branch = self._session.open_calls(conversation_id)
        if branch is None or conversation_id in self._rounds:
            return
        tools = {each.name: each for each in branch.conversation.tools}
        answer = branch.messages[-1]
        if not tools or (asks_only and not any(call.name in tools for call in answer.tool_calls)):
            return
        if branch.calls_since_question() > MOST_ROUNDS:
            if not asks_only:
                self.said.emit(TOO_OFTEN)
            return
        found = self._rounds[conversation_id] = _Round(conversation_id, answer, tools)
        self._go_on(found, asks_only=asks_only)

    def _go_on(self, found: _Round, *, asks_only: bool = False) -> None:
        """Call what may be called, ask about the first that may not yet, and end the round where nothing is left."""
        found.wish = None
        for number, call in enumerate(found.answer.tool_calls):
            if number in found.texts or number in found.running.values():
                continue
            tool = found.tools.get(call.name)
            rule = "ask" if tool is None or asks_only else self.rule_of(tool)
            if tool is None:
                found.texts[number] = NOT_THERE
            elif rule == "never":
                found.texts[number] = NOT_ALLOWED
            elif rule == "always" or number in found.agreed:
                self._call(found, number, tool, call)
            elif found.wish is None:
                found.wish = Wish(number, tool, call)
        if len(found.texts) == len(found.answer.tool_calls):
            self._end(found)
        elif found.wish is not None and found.conversation_id != self._session.conversation.id:
            self.said.emit(WAITS)
        self.changed.emit()

    def _call(self, found: _Round, number: int, tool: ChosenTool, call: ToolCall) -> None:
        place = self._settings.tool_servers.get(tool.server)
        try:
            if place is None:
                raise HeadstartError(NO_SERVER.format(tool.server))
            found.running[self._connections.call(ToolServer(tool.server, place), tool.called, call.arguments)] = number
            self.timer.start()
        except (HeadstartError, ValueError) as error:
            sentence = str(error) if isinstance(error, HeadstartError) else "The arguments are no JSON object."
            self.failed.emit(sentence, "")
            found.texts[number] = sentence

    def _end(self, found: _Round) -> None:
        """Hand over what came back. Where there is no model now, it is kept until there is one."""
        self._rounds.pop(found.conversation_id, None)
        texts = [found.texts[number] for number in range(len(found.answer.tool_calls))]
        if not self._session.answer_calls(found.conversation_id, found.answer.id, texts):
            branch = self._session.open_calls(found.conversation_id)
            if branch is not None and branch.leaf_id == found.answer.id:
                self._rounds[found.conversation_id] = found

    def _on_model(self, model: ModelInfo | None) -> None:
        """What waits for a model goes on with this one."""
        for found in list(self._rounds.values()):
            if model is not None and len(found.texts) == len(found.answer.tool_calls):
                self._end(found)
