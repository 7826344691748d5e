"""A machine that chats, proves, switches models and deletes: what is on disk is never text of a deleted conversation.

Each chat has a letter of its own that only its questions hold, and that the model cannot write. The files are read as
they are, without the engine.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from torch import Tensor

from engine.cache.disk_files import HEADER_BYTES
from engine.cache.disk_tier import DiskTier
from engine.cache.store import Lane
from engine.models.loaded import LoadedModel
from engine.turn.responder import Responder
from engine.types import BLOCK_TOKENS, Message, PromptTooLongError
from tests.engine.inside import check_runs
from tests.engine.tiny_models import make_model
from tests.engine.turns import Chat, SpyModel, events, make_responder

CONTEXT = 512
SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price."
LETTERS = "DFGHJKQUVXZ"
IDS = struct.Struct(f"<{BLOCK_TOKENS}q")

sizes = st.integers(1, 3)


@cache
def model() -> LoadedModel:
    """One tiny model for all runs; it has no state of its own."""
    return make_model()


@cache
def letters_ids() -> list[int]:
    """The tokens that hold a letter of a chat."""
    return [token for token in range(model().vocabulary) if set(model().decode([token])) & set(LETTERS)]


class QuietModel(SpyModel):
    """Never writes the letters of the chats."""

    def forward(self, ids: Sequence[int], lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        """As in LoadedModel, without those tokens."""
        logits = super().forward(ids, lane, start, is_answer=is_answer).clone()
        logits[..., letters_ids()] = -1e9
        return logits


class DeletionMachine(RuleBasedStateMachine):
    """Chats that go on and branch, proofs, previews, switches, restarts, and deletions at any moment."""

    chats = Bundle("chats")

    @initialize(near=st.sampled_from(["", "made up"]), blocks=st.sampled_from([12, 10_000]))
    def start(self, near: str, blocks: int) -> None:
        """Answers that are reused as they were written or not, and a disk that holds little or much."""
        self.folder = tempfile.TemporaryDirectory()
        self.near, self.blocks = near, blocks
        self.count = 0
        self.letters: dict[str, set[str]] = {}
        self.responder = self._open("one")

    @rule(target=chats, size=sizes)
    def new_chat(self, size: int) -> Chat:
        """A first question."""
        chat = Chat(self.responder, SYSTEM, f"chat {self.count}")
        self.letters[chat.name] = set()
        self._ask(chat, size)
        return chat

    @rule(chat=chats, size=sizes)
    def go_on(self, chat: Chat, size: int) -> None:
        """The next question."""
        self._ask(chat, size)

    @rule(target=chats, chat=chats, size=sizes)
    def branch(self, chat: Chat, size: int) -> Chat:
        """Another chat that begins as this one does: what both have stays while one lives."""
        other = Chat(self.responder, "", f"chat {self.count}", messages=list(chat.messages))
        self.letters[other.name] = set(self.letters[chat.name])
        self._ask(other, size)
        return other

    @rule(chat=chats, use_cache=st.booleans())
    def prove(self, chat: Chat, use_cache: bool) -> None:
        """The newest turn once more, in nobody's name."""
        messages = tuple(chat.messages[:-1])
        request = chat.request(messages=messages, conversation="", use_cache=use_cache, pin_system=False)
        list(events(self.responder, request))

    @rule(chat=chats)
    def preview(self, chat: Chat) -> None:
        """What the next turn would reuse."""
        self.responder.preview(1, chat.request())

    @rule(steps=st.integers(0, 60))
    def idle(self, steps: int) -> None:
        """Nobody waits: some of it is settled and written, then somebody comes."""
        work = self.responder.work_idly()
        for _ in zip(range(steps), work, strict=False):
            pass
        work.close()  # type: ignore[attr-defined]

    @rule(chat=consumes(chats))
    def delete(self, chat: Chat) -> None:
        """The chat is deleted. What a living one uses too stays."""
        del self.letters[chat.name]
        living = self._owned_by_others(chat.name)
        self.responder.forget(chat.name)
        assert living <= self._files()

    @rule(chat=consumes(chats), events_before=st.integers(1, 8), size=sizes)
    def delete_while_it_is_answered(self, chat: Chat, events_before: int, size: int) -> None:
        """The chat is deleted in the middle of its answer, which ends later. (Where it had not begun, the window
        forgets the chat again at its end.)"""
        messages = (*chat.messages, self._question(chat, size))
        request = chat.request(messages=messages, sampling=replace(chat.sampling, max_tokens=4))
        del self.letters[chat.name]
        running = events(self.responder, request)
        try:
            for _ in zip(range(events_before), running, strict=False):
                pass
            self.responder.forget(chat.name)
            list(running)
        except PromptTooLongError:
            self.responder.forget(chat.name)

    @rule(chat=consumes(chats))
    def delete_without_the_engine(self, chat: Chat) -> None:
        """The program ended before it came to that; the next start compares."""
        del self.letters[chat.name]
        self.responder = self._open(self.responder.cache.namespace)
        self.responder.cache.disk.keep_only(list(self.letters))

    @rule(chat=consumes(chats))
    def delete_by_comparing(self, chat: Chat) -> None:
        """The comparison comes while paths still wait to be written: those of the deleted chat are not written any
        more. (What the responder would still compute for it goes afterwards.)"""
        del self.letters[chat.name]
        self.responder.cache.disk.keep_only(list(self.letters))
        list(self.responder.write_back())
        self.holds()
        self.responder.forget(chat.name)

    @rule(namespace=st.sampled_from(["one", "other"]))
    def switch(self, namespace: str) -> None:
        """Another model, or the same one after a restart."""
        self.responder = self._open(namespace)

    @rule()
    def clear(self) -> None:
        """The user clears the cache."""
        self.responder.clear()

    @invariant()
    def holds(self) -> None:
        """Every block on disk decodes to text of living chats only."""
        if hasattr(self, "responder"):
            self.responder.cache.check_integrity()
            check_runs(self.responder.cache)
            assert self.responder.cache.disk.is_on
            alive = set().union(*self.letters.values())
            for path in self._files():
                ids = IDS.unpack_from(path.read_bytes(), HEADER_BYTES - IDS.size)
                assert set(model().decode(ids)) & set(LETTERS) <= alive

    def teardown(self) -> None:
        """When all chats are deleted nothing is left."""
        if hasattr(self, "responder"):
            for name in list(self.letters):
                self.responder.forget(name)
            self.idle(10_000)
            assert self._files() == set()
            self.responder.cache.disk.close()
            self.folder.cleanup()

    def _files(self) -> set[Path]:
        return set(Path(self.folder.name).rglob("*.kv"))

    def _owned_by_others(self, name: str) -> set[Path]:
        """The files that another conversation than this one uses."""
        disk: DiskTier = self.responder.cache.disk
        own = {owner for owner, conversation in disk.names.items() if conversation == name}
        return {disk.files.path(entry) for entry in disk.entries().values() if entry.owners - own}

    def _open(self, namespace: str) -> Responder:
        names = {}
        if hasattr(self, "responder"):
            names = self.responder.cache.disk.names
            self.responder.cache.disk.close()
        quiet = QuietModel(model())
        responder = make_responder(
            quiet, near=self.near, context=CONTEXT, folder=Path(self.folder.name), namespace=namespace
        )
        responder.cache.disk.names = names
        responder.cache.disk.set_budget(self.blocks * (HEADER_BYTES + quiet.layout.bytes_per_block))
        return responder

    def _question(self, chat: Chat, size: int) -> Message:
        letter = LETTERS[self.count % len(LETTERS)]
        self.count += 1
        if chat.name in self.letters:
            self.letters[chat.name].add(letter)
        return Message("user", f"{letter}{letter} " * (8 * size))

    def _ask(self, chat: Chat, size: int) -> None:
        chat.responder = self.responder
        chat.messages.append(self._question(chat, size))
        try:
            chat.answer(sampling=replace(chat.sampling, max_tokens=4))
        except PromptTooLongError:
            chat.messages.pop()
