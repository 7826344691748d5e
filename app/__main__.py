"""The command `headstart`: arguments, log, crash hooks, then the window or one of the other commands.

Exit status: 0 done, 1 unexpected error or something missing (doctor), 2 refused with a sentence on standard error, 128
and the number of the signal where one ended it.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import metadata

from app.command.arguments import Parser
from app.command.ending import unwound_by_signals
from app.command.logs import log_path, start_logging
from app.command.progress_line import ProgressLine
from app.command.system_packages import has_display, install_command, missing_packages
from app.settings import MOST_MEGABYTES
from engine import DEVICES, DTYPES, HeadstartError, check_model, fetch_model

log = logging.getLogger("headstart")

NO_DISPLAY = (
    "There is no display here to open a window on. `headstart demo --offscreen --out out/demo` runs the demo without "
    "one and leaves pictures and a table."
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    start_logging()
    try:
        with unwound_by_signals():
            return carry_out(arguments)
    except BrokenPipeError:  # whoever reads what is printed (`headstart doctor | head`) has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13


def carry_out(arguments: list[str] | None) -> int:
    """Do what the command line says; return the exit status. What was printed has arrived then."""
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        return int(options.command(options))
    except HeadstartError as error:
        log.error("%s %s", error, error.detail)
        print(f"headstart: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        raise
    except Exception:
        log.exception("unexpected error")
        print(f"headstart: stopped by an error it did not expect; the details are in {log_path()}.", file=sys.stderr)
        return 1
    finally:
        sys.stdout.flush()


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options; `command` is the function to call with them."""
    parser = Parser(prog="headstart", description="Chat with a local language model.")
    parser.add_argument("--version", action="version", version=f"headstart {version()}")
    parser.set_defaults(command=open_window)
    add_model_arguments(parser)
    commands = parser.add_subparsers(title="other commands", metavar="")
    demo = commands.add_parser("demo", help="play the demo, cache on and off; write pictures and a table")
    demo.set_defaults(command=play_demo)
    if "demo" in arguments:
        require_qt(offscreen=bool({"--offscreen", "--help", "-h"} & set(arguments)))
        from app.demo.demo import add_demo_arguments

        add_demo_arguments(demo)
    commands.add_parser("doctor", help="print what is here and what is missing").set_defaults(command=examine)
    commands.add_parser("fetch", help="bring the default model now").set_defaults(command=fetch)
    parser.others = tuple(commands.choices.values())
    return parser.parse_args(arguments)


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Which model the window opens with, and how. What is not given is taken from the settings."""
    parser.add_argument("--model", metavar="PATH", help="a folder with safetensors, or a GGUF file")
    parser.add_argument("--device", choices=DEVICES, help="where the model runs")
    parser.add_argument("--dtype", choices=DTYPES, help="number format of the weights")
    parser.add_argument(
        "--exact", action="store_true", default=None, help="equal to a run without the cache, bit for bit"
    )
    parser.add_argument(
        "--cache-mb", type=megabytes, metavar="MB", help="memory for cached prompts; 0 chooses by itself"
    )


def megabytes(text: str) -> int:
    """A count of megabytes, from 0 to more than any computer has."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"give a whole number of megabytes, not {text[:40]!r}")
    if len(text) > len(str(MOST_MEGABYTES)) or int(text) > MOST_MEGABYTES:
        raise argparse.ArgumentTypeError(f"give at most {MOST_MEGABYTES:,} megabytes")
    return int(text)


def open_window(options: argparse.Namespace) -> int:
    """The window. What is wrong with the model's files is said before it opens."""
    check_model(options.model or "")
    require_qt(offscreen=False)
    from app.application import run

    return with_crash_hooks(run, options)


def play_demo(options: argparse.Namespace) -> int:
    """`headstart demo`"""
    check_model(options.model or "")
    from app.demo.demo import Terminal, run_demo

    line = ProgressLine()
    return with_crash_hooks(partial(run_demo, terminal=Terminal(line.say, line.show)), options)


def with_crash_hooks(run: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Run what uses Qt, with errors in slots and threads caught."""
    from app.crash import CrashHooks

    hooks = CrashHooks(log_path())
    hooks.install()
    try:
        return run(options)
    finally:
        hooks.uninstall()


def examine(options: argparse.Namespace) -> int:
    """`headstart doctor`"""
    from app.command import doctor

    return doctor.main()


def fetch(options: argparse.Namespace) -> int:
    """`headstart fetch`: bring the default model, with a line that says how far it is."""
    line = ProgressLine()
    folder = fetch_model(line.show)
    line.say(f"The default model is in {folder}.")
    return 0


def require_qt(offscreen: bool) -> None:
    """Raise HeadstartError where Qt could not be imported, or would abort the process instead of opening a window."""
    if not offscreen and not has_display():
        raise HeadstartError(NO_DISPLAY)
    needed = [name for name in missing_packages(offscreen) if not name.startswith("fonts-")]
    if needed:
        raise HeadstartError(
            f"Qt needs system libraries that are missing here. Install them: {install_command(needed)}"
        )


def version() -> str:
    """The version of this program."""
    try:
        return metadata.version("headstart")
    except metadata.PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
