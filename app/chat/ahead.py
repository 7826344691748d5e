"""What may be sent soon is read before it is: when the engine is asked for it, and how far a text is certain."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence

import psutil
from PySide6.QtCore import QObject, QTimer

from app.chat.bridge import Bridge
from app.placeholders import EVERY_TURN, Values
from app.settings import Settings
from engine import Failed, Prefill, Preview, Request

REST_MS, WRITING_REST_MS = 150, 1000
"""How long typing rests before a question is read, and a system prompt, which is changed in the middle more often."""
HELD_WORDS, HELD_CHARACTERS = 2, 24
"""At the end of a text, so much is held back: these words may be corrected, and are yet to be finished. Some languages
write no blanks."""
ENOUGH_CHARACTERS = 32
"""Where so much more is certain, nobody waits for a rest: it was pasted, or is typed without one."""
OTHER_END = "\n0"
"""What may stand behind the certain part of a text in place of what stands there: what has nothing in common with it
in any tokenizer, so that tokens across the border are not read."""
OTHER_BEGINNINGS = ("0", "a")
"""Two questions that have nothing in common, where none is written yet."""
OTHER_VALUE = "\n0"
"""What a placeholder may stand for by the time the question is sent."""


def certain_part(text: str) -> str:
    """The start of a text that more typing will hardly change: all but its last words."""
    starts = [word.start() for word in re.finditer(r"\S+", text)]
    held = starts[-HELD_WORDS] if len(starts) > HELD_WORDS else 0
    if held < len(text) - HELD_CHARACTERS:
        held = max(held, len(text.rstrip()) - HELD_CHARACTERS)
    return text[:held].rstrip()


def alternatives(text: str) -> tuple[str, ...]:
    """What may be sent in place of this text: they all begin with its certain part, and go on otherwise."""
    certain = certain_part(text)
    return (certain + OTHER_END,) if certain else OTHER_BEGINNINGS


def later(values: Values) -> Values:
    """What placeholders may stand for by the time a question is sent."""
    return {name: OTHER_VALUE if name in EVERY_TURN else value for name, value in values.items()}


def is_wanted(settings: Settings) -> bool:
    """Whether the settings have anything read ahead now. Without a battery the plug is always in."""
    battery = getattr(psutil, "sensors_battery", lambda: None)()
    is_plugged = battery is None or battery.power_plugged is not False
    return settings.use_cache and (settings.read_ahead == "always" or (settings.read_ahead == "plugged" and is_plugged))


class Reader(QObject):
    """Has one text read ahead while it is written, and the prompt around it.

    `requests` builds what would be sent, and what else might be in place of it; nothing where there is nothing to read.
    `reading` hears of each piece that was read, `ready` what would be reused at the end. What cannot be read needs no
    word: sending the same says why. Attributes: `rest` runs from a change until `ask` is called.
    """

    def __init__(
        self,
        bridge: Bridge,
        requests: Callable[[], Sequence[Request]],
        reading: Callable[[Prefill], object] = lambda _: None,
        ready: Callable[[Preview], object] = lambda _: None,
        parent: QObject | None = None,
        rest_ms: int = REST_MS,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._requests = requests
        self._reading, self._ready = reading, ready
        self._request_id = 0  # of what is being read, 0 for nothing
        self._has_more = False  # more was written meanwhile that goes on from that
        self._place: Hashable = None
        self._text = self._read = ""  # the newest text, and the certain part of the one that was asked for last
        self.rest = QTimer(self)
        self.rest.setSingleShot(True)
        self.rest.setInterval(rest_ms)
        self.rest.timeout.connect(self.ask)
        bridge.prefill.connect(self._on_prefill)
        bridge.preview.connect(self._on_preview)
        bridge.failed.connect(self._on_failed)

    def text_changed(self, text: str, place: Hashable = None) -> None:
        """This is the text now; `place` says where it would be sent. What is being read goes on unless this takes back
        some of it."""
        certain, is_pasted = certain_part(text), len(text) >= len(self._text) + ENOUGH_CHARACTERS
        if place != self._place or not text.startswith(self._read):
            self._give_up()
            self._read = certain  # in the middle of a text nobody knows what will stay: it is read after a rest
        self._text, self._place = text, place
        if is_pasted or len(certain) >= len(self._read) + ENOUGH_CHARACTERS:
            self.ask()
        else:
            self.rest.start()

    def schedule(self) -> None:
        """Something else changed that the prompt depends on."""
        self._give_up()
        self.rest.start()

    def drop(self) -> None:
        """There is nothing to read now."""
        self._give_up()
        self.rest.stop()
        self._text = self._read = ""

    def ask(self) -> None:
        """Have it read now, behind what is being read of it. The timer calls this.

        What is being read is never begun anew for more text: whoever types faster than this computer reads would have
        nothing read.
        """
        self.rest.stop()
        if self._request_id:
            self._has_more = True
            return
        self._read = certain_part(self._text)
        if requests := self._requests():
            self._request_id = self._bridge.read_ahead(*requests)

    def _give_up(self) -> None:
        if self._request_id:
            self._bridge.cancel(self._request_id)
        self._request_id, self._has_more = 0, False

    def _on_prefill(self, event: Prefill) -> None:
        if event.request_id == self._request_id:
            self._reading(event)

    def _on_preview(self, event: Preview) -> None:
        if event.request_id == self._request_id:
            has_more, self._request_id, self._has_more = self._has_more, 0, False
            if has_more:
                self.ask()
            else:
                self._ready(event)

    def _on_failed(self, event: Failed) -> None:
        if event.request_id == self._request_id:
            self._request_id, self._has_more = 0, False
