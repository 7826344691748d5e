"""What is written is what is sent: every letter, dropped files as their text, and Enter that always works."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QFocusEvent, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.composer.composer import LARGEST_FILE, Composer


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


def test_a_dropped_file_is_its_text_or_its_path_and_never_a_url(composer: Composer, tmp_path: Path) -> None:
    text, picture, large = tmp_path / "a.txt", tmp_path / "b.png", tmp_path / "c.txt"
    text.write_text("Zwölf Boxkämpfer", "utf-8")
    picture.write_bytes(b"\x89PNG\r\n\x00\xff")
    large.write_text("x" * (LARGEST_FILE + 1))
    for paths, says in (
        ((text,), "Zwölf Boxkämpfer"),
        ((picture,), str(picture)),
        ((large,), str(large)),
        ((tmp_path / "gone",), str(tmp_path / "gone")),
    ):
        composer.set_text("")
        assert composer.edit.canInsertFromMimeData(dropped(*paths))
        composer.edit.insertFromMimeData(dropped(*paths))
        assert composer.text == says
