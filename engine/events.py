"""What the engine reports, in the order it happens: frozen values, small, safe to hand to another thread.

Every event carries the id of the request it belongs to; 0 where it answers a command that has no id, and `BY_ITSELF`
where nobody asked: idle work changed the cache, or something in the engine failed.

A request ends with exactly one `Finished` or `Failed`; a load ends with one `Loaded` or `Failed`; a preview with one
`Preview` or `Failed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from engine.types import Cause, Cure, ModelInfo, TokenSpan, ToolCall

FinishReason = Literal["end", "length", "stopped"]
BY_ITSELF = -1
"""In place of a request's id: what the engine says without being asked."""


@dataclass(frozen=True, slots=True)
class Loading:
    """A step of loading a model: `stage` is a short phrase, `fraction` 0..1 or None where it cannot be known."""

    request_id: int
    stage: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """The model is ready for requests."""

    request_id: int
    model: ModelInfo


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where a prompt left what was cached, and why.

    "new": no earlier turn of the conversation is known, so nothing was lost. "cache off": the request was not to reuse.
    "other client": what was cached had to make room for others, for another program or for the window's chats.
    "positions": the conversation grew past a length from which on the model's position code is another one.
    `position` is the first token that differs, `message_index` the message it lies in (-1: between messages, or in
    the tools).
    `old_text` and `new_text` are the text around it on both sides ("" where nothing was cached there).
    `recomputed_tokens` counts the tokens that had been computed before and must be computed again. `cure` is what the
    user may choose so that it does not happen again, None where nothing can be chosen; it makes each later prompt about
    `cure_tokens` longer.
    """

    position: int
    message_index: int
    cause: Cause
    old_text: str
    new_text: str
    recomputed_tokens: int
    cure: Cure | None = None
    cure_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Matched:
    """The look-up is done. reused_tokens + computed_tokens == prompt_tokens. The last `disk_tokens` of the reused ones
    were read from disk, the last `memory_tokens` before those came from the computer's memory behind a GPU's.
    `divergence` is None where a conversation goes on and all that it had is reused. `notices` are
    sentences for the user on what the chat template made of the messages, such as a system prompt that it does not know
    and that was put in front of the first question; most prompts have none. `kept_ends` are the tokens at which the
    starts end that `Request.kept` asks for, in the same order. `ahead_tokens` of the reused ones were read ahead, for
    this prompt: no turn before had them."""

    request_id: int
    prompt_tokens: int
    reused_tokens: int
    computed_tokens: int
    divergence: Divergence | None
    spans: tuple[TokenSpan, ...]
    disk_tokens: int = 0
    notices: tuple[str, ...] = ()
    kept_ends: tuple[int, ...] = ()
    ahead_tokens: int = 0
    memory_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Prefill:
    """`done` of `total` tokens that had to be computed are computed; about `seconds_left` remain."""

    request_id: int
    done: int
    total: int
    seconds_left: float


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Text that can be shown now: whole characters only, without stop strings and without the marks around the parts of
    an answer. `is_thought`: it belongs to the thought before the answer. `token_ids` are the tokens that were written
    since the delta before: those of all deltas are the answer so far, with all of its marks."""

    request_id: int
    text: str
    is_thought: bool = False
    token_ids: tuple[int, ...] = ()


class TokenScore(NamedTuple):
    """A token with its log probability (natural logarithm), as the model gave it: before temperature, penalty and the
    rules that leave tokens out. `text` is what the token stands for by itself; U+FFFD for a part of a character."""

    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Scored:
    """One token was written: its score, and the likeliest ones at its place, the best first. Comes before the text of
    the token, and only where `Request.scores` asked for it."""

    request_id: int
    token: TokenScore
    best: tuple[TokenScore, ...]


@dataclass(frozen=True, slots=True)
class TtftParts:
    """Time to first token, in seconds, split by what it was spent on. The parts add up to the whole. `queue` is the
    wait before the request, and what the engine did for another one between its steps."""

    queue: float = 0.0
    template: float = 0.0
    lookup: float = 0.0
    restore: float = 0.0
    prefill: float = 0.0
    first_token: float = 0.0


@dataclass(frozen=True, slots=True)
class TurnStats:
    """The figures of one turn, so far. Sent at most five times a second, and once more inside `Finished`.

    `ttft_s` is None until the first token. `tokens_per_s` excludes the first token and the wait for it; it is 0
    before the second token. `cold_ttft_s` is what the first token would have taken without a cache: measured on this
    very prompt where `cold_measured`, otherwise an estimate from the measured prefill rate. The last `disk_tokens` of
    the reused ones were read from disk. `thought_tokens` of the written ones, and `thought_s` seconds of the time, went
    into the thought before the answer. `ahead_tokens` of the reused ones were read ahead, before the question was sent.

    Writing ahead: after the first token, which the prompt gave, the model was run `passes` times. In them
    `guessed_tokens` were put behind the newest token and checked along with it; `accepted_tokens` of these are what the
    model would have written there, and stand in the answer. Without guesses each pass writes one token. All three are
    0 where nothing was reported.
    """

    request_id: int
    prompt_tokens: int
    reused_tokens: int
    computed_tokens: int
    written_tokens: int
    ttft_s: float | None
    parts: TtftParts
    tokens_per_s: float
    cold_ttft_s: float
    cold_measured: bool
    cache_bytes: int
    disk_tokens: int = 0
    thought_tokens: int = 0
    thought_s: float = 0.0
    ahead_tokens: int = 0
    passes: int = 0
    guessed_tokens: int = 0
    accepted_tokens: int = 0


class NodeView(NamedTuple):
    """One unbranched run of cached tokens. `parent` is an index into `CacheView.nodes`, -1 for a root.

    `block` names the run in `Engine.keep_prefix`, `release_prefix` and `drop_prefix`; `text` is how it begins. `tier`
    is where it lies: "device" (the memory of a GPU), "memory", or "disk": there only, with its bytes there. A run on
    disk only has no hits and is never pinned.
    A named tuple: a view makes thousands of them four times a second.
    """

    parent: int
    start: int
    tokens: int
    bytes: int
    idle_s: float
    hits: int
    pinned: bool
    conversations: tuple[str, ...]
    block: int = 0
    text: str = ""
    tier: str = "memory"


@dataclass(frozen=True, slots=True)
class CacheView:
    """Cache memory at one moment, in bytes. used = pinned + live + reusable <= budget.

    `pinned_bytes`: blocks kept on request (system prompts). `live_bytes`: the working buffer and the blocks of running
    requests. `reusable_bytes`: blocks that may be evicted. `evicted_bytes` counts up since the model was loaded.
    `nodes` is filled by `Engine.cache_view` only, empty in the events sent after each turn. `disk_bytes` lie on disk,
    for all models, outside this budget; `disk_note` says in a sentence why nothing is kept there, or could be deleted.
    `memory_bytes` lie in the computer's memory behind a GPU's, outside this budget, too.
    `overhead_bytes` is about what the engine keeps in main memory beside keys and values, outside this budget, too: the
    token ids of the tree, texts, the last turn of each conversation, cold times. `unread_tokens` of the newest turn
    cannot be reused yet: they are read once more while nothing is asked, and a view with 0 of them follows, unless they
    were dropped before. `ahead_tokens` were read ahead since the model was loaded, and for `unasked_tokens` of them no
    request has come yet.
    """

    request_id: int
    time_s: float
    budget_bytes: int
    pinned_bytes: int
    live_bytes: int
    reusable_bytes: int
    evicted_bytes: int
    cached_tokens: int
    nodes: tuple[NodeView, ...] = ()
    disk_bytes: int = 0
    disk_note: str = ""
    overhead_bytes: int = 0
    unread_tokens: int = 0
    ahead_tokens: int = 0
    unasked_tokens: int = 0
    memory_bytes: int = 0

    @property
    def used_bytes(self) -> int:
        """Everything the cache holds now."""
        return self.pinned_bytes + self.live_bytes + self.reusable_bytes


@dataclass(frozen=True, slots=True)
class Preview:
    """What `Engine.submit` would do with this request now, without computing anything.

    The first `pinned_tokens` of the reused ones are kept resident, the last `disk_tokens` of them are on disk only, the
    last `memory_tokens` before those in the computer's memory behind a GPU's only. `block_texts[i]` is the text of
    tokens 16 i to 16 i + 15, as far as the model can read. `ids` are the prompt. The last `ahead_tokens` of the reused
    ones were read ahead: no turn before had them.

    `is_elsewhere`: a server answers, and the reused tokens are those with which the last prompt began, too, that it
    answered in this conversation. Whether it still has them, it alone knows, and how long it takes nobody does.
    """

    request_id: int
    prompt_tokens: int
    reused_tokens: int
    computed_tokens: int
    seconds: float
    system_tokens: int
    context_length: int
    spans: tuple[TokenSpan, ...]
    pinned_tokens: int = 0
    block_texts: tuple[str, ...] = ()
    disk_tokens: int = 0
    ids: tuple[int, ...] = ()
    ahead_tokens: int = 0
    memory_tokens: int = 0
    is_elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete. `token_ids` are without the end token; keep them with the message.

    `margins` holds the distance between the two best logits for each token and for the end token, after the repetition
    penalty, when the request asked for it. `text` is the answer itself; `thought` and `tool_calls` are its other parts.
    `accepted` are stretches of `text`, as (start, end) in characters: all their tokens were written ahead, by guesses
    that held. A letter that waited until the next token told whether it begins a mark, or a text that ends the answer,
    counts as that token's. Of an answer that went on they are those of what was written now.
    """

    request_id: int
    reason: FinishReason
    text: str
    token_ids: tuple[int, ...]
    stats: TurnStats
    margins: tuple[float, ...] = ()
    thought: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    accepted: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """The request or load ended without a result. `sentence` is for the user, `detail` for a log or a copy button.

    `is_refused`: the request itself cannot be answered, and would be refused again: too long, or nothing to answer.
    `is_model_gone`: no model is loaded any more; the one before was closed to make room for one that did not fit.
    """

    request_id: int
    sentence: str
    detail: str = ""
    is_refused: bool = False
    is_model_gone: bool = False


Event = Loading | Loaded | Matched | Prefill | Scored | TextDelta | TurnStats | CacheView | Preview | Finished | Failed
