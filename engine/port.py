"""What the window needs of an engine. `engine.Engine` is the local one; tests script another with the same methods."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from engine.events import CacheView, Event
from engine.types import ModelSpec, Request


class EnginePort(Protocol):
    """Commands return at once; what comes of them arrives through `poll`. Callable from any thread.

    A command that returns no id is answered by one CacheView or Failed with id 0, in the order of the commands.
    CacheView and Failed also come with the id `BY_ITSELF`: from idle work, or where the engine itself fails.
    """

    def load(self, spec: ModelSpec) -> int:
        """Load a model in place of the present one, which stays, with its cache emptied, until the new one is there.
        Where both do not fit in memory it is closed first, and a stage of Loading says so.

        Reports Loading..., then Loaded or Failed, with the id returned.
        """

    def submit(self, request: Request) -> int:
        """Answer a request. Reports Matched, Prefill, TextDelta, TurnStats, CacheView, then Finished or Failed."""

    def preview(self, request: Request) -> int:
        """Say what `submit` would reuse and compute, also while another request runs. Reports Preview or Failed.

        While a request runs one is answered for each of its steps, the newest first: many do not hold it up. Nothing
        waits for the preview of a long text: that is encoded beside everything else.
        """

    def read_ahead(self, request: Request, others: Sequence[Request] = (), *, keeps: bool = False) -> int:
        """While nothing is asked, read what a request and all `others` begin with: it, or one like it, may be submitted
        soon. The others say how far the prompt is certain. What was asked for last is read first.

        A request, of whichever program, a preview or a cancel interrupts it within one layer of the model; after all
        but the last it goes on. What it reads is the first to be evicted, evicts nothing else, and is written to disk
        only once a request came for it. Reports Prefill..., then Preview of `request` or Failed.

        `keeps`: what was read of the system prompt and the tools of `request` stays resident, and is written to disk,
        in the name of its conversation, until that is forgotten. What is on disk already is brought from there.
        """

    def cancel(self, request_id: int) -> None:
        """Stop a request, within one layer of the model where one is computing; what it computed in whole chunks and
        tokens stays cached. Stop a load at its next step, or while it downloads. A preview that
        was not made yet, and reading ahead, ends with Failed. Unknown ids are ignored."""

    def set_cache_budget(self, budget_bytes: int) -> None:
        """Change the byte budget of the cache; what no longer fits is evicted at once. It is never less than one whole
        conversation takes, `context_length * kv_bytes_per_token` of ModelInfo. Reports CacheView (id 0)."""

    def set_disk_budget(self, budget_bytes: int | None) -> None:
        """Change what may be kept on disk, for all models; None as in ModelSpec, 0 deletes what is there. Reports
        CacheView (id 0)."""

    def clear_cache(self) -> None:
        """Drop every cached block that no running request needs, on disk those of this model. Reports CacheView
        (id 0)."""

    def forget(self, conversation: str) -> None:
        """Keep nothing for this conversation any more, forget its last turn, and delete from disk what only it used: it
        was deleted. Reports CacheView (id 0)."""

    def keep_only(self, conversations: Collection[str]) -> None:
        """These are the conversations that exist: delete from disk what none of them used. For the start, as a deletion
        may not have come to its end before the last one. Reports CacheView (id 0)."""

    def keep_prefix(self, block: int) -> None:
        """Keep the cached run that `NodeView.block` names, and all before it, resident. Reports CacheView (id 0), or
        Failed where the run is on disk only."""

    def release_prefix(self, block: int) -> None:
        """Keep this run and all behind it no longer than any other block. Reports CacheView (id 0)."""

    def drop_prefix(self, block: int) -> None:
        """Drop this run and all behind it, on disk too, but nothing a running request needs. Reports CacheView."""

    def cache_view(self) -> CacheView:
        """The newest picture of the cache, with its nodes; never waits."""

    def beside(self, wake: Callable[[], None] = lambda: None) -> EnginePort:
        """The same engine for somebody else: with the same model and cache, and with events of its own. `wake` is
        called from any thread whenever there is one. Closing it stops what was asked through it, no more."""

    def poll(self, limit: int = 256) -> list[Event]:
        """Take up to `limit` events, oldest first. Never waits; empty when there is nothing new. Two threads that poll
        share the events: each one comes to one of them."""

    def wait(self, timeout_s: float) -> bool:
        """Wait until there may be something to `poll`, for so long at most; False where nothing came. Whoever waits
        takes no time of a processor. Only the side is listened to that answers now, the model here or the server that
        was opened: what another server says, which a request named, waits for the next look. One thread at a time may
        wait."""

    def close(self, timeout_s: float = 6.0) -> bool:
        """End the worker thread. What is open ends with Failed; commands given before are carried out; what waits to be
        written to disk is written, for up to 3 s. True when it ended within `timeout_s`. Safe to call twice."""
