"""The real window with the default model, used as a user would: `xvfb-run -s "-screen 0 1920x1200x24" python -m
tests.app.real_window FOLDER [NAME…]`.

Each feature is tried with keys, clicks, menus, drops and file dialogs, and its outcome looked for on the screen; it is
pictured in both themes, then all of it once more at 200%. NAMEs pick features (the ways they depend on each other are
in their order). One line for each says what was seen; the exit status is 1 where something was not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QWidget,
)

if TYPE_CHECKING:  # the language is chosen before the first module with texts is imported
    from app.application import Application
    from app.transcript.message import Answer, MessageWidget

PATIENCE_S = 90
"""Seconds that anything may take on a busy computer."""
W = TypeVar("W", bound=QWidget)
NOTHING = Qt.KeyboardModifier.NoModifier
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
FORMULAS = (
    r"The roots are $x = \frac{-b \pm \sqrt{b^2-4ac}}{2a}$; a ticket costs $5 and $6." + "\n\n" + r"\[ e^{i\pi} = -1 \]"
)
LIST = "apple tent, blue kettle, cedar spoon, dusty lamp, early train, fresh bread, green door, heavy boots"


class NotSeenError(Exception):
    """What a feature should have brought was not on the screen."""


class User:
    """Sits before the window: acts with keyboard and mouse, waits for what should appear, and takes pictures."""

    def __init__(self, application: Application, pictures: Path, work: Path) -> None:
        self.application = application
        self.window, self.composer = application.window, application.window.composer
        self.commands, self.session = application.window.commands, application.session
        self.pictures, self.work = pictures, work

    # Waiting and looking

    def settle(self, milliseconds: int = 30) -> None:
        """Let the window go on for a moment."""
        loop = QEventLoop()
        QTimer.singleShot(milliseconds, loop.quit)
        loop.exec()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def see(self, what: str, is_there: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
        """Wait until something is there. Raises NotSeenError, which says what was not, with what the notice says."""
        end = time.monotonic() + patience_s
        while not is_there():
            if time.monotonic() > end:
                raise NotSeenError(f"{what}; the notice says “{self.window.notice.text}”")
            self.settle()

    def picture(self, name: str, widget: QWidget | None = None) -> None:
        """Save what is on top (a dialog, else the window) in both themes."""
        shown = widget or QApplication.activeModalWidget() or self.window
        for theme in ("dark", "light"):
            self.commands.themes[theme].trigger()
            self.see("all messages", lambda: not self.window.transcript.is_building, 20)
            self.settle(200)  # what is built then is laid out, and drawn once more
            scale = f"@{round(shown.devicePixelRatioF())}x"
            shown.grab().save(str(self.pictures / f"{name}{scale}-{theme}.png"))

    def dialog(self, kind: type[W]) -> W:
        """The dialog of this kind, once it is open."""
        self.see(f"a {kind.__name__}", lambda: isinstance(QApplication.activeModalWidget(), kind))
        found = QApplication.activeModalWidget()
        assert isinstance(found, kind)
        return found

    # Acting

    def click(self, widget: QWidget) -> None:
        """Click a widget that can be seen and clicked."""
        self.see(f"{widget.accessibleName() or type(widget).__name__} to click", lambda: _is_clickable(widget), 20)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
        self.settle()

    def press(self, text: str, inside: QWidget) -> None:
        """Click the button that says this."""

        def buttons() -> list[QPushButton]:
            every = inside.findChildren(QPushButton)
            return [each for each in every if each.text().replace("&", "").startswith(text) and each.isVisible()]

        self.see(f"a button “{text}”", buttons, 20)
        self.click(buttons()[0])

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NOTHING, widget: QWidget | None = None) -> None:
        """Press a key where the focus is, in a window that was clicked where it is not the active one."""
        top = (widget or QApplication.activeModalWidget() or self.window).window()
        if not top.isActiveWindow() and QApplication.activePopupWidget() is None:
            top.activateWindow()
            self.see("the window in front", top.isActiveWindow, 10)
        QTest.keyClick(widget or QApplication.focusWidget() or self.window, key, modifiers)
        self.settle()

    def do(self, action: QAction) -> None:
        """Choose what the menu beside the chat offers."""
        menu = self.window.header.menu_button.menu()
        self.see(f"“{action.text()}” in the menu", lambda: action.isEnabled() and action in _entries(menu), 20)
        action.trigger()
        self.settle()

    def choose(self, text: str, menu: QMenu | None = None) -> None:
        """Click an entry of the menu that is open; those of menus within it are found, too."""
        self.see("an open menu", lambda: menu or QApplication.activePopupWidget(), 20)
        top = menu or QApplication.activePopupWidget()
        assert isinstance(top, QMenu)
        found = [each for each in _entries(top) if each.text().replace("&", "").startswith(text) and each.isEnabled()]
        if not found:
            raise NotSeenError(f"“{text}” in a menu with {[each.text() for each in _entries(top)]}")
        if found[0] in top.actions() and top.isVisible():
            QTest.mouseClick(top, Qt.MouseButton.LeftButton, NOTHING, top.actionGeometry(found[0]).center())
        else:
            found[0].trigger()
            top.close()
        self.settle()

    def name_file(self, begin: Callable[[], object], path: Path) -> None:
        """Do what opens a file dialog, type this path in it and press Enter."""

        def answer() -> None:
            dialog = QApplication.activeModalWidget()
            if not isinstance(dialog, QFileDialog):
                QTimer.singleShot(50, answer)
                return
            field = dialog.findChild(QLineEdit, "fileNameEdit")
            assert isinstance(field, QLineEdit)
            field.clear()
            QTest.keyClicks(field, str(path))
            QTest.keyClick(field, Qt.Key.Key_Return)

        QTimer.singleShot(50, answer)
        begin()
        self.settle()

    def drop(self, *paths: Path) -> None:
        """Drop files on the window."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        left, place = Qt.MouseButton.LeftButton, QPoint(400, 300)
        enter = QDragEnterEvent(place, Qt.DropAction.CopyAction, data, left, NOTHING)
        QApplication.sendEvent(self.window, enter)
        if not enter.isAccepted():
            raise NotSeenError("that files may be dropped")
        drop = QDropEvent(QPointF(place), Qt.DropAction.CopyAction, data, left, NOTHING)
        QApplication.sendEvent(self.window, drop)
        self.settle()

    # What a chat is made of

    def new(self) -> None:
        """Begin a conversation, with answers that are short and always the same."""
        self.key(Qt.Key.Key_N, CONTROL, self.window)
        self.see("an empty conversation", lambda: not self.session.messages, 20)

    def type(self, text: str) -> None:
        """Type into the message."""
        QTest.keyClicks(self.composer.edit, text)
        self.settle()

    def ask(self, text: str, *, waits: bool = True) -> None:
        """Type a question and press Enter; wait for the end of its answer."""
        before = self._newest_id()
        self.type(text)
        self.see("that Send can be pressed", self.composer.button.isEnabled)
        self.key(Qt.Key.Key_Return, widget=self.composer.edit)
        self.see("the question in the conversation", lambda: self._newest_id() != before)
        if waits:
            self.end()

    def _newest_id(self) -> int:
        return self.session.messages[-1].id if self.session.messages else 0

    def ask_refused(self, text: str) -> None:
        """Ask what is refused: the notice says why, and the question is still in the field."""
        self.window.notice.clear()
        self.type(text)
        self.see("that Send can be pressed", self.composer.button.isEnabled)
        self.key(Qt.Key.Key_Return, widget=self.composer.edit)
        self.see("why it is refused", lambda: self.window.notice.text, 30)
        self.composer.edit.clear()

    def end(self) -> None:
        """Wait until nothing is being answered."""
        self.see("the end of the answer", lambda: not self.session.is_busy and self.composer.button.text() != "Stop")
        self.settle(100)

    def open_menu_of(self, message: MessageWidget) -> None:
        """Click the "…" of a message."""
        self.window.transcript.show_message(message.content.id)
        self.click(message.tools.more)

    def answer(self) -> Answer:
        """The newest answer as it is drawn."""
        from app.transcript.message import Answer

        newest = self.window.transcript.messages[-1]
        assert isinstance(newest, Answer)
        return newest


def _entries(menu: QMenu) -> list[QAction]:
    """What a menu offers, and the menus within it, once each was told that it opens."""
    menu.aboutToShow.emit()
    inner = [each for action in menu.actions() if (sub := action.menu()) for each in _entries(sub)]  # type: ignore[attr-defined]
    return [*menu.actions(), *inner]


def _is_clickable(widget: QWidget) -> bool:
    return widget.isVisible() and widget.isEnabled()


# The features, in the order in which they are tried


def show_me(user: User) -> str:
    """The first start offers the support bot; its second question shows the saving."""
    user.see("the model", lambda: user.session.model is not None)
    user.picture("first-start")
    user.press("Show me", user.window.empty)
    user.see("the first answer", lambda: len(user.session.messages) == 2)
    user.end()
    user.see("the offer of the second question", lambda: user.window.notice.offer.isVisible(), 30)
    user.picture("show-me-first")
    user.click(user.window.notice.offer)
    user.see("the second answer", lambda: len(user.session.messages) == 4)
    user.end()
    stats = user.session.messages[-1].stats
    if stats is None or stats.reused_tokens < 1000:
        raise NotSeenError(f"that the second question reuses the prompt: {stats}")
    user.picture("show-me-second")
    return f"{user.answer().strip.text} | {user.window.charts.headline.text}"


def chat(user: User) -> str:
    """Shift+Enter breaks the line, Esc stops, Continue goes on."""
    user.new()
    user.type("Tell me a long story")
    user.key(Qt.Key.Key_Return, SHIFT, user.composer.edit)
    user.type("about a lighthouse")
    if "\n" not in user.composer.text:
        raise NotSeenError("a line break after Shift+Enter")
    user.key(Qt.Key.Key_Return, widget=user.composer.edit)
    user.see("the beginning of an answer", lambda: user.session.is_busy and len(user.answer().text) > 80)
    user.key(Qt.Key.Key_Escape, widget=user.composer.edit)
    user.end()
    before = user.answer().text
    user.picture("stopped")
    user.click(user.answer().tools.go_on)
    user.see("more of the answer", lambda: len(user.answer().text) > len(before) + 40)
    said = user.composer.next_prompt.text
    user.key(Qt.Key.Key_Escape, widget=user.composer.edit)
    user.end()
    if not user.answer().text.startswith(before):
        raise NotSeenError("that the answer goes on from where it was stopped")
    return f"went on behind {len(before)} characters: {said}"


def read_ahead(user: User) -> str:
    """What is typed is read before Enter."""
    user.new()
    words = "Please explain in a few words why the sky looks blue during the day and turns red in the evening when"
    user.type(words)
    user.see("“read ahead” above the message", lambda: "read ahead" in user.composer.next_prompt.text)
    user.picture("read-ahead")
    said = user.composer.next_prompt.text
    user.ask(" the sun sets")
    if "read ahead" not in user.answer().strip.figures:
        raise NotSeenError(f"“read ahead” among the figures: {user.answer().strip.figures}")
    user.click(user.answer().tools.figures)
    user.picture("details")
    user.click(user.answer().tools.figures)
    return f"{said} | {user.answer().strip.figures}"


def prove(user: User) -> str:
    """Both runs side by side, with equal tokens."""
    from app.proof.dialog import ProofDialog

    user.click(user.answer().tools.prove)
    proof = user.dialog(ProofDialog)
    user.see("the end of the proof", lambda: proof.button.text() == "Close")
    user.picture("proof")
    said = f"{proof.headline.text()} {proof.says.text()}"
    user.click(proof.button)
    if "same" not in said and "equal" not in said:
        raise NotSeenError(f"that both wrote the same: {said}")
    return said


def edit_question(user: User) -> str:
    """An edited question is another version; arrows and the overview lead back."""
    from app.transcript.branches_dialog import BranchesDialog

    question = user.window.transcript.messages[-2]
    user.click(question.tools.edit)
    user.composer.edit.selectAll()
    user.ask("What is a kettle?")
    transcript = user.window.transcript
    user.see("two versions", lambda: transcript.messages[-2].tools.before.isVisible(), 10)
    user.key(Qt.Key.Key_B, CONTROL | SHIFT, user.window)
    overview = user.dialog(BranchesDialog)
    user.picture("versions", overview)
    user.key(Qt.Key.Key_Escape, widget=overview)
    user.click(transcript.messages[-2].tools.before)
    user.see("the version before", lambda: "sky" in user.window.transcript.messages[-2].text, 10)
    return "two versions, and back"


def formulas(user: User) -> str:
    """TeX is drawn in an answer that the user wrote anew; prices stay."""
    user.click(user.answer().tools.edit)
    user.composer.edit.selectAll()
    QApplication.clipboard().setText(FORMULAS)
    user.key(Qt.Key.Key_V, CONTROL, user.composer.edit)
    user.key(Qt.Key.Key_Return, widget=user.composer.edit)
    user.see("the edited answer", lambda: user.answer().text == FORMULAS)
    drawn = user.answer().view.document()
    user.see("two drawn formulas", lambda: drawn.toPlainText().count("\ufffc") == 2, 30)
    if "$5 and $6" not in drawn.toPlainText():
        raise NotSeenError("prices as they were written")
    user.picture("formulas")
    user.answer().copy()
    if QApplication.clipboard().text() != FORMULAS:
        raise NotSeenError("TeX on the clipboard")
    return "two formulas drawn, prices kept, TeX copied"


def raw_text(user: User) -> str:
    """What a message is made of stands behind its "…"."""
    from app.transcript.message_dialog import MessageDialog

    user.open_menu_of(user.answer())
    user.picture("message-menu", QApplication.activePopupWidget())
    user.choose("Raw text")
    raw = user.dialog(MessageDialog)
    user.picture("raw-text", raw)
    user.key(Qt.Key.Key_Escape, widget=raw)
    return ", ".join(f"{name}: {value}" for name, value in raw.facts)


def delete_and_undo(user: User) -> str:
    """A deleted message comes back with Undo; where it had another version, that is in its place meanwhile."""
    before = user.session.messages
    user.open_menu_of(user.answer())
    user.choose("Delete this answer")
    user.see("it gone", lambda: before[-1].id not in [each.id for each in user.session.messages], 10)
    user.picture("deleted")
    user.click(user.window.notice.offer)
    user.see("it again", lambda: user.session.messages[-1].id == before[-1].id, 10)
    return "deleted, and back"


def branch(user: User) -> str:
    """A message begins a conversation of its own."""
    first = user.session.conversation.id
    user.open_menu_of(user.answer())
    user.choose("Branch from here")
    user.see("another conversation", lambda: user.session.conversation.id != first, 10)
    user.see("what its next prompt costs", lambda: user.composer.next_prompt.preview is not None, 60)
    return f"“{user.session.conversation.title}”: {user.composer.next_prompt.text}"


def written_ahead(user: User) -> str:
    """Guessed words that held are underlined on demand."""
    user.new()
    user.ask(f"Repeat this list word by word, nothing else: {LIST}. {LIST}.")
    user.ask("Repeat the same list once more, word by word.")
    found = [each for each in user.session.messages if each.stats and each.stats.accepted_tokens]
    if not found:
        raise NotSeenError("guesses that held")
    answer = user.window.transcript.answer(found[-1].id)
    assert answer is not None
    user.open_menu_of(answer)
    user.choose("Underline what was written ahead")
    user.see("underlined words", lambda: answer.view.underlined(), 10)
    user.picture("written-ahead")
    return answer.strip.figures


def find_here(user: User) -> str:
    """Ctrl+F finds in the conversation."""
    user.key(Qt.Key.Key_F, CONTROL, user.window)
    bar = user.application.finding.bar
    user.see("the bar", bar.isVisible, 10)
    QTest.keyClicks(bar.field, "repeat")
    user.see("what was found", lambda: "messages" in bar.count.text(), 10)
    user.picture("find")
    said = bar.count.text()
    user.key(Qt.Key.Key_Escape, widget=bar.field)
    return said


def search(user: User) -> str:
    """Ctrl+Shift+F finds what was said in any conversation, and Enter opens it there."""
    user.key(Qt.Key.Key_F, CONTROL | SHIFT, user.window)
    sidebar, before = user.window.sidebar, user.session.conversation.id
    QTest.keyClicks(sidebar.search, "lighthouse")
    user.see(
        "one row with the words around it", lambda: [row for row in sidebar.list.rows if "lighthouse" in row.excerpt]
    )
    user.picture("search")
    user.key(Qt.Key.Key_Return, widget=sidebar.search)
    user.see("that conversation", lambda: user.session.conversation.id != before, 10)
    excerpt = sidebar.list.rows[0].excerpt
    sidebar.search.clear()
    user.settle(300)
    return excerpt


def folders(user: User) -> str:
    """A folder from the menu; kept at the top; a copy; a conversation deleted, and back."""
    from app.window.name_dialog import NameDialog

    sidebar = user.window.sidebar
    user.choose("New folder…", user.commands.filing_menu)
    asked = user.dialog(NameDialog)
    QTest.keyClicks(asked.field, "Stories & more")
    user.key(Qt.Key.Key_Return, widget=asked.field)
    user.choose("Keep at the top", user.commands.filing_menu)
    user.see("one at the top", lambda: sidebar.list.rows and sidebar.list.rows[0].is_top, 10)
    count = len(sidebar.list.rows)
    user.choose("Duplicate", user.commands.filing_menu)
    user.see("one more", lambda: len(sidebar.list.rows) == count + 1, 10)
    user.do(user.commands.delete)
    user.see("one less", lambda: len(sidebar.list.rows) == count, 10)
    user.picture("conversation-deleted")
    user.click(user.window.notice.offer)
    user.see("it again", lambda: len(sidebar.list.rows) == count + 1, 10)
    user.choose("Stories", sidebar.folder_button.menu())
    user.see("the folder alone", lambda: 0 < len(sidebar.list.rows) <= 2, 10)
    user.picture("folder")
    said = f"{sidebar.folder_button.accessibleName()}, {len(sidebar.list.rows)} in it"
    user.choose("All", sidebar.folder_button.menu())
    return said


def title(user: User) -> str:
    """The model writes a title on request."""
    before = user.session.conversation.title
    user.choose("Have the model write a title", user.commands.filing_menu)
    user.see("another title", lambda: user.session.conversation.title != before)
    return f"“{before}” became “{user.session.conversation.title}”; {user.window.notice.text}"


def attach(user: User) -> str:
    """Dropped files are priced, sent in front of the question, read once; scans and too long ones are refused."""
    from docx import Document
    from pypdf import PdfWriter

    from app.transcript.message import Question

    text, page, scan, long = (user.work / name for name in ("tents.md", "letter.docx", "scan.pdf", "long.txt"))
    text.write_text("# Tents\n\nThe blue tent weighs 1,250 g. The red tent weighs 900 g.\n", "utf-8")
    document = Document()
    document.add_paragraph("The meeting is on Tuesday at nine.")
    document.save(str(page))
    writer = PdfWriter()
    writer.add_blank_page(200, 200)
    writer.write(scan)
    long.write_text("The long road goes ever on and on. " * 20_000, "utf-8")
    user.new()
    user.drop(text, page)
    row = user.composer.files
    user.see("two files with their price", lambda: len(row.names) == 2 and "read once" in row.says.text())
    user.picture("files")
    said = row.says.text()
    user.drop(scan)
    user.see("that a scan is refused", lambda: "scan" in user.window.notice.text.lower(), 30)
    refused = user.window.notice.text
    user.drop(long)
    user.see("that a long file is refused", lambda: user.window.notice.offer.text().startswith("Take its beginning"))
    user.picture("file-too-long")
    refused = f"{refused} {user.window.notice.text}"
    user.see("the price of the files that stay", lambda: "read once" in row.says.text(), 20)
    user.ask("Which tent is lighter?")
    question = user.window.transcript.messages[-2]
    if not isinstance(question, Question) or len(question.files) != 2:
        raise NotSeenError("two folded files above the question")
    user.ask("And when is the meeting?")
    stats = user.session.messages[-1].stats
    if stats is None or stats.reused_tokens < stats.computed_tokens:
        raise NotSeenError(f"that files are read once: {stats}")
    user.picture("files-sent")
    return f"{said} | {refused} | then {stats.reused_tokens} remembered, {stats.computed_tokens} read"


def exchange(user: User) -> str:
    """Out in all four kinds, in again, a backup, and back to it."""
    written = []
    for ending in (".md", ".html", ".pdf", ".headstart"):
        path = user.work / f"out{ending}"
        user.name_file(lambda: user.do(user.commands.export), path)
        user.see(f"a file {path.name}", lambda path=path: path.is_file() and path.stat().st_size > 100, 30)  # type: ignore[misc]
        written.append(f"{ending} {path.stat().st_size}")
    count = len(user.window.sidebar.list.rows)
    user.name_file(lambda: user.do(user.commands.take_in), user.work / "out.headstart")
    user.see("one conversation more", lambda: len(user.window.sidebar.list.rows) == count + 1, 30)
    said = user.window.notice.text
    user.name_file(lambda: user.do(user.commands.back_up), user.work / "all.zip")
    user.see("a backup", (user.work / "all.zip").is_file, 30)
    user.picture("backup")
    return f"{', '.join(written)}; {said} {user.window.notice.text}"


def presets(user: User) -> str:
    """A system prompt with a clock and a variable is kept, chosen with a value, and made resident."""
    from app.system_prompt.editor import SystemPromptEditor
    from app.system_prompt.fields_dialog import FieldsDialog

    user.new()
    user.key(Qt.Key.Key_P, CONTROL, user.window)
    editor = user.dialog(SystemPromptEditor)
    QTest.keyClicks(editor.edit, "You are the guide of {{town}}. It is {{time}}. Answer in one short sentence.")
    user.see("what the clock costs", lambda: any("time" in each for each in editor.findings.texts), 60)
    QTest.keyClicks(editor.presets.name, "Guide")
    user.key(Qt.Key.Key_Return, widget=editor.presets.name)
    user.see("the preset", lambda: [row.title for row in editor.presets.list.rows] == ["Guide"], 10)
    user.click(editor.presets.keep_resident)
    user.picture("system-prompt", editor)
    user.click(editor.presets.more_button)
    user.choose("Read it now")
    number = editor.presets.list.rows[0].id
    user.see("its badge", lambda: (badge := editor.presets.list.badge(number)) and badge.text, 60)
    editor.edit.selectAll()
    user.key(Qt.Key.Key_Delete, widget=editor.edit)
    editor.presets.list.setCurrentIndex(editor.presets.list.model().index(0, 0))
    user.key(Qt.Key.Key_Return, widget=editor.presets.list)
    asked = user.dialog(FieldsDialog)
    QTest.keyClicks(asked.fields["town"], "Lisbon")
    user.picture("variables", asked)
    user.click(asked.buttons.button(QDialogButtonBox.StandardButton.Ok))
    user.see("the value in the text", lambda: "Lisbon" in editor.text, 10)
    badge = editor.presets.list.badge(number)
    user.picture("system-prompt-chosen", editor)
    said = f"{editor.findings.texts}; badge {badge and badge.text}; {editor.presets.says.text()}"
    user.click(editor.save_button)
    user.ask("Where am I?")
    return said


def sampling(user: User) -> str:
    """The settings of a conversation, above the button that sums them up."""
    user.click(user.composer.sampling)
    popover = user.application.dialogs.popover
    user.see("the settings", popover.isVisible, 10)
    user.picture("sampling", popover)
    said = popover.note.text()
    popover.close()
    return f"{user.composer.sampling.text()} | {said}"


def models(user: User) -> str:
    """What is on this computer, and what could be downloaded."""
    from app.models.dialog import ModelsDialog

    user.key(Qt.Key.Key_M, CONTROL, user.window)
    dialog = user.dialog(ModelsDialog)
    rows = dialog.here.rows
    user.see(
        "the model with its size in memory",
        lambda: rows.topLevelItemCount() and "…" not in rows.topLevelItem(0).text(3),
    )
    user.picture("models", dialog)
    here = [rows.topLevelItem(0).text(column) for column in range(5)]
    user.click(dialog.there_button)
    offers = dialog.there.rows
    count = offers.topLevelItemCount()
    user.see("what each would take", lambda: count and "…" not in offers.topLevelItem(count - 1).text(2))
    user.picture("models-to-download", dialog)
    user.key(Qt.Key.Key_Escape, widget=dialog)
    return f"{here}; {count} to download"


def tools(user: User) -> str:
    """A server by its command says its tools; one is ticked for the conversation."""
    from app.window.tools_dialog import ToolsDialog

    user.do(user.commands.tools)
    dialog = user.dialog(ToolsDialog)
    user.click(dialog.place)
    QTest.keyClicks(dialog.place, f"{sys.executable} -m tests.app.tools.tool_server")
    user.key(Qt.Key.Key_Return, widget=dialog.place)
    top = dialog.tree.topLevelItem(0)
    user.see("five tools", lambda: top.childCount() == 5, 60)
    place = dialog.tree.visualItemRect(top.child(0))
    QTest.mouseClick(dialog.tree.viewport(), Qt.MouseButton.LeftButton, NOTHING, place.topLeft() + QPoint(40, 8))
    user.key(Qt.Key.Key_Space, widget=dialog.tree)
    user.picture("tools", dialog)
    user.see("one that is ticked", dialog.selected, 5)
    names = [top.child(number).text(0) for number in range(5)]
    user.press("Use in this conversation", dialog)
    user.see("“1 tool” above the chat", lambda: user.window.header.tools.text() == "1 tool", 10)
    user.ask_refused("Add 2 and 3.")
    said = user.window.notice.text
    user.picture("tools-in-chat")
    user.session.set_tools(())
    return f"{', '.join(names)}; {said}"


def serving(user: User) -> str:
    """Another program asks twice; what both questions share is read once."""
    user.do(user.commands.serve)
    user.see("the address", lambda: user.application.serving.address, 30)
    user.picture("serving")
    said: list[str] = []
    program = threading.Thread(target=lambda: said.append(_asked_by_program(user.application.serving.address)))
    program.start()
    user.see("its answers", lambda: said)
    program.join()
    user.do(user.commands.serve)
    return said[0]


def _asked_by_program(address: str) -> str:
    from openai import OpenAI

    client = OpenAI(base_url=f"{address}/v1", api_key="none")
    rules = "Be brief. " + "A tent is a shelter of cloth that is held by poles and pegs. " * 20
    found = []
    for question in ("What is a tent?", "What is a peg?"):
        chat = [{"role": "system", "content": rules}, {"role": "user", "content": question}]
        answer = client.chat.completions.create(model="default", messages=chat, max_tokens=12)  # type: ignore[call-overload]
        found.append(f"{answer.usage.prompt_tokens_details.cached_tokens} of {answer.usage.prompt_tokens} cached")
    return ", then ".join(found)


def around(user: User) -> str:
    """The tree, all keys, preferences, larger text, and the charts."""
    from app.window.preferences import PreferencesDialog
    from app.window.shortcut_sheet import ShortcutSheet

    user.key(Qt.Key.Key_T, CONTROL, user.window)
    user.settle(500)
    trees = [each for each in QApplication.topLevelWidgets() if "Tree" in type(each).__name__ and each.isVisible()]
    if not trees:
        raise NotSeenError("the tree of shared beginnings")
    user.picture("tree", trees[0])
    trees[0].close()
    for key, kind, name in (
        (Qt.Key.Key_F1, ShortcutSheet, "keys"),
        (Qt.Key.Key_Comma, PreferencesDialog, "preferences"),
    ):
        user.key(key, CONTROL if key == Qt.Key.Key_Comma else NOTHING, user.window)
        opened = user.dialog(kind)
        user.picture(name, opened)
        user.key(Qt.Key.Key_Escape, widget=opened)
    user.key(Qt.Key.Key_Plus, CONTROL, user.window)
    percent = user.application.settings.text_percent
    user.picture("larger")
    user.key(Qt.Key.Key_0, CONTROL, user.window)
    if percent <= 100:
        raise NotSeenError("larger text")
    return f"tree, keys, preferences, text at {percent}%"


def restore(user: User) -> str:
    """Going back to a backup asks, then closes the program. The last feature."""
    user.name_file(lambda: user.do(user.commands.restore), user.work / "all.zip")
    user.see("the question", lambda: user.application.exchanging.box is not None, 30)
    user.picture("restore", user.application.exchanging.box)
    box = user.application.exchanging.box
    assert box is not None
    user.press("Restore and close", box)
    user.see("that the program closes", lambda: user.application.to_restore is not None, 30)
    return "asked, closed"


def german(user: User) -> str:
    """The window in another language: a start of its own."""
    user.see("the model", lambda: user.session.model is not None)
    user.picture("german")
    if user.composer.edit.placeholderText() == "Write a message":
        raise NotSeenError("German")
    return user.composer.edit.placeholderText()


FEATURES = (
    *(show_me, chat, read_ahead, prove, edit_question, formulas, raw_text, delete_and_undo, branch, written_ahead),
    *(
        find_here,
        search,
        folders,
        title,
        attach,
        exchange,
        presets,
        sampling,
        models,
        tools,
        serving,
        around,
        restore,
        german,
    ),
)


def try_all(pictures: Path, names: list[str], work: Path) -> int:
    """Open the window as the program does, and try each feature; how many were not seen."""
    from app.translations import speak

    speak("de" if names == [german.__name__] else "en")
    from app.application import build, qt_application, restore_data
    from app.settings import Settings
    from app.translations import dress
    from engine import EitherEngine, Sampling

    app = qt_application()
    dress(app)
    settings = Settings.load()
    settings.theme, settings.read_ahead = "light", "always"
    settings.sampling = Sampling(temperature=0, max_tokens=120)
    application = build(EitherEngine(), settings)
    application.open()
    user = User(application, pictures, work)
    missing = 0
    for feature in FEATURES:
        if feature.__name__ in names or not (names or feature is german):
            missing += not _is_seen(user, feature)
    application.window.close()
    application.close()
    if application.to_restore:
        restore_data(application.to_restore)
    return missing


def _is_seen(user: User, feature: Callable[[User], str]) -> bool:
    """Try one feature and print what was seen; whatever it left open is closed."""
    try:
        print(f"seen      {feature.__name__}: {feature(user)}", flush=True)
        return True
    except Exception as error:
        if not isinstance(error, NotSeenError):
            traceback.print_exc()
        print(f"NOT SEEN  {feature.__name__}: {error}", flush=True)
        user.picture(f"not-seen-{feature.__name__}")
        return False
    finally:
        while over := QApplication.activePopupWidget() or QApplication.activeModalWidget():
            over.done(0) if isinstance(over, QDialog) else over.close()
            user.settle()


def main() -> int:
    """One process for each scale, each with a data folder of its own and the default model of this user."""
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    if os.environ.get("QT_SCALE_FACTOR"):
        with tempfile.TemporaryDirectory() as work:
            return 1 if try_all(folder, names, Path(work)) else 0
    from engine import fetch_model

    model = fetch_model(lambda what, fraction: None)
    turns = [(scale, names) for scale in ("1", "2")] + ([] if names else [("1", [german.__name__])])
    missing = False
    for scale, features in turns:
        print(f"At {scale}00%:", flush=True)
        missing |= _in_a_process(folder, features, scale, model) != 0
    return int(missing)


def _in_a_process(folder: Path, features: list[str], scale: str, model: Path) -> int:
    """Try these features in a program that finds no data of this user but the default model; its exit status."""
    with tempfile.TemporaryDirectory() as home:
        own = {name: f"{home}/{name}" for name in ("HEADSTART_DATA_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        surroundings = {**os.environ, **own, "HEADSTART_MODEL_DIR": str(model.parent), "QT_SCALE_FACTOR": scale}
        command = [sys.executable, "-m", "tests.app.real_window", str(folder), *features]
        return subprocess.run(command, env=surroundings).returncode


if __name__ == "__main__":
    sys.exit(main())
