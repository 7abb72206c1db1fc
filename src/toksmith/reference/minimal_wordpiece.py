"""WordPiece on one page: train, encode and decode, with nothing imported from toksmith.

WordPiece (BERT's model) differs from byte pair encoding twice. Training joins the pair whose halves
occur together more often than chance would have it, not the most frequent pair. Encoding has no
merges: a word is the longest piece that it begins with, then the longest that goes on, and so on.
A piece that does not start a word is marked by ``##``.

Simplified: no normalization (BERT makes letters small and removes accents), no limit on the length
of a word, and ``decode`` leaves a space before punctuation.
``reference/wordpiece_training.py`` and ``reference/wordpiece.py`` have these.

Sources:
    Schuster, Nakajima: Japanese and Korean Voice Search, ICASSP 2012.
    Devlin et al.: BERT, NAACL 2019 (the longest piece first).

Example:
    >>> vocab = train("hug pug pun bun hugs hug hug", vocab_size=16)
    >>> vocab[1:]
    ['b', 'g', 'h', 'n', 'p', 's', 'u', '##g', '##n', '##s', '##u', '##gs', 'hu', 'pu', 'bu']
    >>> ids = encode("hugs bugs pizza", vocab)
    >>> [vocab[token] for token in ids]
    ['hu', '##gs', 'bu', '##gs', '[UNK]']
    >>> decode(ids, vocab)
    'hugs bugs [UNK]'
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

WORDS = r"\w+|[^\w\s]"


def train(text: str, vocab_size: int) -> list[str]:
    """Return the vocabulary: the unknown token, all characters, then the pieces as learned."""
    words = Counter(re.findall(WORDS, text))
    characters = sorted({character for word in words for character in word})
    inner = sorted({"##" + character for word in words for character in word[1:]})
    ids = {piece: token for token, piece in enumerate(["[UNK]", *characters, *inner])}
    spelled = {word: [ids[word[0]], *(ids["##" + c] for c in word[1:])] for word in words}
    while len(ids) < vocab_size:
        pairs: Counter[tuple[int, int]] = Counter()
        single: Counter[int] = Counter()
        for word, times in words.items():
            for token in spelled[word]:
                single[token] += times
            for pair in pairwise(spelled[word]):
                pairs[pair] += times
        if not pairs:
            break  # every word is a single token
        best = min(  # among equals, the more frequent pair, then the one of older halves
            pairs, key=lambda p: (-pairs[p] / (single[p[0]] * single[p[1]]), -pairs[p], p)
        )
        left, right = (list(ids)[token] for token in best)
        new = ids.setdefault(left + right.removeprefix("##"), len(ids))
        spelled = {word: merge(tokens, best, new) for word, tokens in spelled.items()}
    return list(ids)


def merge(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """Return the ids with each occurrence of the pair replaced by the new id, from the left."""
    merged: list[int] = []
    for token in ids:
        if merged and (merged[-1], token) == pair:
            merged[-1] = new
        else:
            merged.append(token)
    return merged


def encode(text: str, vocab: list[str]) -> list[int]:
    """Return the ids of a text; a word with a stretch that no piece fits is unknown as a whole."""
    ids = {piece: token for token, piece in enumerate(vocab)}
    encoded: list[int] = []
    for word in re.findall(WORDS, text):
        pieces: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            ends = range(len(word), start, -1)  # the longest first
            end = next((end for end in ends if mark + word[start:end] in ids), None)
            if end is None:
                pieces = [ids["[UNK]"]]
                break
            pieces.append(ids[mark + word[start:end]])
            start = end
        encoded += pieces
    return encoded


def decode(ids: list[int], vocab: list[str]) -> str:
    """Return the text of some ids: words have one space between them."""
    return " ".join(vocab[token] for token in ids).replace(" ##", "")
