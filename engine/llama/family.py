"""Which decoders our own forward pass computes: families of classes, each by what it does otherwise than Llama.

`Family` is what holds for all models of a class, `Decoder` one model with the numbers of its configuration. Both are
values: `engine.llama.forward` computes what they say, and knows no class by name. Whatever a configuration says beyond
that is left to transformers' own forward pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

ALWAYS = "always"

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """The decoder layers of a class of transformers.

    `norms` says where the norms of a layer are: before attention and feed-forward, after them (but before they are
    added to the stream), or on both sides. `norms_add_one`: norms multiply with one plus their weight. `head_norms` are
    those of queries and keys: one for each head, one over all heads together, or none.

    `windows`: which layers look back over `sliding_window` tokens only: all, or those of the layer type that says so.
    `turned`: in which layers positions are turned: in all, as `no_rope_layers` lists them, or in those with a window.
    `turns_parts`: a share of each head may be turned, and the rest passed on.

    `qkv_bias`, `output_bias` and `mlp_bias` are the entries of the configuration that say whether these have biases,
    ALWAYS, or "" for never. `obeys` are the entries among MULTIPLIERS that the class follows. `is_fused`: its
    checkpoints have queries, keys and values in one matrix, and gate and up in another.
    """

    architecture: str
    norms: Literal["before", "after", "around"] = "before"
    norms_add_one: bool = False
    head_norms: Literal["none", "each", "all"] = "none"
    windows: Literal["none", "all", "typed"] = "none"
    turned: Literal["all", "listed", "windowed"] = "all"
    turns_parts: bool = False
    activation: str = "hidden_act"
    qkv_bias: str = ""
    output_bias: str = ""
    mlp_bias: str = ""
    obeys: frozenset[str] = frozenset()
    is_fused: bool = False
    scales_embedding: bool = False
    grows_queries: bool = False


MULTIPLIERS = {
    "query_pre_attn_scalar", "attention_multiplier", "attn_logit_softcapping", "final_logit_softcapping",
    "embedding_multiplier", "residual_multiplier", "logits_scaling",
}  # fmt: skip
"""Entries of a configuration that change numbers, and that most classes do not know."""

_ATTENTION, _MLP = "attention_bias", "mlp_bias"
_LLAMA = Family("LlamaForCausalLM", qkv_bias=_ATTENTION, output_bias=_ATTENTION, mlp_bias=_MLP)
_MISTRAL = Family("MistralForCausalLM", windows="all")
_GEMMA = Family(
    "GemmaForCausalLM", norms_add_one=True, scales_embedding=True, qkv_bias=_ATTENTION, output_bias=_ATTENTION
)
_GEMMA2 = replace(
    _GEMMA,
    architecture="Gemma2ForCausalLM",
    norms="around",
    windows="typed",
    activation="hidden_activation",
    obeys=frozenset({"query_pre_attn_scalar", "attn_logit_softcapping", "final_logit_softcapping"}),
)
_OLMO2 = Family("Olmo2ForCausalLM", norms="after", head_norms="all", qkv_bias=_ATTENTION, output_bias=_ATTENTION)

FAMILIES: Mapping[str, Family] = {
    "llama": _LLAMA,
    "mistral": _MISTRAL,
    "ministral": replace(_MISTRAL, architecture="MinistralForCausalLM", windows="typed"),
    "ministral3": replace(_MISTRAL, architecture="Ministral3ForCausalLM", grows_queries=True),
    "qwen2": Family("Qwen2ForCausalLM", windows="typed", qkv_bias=ALWAYS),
    "qwen3": Family(
        "Qwen3ForCausalLM", windows="typed", head_norms="each", qkv_bias=_ATTENTION, output_bias=_ATTENTION
    ),
    "gemma": _GEMMA,
    "gemma2": _GEMMA2,
    "gemma3_text": replace(
        _GEMMA2,
        architecture="Gemma3ForCausalLM",
        head_norms="each",
        obeys=frozenset({"query_pre_attn_scalar", "final_logit_softcapping"}),
    ),
    "phi3": Family("Phi3ForCausalLM", windows="all", turns_parts=True, is_fused=True),
    "smollm3": replace(_LLAMA, architecture="SmolLM3ForCausalLM", windows="typed", turned="listed"),
    "granite": replace(
        _LLAMA,
        architecture="GraniteForCausalLM",
        obeys=frozenset({"attention_multiplier", "embedding_multiplier", "residual_multiplier", "logits_scaling"}),
    ),
    "olmo2": _OLMO2,
    "olmo3": replace(_OLMO2, architecture="Olmo3ForCausalLM", windows="typed"),
    "exaone4": Family("Exaone4ForCausalLM", norms="after", head_norms="each", windows="typed", turned="windowed"),
    "seed_oss": replace(_LLAMA, architecture="SeedOssForCausalLM", output_bias="attention_out_bias"),
}
"""The families by `model_type`, as transformers' classes compute them
(https://github.com/huggingface/transformers/tree/main/src/transformers/models)."""

ACTIVATIONS = {"silu", "gelu", "gelu_pytorch_tanh"}


@dataclass(frozen=True, slots=True)
class Sizes:
    """A model's query heads and KV heads, the size `dim` of each, the epsilon of its norms, and its layers."""

    heads: int
    kv_heads: int
    dim: int
    epsilon: float
    num_layers: int


@dataclass(frozen=True, slots=True)
class Rope:
    """Rotary position codes: the frequencies of the turned numbers of a head, and what cosines and sines are multiplied
    with. `long` are the frequencies of a sequence that grows past the length at which LongRoPE switches; None where
    there is no such length."""

    frequencies: tuple[float, ...]
    scaled: float = 1.0
    long: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class LayerKind:
    """What differs from layer to layer: the tokens that a token sees (itself among them; None: all before it), and by
    which of the model's ropes positions are turned (None: not at all)."""

    window: int | None = None
    rope: str | None = ""


@dataclass(frozen=True, slots=True)
class Decoder:
    """A model as our forward pass computes it.

    `width` is the size of the residual stream, `inner` that of the feed-forward layers, `vocabulary` the number of
    tokens. `biases` are the parts of a layer that have some: "qkv", "output", "mlp". `ropes` has a position code by the
    type of layers that it is for, or one for all under "".

    Scores of attention are multiplied with `attention_scale`, and bounded by `softcap` where there is one, as logits
    are by `final_softcap`. `embedding_scale` multiplies what a token is to the first layer, `residual_scale` what each
    half of a layer adds, and logits are divided by `logits_scale`. Where `query_growth` is (beta, length), queries are
    multiplied with `1 + beta * log(1 + position // length)`.
    """

    family: Family
    sizes: Sizes
    width: int
    inner: int
    vocabulary: int
    context_length: int
    is_tied: bool
    activation: str
    biases: frozenset[str]
    ropes: Mapping[str, Rope]
    layers: tuple[LayerKind, ...]
    attention_scale: float
    softcap: float | None = None
    final_softcap: float | None = None
    embedding_scale: float = 1.0
    residual_scale: float = 1.0
    logits_scale: float = 1.0
    query_growth: tuple[float, int] | None = None
    end_ids: frozenset[int] = field(default=frozenset())

    @property
    def is_plain(self) -> bool:
        """Whether a layer is one of Llama's or Qwen's: all that `engine.llama.compiled_rows` knows."""
        ropes = list(self.ropes.values())
        return (
            self.family.norms == "before"
            and self.family.head_norms != "all"
            and self.activation == "silu"
            and set(self.layers) == {LayerKind()}
            and (len(ropes) == 1 and ropes[0].long is None and 2 * len(ropes[0].frequencies) == self.sizes.dim)
            and self.attention_scale == self.sizes.dim**-0.5
            and self.softcap is None
            and self.residual_scale == 1
            and self.query_growth is None
        )


def decoder(config: Mapping[str, Any], ropes: Mapping[str, Rope], ends: frozenset[int]) -> Decoder | None:
    """The decoder that a configuration describes; None where it says anything that our forward pass does not compute.

    Raises KeyError, ValueError or TypeError where it leaves something open or makes no sense.
    """
    family = FAMILIES.get(config["model_type"])
    if family is None or config.get("use_bidirectional_attention") or not config.get("is_causal", True):
        return None
    activation = str(config[family.activation])
    said = {key: config.get(key) if key in family.obeys else None for key in MULTIPLIERS}
    sizes, layers = _sizes(config), _layers(family, config, ropes)
    if activation not in ACTIVATIONS or layers is None or not _turn_whole_heads(family, sizes, ropes):
        return None
    width = int(config["hidden_size"])
    return Decoder(
        family=family,
        sizes=sizes,
        width=width,
        inner=int(config["intermediate_size"]),
        vocabulary=int(config["vocab_size"]),
        context_length=int(config["max_position_embeddings"]),
        is_tied=bool(config["tie_word_embeddings"]),
        activation=activation,
        biases=frozenset(_biases(family, config)),
        ropes=dict(ropes),
        layers=layers,
        attention_scale=_attention_scale(said, sizes.dim),
        softcap=said["attn_logit_softcapping"],
        final_softcap=said["final_logit_softcapping"],
        embedding_scale=float(width**0.5 if family.scales_embedding else said["embedding_multiplier"] or 1),
        residual_scale=float(1 if said["residual_multiplier"] is None else said["residual_multiplier"]),
        logits_scale=float(said["logits_scaling"] or 1),
        query_growth=_query_growth(config) if family.grows_queries else None,
        end_ids=ends,
    )


def _sizes(config: Mapping[str, Any]) -> Sizes:
    heads, width = int(config["num_attention_heads"]), int(config["hidden_size"])
    dim = int(config["head_dim"] if config["model_type"] == "qwen3" else config.get("head_dim") or width // heads)
    kv_heads = int(config["num_key_value_heads"])
    if heads % kv_heads or dim % 2:
        raise ValueError(f"{heads} heads cannot share {kv_heads} of {dim} numbers")
    return Sizes(heads, kv_heads, dim, float(config["rms_norm_eps"]), int(config["num_hidden_layers"]))


def _layers(family: Family, config: Mapping[str, Any], ropes: Mapping[str, Rope]) -> tuple[LayerKind, ...] | None:
    """What each layer sees and turns; None for a type of layers that is not known."""
    count = int(config["num_hidden_layers"])
    window = config.get("sliding_window")
    types = config.get("layer_types") or ["full_attention"] * count
    if len(types) != count or set(types) - {"full_attention", "sliding_attention"}:
        return None
    is_windowed = [
        family.windows == "all" or (family.windows == "typed" and each == "sliding_attention") for each in types
    ]
    if family.windows != "typed" and "sliding_attention" in types and not all(is_windowed):
        return None
    listed = config.get("no_rope_layers")
    kinds = []
    for index, (type_, looks_back) in enumerate(zip(types, is_windowed, strict=True)):
        is_turned = {
            "all": True,
            "listed": listed is None or bool(listed[index]),
            "windowed": window is None or looks_back,
        }[family.turned]
        rope = (type_ if type_ in ropes else "") if is_turned else None
        kinds.append(LayerKind(int(window) if looks_back and window is not None else None, rope))
    return tuple(kinds) if all(kind.rope is None or kind.rope in ropes for kind in kinds) else None


def _turn_whole_heads(family: Family, sizes: Sizes, ropes: Mapping[str, Rope]) -> bool:
    counts = {2 * len(rope.frequencies) for rope in ropes.values()}
    return all(count <= sizes.dim if family.turns_parts else count == sizes.dim for count in counts)


def _biases(family: Family, config: Mapping[str, Any]) -> Iterator[str]:
    for part, entry in (("qkv", family.qkv_bias), ("output", family.output_bias), ("mlp", family.mlp_bias)):
        if entry == ALWAYS or (entry and config.get(entry)):
            yield part


def _attention_scale(said: Mapping[str, Any], dim: int) -> float:
    if said["attention_multiplier"] is not None:
        return float(said["attention_multiplier"])
    return float((said["query_pre_attn_scalar"] or dim) ** -0.5)


def _query_growth(config: Mapping[str, Any]) -> tuple[float, int] | None:
    rope = config["rope_parameters"]
    return float(rope["llama_4_scaling_beta"]), int(rope["original_max_position_embeddings"])


def shapes(of: Decoder) -> Iterator[tuple[str, Shape]]:
    """The tensors of a checkpoint by their names, tied ones once, and their shapes."""
    yield "model.embed_tokens.weight", (of.vocabulary, of.width)
    yield "model.norm.weight", (of.width,)
    if not of.is_tied:
        yield "lm_head.weight", (of.vocabulary, of.width)
    for index in range(of.sizes.num_layers):
        for name, shape in _layer_shapes(of):
            yield f"model.layers.{index}.{name}", shape


def _layer_shapes(of: Decoder) -> Iterator[tuple[str, Shape]]:
    sizes, family = of.sizes, of.family
    queries, keys = sizes.heads * sizes.dim, sizes.kv_heads * sizes.dim
    for name in norm_names(family):
        if name:
            yield f"{name}.weight", (of.width,)
    for part, names, rows, columns in (
        ("qkv", qkv_names(family), (queries, keys, keys), of.width),
        ("output", ("self_attn.o_proj",), (of.width,), queries),
        ("mlp", gate_up_names(family), (of.inner, of.inner), of.width),
        ("mlp", ("mlp.down_proj",), (of.width,), of.inner),
    ):
        outputs = rows if len(names) == len(rows) else (sum(rows),)
        for name, size in zip(names, outputs, strict=True):
            yield f"{name}.weight", (size, columns)
            if part in of.biases:
                yield f"{name}.bias", (size,)
    if family.head_norms != "none":
        is_all = family.head_norms == "all"
        yield "self_attn.q_norm.weight", (queries if is_all else sizes.dim,)
        yield "self_attn.k_norm.weight", (keys if is_all else sizes.dim,)


def norm_names(family: Family) -> tuple[str, str, str, str]:
    """What the norms before and after attention, and before and after feed-forward, are called in a layer; "" for one
    that is not there."""
    return {
        "before": ("input_layernorm", "", "post_attention_layernorm", ""),
        "after": ("", "post_attention_layernorm", "", "post_feedforward_layernorm"),
        "around": (
            "input_layernorm",
            "post_attention_layernorm",
            "pre_feedforward_layernorm",
            "post_feedforward_layernorm",
        ),
    }[family.norms]


def qkv_names(family: Family) -> tuple[str, ...]:
    """The matrices of queries, keys and values."""
    parts = ("qkv",) if family.is_fused else ("q", "k", "v")
    return tuple(f"self_attn.{part}_proj" for part in parts)


def gate_up_names(family: Family) -> tuple[str, ...]:
    """The matrices of the gate, and of what it is multiplied with."""
    parts = ("gate_up",) if family.is_fused else ("gate", "up")
    return tuple(f"mlp.{part}_proj" for part in parts)
