"""The presets beside a system prompt that is edited: choose one, keep the text under a name, rename, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from app.chat.session import Session
from app.files import write_whole
from app.history.presets import NameTakenError, Preset, PresetTable
from app.system_prompt import preset_files
from app.system_prompt.editing import PromptEditing
from app.system_prompt.editor import SystemPromptEditor
from app.widgets.conversation_list import ConversationRow
from app.words import counted
from engine import HeadstartError, Request


class PresetChoice(QObject):
    """Looks after the presets of one open editor. Signals: text_replaced() when a preset has another text now."""

    text_replaced = Signal()

    def __init__(
        self,
        editor: SystemPromptEditor,
        editing: PromptEditing,
        session: Session,
        presets: PresetTable,
    ) -> None:
        super().__init__(editor)
        self._panel = editor.presets
        self._editing = editing
        self._session = session
        self._table = presets
        self._shown: tuple[Preset, ...] = ()
        self._offered: Callable[[], None] | None = None
        self._connect(editor)
        self._show()

    def _connect(self, editor: SystemPromptEditor) -> None:
        panel = self._panel
        panel.list.opened.connect(self._choose)
        panel.name_given.connect(self._on_name)
        panel.deleted.connect(self._delete)
        panel.offer.clicked.connect(self._on_offer)
        panel.import_button.clicked.connect(self.choose_import)
        panel.export_button.clicked.connect(self.choose_export)
        editor.text_changed.connect(self._mark_current)

    def request(self, preset_id: int) -> Request | None:
        """The next turn of the conversation in view under this preset; None where nothing can be asked."""
        preset = self._find(preset_id)
        return self._session.cost.request_under(preset.system_prompt, preset.cures) if preset else None

    def choose_import(self) -> None:
        """Ask for a file with presets."""
        dialog = QFileDialog(self._panel, "Import presets")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter("Presets and texts (*.json *.txt *.md)")
        self._ask(dialog, self.take_in)

    def choose_export(self) -> None:
        """Ask where all presets are to be written to."""
        dialog = QFileDialog(self._panel, "Export presets")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.selectFile("headstart-presets.json")
        self._ask(dialog, self.write)

    def _ask(self, dialog: QFileDialog, use: Callable[[str], None]) -> None:
        dialog.fileSelected.connect(use)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def take_in(self, path: str) -> None:
        """Keep the presets of a file, and say how many."""
        with self._saying():
            new, known = preset_files.take_in(preset_files.read(Path(path)), self._table)
            there = f"; {known:,} {'was' if known == 1 else 'were'} there already" if known else ""
            self._say(f"{counted(new, 'preset')} taken in{there}.")
            self._show()

    def write(self, path: str) -> None:
        """Write all presets into a file."""
        with self._saying():
            try:
                write_whole(Path(path), preset_files.written(self._table.all()))
            except OSError as error:
                raise HeadstartError(f"{path} cannot be written. Choose another place.", str(error)) from error
            self._say(f"{counted(len(self._shown), 'preset')} written to {Path(path).name}.")

    def _find(self, preset_id: int) -> Preset | None:
        return next((preset for preset in self._shown if preset.id == preset_id), None)

    def _show(self) -> None:
        with self._saying():
            self._shown = self._table.all()
        self._panel.show_rows([ConversationRow(each.id, each.name, each.updated) for each in self._shown])
        self._mark_current()

    def _mark_current(self, text: str = "") -> None:
        written, _ = self._editing.written
        self._panel.show_current(next((each.id for each in self._shown if each.system_prompt == written), 0))

    def _choose(self, preset_id: int) -> None:
        if preset := self._find(preset_id):
            self._say("")
            self._editing.take(preset.system_prompt, preset.cures)

    def _on_name(self, name: str, preset_id: int) -> None:
        try:
            with self._saying():
                if preset_id:
                    self._table.rename(preset_id, name)
                else:
                    self._table.add(name, *self._editing.written)
                self._panel.name_taken()
                self._say("")
                self._show()
        except NameTakenError as error:
            if preset_id:
                self._say(f"{error} Give another name.")
            else:
                self._say(
                    f"{error} Give another name, or replace its text:",
                    "Replace its text",
                    partial(self._replace, error.preset_id),
                )

    def _replace(self, preset_id: int) -> None:
        self._table.replace(preset_id, *self._editing.written)
        self._panel.name_taken()
        self.text_replaced.emit()

    def _delete(self, preset_id: int) -> None:
        preset = self._find(preset_id)
        if preset is None:
            return
        with self._saying():
            self._table.delete(preset_id)
            self._say(f"“{preset.name}” is deleted.", "Undo", lambda: self._bring_back(preset))
            self._show()

    def _bring_back(self, preset: Preset) -> None:
        self._table.add(preset.name, preset.system_prompt, preset.cures)

    def _on_offer(self) -> None:
        offered, self._offered = self._offered, None
        self._say("")
        if offered:
            with self._saying():
                offered()
            self._show()

    def _say(self, sentence: str, offer: str = "", do: Callable[[], None] | None = None) -> None:
        self._offered = do
        self._panel.say(sentence, offer)

    @contextmanager
    def _saying(self) -> Iterator[None]:
        try:
            yield
        except NameTakenError:
            raise
        except HeadstartError as error:
            self._say(str(error))
