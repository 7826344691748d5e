"""What looks like HTML is shown as it stands: in every label, tool tip and box, whatever a title or a text holds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget

import app
from app.application import Application
from app.widgets.plain import tool_tip
from engine import Divergence
from tests.app.fake_engine import Script, words
from tests.app.window.conftest import Screen, settle

HOSTILE = '<img src="/etc/hostname"><b>hi</b> & bye'
RICH_ON_PURPOSE = (
    "app/transcript/divergence_box.py",
    "app/transcript/stat_strip.py",
    "app/demo/pictures.py",
    "app/widgets/plain.py",
)
SOURCES = sorted(Path(app.__file__).parent.rglob("*.py"))


def commands(widget: QWidget) -> Iterator[str]:
    """The texts under a widget that Qt would read as HTML although nobody meant it."""
    for label in [*widget.findChildren(QLabel), *([widget] if isinstance(widget, QLabel) else [])]:
        is_meant = label.textFormat() == Qt.TextFormat.RichText and "<img" not in label.text()
        if label.textFormat() != Qt.TextFormat.PlainText and Qt.mightBeRichText(label.text()) and not is_meant:
            yield label.text()
    for each in [widget, *widget.findChildren(QWidget)]:
        if "<img" in each.toolTip():
            yield each.toolTip()


def all_commands() -> list[str]:
    settle()
    return [text for widget in QApplication.topLevelWidgets() for text in commands(widget)]


def hostile_screen(make_screen: Callable[..., Screen]) -> Screen:
    divergence = Divergence(1, 1, "edited", HOSTILE, f"other {HOSTILE}", 20)
    screen = make_screen(Script(words("Yes.")), Script(words(HOSTILE), divergence=divergence))
    screen.session.set_system_prompt(f"{HOSTILE} at {{{{time}}}}")
    for _ in range(2):
        screen.ask(HOSTILE)
        screen.play()
    screen.session.rename(screen.session.conversation.id, HOSTILE)
    settle()
    return screen


def test_no_title_prompt_or_message_is_taken_for_html(make_screen: Callable[..., Screen]) -> None:
    screen = hostile_screen(make_screen)
    window, dialogs = screen.window, screen.application.dialogs
    window.sidebar.search.setText(f"{HOSTILE} that nobody wrote")
    assert all_commands() == []
    window.sidebar.search.clear()
    window.notice.show_error(HOSTILE, HOSTILE)
    assert all_commands() == []
    window.notice.show_offer(HOSTILE, HOSTILE, lambda: None)
    assert all_commands() == []
    assert window.notice.text == HOSTILE
    for open_dialog in (
        dialogs.edit_system_prompt,
        dialogs.conversation_settings.open,
        dialogs.edit_preferences,
        lambda: screen.application.proving.prove(screen.session.messages[-1].id),
    ):
        open_dialog()
        assert all_commands() == []
        close_all(screen.application)


def close_all(application: Application) -> None:
    if application.dialogs.open_dialog:
        application.dialogs.open_dialog.done(0)
    application.dialogs.popover.close()
    if application.proving.dialog:
        application.proving.dialog.reject()
    settle()


def test_the_notice_of_a_deletion_names_the_title_as_it_is(make_screen: Callable[..., Screen]) -> None:
    screen = hostile_screen(make_screen)
    screen.window.commands.delete.trigger()
    assert all_commands() == []
    assert screen.window.notice.text == f"“{HOSTILE}” is deleted."


def test_a_row_of_the_list_shows_its_title_when_pointed_at(make_screen: Callable[..., Screen]) -> None:
    screen = hostile_screen(make_screen)
    tip = screen.window.sidebar.list.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;img" in tip
    assert "<img" not in tip


def test_only_what_looks_like_html_is_escaped() -> None:
    assert tool_tip("1 < 2 & 3\nlines") == "1 < 2 & 3\nlines"
    assert "&lt;b&gt;x" in tool_tip("<b>x</b>")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_labels_boxes_and_tips_are_made_by_what_shows_plain_text(path: Path) -> None:
    """A new label cannot forget it."""
    name = path.relative_to(Path(app.__file__).parent.parent).as_posix()
    tree = ast.parse(path.read_text("utf-8"))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        called = ast.unparse(call.func).rpartition(".")[2]
        assert called not in ("QLabel", "QMessageBox") or name == "app/widgets/plain.py", f"line {call.lineno}"
        if called == "setToolTip":
            given = call.args[0]
            is_safe = is_fixed(given) or ast.unparse(given).startswith("tool_tip(")
            assert is_safe, f"line {call.lineno}: setToolTip(tool_tip(...))"
        if "RichText" in ast.unparse(call):
            assert name in RICH_ON_PURPOSE, f"line {call.lineno}"


def is_fixed(text: ast.expr) -> bool:
    """Whether a text stands in the code, or is the translation of one that does, with nothing put in."""
    is_translation = isinstance(text, ast.Call) and ast.unparse(text.func) == "tr" and not text.keywords
    return isinstance(text, ast.Constant) or (is_translation and isinstance(text.args[0], ast.Constant))
