"""The bar in which something is looked for in the conversation in view."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from app.language import tr
from app.widgets.icons import icon
from app.widgets.plain import SoftLabel, tool_tip


class FindBar(QWidget):
    """A field, how many messages hold what is in it, and ways to the next and the one before. Enter goes on, Shift and
    Enter back, Escape closes.

    Signals: changed(str), stepped(int): 1 to the next, -1 to the one before; closed().
    """

    changed = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(tr("Find in this conversation"))
        self.field.setAccessibleName(tr("Find in this conversation"))
        self.field.textChanged.connect(self.changed)
        self.field.installEventFilter(self)
        self.count = SoftLabel(self)
        self.before = self._button("up", tr("The match before (Shift+Enter)"))
        self.after = self._button("down", tr("The next match (Enter)"))
        self.close_button = self._button("close", tr("Close (Esc)"))
        self.before.clicked.connect(lambda: self.stepped.emit(-1))
        self.after.clicked.connect(lambda: self.stepped.emit(1))
        self.close_button.clicked.connect(self.closed)
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 8, 16, 8)
        row.setSpacing(6)
        row.addWidget(self.field, 1)
        for widget in (self.count, self.before, self.after, self.close_button):
            row.addWidget(widget)
        self.hide()

    def _button(self, name: str, says: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName("action")
        button.setIcon(icon(name))
        button.setIconSize(QSize(12, 12) if name in ("up", "down") else QSize(16, 16))
        button.setFixedSize(24, 24)
        button.setAccessibleName(says)
        button.setToolTip(tool_tip(says))
        return button

    def show_count(self, number: int, of: int) -> None:
        """Which of the messages that were found is shown, counted from 1; of 0 where none was."""
        wanted = bool(self.field.text())
        self.count.setText(
            "" if not wanted else tr("{number} of {of} messages", number=number, of=of) if of else tr("Not found")
        )
        for button in (self.before, self.after):
            button.setEnabled(of > 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:  # it means this bar, not an answer that is being written
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.closed.emit()
                return True
        is_enter = isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.type() == QEvent.Type.KeyPress:
            has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)  # type: ignore[attr-defined]
            self.stepped.emit(-1 if has_shift else 1)
            return True
        return super().eventFilter(watched, event)
