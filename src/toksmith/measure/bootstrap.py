"""Bootstrap intervals of the measures that are ratios of sums over passages.

Passages of the sample are drawn with replacement, as many as it has, and the measure is computed
on them; this is repeated :data:`RESAMPLES` times. The interval lies between two percentiles of
these values. All tokenizers are measured on the same draws, so a ratio of two tokenizers, such as
the tokens relative to the reference, has an interval of its own.

Source: the percentile interval of Efron & Tibshirani 1993, An Introduction to the Bootstrap,
chapter 13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toksmith._base.lazy import np, npt
from toksmith.errors import OptionError
from toksmith.measure.metrics import METRICS
from toksmith.measure.sample_counts import COLUMNS, Sample, SampleCounts

RESAMPLES = 1000

_SHARED = ("passages", "bytes", "characters", "words")

Intervals = dict[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Draws:
    """The sums of each draw of a text's passages.

    Attributes:
        size: bytes of the whole text.
        passages: the number of passages of the sample.
        shared: float64, shape ``(draws,)``, by name: sums that all tokenizers share.
        own: the same of each tokenizer, by its name.
    """

    size: int
    passages: int
    shared: Mapping[str, npt.NDArray[np.float64]]
    own: Mapping[str, Mapping[str, npt.NDArray[np.float64]]]


def draw(
    size: int,
    sample: Sample,
    sampled: Mapping[str, SampleCounts],
    seed: Sequence[int],
    draws: int = RESAMPLES,
) -> Draws:
    """Draw the passages of a sample again and again, and return the sums of each draw.

    Args:
        size: bytes of the whole text.
        sample: its sample.
        sampled: what each tokenizer makes of it.
        seed: of the draws; they do not depend on the version of NumPy.
        draws: how many.
    """
    shared = sample.sums_by_passage
    columns = np.concatenate([shared, *(each.by_passage for each in sampled.values())], axis=1)
    sums = resampled_sums(columns, seed, draws).T
    first, own = len(_SHARED), {}
    for name in sampled:
        own[name] = dict(zip(COLUMNS, sums[first : first + len(COLUMNS)], strict=True))
        first += len(COLUMNS)
    by_name = dict(zip(_SHARED, sums[: len(_SHARED)], strict=True))
    return Draws(size, len(shared), by_name, own)


def resampled_sums(
    columns: npt.NDArray[np.int64], seed: Sequence[int], draws: int
) -> npt.NDArray[np.float64]:
    """Return the sums over rows that are drawn with replacement: shape ``(draws, columns)``.

    Args:
        columns: int64, shape ``(rows, columns)``.
        seed: of the draws.
        draws: the number of bootstrap samples, each with as many rows as the data.

    Example:
        >>> resampled_sums(np.array([[1, 10], [2, 20]]), [0], 3).tolist()
        [[4.0, 40.0], [3.0, 30.0], [3.0, 30.0]]
    """
    rows = len(columns)
    sums = np.zeros((draws, columns.shape[1]))
    if rows:
        numbers = np.random.PCG64(np.random.SeedSequence(list(seed)))
        for place in range(draws):
            drawn = (numbers.random_raw(rows) % np.uint64(rows)).astype(np.int64)
            sums[place] = np.bincount(drawn, minlength=rows) @ columns
    return sums


def intervals(texts: Sequence[Draws], tokenizer: str, reference: str, level: float) -> Intervals:
    """Return the interval of each measure of a tokenizer on texts together.

    Args:
        texts: the draws of each; those of different texts are independent.
        tokenizer: its name.
        reference: the name of the tokenizer that tokens are counted against.
        level: such as 0.95.

    Returns:
        The lower and the upper end, by the name of the measure. Measures that no draw has a value
        for are left out; so are all where a text has a single passage, whose spread is unknown.
    """
    texts = [text for text in texts if text.passages]
    if not texts or any(text.passages < 2 for text in texts):
        return {}
    found: Intervals = {}
    for metric in METRICS.values():
        if metric.interval is None:
            continue
        over, under = (
            np.sum(
                [_sums(text, tokenizer, reference, part, not metric.sampled) for text in texts], 0
            )
            for part in metric.interval
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            interval = percentile_interval(over / under, level)
        if interval is not None:
            found[metric.name] = interval
    return found


def _sums(
    text: Draws, tokenizer: str, reference: str, name: str, is_whole: bool
) -> npt.NDArray[np.float64]:
    """Return a sum of each draw; of whole texts, scaled up to the bytes of the text."""
    own = text.own[reference if name == "reference" else tokenizer]
    if name == "continuing":
        sums = own["touching"] - own["touched"]
    elif name == "lost":
        sums = text.shared["bytes"] - own["common"]
    elif name == "reference":
        sums = own["tokens"]
    else:
        sums = text.shared[name] if name in text.shared else own[name]
    return sums * (text.size / text.shared["bytes"]) if is_whole else sums


def percentile_interval(
    values: npt.NDArray[np.float64], level: float
) -> tuple[float, float] | None:
    """Return the percentiles that ``level`` of the values lie between.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 13.3.

    Args:
        values: of the draws; those that are no number are left out.
        level: such as 0.95, for the percentiles 2.5 and 97.5.

    Returns:
        The lower and the upper end, or ``None`` if no value is a number.

    Example:
        >>> percentile_interval(np.arange(101.0), 0.5)
        (25.0, 75.0)
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def check_level(level: object) -> float | None:
    """Return the level of intervals; ``None`` for none.

    Raises:
        OptionError: it is no number between 0 and 1.
    """
    if level is None:
        return None
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError(f"intervals is {level!r:.80}: use a number between 0 and 1, such as 0.95")
    return float(level)
