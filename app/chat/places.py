"""Which message of a conversation a place in its prompt is, and that place in words: "in your 2nd message". No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from app.history.records import StoredMessage
from app.language import tr
from app.words import ordinal_message
from engine import Divergence


def place_of(
    divergence: Divergence | None, branch: Sequence[StoredMessage], had_system_prompt: bool, left_out: int
) -> str:
    """Say in which message of a branch a prompt stopped matching the cache: "in your 2nd message"; "" where in none.

    `had_system_prompt` says whether that prompt began with a system prompt; the first `left_out` messages of the branch
    were not part of it.
    """
    if divergence is None or divergence.cause in ("new", "positions", "other model", "cache off"):
        return ""
    if divergence.message_index < 0:
        return tr("in the tools") if divergence.cause == "tools" else tr("between two messages")
    index = index_in(branch, divergence.message_index, had_system_prompt, left_out)
    if index >= len(branch):
        return ""
    return tr("in {ordinal_place}", ordinal_place=ordinal_place(branch, index))


def index_in(branch: Sequence[StoredMessage], message_index: int, had_system_prompt: bool, left_out: int) -> int:
    """Return where in a branch message number `message_index` of a prompt stands, -1 for the system prompt.

    Questions that were sent together are one message of the prompt; the last of them is returned.
    """
    if message_index < had_system_prompt:
        return -1
    ends = (place for place in range(left_out, len(branch)) if not _goes_on(branch, place))
    return next(islice(ends, message_index - had_system_prompt, None), max(left_out, len(branch)) - 1)


def _goes_on(branch: Sequence[StoredMessage], place: int) -> bool:
    """Whether this message and the next one are sent as one, as `said_together` puts them; without making the groups,
    since whoever opens a long chat asks about each of its answers."""
    return place + 1 < len(branch) and branch[place].role == branch[place + 1].role == "user"


def called_tool(branch: Sequence[StoredMessage], result: StoredMessage) -> str:
    """The name of the tool whose result a message of a branch is, "" where no call of it stands there: results follow
    on their calls in the same order."""
    ids = [message.id for message in branch]
    index = ids.index(result.id) if result.id in ids else 0
    first = index
    while first > 0 and branch[first - 1].role == "tool":
        first -= 1
    calls = branch[first - 1].tool_calls if first > 0 else ()
    return calls[index - first].name if index - first < len(calls) else ""


def ordinal_place(branch: Sequence[StoredMessage], index: int) -> str:
    """Name a message of a branch by its place: "your 2nd message". Index -1 is the system prompt."""
    role = branch[index].role if index >= 0 else "system"
    return ordinal_message(role, sum(message.role == role for message in branch[: index + 1]))
