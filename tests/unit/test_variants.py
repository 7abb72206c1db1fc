"""Tokenizers made from others: one stage differs, and the original is unchanged."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

import toksmith
from tests import strategies
from tests.kits.bpe import BYTES
from tests.kits.pipelines import MODELS
from toksmith import Tokenizer
from toksmith.errors import OptionError, SplitError, UnsupportedError
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE, CharacterBPE, LongestMatch
from toksmith.pipeline import Pipeline

TOK = toksmith.train(texts=["bc", "bc", "ab"], vocab_size=259, special_tokens=["<|end|>"])
CHARACTERS = toksmith.train(
    texts=["hello world hey would you help with my work"],
    vocab_size=26, unit="characters", split="words", unk_token="<UNK>",
)  # fmt: skip


class TestSpecialTokens:
    def test_with_ids(self) -> None:
        more = TOK.with_special_tokens({"<a>": 300, "<b>": 259})
        assert more.special_tokens == {"<|end|>": 258, "<b>": 259, "<a>": 300}
        assert more.encode("ab<a><|end|>", special="encode") == [257, 300, 258]
        assert more.decode([300, 257], skip_special_tokens=True) == "ab"
        assert (len(more), more.tokens[260], more.vocab[b"<a>"]) == (301, b"", 300)
        assert TOK.special_tokens == {"<|end|>": 258}
        assert TOK.encode("<a>", special="encode") == [60, 97, 62]

    def test_without_ids(self) -> None:
        more = TOK.with_special_tokens(["<a>", "<|end|>", "<b>", "<a>"])
        assert more.special_tokens == {"<|end|>": 258, "<a>": 259, "<b>": 260}
        assert TOK.with_special_tokens([]) == TOK

    def test_a_token_of_the_model_keeps_its_id(self) -> None:
        more = TOK.with_special_tokens(["bc"])
        assert more.special_tokens == {"bc": 256, "<|end|>": 258}
        assert TOK.with_special_tokens({"bc": 256}) == more

    def test_a_plain_added_token_becomes_special(self) -> None:
        plain = Tokenizer(
            replace(TOK.pipeline, framing=Framing((AddedToken("<p>", 300, special=False),)))
        )
        assert plain.special_tokens == {}
        assert plain.with_special_tokens(["<p>"]).special_tokens == {"<p>": 300}

    def test_survives_a_round_trip(self, tmp_path: Path) -> None:
        more = TOK.with_special_tokens({"<a>": 259})
        more.save(tmp_path / "t.json")
        assert toksmith.load(tmp_path / "t.json") == more == pickle.loads(pickle.dumps(more))

    @pytest.mark.parametrize(
        ("tokens", "message"),
        [
            ({"<a>": 256}, "added token '<a>' has id 256, which the model's vocabulary gives"),
            ({"<a>": 258}, "added tokens '<|end|>' and '<a>' share id 258"),
            ({"<|end|>": 259}, "special token '<|end|>' cannot have id 259: it is already token"),
            ({"bc": 300}, "special token 'bc' cannot have id 300: it is already token 256"),
            ({"": 300}, "special token is an empty string"),
            ({"<a>": "x"}, "the id of '<a>' is 'x': use a whole number"),
            ({"<a>": -1}, "the id of '<a>' is -1: use 0 or more"),
            ({5: 300}, "special token is 5: use a str"),
            ([5], "special token is 5: use a str"),
            ("<a>", "give a mapping from literals to ids, or a list of literals"),
            (5, "give a mapping from literals to ids, or a list of literals"),
        ],
    )  # fmt: skip
    def test_special_tokens_that_clash(self, tokens: object, message: str) -> None:
        with pytest.raises(OptionError) as refused:
            TOK.with_special_tokens(tokens)  # type: ignore[arg-type]
        assert message in str(refused.value)


class TestTemplate:
    def test_around_texts_and_pairs(self) -> None:
        tok = TOK.with_special_tokens(["<s>"]).with_template(bos="<s>", eos=258)
        assert tok.encode("ab") == [257]
        assert tok.encode("ab", add_special_tokens=True) == [259, 257, 258]
        assert tok.encode("ab", pair="a", add_special_tokens=True) == [259, 257, 258, 259, 97, 258]
        assert tok.prepare(["ab"]).ids.tolist() == [[259, 257, 258]]
        none = tok.with_template()
        assert none.encode("ab", add_special_tokens=True) == [257]
        assert none.special_tokens == tok.special_tokens

    def test_values_that_are_not_tokens(self) -> None:
        with pytest.raises(OptionError, match=r"eos is '<e>', which is no token: add it with with"):
            TOK.with_template(eos="<e>")
        with pytest.raises(OptionError, match="bos is 259, and no token has this id"):
            TOK.with_template(bos=259)
        with pytest.raises(OptionError, match=r"bos is 1\.5: use a whole number, or the token"):
            TOK.with_template(bos=1.5)  # type: ignore[arg-type]


class TestSplit:
    def test_names_patterns_and_none(self) -> None:
        tok = toksmith.train(texts=["a b a b"], vocab_size=258, split=None)
        assert tok.encoding("a b").strings == ["a·b"]
        assert tok.with_split("gpt2").encoding("a b").strings == ["a", "·", "b"]
        assert tok.with_split(r"a |b").encoding("a b").strings == ["a·", "b"]
        assert tok.with_split("gpt2").with_split(None) == tok
        with pytest.raises(SplitError):
            tok.with_split("mistral")

    def test_a_published_name_is_dropped(self) -> None:
        named = Tokenizer(TOK.pipeline.with_name("mine"))
        assert (named.with_split("gpt2").name, named.name) == (None, "mine")

    def test_splitters_that_write(self) -> None:
        unigram = toksmith.train(texts=["low low"], model="unigram", vocab_size=6)
        with pytest.raises(UnsupportedError, match="marks word starts"):
            unigram.with_split("gpt2")


class TestMatching:
    def test_seed_three(self) -> None:
        longest = CHARACTERS.with_matching("longest")
        assert CHARACTERS.encoding("helwor").strings == ["hel", "wor"]
        assert longest.tokens == CHARACTERS.tokens
        assert longest.encoding("worldo?").strings == ["world", "o", "<UNK>"]

    def test_bytes(self) -> None:
        longest = TOK.with_matching("longest")
        assert TOK.encoding("abc").strings == ["a", "bc"]
        assert longest.encoding("abc").strings == ["ab", "c"]
        assert longest.encoding("é").byte_spans.tolist() == [[0, 1], [1, 2]]
        assert longest.encode("ab<|end|>", special="encode") == [257, 258]
        assert longest.explain("abc").ids == longest.encode("abc")
        assert pickle.loads(pickle.dumps(longest)) == longest

    def test_there_and_back(self) -> None:
        longest = TOK.with_matching("longest")
        assert longest.with_matching("longest") == longest
        assert TOK.with_matching("merges") == TOK
        with pytest.raises(OptionError, match="LongestMatch has no merges: keep the tokenizer"):
            longest.with_matching("merges")
        with pytest.raises(OptionError, match="matching is 'shortest'"):
            TOK.with_matching("shortest")  # type: ignore[arg-type]

    def test_models_that_spell_their_tokens(self) -> None:
        for name, pipeline in MODELS.items():
            model = pipeline.model
            plain = isinstance(model, BPE | LongestMatch) or (
                isinstance(model, CharacterBPE)
                and not (model.continuing_prefix or model.word_suffix or model.byte_fallback)
            )
            if plain:
                assert isinstance(
                    Tokenizer(pipeline).with_matching("longest").pipeline.model, LongestMatch
                ), name
                continue
            with pytest.raises(UnsupportedError, match="longest match"):
                Tokenizer(pipeline).with_matching("longest")

    def test_formats_that_cannot_hold_it(self, tmp_path: Path) -> None:
        for name in ("t.json", "t.model", "t.tiktoken"):
            with pytest.raises(UnsupportedError):
                TOK.with_matching("longest").save(tmp_path / name)


LONGEST = Tokenizer(
    Pipeline(
        LongestMatch(
            (*BYTES, b"the", "é👋".encode(), b"th", b"\x9f\x91"),
            unit="bytes",
        )
    )
)


@given(strategies.any_texts)
def test_the_longest_bytes_first(text: str | bytes) -> None:
    data = toksmith._base.text.utf8(text)
    vocab = LONGEST.vocab
    expected, at = [], 0
    while at < len(data):
        end = next(end for end in range(at + 6, at, -1) if data[at:end] in vocab)
        end = min(end, len(data))
        expected.append(vocab[data[at:end]])
        at = end
    assert LONGEST.encode(text) == expected
    assert LONGEST.decode_bytes(expected) == data


VARIANTS: list[Callable[[Tokenizer], Tokenizer]] = [
    lambda tok: tok.with_special_tokens(["<x>"]),
    lambda tok: tok.with_template(eos="<|end|>"),
    lambda tok: tok.with_split("gpt2"),
    lambda tok: tok.with_matching("longest"),
]


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_changes_in_place(variant: Callable[[Tokenizer], Tokenizer]) -> None:
    before = pickle.dumps(TOK.pipeline)
    made = variant(TOK)
    assert made != TOK
    assert pickle.dumps(TOK.pipeline) == before
    assert made.training is TOK.training
