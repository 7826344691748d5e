"""How a step that takes seconds is interrupted: a forward pass between its layers, a long text while it is encoded.

Whoever starts such a step gives a function (`listen`) that is called again and again meanwhile. It may do other work,
such as answering a preview, and it raises `StoppedError` where nobody wants the step any more. Who decides that, and
when, stands in `engine/turn/responder.py` and `engine/worker`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

LOOK_EVERY_S = 0.02
"""Between two looks at whether work in a thread of its own is done."""

Listen = Callable[[], None]
Result = TypeVar("Result")


class StoppedError(Exception):
    """Raised by whoever listens: nobody wants the present work any more."""


def _nobody() -> None:
    """The default: does nothing."""


_listen: ContextVar[Listen] = ContextVar("listen", default=_nobody)


@contextmanager
def listening(listen: Listen) -> Iterator[None]:
    """Have forward passes inside call `listen` between their layers. What it raises ends the pass half-way."""
    token = _listen.set(listen)
    try:
        yield
    finally:
        _listen.reset(token)


def between_layers() -> None:
    """Called by every forward pass once a layer."""
    _listen.get()()


def in_own_thread(work: Callable[[], Result]) -> Future[Result]:
    """Begin `work` in a thread of its own, which nothing interrupts."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="headstart-text").start()  # the program's end waits for it: no daemon
    return future


def wait_for(future: Future[Result], listen: Listen) -> None:
    """Wait for the end of work in another thread. `listen` is called meanwhile; what it raises comes out at once, and
    the work goes on."""
    while not future.done():
        listen()
        wait([future], LOOK_EVERY_S)
