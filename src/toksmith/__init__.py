"""Train, load, run, inspect and compare tokenizers.

>>> import toksmith
>>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
>>> tok.encode("lowest")
[257, 101, 115, 116]
"""

from __future__ import annotations

from importlib import import_module

# Not imported from typing: until the command line has installed its handler, Ctrl-C prints a
# traceback, so this module imports as little as possible.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from toksmith import errors
    from toksmith._base.arrays import Span
    from toksmith.loading import get, load, loads
    from toksmith.measure.audit import audit
    from toksmith.measure.compare import compare
    from toksmith.measure.comparison import Comparison
    from toksmith.measure.findings import Audit
    from toksmith.measure.verify import verify
    from toksmith.measure.vocabulary_size import advise
    from toksmith.results import Batch, Encoding, Inputs, RaggedInputs, Token
    from toksmith.segment.characters import UnicodeText, graphemes, unicode
    from toksmith.segment.sentences import sentences
    from toksmith.segment.words import words
    from toksmith.teaching import MergeStep, merge, pairs, split, training_steps
    from toksmith.tokenfiles import TokenFiles, open_tokens, tokenize_corpus
    from toksmith.tokenizer import Tokenizer
    from toksmith.tokenizer.chunking import TextChunk
    from toksmith.trainers import Counts, train
    from toksmith.trainers.counting.files.parquet import CountsFile
    from toksmith.trainers.counting.jobs import count_corpus, merge_counts

    __version__: str

__all__ = [
    "Audit",
    "Batch",
    "Comparison",
    "Counts",
    "CountsFile",
    "Encoding",
    "Inputs",
    "MergeStep",
    "RaggedInputs",
    "Span",
    "TextChunk",
    "Token",
    "TokenFiles",
    "Tokenizer",
    "UnicodeText",
    "__version__",
    "advise",
    "audit",
    "compare",
    "count_corpus",
    "errors",
    "get",
    "graphemes",
    "load",
    "loads",
    "merge",
    "merge_counts",
    "open_tokens",
    "pairs",
    "sentences",
    "split",
    "tokenize_corpus",
    "train",
    "training_steps",
    "unicode",
    "verify",
    "words",
]

_MODULES = {
    "advise": "measure.vocabulary_size",
    "audit": "measure.audit",
    "Audit": "measure.findings",
    "verify": "measure.verify",
    "TextChunk": "tokenizer.chunking",
    "get": "loading",
    "load": "loading",
    "loads": "loading",
    "compare": "measure.compare",
    "Comparison": "measure.comparison",
    "graphemes": "segment",
    "sentences": "segment",
    "words": "segment",
    "unicode": "segment.characters",
    "UnicodeText": "segment.characters",
    "merge": "teaching",
    "MergeStep": "teaching",
    "pairs": "teaching",
    "split": "teaching",
    "training_steps": "teaching",
    "open_tokens": "tokenfiles",
    "tokenize_corpus": "tokenfiles",
    "TokenFiles": "tokenfiles",
    "Tokenizer": "tokenizer",
    "Counts": "trainers",
    "CountsFile": "trainers.counting.files.parquet",
    "count_corpus": "trainers.counting.jobs",
    "merge_counts": "trainers.counting.jobs",
    "train": "trainers",
    "Batch": "results",
    "Encoding": "results",
    "Inputs": "results",
    "RaggedInputs": "results",
    "Span": "_base.arrays",
    "Token": "results",
}
"""The module of each public name."""

_PACKAGES = (
    "compat",
    "corpus",
    "decoders",
    "errors",
    "formats",
    "framing",
    "measure",
    "models",
    "normalizers",
    "pipeline",
    "reference",
    "segment",
    "splitters",
    "tokenfiles",
    "trainers",
)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from toksmith.version import __version__

        return __version__
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    # Not "from toksmith import ...", which would call this function again.
    if name not in _MODULES:
        from toksmith._base.habits import MODULE, unknown_name

        raise AttributeError(unknown_name(f"module {__name__!r}", name, MODULE), name=name)
    from toksmith._base.lazy import names

    return names(__name__, _MODULES)(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})
