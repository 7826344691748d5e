"""A model in memory: its weights, its tokenizer, and one `forward(ids, lane, start)` for the rest of the engine.

`load` opens a folder (`engine.models.from_folder`) or a GGUF file (`engine.models.from_gguf`).
"""

from __future__ import annotations

import json
import math
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.cache.store import KVLayout, Lane, is_out_of_memory
from engine.library.check import LEAST_POSITIONS, read_json, tokenizer_class, without_marks
from engine.library.child_process import Progress
from engine.library.places import model_name
from engine.models import from_folder, from_gguf
from engine.models.choice import NAMES, choose_device
from engine.models.support import NO_NUMBERS
from engine.prompt.token_text import TokenText
from engine.types import Device, Dtype, HeadstartError, KVBits, ModelError, ModelFit, ReuseClass

FAST_TOKENIZERS = {"PreTrainedTokenizerFast", "TokenizersBackend"}
MISTRALS = {"mistral", "mistral3", "ministral", "ministral3", "pixtral", "voxtral"}
WRONG_SPLIT = json.dumps(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|")[1:-1]
"""How the rule begins by which Llama-3 splits a text, as tokenizer.json writes it."""
MISTRAL_MARK = '"[INST]"'
LIBRARIES = {"engine", "torch", "transformers", "tokenizers", "safetensors", "numpy"}
"""Without one of these nothing runs: that it cannot be imported is never a model's fault."""
OUR_MISTAKES = (AttributeError, NameError, AssertionError, TypeError)
"""Errors that, raised by our own code, are mistakes in it."""
ENGINE = Path(sys._getframe().f_code.co_filename).parent.parent
"""The engine as tracebacks name it, which in a frozen Headstart is not where `__file__` says."""

_LOADING = threading.Lock()
"""Held while a model is read: two engines of one process must not import transformers at the same time either."""


FixedStep = Callable[[Tensor, Tensor, Lane, int], Tensor]
"""A token `[1]`, its position `[1]`, a lane, over how many tokens of it: the logits (`LlamaForward.at`)."""


class Network(Protocol):
    """Weights and the forward pass over them, without a tokenizer.

    `vocabulary` is the number of tokens that can be read, `end_ids` are those that end an answer.
    """

    layout: KVLayout
    architecture: str
    context_length: int
    vocabulary: int
    end_ids: frozenset[int]
    reuse: ReuseClass

    def check_weights(self) -> None:
        """Raise ModelError where a weight is no number that stays in its file, and so was not looked at when the model
        was opened."""

    def round_cache(self) -> None:
        """Round keys and values to 8 bits from now on."""

    @property
    def bits(self) -> str:
        """What most of the few-bit copies are: "int4", "int8", or "" without them."""

    @property
    def weights_bytes(self) -> int:
        """Bytes of all weights, tied ones once, and of the few-bit copies."""

    @property
    def fixed_step(self) -> FixedStep | None:
        """What computes one token with the same shapes and addresses wherever it stands; None where nothing does."""

    def forward(self, ids: Sequence[int] | Tensor, lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        """Compute `ids` as the tokens behind the lane's first `start`, and write their keys and values into the lane.

        Returns the logits `[vocabulary]` after the last of them. `is_answer` says that they were chosen one by one by
        this model: then few-bit weights may be used. A prompt is always read with the full ones.
        """

    @property
    def at_once(self) -> int:
        """How many tokens `steps` computes with the same numbers, to the last bit, as one after the other; 1 where it
        cannot be used."""

    def steps(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """As `forward` of an answer, for at most `at_once` tokens: the logits `[n, vocabulary]` after each of them."""


class LoadedModel:
    """A decoder model in memory: its network and transformers' fast tokenizer.

    `end_ids` are the tokens that end an answer, `special_ids` these and all others that stand for no text.
    """

    def __init__(self, network: Network, tokenizer: Any, path: str) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.path = path
        self.name = model_name(Path(path))
        self.layout = network.layout
        self.architecture = network.architecture
        self.context_length = network.context_length
        self.vocabulary = network.vocabulary
        self.reuse = network.reuse
        end = getattr(tokenizer, "eos_token_id", None)
        self.end_ids = network.end_ids | (frozenset() if end is None else {end})
        self.special_ids = self.end_ids | _special_ids(tokenizer)
        self._threads = 0

    @cached_property
    def text(self) -> TokenText:
        """The text of ids."""
        return TokenText(self.tokenizer)

    @cached_property
    def unknown_ids(self) -> frozenset[int]:
        """Rows of the vocabulary for which the tokenizer has no token."""
        backend = self.tokenizer.backend_tokenizer
        count = backend.get_vocab_size(with_added_tokens=True)
        behind = [index for index in range(count, self.vocabulary) if backend.id_to_token(index) is not None]
        first = 0 if behind else count  # as many tokens as rows below: there are no holes, and no need to look for them
        return frozenset(index for index in range(first, self.vocabulary) if backend.id_to_token(index) is None)

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
        """What `Network.forward` does, with the logits in fp32 on the CPU, where a token is chosen of them: to fetch
        them is the one time that a GPU is waited for.

        Raises ModelError where the largest of them is NaN or infinite: the next token would be a random one, and what
        was written into the lane is of no use either. It says so where the file's weights are to blame.
        """
        self._keep_threads()
        logits = self.network.forward(ids, lane, start, is_answer=is_answer).cpu().float()
        return self.checked(logits, start + len(ids))

    @property
    def at_once(self) -> int:
        """As in `Network`."""
        return self.network.at_once

    @torch.inference_mode()
    def steps(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """What `Network.steps` does, in fp32 on the CPU. Rows are not `checked`: which of them are used is the caller's
        choice."""
        self._keep_threads()
        return self.network.steps(ids, lane, start).cpu().float()

    def checked(self, logits: Tensor, length: int) -> Tensor:
        """The logits `[vocabulary]` behind so many tokens as they are. Raises as `forward` does."""
        if not math.isfinite(logits.max()):  # NaN anywhere is the largest
            self.network.check_weights()
            raise ModelError(NO_NUMBERS, f"{self.architecture} in {self.dtype} behind {length} tokens")
        return logits

    @torch.inference_mode()
    def launch(self, token: Tensor, lane: Lane, position: int) -> Tensor:
        """The logits behind one token `[1]` of an answer, as `forward` computes them. Both stay on the device, and
        nothing is waited for: whether they are numbers is not looked at either."""
        ids = token.tolist() if self.device.type == "cpu" else token
        return self.network.forward(ids, lane, position, is_answer=True)

    def _keep_threads(self) -> None:
        """Compute with as many threads as in the first pass: products may hang on it."""
        self._threads = self._threads or torch.get_num_threads()
        if torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)

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


def load(
    path: Path,
    device: Device,
    dtype: Dtype,
    progress: Progress = lambda stage, fraction: None,
    context: int | None = None,
    kv_bits: KVBits = 16,
) -> LoadedModel:
    """Load a checked model folder or GGUF file, for conversations of up to `context` tokens, whose keys and values are
    cached in `kv_bits`. `progress` hears what is being read, and what it raises ends it.

    Raises ModelError for what cannot be opened or cached exactly, OutOfMemoryError where it does not fit into memory; a
    fault of Headstart's own is raised as it is.
    """
    where = choose_device(device)
    with _explained(path), _LOADING:
        network, tokenizer = _open(path, where, dtype, progress, context)
        if network.context_length < LEAST_POSITIONS:
            raise ModelError(f"{model_name(path)} reads {network.context_length} tokens only. Choose another model.")
        if kv_bits == 8:
            network.round_cache()
        return LoadedModel(network, tokenizer, str(path))


def fit(path: Path, device: Device, dtype: Dtype, context: int | None = None) -> ModelFit:
    """What a checked model will take, of what there is: by its header or configuration, without reading its weights.
    Raises ModelError for what cannot be opened."""
    where = choose_device(device)
    with _explained(path), _LOADING:
        if path.is_file():
            return from_gguf.plan(path, where, dtype, context).fit
        return from_folder.plan(path, where, dtype, context).fit


def tokenizer_alone(path: Path) -> Any:
    """The tokenizer of a model folder, without reading its weights. Raises ModelError."""
    with _explained(path), _LOADING:
        return _open_tokenizer(path)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Raise ModelError for whatever a foreign config or checkpoint brings transformers to raise."""
    try:
        yield
    except Exception as error:
        if isinstance(error, HeadstartError) or is_out_of_memory(error) or _is_our_fault(error):
            raise
        detail = "".join(traceback.format_exception(error))
        raise ModelError(
            f"{model_name(path)} cannot be opened as a chat model. Choose another model.", detail
        ) from error


def _is_our_fault(error: Exception) -> bool:
    """Whether Headstart or its installation is to blame, not the model: a library of ours cannot be imported, or our
    own code made a mistake that no model file explains."""
    if isinstance(error, ImportError):
        return (error.name or "").partition(".")[0] in LIBRARIES
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, OUR_MISTAKES) and bool(frames) and ENGINE in Path(frames[-1].filename).parents


def _open(
    path: Path, where: torch.device, dtype: Dtype, progress: Progress, context: int | None
) -> tuple[Network, Any]:
    """Network and tokenizer, read side by side: the tokenizer is Python's work, the weights are torch's.

    Only the tokenizer's thread uses transformers until it is done. Two threads must never import it at the same time:
    it replaces itself by another module when its import ends, and the second thread sees half of it.
    """
    opened, open_tokenizer = (
        (from_gguf.open_network, from_gguf.open_tokenizer)
        if path.is_file()
        else (from_folder.open_network, _open_tokenizer)
    )
    with ThreadPoolExecutor(1) as beside:
        tokenizer = beside.submit(open_tokenizer, path)

        def told(stage: str, fraction: float | None) -> None:
            if tokenizer.done():
                tokenizer.result()  # where it cannot be made, weights need not be read
            progress(stage, fraction)

        network = opened(path, where, dtype, told, lambda: wait([tokenizer]), context)
    return network, tokenizer.result()


def _open_tokenizer(path: Path) -> Any:
    """The fast tokenizer of a folder; through transformers' list of classes only where it asks for one of its own."""
    with without_marks(path) as folder:
        if (folder / "tokenizer.json").is_file() and tokenizer_class(folder) in FAST_TOKENIZERS:
            from transformers import PreTrainedTokenizerFast

            return PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True, **_repair(folder))
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False, **_repair(folder))


def _repair(folder: Path) -> dict[str, bool]:
    """What a tokenizer that was exported wrong needs to be told to transformers.

    Mistral's models of 2025 were exported with the rule by which Llama-3 splits a text into words, in place of their
    own (transformers' `fix_mistral_regex` says more). They are known by that rule beside Mistral's own marks: a model
    of Mistral's form that really has Llama-3's tokenizer keeps it.
    """
    try:
        model_type = read_json(folder / "config.json").get("model_type")
        text = (folder / "tokenizer.json").read_text(encoding="utf-8")
    except (OSError, ValueError, ModelError):
        return {}
    is_wrong = model_type in MISTRALS and WRONG_SPLIT in text and MISTRAL_MARK in text
    return {"fix_mistral_regex": True} if is_wrong else {}
