"""One chart with its words: a quiet name and legend, one large number, one plain sentence, then the plot."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.charts.plot import Plot, mixed
from app.theme import LARGE, SMALL, Theme, text_font


class Card(QWidget):
    """Shows what `say` was told; the same words are its accessible description. Subclasses draw and speak.

    Attributes: place: which row the words are about, -1 for the newest; hovering: whether the user chose it.
    """

    def __init__(
        self, name: str, theme: Theme, plot: Plot | None = None, legend: Sequence[tuple[str, str, float]] = ()
    ) -> None:
        super().__init__()
        self.plot = plot
        self.place, self.hovering = -1, False
        self._name = _label(SMALL, text=name)
        self._number = _label(LARGE, bold=True)
        self._note = _label(SMALL)
        self._legend = Legend(legend, theme)
        self._hint = QLabel(plot or self)
        self._hint.setFont(text_font(SMALL))
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint.setWordWrap(True)
        self._hint.hide()
        self.setAccessibleName(name)
        self._lay_out()
        self.set_theme(theme)
        if plot is not None:
            plot.hovered.connect(self._hover)

    def draw(self) -> None:
        """Hand the series to the plot; a card without a plot has nothing to draw."""

    def speak(self) -> None:
        """Say what the row at `place` is."""
        raise NotImplementedError

    def redraw(self) -> None:
        """The series changed: new picture, new words."""
        if self.plot is not None:
            self.draw()
            self.plot.forget_lost_place()
        self.speak()

    @property
    def name(self) -> str:
        """The quiet name as shown; the hovered place's name while there is one."""
        return self._name.text()

    @property
    def number(self) -> str:
        """The large number as shown."""
        return self._number.text()

    @property
    def note(self) -> str:
        """The sentence as shown."""
        return self._note.text()

    @property
    def hint(self) -> str:
        """The sentence in an empty plot, "" where there is something to see."""
        return self._hint.text()

    def say(self, name: str, number: str, note: str, hint: str = "") -> None:
        """New words; `hint` stands in the middle of an empty plot."""
        for label, text in ((self._name, name), (self._number, number), (self._note, note), (self._hint, hint)):
            if label.text() != text:
                label.setText(text)
        self._hint.setVisible(bool(hint))
        self._legend.setVisible(not hint)
        spoken = ", ".join(part for part in (number, note, hint) if part)
        if spoken != self.accessibleDescription():
            self.setAccessibleDescription(spoken)
            if self.plot is not None:
                self.plot.setAccessibleName(f"{name}: {spoken}")

    def set_theme(self, theme: Theme) -> None:
        """Colours at run time."""
        self._number.setStyleSheet(f"color: {theme.text}; background: transparent;")
        for label in (self._name, self._note):
            label.setStyleSheet(f"color: {theme.soft}; background: transparent;")
        self._hint.setStyleSheet(f"color: {theme.soft}; background: {theme.panel};")
        self._legend.set_theme(theme)
        if self.plot is not None:
            self.plot.set_theme(theme)

    def _hover(self, place: int) -> None:
        self.place, self.hovering = place, place >= 0
        self.speak()

    def resizeEvent(self, event: object) -> None:
        if self.plot is not None:
            self._hint.setGeometry(self.plot.rect().adjusted(0, 1, 0, -1))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(_row(self._name, self._legend, 1, 0))
        column.addSpacing(2)
        self._note.setContentsMargins(0, 0, 0, 3)
        self._note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
        self._note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        column.addLayout(_row(self._number, self._note, 0, 1))
        if self.plot is not None:
            column.addSpacing(6)
            column.addWidget(self.plot, 1)


class Legend(QWidget):
    """Small squares with the word for each colour, right-aligned."""

    def __init__(self, entries: Sequence[tuple[str, str, float]], theme: Theme) -> None:
        super().__init__()
        self._entries, self._theme = tuple(entries), theme
        self.setFont(text_font(SMALL))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_theme(self, theme: Theme) -> None:
        """Colours at run time."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = sum(26 + metrics.horizontalAdvance(word) for word, _, _ in self._entries) - 12
        return QSize(max(0, width), metrics.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, metrics = 0, self.fontMetrics()
        for word, color, strength in self._entries:
            full = QColor(getattr(self._theme, color))
            painter.setPen(full)
            painter.setBrush(mixed(full.name(), self._theme.panel, strength))
            painter.drawRoundedRect(QRectF(x + 0.5, metrics.height() / 2 - 4.5, 9, 9), 2, 2)
            painter.setPen(QColor(self._theme.soft))
            painter.drawText(x + 14, metrics.ascent(), word)
            x += 26 + metrics.horizontalAdvance(word)


def _label(size: int, text: str = "", bold: bool = False) -> QLabel:
    label = QLabel(text)
    label.setFont(text_font(size, bold))
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def _row(left: QWidget, right: QWidget, left_stretch: int, right_stretch: int) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    row.addWidget(left, left_stretch)
    row.addWidget(right, right_stretch)
    return row
