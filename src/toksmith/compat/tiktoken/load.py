"""Files of ranks: reading them from paths and addresses through a cache, and writing them."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from binascii import a2b_base64, b2a_base64
from contextlib import suppress
from pathlib import Path
from typing import Any

from toksmith._base import downloads
from toksmith._base.byte_alphabet import ALPHABET, unspell
from toksmith._base.files import write_bytes
from toksmith._base.lazy import importing

_MOST = 1 << 30
"""The most bytes that a download may have."""


def read_file(blobpath: str) -> bytes:
    """Return the content of a file.

    Args:
        blobpath: a path, an address that starts with ``http://`` or ``https://``, or one of
            another kind of storage, which the package ``blobfile`` reads.

    Raises:
        OSError: the file cannot be read.
        ValueError: a download is larger than 1 GB.
        ImportError: the address needs ``blobfile``, which is not installed.

    Example:
        >>> Path("words.txt").write_bytes(b"low")
        3
        >>> read_file("words.txt")
        b'low'
    """
    if "://" not in blobpath:
        return Path(blobpath).read_bytes()
    if blobpath.startswith(("http://", "https://")):
        return downloads.download(blobpath, _MOST)
    content: bytes = _blobfile(blobpath).read_bytes(blobpath)
    return content


def _blobfile(blobpath: str) -> Any:
    with importing("blobfile", f"{blobpath} needs blobfile: pip install blobfile"):
        import blobfile
    return blobfile


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Return whether data have this SHA-256.

    Args:
        data: the data.
        expected_hash: the SHA-256 in hexadecimal.

    Example:
        >>> check_hash(b"low", "00")
        False
    """
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """Return the content of a file from tiktoken's cache, else read it and put it there.

    The cache is the folder ``TIKTOKEN_CACHE_DIR``, else ``DATA_GYM_CACHE_DIR``, else one among the
    temporary files; an empty name turns it off.

    Args:
        blobpath: see :func:`read_file`.
        expected_hash: the SHA-256 of the content; a file of the cache with another is read anew.

    Raises:
        ValueError: what was read has another SHA-256.
        OSError: the file cannot be read, or the cache that the environment names not be written.

    Example:
        >>> Path("words.txt").write_bytes(b"low")
        3
        >>> os.environ["TIKTOKEN_CACHE_DIR"] = ""
        >>> read_file_cached("words.txt")
        b'low'
        >>> _ = os.environ.pop("TIKTOKEN_CACHE_DIR")
    """
    default = str(Path(tempfile.gettempdir(), "data-gym-cache"))
    named = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    folder = default if named is None else named
    if not folder:
        return read_file(blobpath)
    place = Path(folder, hashlib.sha1(blobpath.encode(), usedforsecurity=False).hexdigest())
    if place.exists():
        held = place.read_bytes()
        if expected_hash is None or check_hash(held, expected_hash):
            return held
        with suppress(OSError):
            place.unlink()
    content = read_file(blobpath)
    if expected_hash and not check_hash(content, expected_hash):
        raise ValueError(
            f"Hash mismatch for data downloaded from {blobpath} (expected {expected_hash}): it has "
            f"{len(content):,} bytes; try again"
        )
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(f"{place.name}.{os.urandom(4).hex()}.tmp")
        temporary.write_bytes(content)
        temporary.replace(place)
    except OSError:
        if named is not None:
            raise
    return content


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Return the ranks in a ``.tiktoken`` file, by token.

    Args:
        tiktoken_bpe_file: see :func:`read_file`.
        expected_hash: see :func:`read_file_cached`.

    Raises:
        ValueError: a line is not a token in base64 and its rank, or the SHA-256 differs.

    Example:
        >>> dump_tiktoken_bpe({b"a": 0, b"b": 1}, "two.tiktoken")
        >>> os.environ["TIKTOKEN_CACHE_DIR"] = ""
        >>> load_tiktoken_bpe("two.tiktoken")
        {b'a': 0, b'b': 1}
        >>> _ = os.environ.pop("TIKTOKEN_CACHE_DIR")
    """
    ranks: dict[bytes, int] = {}
    for line in read_file_cached(tiktoken_bpe_file, expected_hash).splitlines():
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[a2b_base64(token)] = int(rank)
        except ValueError as wrong:
            raise ValueError(f"Error parsing line {line!r} in {tiktoken_bpe_file}") from wrong
    return ranks


def dump_tiktoken_bpe(bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str) -> None:
    r"""Write ranks to a ``.tiktoken`` file, in the order of the ranks.

    Args:
        bpe_ranks: the rank of each token.
        tiktoken_bpe_file: a path, or an address that the package ``blobfile`` writes to.

    Raises:
        ImportError: the address needs ``blobfile``, which is not installed.

    Example:
        >>> dump_tiktoken_bpe({b"b": 1, b"a": 0}, "two.tiktoken")
        >>> Path("two.tiktoken").read_text()
        'YQ== 0\nYg== 1\n'
    """
    content = b"".join(
        b2a_base64(token, newline=False) + b" %d\n" % rank
        for token, rank in sorted(bpe_ranks.items(), key=lambda item: item[1])
    )
    if "://" not in str(tiktoken_bpe_file):
        write_bytes(Path(tiktoken_bpe_file), content)
        return
    with _blobfile(tiktoken_bpe_file).BlobFile(tiktoken_bpe_file, "wb") as file:
        file.write(content)


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    r"""Return the ranks in GPT-2's two files, by token.

    Args:
        vocab_bpe_file: the file of merges; see :func:`read_file`.
        encoder_json_file: the file of ids, with which the merges must agree.
        vocab_bpe_hash: the SHA-256 of the first file.
        encoder_json_hash: the SHA-256 of the second.
        clobber_one_byte_tokens: whether single bytes have the ids of the second file, instead of
            their places in GPT-2's byte alphabet.

    Raises:
        AssertionError: the ids are not the ranks of the merges.

    Example:
        >>> Path("vocab.bpe").write_text("#version: 0.2\nl o\n")
        18
        >>> from toksmith._base.byte_alphabet import ALPHABET
        >>> ids = {character: place for place, character in enumerate(ALPHABET.values())}
        >>> Path("encoder.json").write_text(json.dumps(ids | {"lo": 256})) > 0
        True
        >>> os.environ["TIKTOKEN_CACHE_DIR"] = ""
        >>> data_gym_to_mergeable_bpe_ranks("vocab.bpe", "encoder.json")[b"lo"]
        256
        >>> _ = os.environ.pop("TIKTOKEN_CACHE_DIR")
    """
    merges = read_file_cached(vocab_bpe_file, vocab_bpe_hash).decode().split("\n")[1:-1]
    ranks = {bytes([byte]): rank for rank, byte in enumerate(ALPHABET)}
    for line in merges:
        left, right = line.split()
        ranks[_bytes_of(left) + _bytes_of(right)] = len(ranks)
    given = json.loads(read_file_cached(encoder_json_file, encoder_json_hash))
    ids = {_bytes_of(token): token_id for token, token_id in given.items()}
    for literal in (b"<|endoftext|>", b"<|startoftext|>"):
        ids.pop(literal, None)
    if clobber_one_byte_tokens:
        ranks |= {token: token_id for token, token_id in ids.items() if len(token) == 1}
    if ranks != ids:
        raise AssertionError(
            f"the ids of {encoder_json_file} are not the ranks of the merges in {vocab_bpe_file}"
        )
    return ranks


def _bytes_of(spelled: str) -> bytes:
    token = unspell(spelled)
    if token is None:
        raise KeyError(spelled)
    return token
