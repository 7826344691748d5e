"""Models through transformers' own classes: any decoder whose keys and values can be kept in a lane."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel

from engine import interface
from engine.lanecache import LaneCache, check_reuse, probe_layout
from engine.layers import Sizes, Weights
from engine.lean import LeanForward
from engine.plain import CLASSES, end_ids
from engine.quant import Bits
from engine.regime import RegimeSwitch
from engine.reuse import ReuseClass, check_reusable, classify
from engine.store import KVLayout, Lane
from engine.types import ModelError


class TransformersNetwork:
    """A model of transformers over our lanes; by the lean forward pass where that fits and `is_lean`.

    `bits` adds few-bit copies of the weights for decoding.
    """

    def __init__(self, model: PreTrainedModel, bits: Bits | None = None, *, is_lean: bool = True) -> None:
        self.model = model
        self.layout: KVLayout = probe_layout(model)
        config = model.config.get_text_config()
        self.architecture = type(model).__name__
        self.context_length = int(getattr(config, "max_position_embeddings", 0) or 2048)
        self.vocabulary = int(config.vocab_size)
        self.end_ids = _end_ids(model)
        self.reuse: ReuseClass = classify(model.config)
        self._switch = RegimeSwitch(model, self.reuse)
        self._cache = LaneCache(config.num_hidden_layers)
        self._lean = LeanForward(weights_of(model, bits)) if is_lean and fits(model) else None

    @property
    def bits(self) -> str:
        """See `Network.bits`."""
        return self._lean.weights.bits if self._lean else ""

    @property
    def weights_bytes(self) -> int:
        """See `Network.weights_bytes`."""
        own = {p.untyped_storage().data_ptr(): p.untyped_storage().nbytes() for p in self.model.parameters()}
        few_bits = self._lean.weights.packed if self._lean else ()
        return int(sum(own.values())) + sum(packed.nbytes for packed in few_bits)

    def forward(self, ids: Sequence[int], lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        """See `Network.forward`."""
        self._switch.use(lane.regime)
        if self._lean is not None:
            return self._lean(ids, lane, start, is_answer=is_answer)
        device = self.layout.device
        positions = torch.arange(start, start + len(ids), device=device)[None]
        self._cache.aim(lane, start)
        try:
            out = self.model(
                input_ids=torch.tensor([ids], device=device),
                position_ids=positions,
                cache=self._cache,
                use_cache=True,
                logits_to_keep=1,
            )
        finally:
            self._cache.aim(None, 0)
        logits: Tensor = out.logits[0, -1]
        return logits


def read_config(folder: Path) -> PreTrainedConfig:
    """The configuration of a model. Raises ModelError where its prefixes could not be reused exactly."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    check_reusable(config)
    return config


def open_network(
    config: PreTrainedConfig, folder: Path, dtype: torch.dtype, device: torch.device, bits: Bits | None
) -> TransformersNetwork:
    """Load the weights of a folder. Raises ModelError where some are missing, or where the model fails a test of its
    reuse."""
    interface.register()
    model, found = AutoModelForCausalLM.from_pretrained(
        folder,
        config=config,
        dtype=dtype,
        attn_implementation=interface.NAME,
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    if missing := sorted(found["missing_keys"]):
        raise ModelError(f"{folder.name} lacks some of its weights. Download it again.", ", ".join(missing))
    model.eval().requires_grad_(False)
    network = TransformersNetwork(model.to(device), bits)
    if not fits(model):  # those that it fits are tested class by class
        check_reuse(model, network.layout, torch.inference_mode()(network.forward))
    return network


def fits(model: PreTrainedModel) -> bool:
    """Whether the lean forward pass computes what the model's own does."""
    return type(model).__name__ in CLASSES.values() and config_fits(model.config)


def config_fits(config: PreTrainedConfig) -> bool:
    """Whether a model of one of the lean classes is plain enough: full attention, SiLU."""
    layer_types = getattr(config, "layer_types", None) or ["full_attention"]
    return (
        config.model_type in CLASSES
        and config.hidden_act == "silu"
        and set(layer_types) == {"full_attention"}
        and (getattr(config, "sliding_window", None) is None or _has_window_switched_off(config))
    )


def _has_window_switched_off(config: PreTrainedConfig) -> bool:
    """Only the Qwens look at this flag."""
    return config.model_type != "mistral" and not getattr(config, "use_sliding_window", True)


def weights_of(model: Any, bits: Bits | None) -> Weights:
    """The weights of a model that the lean forward pass fits. Its own become views of the fused ones."""
    config = model.config
    sizes = Sizes(
        config.num_attention_heads,
        config.num_key_value_heads,
        getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads,
        config.rms_norm_eps,
        config.num_hidden_layers,
    )
    return Weights(sizes, dict(model.named_parameters()), model.model.rotary_emb, bits)


def _end_ids(model: PreTrainedModel) -> frozenset[int]:
    sources = (model.generation_config, model.config.get_text_config())
    return frozenset().union(*(end_ids(getattr(source, "eos_token_id", None)) for source in sources))
