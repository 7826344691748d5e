"""One request as a generator of events: template -> match -> restore -> prefill in chunks -> decode -> publish.

A cancel is looked for between two chunks and between two tokens, and within a long step through `listen`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from engine.cache.contract import Run
from engine.cache.evictions import Evicted, was_another
from engine.cache.null_cache import NullCache
from engine.cache.prefix_cache import PrefixCache
from engine.cache.salted import SaltedCache
from engine.cache.store import Lane, is_out_of_memory
from engine.events import CacheView, Divergence, Event, Prefill, Preview, TurnStats
from engine.models.graphs import Steps
from engine.models.loaded import LoadedModel
from engine.prompt.divergence import Past, explain, with_answer, without_cache
from engine.prompt.ends import template_ends
from engine.prompt.marks import AnswerFormat
from engine.prompt.template import Prompt, PromptBuilder
from engine.remembered import Remembered
from engine.stopping import Listen, StoppedError, listening
from engine.turn.ahead import ReadTokens, common_start, read_ahead
from engine.turn.answer import WrittenAnswer
from engine.turn.building import Building
from engine.turn.choosing import Choices
from engine.turn.chunks import CHUNK_S, CHUNK_TOKENS, timed_chunks
from engine.turn.draft import Draft, DraftedAnswer
from engine.turn.last_turns import PAST_BYTES, LastTurns
from engine.turn.lookup import Lookup, Lookups
from engine.turn.metrics import ColdTimes, PrefillRate, TurnClock
from engine.turn.passes import Guesser, Passes
from engine.turn.settle import settle
from engine.turn.turn import Turn, check_prompt, lack_in_words, with_room
from engine.turn.wish import Wish
from engine.types import BLOCK_TOKENS, Message, Request

WARM_UP_TOKENS, WARM_UP_FIRST, WARM_UP_LEAST = 160, 13, 48
"""A made-up prompt, after how many tokens it is cut, and how many of it a slow model reads."""
SETTLE_TOKENS, SETTLE_S = 256, 2.0
"""A usual answer, and how long reading it once more may take. It is done after every answer."""
ON_DEVICE = "on this device a token's numbers hang on how many are read with it."
DIFFERS = "a test prompt read in two pieces gave other numbers than at once."
TOO_SLOW = "this model is too large here to read every answer once more while nobody waits."
STATS_INTERVAL_S = 0.2
"""Between two reports while an answer is written: nobody reads figures that change more often."""
NOTHING = Message("assistant", "")
"""The answer of a request that was stopped before it."""

TOLD_TOKENS = 256
"""Where fewer are read ahead, such as while somebody types, nobody is told how the cache is then: who hears of it looks
at every conversation anew."""

BLOCK_TEXT_BYTES = 32_000_000
"""For the texts of blocks that previews show."""


class Responder:
    """Answers requests with one loaded model, one at a time. `clock` gives seconds. Prompts are read in chunks of
    `chunk_tokens` at most. The last turns are remembered within `past_bytes`, to explain the next ones.

    `near` says why answers with the cache may differ from those without it; "" where they are equal bit for bit. Then
    what decoding wrote is reused only after it was read once more, while nobody waits (`settle`), or with the next
    question. `warm_up` finds it out.

    `draft` is a small model that guesses what this one writes, None where there is none.

    `format` is how the model marks the parts of its answers. `end_ids` end one: the tokens that its configs name, and
    those with which its chat template ends answers."""

    def __init__(
        self,
        model: LoadedModel,
        cache: PrefixCache,
        clock: Callable[[], float],
        *,
        chunk_tokens: int = CHUNK_TOKENS,
        past_bytes: int = PAST_BYTES,
        draft: Draft | None = None,
    ) -> None:
        self.chunk_tokens = chunk_tokens
        self.model = model
        self.cache = cache
        self.rate = PrefillRate()
        self.near = ""
        self._cold_cache = NullCache(cache.store, cache.make_room, cache.regime)
        self.format = AnswerFormat.of(model.tokenizer)
        self.building = Building(PromptBuilder(model.tokenizer, model.vocabulary), self.format)
        ends = template_ends(model.tokenizer, self.format)
        self.end_ids = (model.end_ids | ends) - self.format.thought_ends
        self._choices = Choices(
            model, self.end_ids, self.format, lambda ends: self.builder.call_form(self.format, ends)
        )
        self._cold_times = ColdTimes()
        self.last_turns = LastTurns(past_bytes)
        self._read_ahead = ReadTokens()
        self._lookups = Lookups()
        self.draft = draft
        self._clock = clock
        self._text = Remembered(model.decode, BLOCK_TEXT_BYTES)

    @property
    def builder(self) -> PromptBuilder:
        """What makes prompts of messages."""
        return self.building.builder

    def view(self, request_id: int = 0, *, with_nodes: bool = False) -> CacheView:
        """The cache's memory now, with what is kept beside it; `with_nodes` adds the tree."""
        view = self.cache.view(request_id, with_nodes=with_nodes)
        beside = self._text.nbytes + self.building.nbytes + self._cold_times.nbytes + self.last_turns.nbytes
        read = self._read_ahead
        return replace(
            view,
            overhead_bytes=view.overhead_bytes + beside + read.nbytes + self._written_ahead_bytes(),
            unread_tokens=self._unread_tokens(),
            ahead_tokens=read.count,
            unasked_tokens=read.count - read.asked,
        )

    def _written_ahead_bytes(self) -> int:
        """What is kept to guess tokens of answers, but for the weights of a small model."""
        return self._lookups.nbytes + (0 if self.draft is None else self.draft.nbytes)

    def _unread_tokens(self) -> int:
        """Tokens that `settle` would make reusable."""
        newest = self.last_turns.newest()
        if self.near or newest is None or newest.namespace != self.cache.namespace:
            return 0
        if len(newest.ids) >= self.cache.context_length:  # no next turn begins with all of it
            return 0
        return len(newest.ids) - newest.reusable

    def warm_up(self) -> None:
        """Read a made-up prompt that leaves nothing in the cache, in two pieces and then at once: that measures the
        reading speed, and shows whether both ways give the same numbers."""
        kinds = min(100, self.model.vocabulary)
        ids = [index % kinds for index in range(min(WARM_UP_TOKENS, self.cache.context_length - 1))]
        run = self._cold_cache.begin(ids, 1)
        try:
            if self._timed_forward(ids[:WARM_UP_FIRST], run)[0] > CHUNK_S / 4:  # the first pass also sets kernels up
                ids = ids[:WARM_UP_LEAST]
            in_pieces = self.model.forward(ids[WARM_UP_FIRST:], run.lane, WARM_UP_FIRST), *_numbers(run, len(ids))
            seconds, logits = self._timed_forward(ids, run)
            self.rate.observe(len(ids), 0, seconds)
            at_once = logits, *_numbers(run, len(ids))
        finally:
            self._cold_cache.finish(run)
        self.near = self._why_near(all(map(torch.equal, in_pieces, at_once)))

    def _why_near(self, is_equal: bool) -> str:
        if self.model.device.type != "cpu":
            return ON_DEVICE
        if not is_equal:
            return DIFFERS
        return TOO_SLOW if self.rate.estimate(SETTLE_TOKENS) > SETTLE_S else ""

    def _timed_forward(self, ids: Sequence[int], run: Run) -> tuple[float, Tensor]:
        start = self._clock()
        logits = self.model.forward(ids, run.lane, 0)
        self.model.synchronize()
        return self._clock() - start, logits

    def answer(
        self,
        request_id: int,
        request: Request,
        submitted: float,
        is_cancelled: Callable[[], bool],
        meanwhile: Listen = lambda: None,
        longest_chunk_s: Callable[[], float] = lambda: CHUNK_S,
    ) -> Iterator[Event | None]:
        """The events of one turn, ending with Finished. Raises HeadstartError where the request cannot be answered.

        On a lack of memory blocks are dropped and the step that failed is tried again. `meanwhile` is called again and
        again while something takes long. No chunk of the prompt is to take longer than `longest_chunk_s`. Another
        answer may be worked on between two events. None says that this one has to wait until the other one ends,
        because memory does not do for both.
        """

        def listen() -> None:
            meanwhile()
            if is_cancelled():
                raise StoppedError

        clock = TurnClock(self._clock, submitted)
        cache = self._cache_of(request.salt) if request.use_cache else self._cold_cache
        nothing = Prompt((), (), request.messages)
        turn = Turn(request_id, request, nothing, cache, clock, is_cancelled, listen, longest_chunk_s)
        try:
            with clock.part("template"):
                turn.prompt = self.building.build(request, listen)
        except StoppedError:
            yield from self._end(turn, request.begun or NOTHING)
            return
        turn.kept_ends = tuple(
            turn.prompt.end_of(start.messages, start.characters, self.model.decode) for start in request.kept
        )
        turn.choice = self._choices.of(request)
        check_prompt(turn.prompt, request, self.cache.context_length, self.model.vocabulary)
        with lack_in_words():
            for event in self._play(turn):
                with clock.elsewhere():
                    yield event

    def _cache_of(self, salt: str) -> PrefixCache | SaltedCache:
        return SaltedCache(self.cache, salt) if salt else self.cache

    def _play(self, turn: Turn) -> Generator[Event | None, None, None]:
        """Look up and pin, restore, prefill, decode; then publish and unpin, remember the turn, and end it. Whatever
        happens in between, what was computed so far is published and nothing stays pinned."""
        answer = turn.request.begun or NOTHING
        if turn.is_cancelled() or (run := (yield from self._begin(turn))) is None:
            yield from self._end(turn, answer)
            return
        try:
            with turn.clock.part("restore"):
                with_room(self.cache, lambda: turn.cache.restore(run))
            turn.reused, turn.from_disk, turn.from_memory = run.reused, run.disk_tokens, run.memory_tokens
            if not turn.request.salt:
                turn.ahead = self._read_ahead.ask(turn.prompt.ids, run.reused)
            yield turn.matched(self._divergence(turn))
            logits = run.logits
            if logits is None and (logits := (yield from self._prefill(turn, run))) is not None:
                self.cache.evictions.working_for = turn.request.client
                turn.cache.keep_logits(run, logits)
            if logits is not None:
                answer = yield from self._decode(turn, run, logits)
        finally:
            if self.draft is not None:
                self.draft.end(turn)
            self.cache.evictions.working_for = turn.request.client
            turn.cache.finish(run)
        if not run.is_forgotten:
            self._remember(turn, answer, run.lane)
            self._keep(turn, len(run.lane.ids))
        yield from self._end(turn, answer)

    def _begin(self, turn: Turn) -> Generator[None, None, Run | None]:
        """Look up, pin, and hold a lane. Where another request holds memory that this one needs, wait for its end; None
        where this one is cancelled meanwhile."""
        ids, new_tokens = turn.prompt.ids, self._new_tokens(turn.request, turn.prompt)

        def begin() -> Run:
            self.cache.evictions.working_for = turn.request.client
            with turn.clock.part("lookup"):
                return turn.cache.begin(ids, new_tokens, turn.request.conversation)

        while self.cache.is_busy:
            try:
                return begin()
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
            yield None
            if turn.is_cancelled():
                return None
        return with_room(self.cache, begin)

    def _keep(self, turn: Turn, length: int) -> None:
        """Keep resident what the request asked to keep, of a sequence of `length` tokens."""
        request, prompt = turn.request, turn.prompt
        if not request.use_cache:
            return
        if request.pin_system and request.conversation:
            self.cache.keep(prompt.ids[: prompt.system_tokens], request.conversation, length, request.salt)
        for start, end in zip(request.kept, turn.kept_ends, strict=True):
            self.cache.keep_for(prompt.ids[:end], start.seconds, length, request.salt)

    def _prefill(self, turn: Turn, run: Run) -> Generator[Event, None, Tensor | None]:
        """Compute the missing part of the prompt; the last token's logits, or None when cancelled."""
        ids, start = turn.prompt.ids, run.reused
        total = len(ids) - start
        logits = None
        longest = turn.longest_chunk_s
        for first, last in timed_chunks(start, len(ids), self.chunk_tokens, self.rate.estimate, longest):
            if turn.is_cancelled():
                return None
            try:
                with turn.clock.part("prefill"):
                    logits = with_room(self.cache, partial(self._measured_forward, ids[first:last], run, first, turn))
            except StoppedError:  # what it wrote so far stands behind the lane's tokens: nobody reads it
                return None
            turn.cache.commit(run, ids[first:last], settled=True)
            yield Prefill(turn.request_id, last - start, total, self.rate.estimate(len(ids) - last, last))
        return logits

    def _decode(self, turn: Turn, run: Run, logits: Tensor) -> Generator[Event, None, Message]:
        """Sample until the answer ends; returns it."""
        text, choice = self._written(turn), turn.choice
        assert choice is not None
        told = self._clock()
        if turn.request.begun is not None:
            self._go_on(turn, turn.request.begun, text)
        limit = self._new_tokens(turn.request, turn.prompt)
        lookup = self._lookups.take(turn.request.salt, turn.request.conversation)
        passes = self._passes(turn, lookup)
        while True:
            is_thought = text.is_thinking
            token = choice.next(logits, is_thought=is_thought)
            if turn.request.record_margins:
                turn.margins.append(choice.margin)
            if (token in self.end_ids or text.is_end(token)) and not text.goes_on(token):
                turn.clock.token(is_end=True)
                turn.reason = "end"
                break
            turn.clock.token()
            if passes.is_guessed(token):
                turn.accepted.add(len(turn.ids))
            turn.ids.append(token)
            if turn.request.scores is not None:
                yield choice.scored(turn.request_id, token)
            yield from turn.deltas(text.add(token))
            if text.is_thought:
                turn.clock.thought()
            if self._clock() - told >= STATS_INTERVAL_S or len(turn.ids) == 1:
                told = self._clock()
                yield self._stats(turn)
            choice.see(token, is_thought=is_thought)
            if text.is_stopped or text.is_over or text.has_called or choice.is_full or len(turn.ids) >= limit:
                is_end = text.is_stopped or text.has_called or choice.is_full or text.length < turn.length
                turn.reason = "end" if is_end else "length"
                break
            if turn.is_cancelled() or (following := (yield from self._compute(token, turn, run, passes))) is None:
                break
            logits = following
        self._lookups.put_back(turn.request.salt, turn.request.conversation, lookup)
        yield from turn.deltas(text.finish())
        turn.cut(text.length)
        # Behind a stop string the ids say more than the text that was shown: next time the text is encoded.
        ids = () if text.is_stopped or text.has_more else (*turn.begun, *turn.ids)
        return replace(text.message(ids), thinking=turn.request.template.thinking)

    def _go_on(self, turn: Turn, begun: Message, text: WrittenAnswer) -> None:
        """Read the answer that goes on: what is written behind it is as if it had been written without a break."""
        assert turn.choice is not None
        shown = {False: 0, True: 0}
        for token in turn.begun:
            turn.choice.go_on(token, is_thought=text.is_thinking)
            for part in text.add(token):
                shown[part.is_thought] += len(part.text)
        turn.said = shown[False]
        turn.known = {
            is_thought: max(0, len(said) - shown[is_thought])
            for is_thought, said in ((False, begun.content), (True, begun.thought))
        }

    def _written(self, turn: Turn) -> WrittenAnswer:
        """What reads the answer. A model whose format has no marks needs nothing but its characters."""
        decode, request = self.model.text.marked, turn.request
        kept = len(request.begun.content) if request.begun else 0
        if (reader := self.building.reader(turn.prompt, request)) is None:
            return WrittenAnswer(decode, stop=request.stop, kept=kept)
        return WrittenAnswer(decode, self.format, reader, request.stop, is_one_call=request.one_call, kept=kept)

    def _passes(self, turn: Turn, lookup: Lookup) -> Passes:
        """What runs the model over the tokens of the answer, and over guesses where the request lets it."""
        written = len(turn.ids)

        def begin() -> Guesser:
            ids = (*turn.prompt.ids, *turn.ids[:written])
            lookup.follow(ids)
            if self.draft is None or not self.draft.begin(turn, turn.request.salt, listen):
                return lookup
            return DraftedAnswer(self.draft, lookup, ids, self.model.vocabulary)

        def listen() -> None:
            if turn.is_cancelled():
                raise StoppedError

        assert turn.choice is not None
        if not turn.choice.sees_logits:
            return Passes(self.model, None, step=turn.choice.step)
        return Passes(self.model, begin if turn.request.write_ahead else None, self.end_ids)

    def _compute(self, token: int, turn: Turn, run: Run, passes: Passes) -> Generator[Event, None, Tensor | None]:
        """The logits behind one more token of the answer, or None when cancelled."""
        passes.see(token)
        if (regime := turn.cache.regime(len(run.lane.ids) + 1)) != run.lane.regime:
            return (yield from self._read_anew(turn, run, regime))
        most = self._most_in_pass(turn, run)
        logits = with_room(self.cache, partial(passes.logits, token, run.lane, most))
        turn.passes, turn.guessed = passes.count, passes.guessed
        turn.cache.commit(run, [token], settled=bool(self.near))
        return logits

    def _most_in_pass(self, turn: Turn, run: Run) -> int:
        """How many tokens the next pass may have: none of them stands behind the end of the answer, or where the
        position code is another one."""
        left = self._new_tokens(turn.request, turn.prompt) - len(turn.ids)
        most, length = min(left, self.model.at_once), len(run.lane.ids)
        return next(count for count in range(most, 0, -1) if turn.cache.regime(length + count) == run.lane.regime)

    def _read_anew(self, turn: Turn, run: Run, regime: str) -> Generator[Event, None, Tensor | None]:
        """The answer grew past the length from which on the position code is another one: compute all that there is in
        that one, as a prompt of this length would be. The last logits, or None when cancelled."""
        whole = replace(turn.prompt, ids=turn.prompt.ids + tuple(turn.ids))
        self.cache.evictions.working_for = turn.request.client
        turn.cache.enter_regime(run, regime)
        run.prefix.clear()
        own_clock = TurnClock(self._clock, self._clock())  # the time to the first token is over
        return (yield from self._prefill(replace(turn, prompt=whole, clock=own_clock), run))

    def _measured_forward(self, ids: Sequence[int], run: Run, start: int, turn: Turn) -> Tensor:
        began, listened = self._clock(), 0.0

        def listen() -> None:
            nonlocal listened
            paused = self._clock()
            turn.listen()
            listened += self._clock() - paused

        with listening(listen):
            logits = self.model.forward(ids, run.lane, start)
        self.model.synchronize()
        self.rate.observe(len(ids), start, self._clock() - began - listened)
        return logits

    def _end(self, turn: Turn, answer: Message) -> Iterator[Event]:
        yield self.view(turn.request_id)
        yield turn.finished(answer, self._stats(turn))

    def _divergence(self, turn: Turn) -> Divergence | None:
        prompt = turn.prompt
        if not turn.request.use_cache:
            return without_cache(
                prompt, self._cache_of(turn.request.salt).peek(prompt.ids, self._new_tokens(turn.request, prompt))
            )
        past = self.last_turns.of(turn.request.conversation) if turn.request.conversation else None
        same = past is None or self.cache.regime(past.length) == self.cache.regime(len(prompt.ids))
        told = explain(
            past,
            prompt,
            turn.reused,
            self.cache.namespace,
            self.model.decode,
            same,
            relative=self.last_turns.relative(turn.request) if past is None else None,
            rebuild=partial(self.building.now, turn.request),
        )
        if told and told.cause == "evicted" and past and self._was_another(past):
            return replace(told, cause="other client")
        return told

    def _was_another(self, past: Past) -> bool:
        """Whether all that has gone from the cache since a turn made room for others."""
        then = past.evicted
        return isinstance(then, Evicted) and was_another(then, self.cache.evictions.now(past.client))

    def _stats(self, turn: Turn) -> TurnStats:
        ids, ttft = turn.prompt.ids, turn.clock.ttft_s
        queue, template = turn.clock.parts.queue, turn.clock.parts.template
        measured = self._cold_times.get(ids, turn.request.salt)
        if turn.reused == 0 and ttft is not None and measured != ttft - queue:
            measured = ttft - queue
            self._cold_times.note(ids, measured, turn.request.salt)
            self.rate.observe_from_scratch(len(ids), measured)
        estimate = template + self.rate.from_scratch(len(ids)) if measured is None else measured
        cold = (queue + estimate, measured is not None)
        stats = turn.clock.stats(turn.request_id, len(ids), turn.reused, cold, self.cache.used_bytes)
        return replace(
            stats,
            disk_tokens=turn.from_disk,
            ahead_tokens=turn.ahead,
            passes=turn.passes,
            guessed_tokens=turn.guessed,
            accepted_tokens=len(turn.accepted),
        )

    def _remember(self, turn: Turn, answer: Message, lane: Lane) -> None:
        """Keep the turn as its conversation's newest, to explain the next one."""
        if turn.request.use_cache and (turn.reason != "stopped" or turn.ids):
            request, whole = turn.request, with_answer(turn.prompt, answer)
            evicted = self.cache.evictions.now(request.client)
            past = Past(whole, self.cache.namespace, lane.settled, len(lane.ids), request.client, request.salt, evicted)
            self.last_turns.remember(request.conversation, past)

    def _new_tokens(self, request: Request, prompt: Prompt) -> int:
        return min(request.sampling.max_tokens, self.cache.context_length - len(prompt.ids))

    def preview(self, request_id: int, request: Request, listen: Listen = lambda: None) -> Preview:
        """What `answer` would reuse and compute now. `listen` is called while a long text is encoded; what it raises
        comes out, and the encoding goes on: the same preview, asked for again, finds it under way or done."""
        return self._preview(request_id, request, self.building.build(request, listen))

    def _preview(self, request_id: int, request: Request, prompt: Prompt) -> Preview:
        new_tokens = self._new_tokens(request, prompt)
        cache = self._cache_of(request.salt) if request.use_cache else self._cold_cache
        reused, from_disk, from_memory = cache.estimate(prompt.ids, new_tokens)
        computed = len(prompt.ids) - reused
        shown = min(
            len(prompt.ids), self.cache.context_length
        )  # the texts of a prompt too long to be read take seconds
        return Preview(
            request_id=request_id,
            prompt_tokens=len(prompt.ids),
            reused_tokens=reused,
            computed_tokens=computed,
            seconds=self._seconds_to_read(computed, reused),
            system_tokens=prompt.system_tokens,
            context_length=self.cache.context_length,
            spans=prompt.spans,
            pinned_tokens=min(reused, self.cache.kept_tokens(prompt.ids[:reused], len(prompt.ids), request.salt)),
            block_texts=tuple(self._text(prompt.ids[at : at + BLOCK_TOKENS]) for at in range(0, shown, BLOCK_TOKENS)),
            disk_tokens=from_disk,
            memory_tokens=from_memory,
            ids=prompt.ids,
            ahead_tokens=0 if request.salt else self._read_ahead.among(prompt.ids, reused),
        )

    def _seconds_to_read(self, computed: int, reused: int) -> float:
        """An estimate for a prompt, with what is reused of it; never more than for the same prompt from scratch."""
        whole = self.rate.from_scratch(computed + reused)
        return min(whole, self.rate.estimate(computed, reused)) if reused else whole

    def forget(self, conversation: str) -> None:
        """Keep nothing for this conversation any more, on disk neither."""
        self.last_turns.forget(conversation)
        self._lookups.forget(conversation)
        self.building.forget()
        if self.draft is not None:
            self.draft.forget()
        self.cache.forget(conversation)

    def clear(self) -> None:
        """Drop everything that no running request needs, on disk too."""
        self.building.forget()
        self.cache.clear()
        if self.draft is not None:
            self.draft.forget()
        self.cache.disk.clear()

    def read_ahead(self, wish: Wish, listen: Listen = lambda: None) -> Iterator[Event | None]:
        """While idle: read what is wished, a piece at a time, and tell what its first request would reuse then. What
        the conversation's last answer wrote is read before that, as idle work would. `listen` is called within a piece;
        what it raises comes out, and the rest can be begun again.

        A lack of memory ends it without a word, as it does `settle`. Raises HeadstartError where the request could not
        be answered.
        """
        request = wish.requests[0]
        if wish.prompt is None:
            prompts = [self.building.build(each, listen) for each in wish.requests]
            wish.prompt, wish.certain = prompts[0], common_start([prompt.ids for prompt in prompts])
        check_prompt(wish.prompt, request, self.cache.context_length, self.model.vocabulary)
        try:
            if request.use_cache:
                yield from self._read_certain(wish, wish.prompt, listen)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
        if wish.keeps and request.use_cache:
            prompt = wish.prompt
            self.cache.keep(prompt.ids[: prompt.system_tokens], request.conversation, len(prompt.ids), request.salt)
            yield self.view()
        yield self._preview(wish.request_id, request, wish.prompt)

    def _read_certain(self, wish: Wish, prompt: Prompt, listen: Listen) -> Generator[Event | None, None, None]:
        request, ids = wish.requests[0], wish.certain
        past = self.last_turns.of(request.conversation)
        if past is not None and not self.near and ids[: len(past.ids)] == past.ids:
            yield from self._settle_one(request.conversation, listen)
        cache, room = self._cache_of(request.salt), self._new_tokens(request, prompt) + len(prompt.ids) - len(ids)
        known = cache.estimate((*ids, 0), room, len(prompt.ids))
        first = known.tokens
        if first >= len(ids) and not (wish.keeps and known.disk_tokens):
            return

        def note(start: int, end: int) -> None:
            if not request.salt:
                self._read_ahead.note(ids[:end], start)

        place = room, len(prompt.ids), request.conversation
        for ready in read_ahead(self.model, cache, ids, *place, note, listen, self.chunk_tokens, self.rate.estimate):
            left = self.rate.estimate(len(ids) - ready, ready)
            yield Prefill(wish.request_id, max(0, ready - first), len(ids) - first, left)
        if len(ids) - first >= TOLD_TOKENS:
            yield self.view()

    def work_idly(self, listen: Listen = lambda: None) -> Iterator[Event | None]:
        """What there is to do while nobody waits, a step at a time. `listen` is called within a step; what it raises
        comes out, and the rest can be begun again."""
        yield from self.settle(listen)
        yield from self.write_back()
        yield from self._record(listen)

    def wait_less(self, steps: Steps) -> None:
        """Choose tokens on the device from now on, where a request allows it (`engine.turn.pipelined`)."""
        self._choices.steps = steps

    def _record(self, listen: Listen) -> Iterator[None]:
        """While idle: record what a device repeats for the next answers."""
        if self._choices.steps is not None:
            for _ in self._choices.steps.record(self.cache.idle_lanes()):
                yield None
                listen()

    def write_back(self) -> Iterator[Event | None]:
        """While idle: write blocks to disk, a step at a time; at its end the cache as it is then."""
        is_written = False
        for _ in self.cache.write_back():
            is_written = True
            yield None
        if is_written:
            yield self.view()

    def settle(self, listen: Listen = lambda: None) -> Iterator[Event | None]:
        """While idle: read once more what the newest answer wrote, of the window and of another program. A piece at a
        time; at the end of each the cache as it is then.

        Nobody asked for it, so a lack of memory ends it without a word.
        """
        try:
            yield from self._settle(listen)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise

    def _settle(self, listen: Listen) -> Generator[Event | None, None, None]:
        if self.near:
            return
        for conversation in self.last_turns.newest_of_each():
            yield from self._settle_one(conversation, listen)

    def _settle_one(self, conversation: str, listen: Listen) -> Generator[Event | None, None, None]:
        past = self.last_turns.of(conversation)
        if past is None or past.namespace != self.cache.namespace:
            return
        note = partial(self.last_turns.note_reusable, conversation, past)
        self.cache.evictions.working_for = past.client
        chunks = self.chunk_tokens, self.rate.estimate
        yield from settle(self.model, self._cache_of(past.salt), conversation, past, note, listen, *chunks)
        if self.last_turns.of(conversation) != past:
            yield self.view()


def _numbers(run: Run, count: int) -> list[Tensor]:
    """The keys and values of the first tokens in the lane of a run, copied."""
    return [buffer[:, :, :count].clone() for buffer in run.lane.keys + run.lane.values]
