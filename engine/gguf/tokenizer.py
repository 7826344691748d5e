"""Makes the tokenizer that a GGUF file describes: its ids are those that llama.cpp finds for the same text.

It is made in memory, as the object that tokenizer.json stands for and the entries of tokenizer_config.json. The rules
are those of llama.cpp (`src/llama-vocab.cpp`), from which a file's fields have their meaning. Two kinds of tokenizer
are known:

- "gpt2" joins pairs of tokens in the order of a list, inside words (see `splitting`). "gemma4" is one without words.
- "llama" (SentencePiece) joins whatever two neighbours make a token, that of the highest score first. The library
  wants a list of pairs in order here, too, so it is made from the scores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE

from engine.gguf.fields import compiled_strings
from engine.gguf.splitting import SPLITTINGS, Splitting
from engine.gguf.vocabulary import Pairs, TokenType, Vocabulary, read_vocabulary
from engine.types import ModelError

_BLANK = "▁"
_OUTSIDE = {TokenType.CONTROL, TokenType.UNKNOWN}
"""Tokens that no text spells out. llama.cpp looks for them only in what a template wrote, as transformers does."""

_FOUND_FIRST = {*_OUTSIDE, TokenType.USER_DEFINED}
"""Tokens that are found in a text before anything else is done with it."""

_NAMED = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "unk_token": "unknown_token_id",
    "pad_token": "padding_token_id",
}
_SENTENCEPIECE = {"bos_token": 1, "eos_token": 2, "unk_token": 0}
"""Ids of a SentencePiece tokenizer whose file does not say them."""

_ADVICE = "get the model's safetensors folder instead."


def read_tokenizer(gguf: Path) -> tuple[Tokenizer, dict[str, Any]]:
    """The tokenizer of the file `gguf`, and the entries of its tokenizer_config.json.

    Raises ModelError where it is of a kind, or follows a rule, that is not known here; OSError.
    """
    vocabulary = read_vocabulary(gguf)
    try:
        return build_tokenizer(vocabulary), tokenizer_config(vocabulary)
    except ModelError as error:
        raise ModelError(f"{gguf.name} {error}", error.detail) from error


def build_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """The tokenizer of a GGUF file. Raises ModelError, whose sentence goes on behind the file's name."""
    splitting = _splitting(vocabulary)
    tokenizer = _by_merges(vocabulary, splitting) if splitting else _by_scores(vocabulary)
    tokenizer.add_tokens(list(_found_first(vocabulary)))
    tokenizer.post_processor = _frame(vocabulary)
    return tokenizer


def tokenizer_config(vocabulary: Vocabulary) -> dict[str, Any]:
    """The content of tokenizer_config.json: tokens with a role, whether a prompt begins with BOS, the templates."""
    first, last = _ends(vocabulary)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "add_bos_token": first is not None,
        "add_eos_token": last is not None,
    }
    roles = {role: _described(vocabulary, token) for role, token in _roles(vocabulary).items()}
    return {**config, **roles, **_chat_template(vocabulary.templates)}


def _chat_template(templates: Mapping[str, str]) -> dict[str, Any]:
    """The entry for the chat templates, which has names only where there are several."""
    if not templates:
        return {}
    if templates.keys() == {"default"}:
        return {"chat_template": templates["default"]}
    return {"chat_template": [{"name": name, "template": template} for name, template in templates.items()]}


def _splitting(vocabulary: Vocabulary) -> Splitting | None:
    """The rule for words; None for SentencePiece, which has none. Without a name it is that of the first files."""
    model = vocabulary.fields.get("model")
    if model == "llama":
        return None
    if model not in ("gpt2", "gemma4"):
        raise ModelError(f'has a tokenizer of a kind that is not known here ("{model}"): {_ADVICE}')
    name = "gemma4" if model == "gemma4" else str(vocabulary.fields.get("pre") or "default")
    if name not in SPLITTINGS:
        raise ModelError(f'cuts texts into words by a rule that is not known here ("{name}"): {_ADVICE}')
    return SPLITTINGS[name]


def _roles(vocabulary: Vocabulary) -> dict[str, str]:
    """The tokens with a role in every prompt: "bos_token" and others."""
    defaults = _SENTENCEPIECE if vocabulary.fields.get("model") == "llama" else {}
    found = {role: vocabulary.token(field, defaults.get(role)) for role, field in _NAMED.items()}
    return {role: token for role, token in found.items() if token is not None}


def _ends(vocabulary: Vocabulary) -> tuple[str | None, str | None]:
    """The tokens that every prompt begins and ends with, or None. With Gemma-4 it is BOS whatever the file says."""
    roles, splitting = _roles(vocabulary), _splitting(vocabulary)
    begins = vocabulary.flag("add_bos_token", splitting is None or splitting.adds_bos)
    begins = begins or splitting == SPLITTINGS["gemma4"]
    ends = vocabulary.flag("add_eos_token", False)
    return roles.get("bos_token") if begins else None, roles.get("eos_token") if ends else None


def _frame(vocabulary: Vocabulary) -> processors.TemplateProcessing:
    """Puts BOS before a prompt and EOS behind it, where the file asks for it."""
    first, last = _ends(vocabulary)
    ids = [(token, vocabulary.ids[token]) for token in {first, last} if token is not None]
    return processors.TemplateProcessing(
        single=[token for token in (first, "$A", last) if token is not None], special_tokens=ids
    )


def _by_merges(vocabulary: Vocabulary, splitting: Splitting) -> Tokenizer:
    """A tokenizer that joins pairs in the order of the file's list."""
    ids, merges = vocabulary.ids, vocabulary.merges
    odd = [] if merges.are_whole else [pair for pair in merges if not {*pair, "".join(pair)} <= ids.keys()]
    if odd or not merges:
        raise ModelError(
            f"has an incomplete tokenizer: {_ADVICE}", f"merges: {len(merges)}, without a token: {odd[:5]}"
        )
    tokenizer = Tokenizer(
        BPE(ids, merges, ignore_merges=splitting.is_whole_first, byte_fallback=not splitting.spells_bytes)
    )
    steps: list[Any] = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in splitting.patterns]
    if splitting.spells_bytes:
        steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
        if missing := "".join(sorted(set(pre_tokenizers.ByteLevel.alphabet()) - ids.keys())):
            steps.append(pre_tokenizers.Split(Regex(f"[{re.escape(missing)}]"), "removed"))
        tokenizer.decoder = decoders.ByteLevel()
    else:
        tokenizer.normalizer = normalizers.Replace(" ", _BLANK)
        tokenizer.decoder = _plain_text(is_prefixed=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    return tokenizer


def _by_scores(vocabulary: Vocabulary) -> Tokenizer:
    """A SentencePiece tokenizer. Each stretch of text between tokens that are found first is one word."""
    unknown = _roles(vocabulary).get("unk_token")
    tokenizer = Tokenizer(
        BPE(vocabulary.ids, _scored_merges(vocabulary), unk_token=unknown, fuse_unk=True, byte_fallback=True)
    )
    is_prefixed = vocabulary.flag("add_space_prefix", True)
    blanks = normalizers.Replace(" ", _BLANK)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(_BLANK), blanks]) if is_prefixed else blanks
    tokenizer.decoder = _plain_text(is_prefixed)
    return tokenizer


def _plain_text(is_prefixed: bool) -> decoders.Decoder:
    """From tokens that are plain text, with tokens such as <0x0A> for single bytes, to the text."""
    steps = [decoders.Replace(_BLANK, " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)] if is_prefixed else steps)


def _scored_merges(vocabulary: Vocabulary) -> Pairs:
    """All pairs of tokens that make a token, that of the highest score first.

    Among equal scores llama.cpp takes the pair that is furthest to the left. Runs of one character, which are the
    tokens with equal scores in real files, so grow from the left; the longest result first has the same effect.
    """
    tokens, scores = vocabulary.tokens, vocabulary.scores or (0.0,) * len(vocabulary.tokens)
    _refuse_without_order(vocabulary, scores)
    inside = [index for index, kind in enumerate(vocabulary.types) if kind not in _OUTSIDE]
    lengths = list(map(len, tokens))
    inside.sort(key=lengths.__getitem__, reverse=True)
    inside.sort(key=scores.__getitem__, reverse=True)
    compiled = compiled_strings()
    found = None if compiled is None else compiled.find_cuts(compiled.Tokens(tokens, vocabulary.text), inside)
    return Pairs(_cuts([tokens[index] for index in inside]) if found is None else found, are_whole=True)


def _cuts(made: Sequence[str]) -> list[str]:
    """All pairs of tokens that make a token, behind each other: for each token the longest first one first."""
    known = set(made)
    return [
        half
        for token in made
        for cut in range(len(token) - 1, 0, -1)
        if token[:cut] in known and token[cut:] in known
        for half in (token[:cut], token[cut:])
    ]


def _refuse_without_order(vocabulary: Vocabulary, scores: Sequence[float]) -> None:
    """Some programs that made GGUF files in 2023 and 2024 gave all tokens one score, so the order is lost."""
    normal = [
        score
        for token, kind, score in zip(vocabulary.tokens, vocabulary.types, scores, strict=False)
        if kind is TokenType.NORMAL and len(token) > 1
    ]
    tied = sum(count for count in Counter(normal).values() if count > 1)
    if len(normal) > 2 and tied > len(normal) / 2:
        raise ModelError(f"does not say which of its tokens are joined first: {_ADVICE}", f"{tied} equal scores")


def _found_first(vocabulary: Vocabulary) -> Iterator[AddedToken]:
    """The tokens that are found in a text before it is cut into words."""
    for token, kind in zip(vocabulary.tokens, vocabulary.types, strict=True):
        if kind in _FOUND_FIRST:
            yield AddedToken(token, special=kind in _OUTSIDE, normalized=False, rstrip=_takes_blanks(vocabulary, token))


def _takes_blanks(vocabulary: Vocabulary, token: str) -> bool:
    """Whether the blanks behind a token belong to it: so for Phi-3, which only the model's name tells.

    llama.cpp counts the blanks of ASCII only. Here it is all of them, as the model's maker has it.
    """
    is_phi3 = any(name in vocabulary.name.lower() for name in ("phi-3", "phi3"))
    return is_phi3 and token not in ("<unk>", "<s>", "<|endoftext|>")


def _described(vocabulary: Vocabulary, token: str) -> Any:
    """A token as tokenizer_config.json names it: by its text, or with how it takes blanks."""
    if not _takes_blanks(vocabulary, token):
        return token
    return {"__type": "AddedToken", "content": token, "rstrip": True, "normalized": False, "special": True}
