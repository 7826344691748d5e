"""The switch for other programs: on, off, remembered, refused; and what the tree calls them."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace

import httpx2 as httpx
import keyring
import pytest

from app.charts.tree.words import owners
from app.window.server_dialog import ServerDialog
from engine import Event, Finished, Matched, NodeView, Prefill
from tests.app.fake_engine import MODEL, FakeEngine
from tests.app.server.conftest import until
from tests.app.window.conftest import Screen, accept, settle
from tests.conftest import PATIENCE_S


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.fixture
def serving(screen: Screen) -> Screen:
    screen.application.settings.serve_port = free_port()
    screen.window.commands.serve.trigger()
    settle()
    return screen


def models(address: str) -> list[str]:
    answer = httpx.get(f"{address}/v1/models", timeout=PATIENCE_S, verify=False)
    return [model["id"] for model in answer.json()["data"]]


def test_the_switch_lets_programs_in_and_out_again(serving: Screen) -> None:
    address = serving.application.serving.address
    assert address in serving.window.notice.text
    assert models(address) == [serving.engine.model.name]
    assert serving.application.settings.serve
    serving.window.commands.serve.trigger()
    assert serving.application.serving.address == ""
    assert not serving.application.settings.serve
    with pytest.raises(httpx.ConnectError):
        models(address)


def test_a_taken_port_is_a_sentence_and_the_switch_stays_off(screen: Screen) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        screen.application.settings.serve_port = taken.getsockname()[1]
        screen.window.commands.serve.trigger()
        assert "Choose another port" in screen.window.notice.text
        assert not screen.window.commands.serve.isChecked()


def test_closing_the_window_ends_the_server(serving: Screen) -> None:
    address = serving.application.serving.address
    serving.window.close()
    with pytest.raises(httpx.ConnectError):
        models(address)
    assert serving.application.settings.serve, "the choice stays"


def test_a_program_is_one_owner_by_its_own_name() -> None:
    node = NodeView(-1, 0, 16, 1, 0.0, 0, False, ("api:editor/1", "api:editor/2", "#7"))
    assert [owner.title for owner in owners(node, {7: "Tents"})] == ["Tents", "editor"]


def test_what_a_program_asks_is_a_turn_among_those_of_all_conversations(serving: Screen) -> None:
    charts, server = serving.window.charts, serving.application.serving
    serving.ask("Where is my parcel?")
    serving.play()
    charts.scope.all.click()
    body = {"model": "default", "user": "editor", "messages": [{"role": "user", "content": "Complete this."}]}
    answered: list[object] = []
    server.answered.connect(answered.extend)
    for count in (1, 2):
        httpx.post(f"{server.address}/v1/chat/completions", json=body, timeout=PATIENCE_S, verify=False)

        def is_told(count: int = count) -> bool:
            server.timer.timeout.emit()
            return len(answered) == count

        until(is_told)
    assert [title.partition(" ")[0] for title in charts.turns.rows()["conversation"]] == ["Where", "Program", "Program"]
    assert list(charts.turns.rows()["conversation"])[1:] == ["Program editor"] * 2
    serving.ask("And now?")
    serving.play()
    assert [title == "Program editor" for title in charts.turns.rows()["conversation"]] == [False, True, True, False]
    charts.scope.one.click()
    assert len(charts.turns) == 2, "those of the conversation in view are its own"


def open_dialog(screen: Screen) -> ServerDialog:
    screen.window.commands.open_server.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, ServerDialog)
    return dialog


def test_a_server_is_loaded_like_a_model_and_its_key_goes_to_the_keyring(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[str, str, str]] = []
    monkeypatch.setattr(keyring, "set_password", lambda *given: kept.append(given))
    dialog = open_dialog(screen)
    dialog.address.setText(" http://host:8000/v1/#tiny ")
    dialog.key.setText("secret")
    accept(dialog)
    screen.play()
    assert kept == [("headstart", "http://host:8000/v1", "secret")]
    assert screen.engine.specs[-1].path == "http://host:8000/v1/#tiny"
    assert screen.application.settings.model_path == "http://host:8000/v1/#tiny"


def test_what_is_no_address_is_said_in_the_dialog(screen: Screen) -> None:
    dialog, loads = open_dialog(screen), len(screen.engine.specs)
    dialog.address.setText("localhost")
    accept(dialog)
    assert "named by its address" in dialog.wrong.text()
    assert dialog.isVisible()
    assert len(screen.engine.specs) == loads


def test_a_model_of_a_server_shows_its_answers_and_figures(
    make_screen: Callable[..., Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a server does not say is nothing: no size, no budget, no reading speed. What it reused comes at the end."""
    poll = FakeEngine.poll

    def late(engine: FakeEngine, limit: int = 256) -> list[Event]:
        events = poll(engine, limit)
        matched = [event for event in events if isinstance(event, Matched)]
        rest = [event for event in events if not isinstance(event, Matched | Prefill)]
        end = next((at for at, event in enumerate(rest) if isinstance(event, Finished)), len(rest))
        return rest[:end] + matched + rest[end:]

    monkeypatch.setattr(FakeEngine, "poll", late)
    model = replace(MODEL, weights_bytes=0, kv_bytes_per_token=0, cache_budget_bytes=0)
    screen = make_screen(model=model)
    screen.ask("Hello?")
    screen.play()
    assert screen.answer().text == "Hello from a fake."
    screen.window.commands.preferences.trigger()
    assert screen.application.dialogs.open_dialog is not None
