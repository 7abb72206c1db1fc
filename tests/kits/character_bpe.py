"""BPE over characters: merges written as text, and random models."""

from __future__ import annotations

import random

import numpy as np

from tests.kits.pieces import ALPHABETS, BYTE_PIECES
from toksmith.models import CharacterBPE


def merges(vocab: tuple[str, ...], *pairs: str, prefix: str = "") -> np.ndarray:
    """Return the rows of merges that are written ``"left right"``."""
    ids = {token: i for i, token in enumerate(vocab)}
    rows = []
    for pair in pairs:
        left, right = pair.split(" ")
        rows.append([ids[left], ids[right], ids[left + right.removeprefix(prefix)]])
    return np.array(rows, np.uint32)


def random_character_bpe(rng: random.Random) -> tuple[CharacterBPE, str]:
    alphabet = rng.choice(ALPHABETS)
    prefix, suffix = rng.choice(("", "", "##", "_")), rng.choice(("", "", "</w>"))
    vocab = {"<unk>": 0}
    for character in alphabet:
        for spelled in (character, prefix + character, character + suffix):
            if rng.random() < 0.8:
                vocab.setdefault(spelled, len(vocab))
    merges: dict[tuple[str, str], str] = {}
    for _ in range(rng.randint(0, 30)):
        rights = [t for t in vocab if t.startswith(prefix) and len(t) > len(prefix)]
        left, right = rng.choice(list(vocab)), rng.choice(rights or [""])
        if right:
            merges[left, right] = left + right[len(prefix) :]
            vocab.setdefault(merges[left, right], len(vocab))
    byte_fallback = rng.random() < 0.4
    if byte_fallback:
        missing = rng.choice((0, 0.3))
        for piece in BYTE_PIECES:
            if rng.random() >= missing:
                vocab.setdefault(piece, len(vocab))
    rules = [(vocab[left], vocab[right], vocab[new]) for (left, right), new in merges.items()]
    rng.shuffle(rules)
    model = CharacterBPE(
        tuple(token.encode() for token in vocab),
        np.array(rules, np.uint32).reshape(-1, 3),
        unk_id=0 if rng.random() < 0.7 else None,
        fuse_unk=rng.random() < 0.5,
        byte_fallback=byte_fallback,
        continuing_prefix=prefix,
        word_suffix=suffix,
        whole_chunk_first=rng.random() < 0.3,
    )
    return model, alphabet
