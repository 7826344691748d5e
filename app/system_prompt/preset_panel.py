"""The system prompts kept under a name: a list with badges, and the line in which a name is typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import theme
from app.language import tr
from app.widgets.conversation_list import ConversationList, ConversationRow, ListWords
from app.widgets.plain import Label, SoftLabel

WIDTH, WIDEST = 224, 16_777_215
"""Pixels beside the text, and what Qt takes for no bound at all."""
MANY = 8
"""From this many on there is a field to search them."""
ESTIMATE = tr("estimated for what is written in the composer, under this system prompt")
_KEEP = (tr("Save as preset"), tr("Name of a new preset"))
_RENAME = (tr("Rename"), tr("New name"))


class PresetPanel(QWidget):
    """Beside the text that is written. `list` says which row is chosen and which is to be renamed or deleted.

    Signals: name_given(str name, int id): keep the text under this name (id 0), or call this preset so;
    deleted(int id); kept(int id, bool), whether it is to be resident. `offer` is the link behind the sentence of `say`.
    """

    name_given = Signal(str, object)
    deleted = Signal(object)
    kept = Signal(object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_wide(False)
        self._rows: tuple[ConversationRow, ...] = ()
        self._folders: dict[int, str] = {}
        self._current = self._renamed = 0
        self.list = ConversationList(self, ListWords(tr("Presets"), tr("Use this text"), tr("Saved"), ESTIMATE))
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(tr("Search presets"))
        self.search.setAccessibleName(tr("Search presets"))
        self.search.setClearButtonEnabled(True)
        self.nothing = _line(self)
        self.says = _line(self)
        self.offer = _link("", self)
        self.rename_button, self.delete_button = _link(tr("Rename"), self), _link(tr("Delete"), self)
        self.more_button = _link(tr("More…"), self)
        self.more_button.setToolTip(tr("Folder, variables, read it now"))
        self.keep_resident = QCheckBox(tr("Keep it resident"), self)
        self.keep_resident.setToolTip(tr("Read it at each start while nothing is asked, and keep it in memory"))
        self.import_button, self.export_button = _link(tr("Import…"), self), _link(tr("Export…"), self)
        self.import_button.setToolTip(tr("Take in presets from a file that Headstart wrote, or a text file as one"))
        self.export_button.setToolTip(tr("Write all presets into a file"))
        self.name = _NameEdit(self)
        self.keep = QPushButton(self)
        self.keep.setAutoDefault(False)
        self._connect()
        self._lay_out()
        self.say("")
        self._rename(0)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._show)
        self.rename_button.clicked.connect(lambda: self._rename(self._current))
        self.delete_button.clicked.connect(lambda: self.deleted.emit(self._current))
        self.more_button.clicked.connect(self._show_menu)
        self.keep_resident.clicked.connect(lambda is_kept: self.kept.emit(self._current, is_kept))
        self.list.opened.connect(self._on_opened)
        self.list.rename_wanted.connect(self._rename)
        self.list.delete_wanted.connect(self.deleted)
        self.keep.clicked.connect(self._give_name)
        self.name.entered.connect(self._give_name)
        self.name.left.connect(lambda: self._rename(0))
        self.name.textEdited.connect(lambda: self.say(""))

    def _lay_out(self) -> None:
        title = Label(tr("Presets"), self)
        title.setFont(theme.text_font(bold=True))
        links = QHBoxLayout()
        links.addWidget(self.rename_button)
        links.addWidget(self.delete_button)
        links.addWidget(self.more_button)
        links.addStretch(1)
        files = QHBoxLayout()
        files.addWidget(self.import_button)
        files.addWidget(self.export_button)
        files.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(title)
        column.addWidget(self.search)
        column.addWidget(self.nothing)
        column.addWidget(self.list, 1)
        column.addLayout(links)
        column.addWidget(self.keep_resident)
        column.addLayout(files)
        column.addWidget(self.says)
        column.addWidget(self.offer)
        column.addWidget(self.name)
        column.addWidget(self.keep)
        column.setAlignment(self.offer, Qt.AlignmentFlag.AlignLeft)

    def set_wide(self, is_wide: bool) -> None:
        """As wide as there is room, or as a column beside the text."""
        self.setMinimumWidth(0 if is_wide else WIDTH)
        self.setMaximumWidth(WIDEST if is_wide else WIDTH)

    def show_rows(self, rows: Sequence[ConversationRow], folders: Mapping[int, str] | None = None) -> None:
        """Show these presets; those of a folder, by its name, stand together."""
        self._rows = tuple(rows)
        self._folders = dict(folders or {})
        self.export_button.setEnabled(bool(rows))
        self.search.setVisible(len(rows) > MANY or bool(self.search.text()))
        self._show()

    def show_current(self, preset_id: int, *, is_kept: bool = False) -> None:
        """The text that is written is that of this preset; 0: of none. `is_kept`: it is to be resident."""
        self._current = preset_id
        self.list.show_current(preset_id)
        self.keep_resident.setChecked(is_kept)
        for button in (self.rename_button, self.delete_button, self.more_button, self.keep_resident):
            button.setVisible(preset_id != 0)

    def say(self, sentence: str, offer: str = "") -> None:
        """A sentence above the line for the name, and what can be done about it; "" for nothing."""
        self.says.setText(sentence)
        self.says.setVisible(bool(sentence))
        self.offer.setText(offer)
        self.offer.setAccessibleName(offer or tr("What can be done about it"))
        self.offer.setVisible(bool(offer))

    def name_taken(self) -> None:
        """The name that was typed is in use now: empty the line."""
        self._rename(0)

    def _show(self) -> None:
        needle = self.search.text().casefold()
        found = [row for row in self._rows if needle in row.title.casefold()]
        self.list.show_rows(found, self._current, headings=self._headings(found))
        self.nothing.setVisible(not found)
        self.nothing.setText(
            tr("No preset is called “{text_}”.", text_=self.search.text())
            if self._rows
            else tr(
                "Save a text under a name, to use it in other conversations. Each preset then says how "
                "soon its first token would come."
            )
        )

    def _headings(self, rows: Sequence[ConversationRow]) -> dict[int, str]:
        """The names of folders, by the numbers of the rows above which they stand."""
        names = [self._folders.get(row.id, "") for row in rows]
        return {number: name for number, name in enumerate(names) if name and name not in names[:number]}

    def _show_menu(self) -> None:
        below = self.more_button.mapToGlobal(self.more_button.rect().bottomLeft())
        self.list.menu_for(self._current).popup(below)

    def _rename(self, preset_id: int) -> None:
        self._renamed = preset_id
        label, hint = _RENAME if preset_id else _KEEP
        self.keep.setText(label)
        self.name.setPlaceholderText(hint)
        self.name.setAccessibleName(hint)
        self.name.setText(next((row.title for row in self._rows if row.id == preset_id), ""))
        if preset_id:
            self.name.setFocus()
            self.name.selectAll()

    def _on_opened(self, preset_id: int) -> None:
        if self._renamed:
            self._rename(0)

    def _give_name(self) -> None:
        self.name_given.emit(self.name.text(), self._renamed)


class _NameEdit(QLineEdit):
    """Enter and Escape mean this line, not the dialog around it. Signals: entered(), left() with Escape."""

    entered = Signal()
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.left.emit()
        else:
            super().keyPressEvent(event)


def _line(parent: QWidget) -> Label:
    label = SoftLabel(parent)
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return label


def _link(text: str, parent: QWidget) -> QPushButton:
    button = QPushButton(text, parent)
    button.setObjectName("link")
    button.setAutoDefault(False)
    return button
