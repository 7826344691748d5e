"""Models that are loaded, switched, and refused: the old one stays until the new one is there."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine import Engine
from engine.cache.disk_tier import DiskTier
from engine.cache.store import KVStore, Lane
from engine.events import BY_ITSELF, CacheView, Failed, Loaded, Loading, Matched
from engine.models.loaded import LoadedModel
from engine.types import HeadstartError, InvalidRequestError, Message, ModelError, ModelSpec
from engine.worker import loading
from tests.engine.tiny_models import make_folder
from tests.engine.worker_driver import GREEDY, PATIENCE_S, Driver, Gate, request


@pytest.fixture(scope="module")
def other_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another model with the same tokenizer."""
    return make_folder(tmp_path_factory.mktemp("other") / "other", seed=1)


def spec(folder: Path, **changes: object) -> ModelSpec:
    return replace(ModelSpec(str(folder), "cpu", "fp32", cache_bytes=10**8), **changes)  # type: ignore[arg-type]


def failed(driver: Driver, request_id: int) -> Failed:
    end = driver.end(request_id)
    assert isinstance(end, Failed), end
    assert [type(event) for event in driver.of(request_id)].count(Failed) == 1
    return end


def test_without_a_model_everything_is_a_sentence(engine: Engine) -> None:
    driver = Driver(engine)
    for request_id in (engine.submit(request()), engine.preview(request())):
        assert failed(driver, request_id).sentence == "No model is loaded. Open a model first."
    engine.set_cache_budget(10**6)
    engine.clear_cache()
    driver.until(lambda: len(driver.of(0)) == 2)
    assert all(isinstance(event, Failed) for event in driver.of(0))
    assert engine.cache_view() == CacheView(0, 0.0, 0, 0, 0, 0, 0, 0)


def test_a_model_is_loaded_although_its_folder_on_disk_cannot_be_opened(
    driver: Driver, other_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("odd")

    with monkeypatch.context() as patch:
        patch.setattr(DiskTier, "open", fail)
        assert isinstance(driver.end(driver.engine.load(spec(other_folder))), Loaded)
    assert any(isinstance(event, Failed) and "odd" in event.detail for event in driver.of(BY_ITSELF))
    driver.finished(driver.engine.submit(request()))


def test_a_load_that_fails_keeps_the_old_model(driver: Driver, tmp_path: Path) -> None:
    """Each a sentence; the model that was there answers, with its cache."""
    engine = driver.engine
    first = driver.finished(engine.submit(request()))
    (tmp_path / "weights.bin").write_bytes(b"pickle")
    for path in (tmp_path / "missing", tmp_path):
        end = failed(driver, engine.load(ModelSpec(str(path))))
        assert end.sentence.endswith(".")
        assert "Traceback" not in end.sentence
    again = driver.finished(engine.submit(request()))
    assert again.token_ids == first.token_ids
    assert (again.stats.reused_tokens, again.stats.computed_tokens) == (again.stats.prompt_tokens, 0)


def test_a_load_that_crashes_keeps_the_old_model(
    driver: Driver, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error nobody foresaw: a sentence for the user, the traceback for the log."""

    def crash(*_: object) -> None:
        raise KeyError("surprise")

    with monkeypatch.context() as patch:
        patch.setattr("engine.worker.loading.load", crash)
        end = failed(driver, driver.engine.load(spec(tiny_folder)))
    assert "Something went wrong" in end.sentence
    assert "KeyError" in end.detail
    driver.finished(driver.engine.submit(request()))


class Scarce:
    """Memory that is too little for the first `times` loads. `alive` notes for each whether the model before was."""

    def __init__(self, patch: pytest.MonkeyPatch, before: object, times: int) -> None:
        self.before, self.left, self.alive = weakref.ref(before), times, list[bool]()
        self._load = loading.load
        patch.setattr("engine.worker.loading.load", self.load)

    def load(self, *arguments: object) -> object:
        self.alive.append(self.before() is not None)
        self.left -= 1
        if self.left >= 0:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return self._load(*arguments)  # type: ignore[arg-type]


def model_of(driver: Driver) -> object:
    assert driver.engine.worker.responder is not None
    return driver.engine.worker.responder.model


def test_no_memory_for_a_first_model_is_a_sentence(
    engine: Engine, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = Driver(engine)
    Scarce(monkeypatch, driver, 1)
    end = failed(driver, engine.load(spec(tiny_folder)))
    assert "not enough memory to load tiny" in end.sentence
    assert not end.is_model_gone


def test_no_memory_beside_the_old_model_closes_it(
    driver: Driver, other_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is gone before the new one is read again, a stage says so, and its conversations are known to the new one."""
    driver.finished(driver.engine.submit(request()))
    driver.quiet()
    scarce = Scarce(monkeypatch, model_of(driver), 1)
    load = driver.engine.load(spec(other_folder))
    assert isinstance(driver.end(load), Loaded)
    assert scarce.alive == [True, False]
    assert any("closed" in event.stage for event in driver.of(load) if isinstance(event, Loading))
    after = driver.engine.submit(request())
    driver.finished(after)
    matched = driver.of(after)[0]
    assert isinstance(matched, Matched)
    assert matched.divergence is not None
    assert matched.divergence.cause == "other model"


def test_no_memory_even_without_the_old_model_says_that_it_is_gone(
    driver: Driver, tiny_folder: Path, other_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        Scarce(patch, model_of(driver), 2)
        end = failed(driver, driver.engine.load(spec(other_folder)))
    assert "not enough memory to load other" in end.sentence
    assert "The one before was closed to make room: open it again." in end.sentence
    assert end.is_model_gone
    assert driver.engine.cache_view().budget_bytes == 0
    assert "No model is loaded" in failed(driver, driver.engine.submit(request())).sentence
    driver.end(driver.engine.load(spec(tiny_folder)))
    driver.finished(driver.engine.submit(request()))


def test_the_cache_is_emptied_before_another_model_is_read(
    driver: Driver, other_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks and lanes; and a model that then cannot be opened leaves the old one as it was, but for that."""
    driver.finished(driver.engine.submit(request()))
    used = []

    def refuse(*_: object) -> None:
        assert driver.engine.worker.responder is not None
        used.append(driver.engine.worker.responder.cache.store.used_bytes)
        raise ModelError("It is of no use.")

    with monkeypatch.context() as patch:
        patch.setattr("engine.worker.loading.load", refuse)
        assert not failed(driver, driver.engine.load(spec(other_folder))).is_model_gone
    assert used == [0]
    driver.finished(driver.engine.submit(request()))


def test_switching_models_and_back(driver: Driver, tiny_folder: Path, other_folder: Path) -> None:
    """ENGINE_BUGS kind B5: nothing of one model is found from another; the cause is told by name."""
    engine, answers = driver.engine, []
    for folder in (tiny_folder, other_folder, tiny_folder):
        driver.end(engine.load(spec(folder)))
        cold = driver.finished(engine.submit(request(use_cache=False)))
        request_id = engine.submit(request())
        warm = driver.finished(request_id)
        assert warm.stats.reused_tokens == 0
        assert warm.token_ids == cold.token_ids
        answers.append(warm.token_ids)
        matched = driver.of(request_id)[0]
        assert isinstance(matched, Matched)
        assert matched.divergence is not None
        if len(answers) == 1:
            assert matched.divergence.cause == "new"
        else:
            assert matched.divergence.cause == "other model"
            assert 0 < matched.divergence.recomputed_tokens <= matched.computed_tokens
    assert answers[0] == answers[2] != answers[1]


def test_a_number_type_is_another_model(driver: Driver, tiny_folder: Path) -> None:
    """ENGINE_BUGS kind E36: the namespace names weights, number type and device."""
    names = set()
    for changes in ({}, {"dtype": "bf16"}):
        driver.end(driver.engine.load(spec(tiny_folder, **changes)))
        assert driver.engine.worker.responder is not None
        names.add(driver.engine.worker.responder.cache.namespace)
    assert len(names) == 2


def test_five_switches_leave_one_model(driver: Driver, tiny_folder: Path, other_folder: Path) -> None:
    """Issue 3 point 6: memory of the models before is given back."""
    engine, gone = driver.engine, []

    def counts() -> tuple[int, ...]:
        driver_only = [o for o in gc.get_objects() if type(o) in (LoadedModel, KVStore, Lane)]
        return tuple(sum(type(o) is kind for o in driver_only) for kind in (LoadedModel, KVStore, Lane))

    gc.collect()
    before = counts()  # the model the driver came with, and what other tests share
    for number in range(5):
        driver.end(engine.load(spec(other_folder if number % 2 else tiny_folder)))
        driver.finished(engine.submit(request()))
        assert engine.worker.responder is not None
        gone.append(weakref.ref(engine.worker.responder.cache.store))
        gone.append(weakref.ref(engine.worker.responder.model))
    driver.quiet()
    gc.collect()
    assert [ref() is None for ref in gone] == [True] * 8 + [False] * 2
    assert [now - then for now, then in zip(counts(), before, strict=True)] == [0, 0, 1], (
        "models, stores and lanes alive"
    )


def test_requests_wait_for_the_model_that_was_asked_for_before_them(driver: Driver, other_folder: Path) -> None:
    engine = driver.engine
    before = engine.submit(request())
    load = engine.load(spec(other_folder))
    after = engine.submit(request())
    answers = [driver.finished(request_id).token_ids for request_id in (before, after)]
    assert isinstance(driver.of(load)[-1], Loaded)
    assert answers[0] != answers[1]
    order = [event.request_id for event in driver.events if event.request_id in (before, load, after)]
    assert order == sorted(order)


def test_an_engine_answers_as_a_cold_one(driver: Driver) -> None:
    """Through the whole engine, answers read again at idle in between."""
    messages = request("Where is my parcel? " * 20).messages
    for _ in range(3):
        warm = driver.finished(
            driver.engine.submit(request(messages=messages, sampling=replace(GREEDY, max_tokens=90)))
        )
        cold = driver.finished(
            driver.engine.submit(request(messages=messages, sampling=replace(GREEDY, max_tokens=90), use_cache=False))
        )
        assert warm.token_ids == cold.token_ids
        messages = (
            *messages,
            Message("assistant", warm.text, warm.token_ids),
            Message("user", "Thanks. And the tent?"),
        )
        driver.quiet()
    assert warm.stats.reused_tokens > 128


def test_closing_while_a_model_is_prepared(engine: Engine, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The load ends at its next step, with nothing half done."""
    reached, go_on = threading.Event(), threading.Event()

    def resolve(path: str, progress: object) -> Path:
        reached.set()
        assert go_on.wait(PATIENCE_S)
        progress("Converting", 0.5)  # type: ignore[operator]
        raise AssertionError("the load went on")

    monkeypatch.setattr("engine.library.resolve.resolve", resolve)
    load = engine.load(spec(tiny_folder))
    assert reached.wait(PATIENCE_S)
    assert not engine.close(0.01)
    go_on.set()
    assert engine.close(PATIENCE_S)
    events = [event for event in engine.poll() if event.request_id == load]
    assert [type(event) for event in events] == [Loading, Failed]


def test_a_load_can_be_stopped_while_the_model_is_prepared(
    driver: Driver, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one that was asked for does not wait for it."""
    reached, go_on = threading.Event(), threading.Event()

    def resolve(path: str, progress: object) -> Path:
        reached.set()
        assert go_on.wait(PATIENCE_S)
        progress("Converting", 0.5)  # type: ignore[operator]
        raise AssertionError("the load went on")

    with monkeypatch.context() as patch:
        patch.setattr("engine.library.resolve.resolve", resolve)
        load = driver.engine.load(spec(tiny_folder))
        assert reached.wait(PATIENCE_S)
        driver.engine.cancel(load)
        go_on.set()
        assert failed(driver, load).sentence.endswith("stopped.")
    driver.finished(driver.engine.submit(request()))


def test_an_error_in_idle_work_is_reported_and_the_engine_lives_on(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("idle and broken")
        yield

    with monkeypatch.context() as patch:
        patch.setattr("engine.turn.responder.Responder.settle", broken)
        driver.finished(driver.engine.submit(request()))
        driver.until(lambda: driver.of(BY_ITSELF))
    end = driver.of(BY_ITSELF)[-1]
    assert isinstance(end, Failed)
    assert "idle and broken" in end.detail
    driver.finished(driver.engine.submit(request()))


@pytest.mark.parametrize("then", ["submit", "preview", "clear_cache", "close"])
def test_an_error_when_idle_work_is_broken_off(driver: Driver, monkeypatch: pytest.MonkeyPatch, then: str) -> None:
    """What it gives back may fail too, as all copies do once a device is gone: the thread lives on and says so."""
    engine, held = driver.engine, threading.Event()

    def broken(*_: object) -> Iterator[None]:
        try:
            held.set()
            while True:
                yield None
        finally:
            raise RuntimeError("the device is gone")

    with monkeypatch.context() as patch:
        patch.setattr("engine.turn.responder.Responder.settle", broken)
        driver.finished(engine.submit(request()))
        assert held.wait(PATIENCE_S)
        if then == "close":
            assert engine.close(PATIENCE_S)
        elif then == "clear_cache":
            engine.clear_cache()
        else:
            driver.end(getattr(engine, then)(request()))
        driver.until(lambda: any(isinstance(event, Failed) for event in driver.of(BY_ITSELF)))
    assert engine.worker.responder is None or engine.worker.is_alive()
    if then != "close":
        driver.finished(engine.submit(request()))


def test_an_error_in_a_request_leaves_the_next_one_alone(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        gate = Gate(patch, 4)
        gate.open.set()
        patch.setattr("engine.turn.choosing.sample", None)
        end = failed(driver, driver.engine.submit(request()))
    assert "The conversation is safe" in end.sentence
    assert "TypeError" in end.detail
    driver.finished(driver.engine.submit(request()))


def test_a_refusal_is_its_own_sentence(driver: Driver) -> None:
    end = failed(driver, driver.engine.submit(request("parcel " * 2000)))
    assert "Shorten the message" in end.sentence
    preview = driver.end(driver.engine.preview(request("parcel " * 2000)))
    assert not isinstance(preview, Failed), "a preview may be longer than the context: that is what it shows"
    with pytest.raises(InvalidRequestError):
        request(messages=())
    assert issubclass(InvalidRequestError, HeadstartError)
