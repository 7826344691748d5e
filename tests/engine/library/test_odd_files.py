"""Files that would hang, freeze or fill the memory if they were simply opened: each is one sentence, at once.

All are judged by one process of their own, which may take 200 MB and no more: a pipe that is waited for, or a file that
is read whole, fails the test and harms nothing else.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.library.resolve import check_model, resolve
from engine.llama import checkpoint as plain
from engine.types import HeadstartError
from tests.engine.model_files import write_folder, write_gguf, write_safetensors

MEMORY = 200 * 10**6
PATIENCE_S = 120
CHECK = f"""
import json, sys
from engine.library.resolve import check_model
from engine.types import HeadstartError
try:
    import resource
    pages = int(open("/proc/self/statm").read().split()[5])
    resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + {MEMORY},) * 2)
except (ImportError, OSError):
    pass
for path in json.loads(sys.argv[1]):
    try:
        check_model(path)
        print(json.dumps("no objection"), flush=True)
    except HeadstartError as error:
        print(json.dumps(str(error)), flush=True)
    except BaseException as error:
        print(json.dumps(repr(error)), flush=True)
"""
GGUF = b"GGUF" + struct.pack("<I", 3)
NAMES = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "model.safetensors",
    "model.safetensors.index.json",
    "vocab.json",
    "anything.txt",
)
Make = Callable[[Path], object]
Factory = pytest.TempPathFactory


def sparse(path: Path, size: int, start: bytes = b"") -> None:
    """A file that begins with `start` and goes on with zeros that take no room on the disk."""
    path.unlink(missing_ok=True)
    path.write_bytes(start)
    os.truncate(path, size)


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def folder_instead(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def listening(path: Path) -> None:
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(path))


def device(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def config(**values: object) -> Make:
    """Changes some of the configuration."""
    return lambda folder: (folder / "config.json").write_text(json.dumps({"model_type": "llama", **values}))


def text(name: str, content: str) -> Make:
    return lambda folder: (folder / name).write_text(content)


def inside(name: str, make: Make) -> Make:
    return lambda folder: make(folder / name)


def tensors(header: object) -> Make:
    """A safetensors file with this header."""
    packed = json.dumps(header).encode()
    return lambda folder: (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(packed)) + packed)


def offsets(*values: object) -> Make:
    return tensors({"weight": {"dtype": "F32", "shape": [1], "data_offsets": values}})


def tokenizer(**values: object) -> Make:
    """A tokenizer.json with these entries."""
    return text("tokenizer.json", json.dumps(values))


def replacing(content: str, pattern: object, times: int = 1, inside: str = "normalizers") -> dict[str, object]:
    """A normalizer (or others) that replaces several times, one after the other."""
    return {"type": "Sequence", inside: [{"type": "Replace", "pattern": pattern, "content": content}] * times}


def charsmap(longest: int) -> dict[str, object]:
    """SentencePiece's table of characters, with an empty tree and one text."""
    table = struct.pack("<I", 8) + bytes(8) + b"i" * longest + b"\0"
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()}


I = {"String": "i"}  # noqa: E741
BOMB = replacing("i" * 1000, I, 3)
MODEL = {"type": "BPE", "vocab": {"content": 1, "normalizer": 2, "added_tokens": 3}, "merges": ["a b", "content a"]}
ENTRY = {"id": 1, "content": "<x>", "special": True}
NAMES_OF_TOKENS = [f"<{number}>" for number in range(50_001)]
MORE = "is damaged, or asks for more than any model needs: download it again"
TOKENIZERS: list[tuple[Make, str]] = [
    (tokenizer(normalizer=BOMB, model=MODEL), MORE),
    (tokenizer(model=MODEL, normalizer=BOMB), MORE),
    (
        text("tokenizer.json", json.dumps({"model": MODEL, "normalizer": BOMB}).replace('"normali', '"\\u006eormali')),
        MORE,
    ),
    (text("tokenizer.json", json.dumps({"model": MODEL, "normalizer": BOMB}, indent=4000)), MORE),
    *[
        (text("tokenizer.json", json.dumps({"model": MODEL, "normalizer": BOMB}).replace('r":', f'r"{blanks}:')), MORE)
        for blanks in ("\n", " " * 100, " " * 5000)
    ],
    (tokenizer(model={**MODEL, "merges": ["a b"] * 300_000}, normalizer=BOMB), MORE),
    (tokenizer(pre_tokenizer={"type": "Sequence", "pretokenizers": [BOMB]}, model=MODEL), MORE),
    (tokenizer(decoder=replacing("i" * 1000, I, 3, "decoders"), model=MODEL), MORE),
    (tokenizer(normalizer=replacing("i" * 101, I)), MORE),
    (tokenizer(normalizer=replacing("ii", I, 20)), MORE),
    (tokenizer(normalizer=replacing("i" * 101, {"Regex": ".{200}"})), MORE),
    (tokenizer(normalizer=replacing("i" * 101, {"String": ""})), MORE),
    (tokenizer(normalizer={"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "x" * 30}] * 3}), MORE),
    (tokenizer(pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}] * 30}), MORE),
    (tokenizer(normalizer={"type": "Sequence", "normalizers": [{"type": "NFKC"}] * 1000}), MORE),
    (tokenizer(normalizer=charsmap(1000)), MORE),
    (text("tokenizer.json", '{"normalizer": ' + "[" * 100_000), MORE),
    (text("tokenizer.json", '{"normalizer": [' + "[]," * 1_500_000 + "[]]}"), MORE),
    (text("tokenizer.json", "[]"), MORE),
    (text("tokenizer.json", '{"normalizer" null}'), MORE),
    (tokenizer(added_tokens=[ENTRY] * 50_001, model=MODEL), MORE),
    (tokenizer(model=MODEL, added_tokens=[ENTRY] * 50_001), MORE),
    (text("tokenizer_config.json", json.dumps({"extra_special_tokens": NAMES_OF_TOKENS[:5001]})), MORE),
    (
        text("tokenizer_config.json", json.dumps({"extra_special_tokens": {name: name for name in NAMES_OF_TOKENS}})),
        MORE,
    ),
    (text("tokenizer_config.json", json.dumps({"additional_special_tokens": NAMES_OF_TOKENS[:5001]})), MORE),
    (text("tokenizer_config.json", json.dumps({"added_tokens_decoder": dict.fromkeys(NAMES_OF_TOKENS, 1)})), MORE),
    (text("special_tokens_map.json", json.dumps({"additional_special_tokens": NAMES_OF_TOKENS[:5001]})), MORE),
    (text("special_tokens_map.json", json.dumps(dict.fromkeys(NAMES_OF_TOKENS, "x"))), MORE),
    (text("added_tokens.json", json.dumps(dict.fromkeys(NAMES_OF_TOKENS, 1))), MORE),
    # What real ones have: Gemma-3, Llama-2, DeepSeek, T5
    (
        tokenizer(added_tokens=[ENTRY] * 6_500, normalizer=replacing("\u2581", {"String": " "}), model=MODEL),
        "no objection",
    ),
    (tokenizer(model=MODEL, added_tokens=[ENTRY] * 256, normalizer=None), "no objection"),
    (tokenizer(model={**MODEL, "merges": ["a b"] * 500_000, "vocab": {'","content":': 7}}), "no objection"),
    (
        tokenizer(
            normalizer={
                "type": "Sequence",
                "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, replacing("\u2581", {"String": " "})],
            },
            decoder={"type": "Sequence", "decoders": [replacing(" ", {"String": "\u2581"}), {"type": "ByteFallback"}]},
        ),
        "no objection",
    ),
    (
        tokenizer(
            normalizer={
                "type": "Sequence",
                "normalizers": [
                    charsmap(33),
                    replacing(" ", {"Regex": " {2,}"}),
                    replacing("...", {"String": "\u2026"}),
                ],
            },
            pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Digits"}, {"type": "ByteLevel"}]},
        ),
        "no objection",
    ),
    (text("tokenizer_config.json", json.dumps({"extra_special_tokens": NAMES_OF_TOKENS[:300]})), "no objection"),
]

NOT_READABLE = "not a readable safetensors file: download it again"
TOO_FEW = "the weights are too few for that"
TOO_LARGE: list[dict[str, object]] = [
    {"vocab_size": 30_000_000, "hidden_size": 32},
    {"vocab_size": 65, "hidden_size": 1},
    {"vocab_size": 65, "d_model": 1},
    {"vocab_size": 65, "n_embd": 1},
    {"intermediate_size": 10**8, "hidden_size": 32},
    {"intermediate_size": [0, 65], "hidden_size": 1},
    {"num_attention_heads": 9, "head_dim": 8, "hidden_size": 1},
    {"num_attention_heads": [1, 8], "head_dim": [8, 9], "hidden_size": 1},
    {"num_attention_heads": 10_000, "hidden_size": 32},
]
JUST_FITTING: list[dict[str, object]] = [
    {"vocab_size": 32, "hidden_size": 2},
    {"intermediate_size": [10, 22], "num_hidden_layers": 1, "hidden_size": 2},
    {"num_attention_heads": 4, "head_dim": 8, "hidden_size": 2},
    {"hidden_size": 2, "vocab_size": None, "intermediate_size": 0, "head_dim": None, "num_attention_heads": [None, 4]},
    {"vocab_size": 100, "hidden_size": [2, 2]},
    {"vocab_size": 2, "hidden_size": 2, "vision_config": {"vocab_size": 100, "hidden_size": 100}},
]
FOLDERS: list[tuple[Make, str]] = [
    *[(inside(name, pipe), "cannot be read: it is no ordinary file") for name in NAMES],
    *[(inside(name, device), "cannot be read: it is no ordinary file") for name in NAMES],
    (inside("model.safetensors", listening), "cannot be read: it is no ordinary file"),
    *[(inside(name, folder_instead), "cannot be read: it is no ordinary file") for name in NAMES[:7]],
    *[(inside(name, lambda path: sparse(path, 300 * 10**6)), "300 MB, far more") for name in NAMES[:6]],
    (inside("model.safetensors.index.json", lambda path: sparse(path, 300 * 10**6)), "300 MB, far more"),
    (inside("model.safetensors", lambda path: sparse(path, 2**31, struct.pack("<Q", 2 * 10**9))), NOT_READABLE),
    (tensors([{}] * 1_500_000), NOT_READABLE),
    (offsets("0", "4"), NOT_READABLE),
    (offsets(0, "4"), NOT_READABLE),
    (offsets(0, 4.0), NOT_READABLE),
    (offsets(-4, -2), NOT_READABLE),
    (offsets(4), NOT_READABLE),
    (offsets(0, 10**400), NOT_READABLE),
    (offsets(10**400, 10**400), NOT_READABLE),
    (tensors({"weight": [1]}), NOT_READABLE),
    (text("config.json", "[" * 100_000), "config.json in model is damaged: download it again"),
    (text("config.json", '{"a":' * 900 + "1" + "}" * 900), "config.json in model"),
    (text("config.json", '{"num_hidden_layers": ' + "9" * 5000 + "}"), "config.json in model is damaged"),
    (text("generation_config.json", "[" * 100_000), "generation_config.json in model is damaged"),
    (text("tokenizer_config.json", "[]"), "tokenizer_config.json in model is damaged"),
    (text("model.safetensors.index.json", '{"weight_map": ["model.safetensors"]}'), "index.json in model is damaged"),
    (text("model.safetensors.index.json", "{}"), "index.json in model is damaged"),
    (config(num_hidden_layers=10**9), "says 1000000000 for num_hidden_layers, which no model has"),
    (config(num_hidden_layers=5000), "says 5000 for num_hidden_layers, and there are 1 tensors"),
    (config(text_config={"num_hidden_layers": 10**9}), "says 1000000000 for num_hidden_layers"),
    (config(vision_config={"depth": 10**9}), "says 1000000000 for depth"),
    (config(max_position_embeddings=0), "says 0 for max_position_embeddings, which no model has"),
    (config(max_position_embeddings=-1), "says -1 for max_position_embeddings"),
    (config(hidden_size=1.5), r"says 1\.5 for hidden_size"),
    (config(hidden_size=float("inf")), "says inf for hidden_size"),
    (config(num_attention_heads=True), "says True for num_attention_heads"),
    (config(vocab_size="many"), "says many for vocab_size"),
    (config(intermediate_size=[32, -1]), "says -1 for intermediate_size"),
    (config(vocab_size={"a": 1}), "for vocab_size, which no model has"),
    (config(intermediate_size={"a": 1}), "for intermediate_size, which no model has"),
    (config(text_config={"num_attention_heads": {"a": 1}}), "for num_attention_heads, which no model has"),
    (config(num_attention_heads=4, head_dim={"a": 1}), "for head_dim, which no model has"),
    (config(num_attention_heads=4, head_dim=[None, 8], hidden_size=2), "no objection"),
    (config(num_local_experts=0, num_key_value_heads=None), "no objection"),
    (config(max_position_embeddings=1), "says 1 for max_position_embeddings, which no model has"),
    (config(n_positions=1), "says 1 for n_positions, which no model has"),
    *[(config(**sizes), TOO_FEW) for sizes in TOO_LARGE],
    *[(config(text_config=sizes), TOO_FEW) for sizes in TOO_LARGE],
    *[(config(**sizes), "no objection") for sizes in JUST_FITTING],
    *TOKENIZERS,
]

READABLE = "not a readable GGUF file: download it again"
TENSOR = struct.pack("<Q1s", 1, b"a")


def zeros(counts: bytes) -> Make:
    return lambda path: sparse(path, 10**9, GGUF + counts)


def versioned(version: bytes) -> Make:
    return lambda path: path.write_bytes(b"GGUF" + version + bytes(100))


def of_type(number: int) -> Make:
    start = GGUF + struct.pack("<QQ", 1, 0) + TENSOR
    return lambda path: path.write_bytes(start + struct.pack("<IQIQ", 1, 32, number, 0) + bytes(100))


def strings(count: int) -> bytes:
    """One entry of metadata: a list of so many strings."""
    return struct.pack("<QQ", 0, 1) + TENSOR + struct.pack("<IIQ", 9, 8, count)


GGUFS: list[tuple[Make, str]] = [
    (pipe, "cannot be read: it is no ordinary file|is not a model"),
    (folder_instead, "cannot be read: it is no ordinary file|holds no model"),
    (device, "cannot be read: it is no ordinary file|is not a model"),
    (zeros(b""), "holds no model"),
    (zeros(struct.pack("<QQ", 10**7, 0)), READABLE),
    (zeros(struct.pack("<QQ", 0, 10**8)), READABLE),
    (zeros(strings(10**8)), READABLE),
    (zeros(struct.pack("<QQQ", 0, 1, 9 * 10**8)), "holds no model"),
    (zeros(struct.pack("<QQ", 1, 0) + TENSOR + struct.pack("<I", 1_200_000)), READABLE),
    (versioned(struct.pack("<I", 1)), "of version 1, from August 2023, .* get a newer GGUF file"),
    (versioned(struct.pack(">I", 3)), "big-endian computers: get the usual, little-endian file"),
    (versioned(struct.pack("<I", 77)), READABLE),
    *[(of_type(number), "ARM processors .* get this model as Q4_0") for number in (31, 32, 33)],
    (of_type(36), "ARM processors .* get this model as IQ4_NL"),
    (of_type(120), r"a type that is not known here \(number 120\): get this model as Q8_0"),
    (of_type(5_000_000), READABLE),
]


def judged(paths: list[Path]) -> Iterator[str]:
    """What the check says of each path; in a process of its own."""
    command = [sys.executable, "-c", CHECK, json.dumps([str(path) for path in paths])]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    return map(json.loads, run.stdout.splitlines())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_odd_files_in_a_folder_are_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [write_folder(tmp_path / str(number) / "model") for number in range(len(FOLDERS))]
    for folder, (make, _) in zip(folders, FOLDERS, strict=True):
        make(folder)
    wrong = [
        (folder.parent.name, words, said)
        for folder, (_, words), said in zip(folders, FOLDERS, judged(folders), strict=True)
        if not re.search(words, said)
    ]
    assert wrong == []


@pytest.mark.parametrize("make", [pipe, device])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_an_odd_note_of_the_newest_revision_is_passed_over(tmp_path: Path, make: Make) -> None:
    """The Hugging Face cache keeps it in a file of its own."""
    model = tmp_path / "models--lab--tiny"
    write_folder(model / "snapshots" / "only")
    (model / "refs").mkdir()
    make(model / "refs" / "main")
    assert list(judged([model])) == ["no objection"]


@pytest.mark.parametrize("in_folder", [True, False])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_odd_gguf_files_are_sentences(tmp_path: Path, in_folder: bool) -> None:
    files = [tmp_path / str(number) / "odd.gguf" for number in range(len(GGUFS))]
    for file, (make, _) in zip(files, GGUFS, strict=True):
        file.parent.mkdir()
        make(file)
    paths = [file.parent for file in files] if in_folder else files
    wrong = [
        (file.parent.name, words, said)
        for file, (_, words), said in zip(files, GGUFS, judged(paths), strict=True)
        if not re.search(words, said)
    ]
    assert wrong == []


def test_a_gguf_that_counts_what_no_model_has_is_a_sentence(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf")
    whole = path.read_bytes()
    for name, value in (
        ("context_length", 0),
        ("context_length", 1),
        ("block_count", 10**9),
        ("embedding_length", 10**9),
        ("vocab_size", 10**7),
        ("feed_forward_length", 10**7),
    ):
        key = f"llama.{name}".encode() + struct.pack("<I", 4)
        at = whole.index(key) + len(key)
        path.write_bytes(whole[:at] + struct.pack("<I", value) + whole[at + 4 :])
        (said,) = judged([path])
        assert re.search(f"says {value} for {name}", said)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
WHOLE: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "rms_norm_eps": 1e-6,
    "vocab_size": 340,
    "max_position_embeddings": 1024,
    "tie_word_embeddings": True,
    "dtype": "float32",
    "eos_token_id": 2,
    "layer_types": ["full_attention"],
    "text_config": {},
    "sliding_window": None,
    "quantization_config": None,
}


@pytest.mark.parametrize("name", WHOLE)
@given(value=anything)
def test_any_value_in_a_configuration_is_taken_or_refused(name: str, value: object, tmp_path_factory: Factory) -> None:
    """Nothing but sentences comes out of the checks, and a plain configuration is one that makes sense."""
    folder = _folder(tmp_path_factory)
    (folder / "config.json").write_text(json.dumps({**WHOLE, name: value}))
    assert_taken_or_refused(folder)


@pytest.mark.parametrize("name", ["generation_config.json", "tokenizer_config.json", "model.safetensors.index.json"])
@given(key=st.sampled_from(["eos_token_id", "tokenizer_class", "weight_map", "chat_template"]), value=anything)
def test_any_value_beside_it_too(name: str, key: str, value: object, tmp_path_factory: Factory) -> None:
    folder = _folder(tmp_path_factory)
    (folder / "config.json").write_text(json.dumps(WHOLE))
    (folder / name).write_text(json.dumps({key: value}))
    assert_taken_or_refused(folder)
    (folder / name).unlink()


@given(key=st.sampled_from(["dtype", "shape", "data_offsets", "weight", "__metadata__"]), value=anything)
def test_any_value_in_a_safetensors_header_too(key: str, value: object, tmp_path_factory: Factory) -> None:
    folder = _folder(tmp_path_factory)
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    tensors({"weight": {**entry, key: value}, **({key: value} if key in ("weight", "__metadata__") else {})})(folder)
    assert_taken_or_refused(folder)
    write_safetensors(folder / "model.safetensors", 20_000)


def assert_taken_or_refused(folder: Path) -> None:
    """The checks end in a refusal or in none, and so does `resolve`."""
    for check in (check_model, lambda path: resolve(path, lambda stage, fraction: None)):
        with contextlib.suppress(HeadstartError):
            check(str(folder))
    config = plain.read_config(folder)
    assert config is None or config.decoder.sizes.heads % config.decoder.sizes.kv_heads == 0


_folders: list[Path] = []


def _folder(factory: Factory) -> Path:
    """One folder for all examples."""
    if not _folders:
        _folders.append(write_folder(factory.mktemp("any") / "model"))
        write_safetensors(_folders[0] / "model.safetensors", 20_000)
    return _folders[0]
