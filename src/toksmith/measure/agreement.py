"""The tokens of a text on which several tokenizers agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from toksmith.results import Encoding


def differing_tokens(encodings: Sequence[Encoding]) -> list[list[bool]]:
    """Return, for each token of each tokenizer, whether another tokenizer has no token there.

    Two tokens are the same here if they cover the same bytes of the text, however their
    vocabularies spell them. Where a tokenizer leaves spaces to no token, as BERT's does, a space
    that a token starts with is not compared.

    Args:
        encodings: of one text, one for each tokenizer.

    Example:
        >>> import toksmith
        >>> low = toksmith.train(texts=["low low"], vocab_size=258)
        >>> er = toksmith.train(texts=["er er"], vocab_size=257)
        >>> differing_tokens([tok.encoding("her low") for tok in (low, er)])
        [[False, True, True, False, True], [False, True, False, True, True, True]]
    """
    without_space = any(map(_leaves_spaces_out, encodings))
    spans = [_spans(each, without_space) for each in encodings]
    common = set.intersection(*map(set, spans)) if spans else set()
    return [[span not in common for span in each] for each in spans]


def _spans(encoding: Encoding, without_space: bool) -> list[tuple[int, int]]:
    text = encoding.text
    return [
        (start + (without_space and end - start > 1 and text[first : first + 1] == " "), end)
        for (start, end), first in zip(
            encoding.byte_spans.tolist(), encoding.spans[:, 0].tolist(), strict=True
        )
    ]


def _leaves_spaces_out(encoding: Encoding) -> bool:
    return any(
        end < start and encoding.text[end] == " "
        for (_, end), (start, _) in pairwise(encoding.spans.tolist())
    )
