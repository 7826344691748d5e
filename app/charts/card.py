"""One chart with its words: its name, which folds it, one number, a sentence and the legend, then the plot."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QEnterEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QGraphicsView, QHBoxLayout, QSizePolicy, QToolButton, QToolTip, QVBoxLayout, QWidget

from app.charts.axes import Axis, Scale
from app.charts.export import SaveButton, Table, as_csv, as_png, as_svg
from app.charts.plot import Plot, mixed
from app.language import tr
from app.theme import SMALL, Theme, text_font
from app.widgets.explain import Explain
from app.widgets.icons import icon
from app.widgets.plain import Label, tool_tip

PICTURE_MARGIN = 16
"""Pixels around a chart that is saved as a picture."""


class Card(QWidget):
    """One chart with its words. A subclass draws the plot (`draw`) and says what it shows (`speak`, through `say`).

    What is said is the accessible description, too.

    Attributes: scale, axis: the words beside and under the plot, which runs over `across`; place: which row the words
    are about, -1 for the newest; hovering: whether the user chose it; theme; fold: the button that folds it.
    Signals: chosen(int): the place that was clicked; save_wanted(str): the chart is wanted as a file of this kind;
    folded(bool): the user folded it, or unfolded it.
    """

    chosen = Signal(int)
    folded = Signal(bool)
    save_wanted = Signal(str)

    def __init__(
        self,
        name: str,
        theme: Theme,
        plot: Plot,
        legend: Sequence[tuple[str, str, float]],
        about: str,
        across: str = tr("turn"),
    ) -> None:
        super().__init__()
        self.plot, self.theme = plot, theme
        self.place, self.hovering = -1, False
        self.fold = FoldButton(name)
        self.fold.turned.connect(self._on_fold)
        self._number, self._note, self._more = label(SMALL), label(SMALL), label(SMALL)
        self._note.hide()
        self._legend = Legend(legend, theme)
        self._explain = Explain(about)
        self.scale, self.axis = Scale(theme), Axis(theme, across)
        self._save = SaveButton(self)
        self._save.save_wanted.connect(self.save_wanted)
        self.setAccessibleName(name)
        self._lay_out()
        self.set_theme(theme)
        plot.hovered.connect(self._hover)
        plot.chosen.connect(self.chosen)

    def draw(self) -> None:
        """Hand the series to the plot."""
        raise NotImplementedError

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
        self.draw()
        self.scale.show_marks(self.plot.scale)
        self.axis.show_marks(self.plot.axis)
        self.plot.forget_lost_place()
        self.speak()

    @property
    def name(self) -> str:
        """The name as shown; the hovered place's name while there is one."""
        return self.fold.text()

    @property
    def number(self) -> str:
        """The number as shown."""
        return self._number.text()

    @property
    def note(self) -> str:
        """The sentence, shown on hovering in place of the legend."""
        return self._note.text()

    @property
    def more(self) -> str:
        """The line under it as shown, "" where there is none."""
        return self._more.text()

    def say(self, name: str, number: str, note: str, more: str = "") -> None:
        """Show these words, `more` on a line of its own."""
        self.fold.setText(name)
        for line, text in ((self._number, number), (self._note, note), (self._more, more)):
            if line.text() != text:
                line.setText(text)
        self._number.setToolTip(tool_tip("\n".join(part for part in (number, note, more) if part)))
        self._show_rows()
        details = [text for _, text in self.details()] if self.hovering else []
        spoken = ", ".join(part for part in (number, note, more, *details) if part)
        if spoken != self.accessibleDescription():
            self.setAccessibleDescription(spoken)
            self.plot.setAccessibleName(f"{name}: {spoken}")

    @property
    def is_folded(self) -> bool:
        """Whether only the name and the number show."""
        return self.fold.is_folded

    def set_folded(self, is_folded: bool) -> None:
        """Show the name and the number only, or all of it."""
        self.fold.turn(is_folded)
        for widget in (self.plot, self.scale, self.axis):
            widget.setVisible(not is_folded)
        self._show_rows()

    def _show_rows(self) -> None:
        """The legend, or in its place what is said of a hovered place; and the line that is not always there."""
        self._note.setVisible(self.hovering and not self.is_folded)
        self._legend.setVisible(not self.hovering and not self.is_folded)
        self._more.setVisible(bool(self.more) and not self.is_folded)

    def _on_fold(self, is_folded: bool) -> None:
        self.set_folded(is_folded)
        self.folded.emit(is_folded)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        self.theme = theme
        for line in (self._number, self._note, self._more):
            line.setStyleSheet(f"color: {theme.soft}; background: transparent;")
        for part in (self._legend, self.scale, self.axis, self.plot):
            part.set_theme(theme)

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
        name = label(SMALL, text=self.accessibleName(), bold=True)
        name.setStyleSheet(f"color: {self.theme.text}; background: transparent;")
        self._names.insertWidget(0, name)
        for button in (self.fold, self._explain, self._save):
            button.hide()
        self.plot.setCacheMode(QGraphicsView.CacheModeFlag.CacheNone)  # its ground would be an image in an SVG

    def enterEvent(self, event: QEnterEvent) -> None:
        self._save.set_awake(True)

    def leaveEvent(self, event: QEvent) -> None:
        self._save.set_awake(False)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self._save.menu_to_save().popup(event.globalPos())

    def _hover(self, place: int) -> None:
        self.place, self.hovering = place, place >= 0
        self.speak()
        self._show_details()

    def _show_details(self) -> None:
        lines = self.details() if self.hovering else []
        if not lines:
            QToolTip.hideText()
            return
        squares = (f'<span style="color: {colour}">■</span> {escape(text)}' for colour, text in lines)
        QToolTip.showText(self.plot.below(self.place), "<br>".join(squares), self.plot)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        names = self._names = QHBoxLayout()
        names.setSpacing(4)
        for widget in (self.fold, self._explain, self._save):
            names.addWidget(widget)
        self._number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        names.addWidget(self._number, 1)
        column.addLayout(names)
        column.addWidget(self._more)
        column.addWidget(self._legend)
        column.addWidget(self._note)
        for line in (self._number, self._note, self._more):
            line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        beside = QHBoxLayout()
        beside.setSpacing(0)
        beside.addWidget(self.plot, 1)
        beside.addWidget(self.scale)
        column.addLayout(beside, 1)
        column.addWidget(self.axis)


class FoldButton(QToolButton):
    """The name of a part of the panel, in bold behind a small arrow; pressing it folds that part, or unfolds it.

    Signals: turned(bool): whether it is to be folded now.
    """

    turned = Signal(bool)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.is_folded = False
        self.setObjectName("fold")
        self.setText(name)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setFont(text_font(SMALL, bold=True))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setIconSize(QSize(10, 10))
        self.setFixedHeight(20)
        self.clicked.connect(lambda: self.turned.emit(not self.is_folded))
        self.turn(False)

    def sizeHint(self) -> QSize:
        """As wide as what it shows: the style sheet would add room for a menu."""
        return QSize(self.iconSize().width() + self.fontMetrics().horizontalAdvance(self.text()) + 14, 20)

    def turn(self, is_folded: bool) -> None:
        """Show whether the part is folded."""
        self.is_folded = is_folded
        self.setIcon(icon("next" if is_folded else "down"))
        self.setToolTip(tool_tip(tr("Show this part") if is_folded else tr("Fold this part")))
        self.setAccessibleDescription(tr("folded") if is_folded else "")


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
        self.setAccessibleName(tr("Colours: ") + ", ".join(word for word, _, _ in entries))

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
