"""What a kept conversation consists of, and how its parts are written down. Frozen values, no Qt, no database."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any

from app.placeholders import Cure
from engine import Divergence, Role, Sampling, TtftParts, TurnStats


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of a conversation's tree.

    `token_ids` are the ids the model generated, spliced into later prompts as they are. `finish_reason` of an answer:
    "" while it is written, then "end", "length", "stopped", "failed", or "interrupted" where the program itself ended.
    `created` is in seconds since the epoch. `sent` is a question as the model got it, "" where that is `content`;
    `filled` holds what the placeholders of the system prompt stood for when it was sent, as (name, value). A message
    was written without the first `left_out` messages of its branch; those after it are without them, too.
    """

    id: int
    conversation_id: int
    parent_id: int | None
    role: Role
    content: str
    token_ids: tuple[int, ...] = ()
    stats: TurnStats | None = None
    divergence: Divergence | None = None
    finish_reason: str = ""
    created: float = 0.0
    sent: str = ""
    filled: tuple[tuple[str, str], ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation. Its id is 0 until something is written in it; `leaf_id` is the last message of the branch in
    use. `day` is the date it began on. `created` and `updated` are in seconds since the epoch. `cures` keep
    placeholders from changing its system prompt. The model does not see what stands before the message `seen_from_id`;
    None: it sees everything."""

    id: int
    title: str
    system_prompt: str
    sampling: Sampling
    day: date
    created: float = 0.0
    updated: float = 0.0
    leaf_id: int | None = None
    cures: tuple[Cure, ...] = ()
    seen_from_id: int | None = None


def label_of(conversation_id: int) -> str:
    """What the engine calls a conversation: its id alone, so that another title changes nothing there."""
    return f"#{conversation_id}"


def read_label(label: str) -> int:
    """The id in what `label_of` made; 0 where the name was given by somebody else."""
    mark, number = label[:1], label[1:]
    return int(number) if mark == "#" and number.isdecimal() else 0


CONVERSATION_COLUMNS = "id, title, system_prompt, sampling, day, created, updated, leaf_id, cures, seen_from_id"
MESSAGE_COLUMNS = (
    "id, conversation_id, parent_id, role, content, token_ids, stats, divergence, finish_reason, created, sent, filled,"
    " left_out"
)


def read_conversation(row: tuple[Any, ...]) -> Conversation:
    """A conversation from a row of CONVERSATION_COLUMNS."""
    number, title, system_prompt, sampling, day, created, updated, leaf_id, cures, seen_from_id = row
    settings, began, cured = read_sampling(sampling), date.fromisoformat(day), read_cures(cures)
    return Conversation(number, title, system_prompt, settings, began, created, updated, leaf_id, cured, seen_from_id)


def read_message(row: tuple[Any, ...]) -> StoredMessage:
    """A message from a row of MESSAGE_COLUMNS."""
    number, conversation_id, parent_id, role, content, token_ids, stats, divergence, finish_reason, created = row[:10]
    sent, filled, left_out = row[10:]
    return StoredMessage(
        number,
        conversation_id,
        parent_id,
        role,
        content,
        unpack_ids(token_ids),
        read_stats(stats),
        read_divergence(divergence),
        finish_reason,
        created,
        sent,
        read_filled(filled),
        left_out,
    )


def pack_ids(token_ids: tuple[int, ...]) -> bytes:
    """Four bytes a token, little-endian on every machine."""
    return struct.pack(f"<{len(token_ids)}I", *token_ids)


def unpack_ids(packed: bytes) -> tuple[int, ...]:
    """The inverse of `pack_ids`."""
    return struct.unpack(f"<{len(packed) // 4}I", packed)


def write_sampling(sampling: Sampling) -> str:
    """Sampling settings as JSON."""
    return json.dumps(asdict(sampling))


def read_sampling(text: str) -> Sampling:
    """The inverse of `write_sampling`; a field the text does not have keeps its default."""
    return Sampling(**_known(Sampling, json.loads(text)))


def write_stats(stats: TurnStats | None) -> str | None:
    """The figures of a turn as JSON."""
    return None if stats is None else json.dumps(asdict(stats))


def read_stats(text: str | None) -> TurnStats | None:
    """The inverse of `write_stats`."""
    if text is None:
        return None
    values = _known(TurnStats, json.loads(text))
    return TurnStats(**{**values, "parts": TtftParts(**_known(TtftParts, values["parts"]))})


def write_divergence(divergence: Divergence | None) -> str | None:
    """Where and why a prompt left the cache, as JSON."""
    return None if divergence is None else json.dumps(asdict(divergence))


def read_divergence(text: str | None) -> Divergence | None:
    """The inverse of `write_divergence`."""
    return None if text is None else Divergence(**_known(Divergence, json.loads(text)))


def write_cures(cures: tuple[Cure, ...]) -> str:
    """The cures of a conversation as JSON."""
    return json.dumps([asdict(cure) for cure in cures])


def read_cures(text: str) -> tuple[Cure, ...]:
    """The inverse of `write_cures`."""
    return tuple(Cure(**_known(Cure, values)) for values in json.loads(text))


def write_filled(filled: tuple[tuple[str, str], ...]) -> str:
    """What placeholders stood for, as JSON."""
    return json.dumps(dict(filled))


def read_filled(text: str) -> tuple[tuple[str, str], ...]:
    """The inverse of `write_filled`."""
    return tuple(json.loads(text).items())


def _known(kind: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in values.items() if name in names}
