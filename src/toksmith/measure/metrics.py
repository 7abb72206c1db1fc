"""What each figure of a comparison is called, its unit, its source, and what it does not say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from toksmith.errors import OptionError
from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class Metric:
    """One figure.

    Attributes:
        name: of the attribute of :class:`~toksmith.measure.comparison.Figures`.
        title: for people.
        kind: how it is written: a number of things, a ratio, or a share shown in percent.
        better: which end most people want; ``None`` where there is no such end.
        formula: what is computed, in one line.
        source: who defined it, if somebody did.
        caveat: what it does not say.
        sampled: whether it is measured on the sample, not on the whole text.
    """

    name: str
    title: str
    kind: Literal["count", "ratio", "share"]
    better: Literal["more", "less"] | None
    formula: str
    source: str = ""
    caveat: str = ""
    sampled: bool = False

    def written(self, value: float | None) -> str:
        """Return a value as people read it.

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
        """Which direction is better: ``↑``, ``↓``, or nothing."""
        return {"more": "↑", "less": "↓", None: ""}[self.better]

    def written_interval(self, interval: tuple[float, float] | None) -> str:
        """Return an interval as people read it, to follow its value; nothing for ``None``.

        Example:
            >>> METRICS["split_words"].written_interval((0.5, 0.625))
            ' (50.0–62.5 %)'
        """
        if interval is None:
            return ""
        low, high = map(self.written, interval)
        return f" ({low.removesuffix(' %') if high.endswith(' %') else low}–{high})"


def _percent(value: float) -> str:
    """Return percents; nothing that is more than nothing is shown as 0."""
    if value == 0:
        return "0 %"
    if value >= 1:
        return f"{value:.1f} %"
    return f"{value:.2f} %" if value >= 0.1 else f"{value:.1g} %" if value >= 1e-4 else "< 0.0001 %"


_RUST = "Rust et al. 2021, arXiv 2012.15613"
_NOT_BY_ITSELF = "fewer tokens is not better by itself (arXiv 2402.18376)"
_NOT_QUALITY = "does not always predict quality (arXiv 2310.08754)"

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("tokens", "tokens", "count", "less", "tokens of the text", "", _NOT_BY_ITSELF),
        Metric(
            "bytes_per_token", "bytes a token", "ratio", "more", "bytes / tokens",
            "Goldman et al. 2024, arXiv 2403.06265",
            f"{_NOT_BY_ITSELF}; scripts differ in bytes a character",
        ),
        Metric(
            "characters_per_token", "characters a token", "ratio", "more",
            "code points / tokens", "", _NOT_BY_ITSELF,
        ),
        Metric(
            "normalized_sequence_length", "tokens, relative to the reference", "ratio", "less",
            "Σ T(D) / Σ T_reference(D)", "NSL: Dagan et al. 2024, arXiv 2402.01035",
            "as good as the reference is on this text",
        ),
        Metric(
            "fertility", "fertility", "ratio", "less",
            "tokens / words (UAX #29), those of spaces and marks included",
            f"Ács 2019; {_RUST}", f"{_NOT_QUALITY}; says little of code", True,
        ),
        Metric(
            "split_words", "split words", "share", "less",
            "words that more than one token touches / words", _RUST,
            "an unknown token counts as one", True,
        ),
        Metric(
            "continuation", "tokens that continue words", "share", "less",
            "Σ(nᵢ − 1) / Σ nᵢ over the tokens nᵢ that touch each word", _RUST, _NOT_QUALITY, True,
        ),
        Metric(
            "single_token_words", "single-token words", "share", "more",
            "frequent distinct words that are one token behind a space / such words",
            "STRR: Nayeem et al. 2025, arXiv 2510.09947", "as good as the list of words", True,
        ),
        Metric(
            "renyi_efficiency", "Rényi efficiency", "ratio", "more",
            "log₂(Σ pᵅ) / ((1 − α) log₂ V), α = 2.5",
            "Zouhar et al. 2023, arXiv 2306.16842",
            "can be high for bad tokenizers (arXiv 2402.14614)",
        ),
        Metric(
            "vocabulary_use", "vocabulary used", "share", "more", "distinct tokens / V", "",
            "grows with the text",
        ),
        Metric(
            "type_token_ratio", "type–token ratio", "share", None, "distinct tokens / tokens",
            "Johnson 1944", "falls with the length of the text",
        ),
        Metric(
            "unknown_rate", "unknown tokens", "share", "less", "unknown tokens / tokens", "",
            "one unknown token may stand for a whole word",
        ),
        Metric(
            "lost_bytes", "bytes lost", "share", "less",
            "1 − LCS(text, decode(encode(text))) / bytes", "",
            "what decoding adds is not counted", True,
        ),
        Metric(
            "changed", "passages not restored", "share", "less",
            "passages with decode(encode(text)) ≠ text / passages", "", "", True,
        ),
        Metric(
            "parity", "parity", "ratio", None, "T(text) / T(same text in the first language)",
            "Petrov et al. 2023, arXiv 2305.15425", f"of parallel texts only; {_NOT_QUALITY}",
        ),
        Metric(
            "megabytes_per_second", "MB/s", "ratio", "more",
            "bytes / seconds: encoding the sample to an array, one thread, warm", "",
            "rough: beside whatever else this machine did", True,
        ),
    )
}  # fmt: skip
"""All figures of one tokenizer on one text, in the order in which views show them."""

GINI = Metric(
    "gini", "Gini across texts", "ratio", "less",
    "Σᵢ Σⱼ |cᵢ − cⱼ| / (2 n² μ), c = tokens a byte of each text",
    "Foroutan et al. 2025, arXiv 2508.04796", "scripts of three bytes a character look cheap",
)  # fmt: skip
"""How unequally a tokenizer serves the texts."""


MEASURES = {**METRICS, GINI.name: GINI}
"""All measures by name, as ``measures=`` of :func:`toksmith.compare` takes them."""

OF_WORDS = ("fertility", "split_words", "continuation", "single_token_words")
"""The measures that need words to be found."""


def chosen_measures(names: Iterable[str] | None) -> tuple[str, ...]:
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
