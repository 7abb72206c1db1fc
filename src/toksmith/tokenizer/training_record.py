"""The record of a tokenizer's training, and the JSON file that holds it.

The file's name is that of the tokenizer's file plus ``.training.json``; in a directory
of several files it is ``training.json``. It holds the attributes of :class:`TrainingRecord` and the
hashes of the tokenizer's files, which show that it belongs to them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from toksmith._base.lazy import np, npt
from toksmith._base.report import html_of, text_of
from toksmith._base.typed import check_type
from toksmith._base.visible import count_of, short_repr
from toksmith.errors import FormatError, warn
from toksmith.pipeline import Pipeline


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a trainer; :class:`TrainingRecord` describes the fields."""

    pipeline: Pipeline
    vocab_size: int
    chunks: int
    tokens: int = 0
    merges: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    counts: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    tokens_after: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    skipped: Mapping[str, int] = field(default_factory=dict)


SUFFIX = ".training.json"
_IN_DIRECTORY = "training.json"
_NAMES = (
    *("tokenizer.json", "tekken.json", "encoder.json", "vocab.bpe", "vocab.json", "merges.txt"),
    "vocab.txt",
)
"""The files of a tokenizer in a directory, in the order in which loading looks for them."""
_FORMAT = 1
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("model", "version", "time"), str),
    **dict.fromkeys(("vocab_size", "merges", "documents", "bytes", "chunks", "tokens"), int),
    "spilled": int,
    **dict.fromkeys(("options", "skipped"), dict),
    **dict.fromkeys(("sources", "counts", "tokens_after"), list),
    "seconds": (int, float),
}


@short_repr
@dataclass(frozen=True)
class SourceRecord:
    """A file of the training text.

    ``chunks``, ``tokens`` and ``merge_share`` come from a sample of at most 1 MB of the file, whose
    tokens are counted by the trained tokenizer. They are ``None`` if no sample is known.

    Attributes:
        path: the path as it was given.
        size: the size of the file in bytes, as it is stored.
        sha256: SHA-256 of the file, in hexadecimal; ``None`` for a pipe.
        documents: the number of documents used.
        bytes: the size of these documents in bytes of text.
        weight: the factor by which their counts were multiplied.
        sampled: the size of the sample in bytes. If it is ``bytes``, the figures are exact.
        chunks: the estimated number of chunks that the text is cut into before a model encodes
            them: words between white space for models of SentencePiece, characters for ``char``.
        tokens: the estimated number of tokens of the text.
        merge_share: BPE on bytes: of all merges that turn the bytes of the corpus into tokens, the
            estimated share that takes place in this file, from 0 to 1. The merges of a file are
            ``(bytes - tokens) * weight``. ``None`` for other models.

    Example:
        >>> SourceRecord("a.txt", 1200, None, 1, bytes=1200, tokens=300).compression
        4.0
    """

    path: str
    size: int
    sha256: str | None
    documents: int
    bytes: int
    weight: float = 1.0
    sampled: int = 0
    chunks: int | None = None
    tokens: int | None = None
    merge_share: float | None = None

    @property
    def is_estimated(self) -> bool:
        """Whether the figures come from a part of the text.

        Example:
            >>> SourceRecord("a.txt", 1200, None, 1, 1200, sampled=1000).is_estimated
            True
        """
        return self.sampled < self.bytes

    @property
    def compression(self) -> float | None:
        """Bytes of text per token; ``None`` if the number of tokens is unknown or 0."""
        return self.bytes / self.tokens if self.tokens else None


@dataclass(frozen=True, eq=False, repr=False)
class TrainingRecord:
    """The record of a training: its text, its options and its figures.

    Attributes:
        model: the kind of model, such as ``"bpe"``.
        vocab_size: the number of ids, special tokens included.
        merges: the number of merges; 0 for models without merges.
        documents: the number of documents; 0 if unknown, as for some imported counts.
        bytes: the size of the text in bytes, each file's times its weight. With ``min_count``,
            this and ``chunks``, ``tokens`` and ``tokens_after`` leave out rare chunks.
        chunks: the number of distinct chunks.
        tokens: the number of tokens of the training text after the last merge; 0 if training does
            not count them (Unigram).
        seconds: the duration of the training in seconds.
        options: all options of the model, with ``split`` as a pattern; and the options of the
            corpus that differ from their defaults.
        counts: uint64, shape ``(merges,)``: the number of occurrences of each merge's pair when it
            was merged.
        tokens_after: uint64, shape ``(merges,)``: the number of tokens of the training text after
            each merge. Since the first merges are a smaller vocabulary, it holds the length of the
            text for each vocabulary size.
        skipped: the number of lines and documents that were left out, by reason.
        sources: the files of the text; empty if it did not come from files.
        version: the version of toksmith; empty if unknown.
        time: the time when training began, in UTC (ISO 8601); empty if unknown.
        spilled: the number of bytes of counts written to temporary files, because memory was
            limited.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> tok.training.merges, tok.training.bytes, tok.training.tokens
        (3, 16, 8)
    """

    model: str
    vocab_size: int
    merges: int
    documents: int
    bytes: int
    chunks: int
    tokens: int
    seconds: float
    options: Mapping[str, Any] = field(default_factory=dict)
    counts: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    tokens_after: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    skipped: Mapping[str, int] = field(default_factory=dict)
    sources: tuple[SourceRecord, ...] = ()
    version: str = ""
    time: str = ""
    spilled: int = 0

    @property
    def compression(self) -> float | None:
        """Bytes of the training text per token after training; ``None`` if tokens is 0.

        Example:
            >>> TrainingRecord("bpe", 276, 20, 1, bytes=24_597, chunks=1, tokens=19_438,
            ...                seconds=0.1).compression
            1.2654079637822822
        """
        return self.bytes / self.tokens if self.tokens else None

    def __repr__(self) -> str:
        return (
            f"<TrainingRecord: {self.model}, {count_of(self.vocab_size, 'id')}, "
            f"{count_of(self.merges, 'merge')} from {count_of(self.bytes, 'byte')}>"
        )

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)


def sidecar(path: Path) -> Path:
    """Return the path of the record of a tokenizer's file, or of an existing directory.

    Example:
        >>> sidecar(Path("mine.model")).name
        'mine.model.training.json'
    """
    return path / _IN_DIRECTORY if path.is_dir() else path.with_name(path.name + SUFFIX)


def contents(
    record: TrainingRecord, path: Path, tokenizer: Mapping[Path, bytes]
) -> dict[Path, bytes]:
    """Return the file of a training record, as a path and its content.

    Args:
        record: the record.
        path: the tokenizer's file or directory.
        tokenizer: the files of the tokenizer itself (``formats.contents``).
    """
    from hashlib import sha256

    from toksmith._base.files import encode_json

    values = {name.name: getattr(record, name.name) for name in fields(record)}
    values["sources"] = [asdict(source) for source in record.sources]
    for name in ("counts", "tokens_after"):
        values[name] = values.pop(name).tolist()  # long, so they go to the end of the file
    in_folder = path not in tokenizer
    hashes = {
        file.name: sha256(data).hexdigest()
        for file, data in tokenizer.items()
        if file == path or (in_folder and file.name in _NAMES)
    }
    head = {"toksmith_training": _FORMAT, "files": hashes}
    lines = [
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, default=str)}"
        for name, value in {**head, **values}.items()
    ]
    place = path / _IN_DIRECTORY if in_folder else sidecar(path)
    return {place: encode_json("{\n" + ",\n".join(lines) + "\n}\n")}


def find(path: Path) -> TrainingRecord | None:
    """Return the record next to a tokenizer's file or in its directory.

    A damaged record, or the record of another tokenizer, is ignored with a warning: the tokenizer
    works without it.
    """
    from toksmith._base import commits

    if path.is_dir():
        first = next((path / name for name in _NAMES if (path / name).exists()), None)
        if first is None:
            return None
        place = path / _IN_DIRECTORY
        if not commits.current(place, first).exists():
            path = first
            place = sidecar(path)
    else:
        first, place = path, sidecar(path)
    if not commits.current(place, first).exists():
        return None
    try:
        return _read(place, path, first)
    except FormatError as wrong:
        warn(f"this training record is not used: {wrong}")
        return None


def _read(place: Path, path: Path, first: Path) -> TrainingRecord:
    """Read a record.

    Raises:
        FormatError: the record is damaged, or belongs to other files.
    """
    from hashlib import sha256

    from toksmith._base import files

    others = [path / name for name in _NAMES] if path.is_dir() else []
    paths = [first, place, *(file for file in others if file != first)]
    data, held, *rest = files.read_together(paths)
    values = files.json_of(place, held or b"", lone_surrogates=True)
    if values.pop("toksmith_training", None) != _FORMAT:
        raise FormatError(
            place, "it is no training record, or it needs a later version of toksmith"
        )
    hashes = values.pop("files", None)
    found = {
        file.name: sha256(content).hexdigest()
        for file, content in zip([first, *paths[2:]], [data, *rest], strict=True)
        if content is not None
    }
    is_its_own = isinstance(hashes, dict) and (
        first.name in hashes and hashes.items() <= found.items()
        if path.is_dir()
        else [*hashes.values()] == [*found.values()]
    )
    if not is_its_own:
        raise FormatError(place, f"{path.name} is not the file that was written with it")
    for name, kind in _KINDS.items():
        if not isinstance(values.get(name), kind):
            raise FormatError(place, f"it is damaged: {name} is {values.get(name)!r:.40}")
    try:
        for name in ("counts", "tokens_after"):
            signed = np.array(values[name], np.int64)
            if (signed < 0).any():  # which NumPy 1 converts to huge numbers
                raise ValueError(f"{name} has a negative number")
            values[name] = signed.astype(np.uint64)
        values["options"] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values["options"].items()
        }
        values["sources"] = tuple(SourceRecord(**source) for source in values["sources"])
        check_type(values["sources"], tuple[SourceRecord, ...], "sources")
        check_type(values["skipped"], Mapping[str, int], "skipped")
        return TrainingRecord(**values)
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError) as wrong:
        raise FormatError(place, f"it is damaged: {wrong}") from wrong
