"""Byte-level models after a normalizer: the kernel's ids against the reference's."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from tests import strategies
from tests.engines import assert_same_places
from tests.kits.bpe import pipeline
from toksmith import engine
from toksmith.engine.normalized import NormalizedEncoder
from toksmith.engine.stepwise import ReferenceEncoder, StepwiseEncoder
from toksmith.normalizers import (
    Bert,
    Lowercase,
    Nmt,
    Normalizer,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from toksmith.pipeline import Pipeline

NORMALIZERS: dict[str, Normalizer] = {
    **{form: (UnicodeForm(form),) for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "lowercase NFKC": (Lowercase(), UnicodeForm("NFKC")),
    "NFKC lowercase": (UnicodeForm("NFKC"), Lowercase()),
    "without accents": (UnicodeForm("NFD"), StripAccents(), UnicodeForm("NFC")),
    "replaced": (Replace("a", "bé"), Replace("中", ""), UnicodeForm("NFC")),
    "bert": (Bert(),),
    "nmt": (Nmt(), UnicodeForm("NFKC")),
}
# Marks of several classes, Hangul, forms that compose, decompose or grow, and plain text.
LETTERS = [
    *"aAeE \n<1",
    *"éÅÉ\u0301\u0327\u0316\u0308\u0345ﬁ①ﬃ\ufdfa\u212b\u2126\u0958",
    *"\u1100\u1161\u11a8각가\uac01ｶﾞﾟ",
    *"क\u093c\u094dखा\u09c7\u09be\u0e33\u0e49\u0b47\u0b57\u0b3e",
    *"中\u3099か\U0001d160\U0001d15f\U00011099\U000110ba\U0001e94a\U0001f600\ufffd\u2028\u1e9b\u0323İ",
]


def encoders(normalizer: Normalizer) -> tuple[NormalizedEncoder, ReferenceEncoder]:
    plain = pipeline()
    pipe = Pipeline(plain.model, plain.splitter, normalizer=normalizer)
    kernel = engine.compile(pipe)
    assert isinstance(kernel, NormalizedEncoder)
    return kernel, ReferenceEncoder(pipe)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_random_texts(name: str) -> None:
    kernel, reference = encoders(NORMALIZERS[name])
    rng = random.Random(31)
    texts = ["".join(rng.choices(LETTERS, k=rng.randint(0, 40))) for _ in range(300)]
    documents: list[str | bytes] = [*texts, *strategies.random_texts(32, 150)]
    documents += strategies.random_byte_texts(33, 150)
    documents += [text.encode()[rng.randint(0, 3) :] for text in texts[:150]]
    expected = reference.encode_texts(documents)
    for _ in range(2):  # the second time from the caches
        found = kernel.encode_texts(documents, 1)
        for document, ids, wanted in zip(documents, found, expected, strict=True):
            assert ids.tolist() == wanted.tolist(), document
    located = reference.encode_with_spans(documents)
    assert_same_places(kernel.encode_with_spans(documents, 2), located)
    for document, wanted in zip(documents[:200], expected, strict=False):
        assert kernel.encode_list(document) == wanted.tolist()
        assert kernel.count(document) == len(wanted)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_every_character_with_neighbours(form: str) -> None:
    kernel, reference = encoders(NORMALIZERS[form])
    # Of the long ranges of ideographs, syllables, private and old characters, one in eleven.
    points = [
        *(*range(0x80, 0x3400), *range(0x3400, 0xA000, 11), *range(0xA000, 0xAC00)),
        *(*range(0xAC00, 0xD800, 11), *range(0xE000, 0xF900, 11), *range(0xF900, 0x12000)),
        *(*range(0x12000, 0x16A00, 11), *range(0x16A00, 0x17000), *range(0x17000, 0x1BC00, 11)),
        *range(0x1BC00, 0x20000),
    ]
    text = "".join(f"a{chr(code)}\u0301 {chr(code)}" for code in points)
    assert kernel.encode_list(text) == reference.encode_list(text)


def test_segments_and_slices() -> None:
    kernel, reference = encoders(NORMALIZERS["NFKC"])
    data = "ae\u0301 ﬁ\u0301ﬃ é".encode()
    bounds = np.array([[0, 2], [2, 4], [5, len(data)], [3, 3]], np.int64)
    assert kernel.encode_slices(data, bounds) == reference.encode_slices(data, bounds)
    assert kernel.encode_segments(data, bounds) == reference.encode_segments(data, bounds)


@pytest.mark.parametrize("name", ["multilingual", "cjk"])
def test_corpora(name: str, corpus: Callable[..., bytes]) -> None:
    text = corpus(f"{name}.txt", 100_000, start=3_000_003)
    for normalizer in ("NFC", "NFKC", "without accents"):
        kernel, reference = encoders(NORMALIZERS[normalizer])
        assert kernel.encode_list(text, 2) == reference.encode_list(text)
        lines = text[:30_000].splitlines()
        assert_same_places(kernel.encode_with_spans(lines), reference.encode_with_spans(lines))


def test_steps_that_see_more_than_characters_run_one_by_one() -> None:
    plain = pipeline()
    pipe = Pipeline(plain.model, plain.splitter, normalizer=(Strip(), UnicodeForm("NFC")))
    assert isinstance(engine.compile(pipe), StepwiseEncoder)
