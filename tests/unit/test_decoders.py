"""Each decoder's step, on hand-written tokens."""

from __future__ import annotations

import pytest

from toksmith import Tokenizer
from toksmith.decoders import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    Decoder,
    Fuse,
    MetaspaceDecoder,
    Step,
    Strip,
    WordPieceDecoder,
)
from toksmith.models import WordLevel
from toksmith.pipeline import Pipeline
from toksmith.stages.decode import decode_step, run_decoder

MODEL = WordLevel(())


@pytest.mark.parametrize(
    ("step", "tokens", "expected"),
    [
        (ByteFallback(), ["<0xE5>", "<0x8F>", "<0xAB>", "a"], ["叫", "a"]),
        (ByteFallback(), ["<0xE5>", "<0x8f>", "a", "<0x61>"], ["\ufffd", "\ufffd", "a", "a"]),
        (ByteFallback(), ["<0xGG>", "<0x1>", "<0x 1>", "x<0x61>"],
         ["<0xGG>", "<0x1>", "<0x 1>", "x<0x61>"]),
        (ByteLevelDecoder(), ["ĠH", "Ã", "©", "a b"], [" Héa b"]),
        (Fuse(), ["a", "b"], ["ab"]),
        (Fuse(" "), ["a", "b"], ["a b"]),
        (Fuse(), [], [""]),
        (Strip("H", 1, 0), ["HHi", "Hey", ""], ["Hi", "ey", ""]),
        (Strip("y", 0, 1), ["yyy", "Hey", "y"], ["yy", "He", ""]),
        (Strip("_", 1, 1), ["_", "__", "_a_"], ["", "", "a"]),
        (BPEDecoder(), ["a</w>", "b", "c</w>"], ["a ", "b", "c"]),
        (BPEDecoder(), [], []),
        (MetaspaceDecoder(), ["▁a▁", "▁b"], ["a", " b"]),
        (MetaspaceDecoder(strip=False), ["▁a", "▁b"], [" a", " b"]),
        (WordPieceDecoder(), ["##a", "##b", "c", "."], ["##a", "b", " c", "."]),
        (WordPieceDecoder(cleanup=False), ["a", "."], ["a", " ."]),
        (CTC(), ["<pad>", "h", "h", "<pad>", "h", "|", "|", "i"], ["h", "h", " ", "i"]),
        (CTC(cleanup=False), ["h", "|"], ["h", "|"]),
    ],
)  # fmt: skip
def test_step(step: Step, tokens: list[str], expected: list[str]) -> None:
    assert decode_step(step, tokens, MODEL) == expected


def test_steps_follow_each_other() -> None:
    llama: Decoder = (ByteFallback(), Fuse(), Strip(" ", 1, 0))
    assert run_decoder(llama, [" a", "<0xC3>", "<0xA9>"], MODEL) == "aé"
    assert run_decoder((), ["a", "b"], MODEL) == "ab"


@pytest.mark.parametrize(
    ("decoder", "texts"),
    [
        ((Fuse(), CTC()), ["", "", "a", "aa a"]),
        ((CTC(), Fuse()), ["", "", "a", "a a"]),
        ((Fuse(), CTC(), Fuse(), Strip("a", 1)), ["", "", "", "a a"]),
    ],
)
def test_a_step_with_no_effect_after_a_fuse(decoder: Decoder, texts: list[str]) -> None:
    model = WordLevel((b"a", b"<pad>", b"|"))
    tok = Tokenizer(Pipeline(model, decoder=decoder))
    for ids, text in zip(([], [1, 1], [0], [0, 0, 2, 0]), texts, strict=True):
        assert tok.decode(ids) == text
        stream = tok.decoder()
        assert "".join([*map(stream.decode, ids), stream.decode((), final=True)]) == text
