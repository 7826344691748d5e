"""The rules by which tokenizers cut a text into words before they join characters, by the names that GGUF files use.

A GGUF file has no room for such a rule: `tokenizer.ggml.pre` only names one. What a name means is written down nowhere
but in llama.cpp (`src/llama-vocab.cpp`, `src/unicode.cpp`), so that is followed here, also where it differs from what
the model's maker published:

- A class of letters of one case there holds all letters outside ASCII.
- `\\d` means the ASCII digits, and no blank outside ASCII is in a range of characters.
- Where a rule groups digits from the right, the text before a number stays with its first group.

Characters that were added to Unicode after version 15 are unassigned there; here they are what they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

_N, _L = r"\p{N}", r"\p{L}"
_ENDINGS = "'(?:[sdmt]|ll|ve|re)"
_ANY_ENDINGS = "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_SIGNS = r" ?[^\s\p{L}\p{N}]+"
_LINES, _BLANKS = r"\s*[\r\n]+", r"\s+(?!\S)|\s+"
_LINE_OR_NOT = r"[^\n]+|\n+"

_GPT2 = rf"{_ENDINGS}| ?\p{{L}}+| ?\p{{N}}+|{_SIGNS}|{_BLANKS}"


def _modern(digits: str, word: str = rf"{_ANY_ENDINGS}|{_WORD}", signs: str = rf"{_SIGNS}[\r\n]*") -> str:
    """The pattern that tokenizers since GPT-4 share, and what differs: how many digits are a word, what else is one."""
    return f"{word}|{digits}|{signs}|{_LINES}|{_BLANKS}"


def _by_case(letters: str, ending: str = "") -> str:
    """A word that ends where a capital follows a small letter."""
    large, small = rf"[{letters}&&[^a-z]]", rf"[{letters}&&[^A-Z]]"
    before = r"[^\r\n\p{L}\p{N}]?"
    return f"{before}{large}*{small}+{ending}|{before}{large}+{small}*{ending}"


_ENDING_OR_NOT = f"(?:{_ANY_ENDINGS})?"
_SIGNS_OF_CODE = rf"{_SIGNS}[\r\n/]*"
_MARKED_LETTERS = r"[\p{L}\p{M}]"
_ONE_SIGN_AND_LATIN = r"[!-/:-@\[-`{-~][A-Za-z]+"
_DEEPSEEK_WORD = r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
_DEEPSEEK_SIGNS = r" ?[\p{P}\p{S}]+"
_DEEPSEEK = rf"{_ONE_SIGN_AND_LATIN}|{_DEEPSEEK_WORD}|{_DEEPSEEK_SIGNS}[\r\n]*|{_LINES}|{_BLANKS}"
_HAN_AND_KANA = "[一-龥぀-ゟ゠-ヿ]+"
_FROM_THE_RIGHT = (
    rf"(?<={_N}){_N}{{3}}"
    rf"|(?<!\P{{N}})\P{{N}}*(?:{_N}{{1,2}}(?=(?:{_N}{{3}})*(?!{_N}))|{_N}{{3}})"
)
"""Digits in groups of three, counted from the right: only the first group of a number looks for its end."""

_EAST_ASIAN = r"[一-龥ࠀ-一가-퟿&&[^\s]]+"
_LETTERS_OF_2023 = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\u1f7dᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥ"
    "ῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)
_HAN = "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002ebef\uf900-\ufaff\U0002f800-\U0002fa1f"
_KIMI_LETTERS = rf"[\p{{L}}&&[^{_HAN}]]"
_SOUTH_AND_EAST_ASIAN = "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+"
_BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"
_LONG_BLANKS = "|".join(rf"\s{{{count}}}(?!\S)" for count in (512, 256, 128, 64, 32, 16, 8, 4)) + r"|\s{1,2}(?!\S)|\s"


@dataclass(frozen=True, slots=True)
class Splitting:
    """How a text becomes words. Each of `patterns` in turn cuts what the ones before it left; what matches is a word,
    and so is what lies between two matches.

    `is_whole_first`: a word that is a token is that token, whatever merges there are. `adds_bos`: whether a prompt
    begins with the BOS token where the file does not say. `spells_bytes`: tokens spell each byte as a letter, as in
    GPT-2; otherwise they are plain text with "▁" for a blank.
    """

    patterns: tuple[str, ...]
    is_whole_first: bool = False
    adds_bos: bool = False
    spells_bytes: bool = True


_LLAMA3 = Splitting((_modern(rf"{_N}{{1,3}}"),))
_QWEN2 = Splitting((_modern(_N),))
_GPT4O = Splitting((_modern(rf"{_N}{{1,3}}", _by_case(_L, _ENDING_OR_NOT), _SIGNS_OF_CODE),))
_STARCODER = Splitting((_N, _GPT2))
_DEEPSEEK3 = Splitting((rf"{_N}{{1,3}}", _HAN_AND_KANA, _DEEPSEEK))
_PLAIN_TEXT = Splitting((_LINE_OR_NOT,), spells_bytes=False)

_BY_NAMES = {
    "default": Splitting((r"[\p{P}$+<=>^~|]+", _GPT2, rf"{_N}+", "[0-9]{3}")),
    "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano": replace(
        _LLAMA3, is_whole_first=True, adds_bos=True
    ),
    "dbrx smaug-bpe chatglm-bpe": _LLAMA3,
    "glm4 glm5": replace(_LLAMA3, is_whole_first=True),
    "jais-2": Splitting((f"{_ANY_ENDINGS}|{_WORD}|{_N}{{1,3}}|{_SIGNS}[\\r\\n]*|{_LINES}|{_LONG_BLANKS}",)),
    "minicpm5": Splitting((rf"{_N}{{1,3}}", _modern(rf"{_N}+")), is_whole_first=True),
    "deepseek-llm": Splitting(
        (r"[\r\n]", rf"\s?[{_LETTERS_OF_2023}]+", r"\s?[!-/:-~！-／：-～‘-‟、。]+", r"\s+\z", _EAST_ASIAN, rf"{_N}+")
    ),
    "deepseek-coder": Splitting((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _EAST_ASIAN, _N)),
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": _DEEPSEEK3,
    "spark2_5": Splitting(
        (
            *_DEEPSEEK3.patterns[:2],
            rf"{_ONE_SIGN_AND_LATIN}|{_DEEPSEEK_WORD}|{_DEEPSEEK_SIGNS}|[\r\n]|{_BLANKS}",
            _N,
        )
    ),
    "youtu": Splitting(
        (
            "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|" + _HAN_AND_KANA,
            _modern(_N, rf"[^\r\n\p{{L}}\p{{N}}]?{_MARKED_LETTERS}+{_ENDING_OR_NOT}", _SIGNS_OF_CODE),
        ),
        is_whole_first=True,
    ),
    "falcon": Splitting((r"[\p{P}$+<=>^~|`]+", _GPT2, "[0-9]{3}")),
    "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2": _STARCODER,
    "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jina-v1-en jina-v2-code "
    "roberta-bpe mpt olmo jais trillion granite-docling exaone4": Splitting((_GPT2,)),
    "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2": _QWEN2,
    "qwen35": Splitting(
        (
            _modern(
                _N,
                rf"{_ANY_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?{_MARKED_LETTERS}+",
                r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*",
            ),
        )
    ),
    "poro-chat bloom gpt3-finnish": Splitting((_BLOOM,)),
    "viking": Splitting((_BLOOM, _N)),
    "tekken": Splitting((_modern(_N, _by_case(_L), _SIGNS_OF_CODE),), is_whole_first=True, adds_bos=True),
    "chameleon": Splitting(
        (
            "<sentinel:[0-9]+>",
            "IMGIMG[A-I]{1,4}Z",
            r"[\t\n]|    |  ",
            _N,
            r"[\p{P}!-/:-@\[-`{-~]",
            _GPT2,
        ),
        adds_bos=True,
    ),
    "gpt-4o llama4 kanana2 talkie minimax-m2": _GPT4O,
    "granite-embed-multi-97m": Splitting(
        (_modern(rf"{_N}{{1,3}}", _by_case(r"\p{L}\p{M}", _ENDING_OR_NOT), _SIGNS_OF_CODE),), is_whole_first=True
    ),
    "tiny_aya cohere2moe": Splitting(
        (
            _FROM_THE_RIGHT,
            _modern(rf"{_N}{{1,3}}", rf"[^\r\n\p{{L}}\p{{N}}]?{_MARKED_LETTERS}+{_ENDING_OR_NOT}", _SIGNS_OF_CODE),
        )
    ),
    "kimi-k2": Splitting(
        (_modern(rf"{_N}{{1,3}}", rf"[{_HAN}]+|[^\r\n\p{{L}}\p{{N}}]?{_KIMI_LETTERS}+{_ENDING_OR_NOT}"),)
    ),
    "superbpe": Splitting((rf"{_N}+", "(?=(?:[0-9]{3})+(?![0-9]))")),
    "bailingmoe bailingmoe2 llada-moe": Splitting(
        (rf"{_ANY_ENDINGS}|{_WORD}|{_N}|{_SIGNS}[\r\n]*|\s*[\r\n]|{_BLANKS}",)
    ),
    "seed-coder": Splitting((_modern(_N, signs=r" ?[^\s\p{L}\p{N}\r\n]+"),)),
    "ufakzeka": Splitting((_modern(_N, _WORD),)),
    "afmoe": Splitting((_FROM_THE_RIGHT, _SOUTH_AND_EAST_ASIAN, _DEEPSEEK)),
    "laguna": Splitting((_LINE_OR_NOT, *_QWEN2.patterns)),
    "exaone-moe": Splitting(
        (
            rf"{_ANY_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|{_N}|{_SIGNS}[\r\n/]?"
            rf"|\s*[\r\n]|{_BLANKS}",
        )
    ),
    "gemma4 granite-embed-multi-311m": replace(_PLAIN_TEXT, adds_bos=True),
    "sarvam-moe": _PLAIN_TEXT,
}

SPLITTINGS = {name: splitting for names, splitting in _BY_NAMES.items() for name in names.split()}
"""What each `tokenizer.ggml.pre` means."""
