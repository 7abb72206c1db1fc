"""What a training keeps in a folder while it runs, so that a killed one can go on from there.

- ``training.json``: what is trained on what. Another training does not go on from it.
- ``counts-0000.parquet`` …: the chunks of stretches of files, whole once ``counts-0000.json`` tells
  what was read of them. They can be trained on (``counts=``) like any others.
- ``merges.npz``: the merges so far, the count of each, and the text's tokens after each.

Each file is written beside its place and then moved there, so that what is found is whole. The
folder stays when training is done: what it gives is not saved by then.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from toksmith.corpus import AnyPath, Files, Source, WhatWasRead
from toksmith.corpus.hashing import KnownHash
from toksmith.corpus.paths import expand_all
from toksmith.corpus.sources import FileRead
from toksmith.errors import FormatError, OptionError
from toksmith.formats.files import dump, read_json, write_bytes, write_text
from toksmith.lazy import extra, np, npt
from toksmith.models import BPE
from toksmith.training_engine import Merges

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer
    from toksmith.trainers.counts import Counts

SECONDS = 20.0
"""How often merges are written."""

PART_BYTES = 1 << 30
"""Stretches of files that are counted, and kept, as one have at least so many bytes …"""

_PARTS = 32
"""… and there are no more of them than about so many."""

_LAYOUT = 1


class Checkpoint:
    """A training's folder.

    Args:
        folder: it, made where there is none.
        plan: all that the result depends on, as JSON has it.

    Raises:
        OptionError: the folder is another training's, holds other things, or cannot be made.
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
            _compare(self.folder, read_json(path), wanted)
        elif names:
            raise OptionError(f"checkpoint {folder} holds other things: give a folder of its own")
        else:
            write_text(path, dump(wanted))

    def count(
        self, source: Source, count: Callable[[Source], Counts]
    ) -> tuple[Iterator[Counts], WhatWasRead]:
        """Count a corpus part by part, those that were counted before left out.

        Args:
            source: the corpus.
            count: counts a part of it.

        Returns:
            The counts, which are read as they are asked for, and what was read of the text.
        """
        from toksmith.trainers.counts_parquet import pieces

        whole = WhatWasRead()
        paths = []
        for number, part in enumerate(_parts(source)):
            path = self.folder / f"counts-{number:04}.parquet"
            told = path.with_suffix(".json")
            if not told.exists():
                count(part).save(path)
                write_text(told, dump(_read_entry(part.read())))
            _add(whole, _read_of(told))
            paths.append(path)
        return (piece for path in paths for piece in pieces(path)), whole

    def merges(self) -> Merges:
        """Return the merges that are kept; none where there are none yet.

        Raises:
            FormatError: the file is damaged.
        """
        path = self.folder / "merges.npz"
        none = np.zeros(0, np.uint64)
        if not path.exists():
            return Merges(np.zeros((0, 3), np.uint32), none, none)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                return Merges(held["merges"], held["counts"], held["tokens_after"])
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as wrong:
            raise FormatError(path, f"is damaged ({wrong}): delete it") from wrong

    def keep(self, merges: Merges) -> None:
        """Write all merges that are known."""
        data = io.BytesIO()
        np.savez(
            data,
            merges=merges.merges,
            counts=merges.counts,
            tokens_after=merges.tokens_after,
        )
        write_bytes(self.folder / "merges.npz", data.getvalue())


def delete(folder: AnyPath) -> None:
    """Delete a checkpoint, and the folder, if nothing else is in it."""
    for pattern in ("counts-*.parquet", "counts-*.json", "merges.npz", "training.json"):
        for path in Path(folder).glob(pattern):
            path.unlink()
    with suppress(OSError):
        Path(folder).rmdir()


def opened(
    folder: AnyPath,
    options: Mapping[str, Any],
    files: AnyPath | Sequence[AnyPath] | None,
    counts: Counts | None,
    tok: Tokenizer | None,
) -> Checkpoint:
    """Return the checkpoint of a training.

    Args:
        folder: where it is, or shall be.
        options: all that the caller asked for; a key of ``None`` is as good as none.
        files: what is read, or
        counts: what was counted before.
        tok: what the training goes on from.

    Raises:
        OptionError: as in :class:`Checkpoint`; or the training is of another kind, or on documents,
            which cannot be read again.
    """
    if options["model"] != "bpe" or options.get("unit", "bytes") != "bytes":
        raise OptionError("checkpoint= is for byte-level BPE: other models are not kept half done")
    if files is not None:
        sources: dict[str, Any] = {
            os.path.abspath(path): [path.stat().st_size, path.stat().st_mtime_ns]  # noqa: PTH100
            for path in expand_all(files)
        }
    elif counts is not None:
        sources = {"counts": _digest(counts.chunks, counts.ends, counts.counts)}
    else:
        raise OptionError(
            "checkpoint= is for files and counts: documents in texts= cannot be asked for again; "
            "count them first (toksmith.Counts.from_texts)"
        )
    asked = {name: value for name, value in options.items() if value is not None}
    if tok is not None and isinstance(tok.pipeline.model, BPE):
        model = tok.pipeline.model
        known = repr((tok.pipeline.splitter, tok.pipeline.framing, model.vocab))
        asked["continue_from"] = _digest(known.encode(), model.merges)
    return Checkpoint(folder, {"options": asked, "sources": sources})


def _digest(data: bytes, *arrays: npt.NDArray[Any]) -> str:
    digest = sha256(data)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def _compare(folder: Path, held: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise OptionError, with what differs, where a folder is another training's."""
    differences = []
    for group in ("options", "sources"):
        before, now = held.get(group) or {}, wanted[group]
        for name in [*before, *(name for name in now if name not in before)]:
            if before.get(name) == now.get(name) and (name in before) == (name in now):
                continue
            if group == "options":
                differences.append(f"{name} was {before.get(name)!r}, now {now.get(name)!r}")
            elif name == "counts":
                differences.append("the counts are others")
            else:
                how = "has changed" if name in before else "is new"
                differences.append(f"{name} {how if name in now else 'is gone'}")
    if held.get("layout") != wanted["layout"]:
        differences = [f"it has layout {held.get('layout')!r:.20}; {_LAYOUT} is the one known here"]
    elif not differences and held["sources"] and [*held["sources"]] != [*wanted["sources"]]:
        differences.append("the files are read in another order")
    if differences:
        more = f"; and {len(differences) - 3} more" if len(differences) > 3 else ""
        raise OptionError(
            f"checkpoint {folder} is of another training: {'; '.join(differences[:3])}{more}. Give "
            "another folder, or delete this one"
        )


def _parts(source: Source) -> Sequence[Source]:
    if not isinstance(source, Files):
        return [source]
    return source.divided(max(PART_BYTES, (source.size or 0) // _PARTS))


def _read_entry(read: WhatWasRead) -> dict[str, Any]:
    files = [
        {
            **file._asdict(),
            "path": str(file.path),
            "hash": None if file.hash is None else file.hash.hexdigest(),
        }
        for file in read.files
    ]
    return {**vars(read), "skipped": dict(read.skipped), "files": files}


def _read_of(path: Path) -> WhatWasRead:
    entry = read_json(path)
    try:
        files = [
            FileRead(
                **{
                    **file,
                    "path": Path(file["path"]),
                    "hash": None if file["hash"] is None else KnownHash(file["hash"]),
                }
            )
            for file in entry.pop("files")
        ]
        return WhatWasRead(**entry, files=files)
    except (TypeError, KeyError) as wrong:
        raise FormatError(path, f"is damaged ({wrong}): delete the checkpoint") from wrong


def _add(whole: WhatWasRead, part: WhatWasRead) -> None:
    whole.documents += part.documents
    whole.bytes += part.bytes
    whole.stored += part.stored
    whole.files += part.files
    for reason, number in part.skipped.items():
        whole.skipped[reason] = whole.skipped.get(reason, 0) + number
