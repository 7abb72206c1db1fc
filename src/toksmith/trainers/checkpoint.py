"""Checkpoints: the folder from which an interrupted training continues.

- ``training.json``: the options and the corpus. Only a training with the same ones continues;
  ``min_count``, ``objective`` and ``seed_sentencepiece_size`` may change before there are merges or
  pieces, and ``memory`` is not among them.
- ``counts-0000.parquet`` …: the chunk counts of a part of the files, complete once
  ``counts-0000.json`` exists. ``counts=`` accepts these files like any other counts. For models
  that make words of lines or documents, these are counts of what the words are made of, and
  ``plain-0000.parquet`` … hold the ASCII words that the kernel made already.
- ``merges.npz``, of byte-level BPE: the merges so far, the count of each, the number of tokens of
  the text after each, and a SHA-256 of these arrays.
- ``pieces.npz``, of Unigram: the pieces that were left after a pruning and their scores, the number
  of rounds so far, and a SHA-256 of these arrays.

Each file is written under a temporary name and then renamed, so a file that exists is complete. The
folder is kept when training ends, because the tokenizer is not saved yet.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from toksmith._base.files import dump, open_output, read_json, write_text
from toksmith._base.lazy import extra, np, npt
from toksmith._base.visible import count_of
from toksmith.corpus import AnyPath, DocumentSource, Files, ReadTotals
from toksmith.corpus.hashing import KnownHash
from toksmith.corpus.paths import expand_all
from toksmith.corpus.remote import FilePath, RemoteFile
from toksmith.corpus.sources import FileRead
from toksmith.corpus.text_sample import KnownSample
from toksmith.engine.training import Merges, UnigramPieces, UnigramState
from toksmith.errors import FormatError, OptionError, SplitError
from toksmith.models import BPE
from toksmith.splitters import PatternSplitter, splitter
from toksmith.trainers.counts import Counts

if TYPE_CHECKING:
    from toksmith.engine.counting import Take
    from toksmith.tokenizer import Tokenizer
    from toksmith.trainers.line_counts import LineCounts
    from toksmith.trainers.stored_counts import StoredCounts

SECONDS = 20.0
"""The interval between two writes of merges, in seconds."""

PART_BYTES = 1 << 30
"""The minimum size of a part in bytes. The files of a part are counted and stored together."""

_PARTS = 32
"""The approximate maximum number of parts."""

_LAYOUT = 2
_CODE_POINTS = 0x110000

_OF_LEARNING = ("min_count", "objective", "seed_sentencepiece_size")
"""The options that may change as long as nothing learned is stored: counts do not depend on
them."""

_MERGES, _PIECES = "merges.npz", "pieces.npz"


class Checkpoint:
    """The checkpoint folder of a training.

    Args:
        folder: its path; it is created if it does not exist.
        plan: everything that determines the result: ``options`` and ``sources``.

    Raises:
        OptionError: the folder belongs to another training, holds other files, or cannot be made.
        MissingExtraError: pyarrow, which writes counts, is not installed.
    """

    def __init__(self, folder: AnyPath, plan: Mapping[str, Any]) -> None:
        extra("pyarrow", "arrow")
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            names = {path.name for path in self.folder.iterdir()}
        except OSError as wrong:
            raise OptionError(
                f"checkpoint {folder} cannot be a folder: {wrong.strerror or wrong}"
            ) from wrong
        for name in names:
            if name.startswith(".") and name.endswith(".tmp"):  # a write that was killed
                with suppress(OSError):
                    (self.folder / name).unlink()
                names = names - {name}
        path = self.folder / "training.json"
        wanted = json.loads(json.dumps({"layout": _LAYOUT, **plan}, default=repr))
        if path.name in names:
            held = read_json(path)
            free = () if names & {_MERGES, _PIECES} else _OF_LEARNING
            _compare(self.folder, held, wanted, free)
            if held != wanted:
                write_text(path, dump(wanted))
        elif names:
            raise OptionError(f"checkpoint {folder} holds other files: use an empty or new folder")
        else:
            write_text(path, dump(wanted))

    @classmethod
    def at(cls, folder: Path) -> Checkpoint:
        """Return the checkpoint in a folder, without a check of its options."""
        found = cls.__new__(cls)
        found.folder = folder
        return found

    def count(
        self,
        source: DocumentSource,
        count: Callable[[DocumentSource], AbstractContextManager[LineCounts]],
        splitter: PatternSplitter | None,
    ) -> tuple[Iterator[Counts], ReadTotals]:
        """Count the chunks of a corpus part by part, except parts that are already counted.

        Args:
            source: the corpus.
            count: a function that counts a part.
            splitter: the splitter that cuts the chunks.

        Returns:
            The counts, which are read lazily, and the totals of the text that was read.
        """
        from toksmith.trainers.counts_files import write_passed

        def count_to(path: Path, part: DocumentSource) -> dict[str, int]:
            with count(part) as found:
                write_passed(found.pass_chunks, path, splitter, part.read().documents)
            return {}

        paths, whole = self._count_parts(_parts(source), count_to)
        return (piece for path in paths for piece in _pieces_of(path)), whole

    def count_lines(
        self,
        source: DocumentSource,
        count: Callable[[DocumentSource], AbstractContextManager[LineCounts]],
        parted: bool,
    ) -> tuple[list[LineCounts], ReadTotals]:
        """Count the lines of a corpus part by part, except parts that are already counted.

        Args:
            source: the corpus.
            count: a function that counts a part.
            parted: whether parts may be counted separately; ``False`` makes one part.

        Returns:
            The counts, which are read lazily, and the totals of the text that was read.
        """
        from toksmith.trainers.counts_files import write_passed

        def count_to(path: Path, part: DocumentSource) -> dict[str, int]:
            with count(part) as found:
                write_passed(found.pass_plain, _plain_path(path))
                write_passed(found.pass_chunks, path)
                return {name: getattr(found, name) for name in _LINES}

        parts = _parts(source) if parted else [source]
        paths, whole = self._count_parts(parts, count_to)
        return [*map(_lines_of, paths)], whole

    def _count_parts(
        self,
        parts: Iterable[DocumentSource],
        count_to: Callable[[Path, DocumentSource], dict[str, int]],
    ) -> tuple[list[Path], ReadTotals]:
        """Count each part to its file, unless its record exists.

        Args:
            parts: the parts.
            count_to: counts a part to a file, and returns further figures for its record.
        """
        whole, paths = ReadTotals(), []
        for number, part in enumerate(parts):
            path = self.folder / f"counts-{number:04}.parquet"
            record = path.with_suffix(".json")
            if not record.exists():
                figures = count_to(path, part)
                write_text(record, dump({**_read_entry(part.read()), **figures}))
            _add(whole, _read_of(record))
            paths.append(path)
        return paths, whole

    def merges(self, first: int | None = None, most: int | None = None) -> Merges:
        """Return the stored merges; empty if there are none yet.

        Args:
            first: the id that the first merge must produce, if known.
            most: the maximum number of merges; ``None`` for any number.

        Raises:
            FormatError: the file is damaged.
        """
        none = np.zeros(0, np.uint64)
        arrays = self._arrays(_MERGES, Merges._fields)
        if arrays is None:
            return Merges(np.zeros((0, 3), np.uint32), none, none)
        found = Merges(*arrays)
        number = len(found.merges) if found.merges.ndim else 0
        kinds = [(each.dtype.name, each.shape) for each in found]
        if kinds != [("uint32", (number, 3)), *[("uint64", (number,))] * 2]:
            raise self.damaged("it holds no merges")
        if first is None:
            first = int(found.merges[0, 2]) if number else 256
        new = first + np.arange(number)
        if (
            not np.array_equal(found.merges[:, 2], new)
            or (found.merges[:, :2] >= new[:, None]).any()
            or (most is not None and number > most)
        ):
            raise self.damaged("it holds no merges of this training")
        return found

    def pieces(self, alphabet: int) -> UnigramState | None:
        """Return the stored state of Unigram training; ``None`` if there is none yet.

        Args:
            alphabet: the number of characters of the text.

        Raises:
            FormatError: the file is damaged.
        """
        arrays = self._arrays(_PIECES, ("rounds", *UnigramPieces._fields))
        if arrays is None:
            return None
        rounds, found = arrays[0], UnigramPieces(*arrays[1:])
        number = len(found.lengths) if found.lengths.ndim else 0
        kinds = [(each.dtype.name, each.shape) for each in (rounds, *found)]
        if (
            kinds
            != [
                ("uint64", (1,)),
                ("uint32", (len(found.symbols) if found.symbols.ndim else 0,)),
                *[(name, (number,)) for name in ("uint32", "float64")],
            ]
            or not found.lengths.all()
            or int(found.lengths.sum(dtype=np.uint64)) != len(found.symbols)
            or int(found.symbols.max(initial=0)) >= alphabet
        ):
            raise self.damaged("it holds no pieces of this training", _PIECES)
        return UnigramState(int(rounds[0]), found)

    def damaged(self, reason: str, name: str = _MERGES) -> FormatError:
        """Return the error for a damaged file of merges, or of pieces."""
        return FormatError(self.folder / name, f"is damaged ({reason}): delete it")

    def keep(self, merges: Merges) -> None:
        """Write all merges so far."""
        self._keep_arrays(_MERGES, merges._asdict())

    def keep_pieces(self, state: UnigramState) -> None:
        """Write the pieces that are left."""
        rounds = np.array([state.rounds], np.uint64)
        self._keep_arrays(_PIECES, {"rounds": rounds, **state.pieces._asdict()})

    def _arrays(self, name: str, fields: Sequence[str]) -> list[npt.NDArray[Any]] | None:
        """Return the arrays of a file; ``None`` if it does not exist."""
        path = self.folder / name
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                found = [held[field] for field in fields]
                is_whole = held["sha256"].tobytes() == _digest_of(found)
        except Exception as wrong:  # zipfile, zlib and NumPy raise errors of a dozen kinds
            raise self.damaged(str(wrong) or type(wrong).__name__, name) from wrong
        if not is_whole:
            raise self.damaged("its SHA-256 is another one", name)
        return found

    def _keep_arrays(self, name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        digest = np.frombuffer(_digest_of(arrays.values()), np.uint8)
        with open_output(self.folder / name) as file:
            named: dict[str, Any] = {**arrays, "sha256": digest}
            np.savez(file, **named)


def describe_checkpoint(folder: AnyPath) -> str:
    """Return a message on the checkpoint of an interrupted training, and how to continue it.

    Example:
        >>> describe_checkpoint("no-such-folder")
        'no part was counted completely: the same command starts over'
    """
    path = Path(folder)
    parts = len([*path.glob("counts-*.json")])
    learned = None
    with suppress(FormatError, OSError):
        if (path / _MERGES).exists():
            learned = count_of(len(Checkpoint.at(path).merges(first=None).merges), "merge")
        elif state := Checkpoint.at(path).pieces(_CODE_POINTS):
            learned = (
                f"{len(state.pieces.lengths):,} pieces after {count_of(state.rounds, 'round')}"
            )
    if learned is not None:
        counts = " and the counts" if parts else ""
        return f"{learned}{counts} are stored in {folder}: the same command continues from them"
    if parts:
        what = f"the counts of {count_of(parts, 'part')}"
        return f"{what} of the text are stored in {folder}: the same command continues from them"
    return "no part was counted completely: the same command starts over"


def delete(folder: AnyPath) -> None:
    """Delete the files of a checkpoint, and the folder if it is then empty."""
    for pattern in ("counts-*.parquet", "plain-*.parquet", "counts-*.json", _MERGES, _PIECES,
                    "training.json"):  # fmt: skip
        for path in Path(folder).glob(pattern):
            path.unlink()
    with suppress(OSError):
        Path(folder).rmdir()


def open_checkpoint(
    folder: AnyPath,
    options: Mapping[str, Any],
    files: AnyPath | Sequence[AnyPath] | None,
    counts: Counts | StoredCounts | None,
    tok: Tokenizer | None,
) -> Checkpoint:
    """Return the checkpoint of a training.

    Args:
        folder: its path, which may not exist yet.
        options: the value of every option that determines the result, defaults included.
        files: the paths of the corpus, if it is files.
        counts: the counts, if training is from counts.
        tok: the tokenizer to continue, if any.

    Raises:
        OptionError: see :class:`Checkpoint`; or the documents are from ``texts=``, which cannot be
            read again.
    """
    if files is not None:
        sources: dict[str, Any] = {
            os.path.abspath(path): [path.stat().st_size, _version(path)]  # noqa: PTH100
            for path in expand_all(files)
        }
    elif counts is not None:
        sources = {
            "counts": _digest(counts.chunks, counts.ends, counts.counts)
            if isinstance(counts, Counts)
            else counts.digest()
        }
    else:
        raise OptionError(
            "checkpoint= is for files and counts: documents in texts= cannot be read again; "
            "count them first (toksmith.Counts.from_texts)"
        )
    given_options = dict(options)
    if tok is not None and isinstance(tok.pipeline.model, BPE):
        model = tok.pipeline.model
        known = repr((tok.pipeline.splitter, tok.pipeline.framing, model.vocab))
        given_options["continue_from"] = _digest(known.encode(), model.merges)
    return Checkpoint(folder, {"options": given_options, "sources": sources})


def _version(path: FilePath) -> int | str | None:
    """Return the time of the last change of a file, or the version of a remote one."""
    return path.tag() if isinstance(path, RemoteFile) else path.stat().st_mtime_ns


def _digest_of(arrays: Iterable[npt.NDArray[Any]]) -> bytes:
    digest = sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


def _digest(data: bytes, *arrays: npt.NDArray[Any]) -> str:
    digest = sha256(data)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]


def _compare(
    folder: Path, held: Mapping[str, Any], wanted: Mapping[str, Any], free: Sequence[str]
) -> None:
    """Raise OptionError with the differences if a folder belongs to another training.

    Args:
        folder: the folder.
        held: the content of its ``training.json``.
        wanted: the content that belongs to this training.
        free: the options that may differ.
    """
    differences = []
    for group in ("options", "sources"):
        before, now = held.get(group), wanted[group]
        if not isinstance(before, dict):
            raise FormatError(
                folder / "training.json", f"is damaged ({group} is {before!r:.40}): delete {folder}"
            )
        for name in [*before, *(name for name in now if name not in before)]:
            if before.get(name) == now.get(name) and (name in before) == (name in now):
                continue
            if group == "options" and name in free:
                continue
            if name == "split" and _is_same_split(before.get(name), now.get(name)):
                continue
            if group == "options":
                differences.append(
                    f"{name} was {before.get(name)!r:.60}, now {now.get(name)!r:.60}"
                )
            elif name == "counts":
                differences.append("the counts differ")
            else:
                how = "has changed" if name in before else "is new"
                differences.append(f"{name} {how if name in now else 'is gone'}")
    if held.get("layout") != wanted["layout"]:
        differences = [f"its layout is {held.get('layout')!r:.20}, not {_LAYOUT}"]
    elif not differences and held["sources"] and [*held["sources"]] != [*wanted["sources"]]:
        differences.append("the files are read in another order")
    if differences:
        more = f"; and {len(differences) - 3} more" if len(differences) > 3 else ""
        raise OptionError(
            f"checkpoint {folder} is of another training: {'; '.join(differences[:3])}{more}. Give "
            "another folder, or delete this one"
        )


def _is_same_split(one: object, other: object) -> bool:
    """Return whether two names or patterns mean the same split."""
    with suppress(SplitError):
        return splitter(cast("str", one)) == splitter(cast("str", other))
    return False


_LINES = ("lines", "too_long", "reserved")


def _plain_path(path: Path) -> Path:
    """Return the file of the plain words of a part, next to that of its other chunks."""
    return path.with_name(path.name.replace("counts", "plain"))


def _pieces_of(path: Path) -> Iterator[Counts]:
    """Yield the counts of a part piece by piece.

    Raises:
        FormatError: the file is missing or damaged.
    """
    from toksmith.trainers.counts_files import CountsFile, pieces

    try:
        yield from pieces(CountsFile(path))
    except FormatError as wrong:
        record = path.name.replace("plain", "counts").replace(".parquet", ".json")
        raise FormatError(
            path, f"{wrong.reason}; remove {record} beside it, and the part is counted again"
        ) from wrong.__cause__


def _lines_of(path: Path) -> LineCounts:
    """Return the counted lines of a part."""
    from toksmith.trainers.line_counts import LineCounts

    record = path.with_suffix(".json")
    entry = read_json(record)
    try:
        lines, too_long, reserved = (_number(entry[name]) for name in _LINES)
    except (TypeError, KeyError, ValueError) as wrong:
        raise _damaged_record(record, wrong) from wrong

    def pass_file(path: Path, take: Take) -> None:
        for piece in _pieces_of(path):
            take(piece.chunks, piece.ends, piece.counts)

    return LineCounts(
        *(lines, too_long, reserved),
        pass_chunks=partial(pass_file, path),
        pass_plain=partial(pass_file, _plain_path(path)),
    )


def _parts(source: DocumentSource) -> Sequence[DocumentSource]:
    if not isinstance(source, Files):
        return [source]
    return source.split(max(PART_BYTES, (source.size or 0) // _PARTS))


def _read_entry(read: ReadTotals) -> dict[str, Any]:
    files = [
        {
            **file._asdict(),
            "path": str(file.path),
            "hash": None if file.hash is None else file.hash.hexdigest(),
            "sample": None
            if file.sample is None
            else [text.decode("utf-8", "replace") for text in file.sample.documents()],
        }
        for file in read.files
    ]
    return {**vars(read), "skipped": dict(read.skipped), "files": files}


def _read_of(path: Path) -> ReadTotals:
    entry = read_json(path)
    try:
        numbers = {name: _number(entry[name]) for name in ("documents", "bytes", "stored")}
        skipped = {name: _number(number) for name, number in entry["skipped"].items()}
        files = [_file_of(file) for file in entry["files"]]
    except (TypeError, KeyError, ValueError, AttributeError) as wrong:
        raise _damaged_record(path, wrong) from wrong
    return ReadTotals(**numbers, skipped=skipped, files=files)


def _damaged_record(path: Path, wrong: Exception) -> FormatError:
    what = f"{type(wrong).__name__}: {wrong}"
    return FormatError(path, f"is damaged ({what}): delete the checkpoint")


def _file_of(file: Mapping[str, Any]) -> FileRead:
    digits = file["hash"]
    if digits is not None and not re.fullmatch("[0-9a-f]{64}", digits):
        raise ValueError(f"hash is {digits!r:.20}")
    numbers = {name: _number(file[name]) for name in ("size", "documents", "bytes", "weight")}
    known = None if digits is None else KnownHash(digits)
    texts = file.get("sample")  # checkpoints of earlier versions have none
    sample = None if texts is None else KnownSample([text.encode() for text in texts])
    return FileRead(path=Path(file["path"]), hash=known, sample=sample, **numbers)


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError(f"{value!r:.20} is no count")
    return value


def _add(whole: ReadTotals, part: ReadTotals) -> None:
    whole.documents += part.documents
    whole.bytes += part.bytes
    whole.stored += part.stored
    whole.files += part.files
    for reason, number in part.skipped.items():
        whole.skipped[reason] = whole.skipped.get(reason, 0) + number
