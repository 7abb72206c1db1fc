"""Generates diverse text of any size: ``python -m benchmarks.diverse_text --bytes 1GB -o FOLDER``.

Real text keeps showing new words; a text that is repeated until it is long enough does not. Here,
stretches of real text in several languages have a quarter of their words replaced: mostly by
invented words in seven scripts with log-uniform ranks up to 80 million, the others by identifiers,
numbers, hexadecimal strings and URLs. 4 % of the Chinese characters are replaced. Without a folder
of texts, the words of the shipped vocabulary stand in for real text.

A file depends on the seed, its number and the real texts alone. A shorter file is the beginning of
a longer one.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.texts import SHARED
from toksmith import get

RANKS = 80_000_000
BLOCK = 1 << 22
STRETCH = 1 << 14
SHARES = {"english": 0.45, "code": 0.2, "multilingual": 0.27, "cjk": 0.08}
REPLACED = 0.25
REPLACED_CHARACTERS = 0.04
_MOST_READ = 40_000_000
_CELLS = 8
"""The number of parts that an invented word has at most."""
_BASE = 64
"""The number of syllables of a script."""
# Consonants and vowels without combining marks, at which split patterns would cut.
_SCRIPTS = (
    ("bdfgklmnprstvwxz", "aeiu"),
    ("бвгджзклмнпрстфх", "аеиу"),
    ("βγδζθκλμνξπρστφχ", "αειω"),
    ("բգդզթժլխծկհձղճմյ", "աեիո"),
    ("אבגדהזחטילמנסעפצ", "וקרש"),
    ("بتثجحخدذرزسشصضطظ", "اوين"),
    ("가나다라마바사아자차카타파하거너", "닭산길문"),
    ("BDFGKLMNPRSTVWXZ", "aeiu"),  # after the first word of an identifier
)
_SCRIPT_OF = np.array([0, 0, 0, 0, 1, 2, 3, 4, 5, 6])  # four tenths are Latin
_WORDS_OF_KIND = (0.74, 0.92, 0.96, 0.98)  # up to here: word, identifier, number, hex; then URL
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}

Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


class Generator:
    """Generates files of diverse text.

    Args:
        folder: the folder of real texts (``english.txt`` and others); ``None`` or a missing one
            for the shipped vocabulary.
        seed: the random seed.
        ranks: the number of invented words.
    """

    def __init__(
        self, folder: Path | None = SHARED / "corpus", seed: int = 0, ranks: int = RANKS
    ) -> None:
        self._seed, self._ranks = seed, ranks
        texts = _real_texts(folder)
        self.sources = tuple(texts)
        parts, lengths = _parts()
        self._pool = np.concatenate([*texts.values(), np.frombuffer(b"".join(parts), np.uint8)])
        ends = np.cumsum([len(text) for text in texts.values()])
        self._starts = ends[-1] + np.cumsum(lengths) - lengths
        self._lengths = lengths
        shares = np.array([SHARES.get(name, 1.0) for name in texts])
        self._shares = shares / shares.sum()
        self._units = [
            _units(text, end - len(text), is_cjk=name == "cjk")
            for (name, text), end in zip(texts.items(), ends.tolist(), strict=True)
        ]
        self._is_cjk = [name == "cjk" for name in texts]

    def blocks(self, number: int, size: int) -> Iterator[bytes]:
        """Yield a file of ``size`` bytes, or up to 3 less because characters are whole."""
        block = 0
        while size > 0:
            made = self._block(np.random.default_rng([self._seed, number, block]))
            if len(made) > size:
                made = made[:size]
                made = made[: len(made) - _incomplete(made[-4:].tobytes())]
                size = 0
            yield made.tobytes()
            size -= len(made)
            block += 1

    def _block(self, chance: np.random.Generator) -> Bytes:
        """Return some 4 MiB: runs of real text, with a word of up to eight parts after each."""
        starts, ends, cells = [], [], []
        for source in chance.choice(len(self._shares), BLOCK // STRETCH, p=self._shares).tolist():
            from_, to = self._units[source]
            first = int(chance.integers(max(len(from_) - 100, 1)))
            last = int(np.searchsorted(from_, from_[first] + STRETCH))
            last = min(last, len(from_) - 1)
            is_cjk = self._is_cjk[source]
            rate = REPLACED_CHARACTERS if is_cjk else REPLACED
            replaced = first + np.flatnonzero(chance.random(last - first) < rate)
            starts += [from_[first : first + 1], to[replaced]]
            ends += [from_[replaced], from_[last : last + 1]]
            made = _characters if is_cjk else self._words
            cells += [made(chance, len(replaced)), _BREAK]
        rows = np.concatenate(cells)
        begin, length = self._starts[rows], self._lengths[rows]
        run = np.concatenate(starts)
        begin = np.concatenate([run[:, None], begin], axis=1).ravel()
        length = np.concatenate([(np.concatenate(ends) - run)[:, None], length], axis=1).ravel()
        kept = length > 0
        begin, length = begin[kept], length[kept]
        before = np.cumsum(length) - length
        places = np.repeat((begin - before).astype(np.int32), length)
        places += np.arange(len(places), dtype=np.int32)
        return self._pool.take(places)

    def _words(self, chance: np.random.Generator, count: int) -> npt.NDArray[np.int32]:
        """Return invented words, as the numbers of their parts."""
        ranks = (float(self._ranks) ** chance.random(count)).astype(np.int64)
        digits = np.stack([(ranks >> shift) & (_BASE - 1) for shift in range(0, 30, 6)], axis=1)
        is_used = np.stack([ranks >> shift > 0 for shift in range(0, 30, 6)], axis=1)
        is_used[:, :2] = True
        script = _SCRIPT_OF[(ranks * 2_654_435_761 >> 7) % len(_SCRIPT_OF)]
        rows = np.full((count, _CELLS), _NONE, np.int32)
        rows[:, :5] = np.where(is_used, script[:, None] * _BASE + digits, _NONE)
        kind = np.searchsorted(_WORDS_OF_KIND, chance.random(count), "right")
        latin = np.where(is_used, digits, _NONE)
        here = np.flatnonzero(kind == 1)
        second = chance.integers(_BASE**2, size=len(here))
        rows[here, :5] = latin[here]
        rows[here, 5] = np.where(second & 3, _NONE, _JOIN)
        rows[here, 6] = _CAPITALS + (second & (_BASE - 1))
        rows[here, 7] = _CAPITALS + (second >> 6)
        here = np.flatnonzero(kind == 2)
        rows[here] = _NONE
        rows[here, 0:3] = _NUMBERS + chance.integers(1000, size=(len(here), 3))
        rows[here, 1] = np.where(ranks[here] & 1, _POINT, rows[here, 1])
        here = np.flatnonzero(kind == 3)
        rows[here] = _HEX + chance.integers(1 << 16, size=(len(here), _CELLS))
        rows[here, 2:] = np.where(ranks[here, None] % 3 > 0, rows[here, 2:], _NONE)
        here = np.flatnonzero(kind == 4)
        rows[here, 0], rows[here, 1:4] = _SCHEME, latin[here, :3]
        rows[here, 4], rows[here, 5:7], rows[here, 7] = _DOMAIN, latin[here, 3:], _PAGE
        return rows


# The parts of invented words, by number: syllables, numbers, four hexadecimal digits, Chinese
# characters, and a few strings.
_NUMBERS = _BASE * len(_SCRIPTS)
_CAPITALS = _NUMBERS - _BASE
_HEX = _NUMBERS + 1000
_CJK = _HEX + (1 << 16)
_CJK_SIZE = 0x9FA5 - 0x4E00
_NONE = _CJK + _CJK_SIZE
_JOIN, _POINT, _SCHEME, _DOMAIN, _PAGE, _GAP = range(_NONE + 1, _NONE + 7)
_BREAK = np.array([[_GAP, *[_NONE] * (_CELLS - 1)]], np.int32)


def _parts() -> tuple[list[bytes], Integers]:
    parts = [
        first + second for firsts, seconds in _SCRIPTS for first in firsts for second in seconds
    ]
    parts += map(str, range(1000))
    parts += (f"{number:04x}" for number in range(1 << 16))
    parts += (chr(0x4E00 + number) for number in range(_CJK_SIZE))
    parts += ["", "_", ".", "https://", ".com/", ".html", "\n\n"]
    encoded = [part.encode() for part in parts]
    return encoded, np.array([len(part) for part in encoded])


def _characters(chance: np.random.Generator, count: int) -> npt.NDArray[np.int32]:
    """Return random Chinese characters in place of others."""
    rows = np.full((count, _CELLS), _NONE, np.int32)
    rows[:, 0] = _CJK + chance.integers(_CJK_SIZE, size=count)
    return rows


def _units(text: Bytes, offset: int, *, is_cjk: bool) -> tuple[Integers, Integers]:
    """Return the starts and ends of the words, or of the Chinese characters, of a text."""
    if is_cjk:
        starts = np.flatnonzero((text >= 0xE4) & (text <= 0xE9))[:-1] + offset
        return starts, starts + 3
    is_word = np.concatenate([[False], text > 0x20, [False]])
    edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + offset
    return edges[::2], edges[1::2]


def _real_texts(folder: Path | None) -> dict[str, Bytes]:
    if folder is not None and folder.is_dir():
        found = {}
        for name in SHARES:
            if (path := folder / f"{name}.txt").is_file():
                with path.open("rb") as file:
                    text = file.read(_MOST_READ).decode("utf-8", "ignore").encode()
                found[name] = np.frombuffer(text, np.uint8)
        if found:
            return found
    return {"vocabulary": _text_of_vocabulary()}


def _text_of_vocabulary(count: int = 300_000) -> Bytes:
    """Return text of the shipped tokenizer's words; their ranks are log-uniform."""
    tokenizer = get("toksmith-small")
    words = [tokenizer.token_bytes(id_) for id_ in range(256, tokenizer.vocab_size)]
    words = [word for word in words if re.fullmatch(r" \w+|\s+|\W{1,3}", _decoded(word))]
    chance = np.random.default_rng(0)
    ranks = (len(words) ** chance.random(count)).astype(np.int64) - 1
    return np.frombuffer(b"".join(words[rank] for rank in ranks.tolist()), np.uint8)


def _decoded(word: bytes) -> str:
    try:
        return word.decode()
    except UnicodeDecodeError:
        return "incomplete character"


def _incomplete(end: bytes) -> int:
    """Return the number of bytes of the incomplete character that a text ends with."""
    for length in range(1, min(4, len(end) + 1)):
        byte = end[-length]
        if byte >= 0xC0:
            needed = 2 + (byte >= 0xE0) + (byte >= 0xF0)
            return length if length < needed else 0
        if byte < 0x80:
            return 0
    return 0


def parsed_size(text: str) -> int:
    """Return a number of bytes from a string such as ``10GB``; units are powers of ten."""
    found = re.fullmatch(r"(?i)([0-9.]+) ?([KMGT]?)B?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: use a size such as 10GB or 500MB")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def write(
    folder: Path, size: int, files: int = 1, generator: Generator | None = None
) -> list[Path]:
    """Write files of equal size, and return their paths.

    Args:
        folder: the folder; it is made if there is none.
        size: the size of all files together in bytes.
        files: the number of files.
        generator: the generator; default: seed 0 and the default texts.
    """
    generator = generator or Generator()
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:04}.txt" for number in range(files)]
    for number, path in enumerate(paths):
        with path.open("wb") as file:
            for block in generator.blocks(
                number, (number + 1) * size // files - number * size // files
            ):
                file.write(block)
    return paths


def main() -> None:
    """Write files as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--bytes", type=parsed_size, required=True, help="in all, such as 10GB")
    parser.add_argument("--output", "-o", type=Path, required=True, help="the folder")
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=RANKS, help="the number of invented words")
    parser.add_argument("--texts", type=Path, default=SHARED / "corpus", help="a folder of texts")
    options = parser.parse_args()
    generator = Generator(options.texts, options.seed, options.ranks)
    print(f"made from: {', '.join(generator.sources)}")
    for path in write(options.output, options.bytes, options.files, generator):
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
