"""The newest prompts are remembered: what was previewed is not built again when it is sent, and is the same prompt."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.models.loaded import LoadedModel
from engine.prompt.marks import AnswerFormat
from engine.prompt.template import PromptBuilder
from engine.turn.building import NEWEST, Building
from engine.types import Message, Request, Sampling, TemplateSettings
from tests.engine.turns import GREEDY

DAY = date(2026, 12, 2)
TEXTS = st.sampled_from(["", "Where is my parcel?", "Where is my parcel? ", "Hi", "Hi 7"])
REQUESTS = st.builds(
    Request,
    messages=st.builds(
        lambda system, question: (Message("system", system or "Be brief."), Message("user", question or "And?")),
        TEXTS,
        TEXTS,
    ),
    sampling=st.sampled_from([GREEDY, Sampling()]),
    conversation=st.sampled_from(["", "one", "two"]),
    day=st.sampled_from([None, DAY, date(2026, 1, 1)]),
    template=st.sampled_from([TemplateSettings(), TemplateSettings(system_place="question")]),
    begun=st.sampled_from([None, Message("assistant", "It is")]),
)
REQUEST = Request((Message("user", "Where is my parcel?"),), GREEDY, "one", day=DAY)


def make(model: LoadedModel) -> Building:
    return Building(PromptBuilder(model.tokenizer, model.vocabulary), AnswerFormat.of(model.tokenizer))


@pytest.fixture
def building(tiny: LoadedModel) -> Building:
    return make(tiny)


def built(building: Building, request: Request) -> object:
    return building.build(request, lambda: None)


@settings(deadline=None)
@given(asked=st.lists(REQUESTS, max_size=12))
def test_what_is_remembered_is_what_would_be_built(tiny: LoadedModel, asked: list[Request]) -> None:
    building = make(tiny)
    for request in asked:
        assert built(building, request) == make(tiny).now(request, request.template)


def test_what_was_previewed_is_not_built_again(building: Building) -> None:
    """Nor is it in a conversation that has its name since then, or with another sampling; but with another text."""
    first = built(building, REQUEST)
    assert built(building, replace(REQUEST, conversation="two", sampling=Sampling(temperature=1.0))) is first
    assert built(building, replace(REQUEST, messages=(Message("user", "Where is it?"),))) is not first
    assert built(building, REQUEST) is first
    building.forget()
    assert built(building, REQUEST) is not first


def test_only_the_newest_are_remembered(building: Building) -> None:
    first = built(building, REQUEST)
    for number in range(NEWEST):
        built(building, replace(REQUEST, messages=(Message("user", f"Case {number}"),)))
    assert built(building, REQUEST) is not first


def test_a_prompt_without_a_day_of_its_own_sees_what_day_it_is(building: Building) -> None:
    request = replace(REQUEST, day=None)
    assert built(building, request) is not built(building, request)
