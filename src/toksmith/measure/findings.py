"""What an audit holds: findings, each of a kind and a severity, with examples."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import IntEnum
from os import PathLike
from pathlib import Path
from typing import Any

from toksmith.short_repr import short_repr
from toksmith.visible import visible


class Severity(IntEnum):
    """How much a finding matters."""

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


@dataclass(frozen=True)
class Finding:
    """Something that an audit found.

    Attributes:
        kind: such as ``"unreachable"``; see :data:`toksmith.measure.audit.KINDS`.
        severity: how much it matters.
        count: how many tokens, groups or texts.
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


@dataclass(frozen=True)
class Audit:
    """What is to be known of a tokenizer before it is used.

    Attributes:
        tokenizer: its name.
        model: its kind of model.
        vocab_size: its ids, holes included.
        categories: how many tokens of each :class:`~toksmith.measure.reachability.Category`.
        findings: the grave ones first.
    """

    tokenizer: str
    model: str
    vocab_size: int
    categories: dict[str, int]
    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Severity | None:
        """The severity of the gravest finding; ``None`` where there is none."""
        return max((finding.severity for finding in self.findings), default=None)

    def of(self, kind: str) -> Finding | None:
        """Return the finding of a kind, if there is one."""
        return next((finding for finding in self.findings if finding.kind == kind), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON takes it."""
        return {
            "tokenizer": self.tokenizer,
            "model": self.model,
            "vocab_size": self.vocab_size,
            "categories": self.categories,
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the audit as JSON, and write it to a file if one is named."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text
