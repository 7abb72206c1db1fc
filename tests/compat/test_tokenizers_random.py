"""toksmith.compat.tokenizers: random segmentations by BPE-dropout and by Unigram's alpha."""

from __future__ import annotations

import json
from collections import Counter
from math import exp
from random import Random
from typing import Any

import pytest
import tokenizers as theirs

from toksmith.compat import tokenizers as ours
from toksmith.compat.tokenizers.models.base import RANDOM
from toksmith.compat.tokenizers.random_merges import merge_at_random
from toksmith.compat.tokenizers.stepwise import Stepwise
from toksmith.reference import Token
from toksmith.reference.bpe import Merge, draw_merge

TEXTS = ["low lowest", "", " newest  wider", "é low", "l"]
PIECES = [("<unk>", 0.0), ("lo", -2.0), ("low", -2.5), ("est", -2.5), ("es", -2.2),
          *((character, -3.0) for character in "lowest")]  # fmt: skip


def bpe(lib: Any, dropout: float | None, **options: Any) -> Any:
    vocab = {token: i for i, token in enumerate(["<unk>", *"lowernstaid "])}
    for token in ("lo", "low", "er", "es", "est"):
        vocab[token] = len(vocab)
    merges = [("l", "o"), ("lo", "w"), ("e", "r"), ("e", "s"), ("es", "t")]
    model = lib.models.BPE(vocab, merges, unk_token="<unk>", **options)
    model.dropout = dropout
    return lib.Tokenizer(model)


def ends_marked(lib: Any, dropout: float | None) -> Any:
    """Return a tokenizer whose tokens carry a suffix at the end of a word."""
    vocab = {token: i for i, token in enumerate([*"lowest", "w</w>", "t</w>", "lo", "low</w>"])}
    merges = [("l", "o"), ("lo", "w</w>")]
    model = lib.models.BPE(vocab, merges, dropout=dropout, end_of_word_suffix="</w>")
    tok = lib.Tokenizer(model)
    tok.pre_tokenizer = lib.pre_tokenizers.Whitespace()
    return tok


def with_stages(lib: Any, dropout: float | None) -> Any:
    tok = bpe(lib, dropout)
    tok.normalizer = lib.normalizers.Lowercase()
    tok.pre_tokenizer = lib.pre_tokenizers.Whitespace()
    tok.add_special_tokens(["<s>"])
    tok.post_processor = lib.processors.TemplateProcessing(
        "<s> $A", "<s> $A $B:1", [("<s>", tok.token_to_id("<s>"))]
    )
    tok.enable_truncation(8)
    tok.enable_padding()
    return tok


@pytest.mark.parametrize("make", [bpe, ends_marked, with_stages])
@pytest.mark.parametrize("dropout", [None, 0.0, 1.0])
def test_no_dropout_and_full_dropout_are_exact(make: Any, dropout: float | None) -> None:
    texts = TEXTS if make is not ends_marked else ["low lowest", "", "lolow"]
    mine, peer = make(ours, dropout), make(theirs, dropout)
    assert isinstance(mine.engine(), Stepwise) is bool(dropout)
    for found, expected in zip(mine.encode_batch(texts), peer.encode_batch(texts), strict=True):
        assert found.ids == expected.ids
        assert found.tokens == expected.tokens
        assert found.offsets == expected.offsets
        assert found.word_ids == expected.word_ids
        assert found.attention_mask == expected.attention_mask
    pairs = [("low", "lowest"), ("lowest", "low")]
    assert [each.ids for each in mine.encode_batch(pairs)] == [
        each.ids for each in peer.encode_batch(pairs)
    ]
    assert [each.ids for each in mine.encode_batch_fast(texts)] == [
        each.ids for each in peer.encode_batch_fast(texts)
    ]


def test_dropout_looks_at_no_whole_words() -> None:
    for lib in (ours, theirs):
        assert bpe(lib, 1.0, ignore_merges=True).encode("low").tokens == ["l", "o", "w"]
        assert bpe(lib, 0.0, ignore_merges=True).encode("low").tokens == ["low"]


def test_the_dropout_can_be_changed() -> None:
    tok = bpe(ours, 1.0)
    assert tok.encode("lowest").tokens == [*"lowest"]
    tok.model.dropout = None
    assert tok.encode("lowest").tokens == ["low", "est"]
    tok.model.dropout = 1.0
    assert tok.encode("lowest").tokens == [*"lowest"]
    assert [token.value for token in tok.model.tokenize("low")] == ["l", "o", "w"]
    again = ours.Tokenizer.from_str(tok.to_str())
    assert again.model.dropout == 1.0
    assert again.encode("lowest").tokens == [*"lowest"]
    assert tok.decode(tok.encode("lowest").ids) == "l o w e s t"
    content = json.loads(tok.to_str())
    content["model"]["dropout"] = 1.5
    for lib in (ours, theirs):
        with pytest.raises(Exception, match="Dropout should be between 0 and 1, inclusive"):
            lib.Tokenizer.from_str(json.dumps(content))


def ways(symbols: tuple[str, ...], ranks: dict[tuple[str, str], int], dropout: float) -> Counter:  # type: ignore[type-arg]
    """Return the probability of each segmentation of a word."""
    found: Counter[tuple[str, ...]] = Counter()
    places = [i for i in range(len(symbols) - 1) if symbols[i : i + 2] in ranks]
    skipped = 1.0
    for place in sorted(places, key=lambda i: (ranks[symbols[i : i + 2]], i)):  # type: ignore[index]
        merged = (*symbols[:place], "".join(symbols[place : place + 2]), *symbols[place + 2 :])
        for way, chance in ways(merged, ranks, dropout).items():
            found[way] += skipped * (1 - dropout) * chance
        skipped *= dropout
    found[symbols] += skipped
    return found


@pytest.mark.parametrize("dropout", [0.1, 0.5])
def test_the_share_of_each_segmentation(dropout: float) -> None:
    tok = bpe(ours, dropout)
    ranks = {pair: rank for rank, pair in enumerate(tok.model.merges)}
    expected = ways(tuple("lowest"), ranks, dropout)
    RANDOM.seed(1)
    drawn = Counter(tuple(each.tokens) for each in tok.encode_batch(["lowest"] * 400))
    assert set(drawn) <= set(expected)
    for way, chance in expected.items():
        assert abs(drawn[way] / 400 - chance) < 0.07, way


def test_a_queue_draws_as_the_reference_does() -> None:
    """All merges are possible everywhere, so that merges compete for neighbours."""
    rng = Random(5)
    pairs = [(a, b) for a in range(6) for b in range(6)]
    rng.shuffle(pairs)
    table = {pair: Merge(rank, 6 + rank) for rank, pair in enumerate(pairs)}
    word = [0, 1, 0, 1, 2, 1]
    tokens = [Token(each, place, place + 1) for place, each in enumerate(word)]

    def by_reference() -> list[int]:
        ids = [*word]
        while (place := draw_merge(table, ids, 0.4, rng)) is not None:
            ids[place : place + 2] = [table[ids[place], ids[place + 1]].new]
        return ids

    found = Counter(
        tuple(token.id for token in merge_at_random(table, tokens, 0.4, rng)) for _ in range(3000)
    )
    expected = Counter(tuple(by_reference()) for _ in range(3000))
    for way in found | expected:
        assert abs(found[way] - expected[way]) < 150, way
    made = merge_at_random(table, tokens, 0.4, rng)
    assert [token.start for token in made[1:]] == [token.end for token in made[:-1]]
    assert (made[0].start, made[-1].end) == (0, len(word))


def unigram(lib: Any, **options: Any) -> Any:
    return lib.Tokenizer(lib.models.Unigram(PIECES, 0, **options))


@pytest.mark.parametrize("options", [{}, {"alpha": 0.0}, {"nbest_size": 3}, {"alpha": None},
                                     {"alpha": 0.5, "nbest_size": 1}])  # fmt: skip
def test_unigram_draws_nothing_without_alpha(options: dict[str, Any]) -> None:
    mine, peer = unigram(ours, **options), unigram(theirs, **options)
    for text in ("lowest", "lowlow", "low?est", ""):
        assert mine.encode(text).tokens == peer.encode(text).tokens


@pytest.mark.parametrize(("alpha", "size"), [(0.5, None), (0.1, 0), (0.5, 3), (1.0, 64)])
def test_the_share_of_each_way_of_a_unigram_model(alpha: float, size: int | None) -> None:
    tok = unigram(ours, alpha=alpha, nbest_size=size)
    scores = dict(PIECES)

    def splits(text: str) -> list[tuple[str, ...]]:
        return [
            (text[:end], *rest)
            for end in range(1, len(text) + 1)
            if text[:end] in scores
            for rest in splits(text[end:])
        ] or [()] * (not text)

    ranked = sorted(
        ((sum(scores[piece] for piece in way), way) for way in splits("lowest")), reverse=True
    )[: size or None]
    total = sum(exp(alpha * score) for score, _ in ranked)
    RANDOM.seed(2)
    drawn = Counter(tuple(each.tokens) for each in tok.encode_batch(["lowest"] * 400))
    assert set(drawn) <= {way for _, way in ranked}
    for score, way in ranked:
        assert abs(drawn[way] / 400 - exp(alpha * score) / total) < 0.07, way


def test_alpha_can_be_changed_and_unknown_text_is_drawn_too() -> None:
    tok = unigram(ours)
    RANDOM.seed(3)
    assert {tuple(tok.encode("low?").tokens) for _ in range(50)} == {("low", "?")}
    tok.model.alpha = 0.1
    found = [tok.encode("low?") for _ in range(50)]
    assert {tuple(each.tokens) for each in found} == {
        ("low", "?"), ("lo", "w", "?"), ("l", "o", "w", "?"),
    }  # fmt: skip
    assert all(each.offsets[-1] == (3, 4) for each in found)
    tok.model.alpha = None
    assert {tuple(tok.encode("low?").tokens) for _ in range(50)} == {("low", "?")}
