"""Where the system prompt of a conversation is read and changed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from PySide6.QtCore import QEvent, QSize, Signal
from PySide6.QtGui import QColor, QIcon, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.language import tr
from app.system_prompt.finding_list import FindingList
from app.system_prompt.preset_panel import PresetPanel
from app.widgets.explain import Explain
from app.widgets.message_box import MessageBox
from app.widgets.next_prompt import NextPrompt
from app.widgets.plain import Label
from app.widgets.room import fit, scrolling

LEAST_WIDTH, LEAST_TEXT = 720, 140
"""Pixels below which the presets stand under the text, and that the text is high at least."""
MOST_MARKS = 1_000
"""Places that are underlined; behind so many nobody looks for more."""


class SystemPromptEditor(QDialog):
    """A dialog with the text, what changes in it under it (`findings`), and what is kept beside it (`presets`).
    Signals: text_changed(str) while typing, saved(str), and those of `findings` and `presets`. `question` is what was
    asked last before closing it.

    `show_tokens`, `findings.show_rows`, `mark` and `next_prompt.show_preview` answer what text_changed asks for.
    """

    text_changed = Signal(str)
    saved = Signal(str)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        self._before, self.cures_changed = text, False
        self.question: MessageBox | None = None
        self._places: tuple[tuple[int, int, bool], ...] = ()
        super().__init__(parent)
        self.setWindowTitle(tr("System prompt"))
        self.setModal(True)
        fit(self, QSize(864, 600))
        self.edit = QPlainTextEdit(text, self)
        self.edit.setObjectName("field")
        self.edit.setFont(theme.reading_font())
        self.edit.setAccessibleName(tr("System prompt"))
        self.edit.setPlaceholderText(tr("For instance: You are the support assistant of a parcel service."))
        self.edit.setTabChangesFocus(True)
        self.edit.setMinimumHeight(LEAST_TEXT)
        self.edit.textChanged.connect(self._on_text)
        self.presets = PresetPanel(self)
        self.findings = FindingList(self)
        self.next_prompt = NextPrompt(self, tr("With this text"))
        self.tokens = Label(self)
        self.tokens.setObjectName("soft")
        self._lay_out()

    def _lay_out(self) -> None:
        title = Label(tr("System prompt"), self)
        title.setFont(theme.text_font(bold=True))
        note = Label(
            tr(
                "It stands before every message of this conversation. It is read once and kept; after a "
                "change everything from the changed place on is read again. {{date}}, {{time}}, "
                "{{datetime}}, {{weekday}} and {{uuid}} are filled in when a question is sent."
            ),
            self,
        )
        note.setObjectName("soft")
        note.setWordWrap(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        for button in buttons.findChildren(QPushButton):
            button.setIcon(QIcon())
            button.setAutoDefault(False)  # Enter in the line for a name does not save the prompt
        self.save_button = buttons.button(QDialogButtonBox.StandardButton.Save)
        self.save_button.setObjectName("primary")
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.discard)
        bottom = QHBoxLayout()
        bottom.addWidget(self.tokens, 1)
        bottom.addWidget(buttons)
        content = QWidget()
        column = QVBoxLayout()
        column.setSpacing(8)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(title)
        head.addWidget(Explain("system prompt", self))
        head.addStretch(1)
        column.addLayout(head)
        column.addWidget(note)
        column.addWidget(self.edit, 1)
        column.addWidget(self.findings)
        column.addWidget(self.next_prompt)
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight, content)
        self._both.setContentsMargins(16, 0, 12, 0)
        self._both.setSpacing(24)
        self._both.addWidget(self.presets)
        self._both.addLayout(column, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 24, 0, 24)
        whole.setSpacing(16)
        whole.addWidget(scrolling(content), 1)
        bottom.setContentsMargins(16, 0, 24, 0)
        whole.addLayout(bottom)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is no room beside the text, the presets stand under it."""
        super().resizeEvent(event)
        is_narrow = event.size().width() < LEAST_WIDTH
        down, right = QBoxLayout.Direction.BottomToTop, QBoxLayout.Direction.LeftToRight
        self._both.setDirection(down if is_narrow else right)
        self.presets.set_wide(is_narrow)

    @property
    def is_changed(self) -> bool:
        """Whether there is something that saving would keep."""
        return self.text != self._before or self.cures_changed

    @property
    def text(self) -> str:
        """What is typed."""
        return self.edit.toPlainText()

    def show_tokens(self, tokens: int | None) -> None:
        """How many tokens the text has; None where nobody can count them."""
        self.tokens.setText(
            "" if tokens is None else tr("1 token") if tokens == 1 else tr("{tokens:,} tokens", tokens=tokens)
        )

    def replace(self, start: int, end: int, text: str) -> None:
        """Put `text` in place of the characters from `start` to `end`; it can be undone."""
        before = _units(self.text[:start])
        self._cursor(before, before + _units(self.text[start:end])).insertText(text)

    def mark(self, places: Iterable[tuple[int, int, bool]]) -> None:
        """Underline these places, from `start` to `end`, which are in order; those that cost something in orange."""
        self._places = tuple(islice(places, MOST_MARKS))
        text, marks, read, units = self.text, [], 0, 0
        for start, end, costs in self._places:
            units, read = units + _units(text[read:start]), start
            marks.append(self._underline(units, units + _units(text[start:end]), costs))
        self.edit.setExtraSelections(marks)

    def _underline(self, start: int, end: int, costs: bool) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        selection.cursor = self._cursor(start, end)  # type: ignore[attr-defined]
        colours = theme.current()
        style = QTextCharFormat.UnderlineStyle
        selection.format.setUnderlineStyle(  # type: ignore[attr-defined]
            style.SingleUnderline if costs else style.DotLine
        )
        selection.format.setUnderlineColor(  # type: ignore[attr-defined]
            QColor(colours.computed if costs else colours.edge)
        )
        return selection

    def _cursor(self, start: int, end: int) -> QTextCursor:
        """Selects from `start` to `end` as Qt counts, which takes some characters for two."""
        cursor = self.edit.textCursor()
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.mark(self._places)

    def reject(self) -> None:
        """Escape, or the window's own close button: what was changed is dropped only after a question."""
        if not self.is_changed:
            self.discard()
            return
        asked, lost = tr("Save the changed system prompt?"), tr("Without saving, what was written here is lost.")
        self.question = box = MessageBox(self, tr("System prompt"), asked, lost)
        box.add(tr("Go on writing"))
        box.add(tr("Discard"), self.discard, "danger")
        box.add(tr("Save"), self._save, "primary")
        box.open()

    def discard(self) -> None:
        """Close it without saving."""
        super().reject()

    def _on_text(self) -> None:
        self.text_changed.emit(self.text)

    def _save(self) -> None:
        self.saved.emit(self.text)
        self.accept()


def _units(text: str) -> int:
    """The length of a text as Qt counts it, in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
