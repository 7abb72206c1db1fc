"""Commands read files as training does: rows by column, and only valid UTF-8."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

import toksmith
from tests.cli.conftest import Run
from toksmith.errors import FormatError, OptionError

ROWS = 'id,text,note\n1,low new,x\n2,"wide, low\nnew",y\n'
TEXTS = ["low new", "wide, low\nnew"]
NO_COLUMN = "has no column 'text'; its first row names 'id', 'body'. Choose one with --field"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text(ROWS)
    Path("x.tsv").write_text("id\tbody\n1\tlow new\n")
    Path("x.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    Path("x.csv.gz").write_bytes(gzip.compress(ROWS.encode()))
    Path("bad.txt").write_bytes(b"low \xc3\xa9 \xff new")
    return tmp_path


class TestColumns:
    @pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.csv.gz"])
    def test_encode(self, run: Run, model: Path, here: Path, name: str) -> None:
        tok = toksmith.load(model)
        expected = [tok.encode(text) for text in TEXTS]
        ran = run("encode", "-f", name, "-t", model, "--format", "json")
        assert json.loads(ran.out) == expected
        assert tok.encode_file(name).to_lists() == expected
        assert run("encode", "-f", name, "-t", model, "-o", "x.npy").code == 0
        assert np.load("x.ends.npy").tolist() == np.cumsum([*map(len, expected)]).tolist()

    def test_another_column(self, run: Run, model: Path, here: Path) -> None:
        tok = toksmith.load(model)
        ran = run("encode", "-f", "x.csv", "-t", model, "--field", "note", "--format", "json")
        assert json.loads(ran.out) == [tok.encode("x"), tok.encode("y")]
        assert tok.encode_file("x.tsv", field="body").to_lists() == [tok.encode("low new")]

    def test_as_text(self, run: Run, model: Path, here: Path) -> None:
        tok = toksmith.load(model)
        assert run("encode", "-f", "x.csv", "-t", model, "--read-as", "text").ids == (
            tok.encode(ROWS)
        )
        assert run("count", "x.csv", "-t", model, "--read-as", "text").ids == [tok.count(ROWS)]

    def test_count(self, run: Run, model: Path, here: Path) -> None:
        tok = toksmith.load(model)
        expected = sum(map(tok.count, TEXTS))
        for name in ("x.csv", "x.jsonl", "x.csv.gz"):
            assert run("count", name, "-t", model).ids == [expected]
            assert run("count", "-f", name, "-t", model).ids == [expected]
        tokens = tok.count("x") + tok.count("y")
        assert run("count", "x.csv", "-t", model, "--field", "note").ids == [tokens]

    @pytest.mark.parametrize("command", [["encode", "-f"], ["count"], ["count", "-f"]])
    def test_no_such_column(self, run: Run, model: Path, here: Path, command: list[str]) -> None:
        ran = run(*command, "x.tsv", "-t", model)
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err == f"toksmith: error: x.tsv: {NO_COLUMN}\n"

    def test_verify(self, run: Run, model: Path, here: Path) -> None:
        ran = run("verify", model, model, "x.csv")
        assert ran.out.decode().endswith("2 documents, 20 bytes\n")
        assert NO_COLUMN in run("verify", model, model, "x.tsv").err

    def test_text_among_the_files(self, run: Run, model: Path, here: Path) -> None:
        tok = toksmith.load(model)
        Path("a.txt").write_text("low")
        ran = run("count", "a.txt", "x.csv", "-t", model, "--field", "note")
        tokens = [tok.count("low"), tok.count("x") + tok.count("y")]
        assert ran.out.decode() == (
            f"{tokens[0]}\ta.txt\n{tokens[1]}\tx.csv\n{sum(tokens)}\ttotal\n"
        )
        ran = run("verify", model, model, "a.txt", "x.csv", "--field", "note")
        assert ran.out.decode().endswith("3 documents, 5 bytes\n")
        for command in (["count", "-t", model], ["verify", model, model]):
            ran = run(*command, "a.txt", "--field", "note")
            assert (ran.code, ran.out) == (2, b"")
            assert "field is 'note', and a.txt is read as text" in ran.err


class TestInvalidBytes:
    @pytest.mark.parametrize(
        "command",
        ["encode -t MODEL -f", "count -t MODEL", "inspect -t MODEL -f", "words -f",
         "sentences -f", "verify MODEL MODEL", "convert MODEL new.model --verify"],
    )  # fmt: skip
    def test_are_refused(self, run: Run, model: Path, here: Path, command: str) -> None:
        words = [str(model) if word == "MODEL" else word for word in command.split()]
        ran = run(*words, "bad.txt")
        assert ran.code == 2
        assert "bad.txt: is not UTF-8 text: byte 0xFF at offset 7 is part of no char" in ran.err
        if "convert" not in command:
            assert ran.err.endswith("--encoding-errors replace\n")
            ran = run(*words, "bad.txt", "--encoding-errors", "replace")
            assert (ran.code, ran.err.count("error")) == (0, 0)

    def test_replaced(self, run: Run, model: Path, here: Path) -> None:
        tok = toksmith.load(model)
        ids = tok.encode("low é \ufffd new")
        replace = ("--encoding-errors", "replace")
        assert run("encode", "-f", "bad.txt", "-t", model, *replace).ids == ids
        assert run("count", "bad.txt", "-t", model, *replace).ids == [len(ids)]
        assert run("words", "-f", "bad.txt", *replace).out.decode().split() == ["low", "é", "new"]
        assert run("sentences", "-f", "bad.txt", *replace).out.decode() == "low é \ufffd new\n"
        shown = run("inspect", "-f", "bad.txt", "-t", model, *replace).out.decode()
        assert "EF" in shown
        assert "FF" not in shown

    def test_encode_file(self, model: Path, here: Path) -> None:
        tok = toksmith.load(model)
        with pytest.raises(FormatError, match=r"0xFF at offset 7 .* encoding_errors=\"replace\""):
            tok.encode_file("bad.txt")
        with pytest.raises(OptionError, match="encoding_errors is 'ignore'"):
            tok.encode_file("bad.txt", encoding_errors="ignore")
        ids = tok.encode("low é \ufffd new")
        assert tok.encode_file("bad.txt", encoding_errors="replace").to_lists() == [ids]
        parts = tok.encode_file("bad.txt", encoding_errors="replace", separator=" new")
        assert parts.to_lists() == [tok.encode("low é \ufffd")]


class TestPatterns:
    @pytest.fixture
    def texts(self, here: Path) -> None:
        for name in ("a1.txt", "a2.txt", "b.txt"):
            Path(name).write_text(f"low {name}")

    @pytest.mark.usefixtures("texts")
    def test_commands_read_the_files_of_a_pattern(self, run: Run, model: Path) -> None:
        both = ("a1.txt", "a2.txt")
        count = ("count", "-t", model)
        ran = run(*count, "a*.txt")
        assert [line.split("\t")[1] for line in ran.out.decode().splitlines()] == [*both, "total"]
        assert ran == run(*count, *both) == run(*count, "a?.txt") == run(*count, "[a]*")
        assert ran == run(*count, "-f", "a*.txt")
        assert run(*count, "b.txt", "a*.txt") == run(*count, "b.txt", *both)
        verify = ("verify", model, model)
        assert run(*verify, "a*.txt").out.decode().endswith(": 2 documents, 20 bytes\n")
        convert = ("convert", model, "new.json", "--verify")
        assert run(*convert, "a*.txt").out.decode().endswith(": 2 documents, 20 bytes\n")
        compare = ("compare", model, "--no-speed", "--on")
        ran = run(*compare, "a*.txt")
        assert "a2.txt" in ran.out.decode()
        assert ran == run(*compare, *both)
        ran = run(*compare, "A=a*.txt", "B=b.txt", "--csv", "-")
        texts = [line.split(",")[1] for line in ran.out.decode().splitlines()]
        assert texts == ["text", "A", "B", "all"]

    @pytest.mark.usefixtures("texts")
    @pytest.mark.parametrize(
        "command",
        ["count -t MODEL", "verify MODEL MODEL", "compare MODEL --on", "audit MODEL --on",
         "train -o x.model --vocab-size 260", "advise"],
    )  # fmt: skip
    @pytest.mark.parametrize("files", [["c*.txt"], ["b.txt", "c*"]])
    def test_a_pattern_without_files(
        self, run: Run, model: Path, command: str, files: list[str]
    ) -> None:
        words = [str(model) if word == "MODEL" else word for word in command.split()]
        ran = run(*words, *files)
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err.startswith(f"toksmith: error: {files[-1]}: the pattern matches no file")

    @pytest.mark.usefixtures("texts")
    @pytest.mark.parametrize(
        "text", ["low?", "what is 3*4?", "** low **", "[1] a1.txt", "*" * 5000]
    )
    def test_a_text_that_matches_no_file(self, run: Run, model: Path, text: str) -> None:
        assert run("count", text, "-t", model).ids == [toksmith.load(model).count(text)]


class TestStandardInput:
    COMMANDS = (
        "encode -t MODEL", "count -t MODEL", "inspect -t MODEL", "words", "sentences",
        "verify MODEL MODEL -", "compare MODEL --no-speed --measure tokens",
    )  # fmt: skip

    @pytest.mark.parametrize("command", COMMANDS)
    def test_invalid_bytes(self, run: Run, model: Path, command: str) -> None:
        words = [str(model) if word == "MODEL" else word for word in command.split()]
        ran = run(*words, stdin=b"low \xc3\xa9 \xff new")
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err == (
            "toksmith: error: standard input: is not UTF-8 text: byte 0xFF at offset 7 is part of "
            "no character. Convert it, or replace such bytes by U+FFFD with --encoding-errors "
            "replace\n"
        )
        ran = run(*words, "--encoding-errors", "replace", stdin=b"low \xc3\xa9 \xff new")
        assert (ran.code, ran.err.count("error")) == (0, 0)
        assert ran.out == run(*words, stdin="low é \ufffd new".encode()).out

    @pytest.mark.parametrize("command", COMMANDS)
    def test_a_byte_order_mark_is_skipped(self, run: Run, model: Path, command: str) -> None:
        words = [str(model) if word == "MODEL" else word for word in command.split()]
        ran = run(*words, stdin=b"\xef\xbb\xbflow new")
        assert (ran.code, ran.out) == (0, run(*words, stdin=b"low new").out)

    @pytest.mark.parametrize("name", ["utf-16", "utf-16-le", "utf-32"])
    def test_other_encodings(self, run: Run, model: Path, name: str) -> None:
        ran = run("count", "-t", model, stdin=("low new " * 5).encode(name))
        assert (ran.code, ran.out) == (2, b"")
        assert "standard input: " in ran.err
        assert f"{name.upper().removesuffix('-LE')}" in ran.err
        assert "iconv -f UTF" in ran.err

    def test_bytes_are_shown_as_they_are(self, run: Run) -> None:
        assert "FF" in run("unicode", stdin=b"low \xff").out.decode()


class TestInspectIsShort:
    @pytest.mark.parametrize("extra", [[], ["--steps"], ["--brief"]])
    def test_of_a_long_file(self, run: Run, model: Path, here: Path, extra: list[str]) -> None:
        Path("long.txt").write_text("low new " * 4_000)
        ran = run("inspect", "-f", "long.txt", "-t", model, *extra)
        lines = ran.out.decode().splitlines()
        tokens = toksmith.load(model).count("low new " * 4_000)
        assert f"… and {tokens - 500:,} tokens more; --limit 0 prints all" in lines
        assert len(lines) < 1200
        assert f"{tokens:,} tokens" in ran.out.decode()

    def test_all_of_it(self, run: Run, model: Path, here: Path) -> None:
        text = "low new " * 300
        ran = run("inspect", text, "-t", model, "--limit", 0)
        tokens = toksmith.load(model).count(text)
        assert "more" not in ran.out.decode()
        assert ran.out.decode().count("6C 6F 77") == 300
        assert tokens > 500
        rows = run("inspect", text, "-t", model, "--limit", 3).out.decode().splitlines()
        assert len(rows) == 1 + 1 + 3 + 1 + 1


class TestOutput:
    def test_json_lines(self, run: Run, model: Path, here: Path) -> None:
        tok = toksmith.load(model)
        lines = [tok.encode(text) for text in TEXTS]
        for out in (["-o", "ids.jsonl"], ["--format", "jsonl"]):
            ran = run("encode", "-f", "x.csv", "-t", model, *out)
            data = Path("ids.jsonl").read_bytes() if out[0] == "-o" else ran.out
            assert [json.loads(line) for line in data.splitlines()] == lines
        decoded = run("decode", "-f", "ids.jsonl", "-t", model).out.decode()
        assert decoded == "".join(TEXTS)
        Path("ids.jsonl").write_text("[1]\n[x]\n")
        ran = run("decode", "-f", "ids.jsonl", "-t", model)
        assert ran.err.startswith("toksmith: error: ids.jsonl: line 2: the ids are not JSON")

    def test_a_dash_is_standard_output(self, run: Run, model: Path, here: Path) -> None:
        ids = toksmith.load(model).encode("low new")
        assert run("encode", "low new", "-t", model, "-o", "-").ids == ids
        assert run("decode", *ids, "-t", model, "-o", "-").out == b"low new"
        ran = run("encode", "low new", "-t", model, "-o", "-", "--format", "npy")
        assert np.load(io.BytesIO(ran.out)).tolist() == ids
        assert not Path("-").exists()
