"""Where a question is written and sent: the field, what the next prompt costs, sampling, Send or Stop."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QMimeData, QObject, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QInputMethodEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app import theme, words
from app.composer.file_row import FileRow
from app.language import tr
from app.widgets.icons import icon
from app.widgets.next_prompt import NextPrompt
from app.widgets.plain import SoftLabel, tool_tip
from engine import Preview, Sampling

EDITING_QUESTION = tr("Editing an earlier question. Sending starts a new branch; the old one is kept.")
EDITING_ANSWER = tr(
    "Editing an answer. It becomes another version, which can go on from its last word; the old one is kept."
)
FEWEST_LINES, MOST_LINES = 2, 10
PARAGRAPH_END = "\u2029"
"""What Qt puts between two lines of a plain text document. Typed or pasted it becomes a line end."""
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Composer(QWidget):
    """The field, its buttons and what they cost. Signals: send(str), stop(), draft_changed(str), files_given(list) with
    the paths of files that were dropped or pasted, editing_changed(). `sampling` and `attach` are buttons of it,
    `files` shows the files that go with the question.

    `editing` is the id of the question that sending replaces, None when it asks a new one. What is typed stays until
    `clear_sent`, so that nothing is lost when sending fails.
    """

    send = Signal(str)
    stop = Signal()
    draft_changed = Signal(str)
    files_given = Signal(list)
    editing_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.editing: int | None = None
        self._draft, self._busy, self._can_stop = "", False, True
        self._is_answer = False  # what is edited
        self._is_reading = False
        self.next_prompt = NextPrompt(self)
        self.edit = PromptEdit(self)
        self.sampling = QPushButton(self)
        self.sampling.setObjectName("quiet")
        self.attach = QPushButton(tr("Attach"), self)
        self.attach.setObjectName("quiet")
        self.attach.setIcon(icon("attach"))
        self.attach.setAccessibleName(tr("Attach files"))
        self.attach.setToolTip(tr("Attach text, Markdown, code, PDF, DOCX or HTML. Files can be dropped here, too."))
        self.files = FileRow(self)
        self.button = QPushButton(tr("Send"), self)
        self.button.setObjectName("primary")
        self.button.setMinimumWidth(64)
        self.context = SoftLabel(self)
        self._lay_out()
        self._connect()
        self.show_settings(Sampling())
        self._update_button()

    def _lay_out(self) -> None:
        self._frame = _Frame(self.edit, self)
        bottom = QHBoxLayout()
        bottom.setContentsMargins(0, 0, 0, 0)
        bottom.addWidget(self.attach)
        bottom.addWidget(self.sampling)
        bottom.addStretch()
        bottom.addWidget(self.button)
        inside = QVBoxLayout(self._frame)
        inside.setContentsMargins(8, 12, 12, 10)
        inside.setSpacing(4)
        inside.addWidget(self.files)
        field = QHBoxLayout()
        field.setContentsMargins(8, 0, 0, 0)
        field.addWidget(self.edit)
        inside.addLayout(field)
        inside.addLayout(bottom)
        self._banner = self._edit_banner()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(2)
        column.addWidget(self.next_prompt)
        column.addWidget(self._banner)
        column.addWidget(self._frame)
        column.addSpacing(4)
        column.addWidget(self.context)

    def _edit_banner(self) -> QWidget:
        banner = QWidget(self)
        row = QHBoxLayout(banner)
        row.setContentsMargins(0, 0, 0, 0)
        says = self._edit_says = SoftLabel(banner)
        cancel = QPushButton(tr("Cancel"), banner)
        cancel.setObjectName("link")
        cancel.setAccessibleName(tr("Cancel editing"))
        cancel.clicked.connect(self.stop_editing)
        row.addWidget(says, 1)
        row.addWidget(cancel)
        banner.hide()
        return banner

    def _connect(self) -> None:
        self.button.clicked.connect(self._on_button)
        self.edit.send.connect(self._on_send)
        self.edit.escape.connect(self._on_escape)
        self.edit.files_given.connect(self.files_given)
        self.edit.textChanged.connect(self._on_text)

    @property
    def is_editing_answer(self) -> bool:
        """Whether what is written takes the place of an answer."""
        return self._is_answer

    @property
    def text(self) -> str:
        """What is typed, letter by letter: Qt's own plain text has other spaces and line ends."""
        return self.edit.document().toRawText().replace(PARAGRAPH_END, "\n")

    def set_text(self, text: str) -> None:
        """Put this text in the field, the cursor at its end."""
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def clear_sent(self) -> None:
        """What was typed is sent: empty the field, or give back what was there before an earlier one was edited."""
        draft = self._draft
        self._leave_editing()
        self.set_text(draft)

    def start_editing(self, message_id: int, text: str, *, is_answer: bool = False) -> None:
        """Edit an earlier question, or an answer; what was typed comes back afterwards."""
        if self.editing is None:
            self._draft = self.text
        self.editing, self._is_answer = message_id, is_answer
        self._edit_says.setText(EDITING_ANSWER if is_answer else EDITING_QUESTION)
        self._banner.show()
        self.editing_changed.emit()
        self.set_text(text)
        self.edit.setFocus()

    def stop_editing(self) -> None:
        """Give up editing and bring back what was typed before."""
        if self.editing is not None:
            self.clear_sent()

    def set_busy(self, busy: bool, can_stop: bool = True) -> None:
        """Turn Send into Stop while an answer is on its way."""
        self._busy = busy
        self._can_stop = can_stop
        self._update_button()

    def set_reading(self, is_reading: bool) -> None:
        """A file is being read: nothing is sent without it."""
        self._is_reading = is_reading
        self._update_button()

    def show_preview(self, preview: Preview | None) -> None:
        """Show what the next prompt would cost and how full the context is with it; None while that is not known."""
        self.next_prompt.show_preview(preview)
        self.context.setText(words.context(preview) if preview else "")

    def show_settings(self, sampling: Sampling, thinking: str = "") -> None:
        """Sum up how tokens are chosen, and what was chosen about thoughts."""
        says = words.sampling(sampling, thinking)
        self.sampling.setText(says)
        self.sampling.setAccessibleName(tr("Settings of this conversation: {says}", says=says))
        self.sampling.setToolTip(tr("How this conversation is answered"))

    def _leave_editing(self) -> None:
        self.editing, self._draft, self._is_answer = None, "", False
        self._banner.hide()
        self._update_button()
        self.editing_changed.emit()

    def _on_text(self) -> None:
        self._update_button()
        self.draft_changed.emit(self.text)

    def _on_button(self) -> None:
        if self._busy:
            self.stop.emit()
        else:
            self._on_send()
        self.edit.setFocus()

    def _on_send(self) -> None:
        if not self._busy and not self._is_reading and self.text.strip():
            self.send.emit(self.text)

    def _on_escape(self) -> None:
        if self._busy:
            self.stop.emit()
        else:
            self.stop_editing()

    def _update_button(self) -> None:
        says, name, tip = tr("Send"), tr("Send the message"), tr("Send (Enter)")
        if self._busy:
            says, name, tip = tr("Stop"), tr("Stop the answer"), tr("Stop (Esc)")
        elif self._is_answer:
            says, name, tip = tr("Save"), tr("Save the answer"), tr("Save (Enter)")
        self.button.setText(says)
        self.button.setAccessibleName(name)
        self.button.setToolTip(tool_tip(tip))
        can_send = not (self._is_reading or self.edit.document().isEmpty())
        self.button.setEnabled(self._can_stop if self._busy else can_send)


class PromptEdit(QPlainTextEdit):
    """The field a question is typed in: plain text, as tall as what is in it, within limits. Enter sends and
    Shift+Enter breaks the line, but Enter that ends a composition of an input method does neither.

    Signals: send(), escape(), files_given(list) with the paths of files that were dropped or pasted.
    """

    send = Signal()
    escape = Signal()
    files_given = Signal(list)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._composing = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setFont(theme.reading_font())
        self.setPlaceholderText(tr("Write a message"))
        self.setAccessibleName(tr("Message"))
        self.setAccessibleDescription(tr("Enter sends, Shift+Enter breaks the line, Escape stops the answer"))
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit_height)
        self.textChanged.connect(self._fit_direction)
        self._fit_height(self.document().documentLayout().documentSize())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height(self.document().documentLayout().documentSize())

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Where the focus is lost while an input method composes, Qt does not always say that this ended."""
        self._composing = False
        super().focusOutEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Files are given to the conversation; what they hold is not typed."""
        if files := local_files(source):
            self.files_given.emit(files)
        else:
            super().insertFromMimeData(source)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        breaks_line = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.key() in _ENTER:
            if breaks_line:
                self.insertPlainText("\n")  # Qt's own break is U+2028, which a text may hold itself
            elif not self._composing:
                self.send.emit()
            return
        if event.key() == Qt.Key.Key_Escape:
            self.escape.emit()
            return
        super().keyPressEvent(event)

    def show_size(self) -> None:
        """Show what is written as large as messages are shown now."""
        self.setFont(theme.reading_font())
        self._fit_height(self.document().documentLayout().documentSize())

    def _fit_direction(self) -> None:
        """Text that begins right-to-left stands on the right; a plain text document aligns all its lines alike."""
        option = self.document().defaultTextOption()
        begins_right = self.document().firstBlock().textDirection() == Qt.LayoutDirection.RightToLeft
        side = Qt.AlignmentFlag.AlignRight if begins_right else Qt.AlignmentFlag.AlignLeft
        if option.alignment() != side:
            option.setAlignment(side)
            self.document().setDefaultTextOption(option)

    def _fit_height(self, size: QSizeF) -> None:
        # A plain text document gives its height in lines.
        lines = min(max(int(size.height()), FEWEST_LINES), MOST_LINES)
        self.setFixedHeight(lines * math.ceil(QFontMetricsF(self.font()).lineSpacing()) + 4)


def local_files(source: QMimeData) -> list[str]:
    """The paths of the files of this computer among what is dropped or pasted."""
    return [url.toLocalFile() for url in source.urls() if url.isLocalFile()]


class _Frame(QWidget):
    """The outline around field and buttons; it wears the accent while the field has the focus."""

    def __init__(self, edit: PromptEdit, parent: QWidget) -> None:
        super().__init__(parent)
        self._edit = edit
        edit.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = theme.current()
        painter.setPen(QColor(colours.accent if self._edit.hasFocus() else colours.edge))
        painter.setBrush(QColor(colours.page))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)

    def mousePressEvent(self, event: object) -> None:
        self._edit.setFocus(Qt.FocusReason.MouseFocusReason)
