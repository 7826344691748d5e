"""What a screen reader is told of a widget that paints itself: Qt knows the roles of its own widgets only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

Painted = TypeVar("Painted", bound=QWidget)
_roles: dict[str, QAccessible.Role] = {}


def role(name: QAccessible.Role) -> Callable[[type[Painted]], type[Painted]]:
    """Decorates a class of widgets: screen readers are told of this role, and of the accessible name as before."""

    def given(widget: type[Painted]) -> type[Painted]:
        if not _roles:
            QAccessible.installFactory(_interface)
        _roles[widget.__name__] = name
        return widget

    return given


def _interface(name: str, widget: QObject) -> QAccessibleInterface | None:
    """Qt asks for each class of an object, from its own to the most general one; None leaves it to Qt."""
    return QAccessibleWidget(widget, _roles[name]) if name in _roles and isinstance(widget, QWidget) else None
