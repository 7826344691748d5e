"""The preferences say what each of them is for where everybody sees it."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractSpinBox, QCheckBox, QComboBox, QLabel, QPlainTextEdit

from app.settings import describe
from app.window.preferences import PreferencesDialog
from tests.app.window.conftest import Screen, settle


def test_each_says_what_it_is_for_in_sight(screen: Screen) -> None:
    screen.window.commands.preferences.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, PreferencesDialog)
    settle()
    shown = [label.text() for label in dialog.findChildren(QLabel) if label.isVisible() and label.text()]
    for name in ("theme", "device", "dtype", "cache_budget_mb", "disk_budget_mb", "too_long", "system_prompt"):
        assert describe(name) in shown, name
    for field in dialog.sampling.fields.values():
        assert field.accessibleDescription() in shown
    kinds = (QAbstractSpinBox, QComboBox, QCheckBox, QPlainTextEdit)
    fields = [field for kind in kinds for field in dialog.findChildren(kind) if field.isVisible()]
    assert len([text for text in shown if text.endswith(".")]) >= len(fields), "a new one has a note, too"
