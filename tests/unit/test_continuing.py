"""BPE continued from a tokenizer: its ids stay, and further merges equal those of one training."""

from __future__ import annotations

import random
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.kits.bpe import BYTES
from toksmith.errors import OptionError, ToksmithError, UnsupportedError
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE
from toksmith.normalizers import Lowercase
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter
from toksmith.trainers import memory

TEXTS = ["low lower lowest, new newer newest", " ".join(str(n**3) for n in range(120))]


def further(tok: toksmith.Tokenizer, more: int, **given: Any) -> toksmith.Tokenizer:
    given.setdefault("texts", TEXTS)
    return toksmith.train(vocab_size=tok.vocab_size + more, continue_from=tok, **given)


def test_by_hand() -> None:
    """aaabdaaabac after aa: aa a b d aa a b a c; then (aa, a), then (aaa, b)."""
    first = toksmith.train(texts=["aaab"], split=None, vocab_size=257)
    tok = further(first, 2, texts=["aaabdaaabac"])
    assert tok.merges == [(97, 97), (256, 97), (257, 98)]
    assert tok.training is not None
    assert tok.training.tokens_after.tolist() == [7, 5]
    assert tok.training.counts.tolist() == [2, 2]
    assert tok.training.options["continue_from"] == "257 ids"


@pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
@pytest.mark.parametrize("split", [None, "gpt2"])
def test_the_same_text_gives_the_result_of_one_training(ties: str, split: str | None) -> None:
    options = {"texts": TEXTS, "split": split, "ties": ties, "max_token_length": 5}
    whole = toksmith.train(vocab_size=340, **options)
    tok = toksmith.train(vocab_size=280, **options)
    for more in (1, 20, 39):
        tok = further(tok, more)  # ties and the longest token are those of the first training
    assert tok.pipeline == whole.pipeline
    assert tok.training is not None
    assert whole.training is not None
    assert tok.training.tokens == whole.training.tokens
    assert tok.training.tokens_after.tolist() == whole.training.tokens_after[-39:].tolist()


def test_old_ids_stay_and_gaps_stay() -> None:
    special = {"<a>": 260, "<b>": 270}
    known = Pipeline(BPE((*BYTES, b"lo"), [[108, 111, 256]]), framing=Framing.of(special))
    tok = further(toksmith.Tokenizer(known), 2, texts=["lower low slow"], special_tokens=["<c>"])
    assert tok.special_tokens == {"<a>": 260, "<b>": 270, "<c>": 272}
    assert [tok.token_bytes(token) for token in (256, 271)] == [b"lo", b"low"]
    assert tok.vocab_size == 273
    assert tok.encode("low<b>", special="encode") == [271, 270]


def test_framing_stays() -> None:
    framing = Framing((AddedToken("<s>", 256),), prefix=(256,))
    tok = further(toksmith.Tokenizer(Pipeline(BPE(BYTES, ()), framing=framing)), 3)
    assert tok.encode("z", add_special_tokens=True) == [256, 122]


def test_bytes_may_have_other_ids() -> None:
    order = (*BYTES[128:], *BYTES[:128], b"ne")
    tok = toksmith.Tokenizer(Pipeline(BPE(order, [[order.index(b"n"), order.index(b"e"), 256]])))
    plain = further(toksmith.train(texts=["ne"], split=None, vocab_size=257), 30)
    for ties in ("first-seen", "smallest-pair"):
        other = further(tok, 30, ties=ties)
        plain = further(toksmith.train(texts=["ne"], split=None, vocab_size=257), 30, ties=ties)
        spelled = [other.token_bytes(token) for token in range(256, 287)]
        assert spelled == [plain.token_bytes(token) for token in range(256, 287)]


def test_a_token_that_merging_did_not_reach_keeps_its_id() -> None:
    """The vocabulary holds abc, which no merge makes: a new merge makes that token, no other."""
    vocab = (*BYTES, b"ab", b"abc")
    model = BPE(vocab, [[97, 98, 256]], whole_chunk_first=True)
    tok = further(toksmith.Tokenizer(Pipeline(model)), 2, texts=["xabcabcx", "yabcz"])
    assert tok.merges[:2] == [(97, 98), (256, 99)]
    assert tok.pipeline.model.merges[1].tolist() == [256, 99, 257]
    assert tok.vocab_size == 260
    assert len({tok.token_bytes(token) for token in range(260)}) == 260


@pytest.mark.parametrize("name", ["a.tiktoken", "a.json", "a.model"])
def test_formats(name: str, tmp_path: Path) -> None:
    tok = further(toksmith.train(texts=TEXTS, vocab_size=270), 30)
    tok.save(tmp_path / name)
    given = {"split": "gpt4"} if name == "a.tiktoken" else {}
    loaded = toksmith.load(tmp_path / name, **given)
    assert [loaded.encode(text) for text in TEXTS] == [tok.encode(text) for text in TEXTS]
    again = further(loaded, 10)
    assert again.encode(TEXTS[1]) == further(tok, 10).encode(TEXTS[1])


def test_counts_and_files(tmp_path: Path) -> None:
    tok = toksmith.train(texts=TEXTS, vocab_size=270)
    wanted = further(tok, 20).pipeline
    counts = toksmith.Counts.from_texts(TEXTS)
    assert further(tok, 20, texts=None, counts=counts).pipeline == wanted
    with pytest.raises(OptionError, match="but the tokenizer cuts by"):
        further(tok, 20, texts=None, counts=toksmith.Counts.from_texts(TEXTS, split="gpt2"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"unk_token": None}, "unk_token= is the tokenizer's own"),
        ({"split": "mistral"}, "unknown split 'mistral'"),
        ({"unit": "bytes"}, "unit= is the tokenizer's own"),
        (
            {"nothing": 1},
            "nothing= is no option with continue_from=: use split, special_tokens, ties",
        ),
        ({"model": "unigram"}, 'continue_from= is only for "bpe"'),
        ({"special_tokens": ["<s>"]}, "'<s>' is already a special token"),
        ({"ties": "none"}, "ties is 'none'"),
    ],
)
def test_wrong_options(given: dict[str, Any], message: str) -> None:
    tok = toksmith.train(texts=TEXTS, vocab_size=270, special_tokens=["<s>"])
    with pytest.raises(OptionError, match=re.escape(message)):
        further(tok, 20, **given)


def test_too_few_ids() -> None:
    tok = toksmith.train(texts=TEXTS, vocab_size=270)
    for size in (None, 100, 270):
        with pytest.raises(OptionError, match="the tokenizer has 270 ids"):
            toksmith.train(texts=TEXTS, vocab_size=size, continue_from=tok)
    with pytest.raises(OptionError, match="gets 1 special tokens, so no token could be learned"):
        further(tok, 1, special_tokens=["<s>"])


def test_tokenizers_that_cannot_be_continued() -> None:
    words = toksmith.train(texts=["a b"], model="word")
    with pytest.raises(UnsupportedError, match="WordLevel cannot be continued: only byte-level"):
        further(words, 10)
    lower = toksmith.Tokenizer(Pipeline(BPE(BYTES, ()), normalizer=(Lowercase(),)))
    with pytest.raises(UnsupportedError, match="this tokenizer has Lowercase before its BPE"):
        further(lower, 10)


def test_running_out_of_pairs_warns() -> None:
    tok = toksmith.train(texts=["abc"], vocab_size=257)
    with pytest.warns(UserWarning, match="ran out of pairs: 258 tokens instead of 300"):
        more = toksmith.train(texts=["abc"], vocab_size=300, continue_from=tok)
    assert more.vocab_size == 258


PHRASES = "by the way, in the end. by the way, in the end."


def test_a_second_stage_with_another_split_learns_merges_across_words() -> None:
    words = toksmith.train(texts=PHRASES, vocab_size=268, split="gpt2")
    tok = further(words, 4, texts=PHRASES, split=r"[^.,]+|[.,]")
    assert [tok.token_bytes(i) for i in range(268, 272)] == [
        b"by the", b"by the way", b" in the", b" in the end",
    ]  # fmt: skip
    assert tok.pipeline.splitter == splitter(r"[^.,]+|[.,]")
    assert tok.merges[:12] == words.merges
    assert tok.encode("by the way in the end") == [269, 271]
    assert tok.training is not None
    assert tok.training.options["split"] == r"[^.,]+|[.,]"
    assert tok.training.tokens == len(tok.encode(PHRASES))
    # Without split= the words stay apart.
    assert further(words, 1, texts="in the in the").pipeline.splitter == splitter("gpt2")


def test_a_second_stage_on_counts_of_its_split() -> None:
    words = toksmith.train(texts=PHRASES, vocab_size=268, split="gpt2")
    counts = toksmith.Counts.from_texts(PHRASES, split=None)
    tok = further(words, 3, texts=None, counts=counts, split=None)
    assert tok.pipeline == further(words, 3, texts=PHRASES, split="none").pipeline
    assert tok.pipeline.splitter is None
    with pytest.raises(OptionError, match=r"cut by none, but the tokenizer cuts by gpt2"):
        further(words, 3, texts=None, counts=counts)


def test_a_second_stage_saved_and_loaded_cuts_as_before(tmp_path: Path) -> None:
    words = toksmith.train(texts=PHRASES, vocab_size=268, split="gpt2")
    tok = further(words, 4, texts=PHRASES, split=r"[^.,]+|[.,]")
    tok.save(tmp_path / "two.json", format="huggingface")
    loaded = toksmith.load(tmp_path / "two.json")
    for text in (PHRASES, "by the way", "in the end, by the. way"):
        assert loaded.encode(text) == tok.encode(text)


def test_continue_from_a_path_or_a_name(tmp_path: Path) -> None:
    tok = toksmith.train(texts=TEXTS, vocab_size=270, split="gpt2")
    tok.save(tmp_path / "a.tiktoken")
    wanted = further(tok, 3).pipeline
    for given in (tmp_path / "a.tiktoken", str(tmp_path / "a.tiktoken")):
        found = toksmith.train(texts=TEXTS, vocab_size=273, continue_from=given)
        assert found.merges[-3:] == toksmith.Tokenizer(wanted).merges[-3:]
    with pytest.raises(OptionError, match="is no tokenizer"):
        toksmith.train(texts=TEXTS, vocab_size=273, continue_from=5)  # type: ignore[call-overload]
    with pytest.raises(ToksmithError, match="no-such"):
        toksmith.train(texts=TEXTS, vocab_size=273, continue_from="no-such.model")


class TestWithinMemory:
    """A text that does not fit into memory gives the same tokenizer."""

    @pytest.fixture
    def corpus(self, tmp_path: Path) -> Path:
        rng = random.Random(5)
        lines = (" ".join(rng.choices(self.WORDS, k=9)) for _ in range(3000))
        path = tmp_path / "corpus.txt"
        path.write_text("\n".join(lines))
        return path

    WORDS = tuple("".join(random.Random(i).choices("abcdefgh", k=4)) for i in range(900))

    @pytest.mark.parametrize("split", ["gpt4", r"[^ ]+ [^ ]+|[^ ]+| "])
    def test_every_limit_gives_the_same(
        self, corpus: Path, tmp_path: Path, split: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        vocab = (*BYTES, *(bytes(pair) for pair in product(b"abcd", repeat=2)))
        tok = toksmith.Tokenizer(Pipeline(BPE(vocab, ())))  # merges will spell these tokens
        given = {"texts": None, "split": split}
        wanted = further(tok, 90, files=corpus, **given)
        assert wanted.training is not None
        assert wanted.vocab_size == tok.vocab_size + 90
        assert wanted.training.merges > 90
        monkeypatch.setattr(memory, "_TABLES", 0.0016)
        for options in ({}, {"threads": 1}, {"checkpoint": tmp_path / "kept"}):
            found = further(tok, 90, files=corpus, memory="64M", **options, **given)
            assert found.pipeline == wanted.pipeline
            assert found.training is not None
            assert found.training.spilled > 0
            assert found.training.chunks == wanted.training.chunks
            assert found.training.tokens == wanted.training.tokens
        counts = toksmith.Counts.from_files(corpus, split=split)
        again = further(tok, 90, texts=None, counts=counts, memory="1M", split=split)
        assert again.pipeline == wanted.pipeline
