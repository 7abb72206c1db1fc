"""Decoders against those of `tokenizers`: random tokens, and ids of real tokenizers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.strategies import random_texts
from toksmith.formats.huggingface import decoders as hf_decoders
from toksmith.formats.huggingface.entries import Entry
from toksmith.models import WordLevel
from toksmith.stages.decode import run_decoder

tokenizers = pytest.importorskip("tokenizers")

TOKENS = [
    *("a", "bc", "▁", "▁a", "▁▁", "a▁b", "##a", "##", "#", "a</w>", "</w>b</w>", "<pad>", "<pad>a"),
    *("|", "||", " ", " a ", ".", " .", "?", " ,", "'", " ' ", "n't", "'s", "do", "not", " do not"),
    *("Ġ", "Ã", "©", "Ġa", "é", "日本", "\n", "", "<0x>", "<0xZZ>", "<0xab>", "<0x41", "H", "HH"),
    *(f"<0x{byte:02X}>" for byte in (0x00, 0x20, 0x41, 0x80, 0xA9, 0xC3, 0xE5, 0x8F, 0xF0, 0x9F)),
]


def decoders() -> list[Any]:
    d = tokenizers.decoders
    return [
        *(d.BPEDecoder(), d.BPEDecoder("a"), d.ByteFallback(), d.ByteLevel(), d.CTC(), d.Fuse()),
        *(d.CTC("a", " ", False), d.Metaspace(), d.Metaspace("a", "never"), d.WordPiece()),
        *(d.Metaspace("▁", "first"), d.WordPiece("a", False), d.Replace("a", "▁")),
        *(d.Strip("H", 1, 0), d.Strip(" ", 2, 0), d.Sequence([])),
        d.Sequence([d.Replace("▁", " "), d.ByteFallback(), d.Fuse(), d.Strip(" ", 1, 0)]),
        d.Sequence([d.ByteFallback(), d.Metaspace(), d.Fuse(), d.WordPiece()]),
        d.Sequence([d.ByteLevel(), d.Metaspace("a"), d.CTC()]),
    ]


@pytest.mark.parametrize("number", range(19))
def test_steps_on_random_tokens(number: int) -> None:
    theirs = decoders()[number]
    entry = json.loads(theirs.__getstate__())
    ours = hf_decoders.read(Entry(Path("decoder"), "decoder", entry), byte_level=False)
    assert ours is not None
    written = hf_decoders.write(ours, byte_level=True)
    again = hf_decoders.read(Entry(Path("decoder"), "decoder", written), byte_level=False)
    assert again == ours
    rng = random.Random(number)
    for _ in range(2_000):
        tokens = rng.choices(TOKENS, k=rng.randint(0, 8))
        assert run_decoder(ours, tokens, WordLevel(())) == theirs.decode(tokens), tokens


NAMES = ("gpt2_tokenizer.json", "bert_uncased_tokenizer.json", "t5_envit5_tokenizer.json")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("skip", [False, True])
def test_decoding_of_real_tokenizers(
    name: str, skip: bool, shared: Path, corpus: Callable[..., bytes]
) -> None:
    path = shared / "data/vocab" / name
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    ours = toksmith.load(path)
    rng = random.Random(7)
    size = theirs.get_vocab_size()
    lists = [rng.choices(range(size), k=rng.randint(0, 12)) for _ in range(3_000)]
    texts = random_texts(seed=8, count=500)
    for corpus_name in ("english.txt", "multilingual.txt", "cjk.txt"):
        texts += corpus(corpus_name, 20_000).decode().split("<|endoftext|>")
    lists += [each.ids for each in theirs.encode_batch(texts)]
    expected = theirs.decode_batch(lists, skip_special_tokens=skip)
    found = ours.decode_batch(lists, skip_special_tokens=skip)
    for ids, one, other in zip(lists, found, expected, strict=True):
        assert one == other, ids[:50]
    for ids, other in list(zip(lists, expected, strict=True))[::7]:
        assert ours.decode(ids, skip_special_tokens=skip) == other
        decoder = ours.decoder(skip_special_tokens=skip)
        parts = [decoder.decode(token_id) for token_id in ids]
        assert "".join(parts) + decoder.decode(final=True) == other


MODELS = (
    *("llama2.model", "spm_test_unigram.model", "english8k_unigram.model", "spm_toy400_bpe.model"),
)


@pytest.mark.parametrize("name", MODELS)
def test_decoding_of_sentencepiece_models(
    name: str, shared: Path, corpus: Callable[..., bytes]
) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    path = shared / "data/vocab" / name
    theirs = sentencepiece.SentencePieceProcessor(str(path))
    ours = toksmith.load(path)
    rng = random.Random(7)
    size = theirs.get_piece_size()
    pools = (range(size), range(min(size, 300)), [0, 1, 2, *range(3, 20)])
    lists = [rng.choices(rng.choice(pools), k=rng.randint(0, 12)) for _ in range(6_000)]
    for corpus_name in ("english.txt", "multilingual.txt", "cjk.txt"):
        texts = corpus(corpus_name, 20_000).decode().split("<|endoftext|>")
        lists += theirs.encode(texts)
    found = ours.decode_batch(lists)
    for ids, one in zip(lists, found, strict=True):
        assert one == theirs.decode(ids), ids[:50]
    for ids, one in list(zip(lists, found, strict=True))[::5]:
        decoder = ours.decoder()
        parts = [decoder.decode(token_id) for token_id in ids]
        assert "".join(parts) + decoder.decode(final=True) == one
