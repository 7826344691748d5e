"""The marks that a model writes around the parts of its answers: its thought, the answer itself, the tools it calls.

A model writes what its chat template writes into the history, so the marks are looked for in the template's text. Marks
that are special tokens count wherever the tokenizer has them: nothing but a part of an answer begins with one. All
others are ordinary text, and a model that was not trained for them may well write them about something else: they count
only where the template knows them, and those of a thought where the vocabulary has tokens for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from engine.prompt.thoughts import CLOSES, tags_in
from engine.prompt.token_text import CONTROL, CONTROL_END, TokenText, as_control

Kind = Literal["thought", "answer", "call", "header"]


@dataclass(frozen=True, slots=True)
class Marks:
    """What opens and what closes a part of an answer. A part without `closes` goes on to the end of the answer.

    In both, special tokens stand as `as_control` writes them. `is_first`: the part can only be the first behind the
    thought. `is_last`: what closes it ends the answer. A "header" names the part that follows it. `per_tool`: the name
    of a tool and a line break follow what opens it. `begins` is how the call itself begins, where that opens it.
    `is_behind_end`: what opens it begins with the token that ends an answer, so that only what follows on that token
    tells whether the answer goes on.
    """

    kind: Kind
    opens: str
    closes: str = ""
    is_first: bool = False
    is_last: bool = False
    per_tool: bool = False
    begins: str = ""
    is_behind_end: bool = False

    @property
    def is_control(self) -> bool:
        """Whether a special token opens it: then it can stand anywhere."""
        return CONTROL in (self.opens or self.closes)

    @property
    def inside(self) -> str:
        """What of that which opens it stands within an answer."""
        return re.sub(f"^{CONTROL}[^{CONTROL_END}]*{CONTROL_END}", "", self.opens) if self.is_behind_end else self.opens


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """How one model writes answers. `names` are the special tokens that are to be seen in its text by their names, as
    `as_control` writes them; without any `marks` there are none, and an answer is its text. `ids` are the tokens that
    are marks, or a part of one: an answer may need them more than once."""

    marks: tuple[Marks, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    ids: frozenset[int] = frozenset()

    @classmethod
    def of(cls, tokenizer: Any) -> AnswerFormat:
        """What the chat template and the special tokens of a tokenizer (a transformers fast tokenizer) tell."""
        template = tokenizer.chat_template or ""
        text = "\n".join(template.values()) if isinstance(template, dict) else template
        names = TokenText(tokenizer).special_names
        added = {index: str(token) for index, token in tokenizer.added_tokens_decoder.items()}
        marks = tuple(dict.fromkeys(_known(text, names, "".join(added.values()))))
        form = cls(marks, names if marks else {})
        return replace(form, ids=frozenset(index for index, name in added.items() if form.is_inside(name)))

    @property
    def thought_ends(self) -> frozenset[int]:
        """The special tokens that close a thought: the answer goes on behind them, whatever a config says."""
        ends = {marks.closes for marks in self.marks if marks.kind == "thought"}
        if any(marks.kind == "header" for marks in self.marks):
            ends.add(as_control(HARMONY_PARTS["thought"].closes))
        return frozenset(index for index, name in self.names.items() if as_control(name) in ends)

    def is_inside(self, name: str) -> bool:
        """Whether a token stands within answers, as a mark of theirs or between the parts of a tool call."""
        return name in INSIDE or any(name in marks.inside + marks.closes for marks in self.marks)


HARMONY = (
    Marks("header", "<|start|>assistant", "<|message|>"),
    Marks("header", "<|channel|>", "<|message|>"),
)
"""The format of GPT-OSS: each part has a header that names its channel and the tool that it is meant for."""

HARMONY_PARTS = {
    "thought": Marks("thought", "", "<|end|>"),
    "answer": Marks("answer", "", "<|end|>", is_last=True),
    "preamble": Marks("answer", "", "<|end|>"),
    "call": Marks("call", "", "<|call|>"),
}
"""The parts that such a header may announce."""

CONTROL_MARKS = (
    Marks("thought", "<|START_THINKING|>", "<|END_THINKING|>"),  # Command
    Marks("answer", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    Marks("answer", "<|START_TEXT|>", "<|END_TEXT|>"),
    Marks("call", "<|START_ACTION|>", "<|END_ACTION|>"),
    Marks("thought", "<|channel>thought", "<channel|>"),  # Gemma-4
    Marks("call", "<|tool_call>", "<tool_call|>"),
    Marks("thought", "<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    Marks("call", "<|tools_prefix|>", "<|tools_suffix|>"),
    Marks("thought", "[THINK]", "[/THINK]"),  # Mistral
    Marks("thought", "◁think▷", "◁/think▷"),  # Kimi-VL
    Marks("call", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),  # Kimi-K2
    Marks("call", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),  # DeepSeek
    Marks("call", "<|tool_call_start|>", "<|tool_call_end|>"),  # LFM2
    Marks("call", "<|python_start|>", "<|python_end|>"),  # Llama-4
    Marks("call", "<|action_start|><|plugin|>", "<|action_end|>"),  # InternLM
)
"""Pairs that no text is likely to hold."""

TO_THE_END = (
    Marks("call", "[TOOL_CALLS]"),  # Mistral
    Marks("call", "<|python_tag|>"),  # Llama-3
    Marks("call", "<|function_call|>"),  # GigaChat
    Marks("call", "functools[", begins="["),  # Firefunction
)
"""Tool calls that nothing closes."""

BEHIND_END = Marks("call", "<|message_sep|>\n\nfunction call<|role_sep|>\n", is_behind_end=True)
"""A tool call in a message of its own, behind the end of the answer, as of GigaChat-3."""

SOLAR = (
    Marks("thought", "<|think|>", "<|end|>"),
    Marks("thought", "<|begin|>assistant<|think|>", "<|end|>"),
    Marks("answer", "<|content|>", "<|end|>"),
    Marks("answer", "<|begin|>assistant<|content|>", "<|end|>"),
    Marks("call", "<|tool_calls|>", "<|calls|>"),
    Marks("call", "<|begin|>assistant<|tool_calls|>", "<|calls|>"),
)

INSIDE = frozenset(
    (
        *("<|start|>", "<|channel|>", "<|constrain|>", "<|message|>"),
        *("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"),
        *("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
        *("<|tool_call:begin|>", "<|tool_call:name|>", "<|tool_call:args|>", "<|tool_call:end|>"),
        *("[ARGS]", "[CALL_ID]", '<|"|>'),
    )
)
"""Special tokens between the parts of a tool call."""

BARE_JSON = Marks("call", "{", is_first=True, begins="{")
"""A tool call that is a JSON object and nothing else, as of Llama-3.1."""

_CALL_ENDS = re.compile(r"</((?:\w+[:_])?tool_?calls?(?::\w+)?)>", re.IGNORECASE)


def _known(template: str, names: Mapping[int, str], added: str) -> Iterator[Marks]:
    """The marks of a template, and those whose both sides are special tokens. `added` are the names of all tokens that
    were added to the vocabulary."""
    special = sorted(names.values(), key=len, reverse=True)
    for marks in (*_control(template, special), *_tags(template, added), *_others(template)):
        yield replace(marks, opens=spelled(marks.opens, special), closes=spelled(marks.closes, special))


def _control(template: str, special: list[str]) -> Iterator[Marks]:
    if "<|channel|>" in template and "<|message|>" in template:
        yield from HARMONY
    if "<|think|>" in template and "<|content|>" in template:
        yield from SOLAR
    for marks in CONTROL_MARKS:
        is_special = marks.opens.startswith(tuple(special)) and marks.closes in special
        if is_special or (marks.opens in template and marks.closes in template):
            yield marks
    for marks in TO_THE_END:
        if marks.opens in template or marks.opens in special:
            yield marks
    if "'function call'" in template and "<|message_sep|>" in template:
        yield BEHIND_END
    if "<|tool_call|>" in template:  # Phi-4, Granite-3
        yield Marks("call", "<|tool_call|>", "<|/tool_call|>" if "<|/tool_call|>" in template else "")


def _tags(template: str, added: str) -> Iterator[Marks]:
    """Marks as XML has them. Of a thought's many templates name only one: they open it when they ask for an
    answer, or cut it off. Some say nothing about thoughts, although there are tokens for these marks."""
    for name in tags_in(template + added):
        yield Marks("thought", f"<{name}>", f"</{name}>")
    for name in ("response", "answer"):  # Granite-3 and ERNIE, Hunyuan
        if CLOSES in template and f"<{name}>" in template and f"</{name}>" in template:
            yield Marks("answer", f"<{name}>", f"</{name}>", is_first=True)
    for name in dict.fromkeys(_CALL_ENDS.findall(template)):
        yield Marks("call", f"<{name}>", f"</{name}>")
    for name in ("function_calls", "tool_calls") if "｜DSML｜" in template else ():  # DeepSeek-V3.2 and later
        yield Marks("call", f"<｜DSML｜{name}>", f"</｜DSML｜{name}>")
    for opens in ("<function=", '<function name="'):
        if opens in template:
            yield Marks("call", opens, "</function>", begins=opens)


def _others(template: str) -> Iterator[Marks]:
    if "Here are my reasoning steps:" in template and "[BEGIN FINAL RESPONSE]" in template:  # Apriel
        yield Marks("thought", "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]")
        yield Marks("answer", "[BEGIN FINAL RESPONSE]", is_first=True)
        yield Marks("answer", "[END FINAL RESPONSE]")
    if ">>>all" in template:  # functionary
        yield Marks("answer", ">>>all\n", is_first=True)
        yield Marks("call", ">>>", per_tool=True)
    if "Json 格式表示调用的参数" in template:  # GLM-4 and GLM-4-0414: the name of a tool, and nothing before it
        yield Marks("call", "", is_first=True, per_tool=True)
    if re.search(r"Action:(\\n|\s)*```json", template):  # Command-R
        yield Marks("call", "Action:")
    tagged = {*_CALL_ENDS.findall(template), *(marks.opens for marks in CONTROL_MARKS if marks.opens in template)}
    if '{"name": ' in template and '"parameters": ' in template and not tagged:
        yield BARE_JSON


def spelled(mark: str, special: list[str]) -> str:
    """A mark with the special tokens in it as they stand in a text where they are to be seen."""
    if not mark or not special:
        return mark
    return re.sub("|".join(map(re.escape, special)), lambda found: as_control(found[0]), mark)
