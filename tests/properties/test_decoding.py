"""Streaming and table decoding equal the decoding steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toksmith.decoders import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    Decoder,
    Fuse,
    MetaspaceDecoder,
    Replace,
    SentencePieceDecoder,
    Strip,
    WordPieceDecoder,
)
from toksmith.models import Model, SentencePieceBPE, WordLevel
from toksmith.stages.decode import run_decoder
from toksmith.stages.decode_streams import DecoderStream
from toksmith.tokenizer.decode_table import DecodeTable

TOKENS = [
    *("a", "b", "▁", "▁a", "▁▁", "a▁b", "##a", "##", "a</w>", "</w>", "<pad>", "|", "||", " "),
    *(" a ", ".", ",", " '", "n't", "Ġ", "Ã", "©", "Ġa", "é", "日本", "\n", "'s", "do not"),
    *("<unk>", "<s>", "<x>"),
]
BYTES = [f"<0x{byte:02X}>" for byte in (0x00, 0x20, 0x41, 0x80, 0xA9, 0xC3, 0xE5, 0x8F, 0xF0, 0x9F)]
tokens = st.lists(st.sampled_from([*TOKENS, *BYTES, *BYTES]), max_size=12)


def pieces() -> SentencePieceBPE:
    vocab = ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256)), *TOKENS[:-3]]
    types = [2, 3, *[6] * 256, *[1] * len(TOKENS[:-3])]
    return SentencePieceBPE(
        tuple(piece.encode() for piece in vocab), np.zeros(len(vocab)), np.array(types)
    )


WORDS, PIECES = WordLevel(()), pieces()
DECODERS: list[tuple[Decoder, Model]] = [
    ((), WORDS),
    ((Fuse(" "),), WORDS),
    ((BPEDecoder(),), WORDS),
    ((ByteLevelDecoder(),), WORDS),
    ((CTC(),), WORDS),
    ((CTC(cleanup=False),), WORDS),
    ((MetaspaceDecoder(),), WORDS),
    ((MetaspaceDecoder(strip=False),), WORDS),
    ((WordPieceDecoder(),), WORDS),
    ((WordPieceDecoder(cleanup=False), Fuse(), WordPieceDecoder(cleanup=False)), WORDS),
    ((Replace("▁", " "), ByteFallback(), Fuse(), Strip(" ", 1, 0)), WORDS),
    ((ByteFallback(), MetaspaceDecoder(), Fuse(), Replace("a", "e"), Strip(" ", 2, 2)), WORDS),
    ((ByteFallback(), Fuse(), Replace("ab", "c"), Strip("a", 1, 1)), WORDS),
    ((Fuse(), MetaspaceDecoder(), WordPieceDecoder(), BPEDecoder()), WORDS),
    ((ByteLevelDecoder(), Strip(" ", 0, 1), CTC()), WORDS),
    ((SentencePieceDecoder(),), PIECES),
    ((SentencePieceDecoder(add_dummy_prefix=False),), PIECES),
    ((SentencePieceDecoder(remove_extra_whitespaces=False),), PIECES),
    ((SentencePieceDecoder(add_dummy_prefix=False, remove_extra_whitespaces=False),), PIECES),
    ((SentencePieceDecoder(), Strip(" ", 1, 1)), PIECES),
]


@pytest.mark.parametrize(("decoder", "model"), DECODERS, ids=lambda part: repr(part)[:60])
@given(parts=st.lists(tokens, max_size=6))
def test_streams(decoder: Decoder, model: Model, parts: list[list[str]]) -> None:
    feed = DecoderStream(decoder, model)
    found: list[str] = []
    for number, part in enumerate(parts, 1):
        found += feed(part, False)
        ended = "".join(found + feed.copy()([], True))
        assert ended == run_decoder(decoder, [t for part in parts[:number] for t in part], model)
    found += feed([], True)
    assert "".join(found) == run_decoder(decoder, [t for part in parts for t in part], model)


VOCAB = [*TOKENS, *BYTES, *BYTES]


@pytest.mark.parametrize(("decoder", "model"), DECODERS, ids=lambda part: repr(part)[:60])
@given(ids=st.lists(st.integers(0, len(VOCAB) - 1), max_size=20))
def test_tables(decoder: Decoder, model: Model, ids: list[int]) -> None:
    table = DecodeTable(decoder, VOCAB, model)
    found = table.decode(np.array(ids, np.uint32))
    assert found == run_decoder(decoder, [VOCAB[i] for i in ids], model)


def test_complete_characters_are_returned_at_once() -> None:
    llama: Decoder = (Replace("▁", " "), ByteFallback(), Fuse(), Strip(" ", 1, 0))
    feed = DecoderStream(llama, WORDS)
    each = [["▁a"], ["▁b"], ["<0xC3>"], ["<0xA9>"], ["c"]]
    assert ["".join(feed(part, False)) for part in each] == ["a", " b", "", "", "éc"]
    feed = DecoderStream((SentencePieceDecoder(),), PIECES)
    each = [["▁a"], ["▁"], ["<0xC3>"], ["<0xA9>"], ["<s>", "b"]]
    assert ["".join(feed(part, False)) for part in each] == ["a", " ", "", "é", "b"]
