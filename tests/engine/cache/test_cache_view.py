"""What the cache shows of itself, and what can be done to a run that is shown."""

from __future__ import annotations

from functools import partial

from engine.cache.prefix_cache import PrefixCache
from tests.engine import fake_kv
from tests.engine.fake_kv import LAYOUT, DigestModel, check_contents, run_prompt, unlike
from tests.engine.inside import forget_lanes, lanes

MODEL = DigestModel()
TOKEN = LAYOUT.bytes_per_token
BLOCK = LAYOUT.bytes_per_block
make_cache = partial(fake_kv.make_cache, lane_step=32)
"""Lanes grow in small steps, so that short prompts make them grow."""


def check_view(cache: PrefixCache) -> None:
    view = cache.view(with_nodes=True)
    assert view.used_bytes == cache.store.used_bytes
    assert min(view.pinned_bytes, view.live_bytes, view.reusable_bytes) >= 0
    assert sum(node.bytes for node in view.nodes) == view.used_bytes - cache.store.lane_bytes
    assert sum(node.bytes for node in view.nodes if node.pinned) == view.pinned_bytes
    for index, node in enumerate(view.nodes):
        assert node.parent < index
        start = 0 if node.parent < 0 else view.nodes[node.parent].start + view.nodes[node.parent].tokens
        assert node.start == start


def test_the_view_adds_up() -> None:
    """Issue 3 point 7: used = pinned + live + reusable, and the nodes are the tree."""
    cache = make_cache(context=128, tokens=900, max_lanes=2)
    for number in range(4):
        run_prompt(cache, MODEL, unlike(1, 48) + unlike(10 + number, 40), owner=f"chat {number}")
        check_view(cache)
    cache.keep(unlike(1, 48), "chat 0")
    check_view(cache)
    run = cache.begin(unlike(1, 48) + unlike(11, 60), 4, "chat 1")
    cache.restore(run)
    check_view(cache)
    view = cache.view(with_nodes=True)
    assert view.live_bytes == cache.store.lane_bytes + 32 * TOKEN, "the hit of a running request is live"
    cache.finish(run)
    check_view(cache)
    top = cache.view(with_nodes=True).nodes[0]
    assert (top.parent, top.start, top.tokens, top.pinned) == (-1, 0, 48, True)
    assert top.conversations == ("chat 0", "chat 1", "chat 2", "chat 3")
    assert len(cache.view().nodes) == 0


def test_a_chat_of_many_turns_is_one_run_in_the_view() -> None:
    """Issue 3 point 7: the picture grows with the branches, not with the tokens."""
    cache = make_cache(context=2048, tokens=8000)
    history: list[int] = []
    for turn in range(40):
        history += unlike(turn, 40)
        run_prompt(cache, MODEL, history, owner="chat")
    (node,) = cache.view(with_nodes=True).nodes
    assert (node.tokens, node.bytes, node.conversations) == (1600, 100 * BLOCK, ("chat",))


class CountedOnly(list):  # type: ignore[type-arg]
    """A list that may be measured but not read."""

    def __iter__(self) -> None:  # type: ignore[override]
        raise AssertionError("the view reads every block")

    def __getitem__(self, index: object) -> object:  # type: ignore[override]
        assert index == -1, "the view reads more than the name of a run"
        return super().__getitem__(-1)


def test_the_view_does_not_read_blocks() -> None:
    """Issue 3 point 7: cheap with a million cached tokens, because its cost is that of the runs."""
    cache = make_cache(context=256, tokens=4096)
    for number in range(8):
        run_prompt(cache, MODEL, unlike(number % 2, 128) + unlike(number, 100))
    nodes = list(cache.tree.nodes())
    for node in nodes:
        node.blocks = CountedOnly(node.blocks)
    assert len(cache.view(with_nodes=True).nodes) <= len(nodes)
    assert len(lanes(cache)) == 1


def chain(cache: PrefixCache, turns: int, owner: str = "chat") -> list[int]:
    """A chat of some turns, each published on its own."""
    history: list[int] = []
    for turn in range(turns):
        history = history + unlike(turn, 32)
        run_prompt(cache, MODEL, history, owner=owner)
    return history


def test_a_run_is_dropped_whole() -> None:
    """What is shown as one run goes as one, however many turns wrote it."""
    cache = make_cache(context=256, tokens=4096)
    history = chain(cache, 5)
    run_prompt(cache, MODEL, unlike(99, 64))
    run = next(node for node in cache.view(with_nodes=True).nodes if node.tokens == 160)
    cache.drop_block(run.block)
    check_contents(cache, MODEL)
    assert cache.tree.peek("a", history) == 0
    assert cache.view().cached_tokens == 64


def test_a_run_is_dropped_with_all_behind_it() -> None:
    cache = make_cache(context=256, tokens=4096)
    stem = unlike(1, 64)
    for number in range(3):
        run_prompt(cache, MODEL, stem + unlike(10 + number, 64))
    view = cache.view(with_nodes=True)
    cache.drop_block(view.nodes[1].block)
    assert cache.view().cached_tokens == 64 + 2 * 64
    cache.drop_block(view.nodes[0].block)
    assert cache.view().cached_tokens == 0
    cache.drop_block(view.nodes[0].block)
    cache.keep_block(12345)
    cache.release_block(12345)
    check_contents(cache, MODEL)


def test_a_run_that_is_needed_is_not_dropped() -> None:
    cache = make_cache(context=256, tokens=4096)
    history = chain(cache, 3)
    run = cache.begin(history, 4)
    cache.restore(run)
    cache.drop_block(cache.view(with_nodes=True).nodes[0].block)
    assert cache.tree.peek("a", history) == 80, "the hit of a running request"
    check_contents(cache, MODEL)
    cache.finish(run)
    check_contents(cache, MODEL)


def test_a_run_is_kept_and_released() -> None:
    cache = make_cache(context=128, tokens=900)
    history = chain(cache, 2)
    (run,) = cache.view(with_nodes=True).nodes
    cache.keep_block(run.block)
    assert [node.pinned for node in cache.view(with_nodes=True).nodes] == [True]
    assert cache.kept_tokens(history) == 64
    cache.make_room(10**9)
    assert cache.tree.peek("a", history) == 64
    cache.release_block(run.block)
    cache.make_room(10**9)
    assert cache.view().cached_tokens == 0


def test_a_conversation_called_like_a_pinned_run_is_not_taken_for_it() -> None:
    """What it keeps and lets go of is its own."""
    cache = make_cache(context=256, tokens=4096)
    run_prompt(cache, MODEL, unlike(1, 33))
    (run,) = cache.view(with_nodes=True).nodes
    cache.keep_block(run.block)
    for name in (f"block {run.block}", str(run.block)):
        run_prompt(cache, MODEL, unlike(2, 33), owner=name)
        cache.keep(unlike(2, 32), name)
        cache.forget(name)
        cache.make_room(10**9)
        assert [(node.block, node.pinned) for node in cache.view(with_nodes=True).nodes] == [(run.block, True)]


def test_release_lets_go_of_the_whole_run_whoever_kept_it() -> None:
    cache = make_cache(context=256, tokens=4096)
    history = chain(cache, 3)
    cache.keep(history[:32], "one")
    cache.keep(history[:64], "two")
    kept = next(node for node in cache.view(with_nodes=True).nodes if node.pinned)
    assert kept.tokens == 64
    cache.release_block(kept.block)
    assert cache.tree.kept() == {}
    assert cache.kept_tokens(history) == 0


def test_the_name_of_a_run_outlives_a_split() -> None:
    """The window may show a run that has been split since: its name still means the end of it."""
    cache = make_cache(context=256, tokens=4096)
    history = chain(cache, 1) + unlike(7, 64)
    run_prompt(cache, MODEL, history)
    (before,) = cache.view(with_nodes=True).nodes
    run_prompt(cache, MODEL, history[:48] + unlike(8, 64))
    cache.drop_block(before.block)
    assert cache.tree.peek("a", history) == 48
    forget_lanes(cache)
    check_contents(cache, MODEL)


def test_runs_show_how_they_begin() -> None:
    cache = make_cache(context=256, tokens=4096, decode=lambda ids: f"{len(ids)} tokens from {ids[0]}")
    chain(cache, 2)
    run_prompt(cache, MODEL, unlike(0, 32) + unlike(50, 32))
    texts = [node.text for node in cache.view(with_nodes=True).nodes]
    assert sorted(texts) == ["32 tokens from 0", "32 tokens from 1000", "32 tokens from 50000"]
