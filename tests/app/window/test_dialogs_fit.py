"""Whatever opens over the window fits a small screen: nothing of it lies outside, or it can be scrolled to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QTreeWidget,
    QWidget,
)

from app.widgets.explain import PLACES, Explain
from app.widgets.room import FRAME
from tests.app.pictures import DIALOGS
from tests.app.window.conftest import Screen, settle

SMALL = QSize(640, 480) - FRAME
"""Also what a window gets on a screen of 1280 x 960 that is scaled to 200%."""


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


@pytest.mark.parametrize("name", DIALOGS)
def test_each_fits_a_small_screen(screen: Screen, name: str) -> None:
    screen.ask("Where is my parcel?")
    screen.play()
    dialog = DIALOGS[name](screen)
    assert dialog is not None
    settle()
    room = dialog.screen().availableGeometry().size()
    assert dialog.width() <= room.width()
    assert dialog.height() <= room.height()
    least = dialog.minimumSizeHint().expandedTo(dialog.minimumSize())
    assert least.width() <= SMALL.width(), "it can be made as narrow as the screen"
    assert least.height() <= SMALL.height(), "and as low"
    for size in (dialog.size(), SMALL):
        dialog.resize(size)
        settle()
        for child in in_sight(dialog):
            assert dialog.rect().contains(place_in(dialog, child)), said_by(child)
        assert_nothing_is_cut(dialog)
        for tree in filter(lambda each: each.isVisibleTo(dialog), dialog.findChildren(QTreeWidget)):
            rows = [tree.visualItemRect(tree.topLevelItem(place)) for place in range(tree.topLevelItemCount())]
            assert {row.height() for row in rows} <= {tree.sizeHintForRow(0)}, "each row has the room of its words"
    dialog.close()
    settle()


def test_german_fits_a_small_screen() -> None:
    """Its words are a third longer."""
    place = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-m", "tests.app.in_german"], env=place, capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr


def test_every_menu_fits_a_small_screen(screen: Screen) -> None:
    """Qt lays a menu that is taller than the screen in columns, and leaves out what has no room."""
    for menu in screen.window.findChildren(QMenu):
        assert menu.sizeHint().width() <= 640, menu.title()
        assert menu.sizeHint().height() <= 480, menu.title()


def place_in(top: QWidget, child: QWidget) -> QRect:
    return QRect(child.mapTo(top, QPoint(0, 0)), child.size())


def said_by(child: QWidget) -> str:
    return str(child.property("text")) or child.accessibleName() or child.objectName()


def assert_nothing_is_cut(top: QWidget) -> None:
    """No word ends at the edge of its widget, and none stands on another."""
    shown = [child for child in top.findChildren(QWidget) if child.isVisibleTo(top) and said_by(child)]
    words = [child for child in shown if isinstance(child, QLabel | QAbstractButton)]
    for child in words:
        has_lines = isinstance(child, QLabel) and child.wordWrap()
        needed = child.heightForWidth(child.width()) if has_lines else child.sizeHint().width()
        is_elided = child.sizePolicy().horizontalPolicy() == QSizePolicy.Policy.Ignored or not child.property("text")
        assert is_elided or needed <= (child.height() if has_lines else child.width()), f"cut: {said_by(child)}"
        for above in above_of(child, top):
            if isinstance(above, QScrollArea) and above is not top:
                view, place = above.viewport(), child.mapTo(above.viewport(), QPoint(0, 0))
                assert place.x() + child.width() <= view.width(), f"nobody can scroll aside to {said_by(child)}"
    for one, other in combinations(words, 2):
        if one.parent() is other.parent():
            overlap = one.geometry().intersected(other.geometry())
            assert overlap.isEmpty(), f"{said_by(one)} stands on {said_by(other)}"


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
    popover.fit(QSize(640, 480))
    settle()
    assert popover.width() <= 640
    assert popover.findChild(QScrollArea).verticalScrollBar().maximum() == 0, "all of it is in sight"
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


def test_the_button_that_empties_a_field_stands_in_its_middle(screen: Screen) -> None:
    field = screen.window.sidebar.search
    field.setText("address")
    settle()
    button = field.findChild(QAbstractButton)
    assert abs(button.geometry().center().y() - field.rect().center().y()) <= 1
