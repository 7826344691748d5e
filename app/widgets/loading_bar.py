"""What is happening while a model is loaded: a thin bar and the stage in words."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QProgressBar, QVBoxLayout, QWidget

from app import theme
from engine import Loading

STEPS = 1000


class LoadingBar(QWidget):
    """Hidden while nothing is loaded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar, self._says = QProgressBar(self), QLabel(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Loading the model")
        self._says.setObjectName("soft")
        self._says.setFont(theme.text_font(theme.SMALL))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 8, 24, 8)
        column.setSpacing(4)
        column.addWidget(self._says)
        column.addWidget(self._bar)
        self.hide()

    @property
    def text(self) -> str:
        """The stage shown."""
        return self._says.text()

    def show_stage(self, event: Loading) -> None:
        """Show this stage; a bar without a known share stays empty instead of running back and forth."""
        share = "" if event.fraction is None else f"  ·  {event.fraction:.0%}"
        self._says.setText(f"Loading the model  ·  {event.stage}{share}")
        self._bar.setRange(0, STEPS)
        self._bar.setValue(round(STEPS * (event.fraction or 0)))
        self.show()
