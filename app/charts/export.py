"""A chart as a file: PNG and SVG pictures, or its numbers as CSV."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from engine import HeadstartError

KINDS = {"png": "PNG picture", "svg": "SVG picture", "csv": "CSV table"}
"""The endings of the files and what they are called."""

PNG_SCALE = 2
"""Pixels of a PNG for each pixel on screen, so that it is sharp in print."""

SVG_DPI = 96
"""As many units of an SVG make an inch; browsers then show it at its size on screen."""


@dataclass(frozen=True)
class Table:
    """Numbers with a heading for each column, the unit in it."""

    heading: Sequence[str]
    rows: Iterable[Sequence[object]]


def as_png(widget: QWidget) -> bytes:
    """A picture of a widget in pixels."""
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
    """A picture of a widget in shapes."""
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
    """The numbers, with one line for the heading; nan is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.heading)
    for row in table.rows:
        writer.writerow("" if value != value else value for value in row)
    return text.getvalue().encode("utf-8")


def write_file(path: Path, data: bytes) -> None:
    """Put `data` at `path`, in place of a file that is there only once all is written. Raises HeadstartError."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        reason = error.strerror or "it cannot be written"
        raise HeadstartError(
            f"The chart cannot be saved to {path.parent}: {reason}. Choose another folder; the chart stays.", str(error)
        ) from error
