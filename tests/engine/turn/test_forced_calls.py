"""Answers that are held to calls of tools, by a model that would write anything: its weights are random."""

from __future__ import annotations

import json
from collections.abc import Sequence

import jsonschema
import pytest
from tokenizers import AddedToken

from engine.events import Finished
from engine.models.from_transformers import TransformersNetwork
from engine.models.loaded import LoadedModel
from engine.prompt.call_form import CallForm
from engine.prompt.ends import template_ends
from engine.prompt.marks import AnswerFormat
from engine.prompt.template import PromptBuilder
from engine.turn.responder import Responder
from engine.types import HeadstartError, InvalidRequestError, Message, Request, Sampling, Tool
from tests.engine.chat_templates import CHATML, HARMONY, HERMES_TOOLS
from tests.engine.kinds_of_templates import (
    CALLS_LEFT_OUT,
    EMPTY_THOUGHT,
    KINDS_OF_ARGUMENTS,
    MARKED_TEXTS,
    OPENED_ANSWER,
    SHORT_IDS,
    TAGGED_ARGUMENTS,
    THOUGHT_IN_LAST_TURN,
)
from tests.engine.prompt.test_ends import HARMONY_TOKENS
from tests.engine.tiny_models import make_llama, make_tokenizer
from tests.engine.turns import Scripted, finish, make_responder

OPENS_THOUGHT = THOUGHT_IN_LAST_TURN.replace("assistant\n' }}{% endif", "assistant\n<think>\n' }}{% endif")
TRACK = Tool(
    "track",
    parameters=json.dumps(
        {
            "type": "object",
            "properties": {"number": {"type": "integer", "minimum": 0, "maximum": 99}, "fast": {"type": "boolean"}},
            "required": ["number", "fast"],
            "additionalProperties": False,
        }
    ),
)
PRICE = Tool(
    "price",
    parameters='{"type": "object", "properties": {"of": {"enum": ["tent", "stove"]}}, "required": ["of"], '
    '"additionalProperties": false}',
)
TOOLS = (PRICE, TRACK)
BY_NAME = {tool.name: tool for tool in TOOLS}

KEYED = {
    "tagged arguments": (TAGGED_ARGUMENTS, "<|im_end|>", ()),
    "kinds of arguments": (KINDS_OF_ARGUMENTS, "<|im_end|>", ()),
    "marked texts": (MARKED_TEXTS, "<|im_end|>", ("<|tool_call>", "<tool_call|>", '<|"|>')),
    "arguments in tags of one token": (TAGGED_ARGUMENTS, "<|im_end|>", (), ("<tool_call>", "</tool_call>")),
}
TEMPLATES = {
    "calls in tags": (THOUGHT_IN_LAST_TURN, "<|im_end|>", ("<tool_call>", "</tool_call>")),
    "calls in tags of one token": (THOUGHT_IN_LAST_TURN, "<|im_end|>", (), ("<tool_call>", "</tool_call>")),
    "empty thought": (EMPTY_THOUGHT, "<|im_end|>", ()),
    "opens the thought": (OPENS_THOUGHT, "<|im_end|>", ()),
    "calls left out": (HERMES_TOOLS, "<|im_end|>", ()),
    "tools as text": (OPENED_ANSWER, "<|im_end|>", ()),
    "to the end": (SHORT_IDS, "</s>", ("[TOOL_CALLS]",)),
    "channels": (HARMONY, "<|call|>", HARMONY_TOKENS),
    **KEYED,
}


def random_responder(template: str, end: str, special: Sequence[str], added: Sequence[str] = ()) -> Responder:
    """A model that writes anything, with a chat template that takes tools. Of its tokens `special` ones stand for no
    text; those that were `added` are texts, but one token each, as many families have the marks of calls."""
    tokenizer = make_tokenizer(template, end)
    tokenizer.add_special_tokens({"additional_special_tokens": [AddedToken(name, special=True) for name in special]})
    tokenizer.add_tokens([AddedToken(name, special=False) for name in added])
    return make_responder(LoadedModel(TransformersNetwork(make_llama(400)), tokenizer, "/nowhere/random"))


def ask(responder: Responder, seed: int = 0, temperature: float = 2.0, **changes: object) -> Finished:
    sampling = Sampling(temperature, top_p=1.0, repetition_penalty=1.0, seed=seed, max_tokens=400)
    request = Request((Message("user", "Where is it?"),), sampling, tools=TOOLS, **changes)  # type: ignore[arg-type]
    return finish(responder, request)[1]


def check(finished: Finished, names: Sequence[str]) -> None:
    """Its calls are of these tools, and their arguments fit."""
    for call in finished.tool_calls:
        assert call.name in names
        jsonschema.validate(json.loads(BY_NAME[call.name].parameters), json.loads(call.arguments))


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("names", [("track",), ("price", "track")])
def test_a_call_that_must_come_comes_and_fits(name: str, names: tuple[str, ...]) -> None:
    responder = random_responder(*TEMPLATES[name])
    for seed in range(3):
        made = ask(responder, seed, must_call=names, one_call=True)
        if made.reason == "length":  # a thought that the prompt opened is as long as it likes
            assert made.thought
            continue
        assert (len(made.tool_calls), made.text, made.reason) == (1, "", "end")
        check(made, names)


def test_an_end_that_the_tokenizer_has_no_token_for_ends_no_call() -> None:
    """Configurations name such ones: tokens that were planned, or are those of the model that this one was made of."""
    llama = make_llama(400)
    llama.config.eos_token_id = 399
    tokenizer = make_tokenizer(HERMES_TOOLS)
    responder = make_responder(LoadedModel(TransformersNetwork(llama), tokenizer, "/nowhere/random"))
    assert 399 in responder.end_ids
    made = ask(responder, must_call=("track",), one_call=True)
    assert len(made.tool_calls) == 1
    check(made, ("track",))


def test_several_calls_may_come_where_the_template_writes_several() -> None:
    responder = random_responder(*TEMPLATES["calls in tags"])
    made = [ask(responder, seed, must_call=("price",)) for seed in range(20)]
    for each in made:
        check(each, ("price",))
    assert {len(each.tool_calls) > 1 for each in made if each.reason == "end"} == {False, True}


def test_behind_a_thought_that_the_prompt_opened_comes_the_call() -> None:
    """The thought is free, but it does not end the answer."""
    responder = random_responder(*TEMPLATES["opens the thought"])
    tokenizer = responder.model.tokenizer
    thought = tokenizer("Hm</think>", add_special_tokens=False).input_ids
    scripted = Scripted(responder.model, [tokenizer.eos_token_id] * 500)  # type: ignore[arg-type]
    scripted.script = [*thought, *[tokenizer.eos_token_id] * 500]
    made = ask(make_responder(scripted), temperature=0.0, must_call=("price",))
    assert (made.thought, made.reason) == ("Hm", "end")
    assert [call.name for call in made.tool_calls] == ["price"]


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_tag_that_is_one_token_is_held_however_it_is_written(is_whole: bool) -> None:
    """By that token, or letter by letter."""
    responder = random_responder(*TEMPLATES["calls in tags of one token"])
    tokenizer = responder.model.tokenizer
    opens = tokenizer("I look.\n<tool_call>", add_special_tokens=False).input_ids
    if not is_whole:
        letters = [tokenizer(letter, add_special_tokens=False).input_ids for letter in "<tool_call>"]
        opens = [*opens[:-1], *(token for ids in letters for token in ids)]
    scripted = Scripted(responder.model, [*opens, *[5] * 500])  # type: ignore[arg-type]
    made = ask(make_responder(scripted), temperature=0.0, held_calls=("track", "price"), one_call=True)
    assert (made.text, len(made.tool_calls)) == ("I look.", 1)
    check(made, ("track", "price"))


def test_a_strict_tool_leaves_text_free_and_holds_its_calls() -> None:
    responder = random_responder(*TEMPLATES["calls in tags"])
    tokenizer = responder.model.tokenizer
    opens = tokenizer("I look.\n<tool_call>", add_special_tokens=False).input_ids
    scripted = Scripted(responder.model, [*opens, *[5] * 500])  # type: ignore[arg-type]
    made = ask(make_responder(scripted), temperature=0.0, held_calls=("track", "price"), one_call=True)
    assert made.text == "I look."
    assert len(made.tool_calls) == 1
    check(made, ("track", "price"))
    plain = tokenizer("Just text, [and] <b> that is all.", add_special_tokens=False).input_ids
    scripted = Scripted(responder.model, [*plain, *[tokenizer.eos_token_id] * 9])  # type: ignore[arg-type]
    said = ask(make_responder(scripted), temperature=0.0, held_calls=("track",))
    assert said.text == "Just text, [and] <b> that is all."
    assert said.token_ids == tuple(plain)


@pytest.mark.parametrize("name", KEYED)
def test_where_arguments_stand_one_by_one_texts_are_free_and_all_else_fits(name: str) -> None:
    """The model writes a text of its own and ends it; what is not required may be left out."""
    responder = random_responder(*KEYED[name])
    tokenizer = responder.model.tokenizer
    form = AnswerFormat.of(tokenizer)
    found = PromptBuilder(tokenizer).call_form(form, ["<|im_end|>"])
    assert found is not None
    assert found.keyed is not None
    schema = {
        "note": {"type": "string"},
        "size": {"type": "integer"},
        "tags": {"type": "array", "items": {"enum": ["a"]}},
    }
    tool = Tool("keep", parameters=json.dumps({"type": "object", "properties": schema, "required": ["note"]}))
    for arguments in ({"note": 'A "big" <tent>,\n{7}'}, {"note": "7", "size": 7}, {"note": "x", "tags": ["a", "a"]}):
        script = tokenizer(found.written("keep", arguments), add_special_tokens=False).input_ids
        scripted = Scripted(responder.model, [*script, *[tokenizer.eos_token_id] * 400])  # type: ignore[arg-type]
        sampling = Sampling(0.0, repetition_penalty=1.0, max_tokens=400)
        asked = Request((Message("user", "x"),), sampling, tools=(tool,), must_call=("keep",))
        (call,) = finish(make_responder(scripted), asked)[1].tool_calls
        assert json.loads(call.arguments) == arguments


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize(
    "arguments", [{"note": "x"}, {"size": 7}, {"note": "x", "size": 7}, {"size": 7, "note": "x"}, {}]
)
def test_where_arguments_stand_one_by_one_an_allowed_call_is_what_the_model_writes(
    name: str, arguments: dict[str, object]
) -> None:
    """Whichever of them is the last, what only may be called is not held to its parameters."""
    responder = random_responder(*KEYED[name])
    tokenizer = responder.model.tokenizer
    found = PromptBuilder(tokenizer).call_form(AnswerFormat.of(tokenizer), ["<|im_end|>"])
    assert found is not None
    properties = {"note": {"type": "string"}, "size": {"type": "integer"}}
    tool = Tool("keep", parameters=json.dumps({"type": "object", "properties": properties}))
    script = tokenizer(found.written("keep", arguments), add_special_tokens=False).input_ids
    scripted = Scripted(responder.model, [*script, *[tokenizer.eos_token_id] * 400])  # type: ignore[arg-type]
    sampling = Sampling(0.0, repetition_penalty=1.0, max_tokens=400)
    asked = Request((Message("user", "x"),), sampling, tools=(tool, PRICE), may_call=("keep",))
    made = finish(make_responder(scripted), asked)[1]
    assert [(call.name, json.loads(call.arguments)) for call in made.tool_calls] == [("keep", arguments)]
    assert made.reason == "end"


@pytest.mark.parametrize("name", KEYED)
def test_names_of_arguments_may_be_any(name: str) -> None:
    """What is written is read as it was meant."""
    responder = random_responder(*KEYED[name])
    keys = ("my key", "größe", "x-y", "1st", "a.b", "$c")
    schema = {"type": "object", "properties": {key: {"enum": [7, True]} for key in keys}, "required": list(keys)}
    tool = Tool("keep", parameters=json.dumps(schema))
    sampling = Sampling(2.0, top_p=1.0, repetition_penalty=1.0, seed=3, max_tokens=400)
    asked = Request((Message("user", "x"),), sampling, tools=(tool,), must_call=("keep",))
    (call,) = finish(responder, asked)[1].tool_calls
    assert set(json.loads(call.arguments)) == set(keys)


@pytest.mark.parametrize("text", [{"type": "string", "pattern": "a+"}, {"type": "string", "maxLength": 3}])
def test_what_a_text_as_it_is_cannot_be_held_to_is_refused(text: dict[str, object]) -> None:
    responder = random_responder(*KEYED["tagged arguments"])
    tool = Tool("odd", parameters=json.dumps({"type": "object", "properties": {"x": text}}))
    with pytest.raises(InvalidRequestError, match="writes texts as they are"):
        finish(responder, Request((Message("user", "x"),), tools=(tool,), must_call=("odd",)))


def test_only_what_may_be_called_is_called_and_text_stays_free() -> None:
    responder = random_responder(*TEMPLATES["calls in tags"])
    tokenizer = responder.model.tokenizer
    opens = tokenizer('I look.\n<tool_call>\n{"name": "', add_special_tokens=False).input_ids
    for name in ("track", "price"):
        scripted = Scripted(responder.model, [*opens, *[5] * 500])  # type: ignore[arg-type]
        made = ask(make_responder(scripted), temperature=0.0, may_call=(name,), held_calls=(name,), one_call=True)
        assert [call.name for call in made.tool_calls] == [name]
        assert made.text == "I look."


def test_one_call_ends_the_answer() -> None:
    """Of a list of calls the first one stays, and what was written is encoded anew the next time."""
    responder = random_responder(*TEMPLATES["calls in tags"])
    tokenizer = responder.model.tokenizer
    one = '<tool_call>{"name": "price", "arguments": {"of": "tent"}}</tool_call>'
    for written, kept in ((one + one, one), (f"<tool_call>[{one[11:-12]}, {one[11:-12]}]</tool_call>", "")):
        script = tokenizer(written, add_special_tokens=False).input_ids
        scripted = Scripted(responder.model, [*script, *[tokenizer.eos_token_id] * 9])  # type: ignore[arg-type]
        made = ask(make_responder(scripted), temperature=0.0, one_call=True)
        assert [(call.name, call.arguments) for call in made.tool_calls] == [("price", '{"of": "tent"}')]
        assert made.reason == "end"
        assert tokenizer.decode(made.token_ids) == kept


def test_a_template_that_writes_calls_in_its_own_way_is_refused() -> None:
    responder = random_responder(CALLS_LEFT_OUT, "<|im_end|>", ())
    with pytest.raises(HeadstartError, match="can be held to a call"):
        ask(responder, must_call=("track",))


def test_parameters_that_cannot_be_followed_are_refused() -> None:
    responder = random_responder(*TEMPLATES["calls in tags"])
    tool = Tool("odd", parameters='{"type": "object", "properties": {"x": {"type": "foo"}}}')
    with pytest.raises(InvalidRequestError, match="cannot be followed"):
        finish(responder, Request((Message("user", "x"),), tools=(tool,), must_call=("odd",)))


def test_a_tool_that_is_not_there_cannot_be_called() -> None:
    with pytest.raises(InvalidRequestError, match="No tool is called foo"):
        Request((Message("user", "x"),), tools=TOOLS, must_call=("foo",))


FORMS = {
    "tags": (THOUGHT_IN_LAST_TURN, CallForm('\n<tool_call>{"name": "', '", "arguments": ', "}</tool_call>", "?")),
    "marks alone": (HERMES_TOOLS, CallForm('<tool_call>\n{"name": "', '", "arguments": ', "}\n</tool_call>")),
    "no tools": (CHATML, None),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_is_that_of_the_template(name: str) -> None:
    template, expected = FORMS[name]
    tokenizer = make_tokenizer(template, "<|im_end|>")
    form = AnswerFormat.of(tokenizer)
    ends = tokenizer.convert_ids_to_tokens(sorted(template_ends(tokenizer, form)))
    found = PromptBuilder(tokenizer).call_form(form, ends)
    if expected is None or found is None:
        assert found is expected
    else:
        assert (found.opens, found.middle, found.closes) == (expected.opens, expected.middle, expected.closes)
        assert (found.between is None) is (expected.between is None)
