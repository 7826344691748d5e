"""Slow models and long texts: a stop, a preview, a command and the end of the program do not wait for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from engine.cache.store import Lane
from engine.events import CacheView, Failed, Preview
from engine.models.loaded import LoadedModel
from engine.prompt.template import PromptBuilder
from engine.stopping import StoppedError, between_layers, listening
from engine.types import BLOCK_TOKENS, Message
from tests.engine.tiny_models import make_model
from tests.engine.turns import SpyModel, Ticks, events, finish, make_responder
from tests.engine.worker_driver import GREEDY, PATIENCE_S, Driver, request

LONG = "Where is my parcel? " * 3000


@pytest.mark.parametrize("is_fast", [True, False])
def test_every_forward_pass_listens_between_its_layers(is_fast: bool) -> None:
    """The two kinds of networks that there are; what one that was broken off wrote disturbs nobody."""
    model = make_model(is_fast=is_fast)
    lane = Lane(model.layout, 64)
    looks = iter([None])

    def listen() -> None:
        if next(looks, StoppedError):
            raise StoppedError

    with listening(listen), pytest.raises(StoppedError):
        model.forward([*range(40)], lane, 0)
    fresh = Lane(model.layout, 64)
    assert model.forward([*range(20)], lane, 0).equal(model.forward([*range(20)], fresh, 0))


class Endless:
    """A forward pass that is never done by itself, of as many layers as it takes."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.reached = threading.Event()
        patch.setattr(LoadedModel, "forward", self.forward)

    def forward(self, *_: object) -> None:
        self.reached.set()
        while True:
            between_layers()
            threading.Event().wait(0.001)


@pytest.fixture
def endless(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A request that such a pass is reading."""
    with monkeypatch.context() as patch:
        pass_ = Endless(patch)
        number = driver.engine.submit(request())
        assert pass_.reached.wait(PATIENCE_S)
        yield number


def test_a_stop_is_heard_within_a_piece(driver: Driver, endless: int) -> None:
    driver.engine.cancel(endless)
    stopped = driver.finished(endless)
    assert (stopped.reason, stopped.token_ids) == ("stopped", ())


def test_previews_and_commands_are_heard_within_a_piece(driver: Driver, endless: int) -> None:
    asked = driver.engine.preview(request("And another?"))
    assert isinstance(driver.end(asked), Preview)
    driver.engine.forget("chat")
    driver.until(lambda: [event for event in driver.of(0) if isinstance(event, CacheView)])
    driver.engine.cancel(endless)
    driver.finished(endless)


def test_the_end_of_the_program_is_heard_within_a_piece(driver: Driver, endless: int) -> None:
    assert driver.engine.close(PATIENCE_S)
    assert isinstance(driver.end(endless), Failed)


def test_a_request_is_heard_within_a_step_of_idle_work(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is read again; the next question goes first, and the reading is taken up behind it."""
    engine = driver.engine
    no_time = pytest.MonkeyPatch()
    no_time.setattr("engine.worker.thread.Worker._work_idly", lambda _: None)
    driver.finished(engine.submit(request("Where is my parcel? " * 12, sampling=replace(GREEDY, max_tokens=200))))
    driver.quiet()
    with monkeypatch.context() as patch:
        pass_ = Endless(patch)
        no_time.undo()
        assert pass_.reached.wait(PATIENCE_S)
        asked = engine.preview(request())
        assert isinstance(driver.end(asked), Preview)
    driver.finished(engine.submit(request()))


class HeldTokenizer:
    """Encoding takes as long as the test wants, for a long text."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.long_texts: list[str] = []
        self._build = PromptBuilder.build
        patch.setattr(PromptBuilder, "build", lambda builder, *values, **named: self.build(builder, *values, **named))

    def build(self, builder: PromptBuilder, messages: tuple[Message, ...], *values: Any, **named: Any) -> object:
        if len(messages[-1].content) >= len(LONG):
            self.long_texts.append(messages[-1].content)
            self.reached.set()
            assert self.go_on.wait(PATIENCE_S)
        return self._build(builder, messages, *values, **named)


@pytest.fixture
def tokenizer(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldTokenizer]:
    held = HeldTokenizer(monkeypatch)
    yield held
    held.go_on.set()


def test_a_stop_is_heard_while_a_long_text_is_encoded(driver: Driver, tokenizer: HeldTokenizer) -> None:
    """A short question does not wait for the text that nobody wants any more. A long one does, and can be stopped."""
    engine = driver.engine
    first = engine.submit(request(LONG))
    assert tokenizer.reached.wait(PATIENCE_S)
    engine.cancel(first)
    assert driver.finished(first).reason == "stopped"
    assert driver.finished(engine.submit(request())).reason == "length"
    third = engine.submit(request(LONG + "?"))
    engine.cancel(third)
    assert driver.finished(third).reason == "stopped"
    fourth = engine.submit(request(LONG + "!"))
    tokenizer.go_on.set()
    driver.end(fourth)
    assert tokenizer.long_texts == [LONG, LONG + "!"]


def test_the_end_is_heard_while_a_long_text_is_encoded(driver: Driver, tokenizer: HeldTokenizer) -> None:
    asked = [driver.engine.submit(request(LONG)), driver.engine.preview(request(LONG))]
    assert tokenizer.reached.wait(PATIENCE_S)
    assert driver.engine.close(PATIENCE_S)
    assert all(isinstance(driver.end(number), Failed) for number in asked)


def test_a_stop_goes_before_the_preview_of_a_long_text(
    driver: Driver, tokenizer: HeldTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = driver.engine
    running = engine.submit(request(sampling=replace(GREEDY, max_tokens=900)))
    driver.until(lambda: driver.of(running))
    asked = engine.preview(request(LONG))
    assert tokenizer.reached.wait(PATIENCE_S)
    engine.cancel(running)
    assert driver.finished(running).reason == "stopped"
    tokenizer.go_on.set()
    assert isinstance(driver.end(asked), Preview)


@pytest.mark.parametrize("is_asked_first", [True, False])
def test_an_answer_goes_on_while_a_long_text_is_previewed(
    driver: Driver, tokenizer: HeldTokenizer, is_asked_first: bool
) -> None:
    """To its end, if need be. The text is encoded once, however often the worker looks for it meanwhile."""
    engine, asked = driver.engine, 0
    if is_asked_first:
        asked = engine.preview(request(LONG))
        assert tokenizer.reached.wait(PATIENCE_S)
    running = engine.submit(request(sampling=replace(GREEDY, max_tokens=200)))
    asked = asked or engine.preview(request(LONG))
    assert tokenizer.reached.wait(PATIENCE_S)
    assert driver.finished(running).reason in ("end", "length")
    assert not driver.of(asked)
    tokenizer.go_on.set()
    preview = driver.end(asked)
    assert isinstance(preview, Preview)
    assert tokenizer.long_texts == [LONG]
    assert len(preview.block_texts) == -(-min(preview.prompt_tokens, preview.context_length) // BLOCK_TOKENS)


def test_commands_and_short_previews_are_heard_while_a_long_text_is_previewed(
    driver: Driver, tokenizer: HeldTokenizer
) -> None:
    engine = driver.engine
    asked = engine.preview(request(LONG))
    assert tokenizer.reached.wait(PATIENCE_S)
    engine.set_cache_budget(10**7)
    driver.until(lambda: [event for event in driver.of(0) if isinstance(event, CacheView)])
    assert isinstance(driver.end(engine.preview(request())), Preview)
    second = engine.preview(request(LONG + "!"))
    assert isinstance(driver.end(engine.preview(request())), Preview)
    assert not driver.of(asked) + driver.of(second)
    tokenizer.go_on.set()
    assert all(isinstance(driver.end(number), Preview) for number in (asked, second))


def test_a_preview_that_nobody_wants_holds_nobody_up(driver: Driver, tokenizer: HeldTokenizer) -> None:
    """It ends at once, and a question comes before its text is encoded. Asked for again, the text is not begun anew."""
    engine = driver.engine
    asked = engine.preview(request(LONG))
    assert tokenizer.reached.wait(PATIENCE_S)
    engine.cancel(asked)
    assert isinstance(driver.end(asked), Failed)
    assert driver.finished(engine.submit(request())).reason == "length"
    again = engine.preview(request(LONG))
    tokenizer.go_on.set()
    assert isinstance(driver.end(again), Preview)
    assert tokenizer.long_texts == [LONG]


@pytest.mark.parametrize(("seconds", "longest"), [(0.001, 512), (0.02, 64), (5.0, 16)])
def test_pieces_are_as_long_as_the_model_is_fast(tiny: LoadedModel, seconds: float, longest: int) -> None:
    """`seconds` a token: no piece takes longer than two seconds, but for the shortest there is."""
    clock, spy = Ticks(0.0), SpyModel(tiny)
    responder = make_responder(spy, clock=clock)
    spy.before_forward = lambda call: setattr(clock, "now", clock.now + seconds * spy.calls[call - 1][1])
    responder.warm_up()
    spy.calls.clear()
    matched, _ = finish(responder, request("parcel " * 700))
    pieces = [count for _, count in spy.calls if count > 1]
    assert max(pieces) == longest
    assert sum(pieces) >= matched.prompt_tokens - 1
    assert list(events(responder, request())), "and it goes on"
