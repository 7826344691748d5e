"""Everything that can be done from the keyboard or the menu: one QAction each, with its shortcut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.language import tr
from app.widgets.plain import tool_tip
from app.window.preferences import THEMES
from app.words import shortened_line

LONGEST_NAME = 48
"""Characters of a model's name in the menu."""


class Actions:
    """The actions of the window and the menus made of them. Whoever does the work connects `triggered`."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self.new = self._make(tr("&New conversation"), "Ctrl+N")
        self.rename = self._make(tr("&Rename conversation"), "F2")
        self.delete = self._make(tr("&Delete conversation"), "")
        self.export = self._make(tr("&Export conversation…"), "Ctrl+Shift+S")
        self.take_in = self._make(tr("&Import conversations…"), "")
        self.back_up = self._make(tr("&Back up everything…"), "")
        self.restore = self._make(tr("Restore a back&up…"), "")
        self.system_prompt = self._make(tr("&System prompt…"), "Ctrl+P")
        self.tools = self._make(tr("&Tools…"), "")
        self.sampling = self._make(tr("Sa&mpling settings…"), "Ctrl+Shift+P")
        self.retry = self._make(tr("&Answer again"), "Ctrl+R")
        self.go_on = self._make(tr("Continue the ans&wer"), "Ctrl+Shift+R")
        self.versions = self._make(tr("&Versions of this conversation…"), "Ctrl+Shift+B")
        self.copy_answer = self._make(tr("&Copy the newest answer"), "Ctrl+Shift+C")
        self.prove = self._make(tr("Pro&ve the newest answer…"), "Ctrl+Shift+E")
        self.stop = self._make(tr("S&top"), "Esc")
        self.use_cache = self._make(tr("&Remember what was read"), "", checkable=True)
        self.serve = self._make(tr("Answer &other programs"), "", checkable=True)
        self.clear_cache = self._make(tr("&Forget what was read"), "")
        self.find = self._make(tr("Find a conversati&on"), "Ctrl+Shift+F")
        self.find_here = self._make(tr("&Find in this conversation"), "Ctrl+F")
        self.write = self._make(tr("&Write a message"), "Ctrl+L")
        self.show_sidebar = self._make(tr("Show conversations"), "Ctrl+B", checkable=True)
        self.show_charts = self._make(tr("Show charts"), "Ctrl+J", checkable=True)
        self.larger = self._make(tr("&Larger"), "Ctrl++")
        self.smaller = self._make(tr("&Smaller"), "Ctrl+-")
        self.usual_size = self._make(tr("&Usual size"), "Ctrl+0")
        self.larger.setShortcuts([QKeySequence("Ctrl++"), QKeySequence("Ctrl+=")])
        self.tree = self._make(tr("Open the &tree of shared beginnings"), "Ctrl+T")
        self.models = self._make(tr("&Models…"), "Ctrl+M")
        self.open_folder = self._make(tr("Open model &folder…"), "Ctrl+O")
        self.open_gguf = self._make(tr("Open &GGUF file…"), "Ctrl+Shift+O")
        self.open_server = self._make(tr("Use a &server…"), "")
        self.open_default = self._make(tr("&Default model"), "")
        self.length = self._make(tr("&Longest conversation…"), "")
        self.preferences = self._make(tr("&Preferences…"), "Ctrl+,")
        self.about = self._make(tr("About &Headstart…"), "")
        self.quit = self._make(tr("&Quit"), "Ctrl+Q")
        self.open_menu = self._make(tr("Open the menu"), "F10")
        self.shortcuts = self._make(tr("&Keyboard shortcuts"), "F1")
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)
        self.about.setMenuRole(QAction.MenuRole.AboutRole)
        self.preferences.setMenuRole(QAction.MenuRole.PreferencesRole)
        self.themes = self._theme_actions()
        self.filing_menu = QMenu(tr("&File this conversation"), window)
        self.stop.setEnabled(False)

    def model_menu(self) -> QMenu:
        """How another model is opened."""
        menu = QMenu(tr("&Model"), self._window)
        menu.setToolTipsVisible(True)
        menu.addActions([self.models, self.open_folder, self.open_gguf, self.length])
        menu.addSeparator()
        menu.addAction(self.open_server)
        menu.addAction(self.open_default)
        self._model_menu, self._recent = menu, menu.addSeparator()
        return menu

    def show_recent(self, paths: Sequence[str], load: Callable[[str], object]) -> None:
        """Offer these models at the end of the model menu; `load` is called with the one that is chosen."""
        for action in self._model_menu.actions()[self._model_menu.actions().index(self._recent) + 1 :]:
            self._model_menu.removeAction(action)
            action.deleteLater()
        for path in paths:
            action = self._model_menu.addAction(shortened_line(Path(path).name, LONGEST_NAME).replace("&", "&&"))
            action.setToolTip(tool_tip(path))
            action.triggered.connect(lambda _=False, path=path: load(path))

    def main_menu(self, model_menu: QMenu) -> QMenu:
        """Everything, in groups that are short enough for a small screen."""
        menu = QMenu(tr("Menu"), self._window)
        menu.addActions([self.new, self.find_here, self.find, self.write])
        menu.addSeparator()
        conversation = menu.addMenu(tr("This con&versation"))
        settings = [self.system_prompt, self.sampling, self.tools]
        conversation.addActions([self.rename, *settings, self.versions, self.delete])
        conversation.insertMenu(self.delete, self.filing_menu)
        answer = menu.addMenu(tr("Newest &answer"))
        answer.addActions([self.retry, self.go_on, self.copy_answer, self.prove, self.stop])
        files = menu.addMenu(tr("Export, &import, backup"))
        files.addActions([self.export, self.take_in, self.back_up, self.restore])
        menu.addSeparator()
        menu.addActions([self.use_cache, self.clear_cache, self.serve])
        menu.addSeparator()
        menu.addMenu(self._view_menu())
        menu.addMenu(model_menu)
        menu.addAction(self.preferences)
        menu.addMenu(tr("&Help")).addActions([self.shortcuts, self.about])
        menu.addSeparator()
        menu.addAction(self.quit)
        return menu

    def _view_menu(self) -> QMenu:
        menu = QMenu(tr("&View"), self._window)
        menu.addActions([self.show_sidebar, self.show_charts, self.tree])
        menu.addMenu(tr("C&olours")).addActions(list(self.themes.values()))
        menu.addMenu(tr("Te&xt size")).addActions([self.larger, self.smaller, self.usual_size])
        return menu

    def with_shortcuts(self) -> list[tuple[str, str]]:
        """What can be done from the keyboard, and with which keys."""
        made = [each for each in vars(self).values() if isinstance(each, QAction) and not each.shortcut().isEmpty()]
        shown = QKeySequence.SequenceFormat.NativeText
        sizes = {
            self.larger: tr("Larger text"),
            self.smaller: tr("Smaller text"),
            self.usual_size: tr("Usual size of text"),
        }
        named = [(each, sizes.get(each, each.text().replace("&", "").rstrip("…"))) for each in made]
        return [(name, each.shortcut().toString(shown)) for each, name in named]

    def _make(self, text: str, shortcut: str, checkable: bool = False) -> QAction:
        action = QAction(text, self._window)
        action.setCheckable(checkable)
        if shortcut:
            action.setShortcut(QKeySequence(shortcut))
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self._window.addAction(action)
        return action

    def _theme_actions(self) -> dict[str, QAction]:
        group = QActionGroup(self._window)
        made = {}
        for value, label in THEMES:
            action = self._make(label, "", checkable=True)
            action.setData(value)
            group.addAction(action)
            made[value] = action
        return made
