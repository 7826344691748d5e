"""What llama.cpp makes of short texts with small vocabularies, which the tests hold this engine's tokenizers against.

`python -m tests.engine.gguf_pins MODEL.gguf` writes it anew with llama-cpp-python; MODEL is the default model's file.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.engine.gguf_files import SPECIAL, write_byte_level, write_plain_text, write_sentencepiece

PINNED = Path(__file__).parent / "gguf" / "llama_cpp_ids.json"
TEXTS = (
    "", " ", "Hello world", " Hello  World", "it's IT'S we'Ll O'Neill 'tis", "1 12 123 1234 12345 1234567",
    "a1b22c333d4444", "x = [1,2];\n\tif (a!=b) {\n", "\n\n\n  \n \r\n\t x\r\r", "   ", "a   b", "end   ",
    "\u00a0\u3000x \u2028", "中文字符和かなカナ한국어。！", "Привет МирМосква iPhone camelCase ÀÉbC",
    "e\u0301a\u0308 \u0301x",
    "שָׁלוֹם नमस्ते १२३ ١٢٣٤ ½Ⅷ²", "👩‍👩‍👧 🇩🇪❤️", "$5.99+3=8<9^2~|`", "...!!!\n???\r\n/", "http://a.b/c?d=1",
    "<s>Hi</s> <user> x\n<|endoftext|>\n y</s>\t z", "<user>\n\n<s> a", "a<s>", "_foo__bar #tag @x",
    "\x00\x0b\x7f\ufffd\u200b12\ue000",
    "3.14 1,000 0x1F", "。，Ａ１ ｱ「」", "99999999999999999999", "don’t “quote” — dash…", "    indented\n        more",
    "A.B.C. aB Ab AB", " '  \" ``", "▁x▁▁y", "ǅungla ßẞ İI", "ภาษาไทย ຄຳ ខ្មែរ", "a" + 21 * " " + "b" + 12 * "\n",
    "Paris Paris", "!Hello ?a", "1a 1é é1 ,a\nb", "a b c", "x/\n/y //\n", "=====", "abababab aaaaa", "a   12  3",
    "'say I'dog's'dim we'lling 'table's'mix don't'reed",
)  # fmt: skip
MODEL_TEXTS = (
    "Hello world! It's 2024, and 12345 isn't 67.89.", "<|im_start|>user\nHi there<|im_end|>\n<|im_start|>assistant\n",
    "def f(x):\n    return x ** 2  # 1000000\n", "Ünïcödé — “quotes” … 漢字 かな 한글 ١٢٣ 😀👩‍👩‍👧",
    "  two  blanks \t\n\n x",
    "0123456789 3.14159 1e-10", "<|endoftext|><repo_name>a/b<file_sep>c",
)  # fmt: skip


def plain_files(pinned: Mapping[str, Any]) -> dict[str, Callable[[Path], Path]]:
    """The vocabularies without words, by the names of what is special about them."""
    merges, pieces = pinned["plain_merges"], pinned["pieces"]
    return {
        "gemma4": lambda path: write_plain_text(path, merges, add_bos_token=False),
        "sarvam-moe": lambda path: write_plain_text(path, merges, model="gpt2", pre="sarvam-moe"),
        "sentencepiece": lambda path: write_sentencepiece(path, pieces),
        "no blank before": lambda path: write_sentencepiece(path, pieces, add_space_prefix=False, add_eos_token=True),
        "no BOS": lambda path: write_sentencepiece(path, pieces, add_bos_token=False),
        "blanks behind": lambda path: write_sentencepiece(path, pieces, name="Phi-3 mini"),
    }


def _train(is_byte_level: bool) -> list[str]:
    """Merges that reach across words, so that they show where a rule cuts."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    from tests.engine.gguf_texts import CODE, DIGITS, EMOJI, MARKS, NATURAL, SIGNS

    tokenizer = Tokenizer(models.BPE())
    if is_byte_level:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    else:
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
    trainer = trainers.BpeTrainer(vocab_size=1100, max_token_length=6, limit_alphabet=256, show_progress=False)
    corpus = "\n".join([NATURAL, CODE, DIGITS, EMOJI, MARKS, SIGNS, *TEXTS])
    tokenizer.train_from_iterator([re.sub("|".join(map(re.escape, SPECIAL)), "", corpus)], trainer)
    return [" ".join(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def _llama_cpp(path: Path, texts: Sequence[str]) -> list[list[int]]:
    from llama_cpp import Llama

    model = Llama(str(path), vocab_only=True, verbose=False)
    return [list(model.tokenize(text.encode(), add_bos=True, special=True)) for text in texts]


def _pin(default_model: Path, path: Path) -> dict[str, Any]:
    from engine.gguf.splitting import SPLITTINGS

    plain = [merge for merge in _train(is_byte_level=False) if not set(merge) & {"\n", "\0"}]
    pieces = [piece for merge in plain if (piece := merge.replace(" ", "")).strip("▁")]
    pinned: dict[str, Any] = {"merges": _train(is_byte_level=True), "plain_merges": plain, "pieces": pieces}
    pinned["plain"] = {name: _llama_cpp(write(path), TEXTS) for name, write in plain_files(pinned).items()}
    found: dict[str, list[list[int]]] = {}
    pinned["same"] = {}
    for name in (name for name, splitting in SPLITTINGS.items() if splitting.spells_bytes):
        ids = _llama_cpp(write_byte_level(path, pinned["merges"], pre=name), TEXTS)
        pinned["same"][name] = next((known for known in found if found[known] == ids), name)
        found.setdefault(pinned["same"][name], ids)
    pinned["words"] = found
    pinned["default model"] = _llama_cpp(default_model, MODEL_TEXTS)
    return pinned


def main(default_model: str) -> None:
    """Write the file anew."""
    with tempfile.TemporaryDirectory() as folder:
        pinned = _pin(Path(default_model), Path(folder) / "tiny.gguf")
    text = json.dumps(pinned, ensure_ascii=False, separators=(",", ":"))
    PINNED.write_text(text.replace("]],", "]],\n").replace("],[", "],\n["), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
