"""What all vocabularies have: a token for each id, and an id for each token."""

from __future__ import annotations

from collections.abc import Sequence


def ids_of(vocab: Sequence[bytes]) -> dict[bytes, int]:
    """Return the id of each token; the lowest where several share its bytes.

    Example:
        >>> ids_of((b"a", b"", b"b", b"a"))
        {b'a': 0, b'b': 2}
    """
    ids = dict(zip(reversed(vocab), reversed(range(len(vocab))), strict=True))
    ids.pop(b"", None)
    return ids
