"""Verification that two tokenizers agree on texts: the texts and the first place that differ.

The other one may be the library that a tokenizer comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias, get_args

from toksmith._base.arrays import IdArray, Span, SpanArray
from toksmith._base.lazy import np
from toksmith._base.text import Text, Texts
from toksmith.engine.columns import texts_of
from toksmith.errors import OptionError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.measure.against import LibraryDifference, Original
from toksmith.measure.hard_texts import hard_texts
from toksmith.results import Batch, Encoding
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special
from toksmith.vocabulary import TokenTable

By: TypeAlias = Literal["ids", "tokens", "spans"]
"""The property that has to be equal: the ids; the tokens as their vocabularies spell them,
whatever their ids; or only the bytes of the text that each token covers."""


@dataclass(frozen=True)
class Difference:
    """The first difference of two tokenizers, up to where both end a token at the same byte.

    Attributes:
        text: the whole text (invalid UTF-8 shown with U+FFFD).
        place: how many tokens before it are equal.
        span: the characters that it covers.
        byte_span: the bytes that it covers.
        left: the first tokenizer's tokens there; their spans are places in the whole text.
        right: the second one's.

    Example:
        >>> import toksmith
        >>> a = toksmith.train(texts=["low low"], vocab_size=258)
        >>> b = toksmith.train(texts=["lower er"], vocab_size=257)
        >>> found = first_difference(a, b, "a low")
        >>> found.span, found.left.strings, found.right.strings
        (Span(start=2, end=5), ['low'], ['l', 'o', 'w'])
    """

    text: str
    place: int
    span: Span
    byte_span: Span
    left: Encoding
    right: Encoding


def verify(
    a: AnyTokenizer,
    b: AnyTokenizer | None = None,
    *,
    against: str | None = None,
    texts: Texts | None = None,
    by: By | None = None,
    special: Special = "text",
    add_special_tokens: bool = False,
) -> Difference | LibraryDifference | None:
    """Return the first difference of two tokenizers, or of a tokenizer and its original library.

    Args:
        a: a tokenizer, a published name or a path.
        b: the other one.
        against: instead of ``b``, the library to compare with: ``"transformers"``,
            ``"tokenizers"``, ``"tiktoken"``, ``"sentencepiece"`` or ``"llama-cpp"``. It reads the
            file ``a`` itself, or if that has another format, ``a`` as written in its own.
        texts: a text or several; ``None`` for some 3,000 that tokenizers often get wrong.
        by: for two tokenizers, what has to be equal; ``None`` for ids if both vocabularies give
            each id the same token, else for tokens.
        special: for two tokenizers; see :meth:`Tokenizer.encode`. With a library, each of its own
            ways is compared.
        add_special_tokens: for two tokenizers; put the templates' own ids around each text.

    Returns:
        ``None`` where there is no difference.

    Raises:
        OptionError: neither ``b`` nor ``against`` is given, or both, or the library is unknown.
        MissingExtraError: the library is not installed; the message names its package.
        UnsupportedError: the library cannot hold the tokenizer.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> tok.save("low.json")
        >>> toksmith.verify(tok, "low.json") is None
        True
        >>> toksmith.verify(tok, tok.with_split("words"), texts=["a  low"]).text
        'a  low'
    """
    if (b is None) == (against is None):
        raise OptionError("verify needs one other tokenizer: give either b or against=")
    if against is not None and by not in (None, "ids"):
        raise OptionError(f"by is {by!r:.80}: with a library, only ids are compared; leave by out")
    left = tokenizer_of(a)
    right = None if b is None else tokenizer_of(b)
    some: list[Text]
    if texts is not None:
        some = list(texts_of(texts))
    else:
        some = [*hard_texts([*left.special_tokens, *(right.special_tokens if right else ())])]
    if right is None:
        return Original(str(against), left, a).first_difference(some)
    by = by or default_by(left, right)
    found = find_differing(
        left, right, some, by=by, special=special, add_special_tokens=add_special_tokens
    )
    if not found:
        return None
    return first_difference(
        left, right, some[found[0]],
        by=by, special=special, add_special_tokens=add_special_tokens,
    )  # fmt: skip


def same_vocabulary(a: Tokenizer, b: Tokenizer) -> bool:
    """Return whether each id is the same token in both."""
    return all(one == other for one, other in zip_longest(_tokens(a), _tokens(b), fillvalue=b""))


def default_by(a: Tokenizer, b: Tokenizer) -> By:
    """Return the property to compare: ids if they mean the same in both, else tokens."""
    return "ids" if same_vocabulary(a, b) else "tokens"


def first_difference(
    a: AnyTokenizer,
    b: AnyTokenizer,
    text: Text,
    *,
    by: By | None = None,
    special: Special = "text",
    add_special_tokens: bool = False,
) -> Difference | None:
    """Return the first place where two tokenizers make different tokens of a text.

    Args:
        a: a tokenizer, a published name or a path.
        b: the other one.
        text: a string or UTF-8 bytes.
        by: what has to be equal; ``None`` for :func:`default_by`.
        special: see :meth:`Tokenizer.encode`.
        add_special_tokens: put the templates' own ids around the text.

    Returns:
        ``None`` where there is no difference.

    Raises:
        OptionError: ``by`` is none of its values.

    Example:
        >>> import toksmith
        >>> from toksmith.measure import first_difference
        >>> a = toksmith.train(texts=["low low"], vocab_size=258)
        >>> b = toksmith.train(texts=["lower er"], vocab_size=257)
        >>> found = first_difference(a, b, "a low")
        >>> found.place, found.byte_span, found.left.tokens, found.right.tokens
        (2, Span(start=2, end=5), [b'low'], [b'l', b'o', b'w'])
    """
    left_tok, right_tok = tokenizer_of(a), tokenizer_of(b)
    by = _checked(by) or default_by(left_tok, right_tok)
    left, right = (
        tok.encoding(text, special=special, add_special_tokens=add_special_tokens)
        for tok in (left_tok, right_tok)
    )
    pairs = zip_longest(_keys(left, by), _keys(right, by))
    place = next((place for place, (one, other) in enumerate(pairs) if one != other), None)
    if place is None:
        return None
    ends = _until_they_meet(left, right, place)
    parts = [side[place:end] for side, end in zip((left, right), ends, strict=True)]
    return Difference(
        text=left.text,
        place=place,
        span=_cover([part.spans for part in parts]),
        byte_span=_cover([part.byte_spans for part in parts]),
        left=parts[0],
        right=parts[1],
    )


def find_differing(
    a: AnyTokenizer,
    b: AnyTokenizer,
    texts: Sequence[Text],
    *,
    by: By | None = None,
    special: Special = "text",
    add_special_tokens: bool = False,
    threads: int | None = None,
) -> list[int]:
    """Return the places of the texts of which two tokenizers make different tokens.

    Args:
        a: a tokenizer, a published name or a path.
        b: the other one.
        texts: the documents.
        by: what has to be equal; ``None`` for :func:`default_by`.
        special: see :meth:`Tokenizer.encode`.
        add_special_tokens: put the templates' own ids around each text.
        threads: ``None`` for the cores this process may use.

    Example:
        >>> import toksmith
        >>> from toksmith.measure import find_differing
        >>> a = toksmith.train(texts=["low low"], vocab_size=258)
        >>> b = toksmith.train(texts=["lower er"], vocab_size=257)
        >>> find_differing(a, b, ["low", "her", "him"])
        [0, 1]
    """
    left_tok, right_tok = tokenizer_of(a), tokenizer_of(b)
    by = _checked(by) or default_by(left_tok, right_tok)
    if by == "spans":
        pairs = (
            [
                tok.encoding(
                    text, special=special, add_special_tokens=add_special_tokens
                ).byte_spans.tolist()
                for tok in (left_tok, right_tok)
            ]
            for text in texts
        )
        return [place for place, (one, other) in enumerate(pairs) if one != other]
    left, right = (
        tok.encode_batch(
            texts, special=special, add_special_tokens=add_special_tokens, threads=threads
        )
        for tok in (left_tok, right_tok)
    )
    if by == "tokens":
        numbers: dict[bytes, int] = {}
        left, right = (
            _renumbered(left, left_tok, numbers),
            _renumbered(right, right_tok, numbers),
        )
    if left == right:
        return []
    return [i for i in range(len(left)) if not np.array_equal(left[i], right[i])]


def _checked(by: By | None) -> By | None:
    if by not in (None, *get_args(By)):
        raise OptionError(f"by is {by!r}: use one of {', '.join(get_args(By))}")
    return by


def _tokens(tok: Tokenizer) -> list[bytes]:
    return TokenTable(tok.pipeline).tokens


def _renumbered(batch: Batch, tok: Tokenizer, numbers: dict[bytes, int]) -> Batch:
    """Return the batch with a number for each token's bytes, the same for all tokenizers."""
    known = [numbers.setdefault(token, len(numbers)) for token in _tokens(tok)]
    mapped: IdArray = np.array(known, np.uint32)[batch.ids]
    return Batch(mapped, batch.offsets)


def _keys(encoding: Encoding, by: By) -> Sequence[object]:
    if by == "ids":
        return encoding.ids
    return encoding.tokens if by == "tokens" else encoding.byte_spans.tolist()


def _until_they_meet(left: Encoding, right: Encoding, place: int) -> tuple[int, int]:
    """Return how many tokens of each it takes, from ``place`` on, to end at the same byte."""
    left_ends, right_ends = (side.byte_spans[:, 1].tolist() for side in (left, right))
    i, j = min(place + 1, len(left)), min(place + 1, len(right))
    while i < len(left) or j < len(right):
        left_end = left_ends[i - 1] if i else 0
        right_end = right_ends[j - 1] if j else 0
        if left_end == right_end:
            break
        if (left_end < right_end and i < len(left)) or j == len(right):
            i += 1
        else:
            j += 1
    return i, j


def _cover(parts: Sequence[SpanArray]) -> Span:
    spans = np.concatenate(parts)
    return Span(int(spans[:, 0].min()), int(spans[:, 1].max()))
