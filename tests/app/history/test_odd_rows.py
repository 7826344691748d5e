"""A value of no use in the conversation file costs that value: no window that stays closed, no chat that cannot be
opened, nothing that hangs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.history.history import History
from app.settings import Settings
from engine import ModelSpec, Sampling
from tests.app.conftest import Desk
from tests.app.fake_engine import FakeEngine
from tests.app.odd_rows import COLUMNS, IDS, VALUES, Change, make_file, spoil


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with nothing wrong in it but what its tables would let in."""
    path = tmp_path_factory.mktemp("whole") / "history.sqlite3"
    make_file(path)
    return path


@contextmanager
def desk_at(path: Path) -> Iterator[Desk]:
    """A session with a model on this file."""
    engine = FakeEngine()
    bridge, history = Bridge(engine), History(path)
    desk = Desk(engine, bridge, history, Session(bridge, history, Settings()))
    desk.session.answers.load(ModelSpec())
    bridge.drain()
    yield desk
    desk.close()


def use(desk: Desk) -> None:
    """Everything that a user can reach: the list, the search, presets, figures, every chat, a new message in each."""
    session, history = desk.session, desk.history
    history.presets.all()
    history.turns(100)
    session.conversations("why")
    for entry in session.conversations():
        session.open(entry.id)
        assert session.conversation.id == entry.id
        for message in session.messages:
            assert message.id in session.versions(message.id)
            session.had_system_prompt(message.id)
            session.place_of_divergence(message)
            session.choose_sibling(message.id)
        assert session.send("Go on")
        desk.drain()
        assert [message.content for message in session.messages[-2:]] == ["Go on", "Hello from a fake."]


def changes() -> st.SearchStrategy[list[Change]]:
    """A few odd values, anywhere."""

    def change(place: tuple[str, str]) -> st.SearchStrategy[Change]:
        values = st.sampled_from(IDS if place[1] == "id" else VALUES)
        return st.tuples(st.just(place[0]), st.just(place[1]), st.integers(0, 5), values)

    return st.lists(st.sampled_from(COLUMNS).flatmap(change), min_size=1, max_size=6)


@settings(deadline=None, max_examples=150)
@given(changes())
def test_odd_values_cost_no_more_than_themselves(qapp: object, whole: Path, odd: list[Change]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(whole, folder))
        spoil(path, odd)
        with desk_at(path) as desk:
            assert desk.history.notice == ""
            use(desk)


@pytest.mark.parametrize(
    ("parents", "shown"), [({1: 2}, 4), ({1: 4, 3: 1}, 4), ({5: 5}, 2), ({5: 99}, 2), ({5: 7}, 2), ({6: 5, 5: 6}, 2)]
)
def test_parents_in_a_circle_end_somewhere(whole: Path, tmp_path: Path, parents: dict[int, int], shown: int) -> None:
    path = Path(shutil.copy(whole, tmp_path))
    spoil(path, [("message", "parent_id", number - 1, parent) for number, parent in parents.items()])
    history = History(path)
    branch = history.messages(1)
    assert [message.role for message in branch] == ["user", "assistant"] * (shown // 2)
    assert any(message.unread == ("parent_id",) for message in branch)
    history.close()


def test_what_is_left_out_is_said_and_the_rest_is_there(qapp: object, whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole, tmp_path))
    odd = [("conversation", "sampling", 0, "{broken"), ("conversation", "template", 0, '{"system_place": "attic"}')]
    odd += [("message", "stats", 1, "[]"), ("message", "tool_calls", 1, '[{"name": ""}]')]
    spoil(path, odd)
    with desk_at(path) as desk:
        said: list[tuple[str, str]] = []
        desk.session.error.connect(lambda *words: said.append(words))
        desk.session.open(2)
        assert said == []
        desk.session.open(1)
        assert desk.session.conversation.sampling == Sampling()
        assert desk.session.conversation.system_prompt == "Today is {{date}}."
        answer = desk.session.messages[1]
        assert (answer.content, answer.stats, answer.token_ids) == ("Because.", None, (1, 2, 3))
        assert (answer.thought, answer.tool_calls) == ("Why indeed?", ())
    ((sentence, detail),) = said
    assert "cannot be read and were left out" in sentence
    assert detail == "conversation: sampling, template\nmessage 2: stats, tool_calls"
