"""What can be done with one message: small buttons that show when the message is pointed at or focused."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.widgets.icons import icon
from app.widgets.plain import SoftLabel, tool_tip

HEIGHT = 24


class ActionButton(QToolButton):
    """A small button that is always there for the keyboard and painted only when its row is awake.

    Signals: pointed(bool) when it is pointed at or focused, and when no longer.
    """

    pointed = Signal(bool)

    def __init__(self, name: str, says: str, row: MessageActions, shortcut: str = "") -> None:
        super().__init__(row)
        self._row = row
        self._says = f"{says} ({shortcut})" if shortcut else says
        self._pointed = False
        self.setObjectName("action")
        self.setIcon(icon(name))
        self.setIconSize(QSize(16, 16))
        self.setFixedSize(HEIGHT, HEIGHT)
        self.setAccessibleName(says)
        self.setToolTip(tool_tip(self._says))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def say_also(self, more: str) -> None:
        """Add something to what the button says of itself; "" takes it away again."""
        self.setToolTip(tool_tip(f"{self._says}: {more}" if more else self._says))
        self.setAccessibleDescription(more)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._row.update_buttons()
        self._update_pointed()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._row.update_buttons()
        self._update_pointed()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._update_pointed(hovered=True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._update_pointed(hovered=False)

    def _update_pointed(self, hovered: bool | None = None) -> None:
        pointed = self.hasFocus() or (self.underMouse() if hovered is None else hovered)
        if pointed != self._pointed:
            self._pointed = pointed
            self.pointed.emit(pointed)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row.awake:
            super().paintEvent(event)


class MessageActions(QWidget):
    """The row of buttons. Signals: copy(), retry(), edit(), prove(), sibling(int) with -1 for the one before and +1 for
    the next, edit_pointed(bool) when the edit button is pointed at or focused, and when no longer."""

    copy = Signal()
    retry = Signal()
    edit = Signal()
    prove = Signal()
    sibling = Signal(int)
    edit_pointed = Signal(bool)

    def __init__(self, is_answer: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(HEIGHT)
        self._hovered, self._always, self._versions = False, False, 1
        self._followers: list[QWidget] = []
        self._copy = ActionButton("copy", "Copy this answer" if is_answer else "Copy this question", self)
        self._copy.clicked.connect(self._on_copy)
        self._again = ActionButton("retry", "Answer again" if is_answer else "Answer this", self, "Ctrl+R")
        self._again.clicked.connect(self.retry)
        self._edit = ActionButton("edit", "Edit this question", self)
        self._edit.clicked.connect(self.edit)
        self._edit.pointed.connect(self.edit_pointed)
        self._prove = ActionButton("prove", "Prove it: with the cache and without", self)
        self._prove.clicked.connect(self.prove)
        self._before = ActionButton("previous", "The version before", self)
        self._after = ActionButton("next", "The next version", self)
        self._count = SoftLabel(self)
        self._before.clicked.connect(lambda: self.sibling.emit(-1))
        self._after.clicked.connect(lambda: self.sibling.emit(1))
        self.buttons = [self._copy, self._again, self._edit, self._prove, self._before, self._after]
        self._edit.setVisible(not is_answer)
        self._prove.setVisible(is_answer)
        self.set_can_retry(is_answer)
        self._lay_out(is_answer)
        self.set_siblings(1, 1)

    def _lay_out(self, is_answer: bool) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        if not is_answer:
            row.addStretch()
        for widget in (*self.buttons[:-1], self._count, self._after):
            row.addWidget(widget)
        if is_answer:
            row.addStretch()

    @property
    def awake(self) -> bool:
        """Whether the buttons are painted."""
        return self._hovered or self._always or self._versions > 1 or any(button.hasFocus() for button in self.buttons)

    def wakes(self, widget: QWidget) -> None:
        """Paint this widget, which stands elsewhere in the message, again whenever the row is."""
        self._followers.append(widget)

    def set_hovered(self, hovered: bool) -> None:
        """The message is pointed at, or no longer."""
        self._hovered = hovered
        if not hovered:
            self._copy.setIcon(icon("copy"))
        self.update_buttons()

    def set_can_retry(self, can_retry: bool) -> None:
        """Offer to answer again; a question offers it when it has no answer."""
        self._again.setVisible(can_retry)

    def show_price(self, price: str) -> None:
        """What an edit would cost, said by its button; "" while that is not known."""
        self._edit.say_also(price)

    def set_always(self, always: bool) -> None:
        """Keep the buttons painted, as under the newest answer."""
        self._always = always
        self.update_buttons()

    def set_siblings(self, number: int, count: int) -> None:
        """Show "2/3" between two arrows where there is more than one version."""
        self._versions = count
        for widget in (self._before, self._after, self._count):
            widget.setVisible(count > 1)
        self._count.setText(f"{number}/{count}")
        self._count.setAccessibleName(f"Version {number} of {count}")
        self._before.setEnabled(number > 1)
        self._after.setEnabled(number < count)
        self.update_buttons()

    def update_buttons(self) -> None:
        """Paint again after a change of hover or focus."""
        for widget in (*self.buttons, *self._followers):
            widget.update()

    def _on_copy(self) -> None:
        self._copy.setIcon(icon("done"))
        self.copy.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self.update_buttons()
