"""How the next token is chosen: all sampling settings of a conversation, in a popover with those of its template."""

from __future__ import annotations

from typing import Any, TypeVar

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QHBoxLayout,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.composer.template_form import TemplateForm
from app.widgets.form import add_field, form, note
from app.widgets.plain import Label, SoftLabel, tool_tip
from engine import Sampling

_ABOUT = {
    "temperature": ("Temperature", "0 always takes the likeliest token; higher is more varied."),
    "top_p": ("Top-p", "Keeps the likeliest tokens that together have this share; 1 keeps all."),
    "top_k": ("Top-k", "Keeps this many of the likeliest tokens; 0 keeps all."),
    "min_p": ("Min-p", "Drops tokens less likely than this share of the likeliest; 0 drops none."),
    "repetition_penalty": (
        "Repetition penalty",
        "Above 1, what this answer has said already becomes less likely.",
    ),
    "seed": ("Seed", "The same seed gives the same answer; “random” draws a new one each time."),
    "max_tokens": ("Length", "Tokens after which an answer ends at the latest."),
}
_RANDOM = -1
Field = TypeVar("Field", QSpinBox, QDoubleSpinBox)


class SamplingForm(QWidget):
    """One field for each setting, with what it is for under it where that `is_explained`, else on pointing at it.
    Signals: changed(Sampling) whenever the user changes one."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None, is_explained: bool = False) -> None:
        super().__init__(parent)
        self.fields: dict[str, QSpinBox | QDoubleSpinBox] = {
            "temperature": _decimal(5.0, 0.1),
            "top_p": _decimal(1.0, 0.05),
            "top_k": _whole(0, 1_000_000, 10),
            "min_p": _decimal(1.0, 0.01),
            "repetition_penalty": _decimal(10.0, 0.05, least=0.01),
            "seed": _whole(_RANDOM, 2**31 - 1, 1),
            "max_tokens": _whole(1, 1_000_000, 64),
        }
        self.fields["seed"].setSpecialValueText("random")
        rows = form()
        rows.setVerticalSpacing(8)
        self.setLayout(rows)
        for name, field in self.fields.items():
            label, about = _ABOUT[name]
            field.setAccessibleName(label)
            field.setAccessibleDescription(about)
            field.setToolTip(tool_tip(about))
            field.valueChanged.connect(self._on_change)
            add_field(rows, label, field, *([note(about)] if is_explained else []))

    @property
    def label_width(self) -> int:
        """Pixels of the widest label."""
        return max(self.fontMetrics().horizontalAdvance(label) for label, _ in _ABOUT.values())

    def set_values(self, values: Sampling) -> None:
        """Show these values; nothing is signalled."""
        for name, field in self.fields.items():
            value = getattr(values, name)
            field.blockSignals(True)
            field.setValue(_RANDOM if value is None else min(value, field.maximum()))
            field.blockSignals(False)

    def values(self) -> Sampling:
        """What the fields hold."""
        held: dict[str, Any] = {name: field.value() for name, field in self.fields.items()}
        if held["seed"] == _RANDOM:
            held["seed"] = None
        return Sampling(**held)

    def _on_change(self) -> None:
        self.changed.emit(self.values())


class SamplingPopover(QWidget):
    """How a conversation is answered, in a small window that closes when anything else is pressed. Attributes: form and
    template, the two parts of it; `template` has a signal of its own.

    Signals: changed(Sampling), closed().
    """

    changed = Signal(object)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAccessibleName("Settings of this conversation")
        self._defaults = Sampling()
        self._advice: Sampling | None = None
        self._button: QWidget | None = None
        self.form = SamplingForm(self)
        self.form.changed.connect(self._on_change)
        self.template = TemplateForm(self.form.label_width, self)
        self.note = SoftLabel(self)
        self.advice_button = QPushButton("Makers' advice", self)
        self.advice_button.setToolTip("How the makers of this model advise to sample")
        self.advice_button.clicked.connect(lambda: self._set(self._advice or self._defaults))
        self.reset_button = QPushButton("Reset", self)
        self.reset_button.setToolTip("Back to the settings of new conversations")
        self.reset_button.clicked.connect(self._reset)
        self._lay_out()

    def _lay_out(self) -> None:
        bottom = QHBoxLayout()
        bottom.addStretch()
        bottom.addWidget(self.advice_button)
        bottom.addWidget(self.reset_button)
        self._prompt_title = _title("How the prompt is made", self)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(self._prompt_title)
        column.addWidget(self.template)
        column.addWidget(_title("How the next token is chosen", self))
        column.addWidget(self.note)
        column.addSpacing(4)
        column.addWidget(self.form)
        column.addLayout(bottom)

    def open_above(self, button: QWidget, values: Sampling, defaults: Sampling, advice: Sampling | None = None) -> None:
        """Show these values just above `button`; Reset goes back to `defaults`. `advice` is how the makers of the model
        say to sample, None where they say nothing."""
        self._defaults, self._advice, self._button = defaults, advice, button
        self.form.set_values(values)
        self._say_whose(values)
        self.fit()
        self.show()
        self.form.fields["temperature"].setFocus()

    def fit(self) -> None:
        """Take the size that the parts need, above the button, as far as the screen reaches."""
        if self._button is None:
            return
        for widget in (self._prompt_title, self.template):
            widget.setVisible(not self.template.is_empty)
        self.adjustSize()
        place = self._button.mapToGlobal(QPoint(0, -self.height() - 8))
        place.setY(max(place.y(), self._button.screen().availableGeometry().top() + 8))
        self.move(place)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.closed.emit()

    def _say_whose(self, values: Sampling) -> None:
        is_advice = values == self._advice
        whose = "As the model's makers advise" if is_advice else "For this conversation"
        self.note.setText(f"{whose}, from the next answer on.")
        self.advice_button.setVisible(self._advice is not None and not is_advice)

    def _on_change(self, values: Sampling) -> None:
        self._say_whose(values)
        self.changed.emit(values)

    def _set(self, values: Sampling) -> None:
        self.form.set_values(values)
        self._on_change(values)

    def _reset(self) -> None:
        self._set(self._defaults)
        self.template.reset()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        painter.setPen(QColor(colours.edge))
        painter.setBrush(QColor(colours.page))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))


def _title(text: str, parent: QWidget) -> Label:
    title = Label(text, parent)
    title.setFont(theme.text_font(bold=True))
    return title


def _decimal(most: float, step: float, least: float = 0.0) -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setRange(least, most)
    field.setSingleStep(step)
    return _quiet(field)


def _whole(least: int, most: int, step: int) -> QSpinBox:
    field = QSpinBox()
    field.setRange(least, most)
    field.setSingleStep(step)
    return _quiet(field)


def _quiet(field: Field) -> Field:
    """A field that tells its value when typing is done, not at every key."""
    field.setKeyboardTracking(False)
    field.setMinimumWidth(112)
    field.lineEdit().setTextMargins(6, 0, 0, 0)
    return field
