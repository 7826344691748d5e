"""What opens on top of the window: system prompt, sampling, preferences, model files, questions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields
from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QFileDialog

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.composer.conversation_settings import ConversationSettings
from app.composer.sampling import SamplingPopover
from app.history.presets import PresetTable
from app.language import tr, translated
from app.licences import own_version, parts
from app.own_data import everything
from app.placeholders import Cure
from app.settings import Settings, cache_bytes, describe, disk_bytes, model_spec, quality
from app.sidebar.badges import Badges, preset_badge
from app.system_prompt.editing import PromptEditing
from app.system_prompt.editor import SystemPromptEditor
from app.system_prompt.presets import PresetChoice
from app.widgets.message_box import MessageBox
from app.window.about import AboutDialog
from app.window.answered_by import AnsweredBy
from app.window.graphics_card import GraphicsDialog
from app.window.open_model import OpenModelDialog
from app.window.preferences import PreferencesDialog, PreferenceValues
from app.window.server_dialog import ServerDialog
from app.window.shortcut_sheet import ShortcutSheet
from app.window.updating import Updating
from app.window.window import Window
from app.words import cost_of_reading_ahead, least_budget, raised_budget, size, token_cost
from engine import Failed, Loaded, default_model, installed_folder, is_server, keep_key, model_fit

T = TypeVar("T")
MOST_RECENT = 6
"""Models that the menu offers again."""

_SHOWN = tuple(field.name for field in fields(PreferenceValues))
"""The settings that the preferences show."""


class Dialogs(QObject):
    """Opens each, and does what the user chose in it. `open_dialog` is the one on screen, None when there is none.

    `conversation_settings` looks after `popover`, that of the composer; `editing`, `preset_choice` and `preset_badges`
    look after the system prompt that was opened last. `set_system_prompt` changes that of the conversation in view and
    its cures; `choose_theme` uses and remembers the theme of this name. `delete_data` ends the program and deletes all
    of the user's data; `updating` looks for a newer version.
    """

    def __init__(
        self,
        window: Window,
        session: Session,
        bridge: Bridge,
        settings: Settings,
        presets: PresetTable,
        answered_by: AnsweredBy,
        *,
        set_system_prompt: Callable[[str, tuple[Cure, ...]], None],
        choose_theme: Callable[[str], None],
        save_settings: Callable[[], None],
        delete_data: Callable[[], None],
        updating: Updating,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._bridge = bridge
        self._settings = settings
        self._presets = presets
        self._answered_by = answered_by
        self._set_system_prompt = set_system_prompt
        self._choose_theme = choose_theme
        self._save_settings = save_settings
        self._delete_data = delete_data
        self._updating = updating
        self.open_dialog: QDialog | None = None
        self.popover = SamplingPopover(window)
        self.conversation_settings = ConversationSettings(window.composer, self.popover, session)
        self.editing: PromptEditing | None = None
        self.preset_choice: PresetChoice | None = None
        self.preset_badges: Badges | None = None
        self._paths: dict[int, str] = {}  # of the models that are being loaded, by the ids of their loads
        self._connect()

    def _connect(self) -> None:
        window, actions = self._window, self._window.commands
        window.header.prompt_wanted.connect(self.edit_system_prompt)
        self._bridge.loaded.connect(self._on_loaded)
        self._bridge.failed.connect(self._on_failed)
        actions.system_prompt.triggered.connect(self.edit_system_prompt)
        actions.sampling.triggered.connect(self.conversation_settings.open)
        actions.preferences.triggered.connect(self.edit_preferences)
        actions.shortcuts.triggered.connect(self.show_shortcuts)
        actions.about.triggered.connect(self.show_about)
        actions.open_folder.triggered.connect(self.choose_folder)
        actions.open_gguf.triggered.connect(self.choose_gguf)
        actions.open_server.triggered.connect(self.choose_server)
        actions.length.triggered.connect(self.choose_length)
        actions.open_default.triggered.connect(lambda: self.load(""))
        actions.clear_cache.triggered.connect(lambda: self._bridge.tell("clear_cache"))
        actions.use_cache.triggered.connect(self._on_use_cache)
        actions.use_cache.setChecked(self._session.use_cache)
        window.sidebar.model_button.show_cache_on(self._session.use_cache)
        self._show_recent()

    def edit_system_prompt(self) -> None:
        """Show the system prompt of the conversation in view, to be changed."""
        editor = SystemPromptEditor(self._session.conversation.system_prompt, self._window)
        self.editing = PromptEditing(editor, self._session, self._bridge)
        self.preset_choice = choice = PresetChoice(editor, self.editing, self._session, self._presets)
        self.preset_badges = badges = Badges(
            editor.presets.list, self._session, self._bridge, choice.request, preset_badge
        )
        choice.text_replaced.connect(badges.refresh)
        editor.finished.connect(badges.close)
        editor.saved.connect(self._save_system_prompt)
        self.show(editor)

    def edit_preferences(self) -> None:
        """Show what holds for the whole program."""
        values = PreferenceValues(**{name: getattr(self._settings, name) for name in _SHOWN})
        model = self._session.model
        cost = token_cost(model) if model else ""
        note = (
            tr("{cost}. At least {least_budget}.", cost=cost, least_budget=least_budget(model))
            if model and cost
            else ""
        )
        dialog = PreferencesDialog(
            values,
            {name: translated(describe(name)) for name in _SHOWN},
            self._window,
            note,
            lambda dtype: translated(quality(dtype)),
            self._updating.is_offered,
            installed_folder() is not None and sys.platform != "darwin",  # there torch uses the card by itself
            cost_of_reading_ahead(self._bridge.read_cache_view()),
        )
        dialog.saved.connect(self.save_preferences)
        dialog.deletion_wanted.connect(self.confirm_deletion)
        dialog.graphics_wanted.connect(lambda: self.show(GraphicsDialog(self._window)))
        self.show(dialog)

    def show_shortcuts(self) -> None:
        """Show all that can be done from the keyboard."""
        self.show(ShortcutSheet(self._window.commands.with_shortcuts(), self._window))

    def show_about(self) -> None:
        """Which Headstart this is, and what it is made of."""
        ask = self._updating.ask if self._updating.is_offered else None
        self.show(AboutDialog(own_version(), parts, self._window, ask))

    def confirm_deletion(self) -> None:
        """Ask once, with everything that would be deleted; then end the program and delete it."""
        kinds = everything()
        listed = "\n".join(f"{kind.name}: {size(kind.bytes)}" for kind in kinds)
        total = size(sum(kind.bytes for kind in kinds))
        asked = tr("Delete everything that Headstart keeps on this computer, {total} in all?", total=total)
        more = tr(
            "{listed}\n\nHeadstart closes and deletes it for good. Models that you opened from elsewhere stay there.",
            listed=listed,
        )
        box = MessageBox(self._window, tr("Delete all my data"), asked, more)
        box.add(tr("Delete and close"), self._delete_data, "danger")
        box.add(tr("Cancel"), kind="safe")
        self.show(box)

    def save_preferences(self, values: PreferenceValues) -> None:
        """Take over what was chosen; the model is loaded again where that is needed."""
        settings = self._settings
        before = (settings.device, settings.dtype)
        asked_before = settings.look_for_updates
        budget_before, disk_before = settings.cache_budget_mb, settings.disk_budget_mb
        for name in _SHOWN:
            setattr(settings, name, getattr(values, name))
        self._save_settings()
        self._choose_theme(values.theme)
        reload_ = (settings.device, settings.dtype) != before
        if reload_ or (settings.cache_budget_mb == 0 and budget_before):
            self._session.answers.reload(model_spec(settings))
        elif settings.cache_budget_mb != budget_before:
            asked = cache_bytes(settings)
            self._bridge.tell("set_cache_budget", asked)
            self._say_budget(asked)
        if settings.look_for_updates and not asked_before:
            self._updating.ask()
        if settings.disk_budget_mb != disk_before:
            self._bridge.tell("set_disk_budget", disk_bytes(settings))
        self._session.cost.refresh()  # something else may be read ahead now, or nothing

    def choose_folder(self) -> None:
        """Ask for the folder of a model."""
        self._choose(QFileDialog.FileMode.Directory, tr("Open a folder with config.json and safetensors files"), "")

    def choose_gguf(self) -> None:
        """Ask for a GGUF file."""
        self._choose(QFileDialog.FileMode.ExistingFile, tr("Open a GGUF file"), tr("GGUF models (*.gguf)"))

    def choose_server(self) -> None:
        """Ask for the address of a server."""
        path = self._settings.model_path
        here = self._answered_by.server()
        dialog = ServerDialog(path if is_server(path) else "", keep_key, self._window, here)
        dialog.chosen.connect(self.load)
        dialog.chosen_here.connect(self._answered_by.choose)
        self.show(dialog)

    def choose_length(self) -> None:
        """Ask how long conversations with the present model may grow. A server decides that itself."""
        if not is_server(self._settings.model_path):
            self.look_at(self._settings.model_path)

    def look_at(self, path: str) -> None:
        """Show what the model at `path` takes, and load it with the length of conversations that is chosen there."""
        model = self._session.model
        spec = model_spec(self._settings, path)
        freed = model.weights_bytes + model.draft_bytes if model else 0
        dialog = OpenModelDialog(spec, model_fit, freed, self._window, self._drafts(path))

        def load(tokens: int, bits: int, draft: str) -> None:
            settings = self._settings
            settings.contexts = _with(settings.contexts, path, tokens)
            settings.kv_bits = _with(settings.kv_bits, path, bits if bits == 8 else 0)
            settings.drafts = _with(settings.drafts, path, draft)
            self.load(path)

        dialog.chosen.connect(load)
        self.show(dialog)

    def _drafts(self, path: str) -> list[str]:
        """The models that may write ahead for that at `path`: the default one, and those that were opened lately."""
        own = default_model() if path else None
        recent = [each for each in self._settings.recent_models.splitlines() if not is_server(each)]
        return [str(own), *recent] if own else recent

    def load(self, path: str) -> None:
        """Load the model at `path` ("" is the default one); the next start takes it too, once it was loaded."""
        self._window.notice.clear()  # of the load before
        load_id = self._session.answers.load(model_spec(self._settings, path))
        self._paths[load_id] = path

    def _say_budget(self, asked_bytes: int) -> None:
        """Where the cache takes more than was asked for, the window says so, behind what it says already."""
        if self._session.model and (said := raised_budget(self._session.model, asked_bytes)):
            self._window.notice.add_notice(said)

    def _on_loaded(self, event: Loaded) -> None:
        self._say_budget(self._session.answers.asked_cache_bytes)
        if event.request_id in self._paths:
            self._settings.model_path = self._paths.pop(event.request_id)
            self._note_recent(self._settings.model_path)
            self._save_settings()

    def _note_recent(self, path: str) -> None:
        """Offer the model at this path first from now on; the default one has an entry of its own."""
        if path:
            others = [each for each in self._settings.recent_models.splitlines() if each != path]
            self._settings.recent_models = "\n".join([path, *others][:MOST_RECENT])
        self._show_recent()

    def _show_recent(self) -> None:
        self._window.commands.show_recent(self._settings.recent_models.splitlines(), self.load)

    def _on_failed(self, event: Failed) -> None:
        self._paths.pop(event.request_id, None)

    def _choose(self, mode: QFileDialog.FileMode, title: str, kind: str) -> None:
        dialog = QFileDialog(self._window, title)
        dialog.setFileMode(mode)
        if kind:
            dialog.setNameFilter(kind)
        dialog.fileSelected.connect(self.look_at)
        self.show(dialog)

    def show(self, dialog: QDialog) -> None:
        """Show a dialog over the window, in place of one that is there."""
        if self.open_dialog:
            self.open_dialog.close()
        self.open_dialog = dialog
        dialog.finished.connect(lambda: self._forget(dialog))
        dialog.open()

    def _forget(self, dialog: QDialog) -> None:
        if self.open_dialog is dialog:
            self.open_dialog = None
        dialog.deleteLater()

    def _save_system_prompt(self, text: str) -> None:
        assert self.editing is not None
        self._set_system_prompt(text, self.editing.cures)

    def _on_use_cache(self, wanted: bool) -> None:
        self._session.use_cache = wanted
        self._window.sidebar.model_button.show_cache_on(wanted)


def _with(chosen: dict[str, T], path: str, value: T) -> dict[str, T]:
    """What was chosen for each model, with this for one of them; 0 or "" for nothing."""
    others = {name: each for name, each in chosen.items() if name != path}
    return {**others, path: value} if value else others
