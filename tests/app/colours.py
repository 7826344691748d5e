"""The colours of a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage


def colours(picture: QImage | Path) -> set[str]:
    """Every colour that a picture shows, as "#rrggbb"."""
    image = QImage(str(picture)) if isinstance(picture, Path) else picture
    pixels = np.frombuffer(image.convertToFormat(QImage.Format.Format_RGB32).constBits(), np.uint32)
    return {f"#{value & 0xFFFFFF:06x}" for value in np.unique(pixels).tolist()}
