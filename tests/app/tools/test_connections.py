"""The client of tool servers, with a real server as a process of its own and over HTTP."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from app.tools import connections as module
from app.tools.connections import LONGEST_RESULT, Connections, Outcome
from app.tools.servers import ToolServer
from tests.conftest import PATIENCE_S

SCRIPT = f"{sys.executable} -m tests.app.tools.tool_server"
SMALL = ToolServer("small", SCRIPT)
ODD = ToolServer("odd", f"{sys.executable} -m tests.app.tools.odd_server")


def outcome(connections: Connections, request_id: int) -> Outcome:
    """What comes of something that was asked."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for each in connections.take():
            if each.request_id == request_id:
                return each
        threading.Event().wait(0.005)
    raise AssertionError("nothing came out")


@pytest.fixture
def connections() -> Iterator[Connections]:
    made = Connections()
    yield made
    assert made.close()


@pytest.fixture
def over_http() -> Iterator[ToolServer]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.app.tools.tool_server", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            assert next((line for line in process.stderr if "Uvicorn running" in line), "")
            yield ToolServer("far", f"http://127.0.0.1:{port}/mcp")
        finally:
            process.kill()


def test_a_server_says_its_tools_and_calls_them(connections: Connections) -> None:
    """What a tool says of its own failure is its result, and a long result is cut."""
    listed = outcome(connections, connections.list_tools(SMALL))
    add = next(each for each in listed.tools if each.called == "add")
    assert (add.server, add.description) == ("small", "Add two numbers.")
    assert '"integer"' in add.tool().parameters
    called = outcome(connections, connections.call(SMALL, "add", '{"first": 2, "second": 3}'))
    assert (called.text, called.is_error, called.sentence) == ("5", False, "")

    failed = outcome(connections, connections.call(SMALL, "refuse", "{}"))
    assert failed.is_error
    assert "refuse" in failed.text
    assert outcome(connections, connections.call(SMALL, "nothing", "{}")).is_error

    cut = outcome(connections, connections.call(SMALL, "repeat", '{"text": "ab", "times": 15000}')).text
    assert cut.startswith("abab")
    assert cut.endswith("20,000 of 30,000 characters are shown.]")
    assert len(cut) < LONGEST_RESULT + 100


@pytest.mark.parametrize("arguments", ["[1]", "", "{", "[" * 100_000])
def test_arguments_are_an_object(arguments: str) -> None:
    with pytest.raises(ValueError, match=r"no object|Expecting|nested"):
        Connections().call(SMALL, "add", arguments)


def test_what_a_server_says_of_a_failure_is_not_taken_for_its_end(connections: Connections) -> None:
    """Nor is a result that is not as the tool itself, or the protocol, says; the connection stays."""
    says = outcome(connections, connections.call(ODD, "closed", "{}")).sentence
    assert says == "The tool server odd says: The shop is closed on Sundays"
    for name in ("shaped", "nonsense"):
        odd = outcome(connections, connections.call(ODD, name, "{}")).sentence
        assert odd.startswith("The tool server odd gave back what is no result of this tool: ")
    assert outcome(connections, connections.call(ODD, "noise", "{}")).text == "done", "its log is no answer"


def test_a_result_is_all_that_is_text_in_it(connections: Connections) -> None:
    text = outcome(connections, connections.call(ODD, "parts", "{}")).text
    assert text.splitlines() == [
        "[image that is no text]",
        "what a.txt says",
        "[resource that is no text]",
        "b: file:///b.txt",
    ]


def test_a_server_that_is_removed_in_the_middle_of_a_call_leaves_nothing_waiting(connections: Connections) -> None:
    """What waits behind that call comes out as well."""
    assert outcome(connections, connections.list_tools(SMALL)).tools
    waiting = {connections.call(SMALL, "wait", "{}"), connections.list_tools(SMALL)}
    connections.end(SMALL)
    came, deadline = [], time.monotonic() + PATIENCE_S
    while connections.is_busy and time.monotonic() < deadline:
        came += connections.take()
        threading.Event().wait(0.005)
    assert {each.request_id for each in came} == waiting
    assert {each.sentence for each in came} == {"The call was stopped."}


def test_a_server_that_dies_is_a_sentence_and_starts_again(connections: Connections) -> None:
    dead = outcome(connections, connections.call(SMALL, "leave", "{}"))
    assert dead.sentence.startswith("The tool server small ended")
    assert outcome(connections, connections.call(SMALL, "add", '{"first": 1, "second": 1}')).text == "2"


def test_a_call_that_takes_too_long_is_stopped_or_given_up(
    connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = connections.call(SMALL, "wait", "{}")
    connections.cancel(waiting)
    assert outcome(connections, waiting).sentence == "The call was stopped."
    connections.end(SMALL)
    monkeypatch.setattr(module, "CALL_S", 0.0)
    assert (
        "gave no answer" in outcome(connections, connections.call(SMALL, "add", '{"first": 1, "second": 1}')).sentence
    )
    assert connections.is_busy is False


def test_a_server_that_never_says_a_word_is_given_up(connections: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT_S", 0.3)
    silent = ToolServer("silent", f"{sys.executable} -c 'import time; time.sleep(600)'")
    assert "gave no answer" in outcome(connections, connections.list_tools(silent)).sentence


def test_over_http_it_is_the_same(
    connections: Connections, over_http: ToolServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(module, "key_of", lambda address: asked.append(address) or "secret")
    listed = outcome(connections, connections.list_tools(over_http))
    assert {each.called for each in listed.tools} >= {"add", "refuse"}
    assert outcome(connections, connections.call(over_http, "add", '{"first": 2, "second": 3}')).text == "5"
    assert asked == [over_http.place]


def test_a_server_that_is_not_there_is_a_sentence(connections: Connections) -> None:
    for place, sentence in (
        ("/nowhere/program", "cannot be started"),
        (f"{sys.executable} -c 1", "cannot be started"),
        ("http://127.0.0.1:9/mcp", "cannot be reached"),
    ):
        failed = outcome(connections, connections.list_tools(ToolServer("odd", place)))
        assert sentence in failed.sentence
        assert failed.tools == ()


def test_after_the_end_nothing_is_asked_and_no_thread_is_left() -> None:
    made = Connections()
    waiting = made.call(SMALL, "wait", "{}")
    assert made.close()
    assert made.list_tools(SMALL) > waiting
    assert [each.sentence for each in made.take()][-1] == "Headstart is closing."
