"""What else can be done with a message: go on, edit, branch, look at it raw, delete; each with what it costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QMenu, QWidget

from app.chat.filing import Filing
from app.chat.rewriting import Rewriting
from app.chat.session import Session
from app.language import tr
from app.transcript.branches_dialog import BranchesDialog
from app.transcript.message_dialog import MessageDialog
from app.window.answered_by import AnsweredBy
from app.window.window import Window
from app.words import recomputes
from engine import Preview

DELETE = {"user": tr("Delete this question and its answers"), "assistant": tr("Delete this answer")}
BRANCH = tr("Branch from here into a new conversation · nothing is read again")


class RewritingPresenter(QObject):
    """The menu and the "Continue" button of messages. `open_dialog` shows a dialog over the window."""

    def __init__(
        self,
        window: Window,
        session: Session,
        rewriting: Rewriting,
        filing: Filing,
        answered_by: AnsweredBy,
        open_dialog: Callable[[QDialog], None],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._rewriting = rewriting
        self._filing = filing
        self._open_dialog = open_dialog
        self._delete: tuple[int, QAction | None] = (0, None)
        wishes = window.transcript.wishes
        wishes.go_on.connect(self.go_on)
        wishes.go_on_pointed.connect(self._on_go_on_pointed)
        wishes.edit_pointed.connect(self._on_edit_pointed)
        wishes.menu.connect(self.show_menu)
        window.commands.go_on.triggered.connect(self.go_on)
        window.commands.versions.triggered.connect(self.show_versions)
        rewriting.priced.connect(self._on_priced)
        rewriting.deleted.connect(self._on_deleted)
        session.message_reopened.connect(self._refresh)
        session.message_finished.connect(self._refresh)
        session.conversation_changed.connect(self._refresh)
        session.message_added.connect(self._refresh)
        session.answers.model_changed.connect(self._refresh)
        answered_by.changed.connect(self._refresh)
        self._refresh()

    def go_on(self) -> None:
        """Go on with the answer at the end."""
        self._window.notice.clear()
        self._rewriting.go_on()
        self._window.composer.edit.setFocus()

    def show_menu(self, message_id: int, below: QWidget) -> None:
        """Show what can be done with this message below its button."""
        menu = self.menu_for(message_id)
        menu.popup(below.mapToGlobal(below.rect().bottomLeft()))

    def menu_for(self, message_id: int) -> QMenu:
        """What can be done with this message; the price of deleting it follows when it is known."""
        message = next(each for each in self._session.messages if each.id == message_id)
        menu = QMenu(self._window)
        menu.setAccessibleName(tr("What can be done with this message"))
        menu.addAction(BRANCH, partial(self._filing.branch, message_id))
        menu.addAction(tr("Raw text and details…"), partial(self.show_raw, message_id))
        self._offer_underline(menu, message_id)
        menu.addSeparator()
        delete = menu.addAction(
            DELETE.get(message.role, tr("Delete this")), partial(self._rewriting.delete, message_id)
        )
        self._delete = (message_id, delete)
        self._rewriting.consider(message_id)
        menu.aboutToHide.connect(self._forget_menu)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _offer_underline(self, menu: QMenu, message_id: int) -> None:
        answer = self._window.transcript.answer(message_id)
        if answer is not None and answer.content.accepted:
            action = menu.addAction(tr("Underline what was written ahead"))
            action.setCheckable(True)
            action.setChecked(answer.is_ahead_underlined)
            action.toggled.connect(answer.underline_ahead)

    def show_versions(self) -> None:
        """Show where the conversation in view branches."""
        outline = self._rewriting.outline()
        if not outline:
            return
        dialog = BranchesDialog(outline, {message.id for message in self._session.messages}, self._window)
        dialog.chosen.connect(self._show_branch)
        self._open_dialog(dialog)

    def _show_branch(self, message_id: int) -> None:
        if all(message.id != message_id for message in self._session.messages):
            self._session.choose_sibling(message_id)
        self._window.transcript.show_message(message_id)

    def show_raw(self, message_id: int) -> None:
        """Show a message letter by letter, and what is known of it."""
        message = next(each for each in self._session.messages if each.id == message_id)
        versions = self._session.versions(message_id)
        place = versions.index(message_id) + 1
        self._open_dialog(MessageDialog(message, (place, len(versions)), self._window))

    def _on_go_on_pointed(self, message_id: int, pointed: bool) -> None:
        self._rewriting.consider(message_id if pointed else 0, is_going_on=True)

    def _on_edit_pointed(self, message_id: int, pointed: bool) -> None:
        """To change an answer costs what is read behind it, as without it."""
        is_answer = any(each.id == message_id and each.role == "assistant" for each in self._session.messages)
        if is_answer:
            self._rewriting.consider(message_id if pointed else 0)

    def _forget_menu(self) -> None:
        self._delete = (0, None)
        self._rewriting.consider(0)

    def _on_priced(self, message_id: int, preview: Preview) -> None:
        number, action = self._delete
        if action is not None and number == message_id:
            action.setText(
                tr(
                    "{split} · next prompt: {recomputes}",
                    split=action.text().split(" · ")[0],
                    recomputes=recomputes(preview),
                )
            )
        elif (message := self._window.transcript.message(message_id)) is not None:
            button = message.tools.go_on if self._rewriting.is_going_on else message.tools.edit
            button.say_also(recomputes(preview))

    def _on_deleted(self, message_id: int) -> None:
        """The deletion is final when this notice goes."""
        notice = self._window.notice

        def take_back() -> bool:
            if is_back := self._rewriting.take_back(message_id):
                notice.clear()
            return is_back

        finish = partial(self._rewriting.finish, message_id)
        notice.show_offer(tr("Deleted."), tr("Undo"), take_back, is_error=False, expire=finish)

    def _refresh(self, change: object = None) -> None:
        self._window.transcript.set_can_go_on(not self._rewriting.is_on_server)
        messages = self._session.messages
        can = bool(messages) and self._rewriting.can_go_on(messages[-1])
        self._window.commands.go_on.setEnabled(can)
        self._window.commands.versions.setEnabled(bool(messages))
