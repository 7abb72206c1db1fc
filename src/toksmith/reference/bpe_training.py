"""Learn a byte-pair vocabulary: join the most frequent pair, again and again.

Start with the 256 bytes. Count all neighbouring pairs of tokens in the text; give the most
frequent pair an id of its own; write it in place of the pair everywhere; repeat. Gage 1994, "A New
Algorithm for Data Compression"; for tokens Sennrich et al. 2016, "Neural Machine Translation of
Rare Words with Subword Units".

The text comes as counted chunks: a chunk that occurs a thousand times is processed once and counts
a thousand times. Overlapping pairs all count ("aaa" holds (a, a) twice), and are
merged from left to right ("aaa" becomes (aa, a)).

Which of two equally frequent pairs goes first is a matter of taste, and changes the result:

- ``"first-seen"``: the one that occurs first in the text as merged so far (minbpe).
- ``"smallest-pair"``: the one of the smaller left token, then of the smaller right token, by age:
  bytes in GPT-2's order, then merged tokens as they were made (Hugging Face).

No two merges make the same bytes: the merges inside the bytes of a token do not depend on the bytes
around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toksmith.models import BPE
from toksmith.reference.bpe import Pair, encode_chunk, merge_table
from toksmith.reference.pair_index import PairIndex

GPT2_BYTE_ORDER = (
    *range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100),
    *range(0x21), *range(0x7F, 0xA1), 0xAD,
)  # fmt: skip
"""The bytes in the order of the characters that spell them in GPT-2's files."""


@dataclass(frozen=True)
class TrainingStep:
    """One merge, as it was learned.

    Attributes:
        pair: the two ids that were joined.
        count: the number of times the pair occurred in the text.
        new: the id they became.
        token: the bytes of that id.
        chunks: every distinct chunk as ids, after this merge. The next step changes this list.
    """

    pair: Pair
    count: int
    new: int
    token: bytes
    chunks: Sequence[Sequence[int]]


def training_steps(
    counts: Mapping[bytes, int],
    vocab_size: int,
    *,
    ties: Literal["first-seen", "smallest-pair"] = "first-seen",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    after: BPE | None = None,
) -> Iterator[TrainingStep]:
    """Learn merges until the vocabulary is full or no pair is left.

    Args:
        counts: the number of occurrences of each chunk, in order of first appearance.
        vocab_size: the number of tokens to stop at, the 256 bytes included.
        ties: the rule that chooses among equally frequent pairs.
        min_frequency: stop when the most frequent pair is rarer than this.
        max_token_length: in bytes; a pair that would be longer is never merged.
        after: continue from the merges of this model; its ids stay, new ones follow.

    Example:
        >>> for step in training_steps({b"aaabdaaabac": 1}, 259):
        ...     print(step.pair, step.count, step.new, step.token)
        (97, 97) 4 256 b'aa'
        (256, 97) 2 257 b'aaa'
        (257, 98) 2 258 b'aaab'
    """
    model = after or BPE(tuple(bytes([byte]) for byte in range(256)), ())
    vocab, table = list(model.vocab), merge_table(model)
    words = [encode_chunk(model, table, chunk) for chunk in counts]
    age = {model.byte_ids[byte]: place - 256 for place, byte in enumerate(GPT2_BYTE_ORDER)}
    index = PairIndex(words, list(counts.values()))
    while len(vocab) < vocab_size:
        tied, count = index.most_frequent()
        if count < max(min_frequency, 1):
            return
        if ties == "smallest-pair":
            pair = min(tied, key=lambda pair: [age.get(token, token) for token in pair])
        else:
            pair = index.first_seen(tied)
        token = vocab[pair[0]] + vocab[pair[1]]
        if max_token_length is not None and len(token) > max_token_length:
            index.forbid(pair)
            continue
        index.merge(pair, len(vocab))
        yield TrainingStep(pair, count, len(vocab), token, words)
        vocab.append(token)
