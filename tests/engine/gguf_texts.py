"""Texts that tell tokenizers apart: scripts, code, digits, blanks, emoji, marks, special tokens, random characters."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Sequence

NATURAL = """\
The quick brown fox doesn't jump over the lazy dog's back; they'll say it's what I'd do, won't you?
HE'LL SAY IT'S WHAT I'D DO. We'Ve seen, You'Re here, I'M gone. O'Neill's rock 'n' roll, 'tis.
Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. Straße, Äpfel, naïve café, façade.
Il était une fois, à l'œuvre où l'on s'aimait… «Déjà vu», dit-elle — n'est-ce pas ?
El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia; ¿por qué no? ¡Claro que sí!
Pchnąć w tę łódź jeża lub ośm skrzyń fig. Příliš žluťoučký kůň úpěl ďábelské ódy.
Съешь же ещё этих мягких французских булок, да выпей чаю. Щука плыла 15,5 км за 3-4 часа.
Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Ἐν ἀρχῇ ἦν ὁ λόγος, καὶ ὁ λόγος ἦν πρὸς τὸν θεόν.
新しい日本語の文章です。カタカナとひらがな、漢字を混ぜて書きます。東京タワーは333メートル!
今天天气很好，我们去公园散步吧。他说：“你好！”然后离开了。价格是１２３４元。
안녕하세요 세계! 키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다. ㄱㄴㄷ
نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق. ١٢٣٤٥، ٪؟
דג סקרן שט בים מאוכזב ולפתע מצא לו חברה. שָׁלוֹם עֲלֵיכֶם
ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले। १२३४५६
เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน ๑๒๓๔
আমি বাংলায় গান গাই, আমি বাংলার গান গাই। ০১২৩
ගුරු ශිෂ්‍ය සම්බන්ධතාව தமிழ் மொழி తెలుగు ಕನ್ನಡ മലയാളം ભાષા ਪੰਜਾਬੀ
ქართული ანბანი ԵՐԵՎԱՆ հայերեն አማርኛ ភាសាខ្មែរ ລາວ မြန်မာ བོད་ཡིག ᏣᎳᎩ ᚠᛇᚻ
Tiếng Việt: Bầu trời xanh thẳm, Việt Nam. Türkçe: İstanbul'da ılık bir gün, I ı i İ.
ꦗꦮ ᮞᮥᮔ᮪ᮓ ⲁⲃⲅ 𐌲𐌿𐍄𐌹𐍃𐌺 𐐔𐐯𐑅𐐨𐑉𐐯𐐻 𝒜𝓁𝑔𝑒𝒷𝓇𝒶 ﬁ ﬂ Ａｂｃ ｱｲｳ Ω K Å ſ ẞ ß ŉ Ǆ ǅ ǆ"""
CODE = r"""
def fib(n: int) -> int:
    '''Computes it.'''
    return n if n < 2 else fib(n-1)+fib(n - 2)  # O(2**n)
#include <stdio.h>
int main(void) { printf("%d\n", 0x1F & ~3); return -1; }
	if (a[i] != NULL && *p++ == '\t') { goto end; }
SELECT `id`, COUNT(*) FROM "users" WHERE name LIKE '%o''x%' GROUP BY 1 HAVING n>=10;
<div class="a b" id='x'>&nbsp;&amp;<!-- no --></div><br/>
{"key": [1, 2.5e-10, null, true], "ключ": "\u00e9"}
$HOME/.config/*.json | grep -E '^[a-z]+\.[0-9]{1,3}$' && echo "done" >&2
\begin{align} \alpha_i^{2} &= \sum_{k=1}^n \frac{x_k}{k!} \\ \end{align}
fn main() -> Result<(), Box<dyn Error>> { let v: Vec<_> = (0..10).map(|x| x*x).collect(); Ok(()) }
@media (max-width:600px){.a>.b{color:#FFF}} camelCase PascalCase snake_case SCREAMING_CASE kebab-case iOS macOS
https://example.com/a/b?c=d&e=%20f#g user@mail.org C:\Users\me C++ C# F# .NET"""
DIGITS = (
    "0 7 42 123 1234 12345 123456 1234567 12345678 3.14159 1,000,000 10:45:59 2024-02-29 0xDEADBEEF 1e-9 "
    "½ ²³ Ⅷ ①② ١٢٣٤ १२३ ４５６７ 五十 00000001 9999999999999999 +49(0)30/123-45 v2.0.1 $5.99 50% x1y22z333"
)
EMOJI = "😀 🤷🏽‍♀️ 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇯🇵 ❤️ ☺ ✅ 👍🏿 🚀🚀🚀 1️⃣ ©® ™ ‍ ️ 🦙.cpp (✿◠‿◠) ¯\\_(ツ)_/¯ \U0001fae0"
MARKS = (
    "e\u0301 a\u0308\u0323 \u0301x n\u0303o \u200bzero \u200d join\u200c er \ufeffbom soft\u00adhy "
    "\u202ertl\u202c Z\u0351\u036b\u0343a\u0328l\u0321g\u0489o \u0915\u094d\u0937 \u1112\u1161\u11ab "
    "\u0e01\u0e33"
)
BLANKS = (
    " ",
    "  ",
    "   ",
    "        ",
    "\t",
    "\t\t",
    "\n",
    "\n\n",
    "\n\n\n",
    "\r\n",
    "\r",
    " \n ",
    "\n \n",
    "\u00a0",
    "\u3000",
    "\u2003",
    "\u2028",
    "\x0b",
    "\x0c",
    "\x85",
    "\u200b",
    " " * 33,
    "\n" * 12,
)
SIGNS = (
    "'s 't 're 'VE 'LL 'd ' '' \" `` ``` ... … !!! ?! -- --- — – ** == === => -> :: // /* */ && || <> [] "
    "{} () $$ ## @@ ~~ ^^ \\\\ ，。！？：；“”‘’「」『』（）、〜 ،؟ ।॥ ·•¿¡«»‹› ▁ ▁▁ Ġ Ċ <0x0A> [UNK] <s> </s> <unk> "
    "<|im_start|> <|endoftext|> <mask> \x00 \x01 \x1f \x7f \x80 \ufffd \ue000 \ufdd0 \uffff \U0010ffff"
)


def texts(special: Sequence[str], count: int, seed: int = 0) -> list[str]:
    """`count` texts, the same for the same seed. `special` are tokens that are strewn into some of them."""
    draw = random.Random(seed)
    parts = _parts()
    known = [*NATURAL.split("\n"), *CODE.split("\n"), DIGITS, EMOJI, MARKS, NATURAL, CODE, " ".join(BLANKS), SIGNS, ""]
    known += list(BLANKS)
    makers = [_mixed, _mixed, _mixed, _strewn, _strewn, _digits, _blanks, _random_characters, _cut]
    while len(known) < count:
        known.append(draw.choice(makers)(draw, parts, special))
    return known[:count]


def _parts() -> list[str]:
    words = f"{NATURAL} {CODE} {DIGITS} {EMOJI} {MARKS} {SIGNS}".split(" ")
    return [*words, *BLANKS]


def _mixed(draw: random.Random, parts: Sequence[str], special: Sequence[str]) -> str:
    joint = draw.choice(["", " ", " ", "\n"])
    return joint.join(draw.choice(parts) for _ in range(draw.randint(1, 25)))


def _strewn(draw: random.Random, parts: Sequence[str], special: Sequence[str]) -> str:
    """Special tokens before and behind other parts, with blanks around them and without."""
    if not special:
        return _mixed(draw, parts, special)
    found = [draw.choice(special) if draw.random() < 0.35 else draw.choice(parts) for _ in range(draw.randint(1, 14))]
    return draw.choice(["", " ", "\n"]).join(found)


def _digits(draw: random.Random, parts: Sequence[str], special: Sequence[str]) -> str:
    runs = ["".join(draw.choices("0123456789", k=draw.randint(1, 12))) for _ in range(draw.randint(1, 8))]
    return draw.choice(["", " ", ",", "a", "٣", ". ", "\u200b", "五"]).join(runs)


def _blanks(draw: random.Random, parts: Sequence[str], special: Sequence[str]) -> str:
    return "".join(draw.choice([*BLANKS, "a", "Z", "é", ".", "7", "中"]) for _ in range(draw.randint(1, 20)))


def _random_characters(draw: random.Random, parts: Sequence[str], special: Sequence[str]) -> str:
    """Characters from all of Unicode that are assigned, most of them from its first part."""
    found: list[str] = []
    while len(found) < draw.randint(1, 40):
        character = chr(draw.randrange(draw.choice([0x80, 0x800, 0x10000, sys.maxunicode + 1])))
        if unicodedata.category(character) not in ("Cn", "Cs"):
            found.append(character)
    return "".join(found)


def _cut(draw: random.Random, parts: Sequence[str], special: Sequence[str]) -> str:
    source = draw.choice([NATURAL, CODE, SIGNS, EMOJI, MARKS, DIGITS])
    start = draw.randrange(len(source))
    return source[start : start + draw.randint(1, 120)]
