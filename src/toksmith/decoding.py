"""Ids as people give them, and text from ids that come one by one."""

from __future__ import annotations

import codecs
from collections.abc import Callable

import numpy as np

from toksmith.errors import OptionError, UnknownTokenError
from toksmith.types import IdArray, Ids


class IncrementalDecoder:
    """Decodes ids as they come, as :class:`codecs.IncrementalDecoder` does bytes.

    Example:
        >>> import toksmith
        >>> decoder = toksmith.train(texts=["x"], vocab_size=256).decoder()
        >>> [decoder.decode(i) for i in "é!".encode()]
        ['', 'é', '!']
    """

    def __init__(self, to_bytes: Callable[[Ids], bytes], errors: str = "replace") -> None:
        self._to_bytes = to_bytes
        self._characters = codecs.getincrementaldecoder("utf-8")(errors)

    def decode(self, ids: int | Ids = (), final: bool = False) -> str:
        """Return the text that the ids complete.

        Args:
            ids: one id, or several.
            final: whether these are the last; what is left of a character is then not waited for.
        """
        several = [int(ids)] if isinstance(ids, int | np.integer) else ids
        return self._characters.decode(self._to_bytes(several), final)

    def reset(self) -> None:
        """Forget what is left of a character."""
        self._characters.reset()


def id_array(ids: Ids) -> IdArray:
    """Return ids as a uint32 array.

    Raises:
        OptionError: they are no flat sequence of whole numbers.
        UnknownTokenError: one of them is no 32-bit number, so no token has it.
    """
    try:
        array = np.asarray(ids)
    except (ValueError, OverflowError) as wrong:
        raise OptionError(f"ids must be whole numbers: {wrong}") from wrong
    if array.size == 0:
        return np.zeros(0, np.uint32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        whole = all(isinstance(i, int) for i in array.ravel().tolist())
        if array.dtype == object and whole:
            raise UnknownTokenError(f"no token has id {max(array.ravel().tolist(), key=abs)}")
        raise OptionError(
            f"ids must be a flat sequence of whole numbers, not shape {array.shape} of "
            f"{array.dtype}"
        )
    for position in (int(array.argmin()), int(array.argmax())):
        if not 0 <= int(array[position]) < 2**32:
            raise UnknownTokenError(
                f"id {array[position]} at position {position} is not in the vocabulary"
            )
    return np.ascontiguousarray(array, np.uint32)
