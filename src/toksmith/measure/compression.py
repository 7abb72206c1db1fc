"""Metrics of compression: how short token sequences are."""

from __future__ import annotations

from toksmith._base.checks import ratio


def bytes_per_token(size: int, tokens: int) -> float:
    """Return the compression of a text: UTF-8 bytes / tokens.

    Source: the ratio by which Goldman et al. 2024 (arXiv 2403.06265) compare tokenizers.
    Unit: bytes a token, more is shorter; ``nan`` for no tokens.
    Caveat: fewer tokens is not better by itself (Schmidt et al. 2024, arXiv 2402.18376). A
    character has one byte in English and three in Chinese: compare tokenizers, not languages.

    Args:
        size: bytes of the text.
        tokens: how many it becomes.

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
        tokens: how many it becomes.

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
