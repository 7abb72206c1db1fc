"""SentencePiece's vocabularies: pieces of text, each with a score and a type."""

from __future__ import annotations

from array import array
from enum import IntEnum
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

from toksmith._base.lazy import np, npt
from toksmith._base.records import dataclass, field
from toksmith._base.visible import short_repr
from toksmith.errors import OptionError
from toksmith.models.words import ids_of


# Operations of NumPy get members as int: where NumPy looks up attributes of an enum, it drops what
# is raised there, Ctrl-C included.
class PieceType(IntEnum):
    """The role of a piece; the numbers are those of SentencePiece's files.

    Example:
        >>> PieceType(3).name, PieceType.BYTE.value
        ('CONTROL', 6)
    """

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


_BYTE_PIECES = [b"<0x%02X>" % byte for byte in range(256)]

Held: TypeAlias = "array[Any] | bytes | npt.NDArray[Any]"


class ArrayField:
    """An array of numbers that cannot be written to.

    Numbers that are given as ``array.array`` or bytes become a NumPy array when somebody looks at
    them: encoding does not need it.

    Args:
        kind: the type of the numbers, as in the ``array`` module.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Pieces | None, owner: type[Pieces]) -> npt.NDArray[Any]:
        if model is None:
            raise AttributeError(self._name)  # as a field of a dataclass: it has no default
        held: Held = vars(model)[self._name]
        if isinstance(held, array | bytes):
            held = np.frombuffer(held, self._kind)
            held.flags.writeable = False
            vars(model)[self._name] = held
        return held

    def __set__(self, model: Pieces, given: npt.ArrayLike) -> None:
        is_raw = isinstance(given, bytes if self._kind == "B" else array)
        vars(model)[self._name] = given if is_raw else self._unwritable(given)

    def _unwritable(self, given: npt.ArrayLike) -> npt.NDArray[Any]:
        held = np.array(given, self._kind)
        held.flags.writeable = False
        return held


@short_repr
@dataclass(frozen=True, eq=False)
class Pieces:
    r"""The vocabulary of a SentencePiece model.

    Attributes:
        vocab: each piece as UTF-8, such as ``b"\xe2\x96\x81the"`` or ``b"<0x0A>"``.
        scores: float64, shape ``(n,)``. SentencePiece keeps float32, and so do its files.
        types: uint8, shape ``(n,)``: a :class:`PieceType` each.
        unk_id: the id of the unknown piece; ``None`` for none (``tokenizers`` allows it).
        byte_fallback: a character that is no piece becomes the pieces of its bytes.
        bos_id: the control piece that a model wants before a text; ``None`` for none. Like the
            next two, it is there for files and templates: encoding does not look at it.
        eos_id: the one after it.
        pad_id: the one that fills up batches.

    Raises:
        OptionError: the arrays do not fit each other, a piece is empty or occurs twice, an
            id is out of range, or ``byte_fallback`` lacks a byte.

    Example:
        >>> pieces = Pieces((b"<unk>", b"a", b"b"), [0.0, -1.0, -2.0], [2, 1, 1])
        >>> pieces.ids[b"b"], float(pieces.scores[2])
        (2, -2.0)
    """

    vocab: tuple[bytes, ...]
    if TYPE_CHECKING:
        scores: npt.NDArray[np.float64]
        types: npt.NDArray[np.uint8]
    else:
        scores: ArrayField = ArrayField("d")
        types: ArrayField = ArrayField("B")
    unk_id: int | None = 0
    byte_fallback: bool = False
    bos_id: int | None = field(default=None, kw_only=True)
    eos_id: int | None = field(default=None, kw_only=True)
    pad_id: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("scores", "types"):
            held = self.held(name)
            shape = (len(held),) if isinstance(held, array | bytes) else held.shape
            if shape != (len(self.vocab),):
                raise OptionError(f"{len(self.vocab)} pieces have {name} of shape {shape}")
        if not all(self.vocab):
            raise OptionError(f"piece {self.vocab.index(b'')} is empty")
        distinct = set(self.vocab)  # made faster than the ids, which encoding does not need
        if len(distinct) != len(self.vocab):
            twice = next(p for i, p in enumerate(self.vocab) if self.ids[p] != i)
            raise OptionError(
                f"piece {twice.decode(errors='replace')!r} occurs twice: pieces are unique"
            )
        for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
            token_id = getattr(self, name)
            if token_id is not None and not 0 <= token_id < len(self.vocab):
                raise OptionError(f"{name} is {token_id}, but there are {len(self.vocab)} pieces")
        if isnan(sum(self.held("scores"))) and np.isnan(self.scores).any():
            raise OptionError(f"the score of piece {int(np.isnan(self.scores).argmax())} is NaN")
        missing = [piece for piece in _BYTE_PIECES if piece not in distinct]
        if self.byte_fallback and missing:
            raise OptionError(f"byte_fallback is set, but there is no piece {missing[0].decode()}")

    def held(self, name: str) -> Any:
        r"""Return ``scores`` or ``types`` as they were given, for the kernel.

        Args:
            name: of the attribute.

        Example:
            >>> Pieces((b"<unk>", b"a"), [0.0, -1.0], bytes([2, 1])).held("types")
            b'\x02\x01'
        """
        return vars(self)[name]

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each piece.

        Example:
            >>> Pieces((b"<unk>", b"a"), [0.0, -1.0], [2, 1]).ids[b"a"]
            1
        """
        return ids_of(self.vocab)

    @cached_property
    def byte_ids(self) -> tuple[int, ...]:
        """The id of ``<0x00>`` … ``<0xFF>`` (-1 where there is none).

        Example:
            >>> Pieces((b"<unk>", b"<0x00>"), [0.0, 0.0], [2, 6]).byte_ids[:2]
            (1, -1)
        """
        return tuple(self.ids.get(piece, -1) for piece in _BYTE_PIECES)

    def of_type(self, kind: PieceType) -> list[int]:
        """Return the ids of this type, in order.

        Args:
            kind: the type.

        Example:
            >>> pieces = Pieces((b"<unk>", b"<s>", b"a"), [0.0, 0.0, -1.0], [2, 3, 1])
            >>> pieces.of_type(PieceType.CONTROL)
            [1]
        """
        return find_all(bytes(self.held("types")), kind)

    def ids_of_types(self, *kinds: PieceType) -> dict[bytes, int]:
        """Return the ids of the pieces of some types, by piece, in order.

        Args:
            *kinds: the types.

        Example:
            >>> pieces = Pieces((b"<unk>", b"<s>", b"a"), [0.0, 0.0, -1.0], [2, 3, 1])
            >>> pieces.ids_of_types(PieceType.UNKNOWN, PieceType.CONTROL)
            {b'<unk>': 0, b'<s>': 1}
        """
        found = sorted(token_id for kind in set(kinds) for token_id in self.of_type(kind))
        return {self.vocab[token_id]: token_id for token_id in found}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pieces) or type(self) is not type(other):
            return NotImplemented
        return (
            self.vocab == other.vocab
            and all(getattr(self, name) == getattr(other, name) for name in _PLAIN)
            and np.array_equal(self.scores, other.scores)
            and np.array_equal(self.types, other.types)
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays


def find_all(types: bytes, kind: PieceType) -> list[int]:
    """Return the places of a type, in order.

    Example:
        >>> find_all(bytes([2, 1, 1, 3]), PieceType.NORMAL)
        [1, 2]
    """
    places: list[int] = []
    while (place := types.find(kind, places[-1] + 1 if places else 0)) >= 0:
        places.append(place)
    return places


_PLAIN = ("unk_id", "byte_fallback", "bos_id", "eos_id", "pad_id")


@short_repr
@dataclass(frozen=True, eq=False)
class Unigram(Pieces):
    """The Unigram language model (Kudo 2018, "Subword Regularization").

    Of all ways to cut the text into pieces, the one with the highest sum of scores is taken
    (Viterbi). A place where no piece of one character matches may be crossed by an unknown
    character, at the lowest score minus 10.

    Attributes:
        single: scores are added in float32, as SentencePiece does; otherwise in float64, as
            ``tokenizers`` does. It decides between paths that are all but equal.
        fuse_unk: consecutive unknown characters are one unknown token.

    Example:
        >>> from toksmith import Tokenizer, pipeline
        >>> vocab = (b"<unk>", b"a", b"b", b"ab")
        >>> model = Unigram(vocab, [0.0, -1.0, -1.0, -1.5], [2, 1, 1, 1])
        >>> Tokenizer(pipeline.Pipeline(model)).encode("abb")
        [3, 2]
    """

    single: bool = True
    fuse_unk: bool = True

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        if same is not True or not isinstance(other, Unigram):
            return same
        return (self.single, self.fuse_unk) == (other.single, other.fuse_unk)

    __hash__ = None  # it holds arrays


@short_repr
@dataclass(frozen=True, eq=False)
class SentencePieceBPE(Pieces):
    """SentencePiece's BPE (Kudo & Richardson 2018), on the characters of normalized text.

    Any two neighbours whose *concatenation is a piece* may merge, not only pairs that training
    merged; the highest score goes first, then the leftmost. User-defined pieces are found first,
    the longest at each place, and never merge; a piece of type UNUSED that comes out is taken
    apart again. What is left and is no piece is unknown: its bytes with ``byte_fallback``, else
    the unknown piece, one for all consecutive ones.

    Example:
        >>> from toksmith import Tokenizer, pipeline
        >>> vocab = (b"<unk>", b"ab", b"bc", b"a", b"b", b"c")
        >>> model = SentencePieceBPE(vocab, [0.0, 0.0, -1.0, -2.0, -3.0, -4.0], [2, 1, 1, 1, 1, 1])
        >>> Tokenizer(pipeline.Pipeline(model)).encode("abc")
        [1, 5]
    """
