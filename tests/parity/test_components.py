"""Every component of tokenizer.json, and every value of its options: the ids of tokenizers.

Or the reason why a file is refused: :data:`REFUSED`.

The names come from tokenizers itself, so a component that a new version adds fails this test.
"""

from __future__ import annotations

import itertools
import json
import random
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.kits.bpe import BYTES
from toksmith._base.byte_alphabet import spell
from toksmith.errors import UnsupportedError
from toksmith.stages.charsmap_rules import charsmap_of

peer = pytest.importorskip("tokenizers")

BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
REGEX, STRING = {"Regex": r"\d+|[x-z]"}, {"String": "a"}


def options(kind: str, **values: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Return an entry for each combination of the options' values."""
    return [
        {"type": kind} | dict(zip(values, each, strict=True))
        for each in itertools.product(*values.values())
    ]


FLAG = (False, True)
NORMALIZERS = [
    *options("BertNormalizer", clean_text=FLAG, handle_chinese_chars=FLAG,
             strip_accents=(None, *FLAG), lowercase=FLAG),
    *({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt")),
    {"type": "StripAccents"},
    {"type": "Precompiled", "precompiled_charsmap": b64encode(charsmap_of("nmt_nfkc")).decode()},
    {"type": "ByteLevel"},
    *options("Prepend", prepend=("▁", "xy")),
    *options("Replace", pattern=(REGEX, STRING), content=("", "b", "<>")),
    *options("Strip", strip_left=FLAG, strip_right=FLAG),
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]},
    {"type": "Sequence", "normalizers": []},
]  # fmt: skip
PRE_TOKENIZERS = [
    *({"type": name} for name in ("BertPreTokenizer", "UnicodeScripts", "Whitespace",
                                  "WhitespaceSplit")),
    *options("CharDelimiterSplit", delimiter=("a", " ")),
    *options("Digits", individual_digits=FLAG),
    *options("FixedLength", length=(1, 3)),
    *options("Metaspace", replacement=("▁", "_"), prepend_scheme=("always", "first", "never"),
             split=FLAG),
    *options("Punctuation", behavior=BEHAVIORS),
    *options("Split", pattern=(REGEX, STRING), behavior=BEHAVIORS, invert=FLAG),
    {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Punctuation",
                                                                        "behavior": "Isolated"}]},
    {"type": "Sequence", "pretokenizers": []},
]  # fmt: skip
BYTE_LEVELS = options("ByteLevel", add_prefix_space=FLAG, trim_offsets=FLAG, use_regex=FLAG)
FALCON = [
    {"type": "Punctuation", "behavior": "Contiguous"},
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    {"type": "Digits", "individual_digits": False},
    {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated",
     "invert": False},
]  # fmt: skip
TRIMS = {"trim_offsets": True}
AFTER_BYTES = [
    {"type": "Sequence", "pretokenizers": each}
    for each in (
        FALCON,
        [BYTE_LEVELS[0], {"type": "Punctuation", "behavior": "MergedWithNext"}],
        [BYTE_LEVELS[-1], {"type": "FixedLength", "length": 3}],
        [BYTE_LEVELS[-1], {"type": "CharDelimiterSplit", "delimiter": "a"}],
    )
]
"""Pre-tokenizers after ByteLevel cut the spelling of the bytes."""
DECODERS = [
    *options("BPEDecoder", suffix=("</w>", "b")),
    *({"type": name} for name in ("ByteFallback", "Fuse")),
    BYTE_LEVELS[0],
    *options("CTC", pad_token=("a",), word_delimiter_token=("b",), cleanup=FLAG),
    *options("Metaspace", replacement=("▁",), prepend_scheme=("always", "first", "never"),
             split=FLAG),
    *options("Replace", pattern=(REGEX, STRING), content=("", "b")),
    *options("Strip", content=("a",), start=(0, 1), stop=(0,)),  # tokenizers panics beyond
    *options("WordPiece", prefix=("##", "a"), cleanup=FLAG),
    {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Replace", "pattern": STRING,
                                                        "content": "-"}]},
]  # fmt: skip
PAIR = [["[SEP]", 1], ["[CLS]", 0]]
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "B", "type_id": 1}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
             {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {name: {"id": name, "ids": [i], "tokens": [name]}
                       for i, name in enumerate(("[CLS]", "[SEP]"))},
}  # fmt: skip
PROCESSORS = [
    {"type": "BertProcessing", "sep": PAIR[0], "cls": PAIR[1]},
    *options("RobertaProcessing", sep=(PAIR[0],), cls=(PAIR[1],), trim_offsets=FLAG,
             add_prefix_space=FLAG),
    *options("ByteLevel", add_prefix_space=FLAG, trim_offsets=FLAG, use_regex=FLAG),
    TEMPLATE,
    {"type": "Sequence", "processors": [BYTE_LEVELS[0], TEMPLATE]},
]  # fmt: skip

CHARACTERS = "ab xyz12.,!-_▁éÉò漢か\n#"
VOCAB = ["[CLS]", "[SEP]", *CHARACTERS, "ab", "▁a", "##b", "##a", "12", "xy", "</w>", "b</w>"]
MODELS = {
    "BPE": [
        *options("BPE", unk_token=(None, "[SEP]"), fuse_unk=FLAG, byte_fallback=FLAG,
                 ignore_merges=FLAG, continuing_subword_prefix=(None, ""),
                 end_of_word_suffix=(None, ""), dropout=(None, 0.0)),
        *options("BPE", unk_token=("[SEP]",), continuing_subword_prefix=("##",)),
        *options("BPE", unk_token=("[SEP]",), end_of_word_suffix=("</w>",)),
    ],
    "WordPiece": options("WordPiece", unk_token=("[SEP]",), max_input_chars_per_word=(3, 100),
                         continuing_subword_prefix=("##", "")),
    "WordLevel": options("WordLevel", unk_token=("[SEP]",)),
    "Unigram": options("Unigram", unk_id=(1, None), byte_fallback=FLAG),
}  # fmt: skip


def model_of(entry: dict[str, Any]) -> dict[str, Any]:
    ids = {token: i for i, token in enumerate(VOCAB)}
    if entry["type"] == "Unigram":
        return entry | {"vocab": [[token, -1.5 - i / 7] for i, token in enumerate(VOCAB)]}
    if entry["type"] != "BPE":
        return entry | {"vocab": ids}
    prefix = entry.get("continuing_subword_prefix") or ""
    suffix = entry.get("end_of_word_suffix") or ""
    merges = ["a ##b"] if prefix else [] if suffix else ["a b", "▁ a", "1 2", "x y"]
    return entry | {"vocab": ids, "merges": merges}


def held(**parts: Any) -> dict[str, Any]:
    plain = model_of({"type": "BPE", "unk_token": "[SEP]"})
    return {"version": "1.0", "added_tokens": [], "model": plain} | parts


def byte_level(**parts: Any) -> dict[str, Any]:
    vocab = {
        token: i for i, token in enumerate(["[CLS]", "[SEP]", *map(spell, BYTES), "ab", "Ġab"])
    }
    model = {"type": "BPE", "vocab": vocab, "merges": ["a b", "Ġ ab"]}
    return {"version": "1.0", "added_tokens": [], "model": model, "pre_tokenizer": BYTE_LEVELS[-1],
            "decoder": BYTE_LEVELS[-1]} | parts  # fmt: skip


SPELLED = [
    *("[CLS]", "[SEP]", *map(spell, BYTES), "ab", "Ġab", "12", "▁", "a▁"),
    *(f"##{spell(each)}" for each in BYTES),
    *("##ab", "a##b", "b</w>", "y</w>", "Ġ</w>", "ab</w>"),
]


def spelled_model(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a model whose tokens are spelled bytes, and that is not read as byte-level BPE."""
    if entry["type"] == "Unigram":
        vocab = [[token, -1.5 - i / 7] for i, token in enumerate(SPELLED)]
        return entry | {"vocab": vocab}
    found = entry | {"vocab": {token: i for i, token in enumerate(SPELLED)}}
    if entry["type"] == "BPE":
        prefix = entry.get("continuing_subword_prefix") or ""
        suffix = entry.get("end_of_word_suffix") or ""
        found["merges"] = [f"a {prefix}b", "##a ##b"] if prefix else ["a b</w>"] if suffix else []
    return found


BEFORE_CHARACTERS = [
    {"type": "Sequence", "pretokenizers": each}
    for each in (
        [BYTE_LEVELS[0]],
        [BYTE_LEVELS[-1], *options("Metaspace", replacement=("▁",), prepend_scheme=("always",),
                                   split=(True,))],
        [BYTE_LEVELS[0], BYTE_LEVELS[0]],
        [{"type": "WhitespaceSplit"}, BYTE_LEVELS[3], options("Digits", individual_digits=FLAG)[1]],
    )
]  # fmt: skip
SPELLED_MODELS = [
    *options("BPE", unk_token=("[SEP]", None), continuing_subword_prefix=("##",)),
    *options("BPE", unk_token=("[SEP]",), end_of_word_suffix=("</w>",)),
    *options("BPE", unk_token=("[SEP]",), byte_fallback=(True,)),
    *options("WordPiece", unk_token=("[SEP]",), max_input_chars_per_word=(100,),
             continuing_subword_prefix=("##",)),
    *options("WordLevel", unk_token=("[SEP]",)),
    *options("Unigram", unk_id=(1,), byte_fallback=(False,)),
]  # fmt: skip

CASES = [
    *(("normalizer", held(normalizer=each)) for each in NORMALIZERS),
    *(("pre_tokenizer", held(pre_tokenizer=each)) for each in PRE_TOKENIZERS),
    *(("pre_tokenizer", byte_level(pre_tokenizer=each)) for each in BYTE_LEVELS),
    *(("pre_tokenizer", byte_level(pre_tokenizer=each)) for each in AFTER_BYTES),
    *(("decoder", held(decoder=each)) for each in DECODERS),
    *(("decoder", byte_level(decoder=each)) for each in [*DECODERS, None]),
    *(("model", byte_level(model=spelled_model(each), pre_tokenizer=BEFORE_CHARACTERS[0]))
      for each in SPELLED_MODELS),
    *(("pre_tokenizer", byte_level(model=spelled_model(SPELLED_MODELS[-1]), pre_tokenizer=each))
      for each in BEFORE_CHARACTERS),
    *(("post_processor", byte_level(post_processor=each)) for each in PROCESSORS),
    *(("model", held(model=model_of(each))) for every in MODELS.values() for each in every),
]  # fmt: skip


def refused_pattern(pattern: str) -> dict[str, Any]:
    return held(normalizer={"type": "Replace", "pattern": {"Regex": pattern}, "content": ""})


ENGINE = "tokenizers runs it with Oniguruma, where it may match differently"
REFUSED: list[tuple[dict[str, Any], str]] = [
    *((refused_pattern(each), ENGINE) for each in
      (r"(a)\1", "(?<n>a)", r"\X", "[a-z&&[^b]]", "(?m:.)", "(?x: a)", "(?i:ss)", r"(?i)[\p{Lu}]",
       "a{2}?", "(?~a)", r"\K", r"\p{Word}")),
    (refused_pattern(""), "the pattern is empty"),
    (held(normalizer={"type": "Other"}), "it is not part of the format as tokenizers 0.23 writes"),
    (held(pre_tokenizer={"type": "Digits", "individual_digits": True, "a": 1}), "0.23 writes it"),
    (held(decoder={"type": "Other"}), "0.23 writes it"),
    (byte_level(post_processor={"type": "Sequence", "processors": [TEMPLATE, TEMPLATE]}),
     "there are two templates, on which tokenizers fails too"),
    (byte_level(post_processor={"type": "Sequence", "processors": [BYTE_LEVELS[0] | TRIMS] * 2}),
     "the spans would be trimmed twice"),
    (byte_level(post_processor=TEMPLATE | {"single": []}), "needs $A, and has no $B"),
    (held(model=model_of({"type": "Unigram", "unk_id": 0, "byte_fallback": True})
          | {"vocab": [["?", 0.0], ["<0x41>", -1.0]]}),
     "byte_fallback true cannot be read where only some bytes have a piece"),
]  # fmt: skip
"""What is refused, and the reason that the error gives."""


def case_id(case: tuple[str, dict[str, Any]]) -> str:
    part, whole = case
    shown = whole[part] and {k: v for k, v in whole[part].items() if k not in ("vocab", "merges")}
    return json.dumps(shown, ensure_ascii=False)[:120]


def test_every_component_is_listed() -> None:
    modules = {
        "normalizers": NORMALIZERS,
        "pre_tokenizers": [*PRE_TOKENIZERS, *BYTE_LEVELS],
        "processors": PROCESSORS,
        "decoders": DECODERS,
        "models": [each for every in MODELS.values() for each in every],
    }
    bases = {"Normalizer", "PreTokenizer", "PostProcessor", "Decoder", "DecodeStream", "Model"}
    for module, entries in modules.items():
        theirs = {name for name, each in vars(getattr(peer, module)).items()
                  if isinstance(each, type)} - bases  # fmt: skip
        assert theirs == {each["type"] for each in entries}, module


@pytest.mark.parametrize(("part", "whole"), [pytest.param(*c, id=case_id(c)) for c in CASES])
def test_component(tmp_path: Path, part: str, whole: dict[str, Any]) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole))
    theirs = peer.Tokenizer.from_file(str(path))
    tok = toksmith.load(path)
    if whole.get("pre_tokenizer") in [*AFTER_BYTES, *BEFORE_CHARACTERS]:
        tok.save(tmp_path / "again.json")
        assert toksmith.load(tmp_path / "again.json") == tok
    rng = random.Random(case_id((part, whole)))
    for _ in range(40):
        text = "".join(rng.choices(CHARACTERS, k=rng.randrange(12)))
        expected = theirs.encode(text).ids
        assert tok.encode(text, add_special_tokens=True) == expected, text
        plain = theirs.encode(text, add_special_tokens=False).ids
        assert tok.decode(plain) == theirs.decode(plain, skip_special_tokens=False), text
        spans = list(map(tuple, tok.encoding(text).spans.tolist()))
        if whole.get("pre_tokenizer") in AFTER_BYTES:
            offsets = theirs.encode(text, add_special_tokens=False).offsets
            assert spans == offsets, text
        if part == "post_processor":
            pair = theirs.encode(text, "ab").ids
            assert tok.prepare([text], ["ab"]).ids[0].tolist() == pair, text


@pytest.mark.parametrize(("whole", "reason"), REFUSED, ids=[each[1] for each in REFUSED])
def test_what_is_refused(tmp_path: Path, whole: dict[str, Any], reason: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole))
    with pytest.raises(UnsupportedError) as refused:
        toksmith.load(path)
    assert reason in str(refused.value)
