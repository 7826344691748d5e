"""How the next token is chosen: all sampling settings of a conversation, in a popover with those of its template."""

from __future__ import annotations

from functools import reduce
from typing import Any, TypeVar

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.composer.template_form import TemplateForm
from app.language import tr
from app.widgets.form import add_field, form, note
from app.widgets.plain import Label, SoftLabel, tool_tip
from engine import Sampling

_ABOUT = {
    "temperature": (tr("Temperature"), tr("0 always takes the likeliest token; higher is more varied.")),
    "top_p": (tr("Top-p"), tr("Keeps the likeliest tokens that together have this share; 1 keeps all.")),
    "top_k": (tr("Top-k"), tr("Keeps this many of the likeliest tokens; 0 keeps all.")),
    "min_p": (tr("Min-p"), tr("Drops tokens less likely than this share of the likeliest; 0 drops none.")),
    "repetition_penalty": (
        tr("Repetition penalty"),
        tr("Above 1, what this answer has said already becomes less likely."),
    ),
    "presence_penalty": (
        tr("Presence penalty"),
        tr(
            "Above 0, what this answer has said already becomes less likely, however often it was said; "
            "below 0, likelier."
        ),
    ),
    "frequency_penalty": (
        tr("Frequency penalty"),
        tr("Above 0, what this answer has said becomes less likely with each time; below 0, likelier."),
    ),
    "seed": (tr("Seed"), tr("The same seed gives the same answer; “random” draws a new one each time.")),
    "max_tokens": (tr("Length"), tr("Tokens after which an answer ends at the latest.")),
}
_RANDOM = -1
_STOP = tr(
    "An answer ends before one of these texts, which have commas between them; \\n stands for a line "
    "break, \\, for a comma. What such an answer wrote is made tokens anew with the next question, so "
    "that some of it may be read again."
)
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
            "presence_penalty": _decimal(2.0, 0.1, least=-2.0),
            "frequency_penalty": _decimal(2.0, 0.1, least=-2.0),
            "seed": _whole(_RANDOM, 2**31 - 1, 1),
            "max_tokens": _whole(1, 1_000_000, 64),
        }
        self.fields["seed"].setSpecialValueText(tr("random"))
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

    Signals: changed(Sampling), stop_changed(tuple of texts), kept_for_new(Sampling): new conversations are to begin
    with these, too; closed().
    """

    changed = Signal(object)
    stop_changed = Signal(object)
    kept_for_new = Signal(object)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAccessibleName(tr("Settings of this conversation"))
        self._defaults = Sampling()
        self._advice: Sampling | None = None
        self._button: QWidget | None = None
        self.form = SamplingForm(self)
        self.form.changed.connect(self._on_change)
        self.template = TemplateForm(self.form.label_width, self)
        self.stop = QLineEdit(self)
        self.stop.setPlaceholderText(tr("None"))
        self.stop.setAccessibleName(tr("Stop at"))
        self.stop.setAccessibleDescription(_STOP)
        self.stop.setToolTip(tool_tip(_STOP))
        self.stop.editingFinished.connect(self._on_stop)
        self.note = SoftLabel(self)
        self.advice_button = QPushButton(tr("Makers' advice"), self)
        self.advice_button.setToolTip(tr("How the makers of this model advise to sample"))
        self.advice_button.clicked.connect(lambda: self._set(self._advice or self._defaults))
        self.keep_button = QPushButton(tr("Use for new ones"), self)
        self.keep_button.setToolTip(tr("New conversations begin with these settings, too"))
        self.keep_button.clicked.connect(self._on_keep)
        self.reset_button = QPushButton(tr("Reset"), self)
        self.reset_button.setToolTip(tr("Back to the settings of new conversations"))
        self.reset_button.clicked.connect(self._reset)
        self._lay_out()

    def _lay_out(self) -> None:
        bottom = QHBoxLayout()
        bottom.addStretch()
        bottom.addWidget(self.keep_button)
        bottom.addWidget(self.advice_button)
        bottom.addWidget(self.reset_button)
        ending = QFormLayout()
        ending.setSpacing(8)
        label = Label(tr("Stop at"), self)
        label.setMinimumWidth(self.form.label_width)
        ending.addRow(label, self.stop)
        self._prompt_title = _title(tr("How the prompt is made"), self)
        self._inside = QWidget()
        parts = QVBoxLayout(self._inside)
        parts.setContentsMargins(0, 0, 8, 0)
        parts.setSpacing(8)
        parts.addWidget(self._prompt_title)
        parts.addWidget(self.template)
        parts.addWidget(_title(tr("How the next token is chosen"), self))
        parts.addWidget(self.note)
        parts.addSpacing(4)
        parts.addWidget(self.form)
        parts.addLayout(ending)
        self._area = QScrollArea(self)
        self._area.setAccessibleName(tr("Settings of this conversation"))
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidgetResizable(True)
        self._area.setWidget(self._inside)
        self._area.setMinimumHeight(120)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 8, 16)
        column.setSpacing(8)
        column.addWidget(self._area, 1)
        column.addLayout(bottom)

    def open_above(
        self,
        button: QWidget,
        values: Sampling,
        defaults: Sampling,
        advice: Sampling | None = None,
        stop: tuple[str, ...] = (),
    ) -> None:
        """Show these values just above `button`; Reset goes back to `defaults`. `advice` is how the makers of the model
        say to sample, None where they say nothing. `stop` are the texts before which answers end."""
        self.stop.setText(written_stop(stop))
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
        self._fit_size(self._button.screen().availableGeometry().height() - 16)
        place = self._button.mapToGlobal(QPoint(0, -self.height() - 8))
        place.setY(max(place.y(), self._button.screen().availableGeometry().top() + 8))
        self.move(place)

    def _fit_size(self, most: int) -> None:
        """As large as the parts want to be; where the screen is lower they scroll."""
        inside, frame = self._inside.sizeHint(), self._column.contentsMargins()
        bar = self._area.verticalScrollBar().sizeHint().width()
        self._area.setMinimumWidth(inside.width() + bar)
        bottom = self.reset_button.sizeHint().height() + 8
        self.resize(self.minimumSizeHint().width(), min(most, inside.height() + bottom + frame.top() + frame.bottom()))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.closed.emit()

    def _say_whose(self, values: Sampling) -> None:
        is_advice = values == self._advice
        whose = tr("As the model's makers advise") if is_advice else tr("For this conversation")
        self.note.setText(tr("{whose}, from the next answer on.", whose=whose))
        self.advice_button.setVisible(self._advice is not None and not is_advice)
        self.keep_button.setVisible(values != self._defaults)

    def _on_change(self, values: Sampling) -> None:
        self._say_whose(values)
        self.changed.emit(values)

    def _on_stop(self) -> None:
        self.stop_changed.emit(read_stop(self.stop.text()))

    def _on_keep(self) -> None:
        self._defaults = self.form.values()
        self.kept_for_new.emit(self._defaults)
        self._say_whose(self._defaults)

    def _set(self, values: Sampling) -> None:
        self.form.set_values(values)
        self._on_change(values)

    def _reset(self) -> None:
        self._set(self._defaults)
        self.stop.clear()
        self._on_stop()
        self.template.reset()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        painter.setPen(QColor(colours.edge))
        painter.setBrush(QColor(colours.page))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))


def read_stop(line: str) -> tuple[str, ...]:
    """The texts of a line with commas between them."""
    parts, now = [], ""
    letters = iter(line)
    for letter in letters:
        if letter == ",":
            parts.append(now)
            now = ""
        elif letter == "\\":
            escaped = next(letters, "\\")
            now += {"n": "\n", "t": "\t"}.get(escaped, escaped)
        else:
            now += letter
    return tuple(dict.fromkeys(part for part in (*parts, now) if part.strip(" ")))


def written_stop(texts: tuple[str, ...]) -> str:
    """The line that `read_stop` reads these texts from."""
    marks = (("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), (",", "\\,"))
    return ",".join(reduce(lambda text, mark: text.replace(*mark), marks, text) for text in texts)


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
