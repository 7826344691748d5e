"""Renders chat templates in a process of its own, which is ended where one takes too much time or memory.

A template comes with a model, and it is a program. Jinja's sandbox keeps it away from files and from Python itself, but
not from loops without end or texts of gigabytes, and nothing in our own process could stop it in the middle of one.

This file is both sides: `Renderer` asks, and run as a program the file answers. It imports nothing of Headstart, so
that the process starts in a moment.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import IO, Any

import jinja2
import psutil
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError
from jinja2.utils import Namespace

MOST_SECONDS = 1.5
"""Processor time that one rendering may take. Real templates take some milliseconds."""

MOST_WAIT_S = 30.0
"""Time that one rendering may take on the clock, on a computer that is busy with other things."""

MOST_BYTES = 150_000_000
"""Memory that the process may have, besides 20 times the size of what it is given."""

MOST_TEXT = 1_000_000
"""Characters that a template may write, besides 4 times as many as it is given."""

POLL_S = 0.02
"""Between two looks at how much the process took."""

TRUSTED = frozenset({"872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788"})
"""SHA-256 of templates that are known to be harmless (the default model's): they need no process of their own."""


class TemplateRefusedError(Exception):
    """The template raised an error: `str(error)` is what it said."""


class TemplateEndlessError(Exception):
    """The template took more time or memory than a template may, or wrote too much."""


class Renderer:
    """Renders chat templates. The process is started when it is needed, and again after it had to be ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    def render(self, template: str, seen: Mapping[str, Any], now: datetime) -> str:
        """The text that a template makes of the values `seen`; `now` is what it may print as the time.

        Raises TemplateRefusedError, TemplateEndlessError, or OSError where no process can be started.
        """
        if sha256(template.encode("utf-8", "replace")).hexdigest() in TRUSTED:
            return _rendered(template, seen, now.isoformat(), sys.maxsize)
        request = {"template": template, "seen": seen, "now": now.isoformat()}
        line = json.dumps(request, default=str).encode() + b"\n"
        with self._one_at_a_time:
            reply = self._ask(line)
        if not reply:
            raise TemplateEndlessError("the process was ended")
        said = json.loads(reply)
        if "text" in said:
            return _whole_characters(said["text"])
        raise (TemplateEndlessError if said["is_endless"] else TemplateRefusedError)(_whole_characters(said["error"]))

    def close(self) -> None:
        """End the process, if there is one. Any thread may do so, also while another one waits for an answer."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _ask(self, line: bytes) -> bytes:
        """The answer of the process to one line; empty where it had to be ended.

        A process that neither the watch nor `close` ended was ended by somebody else, such as a system that is short of
        memory: then another one is asked, once.
        """
        for _ in range(2):
            process = self._running()
            reply, took_too_much = _exchange_watched(process, line)
            if reply:
                return reply
            was_closed = self._process is not process
            self.close()
            if took_too_much or was_closed:
                break
        return b""

    def _running(self) -> subprocess.Popen[bytes]:
        """The process; a new one where there is none, or none any more."""
        process = self._process
        if process is None or process.poll() is not None:
            self.close()
            self._process = process = _start()
        return process


def _whole_characters(text: str) -> str:
    """The text with U+FFFD for halves of characters, which a template may write and no tokenizer can read."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _exchange_watched(process: subprocess.Popen[bytes], line: bytes) -> tuple[bytes, bool]:
    """The answer to one line, empty where the process has ended; and whether it was ended because it took too much."""
    is_done, took_too_much = threading.Event(), threading.Event()
    most_bytes = MOST_BYTES + 20 * len(line)
    watcher = threading.Thread(target=_watch, args=(process, is_done, took_too_much, most_bytes))
    watcher.start()
    try:
        reply = _exchange(process, line)
    finally:
        is_done.set()
        watcher.join()
    return reply, took_too_much.is_set()


def _exchange(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    """Send one line and wait for the answer; empty where the process ends before the answer is whole."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(line)
        process.stdin.flush()
        reply = process.stdout.readline()
    except (OSError, ValueError):  # it has ended; ValueError where its pipes are closed already
        return b""
    return reply if reply.endswith(b"\n") else b""


def _start() -> subprocess.Popen[bytes]:
    from engine.side_programs import python_command  # not above: the process itself imports nothing of Headstart

    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # exists on Windows only
    pipe = subprocess.PIPE
    return subprocess.Popen(
        python_command([__file__]), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, creationflags=no_window
    )


def _watch(
    process: subprocess.Popen[bytes], is_done: threading.Event, took_too_much: threading.Event, most_bytes: int
) -> None:
    """End the process where it takes too much. It cannot watch itself: a long operation would stop that, too."""
    began = time.monotonic()
    with suppress(psutil.Error):  # it has ended by itself
        watched = psutil.Process(process.pid)
        before = _processor_seconds(watched)
        while not is_done.wait(POLL_S):
            spent = _processor_seconds(watched) - before
            waited = time.monotonic() - began
            if spent > MOST_SECONDS or waited > MOST_WAIT_S or watched.memory_info().rss > most_bytes:
                took_too_much.set()
                process.kill()
                return


def _processor_seconds(watched: psutil.Process) -> float:
    times = watched.cpu_times()
    return float(times.user + times.system)


RENDERER = Renderer()
"""One process for all models."""

atexit.register(RENDERER.close)


class _Generation(Extension):
    """A tag with which templates for training mark what the model wrote. It changes nothing of the text."""

    tags = {"generation"}  # noqa: RUF012 - Jinja's own declaration

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_as_it_is"), [], [], body).set_lineno(line)

    @staticmethod
    def _as_it_is(caller: Any) -> Any:
        return caller()


class _SafeNamespace(Namespace):
    """Jinja's namespace, whose names a template may set, without those that begin with a low line."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            raise SecurityError(f"{name} is a private name")
        super().__setitem__(name, value)


def _namespace(*values: Any, **named: Any) -> Namespace:
    made = _SafeNamespace()
    for name, value in dict(*values, **named).items():
        made[name] = value
    return made


def _dict(*values: Any, **named: Any) -> dict[Any, Any]:
    return dict(*values, **named)


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    """JSON as chat templates expect it: Jinja's own would escape it for HTML."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)


@lru_cache(maxsize=8)
def _compiled(template: str) -> jinja2.Template:
    """A template with the settings, filters and functions that chat templates are written for."""
    world = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
    world.filters["tojson"] = _to_json
    world.globals.update(raise_exception=_raise, namespace=_namespace, dict=_dict)
    return world.from_string(template)


def _rendered(template: str, seen: Mapping[str, Any], now: str, most: int) -> str:
    """The text that a template writes. Raises TemplateRefusedError, TemplateEndlessError."""
    parts: list[str] = []
    left = most
    try:
        clock = {"strftime_now": datetime.fromisoformat(now).strftime}
        for part in _compiled(template).generate({**seen, **clock}):
            parts.append(part)
            left -= len(part)
            if left < 0:
                raise TemplateEndlessError(f"it writes more than {most} characters")
    except MemoryError as error:
        raise TemplateEndlessError("it takes too much memory") from error
    except TemplateEndlessError:
        raise
    except Exception as error:  # a template may raise anything
        raise TemplateRefusedError(str(error)[:1000]) from error
    return "".join(parts)


def _limit(most_bytes: int) -> None:
    """Have the system bound the memory and the processor time of the next request, where it can.

    It refuses memory sooner than the watcher notices. It ends a process that computes on where no watcher is left,
    because the program that asked was itself ended in the middle.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    most_seconds = math.ceil(used.ru_utime + used.ru_stime + MOST_SECONDS) + 1  # the watcher comes first
    for kind, most in (
        (resource.RLIMIT_DATA, most_bytes),
        (resource.RLIMIT_CPU, most_seconds),
        (resource.RLIMIT_CORE, 0),  # a process that is ended by the limit above leaves no file behind
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def _lines_until_end(asked: Iterable[bytes]) -> Iterator[bytes]:
    """The lines as they come. Once no more can come the process ends, also in the middle of a template.

    A thread reads them, and ends the process: whoever asks is gone then. It does not get to run during one long
    operation of the template, for which there is the bound of `_limit`.
    """
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        try:
            for line in asked:
                waiting.put(line)
        finally:
            os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield waiting.get()


def _serve(lines: Iterable[bytes], answers: IO[bytes]) -> None:
    """What the process does: answer each line, a JSON object, with another one, until nobody asks any more."""
    for line in lines:
        _limit(MOST_BYTES + 20 * len(line))
        request = json.loads(line)
        said: dict[str, Any]
        try:
            said = {"text": _rendered(**request, most=MOST_TEXT + 4 * len(line))}
        except (TemplateRefusedError, TemplateEndlessError) as error:
            said = {"error": str(error), "is_endless": isinstance(error, TemplateEndlessError)}
        answers.write(json.dumps(said).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the program that asks; this one ends with it
    _serve(_lines_until_end(sys.stdin.buffer), sys.stdout.buffer)
