"""The output and the files of each command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer

import toksmith
from tests.cli.conftest import CORPUS, Ran, Run
from toksmith.cli.app import app
from toksmith.cli.glossary import TERMS, meaning

TEXT = "lower 字 newest\n"


def _commands() -> list[str]:
    """Return the words of every command, as the app has them."""
    found = []
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        found += [name, *(f"{name} {inner}" for inner in getattr(command, "commands", {}))]
    return found


def folder_of(path: Path) -> set[str]:
    return {file.name for file in path.iterdir()}


class TestHelp:
    def test_the_commands_are_all_there(self) -> None:
        assert {"train", "encode", "explore", "compare", "audit", "help", "counts merge"} < {
            *_commands()
        }

    @pytest.mark.parametrize("command", _commands())
    def test_each_command_shows_an_example(self, run: Run, command: str) -> None:
        ran = run(*command.split(), "--help")
        assert ran.code == 0
        assert f"Example  toksmith {command}" in ran.out.decode() or command == "decode"
        assert re.search(rf"Example .*toksmith {command}", ran.out.decode(), re.S)

    @pytest.mark.parametrize("command", _commands())
    def test_help_names_no_types(self, run: Run, command: str) -> None:
        assert not re.search(
            r"<(bool|int|str|float|path)\b|range|list\[|x>=",
            run(*command.split(), "--help").out.decode(),
        )

    def test_help_lists_commands_in_groups(self, run: Run) -> None:
        shown = run("--help").out.decode()
        places = [shown.index(f"─ {group} ─") for group in ("Use", "Look", "Train", "Check")]
        assert places == sorted(places)
        assert places[0] < shown.index("│ encode ") < places[1] < shown.index("│ inspect ")
        assert places[2] < shown.index("│ counts ") < places[3] < shown.index("│ convert ")

    def test_help_explains_a_command(self, run: Run) -> None:
        assert run("help", "counts", "make").out == run("counts", "make", "--help").out
        assert run("help").out == run("--help").out
        assert run("help", "nope").code == 2

    @pytest.mark.parametrize(
        ("words", "term"),
        [
            ("chunk", "chunk"),
            ("Chunks", "chunk"),
            ("byte fallback", "byte fallback"),
            ("renyi efficiency", "Rényi efficiency"),
            ("vocabularies", "vocabulary"),
        ],
    )
    def test_help_explains_a_term(self, run: Run, words: str, term: str) -> None:
        ran = run("help", *words.split())
        assert (ran.code, ran.out.decode()) == (0, TERMS[term] + "\n")

    def test_help_lists_the_terms_for_an_unknown_one(self, run: Run) -> None:
        ran = run("help", "nope")
        assert ran.code == 2
        assert "nope is neither a command nor a term" in ran.err
        assert "chunk, code point, combining mark" in ran.err

    @pytest.mark.parametrize(
        "term",
        [
            *("chunk", "merge", "id", "literal", "template", "parity", "fertility", "lattice"),
            *("special token", "round trip", "Rényi efficiency", "UAX #29", "ICU", "counts"),
            *("bootstrap interval", "corpus", "document", "checkpoint", "tie", "hole", "logits"),
        ],
    )
    def test_words_of_the_help_texts_are_explained(self, term: str) -> None:
        assert meaning(term) == TERMS[term]

    def test_terms_are_in_order_and_explained_in_sentences(self) -> None:
        folded = [term.casefold().replace("é", "e") for term in TERMS]
        assert folded == sorted(folded)
        assert [term for term, text in TERMS.items() if not text.endswith(".")] == []

    def test_version(self, run: Run) -> None:
        assert run("--version").out.decode() == f"toksmith {toksmith.__version__}\n"

    def test_no_command_shows_help(self, run: Run) -> None:
        assert b"quickstart" in run().out


class TestTrain:
    def test_reports_what_it_did(self, run: Run, corpus_file: Path, tmp_path: Path) -> None:
        path = tmp_path / "t.model"
        ran = run("train", corpus_file, "-o", path, "--vocab-size", 260)
        figures = ran.out.decode()
        assert ran.code == 0
        assert "bpe: 1 document, " in figures
        assert f"{len(CORPUS):,} bytes" in figures
        assert "4 merges" in figures
        assert figures.endswith(f"→ {path}\n")
        assert folder_of(tmp_path) == {"t.model", "t.vocab"}

    def test_a_record_is_written_on_demand(
        self, run: Run, corpus_file: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "t.model"
        ran = run("train", corpus_file, "-o", path, "--vocab-size", 260, "--record")
        assert ran.out.decode().endswith(f"→ {path}, with its training record beside it\n")
        assert folder_of(tmp_path) == {"t.model", "t.vocab", "t.model.training.json"}
        record = toksmith.load(path).training
        assert record is not None
        assert [source.path for source in record.sources] == [str(corpus_file)]

    def test_options_reach_the_trainer(self, run: Run, corpus_file: Path, tmp_path: Path) -> None:
        path = tmp_path / "t.tiktoken"
        ran = run(
            "train", corpus_file, "-o", path, "--vocab-size", 300, "--split", r"\w+|\W+",
            "--ties", "smallest-pair", "--min-frequency", 30, "--max-token-length", 4,
            "--separator", "\n", "--threads", 1, "--special-token", "<a b>",
        )  # fmt: skip
        assert ran.code == 0, ran.err
        assert "20 documents" in ran.out.decode()
        with pytest.warns(UserWarning, match="ran out of pairs"):
            expected = toksmith.train(
                texts=CORPUS.splitlines(), vocab_size=300, split=r"\w+|\W+", ties="smallest-pair",
                min_frequency=30, max_token_length=4, special_tokens=["<a b>"],
            )  # fmt: skip
        assert toksmith.load(path).merges == expected.merges
        assert toksmith.load(path).special_tokens == expected.special_tokens
        assert 0 < len(expected.merges) < 43
        assert ran.err.startswith("toksmith: warning: the text ran out of pairs that ")
        assert "vocab_size" not in ran.err
        assert "smaller --vocab-size" in ran.err

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (["nothing-here.txt"], "nothing-here.txt"),
            (["corpus.txt", "-o", "missing/t.model"], "there is no folder missing"),
            (["corpus.txt", "-o", "t.xyz"], "t.xyz"),
            (["corpus.txt", "--split", "("], "regular expression"),
            (["corpus.txt", "-o", "t.json", "--split", r"(?i)[\p{Lu}]+"], "another engine"),
            (["corpus.txt", "--special-token", "a b"], "minbpe cannot hold"),
        ],
    )
    def test_errors_leave_no_file(
        self,
        run: Run,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        arguments: list[str],
        reason: str,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("corpus.txt").write_text(CORPUS, encoding="utf-8")
        ran = run("train", "-o", "t.model", "--vocab-size", 270, *arguments)
        assert ran.code == 2
        assert ran.err.startswith("toksmith: error: ")
        assert reason in ran.err
        assert ran.err.count("\n") == 1
        assert folder_of(tmp_path) == {"corpus.txt"}


class TestEncode:
    def test_text_file_and_standard_input_agree(
        self, run: Run, model: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "text").write_text(TEXT, encoding="utf-8", newline="")
        ids = toksmith.load(model).encode(TEXT)
        assert run("encode", TEXT, "-t", model).ids == ids
        assert run("encode", "--file", tmp_path / "text", "-t", model).ids == ids
        assert run("encode", "-t", model, stdin=TEXT.encode()).ids == ids

    def test_formats_and_output(self, run: Run, model: Path, tmp_path: Path) -> None:
        ids = toksmith.load(model).encode(TEXT)
        assert json.loads(run("encode", TEXT, "-t", model, "--format", "json").out) == ids
        for dtype in ("uint16", "uint32"):
            path = tmp_path / dtype
            options = ("--format", "binary", "--dtype", dtype, "--output", path)
            assert run("encode", TEXT, "-t", model, *options).out == b""
            assert np.fromfile(path, np.dtype(dtype).newbyteorder("<")).tolist() == ids
        assert folder_of(tmp_path) == {
            "uint16", "uint16.ends.npy", "uint32", "uint32.ends.npy",
        }  # fmt: skip

    @pytest.mark.parametrize("dtype", ["uint16", "uint32"])
    def test_the_suffix_sets_the_format(
        self, run: Run, model: Path, tmp_path: Path, dtype: str
    ) -> None:
        ids = toksmith.load(model).encode(TEXT)
        for name in ("ids.npy", "raw.bin", "ids.json", "ids.txt", "lines.ids", "none"):
            out = ("-o", tmp_path / name, "--dtype", dtype)
            assert run("encode", TEXT, "-t", model, *out) == Ran(0, b"", "")
        lines = "".join(f"{token_id}\n" for token_id in ids)
        assert (tmp_path / "ids.txt").read_text() == lines
        assert (tmp_path / "lines.ids").read_text() == lines
        assert (tmp_path / "none").read_text() == lines
        assert json.loads((tmp_path / "ids.json").read_text()) == ids
        saved = np.load(tmp_path / "ids.npy")
        assert (saved.tolist(), saved.dtype) == (ids, np.dtype(dtype))
        assert np.fromfile(tmp_path / "raw.bin", dtype).tolist() == ids
        for name in ("ids.ends.npy", "raw.ends.npy"):
            ends = np.load(tmp_path / name)
            assert (ends.tolist(), ends.dtype) == ([len(ids)], np.dtype(np.int64))
        for name in ("ids.npy", "ids.json", "ids.txt"):
            assert run("decode", "-t", model, "--file", tmp_path / name).out == TEXT.encode()

    def test_a_text_that_names_a_file(self, run: Run, model: Path, tmp_path: Path) -> None:
        path = tmp_path / "low.txt"
        path.write_text("never read", encoding="utf-8")
        ran = run("encode", path, "-t", model)
        assert ran.out == run("encode", "-t", model, stdin=str(path).encode()).out
        note = f"toksmith: {path} is encoded as the text itself; "
        note += f"use --file {path} to read the file\n"
        assert (ran.code, ran.err) == (0, note)
        assert run("encode", path, "-t", model, "--quiet").err == ""

    @pytest.mark.parametrize("form", ["lines", "json", "binary"])
    def test_a_suffix_of_another_format_is_refused(
        self, run: Run, model: Path, tmp_path: Path, form: str
    ) -> None:
        out = tmp_path / "ids.npy"
        ran = run("encode", TEXT, "-t", model, "-o", out, "--format", form)
        assert ran.code == 2
        assert f"ids.npy: the suffix means npy, but --format is {form}" in ran.err
        assert folder_of(tmp_path) == set()

    @pytest.mark.parametrize("name", ["i.npz", "i.npy.gz", "i.pt", "i.parquet", "i.XYZ"])
    def test_an_unknown_suffix_is_refused(
        self, run: Run, model: Path, tmp_path: Path, name: str
    ) -> None:
        out = tmp_path / name
        ran = run("encode", TEXT, "-t", model, "-o", out)
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err == (
            f"toksmith: error: {out}: no format of ids has the suffix {out.suffix}: end the name "
            "with .txt, .ids, .json, .jsonl, .bin or .npy, or give --format\n"
        )
        assert folder_of(tmp_path) == set()
        assert run("encode", TEXT, "-t", model, "-o", out, "--format", "json").code == 0
        assert json.loads(out.read_text()) == toksmith.load(model).encode(TEXT)

    def test_ids_are_read_from_a_file_of_any_suffix(
        self, run: Run, model: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "ids.log").write_bytes(run("encode", TEXT, "-t", model).out)
        assert run("decode", "-t", model, "-f", tmp_path / "ids.log").out == TEXT.encode()

    def test_document_ends_are_written_next_to_binary_ids(
        self, run: Run, model: Path, tmp_path: Path
    ) -> None:
        tok = toksmith.load(model)
        documents = ["low", "", "newest wider", "x"]
        (tmp_path / "text").write_text("##".join(documents), encoding="utf-8")
        out = ("-o", tmp_path / "ids.npy", "--separator", "##")
        assert run("encode", "-t", model, "--file", tmp_path / "text", *out).code == 0
        ids, ends = np.load(tmp_path / "ids.npy"), np.load(tmp_path / "ids.ends.npy")
        assert ends[-1] == len(ids)
        found = [part.tolist() for part in np.split(ids, ends[:-1])]
        assert found == [tok.encode(document) for document in documents]

    def test_ends_of_another_file_are_not_replaced_silently(
        self, run: Run, model: Path, tmp_path: Path
    ) -> None:
        encode = ("encode", "-t", model, "--quiet", "-o")
        assert run(*encode, tmp_path / "ids.npy", "low").err == ""
        assert run(*encode, tmp_path / "ids.bin", "low").err == ""
        assert run(*encode, tmp_path / "x.bin", "newest").err == ""
        ran = run(*encode, tmp_path / "ids.bin", "low newest, wider")
        assert ran.code == 0
        assert ran.err == (
            f"toksmith: warning: {tmp_path / 'ids.ends.npy'} holds the document ends of ids.bin, "
            "no longer those of ids.npy: use names that differ before the suffix\n"
        )

    def test_no_documents(self, run: Run, model: Path, tmp_path: Path) -> None:
        out = ("-o", tmp_path / "ids.npy", "--separator", "##")
        assert run("encode", "", "-t", model, *out).code == 0
        assert np.load(tmp_path / "ids.npy").tolist() == []
        assert np.load(tmp_path / "ids.ends.npy").tolist() == []

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")
    def test_a_full_disk_names_the_file(self, run: Run, spawn: Run, model: Path) -> None:
        ran = run("encode", TEXT, "-t", model, "-o", "/dev/full")
        reason = "No space left on device"
        assert ran.err == f"toksmith: error: /dev/full cannot be written: {reason}\n"
        assert ran.code == 2
        command = f"{sys.executable} -m toksmith encode low -t {model} > /dev/full"
        full = subprocess.run(command, shell=True, capture_output=True, check=False)
        message = "toksmith: error: cannot write the output: no space left\n"
        assert (full.returncode, full.stderr.decode()) == (1, message)

    def test_both_files_or_neither(
        self, run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = tmp_path / "ids.npy"
        (tmp_path / "ids.ends.npy").mkdir()  # so that it cannot be written
        ran = run("encode", TEXT, "-t", model, "-o", out)
        assert ran.code == 2
        assert f"{tmp_path / 'ids.ends.npy'} cannot be written" in ran.err
        assert folder_of(tmp_path) == {"ids.ends.npy"}

    def test_an_id_that_does_not_fit_leaves_the_old_file(
        self, run: Run, model: Path, tmp_path: Path
    ) -> None:
        big, out = tmp_path / "big.model", tmp_path / "ids"
        held = model.read_text(encoding="utf-8").replace("<|end|> 279", "<|end|> 70000")
        big.write_text(held, encoding="utf-8")
        out.write_text("old", encoding="utf-8")
        options = ("--format", "binary", "--special", "encode", "-o", out)
        ran = run("encode", "<|end|>", "-t", big, "--dtype", "uint16", *options)
        assert (ran.code, out.read_text(encoding="utf-8")) == (2, "old")
        assert "id 70000 does not fit uint16" in ran.err
        assert run("encode", "<|end|>", "-t", big, *options).code == 0
        assert out.read_bytes() == (70_000).to_bytes(4, "little")

    def test_special_tokens_are_text_by_default(self, run: Run, model: Path) -> None:
        assert 279 not in run("encode", "low<|end|>", "-t", model).ids
        assert run("encode", "<|end|>", "-t", model, "--special", "encode").ids == [279]
        ran = run("encode", "low<|end|>", "-t", model, "--special", "raise")
        assert ran.code == 2
        assert "<|end|>" in ran.err

    @pytest.mark.parametrize("source", ["file", "stdin"])
    def test_documents(self, run: Run, model: Path, tmp_path: Path, source: str) -> None:
        text = "low##new##"
        (tmp_path / "text").write_text(text, encoding="utf-8")
        tok = toksmith.load(model)
        documents = [tok.encode("low"), tok.encode("new")]
        given = ["--file", tmp_path / "text"] if source == "file" else []
        common = ("encode", "-t", model, "--separator", "##", *given)
        ran = run(*common, "--format", "json", stdin=text.encode())
        assert json.loads(ran.out) == documents
        lines = run(*common, stdin=text.encode()).out.decode()
        assert [[int(i) for i in d.split()] for d in lines.split("\n\n")] == documents

    def test_an_argument_of_invalid_utf8(self, run: Run, model: Path) -> None:
        raw = b"low\xff\xfe\xe2\x82 new\r\n"
        ran = run("encode", os.fsdecode(raw), "-t", model)
        assert run("decode", "-t", model, stdin=ran.out).out == raw

    def test_text_and_file_clash(self, run: Run, model: Path) -> None:
        ran = run("encode", "low", "--file", model, "-t", model)
        assert (ran.code, "one of them" in ran.err) == (2, True)

    def test_empty(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").touch()
        assert run("encode", "", "-t", model).out == b""
        assert run("encode", "--file", tmp_path / "empty", "-t", model).out == b""
        assert run("encode", "", "-t", model, "--format", "json").out == b"[]\n"


class TestDecode:
    def test_all_formats(self, run: Run, model: Path, tmp_path: Path) -> None:
        tok = toksmith.load(model)
        ids = tok.encode(TEXT)
        data = {
            "lines": "\n".join(map(str, ids)).encode(),
            "json": json.dumps([ids[:3], ids[3:]]).encode(),
            "binary": np.array(ids, "<u4").tobytes(),
        }
        for form, held in data.items():
            (tmp_path / form).write_bytes(held)
            options = ("decode", "-t", model, "--format", form)
            assert run(*options, stdin=held).out == TEXT.encode()
            assert run(*options, "--file", tmp_path / form).out == TEXT.encode()
        assert run("decode", "-t", model, *ids).out == TEXT.encode()

    @pytest.mark.parametrize(
        "words",
        [["108,111", "119"], ["[108,111,119]"], ["[108,", "111,", "119]"], ["108", "111", "119"]],
    )
    def test_ids_apart_with_commas_or_as_json(
        self, run: Run, model: Path, words: list[str]
    ) -> None:
        assert run("decode", "-t", model, *words).out == b"low"
        assert run("decode", "-t", model, stdin=" ".join(words).encode()).out == b"low"

    def test_text_is_no_id(self, run: Run, model: Path, tmp_path: Path) -> None:
        ran = run("decode", "-t", model, "hello")
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err == (
            "toksmith: error: 'hello' is not an id: use whole numbers, as in decode 31373 995; "
            "toksmith encode turns text into ids\n"
        )
        (tmp_path / "ids.txt").write_text("1\nx\n")
        ran = run("decode", "-t", model, "--file", tmp_path / "ids.txt")
        assert ran.err.startswith(f"toksmith: error: {tmp_path / 'ids.txt'}: line 2: 'x' is not an")

    @pytest.mark.parametrize(
        ("form", "data", "reason"),
        [
            ("lines", b"1\n2\nx3\n", "line 3"),
            ("npy", b"1 2", "no NumPy file"),
            (
                "npy",
                b"\x93NUMPY\x01\x00v\x00"
                + str({"descr": "<f8", "fortran_order": False, "shape": (1,)}).ljust(117).encode()
                + b"\n"
                + bytes(8),
                "one-dimensional array",
            ),
            ("lines", b"1\n-2\n", "line 2"),
            ("lines", b"5\n99999999999\n", "line 2"),
            ("lines", b"280\n", "280"),
            ("json", b"{]", "not JSON"),
            ("json", b'{"ids": [1]}', "list of integers"),
            ("json", b"[1, true]", "list of integers"),
            ("json", b"[1, 2.0]", "list of integers"),
            ("binary", b"\x01\x00\x00", "multiple of the size"),
        ],
    )
    def test_values_that_are_no_id(
        self, run: Run, model: Path, form: str, data: bytes, reason: str
    ) -> None:
        ran = run("decode", "-t", model, "--format", form, stdin=data)
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err.startswith("toksmith: error: ")
        assert reason in ran.err


class TestCount:
    def test_text_files_and_standard_input(self, run: Run, model: Path, tmp_path: Path) -> None:
        tok = toksmith.load(model)
        a, b = tmp_path / "a.txt", tmp_path / "b.txt"
        a.write_text(TEXT, encoding="utf-8", newline="")
        b.write_bytes(b"")
        tokens = tok.count(TEXT)
        assert tokens == len(tok.encode(TEXT))
        assert run("count", TEXT, "-t", model).out.decode() == f"{tokens}\n"
        assert run("count", "-t", model, stdin=TEXT.encode()).out.decode() == f"{tokens}\n"
        assert run("count", a, "-t", model).out.decode() == f"{tokens}\n"
        assert run("count", a, "--file", b, "-t", model).out.decode() == (
            f"{tokens}\t{a}\n0\t{b}\n{tokens}\ttotal\n"
        )

    def test_special_tokens(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("<|end|>", encoding="utf-8")
        count = ("count", tmp_path / "a", "-t", model)
        assert run(*count, "--special", "encode").out == b"1\n"
        assert int(run(*count).out) > 1

    @pytest.mark.parametrize("names", [["gone.txt"], ["no/such"], ["two words", "gone"]])
    def test_a_mistyped_file_is_no_text(self, run: Run, model: Path, names: list[str]) -> None:
        ran = run("count", *names, "-t", model)
        assert ran.code == 2
        assert f"{names[0]}: there is no such file" in ran.err
        hint = "; to give a text, quote it: 'two words gone'\n"
        assert ran.err.endswith(hint) == (len(names) > 1)


class TestInspect:
    def test_tokens_ids_and_spans(self, run: Run, model: Path) -> None:
        ran = run("inspect", "low 字<|end|>", "-t", model, "--special", "encode")
        shown = ran.out.decode()
        first, _, *rows, size = shown.splitlines()
        assert first == "low│·│<E5>│<AD>│<97>│<|end|>"
        assert rows[2].split() == ["229", "<E5>", "4–5", "4–5", "E5"]
        assert rows[5].split()[:4] == ["*279", "<|end|>", "5–12", "7–14"]
        assert size == "6 tokens, 12 characters, 14 bytes (2.33 bytes a token)"

    def test_brief_and_quiet(self, run: Run, model: Path) -> None:
        tok = toksmith.load(model)
        ran = run("inspect", "low low", "-t", model, "--brief", "--quiet")
        tokens, ids = ran.out.decode().splitlines()
        assert [int(i) for i in ids.split("│")] == tok.encode("low low")
        assert "".join(t.strip() for t in tokens.split("│")) == "low·low"

    def test_steps_are_those_of_explain(self, run: Run, model: Path) -> None:
        ran = run("inspect", "lower", "-t", model, "--steps")
        assert ran.out.decode().endswith(f"\n\n{toksmith.load(model).explain('lower')}\n")

    def test_hostile_text_sends_nothing_to_the_terminal(self, run: Run, model: Path) -> None:
        text = b"\x1b]0;title\x07\x1b[31m\xe2\x80\xae\x00\r[bold]"
        ran = run("inspect", "-t", model, "--steps", stdin=text)
        assert ran.code == 0
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", ran.out.decode())


class TestConvert:
    @pytest.mark.parametrize(
        ("name", "form"),
        [("t.tiktoken", "tiktoken"), ("t.json", "huggingface"), ("g", "gpt2"), ("x", "minbpe")],
    )
    def test_the_other_format_gives_the_same_ids(
        self, run: Run, model: Path, tmp_path: Path, name: str, form: str
    ) -> None:
        ran = run("convert", model, tmp_path / name, "--to", form)
        assert (ran.code, ran.out.decode()) == (0, f"{tmp_path / name}: 280 tokens\n"), ran.err
        converted = ("encode", TEXT, "-t", tmp_path / name)
        assert run(*converted).ids == toksmith.load(model).encode(TEXT)

    def test_a_bare_tiktoken_file_needs_its_pattern(
        self, run: Run, model: Path, tmp_path: Path
    ) -> None:
        run("convert", model, tmp_path / "t.tiktoken")
        bare = tmp_path / "bare" / "t.tiktoken"
        bare.parent.mkdir()
        bare.write_bytes((tmp_path / "t.tiktoken").read_bytes())
        assert run("encode", "low", "-t", bare).code == 2
        ran = run(
            "encode", "low<|end|>", "-t", bare, "--split", "gpt2", "--special-token",
            "<|end|>=279", "--special", "encode",
        )  # fmt: skip
        assert ran.ids == [*toksmith.load(model).encode("low"), 279]

    def test_unknown_format(self, run: Run, model: Path, tmp_path: Path) -> None:
        ran = run("convert", model, tmp_path / "t", "--to", "word")
        assert (ran.code, folder_of(tmp_path)) == (2, set())
        assert "word" in ran.err


class TestTokenizerArgument:
    def test_a_variable_sets_a_default(
        self, run: Run, model: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ran = run("count", "x y")
        assert ran.code == 2
        assert ran.err == (
            "toksmith: error: --tokenizer / -t is missing (such as -t gpt2, or set "
            "TOKSMITH_TOKENIZER); see toksmith count --help\n"
        )
        monkeypatch.setenv("TOKSMITH_TOKENIZER", str(model))
        assert run("encode", "lower").ids == toksmith.load(model).encode("lower")
        assert run("count", "lower", "-t", "no/such.model").code == 2

    def test_a_path_wins_over_a_name(
        self, run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("gpt2").write_bytes(model.read_bytes())
        assert run("encode", "lower", "-t", "gpt2").ids == toksmith.load(model).encode("lower")

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (["-t", "missing.model"], "missing.model: there is no such file"),
            (["-t", "no_such_base"], "there is no file 'no_such_base', and no published encoding"),
            (["-t", "gpt2", "--split", "none"], "for files"),
            (["-t", "MODEL", "--special-token", "<|end|>"], "use TEXT=ID"),
            (["-t", "MODEL", "--split", "gpt2"], "has its own split and special tokens"),
        ],
    )
    def test_errors(self, run: Run, model: Path, arguments: list[str], reason: str) -> None:
        ran = run("count", "x y", *[str(model) if a == "MODEL" else a for a in arguments])
        assert ran.code == 2
        assert ran.err.startswith("toksmith: error: ")
        assert reason in ran.err
        assert ran.err.count("\n") == 1

    def test_bare_ranks_name_the_options(self, run: Run, model: Path, tmp_path: Path) -> None:
        run("convert", model, tmp_path / "t.tiktoken")
        (tmp_path / "t.tiktoken.json").unlink()
        ran = run("count", "x y", "-t", tmp_path / "t.tiktoken")
        assert ran.code == 2
        assert ran.err.endswith(
            "give --split (a name such as cl100k, a pattern, or none) and --special-token, such as "
            "--special-token '<|endoftext|>=100257'\n"
        )


class TestErrors:
    """Errors speak of options, not of Python's arguments or of the parser's types."""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["train", "x", "-o", "y", "--vocab-size", "x"],
             "--vocab-size: 'x' is not a whole number; see toksmith train --help"),
            (["train", "x", "-o", "y", "--vocab-size", "0"],
             "--vocab-size: 0 is too small: use 1 or more; see toksmith train --help"),
            (["explore", "--port", "65536"],
             "--port: 65536 is too large: use 65535 or less; see toksmith explore --help"),
            (["train", "x", "-o", "y", "--sample", "half"],
             "--sample: 'half' is not a number; see toksmith train --help"),
            (["encode", "x", "-t", "y", "--dtype", "uint9"],
             "--dtype: 'uint9' is not one of 'uint16', 'uint32'; see toksmith encode --help"),
            (["counts", "make", "-o", "y"],
             "FILES is missing; see toksmith counts make --help"),
            (["frobnicate"], "No such command 'frobnicate'; see toksmith --help"),
            (["--frobnicate"], "No such option: --frobnicate; see toksmith --help"),
            (["train", "CORPUS", "-o", "y.model", "--vocab-size", "300", "--sample", "3"],
             "--sample is 3.0: use a number above 0, and 1 at most"),
            (["train", "CORPUS", "-o", "y.model", "--vocab-size", "300", "-O", "new=1", "-m",
              "char"],
             "--option new is no option of model 'char', which has unk_token, special_tokens, "
             "min_frequency"),
            (["train", "CORPUS", "-o", "y.model", "--vocab-size", "300", "-O", "unit=words"],
             "--option unit='words': use bytes or characters"),
            (["train", "CORPUS", "-o", "y.model", "--vocab-size", "300", "-O", "unk_token=?"],
             "--option unk_token is only for --option unit=characters: bytes are never unknown"),
            (["train", "CORPUS", "-o", "y.model", "--vocab-size", "300", "-O", "texts=x"],
             "--option texts=x: model bpe has no such option; toksmith train --list-options bpe "
             "prints those it has"),
            (["train", "CORPUS", "-o", "y.model", "--vocab-size", "300", "--memory", "5K"],
             "--memory is 5120: use 1M or more, or leave it out for no limit"),
            (["train", "CORPUS", "-o", "y.model", "--vocab-size", "300", "--spill-limit", "1G"],
             "--spill-limit is given without --memory: nothing is spilled then"),
            (["train", "CORPUS", "-o", "y.json", "-m", "wordpiece", "-O", "limit_alphabet=0"],
             "--option limit_alphabet is 0: use 1 or more, or leave it out"),
            (["train", "CORPUS", "-o", "y.model", "-m", "sentencepiece-bpe", "-O", "input=x"],
             "--option input is not supported: the files of the text are the first argument"),
            (["train", "--counts", ".", "-o", "y.model", "--vocab-size", "300"],
             ". holds no shards of counts: make them with toksmith counts make --shard"),
            (["counts", "make", "CORPUS", "-o", "y", "--shard", "0/2", "--deduplicate"],
             "--deduplicate cannot be used for shards: a shard does not know the documents of the "
             "others; deduplicate the files before"),
            (["counts", "make", "CORPUS", "-o", "y", "--shards", "2"],
             "--shards is for --runner ray; for several machines, use --shard"),
            (["counts", "make", "CORPUS", "-o", "y.tsv", "--split", r"[\n]", "--drop-gaps"],
             "tsv cannot hold the chunk b'\\n', which has a tab or a line break: count with "
             "toksmith counts make --split '\\S+' --drop-gaps"),
        ],
    )  # fmt: skip
    def test_name_options(
        self,
        run: Run,
        corpus_file: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        arguments: list[str],
        message: str,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        ran = run(*[corpus_file if word == "CORPUS" else word for word in arguments])
        assert (ran.code, ran.out, ran.err) == (2, b"", f"toksmith: error: {message}\n")

    def test_running_out_of_memory_is_one_line(
        self, run: Run, model: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def count(*_: object, **__: object) -> int:
            raise MemoryError("std::bad_alloc")

        monkeypatch.setattr(toksmith.Tokenizer, "count", count)
        ran = run("count", "x y", "-t", model)
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err.startswith("toksmith: error: out of memory (std::bad_alloc): ")
        assert ran.err.count("\n") == 1
