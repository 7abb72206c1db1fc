"""Encodes text to ids: finds added tokens first; an engine encodes the text between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from toksmith import engine
from toksmith._base.arrays import Bounds, IdArray, SpanArray
from toksmith._base.lazy import np
from toksmith._base.text import Text, check_texts, refuse_list, string, utf8
from toksmith._base.threads import batch_threads, thread_count
from toksmith.errors import OptionError, SpecialTokenError
from toksmith.framing import AddedSearch
from toksmith.pipeline import Pipeline
from toksmith.results import Batch, Encoding, LocatedBatch, set_words
from toksmith.tokenizer.rows import RowPart

if TYPE_CHECKING:
    from toksmith.engine.row_memory import RowMemory
    from toksmith.engine.stepwise import StepwiseEncoder

Special: TypeAlias = (
    Literal["text", "encode", "raise"] | AbstractSet[str] | list[str] | tuple[str, ...]
)
"""The meaning of special tokens' literals inside a text; see :meth:`Tokenizer.encode`.

``Collection[str]`` would be too wide: a str is one, so a mistyped word would pass a type checker.
"""

_Found = TypeVar("_Found")


class TextEncoder:
    """Encodes texts with their added tokens, but without the template.

    Args:
        pipeline: the stages to run.
        encoder: the engine that runs them; by default, the compiled one.

    Attributes:
        times: the number of times that the template repeats a text, almost always 1.
    """

    def __init__(self, pipeline: Pipeline, encoder: engine.Encoder | None = None) -> None:
        self._framing = pipeline.framing
        # Tokens to find in the normalized text; without a normalizer it is the text itself.
        self._within = pipeline.framing.normalized if pipeline.normalizer else frozenset()
        self._pipeline = pipeline
        self._engine = encoder or engine.compile(pipeline)
        self._searches_by_literals: dict[frozenset[str], AddedSearch] = {}
        self._searches = bool(pipeline.framing.always)  # in every text, whatever ``special`` is
        self.times = pipeline.framing.template.times

    @property
    def encode_short(self) -> Callable[[Text, int], list[int]]:
        """A function that returns the ids of a text as a list, given the number of threads.

        It is the engine's own if no added token has to be found and no text is repeated.
        """
        is_plain = not self._searches and self.times == 1
        return self._engine.encode_list if is_plain else self._encode_list_of_parts

    @property
    def route(self) -> str:
        """Where the stages run; see :func:`toksmith.engine.route.route_of`."""
        from toksmith.engine.route import route_of

        return route_of(self._pipeline, self._engine)

    def is_plain(self, special: Special) -> bool:
        """Return whether a text goes to the engine without a search for added tokens."""
        return special == "text" and not self._searches

    def encode_list(self, text: Text, threads: int | None) -> list[int]:
        """Return the ids of a text as a list, repeated as the template repeats the text."""
        return _run(self.encode_short, text, threads)

    def _encode_list_of_parts(self, text: Text, threads: int) -> list[int]:
        ids: list[int] = self.encode(text, "text", threads).tolist()
        return ids * self.times

    def encode(self, text: Text, special: Special, threads: int | None) -> IdArray:
        """Return the ids of a text."""
        if self.is_plain(special):
            return _run(self._engine.encode, text, threads)
        return _run(
            lambda text, workers: self._encode_all([text], special, workers).ids, text, threads
        )

    def encode_batch(
        self, texts: Sequence[Text], special: Special, threads: int | None, name: str = "texts"
    ) -> Batch:
        """Return the ids of each text; error messages call the argument ``name``."""
        workers = batch_threads(threads, texts)
        try:
            return self._encode_all(texts, special, workers)
        except OptionError:
            check_texts(texts, name)
            raise
        except ENGINE_REFUSALS:
            check_texts(texts, name)
            return self._encode_all([utf8(text) for text in texts], special, workers)

    def _encode_all(self, texts: Sequence[Text], special: Special, threads: int) -> Batch:
        added = self._search(special)
        if special == "raise":
            self._refuse_special_tokens(texts)
        if added is None:
            return self._engine.encode_texts(texts, threads)
        return self._engine.encode_around(texts, threads, added)

    def _search(self, special: Special) -> AddedSearch | None:
        """Return the search for the tokens that texts may hold; ``None`` for none."""
        literals = self._framing.literals(special)
        if not literals:
            return None
        if literals not in self._searches_by_literals:
            if len(self._searches_by_literals) >= _MOST_SEARCHES:
                self._searches_by_literals.clear()
            self._searches_by_literals[literals] = AddedSearch(
                self._framing, literals, bool(self._pipeline.normalizer)
            )
        return self._searches_by_literals[literals]

    def encode_slices(self, text: Text, bounds: Bounds, threads: int | None) -> Batch:
        """Return the ids of each slice of a plain text as a document of its own."""
        return self._engine.encode_slices(text, bounds, thread_count(threads, len(text)))

    def count(self, text: Text, special: Special, threads: int | None) -> int:
        """Return the number of ids of a text."""
        if not self.is_plain(special):
            return len(self.encode(text, special, threads))
        return _run(self._engine.count, text, threads)

    def places(self, data: bytes, special: Special) -> tuple[IdArray, SpanArray]:
        """Return the ids of a text and the byte span of each token."""
        found = self.locate([data], special, 1)
        return found.ids, found.byte_spans

    def locate(
        self, texts: Sequence[Text], special: Special, threads: int | None, name: str = "texts"
    ) -> LocatedBatch:
        """Return the ids of each text, and the bytes and characters that each token covers."""
        workers = batch_threads(threads, texts)
        try:
            return self._locate_all(texts, special, workers)
        except OptionError:
            check_texts(texts, name)
            raise
        except ENGINE_REFUSALS:
            check_texts(texts, name)
            texts = [text if isinstance(text, str) else utf8(text) for text in texts]
            return self._locate_all(texts, special, workers)

    def _locate_all(self, texts: Sequence[Text], special: Special, threads: int) -> LocatedBatch:
        added = self._search(special)
        if special == "raise":
            self._refuse_special_tokens(texts)
        if added is None:
            return self._engine.encode_with_spans(texts, threads)
        return self._engine.locate_around(texts, threads, added)

    @cached_property
    def _stepwise(self) -> StepwiseEncoder:
        return engine.step_by_step(self._pipeline)

    def words(self, text: Text, special: Special) -> list[int]:
        """Return the index of each token's word: of its chunk, or of the added token."""
        data = utf8(text)
        added = self._search(special)
        if added is None and self._pipeline.splitter is None:
            return [0] * self.count(data, special, 1)
        sizes: list[int] = []
        for start, end, token in added.segments(data) if added else [(0, len(data), None)]:
            if token:
                sizes.append(1)
            else:
                literals = added.within if added else frozenset()
                sizes += self._stepwise.sizes(data[start:end], start == 0, literals)
        return [word for word, size in enumerate(sizes) for _ in range(size)]

    @cached_property
    def row_memory(self) -> RowMemory:
        """What makes the arrays of model inputs."""
        from toksmith.engine.row_memory import RowMemory

        return RowMemory()

    def forget(self, cache_bytes: int | None = None) -> None:
        """Free the memory of caches; ``cache_bytes`` is the maximum of each from now on."""
        self._engine.forget(cache_bytes)
        self.row_memory.forget(cache_bytes)

    def _refuse_special_tokens(self, texts: Sequence[Text]) -> None:
        """Raise an error if one of the texts holds the literal of a special token."""
        special = self._framing.special_tokens.keys()
        if self._within & special:
            for text in texts:
                self.refuse_special_tokens(utf8(text))
        elif (place := engine.first_with(texts, frozenset(special))) is not None:
            self._framing.refuse_special_tokens(utf8(texts[place]))

    def refuse_special_tokens(self, data: bytes) -> None:
        """Raise an error if a text holds the literal of a special token.

        Raises:
            SpecialTokenError: the text holds such a literal.
        """
        self._framing.refuse_special_tokens(data)
        if within := self._within & self._framing.special_tokens.keys():
            with_none, with_all = (
                self._encode_all([data], special, 1).ids for special in ("text", within)
            )
            if not np.array_equal(with_none, with_all):
                raise SpecialTokenError(
                    f"the normalized text holds one of the special tokens {sorted(within)}; "
                    'use special="text" for plain text, special="encode" for the token'
                )


_MOST_SEARCHES = 64
"""The most sets of literals whose searches are kept."""


class LocatedTokens(NamedTuple):
    """A text, its tokens, and their spans.

    Attributes:
        text: the text.
        ids: uint32, shape ``(tokens,)``.
        spans: int64, shape ``(tokens, 2)``: characters.
        byte_spans: int64, shape ``(tokens, 2)``: bytes.
        words: returns the index of each token's word.
        starts: int64, shape ``(tokens, 1)``: the character at which the word of each token starts,
            if spans are those in the words of a pre-split text, else 0.
    """

    text: Text
    ids: IdArray
    spans: SpanArray
    byte_spans: SpanArray
    words: Callable[[], Sequence[int]]
    starts: SpanArray | int = 0

    def row_part(self, sequence: int, trim: Callable[[RowPart], RowPart]) -> RowPart:
        """Return the tokens as a part of a row, with trimmed spans in the text."""
        part = trim(RowPart(self.ids, sequence, sequence, self.spans))
        return part._replace(spans=None if part.spans is None else part.spans + self.starts)


def each_located(
    texts: Sequence[Text], found: LocatedBatch, words: Callable[[Text], Sequence[int]]
) -> Iterator[LocatedTokens]:
    """Yield the tokens of each text of a batch.

    Args:
        texts: the texts.
        found: their tokens.
        words: returns the index of each token's word in a text.
    """
    for text, (start, end) in zip(texts, pairwise(found.offsets), strict=True):
        part = slice(start, end)
        yield LocatedTokens(
            text, found.ids[part], found.spans[part], found.byte_spans[part], partial(words, text)
        )


def each_located_in_words(
    texts: Sequence[Sequence[Text]], found: LocatedBatch
) -> Iterator[LocatedTokens]:
    """Yield the tokens of pre-split texts; each text becomes its words with spaces between them.

    Args:
        texts: the words of each text.
        found: the tokens of each word of all texts.
    """
    before = 0
    for words in texts:
        strings = list(map(string, words))
        bounds = found.offsets[before : before + len(words) + 1]
        numbers = np.repeat(np.arange(len(words)), np.diff(bounds))
        part = slice(bounds[0], bounds[-1])
        starts, byte_starts = (
            np.array([0, *accumulate(size + 1 for size in sizes)], np.int64)[numbers][:, None]
            for sizes in (map(len, strings), (len(utf8(each)) for each in strings))
        )
        yield LocatedTokens(
            " ".join(strings),
            found.ids[part],
            found.spans[part],
            found.byte_spans[part] + byte_starts,
            numbers.tolist,
            starts,
        )
        before += len(words)


def make_encoding(
    row: Sequence[RowPart],
    texts: Sequence[LocatedTokens],
    tokens: Sequence[bytes],
    special: set[int],
) -> Encoding:
    """Return the encoding of a row of one or two texts.

    Tokens of the template have an empty span: at the end of the text before them, or at the start
    of the first text.

    Args:
        row: the row, with all tokens of its texts.
        texts: the text, or both.
        tokens: the bytes of each id.
        special: the ids of special tokens.
    """
    ids: list[int] = []
    spans: list[SpanArray] = []
    byte_spans: list[SpanArray] = []
    type_ids: list[int] = []
    sequence: list[int] = []
    strings = [string(each.text) for each in texts]
    end = byte_end = 0
    for part in row:
        count = len(part.ids)
        ids += part.ids.tolist()
        type_ids += [part.type_id] * count
        sequence += [part.sequence] * count
        if part.sequence < 0 or part.spans is None:
            spans.append(np.full((count, 2), end, np.int64))
            byte_spans.append(np.full((count, 2), byte_end, np.int64))
            continue
        held = texts[part.sequence]
        spans.append(part.spans)
        byte_spans.append(held.byte_spans)
        end, byte_end = len(strings[part.sequence]), len(utf8(held.text))
    encoding = Encoding(
        text=strings[0],
        ids=ids,
        tokens=[tokens[i] for i in ids],
        spans=_concat_spans(spans),
        byte_spans=_concat_spans(byte_spans),
        special=[i in special for i in ids],
        type_ids=type_ids,
        sequence=sequence,
        pair=strings[1] if len(texts) > 1 else None,
    )
    counts = [(part.sequence, len(part.ids)) for part in row]
    set_words(encoding, partial(_words_of_row, counts, [each.words for each in texts]))
    return encoding


def _words_of_row(
    counts: Sequence[tuple[int, int]], words: Sequence[Callable[[], Sequence[int]]]
) -> list[int | None]:
    """Return the index of each token's word, given the text and the size of each part."""
    found: list[int | None] = []
    for text, count in counts:
        found += [None] * count if text < 0 else words[text]()
    return found


def _concat_spans(parts: Sequence[SpanArray]) -> SpanArray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


ENGINE_REFUSALS = (UnicodeEncodeError, TypeError, BufferError)
"""Engine errors for surrogates, for objects that are no text, and for non-contiguous buffers."""


def _run(work: Callable[[Text, int], _Found], text: Text, threads: int | None) -> _Found:
    """Run an engine's function on a text itself, or on its UTF-8 bytes if the engine refuses it."""
    try:
        return work(text, thread_count(threads, len(text)))
    except ENGINE_REFUSALS:
        data = _one(text)
        return work(data, thread_count(threads, len(data)))


def _one(text: Text) -> bytes:
    """Return the UTF-8 of the text that a call for one text was given."""
    refuse_list(text, "for a list of texts, use encode_batch")
    return utf8(text)
