"""tiktoken's ``.tiktoken``: one line per token, with the token in base64 and its rank.

The split pattern and the special tokens come from a companion file (``NAME.tiktoken.json``) or from
the caller; they are never guessed. The companion file holds the SHA-256 of the ranks, so that it
is never used with another file. There is no list of merges either: tiktoken merges the neighbours
that form the token of the lowest rank, and a chunk that is a token gets its id at once.
"""

from __future__ import annotations

import json
import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

from toksmith._base import files
from toksmith.errors import FormatError, OptionError, UnsupportedError
from toksmith.formats import checks, gap_patterns
from toksmith.formats.listed import UNSET, Hints
from toksmith.framing import Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, splitter

NAME = "tiktoken"
_SIDECAR = "toksmith tiktoken sidecar"
_VERSION = 1
_LINE = re.compile(rb"([A-Za-z0-9+/]+={0,2}|=) ([0-9]{1,8})\r?")
_EMPTY = b"="
"""The empty token in Whisper's files, as tiktoken reads it: an id that no text gets."""


def recognise(path: Path) -> bool:
    """Return whether the first line of the file is a token in base64 and its rank."""
    return _LINE.fullmatch(files.read_head(path).lstrip().split(b"\n", 1)[0]) is not None


def sidecar(path: Path) -> Path:
    """Return the path of the companion file with the split and the special tokens."""
    return path.with_name(path.name + ".json")


def read(path: Path, hints: Hints) -> Pipeline:
    """Read a ``.tiktoken`` file with its sidecar, or with hints.

    Args:
        path: the file of ranks.
        hints: take precedence over the sidecar. With a split and no sidecar, there are no special
            tokens unless the hints name some.

    Raises:
        FormatError: the file is damaged, or neither the caller nor a sidecar gives a split.
        SplitError: the pattern that the caller gave does not compile.
    """
    split, special_tokens = hints.split, hints.special_tokens
    companion = sidecar(path)
    data, held = files.read_together((path, companion))
    if data is None:
        raise FormatError(path, "there is no such file")
    framing = Framing()
    if split is UNSET:
        if held is None:
            raise FormatError(
                path,
                "a .tiktoken file holds neither split pattern nor special tokens, and there is no "
                f"{companion.name} next to it: give split= (a name such as cl100k, a pattern, or "
                "none) and special_tokens=, such as special_tokens={'<|endoftext|>': 100257}",
            )
        if not _belongs(companion, held, data):
            raise FormatError(
                path,
                f"{companion.name} belongs to another file (the SHA-256 differs): replace it, or "
                "give split= and special_tokens={...}",
            )
        cut, framing = _read_sidecar(companion, held)
    else:
        cut = _caller_splitter(split)
        if special_tokens is None and held is not None and _belongs(companion, held, data):
            framing = _read_sidecar(companion, held)[1]
    if special_tokens is not None:
        framing = Framing.of(_checked(special_tokens))
    return pipeline_of(path, data, cut, framing)


def _belongs(companion: Path, held: bytes, ranks: bytes) -> bool:
    """Return whether a sidecar belongs to the ranks; a handwritten one may have no SHA-256."""
    digest = files.json_of(companion, held).get("sha256")
    return digest is None or digest == sha256(ranks).hexdigest()


def pipeline_of(path: Path, data: bytes, cut: PatternSplitter | None, framing: Framing) -> Pipeline:
    """Return the pipeline of a file's bytes.

    Raises:
        FormatError: the data are damaged.
    """
    from toksmith.engine.portable import read_ranks, recover_merges

    vocab = read_ranks(data, files.highest_id(data.count(b"\n") + 1))
    if vocab is None:
        vocab = files.vocab_by_id(path, parse(path, data))
    with files.reading(path):
        return Pipeline(BPE(vocab, recover_merges, whole_chunk_first=True), cut, framing)


def parse(path: Path, data: bytes) -> dict[bytes, int]:
    """Return the rank of each token, like the kernel, but with exact error messages.

    Raises:
        FormatError: a line is wrong; the message has its number.
    """
    found: dict[bytes, int] = {}
    at: dict[int, int] = {}
    for number, line in enumerate(data.replace(b"\r\n", b"\n").split(b"\n"), 1):
        if not line:
            continue
        match = _LINE.fullmatch(line)
        is_empty = match is not None and match[1] == _EMPTY
        try:
            token = a2b_base64(match[1]) if match and not is_empty else b""
        except ValueError:
            token = b""
        if not match or not (token or is_empty):
            raise FormatError(
                path, f"line {number} is {line[:40]!r}, not a token in base64 and its rank"
            )
        rank = int(match[2])
        if token in found:
            raise FormatError(
                path, f"line {number} repeats token {token!r} of line {at[found[token]]}"
            )
        if (first := at.setdefault(rank, number)) != number:
            raise FormatError(path, f"line {number} repeats rank {rank} of line {first}")
        found[token] = rank
    return found


def _checked(special_tokens: Mapping[str, int]) -> dict[str, int]:
    if not isinstance(special_tokens, Mapping):
        raise OptionError(
            f"special_tokens is {type(special_tokens).__name__}: use a mapping from literals to ids"
        )
    for content, token_id in special_tokens.items():
        if not isinstance(content, str) or type(token_id) is not int:
            raise OptionError(
                f"special_tokens maps {content!r} to {token_id!r}: use a str and an int"
            )
    return dict(special_tokens)


def _caller_splitter(split: str | None) -> PatternSplitter | None:
    cut = splitter(split)
    return gap_patterns.uncover_gaps(cut.pattern) if cut else None  # tiktoken drops gaps


def _read_sidecar(path: Path, data: bytes) -> tuple[PatternSplitter | None, Framing]:
    held = files.json_of(path, data)
    if held.get("format") != _SIDECAR:
        raise FormatError(path, f"is not a {_SIDECAR}: format is {held.get('format')!r}")
    if held.get("version") != _VERSION:
        raise UnsupportedError(
            f"{path}: version {held.get('version')!r} is not supported, only version {_VERSION}"
        )
    held.setdefault("aliases", {})
    dicts = ("special_tokens", (dict,)), ("aliases", (dict,))
    for key, kinds in (("pattern", (str, type(None))), *dicts):
        if key not in held or not isinstance(held[key], kinds):
            raise FormatError(path, f"{key} is {held.get(key, 'missing')!r:.60}")
    special: dict[str, Any] = held["special_tokens"]
    aliases: dict[str, Any] = held["aliases"]
    files.check_ids(path, special)
    files.check_ids(path, aliases)
    with files.reading(path):
        pattern = held["pattern"]
        return None if pattern is None else gap_patterns.uncover_gaps(pattern), Framing.of(
            special, aliases
        )


def contents(pipeline: Pipeline, path: Path) -> dict[Path, bytes]:
    """Return the contents of a ``.tiktoken`` file and its sidecar.

    Raises:
        UnsupportedError: tiktoken, which only has ranks, would give other ids than this model.
    """
    model = checks.require_byte_level(pipeline, NAME)
    checks.check_framing(pipeline, NAME)
    _check_ranks(model)
    added = pipeline.framing.added_tokens
    special = {checks.require_literal(t, NAME): t.id for t in added if not t.alias}
    aliases = {checks.require_literal(t, NAME): t.id for t in added if t.alias}
    cut = checks.require_pattern(pipeline, NAME)
    pattern = cut and gap_patterns.cover_gaps(cut)
    lines = [
        b2a_base64(token, newline=False) + b" %d\n" % rank
        for rank, token in enumerate(model.vocab)
        if token
    ]
    ranks = b"".join(lines)
    held = {"format": _SIDECAR, "version": _VERSION, "sha256": sha256(ranks).hexdigest()}
    held |= {"pattern": pattern, "special_tokens": special}
    if aliases:
        held["aliases"] = aliases
    companion = json.dumps(held, ensure_ascii=False, indent=1) + "\n"
    return {path: ranks, sidecar(path): companion.encode()}


def _check_ranks(model: BPE) -> None:
    from toksmith.engine.portable import recover_merges

    checks.check_unique_tokens(model, NAME)
    if not model.whole_chunk_first and (rest := checks.find_unmade(model)):
        raise UnsupportedError(
            f"tiktoken gives a chunk that is a token the token's id, but this model never "
            f"produces id {rest[0]} ({rest[1]!r}); huggingface can hold that"
        )
    for own, theirs in zip_longest(model.merges.tolist(), recover_merges(model.vocab).tolist()):
        if own != theirs:
            raise UnsupportedError(
                "tiktoken derives the merges from the order of the ids: it would use "
                f"{_shown(theirs)} where this model has {_shown(own)}; minbpe, gpt2 or "
                "huggingface may hold that"
            )


def _shown(merge: list[int] | None) -> str:
    return "no merge" if merge is None else f"merge ({merge[0]}, {merge[1]}) -> {merge[2]}"
