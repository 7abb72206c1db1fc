"""Batches as model inputs, and words, against ``tokenizers`` with its own files."""

from __future__ import annotations

import itertools
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.strategies import random_text
from toksmith import Tokenizer
from toksmith.framing import Padding, Truncation

tokenizers = pytest.importorskip("tokenizers")

FILES = ("gpt2_tokenizer.json", "bert_uncased_tokenizer.json", "t5_envit5_tokenizer.json")
SPECIAL = ("<|endoftext|>", "[SEP]", " [MASK] ", "</s>")


@pytest.fixture(scope="module", params=FILES)
def both(request: pytest.FixtureRequest, shared: Path) -> tuple[Tokenizer, Any]:
    path = shared / "data/vocab" / request.param
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_padding()
    theirs.no_truncation()
    return toksmith.load(path), theirs


def texts(count: int) -> list[str]:
    rng = random.Random(11)
    return [
        "".join((random_text(rng, 4), rng.choice((*SPECIAL, "", "")), random_text(rng, 4)))
        for _ in range(count)
    ]


CASES = list(
    itertools.product(
        (None, (9, 2, "longest_first"), (12, 0, "only_first"), (13, 1, "only_second")),
        ("right", "left"),
        (None, 4),
    )
)


@pytest.mark.parametrize("is_pair", [False, True])
@pytest.mark.parametrize(("limit", "side", "multiple"), CASES)
def test_model_inputs(
    both: tuple[Tokenizer, Any], is_pair: bool, limit: Any, side: Any, multiple: int | None
) -> None:
    ours, theirs = both
    first = [text[:14] for text in texts(24)]
    pairs = [text[-9:] for text in first] if is_pair else None
    if limit and not is_pair:
        limit = (*limit[:2], "longest_first")  # the other strategies are of pairs
    if limit and is_pair:
        limit = (60, *limit[1:])
    theirs.no_truncation()
    if limit:
        names = dict(zip(("max_length", "stride", "strategy"), limit, strict=True))
        theirs.enable_truncation(**names, direction=side)
    theirs.enable_padding(direction=side, pad_to_multiple_of=multiple, pad_id=3, pad_type_id=1)
    rows = []
    batch = theirs.encode_batch(list(zip(first, pairs, strict=True)) if pairs else first)
    theirs.no_padding()
    for document, each in enumerate(batch):
        rows += [(document, row) for row in (each, *each.overflowing)]
    padding = Padding(direction=side, multiple_of=multiple, id=3, type_id=1)
    found = ours.prepare(
        first,
        pairs,
        truncation=Truncation(*limit, side) if limit else False,
        padding=padding,
        overflow=bool(limit),
        spans=True,
        special="encode",
        threads=2,
    )
    assert found.spans is not None
    width = max(len(row.ids) for _, row in rows)  # theirs pads overflow rows on their own
    assert found.document.tolist() == [document for document, _ in rows]
    for place, (_, row) in enumerate(rows):
        keep = [i for i, used in enumerate(row.attention_mask) if used]
        mine = found.attention_mask[place].nonzero()[0]
        assert found.ids[place][mine].tolist() == [row.ids[i] for i in keep]
        assert found.type_ids[place][mine].tolist() == [row.type_ids[i] for i in keep]
        assert [tuple(span) for span in found.spans[place][mine]] == [row.offsets[i] for i in keep]
        special = [row.special_tokens_mask[i] for i in keep]
        assert found.special_tokens_mask[place][mine].tolist() == special
        sequence = [-1 if row.sequence_ids[i] is None else row.sequence_ids[i] for i in keep]
        assert found.sequence[place][mine].tolist() == sequence
    assert found.ids.shape[1] == width


def test_words_of_texts(both: tuple[Tokenizer, Any]) -> None:
    ours, theirs = both
    theirs.no_truncation()
    for text in texts(30):
        found = ours.encoding(text, special="encode", add_special_tokens=True)
        expected = theirs.encode(text)
        assert found.ids == expected.ids
        assert found.words == expected.word_ids
        assert pickle.loads(pickle.dumps(found))[1:].words == expected.word_ids[1:]
    pair = ours.encoding("a b", pair="c-d", add_special_tokens=True)
    assert pair.words == theirs.encode("a b", "c-d").word_ids


def test_words_that_are_given(both: tuple[Tokenizer, Any]) -> None:
    ours, theirs = both
    theirs.no_truncation()
    rng = random.Random(12)
    documents = [
        [rng.choice((" ", "", "x")) + word for word in text.split(" ")] for text in texts(20)
    ]
    others = documents[1:] + documents[:1]
    rows = ours.prepare_ragged(
        documents, others, truncation=False, pre_split=True, spans=True, special="encode"
    )
    assert rows.words is not None
    words, spans = rows.lists(rows.words), rows.span_lists()
    ids, kinds = rows.lists(rows.ids), rows.lists(rows.type_ids)
    encodings = ours.encodings(
        documents, others, pre_split=True, special="encode", add_special_tokens=True
    )
    expected = theirs.encode_batch(list(zip(documents, others, strict=True)), is_pretokenized=True)
    for i, row in enumerate(expected):
        assert (ids[i], kinds[i], spans[i]) == (row.ids, row.type_ids, row.offsets)
        assert [None if word < 0 else word for word in words[i]] == row.word_ids
        assert encodings[i].words == row.word_ids
        assert encodings[i].ids == row.ids
    one = ours.encode_words(documents[0], special="encode")
    assert (
        one.ids == theirs.encode(documents[0], is_pretokenized=True, add_special_tokens=False).ids
    )
    assert one.text == " ".join(documents[0])
