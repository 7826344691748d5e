"""Everything that can be done from the keyboard or the menu: one QAction each, with its shortcut."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.window.preferences import THEMES


class Actions:
    """The actions of the window and the menus made of them. Whoever does the work connects `triggered`."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self.new = self._make("&New conversation", "Ctrl+N")
        self.rename = self._make("&Rename conversation", "F2")
        self.delete = self._make("&Delete conversation", "")
        self.system_prompt = self._make("&System prompt…", "Ctrl+P")
        self.sampling = self._make("Sa&mpling settings…", "Ctrl+Shift+P")
        self.retry = self._make("&Answer again", "Ctrl+R")
        self.go_on = self._make("Continue the ans&wer", "Ctrl+Shift+R")
        self.versions = self._make("&Versions of this conversation…", "Ctrl+Shift+B")
        self.copy_answer = self._make("&Copy the newest answer", "Ctrl+Shift+C")
        self.prove = self._make("Pro&ve the newest answer…", "Ctrl+Shift+E")
        self.stop = self._make("S&top", "Esc")
        self.use_cache = self._make("&Remember what was read", "", checkable=True)
        self.serve = self._make("Answer &other programs", "", checkable=True)
        self.clear_cache = self._make("&Forget what was read", "")
        self.find = self._make("Find a conversati&on", "Ctrl+Shift+F")
        self.find_here = self._make("&Find in this conversation", "Ctrl+F")
        self.write = self._make("&Write a message", "Ctrl+L")
        self.show_sidebar = self._make("Show conversations", "Ctrl+B", checkable=True)
        self.show_charts = self._make("Show charts", "Ctrl+J", checkable=True)
        self.tree = self._make("Open the &tree of shared beginnings", "Ctrl+T")
        self.open_folder = self._make("Open model &folder…", "Ctrl+O")
        self.open_gguf = self._make("Open &GGUF file…", "Ctrl+Shift+O")
        self.open_server = self._make("Use a &server…", "")
        self.open_default = self._make("&Default model", "")
        self.preferences = self._make("&Preferences…", "Ctrl+,")
        self.about = self._make("About &Headstart…", "")
        self.quit = self._make("&Quit", "Ctrl+Q")
        self.open_menu = self._make("Open the menu", "F10")
        self.shortcuts = self._make("&Keyboard shortcuts", "F1")
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)
        self.about.setMenuRole(QAction.MenuRole.AboutRole)
        self.preferences.setMenuRole(QAction.MenuRole.PreferencesRole)
        self.themes = self._theme_actions()
        self.filing_menu = QMenu("&File this conversation", window)
        self.stop.setEnabled(False)

    def model_menu(self) -> QMenu:
        """How another model is opened."""
        menu = QMenu("&Model", self._window)
        menu.addActions([self.open_folder, self.open_gguf])
        menu.addSeparator()
        menu.addAction(self.open_server)
        menu.addAction(self.open_default)
        return menu

    def main_menu(self, model_menu: QMenu) -> QMenu:
        """Everything, in groups."""
        menu = QMenu("Menu", self._window)
        groups: tuple[tuple[QAction, ...], ...] = (
            (self.new, self.find_here, self.find, self.write),
            (self.rename, self.system_prompt, self.sampling, self.versions, self.delete),
            (self.retry, self.go_on, self.copy_answer, self.prove, self.stop),
            (self.use_cache, self.clear_cache, self.serve),
            (self.show_sidebar, self.show_charts, self.tree),
        )
        for group in groups:
            menu.addActions(list(group))
            menu.addSeparator()
        menu.insertMenu(self.delete, self.filing_menu)
        colours = menu.addMenu("C&olours")
        colours.addActions(list(self.themes.values()))
        menu.addMenu(model_menu)
        menu.addActions([self.preferences, self.shortcuts, self.about])
        menu.addSeparator()
        menu.addAction(self.quit)
        return menu

    def with_shortcuts(self) -> list[tuple[str, str]]:
        """What can be done from the keyboard, and with which keys."""
        made = [each for each in vars(self).values() if isinstance(each, QAction) and not each.shortcut().isEmpty()]
        shown = QKeySequence.SequenceFormat.NativeText
        return [(each.text().replace("&", "").rstrip("…"), each.shortcut().toString(shown)) for each in made]

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
