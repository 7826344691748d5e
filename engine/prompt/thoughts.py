"""What a thought is where it stands in a text: the words that name it in marks, and the usual marks around it.

Answers that were stored before answers had parts hold their thoughts so, and templates without a field for thoughts
take them so.
"""

from __future__ import annotations

import re
from dataclasses import replace

from engine.types import Message

WORDS = ("think", "thinking", "thought", "thoughts", "reasoning")
"""What marks call a thought. A template that leaves thoughts out may not know them."""

OPENS, CLOSES = "<think>", "</think>"
"""The usual marks."""

_TAGS = re.compile(rf"</?((?:\w+[:_])?(?:{'|'.join(WORDS)})(?::\w+)?)>", re.IGNORECASE)


def tags_in(text: str) -> tuple[str, ...]:
    """The names of tags for thoughts, such as `think` or `seed:think`, that stand in a text on one side at least."""
    return tuple(dict.fromkeys(_TAGS.findall(text)))


def in_marks(thought: str, content: str) -> str:
    """An answer as one text, with its thought between the usual marks."""
    return f"{OPENS}\n{thought}\n{CLOSES}\n\n{content}"


def parted(message: Message, *, is_opened: bool = False) -> Message:
    """An answer with the thought that stands in its text told apart. It begins with its mark; or a template that knows
    such marks opened it (`is_opened`), and the end of a line is where it was closed. Else the text is about such marks.
    """
    head, mark, rest = message.content.partition(CLOSES)
    is_closed = head.endswith("\n") or not rest or rest.startswith("\n")
    is_thought = (is_opened and is_closed) or head.lstrip().startswith(OPENS)
    if message.role != "assistant" or message.thought or not mark or not is_thought:
        return message
    return replace(message, thought=head.lstrip().removeprefix(OPENS).strip(), content=rest)
