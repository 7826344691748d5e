"""The newest prompts are remembered: what was previewed is not built again when it is sent, and is the same prompt."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.loaded import LoadedModel
from engine.prompt.marks import AnswerFormat
from engine.prompt.template import PromptBuilder
from engine.turn.building import REMEMBERED_BYTES, Building
from engine.types import Message, Request, Sampling, TemplateSettings
from tests.engine.chat_templates import LLAMA3
from tests.engine.tiny_models import make_tokenizer
from tests.engine.turns import GREEDY, SpyModel, make_responder

DAY = date(2026, 12, 2)
TEXTS = st.sampled_from(["", "Where is my parcel?", "Where is my parcel? ", "Hi", "Hi 7"])
REQUESTS = st.builds(
    Request,
    messages=st.builds(
        lambda system, question, answer: (
            Message("system", system or "Be brief."),
            Message("user", "Hi"),
            answer,
            Message("user", question or "And?"),
        ),
        TEXTS,
        TEXTS,
        st.sampled_from(
            [
                Message("assistant", "Yes."),
                Message("assistant", "Yes.", (7, 8)),
                Message("assistant", "Yes.", thought="So"),
            ]
        ),
    ),
    sampling=st.sampled_from([GREEDY, Sampling()]),
    conversation=st.sampled_from(["", "one", "two"]),
    day=st.sampled_from([None, DAY, date(2026, 1, 1)]),
    template=st.sampled_from([TemplateSettings(), TemplateSettings(system_place="question")]),
    begun=st.sampled_from([None, Message("assistant", "It is")]),
    salt=st.sampled_from(["", "mine"]),
)
REQUEST = Request((Message("user", "Where is my parcel?"),), GREEDY, "one", day=DAY)


TOKENIZER = make_tokenizer(LLAMA3)
"""With a template that prints the day."""


def make() -> Building:
    return Building(PromptBuilder(TOKENIZER), AnswerFormat.of(TOKENIZER))


@pytest.fixture
def building() -> Building:
    return make()


def built(building: Building, request: Request) -> object:
    return building.build(request, lambda: None)


@given(asked=st.lists(REQUESTS, min_size=1, max_size=12))
def test_what_is_remembered_is_what_would_be_built(asked: list[Request]) -> None:
    """Each is asked for twice, the second time behind all others: few of them differ in one thing only."""
    building, other = make(), make()
    for request in (*asked, *asked):
        assert built(building, request) == other.now(request, request.template)


@pytest.mark.parametrize(
    "change",
    [
        {"day": date(2026, 1, 1)},
        {"messages": (Message("user", "Where is it?"),)},
        {"messages": (Message("user", "Where is my parcel?", (1, 2)),)},
        {"is_plain": True},
        {"begun": Message("assistant", "It is")},
        {"salt": "mine"},
    ],
)
def test_another_prompt_is_built_for_another_request(building: Building, change: dict[str, object]) -> None:
    """By what it is made of; and nobody learns what others asked who are kept apart."""
    first = built(building, REQUEST)
    assert built(building, replace(REQUEST, **change)) is not first  # type: ignore[arg-type]
    assert built(building, REQUEST) is first


def test_what_was_previewed_is_not_built_again(building: Building) -> None:
    """Nor is it in a conversation that has its name since then, or with another sampling."""
    first = built(building, REQUEST)
    assert built(building, replace(REQUEST, conversation="two", sampling=Sampling(temperature=1.0))) is first


def test_those_that_nobody_asked_for_are_forgotten_first(building: Building) -> None:
    """The draft's stays where badges of many conversations are asked for meanwhile."""
    first = built(building, REQUEST)
    second = built(building, replace(REQUEST, messages=(Message("user", "Case"),)))
    thought = Message("assistant", "Yes.", thought="x" * (REMEMBERED_BYTES // 8))
    for number in range(8):
        asked = (Message("user", f"Case {number}"), thought, Message("user", "And?"))
        built(building, replace(REQUEST, messages=asked))
        assert built(building, REQUEST) is first
    assert built(building, replace(REQUEST, messages=(Message("user", "Case"),))) is not second


def test_what_is_remembered_has_a_bound_and_is_counted(building: Building) -> None:
    nothing = building.nbytes
    built(building, REQUEST)
    beside = building.builder.nbytes
    assert building.nbytes - beside > nothing
    thought = Message("assistant", "Yes.", thought="x" * (REMEMBERED_BYTES // 3))
    for number in range(4):
        asked = (Message("user", f"Case {number}"), thought, Message("user", "And?"))
        built(building, replace(REQUEST, messages=asked))
        assert building.nbytes - building.builder.nbytes <= REMEMBERED_BYTES


def test_a_prompt_without_a_day_of_its_own_sees_what_day_it_is(building: Building) -> None:
    request = replace(REQUEST, day=None)
    assert built(building, request) is not built(building, request)


@pytest.mark.parametrize("drop", ["forget", "clear"])
def test_prompts_of_a_conversation_go_with_it(tiny: LoadedModel, drop: str) -> None:
    responder = make_responder(SpyModel(tiny))
    request = replace(REQUEST, messages=(Message("user", "Where is my parcel? " * 3),))
    responder.preview(1, request)
    before = responder.view().overhead_bytes
    responder.forget("one") if drop == "forget" else responder.clear()
    assert responder.view().overhead_bytes < before
