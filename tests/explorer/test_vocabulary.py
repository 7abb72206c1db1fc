"""Searching a vocabulary, and the details of its tokens."""

from __future__ import annotations

import re
import time
from functools import cache

import pytest

import toksmith
from tests.kits.bpe import BYTES
from tests.kits.long_tokens import SIZE, long_tokens
from toksmith._base.visible import visible
from toksmith.errors import OptionError, UnknownTokenError
from toksmith.explorer.loaded import LoadedTokenizers, raw_bytes
from toksmith.explorer.requests import Fields
from toksmith.explorer.text_page import TextPage
from toksmith.explorer.texts import Texts
from toksmith.explorer.token_origin import TokenPlace, find_origin
from toksmith.explorer.vocabulary import Vocabulary
from toksmith.explorer.vocabulary_page import VocabularyPage, details_html, row_html
from toksmith.framing import Framing
from toksmith.models import BPE, WordLevel
from toksmith.pipeline import Pipeline
from toksmith.tokenizer import Tokenizer
from toksmith.trace.diagrams import Lattice, MergeTree


@cache
def vocabulary() -> Vocabulary:
    text = "low lower lowest <script>alert(1)</script> 東京 2026 2027"
    tok = toksmith.train(texts=[text * 3], vocab_size=280, special_tokens=["<|end|>"])
    return Vocabulary(tok)


def found(query: str, how: str = "text", **options: str) -> list[bytes]:
    ids = vocabulary().search(query, how, **options)
    return [vocabulary().tokens[i] for i in ids.tolist()]


def test_search() -> None:
    assert len(found("")) == 280
    assert b" low" in found(" low")
    assert set(found("e6 9d", "bytes")) == {t for t in vocabulary().tokens if b"\xe6\x9d" in t}
    assert found("^lo.*$", "regex") == [t for t in vocabulary().tokens if t.startswith(b"lo")]
    assert found("97", "id") == [b"a"]
    assert found("97-99", "id") == [b"a", b"b", b"c"]
    assert found("", kind="special") == [b"<|end|>"]
    assert b"\x80" in found("", kind="partial")
    assert b" " in found("", kind="space")
    assert found("", sort="longest")[0] == max(vocabulary().tokens, key=len)
    assert found("", sort="text") == sorted(vocabulary().tokens)
    assert found("no such token") == []


@pytest.mark.parametrize(
    ("query", "how"),
    [("x", "bytes"), (" ", "bytes"), ("(", "regex"), ("a", "id"), ("-", "id"), ("", "?")],
)
def test_wrong_queries(query: str, how: str) -> None:
    with pytest.raises(OptionError):
        vocabulary().search(query, how)


def test_bytes_are_found_where_python_finds_them() -> None:
    vocab = BYTES
    special = {"<|ab|>": 256, "aab": 260, "abab": 261, "b": 270}
    known = Vocabulary(Tokenizer(Pipeline(BPE(vocab, []), framing=Framing.of(special))))
    for needle in (b"a", b"ab", b"aab", b"bab", b"ba", b"|>", b"\xff", b"<|ab|>aab"):
        held = [i for i, token in enumerate(known.tokens) if needle in token]
        assert known.search(needle.hex(), "bytes").tolist() == held
    assert known.search("ab" * 2000, "bytes").tolist() == []


def test_a_regex_that_backtracks_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toksmith.explorer.vocabulary._SECONDS", 0.2)
    tok = Tokenizer(Pipeline(WordLevel((b"a" * 40 + b"!", b"x"))))
    started = time.monotonic()
    with pytest.raises(OptionError, match="takes more than"):
        Vocabulary(tok).search("(a|a)+$", "regex")
    assert time.monotonic() - started < 10


def test_quick_at_200_000() -> None:
    tokens = (*BYTES, *(f"token {i}".encode() for i in range(200_000)))
    large = Vocabulary(Tokenizer(Pipeline(BPE(tokens, []))))
    started = time.process_time()
    assert len(large.search("99999", "text")) == 2
    assert len(large.search("token 1\\d$", "regex")) == 10
    assert large.search("", "text", "all", "longest")[0] == 256 + 100_000
    assert time.process_time() - started < 3


def test_made_of_and_into() -> None:
    known = vocabulary()
    low = known.tok.token_id("low")
    left, right = known.made_of(low) or (0, 0)
    assert known.tokens[left] + known.tokens[right] == b"low"
    assert low in known.made_into(left)
    assert known.made_of(97) is None
    assert known.rank(low).startswith("merge ")


def test_details_are_escaped() -> None:
    known = vocabulary()
    longest = next(i for i, token in enumerate(known.tokens) if b"<" in token and len(token) > 2)
    for html in (details_html(known, longest), row_html(known, longest)):
        assert "&lt;" in html
        assert "<script" not in html


def test_details_of_special_tokens_and_of_none() -> None:
    known = vocabulary()
    html = details_html(known, known.tok.special_tokens["<|end|>"])
    assert "special token" in html
    assert "How" not in html
    with pytest.raises(UnknownTokenError):
        details_html(known, 280)
    with pytest.raises(UnknownTokenError):
        details_html(known, -1)
    unused = Tokenizer(Pipeline(raw_bytes().pipeline.model, framing=Framing.of({"<x>": 260})))
    assert "an id without a token" in details_html(Vocabulary(unused), 258)


def test_origin_in_a_text() -> None:
    tok = vocabulary().tok
    data = b"first line\nthe lowest low"
    encoding = tok.encoding(data)
    for token_id, (start, end) in zip(encoding.ids, encoding.byte_spans, strict=True):
        found = find_origin(tok, token_id, TokenPlace(data, start, encoding.ids))
        assert found is not None
        assert found.in_text
        assert isinstance(found.diagram, MergeTree)
        assert token_id in found.diagram.ids
        assert data[start:end] in found.diagram.text


@pytest.mark.parametrize("model", ["sentencepiece-bpe", "sentencepiece-unigram"])
def test_origin_in_pieces(model: str) -> None:
    text = "low lower lowest newest widest " * 20
    size = {"sentencepiece-bpe": 24, "sentencepiece-unigram": 19}[model]
    tok = toksmith.train(texts=[text], model=model, vocab_size=size, character_coverage=1.0)
    data = b"lowest newest"
    encoding = tok.encoding(data)
    kind = Lattice if model.endswith("unigram") else MergeTree
    for token_id, (start, _) in zip(encoding.ids, encoding.byte_spans, strict=True):
        found = find_origin(tok, token_id, TokenPlace(data, start, encoding.ids))
        assert found is not None
        assert found.in_text
        assert isinstance(found.diagram, kind)


@pytest.mark.parametrize("model", ["sentencepiece-bpe", "sentencepiece-unigram", "wordpiece"])
def test_origin_is_of_the_word_at_that_place(model: str) -> None:
    text = "low lower lowest newest widest " * 20
    size = {"sentencepiece-bpe": 19, "sentencepiece-unigram": 16, "wordpiece": 24}[model]
    tok = toksmith.train(texts=[text], model=model, vocab_size=size)
    data = b"newest lowest low newest widest low"
    encoding = tok.encoding(data)
    assert len(set(encoding.ids)) < len(encoding)
    for token_id, (start, end) in zip(encoding.ids, encoding.byte_spans, strict=True):
        found = find_origin(tok, token_id, TokenPlace(data, start, encoding.ids))
        assert found is not None
        assert found.in_text
        inside = data.rfind(b" ", 0, end)
        word = data[inside + 1 :].split()[0].decode()
        shown = found.diagram.text.decode()
        if model == "sentencepiece-unigram":  # is cut wherever no piece reaches across
            assert shown in f"▁{word}"
        else:
            assert shown.strip("▁ ") == word or shown == tok.token_bytes(token_id).decode() == "▁"


@pytest.mark.parametrize("model", ["bpe", "wordpiece", "sentencepiece-bpe"])
def test_a_token_has_its_colour_in_the_diagram(model: str) -> None:
    size = {"bpe": 262, "wordpiece": 24, "sentencepiece-bpe": 19}[model]
    text = "low lower lowest newest widest "
    known = Vocabulary(toksmith.train(texts=[text * 20], model=model, vocab_size=size))
    data = b"newest lowest low"
    encoding = known.tok.encoding(data)
    for i, (token_id, (start, _)) in enumerate(zip(encoding.ids, encoding.byte_spans, strict=True)):
        html = details_html(known, token_id, TokenPlace(data, start, encoding.ids), colour=7 + i)
        token = visible(encoding.tokens[i])
        assert f'bigtoken c{(7 + i) % 4}"' in html
        box = rf'<div class="ts-box ts-fill ts-c{(7 + i) % 4}"[^>]*><span class="ts-token">{token}<'
        assert re.search(box, html)


def test_token_that_cannot_be_reached() -> None:
    vocab = (*BYTES, b"ab", b"xyz")
    tok = Tokenizer(Pipeline(BPE(vocab, [[97, 98, 256]])))
    assert "They do not" in details_html(Vocabulary(tok), 257)
    assert "They do not" not in details_html(Vocabulary(tok), 256)


def test_shelf() -> None:
    loaded = LoadedTokenizers()
    key = loaded.put("mine", vocabulary().tok)
    assert loaded[key].vocabulary is loaded[key].vocabulary
    assert loaded["bytes"].tokenizer.encode("é") == [0xC3, 0xA9]
    with pytest.raises(OptionError, match="unknown tokenizer 'other'"):
        loaded["other"]


def test_tokens_of_a_megabyte_are_cut() -> None:
    tok, longest = long_tokens()
    loaded, texts = LoadedTokenizers(), Texts()
    key = loaded.put("long", tok)
    page = VocabularyPage(loaded, texts)
    for token_id in longest:
        answer = page.token(Fields({"tokenizer": key, "id": token_id}))["html"].replace(
            "\u00a0", " "
        )
        assert f"… {SIZE - 1000:,} more bytes" in answer
        assert "drawn only for tokens of up to 1,000 bytes" in answer
        assert len(answer) < 30_000
    for kind in ("all", "partial", "space", "control"):
        rows = page.rows(Fields({"tokenizer": key, "kind": kind, "sort": "longest"}))["rows"]
        assert max(map(len, rows)) < 5_000
    text = "x" * SIZE + " " * SIZE
    fields = {"tokenizers": [key], "text": text, "start": SIZE - 100}
    (panel,) = TextPage(loaded, texts).tokens(Fields(fields))["panels"]
    assert panel["spelled"][0].endswith(f"x… {SIZE - 1000:,} more bytes")
    assert len(panel["text"]) < 200_000
    place = {"tokenizer": key, "id": longest[0], "text": text, "start": 0, "end": 4000}
    assert len(page.token(Fields(place))["html"]) < 30_000
