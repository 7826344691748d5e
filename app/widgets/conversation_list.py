"""The conversations that are kept, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app import theme
from app.widgets.words import ago

ROW_HEIGHT = 52
_AnyIndex = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One conversation in the list. `updated` is in seconds since the epoch."""

    id: int
    title: str
    updated: float


class ConversationList(QListView):
    """Signals: opened(int id), rename_wanted(int id), delete_wanted(int id)."""

    opened = Signal(int)
    rename_wanted = Signal(int)
    delete_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = _Rows(self)
        self.setModel(self._rows)
        self.setItemDelegate(_RowDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setAccessibleName("Conversations")
        self.customContextMenuRequested.connect(self._show_menu)
        self.clicked.connect(self._open)

    def show_rows(self, rows: Sequence[ConversationRow], current: int) -> None:
        """Show these rows, the one with the id `current` chosen."""
        self._rows.replace(rows)
        self.show_current(current)

    def show_current(self, current: int) -> None:
        """Choose the row with this id; none where it is not in the list."""
        index = self._rows.index_of(current)
        self.setCurrentIndex(index)
        if not index.isValid():
            self.clearSelection()

    @property
    def rows(self) -> tuple[ConversationRow, ...]:
        """What is shown."""
        return tuple(self._rows.rows)

    def menu_for(self, number: int) -> QMenu:
        """What can be done with the conversation that has this id."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Open", lambda: self.opened.emit(number))
        menu.addAction("Rename…", lambda: self.rename_wanted.emit(number))
        menu.addSeparator()
        menu.addAction("Delete…", lambda: self.delete_wanted.emit(number))
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if not index.isValid():
            super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(index)
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_wanted.emit(self._rows.rows[index.row()].id)
        elif event.key() == Qt.Key.Key_F2:
            self.rename_wanted.emit(self._rows.rows[index.row()].id)
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        self.opened.emit(self._rows.rows[index.row()].id)

    def _show_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if index.isValid():
            self.menu_for(self._rows.rows[index.row()].id).popup(self.viewport().mapToGlobal(place))


class _Rows(QAbstractListModel):
    """The rows as a Qt model."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[ConversationRow] = []

    def replace(self, rows: Sequence[ConversationRow]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def index_of(self, number: int) -> QModelIndex:
        """Where the row with this id stands."""
        for place, row in enumerate(self.rows):
            if row.id == number:
                return self.index(place)
        return QModelIndex()

    def rowCount(self, parent: _AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: _AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.title}, {ago(row.updated)}"
        return row if role == Qt.ItemDataRole.UserRole else None


class _RowDelegate(QStyledItemDelegate):
    """Paints the title and, under it, when it was last written in."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _AnyIndex) -> QSize:
        return QSize(0, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _AnyIndex) -> None:
        row: ConversationRow = index.data(Qt.ItemDataRole.UserRole)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        pointed = bool(option.state & QStyle.StateFlag.State_MouseOver)
        focused = chosen and bool(option.state & QStyle.StateFlag.State_HasFocus)
        box = option.rect.adjusted(8, 2, -8, -2)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, box, chosen, pointed, focused)
        self._paint_words(painter, box.adjusted(12, 6, -12, -6), row, chosen)
        painter.restore()

    def _paint_ground(self, painter: QPainter, box: QRect, chosen: bool, pointed: bool, focused: bool) -> None:
        colours = theme.current()
        if not (chosen or pointed):
            return
        painter.setPen(QColor(colours.accent) if focused else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.hover if chosen else colours.bubble))
        painter.drawRoundedRect(box, 6, 6)

    def _paint_words(self, painter: QPainter, box: QRect, row: ConversationRow, chosen: bool) -> None:
        colours = theme.current()
        font = theme.text_font(bold=chosen)
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        painter.setFont(font)
        painter.setPen(QColor(colours.text))
        title = QFontMetrics(font).elidedText(row.title, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(QRect(box.left(), box.top(), box.width(), 18), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(theme.text_font(theme.SMALL))
        painter.setPen(QColor(colours.soft))
        below = QRect(box.left(), box.top() + 18, box.width(), 18)
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, ago(row.updated))
