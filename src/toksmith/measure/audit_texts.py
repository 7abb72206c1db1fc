"""Checks of an audit that encode texts: round trips, digits, white space, special tokens."""

from __future__ import annotations

from collections.abc import Iterator

from toksmith._base.lazy import np, npt
from toksmith._base.visible import visible
from toksmith.measure.findings import Example, Finding, Severity
from toksmith.measure.reachability import tokens_of
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special

ROUND_TRIPS = {
    "small letters": "the quick brown fox",
    "capitals": "The Quick BROWN Fox",
    "digits and punctuation": 'a 1,234.50 (x) "y" -- [z]!',
    "accents": "naïve café, Zürich, ångström",
    "accents as marks of their own": "nai\u0308ve cafe\u0301",
    "several spaces": "a  b   c        d",
    "spaces at the ends": " a ",
    "line breaks and tabs": "a\n\tb\r\n\n\nc",
    "other scripts": "Привет мир, γειά, مرحبا, שלום, नमस्ते, สวัสดี",
    "CJK": "今天天气很好。東京タワー 안녕하세요",
    "emoji": "👋🏽 👨\u200d👩\u200d👧 ☃\ufe0f",
    "forms that NFKC changes": "ﬁne ① ２ Ⅳ x² ℌ",
    "rare characters": "𐍈 𒀀 \U000e0001 \ufffd",
    "controls": "a\x00b\x07c\u200bd\u202ee",
}
"""Texts that show what does not come back, by what is in them."""


def round_trips(tok: Tokenizer) -> Iterator[Finding]:
    """Report what of a text does not come back from its ids."""
    lost: list[Example] = []
    for name, text in ROUND_TRIPS.items():
        back = tok.decode(tok.encode(text))
        if back != text:
            lost.append(Example(text.encode(), None, f"{name}: {visible(back.encode())}"))
    if lost:
        is_grave = any(example.note.startswith("small letters") for example in lost)
        kinds = [example.note.partition(":")[0] for example in lost]
        yield Finding(
            "round trip",
            Severity.ERROR if is_grave else Severity.WARNING,
            len(lost),
            f"of {len(ROUND_TRIPS)} kinds of text, these do not come back: {', '.join(kinds)}",
            tuple(lost),
            {"kinds": kinds},
        )
    data = bytes(range(256))
    if not lost and tok.decode_bytes(tok.encode(data)) != data:
        yield Finding(
            "bytes",
            Severity.INFO,
            1,
            "bytes of invalid UTF-8 do not come back",
            (Example(data),),
        )


def digits(tok: Tokenizer) -> Iterator[Finding]:
    """Report the number of digits per token of numbers, and whether the split is regular."""
    alone = _sizes(tok, 1).min()  # with the space before the number, where that is a token
    whole = {size: int((_sizes(tok, size) <= alone).sum()) for size in (2, 3, 4)}
    tokens = tokens_of(tok)
    special = set(tok.special_tokens.values())
    numbers = [i for i, token in enumerate(tokens) if _is_number(token) and i not in special]
    longest = max((sum(map(str.isdigit, tokens[i].decode())) for i in numbers), default=0)
    partly = [size for size, count in whole.items() if 0 < count < 10**size]
    shares = ", ".join(f"{count:,} of {10**size:,}" for size, count in whole.items())
    if partly:
        text, severity = "numbers are cut unevenly", Severity.WARNING
    elif not any(whole.values()):
        text, severity = "each digit is a token", Severity.INFO
    else:
        most = max(size for size, count in whole.items() if count)
        more = " or more" if most == max(whole) else ""
        text, severity = f"all numbers of up to {most} digits{more} are one token", Severity.INFO
    shown = tuple(
        Example(number.encode(), None, _pieces(tok, number))
        for number in ("7", "42", "365", "2026", "31415", "1234567", "3.14159", "1,000,000")
    )
    yield Finding(
        "digits",
        severity,
        len(numbers),
        f"tokens of digits, the longest of {longest}; {text}: of those with 2, 3 and 4 digits "
        f"{shares}",
        shown,
        {"single_tokens": {str(size): count for size, count in whole.items()}, "longest": longest},
    )


def _sizes(tok: Tokenizer, size: int) -> npt.NDArray[np.int64]:
    """Return the number of tokens of each number of ``size`` digits after a word."""
    texts = [f"x {number:0{size}}" for number in range(10**size)]
    return np.diff(tok.encode_batch(texts).offsets) - len(tok.encode("x"))


def _is_number(token: bytes) -> bool:
    text = token.decode("utf-8", "replace").removeprefix("##").lstrip(" ▁Ġ")
    return text.isdigit() and text.isascii()


def white_space(tok: Tokenizer) -> Iterator[Finding]:
    """Report what becomes of runs of spaces, tabs and line breaks."""
    shown = []
    lost: list[str] = []
    counts: dict[str, int] = {}
    for name, unit in (("space", " "), ("tab", "\t"), ("line break", "\n")):
        for size in (1, 2, 4, 8, 16):
            text = f"x{unit * size}x"
            ids = tok.encode(text)
            counts[f"{size} {name}"] = len(ids) - len(tok.encode("x")) * 2
            if tok.decode(ids) != text and f"{name}s" not in lost:
                lost.append(f"{name}s")
            if size in (1, 4, 16):
                shown.append(Example(text.encode(), None, _pieces(tok, text)))
    tokens = tokens_of(tok)
    runs = [i for i, token in enumerate(tokens) if _is_space(token)]
    longest = max((len(tokens[i].decode()) for i in runs), default=0)
    kept = f"of {', '.join(lost)} do not come back" if lost else "come back"
    yield Finding(
        "white space",
        Severity.WARNING if lost else Severity.INFO,
        len(runs),
        (
            f"tokens of white space alone, the longest of {longest} characters; "
            if runs
            else "no token is white space alone; "
        )
        + f"runs {kept}",
        tuple(shown),
        {"tokens_for": counts, "longest": longest, "lost": lost},
    )


def _is_space(token: bytes) -> bool:
    text = token.decode("utf-8", "replace")
    return bool(text) and not text.strip(" \t\r\n▁")


def special_tokens(tok: Tokenizer) -> Iterator[Finding]:
    """Report special tokens that a text can become by holding their literals."""
    tokens = tokens_of(tok)
    literals = dict(tok.special_tokens)
    by_default = {
        literal: token_id
        for literal, token_id in literals.items()
        if _stands_in(tok, literal, token_id, "text")
    }
    if by_default:
        yield Finding(
            "injection",
            Severity.ERROR,
            len(by_default),
            'special tokens that text becomes by default (special="text")',
            tuple(Example(tokens[i], i) for i in by_default.values()),
        )
    encoded = [i for text, i in literals.items() if _stands_in(tok, text, i, "encode")]
    if encoded:
        yield Finding(
            "special tokens",
            Severity.INFO,
            len(encoded),
            'special tokens that text becomes with special="encode": never use it for text of '
            "others",
            tuple(Example(tokens[i], i) for i in encoded[:12]),
        )
    always = sorted(tok.pipeline.framing.always)
    if always:
        yield Finding(
            "added tokens",
            Severity.INFO,
            len(always),
            "added tokens that are no special tokens: their literals become them in any text",
            tuple(Example(text.encode(), tok.token_id(text)) for text in always[:12]),
        )


def _stands_in(tok: Tokenizer, literal: str, token_id: int, special: Special) -> bool:
    return any(
        token_id in tok.encode(text, special=special) for text in (literal, f"a {literal} b")
    )


def _pieces(tok: Tokenizer, text: str) -> str:
    return " | ".join(map(visible, tok.encoding(text).tokens))
