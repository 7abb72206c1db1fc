"""The registry of metrics: the name, title, formula, source and function of each.

A new metric is one entry in :data:`METRICS`: comparisons, tables, JSON, CSV, pages and errors take
their names and values from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Literal

from toksmith._base.visible import short_repr
from toksmith.errors import OptionError
from toksmith.measure.distribution import (
    bytes_per_token,
    characters_per_token,
    normalized_sequence_length,
    parity,
    renyi_efficiency,
    type_token_ratio,
    unknown_rate,
    vocabulary_use,
)
from toksmith.measure.word_metrics import continuation, fertility, single_token_words, split_words

if TYPE_CHECKING:
    from toksmith._base.lazy import np, npt
    from toksmith.measure.comparison import MeasuredText
    from toksmith.measure.sample_counts import SampleCounts


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The counts of one tokenizer on one text, which metrics are computed from.

    Attributes:
        text: the sizes of the text and of its sample.
        vocab_size: V, special tokens included.
        frequencies: int64, how often each id occurs in the text.
        tokens: tokens of the text.
        distinct_tokens: ids that occur.
        unknown_tokens: the number of tokens that are the unknown token.
        reference_tokens: tokens of the text by the reference tokenizer.
        sampled: the counts on the sample.
        base_tokens: tokens of the first text, of which this is a translation; ``None`` if the
            texts are not parallel.
        seconds: the time that one thread takes for ``timed_bytes``; 0 if speed is not measured.
        timed_bytes: the number of bytes of the sample that were timed.
    """

    text: MeasuredText
    vocab_size: int
    frequencies: npt.NDArray[np.int64]
    tokens: int
    distinct_tokens: int
    unknown_tokens: int
    reference_tokens: int
    sampled: SampleCounts
    base_tokens: int | None = None
    seconds: float = 0.0
    timed_bytes: int = 0


@short_repr
@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric: its function, and what tables, files and help texts show of it.

    Attributes:
        name: of the measure, the column and the attribute of
            :class:`~toksmith.measure.comparison.Figures`.
        title: the title in tables.
        kind: how its value is written: a number of things, a ratio, or a share shown in percent.
        better: which end most people want; ``None`` where there is no such end.
        formula: what is computed, in one line.
        compute: returns the value of a tokenizer on a text; ``None`` if it was not measured, NaN if
            it is undefined.
        source: who defined it, if somebody did.
        caveat: what it does not say.
        sampled: whether it is measured on the sample, not on the whole text.
        needs_words: whether words must be found; the value is ``None`` where they were not.
        interval: the numerator and the denominator of a ratio of sums over passages, which has a
            bootstrap interval; see bootstrap.py. ``None`` for no interval.

    Example:
        >>> METRICS["fertility"].title, METRICS["fertility"].better, METRICS["fertility"].formula
        ('fertility', 'less', 'tokens / words (UAX #29), those of spaces and marks included')
    """

    name: str
    title: str
    kind: Literal["count", "ratio", "share"]
    better: Literal["more", "less"] | None
    formula: str
    compute: Callable[[Measurement], float | None] = field(default=lambda _: None, repr=False)
    source: str = ""
    caveat: str = ""
    sampled: bool = False
    needs_words: bool = False
    interval: tuple[str, str] | None = None

    def written(self, value: float | None) -> str:
        """Return a value as people read it.

        Args:
            value: the value; ``None`` and NaN are written as a dash.

        Example:
            >>> METRICS["tokens"].written(12345), METRICS["split_words"].written(0.5)
            ('12,345', '50.0 %')
        """
        if value is None or value != value:
            return "–"
        if self.kind == "count":
            return f"{value:,.0f}"
        if self.kind == "share":
            return _percent(100 * value)
        return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.2f}"

    @property
    def arrow(self) -> str:
        """Which direction is better: ``↑``, ``↓``, or nothing.

        Example:
            >>> METRICS["fertility"].arrow, METRICS["bytes_per_token"].arrow
            ('↓', '↑')
        """
        return {"more": "↑", "less": "↓", None: ""}[self.better]

    def written_interval(self, interval: tuple[float, float] | None) -> str:
        """Return an interval as people read it, to follow its value; nothing for ``None``.

        Args:
            interval: its lower and its upper end.

        Example:
            >>> METRICS["split_words"].written_interval((0.5, 0.625))
            ' (50.0–62.5 %)'
        """
        if interval is None:
            return ""
        low, high = map(self.written, interval)
        return f" ({low.removesuffix(' %') if high.endswith(' %') else low}–{high})"


def evaluate(metric: Metric, measurement: Measurement) -> float | None:
    """Return the metric of a tokenizer on a text; ``None`` if it was not measured."""
    if metric.needs_words and measurement.text.sample_words is None:
        return None
    return metric.compute(measurement)


def _percent(value: float) -> str:
    """Return percents; nothing that is more than nothing is shown as 0."""
    if value == 0:
        return "0 %"
    if value >= 1:
        return f"{value:.1f} %"
    return f"{value:.2f} %" if value >= 0.1 else f"{value:.1g} %" if value >= 1e-4 else "< 0.0001 %"


def share(part: int, whole: int) -> float:
    """Return part / whole; NaN for a whole of nothing."""
    return part / whole if whole else nan


_RUST = "Rust et al. 2021, arXiv 2012.15613"
_NOT_BY_ITSELF = "fewer tokens is not better by itself (arXiv 2402.18376)"
_NOT_QUALITY = "does not always predict quality (arXiv 2310.08754)"

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="tokens",
            title="tokens",
            kind="count",
            better="less",
            formula="tokens of the text",
            caveat=_NOT_BY_ITSELF,
            compute=lambda m: m.tokens,
        ),
        Metric(
            name="bytes_per_token",
            title="bytes a token",
            kind="ratio",
            better="more",
            formula="bytes / tokens",
            source="Goldman et al. 2024, arXiv 2403.06265",
            caveat=f"{_NOT_BY_ITSELF}; scripts differ in bytes a character",
            compute=lambda m: bytes_per_token(m.text.bytes, m.tokens),
            interval=("bytes", "tokens"),
        ),
        Metric(
            name="characters_per_token",
            title="characters a token",
            kind="ratio",
            better="more",
            formula="code points / tokens",
            caveat=_NOT_BY_ITSELF,
            compute=lambda m: characters_per_token(m.text.characters, m.tokens),
            interval=("characters", "tokens"),
        ),
        Metric(
            name="normalized_sequence_length",
            title="tokens, relative to the reference",
            kind="ratio",
            better="less",
            formula="Σ T(D) / Σ T_reference(D)",
            source="NSL: Dagan et al. 2024, arXiv 2402.01035",
            caveat="as good as the reference is on this text",
            compute=lambda m: normalized_sequence_length(m.tokens, m.reference_tokens),
            interval=("tokens", "reference"),
        ),
        Metric(
            name="fertility",
            title="fertility",
            kind="ratio",
            better="less",
            formula="tokens / words (UAX #29), those of spaces and marks included",
            source=f"Ács 2019; {_RUST}",
            caveat=f"{_NOT_QUALITY}; says little of code",
            sampled=True,
            needs_words=True,
            compute=lambda m: fertility(m.sampled.tokens, m.text.sample_words or 0),
            interval=("tokens", "words"),
        ),
        Metric(
            name="split_words",
            title="split words",
            kind="share",
            better="less",
            formula="words that more than one token touches / words",
            source=_RUST,
            caveat="an unknown token counts as one",
            sampled=True,
            needs_words=True,
            compute=lambda m: split_words(m.sampled.word_tokens),
            interval=("split", "touched"),
        ),
        Metric(
            name="continuation",
            title="tokens that continue words",
            kind="share",
            better="less",
            formula="Σ(nᵢ − 1) / Σ nᵢ over the tokens nᵢ that touch each word",
            source=_RUST,
            caveat=_NOT_QUALITY,
            sampled=True,
            needs_words=True,
            compute=lambda m: continuation(m.sampled.word_tokens),
            interval=("continuing", "touching"),
        ),
        Metric(
            name="single_token_words",
            title="single-token words",
            kind="share",
            better="more",
            formula="frequent distinct words that are one token after a space / such words",
            source="STRR: Nayeem et al. 2025, arXiv 2510.09947",
            caveat="as good as the list of words",
            sampled=True,
            needs_words=True,
            compute=lambda m: single_token_words(m.sampled.list_tokens),
        ),
        Metric(
            name="renyi_efficiency",
            title="Rényi efficiency",
            kind="ratio",
            better="more",
            formula="log₂(Σ pᵅ) / ((1 − α) log₂ V), α = 2.5",
            source="Zouhar et al. 2023, arXiv 2306.16842",
            caveat="can be high for bad tokenizers (arXiv 2402.14614)",
            compute=lambda m: renyi_efficiency(m.frequencies, m.vocab_size),
        ),
        Metric(
            name="vocabulary_use",
            title="vocabulary used",
            kind="share",
            better="more",
            formula="distinct tokens / V",
            caveat="grows with the text",
            compute=lambda m: vocabulary_use(m.distinct_tokens, m.vocab_size),
        ),
        Metric(
            name="type_token_ratio",
            title="type–token ratio",
            kind="share",
            better=None,
            formula="distinct tokens / tokens",
            source="Johnson 1944",
            caveat="falls with the length of the text",
            compute=lambda m: type_token_ratio(m.distinct_tokens, m.tokens),
        ),
        Metric(
            name="unknown_rate",
            title="unknown tokens",
            kind="share",
            better="less",
            formula="unknown tokens / tokens",
            caveat="one unknown token may replace a whole word",
            compute=lambda m: unknown_rate(m.unknown_tokens, m.tokens),
            interval=("unknown", "tokens"),
        ),
        Metric(
            name="lost_bytes",
            title="bytes lost",
            kind="share",
            better="less",
            formula="1 − LCS(text, decode(encode(text))) / bytes",
            caveat="what decoding adds is not counted",
            sampled=True,
            compute=lambda m: share(m.text.sample_bytes - m.sampled.common, m.text.sample_bytes),
            interval=("lost", "bytes"),
        ),
        Metric(
            name="changed",
            title="passages not restored",
            kind="share",
            better="less",
            formula="passages with decode(encode(text)) ≠ text / passages",
            sampled=True,
            compute=lambda m: share(m.sampled.changed, m.text.sample_passages),
            interval=("changed", "passages"),
        ),
        Metric(
            name="parity",
            title="parity",
            kind="ratio",
            better=None,
            formula="T(text) / T(same text in the first language)",
            source="Petrov et al. 2023, arXiv 2305.15425",
            caveat=f"of parallel texts only; {_NOT_QUALITY}",
            compute=lambda m: None if m.base_tokens is None else parity(m.tokens, m.base_tokens),
        ),
        Metric(
            name="megabytes_per_second",
            title="MB/s",
            kind="ratio",
            better="more",
            formula="bytes / seconds: encoding the sample to an array, one thread, warm",
            caveat="rough: other processes on this machine slow it down",
            sampled=True,
            compute=lambda m: m.timed_bytes / m.seconds / 1e6 if m.seconds else None,
        ),
    )
}
"""All metrics of one tokenizer on one text, in the order in which views show them."""

GINI = Metric(
    name="gini",
    title="Gini across texts",
    kind="ratio",
    better="less",
    formula="Σᵢ Σⱼ |cᵢ − cⱼ| / (2 n² μ), c = tokens a byte of each text",
    source="Foroutan et al. 2025, arXiv 2508.04796",
    caveat="scripts of three bytes a character look cheap",
)
"""Inequality between texts: the one measure that single texts do not have."""


MEASURES = {**METRICS, GINI.name: GINI}
"""All measures by name, as ``measures=`` of :func:`toksmith.compare` takes them."""


def check_measures(names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of measures, each once; nothing for ``None``, which is all of them.

    Raises:
        OptionError: one is no measure, or there is none.
    """
    if names is None:
        return ()
    known = f"Measures: {', '.join(MEASURES)}"
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise OptionError(f"measures is {names!r:.80}: use a list of names. {known}")
    found = tuple(dict.fromkeys(names))
    for name in found:
        if not isinstance(name, str) or name not in MEASURES:
            raise OptionError(f"unknown measure {name!r:.80}. {known}")
    if not found:
        raise OptionError(f"measures is empty: use at least one. {known}")
    return found
