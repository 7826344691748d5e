"""The tree in the window shows the engine's runs, follows them while they change, and leads to conversations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.tree import presenter as tree_presenter
from app.charts.tree import words as tree_words
from app.charts.tree.presenter import AGE_MS, GONE, NOT_PINNED, message_at, version_of
from app.charts.tree.window import TreeWindow
from engine import BLOCK_TOKENS, BY_ITSELF, CacheView, NodeView, TextDelta
from tests.app.fake_engine import FakeEngine, Script
from tests.app.tree_pictures import many, run, view
from tests.app.window.conftest import Screen, settle


class Prefixes:
    """The runs a fake engine tells from now on, and what it is asked to do to them."""

    def __init__(self, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, *nodes: NodeView) -> None:
        self.nodes: Sequence[NodeView] = nodes
        self.asked: list[tuple[str, int]] = []
        self.reads = 0
        monkeypatch.setattr(engine, "cache_view", self.read)
        for name in ("keep_prefix", "release_prefix", "drop_prefix"):
            act = getattr(engine, name)
            monkeypatch.setattr(engine, name, lambda block, name=name, act=act: self.note(name, block, act))

    def read(self) -> CacheView:
        self.reads += 1
        return view(self.nodes, time_s=float(self.reads))

    def note(self, name: str, block: int, act: Callable[[int], None]) -> None:
        self.asked.append((name, block))
        act(block)


@pytest.fixture
def prefixes(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Prefixes:
    """Two conversations behind a kept system prompt."""
    for title in ("Parcels", "Returns"):
        screen.window.commands.new.trigger()
        for text in (title, "And then?"):
            screen.ask(text)
            screen.play()
    two, one = (each.id for each in screen.session.conversations())
    owners = (f"#{one}", f"#{two}")
    nodes = (
        run(-1, 0, 3 * BLOCK_TOKENS, 1, owners, pinned=True, text="You are the support bot."),
        run(0, 3 * BLOCK_TOKENS, 2 * BLOCK_TOKENS, 2, owners[1:], text="Returns"),
        run(0, 3 * BLOCK_TOKENS, BLOCK_TOKENS, 3, owners[:1], text="Parcels"),
    )
    return Prefixes(screen.engine, monkeypatch, *nodes)


def open_tree(screen: Screen) -> TreeWindow:
    screen.window.commands.tree.trigger()
    settle()
    tree = screen.application.tree_presenter.tree
    assert tree is not None
    return tree


def middle(tree: TreeWindow, index: int) -> QPoint:
    box = tree.view.layout_.boxes[index]
    x, y = tree.view.camera.to_view(box.x + box.width / 2, box.y + box.height / 2)
    return QPoint(round(x), round(y))


def test_what_is_on_screen_is_what_the_engine_holds(screen: Screen, prefixes: Prefixes) -> None:
    tree = open_tree(screen)
    assert tree.view.layout_.nodes == prefixes.nodes
    assert tree.totals == "3 runs · 96 tokens · 2.2 MB · 48 pinned"
    for index, node in enumerate(prefixes.nodes):
        tree.view.set_current(index)
        assert tree_words.figures(node) in tree.details
        assert node.text in tree.details
        assert tree_words.figures(node) in tree.view.accessibleDescription()
    screen.application.tree_presenter.refresh()
    assert screen.window.charts.prefixes.runs.lines == [
        "You are the support bot., pinned 48",
        "Parcels 16",
        "Returns 32",
    ]


def test_the_tree_follows_while_an_answer_is_written_once_a_second(
    screen: Screen, prefixes: Prefixes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (tree_presenter.REFRESH_MS, tree_presenter.WRITING_MS) == (250, 1000)
    monkeypatch.setattr(tree_presenter, "REFRESH_MS", 60_000)
    tree, presenter = open_tree(screen), screen.application.tree_presenter
    presenter.timer.stop()  # a refresh that was asked for before still comes within the old time
    prefixes.reads = 0
    screen.ask("More")
    for _ in range(4):
        screen.until(TextDelta)
    assert prefixes.reads == 0, "not with every event"
    prefixes.nodes = (*prefixes.nodes, run(1, 80, 16, 4, prefixes.nodes[1].conversations, text="More"))
    presenter.timer.timeout.emit()
    assert (prefixes.reads, len(tree.view.layout_.nodes)) == (1, 4)
    assert presenter.timer.interval() == tree_presenter.WRITING_MS, "it goes on while the answer does"
    screen.play()
    presenter.timer.timeout.emit()
    assert presenter.timer.interval() == AGE_MS, "then only ages change"


def test_nothing_is_read_while_nobody_sees_it(qtbot: QtBot, screen: Screen, prefixes: Prefixes) -> None:
    timer = screen.application.tree_presenter.timer
    qtbot.waitUntil(lambda: not timer.isActive())
    screen.window.set_wishes(sidebar=True, charts=False)
    prefixes.reads = 0
    screen.ask("More")
    screen.play()
    assert (prefixes.reads, timer.isActive()) == (0, False)
    screen.window.set_wishes(sidebar=True, charts=True)
    qtbot.waitUntil(lambda: prefixes.reads > 0)


def test_a_double_click_opens_the_conversation_where_the_run_begins(
    qtbot: QtBot, screen: Screen, prefixes: Prefixes
) -> None:
    tree = open_tree(screen)
    assert screen.session.conversation.title == "Returns"
    qtbot.mouseDClick(tree.view, Qt.MouseButton.LeftButton, pos=middle(tree, 2))
    assert screen.session.conversation.title == "Parcels"
    list_ = screen.window.charts.prefixes
    list_.runs.chosen.emit(1)
    assert screen.session.conversation.title == "Returns"
    messages = screen.session.messages
    first, second = (message.stats for message in messages if message.stats)
    assert message_at(messages, first.prompt_tokens - 1) == messages[0].id
    assert message_at(messages, first.prompt_tokens) == messages[1].id
    assert message_at(messages, second.prompt_tokens - 1) == messages[2].id
    assert message_at(messages, 10**6) == 0


def test_titles_are_the_present_ones(screen: Screen, prefixes: Prefixes) -> None:
    screen.session.rename(screen.session.conversation.id, "Jackets")
    tree = open_tree(screen)
    tree.view.set_current(1)
    assert tree.details.startswith("Jackets\n")
    screen.session.delete(screen.session.conversation.id)
    screen.application.tree_presenter.refresh()
    menu = tree.view.menu()
    assert menu is not None
    assert (menu.actions()[0].text(), menu.actions()[0].isEnabled()) == ("Open “Deleted conversation”", False)


def test_keep_release_and_drop_reach_the_engine(qtbot: QtBot, screen: Screen, prefixes: Prefixes) -> None:
    tree = open_tree(screen)
    tree.view.set_current(1)
    qtbot.keyClick(tree.view, Qt.Key.Key_P)
    prefixes.nodes = (*prefixes.nodes[:1], prefixes.nodes[1]._replace(pinned=True), prefixes.nodes[2])
    screen.play()
    assert tree.details.startswith("Returns")
    screen.application.tree_presenter.refresh()
    qtbot.keyClick(tree.view, Qt.Key.Key_P)
    qtbot.keyClick(tree.view, Qt.Key.Key_Delete)
    assert prefixes.asked == [("keep_prefix", 2), ("release_prefix", 2), ("drop_prefix", 2)]


def test_a_run_that_cannot_be_kept_says_why(qtbot: QtBot, screen: Screen, prefixes: Prefixes) -> None:
    tree = open_tree(screen)
    tree.view.set_current(1)
    qtbot.keyClick(tree.view, Qt.Key.Key_P)
    screen.play()
    screen.application.tree_presenter.refresh()
    assert tree.details == NOT_PINNED


def test_a_view_of_idle_work_does_not_answer_a_pin(qtbot: QtBot, screen: Screen, prefixes: Prefixes) -> None:
    screen.engine.inject(replace(view(prefixes.nodes), request_id=BY_ITSELF))
    tree = open_tree(screen)
    tree.view.set_current(1)
    qtbot.keyClick(tree.view, Qt.Key.Key_P)
    idle, answer = screen.engine.poll()
    screen.engine.inject(idle)
    screen.application.bridge.drain()
    assert tree.details != NOT_PINNED
    prefixes.nodes = (*prefixes.nodes[:1], prefixes.nodes[1]._replace(pinned=True), prefixes.nodes[2])
    screen.engine.inject(answer)
    screen.application.bridge.drain()
    assert tree.details != NOT_PINNED


def test_a_run_that_grew_is_meant_as_it_is_now_and_one_that_is_gone_is_left_alone(
    qtbot: QtBot, screen: Screen, prefixes: Prefixes
) -> None:
    tree = open_tree(screen)
    tree.view.set_current(1)
    prefixes.nodes = (*prefixes.nodes[:1], prefixes.nodes[1]._replace(tokens=64, block=9), prefixes.nodes[2])
    qtbot.keyClick(tree.view, Qt.Key.Key_Delete)
    assert prefixes.asked == [("drop_prefix", 9)]
    screen.application.tree_presenter.refresh()
    prefixes.nodes = (prefixes.nodes[0], run(-1, 0, 16, 9, ("#9",), text="something else"))
    qtbot.keyClick(tree.view, Qt.Key.Key_Delete)
    assert prefixes.asked == [("drop_prefix", 9)]
    screen.application.tree_presenter.refresh()
    assert tree.details == GONE, "until another run is looked at"
    tree.view.set_current(0)
    assert tree.details != GONE


def test_what_is_on_disk_only_is_shown_dropped_and_never_kept(qtbot: QtBot, screen: Screen, prefixes: Prefixes) -> None:
    owners = prefixes.nodes[2].conversations
    prefixes.nodes = (*prefixes.nodes, run(2, 64, 32, -7, owners, text="From before", tier="disk"))
    tree = open_tree(screen)
    tree.view.set_current(3)
    assert "on disk only" in tree.details
    assert "From before" in tree.details
    assert tree.totals.endswith("on disk only: 1 run · 32 tokens · 737 kB")
    screen.application.tree_presenter.refresh()
    assert "From before 32 on disk" in screen.window.charts.prefixes.runs.lines
    assert "on disk" in screen.window.charts.prefixes.accessibleDescription()
    qtbot.keyClick(tree.view, Qt.Key.Key_P)
    assert (tree.details, prefixes.asked) == (tree_words.CANNOT_PIN, [])
    qtbot.keyClick(tree.view, Qt.Key.Key_Delete)
    assert prefixes.asked == [("drop_prefix", -7)]


def test_two_thousand_runs_in_the_list_and_the_tree(screen: Screen, prefixes: Prefixes) -> None:
    tree = open_tree(screen)
    prefixes.nodes = many(2000)
    screen.application.tree_presenter.refresh()
    assert len(tree.view.layout_.nodes) == 2000
    assert screen.window.charts.prefixes.runs.lines[-1] == "+1,995 more"
    assert tree.totals.startswith("2,000 runs")
    tree.grab()
    assert tree.view.painted.blocks <= 2000


def test_the_tree_is_closed_with_a_key_and_begins_anew(screen: Screen, prefixes: Prefixes) -> None:
    presenter = screen.application.tree_presenter
    for key, modifier in (
        (Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier),
    ):
        tree = open_tree(screen)
        tree.view.set_current(2)
        tree.view.zoom(2)
        assert open_tree(screen) is tree
        QTest.keyClick(tree.view, key, modifier)
        settle()
        assert presenter.tree is None
        assert (open_tree(screen).view.current, presenter.tree.view.camera.fits) == (-1, True)
        presenter.tree.close()
        settle()


def test_ctrl_t_opens_it_and_closing_the_window_closes_it(qtbot: QtBot, screen: Screen, prefixes: Prefixes) -> None:
    with qtbot.waitActive(screen.window):
        screen.window.activateWindow()
    QTest.keyClick(screen.window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    presenter = screen.application.tree_presenter
    assert presenter.tree is not None
    screen.window.close()
    assert presenter.tree is None
    assert not presenter.timer.isActive()
    assert not any(isinstance(window, TreeWindow) and window.isVisible() for window in QApplication.topLevelWidgets())


def test_it_wears_the_theme_of_the_window(screen: Screen, prefixes: Prefixes) -> None:
    tree = open_tree(screen)
    at = tree.view.mapTo(tree, middle(tree, 0) - QPoint(0, 40))
    for worn in (theme.DARK, theme.LIGHT):
        screen.application.choose_theme(worn.name)
        assert tree.grab().toImage().pixelColor(at) == QColor(worn.pinned)


def test_a_run_opens_exactly_the_version_it_belongs_to(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(
        *(Script(tokens=(text,)) for text in ("The oldest answer.", "Another answer.", "Newest of all."))
    )
    screen.ask("What is to be done?")
    screen.play()
    for _ in range(2):
        screen.session.retry()
        screen.play()
    number = screen.session.conversation.id
    messages = screen.session.all_messages()
    assert [message.content for message in messages][1:] == ["The oldest answer.", "Another answer.", "Newest of all."]
    for text in ("Another answer.", "The oldest answer.", "Newest of all."):
        screen.window.commands.new.trigger()
        screen.application.tree_presenter.show_run(number, 4, f"user\nWhat is to be done?\nassistant\n{text}")
        assert screen.texts() == ["What is to be done?", text]
    screen.application.tree_presenter.show_run(number, 4, "user\nWhat is to be done?")
    assert screen.texts()[1] == "Newest of all.", "what is shown holds it, too"
    assert version_of("Newest of all.", (), ()) == 0


def test_the_buttons_of_the_tree_leave_the_focus_to_it_and_show_none(screen: Screen) -> None:
    screen.ask("Hello?")
    screen.play()
    tree = open_tree(screen)
    buttons = tree.findChildren(QPushButton)
    assert len(buttons) == 3
    for button in buttons:
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert tree.view.hasFocus()
        assert not button.hasFocus()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
