"""Audits of published vocabularies, checked with their own libraries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toksmith import load
from toksmith.measure.audit_texts import digits
from toksmith.measure.reachability import Category, reachability


def is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "partial", "in_context"), [("gpt2", 344, 0), ("o200k_base", 1562, 12)]
)
def test_tiktoken(
    name: str,
    partial: int,
    in_context: int,
    shared: Path,
    tiktoken_encoding: Callable[[str], Any],
    ranks: Callable[[str], dict[bytes, int]],
) -> None:
    split = name.removesuffix("_base")
    found = reachability(load(shared / f"data/vocab/{name}.tiktoken", split=split))
    peer = tiktoken_encoding(name)
    texts = {i: token.decode() for token, i in ranks(name).items() if is_text(token)}
    some = sorted({*list(texts)[::5], *found.of(Category.IN_CONTEXT)})
    missed = [i for i in some if peer.encode_ordinary(texts[i]) != [i]]
    assert found.of(Category.PARTIAL) == sorted(set(ranks(name).values()) - texts.keys())
    assert found.of(Category.IN_CONTEXT) == sorted(missed)
    assert found.of(Category.UNREACHABLE) == found.never == found.whole_only == []
    assert (len(found.of(Category.PARTIAL)), len(missed)) == (partial, in_context)
    impossible = {ranks(name)[bytes([byte])] for byte in (0xC0, 0xC1, *range(0xF5, 0x100))}
    others = set(found.cut_of_none) - impossible
    assert len(found.cut_of_none) - len(others) == 13
    assert others == ({ranks(name)["о".encode() + b"\xd0"]} if name == "o200k_base" else set())
    # Behind this letter, none of the characters that start so leaves its first byte alone.
    assert all(others.isdisjoint(peer.encode_ordinary("о" + chr(c))) for c in range(0x400, 0x440))


def test_bert(shared: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = shared / "data/vocab/bert_uncased_tokenizer.json"
    peer = tokenizers.Tokenizer.from_file(str(path))
    peer.no_padding()
    peer.no_truncation()
    tok = load(path)
    found = reachability(tok)
    unreachable = []
    for token_id in range(tok.vocab_size):
        if found.categories[token_id] == Category.SPECIAL:
            continue
        token = peer.id_to_token(token_id)
        word = "ɐ" + token[2:] if token.startswith("##") and len(token) > 2 else token
        normalized = peer.normalizer.normalize_str(word).strip()
        if normalized != word or len(peer.pre_tokenizer.pre_tokenize_str(word)) != 1:
            unreachable.append(token_id)
    assert found.of(Category.UNREACHABLE) == unreachable
    assert len(unreachable) == 1331
    decoded = [peer.decode([i], skip_special_tokens=False) for i in range(tok.vocab_size)]
    encoded = peer.encode_batch(decoded, add_special_tokens=False)
    alone = [i for i, encoding in enumerate(encoded) if encoding.ids == [i]]
    special = set(found.of(Category.SPECIAL))
    assert found.of(Category.ALONE) == [i for i in alone if i not in special]


def test_llama(shared: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    path = shared / "data/vocab/llama2.model"
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    tok = load(path)
    found = reachability(tok)
    pieces = {peer.id_to_piece(i) for i in range(peer.vocab_size())}
    shadowed = []
    for token_id in filter(peer.is_byte, range(peer.vocab_size())):
        byte = int(peer.id_to_piece(token_id)[3:5], 16)
        character = "▁" if byte == 0x20 else chr(byte)
        if byte < 0x80 and character in pieces:
            shadowed.append(token_id)
    assert found.of(Category.UNREACHABLE) == shadowed
    assert len(shadowed) == 96
    alone = peer.encode([peer.decode([i]) for i in range(peer.vocab_size())])
    held = [i for i, ids in enumerate(alone) if ids == [i]]
    assert found.of(Category.ALONE) == held


def test_digits(shared: Path, ranks: Callable[[str], Any]) -> None:
    (found,) = digits(load(shared / "data/vocab/gpt2.tiktoken", split="gpt2"))
    tokens = ranks("gpt2")
    expected = {
        str(size): sum(f" {number:0{size}}".encode() in tokens for number in range(10**size))
        for size in (2, 3, 4)
    }
    assert found.figures == {"single_tokens": expected, "longest": 16}
    assert expected["2"] < 100 or found.severity.name == "WARNING"
