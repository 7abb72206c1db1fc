"""Counts: making, adding, filtering, saving, and training from them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import toksmith
from toksmith import Counts
from toksmith._base.seals import seal
from toksmith.engine import counting
from toksmith.errors import FormatError, OptionError, SplitError, UnsupportedError
from toksmith.splitters import PatternSplitter, splitter
from toksmith.trainers.counting.counts import stream_counts
from toksmith.trainers.counting.files.parquet import CountsFile, write

PARTS = ["low lower lowest\n", "new low newer\n\nnew", "wide, wider: ünï 日本 low"]
WORDS = PatternSplitter(r"\S+", "drop")


def items(counts: Counts) -> list[tuple[bytes, int]]:
    return list(counts)


def whole() -> Counts:
    return Counts.from_texts(PARTS)


class TestMade:
    def test_literals(self) -> None:
        counts = Counts.from_texts(["a b a", " a"], split="gpt2")
        assert items(counts) == [(b"a", 1), (b" b", 1), (b" a", 2)]
        assert (len(counts), counts.bytes, counts.documents) == (3, 7, 2)
        assert counts.splitter == splitter("gpt2")

    def test_without_a_split_documents_are_chunks(self) -> None:
        counts = Counts.from_texts(["a b", "a b", "c"], split=None)
        assert (items(counts), counts.splitter) == ([(b"a b", 2), (b"c", 1)], None)

    def test_words_without_gaps(self) -> None:
        counts = Counts.from_texts(["a  b\n", "b"], split=r"\S+", gaps="drop")
        assert (items(counts), counts.splitter) == ([(b"a", 1), (b"b", 2)], WORDS)

    def test_files(self, tmp_path: Path) -> None:
        for number, text in enumerate(PARTS):
            (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
        counts = Counts.from_files(tmp_path, threads=2)
        assert (items(counts), counts.documents) == (items(whole()), 3)
        apart = Counts.from_files([tmp_path / "0.txt"], separator=" ")
        assert (items(apart), apart.documents) == ([(b"low", 1), (b"lower", 1), (b"lowest", 1),
                                                    (b"\n", 1)], 3)  # fmt: skip


class TestArithmetic:
    def test_parts_add_up_to_the_whole(self) -> None:
        a, b, c = (Counts.from_texts([part]) for part in PARTS)
        for counts in ((a + b) + c, a + (b + c)):
            assert (items(counts), counts.documents) == (items(whole()), 3)

    def test_the_first_ones_first(self) -> None:
        a, b = Counts.of({b"x": 1, b"y": 2}), Counts.of({b"z": 5, b"y": 1})
        assert items(a + b) == [(b"x", 1), (b"y", 3), (b"z", 5)]
        assert items(b + a) == [(b"z", 5), (b"y", 3), (b"x", 1)]

    def test_nothing_adds_nothing(self) -> None:
        assert items(Counts.of({}) + Counts.of({b"a": 1})) == [(b"a", 1)]
        assert items(Counts.of({}) + Counts.of({})) == []

    def test_different_splitters(self) -> None:
        with pytest.raises(OptionError, match="gpt2 and cl100k"):
            Counts.from_texts(["a"], split="gpt2") + Counts.from_texts(["a"])
        with pytest.raises(OptionError, match=r"none and '\\S\+' without the gaps"):
            Counts.of({b"a": 1}) + Counts.of({b"a": 1}, split=WORDS)
        with pytest.raises(TypeError):
            Counts.of({b"a": 1}) + {b"a": 1}  # type: ignore[operator]

    def test_counts_are_64_bit(self) -> None:
        assert items(Counts.of({b"a": 2**62}) + Counts.of({b"a": 5})) == [(b"a", 2**62 + 5)]
        for _ in range(2):
            with pytest.raises(OptionError, match=r"2\*\*63"):
                Counts.of({b"a": 2**62}) + Counts.of({b"a": 2**62})

    def test_filter(self) -> None:
        counts = Counts.of({b"one": 1, b"three": 3, b"t": 2, b"zero": 0}, split=WORDS)
        assert items(counts.filter(2)) == [(b"three", 3), (b"t", 2)]
        assert counts.filter(2).splitter == WORDS
        assert items(counts.filter(0)) == items(counts)
        assert items(counts.filter(9)) == []
        with pytest.raises(OptionError, match="min_count"):
            counts.filter(-1)

    def test_most_common(self) -> None:
        counts = Counts.of({b"one": 1, b"big": 2**60, b"uno": 1, b"t": 2})
        assert counts.most_common(3) == [(b"big", 2**60), (b"t", 2), (b"one", 1)]
        assert counts.most_common()[3:] == [(b"uno", 1)]
        assert counts.most_common(0) == []
        with pytest.raises(OptionError, match="n is -1"):
            counts.most_common(-1)


class TestParquet:
    def test_there_and_back(self, tmp_path: Path) -> None:
        path = tmp_path / "a.counts"
        for counts in (
            whole(),
            Counts.of({}),
            Counts.of({b"\0\xff\n": 2**61, b"a" * 100_000: 0}),
            Counts.of({b"a": 1}, split=WORDS),
        ):
            counts.save(path)
            again = Counts.load(path)
            assert items(again) == items(counts)
            assert again.chunks == counts.chunks
            assert again.ends.dtype == again.counts.dtype == np.uint64
            assert (again.splitter, again.documents) == (counts.splitter, counts.documents)
        assert [file.name for file in tmp_path.iterdir()] == ["a.counts"]

    def test_others_can_read_it(self, tmp_path: Path) -> None:
        path = tmp_path / "a.counts"
        Counts.of({b"low": 3, b"er": 1}).save(path)
        table = pq.read_table(path)
        assert table.to_pydict() == {"chunk": [b"low", b"er"], "count": [3, 1]}
        assert [str(field.type) for field in table.schema] == ["binary", "uint64"]
        header = json.loads(table.schema.metadata[b"toksmith.counts"])
        assert (header["splitter"], header["documents"], header["bytes"]) == (None, 0, 11)
        assert header["toksmith"] == toksmith.__version__

    def test_pieces(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(counting, "BATCH_CHUNKS", 3)
        path = tmp_path / "a.counts"
        whole().save(path)
        assert pq.ParquetFile(path).num_row_groups > 2
        assert items(Counts.load(path)) == items(whole())
        assert items(Counts.merge([path])) == items(whole())

    def test_merge(self, tmp_path: Path) -> None:
        paths = [tmp_path / f"{i}" for i in range(3)]
        for path, part in zip(paths, PARTS, strict=True):
            Counts.from_texts([part]).save(path)
        merged = Counts.merge(paths)
        assert (items(merged), merged.documents) == (items(whole()), 3)
        Counts.of({b"a": 1}).save(paths[1])
        with pytest.raises(OptionError, match="different splitters"):
            Counts.merge(paths)
        for none in ([], b"abc", 3):
            with pytest.raises(OptionError, match="paths"):
                Counts.merge(none)

    def test_no_such_file(self, tmp_path: Path) -> None:
        for path in (tmp_path / "none", tmp_path):
            with pytest.raises(FormatError):
                Counts.load(path)
        with pytest.raises(OptionError, match="cannot be written"):
            whole().save(tmp_path / "none" / "a.counts")

    def test_damage(self, tmp_path: Path) -> None:
        path = tmp_path / "a.counts"
        Counts.from_texts([" ".join(map(str, range(300)))]).save(path)
        expected = items(Counts.load(path))
        whole, rng = path.read_bytes(), random.Random(1)
        for round_ in range(300):
            place = rng.randrange(len(whole))
            rest = whole[place + 1 :] if round_ % 3 else b""
            path.write_bytes(whole[:place] + rng.randbytes(round_ % 3) + rest)
            with suppress(FormatError):
                assert items(Counts.load(path)) == expected

    @pytest.mark.parametrize("shard", [None, {"number": 1}])
    def test_a_flipped_bit_in_the_metadata(self, tmp_path: Path, shard: Any) -> None:
        """Parquet has no checksum of its metadata, which hold the split pattern."""
        path = tmp_path / "a.counts"
        counts = Counts.from_texts(["low lower lowest"], split=r"\w+|\s+")
        write(stream_counts(counts), path, shard)
        sound = path.read_bytes()
        size = int.from_bytes(sound[-8:-4], "little")  # of the metadata, before it
        rng = random.Random(5)
        refusals = []
        for _ in range(300):
            place = len(sound) - 8 - 1 - rng.randrange(size)
            flipped = bytearray(sound)
            flipped[place] ^= 1 << rng.randrange(8)
            path.write_bytes(flipped)
            try:
                file = CountsFile(path)
                found = file.read()
            except FormatError as wrong:
                refusals.append(wrong.path)
            else:
                assert items(found) == items(counts)
                assert (found.splitter, found.documents) == (counts.splitter, counts.documents)
                assert file.shard == shard
        assert len(refusals) > 150
        assert {*refusals} == {str(path)}

    def test_changed_metadata(self, tmp_path: Path) -> None:
        path = tmp_path / "a.counts"
        Counts.of({b"low": 3}, split=WORDS).save(path)
        table = pq.read_table(path)
        header = table.schema.metadata[b"toksmith.counts"].replace(b'"drop"', b'"keep"')
        assert header != table.schema.metadata[b"toksmith.counts"]
        pq.write_table(table.replace_schema_metadata({"toksmith.counts": header}), path)
        with pytest.raises(FormatError, match=r"a\.counts: is damaged \(its metadata have another"):
            Counts.load(path)

    @pytest.mark.parametrize(
        ("header", "says"),
        [
            ("{", "no JSON"),
            ("[]", "layout is None"),
            ('{"layout": 1}', "layout is 1, but this version reads 2"),
            ('{"layout": 2}', "documents is None"),
            ('{"layout": 2, "documents": -1}', "documents is -1"),
            ('{"layout": 2, "documents": 0, "splitter": 3}', "3 is no splitter"),
            ('{"layout": 2, "splitter": {"pattern": "(", "gaps": "keep"}}', "regular expression"),
            ('{"layout": 2, "splitter": {"pattern": "a", "gaps": "?"}}', "splitter"),
            ('{"layout": 2, "documents": 0, "chunks": 2, "bytes": 3}', "occurrences is None"),
            (
                '{"layout": 2, "documents": 0, "chunks": 2, "bytes": 3, "occurrences": 3}',
                "do not match its totals",
            ),
        ],
    )
    def test_headers(self, tmp_path: Path, header: str, says: str) -> None:
        path = tmp_path / "a.counts"
        self.write(path, {"chunk": [b"ab"], "count": [3]}, header)
        with pytest.raises(FormatError, match=says):
            Counts.load(path)

    def test_other_tables(self, tmp_path: Path) -> None:
        path = tmp_path / "a.counts"
        for columns in ({"chunk": [b"a"]}, {"chunk": [b"a"], "count": [b"a"]}):
            self.write(path, columns, "{}")
            with pytest.raises(FormatError, match="holds no counts of toksmith"):
                Counts.load(path)
        self.write(path, {"chunk": [b"a"], "count": [1]}, None)
        with pytest.raises(FormatError, match="holds no counts of toksmith"):
            Counts.load(path)
        header = '{"layout": 2, "documents": 0, "chunks": 1, "bytes": 1, "occurrences": 1}'
        for chunk, count, says in ((None, 1, "missing"), (b"a", None, "missing"), (b"", 1, "empty"),
                                   (b"abcd", 2**61, r"2\*\*63")):  # fmt: skip
            self.write(path, {"chunk": [chunk], "count": [count]}, header)
            with pytest.raises(FormatError, match=says):
                Counts.load(path)

    def write(self, path: Path, columns: dict[str, Any], header: str | None) -> None:
        types = {"chunk": pa.binary(), "count": pa.uint64()}
        arrays = {
            name: pa.array(values, None if values == [b"a"] else types[name])
            for name, values in columns.items()
        }
        if header is not None and header[:1] == "{" != header:
            header = json.dumps(seal(json.loads(header)))
        metadata = None if header is None else {"toksmith.counts": header}
        pq.write_table(pa.table(arrays).replace_schema_metadata(metadata), path)


class TestTsv:
    def test_there_and_back(self, tmp_path: Path) -> None:
        path = tmp_path / "a.tsv"
        counts = Counts.of({"wörd".encode(): 3, b"b c": 2**61, b"none": 0})
        counts.to_tsv(path)
        assert path.read_bytes() == "wörd\t3\nb c\t2305843009213693952\n".encode()
        assert items(Counts.from_tsv(path)) == items(counts.filter(1))

    def test_words_twice_and_other_line_ends(self, tmp_path: Path) -> None:
        path = tmp_path / "a.tsv"
        path.write_bytes(b"a\t1\r\nb\t2\na\t5")
        assert items(Counts.from_tsv(path, split=WORDS)) == [(b"a", 6), (b"b", 2)]
        assert Counts.from_tsv(path, split=WORDS).splitter == WORDS

    @pytest.mark.parametrize(
        "line", ["a", "a\t", "a\t0", "a\t-1", "a\t1.5", "a\t1_0", "\t3", "a\t1\t2", "",
                 f"a\t{2**63}", "a\t" + "9" * 5000]
    )  # fmt: skip
    def test_wrong_lines(self, tmp_path: Path, line: str) -> None:
        path = tmp_path / "a.tsv"
        path.write_text(f"fine\t1\n{line}\n", encoding="utf-8")
        with pytest.raises(FormatError, match="line 2 is"):
            Counts.from_tsv(path)

    def test_wrong_files(self, tmp_path: Path) -> None:
        for path in (tmp_path / "none", tmp_path):
            with pytest.raises(FormatError):
                Counts.from_tsv(path)

    @pytest.mark.parametrize("chunk", [b"a\tb", b"\n"])
    def test_chunks_that_tsv_cannot_hold(self, tmp_path: Path, chunk: bytes) -> None:
        path = tmp_path / "a.tsv"
        with pytest.raises(UnsupportedError, match="tsv cannot hold the chunk"):
            Counts.of({b"fine": 1, chunk: 1}).to_tsv(path)
        assert not list(tmp_path.iterdir())

    def test_training_from_it(self, tmp_path: Path) -> None:
        path = tmp_path / "words.tsv"
        text = "the cat sat on the mat, the fat cat\n" * 3
        Counts.from_texts([text], split=r"\S+", gaps="drop").to_tsv(path)
        options: dict[str, Any] = {"model": "sentencepiece-bpe", "vocab_size": 24}
        from_tsv = toksmith.train(path, input_format="tsv", **options)
        assert from_tsv.pipeline.model == toksmith.train(texts=[text], **options).pipeline.model


class TestTraining:
    @pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
    @pytest.mark.parametrize("unit", ["bytes", "characters"])
    def test_as_from_the_text(self, tmp_path: Path, ties: str, unit: str) -> None:
        options: dict[str, Any] = {"vocab_size": 264, "ties": ties, "unit": unit}
        if unit == "characters":
            options["vocab_size"] = 30
        expected = toksmith.train(texts=PARTS, **options)
        first, second = Counts.from_texts(PARTS[:1]), Counts.from_texts(PARTS[1:])
        for counts in (whole(), first + second):
            tok = toksmith.train(counts=counts, **options)
            assert tok.pipeline == expected.pipeline
            assert tok.training is not None
            assert expected.training is not None
            assert tok.training.documents == 3
            assert (tok.training.tokens_after == expected.training.tokens_after).all()
            if unit == "bytes":
                expected.save(tmp_path / "text.model")
                tok.save(tmp_path / "counts.model")
                saved = [(tmp_path / f"{of}.model").read_bytes() for of in ("text", "counts")]
                assert saved[0] == saved[1]

    @pytest.mark.parametrize("model", ["word", "char"])
    def test_words_and_characters(self, model: str) -> None:
        assert (
            toksmith.train(counts=whole(), model=model).pipeline
            == toksmith.train(texts=PARTS, model=model).pipeline
        )

    @pytest.mark.parametrize(
        ("model", "size"), [("wordpiece", 24), ("unigram", 18), ("sentencepiece-bpe", 24)]
    )
    def test_documents(self, model: str, size: int) -> None:
        texts = ["the cat sat on the mat"] * 3 + ["the fat cat"]
        counts = Counts.from_texts(texts, split=None)
        assert len(counts) == 2
        assert (
            toksmith.train(counts=counts, model=model, vocab_size=size).pipeline
            == toksmith.train(texts=texts, model=model, vocab_size=size).pipeline
        )

    @pytest.mark.parametrize("model", ["wordpiece", "unigram", "sentencepiece-unigram"])
    def test_models_that_count_words_of_their_own(self, model: str) -> None:
        with pytest.raises(OptionError, match=f"split cl100k.*cannot train model '{model}'"):
            toksmith.train(counts=whole(), model=model)

    def test_another_split(self) -> None:
        with pytest.raises(OptionError, match="split is 'gpt2', but the counts were made with cl"):
            toksmith.train(counts=whole(), vocab_size=256, split="gpt2")
        assert toksmith.train(counts=whole(), vocab_size=256, split="gpt4").vocab_size == 256


def test_counts_are_given_a_split_by_name() -> None:
    counts = Counts.of({b"low": 3}, split="GPT-4")
    assert counts.splitter == splitter("gpt4")
    tok = toksmith.train(counts=counts, vocab_size=258)
    assert tok.pipeline.splitter == splitter("gpt4")
    assert Counts.of({b"low": 3}, split=WORDS).splitter == WORDS
    assert Counts.of({b"low": 3}, split="none").splitter is None
    with pytest.raises(SplitError, match="unknown split 'gpt9'"):
        Counts.of({b"low": 3}, split="gpt9")


def test_sum_adds_counts_up() -> None:
    a, b = Counts.from_texts("low"), Counts.from_texts("low lower")
    assert items(sum([a, b])) == items(a + b)  # type: ignore[arg-type]
    assert items(sum([a])) == items(a)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        sum([a, b], start=1)  # type: ignore[call-overload]


@pytest.mark.parametrize("path", [5, None, b"a", ["a"]])
def test_a_value_that_is_not_a_path(path: object) -> None:
    for read in (Counts.load, Counts.from_tsv, lambda path: Counts.merge([path])):
        with pytest.raises(OptionError, match=r"path is .*: use a str or a pathlib\.Path"):
            read(path)  # type: ignore[operator]
    with pytest.raises(OptionError, match="counted is"):
        Counts.of(path)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="checkpoint is"):
        toksmith.train(counts=Counts.of({b"a": 1}), vocab_size=256, checkpoint=path or 5)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="paths is"):
        Counts.merge(5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="path is"):
        Counts.of({b"a": 1}).save(path)  # type: ignore[arg-type]


def test_gaps_are_kept_or_dropped() -> None:
    with pytest.raises(SplitError, match="gaps is 'x': use 'keep' or 'drop'"):
        Counts.from_texts("a b", split=r"\w", gaps="x")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="path is an empty string"):
        Counts.of({b"a": 1}).save("")


def test_counts_given_as_a_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.counts"
    Counts.of({b"low": 3}).save(path)
    with pytest.raises(FormatError, match="counts of a text are given with counts="):
        toksmith.train(path, vocab_size=257)


def test_files_of_counts_do_not_import_pandas(tmp_path: Path) -> None:
    """Its import takes as long as a million chunks, and may lose Ctrl-C."""
    code = """
import sys
from toksmith import Counts
Counts.of({b"low": 2}).save(sys.argv[1])
assert dict(Counts.load(sys.argv[1])) == {b"low": 2}
assert "pyarrow" in sys.modules
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.counts")], check=True)
