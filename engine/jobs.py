"""What the worker advances step by step, and the event that ends what failed."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass

from engine.events import Event, Failed
from engine.types import HeadstartError, InvalidRequestError, ModelGoneError, PromptTooLongError


@dataclass(slots=True)
class Job:
    """A load or an answer: its events come one by one, light commands are served in between."""

    request_id: int
    events: Iterator[Event]


def close_events(events: Iterator[object]) -> None:
    """Let a half-way job give back what it holds."""
    if hasattr(events, "close"):
        events.close()


def failure(request_id: int, error: BaseException) -> Failed:
    """An error as the one event that ends a request."""
    if isinstance(error, HeadstartError):
        is_refused = isinstance(error, PromptTooLongError | InvalidRequestError)
        return Failed(request_id, str(error), error.detail, is_refused, isinstance(error, ModelGoneError))
    sentence = "Something went wrong inside the engine. The conversation is safe: try again, or restart Headstart."
    return Failed(request_id, sentence, "".join(traceback.format_exception(error)))
