"""Metrics of compression and distribution: how few tokens a text has, and how even their use is."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log2, nan
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

from toksmith._base.checks import ratio, vector, whole
from toksmith._base.lazy import np
from toksmith.errors import OptionError


def bytes_per_token(size: int, tokens: int) -> float:
    """Return the compression of a text: UTF-8 bytes / tokens.

    Source: the ratio by which Goldman et al. 2024 (arXiv 2403.06265) compare tokenizers.
    Unit: bytes a token, more is shorter; ``nan`` for no tokens.
    Caveat: fewer tokens is not better by itself (Schmidt et al. 2024, arXiv 2402.18376). A
    character has one byte in English and three in Chinese: compare tokenizers, not languages.

    Args:
        size: bytes of the text.
        tokens: its number of tokens.

    Example:
        >>> bytes_per_token(12, 3)
        4.0
    """
    return ratio(size, tokens)


def characters_per_token(characters: int, tokens: int) -> float:
    """Return characters / tokens.

    Source, unit and caveat: as :func:`bytes_per_token`, but in code points, which makes scripts
    more alike (yet one Chinese character still says more than one letter).

    Args:
        characters: code points of the text.
        tokens: its number of tokens.

    Example:
        >>> characters_per_token(6, 3)
        2.0
    """
    return ratio(characters, tokens)


def normalized_sequence_length(tokens: int, reference_tokens: int) -> float:
    """Return NSL: Σ T(D) / Σ T_reference(D), both over the same documents D.

    Source: Dagan et al. 2024 (arXiv 2402.01035).
    Unit: a ratio; 0.8 is a fifth fewer tokens than the reference tokenizer makes.
    Caveat: as :func:`bytes_per_token`; and it is as good as its reference is on this text.

    Args:
        tokens: of all documents.
        reference_tokens: of the same documents, by the reference tokenizer.

    Example:
        >>> normalized_sequence_length(80, 100)
        0.8
    """
    return ratio(tokens, reference_tokens)


if TYPE_CHECKING:
    import numpy.typing as npt

    Frequencies: TypeAlias = "Sequence[int] | npt.NDArray[np.integer]"


def parity(tokens: int, base_tokens: int) -> float:
    """Return T(text A) / T(text B), where B says in another language what A says.

    Source: the premium of Petrov et al. 2023 (arXiv 2305.15425).
    Unit: a ratio; 2 is twice the tokens for the same content, 1 is parity.
    Caveat: of parallel texts only; it does not always predict quality (arXiv 2310.08754).

    Args:
        tokens: of the text.
        base_tokens: of the text that it is a translation of.

    Example:
        >>> parity(300, 200)
        1.5
    """
    return ratio(tokens, base_tokens)


def gini(costs: Sequence[float]) -> float:
    """Return Σᵢ Σⱼ |cᵢ − cⱼ| / (2 n² μ): how unequal languages' costs are.

    Source: Gini 1912; of tokenizers, Foroutan et al. 2025 (arXiv 2508.04796).
    Unit: 0 (each language costs the same) to 1 − 1/n (one bears it all).
    Caveat: with tokens a byte for costs, scripts of three bytes a character look cheap.

    Args:
        costs: of each language; tokens a byte, in a comparison.

    Raises:
        OptionError: a cost is negative.

    Example:
        >>> gini([1, 3])
        0.25
    """
    c = vector("costs", costs, np.float64)
    if (c < 0).any():
        raise OptionError(f"costs holds {c.min()}: use 0 or more")
    if not len(c) or not c.sum():
        return nan
    return float(np.abs(c[:, None] - c[None, :]).sum() / (2 * len(c) ** 2 * c.mean()))


ALPHA = 2.5
"""The order at which Zouhar et al. found the efficiency to agree best with translation quality."""


def renyi_entropy(frequencies: Frequencies, alpha: float = ALPHA) -> float:
    """Return log₂(Σ pᵅ) / (1 − α); Shannon's entropy for α = 1, the min-entropy for α = ∞.

    Source: Rényi 1961.
    Unit: bits; ``nan`` where nothing was counted.

    Args:
        frequencies: how often each token occurs; zeros change nothing.
        alpha: the order, 0 or more.

    Raises:
        OptionError: ``alpha`` is negative, or no number.

    Example:
        >>> renyi_entropy([1, 1, 1, 1])
        2.0
    """
    if not isinstance(alpha, Real) or not alpha >= 0:
        raise OptionError(f"alpha is {alpha!r:.80}: use 0 or more")
    counts = vector("frequencies", frequencies, np.float64)
    counts = counts[counts > 0]
    if not len(counts):
        return nan
    p = counts / counts.sum()
    if alpha == 1:
        return float(-(p * np.log2(p)).sum()) + 0.0  # no -0.0
    if alpha == inf:
        return float(-np.log2(p.max())) + 0.0
    return float(np.log2((p**alpha).sum()) / (1 - alpha)) + 0.0


def renyi_efficiency(frequencies: Frequencies, vocab_size: int, alpha: float = ALPHA) -> float:
    """Return log₂(Σ pᵅ) / ((1 − α) · log₂ V): the entropy of tokens / the most it can be.

    Source: Zouhar et al. 2023 (arXiv 2306.16842).
    Unit: 0 (one token only) to 1 (all tokens of the vocabulary equally often).
    Caveat: tokenizers can be made that score high and translate badly (Cognetta et al. 2024, arXiv
    2402.14614); V is the whole vocabulary here, so texts of one language favour small ones.

    Args:
        frequencies: how often each token occurs.
        vocab_size: V, the number of tokens of the vocabulary.
        alpha: the order.

    Example:
        >>> renyi_efficiency([1, 1, 0, 0], vocab_size=4)
        0.5
    """
    entropy = renyi_entropy(frequencies, alpha)
    vocab_size = whole("vocab_size", vocab_size, 0)
    return entropy / log2(vocab_size) if vocab_size > 1 else nan


def vocabulary_use(distinct: int, vocab_size: int) -> float:
    """Return distinct tokens in the text / V.

    Unit: a share of the vocabulary, 0 to 1.
    Caveat: it grows with the text; compare on the same text only.

    Args:
        distinct: the number of distinct tokens of the text.
        vocab_size: V, the number of tokens of the vocabulary.

    Example:
        >>> vocabulary_use(3, 12)
        0.25
    """
    return ratio(distinct, vocab_size)


def type_token_ratio(distinct: int, tokens: int) -> float:
    """Return distinct tokens / tokens.

    Source: Johnson 1944, there of words.
    Unit: 0 to 1.
    Caveat: it falls with the length of the text; compare on the same text only.

    Args:
        distinct: the number of distinct tokens of the text.
        tokens: the number of tokens of the text.

    Example:
        >>> type_token_ratio(3, 4)
        0.75
    """
    return ratio(distinct, tokens)


def unknown_rate(unknown: int, tokens: int) -> float:
    """Return unknown tokens / tokens.

    Unit: a share of the tokens, 0 to 1.
    Caveat: one unknown token may replace a whole word, so more than this share of the text is
    lost: see :func:`toksmith.measure.lost_bytes`.

    Args:
        unknown: the number of tokens are the unknown token.
        tokens: how many there are.

    Example:
        >>> unknown_rate(1, 8)
        0.125
    """
    return ratio(unknown, tokens)


def coverage(frequencies: Frequencies) -> list[float]:
    """Return which share of all tokens the 1, 2, 4, 8 … most frequent ones make, up to all.

    Unit: shares, ascending to 1.
    Caveat: as :func:`type_token_ratio`.

    Args:
        frequencies: how often each token occurs; zeros change nothing.

    Example:
        >>> coverage([5, 0, 2, 1])
        [0.625, 0.875, 1.0]
    """
    counts = np.sort(vector("frequencies", frequencies, np.int64))[::-1]
    counts = counts[counts > 0]
    if not len(counts):
        return []
    ranks = [1 << power for power in range((len(counts) - 1).bit_length())]
    sums = np.cumsum(counts)[[rank - 1 for rank in ranks] + [-1]]
    shares: list[float] = (sums / counts.sum()).tolist()
    return shares
