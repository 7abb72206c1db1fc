"""Mistral's ``tekken.json``: special tokens, then tokens ranked as in tiktoken.

The file holds the split pattern, all tokens in base64 in the order of their ranks, and their
number in use: the first ``default_vocab_size - default_num_special_tokens``. Special tokens have
the ids from 0 on; the id of another token is its rank plus the number of special tokens. The file
has no template; ``read`` adds the template of Mistral's models, ``<s>`` before each text.
"""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

from toksmith._base import files
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats import gap_patterns
from toksmith.formats.huggingface.entries import Entry
from toksmith.formats.listed import Hints
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline

NAME = "tekken"
_TELLING = (b'"default_num_special_tokens"', b'"token_bytes"', b'"is_control"')

# Files of versions 3 and 7 do not list them.
_SPECIAL_TOKENS = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)
_NAMELESS_VERSIONS = ("v1", "v2", "v3", "v7")


def recognise(path: Path) -> bool:
    """Return whether the file starts like a tekken.json, or the directory holds one."""
    if path.is_dir():
        path = path / "tekken.json"
    head = files.read_head(path).lstrip()
    return head.startswith(b"{") and any(key in head for key in _TELLING)


def read(path: Path, hints: Hints) -> Pipeline:
    """Read a tekken.json.

    Raises:
        OptionError: there are hints.
        FormatError: the file is damaged.
    """
    hints.refuse(path, NAME)
    from toksmith.engine.portable import recover_merges

    if path.is_dir():
        path = path / "tekken.json"
    root = Entry(path, "", files.read_json(path))
    config = root.get("config")
    special = config.get("default_num_special_tokens").token_id()
    size = config.get("default_vocab_size").token_id()
    tokens = _tokens(root.get("vocab"), size - special)
    files.check_highest(path, special, len(tokens))
    with files.reading(path):
        framing = _framing(root, special)
        vocab = (b"",) * special + tuple(tokens)
        model = BPE(vocab, recover_merges, whole_chunk_first=True)
        return Pipeline(model, gap_patterns.uncover_gaps(config.text("pattern")), framing)


def _tokens(entry: Entry, count: int) -> list[bytes]:
    """Return the tokens in use, by rank."""
    held = entry.of(list)
    if not 0 <= count <= len(held):
        raise FormatError(
            entry.path,
            f"config.default_vocab_size needs {count} tokens that are not special, but "
            f"{entry.name} has {len(held)}",
        )
    found: dict[bytes, int] = {}
    for rank, item in enumerate(held[:count]):
        token = _token(item, rank)
        if token is None or (rank < 256 and token != bytes([rank])):
            wanted = "rank and token_bytes in base64"
            if rank < 256:
                wanted = (
                    f"the byte 0x{rank:02X}, because the first 256 tokens are the bytes by value"
                )
            raise FormatError(
                entry.path, f"{entry.name}[{rank}] is {files.dump(item):.80}, not {wanted}"
            )
        if (first := found.setdefault(token, rank)) != rank:
            raise FormatError(
                entry.path, f"{entry.name}[{rank}] repeats token {token!r} of {entry.name}[{first}]"
            )
    if count < 256:
        raise FormatError(entry.path, f"{count} tokens are in use, less than the 256 bytes")
    return list(found)


def _token(item: object, rank: int) -> bytes | None:
    if not isinstance(item, dict) or item.get("rank") != rank:
        return None
    text = item.get("token_bytes")
    try:
        return b64decode(text, validate=True) or None if isinstance(text, str) else None
    except ValueError:
        return None


def _framing(root: Entry, count: int) -> Framing:
    """Return the special tokens; unnamed ids get names such as ``<SPECIAL_20>``."""
    names: dict[int, str] = {}
    entry = root.get("special_tokens")
    if entry.value is None:
        version = root.get("config").text("version")
        if version not in _NAMELESS_VERSIONS:
            raise FormatError(
                root.path, f"special_tokens is null, but a file of version {version} must list them"
            )
        names = dict(enumerate(_SPECIAL_TOKENS[:count]))
    else:
        for item in entry.items():
            rank = item.get("rank")
            if rank.token_id() >= count or rank.value in names:
                raise FormatError(
                    root.path,
                    f"{rank.name} is {rank.value}, not a unique number of 0..{count - 1}",
                )
            names[rank.value] = item.text("token_str")
    filled = (AddedToken(names.get(i, f"<SPECIAL_{i}>"), i) for i in range(count))
    start = [token_id for token_id, name in names.items() if name == "<s>"]
    return Framing(tuple(filled), prefix=tuple(start))


def contents(pipeline: Pipeline, path: Path) -> dict[Path, bytes]:
    """Raise an error, because this format is only read.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        f"{path}: tekken.json cannot be written, because its special tokens and versions are those "
        "of Mistral's models; tiktoken and huggingface can hold such a vocabulary"
    )
