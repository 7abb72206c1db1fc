"""Joining and stripping tokens."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class Fuse:
    """All tokens become one.

    Attributes:
        separator: what stands between them.
    """

    separator: str = ""


@short_repr
@dataclass(frozen=True)
class Strip:
    """Take a character off both ends of each token.

    Attributes:
        content: the character.
        start: how often at most at the start.
        stop: how often at most at the end.
    """

    content: str = " "
    start: int = 0
    stop: int = 0
