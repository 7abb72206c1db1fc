"""GPT-2's two files: the ids of all tokens in JSON, and the merges in rank order.

``encoder.json`` and ``vocab.bpe``, or under their later names ``vocab.json`` and ``merges.txt``;
any common start of the names is allowed (``gpt2_encoder.json``). Bytes are spelled in the printable
byte alphabet. The split is GPT-2's, unless a ``tokenizer_config.json`` in the same directory says
otherwise (:mod:`toksmith.formats.huggingface.pair`). A token that is neither a byte nor the result
of a merge is a special token.
"""

from __future__ import annotations

import re
from pathlib import Path

from toksmith._base import files
from toksmith._base.byte_alphabet import unspell_all
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats import byte_spelling, checks
from toksmith.formats.listed import Hints
from toksmith.framing import Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter

NAME = "gpt2"
_PAIRS = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))
_VERSION = "#version: 0.2"
_ENCODER_HEAD = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]')


def recognise(path: Path) -> bool:
    """Return whether this is one of the two files, or a directory that holds both."""
    if path.is_dir():
        return _pair_in(path) is not None
    head = files.read_head(path)
    return head.startswith(b"#version") or _ENCODER_HEAD.match(head.lstrip()) is not None


def _pair_in(folder: Path) -> tuple[Path, Path] | None:
    for encoder, merges in _PAIRS:
        for found in sorted(folder.glob(f"*{encoder}"), key=lambda p: (len(p.name), p.name)):
            partner = found.with_name(found.name.removesuffix(encoder) + merges)
            if found.is_file() and partner.is_file():
                return found, partner
    return None


def _pair_of(path: Path) -> tuple[Path, Path]:
    if path.is_dir():
        if (pair := _pair_in(path)) is None:
            raise FormatError(path, f"holds neither {' nor '.join(map(' + '.join, _PAIRS))}")
        return pair
    for names in _PAIRS:
        for name in names:
            if path.name.endswith(name):
                start = path.name.removesuffix(name)
                return path.with_name(start + names[0]), path.with_name(start + names[1])
    raise FormatError(
        path,
        "is one of GPT-2's two files, but its name does not determine the other; name them "
        + " or ".join(map(" + ".join, _PAIRS)),
    )


def read(path: Path, hints: Hints) -> Pipeline:
    """Read the two files, given either of them or their directory.

    Raises:
        OptionError: hints are given.
        FormatError: a file is missing or damaged.
        UnsupportedError: the tokens mark the ends of words, and no file names the class; or a
            configuration file in the same directory has rules that toksmith does not have.
    """
    hints.refuse(path, NAME)
    encoder, merges = _pair_of(path)
    if not encoder.name.endswith("vocab.json"):
        return read_pair(encoder, merges)
    from toksmith.formats.huggingface.pair import apply_config

    return apply_config(encoder, read_pair(encoder, merges))


def read_pair(encoder_path: Path, merges_path: Path) -> Pipeline:
    """Read the two files, whatever their names; see :func:`read`."""
    encoder, joined = files.read_together((encoder_path, merges_path))
    for path, data in ((encoder_path, encoder), (merges_path, joined)):
        if data is None:
            raise FormatError(path, "there is no such file")
    ids = files.json_of(encoder_path, encoder or b"")
    files.check_ids(encoder_path, ids)
    lefts, rights, first = _read_merges(merges_path, joined or b"")
    merges = byte_spelling.merges_by_id(merges_path, lefts, rights, ids, "line", first)
    made = set(merges[:, 2].tolist())
    vocab: dict[bytes, int] = {}
    special: dict[str, int] = {}
    for (text, token_id), token in zip(ids.items(), unspell_all(ids), strict=True):
        if token is not None and (token_id in made or len(token) == 1):
            vocab[token] = token_id
        else:
            special[text] = token_id
    if any(len(text) == 5 and text.endswith("</w>") for text in special):
        raise UnsupportedError(
            f"{encoder_path}: the tokens mark the ends of words (</w>), and the two files do not "
            "say by which rules the text is cut: put the model's tokenizer_config.json beside "
            "them, which names its class (CLIPTokenizer, OpenAIGPTTokenizer, …), or load its "
            "tokenizer.json"
        )
    with files.reading(encoder_path):
        model = BPE(files.vocab_by_id(encoder_path, vocab), merges)
        return Pipeline(model, splitter("gpt2"), Framing.of(special))


def _read_merges(path: Path, data: bytes) -> tuple[list[str], list[str], int]:
    """Return the left and right tokens of the merges, and the line where they start."""
    lines = files.text_of(path, data).replace("\r\n", "\n").removesuffix("\n").split("\n")
    first = 2 if lines[0].startswith("#version") else 1
    merges = lines[first - 1 :]
    if (found := byte_spelling.split_pairs(merges)) is None:
        place, line = next((i, line) for i, line in enumerate(merges) if line.count(" ") != 1)
        raise FormatError(
            path, f"line {first + place} is {line[:40]!r}, not two tokens separated by one space"
        )
    return *found, first


def contents(pipeline: Pipeline, path: Path) -> dict[Path, bytes]:
    """Return the contents of ``encoder.json``, which is at ``path``, and of ``vocab.bpe``.

    Raises:
        UnsupportedError: the split is not GPT-2's, or the model has a feature that the files cannot
            hold.
    """
    model = checks.require_byte_level(pipeline, NAME)
    cut = checks.require_pattern(pipeline, NAME)
    family = cut.family if cut else None
    if family is None or family.name != "gpt2":
        has = cut.pattern if cut else None
        raise UnsupportedError(
            f"gpt2 files imply GPT-2's split and cannot hold {has!r}; minbpe, tiktoken and "
            "huggingface can"
        )
    checks.check_framing(pipeline, NAME)
    if (rest := checks.find_unmade(model)) is not None:
        raise UnsupportedError(
            f"in gpt2 files, id {rest[0]} ({rest[1]!r}), which no merge produces, would be a "
            "special token; tiktoken and huggingface can hold it"
        )
    checks.check_merging_suffices(model, NAME)
    ids = byte_spelling.spell_vocab(pipeline, NAME)
    for token in pipeline.framing.added_tokens:
        if token.id < len(model.vocab) and model.vocab[token.id]:
            raise UnsupportedError(
                f"gpt2 files cannot hold id {token.id} ({token.content!r}) as both a special "
                "token and a token of the model; tiktoken and huggingface can"
            )
    lines = [_VERSION, *(f"{left} {right}" for left, right in byte_spelling.spell_merges(model))]
    return {
        path: files.dump(ids).encode(),
        path.with_name("vocab.bpe"): ("\n".join(lines) + "\n").encode(),
    }
