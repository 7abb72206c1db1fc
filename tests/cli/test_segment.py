"""The commands on plain text: words, sentences, unicode."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toksmith.cli import pieces

pytest.importorskip("icu4py")


class TestWords:
    def test_one_a_line(self, run: Run) -> None:
        ran = run("words", "Don't panic:  東京へ行く!\n")
        assert ran.out.decode().splitlines() == ["Don't", "panic", "東京", "へ", "行く"]
        assert ran.err == "5 words\n"

    def test_all(self, run: Run) -> None:
        ran = run("words", "--all", "--spans", "a  b\r\n")
        assert ran.out.decode() == "0\t1\ta\n1\t3\t··\n3\t4\tb\n4\t6\t<U+000D>↵\n"
        assert ran.err == "2 words in 4 pieces\n"

    def test_json_is_exact(self, run: Run) -> None:
        ran = run("words", "--json", "--all", "--quiet", "é\x1b\u202e 𝒶")
        lines = [json.loads(line) for line in ran.out.decode().splitlines()]
        assert "".join(line["text"] for line in lines) == "é\x1b\u202e 𝒶"
        assert lines[0] == {"start": 0, "end": 1, "text": "é"}
        assert '"é"' in ran.out.decode()
        assert "\\u202e" in ran.out.decode()
        assert ran.err == ""

    def test_file_and_standard_input(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "text"
        path.write_bytes(b"one \xff two")
        replace = ("--encoding-errors", "replace")
        assert run("words", "--file", path, *replace).out == run("words", stdin=b"one two").out
        assert run("words", stdin=b"").err == "0 words\n"

    def test_locale(self, run: Run) -> None:
        assert run("words", "--locale", "en-US-POSIX", "a.b").err == "2 words\n"
        ran = run("words", "--locale", "no such", "a")
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert "locale is 'no such': use a name such as 'en'" in ran.err

    def test_many(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pieces, "_LINES_AT_ONCE", 3)
        assert run("words", " ".join("abcdefgh")).out.split() == list(b"a b c d e f g h".split())


class TestSentences:
    TEXT = "Dr. Smith left.  Did\nshe?\n\nYes.\n"

    def test_one_a_line(self, run: Run) -> None:
        ran = run("sentences", self.TEXT)
        assert ran.out.decode() == "Dr. Smith left.\nDid she?\nYes.\n"
        assert ran.err == "3 sentences\n"

    def test_rules_and_spans(self, run: Run) -> None:
        ran = run("sentences", "--rules", "uax29", "--spans", "Dr. Who left.\n\nYes")
        assert ran.out.decode() == "0\t4\tDr.\n4\t14\tWho left.\n15\t18\tYes\n"
        assert ran.err == "3 sentences\n"

    def test_language(self, run: Run) -> None:
        german = "Am 3. Januar. Gut."
        assert run("sentences", "-l", "de", german).err == "2 sentences\n"
        ran = run("sentences", "-l", "klingon", german)
        assert (ran.code, ran.out) == (2, b"")
        assert "language is 'klingon': use a code such as 'en', 'de' or 'pt-BR'" in ran.err

    def test_json(self, run: Run) -> None:
        ran = run("sentences", "--json", self.TEXT)
        texts = [json.loads(line)["text"] for line in ran.out.splitlines()]
        assert "".join(texts) == self.TEXT


class TestUnicode:
    def test_shows_rows_and_sizes(self, run: Run) -> None:
        lines = run("unicode", "안녕하세요 👋 (hello in Korean!)").out.decode().splitlines()
        (wave,) = [line for line in lines if "U+1F44B" in line]
        assert "WAVING HAND SIGN" in wave
        assert "F0 9F 91 8B  3D D8 4B DC  4B F4 01 00" in wave
        assert [line.split() for line in lines[-5:-2]] == [
            ["UTF-8", "39", "0", "42", "0"],
            ["UTF-16", "54", "20", "56", "20"],
            ["UTF-32", "104", "71", "108", "73"],
        ]
        assert lines[-1].startswith("26 code points, 26 graphemes")

    def test_limit(self, run: Run) -> None:
        assert "… and 8 more" in run("unicode", "--limit", 2, "0123456789").out.decode()
        assert "more" not in run("unicode", "--limit", 0, "x" * 300).out.decode()


def test_controls_do_not_reach_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    harmful = "a\x1b[2J\u202eb\u200cc"
    assert pieces.escape_controls(harmful) == harmful  # to a pipe, what is there
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert pieces.escape_controls(harmful) == "a<U+001B>[2J<U+202E>b\u200cc"
