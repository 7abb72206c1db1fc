"""The names that split= accepts, in every function that takes a split."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import regex

import toksmith
from tests.conftest import NO_SHARED, SHARED
from toksmith.errors import SplitError
from toksmith.splitters import FAMILIES, PatternSplitter, splitter
from toksmith.splitters.names import NAMES, WORDS
from toksmith.stages import split_patterns


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt2", "gpt2"),
        ("GPT-2", "gpt2"),
        ("r50k_base", "gpt2"),
        ("p50k_base", "gpt2"),
        ("p50k_edit", "gpt2"),
        ("gpt4", "cl100k"),
        ("gpt-4", "cl100k"),
        ("GPT-4", "cl100k"),
        ("gpt-3.5-turbo", "cl100k"),
        ("llama3", "cl100k"),
        ("Llama-3.1", "cl100k"),
        ("cl100k_base", "cl100k-tiktoken"),
        ("CL100K_Tiktoken", "cl100k-tiktoken"),
        ("qwen", "qwen2"),
        ("Qwen2.5", "qwen2"),
        ("o200k_base", "o200k"),
        ("gpt-4o", "o200k"),
        ("gpt4o", "o200k"),
        ("gpt-4o-mini", "o200k"),
        ("GPT-4o-2024-08-06", "o200k"),
        ("gpt5", "o200k"),
        ("o3-mini", "o200k"),
        ("gpt-oss-20b", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("gpt-3.5-turbo-0125", "cl100k"),
        ("text-embedding-3-small", "cl100k"),
        ("text-davinci-003", "gpt2"),
        ("davinci", "gpt2"),
    ],
)
def test_every_published_name_is_a_split(name: str, family: str) -> None:
    found = splitter(name)
    assert found is not None
    assert found.family is FAMILIES[family]


def test_every_published_encoding_names_its_own_split() -> None:
    from toksmith.formats.published import ENCODINGS

    for name, encoding in ENCODINGS.items():
        assert splitter(name) == splitter(encoding.split), name


@pytest.mark.parametrize("none", [None, "none", "None"])
def test_none_is_no_split(none: str | None) -> None:
    assert splitter(none) is None
    tok = toksmith.train(texts=["a b a b"], vocab_size=258, split=none)
    assert [tok.token_bytes(i) for i in (256, 257)] == [b"a ", b"a b"]
    assert toksmith.Counts.from_texts(["a b"], split=none).most_common() == [(b"a b", 1)]


def test_words_are_those_of_str_split_and_each_white_space_character() -> None:
    text = "hello  world\nhey\tyou"
    counts = toksmith.Counts.from_texts([text], split="words")
    found = [chunk.decode() for chunk, _ in counts]
    assert [word for word in found if not word.isspace()] == text.split()
    assert dict(counts)[b" "] == 2
    assert [word for word in found if word.isspace()] == [" ", "\n", "\t"]


def test_words_are_the_matches_of_their_pattern() -> None:
    rng = random.Random(3)
    for _ in range(300):
        text = "".join(rng.choices("ab é한\n\t\x1c\x85\u2003\u200b\ud800👋", k=rng.randrange(9)))
        spans = [match.span() for match in regex.finditer(WORDS, text)]
        assert split_patterns.pattern_spans(WORDS, text) == spans


@pytest.mark.parametrize(
    "word",
    [
        *("mistral", "bert", "word", "default", "phi3", "deepseek", "a.b"),
        *("gpt 2", "cl100k base", "meta-llama/Llama-3", "phi3:mini", "gpt2,gpt4"),
    ],
)
def test_text_without_metacharacters_is_never_a_pattern(word: str) -> None:
    with pytest.raises(SplitError, match="unknown split"):
        splitter(word)
    with pytest.raises(SplitError, match="unknown split"):
        toksmith.train(texts=["low low"], vocab_size=258, split=word)
    with pytest.raises(SplitError, match="unknown split"):
        toksmith.Counts.from_texts(["low low"], split=word)
    with pytest.raises(SplitError, match="unknown split"):
        toksmith.train(texts=["low low"], model="word", split=word)


LISTED = SHARED / "data/patterns/gguf_pre.json"


@pytest.mark.skipif(not LISTED.is_file(), reason=NO_SHARED)
def test_the_names_of_llama_cpp_are_splits() -> None:
    entries = json.loads(LISTED.read_text(encoding="utf-8"))
    names = {name for entry in entries for name in entry["names"]} - {"default"}
    assert len(names) > 80
    for name in names:
        cut = splitter(name.upper())
        assert cut is not None
        assert toksmith.split("ab 12", cut.patterns[0])


def test_a_name_may_stand_for_several_patterns() -> None:
    cut = splitter("DeepSeek-V3")
    assert cut == PatternSplitter(r"\p{N}{1,3}", then=(r"[一-龥぀-ゟ゠-ヿ]+", *cut.then[1:]))
    found = toksmith.split("año 12345 東京タワー, ok\n", "deepseek-v3")
    assert found == ["año", " ", "123", "45", " ", "東京タワー", ",", " ok", "\n"]
    tok = toksmith.train(texts=["low lower 東京 12345"] * 2, vocab_size=260, split="deepseek-v3")
    assert tok.pipeline.splitter == cut
    assert tok.training.options["split"] == "deepseek-v3"
    more = toksmith.train(texts=["low lower"] * 2, vocab_size=261, continue_from=tok)
    assert more.pipeline.splitter == cut
    with pytest.raises(SplitError, match="always keep the gaps"):
        splitter("deepseek-v3", "drop")


def test_the_message_names_the_nearest_and_all() -> None:
    with pytest.raises(SplitError) as raised:
        splitter("gptt2 ")
    message = str(raised.value)
    assert "unknown split 'gptt2 ' (did you mean 'gpt2'" in message
    for name, aliases in NAMES.items():
        assert name in message
        for alias in aliases:
            assert alias in message
    with pytest.raises(SplitError, match=r"unknown split 'mistral'\. Known names: gpt2 "):
        splitter("mistral")
    with pytest.raises(SplitError, match=r"did you mean 'bert'.*none, bert, whitespace;"):
        toksmith.train(texts=["low"], model="wordpiece", split="berts")


@pytest.mark.parametrize(
    ("name", "family"), [("GPT2 ", "gpt2"), ("\tllama3\n", "cl100k"), (" gpt-4o-mini ", "o200k")]
)
def test_white_space_around_a_name_is_ignored(name: str, family: str) -> None:
    found = splitter(name)
    assert found is not None
    assert found.family is FAMILIES[family]
    assert splitter(" none ") is None
    assert splitter("words ") == splitter("words")


def test_white_space_around_a_name_of_the_model_is_ignored() -> None:
    made = [
        toksmith.train(texts=["low low,low"], model="wordpiece", vocab_size=13, split=split)
        for split in ("bert", " Bert ")
    ]
    assert made[0] == made[1]


@pytest.mark.parametrize("pattern", [".", " ", ",", "-", r"\w", "a|b", "[a-z]+", "ab?"])
def test_a_pattern_stays_a_pattern(pattern: str) -> None:
    assert splitter(pattern) == PatternSplitter(pattern)


def test_a_bare_tiktoken_file_takes_the_same_names(tmp_path: Path) -> None:
    ranks = "\n".join(f"{b.decode()} {i}" for i, b in enumerate(_bytes_in_base64()))
    path = tmp_path / "x.tiktoken"
    path.write_text(ranks + "\n")
    tok = toksmith.load(path, split="GPT-4o")
    assert isinstance(tok.pipeline.splitter, PatternSplitter)
    assert tok.pipeline.splitter.family is FAMILIES["o200k"]
    with pytest.raises(SplitError, match="unknown split 'mistral'"):
        toksmith.load(path, split="mistral")


def _bytes_in_base64() -> list[bytes]:
    import base64

    return [base64.b64encode(bytes([byte])) for byte in range(256)]


def test_the_names_in_the_help_of_commands_are_names() -> None:
    from toksmith.cli.common import SPLITS

    for name in SPLITS.removesuffix(" …").split(", "):
        assert splitter(name) is not None
