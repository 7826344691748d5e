"""Weights, tokenizer, device and dtype; `forward(ids, lane, start)` is all that the rest of the engine sees of a model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import torch
import transformers
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedConfig, PreTrainedModel

from engine import attention
from engine.lanecache import LaneCache, probe_layout
from engine.reuse import check_reusable
from engine.store import KVLayout, Lane
from engine.types import Device, Dtype, ModelError

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


class LoadedModel:
    """A decoder model in memory. `tokenizer` is transformers' fast tokenizer, `end_ids` the tokens that end an answer."""

    def __init__(self, model: PreTrainedModel, tokenizer: Any, path: str) -> None:
        self._model = model
        self.tokenizer = tokenizer
        self.path = path
        self.name = Path(path).name
        self.layout: KVLayout = probe_layout(model)
        config = model.config.get_text_config()
        self.architecture = type(model).__name__
        self.context_length = int(getattr(config, "max_position_embeddings", 0) or 2048)
        self.end_ids = _end_ids(model, tokenizer)
        self._cache = LaneCache(config.num_hidden_layers)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.layout.device

    @property
    def dtype(self) -> str:
        """Short name of the number type: fp32, bf16 or fp16."""
        return NAMES[self.layout.dtype]

    @property
    def weights_bytes(self) -> int:
        """Bytes of all parameters, tied ones once."""
        return sum(parameter.nbytes for parameter in self._model.parameters())

    @torch.inference_mode()
    def forward(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """Compute tokens at positions `start`... on top of the lane's first `start` tokens, writing their keys and
        values into it. Returns the last token's logits, fp32 `[vocabulary]`."""
        tokens = torch.tensor([ids], device=self.device)
        positions = torch.arange(start, start + len(ids), device=self.device)[None]
        self._cache.aim(lane, start)
        try:
            out = self._model(
                input_ids=tokens, position_ids=positions, cache=self._cache, use_cache=True, logits_to_keep=1
            )
        finally:
            self._cache.aim(None, 0)
        return out.logits[0, -1].float()

    def synchronize(self) -> None:
        """Wait until the device has done everything, so that a clock tells the truth."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()

    def decode(self, ids: Sequence[int]) -> str:
        """Text of generated tokens, without the special ones."""
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text


def load(path: Path, device: Device, dtype: Dtype) -> LoadedModel:
    """Load a checked model folder. Raises ModelError for what cannot be opened or cached exactly."""
    attention.register()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    where = choose_device(device)
    try:
        config = AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        check_reusable(config)
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            path,
            config=config,
            dtype=choose_dtype(dtype, where, config),
            attn_implementation=attention.NAME,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
        )
    except (OSError, ValueError, KeyError, ImportError, AttributeError) as error:
        raise ModelError(f"{path.name} cannot be opened as a chat model. Choose another model.", str(error)) from error
    model.eval().requires_grad_(False)
    return LoadedModel(model.to(where), tokenizer, str(path))


def choose_device(wish: Device) -> torch.device:
    """The device asked for, or CUDA, then MPS, then CPU. Raises ModelError where the wish is not there."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wish == "auto":
        return torch.device(next(name for name, is_there in there.items() if is_there))
    if not there[wish]:
        raise ModelError(f"This computer has no usable {wish.upper()} device. Choose the device 'auto' or 'cpu'.")
    return torch.device(wish)


def choose_dtype(wish: Dtype, device: torch.device, config: PreTrainedConfig) -> torch.dtype:
    """The number type asked for; else the checkpoint's own on a GPU, and on the CPU whichever multiplies faster."""
    if wish != "auto":
        return DTYPES[wish]
    if device.type != "cpu":
        own = getattr(config.get_text_config(), "dtype", None)
        return own if own in (torch.float16, torch.bfloat16) else torch.bfloat16
    width = config.get_text_config().hidden_size
    return min((torch.bfloat16, torch.float32), key=lambda dtype: _matmul_seconds(dtype, width))


def default_cache_bytes(device: torch.device) -> int:
    """A share of the memory that is free now: a quarter of the computer's, half of a GPU's; at most 8 GiB."""
    if device.type == "cuda":
        share = torch.cuda.mem_get_info(device)[0] // 2
    else:
        share = psutil.virtual_memory().available // 4
    return int(min(share, 8 * 1024**3))


def _matmul_seconds(dtype: torch.dtype, width: int) -> float:
    """The best of three products as prefill does them, 256 tokens through one square layer."""
    left, right = torch.ones(256, width, dtype=dtype), torch.ones(width, width, dtype=dtype)
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        left @ right
        best = min(best, time.perf_counter() - start)
    return best


def _end_ids(model: PreTrainedModel, tokenizer: Any) -> frozenset[int]:
    ids: set[int] = set()
    for source in (model.generation_config, model.config.get_text_config(), tokenizer):
        value = getattr(source, "eos_token_id", None)
        ids.update(value if isinstance(value, list) else [] if value is None else [value])
    return frozenset(ids)
