"""The shared prefixes in short: the largest runs of the tree as an indented list of bars, and the way to all of it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from app.charts.card import FoldButton
from app.charts.tree import words as tree_words
from app.charts.tree.layout import ListedRun, TreeLayout, largest_runs, lay_out, run_width
from app.charts.tree.words import Titles
from app.language import tr
from app.theme import SMALL, Theme, text_font
from app.widgets.explain import Explain
from app.widgets.plain import elided, tool_tip
from engine import CacheView, NodeView

MOST_ROWS = 5
PITCH, BAR, INDENT = 22, 14, 16
LONGEST, SHORTEST = 184.0, 48.0
"""Pixels of the longest bar; its label stands right of it. Where labels need the room it is shorter, but not below
SHORTEST."""
LABEL = 176
"""Pixels that every label has at least."""


class PrefixCard(QWidget):
    """Signals: tree_wanted(); open_wanted(int conversation, int token, str text): show this conversation where the run
    with this text begins; folded(bool): the user folded it, or unfolded it."""

    folded = Signal(bool)
    tree_wanted = Signal()
    open_wanted = Signal(object, int, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.fold = FoldButton(tr("Shared beginnings"))
        self.fold.turned.connect(self._on_fold)
        self._open = QPushButton(tr("Open the tree"))
        self._open.setObjectName("link")
        self._open.setStyleSheet("padding: 0 0 0 4px;")
        self._open.setToolTip(tr("Everything that is remembered, live (Ctrl+T)"))
        self._open.clicked.connect(self.tree_wanted)
        self.runs = RunList(theme)
        self.runs.chosen.connect(self._on_chosen)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.fold)
        row.addWidget(Explain("tree"))
        row.addStretch(1)
        row.addWidget(self._open)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.runs)
        self.setAccessibleName(tr("Shared beginnings"))
        self.set_theme(theme)
        self.show_view(CacheView(0, 0.0, 0, 0, 0, 0, 0, 0), {})

    def show_view(self, view: CacheView, titles: Titles) -> None:
        """Show a newer picture of the cache."""
        self.runs.show_layout(lay_out(view.nodes), titles)
        spoken = ", ".join(self.runs.lines)
        if spoken != self.accessibleDescription():
            self.setAccessibleDescription(spoken)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        self.runs.set_theme(theme)

    def set_folded(self, is_folded: bool) -> None:
        """Show the name only, or all of it."""
        self.fold.turn(is_folded)
        self.runs.setVisible(not is_folded)

    def _on_fold(self, is_folded: bool) -> None:
        self.set_folded(is_folded)
        self.folded.emit(is_folded)

    def _on_chosen(self, index: int) -> None:
        named = [owner for owner in tree_words.owners(self.runs.layout_.nodes[index], self.runs.titles) if owner.id]
        if len(named) == 1:
            node = self.runs.layout_.nodes[index]
            self.open_wanted.emit(named[0].id, node.start, node.text)
        else:
            self.tree_wanted.emit()


class RunList(QWidget):
    """The largest runs as bars, one a line. Signals: chosen(int): the index of the run that was clicked."""

    chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.layout_ = TreeLayout()
        self.titles: Titles = {}
        self._theme = theme
        self._rows: list[ListedRun] = []
        self.setFont(text_font(SMALL))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def lines(self) -> list[str]:
        """What the list says, a line a run; the last line is about those that are left out."""
        if not self._rows:
            return [tr("Nothing is remembered yet.")]
        said = [self._label(row) for row in self._rows]
        hidden = len(self.layout_.nodes) - len(self._rows)
        return [*said, tr("+{hidden:,} more", hidden=hidden)] if hidden else said

    def show_layout(self, layout: TreeLayout, titles: Titles) -> None:
        """Show another tree, or the same one a moment later."""
        self.layout_, self.titles = layout, titles
        self._rows = largest_runs(layout, MOST_ROWS)
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(328, (MOST_ROWS + 1) * PITCH)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_lines(painter)
        for number, row in enumerate(self._rows):
            bar = self.bar_of(number)
            node = self.layout_.nodes[row.run]
            self._paint_bar(painter, bar, node)
            name, tail = tree_words.name_and_tail(self.layout_, row.run, self.titles)
            self._paint_text(painter, bar.right() + 8, number, name, f"{tail} {tree_words.tokens_of(node)}")
        for number, text in enumerate(self.lines[len(self._rows) :], len(self._rows)):
            self._paint_text(painter, 0, number, text)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self._at(event.position().toPoint())
        if index >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(index)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Show a tooltip with more about the run that is pointed at."""
        if isinstance(event, QHelpEvent):
            index = self._at(event.pos())
            if index >= 0:
                node = self.layout_.nodes[index]
                name = tree_words.label(self.layout_, index, self.titles)
                titles = tree_words.titles_of(node, self.titles)
                parts = (
                    name,
                    "" if name.startswith(titles) else titles,
                    tree_words.figures(node),
                    tree_words.beginning(node),
                )
                QToolTip.showText(event.globalPos(), tool_tip("\n".join(part for part in parts if part)), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def _label(self, row: ListedRun) -> str:
        name = tree_words.label(self.layout_, row.run, self.titles)
        return f"{name} {tree_words.tokens_of(self.layout_.nodes[row.run])}"

    def _at(self, at: QPoint) -> int:
        number = at.y() // PITCH
        return self._rows[number].run if 0 <= number < len(self._rows) else -1

    def bar_of(self, number: int) -> QRectF:
        """Where the bar of a row of the list lies, in pixels."""
        row = self._rows[number]
        longest = max(run_width(self.layout_.nodes[other.run].tokens) for other in self._rows)
        deepest = max(_left(other) for other in self._rows)
        whole = max(SHORTEST, min(LONGEST, self.width() - deepest - LABEL))
        width = max(8.0, whole * run_width(self.layout_.nodes[row.run].tokens) / longest - 8)
        left = _left(row)
        return QRectF(left, number * PITCH + (PITCH - BAR) / 2, width, BAR)

    def _paint_bar(self, painter: QPainter, bar: QRectF, node: NodeView) -> None:
        """Paint a run as a filled bar, or as a hollow one with a small bar inside where it is on disk only."""
        colour = QColor(self._theme.pinned if node.pinned else self._theme.reused)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        if tree_words.is_behind(node):
            painter.fillRect(bar.adjusted(3, 4, -(bar.width() - 6), -4), colour)
            painter.setPen(QPen(colour, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            bar = bar.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(bar, 3, 3)

    def _paint_lines(self, painter: QPainter) -> None:
        """Paint lines from each run to those that continue it."""
        painter.setPen(QPen(QColor(self._theme.cold), 1))
        for number, row in enumerate(self._rows):
            if row.parent_row >= 0:
                bar, above = self.bar_of(number), self.bar_of(row.parent_row)
                x, y = above.left() + 6.5, round(bar.center().y()) + 0.5
                painter.drawLine(QLineF(x, above.bottom(), x, y))
                painter.drawLine(QLineF(x, y, bar.left(), y))

    def _paint_text(self, painter: QPainter, left: float, number: int, text: str, tail: str = "") -> None:
        """Text in a row, cut in its middle where there is no room for all of it, and the tail that is never cut."""
        painter.setPen(QColor(self._theme.soft))
        room = QRectF(QPointF(left, number * PITCH), QPointF(self.width(), (number + 1) * PITCH))
        shown = elided(painter.fontMetrics(), text, tail, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


def _left(row: ListedRun) -> int:
    return min(6, row.depth) * INDENT
