"""The pieces of a file hold its documents, each once, whatever the size of a piece."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toksmith._base.documents import document_bounds
from toksmith.corpus import Reading
from toksmith.corpus.blocks import Block
from toksmith.corpus.file_blocks import file_blocks
from toksmith.corpus.pieces import Piece, pieces, read_piece
from toksmith.errors import FormatError

BOM = b"\xef\xbb\xbf"


def documents(blocks: Iterator[Block]) -> list[bytes]:
    """Return the documents of blocks."""
    return [
        bytes(memoryview(block.data)[start:end])  # type: ignore[arg-type]
        for block in blocks
        for start, end in block.bounds.tolist()
    ]


def check(
    name: str, data: bytes, reading: Reading, wanted: list[bytes], size: int, streamed: int
) -> None:
    """Check the documents of pieces of about ``size`` bytes, read in small and in large blocks."""

    def in_small_blocks(piece: Piece) -> Iterator[Block]:
        return file_blocks(piece.path, reading, None, streamed, span=(piece.start, piece.end))

    def in_large_blocks(piece: Piece) -> Iterator[Block]:
        return read_piece(piece, reading)

    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        found = pieces(path, reading, size)
        assert sum(piece.size for piece in found) == len(data)
        read: Callable[[Piece], Iterator[Block]]
        for read in (in_small_blocks, in_large_blocks):
            assert [text for piece in found for text in documents(read(piece))] == wanted
        done = [block.done for block in read_piece(found[0], reading)]
        assert done == sorted(done)
        assert all(0 <= each <= found[0].size for each in done)


lines = st.builds(
    lambda text, form: form % json.dumps(text).encode(),
    st.text("ab\né", max_size=12),
    st.sampled_from([b'{"text": %s}', b' {"id": 1, "text": %s} ']),
)


@settings(max_examples=50, deadline=None)
@given(
    several=st.lists(lines | st.sampled_from([b"", b" ", b'{"text": null}']), max_size=4),
    ending=st.sampled_from([b"\n", b"\r\n"]),
    ends=st.booleans(),
    mark=st.sampled_from([b"", BOM]),
    errors=st.sampled_from(["strict", "replace"]),
    size=st.integers(4, 60),
    streamed=st.integers(1, 60),
)
def test_json_lines(
    several: list[bytes],
    ending: bytes,
    ends: bool,
    mark: bytes,
    errors: str,
    size: int,
    streamed: int,
) -> None:
    data = mark + ending.join(several) + (ending if ends else b"")
    values = [json.loads(line)["text"] for line in several if line.strip()]
    wanted = [text.encode() for text in values if text is not None]
    check("a.jsonl", data, Reading(encoding_errors=errors), wanted, size, streamed)


@settings(max_examples=150, deadline=None)
@given(
    text=st.text("ab|<é\n\ufeff", max_size=40),
    mark=st.sampled_from([b"", BOM]),
    separator=st.sampled_from(["\n", "<|>", "ab", "é", "aba", "\n\n", "\ufeff", None]),
    size=st.integers(1, 30),
    streamed=st.integers(1, 30),
)
def test_text(text: str, mark: bytes, separator: str | None, size: int, streamed: int) -> None:
    data = mark + text.encode()
    plain = data.removeprefix(BOM)
    bounds = document_bounds(plain, separator).tolist()
    wanted = [plain[start:end] for start, end in bounds]
    check("a.txt", data, Reading(separator=separator), wanted, size, streamed)


@settings(max_examples=60, deadline=None)
@given(good=st.lists(st.booleans(), min_size=1, max_size=8), size=st.integers(1, 60), at=st.data())
def test_damaged_lines_keep_their_numbers(good: list[bool], size: int, at: st.DataObject) -> None:
    bad = st.sampled_from([b"{", b"[]", b'{"txt": 1}', b'{"text": 1}', b'{"text": "\xff"}'])
    several = [b'{"text": "a"}' if is_good else at.draw(bad) for is_good in good]
    wanted = [number for number, is_good in enumerate(good, 1) if not is_good]
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_bytes(b"\n".join(several))
        damaged = []
        kept = 0
        for piece in pieces(path, Reading(), size):
            before = len(damaged)
            kept += len(documents(read_piece(piece, Reading(), damaged.append)))
            if len(damaged) > before:
                with pytest.raises(FormatError, match=f"line {damaged[before].number} "):
                    documents(read_piece(piece, Reading()))
        assert [damage.number for damage in damaged] == wanted
        assert {damage.path for damage in damaged} <= {path}
        assert kept == sum(good)
