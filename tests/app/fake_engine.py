"""A scripted engine: the same methods as the real one, no model, no thread, the same events every time.

Events are made when they are polled. By default everything is there at once. With `tokens_per_poll` a drain gets that
many tokens (60 with the bridge's 60 ms: 1,000 tokens a second). With `manual=True` nothing comes until the test calls
`advance`, `run_all` or `release`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from engine import (
    BLOCK_TOKENS,
    CacheView,
    Event,
    Failed,
    Finished,
    FinishReason,
    Loaded,
    Loading,
    Matched,
    Message,
    ModelInfo,
    ModelSpec,
    NodeView,
    Prefill,
    Preview,
    Request,
    TextDelta,
    TtftParts,
    TurnStats,
)
from tests.app.fake_script import FIRST_ID, MODEL, Script, common_length, many_tokens, spans_of, words

__all__ = ["FIRST_ID", "MODEL", "FakeEngine", "Script", "many_tokens", "words"]


@dataclass
class _Job:
    request_id: int
    events: Iterator[Event] = field(default_factory=lambda: iter(()))
    cancelled: bool = False


@dataclass
class _Turn:
    request_id: int
    request: Request
    script: Script
    prompt: int
    reused: int
    ahead: int
    written: int = 0

    @property
    def accepted(self) -> list[tuple[int, int]]:
        """The stretches of the text that were written ahead so far."""
        return self.script.stretches(self.written - self.thought_tokens) if self.request.write_ahead else []

    @property
    def computed(self) -> int:
        return self.prompt - self.reused

    @property
    def thought_tokens(self) -> int:
        return min(self.written, len(self.script.thought))


class FakeEngine:
    """An EnginePort that follows `scripts`, one a request in the order of submission; the last one repeats.

    What was asked of it is in `requests`, `previews`, `wishes`, those of them to be `kept`, `specs`, `cancelled` and
    `calls`. `load_failure` makes every load fail with this sentence.
    """

    def __init__(
        self,
        *scripts: Script,
        tokens_per_poll: int = 0,
        manual: bool = False,
        model: ModelInfo = MODEL,
        load_failure: str = "",
    ) -> None:
        self.requests: list[Request] = []
        self.previews: list[Request] = []
        self.wishes: list[tuple[Request, ...]] = []
        self.kept: list[Request] = []
        self.ahead_pieces = 2
        self._ahead: list[tuple[Request, int]] = []
        self.specs: list[ModelSpec] = []
        self.cancelled: list[int] = []
        self.calls: list[str] = []
        self.closed = False
        self.waited: list[float] = []
        self.while_waiting: Callable[[], object] = lambda: None
        self.model = model
        self.load_failure = load_failure
        self.budget_bytes = model.cache_budget_bytes
        self.scripts = scripts or (Script(),)
        self._tokens_per_poll = tokens_per_poll
        self._manual = manual
        self._next_id = 1
        self._jobs: deque[_Job] = deque()
        self._ready: deque[Event] = deque()
        self._rested = True
        self._seen: list[tuple[tuple[object, ...], tuple[Message, ...]]] = []
        self._tokens = self._kept = 0
        self._turns = 0

    # EnginePort

    def load(self, spec: ModelSpec) -> int:
        """Two steps of loading, then the model, or `load_failure`; cancelled, it ends before its next step."""
        self.specs.append(spec)
        return self._enqueue(self._load)

    def submit(self, request: Request) -> int:
        """Queue a request; one is answered after the other."""
        self.requests.append(request)
        return self._enqueue(lambda job: self._answer(job, request))

    def read_ahead(self, request: Request, others: Sequence[Request] = (), *, keeps: bool = False) -> int:
        """Queued behind what was asked for before: `ahead_pieces` pieces, then a preview in which all that the requests
        begin with is reused. Nothing of it is told from what turns left."""
        self.wishes.append((request, *others))
        if keeps:
            self.kept.append(request)
        return self._enqueue(lambda job: self._read_ahead(job, request, others))

    def preview(self, request: Request) -> int:
        """Answered at once, also while something runs."""
        self.previews.append(request)
        request_id = self._take_id()
        self._ready.append(self._preview(request_id, request))
        return request_id

    def _preview(self, request_id: int, request: Request) -> Preview:
        prompt, reused, ahead = self._count(request)
        spans = spans_of(request)
        system = sum(span.end - span.start for span in spans if span.role == "system")
        seconds = (prompt - reused) / self.model.prefill_tokens_per_s
        pinned = min(reused - ahead, system) // BLOCK_TOKENS * BLOCK_TOKENS
        texts = tuple(f"block {at} " for at in range(-(-prompt // BLOCK_TOKENS)))
        limit = self.model.context_length
        return Preview(
            request_id,
            prompt,
            reused,
            prompt - reused,
            seconds,
            system,
            limit,
            spans,
            pinned,
            texts,
            ahead_tokens=ahead,
        )

    def cancel(self, request_id: int) -> None:
        """The request ends as stopped, with what is written, when it is next its turn."""
        self.cancelled.append(request_id)
        for job in self._jobs:
            if job.request_id == request_id:
                job.cancelled = True

    def set_cache_budget(self, budget_bytes: int) -> None:
        """Remembered, and reported."""
        self.calls.append(f"set_cache_budget {budget_bytes}")
        self.budget_bytes = budget_bytes
        self._ready.append(self._view(0))

    def set_disk_budget(self, budget_bytes: int | None) -> None:
        """Noted in `calls`."""
        self.calls.append(f"set_disk_budget {budget_bytes}")
        self._ready.append(self._view(0))

    def clear_cache(self) -> None:
        """Nothing is reused after this."""
        self.calls.append("clear_cache")
        self._seen.clear()
        self._ahead.clear()
        self._tokens = self._kept = 0
        self._ready.append(self._view(0))

    def forget(self, conversation: str) -> None:
        """Noted in `calls`; the cache stays as it is."""
        self.calls.append(f"forget {conversation}")
        self._ready.append(self._view(0))

    def keep_only(self, conversations: Collection[str]) -> None:
        """Noted in `calls`."""
        self.calls.append(f"keep_only {' '.join(sorted(conversations))}")
        self._ready.append(self._view(0))

    def keep_prefix(self, block: int) -> None:
        """Noted in `calls`; the cache stays as it is."""
        self.calls.append("keep_prefix")
        self._ready.append(self._view(0))

    def release_prefix(self, block: int) -> None:
        """Noted in `calls`; the cache stays as it is."""
        self.calls.append("release_prefix")
        self._ready.append(self._view(0))

    def drop_prefix(self, block: int) -> None:
        """Noted in `calls`; the cache stays as it is."""
        self.calls.append("drop_prefix")
        self._ready.append(self._view(0))

    def cache_view(self) -> CacheView:
        """The present figures with two nodes: the system prompt, or the first 64 tokens, and the rest."""
        view = self._view(0)
        bytes_per_token = self.model.kv_bytes_per_token
        first = self._kept or 64
        rest = max(0, self._tokens - first) or 64
        nodes = (
            NodeView(-1, 0, first, first * bytes_per_token, 1.0, 3, True, ("fake",)),
            NodeView(0, first, rest, rest * bytes_per_token, 0.5, 1, False, ("fake",)),
        )
        return replace(view, nodes=nodes)

    def beside(self, wake: Callable[[], None] = lambda: None) -> FakeEngine:
        """An engine of its own with the same scripts."""
        return FakeEngine(*self.scripts, model=self.model)

    def poll(self, limit: int = 256) -> list[Event]:
        """What is there now. With `tokens_per_poll` every second call is empty, so that a drain ends."""
        if not self._manual:
            self._make_ready()
        return [self._ready.popleft() for _ in range(min(limit, len(self._ready)))]

    def wait(self, timeout_s: float) -> bool:
        """Whether there is something now, after `while_waiting`: time does not pass here. Noted in `waited`."""
        self.waited.append(timeout_s)
        self.while_waiting()
        return bool(self._ready)

    def close(self, timeout_s: float = 6.0) -> bool:
        """Remembered in `closed`."""
        self.closed = True
        self._jobs.clear()
        self._ready.clear()
        return True

    # For tests

    def advance(self, events: int = 1) -> None:
        """Make the next events ready to be polled."""
        for _ in range(events):
            self._step()

    def advance_to(self, kind: type) -> Event:
        """Make events ready up to and with the first of this kind, and return it."""
        while event := self._step():
            if isinstance(event, kind):
                return event
        raise AssertionError(f"no {kind.__name__} came")

    def run_all(self) -> None:
        """Make everything ready that was asked for."""
        while self._step():
            pass

    def inject(self, event: Event) -> None:
        """Make any event ready, for instance a stale one."""
        self._ready.append(event)

    def release(self) -> None:
        """From now on everything comes by itself."""
        self._manual = False

    # The script

    def _make_ready(self) -> None:
        if not self._tokens_per_poll:
            self.run_all()
            return
        self._rested = not self._rested
        if self._rested:
            return
        tokens = 0
        while tokens < self._tokens_per_poll and (event := self._step()):
            tokens += isinstance(event, TextDelta)

    def _step(self) -> Event | None:
        while self._jobs:
            event = next(self._jobs[0].events, None)
            if event is not None:
                self._ready.append(event)
                return event
            self._jobs.popleft()
        return None

    def _enqueue(self, play: Callable[[_Job], Iterator[Event]]) -> int:
        job = _Job(self._take_id())
        job.events = play(job)
        self._jobs.append(job)
        return job.request_id

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _load(self, job: _Job) -> Iterator[Event]:
        for stage, share in (("Reading the tokenizer", None), ("Reading the weights", 0.5)):
            if job.cancelled:
                yield Failed(job.request_id, "The model was not loaded: that was stopped.")
                return
            yield Loading(job.request_id, stage, share)
        if self.load_failure:
            yield Failed(job.request_id, self.load_failure, "told to fail")
            return
        yield Loaded(job.request_id, self.model)

    def _answer(self, job: _Job, request: Request) -> Iterator[Event]:
        script = self.scripts[min(self._turns, len(self.scripts) - 1)]
        self._turns += 1
        turn = _Turn(job.request_id, request, script, *self._count(request))
        for event in self._play(turn):
            if job.cancelled:
                break
            yield event
            turn.written += isinstance(event, TextDelta)
            if isinstance(event, Failed):
                return
        yield from self._end(turn, "stopped" if job.cancelled else script.reason)

    def _play(self, turn: _Turn) -> Iterator[Event]:
        script, number = turn.script, turn.request_id
        if script.fail_after == -1:
            yield Failed(number, script.sentence, script.detail, script.is_refused)
        spans = spans_of(turn.request)
        notices = script.notices
        ends = [max((span.end for span in spans[: start.messages]), default=0) for start in turn.request.kept]
        yield Matched(
            request_id=number,
            prompt_tokens=turn.prompt,
            reused_tokens=turn.reused,
            computed_tokens=turn.computed,
            divergence=script.divergence,
            spans=spans,
            notices=notices,
            kept_ends=tuple(ends),
            ahead_tokens=turn.ahead,
        )
        for chunk in range(script.prefill_chunks):
            done = turn.computed * (chunk + 1) // script.prefill_chunks
            yield Prefill(number, done, turn.computed, (turn.computed - done) / self.model.prefill_tokens_per_s)
        begun = len(turn.request.begun.token_ids) if turn.request.begun else 0
        for index, piece in enumerate(script.thought):
            yield TextDelta(number, piece, is_thought=True, token_ids=(FIRST_ID + begun + index,))
            if (index + 1) % script.stats_every == 0:
                yield self._stats(turn)
        for index, piece in enumerate(script.tokens):
            if script.fail_after == index:
                yield Failed(number, script.sentence, script.detail)
            at = FIRST_ID + begun + len(script.thought) + index
            yield TextDelta(number, piece, token_ids=(at,))
            if (index + 1) % script.stats_every == 0:
                yield self._stats(turn)

    def _end(self, turn: _Turn, reason: FinishReason) -> Iterator[Event]:
        thought = "".join(turn.script.thought[: turn.written])
        text = "".join(turn.script.tokens[: turn.written - turn.thought_tokens])
        calls = turn.script.tool_calls if reason == "end" else ()
        begun = turn.request.begun or Message("assistant", "")
        start = FIRST_ID + len(begun.token_ids)
        token_ids = (*begun.token_ids, *range(start, start + turn.written))
        text, thought = begun.content + text, begun.thought + thought
        if turn.request.use_cache:
            answer = Message("assistant", text, token_ids, thought, calls)
            self._seen.append((turn.request.template, (*turn.request.messages, answer)))
            self._tokens = self._held(turn.request)
            system = sum(span.end - span.start for span in spans_of(turn.request) if span.role == "system")
            self._kept = max(self._kept, system // BLOCK_TOKENS * BLOCK_TOKENS)
        yield self._view(turn.request_id)
        margins = (1.0,) * turn.written if turn.request.record_margins else ()
        at = len(begun.content)
        accepted = tuple((at + start, at + end) for start, end in turn.accepted)
        stats = self._stats(turn)
        yield Finished(turn.request_id, reason, text, token_ids, stats, margins, thought, calls, accepted)

    def _stats(self, turn: _Turn) -> TurnStats:
        rate = self.model.prefill_tokens_per_s
        parts = TtftParts(template=0.001, lookup=0.001, prefill=turn.computed / rate, first_token=0.01)
        ttft = parts.template + parts.lookup + parts.prefill + parts.first_token
        return TurnStats(
            request_id=turn.request_id,
            prompt_tokens=turn.prompt,
            reused_tokens=turn.reused,
            computed_tokens=turn.computed,
            written_tokens=turn.written,
            ttft_s=ttft if turn.written else None,
            parts=parts,
            tokens_per_s=50.0 if turn.written > 1 else 0.0,
            cold_ttft_s=ttft + turn.reused / rate,
            cold_measured=False,
            cache_bytes=self._tokens * self.model.kv_bytes_per_token,
            thought_tokens=turn.thought_tokens,
            thought_s=turn.thought_tokens / 10,
            ahead_tokens=turn.ahead,
            passes=max(0, turn.written - 1 - len(turn.accepted)),
            guessed_tokens=2 * len(turn.accepted),
            accepted_tokens=len(turn.accepted),
        )

    def _read_ahead(self, job: _Job, request: Request, others: Sequence[Request]) -> Iterator[Event]:
        certain = min((_alike(request, other) for other in others), default=sum(_sizes(request)))
        total = max(0, certain - self._count(request)[1])
        for piece in range(self.ahead_pieces if total else 0):
            if job.cancelled:
                break
            done = total * (piece + 1) // self.ahead_pieces
            yield Prefill(job.request_id, done, total, (total - done) / self.model.prefill_tokens_per_s)
        if job.cancelled:
            yield Failed(job.request_id, "Nothing was read ahead: that was stopped.")
            return
        self._ahead.append((request, certain))
        yield self._preview(job.request_id, request)

    def _count(self, request: Request) -> tuple[int, int, int]:
        """Tokens of the prompt, how many of them are in the cache, and how many of those were read ahead."""
        messages = (*request.messages, request.begun) if request.begun else request.messages
        sizes = _sizes(replace(request, messages=messages, begun=None))
        if not request.use_cache:
            return sum(sizes), 0, 0
        alike = [seen for template, seen in self._seen if template == request.template]
        shared = max((common_length(seen, messages) for seen in alike), default=0)
        left = min(sum(sizes[:shared]), sum(sizes) - 1)
        ahead = max((min(certain, _alike(request, read)) for read, certain in self._ahead), default=0)
        reused = max(left, min(ahead, sum(sizes) - 1))
        return sum(sizes), reused, reused - left

    def _held(self, request: Request) -> int:
        """The tokens of all that was seen; what several begin with counts once."""
        parts: dict[object, int] = {}
        for template, seen in self._seen:
            sizes = _sizes(replace(request, messages=seen, begun=None, is_plain=False))
            parts |= {(template, seen[: place + 1]): size for place, size in enumerate(sizes)}
        return sum(parts.values())

    def _view(self, request_id: int) -> CacheView:
        held = self._tokens * self.model.kv_bytes_per_token
        pinned = min(held, self._kept * self.model.kv_bytes_per_token)
        return CacheView(request_id, float(self._turns), self.budget_bytes, pinned, 0, held - pinned, 0, self._tokens)


def _sizes(request: Request) -> list[int]:
    """The tokens of each message."""
    return [span.end - span.start for span in spans_of(request)]


def _alike(one: Request, other: Request) -> int:
    """How many tokens two prompts begin with alike: whole messages, and of the first that differs a token for four
    characters."""
    if one.template != other.template:
        return 0
    count = common_length(one.messages, other.messages)
    alike = sum(_sizes(one)[:count])
    if count < min(len(one.messages), len(other.messages)):
        texts = one.messages[count].content, other.messages[count].content
        alike += 4 + common_length(*texts) // 4
    return alike
