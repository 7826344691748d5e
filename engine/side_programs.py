"""How Headstart starts Python programs beside itself: the converter, pip, the one that renders chat templates.

From source they run in the Python that runs Headstart. A frozen Headstart, as the installers bring it, has no Python
beside it: there `sys.executable` is Headstart itself, which runs one of its own files where its first argument says so
(packaging/bundle/entry.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

OPTION = "--side-program"
"""The hidden first argument of a frozen Headstart, before the file to run and what that is given."""


INSTALLED = "HEADSTART_INSTALLED"
"""The variable that names the folder of the installed program to another Python that it starts."""


def is_frozen() -> bool:
    """Whether this is a Headstart that an installer brought, with no Python beside it."""
    return bool(getattr(sys, "frozen", False))


def installed_folder() -> Path | None:
    """The folder of the program that an installer brought, also where that has started this one in the Python of the
    software for the graphics card (engine/runtimes/launch.py). None from source."""
    if is_frozen():
        return Path(sys.executable).resolve().parent
    return Path(os.environ[INSTALLED]) if os.environ.get(INSTALLED) else None


def installed_resources() -> Path | None:
    """Where the files lie that only an installed Headstart has, beside its other resources; None from source."""
    if is_frozen():
        return Path(str(getattr(sys, "_MEIPASS", ""))) / "resources"
    folder = installed_folder()
    return None if folder is None else folder / "_internal" / "resources"


def python_command(arguments: Sequence[str]) -> list[str]:
    """What to start for the Python file `arguments[0]` with what follows it. Nothing of where it starts is imported."""
    if is_frozen():
        return [sys.executable, OPTION, str(Path(arguments[0]).with_suffix(".py")), *arguments[1:]]
    return [sys.executable, "-P", *arguments]
