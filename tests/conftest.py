"""What every test stands on: no display, no network for models, no trace in the user's files, nothing left running."""

from __future__ import annotations

import functools
import gc
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import shiboken6
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from tests.depth import FAST_EXAMPLES

# Before there is an application, and before torch or a Hugging Face library is imported.
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
# Processes that share a run compute on one thread each: teams of threads on the same cores only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1" if "PYTEST_XDIST_WORKER" in os.environ else "2")

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=FAST_EXAMPLES)
hypothesis.settings.register_profile("deep", deadline=None, derandomize=True, max_examples=400)
hypothesis.settings.register_profile("soak", deadline=None, max_examples=3000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

MOST_PROCESSES = 4
"""Each holds the default model once: about two gigabytes."""

PATIENCE_S = 60.0
"""For what ends as soon as a thing has happened. Only a failing test waits that long, or one on a very busy machine."""

TIMERS: weakref.WeakSet[QTimer] = weakref.WeakSet()
NOT_OURS = {"TMonitor"}  # tqdm's, one a process, started by transformers' progress bars


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--deep`: every case, and more random examples."""
    parser.addoption("--deep", action="store_true", help="play every case, and four times as many random examples")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the random examples that go with `--deep`."""
    if config.getoption("--deep"):
        hypothesis.settings.load_profile("deep")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process a core, up to four. A run of single files starts none: their imports would take longer than they."""
    if any(Path(argument.partition("::")[0]).is_file() for argument in config.args):
        return 0
    return min(os.cpu_count() or 1, MOST_PROCESSES)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the deep cases where nobody asked for them, and mark every test that runs the default model, so that
    `-m "not real_model"` leaves it out."""
    if not config.getoption("--deep"):
        config.hook.pytest_deselected(items=[item for item in items if "deep" in item.keywords])
        items[:] = [item for item in items if "deep" not in item.keywords]
    for item in items:
        if "default_model" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.real_model)
    # The long ones first, so that no process waits at the end for what another has just begun.
    items.sort(key=lambda item: "real_model" not in item.keywords)


@pytest.fixture
def qtbot(qtbot: QtBot) -> QtBot:
    """Waits as long as a busy machine needs, where a test names no time of its own."""
    for name in ("waitUntil", "waitSignal", "waitSignals", "waitActive", "waitExposed"):
        setattr(qtbot, name, functools.partial(getattr(qtbot, name), timeout=int(1000 * PATIENCE_S)))
    return qtbot


@pytest.fixture(scope="session")
def default_model() -> Path:
    """The file of the real default model. Fetched once, kept in the user's data directory like the program does."""
    from engine.library.resolve import fetch_model

    return fetch_model(lambda stage, fraction: None)


@pytest.fixture(scope="session", autouse=True)
def _own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings, logs and caches of the program go to a folder of this run; only models stay where they are kept."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(home / name))
        yield


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    """Fail a test that leaves a thread or an active timer behind."""
    threads, timers = set(threading.enumerate()), active_timers()
    yield
    running = left_threads(threads)
    assert not running, f"threads left running: {running}"
    ticking = [timer for timer in active_timers() if not any(timer is known for known in timers)]
    names = [f"{timer.objectName() or timer} of {timer.parent()}" for timer in ticking]
    for timer in ticking:
        timer.stop()
    assert not names, f"timers left active: {names}"


def left_threads(before: set[threading.Thread], join_s: float = PATIENCE_S) -> list[str]:
    """The names of the Python threads started since `before` that do not end within `join_s` seconds."""
    left = [
        thread for thread in threading.enumerate() if thread not in before and type(thread).__name__ not in NOT_OURS
    ]
    for thread in left:
        thread.join(join_s)
    return [thread.name for thread in left if thread.is_alive()]


def active_timers() -> list[QTimer]:
    """The QTimers made by Python that are running."""
    if not any(shiboken6.isValid(timer) and timer.isActive() for timer in TIMERS):
        return []
    gc.unfreeze()  # a first load in this process leaves out what was there before
    gc.collect()  # one that nobody can reach any more is no timer left behind
    return [timer for timer in TIMERS if shiboken6.isValid(timer) and timer.isActive()]


def _watch_timers() -> None:
    """Remember every QTimer that Python makes. (Looking for them among all objects takes 0.5 s once torch is there.)"""
    make = QTimer.__init__

    def watched(timer: QTimer, *arguments: Any, **options: Any) -> None:
        make(timer, *arguments, **options)
        TIMERS.add(timer)

    QTimer.__init__ = watched  # type: ignore[method-assign]


_watch_timers()
