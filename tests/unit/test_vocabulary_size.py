"""Advice on vocabulary sizes: counts by hand, published laws, limits and words."""

from __future__ import annotations

import json
from io import StringIO
from math import exp
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith.errors import FormatError, OptionError, UnsupportedError
from toksmith.measure.vocabulary_advice import recommend
from toksmith.measure.vocabulary_scaling import (
    ModelShape,
    compute_optimal_flops,
    vocabulary_by_derivative,
    vocabulary_by_isoflops,
    vocabulary_by_loss,
)
from toksmith.measure.vocabulary_size import SizePoint, VocabularyAdvice

GAGE = "aaabdaaabac"


def advice(**given: Any) -> VocabularyAdvice:
    """aaabdaaabac: 9 tokens after aa, 7 after aaa, 5 after aaab."""
    return toksmith.advise(texts=[GAGE], split=None, max_vocab=259, **given)


def test_sizes_by_hand() -> None:
    found = advice(sizes=[256, 257, 258, 259], enough=2)
    assert found.tokens.tolist() == [11, 9, 7, 5]
    assert found.points == (
        SizePoint(256, 11, 1.0, None, 0, 0, 0),
        SizePoint(257, 9, 11 / 9, None, 2, 0, 0),
        SizePoint(258, 7, 11 / 7, None, 2, 1, 1),  # each aa is a part of an aaa
        SizePoint(259, 5, 11 / 5, None, 2, 2, 2),
    )
    assert (found.tokens_at(258), found.max_vocab, found.bytes) == (7, 259, 11)
    with pytest.raises(OptionError, match="sizes from 256 to 259 are known"):
        found.tokens_at(260)


def test_uses_are_those_of_the_encoded_text() -> None:
    """How often each token stands is told from the merges alone; the encoder says the same."""
    text = " ".join(str(number**3) for number in range(200)) + "aaaaaaa " * 9
    tok = toksmith.train(texts=[text], vocab_size=300, split="gpt2")
    ids = tok.encode(text)
    uses = [ids.count(token) for token in range(256, 300)]
    for enough in (1, 5, 8, 1000):
        [point] = toksmith.advise(tokenizer=tok, sizes=[300], enough=enough).points
        assert point.tokens == len(ids)
        assert point.rare == sum(use < enough for use in uses)
        assert point.unused == uses.count(0)


def test_doubling() -> None:
    text = " ".join(map(str, range(900)))
    found = toksmith.advise(texts=[text], max_vocab=520, sizes=[511, 512])
    before, after = found.tokens_at(256), found.tokens_at(512)
    assert [point.gain for point in found.points] == [None, pytest.approx(1 - after / before)]


def test_costs_by_hand() -> None:
    tied, untied = (
        advice(d_model=10, parameters=1000, tied=tied, sizes=[257]).points[0]
        for tied in (True, False)
    )
    assert (tied.embedding_parameters, tied.output_parameters) == (2570, 0)
    assert (untied.embedding_parameters, untied.output_parameters) == (2570, 2570)
    assert tied.vocabulary_share == 2570 / 3570
    assert untied.vocabulary_share == 5140 / 6140
    assert tied.flops_per_token == untied.flops_per_token == 6 * 3570
    assert tied.flops_per_byte == pytest.approx(6 * 3570 * 9 / 11)
    assert tied.logits_share == 2570 / 3570
    assert ModelShape(768, 12).non_vocabulary == 12 * 12 * 768**2
    assert ModelShape(768, 12, 5).non_vocabulary == 5


def test_laws_by_hand() -> None:
    assert vocabulary_by_derivative(33e6, 512) == 6144
    assert vocabulary_by_derivative(66e6, 1) == pytest.approx(3_145_728 * 2**0.8354)
    assert compute_optimal_flops(exp(-2.4847) * 1e10) == pytest.approx(1e20)
    # e^-1.5890 · 10^(20 · 0.4164) = 0.204130 · 2.12814e8
    assert vocabulary_by_isoflops(exp(-2.4847) * 1e10, 1) == pytest.approx(4.3442e7, rel=1e-4)


@pytest.mark.parametrize(
    ("billions", "d_model", "sizes"),
    [
        (3, 3200, (39, 43, 37)),
        (7, 4096, (62, 67, 60)),
        (13, 5120, (83, 91, 81)),
        (30, 6048, (142, 154, 142)),
        (70, 8192, (212, 231, 218)),
        (130, 12288, (237, 258, 248)),
        (300, 16384, (356, 389, 383)),
    ],
)
def test_published_predictions(billions: int, d_model: int, sizes: tuple[int, int, int]) -> None:
    """The paper's own predictions by its three approaches, in thousands."""
    others = billions * 1e9
    found = (
        vocabulary_by_isoflops(others, d_model),
        vocabulary_by_derivative(others, d_model),
        vocabulary_by_loss(others, d_model, compute_optimal_flops(others)),
    )
    assert [size / 1000 for size in found] == pytest.approx(sizes, abs=0.8)


def test_loss_is_least_there() -> None:
    others, d_model, flops = 85e6, 768, 3e18

    def loss(size: float) -> float:
        vocabulary = size * d_model / 1e6
        tokens = flops / 1e9 / (6 * (others + size * d_model))
        return 0.1958 / vocabulary**0.6707 + 2.1241 / tokens**0.4466

    size = vocabulary_by_loss(others, d_model, flops)
    assert loss(size) < min(loss(0.99 * size), loss(1.01 * size))
    assert vocabulary_by_loss(others, d_model, 10 * flops) > 1.5 * size


def curve(largest: int, counts: int = 10**6) -> dict[str, Any]:
    """A text of which each id takes one token away."""
    import numpy as np

    steps = largest - 256
    return {
        "tokens": 10**7 - np.arange(steps + 1, dtype=np.uint64),
        "counts": np.full(steps, counts, np.uint64),
        "bytes_": 10**7,
        "enough": 100,
        "max_vocab": largest,
    }


def test_recommendation_is_between_the_laws() -> None:
    shape = ModelShape(4096, parameters=7 * 10**9)
    found = recommend(**curve(100_000), shape=shape, training_bytes=None)
    laws = {way.source[-1]: way.vocab_size for way in found.suggestions if "arXiv" in way.source}
    assert laws == {"1": 62404, "2": 67451}
    assert found.vocab_size == 64_896  # sqrt(62404 * 67451) = 64878, and up to 128 * 507
    assert not any("uint16" in line for line in (*found.reasons, *found.caveats))
    [flops] = [way for way in found.suggestions if way.source == "FLOPs"]
    assert (flops.vocab_size, flops.or_more) == (256, False)


def test_recommendation_near_uint16() -> None:
    shape = ModelShape(4000, parameters=7 * 10**9)  # 66,439
    found = recommend(**curve(100_000), shape=shape, training_bytes=None)
    assert found.vocab_size == 65_536
    assert found.reasons[-1] == "lowered to 65,536: ids fit uint16 in token files"
    larger = recommend(
        **curve(300_000), shape=ModelShape(8192, parameters=70 * 10**9), training_bytes=None
    )
    assert larger.vocab_size > 200_000
    assert any("uint32" in caveat for caveat in larger.caveats)


def test_recommendation_minds_rare_tokens() -> None:
    shape = ModelShape(4096, parameters=7 * 10**9)
    given = curve(100_000)
    given["counts"][20_000:] = 50
    sample = recommend(**given, shape=shape, training_bytes=None)
    assert sample.vocab_size == 64_896  # how much the model will see is not known
    assert any("tokens beyond 20,256 occur in this text" in line for line in sample.caveats)
    given["enough"] = 10**7
    seen = recommend(**given, shape=shape, training_bytes=10**12)  # each 100,000 times as often
    assert seen.vocab_size == 20_224  # 128 * 158, below 256 + 20,000
    assert any("fewer than 10,000,000 times" in reason for reason in seen.reasons)
    more = recommend(**given, shape=shape, training_bytes=3 * 10**12)
    assert more.vocab_size > 100_000 - 128
    assert "approach 3" in more.suggestions[2].source


def test_recommendation_ends_where_the_text_does() -> None:
    shape = ModelShape(4096, parameters=7 * 10**9)
    given = curve(1000)
    found = recommend(**given, shape=shape, training_bytes=None)
    assert (found.vocab_size, found.reasons[1]) == (896, "lowered to 1,000: the largest looked at")
    given["max_vocab"] = 5000
    found = recommend(**given, shape=shape, training_bytes=None)
    assert found.reasons[1] == "lowered to 1,000: all that the text gives"
    assert any("ran out of pairs at 1,000 of 5,000" in caveat for caveat in found.caveats)


def test_without_a_model_the_last_good_doubling() -> None:
    given = curve(4000)
    given["tokens"][:] = 10**6
    given["tokens"][1000 - 256 :] = 900_000  # sizes 1000 … 1999 have 10 % fewer than half
    found = recommend(**given, shape=None, training_bytes=None)
    assert [way.vocab_size for way in found.suggestions] == [1999, 4000]
    assert found.vocab_size == 2048
    assert "the model's size would say more" in found.reasons[0]


def test_rare_chunks_that_were_left_out_are_no_text() -> None:
    given = {"texts": ["low low low rare"], "max_vocab": 258, "split": "gpt2"}
    assert toksmith.advise(**given).tokens.tolist() == [16, 13, 10]
    found = toksmith.advise(**given, min_count=2)  # " low" stands twice, "low" and " rare" once
    assert (found.bytes, found.tokens.tolist()) == (8, [8, 6, 4])
    assert found.points[-1].bytes_per_token == 2


def test_from_a_tokenizer_or_counts() -> None:
    tok = toksmith.train(texts=[GAGE], split=None, vocab_size=259)
    assert toksmith.advise(tokenizer=tok).tokens.tolist() == [11, 9, 7, 5]
    assert toksmith.advise(tokenizer=tok, max_vocab=258).tokens.tolist() == [11, 9, 7]
    counts = toksmith.Counts.of({GAGE.encode(): 1})
    assert toksmith.advise(counts=counts, max_vocab=258).tokens.tolist() == [11, 9, 7]


def test_texts_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The positional argument is always a path, texts= is always text, tokenizer= takes a path."""
    given: dict[str, Any] = {"split": None, "max_vocab": 258}
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(GAGE)
    for sources in (
        *({"texts": GAGE}, {"texts": [GAGE]}, {"texts": {"a": GAGE}}, {"texts": iter([GAGE])}),
        *({"files": "a.txt"}, {"files": "*.txt"}, {"files": ["a.txt"]}, {"files": Path("a.txt")}),
    ):
        assert toksmith.advise(**sources, **given).tokens.tolist() == [11, 9, 7]
    assert toksmith.advise(texts={"a": "ab", "b": ["ab", "ab"]}, **given).tokens.tolist() == [6, 3]
    tok = toksmith.train(texts=[GAGE], split=None, vocab_size=258)
    tok.save("a.model", record=True)
    assert toksmith.advise(tokenizer="a.model").tokens.tolist() == [11, 9, 7]
    for wrong in ({"files": GAGE}, {"texts": Path("a.txt")}, {"texts": [Path("a.txt")]}):
        with pytest.raises((OptionError, FormatError), match=r"no such file|is a path, and texts"):
            toksmith.advise(**wrong, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"d_model": 8}, "give layers, or parameters"),
        ({"layers": 8}, "layers= needs d_model="),
        ({"max_vocab": 256}, "max_vocab is 256: use 257 or more"),
        ({"enough": 0}, "enough is 0"),
        ({"training_bytes": 0}, "training_bytes is 0"),
        ({"sizes": [12]}, "a size is 12"),
        ({"model": "unigram"}, "sizes are those of byte-level BPE alone"),
        ({"d_model": 0, "layers": 1}, "d_model is 0"),
    ],
)
def test_wrong_arguments(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        toksmith.advise(texts=[GAGE], **given)


def test_wrong_tokenizers() -> None:
    tok = toksmith.train(texts=[GAGE], split=None, vocab_size=258)
    with pytest.raises(OptionError, match="one of files, texts=, counts= and tokenizer=, not 2"):
        toksmith.advise(texts=[GAGE], tokenizer=tok)
    with pytest.raises(OptionError, match="not none"):
        toksmith.advise()
    with pytest.raises(OptionError, match="split= is for training, and tokenizer= is trained"):
        toksmith.advise(tokenizer=tok, split="gpt2")
    with pytest.raises(OptionError, match="5 is no tokenizer"):
        toksmith.advise(tokenizer=5)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="no training record"):
        toksmith.advise(tokenizer=toksmith.Tokenizer(tok.pipeline))
    words = toksmith.train(texts=["a b"], model="word")
    with pytest.raises(UnsupportedError, match="byte-level BPE that was trained here"):
        toksmith.advise(tokenizer=words)


def test_views_hold_the_figures() -> None:
    from rich.console import Console

    from toksmith.show.vocabulary_size import advice_page, advice_view

    found = advice(d_model=10, parameters=1000, tied=False)
    assert json.loads(json.dumps(found.to_dict()))["sizes"][-1]["tokens"] == 5
    html = found._repr_html_()
    assert "<svg " in html
    assert "<td>2.200</td>" in html
    assert html in advice_page(found)
    console = Console(width=80, record=True, file=StringIO())
    console.print(advice_view(found, ascii_only=True))
    shown = console.export_text()
    assert f"Recommended: {found.recommendation.vocab_size:,}" in shown
    assert "0.0M" in shown
    assert not set(shown) - set(map(chr, range(128))) - set("·")
