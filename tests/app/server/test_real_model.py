"""The whole way with the real small model: HTTP, the engine, the cache, and the clients that programs use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai
import pytest

from tests.app.server.conftest import Caller, real_caller

SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price. " * 8
GREEDY = {"temperature": 0, "max_completion_tokens": 8}


@pytest.fixture(scope="module")
def caller(default_model: Path) -> Iterator[Caller]:
    with real_caller(default_model, 10**9) as caller:
        yield caller


def chat(question: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]


def test_the_same_request_again_reads_nothing(caller: Caller) -> None:
    first = caller.chat(messages=chat("Where is my tent?"), **GREEDY)
    again = caller.chat(messages=chat("Where is my tent?"), **GREEDY)
    assert again.choices[0].message.content == first.choices[0].message.content
    assert again.usage.prompt_tokens_details.cached_tokens >= again.usage.prompt_tokens - 1
    assert again.usage.headstart["computed_tokens"] <= 1


def test_streamed_or_whole_it_is_the_same_answer_in_both_shapes(caller: Caller) -> None:
    whole = caller.chat(messages=chat("What is a tent?"), **GREEDY).choices[0].message.content
    stream = caller.chat(messages=chat("What is a tent?"), stream=True, **GREEDY)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == whole
    made = caller.anthropic.messages.create(
        model="default",
        max_tokens=8,
        system=SYSTEM,
        messages=chat("What is a tent?")[1:],
        extra_body={"temperature": 0},
    )
    assert made.content[0].text == whole
    assert made.usage.cache_read_input_tokens > 100


def test_breakpoints_are_pinned_and_add_up(caller: Caller) -> None:
    system = [{"type": "text", "text": "A rule for agents. " * 40, "cache_control": {"type": "ephemeral"}}]
    caller.http.delete("/v1/cache")
    question = [{"role": "user", "content": "Hello"}]
    first = caller.message(system=system, messages=question).usage
    again = caller.message(system=system, messages=[{"role": "user", "content": "Good morning"}]).usage
    assert first.cache_read_input_tokens == 0
    assert first.cache_creation_input_tokens > 100
    assert first.input_tokens > 0
    assert again.cache_creation_input_tokens < 16
    assert again.cache_read_input_tokens > 100
    assert caller.http.get("/v1/cache").json()["pinned_bytes"] > 0
    counted = caller.anthropic.messages.count_tokens(model="default", system=system, messages=question)
    total = first.input_tokens + first.cache_creation_input_tokens + first.cache_read_input_tokens
    assert counted.input_tokens == total


def test_another_salt_shares_nothing(caller: Caller) -> None:
    question = chat("Is this secret?")
    caller.chat(messages=question, **GREEDY)
    salted = [caller.chat(messages=question, extra_body={"cache_salt": salt}, **GREEDY) for salt in ("a", "b", "a")]
    first, second, again = (made.usage.prompt_tokens_details.cached_tokens for made in salted)
    assert first == second == 0
    assert again > 100
    assert {made.choices[0].message.content for made in salted} == {salted[0].choices[0].message.content}
    assert all(not made.usage.headstart["cold_is_measured"] or made is not salted[0] for made in salted[:0])


def test_scores_are_those_of_the_chosen_tokens(caller: Caller) -> None:
    made = caller.chat(messages=chat("Say yes."), logprobs=True, top_logprobs=3, **GREEDY)
    scores = made.choices[0].logprobs.content
    assert "".join(score.token for score in scores).startswith(made.choices[0].message.content)
    for score in scores:
        assert score.top_logprobs[0].logprob == max(best.logprob for best in score.top_logprobs)
        assert score.logprob <= score.top_logprobs[0].logprob <= 0


def test_a_text_is_gone_on_with_and_its_ids_make_the_same_prompt(caller: Caller) -> None:
    ids = caller.http.post("/tokenize", json={"prompt": "Once upon a time"}).json()["tokens"]
    made = [
        caller.openai.completions.create(model="default", prompt=prompt, temperature=0, max_tokens=6)
        for prompt in ("Once upon a time", ids)
    ]
    assert made[0].choices[0].text == made[1].choices[0].text
    assert made[0].usage.prompt_tokens == made[1].usage.prompt_tokens == len(ids)


def test_a_prompt_read_ahead_is_there(caller: Caller) -> None:
    messages = [{"role": "system", "content": "Count parcels. " * 60}, {"role": "user", "content": "One?"}]
    warmed = caller.http.post("/v1/cache/prewarm", json={"messages": messages}).json()
    usage = caller.chat(messages=messages, **GREEDY).usage
    assert usage.prompt_tokens_details.cached_tokens >= warmed["prompt_tokens"] - 1


def test_four_that_start_together_read_what_they_share_once(caller: Caller) -> None:
    caller.http.delete("/v1/cache")
    rules = "Agents share these rules. " * 100

    def ask(number: int) -> tuple[int, int]:
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": f"I am agent {number}."}]
        usage = caller.chat(messages=messages, user=f"agent {number}", **GREEDY).usage
        return usage.headstart["computed_tokens"], usage.prompt_tokens

    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(ask, range(4)))
    assert sum(computed for computed, _ in asked) < asked[0][1] + 3 * 64


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "tents": {"type": "integer", "minimum": 0, "maximum": 9},
    },
    "required": ["name", "tents"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("temperature", [0, 1.5])
def test_an_answer_keeps_to_a_schema_at_every_temperature(caller: Caller, temperature: float) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "tent", "schema": SCHEMA}}
    made = caller.chat("Tell me about a tent.", response_format=form, temperature=temperature, seed=1, max_tokens=200)
    assert made.choices[0].finish_reason == "stop"
    answer = json.loads(made.choices[0].message.content)
    assert set(answer) == {"name", "tents"}
    assert 0 <= answer["tents"] <= 9


def test_any_object_will_do_for_json_mode(caller: Caller) -> None:
    made = caller.chat("List.", response_format={"type": "json_object"}, temperature=0, max_tokens=30)
    assert made.choices[0].message.content.lstrip().startswith("{")


def test_a_schema_that_cannot_be_followed_is_refused(caller: Caller) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "foo"}}}
    with pytest.raises(openai.BadRequestError, match="cannot be followed"):
        caller.chat("x", response_format=form)
    assert caller.chat("x", **GREEDY).choices[0].message.content
