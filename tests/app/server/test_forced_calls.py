"""Calls of tools that are asked for over HTTP, with a model whose weights are random, and both clients."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest

from tests.app.server.conftest import Caller, real_caller
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
    folder = make_folder(tmp_path_factory.mktemp("tools"), template=THOUGHT_IN_LAST_TURN)
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"max_position_embeddings": 1024', '"max_position_embeddings": 8192'))
    with real_caller(folder) as caller:
        yield caller


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


def test_four_agents_with_one_long_tool_list_read_it_once(caller: Caller) -> None:
    """They start together, and each asks something else."""
    caller.http.delete("/v1/cache")
    named = [{"name": f"tool_{number}", "description": "Finds a tent.", "parameters": SCHEMA} for number in range(13)]
    tools = [{"type": "function", "function": each} for each in named]

    def ask(number: int) -> tuple[int, int]:
        made = caller.chat(f"I am agent {number}.", tools=tools, user=f"agent {number}", max_tokens=4, temperature=0)
        return made.usage.headstart["computed_tokens"], made.usage.prompt_tokens

    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(ask, range(4)))
    assert asked[0][1] > 3000
    assert sum(computed for computed, _ in asked) < asked[0][1] + 3 * 64
