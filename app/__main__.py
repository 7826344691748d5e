"""The command `headstart`: arguments, log, crash hooks, then the window or one of the other commands.

What went wrong is one sentence on standard error and an exit status; both are in app/command/terminal.py.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Callable
from functools import partial

from app.command.arguments import Parser, add_model_arguments, spec_of
from app.command.ending import unwound_by_signals
from app.command.logs import log_path, start_logging
from app.command.serve import add_serve_arguments
from app.command.serve import main as serve
from app.command.system_packages import has_display, install_command, missing_packages
from app.command.terminal import (
    BY_SIGNAL,
    DONE,
    REFUSED,
    UNEXPECTED,
    OutputError,
    ProgressLine,
    discard,
    replace_missing_streams,
    say,
    say_error,
)
from app.licences import own_version
from app.settings import Settings, kept_language
from engine import HeadstartError, check_model, fetch_model, model_fit

log = logging.getLogger("headstart")

SIGPIPE = 13
"""The number of the signal that tells a program that its reader is gone; Windows knows none."""

CONVERSATIONS = ".headstart"
"""How files of exported conversations end; packaging/linux gives them to desktops as ours."""

NO_DISPLAY = (
    "There is no display here to open a window on. `headstart demo --offscreen --out out/demo` runs the demo without "
    "one and leaves pictures and a table."
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    replace_missing_streams()
    start_logging()
    try:
        with unwound_by_signals():
            return carry_out(arguments)
    except BrokenPipeError:  # whoever reads what is printed (`headstart doctor | head`) has read enough
        discard(sys.stdout)
        return BY_SIGNAL + SIGPIPE
    except OSError as error:  # everything else is caught before: the disk is full, for one, that output goes to
        discard(sys.stdout)
        say_error(f"What it prints cannot be written: {error.strerror}.")
        return REFUSED


def carry_out(arguments: list[str] | None) -> int:
    """Do what the command line says; return the exit status. What was printed has arrived then."""
    try:
        options = parse(as_opened(sys.argv[1:] if arguments is None else arguments))
        return int(options.command(options))
    except HeadstartError as error:
        log.error("%s %s", error, error.detail)
        say_error(str(error))
        return REFUSED
    except KeyboardInterrupt:
        return BY_SIGNAL + signal.SIGINT
    except (BrokenPipeError, OutputError):
        raise
    except Exception:
        log.exception("unexpected error")
        say_error(f"stopped by an error it did not expect; the details are in {log_path()}.")
        return UNEXPECTED
    finally:
        sys.stdout.flush()


def as_opened(arguments: list[str]) -> list[str]:
    """The arguments as typed. A path alone, as desktops give it for "open with", is that of a model, or, by the end of
    its name, of conversations."""
    is_path = len(arguments) == 1 and not arguments[0].startswith("-") and os.path.exists(arguments[0])
    is_command = arguments[:1] in (["demo"], ["doctor"], ["serve"], ["fetch"])
    if not is_path or is_command:
        return arguments
    is_model = not arguments[0].endswith(CONVERSATIONS) or os.path.isdir(arguments[0])
    return ["--model" if is_model else "--conversations", *arguments]


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options; `command` is the function to call with them."""
    parser = Parser(prog="headstart", description="Chat with a local language model.")
    parser.add_argument("--version", action="version", version=f"headstart {own_version()}")
    parser.set_defaults(command=open_window)
    add_model_arguments(parser)
    parser.add_argument("--conversations", metavar="PATH", help="a file with exported conversations")
    commands = parser.add_subparsers(title="other commands", metavar="COMMAND")
    demo = commands.add_parser("demo", help="play the demo, cache on and off; write pictures and a table")
    demo.set_defaults(command=play_demo)
    if "demo" in arguments:
        require_qt(offscreen=bool({"--offscreen", "--help", "-h"} & set(arguments)))
        from app.demo.demo import add_demo_arguments

        add_demo_arguments(demo)
    doctor = commands.add_parser("doctor", help="print what is here, what is missing, and what a model takes")
    doctor.set_defaults(command=examine)
    add_model_arguments(doctor)
    doctor.add_argument("--gpu", action="store_true", help="also compare what the graphics card computes with the CPU")
    serve = commands.add_parser("serve", help="answer other programs over HTTP, without a window")
    add_serve_arguments(serve)
    serve.set_defaults(command=run_server)
    commands.add_parser("fetch", help="bring the default model now").set_defaults(command=fetch)
    parser.others = tuple(commands.choices.values())
    return parser.parse_args(arguments)


def open_window(options: argparse.Namespace) -> int:
    """The window. What is wrong with the model's files, and what it takes, is said before it opens."""
    say_fit(options)
    require_qt(offscreen=False)
    from app.translations import speak

    speak(kept_language())  # some texts are made when their modules are imported
    from app.application import run

    return with_crash_hooks(run, options)


def say_fit(options: argparse.Namespace) -> None:
    """Print what the model takes that the command line names, before anything of it is read. Raises ModelError where
    its files are wrong, or it does not fit into the computer's memory."""
    if not options.model:
        return
    check_model(options.model)
    fit = model_fit(spec_of(options, Settings.load()))
    if fit is not None and not fit.fits:
        raise HeadstartError(fit.refusal)
    if fit is not None:
        say(f"{fit.sentence}.")


def play_demo(options: argparse.Namespace) -> int:
    """`headstart demo`: play the demo in a window, or without one."""
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
    """`headstart doctor`: print what is here and what is missing."""
    from app.command import doctor

    return doctor.main(spec_of(options, Settings.load()), checks_gpu=options.gpu)


def run_server(options: argparse.Namespace) -> int:
    """`headstart serve`: answer other programs until a signal comes."""
    say_fit(options)
    return serve(options)


def fetch(options: argparse.Namespace) -> int:
    """`headstart fetch`: bring the default model, with a line that says how far it is."""
    line = ProgressLine()
    folder = fetch_model(line.show)
    line.say(f"The default model is in {folder}.")
    return DONE


def require_qt(offscreen: bool) -> None:
    """Raise HeadstartError where Qt could not be imported, or would abort the process instead of opening a window."""
    if not offscreen and not has_display():
        raise HeadstartError(NO_DISPLAY)
    needed = [name for name in missing_packages(offscreen) if not name.startswith("fonts-")]
    if needed:
        raise HeadstartError(
            f"Qt needs system libraries that are missing here. Install them: {install_command(needed)}"
        )


if __name__ == "__main__":
    sys.exit(main())
