"""A chart as a file: the button that offers it, the question where to put it, and PNG, SVG or CSV as bytes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QImage, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton, QWidget

from app.files import write_whole
from app.language import tr
from app.widgets.icons import icon

KINDS = {"png": tr("PNG picture"), "svg": tr("SVG picture"), "csv": tr("CSV table")}
"""The endings of the files and what they are called."""

PNG_SCALE = 2
"""Pixels of a PNG for each pixel on screen, so that it is sharp in print."""

SVG_DPI = 96
"""As many units of an SVG make an inch; browsers then show it at its size on screen."""


@dataclass(frozen=True)
class Table:
    """The numbers of a chart. Each column has a heading that names its unit."""

    heading: Sequence[str]
    rows: Iterable[Sequence[object]]


def as_png(widget: QWidget) -> bytes:
    """Paint a widget into a PNG."""
    image = QImage(widget.size() * PNG_SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(PNG_SCALE)
    image.fill(0)
    widget.render(image, QPoint(0, 0))
    kept = QByteArray()
    buffer = QBuffer(kept)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(kept.data())


def as_svg(widget: QWidget, title: str) -> bytes:
    """Paint a widget into an SVG."""
    kept = QByteArray()
    buffer = QBuffer(kept)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(SVG_DPI)
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    generator.setTitle(title)
    painter = QPainter(generator)
    widget.render(painter, QPoint(0, 0))
    painter.end()
    return bytes(kept.data())


def as_csv(table: Table) -> bytes:
    """Write a table as CSV with a line for the heading; nan becomes an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.heading)
    for row in table.rows:
        writer.writerow("" if value != value else value for value in row)
    return text.getvalue().encode("utf-8")


class SaveButton(QToolButton):
    """Offers a chart as a file. The keyboard always finds it; it is painted only while its chart is pointed at
    (`set_awake`) or it has the focus.

    Signals: save_wanted(str): a file of this one of the KINDS is wanted.
    """

    save_wanted = Signal(str)

    def __init__(self, chart: QWidget) -> None:
        super().__init__(chart)
        self._awake = False
        self.setObjectName("action")
        self.setIcon(icon("save"))
        self.setIconSize(QSize(14, 14))
        self.setFixedSize(16, 16)
        self.setAccessibleName(tr("Save this chart"))
        self.setToolTip(tr("Save as PNG, SVG or CSV"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self._open)

    def menu_to_save(self) -> QMenu:
        """A menu with an action for each kind of file."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for kind in KINDS:
            action = menu.addAction(tr("Save as &{kind}…", kind=kind.upper()))
            action.triggered.connect(lambda _=False, kind=kind: self.save_wanted.emit(kind))
        return menu

    def set_awake(self, awake: bool) -> None:
        """Whether its chart is pointed at."""
        self._awake = awake
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._awake or self.hasFocus():
            super().paintEvent(event)

    def _open(self) -> None:
        self.menu_to_save().popup(self.mapToGlobal(QPoint(0, self.height())))


class Saver(QObject):
    """Asks where a chart is to be kept, and keeps it there. `dialog` is the one on screen, None when there is none.

    Signals: saved(str): the file is written; failed(str sentence, str detail).
    """

    saved = Signal(str)
    failed = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.dialog: QFileDialog | None = None
        self._parent = parent

    def ask(self, name: str, kind: str, data: bytes) -> None:
        """Let the user choose a file for the chart with this name, whose bytes are given."""
        dialog = self.dialog = QFileDialog(self._parent, tr("Save “{name}”", name=name))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(f"{KINDS[kind]} (*.{kind})")
        dialog.setDefaultSuffix(kind)
        dialog.selectFile(f"headstart-{re.sub('[^a-z]+', '-', name.lower())}.{kind}")
        dialog.fileSelected.connect(lambda path: self.save(Path(path), data))
        dialog.finished.connect(self._forget)
        dialog.open()

    def save(self, path: Path, data: bytes) -> None:
        """Write the file, or say why it cannot be written."""
        try:
            write_whole(path, data)
        except OSError as error:
            reason = error.strerror or tr("it cannot be written")
            sentence = tr(
                "The chart cannot be saved to {parent}: {reason}. Choose another folder; the chart stays.",
                parent=path.parent,
                reason=reason,
            )
            self.failed.emit(sentence, str(error))
        else:
            self.saved.emit(str(path))

    def _forget(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
        self.dialog = None
