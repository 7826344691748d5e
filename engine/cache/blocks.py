"""How token ids become named blocks.

A block is 16 ids in a row, counted from the start of a sequence. Its key is the tuple of them, which is how the tree
finds it. Its name is a digest over all ids from the start of the sequence to its end, so that one name stands for the
whole path: this is what a block is called on disk, where there is no tree.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence

from engine.types import BLOCK_TOKENS

Key = tuple[int, ...]
"""The 16 ids of one block."""

DIGEST_LENGTH = 40
"""Hexadecimal digits of a name: 160 bits."""


def block_keys(ids: Sequence[int], first_block: int = 0) -> list[Key]:
    """The full blocks of `ids` from block number `first_block` on, each as a tuple of 16 ids."""
    end = len(ids) - len(ids) % BLOCK_TOKENS
    return [tuple(ids[i : i + BLOCK_TOKENS]) for i in range(first_block * BLOCK_TOKENS, end, BLOCK_TOKENS)]


def chain(space: str, keys: Iterable[Sequence[int]]) -> list[str]:
    """The names along a path of the namespace `space`: first that of the namespace itself, then one for each key."""
    digests = [short_digest(space.encode())]
    for key in keys:
        digests.append(next_digest(digests[-1], key))
    return digests


def next_digest(before: str, key: Sequence[int]) -> str:
    """The name of the block with the ids `key` that comes right behind the block named `before`."""
    return short_digest(before.encode() + array("q", key).tobytes())


def short_digest(data: bytes) -> str:
    """The digest of bytes, as short as names are."""
    return hashlib.sha256(data).hexdigest()[:DIGEST_LENGTH]
