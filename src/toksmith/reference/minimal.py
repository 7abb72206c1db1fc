"""Byte pair encoding on one page: train, encode and decode, with nothing imported from toksmith.

Training joins the two neighbours that appear most often into a new token, again and again. Encoding
replays these merges in the order in which they were learned. No merge crosses the border of a chunk
(a word with its space, a number, punctuation); equal chunks are merged only once.

Sources:
    Sennrich, Haddow, Birch: Neural Machine Translation of Rare Words with Subword Units, ACL 2016.
    Radford et al.: Language Models are Unsupervised Multitask Learners, 2019 (bytes, the pattern).

Example:
    >>> vocab = vocabulary(merges := train("low lower lowest slow slower", vocab_size=261))
    >>> ids = encode("the lowest slope", merges)
    >>> [vocab[token].decode() for token in ids]
    ['t', 'h', 'e', ' lowe', 's', 't', ' s', 'lo', 'p', 'e']
    >>> decode(ids, vocab)
    'the lowest slope'
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import regex

GPT2_SPLIT = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def train(text: str, vocab_size: int) -> dict[tuple[int, int], int]:
    """Return the merges, in the order in which they were learned: ``(left, right) -> new id``."""
    chunks = Counter(tuple(chunk.encode()) for chunk in regex.findall(GPT2_SPLIT, text))
    merges: dict[tuple[int, int], int] = {}
    for new in range(256, vocab_size):
        pairs: Counter[tuple[int, int]] = Counter()
        for ids, times in chunks.items():
            for pair in pairwise(ids):
                pairs[pair] += times
        if not pairs:
            break  # every chunk is a single token
        best = max(pairs, key=pairs.__getitem__)  # among equals, the pair that was seen first
        merges[best] = new
        chunks = Counter({tuple(merge(ids, best, new)): times for ids, times in chunks.items()})
    return merges


def merge(ids: list[int] | tuple[int, ...], pair: tuple[int, int], new: int) -> list[int]:
    """Return the ids with each occurrence of the pair replaced by the new id, from the left."""
    merged: list[int] = []
    for token in ids:
        if merged and (merged[-1], token) == pair:
            merged[-1] = new
        else:
            merged.append(token)
    return merged


def encode(text: str, merges: dict[tuple[int, int], int]) -> list[int]:
    """Return the ids of a text: in each chunk, the merge that was learned first is made first."""
    encoded: list[int] = []
    for chunk in regex.findall(GPT2_SPLIT, text):
        ids = list(chunk.encode())
        while known := [pair for pair in pairwise(ids) if pair in merges]:
            first = min(known, key=merges.__getitem__)
            ids = merge(ids, first, merges[first])
        encoded += ids
    return encoded


def vocabulary(merges: dict[tuple[int, int], int]) -> list[bytes]:
    """Return the bytes of each id: 256 single bytes, then the two sides of each merge together."""
    vocab = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        vocab.append(vocab[left] + vocab[right])
    return vocab


def decode(ids: list[int], vocab: list[bytes]) -> str:
    """Return the text of some ids; bytes that are invalid UTF-8 become U+FFFD."""
    return b"".join(vocab[token] for token in ids).decode(errors="replace")
