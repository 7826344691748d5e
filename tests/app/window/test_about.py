"""The About box, from the menu."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from tests.app.window.conftest import Screen, settle


def test_it_names_the_version_and_shows_each_licence(screen: Screen, qtbot: QtBot) -> None:
    screen.window.commands.about.trigger()
    dialog = screen.application.dialogs.open_dialog
    qtbot.waitUntil(lambda: dialog.list.count() > 0)
    assert dialog.list.item(0).text().startswith("Headstart ")
    assert "Apache License" in dialog.text.toPlainText()
    titles = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    dialog.list.setCurrentRow(next(row for row, title in enumerate(titles) if title.startswith("PySide6")))
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in dialog.text.toPlainText()


def test_a_licence_can_be_read_on_a_small_screen(screen: Screen) -> None:
    screen.window.commands.about.trigger()
    dialog = screen.application.dialogs.open_dialog
    dialog.resize(424, 352)  # what a screen of 800 x 800 leaves at 200%
    settle()
    assert dialog.text.width() > dialog.list.width() > 0
    dialog.close()
    settle()
