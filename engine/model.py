"""Weights, tokenizer, device and dtype; `forward(ids, lane, start)` is what the rest of the engine sees of a model."""

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

from engine import attention, lean
from engine.lanecache import LaneCache, check_reuse, probe_layout
from engine.lean import LeanForward
from engine.quant import Bits, few_bits_are_faster
from engine.regime import RegimeSwitch
from engine.reuse import ReuseClass, check_reusable, classify
from engine.store import KVLayout, Lane, is_out_of_memory
from engine.types import Device, Dtype, ModelError

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FP32_SHARE = 0.5
"""fp32 weights may take this share of the free memory: the cache, few-bit copies and other programs need the rest."""


class LoadedModel:
    """A decoder model in memory. `tokenizer` is transformers' fast tokenizer, `end_ids` the tokens that end an answer.

    `bits` adds few-bit copies of the weights for decoding. `is_lean` False takes transformers' own forward pass even
    where the lean one fits.
    """

    def __init__(
        self, model: PreTrainedModel, tokenizer: Any, path: str, *, bits: Bits | None = None, is_lean: bool = True
    ) -> None:
        self._model = model
        self.tokenizer = tokenizer
        self.path = path
        self.name = Path(path).name
        self.layout: KVLayout = probe_layout(model)
        config = model.config.get_text_config()
        self.architecture = type(model).__name__
        self.context_length = int(getattr(config, "max_position_embeddings", 0) or 2048)
        self.end_ids = _end_ids(model, tokenizer)
        self.reuse: ReuseClass = classify(model.config)
        self._switch = RegimeSwitch(model, self.reuse)
        self._cache = LaneCache(config.num_hidden_layers)
        self._lean = LeanForward(model, bits) if is_lean and lean.fits(model) else None

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.layout.device

    @property
    def dtype(self) -> str:
        """Short name of the weights' number type: fp32, bf16, fp16, or int8 and int4 where decoding uses those."""
        return (self._lean and self._lean.bits) or NAMES[self.layout.dtype]

    @property
    def weights_bytes(self) -> int:
        """Bytes of all parameters, tied ones once, and of the few-bit copies."""
        own = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in self._parameters()}
        return sum(own.values()) + (self._lean.packed_bytes if self._lean else 0)

    @torch.inference_mode()
    def forward(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """Compute tokens at positions `start`... on top of the lane's first `start` tokens, writing their keys and
        values into it. Returns the last token's logits, fp32 `[vocabulary]`."""
        self._switch.use(lane.regime)
        if self._lean is not None:
            return self._lean(ids, lane, start).float()
        return self._forward_generic(torch.tensor(ids, device=self.device), lane, start)

    def _forward_generic(self, tokens: Tensor, lane: Lane, start: int) -> Tensor:
        positions = torch.arange(start, start + len(tokens), device=self.device)[None]
        self._cache.aim(lane, start)
        try:
            out = self._model(
                input_ids=tokens[None], position_ids=positions, cache=self._cache, use_cache=True, logits_to_keep=1
            )
        finally:
            self._cache.aim(None, 0)
        logits: Tensor = out.logits[0, -1]
        return logits.float()

    def _parameters(self) -> list[Tensor]:
        return [parameter.data for parameter in self._model.parameters()]

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
        number, bits = choose_dtype(dtype, where, config, weights_bytes(path))
        model, found = AutoModelForCausalLM.from_pretrained(
            path,
            config=config,
            dtype=number,
            attn_implementation=attention.NAME,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:  # whatever a foreign config or checkpoint brings transformers to raise
        if isinstance(error, ModelError) or is_out_of_memory(error):
            raise
        raise ModelError(f"{path.name} cannot be opened as a chat model. Choose another model.", str(error)) from error
    if missing := sorted(found["missing_keys"]):
        raise ModelError(f"{path.name} lacks some of its weights. Download it again.", ", ".join(missing))
    model.eval().requires_grad_(False)
    if dtype in ("int4", "int8") and not lean.fits(model):
        raise ModelError(f"{path.name} can be run in bf16 or fp32 only. Choose one of these number types.")
    loaded = LoadedModel(model.to(where), tokenizer, str(path), bits=bits)
    if not lean.fits(model):  # those that it fits are tested class by class
        check_reuse(model, loaded.layout, loaded.forward)
    return loaded


def choose_device(wish: Device) -> torch.device:
    """The device asked for, or CUDA, then MPS, then CPU. Raises ModelError where the wish is not there."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wish == "auto":
        return torch.device(next(name for name, is_there in there.items() if is_there))
    if not there[wish]:
        raise ModelError(f"This computer has no usable {wish.upper()} device. Choose the device 'auto' or 'cpu'.")
    return torch.device(wish)


def weights_bytes(path: Path) -> int:
    """Bytes of the checkpoint's files."""
    return sum(file.stat().st_size for file in path.glob("*.safetensors"))


def choose_dtype(
    wish: Dtype, device: torch.device, config: PreTrainedConfig, checkpoint_bytes: int = 0
) -> tuple[torch.dtype, Bits | None]:
    """The number type asked for; else the checkpoint's own on a GPU, and on the CPU whichever multiplies faster and
    fits, with few-bit weights for decoding beside it where those are faster.

    Raises ModelError where few-bit weights are asked for elsewhere than on the CPU.
    """
    if wish == "int4" or wish == "int8":
        if device.type != "cpu":
            raise ModelError(f"{wish} weights are for the CPU only. Choose 'auto' or bf16 on {device.type.upper()}.")
        return cpu_dtype(config, checkpoint_bytes), wish
    if wish != "auto":
        return DTYPES[wish], None
    if device.type != "cpu":
        own = getattr(config.get_text_config(), "dtype", None)
        has_bf16 = device.type != "cuda" or torch.cuda.is_bf16_supported(including_emulation=False)
        return own if own is torch.float16 else torch.bfloat16 if has_bf16 else torch.float16, None
    number = cpu_dtype(config, checkpoint_bytes)
    return number, "fitting" if few_bits_are_faster(number) else None


def default_cache_bytes(device: torch.device) -> int:
    """A share of the memory that is free now: a quarter of the computer's, half of a GPU's; at most 8 GiB."""
    on_gpu = device.type == "cuda"
    share = torch.cuda.mem_get_info(device)[0] // 2 if on_gpu else psutil.virtual_memory().available // 4
    return int(min(share, 8 * 1024**3))


def cpu_dtype(config: PreTrainedConfig, checkpoint_bytes: int) -> torch.dtype:
    """bf16 or fp32, whichever multiplies faster here; bf16 where fp32 weights would take most of the free memory."""
    own = getattr(config.get_text_config(), "dtype", None) or torch.float32
    in_fp32 = checkpoint_bytes * torch.float32.itemsize // own.itemsize
    if in_fp32 > FP32_SHARE * psutil.virtual_memory().available:
        return torch.bfloat16
    return _fastest_dtype(config.get_text_config().hidden_size)


def _fastest_dtype(width: int) -> torch.dtype:
    """bf16 or fp32, whichever multiplies faster here: products as prefill does them, 256 tokens through one layer.

    The best of ten in turn: on a busy machine single ones say little.
    """
    best = {torch.bfloat16: float("inf"), torch.float32: float("inf")}
    for _ in range(10):
        for dtype in best:
            left, right = torch.ones(256, width, dtype=dtype), torch.ones(width, width, dtype=dtype)
            start = time.perf_counter()
            left @ right
            best[dtype] = min(best[dtype], time.perf_counter() - start)
    return min(best, key=best.__getitem__)


def _end_ids(model: PreTrainedModel, tokenizer: Any) -> frozenset[int]:
    ids: set[int] = set()
    for source in (model.generation_config, model.config.get_text_config(), tokenizer):
        value = getattr(source, "eos_token_id", None)
        ids.update(value if isinstance(value, list) else [] if value is None else [value])
    return frozenset(ids)
