"""OpenAI's shape, asked by OpenAI's own client."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest

from engine import Divergence, Message, ToolCall
from tests.app.fake_engine import FakeEngine, Script, many_tokens
from tests.app.server.conftest import Caller, Serve, post, until

ANSWER = "Hello from a fake."
TOOL = {"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": {"type": "object"}}}
CALLED = Script(tokens=(), tool_calls=(ToolCall("find", '{"what": "parcel"}'),))


def test_an_answer_comes_whole(caller: Caller) -> None:
    made = caller.chat()
    assert (made.choices[0].message.content, made.choices[0].finish_reason) == (ANSWER, "stop")
    assert made.usage.completion_tokens == 5
    assert made.usage.total_tokens == made.usage.prompt_tokens + 5


def test_cached_tokens_are_there_also_where_there_are_none(caller: Caller) -> None:
    first, second = caller.chat(), caller.chat()
    assert first.usage.prompt_tokens_details.cached_tokens == 0
    assert second.usage.prompt_tokens_details.cached_tokens == second.usage.prompt_tokens - 1
    assert second.usage.headstart["reused_tokens"] == second.usage.prompt_tokens_details.cached_tokens


def test_a_stream_brings_the_same_text_and_the_usage_last(caller: Caller) -> None:
    chunks = list(caller.chat(stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == ANSWER
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1] if chunk.choices[0].finish_reason] == ["stop"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == 5


def test_a_stream_without_usage_has_none(caller: Caller) -> None:
    assert all(chunk.usage is None for chunk in caller.chat(stream=True))


@pytest.mark.parametrize("stream", [False, True])
def test_several_choices_count_the_prompt_once(caller: Caller, stream: bool) -> None:
    one = caller.chat().usage.prompt_tokens
    if stream:
        chunks = list(caller.chat(n=3, stream=True, stream_options={"include_usage": True}))
        texts = ["", "", ""]
        for chunk in chunks[:-1]:
            texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
        usage = chunks[-1].usage
    else:
        made = caller.chat(n=3)
        texts, usage = [choice.message.content for choice in made.choices], made.usage
    assert texts == [ANSWER] * 3
    assert (usage.prompt_tokens, usage.completion_tokens) == (one, 15)


def test_what_a_request_asks_for_reaches_the_engine(caller: Caller) -> None:
    caller.chat(
        temperature=0.5,
        top_p=0.7,
        seed=9,
        stop=["END"],
        max_completion_tokens=7,
        user="editor",
        logprobs=True,
        top_logprobs=3,
        extra_body={"top_k": 4, "min_p": 0.1, "repetition_penalty": 1.2, "cache_salt": "mine"},
    )
    (asked,) = caller.engine.requests
    sampling = asked.sampling
    assert (sampling.temperature, sampling.top_p, sampling.seed, sampling.max_tokens) == (0.5, 0.7, 9, 7)
    assert (sampling.top_k, sampling.min_p, sampling.repetition_penalty) == (4, 0.1, 1.2)
    assert (asked.stop, asked.client, asked.salt, asked.scores) == (("END",), "editor", "mine", 3)
    assert not asked.pin_system


def test_without_wishes_a_model_samples_as_it_is(caller: Caller) -> None:
    caller.chat()
    sampling = caller.engine.requests[0].sampling
    assert (sampling.temperature, sampling.top_p, sampling.repetition_penalty) == (1.0, 1.0, 1.0)


def test_messages_of_every_role_reach_the_engine(caller: Caller) -> None:
    call = {"id": "abc", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    caller.chat(
        messages=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Where"}, {"type": "text", "text": " is it?"}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "abc", "content": "Here."},
        ],
        tools=[TOOL],
    )
    (asked,) = caller.engine.requests
    assert asked.messages == (
        Message("system", "Be brief."),
        Message("user", "Where is it?"),
        Message("assistant", "", tool_calls=(ToolCall("find", "{}", "abc"),)),
        Message("tool", "Here.", tool_call_id="abc"),
    )
    assert [tool.name for tool in asked.tools] == ["find"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_call_comes_in_openais_form(serve: Serve, stream: bool) -> None:
    caller = serve(FakeEngine(CALLED))
    if stream:
        chunks = list(caller.chat(tools=[TOOL], stream=True))
        (call,) = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
        reason = chunks[-1].choices[0].finish_reason
    else:
        choice = caller.chat(tools=[TOOL]).choices[0]
        (call,), reason = choice.message.tool_calls, choice.finish_reason
    assert (call.function.name, call.function.arguments, reason) == ("find", '{"what": "parcel"}', "tool_calls")
    assert call.id


def test_a_thought_stands_beside_the_answer(serve: Serve) -> None:
    caller = serve(FakeEngine(Script(thought=("Hm", "."))))
    assert caller.chat().choices[0].message.reasoning_content == "Hm."
    thought = [chunk.choices[0].delta.model_extra.get("reasoning_content") for chunk in caller.chat(stream=True)]
    assert "".join(filter(None, thought)) == "Hm."


def test_an_answer_that_comes_back_stands_for_its_own_ids(caller: Caller) -> None:
    caller.chat()
    caller.chat(
        messages=[
            {"role": "user", "content": "Where is my parcel?"},
            {"role": "assistant", "content": ANSWER},
            {"role": "user", "content": "And now?"},
        ]
    )
    assert len(caller.engine.requests[1].messages[1].token_ids) == 5


def test_another_salt_gets_no_ids(caller: Caller) -> None:
    caller.chat(extra_body={"cache_salt": "one"})
    chat = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": ANSWER},
        {"role": "user", "content": "y"},
    ]
    caller.chat(messages=chat, extra_body={"cache_salt": "two"})
    assert caller.engine.requests[1].messages[1].token_ids == ()


def test_the_usage_says_where_and_why_the_match_stopped(serve: Serve) -> None:
    parted = Divergence(17, 0, "date", "Monday", "Tuesday", 40)
    found = serve(FakeEngine(Script(divergence=parted))).chat().usage.headstart
    assert found["match"] == {
        "ended_at_token": 17,
        "message_index": 0,
        "cause": "date",
        "cached_text": "Monday",
        "new_text": "Tuesday",
        "tokens_read_again": 40,
    }
    assert abs(sum(found["ttft_parts_s"].values()) - found["ttft_s"]) < 1e-9


def test_a_text_is_gone_on_with_as_it_is(caller: Caller) -> None:
    made = caller.openai.completions.create(model="default", prompt=["Once", "Twice"], n=2)
    assert [choice.text for choice in made.choices] == [ANSWER] * 4
    assert all(request.is_plain for request in caller.engine.requests)
    pieces = caller.openai.completions.create(model="default", prompt=[1, 2, 3], stream=True)
    assert "".join(piece.choices[0].text for piece in pieces) == ANSWER
    assert caller.engine.requests[-1].messages[0].token_ids == (1, 2, 3)


CHOICES = [
    ({"tool_choice": "required"}, ("find", "look"), (), False),
    ({"tool_choice": {"type": "function", "function": {"name": "look"}}}, ("look",), (), False),
    (
        {
            "tool_choice": {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "find"}}]},
            }
        },
        ("find",),
        (),
        False,
    ),
    ({"tool_choice": "auto", "parallel_tool_calls": False}, (), ("look",), True),
]


def test_calls_can_be_left_to_some_of_the_tools(caller: Caller) -> None:
    """All of them stay in the prompt, so that it stays the same for the cache."""
    functions = [{"type": "function", "function": {"name": name}} for name in ("find", "look", "ask")]
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": functions[:2]}}
    caller.chat(tools=functions, tool_choice=allowed)
    flat = [{"type": "function", "name": name} for name in ("find", "look", "ask")]
    may = {"type": "allowed_tools", "mode": "auto", "tools": flat[:2]}
    caller.openai.responses.create(model="default", input="x", tools=flat, tool_choice=may)
    for asked in caller.engine.requests:
        assert (asked.may_call, asked.must_call, len(asked.tools)) == (("find", "look"), (), 3)
    with pytest.raises(openai.BadRequestError, match="none of the tools"):
        caller.chat(tools=functions[1:], tool_choice=allowed)


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_tools_that_are_named_twice_are_named_once(caller: Caller, mode: str) -> None:
    """And where all are allowed, nothing has to be held to."""
    functions = [{"type": "function", "function": {"name": name}} for name in ("find", "look")]
    for named in ([functions[0]] * 2, functions):
        allowed = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": named}}
        caller.chat(tools=functions, tool_choice=allowed)
    one, every = [(asked.may_call, asked.must_call) for asked in caller.engine.requests]
    assert one == ((("find",), ()) if mode == "auto" else ((), ("find",)))
    assert every == (((), ()) if mode == "auto" else ((), ("find", "look")))


def test_several_answers_with_the_largest_seed_there_is(caller: Caller) -> None:
    largest = 2**63 - 1
    caller.chat(n=2, seed=largest)
    caller.openai.completions.create(model="default", prompt="Once", n=2, seed=largest)
    assert [asked.sampling.seed for asked in caller.engine.requests] == [largest, 0] * 2


@pytest.mark.parametrize(("fields", "must_call", "held", "is_one"), CHOICES)
def test_a_call_can_be_asked_for(
    caller: Caller, fields: dict[str, object], must_call: tuple[str, ...], held: tuple[str, ...], is_one: bool
) -> None:
    strict = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}, "strict": True}}
    caller.chat(tools=[TOOL, strict], **fields)
    asked = caller.engine.requests[0]
    assert (asked.must_call, asked.held_calls, asked.one_call) == (must_call, held, is_one)


def test_penalties_and_a_bias_reach_the_engine(caller: Caller) -> None:
    fields = {"frequency_penalty": 0.5, "presence_penalty": -1, "logit_bias": {"7": -100, "9": 1.5}}
    caller.chat(**fields)
    caller.openai.completions.create(model="default", prompt="Once", **fields)
    for asked in caller.engine.requests:
        assert (asked.sampling.frequency_penalty, asked.sampling.presence_penalty) == (0.5, -1)
        assert asked.bias == ((7, -100.0), (9, 1.5))


def test_a_text_is_echoed_before_what_follows_it(caller: Caller) -> None:
    made = caller.openai.completions.create(model="default", prompt="Once", echo=True)
    assert made.choices[0].text == f"Once{ANSWER}"
    pieces = caller.openai.completions.create(model="default", prompt="Once", echo=True, stream=True)
    assert "".join(piece.choices[0].text for piece in pieces) == f"Once{ANSWER}"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"prompt": [1, 2], "echo": True}, "a prompt that is a text"),
        ({"prompt": "x", "echo": True, "logprobs": 1}, "without logprobs"),
        ({"prompt": "x", "suffix": "y"}, "fills no gaps"),
    ],
)
def test_what_completions_do_not_is_refused(caller: Caller, fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(openai.BadRequestError, match=sentence):
        caller.openai.completions.create(model="default", **fields)  # type: ignore[call-overload]


@pytest.mark.parametrize("given", ["Hi", [{"role": "user", "content": "Hi"}]])
def test_a_response_is_text(caller: Caller, given: str) -> None:
    made = caller.openai.responses.create(model="default", input=given, instructions="Be brief.")
    assert (made.output_text, made.status) == (ANSWER, "completed")
    assert made.usage.input_tokens_details.cached_tokens == 0
    assert caller.engine.requests[0].messages == (Message("system", "Be brief."), Message("user", "Hi"))


def test_a_response_streams_numbered_events(caller: Caller) -> None:
    events = list(caller.openai.responses.create(model="default", input="Hi", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == ANSWER
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")


RESPONSE_TOOL = {"type": "function", "name": "find", "parameters": {"type": "object"}, "strict": True}
CALLED_IN_RESPONSE = Script(thought=("Hm",), tokens=("Let me.",), tool_calls=(ToolCall("find", '{"what": "parcel"}'),))


def test_a_response_calls_tools_and_takes_what_they_return(serve: Serve) -> None:
    caller = serve(FakeEngine(CALLED_IN_RESPONSE))
    made = caller.openai.responses.create(model="default", input="Where?", tools=[RESPONSE_TOOL])
    thought, said, call = made.output
    assert (thought.type, said.type, call.type) == ("reasoning", "message", "function_call")
    assert (call.name, json.loads(call.arguments)) == ("find", {"what": "parcel"})
    back = [item.model_dump(exclude_none=True) for item in made.output]
    found = {"type": "function_call_output", "call_id": call.call_id, "output": "Here."}
    caller.openai.responses.create(
        model="default", input=[{"role": "user", "content": "Where?"}, *back, found], tools=[RESPONSE_TOOL]
    )
    asked = caller.engine.requests[1]
    assert [message.role for message in asked.messages] == ["user", "assistant", "tool"]
    answer = asked.messages[1]
    assert (answer.content, answer.thought, answer.tool_calls[0].id) == ("Let me.", "Hm", call.call_id)
    assert answer.token_ids, "its own ids stand for an answer that comes back"
    assert asked.held_calls == ("find",)


def test_a_response_that_calls_streams_the_same_items(serve: Serve) -> None:
    caller = serve(FakeEngine(CALLED_IN_RESPONSE))
    whole = caller.openai.responses.create(model="default", input="Where?", tools=[RESPONSE_TOOL])
    events = list(caller.openai.responses.create(model="default", input="Where?", tools=[RESPONSE_TOOL], stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    plain = [
        [item.model_dump(exclude={"id", "call_id"}) for item in made.output] for made in (whole, events[-1].response)
    ]
    assert plain[0] == plain[1]
    with caller.openai.responses.stream(model="default", input="Where?", tools=[RESPONSE_TOOL]) as stream:
        streamed = stream.get_final_response()
    assert [item.type for item in streamed.output] == ["reasoning", "message", "function_call"]


@pytest.mark.parametrize(
    ("choice", "must_call"),
    [
        ("required", ("find",)),
        ({"type": "function", "name": "find"}, ("find",)),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "find"}]},
            ("find",),
        ),
        ("auto", ()),
    ],
)
def test_a_response_can_be_made_to_call(caller: Caller, choice: object, must_call: tuple[str, ...]) -> None:
    caller.openai.responses.create(
        model="default", input="x", tools=[RESPONSE_TOOL], tool_choice=choice, parallel_tool_calls=False
    )
    assert (caller.engine.requests[0].must_call, caller.engine.requests[0].one_call) == (must_call, True)


def test_a_response_is_held_to_a_schema(caller: Caller) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for form, held in (
        ({"type": "json_schema", "name": "x", "schema": schema, "strict": True}, schema),
        ({"type": "json_object"}, {"type": "object"}),
    ):
        made = caller.openai.responses.create(model="default", input="x", text={"format": form})
        assert json.loads(caller.engine.requests[-1].schema) == held
        assert made.text.format.type == form["type"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "no images"),
        ({"tools": [{"type": "web_search"}]}, "Tools that run on a server are not there"),
        ({"tool_choice": "required"}, "there is none"),
        ({"text": {"format": {"type": "grammar"}}}, "text, json_object or json_schema"),
        ({"previous_response_id": "x"}, "Nothing is stored"),
    ],
)
def test_what_responses_do_not_is_refused(caller: Caller, fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(openai.BadRequestError, match=sentence):
        caller.openai.responses.create(model="default", **{"input": "x", **fields})  # type: ignore[call-overload]
    assert caller.engine.requests == []


def test_the_model_is_listed_and_no_other_answers(caller: Caller) -> None:
    assert [model.id for model in caller.openai.models.list()] == ["Fake-1M"]
    assert caller.openai.models.retrieve("Fake-1M").id == "Fake-1M"
    with pytest.raises(openai.NotFoundError, match="The model gpt-5 is not here"):
        caller.openai.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": "x"}])


REFUSED = [
    ({"logit_bias": {"x": 2}}, "logit_bias is an object of token ids"),
    ({"logit_bias": {"1": 200}}, "from -100 to 100"),
    ({"frequency_penalty": 3.0}, "maximum of 2"),
    ({"tool_choice": "required"}, "there is none"),
    ({"tool_choice": {"type": "function", "function": {"name": "x"}}, "tools": [TOOL]}, "names x, which is none"),
    ({"n": 99}, "maximum of 8"),
    ({"temperature": 3}, "maximum of 2"),
    ({"tools": [TOOL], "response_format": {"type": "json_object"}}, "calls no tools"),
    ({"store": True}, "Nothing is stored"),
    ({"reasoning_effort": "high"}, "no such switch"),
    ({"extra_body": {"foo": 1}}, "foo is not known here"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "images"),
    ({"messages": []}, "messages"),
]


@pytest.mark.parametrize(("fields", "sentence"), REFUSED)
def test_what_is_not_done_is_refused_in_a_sentence(caller: Caller, fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(openai.BadRequestError, match=sentence) as raised:
        caller.chat(**fields)
    assert raised.value.body["type"] == "invalid_request_error"  # type: ignore[index]
    assert caller.engine.requests == []


@pytest.mark.parametrize("stream", [False, True])
def test_what_the_engine_refuses_is_a_bad_request_without_details(serve: Serve, stream: bool) -> None:
    caller = serve(
        FakeEngine(Script(fail_after=-1, is_refused=True, detail="/home/me/secret.py", sentence="Too long."))
    )
    with pytest.raises(openai.BadRequestError, match="Too long") as raised:
        list(caller.chat(stream=stream))
    assert "secret" not in raised.value.response.text


def test_a_failure_inside_a_stream_is_its_last_piece(serve: Serve) -> None:
    caller = serve(FakeEngine(Script(fail_after=2)))
    with pytest.raises(openai.APIError, match="told to fail"):
        list(caller.chat(stream=True))


def test_fifty_at_once_are_all_answered(caller: Caller) -> None:
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda number: caller.chat(f"Question {number}"), range(50)))
    assert {made.choices[0].message.content for made in answers} == {ANSWER}


@pytest.mark.parametrize("stream", [False, True])
def test_a_caller_that_leaves_stops_the_request(serve: Serve, stream: bool) -> None:
    caller = serve(FakeEngine(Script(tokens=many_tokens(100_000)), tokens_per_poll=1))
    body = json.dumps({"model": "default", "messages": [{"role": "user", "content": "x"}], "stream": stream}).encode()
    with caller.connection() as connection:
        connection.sendall(post("/v1/chat/completions", body))
        if stream:
            assert b"200 OK" in connection.recv(1000)
        until(lambda: caller.engine.requests)
    until(lambda: caller.engine.cancelled)
    assert caller.chat(stream=True).response.status_code == 200
