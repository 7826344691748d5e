"""Attention whose numbers for a token hang on that token and those before it alone, in plain torch.

It is used where the compiled one (`engine.llama.compiled_attention`) is not, and takes two to three times as long as
torch's own. Keys are taken in blocks that begin at multiples of KEYS tokens, and queries ROWS at a time, always filled
up to the whole: so all products have the same shapes. The softmaxes of the blocks are joined one after the other
(https://arxiv.org/abs/2205.14135). A block of which a token sees nothing changes none of its numbers.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from engine.weights.row_products import evened, in_vectors

KEYS = 512
ROWS = 256


def attend_in_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float,
    seen: Tensor | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """What `engine.llama.attention.attend` says, in fp32; the result in the queries' number type."""
    heads, q = query.shape[1:3]
    kv_heads, n = key.shape[1:3]
    group = heads // kv_heads
    out = query.new_empty(q, heads, value.shape[-1])
    tokens = torch.arange(q).repeat_interleave(group)  # the heads of a token stand side by side
    for head in range(kv_heads):
        own = slice(head * group, (head + 1) * group)
        rows = query[0, own].transpose(0, 1).reshape(q * group, -1).float()
        start = torch.full((group,), float("-inf")) if sinks is None else sinks[own].float()
        found = [
            _tile(rows[i : i + ROWS], tokens[i : i + ROWS], key[0, head], value[0, head], n - q, scale, seen, softcap,
                  start.repeat(q)[i : i + ROWS])
            for i in range(0, len(rows), ROWS)
        ]  # fmt: skip
        out[:, own] = torch.cat(found).view(q, group, -1).to(out.dtype)
    return out.transpose(0, 1)[None]


def _tile(
    rows: Tensor,
    tokens: Tensor,
    key: Tensor,
    value: Tensor,
    before: int,
    scale: float,
    seen: Tensor | None,
    softcap: float | None,
    start: Tensor,
) -> Tensor:
    """Some query rows `[r, dim]` of one KV head over its keys and values `[n, dim]`; `tokens` `[r]` says which of the
    newest tokens each row belongs to. `start` `[r]` are the sinks. Returns `[r, value_dim]`."""
    count, more = len(rows), ROWS - len(rows)
    rows, tokens = functional.pad(rows, (0, 0, 0, more)), functional.pad(tokens, (0, more))
    highest = functional.pad(start, (0, more), value=float("-inf"))[:, None]
    rows = evened(rows, 1)
    total, sums = (highest > float("-inf")).float(), evened(torch.zeros(ROWS, value.shape[-1]), 1)
    for first in range(0, before + int(tokens.max()) + 1, KEYS):
        keys, values = (_whole_block(part, first) for part in (key, value))
        scores = torch.mm(rows, keys.t()) * scale
        if softcap is not None:
            scores = in_vectors(torch.tanh, scores / softcap) * softcap
        visible = torch.arange(first, first + KEYS) <= before + tokens[:, None]
        if seen is not None:
            known = seen[:, first : first + KEYS]
            visible &= functional.pad(known, (0, KEYS - known.shape[1]))[tokens]
        counts = visible.any(-1, keepdim=True)
        scores.masked_fill_(~visible, float("-inf"))
        weights = torch.softmax(scores, -1).masked_fill_(~counts, 0.0)
        top = torch.where(counts, scores.amax(-1, keepdim=True), highest)
        now = torch.maximum(highest, top)
        kept = torch.where(highest == now, 1.0, torch.exp(highest - now))
        # The largest weight is one part of the sum: so that need not be had from the scores.
        added = torch.where(counts, torch.exp(top - now) / weights.amax(-1, keepdim=True), 0.0)
        sums, total, highest = sums * kept + torch.mm(weights, values) * added, total * kept + added, now
    return (sums / total)[:count, : value.shape[-1]]


def _whole_block(part: Tensor, first: int) -> Tensor:
    """A block of keys or values in fp32, filled up with zeros: to all its rows, and to an even width."""
    block = part[first : first + KEYS].float()
    return functional.pad(evened(block, 1), (0, 0, 0, KEYS - len(block)))
