"""What is to be read before anybody asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.types import Request

if TYPE_CHECKING:
    from engine.prompt.template import Prompt


@dataclass(eq=False, slots=True)
class Wish:
    """Read what all of `requests` begin with, of which there is one at least. Once that was looked for, `prompt` is
    that of the first one, and all begin with the ids `certain`. `keeps`: what was read of the system prompt then stays
    resident for the conversation of the first request."""

    request_id: int
    requests: tuple[Request, ...]
    keeps: bool = False
    prompt: Prompt | None = None
    certain: tuple[int, ...] = ()
