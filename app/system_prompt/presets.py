"""The presets beside a system prompt that is edited: choose one, keep the text under a name, rename, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu

from app.chat.residents import ResidentPrompt
from app.chat.session import Session
from app.files import write_whole
from app.history.presets import NameTakenError, Preset, PresetTable
from app.language import plural, tr, translated
from app.placeholders import fill_own, own_names_in
from app.system_prompt import preset_files
from app.system_prompt.editing import PromptEditing
from app.system_prompt.editor import SystemPromptEditor
from app.system_prompt.fields_dialog import FieldsDialog
from app.widgets.conversation_list import ConversationRow
from engine import HeadstartError, Request

NO_READER = tr("No model is open here that could read it now; it is read once one is.")


def resident(preset: Preset) -> ResidentPrompt:
    """A preset as it is read before a conversation begins with it."""
    return ResidentPrompt(preset.id, preset.filled, preset.cures)


def kept_presets(presets: PresetTable) -> list[ResidentPrompt]:
    """The presets that are to be resident whenever a model is open; none where the file cannot be read, which is said
    elsewhere."""
    with suppress(HeadstartError):
        return [resident(each) for each in presets.all() if each.is_kept]
    return []


def _action(menu: QMenu, text: str, act: Callable[[], object]) -> QAction:
    """An entry for this menu, which is not in it yet."""
    made = QAction(text, menu)
    made.triggered.connect(lambda: act())
    return made


class PresetChoice(QObject):
    """Looks after the presets of one open editor. `asking` is the dialog over it that asked for texts last. Signals:
    text_replaced() when a preset has another text now, or another state in the cache."""

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
        self._taken = (0, "")  # the preset that was chosen last, and its text with its variables filled in
        self.asking: FieldsDialog | None = None
        self._offered: Callable[[], None] | None = None
        self._connect(editor)
        self._show()

    def _connect(self, editor: SystemPromptEditor) -> None:
        panel = self._panel
        panel.list.opened.connect(self._choose)
        panel.name_given.connect(self._on_name)
        panel.deleted.connect(self._delete)
        panel.kept.connect(self._keep)
        panel.list.menu_made.connect(self._fill_menu)
        self._session.residents.read.connect(lambda _: self.text_replaced.emit())
        panel.offer.clicked.connect(self._on_offer)
        panel.import_button.clicked.connect(self.choose_import)
        panel.export_button.clicked.connect(self.choose_export)
        editor.text_changed.connect(self._mark_current)

    def request(self, preset_id: int) -> Request | None:
        """The next turn of the conversation in view under this preset; None where nothing can be asked."""
        preset = self._find(preset_id)
        return self._session.cost.request_under(preset.filled, preset.cures) if preset else None

    def choose_import(self) -> None:
        """Ask for a file with presets."""
        dialog = QFileDialog(self._panel, tr("Import presets"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(tr("Presets and texts (*.json *.txt *.md)"))
        self._ask(dialog, self.take_in)

    def choose_export(self) -> None:
        """Ask where all presets are to be written to."""
        dialog = QFileDialog(self._panel, tr("Export presets"))
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
            there = plural("; {count:,} was there already", "; {count:,} were there already", known) if known else ""
            self._say(
                tr("{count} taken in{there}.", count=plural("{count:,} preset", "{count:,} presets", new), there=there)
            )
            self._show()

    def write(self, path: str) -> None:
        """Write all presets into a file."""
        with self._saying():
            try:
                write_whole(Path(path), preset_files.written(self._table.all()))
            except OSError as error:
                raise HeadstartError(f"{path} cannot be written. Choose another place.", str(error)) from error
            self._say(
                tr(
                    "{count} written to {name}.",
                    count=plural("{count:,} preset", "{count:,} presets", len(self._shown)),
                    name=Path(path).name,
                )
            )

    def _find(self, preset_id: int) -> Preset | None:
        return next((preset for preset in self._shown if preset.id == preset_id), None)

    def _show(self) -> None:
        with self._saying():
            self._shown = self._table.all()
        rows = [ConversationRow(each.id, each.name, each.updated) for each in self._shown]
        self._panel.show_rows(rows, {each.id: each.folder for each in self._shown if each.folder})
        self._mark_current()

    def _mark_current(self, text: str = "") -> None:
        written, _ = self._editing.written
        texts = ((each, (each.system_prompt, each.filled)) for each in self._shown)
        found = next((each for each, said in texts if written in said or self._taken == (each.id, written)), None)
        self._panel.show_current(found.id if found else 0, is_kept=bool(found and found.is_kept))

    def _choose(self, preset_id: int) -> None:
        if preset := self._find(preset_id):
            self._say("")
            if set(own_names_in(preset.system_prompt)) - {name for name, value in preset.variables if value}:
                self._ask_values(preset)
            else:
                self._take(preset, preset.filled)

    def _take(self, preset: Preset, text: str) -> None:
        self._taken = (preset.id, text)
        self._editing.take(text, preset.cures)

    def _ask_values(self, preset: Preset) -> None:
        """Ask what a preset's own variables stand for, then take its text with that."""
        known = dict(preset.variables)
        names = {name: known.get(name, "") for name in own_names_in(preset.system_prompt)}
        about = tr("“{name}” has variables of its own. What is left empty stays as it is written.", name=preset.name)
        self.asking = dialog = FieldsDialog(
            tr("Variables"), about, names, self._panel, tr("Keep these values in the preset, and ask no more")
        )
        dialog.chosen.connect(partial(self._on_values, preset))
        dialog.open()

    def _on_values(self, preset: Preset, values: dict[str, str], keeps: bool) -> None:
        if keeps:
            with self._saying():
                self._table.set_variables(preset.id, values.items())
                self._show()
            self._refresh(preset.id)
        self._take(preset, fill_own(preset.system_prompt, values))
        self._mark_current()

    # What can be done with a preset besides

    def _fill_menu(self, menu: QMenu, preset_id: int) -> None:
        preset = self._find(preset_id)
        if preset is None:
            return
        last = menu.actions()[-1]
        made = [_action(menu, tr("Read it now"), partial(self.prewarm, preset_id))]
        resident = _action(menu, tr("Keep it resident"), lambda: self._keep(preset_id, not preset.is_kept))
        resident.setCheckable(True)
        resident.setChecked(preset.is_kept)
        made.append(resident)
        if own_names_in(preset.system_prompt):
            made.append(_action(menu, tr("Variables…"), partial(self._ask_values, preset)))
        folders = QMenu(tr("Folder"), menu)
        for name in ("", *dict.fromkeys(each.folder for each in self._shown if each.folder)):
            entry = folders.addAction(name.replace("&", "&&") or tr("None"), partial(self._move, preset_id, name))
            entry.setCheckable(True)
            entry.setChecked(name == preset.folder)
        folders.addSeparator()
        folders.addAction(tr("New folder…"), partial(self._ask_folder, preset))
        menu.insertActions(last, made)
        menu.insertMenu(last, folders)
        menu.insertSeparator(last)

    def prewarm(self, preset_id: int) -> None:
        """Have a preset read while nothing is asked, for the next conversation that begins with it."""
        if preset := self._find(preset_id):
            can_read = self._session.residents.prewarm(resident(preset))
            self._say(tr("It is read while nothing is asked.") if can_read else NO_READER)

    def _keep(self, preset_id: int, is_kept: bool) -> None:
        if preset := self._find(preset_id):
            with self._saying():
                self._table.keep(preset_id, is_kept)
                self._say("")
                self._show()
            if not is_kept:
                self._session.residents.let_go(resident(preset))
            elif not self._session.residents.keep(resident(preset)):
                self._say(NO_READER)

    def _refresh(self, preset_id: int) -> None:
        """A preset has another text now: the engine keeps that one, where it kept the one before."""
        preset = self._find(preset_id)
        if preset and preset.is_kept:
            self._session.residents.let_go(resident(preset))
            self._session.residents.keep(resident(preset))
        self.text_replaced.emit()

    def _ask_folder(self, preset: Preset) -> None:
        about = tr("The folder for “{name}”. It is there as long as something is in it.", name=preset.name)
        self.asking = dialog = FieldsDialog(tr("Folder"), about, {"Folder": preset.folder}, self._panel)
        dialog.chosen.connect(lambda values, _: self._move(preset.id, values["Folder"]))
        dialog.open()

    def _move(self, preset_id: int, folder: str) -> None:
        with self._saying():
            self._table.move(preset_id, folder)
            self._say("")
            self._show()

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
                self._say(tr("{error} Give another name.", error=translated(str(error))))
            else:
                self._say(
                    tr("{error} Give another name, or replace its text:", error=translated(str(error))),
                    tr("Replace its text"),
                    partial(self._replace, error.preset_id),
                )

    def _replace(self, preset_id: int) -> None:
        self._table.replace(preset_id, *self._editing.written)
        self._panel.name_taken()
        self._show()
        self._refresh(preset_id)

    def _delete(self, preset_id: int) -> None:
        preset = self._find(preset_id)
        if preset is None:
            return
        with self._saying():
            self._table.delete(preset_id)
            self._session.residents.let_go(resident(preset))
            self._say(tr("“{name}” is deleted.", name=preset.name), tr("Undo"), lambda: self._bring_back(preset))
            self._show()

    def _bring_back(self, preset: Preset) -> None:
        back = self._table.put_back(preset)
        if back.is_kept:
            self._session.residents.keep(resident(back))

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
            self._say(translated(str(error)))
