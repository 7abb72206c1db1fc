"""Special tokens that share the id of another one, as in o200k_harmony."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kits.bpe import BYTES
from toksmith import Tokenizer, load
from toksmith.errors import FormatError, OptionError, UnsupportedError
from toksmith.framing import Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline


def tokenizer() -> Tokenizer:
    vocab = BYTES
    framing = Framing.of({"<end>": 256}, aliases={"<reserved>": 256})
    return Tokenizer(Pipeline(BPE(vocab, [], whole_chunk_first=True), None, framing))  # type: ignore[arg-type]


def test_both_literals_encode_and_one_decodes() -> None:
    tok = tokenizer()
    assert tok.encode("<reserved><end>", special="encode") == [256, 256]
    assert tok.special_tokens == {"<end>": 256, "<reserved>": 256}
    assert tok.decode([256]) == "<end>"
    assert tok.token_id("<reserved>") == 256
    assert tok.vocab_size == 257


def test_an_alias_needs_an_id_that_is_there() -> None:
    with pytest.raises(OptionError, match="alias of id 9"):
        Framing.of({"<end>": 256}, aliases={"<x>": 9})
    with pytest.raises(OptionError, match="share id 256"):
        Framing.of({"<end>": 256, "<x>": 256})


def test_tiktoken_keeps_it_and_the_others_refuse(tmp_path: Path) -> None:
    tok = tokenizer()
    tok.save(tmp_path / "a.tiktoken")
    assert load(tmp_path / "a.tiktoken").pipeline.framing == tok.pipeline.framing
    for name in ("a.model", "tokenizer.json"):
        with pytest.raises(UnsupportedError, match="second literal of id 256"):
            tok.save(tmp_path / name)


def test_a_damaged_sidecar(tmp_path: Path) -> None:
    tokenizer().save(tmp_path / "a.tiktoken")
    sidecar = tmp_path / "a.tiktoken.json"
    whole = sidecar.read_text()
    for wrong in ("3", '{"<reserved>": "x"}', '{"<reserved>": 9}'):
        sidecar.write_text(whole.replace('{\n  "<reserved>": 256\n }', wrong))
        assert sidecar.read_text() != whole
        with pytest.raises(FormatError):
            load(tmp_path / "a.tiktoken")
