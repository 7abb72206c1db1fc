"""Published encodings by name: the URL and SHA-256 of each file, its split and special tokens.

A file of ranks is read from the package, from toksmith's cache (``TOKSMITH_CACHE_DIR``, or the
user's cache folder) or from tiktoken's cache, or is downloaded into toksmith's cache. Its SHA-256
is always checked.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from toksmith._base.model_names import encoding_of_model, nearest
from toksmith._base.records import dataclass, field
from toksmith.errors import DownloadError, OptionError, UnknownNameError
from toksmith.framing import Framing
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter

_FOLDER = "https://openaipublic.blob.core.windows.net/encodings"
_MOST = 1 << 26
"""The most bytes that a download may have."""


@dataclass(frozen=True)
class Ranks:
    """A published file, usually of ranks (``.tiktoken``).

    Attributes:
        url: the address of the file.
        sha256: the SHA-256 of its content, in hexadecimal.
    """

    url: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The file's name in toksmith's cache."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class Bundled:
    """A file of ranks that comes with the package, in ``toksmith/data``.

    Attributes:
        file_name: its name in that folder.
    """

    file_name: str

    def read(self) -> bytes:
        """Return the content of the file."""
        from importlib.resources import files

        return (files("toksmith") / "data" / self.file_name).read_bytes()


@dataclass(frozen=True)
class Published:
    """An encoding: a file of ranks, with its split and special tokens.

    Attributes:
        ranks: the file.
        split: the name of the pattern's family.
        special_tokens: ids by literal.
        aliases: second literals of some of these ids.
    """

    ranks: Ranks | Bundled
    split: str
    special_tokens: dict[str, int] = field(default_factory=dict)
    aliases: dict[str, int] = field(default_factory=dict)


def _ranks(name: str, sha256: str) -> Ranks:
    return Ranks(f"{_FOLDER}/{name}.tiktoken", sha256)


_R50K = _ranks("r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930")
_P50K = _ranks("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069")
_CL100K = _ranks("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7")
_O200K = _ranks("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d")

# tiktoken's cache holds "gpt2" in GPT-2's own format.
_GPT2_FOLDER = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main"
_GPT2_PAIR = (
    Ranks(
        f"{_GPT2_FOLDER}/encoder.json",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    ),
    Ranks(
        f"{_GPT2_FOLDER}/vocab.bpe",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    ),
)

_END = "<|endoftext|>"
_PROMPT = "<|endofprompt|>"
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_HARMONY = {
    "<|startoftext|>": 199998,
    _END: 199999,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
    _PROMPT: 200018,
}
# Reserved special tokens have all unused ids up to 201087; one of them is an alias of a used id.
_ALIASES = {"<|reserved_200018|>": 200018}
_RESERVED = {f"<|reserved_{i}|>": i for i in range(200000, 201088) if i not in _HARMONY.values()}

ENCODINGS: dict[str, Published] = {
    "toksmith-small": Published(
        Bundled("toksmith-small.tiktoken"), "o200k", {_END: 16382, "<|pad|>": 16383}
    ),
    "r50k_base": Published(_R50K, "gpt2", {_END: 50256}),
    "gpt2": Published(_R50K, "gpt2", {_END: 50256}),
    "p50k_base": Published(_P50K, "gpt2", {_END: 50256}),
    "p50k_edit": Published(
        _P50K, "gpt2", {_END: 50256, **dict(zip(_FIM, range(50281, 50284), strict=True))}
    ),
    "cl100k_base": Published(
        _CL100K,
        "cl100k-tiktoken",
        {_END: 100257, **dict(zip(_FIM, range(100258, 100261), strict=True)), _PROMPT: 100276},
    ),
    "o200k_base": Published(_O200K, "o200k", {_END: 199999, _PROMPT: 200018}),
    "o200k_harmony": Published(_O200K, "o200k", _HARMONY | _RESERVED, _ALIASES),
}
"""The encodings by name."""


def names() -> list[str]:
    """Return the names of the encodings; :func:`fetch` also takes names of models.

    Example:
        >>> "cl100k_base" in names()
        True
    """
    return list(ENCODINGS)


def encoding_of(name: str) -> str | None:
    """Return the encoding for the name of an encoding or model; ``None`` for an unknown name.

    Case is ignored.

    Example:
        >>> encoding_of("gpt2"), encoding_of("GPT-4o-mini"), encoding_of("gpt5")
        ('gpt2', 'o200k_base', None)
    """
    for each in (name, name.lower()):
        if found := each if each in ENCODINGS else encoding_of_model(each):
            return found
    return None


def at_hand() -> list[str]:
    """Return the names of the encodings whose files are on this machine; nothing is downloaded.

    The SHA-256 of a file is checked when it is read, not here.
    """

    def is_there(ranks: Ranks | Bundled) -> bool:
        return isinstance(ranks, Bundled) or any(place.is_file() for place in _places(ranks))

    return [name for name, published in ENCODINGS.items() if is_there(published.ranks)]


def fetch(name: str, download: bool = True) -> Pipeline:
    """Return a published encoding, from the package, a cache or the network.

    Args:
        name: one of :func:`names`, or the name of a model that uses one.
        download: whether to download the file if it is in no cache.

    Raises:
        UnknownNameError: no encoding has this name; the message suggests similar names.
        DownloadError: the file is in no cache and cannot be downloaded; the message says where to
            put it.
        OptionError: ``name`` is no string.
    """
    if not isinstance(name, str):
        raise OptionError(f"name is {name!r:.80}: use a str")
    encoding = encoding_of(name)
    if encoding is None:
        raise UnknownNameError(unknown(name))
    published = ENCODINGS[encoding]
    ranks = published.ranks
    if isinstance(ranks, Bundled):
        path, data = Path(ranks.file_name), ranks.read()
    else:
        found = _read_cache(ranks)
        if found is None and encoding == "gpt2":
            encoder, merges = map(_read_cache, _GPT2_PAIR)
            if encoder and merges:
                from toksmith.formats import gpt2

                return gpt2.read_pair(encoder[0], merges[0]).with_name(encoding)
        if found is None and not download:
            raise DownloadError(f"{ranks.file_name} is in no cache with the right SHA-256")
        path, data = found or _download(name, ranks)
    from toksmith.formats import tiktoken

    framing = Framing.of(published.special_tokens, published.aliases)
    return tiktoken.pipeline_of(path, data, splitter(published.split), framing).with_name(encoding)


def unknown(name: str) -> str:
    """Return the error message for an unknown name."""
    if near := nearest(name, ENCODINGS):
        shown = ", ".join(
            repr(each) if each in ENCODINGS else f"{each!r} (which uses {encoding_of(each)})"
            for each in near
        )
        return f"no published encoding has the name {name!r:.80}; did you mean {shown}?"
    every = ", ".join(ENCODINGS)
    return (
        f"no published encoding has the name {name!r:.80}: use {every}, or the name "
        "of a model that uses one (gpt-4o, gpt-4, text-embedding-3-small …); load any other "
        "tokenizer from its file, by its path"
    )


def cache_folder() -> Path:
    """Return the folder of downloaded files, which may not exist."""
    if folder := os.environ.get("TOKSMITH_CACHE_DIR"):
        return Path(folder)
    import platformdirs

    return Path(platformdirs.user_cache_dir("toksmith"))


def _places(ranks: Ranks) -> Iterator[Path]:
    yield cache_folder() / ranks.file_name
    key = hashlib.sha1(ranks.url.encode(), usedforsecurity=False).hexdigest()
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if folder := os.environ.get(variable):
            yield Path(folder) / key
    yield Path(_temporary_folder(), "data-gym-cache", key)


def _temporary_folder() -> str:
    from tempfile import gettempdir  # slow to import, rarely needed

    return gettempdir()


def _read_cache(ranks: Ranks) -> tuple[Path, bytes] | None:
    for path in _places(ranks):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if hashlib.sha256(data).hexdigest() == ranks.sha256:
            return path, data
    return None


def _download(name: str, ranks: Ranks) -> tuple[Path, bytes]:
    """Download a file, and store it in the cache if that is writable.

    A download that broke off is stored there too, and the next one resumes it.
    """
    from toksmith._base import downloads

    if sys.stderr.isatty():
        print(f"Downloading {ranks.url}", file=sys.stderr)
    path = cache_folder() / ranks.file_name
    part = path.with_name(f"{path.name}.part")
    start = b""
    with suppress(OSError):
        start = part.read_bytes()
    try:
        data = downloads.download(ranks.url, _MOST, start)
        if start and hashlib.sha256(data).hexdigest() != ranks.sha256:
            data = downloads.download(ranks.url, _MOST)  # the part was of another file
        if hashlib.sha256(data).hexdigest() != ranks.sha256:
            raise ValueError(f"the server sent {len(data):,} bytes with another SHA-256")
    except (OSError, ValueError) as wrong:  # OSError: network; ValueError: checksum or address
        if isinstance(wrong, downloads.BrokenDownloadError) and wrong.received:
            _keep(part, wrong.received)
        damaged = [f"{place} has another SHA-256" for place in _places(ranks) if place.is_file()]
        raise DownloadError(
            f"{name} is not on this machine{''.join(f' ({each})' for each in damaged)} and cannot "
            f"be downloaded ({_reason(wrong)}); save {ranks.url} as {path} (SHA-256 {ranks.sha256})"
        ) from wrong
    _keep(path, data)
    with suppress(OSError):
        part.unlink()
    return path, data


def _keep(path: Path, data: bytes) -> None:
    """Write a file of the cache; without a cache, the next call downloads it again."""
    from toksmith._base import commits

    with suppress(OSError, OptionError):
        path.parent.mkdir(parents=True, exist_ok=True)
        commits.replace_all({path: data})


def _reason(wrong: Exception) -> str:
    """Return the reason why a download failed, in a few words."""
    text = " ".join(str(wrong).split())
    for part, short in (
        ("NameResolution", "no network: the host name is not found"),
        ("Name or service not known", "no network: the host name is not found"),
        ("refused", "the connection was refused"),
        ("timed out", "the server was silent for 30 s"),
        ("CERTIFICATE_VERIFY_FAILED", "the server's certificate is not trusted"),
        ("infinite loop", "the server redirects endlessly"),
    ):
        if part in text:
            return short
    if status := getattr(wrong, "code", None):
        return f"the server returned {status}"
    return text if len(text) <= 80 else f"{text[:79]}…"
