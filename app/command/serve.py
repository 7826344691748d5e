"""`headstart serve`: the local API without a window, until a signal ends it."""

from __future__ import annotations

import argparse
import os
import secrets
import threading

from app.command.arguments import add_model_arguments, spec_of
from app.command.ending import Ending, handled
from app.command.terminal import DONE, ProgressLine
from app.server.access import DEFAULT_PORT, Access
from app.settings import Settings
from engine import EitherEngine, EnginePort, Failed, HeadstartError, Loaded, Loading, ModelInfo

LOOK_EVERY_S = 0.5
"""Between two looks at what the engine says by itself."""

KEY_VARIABLE = "HEADSTART_API_KEY"


def add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    """Where it listens, and which model answers."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; others than this computer need a key"
    )
    parser.add_argument("--port", type=port, default=DEFAULT_PORT, help=f"port to listen on ({DEFAULT_PORT})")
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME", help="a name this computer has")
    add_model_arguments(parser)


def port(text: str) -> int:
    """A port, 0 for any that is free."""
    if not (text.isdecimal() and text.isascii() and len(text) < 6 and int(text) < 65_536):
        raise argparse.ArgumentTypeError(f"give a port from 0 to 65535, not {text[:40]!r}")
    return int(text)


def main(options: argparse.Namespace) -> int:
    """Load the model, answer until a signal comes, and end in order."""
    from app.server.listening import Server

    line, ending, over = ProgressLine(), Ending(), threading.Event()
    access = access_of(options)

    def end(number: int) -> None:
        ending.number = ending.number or number
        over.set()

    engine = EitherEngine()
    try:
        with handled(end):
            server = Server(engine.beside, access)
            try:
                if access.key and KEY_VARIABLE not in os.environ:
                    line.say(f"The key, made for this run: {access.key}")
                model = _load(engine, options, line, over)
                server.set_model(model)
                if model is not None:
                    line.say(f"{model.name} answers at {server.address}/v1. Ctrl+C ends it.")
                while not over.wait(LOOK_EVERY_S):
                    _hear(engine)
            finally:
                server.stop()
    finally:
        engine.close()
    return ending.status(DONE)


def access_of(options: argparse.Namespace) -> Access:
    """Where the command line says to listen. Elsewhere than on this computer a key is needed: that of the environment,
    or one made now."""
    access = Access(options.host, options.port, os.environ.get(KEY_VARIABLE, ""), tuple(options.allow_host))
    if access.is_local or access.key:
        return access
    return Access(options.host, options.port, secrets.token_urlsafe(24), tuple(options.allow_host))


def _load(
    engine: EnginePort, options: argparse.Namespace, line: ProgressLine, over: threading.Event
) -> ModelInfo | None:
    """Load the model and say how far it is; None where a signal came first. Raises HeadstartError."""
    loading = engine.load(spec_of(options, Settings.load()))
    while not over.wait(LOOK_EVERY_S / 10):
        for event in engine.poll():
            if isinstance(event, Loading):
                line.show(event.stage, event.fraction)
            elif isinstance(event, Loaded):
                return event.model
            elif isinstance(event, Failed) and event.request_id == loading:
                raise HeadstartError(event.sentence, event.detail)
    return None


def _hear(engine: EnginePort) -> None:
    """Take what the engine says by itself. Raises HeadstartError where it will answer nothing any more."""
    for event in engine.poll():
        if isinstance(event, Failed) and event.is_model_gone:
            raise HeadstartError(event.sentence, event.detail)
