"""How alike languages are served."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from toksmith.arguments import ratio, vector
from toksmith.errors import OptionError
from toksmith.lazy import np


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
