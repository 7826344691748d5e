"""What a fake engine answers, and how it counts tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from engine import Divergence, FinishReason, ModelInfo, Request, TokenSpan, ToolCall

MODEL = ModelInfo(
    name="Fake-1M",
    path="/models/fake",
    architecture="FakeForCausalLM",
    device="cpu",
    dtype="fp32",
    near="",
    context_length=8192,
    weights_bytes=4_000_000,
    kv_bytes_per_token=23_040,
    cached_bytes_per_token=23_040,
    cache_budget_bytes=512 * 1024 * 1024,
    prefill_tokens_per_s=1500.0,
)
FIRST_ID = 70_000
"""Ids of the fake tokens start here: they do not fit in 16 bits."""


@dataclass(frozen=True)
class Script:
    """How one request is answered: the `thought` and the `tokens`, one piece of text each, after `prefill_chunks` steps
    of prefill, and `tool_calls` at its end. `notices` come with the look-up.

    With `fail_after` n it fails once n tokens are out (0: before the first, -1: before anything). `reason` is how it
    ends. `stats_every` n sends TurnStats after each n tokens. `is_refused` goes with the failure before anything. The
    tokens with the numbers `accepted` are written ahead where the request lets that be done.
    """

    tokens: tuple[str, ...] = ("Hello", " from", " a", " fake", ".")
    prefill_chunks: int = 2
    reason: FinishReason = "end"
    fail_after: int | None = None
    sentence: str = "The fake engine was told to fail."
    detail: str = "RuntimeError: told to fail"
    is_refused: bool = False
    divergence: Divergence | None = None
    stats_every: int = 10
    thought: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    notices: tuple[str, ...] = ()
    accepted: tuple[int, ...] = ()

    def stretches(self, written: int) -> list[tuple[int, int]]:
        """Where in the text the first `written` tokens stand that were written ahead."""
        ends = list(accumulate(map(len, self.tokens)))
        return [(ends[number] - len(self.tokens[number]), ends[number]) for number in self.accepted if number < written]


def words(text: str) -> tuple[str, ...]:
    """A text cut into pieces of about one word, as tokens would be."""
    pieces = text.split(" ")
    return (pieces[0], *(f" {piece}" for piece in pieces[1:]))


def many_tokens(count: int) -> tuple[str, ...]:
    """`count` tokens of Markdown with paragraphs, for tests of speed."""
    return tuple(f"word{i}\n\n" if i % 50 == 49 else f"word{i} " for i in range(count))


def spans_of(request: Request) -> tuple[TokenSpan, ...]:
    """Where each message lies in the prompt: four tokens of frame, then its ids, or a token for four characters."""
    spans: list[TokenSpan] = []
    start = 0
    for index, message in enumerate(request.messages):
        end = start + 4 + (len(message.token_ids) or len(message.content) // 4)
        spans.append(TokenSpan(index, message.role, start, end))
        start = end
    return tuple(spans)


def common_length(seen: Sequence[object], messages: Sequence[object]) -> int:
    """How many messages, or characters, are equal from the start on."""
    count = 0
    for old, new in zip(seen, messages, strict=False):
        if old != new:
            break
        count += 1
    return count
