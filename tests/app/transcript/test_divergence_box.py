"""Why a prompt was read again: the first different token, both sides, the place, the cause; only where it matters."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.chat.places import place_of
from app.transcript.difference import difference
from app.transcript.divergence_box import DivergenceBox
from app.words import is_worth_saying
from engine import Divergence
from engine.types import Cause

CAUSES = [cause for cause in get_args(Cause) if cause != "new"]
SYSTEM = "in the system prompt"


def divergence(cause: Any = "date", old: str = "It is 29 Nov, so", new: str = "It is 30 Nov, so") -> Divergence:
    return Divergence(412, 0, cause, old, new, 2600)


@pytest.fixture
def box(qtbot: QtBot) -> DivergenceBox:
    box = DivergenceBox()
    qtbot.addWidget(box)
    box.resize(600, 80)
    return box


@pytest.mark.parametrize(
    ("old", "new", "said", "spoken"),
    [
        (" It is 29 Nov", " It is 30 Nov", "“It is 29 Nov…” became “It is 30 Nov…”", "“29” became “30”"),
        (
            "at 10:04. You are",
            "at 10:15. You",
            "“at 10:04. You are…” became “at 10:15. You are…”",
            "“10:04.” became “10:15.”",
        ),
        ("Be brief", "Be very brief", "“Be very brief…” is new", "“very” is new"),
        ("Be brief. Now", "Be brief.", "“Be brief. Now” is gone", "“Now” is gone"),
        ("a b", "a\nb", "“a b” became “a⏎b”", "“b” became “⏎b”"),
        ("", "x" * 90, f"“{'x' * 40}…” is new", f"“{'x' * 40}…” is new"),
        ("", "", "", ""),
    ],
)
def test_the_difference_in_words(old: str, new: str, said: str, spoken: str) -> None:
    found = difference(old, new)
    assert (found.text, found.spoken) == (said, spoken)


def test_the_difference_is_marked_by_more_than_colour() -> None:
    html = difference("It is <29> Nov", "It is <30> Nov").html
    assert html == "“It is <b><u>&lt;29&gt;</u></b> Nov…” became “It is <b><u>&lt;30&gt;</u></b> Nov…”"


def test_the_box_says_everything(box: DivergenceBox) -> None:
    box.show_divergence(divergence(), SYSTEM, 2764)
    assert not box.isHidden()
    assert box.text_shown.startswith(
        "One different word at token 412, in the system prompt: “It is 29 Nov, so…” became “It is 30 Nov, so…”. "
        "The 2,600 tokens after it had to be read again: a date or a clock there moved on."
    )
    assert "<u>29</u>" in box.html_shown
    assert box.accessibleName().startswith(
        "One different word at token 412, in the system prompt: “29” became “30”. The 2,600"
    )


def test_where_more_than_a_word_differs_it_is_not_called_one(box: DivergenceBox) -> None:
    box.show_divergence(Divergence(70, 0, "date", "is 30 November 202", "is 1 December 202", 2600), SYSTEM, 2764)
    assert box.text_shown.startswith(
        "The text differs from token 70 on, in the system prompt: "
        "“is 30 November 202…” became “is 1 December 202…”. The 2,600 tokens"
    )


def test_every_cause_of_the_engine_is_in_words(box: DivergenceBox) -> None:
    said = set()
    for cause in CAUSES:
        moved = cause in ("evicted", "other client", "positions", "other model", "cache off")
        box.show_divergence(divergence(cause, "" if moved else "a b", "" if moved else "a c"), SYSTEM, 2764)
        assert "2,600 tokens" in box.text_shown
        assert ("One different word at token 412" in box.text_shown) is not (moved or cause == "trimmed")
        said.add(box.text_shown)
    assert len(said) == len(CAUSES)


def test_a_cause_that_lies_in_no_message_names_none(box: DivergenceBox) -> None:
    told = Divergence(0, -1, "cache off", "", "", 2600)
    box.show_divergence(told, place_of(told, (), True, 0), 2764)
    assert box.text_shown == (
        "Nothing is reused. 2,600 tokens had to be read again: the cache is switched off. "
        "“Use the cache”, in the menu, reads only what is new."
    )
    box.show_divergence(Divergence(1200, 9, "evicted", "", "", 2600), "", 2764)
    assert box.text_shown.startswith("Evicted from token 1,200 on. 2,600 tokens had to be read again")


@pytest.mark.parametrize(
    ("again", "computed", "worth"),
    [(2600, 2764, True), (3, 20, False), (0, 20, False), (10, 20, False), (11, 20, True)],
)
def test_only_where_more_was_read_again_than_was_new(again: int, computed: int, worth: bool) -> None:
    assert is_worth_saying(Divergence(4, 0, "edited", "a", "b", again), computed) is worth


def test_it_is_pressed_by_mouse_and_by_key(box: DivergenceBox, qtbot: QtBot) -> None:
    box.show_divergence(divergence(), SYSTEM, 2764)
    with qtbot.waitSignal(box.clicked):
        QTest.mouseClick(box, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(box.clicked):
        QTest.keyClick(box, Qt.Key.Key_Space)


def test_it_is_as_tall_as_its_words(box: DivergenceBox) -> None:
    box.show_divergence(divergence(), SYSTEM, 2764)
    assert box.heightForWidth(240) > box.heightForWidth(700) > 40
