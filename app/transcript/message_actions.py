"""What can be done with one message: small buttons that show when the message is pointed at or focused."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.language import tr
from app.widgets.icons import icon
from app.widgets.plain import SoftLabel, tool_tip

HEIGHT = 24


class ActionButton(QToolButton):
    """A small button that is always there for the keyboard and painted only when its row is awake. It shows the icon
    called `name`, or the word `label`.

    Signals: pointed(bool) when it is pointed at or focused, and when no longer.
    """

    pointed = Signal(bool)

    def __init__(self, name: str, says: str, row: MessageActions, shortcut: str = "", label: str = "") -> None:
        super().__init__(row)
        self._row = row
        self._says = f"{says} ({shortcut})" if shortcut else says
        self._pointed = False
        self.setObjectName("words" if label else "action")
        if label:
            self.setText(label)
            self.setFixedHeight(HEIGHT)
        else:
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


class Wishes(QObject):
    """What the user wants of the messages of a transcript. All of them say it here, with their id, which travels as an
    object: it has up to 64 bits, and Qt's own int has 32.

    Signals:
        retry(): answer the last question again.
        edit(id), prove(id): write this question anew; prove what the cache did for this answer.
        sibling(id, step): show the version before (-1) or after (1) this message.
        edit_pointed(id, bool): the edit button is pointed at or focused, or no longer.
        go_on(), go_on_pointed(id, bool): write this answer on, which was cut off; that button is pointed at, or not.
        menu(id, QWidget): show what else can be done with this message, below this button.
        figures(): show the figures under all answers, or no longer.
        divergence(id): see where the prompt of this answer left what was cached.
        cure(id, key): do what one of the buttons in the warm box of this answer offers.
        unfolded(id): a part of this message was just opened or folded, and is going to take another height.
    """

    retry = Signal()
    edit = Signal(object)
    prove = Signal(object)
    sibling = Signal(object, int)
    edit_pointed = Signal(object, bool)
    go_on = Signal()
    go_on_pointed = Signal(object, bool)
    menu = Signal(object, object)
    figures = Signal()
    divergence = Signal(object)
    cure = Signal(object, str)
    unfolded = Signal(object)


class MessageActions(QWidget):
    """The row of buttons of the message with this id, which say in `wishes` what is wanted of it.

    Attributes: go_on, copy, again, edit, prove, figures, more, before, after: the buttons, in this order `buttons`.
    """

    def __init__(self, message_id: int, is_answer: bool, wishes: Wishes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(HEIGHT)
        self._hovered, self._always, self._versions = False, False, 1
        self._followers: list[QWidget] = []
        self.go_on = ActionButton("", tr("Go on with this answer, which was cut off"), self, label=tr("Continue"))
        self.copy = ActionButton("copy", tr("Copy this answer") if is_answer else tr("Copy this question"), self)
        self.again = ActionButton("retry", tr("Answer again") if is_answer else tr("Answer this"), self, "Ctrl+R")
        self.edit = ActionButton("edit", tr("Edit this answer") if is_answer else tr("Edit this question"), self)
        self.prove = ActionButton(
            "", tr("Answer this once more, remembering and from scratch"), self, label=tr("Prove it")
        )
        self.figures = ActionButton("", tr("Show the figures under answers, or hide them"), self, label=tr("Details"))
        self.more = ActionButton("menu", tr("What else can be done with this message"), self)
        self.before = ActionButton("previous", tr("The version before"), self)
        self.after = ActionButton("next", tr("The next version"), self)
        self._count = SoftLabel(self)
        own = [self.go_on, self.copy, self.again, self.edit, self.prove, self.figures, self.more]
        self.buttons = [*own, self.before, self.after]
        self._connect(message_id, wishes)
        self.go_on.hide()
        self.prove.setVisible(is_answer)
        self.figures.setVisible(is_answer)
        self.set_can_retry(is_answer)
        self._lay_out(is_answer)
        self.set_siblings(1, 1)

    def _connect(self, message_id: int, wishes: Wishes) -> None:
        self.copy.clicked.connect(lambda: self.copy.setIcon(icon("done")))
        self.again.clicked.connect(lambda: wishes.retry.emit())
        self.edit.clicked.connect(lambda: wishes.edit.emit(message_id))
        self.edit.pointed.connect(lambda pointed: wishes.edit_pointed.emit(message_id, pointed))
        self.go_on.clicked.connect(lambda: wishes.go_on.emit())
        self.go_on.pointed.connect(lambda pointed: wishes.go_on_pointed.emit(message_id, pointed))
        self.more.clicked.connect(lambda: wishes.menu.emit(message_id, self.more))
        self.prove.clicked.connect(lambda: wishes.prove.emit(message_id))
        self.figures.clicked.connect(lambda: wishes.figures.emit())
        self.before.clicked.connect(lambda: wishes.sibling.emit(message_id, -1))
        self.after.clicked.connect(lambda: wishes.sibling.emit(message_id, 1))

    def _lay_out(self, is_answer: bool) -> None:
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        if not is_answer:
            row.addStretch()
        for widget in (*self.buttons[:-1], self._count, self.after):
            row.addWidget(widget)
        if is_answer:
            row.addStretch()

    @property
    def awake(self) -> bool:
        """Whether the buttons are painted."""
        return self._hovered or self._always or self._versions > 1 or any(button.hasFocus() for button in self.buttons)

    def add(self, widget: QWidget) -> None:
        """Put this widget behind "Details", and paint it again whenever the row is."""
        self._row.insertWidget(self._row.indexOf(self.figures) + 1, widget)
        self._row.insertSpacing(self._row.indexOf(widget) + 1, 4)
        self._followers.append(widget)

    def set_hovered(self, hovered: bool) -> None:
        """The message is pointed at, or no longer."""
        self._hovered = hovered
        if not hovered:
            self.copy.setIcon(icon("copy"))
        self.update_buttons()

    def set_can_retry(self, can_retry: bool) -> None:
        """Offer to answer again; a question offers it when it has no answer."""
        self.again.setVisible(can_retry)

    def set_can_go_on(self, can_go_on: bool) -> None:
        """Offer to go on with an answer that was cut off."""
        self.go_on.setVisible(can_go_on)

    def show_price(self, price: str) -> None:
        """What an edit would cost, said by its button; "" while that is not known."""
        self.edit.say_also(price)

    def set_always(self, always: bool) -> None:
        """Keep the buttons painted, as under the newest answer."""
        self._always = always
        self.update_buttons()

    def set_siblings(self, number: int, count: int) -> None:
        """Show "2/3" between two arrows where there is more than one version."""
        self._versions = count
        for widget in (self.before, self.after, self._count):
            widget.setVisible(count > 1)
        self._count.setText(f"{number}/{count}")
        self._count.setAccessibleName(tr("Version {number} of {count}", number=number, count=count))
        self.before.setEnabled(number > 1)
        self.after.setEnabled(number < count)
        self.update_buttons()

    def update_buttons(self) -> None:
        """Paint again after a change of hover or focus."""
        for widget in (*self.buttons, *self._followers):
            widget.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self.update_buttons()
