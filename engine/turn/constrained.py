"""An answer that is held to a JSON Schema: at every step only tokens are left that keep it one that fits.

Which these are is worked out by llguidance, which reads JSON Schema and knows the tokenizer's tokens as bytes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from llguidance import LLMatcher, LLTokenizer
from torch import Tensor

from engine.types import InvalidRequestError, ModelError

BAD_SCHEMA = "This JSON Schema cannot be followed: {}. Write it more simply."
NO_TOKENIZER = "With this model's tokenizer no answer can be held to a JSON Schema. Choose another model."
STUCK = "The answer could not go on within the JSON Schema. Write it more simply, or ask again."
LONGEST = 200
"""Characters of what is wrong with a schema that are repeated."""


class Schemas:
    """Makes constraints for one tokenizer (a transformers fast tokenizer) with `vocabulary` tokens; `end` is the token
    that ends an answer. What is known of the tokenizer is worked out with the first one, which takes half a second."""

    def __init__(self, tokenizer: Any, vocabulary: int, end: int) -> None:
        self._tokenizer, self._vocabulary, self._end = tokenizer, vocabulary, end
        self._known: LLTokenizer | None = None

    def constraint(self, schema: str) -> Constraint:
        """What holds one answer to a schema. Raises InvalidRequestError where it cannot be followed, and ModelError
        for a tokenizer that is not understood."""
        if self._known is None:
            try:
                text = self._tokenizer.backend_tokenizer.to_str()
                self._known = LLTokenizer(text, n_vocab=self._vocabulary, eos_token=self._end)
            except Exception as error:
                raise ModelError(NO_TOKENIZER, str(error)) from error
        try:
            # Blanks where JSON allows any would let an answer be nothing else, to its end.
            grammar = LLMatcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
            matcher = LLMatcher(self._known, grammar)
        except Exception as error:
            raise InvalidRequestError(BAD_SCHEMA.format("it is no schema"), str(error)) from error
        if matcher.is_error():
            raise InvalidRequestError(BAD_SCHEMA.format(matcher.get_error().split("\n")[0][:LONGEST].rstrip(".")))
        return Constraint(matcher)


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
