"""The reference's chunks against the regex engines of the published patterns.

tiktoken does not show its chunks. But a chunk that is in the vocabulary becomes one token, so with
every substring of a text as a token, its tokens are its chunks.
"""

from __future__ import annotations

import pytest

from tests import strategies
from tests.kits.bpe import BYTES
from toksmith.splitters import FAMILIES, PatternSplitter
from toksmith.stages.split_patterns import chunk_spans

SPELLINGS = [
    pytest.param(spelling, id=f"{family.name}-{number}")
    for family in FAMILIES.values()
    for number, spelling in enumerate((family.pattern, *family.spellings))
]
HARD_CASES = [
    "I'm you'RE he'ſ 'S's we'LL they'Ve I'D",
    "a\n  ", "a\n  b", "  \n\n  x", "x \n", "\n", " ", "  ", "a ", "a  b", "\t\ta", "a\r\n\r\nb ",
    "\u00a0\u00a0a", "\u2028\u2028", "a\u3000\u3000b", "\x1c\x1da", "\u180ea", "\u200ba",
    "1234567 ١٢٣٤ Ⅷ²½ 12a34", "...\n/\n", "//\r\n /x", "!?\n\n  \n?!", "e\u0301e\u0301", " \u0301x",
    "ABCdefGHI ǅungla ᾈΣς", "'s", "''s", "'ſt", "x's's", "HELLO'S", "中'S文", "🏳️‍🌈👩‍👩‍👧‍👦 👍🏽",
    "\U0001fae9\U00011f5a\u0378\ue000", "𞤀𞤢 𐐀𐐨 ʰʱa", "İıſK", "\ufeffa", "\x00\x00a",
]  # fmt: skip


def chunks(pattern: str, text: str) -> list[str]:
    data = text.encode()
    return [data[a:b].decode() for a, b in chunk_spans(PatternSplitter(pattern, "drop"), data)]


@pytest.mark.parametrize("pattern", SPELLINGS)
def test_chunks_are_tiktokens(pattern: str) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    texts = HARD_CASES + strategies.random_texts(1, 400, pieces=12)
    for start in range(0, len(texts), 40):
        batch = texts[start : start + 40]
        tokens = set(BYTES)
        for text in batch:
            ends = range(1, len(text) + 1)
            tokens.update(text[i:j].encode() for j in ends for i in range(j))
        encoding = tiktoken.Encoding(
            "substrings",
            pat_str=pattern,
            mergeable_ranks={token: rank for rank, token in enumerate(sorted(tokens, key=len))},
            special_tokens={},
        )
        for text in batch:
            ids = encoding.encode_ordinary(text)
            expected = [encoding.decode_single_token_bytes(token).decode() for token in ids]
            assert chunks(pattern, text) == expected, text


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "qwen2", "o200k"])
def test_chunks_are_hugging_faces(name: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    pattern = FAMILIES[name].pattern
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "removed", invert=True)
    for text in HARD_CASES + strategies.random_texts(2, 1500):
        expected = [chunk for chunk, _ in split.pre_tokenize_str(text)]
        assert chunks(pattern, text) == expected, text
