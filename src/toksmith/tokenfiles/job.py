"""A job: everything that decides the bytes of token files, and its division into shards."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from toksmith._base.lazy import np
from toksmith._base.plain_names import is_plain
from toksmith.corpus.options import Reading
from toksmith.corpus.pieces import Piece
from toksmith.corpus.shards import SourceFile, pieces_for, pieces_of_shard
from toksmith.errors import OptionError
from toksmith.tokenfiles.format import Empty, Place
from toksmith.tokenfiles.formats import NAMES

DEFAULT_SPLIT = "train"
"""The name of the split if there is only one."""


@dataclass(frozen=True)
class Job:
    """Sources, tokenizer and options of token files.

    Attributes:
        format: the name of the format.
        dtype: the type of the ids.
        tokenizer: its name or path.
        tokenizer_hash: SHA-256 of its pipeline.
        vocab_size: its highest id plus 1.
        bos: the id before each document; ``None`` for none.
        eos: the end-of-text id of each document; ``None`` for none.
        eos_place: whether ``eos`` stands before or after a document.
        special: ``"text"``, or ``"encode"`` to find special tokens in the text.
        empty: the treatment of empty documents.
        splits: the names of the splits, with their shares of the documents.
        shuffle: whether documents are shuffled.
        seed: the random seed of the shuffle.
        sequence_length: the tokens of a sequence; ``None`` keeps documents.
        shard_tokens: the tokens of a file; see :class:`~toksmith.tokenfiles.format.Settings`.
        skip_damaged: whether damaged records are left out.
        shards: the number of shards.
        sources: the files of the corpus, in order.
        reading: the options of reading.
    """

    format: str
    dtype: str
    tokenizer: str
    tokenizer_hash: str
    vocab_size: int
    bos: int | None
    eos: int | None
    eos_place: Place
    special: str
    empty: Empty
    splits: tuple[tuple[str, float], ...]
    shuffle: bool
    seed: int
    sequence_length: int | None
    shard_tokens: int | None
    skip_damaged: bool
    shards: int
    sources: tuple[SourceFile, ...]
    reading: Reading

    def to_json(self) -> dict[str, Any]:
        """Return the job as values that JSON holds."""
        held = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        reading = self.reading
        held["reading"] = {
            name: getattr(reading, name)
            for name in ("separator", "field", "read_as", "encoding_errors")
        }
        held["splits"] = dict(self.splits)
        held["sources"] = [source._asdict() for source in self.sources]
        return held

    @classmethod
    def from_json(cls, held: Mapping[str, Any]) -> Job:
        """Return the job that :meth:`to_json` wrote.

        Raises:
            ValueError: the format is unknown, or the name of a split cannot be that of a file.
        """
        values = dict(held)
        if values["format"] not in NAMES:
            raise ValueError(f"format is {values['format']!r:.80}, which is unknown")
        for name in values["splits"]:  # a folder and files get its name
            if not is_split_name(name):
                raise ValueError(f"a split has the name {name!r:.80}")
        values["reading"] = Reading(**values["reading"])
        values["splits"] = tuple(values["splits"].items())
        values["sources"] = tuple(SourceFile(**source) for source in values["sources"])
        return cls(**values)

    def differences(self, other: Job) -> list[str]:
        """Return what differs in another job, in words; empty if both make the same files.

        Whether damaged records are left out may differ: a run that such a record ended goes on
        without it.
        """
        mine, theirs = self.to_json(), other.to_json()
        for options in (mine, theirs):
            options.pop("sources")
            options.pop("skip_damaged")
            options |= options.pop("reading")
        found = [
            f"{name} is {theirs[name]!r:.80}, and was {value!r:.80}"
            for name, value in mine.items()
            if theirs[name] != value
        ]
        before = {source.path: source for source in self.sources}
        after = {source.path: source for source in other.sources}
        found += [f"{path} is new" for path in after if path not in before]
        found += [f"{path} is missing" for path in before if path not in after]
        found += [
            f"{path} has changed"
            for path, source in after.items()
            if path in before and before[path] != source
        ]
        if not found and list(before) != list(after):
            found.append("the files come in another order")
        return found

    @cached_property
    def all_pieces(self) -> list[Piece]:
        """The pieces of all sources, in order."""
        return pieces_for(self.sources, self.reading, self.shards)

    def pieces_of(self, shard: int) -> list[Piece]:
        """Return the pieces of one shard; see :func:`~toksmith.corpus.shards.pieces_of_shard`."""
        return pieces_of_shard(self.all_pieces, shard, self.shards)

    @property
    def boundary(self) -> tuple[int | None, Place]:
        """The id by which documents are found where no bounds are stored, and its place."""
        if self.bos is not None and (self.eos is None or self.eos_place == "before"):
            return self.bos, "before"
        return self.eos, self.eos_place

    @property
    def split_names(self) -> tuple[str, ...]:
        """The names of the splits."""
        return tuple(name for name, _ in self.splits)

    @cached_property
    def _limits(self) -> list[int]:
        shares = np.cumsum([share for _, share in self.splits])
        return [round(float(share) * (1 << 64)) for share in (shares / shares[-1])[:-1]]

    def split_of(self, text: bytes) -> int:
        """Return the number of the split of a document, by a hash of its text alone.

        The same text is in the same split for any number of shards.
        """
        place = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
        return sum(place >= limit for limit in self._limits)


def is_split_name(name: object) -> bool:
    """Return whether a value can name a split: letters, digits, ``_`` and ``-``.

    Example:
        >>> is_split_name("val"), is_split_name("../val")
        (True, False)
    """
    return isinstance(name, str) and name.replace("-", "_").isidentifier() and is_plain(name)


def parse_splits(given: Mapping[str, float] | str | None) -> tuple[tuple[str, float], ...]:
    """Return the names and shares of splits.

    Args:
        given: ``{"train": 0.999, "val": 0.001}``, or ``"train=0.999,val=0.001"``; ``None`` for one
            split.

    Raises:
        OptionError: a name cannot be that of a file, or the shares are not positive or do not add
            up to 1.

    Example:
        >>> parse_splits("train=0.9,val=0.1")
        (('train', 0.9), ('val', 0.1))
    """
    if given is None:
        return ((DEFAULT_SPLIT, 1.0),)
    if isinstance(given, str):
        pairs = []
        for text in given.split(","):
            name, _, number = text.partition("=")
            try:
                pairs.append((name.strip(), float(number)))
            except ValueError:
                raise OptionError(
                    f"split has {text!r:.80}: use NAME=SHARE, such as train=0.999,val=0.001"
                ) from None
    elif isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        raise OptionError(
            f"split is {given!r:.80}: use a dict, such as {{'train': 0.9, 'val': 0.1}}"
        )
    for name, share in pairs:
        if not is_split_name(name):
            raise OptionError(f"split names {name!r:.80}: use letters, digits, _ and -")
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise OptionError(f"the share of split {name!r} is {share!r:.40}: use 0 to 1")
    if len({name for name, _ in pairs}) < len(pairs):
        raise OptionError("split has a name twice")
    total = sum(share for _, share in pairs)
    if not 0.999999 < total < 1.000001:
        raise OptionError(f"the shares of split add up to {total:g}: use shares that add up to 1")
    return tuple((name, float(share)) for name, share in pairs)
