"""Training WordPiece, words, characters, and BPE on characters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith.errors import OptionError, TrainingError
from toksmith.models import CharacterBPE, LongestMatch, Unigram, WordLevel, WordPiece
from toksmith.pipeline import Pipeline
from toksmith.reference.sentencepiece_bpe_training import training_steps as piece_steps
from toksmith.reference.wordpiece_training import training_steps
from toksmith.tokenizer import Tokenizer

WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


def tokens(tok: Tokenizer) -> list[str]:
    return [token.decode() for token in tok.pipeline.model.vocab]


pytestmark = pytest.mark.filterwarnings("ignore:the text ran out", "ignore:the text yields only")


class TestCharacterBPE:
    def test_the_seeds_figures(self, shared: Path) -> None:
        golden = json.loads((shared / "data/golden/seeds.json").read_bytes())
        seed = golden["char_bpe"]
        text = seed["text"]
        # The seed starts to fill its vocabulary behind its first merge, which is "he".
        tok = toksmith.train(
            texts=[text], vocab_size=27, split=" ", unit="characters", unk_token=None
        )
        record = tok.training
        assert record is not None
        assert record.counts[0] == seed["pair_counts_first"]["h e"]
        assert tokens(tok)[15] == "".join(seed["first_merge"])
        assert sorted(tokens(tok)) == sorted([*seed["vocab_after_26"], "he"])

    def test_the_seeds_longest_match(self, shared: Path) -> None:
        golden = json.loads((shared / "data/golden/seeds.json").read_bytes())
        seed = golden["greedy_longest"]
        vocab = [b"<UNK>", *(token.encode() for token in golden["char_bpe"]["vocab_after_26"])]
        tok = Tokenizer(Pipeline(LongestMatch(tuple(vocab), unk_id=0)))
        assert [token.decode() for token in tok.encoding(seed["text"]).tokens] == seed["tokens"]

    def test_ids(self) -> None:
        tok = toksmith.train(texts=["abab ab"], vocab_size=7, unit="characters", split=None,
                             special_tokens=["<s>"])  # fmt: skip
        model = tok.pipeline.model
        assert isinstance(model, CharacterBPE)
        assert tokens(tok) == ["<unk>", " ", "a", "b", "ab", "abab"]
        assert model.merges.tolist() == [[2, 3, 4], [4, 4, 5]]
        assert tok.special_tokens == {"<s>": 6}
        assert tok.encode("abx") == [4, 0]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"vocab_size": 3}, "vocab_size is 3: it must hold the 3 characters"),
            ({"unit": "words"}, "unit is 'words'"),
            ({"unit": "bytes", "unk_token": "x"}, "bytes are never unknown"),
            ({"unk_token": ""}, "unk_token is an empty string"),
        ],
    )
    def test_invalid_options(self, options: dict[str, Any], message: str) -> None:
        given = {"unit": "characters", "vocab_size": 9, "special_tokens": ["<s>"]} | options
        with pytest.raises(OptionError, match=message):
            toksmith.train(texts=["ab"], **given)

    def test_smallest_pair_goes_by_code_point(self) -> None:
        tok = toksmith.train(
            texts=["ba ab"], vocab_size=5, unit="characters", ties="smallest-pair", split=" "
        )
        assert tokens(tok)[-1] == "ab"


class TestWordPiece:
    def train(self, vocab_size: int = 16, **options: Any) -> Tokenizer:
        given = {"special_tokens": ["[UNK]"], "normalize": False, "split": r"\w+|\s+"} | options
        counts = toksmith.Counts.of({word.encode(): count for word, count in WORDS.items()})
        return toksmith.train(counts=counts, model="wordpiece", vocab_size=vocab_size, **given)

    def test_likelihood(self) -> None:
        assert tokens(self.train()) == [
            "[UNK]", "b", "g", "h", "n", "p", "s", "u", "##g", "##n", "##s", "##u",
            "##gs", "pu", "hu", "bu",
        ]  # fmt: skip

    def test_frequency(self) -> None:
        tok = self.train(objective="frequency")
        assert tokens(tok)[12:] == ["##ug", "##un", "hug", "pun"]
        record = tok.training
        assert record is not None
        assert record.counts.tolist() == [20, 16, 15, 12]
        assert record.tokens_after.tolist() == [93, 77, 62, 50]
        assert record.tokens == 50

    @pytest.mark.parametrize("objective", ["likelihood", "frequency"])
    def test_min_frequency(self, objective: Any) -> None:
        with pytest.warns(UserWarning, match="ran out of pairs"):
            tok = self.train(100, objective=objective, min_frequency=12)
        steps = training_steps(WORDS, 99, objective=objective, min_frequency=12)
        assert tokens(tok)[12:] == [step.piece for step in steps]

    def test_alphabet(self) -> None:
        tok = self.train(limit_alphabet=7, initial_alphabet="xs")
        assert tokens(tok)[1:9] == ["g", "h", "n", "p", "s", "u", "x", "##g"]
        assert not any("b" in token for token in tokens(tok))

    def test_special_tokens_come_first(self) -> None:
        tok = self.train(24, special_tokens=["[CLS]", "[SEP]"])
        assert tokens(tok)[:3] == ["[UNK]", "[CLS]", "[SEP]"]
        assert tok.special_tokens == {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}
        framed = tok.encode("hug", add_special_tokens=True)
        assert framed == [1, *tok.encode("hug"), 2]
        assert isinstance(tok.pipeline.model, WordPiece)
        assert tok.pipeline.model.unk_id == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"vocab_size": 5}, "vocab_size is 5: it must hold 1 special tokens and the 11"),
            ({"objective": "loss"}, "objective is 'loss'"),
            ({"min_frequency": -1}, "min_frequency is -1"),
            ({"limit_alphabet": 0}, "limit_alphabet is 0"),
            ({"ties": "first-seen"}, "no option of model 'wordpiece'"),
            ({"prefix": ""}, "prefix is an empty string"),
        ],
    )
    def test_invalid_options(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(OptionError, match=message):
            self.train(**options)


class TestWordsAndCharacters:
    def test_words(self) -> None:
        tok = toksmith.train(
            texts=["a b b", "c b"], model="word", vocab_size=4, split=r"\w+|\s+",
            special_tokens=["<s>"],
        )  # fmt: skip
        assert tokens(tok) == ["<unk>", " ", "b"]
        assert isinstance(tok.pipeline.model, WordLevel)
        assert tok.encode("b a") == [2, 1, 0]
        assert tok.special_tokens == {"<s>": 3}
        assert tok.vocab_size == 4
        record = tok.training
        assert record is not None
        assert (record.documents, record.chunks, record.tokens) == (2, 4, 8)

    def test_all_words(self) -> None:
        tok = toksmith.train(texts=["low low lower"], model="word")
        assert tokens(tok) == ["<unk>", " low", " lower", "low"]
        assert tok.decode(tok.encode("low lower low")) == "low lower low"

    def test_characters(self) -> None:
        tok = toksmith.train(texts=["abcb", "é b"], model="char")
        assert tokens(tok) == ["<UNK>", "b", " ", "a", "c", "é"]
        assert isinstance(tok.pipeline.model, LongestMatch)
        assert tok.encode("éxb") == [5, 0, 1]
        record = tok.training
        assert record is not None
        assert record.tokens == 7
        assert record.merges == 0

    def test_frequent_characters(self) -> None:
        tok = toksmith.train(texts=["aab"], model="char", vocab_size=2)
        assert tokens(tok) == ["<UNK>", "a"]
        tok = toksmith.train(texts=["aab"], model="char", min_frequency=2, unk_token="?")
        assert tokens(tok) == ["?", "a"]

    @pytest.mark.parametrize("model", ["word", "char"])
    def test_invalid_options(self, model: str) -> None:
        with pytest.raises(OptionError, match="vocab_size is 1"):
            toksmith.train(texts=["ab"], model=model, vocab_size=1)
        with pytest.raises(TrainingError, match="no text"):
            toksmith.train(texts=[""], model=model)
        with pytest.raises(OptionError, match=f"no option of model '{model}'"):
            toksmith.train(texts=["ab"], model=model, ties="first-seen")


def test_bpe_asks_for_a_vocab_size() -> None:
    with pytest.raises(OptionError, match="vocab_size is missing"):
        toksmith.train(texts=["ab"])


def test_unknown_options_are_named() -> None:
    with pytest.raises(OptionError, match=r"^character_coverage= is no option.*ties"):
        toksmith.train(texts=["ab"], vocab_size=256, character_coverage=1.0)
    with pytest.raises(OptionError, match="use 'bpe' or 'wordpiece' or"):
        toksmith.train(texts=["ab"], model="bert")


def test_the_reference_of_pieces_ends_where_no_pair_is_left() -> None:
    assert [step.piece for step in piece_steps({"abc": 1}, 9)] == ["ab", "abc"]


class TestUnigram:
    def test_pieces(self) -> None:
        text = "low lower newer wider low new " * 5
        tok = toksmith.train(texts=[text], model="unigram", vocab_size=14, special_tokens=["<s>"])
        model = tok.pipeline.model
        assert isinstance(model, Unigram)
        assert tokens(tok)[0] == "<unk>"
        assert "▁low" in tokens(tok)
        assert tok.special_tokens == {"<s>": 13}
        assert tok.decode(tok.encode("newer low")) == "newer low"
        assert tok.encode("q")[-1] == 0

    def test_invalid_options(self) -> None:
        with pytest.raises(OptionError, match="it must hold the 9 characters"):
            toksmith.train(texts=["low newer wid "], model="unigram", vocab_size=5)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("wordpiece", "vocab.txt"),
        ("wordpiece", "tokenizer.json"),
        ("unigram", "tokenizer.json"),
        ("word", "tokenizer.json"),
        ("char", "tokenizer.json"),
        ("bpe", "tokenizer.json"),
        ("sentencepiece-bpe", "spm.model"),
        ("sentencepiece-unigram", "spm.model"),
    ],
)
def test_trained_models_can_be_written(model: str, name: str, tmp_path: Path) -> None:
    text = "the cat sat on the mat, the other cat sat there " * 3
    options: dict[str, Any] = {"unit": "characters"} if model == "bpe" else {}
    if model.startswith("sentencepiece"):
        options = {"hard_vocab_limit": False}
    tok = toksmith.train(texts=[text], model=model, vocab_size=40, **options)
    tok.save(tmp_path / name)
    loaded = toksmith.load(tmp_path / name)
    assert loaded.encode(text) == tok.encode(text)
    assert loaded.decode(tok.encode(text)) == tok.decode(tok.encode(text))


def test_an_empty_path_is_not_the_current_folder() -> None:
    with pytest.raises(OptionError, match="files holds an empty path"):
        toksmith.train([""], vocab_size=300)
