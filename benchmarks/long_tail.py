"""Text whose words have a natural long tail: ``python -m benchmarks.long_tail PATH GIGABYTES``.

As in large corpora, words fall in two regimes (Ferrer i Cancho and Solé 2001): the 2^16 most
frequent by Zipf and Mandelbrot's law, ∝ 1 / (rank + 2.7), and all others, 4 % of the text,
∝ 1 / rank^1.6, without an end. So new words keep coming, by Heaps' law: half a million in 100 MB,
some eight million in 10 GB. The frequent words stand in sentences that come again in another order,
which makes the text quick to write; counts of chunks do not see it. The same seed gives the same
text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

FREQUENT = 1 << 16
SHIFT, EXPONENT, RARE = 2.7, 1.6, 0.04
WORDS, SENTENCES = 17, 1 << 18
_AT_ONCE = 1 << 17

Ranks = npt.NDArray[np.int64]

_CONSONANTS = np.frombuffer(b"bcdfghjklmnprstv", np.uint8)
_VOWELS = np.frombuffer(b"aeio", np.uint8)


def frequent_ranks(rng: np.random.Generator, size: int) -> Ranks:
    """Return ranks from 0 on, drawn by Zipf and Mandelbrot's law."""
    drawn = SHIFT * (1 + FREQUENT / SHIFT) ** rng.random(size) - SHIFT
    return np.minimum(drawn, FREQUENT - 1).astype(np.int64)


def rare_ranks(rng: np.random.Generator, size: int) -> Ranks:
    """Return ranks of the tail, drawn by a power law; they have no end but that of 36 bits."""
    drawn = FREQUENT * (1 - rng.random(size)) ** (-1 / (EXPONENT - 1))
    return np.minimum(drawn, 2.0**36 - 1).astype(np.int64)


def spelled(ranks: Ranks) -> list[bytes]:
    """Return the word of each rank: a syllable for six bits, those of neighbours not alike."""
    width = np.searchsorted(64 ** np.arange(1, 6, dtype=np.int64), ranks, "right") + 1
    # Times an odd number, modulo a power of two: no two words of one width are alike.
    scattered = ranks * 0x9E3779B1 & (1 << 6 * width) - 1
    letters = np.zeros((len(ranks), 12), np.uint8)
    for place in range(6):
        syllable = scattered >> 6 * place & 63
        is_used = place < width
        letters[:, 2 * place] = np.where(is_used, _CONSONANTS[syllable >> 2], 0)
        letters[:, 2 * place + 1] = np.where(is_used, _VOWELS[syllable & 3], 0)
    words: list[bytes] = letters.view("S12").ravel().tolist()
    return words


def text(seed: int = 0) -> Iterator[bytes]:
    """Yield text without end."""
    rng = np.random.default_rng(seed)
    words = spelled(frequent_ranks(rng, SENTENCES * WORDS))
    sentences = np.array(
        [b" ".join(words[i : i + WORDS]) for i in range(0, len(words), WORDS)], object
    )
    rare = int(_AT_ONCE * WORDS * RARE / (1 - RARE))
    ends = np.array([b".\n", b". "], object)
    while True:
        parts = np.empty((_AT_ONCE, 4), object)
        parts[:, 0] = sentences[rng.integers(0, SENTENCES, _AT_ONCE)]
        # One rare word in most sentences, as many as there have to be in all.
        chosen = np.full(_AT_ONCE, b"", object)
        chosen[rng.permutation(_AT_ONCE)[:rare]] = spelled(rare_ranks(rng, rare))
        parts[:, 1] = np.where(chosen == b"", b"", b" ")
        parts[:, 2] = chosen
        parts[:, 3] = ends[rng.integers(0, 2, _AT_ONCE)]
        yield b"".join(parts.ravel().tolist())


def write(path: Path, size: int, seed: int = 0) -> None:
    """Write a file of so many bytes."""
    with path.open("wb") as file:
        for part in text(seed):
            file.write(part[: size - file.tell()])
            if file.tell() >= size:
                return


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(float(sys.argv[2]) * 1e9))
