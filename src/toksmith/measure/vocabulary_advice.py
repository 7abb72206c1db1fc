"""A recommended vocabulary size, from the text and from the size of the model."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from toksmith._base.lazy import np, npt
from toksmith._base.visible import short_repr
from toksmith.measure.vocabulary_scaling import (
    ModelShape,
    compute_optimal_flops,
    vocabulary_by_derivative,
    vocabulary_by_isoflops,
    vocabulary_by_loss,
)

MULTIPLE = 128
"""Matrices of such a number of rows suit the hardware."""

WORTH_DOUBLING = 0.05
"""A doubling that saves a smaller part of the tokens is taken not to pay, by rule of thumb."""

UINT16 = 1 << 16
_NEAR_UINT16 = 1.1


@short_repr
@dataclass(frozen=True)
class Suggestion:
    """The vocabulary size that one method gives.

    Attributes:
        source: the method.
        vocab_size: its result.
        meaning: the method in words.
        or_more: whether that is only the largest size that could be looked at.
    """

    source: str
    vocab_size: int
    meaning: str
    or_more: bool = False


@short_repr
@dataclass(frozen=True)
class Recommendation:
    """A size to start with.

    Attributes:
        vocab_size: special tokens included; a multiple of 128.
        reasons: how it came about, step by step.
        suggestions: the size that each method gives.
        caveats: limits of these methods.
    """

    vocab_size: int
    reasons: tuple[str, ...]
    suggestions: tuple[Suggestion, ...]
    caveats: tuple[str, ...]


def recommend(
    tokens: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.uint64],
    shape: ModelShape | None,
    *,
    bytes_: int,
    training_bytes: int | None,
    enough: int,
    max_vocab: int,
) -> Recommendation:
    """Return a size, from the text's figures and the model's size.

    Args:
        tokens: of the text for each size from 256 on.
        counts: how often the pair of each merge occurred in the text.
        shape: the model.
        bytes_: of the text.
        training_bytes: the size of the model's training text in bytes; ``None`` for this text.
        enough: how often each token should be seen there.
        max_vocab: the largest size to consider.
    """
    largest = 255 + len(tokens)
    seen = _seen_enough(counts, enough * bytes_ / (training_bytes or bytes_))
    knee = _last_good_doubling(tokens)
    by_text = [
        Suggestion(
            "doubling",
            knee,
            f"the largest size that has {WORTH_DOUBLING:.0%} fewer tokens than half as many ids",
            knee == largest,
        ),
        Suggestion(
            "counts",
            seen,
            f"up to it, each new token occurs in the training text {enough:,} times",
            seen == largest,
        ),
    ]
    repeated = training_bytes / bytes_ if training_bytes else None
    suggestions = [*(_by_model(tokens, shape, repeated) if shape else ()), *by_text]
    reasons: list[str] = []
    if shape:
        first, second, *third = (way.vocab_size for way in suggestions if "arXiv" in way.source)
        of_model = f"a model of {shape.non_vocabulary:,} parameters outside the vocabulary"
        if third:
            size = third[0]
            reasons.append(
                f"{size:,} is what the scaling law that minds the training text gives {of_model}"
            )
        else:
            size = round(sqrt(first * second))
            reasons.append(
                f"{size:,} is the geometric mean of the {first:,} and {second:,} that the scaling "
                f"laws give {of_model}"
            )
    else:
        size = knee
        reasons.append(
            f"{size:,} is {by_text[0].meaning}; the model's size would say more (d_model=, layers=)"
        )
    limits = []
    if seen < largest and (shape is None or training_bytes):
        why = f"tokens beyond it would be seen fewer than {enough:,} times, and stay untrained"
        limits.append((seen, why))
    limits.append(
        (largest, "the largest looked at" if largest == max_vocab else "all that the text gives")
    )
    is_limited = False
    for limit, why in limits:
        if limit < size:
            size, is_limited = limit, True
            reasons.append(f"lowered to {size:,}: {why}")
    size = _padded(size, is_limited, reasons)
    return Recommendation(
        size,
        tuple(reasons),
        tuple(suggestions),
        tuple(_caveats(size, tokens, shape, bytes_, training_bytes, max_vocab, seen, enough)),
    )


def _by_model(
    tokens: npt.NDArray[np.uint64], shape: ModelShape, repeated: float | None
) -> list[Suggestion]:
    """Return the sizes of the scaling laws, and the size of least cost on this text.

    Args:
        tokens: of the text by size.
        shape: the model.
        repeated: the size of the training text relative to this text, if known.
    """
    sizes = np.arange(256, 256 + len(tokens), dtype=np.float64)
    cost = (shape.non_vocabulary + sizes * shape.d_model) * tokens
    laws = (
        ("arXiv 2407.13623, approach 1", vocabulary_by_isoflops, "IsoFLOPs"),
        ("arXiv 2407.13623, approach 2", vocabulary_by_derivative, "derivative"),
    )
    return [
        *(
            Suggestion(
                source,
                round(law(shape.non_vocabulary, shape.d_model)),
                f"{how}, for a model that is trained on as much text as suits its size",
            )
            for source, law, how in laws
        ),
        *([_by_loss(tokens, shape, repeated)] if repeated else []),
        Suggestion(
            "FLOPs",
            256 + int(cost.argmin()),
            "training on a byte of this text takes the fewest FLOPs",
            int(cost.argmin()) == len(cost) - 1,
        ),
    ]


def _by_loss(tokens: npt.NDArray[np.uint64], shape: ModelShape, repeated: float) -> Suggestion:
    """Return the vocabulary size of approach 3 for a training text."""
    size = vocabulary_by_isoflops(shape.non_vocabulary, shape.d_model)
    for _ in range(50):
        length = float(tokens[min(max(round(size) - 256, 0), len(tokens) - 1)]) * repeated
        flops = shape.flops_per_token(round(size)) * length
        size = vocabulary_by_loss(shape.non_vocabulary, shape.d_model, flops)
    return Suggestion(
        "arXiv 2407.13623, approach 3",
        round(size),
        f"loss formula, for a training of {length:.2g} tokens ({flops:.2g} FLOPs)",
    )


def _seen_enough(counts: npt.NDArray[np.uint64], enough: float) -> int:
    """Return the size up to which each merge's pair occurred ``enough`` times."""
    rare = counts < enough
    return 256 + (int(rare.argmax()) if rare.any() else len(counts))


def _last_good_doubling(tokens: npt.NDArray[np.uint64]) -> int:
    """Return the largest size whose last doubling was worth it."""
    sizes = np.arange(512, 256 + len(tokens))
    if len(sizes) == 0:
        return 255 + len(tokens)
    gain = 1 - tokens[sizes - 256] / tokens[sizes // 2 - 256]
    good = np.flatnonzero(gain >= WORTH_DOUBLING)
    return int(sizes[good[-1]]) if len(good) else 512


def _padded(size: int, is_limited: bool, reasons: list[str]) -> int:
    """Return the size as a multiple of 128 that, where it is near, lets ids be uint16."""
    if UINT16 < size <= UINT16 * _NEAR_UINT16:
        reasons.append(f"lowered to {UINT16:,}: ids fit uint16 in token files")
        return UINT16
    up = 0 if is_limited else MULTIPLE - 1
    padded = max((size + up) // MULTIPLE * MULTIPLE, 256)
    if padded != size:
        change = "lowered" if padded < size else "raised"
        reasons.append(f"{change} to {padded:,}: a multiple of {MULTIPLE} rows makes fast matrices")
    return padded


def _caveats(
    size: int,
    tokens: npt.NDArray[np.uint64],
    shape: ModelShape | None,
    bytes_: int,
    training_bytes: int | None,
    max_vocab: int,
    seen: int,
    enough: int,
) -> list[str]:
    largest = 255 + len(tokens)
    found = ["special tokens are among the ids: leave room for them"]
    if seen < size and shape and training_bytes is None:
        found.append(
            f"tokens beyond {seen:,} occur in this text fewer than {enough:,} times: if the model "
            "is trained on no more than this, take fewer; if on more, say how much "
            "(training_bytes=)"
        )
    if size > UINT16:
        found.append(
            f"ids above {UINT16 - 1:,} need 4 bytes each in token files (uint32), not 2 (uint16)"
        )
    if shape:
        found += _caveats_of_model(size, tokens, shape, bytes_, training_bytes)
    if largest < max_vocab:
        found.append(
            f"the text ran out of pairs at {largest:,} of {max_vocab:,} ids: more text is needed "
            "to look at larger vocabularies"
        )
    if training_bytes is None or training_bytes > bytes_:
        found.append(
            "figures are those of this text: a sample that lacks languages, code or domains of the "
            "real one makes larger vocabularies look less useful than they are"
        )
    found.append(
        "fewer tokens are not better in themselves (arXiv 2402.18376): train small models with two "
        "or three sizes before a large one"
    )
    return found


def _caveats_of_model(
    size: int,
    tokens: npt.NDArray[np.uint64],
    shape: ModelShape,
    bytes_: int,
    training_bytes: int | None,
) -> list[str]:
    found = []
    best = compute_optimal_flops(shape.non_vocabulary) / shape.flops_per_token(size)
    a_token = bytes_ / float(tokens[min(size - 256, len(tokens) - 1)])
    law = f"the scaling laws are for {best:.2g} tokens of training ({best * a_token / 1e9:.2g} GB)"
    if training_bytes is None:
        found.append(f"{law}: with more text a larger vocabulary pays, with less a smaller one")
    elif not 1 / 1.5 < training_bytes / a_token / best < 1.5:
        found.append(
            f"{law} if that suits the model's size; yours is {training_bytes / a_token:.2g}, for "
            "which only approach 3 accounts, which was fitted on less"
        )
    if not 33e6 <= shape.non_vocabulary <= 3e9:
        found.append(
            f"the scaling laws were fitted on models of 33 million to 3 billion parameters: "
            f"{shape.non_vocabulary:,} is beyond them"
        )
    if shape.parameters is None:
        found.append(
            "parameters outside the vocabulary are taken as 12 · layers · d_model²: gated "
            "feed-forward layers, grouped attention and experts have others (parameters=)"
        )
    found.append(
        f"logits of 8 texts of 2,048 tokens take {8 * 2048 * size * 4 / 1e9:.1f} GB as float32"
    )
    return found
