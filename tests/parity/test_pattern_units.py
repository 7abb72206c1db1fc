r"""Models of characters whose pieces are runs of a pattern, as CLIP's, against `tokenizers`."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import tokenizers

import toksmith
from toksmith._base.byte_alphabet import spell
from toksmith.engine import compile as compiled
from toksmith.engine.route import route_of

CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
PATTERNS = {
    "clip": CLIP,
    "clip of transformers": rf"<\|startoftext\|>|<\|endoftext\|>|{CLIP}",
    "one character of each letter": r"\p{L}|\p{N}{1,3}|[^\s\p{L}\p{N}]+",
    "words with a sign before": r"#[a-z]+|\p{L}+|\p{N}+|[^\s\p{L}\p{N}]",
    "line breaks are kept": r"\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+|\n",
}
LOWERCASE = {"type": "Lowercase"}
NORMALIZERS: dict[str, Any] = {
    "none": None,
    "lowercase": LOWERCASE,
    "clip": {
        "type": "Sequence",
        "normalizers": [
            {"type": "NFC"},
            {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
            LOWERCASE,
        ],
    },
}
PARTS = (
    *"'t \n\t\x1c\x85\xa0\u2028\u3000\u200b0²٣九〇Ⅷ!…_#ab漢字😀\x00ﬁÅﷺſİßΣ\u0301\u0345",
    *(
        "'s",
        "'re",
        "''s",
        "’s",
        "the",
        "The",
        "of",
        "#a",
        "<|endoftext|>",
        "<|end",
        "<",
        "  ",
        "\r\n",
        "12",
        "?!",
        "e\u0301",
    ),
    *("\u212b", "👨\u200d👩", "\u1100\u1161", "\U0001247a", "\U00016ec1", "\ufffd"),
)


def model(pattern: str, normalizer: Any, suffix: str) -> str:
    """Return a tokenizer.json with some merges."""
    letters = [spell(bytes([byte])) for byte in range(256)]
    merges = [
        ("t", "h"),
        ("th", "e" + suffix),
        ("a", "b"),
        ("o", "f" + suffix),
        ("Ã", "©" + suffix),
    ]
    vocab = dict.fromkeys([*letters, *(letter + suffix for letter in letters)])
    vocab |= dict.fromkeys(left + right for left, right in merges)
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True}
    return json.dumps(
        {
            "normalizer": normalizer,
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    split,
                    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                     "use_regex": True},
                ],
            },
            "model": {
                "type": "BPE",
                "end_of_word_suffix": suffix,
                "vocab": {token: place for place, token in enumerate(vocab)},
                "merges": merges,
            },
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "normalizer", "suffix"),
    [
        *(("clip", normalizer, suffix) for normalizer in NORMALIZERS for suffix in ("</w>", "")),
        *((pattern, "clip", "</w>") for pattern in [*PATTERNS][1:]),
    ],
)
def test_ids_and_spans(pattern: str, normalizer: str, suffix: str) -> None:
    data = model(PATTERNS[pattern], NORMALIZERS[normalizer], suffix)
    ours, theirs = toksmith.loads(data), tokenizers.Tokenizer.from_str(data)
    rng = random.Random(f"{pattern} {normalizer} {suffix}")
    for size in [*range(1, 40), 3_000]:
        text = "".join(rng.choices(PARTS, k=size))
        found, expected = ours.encoding(text), theirs.encode(text)
        assert found.ids == expected.ids == ours.encode(text), text
        assert [tuple(span) for span in found.spans] == expected.offsets, text


@pytest.mark.parametrize("suffix", ["</w>", ""])
def test_all_of_clip_runs_in_the_kernel(suffix: str) -> None:
    pipeline = toksmith.loads(model(CLIP, NORMALIZERS["clip"], suffix)).pipeline
    assert route_of(pipeline, compiled(pipeline)) == "kernel, normalizer and splitter included"


def test_a_pattern_with_many_exceptions_is_left_to_python() -> None:
    data = model(r"[a-z]+|[0-9]+|#[a-z]|@[0-9]|%[a-y]|&[1-9]|[^a-z\s]", None, "</w>")
    tok = toksmith.loads(data)
    assert "Python" in route_of(tok.pipeline, compiled(tok.pipeline))
    text = "ab#ab@12 !!"
    assert tok.encode(text) == tokenizers.Tokenizer.from_str(data).encode(text).ids
