"""Decodes ids to text: whole lists and batches, and streams of ids."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from toksmith import engine
from toksmith._base.arrays import IdArray, Ids, OffsetArray, SpanArray
from toksmith._base.checks import flag
from toksmith._base.lazy import np, npt
from toksmith._base.text import decode_utf8
from toksmith._base.threads import thread_count
from toksmith.engine import list_columns, portable
from toksmith.engine.columns import exports, rows_of
from toksmith.errors import OptionError, UnknownTokenError
from toksmith.pipeline import Pipeline
from toksmith.results import Batch, stack
from toksmith.vocabulary import TokenTable

if TYPE_CHECKING:
    from toksmith.stages.decode_streams import DecoderStream
    from toksmith.tokenizer.decode_table import DecodeTable


_FEW = 32
"""Ids that are decoded in Python, where NumPy's arrays would take most of the time."""

_Arguments = ParamSpec("_Arguments")
_Found = TypeVar("_Found")


def _with_range(
    method: Callable[Concatenate[TextDecoder, _Arguments], _Found],
) -> Callable[Concatenate[TextDecoder, _Arguments], _Found]:
    """Add the range of known ids to the error for an unknown id."""

    @wraps(method)
    def with_range(
        decoder: TextDecoder, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> _Found:
        try:
            return method(decoder, *args, **kwargs)
        except UnknownTokenError as wrong:
            raise decoder.unknown(wrong) from None

    return with_range


class TextDecoder:
    """Decodes the ids of a pipeline.

    Args:
        pipeline: the pipeline that made the ids.
        vocabulary: its tokens.
    """

    def __init__(self, pipeline: Pipeline, vocabulary: TokenTable) -> None:
        self._pipeline = pipeline
        self._vocabulary = vocabulary
        self._tokens = vocabulary.tokens
        self._engine = engine.make_decoder(self._tokens)

    def unknown(self, wrong: UnknownTokenError) -> UnknownTokenError:
        """Return the error for an unknown id, with the range of known ids."""
        known = f"ids go from 0 to {len(self._tokens) - 1}"
        return wrong if known in str(wrong) else UnknownTokenError(f"{wrong}; {known}")

    @cached_property
    def _special(self) -> npt.NDArray[np.bool_]:
        special = np.zeros(len(self._tokens), np.bool_)
        special[list(self._pipeline.framing.special_tokens.values())] = True
        return special

    @cached_property
    def _table(self) -> DecodeTable:
        from toksmith.tokenizer.decode_table import DecodeTable

        return DecodeTable(
            self._pipeline.decoder or (), self._vocabulary.spelled, self._pipeline.model
        )

    @cached_property
    def _lengths(self) -> OffsetArray:
        return np.fromiter(map(len, self._tokens), np.int64, len(self._tokens))

    def _few(self, ids: Ids, skip_special_tokens: bool) -> bytes | None:
        """Return the bytes of a few ids without an array, which would take longer to make.

        ``None`` for all other ids, and for arguments that are wrong.
        """
        if type(ids) is not list or len(ids) > _FEW or self._pipeline.decoder is not None:
            return None
        tokens, parts = self._tokens, []
        for token_id in ids:
            if type(token_id) is not int or not 0 <= token_id < len(tokens):
                return None
            parts.append(tokens[token_id])
        if skip_special_tokens is True:
            special = self._special_ids
            kept = [part for i, part in zip(ids, parts, strict=True) if i not in special]
        elif skip_special_tokens is False:
            kept = parts
        else:
            return None
        return b"".join(kept) if all(parts) else None

    @cached_property
    def _special_ids(self) -> frozenset[int]:
        return frozenset(self._pipeline.framing.special_tokens.values())

    @_with_range
    def to_bytes(self, ids: Ids, skip_special_tokens: bool, threads: int | None) -> bytes:
        """Return the bytes of ids."""
        if self._pipeline.decoder is not None:
            return self.to_text(ids, "strict", skip_special_tokens).encode()
        if threads is None and (few := self._few(ids, skip_special_tokens)) is not None:
            return few
        array = self._check_and_select(id_array(ids), skip_special_tokens)
        return self._engine.decode(array, thread_count(threads, array.nbytes))

    @_with_range
    def to_text(
        self, ids: Ids, errors: str, skip_special_tokens: bool, threads: int | None = None
    ) -> str:
        """Return the text of ids."""
        _check_errors(errors)
        if threads is None and (few := self._few(ids, skip_special_tokens)) is not None:
            return few.decode("utf-8", errors)
        array = self._check_and_select(id_array(ids), skip_special_tokens)
        threads = thread_count(threads, array.nbytes)
        if self._pipeline.decoder is None:
            return self._engine.decode_text(array, errors, threads)
        return self._table.decode(array, threads)

    @_with_range
    def to_texts(
        self,
        batch: Batch | Sequence[Ids],
        errors: str,
        skip_special_tokens: bool,
        threads: int | None,
    ) -> list[str]:
        """Return the text of each document of a batch.

        Raises:
            OptionError: ``batch`` is neither a batch nor a list of lists of ids.
        """
        batch = _batch_of("decode_batch", batch)
        flag("skip_special_tokens", skip_special_tokens)
        if self._pipeline.decoder is not None:
            return [self.to_text(ids, errors, skip_special_tokens, threads) for ids in batch]
        _check_errors(errors)
        data, ends = self._slices(batch, skip_special_tokens, threads)
        return [decode_utf8(data[start:end], errors) for start, end in pairwise(ends)]

    def to_bytes_batch(
        self, batch: Batch | Sequence[Ids], skip_special_tokens: bool, threads: int | None
    ) -> list[bytes]:
        """Return the bytes of each document of a batch; see :meth:`to_texts`."""
        batch = _batch_of("decode_bytes_batch", batch)
        if self._pipeline.decoder is not None:
            texts = self.to_texts(batch, "strict", skip_special_tokens, threads)
            return [text.encode() for text in texts]
        data, ends = self._slices(batch, skip_special_tokens, threads)
        return [data[start:end] for start, end in pairwise(ends)]

    def _slices(
        self, batch: Batch, skip_special_tokens: bool, threads: int | None
    ) -> tuple[bytes, list[int]]:
        """Return the bytes of all documents, and the bounds of each."""
        data = self.to_bytes(batch.ids, skip_special_tokens, threads)
        lengths = self._lengths
        if skip_special_tokens:
            lengths = np.where(self._special, 0, lengths)
        places = np.zeros(len(batch.ids) + 1, np.int64)
        for start, block in portable.iter_blocks(batch.ids):
            found = places[start + 1 : start + 1 + len(block)]
            np.cumsum(lengths[block], out=found)
            found += places[start]
        return data, places[batch.offsets].tolist()

    @_with_range
    def known_ids(self, ids: Ids) -> IdArray:
        """Return ids as an array, after a check for unknown ids."""
        array = id_array(ids)
        self._engine.check(array, thread_count(None, array.nbytes))
        return array

    @_with_range
    def locate(self, ids: Ids, errors: str) -> tuple[str, SpanArray]:
        """Return the text of ids, and the characters of it that each covers."""
        from toksmith.tokenizer.decode_spans import locate_bytes, locate_tokens

        _check_errors(errors)
        array = self.known_ids(ids)
        if self._pipeline.decoder is None:
            return locate_bytes([self._tokens[i] for i in array.tolist()], errors)
        tokens = [self._vocabulary.spelled[i] for i in array.tolist()]
        return locate_tokens(self._pipeline.decoder, tokens, self._pipeline.model, errors)

    def stream(self, errors: str) -> ByteStream | StepStream:
        """Return a stream of ids, which starts a new text."""
        if self._pipeline.decoder is None:
            return ByteStream(self, errors)
        from toksmith.stages.decode_streams import DecoderStream

        return StepStream(self, DecoderStream(self._pipeline.decoder, self._pipeline.model))

    @_with_range
    def tokens(self, ids: Ids, skip_special_tokens: bool) -> list[str]:
        """Return the tokens of ids as spelled in the vocabulary, as input of the decoder steps."""
        array = self._check_and_select(id_array(ids), skip_special_tokens)
        return list(map(self._vocabulary.spelled.__getitem__, array.tolist()))

    def _check_and_select(self, ids: IdArray, skip_special_tokens: bool) -> IdArray:
        """Return the ids to decode, after a check for unknown ids."""
        flag("skip_special_tokens", skip_special_tokens)
        if not skip_special_tokens and self._pipeline.decoder is None:
            return ids  # the engine checks them as it goes
        self._engine.check(ids, thread_count(None, ids.nbytes))
        return self._without_special(ids) if skip_special_tokens else ids

    def _without_special(self, ids: IdArray) -> IdArray:
        kept = np.empty(len(ids), np.uint32)
        size = 0
        for _, block in portable.iter_blocks(ids):
            found = block[~self._special[block]]
            kept[size : size + len(found)] = found
            size += len(found)
        return kept[:size]


class ByteStream:
    """Decodes a stream of ids of a pipeline without decoder steps.

    Args:
        decoder: the decoder of the tokenizer.
        errors: the handler of invalid UTF-8.
    """

    def __init__(self, decoder: TextDecoder, errors: str) -> None:
        self._decoder = decoder
        self._errors = errors
        self._characters = codecs.getincrementaldecoder("utf-8")(errors)

    def __call__(self, ids: Ids, skip_special_tokens: bool, final: bool) -> str:
        """Return the text completed by these ids."""
        data = self._decoder.to_bytes(ids, skip_special_tokens, None)
        return self._characters.decode(data, final)

    def copy(self) -> ByteStream:
        """Return a stream that goes on from here."""
        again = ByteStream(self._decoder, self._errors)
        again._characters.setstate(self._characters.getstate())
        return again


class StepStream:
    """Decodes a stream of ids by the steps of a decoder.

    Args:
        decoder: the decoder of the tokenizer.
        steps: the steps.
    """

    def __init__(self, decoder: TextDecoder, steps: DecoderStream) -> None:
        self._decoder = decoder
        self._steps = steps

    def __call__(self, ids: Ids, skip_special_tokens: bool, final: bool) -> str:
        """Return the text completed by these ids."""
        return "".join(self._steps(self._decoder.tokens(ids, skip_special_tokens), final))

    def copy(self) -> StepStream:
        """Return a stream that goes on from here."""
        return StepStream(self._decoder, self._steps.copy())


class IncrementalDecoder:
    """Decodes a stream of ids, as :class:`codecs.IncrementalDecoder` decodes bytes.

    The returned texts, concatenated, equal the text of all the ids.

    Args:
        decoder: the decoder of the tokenizer.
        errors: see :meth:`Tokenizer.decode`.
        skip_special_tokens: see there.
        ids: the ids before the stream, such as those of a prompt; their text is not returned.

    Example:
        >>> import toksmith
        >>> decoder = toksmith.train(texts=["x"], vocab_size=256).decoder()
        >>> [decoder.decode(i) for i in "é!".encode()]
        ['', 'é', '!']
    """

    def __init__(
        self,
        decoder: TextDecoder,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        ids: Ids = (),
    ) -> None:
        self._decoder = decoder
        self._errors = errors
        self._skip = flag("skip_special_tokens", skip_special_tokens)
        _check_errors(errors)
        self.reset()
        self._feed(ids, False)

    def decode(self, ids: int | Ids = (), final: bool = False) -> str:
        """Return the text that is complete with these ids.

        Args:
            ids: one id, or several.
            final: whether these ids are the last. The bytes of an incomplete character are then
                decoded as invalid UTF-8, and the next call starts a new text.

        Example:
            >>> import toksmith
            >>> decoder = toksmith.get("toksmith-small").decoder()
            >>> decoder.decode(0xC3), decoder.decode(0xA9)
            ('', 'é')
        """
        if type(ids) is int:
            several: Ids = [ids]
        else:
            several = [int(ids)] if isinstance(ids, int | np.integer) else ids
        text = self._feed(several, final)
        if final:
            self.reset()
        return text

    def __repr__(self) -> str:
        skips = ", skip_special_tokens=True" if self._skip else ""
        return f"<IncrementalDecoder: errors={self._errors!r:.40}{skips}>"

    def reset(self) -> None:
        """Drop the bytes of an incomplete character, and start a new text.

        Example:
            >>> import toksmith
            >>> decoder = toksmith.get("toksmith-small").decoder()
            >>> decoder.decode(0xC3)
            ''
            >>> decoder.reset()
            >>> decoder.decode(65)
            'A'
        """
        self._stream = self._decoder.stream(self._errors)

    def copy(self) -> IncrementalDecoder:
        """Return a decoder that goes on from here independently of this one.

        Example:
            >>> import toksmith
            >>> decoder = toksmith.get("toksmith-small").decoder()
            >>> decoder.decode(0xC3)
            ''
            >>> decoder.copy().decode(0xA9), decoder.decode(0xA8)
            ('é', 'è')
        """
        again = IncrementalDecoder(self._decoder, self._errors, self._skip)
        again._stream = self._stream.copy()
        return again

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> IncrementalDecoder:
        return self.copy()

    def _feed(self, ids: Ids, final: bool) -> str:
        return self._stream(ids, self._skip, final)


def _batch_of(call: str, batch: Batch | Sequence[Ids]) -> Batch:
    """Return a batch, made of lists of ids if it is none.

    Raises:
        OptionError: ``batch`` is neither a batch nor a list of lists of ids.
    """
    if isinstance(batch, Batch):
        return batch
    if (column := list_columns.ids_of(batch, "batch")) is not None:
        ids, bounds = column
        return Batch(id_array(ids), bounds)
    rows = rows_of(batch) if exports(batch) else None  # of lists that are not end to end
    batch = batch if rows is None else rows
    if not isinstance(batch, Iterable):
        raise OptionError(f"{call} takes a Batch, or a list or a column with the ids of each text")
    return stack([id_array(ids) for ids in batch])


def _check_errors(errors: str) -> None:
    try:
        codecs.lookup_error(errors)
    except (LookupError, TypeError):
        raise OptionError(
            f"errors is {errors!r:.80}: use 'replace', 'strict', 'ignore' or another name that "
            "bytes.decode knows"
        ) from None


def _has_no_negative(array: npt.NDArray[np.int32]) -> bool:
    return all(block.min() >= 0 for _, block in portable.iter_blocks(array))


def id_array(ids: Ids) -> IdArray:
    """Return ids as a uint32 array.

    Raises:
        OptionError: ``ids`` is no flat sequence of whole numbers.
        UnknownTokenError: an id does not fit into 32 bits, so no token has it.
    """
    if type(ids) is list and (found := portable.to_array(ids)) is not None:
        return found
    if isinstance(ids, str | bytes):
        raise OptionError(f"decode takes ids, not text ({ids!r:.40}): did you mean encode?")
    try:
        array = np.asarray(ids)
    except (ValueError, OverflowError) as wrong:
        raise OptionError(f"ids must be whole numbers: {wrong}") from wrong
    if array.size == 0:
        return np.zeros(0, np.uint32)
    if hasattr(ids, "as_py"):  # a list out of a column of pyarrow
        if (found := ids.as_py()) is None:
            raise OptionError("ids is null: give a list of ids, and leave out rows that are null")
        return id_array(found)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        whole = all(isinstance(i, int) for i in array.ravel().tolist())
        if array.dtype == object and whole:
            raise UnknownTokenError(f"no token has id {max(array.ravel().tolist(), key=abs)}")
        if array.dtype.kind == "f" and np.isnan(array).any():  # so Arrow's nulls become
            raise OptionError(f"ids[{int(np.isnan(array).argmax())}] is null, so it is no id")
        shape = f" with {array.ndim} dimensions" if array.ndim > 1 else ""
        raise OptionError(
            f"ids are {ids!r:.80}{shape}: use a list of whole numbers, or an array of one dimension"
        )
    if array.dtype == np.uint32:
        return np.ascontiguousarray(array)
    if array.dtype == np.int32 and array.flags.c_contiguous and _has_no_negative(array):
        return array.view(np.uint32)
    found = np.empty(len(array), np.uint32)
    for start, block in portable.iter_blocks(array):
        for place in (int(block.argmin()), int(block.argmax())):
            if not 0 <= int(block[place]) < 2**32:
                raise UnknownTokenError(
                    f"id {block[place]} at position {start + place} is not in the vocabulary"
                )
        found[start : start + len(block)] = block
    return found
