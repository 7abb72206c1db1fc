"""A list of merges as a field of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, overload

from toksmith.lazy import np, npt

if TYPE_CHECKING:
    from toksmith.models import BPE

MergeArray: TypeAlias = "npt.NDArray[np.uint32]"
"""Shape ``(n, 3)``: left id, right id, resulting id, in rank order."""

MergesGiven: TypeAlias = "npt.ArrayLike | Callable[[Sequence[bytes]], MergeArray]"


class MergesField:
    """The merges that a model was given, as an array that cannot be written to.

    A function may be given in their place. It is called with the vocabulary when somebody looks at
    the merges; those that follow from a vocabulary take their time to be found, and nobody needs
    them to encode.
    """

    @overload
    def __get__(self, model: None, owner: type[BPE]) -> NoReturn: ...
    @overload
    def __get__(self, model: BPE, owner: type[BPE]) -> MergeArray: ...
    def __get__(self, model: BPE | None, owner: type[BPE]) -> MergeArray:
        if model is None:
            raise AttributeError("merges")  # as a field of a dataclass: it has no default
        held: dict[str, Any] = vars(model)
        if callable(held["merges"]):
            held["merges"] = _unwritable(held["merges"](model.vocab))
        merges: MergeArray = held["merges"]
        return merges

    def __set__(self, model: BPE, given: MergesGiven) -> None:
        vars(model)["merges"] = given if callable(given) else _unwritable(given)


def _unwritable(given: npt.ArrayLike) -> MergeArray:
    merges = np.array(given, np.uint32).reshape(-1, 3)
    merges.flags.writeable = False
    return merges
