"""BERT's ``vocab.txt``: one token per line; the line number is its id.

The file says nothing of what comes before WordPiece and after it: that is as in BERT (Devlin et al.
2018), from the normalizer to ``[CLS] … [SEP]``. Whether text is lower-cased stands in a
``tokenizer_config.json`` beside it (``do_lower_case``). Without one the tokens tell: if there is a
token that lower-casing would change, and which so could never be found, then it is not done. (What
stands in brackets, such as ``[CLS]``, is no text and does not count.)

How batches are padded and texts are cut is left out: it changes no tokens.
"""

from __future__ import annotations

from pathlib import Path

from toksmith._base import files
from toksmith.decoders import WordPieceDecoder
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats import checks
from toksmith.formats.huggingface.entries import Entry
from toksmith.formats.listed import Hints
from toksmith.framing import AddedToken, Framing, Template
from toksmith.models import WordPiece
from toksmith.models.words import ids_of
from toksmith.normalizers import Bert
from toksmith.pipeline import Pipeline
from toksmith.splitters import BertSplitter

NAME = "wordpiece"
_FILE = "vocab.txt"
_UNK, _CLS, _SEP = "[UNK]", "[CLS]", "[SEP]"
_SPECIAL = ("[PAD]", _UNK, _CLS, _SEP, "[MASK]")
_NAMES = {"unk_token": _UNK, "cls_token": _CLS, "sep_token": _SEP} | {
    "pad_token": "[PAD]",
    "mask_token": "[MASK]",
}


def recognise(path: Path) -> bool:
    """Return whether a file, or a directory's vocab.txt, has ``[PAD]`` or ``[UNK]`` early on."""
    if path.is_dir():
        path = path / _FILE
    lines = {line.rstrip() for line in files.read_head(path).split(b"\n")}
    return not lines.isdisjoint((b"[PAD]", b"[UNK]"))


def read(path: Path, hints: Hints) -> Pipeline:
    """Read a vocab.txt.

    Raises:
        OptionError: there are hints.
        FormatError: the file is damaged.
        UnsupportedError: the ``tokenizer_config.json`` in the same directory is for another
            tokenizer.
    """
    hints.refuse(path, NAME)
    if path.is_dir():
        path = path / _FILE
    return _pipeline(path, files.read_text(path))


def _pipeline(path: Path, text: str) -> Pipeline:
    """Return the pipeline of a file with this text."""
    lines = [line.rstrip() for line in text.removesuffix("\n").split("\n")]
    ids = {token: token_id for token_id, token in enumerate(lines) if token}  # the last one counts
    vocab = tuple(
        token.encode() if ids.get(token) == token_id else b""
        for token_id, token in enumerate(lines)
    )
    if _UNK not in ids:
        raise FormatError(path, f"the unknown token {_UNK} is missing")
    normalizer = _normalizer(path.with_name("tokenizer_config.json"), lines)
    with files.reading(path):
        return Pipeline(
            WordPiece(vocab, ids[_UNK]),
            BertSplitter(),
            _framing(ids),
            normalizer=(normalizer,),
            decoder=(WordPieceDecoder(),),
        )


def _framing(ids: dict[str, int]) -> Framing:
    added = tuple(AddedToken(token, ids[token]) for token in _SPECIAL if token in ids)
    if _CLS not in ids or _SEP not in ids:
        return Framing(added)
    return Framing(added, template=Template.bert(ids[_CLS], ids[_SEP]))


def _normalizer(config: Path, lines: list[str]) -> Bert:
    """Return BERT's normalizer, from ``tokenizer_config.json`` or from the vocabulary."""
    lowercase = not any(
        token != token.lower() for token in lines if not (token[:1] == "[" and token[-1:] == "]")
    )
    if not config.is_file():
        return Bert(lowercase=lowercase)
    entry = Entry(config, "", files.read_json(config))
    entry.expect("do_basic_tokenize", None, True)
    for key, name in _NAMES.items():
        held = entry.value.get(key)
        if isinstance(held, dict):
            entry.get(key).expect("content", name)
        else:
            entry.expect(key, None, name)
    switches = {key: entry.get(key) for key in ("do_lower_case", "tokenize_chinese_chars")}
    given = {key: each.of(bool) for key, each in switches.items() if each.value is not None}
    accents = entry.get("strip_accents")
    return Bert(
        lowercase=given.get("do_lower_case", lowercase),
        handle_chinese_chars=given.get("tokenize_chinese_chars", True),
        strip_accents=None if accents.value is None else accents.of(bool),
    )


def contents(pipeline: Pipeline, path: Path) -> dict[Path, bytes]:
    """Return the content of a vocab.txt.

    Raises:
        UnsupportedError: reading the file would give another tokenizer; the message names the
            difference.
    """
    model = pipeline.model
    if not isinstance(model, WordPiece):
        raise UnsupportedError(
            f"{NAME} holds WordPiece models, but this one is {checks.kind(model)}; huggingface may "
            "hold it"
        )
    if len(ids_of(model.vocab)) != len(model.vocab) - model.vocab.count(b""):
        raise UnsupportedError(f"{NAME} has one id per token, but this model repeats a token")
    try:
        text = "".join(f"{token.decode()}\n" for token in model.vocab)
    except UnicodeDecodeError as wrong:
        raise UnsupportedError(f"{NAME} is text, but a token is invalid UTF-8: {wrong}") from None
    if "\0" in text:
        raise UnsupportedError(f"{NAME} is text, but a token holds a null character")
    if _UNK.encode() not in model.vocab:
        raise UnsupportedError(f"{NAME} needs the unknown token {_UNK}, but this model has another")
    back = _pipeline(path, text)
    for what, own, read_back in (
        ("model", model, back.model),
        ("normalizer", pipeline.normalizer, back.normalizer),
        ("splitter", pipeline.splitter, back.splitter),
        ("decoder", pipeline.decoder, back.decoder),
        ("added tokens", pipeline.framing.added_tokens, back.framing.added_tokens),
        ("template", pipeline.framing.template, back.framing.template),
    ):
        if own != read_back:
            raise UnsupportedError(
                f"{NAME} only holds tokens: the {what} would be read as "
                f"{_shown(read_back)}, but is {_shown(own)}; huggingface can hold that"
            )
    return {path: text.encode()}


def _shown(part: object) -> str:
    if isinstance(part, WordPiece):
        return (
            f"{len(part.vocab)} tokens with unk_id={part.unk_id}, prefix={part.prefix!r}, "
            f"max_characters={part.max_characters}"
        )
    shown = repr(part)
    return shown if len(shown) <= 160 else shown[:159] + "…"
