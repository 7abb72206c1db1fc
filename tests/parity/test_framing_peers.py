"""Templates, pairs, lengths and added tokens against Hugging Face's tokenizers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.strategies import random_text, random_texts
from toksmith import Tokenizer
from toksmith.framing import Padding, Truncation

tokenizers = pytest.importorskip("tokenizers")

SPECIAL = ("<s>", "</s>", "<mask>", "<pad>")
CORPUS = ["the cat sat on the mat", "they don't say that", "  naïve café\n\n日本語 text"] * 3

pytestmark = pytest.mark.filterwarnings("ignore:this tokenizer has no padding token")


def byte_level() -> Any:
    """A small byte-level tokenizer of theirs, with special tokens."""
    return tokenizers.Tokenizer.from_str(byte_level_file())


@cache
def byte_level_file() -> str:
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=330, initial_alphabet=alphabet, show_progress=False, special_tokens=[*SPECIAL]
    )
    theirs.train_from_iterator(CORPUS, trainer)
    return str(theirs.to_str())


def load(theirs: Any, tmp_path: Path) -> Tokenizer:
    """Return our tokenizer of the same file, which also survives being written here."""
    theirs.save(str(tmp_path / "theirs.json"))
    ours = toksmith.load(tmp_path / "theirs.json")
    ours.save(tmp_path / "ours.json")
    assert toksmith.load(tmp_path / "ours.json").pipeline == ours.pipeline
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "ours.json"))
    assert again.encode("a b<mask> c", "d").ids == theirs.encode("a b<mask> c", "d").ids
    return ours


def processors() -> dict[str, Any]:
    p = tokenizers.processors
    template = p.TemplateProcessing(
        single="<s>:3 $A:4 </s>:5 <mask>:6",
        pair="<s> $A </s> </s>:1 $B:1 </s>:1",
        special_tokens=[("<s>", 0), ("</s>", 1), ("<mask>", 2)],
    )
    return {
        "none": None,
        "bert": p.BertProcessing(("</s>", 1), ("<s>", 0)),
        "roberta": p.RobertaProcessing(("</s>", 1), ("<s>", 0)),
        "roberta-trim": p.RobertaProcessing(
            ("</s>", 1), ("<s>", 0), trim_offsets=True, add_prefix_space=False
        ),
        "roberta-as-it-is": p.RobertaProcessing(("</s>", 1), ("<s>", 0), trim_offsets=False),
        "template": template,
        "byte-level": p.ByteLevel(trim_offsets=True),
        "sequence": p.Sequence([p.ByteLevel(trim_offsets=True), template]),
        "sequence-as-it-is": p.Sequence([p.ByteLevel(trim_offsets=False), template]),
        "second-first": p.TemplateProcessing(
            single="$A", pair="$B:1 <mask> $A", special_tokens=[("<mask>", 2)]
        ),
    }


TEXTS = (
    *("", "a", " the cat", "the cat sat on the mat " * 3, "  they   don't\n\n say", "日本語 é  "),
    *("a<mask> b", "</s>", "<mask>", " x <pad>  "),
)


@pytest.mark.parametrize("name", list(processors()))
@pytest.mark.parametrize("special", [False, True])
def test_encoding_of_texts_and_pairs(name: str, special: bool, tmp_path: Path) -> None:
    theirs = byte_level()
    if processor := processors()[name]:
        theirs.post_processor = processor
    ours = load(theirs, tmp_path)
    rng = random.Random(5)
    texts = [*TEXTS, *(random_text(rng, 12) for _ in range(60))]
    pairs = [None, *texts]
    for text, pair in [*itertools.product(TEXTS, [None, *TEXTS]), *zip(texts, pairs, strict=False)]:
        expected = theirs.encode(text, pair, add_special_tokens=special)
        found = ours.encoding(text, special="encode", add_special_tokens=special, pair=pair)
        assert_equal(found, expected)
        assert (
            ours.encode(text, special="encode", add_special_tokens=special, pair=pair)
            == expected.ids
        )


def assert_equal(found: toksmith.Encoding, expected: Any) -> None:
    assert found.ids == expected.ids
    assert found.type_ids == expected.type_ids
    assert found.sequence == [-1 if s is None else s for s in expected.sequence_ids]
    for span, offset, which in zip(found.spans, expected.offsets, found.sequence, strict=True):
        if which >= 0:
            assert tuple(span) == offset
        else:
            assert span[0] == span[1]
    for sequence, text in enumerate((found.text, found.pair or "")):
        for place in range(len(text)):
            assert found.char_to_token(place, sequence=sequence) == expected.char_to_token(
                place, sequence
            )


LENGTHS: list[tuple[dict[str, Any], dict[str, Any] | None]] = [
    ({"max_length": 16}, None),
    ({"max_length": 12, "stride": 1}, {}),
    ({"max_length": 12, "stride": 1, "direction": "left"}, {"direction": "left"}),
    ({"max_length": 70, "strategy": "only_first"}, {"pad_to_multiple_of": 8}),
    ({"max_length": 70, "strategy": "only_second", "stride": 3}, {"length": 80}),
    ({"max_length": 16}, {"length": 20, "pad_id": 3, "pad_type_id": 7, "pad_to_multiple_of": 16}),
]


@pytest.mark.parametrize("name", ["none", "bert", "roberta", "roberta-trim", "sequence"])
@pytest.mark.parametrize(("truncation", "padding"), LENGTHS)
@pytest.mark.parametrize("paired", [False, True])
def test_prepared_batches(
    name: str,
    truncation: dict[str, Any],
    padding: dict[str, Any] | None,
    paired: bool,
    tmp_path: Path,
) -> None:
    theirs = byte_level()
    if processor := processors()[name]:
        theirs.post_processor = processor
    theirs.enable_truncation(**truncation)
    if padding is not None:
        theirs.enable_padding(**padding)
    ours = load(theirs, tmp_path)
    only = {"only_first": 0, "only_second": 1}.get(truncation.get("strategy", ""))
    rng = random.Random(3)
    checked = 0
    for _ in range(8):
        texts = [random_text(rng, 9) + "some more text" for _ in range(2)]
        pairs = [random_text(rng, 9) + "and more of it" for _ in range(2)] if paired else None
        given = list(zip(texts, pairs, strict=True)) if pairs else texts
        try:
            expected = theirs.encode_batch(given)
        except BaseException as refused:
            # A text is too short to be cut alone, there is no second, or the stride is too long.
            if only is None and type(refused).__name__ != "PanicException":
                raise
            with pytest.raises(toksmith.errors.OptionError, match=r"strategy|stride"):
                ours.prepare(texts, pairs, special="encode", overflow=True)
            continue
        checked += 1
        rows = [row for each in expected for row in (each, *each.overflowing)]
        found = ours.prepare(texts, pairs, special="encode", overflow=True, spans=True)
        assert_same_rows(found, rows, name)
        assert found.document.tolist() == [
            place for place, each in enumerate(expected) for _ in (each, *each.overflowing)
        ]
        if padding is None:
            continue  # theirs are not of one length
        first = ours.prepare(texts, pairs, special="encode")
        assert first.ids.tolist() == [each.ids for each in expected]
        assert first.spans is None
    assert checked > 1 or (only == 1 and not paired)


def assert_same_rows(found: toksmith.Inputs, rows: list[Any], name: str) -> None:
    assert len(found.ids) == len(rows)
    assert found.spans is not None
    for number, row in enumerate(rows):
        # Without padding of theirs, ours stands behind each row.
        part = (number, slice(0, len(row.ids)))
        assert not found.attention_mask[number, len(row.ids) :].any()
        assert found.ids[part].tolist() == row.ids
        assert found.attention_mask[part].tolist() == row.attention_mask
        assert found.special_tokens_mask[part].tolist() == row.special_tokens_mask
        assert found.spans[part].tolist() == [list(offset) for offset in row.offsets]
        if name != "none":  # without a template they forget which text tokens are of
            sequence = [-1 if s is None else s for s in row.sequence_ids]
            assert found.sequence[part].tolist() == sequence
        if name != "sequence":  # a template's types are not put on what overflows there
            assert found.type_ids[part].tolist() == row.type_ids
        assert found.lengths[number] == sum(row.attention_mask)


def test_lengths_of_the_caller(tmp_path: Path) -> None:
    theirs = byte_level()
    theirs.post_processor = processors()["bert"]
    plain = load(theirs, tmp_path)
    theirs.enable_truncation(10, stride=2)
    theirs.enable_padding(pad_id=3, length=12)
    ours = load(theirs, tmp_path)
    texts = [text for text in random_texts(seed=9, count=30) if text]
    expected = [each.ids for each in theirs.encode_batch(texts)]
    given = {"truncation": Truncation(10, 2), "padding": Padding(12, id=3)}
    assert plain.prepare(texts, special="encode", **given).ids.tolist() == expected
    theirs.enable_truncation(7)
    theirs.enable_padding(pad_id=3, length=7)
    expected = [each.ids for each in theirs.encode_batch(texts)]
    assert ours.prepare(texts, special="encode", max_length=7).ids.tolist() == expected
    # What encoding returns never depends on them.
    theirs.no_truncation()
    theirs.no_padding()
    for text in texts:
        assert (
            ours.encode(text, special="encode", add_special_tokens=True) == theirs.encode(text).ids
        )


# Added tokens


PIECES = ["<m>", "a", "ab", "b", " ", "_", "é", "\u3000", "x<", "<m><m>", "-", "\u0301"]


def normalizers() -> list[Any]:
    n = tokenizers.normalizers
    return [
        *(None, None, n.Lowercase(), n.NFKD(), n.Prepend("_"), n.Replace("a", "bb"), n.Strip()),
        *(n.BertNormalizer(), n.Sequence([n.NFD(), n.StripAccents()]), n.Replace("b", "")),
    ]


@pytest.mark.parametrize("seed", range(40))
def test_added_tokens(seed: int, tmp_path: Path) -> None:
    """Random literals with random flags, in texts that are mostly made of them."""
    rng = random.Random(seed)
    theirs = byte_level()
    if normalizer := normalizers()[seed % 10]:
        theirs.normalizer = normalizer
    literals = {"".join(rng.choices([*PIECES, "A", "É"], k=rng.randint(1, 3))) for _ in range(4)}
    for literal in sorted(literals):
        if theirs.token_to_id(literal) is not None:
            continue  # a token of the model, or a byte as it is spelled
        if normalizer and not normalizer.normalize_str(literal):
            continue  # there is nothing to be found
        names = ("single_word", "lstrip", "rstrip", "normalized", "special")
        flags = {name: rng.random() < 0.4 for name in names}
        token = tokenizers.AddedToken(literal, **flags)
        (theirs.add_special_tokens if flags["special"] else theirs.add_tokens)([token])
    ours = load(theirs, tmp_path)
    filler = [*PIECES, *literals, *literals, "\t", "\n", "\u2003", "1", "\x1c", "the", "Ａ"]
    for _ in range(150):
        text = "".join(rng.choices(filler, k=rng.randint(0, 9)))
        try:
            expected = theirs.encode(text)
        except BaseException as failed:
            if type(failed).__name__ != "PanicException":
                raise
            continue  # one token takes white space that another one is made of
        found = ours.encoding(text, special="encode")
        assert found.ids == expected.ids, repr(text)
        assert [tuple(span) for span in found.spans] == expected.offsets, repr(text)
        assert ours.encode(text, special="encode") == expected.ids


NAMES = ("gpt2_tokenizer.json", "bert_uncased_tokenizer.json", "t5_envit5_tokenizer.json")


@pytest.mark.parametrize("name", NAMES)
def test_real_tokenizers_in_pairs(name: str, shared: Path, corpus: Callable[..., bytes]) -> None:
    path = shared / "data/vocab" / name
    ours, theirs = toksmith.load(path), tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    texts = random_texts(seed=4, count=400)
    for corpus_name in ("english.txt", "multilingual.txt", "code.txt"):
        texts += corpus(corpus_name, 12_000).decode().split("<|endoftext|>")
    for text, pair in itertools.pairwise(texts):
        expected = theirs.encode(text, pair)
        found = ours.encoding(text, special="encode", add_special_tokens=True, pair=pair)
        assert (found.ids, found.type_ids) == (expected.ids, expected.type_ids)
        places = zip(found.spans, expected.offsets, found.sequence, strict=True)
        for place, (span, offset, sequence) in enumerate(places):
            if sequence >= 0:
                assert tuple(span) == offset, (place, found.tokens[place], text[:100], pair[:100])


@pytest.mark.parametrize("name", NAMES)
def test_prepared_by_real_tokenizers(name: str, shared: Path, corpus: Callable[..., bytes]) -> None:
    path = shared / "data/vocab" / name
    ours, theirs = toksmith.load(path), tokenizers.Tokenizer.from_file(str(path))
    if "bert" in name:  # its file cuts and fills to 128
        given: dict[str, Any] = {}
    else:
        given = {"max_length": 100, "padding": Padding(100)}
        theirs.enable_truncation(100)
        theirs.enable_padding(length=100)
    texts = random_texts(seed=6, count=200)
    for corpus_name in ("english.txt", "multilingual.txt", "code.txt"):
        texts += corpus(corpus_name, 12_000).decode().split("<|endoftext|>")
    pairs = [*texts[1:], "the last"]
    for second in (None, pairs):
        batch = list(zip(texts, pairs, strict=True)) if second else texts
        expected = theirs.encode_batch(batch)
        found = ours.prepare(texts, second, special="encode", **given)
        assert found.ids.tolist() == [each.ids for each in expected]
        assert found.type_ids.tolist() == [each.type_ids for each in expected]
        assert found.attention_mask.tolist() == [each.attention_mask for each in expected]
        masks = [each.special_tokens_mask for each in expected]
        assert found.special_tokens_mask.tolist() == masks
