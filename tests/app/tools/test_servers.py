"""How servers of tools are named, and tools of several servers together."""

from __future__ import annotations

import random

import pytest

from app.tools.servers import ChosenTool, ToolServer, name_of, with_own_names
from engine import HeadstartError

ODD = ["http://[x", "http://host:port/mcp", "http://host:99999/mcp"]


@pytest.mark.parametrize("place", ["", "  ", "http://", "https://user:word@host/mcp", "run 'open", *ODD])
def test_what_is_no_server_is_refused_in_a_sentence(place: str) -> None:
    with pytest.raises(HeadstartError) as refused:
        ToolServer("x", place)
    assert str(refused.value).endswith(".")


def test_a_command_is_split_as_a_shell_does() -> None:
    server = ToolServer("x", "my-server --folder '/home/me/my files'")
    assert server.command == ["my-server", "--folder", "/home/me/my files"]
    assert not server.is_address
    assert ToolServer("x", "http://127.0.0.1:8000/mcp").is_address


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("npx -y @scope/server-files /home", "server-files"),
        ("python3 /opt/weather.py", "weather"),
        ("https://tools.example.org/mcp", "tools.example.org"),
        ("python -m time_server", "time_server"),
        ("http://[x", "server"),
    ],
)
def test_a_server_is_called_by_what_says_most(place: str, name: str) -> None:
    assert name_of(place, ()) == name
    assert name_of(place, (name,)) == f"{name} 2"


def test_tools_have_one_name_each_and_one_order() -> None:
    """Names that a model can write, whatever servers call them; the same tools are the same prompt."""
    tools = [
        ChosenTool(server, called, called) for server in ("b b", "a") for called in ("find", "files/read", "x" * 90)
    ]
    named = with_own_names(tools)
    assert [each.name for each in named] == sorted({each.name for each in named})
    assert all(len(each.name) <= 64 and "/" not in each.name and " " not in each.name for each in named)
    assert next(each.name for each in named if (each.server, each.called) == ("b b", "find")) == "b_b_find"
    alike = [ChosenTool("a", called, called) for called in ("x!y", "x.y", "x?y", "x_y", "x_y_2", "", "a_x_y")]
    assert len({each.name for each in with_own_names(alike)} - {""}) == len(alike)
    random.Random(1).shuffle(tools)
    assert with_own_names(tools) == named
    assert with_own_names(named) == named
