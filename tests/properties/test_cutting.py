"""Truncation and chunks: properties of every text, model kind and limit."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import toksmith
from tests import strategies
from tests.kits.pipelines import MODELS
from toksmith import Span, Tokenizer
from toksmith._base.text import utf8
from toksmith.errors import MissingExtraError, OptionError

TOKENIZERS = {name: Tokenizer(pipeline) for name, pipeline in MODELS.items()}
TOKENIZERS["bpe"] = toksmith.train(texts=["the cat in the hat, naïve 👋🏽 " * 9], vocab_size=275)
tokenizers = st.sampled_from(sorted(TOKENIZERS)).map(TOKENIZERS.__getitem__)
UNITS = ["token", "word", "sentence"] if find_spec("sentencex") else ["token", "word"]
"""Without the GIL, there is no sentencex."""
units = st.sampled_from(UNITS)
UNCUT = "Dr. Who sat. Incomprehensibilities!\n\nThe 👋🏽 hat."


@given(tokenizers, strategies.any_texts, st.integers(0, 20))
def test_the_end_of_a_text(tok: Tokenizer, text: str | bytes, limit: int) -> None:
    short = tok.truncate(text, limit, side="left")
    assert type(short) is type(text)
    assert text[len(text) - len(short) :] == short
    assert tok.count(short) <= limit
    if tok.count(text) <= limit:
        assert short == text


def _characters(text: str | bytes) -> tuple[str, Callable[[str], str | bytes]]:
    """Return a text as a string, and what makes of its parts the text's own type."""
    if isinstance(text, str):
        return text, str
    return text.decode("utf-8", "surrogateescape"), lambda part: part.encode(
        "utf-8", "surrogateescape"
    )


@given(tokenizers, strategies.any_texts, st.integers(1, 12), st.integers(0, 6), units)
@example(TOKENIZERS["bpe"], UNCUT, 9, 4, UNITS[-1])
@example(TOKENIZERS["bpe"], ":0À", 2, 1, "word")
@example(TOKENIZERS["bpe"], "\ud83d\ude00\ud83d" * 3, 4, 1, "word")
def test_chunks_cover_the_text(
    tok: Tokenizer, text: str | bytes, limit: int, overlap: int, at: str
) -> None:
    overlap = min(overlap, limit - 1)
    string, own = _characters(text)
    if any(tok.count(own(character)) > limit for character in string):
        with contextlib.suppress(OptionError):  # a cut may fall around it all the same
            tok.chunks(text, limit, overlap=overlap, at=at)  # type: ignore[arg-type]
        return
    chunks = tok.chunks(text, limit, overlap=overlap, at=at)  # type: ignore[arg-type]
    for chunk in chunks:
        assert tok.count(chunk.text) == chunk.tokens <= limit
        assert chunk.text == own(string[chunk.span.start : chunk.span.end])
    spans = [chunk.span for chunk in chunks]
    assert [span.start for span in spans[:1]] == ([0] if text else [])
    assert [span.end for span in spans[-1:]] == ([len(string)] if text else [])
    for before, after in pairwise(spans):
        assert before.start < after.start <= before.end < after.end
        assert tok.count(own(string[after.start : before.end])) <= overlap
    if not overlap:
        assert text[:0].join(chunk.text for chunk in chunks) == text  # type: ignore[arg-type]


@given(strategies.texts, st.integers(4, 12), st.sampled_from(UNITS[1:]))
@example(UNCUT, 8, "word")
def test_chunks_end_at_units_where_these_fit(text: str, limit: int, at: str) -> None:
    tok = TOKENIZERS["bpe"]
    find = toksmith.words if at == "word" else toksmith.sentences
    bounds = find(text).bounds.tolist()
    for chunk in tok.chunks(text, limit, at=at)[:-1]:  # type: ignore[arg-type]
        if chunk.span.end not in bounds:
            start = max(bound for bound in bounds if bound < chunk.span.end)
            end = min(bound for bound in bounds if bound > chunk.span.end)
            assert tok.count(text[max(start, chunk.span.start) : end]) > limit


class TestByHand:
    TOK = toksmith.train(texts=["low low lower lower er er"], vocab_size=260, split="gpt2")

    def test_tokens(self) -> None:
        assert self.TOK.encoding("low lower low").strings == ["low", "·low", "er", "·low"]
        chunks = self.TOK.chunks("low lower low", 2)
        assert [(each.text, each.span, each.tokens) for each in chunks] == [
            ("low low", Span(0, 7), 2),
            ("er low", Span(7, 13), 2),
        ]
        assert [each.text for each in self.TOK.chunks("low lower low", 3, overlap=2)] == [
            "low lower",
            " lower low",
        ]
        assert self.TOK.chunks("", 5) == []

    def test_words(self) -> None:
        texts = [each.text for each in self.TOK.chunks("low lower low", 2, at="word")]
        assert texts == ["low ", "lower", " low"]

    @pytest.mark.skipif("sentence" not in UNITS, reason="sentencex is not installed")
    def test_sentences_then_words_then_tokens(self) -> None:
        chunks = self.TOK.chunks("Low. Low lower low low. xxxxxxxxxxxx", 8, at="sentence")
        assert [each.text for each in chunks] == [
            "Low. ", "Low lower low low.", " ", "xxxxxxxx", "xxxx",
        ]  # fmt: skip

    def test_the_end_is_kept(self) -> None:
        assert self.TOK.truncate("low lower low", 2, side="left") == "er low"
        assert self.TOK.truncate(b"low \xff low", 3, side="left") == b" \xff low"
        assert self.TOK.truncate("low", 0, side="left") == ""
        assert self.TOK.truncate("low " * 10**7, 2, side="left") == " low "

    def test_special_tokens_stay_whole(self) -> None:
        tok = toksmith.train(texts=["low"], vocab_size=259, special_tokens=["<|end|>"])
        chunks = tok.chunks("low<|end|>low<|end|>", 3, special="encode")
        assert [each.text for each in chunks] == ["low<|end|>low", "<|end|>"]
        with pytest.raises(toksmith.errors.SpecialTokenError, match="at byte 3"):
            tok.chunks("low<|end|>low", 3, special="raise")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"max_tokens": 0}, "max_tokens is 0: use 1 or more"),
            ({"max_tokens": 2, "overlap": 2}, "overlap is 2 and max_tokens is 2: a chunk must"),
            ({"max_tokens": 2, "overlap": -1}, "overlap is -1: use 0 or more"),
            ({"max_tokens": 2, "at": "line"}, "at is 'line': use one of 'token', 'word', 'sent"),
            ({"max_tokens": 3, "text": "é👋"}, r"character '\\U0001f44b' at 1 has 4 tokens"),
        ],
    )
    def test_invalid_options(self, options: dict[str, object], message: str) -> None:
        with pytest.raises(OptionError, match=message):
            self.TOK.chunks(**{"text": "low", **options})  # type: ignore[type-var]
        with pytest.raises(OptionError, match="side is 'top'"):
            self.TOK.truncate("low", 1, side="top")  # type: ignore[arg-type]

    def test_without_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import sys

        monkeypatch.setitem(sys.modules, "sentencex", None)
        with pytest.raises(MissingExtraError, match=r"toksmith\[segment\]"):
            self.TOK.chunks("low lower low", 2, at="sentence")


@pytest.mark.parametrize("at", UNITS)
def test_long_texts_take_linear_time(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(count: Callable[..., int], work: list[int], part: str, **options: object) -> int:
        work.append(len(part))
        return count(part, **options)

    tok = TOKENIZERS["bpe"]
    for text in ("the cat. In the hat, naïve? " * 180_000, "abcdefghij" * 100_000):
        work: list[int] = []
        monkeypatch.setattr(tok, "count", partial(counted, tok.count, work))
        chunks = tok.chunks(text, 512, overlap=50, at=at)  # type: ignore[arg-type]
        monkeypatch.undo()
        assert max(chunk.tokens for chunk in chunks) <= 512
        assert sum(work) < 6 * len(text)
        assert len(utf8(text)) > 10**6 - 1
