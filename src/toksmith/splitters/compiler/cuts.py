"""Where a text can always be cut, so that parts of it can be split on their own, as threads do."""

from __future__ import annotations

from collections.abc import Sequence

from toksmith.splitters.compiler.code_points import Partition, common_classes
from toksmith.splitters.compiler.transducer import Transducer


def sure_cuts(classes: Partition, transducers: Sequence[Transducer]) -> list[int]:
    r"""Return for each class the mask of the classes before which a text can always be cut.

    The two parts, each split on its own, have the chunks of the whole. That is so if the cut moves
    no other end of any split, and there is always an end of one of them: the splits after that one
    see the same pieces with and without the cut.

    Args:
        classes: the classes that are meant.
        transducers: those of the splits, which split one after the other.

    Example:
        >>> from toksmith.splitters.compiler import compile_pattern
        >>> from toksmith.splitters.compiler.composition import make_transducer
        >>> words = make_transducer(compile_pattern(r"\s?\S+"))
        >>> sure_cuts(words.classes, [words])  # between a word and a space
        [2, 0]
    """
    parts = [each.cuts() for each in transducers]
    _, columns = common_classes([classes, *(each.classes for each in transducers)])
    masks = [(1 << classes.count) - 1] * classes.count
    finer = [*zip(*columns, strict=True)]  # classes, each as a class of every partition
    for one, *ones in finer:
        for other, *others in finer:
            pairs = [*zip(parts, ones, others, strict=True)]
            harmless = all(cuts[kind] >> after & 1 for (cuts, _), kind, after in pairs)
            if not harmless or not any(sure[kind] >> after & 1 for (_, sure), kind, after in pairs):
                masks[one] &= ~(1 << other)
    return masks
