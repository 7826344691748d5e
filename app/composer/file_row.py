"""The files that go with the next question: a line for each, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.documents import Attachment
from app.language import tr
from app.widgets.icons import icon
from app.widgets.plain import Label, SoftLabel, elided, tool_tip

NAME_WIDTH = 320
"""Pixels of the name of a file; what is longer is cut in its middle."""
BUTTON = 20


class FileRow(QWidget):
    """Shows files with their sizes and a button that takes each away. It hides itself while there is nothing to say.

    Signals: remove_wanted(int) with the place of a file, stop_wanted() while one is being read.
    """

    remove_wanted = Signal(int)
    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: list[QWidget] = []
        self.says = SoftLabel(self)
        self.says.setWordWrap(True)
        self.stop = _button(tr("Stop reading the file"), self)
        self.stop.clicked.connect(self.stop_wanted)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(8, 0, 0, 4)
        self._column.setSpacing(2)
        bottom = QHBoxLayout()
        bottom.addWidget(self.says, 1)
        bottom.addWidget(self.stop)
        self._column.addLayout(bottom)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.stop.hide()
        self.hide()

    @property
    def names(self) -> list[str]:
        """What is said of each file, in order."""
        return [line.accessibleName() for line in self._lines]

    def show_files(self, files: Sequence[Attachment]) -> None:
        """These files go with the question."""
        for line in self._lines:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines = [self._line(place, each) for place, each in enumerate(files)]
        for place, line in enumerate(self._lines):
            self._column.insertWidget(place, line)
        self._fit()

    def say(self, text: str, is_reading: bool = False) -> None:
        """What they cost, what is to be known about them, or what is being read."""
        self.says.setText(text)
        self.says.setVisible(bool(text))
        self.stop.setVisible(is_reading)
        self._fit()

    def _fit(self) -> None:
        self.setVisible(bool(self._lines or self.says.text()))

    def _line(self, place: int, file: Attachment) -> QWidget:
        line = QWidget(self)
        size = tr("{count:,} characters", count=len(file.text))
        line.setAccessibleName(f"{file.title}, {size}")
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        name = Label(elided(QFontMetrics(theme.text_font()), file.title, "", NAME_WIDTH), line)
        remove = _button(tr("Take {name} away", name=file.name), line)
        remove.clicked.connect(lambda: self.remove_wanted.emit(place))
        row.addWidget(name)
        row.addWidget(SoftLabel(size, line))
        row.addWidget(remove)
        row.addStretch(1)
        return line


def _button(says: str, parent: QWidget) -> QToolButton:
    button = QToolButton(parent)
    button.setObjectName("action")
    button.setIcon(icon("close"))
    button.setIconSize(QSize(12, 12))
    button.setFixedSize(BUTTON, BUTTON)
    button.setAccessibleName(says)
    button.setToolTip(tool_tip(says))
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
