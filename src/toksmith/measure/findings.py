"""The result of an audit: findings, each with a kind, a severity and examples."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from toksmith._base.report import Report
from toksmith._base.visible import MOST, count_of, short_repr, visible, visible_name


class Severity(IntEnum):
    """The weight of a finding."""

    INFO = 0
    """good to know"""
    WARNING = 1
    """tokens wasted, or text that comes back otherwise"""
    ERROR = 2
    """what breaks or misleads a model"""

    def __str__(self) -> str:
        return self.name.lower()


@short_repr
@dataclass(frozen=True)
class Example:
    """A token, or a text, that shows a finding.

    Attributes:
        text: the bytes of the token or of the text.
        id: of the token; ``None`` for a text.
        note: what is to be seen in it, fit to be printed.
    """

    text: bytes
    id: int | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the example as JSON takes it, with bytes as every view shows them."""
        return {"text": visible(self.text), "id": self.id, "note": self.note}


@dataclass(frozen=True, repr=False)
class Finding:
    """Something that an audit found.

    Attributes:
        kind: such as ``"unreachable"``; see :data:`toksmith.measure.audit.KINDS`.
        severity: the severity of the finding.
        count: the number of tokens, groups or texts.
        summary: what they are.
        examples: some of them.
        figures: more figures of this kind.
    """

    kind: str
    severity: Severity
    count: int
    summary: str
    examples: tuple[Example, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON takes it."""
        return {
            "kind": self.kind,
            "severity": str(self.severity),
            "count": self.count,
            "summary": self.summary,
            "examples": [example.to_dict() for example in self.examples],
            "figures": self.figures,
        }

    def __str__(self) -> str:
        return f"{self.severity}: {self.kind}, {self.count:,}: {self.summary}"

    def __repr__(self) -> str:
        line = f"<Finding {self}"
        return f"{line}>" if len(line) < MOST else f"{line[: MOST - 2]}…>"


@dataclass(frozen=True, repr=False)
class Audit(Report):
    """The result of :func:`toksmith.audit`.

    Attributes:
        tokenizer: its name.
        model: its kind of model.
        vocab_size: its ids, holes included.
        categories: the number of tokens of each :class:`~toksmith.measure.reachability.Category`.
        findings: the most severe first.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
        >>> toksmith.audit(tok).categories
        {'alone': 130, 'in context': 0, 'special': 0, 'partial': 128, 'unreachable': 0}
    """

    tokenizer: str
    model: str
    vocab_size: int
    categories: dict[str, int]
    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Severity | None:
        """The highest severity of a finding; ``None`` without findings.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> str(toksmith.audit(tok).worst)
            'info'
        """
        return max((finding.severity for finding in self.findings), default=None)

    def of(self, kind: str) -> Finding | None:
        """Return the finding of a kind, if there is one.

        Args:
            kind: such as ``"unreachable"``; see :attr:`Finding.kind`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> toksmith.audit(tok).of("partial characters").count
            128
        """
        return next((finding for finding in self.findings if finding.kind == kind), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON takes it.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> sorted(toksmith.audit(tok).to_dict())
            ['categories', 'findings', 'model', 'tokenizer', 'vocab_size']
        """
        return {
            "tokenizer": self.tokenizer,
            "model": self.model,
            "vocab_size": self.vocab_size,
            "categories": self.categories,
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def __repr__(self) -> str:
        worst = "nothing found" if self.worst is None else f"the worst {self.worst}"
        ids = count_of(self.vocab_size, "id")
        return (
            f"<Audit of {visible_name(self.tokenizer):.80}: {self.model}, {ids}, "
            f"{count_of(len(self.findings), 'finding')}, {worst}>"
        )
