"""``vocab.json`` and ``merges.txt`` as ``transformers`` saves them, which need not be GPT-2's.

The two files are the same for GPT-2 and RoBERTa. What differs is in ``tokenizer_config.json`` and
``special_tokens_map.json`` in the same directory: the class, whether a space goes before the text,
and the tokens around it. Without these files, a vocabulary with ``<s>``, ``</s>`` and ``<mask>`` is
RoBERTa's (Liu et al. 2019), as no other published one has all three.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toksmith._base import files
from toksmith._base.byte_alphabet import unspell_all
from toksmith._base.records import replace
from toksmith.errors import UnsupportedError
from toksmith.formats.huggingface.entries import Entry
from toksmith.framing import AddedToken, Framing, Template, TextPart, TokenPart, TrimOffsets
from toksmith.models import BPE, Model
from toksmith.pipeline import Pipeline
from toksmith.splitters import LeadingSpace, SplitterSequence

_GPT2 = ("GPT2Tokenizer", "PreTrainedTokenizer", "TokenizersBackend")
_ROBERTA = ("RobertaTokenizer",)
_ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
_FLAGS = ("lstrip", "rstrip", "single_word")


def apply_config(encoder: Path, pipeline: Pipeline) -> Pipeline:
    """Return GPT-2's pipeline of two files, changed by the configuration files of their directory.

    Args:
        encoder: the path of ``vocab.json``.
        pipeline: the two files, read by GPT-2's rules.

    Raises:
        FormatError: a configuration file is damaged.
        UnsupportedError: the tokenizer's class is not supported.
    """
    config = _read(encoder.with_name("tokenizer_config.json"))
    ids = pipeline.framing.special_tokens
    kind = _kind(config, ids)
    prefix_space = _flag(config, "add_prefix_space")
    tokens = _tokens(encoder, config, ids, kind)
    template, trim = Template(), None
    if kind in _ROBERTA:
        first, last = (_id(config, tokens, role) for role in ("cls_token", "sep_token"))
        single = (TokenPart(first), TextPart("A"), TokenPart(last))
        template = Template(single, (*single, TokenPart(last), TextPart("B"), TokenPart(last)))
        trim = TrimOffsets(prefix_space)
    else:
        before, after = (
            (_id(config, tokens, f"{role}_token"),) if _flag(config, f"add_{role}_token") else ()
            for role in ("bos", "eos")
        )
        template = Template.around(before, after)
    cut = pipeline.splitter
    if prefix_space and cut is not None:
        cut = SplitterSequence((LeadingSpace(), cut))
    with files.reading(encoder):
        rest = {text: i for text, i in ids.items() if text not in tokens}
        model = _with_unmade(encoder, pipeline.model, rest) if rest else pipeline.model
        framing = Framing(tuple(tokens.values()), template=template, trim_offsets=trim)
        return replace(pipeline, model=model, splitter=cut, framing=framing)


def _read(path: Path) -> Entry:
    return Entry(path, "", files.json_if_there(path))


def _kind(config: Entry, ids: Mapping[str, int]) -> str:
    entry = config.get("tokenizer_class")
    if entry.value is None:
        return _ROBERTA[0] if {"<s>", "</s>", "<mask>"} <= ids.keys() else _GPT2[0]
    name = entry.of(str).removesuffix("Fast")
    if name not in (*_GPT2, *_ROBERTA):
        raise UnsupportedError(
            f"{config.path}: tokenizer_class is {entry.value!r}, whose rules are not in "
            "vocab.json and merges.txt; load its tokenizer.json instead"
        )
    if name in ("PreTrainedTokenizer", "TokenizersBackend") and "<mask>" in ids:
        return _ROBERTA[0]
    return name


def _flag(config: Entry, key: str) -> bool:
    entry = config.get(key)
    return entry.value is not None and entry.of(bool)


def _id(config: Entry, tokens: Mapping[str, AddedToken], role: str) -> int:
    """Return the id of the token with a role."""
    defaults = {"cls_token": "<s>", "sep_token": "</s>"}
    content = _content(config.get(role)) or defaults.get(role, "<|endoftext|>")
    if content not in tokens:
        raise UnsupportedError(f"{config.path}: {role} is {content!r}, which vocab.json lacks")
    return tokens[content].id


def _content(entry: Entry) -> str | None:
    if isinstance(entry.value, dict):
        return entry.text("content")
    return None if entry.value is None else entry.of(str)


def _tokens(
    encoder: Path, config: Entry, ids: Mapping[str, int], kind: str
) -> dict[str, AddedToken]:
    """Return the special tokens with their flags from the configuration files."""
    flagged: dict[str, dict[str, Any]] = {}
    for entry in (_read(encoder.with_name("special_tokens_map.json")), config):
        for role in _ROLES:
            held = entry.get(f"{role}_token")
            if (content := _content(held)) is not None:
                flags = held.value if isinstance(held.value, dict) else {}
                flagged[content] = {key: bool(flags[key]) for key in _FLAGS if key in flags}
    decoder = config.get("added_tokens_decoder")
    for key in decoder.value or {}:
        entry = decoder.get(key)
        content = entry.text("content")
        flagged[content] = {
            flag: entry.get(flag).of(bool) for flag in _FLAGS if flag in entry.value
        }
        flagged[content]["special"] = _flag(entry, "special")
    if kind in _ROBERTA:
        for content in ("<s>", "</s>", "<unk>", "<pad>"):
            flagged.setdefault(content, {})
        flagged.setdefault("<mask>", {}).setdefault("lstrip", True)
    return {
        content: AddedToken(content, token_id, **flagged.get(content, {}))
        for content, token_id in ids.items()
        if kind in _GPT2 or content in flagged
    }


def _with_unmade(encoder: Path, model: Model, rest: Mapping[str, int]) -> BPE:
    """Return the model with the tokens that are neither merged nor special."""
    assert isinstance(model, BPE)
    vocab = {token: i for i, token in enumerate(model.vocab) if token}
    for (text, token_id), token in zip(rest.items(), unspell_all(rest), strict=True):
        vocab[text.encode() if token is None else token] = token_id
    return BPE(files.vocab_by_id(encoder, vocab), model.merges)
