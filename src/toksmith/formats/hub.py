"""Model folders by their names on the Hugging Face Hub: ``org/name``.

A folder is looked up in the Hub's cache (``HF_HUB_CACHE``, else ``HF_HOME``/hub, else
``~/.cache/huggingface/hub``), whose layout is
``models--org--name/refs/main`` (a commit) and ``models--org--name/snapshots/<commit>/``. Only if it
is not there, the package ``huggingface_hub`` downloads the tokenizer's files into that cache; it
follows ``HF_HUB_OFFLINE``, ``HF_TOKEN`` and ``HF_ENDPOINT``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from toksmith._base import lazy
from toksmith._base.plain_names import is_plain
from toksmith.errors import DownloadError, OptionError

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_REVISION = re.compile(r"[\w.-]+(?:/[\w.-]+)*", re.ASCII)
_SUFFIXES = (
    *(".json", ".jsonl", ".model", ".tiktoken", ".txt", ".gguf", ".vocab", ".bpe", ".zst", ".gz"),
)
_VOCABULARIES = (
    *("tokenizer.json", "vocab.json", "vocab.txt", "encoder.json", "tekken.json"),
    *("*.model", "*.tiktoken"),
)
FILES = (
    *_VOCABULARIES,
    *("merges.txt", "vocab.bpe", "tokenizer_config.json", "special_tokens_map.json"),
    *("added_tokens.json", "chat_template.jinja", "additional_chat_templates/*.jinja"),
    *("generation_config.json", "config.json"),
)
"""The files of a repository that a tokenizer is made of."""


def is_name(text: str) -> bool:
    """Return whether a string has the form of a repository's name, and not that of a file's.

    Example:
        >>> is_name("openai-community/gpt2"), is_name("models/gpt2.json"), is_name("gpt2")
        (True, False, False)
    """
    return _NAME.fullmatch(text) is not None and not text.lower().endswith(_SUFFIXES)


def cache_folder() -> Path:
    """Return the folder of the Hub's cache, which may not exist."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if folder := os.environ.get(variable):
            return _expand(folder)
    if folder := os.environ.get("HF_HOME"):
        return _expand(folder) / "hub"
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return _expand(base) / "huggingface" / "hub"


def _expand(folder: str) -> Path:
    return Path(os.path.expandvars(folder)).expanduser()


def find(name: str, revision: str | None = None) -> Path | None:
    """Return the cached folder of a repository; ``None`` if the cache has no vocabulary of it.

    Args:
        name: such as ``"openai-community/gpt2"``.
        revision: a branch, a tag or a commit; ``None`` for the main branch.

    Raises:
        OptionError: ``revision`` is none of these.
    """
    chosen = _check(revision)
    repository = cache_folder() / f"models--{name.replace('/', '--')}"
    try:
        commit = (repository / "refs" / chosen).read_text().strip()
    except (OSError, UnicodeDecodeError):
        commit = chosen
    if not is_plain(commit):
        return None
    folder = repository / "snapshots" / commit
    return folder if any(any(folder.glob(each)) for each in _VOCABULARIES) else None


def _check(revision: str | None) -> str:
    if revision is None:
        return "main"
    if not isinstance(revision, str) or not _REVISION.fullmatch(revision) or ".." in revision:
        raise OptionError(
            f"revision is {revision!r:.80}: use a branch, a tag or a commit, such as 'main'"
        )
    return revision


def download(name: str, revision: str | None = None) -> Path:
    """Download the tokenizer's files of a repository into the cache, and return its folder.

    Args:
        name: see :func:`find`.
        revision: see :func:`find`.

    Raises:
        MissingExtraError: ``huggingface_hub`` is not installed.
        DownloadError: the files cannot be downloaded.
    """
    at = "" if revision is None else f" (revision {revision})"
    where = f"{name}{at} is not in the Hugging Face cache ({cache_folder()})"
    message = (
        f"{where}; to download it, pip install toksmith[hub] (huggingface_hub is not installed), "
        "or load a folder by its path"
    )
    with lazy.importing("huggingface_hub", message):
        hub = lazy.load("huggingface_hub")
    try:
        found = hub.snapshot_download(name, revision=_check(revision), allow_patterns=[*FILES])
    except Exception as wrong:
        if not isinstance(wrong, OSError | ValueError) and not _is_of_network(wrong):
            raise
        raise DownloadError(
            f"{where} and cannot be downloaded ({_reason(wrong)}); check the name and the network, "
            "set HF_TOKEN for a gated model, or load a folder by its path"
        ) from wrong
    return Path(found)


def _is_of_network(wrong: Exception) -> bool:
    packages = ("huggingface_hub", "requests", "httpx", "urllib3")
    return any(each.__module__.partition(".")[0] in packages for each in type(wrong).__mro__)


def _reason(wrong: Exception) -> str:
    """Return the reason in one line."""
    kind = type(wrong).__name__
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON"):
        return "HF_HUB_OFFLINE is set"
    text = " ".join(str(wrong).split())
    return f"{kind}: {text}" if len(text) <= 120 else f"{kind}: {text[:119]}…"
