"""Token ids -> text that can be shown: whole characters only; and stop strings held back and cut off.

`tokenizers.decoders.DecodeStream` is not used. In version 0.23 it shows U+FFFD for half a character in the middle of a
text, loses a U+FFFD that the model wrote last, and takes 9 seconds for 2,000 of them, because it decodes them all again
with every token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.prompt.parts import begun
from engine.prompt.token_text import HALF, as_control, readable

MOST_TOKENS = 12
"""Tokens that are decoded at a time: twice the four bytes of the longest character, and some that show nothing."""

MOST_BYTES = 4
"""Bytes of a character, and so tokens that one can be spread over."""


class Detokenizer:
    """Turns ids into text as they come: whole characters only. The special tokens of `names` are shown by their names,
    as `as_control` writes them; all others show nothing.

    `decode` maps ids to marked text (`TokenText.marked`). It is asked about the newest tokens and a few before them,
    because tokenizers decode a token differently at the start of a text than inside it. However many tokens make no
    character, it is asked twice a token, about at most MOST_TOKENS of them.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], names: Mapping[int, str] | None = None) -> None:
        self._decode = decode
        self._names = names or {}
        self._window: list[int] = []
        self._tokens_done = 0  # at the start of the window: their text was handed out
        self._characters_done = 0  # of the window's text

    def add(self, token: int) -> str:
        """The text that can be shown after one more token; often "" in the middle of a character."""
        name = self._names.get(token)
        self._window.append(token)
        now = self._decode(self._window)
        is_half = name is None and (now.endswith(HALF) or len(now) <= self._characters_done)
        if is_half and len(self._window) < MOST_TOKENS:
            return ""
        new = readable(now[self._characters_done :])
        self._move_window(-MOST_BYTES if is_half else self._tokens_done, is_half)
        return new if name is None else new + as_control(name)

    def finish(self) -> str:
        """What was held back, at the end of the answer, without half characters."""
        new = self._decode(self._window)[self._characters_done :]
        self._characters_done += len(new)
        return readable(new)

    def _move_window(self, start: int, is_half: bool) -> None:
        """Leave out the tokens before `start`. Of the rest everything was handed out but half a character at the end,
        which may become a whole one yet."""
        self._window = self._window[start:]
        self._tokens_done = 0 if is_half else len(self._window)
        self._characters_done = len(self._decode(self._window).rstrip(HALF))


class StopStrings:
    """Ends a growing text where one of the strings of `stop` begins. `text` is all that was handed out; `is_met` says
    that one was there. What may become one is held back. A string counts for nothing where it ends within the first
    `kept` characters, which were there before."""

    def __init__(self, stop: Sequence[str] = (), kept: int = 0) -> None:
        self._stop = tuple(s for s in stop if s)
        self._kept = kept
        self._held = ""
        self.text = ""
        self.is_met = False

    def add(self, text: str, *, is_last: bool = False) -> str:
        """What can be shown after some more text, `is_last` with its end."""
        if self.is_met:
            return ""
        text = self._held + text
        kept = self._kept - len(self.text)
        found = (text.find(stop, max(0, kept - len(stop) + 1)) for stop in self._stop)
        ends = [at for at in found if at >= 0]
        if ends:
            self.is_met = True
            text, self._held = text[: min(ends)], ""
        elif is_last:
            self._held = ""
        else:
            keep = max((begun(text, stop) for stop in self._stop), default=0)
            text, self._held = text[: len(text) - keep], text[len(text) - keep :]
        self.text += text
        return text
