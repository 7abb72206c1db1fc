"""Chosen measures, and comparisons as Markdown, LaTeX and data frames: literal tables."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
import sys
from types import ModuleType
from typing import Any

import pytest

import toksmith
from toksmith.errors import MissingExtraError, OptionError
from toksmith.measure import Comparison
from toksmith.measure.metrics import MEASURES, METRICS, Metric


@pytest.fixture(scope="module")
def found() -> Comparison:
    low = toksmith.train(texts=["low low"], vocab_size=258)
    plain = toksmith.train(texts=["low"], vocab_size=256)
    return toksmith.compare(
        {"low_1": low, "b|*_": plain},
        texts={"en & <b>": "low low", "de": "a\nb"},
        measures=["bytes_per_token", "tokens", "normalized_sequence_length", "gini"],
    )


def test_markdown(found: Comparison) -> None:
    # low|␣|low is 3 tokens of 7 bytes, and a, a line break and b are 3 tokens of 3 bytes.
    assert found.to_markdown().splitlines() == [
        r"| all texts | low_1 | b\|\*\_ |",
        "| :-- | --: | --: |",
        "| bytes a token ↑ | **1.67** | 1.00 |",
        "| tokens ↓ | **6** | 10 |",
        "| tokens, relative to low_1 ↓ | **1.00** | 1.67 |",
        "| Gini across texts ↓ | 0.20 | **0.00** |",
    ]
    assert found.to_markdown("tokens").splitlines() == [
        r"| tokens ↓ | low_1 | b\|\*\_ |",
        "| :-- | --: | --: |",
        r"| en \& \<b\> | **3** | 7 |",
        "| de | 3 | 3 |",
    ]


def test_latex(found: Comparison) -> None:
    assert found.to_latex("tokens").splitlines() == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"tokens $\downarrow$ & low\_1 & b|*\_ \\",
        r"\midrule",
        r"en \& \textless{}b\textgreater{} & \textbf{3} & 7 \\",
        r"de & 3 & 3 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert r"bytes a token $\uparrow$ & \textbf{1.67} & 1.00 \\" in found.to_latex()


def test_printed(found: Comparison) -> None:
    lines = [line.split() for line in str(found).splitlines()]
    assert lines[:5] == [
        ["all", "texts", "low_1", "b|*_"],
        ["bytes", "a", "token", "↑", "1.67", "1.00"],
        ["tokens", "↓", "6", "10"],
        ["tokens,", "relative", "to", "low_1", "↓", "1.00", "1.67"],
        ["Gini", "across", "texts", "↓", "0.20", "0.00"],
    ]
    assert "fertility ↓" not in str(found)


@pytest.mark.parametrize("view", ["_repr_html_", "to_html"])
def test_html_shows_the_chosen_alone(found: Comparison, view: str) -> None:
    html = getattr(found, view)()
    assert "bytes a token ↑</th>" in html
    assert "fertility ↓" not in html
    assert "Rényi" not in html


def test_names_print_well() -> None:
    low = toksmith.train(texts=["low low"], vocab_size=258)
    titles = [
        line[:40].strip() for line in str(toksmith.compare({"gpt2": low}, texts="low")).splitlines()
    ]
    for title in ("tokens, relative to gpt2 ↓", "passages not restored ↓", "split words ↓"):
        assert any(line.startswith(title) for line in titles), titles
    assert any(line.startswith("type–token ratio  ") for line in titles)  # no end is better


def test_rows_and_csv(found: Comparison) -> None:
    rows = found.rows()
    assert rows[0] == {
        "tokenizer": "low_1",
        "text": "en & <b>",
        "bytes_per_token": 7 / 3,
        "tokens": 3,
        "normalized_sequence_length": 1.0,
        "gini": None,
    }
    assert [(row["tokenizer"], row["text"], row["tokens"]) for row in rows] == [
        *(("low_1", "en & <b>", 3), ("b|*_", "en & <b>", 7), ("low_1", "de", 3), ("b|*_", "de", 3)),
        *(("low_1", "all", 6), ("b|*_", "all", 10)),
    ]
    assert rows[-1]["gini"] == 0
    written = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["tokens"] for row in written] == ["3", "7", "3", "3", "6", "10"]
    assert found.to_dict()["measures"] == list(found.measures)


def test_intervals_follow_their_measure() -> None:
    low = toksmith.train(texts=["low low"], vocab_size=258)
    texts = ["low low", "a", "low b", "c low"]
    chosen = ["bytes_per_token", "tokens"]
    found = toksmith.compare({"low": low}, texts=texts, measures=chosen, intervals=0.9)
    row = found.rows()[0]
    assert list(row) == [
        *("tokenizer", "text", "bytes_per_token", "bytes_per_token_low", "bytes_per_token_high"),
        "tokens",
    ]
    low_end, high = found["low"].intervals["bytes_per_token"]
    assert (row["bytes_per_token_low"], row["bytes_per_token_high"]) == (low_end, high)
    # 18 bytes in 10 tokens.
    cell = f"1.80 ({low_end:.2f}–{high:.2f})"
    assert f"| bytes a token ↑ | {cell} |" in found.to_markdown()
    assert cell in str(found)
    assert cell in found._repr_html_()
    assert "90 % bootstrap intervals" in str(found)
    assert "90 % bootstrap intervals" in found.to_html()
    assert found.to_dict()["figures"][0]["intervals"]["bytes_per_token"] == (low_end, high)


def test_a_metric_is_one_entry_of_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    doubled = Metric(
        name="doubled",
        title="tokens, doubled",
        kind="count",
        better="less",
        formula="2 · tokens",
        source="Nobody 2001",
        compute=lambda m: 2 * m.tokens,
        interval=("tokens", "words"),
    )
    monkeypatch.setitem(METRICS, doubled.name, doubled)
    monkeypatch.setitem(MEASURES, doubled.name, doubled)
    low = toksmith.train(texts=["low low"], vocab_size=258)
    texts = {"en": "low low low", "de": "low"}
    found = toksmith.compare({"low": low}, texts=texts, measures=["doubled"], speed=False)
    assert found["low", "en"].doubled == 2 * found["low", "en"].tokens
    assert "doubled" in dir(found["low"])
    assert found.rows()[0] == {
        "tokenizer": "low",
        "text": "en",
        "doubled": found["low", "en"].doubled,
    }
    assert found.to_csv().startswith("tokenizer,text,doubled\n")
    assert json.loads(found.to_json())["total"][0]["doubled"] == found["low"].doubled
    assert "tokens, doubled ↓" in str(found)
    assert "tokens, doubled ↓" in found.to_markdown()
    assert "Nobody 2001" in found.to_html()
    with pytest.raises(OptionError, match=r"Measures: tokens, .*, doubled"):
        toksmith.compare({"low": low}, texts=texts, measures=["tripled"])


def test_figures_survive_a_copy(found: Comparison) -> None:
    one = found["low_1"]
    assert pickle.loads(pickle.dumps(one)) == copy.copy(one) == one
    with pytest.raises(AttributeError, match="'Figures' object has no attribute 'nothing'"):
        _ = one.nothing


def test_only_chosen_metrics_are_measured() -> None:
    low = toksmith.train(texts=["low low"], vocab_size=258)
    found = toksmith.compare({"low": low}, texts="low", measures=["tokens"])
    assert (found["low"].megabytes_per_second, found["low"].fertility) == (None, None)
    assert found.notes == ()
    speed = toksmith.compare({"low": low}, texts="low", measures=["megabytes_per_second"])
    assert speed["low"].megabytes_per_second


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["tokenz"], "unknown measure 'tokenz'. Measures: tokens, bytes_per_token, "),
        (["tokens", 3], "unknown measure 3"),
        ("tokens", "measures is 'tokens': use a list of names"),
        (5, "measures is 5: use a list of names"),
        ([], "measures is empty"),
    ],
)
def test_measures_that_cannot_be(measures: Any, message: str) -> None:
    low = toksmith.train(texts=["low low"], vocab_size=258)
    with pytest.raises(OptionError, match=message):
        toksmith.compare({"low": low}, texts="low", measures=measures)


def test_a_measure_that_no_text_has(found: Comparison) -> None:
    for name in ("nothing", "gini"):
        with pytest.raises(OptionError, match=f"has the measure '{name}': use tokens, "):
            found.to_markdown(name)


def test_every_measure_can_be_chosen() -> None:
    low = toksmith.train(texts=["low low"], vocab_size=258)
    texts = {"a": "low", "b": "b"}
    found = toksmith.compare({"low": low}, texts=texts, measures=list(MEASURES))
    assert list(found.measures) == list(MEASURES)
    assert len(found.to_markdown().splitlines()) >= len(MEASURES) - 4  # words need an extra


class _Frame:
    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = columns


def _library(name: str) -> ModuleType:
    library = ModuleType(name)
    library.DataFrame = _Frame  # type: ignore[attr-defined]
    return library


def test_frames(found: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"needs pandas or polars, .*: pip install pandas"):
        found.to_frame()
    monkeypatch.setitem(sys.modules, "polars", _library("polars"))
    assert found.to_frame().columns["tokens"] == [3, 7, 3, 3, 6, 10]
    assert list(found.to_frame("polars").columns) == list(found.rows()[0])
    with pytest.raises(MissingExtraError, match="needs pandas, which is not installed"):
        found.to_frame("pandas")
    with pytest.raises(OptionError, match="library is 'dask': use pandas or polars"):
        found.to_frame("dask")  # type: ignore[arg-type]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_real_frames(found: Comparison, library: Any) -> None:
    pytest.importorskip(library)
    frame = found.to_frame(library)
    assert frame.shape == (6, 6)
    assert list(frame["tokens"]) == [3, 7, 3, 3, 6, 10]
    assert list(frame["text"])[-1] == "all"
