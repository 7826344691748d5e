"""Folders as other programs leave them: the Hugging Face cache, byte order marks, older exports of a tokenizer."""

from __future__ import annotations

import io
import json
import shutil
from codecs import BOM_UTF8
from pathlib import Path

import pytest
import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from engine.library.resolve import resolve
from engine.models.loaded import load
from engine.types import ModelError
from tests.engine.models.test_first_load import case_folder
from tests.engine.tiny_models import TRAINING_TEXT, make_folder

LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def ignore(stage: str, fraction: float | None) -> None:
    """Progress that nobody watches."""


def in_cache(root: Path, revisions: tuple[str, ...], main: str | None) -> Path:
    """A model as the Hugging Face cache keeps it: files under the name of their content, revisions of links to them."""
    model = root / "models--some-lab--Tiny-Chat"
    whole = make_folder(root / "made")
    (model / "blobs").mkdir(parents=True)
    for revision in revisions:
        (model / "snapshots" / revision).mkdir(parents=True)
        for file in whole.iterdir():
            blob = model / "blobs" / f"{file.name}-content"
            shutil.copy(file, blob)
            (model / "snapshots" / revision / file.name).symlink_to(Path("../../blobs") / blob.name)
    if main is not None:
        (model / "refs").mkdir()
        (model / "refs" / "main").write_text(main)
    return model


@pytest.mark.parametrize(
    ("main", "found"), [("aaa", "aaa"), ("bbb", "bbb"), (None, "bbb"), ("gone", "bbb"), ("../../../made", "bbb")]
)
def test_a_model_in_the_hugging_face_cache_has_its_own_name(tmp_path: Path, main: str | None, found: str) -> None:
    model = in_cache(tmp_path, ("aaa", "bbb"), main)
    place = resolve(str(model), ignore)
    assert place == model / "snapshots" / found
    assert load(place, "cpu", "fp32").name == "some-lab/Tiny-Chat"
    (place / "config.json").unlink()
    with pytest.raises(ModelError, match=r"^some-lab/Tiny-Chat has no config\.json"):
        resolve(str(place), ignore)


def test_an_empty_cache_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models--some-lab--Tiny" / "snapshots").mkdir(parents=True)
    with pytest.raises(ModelError, match="no downloaded revision"):
        resolve(str(tmp_path / "models--some-lab--Tiny"), ignore)


@pytest.mark.parametrize("case", ["plain", "Gemma-2"])
def test_byte_order_marks_change_nothing(tmp_path: Path, case: str) -> None:
    folder = make_folder(tmp_path / "model") if case == "plain" else case_folder(case, tmp_path / "model")
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [7, 9]}))
    before = load(folder, "cpu", "fp32")
    for file in folder.glob("*.json"):
        file.write_bytes(BOM_UTF8 + file.read_bytes())
    resolve(str(folder), ignore)
    after = load(folder, "cpu", "fp32")
    assert {7, 9} <= after.end_ids == before.end_ids
    assert after.architecture == before.architecture
    assert after.tokenizer("The parcel").input_ids == before.tokenizer("The parcel").input_ids
    assert after.tokenizer.chat_template == before.tokenizer.chat_template


def test_an_adapter_beside_the_model_is_refused_by_its_name(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model")
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "some-lab/Base"}))
    with pytest.raises(ModelError, match="holds an adapter for some-lab/Base beside the model"):
        resolve(str(folder), ignore)


def test_a_sentencepiece_model_alone_is_a_tokenizer(tmp_path: Path) -> None:
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([TRAINING_TEXT] * 3),
        model_writer=made,
        model_type="bpe",
        vocab_size=330,
        byte_fallback=True,
        minloglevel=2,
    )
    folder = make_folder(tmp_path / "model")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)
    (folder / "tokenizer.model").write_bytes(made.getvalue())
    resolve(str(folder), ignore)
    own = sentencepiece.SentencePieceProcessor(model_proto=made.getvalue())
    tokenizer = load(folder, "cpu", "fp32").tokenizer
    for text in ("The parcel left the warehouse.", "  two  blanks\n", "äé 数 😀", "a"):
        assert tokenizer(text, add_special_tokens=False).input_ids == own.encode(text), text


@pytest.mark.parametrize(
    ("model_type", "marks", "is_repaired"),
    [("mistral", ["[INST]", "[/INST]"], True), ("mistral", ["<|eot_id|>"], False), ("llama", ["[INST]"], False)],
)
def test_the_wrong_split_of_mistrals_exports_is_repaired(
    tmp_path: Path, model_type: str, marks: list[str], is_repaired: bool
) -> None:
    folder = make_folder(tmp_path / "model")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {token: index for index, token in enumerate([*alphabet, *(f"word{n}" for n in range(100_000)), "12"])}
    made = Tokenizer(models.BPE(vocab=words, merges=[("1", "2")]))
    split = pre_tokenizers.Split(Regex(LLAMA_3), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(marks)
    PreTrainedTokenizerFast(tokenizer_object=made).save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps(config | {"model_type": model_type, "architectures": None, "transformers_version": "4.50.0"})
    )
    ids = load(folder, "cpu", "fp32").tokenizer("12").input_ids
    assert len(ids) == (2 if is_repaired else 1)  # Mistral's own rule takes one digit at a time
