"""SentencePiece's named normalization rules, and rules of the user's, as maps of characters.

``nfkc`` is Unicode's compatibility composition written out as a map: every character that it
changes, and every sequence of characters that it composes, however the sequence is spelled
(``ㄱ``, ``ᄀ`` and ``ﾡ`` all start the syllable ``가``). A map looks at one place at a time, so
unlike real NFKC it does not reorder marks.

``nmt_nfkc`` adds what machine translation wants: control characters are dropped, what looks like
space is a space, and the full-width tilde stays. ``…_cf`` folds case, character by character.

Unicode is that of version 17, which SentencePiece 0.2.3 uses, whatever the running Python knows.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from functools import cache, lru_cache
from itertools import product
from pathlib import Path

from toksmith.errors import OptionError
from toksmith.stages.charsmap_building import compile_charsmap

RULES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")
"""The names of the rules."""

Entries = dict[str, str]


@lru_cache(maxsize=len(RULES))
def charsmap_of(name: str) -> bytes:
    """Return the compiled map of a named rule (``normalization_rule_name``).

    Raises:
        OptionError: there is no such rule.

    Example:
        >>> charsmap_of("identity")
        b''
    """
    if name not in RULES:
        raise OptionError(f"there is no normalization rule {name!r:.80}; use {', '.join(RULES)}")
    return b"" if name == "identity" else unpack(packed_file(name).read_bytes())


def packed_file(name: str) -> Path:
    """Return the file of the compiled map of a rule: compiling takes seconds.

    The files are written by tools/make_charsmaps.py; the tests hold them against the rules.
    """
    return Path(__file__).parent / "charsmaps" / f"{name}.z"


def pack(charsmap: bytes) -> bytes:
    """Return a compiled map in a third of its size: the first bytes of all units first.

    Example:
        >>> unpack(pack(compile_charsmap({"a": "b"}))) == compile_charsmap({"a": "b"})
        True
    """
    data = charsmap + bytes(-len(charsmap) % 4)
    return zlib.compress(b"".join(data[place::4] for place in range(4)), 9)


def unpack(data: bytes) -> bytes:
    """Return the compiled map that was packed."""
    planes = zlib.decompress(data)
    size = len(planes) // 4
    charsmap = bytearray(len(planes))
    for place in range(4):
        charsmap[place::4] = planes[place * size : (place + 1) * size]
    return bytes(charsmap).rstrip(b"\0") + b"\0"  # which ends the last replacement


def charsmap_from_tsv(text: str) -> bytes:
    r"""Return the compiled map of rules of the user's (``normalization_rule_tsv``).

    A line is ``HEX HEX …<TAB>HEX HEX …``: code points, and those that take their place; nothing,
    or no second column, drops them. More columns are comments.

    Raises:
        OptionError: a line is none of that; the message says which.

    Example:
        >>> from toksmith.stages.charsmap import CharacterMap
        >>> CharacterMap(charsmap_from_tsv("FB01\t66 69")).entries
        {'ﬁ': 'fi'}
    """
    entries: Entries = {}
    for number, line in enumerate(text.split("\n"), 1):
        columns = line.removesuffix("\r").split("\t")
        if columns == [""]:
            continue
        source, target = (_characters(c, number) for c in (*columns, "")[:2])
        if not source or "\0" in source + target:
            raise OptionError(f"line {number}: {line!r:.80} replaces nothing, or holds U+0000")
        if source in entries:
            raise OptionError(f"line {number}: {columns[0]!r:.80} occurs twice: keep one")
        entries[source] = target
    return compile_charsmap(entries)


_CODE = re.compile(r"(?:[Uu]\+)?([0-9A-Fa-f]{1,6})")


def _characters(column: str, number: int) -> str:
    codes = [_CODE.fullmatch(code) for code in column.split()]
    values = [int(code[1], 16) if code else -1 for code in codes]
    if not all(0 <= value < 0xD800 or 0xE000 <= value < 0x110000 for value in values):
        raise OptionError(f"line {number}: {column!r:.80} is no list of code points in hexadecimal")
    return "".join(map(chr, values))


def rule_entries(name: str) -> Entries:
    """Return the map of a named rule, as ``{what is replaced: by what}``."""
    entries = dict(_nfkc())
    if name.startswith("nmt_"):
        entries.update(dict.fromkeys(_SPACES, " "))
        entries.update(dict.fromkeys(_DROPPED, ""))
        del entries["\uff5e"]
    if name.endswith("_cf"):
        entries = _without_redundant(_folded(entries))
    return entries


_SPACES = (
    "\t\n\f\r\u061c\u1680\u200b\u200c\u200e\u200f\u2028\u2029"
    "\u2581"  # ▁ itself, which spells a space later on
    "\ufeff\ufffd"
)
_DROPPED = [chr(c) for c in (*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F)]


@cache
def _nfkc() -> Entries:
    entries: Entries = {}
    spellings: dict[str, list[str]] = {}  # of each character that is its own decomposition
    sequences = set()
    for character, parts in _decompositions().items():
        if (composed := _composed(parts)) != character:
            entries[character] = composed
        if len(parts) == 1:
            spellings.setdefault(parts, [parts]).append(character)
        else:
            sequences.add(parts)
    for parts in sequences:
        composed = _composed(parts)
        if composed != parts:
            for spelled in product(*(spellings.get(part, [part]) for part in parts)):
                entries["".join(spelled)] = composed
    for composed in [key for key, value in entries.items() if key == value]:
        del entries[composed]
    return _without_redundant(entries)


def _without_redundant(entries: Entries) -> Entries:
    """Return the entries that shorter ones do not bring about anyway."""
    kept = {key: value for key, value in entries.items() if len(key) == 1}
    # Shorter entries leave a character of each part at least, if they do not drop it.
    dropped = {character for key, value in entries.items() if not value for character in key}
    longer = sorted((key for key in entries if len(key) > 1), key=len)
    size = 1
    shorter = kept
    for key in longer:
        if len(key) > size:
            size, shorter = len(key), dict(kept)
        value = entries[key]
        sure = len(value) == 1 and dropped.isdisjoint(key)
        if sure or _mapped(shorter, key) != value:
            kept[key] = value
    return kept


def _mapped(entries: Entries, text: str) -> str:
    parts = []
    place = 0
    while place < len(text):
        for end in range(len(text), place, -1):
            if (part := entries.get(text[place:end])) is not None:
                break
        else:
            part = text[place]
        parts.append(part)
        place = end
    return "".join(parts)


def _folded(entries: Entries) -> Entries:
    folds = _simple_folds()
    table = str.maketrans(folds)
    folded = {text: text.translate(table) for text in set(entries.values())}
    singles = {source: target for source, target in folds.items() if source not in entries}
    return singles | {key: folded[text] for key, text in entries.items()}


def _decompositions() -> Entries:
    """Return the full compatibility decomposition of each character that has one."""
    found: Entries = {}
    for start in range(0, 0x110000, 256):
        block = "".join(map(chr, range(start, start + 256)))
        if 0xD8 <= start >> 8 < 0xE0 or unicodedata.is_normalized("NFKD", block):
            continue
        for character in block:
            if (parts := unicodedata.normalize("NFKD", character)) != character:
                found[character] = parts
    for character in _UNICODE_18:
        found.pop(character, None)
    return found | _UNICODE_14_TO_17


def _composed(parts: str) -> str:
    return _NEW_COMPOSITIONS.get(parts) or unicodedata.normalize("NFC", parts)


def _simple_folds() -> Entries:
    """Return the simple case folding of each character that has one: one character for one."""
    found = {}
    for character in map(chr, range(0x110000)):
        fold = character.casefold()
        if len(fold) > 1:
            fold = character.lower()
        if fold != character and len(fold) == 1 and character not in _UNICODE_18:
            found[character] = fold
    return found | _NEW_FOLDS


# Characters that the running Python's Unicode version may lack, or add (3.10 has version 13).


def _ranges(text: str) -> list[str]:
    """Return the characters of ranges such as ``1CCD6-1CCF9``."""
    ends = [part.partition("-") for part in text.split()]
    return [chr(c) for a, _, b in ends for c in range(int(a, 16), int(b or a, 16) + 1)]


_COMPATIBILITY = (
    ("A7F1-A7F4", "SCFQ"),
    ("10781-10785", "ːˑæʙɓ"),
    (
        "10787-107B0",
        "ʣꭦʥʤɖɗᶑɘɞʩɤɢɠʛħʜɧʄʪʫɬ\U0001df04ꞎɮ\U0001df05ʎ\U0001df06øɶɷqɺ\U0001df08ɽɾʀʨʦꭧʧʈⱱ",
    ),
    ("107B2-107BA", "ʏʡʢʘǀǁǂ\U0001df0a\U0001df1e"),
    ("1CCD6-1CCF9", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    ("1E030-1E06D", "абвгдежзиклмопрстуфхцчшыэюꚉәіјөүӏабвгдежзиклопсуфхцчшъыґіѕџҫꙑұ"),
)
_CANONICAL = (
    ("105C9", "105D2 307"),
    ("105E4", "105DA 307"),
    ("11383", "11382 113C9"),
    ("11385", "11384 113BB"),
    ("1138E", "1138B 113C2"),
    ("11391", "11390 113C9"),
    ("113C5", "113C2 113C2"),
    ("113C7", "113C2 113B8"),
    ("113C8", "113C2 113C9"),
    ("16121", "1611E 1611E"),
    ("16122", "1611E 16129"),
    ("16123", "1611E 1611F"),
    ("16124", "16129 1611F"),
    ("16125", "1611E 16120"),
    ("16126", "1611E 1611E 1611F"),
    ("16127", "1611E 16129 1611F"),
    ("16128", "1611E 1611E 16120"),
    ("16D68", "16D67 16D67"),
    ("16D69", "16D63 16D67"),
    ("16D6A", "16D63 16D67 16D67"),
)
_NEW_COMPOSITIONS = {
    "".join(_ranges(parts)): composed for code, parts in _CANONICAL for composed in _ranges(code)
}
_UNICODE_14_TO_17 = {
    **{c: part for codes, parts in _COMPATIBILITY for c, part in zip(_ranges(codes), parts)},  # noqa: B905
    **{composed: parts for parts, composed in _NEW_COMPOSITIONS.items()},
}
_NEW_FOLDS = {
    character: chr(ord(character) + distance)
    for codes, distance in (
        ("1C89 A7C0 A7CC A7CE A7D0 A7D2 A7D4 A7D6 A7D8 A7DA", 1),
        ("2C2F", 0x30),
        ("10570-1057A 1057C-1058A 1058C-10592 10594-10595", 0x27),
        ("10D50-10D65", 0x20),
        ("16EA0-16EB8", 0x1B),
        ("A7CB", 0x264 - 0xA7CB),
        ("A7DC", 0x19B - 0xA7DC),
    )
    for character in _ranges(codes)
}
_UNICODE_18 = frozenset(
    _ranges(
        "558 58B-58C 209D-209F A7DD A7E2 AB6C-AB6D 107BB-107BF 1B123-1B126 1D6A6 1DF1F-1DF24 "
        "1DF2B-1DF96 1DFCD-1DFFF"
    )
)
