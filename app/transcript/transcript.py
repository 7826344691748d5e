"""The conversation in view, from the top down. It follows what is written only while its end is in view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.language import tr
from app.transcript.message import Answer, Folds, MessageContent, MessageWidget, Question, ToolResult
from app.transcript.message_actions import Wishes
from app.widgets.icons import icon

SIDE = 24
"""Pixels left and right of the text."""
COLUMN_WIDTH = 760
"""Lines longer than this are hard to read; a wider transcript stays this wide, in the middle."""
FIRST_MESSAGES, FIRST_CHARACTERS = 50, 40_000
"""What is built of a long conversation when it is opened; the rest follows when it is scrolled to."""
FIRST_IN_VIEW = 4
"""How many messages are built before the event loop goes on; they fill the view, more or less."""
STEP_S = 0.01
"""Seconds of one turn of the event loop after which no further message is begun; one is built in any case."""
NEWEST_ROW = 44
"""Pixels of the row under the messages in which the jump to the newest one is offered."""
END_MARGIN = 4
"""Pixels from the end at which it still counts as in view."""


class Transcript(QScrollArea):
    """Messages as widgets. `wishes` has the signals of all of them: what the user wants of a message.

    While the reader is anywhere but at the end, the message at the top of the view stays where it is, whatever is
    written below or built above. A message takes about 10 ms to build, so that what is above the newest few is built
    piece by piece between the events of the window. What asks for a message that is due has it built at once.

    What was just sent may be added a moment later than it is known: `catch_up` is called before anything is asked about
    the messages at the end, and adds them.

    Signals: were_built(messages) with those that a conversation is shown with, and with each piece built above them.
    """

    were_built = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("transcript")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Conversation"))
        self.wishes = Wishes(self)
        self.catch_up: Callable[[], object] = lambda: None
        self._earlier: list[MessageContent] = []
        self._due = 0  # so many at the end of `_earlier` are built next, by the timer
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._build_some)
        self._messages: list[MessageWidget] = []
        self._folds: Folds = {}
        self._shows_figures = False
        self._can_go_on = True
        self._following, self._moving = True, False
        self._anchor: tuple[MessageWidget, int] | None = None
        self._needle = ""
        self._found: MessageWidget | None = None  # keeps its first mark in view, also while it is drawn
        self._build_column()
        self._newest = QPushButton(tr("Newest"), self)
        self._newest.setObjectName("floating")
        self._newest.setIcon(icon("newest"))
        self._newest.setAccessibleName(tr("Jump to the newest message"))
        self._newest.clicked.connect(self.follow)
        self._newest.hide()
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._keep_place)
        bar.valueChanged.connect(self._on_scrolled)
        self.wishes.unfolded.connect(self._on_unfolded)

    def _build_column(self) -> None:
        page, column = QWidget(), QWidget()
        # Whatever a message would like: the column is never wider than the view, for there is no way to scroll aside.
        column.setMinimumWidth(1)
        column.setMaximumWidth(COLUMN_WIDTH)
        self._column = QVBoxLayout(column)
        self._column.setContentsMargins(0, 16, 0, 8)
        self._column.setSpacing(2)
        self._column.addStretch(1)
        row = self._row = QHBoxLayout(page)
        row.setContentsMargins(SIDE, 0, SIDE, 0)
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)
        self.setWidget(page)
        self._page = page

    @property
    def following(self) -> bool:
        """Whether the view moves along with what is written."""
        return self._following

    @property
    def top_id(self) -> int:
        """The id of the message at the top of the view, 0 where the end is in view."""
        return self._anchor[0].content.id if self._anchor and not self._following else 0

    @property
    def messages(self) -> tuple[MessageWidget, ...]:
        """The messages, oldest first, without those that wait to be scrolled to. Those that are due are built now."""
        self.catch_up()
        self._build(self._due)
        return tuple(self._messages)

    @property
    def built(self) -> tuple[MessageWidget, ...]:
        """The messages built so far, oldest first."""
        return tuple(self._messages)

    @property
    def newest(self) -> MessageWidget | None:
        """The last message."""
        self.catch_up()
        return self._messages[-1] if self._messages else None

    def show_messages(self, contents: Sequence[MessageContent]) -> None:
        """Show another conversation, at its end, or another branch, whose common start stays as and where it is."""
        self.catch_up()
        kept = self._count_kept(contents)
        self._drop(kept)
        if kept:
            self._earlier = list(contents[: len(self._earlier)])
        else:
            self._anchor, self._following = None, True
            first = _first_to_build(contents)
            self._earlier = list(contents[: max(first, len(contents) - FIRST_IN_VIEW)])
            self._set_due(len(self._earlier) - first)
        new = len(self._earlier) + kept
        for message, content in zip(self._messages, contents[new - kept : new], strict=True):
            message.finish(content)
        built = [self._insert(content, len(self._messages)) for content in contents[new:]]
        self.mark_newest()
        self.were_built.emit(built)
        if self._following:
            self.follow()

    @property
    def is_building(self) -> bool:
        """Whether messages are still to be built, between events."""
        return self._timer.isActive()

    def clear(self) -> None:
        """Show nothing, and be rid of all messages at once."""
        dropped = list(self._messages)
        self.show_messages([])
        for message in dropped:
            QCoreApplication.sendPostedEvents(message, QEvent.Type.DeferredDelete.value)

    def _count_kept(self, contents: Sequence[MessageContent]) -> int:
        """How many of the messages that are built can stay."""
        shown = [*self._earlier, *(message.content for message in self._messages)]
        return max(0, _common_start(shown, contents) - len(self._earlier))

    def _drop(self, kept: int) -> None:
        for message in self._messages[kept:]:
            self._column.removeWidget(message)
            message.end()
            message.hide()
            message.deleteLater()
        del self._messages[kept:]

    def add(self, content: MessageContent) -> MessageWidget:
        """Add a message the user has just caused, and go to the end."""
        message = self._insert(content, len(self._messages))
        self.mark_newest()
        self.follow()
        return message

    def answer(self, message_id: int) -> Answer | None:
        """The answer with this id, when it is built or due."""
        message = self.message(message_id)
        return message if isinstance(message, Answer) else None

    def message(self, message_id: int) -> MessageWidget | None:
        """The message with this id, when it is built or due."""
        self.catch_up()
        place = self._place_among_earlier(message_id)
        if place is not None and place >= len(self._earlier) - self._due:
            self._build(len(self._earlier) - place)
        return next((message for message in reversed(self._messages) if message.content.id == message_id), None)

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._following, self._found = True, None
        self._offer_newest(False)
        self._move_to(self.verticalScrollBar().maximum())

    def show_message(self, message_id: int) -> bool:
        """Bring a message to the top of the view, as far as there is text below it. False where it is not here."""
        place = self._place_among_earlier(message_id)
        if place is not None:
            self._build(len(self._earlier) - place)
            self.build_earlier()
        message = self.message(message_id)
        if message is None:
            return False
        self._following, self._anchor, self._found = False, (message, 0), None
        self._offer_newest(False)
        self._keep_place()
        return True

    def show_found(self, message_id: int, needle: str) -> bool:
        """Mark every place of `needle` and bring the first one in this message into view. False where the message is
        not here."""
        if not self.show_message(message_id):
            return False
        message = self.message(message_id)
        assert message is not None
        message.reveal()
        self.mark(needle)
        self._found = message
        self._keep_place()
        return True

    def mark(self, needle: str) -> None:
        """Mark every place of what is searched for in all messages; "" none."""
        self._needle, self._found = needle, None
        for message in self._messages:
            message.mark(needle)

    def set_can_go_on(self, can_go_on: bool) -> None:
        """Whether whoever answers here goes on with answers that were cut off."""
        if can_go_on != self._can_go_on:
            self._can_go_on = can_go_on
            self.mark_newest()

    def show_figures(self, wanted: bool) -> None:
        """Whether all answers show their figures."""
        self._shows_figures = wanted
        for message in self._messages:
            if isinstance(message, Answer):
                message.strip.show_figures(wanted)

    def build_earlier(self) -> None:
        """Build the next older messages, piece by piece; what is in view stays where it is."""
        if not self._due:
            self._set_due(len(self._earlier) - _first_to_build(self._earlier))

    def _place_among_earlier(self, message_id: int) -> int | None:
        ids = (content.id for content in self._earlier)
        return next((place for place, each in enumerate(ids) if each == message_id), None)

    def _set_due(self, count: int) -> None:
        self._due = count
        if count:
            self._timer.start(0)
        else:
            self._timer.stop()

    def _build_some(self) -> None:
        end = perf_counter() + STEP_S
        self._build(1)
        while self._due and perf_counter() < end:
            self._build(1)

    def _build(self, count: int) -> None:
        """Build the last `count` of the earlier messages, above those that are there."""
        if not count:
            return
        cut = len(self._earlier) - count
        batch, self._earlier = self._earlier[cut:], self._earlier[:cut]
        built = [self._insert(content, place) for place, content in enumerate(batch)]
        self._set_due(max(0, self._due - count))
        self.were_built.emit(built)

    def focusNextPrevChild(self, next: bool) -> bool:
        self.catch_up()
        self._build(self._due)  # the Tab key leaves no message out
        return super().focusNextPrevChild(next)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The scroll bar takes its width from the margin beside it, so that no line breaks anew when it appears.
        taken = self.width() - self.viewport().width()
        self._row.setContentsMargins(SIDE, 0, max(0, SIDE - taken), 0)
        self._place_newest()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # A layout moves a message before or after it changes the range of the scroll bar.
        if event.type() == QEvent.Type.Move and self._anchor and watched is self._anchor[0] and not self._following:
            self._keep_place()
        return super().eventFilter(watched, event)

    def _insert(self, content: MessageContent, place: int) -> MessageWidget:
        message = self._widget(content)
        message.installEventFilter(self)
        message.mark(self._needle)
        self._messages.insert(place, message)
        self._column.insertWidget(place, message)
        self._order_tabs(place)
        return message

    def _widget(self, content: MessageContent) -> MessageWidget:
        match content.role:
            case "assistant":
                answer = Answer(content, self.wishes, self._folds)
                answer.strip.show_figures(self._shows_figures)
                return answer
            case "tool":
                return ToolResult(content, self.wishes, self._folds)
            case _:
                return Question(content, self.wishes, self._folds)

    def _order_tabs(self, place: int) -> None:
        """The Tab key goes through the messages from the top down, before it leaves the transcript."""
        before: QWidget = self._messages[place - 1].tab_stops[-1] if place else self
        for widget in self._messages[place].tab_stops:
            QWidget.setTabOrder(before, widget)
            before = widget

    def mark_newest(self) -> None:
        """Keep the buttons under the newest message in sight, and offer to answer a question that has no answer, and to
        go on with an answer that was cut off."""
        for message in self._messages:
            is_last = message is self._messages[-1]
            is_open = isinstance(message, Question) or bool(message.content.finish_reason)
            message.tools.set_always(is_last and is_open)
            message.tools.set_can_go_on(is_last and message.content.is_cut and self._can_go_on)
            if isinstance(message, Question):
                message.tools.set_can_retry(is_last)

    def _keep_place(self) -> None:
        """The content grew or shrank: stay at the end, or keep the message at the top of the view in its place."""
        bar = self.verticalScrollBar()
        if self._following:
            self._move_to(bar.maximum())
        elif self._anchor:
            message, offset = self._anchor
            if message is self._found:
                offset = min(0, self.viewport().height() // 3 - (message.marked_top or 0))
            self._move_to(self._top_of(message) - offset)
            if self._is_all_in_sight:
                if not self._newest.isHidden():  # a view that is being laid out would keep its old range
                    QTimer.singleShot(0, self, self._end_offer)
            elif bar.value() < bar.maximum() - END_MARGIN:
                self._offer_newest(True)

    def _on_unfolded(self, message_id: int) -> None:
        """The user opened or folded a part of a message: the message stays where it is, unless it is being written."""
        message = self.message(message_id)
        if message is not None and (message.content.finish_reason or message.content.role == "tool"):
            offset = self._top_of(message) - self.verticalScrollBar().value()
            self._following, self._anchor, self._found = False, (message, offset), None

    def _on_scrolled(self, value: int) -> None:
        if self._moving:
            return
        self._found = None
        self._following = value >= self.verticalScrollBar().maximum() - END_MARGIN
        self._choose_anchor()
        self._offer_newest(not self._following)
        if value < self.viewport().height():
            self.build_earlier()

    def _choose_anchor(self) -> None:
        top = self.verticalScrollBar().value()
        for message in self._messages:
            # One that was just built is hidden until it has got its place.
            if not message.isHidden() and self._top_of(message) + message.height() > top:
                self._anchor = (message, self._top_of(message) - top)
                return

    def _top_of(self, message: MessageWidget) -> int:
        return message.mapTo(self._page, message.rect().topLeft()).y()

    def _move_to(self, value: int) -> None:
        self._moving = True
        self.verticalScrollBar().setValue(value)
        self._moving = False

    def _offer_newest(self, is_offered: bool) -> None:
        """Offer the jump in a row of its own, so that it covers no line, or no longer."""
        if is_offered == self._newest.isHidden():
            self._newest.setVisible(is_offered)
            self.setViewportMargins(0, 0, 0, NEWEST_ROW if is_offered else 0)
            self._place_newest()

    @property
    def _is_all_in_sight(self) -> bool:
        return self._page.minimumSizeHint().height() <= self.height()

    def _end_offer(self) -> None:
        if self._is_all_in_sight:
            self._offer_newest(False)

    def _place_newest(self) -> None:
        self._newest.adjustSize()
        view = self.viewport().geometry()
        top = view.bottom() + (NEWEST_ROW - self._newest.height()) // 2
        self._newest.move(view.center().x() - self._newest.width() // 2, top)


def _common_start(shown: Sequence[MessageContent], wanted: Sequence[MessageContent]) -> int:
    """How many messages at the start are the same ones."""
    count = 0
    for old, new in zip(shown, wanted, strict=False):
        if old.id != new.id:
            break
        count += 1
    return count


def _first_to_build(contents: Sequence[MessageContent]) -> int:
    """The index from which messages are built: the last FIRST_MESSAGES, fewer where they are long, but at least two."""
    characters = 0
    for count, content in enumerate(reversed(contents), start=1):
        characters += len(content.text)
        if count > FIRST_MESSAGES or (characters > FIRST_CHARACTERS and count > 2):
            return len(contents) - count + 1
    return 0
