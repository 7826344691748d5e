"""One request as a generator: match -> prefill in chunks -> decode. Yields events, checks for cancel in between."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from torch import Tensor

from engine.cache import PrefixCache
from engine.detokenize import Detokenizer
from engine.diverge import Past, explain, with_answer, without_cache
from engine.events import Divergence, Event, Finished, Prefill, Preview, TextDelta, TurnStats
from engine.metrics import ColdTimes, PrefillRate, TurnClock
from engine.model import LoadedModel
from engine.nullcache import NullCache, Run
from engine.pieces import pieces
from engine.room import lack_in_words, with_room
from engine.sampling import Penalty, make_generator, margin, sample
from engine.settling import settle
from engine.store import Lane, is_out_of_memory
from engine.template import Prompt, PromptBuilder
from engine.turn import Turn, check_prompt
from engine.types import BLOCK_TOKENS, Request

CHUNK_TOKENS = 512
"""Prefill piece of the default mode: a stop is heard after at most one."""

WARM_UP_TOKENS = 128
STATS_INTERVAL_S = 0.2
"""Between two reports while an answer is written: nobody reads figures that change more often."""
REMEMBERED_CONVERSATIONS = 256


class Responder:
    """Answers requests with one loaded model, one at a time. `clock` gives seconds."""

    def __init__(self, model: LoadedModel, cache: PrefixCache, clock: Callable[[], float]) -> None:
        self.model = model
        self.cache = cache
        self.rate = PrefillRate()
        self._cold_cache = NullCache(cache.store, cache.make_room, cache.regime)
        self._builder = PromptBuilder(model.tokenizer, model.vocabulary)
        self._cold_times = ColdTimes()
        self._past: dict[str, Past] = {}
        self._clock = clock
        self._text = lru_cache(maxsize=65_536)(model.decode)

    @property
    def past(self) -> Mapping[str, Past]:
        """The last turn of each conversation; no tensors."""
        return self._past

    def take_over(self, past: Mapping[str, Past]) -> None:
        """Know the conversations of the model before, to say that it was the model that changed."""
        self._past = dict(past)

    def warm_up(self) -> None:
        """Measure the reading speed once, on a short made-up prompt that leaves nothing in the cache."""
        kinds = min(100, self.model.vocabulary)
        ids = [index % kinds for index in range(min(WARM_UP_TOKENS, self.cache.context_length - 1))]
        run = self._cold_cache.begin(ids, 1)
        try:
            self.model.forward(ids[: WARM_UP_TOKENS // 4], run.lane, 0)  # the first pass also sets kernels up
            self.model.synchronize()
            start = self._clock()
            self.model.forward(ids, run.lane, 0)
            self.model.synchronize()
            self.rate.observe(len(ids), 0, self._clock() - start)
        finally:
            self._cold_cache.finish(run)

    def preview(self, request_id: int, request: Request) -> Preview:
        """What `answer` would reuse and compute now."""
        prompt = self._builder.build(request.messages, request.day, request.tools)
        new_tokens = self._new_tokens(request, prompt)
        cache = self.cache if request.use_cache else self._cold_cache
        reused, from_disk = cache.foresee(prompt.ids, new_tokens)
        computed = len(prompt.ids) - reused
        return Preview(
            request_id=request_id,
            prompt_tokens=len(prompt.ids),
            reused_tokens=reused,
            computed_tokens=computed,
            seconds=self.rate.estimate(computed, reused),
            system_tokens=prompt.system_tokens,
            context_length=self.cache.context_length,
            spans=prompt.spans,
            pinned_tokens=min(reused, self.cache.kept_tokens(prompt.ids[:reused], len(prompt.ids))),
            block_texts=tuple(
                self._text(prompt.ids[at : at + BLOCK_TOKENS]) for at in range(0, len(prompt.ids), BLOCK_TOKENS)
            ),
            disk_tokens=from_disk,
        )

    def answer(
        self, request_id: int, request: Request, submitted: float, is_cancelled: Callable[[], bool]
    ) -> Iterator[Event]:
        """The events of one turn, ending with Finished. Raises HeadstartError where the request cannot be answered.

        On a lack of memory blocks are dropped and the step that failed is tried again: see `with_room`.
        """
        clock = TurnClock(self._clock, submitted)
        with clock.part("template"):
            prompt = self._builder.build(request.messages, request.day, request.tools)
        check_prompt(prompt, self.cache.context_length, self.model.vocabulary)
        cache = self.cache if request.use_cache else self._cold_cache
        turn = Turn(request_id, request, prompt, cache, clock, is_cancelled)
        with lack_in_words():
            yield from self._attempt(turn)

    def forget(self, conversation: str) -> None:
        """Keep nothing for this conversation any more, on disk neither."""
        self.cache.forget(conversation)
        self._past.pop(conversation, None)

    def clear(self) -> None:
        """Drop everything that no running request needs, on disk too."""
        self.cache.clear()
        self.cache.disk.clear()

    def work_idly(self) -> Iterator[Event | None]:
        """What there is to do while nobody waits, a step at a time."""
        yield from self.settle()
        yield from self.write_back()

    def write_back(self) -> Iterator[Event | None]:
        """While idle: write blocks to disk, a step at a time; at its end the cache as it is then."""
        is_written = False
        for _ in self.cache.write_back():
            is_written = True
            yield None
        if is_written:
            yield self.cache.view()

    def settle(self) -> Iterator[Event | None]:
        """Exact mode, while idle: compute the newest conversation's full grid steps as a cold run would. A step at a
        time; at its end the cache as it is then.

        Nobody asked for it, so a lack of memory ends it without a word.
        """
        try:
            yield from self._settle()
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise

    def _settle(self) -> Generator[Event | None, None, None]:
        if not self.cache.step or not self._past:
            return
        conversation, past = next(reversed(self._past.items()))
        if past.namespace != self.cache.namespace:
            return

        def note(reusable: int) -> None:
            if conversation in self._past:
                self._past[conversation] = replace(past, reusable=reusable)

        if (yield from settle(self.model, self.cache, conversation, past, note)):
            yield self.cache.view()

    def _attempt(self, turn: Turn) -> Generator[Event, None, None]:
        conversation, prompt = turn.request.conversation, turn.prompt
        if turn.is_cancelled():
            yield from self._end(turn, "")
            return
        with turn.clock.part("lookup"):
            new_tokens = self._new_tokens(turn.request, prompt)
            run = with_room(self.cache, lambda: turn.cache.begin(prompt.ids, new_tokens, conversation))
        try:
            with turn.clock.part("restore"):
                with_room(self.cache, lambda: turn.cache.restore(run))
            turn.reused, turn.from_disk = run.reused, run.disk_tokens
            yield turn.matched(self._divergence(turn))
            logits = run.logits
            if logits is None and (logits := (yield from self._prefill(turn, run))) is not None:
                turn.cache.keep_logits(run, logits)
            text = ""
            if logits is not None:
                text = yield from self._decode(turn, run, logits)
        finally:
            turn.cache.finish(run)
        if not run.is_forgotten:
            self._remember(turn, text, run.lane)
            if turn.request.use_cache and turn.request.pin_system and conversation:
                self.cache.keep(prompt.ids[: prompt.system_tokens], conversation, len(run.lane.ids))
        yield from self._end(turn, text)

    def _end(self, turn: Turn, text: str) -> Iterator[Event]:
        yield self.cache.view(turn.request_id)
        yield Finished(turn.request_id, turn.reason, text, tuple(turn.ids), self._stats(turn), tuple(turn.margins))

    def _prefill(self, turn: Turn, run: Run) -> Generator[Event, None, Tensor | None]:
        """Compute the missing part of the prompt; the last token's logits, or None when cancelled."""
        ids, start = turn.prompt.ids, run.reused
        total = len(ids) - start
        logits = None
        for first, last in pieces(start, len(ids), self.cache.step or CHUNK_TOKENS, is_exact=bool(self.cache.step)):
            if turn.is_cancelled():
                return None
            with turn.clock.part("prefill"):
                logits = with_room(self.cache, partial(self._measured_forward, ids[first:last], run, first))
            full_step = not self.cache.step or (last % self.cache.step == 0 and last - first == self.cache.step)
            turn.cache.commit(run, ids[first:last], settled=full_step)
            yield Prefill(turn.request_id, last - start, total, self.rate.estimate(len(ids) - last, last))
        return logits

    def _decode(self, turn: Turn, run: Run, logits: Tensor) -> Generator[Event, None, str]:
        """Sample until the answer ends; returns its text."""
        sampling = turn.request.sampling
        generator = make_generator(sampling)
        text = Detokenizer(self.model.decode, turn.request.stop)
        told = self._clock()
        penalise = Penalty(sampling.repetition_penalty, self.model.special_ids)
        limit = self._new_tokens(turn.request, turn.prompt)
        while True:
            logits = penalise(logits)
            token = sample(logits, sampling, generator)
            if turn.request.record_margins:
                turn.margins.append(margin(logits))
            if token in self.model.end_ids:
                turn.clock.token(is_end=True)
                turn.reason = "end"
                break
            turn.clock.token()
            turn.ids.append(token)
            penalise.see(token)
            if delta := text.add(token):
                yield TextDelta(turn.request_id, delta)
            if self._clock() - told >= STATS_INTERVAL_S or len(turn.ids) == 1:
                told = self._clock()
                yield self._stats(turn)
            if text.stopped or len(turn.ids) >= limit:
                turn.reason = "end" if text.stopped else "length"
                break
            if turn.is_cancelled():
                break
            position = len(run.lane.ids)
            if (regime := self.cache.regime(position + 1)) != run.lane.regime:
                anew = yield from self._read_anew(turn, run, regime)
                if anew is None:
                    break
                logits = anew
                continue
            logits = with_room(self.cache, partial(self._step, token, run.lane, position))
            turn.cache.commit(run, [token], settled=not self.cache.step)
        if delta := text.finish():
            yield TextDelta(turn.request_id, delta)
        if text.stopped:
            turn.ids.clear()  # the ids say more than the text that was shown: next time the text is encoded
        return text.text

    def _read_anew(self, turn: Turn, run: Run, regime: str) -> Generator[Event, None, Tensor | None]:
        """The answer grew past the length from which on the position code is another one: compute all that there is in
        that one, as a prompt of this length would be. The last logits, or None when cancelled."""
        whole = replace(turn.prompt, ids=turn.prompt.ids + tuple(turn.ids))
        turn.cache.enter_regime(run, regime)
        run.prefix.clear()
        own_clock = TurnClock(self._clock, self._clock())  # the time to the first token is over
        return (yield from self._prefill(replace(turn, prompt=whole, clock=own_clock), run))

    def _step(self, token: int, lane: Lane, position: int) -> Tensor:
        return self.model.forward([token], lane, position, is_answer=True)

    def _measured_forward(self, ids: Sequence[int], run: Run, start: int) -> Tensor:
        began = self._clock()
        logits = self.model.forward(ids, run.lane, start)
        self.model.synchronize()
        self.rate.observe(len(ids), start, self._clock() - began)
        return logits

    def _divergence(self, turn: Turn) -> Divergence | None:
        prompt, unit = turn.prompt, self.cache.step or BLOCK_TOKENS
        if not turn.request.use_cache:
            return without_cache(prompt, self.cache.peek(prompt.ids, self._new_tokens(turn.request, prompt)))
        past = self._past.get(turn.request.conversation) if turn.request.conversation else None
        same = past is None or self.cache.regime(past.length) == self.cache.regime(len(prompt.ids))
        return explain(past, prompt, turn.reused, self.cache.namespace, self.model.decode, unit, same)

    def _stats(self, turn: Turn) -> TurnStats:
        ids, ttft = turn.prompt.ids, turn.clock.ttft_s
        queue, template = turn.clock.parts.queue, turn.clock.parts.template
        if turn.reused == 0 and ttft is not None:
            self._cold_times.note(ids, ttft - queue)
        measured = self._cold_times.get(ids)
        estimate = template + self.rate.estimate(len(ids)) if measured is None else measured
        cold = (queue + estimate, measured is not None)
        stats = turn.clock.stats(turn.request_id, len(ids), turn.reused, cold, self.cache.store.used_bytes)
        return replace(stats, disk_tokens=turn.from_disk)

    def _remember(self, turn: Turn, text: str, lane: Lane) -> None:
        """Keep the turn as its conversation's newest, to explain the next one."""
        if turn.request.use_cache and (turn.reason != "stopped" or turn.ids):
            self._past.pop(turn.request.conversation, None)
            whole = with_answer(turn.prompt, text, tuple(turn.ids))
            self._past[turn.request.conversation] = Past(whole, self.cache.namespace, lane.settled, len(lane.ids))
            if len(self._past) > REMEMBERED_CONVERSATIONS:
                del self._past[next(iter(self._past))]

    def _new_tokens(self, request: Request, prompt: Prompt) -> int:
        return min(request.sampling.max_tokens, self.cache.context_length - len(prompt.ids))
