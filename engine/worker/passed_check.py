"""Remembers on which GPU the check of this very computer has passed: only there are tokens chosen on the device.

The file holds for one card, one driver, one torch and one version of the engine: for anything else it says nothing.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from pathlib import Path

from engine import graphics
from engine.library.check import read_json
from engine.library.places import blocks_dir
from engine.machine import arithmetic
from engine.private_file import write_private
from engine.types import ModelError

log = logging.getLogger("headstart")


def has_passed(kind: str) -> bool:
    """Whether `note_check` was told so of the device of this kind as it is now. False for the CPU, and for Apple's
    GPUs, which have nothing that a copy could be waited for by itself."""
    if kind != "cuda":
        return False
    try:
        path = _path()
        return path.is_file() and read_json(path).get("passed") == _identity()
    except (ModelError, OSError, RuntimeError):
        return False


def note_check(kind: str, is_right: bool) -> None:
    """Remember what came of a check. Where that cannot be written, models are opened as if there had been none."""
    if kind != "cuda":
        return
    try:
        path = _path()
        if is_right:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(path, [json.dumps({"passed": _identity()}).encode()])
        else:
            with suppress(FileNotFoundError):
                path.unlink()
    except (OSError, RuntimeError) as error:
        log.info("What came of the check of the graphics card is not remembered: %s", error)


def _identity() -> str:
    """The card, its driver, torch and the engine."""
    return f"{arithmetic('cuda')}/{graphics.probe().nvidia}"


def _path() -> Path:
    return blocks_dir().with_name("checked-device.json")
