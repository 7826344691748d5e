"""Formulas in an answer: drawn where they can be, the TeX where not, and copied as they were written."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import theme
from app.transcript.answer_view import AnswerView
from app.transcript.formula import OBJECT, draw, drawing

SOURCE = r"The roots are \(x = \frac{-b \pm \sqrt{b^2-4ac}}{2a}\), for $5."


@pytest.fixture
def view(qtbot: QtBot) -> AnswerView:
    made = AnswerView()
    qtbot.addWidget(made)
    made.resize(600, 100)
    made.show()
    return made


def show(view: AnswerView, qtbot: QtBot, text: str, formulas: int) -> str:
    """Show a text, wait for its drawings, and return what stands in the document."""
    view.set_text(text)
    qtbot.waitUntil(lambda: view.document().toRawText().count(OBJECT) == formulas)
    return view.document().toRawText()


def inked(view: AnswerView, colour: str) -> int:
    """Pixels of about this colour."""
    image, wanted = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32), QColor(colour)
    near = 0
    for y in range(image.height()):
        for x in range(image.width()):
            seen = image.pixelColor(x, y)
            near += abs(seen.red() - wanted.red()) + abs(seen.blue() - wanted.blue()) < 90
    return near


def test_a_formula_is_drawn_in_the_colour_of_the_text(view: AnswerView, qtbot: QtBot) -> None:
    assert show(view, qtbot, r"$\mathbf{MWMWMW} \sum$", 1) == OBJECT
    assert inked(view, theme.current().text) > 10
    try:
        theme.apply(QApplication.instance(), theme.DARK)
        view.redraw()
        assert inked(view, theme.DARK.text) > 10
    finally:
        theme.apply(QApplication.instance(), theme.LIGHT)


def test_copying_gives_the_formula_as_it_was_written(view: AnswerView, qtbot: QtBot) -> None:
    shown = show(view, qtbot, SOURCE, 1)
    assert shown == f"The roots are {OBJECT}, for $5."
    assert view.text == SOURCE
    view.selectAll()
    view.copy()
    assert QGuiApplication.clipboard().text() == SOURCE


def test_what_cannot_be_drawn_stays_as_it_was_written(view: AnswerView, qtbot: QtBot) -> None:
    text = r"$\foo{x}$, $\frac{1$, $x_$, $\left( a \right$, and $y$"
    shown = show(view, qtbot, text, 1)
    assert shown == text.replace("$y$", OBJECT)


def test_a_formula_that_comes_in_pieces_is_drawn_once_it_is_whole(view: AnswerView, qtbot: QtBot) -> None:
    for piece in (r"So \[ \int_0^\inf", r"ty e^{-x}\,dx", " \\]\n\nand more"):
        view.append(piece)
    qtbot.waitUntil(lambda: OBJECT in view.document().toRawText())
    assert view.document().toPlainText() == f"So {OBJECT}\nand more"


def test_a_few_formulas_are_there_at_once_and_many_come_soon(view: AnswerView, qtbot: QtBot) -> None:
    """Once the library is loaded, which the first formula does."""
    show(view, qtbot, "$e_0$", 1)
    view.set_text("$e_1$ and $e_2$")
    assert view.document().toRawText() == f"{OBJECT} and {OBJECT}"
    many = " ".join(f"$m_{{{number}}}$" for number in range(20))
    view.set_text(many)
    assert 0 < view.document().toRawText().count(OBJECT) < 20
    qtbot.waitUntil(lambda: view.document().toRawText().count(OBJECT) == 20)


def test_a_wide_formula_is_no_wider_than_the_text(view: AnswerView, qtbot: QtBot) -> None:
    wide = " + ".join(f"a_{{{number}}}" for number in range(60))
    show(view, qtbot, f"$$\n{wide}\n$$", 1)
    assert view.document().idealWidth() <= view.document().textWidth() + 1


def test_lines_with_a_formula_lie_on_the_line_of_the_text(view: AnswerView, qtbot: QtBot) -> None:
    """A letter that has no descent ends where the text ends: its lowest ink lies on the same row, within a pixel."""
    show(view, qtbot, r"$\mathrm{E}$", 1)
    formula = _lowest_ink(view)
    show(view, qtbot, "E", 0)
    text = _lowest_ink(view)
    made = drawing(r"\mathrm{E}", False)
    assert made is not None
    assert abs(formula - text) <= made.ascent - made.descent


def _lowest_ink(view: AnswerView) -> int:
    image = QImage(100, 60, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    view.document().drawContents(painter)
    painter.end()
    return max(y for y in range(60) for x in range(100) if image.pixelColor(x, y).alpha() > 90)


def test_drawings_that_were_dropped_are_made_again(view: AnswerView, qtbot: QtBot, monkeypatch) -> None:
    show(view, qtbot, "$q_1$", 1)
    monkeypatch.setattr("app.transcript.formula.MOST_DRAWINGS", 1)
    draw([("q_2", False)])
    with pytest.raises(KeyError):
        drawing("q_1", False)
    assert inked(view, theme.current().text) > 5
