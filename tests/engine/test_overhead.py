"""What the engine keeps beside keys and values is counted: it grows with what is kept and falls when that goes."""

from __future__ import annotations

import random
import time
import tracemalloc
from datetime import date

import pytest

from engine.cache.blocks import block_keys
from engine.cache.tree import PrefixTree
from engine.types import Message, Request, Sampling
from tests.engine.tiny_models import make_model
from tests.engine.turns import finish, short_chunks


def request(text: str, name: str) -> Request:
    return Request((Message("user", text),), Sampling(temperature=0.0, max_tokens=3), name, day=date(2026, 3, 14))


def test_it_grows_with_what_is_kept_and_falls_when_that_goes() -> None:
    responder = short_chunks(make_model())
    seen = [responder.view().overhead_bytes]
    for name in ("one", "two"):
        finish(responder, request(f"Chat {name} asks. {'Where is the parcel? ' * 20}", name))
        seen.append(responder.view(with_nodes=True).overhead_bytes)
    responder.preview(9, request("Chat three asks for the texts of its blocks.", "three"))
    seen.append(responder.view().overhead_bytes)
    assert seen == sorted(set(seen))
    blocks = responder.view().cached_tokens // 16
    responder.clear()
    responder.view(with_nodes=True)  # the next picture lets the texts of the runs go
    cleared = responder.view().overhead_bytes
    assert seen[-1] - cleared > 600 * blocks
    responder.forget("one")
    responder.forget("two")
    assert responder.view().overhead_bytes < cleared - 2 * 16 * 28


def test_it_is_no_part_of_the_budget() -> None:
    responder = short_chunks(make_model())
    finish(responder, request("Where is the parcel?", "one"))
    view = responder.view()
    assert view.overhead_bytes > 0
    assert view.used_bytes == responder.cache.store.used_bytes


@pytest.mark.parametrize("run", [2_000, 20])
def test_what_the_tree_takes_for_a_block_is_as_measured(run: int) -> None:
    numbers, blocks = random.Random(7), 4_000
    tracemalloc.start()
    try:
        tree = PrefixTree(time.monotonic)
        for first in range(0, blocks, run):
            keys = block_keys([numbers.randrange(1_000, 150_000) for _ in range(run * 16)])
            tree.insert(tree.match("space", []), keys, list(range(first, first + run)))
        del keys
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.8 * taken < tree.nbytes < 1.25 * taken
