"""Tools in the window: chosen in the dialog, asked about before they are called, and what they gave back is read on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QPushButton

from app.chat.calling import MOST_ROUNDS
from app.settings import Settings
from app.tools.connections import Outcome
from app.tools.servers import ChosenTool, ToolServer
from app.transcript.message import ToolResult
from app.window.tools_dialog import ToolsDialog
from engine import Failed, ToolCall
from tests.app.fake_engine import Script
from tests.app.window.conftest import Screen, accept, settle

PLACE = "small-server --quick"
ADD = ChosenTool("small", "add", "add", "Adds.", '{"properties": {"a": {"type": "integer"}}, "type": "object"}')
LOOK = ChosenTool("small", "look", "look")
SERVERS = {"small": PLACE}
CALL = Script(tokens=(), tool_calls=(ToolCall("add", '{"a": 2}', "c1"),))
SAYS = Script(tokens=("It", " is", " 5."))


class Servers:
    """Stands for the client of tool servers: `tools` are what each says it has, `results` what calls give back, one
    after the other, the last one again and again. What was called is in `called`. Nothing comes out before `answer`.
    It `refuses` arguments as the real one does where they are no object."""

    def __init__(self) -> None:
        self.tools: dict[str, Outcome] = {}
        self.results = [Outcome(0, text="5")]
        self.called: list[tuple[str, str, str]] = []
        self.ended: list[str] = []
        self.is_closed = self.refuses = False
        self._waiting: list[Outcome] = []
        self._ready: list[Outcome] = []
        self._next_id = 1

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting or self._ready)

    def list_tools(self, server: ToolServer) -> int:
        return self._wait(self.tools.get(server.name, Outcome(0, tools=(LOOK, ADD))))

    def call(self, server: ToolServer, called: str, arguments: str) -> int:
        if self.refuses:
            raise ValueError("no object")
        self.called.append((server.place, called, arguments))
        return self._wait(self.results.pop(0) if len(self.results) > 1 else self.results[0])

    def cancel(self, request_id: int) -> None:
        self._waiting = [each for each in self._waiting if each.request_id != request_id]

    def end(self, server: ToolServer) -> None:
        self.ended.append(server.name)

    def take(self) -> list[Outcome]:
        taken, self._ready = self._ready, []
        return taken

    def close(self) -> bool:
        self.is_closed = True
        return True

    def answer(self, screen: Screen) -> None:
        """Let everything come out that was asked."""
        self._ready += self._waiting
        self._waiting = []
        screen.application.calling.look()
        settle()

    def _wait(self, outcome: Outcome) -> int:
        number, self._next_id = self._next_id, self._next_id + 1
        self._waiting.append(
            Outcome(number, outcome.tools, outcome.text, outcome.is_error, outcome.sentence, outcome.detail)
        )
        return number


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Servers:
    made = Servers()
    monkeypatch.setattr("app.application.Connections", lambda: made)
    return made


Make = Callable[..., Screen]


@pytest.fixture
def make(make_screen: Make, servers: Servers) -> Make:
    """A window whose conversation has the tools of one server."""

    def opened(*scripts: Script, rules: dict[str, str] | None = None) -> Screen:
        settings = Settings(theme="light", tool_servers=dict(SERVERS), tool_rules=rules or {})
        screen = make_screen(*scripts, settings=settings)
        screen.session.set_tools((ADD, LOOK))
        return screen

    return opened


def ask(screen: Screen, text: str = "How much?") -> None:
    screen.ask(text)
    screen.play()


def roles(screen: Screen) -> list[str]:
    return [message.role for message in screen.session.messages]


def press(button: QPushButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    settle()


def test_a_call_waits_for_the_user_and_its_result_is_read_on(make: Make, servers: Servers) -> None:
    screen = make(CALL, SAYS)
    bar = screen.window.tool_bar
    assert screen.window.header.tools.text() == "2 tools"
    ask(screen)
    assert servers.called == []
    assert bar.isVisible()
    assert bar.says.text() == "The model wants to call add of small with:"
    assert bar.arguments.toPlainText() == '{\n  "a": 2\n}'
    press(bar.once)
    assert servers.called == [(PLACE, "add", '{"a": 2}')]
    assert bar.says.text() == "Calling add…"
    assert not bar.once.isVisible()
    servers.answer(screen)
    screen.play()
    assert not bar.isVisible()
    assert roles(screen) == ["user", "assistant", "tool", "assistant"]
    assert screen.texts() == ["How much?", "", "5", "It is 5."]
    result = screen.transcript.messages[2]
    assert isinstance(result, ToolResult)
    assert (result.fold.line.words, result.fold.text, result.fold.is_open) == ("Result of add", "5", False)
    first, second = screen.engine.requests
    assert [tool.name for tool in first.tools] == ["add", "look"]
    assert second.tools == first.tools
    assert second.messages[-1].content == "5"
    assert second.messages[-1].tool_call_id == "c1"
    ask(screen)
    assert bar.says.text().startswith("The model wants") is False, "the last script says something"


def test_always_and_never_are_kept(make: Make, servers: Servers) -> None:
    screen = make(CALL, CALL, SAYS, CALL, SAYS)
    ask(screen)
    press(screen.window.tool_bar.always)
    servers.answer(screen)
    screen.play()
    assert len(servers.called) == 2, "the second time nobody is asked"
    assert screen.application.settings.tool_rules == {"small/add": "always"}
    servers.answer(screen)
    screen.play()
    screen.application.calling.set_rule(ADD, "never")
    ask(screen)
    settle()
    screen.play()
    assert len(servers.called) == 2
    assert "does not allow" in screen.session.messages[-2].content
    assert screen.session.messages[-1].content == "It is 5."


def test_several_calls_of_one_answer_are_asked_about_one_by_one(make: Make, servers: Servers) -> None:
    calls = tuple(ToolCall(name, arguments) for name, arguments in (("add", "{}"), ("nothing", "{}"), ("look", "[1]")))
    screen = make(Script(tokens=(), tool_calls=calls), SAYS)
    servers.results = [Outcome(0, text="")]
    ask(screen)
    press(screen.window.tool_bar.once)
    assert "look" in screen.window.tool_bar.says.text()
    press(screen.window.tool_bar.never)
    servers.answer(screen)
    screen.play()
    told = [message.content for message in screen.session.messages if message.role == "tool"]
    assert told == [
        "[The tool gave nothing back.]",
        "There is no tool with this name.",
        "The user does not allow this tool to be called. Answer without it.",
    ]


def test_a_server_that_dies_is_a_sentence_for_the_user_and_the_model(make: Make, servers: Servers) -> None:
    screen = make(CALL, SAYS)
    servers.results = [Outcome(0, sentence="The tool server small ended.", detail="why")]
    ask(screen)
    press(screen.window.tool_bar.once)
    servers.answer(screen)
    screen.play()
    assert screen.window.notice.text == "The tool server small ended."
    assert screen.session.messages[-2].content == "The tool server small ended."


def test_what_came_back_is_kept_until_there_is_a_model(make: Make, servers: Servers) -> None:
    screen = make(CALL, SAYS)
    ask(screen)
    press(screen.window.tool_bar.once)
    load_id = screen.session.answers.load(replace(screen.engine.specs[-1], path="/huge"))
    screen.engine.inject(Failed(load_id, "It does not fit.", is_model_gone=True))
    screen.application.bridge.drain()
    servers.answer(screen)
    assert "what the tools gave back is kept" in screen.window.notice.text
    assert roles(screen) == ["user", "assistant"]
    screen.session.answers.load(screen.engine.specs[0])
    screen.play()
    screen.play()
    assert screen.texts() == ["How much?", "", "5", "It is 5."]
    assert len(servers.called) == 1


def test_loops_end(make: Make, servers: Servers) -> None:
    screen = make(CALL, rules={"small/add": "always"})
    ask(screen)
    for _ in range(MOST_ROUNDS + 3):
        servers.answer(screen)
        screen.play()
    assert len(servers.called) == MOST_ROUNDS
    assert "called no more" in screen.window.notice.text
    assert not screen.window.tool_bar.isVisible()


def test_a_conversation_in_the_background_says_that_it_waits(make: Make, servers: Servers) -> None:
    screen = make(CALL, SAYS)
    screen.ask("How much?")
    number = screen.session.conversation.id
    screen.session.new_conversation()
    screen.play()
    assert "waits for your word" in screen.window.notice.text
    assert not screen.window.tool_bar.isVisible()
    screen.session.open(number)
    settle()
    press(screen.window.tool_bar.once)
    screen.session.new_conversation()
    servers.answer(screen)
    screen.play()
    screen.session.open(number)
    assert screen.session.messages[-1].content == "It is 5.", "it went on behind the one in view"


def test_arguments_that_are_no_object_are_told_to_the_model(make: Make, servers: Servers) -> None:
    screen = make(Script(tokens=(), tool_calls=(ToolCall("add", "[1]"),)), SAYS, rules={"small/add": "always"})
    servers.refuses = True
    ask(screen)
    assert screen.session.messages[-2].content == "The arguments are no JSON object."
    assert servers.called == []


def test_another_question_or_stop_ends_the_asking(make: Make, servers: Servers) -> None:
    screen = make(CALL, CALL, SAYS)
    ask(screen)
    press(screen.window.tool_bar.stop)
    assert not screen.window.tool_bar.isVisible()
    ask(screen, "Again")
    press(screen.window.tool_bar.once)
    ask(screen, "Never mind")
    servers.answer(screen)
    screen.play()
    assert roles(screen)[-2:] == ["user", "assistant"]
    assert screen.session.messages[-1].content == "It is 5."


def test_what_was_left_open_is_asked_about_when_it_is_opened_again(make: Make, servers: Servers) -> None:
    """Also where the tool may always be called: opening a conversation calls nothing."""
    screen = make(CALL, SAYS)
    ask(screen)
    number = screen.session.conversation.id
    screen.session.new_conversation()
    settle()
    assert not screen.window.tool_bar.isVisible()
    assert screen.window.header.tools.isHidden()
    screen.application.calling.set_rule(ADD, "always")
    screen.session.open(number)
    settle()
    assert screen.window.tool_bar.isVisible()
    assert servers.called == []
    screen.session.new_conversation()
    screen.window.close()
    assert servers.is_closed


def test_a_conversation_keeps_its_tools_over_a_restart_whatever_its_server_says(make: Make, servers: Servers) -> None:
    screen = make(SAYS)
    ask(screen)
    number = screen.session.conversation.id
    screen.window.close()
    again = make(CALL)
    again.session.open(number)
    settle()
    assert again.session.conversation.tools == (ADD, LOOK)
    ask(again, "More?")
    assert again.engine.requests[-1].tools == screen.engine.requests[0].tools
    press(again.window.tool_bar.stop)
    again.window.close()
    third = make()
    third.session.open(number)
    settle()
    assert third.window.tool_bar.isVisible()


def test_the_dialog_adds_servers_and_chooses_tools(
    make_screen: Make, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[str, str]] = []
    monkeypatch.setattr("app.window.tooling.keep_key", lambda place, key: kept.append((place, key)))
    screen = make_screen(SAYS)
    screen.window.commands.tools.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, ToolsDialog)
    dialog.place.setText("run 'open")
    press(dialog.add)
    assert "quotation mark" in dialog.wrong.text()
    dialog.place.setText("http://127.0.0.1:8000/mcp")
    dialog.key.setText("secret")
    press(dialog.add)
    assert kept == [("http://127.0.0.1:8000/mcp", "secret")]
    assert screen.application.settings.tool_servers == {"127.0.0.1": "http://127.0.0.1:8000/mcp"}
    dialog.tree.setCurrentItem(dialog.tree.topLevelItem(0))
    press(dialog.remove)
    dialog.place.setText("/opt/small --quick")
    press(dialog.add)
    assert screen.application.settings.tool_servers == {"small": "/opt/small --quick"}
    servers.answer(screen)
    top = dialog.tree.topLevelItem(0)
    assert top is not None
    assert [top.child(number).text(0) for number in range(top.childCount())] == ["look", "add"]
    top.child(1).setCheckState(0, Qt.CheckState.Checked)
    box = dialog.tree.itemWidget(top.child(1), 1)
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(1)
    box.activated.emit(1)
    assert screen.application.settings.tool_rules == {"small/add": "always"}
    accept(dialog)
    settle()
    assert screen.session.conversation.tools == (ADD,)
    assert screen.window.header.tools.text() == "1 tool"


@pytest.mark.parametrize("field", ["place", "key"])
def test_enter_in_a_field_adds_the_server_and_leaves_the_dialog_open(
    make_screen: Make, servers: Servers, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    monkeypatch.setattr("app.window.tooling.keep_key", lambda place, key: None)
    screen = make_screen(SAYS)
    screen.window.commands.tools.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, ToolsDialog)
    dialog.place.setText("http://127.0.0.1:8000/mcp")
    edit = dialog.key if field == "key" else dialog.place
    edit.setFocus()
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert screen.application.settings.tool_servers == {"127.0.0.1": "http://127.0.0.1:8000/mcp"}
    assert dialog.isVisible()


def test_a_tool_that_its_server_has_no_longer_is_not_of_the_conversation_any_more(make: Make, servers: Servers) -> None:
    """What is not in the list could not be switched off. Until the server says so, everything stays."""
    screen = make()
    servers.tools["small"] = Outcome(0, tools=(LOOK,))
    screen.window.commands.tools.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, ToolsDialog)
    servers.answer(screen)
    accept(dialog)
    settle()
    assert screen.session.conversation.tools == (LOOK,)


def test_a_second_answer_of_a_server_changes_no_tick(make: Make, servers: Servers) -> None:
    """It was asked by the dialog before this one, too."""
    screen = make()
    dialog = screen.application.dialogs.open_dialog
    for _ in range(2):
        if dialog is not None:
            dialog.reject()
        screen.window.commands.tools.trigger()
        dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, ToolsDialog)
    dialog.show_tools("small", (LOOK, ADD))
    top = dialog.tree.topLevelItem(0)
    assert top is not None
    top.child(0).setCheckState(0, Qt.CheckState.Unchecked)
    servers.answer(screen)
    assert dialog.selected() == (ADD,)
    accept(dialog)


def test_a_server_that_does_not_answer_keeps_what_was_chosen_of_it(make: Make, servers: Servers) -> None:
    screen = make()
    servers.tools["small"] = Outcome(0, sentence="The tool server small cannot be started. Check its command.")
    screen.window.commands.tools.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, ToolsDialog)
    assert dialog.selected() == (ADD, LOOK)
    servers.answer(screen)
    top = dialog.tree.topLevelItem(0)
    assert top is not None
    assert "cannot be started" in top.child(0).text(0)
    assert dialog.selected() == (ADD, LOOK)
    dialog.tree.setCurrentItem(top)
    press(dialog.remove)
    assert dialog.selected() == ()
    assert (servers.ended, screen.application.settings.tool_servers) == (["small"], {})
    accept(dialog)
