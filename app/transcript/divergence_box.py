"""The box in warm colours under an answer: why its prompt was read again."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import theme, words
from app.language import numeral, tr
from app.transcript.difference import difference
from app.widgets.plain import LINK_PADDING, Label, tool_tip
from engine import Divergence

_WHY = {
    "new": "",
    "edited": tr("the text there was edited"),
    "date": tr("a date or a clock there moved on"),
    "reasoning removed": tr("the chat template of this model leaves out earlier reasoning"),
    "empty thought": tr("the chat template of this model puts an empty thought into earlier answers"),
    "answer frame": tr("the chat template of this model begins an answer otherwise once it is written"),
    "system moved": tr("the chat template of this model moves the system prompt behind each new question"),
    "settings": tr("a setting of this conversation that the chat template sees is another one"),
    "tools": tr("the tools are others, or in another order"),
    "trimmed": tr("the oldest messages were left out to make room in the context"),
    "evicted": tr("the cache was full, and what was not used for longest had to go"),
    "other client": tr("the cache was full, and other programs that use this model needed the room"),
    "positions": tr("past it, this model computes positions in another way; this happens once"),
    "other model": tr("each model keeps a cache of its own"),
    "cache off": tr("the cache is switched off"),
}
_CURES = {
    "edited": tr("Put what changes into the newest message."),
    "date": tr("A conversation keeps the date it began with; begin a new one for today's."),
    "tools": tr("Keep them the same from turn to turn."),
    "evicted": tr("A larger budget, in Preferences, keeps more."),
    "other client": tr("A larger budget, in Preferences, keeps more."),
    "cache off": tr("“Use the cache”, in the menu, reads only what is new."),
}
LINK_DISTANCE = 16
"""Pixels between two buttons side by side."""
PROVE = "prove"
"""The key of the one action that is no cure."""
_CURE_IN_PROMPT = tr("In the system prompt it can be frozen, or moved to the newest message.")
"""For a date that the system prompt itself holds; any other one is the chat template's."""
_WITHOUT_TEXT = {
    "evicted": tr("Evicted from token {position} on"),
    "other client": tr("Evicted from token {position} on"),
    "positions": tr("This conversation outgrew a length of its model"),
    "other model": tr("Another model has read this before"),
    "cache off": tr("Nothing is reused"),
}
"""How the box begins where no token is different."""


class DivergenceBox(QAbstractButton):
    """Says where a prompt left what was cached, what changed there, and how many tokens were read again. Pressing it
    (`clicked`) asks to see the message that this lies in.

    Signals: action_wanted(str key) for one of the buttons of `show_actions`.
    """

    action_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._body = Label(self), Label(self)
        for label in (self._title, self._body):
            label.setFont(theme.text_font(theme.SMALL))
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            label.setContentsMargins(LINK_PADDING, 0, LINK_PADDING, 0)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._title.setTextFormat(Qt.TextFormat.RichText)
        self._text = ""
        self._divergence: Divergence | None = None
        self._place = ""
        self._advice: str | None = None
        self.buttons: dict[str, QPushButton] = {}
        self._links = QHBoxLayout()
        self._links.setContentsMargins(0, 0, 0, 0)
        self._links.setSpacing(LINK_DISTANCE)
        self._links.addStretch(1)
        # A button's own policy would take the height it has at its narrowest for the least there can be.
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Why this prompt was read again"))
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(14 - LINK_PADDING, 8, 14 - LINK_PADDING, 8)
        column.setSpacing(2)
        column.addWidget(self._title)
        column.addWidget(self._body)
        column.addLayout(self._links)
        self.setMinimumWidth(1)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stack_links()

    def _stack_links(self) -> None:
        """The buttons stand one below the other where they are wider than the box together."""
        widths = [button.sizeHint().width() for button in self.buttons.values()]
        margins = self._column.contentsMargins()
        needed = sum(widths) + LINK_DISTANCE * len(widths) + margins.left() + margins.right()
        is_stack = needed > self.width()
        self._links.setDirection(QHBoxLayout.Direction.TopToBottom if is_stack else QHBoxLayout.Direction.LeftToRight)
        self._links.setSpacing(0 if is_stack else LINK_DISTANCE)

    @property
    def text_shown(self) -> str:
        """Everything the box says."""
        return self._text

    @property
    def html_shown(self) -> str:
        """Its first sentence with the marks, as rich text."""
        return self._title.text()

    def show_divergence(self, divergence: Divergence | None, place: str, computed_tokens: int) -> None:
        """Explain this divergence, which lies at `place` ("in your 2nd message"); hide the box where it cost less than
        what was new. `computed_tokens` are all that the turn computed."""
        if divergence is None or not words.is_worth_saying(divergence, computed_tokens):
            self.hide()
            return
        self._divergence, self._place = divergence, place
        self._say(divergence, place)
        can_go = divergence.message_index >= 0
        self.setToolTip(tool_tip(tr("Go there, {place}", place=place) if can_go else ""))
        self.setCursor(Qt.CursorShape.PointingHandCursor if can_go else Qt.CursorShape.ArrowCursor)
        self.show()

    def show_actions(self, actions: Sequence[tuple[str, str, str]], advice: str | None = None) -> None:
        """Buttons for what can be done about it, as (key, label, what it does). `advice` takes the place of the box's
        own, for instance because a cure is among the buttons; None leaves that."""
        shown = [(key, button.text()) for key, button in self.buttons.items()]
        if [(key, label) for key, label, _ in actions] == shown and advice == self._advice:
            return
        self._advice = advice
        for button in self.buttons.values():
            self._links.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = {key: self._button(key, label, tip) for key, label, tip in actions}
        for number, button in enumerate(self.buttons.values()):
            self._links.insertWidget(number, button, 0, Qt.AlignmentFlag.AlignLeft)
        self._stack_links()
        if self._divergence is not None:
            self._say(self._divergence, self._place)

    def _button(self, key: str, label: str, tip: str) -> QPushButton:
        button = QPushButton(label, self)
        button.setObjectName("link")
        button.setToolTip(tool_tip(tip))
        button.setAccessibleDescription(tip)
        button.clicked.connect(lambda: self.action_wanted.emit(key))
        return button

    def _say(self, divergence: Divergence, place: str) -> None:
        what = difference(divergence.old_text, divergence.new_text)
        head, says = title(divergence, place, what.is_one_word), body(divergence, self._advice)
        self._title.setText(f"<b>{escape(head)}</b>: {what.html}." if what.html else f"<b>{escape(head)}.</b>")
        self._body.setText(says)
        self._text = f"{head}: {what.text}. {says}" if what.text else f"{head}. {says}"
        self.setAccessibleName(f"{head}: {what.spoken}. {says}" if what.spoken else self._text)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = theme.current()
        painter.setPen(QColor(colours.accent if self.hasFocus() else colours.computed))
        painter.setBrush(QColor(colours.warn))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)


def title(divergence: Divergence, place: str, is_one_word: bool) -> str:
    """The head of the box: where the prompt left what was cached. It speaks of one word only where a single word took
    the place of a single other one."""
    is_one = is_one_word and divergence.cause != "trimmed"  # whole messages are gone, however they begin
    differs = (
        tr("One different word at token {position}") if is_one else tr("The text differs from token {position} on")
    )
    begins = _WITHOUT_TEXT.get(divergence.cause, differs).format(position=numeral(divergence.position, ","))
    return f"{begins}, {place}" if place else begins


def body(divergence: Divergence, advice: str | None = None) -> str:
    """The text under the head: what it cost, why, and what helps, where no other `advice` is given."""
    count, is_after = divergence.recomputed_tokens, divergence.cause not in _WITHOUT_TEXT
    cost = tr("The {tokens} after it", tokens=words.tokens(count)) if is_after else words.tokens(count)
    if is_after and count == 1:
        cost = tr("The token after it")
    why = _WHY[divergence.cause]
    again = tr("{cost} had to be read again", cost=cost)
    is_in_prompt = divergence.cause == "date" and divergence.message_index == 0
    if advice is None:
        advice = _CURE_IN_PROMPT if is_in_prompt else _CURES.get(divergence.cause, "")
    return f"{again}: {why}. {advice}".strip() if why else f"{again}."
