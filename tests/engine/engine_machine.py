"""A machine that drives an engine on its thread, polled by two threads: whatever is asked for ends exactly once, also
what is open when the engine is closed."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from engine import Engine
from engine.events import Event, Failed, Finished, Loaded, Preview
from engine.types import ModelSpec
from tests.engine.tiny_models import make_folder
from tests.engine.worker_driver import GREEDY, PATIENCE_S, request

CHATS = st.sampled_from(["one", "two", "three"])
QUESTIONS = st.sampled_from(["Where is it?", "Where is the parcel of the customer now? " * 20, "Why? 🙂"])


@cache
def folders() -> tuple[Path, Path]:
    """Two models."""
    root = Path(tempfile.mkdtemp(prefix="headstart-soak-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return make_folder(root / "one"), make_folder(root / "two", seed=1)


class EngineMachine(RuleBasedStateMachine):
    """Answers, previews, loads, stops and commands as they come, with blocks on disk, until the engine is closed."""

    @initialize()
    def start(self) -> None:
        """An engine with a model, and two who poll it."""
        self.data = tempfile.TemporaryDirectory()
        self.patch = pytest.MonkeyPatch()
        self.patch.setenv("HEADSTART_DATA_DIR", self.data.name)
        self.engine = Engine()
        self.asked: list[int] = []
        self.taken: tuple[list[Event], list[Event]] = ([], [])
        self.faults: list[BaseException] = []
        self.is_over = threading.Event()
        self.pollers = [threading.Thread(target=self._poll, args=(mine,)) for mine in self.taken]
        for poller in self.pollers:
            poller.start()
        self.load(0)

    @rule(number=st.integers(0, 1))
    def load(self, number: int) -> None:
        """One of the models."""
        spec = ModelSpec(str(folders()[number]), "cpu", "fp32", cache_bytes=10**7, disk_bytes=10**7)
        self.asked.append(self.engine.load(spec))

    @rule(chat=CHATS, question=QUESTIONS, length=st.integers(1, 60))
    def submit(self, chat: str, question: str, length: int) -> None:
        """An answer."""
        sampling = replace(GREEDY, max_tokens=length)
        self.asked.append(self.engine.submit(request(question, conversation=chat, sampling=sampling)))

    @rule(chat=CHATS, question=QUESTIONS)
    def preview(self, chat: str, question: str) -> None:
        """What it would cost."""
        self.asked.append(self.engine.preview(request(question, conversation=chat)))

    @rule(chat=CHATS, question=QUESTIONS, keeps=st.booleans())
    def read_ahead(self, chat: str, question: str, keeps: bool) -> None:
        """Somebody writes a question and rests, or has a system prompt pinned."""
        others = [request(f"{question}{more}", conversation=chat) for more in ("s", " And?")]
        self.asked.append(self.engine.read_ahead(request(question, conversation=chat), others, keeps=keeps))

    @rule(at=st.integers(0, 1000))
    def cancel(self, at: int) -> None:
        """Something that was asked for, over or not."""
        self.engine.cancel(self.asked[at % len(self.asked)])

    @rule(chat=CHATS)
    def forget(self, chat: str) -> None:
        """A chat is deleted."""
        self.engine.forget(chat)

    @rule(budget=st.sampled_from([0, 10**6, 10**7]))
    def change_budgets(self, budget: int) -> None:
        """In memory and on disk."""
        self.engine.set_cache_budget(budget)
        self.engine.set_disk_budget(budget)

    @rule()
    def clear(self) -> None:
        """Nothing is cached any more."""
        self.engine.clear_cache()
        self.engine.cache_view()

    @rule(milliseconds=st.integers(1, 30))
    def rest(self, milliseconds: int) -> None:
        """Time for the engine."""
        threading.Event().wait(milliseconds / 1000)

    def teardown(self) -> None:
        """Close in the middle of things, and count the ends."""
        assert self.engine.close(PATIENCE_S)
        self.is_over.set()
        for poller in self.pollers:
            poller.join(PATIENCE_S)
        self.patch.undo()
        self.data.cleanup()
        events = [*self.taken[0], *self.taken[1], *self.engine.poll(10**6)]
        ends = Counter(event.request_id for event in events if isinstance(event, Finished | Failed | Loaded | Preview))
        del ends[0]
        assert not self.faults
        assert ends == Counter(self.asked)
        broken = [event for event in events if isinstance(event, Failed) and "Traceback" in event.detail]
        assert not broken, broken

    def _poll(self, mine: list[Event]) -> None:
        try:
            while not self.is_over.wait(0.001):
                mine += self.engine.poll(3)
        except BaseException as error:
            self.faults.append(error)
