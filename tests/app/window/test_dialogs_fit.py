"""Whatever opens over the window fits a small screen: nothing of it lies outside, or it can be scrolled to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QScrollArea, QWidget

from app.widgets.explain import PLACES, Explain
from app.widgets.room import FRAME
from tests.app.window.conftest import Screen, settle

SMALL = QSize(640, 480) - FRAME
"""Also what a window gets on a screen of 1280 x 960 that is scaled to 200%."""


def preferences(screen: Screen) -> QWidget | None:
    screen.window.commands.preferences.trigger()
    return screen.application.dialogs.open_dialog


def system_prompt(screen: Screen) -> QWidget | None:
    screen.window.commands.system_prompt.trigger()
    return screen.application.dialogs.open_dialog


def folder(screen: Screen) -> QWidget | None:
    screen.application.filing_presenter.ask_folder()
    return screen.application.dialogs.open_dialog


def proof(screen: Screen) -> QWidget | None:
    screen.application.proving.prove_newest()
    screen.play()
    return screen.application.proving.dialog


def sampling(screen: Screen) -> QWidget | None:
    screen.window.commands.sampling.trigger()
    return screen.application.dialogs.popover


def shortcuts(screen: Screen) -> QWidget | None:
    screen.window.commands.shortcuts.trigger()
    return screen.application.dialogs.open_dialog


def about(screen: Screen) -> QWidget | None:
    screen.window.commands.about.trigger()
    return screen.application.dialogs.open_dialog


def deletion_of_all(screen: Screen) -> QWidget | None:
    screen.application.dialogs.confirm_deletion()
    return screen.application.dialogs.open_dialog


def tree(screen: Screen) -> QWidget | None:
    screen.application.tree_presenter.open()
    return screen.application.tree_presenter.tree


DIALOGS: tuple[Callable[[Screen], QWidget | None], ...] = (
    preferences,
    system_prompt,
    folder,
    proof,
    sampling,
    tree,
    shortcuts,
)


def in_sight(widget: QWidget) -> Iterator[QWidget]:
    """What a dialog shows of words and buttons, without what is scrolled to."""
    for child in widget.findChildren(QWidget):
        is_scrolled = any(isinstance(above, QScrollArea) and above is not widget for above in above_of(child, widget))
        if child.isVisibleTo(widget) and isinstance(child, QLabel | QAbstractButton) and not is_scrolled:
            yield child


def above_of(child: QWidget, top: QWidget) -> Iterator[QWidget]:
    while child is not top and (parent := child.parentWidget()) is not None:
        child = parent
        yield child


@pytest.mark.parametrize("open_dialog", DIALOGS, ids=lambda opens: opens.__name__)
def test_each_fits_a_small_screen(screen: Screen, open_dialog: Callable[[Screen], QWidget | None]) -> None:
    screen.ask("Where is my parcel?")
    screen.play()
    dialog = open_dialog(screen)
    assert dialog is not None
    settle()
    room = dialog.screen().availableGeometry().size()
    assert dialog.width() <= room.width()
    assert dialog.height() <= room.height()
    least = dialog.minimumSizeHint().expandedTo(dialog.minimumSize())
    assert least.width() <= SMALL.width(), "it can be made as narrow as the screen"
    assert least.height() <= SMALL.height(), "and as low"
    dialog.resize(SMALL)
    settle()
    for child in in_sight(dialog):
        box = QRect(child.mapTo(dialog, QPoint(0, 0)), child.size())
        assert dialog.rect().contains(box), child.accessibleName() or child.objectName()
    dialog.close()
    settle()


@pytest.mark.parametrize("place", PLACES)
def test_each_explanation_fits_a_small_screen(screen: Screen, place: str) -> None:
    button = Explain(place, screen.window)
    button.open()
    settle()
    popover = button.popover
    assert popover is not None
    room = popover.screen().availableGeometry()
    assert room.contains(popover.geometry())
    assert popover.minimumSizeHint().height() <= SMALL.height(), "what does not fit scrolls"
    popover.close()
    settle()


def test_a_window_kept_on_a_larger_screen_comes_back_no_larger_than_this_one(screen: Screen) -> None:
    """After a change of scale the same screen has less room."""
    kept = screen.window.geometry_text()
    room = screen.window.screen().availableGeometry().size()
    screen.window.resize(4000, 3000)
    kept = screen.window.geometry_text()
    screen.window.set_geometry_text(kept)
    QApplication.processEvents()
    assert screen.window.width() <= room.width()
    assert screen.window.height() <= room.height()
