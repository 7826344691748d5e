"""Models through transformers' own classes: any decoder whose keys and values can be kept in a lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel
from transformers.quantizers.auto import AutoHfQuantizer

from engine.cache.contract import without_salt
from engine.cache.store import KVLayout, Lane, is_out_of_memory
from engine.library.check import numbers_in_weights, without_marks
from engine.library.places import model_name
from engine.llama.checkpoint import end_ids
from engine.llama.forward import LlamaForward
from engine.llama.weights import Weights, placed
from engine.models import attention_hook as interface
from engine.models.decoders import described
from engine.models.lane_cache import LaneCache, check_reuse, probe_layout
from engine.models.row_by_row import RowByRow
from engine.models.support import check_reusable, classify
from engine.types import ModelError, ReuseClass
from engine.weights.quantise import Bits

GROUPED_BYTES = 16


class TransformersNetwork:
    """A model of a transformers class as a `Network`, which writes its keys and values into our lanes.

    The forward pass is the class's own. Where ours fits, and `is_fast`, it takes its place.
    `bits` adds few-bit copies of the weights for decoding, which only ours uses.
    """

    def __init__(self, model: PreTrainedModel, bits: Bits | None = None, *, is_fast: bool = True) -> None:
        self.model = model
        self._experts = Experts(model)
        self.layout: KVLayout = probe_layout(model)
        config = model.config.get_text_config()
        self.architecture = type(model).__name__
        self.context_length = longest(model.config)
        self.vocabulary = int(config.vocab_size)
        self.end_ids = _end_ids(model)
        self.reuse: ReuseClass = classify(model.config)
        self._switch = RegimeSwitch(model, self.reuse)
        self._head = getattr(model.get_output_embeddings(), "weight", None)
        self._cache = LaneCache(config.num_hidden_layers)
        self._fast = LlamaForward(weights_of(model, bits)) if is_fast and fits(model) else None

    def check_weights(self) -> None:
        """None stays in its file."""

    def round_cache(self) -> None:
        """Round keys and values to 8 bits from now on."""
        self.layout = replace(self.layout, is_rounded=True)
        if self._fast is not None:
            self._fast.layout = self.layout

    @property
    def bits(self) -> str:
        return self._fast.weights.bits if self._fast else ""

    @property
    def weights_bytes(self) -> int:
        own = {p.untyped_storage().data_ptr(): p.untyped_storage().nbytes() for p in self.model.parameters()}
        few_bits = self._fast.weights.packed if self._fast else ()
        return int(sum(own.values())) + sum(packed.nbytes for packed in few_bits)

    @property
    def fixed_step(self) -> Callable[[Tensor, Tensor, Lane, int], Tensor] | None:
        return self._fast.at if self._fast else None

    def forward(self, ids: Sequence[int] | Tensor, lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        self._switch.use(without_salt(lane.regime))
        if self._fast is not None:
            return self._fast(ids, lane, start, is_answer=is_answer)
        device = self.layout.device
        positions = torch.arange(start, start + len(ids), device=device)[None]
        self._cache.aim(lane, start)
        self._experts.use_for(len(ids))
        try:
            with RowByRow(self._head) if device.type == "cpu" and not is_answer else nullcontext():
                out = self.model(
                    input_ids=placed(ids, device)[None],
                    position_ids=positions,
                    cache=self._cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
        finally:
            self._cache.aim(None, 0)
        logits: Tensor = out.logits[0, -1]
        return logits

    @property
    def at_once(self) -> int:
        return 1 if self._fast is None else self._fast.at_once

    def steps(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        assert self._fast is not None
        return self._fast.steps(ids, lane, start)


class Experts:
    """How the experts of a mixture are computed: torch's product of groups, as transformers would, where it takes their
    matrices (rows of a multiple of 16 bytes); else one by one.

    On a GPU that product asks the processor how many tokens each expert has got, in every layer. A single token's
    experts are taken out and multiplied at once there, as transformers' `generate` does it, and nothing is asked.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        stacks = [parameter for parameter in model.parameters() if parameter.dim() == 3]
        if any(size * stack.element_size() % GROUPED_BYTES for stack in stacks for size in stack.shape[1:]):
            model.set_experts_implementation("eager")
        self._model, self._many = model, model.get_experts_implementation()
        self._one = {part: "batched_mm" if way == "grouped_mm" else way for part, way in self._many.items()}
        self._switches = model.device.type != "cpu" and bool(stacks) and self._one != self._many
        self._is_for_one = False

    def use_for(self, tokens: int) -> None:
        """Before a forward pass over so many tokens."""
        if self._switches and self._is_for_one != (tokens == 1):
            self._is_for_one = tokens == 1
            self._model.set_experts_implementation(self._one if self._is_for_one else self._many)


class RegimeSwitch:
    """Makes a model whose rotary frequencies hang on the length use those that were chosen for the whole sequence.

    Of two sets (LongRoPE) transformers takes the long one as soon as a piece reaches past the first length.
    Of a prompt that is read in pieces, the first ones would get the short set, so that their keys depended on where the
    prompt was cut. Frequencies that change past the end of the context (dynamic NTK) stay as they are: to look whether
    they must change, transformers waits for a GPU at every token. Other models are left as they are.
    """

    def __init__(self, model: nn.Module, reuse: ReuseClass) -> None:
        self._is_long = False
        for module in model.modules():
            if reuse.switch is not None and "longrope" in _rope_types(module):
                module.forward = self._wrapped(module.forward, reuse.switch)
            if reuse.limit is not None and _rope_types(module) == {"dynamic"}:
                module.rope_type = "default"  # type: ignore[assignment]

    def use(self, regime: str) -> None:
        """Choose the set for the next forward passes, by the name that `ReuseClass.regime` gave."""
        self._is_long = regime == "long"

    def _wrapped(self, forward: Callable[..., Any], switch: int) -> Callable[..., Any]:
        """The forward pass of a rotary module. The long set is had by asking for one more position, past the switch."""

        def rotary(x: Tensor, position_ids: Tensor, *args: Any, **kwargs: Any) -> Any:
            if not self._is_long:
                return forward(x, position_ids, *args, **kwargs)
            longer = position_ids.new_full((position_ids.shape[0], position_ids.shape[1] + 1), switch)
            longer[:, :-1] = position_ids
            return tuple(part[:, :-1] for part in forward(x, longer, *args, **kwargs))

        return rotary


def read_config(folder: Path) -> PreTrainedConfig:
    """The configuration of a model. Raises ModelError where its prefixes could not be reused exactly."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with without_marks(folder) as readable:
        config = AutoConfig.from_pretrained(readable, local_files_only=True, trust_remote_code=False)
    check_reusable(config)
    if quantised := _quantised(config):
        try:
            AutoHfQuantizer.from_config(quantised, pre_quantized=True).validate_environment(device_map=None)
        except Exception as error:  # whatever a method's own code raises where something that it needs is not here
            raise _refuse_quantised(folder, quantised, error) from error
    return config


def _quantised(config: PreTrainedConfig) -> Any:
    """How the weights of a folder are quantised; None where they are not."""
    return getattr(config, "quantization_config", None) or getattr(
        config.get_text_config(), "quantization_config", None
    )


def _refuse_quantised(folder: Path, quantised: Any, error: Exception) -> ModelError:
    """The error for weights that were quantised in a way that transformers cannot compute here."""
    method = quantised.get("quant_method", "an unknown way") if isinstance(quantised, dict) else "an unknown way"
    why = str(error).strip().partition("\n")[0].rstrip(".")
    return ModelError(
        f"{model_name(folder)} is quantised ({str(method)[:40]}), which cannot be computed on this computer: get the "
        "model as a GGUF file (Q4_K_M or Q8_0), or its folder in 16 bits.",
        f"{type(error).__name__}: {why}",
    )


def open_network(
    config: PreTrainedConfig, folder: Path, dtype: torch.dtype, device: torch.device, bits: Bits | None
) -> TransformersNetwork:
    """Load the weights of a folder.

    Raises ModelError where some are missing, or where a test shows that prompts read in pieces come out differently.
    """
    interface.register()
    quantised = _quantised(config)
    if not quantised:  # there, one number is a part of a byte
        _refuse_larger(config, folder)
    try:
        with without_marks(folder) as readable:
            model, found = AutoModelForCausalLM.from_pretrained(
                readable,
                config=config,
                dtype=dtype,
                attn_implementation=interface.NAME,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except Exception as error:
        if not quantised or is_out_of_memory(error):
            raise
        raise _refuse_quantised(folder, quantised, error) from error
    if missing := sorted(found["missing_keys"]):
        raise ModelError(f"{model_name(folder)} lacks some of its weights. Download it again.", ", ".join(missing))
    return _checked(model, device, bits)


def _checked(model: PreTrainedModel, device: torch.device, bits: Bits | None) -> TransformersNetwork:
    model.eval().requires_grad_(False)
    network = TransformersNetwork(model.to(device), bits)
    if not fits(model):  # those that it fits are tested class by class
        check_reuse(model, network.layout, torch.inference_mode()(network.forward))
    return network


def describe(config: PreTrainedConfig) -> tuple[type[PreTrainedModel], dict[str, tuple[int, ...]]]:
    """The class of a model, and the shapes of all its tensors, tied ones once. Raises ModelError where its prefixes
    could not be reused exactly."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    check_reusable(config)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    tied = model.all_tied_weights_keys
    return type(model), {name: tuple(tensor.shape) for name, tensor in model.state_dict().items() if name not in tied}


def network_of(
    kind: type[PreTrainedModel],
    config: PreTrainedConfig,
    tensors: dict[str, Tensor],
    dtype: torch.dtype,
    device: torch.device,
) -> TransformersNetwork:
    """A model of tensors that are in memory already; they become its own. Raises ModelError where a test shows that
    prompts read in pieces come out differently."""
    interface.register()
    model = kind.from_pretrained(
        None, config=config, state_dict=tensors, dtype=dtype, attn_implementation=interface.NAME
    )
    return _checked(model, device, None)


def longest(config: PreTrainedConfig) -> int:
    """How many tokens a model reads."""
    return int(getattr(config.get_text_config(), "max_position_embeddings", 0) or 2048)


def numbers_in_token(config: PreTrainedConfig) -> int:
    """How many numbers the keys and values of a token are, as far as a configuration tells: where layers share them or
    compress them, it is less."""
    text = config.get_text_config()
    kv_heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    dim = _said(text, "head_dim") or text.hidden_size // text.num_attention_heads
    return int(2 * text.num_hidden_layers * kv_heads * dim)


def _said(config: PreTrainedConfig, name: str) -> Any:
    """An entry of a configuration; None where it is not there, or another one for each layer."""
    try:
        return getattr(config, name, None)
    except RuntimeError:
        return None


def _refuse_larger(config: PreTrainedConfig, folder: Path) -> None:
    """Raise ModelError where the class would make more numbers than the files can hold, before it does.

    transformers makes what it misses in the files, of any size, and only then says what was missing. Tied matrices,
    which the files hold once, may be counted twice.
    """
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, attn_implementation=interface.NAME)
    made = sum(parameter.numel() for parameter in model.parameters())
    if made > 2 * numbers_in_weights(folder):
        raise ModelError(
            f"The config.json in {model_name(folder)} describes a larger model than its weights are: the two do not "
            "belong together. Download the model again.",
            f"{type(model).__name__}: {made:,} numbers",
        )


def fits(model: PreTrainedModel) -> bool:
    """Whether our own forward pass computes what the model's own does."""
    found = described(model.config)
    return found is not None and type(model).__name__ == found[0].family.architecture


def weights_of(model: Any, bits: Bits | None) -> Weights:
    """The weights of a model that our forward pass fits. The model's own become views of the fused ones."""
    found = described(model.config)
    assert found is not None
    return Weights(found[0], dict(model.named_parameters()), bits)


def _end_ids(model: PreTrainedModel) -> frozenset[int]:
    sources = (model.generation_config, model.config.get_text_config())
    return frozenset().union(*(end_ids(getattr(source, "eos_token_id", None)) for source in sources))


def _rope_types(module: nn.Module) -> set[str]:
    """The kinds of a rotary module, one or one for each type of layer; none for other modules."""
    kinds = getattr(module, "rope_type", None)
    return set(kinds.values()) if isinstance(kinds, dict) else {str(kinds)}
