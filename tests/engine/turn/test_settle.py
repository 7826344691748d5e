"""What was written is read again at idle: in which regime, what a preview sees meanwhile, what is not read again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import KVStore, Lane
from engine.events import CacheView, Matched, Preview
from engine.models import attention_hook as interface
from engine.models.from_transformers import TransformersNetwork
from engine.models.loaded import LoadedModel
from engine.turn import settle as settling
from engine.turn.responder import Responder
from engine.types import BLOCK_TOKENS, Message
from tests.engine.inside import build_prompt, forget_lanes
from tests.engine.model_zoo import GROUPED, LONGROPE, ModelCase
from tests.engine.tiny_models import make_tokenizer
from tests.engine.turns import GREEDY, NAN, Chat, SpyModel, Ticks, cold_answer, events, finish, make_responder
from tests.engine.worker_driver import PATIENCE_S, Driver, request

SWITCH = 192
PLAIN = replace(GREEDY, repetition_penalty=1.0)
ROPE = LONGROPE | {"original_max_position_embeddings": SWITCH}
CASE = ModelCase("LongRoPE", "phi3", GROUPED | {"rope_parameters": ROPE, "original_max_position_embeddings": SWITCH})


def make_long_chat() -> Chat:
    """A chat with a model whose position code switches at 192 tokens."""
    interface.register()
    torch.manual_seed(3)
    config = CASE.config()
    config.vocab_size = 340
    config.eos_token_id = None
    network = AutoModelForCausalLM.from_config(config, attn_implementation=interface.NAME).eval().requires_grad_(False)
    model = SpyModel(LoadedModel(TransformersNetwork(network), make_tokenizer(), "/nowhere/long"))
    store = KVStore(model.layout, 4096 * model.layout.bytes_per_token, fill=NAN)
    cache = PrefixCache(store, "long", 512, Ticks(), regime=model.reuse.regime)
    responder = Responder(model, cache, Ticks())  # type: ignore[arg-type]
    return Chat(responder, "You answer questions about parcels.", sampling=GREEDY)


@pytest.fixture
def long_chat() -> Chat:
    return make_long_chat()


def test_what_is_settled_near_the_switch_is_reused(long_chat: Chat) -> None:
    """ENGINE_BUGS kind E38: a turn that grew past the switch ended in the long regime; so does the next one, and so is
    what is settled in between."""
    chat = long_chat
    chat.messages.append(Message("user", "Where is my parcel, and when will it be here?"))
    length = len(build_prompt(chat.responder, chat.messages).ids)
    crossing = replace(LONG_ANSWER, max_tokens=SWITCH + 20 - length)
    *_, last = events(chat.responder, chat.request(sampling=crossing))
    past = chat.responder.last_turns.all["chat"]
    total = len(past.ids)
    assert past.reusable < total
    assert length < SWITCH < past.length
    list(chat.responder.settle())
    assert list(chat.responder.settle()) == []
    chat.messages += [Message("assistant", last.text, last.token_ids), Message("user", "Thanks.")]  # type: ignore[union-attr]
    spy = chat.responder.model
    cold = cold_answer(chat, sampling=LONG_ANSWER)
    expected = spy.logits[-1]  # type: ignore[attr-defined]
    warm = chat.answer(sampling=LONG_ANSWER)
    assert chat.reused == total
    assert warm.token_ids == cold.token_ids
    assert torch.equal(spy.logits[-1], expected)  # type: ignore[attr-defined]


def test_what_another_conversation_has_read_is_not_left_unread(tiny: LoadedModel) -> None:
    """The same question in another conversation gets the same answer, all of it in the cache: idle work has nothing to
    do, and says so, or the demo would wait for it. Nor is anything left of a conversation that fills the context."""
    first = Chat(make_responder(tiny), "You answer questions about parcels.")
    length = len(build_prompt(first.responder, [*first.messages, Message("user", "Where is it?")]).ids)
    first.sampling = replace(GREEDY, max_tokens=-length % BLOCK_TOKENS or BLOCK_TOKENS)
    first.ask("Where is it?")
    list(first.responder.settle())
    again = Chat(first.responder, "You answer questions about parcels.", "other", first.sampling)
    again.ask("Where is it?")
    assert len(first.responder.last_turns.all["other"].ids) % BLOCK_TOKENS == 0
    forget_lanes(first.responder.cache)
    list(first.responder.settle())
    assert first.responder.view().unread_tokens == 0
    assert list(first.responder.settle()) == []
    full = Chat(make_responder(tiny, context=64), sampling=replace(GREEDY, max_tokens=1000))
    full.ask("Where is it?")
    list(full.responder.settle())
    assert full.responder.view().unread_tokens == 0


@pytest.mark.parametrize("near", ["", "made up"])
@pytest.mark.parametrize("room", [4, 30])
def test_an_answer_hangs_on_the_tokens_that_are_there(long_chat: Chat, near: str, room: int) -> None:
    """The position code is that of the length reached, as in transformers' `generate`: how long the answer may get
    changes none of its tokens, be it far from the switch, at it, or past it; nor does the cache."""
    chat = long_chat
    chat.responder.near = near
    chat.messages.append(Message("user", "Where is it? " * 11))
    length = len(chat.responder.builder.build(chat.messages).ids)
    assert length < SWITCH
    short, long = (replace(PLAIN, max_tokens=SWITCH - length + more) for more in (1, room))
    answers = [cold_answer(chat, sampling=sampling).token_ids for sampling in (short, long)]
    assert answers[1][: len(answers[0])] == answers[0]
    for _ in range(2):
        warm = finish(chat.responder, chat.request(sampling=long))[1]
        assert warm.token_ids == answers[1]
    ids = [*chat.responder.builder.build(chat.messages).ids, *answers[1]]
    model = chat.responder.model._model.network.model  # type: ignore[attr-defined]
    known = len(chat.responder.model.tokenizer)
    chat.responder.model.forward(ids[:1], Lane(chat.responder.model.layout, 16), 0)  # back to the code of short texts
    with torch.inference_mode():
        for end in range(length, len(ids)):
            logits = model(torch.tensor([ids[:end]]), use_cache=False).logits[0, -1]
            assert int(logits[:known].argmax()) == ids[end]


def test_a_chat_that_outgrows_the_short_positions_was_not_evicted(long_chat: Chat) -> None:
    """Read anew once, with the true reason; from then on it is reused again."""
    chat, causes = long_chat, []
    for _ in range(4):
        chat.ask("Where is my parcel, and when will it be here? " * 2)
        assert chat.matched is not None
        causes.append(chat.matched.divergence and chat.matched.divergence.cause)
        list(chat.responder.settle())
    assert causes == ["new", None, "positions", None] or causes == ["new", "positions", None, None]
    assert chat.reused > SWITCH


LONG_ANSWER = GREEDY.__class__(temperature=0.0, max_tokens=150)


class HeldSettling:
    """Idle work that waits after its first step until `go_on` is set. `begun` counts how often it began."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.reached, self.go_on, self.begun = threading.Event(), threading.Event(), 0
        patch.setattr("engine.turn.responder.settle", self.settle)

    def settle(self, *arguments: Any) -> Iterator[None]:
        self.begun += 1
        steps = settling.settle(*arguments)
        try:
            for _ in steps:
                self.reached.set()
                assert self.go_on.wait(PATIENCE_S)
                yield
        finally:
            steps.close()


LONG = request(
    "Where is my parcel? " * 12, sampling=GREEDY.__class__(temperature=0.0, max_tokens=200), pin_system=False
)


def test_a_preview_sees_what_is_being_settled(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Idle work holds the lane; a request would find what stands there, and so says the preview. The work goes on."""
    held, engine = HeldSettling(monkeypatch), driver.engine
    first = driver.finished(engine.submit(LONG))
    assert held.reached.wait(PATIENCE_S)
    answer = Message("assistant", first.text, first.token_ids)
    following = request(messages=(*LONG.messages, answer, Message("user", "Thanks.")))
    asked = engine.preview(following)
    held.go_on.set()
    preview = driver.end(asked)
    sent = engine.submit(following)
    driver.finished(sent)
    matched = driver.of(sent)[0]
    assert isinstance(preview, Preview)
    assert isinstance(matched, Matched)
    assert preview.reused_tokens > first.stats.prompt_tokens
    assert preview.reused_tokens == matched.reused_tokens


@pytest.mark.parametrize("name", ["drop_prefix", "clear_cache", "forget"])
def test_what_was_dropped_is_not_settled(driver: Driver, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Somebody drops what idle work is at: it ends, and nothing of it stays."""
    held, engine = HeldSettling(monkeypatch), driver.engine
    driver.finished(engine.submit(LONG))
    assert held.reached.wait(PATIENCE_S)
    top = engine.cache_view().nodes[0].block
    {"drop_prefix": engine.drop_prefix, "forget": engine.forget, "clear_cache": lambda _: engine.clear_cache()}[name](
        top if name == "drop_prefix" else "chat"  # type: ignore[arg-type]
    )
    held.go_on.set()
    driver.until(lambda: any(isinstance(event, CacheView) for event in driver.of(0)))
    preview = driver.end(engine.preview(LONG))
    assert isinstance(preview, Preview)
    assert held.begun == 1
    if name != "forget":
        assert preview.reused_tokens == 0
