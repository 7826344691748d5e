"""What is written is what is sent: every letter, dropped files as their text, and Enter that always works."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QFocusEvent, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.composer.composer import Composer


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.parametrize("text", ["10\u00a0km", "one\u2028two", "a\nb\n", "\tx  y", "😀 e\u0301"])
def test_no_letter_is_changed(composer: Composer, text: str) -> None:
    composer.set_text(text)
    assert composer.text == text
    composer.set_text("")
    composer.edit.insertPlainText(text)
    assert composer.text == text


def test_shift_enter_is_a_line_end(composer: Composer) -> None:
    composer.edit.insertPlainText("one")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    composer.edit.insertPlainText("two")
    assert composer.text == "one\ntwo"


def test_enter_works_after_the_focus_was_lost_while_a_word_was_composed(qtbot: QtBot, composer: Composer) -> None:
    composer.edit.insertPlainText("hello")
    QApplication.sendEvent(composer.edit, QInputMethodEvent("に", []))
    with qtbot.assertNotEmitted(composer.send):
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    QApplication.sendEvent(composer.edit, QFocusEvent(QFocusEvent.Type.FocusOut))
    with qtbot.waitSignal(composer.send):
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)


def dropped(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def test_a_dropped_file_is_given_to_the_conversation_and_not_typed(
    qtbot: QtBot, composer: Composer, tmp_path: Path
) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.png"]
    assert composer.edit.canInsertFromMimeData(dropped(*paths))
    with qtbot.waitSignal(composer.files_given) as given:
        composer.edit.insertFromMimeData(dropped(*paths))
    assert (given.args, composer.text) == ([[str(path) for path in paths]], "")
