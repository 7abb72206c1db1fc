"""Samples, scores, and the calls of 0.2.1 that 0.2.3 dropped."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import toksmith.compat.sentencepiece as ours
from tests.compat.sentencepiece_models import model_proto

TEXT = "the dog, the fox"


@pytest.fixture
def unigram() -> ours.SentencePieceProcessor:
    ours.set_random_generator_seed(7)
    return ours.SentencePieceProcessor(model_proto=model_proto("unigram"))


def chances(
    sp: ours.SentencePieceProcessor, text: str, alpha: float
) -> dict[tuple[int, ...], float]:
    """Return the probability of each segmentation, of the list of all of them."""
    every = sp.nbest_encode(text, "immutable_proto", nbest_size=100_000).nbests
    weights = {tuple(p.id for p in way.pieces): math.exp(alpha * way.score) for way in every}
    total = sum(weights.values())
    return {way: weight / total for way, weight in weights.items()}


def test_samples_follow_the_distribution(unigram: ours.SentencePieceProcessor) -> None:
    text, draws = "the fox", 1500
    expected = chances(unigram, text, 0.4)
    drawn = Counter(tuple(unigram.sample_encode_as_ids(text, -1, 0.4)) for _ in range(draws))
    scored = unigram.sample_encode_and_score(text, num_samples=draws, alpha=0.4)
    again = Counter(tuple(ids) for ids, _ in scored)
    for way, chance in expected.items():
        bound = 5 * math.sqrt(chance / draws) + 2 / draws
        assert abs(drawn[way] / draws - chance) < bound
        assert abs(again[way] / draws - chance) < bound
    for ids, score in scored[:100]:
        assert score == pytest.approx(math.log(expected[tuple(ids)]), abs=1e-4)


def test_samples_of_the_best(unigram: ours.SentencePieceProcessor) -> None:
    best = unigram.nbest_encode(TEXT, nbest_size=3)
    drawn = [unigram.encode(TEXT, enable_sampling=True, nbest_size=3) for _ in range(60)]
    assert {*map(tuple, drawn)} == {*map(tuple, best)}
    one = ours.SentencePieceProcessor(
        model_proto=model_proto("unigram"),
        enable_sampling=True,
        nbest_size=2,
        alpha=50,
        out_type=str,
    )
    assert one.encode(TEXT) == unigram.encode(TEXT, str)


def test_seeds(unigram: ours.SentencePieceProcessor) -> None:
    first = [unigram.sample_encode_as_pieces(TEXT, -1, 0.1) for _ in range(5)]
    ours.SetRandomGeneratorSeed(7)
    assert [unigram.sample_encode_as_pieces(TEXT, -1, 0.1) for _ in range(5)] == first


def test_samples_that_differ(unigram: ours.SentencePieceProcessor) -> None:
    found = unigram.sample_encode_and_score(TEXT, num_samples=20, alpha=0.5, wor=True)
    assert len({tuple(ids) for ids, _ in found}) == 20
    assert all(score <= 0 for _, score in found)
    best = unigram.encode(TEXT)
    found = unigram.sample_encode_and_score(
        TEXT, num_samples=5, alpha=0.5, wor=True, include_best=True
    )
    assert found[0] == (best, 0.0)
    assert len({tuple(ids) for ids, _ in found}) == 5
    # All segmentations: each is drawn with certainty.
    every = unigram.sample_encode_and_score("a", num_samples=99, wor=True)
    assert sorted(ids for ids, _ in every) == sorted(unigram.nbest_encode("a", nbest_size=99))
    assert {score for _, score in every} == {0.0}
    message = unigram.sample_encode_and_score_as_immutable_proto([TEXT, "a"], 3, wor=True)
    assert [len(each.nbests) for each in message] == [3, len(every)]
    for options in ({"num_samples": 0}, {"include_best": True}):
        with pytest.raises(RuntimeError):
            unigram.sample_encode_and_score(TEXT, **options)


def test_entropy(unigram: ours.SentencePieceProcessor) -> None:
    for text in ("", "the fox", "lower é"):
        for alpha in (0.0, 0.5, 1.0):
            expected = chances(unigram, text, alpha).values()
            expected = -sum(chance * math.log(chance) for chance in expected)
            assert unigram.calculate_entropy(text, alpha) == pytest.approx(expected, abs=1e-4)
    both = unigram.CalculateEntropy([TEXT, "a"], 0.5, num_threads=2)
    assert both == [unigram.calculate_entropy(TEXT, 0.5), unigram.calculate_entropy("a", 0.5)]


def test_dropout() -> None:
    sp = ours.SentencePieceProcessor(model_proto=model_proto("bpe"))
    ours.set_random_generator_seed(1)
    assert sp.sample_encode_as_ids(TEXT, -1, 0.0) == sp.encode(TEXT)
    characters = sp.sample_encode_as_pieces(TEXT, -1, 1.0)
    assert characters == list("▁" + TEXT.replace(" ", "▁"))
    drawn = {tuple(sp.sample_encode_as_pieces(TEXT, 64, 0.3)) for _ in range(50)}
    assert len(drawn) > 5
    assert {sp.decode(list(pieces)) for pieces in drawn} == {TEXT}
    for call in ("CalculateEntropy", "SampleEncodeAndScore", "NBestEncode"):
        with pytest.raises(RuntimeError, match=call):
            getattr(sp, call)(TEXT, **({"alpha": 1.0} if call == "CalculateEntropy" else {}))


def test_immutable_messages(unigram: ours.SentencePieceProcessor) -> None:
    text = "Ａ é the dog"
    found = unigram.encode_as_immutable_proto(text)
    assert isinstance(found, ours.ImmutableSentencePieceText)
    assert found.text == text
    assert "".join(piece.surface for piece in found.pieces) == text
    assert [text[p.begin : p.end] for p in found.pieces] == [p.surface for p in found.pieces]
    assert [p.id for p in found.pieces] == unigram.encode(text)
    assert [p.piece for p in found.pieces] == unigram.encode(text, str)
    assert found == unigram.encode([text], "immutable_proto")[0]
    assert (
        len(
            {
                found,
                unigram.encode_as_immutable_proto(text),
                unigram.nbest_encode(text, "immutable_proto", nbest_size=2).nbests[1],
            }
        )
        == 2
    )
    assert found.pieces[-1] == list(found.pieces)[-1] == found.pieces[::-1][0]
    assert found.pieces[-1].piece_as_bytes == found.pieces[-1].piece.encode()
    with pytest.raises(IndexError):
        found.pieces[len(found.pieces)]
    assert str(found).startswith(f'text: "{text}"\nscore: 0.0\npieces {{\npiece: "')
    back = unigram.decode_ids_as_immutable_proto([p.id for p in found.pieces[-2:]])
    assert back.text == " the dog"[-len(back.text) :]
    ascii_text = unigram.encode_as_immutable_proto(TEXT)
    assert ascii_text.SerializeAsString() == unigram.encode_as_serialized_proto(TEXT)


def test_vocabulary_restriction(unigram: ours.SentencePieceProcessor, tmp_path: Path) -> None:
    before = unigram.encode_as_pieces(TEXT)
    kept = [piece for piece in before if len(piece) > 1][:1]
    path = tmp_path / "vocab.tsv"
    path.write_text(f"{kept[0]}\t5\nth\t1\n", "utf-8")
    for restrict in (
        lambda: unigram.set_vocabulary(kept),
        lambda: unigram.load_vocabulary(path, 2),
    ):
        restrict()
        found = unigram.encode_as_pieces(TEXT)
        assert found != before
        assert {piece for piece in found if len(piece) > 1} <= {*kept}
        assert sum(unigram.is_unused(list(range(len(unigram))))) > 5
        again = ours.SentencePieceProcessor(model_proto=unigram.serialized_model_proto())
        assert again.encode_as_pieces(TEXT) == found
        unigram.reset_vocabulary()
        assert unigram.encode_as_pieces(TEXT) == before


def test_extra_options(unigram: ours.SentencePieceProcessor) -> None:
    ids, bos, eos = unigram.encode(TEXT), unigram.bos_id(), unigram.eos_id()
    for option, expected in {
        "bos:eos": [bos, *ids, eos], "eos:reverse": [eos, *ids[::-1]],
        "reverse:bos:eos": [bos, *ids[::-1], eos], "": ids,
    }.items():  # fmt: skip
        unigram.set_encode_extra_options(option)
        assert unigram.encode(TEXT) == expected
        assert [p.id for p in unigram.encode_as_proto(TEXT).pieces] == expected
    unigram.set_decode_extra_options("reverse")
    assert unigram.decode(["b", "▁a"]) == "ab"
    with pytest.raises(RuntimeError, match="unknown option"):
        unigram.SetEncodeExtraOptions("bos:color")


def test_other_normalizer(unigram: ours.SentencePieceProcessor) -> None:
    unigram.override_normalizer_spec(add_dummy_prefix=False, remove_extra_whitespaces=False)
    assert unigram.normalize("  a  b ") == "▁▁a▁▁b▁"
    assert unigram.decode(unigram.encode("  a  b ")) == "  a  b "
    again = ours.SentencePieceProcessor(model_proto=unigram.serialized_model_proto())
    assert again.normalize("  a ") == "▁▁a▁"
    with pytest.raises(RuntimeError, match="unknown switch"):
        unigram.override_normalizer_spec(color=True)


def test_settings() -> None:
    assert ours.ThreadPool(3).num_threads() == 3
    assert ours.ThreadPool(-1).num_threads() >= 1
    for call in (ours.set_min_log_level, ours.SetMinLogLevel, ours.set_nbest_timeout):
        assert call(1) is None
    sp: Any = ours.SentencePieceProcessor(model_proto=model_proto("bpe"))
    assert sp.parallel_encode(TEXT, chunk_len=3, thread_pool=ours.ThreadPool(2)) == sp.encode(TEXT)


def test_a_search_that_takes_too_long_returns_the_best_alone() -> None:
    model = ours.SentencePieceProcessor(model_proto=model_proto("unigram"))
    text = "the dog " * 200
    try:
        ours.set_nbest_timeout(1)
        assert model.nbest_encode(text, nbest_size=10) == [model.encode(text)]
        assert len(model.nbest_encode("the", nbest_size=1)) == 1
    finally:
        ours.SetNBestTimeout(0)
    assert len(model.nbest_encode(text, nbest_size=2)) == 2
