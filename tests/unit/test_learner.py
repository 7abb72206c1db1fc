"""Five course notebooks, rewritten with toksmith; they give the figures of the notebooks.

Five notebooks build tokenizers by hand. Each test is one of them in toksmith's words; what it
asserts is what the notebook prints.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Tokenizer
from toksmith.errors import OptionError

WORDS = "hello world hey would you help with my work"


@pytest.fixture
def figures(shared: Path) -> dict[str, Any]:
    """What the notebooks print."""
    found: dict[str, Any] = json.loads((shared / "data/golden/seeds.json").read_text())
    return found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def published(shared: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The published vocabularies, without a network."""
    for name, file in {"r50k_base": "gpt2", "cl100k_base": "cl100k_base"}.items():
        (folder / f"{name}.tiktoken").symlink_to(shared / f"data/vocab/{file}.tiktoken")
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(folder))


def test_a_tokenizer_of_one_article(shared: Path, figures: dict[str, Any]) -> None:
    text = (shared / "data/corpus/taylorswift.txt").read_text(encoding="utf-8")
    printed = figures["basic_bpe"][1]
    assert len(text) == printed["characters"] == 185_561

    assert toksmith.pairs(text).most_common(2) == [((101, 32), 2981), ((44, 32), 2961)]
    steps = list(toksmith.training_steps(text, vocab_size=512))
    assert str(steps[0]) == "merge 1/256: 'e' + '·' → 'e·' (256), 2,981 times"
    first = len(printed["first_merges"])
    assert [list(step.pair) for step in steps[:first]] == printed["first_merges"]
    assert [step.count for step in steps[:first]] == printed["first_counts"]

    tok = toksmith.train(texts=[text], vocab_size=512, split=None)
    tok.save("taylor1.model")
    assert Path("taylor1.vocab").exists()
    tok = toksmith.load("taylor1.model")
    assert tok.encode("I love you Puchu") == printed["encode"]["I love you Puchu"]
    assert tok.merges == [step.pair for step in steps]


def test_the_cat_in_the_hat() -> None:
    assert list(b"the") == [116, 104, 101]
    tok = toksmith.train(texts=["the cat in the hat"], vocab_size=258, split=None)
    assert tok.merges == [(116, 104), (256, 101)]
    assert [(row.left, row.right, row.new, row.count) for row in tok.merge_table] == [
        (116, 104, 256, 2),
        (256, 101, 257, 2),
    ]
    table = str(tok.merge_table)
    assert "t + h" in table
    assert "th + e" in table
    assert toksmith.merge([116, 104, 101], pair=(116, 104), new=256) == [256, 101]
    assert toksmith.merge([256, 101], pair=(256, 101), new=257) == [257] == tok.encode("the")
    explained = str(tok.explain("the cat in the hat"))
    assert "t + h, merge 0" in explained
    assert "th + e, merge 1" in explained
    assert tok.decode([128]) == "\ufffd"


def test_unicode_and_compression(shared: Path) -> None:
    hello = toksmith.unicode("hello 👋")
    assert list(hello.utf8) == [104, 101, 108, 108, 111, 32, 240, 159, 145, 139]
    assert list(hello.utf16) == list("hello 👋".encode("utf-16"))
    assert "WAVING HAND SIGN" in str(hello)

    # The notebook's own text is not published; another one stands for it.
    text = (shared / "data/golden/unicode_article.txt").read_text(encoding="utf-8")
    ((pair, count),) = toksmith.pairs(text).most_common(1)
    tok = toksmith.train(texts=[text], vocab_size=276, split=None)
    assert (tok.merges[0], tok.merge_table[0].count) == (pair, count) == ((101, 32), 646)
    record = tok.training
    assert record is not None
    assert record.compression == pytest.approx(1.2654, abs=1e-4)
    # By hand: "e " overlaps no other "e ", so each occurrence saves a token.
    assert record.tokens_after[0] == len(text.encode()) - 646
    assert (tok.tokens[259], len(tok.vocab)) == (b"th", 276)
    assert tok.count(text) == 19_438
    assert toksmith.split("Hello!      How're ya doin'? 123", "gpt2") == [
        "Hello", "!", "     ", " How", "'re", " ya", " doin", "'?", " 123",
    ]  # fmt: skip
    tok = toksmith.train(texts=[text], vocab_size=281, split="gpt2")
    assert tok.decode(tok.encode(text)) == text


def test_three_models(figures: dict[str, Any]) -> None:
    printed = figures["char_bpe"]
    assert printed["text"] == WORDS
    counted = toksmith.pairs(WORDS, unit="characters", split="words")
    assert counted.most_common(2) == [(("h", "e"), 3), (("w", "o"), 3)]
    for pair, count in printed["pair_counts_first"].items():
        assert counted[tuple(pair.split(" "))] == count
    steps = list(toksmith.training_steps(WORDS, vocab_size=26, unit="characters", split="words"))
    assert (steps[0].left_token, steps[0].right_token) == (b"h", b"e")
    assert steps[0].text.startswith("he·l·l·o  w·o·r·l·d  he·y")
    assert steps[-1].text.startswith("hello  world  hey  would  y·o·u")

    # The notebook merges "he" before it starts its vocabulary, and so has room for "yo".
    tok = toksmith.train(
        texts=[WORDS], vocab_size=26, unit="characters", split="words", unk_token=None
    )
    ours, theirs = {token.decode() for token in tok.tokens}, set(printed["vocab_after_26"])
    assert (ours - theirs, theirs - ours) == ({"he"}, {"yo"})

    bpe = toksmith.train(
        texts=[WORDS], vocab_size=26, unit="characters", split="words", unk_token="<UNK>"
    )
    assert bpe.encoding("when i last").strings == [
        "w", "he", "<UNK>", "·", "i", "·", "l", "<UNK>", "<UNK>", "t",
    ]  # fmt: skip
    wordpiece = toksmith.train(texts=[WORDS], model="wordpiece", vocab_size=36)
    unigram = toksmith.train(texts=[WORDS], model="unigram", vocab_size=22)
    compared = toksmith.compare([bpe, wordpiece, unigram], texts=[WORDS])
    assert "⟦hello⟧" in str(compared)
    assert [each.tokens for each in compared.figures] == [
        tok.count(WORDS) for tok in (bpe, wordpiece, unigram)
    ]


def test_gpt2_compared_with_gpt4(published: None, figures: dict[str, Any]) -> None:
    example = figures["encodings_on_text"]["text"].removeprefix("\n")
    gpt2, gpt4 = toksmith.get("gpt2"), toksmith.get("gpt-4")
    compared = toksmith.compare([gpt2, gpt4], texts=[example])
    assert [each.tokens for each in compared.figures] == [300, 185]


def test_byte_pair_encoding_by_hand(shared: Path, figures: dict[str, Any]) -> None:
    gage = toksmith.train(
        texts=["aaabdaaabac"], vocab_size=7, unit="characters", split=None, unk_token=None
    )
    assert "aaab 6, d 3, aaab 6, a 0, c 2" in str(gage.explain("aaabdaaabac"))
    printed = figures["basic_bpe"][0]
    tok = toksmith.train(shared / "data/golden/unicode_article.txt", vocab_size=276, split=None)
    assert tok.training is not None
    assert tok.training.tokens == printed["tokens_after"] == 19_438
    assert f"{tok.training.compression:.2f}" == "1.27"
    assert [list(pair) for pair in tok.merges] == printed["merges"]
    assert len(tok.merge_table) == 20
    for text, ids in printed["encode"].items():
        assert tok.encode(text) == ids

    printed = figures["basic_bpe"][2]
    tok = toksmith.train(texts=printed["text"], vocab_size=printed["vocab_size"], split=None)
    assert [list(pair) for pair in tok.merges] == printed["merges"]
    assert tok.count(printed["text"]) == printed["encoded_length"]
    for text, ids in printed["encode"].items():
        assert tok.encode(text) == ids

    for text, chunks in figures["gpt2_split"]:
        assert toksmith.split(text, "gpt2") == chunks
    korean = toksmith.unicode(figures["unicode"]["text"])
    assert len(korean.code_points) == figures["unicode"]["code_points"]
    assert len(korean.utf8) == figures["unicode"]["utf8_bytes"]
    assert korean.utf16.count(0) == figures["unicode"]["utf16_zero_bytes"]
    assert korean.utf32.count(0) == figures["unicode"]["utf32_zero_bytes"]


def test_gpt2s_own_files(shared: Path, folder: Path, figures: dict[str, Any]) -> None:
    for name in ("encoder.json", "vocab.bpe"):
        (folder / name).symlink_to(shared / f"data/vocab/gpt2_{name}")
    gpt2 = toksmith.load("encoder.json")  # finds vocab.bpe
    assert gpt2.tokens[:10] == [bytes([byte]) for byte in b"!\"#$%&'()*"]
    assert [gpt2.tokens[left] + gpt2.tokens[right] for left, right in gpt2.merges[:3]] == [
        b" t", b" a", b"he",
    ]  # fmt: skip
    printed = figures["gpt2_files"]
    assert len(gpt2) == printed["encoder_size"]
    assert len(gpt2.merges) == printed["merges"]
    assert gpt2.special_tokens == {"<|endoftext|>": printed["endoftext_id"]}


def test_sentencepiece_and_advice(shared: Path, figures: dict[str, Any]) -> None:
    printed = figures["sentencepiece_toy"]
    options = {"model_type": "bpe", **printed["options"]}
    sp = toksmith.train(shared / "data/golden/toy.txt", model="sentencepiece-bpe", **options)
    ((text, ids),) = printed["encode"].items()
    assert sp.encode(text) == ids
    assert sp.encoding(text).strings == printed["pieces"]
    advice = toksmith.advise(shared / "data/golden/unicode_article.txt", d_model=768, layers=12)
    assert "3,328" in repr(advice)


def test_longest_first(figures: dict[str, Any]) -> None:
    """The notebook applies its vocabulary longest-first; ours has "he" and not "yo"."""
    printed = figures["greedy_longest"]
    tok = toksmith.train(
        texts=[WORDS], vocab_size=27, unit="characters", split="words", unk_token="<UNK>"
    )
    longest = tok.with_matching("longest")
    assert isinstance(longest, Tokenizer)
    found = [string.replace("·", " ") for string in longest.encoding(printed["text"]).strings]
    assert found == toksmith.merge(printed["tokens"], pair=("h", "e"), new="he")


@pytest.mark.parametrize("symbol", [1.5, None, True, [1]])
def test_values_that_are_no_symbol(symbol: Any) -> None:
    for call in (
        lambda: toksmith.pairs([symbol]),
        lambda: toksmith.pairs([1, symbol, 2]),
        lambda: toksmith.merge([1, 2], (1, 2), symbol),
        lambda: toksmith.merge([1, 2], (1, symbol), 3),
        lambda: toksmith.merge([1, symbol], (1, 2), 3),
    ):
        with pytest.raises(OptionError, match=f"use ids .*not {type(symbol).__name__}"):
            call()


def test_repr_of_steps() -> None:
    steps = toksmith.training_steps("aab aab", vocab_size=258)
    assert repr(steps) == "<training_steps: 2 merges, 0 seen>"
    assert iter(steps) is steps
    assert next(steps).token == b"aa"
    assert repr(steps) == "<training_steps: 2 merges, 1 seen>"
