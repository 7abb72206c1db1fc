"""compat.minbpe against minbpe's algorithm, written out here, and its files and errors."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex

import toksmith
from toksmith.compat import minbpe
from toksmith.compat.minbpe import BasicTokenizer, GPT4Tokenizer, RegexTokenizer
from toksmith.compat.minbpe.base import get_stats, merge, render_token
from toksmith.compat.minbpe.regex import GPT2_SPLIT_PATTERN, GPT4_SPLIT_PATTERN
from toksmith.formats import published

TEXT = (
    "The llama (/ˈlɑːmə/; Spanish pronunciation: [ˈʎama]) is a domesticated South American "
    "camelid, widely used as a meat and pack animal by Andean cultures since 1400.\n" * 2
)
SPECIAL = {"<|endoftext|>": 100257, "<|fim|>": 100258}


def expected_merges(text: str, count: int, pattern: str) -> dict[tuple[int, int], int]:
    """Train as minbpe does: the most frequent pair, of equal ones the first in the counts."""
    chunks = regex.findall(pattern, text) if pattern else [text]
    rows = [list(chunk.encode()) for chunk in chunks]
    merges: dict[tuple[int, int], int] = {}
    for new in range(256, 256 + count):
        stats: dict[tuple[int, int], int] = {}
        for row in rows:
            get_stats(row, stats)
        pair = max(stats, key=lambda pair: stats[pair])
        rows = [merge(row, pair, new) for row in rows]
        merges[pair] = new
    return merges


def expected_ids(text: str, merges: dict[tuple[int, int], int], pattern: str) -> list[int]:
    """Encode as minbpe does: all occurrences of the pair with the lowest id at once."""
    found: list[int] = []
    for chunk in regex.findall(pattern, text) if pattern else [text]:
        ids = list(chunk.encode())
        while pairs := [pair for pair in get_stats(ids) if pair in merges]:
            pair = min(pairs, key=lambda pair: merges[pair])
            ids = merge(ids, pair, merges[pair])
        found += ids
    return found


class TestFunctions:
    def test_get_stats(self) -> None:
        counts = {(1, 1): 5}
        assert get_stats([1, 1, 1, 2], counts) is counts
        assert counts == {(1, 1): 7, (1, 2): 1}
        assert get_stats([]) == get_stats([1]) == {}

    def test_merge(self) -> None:
        assert merge([1, 1, 1], (1, 1), 2) == [2, 1]
        assert merge([5, 6, 6, 7, 9, 1], (6, 7), 99) == [5, 6, 99, 9, 1]
        assert merge([], (1, 2), 3) == []

    def test_render_token(self) -> None:
        assert render_token(b"a\n\x7f\xff") == "a\\u000a\\u007f\ufffd"
        assert render_token("a\u2028b".encode()) == "a\u2028b"


class TestTraining:
    @pytest.mark.parametrize(
        ("make", "pattern"),
        [
            (BasicTokenizer, ""),
            (RegexTokenizer, GPT4_SPLIT_PATTERN),
            (lambda: RegexTokenizer(GPT2_SPLIT_PATTERN), GPT2_SPLIT_PATTERN),
            (lambda: RegexTokenizer(r"\p{L}+"), r"\p{L}+"),
        ],
    )
    def test_same_merges_and_ids(self, make: Callable[[], Any], pattern: str) -> None:
        tokenizer = make()
        tokenizer.train(TEXT, 256 + 40)
        assert tokenizer.merges == expected_merges(TEXT, 40, pattern)
        assert list(tokenizer.merges.values()) == list(range(256, 296))
        rng = random.Random(4)
        for _ in range(40):
            text = "".join(rng.choices(["llama", " ", "a", "ma", "\n", "é", "14", "'s"], k=8))
            assert tokenizer.encode(text) == expected_ids(text, tokenizer.merges, pattern)

    def test_wikipedia(self) -> None:
        for tokenizer in (BasicTokenizer(), RegexTokenizer()):
            tokenizer.train("aaabdaaabac", 256 + 3)
            assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
            assert tokenizer.vocab[258] == b"aaab"

    def test_verbose(self, capsys: pytest.CaptureFixture[str]) -> None:
        BasicTokenizer().train("aaabdaaabac", 258, verbose=True)
        assert capsys.readouterr().out == (
            "merge 1/2: (97, 97) -> 256 (b'aa') had 4 occurrences\n"
            "merge 2/2: (256, 97) -> 257 (b'aaa') had 2 occurrences\n"
        )

    def test_errors(self) -> None:
        tokenizer = BasicTokenizer()
        with pytest.raises(AssertionError, match="vocab_size is 255"):
            tokenizer.train("low", 255)
        with pytest.raises(ValueError, match="runs out of pairs after 2 merges of 10"):
            tokenizer.train("low", 266)
        assert tokenizer.merges == {}
        tokenizer.train("", 256)
        assert len(tokenizer.vocab) == 256
        with pytest.raises(NotImplementedError):
            minbpe.Tokenizer().train("low", 300)
        with pytest.raises(NotImplementedError):
            minbpe.Tokenizer().encode("low")


class TestNamesThatCodeReachesFor:
    def test_the_compiled_pattern(self) -> None:
        tokenizer = RegexTokenizer()
        tokenizer.train(TEXT, 256 + 40)
        assert regex.findall(tokenizer.compiled_pattern, "two llamas") == ["two", " llamas"]
        tokenizer.compiled_pattern = regex.compile(r"\p{L}+")
        assert tokenizer.pattern == r"\p{L}+"
        assert tokenizer.encode("a llama") == expected_ids("a llama", tokenizer.merges, r"\p{L}+")

    def test_a_chunk_is_not_split(self) -> None:
        tokenizer = RegexTokenizer()
        assert tokenizer._encode_chunk(b"ab\xff") == [97, 98, 255]
        tokenizer.train(TEXT, 256 + 40)
        for chunk in ("llama, a llama", " South American", "", "1400.\n"):
            found = tokenizer._encode_chunk(chunk.encode())
            assert found == expected_ids(chunk, tokenizer.merges, r"(?s).+")
        ids = [
            token_id
            for chunk in regex.findall(tokenizer.compiled_pattern, TEXT)
            for token_id in tokenizer._encode_chunk(chunk.encode())
        ]
        assert ids == tokenizer.encode(TEXT)


class TestSpecialTokens:
    TOK = RegexTokenizer()
    TOK.register_special_tokens(SPECIAL)

    def test_which_are_allowed(self) -> None:
        text = "a<|fim|>b<|endoftext|>"
        assert self.TOK.encode(text, "all") == [97, 100258, 98, 100257]
        assert self.TOK.encode(text, "none") == list(text.encode())
        assert self.TOK.encode(text, {"<|fim|>", "x"}) == [97, 100258, *b"b<|endoftext|>"]
        assert self.TOK.encode(text, set()) == list(text.encode())
        with pytest.raises(AssertionError, match="special token"):
            self.TOK.encode(text)
        assert self.TOK.encode("ab") == [97, 98]
        for wrong in ("some", None, ["<|fim|>"]):
            with pytest.raises(ValueError, match=r"allowed_special=.* not understood"):
                self.TOK.encode(text, wrong)  # type: ignore[arg-type]

    def test_the_first_of_overlapping_ones_counts(self) -> None:
        tokenizer = RegexTokenizer()
        tokenizer.register_special_tokens({"<a": 300, "<ab": 301})
        assert tokenizer.encode("<ab", "all") == [300, 98]

    def test_decode(self) -> None:
        assert self.TOK.decode([97, 100258, 0xE6]) == "a<|fim|>\ufffd"
        with pytest.raises(ValueError, match="invalid token id: 999"):
            self.TOK.decode([999])
        with pytest.raises(KeyError):
            BasicTokenizer().decode([999])


class TestFiles:
    def test_both_files(self, tmp_path: Path) -> None:
        tokenizer = RegexTokenizer()
        tokenizer.train("low low\n\n", 258)
        tokenizer.register_special_tokens({"<|end|>": 300})
        tokenizer.save(str(tmp_path / "low"))
        model = (tmp_path / "low.model").read_text().split("\n")
        assert model == ["minbpe v1", GPT4_SPLIT_PATTERN, "1", "<|end|> 300", *MERGES, ""]
        vocab = (tmp_path / "low.vocab").read_text("utf-8").split("\n")
        assert vocab[10] == "[\\u000a] 10"
        assert vocab[97] == "[a] 97"
        assert vocab[255:] == ["[\ufffd] 255", "[l][o] -> [lo] 256", "[lo][w] -> [low] 257", ""]

    @pytest.mark.parametrize("special", [{}, SPECIAL])
    def test_there_and_back(self, special: dict[str, int], tmp_path: Path) -> None:
        tokenizer = RegexTokenizer(GPT2_SPLIT_PATTERN)
        tokenizer.train(TEXT, 300)
        tokenizer.register_special_tokens(special)
        tokenizer.save(str(tmp_path / "a"))
        again = RegexTokenizer()
        again.load(str(tmp_path / "a.model"))
        text = f"{TEXT}<|fim|> don't"
        assert again.encode(text, "all") == tokenizer.encode(text, "all")
        assert again.decode(again.encode(text, "all")) == text
        assert (again.merges, again.pattern) == (tokenizer.merges, GPT2_SPLIT_PATTERN)
        loaded = toksmith.load(tmp_path / "a.model")
        assert loaded.encode(text, special="encode") == again.encode(text, "all")

    def test_a_basic_tokenizer(self, tmp_path: Path) -> None:
        tokenizer, again = BasicTokenizer(), BasicTokenizer()
        tokenizer.train(TEXT, 280)
        tokenizer.save(str(tmp_path / "a"))
        again.load(str(tmp_path / "a.model"))
        assert again.encode(TEXT) == tokenizer.encode(TEXT)

    def test_errors(self, tmp_path: Path) -> None:
        with pytest.raises(AssertionError, match=r"ends in \.model"):
            BasicTokenizer().load("a.vocab")
        path = tmp_path / "a.model"
        path.write_text("minbpe v2\n\n0\n")
        with pytest.raises(AssertionError, match="line 1 is 'minbpe v2'"):
            BasicTokenizer().load(str(path))
        path.write_text("minbpe v1\n\n0\n1 x\n")
        with pytest.raises(ValueError):  # noqa: PT011
            BasicTokenizer().load(str(path))

    def test_changed_merges_are_used(self) -> None:
        tokenizer = BasicTokenizer()
        assert tokenizer.encode("low") == [108, 111, 119]
        tokenizer.merges[108, 111] = 256
        assert tokenizer.encode("low") == [256, 119]


MERGES = ["108 111", "256 119"]


class TestGPT4:
    @pytest.fixture
    def tokenizer(
        self, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> GPT4Tokenizer:
        ranks: Any = published.ENCODINGS["cl100k_base"].ranks
        (tmp_path / ranks.file_name).symlink_to(shared / "data/vocab/cl100k_base.tiktoken")
        monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(tmp_path))
        return GPT4Tokenizer()

    def test_a_chunk(self, tokenizer: GPT4Tokenizer) -> None:
        assert tokenizer._encode_chunk(b" world") == tokenizer.encode(" world")
        assert tokenizer._encode_chunk(b"!\x80") == [0, tokenizer.byte_shuffle[0x80]]
        assert regex.findall(tokenizer.compiled_pattern, "hello world") == ["hello", " world"]

    def test_same_as_tiktoken(
        self, tokenizer: GPT4Tokenizer, tiktoken_encoding: Callable[[str], Any], tmp_path: Path
    ) -> None:
        peer = tiktoken_encoding("cl100k_base")
        for text in ("", "?", "hello world!!!? (안녕하세요!) lol123 😉", TEXT):
            assert tokenizer.encode(text) == peer.encode(text)
            assert tokenizer.decode(tokenizer.encode(text)) == text
        text = "<|endoftext|>Hello<|fim_prefix|>a<|endofprompt|>"
        ids = tokenizer.encode(text, allowed_special="all")
        assert ids == peer.encode(text, allowed_special="all")
        assert tokenizer.decode(ids) == text
        shuffle = {byte: peer.encode_single_token(bytes([byte])) for byte in range(256)}
        assert tokenizer.byte_shuffle == shuffle
        # An own walk through minbpe's terms: bytes become ids of bytes, then pairs merge.
        ids = [tokenizer.byte_shuffle[byte] for byte in b"hello"]
        while pairs := [pair for pair in get_stats(ids) if pair in tokenizer.merges]:
            pair = min(pairs, key=lambda pair: tokenizer.merges[pair])
            ids = merge(ids, pair, tokenizer.merges[pair])
        assert ids == tokenizer.encode("hello")
        joined = b"".join(tokenizer.vocab[i] for i in ids)
        assert bytes(tokenizer.inverse_byte_shuffle[byte] for byte in joined) == b"hello"
        tokenizer.save_vocab(str(tmp_path / "gpt4.vocab"))
        lines = (tmp_path / "gpt4.vocab").read_text("utf-8").split("\n")
        assert lines[0] == "[!] 0"
        assert "[ ][t] -> [ t] 259" in lines

    def test_what_it_cannot_do(self, tokenizer: GPT4Tokenizer) -> None:
        for call in (
            lambda: tokenizer.train("low", 300),
            lambda: tokenizer.save("a"),
            lambda: tokenizer.load("a.model"),
        ):
            with pytest.raises(NotImplementedError, match="GPT4Tokenizer"):
                call()
        with pytest.raises(KeyError):
            tokenizer.decode([200_000])
