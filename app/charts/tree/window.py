"""The tree of shared prefixes in a window of its own: what there is, the legend, the tree, and the run looked at."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHideEvent,
    QKeySequence,
    QPalette,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.charts.card import Legend, label
from app.charts.tree import words as tree_words
from app.charts.tree.picture import STRENGTHS
from app.charts.tree.view import TreeView
from app.charts.tree.words import Titles
from app.theme import BODY, GRID, SMALL, Theme, code_font, text_font
from app.widgets.explain import Explain
from app.widgets.plain import tool_tip
from engine import CacheView

KEYS = "Enter or double click opens · P pins or unpins · Delete drops · + − 0 zoom"
HINT = "Point at a run, or go to it with the arrow keys."
SCALE = "One step wider: twice the tokens"


class TreeWindow(QWidget):
    """Attributes: view (the tree itself, with its signals). Closed with Escape, Ctrl+W or Ctrl+T, and then gone.

    Signals: visibility_changed(): it is shown or closed.
    """

    visibility_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Shared beginnings – Headstart")
        self.setAutoFillBackground(True)
        self.view = TreeView(theme)
        self._said = ""
        self._said_of: int | None = None
        self._totals, self._legend = label(SMALL), Legend(legend(), theme, ground="page")
        self._name, self._figures, self._text = label(BODY, bold=True), label(SMALL), label(SMALL)
        self._text.setFont(code_font())
        self._keys, self._scale = label(SMALL, text=KEYS), label(SMALL, text=SCALE)
        self._buttons = [_button("−", "Farther"), _button("+", "Closer"), _button("Fit", "Show all")]
        self._buttons[0].clicked.connect(lambda: self.view.zoom(-1))
        self._buttons[1].clicked.connect(lambda: self.view.zoom(1))
        self._buttons[2].clicked.connect(self.view.fit)
        for keys in ("Esc", "Ctrl+W", "Ctrl+T"):
            QShortcut(QKeySequence(keys), self, self.close)
        self.view.current_changed.connect(self._describe)
        self._lay_out()
        self.set_theme(theme)
        self._describe()
        self.setFocusProxy(self.view)
        self.view.setFocus()
        for button in self._buttons:
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # the keys of the tree go on working after a click

    @property
    def totals(self) -> str:
        """The sentence about the whole tree as shown."""
        return self._totals.text()

    @property
    def details(self) -> str:
        """What is said about the current run: its name, its figures, how it begins."""
        return "\n".join(line.text() for line in (self._name, self._figures, self._text) if line.text())

    def show_view(self, view: CacheView, titles: Titles) -> None:
        """Show a newer picture of the cache."""
        self._totals.setText(tree_words.totals(view))
        self._totals.setToolTip(tool_tip(self.totals))
        for part in (self._totals, self._legend, self._scale, self._keys, *self._buttons):
            part.setVisible(bool(view.nodes))  # of nothing there is one sentence, where the tree will be
        self.view.show_view(view, titles)

    def say(self, sentence: str) -> None:
        """Show a sentence in place of the details, until another run is looked at."""
        self._said, self._said_of = sentence, self._looked_at()
        self._describe()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, QColor(theme.panel))
        self.setPalette(palette)
        for line, colour in (
            (self._totals, theme.soft),
            (self._name, theme.text),
            (self._figures, theme.soft),
            (self._text, theme.text),
            (self._keys, theme.faint),
            (self._scale, theme.faint),
        ):
            line.setStyleSheet(f"color: {colour}; background: transparent;")
        self._legend.set_theme(theme)
        self.view.set_theme(theme)

    def height_at(self, width: int) -> int:
        """How tall this window must be at this width, in pixels, for a picture that the tree fills."""
        self.resize(width, self.height())
        self._column.activate()
        around = self.height() - self.view.height()
        return around + self.view.height_of_tree

    def sizeHint(self) -> QSize:
        return QSize(960, 600)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.visibility_changed.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.visibility_changed.emit()

    def _looked_at(self) -> int | None:
        """The number of the run that is looked at; runs on disk have numbers below 0."""
        node = self.view.current_node
        return node.block if node else None

    def _describe(self) -> None:
        if self._said_of != self._looked_at():
            self._said = ""
        texts = (self._said, "", "") if self._said else self._texts()
        heading = self.view.current_node is not None and not self._said
        self._name.setFont(text_font(BODY, bold=True) if heading else text_font(SMALL))
        for line, text in zip((self._name, self._figures, self._text), texts, strict=True):
            if line.text() != text:
                line.setText(text)

    def _texts(self) -> tuple[str, str, str]:
        """The details of the current run: its conversations, its figures, and how its text begins."""
        node, layout = self.view.current_node, self.view.layout_
        if node is None:
            return (HINT if layout.nodes else "", "", "")
        box = layout.boxes[self.view.current]
        behind = f" · {box.tokens_below - node.tokens:,} tokens behind it" if box.runs_below > 1 else ""
        name = tree_words.titles_of(node, self.view.titles)
        return name, tree_words.figures(node) + behind, tree_words.beginning(node)

    def _lay_out(self) -> None:
        title = label(BODY, text="Shared beginnings", bold=True)
        above = QVBoxLayout()
        above.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        above.setSpacing(2)
        first = QHBoxLayout()
        first.setSpacing(GRID)
        for line in (self._name, self._figures, self._text, self._keys):
            line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        first.addWidget(title)
        first.addWidget(Explain("tree"))
        first.addWidget(self._scale)
        first.addStretch(1)
        for button in self._buttons:
            first.addWidget(button)
        above.addLayout(first)
        self._totals.setWordWrap(True)
        above.addWidget(self._totals)
        above.addWidget(self._legend)
        below = QVBoxLayout()
        below.setContentsMargins(2 * GRID, GRID + 2, 2 * GRID, GRID + 2)
        below.setSpacing(2)
        for line in (self._name, self._figures, self._text, self._keys):
            below.addWidget(line)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(above)
        column.addWidget(self.view, 1)
        column.addLayout(below)


def legend() -> list[tuple[str, str, float]]:
    """The entries of the legend: what the colours of the tree mean."""
    ages = zip(tree_words.AGES, STRENGTHS, strict=True)
    aged = [(word, "reused", strength) for (_, word), strength in ages]
    return [("pinned", "pinned", 1.0), *aged, (tree_words.ON_DISK, "reused", 0.0)]


def _button(text: str, says: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName("quiet")
    button.setAccessibleName(says)
    button.setToolTip(tool_tip(says))
    return button
