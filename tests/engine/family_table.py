"""README's table of what happens to thoughts, system prompts and tools: `python -m tests.engine.family_table FOLDER`.

It is made of the chat templates of that folder, by building prompts with each; models that get the same share a row.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from engine.prompt.marks import BARE_JSON, AnswerFormat, Kind, Marks
from engine.prompt.template import SYSTEM_MOVED, Prompt
from engine.types import InvalidRequestError, Message, Tool, ToolCall
from tests.engine.real_templates import SYSTEM, TOOLS, Trial

HEADER = ("Models", "Thoughts", "Earlier thoughts", "System prompt", "Tools")
_MAKER = re.compile(
    r"^(ByteDance|CohereForAI-c4ai|HuggingFaceTB|NVIDIA|NousResearch|Qwen(?=-Q)|deepseek-ai|fireworks-ai|google"
    r"|ibm-granite|llama-cpp|meetkai|meta-llama|microsoft|mistralai|moonshotai|openai|openbmb|poolside|unsloth-mistral)-"
)
_SIZE = re.compile(r"-\d+(\.\d+)?[BMb]\b(-A\d+(\.\d+)?B)?|-(it|Base|BF16|tool_use|fixed|mini)\b|-\d{4}$|-12-2024")
_TOKENS = {"LFM2": ("<|tool_call_start|>", "<|tool_call_end|>")}
"""Special tokens around parts of an answer that stand in the tokenizer of these models only, not in their template."""

_ASKED = [Message("user", "Where is my parcel?")]
_CALL = ToolCall("find_parcel", '{"number": 1234567}', "abcdef123")


class Family:
    """What becomes of the parts of a chat with one chat template, in words."""

    def __init__(self, name: str, template: str) -> None:
        self.name = _SIZE.sub("", _MAKER.sub("", name))
        self._trial = Trial(name, template)
        named = [token for key, tokens in _TOKENS.items() if name.startswith(key) for token in tokens]
        self._trial.tokenizer.add_special_tokens({"additional_special_tokens": named})
        self._form = AnswerFormat.of(self._trial.tokenizer)
        self._needs_tools = self._tried(_ASKED) is None

    def cells(self) -> tuple[str, ...]:
        """A row of the table, without the name."""
        return self._thought(), self._kept(), self._system(), self._tools()

    def _tried(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt | None:
        with suppress(InvalidRequestError):
            return self._trial.builder.build(messages, tools=tools)
        return None

    def _thought(self) -> str:
        """How they are marked, and what may be chosen."""
        opens = [_shown(marks) for marks in self._marks("thought")]
        if self._marks("header"):
            opens = ["the analysis channel"]
        if not opens:
            return "–"
        choices = ", ".join(self._trial.builder.thinking)
        return ", ".join(opens) + (f"; choice: {choices}" if choices else "")

    def _kept(self) -> str:
        """Whether the thoughts of earlier answers are in the prompt: of earlier questions, of the same one."""
        if self._thought() == "–":
            return "–"
        found = []
        for answer, behind in (
            (self._answer("It left."), Message("user", "Thanks.")),
            (self._answer("", _CALL), Message("tool", '{"place": "there"}', tool_call_id=_CALL.id)),
        ):
            prompt = self._tried([*_ASKED, answer, behind], TOOLS if answer.tool_calls or self._needs_tools else ())
            found.append(prompt is not None and 1 in prompt.thoughts)
        return "kept" if found[0] else "until the next question" if found[1] else "left out"

    def _answer(self, text: str, *calls: ToolCall) -> Message:
        thought = "They ask for a parcel."
        return self._trial.answer(_ASKED, text, thought, TOOLS if calls or self._needs_tools else (), *calls)

    def _system(self) -> str:
        tools = TOOLS if self._needs_tools else ()
        chat = [Message("system", SYSTEM), *_ASKED]
        prompt = self._tried(chat, tools)
        if prompt is None:
            return "refused"
        if SYSTEM_MOVED in prompt.notices:
            return "in the first question"
        later = self._tried([*chat, Message("assistant", "It left."), Message("user", "Thanks.")], tools)
        read = self._trial.tokenizer.decode
        moves = later is not None and read(later.ids).find(SYSTEM) > read(prompt.ids).find(SYSTEM)
        without = self._tried(_ASKED, tools)
        own = without is not None and without.has_own_text
        return ("in the newest question" if moves else "at the start") + ("; else a text of its own" if own else "")

    def _tools(self) -> str:
        if self._tried(_ASKED, TOOLS) is None:
            return "refused"
        calls = [_shown(marks) for marks in self._marks("call")]
        if self._marks("header"):
            calls = ["`to=functions.NAME`"]
        result = Message("tool", '{"place": "there"}', tool_call_id=_CALL.id)
        answered = self._tried([*_ASKED, self._answer("", _CALL), result], TOOLS)
        return (", ".join(calls) or "as text") + ("" if answered else "; results refused")

    def _marks(self, kind: Kind) -> list[Marks]:
        return [marks for marks in self._form.marks if marks.kind == kind]


def _shown(marks: Marks) -> str:
    """What opens a part, for Markdown."""
    if marks.opens == BARE_JSON.opens:
        return "JSON"
    opens = "".join(char for char in marks.opens if not 0xFDD0 <= ord(char) <= 0xFDEF).strip()
    return f"`{' '.join(opens.split())}{'NAME' if marks.per_tool else ''}`".replace("|", "\\|")


def rows(folder: Path) -> Iterator[tuple[str, ...]]:
    """One row for all models that get the same."""
    names: dict[tuple[str, ...], list[str]] = {}
    for path in sorted(folder.glob("*.jinja"), key=lambda path: path.name.lower()):
        family = Family(path.stem, path.read_text(encoding="utf-8-sig"))
        names.setdefault(family.cells(), []).append(family.name)
    for cells, same in names.items():
        yield ", ".join(dict.fromkeys(same)), *cells


def table(folder: Path) -> str:
    """Markdown."""
    lines = [HEADER, ("---",) * len(HEADER), *rows(folder)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    print(table(Path(sys.argv[1])))
