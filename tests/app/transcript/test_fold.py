"""Parts of a message that are folded: one line, and nothing drawn until they are opened."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app import theme
from app.transcript.fold import Fold, as_code
from app.transcript.markdown import MarkdownStream

LONG = "A thought of **many** words.\n\n" * 4_000


@pytest.fixture
def fold(qtbot: QtBot) -> Fold:
    made = Fold("Thought")
    qtbot.addWidget(made)
    made.resize(600, 100)
    made.show()
    return made


def test_a_folded_text_is_not_drawn_and_an_opened_one_is_all_there(fold: Fold, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    append = MarkdownStream.append
    monkeypatch.setattr(
        MarkdownStream, "append", lambda stream, piece: drawn.append(len(piece)) or append(stream, piece)
    )
    for _ in range(50):
        fold.append(LONG)
    assert (fold.view, drawn) == (None, [])
    fold.line.click()
    assert fold.view is not None
    assert fold.view.text == fold.text
    assert max(drawn) <= 20_000  # the rest of a very long one is drawn by a timer
    fold.line.click()
    fold.append("more")
    assert fold.view.text != fold.text
    fold.stop()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_the_keyboard_opens_and_folds_it(fold: Fold, qtbot: QtBot, key: Qt.Key) -> None:
    fold.append("Hm.")
    toggled: list[bool] = []
    fold.toggled.connect(toggled.append)
    for is_open in (True, False):
        qtbot.keyClick(fold.line, key)
        assert (fold.is_open, fold.view is not None and fold.view.isVisible()) == (is_open, is_open)
        assert fold.line.accessibleDescription().startswith("Open" if is_open else "Folded")
    assert toggled == [True, False]


def test_the_text_can_be_selected_and_has_a_softer_tone(fold: Fold) -> None:
    fold.set_text("Hm **so**.\n\n```\nx\n```")
    fold.set_open(True)
    assert fold.view is not None
    fold.view.selectAll()
    assert fold.view.textCursor().selection().toPlainText().split("\n") == ["Hm so.", "x"]
    block = fold.view.document().begin()
    for text in (block, block.next()):
        assert text.begin().fragment().charFormat().foreground().color().name() == theme.current().soft


def test_another_text_takes_the_place_of_what_was_drawn(fold: Fold) -> None:
    fold.set_open(True)
    fold.append("Hm, ")
    fold.append("well")
    fold.set_text("Hm, well.")
    assert fold.view is not None
    fold.view.settle()
    assert (fold.view.text, fold.view.toPlainText()) == ("Hm, well.", "Hm, well.")
    fold.set_text("No.")
    fold.view.settle()
    assert (fold.view.text, fold.view.toPlainText()) == ("No.", "No.")


def test_a_line_of_any_length_stays_on_one_short_line(fold: Fold) -> None:
    fold.say("Asked for " + "a&b\n" * 1_000)
    assert len(fold.line.words) == 80
    assert "\n" not in fold.line.words
    assert fold.minimumSizeHint().width() < 100


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('{"city":"Nîmes"}', '```json\n{\n  "city": "Nîmes"\n}\n```\n'),
        ("{broken", "```json\n{broken\n```\n"),
        ('"```\\n# out"', '````json\n"```\\n# out"\n````\n'),
        ("[" * 100_000, "```json\n" + "[" * 100_000 + "\n```\n"),
    ],
)
def test_arguments_are_a_block_of_code_whatever_is_in_them(arguments: str, code: str) -> None:
    assert as_code(arguments) == code
