"""The published kinds of tokenizer.json with a Unigram model run in the kernel, as `tokenizers`."""

from __future__ import annotations

import base64
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests import strategies
from toksmith import engine
from toksmith.engine import portable
from toksmith.engine.fused import FusedEncoder
from toksmith.engine.leading import LeadingEncoder
from toksmith.measure.hard_texts import hard_texts
from toksmith.stages.charsmap_building import compile_charsmap
from toksmith.stages.charsmap_rules import charsmap_of

tokenizers = pytest.importorskip("tokenizers")

MARK = "\u2581"


def replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def compiled(charsmap: bytes) -> dict[str, Any]:
    return {
        "type": "Precompiled",
        "precompiled_charsmap": base64.b64encode(charsmap).decode(),
    }


def strip(left: bool = True, right: bool = True) -> dict[str, Any]:
    return {"type": "Strip", "strip_left": left, "strip_right": right}


def sequence(*parts: dict[str, Any] | str) -> dict[str, Any]:
    steps = [{"type": part} if isinstance(part, str) else part for part in parts]
    return {"type": "Sequence", "normalizers": steps}


def metaspace(scheme: str = "always", split: bool = True) -> dict[str, Any]:
    return {
        "type": "Metaspace",
        "replacement": MARK,
        "prepend_scheme": scheme,
        "split": split,
    }


WORDS = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace()]}
UNSPLIT_WORDS = {
    "type": "Sequence",
    "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace(split=False)],
}
NMT = compiled(charsmap_of("nmt_nfkc"))
NFKC = compiled(charsmap_of("nfkc"))  # leaves marks, line breaks and zero-width spaces
ODD = compiled(
    compile_charsmap(
        {"\t": " ", "e\u0301": "é", "a": "", "\uff9f": "\u309a", "\u3000": "\u2581", "\u0301": " "}
    )
)
SPACES = replace(" {2,}", " ", "Regex")
MARKS = replace(" {2,}", MARK, "Regex")
QUOTES = (replace("``", '"'), replace("''", '"'))
ENDS = strip(left=False)

# Normalizer and pre-tokenizer.
KINDS: dict[str, tuple[dict[str, Any] | None, dict[str, Any]]] = {
    "t5": (NMT, WORDS),
    "t5 without map": (None, WORDS),
    "t5 unsplit": (NFKC, UNSPLIT_WORDS),
    "t5 of v4": (sequence(NMT, ENDS, MARKS), metaspace()),
    "t5 of v4 without map": (sequence(ENDS, MARKS), metaspace()),
    "mt5": (sequence(NFKC, ENDS, MARKS), metaspace()),
    "nllb": (sequence(NMT, SPACES), metaspace("first")),
    "xlm-r": (sequence(NFKC, SPACES), metaspace()),
    "xlm-r of v5": (sequence(replace("\n", " "), NFKC, strip(), SPACES), metaspace()),
    "albert": (sequence(*QUOTES, "NFKD", "StripAccents", "Lowercase", NMT), WORDS),
    "albert of v4": (
        sequence(*QUOTES, "NFKD", "StripAccents", "Lowercase", NMT, SPACES),
        metaspace(),
    ),
    "xlnet": (sequence(*QUOTES, NFKC, SPACES), WORDS),
    "deberta": (sequence(strip(), NMT, SPACES), metaspace()),
    "deberta without collapsing": (sequence(strip(), "Lowercase", NFKC), metaspace()),
    "never": (sequence(NMT, ENDS, MARKS), metaspace("never")),
    "unsplit": (sequence(NMT, SPACES), metaspace(split=False)),
    "odd words": (sequence(ODD, "Lowercase", strip(), SPACES), WORDS),
    "odd": (sequence(ODD, ENDS, MARKS), metaspace()),
    "odd both": (sequence(ODD, strip(), SPACES), metaspace()),
}


@cache
def vocab() -> list[tuple[str, float]]:
    rng = random.Random(3)
    words = ["the", "in", "of", "an", "he", "é", "한", "国", "''", "``", '"', "12", "नम", "..", "ﬁ"]
    letters = [*"abcdefghilmnorstuwx.,'\" -", *"éèüабвгの日本한국नमสไא", "\u0301", "\u0308", MARK]
    pieces = [*letters, *words, *(MARK + word for word in words), *(MARK + c for c in letters)]
    return [("<unk>", 0.0), *((each, -rng.uniform(2, 9)) for each in dict.fromkeys(pieces))]


def written(path: Path, kind: str) -> Path:
    normalizer, splitter = KINDS[kind]
    whole = dict.fromkeys(("truncation", "padding", "post_processor", "decoder")) | {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": normalizer,
        "pre_tokenizer": splitter,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab()},
    }
    path.write_text(json.dumps(whole))
    return path


def texts() -> list[str]:
    rng = random.Random(11)
    pool = (
        " \u2581\t\n\r\x85\xa0\u3000\u200b\ufeffabAz.'`\"e\u0301\u0308\ufdfa\u1112\u1161\u11ab한日ﬁ"
        "\xa8\xb4\uff9f\uff76\ufffd\0\x07\x1cÀé\u0627\u0653\u0915\u093c\u200d\U0001f600\ufe0f"
    )
    short = ["".join(rng.choices(pool, k=rng.randint(0, 12))) for _ in range(80)]
    doubled = [text.replace("'", "''").replace("`", "``") + "''``'" for text in short[:20]]
    everywhere = ["".join(map(chr, range(start, start + 60))) for start in range(0, 0xD000, 2999)]
    found = [
        *(short + doubled + everywhere + hard_texts(count=20)[::17]),
        *strategies.random_texts(9, 10),
        *(
            "``a b''",
            "'''",
            " ``",
            "  a",
            "a  ",
            " \u2581a",
            "\u2581 a",
            "a \u2581",
            "\u3000",
            "\r\na",
            "a\r\n b",
            "",
        ),
    ]
    return [text for text in found if not any("\ud800" <= c <= "\udfff" for c in text)]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_and_spans(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "tokenizer.json", kind)
    tok = toksmith.load(path)
    assert tok.engine.startswith("kernel, normalizer"), tok.engine
    given = texts()
    theirs = tokenizers.Tokenizer.from_file(str(path)).encode_batch(given)
    ids = [each.ids for each in theirs]
    assert tok.encode_batch(given).to_lists() == ids
    assert [tok.encode(text.encode()) for text in given] == ids
    for text, found, peer in zip(given, tok.encodings(given, threads=2), theirs, strict=True):
        assert found.ids == peer.ids
        assert list(map(tuple, found.spans.tolist())) == peer.offsets, text
    data = [text.encode() for text in given[::5]]
    assert tok.encodings(data) == tok.encodings(given[::5])


def test_the_kernel_runs_all_but_a_few_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ["It isn't  ``so'' \u2014 नमस्ते हिन्दी ภาษาไทย, e\u0301te\u0301\n한국어.\t 日本\u3000 "]
    for kind in KINDS:
        tok = toksmith.load(written(tmp_path / "tokenizer.json", kind))
        encoder = engine.compile(tok.pipeline)
        if isinstance(encoder, LeadingEncoder):
            encoder = encoder.inner  # type: ignore[assignment]
        assert isinstance(encoder, FusedEncoder)
        monkeypatch.setattr(encoder, "_make_stepwise", pytest.fail)
        encoder.encode_texts(plain, 1)
        encoder.encode_with_spans(plain, 1)


def test_reasons(tmp_path: Path) -> None:
    path = written(tmp_path / "tokenizer.json", "t5")
    whole = json.loads(path.read_text())
    mark = {"type": "Prepend", "prepend": MARK}
    for normalizer, splitter, reason in (
        (None, None, "needs a pre-tokenizer"),
        (replace("a|b", "", "Regex"), metaspace(), "looks beyond single characters"),
        (sequence(mark, replace(" ", MARK)), metaspace(), "both Prepend and Metaspace"),
        (sequence(strip(), NMT), metaspace("first"), "depends on the whole text"),
    ):
        path.write_text(json.dumps(whole | {"normalizer": normalizer, "pre_tokenizer": splitter}))
        assert reason in toksmith.load(path).engine


SCORES = [
    *("0.1", "-0", "-0.0", "1e5", "1E+5", "3e-320", "-2.5e-310", "1e308", "12", "1e-400"),
    *("-3.8925904293042066", "-0.29405141363161524", "0.000000000000000000000123456789012345678"),
    *("18446744073709551615", "18446744073709551616", "-123456789.01234567890123456789e-5"),
    *(f"{-10 * random.Random(place).random():.17g}" for place in range(300)),
    *(f"{-10 * random.Random(place).random():.25f}" for place in range(300)),
]  # fmt: skip


def unigram(scores: list[str]) -> str:
    vocab = ", ".join(f'["{"a" * place}", {score}]' for place, score in enumerate(scores, 1))
    return f'{{"model": {{"type": "Unigram", "unk_id": null, "vocab": [{vocab}]}}}}'


def test_scores_are_read_as_the_library_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not round decimal numbers to the nearest double."""
    path = tmp_path / "tokenizer.json"
    path.write_text(unigram(SCORES))
    theirs = json.loads(tokenizers.Tokenizer.from_file(str(path)).to_str())["model"]["vocab"]
    expected = [score for _, score in theirs]
    assert expected != [*map(float, SCORES)]
    assert list(toksmith.load(path).pipeline.model.scores) == expected
    # The reader in Python only knows the shortest digits, which `tokenizers` and Python write.
    monkeypatch.setattr(portable, "read_token_ids", lambda data: None)
    path.write_text(unigram([repr(float(score)) for score in SCORES]))
    theirs = json.loads(tokenizers.Tokenizer.from_file(str(path)).to_str())["model"]["vocab"]
    assert list(toksmith.load(path).pipeline.model.scores) == [score for _, score in theirs]


def test_sums_of_the_same_scores_are_compared_as_the_library_does(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(unigram(SCORES[10:12]))
    theirs, ours = tokenizers.Tokenizer.from_file(str(path)), toksmith.load(path)
    for size in range(1, 40):
        assert ours.encode("a" * size) == theirs.encode("a" * size).ids
    assert ours.encode("aaaaa") == [0, 1, 1]  # [1, 1, 0] with the nearest doubles
