"""Text cut to the room there is, where what stands at its end must stay."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics


def elided(metrics: QFontMetrics, text: str, tail: str, room: int) -> str:
    """`text`, cut in its middle where both do not fit into `room` pixels, and the whole `tail`."""
    space = max(0, room - metrics.horizontalAdvance(tail))
    return metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, space).replace("……", "…") + tail
