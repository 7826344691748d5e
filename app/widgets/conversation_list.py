"""A list of what a next turn can begin with, conversations or presets, each with a warm or cold badge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QSize,
    QStringListModel,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPen,
    QResizeEvent,
    QShowEvent,
    QTextLayout,
    QTextOption,
)
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
from app.language import tr
from app.widgets.found import found_format, ranges
from app.widgets.plain import tool_tip
from app.words import LEAST_ESTIMATE_S, about_seconds, ago, from_disk, tokens

ROW_HEIGHT = 52
HEADING_HEIGHT = 28
BADGE_ROLE = Qt.ItemDataRole.UserRole + 1
_AnyIndex = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ListWords:
    """How a list calls what it holds, what opening one does, what its time means, and what the seconds of its badges
    are an estimate of."""

    name: str = tr("Conversations")
    opens: str = tr("Open")
    used: str = tr("Last used")
    estimate: str = tr("estimated for the conversation as it stands, without your next message")


class Listed(Protocol):
    """What the list shows as a row: whatever has these. `updated` is in seconds since the epoch, `excerpt` a line of
    what was found in it, "" where nothing was looked for. `is_top`: it is kept above the others."""

    @property
    def id(self) -> int: ...

    @property
    def title(self) -> str: ...

    @property
    def updated(self) -> float: ...

    @property
    def excerpt(self) -> str: ...

    @property
    def is_top(self) -> bool: ...


class ConversationRow(NamedTuple):
    """One row, for what has other names for these."""

    id: int
    title: str
    updated: float
    excerpt: str = ""
    is_top: bool = False


@dataclass(frozen=True, slots=True)
class Badge:
    """Whether the next turn of a conversation begins warm, and about how many seconds its first token takes; `fits`
    says whether its next prompt, of `prompt_tokens`, still fits into the context; `is_resident`, whether what is reused
    is kept in memory."""

    is_warm: bool
    seconds: float
    reused_tokens: int
    prompt_tokens: int
    fits: bool = True
    disk_tokens: int = 0
    is_resident: bool = False

    @property
    def text(self) -> str:
        """As shown: "remembered", "from scratch, about 4 s"; "" where its next prompt is too short to matter."""
        if not self.fits:
            return tr("longer than the model reads")
        if self.has_seconds:
            return tr("{warmth}, about {about_seconds}", warmth=self._warmth, about_seconds=about_seconds(self.seconds))
        return self._warmth if self.is_warm else ""

    @property
    def has_seconds(self) -> bool:
        """Whether its wait is worth saying."""
        return self.fits and self.seconds >= LEAST_ESTIMATE_S

    @property
    def explanation(self) -> str:
        """What it means, in a sentence."""
        share = tr(
            "{reused_tokens:,} of {tokens} of its next prompt are remembered",
            reused_tokens=self.reused_tokens,
            tokens=tokens(self.prompt_tokens),
        )
        share += from_disk(self.disk_tokens)
        if not self.fits:
            return tr(
                "Its next prompt would have {tokens}: more than this model reads.", tokens=tokens(self.prompt_tokens)
            )
        return (
            tr(
                "{share}; the first word comes after about {about_seconds}.",
                share=share,
                about_seconds=about_seconds(self.seconds),
            )
            if self.has_seconds
            else f"{share}."
        )

    @property
    def _warmth(self) -> str:
        """From disk where most of what is reused comes from there."""
        if self.is_resident:
            return "resident"
        place = tr(" on disk") if 2 * self.disk_tokens > self.reused_tokens else ""
        return tr("remembered{place}", place=place) if self.is_warm else tr("from scratch")


CONVERSATIONS = ListWords()


class ConversationList(QListView):
    """Rows with a title and a warm or cold badge: conversations, or whatever else a next turn can begin with.

    Signals: opened(int id), rename_wanted(int id), delete_wanted(int id), looked_at() when others may be seen.
    menu_made(QMenu, int id): what can be done with this row, for others to add to, before its last entry.
    """

    opened = Signal(object)
    rename_wanted = Signal(object)
    delete_wanted = Signal(object)
    looked_at = Signal()
    menu_made = Signal(object, object)

    def __init__(self, parent: QWidget | None = None, words: ListWords = CONVERSATIONS) -> None:
        super().__init__(parent)
        self._words = words
        self._rows = _Rows(self, words)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setModel(self._rows)
        self.setItemDelegate(_RowDelegate(self, self._rows))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setAccessibleName(words.name)
        self.customContextMenuRequested.connect(self._show_menu)
        self.clicked.connect(self._open)
        self.verticalScrollBar().valueChanged.connect(self.looked_at)

    def show_rows(
        self, rows: Sequence[Listed], current: int, needle: str = "", headings: Mapping[int, str] | None = None
    ) -> None:
        """Show these rows, the one with the id `current` chosen, and mark `needle` where they hold it. `headings` stand
        above rows, by their numbers."""
        self._rows.needle, self._rows.headings = needle, headings or {}
        self.setUniformItemSizes(not headings)
        self._rows.replace(rows)
        self.setFocusPolicy(
            Qt.FocusPolicy.StrongFocus if rows else Qt.FocusPolicy.NoFocus
        )  # else it has nothing to show
        self.show_current(current)
        self.looked_at.emit()

    def show_current(self, current: int) -> None:
        """Choose the row with this id; none where it is not in the list."""
        index = self._rows.index_of(current)
        self.setCurrentIndex(index)
        if not index.isValid():
            self.clearSelection()

    @property
    def rows(self) -> tuple[Listed, ...]:
        """What is shown."""
        return tuple(self._rows.rows)

    def visible_ids(self) -> tuple[int, ...]:
        """The conversations whose rows can be seen, from the top down; none while the list is hidden."""
        if not self.isVisible():
            return ()
        first = max(0, super().indexAt(QPoint(1, 1)).row())
        last = super().indexAt(QPoint(1, self.viewport().height() - 1)).row()
        end = len(self._rows.rows) if last < 0 else last + 1
        return tuple(row.id for row in self._rows.rows[first:end])

    def badge(self, number: int) -> Badge | None:
        """What is shown under the title of a conversation, None where that is not known."""
        return self._rows.badges.get(number)

    def show_badge(self, number: int, badge: Badge | None) -> None:
        """Say under a title whether its next turn begins warm; None takes that away."""
        self._rows.set_badge(number, badge)

    def forget_badges(self) -> None:
        """Take all badges away: nothing is known any more."""
        for number in list(self._rows.badges):
            self.show_badge(number, None)

    def menu_for(self, number: int) -> QMenu:
        """What can be done with the conversation that has this id."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._words.opens, lambda: self.opened.emit(number))
        menu.addAction(tr("Rename…"), lambda: self.rename_wanted.emit(number))
        menu.addSeparator()
        menu.addAction(tr("Delete"), lambda: self.delete_wanted.emit(number))
        self.menu_made.emit(menu, number)
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if not index.isValid():
            super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(index)
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_wanted.emit(self._rows.rows[index.row()].id)
        elif is_menu_key(event):
            below = self.visualRect(index).bottomLeft()
            self.menu_for(self._rows.rows[index.row()].id).popup(self.viewport().mapToGlobal(below))
        elif event.key() == Qt.Key.Key_F2:
            self.rename_wanted.emit(self._rows.rows[index.row()].id)
        else:
            super().keyPressEvent(event)

    def indexAt(self, place: QPoint) -> QModelIndex:
        """The row at a pixel; a heading belongs to none."""
        index = super().indexAt(place)
        if index.row() in self._rows.headings and place.y() < self.visualRect(index).top() + HEADING_HEIGHT:
            return QModelIndex()
        return index

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.looked_at.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.looked_at.emit()

    def _open(self, index: QModelIndex) -> None:
        self.opened.emit(self._rows.rows[index.row()].id)

    def _show_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if index.isValid():
            self.menu_for(self._rows.rows[index.row()].id).popup(self.viewport().mapToGlobal(place))


def is_menu_key(event: QKeyEvent) -> bool:
    """Whether a key asks for a menu: the one beside the right Ctrl key, or Shift and F10."""
    has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    return event.key() == Qt.Key.Key_Menu or (event.key() == Qt.Key.Key_F10 and has_shift)


class _Rows(QStringListModel):
    """The rows as a Qt model. Qt itself holds the titles, since the view asks for the place of every row whenever
    others are shown: of a model that counts its rows in Python that takes 40 ms for 10,000. Python is asked only for
    the few rows that are painted."""

    def __init__(self, parent: QWidget, words: ListWords) -> None:
        super().__init__(parent)
        self._words = words
        self.rows: Sequence[Listed] = ()
        self.badges: dict[int, Badge] = {}
        self.needle = ""
        self.headings: Mapping[int, str] = {}
        self._places: dict[int, int] = {}

    def replace(self, rows: Sequence[Listed]) -> None:
        """Show other rows."""
        self.rows = tuple(rows)
        self._places = {row.id: place for place, row in enumerate(self.rows)}
        self.setStringList([row.title for row in self.rows])

    def set_badge(self, number: int, badge: Badge | None) -> None:
        """Another badge, or none, for the row with this id."""
        if badge == self.badges.get(number):
            return
        if badge is None:
            del self.badges[number]
        else:
            self.badges[number] = badge
        index = self.index_of(number)
        if index.isValid():
            self.dataChanged.emit(index, index)

    def index_of(self, number: int) -> QModelIndex:
        """Where the row with this id stands."""
        return self.index(self._places[number]) if number in self._places else QModelIndex()

    def data(self, index: _AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        badge = self.badges.get(row.id)
        if role == Qt.ItemDataRole.ToolTipRole:
            said = [badge.explanation, *(f"{part.capitalize()}." for part in self._estimate(badge))] if badge else []
            found = [row.excerpt] if row.excerpt else []
            return tool_tip("\n".join([row.title, *found, *said, f"{self._words.used} {ago(row.updated)}"]))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = [badge.text, *self._estimate(badge)] if badge and badge.text else []
            heading = [self.headings[index.row()]] if index.row() in self.headings else []
            return ", ".join([*heading, row.title, *([row.excerpt] if row.excerpt else []), *said, ago(row.updated)])
        if role == BADGE_ROLE:
            return badge
        return row if role == Qt.ItemDataRole.UserRole else super().data(index, role)

    def _estimate(self, badge: Badge) -> list[str]:
        """What the seconds of a badge are of; nothing where it has none."""
        return [self._words.estimate] if badge.has_seconds else []


class _RowDelegate(QStyledItemDelegate):
    """Paints the title and, under it, what was found in it; else whether the next turn begins warm, or else when it was
    last written in."""

    def __init__(self, parent: QWidget, rows: _Rows) -> None:
        super().__init__(parent)
        self._rows = rows
        self._low, self._tall = QSize(0, ROW_HEIGHT), QSize(0, ROW_HEIGHT + HEADING_HEIGHT)

    def sizeHint(self, option: QStyleOptionViewItem, index: _AnyIndex) -> QSize:
        return self._tall if index.row() in self._rows.headings else self._low

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _AnyIndex) -> None:
        row: Listed = index.data(Qt.ItemDataRole.UserRole)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        pointed = bool(option.state & QStyle.StateFlag.State_MouseOver)
        focused = chosen and bool(option.state & QStyle.StateFlag.State_HasFocus)
        whole = option.rect
        painter.save()
        if heading := self._rows.headings.get(index.row()):
            painter.setPen(QColor(theme.current().soft))
            painter.setFont(theme.text_font(theme.SMALL, bold=True))
            line = QRect(whole.left() + 20, whole.top() + 6, whole.width() - 40, HEADING_HEIGHT - 8)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, heading)
            whole = whole.adjusted(0, HEADING_HEIGHT, 0, 0)
        box = whole.adjusted(8, 2, -8, -2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, box, chosen, pointed, focused)
        inside = box.adjusted(12, 6, -12, -6)
        line, needle = QRect(inside.left(), inside.top(), inside.width(), 18), self._rows.needle
        painter.setPen(QColor(theme.current().text))
        _paint_marked(painter, line, row.title, needle, theme.text_font(bold=chosen))
        if row.excerpt:
            painter.setPen(QColor(theme.current().soft))
            _paint_marked(painter, line.translated(0, 18), row.excerpt, needle, theme.text_font(theme.SMALL))
        else:
            self._paint_below(painter, line.translated(0, 18), row, index.data(BADGE_ROLE))
        painter.restore()

    def _paint_ground(self, painter: QPainter, box: QRect, chosen: bool, pointed: bool, focused: bool) -> None:
        colours = theme.current()
        if not (chosen or pointed):
            return
        painter.setPen(QColor(colours.accent) if focused else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.hover if chosen else colours.bubble))
        painter.drawRoundedRect(box, 6, 6)

    def _paint_below(self, painter: QPainter, box: QRect, row: Listed, badge: Badge | None) -> None:
        colours = theme.current()
        if badge and badge.text:
            painter.setPen(QPen(QColor(colours.reused if badge.is_warm else colours.edge), 1.2))
            painter.setBrush(QColor(colours.reused) if badge.is_warm else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(box.left() + 4, box.center().y() + 0.5), 3.8, 3.8)
            box = box.adjusted(14, 0, 0, 0)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setFont(theme.text_font(theme.SMALL))
        painter.setPen(QColor(colours.soft))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, (badge and badge.text) or ago(row.updated))


def _paint_marked(painter: QPainter, box: QRect, text: str, needle: str, font: QFont) -> None:
    """One line in the colour of the pen, cut where there is no room, with what is searched for marked in it."""
    shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    layout = QTextLayout(shown, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    marks = []
    for start, end in ranges(shown, needle):
        mark = QTextLayout.FormatRange()
        mark.start, mark.length, mark.format = start, end - start, found_format()
        marks.append(mark)
    layout.setFormats(marks)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(box.width())
    layout.endLayout()
    layout.draw(painter, QPointF(box.left(), box.top() + (box.height() - line.height()) / 2))
