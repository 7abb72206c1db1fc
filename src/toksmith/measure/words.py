"""How tokens meet words.

Words are those of UAX #29 that hold a letter, a digit or an ideograph. The tokens *of a word* are
those that touch it where it stands in its text: the token ``␣the`` is one token of ``the``, and a
token that holds a space alone is a token of no word.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, TypeAlias

from toksmith.arguments import ratio, vector
from toksmith.lazy import np

if TYPE_CHECKING:
    import numpy.typing as npt

    Counts: TypeAlias = "Sequence[int] | npt.NDArray[np.integer]"


def fertility(tokens: int, words: int) -> float:
    """Return Σ tokens / Σ words: all tokens of a text, those of spaces and marks too, a word.

    Source: Ács 2019; Rust et al. 2021 (arXiv 2012.15613).
    Unit: tokens a word; 1 where each word is one token and nothing else is left.
    Caveat: it does not always predict the quality of a model (Ali et al. 2024, arXiv 2310.08754);
    what a word is differs by language, and in code it says little.

    Args:
        tokens: of the text.
        words: of the same text.

    Example:
        >>> fertility(30, 20)
        1.5
    """
    return ratio(tokens, words)


def split_words(tokens_of_words: Counts) -> float:
    """Return the share of words of more than one token.

    Source: the proportion of continued words of Rust et al. 2021 (arXiv 2012.15613).
    Unit: a share of the words of a running text, 0 to 1.
    Caveat: as :func:`fertility`; a word that became the unknown token counts as whole.

    Args:
        tokens_of_words: how many tokens touch each word; words that none touches do not count.

    Example:
        >>> split_words([1, 1, 3, 2])
        0.5
    """
    counts = _touched(tokens_of_words)
    return float(np.mean(counts > 1)) if len(counts) else nan


def continuation(tokens_of_words: Counts) -> float:
    """Return Σ(nᵢ − 1) / Σ nᵢ: the share of the words' tokens that only go on with a word.

    Source: the share of ``##`` pieces; after Rust et al. 2021 (arXiv 2012.15613).
    Unit: a share of the tokens that touch words, 0 to 1.
    Caveat: as :func:`fertility`.

    Args:
        tokens_of_words: how many tokens touch each word; words that none touches do not count.

    Example:
        >>> continuation([1, 1, 3, 3])
        0.5
    """
    counts = _touched(tokens_of_words)
    return float((counts - 1).sum() / counts.sum()) if len(counts) else nan


def single_token_words(tokens_of_words: Counts) -> float:
    """Return the share of a list of words, each there once, that are one token.

    Source: STRR, which is 100 times this: Nayeem et al. 2025 (arXiv 2510.09947).
    Unit: a share of distinct words, 0 to 1.
    Caveat: it is as good as the list; rare words weigh as much as frequent ones.

    Args:
        tokens_of_words: how many tokens each word of the list has.

    Example:
        >>> single_token_words([1, 1, 3, 2, 1])
        0.6
    """
    counts = vector("tokens_of_words", tokens_of_words, np.int64)
    return float(np.mean(counts == 1)) if len(counts) else nan


def _touched(counts: Counts) -> npt.NDArray[np.int64]:
    array = vector("tokens_of_words", counts, np.int64)
    return array[array > 0]
