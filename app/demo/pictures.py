"""What the demo leaves as pictures: the window and each of its parts that show the reuse, in both themes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPalette, QPixmap
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from app import theme
from app.application import Application
from app.charts.tree.window import TreeWindow
from app.demo.player import Player
from app.history.history import History
from app.transcript.message import Answer, MessageContent
from app.transcript.message_actions import Wishes
from app.widgets.plain import Label
from engine import TurnStats

PICTURE_SIZE = QSize(1280, 800)
TREE_SIZE, TALLEST_TREE = QSize(960, 600), 1_200
EXPLAINER_WIDTH, MARGIN = 760, 24
THEMES = ("light", "dark")
MOST_ROUNDS = 20
"""Of events, for the messages to be laid out: two do in a window that shows; elsewhere it may never come to that."""
MISS = "window-miss"
"""What the pictures of the window at the miss are called, in front of the theme."""


@dataclass(frozen=True, slots=True)
class Explained:
    """An answer with its warm box: what it shows, and the buttons the box offered then."""

    content: MessageContent
    actions: tuple[tuple[str, str, str], ...]


class Watcher(QObject):
    """Remembers the first answer whose prompt was explained, or else the newest: a cure is offered on that day only.

    `miss` is the window right after the first turn that read again what had been cached, for each theme by its name;
    empty where there was none.
    """

    def __init__(self, application: Application, player: Player) -> None:
        super().__init__()
        self._application = application
        self._window = application.window
        self.explained: Explained | None = None
        self.miss: dict[str, QPixmap] = {}
        application.session.message_finished.connect(self._on_finished)
        player.ended.connect(self._on_ended)

    def _newest(self) -> Answer | None:
        answer = self._window.transcript.newest
        return answer if isinstance(answer, Answer) else None

    def _on_finished(self, message: object) -> None:
        answer = self._newest()
        is_first = self.explained is None or not self.explained.actions
        if answer is not None and is_first:
            buttons = () if answer.box.isHidden() else answer.box.buttons.items()
            actions = tuple((key, button.text(), button.toolTip()) for key, button in buttons)
            self.explained = Explained(answer.content, actions)

    def _on_ended(self, turn: int) -> None:
        answer = self._newest()
        if self.miss or answer is None or answer.box.isHidden():
            return
        self._window.transcript.follow()
        self._application.chart_presenter.show_measured()
        chosen = self._application.settings.theme
        for name in THEMES:
            change_theme(self._application, name)
            self.miss[name] = self._window.grab()
        change_theme(self._application, chosen)


def change_theme(application: Application, name: str) -> None:
    """Change the theme, and wait until everything has its colours."""
    application.choose_theme(name)
    QApplication.processEvents()
    while application.window.transcript.is_building:
        QApplication.processEvents()
    application.window.charts.redraw()
    QApplication.processEvents()
    for _ in range(MOST_ROUNDS):
        if is_laid_out(application.window.transcript):
            break
        QApplication.processEvents()


def is_laid_out(area: QScrollArea) -> bool:
    """Whether what scrolls in an area has the height that it needs: texts say theirs once they have their width."""
    page = area.widget()
    return page is None or page.height() <= max(page.minimumSizeHint().height(), area.viewport().height())


def save_pictures(application: Application, watcher: Watcher, folder: Path) -> None:
    """Write window, ribbon, explainer, tree and charts, each light and dark, and the window at the miss where there was
    one; what an earlier demo left of that goes. Raises OSError and HeadstartError."""
    window = application.window
    window.resize(PICTURE_SIZE)
    for name in reversed(THEMES):
        change_theme(application, name)
        save_picture(window, folder / f"window-{name}.png")
        save_picture(window.composer.next_prompt, folder / f"ribbon-{name}.png")
        save_picture(window.charts, folder / f"charts-{name}.png")
        save_tree(application, folder / f"tree-{name}.png")
        (folder / f"{MISS}-{name}.png").unlink(missing_ok=True)
        if watcher.miss:
            save_image(watcher.miss[name], folder / f"{MISS}-{name}.png")
        if watcher.explained is not None:
            save_explainer(as_measured(watcher.explained, application.history), folder / f"explainer-{name}.png")


def as_measured(explained: Explained, history: History) -> Explained:
    """The same answer with the figures it has now: measured, no longer estimated."""
    stats = history.message(explained.content.id).stats
    return replace(explained, content=replace(explained.content, stats=stats))


def save_tree(application: Application, path: Path) -> None:
    """The tree of shared prefixes as its window shows it, no taller than the tree needs. Raises OSError."""
    tree = TreeWindow(theme.current())
    tree.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    tree.resize(TREE_SIZE)
    titles = {each.id: each.title for each in application.session.conversations()}
    tree.show_view(application.bridge.read_cache_view(), titles)
    tree.show()
    tree.resize(TREE_SIZE.width(), min(TALLEST_TREE, tree.height_at(TREE_SIZE.width())))
    QApplication.processEvents()
    save_picture(tree, path)
    tree.close()


def save_explainer(explained: Explained, path: Path) -> None:
    """An answer with the reason why its prompt was read again, or the newest one where none was. Raises OSError."""
    page = QWidget()
    palette = QPalette(page.palette())
    palette.setColor(QPalette.ColorRole.Window, QColor(theme.current().page))
    page.setPalette(palette)
    page.setAutoFillBackground(True)
    answer = Answer(explained.content, Wishes(), {})
    without_tools(answer)
    answer.box.show_actions(explained.actions, advice=None if len(explained.actions) < 2 else "")
    column = QVBoxLayout(page)
    column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
    column.addWidget(answer)
    if answer.box.isHidden():
        column.addWidget(nothing_read_again(explained.content.stats))
    page.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    page.resize(EXPLAINER_WIDTH, EXPLAINER_WIDTH)
    page.show()
    QApplication.processEvents()
    page.resize(EXPLAINER_WIDTH, column.totalHeightForWidth(EXPLAINER_WIDTH))
    QApplication.processEvents()
    save_picture(page, path)
    answer.end()
    page.hide()
    page.deleteLater()


def without_tools(answer: Answer) -> None:
    """Hide the buttons under an answer and the room for them: on a picture there is nothing to press."""
    policy = answer.tools.sizePolicy()
    policy.setRetainSizeWhenHidden(False)
    answer.tools.setSizePolicy(policy)
    answer.tools.hide()


def nothing_read_again(stats: TurnStats | None) -> Label:
    """What stands in place of the warm box where no turn of a run had to read again what had been cached."""
    said = "<b>Nothing was read again in this run.</b>"
    if stats is not None:
        said += (
            f" The last turn reused {stats.reused_tokens:,} of the {stats.prompt_tokens:,} tokens of its prompt and"
            f" computed the other {stats.computed_tokens:,}: the new question, and at most a few tokens in front of it."
            " When a prompt does not begin as before, the place and the reason stand here."
        )
    colours = theme.current()
    label = Label(said)
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setWordWrap(True)
    label.setFont(theme.text_font(theme.SMALL))
    label.setStyleSheet(
        f"background: {colours.panel}; border: 1px solid {colours.line}; border-radius: 6px; padding: 8px 14px;"
    )
    return label


def save_picture(widget: QWidget, path: Path) -> None:
    """Write what a widget looks like now as PNG. Raises OSError."""
    save_image(widget.grab(), path)


def save_image(image: QImage | QPixmap, path: Path) -> None:
    """Write a picture as PNG. Raises OSError."""
    if not image.save(str(path)):
        raise OSError(None, "a picture cannot be saved", str(path))
