"""Where a frozen Headstart begins: child programs first, then the command line."""

import multiprocessing
import os
import runpy
import sys
from pathlib import Path
from types import ModuleType

OPTION = "--side-program"
"""As in engine/side_programs.py, which is not imported for it: a side program begins with nothing of Headstart."""


def run_side_program(given: list[str], folder: Path) -> None:
    """Run the Python file `given[0]` with what follows it. No other file than those of the frozen Headstart itself,
    which lie in `folder`."""
    # Links are not followed: macOS' bundle keeps such files elsewhere, and links to them from this folder.
    file = Path(os.path.abspath(given[0] if given else ""))
    if file.suffix != ".py" or not file.is_relative_to(os.path.abspath(folder)):
        sys.exit(f"headstart: {OPTION} runs Headstart's own programs only.")
    sys.argv = given
    runpy.run_path(str(file), run_name="__main__")


def restore_environment() -> None:
    """Give other programs that Headstart starts (a browser for a link) the library path it was started with: the
    bootloader put its own folder there, where they would find libraries that are not theirs. This process keeps what
    the loader read at its start."""
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if before:
        os.environ["LD_LIBRARY_PATH"] = before
    # Without it a Headstart started by this one takes itself for a part of it, and looks in no folder of its own.
    os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"


def fit_into_windows() -> None:
    """What Windows wants of a program with a window: one name in the task bar for all its windows and its menu entry
    (as in packaging/windows/headstart.iss), and somewhere to print to, which it gives to no program without console."""
    import ctypes

    ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID("org.headstart.Headstart")  # type: ignore[attr-defined]
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - stays open to the end


def leave_out_opengl() -> None:
    """Let pyqtgraph find an empty module where it asks for Qt's 9 MB of OpenGL, of which the charts use nothing."""
    sys.modules["PySide6.QtOpenGL"] = ModuleType("PySide6.QtOpenGL")


def main() -> int:
    """Run what the arguments ask for; return the exit status."""
    multiprocessing.freeze_support()
    restore_environment()
    if sys.platform == "win32":
        fit_into_windows()
    if sys.argv[1:2] == [OPTION]:
        run_side_program(sys.argv[2:], Path(sys._MEIPASS))
        return 0
    leave_out_opengl()
    from app.__main__ import main
    from engine.runtimes import launch

    launch.start(sys.argv[1:])

    return main()


if __name__ == "__main__":
    sys.exit(main())
