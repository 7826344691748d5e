"""From the messages of a chat to the token ids of a prompt, which stay the same from turn to turn.

The chat template is rendered twice: with the messages' texts, and with a frame around each of them. The second
rendering shows what belongs to the template, and with it the first one is cut into pieces. The ids that the model wrote
stand for its answers, every other piece is encoded from its text. So the next prompt begins with exactly the tokens
that are in the cache. Nothing else differs from what transformers' `apply_chat_template` makes of the same messages.
"""

from __future__ import annotations

import json
import logging
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any

from engine.prompt.call_form import CallForm, find_call_form
from engine.prompt.chat_template import ChatTemplate, Context
from engine.prompt.encoding import Encoder
from engine.prompt.framing import Framing, Rendered, first_tool
from engine.prompt.going_on import as_written
from engine.prompt.handed import ID_LENGTH, PROBE, PROBE_NAME, handed
from engine.prompt.marks import AnswerFormat
from engine.prompt.parts import AnswerReader
from engine.prompt.sent import (
    Sent,
    as_sent,
    filled,
    system_in_question,
    taking_turns,
    with_words,
    without_empty_answers,
    without_thoughts,
    without_tools,
)
from engine.prompt.special_tokens import ControlTokens
from engine.prompt.splicing import Answer, Splice, splice
from engine.prompt.switches import Switch
from engine.prompt.thoughts import parted
from engine.prompt.token_text import TokenText, names_as_text, readable
from engine.prompt.written import Written, locate, token_at
from engine.remembered import Remembered, size_of
from engine.types import (
    NOTHING_CHOSEN,
    InvalidRequestError,
    Message,
    Role,
    SystemPlace,
    TemplateSettings,
    TokenSpan,
    Tool,
    ToolCall,
)

NO_TEXT = "A message holds half of a character, which cannot be read. Delete it, or write the message anew."
NO_TOOLS = (
    "This model's chat template knows no tools. Send the request without them, or choose a model that was trained for "
    "tools, such as a Qwen3 or a Llama-3.1."
)
NO_TOOL_RESULTS = (
    "This model's chat template leaves out what tools returned. Put it into a question, or choose a model that was "
    "trained for tools, such as a Qwen3 or a Llama-3.1."
)
NO_SYSTEM = (
    "This model's chat template takes no system prompt. Delete it, or have it put in front of the first question."
)
LEFT_OUT = "This model's chat template leaves out one of the messages. Delete it, or choose another model."
SYSTEM_MOVED = "This model's chat template takes no system prompt, so it stands in front of the first question."
LATER_SYSTEM_MOVED = (
    "This model's chat template takes a system prompt at the start only, so a later one stands in front of a question."
)
EMPTY_LEFT_OUT = "An answer without a word, and its question, are not sent to the model again."
PART_LEFT_OUT = "This model's chat template leaves out a part of an earlier answer."
REMEMBERED_BYTES = 64_000_000
"""Memory for texts that were encoded, with their tokens; and a quarter as much each for answers that were looked
through and for renderings."""

OPENING_TOKENS = 32
"""At the end of a prompt, in which a template may open the thought."""

log = logging.getLogger("headstart")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as token ids. `spans` says where each message lies; one that the template left out has none.

    `notices` are sentences for the user on what became of the messages. `thoughts` holds the numbers of the answers
    whose thought is in the prompt. `tools_at` is the token at which the names of tools begin, -1 without any.
    `settings` are those with which the template was rendered. `has_own_text`: without a
    system prompt the template begins with a text of its own. The last `begun` tokens are of an answer that goes on.
    """

    ids: tuple[int, ...]
    spans: tuple[TokenSpan, ...]
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    notices: tuple[str, ...] = ()
    thoughts: frozenset[int] = frozenset()
    tools_at: int = -1
    settings: TemplateSettings = NOTHING_CHOSEN
    has_own_text: bool = False
    begun: int = 0

    def with_begun(self, ids: tuple[int, ...]) -> Prompt:
        """The prompt with the beginning of its answer behind it."""
        return replace(self, ids=self.ids + ids, begun=len(ids))

    @property
    def nbytes(self) -> int:
        """What its ids and texts take."""
        texts = sum(size_of((each.content, each.thought, each.token_ids)) for each in self.messages)
        calls = sum(size_of((call.name, call.arguments, call.id)) for each in self.messages for call in each.tool_calls)
        tools = sum(size_of((tool.name, tool.description, tool.parameters)) for tool in self.tools)
        return size_of(self.ids) + texts + calls + tools

    @property
    def asked(self) -> tuple[int, ...]:
        """The ids without those of the answer that goes on."""
        return self.ids[: len(self.ids) - self.begun]

    def end_of(self, messages: int, characters: int, decode: Callable[[Sequence[int]], str]) -> int:
        """Tokens from the start to the end of the first `messages` messages, and of the first `characters` of the next
        one, by the texts that `decode` gives for ids; to the end of that message where its text stands otherwise in
        the prompt. Templates write tools around the system prompt, so whole ones end together, at the later one."""
        if characters and (span := next((span for span in self.spans if span.message_index == messages), None)):
            return span.start + self._tokens_of(span, characters, decode)
        has_system = bool(self.spans) and self.spans[0].role == "system"
        if messages <= has_system and (messages or self.tools):
            return self.system_tokens
        return max((span.end for span in self.spans if span.message_index < messages), default=0)

    def _tokens_of(self, span: TokenSpan, characters: int, decode: Callable[[Sequence[int]], str]) -> int:
        """Whole tokens of a message that hold nothing behind its first `characters`."""
        ids, said = self.ids[span.start : span.end], self.messages[span.message_index].content[:characters].strip()
        at = decode(ids).find(said)
        if at < 0:
            return len(ids)
        return bisect_right(range(1, len(ids) + 1), at + len(said), key=lambda count: len(decode(ids[:count])))

    @property
    def system_tokens(self) -> int:
        """Tokens from the start to the end of the system prompt; with tools, or where the template writes a text of its
        own in its place, to where the first message of the chat begins; 0 where the prompt begins with neither."""
        has_system = bool(self.spans) and self.spans[0].role == "system"
        if self.tools or (self.has_own_text and not has_system):
            return next((span.start for span in self.spans[has_system:]), 0)
        return self.spans[0].end if has_system else 0


class PromptBuilder:
    """Builds prompts with one tokenizer (a transformers fast tokenizer) and its chat template.

    The model knows the tokens below `vocabulary`. Two threads may build at the same time.
    """

    def __init__(self, tokenizer: Any, vocabulary: int = sys.maxsize) -> None:
        self.tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._template = ChatTemplate(tokenizer, REMEMBERED_BYTES // 4)
        self._text = TokenText(tokenizer)
        self._changes_names: set[str] = set()
        self._asking: dict[tuple[object, ...], str] = {}
        self._control = ControlTokens(tokenizer, self._template.between_messages())
        self._encoder = Encoder(tokenizer, self._control, REMEMBERED_BYTES)
        self._locate = Remembered(self._located, REMEMBERED_BYTES // 4)
        self._token_at = Remembered(
            lambda ids, at: token_at(ids, self._read(ids), at, self._read), REMEMBERED_BYTES // 8
        )

    @property
    def nbytes(self) -> int:
        """What is remembered of texts that were encoded, rendered, and looked through."""
        remembered = (self._encoder, self._locate, self._template, self._token_at)
        return sum(one.nbytes for one in remembered)

    @property
    def thinking(self) -> tuple[str, ...]:
        """What the template lets one choose about thoughts."""
        return self._template.thinking

    @property
    def has_tools(self) -> bool:
        """Whether the template takes tools."""
        return self._template.has_tools

    def plain(self, message: Message) -> Prompt:
        """A prompt that is this message's ids, or else its text as the tokenizer reads it: without a template, and with
        special tokens where the text spells them out. Raises InvalidRequestError where it is no text."""
        _check_encodable([message], ())
        ids = message.token_ids or tuple(self.tokenizer(message.content).input_ids)
        return Prompt(ids, (TokenSpan(0, message.role, 0, len(ids)),) if ids else (), (message,))

    def build(
        self,
        messages: Sequence[Message],
        day: date | None = None,
        tools: Sequence[Tool] = (),
        settings: TemplateSettings = NOTHING_CHOSEN,
    ) -> Prompt:
        """The prompt that asks for the next answer. `day` is what a template that prints a date gets to see.

        Raises InvalidRequestError where the template refuses the messages, or leaves out one of them, or tools, or what
        these returned; where a text cannot be encoded, and where it knows no such `thinking`.
        """
        _check_encodable(messages, tools)
        now = datetime.combine(day, time(12)) if day else datetime.now()
        context = Context(now, self._described(tools), self._template.switch(settings.thinking))
        knows = self._template.form(has_tools=bool(context.tools)).has_marks
        chat = without_empty_answers(as_sent([parted(message, is_opened=knows) for message in messages]))
        notices = [EMPTY_LEFT_OUT] if len(chat) < len(messages) else []
        if context.switch.words:
            chat = with_words(chat, context.switch.words)
        rendered, moved = self._placed(chat, context, settings.system_place)
        notices += [moved] if moved else []
        notices += self._left_out(rendered, context)
        splices = self._splices(rendered, context, keep=settings.keep_thoughts)
        encoded = self._encoder.encoded(rendered, splices)
        return Prompt(
            ids=encoded.ids,
            spans=_spans(rendered, encoded.places),
            messages=tuple(messages),
            tools=tuple(tools),
            notices=tuple(notices),
            thoughts=frozenset(s.index for s in rendered.chat if s.message.thought and _is_kept(s, rendered, splices)),
            tools_at=encoded.tools_at,
            settings=settings,
            has_own_text=self._has_own_text(rendered),
        )

    def begun(
        self, answer: Message, form: AnswerFormat, asked_with: str, reader: AnswerReader | None
    ) -> tuple[int, ...]:
        """The ids of an answer that goes on: those that this model wrote, else those of its thought and its text, as
        this model would write them in its format `form` behind a prompt that ends with `asked_with`.

        Raises InvalidRequestError where it holds half of a character, or where `reader` would read it otherwise."""
        if own := self._own(answer):
            return own.ids
        _check_encodable([answer], ())
        ids: list[int] = []
        for text, is_mark in as_written(answer, form, asked_with, reader):
            if is_mark:
                ids += self.tokenizer(names_as_text(text), add_special_tokens=False).input_ids
            else:
                ids += self._encoder.encoded_alone(text)
        return tuple(ids)

    def asked_with(self, prompt: Prompt) -> str:
        """What the template writes behind the last message of a prompt, or the end of it, with special tokens as
        `as_control` writes them."""
        behind = prompt.spans[-1].end if prompt.spans else 0
        return self._text.spelled(prompt.asked[max(behind, len(prompt.asked) - OPENING_TOKENS) :])

    def call_form(self, form: AnswerFormat, ends: Collection[str]) -> CallForm | None:
        """How the template writes calls of tools; None where no answer can be held to that. `form` says how thoughts
        are marked, `ends` are the names of the tokens that end an answer."""
        taken, context = self._template.form(has_tools=True), Context(datetime(2025, 1, 1))

        def write(messages: Sequence[Message]) -> str:
            said = handed(as_sent(messages), taken, {}, lambda text, number: text)
            return self._template.render(said, (PROBE,), context)

        return find_call_form(write, form, ends) if taken.has_tools else None

    # what the template makes of the messages

    def _placed(self, chat: list[Sent], context: Context, place: SystemPlace) -> tuple[Rendered, str]:
        """The rendered prompt with its system prompts where the template takes them, and a sentence where one had to be
        moved."""
        refusal: InvalidRequestError | None = None
        for tried, notice in _places(chat, place):
            try:
                rendered = self._rendered(tried, context)
            except InvalidRequestError as error:
                refusal = refusal or error
                continue
            is_something = bool(rendered.text.strip())  # of nothing at all somebody else complains
            systems = [sent for sent in tried if sent.message.role == "system"]
            if is_something and any(2 * sent.index in rendered.left_out for sent in systems):
                continue
            if notice and place == "refuse":
                raise InvalidRequestError(NO_SYSTEM)
            return rendered, notice
        if refusal is None:
            raise InvalidRequestError(LEFT_OUT)
        raise self._refused(chat, context, refusal)

    def _rendered(self, chat: Sequence[Sent], context: Context) -> Rendered:
        """The rendered prompt, cut at the messages' texts; where the template treats framed texts otherwise, only at
        those that are not around that place."""
        written = {sent.index: own for sent in chat if (own := self._own(sent.message)) is not None}
        form, template = (
            self._template.form(has_tools=bool(context.tools)),
            self._template.source(has_tools=bool(context.tools)),
        )
        framing = Framing(chat, context.tools, written, self._control)
        if template in self._changes_names:
            framing.leave_names()
        found: Rendered | None = None
        while found is None:
            text = self._template.render(handed(chat, form, written, framing.plain), context.tools, context)
            framed: str | None = None
            with suppress(InvalidRequestError):  # it looks at names of tools, or at the length of a text
                said = handed(chat, form, written, framing.framed)
                framed = self._template.render(said, framing.framed_tools(), context)
            found = framing.cut(text, framed)
        if framing.has_bare_names:
            self._changes_names.add(template)
        return found

    def _left_out(self, rendered: Rendered, context: Context) -> list[str]:
        """Sentences on parts that the template left out. Raises InvalidRequestError where that is a whole message, or
        the tools."""
        if not rendered.text.strip():
            return []
        missing = {number // 2 for number in rendered.left_out if number % 2 == 0}
        roles = {sent.message.role for sent in rendered.chat for index, _ in sent.texts if index in missing}
        if (
            context.tools
            and any(n >= first_tool(rendered.chat) for n in rendered.left_out)
            and not self._shows_tools(rendered, context)
        ):
            raise InvalidRequestError(NO_TOOLS)
        if "tool" in roles:
            raise InvalidRequestError(NO_TOOL_RESULTS)
        if roles & {"user", "system"}:
            raise InvalidRequestError(LEFT_OUT)
        calls = [call.name for sent in rendered.chat for call in sent.message.tool_calls]
        text = rendered.text
        return [PART_LEFT_OUT] if "assistant" in roles or any(name not in text for name in calls) else []

    def _shows_tools(self, rendered: Rendered, context: Context) -> bool:
        form = self._template.form(has_tools=True)
        bare = handed(rendered.chat, form, rendered.written, lambda text, number: text)
        return self._template.render(bare, context.tools, context) != self._template.render(
            bare, (), replace(context, tools=())
        )

    def _refused(self, chat: list[Sent], context: Context, refusal: InvalidRequestError) -> InvalidRequestError:
        """A refusal that names the part without which the template takes the messages, and says it in its words."""
        trials = (
            ("Try without tools.", without_tools(chat), replace(context, tools=())),
            ("Try without a system prompt.", [s for s in chat if s.message.role != "system"], context),
            ("Write something into each message.", filled(chat), context),
            ("Let questions and answers take turns in it, a question first.", taking_turns(chat), context),
            ("Try without the thoughts of earlier answers.", without_thoughts(chat), context),
        )
        for advice, tried, changed in trials:
            if (tried, changed) != (chat, context) and tried:
                with suppress(InvalidRequestError):
                    self._rendered(tried, changed)
                    return InvalidRequestError(f"{refusal} {advice}", refusal.detail)
        return InvalidRequestError(f"{refusal} It says: {refusal.detail[:200]}", refusal.detail)

    # where what the model wrote stands for its text

    def _own(self, message: Message) -> Written | None:
        """What the model wrote for an answer; None where that is not known, or was another model."""
        ids = message.token_ids
        if message.role != "assistant" or not ids or max(ids) >= self._vocabulary:
            return None
        calls = tuple(call.name for call in message.tool_calls)
        found: Written | None = self._locate(ids, message.content, message.thought, calls)
        return found

    def _located(self, ids: tuple[int, ...], content: str, thought: str, calls: tuple[str, ...]) -> Written | None:
        text, template = self._read(ids), self._template.source(has_tools=True)
        if (found := locate(ids, text, thought, content, calls, template)) is not None:
            return found
        is_all = not thought and not calls and readable(self._text.marked(ids)).strip() == content.strip()
        return Written(ids, text, (0, 0), (0, len(text))) if is_all else None  # special tokens within it are not shown

    def _read(self, ids: tuple[int, ...]) -> str:
        """What ids say, special tokens by name, as it was shown."""
        return readable(self._text.with_special(ids))

    def _splices(self, rendered: Rendered, context: Context, *, keep: bool) -> dict[int, Splice]:
        """Where ids stand for the text, by the number of the answer."""
        found: dict[int, Splice] = {}
        for at, sent in enumerate(rendered.chat):
            if sent.index in rendered.written and (made := self._spliced(at, rendered, context, keep=keep)):
                found[sent.index] = made
        return found

    def _spliced(self, at: int, rendered: Rendered, context: Context, *, keep: bool) -> Splice | None:
        """How the ids of an answer stand for its text: the way in which most ids stand. What is kept whole stands
        behind what it was asked with."""
        if (answer := self._answer_at(at, rendered, context)) is None:
            return None
        best: Splice | None = None
        for asked in self._ways_to_ask(answer, rendered.chat[at - 1].message.role, context):
            made = splice(rendered.text, replace(answer, asked=asked), self._control.names, self._token_at, keep=keep)
            if made and (best is None or len(made.ids) > len(best.ids)):
                best = made
            if best and best.ids == answer.own.ids:
                break
        return best

    def _ways_to_ask(self, answer: Answer, role: str, context: Context) -> Iterator[str]:
        """The texts with which the template may have asked for an answer behind a message of this role, first that of
        the choice about thoughts that was made then."""
        switches = self._template.switches()
        then = switches.get(answer.message.thinking, Switch())
        if not answer.asked or then == context.switch:
            yield answer.asked
        for switch in [then, Switch(), *switches.values()] if answer.asked else ():
            yield self._asked_behind(role, replace(context, switch=switch))

    def _answer_at(self, at: int, rendered: Rendered, context: Context) -> Answer | None:
        """One answer in the rendered text, between the texts of other messages; None where its place is not known."""
        sent = rendered.chat[at]
        mine = rendered.of(sent)
        before = max((end for _, end in rendered.of(rendered.chat[at - 1])), default=-1) if at else -1
        if mine:
            known = bisect_right(rendered.ends, min(start for start, _ in mine))
            start = rendered.ends[known - 1] if known else 0
        elif before >= 0:
            start = before
        else:
            return None
        behind = bisect_left(rendered.starts, max([start, *(end for _, end in mine)]))
        end = rendered.starts[behind] if behind < len(rendered.starts) else len(rendered.text)
        asked = self._asked(rendered.chat[at - 1].message.role, rendered, context) if before == start else ""
        content, thought = (rendered.places.get(2 * sent.index + part) for part in (0, 1))
        return Answer(sent.message, rendered.written[sent.index], start, end, content, thought, asked)

    def _asked(self, role: str, rendered: Rendered, context: Context) -> str:
        """What the template writes behind a last message of this role, to ask for an answer; "" where that is not
        known."""
        last = rendered.chat[-1]
        ends = [end for _, end in rendered.of(last)]
        if last.message.role == role and ends:
            return rendered.text[max(ends) :]
        return self._asked_behind(role, context)

    def _asked_behind(self, role: str, context: Context) -> str:
        """The same for a short conversation."""
        key = (
            self._template.source(has_tools=bool(context.tools)),
            role,
            str(context.switch),
            bool(context.tools),
        )
        if key not in self._asking:
            self._asking[key] = self._asked_anew(role, context)
        return self._asking[key]

    def _asked_anew(self, role: str, context: Context) -> str:
        call = ToolCall(PROBE_NAME, "{}", "a" * ID_LENGTH)
        chats = {
            "user": [Message("user", "x")],
            "tool": [
                Message("user", "x"),
                Message("assistant", "", tool_calls=(call,)),
                Message("tool", "x", tool_call_id=call.id),
            ],
        }
        if role not in chats:
            return ""
        with suppress(InvalidRequestError):
            chat = as_sent(chats[role])
            chat = with_words(chat, context.switch.words) if context.switch.words else chat
            rendered = self._rendered(chat, context)
            place = rendered.places.get(2 * (len(chats[role]) - 1))
            return rendered.text[place[1] :] if place else ""
        return ""

    def _has_own_text(self, rendered: Rendered) -> bool:
        """Whether a prompt without a system prompt begins with a text of the template's own, besides what begins a
        question."""
        first = rendered.stretches[0].text
        between = self._template.between_messages()
        if not between or len(rendered.stretches) < 2 or rendered.chat[0].message.role != "user":
            return False
        return len(self._control.own_words(first, between[-1]).split()) > 1  # one may name the role

    def _described(self, tools: Sequence[Tool]) -> tuple[dict[str, Any], ...]:
        """Tools as chat templates expect them; special tokens that they spell out are broken up."""
        return tuple(
            {
                "type": "function",
                "function": {
                    "name": self._control.broken_up(tool.name),
                    "description": self._control.broken_up(tool.description),
                    "parameters": json.loads(self._control.broken_up(tool.parameters)),
                },
            }
            for tool in tools
        )


def _places(chat: list[Sent], place: SystemPlace) -> Iterator[tuple[list[Sent], str]]:
    """The orders of messages to try, with what to say where they are not as they were."""
    if place == "question":
        yield system_in_question(chat), ""
        return
    yield chat, ""
    systems = [number for number, sent in enumerate(chat) if sent.message.role == "system"]
    if systems[:1] == [0] and len(systems) > 1:
        yield system_in_question(chat, is_first_kept=True), LATER_SYSTEM_MOVED
    if systems:
        yield system_in_question(chat), SYSTEM_MOVED


def _spans(rendered: Rendered, places: Sequence[tuple[int, int, int]]) -> tuple[TokenSpan, ...]:
    """Where each message lies; of what was put together in one, the earlier ones are system prompts."""
    systems = [index for sent in rendered.chat for index, _ in sent.texts[:-1]]
    roles: dict[int, Role] = dict.fromkeys(systems, "system")
    roles |= {sent.index: sent.message.role for sent in rendered.chat}
    return tuple(TokenSpan(index, roles[index], start, end) for index, start, end in places)


def _is_kept(sent: Sent, rendered: Rendered, splices: Mapping[int, Splice]) -> bool:
    """Whether the thought of an answer is in the prompt."""
    own = splices.get(sent.index)
    return (own is not None and own.has_thought) or 2 * sent.index + 1 in rendered.places


def _check_encodable(messages: Sequence[Message], tools: Sequence[Tool]) -> None:
    """Raise InvalidRequestError where a string holds half of a character (a lone surrogate), which is no text."""
    texts = [text for message in messages for text in (message.role, message.content, message.thought)]
    texts += [text for message in messages for call in message.tool_calls for text in (call.name, call.arguments)]
    texts += [text for tool in tools for text in (tool.name, tool.description, tool.parameters)]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise InvalidRequestError(NO_TEXT, str(error)) from error
