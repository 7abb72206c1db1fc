"""The steps of a tokenizer as functions: split a text, count pairs, merge a pair, watch training.

For courses: they do by hand, step by step, the work of :func:`toksmith.train`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeVar, overload

from toksmith._base.lazy import np
from toksmith._base.text import Text, Texts, string, utf8
from toksmith._base.visible import SPACE, count_of, shorten, visible
from toksmith.engine.columns import texts_of
from toksmith.errors import OptionError
from toksmith.models import BPE, CharacterBPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, splitter
from toksmith.trainers.options import choice

Symbol = TypeVar("Symbol", bound=Hashable)

_TEXT = (str, bytes, bytearray, memoryview)
_UNITS = ("bytes", "characters")


def split(text: Text, split: str | None) -> list[str]:
    """Cut a text into chunks; no token crosses the end of a chunk.

    Args:
        text: a string, or UTF-8 bytes.
        split: a name of :data:`toksmith.splitters.NAMES`, such as ``"gpt4"`` or ``"words"``, a
            regular expression, or ``None``, which leaves the text in one piece.

    Returns:
        The chunks from left to right; concatenated, they are the text.

    Raises:
        SplitError: the pattern does not compile, or no split has this name.

    Source:
        Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2.

    Example:
        >>> split("Hello've world123", "gpt2")
        ['Hello', "'ve", ' world', '123']
    """
    return [chunk.decode("utf-8", "replace") for chunk in _chunks(text, splitter(split))]


@overload
def pairs(
    text_or_ids: str | bytes,
    *,
    unit: Literal["bytes"] = "bytes",
    split: str | None = None,
) -> Counter[tuple[int, int]]: ...


@overload
def pairs(
    text_or_ids: str | bytes, *, unit: Literal["characters"], split: str | None = None
) -> Counter[tuple[str, str]]: ...


@overload
def pairs(text_or_ids: Iterable[Symbol]) -> Counter[tuple[Symbol, Symbol]]: ...


def pairs(
    text_or_ids: Any, *, unit: str = "bytes", split: str | None = None
) -> Counter[tuple[Any, Any]]:
    """Count the pairs of neighbours in a text, or in a list of ids.

    Overlapping pairs all count: "aaa" holds ("a", "a") twice. The pairs are in the order of their
    first occurrence, so ``most_common()`` breaks ties as minbpe does, by first occurrence.

    Args:
        text_or_ids: a text, or a sequence of ids (or of any other symbols, such as strings).
        unit: for a text: ``"bytes"`` counts pairs of bytes (as ints), ``"characters"`` pairs of
            characters.
        split: for a text: count pairs inside the chunks of this split only; see :func:`split`.

    Raises:
        OptionError: ``unit`` has another value, or ``split`` is given for ids.
        SplitError: no split has this name.

    Source:
        Gage 1994, "A New Algorithm for Data Compression"; Sennrich et al. 2016, "Neural Machine
        Translation of Rare Words with Subword Units".

    Example:
        >>> pairs("aaabdaaabac").most_common(1)
        [((97, 97), 4)]
        >>> pairs("low lower", unit="characters", split="words").most_common(2)
        [(('l', 'o'), 2), (('o', 'w'), 2)]
        >>> pairs([256, 97, 256, 97])
        Counter({(256, 97): 2, (97, 256): 1})
    """
    choice("unit", unit, _UNITS)
    if not isinstance(text_or_ids, _TEXT):
        if unit != "bytes" or split is not None:
            raise OptionError(
                "unit= and split= are for a text, but the argument is a sequence of ids: leave "
                "them out"
            )
        try:
            return Counter(pairwise(_symbols(text_or_ids)))
        except TypeError as wrong:
            raise OptionError(
                f"use a text, or a sequence of ids or other symbols: {wrong}"
            ) from wrong
    cut = splitter(split)
    if unit == "characters":
        if cut is None:
            return Counter(pairwise(string(text_or_ids)))
        chunks: Iterable[Any] = (string(chunk) for chunk in _chunks(text_or_ids, cut))
    else:
        chunks = _chunks(text_or_ids, cut)
    counted: Counter[tuple[Any, Any]] = Counter()
    for chunk, count in Counter(chunks).items():
        for pair in pairwise(chunk):
            counted[pair] += count
    return counted


def merge(ids: Iterable[Symbol], pair: tuple[Symbol, Symbol], new: Symbol) -> list[Symbol]:
    """Replace each occurrence of a pair by a new id, from left to right.

    Args:
        ids: ids, or any other symbols, such as strings.
        pair: the two neighbours to join.
        new: the id that replaces them.

    Raises:
        OptionError: ``ids`` is no sequence, or ``pair`` is no pair.

    Example:
        >>> merge([116, 104, 101], pair=(116, 104), new=256)
        [256, 101]
        >>> merge(list("aaab"), ("a", "a"), "aa")
        ['aa', 'a', 'b']
    """
    from toksmith.reference.pair_index import merge as merged

    if not isinstance(pair, Sequence) or len(pair) != 2:
        raise OptionError(f"pair is {pair!r:.80}: use a pair of ids, such as (116, 104)")
    _check_symbol("new", new)
    for each in pair:
        _check_symbol("pair", each)
    return merged(_symbols(ids), (pair[0], pair[1]), new)


@dataclass(frozen=True, eq=False)
class _Learned:
    """The data that all steps of a training share: the text, and the result."""

    texts: Sequence[Text]
    pipeline: Pipeline
    first: int
    """The number of tokens before the first merge."""

    @cached_property
    def documents(self) -> list[list[bytes]]:
        """The chunks of each document."""
        cut = self.pipeline.splitter
        assert cut is None or isinstance(cut, PatternSplitter)
        return [_chunks(text, cut) for text in self.texts]

    def shown(self, merges: int) -> str:
        """Return the text as tokens, after this many merges."""
        from toksmith.tokenizer import Tokenizer

        model = self.pipeline.model
        assert isinstance(model, BPE | CharacterBPE)
        vocab, rows = model.vocab[: self.first + merges], model.merges[:merges]
        known: BPE | CharacterBPE = (
            BPE(vocab, rows) if isinstance(model, BPE) else CharacterBPE(vocab, rows)
        )
        tok = Tokenizer(Pipeline(known))
        distinct = {chunk for document in self.documents for chunk in document}
        as_tokens = {
            chunk: "·".join(visible(vocab[i]).replace(SPACE, " ") for i in tok.encode(chunk))
            for chunk in distinct
        }
        as_tokens[b" "] = ""  # the gap between chunks already shows the space
        return "\n".join(
            " ".join(as_tokens[chunk] for chunk in document) for document in self.documents
        )


@dataclass(frozen=True)
class MergeStep:
    """One merge of a training, as :func:`training_steps` yields it.

    Attributes:
        index: its number, from 1.
        total: the number of merges.
        left: the id of the left token.
        right: the id of the right token.
        new: the id of the merged token.
        count: the number of times the pair occurred before the merge.
        tokens_after: the number of tokens of the text after the merge.
        left_token: the bytes of the left token.
        right_token: the bytes of the right token.

    Example:
        >>> import toksmith
        >>> step = next(toksmith.training_steps("aab aab", vocab_size=257))
        >>> step.pair, step.new, step.count, step.token
        ((97, 97), 256, 2, b'aa')
    """

    index: int
    total: int
    left: int
    right: int
    new: int
    count: int
    tokens_after: int
    left_token: bytes
    right_token: bytes
    _learned: _Learned = field(repr=False, compare=False)

    @property
    def pair(self) -> tuple[int, int]:
        """The left and the right id.

        Example:
            >>> next(training_steps("aab aab", vocab_size=257)).pair
            (97, 97)
        """
        return self.left, self.right

    @property
    def token(self) -> bytes:
        """The bytes of the new token.

        Example:
            >>> next(training_steps("aab aab", vocab_size=257)).token
            b'aa'
        """
        return self.left_token + self.right_token

    @cached_property
    def text(self) -> str:
        """The training text after this merge: ``·`` between tokens, a space between chunks.

        It is computed on first use, by encoding the text with the merges up to this one.

        Example:
            >>> [step.text for step in training_steps("aab aab", vocab_size=258)]
            ['aa·b· ·aa·b', 'aab· ·aab']
        """
        return self._learned.shown(self.index)

    def __str__(self) -> str:
        return self._line(map(visible, (self.left_token, self.right_token, self.token)))

    def __repr__(self) -> str:
        tokens = map(visible, (self.left_token, self.right_token, self.token))
        return self._line(shorten(token, 40) for token in tokens)

    def _line(self, tokens: Iterable[str]) -> str:
        left, right, token = tokens
        times = "once" if self.count == 1 else f"{self.count:,} times"
        return (
            f"merge {self.index:,}/{self.total:,}: '{left}' + '{right}' → '{token}' ({self.new}), "
            f"{times}"
        )


def training_steps(
    texts: Texts,
    *,
    vocab_size: int,
    unit: Literal["bytes", "characters"] = "bytes",
    split: str | None = None,
    ties: Literal["first-seen", "smallest-pair"] = "first-seen",
) -> Iterator[MergeStep]:
    """Train byte-pair encoding (BPE), and return an iterator over its merges.

    The kernel finds all merges before the first step is returned, so long texts are no problem. To
    read the algorithm in Python, see :mod:`toksmith.reference.bpe_training`.

    Args:
        texts: a text, or several.
        vocab_size: the number of tokens to stop at, including the 256 bytes (or the text's
            characters).
        unit: the initial symbols: ``"bytes"`` or ``"characters"``.
        split: the chunks that no token may cross (see :func:`split`); ``None`` for no split.
        ties: which of equally frequent pairs is merged first: ``"first-seen"`` as in minbpe, or
            ``"smallest-pair"`` as in Hugging Face's tokenizers.

    Raises:
        OptionError: an option is out of range.
        TrainingError: there is no text.

    Example:
        >>> for step in training_steps("aaabdaaabac", vocab_size=258):
        ...     print(step, step.text)
        merge 1/2: 'a' + 'a' → 'aa' (256), 4 times aa·a·b·d·aa·a·b·a·c
        merge 2/2: 'aa' + 'a' → 'aaa' (257), 2 times aaa·b·d·aaa·b·a·c
    """
    from toksmith.trainers import train

    kept = list(texts_of(texts))
    unknown: dict[str, Any] = {"unk_token": None} if unit == "characters" else {}
    tok = train(texts=kept, vocab_size=vocab_size, unit=unit, split=split, ties=ties, **unknown)
    record, model = tok.training, tok.pipeline.model
    assert record is not None
    assert isinstance(model, BPE | CharacterBPE)
    learned = _Learned(kept, tok.pipeline, len(model.vocab) - record.merges)
    rows = zip(
        np.asarray(model.merges).tolist(),
        record.counts.tolist(),
        record.tokens_after.tolist(),
        strict=True,
    )
    steps = (
        MergeStep(
            index,
            record.merges,
            *(left, right, new, count, after),
            model.vocab[left],
            model.vocab[right],
            learned,
        )
        for index, ((left, right, new), count, after) in enumerate(rows, 1)
    )
    return _Steps(steps, record.merges)


class _Steps(Iterator[MergeStep]):
    """An iterator over the steps of a training, with a short repr."""

    def __init__(self, steps: Iterator[MergeStep], total: int) -> None:
        self._steps = steps
        self._total = total
        self._done = 0

    def __next__(self) -> MergeStep:
        step = next(self._steps)
        self._done = step.index
        return step

    def __repr__(self) -> str:
        return f"<training_steps: {count_of(self._total, 'merge')}, {self._done:,} seen>"


def _chunks(text: Text, cut: PatternSplitter | None) -> list[bytes]:
    from toksmith.stages.split_patterns import chunk_spans

    data = utf8(text)
    return [data[start:end] for start, end in chunk_spans(cut, data)]


def _symbols(ids: Iterable[Symbol]) -> Sequence[Symbol]:
    as_list = getattr(ids, "tolist", None)  # NumPy integers become Python integers
    if as_list is not None:
        ids = as_list()
    if not isinstance(ids, Iterable):
        raise OptionError(f"ids is {ids!r:.80}: use a list of ids, not {type(ids).__name__}")
    found = ids if isinstance(ids, Sequence) else list(ids)
    if not set(map(type, found)) <= {int, str, bytes}:
        for place, each in enumerate(found):
            _check_symbol(f"ids[{place}]", each)
    return found


def _check_symbol(name: str, value: object) -> None:
    """Raise OptionError for a number that is no id, or for None."""
    if (
        value is None
        or isinstance(value, bool | float | complex)
        or not isinstance(value, Hashable)
    ):
        raise OptionError(
            f"{name} is {value!r:.80}: use ids (whole numbers), or symbols such as strings, not "
            f"{type(value).__name__}"
        )
