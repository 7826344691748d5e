"""What is happening while a model is fetched or loaded: a thin bar, the stage in words, and a way to stop it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.language import numeral, tr, translated
from app.widgets.plain import SoftLabel
from engine import Loading

STEPS = 1000
LOADING = tr("Loading the model")
"""Said before every stage, but not twice before the stage that is called the same."""


class LoadingBar(QWidget):
    """The bar, hidden while nothing is loaded. Signals: cancel_wanted()."""

    cancel_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._bar, self._says = QProgressBar(self), SoftLabel(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(LOADING)
        self.cancel = QPushButton(tr("Cancel"), self)
        self.cancel.setObjectName("link")
        self.cancel.setAccessibleName(tr("Cancel loading the model"))
        self.cancel.clicked.connect(self._on_cancel)
        line = QHBoxLayout()
        line.addWidget(self._says, 1)
        line.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 8, 24, 8)
        column.setSpacing(4)
        column.addLayout(line)
        column.addWidget(self._bar)
        self.hide()

    @property
    def text(self) -> str:
        """The stage shown."""
        return self._says.text()

    def show_stage(self, event: Loading) -> None:
        """Show this stage; a bar without a known share stays empty instead of running back and forth."""
        parts = [LOADING] if event.stage in ("", "Loading the model") else [LOADING, translated(event.stage)]
        parts += [] if event.fraction is None else [numeral(event.fraction, ".0%")]
        self._says.setText("  ·  ".join(parts))
        self._bar.setRange(0, STEPS)
        self._bar.setValue(round(STEPS * (event.fraction or 0)))
        self.cancel.setEnabled(True)
        self.show()

    def _on_cancel(self) -> None:
        self._says.setText(tr("Stopping  ·  the step that has begun is ended first"))
        self.cancel.setEnabled(False)
        self.cancel_wanted.emit()
