"""Messages as chat templates take them: dictionaries in the form of transformers' `apply_chat_template`.

Not every template takes every part of a message. `Form` says what one does, found by trying: it renders short
conversations and looks which parts come out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

from engine.prompt.sent import Sent, as_sent
from engine.prompt.thoughts import CLOSES, in_marks
from engine.prompt.written import Written
from engine.types import InvalidRequestError, Message, Role, ToolCall

Render = Callable[[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], str]
"""The text of messages and tools. Raises InvalidRequestError where the template refuses them."""

Around = Callable[[str, int], str]
"""A text with the frame of this number around it: twice the number of its message, and one more for a thought."""

PROBE_NAME = "look_it_up"
PROBE = {
    "type": "function",
    "function": {
        "name": PROBE_NAME,
        "description": "Finds something.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string", "description": "It."}}},
    },
}
"""A tool, described as templates expect it, that stands for any in trials."""

_FIND = "Zqxj"
"""A word that no template writes."""

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""What templates call the thought of an answer."""
_FIELDS = re.compile(r"reasoning_content|\bm(?:sg|essage)?(?:\.|\[['\"]|\.get\(['\"])(?:thinking|reasoning)\b")
ID_LENGTH = 9
"""Mistral's templates refuse ids of tool calls of any other length."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a template takes. `as_parts`: roles whose content must be a list of parts, because a text would vanish.

    `thoughts` are taken as a "field" (`reasoning_content` and its other names), as a "part" of the content, or
    "inline", as the model wrote them. `is_text`: arguments of tool calls are taken as text. `is_short`: ids of tool
    calls have nine letters or digits. `has_tools`, `has_calls`: tools and calls come out at all. `has_marks`: the
    template knows the usual marks of thoughts.
    """

    as_parts: frozenset[Role] = frozenset()
    thoughts: Literal["field", "part", "inline"] = "inline"
    is_text: bool = False
    is_short: bool = False
    has_tools: bool = False
    has_calls: bool = False
    has_marks: bool = False


def find_form(template: str, render: Render) -> Form:
    """What the template takes, by trying."""
    form = Form(thoughts=_thoughts(template), has_marks=CLOSES in template)
    roles: tuple[Role, ...] = ("system", "user", "assistant")
    form = replace(form, as_parts=frozenset(role for role in roles if _needs_parts(role, form, render)))
    form = _with_calls(form, render)
    plain, tooled = (_tried(render, [Message("user", _FIND)], form, tools) for tools in ((), (PROBE,)))
    return replace(form, has_tools=tooled is not None and tooled != plain and PROBE_NAME in tooled)


def _thoughts(template: str) -> Literal["field", "part", "inline"]:
    if _FIELDS.search(template):
        return "field"
    return "part" if re.search(r"==\s*['\"]thinking['\"]", template) else "inline"


def _needs_parts(role: Role, form: Form, render: Render) -> bool:
    """Whether a content of this role is left out as a text, but not as a list of parts."""
    asked = Message("user", "So?")
    chats: dict[str, list[Message]] = {
        "system": [Message("system", _FIND), asked],
        "user": [Message("user", _FIND)],
        "assistant": [asked, Message("assistant", _FIND), asked],
    }
    as_text = _tried(render, chats[role], form)
    if as_text is not None and _FIND in as_text:
        return False
    as_parts = _tried(render, chats[role], replace(form, as_parts=frozenset({role})))
    return as_parts is not None and _FIND in as_parts


def _with_calls(form: Form, render: Render) -> Form:
    """How tool calls are taken: the first way in which they come out; as usual where all of them are refused."""

    def chat(length: int) -> list[Message]:
        call = ToolCall(PROBE_NAME, f'{{"word": "{_FIND}"}}', "a" * length)
        result = Message("tool", "It is.", tool_call_id=call.id)
        return [Message("user", "So?"), Message("assistant", "", tool_calls=(call,)), result]

    texts = []
    for is_text in (False, True):
        tried = replace(form, is_text=is_text, has_calls=True)
        texts.append(text := _tried(render, chat(ID_LENGTH), tried, (PROBE,)))
        if text is None or _FIND not in text or f"{{'word': '{_FIND}'" in text or f'\\"{_FIND}' in text:
            continue
        return replace(tried, is_short=_tried(render, chat(ID_LENGTH + 5), tried, (PROBE,)) is None)
    return replace(form, has_calls=texts == [None, None])


def _tried(
    render: Render, messages: Sequence[Message], form: Form, tools: Sequence[Mapping[str, Any]] = ()
) -> str | None:
    with suppress(InvalidRequestError):
        return render(handed(as_sent(messages), form, {}, lambda text, number: text), tools)
    return None


def handed(chat: Sequence[Sent], form: Form, written: Mapping[int, Written], around: Around) -> list[dict[str, Any]]:
    """The messages as a template of this form takes them, with frames around their texts. `written` holds what the
    model wrote, by the number of the answer."""
    names: dict[str, str] = {}
    made = []
    for sent in chat:
        message = sent.message
        said: dict[str, Any] = {"role": message.role, "content": _content(sent, form, written, around)}
        if message.thought and form.thoughts == "field":
            thought = around(message.thought, 2 * sent.index + 1)
            said |= dict.fromkeys(_THOUGHTS, thought)
        elif message.role == "assistant" and CLOSES in message.content and form.thoughts == "field":
            said |= dict.fromkeys(_THOUGHTS, "")  # said, so that the template looks for none in a text about such marks
        if message.tool_calls and form.has_calls:
            said["tool_calls"] = [
                _call(call, sent.index, number, form) for number, call in enumerate(message.tool_calls)
            ]
            names |= {call["id"]: call["function"]["name"] for call in said["tool_calls"]}
        if message.role == "tool":
            said |= _result(message, names, form)
        made.append(said)
    return made


def _result(message: Message, names: dict[str, str], form: Form) -> dict[str, str]:
    """Whose result a message is: by its id, or else of the oldest call that has none yet."""
    asked = _id(message.tool_call_id, form) if message.tool_call_id else next(iter(names), "")
    named = {"name": names.pop(asked)} if asked in names else {}
    return {**named, **({"tool_call_id": asked} if asked else {})}


def _call(call: ToolCall, index: int, number: int, form: Form) -> dict[str, Any]:
    arguments = call.arguments if form.is_text else _object(call.arguments)
    made = _id(call.id, form) if call.id else f"call{index:04d}{number}"[:ID_LENGTH]
    return {"type": "function", "id": made, "function": {"name": call.name, "arguments": arguments}}


def _object(arguments: str) -> Any:
    """Arguments as a JSON object; what is none stays the text it is."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _id(id: str, form: Form) -> str:
    if not form.is_short or (len(id) == ID_LENGTH and id.isalnum()):
        return id
    return sha256(id.encode()).hexdigest()[:ID_LENGTH]


def _content(sent: Sent, form: Form, written: Mapping[int, Written], around: Around) -> Any:
    message, text = sent.message, _text(sent, form, written, around)
    if message.thought and form.thoughts == "part":
        thought = {"type": "thinking", "thinking": around(message.thought, 2 * sent.index + 1)}
        return [thought, *([{"type": "text", "text": text}] if message.content else [])]
    return [{"type": "text", "text": text}] if message.role in form.as_parts else text


def _text(sent: Sent, form: Form, written: Mapping[int, Written], around: Around) -> str:
    """The content, with what the template has no field for as the model wrote it."""
    message, own = sent.message, written.get(sent.index)
    content = "".join(around(text, 2 * index) if index >= 0 else text for index, text in sent.texts)
    is_inline = bool(message.thought) and form.thoughts == "inline"
    has_calls = bool(message.tool_calls) and not form.has_calls
    if own is not None and (is_inline or has_calls):
        start, end = own.content
        core = around(own.text[start:end], 2 * sent.index) if end > start else ""
        thought = around(own.text[slice(*own.thought)], 2 * sent.index + 1) if is_inline else ""
        before = (
            own.text[: own.thought[0]] + thought + own.text[own.thought[1] : start] if is_inline else own.text[:start]
        )
        return before + core + (own.text[end:] if has_calls else "")
    if is_inline and form.has_marks:
        content = in_marks(around(message.thought, 2 * sent.index + 1), content)
    if has_calls:
        calls = [json.dumps({"name": call.name, "arguments": _object(call.arguments)}) for call in message.tool_calls]
        content = "\n".join([*([content] if content else []), *calls])
    return content
