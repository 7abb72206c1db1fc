r"""Texts that tokenizers often get wrong: white space, contractions, digits, marks, scripts, code.

The fixed texts try each kind alone and between words. The random ones mix characters of a few
kinds, among them all that Unicode 16.0 assigns. The same arguments give the same texts.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toksmith.splitters.compiler.code_points import CodePoints

MOST = 80
"""The length of the longest random text, in characters."""

GROUPS: tuple[Sequence[str], ...] = (
    "abcdefghijklmnopqrstuvwxyz",
    "aeiounrstlhd ",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    (" ", "  ", "   ", " " * 9, "\n", "\n\n", "\r\n", "\t", "\r", "\x0b", "\x85", " \n"),
    "\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\u200b\u200e\u2060\ufeff\xad",
    "\0\x01\x02\x08\x1c\x1f\x7f\x80\x9f",
    "éàüßñçøÅŒšžğİıſKÅœ½²³ﬁﬀ№℡㍿㌔…‥™ªºſẛ",
    "αβγδΣςабвгдЖщЩЁё" + "אבגשלם" + "مرحبا\u064b\u0651ـ",
    "नमस्ते" + "ไทยกำ" + "བོད\u0f73" + "ကမ္ဘာ",
    "中文漢字日本語ひらがなカタカナー々〆、。「」한국어안녕" + "\u1112\u1161\u11ab",
    "ＡＢｃ１２！？　ｱｲｶﾞﾊﾟ｡｢￥",
    ("👋", "👩\u200d👩\u200d👧", "🏳️\u200d🌈", "👍🏽", "🇰🇷", "1️⃣", "☺️", "\u200d", "\ufe0f"),
    ("e\u0301", "a\u0308\u0323", "ö\u0304", "q\u0307", *"\u0301\u0323\u20dd\u0345\u3099"),
    "▁▁▁ _▂▅\ufffd\ufffe\ue000\U000f0000\U0010ffff\u0378",
    "𠀀𠮷𝐀𝒶𐐀𐌰𞤀㐀\U00011f5a\U0001fae9",
    ("<s>", "</s>", "<unk>", "<pad>", "<0x0A>", "<0x41>", "<|endoftext|>", "[CLS]", "[MASK]"),
    ("the", " the", " and", "Hello", "WORLD", "don't", "'s", "'LL", "http://x.y/z?a=1", "1,000.5"),
)  # fmt: skip
"""Characters and short strings of one kind each, from which random texts are made."""

_SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
_LINES = ("\n", "\r", "\r\n", "\n\n", "\n\r", " \n", "\n ", "\t\n\t", "\r\n\r\n", "  \n  \n ")
_SUFFIXES = (
    "'s", "'t", "'d", "'m", "'ll", "'ve", "'re", "'ſ", "'S", "'T", "'LL", "'Ve", "'rE", "’s",
    "’LL", "'n", "'", "''", "'s's", "'ſ'S",
)  # fmt: skip
_DIGITS = (
    "0", "12", "123", "1234", "1234567", "٣٤٥٦", "۴۵۶۷", "१२३४", "๑๒๓๔", "１２３４", "𝟏𝟐𝟑𝟒",
    "Ⅻ", "½¾", "²³⁴⁵", "①②③", "一二三四", "1,234.5", "1e-9", "0x1F", "12:34:56", "3rd", "x86",
    "𞥐𞥑𞥒𞥓", "١2३4", "10²³", "v1.2.3",
)  # fmt: skip
_MARKS = (
    "e\u0301", "\u0301e", "a\u0301\u0323\u0308", " \u0301", "\n\u0301", "1\u0301", "'\u0323s",
    "o\u0323'\u0323o", "\u0301", "x\u20dd", "\u034f", "q\u0307\u0323", "\u1100\u1161\u11a8",
    "\u0e33", "\u0f73", "\u3099か", "ﾊﾟ", "ẛ\u0323", "İ", "ß", "ﬃ", "Å", "\u212b",
)  # fmt: skip
_EMOJI = (
    "👋", "👍🏽", "👩\u200d👩\u200d👧\u200d👦", "🏳️\u200d🌈", "🇰🇷🇺🇸🇪", "1️⃣", "#️⃣", "☺️", "☺︎",
    "🧑🏿\u200d🚀", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "\u200d👋", "👋\ufe0f\ufe0f", "❤️\u200d🔥", "\U0001fae9",
)  # fmt: skip
_SCRIPTS = (
    "中文字符测试。", "日本語のテキスト、カタカナー。", "한국어 텍스트입니다",
    "ภาษาไทยไม่มีช่องว่าง", "مرحبًا بالعالم، كيف حالك؟", "नमस्ते दुनिया क्षत्रिय",
    "Привет, МИР!", "Γειά σου Κόσμε ΣΟΣ", "שָׁלוֹם עוֹלָם", "ქართული ენა", "አማርኛ ቋንቋ",
    "বাংলা ভাষা", "தமிழ் மொழி", "ខ្មែរ", "မြန်မာ", "བོད་སྐད་", "Հայերեն", "ᏣᎳᎩ", "ⴰⵎⴰⵣⵉⵖ",
    "𞤀𞤣𞤤𞤢𞤥", "𐐔𐐯𐐨𐑅𐐨𐐻", "𠮷野家𠀀", "Tiếng Việt ngữ", "Türkçe İIıi", "naïve café ÀÉÎ",
    "Ωmega µ Å",
)  # fmt: skip
_CODE = (
    "def f(x):\n    return x**2  # 平方\n\n\n",
    "\tif (a&&b) {\r\n\t\tc[i++] = ~d>>2;\r\n\t}\r\n", "    \n        x = {'a': 1}\n",
    "SELECT * FROM t WHERE a<>'b';--x", "<p class=\"x\">&amp;</p>", "camelCaseHTMLParser2XML",
    "snake_case__x", "https://example.com/a?b=c&d=%20#e", "C:\\Users\\x\\n", "user@example.com",
    "!!!???...///***", "$€£¥ 100%", "a/b//c", "\\frac{a}{b}", "{\"k\": [null, -1.5e+10]}",
    "x  =  1;  // two  spaces", "/**\n * a\n */\n", "==>=<=!=", "#!/bin/sh\n",
    "....\n\n\n    ....",
)  # fmt: skip
_CASES = (
    "HELLO World hELLO", "iPhone McDonald USA's", "ÉCOLE École", "ǅ ǈ ǋ", "ABCdefGHI", "aB",
    "K KELVIN ſharp", "ΑΣ ας", "ẞß", "XMLHttpRequest",
)  # fmt: skip
_ODD = (
    "", " ", "\0", "a\0b", "\x01\x02", "\x7f\x80\x9f", "\xad", "\u200b\u200c\u200d",
    "\u202eabc", "\ufffd", "\ufffe", "\uffff", "\ue000", "\U000f0000", "\U0010ffff", "▁",
    "▁▁a ▁b", "a▁b", "Ġ", "Ċx", "<0x41>", "##ing", "</w>", "_ _", "\ufeffa", "ﷺ", "ﷲ", "㍿",
    "…", "™", "“q” ‘q’", "—–-",
)  # fmt: skip
_LONG = (
    "a", "ab", "A", "é", "中", "1", " ", "\n", "\t", "!", "a ", "👋", "\u0301", "\r\n", "한",
    "'s", "0 ", "xy\n",
)  # fmt: skip
_LITERALS = 40
"""How many literals of special tokens are tried."""


def hard_texts(literals: Iterable[str] = (), *, count: int = 2_000, seed: int = 0) -> list[str]:
    r"""Return texts that tokenizers often get wrong, each once.

    Args:
        literals: the special tokens of the tokenizers, such as ``<|endoftext|>``; the first 40 are
            tried alone, in words, doubled, cut and in another case.
        count: how many random texts follow the fixed ones.
        seed: another seed gives other random texts.

    Example:
        >>> texts = hard_texts(["<|end|>"])
        >>> len(texts) == len(set(texts)) > 2_000, "a<|end|>b" in texts, "it\r\n\r\nit" in texts
        (True, True, True)
    """
    some = [literal for literal in literals if literal][:_LITERALS]
    fixed = [*_fixed(), *_around(some)]
    return list(dict.fromkeys([*fixed, *random_strings(some, count, seed=seed)]))


def _fixed() -> Iterable[str]:
    for space in (*_SPACES, *_LINES):
        yield from (space, f"it{space}it", f"{space}it", f"it{space}", f"it {space}it", space * 3)
        yield from (f"it{space * 4}1{space * 2}!", f"\n{space}\n", f"it{space} \n{space}it")
    for suffix in _SUFFIXES:
        yield from (
            suffix,
            f"it{suffix}",
            f"IT{suffix} it",
            f" {suffix}x",
            f"1{suffix}",
            f"!{suffix}",
        )
    for some in (_DIGITS, _MARKS, _EMOJI, _SCRIPTS, _CASES, _ODD):
        for one in some:
            yield from (
                one,
                f" {one}",
                f"{one}a",
                f"a{one} ",
                f"1{one}",
                f"{one}\n",
                f"({one})",
                one * 2,
            )
        yield " ".join(some)
        yield "".join(some)
    yield from _CODE
    yield "".join(_CODE)
    yield from ("\ud800", "a\ud83d\ude00b", "\udc00x", " \udfff\ud800 ")  # surrogates
    for one in _LONG:
        yield from (one * length for length in (5, 17, 101, 300, 3_000))


def _around(literals: Sequence[str]) -> Iterable[str]:
    for one in literals:
        yield from (one, f"a{one}b", f" {one} ", f"\n{one}\n", one * 2, one[:-1], one[1:])
        yield from (one.upper(), one.lower(), f"{one[:-1]}{one}", f"é{one}中")
    yield "".join(literals)


def random_strings(pieces: Sequence[str], count: int, *, seed: int = 0) -> list[str]:
    """Return strings of 0 to 80 characters, each of a few groups of characters.

    Args:
        pieces: pieces of the model, including control pieces, which no text may produce.
        count: how many strings.
        seed: another seed gives other strings.
    """
    rng = random.Random(f"strings {count} {seed}")
    return [_string(rng, pieces) for _ in range(count)]


def _string(rng: random.Random, pieces: Sequence[str]) -> str:
    length = rng.randint(0, rng.choice((3, 12, MOST)))
    groups = rng.choices(GROUPS, k=rng.randint(1, 4))
    text = ""
    while len(text) < length:
        match rng.randrange(12):
            case 0 if pieces:
                text += rng.choice(pieces)
            case 0 | 1:
                text += _character(rng, rng.choice((0x250, 0x3000, 0x10000, 0x110000)))
            case 2:
                text += rng.choice(rng.choice(groups)) * rng.choice((2, 3, 5, 20))
            case _:
                text += rng.choice(rng.choice(groups))
    return text[:length]


def _character(rng: random.Random, below: int) -> str:
    """Return a character of a random run below a number; runs of all scripts are as likely."""
    starts, ends = _assigned()
    run = rng.randrange(bisect(starts, below - 1))
    return chr(rng.randrange(starts[run], ends[run]))


@cache
def _assigned() -> tuple[CodePoints, CodePoints]:
    """Return the starts and ends of the runs of characters that Unicode 16.0 assigns."""
    from toksmith.splitters.compiler.code_points import complement, union
    from toksmith.splitters.compiler.properties import named

    points = complement(union(*(named(name) for name in ("Cn", "Cs", "Co"))))
    return points[::2], points[1::2]


def is_unassigned(character: str) -> bool:
    r"""Return whether Unicode 16.0 assigns no character here; a newer version may.

    Example:
        >>> is_unassigned("a"), is_unassigned("\u0378")
        (False, True)
    """
    from toksmith.splitters.compiler.properties import named

    return bisect(named("Cn"), ord(character)) % 2 == 1
