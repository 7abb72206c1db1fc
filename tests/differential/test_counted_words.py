"""Words counted in blocks, ASCII ones in the kernel, against counts of single documents."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from toksmith.normalizers import Bert, Lowercase, Normalizer, Replace, StripAccents, UnicodeForm
from toksmith.splitters import (
    BertSplitter,
    ByteSpelling,
    CharacterDelimiter,
    Digits,
    FixedLength,
    LeadingSpace,
    Metaspace,
    Punctuation,
    Split,
    Splitter,
    SplitterSequence,
    Whitespace,
    WhitespaceSplit,
)
from toksmith.splitters import splitter as splitter_of
from toksmith.stages.normalize import normalize
from toksmith.stages.split_classes import split_text
from toksmith.trainers.counting import bulk_splitting
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.words import count_words

NORMALIZERS: list[Normalizer] = [
    (Bert(),),
    (Bert(lowercase=False, strip_accents=True),),
    (UnicodeForm("NFD"), StripAccents(), Lowercase()),
]
CHARACTERS = [*"abcXYZ019_.,!?'\"-<\t\r\n\x00\x01\x1f\x7f", *"  \n", *"éß\u0301ﬁ中\u00a0\u200b😀‽"]


GPT2 = splitter_of("gpt2")
SPLITTERS: list[Splitter] = [
    BertSplitter(),
    Whitespace(),
    WhitespaceSplit(),
    SplitterSequence((Whitespace(), Digits(individual=True))),
    SplitterSequence((WhitespaceSplit(), Punctuation("removed"), Digits())),
    SplitterSequence((WhitespaceSplit(), CharacterDelimiter("‽"))),
    SplitterSequence((Punctuation(), Digits())),
]


IN_STEPS: list[Splitter] = [
    SplitterSequence((LeadingSpace(), GPT2, ByteSpelling())),
    SplitterSequence((Split(r"[a-z]+|[.,!]"), Digits(individual=True), ByteSpelling())),
    SplitterSequence((Split("X"), Metaspace(), WhitespaceSplit())),
    SplitterSequence((Split("X"), Metaspace(prepend="first"))),
    Metaspace(),
    Metaspace("_", "never"),
    SplitterSequence((LeadingSpace(), Metaspace(split=False), Digits())),
    SplitterSequence((LeadingSpace(), Metaspace(prepend="never"), Digits())),
    SplitterSequence((Split("X", "removed"), LeadingSpace(), GPT2)),
    LeadingSpace(),
    FixedLength(5),
]


@pytest.mark.parametrize("splitter", IN_STEPS)
@pytest.mark.parametrize(
    "normalizer", [(), (Replace("a ", "b"),), (UnicodeForm("NFC"), Lowercase())]
)
def test_words_of_steps(normalizer: Normalizer, splitter: Splitter) -> None:
    check(normalizer, splitter, 10)


@pytest.mark.parametrize("splitter", [Metaspace(), Metaspace("é"), IN_STEPS[0]])
def test_words_in_bulk(splitter: Splitter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_splitting, "_BLOCK", 3)
    documents: list[str | bytes] = [
        "ein Wort, b Ein",
        "  é\u2581 wort\u2581\u2581x ",
        "",
        " ",
        "日本 \x00\x7f",
        b"\xff a\xe4\xb8",
    ]
    wanted: Counter[str] = Counter()
    for document in documents:
        text = document.decode("utf-8", "replace") if isinstance(document, bytes) else document
        wanted.update(split_text(splitter, normalize((Lowercase(),), text)))
    corpus = Corpus(texts=documents, progress=False)
    found = count_words(corpus, (Lowercase(),), splitter)
    assert {word.decode(): count for word, count in found} == wanted


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_words(normalizer: Normalizer, splitter: Splitter) -> None:
    check(normalizer, splitter, 40)


def in_order(counts: Counts) -> dict[str, int]:
    return {word.decode(): count for word, count in counts}


MANY_SCRIPTS = [*"aÀ Σς.жй्कतो한각각ไทยكاّがﷺ̧́ͅ�ǅİ𝐀\n"]


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("normalizer", [(), *NORMALIZERS, (UnicodeForm("NFKC"), Lowercase())])
def test_words_of_many_scripts(normalizer: Normalizer, splitter: Splitter) -> None:
    rng = random.Random(8)
    documents = ["".join(rng.choices(MANY_SCRIPTS, k=rng.randrange(300))) for _ in range(30)]
    wanted: Counter[str] = Counter()
    for document in documents:
        wanted.update(split_text(splitter, normalize(normalizer, document)))
    wanted.pop("", None)
    orders = []
    for threads in (1, 3):
        corpus = Corpus(texts=documents, threads=threads, progress=False)
        found = in_order(count_words(corpus, normalizer, splitter))
        assert found == wanted
        orders.append([*found])
    assert orders[0] == orders[1]


@pytest.mark.parametrize("normalizer", [NORMALIZERS[0], (Lowercase(),)])
def test_words_of_invalid_utf8(normalizer: Normalizer) -> None:
    documents: list[bytes] = [
        b"one \xe4\xb8two \xff\xe4\xb8\xadx\xe4",
        "жук \ud83d".encode("utf-8", "surrogatepass"),
    ]
    wanted: Counter[str] = Counter()
    for document in documents:
        wanted.update(
            split_text(
                WhitespaceSplit(), normalize(normalizer, document.decode("utf-8", "replace"))
            )
        )
    corpus = Corpus(texts=documents, progress=False)
    assert in_order(count_words(corpus, normalizer, WhitespaceSplit())) == wanted


def check(normalizer: Normalizer, splitter: Splitter, count: int) -> None:
    rng = random.Random(7)
    plain = CHARACTERS[: CHARACTERS.index("é")]
    for characters in (plain, CHARACTERS):
        documents = ["".join(rng.choices(characters, k=rng.randrange(400))) for _ in range(count)]
        documents.append("a word")
        wanted: Counter[str] = Counter()
        for document in documents:
            wanted.update(split_text(splitter, normalize(normalizer, document)))
        wanted.pop("", None)
        for threads in (1, 3):
            corpus = Corpus(texts=documents, threads=threads, progress=False)
            assert in_order(count_words(corpus, normalizer, splitter)) == wanted
