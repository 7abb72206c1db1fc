"""Measuring tokenizers and texts: figures first, as frozen dataclasses; views are in ``show``.

- distribution.py (with compression), word_metrics.py, round_trip.py: the metrics.
- metrics.py: the registry: name, title, formula, source and function of each metric.
- inputs.py, passages.py: tokenizers and texts, and the sample of each;
  sample_counts.py, scripts.py: the words and scripts of the sample, and their tokens.
- compare.py makes a comparison; comparison.py holds the result, comparison_tables.py its tables.
  bootstrap.py: intervals.
- audit.py: the checks of a tokenizer; reachability.py, audit_vocabulary.py and audit_texts.py
  find problems, findings.py holds them.
- vocabulary_size.py, vocabulary_scaling.py, vocabulary_advice.py: the number of tokens to have.
- verify.py: whether two tokenizers agree on texts; against.py: whether a tokenizer agrees with
  its original library, which peers.py loads. hard_texts.py: texts that tokenizers get wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toksmith._base import lazy

if TYPE_CHECKING:
    from toksmith.measure.against import LibraryDifference
    from toksmith.measure.compare import compare
    from toksmith.measure.comparison import Comparison, Figures
    from toksmith.measure.distribution import (
        bytes_per_token,
        characters_per_token,
        coverage,
        gini,
        normalized_sequence_length,
        parity,
        renyi_efficiency,
        renyi_entropy,
        type_token_ratio,
        unknown_rate,
        vocabulary_use,
    )
    from toksmith.measure.metrics import METRICS, Metric
    from toksmith.measure.round_trip import common_bytes, lost_bytes
    from toksmith.measure.verify import Difference, find_differing, first_difference
    from toksmith.measure.word_metrics import (
        continuation,
        fertility,
        single_token_words,
        split_words,
    )

__all__ = [
    "METRICS",
    "Comparison",
    "Difference",
    "Figures",
    "LibraryDifference",
    "Metric",
    "bytes_per_token",
    "characters_per_token",
    "common_bytes",
    "compare",
    "continuation",
    "coverage",
    "fertility",
    "find_differing",
    "first_difference",
    "gini",
    "lost_bytes",
    "normalized_sequence_length",
    "parity",
    "renyi_efficiency",
    "renyi_entropy",
    "single_token_words",
    "split_words",
    "type_token_ratio",
    "unknown_rate",
    "vocabulary_use",
]

_MODULES = {
    "word_metrics": ("fertility", "split_words", "continuation", "single_token_words"),
    "distribution": (
        *("bytes_per_token", "characters_per_token", "normalized_sequence_length"),
        *("renyi_entropy", "renyi_efficiency"),
        *("parity", "gini"),
        *("vocabulary_use", "type_token_ratio", "unknown_rate", "coverage"),
    ),
    "round_trip": ("common_bytes", "lost_bytes"),
    "metrics": ("METRICS", "Metric"),
    "comparison": ("Comparison", "Figures"),
    "compare": ("compare",),
    "against": ("LibraryDifference",),
    "verify": ("Difference", "find_differing", "first_difference"),
}

__getattr__ = lazy.names(
    __name__, {name: module for module, names in _MODULES.items() for name in names}
)
