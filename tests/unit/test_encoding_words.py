"""The words of an encoding's tokens: the chunks that the reference makes of the text."""

from __future__ import annotations

from itertools import chain, repeat

import pytest

from tests.kits.pipelines import PIPELINES, TEXTS
from toksmith.engine.stepwise import ReferenceEncoder
from toksmith.models import BPE, LongestMatch
from toksmith.normalizers import Precompiled
from toksmith.pipeline import Pipeline
from toksmith.splitters import Digits, Metaspace, PatternSplitter, SplitterSequence, WhitespaceSplit
from toksmith.stages.charsmap_building import compile_charsmap
from toksmith.tokenizer import Tokenizer

MARK = "\u2581"
LETTERS = (b"<unk>", b"a", b"b", b"low", MARK.encode(), (MARK + "low").encode())
CHARSMAP = compile_charsmap({"\t": " ", "é": "e", "a\u0301": "á", "x": "", "\r\n": ""})
FOUND = {
    **PIPELINES,
    "missing bytes": Pipeline(BPE((b"a", b"b", b"low"), []), PatternSplitter(r"\w+| ")),
    "bytes": Pipeline(LongestMatch(tuple(bytes([b]) for b in range(256)), unit="bytes")),
    "first mark": Pipeline(
        LongestMatch(LETTERS, 0),
        SplitterSequence((WhitespaceSplit(), Digits(), Metaspace(prepend="first"))),
    ),
    "map": Pipeline(LongestMatch(LETTERS, 0), Metaspace(), normalizer=(Precompiled(CHARSMAP),)),
}
MORE = (*TEXTS, "x low", "a\r\nxx b\tlow12 7", "a\u0301 éx\u0301", " low  low ", "\r\n")


@pytest.mark.parametrize("name", FOUND)
def test_words_are_the_chunks_of_the_reference(name: str) -> None:
    pipeline = FOUND[name]
    reference = ReferenceEncoder(pipeline)
    tok = Tokenizer(pipeline)
    for text in MORE:
        if any(literal in text for literal in pipeline.framing.literals("text")):
            continue
        sizes = reference.sizes(text)
        words = [*chain(*(repeat(word, size) for word, size in enumerate(sizes)))]
        encoding = tok.encoding(text)
        assert encoding.words == words, text
        assert len(encoding.ids) == len(words)


def test_a_text_without_a_splitter_is_one_word() -> None:
    """Its words are found without its normalized text."""
    tok = Tokenizer(PIPELINES["plain sentencepiece-bpe"])
    assert tok.encoding("low " * 50_000).words == [0] * tok.count("low " * 50_000)
    assert tok.encoding("").words == []
