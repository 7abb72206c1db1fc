"""The base of all results: repr, table, notebook view, JSON and HTML page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith._base.report import Report, views_of
from toksmith._base.visible import MOST
from toksmith.errors import OptionError
from toksmith.measure.findings import Example, Finding, Severity
from toksmith.tokenizer.training_record import SourceRecord

EVIL = "<script>alert(1)</script>\x1b[31m \u202e"
MANY = [f"word{i} é {EVIL}" for i in range(3000)]


def _tokenizer() -> toksmith.Tokenizer:
    special = [f"<{i}>{EVIL}" for i in range(50)]
    return toksmith.train(texts=MANY, vocab_size=700, special_tokens=special)


def _made() -> dict[str, Any]:
    tok = _tokenizer()
    encoding = tok.encoding(" ".join(MANY))
    texts = {f"text {i} {EVIL}": [f"word{i}"] for i in range(200)}
    return {
        "Tokenizer": tok,
        "Encoding": encoding,
        "Batch": tok.encode_batch(MANY),
        "Inputs": tok.prepare(["a", "b"]),
        "Counts": toksmith.Counts.from_texts(MANY),
        "TrainingRecord": tok.training,
        "Comparison": toksmith.compare({EVIL * 50: tok}, texts=texts, speed=False),
        "Audit": toksmith.audit(tok, texts=MANY),
        "VocabularyAdvice": toksmith.advise(tokenizer=_trained_whole()),
        "Explanation": tok.explain(" ".join(MANY[:40])),
        "Merges": tok.merges,
        "IncrementalDecoder": tok.decoder(),
        "training_steps": toksmith.training_steps(MANY[:20], vocab_size=300),
        "Words": toksmith.words(" ".join(MANY)),
        "UnicodeText": toksmith.unicode(" ".join(MANY)),
        **_of_long_tokens(),
        "ChunkTrace": tok.explain(" ".join(MANY[:40])).chunks[3],
        "MergeTree": tok.explain("x" * 500).diagrams[0],
        "Recommendation": toksmith.advise(tokenizer=_trained_whole()).recommendation,
        "SizePoint": toksmith.advise(tokenizer=_trained_whole()).points[0],
        "Finding": toksmith.audit(tok).findings[0],
        "Figures": toksmith.compare({EVIL: tok}, texts="a", speed=False).figures[0],
        "MeasuredText": toksmith.compare({EVIL: tok}, texts={EVIL: "a"}, speed=False).texts[0],
        "SourceRecord": SourceRecord(EVIL * 50, 1, "0" * 64, 1, 1),
        "Example": Example(EVIL.encode() * 50, 1, EVIL),
    }


def _of_long_tokens() -> dict[str, Any]:
    """What holds tokens of hundreds of bytes, some of which are not printable."""
    text = "\x1b\u202e é" * 3000
    tok = toksmith.train(texts=[text], vocab_size=268, split=None)
    *_, step = toksmith.training_steps([text], vocab_size=268)
    return {
        "Vocabulary": tok.vocab,
        "Tokens": tok.tokens,
        "MergeTable": tok.merge_table,
        "MergeRow": tok.merge_table[-1],
        "TextChunk": tok.chunks(text, 3000)[0],
        "merge": step,
    }


def _trained_whole() -> toksmith.Tokenizer:
    return toksmith.train(texts=MANY[:200], vocab_size=400)


MADE = _made()
WITH_VIEWS = (
    *("Tokenizer", "Encoding", "Batch", "Counts", "TrainingRecord"),
    *("Comparison", "Audit", "VocabularyAdvice", "Explanation", "Inputs", "MergeTable"),
    "Words",
)
REPORTS = ("Comparison", "Audit", "VocabularyAdvice", "Explanation")


@pytest.mark.parametrize("name", MADE)
def test_reprs_are_one_line(name: str) -> None:
    shown = repr(MADE[name])
    assert 0 < len(shown) <= MOST
    assert shown.isprintable()
    assert name in shown


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in {"br", "wbr", "meta", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", WITH_VIEWS)
def test_notebooks(name: str) -> None:
    html = MADE[name]._repr_html_()
    found = Elements(html)
    assert found.tags.isdisjoint({"script", "img", "link", "iframe"})
    assert found.open == []
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", html)


@pytest.mark.parametrize("name", REPORTS)
def test_reports(name: str, tmp_path: Path) -> None:
    report = MADE[name]
    assert isinstance(report, Report)
    for written, file in ((report.to_json, "a.json"), (report.to_html, "a.html")):
        text = written(tmp_path / file)
        assert text == written() == (tmp_path / file).read_text("utf-8")
        with pytest.raises(OptionError, match="cannot be written"):
            written(tmp_path / "none" / file)
    assert json.loads((tmp_path / "a.json").read_text("utf-8")).keys() == report.to_dict().keys()
    page = (tmp_path / "a.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    assert Elements(page.removeprefix("<!doctype html>")).tags.isdisjoint({"script", "img", "link"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.json"]
    printed = str(report)
    assert len(printed.splitlines()) > 3
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", printed)


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in a file stays there if writing the new content fails."""
    path = tmp_path / "a.json"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OptionError, match="No space left"):
        MADE["Audit"].to_json(path)
    assert (path.read_text(), list(tmp_path.iterdir())) == ("before", [path])


def test_findings_print_as_one_line() -> None:
    finding = Finding("unreachable", Severity.ERROR, 1234, "tokens that none of many texts becomes")
    assert str(finding) == "error: unreachable, 1,234: tokens that none of many texts becomes"
    assert repr(finding) == f"<Finding {finding}>"
    long = Finding("x", Severity.INFO, 1, "y" * 300)
    assert (len(repr(long)), repr(long)[-3:]) == (MOST, "y…>")


def test_lines_by_hand() -> None:
    tok = toksmith.train(texts=["low low"], vocab_size=258, special_tokens=["<e>"])
    counts = toksmith.Counts.from_texts(["low low lower"])
    found = toksmith.compare({"a": tok, "b": tok}, texts={"x": "low", "y": "a"}, speed=False)
    assert [repr(each) for each in (tok, counts, tok.training, found, tok.explain("low\n"))] == [
        "<Tokenizer BPE, 258 ids, 1 special>",
        "<Counts: 3 distinct chunks, 13 bytes>",
        "<TrainingRecord: bpe, 258 ids, 1 merge from 7 bytes>",
        "<Comparison: 2 tokenizers on 2 texts>",
        "<Explanation of 'low↵': 4 bytes, 2 chunks, 3 tokens>",
    ]
    assert repr(toksmith.words("low é")) == "Words([(0, 3), (3, 4), (4, 5)])"
    assert repr(toksmith.words("a " * 99)) == "<Words: 198 spans of 198 characters>"
    assert repr(toksmith.audit(tok)).startswith("<Audit of tokenizer 1: BPE, 258 ids, ")
    facts = re.findall(r"<th>(.*?)</th><td[^>]*>(.*?)</td>", tok._repr_html_())
    assert facts == [("model", "BPE"), ("ids", "258"), ("splitter", "cl100k")]
    assert str(counts).splitlines() == [
        "Counts",
        "chunks     3, 3 of them distinct",
        "bytes      13",
        "documents  1",
        "split      cl100k",
        "",
        "count  chunk",
        "1      low",
        "1      ·low",
        "1      ·lower",
    ]


def test_an_explanation_as_data() -> None:
    tok = toksmith.train(texts=["abab"], vocab_size=257, split=None)
    assert tok.explain(" ab").to_dict() == {
        "text": "·ab",
        "normalized": "·ab",
        "ids": [32, 256],
        "tokens": ["·", "ab"],
        "chunks": [
            {
                "text": "·ab",
                "span": [0, 3],
                "whole": False,
                "steps": [{"state": "· ab", "why": "a + b, merge 0"}],
                "ids": [32, 256],
            }
        ],
    }


def test_views_load_when_they_are_used() -> None:
    code = (
        "import sys, toksmith\n"
        "tok = toksmith.train(texts=['low low'], vocab_size=257)\n"
        "found = toksmith.compare([tok], texts='low', speed=False)\n"
        "audit, counts = toksmith.audit(tok), toksmith.Counts.from_texts(['low'])\n"
        "repr((tok, found, audit, counts, tok.training))\n"
        "print(*(name for name in sys.modules if name.startswith('toksmith.show.')))\n"
        "found._repr_html_()\n"
        "print(*(f'toksmith.show.{name}' in sys.modules for name in ('comparison_html', 'audit')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["", "True False"]


def test_values_that_no_view_shows() -> None:
    with pytest.raises(TypeError, match="no view shows int"):
        views_of(5)


def test_a_record_names_its_split() -> None:
    assert "options  split='gpt2', " in str(
        toksmith.train(texts="low low", vocab_size=257, split="gpt2").training
    )
    assert "options  split='[a-z]+', " in str(
        toksmith.train(texts="low low", vocab_size=257, split="[a-z]+").training
    )
