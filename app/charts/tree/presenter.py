"""Keeps the pictures of the prefix tree in step with the engine, and does to its runs what the user asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer

from app import theme
from app.charts.panel import ChartPanel
from app.charts.tree import words as tree_words
from app.charts.tree.layout import find_again
from app.charts.tree.window import TreeWindow
from app.chat.bridge import Bridge, CacheCommand
from app.chat.session import Session
from app.history.records import StoredMessage
from app.language import tr
from engine import CacheView, NodeView

REFRESH_MS = 250
"""At most four pictures a second while anything happens."""
WRITING_MS = 1000
"""Between two pictures while an answer is written: a run grows by a few tokens, and drawing takes the model's time."""
AGE_MS = 5000
"""Between two pictures while nothing does: only ages change."""

LEAST_LINE = 8
"""Letters of a line below which it may be the template's own, or stand anywhere."""

GONE = tr("This run is no longer in the cache; nothing was changed.")
NOT_PINNED = tr(
    "This run is not pinned: what is pinned takes at most half of the cache. Unpin another run, or "
    "give the cache more memory in the preferences."
)


class TreePresenter(QObject):
    """One for a panel of charts, which holds the tree in short, and a session. `show_message` scrolls the transcript.

    Attributes: tree: the open tree window, None while there is none; timer: runs until the next picture is taken.
    """

    def __init__(
        self, charts: ChartPanel, session: Session, bridge: Bridge, show_message: Callable[[int], object]
    ) -> None:
        super().__init__(charts)
        self._charts = charts
        self._show_message = show_message
        self._session = session
        self._bridge = bridge
        self.tree: TreeWindow | None = None
        self._titles: dict[int, str] = {}
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.timeout.connect(self._on_time)
        self._connect()
        self._on_list()

    def _connect(self) -> None:
        bridge, charts = self._bridge, self._charts
        for happened in (
            bridge.loaded,
            bridge.matched,
            bridge.prefill,
            bridge.cache_view,
            bridge.finished,
            bridge.failed,
        ):
            happened.connect(self.refresh_soon)
        self._session.conversations_changed.connect(self._on_list)
        charts.visibility_changed.connect(self.refresh_soon)
        charts.prefixes.tree_wanted.connect(self.open)
        charts.prefixes.open_wanted.connect(self.show_run)

    def open(self) -> None:
        """Show the tree in a window of its own, or bring it to the front."""
        if self.tree is None:
            self.tree = tree = TreeWindow(theme.current(), self._charts.window())
            tree.visibility_changed.connect(self._on_tree_visibility)
            tree.view.open_wanted.connect(self.show_run)
            tree.view.pin_wanted.connect(self.pin)
            tree.view.unpin_wanted.connect(lambda node: self._act(node, "release_prefix"))
            tree.view.drop_wanted.connect(lambda node: self._act(node, "drop_prefix"))
            self.refresh()
        self.tree.show()
        self.tree.raise_()
        self.tree.activateWindow()

    def close(self) -> None:
        """Close the tree and take no more pictures."""
        if self.tree is not None:
            self.tree.close()
        self.timer.stop()

    def set_theme(self) -> None:
        """Use the colours of the current theme from now on."""
        if self.tree is not None:
            self.tree.set_theme(theme.current())

    def refresh(self) -> None:
        """Show the newest picture now, wherever it is visible."""
        view = self._bridge.read_cache_view()
        if self._charts.isVisible():
            self._charts.show_prefixes(view, self._titles)
        if self.tree is not None:
            self.tree.show_view(view, self._titles)

    def refresh_soon(self, event: object = None) -> None:
        """Show a newer picture within REFRESH_MS, if the tree is visible anywhere."""
        visible = self._charts.isVisible() or self.tree is not None
        if visible and not 0 <= self.timer.remainingTime() <= REFRESH_MS:
            self.timer.start(REFRESH_MS)

    def show_run(self, conversation_id: int, token: int, text: str = "") -> None:
        """Open a conversation in the version that holds the text of a run, and scroll to the message in which this
        token of its prompt lies."""
        self._session.open(conversation_id)
        leaf = version_of(text, self._session.all_messages(), [each.id for each in self._session.messages])
        if leaf and all(message.id != leaf for message in self._session.messages):
            self._session.choose_sibling(leaf)
        if token and (message_id := message_at(self._session.messages, token)):
            self._show_message(message_id)
        self._charts.window().activateWindow()

    def pin(self, node: NodeView) -> None:
        """Pin a run and everything before it. A run that is on disk only cannot be pinned."""
        nodes = self._bridge.read_cache_view().nodes
        if (found := find_again(node, nodes)) >= 0 and tree_words.is_behind(nodes[found]):
            self._say(tree_words.CANNOT_PIN)
        else:
            self._act(node, "keep_prefix", then=lambda _: self._say_if_not_pinned(node))

    def _act(self, node: NodeView, command: CacheCommand, then: Callable[[CacheView], object] | None = None) -> None:
        """Tell the engine what to do to the run, and do `then` what follows; say so where the run is gone."""
        nodes = self._bridge.read_cache_view().nodes
        found = find_again(node, nodes)
        if found < 0:
            self.refresh()
            self._say(GONE)
        else:
            self._bridge.tell(command, nodes[found].block, then=then)

    def _say_if_not_pinned(self, node: NodeView) -> None:
        nodes = self._bridge.read_cache_view().nodes
        found = find_again(node, nodes)
        if found >= 0 and not nodes[found].pinned:
            self._say(NOT_PINNED)

    def _say(self, sentence: str) -> None:
        if self.tree is not None:
            self.tree.say(sentence)

    def _on_time(self) -> None:
        if not self._charts.isVisible() and self.tree is None:
            return
        self.refresh()
        if self._bridge.busy:
            self.timer.start(WRITING_MS)
        elif self.tree is not None:
            self.timer.start(AGE_MS)

    def _on_tree_visibility(self) -> None:
        if self.tree is not None and not self.tree.isVisible():
            self.tree = None
        self.refresh_soon()

    def _on_list(self) -> None:
        self._titles = {each.id: each.title for each in self._session.conversations()}
        self.refresh_soon()


def message_at(messages: Sequence[StoredMessage], token: int) -> int:
    """The message that holds a token of the prompt, as far as the figures of the turns tell; 0 where none does."""
    question = 0
    for message in messages:
        if message.role == "user":
            question = message.id
        if message.stats and token < message.stats.prompt_tokens:
            return question
        if message.stats and token < message.stats.prompt_tokens + message.stats.written_tokens:
            return message.id
    return 0


def version_of(text: str, messages: Sequence[StoredMessage], shown: Sequence[int]) -> int:
    """The last message of the version of a conversation that holds most of a run's text: the one that is shown where
    others hold no more, else the newest of those that do; 0 where there is no message.

    `messages` are those of all versions, `shown` the ids of those in view. A run's text runs through several messages,
    with the template's own words between them: each of its lines is looked for.
    """
    lines = [line for line in tree_words.lines_of(text) if len(line) >= LEAST_LINE]
    held = {each.id: sum(len(line) for line in lines if line in each.content) for each in messages}
    found: dict[int, int] = {}
    parents = {each.id: each.parent_id or 0 for each in messages}
    for number in sorted(parents):  # a parent was written before what follows it
        found[number] = held[number] + found.get(parents[number], 0)
    leaves = set(parents) - set(parents.values())
    return max(leaves, key=lambda leaf: (found[leaf], leaf in shown, leaf), default=0)
