"""Saved system prompts that are resident: read while nothing is asked, and kept for what begins with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from app.chat.bridge import Bridge
from app.placeholders import Cure
from engine import Preview, Request


class ResidentPrompt(NamedTuple):
    """A saved system prompt: its number, its text, and what is cured in it."""

    id: int
    system_prompt: str
    cures: tuple[Cure, ...] = ()

    @property
    def label(self) -> str:
        """In whose name the engine keeps it; no conversation is called so."""
        return f"preset {self.id}"


class Residents(QObject):
    """Has saved system prompts read before a conversation begins with them.

    `requests` gives what a conversation with such a prompt may ask first, nothing where no model here can read it.
    `may_read` says whether anything is to be read that nobody asked for. Attributes: `wanted` says which prompts are to
    be resident whenever a model is open, the most wanted first; whoever stores that sets it.

    Signals: read(int): the prompt of this number was read, or brought from disk.
    """

    read = Signal(object)

    def __init__(
        self,
        bridge: Bridge,
        requests: Callable[[ResidentPrompt], Sequence[Request]],
        may_read: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.wanted: Callable[[], Sequence[ResidentPrompt]] = lambda: ()
        self._bridge = bridge
        self._requests = requests
        self._may_read = may_read
        self._asked: dict[int, int] = {}
        """The prompts that are being read, by the ids of the requests for that."""
        bridge.preview.connect(self._on_preview)
        bridge.failed.connect(lambda event: self._asked.pop(event.request_id, None))

    @property
    def labels(self) -> list[str]:
        """The names in which the engine keeps what is wanted."""
        return [prompt.label for prompt in self.wanted()]

    def read_all(self) -> None:
        """A model was opened: have all that is wanted read, or brought from disk, as soon as nobody asks anything."""
        self.drop()
        for prompt in reversed(self.wanted() if self._may_read() else ()):  # the engine reads first what came last
            self.keep(prompt)

    def keep(self, prompt: ResidentPrompt) -> bool:
        """From now on this prompt is resident. Another text of the same one takes its place. False where no model here
        can read it."""
        return self._read(prompt, keeps=True)

    def prewarm(self, prompt: ResidentPrompt) -> bool:
        """Have this prompt read once, without keeping it longer than anything else that was read ahead. False where no
        model here can read it."""
        return self._read(prompt, keeps=False)

    def let_go(self, prompt: ResidentPrompt) -> None:
        """This prompt need not be resident any more; what only it used is deleted from disk."""
        self._bridge.tell("forget", prompt.label)

    def drop(self) -> None:
        """Nothing is to be read any more of what was asked for here; what is read stays."""
        for request_id in self._asked:
            self._bridge.cancel(request_id)
        self._asked.clear()

    def _read(self, prompt: ResidentPrompt, *, keeps: bool) -> bool:
        requests = [replace(each, conversation=prompt.label) for each in self._requests(prompt)]
        if requests:
            self._asked[self._bridge.read_ahead(*requests, keeps=keeps)] = prompt.id
        return bool(requests)

    def _on_preview(self, event: Preview) -> None:
        if prompt_id := self._asked.pop(event.request_id, 0):
            self.read.emit(prompt_id)
