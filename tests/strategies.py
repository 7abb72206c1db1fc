"""Texts that tokenizers often get wrong: a fast seeded generator, and hypothesis strategies."""

from __future__ import annotations

import random
from functools import cache

from hypothesis import strategies as st

# Each group is drawn from with equal chance, so that rare things meet often.
GROUPS: tuple[tuple[str, ...], ...] = (
    tuple("abcdefghijklmnopqrstuvwxyz"),
    tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    tuple("0123456789"),
    (" ", " ", " ", "  ", "   ", "\n", "\n", "\r\n", "\t", "\r", " \n", "\n\n", "\n "),
    tuple("\u00a0\u0085\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\x0b\x0c"),
    tuple("\x00\x01\x1c\x1d\x1e\x1f\x7f\u180e\u200b\u200d\u2060\ufeff\ufffd"),
    tuple(".,;:!?'\"()[]{}<>/\\|@#$%^&*-_+=~`"),
    ("'s", "'S", "'ſ", "'t", "'T", "'re", "'RE", "'Re", "'ve", "'vE", "'m", "'M", "'ll", "'lL"),
    ("'d", "'D", "'", "''", "’s", "'ſt", " 's", "'s's", "'r", "'l", "'v", "'x", "s'", "'é"),
    tuple("éàüßñçøÅÆŒšžğİıſKÅ"),  # İ, ı, ſ, Kelvin and Ångström fold oddly
    tuple("αβγδΣςΩабвгдЖЩԱաႠაᏣ"),
    tuple("ǅǈǋǲᾈᾼ"),  # title case
    tuple("ʰʱˀˠⁿªºーゝ々ـ"),  # modifier letters
    tuple("مرحباשלום"),
    tuple("नमस्तेไทยমলཀམཾ"),
    tuple("中文漢字日本語ひらがなカタカナ한국어"),
    tuple("𠀀𠮷𪚥𝐀𝒶𐐀𐐨𐌰𞤀𞤢"),  # beyond 16 bits
    tuple("٠١٣५६๗৪〇〡Ⅷⅻ²³½¾①⑩㊿𝟘𝟡༳"),
    ("e\u0301", "a\u0308\u0323", "\u0301", "\u20dd", "\u0e31", "\u093f", "\ufe0f", "\u0345"),
    ("👋", "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇰🇷", "🇺", "1️⃣", "☺️", "😄", "🫠"),
    tuple("«»“”„—–…·•©®™€£¥§¶±×÷√∞≠¿¡、。「」！？"),
    ("\u0378", "\ue000", "\U000f0000", "\U0010ffff", "\ufdd0", "\U0001fae9", "\U00011f5a"),
    ("/", "//", "/\n", "\n/", "...", "!!!", "\r\r\n", "<|endoftext|>", "http://x.y/z?a=1"),
    ("the", " the", " and", "Hello", "WORLD", "iPhone", "camelCase", "x86", "don't", "O'Neill"),
)
RUNS = (1, 1, 1, 2, 3, 6)
SURROGATES = ("\ud800", "\udbff", "\udc00", "\udc80", "\udcff", "\udfff", "\ud83d", "\ude00")


def random_text(rng: random.Random, pieces: int = 24, surrogates: bool = False) -> str:
    """Return a string of up to so many pieces, with runs of one kind as real text has them."""
    groups = (*GROUPS, SURROGATES) if surrogates else GROUPS
    parts: list[str] = []
    # Millions of pieces are made, so rng.choice() and rng.choices() are spelled out.
    bits, draw, fraction = rng.getrandbits, len(groups).bit_length(), rng.random
    for _ in range(rng.randint(0, pieces)):
        while (place := bits(draw)) >= len(groups):
            pass
        while (run := bits(3)) >= len(RUNS):
            pass
        group = groups[place]
        parts += [group[int(fraction() * len(group))] for _ in range(RUNS[run])]
    return "".join(parts)


def random_bytes(rng: random.Random, pieces: int = 24) -> bytes:
    """Return bytes that are mostly text but no UTF-8: characters cut, bytes changed or inserted."""
    data = bytearray(random_text(rng, pieces).encode())
    for _ in range(rng.randint(1, 6)):
        where = rng.randint(0, len(data))
        match rng.randrange(4):
            case 0:
                data[where:where] = rng.randbytes(rng.randint(1, 4))
            case 1:
                del data[where : where + rng.randint(1, 3)]
            case 2:
                data[where : where + 1] = bytes([rng.choice(HARD_BYTES)])
            case _:
                data[where:where] = rng.choice(HARD_SEQUENCES)
    return bytes(data)


HARD_BYTES = (0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF)
HARD_SEQUENCES = (
    b"\xc0\xaf",  # overlong slash
    b"\xe0\x80\x80",  # overlong in three bytes
    b"\xf0\x80\x80\xaf",  # overlong in four
    b"\xed\xa0\x80",  # an encoded surrogate
    b"\xed\xa0\xbd\xed\xb8\x80",  # an encoded surrogate pair
    b"\xf4\x90\x80\x80",  # beyond the last code point
    b"\xe2\x82",  # a character without its end
    b"\xf0\x9f\x91",
    b"\x80\x80\x80",
)


def random_texts(seed: int, count: int, pieces: int = 24, surrogates: bool = False) -> list[str]:
    """Return so many random strings, the same for the same seed."""
    return [*_texts(seed, count, pieces, surrogates)]


@cache
def _texts(seed: int, count: int, pieces: int, surrogates: bool) -> tuple[str, ...]:
    rng = random.Random(seed)
    return tuple(random_text(rng, pieces, surrogates) for _ in range(count))


def random_byte_texts(seed: int, count: int, pieces: int = 24) -> list[bytes]:
    """Return so many random byte strings that are mostly no UTF-8."""
    return [*_byte_texts(seed, count, pieces)]


@cache
def _byte_texts(seed: int, count: int, pieces: int) -> tuple[bytes, ...]:
    rng = random.Random(seed)
    return tuple(random_bytes(rng, pieces) for _ in range(count))


_hard_pieces = st.sampled_from([piece for group in GROUPS for piece in group])

texts = st.one_of(st.text(), st.lists(_hard_pieces, max_size=30).map("".join))
"""Strings without surrogates."""

texts_with_surrogates = st.lists(
    st.one_of(_hard_pieces, st.sampled_from(SURROGATES)), max_size=20
).map("".join)

byte_texts = st.one_of(
    st.binary(),
    st.lists(
        _hard_pieces.map(str.encode) | st.binary(max_size=3) | st.sampled_from(HARD_SEQUENCES),
        max_size=20,
    ).map(b"".join),
)
"""Bytes, mostly no UTF-8."""

any_texts = st.one_of(texts, byte_texts)
