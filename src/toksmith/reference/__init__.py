"""Every algorithm in plain Python: pages to read, and the oracle of the kernel's tests.

Read in this order:

1. :mod:`~toksmith.reference.minimal`: byte pair encoding on one page. So are the other models:
   :mod:`~toksmith.reference.minimal_wordpiece`, :mod:`~toksmith.reference.minimal_unigram` and
   :mod:`~toksmith.reference.minimal_sentencepiece`. These four import nothing from toksmith.
2. :mod:`~toksmith.reference.bpe_training`: the same with ties, counts and minimum frequencies.
3. :mod:`~toksmith.reference.bpe`: how a list of merges turns a chunk into tokens.
4. :mod:`~toksmith.reference.wordpiece`: the longest piece that fits (BERT); then
   :mod:`~toksmith.reference.wordpiece_training`.
5. :mod:`~toksmith.reference.unigram`: the most probable pieces; then
   :mod:`~toksmith.reference.unigram_training`, which learns their probabilities.
6. :mod:`~toksmith.reference.sentencepiece_bpe`: BPE over characters, as SentencePiece does it; then
   :mod:`~toksmith.reference.sentencepiece_bpe_training`.
7. :mod:`~toksmith.reference.longest_match`: vocabularies without merges or scores.
8. BPE-dropout (in :mod:`~toksmith.reference.bpe`) and
   :mod:`~toksmith.reference.unigram_sampling`: random segmentations, for training models.

Split patterns run in :mod:`toksmith.stages.split_patterns`, by the ``regex`` package. The other
modules hold parts that several pages share, and the oracle for rows of model inputs.

The pages favour clarity over speed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Token(NamedTuple):
    """One token of a chunk.

    Attributes:
        id: its id.
        start: the start of its text in the chunk, in bytes.
        end: where that ends.
    """

    id: int
    start: int
    end: int


ChunkModel: TypeAlias = Callable[[bytes], list[Token]]
"""A function from the UTF-8 of a chunk (for byte-level models, any bytes) to its tokens."""
