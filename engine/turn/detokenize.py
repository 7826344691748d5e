"""Token ids -> text that can be shown: whole characters only, stop strings held back and cut off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

BROKEN = "\N{REPLACEMENT CHARACTER}"


class Detokenizer:
    """Turns ids into text as they come. `text` is all that was handed out; `stopped` says that a stop string was met.

    `decode` maps ids to text. Text is decoded from a few tokens back, because tokenizers decode a token differently at
    the start of a text than inside it.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], stop: Sequence[str] = ()) -> None:
        self._decode = decode
        self._stop = tuple(s for s in stop if s)
        self._ids: list[int] = []
        self._from = 0
        self._done = 0
        self._held = ""
        self.text = ""
        self.stopped = False

    def add(self, token: int) -> str:
        """The text that can be shown after one more token; often "" in the middle of a character."""
        self._ids.append(token)
        before = self._decode(self._ids[self._from : self._done])
        now = self._decode(self._ids[self._from :])
        if len(now) <= len(before) or now.endswith(BROKEN):
            return ""
        self._from, self._done = self._done, len(self._ids)
        return self._release(now[len(before) :], is_last=False)

    def finish(self) -> str:
        """What was held back, at the end of the answer, without half characters."""
        before = self._decode(self._ids[self._from : self._done])
        now = self._decode(self._ids[self._from :])
        return self._release(now[len(before) :], is_last=True)

    def _release(self, text: str, *, is_last: bool) -> str:
        """Hand out `text`, but neither a stop string nor what may become one, and no bytes that are no text."""
        if self.stopped:
            return ""
        text = self._held + text.replace(BROKEN, "")
        ends = [at for at in (text.find(stop) for stop in self._stop) if at >= 0]
        if ends:
            self.stopped = True
            text, self._held = text[: min(ends)], ""
        elif is_last:
            self._held = ""
        else:
            keep = max((_overlap(text, stop) for stop in self._stop), default=0)
            text, self._held = text[: len(text) - keep], text[len(text) - keep :]
        self.text += text
        return text


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that begins `stop`."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
