"""One chart with its words: a quiet name and legend, one large number, one plain sentence, then the plot."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QEnterEvent, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QGraphicsView, QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from app.charts.axes import Axis, Scale
from app.charts.plot import Plot, mixed
from app.charts.saving import SaveButton, Table, as_csv, as_png, as_svg
from app.theme import LARGE, SMALL, Theme, text_font
from app.widgets.explain import Explain
from app.widgets.plain import Label

PICTURE_MARGIN = 16
"""Pixels around a chart that is saved as a picture."""


class Card(QWidget):
    """One chart with its words. A subclass draws the plot (`draw`) and says what it shows (`speak`, through `say`).

    What is said is the accessible description, too.

    Attributes: scale, axis: the words beside and under the plot, which runs over `across`; place: which row the words
    are about, -1 for the newest; hovering: whether the user chose it; theme.
    Signals: chosen(int): the place that was clicked; save_wanted(str): the chart is wanted as a file of this kind.
    """

    chosen = Signal(int)
    save_wanted = Signal(str)

    def __init__(
        self,
        name: str,
        theme: Theme,
        plot: Plot | None = None,
        legend: Sequence[tuple[str, str, float]] = (),
        about: str = "",
        across: str = "turn",
    ) -> None:
        super().__init__()
        self.plot, self.theme = plot, theme
        self.place, self.hovering = -1, False
        self._name = label(SMALL, text=name)
        self._number = label(LARGE, bold=True)
        self._note, self._more = label(SMALL), label(SMALL)
        self._legend = Legend(legend, theme)
        self._explain = Explain(about) if about else None
        self.scale, self.axis = Scale(theme), Axis(theme, across)
        self._save = SaveButton(self) if plot is not None else None
        if self._save is not None:
            self._save.save_wanted.connect(self.save_wanted)
        self._hint = Label(plot or self)
        self._hint.setFont(text_font(SMALL))
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint.setWordWrap(True)
        self._hint.hide()
        self.setAccessibleName(name)
        self._lay_out()
        self.set_theme(theme)
        if plot is not None:
            plot.hovered.connect(self._hover)
            plot.chosen.connect(self.chosen)

    def draw(self) -> None:
        """Hand the series to the plot; a card without a plot has nothing to draw."""

    def speak(self) -> None:
        """Say, through `say`, what the row at `place` shows."""
        raise NotImplementedError

    def details(self) -> list[tuple[str, str]]:
        """What the tooltip of the hovered place says: for each line a colour ("#rrggbb") and words."""
        return []

    def table(self) -> Table:
        """What is drawn, as a table for a file."""
        raise NotImplementedError

    def copy(self) -> Card:
        """The same chart of the same data without buttons, for a picture."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draw and say what the series hold now."""
        if self.plot is not None:
            self.draw()
            self.scale.show_marks(self.plot.scale)
            self.axis.show_marks(self.plot.axis)
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
        """The sentence as shown; it may have two lines."""
        return self._note.text()

    @property
    def more(self) -> str:
        """The line under the number as shown, "" where there is none."""
        return self._more.text()

    @property
    def hint(self) -> str:
        """The sentence in an empty plot, "" where there is something to see."""
        return self._hint.text()

    def say(self, name: str, number: str, note: str, hint: str = "", more: str = "") -> None:
        """Show these words. `hint` stands in the middle of an empty plot, `more` on a line of its own."""
        words = ((self._name, name), (self._number, number), (self._note, note), (self._hint, hint), (self._more, more))
        for line, text in words:
            if line.text() != text:
                line.setText(text)
        self._hint.setVisible(bool(hint))
        self._more.setVisible(bool(more))
        self._legend.setVisible(not hint)
        details = [text for _, text in self.details()] if self.hovering else []
        spoken = ", ".join(part for part in (number, note.replace("\n", ", "), more, hint, *details) if part)
        if spoken != self.accessibleDescription():
            self.setAccessibleDescription(spoken)
            if self.plot is not None:
                self.plot.setAccessibleName(f"{name}: {spoken}")

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        self.theme = theme
        self._number.setStyleSheet(f"color: {theme.text}; background: transparent;")
        for line in (self._name, self._note, self._more):
            line.setStyleSheet(f"color: {theme.soft}; background: transparent;")
        self._hint.setStyleSheet(f"color: {theme.soft}; background: {theme.panel};")
        for part in (self._legend, self.scale, self.axis):
            part.set_theme(theme)
        if self.plot is not None:
            self.plot.set_theme(theme)

    def rendered(self, kind: str) -> bytes:
        """The chart as the bytes of a file of this kind: the newest state, whatever is hovered, without buttons."""
        if kind == "csv":
            return as_csv(self.table())
        copy = self.copy()
        copy.hide_buttons()
        copy.resize(self.width() + 2 * PICTURE_MARGIN, self.height() + 2 * PICTURE_MARGIN)
        copy.redraw()
        data = as_png(copy) if kind == "png" else as_svg(copy, self.accessibleName())
        copy.deleteLater()
        return data

    def hide_buttons(self) -> None:
        """Make this a chart for a picture: without buttons, and on the theme's own background."""
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, self.theme.panel)
        self.setPalette(palette)
        self.setAutoFillBackground(True)
        self.setContentsMargins(*[PICTURE_MARGIN] * 4)
        for button in (self._explain, self._save):
            if button is not None:
                button.hide()
        if self.plot is not None:
            self.plot.setCacheMode(QGraphicsView.CacheModeFlag.CacheNone)  # its ground would be an image in an SVG

    def enterEvent(self, event: QEnterEvent) -> None:
        if self._save is not None:
            self._save.set_awake(True)

    def leaveEvent(self, event: QEvent) -> None:
        if self._save is not None:
            self._save.set_awake(False)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self._save is not None:
            self._save.menu_to_save().popup(event.globalPos())

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self.plot is not None:
            self._hint.setGeometry(self.plot.rect().adjusted(0, 1, 0, -1))

    def _hover(self, place: int) -> None:
        self.place, self.hovering = place, place >= 0
        self.speak()
        self._show_details()

    def _show_details(self) -> None:
        lines = self.details() if self.hovering else []
        if self.plot is None or not lines:
            QToolTip.hideText()
            return
        squares = (f'<span style="color: {colour}">■</span> {escape(text)}' for colour, text in lines)
        QToolTip.showText(self.plot.below(self.place), "<br>".join(squares), self.plot)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        names = QHBoxLayout()
        names.setSpacing(4)
        for widget in (self._name, self._explain, self._save):
            if widget is not None:
                names.addWidget(widget)
        names.addStretch(1)
        names.addWidget(self._legend)
        column.addLayout(names)
        column.addSpacing(2)
        self._note.setContentsMargins(0, 0, 0, 3)
        self._note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
        self._note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        numbers = QHBoxLayout()
        numbers.setSpacing(8)
        numbers.addWidget(self._number)
        numbers.addWidget(self._note, 1)
        column.addLayout(numbers)
        self._more.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        column.addWidget(self._more)
        if self.plot is not None:
            column.addSpacing(6)
            beside = QHBoxLayout()
            beside.setSpacing(0)
            beside.addWidget(self.plot, 1)
            beside.addWidget(self.scale)
            column.addLayout(beside, 1)
            column.addWidget(self.axis)


class Legend(QWidget):
    """Explains the colours of a chart: a small square with a word for each of `entries`, which are the word, the name
    of the theme's colour, and how strongly the square is filled. With strength 0 it is hollow with a bar inside.

    `ground` is the name of the theme's colour that lies behind the chart.
    """

    def __init__(self, entries: Sequence[tuple[str, str, float]], theme: Theme, ground: str = "panel") -> None:
        super().__init__()
        self._entries, self._theme, self._ground = tuple(entries), theme, ground
        self.setFont(text_font(SMALL))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Colours: " + ", ".join(word for word, _, _ in entries))

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = sum(24 + metrics.horizontalAdvance(word) for word, _, _ in self._entries) - 10
        return QSize(max(0, width), metrics.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, metrics = 0, self.fontMetrics()
        for word, color, strength in self._entries:
            full = QColor(getattr(self._theme, color))
            painter.setPen(full)
            painter.setBrush(mixed(full.name(), getattr(self._theme, self._ground), strength))
            square = QRectF(x + 0.5, metrics.height() / 2 - 4.5, 9, 9)
            painter.drawRoundedRect(square, 2, 2)
            if not strength:
                painter.fillRect(square.adjusted(2, 2, -5, -2), full)
            painter.setPen(QColor(self._theme.soft))
            painter.drawText(x + 14, metrics.ascent(), word)
            x += 24 + metrics.horizontalAdvance(word)


def label(size: int, text: str = "", bold: bool = False) -> Label:
    """A line of plain text, `size` pixels high."""
    made = Label(text)
    made.setFont(text_font(size, bold))
    return made
