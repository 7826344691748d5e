"""What a chosen model will take of this computer's memory, and how long conversations with it may grow, before it is
opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.settings import quality
from app.widgets.plain import Label, SoftLabel
from app.widgets.work import Work
from app.words import size
from engine import LEAST_CONTEXT, ModelFit, ModelSpec

LOOKING = "Looking at the model…"
IN_8_BITS = "keys and values in 8 bits"
DRAFT = "Small model"
PARTS = ("Weights", "Room to compute in", "Conversation", DRAFT, "In all", "Free")
HALF = "What is remembered takes half of the room then, in memory and on disk."


class OpenModelDialog(QDialog):
    """Looks at the model of `spec` when it opens, off the window's thread. `says` is the sentence on show, `length` the
    choice of a context, `draft` that of a small model that writes ahead, among the paths `drafts`; both begin with what
    `spec` has. `freed` bytes become free when the present model is closed.

    Signals: chosen(int, int, str), the tokens that a conversation may grow to, 0 for as many as the computer's memory
    suggests, the bits of cached keys and values, and the path of the small model, "" for none.
    """

    chosen = Signal(int, int, str)

    def __init__(
        self,
        spec: ModelSpec,
        look: Callable[[ModelSpec], ModelFit | None],
        freed: int,
        parent: QWidget | None = None,
        drafts: Sequence[str] = (),
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Open model")
        self.setModal(True)
        self._wish, self._freed = spec.context_tokens or 0, freed
        self._spec, self._look_at = spec, look
        self._fit: ModelFit | None = None
        self.name, self.says, self.bar = Label(), Label(LOOKING), QProgressBar()
        self.name.setFont(theme.text_font(bold=True))
        self.says.setWordWrap(True)
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.length = QComboBox()
        self.length.setAccessibleName("Longest conversation")
        self.length.currentIndexChanged.connect(lambda _: self._show())
        self.draft = QComboBox()
        self.draft.setAccessibleName("Write ahead with a small model")
        for path, says in offered_drafts(spec, drafts):
            self.draft.addItem(says, path)
        self.draft.setCurrentIndex(self.draft.findData(spec.draft))
        self.draft.currentIndexChanged.connect(lambda _: self._look())
        self.rounds = QCheckBox("Cache keys and values in 8 bits")
        self.rounds.setChecked(spec.kv_bits == 8)
        self.loss = SoftLabel(f"{HALF} {quality(IN_8_BITS)}")
        self.loss.setWordWrap(True)
        self.parts = [Label() for _ in range(6)]
        self._lay_out()
        self._work: Work | None = None
        self.finished.connect(lambda _: self._stop())
        self._look()

    def _look(self) -> None:
        """Find out what the model takes, with the small one that is chosen now."""
        self._stop()
        self._fit = None  # what was found out before holds for another choice
        self.bar.show()
        self.open_button.setEnabled(False)
        spec = replace(self._spec, context_tokens=None, draft=self.draft.currentData() or "")
        self._work = work = Work(lambda _: self._look_at(spec), self)
        work.done.connect(self._on_found)
        work.failed.connect(lambda sentence, _: self._refuse(sentence))
        work.start()

    def _stop(self) -> None:
        if self._work is not None:
            self._work.stop()

    def _lay_out(self) -> None:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel)
        self.open_button = buttons.button(QDialogButtonBox.StandardButton.Open)
        self.open_button.setObjectName("primary")
        self.open_button.setEnabled(False)
        self.open_button.setDefault(True)
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setAutoDefault(False)
        for button in buttons.buttons():
            button.setIcon(QIcon())
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        self.form = QWidget()
        form = QFormLayout(self.form)
        form.setContentsMargins(0, 0, 0, 0)
        form.setSpacing(8)
        form.addRow("Longest conversation", self.length)
        form.addRow("Write ahead with", self.draft)
        for name, label in zip(PARTS, self.parts, strict=True):
            form.addRow(name, label)
        self._form = form
        self.note = SoftLabel("The same at every start, whatever is free then. A shorter conversation takes less.")
        self.note.setWordWrap(True)
        self._details = (self.form, self.note, self.rounds, self.loss)
        for widget in self._details:
            widget.hide()
        self._whole = whole = QVBoxLayout(self)
        whole.setContentsMargins(24, 24, 24, 24)
        whole.setSpacing(12)
        for part in (self.name, *self._details, self.says, self.bar):
            whole.addWidget(part)
        whole.addStretch()
        whole.addWidget(buttons)
        self.resize(520, 160)

    def _on_found(self, found: object) -> None:
        self.bar.hide()
        self._fit = fit = cast(ModelFit | None, found)
        if fit is None:  # the default model while it is not here: its size is known to fit
            self._accept()
            return
        if not self.length.count():
            self.name.setText(fit.name)
            for tokens, says in choices(fit, self._wish):
                self.length.addItem(says, tokens)
            self.length.setCurrentIndex(max(0, self.length.findData(self._wish)))
        for widget in self._details:
            widget.show()
        self._show()

    def _refuse(self, sentence: str) -> None:
        """Say why the model cannot be opened. Where the small one may be at fault, another one can be chosen."""
        self.bar.hide()
        self.says.setText(sentence)
        self.form.setVisible(bool(self.draft.currentData()))
        for field in (self.length, *self.parts):
            self._form.setRowVisible(field, False)

    def _show(self) -> None:
        """What the model takes with the length that is chosen now."""
        if self._fit is None or self.length.currentIndex() < 0:
            return
        context = int(self.length.currentData()) or self._fit.context
        fit = replace(self._fit, context=context, free=min(self._fit.free + self._freed, self._fit.total))
        figures = (fit.weights, fit.scratch, fit.conversation, fit.draft, fit.whole, fit.free)
        self._form.setRowVisible(self.length, True)
        for name, label, count in zip(PARTS, self.parts, figures, strict=True):
            label.setText(size(count))
            self._form.setRowVisible(label, name != DRAFT or bool(fit.draft))
        self.says.setText(f"Too large: {fit.ways_out}" if fit.ways_out else "")
        self.open_button.setEnabled(fit.fits)
        self.resize(self.width(), max(self.height(), self._whole.totalHeightForWidth(self.width())))

    def _accept(self) -> None:
        bits = 8 if self.rounds.isChecked() else 16
        self.chosen.emit(int(self.length.currentData() or 0), bits, self.draft.currentData() or "")
        self.accept()


def offered_drafts(spec: ModelSpec, paths: Sequence[str]) -> list[tuple[str, str]]:
    """The small models to choose from, by path and in words: none, those that lie here, and what was chosen before."""
    others = [path for path in dict.fromkeys((*paths, spec.draft)) if path and path != spec.path]
    return [("", "No small model"), *((path, Path(path).name) for path in others)]


def choices(fit: ModelFit, wish: int) -> list[tuple[int, str]]:
    """The lengths of conversations to choose from, in tokens and in words: 0 for what is chosen by itself, the powers
    of two, what was chosen before, and the longest that the model reads."""
    lengths = {LEAST_CONTEXT << power for power in range(30)} | {wish, fit.longest}
    offered = sorted(length for length in lengths if LEAST_CONTEXT <= length <= fit.longest)
    return [(0, f"Automatic ({fit.context:,} tokens)"), *((length, f"{length:,} tokens") for length in offered)]
