"""The conversion itself: run as the program it is, on a tiny model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.library.child_process import run_python
from engine.library.convert import run_converter
from engine.library.resolve import check_model, resolve
from engine.types import ModelError
from tests.engine.gguf_files import write_byte_level
from tests.engine.model_files import LAYERS, VOCABULARY, WIDTH, write_gguf


def ignore(stage: str, fraction: float | None) -> None:
    """Progress that nobody watches."""


def test_converted_model_holds_the_weights_of_the_gguf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gguf
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "home"))
    source = write_gguf(tmp_path / "tiny.gguf")
    folder = resolve(str(source), ignore)
    check_model(str(folder))
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(source).tensors}
    tensor = tensors["token_embd.weight"]
    expected = torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type)).to(torch.bfloat16)
    assert torch.equal(model.get_input_embeddings().weight, expected)
    assert (model.config.num_hidden_layers, model.config.hidden_size) == (LAYERS, WIDTH)
    assert not hasattr(model.config, "quantization_config")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    ids = tokenizer("Grüße ab")["input_ids"]
    assert (tokenizer.decode(ids), ids[-1]) == ("Grüße ab", VOCABULARY - 1)


def test_a_refusal_of_the_converter_is_said_in_its_words(tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "odd.gguf", tensors={"output_norm.weight": None})
    (tmp_path / "made").mkdir()
    with pytest.raises(ModelError, match=r"^odd\.gguf lacks output_norm\.weight: download it again"):
        run_converter(source, tmp_path / "made", "bf16", tmp_path / "log", ignore)


def test_another_failure_of_the_converter_is_said_with_its_cause(tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "odd.gguf")
    with pytest.raises(ModelError, match=r"odd\.gguf cannot be converted \(.*safetensors folder instead") as caught:
        run_converter(source, tmp_path / "nowhere" / "made", "wonderful", tmp_path / "log", ignore)
    assert "Traceback" in caught.value.detail


def test_unknown_rule_for_words_is_said_before_the_weights_are_read(tmp_path: Path) -> None:
    source = write_byte_level(tmp_path / "odd.gguf", ["a b"], pre="wonderful")
    (tmp_path / "made").mkdir()
    with pytest.raises(ModelError, match=r'^odd\.gguf cuts texts into words by a rule that is not known .*"wonderful"'):
        run_converter(source, tmp_path / "made", "bf16", tmp_path / "log", ignore)


def test_program_is_ended_when_its_progress_raises(tmp_path: Path) -> None:
    """A cancel during a download or conversion: the program would wait for ever."""
    log = tmp_path / "log"

    def cancel() -> None:
        if log.read_text():
            raise KeyError("enough")

    program = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    with pytest.raises(KeyError, match="enough"):
        run_python(["-c", program], os.environ, log, cancel)
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


def test_exit_status_and_output_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    status = run_python(["-c", "import sys; print('said'); sys.exit(3)"], os.environ, log, lambda: None)
    assert (status, log.read_text().strip()) == (3, "said")
