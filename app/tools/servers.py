"""Servers of tools as the user names them, and the tools that a conversation has of them. No Qt, no network."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Literal
from urllib.parse import urlsplit

from engine import HeadstartError, Tool

Rule = Literal["ask", "always", "never"]
"""Whether a tool is called when the model asks for it: once the user agreed, without asking, or not at all."""

NO_PLACE = "Name a server by the command that starts it, or by its address, such as http://127.0.0.1:8000/mcp."
LONGEST_NAME = 64
"""Characters of the name by which a model calls a tool."""

_FORBIDDEN = re.compile(r"[^A-Za-z0-9_.-]")
_SAYS_LITTLE = ("", "python", "python3", "node", "npx", "uvx", "uv", "run", "py", "env", "docker", "-m", "-y")


@dataclass(frozen=True, slots=True)
class ToolServer:
    """A server: its `name` in the window, and its `place`, the command that starts it or its address.

    Raises HeadstartError where the place is neither.
    """

    name: str
    place: str

    def __post_init__(self) -> None:
        if self.is_address:
            try:
                parts = urlsplit(self.place)
                is_whole = bool(parts.hostname) and not parts.username and parts.port != 0
            except ValueError as error:
                raise HeadstartError(NO_PLACE, str(error)) from error
            if not is_whole:
                raise HeadstartError(NO_PLACE)
        elif not self.command:
            raise HeadstartError(NO_PLACE)

    @property
    def is_address(self) -> bool:
        """Whether it is reached over HTTP."""
        return self.place.startswith(("http://", "https://"))

    @property
    def command(self) -> list[str]:
        """The program and its arguments. Raises HeadstartError where a quotation is left open."""
        try:
            words = shlex.split(self.place, posix=sys.platform != "win32")
        except ValueError as error:
            raise HeadstartError("A quotation mark in the command has no partner. Add it.", str(error)) from error
        return [word.strip('"') for word in words] if sys.platform == "win32" else words


@dataclass(frozen=True, slots=True)
class ChosenTool:
    """A tool that a conversation has: the server that it is of, what it is `called` there, and how the model knows it.
    It is kept as it was when it was chosen, so that it stays the same tokens whatever its server says later."""

    server: str
    called: str
    name: str
    description: str = ""
    parameters: str = "{}"

    @property
    def key(self) -> str:
        """What the user's rule for it is kept under."""
        return f"{self.server}/{self.called}"

    def tool(self) -> Tool:
        """The same for the engine. Raises InvalidRequestError where its parameters are no schema."""
        return Tool(self.name, self.description, self.parameters)


def name_of(place: str, taken: Iterable[str]) -> str:
    """A name for a server that is not taken: the host of an address, or the word of a command that says most."""
    if place.startswith(("http://", "https://")):
        best = "server"
        with suppress(ValueError):  # it is no address
            best = urlsplit(place).hostname or best
    else:
        words = [word.replace("\\", "/").rpartition("/")[2] for word in place.split()]
        best = next((word for word in words if word not in _SAYS_LITTLE and not word.startswith("-")), "server")
        best = best.partition(".")[0] or best
    names = set(taken)
    return (
        best
        if best not in names
        else next(f"{best} {number}" for number in range(2, 10**6) if f"{best} {number}" not in names)
    )


def with_own_names(tools: Sequence[ChosenTool]) -> tuple[ChosenTool, ...]:
    """The tools with names that a model can write and that are each of one tool only: of two with one name the later is
    called by its server, too. They are sorted by name, so that the same tools are always the same prompt."""
    names: set[str] = set()
    named: list[ChosenTool] = []
    for tool in sorted(tools, key=lambda each: (each.server, each.called)):
        plain = _FORBIDDEN.sub("_", tool.called)[:LONGEST_NAME] or "tool"
        candidates = (plain, f"{_FORBIDDEN.sub('_', tool.server)}_{plain}"[:LONGEST_NAME])
        numbered = (f"{plain[: LONGEST_NAME - 8]}_{number}" for number in count(len(names)))
        name = next(each for each in chain(candidates, numbered) if each not in names)
        names.add(name)
        named.append(replace(tool, name=name))
    return tuple(sorted(named, key=lambda each: each.name))
