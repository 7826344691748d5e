"""The switch for other programs: on, off, remembered, refused; and what the tree calls them."""

from __future__ import annotations

import socket

import httpx2 as httpx
import pytest

from app.charts.tree.words import owners
from engine import NodeView
from tests.app.window.conftest import Screen, settle
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
