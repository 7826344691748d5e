"""Our lanes as the cache that transformers' models expect, and the tests that a model of any class must pass with them.

`LaneCache` writes keys and values into a lane and returns views of it. `probe_layout` finds the shapes of a model's
keys and values. `check_reuse` tests with the loaded weights that a prompt may be read in pieces.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, CacheLayerMixin

from engine.cache.store import KVLayout, Lane, LayerGroup, is_out_of_memory
from engine.models.support import CHOOSE, NO_NUMBERS, NOT_EXACT, NOT_ON_DEVICE, OWN_ATTENTION
from engine.types import ModelError

CHECK_TOKENS = 24
CHECK_SPLIT = 11
"""Tokens of a test prompt, and after how many of them it is cut in two."""

CHECK_PROMPTS = 3
"""Where the first test prompt fails, the median of three counts. In bf16 a near-tie between two experts may be decided
otherwise for one of them, and that is no fault of the cache."""

SLACK = {torch.float32: (0.001, 0.001)}
SLACK_IN_16_BITS = (0.2, 0.4)
"""How far logits may be off, relative to their spread. The first bound is for a prompt read in pieces against the same
at once, the second for that against what the class computes by itself. A past that is lost moves logits by 0.4 and
more, bf16 by less than 0.1, and int4 by up to 0.2."""

Forward = Callable[[Sequence[int], Lane, int], Tensor]


class LaneCache(Cache):  # type: ignore[misc]
    """A transformers cache over a lane, whose first `start` tokens are the past. `aim` it before every forward pass.

    Layers with a sliding window keep every token, too, and are masked. So `is_sliding` is False for all layers.
    """

    def __init__(self, num_layers: int) -> None:
        self.lane: Lane | None = None
        self.start = 0
        super().__init__(layers=[_LaneLayer(self, index) for index in range(num_layers)])

    def aim(self, lane: Lane | None, start: int) -> None:
        """Choose the lane, and how many of its tokens are the past."""
        self.lane, self.start = lane, start


class _LaneLayer(CacheLayerMixin):  # type: ignore[misc]
    """One layer of a LaneCache."""

    def __init__(self, cache: LaneCache, index: int) -> None:
        super().__init__()
        self._cache = cache
        self._index = index
        self.is_initialized = True

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Do nothing: the lane is there already."""

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Write the new keys and values into the lane; return those of all tokens up to the last new one."""
        lane = self._cache.lane
        assert lane is not None
        return lane.write(self._index, self._cache.start, key_states, value_states)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """How many keys a mask has to cover, and which is the first."""
        return self._cache.start + query_length, 0

    def get_seq_length(self) -> int:
        """How many tokens are the past."""
        return self._cache.start

    def get_max_length(self) -> int:
        """Say that there is no bound: the lane grows as it is needed."""
        return -1


class _ProbeLayer(_LaneLayer):
    """A layer that only notes the shapes of keys and values."""

    shapes: tuple[torch.Size, torch.Size] | None = None

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Note the shapes, and return what came."""
        self.shapes = (key_states.shape, value_states.shape)
        return key_states, value_states


def probe_layout(model: PreTrainedModel) -> KVLayout:
    """The KV layout of a model, found by running one token through it. Raises ModelError where it has none.

    Layers that use the keys and values of an earlier layer (Gemma-3n, Gemma-4) keep none and get no room.
    """
    cache = LaneCache(0)
    count = model.config.get_text_config().num_hidden_layers
    cache.layers = probes = [_ProbeLayer(cache, index) for index in range(count)]
    with _refusing(model):
        _logits(model, [0], cache=cache, use_cache=True)
    by_shape: dict[tuple[int, int, int], list[int]] = {}
    for index, probe in enumerate(probes):
        if probe.shapes is not None:
            keys, values = probe.shapes
            by_shape.setdefault((keys[1], keys[3], values[3]), []).append(index)
    if not by_shape:
        raise ModelError(OWN_ATTENTION + CHOOSE, f"{type(model).__name__}: no layer keeps keys and values in the cache")
    groups = tuple(LayerGroup(tuple(layers), *shape) for shape, layers in by_shape.items())
    return KVLayout(groups, model.dtype, model.device)


def check_reuse(model: PreTrainedModel, layout: KVLayout, forward: Forward) -> None:
    """Read a made-up prompt in two pieces, then at once, and then as the class itself does, and compare the logits.

    `forward(ids, lane, start)` reads a piece. Raises ModelError where the logits differ: then the model cannot be
    cached exactly, whatever its configuration says. Also where the class itself computes NaN or infinity.
    """
    with _refusing(model):
        votes = [_off(model, layout, forward, 0)]
        if votes[0] > 1:
            votes += [_off(model, layout, forward, seed) for seed in range(1, CHECK_PROMPTS)]
    if statistics.median(votes) > 1:
        raise ModelError(NOT_EXACT + CHOOSE, f"{type(model).__name__}: off by {votes} times what is allowed")


def _off(model: PreTrainedModel, layout: KVLayout, forward: Forward, seed: int) -> float:
    """How far the logits after one prompt are off, as a share of what is allowed."""
    vocabulary = model.config.get_text_config().vocab_size
    ids = [(7 + 31 * seed + 13 * index) % vocabulary for index in range(CHECK_TOKENS)]
    lane = Lane(layout, CHECK_TOKENS, fill=float("nan"))
    forward(ids[:CHECK_SPLIT], lane, 0)
    warm = forward(ids[CHECK_SPLIT:], lane, CHECK_SPLIT)
    cold = forward(ids, Lane(layout, CHECK_TOKENS, fill=float("nan")), 0)
    own = _own_logits(model, ids)
    if not math.isfinite(own.max()):  # NaN anywhere is the largest
        raise ModelError(NO_NUMBERS, f"{type(model).__name__}: the logits of a test prompt")
    in_pieces, from_own = SLACK.get(layout.dtype, SLACK_IN_16_BITS)
    return max(_distance(warm, cold) / in_pieces, _distance(cold, own) / from_own)


def _distance(one: Tensor, other: Tensor) -> float:
    """How far two logits `[vocabulary]` are apart, relative to their spread; infinite where one of them is NaN."""
    distance = float((one - other).norm() / (other - other.mean()).norm())
    return math.inf if math.isnan(distance) else distance


def _own_logits(model: PreTrainedModel, ids: list[int]) -> Tensor:
    """The logits that the class computes with its own attention and without a cache."""
    registered = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        return _logits(model, ids, use_cache=False)
    finally:
        model.set_attn_implementation(registered)


@torch.inference_mode()
def _logits(model: PreTrainedModel, ids: list[int], **cache: Any) -> Tensor:
    """The logits after the last token, fp32 `[vocabulary]`."""
    tokens = torch.tensor([ids], device=model.device)
    positions = torch.arange(len(ids), device=model.device)[None]
    out = model(input_ids=tokens, position_ids=positions, logits_to_keep=1, **cache)
    logits: Tensor = out.logits[0, -1]
    return logits.float()


@contextmanager
def _refusing(model: PreTrainedModel) -> Iterator[None]:
    """Raise ModelError for whatever a class cannot do with our cache; a lack of memory is raised as it is."""
    try:
        yield
    except Exception as error:
        if isinstance(error, ModelError) or is_out_of_memory(error):
            raise
        if isinstance(error, NotImplementedError) and model.device.type != "cpu":
            raise ModelError(NOT_ON_DEVICE, f"{type(model).__name__}: {error!r}") from error
        raise ModelError(OWN_ATTENTION + CHOOSE, f"{type(model).__name__}: {error!r}") from error
