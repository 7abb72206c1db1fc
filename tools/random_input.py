"""Seeded random strings and lists of ids that tokenizers often get wrong."""

from __future__ import annotations

import random
from collections.abc import Sequence

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
MOST = 80
"""Characters that a string has at most."""


def random_strings(pieces: Sequence[str], count: int) -> list[str]:
    """Return strings of 0 to 80 characters, each of a few groups of characters.

    Args:
        pieces: pieces of the model, including control pieces, which no text may produce.
        count: how many strings.
    """
    rng = random.Random(f"strings {count}")
    return [_string(rng, pieces) for _ in range(count)]


def _string(rng: random.Random, pieces: Sequence[str]) -> str:
    length = rng.randint(0, rng.choice((3, 12, MOST)))
    groups = rng.choices(GROUPS, k=rng.randint(1, 4))
    text = ""
    while len(text) < length:
        match rng.randrange(12):
            case 0:
                text += rng.choice(pieces)
            case 1:
                code = rng.randrange(rng.choice((0x250, 0x3000, 0x10000, 0x110000)))
                text += chr(code) if not 0xD800 <= code < 0xE000 else " "
            case 2:
                text += rng.choice(rng.choice(groups)) * rng.choice((2, 3, 5, 20))
            case _:
                text += rng.choice(rng.choice(groups))
    return text[:length]


def random_ids(groups: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Return lists of up to 12 ids, of all groups alike.

    Args:
        groups: ids of one kind each.
        count: how many lists.
    """
    rng = random.Random(f"ids {count}")
    lists = []
    for _ in range(count):
        few = rng.choices(groups, k=rng.randint(1, len(groups)))
        lists.append([rng.choice(rng.choice(few)) for _ in range(rng.randint(0, 12))])
    return lists
