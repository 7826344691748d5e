"""An answer that is held to a JSON Schema, or to calls of tools: at every step only tokens are left that keep it so.

Which these are is worked out by llguidance, which reads JSON Schema and knows the tokenizer's tokens as bytes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from llguidance import LLMatcher, LLTokenizer
from torch import Tensor

from engine.prompt.call_form import CALL_ID, ID_PATTERN, CallForm
from engine.prompt.token_text import TokenText
from engine.turn.keyed_calls import NotKeyedError, keyed_rules
from engine.types import InvalidRequestError, ModelError, Tool

BAD_SCHEMA = "This JSON Schema cannot be followed: {}. Write it more simply."
BAD_TOOLS = "The parameters of these tools cannot be followed: {}. Write them more simply."
NO_STRICT = (
    "With this model calls cannot be told from text while they are written, so its tools can be neither strict nor "
    "limited to some of them. Require a call, or leave that out."
)
NO_TOKENIZER = "With this model's tokenizer no answer can be held to a form. Choose another model."
STUCK = "The answer could not go on within its form. Write it more simply, or ask again."
ANY_OBJECT = '{"type": "object"}'
LONGEST = 200
"""Characters of what is wrong with a schema that are repeated."""


class Constraints:
    """Makes constraints for one tokenizer (a transformers fast tokenizer) with `vocabulary` tokens; `end` is the token
    that ends an answer. What is known of the tokenizer is worked out with the first one, which takes half a second."""

    def __init__(self, tokenizer: Any, vocabulary: int, end: int) -> None:
        self._tokenizer, self._vocabulary, self._end = tokenizer, vocabulary, end
        self._control = {name: index for index, name in TokenText(tokenizer).special_names.items()}

    @cached_property
    def _special(self) -> dict[str, int]:
        """What llguidance takes for special tokens, by their names: those that stand for no text, and others that were
        added to a vocabulary, such as <tool_call>. In a grammar they have to be named as tokens."""
        added = getattr(self._tokenizer, "added_tokens_decoder", {})
        texts = {str(token): index for index, token in added.items() if self._known.is_special_token(index)}
        return {**texts, **self._control}

    @cached_property
    def _known(self) -> LLTokenizer:
        try:
            text = self._tokenizer.backend_tokenizer.to_str()
            return LLTokenizer(text, n_vocab=self._vocabulary, eos_token=self._end)
        except Exception as error:
            raise ModelError(NO_TOKENIZER, str(error)) from error

    def schema(self, schema: str) -> Constraint:
        """What holds one answer to a JSON Schema. Raises InvalidRequestError where it cannot be followed, and
        ModelError for a tokenizer that is not understood."""
        tokenizer = self._known
        try:
            # Blanks where JSON allows any would let an answer be nothing else, to its end.
            grammar = LLMatcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
            matcher = LLMatcher(tokenizer, grammar)
        except Exception as error:
            raise InvalidRequestError(BAD_SCHEMA.format("it is no schema"), str(error)) from error
        if matcher.is_error():
            raise InvalidRequestError(BAD_SCHEMA.format(_problem(matcher)))
        return Constraint(matcher)

    def call(self, form: CallForm, tools: Sequence[Tool], *, is_one: bool) -> Constraint:
        """What holds one answer to calls of these tools, in the form in which its model writes them: to one call where
        it `is_one` or the form knows no several. Raises as `schema` does."""
        calls = " | ".join(f"call_{number}" for number in range(len(tools)))
        further = "" if is_one or form.between is None else f"({self._text(form.between)} call)*"
        rules = [f"start: {self._text(form.opens)} call {further} {self._text(form.closes)}", f"call: {calls}"]
        for number, tool in enumerate(tools):
            rules += self._call(f"call_{number}", form, tool, tool.parameters)
        return self._held("\n".join(rules), form, tools)

    def calls_in_text(self, form: CallForm, tools: Sequence[Tool], held: Collection[str]) -> Constraint:
        """What leaves an answer free, but holds it to a call of one of these tools wherever it begins one, and to the
        parameters of those that are `held`. Raises as `schema` does, and where text may begin as calls do."""
        opens = form.opens.lstrip()
        name = next((name for name in self._special if opens.startswith(name)), "")
        begins = name or opens.partition(">")[0] + ">" * (">" in opens)
        if not name and not re.match(r"[<\[]\w", begins):
            raise InvalidRequestError(NO_STRICT)
        rest = replace(form, opens=opens[len(begins) :])
        calls = " | ".join(f"call_{number}" for number in range(len(tools)))
        further = "" if form.between is None else f"({self._text(form.between)} call)*"
        rules = [
            "start: (called)* TEXT",
            r"TEXT: /(.|\n)*/",
            f"called: begins {self._text(rest.opens)} call {further} {self._text(form.closes)}",
            "begins: " + " | ".join(["in_token"] * bool(name) + ["in_text"] * (name not in self._control)),
            f"in_token: TEXT {self._text(name)}",
            f"in_text[lazy]: TEXT {json.dumps(begins)}",
            f"call: {calls}",
        ]
        for number, tool in enumerate(tools):
            parameters = tool.parameters if tool.name in held else ANY_OBJECT
            rules += self._call(f"call_{number}", form, tool, parameters)
        return self._held("\n".join(rules), form, tools)

    def _call(self, rule: str, form: CallForm, tool: Tool, parameters: str) -> list[str]:
        """The rules for one call, without what stands around it."""
        schema = json.loads(parameters)
        if form.keyed is not None:
            try:
                return keyed_rules(rule, form, tool.name, None if parameters == ANY_OBJECT else schema, self._text)
            except NotKeyedError as error:
                raise InvalidRequestError(BAD_TOOLS.format(error)) from error
        schema.setdefault("type", "object")
        blank = " " * form.is_spaced
        written = {"whitespace_flexible": False, "item_separator": f",{blank}", "key_separator": f":{blank}"}
        name, arguments = json.dumps(tool.name), f"{rule}_arguments"
        parts = (name, arguments) if form.is_name_first else (arguments, name)
        return [
            f"{rule}: {f' {self._text(form.middle)} '.join(parts)}",
            f"{arguments}: %json {json.dumps({**schema, 'x-guidance': written})}",
        ]

    def _text(self, text: str) -> str:
        """A text in a grammar: special tokens by their numbers, and any id where one stands."""
        if not text:
            return '""'
        names = "|".join(re.escape(name) for name in sorted(self._special, key=len, reverse=True))
        parts = re.split(f"({CALL_ID}{'|' * bool(names)}{names})", text)
        return " ".join(self._part(part) for part in parts if part)

    def _part(self, part: str) -> str:
        if part == CALL_ID:
            return f"/{ID_PATTERN}/"
        return f"<[{self._special[part]}]>" if part in self._special else json.dumps(part, ensure_ascii=False)

    def _held(self, grammar: str, form: CallForm, tools: Sequence[Tool]) -> Constraint:
        matcher = LLMatcher(self._known, LLMatcher.grammar_from_lark(f"%llguidance {{}}\n{grammar}"))
        if matcher.is_error():
            raise InvalidRequestError(BAD_TOOLS.format(_problem(matcher)), grammar)
        return Constraint(matcher)


def _problem(matcher: LLMatcher) -> str:
    return str(matcher.get_error()).split("\n")[0][:LONGEST].rstrip(".")


class Constraint:
    """Leaves one answer only what fits. `is_over` says that nothing may follow."""

    def __init__(self, matcher: LLMatcher) -> None:
        self._matcher = matcher

    @property
    def is_over(self) -> bool:
        return bool(self._matcher.is_stopped())

    def __call__(self, logits: Tensor) -> Tensor:
        """`[vocabulary]` -> `[vocabulary]` with what does not fit at minus infinity. Raises ModelError where nothing
        fits."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        fits = torch.from_numpy(np.unpackbits(bits, bitorder="little")[: len(logits)].astype(bool))
        if not fits.any():
            raise ModelError(STUCK, self._matcher.get_error())
        return logits.masked_fill(~fits.to(logits.device), -math.inf)

    def see(self, token: int) -> None:
        """One more token was written."""
        self._matcher.consume_token(token)
