"""Fewer events without loss: what arrived in one drain, joined where only the sum or the newest counts. No Qt."""

from __future__ import annotations

from collections.abc import Iterable

from engine import Event, Loading, Prefill, TextDelta, TurnStats

_NEWEST_COUNTS = (Loading, Prefill, TurnStats)


def merge(events: Iterable[Event]) -> list[Event]:
    """The text of each request joined, of its Loading, Prefill and TurnStats the newest, the rest as it was.

    What belongs to a request comes out before its end, and in the order in which each kind first appeared.
    """
    merged: list[Event] = []
    texts: dict[int, list[str]] = {}
    newest: dict[tuple[type, int], int] = {}
    for event in events:
        kind, request_id = type(event), event.request_id
        if isinstance(event, TextDelta) and request_id in texts:
            texts[request_id].append(event.text)
        elif (kind, request_id) in newest:
            merged[newest[kind, request_id]] = event
        else:
            if isinstance(event, TextDelta):
                texts[request_id] = [event.text]
            if isinstance(event, _NEWEST_COUNTS):
                newest[kind, request_id] = len(merged)
            merged.append(event)
    return [_joined(event, texts) for event in merged]


def _joined(event: Event, texts: dict[int, list[str]]) -> Event:
    if isinstance(event, TextDelta):
        return TextDelta(event.request_id, "".join(texts[event.request_id]))
    return event
