"""BPE on characters, with a list of merges: what tokenizer.json holds without a byte level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from toksmith._base.lazy import np, npt
from toksmith._base.short_repr import short_repr
from toksmith.errors import OptionError
from toksmith.models.words import ids_of


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
        unk_id: the id of what is unknown.
        fuse_unk: consecutive unknown characters are one unknown token.
        byte_fallback: see above; the bytes are ``<0x00>`` … ``<0xFF>``.
        continuing_prefix: such as ``##``; a merge drops it from the right symbol.
        word_suffix: such as ``</w>``.
        whole_chunk_first: a chunk that is itself in the vocabulary becomes that token at once.

    Raises:
        OptionError: a merge names an id that is not there.
    """

    vocab: tuple[bytes, ...]
    merges: npt.NDArray[np.uint32]
    unk_id: int | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    continuing_prefix: str = ""
    word_suffix: str = ""
    whole_chunk_first: bool = False

    def __post_init__(self) -> None:
        merges = np.array(self.merges, np.uint32).reshape(-1, 3)
        merges.flags.writeable = False
        object.__setattr__(self, "merges", merges)
        if merges.max(initial=0) >= max(len(self.vocab), 1):
            rank = int((merges >= len(self.vocab)).any(axis=1).argmax())
            raise OptionError(
                f"merge {rank} {merges[rank].tolist()} names an id outside 0..{len(self.vocab) - 1}"
            )
        if self.unk_id is not None and not 0 <= self.unk_id < len(self.vocab):
            raise OptionError(f"unk_id is {self.unk_id}, but there are {len(self.vocab)} tokens")

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token."""
        return ids_of(self.vocab)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CharacterBPE):
            return NotImplemented
        return self._parts() == other._parts() and np.array_equal(self.merges, other.merges)

    def _parts(self) -> tuple[object, ...]:
        return (
            *(self.vocab, self.unk_id, self.fuse_unk, self.byte_fallback),
            *(self.continuing_prefix, self.word_suffix, self.whole_chunk_first),
        )

    __hash__ = None  # type: ignore[assignment]  # it holds an array
