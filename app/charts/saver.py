"""Asks where a chart is to be kept, and keeps it there."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.charts.card import Card
from app.charts.export import KINDS, as_csv, as_png, as_svg, write_file
from engine import HeadstartError


class Saver(QObject):
    """Attributes: dialog: the one on screen, None when there is none.

    Signals: saved(str): the file is written; failed(str sentence, str detail).
    """

    saved = Signal(str)
    failed = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.dialog: QFileDialog | None = None
        self._window = parent

    def ask(self, card: Card, kind: str) -> None:
        """Let the user choose a file for the chart as it is now."""
        data = self.render(card, kind)
        dialog = self.dialog = QFileDialog(self._window, f"Save “{card.accessibleName()}”")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(f"{KINDS[kind]} (*.{kind})")
        dialog.setDefaultSuffix(kind)
        dialog.selectFile(f"headstart-{re.sub('[^a-z]+', '-', card.accessibleName().lower())}.{kind}")
        dialog.fileSelected.connect(lambda path: self.save(Path(path), data))
        dialog.finished.connect(self._forget)
        dialog.open()

    def save(self, path: Path, data: bytes) -> None:
        """Write the file, or say why it cannot be written."""
        try:
            write_file(path, data)
        except HeadstartError as error:
            self.failed.emit(str(error), error.detail)
        else:
            self.saved.emit(str(path))

    def render(self, card: Card, kind: str) -> bytes:
        """A chart as the bytes of a file: the newest state, whatever is hovered, without buttons."""
        if kind == "csv":
            return as_csv(card.table())
        copy = card.copy()
        copy.hide_buttons()
        copy.resize(card.width() + 32, card.height() + 32)
        copy.redraw()
        data = as_png(copy) if kind == "png" else as_svg(copy, card.accessibleName())
        copy.deleteLater()
        return data

    def _forget(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
        self.dialog = None
