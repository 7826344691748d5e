"""The tree under the mouse and the keyboard: what is looked at, what is asked for, and what a repaint costs."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.charts.tree import words as tree_words
from app.charts.tree.picture import TreePicture, badges, fill_of, text_on
from app.charts.tree.view import TreeView
from app.charts.tree.window import TreeWindow, legend
from app.theme import DARK, LIGHT, Theme
from engine import NodeView
from tests.app.test_theme import contrast
from tests.app.tree_pictures import FEW, ON_DISK, TITLES, many, run, view


@pytest.fixture
def window(qtbot: QtBot) -> TreeWindow:
    made = TreeWindow(LIGHT)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.resize(960, 600)
    made.show_view(view(FEW), TITLES)
    made.show()
    return made


@pytest.fixture
def tree(window: TreeWindow) -> TreeView:
    return window.view


def middle(tree: TreeView, index: int) -> QPoint:
    picture = TreePicture(tree.layout_, tree.camera, tree.titles, LIGHT)
    return picture.block(index).intersected(tree.rect().toRectF()).center().toPoint()


def point_at(qtbot: QtBot, tree: TreeView, index: int) -> None:
    qtbot.mouseMove(tree, middle(tree, index))


def open_menu(tree: TreeView) -> list[str]:
    menu = tree.menu()
    assert menu is not None
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def test_pointing_at_a_run_tells_its_text_and_figures(qtbot: QtBot, window: TreeWindow) -> None:
    point_at(qtbot, window.view, 1)
    assert window.details.splitlines() == [
        "Returns",
        "512 tokens · tokens 3,008 to 3,520 · 12 MB · used 31 min ago · 3 hits",
        "A jacket from the sale",
    ]
    point_at(qtbot, window.view, 0)
    assert "pinned · 824 tokens behind it" in window.details
    assert window.view.accessibleDescription().startswith("Parcels, Returns: 3,008 tokens")
    assert window.totals == "5 runs · 3,832 tokens · 88 MB · 3,008 pinned"


def test_a_click_selects_and_what_the_mouse_passes_over_later_leaves_it(qtbot: QtBot, tree: TreeView) -> None:
    with qtbot.assertNotEmitted(tree.open_wanted):
        qtbot.mouseClick(tree, Qt.MouseButton.LeftButton, pos=middle(tree, 1))
    assert tree.current == 1
    qtbot.mouseMove(tree, middle(tree, 0))
    assert tree.current == 1, "the keys act on what was clicked"
    qtbot.mouseClick(tree, Qt.MouseButton.LeftButton, pos=middle(tree, 0))
    assert tree.current == 0


def test_a_double_click_opens_the_conversation_where_the_run_begins(qtbot: QtBot, tree: TreeView) -> None:
    with qtbot.waitSignal(tree.open_wanted) as opened:
        qtbot.mouseDClick(tree, Qt.MouseButton.LeftButton, pos=middle(tree, 1))
    assert opened.args == [2, 3008, FEW[1].text]


def test_a_click_on_what_several_share_asks_which(qtbot: QtBot, tree: TreeView) -> None:
    with qtbot.assertNotEmitted(tree.open_wanted):
        qtbot.mouseDClick(tree, Qt.MouseButton.LeftButton, pos=middle(tree, 0))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    with qtbot.waitSignal(tree.open_wanted) as opened:
        menu.actions()[1].trigger()
    menu.close()
    assert opened.args == [2, 0, FEW[0].text]


def test_the_menu_says_what_can_be_done_and_what_it_frees(qtbot: QtBot, tree: TreeView) -> None:
    tree.set_current(3)
    drop = "&Drop (frees 216 tokens, with 1 run behind it)"
    assert open_menu(tree) == ["Open “Parcels”", "&Pin, with all before it", drop]
    tree.set_current(0)
    assert open_menu(tree)[2] == "Un&pin, with all behind it"
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, middle(tree, 1), QPoint(0, 0))
    QApplication.sendEvent(tree, event)
    assert tree.current == 1
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    with qtbot.waitSignal(tree.drop_wanted) as dropped:
        menu.actions()[-1].trigger()
    menu.close()
    assert dropped.args == [FEW[1]]


def test_the_keyboard_does_all_the_mouse_does(qtbot: QtBot, tree: TreeView) -> None:
    seen = []
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Down, Qt.Key.Key_Up):
        qtbot.keyClick(tree, key)
        seen.append(tree.current)
    assert seen == [0, 3, 4, 3, 2, 3]
    with qtbot.waitSignal(tree.open_wanted) as opened:
        qtbot.keyClick(tree, Qt.Key.Key_Return)
    with qtbot.waitSignal(tree.pin_wanted) as kept:
        qtbot.keyClick(tree, Qt.Key.Key_P)
    with qtbot.waitSignal(tree.drop_wanted) as dropped:
        qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert (opened.args, kept.args, dropped.args) == ([1, 3008, FEW[3].text], [FEW[3]], [FEW[3]])
    tree.set_current(0)
    with qtbot.waitSignal(tree.unpin_wanted) as released:
        qtbot.keyClick(tree, Qt.Key.Key_P)
    assert released.args == [FEW[0]]


def test_zoom_pan_and_fit(qtbot: QtBot, window: TreeWindow) -> None:
    tree = window.view
    window.show_view(view(many(200)), {})
    assert tree.camera.fits
    start = tree.camera.scale_y
    qtbot.keyClick(tree, Qt.Key.Key_Plus)
    closer = tree.camera.scale_y
    at, up = QPointF(300, 200), QPoint(0, 120)
    turn = QWheelEvent(at, at, QPoint(), up, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
                       Qt.ScrollPhase.NoScrollPhase, False)  # fmt: skip
    before = tree.camera.to_tree(300, 200)
    QApplication.sendEvent(tree, turn)
    assert start < closer < tree.camera.scale_y
    assert tree.camera.to_tree(300, 200) == pytest.approx(before)
    place = tree.camera.to_view(50, 20)
    with qtbot.assertNotEmitted(tree.open_wanted):
        qtbot.mousePress(tree, Qt.MouseButton.LeftButton, pos=QPoint(300, 200))
        qtbot.mouseMove(tree, QPoint(270, 180))
        qtbot.mouseRelease(tree, Qt.MouseButton.LeftButton, pos=QPoint(270, 180))
    assert tree.camera.to_view(50, 20) == pytest.approx((place[0] - 30, place[1] - 20))
    qtbot.keyClick(tree, Qt.Key.Key_Minus)
    qtbot.keyClick(tree, Qt.Key.Key_0)
    assert tree.camera.scale_y == start


def test_a_run_that_vanished_under_the_mouse_is_let_go(qtbot: QtBot, window: TreeWindow) -> None:
    point_at(qtbot, window.view, 4)
    at = middle(window.view, 4)
    menu = window.view.menu()
    assert menu is not None
    window.show_view(view(FEW[:4]), TITLES)
    assert window.view.current == -1
    assert "Point at a run" in window.details
    with qtbot.waitSignal(window.view.drop_wanted) as dropped:
        menu.actions()[-1].trigger()
    assert dropped.args == [FEW[4]], "whoever drops it looks whether it is still there"
    window.show_view(view(()), TITLES)
    qtbot.mouseMove(window.view, at)
    qtbot.mouseClick(window.view, Qt.MouseButton.LeftButton, pos=at)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_P, Qt.Key.Key_Delete, Qt.Key.Key_Plus):
        qtbot.keyClick(window.view, key)
    window.grab()
    assert (window.view.current, window.details, window.totals) == (-1, "", "Nothing is remembered yet.")
    around = [part for part in window.findChildren(QAbstractButton) if part.isVisibleTo(window)]
    assert [part.text() for part in around] == ["?"], "what is said is the sentence where the tree will be"


def test_a_run_that_is_looked_at_stays_so_while_the_tree_grows_above_it(qtbot: QtBot, window: TreeWindow) -> None:
    tree = window.view
    nodes = many(400)
    window.show_view(view(nodes), {})
    tree.set_current(300)
    tree.zoom(4)
    place = middle(tree, 300)
    more = [run(0, nodes[0].tokens, 64, 9000 + n, ("#1",)) for n in range(3)]
    window.show_view(view((*nodes, *more)), {})
    assert tree.current == 300
    assert (middle(tree, 300) - place).manhattanLength() <= 2


@pytest.mark.parametrize("zoom", [0, 2, 5, 10])
def test_a_repaint_of_two_thousand_runs_draws_only_what_can_be_seen(window: TreeWindow, zoom: int) -> None:
    tree = window.view
    nodes = many(2000)
    window.show_view(view(nodes), {})
    tree.zoom(zoom, QPointF(300, 250))
    window.grab()
    depths = 1 + max(box.depth for box in tree.layout_.boxes)
    assert 0 < tree.painted.blocks <= min(2000, depths * (tree.height() + 1))
    assert tree.painted.worded <= depths * (tree.height() // 17 + 1)
    places = itertools.product(range(0, tree.width(), 20), range(0, tree.height(), 4))
    inside = [tree.layout_.at(*tree.camera.to_tree(x, y)) for x, y in places]
    assert any(index >= 0 for index in inside), "there is something to see"


def test_twenty_thousand_runs_are_not_twenty_thousand_strokes(window: TreeWindow) -> None:
    window.show_view(view([run(-1, 0, 16 + n % 300, n) for n in range(20_000)]), {})
    window.grab()
    assert 0 < window.view.painted.blocks <= window.view.height() + 1


@pytest.mark.parametrize("worn", [LIGHT, DARK], ids=lambda worn: worn.name)
def test_words_on_every_colour_can_be_read(worn: Theme) -> None:
    for idle_s, pinned in itertools.product((0, 100, 1000, 10_000), (False, True)):
        node = run(-1, 0, 16, 1, pinned=pinned, idle_s=idle_s)
        assert contrast(text_on(worn, node).name(), fill_of(worn, node).name()) >= 4.5


def test_kept_and_shared_are_said_in_words_too() -> None:
    assert badges(FEW[0]) == ["pinned", "12 hits", "2 conversations"]
    assert badges(FEW[4]) == []
    assert badges(ON_DISK[2]) == ["on disk"]


@pytest.mark.parametrize("worn", [LIGHT, DARK], ids=lambda worn: worn.name)
def test_a_run_on_disk_only_is_hollow_with_a_bar(window: TreeWindow, worn: Theme) -> None:
    """So that it differs from every other without colours too. The legend shows it alike."""
    window.set_theme(worn)
    window.show_view(view(ON_DISK), TITLES)
    picture, block = (
        window.view.grab().toImage(),
        TreePicture(window.view.layout_, window.view.camera, {}, worn).block(2),
    )
    row = round(block.center().y()) + 20
    seen = [picture.pixelColor(round(block.left()) + x, row).name() for x in range(round(block.width()) - 4)]
    marks = [x for x, colour in enumerate(seen) if colour == QColor(worn.reused).name()]
    assert marks[0] == 0, "an edge"
    assert len([x for x in marks if 2 <= x <= 7]) >= 2, "a bar"
    assert seen[-20] == QColor(worn.page).name(), "and nothing else"
    assert contrast(worn.reused, worn.page) >= 3
    assert ("on disk", "reused", 0.0) in legend()


def test_a_run_on_disk_only_cannot_be_kept_but_dropped(qtbot: QtBot, tree: TreeView, window: TreeWindow) -> None:
    window.show_view(view(ON_DISK), TITLES)
    tree.set_current(2)
    assert "on disk only" in tree.accessibleDescription()
    menu = tree.menu()
    assert menu is not None
    keep, drop = menu.actions()[-2:]
    assert (keep.isEnabled(), keep.toolTip(), menu.toolTipsVisible()) == (False, tree_words.CANNOT_PIN, True)
    assert drop.text() == "&Drop (frees 736 tokens on disk, with 2 runs behind it)"
    with qtbot.waitSignal(tree.drop_wanted) as dropped:
        drop.trigger()
    assert dropped.args == [ON_DISK[2]]


def test_a_sentence_gives_way_to_the_first_run_on_disk(window: TreeWindow) -> None:
    """Its number is -1."""
    window.show_view(view(ON_DISK), TITLES)
    window.say("This run is no longer there.")
    assert window.details == "This run is no longer there."
    window.view.set_current(2)
    assert "A jacket from" in window.details


def test_a_theme_change_repaints_what_is_there(window: TreeWindow) -> None:
    at = window.view.mapTo(window, middle(window.view, 0) - QPoint(0, 60))
    for worn in (LIGHT, DARK, LIGHT):
        window.set_theme(worn)
        assert window.grab().toImage().pixelColor(at) == QColor(worn.pinned)


def test_any_picture_can_follow_any_other(qtbot: QtBot, window: TreeWindow) -> None:
    pictures: list[tuple[NodeView, ...]] = [FEW, (), many(50), FEW[:2], many(51, seed=8), FEW[1:], many(2000)]
    for nodes in pictures:
        for _ in range(2):
            window.show_view(view(nodes), TITLES)
            qtbot.mouseMove(window.view, QPoint(200, 150))
            QApplication.sendEvent(window.view, QEvent(QEvent.Type.Leave))
            window.view.zoom(1)
            window.grab()
        assert window.view.current < len(nodes)
