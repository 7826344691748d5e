"""Anthropic's shape, asked by Anthropic's own client."""

from __future__ import annotations

import anthropic
import pytest

from engine import KeptStart, Message, ToolCall
from tests.app.fake_engine import FakeEngine, Script
from tests.app.server.conftest import Caller, Serve

ANSWER = "Hello from a fake."
TOOL = {"name": "find", "description": "Finds.", "input_schema": {"type": "object"}}
CALLED = Script(tokens=("Let", " me."), tool_calls=(ToolCall("find", '{"what": "parcel"}'),))
SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}


def text(words: str, **fields: object) -> dict[str, object]:
    return {"type": "text", "text": words, **fields}


def test_an_answer_comes_whole_and_its_usage_adds_up(caller: Caller) -> None:
    made = caller.message(system="Be brief.")
    assert ([block.text for block in made.content], made.stop_reason) == ([ANSWER], "end_turn")
    again = caller.message(system="Be brief.").usage
    assert (again.cache_read_input_tokens, again.input_tokens) == (made.usage.input_tokens - 1, 1)
    assert made.usage.cache_read_input_tokens == made.usage.cache_creation_input_tokens == 0


@pytest.mark.parametrize("script", [Script(), Script(thought=("Hm", "."), tokens=("Yes",)), CALLED])
def test_a_stream_makes_the_same_message(serve: Serve, script: Script) -> None:
    caller = serve(FakeEngine(script))
    whole = caller.message(tools=[TOOL])
    chat = [{"role": "user", "content": "Where is my parcel?"}]
    with caller.anthropic.messages.stream(model="default", max_tokens=20, messages=chat, tools=[TOOL]) as stream:
        streamed = stream.get_final_message()
    plain = [[block.model_dump(exclude={"id"}) for block in made.content] for made in (whole, streamed)]
    for block in plain[1]:
        block.pop("parsed_output", None)
    for block in plain[0]:
        block.pop("parsed_output", None)
    assert plain[0] == plain[1]
    assert streamed.stop_reason == whole.stop_reason
    assert streamed.usage.output_tokens == whole.usage.output_tokens


def test_a_tool_call_and_its_result_reach_the_engine(serve: Serve) -> None:
    caller = serve(FakeEngine(CALLED))
    made = caller.message(tools=[TOOL])
    (call,) = [block for block in made.content if block.type == "tool_use"]
    assert (call.name, call.input, made.stop_reason) == ("find", {"what": "parcel"}, "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id, "content": [text("Here.")]}
    caller.message(
        tools=[TOOL],
        messages=[
            {"role": "user", "content": "Where?"},
            {"role": "assistant", "content": [block.model_dump() for block in made.content]},
            {"role": "user", "content": [result, text("And now?")]},
        ],
    )
    asked = caller.engine.requests[-1].messages
    assert [message.role for message in asked] == ["user", "assistant", "tool", "user"]
    assert asked[1].tool_calls == (ToolCall("find", '{"what": "parcel"}', call.id),)
    assert asked[1].token_ids, "its own ids stand for an answer that comes back"
    assert asked[2] == Message("tool", "Here.", tool_call_id=call.id)


def test_breakpoints_keep_starts_of_the_prompt(caller: Caller) -> None:
    caller.message(
        tools=[{**TOOL, "cache_control": LONG}],
        system=[text("Be brief.", cache_control=SHORT)],
        messages=[
            {"role": "user", "content": "One"},
            {"role": "assistant", "content": "Two"},
            {"role": "user", "content": [text("Three", cache_control=SHORT)]},
        ],
    )
    assert caller.engine.requests[0].kept == (KeptStart(0, 3600.0), KeptStart(1, 300.0), KeptStart(4, 300.0))


def test_a_breakpoint_in_the_middle_of_a_message_keeps_what_is_before_it(caller: Caller) -> None:
    caller.message(
        system=[text("Rules.", cache_control=LONG), text("Today is Monday.")],
        messages=[
            {"role": "user", "content": [text("A book.", cache_control=SHORT), text("A question")]},
            {"role": "assistant", "content": [text("One", cache_control=SHORT), text("Two")]},
            {"role": "user", "content": "Three"},
        ],
    )
    assert caller.engine.requests[0].kept == (
        KeptStart(0, 3600.0, len("Rules.")),
        KeptStart(1, 300.0, len("A book.")),
        KeptStart(2, 300.0, len("One")),
    )


@pytest.mark.parametrize(
    ("choice", "must_call", "is_one"),
    [
        ({"type": "any"}, ("find",), False),
        ({"type": "tool", "name": "find", "disable_parallel_tool_use": True}, ("find",), True),
        ({"type": "auto", "disable_parallel_tool_use": True}, (), True),
    ],
)
def test_a_call_can_be_asked_for(
    caller: Caller, choice: dict[str, object], must_call: tuple[str, ...], is_one: bool
) -> None:
    caller.message(tools=[TOOL], tool_choice=choice)
    assert (caller.engine.requests[0].must_call, caller.engine.requests[0].one_call) == (must_call, is_one)


def test_an_answer_is_held_to_a_schema(caller: Caller) -> None:
    form = {"type": "json_schema", "schema": {"type": "object"}}
    caller.message(extra_body={"output_config": {"format": form}})
    assert caller.engine.requests[0].schema == '{"type": "object"}'


def test_more_than_four_breakpoints_are_refused(caller: Caller) -> None:
    with pytest.raises(anthropic.BadRequestError, match="up to 4 blocks"):
        caller.message(system=[text("x", cache_control=SHORT)] * 5)


def test_tokens_are_counted(caller: Caller) -> None:
    counted = caller.anthropic.messages.count_tokens(
        model="default", messages=[{"role": "user", "content": "Where is my parcel?"}]
    )
    assert counted.input_tokens == caller.message().usage.input_tokens


REFUSED = [
    ({"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]}, "no images"),
    ({"tool_choice": {"type": "any"}}, "there is none"),
    ({"tool_choice": {"type": "tool", "name": "x"}, "tools": [TOOL]}, "names x, which is none"),
    ({"extra_body": {"output_config": {"effort": "high"}}}, "output_config may have a format"),
    ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "no switch for thinking"),
    ({"extra_body": {"foo": 1}}, "foo is not known here"),
    ({"messages": [{"role": "user", "content": [{"type": "thinking", "thinking": "x", "signature": ""}]}]}, "belongs"),
]


@pytest.mark.parametrize(("fields", "sentence"), REFUSED)
def test_what_is_not_done_is_refused_in_its_own_shape(caller: Caller, fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=sentence) as raised:
        caller.message(**fields)
    assert raised.value.body["type"] == "error"  # type: ignore[index]
    assert caller.engine.requests == []


def test_a_failure_inside_a_stream_is_an_event_of_its_own(serve: Serve) -> None:
    caller = serve(FakeEngine(Script(fail_after=2)))
    with pytest.raises(anthropic.APIStatusError, match="told to fail"):
        list(caller.message(stream=True))
