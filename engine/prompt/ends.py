"""Which tokens end an answer, whatever the configs of a model forget.

A model ends its answers as its chat template ends those of the history. So the template is asked to write a short
conversation, and the special token behind the answer is the end. Where it writes nothing there, the model goes on with
what begins the next message, and that is the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from engine.prompt.handed import PROBE, PROBE_NAME
from engine.prompt.marks import AnswerFormat
from engine.prompt.rendering import RENDERER, TemplateEndlessError, TemplateRefusedError
from engine.prompt.special_tokens import is_structural

_ANSWER, _THOUGHT, _NEXT = "\ue000answer\ue001", "\ue000thought\ue001", "\ue000next\ue001"
"""Texts that no template writes itself."""

_QUESTION = {"role": "user", "content": "Hello"}
_NEXT_ONE = {"role": "user", "content": _NEXT}
_FOUND = {"role": "tool", "name": PROBE_NAME, "tool_call_id": "call12345", "content": _NEXT}
_CALL = {"id": "call12345", "type": "function", "function": {"name": PROBE_NAME, "arguments": {"word": _ANSWER}}}


def template_ends(tokenizer: Any, form: AnswerFormat) -> frozenset[int]:
    """The ids of the tokens with which the chat template of a tokenizer ends an answer, and one that calls a tool.
    `form` says which tokens stand within answers; a token between the thought and the answer is none of the ends."""
    added = tokenizer.added_tokens_decoder.items()
    names = {str(token): index for index, token in added if is_structural(str(token))}
    special = {str(token): index for index, token in added if token.special and str(token) in names}
    answer = {"role": "assistant", "content": _ANSWER}
    thoughtful = {**answer, **dict.fromkeys(("reasoning_content", "reasoning", "thinking"), _THOUGHT)}
    call = {"role": "assistant", "content": "", "tool_calls": [_CALL]}
    between = _written(tokenizer, [_QUESTION, thoughtful]).partition(_THOUGHT)[2].partition(_ANSWER)[0]
    behind = [_behind(tokenizer, [_QUESTION, answer, *more], form, names) for more in ([], [_NEXT_ONE])]
    behind_call = []
    if any(marks.kind in ("call", "header") for marks in form.marks):
        behind_call = [_behind(tokenizer, [_QUESTION, call, *more], form, special, [PROBE]) for more in ([], [_FOUND])]
    first = [next(filter(None, found), "") for found in (behind, behind_call)]
    return frozenset(names[name] for name in first if name and name not in between)


def _behind(
    tokenizer: Any,
    messages: Sequence[Mapping[str, Any]],
    form: AnswerFormat,
    names: Mapping[str, int],
    tools: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The first of these tokens that the template writes behind the answer, in front of what comes next, and that does
    not stand within answers; "" where there is none."""
    _, answer, text = _written(tokenizer, messages, tools).rpartition(_ANSWER)
    if not answer:  # the template leaves it out
        return ""
    text = text.partition(_NEXT)[0]
    places = {text.find(name): name for name in sorted(names, key=len) if name in text and not form.is_inside(name)}
    return places[min(places)] if places else ""


def _written(tokenizer: Any, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> str:
    """What the template makes of these messages; "" where it refuses them."""
    seen = {
        **tokenizer.special_tokens_map,
        "messages": messages,
        "tools": list(tools) or None,
        "documents": None,
        "add_generation_prompt": False,
    }
    try:
        template = tokenizer.get_chat_template(tools=list(tools) or None)
        return RENDERER.render(template, seen, datetime.now())
    except (TemplateRefusedError, TemplateEndlessError, OSError, ValueError):  # whoever writes a prompt with it says so
        return ""
