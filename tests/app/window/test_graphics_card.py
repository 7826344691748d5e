"""The dialog that installs software for the graphics card; the work itself is made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.window.graphics_card import GraphicsDialog
from engine import GraphicsOffer, GraphicsRuntime, HeadstartError
from tests.app.window.conftest import Screen

OFFER = GraphicsOffer("cu130", "RTX 4090, driver 580.", 3_000_000_000, 6_500_000_000, 80_000_000_000)
RUNTIME = GraphicsRuntime("cu130", Path("python"), 6_000_000_000)


def dialog(qtbot: QtBot, offer: GraphicsOffer, install: Callable[..., GraphicsRuntime]) -> GraphicsDialog:
    made = GraphicsDialog(None, lambda: offer, install, lambda: None, lambda: None)
    qtbot.addWidget(made)
    made.show()
    return made


def test_it_says_what_it_takes_and_installs(qtbot: QtBot) -> None:
    made = dialog(qtbot, OFFER, lambda *_: RUNTIME)
    assert "Looking for" in made.says.text()
    qtbot.waitUntil(made.install.isVisible, timeout=60_000)
    assert "3.0 GB to download, 6.5 GB on disk, where 80.0 GB are free" in made.says.text()
    made.install.click()
    qtbot.waitUntil(lambda: "It is installed" in made.says.text(), timeout=60_000)
    made.close()


def test_what_fails_is_said(qtbot: QtBot) -> None:
    def fail(*_: object) -> GraphicsRuntime:
        raise HeadstartError("The disk is full.")

    made = dialog(qtbot, OFFER, fail)
    qtbot.waitUntil(made.install.isVisible, timeout=60_000)
    made.install.click()
    qtbot.waitUntil(lambda: made.says.text() == "The disk is full.", timeout=60_000)
    made.close()


def test_a_refusal_offers_nothing(qtbot: QtBot) -> None:
    made = dialog(qtbot, GraphicsOffer("cpu", "None.", refusal="There is no card."), lambda *_: RUNTIME)
    qtbot.waitUntil(lambda: made.says.text() == "There is no card.", timeout=60_000)
    assert not made.install.isVisible()
    made.close()


def test_from_source_nothing_is_offered(screen: Screen) -> None:
    screen.application.dialogs.edit_preferences()
    buttons = screen.application.dialogs.open_dialog.findChildren(QPushButton)
    assert not [button for button in buttons if button.text() == "Use my graphics card…" and button.isVisible()]
