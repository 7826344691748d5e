"""A lane in the shape that transformers' models expect: a Cache whose layers write into the lane and return views."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, CacheLayerMixin

from engine.store import KVLayout, Lane, LayerGroup


class LaneCache(Cache):  # type: ignore[misc]
    """Presents the first `start` tokens of a lane as the past. `aim` it before every forward pass.

    Sliding layers keep every token too and are masked, so `is_sliding` is False for all layers.
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
        """Nothing to do: the lane is there."""

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Write the new keys and values, return all up to their end."""
        lane = self._cache.lane
        assert lane is not None
        return lane.write(self._index, self._cache.start, key_states, value_states)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Length and offset of the keys that a mask has to cover."""
        return self._cache.start + query_length, 0

    def get_seq_length(self) -> int:
        """Tokens of the past."""
        return self._cache.start

    def get_max_length(self) -> int:
        """No bound of its own."""
        return -1


class _ProbeLayer(_LaneLayer):
    """Notes the shapes that a layer hands over."""

    shapes: tuple[torch.Size, torch.Size] | None = None

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Note the shapes, pass everything on."""
        self.shapes = (key_states.shape, value_states.shape)
        return key_states, value_states


@torch.inference_mode()
def probe_layout(model: PreTrainedModel) -> KVLayout:
    """The KV layout of a model, found by running one token through it."""
    cache = LaneCache(0)
    count = model.config.get_text_config().num_hidden_layers
    cache.layers = probes = [_ProbeLayer(cache, index) for index in range(count)]
    token = torch.zeros((1, 1), dtype=torch.long, device=model.device)
    model(input_ids=token, position_ids=token, cache=cache, use_cache=True, logits_to_keep=1)
    by_shape: dict[tuple[int, int, int], list[int]] = {}
    for index, probe in enumerate(probes):
        assert probe.shapes is not None
        keys, values = probe.shapes
        by_shape.setdefault((keys[1], keys[3], values[3]), []).append(index)
    groups = tuple(LayerGroup(tuple(layers), *shape) for shape, layers in by_shape.items())
    return KVLayout(groups, model.dtype, model.device)
