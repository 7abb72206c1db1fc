"""Checkpoints: the folder from which an interrupted training continues.

- ``training.json``: the options and the corpus. Only a training with the same ones continues;
  ``min_count``, ``objective`` and ``seed_sentencepiece_size`` may change before there are merges or
  pieces, and ``memory`` is not among them.
- ``counts-0000.parquet`` …: the counts of a part of the files; see
  :class:`~toksmith.trainers.counting.counted_parts.CountedParts`.
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
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from toksmith._base.files import dump, encode_json, open_output, read_json, write_bytes
from toksmith._base.lazy import extra, np, npt
from toksmith._base.visible import count_of
from toksmith.corpus import AnyPath
from toksmith.corpus.paths import expand_all
from toksmith.corpus.remote import FilePath, RemoteFile
from toksmith.engine.training import Merges, UnigramPieces, UnigramState
from toksmith.errors import FormatError, OptionError, SplitError
from toksmith.models import BPE
from toksmith.splitters import splitter
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.counted_parts import CountedParts
from toksmith.trainers.counting.counts import Counts

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer
    from toksmith.trainers.counting.files.sums import SumOfFiles

SECONDS = 20.0
"""The interval between two writes of merges, in seconds."""

_LAYOUT = 2
_CODE_POINTS = 0x110000

_LEAST_SCORE = -100
"""Training makes no piece with a lower score; see ``training/unigram/trainer.cpp``."""

_OF_LEARNING = ("min_count", "objective", "seed_sentencepiece_size")
"""The options that may change as long as nothing learned is stored: counts do not depend on
them."""

_MERGES, _PIECES = "merges.npz", "pieces.npz"


class Checkpoint(CountedParts):
    """The checkpoint folder of a training: its counts, and what it has learned.

    Args:
        folder: its path; it is created if it does not exist.
        plan: everything that determines the result: ``options`` and ``sources``.

    Raises:
        OptionError: the folder belongs to another training, holds other files, or cannot be made.
        MissingExtraError: pyarrow, which writes counts, is not installed.
    """

    def __init__(self, folder: AnyPath, plan: Mapping[str, Any]) -> None:
        extra("pyarrow", "arrow")
        super().__init__(Path(folder))
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
            held = read_json(path, lone_surrogates=True)
            free = () if names & {_MERGES, _PIECES} else _OF_LEARNING
            _compare(self.folder, held, wanted, free)
            if held != wanted:
                write_bytes(path, encode_json(dump(wanted)))
        elif names:
            raise OptionError(f"checkpoint {folder} holds other files: use an empty or new folder")
        else:
            write_bytes(path, encode_json(dump(wanted)))

    @classmethod
    def at(cls, folder: Path) -> Checkpoint:
        """Return the checkpoint in a folder, without a check of its options."""
        found = cls.__new__(cls)
        CountedParts.__init__(found, folder)
        return found

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
            or not ((found.scores >= _LEAST_SCORE) & (found.scores <= 0)).all()
            or _has_repeated_piece(found)
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
    parts = CountedParts(path)
    learned = None
    with suppress(FormatError, OSError):
        if (path / _MERGES).exists():
            learned = count_of(len(Checkpoint.at(path).merges(first=None).merges), "merge")
        elif state := Checkpoint.at(path).pieces(_CODE_POINTS):
            learned = (
                f"{len(state.pieces.lengths):,} pieces after {count_of(state.rounds, 'round')}"
            )
    if learned is not None:
        counts = " and the counts" if parts.number else ""
        return f"{learned}{counts} are stored in {folder}: the same command continues from them"
    return parts.describe()


def delete(folder: AnyPath) -> None:
    """Delete the files of a checkpoint, and the folder if it is then empty."""
    for pattern in (*CountedParts.PATTERNS, _MERGES, _PIECES, "training.json"):
        for path in Path(folder).glob(pattern):
            path.unlink()
    with suppress(OSError):
        Path(folder).rmdir()


def checkpoint_of(corpus: Corpus) -> Checkpoint | None:
    """Return the checkpoint of a training, in which the counts of its corpus are kept."""
    return corpus.kept_parts if isinstance(corpus.kept_parts, Checkpoint) else None


def _has_repeated_piece(pieces: UnigramPieces) -> bool:
    """Return whether two pieces have the same characters; the lengths add up to the symbols."""
    starts = np.cumsum(pieces.lengths, dtype=np.int64) - pieces.lengths
    for length in np.unique(pieces.lengths).tolist():
        places = starts[pieces.lengths == length, np.newaxis] + np.arange(length)
        spelled = pieces.symbols[places]
        if len(np.unique(spelled, axis=0)) < len(spelled):
            return True
    return False


def open_checkpoint(
    folder: AnyPath,
    options: Mapping[str, Any],
    files: AnyPath | Sequence[AnyPath] | None,
    counts: Counts | SumOfFiles | None,
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
