"""The prefix tree alone: against a plain dictionary, and what eviction, pins and kept paths promise."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

import pytest

from engine.cache.blocks import block_keys
from engine.cache.tree import Match, PrefixTree
from engine.types import BLOCK_TOKENS


def make_tree() -> PrefixTree:
    ticks = itertools.count(1)
    return PrefixTree(lambda: float(next(ticks)))


def ids_of(*blocks: int) -> list[int]:
    """A prompt of whole blocks; a block's number stands for its 16 ids."""
    return [block * 100 + i for block in blocks for i in range(BLOCK_TOKENS)]


def add(tree: PrefixTree, numbers: Iterator[int], ids: Sequence[int], namespace: str = "m") -> Match:
    """Cache a prompt as the cache does: look up, then insert the rest."""
    match = tree.match(namespace, ids)
    keys = block_keys(ids, len(match.blocks))
    return tree.insert(match, keys, [next(numbers) for _ in keys])


def test_tree_equals_a_dictionary_of_prefixes() -> None:
    """Random inserts, evictions, pins and keeps in two namespaces; the oracle is a dictionary of whole prefixes.

    ENGINE_BUGS kind B9: block -> place is a bijection after each operation. Kind D25: what is cached is prefix-closed.
    """
    chance, numbers, tree = random.Random(5), itertools.count(), make_tree()
    known: dict[tuple[str, tuple[int, ...]], int] = {}
    pinned: list[tuple[Match, str, list[int]]] = []
    for _ in range(3000):
        namespace, ids = chance.choice("ab"), ids_of(*chance.choices(range(3), k=chance.randint(0, 6)))
        ids += [7] * chance.randint(0, BLOCK_TOKENS - 1)
        action = chance.random()
        if action < 0.5:
            match = add(tree, numbers, ids, namespace)
            for count, block in enumerate(match.blocks, 1):
                assert known.setdefault((namespace, tuple(ids[: count * BLOCK_TOKENS])), block) == block
        elif action < 0.7:
            freed = set(tree.evict(chance.randint(0, 4)))
            known = {prefix: block for prefix, block in known.items() if block not in freed}
        elif action < 0.8 and len(pinned) < 4:
            pinned.append((tree.match(namespace, ids), namespace, ids))
            tree.pin(pinned[-1][0].node)
        elif action < 0.9 and pinned:
            tree.unpin(pinned.pop(chance.randrange(len(pinned)))[0].node)
        else:
            tree.keep(tree.match(namespace, ids).node, chance.choice("xyz"))
        tree.check()
        assert sorted(known.values()) == sorted(block for node in tree.nodes() for block in node.blocks)
        expected = [known.get((namespace, tuple(ids[:n]))) for n in range(BLOCK_TOKENS, len(ids) + 1, BLOCK_TOKENS)]
        hit = list(itertools.takewhile(lambda block: block is not None, expected))
        assert tree.peek(namespace, ids) == len(hit) * BLOCK_TOKENS
        assert list(tree.match(namespace, ids).blocks) == hit
        for match, name, held in pinned:
            assert tree.match(name, held).blocks[: len(match.blocks)] == match.blocks, "a pinned block is gone"


def test_nothing_is_found_from_another_namespace() -> None:
    """ENGINE_BUGS kind B5: the namespace is part of what is compared."""
    tree, numbers = make_tree(), itertools.count()
    add(tree, numbers, ids_of(1, 2), "fp32")
    assert tree.match("bf16", ids_of(1, 2)).blocks == ()
    assert tree.peek("fp32", ids_of(1, 2)) == 32


def test_equal_hashes_do_not_make_a_hit() -> None:
    """ENGINE_BUGS kinds B5 and B6: keys whose hashes are all equal are still told apart by their tokens."""

    class Token(int):
        def __hash__(self) -> int:
            return 0

    tree, numbers = make_tree(), itertools.count()
    first, second = ([Token(i + shift) for i in range(32)] for shift in (0, 1))
    add(tree, numbers, first)
    assert tree.match("m", second).blocks == ()
    add(tree, numbers, second)
    assert tree.match("m", first).blocks == (0, 1)
    assert tree.match("m", second).blocks == (2, 3)


@pytest.mark.parametrize("differs", [0, 15, 16, 31, 32, 47])
def test_one_differing_token_ends_the_match_at_its_block(differs: int) -> None:
    tree, numbers = make_tree(), itertools.count()
    add(tree, numbers, ids_of(1, 2, 3))
    ids = ids_of(1, 2, 3)
    ids[differs] += 50
    assert tree.match("m", ids).num_tokens == differs - differs % BLOCK_TOKENS


@pytest.mark.parametrize("length", [1, 15, 16, 17, 31, 32, 47, 48, 49])
def test_only_whole_blocks_are_matched(length: int) -> None:
    tree, numbers = make_tree(), itertools.count()
    add(tree, numbers, ids_of(1, 2, 3))
    assert tree.match("m", ids_of(1, 2, 3)[:length]).num_tokens == length - length % BLOCK_TOKENS


def test_evict_takes_leaves_from_their_end_oldest_first() -> None:
    """ENGINE_BUGS kind D25: the root of a chain never goes first, and nothing is left behind a gap."""
    tree, numbers = make_tree(), itertools.count()
    add(tree, numbers, ids_of(1, 2, 3))  # blocks 0 1 2
    add(tree, numbers, ids_of(1, 4))  # block 3, and 0 used again
    assert tree.evict(1) == [2]
    assert tree.evict(1) == [1]
    assert tree.evict(5) == [3, 0]
    assert len(tree) == 0


def test_a_look_up_refreshes_recency() -> None:
    """ENGINE_BUGS kind D27: LRU, not FIFO."""
    tree, numbers = make_tree(), itertools.count()
    for block in (1, 2, 3):
        add(tree, numbers, ids_of(block))
    tree.match("m", ids_of(1))
    assert tree.evict(3) == [1, 2, 0]


def test_peek_touches_nothing() -> None:
    tree, numbers = make_tree(), itertools.count()
    add(tree, numbers, ids_of(1, 2))
    add(tree, numbers, ids_of(3))
    before = [(node.last_used, node.hits, len(node.keys)) for node in tree.nodes()]
    assert tree.peek("m", ids_of(1)) == 16
    assert tree.peek("other", ids_of(1)) == 0
    assert before == [(node.last_used, node.hits, len(node.keys)) for node in tree.nodes()]


@pytest.mark.parametrize("count", range(8))
def test_evict_frees_exactly_what_was_asked_for(count: int) -> None:
    """ENGINE_BUGS kind C24: exactly n blocks, or all that may go."""
    tree, numbers = make_tree(), itertools.count()
    add(tree, numbers, ids_of(1, 2, 3))
    add(tree, numbers, ids_of(1, 2, 4, 5))
    tree.pin(tree.match("m", ids_of(1, 2)).node)
    freed = tree.evict(count)
    assert len(freed) == len(set(freed)) == min(count, 3)
    assert all(tree.find(block) is None for block in freed)
    tree.check()


def test_a_split_keeps_the_pin_of_the_whole_path() -> None:
    """ENGINE_BUGS kind C19: whoever holds a path goes on holding all of it, and gives all of it back."""
    tree, numbers = make_tree(), itertools.count()
    held = add(tree, numbers, ids_of(1, 2, 3, 4))
    tree.pin(held.node)
    add(tree, numbers, ids_of(1, 2, 9))
    assert tree.evict(10) == [4]
    assert [node.pins for node in held.node.path()] == [1, 1]
    tree.unpin(held.node)
    assert sorted(tree.evict(10)) == [0, 1, 2, 3]


def test_a_partial_match_pins_only_what_it_covers() -> None:
    """ENGINE_BUGS kind C19: a match inside a run splits it, so that the rest may go."""
    tree, numbers = make_tree(), itertools.count()
    add(tree, numbers, ids_of(1, 2, 3, 4))
    tree.pin(tree.match("m", ids_of(1, 2)).node)
    assert sorted(tree.evict(10)) == [2, 3]


def test_an_owner_keeps_one_path_at_a_time() -> None:
    tree, numbers = make_tree(), itertools.count()
    one, two = add(tree, numbers, ids_of(1, 2)), add(tree, numbers, ids_of(3))
    tree.keep(one.node, "chat")
    assert tree.evict(9) == [2]
    two = add(tree, numbers, ids_of(3))
    tree.keep(two.node, "chat")
    assert sorted(tree.evict(9)) == [0, 1]
    tree.release("chat")
    assert tree.evict(9) == list(two.blocks)


def test_two_owners_of_one_path_both_count() -> None:
    tree, numbers = make_tree(), itertools.count()
    node = add(tree, numbers, ids_of(1, 2)).node
    tree.keep(node, "a")
    tree.keep(tree.match("m", ids_of(1)).node, "b")
    tree.release("a")
    assert tree.evict(9) == [1]
    assert tree.kept().keys() == {"b"}


def test_keeping_again_makes_an_owner_the_newest() -> None:
    """ENGINE_BUGS kind D27: whoever keeps what it kept before is in use, not old."""
    tree, numbers = make_tree(), itertools.count()
    one, two = add(tree, numbers, ids_of(1)), add(tree, numbers, ids_of(2))
    tree.keep(one.node, "a")
    tree.keep(two.node, "b")
    tree.keep(one.node, "a")
    assert list(tree.kept()) == ["b", "a"]


def test_keeping_nothing_is_not_remembered() -> None:
    tree = make_tree()
    tree.keep(tree.match("m", ids_of(1)).node, "a")
    assert tree.kept() == {}
