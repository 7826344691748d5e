"""Calls of tools that are asked for over HTTP, with a model whose weights are random, and both clients."""

from __future__ import annotations

import json
from collections.abc import Iterator

import openai
import pytest

from app.server.access import Access
from app.server.listening import Server
from engine import Engine, Failed, Loaded, ModelSpec
from tests.app.server.conftest import Caller, until
from tests.engine.kinds_of_templates import THOUGHT_IN_LAST_TURN
from tests.engine.tiny_models import make_folder

SCHEMA = {
    "type": "object",
    "properties": {"place": {"enum": ["barn", "den"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["place", "days"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "camp", "parameters": SCHEMA}}


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    engine = Engine()
    folder = make_folder(tmp_path_factory.mktemp("tools"), template=THOUGHT_IN_LAST_TURN)
    loading = engine.load(ModelSpec(str(folder), cache_bytes=10**8))
    found: list[Loaded | Failed] = []

    def is_loaded() -> bool:
        found.extend(
            event for event in engine.poll() if event.request_id == loading and isinstance(event, Loaded | Failed)
        )
        return bool(found)

    until(is_loaded)
    assert isinstance(found[0], Loaded), found[0]
    caller = Caller(Server(engine.beside, Access(port=0), found[0].model), engine, "")
    yield caller
    caller.close()
    assert engine.close()


def check(name: str, arguments: object) -> None:
    assert name == "camp"
    assert isinstance(arguments, dict)
    assert arguments["place"] in ("barn", "den")
    assert 1 <= arguments["days"] <= 9


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "camp"}}])
def test_in_openais_shape(caller: Caller, choice: object) -> None:
    made = caller.chat(tools=[TOOL], tool_choice=choice, temperature=1.5, seed=1, parallel_tool_calls=False)
    (call,) = made.choices[0].message.tool_calls
    check(call.function.name, json.loads(call.function.arguments))
    assert made.choices[0].finish_reason == "tool_calls"


def test_in_a_response(caller: Caller) -> None:
    tool = {"type": "function", "name": "camp", "parameters": SCHEMA, "strict": True}
    made = caller.openai.responses.create(
        model="default", input="Where?", tools=[tool], tool_choice="required", parallel_tool_calls=False
    )
    (call,) = made.output
    check(call.name, json.loads(call.arguments))


def test_in_anthropics_shape(caller: Caller) -> None:
    tool = {"name": "camp", "input_schema": SCHEMA}
    choice = {"type": "tool", "name": "camp", "disable_parallel_tool_use": True}
    made = caller.anthropic.messages.create(
        model="default",
        max_tokens=100,
        messages=[{"role": "user", "content": "Where?"}],
        tools=[tool],
        tool_choice=choice,
    )
    (block,) = made.content
    check(block.name, block.input)
    assert made.stop_reason == "tool_use"


def test_a_bias_writes_one_token_and_no_other(caller: Caller) -> None:
    made = caller.chat(logit_bias={"40": 100}, max_tokens=5, temperature=1, logprobs=True)
    assert len({score.token for score in made.choices[0].logprobs.content}) == 1
    with pytest.raises(openai.BadRequestError, match="this model has"):
        caller.chat(logit_bias={"99999": 1})


def test_a_breakpoint_inside_a_message_counts_up_to_it(caller: Caller) -> None:
    rules = {"type": "text", "text": "Look at the map. " * 9, "cache_control": {"type": "ephemeral"}}
    system = [rules, {"type": "text", "text": "Be kind. " * 30}]
    caller.http.delete("/v1/cache")
    made = caller.message(system=system).usage
    whole = made.input_tokens + made.cache_creation_input_tokens + made.cache_read_input_tokens
    alone = caller.message(system=system[:1]).usage
    before = alone.cache_creation_input_tokens + alone.cache_read_input_tokens
    assert before - 2 <= made.cache_creation_input_tokens <= before < whole / 2
