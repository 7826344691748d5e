"""Starts an installed Headstart in the Python that has the graphics card's build of torch, where the user had one
installed. Where that is damaged, older, or failed the last time, the CPU computes, and the window says why. No torch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from engine.library.places import installed_models_dir, runtimes_dir
from engine.side_programs import INSTALLED, is_frozen
from engine.types import HeadstartError

NOTICE = "HEADSTART_NOTICE"
"""The variable with a sentence for the window: why the graphics card is not used."""
CURRENT, STARTING = "current.json", "starting"
CPU = "Until then the processor computes."


@dataclass(frozen=True, slots=True)
class Runtime:
    """An installed build of torch: its name, the Python that has it, and how large it is in bytes."""

    build: str
    python: Path
    bytes: int


def current() -> Runtime | None:
    """The runtime that was installed for this version of Headstart; None where none was.

    Raises HeadstartError where it cannot be used: damaged, or of another version. What is compared are the sizes of
    the libraries, which takes milliseconds.
    """
    place = runtimes_dir()
    try:
        said: dict[str, Any] = json.loads((place / CURRENT).read_text(encoding="utf-8"))
        folder = place / str(said["folder"])
        sizes = {str(name): int(size) for name, size in said["files"].items()}
        runtime = Runtime(str(said["build"]), folder / str(said["python"]), sum(sizes.values()))
        made_for = str(said["version"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(str(error)) from error
    if made_for != version("headstart"):
        raise HeadstartError(
            "The software for the graphics card belongs to another version of Headstart, "
            f"{made_for[:20]}: install it again in the preferences. {CPU}"
        )
    for name, size in sizes.items():
        try:
            found = (folder / name).stat().st_size
        except OSError as error:
            raise damaged(str(error)) from error
        if found != size:
            raise damaged(f"{folder / name} has {found:,} bytes, not {size:,}")
    return runtime


def damaged(detail: str) -> HeadstartError:
    """The error for a runtime of which something is missing."""
    return HeadstartError(
        f"The software for the graphics card is damaged: install it again in the preferences. {CPU}", detail
    )


def start(arguments: Sequence[str]) -> None:
    """Go on in the Python of the runtime, where there is one; it then takes the place of this process.

    Returns where this process shall go on by itself; the variable NOTICE then says why, if there is something to say.
    """
    if not is_frozen():
        return
    os.environ.pop(NOTICE, None)  # of another Headstart, which started what started this one
    try:
        runtime = current()
        if runtime is not None and failed_last_time():
            raise HeadstartError(
                "Headstart did not get ready with the graphics card the last time, so the processor computes this "
                "time. Where that happens again, remove the card's software in the preferences."
            )
        if runtime is not None:
            replace_process([str(runtime.python), "-P", "-m", "headstart", *arguments], environment(os.environ))
    except HeadstartError as error:
        os.environ[NOTICE] = str(error)
    except OSError as error:
        os.environ[NOTICE] = str(damaged(str(error)))


def environment(before: Mapping[str, str]) -> dict[str, str]:
    """The variables for the runtime's Python: where the installed program lies, and nothing that leads it elsewhere."""
    made = {name: value for name, value in before.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "_PYI"))}
    made[INSTALLED] = str(Path(sys.executable).resolve().parent)
    if models := installed_models_dir():
        made.setdefault("HEADSTART_MODEL_DIR", str(models))
    return made


def replace_process(command: Sequence[str], env: Mapping[str, str]) -> None:
    """Run a program in the place of this one. Raises OSError where it cannot be started."""
    if sys.platform == "win32":  # a replaced process would not be waited for there
        sys.exit(subprocess.call(list(command), env=dict(env)))
    os.execve(command[0], list(command), dict(env))


def notice() -> str:
    """What `start` had to say, "" for nothing."""
    return os.environ.get(NOTICE, "")


def begins() -> None:
    """Note that a Headstart begins in the runtime's Python. What follows may end the process without a word."""
    if os.environ.get(INSTALLED) and not is_frozen():
        with suppress(OSError):
            (runtimes_dir() / STARTING).touch()


def is_ready() -> None:
    """Take that note back: a model is loaded, or the window was closed in order."""
    with suppress(OSError):
        (runtimes_dir() / STARTING).unlink(missing_ok=True)


def failed_last_time() -> bool:
    """Whether the last start left its note behind. The note is gone afterwards: the next start may try again."""
    note = runtimes_dir() / STARTING
    was_there = note.exists()
    is_ready()
    return was_there
