"""Which message of a conversation a place in its prompt is, and that place in words: "in your 2nd message". No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from app.chat.branch import said_together
from app.history.records import StoredMessage
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
        return "in the tools" if divergence.cause == "tools" else "between two messages"
    index = index_in(branch, divergence.message_index, had_system_prompt, left_out)
    if index >= len(branch):
        return ""
    return f"in {ordinal_place(branch, index)}"


def index_in(branch: Sequence[StoredMessage], message_index: int, had_system_prompt: bool, left_out: int) -> int:
    """Return where in a branch message number `message_index` of a prompt stands, -1 for the system prompt.

    Questions that were sent together are one message of the prompt; the last of them is returned.
    """
    if message_index < had_system_prompt:
        return -1
    lengths = [len(group) for group in said_together(branch[left_out:])]
    return left_out + sum(lengths[: message_index - had_system_prompt + 1]) - 1


def ordinal_place(branch: Sequence[StoredMessage], index: int) -> str:
    """Name a message of a branch by its place: "your 2nd message". Index -1 is the system prompt."""
    role = branch[index].role if index >= 0 else "system"
    return ordinal_message(role, sum(message.role == role for message in branch[: index + 1]))
