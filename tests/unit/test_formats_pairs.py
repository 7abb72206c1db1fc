"""vocab.json and merges.txt with the companion files that transformers writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.kits.bpe import BYTES
from toksmith._base.byte_alphabet import spell
from toksmith.errors import FormatError, UnsupportedError

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
TOKENS = [*SPECIAL, *map(spell, BYTES), "lo", "low", "Ġlow", "madeupword0000", "<mask>"]
IDS = {token: token_id for token_id, token in enumerate(TOKENS)}
MERGES = "#version: 0.2\nl o\nlo w\nĠ low\n"
S, END, MASK, LOW, SPACE_LOW = (IDS[t] for t in ("<s>", "</s>", "<mask>", "low", "Ġlow"))


def folder(
    path: Path, config: dict[str, Any] | None = None, ids: dict[str, int] = IDS, **others: Any
) -> Path:
    path.mkdir(exist_ok=True)
    (path / "vocab.json").write_text(json.dumps(ids))
    (path / "merges.txt").write_text(MERGES)
    if config is not None:
        others["tokenizer_config"] = config
    for name, held in others.items():
        (path / f"{name}.json").write_text(json.dumps(held))
    return path


def test_roberta_by_its_tokens(tmp_path: Path) -> None:
    tok = toksmith.load(folder(tmp_path))
    assert tok.encode("low low") == [LOW, SPACE_LOW]
    assert tok.encode("low", add_special_tokens=True) == [S, LOW, END]
    assert tok.encode("low", pair="low", add_special_tokens=True) == [S, LOW, END, END, LOW, END]
    assert tok.special_tokens == {t: IDS[t] for t in (*SPECIAL, "<mask>")}
    assert tok.encode("low <mask>", special="encode") == [LOW, MASK]  # with the space before it
    assert tok.token_bytes(IDS["madeupword0000"]) == b"madeupword0000"
    assert toksmith.load(tmp_path / "merges.txt").pipeline == tok.pipeline


def test_a_space_before_the_text(tmp_path: Path) -> None:
    config = {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True}
    tok = toksmith.load(folder(tmp_path, config))
    assert tok.encode("low low", add_special_tokens=True) == [S, SPACE_LOW, SPACE_LOW, END]
    assert tok.encode(" low") == [SPACE_LOW]


@pytest.mark.parametrize("prefix", [False, True])
def test_ids_and_offsets_are_those_of_tokenizers(tmp_path: Path, prefix: bool) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tok = toksmith.load(folder(tmp_path, {"add_prefix_space": prefix}))
    models, processors = tokenizers.models, tokenizers.processors
    theirs = tokenizers.Tokenizer(models.BPE.from_file(*map(str, (
        tmp_path / "vocab.json", tmp_path / "merges.txt"))))  # fmt: skip
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    theirs.post_processor = processors.RobertaProcessing(("</s>", END), ("<s>", S), True, prefix)
    theirs.add_special_tokens(list(SPECIAL))
    theirs.add_special_tokens([tokenizers.AddedToken("<mask>", lstrip=True, special=True)])
    texts = [
        "low low",
        " low",
        "it's  low <mask>low</s>",
        "",
        "  ",
        "löw\n\nlow",
        "<mask> low <mask>",
    ]
    for text in texts:
        expected = theirs.encode(text)
        found = tok.encoding(text, special="encode", add_special_tokens=True)
        assert list(found.ids) == expected.ids, text
        spans = [tuple(map(int, span)) for span in found.spans]
        kept = [place for place, i in enumerate(expected.ids) if i not in (S, END, MASK)]
        assert [spans[i] for i in kept] == [expected.offsets[i] for i in kept], text
        both = theirs.encode(text, "low").ids
        assert tok.encode(text, pair="low", special="encode", add_special_tokens=True) == both


def test_gpt2_as_transformers_saves_it(tmp_path: Path) -> None:
    ids = {token: i for i, token in enumerate([*map(spell, BYTES), "lo", "low", "Ġlow"])}
    ids["<|endoftext|>"] = end = len(ids)
    tok = toksmith.load(folder(tmp_path / "a", ids=ids))
    assert tok.encode("low low", add_special_tokens=True) == [257, 258]
    config = {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": True}
    config |= {"add_bos_token": True, "bos_token": "<|endoftext|>"}
    tok = toksmith.load(folder(tmp_path / "b", config, ids))
    assert tok.encode("low low", add_special_tokens=True) == [end, 258, 258]


def test_opt_is_not_roberta(tmp_path: Path) -> None:
    ids = {token: i for token, i in IDS.items() if token != "<mask>"}
    config = {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "bos_token": "</s>"}
    tok = toksmith.load(folder(tmp_path / "a", config, ids))
    assert tok.encode("low", add_special_tokens=True) == [END, LOW]
    tok = toksmith.load(folder(tmp_path / "b", None, ids))
    assert tok.encode("low", add_special_tokens=True) == [LOW]


def test_flags_and_roles_of_the_companion_files(tmp_path: Path) -> None:
    mask = {"content": "<mask>", "lstrip": False, "rstrip": True, "single_word": False}
    config = {
        "tokenizer_class": "RobertaTokenizer",
        "cls_token": "<pad>",
        "added_tokens_decoder": {str(MASK): mask | {"special": True, "normalized": False}},
    }
    beside = {"sep_token": {"content": "</s>"}, "cls_token": "<s>"}
    with pytest.warns(UserWarning, match="cls_token is '<pad>' in tokenizer_config.json"):
        tok = toksmith.load(folder(tmp_path, config, special_tokens_map=beside))
    assert tok.encode("low", add_special_tokens=True) == [IDS["<pad>"], LOW, END]
    assert tok.encode("<mask>  low", special="encode") == [MASK, LOW]


@pytest.mark.parametrize(
    ("config", "others", "reason"),
    [
        ({"tokenizer_class": "OwnTokenizer"}, {}, "tokenizer_class is 'OwnTokenizer', whose rules"),
        ({"tokenizer_class": "XLMTokenizer"}, {}, "XLMTokenizer cannot be read: it cuts words"),
        ({"cls_token": "[CLS]"}, {}, r"cls_token is '\[CLS\]', which vocab.json lacks"),
    ],
)
def test_unreadable_files(
    tmp_path: Path, config: dict[str, Any], others: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        toksmith.load(folder(tmp_path, config, **others))


@pytest.mark.parametrize(
    "files",
    [
        {"added_tokens": {"<new>": 300}},
        {"tokenizer_config": {"added_tokens_decoder": {"300": {"content": "<new>"}}}},
    ],
)
def test_a_token_after_the_vocabulary_gets_the_next_id(
    tmp_path: Path, files: dict[str, Any]
) -> None:
    with pytest.warns(UserWarning, match=f"'<new>' has id 300 in .*, but id {len(TOKENS)}"):
        tok = toksmith.load(folder(tmp_path, **files))
    assert tok.encode("low<new>low") == [LOW, len(TOKENS), LOW]


@pytest.mark.parametrize(
    "config",
    [
        {"tokenizer_class": 5},
        {"add_prefix_space": "yes"},
        {"mask_token": 5},
        {"mask_token": {"content": 5}},
        {"added_tokens_decoder": [1]},
        {"added_tokens_decoder": {"1": 5}},
    ],
)
def test_damaged_configurations(tmp_path: Path, config: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"is .*, not a"):
        toksmith.load(folder(tmp_path, config))
