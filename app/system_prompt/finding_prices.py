"""What the changing places of a system prompt cost: how many tokens stand behind each, as the engine counts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.bridge import Bridge
from app.chat.previewer import REST_MS
from engine import Failed, Message, Preview, Request, TokenSpan

MOST_PLACES = 12


@dataclass(frozen=True, slots=True)
class PriceQuestion:
    """What to ask about: the conversation's next request, whose last message is the empty new question, and the text of
    the system prompt up to each place."""

    whole: Request
    before: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prices:
    """Tokens of the system prompt. For each place: how many tokens of the conversation stand behind it, which are read
    again when it changes, and how many seconds that takes."""

    system_tokens: int
    behind: tuple[int, ...]
    seconds: tuple[float, ...]


class Pricer(QObject):
    """Asks the engine once typing rests. Signals: `priced(Prices)` for the newest question only.

    The seconds are a difference of two cold estimates: the whole prompt's, and that of what stands before the place.
    """

    priced = Signal(object)

    def __init__(
        self, bridge: Bridge, build: Callable[[], PriceQuestion | None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._build = build
        self._awaited: list[int] = []
        self._came: dict[int, Preview] = {}
        self._last_message = 0
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.ask)
        bridge.preview.connect(self._on_preview)
        bridge.failed.connect(self._on_failed)

    def schedule(self) -> None:
        """Something changed: what was asked before is stale."""
        self._awaited = []
        self._rest.start()

    def drop(self) -> None:
        """There is nothing to price now."""
        self._awaited = []
        self._rest.stop()

    def ask(self) -> None:
        """Ask now. The timer calls this."""
        self._rest.stop()
        question = self._build()
        if question is None:
            return
        self._came = {}
        self._last_message = len(question.whole.messages) - 1
        requests = [question.whole, *(_prefix(question.whole, text) for text in question.before[:MOST_PLACES])]
        self._awaited = [self._bridge.request_preview(request) for request in requests]

    def _on_preview(self, preview: Preview) -> None:
        if preview.request_id not in self._awaited:
            return
        self._came[preview.request_id] = preview
        if len(self._came) == len(self._awaited):
            whole, *parts = (self._came[number] for number in self._awaited)
            self._awaited = []
            self.priced.emit(self._prices(whole, parts))

    def _on_failed(self, event: Failed) -> None:
        if event.request_id in self._awaited:  # sending the same says why; until then there is no price
            self._awaited = []

    def _prices(self, whole: Preview, parts: list[Preview]) -> Prices:
        said = [span for span in whole.spans if span.message_index < self._last_message]
        return Prices(
            system_tokens=whole.system_tokens,
            behind=tuple(_tokens_behind(said, part.system_tokens) for part in parts),
            seconds=tuple(max(0.0, whole.seconds - part.seconds) for part in parts),
        )


def _tokens_behind(said: Sequence[TokenSpan], position: int) -> int:
    """Tokens of messages from a position on; the template's own between them are not counted, as in a Divergence."""
    return sum(max(0, span.end - max(span.start, position)) for span in said)


def _prefix(whole: Request, text: str) -> Request:
    """The request that ends where a place in the system prompt begins."""
    return Request((Message("system", text), Message("user", "")), use_cache=False, day=whole.day)
