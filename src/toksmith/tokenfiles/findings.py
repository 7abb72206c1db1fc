"""The result of checking token files: what is not as it should be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from toksmith._base.visible import count_of
from toksmith.tokenfiles.manifest import Manifest

SHOWN = 10
"""The number of problems of a kind that are described; further ones are counted."""


@dataclass(frozen=True)
class Problem:
    """A part of token files that is not as it should be.

    Attributes:
        what: what is wrong.
        file: the token file, by its name in the folder; empty if it is not of one file.
        split: the name of the split; empty if it is not of one split.
        document: the number of the document in its split, from 0, in the order of the sources;
            ``None`` if it is not of one document.
        shard: the number of the shard; ``None`` if it is not of one shard.
        source: the source file; empty if it is not of one source.
        details: further lines, such as the text and the ids of a document.
    """

    what: str
    file: str = ""
    split: str = ""
    document: int | None = None
    shard: int | None = None
    source: str = ""
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the place and what is wrong there, in lines."""
        places = [self.file] if self.file else []
        if self.shard is not None:
            places.append(f"shard {self.shard}")
        if self.split:
            places.append(f"split {self.split}")
        if self.document is not None:
            places.append(f"document {self.document:,}")
        if self.source:
            places.append(f"of {self.source}" if self.document is not None else self.source)
        first = f"{', '.join(places)}: {self.what}" if places else self.what
        return "\n".join([first, *(f"    {line}" for line in self.details)])


@dataclass
class Findings:
    """Collects problems; of each kind, the first ones are kept and the others counted."""

    problems: list[Problem] = field(default_factory=list)
    more: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def is_shown(self, kind: str) -> bool:
        """Return whether the next problem of a kind is kept."""
        return self.counts.get(kind, 0) < SHOWN

    def add(self, kind: str, problem: Problem) -> None:
        """Add a problem.

        Args:
            kind: its kind, in the plural, such as ``"documents"``.
            problem: the problem.
        """
        if self.is_shown(kind):
            self.problems.append(problem)
        self.count(kind)

    def count(self, kind: str) -> None:
        """Count a problem that is not described."""
        self.counts[kind] = self.counts.get(kind, 0) + 1


@dataclass(frozen=True)
class TokenCheck:
    """The result of :func:`verify_tokens`.

    Attributes:
        folder: the folder of the token files.
        manifest: its manifest.
        problems: what is wrong, of each kind the first ten.
        counts: the number of problems of each kind: ``"files"``, ``"sources"``, ``"figures"``,
            ``"ids"``, ``"documents"`` and so on.
        documents: the number of documents that were compared with their text.
        notes: what was not checked, and why; and what is worth knowing.

    Example:
        >>> import pathlib, tempfile, toksmith
        >>> from toksmith.tokenfiles import verify_tokens
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     corpus = pathlib.Path(folder, "corpus.txt")
        ...     _ = corpus.write_text("low|lower")
        ...     _ = toksmith.tokenize_corpus(
        ...         corpus, separator="|", tokenizer="toksmith-small", format="megatron",
        ...         output=folder + "/tokens",
        ...     )
        ...     found = verify_tokens(folder + "/tokens")
        ...     found.is_ok, found.documents
        (True, 2)
    """

    folder: Path
    manifest: Manifest
    problems: tuple[Problem, ...]
    counts: dict[str, int]
    documents: int
    notes: tuple[str, ...]

    @property
    def is_ok(self) -> bool:
        """Whether there is no problem.

        Example:
            >>> from toksmith.tokenfiles.findings import TokenCheck
            >>> TokenCheck(None, None, (), {}, 2, ()).is_ok
            True
        """
        return not self.problems

    def __str__(self) -> str:
        """Return problems, notes and a summary, in lines."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterable[str]:
        yield from map(str, self.problems)
        for kind, count in self.counts.items():
            if count > SHOWN:
                yield f"{count - SHOWN:,} more {kind} like these"
        yield from self.notes
        manifest = self.manifest
        size = ", ".join(
            (
                count_of(len(manifest.files), "file"),
                count_of(manifest.documents, "document"),
                count_of(manifest.tokens, "token"),
            )
        )
        if self.is_ok:
            yield f"{self.folder}: all is well: {size}; {self.documents:,} compared with their text"
        else:
            total = sum(self.counts.values())
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in self.counts.items())
            yield f"{self.folder}: {count_of(total, 'problem')} ({kinds}) in {size}"
