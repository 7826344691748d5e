"""The dialog for what holds for the whole program and for new conversations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.composer.sampling import SamplingForm
from app.language import tr
from app.settings import MOST_MEGABYTES
from app.translations import offered
from app.widgets.form import add_field, form, note
from app.widgets.plain import Label
from app.widgets.room import fit, scrolling
from engine import Sampling

FIRST_SIZE, LEAST_WIDTH = QSize(800, 720), 720
"""Pixels of the dialog where the screen has room, and below what width its columns stand one under the other."""
SYSTEM = ("system", tr("As the system"))
THEMES = (SYSTEM, ("light", tr("Light")), ("dark", tr("Dark")))
DEVICES = (("auto", tr("Fastest there is")), ("cuda", "CUDA"), ("mps", "MPS"), ("cpu", "CPU"))
TOO_LONG = (("ask", tr("Ask")), ("trim", tr("Leave out its oldest turns")), ("refuse", tr("Only say so")))
DTYPES = (
    ("auto", tr("Measure at load")),
    ("fp32", "fp32"),
    ("bf16", "bf16"),
    ("fp16", "fp16"),
    ("int8", tr("int8, for decoding")),
    ("int4", tr("int4, for decoding")),
)
AHEAD = (("plugged", tr("Not on battery")), ("always", tr("Always")), ("never", tr("Never")))


@dataclass(frozen=True, slots=True)
class PreferenceValues:
    """What the dialog shows and gives back. `cache_budget_mb` 0 chooses by the free memory, `disk_budget_mb` -1 by the
    free disk space."""

    theme: str
    device: str
    dtype: str
    cache_budget_mb: int
    disk_budget_mb: int
    sampling: Sampling
    system_prompt: str
    language: str = "system"
    too_long: str = "ask"
    write_titles: bool = False
    look_for_updates: bool = False
    read_ahead: str = "plugged"
    write_ahead: bool = True


class PreferencesDialog(QDialog):
    """One field for each. Signals: saved(PreferenceValues), deletion_wanted(), graphics_wanted().

    `about` says for each field what it is for, and stands under it; `budget_note` says what the cache of the present
    model takes, `ahead_note` what was read ahead so far; `quality` what a number format costs in quality, "" where
    nobody knows; `offers_updates` whether there is somebody to ask for a newer version, `offers_graphics` whether
    software for a graphics card can be installed.
    """

    saved = Signal(object)
    deletion_wanted = Signal()
    graphics_wanted = Signal()

    def __init__(
        self,
        values: PreferenceValues,
        about: Mapping[str, str],
        parent: QWidget | None = None,
        budget_note: str = "",
        quality: Callable[[str], str] = lambda _: "",
        offers_updates: bool = False,
        offers_graphics: bool = False,
        ahead_note: str = "",
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Preferences"))
        self.setModal(True)
        self.theme = _choice(THEMES, values.theme)
        self.language = _choice((SYSTEM, *offered()), values.language)
        self.device = _choice(DEVICES, values.device)
        self.dtype = _choice(DTYPES, values.dtype)
        self._quality = quality
        self.quality = note("")
        self.dtype.currentIndexChanged.connect(self._show_quality)
        self._show_quality()
        self.budget = _megabytes(0, values.cache_budget_mb)
        self.disk = _megabytes(-1, values.disk_budget_mb)
        self.budget_note = note(budget_note)
        self.too_long = _choice(TOO_LONG, values.too_long)
        self.read_ahead = _choice(AHEAD, values.read_ahead)
        self.ahead_note = note(ahead_note)
        self.write_ahead = QCheckBox(tr("Write ahead"))
        self.write_ahead.setChecked(values.write_ahead)
        self.graphics = QPushButton(tr("Use my graphics card…"))
        self.graphics.setAutoDefault(False)
        self.graphics.clicked.connect(self.graphics_wanted)
        self._offers_graphics = offers_graphics
        self.write_titles = QCheckBox(tr("Have the model write titles"))
        self.write_titles.setChecked(values.write_titles)
        self.look_for_updates = QCheckBox(tr("Look for a newer version at each start"))
        self.look_for_updates.setChecked(values.look_for_updates)
        self.look_for_updates.setHidden(not offers_updates)
        self.sampling = SamplingForm(is_explained=True)
        self.sampling.set_values(values.sampling)
        self.system_prompt = QPlainTextEdit(values.system_prompt)
        self.system_prompt.setObjectName("field")
        self.system_prompt.setTabChangesFocus(True)
        self.system_prompt.setPlaceholderText(tr("None"))
        self.system_prompt.setMinimumHeight(96)
        self._lay_out(about)

    def _lay_out(self, about: Mapping[str, str]) -> None:
        left, right = self._left_column(about), QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(_heading(tr("Sampling of new conversations")))
        right.addWidget(note(tr("As long as nothing is changed here, a model begins as its makers advise.")))
        right.addWidget(self.sampling)
        right.addStretch()
        right.addWidget(self.write_ahead)
        right.addWidget(note(about.get("write_ahead", "")))
        right.addWidget(self.write_titles)
        right.addWidget(note(about.get("write_titles", "")))
        right.addWidget(self.look_for_updates)
        asking = note(about.get("look_for_updates", ""))
        asking.setHidden(self.look_for_updates.isHidden())
        right.addWidget(asking)
        content = QWidget()
        self._columns = columns = QHBoxLayout(content)
        columns.setContentsMargins(0, 0, 12, 0)
        columns.setSpacing(32)
        columns.addLayout(left, 3)
        columns.addLayout(right, 2)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        buttons.button(QDialogButtonBox.StandardButton.Save).setObjectName("primary")
        for button in buttons.buttons():
            button.setIcon(QIcon())
        delete = buttons.addButton(tr("Delete all my data…"), QDialogButtonBox.ButtonRole.ResetRole)
        delete.setAutoDefault(False)
        delete.clicked.connect(self.deletion_wanted)
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(24, 24, 24, 24)
        whole.setSpacing(16)
        whole.addWidget(scrolling(content), 1)
        whole.addWidget(buttons)
        fit(self, FIRST_SIZE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is no room for two columns, they stand one under the other."""
        super().resizeEvent(event)
        is_narrow = self.width() < LEAST_WIDTH
        self._columns.setDirection(QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight)

    def _left_column(self, about: Mapping[str, str]) -> QVBoxLayout:
        rows = (
            ("theme", tr("Colours"), self.theme),
            ("language", tr("Language"), self.language),
            ("device", tr("Device"), self.device),
            ("dtype", tr("Number format"), self.dtype),
            ("cache_budget_mb", tr("Memory"), self.budget),
            ("too_long", tr("Chat too long"), self.too_long),
            ("read_ahead", tr("Read ahead"), self.read_ahead),
            ("disk_budget_mb", tr("Keep on disk"), self.disk),
        )
        fields = form()
        beside: dict[QWidget, list[QWidget]] = {
            self.device: [self.graphics] if self._offers_graphics else [],
            self.dtype: [self.quality],
            self.budget: [self.budget_note] if self.budget_note.text() else [],
            self.read_ahead: [self.ahead_note] if self.ahead_note.text() else [],
        }
        for name, label, field in rows:
            field.setAccessibleName(label)
            field.setAccessibleDescription(about.get(name, ""))
            add_field(fields, label, field, note(about.get(name, "")), *beside.get(field, []))
        self.system_prompt.setAccessibleName(tr("System prompt of new conversations"))
        column = QVBoxLayout()
        column.setSpacing(8)
        column.addWidget(_heading(tr("Program and model")))
        column.addLayout(fields)
        column.addSpacing(8)
        column.addWidget(_heading(tr("System prompt of new conversations")))
        column.addWidget(note(about.get("system_prompt", "")))
        column.addWidget(self.system_prompt, 1)
        return column

    def _show_quality(self) -> None:
        self.quality.setText(
            self._quality(self.dtype.currentData()) or tr("How much this changes answers was not measured.")
        )

    def values(self) -> PreferenceValues:
        """What the fields hold."""
        return PreferenceValues(
            theme=self.theme.currentData(),
            language=self.language.currentData(),
            device=self.device.currentData(),
            dtype=self.dtype.currentData(),
            cache_budget_mb=self.budget.value(),
            too_long=self.too_long.currentData(),
            disk_budget_mb=self.disk.value(),
            sampling=self.sampling.values(),
            system_prompt=self.system_prompt.toPlainText(),
            write_titles=self.write_titles.isChecked(),
            look_for_updates=self.look_for_updates.isChecked(),
            read_ahead=self.read_ahead.currentData(),
            write_ahead=self.write_ahead.isChecked(),
        )

    def _save(self) -> None:
        self.saved.emit(self.values())
        self.accept()


def _choice(options: tuple[tuple[str, str], ...], chosen: str) -> QComboBox:
    box = QComboBox()
    for value, label in options:
        box.addItem(label, value)
    box.setCurrentIndex(max(0, box.findData(chosen)))
    return box


def _megabytes(least: int, chosen: int) -> QSpinBox:
    """A size in MB; the least value is "automatic"."""
    box = QSpinBox()
    box.setRange(least, MOST_MEGABYTES)
    box.setSingleStep(256)
    box.setSuffix(" MB")
    box.setSpecialValueText(tr("automatic"))
    box.setValue(chosen)
    box.lineEdit().setTextMargins(6, 0, 0, 0)
    return box


def _heading(text: str) -> Label:
    label = Label(text)
    label.setFont(theme.text_font(bold=True))
    return label
