"""How the chat template of a model writes the tools that an answer calls, so that an answer can be held to that.

A short conversation with a call is rendered, and what stands around the name of the tool and its arguments is the form.
Most templates write the arguments as one JSON object, others each by itself, between marks of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.prompt.handed import PROBE_NAME
from engine.prompt.marks import AnswerFormat, spelled
from engine.prompt.parts import AnswerReader
from engine.prompt.token_text import names_as_text
from engine.types import InvalidRequestError, Message, Tool, ToolCall

Write = Callable[[Sequence[Message]], str]
"""The text that the template makes of messages, with the tool `PROBE_NAME`. Raises InvalidRequestError."""

CALL_ID = "Zq7Xj9Wk2"
"""Stands for any id of a call in a form."""
ID_PATTERN = rf"[a-zA-Z0-9]{{{len(CALL_ID)}}}"
"""What a model writes in its place."""

_WORD = "Zqxj"
_ARGUMENTS = {"word": _WORD, "more": 7}
_NUMBER = 70707
_TEXT_FIRST = {"long": _WORD, "more": _NUMBER}
_TEXT_LAST = {"more": _NUMBER, "word": _WORD}
"""Arguments in the order of their names, in which some templates put them."""


def _shared_start(one: str, other: str) -> str:
    """What both texts begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((place for place, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))]


@dataclass(frozen=True, slots=True)
class ValueForm:
    """What stands between the name of an argument and its value (`middle`), and behind the value: before the name of
    the next one (`between`), and up to the end of the call (`closes`)."""

    middle: str
    between: str
    closes: str

    @property
    def ends(self) -> str:
        """What stands behind the value in both cases."""
        return _shared_start(self.between, self.closes)


@dataclass(frozen=True, slots=True)
class KeyedForm:
    """Arguments that are written one by one, `text` as it is and all `other` values as JSON. `empty` follows on the
    name of the tool where there are none."""

    text: ValueForm
    other: ValueForm
    empty: str

    @property
    def closes(self) -> str:
        """What stands at the end of a call, whichever value is its last."""
        return _shared_start(self.text.closes[::-1], self.other.closes[::-1])[::-1]


@dataclass(frozen=True, slots=True)
class CallForm:
    """One call is `opens`, the name, `middle`, the arguments as a JSON object, `closes`; where not `is_name_first`,
    name and arguments change places. Further calls follow behind `between`, which is None where an answer has one.
    `is_spaced`: the template writes blanks behind the commas and colons of arguments. Where arguments are `keyed`, they
    say themselves what closes the call."""

    opens: str
    middle: str
    closes: str
    between: str | None = None
    is_name_first: bool = True
    is_spaced: bool = True
    keyed: KeyedForm | None = None

    def written(self, name: str, arguments: Mapping[str, Any]) -> str:
        """A call with these arguments, text and other values."""
        if self.keyed is None:
            both = (name, json.dumps(arguments)) if self.is_name_first else (json.dumps(arguments), name)
            return self.middle.join(both).join((self.opens, self.closes))
        said, between = self.opens + name, self.middle
        for key, value in arguments.items():
            form = self.keyed.text if isinstance(value, str) else self.keyed.other
            said += between + key + form.middle + (value if isinstance(value, str) else json.dumps(value))
            between, closes = form.between, form.closes
        return said + (closes if arguments else self.keyed.empty)


class _Call(NamedTuple):
    """Where one call stands in a text: its name and its arguments."""

    name: tuple[int, int]
    arguments: tuple[int, int]

    @property
    def start(self) -> int:
        return min(self.name[0], self.arguments[0])

    @property
    def end(self) -> int:
        return max(self.name[1], self.arguments[1])


def find_call_form(write: Write, form: AnswerFormat, ends: Collection[str]) -> CallForm | None:
    """The form of calls: that of the template where it writes arguments as JSON or one by one, else JSON between the
    marks of a call. None where an answer in either would not be read as a call. `form` says how the parts of answers
    are marked, `ends` are the names of the tokens that end an answer."""
    with suppress(InvalidRequestError):
        asking = write([_ASKED])
        known = (_written(write, asking, form, ends), _keyed(write, asking, form, ends), *_between_marks(form))
        return next((one for one in known if one is not None and _is_read(one, asking, form)), None)
    return None


def _written(write: Write, asking: str, form: AnswerFormat, ends: Collection[str]) -> CallForm | None:
    """The form in which the template writes a call; None where it writes none, or its arguments not as JSON."""
    with suppress(InvalidRequestError):
        text = _answer(write(_chat(1)), asking, form, ends)
        calls = _calls(text)
        if len(calls) != 1:
            return None
        (call,) = calls
        is_name_first = call.name < call.arguments
        middle = text[call.name[1] : call.arguments[0]] if is_name_first else text[call.arguments[1] : call.name[0]]
        opens, closes = text[: call.start], text[call.end :]
        between = _between(write, asking, form, ends, opens, closes)
        is_spaced = ", " in text[slice(*call.arguments)]
        return CallForm(opens, middle, closes, between, is_name_first, is_spaced)
    return None


def _keyed(write: Write, asking: str, form: AnswerFormat, ends: Collection[str]) -> CallForm | None:
    """The form in which the template writes a call with its arguments one by one; None where it does not."""
    with suppress(InvalidRequestError):
        first, last, none = (
            _answer(write(_chat(1, arguments)), asking, form, ends) for arguments in (_TEXT_FIRST, _TEXT_LAST, {})
        )
        opens, _, empty = none.partition(PROBE_NAME)
        start = re.escape(opens + PROBE_NAME)
        text = re.fullmatch(f"{start}(.*?)long(.*?){_WORD}(.*?)more(.*?){_NUMBER}(.*)", first, re.DOTALL)
        other = re.fullmatch(f"{start}(.*?)more(.*?){_NUMBER}(.*?)word(.*?){_WORD}(.*)", last, re.DOTALL)
        if text is None or other is None or text[1] != other[1]:
            return None
        keyed = KeyedForm(ValueForm(text[2], text[3], other[5]), ValueForm(other[2], other[3], text[5]), empty)
        is_regular = (text[4], other[4]) == (other[2], text[2]) and keyed.text.ends.strip()
        return CallForm(opens, text[1], "", keyed=keyed) if is_regular else None
    return None


def _between_marks(form: AnswerFormat) -> Iterator[CallForm]:
    """JSON between each pair of marks that the model knows for calls."""
    for marks in form.marks:
        if marks.kind == "call" and marks.closes and not marks.per_tool and not marks.begins:
            opens, closes = names_as_text(marks.opens), names_as_text(marks.closes)
            yield CallForm(f'{opens}\n{{"name": "', '", "arguments": ', f"}}\n{closes}")


def _is_read(call: CallForm, asking: str, form: AnswerFormat) -> bool:
    """Whether an answer in this form is read as the call that it is, and as nothing else."""
    text = _end_of_thought(asking, form) + call.written(PROBE_NAME, _ARGUMENTS)
    special = sorted(form.names.values(), key=len, reverse=True)
    reader = AnswerReader(form, spelled(asking, special), (Tool(PROBE_NAME),))
    shown = [*reader.add(spelled(text, special)), *reader.finish()]
    read = [(each.name, json.loads(each.arguments)) for each in reader.calls]
    return read == [(PROBE_NAME, _ARGUMENTS)] and not any(part.text.strip() for part in shown if not part.is_thought)


def _end_of_thought(asking: str, form: AnswerFormat) -> str:
    """What closes the thought that a prompt opens, "" where it opens none."""
    thoughts = (marks for marks in form.marks if marks.kind == "thought")
    opened = (marks for marks in thoughts if asking.rstrip().endswith(names_as_text(marks.opens)))
    return next((names_as_text(marks.closes) for marks in opened), "")


_ASKED = Message("user", "So?")


def _chat(count: int, arguments: Mapping[str, Any] = _ARGUMENTS) -> list[Message]:
    """A question, and an answer with so many calls and what they returned."""
    calls = [ToolCall(PROBE_NAME, json.dumps(arguments), CALL_ID[:-1] + str(number)) for number in range(count)]
    return [
        _ASKED,
        Message("assistant", "", tool_calls=tuple(calls)),
        *(Message("tool", "It is.", tool_call_id=call.id) for call in calls),
    ]


def _answer(text: str, asking: str, form: AnswerFormat, ends: Collection[str]) -> str:
    """What the template writes of an answer behind that with which it asks for one, up to the token that ends it or the
    last mark that closes a call, and without a thought at its start. Raises InvalidRequestError where that is not
    found."""
    for marks in form.marks:
        opens, closes = names_as_text(marks.opens), names_as_text(marks.closes)
        if marks.kind == "thought" and (asking.rstrip().endswith(opens) or _ends_empty(asking, opens, closes)):
            asking = asking[: asking.rindex(opens)]
    if not text.startswith(asking):
        raise InvalidRequestError("an answer stands elsewhere than where it was asked for")
    answer = text[len(asking) :]
    for marks in form.marks:
        opens, closes = names_as_text(marks.opens), names_as_text(marks.closes)
        if marks.kind == "thought" and answer.lstrip().startswith((opens, closes)) and closes in answer:
            answer = answer.partition(closes)[2].lstrip()
    places = [place for name in ends if (place := answer.find(name)) >= 0]
    end = min(places) if places else max(_ends_of_calls(answer, form), default=-1)
    if end < 0:
        raise InvalidRequestError("nothing ends the answer")
    answer = answer[:end].rstrip()  # a blank line there is the template's own
    return answer.replace(CALL_ID[:-1] + "0", CALL_ID).replace(CALL_ID[:-1] + "1", CALL_ID)


def _ends_empty(asking: str, opens: str, closes: str) -> bool:
    """Whether a prompt ends with a thought in which nothing stands: answers in the history are written without it."""
    _, found, inside = asking.rpartition(opens)
    return bool(opens and closes and found) and inside.strip() == closes


def _ends_of_calls(answer: str, form: AnswerFormat) -> Iterator[int]:
    """Where the last call in an answer is closed that no token ends."""
    for marks in form.marks:
        closes = names_as_text(marks.closes)
        if marks.kind == "call" and closes and closes in answer:
            yield answer.rindex(closes) + len(closes)


def _calls(text: str) -> list[_Call]:
    """The calls in a text; none where a name or arguments are missing."""
    arguments, at = [], 0
    while (start := text.find("{", at)) >= 0:
        at = start + 1
        with suppress(ValueError):
            found, end = json.JSONDecoder().raw_decode(text, start)
            if found == _ARGUMENTS:
                arguments.append((start, end))
                at = end
    names = [found.span() for found in re.finditer(re.escape(PROBE_NAME), text)]
    return [_Call(*pair) for pair in zip(names, arguments, strict=True)] if len(names) == len(arguments) else []


def _between(
    write: Write, asking: str, form: AnswerFormat, ends: Collection[str], opens: str, closes: str
) -> str | None:
    """What stands between two calls of one answer; None where the template takes no two."""
    with suppress(InvalidRequestError):
        text = _answer(write(_chat(2)), asking, form, ends)
        calls = _calls(text)
        if len(calls) == 2 and text[: calls[0].start] == opens and text[calls[1].end :] == closes:
            return text[calls[0].end : calls[1].start]
    return None
