"""The model of a tokenizer.json: each kind by hand, and the refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toksmith._base import files
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats.huggingface import models
from toksmith.formats.huggingface.entries import Entry
from toksmith.framing import AddedToken, Framing
from toksmith.models import (
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

WORDPIECE: dict[str, Any] = {
    "type": "WordPiece",
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 0, "a": 1, "##b": 2, "é": 4},
}
WORD_LEVEL: dict[str, Any] = {
    "type": "WordLevel",
    "vocab": {"<unk>": 1, "the": 0},
    "unk_token": "<unk>",
}
UNIGRAM: dict[str, Any] = {
    "type": "Unigram",
    "unk_id": 0,
    "vocab": [["<unk>", 0.0], ["▁a", -1.5], ["b", -2]],
    "byte_fallback": False,
}
BPE: dict[str, Any] = {
    "type": "BPE",
    "unk_token": "<unk>",
    "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "a b": 4, " b": 5, " ": 6},
    "merges": [["a", "b"], [" ", "b"], ["a", " b"]],
}
ENTRIES = {"WordPiece": WORDPIECE, "WordLevel": WORD_LEVEL, "Unigram": UNIGRAM, "BPE": BPE}


def read(held: dict[str, Any], added: list[AddedToken] | None = None) -> Model:
    path = Path("file")
    with files.reading(path):
        return models.read(Entry(path, "model", held), added or [], byte_level=False)


def same(one: Model, other: Model) -> bool:
    return one == other


def test_wordpiece() -> None:
    model = read(WORDPIECE)
    assert model == WordPiece((b"[UNK]", b"a", b"##b", b"", "é".encode()), 0)
    assert read(WORDPIECE | {"max_input_chars_per_word": 7}) == replace(model, max_characters=7)


def test_word_level() -> None:
    assert read(WORD_LEVEL) == WordLevel((b"the", b"<unk>"), 1)


def test_unigram() -> None:
    model = read(UNIGRAM)
    assert isinstance(model, Unigram)
    assert model.vocab == (b"<unk>", "▁a".encode(), b"b")
    assert model.scores.tolist() == [0, -1.5, -2]
    assert (model.unk_id, model.single, model.fuse_unk, model.byte_fallback) == (
        *(0, False, True, False),
    )
    assert read(UNIGRAM | {"unk_id": None}).unk_id is None
    # Without any byte piece there is nothing to fall back to.
    assert same(read(UNIGRAM | {"byte_fallback": True}), model)


def test_character_bpe() -> None:
    model = read(BPE)
    assert isinstance(model, CharacterBPE)
    assert model.vocab == (b"<unk>", b"a", b"b", b"ab", b"a b", b" b", b" ")
    assert model.merges.tolist() == [[1, 2, 3], [6, 2, 5], [1, 5, 4]]
    assert (model.unk_id, model.fuse_unk, model.byte_fallback) == (0, False, False)
    options = {"fuse_unk": True, "byte_fallback": True, "ignore_merges": True, "unk_token": None}
    model = read(BPE | options | {"dropout": 0.0, "end_of_word_suffix": ""})
    assert (model.unk_id, model.fuse_unk, model.byte_fallback) == (None, True, True)
    assert model.whole_chunk_first


def test_character_bpe_with_prefix_and_suffix() -> None:
    vocab = {"a": 0, "##b": 1, "ab": 2, "##c</w>": 3, "##bc</w>": 4}
    merges = ["a ##b", "##b ##c</w>"]
    options = {"continuing_subword_prefix": "##", "end_of_word_suffix": "</w>"}
    held = {"type": "BPE", "vocab": vocab, "merges": merges} | options
    model = read(held)
    assert model.merges.tolist() == [[0, 1, 2], [1, 3, 4]]
    assert (model.continuing_prefix, model.word_suffix) == ("##", "</w>")


def test_a_repeated_merge_has_its_last_rank() -> None:
    model = read(BPE | {"merges": [["a", "b"], [" ", "b"], ["a", "b"]]})
    assert model.merges.tolist() == [[6, 2, 5], [1, 2, 3]]


@pytest.mark.parametrize("kind", ENTRIES)
def test_without_type(kind: str) -> None:
    held = dict(ENTRIES[kind])
    del held["type"]
    assert same(read(held), read(ENTRIES[kind]))
    assert same(read(held | {"type": None}), read(ENTRIES[kind]))


def test_added_tokens_in_the_vocabulary_and_after_it() -> None:
    added = [AddedToken("the", 0, special=False), AddedToken("<s>", 2), AddedToken("</s>", 3)]
    assert read(WORD_LEVEL, added) == read(WORD_LEVEL)
    assert same(read(UNIGRAM, [AddedToken("b", 2), AddedToken("x", 3)]), read(UNIGRAM))


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        (WORDPIECE | {"unk_token": "<unk>"}, "model.unk_token is '<unk>', which is not in the"),
        (WORDPIECE | {"unk_token": None}, "model.unk_token is null, not a string"),
        (WORDPIECE | {"max_input_chars_per_word": -1}, "max_input_chars_per_word is -1: use 0"),
        (WORDPIECE | {"max_input_chars_per_word": 1.5}, "max_input_chars_per_word is 1.5"),
        (WORDPIECE | {"vocab": {"[UNK]": 0, "a": 0}}, "id 0 belongs to two tokens"),
        (WORDPIECE | {"vocab": {"[UNK]": 0, "a": 10**9}}, "token 'a' has id 1000000000"),
        (WORDPIECE | {"vocab": [["a", 1]]}, 'model.vocab is [["a",1]], not a JSON object'),
        ({"type": "WordPiece", "vocab": {"a": 0}}, "max_input_chars_per_word is null, not"),
        (WORD_LEVEL | {"unk_token": "x"}, "model.unk_token is 'x'"),
        (UNIGRAM | {"vocab": [["a", 1], ["b"]]}, "model.vocab[1] is ['b'], not a piece and"),
        (UNIGRAM | {"vocab": [["a", True]]}, "model.vocab[0] is ['a', True]"),
        (UNIGRAM | {"vocab": [["a", float("inf")]]}, "model.vocab[0] is ['a', inf]"),
        (UNIGRAM | {"vocab": [["a", 1], ["a", 2]]}, "piece 'a' occurs twice"),
        (UNIGRAM | {"vocab": [["a", 1], ["", 2]]}, "piece 1 is empty"),
        (UNIGRAM | {"unk_id": 3}, "model.unk_id is 3, but there are 3 pieces"),
        (UNIGRAM | {"unk_id": -1}, "model.unk_id is -1"),
        (UNIGRAM | {"vocab": {}}, "model.vocab is {}, not a list"),
        (BPE | {"unk_token": "?"}, "model.unk_token is '?', which is not in the vocabulary"),
        (BPE | {"merges": [["a", "x"]]}, "'x' is not in the vocabulary"),
        (BPE | {"merges": ["a  b"]}, "merge 0 is 'a  b', not two tokens"),
        (BPE | {"continuing_subword_prefix": "##"}, "the right side of merge 0 is 'b'"),
        (BPE | {"fuse_unk": 1}, "model.fuse_unk is 1, not a boolean"),
        ({"other": 1}, "model has no type, and no entries that determine one"),
    ],
)
def test_bad_entries(held: dict[str, Any], reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(held)
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        (BPE | {"type": "Other"}, 'model.type "Other" cannot be read: it is not part'),
        (WORDPIECE | {"other": 1}, "model.other 1 cannot be read: it is not part"),
        (
            UNIGRAM | {"byte_fallback": True, "vocab": [["<0x00>", 0]]},
            "only some bytes have a piece: there is no <0x01>",
        ),
    ],
)
def test_models_that_are_not_supported(held: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnsupportedError, match=r"^file: ") as caught:
        read(held)
    assert reason in str(caught.value)


def test_added_tokens_have_to_fit() -> None:
    for held in ENTRIES.values():
        with pytest.raises(FormatError, match=r"'new' has id 99, but tokenizers"):
            read(held, [AddedToken("new", 99)])


# Writing


@pytest.mark.parametrize("kind", ENTRIES)
def test_round_trip(kind: str) -> None:
    model = read(ENTRIES[kind])
    written = models.write(Pipeline(model))
    assert written["type"] == kind
    assert same(read(written), model)


def scored(*pieces: tuple[str, float, int], fallback: bool = False) -> SentencePieceBPE:
    return SentencePieceBPE(
        tuple(piece.encode() for piece, _, _ in pieces),
        np.array([score for _, score, _ in pieces]),
        np.array([kind for _, _, kind in pieces]),
        byte_fallback=fallback,
    )


def normal(scores: dict[str, float]) -> SentencePieceBPE:
    return scored(("<unk>", 0, 2), *((piece, score, 1) for piece, score in scores.items()))


def letters(text: str) -> dict[str, float]:
    return {letter: -100.0 - place for place, letter in enumerate(text)}


def test_scores_become_merges() -> None:
    """All pairs that make a piece, not only the one that training merged."""
    model = normal({"he": -1, "th": -2, "the": -3} | letters("the"))
    written = models.write(Pipeline(model))
    assert written["merges"] == [["h", "e"], ["t", "h"], ["th", "e"], ["t", "he"]]
    assert written["vocab"] == {"<unk>": 0, "he": 1, "th": 2, "the": 3, "t": 4, "h": 5, "e": 6}
    assert (written["unk_token"], written["fuse_unk"]) == ("<unk>", True)


def test_runs_of_one_score_become_merges() -> None:
    """Llama's runs of spaces: the leftmost first makes the longest from the left."""
    runs = {"▁" * size: -1e9 for size in range(2, 17)}
    written = models.write(Pipeline(normal(runs | {"▁a": -1} | letters("▁a"))))
    assert written["merges"][:3] == [["▁", "a"], ["▁" * 15, "▁"], ["▁" * 14, "▁▁"]]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            normal({"ab": -1, "bc": -1} | letters("abc")),
            "takes the leftmost of equal scores first: 'ab' and 'bc' both have -1",
        ),
        (
            normal({"aa": -1, "aaa": -1, "aab": -2} | letters("ab")),
            "'aaa' and 'aa' both have -1",
        ),
        (normal({"aa": -1, "aaa": -1, "a" * 65: -1} | letters("a")), "'aaa' and 'aa' both have"),
        (
            scored(("<unk>", 0, 2), ("a", -1, 1), ("ab", -2, 1)),
            "'b' of piece 'ab' has none",
        ),
        (
            scored(("<unk>", 0, 2), ("<sep>", 0, 4)),
            "'<sep>' (of type USER_DEFINED) is matched before merging",
        ),
        (
            scored(("<unk>", 0, 2), ("a", -1, 1), ("aa", -1, 5)),
            "'aa' (of type UNUSED) is split again",
        ),
        (scored(("?", 0, 2), ("a", -1, 1)), "'?' has type UNKNOWN"),
        (LongestMatch((b"ab",)), "no longest-match model"),
        (LongestMatch((b"?", b"a"), 0, True), "would not fuse the unknown token '?'"),
        (WordLevel((b"a",)), "fails on unknown words"),
        (WordLevel((b"a", b"a"), 0), "ids 0 and 1 are both b'a'"),
        (WordLevel((b"\xff",), 0), "invalid UTF-8"),
    ],
)  # fmt: skip
def test_models_that_the_format_cannot_hold(model: Model, reason: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        models.write(Pipeline(model))
    assert reason in str(caught.value)


def test_character_bpe_that_it_cannot_hold() -> None:
    odd = CharacterBPE((b"a", b"b", b"c"), np.array([[0, 1, 2]]))
    with pytest.raises(
        UnsupportedError, match=r"merges 'a' and 'b' \(rank 0\) to 'ab', but in this model 'c'"
    ):
        models.write(Pipeline(odd))
    odd = CharacterBPE((b"a", b"b", b"ab"), np.array([[0, 1, 2]]), continuing_prefix="#")
    with pytest.raises(UnsupportedError, match="removes '#' from the right side"):
        models.write(Pipeline(odd))


def test_added_tokens_that_it_would_number_otherwise() -> None:
    framing = Framing((AddedToken("<s>", 7),))
    with pytest.raises(UnsupportedError, match=r"'<s>' would be id 2 there, but is 7 here"):
        models.write(Pipeline(read(WORD_LEVEL), framing=framing))


def pieces(*kinds: PieceType, fallback: bool = False, **options: Any) -> Unigram:
    vocab = (b"<unk>", b"a", *(b"<%d>" % place for place, _ in enumerate(kinds)))
    names = tuple(b"<0x%02X>" % byte for byte in range(256)) if fallback else ()
    count = len(vocab) + len(names)
    types = [PieceType.UNKNOWN, PieceType.NORMAL, *kinds, *[PieceType.BYTE] * len(names)]
    scores = np.array([0, -3.5, *[-9] * len(kinds), *[0] * len(names)])
    assert len(types) == count
    return Unigram(vocab + names, scores, np.array(types), byte_fallback=fallback, **options)


def test_unigram_of_sentencepiece() -> None:
    framing = Framing((AddedToken("<unk>", 0), AddedToken("<0>", 2)))
    with pytest.warns(UserWarning, match=r"that spells it, also special tokens \('<unk>' \(id 0"):
        written = models.write(Pipeline(pieces(PieceType.CONTROL), framing=framing))
    # The control piece is raised to the lowest that text has, so that it does not change the rest.
    assert written["vocab"] == [["<unk>", 0.0], ["a", -3.5], ["<0>", -3.5]]
    assert written["unk_id"] == 0
    with (
        pytest.warns(UserWarning, match="matches byte pieces in text that spells them"),
        pytest.warns(UserWarning, match="that spells it"),
    ):
        written = models.write(Pipeline(pieces(fallback=True), framing=Framing.of({"<unk>": 0})))
    assert written["byte_fallback"] is True


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (pieces(PieceType.USER_DEFINED), "'<0>' (of type USER_DEFINED) always matches"),
        (pieces(PieceType.UNUSED), "'<0>' (of type UNUSED) never matches"),
        (pieces(PieceType.CONTROL), "'<0>' (of type CONTROL) is no text"),
        (pieces(), "'<unk>' (of type UNKNOWN) is no text; make it a special token"),
        (pieces(fuse_unk=False), "but this Unigram model does not"),
    ],
)
def test_unigram_that_it_cannot_hold(model: Unigram, reason: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        models.write(Pipeline(model))
    assert reason in str(caught.value)
