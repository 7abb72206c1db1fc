"""Checks names that come from files before they become part of a path."""

from __future__ import annotations

_SEPARATORS = frozenset('/\\:*?"<>|')
_DEVICES = {
    *("con", "prn", "aux", "nul", "conin$", "conout$"),
    *(f"{name}{number}" for name in ("com", "lpt") for number in "0123456789¹²³"),
}
"""Names that Windows takes for devices, in any folder and with any suffix."""

_LONGEST = 200
"""Bytes in UTF-8: file systems allow 255, and a suffix or a temporary name is added."""


def is_plain(name: str) -> bool:
    """Return whether a name is that of a file in one folder, on any system.

    A name is refused if it has a separator, a drive or a character that Windows reserves, if it is
    empty, ``.`` or ``..``, if it ends with a dot or a space, which Windows drops, if it is that of
    a device of Windows, or if it has more than 200 bytes.

    Example:
        >>> [is_plain(name) for name in ("tool_use", "../tool_use", "C:tool_use", "nul", "")]
        [True, False, False, False, False]
    """
    return (
        0 < len(name.encode(errors="surrogatepass")) <= _LONGEST
        and not _SEPARATORS.intersection(name)
        and min(name) >= " "
        and name[-1] not in ". "
        and name.split(".")[0].rstrip(" ").lower() not in _DEVICES
    )
