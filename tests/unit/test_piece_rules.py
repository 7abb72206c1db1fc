"""Which strings may be a SentencePiece piece: cases by hand."""

from __future__ import annotations

import pytest

from toksmith.reference.piece_rules import PieceRules


@pytest.mark.parametrize(
    ("options", "allowed", "refused"),
    [
        ({}, "▁ab a ▁ ab 12 カー漢 e\u0301e \u0301я ア゚ア ▁1", "a▁ ▁▁ aя a1 1a a. ▁a▁b カa"),
        ({"max_sentencepiece_length": 2}, "ab ▁a", "abc ▁ab"),
        ({"split_by_unicode_script": False}, "aя a1 カa.", "a▁"),
        ({"split_by_number": False}, "a1 1a a1я a２я", "aя a²"),
        ({"split_digits": True}, "1 ab ２", "12 ▁1 1."),
        ({"split_by_whitespace": False}, "a▁b ▁a▁b ▁▁a", "a▁ ▁▁ a▁я"),
        ({"treat_whitespace_as_suffix": True}, "ab▁ ▁", "▁a a▁b ▁▁"),
        ({"allow_whitespace_only_pieces": True}, "▁▁ ▁▁▁ ▁a", "▁▁a a▁"),
    ],
)
def test_rules(options: dict[str, bool], allowed: str, refused: str) -> None:
    rules = PieceRules(**options)
    assert [piece for piece in allowed.split() if not rules.allow(piece)] == []
    assert [piece for piece in refused.split() if rules.allow(piece)] == []
    assert not rules.allow("")


def test_apart() -> None:
    rules = PieceRules()
    assert all(map(rules.apart, "aa.", "1яa"))
    assert not any(map(rules.apart, "aa\u0301▁カ1", "b\u0301яa漢2"))
    assert PieceRules(split_digits=True).apart("1", "2")
    assert not PieceRules(split_by_unicode_script=False).apart("a", "я")
    assert not PieceRules(split_by_number=False).apart("a", "1")
