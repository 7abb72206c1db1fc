"""Comparisons: figures against those computed by hand or by another package."""

from __future__ import annotations

import csv
import gzip
import io
import json
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toksmith
from toksmith._base.documents import open_mapped
from toksmith.corpus import Reading
from toksmith.errors import FormatError, OptionError
from toksmith.measure.audit import token_use
from toksmith.measure.comparison_tables import differing_tokens
from toksmith.measure.inputs import name_texts, name_tokenizers, names_of
from toksmith.measure.passages import PASSAGE, Sampler
from toksmith.measure.scripts import SCRIPTS, byte_scripts, tokens_by_script
from toksmith.measure.word_metrics import tokens_touching
from toksmith.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def low() -> Tokenizer:
    """Merges lo, low: 258 ids."""
    return toksmith.train(texts=["low low"], vocab_size=258)


@pytest.fixture(scope="module")
def er() -> Tokenizer:
    """Merges er: 257 ids."""
    return toksmith.train(texts=["er er"], vocab_size=257)


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    """Words, in small letters; what it does not know is [UNK]."""
    texts = ["low lower lowest"] * 9
    return toksmith.train(texts=texts, model="wordpiece", vocab_size=25)


def test_counts_by_hand(low: Tokenizer, er: Tokenizer) -> None:
    # low: low|e|r|␣|low is 5 tokens of 9 bytes, 4 of them distinct; er: l|o|w|er|␣|l|o|w is 8.
    found = toksmith.compare({"low": low, "er": er}, texts="lower low", speed=False)
    one, other = found["low"], found["er"]
    assert (one.tokens, one.distinct_tokens, one.unknown_tokens) == (5, 4, 0)
    assert (other.tokens, other.distinct_tokens) == (8, 5)
    assert (one.bytes_per_token, one.characters_per_token) == (9 / 5, 9 / 5)
    assert (one.vocabulary_use, one.type_token_ratio) == (4 / 258, 4 / 5)
    assert (one.normalized_sequence_length, other.normalized_sequence_length) == (1.0, 8 / 5)
    assert (one.lost_bytes, one.changed, one.unknown_rate) == (0.0, 0.0, 0.0)
    assert (one.parity, one.megabytes_per_second) == (None, None)
    p = np.array([2, 1, 1, 1]) / 5
    assert one.renyi_efficiency == pytest.approx(np.log2((p**2.5).sum()) / -1.5 / np.log2(258))
    assert found.tokenizers[0].coverage == (2 / 5, 3 / 5, 1.0)
    assert (found.reference, found.total, found.parallel) == ("low", found.figures, False)
    assert toksmith.compare([low], texts="low", speed=True)["tokenizer 1"].megabytes_per_second


def test_words_by_hand(low: Tokenizer, er: Tokenizer) -> None:
    pytest.importorskip("icu4py")
    found = toksmith.compare({"low": low, "er": er}, texts="lower low, low", speed=False)
    # low|e|r|␣|low|,|␣|low: the words have 3, 1 and 1 tokens; of the two there are, one is whole.
    one, other = found["low"], found["er"]
    assert found.texts[0].sample_words == 3
    assert (one.fertility, one.split_words, one.continuation) == (8 / 3, 1 / 3, 2 / 5)
    assert one.single_token_words == 1 / 2
    # l|o|w|er|␣|l|o|w|,|␣|l|o|w: 4, 3 and 3.
    assert (other.fertility, other.split_words, other.continuation) == (13 / 3, 1.0, 7 / 10)
    assert other.single_token_words == 0.0


def test_unknown_words_and_round_trips(low: Tokenizer, pieces: Tokenizer) -> None:
    found = toksmith.compare(
        {"low": low, "pieces": pieces}, texts=["low LOW", "lower xyz"], speed=False
    )
    # low LOW is read as low low, so three letters do not come back; xyz is [UNK].
    mine = found["pieces"]
    assert mine.unknown_tokens == 1
    back = [pieces.decode(pieces.encode(text)) for text in ("low LOW", "lower xyz")]
    assert back == ["low low", "lower [UNK]"]
    assert mine.lost_bytes == 6 / 16
    assert (mine.changed, found["low"].changed) == (1.0, 0.0)


def test_parity_and_gini_by_hand(low: Tokenizer) -> None:
    texts = {"en": "low", "de": "nie", "fr": "bas"}
    found = toksmith.compare({"low": low}, texts=texts, speed=False)
    assert found.parallel
    assert [each.parity for each in found.figures] == [1.0, 3.0, 3.0]
    # Tokens a byte: 1/3, 1, 1. Differences: 2/3, four times; 2 · n² · μ = 2 · 9 · 7/9.
    assert found.tokenizers[0].gini == pytest.approx((4 * 2 / 3) / 14)
    assert found["low"].tokens == 7
    assert (found["low"].text, found["low"].parity) == ("all", None)
    texts = {"en": "low", "de": "a\nb"}
    apart = toksmith.compare({"low": low}, texts=texts, speed=False)
    assert (apart.parallel, apart["low", "de"].parity) == (False, None)
    told = toksmith.compare({"low": low}, texts=texts, parallel=True, speed=False)
    assert told["low", "de"].parity == 3.0


def test_renyi_against_another_package(low: Tokenizer) -> None:
    scorer = pytest.importorskip("tokenization_scorer.metrics")
    text = "low lower lowest newer newest low"
    ids = low.encode(text)
    words = [[str(token) for token in ids]]
    found = toksmith.compare([low], texts=text, speed=False)
    efficiency = scorer.get_metric("renyi")(words, power=2.5, vocab=low.vocab_size)
    assert found["tokenizer 1"].renyi_efficiency == pytest.approx(float(efficiency))
    counts = np.unique(ids, return_counts=True)[1]
    entropy = scorer.get_metric("renyi_entropy")(words, power=3.0)
    assert toksmith.measure.renyi_entropy(counts, 3.0) == pytest.approx(float(entropy))
    shannon = scorer.get_metric("shannon_entropy")(words)
    assert toksmith.measure.renyi_entropy(counts, 1) == pytest.approx(float(shannon))


def test_files_of_any_kind(low: Tokenizer, tmp_path: Path) -> None:
    documents = ["low lower", "niedrig é", "", "low\nlow"]
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    lines = tmp_path / "c.jsonl"
    text = "|".join(documents)
    plain.write_text(text, encoding="utf-8")
    packed.write_bytes(gzip.compress(text.encode()))
    rows = "\n".join(json.dumps({"body": document}) for document in documents)
    lines.write_text(rows, encoding="utf-8")
    found = toksmith.compare(
        {"low": low}, files=[plain, packed, lines], separator="|", field="body", speed=False
    )
    size = sum(len(document.encode()) for document in documents)
    tokens = sum(len(low.encode(document)) for document in documents)
    for about, figures in zip(found.texts, found.figures, strict=True):
        assert (about.documents, about.bytes, about.characters) == (4, size, size - 1)
        assert (figures.tokens, about.is_whole) == (tokens, True)
    assert [about.name for about in found.texts] == ["a.txt", "b.txt.gz", "c.jsonl"]
    assert (
        toksmith.compare([low], files=tmp_path, field="body", speed=False).texts[0].name == "a.txt"
    )
    one = {"all of it": [plain, packed]}
    as_one = toksmith.compare([low], files=one, separator="|", speed=False)
    assert (as_one.texts[0].documents, as_one.figures[0].tokens) == (8, 2 * tokens)


def test_written(low: Tokenizer, tmp_path: Path) -> None:
    found = toksmith.compare({"low": low}, texts={"a": "low", "é": ""}, speed=False)
    held = json.loads(found.to_json(tmp_path / "a.json"))
    assert (tmp_path / "a.json").read_text("utf-8") == found.to_json()
    assert held["figures"][0]["bytes_per_token"] == 3.0
    assert held["figures"][1]["bytes_per_token"] is None
    assert isnan(found["low", "é"].bytes_per_token)
    assert "passages" not in held
    rows = list(csv.DictReader(io.StringIO(found.to_csv(tmp_path / "a.csv"))))
    assert [(row["text"], row["bytes_per_token"]) for row in rows] == [
        *(("a", "3.0"), ("é", ""), ("all", "3.0"))
    ]
    assert found.to_dict()["tokenizers"][0]["name"] == "low"


def test_invalid_arguments(low: Tokenizer, tmp_path: Path) -> None:
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        ([], {"texts": "text"}, "there is no tokenizer"),
        ([low], {"texts": []}, "texts is empty"),
        ([low], {"texts": {}}, "texts is empty"),
        ([low], {"files": []}, "files is empty"),
        ([low], {"texts": {"a": []}}, r"texts\['a'\] is empty"),
        ([low], {"files": {"a": []}}, r"files\['a'\] is empty"),
        ([low], {"files": [tmp_path]}, "the directory holds no files"),
        ([low], {"files": "no/such.txt"}, r"no/such\.txt: there is no such file"),
        ([low], {"files": b"a.txt"}, "files is b'a.txt': use a path"),
        (
            [low],
            {"texts": Path("a.txt")},
            "texts is a path, and texts are always text: give paths as files=",
        ),
        ([low], {"texts": ["a", Path("a.txt")]}, r"texts\[1\] is a path"),
        ([low], {"texts": {"a": Path("a.txt")}}, r"texts\['a'\] is a path"),
        ([low], {"texts": 7}, "texts is 7: give a text"),
        ([low], {"texts": ["a", 7]}, r"texts\[1\] is 7: each must be a str"),
        ([low], {"texts": ["a", None]}, r"texts\[1\] is None"),
        ([low], {}, "compare has nothing to read: use texts= .* or files="),
        ([low], {"texts": "a", "files": "b"}, "one of texts= and files="),
        ([low], {"texts": {"all": "a", "b": "b"}}, "a text is called 'all', which is the name of"),
        ([low], {"on": "text"}, "compare takes no on=: use texts= .*, or files="),
        ([7], {"texts": "text"}, "7 is no tokenizer"),
        (7, {"texts": "text"}, "7 is no tokenizer"),
        (
            {"low": low},
            {"texts": "text", "reference": "high"},
            "reference is 'high': use one of low",
        ),
    ]
    for tokenizers, arguments, message in wrong:
        with pytest.raises((OptionError, FormatError), match=message):
            toksmith.compare(tokenizers, **arguments)
    found = toksmith.compare({"low": low}, texts="low", speed=False)
    with pytest.raises(OptionError, match="no tokenizer of this comparison is called 'x'"):
        found["x"]
    with pytest.raises(OptionError, match="no text of this comparison is called 'x'"):
        found["low", "x"]


def test_names(low: Tokenizer, tmp_path: Path) -> None:
    assert names_of(["gpt2", "a/my.model", "llama/tokenizer.json", low]) == [
        *("gpt2", "my", "llama", "tokenizer 4")
    ]
    assert names_of(["a/my.model", "b/my.model"]) == ["a/my.model", "b/my.model"]
    path = tmp_path / "low.model"
    low.save(path)
    assert name_tokenizers(path).keys() == {"low"}
    texts = name_texts(texts=["no file at all", "another text"])
    assert [(text.name, len(text.texts)) for text in texts] == [("text", 2)]


def test_a_text_is_never_a_path(
    low: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of files, patterns, and strings that look like them, are measured as they are."""
    (tmp_path / "a.txt").write_text("low " * 100)
    monkeypatch.chdir(tmp_path)
    for text in ("*.txt", "a.txt", "**/*", str(tmp_path), "*a" + "/x" * 2000, "[" * 9000, "."):
        found = toksmith.compare({"low": low}, texts={"x": text}, speed=False)
        assert (found.texts[0].bytes, found.texts[0].name) == (len(text), "x")
        used = token_use(low, name_texts(texts=text), Reading())
        assert used.sum() == low.count(text)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("*a" + "/x" * 2000, "too many folders in one pattern"),
        ("*a" + "/x" * 20_000, "a path of 40,002 characters"),
        ("x" * 3000, "File name too long"),
        ("**/" * 200 + "nothing", "the pattern matches no file"),
    ],
)
def test_patterns_that_cannot_be(
    low: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for call in (toksmith.compare, toksmith.audit):
        with pytest.raises((OptionError, FormatError), match=message):
            call(low, files=pattern)  # type: ignore[operator]
    with pytest.raises((OptionError, FormatError), match=message):
        toksmith.advise(pattern, max_vocab=300)


def test_tokens_touching_words() -> None:
    # ␣low|er|,␣|n|ew: words at 1–6 and 8–11.
    tokens = np.array([[0, 4], [4, 6], [6, 8], [8, 9], [9, 11]])
    assert tokens_touching(tokens, np.array([[1, 6], [8, 11]])).tolist() == [2, 2]
    # One token over two words touches both; a word that no token covers has none.
    assert tokens_touching(np.array([[0, 7]]), np.array([[0, 3], [4, 7]])).tolist() == [1, 1]
    assert tokens_touching(np.array([[0, 2]]), np.array([[3, 5]])).tolist() == [0]


def test_scripts_by_hand() -> None:
    # a|␣b|é|␣я|я|中|1|2|.|␣|␣ as bytes of UTF-8: one token each, but for the spaces before letters.
    text = "a bé яя中12.  "
    pieces = ["a", " b", "é", " я", "я", "中", "1", "2", ".", " ", " ", ""]
    ends = np.cumsum([len(piece.encode()) for piece in pieces])
    spans = np.stack([np.append(0, ends[:-1]), ends], axis=1)
    tokens = tokens_by_script(byte_scripts(text.encode()), spans)
    assert {SCRIPTS[place]: int(tokens[place]) for place in np.flatnonzero(tokens)} == {
        "Latin": 3,
        "Cyrillic": 2,
        "Han": 1,
        "numbers": 2,
        "marks and symbols": 1,
        "white space": 2,
    }
    assert [SCRIPTS[place] for place in byte_scripts(b"\xe9")] == ["marks and symbols"]
    assert [SCRIPTS[place] for place in byte_scripts("한あ١ꠀ".encode())] == [
        *["Hangul"] * 3, *["kana"] * 3, *["numbers"] * 2, *["other letters"] * 3
    ]  # fmt: skip


def test_scripts_in_a_comparison(low: Tokenizer) -> None:
    texts = {"a": "low low", "b": "low яя"}
    found = toksmith.compare({"low": low}, texts=texts, speed=False)
    # low|␣|low and low|␣|D1|8F|D1|8F.
    (latin,), (white,), (cyrillic,) = found.by_script().values()
    assert (latin.script, latin.tokens, latin.bytes, latin.characters) == ("Latin", 3, 9, 9)
    assert (cyrillic.tokens, cyrillic.bytes, cyrillic.characters) == (4, 4, 2)
    assert (latin.characters_per_token, cyrillic.characters_per_token) == (3.0, 0.5)
    assert (white.script, white.tokens, isnan(white.characters_per_token)) == (
        *("white space", 2),
        True,
    )
    assert [each.text for each in found.scripts] == ["a", "a", "b", "b", "b"]


def test_spaces_that_a_tokenizer_leaves_out_are_not_compared(pieces: Tokenizer) -> None:
    spaced = toksmith.train(texts=["low low lower lower"], vocab_size=261)
    text = "low lower"
    assert [token.decode() for token in spaced.encoding(text).tokens] == ["low", " lower"]
    assert [token.decode() for token in pieces.encoding(text).tokens] == ["low", "lower"]
    marks = differing_tokens([tok.encoding(text) for tok in (spaced, pieces)])
    assert marks == [[False, False], [False, False]]


class TestSample:
    def test_all_of_a_small_text(self) -> None:
        sampler = Sampler(100, seed=3)
        sampler.add(b"one|two||six", np.array([[0, 3], [4, 7], [8, 8], [9, 12]]))
        assert sampler.passages == [b"one", b"two", b"six"]

    def test_passages_of_a_file_are_bytes(self, tmp_path: Path) -> None:
        file = tmp_path / "a.txt"
        file.write_text("one two\n" * 10_000)
        with open_mapped(file) as data:
            sampler = Sampler(10_000, seed=0)
            sampler.add(data, np.array([[0, len(data)]]))
        assert {type(passage) for passage in sampler.passages} == {bytes}
        tok = toksmith.train(texts=["one two"], vocab_size=258, progress=False)
        assert toksmith.compare([tok], files=file, speed=False).texts[0].sample_words > 10_000

    @given(st.integers(1, 40_000), st.integers(0, 5), st.sampled_from(["ab c\n", "é", "語x", "🙂"]))
    def test_passages_are_whole_characters_of_the_text(
        self, size: int, seed: int, unit: str
    ) -> None:
        data = unit.encode() * (60_000 // len(unit.encode()))
        bounds = np.array([[0, 30_000 // len(unit.encode()) * len(unit.encode())], [0, len(data)]])
        sampler = Sampler(size, seed)
        sampler.add(data, bounds)
        sample = sampler.passages
        assert size <= sum(map(len, sample)) < size + 2 * PASSAGE
        assert all(passage.decode() and len(passage) <= 2 * PASSAGE for passage in sample)

    def test_pieces_of_a_document_give_it_back(self) -> None:
        data = "".join(f"line {i} of é\n" * (i % 7) for i in range(2000)).encode()
        sampler = Sampler(len(data), seed=0)
        sampler.add(data, np.array([[0, len(data)]]))
        assert b"".join(sampler.passages) == data
        assert len(sampler.passages) > 10

    def test_a_text_of_one_line_is_cut_between_words(self) -> None:
        data = b" ".join(b"word%d" % i for i in range(5000))
        sampler = Sampler(len(data), seed=0)
        sampler.add(data, np.array([[0, len(data)]]))
        assert len(sampler.passages) > 5
        assert b"".join(sampler.passages) == data
        assert [word for passage in sampler.passages for word in passage.split()] == data.split()

    def test_blocks_do_not_matter(self) -> None:
        data = bytes(range(256)) * 400
        bounds = np.array([[i * 100, i * 100 + 100] for i in range(1000)])
        whole, parts = Sampler(5_000, 1), Sampler(5_000, 1)
        whole.add(data, bounds)
        for start in range(0, 1000, 37):
            parts.add(data, bounds[start : start + 37])
        assert whole.passages == parts.passages
        assert len(whole.passages) == 50
        assert whole.passages != Sampler(5_000, 2).passages
