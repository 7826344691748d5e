"""Real chat templates, held against transformers: `python -m tests.engine.real_templates FOLDER`.

Each `*.jinja` of the folder gets a small tokenizer that knows its special tokens, and conversations of six turns: with
and without a system prompt, with tools, thoughts, an empty and a stopped answer, odd characters, a retry, an edit, the
next day, thinking switched off and on. What is right is what `apply_chat_template` makes of the structured messages
there. Answers are written as the template itself would write them, one token a character, so that their ids can be told
from encoded text.

The table has one row a template:

- ids: prompts whose ids are not what transformers makes, but for the ids of answers, which stand for their text.
- malformed: prompts with a special token too many or too few, such as a header or an end twice.
- false cause: reasons given for reading again that do not hold. no cause: tokens read again without a reason.
- advice: refusals that name a part whose absence does not help, or that were not needed. traceback: other errors.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from unittest import mock

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from engine.events import Divergence
from engine.prompt.comparing import common_length
from engine.prompt.divergence import Past, explain, with_answer
from engine.prompt.switches import Switch, thinking_switches
from engine.prompt.template import Prompt, PromptBuilder
from engine.types import BLOCK_TOKENS, HeadstartError, Message, TemplateSettings, Tool, ToolCall

DAY = date(2025, 3, 9)
LEAST_LOSS = 24
"""Tokens that must have been lost before a reason is asked for: shorter runs repeat by chance."""

COLUMNS = ("ids", "malformed", "false cause", "no cause", "advice", "traceback")

_SPECIAL = re.compile(
    r"<\|[^|<>{}\s'\"]{1,40}\|?>|<[^<>|{}\s'\"]{1,40}\|>|<｜[^｜<>{}\s'\"]{1,40}｜>|〈\|[^|\s'\"]{1,20}\|〉|\[/?[A-Z_]{3,24}\]"
    r"|</?s>|<(?:start|end)_of_turn>|<[bp]os>|<SPECIAL_\d+>|</?seed:[beop]\w+>|\]~!?b\]|\[e~\[|\[gMASK\]|<sop>"
)
_TAG = re.compile(r"</?(?:seed:)?(?:think|tool_call|tool_response|minimax:tool_call)>")
_FIRST = ("<|begin_of_text|>", "<｜begin▁of▁sentence｜>", "<bos>", "<|startoftext|>", "]~!b[", "〈|EOS|〉", "<s>")
_LAST = (
    "<｜end▁of▁sentence｜>",
    "<|END_OF_TURN_TOKEN|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<end_of_turn>",
    "<turn|>",
    "</s>",
)

_ENDS = (
    *_LAST,
    *("<|end|>", "<|return|>", "<|call|>", "<|eom_id|>", "<|message_sep|>", "[e~[", "<seed:eos>", "<|assistant_end|>"),
    *("<SPECIAL_12>", "<|eot|>", "<|endoftext|>", "<|end_of_text|>", "</assistant>"),
)
"""Tokens with which models end a message."""

_THOUGHTS = (
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<think>\n", "\n</think>\n\n"),
)
"""How models write a thought, tried in this order: the first whose opening stands in the template."""

SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price. Ask if unsure."
SCHEMA = {"type": "object", "properties": {"number": {"type": "integer", "description": "Its number."}}}
_QUESTIONS = (
    "where did my parcel go last week",
    "is there a stove among the things I bought",
    "say something about the colour of tents",
    "which day do you expect the lorry",
    "may I have the bill by post",
    "have I paid for everything so far",
)
TOOLS = (
    Tool("find_parcel", "Where a parcel is.", json.dumps(SCHEMA)),
    Tool("price_of_tent", "What a tent costs.", json.dumps({"type": "object", "properties": {}})),
)


def make_tokenizer(template: str) -> PreTrainedTokenizerFast:
    """A token for each byte and for each special token that occurs in the template. It adds a BOS by itself."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [("t", "h"), ("th", "e"), ("i", "n"), ("Ġ", "the"), ("a", "r"), ("Ġ", "a"), ("p", "ar"), ("e", "n")]
    vocabulary = {name: index for index, name in enumerate([*alphabet, *(one + two for one, two in pairs)])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = sorted({*_SPECIAL.findall(template), "<s>", "</s>"})
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in special])
    tokenizer.add_tokens([AddedToken(name, special=False) for name in sorted(set(_TAG.findall(template)))])
    first = next(name for name in _FIRST if name in special)
    last = next(name for name in _LAST if name in special)
    bos = (first, tokenizer.token_to_id(first))
    tokenizer.post_processor = processors.TemplateProcessing(single=[first, "$A"], special_tokens=[bos])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=first, eos_token=last)
    fast.chat_template = template
    return fast


@dataclass
class Reference:
    """What transformers makes of structured messages, with what is said to be right where a template takes them not."""

    tokenizer: PreTrainedTokenizerFast
    template: str
    day: date = DAY
    thinking: str = ""

    def text(self, messages: Sequence[Message], tools: Sequence[Tool] = (), *, asks: bool = True) -> str:
        """The rendered text. Raises whatever the template raises."""
        now = datetime.combine(self.day, time(12))
        with mock.patch("transformers.utils.chat_template_utils.datetime") as clock:
            clock.now.return_value = now
            rendered: str = self.tokenizer.apply_chat_template(
                self.structured(messages),
                tools=[described(tool) for tool in tools] or None,
                tokenize=False,
                add_generation_prompt=asks,
                date_string=now.strftime("%d %b %Y"),
                **self._switch.variables,
            )
        return rendered

    @property
    def _switch(self) -> Switch:
        """How this template is told what was chosen about thoughts."""
        return thinking_switches(self.template)[self.thinking] if self.thinking else Switch()

    def sent(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> list[Message]:
        """What of a conversation is sent: no empty answer nor its question, and a system prompt that the template
        leaves out or refuses in front of the first question."""
        kept: list[Message] = []
        for message in messages:
            if message.role == "assistant" and not message.content.strip() and not message.tool_calls:
                while kept and kept.pop().role != "user":
                    pass
                continue
            kept.append(message)
        if words := self._switch.words:
            first = kept[0] if kept[0].role == "system" else None
            said = Message("system", f"{first.content}\n{words}" if first else words)
            kept = [said, *kept[1 if first else 0 :]]
        if not self._takes_system(kept, tools):
            first = next(index for index, message in enumerate(kept) if message.role == "user")
            joined = f"{kept[0].content}\n\n{kept[first].content}"
            kept = [replace(kept[first], content=joined) if index == first else m for index, m in enumerate(kept)][1:]
        return kept

    def ids(self, text: str) -> list[int]:
        """The ids of a rendered text, behind exactly one BOS."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
        has_one = text.lstrip().startswith(str(self.tokenizer.bos_token))
        return ids if has_one else [self.tokenizer.bos_token_id, *ids]

    def structured(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Messages as `apply_chat_template` takes them; what this template knows no field for stands in the content, as
        the model wrote it."""
        handed: list[dict[str, Any]] = []
        for message in messages:
            said: dict[str, Any] = {"role": message.role, "content": message.content}
            if message.thought and self._names_thoughts:
                said["reasoning_content"] = said["reasoning"] = message.thought
            elif message.thought and self._has_thought_parts:
                said["content"] = [
                    {"type": "thinking", "thinking": message.thought},
                    {"type": "text", "text": message.content},
                ][: 2 if message.content else 1]
            elif message.thought and message.token_ids:
                said["content"] = self._in_marks(message)
            elif message.thought and "</think>" in self.template:
                said["content"] = f"<think>\n{message.thought}\n</think>\n\n{message.content}"
            if message.tool_calls and self._takes_calls:
                said["tool_calls"] = [self._call(call) for call in message.tool_calls]
            elif message.tool_calls and message.token_ids:
                said["content"] = self.tokenizer.decode(message.token_ids)
            elif message.tool_calls:
                said["content"] = "\n".join(filter(None, (said["content"], self._as_json(message))))
            if message.tool_call_id:
                said |= {"tool_call_id": message.tool_call_id, "name": "find_parcel"}
            if self._needs_parts and isinstance(said["content"], str):
                said["content"] = [{"type": "text", "text": said["content"]}]
            handed.append(said)
        return handed

    def written(self, asked: Sequence[Message], answer: Message, tools: Sequence[Tool]) -> str:
        """What a model writes for this answer: what the template writes behind the prompt, without the end token."""
        prompt = self.text(asked, tools)
        whole = self.text([*asked, answer], tools, asks=False)
        last_said = asked[-1].content.strip()
        forms = (last_said, json.dumps(last_said)[1:-1], last_said.split("\n")[-1])  # some change line breaks
        last_said = next(form for form in forms if form in prompt)
        behind = self._behind(*(text[text.rfind(last_said) :] for text in (prompt, whole)))
        said, tail = self._cut(behind, answer)
        opening, closing = self.marks
        is_open = prompt.endswith((opening, opening.strip()))
        head = self._head(said, answer, f"{'' if is_open else opening}{answer.thought}{closing}")
        if is_open and not answer.thought:
            head = closing.lstrip() + head if not head.startswith(closing.strip()) else head
        return head + tail

    def _cut(self, behind: str, answer: Message) -> tuple[str, str]:
        """What follows on a prompt, up to the last word of the answer, and what a model writes behind that."""
        said = [text for text in (answer.content, *(call.name for call in answer.tool_calls)) if text]
        said += ["}", "1234567"] if answer.tool_calls else []
        last = max(behind.rfind(text) + len(text) for text in said if text in behind)
        return behind[:last], self._tail(behind[last:])

    def _head(self, behind: str, answer: Message, thought: str) -> str:
        """An answer to its last word, as a model writes it: with its thought, which the template may have left out of
        what stands behind the prompt."""
        thought = thought if answer.thought else ""
        if answer.thought and answer.thought in behind:
            return behind
        if answer.tool_calls and not self._takes_calls:
            return thought + self._as_json(answer)
        if answer.tool_calls:
            starts = [behind.find(mark) for mark in _SPECIAL.findall(behind) + _TAG.findall(behind)]
            return thought + behind[min([s for s in starts if s >= 0] or [0]) :] if thought else behind
        before = behind[: len(behind) - len(answer.content)]
        return thought + ("" if thought and "</think>" in before else before) + answer.content

    @staticmethod
    def _as_json(answer: Message) -> str:
        calls = [json.dumps({"name": c.name, "arguments": json.loads(c.arguments)}) for c in answer.tool_calls]
        return "\n".join(calls)

    @staticmethod
    def _behind(asking: str, following: str) -> str:
        """What follows on a question as it asked, where an answer follows. Some templates ask whether they are told to
        or not, and some ask with a text that they leave out later."""
        words = max(_SPECIAL.split(asking[asking.find("<|") :]), key=len)
        if len(words) > LEAST_LOSS and words in following[len(asking) - len(words) + 1 :]:
            following = following[: following.rfind(words)]
            while ends := [found.start() for found in _SPECIAL.finditer(following) if found.end() == len(following)]:
                following = following[: ends[0]].rstrip()
        same = common_length(asking, following)
        names = [found for found in _SPECIAL.finditer(asking) if found.end() <= same or found.start() < same]
        if names and names[-1].end() > same:  # not within a special token
            same = names[-1].start()
        header = _SPECIAL.findall(asking)[-1:]
        is_again = bool(header) and asking.endswith(header[0]) and following[same:].startswith(header[0])
        return following[same:].removeprefix(header[0]) if is_again else following[same:]

    @cached_property
    def marks(self) -> tuple[str, str]:
        """What a model writes around a thought."""
        source = self.template.replace("\\n", "\n")
        return next((marks for marks in _THOUGHTS if marks[0].strip() in source), _THOUGHTS[-1])

    @cached_property
    def thinks(self) -> bool:
        """Whether the template is one of a model that writes thoughts."""
        source = self.template.replace("\\n", "\n")
        return any(opening.strip() in source for opening, _ in _THOUGHTS) or "</think>" in source

    @cached_property
    def _names_thoughts(self) -> bool:
        field = r"(reasoning_content|\bm(sg|essage)?(\.|\[['\"]|\.get\(['\"])(thinking|reasoning)\b)"
        return re.search(field, self.template) is not None

    @cached_property
    def _has_thought_parts(self) -> bool:
        return "'thinking'" in self.template and "block['thinking']" in self.template

    @cached_property
    def _needs_parts(self) -> bool:
        """Whether a question as a text vanishes, but not as a list of parts."""
        shows = []
        for content in ("Zqxj", [{"type": "text", "text": "Zqxj"}]):
            try:
                said = [{"role": "user", "content": content}]
                shows.append("Zqxj" in str(self.tokenizer.apply_chat_template(said, tokenize=False)))
            except Exception:
                shows.append(False)
        return shows == [False, True]

    @cached_property
    def _text_arguments(self) -> bool:
        text = self._with_call({"number": 1234567})
        return text is None or "'number': 1234567" in text

    @cached_property
    def _takes_calls(self) -> bool:
        texts = [self._with_call(arguments) for arguments in ({"number": 1234567}, '{"number": 1234567}')]
        return texts == [None, None] or any("1234567" in text for text in texts if text)

    def _with_call(self, arguments: Any) -> str | None:
        function = {"name": "find_parcel", "arguments": arguments}
        call = {"type": "function", "id": "abcdef123", "function": function}
        said = [
            {"role": "user", "content": "Where?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "there", "tool_call_id": "abcdef123", "name": "find_parcel"},
        ]
        try:
            tools = [described(tool) for tool in TOOLS]
            return str(self.tokenizer.apply_chat_template(said, tools=tools, tokenize=False, date_string="today"))
        except Exception:
            return None

    def _call(self, call: ToolCall) -> dict[str, Any]:
        made = _as_object(call)
        if self._text_arguments:
            made["function"]["arguments"] = call.arguments
        return made

    def _in_marks(self, message: Message) -> str:
        opening, closing = self.marks
        return f"{opening}{message.thought}{closing}{message.content}"

    def _tail(self, text: str) -> str:
        """What a model writes behind the last word, without the end token."""
        found = [at for at in map(text.find, _ENDS) if at >= 0]
        return text[: min(found)] if found else text.rstrip()

    def _takes_system(self, messages: Sequence[Message], tools: Sequence[Tool]) -> bool:
        if not messages or messages[0].role != "system":
            return True
        try:
            return messages[0].content.strip()[:20] in self.text(messages, tools)
        except Exception:
            return False


def _as_object(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.loads(call.arguments)}
    return {"type": "function", "id": call.id, "function": function}


def described(tool: Tool) -> dict[str, Any]:
    """A tool as transformers takes it."""
    function = {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)}
    return {"type": "function", "function": function}


@dataclass
class Step:
    """One request of a conversation. `changed` says what the user changed: "day", "tools", "edit", "retry", "chat",
    "settings". `thinking` is what the user chose about thoughts."""

    messages: tuple[Message, ...]
    answer: Message
    tools: tuple[Tool, ...] = ()
    changed: str = ""
    day: date = DAY
    thinking: str = ""

    def prompt(
        self, builder: PromptBuilder, messages: Sequence[Message] = (), settings: TemplateSettings | None = None
    ) -> Prompt:
        """The prompt that asks for its answer; of other messages, or with another setting."""
        chosen = settings or TemplateSettings(self.thinking)
        return builder.build(messages or self.messages, self.day, self.tools, chosen)


@dataclass
class Trial:
    """One template: what was found wrong, by column, each with a sentence."""

    name: str
    template: str
    prompts: int = 0
    found: list[tuple[str, str]] = field(default_factory=list)
    causes: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokenizer = make_tokenizer(self.template)
        self.builder = PromptBuilder(self.tokenizer, len(self.tokenizer))
        self.reference = Reference(self.tokenizer, self.template)

    def run(self) -> Trial:
        """Hold all conversations."""
        for name, play in (("system", True), ("no system", False)):
            self.hold(name, self._talk(SYSTEM if play else ""))
        self.hold("tools", self._with_tools())
        self.hold("thinking", self._with_thinking())
        self._hold_kept()
        self._hold_switched()
        return self

    def hold(self, name: str, steps: Iterator[Step]) -> None:
        """Hold one conversation."""
        known: list[tuple[int, ...]] = []
        past: Past | None = None
        old: Step | None = None
        try:
            for number, step in enumerate(steps):
                self.prompts += 1
                where = f"{name} {number + 1}"
                prompt = self._build(where, step)
                if prompt is None:
                    return
                past = self._explained(where, step, prompt, past, old, known)
                old = step
        except Exception:
            self._note("traceback", name, traceback.format_exc())

    def _hold_kept(self) -> None:
        """With thoughts kept and the system prompt in the first question, each prompt begins with all of the one before
        and its answer; an answer without a word is not sent again."""
        past: Prompt | None = None
        for number, step in enumerate(self._talk(SYSTEM)):
            if step.changed:
                return
            try:
                prompt = self.builder.build(step.messages, step.day, settings=TemplateSettings("", True, "question"))
            except HeadstartError:  # as it is: it was looked at before
                return
            if past is not None and prompt.ids[: len(past.ids)] != past.ids:
                at = common_length(past.ids, prompt.ids)
                old, new = (self.tokenizer.decode(ids[max(0, at - 20) : at + 20]) for ids in (past.ids, prompt.ids))
                self._note("ids", f"thoughts kept {number + 1}", f"{old!r} became {new!r}")
            past = with_answer(prompt, step.answer) if step.answer.token_ids else None

    def _hold_switched(self) -> None:
        """Thoughts are kept, and thinking is switched in between: every answer stands there whole, with its thought,
        behind what asked for it; where thinking was not switched all before is as it was, and elsewhere that is the
        only reason to read again."""
        past: Past | None = None
        asked: list[tuple[int, ...]] = []
        for number, step in enumerate(self._with_thinking()):
            where = f"thoughts kept, thinking {number + 1}"
            settings = TemplateSettings(step.thinking, keep_thoughts=True)
            try:
                prompt = step.prompt(self.builder, settings=settings)
            except HeadstartError:  # as it is: it was looked at before
                return
            for ids in asked:
                if not _holds(prompt.ids, ids):
                    self._note("ids", where, f"{self.tokenizer.decode(ids)!r} is not whole in the prompt")
            asked.append(prompt.ids[prompt.spans[-1].end :] + step.answer.token_ids)
            reused = common_length(past.ids, prompt.ids) if past else 0
            told = explain(past, prompt, reused, "m", self.tokenizer.decode, rebuild=partial(self._kept, step))
            if past is not None and told is not None and (told.cause, step.changed) != ("settings", "settings"):
                self._note("false cause", where, f"{told.cause}: {told.old_text!r} {told.new_text!r}")
            if past is not None and told is None and reused < len(past.ids) and _read_again(past, prompt, reused):
                self._note("no cause", where, f"reused {reused} of {len(past.ids)}")
            whole = with_answer(prompt, step.answer)
            past = Past(whole, "m", len(whole.ids), len(whole.ids))

    def _kept(self, step: Step, settings: TemplateSettings) -> Prompt:
        return step.prompt(self.builder, settings=settings)

    def _note(self, column: str, where: str, what: str) -> None:
        self.found.append((column, f"{where}: {what}"))

    # conversations

    def _talk(self, system: str) -> Iterator[Step]:
        """Six turns, then a retry, an edit, and a new chat on the next day."""
        self.reference.thinking = ""
        messages: list[Message] = [Message("system", system)] if system else []
        answers = (
            ("It left the warehouse on Monday, as far as I know.", ""),
            ("The stove is in the parcel, too.", "They ask for the stove. It is in the parcel."),
            ("emoji \N{THUMBS UP SIGN} of\r\nseveral lines\t\u0065\u0301", ""),
            ("This one was stopped in the mid", "They want to know when. I guess on Tuesday"),
            ("", ""),
            ("Yes, and all of it is paid for.", "Is it paid? It is."),
        )
        for number, (text, thought) in enumerate(answers):
            question = f"Question {number}: {_QUESTIONS[number]}\r\n\N{GRINNING FACE}?"
            messages.append(Message("user", question))
            asked = list(messages)
            messages.append(self.answer(messages, text, thought))
            yield Step(tuple(asked), messages[-1])
        again = self.answer(asked, "On second thoughts, no.", "Another thought for it.")
        yield Step(tuple(asked), again, changed="retry")
        messages = [*asked, again, Message("user", "Thanks. Is that all?")]
        last = self.answer(messages, "That is all.", "")
        yield Step(tuple(messages), last)
        edited = list(messages)
        edited[-len(messages) + (3 if system else 2)] = Message("user", "Edited: when will my tent be here?")
        yield Step(tuple(edited), last, changed="edit")
        yield Step(tuple(edited), last, changed="day", day=DAY + timedelta(days=1))
        if system:
            new = (Message("system", system), Message("user", "A new chat?"))
            yield Step(new, self.answer(new, "Yes.", ""), changed="chat", day=DAY + timedelta(days=2))

    def _with_tools(self) -> Iterator[Step]:
        """A call, its result, answers around them; then other tools."""
        messages = [Message("system", SYSTEM)]
        for number in range(3):
            messages.append(Message("user", f"Question {number}: {_QUESTIONS[number]}?"))
            call = ToolCall("find_parcel", f'{{"number": 123456{number}}}', f"abcdef12{number}")
            answer = self.answer(messages, "", f"I must look parcel {number} up.", TOOLS, call)
            yield Step(tuple(messages), answer, TOOLS)
            messages += [answer, Message("tool", f'{{"place": "warehouse {number}"}}', tool_call_id=call.id)]
            answer = self.answer(messages, f"It is in warehouse {number}.", f"It says warehouse {number}.", TOOLS)
            yield Step(tuple(messages), answer, TOOLS)
            messages.append(answer)
        messages.append(Message("user", "Thanks."))
        last = self.answer(messages, "Bye.", "", TOOLS)
        yield Step(tuple(messages), last, TOOLS)
        yield Step(tuple(messages), last, TOOLS[:1], changed="tools")

    def _with_thinking(self) -> Iterator[Step]:
        """Thinking is switched on, off, and on again, where the template lets one choose."""
        choices = self.builder.thinking
        if len(choices) < 2:
            return
        messages = [Message("system", SYSTEM)]
        before = choices[0]
        for number, thinking in enumerate((choices[0], choices[0], choices[1], choices[1], choices[0])):
            self.reference.thinking = thinking
            messages.append(Message("user", f"Question {number}: {_QUESTIONS[number]}?"))
            thought = "" if thinking == "off" else f"They ask for number {number}."
            answer = self.answer(messages, f"This is answer {number}, and it is short.", thought)
            yield Step(tuple(messages), answer, changed="settings" * (thinking != before), thinking=thinking)
            messages.append(answer)
            before = thinking

    def answer(
        self, asked: Sequence[Message], text: str, thought: str, tools: Sequence[Tool] = (), *calls: ToolCall
    ) -> Message:
        """An answer with the ids that the model wrote: each character on its own, but for special tokens."""
        if not text and not calls:
            return Message("assistant", "", thought=thought)
        thought = thought if self.reference.thinks else ""
        plain = Message("assistant", text, (), thought, calls, thinking=self.reference.thinking)
        try:
            raw = self.reference.written(self.reference.sent(asked, tools), plain, tools)
        except Exception:  # the template refuses such a conversation, and whoever builds the prompt must see that
            return plain
        return replace(plain, token_ids=self._spelled(raw))

    def _spelled(self, text: str) -> tuple[int, ...]:
        """Ids of a text, one or more for each character, and one for each added token."""
        added = sorted(self.tokenizer.get_added_vocab(), key=len, reverse=True)
        parts = re.split("(" + "|".join(map(re.escape, added)) + ")", text)
        ids: list[int] = []
        for part in parts:
            if part in self.tokenizer.get_added_vocab():
                ids.append(self.tokenizer.convert_tokens_to_ids(part))
            else:
                ids += [i for char in part for i in self.tokenizer(char, add_special_tokens=False).input_ids]
        return tuple(ids)

    # checks

    def _build(self, where: str, step: Step) -> Prompt | None:
        self.reference.day, self.reference.thinking = step.day, step.thinking
        try:
            sent = self.reference.sent(step.messages, step.tools)
            expected: str | Exception = self.reference.text(sent, step.tools)
        except Exception as error:
            expected = error
        try:
            prompt = step.prompt(self.builder)
        except HeadstartError as error:
            self.refused.append(f"{where}: {error}")
            self._check_advice(where, step, error, expected)
            return None
        if isinstance(expected, Exception):
            self._note("ids", where, f"built, though transformers says {expected}")
            return prompt
        self._check_plain(where, step)
        self._check_spliced(where, step, prompt, expected, sent)
        return prompt

    def _check_plain(self, where: str, step: Step) -> None:
        """Without ids of answers the prompt is what transformers makes."""
        bare = tuple(replace(message, token_ids=()) for message in step.messages)
        ids = list(step.prompt(self.builder, bare).ids)
        right = self.reference.ids(self.reference.text(self.reference.sent(bare, step.tools), step.tools))
        if ids != right:
            self._note("ids", where, "without ids: " + self._difference(ids, right))

    def _check_spliced(self, where: str, step: Step, prompt: Prompt, expected: str, sent: Sequence[Message]) -> None:
        """With the ids of answers it reads the same, and each answer stands there as its own ids."""
        right = self.reference.ids(expected)
        special = set(self.tokenizer.all_special_ids)
        counts = [Counter(i for i in ids if i in special) for ids in (prompt.ids, right)]
        if counts[0] != counts[1]:
            names = {self.tokenizer.convert_ids_to_tokens(i): n for i, n in (counts[0] - counts[1]).items()}
            lacks = {self.tokenizer.convert_ids_to_tokens(i): n for i, n in (counts[1] - counts[0]).items()}
            self._note("malformed", where, f"too many {names}, too few {lacks}")
        said, wanted = (self.tokenizer.decode(ids) for ids in (prompt.ids, right))
        if _as_written(said) != _as_written(wanted):
            self._note("ids", where, "with ids: " + self._difference(list(prompt.ids), right))
        for message in sent:
            own = self._spelled(message.content.strip())
            if message.token_ids and own and not _holds(prompt.ids, own):
                self._note("ids", where, f"the ids of {message.content[:20]!r} are not in the prompt")

    def _difference(self, ids: list[int], right: list[int]) -> str:
        texts = [self.tokenizer.decode(some) for some in (ids, right)]
        at = max(0, common_length(*texts) - 30)
        return f"{texts[0][at : at + 160]!r} is not {texts[1][at : at + 160]!r}"

    def _check_advice(self, where: str, step: Step, error: HeadstartError, expected: str | Exception) -> None:
        """A refusal is right where transformers refuses, too, or the template leaves something out; what it advises to
        leave out helps."""
        text = str(error)
        if isinstance(expected, str):
            left_out = [m for m in step.messages if m.role == "tool" and m.content.split('"')[-2] not in expected]
            has_tools = not step.tools or all(tool.name in expected for tool in step.tools)
            if has_tools and not left_out:
                self._note("advice", where, f"refused without need: {text}")
            return
        if "without tools" in text:
            tried = [m for m in step.messages if m.role != "tool" and not m.tool_calls], ()
        elif "without a system prompt" in text:
            tried = [m for m in step.messages if m.role != "system"], step.tools
        else:
            return
        try:
            self.reference.text(*tried)
        except Exception:
            self._note("advice", where, f"does not help: {text}")

    def _explained(
        self,
        where: str,
        step: Step,
        prompt: Prompt,
        past: Past | None,
        old: Step | None,
        known: list[tuple[int, ...]],
    ) -> Past:
        """Check the cause that is told, and note the turn."""
        reused = max((common_length(ids, prompt.ids) for ids in known), default=0)
        reused = min(reused, len(prompt.ids) - 1) // BLOCK_TOKENS * BLOCK_TOKENS
        own, relative = (None, past) if step.changed == "chat" else (past, None)
        told = explain(
            own,
            prompt,
            reused,
            "m",
            self.tokenizer.decode,
            relative=relative,
            rebuild=lambda settings: step.prompt(self.builder, settings=settings),
        )
        if told is not None:
            self.causes[told.cause] += 1
            self.told.append(
                f"{where}: {told.cause}, {told.recomputed_tokens} tokens, {told.cure or 'no cure'}: "
                f"{told.old_text!r} {told.new_text!r}"
            )
        if past is not None and old is not None:
            again = _lost_start(past, prompt, reused) if own is None else _read_again(past, prompt, reused)
            if again >= LEAST_LOSS and (told is None or told.cause == "new"):
                self._note("no cause", where, f"{again} tokens, reused {reused} of {len(prompt.ids)}")
            if told is not None and (fault := self._is_false(told, step, old, past, prompt)):
                self._note("false cause", where, f"{told.cause}: {fault}")
            read = len(prompt.ids) - reused
            if told is not None and not 0 <= told.recomputed_tokens <= read:
                self._note("false cause", where, f"{told.recomputed_tokens} tokens again, {read} read")
        whole = with_answer(prompt, step.answer)
        known.append(whole.ids)
        return Past(whole, "m", len(whole.ids), len(whole.ids))

    def _is_false(self, told: Divergence, step: Step, old: Step, past: Past, prompt: Prompt) -> str:
        """Why a cause that was told does not hold; "" where it does."""
        before, after = (self.tokenizer.decode(ids) for ids in (past.ids, prompt.ids))
        at = common_length(before, after)
        cause = told.cause
        messages = self.reference.sent(old.messages, old.tools)
        if cause == "edited":
            both = zip((*old.messages, old.answer), step.messages, strict=False)
            differ = any((a.content, a.tool_calls) != (b.content, b.tool_calls) for a, b in both)
            return "" if differ else "no message differs"
        if cause == "settings":
            kept = step.prompt(self.builder, settings=past.prompt.settings)
            longer = common_length(past.ids, kept.ids) > common_length(past.ids, prompt.ids)
            return "" if step.changed == cause and longer else f"not they were changed, but {step.changed or 'nothing'}"
        if cause in ("new", "date"):
            wanted = {"new": ("chat",), "date": ("day", "chat")}[cause]
            if step.changed not in wanted:
                return f"nothing of the kind was changed, but {step.changed or 'nothing'}"
            is_told = cause != "date" or all("2025" in text[max(0, at - 30) : at + 30] for text in (before, after))
            return "" if is_told else f"there is no date at {before[at - 20 : at + 20]!r}"
        if cause == "tools":
            moved = before.find(TOOLS[0].description) != after.find(TOOLS[0].description)
            return "" if step.changed == "tools" or moved else "they are as they were, where they were"
        if cause == "reasoning removed":
            thoughts = [m.thought for m in (*messages, old.answer) if m.thought]
            is_gone = any(t in before[at - 60 :] and before.count(t) > after.count(t) for t in thoughts)
            is_gone = is_gone or len(_EMPTY.findall(before)) > len(_EMPTY.findall(after))
            return "" if is_gone else "no thought is gone"
        if cause == "empty thought":
            return "" if len(_EMPTY.findall(after)) > len(_EMPTY.findall(before)) else "there is none"
        if cause == "answer frame":
            spans = past.prompt.spans
            ends = [0, *(span.end for span in spans)]
            framed = [span for span, end in zip(spans, ends, strict=False) if end <= told.position <= span.end]
            is_answer = any(span.role == "assistant" for span in framed)
            return "" if is_answer else f"no answer begins at {before[max(0, at - 60) : at + 60]!r}"
        if cause == "system moved":
            return "" if before.find(SYSTEM) != after.find(SYSTEM) else "it did not"
        return "nothing of the kind happened"


_EMPTY = re.compile(
    r"<(seed:)?think>\s*</(seed:)?think>|\[THINK\]\s*\[/THINK\]|<\|START_THINKING\|>\s*<\|END_THINKING\|>"
)


def _as_written(text: str) -> str:
    """A text without blanks, and without ids of calls, which some templates write later and the model does not."""
    return re.sub(r',"id":"abcdef12\d"', "", "".join(text.split()))


def _holds(ids: Sequence[int], part: Sequence[int]) -> bool:
    """Whether `part` stands in `ids` in one piece."""
    return any(tuple(ids[at : at + len(part)]) == tuple(part) for at in range(len(ids) - len(part) + 1))


def _read_again(past: Past, prompt: Prompt, reused: int) -> int:
    """How many tokens behind the reused ones stood in the past ones, too, behind the place where both part; in runs of
    some length, and but for what asks for the next answer."""
    old, asked = past.ids, past.ids[: past.prompt.spans[-1].start]
    new = prompt.ids[: len(prompt.ids) - common_length(asked[::-1], prompt.ids[::-1])]
    start = common_length(old, new)
    runs = {tuple(old[at : at + LEAST_LOSS]) for at in range(start, len(old) - LEAST_LOSS + 1)}
    again: set[int] = set()
    for at in range(reused, len(new) - LEAST_LOSS + 1):
        if tuple(new[at : at + LEAST_LOSS]) in runs:
            again.update(range(at, at + LEAST_LOSS))
    return len(again)


def _lost_start(past: Past, prompt: Prompt, reused: int) -> int:
    """How many tokens of a new chat's system prompt are not reused, though another chat began with it, too."""
    is_shared = past.prompt.system_tokens > 0
    return max(0, prompt.system_tokens - reused - BLOCK_TOKENS) if is_shared else 0


def table(trials: Iterable[Trial]) -> str:
    """One row a template, and the sums."""
    rows = [("template", "prompts", *COLUMNS, "causes told")]
    sums: Counter[str] = Counter()
    right = 0
    for trial in trials:
        counts = Counter(column for column, _ in trial.found)
        sums.update(counts)
        right += not counts["ids"]
        causes = ", ".join(f"{cause} {count}" for cause, count in sorted(trial.causes.items()) if cause != "new")
        rows.append((trial.name, str(trial.prompts), *(str(counts[column]) for column in COLUMNS), causes))
    rows.append((f"all ({right} with ids right)", "", *(str(sums[column]) for column in COLUMNS), ""))
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main(arguments: Sequence[str]) -> int:
    """Print the table of a folder; 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.engine.real_templates", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the *.jinja files lie")
    parser.add_argument("--only", default="", help="templates with this in their names")
    parser.add_argument("-v", "--verbose", action="store_true", help="say what is wrong, and what was refused")
    options = parser.parse_args(arguments)
    files = [path for path in sorted(options.folder.glob("*.jinja")) if options.only in path.name]
    trials = [Trial(path.stem, path.read_text(encoding="utf-8-sig")).run() for path in files]
    for trial in trials if options.verbose else ():
        lines = [f"{column}: {what}" for column, what in trial.found]
        lines += [f"refused: {text}" for text in trial.refused] + [f"told: {text}" for text in trial.told]
        for line in lines:
            print(f"{trial.name}: {line}")
    print(table(trials))
    return int(any(trial.found for trial in trials))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
