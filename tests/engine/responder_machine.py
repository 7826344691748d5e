"""A machine that chats with the tiny real model through a Responder, and asks a cold run after every answer."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial

import torch
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from engine.events import CacheView, Finished, Matched, Preview, TextDelta
from engine.models.loaded import LoadedModel
from engine.turn.wish import Wish
from engine.types import Message, OutOfMemoryError, PromptTooLongError, Request, Sampling
from tests.engine.inside import build_prompt, is_idle
from tests.engine.tiny_models import make_model, make_packed
from tests.engine.turns import Chat, SpyModel, events, make_responder

CONTEXT = 320
CHUNK = 32
KINDS = ("packed", "fast", "transformers")
"""Weights packed as a GGUF file has them; our forward pass; transformers' own."""
SYSTEMS = ("", "You answer questions about parcels.", "You answer questions about tents, in verse.")
QUESTIONS = ("Where is it?", "Where is the parcel of the customer now?", "Why? 🙂", "And the stove " * 6)
DAY = date(2026, 12, 2)
WORDS = st.sampled_from(QUESTIONS)


@cache
def model(kind: str, is_bf16: bool) -> LoadedModel:
    """One tiny model of each kind for all runs; it has no state of its own. Ours writes in few bits."""
    if kind == "packed":
        return make_packed("bf16" if is_bf16 else "fp32")
    dtype = torch.bfloat16 if is_bf16 else torch.float32
    return make_model(dtype, is_fast=kind == "fast", bits="int4" if kind == "fast" else None)


@dataclass
class Cut:
    """Where a request is disturbed: cancelled at look number `at`, its generator closed after `at` events, or a forward
    pass that raises."""

    kind: str
    at: int


cuts = st.builds(Cut, st.sampled_from(["cancel", "close", "error", "memory"]), st.integers(0, 14))


class ResponderMachine(RuleBasedStateMachine):
    """Chats that go on, are edited, branch, are regenerated and disturbed; budgets that move. All of it bit for bit,
    and two answers of three are written ahead, as those of the oracle never are."""

    chats = Bundle("chats")

    @initialize(tokens=st.integers(1, 6), kind=st.sampled_from(KINDS), is_bf16=st.booleans(), greedy=st.booleans())
    def start(self, tokens: int, kind: str, is_bf16: bool, greedy: bool) -> None:
        """A cache of one to six contexts."""
        short = partial(make_responder, context=CONTEXT, chunk_tokens=CHUNK, lane_step=64)
        self.spy = SpyModel(model(kind, is_bf16), at_once=8)
        self.responder = short(self.spy, tokens=tokens * CONTEXT)
        self.oracle_spy = SpyModel(model(kind, is_bf16))
        self.oracle = short(self.oracle_spy, tokens=CONTEXT)
        self.sampling = Sampling(temperature=0.0) if greedy else Sampling(temperature=1.5, top_p=1.0)
        self.count = 0

    @rule(target=chats, system=st.sampled_from(SYSTEMS), question=WORDS, length=st.integers(1, 40))
    def new_chat(self, system: str, question: str, length: int) -> Chat:
        """A first question."""
        self.count += 1
        chat = Chat(self.responder, system, f"chat {self.count}")
        self._ask(chat, [*chat.messages, Message("user", question)], length)
        return chat

    @rule(chat=chats, question=WORDS, length=st.integers(1, 40))
    def go_on(self, chat: Chat, question: str, length: int) -> None:
        """The next question."""
        self._ask(chat, [*chat.messages, Message("user", question)], length)

    @rule(chat=chats, at=st.integers(0, 20), question=WORDS, length=st.integers(1, 30))
    def edit(self, chat: Chat, at: int, question: str, length: int) -> None:
        """An earlier question is asked differently."""
        users = [index for index, message in enumerate(chat.messages) if message.role == "user"]
        if users:
            self._ask(chat, [*chat.messages[: users[at % len(users)]], Message("user", question)], length)

    @rule(target=chats, chat=chats, question=WORDS, length=st.integers(1, 30))
    def branch(self, chat: Chat, question: str, length: int) -> Chat:
        """Another chat that begins as this one does."""
        self.count += 1
        other = Chat(self.responder, "", f"chat {self.count}", messages=list(chat.messages))
        self._ask(other, [*other.messages, Message("user", question)], length)
        return other

    @rule(chat=chats, length=st.integers(1, 40))
    def regenerate(self, chat: Chat, length: int) -> None:
        """The last question once more, with another seed."""
        if chat.messages and chat.messages[-1].role == "assistant":
            self._ask(chat, chat.messages[:-1], length)

    @rule(chat=chats, question=WORDS, cut=cuts)
    def disturb(self, chat: Chat, question: str, cut: Cut) -> None:
        """A request that does not come to its end, for one of many reasons."""
        request = self._request(chat, [*chat.messages, Message("user", question)], 12)
        looks, calls = [0], len(self.spy.calls)

        def is_cancelled() -> bool:
            looks[0] += 1
            return cut.kind == "cancel" and looks[0] > cut.at

        def before(call: int) -> None:
            if call - calls == cut.at + 1 and cut.kind in ("error", "memory"):
                raise RuntimeError("made to fail" if cut.kind == "error" else "can't allocate memory")

        self.spy.before_forward = before
        running = events(self.responder, request, is_cancelled=is_cancelled)
        try:
            for number, _ in enumerate(running):
                if cut.kind == "close" and number == cut.at:
                    running.close()  # type: ignore[attr-defined]
        except (RuntimeError, OutOfMemoryError, PromptTooLongError):
            pass
        self.spy.before_forward = lambda call: None

    @rule(chat=chats, question=WORDS)
    def ask_cold(self, chat: Chat, question: str) -> None:
        """A request with the cache off in between."""
        self._ask(chat, [*chat.messages, Message("user", question)], 6, use_cache=False)

    @rule(contexts=st.integers(0, 6))
    def set_budget(self, contexts: int) -> None:
        """The budget moves."""
        self.responder.cache.set_budget(contexts * CONTEXT * self.responder.cache.store.layout.bytes_per_token)

    @rule()
    def clear(self) -> None:
        """Everything goes."""
        self.responder.cache.clear()

    @rule(steps=st.integers(0, 30))
    def idle(self, steps: int) -> None:
        """Idle work goes on for a while and is then broken off."""
        work = self.responder.settle()
        for _ in zip(range(steps), work, strict=False):
            pass
        work.close()  # type: ignore[attr-defined]

    @rule(
        chat=chats,
        question=WORDS,
        other=st.sampled_from(["", "And?", "Where is"]),
        steps=st.integers(0, 20),
        keeps=st.booleans(),
    )
    def type_and_rest(self, chat: Chat, question: str, other: str, steps: int, keeps: bool) -> None:
        """A question is being written, and read for a while before it is sent; perhaps it never is. Perhaps the system
        prompt is pinned."""
        request = self._request(chat, [*chat.messages, Message("user", question)], 12)
        alike = replace(request, messages=(*chat.messages, Message("user", question + other)))
        self._read_ahead(Wish(1, (request, alike) if other else (request,), keeps), steps)

    @rule(chat=chats, question=WORDS, steps=st.integers(0, 20), length=st.integers(1, 20))
    def type_and_send(self, chat: Chat, question: str, steps: int, length: int) -> None:
        """The same, and it is sent."""
        messages = [*chat.messages, Message("user", question)]
        self._read_ahead(Wish(1, (self._request(chat, messages, length),)), steps)
        self._ask(chat, messages, length)

    @rule(chat=consumes(chats))
    def forget(self, chat: Chat) -> None:
        """The chat is deleted: its system prompt need not be kept."""
        self.responder.cache.release(chat.name)

    @invariant()
    def holds(self) -> None:
        """Between requests nothing is held, and the books are right."""
        if hasattr(self, "responder"):
            self.responder.cache.check_integrity()
            assert is_idle(self.responder.cache)

    def teardown(self) -> None:
        """Nothing is left when all is dropped."""
        if hasattr(self, "responder"):
            self.responder.cache.clear()
            assert self.responder.cache.store.used_bytes == 0

    def _read_ahead(self, wish: Wish, steps: int) -> None:
        """For so many steps. Nothing is evicted for it but what was read ahead, unless the answer before is read once
        more first: that is a conversation's own, and takes the room of older ones."""
        past = self.responder.last_turns.of(wish.requests[0].conversation)
        is_settled = past is None or past.reusable == len(past.ids)
        before = {block: node.is_ahead for node in self.responder.cache.tree.nodes() for block in node.blocks}
        work = self.responder.read_ahead(wish)
        with suppress(PromptTooLongError):
            for _ in zip(range(steps), work, strict=False):
                pass
        work.close()  # type: ignore[attr-defined]
        left = {block for node in self.responder.cache.tree.nodes() for block in node.blocks}
        gone = [block for block in before.keys() - left if not before[block]]
        assert not (is_settled and gone)

    def _request(self, chat: Chat, messages: list[Message], length: int) -> Request:
        sampling = replace(self.sampling, max_tokens=length, seed=self.count)
        self.count += 1
        day = DAY if self.count % 4 else None  # prompts without a day are built anew each time
        return Request(tuple(messages), sampling, chat.name, day=day, write_ahead=self.count % 3 > 0)

    def _ask(self, chat: Chat, messages: list[Message], length: int, *, use_cache: bool = True) -> None:
        request = replace(self._request(chat, messages, length), use_cache=use_cache)
        self.spy.logits.clear()
        self.oracle_spy.logits.clear()
        cold = list(events(self.oracle, replace(request, use_cache=False))) if self._fits(request) else []
        try:
            foreseen = self.responder.preview(2, request) if self._fits(request) else None
            warm = list(events(self.responder, request))
        except PromptTooLongError:
            assert not cold
            return
        finished, expected = warm[-1], cold[-1]
        assert isinstance(finished, Finished)
        assert isinstance(expected, Finished)
        self._check(warm, finished)
        self._check_foreseen(foreseen, warm[0])
        self._compare(finished, expected)
        chat.messages = [*messages, Message("assistant", finished.text, finished.token_ids)]

    def _fits(self, request: Request) -> bool:
        return len(build_prompt(self.oracle, request.messages).ids) < CONTEXT

    def _check(self, seen: list[object], finished: Finished) -> None:
        matched = seen[0]
        assert isinstance(matched, Matched)
        assert isinstance(seen[-2], CacheView)
        assert matched.reused_tokens + matched.computed_tokens == matched.prompt_tokens
        assert finished.text == "".join(event.text for event in seen if isinstance(event, TextDelta))
        if matched.divergence is not None and matched.divergence.cause not in ("new", "cache off"):
            assert 0 < matched.divergence.recomputed_tokens <= matched.computed_tokens

    def _check_foreseen(self, foreseen: Preview | None, matched: object) -> None:
        """What the preview said is what happened."""
        assert isinstance(matched, Matched)
        assert foreseen is not None
        assert (foreseen.reused_tokens, foreseen.ahead_tokens) == (matched.reused_tokens, matched.ahead_tokens)

    def _compare(self, finished: Finished, expected: Finished) -> None:
        assert (finished.token_ids, finished.reason) == (expected.token_ids, expected.reason)
        steps = len(finished.token_ids) + (finished.reason == "end")
        steps -= finished.stats.computed_tokens == 0  # then the first token's logits were kept
        seen = zip(reversed(self.spy.logits), reversed(self.oracle_spy.logits), strict=False)
        for warm, cold in itertools.islice(seen, steps):
            assert torch.equal(warm, cold)
