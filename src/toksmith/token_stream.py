"""Ids for a training loop: an iterable that workers share, and that goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from toksmith._base.checks import flag, whole
from toksmith._base.lazy import np, npt
from toksmith._base.shares import check_rank, check_state, share_of
from toksmith._base.text import Text, is_text
from toksmith.engine.columns import column_of
from toksmith.errors import OptionError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.tokenizer.encode import Special

_POSITION = ("document", "offset")


class TokenStream:
    """Yields the ids of documents: in blocks of one length, or document by document.

    Each process of a training reads every ``world_size``-th document; inside a worker of a PyTorch
    ``DataLoader``, the workers share the documents of their process. torch is not imported. A
    ``DataLoader`` takes it from an ``IterableDataset`` whose ``__iter__`` returns
    ``iter(stream)``.

    Args:
        tokenizer: a :class:`~toksmith.Tokenizer`, a path or a name.
        texts: the documents: a list, a column (:meth:`Tokenizer.encode_batch`), another iterable
            that can be read again, or a function that returns an iterable, such as one that opens
            files.
        block: the number of ids in each block. Documents follow each other without a gap, and what
            does not fill a block at the end is left out. ``None``: one array for each document.
        add_special_tokens: put the template's ids around each document, such as the token at its
            end: see :meth:`Tokenizer.with_template`.
        special: see :meth:`Tokenizer.encode`.
        rank: the number of this process.
        world_size: the number of processes.
        batch_size: the number of documents that are encoded at once.
        threads: the number of threads that encode.

    Raises:
        OptionError: an argument is out of range.

    Example:
        >>> import toksmith
        >>> tok = toksmith.get("toksmith-small").with_template(eos="<|endoftext|>")
        >>> stream = TokenStream(tok, ["It was", "the best", "of times"], block=4)
        >>> for ids in stream:
        ...     print(ids, stream.state_dict())
        [ 1377   360 16382   738] {'document': 1, 'offset': 1}
        [ 1779 16382  1047  1890] {'document': 2, 'offset': 2}
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        texts: Iterable[Text] | Callable[[], Iterable[Text]],
        *,
        block: int | None = None,
        add_special_tokens: bool = True,
        special: Special = "text",
        rank: int = 0,
        world_size: int = 1,
        batch_size: int = 1000,
        threads: int | None = 1,
    ) -> None:
        self._tok = tokenizer_of(tokenizer)
        if is_text(texts) or (isinstance(texts, Iterator) and not callable(texts)):
            raise OptionError(
                f"texts is {type(texts).__name__}: give a list or a column of texts, or a function "
                "that returns an iterator, since a stream is read more than once"
            )
        self._texts = texts
        self._block = None if block is None else whole("block", block, 1, ", or None")
        self._options: dict[str, Any] = {
            "add_special_tokens": flag("add_special_tokens", add_special_tokens),
            "special": special,
            "threads": threads,
        }
        self._rank, self._world_size = check_rank(rank, world_size)
        self._batch_size = whole("batch_size", batch_size, 1)
        self._document = self._offset = 0

    def state_dict(self) -> dict[str, int]:
        """Return the place after the ids that were yielded last.

        Returns:
            ``document``: the documents of this process and worker that are done; ``offset``: the
            ids of the next one that were yielded.
        """
        return {"document": self._document, "offset": self._offset}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Let the next iteration begin at a place that :meth:`state_dict` returned.

        Args:
            state: the place. The other arguments must be those of the stream that returned it, and
                so must the number of workers.

        Raises:
            OptionError: it is no such place.
        """
        self._document, self._offset = check_state(state, _POSITION)

    def __iter__(self) -> Iterator[npt.NDArray[np.int64]]:
        """Yield arrays of int64: of shape ``(block,)``, or one for each document.

        An iteration that ended begins anew; one that was left begins where it was left.
        """
        held = np.zeros(0, np.int64)  # ids that were not yielded, from self._offset on
        ends: list[int] = []  # in held, of the documents from self._document on
        skipped = self._offset
        for texts in self._batches(self._document):
            batch = self._tok.encode_batch(texts, **self._options)
            ids, offsets = batch.ids.astype(np.int64), batch.offsets
            if skipped:
                ids, offsets, skipped = ids[skipped:], np.maximum(offsets - skipped, 0), 0
            ends += (offsets[1:] + len(held)).tolist()
            held = np.concatenate([held, ids]) if len(held) else ids
            start = passed = 0
            while passed < len(ends):
                end = ends[passed] if self._block is None else start + self._block
                if end > len(held):
                    break
                before = passed
                while passed < len(ends) and ends[passed] <= end:
                    passed += 1
                    if self._block is None:
                        break
                self._document += passed - before
                last = ends[passed - 1] if passed else None
                self._offset = (
                    end - last
                    if passed > before and last is not None
                    else self._offset + end - start
                )
                yield held[start:end]
                start = end
            held, ends = held[start:], [end - start for end in ends[passed:]]
        self._document = self._offset = 0

    def _batches(self, document: int) -> Iterator[Sequence[Text]]:
        """Yield the documents of this process and worker in batches, from one of them on."""
        first, step = share_of(self._rank, self._world_size)
        first += document * step
        texts = self._texts() if callable(self._texts) else self._texts
        column = column_of(texts, "texts")
        if column is None and isinstance(texts, Sequence):
            column = texts
        if column is not None:
            places = range(first, len(column), step)
            for start in range(0, len(places), self._batch_size):
                yield [column[place] for place in places[start : start + self._batch_size]]
            return
        remaining = islice(texts, first, None, step)
        while batch := list(islice(remaining, self._batch_size)):
            yield batch
