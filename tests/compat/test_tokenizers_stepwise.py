"""Tokenizers with components in Python, and texts of tokens, against the installed tokenizers."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import toksmith.compat.tokenizers as ours

theirs = pytest.importorskip("tokenizers")

COLUMNS = (
    *("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask"),
    *("attention_mask", "sequence_ids", "n_sequences"),
)
TEXTS = (
    *("hello Hello", "ﬁxé <s>hello  <M>  hexllo", "Day days DAY hello", "", " x ", "東京 hello"),
    *("xx", "<s>", "½ HELLO", "  hello", "hello ", "<M> <M>"),
)


class Normalize:
    def normalize(self, text: Any) -> None:
        text.nfkd()
        text.lowercase()
        text.filter(lambda character: character != "x")


class Strip:
    def normalize(self, text: Any) -> None:
        text.strip()


class Cut:
    def pre_tokenize(self, text: Any) -> None:
        text.split(self.cut)

    def cut(self, place: int, part: Any) -> Any:
        return part.split(" ", "merged_with_next")


def bpe(module: Any) -> Any:
    vocab = {letter: i for i, letter in enumerate("abcdefghijklmnopqrstuvwyz ,.!é0123456789▁")}
    vocab |= {"[UNK]": 100, "he": 101, "ll": 102, "hell": 103}
    merges = [("h", "e"), ("l", "l"), ("he", "ll")]
    tokenizer = module.Tokenizer(module.models.BPE(vocab, merges, unk_token="[UNK]"))
    tokenizer.add_special_tokens(
        ["<s>", module.AddedToken("<M>", lstrip=True, rstrip=True, special=True)]
    )
    tokenizer.add_tokens(["HELLO", module.AddedToken("Day", single_word=True)])
    return tokenizer


def in_python(module: Any) -> Any:
    tokenizer = bpe(module)
    tokenizer.normalizer = module.normalizers.Normalizer.custom(Normalize())
    tokenizer.pre_tokenizer = module.pre_tokenizers.PreTokenizer.custom(Cut())
    return tokenizer


def in_part(module: Any) -> Any:
    tokenizer = bpe(module)
    tokenizer.normalizer = module.normalizers.Sequence(
        [module.normalizers.Normalizer.custom(Strip()), module.normalizers.NFKD()]
    )
    tokenizer.pre_tokenizer = module.pre_tokenizers.Metaspace(prepend_scheme="first")
    return tokenizer


def only_a_normalizer(module: Any) -> Any:
    tokenizer = bpe(module)
    tokenizer.normalizer = module.normalizers.Normalizer.custom(Strip())
    return tokenizer


def unigram(module: Any) -> Any:
    """Return a tokenizer whose unknown token shows the text of unknown characters."""
    pieces = [("<unk>", 0.0), ("hello", -1.0), ("1", -2.0), ("2", -2.0), ("h", -3.0), ("e", -3.0)]
    tokenizer = module.Tokenizer(module.models.Unigram(pieces, 0, False))
    tokenizer.normalizer = module.normalizers.NFKD()
    tokenizer.pre_tokenizer = module.pre_tokenizers.Metaspace()
    tokenizer.enable_truncation(4, stride=1)
    tokenizer.post_processor = module.processors.TemplateProcessing(
        single="h $A", pair="h $A $B:1", special_tokens=[("h", 4)]
    )
    return tokenizer


def columns(encoding: Any) -> dict[str, Any]:
    return {name: getattr(encoding, name) for name in COLUMNS}


@pytest.mark.parametrize("make", [in_python, in_part, only_a_normalizer, unigram])
def test_encodings_are_the_same(make: Any) -> None:
    mine, peer = make(ours), make(theirs)
    for text, split, special in product(TEXTS, (False, True), (True, False)):
        given = text.split() if split else text
        for tokenizer in (mine, peer):
            tokenizer.encode_special_tokens = not special
        made = mine.encode(given, is_pretokenized=split)
        expected = peer.encode(given, is_pretokenized=split)
        assert columns(made) == columns(expected), (text, split, special)
        assert [columns(each) for each in made.overflowing] == [
            columns(each) for each in expected.overflowing
        ], text


@pytest.mark.parametrize("module", [ours, theirs])
def test_the_tokens_of_splits_become_an_encoding(module: Any) -> None:
    text = module.PreTokenizedString("a hé")
    text.split(lambda place, part: part.split(" ", "removed"))
    with pytest.raises(Exception, match="has not been tokenized"):
        text.to_encoding()
    text.tokenize(lambda word: [module.Token(7, word, (0, len(word.encode())))])
    text.tokenize(lambda word: [])  # all have tokens
    encoding = text.to_encoding(type_id=1)
    assert encoding.ids == [7, 7]
    assert encoding.tokens == ["a", "hé"]
    assert encoding.offsets == [(0, 1), (2, 4)]
    assert encoding.word_ids == [0, 1]
    assert encoding.type_ids == [1, 1]
    assert text.to_encoding(0, 5).word_ids == [5, 5]


def test_an_empty_text_has_no_tokens_of_its_sequence() -> None:
    for module in (ours, theirs):
        tokenizer = bpe(module)
        assert tokenizer.encode("", "he").sequence_ids == [1]
        assert tokenizer.encode("he", "").sequence_ids == [0]
        assert tokenizer.encode("", "he").n_sequences == 2
        tokenizer.post_processor = module.processors.BertProcessing(("a", 0), ("b", 1))
        assert tokenizer.encode("").sequence_ids == [None, None]


@pytest.mark.parametrize("module", [ours, theirs])
def test_an_empty_sequence_changes_nothing(module: Any) -> None:
    tokenizer = bpe(module)
    tokenizer.normalizer = module.normalizers.Sequence([])
    tokenizer.pre_tokenizer = module.pre_tokenizers.Sequence([])
    assert tokenizer.encode("hell").tokens == ["hell"]
    again = module.Tokenizer.from_str(tokenizer.to_str())
    assert repr(again.normalizer) == "Sequence(normalizers=[])"


@pytest.mark.parametrize("module", [ours, theirs])
def test_a_token_of_the_model_that_is_added_too_is_spelled_as_it_was_found(module: Any) -> None:
    tokenizer = bpe(module)
    tokenizer.normalizer = module.normalizers.Prepend("▁")
    tokenizer.pre_tokenizer = module.pre_tokenizers.WhitespaceSplit()
    tokenizer.add_tokens(["b"])
    assert tokenizer.encode("b").tokens == ["▁b"]
    assert tokenizer.encode("ab").tokens == ["▁", "a", "b"]
