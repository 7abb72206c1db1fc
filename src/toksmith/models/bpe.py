"""Byte-pair encoding: a vocabulary and an ordered list of merges, on bytes or on characters.

BPE on characters is what tokenizer.json holds without a byte level.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, overload

from toksmith._base.lazy import np, npt
from toksmith._base.records import dataclass
from toksmith._base.visible import short_repr
from toksmith.errors import OptionError
from toksmith.models.words import ids_of

MergeArray: TypeAlias = "npt.NDArray[np.uint32]"
"""Shape ``(n, 3)``: left id, right id, resulting id, in rank order."""


class FittingMerges(array):  # type: ignore[type-arg]  # generic from Python 3.12 on
    """Merges as unsigned 32-bit integers, three each, that their reader has found to fit."""


MergesGiven: TypeAlias = "npt.ArrayLike | Callable[[Sequence[bytes]], MergeArray]"


class MergesField:
    """The merges that a model was given, as an array that cannot be written to.

    A function may be given in their place. It is called with the vocabulary when somebody looks at
    the merges; those that follow from a vocabulary take their time to be found, and nobody needs
    them to encode.
    """

    @overload
    def __get__(self, model: None, owner: type[BPE]) -> NoReturn: ...
    @overload
    def __get__(self, model: BPE, owner: type[BPE]) -> MergeArray: ...
    def __get__(self, model: BPE | None, owner: type[BPE]) -> MergeArray:
        if model is None:
            raise AttributeError("merges")  # as a field of a dataclass: it has no default
        held: dict[str, Any] = vars(model)
        found = held["merges"]  # read once: another thread may replace it meanwhile
        if callable(found):
            found = held["merges"] = _unwritable(found(model.vocab))
        elif isinstance(found, FittingMerges):
            found = held["merges"] = _unwritable(found)
        merges: MergeArray = found
        return merges

    def __set__(self, model: BPE, given: MergesGiven) -> None:
        if not callable(given) and not isinstance(given, FittingMerges):
            given = _unwritable(given)
        vars(model)["merges"] = given


def flat_merges(model: BPE | CharacterBPE) -> Any:
    """Return the merges of a model in one dimension, as they were given, for the kernel."""
    held = vars(model)["merges"]
    return held if isinstance(held, FittingMerges) else model.merges.reshape(-1)


def _unwritable(given: npt.ArrayLike) -> MergeArray:
    merges = np.array(given, np.uint32).reshape(-1, 3)
    merges.flags.writeable = False
    return merges


def _check_dropout(dropout: float | None) -> None:
    if dropout is not None and not 0 <= dropout <= 1:
        raise OptionError(f"dropout is {dropout}: use a probability, from 0 to 1")


_BYTES = {bytes([byte]) for byte in range(256)}


@short_repr
@dataclass(frozen=True, eq=False)
class BPE:
    """A byte-level BPE model (Sennrich et al. 2016, on bytes as in GPT-2).

    A chunk starts as its single bytes. Of all neighbouring pairs, the one whose merge comes
    earliest in ``merges`` is joined, leftmost first, until no pair is in the list.

    Attributes:
        vocab: the bytes of each id. ``b""`` marks an id that the model does not use (it may
            belong to a special token, or to nothing).
        merges: uint32, shape ``(n, 3)``: left id, right id, resulting id, in rank order.
            Two merges may give the same id (Hugging Face) or give equal bytes under two ids
            (minbpe); the pair alone decides. Where ids are ranks (tiktoken), a function that finds
            the merges of a vocabulary may be given: it is called when they are looked at.
        whole_chunk_first: a chunk that is itself in the vocabulary becomes that token at once,
            even where merging would not reach it (tiktoken; ``ignore_merges`` in
            tokenizer.json). Where equal bytes have two ids, the lower one is taken.
        unk_id: the id for a byte that has none; ``None`` leaves such bytes out, before merging.
        fuse_unk: consecutive unknown bytes are one unknown token.
        dropout: the default of :meth:`~toksmith.Tokenizer.sample`: the probability that a merge is
            skipped. Encoding skips none.

    Raises:
        OptionError: a merge that does not fit the vocabulary, an ``unk_id`` out of range, no byte
            with an id, or a byte without one where ids are ranks.

    Example:
        >>> vocab = tuple(bytes([b]) for b in range(256)) + (b"ab",)
        >>> model = BPE(vocab, np.array([[97, 98, 256]], np.uint32))
        >>> model.byte_ids[97]
        97
    """

    vocab: tuple[bytes, ...]
    merges: MergesField = MergesField()
    whole_chunk_first: bool = False
    unk_id: int | None = None
    fuse_unk: bool = False
    dropout: float | None = None

    def __post_init__(self) -> None:
        _check_dropout(self.dropout)
        missing = self.missing_bytes
        if missing and (self.by_ranks or len(missing) == 256):
            shown = ", ".join(f"0x{byte:02X}" for byte in missing[:8])
            raise OptionError(
                f"{len(missing)} of the 256 single bytes have no id ({shown}"
                f"{', …' if len(missing) > 8 else ''}); "
                f"a vocabulary needs {'every byte' if self.by_ranks else 'some bytes'}"
            )
        if self.unk_id is not None and not 0 <= self.unk_id < len(self.vocab):
            raise OptionError(f"unk_id is {self.unk_id}, but there are {len(self.vocab)} tokens")
        held = vars(self)["merges"]
        is_checked = callable(held) or isinstance(held, FittingMerges)
        if not is_checked and not self._merges_fit():
            raise self._first_misfit()

    @property
    def by_ranks(self) -> bool:
        """Whether the merges follow from the vocabulary, and nobody has looked at them yet.

        Example:
            >>> vocab = tuple(bytes([b]) for b in range(256))
            >>> BPE(vocab, []).by_ranks, BPE(vocab, lambda vocab: []).by_ranks
            (False, True)
        """
        return callable(vars(self)["merges"])

    def _merges_fit(self) -> bool:
        """Check all merges at once: a vocabulary is loaded more often than it is wrong."""
        vocab = self.vocab
        if self.merges.max(initial=0) >= len(vocab):
            return False
        left, right, new = ([vocab[i] for i in column] for column in self.merges.T.tolist())
        pairs = self.merges[:, 0].astype(np.uint64) << np.uint64(32) | self.merges[:, 1]
        pairs.sort()
        return (
            all(left)
            and all(right)
            and list(map(bytes.__add__, left, right)) == new
            and bool((pairs[1:] != pairs[:-1]).all())
        )

    def _first_misfit(self) -> OptionError:
        """Return the error for an invalid merge, with its rank and the reason."""
        size = len(self.vocab)
        seen: dict[tuple[int, int], int] = {}
        for rank, (left, right, new) in enumerate(self.merges.tolist()):
            if max(left, right, new) >= size:
                return OptionError(
                    f"merge {rank} ({left}, {right}) -> {new} names an id outside 0..{size - 1}"
                )
            if not self.vocab[left] or not self.vocab[right]:
                return OptionError(f"merge {rank} ({left}, {right}) joins an id that has no bytes")
            if self.vocab[left] + self.vocab[right] != self.vocab[new]:
                return OptionError(
                    f"merge {rank} joins {self.vocab[left]!r} and {self.vocab[right]!r} but its "
                    f"id {new} is {self.vocab[new]!r}"
                )
            if (first := seen.setdefault((left, right), rank)) != rank:
                return OptionError(f"merge {rank} ({left}, {right}) repeats merge {first}")
        raise AssertionError("the merges fit")

    @cached_property
    def byte_ids(self) -> tuple[int, ...]:
        """The id of each of the 256 single bytes (-1 where there is none).

        Example:
            >>> vocab = tuple(bytes([b]) for b in range(256))
            >>> BPE(vocab[::-1], []).byte_ids[0]
            255
        """
        if set(self.vocab[:256]) == _BYTES:  # as in nearly all vocabularies
            return tuple(sorted(range(256), key=self.vocab.__getitem__))
        ids = [-1] * 256
        single = [i for i, length in enumerate(map(len, self.vocab)) if length == 1]
        for token_id in reversed(single):
            ids[self.vocab[token_id][0]] = token_id
        return tuple(ids)

    @cached_property
    def missing_bytes(self) -> bytes:
        r"""The bytes that have no id; most vocabularies have none.

        Example:
            >>> BPE((b"a", b"b"), []).missing_bytes[:3], BPE((b"a", b"b"), []).unk_id
            (b'\x00\x01\x02', None)
        """
        return bytes(byte for byte, token_id in enumerate(self.byte_ids) if token_id < 0)

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token's bytes; the lowest where several share them.

        Example:
            >>> vocab = tuple(bytes([b]) for b in range(256)) + (b"ab",)
            >>> BPE(vocab, [[97, 98, 256]]).ids[b"ab"]
            256
        """
        return ids_of(self.vocab)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BPE):
            return NotImplemented
        return (
            self.vocab == other.vocab
            and self.whole_chunk_first == other.whole_chunk_first
            and self._options() == other._options()
            and self._same_merges(other)
        )

    def _options(self) -> tuple[object, ...]:
        return self.unk_id, self.fuse_unk, self.dropout

    def _same_merges(self, other: BPE) -> bool:
        one, its = vars(self)["merges"], vars(other)["merges"]
        if callable(one) and one is its:  # found from equal vocabularies in the same way
            return True
        return np.array_equal(self.merges, other.merges)

    __hash__ = None  # type: ignore[assignment]  # it holds an array


@short_repr
@dataclass(frozen=True, eq=False)
class CharacterBPE:
    """Byte-pair encoding whose first symbols are characters (Sennrich et al. 2016).

    A chunk starts as its characters: each but the first with ``continuing_prefix`` before it, the
    last with ``word_suffix`` after it. A character that is not in the vocabulary becomes its
    bytes (``byte_fallback``, if all of them are in the vocabulary) or ``unk_id``, or without that
    nothing. Then pairs merge as in :class:`~toksmith.models.BPE`.

    Attributes:
        vocab: each token as UTF-8; ``b""`` marks an id that the model does not use.
        merges: uint32, shape ``(n, 3)``: left id, right id, resulting id, in rank order.
        unk_id: the id for unknown characters.
        fuse_unk: consecutive unknown characters are one unknown token.
        byte_fallback: see above; the bytes are ``<0x00>`` … ``<0xFF>``.
        continuing_prefix: such as ``##``; a merge drops it from the right symbol.
        word_suffix: such as ``</w>``.
        whole_chunk_first: a chunk that is itself in the vocabulary becomes that token at once.
        dropout: as in :class:`~toksmith.models.BPE`.

    Raises:
        OptionError: a merge names an id that is not there.

    Example:
        >>> from toksmith import Tokenizer, pipeline
        >>> model = CharacterBPE((b"l", b"o", b"w</w>", b"lo"), [[0, 1, 3]], word_suffix="</w>")
        >>> Tokenizer(pipeline.Pipeline(model)).encode("low")
        [3, 2]
    """

    vocab: tuple[bytes, ...]
    if TYPE_CHECKING:
        merges: MergeArray
    else:
        merges: MergesField = MergesField()
    unk_id: int | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    continuing_prefix: str = ""
    word_suffix: str = ""
    whole_chunk_first: bool = False
    dropout: float | None = None

    def __post_init__(self) -> None:
        _check_dropout(self.dropout)
        if not isinstance(vars(self)["merges"], FittingMerges):
            self._check_merges()
        if self.unk_id is not None and not 0 <= self.unk_id < len(self.vocab):
            raise OptionError(f"unk_id is {self.unk_id}, but there are {len(self.vocab)} tokens")

    def _check_merges(self) -> None:
        merges = self.merges
        if merges.max(initial=0) >= max(len(self.vocab), 1):
            rank = int((merges >= len(self.vocab)).any(axis=1).argmax())
            raise OptionError(
                f"merge {rank} {merges[rank].tolist()} names an id outside 0..{len(self.vocab) - 1}"
            )

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token.

        Example:
            >>> CharacterBPE((b"l", b"o", b"lo"), [[0, 1, 2]]).ids[b"lo"]
            2
        """
        return ids_of(self.vocab)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CharacterBPE):
            return NotImplemented
        return self._parts() == other._parts() and np.array_equal(self.merges, other.merges)

    def _parts(self) -> tuple[object, ...]:
        return (
            *(self.vocab, self.unk_id, self.fuse_unk, self.byte_fallback),
            *(self.continuing_prefix, self.word_suffix, self.whole_chunk_first),
            self.dropout,
        )

    __hash__ = None  # type: ignore[assignment]  # it holds an array
