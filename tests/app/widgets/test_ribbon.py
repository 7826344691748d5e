"""The ribbon shows every token of the prompt once, in its state, at any length, by mouse and by keyboard."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QSettings, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app import theme
from app.widgets import motion
from app.widgets.next_prompt import NextPrompt
from app.widgets.ribbon import GAP, HIGH, LOW, PITCH, Ribbon
from app.widgets.ribbon_cells import Cell, State, cells, describe, stretches
from engine import BLOCK_TOKENS, Matched, Prefill, Preview, TokenSpan

SPANS = (
    TokenSpan(0, "system", 3, 100),
    TokenSpan(1, "user", 105, 120),
    TokenSpan(2, "assistant", 125, 180),
    TokenSpan(3, "user", 186, 197),
)


def preview(prompt: int = 200, reused: int = 180, pinned: int = 96, context: int = 8192) -> Preview:
    texts = tuple(f" block{at}" for at in range(-(-prompt // BLOCK_TOKENS)))
    return Preview(1, prompt, reused, prompt - reused, 0.1, 100, context, SPANS, pinned, texts)


def counts(made: list[Cell]) -> Counter[State]:
    """Tokens in each state, over all cells."""
    total: Counter[State] = Counter()
    for cell in made:
        assert sum(count for _, count in cell.parts) == cell.end - cell.start
        total.update(dict(cell.parts))
    return total


@given(
    prompt=st.integers(1, 40_000),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)),
    context=st.integers(16, 40_000),
    room=st.integers(3, 200),
)
def test_every_token_of_the_prompt_is_in_one_cell(
    prompt: int, shares: tuple[float, float, float], context: int, room: int
) -> None:
    reused = int(shares[0] * (prompt - 1))
    given_ = preview(prompt, reused, int(shares[1] * reused), context)
    given_ = replace(given_, disk_tokens=int(shares[2] * reused))
    made = cells(given_, room)
    assert 0 < len(made) <= room
    assert [cell.start for cell in made[1:]] == [cell.end for cell in made[:-1]]
    expected = {state: max(0, b - a) for state, a, b in stretches(given_)}
    shown = counts(made)
    assert sum(expected[state] for state in ("pinned", "reused", "disk", "computed", "past")) == prompt
    assert all(shown[state] == expected[state] for state in ("pinned", "reused", "disk", "computed", "past"))
    assert shown["free"] <= expected["free"]


def test_blocks_stay_blocks_while_there_is_room_and_merge_where_there_is_none() -> None:
    assert {cell.end - cell.start for cell in cells(preview(50, 0, 0), 80)} == {BLOCK_TOKENS}
    assert len(cells(preview(32_000, 31_000, 3_000, 32_768), 80)) <= 80
    assert cells(preview(), 2) == []


def test_tokens_past_the_context_are_neither_reused_nor_computed() -> None:
    assert counts(cells(preview(1400, 1200, 96, 1024), 200)) == {"pinned": 96, "reused": 928, "past": 376}


def test_a_cell_says_its_tokens_its_messages_and_its_text() -> None:
    given_ = preview()
    made = cells(given_, 80)
    assert describe(given_, made[0]) == ("Tokens 0 to 15: kept", "in the system prompt", "block0")
    assert describe(given_, made[11]) == (
        "Tokens 176 to 191: 4 remembered, 12 to read",
        "in the 1st answer and your 2nd message",
        "block11",
    )
    assert describe(given_, made[12], read_tokens=200)[0] == "Tokens 192 to 199: read"
    assert describe(given_, made[12], read_tokens=192)[0] == "Tokens 192 to 199: to read"
    assert describe(given_, made[13]) == ("Free: the context has room for 7,992 more tokens", "", "")
    merged = cells(given_, 4)[0]
    assert describe(given_, merged)[1] == "in the system prompt and your 1st message"
    assert describe(given_, Cell(100, 105, (("reused", 5),)))[1].startswith("between two messages")


@pytest.fixture
def ribbon(qtbot: QtBot) -> Ribbon:
    theme.apply(QApplication.instance(), theme.LIGHT)  # type: ignore[arg-type]
    ribbon = Ribbon()
    qtbot.addWidget(ribbon)
    ribbon.resize(80 * PITCH, HIGH)
    ribbon.show()
    ribbon.show_preview(preview())
    return ribbon


def test_arrow_keys_go_through_the_cells_and_say_them(ribbon: Ribbon) -> None:
    ribbon.setFocus(Qt.FocusReason.TabFocusReason)
    assert ribbon.current == 11  # the first that must be computed
    QTest.keyClick(ribbon, Qt.Key.Key_Left)
    assert ribbon.current == 10
    assert ribbon.accessibleDescription() == ribbon.text_of(10).replace("\n", ", ")
    assert "remembered" in ribbon.accessibleDescription()
    QTest.keyClick(ribbon, Qt.Key.Key_Home)
    QTest.keyClick(ribbon, Qt.Key.Key_Left)
    assert ribbon.current == 0
    QTest.keyClick(ribbon, Qt.Key.Key_End)
    assert ribbon.current == len(ribbon.cells) - 1
    ribbon.show_preview(preview(40, 0, 0, 64))
    assert ribbon.current == 3
    ribbon.clearFocus()
    assert (ribbon.current, ribbon.accessibleDescription()) == (-1, "")


def test_what_comes_from_disk_has_cells_of_its_own(ribbon: Ribbon) -> None:
    """The last of the reused ones: another shape, and said in words, also without a mouse."""
    ribbon.show_preview(replace(preview(), disk_tokens=52))
    assert [cell.states for cell in ribbon.cells[7:12]] == [
        ("reused",),
        ("disk",),
        ("disk",),
        ("disk",),
        ("disk", "computed"),
    ]
    assert ribbon.text_of(8).startswith("Tokens 128 to 143: from disk")
    assert ribbon.text_of(11).startswith("Tokens 176 to 191: 4 from disk, 12 to read")
    shapes = {number: _column(ribbon, number) for number in (0, 7, 8, 12)}
    assert len(set(shapes.values())) == 4, "pinned, reused, from disk and to compute look alike"


def test_each_place_has_its_cell(ribbon: Ribbon) -> None:
    assert ribbon.cell_at(QPoint(0, 5)) == 0
    assert ribbon.cell_at(QPoint(ribbon.width() - 1, 5)) == len(ribbon.cells) - 1
    assert ribbon.text_of(0) == "Tokens 0 to 15: kept\nin the system prompt\n“block0”"
    assert ribbon.text_of(-1) == ""


def test_a_long_text_is_wrapped_where_it_is_pointed_at(ribbon: Ribbon) -> None:
    ribbon.show_preview(replace(preview(), block_texts=(" words" * 40,) * 13))
    QApplication.sendEvent(ribbon, QHelpEvent(QEvent.Type.ToolTip, QPoint(4, 5), ribbon.mapToGlobal(QPoint(4, 5))))
    shown = QToolTip.text()
    assert " ".join(shown.split()) == " ".join(ribbon.text_of(0).split())
    assert max(map(len, shown.split("\n"))) <= 64
    QToolTip.hideText()


def test_what_was_read_ahead_has_cells_of_its_own(ribbon: Ribbon) -> None:
    """Behind what earlier turns left; in the same colour, with a line of its own."""
    ribbon.show_preview(replace(preview(), ahead_tokens=52))
    assert [cell.states for cell in ribbon.cells[7:12]] == [("reused",), *[("ahead",)] * 3, ("ahead", "computed")]
    assert ribbon.text_of(8).startswith("Tokens 128 to 143: read ahead")
    shapes = {number: _column(ribbon, number) for number in (0, 7, 8, 12)}
    assert len(set(shapes.values())) == 4, "pinned, reused, read ahead and to compute look alike"


def test_of_a_server_it_is_said_what_it_has_had_and_not_what_it_remembers(line: NextPrompt) -> None:
    there = replace(preview(), pinned_tokens=0, is_elsewhere=True)
    line.show_preview(there)
    assert line.text == "Next prompt  ·  200 tokens · the first 180 as sent before"
    ribbon = line.ribbon
    assert [cell.states for cell in ribbon.cells[:12]] == [("sent",)] * 11 + [("sent", "computed")]
    assert ribbon.text_of(0).startswith("Tokens 0 to 15: as sent before")
    assert "not sent before" in ribbon.text_of(12)
    hollow = _column(ribbon, 1)
    line.show_matched(Matched(7, 200, 96, 104, None, SPANS), 8192)
    assert line.text.startswith("This prompt  ·  96 of 200 tokens remembered"), "which the server itself says"
    assert _column(ribbon, 1) != hollow


def test_states_have_shapes_besides_their_colours(ribbon: Ribbon) -> None:
    ribbon.show_preview(preview(200, 180, 96, 192))
    image = ribbon.grab().toImage()
    page = image.pixelColor(int(ribbon.pitch - GAP / 2), HIGH // 2)
    pitch, top = ribbon.pitch, (HIGH - LOW) // 2

    def painted(cell: int, y: int, x: float = 0.5) -> bool:
        return image.pixelColor(int((cell + x * (1 - GAP / pitch)) * pitch), y) != page

    pinned, reused, computed = 1, 8, 11
    foot = (HIGH + LOW) // 2 - 4
    assert [painted(cell, 1, 0.8) for cell in (pinned, reused, computed)] == [False, False, True]  # tall
    assert [painted(cell, foot) for cell in (pinned, reused)] == [False, True]  # the line
    assert all(painted(cell, top + 2) for cell in (pinned, reused, computed))


@pytest.fixture
def line(qtbot: QtBot) -> NextPrompt:
    line = NextPrompt()
    qtbot.addWidget(line)
    line.resize(640, 40)
    line.show()
    return line


def test_what_was_matched_takes_the_place_of_the_preview(line: NextPrompt) -> None:
    line.show_preview(preview())
    assert line.text == "Next prompt  ·  180 of 200 tokens remembered · first word in about 0.1 s"
    line.show_matched(Matched(7, 200, 192, 8, None, SPANS), 8192)
    assert line.text == "This prompt  ·  192 of 200 tokens remembered · 8 to read"
    assert line.preview is not None
    assert line.preview.block_texts == preview().block_texts
    line.show_matched(Matched(8, 300, 192, 108, None, SPANS), 8192)
    assert line.preview.block_texts == ()


def test_while_a_prompt_is_read_the_line_says_how_much_is_computed_by_now(line: NextPrompt) -> None:
    line.show_reading(Prefill(7, 4, 8, 0.1))
    assert not line.text, "nothing was looked up"
    line.show_matched(Matched(7, 200, 192, 8, None, SPANS), 8192)
    line.show_reading(Prefill(7, 4, 8, 0.1))
    assert line.text == "This prompt  ·  192 of 200 tokens remembered · 4 of 8 read"
    assert line.ribbon.text_of(12).startswith("Tokens 192 to 199: to read")
    line.show_instead(preview(120, 100, 96), "If you change your 1st message", "20 tokens are read again")
    line.show_reading(Prefill(7, 8, 8, 0.0))
    assert line.text.startswith("If you change")
    line.show_newest()
    assert line.text == "This prompt  ·  192 of 200 tokens remembered · 8 read"
    assert line.ribbon.text_of(12).startswith("Tokens 192 to 199: read")
    line.show_preview(preview())
    line.show_reading(Prefill(7, 8, 8, 0.0))
    assert line.text.startswith("Next prompt")


def test_while_it_is_read_ahead_the_cells_turn(line: NextPrompt) -> None:
    """From the newest preview on, and never all of it: the last token is computed when it is sent."""
    line.show_ahead(Prefill(7, 8, 16, 0.1))
    assert not line.text
    line.show_preview(preview())
    line.show_ahead(Prefill(7, 8, 16, 0.1))
    assert line.text == "Next prompt  ·  180 remembered · read ahead: 8 of 20 · first word in under 0.1 s"
    line.show_ahead(Prefill(7, 20, 20, 0.0))
    assert line.preview is not None
    assert (line.preview.computed_tokens, line.preview.ahead_tokens) == (1, 19)
    line.show_matched(Matched(7, 200, 199, 1, None, SPANS, ahead_tokens=19), 8192)
    assert line.text == "This prompt  ·  180 of 200 tokens remembered · 19 read ahead · 1 to read"
    line.show_ahead(Prefill(7, 8, 16, 0.1))
    assert line.text.startswith("This prompt")
    line.show_preview(preview(200, 200))  # a question that was not changed
    said = line.text
    line.show_ahead(Prefill(7, 8, 16, 0.1))
    assert line.text == said


def test_it_fills_smoothly_and_never_beyond_what_is_read(line: NextPrompt, monkeypatch: pytest.MonkeyPatch) -> None:
    ribbon = line.ribbon
    seconds = itertools.count()
    monkeypatch.setattr("app.widgets.ribbon.perf_counter", lambda: float(next(seconds)))
    assert ribbon.filled_tokens is None, "nothing is read"
    ribbon.show_preview(preview(1000, 0, 0), read_tokens=0)
    seen = []
    for read in (256, 512, 1000):
        ribbon.show_preview(preview(1000, 0, 0), read_tokens=read)
        assert (ribbon.filled_tokens == read) is (read == 1000), "what is read to its end is full at once"
        for share in (0.0, 0.5, 1.0):
            ribbon.fill.setCurrentTime(round(share * ribbon.fill.duration()))
            seen.append(ribbon.filled_tokens or 0)
            assert seen[-1] <= read
        assert seen[-1] == read
    assert seen == sorted(seen)
    ribbon.show_preview(preview(1000, 0, 0))
    assert ribbon.filled_tokens is None


def test_where_less_motion_is_wanted_it_fills_at_once(line: NextPrompt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(motion, "is_reduced", lambda: True)
    for read in (0, 256, 1000):
        line.ribbon.show_preview(preview(1000, 0, 0), read_tokens=read)
        assert line.ribbon.filled_tokens == read


@pytest.mark.parametrize(
    ("speed", "is_still"), [("0", True), ("0.0", True), ("1", False), ("0.5", False), ("?", False)]
)
def test_kde_says_how_quickly_things_move(tmp_path: Path, speed: str, is_still: bool) -> None:
    file = tmp_path / "kdeglobals"
    file.write_text(f"[KDE]\nAnimationDurationFactor={speed}\n")
    assert motion.is_still(QSettings(str(file), QSettings.Format.IniFormat)) is is_still
    assert not motion.is_still(QSettings(str(tmp_path / "none"), QSettings.Format.IniFormat))


def test_the_price_of_a_change_stands_in_front_for_a_while(line: NextPrompt) -> None:
    line.show_preview(preview())
    line.show_instead(preview(120, 100, 96), "If you change your 1st message", "20 tokens are read again")
    assert line.text == "If you change your 1st message  ·  20 tokens are read again"
    assert line.preview == preview(120, 100, 96)
    line.show_preview(preview(300))
    assert line.preview == preview(120, 100, 96)
    line.show_newest()
    assert line.text.startswith("Next prompt  ·  180 of 300 tokens remembered")


def test_nothing_known_is_nothing_shown(line: NextPrompt) -> None:
    assert (line.text, line.explain.isVisible(), line.ribbon.cells) == ("", False, ())
    assert line.ribbon.focusPolicy() == Qt.FocusPolicy.NoFocus
    height = line.height()
    line.show_preview(preview())
    assert line.height() == height
    assert line.explain.isVisible()


@pytest.mark.parametrize("worn", [theme.LIGHT, theme.DARK], ids=lambda worn: worn.name)
def test_states_have_the_colours_of_the_charts(
    ribbon: Ribbon, worn: theme.Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theme, "_current", worn)
    image = ribbon.grab().toImage()
    middle = [image.pixelColor(int((cell + 0.4) * ribbon.pitch), HIGH // 2 - 2).name() for cell in (1, 8, 12)]
    assert middle == [worn.pinned, worn.reused, worn.computed]


def _column(ribbon: Ribbon, number: int) -> tuple[bool, ...]:
    """Which pixels down the middle of a cell are painted: its shape without its colours."""
    image = ribbon.grab().toImage()
    x = ribbon.box(number).center().x()
    ground = image.pixelColor(0, 0)
    return tuple(image.pixelColor(x, y) != ground for y in range(image.height()))
