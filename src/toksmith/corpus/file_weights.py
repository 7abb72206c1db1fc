"""Weights of files, in millionths."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from toksmith.corpus.paths import expand
from toksmith.errors import OptionError

ONE = 1_000_000
"""The weight of 1: weights are rounded to millionths, so that sums of counts are exact."""


def weight_of(value: object, name: str) -> int:
    """Return a weight in millionths.

    Raises:
        OptionError: it is no number, or not between a millionth and a million.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OptionError(f"the weight of {name!r:.80} is {value!r:.40}: use a number")
    if not 1 / ONE <= value <= ONE:
        raise OptionError(
            f"the weight of {name!r:.80} is {value}: use 0.000001 to 1,000,000; to leave a file "
            "out, do not name it"
        )
    return round(value * ONE)


def weighted_runs(
    paths: Sequence[Path], weights: Mapping[str, float]
) -> list[tuple[int, list[Path]]]:
    """Return files that follow each other with one weight, and the weight in millionths.

    Args:
        paths: the files.
        weights: by path, directory or pattern; where two name a file, the later one counts.

    Raises:
        OptionError: a weight is no weight, or is that of no file here.
        FormatError: there is no such file.
    """
    of_path: dict[str, int] = {}
    here = {os.path.abspath(path) for path in paths}  # noqa: PTH100  # links stay as they are
    for name, value in weights.items():
        weight = weight_of(value, name)
        named = {os.path.abspath(path) for path in expand(name)} & here  # noqa: PTH100
        if not named:
            raise OptionError(f"the weight of {name!r:.200} is that of no file of the corpus")
        of_path.update(dict.fromkeys(named, weight))

    def weight_of_path(path: Path) -> int:
        return of_path.get(os.path.abspath(path), ONE)  # noqa: PTH100

    return [(weight, list(run)) for weight, run in groupby(paths, weight_of_path)]
