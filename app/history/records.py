"""What is stored: conversations and messages as frozen values, and how they are read from the rows of the file.

A file may hold anything: another program wrote into it, or a disk lost a bit. A value of no use costs that value and
nothing else: `Row.read` puts a default in its place and notes the name of its column.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass, is_dataclass
from datetime import date
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

from app.documents import Attachment
from app.placeholders import Cure
from app.tools.servers import ChosenTool
from engine import NOTHING_CHOSEN, Divergence, HeadstartError, Role, Sampling, TemplateSettings, ToolCall, TurnStats

T = TypeVar("T")

REASONS = ("", "end", "length", "stopped", "failed", "interrupted", "edited")
CUT = ("length", "stopped", "failed", "interrupted", "edited")
"""How answers end that can go on."""

UNREADABLE_TITLE = "Untitled"
"""Stands for a title that is of no use."""

LAST_MOMENT = 250_000_000_000.0
"""In the year 9892: what lies behind it, calendars do not have."""

LARGEST_NUMBER = 2**63 - 1
"""The largest number that a seed may be; figures are far smaller."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of a conversation's tree. `thought`, `tool_calls` and `tool_call_id` are its other parts, as in
    Message. An answer was written under the `template` settings.

    `token_ids` are the ids the model generated, spliced into later prompts as they are. `finish_reason` of an answer:
    "" while it is written, then "end", "length", "stopped", "failed", "interrupted" where the program itself
    ended, or "edited" where the user wrote it.
    `created` is in seconds since the epoch. `sent` is a question as the model got it, "" where that is `content`;
    `filled` holds what the placeholders of the system prompt stood for when it was sent, as (name, value). A message
    was written without the first `left_out` messages of its branch; those after it are without them, too. `unread`
    names the columns whose value in the file is of no use, so that it was left out. `attachments` are the files that
    went with a question; they stand in `sent`, in front of it. The stretches `accepted` of an answer's text, as (start,
    end) in characters, were written ahead.
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
    thought: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    template: TemplateSettings = NOTHING_CHOSEN
    unread: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    accepted: tuple[tuple[int, int], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written in any of its parts."""
        return not (self.content or self.thought or self.tool_calls or self.token_ids)


def is_cut(role: Role, finish_reason: str, said: str, tool_calls: tuple[ToolCall, ...]) -> bool:
    """Whether this is an answer that was cut off and can go on: something of it is `said`, and it called no tool."""
    return role == "assistant" and finish_reason in CUT and bool(said) and not tool_calls


class ConversationEntry(NamedTuple):
    """A conversation as a line of the list of them. `updated` is in seconds since the epoch. Where it was searched for,
    `message_id` is its newest message that holds what was searched, of whatever version, and `excerpt` are the words
    around that; 0 and "" where only the title does. `folder_id` is the folder it is in, 0 in none; `is_top`: it stands
    above the others."""

    id: int
    title: str
    updated: float = 0.0
    message_id: int = 0
    excerpt: str = ""
    folder_id: int = 0
    is_top: bool = False


class Outlined(NamedTuple):
    """A message as a line of the overview of a conversation's branches: how it begins, and the message before it."""

    id: int
    parent_id: int | None
    role: str
    begins: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation. Its id is 0 until something is written in it; `leaf_id` is the last message of the branch in
    use. `day` is the date it began on. `created` and `updated` are in seconds since the epoch. `cures` keep
    placeholders from changing its system prompt. The model does not see what stands before the message `seen_from_id`;
    None: it sees everything. `template` is what the user chose of how the chat template makes its prompts, `notices`
    are the sentences about that which the user has seen. Answers end before one of the texts `stop`, and may call
    `tools`. `unread` names the columns whose value in the file is of no use, so that it was left out."""

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
    template: TemplateSettings = NOTHING_CHOSEN
    notices: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    tools: tuple[ChosenTool, ...] = ()
    unread: tuple[str, ...] = ()


def label_of(conversation_id: int) -> str:
    """What the engine calls a conversation: its id alone, so that another title changes nothing there."""
    return f"#{conversation_id}"


def read_label(label: str) -> int:
    """The id in what `label_of` made; 0 where the name was given by somebody else."""
    mark, number = label[:1], label[1:]
    return int(number) if mark == "#" and number.isdecimal() else 0


def repair_text(text: str) -> str:
    """Text that can be stored and encoded: halves of a character joined, lone halves replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Row:
    """One row of the file, read column by column. Attributes: id, which SQLite itself sees to; values, as they stand in
    the file, by their columns; unread, the names of the columns whose value was of no use."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.unread: list[str] = []
        self.values = values
        self.id: int = values["id"]

    def read(self, column: str, reader: Callable[[Any], T], otherwise: T) -> T:
        """The value of a column; `otherwise` where the reader refuses what stands there."""
        try:
            return reader(self.values[column])
        except (ValueError, TypeError, ArithmeticError, RecursionError, struct.error, HeadstartError):
            self.unread.append(column)
            return otherwise

    def check(self, flag: str, column: str) -> None:
        """Note the column as of no use where the query itself found that, and says so in its column `flag`."""
        if self.values[flag]:
            self.unread.append(column)


def read_conversation(row: Row) -> Conversation:
    """A conversation, from a row that has a column for each of its fields."""
    row.check("is_leaf_wrong", "leaf_id")
    created = row.read("created", read_moment, 0.0)
    return Conversation(
        id=row.id,
        title=read_title(row),
        system_prompt=row.read("system_prompt", read_text, ""),
        sampling=row.read("sampling", read_sampling, Sampling()),
        day=row.read("day", date.fromisoformat, date.fromtimestamp(created)),
        created=created,
        updated=row.read("updated", read_moment, 0.0),
        leaf_id=row.read("leaf_id", read_id, None),
        cures=row.read("cures", read_cures, ()),
        seen_from_id=row.read("seen_from_id", read_id, None),
        template=row.read("template", read_template, NOTHING_CHOSEN),
        notices=row.read("notices", read_texts, ()),
        stop=row.read("stop", read_texts, ()),
        tools=row.read("tools", read_tools, ()),
        unread=tuple(row.unread),
    )


def read_message(row: Row) -> StoredMessage:
    """A message, from a row that has a column for each of its fields."""
    row.check("is_parent_wrong", "parent_id")
    stats = row.read("stats", read_stats, None)
    token_ids: tuple[int, ...] = row.read("token_ids", unpack_ids, ())
    role = row.read("role", read_role, _likely_role(stats, token_ids))
    return StoredMessage(
        id=row.id,
        conversation_id=row.read("conversation_id", read_count, 0),
        parent_id=row.read("parent_id", read_id, None),
        role=role,
        content=row.read("content", read_text, ""),
        token_ids=token_ids,
        stats=stats,
        divergence=row.read("divergence", read_divergence, None),
        finish_reason=row.read("finish_reason", read_reason, "interrupted" if role == "assistant" else ""),
        created=row.read("created", read_moment, 0.0),
        sent=row.read("sent", read_text, ""),
        filled=row.read("filled", read_filled, ()),
        left_out=row.read("left_out", read_count, 0),
        thought=row.read("thought", read_text, ""),
        tool_calls=row.read("tool_calls", read_tool_calls, ()),
        tool_call_id=row.read("tool_call_id", read_text, ""),
        template=row.read("template", read_template, NOTHING_CHOSEN),
        attachments=row.read("attachments", read_attachments, ()),
        accepted=row.read("accepted", read_stretches, ()),
        unread=tuple(row.unread),
    )


def read_title(row: Row) -> str:
    """The title in a row, or what stands for one that is of no use."""
    return row.read("title", read_text, UNREADABLE_TITLE)


def _likely_role(stats: TurnStats | None, token_ids: tuple[int, ...]) -> Role:
    """Who wrote a message of which that is not known: only answers have figures."""
    return "assistant" if stats or token_ids else "user"


def read_text(value: Any) -> str:
    """Text as it is. Raises ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def read_count(value: Any) -> int:
    """A whole number from 0 up. Raises ValueError for anything else."""
    if type(value) is not int or value < 0:
        raise ValueError("no count")
    return value


def read_id(value: Any) -> int | None:
    """The id of a message, or None. Raises ValueError for anything else."""
    return None if value is None else read_count(value)


def read_moment(value: Any) -> float:
    """Seconds since the epoch, up to a year that calendars have. Raises ValueError for anything else."""
    if type(value) not in (int, float) or not 0 <= value <= LAST_MOMENT:
        raise ValueError("no moment")
    return float(value)


def read_role(value: Any) -> Role:
    """Who wrote a message. Raises ValueError for anybody who writes none."""
    if value not in ("user", "assistant", "tool"):
        raise ValueError("no role")
    return cast(Role, value)


def read_reason(value: Any) -> str:
    """Why an answer ended. Raises ValueError for a reason that there is not."""
    if value not in REASONS:
        raise ValueError("no reason")
    return str(value)


def pack_ids(token_ids: tuple[int, ...]) -> bytes:
    """Four bytes a token, little-endian on every machine."""
    return struct.pack(f"<{len(token_ids)}I", *token_ids)


def unpack_ids(packed: bytes) -> tuple[int, ...]:
    """The inverse of `pack_ids`. Raises struct.error where the bytes are no ids."""
    return struct.unpack(f"<{len(packed) // 4}I", packed)


def to_json(value: object) -> str | None:
    """A value, a dataclass or several of them as JSON; None stays None."""
    return None if value is None else json.dumps(value, default=asdict)  # type: ignore[arg-type]


def read_sampling(text: str) -> Sampling:
    """Sampling settings from JSON; a field the text does not have keeps its default."""
    return _made(Sampling, json.loads(text))


def read_stats(text: str | None) -> TurnStats | None:
    """The figures of a turn from JSON; None where there are none."""
    return None if text is None else _made(TurnStats, json.loads(text))


def read_divergence(text: str | None) -> Divergence | None:
    """Where and why a prompt left the cache, from JSON; None where it did not."""
    return None if text is None else _made(Divergence, json.loads(text))


def read_cures(text: str) -> tuple[Cure, ...]:
    """The cures of a conversation or of a preset, from JSON."""
    return tuple(_made(Cure, values) for values in json.loads(text))


def read_template(text: str) -> TemplateSettings:
    """What the user chose of how a chat template makes prompts, from JSON."""
    return _made(TemplateSettings, json.loads(text))


def read_tool_calls(text: str) -> tuple[ToolCall, ...]:
    """The functions that an answer asked for, from JSON."""
    return tuple(_made(ToolCall, values) for values in json.loads(text))


def read_tools(text: str) -> tuple[ChosenTool, ...]:
    """The tools of a conversation, from JSON. Raises InvalidRequestError where one is of no use to a model."""
    tools: tuple[ChosenTool, ...] = tuple(_made(ChosenTool, values) for values in json.loads(text))
    for tool in tools:
        tool.tool()
    return tools


def read_attachments(text: str) -> tuple[Attachment, ...]:
    """The files that went with a question, from JSON."""
    return tuple(_made(Attachment, values) for values in json.loads(text))


def read_stretches(text: str) -> tuple[tuple[int, int], ...]:
    """Stretches of a text as (start, end), from JSON. Raises ValueError for such as no text has."""
    stretches = tuple((read_count(start), read_count(end)) for start, end in json.loads(text))
    if any(start >= end for start, end in stretches):
        raise ValueError("no stretch")
    return stretches


def read_texts(text: str) -> tuple[str, ...]:
    """Several texts from JSON."""
    values = json.loads(text)
    if not isinstance(values, list):
        raise ValueError("no JSON list")
    return tuple(map(read_text, values))


def read_filled(text: str) -> tuple[tuple[str, str], ...]:
    """What placeholders stood for, as (name, value), from JSON."""
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("no JSON object")
    return tuple((name, read_text(value)) for name, value in values.items())


def _made(kind: type[T], values: Any) -> T:
    """A value of this dataclass from a JSON object; what the class has no field for is ignored.

    Raises ValueError or TypeError where the object does not fit.
    """
    if not isinstance(values, dict):
        raise ValueError("no JSON object")
    readers = _readers(cast(Hashable, kind))
    return kind(**{name: readers[name](value) for name, value in values.items() if name in readers})


@cache
def _readers(kind: Hashable) -> dict[str, Callable[[Any], Any]]:
    """What reads each field of a dataclass. Found once: a long chat has thousands of fields."""
    return {name: _reader(hint) for name, hint in get_type_hints(kind).items()}


def _reader(hint: Any) -> Callable[[Any], Any]:
    """What gives a value as a field of this type takes it, and raises ValueError where it does not fit."""
    if is_dataclass(hint) and isinstance(hint, type):
        return partial(_made, hint)
    fits = _check(hint)

    def read(value: Any) -> Any:
        if not fits(value):
            raise ValueError(f"no {hint}")
        return value

    return read


def _check(hint: Any) -> Callable[[Any], bool]:
    """What says whether a value is of this type: a plain one, a union of such, or a Literal. Whole numbers are floats,
    too."""
    choices = get_args(hint)
    if get_origin(hint) is Literal:
        return lambda value: value in choices
    if choices:
        checks = [_check(choice) for choice in choices]
        return lambda value: any(check(value) for check in checks)
    if hint in (int, float):  # no number at all (NaN) is refused, too
        return lambda value: type(value) in (int, hint) and -LARGEST_NUMBER <= value <= LARGEST_NUMBER
    return lambda value: type(value) is hint
