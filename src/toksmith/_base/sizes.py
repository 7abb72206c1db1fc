"""Sizes in bytes as options take them and messages show them: ``"4G"``, ``"1.5 GiB"``."""

from __future__ import annotations

import re
from math import ceil

from toksmith._base.checks import whole
from toksmith.errors import OptionError

_LEAST = 1 << 20
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZE = re.compile(r"(?i)([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([KMGT]?)(?:i?B)?")


def parse_size(memory: int | str | None, name: str = "memory") -> int | None:
    """Return a limit in bytes, from a number or a string such as ``"4G"`` or ``"1.5 GiB"``.

    Raises:
        OptionError: it has another form, or is less than 1 MiB.

    Example:
        >>> parse_size("1.5G") == 3 * 2**29
        True
    """
    if memory is None:
        return None
    if isinstance(memory, str):
        found = _SIZE.fullmatch(memory.strip())
        if not found:
            raise OptionError(f"{name} is {memory!r:.80}: use a size such as '4G' or '500M'")
        memory = int(float(found[1]) * 2 ** _UNITS[found[2].upper()])
    size = whole(name, memory, least=0, otherwise=", or None for no limit")
    if size < _LEAST:
        least = format_size(_LEAST)
        raise OptionError(f"{name} is {memory}: use {least} or more, or None for no limit")
    return size


def format_size(size: int) -> str:
    """Return a size in bytes with a unit.

    Example:
        >>> format_size(3 * 2**29), format_size(2**20), format_size(1000)
        ('1.5G', '1M', '1000')
    """
    for unit in "TGMK":
        if size >= 2 ** _UNITS[unit]:
            return f"{size / 2 ** _UNITS[unit]:.3g}{unit}"
    return str(size)


def rounded_up(size: int) -> str:
    """Return a size of three digits that is not smaller.

    Example:
        >>> rounded_up(5 * 2**30 + 1), rounded_up(1023 * 2**20), rounded_up(2**20)
        ('5.01G', '1G', '1M')
    """
    for unit in "TGMK":
        parts = size / 2 ** _UNITS[unit]
        if parts >= 0.99:
            places = 10 ** (2 if parts < 10 else 1 if parts < 100 else 0)
            return f"{ceil(parts * places) / places:g}{unit}"
    return str(size)
