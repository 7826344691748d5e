"""The quiet "?" beside a part of the window: what is this? All texts stand here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.widgets.plain import Label

SIZE = 16
WIDTH = 344


@dataclass(frozen=True, slots=True)
class Explanation:
    """A name and what it means, in two sentences."""

    name: str
    text: str


TERMS = {
    "block": Explanation(
        "Blocks",
        "The cache keeps what was read in blocks of 16 tokens; a token is a short word or a piece of a longer one. "
        "A block can be reused only where it, and everything before it, is the same as it was.",
    ),
    "prefix": Explanation(
        "Prefix",
        "The prefix is the beginning that a prompt shares with something read before. "
        "Only what comes behind it has to be computed.",
    ),
    "eviction": Explanation(
        "Eviction",
        "When the budget is full, the blocks that were not used for the longest time are dropped. "
        "A conversation that needs them again has to read them again.",
    ),
    "ttft": Explanation(
        "Time to first token",
        "This is the wait from Send to the first piece of the answer: the prompt is looked up, and what is missing is "
        "computed. The more is reused, the shorter it is.",
    ),
    "pinned": Explanation(
        "Pinned",
        "The system prompt of a conversation, and whatever is pinned in the tree, stays in memory when other blocks "
        "are evicted. What is pinned takes at most half of the budget; beyond that the oldest is let go.",
    ),
    "estimate": Explanation(
        "Estimated seconds",
        "Before a prompt is sent, its seconds are what computing the missing tokens should take, from how fast this "
        "model read here of late. Looking the prompt up and choosing the first token come on top, so the time measured "
        "under the answer is often longer.",
    ),
    "disk": Explanation(
        "From disk",
        "What was read of a prompt before the last start, or was dropped from memory since, is taken from disk. "
        "That takes a moment longer than memory, and far less than reading the prompt again.",
    ),
    "cold": Explanation(
        "Cold",
        "This is what the same prompt would take with an empty cache, estimated from how fast this model reads here. "
        "Where the same prompt was really read that way, the measured time stands there without “about”.",
    ),
}
"""What each word of the trade means."""

PLACES: dict[str, tuple[Explanation, tuple[str, ...]]] = {
    "ribbon": (
        Explanation(
            "The next prompt",
            "Each cell is 16 tokens, or more in a long prompt, of what Send would hand to the model, from first to "
            "last. Cells with a line through their foot are pinned, plain ones are reused, hollow ones with a "
            "bar are reused from disk, tall ones must be computed, crossed ones do not fit into the context, and "
            "dashes are room left in it.",
        ),
        ("block", "pinned", "disk", "estimate"),
    ),
    "badge": (
        Explanation(
            "Warm and cold",
            "A conversation is warm where at least half of its next prompt is in the cache, and cold elsewhere. The "
            "seconds are an estimate of the wait for its next answer as the conversation stands, without your next "
            "message, which has to be read too.",
        ),
        ("prefix", "estimate"),
    ),
    "strip": (
        Explanation(
            "What this answer took",
            "The prompt of this turn: how much of it was in the cache, how much had to be computed, and how long that "
            "took. “Written” counts the tokens of the answer itself.",
        ),
        ("prefix", "ttft", "cold"),
    ),
    "system prompt": (
        Explanation(
            "What changes in a system prompt",
            "The system prompt stands at the very front, so one token that is another one at the next turn makes the "
            "model read everything behind it again. Frozen, it stays as it is; moved to the newest message, it may "
            "change and costs nothing, because only new text stands behind it.",
        ),
        ("prefix",),
    ),
    "proof": (
        Explanation(
            "Prove it",
            "The same prompt is answered twice with always the likeliest token: once with what is in the cache now, "
            "which may be more than the turn itself found, once with every token read anew. Reuse is right when both "
            "write the same tokens, and worth it when the first comes sooner.",
        ),
        ("ttft", "prefix"),
    ),
    "first token": (
        Explanation(
            "First token",
            "Each bar is the wait for the first token of one turn. The grey bar behind it is what that turn would have "
            "taken cold.",
        ),
        ("ttft", "cold"),
    ),
    "tokens": (
        Explanation(
            "Tokens this turn",
            "Each bar is the prompt of one turn: the blue part was in the cache, the orange part on top was computed. "
            "A tall orange part in the middle of a conversation says that something early in the prompt changed.",
        ),
        ("prefix",),
    ),
    "memory": (
        Explanation(
            "Cache memory",
            "What the cache holds, over the last 10 minutes: pinned, in use (the buffer that the newest chat is worked "
            "on in, a copy of its blocks) and reusable, under the line of its budget, which is never passed. The total "
            "is larger than that of the tree, which counts cached blocks only and not that buffer; what is on disk is "
            "in neither, nor are the texts and token ids beside it.",
        ),
        ("block", "eviction", "pinned"),
    ),
    "saved": (
        Explanation(
            "Saved",
            "The sum of the waits that reuse has spared, turn by turn: cold minus measured. "
            "Next to it stand the tokens that were reused instead of being read again.",
        ),
        ("cold",),
    ),
    "tree": (
        Explanation(
            "Shared prefixes",
            "Everything in the cache as a tree: conversations that begin alike share a stem and part where they "
            "differ. A piece grows a step each time its tokens double; a hollow one with a bar is on disk only.",
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
        self.setAccessibleName(f"What is this? {PLACES[place][0].name}")
        self.setToolTip("What is this?")
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
        self.setFixedWidth(WIDTH)
        explanation, terms = PLACES[place]
        parts = [explanation, *(TERMS[term] for term in terms)]
        self.text = "\n".join(f"{part.name}: {part.text}" for part in parts)
        self.setAccessibleName(explanation.name)
        self.setAccessibleDescription(self.text)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(2)
        for number, part in enumerate(parts):
            column.addSpacing(6 if number else 0)
            column.addWidget(_label(part.name, "", bold=True))
            column.addWidget(_label(part.text, "" if number == 0 else "soft"))

    def open_at(self, button: QWidget) -> None:
        """Show it under `button`, or above where there is no room, inside the screen."""
        self.setFixedHeight(self._column.heightForWidth(WIDTH))
        room = button.screen().availableGeometry()
        place = button.mapToGlobal(QPoint(-16, button.height() + 4))
        if place.y() + self.height() > room.bottom():
            place.setY(button.mapToGlobal(QPoint(0, -4)).y() - self.height())
        place.setX(max(room.left() + 8, min(place.x(), room.right() - WIDTH - 8)))
        self.move(place)
        self.show()

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
