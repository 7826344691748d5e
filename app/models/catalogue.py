"""Open chat models that can be downloaded, as resources/models.json lists them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of the list: `repo` on the Hub, and the GGUF file there by a pattern ("" for a folder). `parameters` are
    billions; `bytes`, `context` in tokens and `licence` are about those that its page said. `kv_bytes_per_token` are
    keys and values of one token. `is_gated`: the Hub wants a token for it."""

    name: str
    repo: str
    file: str
    parameters: float
    bytes: int
    licence: str
    context: int
    kv_bytes_per_token: int
    is_gated: bool = False

    def is_of(self, repo: str, file: str) -> bool:
        """Whether this is what a download of a file ("" for a folder) is about."""
        same_kind = bool(self.file) == bool(file)
        return self.repo == repo and same_kind and fnmatch(file.lower(), self.file.lower())


@cache
def _held() -> dict[str, Any]:
    held: dict[str, Any] = json.loads((files("resources") / "models.json").read_text("utf-8"))
    return held


def offers() -> tuple[Offer, ...]:
    """The models of the list, small ones first."""
    return tuple(Offer(**each) for each in _held()["models"])


def as_of() -> str:
    """The date at which the list was right."""
    return str(_held()["as_of"])
