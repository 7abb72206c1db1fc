"""Reading and writing Hugging Face's tokenizer.json files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.kits.bpe import BYTES, model, pipeline, plain_token
from toksmith import Tokenizer, formats, loads
from toksmith._base import files
from toksmith._base.byte_alphabet import spell
from toksmith.errors import FormatError, UnsupportedError
from toksmith.framing import (
    AddedToken,
    Framing,
    Padding,
    Template,
    TextPart,
    TokenPart,
    TrimOffsets,
    Truncation,
)
from toksmith.models import BPE
from toksmith.normalizers import Lowercase, UnicodeForm
from toksmith.pipeline import Pipeline
from toksmith.splitters import (
    Digits,
    LeadingSpace,
    PatternSplitter,
    Split,
    Splitter,
    SplitterSequence,
    splitter,
)

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
BERT = {"type": "BertProcessing", "sep": ["<|end|>", 258], "cls": ["<|end|>", 258]}
TRIM = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
USE_REGEX = BYTE_LEVEL | {"use_regex": True}
PREFIXED = USE_REGEX | {"add_prefix_space": True}
SPLIT = {"type": "Split", "pattern": {"Regex": "[a-z]+"}, "behavior": "Isolated", "invert": False}


def good() -> dict[str, Any]:
    vocab = {spell(byte): i for i, byte in enumerate(BYTES)} | {"ab": 256, "Ġab": 257}
    end = {"id": 258, "content": "<|end|>", "special": True, "single_word": False}
    return {
        "version": "1.0",
        "added_tokens": [end | {"lstrip": False, "rstrip": False, "normalized": False}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "post_processor": {"type": "ByteLevel", "trim_offsets": False},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocab, "merges": ["a b", "Ġ ab"]},
    }


def read(tmp_path: Path, held: object) -> Pipeline:
    path = tmp_path / "file"
    path.write_text(json.dumps(held))
    return formats.read(path, format="huggingface")


def sequence(*parts: object) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def test_read_by_hand(tmp_path: Path) -> None:
    pipe = read(tmp_path, good())
    assert pipe.model.vocab == (*BYTES, b"ab", b" ab")
    assert pipe.model.merges.tolist() == [[97, 98, 256], [32, 256, 257]]
    assert not pipe.model.whole_chunk_first
    assert pipe.splitter == splitter("gpt2")
    assert pipe.framing == Framing.of({"<|end|>": 258})


def test_merges_as_pairs_and_a_model_without_type(tmp_path: Path) -> None:
    held = good()
    held["model"]["merges"] = [["a", "b"], ["Ġ", "ab"]]
    del held["model"]["type"]
    assert read(tmp_path, held) == read(tmp_path, good())


def test_the_list_of_added_tokens_may_be_left_out() -> None:
    data = {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}}
    tok = loads(json.dumps(data))
    assert tok.encode("aba") == [2, 0]
    with pytest.raises(FormatError, match="added_tokens is null, not a list"):
        loads(json.dumps(data | {"added_tokens": None}))


def test_added_tokens_inside_and_outside_the_vocabulary(tmp_path: Path) -> None:
    held = good()
    held["model"]["vocab"] |= {"<｜起｜>": 258, "ab!": 259}
    added = held["added_tokens"][0]
    held["added_tokens"] = [
        added | {"content": "ab", "id": 256, "special": False},
        added | {"content": "<｜起｜>", "id": 258},
        added | {"content": "new", "id": 260},
        added | {"content": "newer", "id": 261},
    ]
    pipe = read(tmp_path, held)
    assert pipe.model.vocab[256:] == (b"ab", b" ab", b"", b"ab!")
    assert pipe.framing.special_tokens == {"<｜起｜>": 258, "new": 260, "newer": 261}
    assert pipe.framing.always == {"ab"}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}, splitter("gpt2")),
        (BYTE_LEVEL, None),
        (sequence(BYTE_LEVEL), None),
        (sequence(SPLIT, BYTE_LEVEL), PatternSplitter("[a-z]+")),
        (
            sequence(SPLIT | {"behavior": "Removed", "invert": True}, BYTE_LEVEL),
            PatternSplitter("[a-z]+", gaps="drop"),
        ),
        (sequence(SPLIT | {"invert": True}, BYTE_LEVEL), PatternSplitter("[a-z]+")),
        (
            sequence(SPLIT | {"pattern": {"String": "a.b "}}, BYTE_LEVEL),
            PatternSplitter(r"a\.b "),
        ),
        (BYTE_LEVEL | {"add_prefix_space": True}, LeadingSpace()),
        (
            sequence({"type": "Digits", "individual_digits": True}, USE_REGEX),
            SplitterSequence((Digits(individual=True), splitter("gpt2"))),
        ),
        (
            sequence(SPLIT, sequence(SPLIT | {"behavior": "MergedWithNext"}), PREFIXED),
            SplitterSequence(
                (
                    PatternSplitter("[a-z]+"),
                    Split("[a-z]+", "merged-with-next"),
                    LeadingSpace(),
                    splitter("gpt2"),
                )
            ),
        ),
        (sequence(SPLIT | {"pattern": {"Regex": "(?=b)"}}, BYTE_LEVEL), Split("(?=b)")),
    ],
)
def test_pre_tokenizers(tmp_path: Path, part: object, expected: Splitter | None) -> None:
    pipe = read(tmp_path, good() | {"pre_tokenizer": part})
    assert pipe.splitter == expected
    formats.write(pipe, tmp_path / "again", format="huggingface")
    assert formats.read(tmp_path / "again", format="huggingface") == pipe


def test_a_normalizer_before_bytes(tmp_path: Path) -> None:
    steps = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}
    pipe = read(tmp_path, good() | {"normalizer": steps})
    assert pipe.normalizer == (UnicodeForm("NFC"), Lowercase())
    formats.write(pipe, tmp_path / "again", format="huggingface")
    assert formats.read(tmp_path / "again", format="huggingface") == pipe
    assert Tokenizer(pipe).encode("AB e\u0301") == Tokenizer(pipe).encode("ab \u00e9")


def test_templates(tmp_path: Path) -> None:
    end = {"SpecialToken": {"id": "<|end|>", "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    template = {
        "type": "TemplateProcessing",
        "single": [end, text, end, end],
        "pair": [],
        "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [258], "tokens": ["<|end|>"]}},
    }
    framing = read(tmp_path, good() | {"post_processor": template}).framing
    assert (framing.prefix, framing.suffix) == ((258,), (258, 258))
    both = {"type": "Sequence", "processors": [{"type": "ByteLevel"}, template]}
    assert read(tmp_path, good() | {"post_processor": both}).framing == framing
    assert read(tmp_path, good() | {"post_processor": None}).framing.prefix == ()


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t["model"].update(other=1), "model.other 1"),
        (lambda t: t.update(other=1), "other 1 cannot be read: it is not part of the format"),
        (lambda t: t.update(version="2.0"), 'version "2.0"'),
        (lambda t: t.update(truncation={"max_length": 5}), "truncation.strategy null"),
        (lambda t: t.update(truncation={"length": 5}), "truncation.length 5"),
        (lambda t: t.update(padding={}), "padding.strategy null"),
        (lambda t: t.update(padding={"strategy": {"Most": 5}}), 'padding.strategy {"Most":5}'),
        (lambda t: t["pre_tokenizer"].pop("add_prefix_space"), "add_prefix_space null"),
        (
            lambda t: t.update(pre_tokenizer=sequence(SPLIT | {"behavior": "x"}, BYTE_LEVEL)),
            'pre_tokenizer.pretokenizers[0].behavior "x"',
        ),
        (lambda t: t.update(pre_tokenizer={"type": "Words"}), 'pre_tokenizer {"type":"Words"}'),
        (
            lambda t: t.update(
                pre_tokenizer=sequence(SPLIT | {"pattern": {"Regex": r"(\p{N})\1"}}, BYTE_LEVEL)
            ),
            "pattern",
        ),
        (
            lambda t: t.update(post_processor={"type": "OtherProcessing"}),
            'post_processor {"type":"OtherProcessing"}',
        ),
        (
            lambda t: t.update(post_processor={"type": "Sequence", "processors": [BERT, BERT]}),
            'post_processor.processors[1] {"type":"BertProcessing"',
        ),
        (
            lambda t: t.update(post_processor={"type": "Sequence", "processors": [TRIM, TRIM]}),
            'post_processor.processors[1] {"type":"ByteLevel"',
        ),
        (
            lambda t: t.update(post_processor={"type": "TemplateProcessing", "single": []}),
            "post_processor.single []",
        ),
    ],
)
def test_entries_that_are_not_supported(tmp_path: Path, change: Change, reason: str) -> None:
    held = good()
    change(held)
    with pytest.raises(UnsupportedError) as caught:
        read(tmp_path, held)
    assert reason in str(caught.value)
    assert str(tmp_path / "file") in str(caught.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.update(model=5), "model is 5, not a JSON object"),
        (lambda t: t.pop("model"), "model is null, not a JSON object"),
        (lambda t: t["model"].update(vocab=[]), "model.vocab is []"),
        (lambda t: t["model"].update(merges="a b"), 'model.merges is "a b", not a list'),
        (lambda t: t["model"].update(merges=["a  b"]), "merge 0 is 'a  b', not two tokens"),
        (lambda t: t["model"].update(merges=[["a"]]), "merge 0 is ['a']"),
        (lambda t: t["model"].update(merges=[["a", 5]]), "merge 0 is ['a', 5]"),
        (lambda t: t["model"].update(merges=["a b", ["a", "b"]]), "merge 0 is 'a b'"),
        (lambda t: t["model"].update(merges=["a z"]), "'az' is not in the vocabulary"),
        (lambda t: t["model"].update(merges=["a b", "a b"]), "repeats merge 0"),
        (lambda t: t["model"]["vocab"].update(ab=1), "id 1 belongs to two tokens"),
        (lambda t: t["model"]["vocab"].update(ab=-1), "token 'ab' has id -1"),
        (lambda t: t["model"]["vocab"].update(ab=2.0), "token 'ab' has id 2.0"),
        (lambda t: t["model"]["vocab"].update(ab=10**30), "token 'ab' has id 10000"),
        (lambda t: t["added_tokens"][0].update(id=300), "has id 300, but tokenizers would give it"),
        (lambda t: t["added_tokens"][0].update(id="258"), 'added_tokens[0].id is "258"'),
        (lambda t: t["added_tokens"][0].update(id=True), "added_tokens[0].id is true"),
        (lambda t: t["added_tokens"][0].update(special=1), "added_tokens[0].special is 1"),
        (lambda t: t["added_tokens"][0].update(content="é"), "tokenizers would give it 233"),
        (lambda t: t["added_tokens"][0].update(content=""), "is an empty string"),
        (lambda t: t["added_tokens"].append(t["added_tokens"][0]), "tokenizers would give it 259"),
        (lambda t: t.update(added_tokens={}), "added_tokens is {}"),
        (lambda t: t.update(added_tokens=[5]), "added_tokens[0] is 5"),
        (lambda t: t.update(decoder=[]), "decoder is []"),
        (lambda t: t.update(pre_tokenizer="ByteLevel"), 'pre_tokenizer is "ByteLevel"'),
        (lambda t: t.update(post_processor=0), "post_processor is 0"),
    ],
)
def test_bad_files(tmp_path: Path, change: Change, reason: str) -> None:
    held = good()
    change(held)
    with pytest.raises(FormatError) as caught:
        read(tmp_path, held)
    assert reason in caught.value.reason
    assert caught.value.path == str(tmp_path / "file")


@pytest.mark.parametrize(
    "split",
    [None, "gpt2", "gpt4", "cl100k-tiktoken", "o200k", "[a-z]+", PatternSplitter("[a-z]+", "drop")],
)
@pytest.mark.parametrize("whole", [False, True])
def test_round_trip(tmp_path: Path, split: str | PatternSplitter | None, whole: bool) -> None:
    pipe = pipeline(split, whole=whole)
    formats.write(pipe, tmp_path / "a.json")
    assert formats.read(tmp_path / "a.json") == pipe


def test_post_processors(tmp_path: Path) -> None:
    def framing(*entries: dict[str, Any]) -> Framing:
        entry = entries[0] if len(entries) == 1 else {"type": "Sequence", "processors": entries}
        return read(tmp_path, good() | {"post_processor": entry}).framing

    end = TokenPart(258)
    single = (end, TextPart("A"), end)
    bert = Template(single, (*single, TextPart("B", 1), TokenPart(258, 1)))
    assert framing(BERT).template == bert
    assert framing(TRIM, BERT).template == framing(BERT, TRIM).template == bert
    assert framing(TRIM, BERT).trim_offsets == TrimOffsets(add_prefix_space=False)
    roberta = BERT | {"type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": True}
    assert framing(roberta).template == Template(single, (*single, end, TextPart("B"), end))
    assert framing(roberta).trim_offsets == TrimOffsets()
    assert framing(roberta | {"trim_offsets": False}).trim_offsets is None


def test_lengths(tmp_path: Path) -> None:
    truncation = {"direction": "Left", "max_length": 9, "strategy": "OnlyFirst", "stride": 2}
    padding = {
        "strategy": {"Fixed": 16},
        "direction": "Left",
        "pad_to_multiple_of": 8,
        "pad_id": 258,
        "pad_type_id": 1,
        "pad_token": "<|end|>",
    }
    pipe = read(tmp_path, good() | {"truncation": truncation, "padding": padding})
    assert pipe.framing.truncation == Truncation(9, 2, "only_first", "left")
    assert pipe.framing.padding == Padding(16, "left", 8, 258, 1, "<|end|>")
    formats.write(pipe, tmp_path / "a.json")
    held = json.loads((tmp_path / "a.json").read_text())
    assert (held["truncation"], held["padding"]) == (truncation, padding)
    longest = padding | {"strategy": "BatchLongest", "pad_to_multiple_of": None}
    assert read(tmp_path, good() | {"padding": longest}).framing.padding == Padding(
        None, "left", None, 258, 1, "<|end|>"
    )


def test_added_tokens_with_flags(tmp_path: Path) -> None:
    held = good()
    held["added_tokens"][0] |= {"lstrip": True, "single_word": True}
    pipe = read(tmp_path, held)
    assert pipe.framing.added_tokens == (AddedToken("<|end|>", 258, lstrip=True, single_word=True),)
    formats.write(pipe, tmp_path / "a.json")
    assert formats.read(tmp_path / "a.json") == pipe
    # Where it makes no difference when a token is looked for, nothing is kept of it.
    held = good()
    held["added_tokens"][0] |= {"normalized": True}
    assert read(tmp_path, held) == read(tmp_path, good())


def test_round_trip_of_framing(tmp_path: Path) -> None:
    added = (AddedToken("<s>", 270), AddedToken("the", 257, False), AddedToken("終", 266))
    pipe = pipeline(framing=Framing(added, prefix=(270, 266), suffix=(257,)))
    formats.write(pipe, tmp_path / "a.json")
    assert formats.read(tmp_path / "a.json") == pipe
    (tmp_path / "a.json").rename(tmp_path / "tokenizer.json")
    assert formats.read(tmp_path) == pipe


@pytest.mark.parametrize(
    ("pipe", "reason"),
    [
        (pipeline(special={"é": 400}), "'é' (id 400) has the spelling of id 233"),
        (pipeline(framing=plain_token("é", 259)), "'é' (id 259) has the spelling of id 233"),
        (pipeline(PatternSplitter(r"(a)\1")), "another engine"),
        (pipeline(PatternSplitter(r"(?m:^a)")), "another engine"),
        (pipeline(framing=Framing(prefix=(999,))), "id 999, which no token has"),
        (
            Pipeline(BPE((*BYTES, b"a"), np.empty((0, 3), np.uint32))),
            "ids 97 and 256 are both b'a'",
        ),
    ],
)
def test_pipelines_that_the_format_cannot_hold(tmp_path: Path, pipe: Pipeline, reason: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        formats.write(pipe, tmp_path / "a.json")
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_model_helper_is_accurate() -> None:
    assert model().vocab[256:259] == (b"th", b"the", b" the")


def test_an_empty_token_is_none(tmp_path: Path) -> None:
    held = good() | {"added_tokens": []}
    expected = read(tmp_path, held).model
    held["model"]["vocab"][""] = len(expected.vocab) + 1
    assert read(tmp_path, held).model.vocab == (*expected.vocab, b"", b"")
    held["model"]["vocab"]["x"] = len(expected.vocab) + 1
    with pytest.raises(FormatError, match="id 259 belongs to two tokens"):
        read(tmp_path, held)


def test_ids_far_beyond_the_number_of_tokens(tmp_path: Path) -> None:
    held = good()
    vocab = held["model"]["vocab"]
    highest = files.highest_id(len(vocab))
    name = list(vocab)[-1]
    for token_id in (highest + 1, files.MAX_ID):
        vocab[name] = token_id
        with pytest.raises(FormatError, match=f"an id is {token_id}, but there are only"):
            read(tmp_path, held)
    vocab[name] = highest
    assert len(read(tmp_path, held).model.vocab) == highest + 1


@pytest.mark.parametrize("form", ["tiktoken", "minbpe"])
def test_ids_of_special_tokens_far_beyond(tmp_path: Path, form: str) -> None:
    framing = Framing.of({"<x>": files.MAX_ID})
    path = tmp_path / "a"
    formats.write(Pipeline(model(), pipeline().splitter, framing), path, form)
    with pytest.raises(FormatError, match=f"an id is {files.MAX_ID}, but there are only"):
        formats.read(path)


def test_ranks_far_beyond(tmp_path: Path) -> None:
    formats.write(pipeline("gpt2", {}), tmp_path / "a.tiktoken")
    data = (tmp_path / "a.tiktoken").read_bytes()
    (tmp_path / "b.tiktoken").write_bytes(data + b"enp6 16777215\n")
    with pytest.raises(FormatError, match="an id is 16777215, but there are only 267 tokens"):
        formats.read(tmp_path / "b.tiktoken", split="gpt2")
