"""One request from match to answer: cancelled, closed, or failing at every point, and what stays behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.events import CacheView, Event, Finished, Matched, Prefill, TextDelta, TurnStats
from engine.models.loaded import LoadedModel
from engine.types import Message, OutOfMemoryError, Request, Sampling
from tests.engine.inside import build_prompt, is_idle, lanes
from tests.engine.tiny_models import make_model
from tests.engine.turn.conftest import QUESTION, SYSTEM
from tests.engine.turns import Chat, SpyModel, check_sound, cold_answer, events, finish, short_chunks, spy


def test_the_order_of_events(chat: Chat) -> None:
    """Matched, Prefill..., TextDelta and TurnStats..., CacheView, Finished."""
    kinds = [type(event) for event in events(chat.responder, chat.request())]
    assert kinds[0] is Matched
    assert kinds[-2:] == [CacheView, Finished]
    count = kinds.count(Prefill)
    assert kinds[1 : 1 + count] == [Prefill] * count
    assert set(kinds[1 + count : -2]) == {TextDelta, TurnStats}
    assert all(event.request_id == 1 for event in events(chat.responder, chat.request()))


def test_cancel_at_every_look(chat: Chat) -> None:
    """Issue 3 point 1: cancelled before it begins, at each chunk of prefill, at each token; ENGINE_BUGS kind C21."""
    expected, point = cold_answer(chat), 0
    while True:
        looks = iter([False] * point)
        seen = list(events(chat.responder, chat.request(), is_cancelled=lambda: next(looks, True)))  # noqa: B023
        last = seen[-1]
        assert isinstance(last, Finished)
        assert [type(event) for event in seen].count(Finished) == 1
        assert isinstance(seen[-2], CacheView)
        assert last.token_ids == expected.token_ids[: len(last.token_ids)]
        if last.reason != "stopped":
            break
        chat.responder.cache.check_integrity()
        assert is_idle(chat.responder.cache)
        point += 1
    assert point >= len(expected.token_ids)
    check_sound(chat, expected)


def test_cancelled_before_it_begins(chat: Chat) -> None:
    """A request that nobody wants any more computes nothing and moves nothing."""
    expected = cold_answer(chat)
    model, before = spy(chat), chat.responder.cache.view(with_nodes=True).nodes
    seen = list(events(chat.responder, chat.request(), is_cancelled=lambda: True))
    last = seen[-1]
    assert isinstance(last, Finished)
    assert (last.reason, last.token_ids, last.text, last.stats.written_tokens) == ("stopped", (), "", 0)
    assert model.calls == []
    assert [node.hits for node in chat.responder.cache.view(with_nodes=True).nodes] == [node.hits for node in before]
    check_sound(chat, expected)


def test_a_stop_is_heard_within_one_chunk(chat: Chat) -> None:
    """Scenario 36: stop during prefill stops within one chunk, and finished blocks stay."""
    model, seen = spy(chat), list[Prefill]()
    for event in events(chat.responder, chat.request(), is_cancelled=lambda: bool(seen)):
        if isinstance(event, Prefill):
            seen.append(event)
    assert (len(seen), len(model.calls)) == (1, 1)
    prompt = build_prompt(chat.responder, chat.messages).ids
    reached = model.calls[0][0] + model.calls[0][1]
    assert seen[0].done == model.calls[0][1]
    assert chat.responder.cache.peek(prompt) == reached


@pytest.mark.parametrize("use_cache", [True, False])
def test_closed_half_way(chat: Chat, use_cache: bool) -> None:
    """The generator is closed after each of its events: everything is given back."""
    expected, point = cold_answer(chat), 0
    while True:
        running = events(chat.responder, chat.request(use_cache=use_cache))
        count = sum(1 for _ in zip(range(point), running, strict=False))
        running.close()  # type: ignore[attr-defined]
        chat.responder.cache.check_integrity()
        assert is_idle(chat.responder.cache)
        if count < point:
            break
        point += 1
    assert point > 10
    check_sound(chat, expected)


@pytest.mark.parametrize("use_cache", [True, False])
def test_an_error_in_each_forward_pass(chat: Chat, use_cache: bool) -> None:
    """ENGINE_BUGS kind C21: whatever a forward pass wrote before it raised is not reused."""
    expected, model, call = cold_answer(chat), spy(chat), 0

    def damage(number: int) -> None:
        if number == call:
            for lane in lanes(chat.responder.cache):
                if lane.is_busy:
                    for buffer in lane.keys + lane.values:
                        buffer[:, :, len(lane.ids) :] = 1e4
            raise RuntimeError("the device is gone")

    model.before_forward = damage
    while True:
        call += 1
        model.calls.clear()
        failed = False
        try:
            finish(chat.responder, chat.request(use_cache=use_cache))
        except RuntimeError:
            failed = True
        chat.responder.cache.check_integrity()
        assert is_idle(chat.responder.cache)
        if not failed:
            break
    assert call >= len(expected.token_ids)
    model.before_forward = lambda number: None
    check_sound(chat, expected)


@pytest.mark.parametrize("use_cache", [True, False])
def test_no_memory_once_is_tried_again(chat: Chat, use_cache: bool) -> None:
    """Issue 3 point 5: reusable blocks are dropped, and the forward pass is made once more: the first, one of the
    prompt, one of the answer. What was said to be reused is."""
    expected, model, kept = cold_answer(chat), spy(chat), chat.responder.cache.view().pinned_bytes
    assert kept > 0
    for call in (1, 2, 7):
        refuse_memory(model, {call})
        seen = list(events(chat.responder, chat.request(use_cache=use_cache)))
        matched, last = seen[0], seen[-1]
        assert isinstance(matched, Matched)
        assert isinstance(last, Finished)
        assert [type(event) for event in seen].count(Matched) == 1
        assert last.token_ids == expected.token_ids
        assert last.stats.reused_tokens == matched.reused_tokens
        assert chat.responder.cache.view().pinned_bytes >= kept, "kept prefixes go last"
    model.before_forward = lambda number: None
    check_sound(chat, expected)


def test_no_memory_twice_costs_the_kept_prefixes_too(chat: Chat) -> None:
    other = Chat(chat.responder, f"Another one. {SYSTEM}", "other")
    other.ask(QUESTION)
    expected, model = cold_answer(chat), spy(chat)
    refuse_memory(model, {1, 2})
    seen = list(events(chat.responder, chat.request()))
    assert isinstance(seen[-1], Finished)
    assert seen[-1].token_ids == expected.token_ids
    assert [type(event) for event in seen].count(Matched) == 1
    assert set(chat.responder.cache.tree.kept()) == {"chat"}
    model.before_forward = lambda number: None
    check_sound(chat, expected)


def refuse_memory(model: SpyModel, calls: set[int]) -> None:
    """From now on the forward passes with these numbers, counted from 1, find no memory."""
    model.calls.clear()

    def refuse(number: int) -> None:
        if number in calls:
            raise MemoryError("no memory")

    model.before_forward = refuse


@pytest.mark.parametrize("first", [1, 2, 3, 6, 9])
def test_no_memory_for_good_is_a_sentence(chat: Chat, first: int) -> None:
    expected, model = cold_answer(chat), spy(chat)

    def refuse(number: int) -> None:
        if number >= first:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    model.before_forward = refuse
    with pytest.raises(OutOfMemoryError, match=r"Close other programs") as caught:
        list(events(chat.responder, chat.request()))
    assert "allocate" in caught.value.detail
    model.before_forward = lambda number: None
    check_sound(chat, expected)


def test_no_memory_for_the_lane(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(capacity: int) -> None:
        raise MemoryError("no memory")

    expected = cold_answer(chat)
    with monkeypatch.context() as patch:
        patch.setattr(chat.responder.cache.store, "new_lane", refuse)
        chat.responder.cache.clear()
        with pytest.raises(OutOfMemoryError):
            list(events(chat.responder, chat.request()))
    check_sound(chat, expected)


def test_the_budget_changes_under_a_running_request(chat: Chat) -> None:
    """Scenario 21: at each event the budget is lowered, raised, or the cache cleared; the answer is the same."""
    expected, cache = cold_answer(chat), chat.responder.cache
    changes: list[Callable[[], object]] = [
        lambda: cache.set_budget(0),
        lambda: cache.set_budget(10**9),
        cache.clear,
        lambda: cache.make_room(10**9),
    ]
    for offset in range(4):
        last: Event | None = None
        for number, event in enumerate(events(chat.responder, chat.request())):
            changes[(number + offset) % 4]()
            cache.check_integrity()
            last = event
        assert isinstance(last, Finished)
        assert last.token_ids == expected.token_ids
        assert is_idle(cache)
    check_sound(chat, expected)


def test_a_forgotten_conversation_keeps_nothing_resident() -> None:
    responder = short_chunks(make_model())
    messages = (Message("system", "The parcel left the warehouse on Monday. " * 4), Message("user", "Where is it?"))
    finish(responder, Request(messages, Sampling(temperature=0.0, max_tokens=3), "chat"))
    assert responder.cache.view().pinned_bytes > 0
    responder.forget("chat")
    assert responder.cache.view().pinned_bytes == 0
    again = finish(responder, Request(messages, Sampling(temperature=0.0, max_tokens=3), "chat"))
    assert again[0].divergence is not None
    assert again[0].divergence.cause == "new"
    assert again[0].reused_tokens > 0


def test_past_turns_are_bounded_by_bytes_and_the_newest_stays(
    tiny: LoadedModel,
) -> None:
    responder = short_chunks(tiny, past_bytes=50_000)
    for number in range(8):
        chat = Chat(responder, "Be brief. " * 30, name=f"chat {number}")
        chat.ask(QUESTION)
    assert list(responder.last_turns.all)[-1] == "chat 7"
    assert 1 < len(responder.last_turns.all) < 8
    responder.last_turns.most_bytes = 0
    chat.ask(QUESTION)
    assert list(responder.last_turns.all) == ["chat 7"]
