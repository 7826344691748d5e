"""What goes into the engine is checked when it is made: each wrong value is one sentence, never another error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.types import (
    InvalidRequestError,
    Message,
    ModelSpec,
    Request,
    Sampling,
    TemplateSettings,
    Tool,
    check_budget,
    check_disk_budget,
)

SWITCHES = ("use_cache", "pin_system", "record_margins", "keep_room")
QUESTION = Message("user", "Where?")
WRONG: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (Sampling, {"seed": 1.5}, r"seed be a whole number; it is 1\.5"),
    (Sampling, {"top_k": 2.5}, r"top-k be a whole number; it is 2\.5"),
    (Sampling, {"max_tokens": True}, "length be a whole number; it is True"),
    (Sampling, {"temperature": "warm"}, "temperature be a number; it is 'warm'"),
    (Sampling, {"temperature": None}, "temperature be a number; it is a NoneType"),
    (Sampling, {"seed": 10**5000}, "Set seed between .* more than 18 digits"),
    (Message, {"role": "king", "content": ""}, "'king' is none of them"),
    (Message, {"role": ["user"], "content": ""}, "a list is none of them"),
    (Message, {"role": "user", "content": None}, "the content of a message be text; it is a NoneType"),
    (Message, {"role": "user", "content": b"a"}, "the content of a message be text; it is b'a'"),
    (Message, {"role": "user", "content": ["a"]}, "the content of a message be text; it is a list"),
    (Message, {"role": "assistant", "content": "", "token_ids": (-1,)}, "Token ids lie between 0 and"),
    (Message, {"role": "assistant", "content": "", "token_ids": (2**40,)}, "Token ids lie between 0 and"),
    (Message, {"role": "assistant", "content": "", "token_ids": (1, True)}, "be a whole number; it is True"),
    (Message, {"role": "assistant", "content": "", "token_ids": (1.0,)}, "be a whole number; it is 1"),
    (Message, {"role": "assistant", "content": "", "token_ids": 7}, "token ids of a message be a tuple; it is 7"),
    (Tool, {"name": 7}, "the name of a tool be text"),
    (Tool, {"name": "find", "description": None}, "the description of a tool be text"),
    (Tool, {"name": "find", "parameters": {}}, "are no JSON"),
    (Request, {"messages": (QUESTION,), "template": "off"}, "the template settings of a request"),
    (TemplateSettings, {"thinking": 7}, "the thinking of a request be text"),
    (TemplateSettings, {"keep_thoughts": "no"}, "keep_thoughts of a request be True or False; it is 'no'"),
    (TemplateSettings, {"system_place": "attic"}, "Choose a place for the system prompt among auto, question, refuse"),
    (Request, {"messages": (QUESTION,), "stop": "abc"}, "the stop of a request be a tuple; it is 'abc'"),
    (Request, {"messages": (QUESTION,), "stop": (b"a",)}, "each of the stop of a request be text"),
    (Request, {"messages": ("Where?",)}, "each of the messages of a request be a Message"),
    (Request, {"messages": QUESTION}, "the messages of a request be a tuple; it is a Message"),
    (Request, {"messages": (QUESTION,), "sampling": None}, "be a Sampling; it is a NoneType"),
    (Request, {"messages": (QUESTION,), "tools": ("find",)}, "each of the tools of a request be a Tool"),
    (Request, {"messages": (QUESTION,), "day": "today"}, "the day of a request be a date"),
    (Request, {"messages": (QUESTION,), "conversation": 7}, "the conversation of a request be text"),
    (ModelSpec, {"device": "tpu"}, "Choose a device among .* 'tpu' is none"),
    (ModelSpec, {"dtype": ["fp32"]}, "Choose a number type among .* a list is none"),
    (ModelSpec, {"path": None}, "the path of a model be text"),
    (ModelSpec, {"cache_bytes": "1 GB"}, "the cache budget be a number"),
    (check_budget, {"nbytes": float("nan")}, "Set the cache budget between"),
    (check_disk_budget, {"nbytes": float("nan")}, "Set what is kept on disk"),
]


@pytest.mark.parametrize(("make", "values", "words"), WRONG)
def test_a_value_of_the_wrong_kind_is_a_sentence(make: Callable[..., Any], values: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRequestError, match=words):
        make(**values)


def test_lists_are_kept_as_tuples() -> None:
    request = Request([QUESTION], stop=["."])  # type: ignore[arg-type]
    assert (request.messages, request.stop) == ((QUESTION,), (".",))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
FIELDS = [
    *[(Sampling, name) for name in Sampling.__dataclass_fields__],
    *[(Message, name) for name in Message.__dataclass_fields__],
    *[(Tool, name) for name in Tool.__dataclass_fields__],
    *[(TemplateSettings, name) for name in TemplateSettings.__dataclass_fields__],
    *[(Request, name) for name in Request.__dataclass_fields__],
    *[(ModelSpec, name) for name in ModelSpec.__dataclass_fields__],
]
NEEDED: dict[type, dict[str, Any]] = {
    Message: {"role": "user", "content": ""},
    Tool: {"name": "find"},
    Request: {"messages": (QUESTION,)},
}


@pytest.mark.parametrize(("kind", "name"), FIELDS)
@given(value=anything)
def test_any_value_is_taken_or_refused(kind: type, name: str, value: object) -> None:
    with contextlib.suppress(InvalidRequestError):
        kind(**{**NEEDED.get(kind, {}), name: value})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        *((name, "no", f"Let {name} of a request be True or False; it is 'no'.") for name in SWITCHES),
        ("keep_room", 1, "Let keep_room of a request be True or False; it is 1."),
        ("asked_at", "now", "Let asked_at of a request be a number; it is 'now'."),
    ],
)
def test_a_switch_or_a_time_of_another_kind_is_refused(name: str, value: object, said: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        Request((QUESTION,), **{name: value})  # type: ignore[arg-type]
    assert str(caught.value) == said
