"""Weights, tokenizer, device and number type; `forward(ids, lane, start)` is what the rest of the engine sees."""

from __future__ import annotations

import math
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import psutil
import torch
from torch import Tensor

from engine.cache.store import KVLayout, Lane, is_out_of_memory
from engine.library.check import tokenizer_class
from engine.llama import checkpoint as plain
from engine.models.support import NO_NUMBERS, ReuseClass
from engine.prompt.token_text import TokenText
from engine.types import Device, Dtype, ModelError
from engine.weights.fastest import fastest
from engine.weights.few_bits import few_bits_are_faster
from engine.weights.quantise import Bits

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FAST_TOKENIZERS = {"PreTrainedTokenizerFast", "TokenizersBackend"}
LIBRARIES = {"engine", "torch", "transformers", "tokenizers", "safetensors", "numpy"}
"""Without one of these nothing runs: that it cannot be imported is never a model's fault."""
OUR_MISTAKES = (AttributeError, NameError, AssertionError, TypeError)
"""Errors that, raised by our own code, are mistakes in it."""
ENGINE = Path(__file__).parent.parent

FP32_SHARE = 0.5
"""fp32 weights may take this share of the free memory: the cache, few-bit copies and other programs need the rest."""

_LOADING = threading.Lock()
"""Held while a model is read: two engines of one process must not import transformers at the same time either."""

WIDEST_MEASURED = 8192
"""A product of a wider layer would take gigabytes, and which number type is faster does not hang on it."""


class Network(Protocol):
    """Weights and the forward pass over them, without a tokenizer. `end_ids` are the tokens that end an answer,
    `vocabulary` is the number of all that can be read."""

    layout: KVLayout
    architecture: str
    context_length: int
    vocabulary: int
    end_ids: frozenset[int]
    reuse: ReuseClass

    @property
    def bits(self) -> str:
        """What most of the few-bit copies are: "int4", "int8", or "" without them."""

    @property
    def weights_bytes(self) -> int:
        """Bytes of all weights, tied ones once, and of the few-bit copies."""

    def forward(self, ids: Sequence[int], lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        """Logits `[vocabulary]` after the last of `ids`, which stand behind the lane's first `start`. `is_answer`: they
        were chosen one by one, and few-bit weights may be used."""


class LoadedModel:
    """A decoder model in memory: its network and transformers' fast tokenizer. `end_ids` are the tokens that end an
    answer, `special_ids` these and all others that stand for no text."""

    def __init__(self, network: Network, tokenizer: Any, path: str) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.text = TokenText(tokenizer)
        self.path = path
        self.name = Path(path).name
        self.layout = network.layout
        self.architecture = network.architecture
        self.context_length = network.context_length
        self.vocabulary = network.vocabulary
        self.reuse = network.reuse
        end = getattr(tokenizer, "eos_token_id", None)
        self.end_ids = network.end_ids | (frozenset() if end is None else {end})
        self.special_ids = self.end_ids | _special_ids(tokenizer)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.layout.device

    @property
    def dtype(self) -> str:
        """Short name of the weights' number type: fp32, bf16, fp16, or int8 and int4 where decoding uses those."""
        return self.network.bits or NAMES[self.layout.dtype]

    @property
    def weights_bytes(self) -> int:
        """Bytes of all weights, tied ones once, and of the few-bit copies."""
        return self.network.weights_bytes

    @torch.inference_mode()
    def forward(self, ids: Sequence[int], lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        """Compute tokens at positions `start`... on top of the lane's first `start` tokens, writing their keys and
        values into it. Returns the last token's logits, fp32 `[vocabulary]`. `is_answer`: see `Network.forward`.

        Raises ModelError where none of them is a number to choose by: what was written then is of no use either, and
        the next token would be any.
        """
        logits = self.network.forward(ids, lane, start, is_answer=is_answer).float()
        if not math.isfinite(logits.max()):  # NaN anywhere is the largest
            raise ModelError(NO_NUMBERS, f"{self.architecture} in {self.dtype} at {start} + {len(ids)} tokens")
        return logits

    def synchronize(self) -> None:
        """Wait until the device has done everything, so that a clock tells the truth."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()

    def decode(self, ids: Sequence[int]) -> str:
        """Text of generated tokens, without the special ones."""
        return self.text.plain(ids)


def _special_ids(tokenizer: Any) -> frozenset[int]:
    """The tokens that a tokenizer calls special: those it names, and those that a template puts around messages."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return frozenset(getattr(tokenizer, "all_special_ids", ())) | {id for id, token in added.items() if token.special}


def load(path: Path, device: Device, dtype: Dtype) -> LoadedModel:
    """Load a checked model folder. Raises ModelError for what cannot be opened or cached exactly; a fault of
    Headstart's own is raised as it is."""
    where = choose_device(device)
    try:
        with _LOADING:
            network, tokenizer = _open(path, where, dtype)
            return LoadedModel(network, tokenizer, str(path))
    except Exception as error:  # whatever a foreign config or checkpoint brings transformers to raise
        if isinstance(error, ModelError) or is_out_of_memory(error) or _is_our_fault(error):
            raise
        detail = "".join(traceback.format_exception(error))
        raise ModelError(f"{path.name} cannot be opened as a chat model. Choose another model.", detail) from error


def _is_our_fault(error: Exception) -> bool:
    """Whether Headstart or its installation is to blame, not the model: a library of ours cannot be imported, or our
    own code made a mistake that no model file explains."""
    if isinstance(error, ImportError):
        return (error.name or "").partition(".")[0] in LIBRARIES
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, OUR_MISTAKES) and bool(frames) and ENGINE in Path(frames[-1].filename).parents


def _open(path: Path, where: torch.device, dtype: Dtype) -> tuple[Network, Any]:
    """Network and tokenizer. A plain model's are read side by side: the tokenizer is Python's work, the weights are
    torch's. Only the tokenizer's thread uses transformers then. Two threads must never import it at the same time: it
    replaces itself by another module when its import ends, and the second thread sees half of it."""
    if (config := plain.read_config(path)) is not None:
        with ThreadPoolExecutor(1) as beside:
            tokenizer = beside.submit(_open_tokenizer, path)
            network = _open_plain_network(config, path, where, dtype)
        if network is not None:
            return network, tokenizer.result()
    return _open_network(path, where, dtype), _open_tokenizer(path)


def _open_plain_network(
    config: plain.PlainConfig, path: Path, where: torch.device, dtype: Dtype
) -> plain.PlainNetwork | None:
    """None where the weights are not what the config promises: then transformers opens it, or says why not."""
    number, bits = choose_dtype(dtype, where, config.width, config.dtype, _checkpoint_bytes(path))
    try:
        return plain.PlainNetwork(config, path, number, where, bits)
    except plain.NotPlainError:
        return None


def _open_network(path: Path, where: torch.device, dtype: Dtype) -> Network:
    from engine.models import (
        from_transformers as network,  # only here: importing transformers' model classes takes seconds
    )

    found = network.read_config(path)
    text = found.get_text_config()
    own = getattr(text, "dtype", None) or torch.float32
    number, bits = choose_dtype(dtype, where, text.hidden_size, own, _checkpoint_bytes(path))
    if not network.config_fits(found):
        if dtype in ("int4", "int8"):
            raise ModelError(f"{path.name} can be run in bf16 or fp32 only. Choose one of these number types.")
        bits = None
    return network.open_network(found, path, number, where, bits)


def _open_tokenizer(path: Path) -> Any:
    """The fast tokenizer of a folder; through transformers' list of classes only where it asks for one of its own."""
    if (path / "tokenizer.json").is_file() and tokenizer_class(path) in FAST_TOKENIZERS:
        from transformers import PreTrainedTokenizerFast

        return PreTrainedTokenizerFast.from_pretrained(path, local_files_only=True)
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)


def choose_device(wish: Device) -> torch.device:
    """The device asked for, or CUDA, then MPS, then CPU. Raises ModelError where the wish is not there."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wish == "auto":
        return torch.device(next(name for name, is_there in there.items() if is_there))
    if not there[wish]:
        raise ModelError(f"This computer has no usable {wish.upper()} device. Choose the device 'auto' or 'cpu'.")
    return torch.device(wish)


def choose_dtype(
    wish: Dtype, device: torch.device, width: int, own: torch.dtype, checkpoint_bytes: int = 0
) -> tuple[torch.dtype, Bits | None]:
    """The number type asked for; else the checkpoint's `own` on a GPU, and on the CPU whichever multiplies faster and
    fits, with few-bit weights for decoding beside it where those are faster. `width` is the model's hidden size.

    Raises ModelError where few-bit weights are asked for elsewhere than on the CPU.
    """
    if wish == "int4" or wish == "int8":
        if device.type != "cpu":
            raise ModelError(f"{wish} weights are for the CPU only. Choose 'auto' or bf16 on {device.type.upper()}.")
        return cpu_dtype(width, own, checkpoint_bytes), wish
    if wish != "auto":
        return DTYPES[wish], None
    if device.type != "cpu":
        has_bf16 = device.type != "cuda" or torch.cuda.is_bf16_supported(including_emulation=False)
        return own if own is torch.float16 else torch.bfloat16 if has_bf16 else torch.float16, None
    number = cpu_dtype(width, own, checkpoint_bytes)
    return number, "fitting" if few_bits_are_faster(number) else None


def cpu_dtype(width: int, own: torch.dtype, checkpoint_bytes: int) -> torch.dtype:
    """bf16 or fp32, whichever multiplies faster here; bf16 where fp32 weights would take most of the free memory."""
    in_fp32 = checkpoint_bytes * torch.float32.itemsize // own.itemsize
    if in_fp32 > FP32_SHARE * psutil.virtual_memory().available:
        return torch.bfloat16
    return _fastest_dtype(width)


def default_cache_bytes(device: torch.device) -> int:
    """A share of the memory that is free now: a quarter of the computer's, half of a GPU's; at most 8 GiB."""
    on_gpu = device.type == "cuda"
    share = torch.cuda.mem_get_info(device)[0] // 2 if on_gpu else psutil.virtual_memory().available // 4
    return int(min(share, 8 * 1024**3))


def _checkpoint_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.glob("*.safetensors"))


def _fastest_dtype(width: int) -> torch.dtype:
    """bf16 or fp32, whichever multiplies faster here: products as prefill does them, 256 tokens through one layer."""

    width = min(width, WIDEST_MEASURED)

    def product(dtype: torch.dtype) -> Callable[[], Tensor]:
        return partial(torch.mm, torch.ones(256, width, dtype=dtype), torch.ones(width, width, dtype=dtype))

    return fastest({dtype: product(dtype) for dtype in (torch.bfloat16, torch.float32)}, rounds=10)
