"""A conversation as Markdown, and as JSON that Headstart itself reads. HTML and PDF are made where messages are drawn.

The JSON has no ids of tokens and no figures: they belong to the model and the computer that made them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from app.history.talks import Said, Talk
from app.language import tr

FORMAT, VERSION = "headstart.conversations", 1
NAMES = {"user": tr("You"), "assistant": tr("Answer"), "tool": tr("Result of a tool")}
"""What messages are headed with, by who wrote them."""


def to_json_text(talks: Sequence[Talk]) -> str:
    """Conversations with all their branches, to be read by `reading.read_conversations`."""
    return json.dumps(
        {"format": FORMAT, "version": VERSION, "conversations": [asdict(talk) for talk in talks]},
        ensure_ascii=False,
        indent=1,
    )


def to_markdown(talk: Talk) -> str:
    """The branch in use as it is read. Answers stand as the model wrote them."""
    parts = [f"# {talk.title}"]
    if talk.created:
        parts.append(f"*{moment(talk.created)}*")
    if talk.system_prompt:
        parts += [tr("## System prompt"), talk.system_prompt]
    for said in talk.branch():
        parts += [f"## {NAMES[said.role]}", *markdown_parts(said)]
    return "\n\n".join(parts) + "\n"


def markdown_parts(said: Said) -> list[str]:
    """What a message consists of, in the order in which the window shows it."""
    parts = [tr("*Attached: {title}*", title=file.title) for file in said.files]
    if said.thought:
        parts.append("\n".join(f"> {line}".rstrip() for line in said.thought.split("\n")))
    if said.content:
        parts.append(said.content)
    return parts + [
        tr("*Asked for {name}:* `{arguments}`", name=call.name, arguments=call.arguments) for call in said.tool_calls
    ]


def moment(seconds: float) -> str:
    """A date and time as in a letter: "1 December 2026, 13:05"."""
    when = datetime.fromtimestamp(seconds)
    return f"{when.day} {when:%B %Y, %H:%M}"
