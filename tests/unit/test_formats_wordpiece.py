"""BERT's vocab.txt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.kits.pipelines import MODELS
from tests.kits.words import BERT as TOKENS
from tests.kits.words import bert
from toksmith import formats
from toksmith.decoders import WordPieceDecoder
from toksmith.errors import FormatError, UnsupportedError
from toksmith.framing import AddedToken, Framing, TextPart, TokenPart
from toksmith.models import WordPiece
from toksmith.normalizers import Bert
from toksmith.pipeline import Pipeline
from toksmith.splitters import BertSplitter


def write_tokens(folder: Path, *tokens: str, end: str = "\n") -> Path:
    path = folder / "vocab.txt"
    path.write_bytes(end.join((*tokens, "")).encode())
    return path


def test_read_by_hand(tmp_path: Path) -> None:
    pipe = formats.read(write_tokens(tmp_path, *TOKENS))
    assert pipe.model == WordPiece(tuple(token.encode() for token in TOKENS), 1)
    assert pipe.normalizer == (Bert(lowercase=True),)
    assert pipe.splitter == BertSplitter()
    assert pipe.decoder == (WordPieceDecoder(),)
    assert pipe.framing.special_tokens == {token: i for i, token in enumerate(TOKENS[:5])}
    assert pipe.framing.template.single == (TokenPart(2), TextPart("A"), TokenPart(3))
    second = (TextPart("B", 1), TokenPart(3, 1))
    assert pipe.framing.template.pair == (*pipe.framing.template.single, *second)
    assert formats.read(tmp_path) == pipe


def test_line_ends_and_lines_without_a_token(tmp_path: Path) -> None:
    """White space at the end of a line is no part of a token; of a token twice, the last counts."""
    pipe = formats.read(write_tokens(tmp_path, "[UNK]", "a ", "", "b", "a", end="\r\n"))
    assert pipe.model.vocab == (b"[UNK]", b"", b"", b"b", b"a")
    (tmp_path / "vocab.txt").write_text("[UNK]\na")  # without the last line's end
    assert formats.read(tmp_path).model.vocab == (b"[UNK]", b"a")


def test_special_tokens_that_are_not_there(tmp_path: Path) -> None:
    pipe = formats.read(write_tokens(tmp_path, "[UNK]", "[CLS]", "a"))
    assert pipe.framing == Framing((AddedToken("[UNK]", 0), AddedToken("[CLS]", 1)))


def test_a_capital_letter_says_that_text_is_not_lower_cased(tmp_path: Path) -> None:
    assert formats.read(write_tokens(tmp_path, *TOKENS, "##É")).normalizer == (
        Bert(lowercase=False),
    )


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, Bert()),
        ({"do_lower_case": False, "unk_token": "[UNK]"}, Bert(lowercase=False)),
        ({"strip_accents": False, "tokenize_chinese_chars": False}, Bert(True, False, False)),
        ({"cls_token": {"content": "[CLS]"}, "tokenizer_class": "BertTokenizer"}, Bert()),
    ],
)
def test_configuration_in_the_same_folder(
    tmp_path: Path, config: dict[str, Any], expected: Bert
) -> None:
    path = write_tokens(tmp_path, *TOKENS)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert formats.read(path).normalizer == (expected,)


@pytest.mark.parametrize(
    ("config", "error", "reason"),
    [
        ({"unk_token": "<unk>"}, UnsupportedError, 'unk_token "<unk>" cannot be read: '),
        ({"cls_token": {"content": "<s>"}}, UnsupportedError, 'cls_token.content "<s>"'),
        ({"do_basic_tokenize": False}, UnsupportedError, "do_basic_tokenize false"),
        ({"do_lower_case": "yes"}, FormatError, 'do_lower_case is "yes", not a boolean'),
    ],
)
def test_configuration_that_asks_for_more(
    tmp_path: Path, config: dict[str, Any], error: type[Exception], reason: str
) -> None:
    path = write_tokens(tmp_path, *TOKENS)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(error) as caught:
        formats.read(path)
    assert reason in str(caught.value)


def test_without_unknown_token(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"the unknown token \[UNK\] is missing"):
        formats.read(write_tokens(tmp_path, "[PAD]", "a"))


@pytest.mark.parametrize("tokens", [TOKENS, (*TOKENS, "Low"), ("[UNK]", "a"), ("[UNK]", "", "a")])
def test_round_trip(tmp_path: Path, tokens: tuple[str, ...]) -> None:
    path = write_tokens(tmp_path, *tokens)
    pipe = formats.read(path)
    sound = path.read_bytes()
    path.unlink()
    formats.write(pipe, path)
    assert path.read_bytes() == sound
    formats.write(pipe, tmp_path, "wordpiece")
    assert formats.read(tmp_path) == pipe


SPECIAL = Framing(bert().framing.added_tokens)
BARE = ("[UNK]", "a")


@pytest.mark.parametrize(
    ("pipe", "reason"),
    [
        (MODELS["word"], "holds WordPiece models, but this one is WordLevel"),
        (MODELS["bpe"], "holds WordPiece models, but this one is byte-level BPE"),
        (bert(BARE, prefix="@"), "prefix='##', max_characters=100, but is 2 tokens"),
        (bert(BARE, max_characters=9), "max_characters=9"),
        (bert(BARE, unk_id=1), "unk_id=0"),
        (bert(("[UNK]", "a", "a")), "this model repeats a token"),
        (bert(("[UNK]", "a\nb")), "but is 2 tokens"),
        (bert(("[UNK]", "a ")), "but is 2 tokens"),
        (bert(("[UNK]", "\udcff")), "a token is invalid UTF-8"),
        (Pipeline(WordPiece((b"?",), 0)), "needs the unknown token [UNK]"),
        (replace(bert(BARE), normalizer=(Bert(lowercase=False),)), "the normalizer would be"),
        (replace(bert(BARE), splitter=None), "the splitter would be read as BertSplitter()"),
        (replace(bert(BARE), decoder=None), "the decoder would be read as (WordPieceDecoder"),
        (replace(bert(BARE), framing=Framing()), "the added tokens would be read as (AddedT"),
        (
            replace(bert(), framing=Framing(bert().framing.added_tokens)),
            "the template would be read as Template(single=<3 items>",
        ),
    ],
)
def test_pipelines_that_the_format_cannot_hold(tmp_path: Path, pipe: Pipeline, reason: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        formats.write(pipe, tmp_path / "a.txt")
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []
