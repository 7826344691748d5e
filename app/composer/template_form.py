"""What a user can choose of how the chat template makes the prompts of a conversation, each choice with its price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QWidget

from app import words
from app.language import tr
from app.widgets.plain import Label, SoftLabel, tool_tip
from engine import NOTHING_CHOSEN, Preview, TemplateSettings

BY_ITSELF = tr("As the model does by itself")
PLACES = (
    ("auto", tr("Where the model expects it")),
    ("question", tr("In the first question")),
    ("refuse", tr("Nowhere else: refuse instead")),
)
_ABOUT = {
    "thinking": tr("Whether, or how long, the model thinks before it answers."),
    "keep_thoughts": tr("Earlier thoughts are given back to the model, where its chat template would drop them."),
    "system_place": tr("Where a system prompt goes that the chat template leaves out, refuses or moves."),
}
WIDTH, PRICE_BELOW = 344, 8
"""Pixels of the rows, in which a longer price wraps, and between a price and the next row."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Which choices make a difference: the kinds of thinking that the model knows, whether it thinks, and whether there
    is a system prompt."""

    thinking: tuple[str, ...] = ()
    has_thoughts: bool = False
    has_system_prompt: bool = False


class TemplateForm(QWidget):
    """A row for each choice that makes a difference, or that was made. Signals: changed(TemplateSettings) whenever the
    user changes one. Attributes: thinking, keep_thoughts, system_place: the fields; prices: what a change of each
    costs, by their names. The labels are at least `label_width` pixels wide."""

    changed = Signal(object)

    def __init__(self, label_width: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings, self._offered = NOTHING_CHOSEN, Offered()
        self.thinking, self.system_place = QComboBox(self), QComboBox(self)
        self.keep_thoughts = QCheckBox(tr("Keep in the history"), self)
        for value, label in PLACES:
            self.system_place.addItem(label, value)
        self.prices = {name: SoftLabel(self) for name in _ABOUT}
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setHorizontalSpacing(8)
        self._form.setVerticalSpacing(4)
        rows = (
            ("thinking", tr("Thinking"), self.thinking),
            ("keep_thoughts", tr("Thoughts"), self.keep_thoughts),
            ("system_place", tr("System prompt"), self.system_place),
        )
        for name, label, field in rows:
            field.setAccessibleName(label)
            field.setAccessibleDescription(_ABOUT[name])
            if isinstance(field, QComboBox):
                field.view().setAccessibleName(label)
            field.setToolTip(tool_tip(_ABOUT[name]))
            named = Label(label, self)
            named.setMinimumWidth(label_width)
            self._form.addRow(named, field)
            self.prices[name].setWordWrap(True)
            self.prices[name].setFixedWidth(WIDTH)
            self.prices[name].setContentsMargins(0, 0, 0, PRICE_BELOW)
            self.prices[name].setMinimumHeight(self.prices[name].fontMetrics().lineSpacing() + PRICE_BELOW)
            self._form.addRow(self.prices[name])
        self.thinking.activated.connect(lambda _: self._change(thinking=self.thinking.currentData()))
        self.system_place.activated.connect(lambda _: self._change(system_place=self.system_place.currentData()))
        self.keep_thoughts.clicked.connect(lambda is_on: self._change(keep_thoughts=is_on))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to choose."""
        return not any(self._is_shown(name) for name in _ABOUT)

    @property
    def others(self) -> dict[str, list[tuple[str, TemplateSettings]]]:
        """What else could be chosen, by the name of its field, each with what it is called."""
        settings = self._settings
        thinking = [(_named(each), replace(settings, thinking=each)) for each in ("", *self._offered.thinking)]
        places: list[Any] = [(label, replace(settings, system_place=value)) for value, label in PLACES]  # type: ignore[arg-type]
        kept = [("", replace(settings, keep_thoughts=not settings.keep_thoughts))]
        all_ = {"thinking": thinking, "keep_thoughts": kept, "system_place": places}
        return {
            name: [other for other in others if other[1] != settings]
            for name, others in all_.items()
            if self._is_shown(name)
        }

    def show_settings(self, settings: TemplateSettings, offered: Offered) -> None:
        """Show these settings, and which others there are; nothing is signalled."""
        known = settings.thinking if settings.thinking in offered.thinking else ""
        self._settings, self._offered = replace(settings, thinking=known), offered
        self.thinking.clear()
        for value in ("", *offered.thinking):
            self.thinking.addItem(_named(value), value)
        self.thinking.setCurrentIndex(self.thinking.findData(known))
        self.keep_thoughts.setChecked(settings.keep_thoughts)
        self.system_place.setCurrentIndex(self.system_place.findData(settings.system_place))
        for name, field in (
            ("thinking", self.thinking),
            ("keep_thoughts", self.keep_thoughts),
            ("system_place", self.system_place),
        ):
            self._form.setRowVisible(field, self._is_shown(name))
            self._form.setRowVisible(self.prices[name], self._is_shown(name))
            self.prices[name].clear()

    def show_prices(self, now: Preview, previews: Mapping[TemplateSettings, Preview]) -> None:
        """What changes would cost: the draft as it is, and under the settings of `others`."""
        for name, others in self.others.items():
            found = [(label, words.change_of_prompt(now, previews[each])) for label, each in others if each in previews]
            is_alike = len({price for _, price in found}) == 1
            says = found[0][1] if is_alike else "; ".join(map(": ".join, found))
            self.prices[name].setText(tr("Changes the prompt: {says}.", says=says) if found else "")

    def reset(self) -> None:
        """Choose nothing, as in new conversations."""
        if self._settings != NOTHING_CHOSEN:
            self.changed.emit(NOTHING_CHOSEN)

    def _is_shown(self, name: str) -> bool:
        offered = {
            "thinking": bool(self._offered.thinking),
            "keep_thoughts": self._offered.has_thoughts,
            "system_place": self._offered.has_system_prompt,
        }
        return offered[name] or getattr(self._settings, name) != getattr(NOTHING_CHOSEN, name)

    def _change(self, **values: Any) -> None:
        self.changed.emit(replace(self._settings, **values))


def _named(thinking: str) -> str:
    return thinking.capitalize() if thinking else BY_ITSELF
