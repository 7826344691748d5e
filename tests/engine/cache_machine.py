"""PrefixCache against NullCache under random sequences of everything that can happen, with a model of digests.

Restarts too: a new cache over the same folder on disk.

Kinds of ENGINE_BUGS that this machine looks for after every step: B (a wrong block), C (a pin or a block lost or freed
twice), D (an orphan, a budget exceeded), E30 (stale slots: fresh lanes are NaN).
"""

from __future__ import annotations

import itertools
import random
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.cache.contract import Run
from engine.cache.disk_files import HEADER_BYTES
from engine.cache.disk_index import owner_digest
from engine.cache.disk_tier import DiskTier
from engine.cache.memory_tier import MemoryTier
from engine.cache.null_cache import NullCache
from engine.cache.prefix_cache import PrefixCache
from engine.types import BLOCK_TOKENS, InvalidRequestError
from tests.engine import fake_kv
from tests.engine.fake_kv import LAYOUT, DigestModel, FlakyStore, LateCopies, check_contents, make_cache, run_prompt
from tests.engine.inside import check_runs, forget_lanes, is_idle, is_in_tree, lane_buffers

CONTEXT = 160
CHUNK = 24
LANE_STEP = 48


def text(seed: int, length: int) -> list[int]:
    """Tokens of a message. Few seeds, so that messages often begin alike, and a small alphabet."""
    return random.Random(seed).choices(range(3), k=length)


few = st.builds(text, st.integers(0, 3), st.integers(1, 40))
many = st.builds(text, st.integers(0, 3), st.integers(40, CONTEXT))
answers = st.builds(text, st.integers(4, 6), st.integers(0, 20))
index = st.integers(0, 1)
damages = st.sampled_from(["", "", "cut", "flip", "delete", "swap"])


@dataclass
class Turn:
    """A request that is under way: what it computes, in which namespace, and what it saw so far."""

    run: Run
    prompt: list[int]
    answer: list[int]
    chat: int
    logits: list[int] = field(default_factory=list)

    @property
    def path(self) -> list[int]:
        """Prompt and answer."""
        return self.prompt + self.answer

    @property
    def is_done(self) -> bool:
        """Whether all of it is computed."""
        return len(self.run.lane.ids) == len(self.path)


class CacheMachine(RuleBasedStateMachine):
    """Chats that grow, branch and are edited, up to two requests at once, memory that shrinks and fails."""

    chats = Bundle("chats")

    @initialize(
        budget=st.integers(160, 1400),
        lanes=st.integers(1, 2),
        is_near=st.booleans(),
        switch=st.sampled_from([None, None, 90]),
        disk_blocks=st.sampled_from([0, 3, 1000]),
        memory_blocks=st.sampled_from([0, 0, 3, 1000]),
        failing=st.sampled_from([0, 0, 4]),
    )
    def start(
        self, budget: int, lanes: int, is_near: bool, switch: int | None, disk_blocks: int, memory_blocks: int,
        failing: int,
    ) -> None:  # fmt: skip
        """An ample or a tight budget, one lane or two, answers that are reused as they were written or not, one regime
        or two, a disk that holds much, little, or nothing; and behind the budget as behind a GPU's memory another one,
        likewise, whose copies are late or fail."""
        self.memory_blocks, self.failing = memory_blocks, failing
        self.is_near = is_near
        self.models = {name: DigestModel(name) for name in "ab"}
        self.folder = tempfile.TemporaryDirectory()
        self.times = itertools.count(1)
        self.disk_bytes = disk_blocks * (HEADER_BYTES + LAYOUT.bytes_per_block)
        self.sizes = {"context": CONTEXT, "max_lanes": lanes, "switch": switch, "lane_step": LANE_STEP}
        self.cache = self._new_cache(budget, "a")
        self.histories: list[list[int]] = []
        self.turns: list[Turn] = []
        self.finished: dict[str, list[list[int]]] = {}
        self.has_lost = self.is_damaged = False
        self.has_dropped = False
        """Whether something went that a tier behind with room for all of it would not have kept."""

    @property
    def model(self) -> DigestModel:
        """The model of the namespace in use."""
        return self.models[self.cache.namespace]

    @property
    def store(self) -> FlakyStore:
        """The cache's store."""
        assert isinstance(self.cache.store, FlakyStore)
        return self.cache.store

    @rule(target=chats, prompt=few | many, answer=answers)
    def new_chat(self, prompt: list[int], answer: list[int]) -> int:
        """A first message."""
        self.histories.append([])
        self._ask(len(self.histories) - 1, prompt, answer)
        return len(self.histories) - 1

    @rule(chat=chats, question=few, answer=answers)
    def extend(self, chat: int, question: list[int], answer: list[int]) -> None:
        """The next turn."""
        self._ask(chat, self.histories[chat] + question, answer)

    @rule(chat=chats, cut=st.floats(0, 1), question=few, answer=answers)
    def edit(self, chat: int, cut: float, question: list[int], answer: list[int]) -> None:
        """An earlier message is changed: the rest of the chat goes."""
        history = self.histories[chat]
        self._ask(chat, history[: int(cut * len(history))] + question, answer)

    @rule(target=chats, chat=chats, cut=st.floats(0, 1), question=few, answer=answers)
    def branch(self, chat: int, cut: float, question: list[int], answer: list[int]) -> int:
        """A second chat that begins as the first does."""
        history = self.histories[chat]
        self.histories.append(history[: int(cut * len(history))])
        self._ask(len(self.histories) - 1, self.histories[-1] + question, answer)
        return len(self.histories) - 1

    @rule(chat=chats, answer=answers)
    def regenerate(self, chat: int, answer: list[int]) -> None:
        """The whole history is the prompt again: all of it hits but the last token."""
        if self.histories[chat]:
            self._ask(chat, self.histories[chat], answer)

    @rule(chat=chats, question=few | many, answer=answers)
    def begin(self, chat: int, question: list[int], answer: list[int]) -> None:
        """Start a request and leave it under way."""
        turn = self._begin(chat, self.histories[chat] + question, answer)
        if turn:
            self.turns.append(turn)

    @precondition(lambda self: self.turns)
    @rule(index=index)
    def go_on(self, index: int) -> None:
        """One piece of a request that is under way."""
        turn = self.turns[index % len(self.turns)]
        if not turn.is_done:
            self._step(turn)

    @precondition(lambda self: self.turns)
    @rule(index=index)
    def cancel(self, index: int) -> None:
        """Give up a request, however far it is."""
        turn = self.turns[index % len(self.turns)]
        self.turns.remove(turn)
        self._finish(turn)

    @precondition(lambda self: self.turns)
    @rule(index=index)
    def complete(self, index: int) -> None:
        """Compute the rest of a request that is under way."""
        turn = self.turns[index % len(self.turns)]
        self.turns.remove(turn)
        self._complete(turn)

    @precondition(lambda self: self.turns)
    @rule(index=index)
    def fail_in_forward(self, index: int) -> None:
        """The forward pass wrote half a piece and raised: nothing was committed."""
        turn = self.turns[index % len(self.turns)]
        lane = turn.run.lane
        for buffer in lane_buffers(lane):
            buffer[:, :, len(lane.ids) : len(lane.ids) + 5] = -1.0
        self.turns.remove(turn)
        self._finish(turn)

    @rule(budget=st.integers(0, 1400))
    def set_budget(self, budget: int) -> None:
        """The budget is lowered or raised, at any time."""
        before = self.store.budget_bytes
        self.cache.set_budget(budget * self.store.layout.bytes_per_token)
        self.has_lost |= self.store.budget_bytes < before

    @rule(count=st.integers(0, 300))
    def evict(self, count: int) -> None:
        """Somebody needs room."""
        self.has_lost = True
        wanted = count * self.store.layout.bytes_per_token
        assert self.cache.make_room(wanted) == (self.store.free_bytes >= wanted)

    @rule()
    def clear(self) -> None:
        """Everything that nobody needs goes, kept or not."""
        self.has_lost = self.has_dropped = True
        self.cache.clear()
        assert not any(node.kept_by for node in self.cache.tree.nodes())
        assert all(node.pins for node in self.cache.tree.nodes())

    @rule(is_kept_too=st.booleans())
    def free_device(self, is_kept_too: bool) -> None:
        """The step of a request found no memory."""
        self.has_lost = True
        self.cache.free_device(is_kept_too=is_kept_too)
        assert not self.cache.tree.evictable()

    @rule(chat=chats, cut=st.floats(0, 1))
    def keep(self, chat: int, cut: float) -> None:
        """Pin the start of a chat."""
        history = self.histories[chat]
        ids = history[: int(cut * len(history))]
        is_kept = self.cache.keep(ids, f"chat {chat}")
        kept = [node for node in self.cache.tree.nodes() if f"chat {chat}" in node.kept_by]
        assert is_kept == bool(kept)

    @rule(chat=chats)
    def release(self, chat: int) -> None:
        """Unpin it."""
        self.cache.release(f"chat {chat}")
        assert not any(f"chat {chat}" in node.kept_by for node in self.cache.tree.nodes())

    @rule(action=st.sampled_from(["keep_block", "release_block", "drop_block"]), number=st.integers(0, 30))
    def act_on_a_run(self, action: str, number: int) -> None:
        """The user keeps, releases or drops a run that the view shows. What is on disk only cannot be kept."""
        nodes = self.cache.view(with_nodes=True).nodes
        node = nodes[number % len(nodes)] if nodes else None
        if node and not is_in_tree(node) and action == "keep_block":
            with pytest.raises(InvalidRequestError, match=r"on disk only|memory only"):
                self.cache.keep_block(node.block)
            return
        getattr(self.cache, action)(node.block if node else 0)
        if node and not is_in_tree(node) and action == "drop_block":
            assert node not in self.cache.view(with_nodes=True).nodes
        self.has_lost |= action == "drop_block"
        self.has_dropped |= action == "drop_block"

    @rule(action=st.sampled_from(["keep_block", "release_block", "drop_block"]), number=st.integers(-40, 200))
    def act_on_nothing(self, action: str, number: int) -> None:
        """A run that is gone, or that no view ever showed: nothing happens, whatever is asked."""
        shown = {node.block for node in self.cache.view(with_nodes=True).nodes}
        if number not in shown and self.cache.tree.find(number) is None:
            before = self.cache.disk.entries().keys(), len(self.cache.tree)
            getattr(self.cache, action)(number)
            assert (self.cache.disk.entries().keys(), len(self.cache.tree)) == before

    @rule(after=st.integers(0, 8), times=st.integers(1, 3))
    def memory_fails(self, after: int, times: int) -> None:
        """One of the next allocations will be refused, and perhaps those right after it."""
        self.store.fail_after, self.store.fail_for = after, times

    @rule(steps=st.integers(0, 20))
    def write_back(self, steps: int) -> None:
        """Nobody waits: some files are written, then somebody comes."""
        writing = self.cache.write_back()
        for _ in zip(range(steps), writing, strict=False):
            self.cache.disk.check()
        writing.close()  # type: ignore[attr-defined]

    @precondition(lambda self: not self.turns)
    @rule(steps=st.integers(0, 20), budget=st.integers(160, 1400))
    def restart(self, steps: int, budget: int) -> None:
        """The program ends, with everything written or not, and starts again."""
        self.write_back(steps)
        self.cache.disk.close()
        self.cache = self._new_cache(budget, self.cache.namespace)
        self.has_lost = True
        self.has_dropped = True

    @precondition(lambda self: not self.turns)
    @rule(chat=chats, question=few, answer=answers, number=st.integers(0, 10**6), kind=damages)
    def come_back(self, chat: int, question: list[int], answer: list[int], number: int, kind: str) -> None:
        """Everything is written, the program ends, a file is damaged or none, and the chat goes on."""
        self.restart(1000, 1400)
        self.damage_a_file(number, kind)
        self._ask(chat, self.histories[chat] + question, answer)

    @rule(chat=chats)
    def forget(self, chat: int) -> None:
        """The chat is deleted: nothing that only it used is on disk any more, nor ever will be."""
        self.cache.forget(f"chat {chat}")
        self.has_dropped = True
        assert owner_digest(f"chat {chat}") not in self.cache.disk.index.owners()

    @rule(number=st.integers(0, 10**6), kind=damages)
    def damage_a_file(self, number: int, kind: str) -> None:
        """A file is cut, changed, taken away, or gets the place of another."""
        files = sorted(Path(self.folder.name).glob("*/*.kv"))
        if files and kind:
            self.is_damaged = True
            damage_file(files[number % len(files)], files[number // 2 % len(files)], kind)

    @rule()
    def clear_disk(self) -> None:
        """The user clears what is on disk."""
        self.cache.disk.clear()
        assert self.cache.disk.used_bytes == 0

    @precondition(lambda self: not self.turns)
    @rule()
    def switch_namespace(self) -> None:
        """Another model with the same ids, in the same tree. Lanes belong to a model and go with it."""
        forget_lanes(self.cache)
        self.has_lost = True
        self.has_dropped = True
        self.cache.namespace = "b" if self.cache.namespace == "a" else "a"

    @invariant()
    def holds(self) -> None:
        """Integrity, budget in real bytes, and the contents of every slot and block."""
        if hasattr(self, "cache"):
            check_contents(self.cache, *self.models.values())
            view = self.cache.view(with_nodes=True)
            assert view.used_bytes == self.store.used_bytes
            assert sum(node.tokens for node in view.nodes if is_in_tree(node)) == view.cached_tokens
            assert view.memory_bytes == self.cache.memory.used_bytes
            check_runs(self.cache)

    def teardown(self) -> None:
        """When all is done nothing is held, and nothing but blocks and idle lanes is left."""
        if hasattr(self, "cache"):
            self.store.fail_after = -1
            for turn in self.turns:
                self._finish(turn)
            check_contents(self.cache, *self.models.values())
            assert is_idle(self.cache)
            self.cache.clear()
            assert self.store.used_bytes == 0
            self.cache.disk.close()
            self.folder.cleanup()

    def _new_cache(self, budget: int, namespace: str) -> PrefixCache:
        """A cache that finds on disk what the one before it left, damage too: it is seen when a file is read."""
        disk = DiskTier(Path(self.folder.name), "model", LAYOUT, self.disk_bytes, lambda: next(self.times))
        copies, room = LateCopies(budget, self.failing), self.memory_blocks * LAYOUT.bytes_per_block
        memory = MemoryTier(copies, room, LAYOUT.bytes_per_block, lambda: next(self.times))
        cache = make_cache(tokens=budget, memory=memory, disk=disk, **self.sizes)  # type: ignore[arg-type]
        cache.namespace = namespace
        disk.open()
        return cache

    def _ask(self, chat: int, prompt: list[int], answer: list[int]) -> None:
        turn = self._begin(chat, prompt, answer)
        if turn:
            self._complete(turn)

    def _begin(self, chat: int, prompt: list[int], answer: list[int]) -> Turn | None:
        """Start a request; None where the cache refuses it, which it may only do for a reason."""
        prompt, answer = prompt[: CONTEXT - 1], answer[: max(0, CONTEXT - len(prompt))]
        before, failing = self.cache.estimate(prompt, len(answer)), self.store.fail_after >= 0
        expected = self._expected_reuse(prompt, self.cache.regime(len(prompt)))
        try:
            run = self.cache.begin(prompt, len(answer), f"chat {chat}")
        except MemoryError:
            assert failing or self.turns, "an idle cache refused a prompt that the model can read"
            self.has_lost = True
            self.has_dropped = True
            return None
        self.has_lost |= failing
        self.has_dropped |= failing
        foreseen = (run.reused, run.disk_tokens, run.memory_tokens)
        self.cache.restore(run)
        has_memory = self.memory_blocks > 0  # what must go for the lane goes there, and pushes others out
        assert run.reused <= min(before.tokens, len(prompt) - 1) or self.turns or has_memory
        assert 0 <= run.disk_tokens + run.memory_tokens <= run.reused <= len(prompt) - 1
        assert self.is_damaged or self.failing or (run.reused, run.disk_tokens, run.memory_tokens) == foreseen
        assert self.turns or failing or foreseen == before or has_memory
        assert run.lane.ids == prompt[: run.reused]
        if not self.has_lost and not self.cache.evicted_bytes:
            assert run.reused >= expected, "a hit was lost though nothing was evicted"
        if self.memory_blocks == 1000 and not self.failing and not self.has_dropped:
            assert run.reused >= expected, "a hit was lost though there is a tier that holds everything"
        return Turn(run, prompt, answer, chat)

    def _expected_reuse(self, prompt: list[int], regime: str) -> int:
        """What an ample cache must reuse: the longest start of an earlier path, in whole blocks."""
        paths = self.finished.get(self.model.space(regime), [])
        shared = max((_common(path, prompt[:-1]) for path in paths), default=0)
        return shared - shared % BLOCK_TOKENS

    def _step(self, turn: Turn) -> None:
        read = None if self.is_near else len(turn.prompt)
        turn.logits.append(fake_kv.step(self.cache, self.model, turn.run, turn.path, CHUNK, read))

    def _complete(self, turn: Turn) -> None:
        while not turn.is_done:
            self._step(turn)
        assert turn.logits[-1] == self._cold(turn)
        self._finish(turn)

    def _finish(self, turn: Turn) -> None:
        done, space = turn.path[: turn.run.lane.settled], self.model.space(turn.run.lane.regime)
        self.has_lost |= self.store.fail_after >= 0
        self.has_dropped |= self.store.fail_after >= 0
        self.cache.finish(turn.run)
        self.histories[turn.chat] = turn.path
        self.has_lost |= self.cache.tree.peek(space, done) < len(done) - len(done) % BLOCK_TOKENS
        self.has_dropped |= self.cache.tree.peek(space, done) < len(done) - len(done) % BLOCK_TOKENS
        self.finished.setdefault(space, []).append(done)

    def _cold(self, turn: Turn) -> int:
        """The last logits of the same path in a fresh cache that reuses nothing."""
        store = FlakyStore(self.store.layout, 10**9, fill=fake_kv.NAN)
        return run_prompt(NullCache(store, regime=self.cache.regime), self.model, turn.path)[1][-1]


def damage_file(path: Path, other: Path, kind: str) -> None:
    """Damage the file of a block: a swapped one is whole, but another block's."""
    data = bytearray(path.read_bytes())
    if kind == "delete":
        path.unlink()
    elif kind == "swap":
        path.write_bytes(other.read_bytes())
    elif kind == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    else:
        path.write_bytes(data[:-3])


def _common(one: list[int], other: list[int]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
