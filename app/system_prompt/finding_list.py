"""What was found in a text, as a quiet list under it: one sentence each, with what can be done about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app import theme
from app.language import tr
from app.widgets.plain import LINK_PADDING, SoftLabel, tool_tip

Kind = Literal["costs", "cured", "note"]
MOST_ROWS = 8
MOST_HEIGHT = 176
DOT = 8


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One thing found. `actions` are buttons as (key, label, what it does)."""

    key: str
    text: str
    kind: Kind
    actions: tuple[tuple[str, str, str], ...] = ()


class FindingList(QScrollArea):
    """Rows under a text; hidden where there are none. Signals: chosen(key of the row, key of the action)."""

    chosen = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("What changes in this text"))
        self._shown: tuple[FindingRow, ...] = ()
        self._rows: list[_Row] = []
        page = QWidget()
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(0, 4, 8, 4)
        self._column.setSpacing(8)
        self._column.addStretch(1)
        self.setWidget(page)
        self.hide()

    @property
    def texts(self) -> tuple[str, ...]:
        """The sentences shown."""
        return tuple(row.label.text() for row in self._rows)

    def button(self, key: str, action: str) -> QPushButton:
        """The button for an action of a row. Raises KeyError where there is none."""
        return next(row for row in self._rows if row.content.key == key).buttons[action]

    def show_rows(self, rows: Sequence[FindingRow]) -> None:
        """Show these rows; without any the list is hidden."""
        wanted = tuple(rows)
        if wanted == self._shown:
            return
        self._shown = wanted
        if [row.content.key for row in self._rows] == [row.key for row in wanted[:MOST_ROWS]]:
            for row, content in zip(self._rows, wanted, strict=False):
                row.show_content(content)
        else:
            self._build(wanted)
        self.setVisible(bool(wanted))
        self._fit()

    def _build(self, wanted: tuple[FindingRow, ...]) -> None:
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = []
        for number, content in enumerate(wanted[:MOST_ROWS]):
            row = _Row(content, self)
            self._column.insertWidget(number, row)
            row.show()
            self._rows.append(row)

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def _fit(self) -> None:
        """As tall as its rows, and no taller than a few of them."""
        for row in self._rows:
            row.fit(self.viewport().width())
        self._column.activate()
        self.setFixedHeight(min(MOST_HEIGHT, max(1, self._column.totalHeightForWidth(self.viewport().width()))))


class _Row(QWidget):
    def __init__(self, content: FindingRow, parent: FindingList) -> None:
        super().__init__()
        self._list = parent
        self.label = SoftLabel(self)
        self.label.setWordWrap(True)
        self.label.setContentsMargins(LINK_PADDING, 0, 0, 0)
        self.buttons: dict[str, QPushButton] = {}
        self._links = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._links.setContentsMargins(0, 0, 0, 0)
        self._links.setSpacing(12)
        self._links.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(DOT + 10 - LINK_PADDING, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.label)
        column.addLayout(self._links)
        self.show_content(content)

    def fit(self, width: int) -> None:
        """Put the buttons under each other where there is no room for them beside each other."""
        needed = sum(button.sizeHint().width() + self._links.spacing() for button in self.buttons.values())
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._links.setDirection(down if needed + DOT + 10 > width else right)

    def show_content(self, content: FindingRow) -> None:
        """Show another finding in this row."""
        self.content = content
        self.label.setText(content.text)
        self.label.setAccessibleName(content.text)
        if list(self.buttons) != [key for key, _, _ in content.actions]:
            self._build_buttons(content)
        self.update()

    def _build_buttons(self, content: FindingRow) -> None:
        for button in self.buttons.values():
            self._links.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = {key: self._button(key, label, tip) for key, label, tip in content.actions}
        for number, button in enumerate(self.buttons.values()):
            self._links.insertWidget(number, button)
            button.show()

    def _button(self, key: str, label: str, tip: str) -> QPushButton:
        button = QPushButton(label, self)
        button.setObjectName("link")
        button.setToolTip(tool_tip(tip))
        button.setAccessibleDescription(tip)
        button.clicked.connect(lambda: self._list.chosen.emit(self.content.key, key))
        return button

    def paintEvent(self, event: QPaintEvent) -> None:
        """A full dot costs something, a tick costs nothing any more, an empty ring is only a note."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = theme.current()
        top = self.label.y() + (self.label.fontMetrics().height() - DOT) / 2
        ring = QRectF(1, top, DOT, DOT).adjusted(0.75, 0.75, -0.75, -0.75)
        if self.content.kind == "cured":
            painter.setPen(QPen(QColor(colours.reused), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawPolyline([QPointF(1, top + 4.5), QPointF(4, top + 7.5), QPointF(9, top + 1)])
        elif self.content.kind == "costs":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.computed))
            painter.drawEllipse(ring)
        else:
            painter.setPen(QPen(QColor(colours.edge), 1.5))
            painter.drawEllipse(ring)
