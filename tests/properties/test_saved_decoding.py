"""A tokenizer that was saved decodes as the one in memory does, and as ``tokenizers`` does."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kits.bpe import pipeline
from tests.kits.character_bpe import merges
from toksmith import Tokenizer, loads
from toksmith.decoders import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    Decoder,
    Fuse,
    MetaspaceDecoder,
    Replace,
    Strip,
    WordPieceDecoder,
)
from toksmith.framing import Framing
from toksmith.models import (
    BPE,
    CharacterBPE,
    LongestMatch,
    Model,
    PieceType,
    SentencePieceBPE,
    Unigram,
    WordLevel,
    WordPiece,
)
from toksmith.pipeline import Pipeline

tokenizers = pytest.importorskip("tokenizers")

# Ċ, Ġ, ń, é, © and ł are GPT-2's spellings of bytes.
CHARACTERS = ("<unk>", *"Ċ Ġńé©ł▁a#.|\n\x00\x1f\x85\xadŁw日\U0001f600")
MARKED = (*CHARACTERS, "</w>", "##é", "<0xC3>", "<0xA9>", "Ã©", "▁caf")
SPECIAL = "[ńé]"


def utf8(tokens: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(token.encode() for token in tokens)


def pieces(kind: type[SentencePieceBPE] | type[Unigram], vocab: tuple[str, ...]) -> Model:
    types = [PieceType.UNKNOWN, *[PieceType.NORMAL] * (len(vocab) - 1)]
    return kind(utf8(vocab), -np.arange(len(vocab)), np.array(types))


MODELS: dict[str, Model] = {
    "bpe": pipeline("gpt2").model,
    "character-bpe": CharacterBPE(utf8(CHARACTERS), merges(CHARACTERS), unk_id=0),
    "sentencepiece-bpe": pieces(SentencePieceBPE, CHARACTERS),
    "unigram": pieces(Unigram, MARKED),
    "wordpiece": WordPiece(utf8(MARKED), unk_id=0),
    "word": WordLevel(utf8(MARKED), unk_id=0),
    "char": LongestMatch(utf8(CHARACTERS), unk_id=0),
}
DECODERS: list[Decoder | None] = [
    None,
    (ByteLevelDecoder(),),
    (Fuse(" "),),
    (Fuse(),),
    (MetaspaceDecoder(),),
    (WordPieceDecoder(),),
    (BPEDecoder(),),
    (CTC("<unk>", "|"),),
    (ByteFallback(), Fuse(), Replace("▁", " "), Strip("é", 1, 0)),
]


@cache
def saved(kind: str, decoder: Decoder | None) -> tuple[Tokenizer, Tokenizer, tokenizers.Tokenizer]:
    model = MODELS[kind]
    special = {SPECIAL: len(model.vocab)}
    if not isinstance(model, BPE):
        special["<unk>"] = 0
    tok = Tokenizer(Pipeline(model, framing=Framing.of(special), decoder=decoder))
    data = tok.dumps()
    return tok, loads(data), tokenizers.Tokenizer.from_str(data.decode())


@pytest.mark.filterwarnings("ignore:in a tokenizer.json, every piece of a Unigram model")
@pytest.mark.parametrize("kind", MODELS)
@given(st.sampled_from(DECODERS), st.lists(st.integers(0, 10**6), max_size=8))
def test_saved_tokenizers_decode_alike(
    kind: str, decoder: Decoder | None, places: list[int]
) -> None:
    tok, again, peer = saved(kind, decoder)
    ids = [place % tok.vocab_size for place in places]
    expected = tok.decode(ids)
    assert again.decode(ids) == expected
    if not isinstance(tok.pipeline.model, BPE):  # tokenizers' ByteLevel rewrites added tokens, too
        assert peer.decode(ids, skip_special_tokens=False) == expected
