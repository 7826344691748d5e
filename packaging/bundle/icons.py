"""The program's icon in all sizes, from resources/icons/headstart.svg: PNG for Linux, ICO for Windows, ICNS for macOS.

`python packaging/bundle/icons.py FOLDER`. Needs PySide6 only.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SOURCE = Path(__file__).parents[2] / "resources" / "icons" / "headstart.svg"
SIZES = (16, 24, 32, 48, 64, 128, 256, 512, 1024)
ICO = (16, 24, 32, 48, 64, 128, 256)
ICNS = (
    ("icp4", 16),
    ("icp5", 32),
    ("icp6", 64),
    ("ic07", 128),
    ("ic08", 256),
    ("ic09", 512),
    ("ic10", 1024),
    ("ic11", 32),
    ("ic12", 64),
    ("ic13", 256),
    ("ic14", 512),
)


def png(renderer: QSvgRenderer, size: int) -> bytes:
    """The icon as PNG, `size` pixels wide and high."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return data.data()


def ico(pictures: dict[int, bytes]) -> bytes:
    """Windows' icon file: a table, then PNGs. A byte holds the size, 0 stands for 256."""
    place = 6 + 16 * len(ICO)
    head, body = struct.pack("<HHH", 0, 1, len(ICO)), b""
    for size in ICO:
        picture = pictures[size]
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(picture), place + len(body))
        body += picture
    return head + body


def icns(pictures: dict[int, bytes]) -> bytes:
    """macOS' icon file: PNGs, each behind its type and length."""
    body = b"".join(kind.encode() + struct.pack(">I", 8 + len(pictures[size])) + pictures[size] for kind, size in ICNS)
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def write(folder: Path) -> None:
    """All icons, into the folder: headstart-16.png and so on, headstart.ico, headstart.icns."""
    folder.mkdir(parents=True, exist_ok=True)
    renderer = QSvgRenderer(str(SOURCE))
    if not renderer.isValid():
        sys.exit(f"{SOURCE} is no picture that Qt can draw.")
    pictures = {size: png(renderer, size) for size in SIZES}
    for size, picture in pictures.items():
        (folder / f"headstart-{size}.png").write_bytes(picture)
    (folder / "headstart.ico").write_bytes(ico(pictures))
    (folder / "headstart.icns").write_bytes(icns(pictures))


if __name__ == "__main__":
    application = QGuiApplication([])
    write(Path(sys.argv[1]))
