"""A conversation remembers the model that answered in it, and offers it again with what the switch costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.window import conversation_model
from tests.app.fake_engine import MODEL
from tests.app.window.conftest import Screen

FIRST, SECOND = replace(MODEL, name="First", path="/models/first"), replace(MODEL, name="Second", path="/models/second")


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What the models take on disk; one that is not in it is gone."""
    made = {FIRST.path: 2 * 10**9, SECOND.path: 5 * 10**8}
    monkeypatch.setattr(conversation_model, "model_bytes", lambda path: made.get(path, 0))
    return made


@pytest.fixture
def two(make_screen: Callable[..., Screen], sizes: dict[str, int]) -> Screen:
    """One conversation answered by the first model, and one by the second, which is open and in view."""
    screen = make_screen(loaded=False, model=FIRST)
    screen.play()
    screen.ask("Where is my parcel?")
    screen.play()
    screen.engine.model = SECOND
    screen.application.dialogs.load(SECOND.path)
    screen.play()
    screen.window.commands.new.trigger()
    screen.ask("And the other one?")
    screen.play()
    return screen


def offered(screen: Screen, qtbot: QtBot) -> str:
    qtbot.waitUntil(lambda: screen.window.notice.has_offer)
    return screen.window.notice.text


def test_opening_says_which_model_answered_and_what_a_switch_costs(two: Screen, qtbot: QtBot) -> None:
    two.application.presenter.open(1)
    said = offered(two, qtbot)
    assert said.startswith(
        "First answered in this conversation, and Second is open. To open First, 2.0 GB are read from"
    )
    assert "what Second has in memory (" in said
    assert said.endswith("tokens) is forgotten.")
    assert len(two.engine.specs) == 2, "nothing is loaded unasked"
    assert two.window.notice.offer.text() == "Open First"
    two.engine.model = FIRST
    two.window.notice.offer.click()
    assert two.engine.specs[-1].path == FIRST.path
    two.play()
    assert two.session.model == FIRST
    assert not two.window.notice.has_offer


def test_the_offer_goes_with_its_conversation_and_a_new_answer_is_remembered(two: Screen, qtbot: QtBot) -> None:
    two.application.presenter.open(1)
    offered(two, qtbot)
    two.application.presenter.open(2)
    assert two.window.notice.text == ""
    two.application.presenter.open(1)
    offered(two, qtbot)
    two.ask("Again?")
    two.play()
    assert two.application.history.models.of(1).name == "Second"
    two.application.presenter.open(2)
    two.application.presenter.open(1)
    assert two.window.notice.text == ""


def test_a_model_that_is_gone_and_a_conversation_of_a_server_are_left_alone(
    two: Screen, sizes: dict[str, int], qtbot: QtBot
) -> None:
    del sizes[FIRST.path]
    two.application.presenter.open(1)
    with qtbot.waitSignal(two.application.conversation_model.looked):
        pass
    assert not two.window.notice.has_offer
    sizes[FIRST.path] = 1
    two.application.answered_by.choose("http://elsewhere/v1")
    two.application.presenter.open(2)
    two.application.presenter.open(1)
    assert not two.window.notice.has_offer


def test_an_answer_is_noted_for_its_own_conversation_whatever_is_in_view(two: Screen) -> None:
    two.application.presenter.open(1)
    two.ask("And now?")
    two.application.presenter.open(2)
    two.application.answered_by.choose("http://elsewhere/v1")
    two.play()
    assert [two.application.history.models.of(number).name for number in (1, 2)] == ["Second", "Second"]


def test_a_copy_has_the_same_model_and_what_is_deleted_none(two: Screen, tmp_path: Path) -> None:
    history = two.application.history
    copy = history.filing.copy(1, "Copy")
    assert history.models.of(copy) == history.models.of(1)
    history.delete(copy)
    assert history.models.of(copy) is None
