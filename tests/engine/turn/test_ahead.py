"""What is certain of a prompt is read before it is sent: what that gives, and what it must not take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Engine
from engine.events import CacheView, Event, Failed, Preview
from engine.models.loaded import LoadedModel
from engine.stopping import StoppedError
from engine.turn.ahead import ReadTokens
from engine.turn.responder import Responder
from engine.turn.wish import Wish
from engine.types import Message, ModelSpec, PromptTooLongError, Request
from tests.engine.inside import build_prompt, forget_lanes, is_idle
from tests.engine.turn.test_stopping import Endless
from tests.engine.turns import GREEDY, Chat, SpyModel, finish, make_responder, short_chunks, spy
from tests.engine.worker_driver import PATIENCE_S, Driver, request

SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price."
QUESTION = "Where is my parcel, and when will it be here? I have been waiting for it since Monday."


def wish(chat: Chat, *questions: str) -> Wish:
    """To read what these questions, asked next in a chat, have in common."""
    asked = [Request((*chat.messages, Message("user", each)), GREEDY, chat.name) for each in questions]
    return Wish(7, tuple(asked))


def read(responder: Responder, wished: Wish) -> Preview:
    """Read it to the end, and what is foreseen then."""
    *_, last = responder.read_ahead(wished)
    assert isinstance(last, Preview)
    return last


@pytest.fixture
def chat(tiny: LoadedModel) -> Chat:
    """A chat with one answer, which is not read once more yet."""
    made = Chat(short_chunks(SpyModel(tiny)), SYSTEM)
    made.ask("What is a tent?")
    return made


def test_the_common_start_is_read_and_reused(chat: Chat) -> None:
    """What was foreseen is what happens: all that both questions begin with is there, and the rest is computed. The
    answer is that of a cold run, and what an earlier turn left is told from what was read ahead."""
    responder, words = chat.responder, f"{QUESTION} It is number 7."
    known = len(responder.last_turns.all["chat"].ids)
    foreseen = read(responder, wish(chat, words, f"{QUESTION} And?"))
    warm = chat.ask(words)
    cold = finish(responder, chat.request(messages=tuple(chat.messages[:-1]), use_cache=False))[1]
    assert warm.token_ids == cold.token_ids
    assert chat.matched is not None
    assert (chat.reused, chat.matched.ahead_tokens) == (foreseen.reused_tokens, foreseen.ahead_tokens)
    assert warm.stats.ahead_tokens == chat.reused - known
    assert 0 < warm.stats.computed_tokens <= 24


def test_what_is_asked_once_is_not_read_ahead_any_more(chat: Chat) -> None:
    read(chat.responder, wish(chat, QUESTION))
    assert chat.responder.view().unasked_tokens == chat.responder.view().ahead_tokens > 0
    chat.ask(QUESTION)
    assert chat.responder.view().unasked_tokens == 1  # in vain: the last one is computed again, for its logits
    chat.answer()
    assert chat.matched is not None
    assert chat.matched.ahead_tokens == 0


def test_an_edit_keeps_what_it_has_in_common(chat: Chat) -> None:
    first = read(chat.responder, wish(chat, f"{QUESTION} It is number 7, I think."))
    changed = wish(chat, f"{QUESTION} It is number 8, I know.")
    calls = spy(chat).calls
    again = read(chat.responder, changed)
    assert 0 < sum(count for _, count in calls) < 24
    assert again.ahead_tokens > first.ahead_tokens - 24
    assert again.reused_tokens == again.prompt_tokens - 1


def test_nothing_is_read_twice(chat: Chat) -> None:
    """Nor is a lane taken for what is there already."""
    read(chat.responder, wish(chat, QUESTION))
    calls = spy(chat).calls
    read(chat.responder, wish(chat, QUESTION))
    assert not calls


def test_broken_off_it_goes_on_where_it_was(chat: Chat) -> None:
    """Whatever was read in whole pieces stays, and nothing is held."""
    wished, looks = wish(chat, QUESTION * 3), iter(range(6))

    def listen() -> None:
        if next(looks, None) is None:
            raise StoppedError

    with pytest.raises(StoppedError):
        list(chat.responder.read_ahead(wished, listen))
    assert is_idle(chat.responder.cache)
    chat.responder.cache.check_integrity()
    calls = spy(chat).calls
    assert read(chat.responder, wished).computed_tokens == 1
    assert calls[0][0] > 0


def test_conversations_are_not_evicted_for_it(tiny: LoadedModel) -> None:
    """The budget is full: another conversation's draft is read as far as there is room that nobody has."""
    responder = make_responder(SpyModel(tiny), tokens=1024 + 160, context=1024)
    chats = [Chat(responder, SYSTEM, name) for name in ("one", "two")]
    for chat, question in zip(chats, ("What is a tent?", "And a stove?"), strict=True):
        chat.ask(question)
        list(responder.settle())
    before = {block for node in responder.cache.tree.nodes() for block in node.blocks}
    read(responder, wish(chats[0], QUESTION * 8))
    after = {block for node in responder.cache.tree.nodes() for block in node.blocks}
    assert before <= after
    responder.cache.check_integrity()


def test_what_was_read_ahead_goes_first(tiny: LoadedModel) -> None:
    """Although it is the newest there is. Once it was sent it is a conversation's like any other."""
    responder = make_responder(SpyModel(tiny))
    old, new = Chat(responder, SYSTEM, "old"), Chat(responder, "Answer in verse.", "new")
    old.ask("What is a tent?")
    list(responder.settle())
    read(responder, wish(new, QUESTION))
    forget_lanes(responder.cache)
    of_old, of_new = ([*chat.messages, Message("user", QUESTION)] for chat in (old, new))
    ahead = sum(len(node.blocks) for node in responder.cache.tree.nodes() if node.is_ahead)
    kept = responder.cache.peek(build_prompt(responder, of_old).ids)
    assert ahead
    responder.cache.store.free(responder.cache.tree.evict(ahead))
    assert responder.cache.peek(build_prompt(responder, of_old).ids) == kept
    assert responder.cache.peek(build_prompt(responder, of_new).ids) == 0
    new.ask(QUESTION)
    assert not any(node.is_ahead for node in responder.cache.tree.nodes())


def test_it_reaches_the_disk_with_the_question(tiny: LoadedModel, tmp_path: Path) -> None:
    chat = Chat(make_responder(SpyModel(tiny), folder=tmp_path), SYSTEM)
    read(chat.responder, wish(chat, QUESTION * 2))
    list(chat.responder.write_back())
    assert not chat.responder.cache.disk.entries()
    chat.ask(QUESTION * 2)
    list(chat.responder.write_back())
    prompt = build_prompt(chat.responder, chat.messages[:-1]).ids
    assert len(chat.responder.cache.disk.entries()) >= len(prompt) // 16


def test_a_draft_over_the_context_is_refused(tiny: LoadedModel) -> None:
    chat = Chat(make_responder(SpyModel(tiny), context=128))
    with pytest.raises(PromptTooLongError):
        list(chat.responder.read_ahead(wish(chat, QUESTION * 20)))
    assert not spy(chat).calls


def test_without_the_cache_nothing_is_read(chat: Chat) -> None:
    cold = [replace(each, use_cache=False) for each in wish(chat, QUESTION).requests]
    spy(chat)
    assert read(chat.responder, Wish(1, tuple(cold))).reused_tokens == 0
    assert not spy(chat).calls


def kept_start(chat: Chat) -> Wish:
    """To read what every first question of a conversation finds, and to keep its system prompt in a name."""
    asked = [replace(each, conversation="preset 1") for each in wish(chat, "0", "a").requests]
    return Wish(7, tuple(asked), keeps=True)


def test_a_pinned_prompt_stays_resident(tiny: LoadedModel, tmp_path: Path) -> None:
    """Whatever else needs the room; and it is on disk for the next start, which brings it from there."""
    chat = Chat(make_responder(SpyModel(tiny), folder=tmp_path), SYSTEM * 2)
    cache = chat.responder.cache
    read(chat.responder, kept_start(chat))
    prompt = build_prompt(chat.responder, [*chat.messages, Message("user", "0")])
    whole = prompt.system_tokens // 16 * 16
    assert cache.kept_tokens(prompt.ids) == whole > 0
    cache.store.free(cache.tree.evict(1000))
    forget_lanes(cache)
    assert cache.peek(prompt.ids) >= whole
    list(chat.responder.write_back())
    cache.disk.close()
    again = Chat(make_responder(SpyModel(tiny), folder=tmp_path), SYSTEM * 2)
    calls = spy(again).calls
    read(again.responder, kept_start(again))
    assert again.responder.cache.kept_tokens(prompt.ids) == whole
    assert sum(count for _, count in calls) < 32
    again.responder.forget("preset 1")
    assert again.responder.cache.kept_tokens(prompt.ids) == 0
    again.responder.cache.check_integrity()


IDS = st.lists(st.integers(0, 2), max_size=12).map(tuple)


@given(st.lists(st.tuples(IDS, st.integers(0, 12))), st.lists(st.tuples(IDS, st.integers(0, 12))))
def test_tokens_are_counted_once(readings: list[tuple[tuple[int, ...], int]], prompts: list[tuple]) -> None:
    """Against a set of all starts of prompts whose last token was read ahead and not asked for yet."""
    tokens, starts = ReadTokens(), set()
    for ids, start in readings:
        begin = min(start, len(ids))
        if begin < len(ids):
            tokens.note(ids, begin)
            starts |= {ids[: at + 1] for at in range(begin, len(ids))}
    for ids, length in prompts:
        reused = min(length, len(ids))
        expected = {ids[: at + 1] for at in range(reused)} & starts
        assert tokens.among(ids, reused) == tokens.ask(ids, reused) == len(expected)
        starts -= {ids[: at + 1] for at in range(len(ids))}
        assert tokens.among(ids, len(ids)) == 0


# behind the engine's thread


def ends(driver: Driver, request_id: int) -> list[Event]:
    return [event for event in driver.of(request_id) if isinstance(event, Preview | Failed)]


def test_a_wish_ends_with_a_preview(driver: Driver) -> None:
    asked = request(QUESTION)
    wished = driver.engine.read_ahead(asked, [request("And another?")])
    foreseen = driver.end(wished)
    assert isinstance(foreseen, Preview)
    assert 0 < foreseen.ahead_tokens == foreseen.reused_tokens < foreseen.prompt_tokens
    finished = driver.finished(driver.engine.submit(asked))
    assert finished.stats.ahead_tokens == finished.stats.reused_tokens == foreseen.reused_tokens
    assert driver.engine.cache_view() is not None
    driver.quiet()
    assert len(ends(driver, wished)) == 1


@pytest.fixture
def held(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> int:
    """A wish whose reading would never end by itself."""
    with monkeypatch.context() as patch:
        pass_ = Endless(patch)
        number = driver.engine.read_ahead(request(QUESTION))
        assert pass_.reached.wait(PATIENCE_S)
    return number


@pytest.mark.parametrize("asked", ["request", "program", "preview"])
def test_whatever_is_asked_goes_first(driver: Driver, held: int, asked: str) -> None:
    """The reading is heard to stop within a layer, and goes on behind it."""
    engine = driver.engine
    if asked == "program":
        beside = Driver(engine.beside())  # type: ignore[arg-type]
        beside.finished(beside.engine.submit(request(client="editor", conversation="program")))
    else:
        driver.end(engine.submit(request()) if asked == "request" else engine.preview(request()))
    assert isinstance(driver.end(held), Preview)


def test_what_is_wished_last_is_read_first(driver: Driver, held: int) -> None:
    """A pinned prompt may take seconds at the start, and a question is written meanwhile."""
    newer = driver.engine.read_ahead(request("A question that somebody writes now, while something else is read."))
    assert isinstance(driver.end(newer), Preview)
    assert not ends(driver, held) or driver.events.index(ends(driver, held)[0]) > driver.events.index(
        ends(driver, newer)[0]
    )
    assert isinstance(driver.end(held), Preview)


@pytest.mark.parametrize("how", ["cancel", "clear", "forget", "close"])
def test_it_is_broken_off(driver: Driver, held: int, how: str) -> None:
    """A key changed what was read; or nobody wants anything to be cached; or the program ends."""
    if how == "cancel":
        driver.engine.cancel(held)
    elif how in ("clear", "forget"):
        driver.engine.clear_cache() if how == "clear" else driver.engine.forget(request().conversation)
        driver.engine.preview(request())  # an order alone waits for the end of the layer's piece
    else:
        assert driver.engine.close(PATIENCE_S)
    driver.until(lambda: ends(driver, held))


def test_another_conversation_that_is_deleted_breaks_nothing_off(driver: Driver, held: int) -> None:
    """Pinned prompts are read at the start, while the user may delete something: they are read all the same."""
    driver.engine.forget("another")
    driver.engine.keep_only([request().conversation])
    driver.end(driver.engine.preview(request()))
    assert isinstance(driver.end(held), Preview)


def test_another_model_reads_it_in_its_own_tokens(driver: Driver, held: int, tiny_folder: Path) -> None:
    driver.end(driver.engine.load(ModelSpec(str(tiny_folder), "cpu", "fp32", cache_bytes=10**7)))
    assert isinstance(driver.end(held), Preview)


def test_without_a_model_it_fails_in_words(engine: Engine) -> None:
    driver = Driver(engine)
    failed = driver.end(engine.read_ahead(request()))
    assert isinstance(failed, Failed)
    assert "No model" in failed.sentence


def test_the_cache_is_told_of_once(driver: Driver) -> None:
    """By itself, after the reading of much, with what it cost so far. A few words more are nothing to speak of."""
    driver.end(driver.engine.read_ahead(request(QUESTION * 6)))
    driver.end(driver.engine.read_ahead(request(QUESTION * 6 + "And now?")))
    views = [event for event in driver.events if isinstance(event, CacheView) and event.ahead_tokens]
    assert [view.unasked_tokens for view in views] == [views[0].ahead_tokens]
