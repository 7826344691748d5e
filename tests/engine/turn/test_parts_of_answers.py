"""Answers in parts, through a whole turn: a model that writes what a script says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from tokenizers import AddedToken, Tokenizer, models
from transformers import PreTrainedTokenizerFast

from engine.events import Finished, TextDelta
from engine.models.from_transformers import TransformersNetwork
from engine.models.loaded import LoadedModel
from engine.types import Message, Request, Tool, ToolCall
from tests.engine.chat_templates import CHATML, COMMAND, HARMONY, HERMES_TOOLS, QWEN3
from tests.engine.prompt.test_ends import COMMAND_TOKENS, HARMONY_TOKENS
from tests.engine.tiny_models import make_llama, make_tokenizer
from tests.engine.turns import GREEDY, Scripted, events, make_responder

ASKED = Message("user", "Where is it?")
TOOL = Tool("track", parameters='{"type": "object", "properties": {"number": {"type": "integer"}}}')
LONG = replace(GREEDY, max_tokens=400)
OPENS_THOUGHT = CHATML.replace("assistant\n' }}{% endif", "assistant\n<think>\n' }}{% endif")


def play(
    template: str, written: str, special: Sequence[str] = (), end: str = "<|im_end|>", **changes: object
) -> Finished:
    """A turn in which the model writes this text, then an end token for ever."""
    tokenizer = make_tokenizer(template, end)
    tokenizer.add_special_tokens({"additional_special_tokens": [AddedToken(name, special=True) for name in special]})
    loaded = LoadedModel(TransformersNetwork(make_llama(400)), tokenizer, "/nowhere/scripted")
    script = tokenizer(written, add_special_tokens=False).input_ids
    model = Scripted(loaded, [*script, *tokenizer.convert_tokens_to_ids([end]) * 500])
    request = Request((ASKED,), **{"sampling": LONG, "conversation": "chat", **changes})  # type: ignore[arg-type]
    responder = make_responder(model)
    seen = list(events(responder, request))
    last = seen[-1]
    assert isinstance(last, Finished)
    deltas = [event for event in seen if isinstance(event, TextDelta)]
    assert "".join(delta.text for delta in deltas if delta.is_thought) == last.thought
    assert "".join(delta.text for delta in deltas if not delta.is_thought) == last.text
    stopped = bool(changes.get("stop")) and last.reason == "end" and not last.token_ids
    assert stopped or last.token_ids == tuple(script[: len(last.token_ids)])
    remembered = responder.last_turns.all["chat"].prompt.messages[-1]
    assert remembered == Message("assistant", last.text, last.token_ids, last.thought, last.tool_calls)
    return last


@dataclass(frozen=True)
class Case:
    template: str
    written: str
    thought: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    special: tuple[str, ...] = ()
    end: str = "<|im_end|>"


GIGACHAT = (
    "{{ tools | tojson if tools else '' }}"
    "{% for m in messages %}{{ m.role + '<|role_sep|>\n' + m.content + '<|message_sep|>\n\n' }}"
    "{% for call in m.tool_calls or [] %}{{ 'function call' + '<|role_sep|>\n' }}{{ call.function | tojson }}"
    "{{ '<|message_sep|>\n\n' }}{% endfor %}{% endfor %}{{ 'assistant<|role_sep|>\n' }}"
)
SEPARATORS = ("<|role_sep|>", "<|message_sep|>")
CALL = ToolCall("track", '{"number": 7}')
CASES = {
    "qwen3": Case(QWEN3, "<think>\nWhere? 🙂\n</think>\n\nIt left 🙂.", "Where? 🙂", "It left 🙂."),
    "opened by the prompt": Case(OPENS_THOUGHT, "Where?\n</think>\n\nIt left.", "Where?", "It left."),
    "gpt-oss": Case(
        HARMONY,
        "<|channel|>analysis<|message|>Where?<|end|><|start|>assistant<|channel|>final<|message|>It left.",
        "Where?",
        "It left.",
        special=HARMONY_TOKENS,
        end="<|return|>",
    ),
    "gpt-oss, call": Case(
        HARMONY,
        "<|channel|>analysis<|message|>Where?<|end|><|start|>assistant to=functions.track<|channel|>commentary json"
        '<|message|>{"number": 7}',
        "Where?",
        "",
        (CALL,),
        special=HARMONY_TOKENS,
        end="<|call|>",
    ),
    "command": Case(
        COMMAND,
        "Where?<|END_THINKING|><|START_RESPONSE|>It left.<|END_RESPONSE|>",
        "Where?",
        "It left.",
        special=(*COMMAND_TOKENS, "<|END_THINKING|>"),
        end="<|END|>",
    ),
    "hermes": Case(
        HERMES_TOOLS,
        'I look.\n<tool_call>\n{"name": "track", "arguments": {"number": 7}}\n</tool_call>',
        "",
        "I look.",
        (CALL,),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_answer_comes_in_its_parts(name: str) -> None:
    case = CASES[name]
    finished = play(case.template, case.written, case.special, case.end, tools=(TOOL,) if case.calls else ())
    assert (finished.thought, finished.text, finished.tool_calls) == (case.thought, case.text, case.calls)
    assert finished.reason == "end"
    assert finished.stats.written_tokens == len(finished.token_ids)
    assert (finished.stats.thought_tokens > 0) == bool(case.thought)
    assert (finished.stats.thought_s > 0) == bool(case.thought)
    assert finished.stats.thought_tokens < len(finished.token_ids)


def test_what_closes_a_thought_does_not_end_the_answer() -> None:
    """Some GGUF files of GPT-OSS name the token behind every part as their end."""
    case = CASES["gpt-oss"]
    finished = play(case.template, case.written + "<|end|>", case.special, "<|end|>")
    assert (finished.thought, finished.text, finished.reason) == (case.thought, case.text, "end")


def test_a_model_without_marks_shows_them_as_text() -> None:
    written = "<think>\nThe answer</think> <tool_call>{}</tool_call>"
    finished = play(CHATML, written)
    assert (finished.thought, finished.text, finished.stats.thought_tokens) == ("", written, 0)


def test_without_tools_a_call_is_text() -> None:
    finished = play(HERMES_TOOLS, '<tool_call>{"name": "track"}</tool_call>')
    assert (finished.text, finished.tool_calls) == ('<tool_call>{"name": "track"}</tool_call>', ())


def test_stop_strings_are_not_looked_for_in_the_thought() -> None:
    finished = play(QWEN3, "<think>\nThe ### answer\n</think>\n\nIt left. ### Or not.", stop=("###",))
    assert (finished.thought, finished.text, finished.reason) == ("The ### answer", "It left. ", "end")
    assert finished.token_ids == ()


def test_a_thought_that_the_length_cuts_off() -> None:
    """What looked like the beginning of the mark behind it is a part of it then."""
    tokens = len(make_tokenizer()("<think>\nThe customer </th", add_special_tokens=False).input_ids)
    written = "<think>\nThe customer </thought> asks."
    finished = play(QWEN3, written, sampling=replace(GREEDY, max_tokens=tokens))
    assert (finished.thought, finished.text, finished.reason) == ("The customer </th", "", "length")
    assert finished.stats.thought_tokens == tokens - len("<think")


def test_the_end_of_a_final_part_ends_the_answer() -> None:
    """GPT-OSS ends earlier answers with the token that ends its thoughts, too; what follows belongs to nobody."""
    written = "<|channel|>final<|message|>It left.<|end|><|start|>user<|message|>Why?"
    finished = play(HARMONY, written, HARMONY_TOKENS, "<|return|>")
    assert (finished.text, finished.reason) == ("It left.", "end")


def tokenizer_with_holes() -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.WordLevel({"a": 0, "b": 1, "c": 7, "d": 350}, unk_token="a"))
    return PreTrainedTokenizerFast(tokenizer_object=backend)


BEHIND_END = "I look.<|message_sep|>\n\nfunction call<|role_sep|>\n"


@pytest.mark.parametrize("end", ["<|message_sep|>", "<|im_end|>"])
def test_a_call_behind_the_token_that_ends_answers(end: str) -> None:
    """GigaChat-3 calls tools in a message of their own: whether one follows shows behind the end only."""
    written = BEHIND_END + '{"name": "track", "arguments": {"number": 7}}'
    called = play(GIGACHAT, written, SEPARATORS, end, tools=(TOOL,))
    assert (called.text, called.tool_calls, called.reason) == ("I look.", (CALL,), "end")
    assert called.stats.written_tokens == len(called.token_ids)


@pytest.mark.parametrize(
    "behind", ["<|im_end|>", "\n\nuser<|role_sep|>\nAnd?", "\n\nfunction call<|message_sep|>", "\n\n\n"]
)
@pytest.mark.parametrize("tools", [(TOOL,), ()])
def test_what_follows_on_the_end_and_is_no_call(behind: str, tools: tuple[Tool, ...]) -> None:
    """The answer ends where its end token stood, with that many tokens, however far the model wrote on."""
    own = len(make_tokenizer(GIGACHAT)("I look.", add_special_tokens=False).input_ids)
    for most in (LONG.max_tokens, own + 1, own + 3):
        sampling = replace(LONG, max_tokens=most)
        ended = play(GIGACHAT, "I look.<|message_sep|>" + behind, SEPARATORS, tools=tools, sampling=sampling)
        assert (ended.text, ended.tool_calls, ended.reason) == ("I look.", (), "end")
        assert ended.stats.written_tokens == len(ended.token_ids) == own


def test_a_row_that_no_token_has_is_never_drawn() -> None:
    """The vocabulary of this model has 400 rows, its tokenizer fewer: rows that were never trained may win."""
    tokenizer = make_tokenizer()
    loaded = LoadedModel(TransformersNetwork(make_llama(400)), tokenizer, "/nowhere/padded")
    assert loaded.unknown_ids == set(range(len(tokenizer), 400))
    with_holes = LoadedModel(loaded.network, tokenizer_with_holes(), "/nowhere/holes")
    assert with_holes.unknown_ids == set(range(400)) - {0, 1, 7, 350}
    responder = make_responder(Scripted(loaded, [399, 333, len(tokenizer)] * 40))
    for sampling in (GREEDY, replace(GREEDY, temperature=2.0, seed=1)):
        *_, last = events(responder, Request((ASKED,), sampling))
        assert isinstance(last, Finished)
        assert all(token < len(tokenizer) for token in last.token_ids)
