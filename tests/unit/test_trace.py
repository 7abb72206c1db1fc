"""Explanations: the steps and the text that explain() returns."""

from __future__ import annotations

import pytest

import toksmith
from tests.kits.bpe import HELLO_BPE
from tests.kits.pipelines import MODELS, TEXTS
from toksmith._base.arrays import Span
from toksmith.engine.stepwise import ReferenceEncoder
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE, LongestMatch, WordLevel, WordPiece
from toksmith.normalizers import Lowercase, Prepend
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, splitter
from toksmith.tokenizer import Tokenizer
from toksmith.trace.explain import explain
from toksmith.trace.models import stepper
from toksmith.trace.steps import MatchStep, PathStep, Steps, UnknownWordStep


def test_steps() -> None:
    explanation = explain(Pipeline(HELLO_BPE, splitter("gpt2")), "Hello é")
    hello, accent = explanation.chunks
    assert (hello.text, hello.span, hello.whole) == (b"Hello", Span(0, 5), False)
    assert [step.pair for step in hello.steps] == [(108, 108), (101, 256), (72, 257)]
    assert [step.rank for step in hello.steps] == [0, 1, 2]
    assert [step.position for step in hello.steps] == [2, 1, 0]
    assert hello.steps[0].before == hello.start == (72, 101, 108, 108, 111)
    assert hello.steps[0].after == hello.steps[1].before == (72, 101, 256, 111)
    assert hello.ids == (258, 111)
    assert accent.span == Span(5, 8)
    assert explanation.ids == [258, 111, 32, 0xC3, 0xA9]
    assert explanation.tokens == [b"Hell", b"o", b" ", b"\xc3", b"\xa9"]


def test_it_reads_at_a_glance() -> None:
    pipeline = Pipeline(HELLO_BPE, splitter("gpt2"))
    assert str(explain(pipeline, "Hello!")).splitlines() == [
        "'Hello!': 6 bytes, 2 chunks, 3 tokens",
        "",
        "chunk 1: 'Hello'",
        "    H e l l o",
        "    H e ll o    l + l, merge 0",
        "    H ell o     e + ll, merge 1",
        "    Hell o      H + ell, merge 2",
        "  = Hell 258, o 111",
        "",
        "chunk 2: '!'",
        "    !",
        "  = ! 33",
    ]


def test_whole_chunks_and_added_tokens() -> None:
    framing = Framing((AddedToken("<x>", 300, special=False), AddedToken("<s>", 301)))
    model = BPE(HELLO_BPE.vocab, HELLO_BPE.merges[:0], whole_chunk_first=True)
    explanation = explain(Pipeline(model, splitter("gpt2"), framing), "Hell<x><s>")
    assert explanation.ids == [258, 300, ord("<"), ord("s"), ord(">")]
    assert [chunk.whole for chunk in explanation.chunks] == [True] * 5
    assert explanation.chunks[1].span == Span(4, 7)
    assert "chunk 2: '<x>'\n    is a token as it stands\n  = <x> 300" in str(explanation)


def test_nothing() -> None:
    explanation = explain(Pipeline(HELLO_BPE), "")
    assert explanation.ids == []
    assert str(explanation) == "'': 0 bytes, 0 chunks, 0 tokens"


WORDS = PatternSplitter(r"\S+", gaps="drop")


def lines(pipeline: Pipeline, text: str) -> list[str]:
    return str(explain(pipeline, text)).splitlines()


def test_wordpiece() -> None:
    vocab = (b"[UNK]", b"un", b"u", b"##aff", b"##able")
    pipeline = Pipeline(WordPiece(vocab, 0, max_characters=12), WORDS)
    assert lines(pipeline, "unaffable") == [
        "'unaffable': 9 bytes, 1 chunk, 3 tokens",
        "",
        "chunk 1: 'unaffable'",
        "    un        is the longest token at 'unaffable'",
        "    ##aff     is the longest token at 'affable'",
        "    ##able    is the longest token at 'able'",
        "  = un 1, ##aff 3, ##able 4",
    ]
    assert lines(pipeline, "unxaff unununununaff")[2:] == [
        "chunk 1: 'unxaff'",
        "    un        is the longest token at 'unxaff'",
        "    unxaff    is unknown as a whole: no token fits at 'xaff'",
        "  = [UNK] 0",
        "",
        "chunk 2: 'unununununaff'",
        "    unununununaff    is unknown as a whole: it has too many characters",
        "  = [UNK] 0",
    ]
    un, unknown = explain(pipeline, "unxaff").chunks[0].steps
    assert un == MatchStep(b"unxaff", b"un", 2, (b"unxaff", b"unxaf", b"unxa", b"unx"))
    tried = (b"##xaff", b"##xaf", b"##xa", b"##x")
    assert unknown == UnknownWordStep(b"unxaff", b"xaff", tried)


def test_longest_match() -> None:
    pipeline = Pipeline(LongestMatch((b"<UNK>", b"t", b"th", b"he"), 0))
    assert lines(pipeline, "thex")[3:] == [
        "    th    is the longest token at 'thex'",
        "    e     is unknown",
        "    x     is unknown",
        "  = th 2, <UNK> 0, <UNK> 0",
    ]
    silent = explain(Pipeline(LongestMatch((b"t", b"he"))), "xxthexx")
    assert [step.size for step in silent.chunks[0].steps] == [2, 1, 2, 2]
    assert silent.tokens == [b"t", b"he"]


def test_words() -> None:
    pipeline = Pipeline(WordLevel((b"the",)), WORDS)
    assert lines(pipeline, "the they")[2:] == [
        "chunk 1: 'the'",
        "    is a token as it stands",
        "  = the 0",
        "",
        "chunk 2: 'they'",
        "    they    is unknown",
        "  = no token",
    ]


def test_a_long_chunk_shows_what_is_around_the_merge() -> None:
    shown = lines(Pipeline(HELLO_BPE), "x" * 60 + "ll" + "y" * 60)
    assert shown[3] == "    " + " ".join("x" * 13) + " …"
    assert (
        shown[4] == "    … " + " ".join(["x"] * 12 + ["ll"] + ["y"] * 12) + " …    l + l, merge 0"
    )


def test_bytes_that_are_no_utf8() -> None:
    assert explain(Pipeline(HELLO_BPE), b"l\xff").ids == [108, 255]
    assert explain(Pipeline(WordLevel((b"\xef\xbf\xbd",))), b"\xff").ids == [0]


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_is_explained(kind: str) -> None:
    encoder = ReferenceEncoder(MODELS[kind])
    for text in TEXTS:
        explanation = explain(MODELS[kind], text)
        assert explanation.ids == encoder.encode_list(text)
        assert str(explanation).count("\nchunk ") == len(explanation.chunks)
    assert any(chunk.steps for text in TEXTS for chunk in explain(MODELS[kind], text).chunks)


def test_sentencepiece_bpe() -> None:
    pipeline = MODELS["sentencepiece-bpe"]
    assert lines(pipeline, "▁low<u>r")[3:] == [
        "    ▁ l o w <u> r",
        "    ▁ lo w <u> r    l + o, score -1",
        "    ▁ low <u> r     lo + w, score -2",
        "    ▁low <u> r      ▁ + low, score -4",
        "  = ▁low 16, <u> 2, r 12",
    ]
    assert lines(pipeline, "abc")[3:] == [
        "    a b c",
        "    ab c    a + b, score -6",
        "    abc     ab + c, score -5",
        "    ab c    abc is unused: it is taken apart",
        "  = ab 18, c 5",
    ]
    assert explain(pipeline, "abc").chunks[0].start == (b"a", b"b", b"c")


def test_unigram_has_a_runner_up() -> None:
    explanation = explain(MODELS["unigram"], "low")
    best, other = explanation.chunks[0].steps
    assert isinstance(best, PathStep)
    assert isinstance(other, PathStep)
    assert (best.pieces, best.score, best.best) == ((b"low",), -2.0, True)
    assert (other.pieces, other.scores, other.best) == ((b"lo", b"w"), (-1.0, -11.0), False)
    assert lines(MODELS["unigram"], "low")[3:] == [
        "    low     the best way: -2 = -2",
        "    lo w    the best of all others: -1 -11 = -12",
        "  = low 15",
    ]
    assert len(explain(MODELS["unigram"], "a").chunks[0].steps) == 1


def test_character_bpe() -> None:
    assert lines(MODELS["character-bpe"], "lowx")[3:] == [
        "    l o w <unk>",
        "    lo w <unk>    l + o, merge 0",
        "    low <unk>     lo + w, merge 1",
        "  = low 12, <unk> 0",
    ]


def test_a_long_way_shows_where_the_runner_up_parts_from_it() -> None:
    text = "a" * 50 + "low" + "a" * 50
    best, other = explain(MODELS["unigram"], text).chunks[0].steps
    assert isinstance(other, PathStep)
    assert other.position == 50
    assert other.pieces[49:53] == (b"a", b"lo", b"w", b"a")
    shown = lines(MODELS["unigram"], text)
    assert shown[3].startswith("    " + "a " * 50 + "low a")
    assert shown[3].endswith(f"the best way: {best.score:.6g}")
    assert shown[4].startswith("    … " + "a " * 12 + "lo w " + "a " * 11 + "… ")


def test_spans_speak_of_the_original() -> None:
    pipeline = Pipeline(WordLevel((b"e", b"f"), 0), WORDS, normalizer=(Prepend("e "),))
    explanation = explain(pipeline, "é f")
    assert explanation.normalized == "e é f".encode()
    assert [chunk.span for chunk in explanation.chunks] == [Span(0, 2), Span(0, 2), Span(3, 4)]
    assert lines(pipeline, "é f")[1] == "normalized: 'e·é·f'"


def test_added_tokens_are_found_in_normalized_text() -> None:
    framing = Framing((AddedToken("New", 3, special=False, normalized=True),))
    pipeline = Pipeline(
        WordLevel((b"a", b"b", b"<unk>"), 2), WORDS, framing, normalizer=(Lowercase(),)
    )
    explanation = explain(pipeline, "A NEW b")
    assert explanation.tokens == [b"a", b"New", b"b"]
    assert explanation.ids == Tokenizer(pipeline).encode("A NEW b")
    assert [chunk.whole for chunk in explanation.chunks] == [True, True, True]
    assert explanation.chunks[1].span == Span(2, 5)


def test_printing_a_long_explanation_is_limited() -> None:
    tok = toksmith.train(texts=["hello world hello"], vocab_size=262)
    shown = str(tok.explain("hello world " * 3000))
    assert len(shown) < 20_000
    assert shown.endswith("more chunks: .chunks has all of them")
    assert "chunk 100: " in shown
    assert "chunk 101: " not in shown


def test_printing_one_long_chunk_is_limited() -> None:
    tok = toksmith.train(texts=["abab"], vocab_size=257, split=None)
    explanation = tok.explain("ab" * 2000)
    shown = str(explanation)
    assert "    … 1,500 more steps: .chunks[0].steps has all of them" in shown
    assert shown.endswith("ab 256, … 1,800 more tokens")
    assert len(explanation.chunks[0].steps) == 2000
    assert shown.count("merge 0") == 500


def test_a_model_of_another_kind_records_no_steps() -> None:
    assert stepper(object())(b"low") == Steps()  # type: ignore[arg-type]
