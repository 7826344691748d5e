"""Everything by keyboard, and to a screen reader: each control of the window and of what opens over it has a name and a
role, is reached with Tab, and shows that it has the focus."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QObject, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QWidget,
)

from tests.app.pictures import DIALOGS
from tests.app.window.conftest import Screen, settle

CONTROLS = QAbstractButton | QComboBox | QLineEdit | QAbstractSpinBox | QAbstractItemView | QPlainTextEdit
NO_ROLES = (QAccessible.Role.NoRole, QAccessible.Role.Client, QAccessible.Role.Window)
MARGIN = 3
"""Pixels around a control in which it may show its focus."""


def controls(top: QWidget) -> Iterator[QWidget]:
    """What somebody uses of a window: what is seen and can be pressed or written in, each once."""
    for child in top.findChildren(QWidget):
        above = child.parent()
        is_part = (
            isinstance(above, QComboBox | QAbstractSpinBox | QLineEdit)
            or (isinstance(above, QAbstractScrollArea) and child is above.viewport())
            or child.objectName()[:3] == "qt_"
            or isinstance(child, QHeaderView)
            or (isinstance(child, QAbstractItemView) and child.model().rowCount() == 0)  # there is nothing to choose
        )
        is_own = child.window() is top and child.isVisibleTo(top) and not is_part
        takes_focus = bool(child.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if is_own and child.isEnabled() and (isinstance(child, CONTROLS) or takes_focus):
            yield child


def spoken(widget: QWidget) -> tuple[str, QAccessible.Role]:
    """The name and the role that a screen reader gets."""
    face = QAccessible.queryAccessibleInterface(widget)
    return face.text(QAccessible.Text.Name), face.role()


def is_told(widget: QWidget) -> bool:
    """Whether a screen reader knows what it is at. Qt has no role for an area that scrolls."""
    name, role = spoken(widget)
    return bool(name) and (isinstance(widget, QAbstractScrollArea) or role not in NO_ROLES)


def tabbed(top: QWidget) -> list[QWidget]:
    """What Tab goes to, in its order, from the control that has the focus at first until it is there again."""
    top.activateWindow()
    settle()
    seen: list[QWidget] = []
    while (now := QApplication.focusWidget()) not in seen and len(seen) < 200:
        if now is not None:
            seen.append(now)
        top.focusNextChild()
    return seen


def look(top: QWidget, place: QRect) -> QImage:
    settle()
    return top.grab(place).toImage()


def shows_focus(top: QWidget, widget: QWidget, other: QWidget) -> bool:
    """Whether the control, or its surroundings, looks another way while it has the focus."""
    above: QObject | None = widget.parent()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parent()
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    place = QRect(widget.mapTo(top, QPoint(0, 0)), widget.size()).adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
    focused = look(top, place)
    other.setFocus(Qt.FocusReason.TabFocusReason)
    return focused != look(top, place)


def named(widget: QWidget) -> str:
    kind, place = type(widget).__name__, type(widget.parent()).__name__
    return f"{kind} {widget.objectName()!r} {spoken(widget)[0]!r} in {place}"


def assert_accessible(top: QWidget) -> None:
    found = list(controls(top))
    assert found
    assert [named(each) for each in found if not is_told(each)] == [], "nameless"
    reached = tabbed(top)
    assert [named(each) for each in found if not has_focus_of(each, reached)] == [], "not reached with Tab"
    rest = reached[-1]
    blind = [named(each) for each in reached if each is not rest and not shows_focus(top, each, rest)]
    assert blind == [], "no sign of the focus"


def has_focus_of(widget: QWidget, reached: list[QWidget]) -> bool:
    """Tab stops at a control, or at the part of it that takes the focus; at one of several that belong together."""
    if (
        isinstance(widget, QAbstractButton)
        and widget.group()
        and any(each in reached for each in widget.group().buttons())
    ):
        return True
    inside = [widget, *widget.findChildren(QWidget)]
    if isinstance(widget, QAbstractScrollArea):
        inside.append(widget.viewport())
    return any(each in reached or each.focusProxy() in reached for each in inside)


@pytest.mark.parametrize("name", DIALOGS)
def test_each_dialog_can_be_used_without_a_mouse(screen: Screen, name: str) -> None:
    screen.ask("Where is my parcel?")
    screen.play()
    dialog = DIALOGS[name](screen)
    assert dialog is not None
    settle()
    assert_accessible(dialog)
    dialog.close()
    settle()


def test_the_window_can_be_used_without_a_mouse(screen: Screen) -> None:
    screen.ask("Where is my parcel?")
    screen.play()
    screen.ask("And now?")
    screen.play()
    assert_accessible(screen.window)


@pytest.fixture
def _right_to_left(qapp: QApplication) -> Iterator[None]:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.mark.usefixtures("_right_to_left")
def test_in_a_language_written_from_the_right_the_window_is_mirrored(make_screen: Callable[..., Screen]) -> None:
    """What runs from left to right in every language, time and code, stays so; a text goes by its own letters."""
    screen = make_screen()
    screen.ask("שלום, מה שלומך?")
    screen.play()
    window = screen.window
    places = [each.mapTo(window, QPoint(0, 0)).x() for each in (window.charts, screen.transcript, window.sidebar)]
    assert places == sorted(places), "conversations on the right, charts on the left"
    assert window.charts.layoutDirection() == Qt.LayoutDirection.LeftToRight
    screen.type("Hello")
    assert screen.composer.edit.document().firstBlock().textDirection() == Qt.LayoutDirection.LeftToRight
    screen.composer.set_text("שלום")
    assert screen.composer.edit.document().firstBlock().textDirection() == Qt.LayoutDirection.RightToLeft
