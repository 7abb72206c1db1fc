"""minbpe's ``.model``, and its companion ``.vocab`` for human readers.

    minbpe v1
    PATTERN                  empty: no splitting
    NUMBER OF SPECIAL TOKENS
    TOKEN ID                 one line per special token
    LEFT RIGHT               one line per merge; the results are ids 256, 257, …

minbpe strips each line and splits it at white space; there is no quoting.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

from toksmith._base import files
from toksmith._base.lazy import np
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats import checks, gap_patterns
from toksmith.formats.listed import Hints
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline

NAME = "minbpe"
_MAGIC = "minbpe v1"


def recognise(path: Path) -> bool:
    """Return whether the file starts like a minbpe model."""
    lines = files.read_head(path).splitlines()
    return bool(lines) and lines[0].strip() == _MAGIC.encode()


def read(path: Path, hints: Hints) -> Pipeline:
    """Read a ``.model`` file.

    Raises:
        OptionError: there are hints.
        FormatError: the file is damaged; the message names the line.
    """
    hints.refuse(path, NAME)
    text = files.read_text(path).replace("\r\n", "\n").replace("\r", "\n")
    lines = text.removesuffix("\n").split("\n")
    if lines[0].strip() != _MAGIC:
        raise FormatError(
            path, f"line 1 is {lines[0][:40]!r}; a minbpe model starts with {_MAGIC!r}"
        )
    if len(lines) < 3:
        raise FormatError(
            path,
            f"ends after line {len(lines)}, without the pattern and the number of special tokens",
        )
    count = _integers(path, lines, 2, 1, "the number of special tokens")[0]
    if len(lines) < 3 + count:
        raise FormatError(
            path, f"ends after line {len(lines)}, in the middle of {count} special tokens"
        )
    special = [_special(path, number, lines[number - 1]) for number in range(4, 4 + count)]
    vocab = [bytes([byte]) for byte in range(256)]
    merges = []
    for index in range(3 + count, len(lines)):
        left, right = _integers(path, lines, index, 2, "the two ids of a merge")
        if max(left, right) >= len(vocab):
            raise FormatError(
                path,
                f"line {index + 1} merges {left} and {right} into {len(vocab)}; "
                "a merge can only join ids below its own",
            )
        merges.append((left, right, len(vocab)))
        vocab.append(vocab[left] + vocab[right])
        if len(vocab[-1]) > _LONGEST:
            raise FormatError(
                path, f"line {index + 1} merges to a token of {len(vocab[-1]):,} bytes"
            )
    with files.reading(path):
        pattern = lines[1].strip()
        return Pipeline(
            BPE(tuple(vocab), np.array(merges, np.uint32)),
            gap_patterns.uncover_gaps(pattern) if pattern else None,
            Framing(tuple(special)),
        )


# The limit of a token in bytes: each merge may double it, so 40 lines could yield a terabyte.
_LONGEST = 2**20


def _integers(path: Path, lines: list[str], index: int, count: int, what: str) -> list[int]:
    parts = lines[index].split()
    # An id has at most ten digits. int() would also accept signs, underscores and other digits.
    if len(parts) != count or not all(p.isascii() and p.isdigit() and len(p) <= 10 for p in parts):
        raise FormatError(path, f"line {index + 1} is {lines[index][:40]!r}, not {what}")
    return [int(part) for part in parts]


def _special(path: Path, number: int, line: str) -> AddedToken:
    parts = line.split()
    if len(parts) != 2:
        raise FormatError(path, f"line {number} is {line[:40]!r}, not a special token and its id")
    (token_id,) = _integers(path, ["", parts[1]], 1, 1, "id") if parts[1].isdigit() else (-1,)
    if not 0 <= token_id <= files.MAX_ID:
        raise FormatError(path, f"line {number}: special token {parts[0]!r} has id {parts[1]!r}")
    return AddedToken(parts[0], token_id)


def contents(pipeline: Pipeline, path: Path) -> dict[Path, bytes]:
    """Return the contents of a ``.model`` file and of its ``.vocab`` for human readers.

    Raises:
        UnsupportedError: the pipeline has something that the format cannot hold.
    """
    model = checks.require_byte_level(pipeline, NAME)
    _check_ids(model)
    checks.check_framing(pipeline, NAME)
    checks.check_no_aliases(pipeline, NAME)
    checks.check_merging_suffices(model, NAME)
    special = [_special_line(token) for token in pipeline.framing.added_tokens]
    lines = [_MAGIC, _pattern_line(pipeline), str(len(special)), *special]
    lines += [f"{left} {right}" for left, right, _ in model.merges.tolist()]
    vocab_path = path.with_suffix(".vocab") if path.suffix == ".model" else f"{path}.vocab"
    return {
        path: ("\n".join(lines) + "\n").encode(),
        Path(vocab_path): _vocab_text(model, pipeline.framing).encode(),
    }


def _check_ids(model: BPE) -> None:
    for byte in range(256):
        if model.byte_ids[byte] != byte:
            raise UnsupportedError(
                f"minbpe gives ids 0..255 to the bytes by value, but here byte 0x{byte:02X} has id "
                f"{model.byte_ids[byte]}; tiktoken, gpt2 and huggingface can hold that"
            )
    for place, (left, right, new) in enumerate(model.merges.tolist()):
        if new != 256 + place:
            raise UnsupportedError(
                f"minbpe numbers merges 256, 257, … in their order, but merge {place} "
                f"({left}, {right}) gives id {new}; gpt2 and huggingface can hold that"
            )
    # Byte ids and merge ids are checked, so a remaining token is one that no merge produces.
    for token_id in range(256 + len(model.merges), len(model.vocab)):
        if model.vocab[token_id]:
            raise UnsupportedError(
                f"minbpe cannot hold id {token_id} ({model.vocab[token_id]!r}), which no merge "
                "produces; tiktoken and huggingface can"
            )


def _pattern_line(pipeline: Pipeline) -> str:
    cut = checks.require_pattern(pipeline, NAME)
    if cut is None:
        return ""
    pattern = gap_patterns.cover_gaps(cut)
    if not pattern or pattern != pattern.strip() or {*"\n\r\0"} & {*pattern}:
        raise UnsupportedError(
            f"minbpe stores the pattern on one stripped line, so it cannot hold {pattern!r}; "
            "tiktoken and huggingface can"
        )
    return pattern


def _special_line(token: AddedToken) -> str:
    content = checks.require_literal(token, NAME)
    if content.split() != [content]:
        raise UnsupportedError(
            f"minbpe cannot hold special token {content!r}: it cuts the line at white space; "
            "tiktoken, gpt2 and huggingface can hold it"
        )
    if "\0" in content:
        raise UnsupportedError(
            f"minbpe files are text, and special token {content!r} holds a null character; "
            "tiktoken, gpt2 and huggingface can hold it"
        )
    return f"{content} {token.id}"


def _vocab_text(model: BPE, framing: Framing) -> str:
    """Return one line per token: ``[a][b] -> [ab] 256``."""
    shown = [_visible(token) for token in model.vocab]
    lines = [f"[{shown[i]}] {i}" for i in range(256)]
    lines += [
        f"[{shown[left]}][{shown[right]}] -> [{shown[new]}] {new}"
        for left, right, new in model.merges.tolist()
    ]
    lines += [f"[{_visible(t.content.encode())}] {t.id}" for t in framing.added_tokens]
    return "\n".join(lines) + "\n"


def _visible(token: bytes) -> str:
    r"""Return the token's text, with control characters escaped as ``\u000a``."""
    text = token.decode("utf-8", "replace")
    return "".join(
        f"\\u{ord(c):04x}" if unicodedata.category(c)[0] in "CZ" and c != " " else c for c in text
    )
