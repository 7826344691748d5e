"""The quiet "?" beside a part of the window: what is this? All texts stand here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.language import tr
from app.widgets.plain import Label
from app.widgets.room import scrolling

SIZE = 16
WIDTHS = (344, 440, 560)
"""Pixels an explanation is wide: the least with which all of it is in sight."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A name and what it means, in two sentences."""

    name: str
    text: str


TERMS = {
    "block": Explanation(
        tr("Blocks"),
        tr(
            "What was read is remembered (cached) in blocks of 16 tokens; a token is a short word or a "
            "piece of a longer one. A block serves again only where it, and everything before it, is the "
            "same as it was."
        ),
    ),
    "prefix": Explanation(
        tr("Shared beginning (prefix)"),
        tr(
            "A prompt that begins like something read before need not be read again up to where the two "
            "part. Only what comes behind is read."
        ),
    ),
    "eviction": Explanation(
        tr("Dropped (evicted)"),
        tr(
            "When the memory (budget) is full, what was not used for the longest time is dropped. A "
            "conversation that needs it again has to read it again."
        ),
    ),
    "ttft": Explanation(
        tr("First word (time to first token)"),
        tr(
            "This is the wait from Send to the first piece of the answer: the prompt is looked up, and "
            "what is not remembered is read. The more is remembered, the shorter it is."
        ),
    ),
    "pinned": Explanation(
        tr("Kept (pinned)"),
        tr(
            "The system prompt of a conversation, and whatever is pinned in the tree, stays in memory "
            "when other things are dropped. What is kept takes at most half of the memory; beyond that "
            "the oldest is let go."
        ),
    ),
    "estimate": Explanation(
        tr("About so many seconds"),
        tr(
            "Before a prompt is sent, its seconds are what reading should take, from how fast this model "
            "read here of late. Looking it up and choosing the first token come on top, so that the time "
            "measured is often longer."
        ),
    ),
    "disk": Explanation(
        tr("From disk"),
        tr(
            "What was read of a prompt before the last start, or was dropped from memory since, is taken "
            "from disk. That takes a moment longer than memory, and far less than reading the prompt again."
        ),
    ),
    "cold": Explanation(
        tr("From scratch (cold)"),
        tr(
            "This is what the same prompt would take with nothing remembered. It is an estimate from how "
            "fast this model reads here, told as a span, and left out below half a second. Where the "
            "same prompt was really read that way, the measured time stands there without “about”."
        ),
    ),
}
"""What each word of the trade means."""

PLACES: dict[str, tuple[Explanation, tuple[str, ...]]] = {
    "ribbon": (
        Explanation(
            tr("The next prompt"),
            tr(
                "Each cell is 16 tokens, or more in a long prompt, of what Send would hand to the model, "
                "from first to last. Cells with a line through their foot are kept, plain ones are "
                "remembered, those with a line through their head were read ahead while you wrote, "
                "hollow ones with a bar are remembered on disk, hollow ones without were sent to the "
                "server before, tall ones must be read, crossed ones are more than the model reads, and "
                "dashes are room left."
            ),
        ),
        ("block", "pinned", "disk", "estimate"),
    ),
    "badge": (
        Explanation(
            tr("Remembered and from scratch"),
            tr(
                "A conversation is remembered (warm) where at least half of its next prompt need not be "
                "read again. The seconds are an estimate of the wait for its next answer as the "
                "conversation stands, without your next message, which has to be read too."
            ),
        ),
        ("prefix", "estimate"),
    ),
    "strip": (
        Explanation(
            tr("What this answer took"),
            tr(
                "How soon its first word came, what that would have taken from scratch, and how much of "
                "the prompt was remembered. “Details” shows the figures: tokens remembered, read, and "
                "written in the answer."
            ),
        ),
        ("prefix", "ttft", "cold"),
    ),
    "system prompt": (
        Explanation(
            tr("What changes in a system prompt"),
            tr(
                "The system prompt stands at the very front, so one token that is another one at the "
                "next turn makes the model read everything behind it again. Frozen, it stays as it is; "
                "moved to the newest message, it may change and costs nothing, because only new text "
                "stands behind it."
            ),
        ),
        ("prefix",),
    ),
    "proof": (
        Explanation(
            tr("Prove it"),
            tr(
                "The same prompt is answered twice with always the likeliest token: once with what is "
                "remembered now, which may be more than the turn itself found, once with every token "
                "read anew. Remembering is right when both write the same tokens, and worth it when the "
                "first comes sooner."
            ),
        ),
        ("ttft", "prefix"),
    ),
    "first token": (
        Explanation(
            tr("First word"),
            tr(
                "Each bar is the wait for the first word of one turn: blue where most of its prompt was "
                "remembered, grey where it was read from scratch. The light bar behind it is what that "
                "turn would have taken from scratch."
            ),
        ),
        ("ttft", "cold"),
    ),
    "tokens": (
        Explanation(
            tr("Tokens"),
            tr(
                "Each bar is the prompt of one turn: the blue part was remembered, the orange part on "
                "top was read. A tall orange part in the middle of a conversation says that something "
                "early in the prompt changed."
            ),
        ),
        ("prefix",),
    ),
    "memory": (
        Explanation(
            tr("Memory"),
            tr(
                "What is remembered takes memory, shown over the last 10 minutes: kept, in use (the "
                "buffer that the newest chat is worked on in, a copy of its blocks) and what can go, "
                "under the most it may take. The total is larger than that of the tree, which counts "
                "blocks only and not that buffer; what is on disk is in neither, nor are the texts and "
                "token ids beside it."
            ),
        ),
        ("block", "eviction", "pinned"),
    ),
    "tree": (
        Explanation(
            tr("Shared beginnings"),
            tr(
                "Everything that is remembered as a tree: conversations that begin alike share a stem "
                "and part where they differ. Each piece is called by its own first words; a hollow one "
                "with a bar is on disk only. Widths are not to scale: a piece grows by one step each "
                "time its tokens double, and says how many it has."
            ),
        ),
        ("prefix", "eviction", "pinned", "disk"),
    ),
}
"""For each part of the window what it shows, and the words of the trade it uses."""


class Explain(QToolButton):
    """A small "?" that opens what `PLACES` says about `place`. `popover` is on screen while it is open, else None.

    With `is_awake` it is always there for the keyboard, and painted only while that says so or while it has the focus.
    """

    def __init__(self, place: str, parent: QWidget | None = None, is_awake: Callable[[], bool] = lambda: True) -> None:
        super().__init__(parent)
        self.popover: ExplainPopover | None = None
        self._is_awake = is_awake
        self._place = place
        self.setObjectName("explain")
        self.setText("?")
        self.setFixedSize(SIZE, SIZE)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("What is this? {name}", name=PLACES[place][0].name))
        self.setToolTip(tr("What is this?"))
        self.clicked.connect(self.open)

    def open(self) -> None:
        """Show the popover beside the button."""
        self.popover = ExplainPopover(self._place, self.window())
        self.popover.destroyed.connect(self._on_closed)
        self.popover.open_at(self)

    def sizeHint(self) -> QSize:
        return QSize(SIZE, SIZE)

    def _on_closed(self) -> None:
        self.popover = None

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.hasFocus() or self._is_awake():
            super().paintEvent(event)


class ExplainPopover(QFrame):
    """What a part of the window shows, in a small window that closes with Escape or when anything else is pressed."""

    def __init__(self, place: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        explanation, terms = PLACES[place]
        parts = [explanation, *(TERMS[term] for term in terms)]
        self.text = "\n".join(f"{part.name}: {part.text}" for part in parts)
        self.setAccessibleName(explanation.name)
        self.setAccessibleDescription(self.text)
        content = QWidget()
        column = self._column = QVBoxLayout(content)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(1, 1, 1, 1)
        whole.addWidget(scrolling(content))
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(2)
        for number, part in enumerate(parts):
            column.addSpacing(6 if number else 0)
            column.addWidget(_label(part.name, "", bold=True))
            column.addWidget(_label(part.text, "" if number == 0 else "soft"))

    def open_at(self, button: QWidget) -> None:
        """Show it under `button`, or above where there is no room, inside the screen."""
        room = button.screen().availableGeometry()
        self.fit(room.size())
        place = button.mapToGlobal(QPoint(-16, button.height() + 4))
        if place.y() + self.height() > room.bottom():
            above = button.mapToGlobal(QPoint(0, -4)).y() - self.height()
            place.setY(max(room.top() + 8, above))
        place.setX(max(room.left() + 8, min(place.x(), room.right() - self.width() - 8)))
        self.move(place)
        self.show()

    def fit(self, screen: QSize) -> None:
        """Be as narrow and as tall as a screen has room for; what is more than that is scrolled to."""
        most = screen - QSize(16, 16)
        widths = [width for width in WIDTHS if width <= most.width()] or [most.width()]
        fitting = (width for width in widths if self._height_at(width) <= most.height())
        width = next(fitting, widths[-1])
        self.setFixedSize(width, min(self._height_at(width), most.height()))

    def _height_at(self, width: int) -> int:
        return self._column.heightForWidth(width - 2) + 2

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.close()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        painter.setPen(QColor(colours.edge))
        painter.setBrush(QColor(colours.page))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))


def _label(text: str, name: str, bold: bool = False) -> Label:
    label = Label(text)
    label.setObjectName(name)
    label.setFont(theme.text_font(theme.SMALL, bold))
    label.setWordWrap(True)
    return label
