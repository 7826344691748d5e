"""The ribbon: a prompt as a row of small cells, to be pointed at or walked through with the arrow keys."""

from __future__ import annotations

import textwrap
from bisect import bisect_left
from time import perf_counter

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, QVariantAnimation
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app import theme
from app.language import tr
from app.widgets import motion
from app.widgets.ribbon_cells import Cell, State, cells, describe
from app.widgets.role import role
from engine import Preview

PITCH, GAP = 8, 1.5
"""Least distance from one cell to the next, and the room between them, in pixels."""
LOW, HIGH = 12, 18
"""Height of a cell, and of one that must be computed, in pixels."""
LEAST_WIDTH = 2.0
"""Pixels that a state has in a cell at least: merging never hides that something must be computed."""
TIP_WIDTH = 64
"""Characters in a line of what a cell says."""
LONGEST_FILL_S = 2.0
"""So long at most the ribbon takes to fill up to what was reported as read."""
FEW_CELLS = 8
_STEPS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_PageUp: -FEW_CELLS,
    Qt.Key.Key_PageDown: FEW_CELLS,
    Qt.Key.Key_Home: -(10**6),
    Qt.Key.Key_End: 10**6,
}


@role(QAccessible.Role.Graphic)
class Ribbon(QWidget):
    """Each state has a colour and a shape: kept with a line through its foot, remembered plain, sent before to a server
    hollow, read ahead with a line through its head, from disk hollow with a bar inside, to read tall, past the context
    crossed, free a thin dash. While a prompt is read, what is still to be read is hollow, and fills smoothly: never
    beyond what is read, from one report to the next. What is read to its end is full at once: the answer is being
    written by then.

    `current` is the cell that the keyboard is at, -1 for none; `fill` moves the border between what is drawn as read
    and the rest."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.current = -1
        self._preview: Preview | None = None
        self._read_tokens: int | None = None
        self._reported_s = 0.0
        self.fill = QVariantAnimation(self)
        self.fill.valueChanged.connect(self._on_filled)
        self._filled_cells = 0
        self._cells: list[Cell] = []
        self.setFixedHeight(HIGH)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Prompt in cells"))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """What is shown."""
        return tuple(self._cells)

    @property
    def filled_tokens(self) -> int | None:
        """How many tokens are drawn as read; None where no prompt is being read."""
        return None if self._read_tokens is None else int(self.fill.currentValue() or 0)

    def show_preview(self, preview: Preview | None, *, read_tokens: int | None = None) -> None:
        """Show this prompt, None for nothing. While it is read, its first `read_tokens` are remembered or read by
        now."""
        if preview is self._preview and read_tokens == self._read_tokens:  # nothing is laid out and painted for that
            return
        if read_tokens != self._read_tokens:
            self._fill_up_to(read_tokens, is_whole=preview is not None and read_tokens == preview.prompt_tokens)
        self._preview, self._read_tokens = preview, read_tokens
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if preview else Qt.FocusPolicy.NoFocus)
        self._lay_cells()

    def _fill_up_to(self, read_tokens: int | None, is_whole: bool) -> None:
        """Move there within the time that the step took, from where the border is now. At first, back, to the end of
        the prompt, and where the user wants less motion it is there at once."""
        now, filled = perf_counter(), self.filled_tokens
        took_s, self._reported_s = now - self._reported_s, now
        self.fill.stop()
        if read_tokens is None:
            return
        is_smooth = not is_whole and not motion.is_reduced()
        is_forward = is_smooth and filled is not None and filled < read_tokens
        self.fill.setStartValue(filled if is_forward else read_tokens)
        self.fill.setEndValue(read_tokens)
        self.fill.setDuration(round(1000 * min(took_s, LONGEST_FILL_S)) if is_forward else 0)
        self.fill.start()

    def _on_filled(self, tokens: int) -> None:
        """The border moved: only where it reached another cell, something looks different."""
        if self._cells_before(tokens) != self._filled_cells:
            self.update()

    def _cells_before(self, tokens: int) -> int:
        return bisect_left(self._cells, tokens, key=lambda cell: cell.start)

    def text_of(self, number: int) -> str:
        """Everything about one cell, in lines; "" where there is none."""
        if self._preview is None or not 0 <= number < len(self._cells):
            return ""
        what, where, quote = describe(self._preview, self._cells[number], read_tokens=self._read_tokens or 0)
        return "\n".join(line for line in (what, where, f"“{quote}”" if quote else "") if line)

    def cell_at(self, place: QPoint) -> int:
        """The cell under this place, -1 where there is none."""
        number = int(place.x() / self.pitch)
        return number if 0 <= number < len(self._cells) else -1

    def box(self, number: int) -> QRect:
        """Where a cell lies, with the gap behind it."""
        left = round(number * self.pitch)
        return QRect(left, 0, round((number + 1) * self.pitch) - left, self.height())

    def sizeHint(self) -> QSize:
        return QSize(320, HIGH)

    @property
    def pitch(self) -> float:
        """Pixels from one cell to the next; the row is as wide as the widget where the context is long enough."""
        return max(PITCH, (self.width() + GAP) / max(1, self._room))

    @property
    def _room(self) -> int:
        return self.width() // PITCH

    def _lay_cells(self) -> None:
        self._cells = cells(self._preview, self._room) if self._preview else []
        self._go_to(min(self.current, len(self._cells) - 1))

    def _go_to(self, number: int) -> None:
        self.current = number
        self.setAccessibleDescription(self.text_of(number).replace("\n", ", "))
        self.update()

    def _say(self, number: int, place: QPoint) -> None:
        if text := self.text_of(number):
            lines = [textwrap.fill(line, TIP_WIDTH) for line in text.split("\n")]
            QToolTip.showText(place, "\n".join(lines), self, self.box(number))
        else:
            QToolTip.hideText()

    # Mouse and keyboard

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._say(self.cell_at(event.pos()), event.globalPos())
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or not self._cells:
            super().keyPressEvent(event)
            return
        self._go_to(max(0, min(self.current + step, len(self._cells) - 1)))
        self._say(self.current, self.mapToGlobal(self.box(self.current).bottomLeft()))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            self._go_to(self._first_to_compute())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._go_to(-1)
        QToolTip.hideText()

    def _first_to_compute(self) -> int:
        return next((number for number, cell in enumerate(self._cells) if "computed" in cell.states), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_cells()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pitch, filled = self.pitch, self.filled_tokens
        self._filled_cells = 0 if filled is None else self._cells_before(filled)
        for number, cell in enumerate(self._cells):
            left = number * pitch
            is_read = filled is None or number < self._filled_cells
            for state, width in _widths(cell, pitch - GAP):
                _paint(painter, QRectF(left, 0, width, HIGH), state, is_read)
                left += width
        if self.current >= 0 and self.hasFocus():
            painter.setPen(QPen(QColor(theme.current().text), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.current * pitch, 0.75, pitch - GAP, HIGH - 1.5))


def _widths(cell: Cell, whole: float) -> list[tuple[State, float]]:
    """How the width of a cell is shared out among its states."""
    parts = [part for part in cell.parts if part[0] != "free"] or list(cell.parts)
    total = sum(count for _, count in parts)
    widths = [max(LEAST_WIDTH, whole * count / total) for _, count in parts]
    scale = whole / sum(widths)
    return [(state, width * scale) for (state, _), width in zip(parts, widths, strict=True)]


def _paint(painter: QPainter, box: QRectF, state: State, is_read: bool) -> None:
    colours = theme.current()
    low = box.adjusted(0, (HIGH - LOW) / 2, 0, -(HIGH - LOW) / 2)
    painter.setPen(Qt.PenStyle.NoPen)
    if state == "free":
        painter.fillRect(
            QRectF(box.left() + 1, box.center().y() - 1, max(1.0, box.width() - 2), 2), QColor(colours.line)
        )
    elif state == "past":
        _outline(painter, low, colours.evicted)
        painter.drawLine(low.bottomLeft() + QPointF(1, -1), low.topRight() + QPointF(-1, 1))
        painter.drawLine(low.topLeft() + QPointF(1, 1), low.bottomRight() + QPointF(-1, -1))
    elif state == "disk":
        _outline(painter, low, colours.reused)
        painter.fillRect(low.adjusted(0, 4, 0, -4), QColor(colours.reused))
    elif state == "memory":
        _outline(painter, low, colours.reused)
        painter.fillRect(low.adjusted(0, 2, 0, -2), QColor(colours.reused))
    elif state == "sent":
        _outline(painter, low, colours.reused)
    elif state == "computed" and not is_read:
        _outline(painter, box, colours.computed)
    elif state == "computed":
        painter.setBrush(QColor(colours.computed))
        painter.drawRoundedRect(box, 1.5, 1.5)
    else:
        painter.setBrush(QColor(colours.pinned if state == "pinned" else colours.reused))
        painter.drawRoundedRect(low, 1.5, 1.5)
        if state != "reused":
            line = low.bottom() - 4 if state == "pinned" else low.top() + 2.5
            painter.fillRect(QRectF(low.left(), line, low.width(), 1.5), QColor(colours.page))


def _outline(painter: QPainter, box: QRectF, colour: str) -> None:
    painter.setPen(QColor(colour))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 1.5, 1.5)
