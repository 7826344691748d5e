"""Folders, the top of the list, copies and deletions, as the user asks for them in menus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QMenu

from app.chat.filing import Filing
from app.chat.session import Session
from app.chat.titles import Titles
from app.language import tr
from app.window.name_dialog import NameDialog
from app.window.window import Window
from app.words import shortened_line, tokens
from engine import Matched

ALL = tr("All conversations")
LONGEST_TITLE = 120
"""Characters of a title that the notice of a deletion repeats."""


class FilingPresenter(QObject):
    """Adds to the menu of each conversation and to that of the list, and offers to take a deletion back.

    `open_dialog` shows a dialog over the window.
    """

    def __init__(
        self,
        window: Window,
        session: Session,
        filing: Filing,
        titles: Titles,
        open_dialog: Callable[[QDialog], None],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._filing = filing
        self._titles = titles
        self._open_dialog = open_dialog
        window.sidebar.list.menu_made.connect(self._extend)
        window.sidebar.list.delete_wanted.connect(filing.delete)
        window.sidebar.folder_button.menu().aboutToShow.connect(self._fill_folder_menu)
        window.commands.delete.triggered.connect(lambda: filing.delete(session.conversation.id))
        window.commands.filing_menu.aboutToShow.connect(self._fill_filing_menu)
        titles.written.connect(self._on_title)
        filing.deleted.connect(self._on_deleted)
        filing.changed.connect(self._show_folder)
        self._show_folder()

    def _extend(self, menu: QMenu, number: int) -> None:
        """The entries for one conversation, before the one that deletes it."""
        last = menu.actions()[-1]
        extra = QMenu(menu)
        self._add_entries(extra, number)
        for action in extra.actions():
            menu.insertAction(last, action)
        menu.insertSeparator(last)

    def _fill_filing_menu(self) -> None:
        """What can be done with the conversation in view, in the window's own menu."""
        menu = self._window.commands.filing_menu
        menu.clear()
        if number := self._session.conversation.id:
            self._add_entries(menu, number)
        else:
            menu.addAction(tr("Nothing is written yet")).setEnabled(False)

    def _add_entries(self, menu: QMenu, number: int) -> None:
        entry = self._filing.entry(number)
        is_top, folder_id = (entry.is_top, entry.folder_id) if entry else (False, 0)
        menu.addAction(
            tr("Keep no longer at the top") if is_top else tr("Keep at the top"),
            partial(self._filing.keep_at_top, number, not is_top),
        )
        if self._titles.can_write(number):
            menu.addAction(tr("Have the model write a title"), partial(self._titles.write, number))
        menu.addAction(tr("Duplicate"), partial(self._filing.duplicate, number))
        into = menu.addMenu(tr("Move to a folder"))
        for folder in self._filing.folders:
            action = into.addAction(_shown(folder.name), partial(self._filing.move, number, folder.id))
            action.setCheckable(True)
            action.setChecked(folder.id == folder_id)
        if folder_id:
            into.addAction(tr("Out of its folder"), partial(self._filing.move, number, 0))
        into.addSeparator()
        into.addAction(tr("New folder…"), partial(self.ask_folder, number))

    def _fill_folder_menu(self) -> None:
        """Which folder is listed, and what can be done with it."""
        menu, chosen = self._window.sidebar.folder_button.menu(), self._filing.folder_id
        menu.clear()
        folders = [
            (0, ALL),
            *(
                (each.id, tr("{shown}  ({count:,})", shown=_shown(each.name), count=each.count))
                for each in self._filing.folders
            ),
        ]
        for number, says in folders:
            action = menu.addAction(says, partial(self._filing.choose_folder, number))
            action.setCheckable(True)
            action.setChecked(number == chosen)
        menu.addSeparator()
        menu.addAction(tr("New folder…"), self.ask_folder)
        if chosen:
            menu.addAction(tr("Rename this folder…"), self.ask_folder_name)
            menu.addAction(
                tr("Delete this folder, keep its conversations"), partial(self._filing.delete_folder, chosen)
            )

    def ask_folder(self, conversation_id: int = 0) -> None:
        """Ask for the name of a new folder; with an id, for this conversation."""

        def use(name: str) -> None:
            self._filing.add_folder(name, conversation_id)

        self._open_dialog(NameDialog(tr("New folder"), tr("Name of the folder"), "", use, self._window))

    def ask_folder_name(self) -> None:
        """Ask for another name of the folder that is listed."""
        use = partial(self._filing.rename_folder, self._filing.folder_id)
        self._open_dialog(
            NameDialog(tr("Rename folder"), tr("Name of the folder"), self._folder_name(), use, self._window)
        )

    def _folder_name(self) -> str:
        chosen = self._filing.folder_id
        return next((folder.name for folder in self._filing.folders if folder.id == chosen), "")

    def _show_folder(self) -> None:
        self._window.sidebar.show_folder(self._folder_name() or tr("Conversations"))

    def _on_title(self, number: int, matched: Matched) -> None:
        read, remembered = tokens(matched.computed_tokens), matched.reused_tokens
        said = tr(
            "The title is written: {read} read for it, {remembered:,} were remembered.",
            read=read,
            remembered=remembered,
        )
        if self._window.notice.text == "":  # what is said there matters more
            self._window.notice.show_notice(said)

    def _on_deleted(self, number: int, title: str) -> None:
        """The deletion is final when this notice goes."""
        notice = self._window.notice

        def take_back() -> bool:
            if is_back := self._filing.take_back(number):
                notice.clear()
            return is_back

        finish = partial(self._filing.finish, number)
        said = shortened_line(title, LONGEST_TITLE)
        notice.show_offer(tr("“{said}” is deleted.", said=said), tr("Undo"), take_back, is_error=False, expire=finish)


def _shown(name: str) -> str:
    """A name as a menu shows it: an ampersand there would mark a key."""
    return name.replace("&", "&&")
