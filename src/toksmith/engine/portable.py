"""Functions of the compiled module that need no tokenizer, with a fallback in Python.

Reading files and decoding call them, and work without the compiled module, only more slowly.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from toksmith import results
from toksmith._base.arrays import IdArray, OffsetArray
from toksmith._base.lazy import np, npt
from toksmith._base.text import Text, utf8
from toksmith.engine.compiled import _kernel, instruction_set, is_missing

TokenIds: TypeAlias = "_kernel.TokenIds"
"""The vocabulary and the merges of a ``tokenizer.json``, without faults, as the kernel holds them.

- ``tokens``: by id, ``b""`` where there is none;
- ``scores``: float64, one for each piece, if the vocabulary is a list of pieces, else ``None``;
- ``merges``: uint32, the left, right and new id of each merge, or ``None``;
- ``rest``: the file without them.
"""

_BLOCK = 1 << 20
"""Ids that NumPy works on at once: its loops do not end on Ctrl-C."""


def first_invalid(text: Text, start: int, end: int) -> int:
    r"""Return the position of the first byte of invalid UTF-8, or the end.

    Args:
        text: the bytes.
        start: the first index.
        end: the index after the last.

    Raises:
        EngineError: ``TOKSMITH_ISA`` names an instruction set that does not exist here.

    Example:
        >>> first_invalid("né".encode() + b"\xff", 0, 4)
        3
    """
    if not is_missing:
        return _kernel.first_invalid(text, start, end, instruction_set())
    try:
        bytes(memoryview(utf8(text) if isinstance(text, str) else text)[start:end]).decode()
    except UnicodeDecodeError as invalid:
        return start + invalid.start
    return end


class JsonTexts(NamedTuple):
    """The texts of JSON Lines.

    Attributes:
        data: the texts end to end.
        ends: int64, shape ``(texts,)``: the end of each in ``data``, in bytes.
        refused: int64, shape ``(n, 4)``: the lines that were not read. For each: the number of
            texts before it, its number from 0, and its start and end in the input, in bytes.
        lines: the number of lines.
    """

    data: bytes
    ends: OffsetArray
    refused: npt.NDArray[np.int64]
    lines: int


def read_json_lines(lines: bytes | bytearray, field: bytes) -> JsonTexts:
    r"""Return the texts in one field of the JSON object of each line; empty lines are skipped.

    Lines that are invalid or unusual are refused, for the caller to read. Without the compiled
    module, all are.

    Args:
        lines: whole lines.
        field: the name of the field, in UTF-8.

    Example:
        >>> found = read_json_lines(b'{"text": "low"}\n{}\n', b"text")
        >>> found.data, found.ends.tolist(), found.refused.tolist()
        (b'low', [3], [[1, 1, 16, 18]])
    """
    if not is_missing:
        data, ends, refused, count = _kernel.read_json_lines(lines, field, instruction_set())
        return JsonTexts(data, ends, refused.reshape(-1, 4), count)
    found = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n"))
    ends = np.append(found, len(lines)) if not lines.endswith(b"\n") else found
    starts = np.concatenate([np.zeros(1, np.int64), found + 1])[: len(ends)]
    places = np.arange(len(ends))
    rows = np.stack([np.zeros_like(places), places, starts, ends], axis=1)
    return JsonTexts(b"", np.zeros(0, np.int64), rows, len(ends))


def recover_merges(vocab: Sequence[bytes]) -> npt.NDArray[np.uint32]:
    """Return the merges of a vocabulary whose ids are its ranks, as tiktoken's are.

    The merge of a token is the pair that all other tokens make of its bytes. A token of which they
    make more than two has no merge: only a look-up of the whole chunk finds it.

    Args:
        vocab: the bytes of each id, ``b""`` if it has none; every single byte has an id.

    Returns:
        uint32, shape ``(n, 3)``: left id, right id, resulting id, in rank order.
    """
    if is_missing:
        from toksmith.reference import bpe

        return bpe.recover_merges(vocab)
    return _kernel.recover_merges(tuple(vocab)).reshape(-1, 3)


def read_ranks(data: bytes, most: int) -> tuple[bytes, ...] | None:
    """Return the tokens of a ``.tiktoken`` file by rank, ``b""`` if a rank has none.

    Returns:
        ``None`` if the file has to be read line by line: a line is malformed, a token or a rank
        occurs twice, a rank is above ``most``, or there is no compiled module.
    """
    return None if is_missing else _kernel.read_ranks(data, most)


def read_token_ids(data: bytes) -> TokenIds | None:
    """Return the vocabulary and the merges of a ``tokenizer.json``, and the file without them.

    Returns:
        ``None`` if the file has to be read with messages for what is wrong in them, or there is no
        compiled module.
    """
    return None if is_missing else _kernel.TokenIds.read(data)


def read_pieces(data: bytes) -> tuple[tuple[bytes, ...], array[float], bytes, bytes] | None:
    """Return the pieces of a SentencePiece file, their scores and types, and its other fields.

    Returns:
        ``None`` if the file has to be read piece by piece: a piece is empty or invalid UTF-8, its
        score is not finite, its type is unknown, or there is no compiled module.
    """
    found = None if is_missing else _kernel.read_pieces(data)
    return found and (found[0], array("d", found[1]), found[2], found[3])


def serialize_segmentations(
    texts: list[bytes],
    offsets: OffsetArray,
    ids: IdArray,
    begins: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    silent: npt.NDArray[np.bool_],
    pieces: list[bytes],
) -> list[bytes] | None:
    """Return SentencePiece's message ``SentencePieceText`` of each text.

    Args:
        texts: UTF-8.
        offsets: text ``i`` has the pieces from ``offsets[i]`` to ``offsets[i + 1]``.
        ids: of the pieces.
        begins: where the surface of each piece starts in its text, in bytes.
        ends: where it ends.
        silent: which pieces have no surface.
        pieces: the pieces as UTF-8.

    Returns:
        ``None`` if there is no compiled module.
    """
    if is_missing:
        return None
    return _kernel.serialize_segmentations(texts, offsets, ids, begins, ends, silent, pieces)


def check_character_map(charsmap: bytes) -> None:
    """Raise if a compiled map of characters is damaged.

    Raises:
        OptionError: it is.
    """
    if not is_character_map(charsmap):
        from toksmith.stages.charsmap import character_map

        character_map(charsmap)


def is_character_map(charsmap: bytes) -> bool:
    """Return whether a compiled map of characters is free of damage; ``False`` if unknown."""
    return not is_missing and _kernel.is_character_map(charsmap)


def to_lists(ids: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]) -> list[list[int]]:
    """Return the ids between each two offsets as a list.

    Example:
        >>> to_lists(np.array([7, 8, 9], np.uint32), np.array([0, 1, 1, 3]))
        [[7], [], [8, 9]]
    """
    return _kernel.to_lists(
        np.ascontiguousarray(ids, np.uint32), np.ascontiguousarray(offsets, np.int64)
    )


def arrow_lists(
    ids: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]
) -> tuple[object, object]:
    """Return the capsules of an Arrow array of lists: the ids between each two offsets."""
    return _kernel.arrow_lists(
        np.ascontiguousarray(ids, np.uint32), np.ascontiguousarray(offsets, np.int64)
    )


def to_array(ids: list[int]) -> npt.NDArray[np.uint32] | None:
    """Return the ids of a list as an array; ``None`` unless all are ints of 32 bits.

    Example:
        >>> to_array([7, 8]), to_array([-1]), to_array([2.5])
        (array([7, 8], dtype=uint32), None, None)
    """
    if not is_missing:
        return _kernel.to_array(ids)
    if all(type(token_id) is int and 0 <= token_id < 1 << 32 for token_id in ids):
        return np.array(ids, np.uint32)
    return None


def iter_blocks(ids: npt.NDArray[np.integer]) -> Iterator[tuple[int, npt.NDArray[np.integer]]]:
    """Yield an array in blocks, each after the position of its first id.

    Example:
        >>> list(iter_blocks(np.array([7, 8])))
        [(0, array([7, 8]))]
    """
    for start in range(0, len(ids), _BLOCK):
        yield start, ids[start : start + _BLOCK]


if not is_missing:
    results.to_lists = to_lists
    results.arrow_lists = arrow_lists
