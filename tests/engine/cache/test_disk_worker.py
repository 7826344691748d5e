"""The disk tier behind the engine: over restarts and switches of the model, and for whoever deletes what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine import Engine, data_dir
from engine.events import BY_ITSELF, CacheView, Failed, Loaded, Matched
from engine.library.places import blocks_dir
from engine.types import ModelSpec
from tests.engine.tiny_models import make_folder
from tests.engine.worker_driver import PATIENCE_S, Driver, request

Start = Callable[..., Driver]


@pytest.fixture(autouse=True)
def blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the disk tier, which is not there yet."""
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data" / "cache" / "blocks"


@pytest.fixture
def start(tiny_folder: Path) -> Iterator[Start]:
    """Ends the program that runs and starts it again with the tiny model loaded, `disk_bytes` for the disk."""
    engines: list[Engine] = []

    def start_again(disk_bytes: int = 10**8) -> Driver:
        assert all(engine.close(PATIENCE_S) for engine in engines)
        engines.append(Engine())
        driver = Driver(engines[-1])
        load(driver, tiny_folder, disk_bytes)
        return driver

    yield start_again
    assert all(engine.close(PATIENCE_S) for engine in engines)


def load(driver: Driver, folder: Path, disk_bytes: int = 10**8) -> None:
    """Load a model."""
    spec = ModelSpec(str(folder), "cpu", "fp32", cache_bytes=10**8, disk_bytes=disk_bytes)
    end = driver.end(driver.engine.load(spec))
    assert isinstance(end, Loaded), end


def ask(driver: Driver, **changes: object) -> Matched:
    """Answer a request and wait until everything is written; what was matched."""
    number = driver.engine.submit(request(**changes))  # type: ignore[arg-type]
    driver.finished(number)
    driver.until(lambda: reports(driver) and driver.engine.worker.idle_work is None)
    driver.quiet()
    matched = driver.of(number)[0]
    assert isinstance(matched, Matched)
    return matched


def reports(driver: Driver) -> list[CacheView]:
    """What was said of the cache since the newest answer began, by idle work or a command."""
    views = [event for event in driver.events if isinstance(event, CacheView | Matched)]
    newest = max((at for at, event in enumerate(views) if isinstance(event, Matched)), default=-1)
    return [event for event in views[newest + 1 :] if isinstance(event, CacheView) and event.request_id <= 0]


def told(driver: Driver, command: Callable[[], None]) -> CacheView:
    """What a command reports."""

    def answers() -> list[CacheView]:
        return [view for view in reports(driver) if view.request_id == 0]

    before = len(answers())
    command()
    driver.until(lambda: len(answers()) > before)
    return answers()[-1]


def files(blocks: Path) -> list[Path]:
    return list(blocks.glob("*/*"))


def test_a_chat_is_read_from_disk_after_a_restart(start: Start, blocks: Path) -> None:
    driver = start()
    assert ask(driver).disk_tokens == 0
    assert driver.engine.cache_view().disk_bytes == sum(path.stat().st_size for path in blocks.glob("*/*.kv"))
    matched = ask(start())
    assert matched.disk_tokens == matched.reused_tokens == (matched.prompt_tokens - 1) // 16 * 16
    assert str(blocks).startswith(str(data_dir()))
    assert blocks == blocks_dir()


def test_what_idle_work_wrote_is_said_by_itself(start: Start) -> None:
    """Not as the answer to a command, which somebody may wait for."""
    driver = start()
    ask(driver)
    assert {view.request_id for view in reports(driver)} == {BY_ITSELF}
    told(driver, driver.engine.clear_cache)


def test_without_a_home_what_is_ordered_for_the_disk_is_answered(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also before a model is loaded."""
    monkeypatch.setenv("HEADSTART_DATA_DIR", "~nobody-of-this-name/headstart")
    driver = Driver(engine)
    for order in (lambda: engine.forget("chat"), lambda: engine.keep_only([]), lambda: engine.set_disk_budget(0)):
        driver.events.clear()
        order()
        driver.until(lambda: driver.of(0))
        assert isinstance(driver.of(0)[0], CacheView), driver.of(0)


def test_nothing_is_written_unless_asked_for(start: Start, blocks: Path) -> None:
    driver = start(disk_bytes=0)
    driver.finished(driver.engine.submit(request()))
    driver.quiet()
    assert not blocks.exists()
    assert ModelSpec().disk_bytes == 0


def test_another_model_and_back(start: Start, tiny_folder: Path, tmp_path: Path) -> None:
    """The folder goes from one model to the next; none sees what is another's. A load that fails changes nothing."""
    driver = start()
    ask(driver)
    load(driver, make_folder(tmp_path / "other", seed=1))
    assert ask(driver).disk_tokens == 0
    assert isinstance(driver.end(driver.engine.load(ModelSpec(str(tmp_path)))), Failed)
    assert ask(driver, conversation="b", messages=request("And the tent?").messages).disk_tokens == 0
    load(driver, tiny_folder)
    assert ask(driver).disk_tokens > 0
    assert driver.engine.cache_view().disk_note == ""


def test_a_deleted_chat_is_deleted_everywhere(start: Start, tiny_folder: Path, tmp_path: Path, blocks: Path) -> None:
    """Of every model that it was asked with."""
    driver = start()
    ask(driver)
    load(driver, make_folder(tmp_path / "other", seed=1))
    ask(driver)
    assert len({path.parent for path in files(blocks)}) == 2
    told(driver, lambda: driver.engine.forget("chat"))
    assert files(blocks) == []


def test_a_chat_is_deleted_also_where_another_program_has_the_folder(
    start: Start, engine: Engine, blocks: Path
) -> None:
    first = start()
    ask(first)
    second = Driver(engine)
    model = first.engine.worker.responder
    assert model is not None
    load(second, Path(model.model.path))
    assert second.engine.cache_view().disk_note
    told(second, lambda: engine.forget("chat"))
    assert files(blocks) == []


def test_a_chat_is_deleted_before_a_model_is_loaded(start: Start, engine: Engine, blocks: Path) -> None:
    ask(start())
    start(disk_bytes=0).engine.close(PATIENCE_S)
    assert files(blocks)
    driver = Driver(engine)
    told(driver, lambda: engine.forget("chat"))
    assert files(blocks) == []


@pytest.mark.parametrize("is_loaded", [False, True])
def test_the_disk_is_compared_with_the_conversations_that_exist(
    start: Start, engine: Engine, blocks: Path, is_loaded: bool
) -> None:
    """The program may have ended before it could delete."""
    driver = start()
    ask(driver)
    ask(driver, conversation="gone", messages=request("And the tent?").messages)
    if not is_loaded:
        start(disk_bytes=0).engine.close(PATIENCE_S)
        driver = Driver(engine)
    before = len(files(blocks))
    told(driver, lambda: driver.engine.keep_only(["chat", "new"]))
    assert 0 < len(files(blocks)) < before
    told(driver, lambda: driver.engine.keep_only([]))
    assert files(blocks) == []


def test_nothing_is_left_on_disk_also_without_a_model(start: Start, engine: Engine, blocks: Path) -> None:
    ask(start())
    start(disk_bytes=0).engine.close(PATIENCE_S)
    driver = Driver(engine)
    told(driver, lambda: engine.set_disk_budget(10**8))
    assert files(blocks)
    told(driver, lambda: engine.set_disk_budget(0))
    assert files(blocks) == []


def test_clearing_the_cache_clears_the_disk(start: Start, blocks: Path) -> None:
    driver = start()
    ask(driver)
    view = told(driver, driver.engine.clear_cache)
    assert (view.disk_bytes, view.cached_tokens, list(blocks.glob("*/*.kv"))) == (0, 0, [])
    assert ask(driver).reused_tokens == 0


def test_the_budget_on_disk_changes_at_once(start: Start, blocks: Path) -> None:
    driver = start()
    ask(driver)
    half = driver.engine.cache_view().disk_bytes // 2
    view = told(driver, lambda: driver.engine.set_disk_budget(half))
    assert 0 < view.disk_bytes <= half
    view = told(driver, lambda: driver.engine.set_disk_budget(0))
    assert (view.disk_bytes, list(blocks.glob("*/*.kv"))) == (0, [])
    told(driver, lambda: driver.engine.set_disk_budget(None))
    ask(driver, conversation="b", messages=request("And the tent?").messages)
    assert list(blocks.glob("*/*.kv"))


def test_a_folder_in_the_way_is_said_and_answers_go_on(
    start: Start, blocks: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocks.parent.mkdir(parents=True)
    blocks.write_text("in the way")
    driver = start()
    answer = driver.finished(driver.engine.submit(request()))
    assert answer.token_ids
    assert "cannot be used" in driver.engine.cache_view().disk_note
    assert len(caplog.records) == 1


def test_the_namespace_names_all_that_numbers_depend_on(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another torch, processor, number of threads, layout or way to attend: each gets a folder of its own."""
    from engine import machine as device
    from engine.worker import loading

    responder = start().engine.worker.responder
    assert responder is not None
    model = responder.model
    names = [loading.namespace_of(model, "weights")]
    layout = model.layout
    one_head = replace(layout, groups=(replace(layout.groups[0], kv_heads=1),))
    for other in (one_head, replace(layout, dtype=torch.bfloat16)):
        monkeypatch.setattr(model, "layout", other)
        names.append(loading.namespace_of(model, "weights"))
    monkeypatch.setattr(model, "layout", layout)
    with monkeypatch.context() as patch:
        patch.setenv("MKL_CBWR", "COMPATIBLE")
        names.append(loading.namespace_of(model, "weights"))
    for target, value in (
        ("engine.machine._cpu_name", "Abacus 9000"),
        ("torch.backends.cpu.get_cpu_capability", "ABACUS"),
        ("torch.get_num_threads", 97),
        ("engine.machine.metadata.version", "0"),
        ("engine.worker.loading.way", "by hand"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(target, lambda *_, value=value: value)
            names.append(loading.namespace_of(model, "weights"))
    assert len(set(names)) == len(names)
    assert device.arithmetic("cpu") in names[0]


@pytest.mark.parametrize("follows", ["too long", "no model there"])
def test_what_was_answered_is_written_also_where_the_next_job_fails(start: Start, blocks: Path, follows: str) -> None:
    driver = start()
    answer = driver.engine.submit(request())
    if follows == "too long":
        failing = driver.engine.submit(request("parcel " * 2000))
    else:
        failing = driver.engine.load(ModelSpec(str(blocks)))
    driver.finished(answer)
    assert isinstance(driver.end(failing), Failed)
    driver.until(lambda: reports(driver))
    assert ask(start()).disk_tokens > 0


def test_a_job_that_fails_brings_nothing_dropped_back(driver: Driver) -> None:
    """Idle work that goes on after it is only what was left."""
    driver.finished(driver.engine.submit(request()))
    told(driver, driver.engine.clear_cache)
    assert isinstance(driver.end(driver.engine.submit(request("parcel " * 2000))), Failed)
    driver.quiet()
    assert driver.engine.cache_view().cached_tokens == 0


def test_a_negative_budget_on_disk_is_refused(driver: Driver, engine: Engine) -> None:
    driver.engine.set_disk_budget(-(10**6))
    driver.until(lambda: driver.of(0))
    end = driver.of(0)[-1]
    assert isinstance(end, Failed)
    assert "0 MB or more; it is -1 MB" in end.sentence


def test_after_a_restart_the_picture_shows_what_is_on_disk(start: Start, blocks: Path) -> None:
    """It can be dropped there, not kept."""
    ask(start())
    driver = start()
    told(driver, lambda: driver.engine.keep_only(["chat"]))
    (node,) = driver.engine.cache_view().nodes
    assert (node.tier, node.bytes, node.conversations) == ("disk", driver.engine.cache_view().disk_bytes, ("chat",))
    assert request().messages[0].content[:20] in node.text
    driver.engine.keep_prefix(node.block)
    driver.until(lambda: isinstance(driver.of(0)[-1], Failed))
    refused = driver.of(0)[-1]
    assert isinstance(refused, Failed)
    assert "on disk only" in refused.sentence
    view = told(driver, lambda: driver.engine.drop_prefix(node.block))
    assert (view.disk_bytes, driver.engine.cache_view().nodes, list(blocks.glob("*/*.kv"))) == (0, (), [])
