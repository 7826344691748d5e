"""Thoughts, tool calls and settings in prompts; where a template is found; the one BOS."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from tokenizers import processors

from engine.prompt.comparing import common_length
from engine.prompt.divergence import Past, explain, with_answer
from engine.prompt.switches import thinking_switches
from engine.prompt.template import Prompt, PromptBuilder
from engine.types import InvalidRequestError, Message, TemplateSettings, ToolCall
from tests.engine import chat_templates
from tests.engine import kinds_of_templates as kinds
from tests.engine.tiny_models import make_tokenizer

DAY = date(2025, 3, 9)
SYSTEM = Message("system", "You answer questions about parcels and tents. Be brief, be kind, never guess.")
QUESTION = Message("user", "Where is my parcel?")
THOUGHT = "They ask for the parcel. It is in the warehouse, I think."
SWITCH = chat_templates.CHATML + (
    "{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\n\n</think>\n\n' }}{% endif %}"
)


def written(builder: PromptBuilder, text: str, answer: Message) -> Message:
    """An answer with the ids of this text, one or more for each character."""
    split = [i for char in text for i in builder.tokenizer(char, add_special_tokens=False).input_ids]
    return replace(answer, token_ids=tuple(split))


def told(old: Prompt, new: Prompt, builder: PromptBuilder, messages: list[Message]):  # type: ignore[no-untyped-def]
    """What is told of a turn that reuses all that both prompts begin with."""

    def rebuild(settings: TemplateSettings) -> Prompt:
        return builder.build(messages, DAY, settings=settings)

    reused = common_length(old.ids, new.ids)
    return explain(Past(old, "m", 10**6), new, reused, "m", builder.tokenizer.decode, rebuild=rebuild)


def test_the_ids_behind_a_dropped_thought_stand_for_the_answer() -> None:
    """And the cure is named with its price: the tokens by which the next prompt is longer."""
    builder = PromptBuilder(make_tokenizer(kinds.THOUGHT_IN_LAST_TURN))
    answer = Message("assistant", "In the warehouse.", thought=THOUGHT)
    answer = written(builder, f"<think>\n{THOUGHT}\n</think>\n\nIn the warehouse.", answer)
    messages = [SYSTEM, QUESTION, answer, Message("user", "And now?")]
    old = with_answer(builder.build(messages[:2], DAY), answer)
    new, kept = (builder.build(messages, DAY, (), TemplateSettings(keep_thoughts=keeps)) for keeps in (False, True))
    span = next(span for span in new.spans if span.role == "assistant")
    assert new.ids[span.start : span.end] == answer.token_ids[-len("In the warehouse.") :]
    assert kept.ids[: len(old.ids)] == old.ids
    cause = told(old, new, builder, messages)
    assert (cause.cause, cause.message_index, cause.cure) == ("reasoning removed", 2, "keep thoughts")
    assert cause.cure_tokens == len(kept.ids) - len(new.ids) > 0
    assert 0 < cause.recomputed_tokens <= len(new.ids) - common_length(old.ids, new.ids)


def test_an_answer_about_marks_is_sent_whole() -> None:
    """A template that knows no thoughts: what stood in front of the mark was dropped without a word."""
    builder = PromptBuilder(make_tokenizer())
    answer = Message("assistant", "Models end it with `</think>`, then they answer.")
    prompt = builder.build([SYSTEM, QUESTION, answer, Message("user", "And now?")], DAY)
    assert answer.content in builder.tokenizer.decode(prompt.ids)
    assert not prompt.thoughts
    assert not with_answer(prompt, answer).thoughts


def test_a_thought_that_the_template_puts_in_is_told_from_one_that_it_drops() -> None:
    builder = PromptBuilder(make_tokenizer(kinds.EMPTY_THOUGHT))
    answer = written(builder, "In the warehouse.", Message("assistant", "In the warehouse."))
    messages = [SYSTEM, QUESTION, answer, Message("user", "And now?")]
    old = with_answer(builder.build(messages[:2], DAY), answer)
    assert told(old, builder.build(messages, DAY), builder, messages).cause == "empty thought"


def test_a_new_chat_on_the_next_day_is_explained() -> None:
    """A date in front of the system prompt: another chat with the same one had computed all of it."""
    builder = PromptBuilder(make_tokenizer(chat_templates.SMOLLM3))
    old = builder.build([SYSTEM, QUESTION], DAY)
    new = builder.build([SYSTEM, Message("user", "A tent, please.")], DAY.replace(day=10))
    relative = Past(with_answer(old, Message("assistant", "Yes.")), "m", 10**6)
    cause = explain(None, new, 0, "m", builder.tokenizer.decode, relative=relative)
    assert cause is not None
    assert cause.cause == "date"
    assert 40 < cause.recomputed_tokens <= new.system_tokens
    same = builder.build([SYSTEM, Message("user", "A tent, please.")], DAY)
    again = explain(None, same, same.system_tokens, "m", builder.tokenizer.decode, relative=relative)
    assert again is not None
    assert again.cause == "new"


def test_thinking_is_switched_as_the_template_knows_it() -> None:
    builder = PromptBuilder(make_tokenizer(SWITCH))
    assert builder.thinking == ("on", "off")
    texts = [
        builder.tokenizer.decode(builder.build([QUESTION], DAY, (), TemplateSettings(name)).ids)
        for name in ("on", "off")
    ]
    assert [text.count("</think>") for text in texts] == [0, 1]
    with pytest.raises(InvalidRequestError, match="It knows on, off"):
        builder.build([QUESTION], DAY, settings=TemplateSettings("high"))
    assert PromptBuilder(make_tokenizer()).thinking == ()
    with pytest.raises(InvalidRequestError, match="leave it out"):
        PromptBuilder(make_tokenizer()).build([QUESTION], DAY, settings=TemplateSettings("on"))


@pytest.mark.parametrize(
    ("template", "choices"),
    [
        ("{% if enable_thinking is defined and enable_thinking is false %}{% endif %}", ("on", "off")),
        ("{% if not thinking is defined %}{% set thinking = false %}{% endif %}", ("on", "off")),
        ("{% if thinking_budget is defined %}{% endif %}", ("on", "off")),
        ("{% if '/no_think' in messages[0].content %}{% endif %}", ("on", "off")),
        ("{{ 'Reasoning: ' + reasoning_effort }}", ("low", "medium", "high")),
        ("{% if reasoning_effort == 'max' %}{% elif reasoning_effort == 'low' %}{% endif %}", ("low", "max")),
        ("{% set ns.enable_thinking = 1 %}{{ messages }}", ()),
        ("{% if ns.enable_thinking is defined %}{% elif '/no_think' in content %}{% endif %}", ("on", "off")),
    ],
)
def test_what_a_template_lets_one_choose(template: str, choices: tuple[str, ...]) -> None:
    assert tuple(thinking_switches(template)) == choices


def test_what_switching_thinking_changes_is_called_settings() -> None:
    late = SWITCH.replace("{% for message", "{{ 'thinking: ' ~ (enable_thinking | default(true)) }}{% for message", 1)
    builder = PromptBuilder(make_tokenizer(late))
    answer = written(builder, "In the warehouse.", Message("assistant", "In the warehouse."))
    messages = [SYSTEM, QUESTION, answer, Message("user", "And now?")]
    old = with_answer(builder.build(messages[:2], DAY, (), TemplateSettings("on")), answer)
    assert told(old, builder.build(messages, DAY, (), TemplateSettings("off")), builder, messages).cause == "settings"


def test_a_tool_call_stands_as_it_was_written() -> None:
    """Although the template would write its JSON with other blanks."""
    builder = PromptBuilder(make_tokenizer(kinds.THOUGHT_IN_LAST_TURN))
    call = ToolCall("find", '{"n":1}', "abcdef123")
    raw = '\n<tool_call>{"name":"find","arguments":{"n":1}}</tool_call>'
    asked = [QUESTION, written(builder, raw, Message("assistant", "", tool_calls=(call,)))]
    prompt = builder.build([*asked, Message("tool", "there", tool_call_id=call.id)], DAY)
    assert prompt.ids[: len(builder.build(asked[:1], DAY).ids)] == builder.build(asked[:1], DAY).ids
    text = builder.tokenizer.decode(prompt.ids)
    assert raw in text
    assert text.count("find") == 1


@pytest.mark.parametrize("writes", [True, False])
def test_there_is_exactly_one_bos(writes: bool) -> None:
    tokenizer = make_tokenizer(("{{ bos_token }}" if writes else "") + chat_templates.CHATML)
    bos = tokenizer.bos_token_id
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=["<s>", "$A"], special_tokens=[("<s>", bos)]
    )
    ids = PromptBuilder(tokenizer).build([SYSTEM, QUESTION], DAY).ids
    assert (ids[0], ids.count(bos)) == (bos, 1)


def test_a_template_is_found_where_it_lies(tmp_path: Path) -> None:
    tokenizer = make_tokenizer(template="")
    (tmp_path / "chat_template.json").write_text(json.dumps({"chat_template": chat_templates.CHATML}))
    tokenizer.name_or_path = str(tmp_path)
    expected = PromptBuilder(make_tokenizer()).build([QUESTION], DAY).ids
    assert PromptBuilder(tokenizer).build([QUESTION], DAY).ids == expected
    tokenizer.chat_template = {"chat": chat_templates.CHATML, "rag": "{{ raise_exception('no documents') }}"}
    assert PromptBuilder(tokenizer).build([QUESTION], DAY).ids == expected


def test_a_text_of_the_templates_own_is_kept_like_a_system_prompt() -> None:
    builder = PromptBuilder(make_tokenizer(kinds.OWN_TEXT))
    one, two = (builder.build([Message("user", text)], DAY) for text in ("Where?", "A tent, please."))
    assert one.system_tokens > 100
    assert one.ids[: one.system_tokens] == two.ids[: two.system_tokens]
    assert PromptBuilder(make_tokenizer()).build([QUESTION], DAY).system_tokens == 0
