"""Models that cannot be cached exactly are not opened, and the sentence says what to do instead.

Three doors: the config, before any weight is read; the shapes of one token; a prompt read in two pieces.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, BertConfig, PreTrainedModel

from engine.cache.store import Lane
from engine.models import attention_hook as interface
from engine.models import from_transformers as network
from engine.models import lane_cache as lanecache
from engine.models import support as reuse
from engine.models.lane_cache import CHECK_SPLIT, check_reuse, probe_layout
from engine.models.loaded import LoadedModel, load
from engine.models.support import check_reusable, classify
from engine.types import ModelError
from engine.weights.from_safetensors import Stored
from tests.engine.model_table import table
from tests.engine.model_zoo import CASES, REFUSED, ROPE_CASES, ModelCase, RefusedCase
from tests.engine.tiny_models import make_folder, make_model, make_tokenizer

REFUSALS = [pytest.param(case, id=case.name) for case in REFUSED]


def build(config: object) -> PreTrainedModel:
    """A model with random weights that attends as ours do."""
    interface.register()
    torch.manual_seed(7)
    return AutoModelForCausalLM.from_config(config, attn_implementation=interface.NAME).eval().requires_grad_(False)


def case_named(name: str) -> ModelCase:
    """A class of the zoo."""
    return next(case for case in CASES if case.name == name)


@pytest.mark.parametrize("case", REFUSALS)
def test_config_is_refused_with_a_sentence(case: RefusedCase) -> None:
    """ENGINE_BUGS 33: a class that cannot be reused says so, in place of reading everything anew in silence."""
    with pytest.raises(ModelError) as caught:
        check_reusable(case.config())
    assert str(caught.value) == case.reason + reuse.CHOOSE
    assert caught.value.detail


@pytest.mark.parametrize("case", {case.reason: case for case in REFUSED}.values(), ids=lambda case: case.name)
def test_folder_is_refused_before_any_weight_is_read(case: RefusedCase, tmp_path: Path) -> None:
    case.config().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=reuse.CHOOSE.replace(".", r"\.")):
        load(tmp_path, "cpu", "fp32")


def test_a_sentence_says_what_to_do() -> None:
    reasons = {case.reason for case in REFUSED} | {reuse.POSITIONS, reuse.NOT_EXACT}
    assert all(reason.endswith(". ") for reason in reasons)
    assert reuse.CHOOSE.startswith("Choose another chat model")


@pytest.mark.parametrize(
    "parameters",
    [
        {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0] * 4, "long_factor": [2.0] * 4},
        {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
    ],
)
def test_two_kinds_of_special_positions_in_one_model_are_refused(parameters: dict[str, object]) -> None:
    config = case_named("Gemma-3").config()
    other = "dynamic" if parameters["rope_type"] == "longrope" else "longrope"
    config.rope_parameters = {"full_attention": parameters, "sliding_attention": {"rope_type": other}}
    assert classify(config).sentence == reuse.POSITIONS + reuse.CHOOSE


def test_a_model_that_is_no_decoder_is_refused_by_its_first_token() -> None:
    """Its config says nothing; its attention looks both ways."""
    config = BertConfig(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
    assert classify(config).name == "full"
    with pytest.raises(ModelError) as caught:
        probe_layout(build(config))
    assert str(caught.value) == reuse.OWN_ATTENTION + reuse.CHOOSE
    assert "BertLMHeadModel" in caught.value.detail


Forward = Callable[[Sequence[int], Lane, int], Tensor]


def forgets_the_past(model: LoadedModel) -> Forward:
    """A running state that is lost between two pieces looks like this."""
    return lambda ids, lane, start: model.forward(ids, Lane(lane.layout, len(ids)), 0)


def remembers_another_past(model: LoadedModel) -> Forward:
    """A wrong block looks like this: the first piece was computed from other tokens."""
    return lambda ids, lane, start: model.forward(ids[::-1] if len(ids) == CHECK_SPLIT else ids, lane, start)


def attends_otherwise(model: LoadedModel) -> Forward:
    """The same in pieces and at once, but not what the class computes: a sink or a scale that is left out."""

    def forward(ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        return model.forward([ids[0], *ids[1:-1], (ids[-1] + 1) % 300], lane, start)

    return forward


FAULTS = (forgets_the_past, remembers_another_past, attends_otherwise)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_loaded_model_is_found(tiny: LoadedModel, fault: Callable[[LoadedModel], Forward]) -> None:
    check_reuse(tiny.network.model, tiny.layout, tiny.forward)
    with pytest.raises(ModelError) as caught:
        check_reuse(tiny.network.model, tiny.layout, fault(tiny))
    assert str(caught.value) == reuse.NOT_EXACT + reuse.CHOOSE
    assert "off by" in caught.value.detail


def test_nan_counts_as_a_fault(tiny: LoadedModel) -> None:
    with pytest.raises(ModelError, match="two pieces"):
        check_reuse(
            tiny.network.model, tiny.layout, lambda ids, lane, start: tiny.forward(ids, lane, start) * float("nan")
        )


def test_check_leaves_the_attention_as_it_was(tiny: LoadedModel) -> None:
    check_reuse(tiny.network.model, tiny.layout, tiny.forward)
    assert tiny.network.model.config._attn_implementation == interface.NAME


@pytest.mark.parametrize("error", [MemoryError("full"), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_a_lack_of_memory_is_not_the_class_fault(tiny: LoadedModel, error: Exception) -> None:
    def forward(ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        raise error

    with pytest.raises(type(error)):
        check_reuse(tiny.network.model, tiny.layout, forward)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_few_bits_pass_the_check_and_faults_do_not(dtype: torch.dtype) -> None:
    model = make_model(dtype=dtype)
    check_reuse(model.network.model, model.layout, model.forward)
    for fault in FAULTS:
        with pytest.raises(ModelError, match="two pieces"):
            check_reuse(model.network.model, model.layout, fault(model))


@pytest.mark.parametrize("failures", [1, 2])
def test_one_prompt_of_three_may_come_out_differently(tiny: LoadedModel, failures: int) -> None:
    """In bf16 a near-tie between experts falls the other way now and then; two of three are a fault."""
    prompts = iter(range(100))

    def forward(ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        is_wrong = start == CHECK_SPLIT and next(prompts) < failures
        return tiny.forward(ids, lane, start) + (torch.arange(340.0) if is_wrong else 0)

    if failures == 1:
        check_reuse(tiny.network.model, tiny.layout, forward)
    else:
        with pytest.raises(ModelError, match="two pieces"):
            check_reuse(tiny.network.model, tiny.layout, forward)


def test_a_wrapper_with_images_opens_as_its_text_model(tmp_path: Path) -> None:
    """A checkpoint of the whole Llama-4 gives the text model its weights; the part for images is left out."""
    whole = AutoModelForImageTextToText.from_config(case_named("Llama-4 with images").config())
    whole.save_pretrained(tmp_path)
    make_tokenizer().save_pretrained(tmp_path)
    opened = load(tmp_path, "cpu", "fp32")
    assert opened.architecture == "Llama4ForCausalLM"
    expected = {name.removeprefix("language_model."): tensor for name, tensor in whole.state_dict().items()}
    for name, tensor in opened.network.model.state_dict().items():
        torch.testing.assert_close(tensor, expected[name], rtol=0, atol=0)


def test_loading_checks_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanecache, "SLACK", {torch.float32: (1e-30, 1e-30)})
    monkeypatch.setattr("engine.llama.family.FAMILIES", {})
    with pytest.raises(ModelError, match="two pieces"):
        load(make_folder(tmp_path), "cpu", "fp32")


@pytest.mark.parametrize(
    "how",
    [
        {"quant_method": "gptq", "bits": 4, "group_size": 128},
        {"quant_method": "awq", "bits": 4, "group_size": 128},
        {"quant_method": "bitsandbytes", "load_in_4bit": True},
        {"quant_method": "fp8", "activation_scheme": "dynamic"},
        {"quant_method": "compressed-tensors", "format": "float-quantized"},
        {"quant_method": "a new one"},
        {"bits": 4},
    ],
    ids=lambda how: str(how.get("quant_method")),
)
def test_quantised_folders_are_refused_with_what_to_get_instead(tmp_path: Path, how: dict[str, object]) -> None:
    """Where transformers cannot compute them here: a library of theirs is missing, or the graphics card."""
    config = make_folder(tmp_path) / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"quantization_config": how}))
    method = str(how.get("quant_method", "an unknown way"))
    with pytest.raises(
        ModelError, match=rf"is quantised \({method}\), which cannot .* as a GGUF file \(Q4_K_M or Q8_0\)"
    ):
        load(tmp_path, "cpu", "auto")


def test_a_checkpoint_without_some_weights_is_refused(tmp_path: Path) -> None:
    file = make_folder(tmp_path) / "model.safetensors"
    weights = load_file(file)
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, file, metadata={"format": "pt"})
    with pytest.raises(ModelError):
        load(tmp_path, "cpu", "fp32")


def test_weights_of_another_shape_are_refused(tmp_path: Path) -> None:
    file = make_folder(tmp_path) / "model.safetensors"
    weights = load_file(file)
    weights["model.layers.1.mlp.up_proj.weight"] = weights["model.layers.1.mlp.up_proj.weight"][:-1].contiguous()
    save_file(weights, file, metadata={"format": "pt"})
    with pytest.raises(ModelError, match="cannot be opened"):
        load(tmp_path, "cpu", "fp32")


@pytest.mark.parametrize("values", [{"num_attention_heads": 3}, {"hidden_size": "wide"}, {"hidden_act": "nonsense"}])
def test_a_config_that_makes_no_sense_is_refused(tmp_path: Path, values: dict[str, object]) -> None:
    config = make_folder(tmp_path) / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), **values}))
    with pytest.raises(ModelError, match="cannot be opened"):
        load(tmp_path, "cpu", "fp32")


def test_no_memory_for_the_weights_is_not_the_models_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    folder = make_folder(tmp_path)
    monkeypatch.setattr(Stored, "read", refuse)
    with pytest.raises(RuntimeError):
        load(folder, "cpu", "fp32")
    monkeypatch.setattr("engine.llama.family.FAMILIES", {})
    monkeypatch.setattr(network.AutoModelForCausalLM, "from_pretrained", refuse)
    with pytest.raises(RuntimeError):
        load(folder, "cpu", "fp32")


def test_the_table_names_every_class() -> None:
    lines = table().splitlines()
    assert all(line.count("|") == 5 for line in lines)
    for case in CASES + ROPE_CASES:
        kinds = {case.reuse} if classify(case.config()).switch is None else {case.reuse, "refused"}
        assert any(case.name in line and any(f"| {kind} |" in line for kind in kinds) for line in lines)
    for refused in REFUSED:
        assert any(refused.name in line and "| refused |" in line for line in lines)


def test_readme_shows_the_table() -> None:
    readme = Path(__file__).parents[3] / "README.md"
    assert table() in readme.read_text(encoding="utf-8")


ODD_VALUES: list[object] = [None, 7, 0, -1, 1.5, "x", "int8", True, [], [1], {}, {"a": 1}]
ODD = [
    *[("dtype", value) for value in ODD_VALUES],
    *[("hidden_size", value) for value in ODD_VALUES[:6]],
    *[("max_position_embeddings", value) for value in [1, *ODD_VALUES]],
    *[(name, value) for name in ("vocab_size", "num_hidden_layers", "layer_types") for value in ODD_VALUES[:6]],
    *[(name, value) for name in ("eos_token_id", "rope_parameters", "head_dim") for value in ODD_VALUES[3:]],
]


@pytest.fixture(scope="module", params=["Llama", "Granite", "Gemma-3", "Mixtral", "Gemma-4 with images"])
def odd_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole model: a plain one, others that go through transformers, one with a configuration inside another."""
    folder = tmp_path_factory.mktemp("odd")
    build(case_named(request.param).config()).save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)
    return folder


def with_values(config: str, values: dict[str, Any]) -> str:
    """A configuration in which the part for text has these values."""
    changed = json.loads(config)
    changed.get("text_config", changed).update(values)
    return json.dumps(changed)


def named_only(config: str) -> dict[str, Any]:
    """What is left of a configuration that names its class and says nothing else."""
    return {name: value for name, value in json.loads(config).items() if name in ("model_type", "architectures")}


def test_an_odd_value_is_never_a_fault_of_our_own(odd_folder: Path) -> None:
    """What `load` raises besides ModelError is told as a mistake in Headstart."""
    path = odd_folder / "config.json"
    whole = path.read_text()
    wrong: list[tuple[str, object, str]] = []
    for name, value in ODD:
        path.write_text(with_values(whole, {name: value}))
        try:
            model = load(odd_folder, "cpu", "auto")
            assert model.context_length > 1
        except ModelError:
            continue
        except Exception as error:
            wrong.append((name, value, repr(error)))
        finally:
            path.write_text(whole)
    assert wrong == []


@pytest.mark.parametrize(
    "values",
    [
        {"vocab_size": 30_000_000},
        {"intermediate_size": 100_000_000},
        {"num_attention_heads": 100_000, "head_dim": 4096},
        {"hidden_size": 100_000},
        {},
    ],
)
def test_a_configuration_larger_than_its_weights_takes_no_memory(odd_folder: Path, values: dict[str, int]) -> None:
    """Where nothing is counted, the class takes its own numbers: that is refused before it is allocated, too."""
    path = odd_folder / "config.json"
    whole = path.read_text()
    path.write_text(with_values(whole, values) if values else json.dumps(named_only(whole)))
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with pytest.raises(ModelError) as caught:
            load(odd_folder, "cpu", "fp32")
    finally:
        path.write_text(whole)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - highest < 300_000, caught.value
