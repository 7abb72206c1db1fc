"""Words counted in blocks, ASCII ones in the kernel, against counts of single documents."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from toksmith.normalizers import Bert, Lowercase, Normalizer, StripAccents, UnicodeForm
from toksmith.splitters import (
    BertSplitter,
    CharacterDelimiter,
    Digits,
    Punctuation,
    Splitter,
    SplitterSequence,
    Whitespace,
    WhitespaceSplit,
)
from toksmith.stages.normalize import normalize
from toksmith.stages.split_classes import split_text
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.word_counts import count_words

NORMALIZERS: list[Normalizer] = [
    (Bert(),),
    (Bert(lowercase=False, strip_accents=True),),
    (UnicodeForm("NFD"), StripAccents(), Lowercase()),
]
CHARACTERS = [*"abcXYZ019_.,!?'\"-<\t\r\n\x00\x01\x1f\x7f", *"  \n", *"éß\u0301ﬁ中\u00a0\u200b😀‽"]


SPLITTERS: list[Splitter] = [
    BertSplitter(),
    Whitespace(),
    WhitespaceSplit(),
    SplitterSequence((Whitespace(), Digits(individual=True))),
    SplitterSequence((WhitespaceSplit(), Punctuation("removed"), Digits())),
    SplitterSequence((WhitespaceSplit(), CharacterDelimiter("‽"))),
    SplitterSequence((Punctuation(), Digits())),
]


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_words(normalizer: Normalizer, splitter: Splitter) -> None:
    rng = random.Random(7)
    plain = CHARACTERS[: CHARACTERS.index("é")]
    for characters in (plain, CHARACTERS):
        documents = ["".join(rng.choices(characters, k=rng.randrange(400))) for _ in range(40)]
        documents.append("a word")
        wanted: Counter[str] = Counter()
        for document in documents:
            wanted.update(split_text(splitter, normalize(normalizer, document)))
        wanted.pop("", None)
        for threads in (1, 3):
            corpus = Corpus(texts=documents, threads=threads, progress=False)
            assert count_words(corpus, normalizer, splitter) == wanted
