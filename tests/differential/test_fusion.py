"""Pipelines that the kernel runs with all their stages, against the same stages one by one.

What the kernel cuts into chunks, the reference leaves whole: the cuts change no token.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import assert_same_places
from tests.kits.bpe import model as byte_model
from toksmith import engine
from toksmith.engine.fused import FusedEncoder
from toksmith.engine.leading import LeadingEncoder
from toksmith.engine.stepwise import ReferenceEncoder
from toksmith.fusion.characters import characters_of
from toksmith.models import (
    BPE,
    CharacterBPE,
    LongestMatch,
    Model,
    PieceType,
    SentencePieceBPE,
    Unigram,
    WordLevel,
    WordPiece,
)
from toksmith.normalizers import (
    Bert,
    Lowercase,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    SentencePieceNormalizer,
    Strip,
    UnicodeForm,
)
from toksmith.pipeline import Pipeline
from toksmith.splitters import (
    BertSplitter,
    Digits,
    LeadingSpace,
    Metaspace,
    PatternSplitter,
    Punctuation,
    Split,
    Splitter,
    SplitterSequence,
    Whitespace,
    WhitespaceSplit,
)
from toksmith.stages.charsmap_building import compile_charsmap

LETTERS = "aabbc  \u2581\t-1é\u0301中\U0001f600\ufffd"
# To compile takes most of the time, so each pipeline gets many texts.
documents = st.lists(st.text(st.sampled_from(LETTERS), max_size=30), max_size=12)
few_pipelines = settings(max_examples=20)
pieces = st.lists(
    st.text(st.sampled_from("aab1-é中\u2581"), min_size=1, max_size=4), max_size=16, unique=True
)

CHARSMAP = compile_charsmap(
    {"\t": " ", "é": "e", "e\u0301": "é", "a\u0301": "á", "1": "", "-": " - "}
)
ONE_SPACE = Replace(" {2,}", " ", is_regex=True)
ONE_MARK = Replace(" {2,}", "\u2581", is_regex=True)
WORDS = SplitterSequence((WhitespaceSplit(), Metaspace()))
TEXT_STAGES: list[tuple[Normalizer, Splitter | None]] = [
    ((), None),
    ((), Metaspace()),
    ((), Metaspace(prepend="first")),
    ((), Metaspace(prepend="never", split=False)),
    ((Lowercase(), UnicodeForm("NFC")), Metaspace()),
    ((ONE_SPACE,), Metaspace()),
    ((Prepend("\u2581"), Replace(" ", "\u2581")), None),
    ((Lowercase(), Replace(" ", "\u2581"), Prepend("\u2581"), UnicodeForm("NFD")), None),
    ((Prepend(" "), Replace("1", "-a")), None),
    ((Precompiled(CHARSMAP),), Metaspace()),
    ((Precompiled(CHARSMAP), ONE_SPACE), Metaspace(prepend="first")),
    ((Precompiled(CHARSMAP), ONE_SPACE), Metaspace(split=False)),
    ((ONE_SPACE,), Metaspace("b", "never", split=False)),
    ((ONE_SPACE,), None),
    ((Precompiled(CHARSMAP), Strip(), ONE_SPACE), Metaspace()),
    ((Precompiled(CHARSMAP), Strip(left=False), ONE_MARK), Metaspace(prepend="first")),
    ((), WORDS),
    ((Precompiled(CHARSMAP), Strip()), WORDS),
    ((SentencePieceNormalizer(),), None),
    ((SentencePieceNormalizer(remove_extra_whitespaces=False),), None),
    ((SentencePieceNormalizer(remove_extra_whitespaces=False, add_dummy_prefix=False),), None),
    ((SentencePieceNormalizer(charsmap=CHARSMAP),), None),
    ((SentencePieceNormalizer(charsmap=CHARSMAP, protected=("b-", "a")),), None),
    ((SentencePieceNormalizer(protected=("ab", "b\u2581", "1")),), None),
    ((SentencePieceNormalizer(charsmap=CHARSMAP, protected=("ab", "ba1")),), None),
    ((SentencePieceNormalizer(escape_whitespaces=False, remove_extra_whitespaces=False),), None),
]
WORD_STAGES: list[tuple[Normalizer, Splitter | None]] = [
    ((Bert(),), BertSplitter()),
    ((Bert(lowercase=False, handle_chinese_chars=False),), BertSplitter()),
    ((), Whitespace()),
    ((Lowercase(),), WhitespaceSplit()),
    ((UnicodeForm("NFKC"),), Punctuation()),
    ((), Digits(individual=True)),
    ((Lowercase(),), SplitterSequence((Whitespace(), Punctuation("contiguous"), Digits(True)))),
]


def agree(model: Model, stages: list[tuple[Normalizer, Splitter | None]], texts: list[str]) -> None:
    for normalizer, splitter in stages:
        pipeline = Pipeline(model, splitter, normalizer=normalizer)
        fused, reference = engine.compile(pipeline), ReferenceEncoder(pipeline)
        assert isinstance(fused, FusedEncoder | LeadingEncoder), (normalizer, splitter)
        expected = reference.encode_texts(texts)
        assert fused.encode_texts(texts, 1).to_lists() == expected.to_lists(), splitter
        assert fused.encode_texts(texts, 2) == expected  # from the cache as well
        for text in texts:
            assert fused.count(text, 1) == len(fused.encode_list(text, 1))
        invalid = [text.encode()[:-1] + b"\xff\xe4" for text in texts]
        for data in invalid:
            assert fused.encode_list(data, 1) == reference.encode_list(data)
        located = reference.encode_with_spans([*texts, *invalid])
        for threads in (1, 2):
            assert_same_places(fused.encode_with_spans([*texts, *invalid], threads), located)
        later = np.arange(len(texts)).astype(np.uint8) % 2
        expected_later = reference.encode_with_spans(texts, continuing=later)
        assert_same_places(fused.encode_with_spans(texts, 1, later), expected_later)
        joined = "".join(texts).encode()
        ends = np.cumsum([0, *(len(text.encode()) for text in texts)])
        bounds = np.stack([ends[:-1], ends[1:]], axis=1)
        assert fused.encode_segments(joined, bounds, 1) == reference.encode_segments(joined, bounds)


def scored(kind: type[SentencePieceBPE] | type[Unigram], vocab: list[str], seed: int,
           **options: bool) -> Iterator[SentencePieceBPE | Unigram]:  # fmt: skip
    """A model with scores that are often equal, and pieces of several types."""
    rng = np.random.default_rng(seed)
    names = ["<unk>", *vocab]
    types = [PieceType.UNKNOWN, *rng.choice([1, 1, 1, 1, 4, 5], len(vocab)).tolist()]
    if options.get("byte_fallback"):
        names += [f"<0x{byte:02X}>" for byte in range(256)]
        types += [PieceType.BYTE] * 256
    scores = -rng.integers(1, 6, len(names)).astype(np.float32) / np.float32(3)
    yield kind(tuple(n.encode() for n in names), scores, np.array(types), 0, **options)


@few_pipelines
@given(pieces, documents, st.booleans(), st.booleans())
def test_longest_match(vocab: list[str], texts: list[str], unk: bool, fuse: bool) -> None:
    tokens = tuple(token.encode() for token in ("<unk>", *vocab))
    agree(LongestMatch(tokens, 0 if unk else None, fuse), TEXT_STAGES, texts)


@few_pipelines
@given(pieces, documents, st.integers(0, 99), st.booleans())
def test_sentencepiece_bpe(vocab: list[str], texts: list[str], seed: int, fallback: bool) -> None:
    for model in scored(SentencePieceBPE, vocab, seed, byte_fallback=fallback):
        agree(model, TEXT_STAGES, texts)


@pytest.mark.parametrize("kind", [SentencePieceBPE, Unigram])
def test_ids_of_malformed_bytes_do_not_depend_on_earlier_texts(
    kind: type[SentencePieceBPE] | type[Unigram],
) -> None:
    """Overlong forms have the code of another character, which a warm cache knows."""
    letters = [*"\n!abcdefz\u3400\u3401\ud55c\u2581", *(f"<0x{byte:02X}>" for byte in range(256))]
    types = [PieceType.BYTE if len(letter) > 1 else PieceType.NORMAL for letter in letters]
    model = kind(
        (b"<unk>", *(letter.encode() for letter in letters)),
        np.array([0.0, *(-1.0 - i % 7 for i in range(len(letters)))]),
        np.array([PieceType.UNKNOWN, *types], np.uint8),
        0,
        True,
    )
    known = "\u3400\n\u3401 \u3400\u3401\n!\u3400a\u3401z\u3400" * 3
    overlong = [bytes([0xE0, 0x80 | code >> 6, 0x80 | code & 63]) for code in (10, 33, 97, 0x7FF)]
    others = [b"\xed\xa0\x80", b"\xc0\x8a", b"\xf0\x80\x80\x8a", b"\xe3\x90", b"\xe3\x90a", b"\x80"]
    for normalizer in ((), (SentencePieceNormalizer(remove_extra_whitespaces=False),)):
        pipeline = Pipeline(model, None, normalizer=normalizer)
        warm, reference = engine.compile(pipeline), ReferenceEncoder(pipeline)
        assert isinstance(warm, FusedEncoder)
        assert warm.encode_list(known, 1) == reference.encode_list(known)
        for wrong in (*overlong, *others):
            text = "\u3400\u3401".encode() + wrong + "\u3400\u3401 \u3400".encode()
            expected = reference.encode_list(text)
            assert warm.encode_list(text, 1) == expected, wrong
            assert warm.encode_list(text * 100, 2) == reference.encode_list(text * 100), wrong
            assert warm.encode_list(known, 1) == reference.encode_list(known)
            assert engine.compile(pipeline).encode_list(text, 1) == expected, wrong


@pytest.mark.parametrize("splitter", [BertSplitter(), Whitespace(), WhitespaceSplit()], ids=repr)
def test_a_model_of_bytes_keeps_invalid_bytes(splitter: Splitter) -> None:
    pipeline = Pipeline(byte_model(), splitter, normalizer=(Lowercase(),))
    fused, reference = engine.compile(pipeline), ReferenceEncoder(pipeline)
    assert isinstance(fused, FusedEncoder)
    texts = [b"ab\xff\xed\x80 Ab!", b"\xff", b"\xf0\x9f \xf0\x9f\x91\x8b\x8b a", "aé b".encode()]
    assert fused.encode_texts(texts, 1).to_lists() == reference.encode_texts(texts).to_lists()
    assert_same_places(fused.encode_with_spans(texts, 1), reference.encode_with_spans(texts))


def test_characters_of_all_blocks() -> None:
    # Most blocks are left as they are by all stages, and are not asked for one by one.
    # Planes 3 to 13 hold no characters, and 15 and 16 private ones alone.
    codes = [*range(0, 0x30000, 997), *range(0x30000, 0x110000, 9973), *range(0xE0000, 0xE0800, 97)]
    characters = [chr(code) for code in codes if not 0xD800 <= code < 0xE000]
    pairs = [left + right for left, right in zip(characters[::2], characters[1::2], strict=False)]
    text = " ".join(pairs)
    for model in scored(SentencePieceBPE, [*characters[::7], *pairs[::5]], 1, byte_fallback=True):
        agree(model, TEXT_STAGES, [text])
    words = tuple(word.encode() for word in ("[UNK]", *pairs, *characters[::2]))
    agree(WordPiece(words, 0), WORD_STAGES, [text])


def test_a_space_is_put_before_normalized_text() -> None:
    charsmap = compile_charsmap({"\b": "", "\t": " ", "´": " ´", "b\u0301": " "})
    stages: list[tuple[Normalizer, Splitter | None]] = [
        ((Precompiled(charsmap),), Metaspace()),
        ((Precompiled(charsmap), ONE_SPACE), Metaspace(prepend="first")),
    ]
    model = LongestMatch((b"<unk>", "\u2581".encode(), "\u2581a".encode(), b"a", b"b"), 0)
    texts = ["\b", "\b\b a", "\b\ba", "\b\ta", "\u00b4a", "b\u0301a", "\bb\u0301", "ba"]
    agree(model, stages, texts)
    fused = engine.compile(Pipeline(model, Metaspace(), normalizer=(Precompiled(charsmap),)))
    assert [fused.encode_list(text, 1) for text in texts[:3]] == [[], [2], [2]]


@pytest.mark.parametrize(
    ("normalizer", "splitter"),
    [
        ((Replace(" ", ""),), Metaspace()),
        ((Replace(" ", "x"),), Metaspace()),
        ((Precompiled(compile_charsmap({" \u0301": "x"})),), Metaspace()),
        ((SentencePieceNormalizer(charsmap=compile_charsmap({" b": "x"})),), None),
    ],
)
def test_a_space_before_a_text_is_not_normalized(
    normalizer: Normalizer, splitter: Splitter | None
) -> None:
    model = LongestMatch((b"<unk>", "\u2581".encode(), "\u2581a".encode(), b"a", b"b", b"x"), 0)
    pipeline = Pipeline(model, splitter, normalizer=normalizer)
    texts = ["a b", "b a", " b", "\u0301a", ""]
    expected = ReferenceEncoder(pipeline).encode_texts(texts)
    assert engine.compile(pipeline).encode_texts(texts, 1) == expected
    assert [ids[0] for ids in expected.to_lists()[:3]] == [2, 1, 1]


@pytest.mark.parametrize("own_first", [True, False])
def test_a_space_before_a_text_is_not_the_texts_own(own_first: bool) -> None:
    # The mark and the accent are replaced as one, unless a space of the text makes them too long.
    model = LongestMatch((b"<unk>", "\u2581".encode(), "\u309a".encode(), "\u0301".encode()), 0)
    mapped = (Precompiled(compile_charsmap({"\uff9f": "\u309a"})),)
    texts = ["\uff9f\u0301", " \uff9f\u0301", "b \uff9f\u0301", "\uff9f"]
    agree(model, [(mapped, Metaspace()), (mapped, Metaspace(prepend="first"))],
          texts[:: -1 if own_first else 1])  # fmt: skip
    found = engine.compile(Pipeline(model, Metaspace(), normalizer=mapped)).encode_texts(texts, 1)
    assert found.to_lists()[:2] == [[1, 2], [1, 2, 3]]


@pytest.mark.parametrize("kind", [SentencePieceBPE, Unigram])
def test_a_character_that_combines_is_not_split_from_the_one_before(
    kind: type[SentencePieceBPE] | type[Unigram],
) -> None:
    # Alone, "e" is no part of what is unknown, nor of "1é"; with the accent behind it, it is.
    names = ["<unk>", "e", "1", "1é", "\u2581", "ab"]
    scores = -np.arange(len(names), dtype=np.float32)
    model = kind(tuple(n.encode() for n in names), scores, np.array([2, 1, 1, 1, 1, 1]))
    charsmap = compile_charsmap({"e\u0301": "é", "ab": "x"})
    stages: list[tuple[Normalizer, Splitter | None]] = [
        ((SentencePieceNormalizer(charsmap=charsmap),), None)
    ]
    agree(model, stages, ["中e\u0301中", "1e\u0301", "1e1", "中ab1ab", "e\u0301e\u0301 e"])


@few_pipelines
@given(pieces, documents, st.integers(0, 99), st.booleans())
def test_unigram(vocab: list[str], texts: list[str], seed: int, fallback: bool) -> None:
    for model in scored(Unigram, vocab, seed, byte_fallback=fallback):
        unsplit = [stages for stages in TEXT_STAGES if stages[1] is None]
        agree(model, unsplit, texts)
    for model in scored(Unigram, vocab, seed, single=False):
        agree(model, [stages for stages in TEXT_STAGES if stages[1]], texts)


@few_pipelines
@given(pieces, documents, st.booleans(), st.booleans(), st.data())
def test_character_bpe(
    vocab: list[str], texts: list[str], unk: bool, fuse: bool, data: st.DataObject
) -> None:
    names = ["<unk>", *vocab]
    ids = {name: place for place, name in enumerate(names)}
    merges = [
        (ids[name[:cut]], ids[name[cut:]], ids[name])
        for name in vocab
        for cut in range(1, len(name))
        if name[:cut] in ids and name[cut:] in ids
    ]
    merges = data.draw(st.permutations(merges))
    model = CharacterBPE(tuple(n.encode() for n in names), np.array(merges, np.uint32),
                         0 if unk else None, fuse)  # fmt: skip
    agree(model, TEXT_STAGES, texts)


@few_pipelines
@given(pieces, documents)
def test_words(vocab: list[str], texts: list[str]) -> None:
    continuing = [f"##{token}" for token in vocab[::2]]
    tokens = tuple(dict.fromkeys(t.encode() for t in ("[UNK]", *vocab, *continuing)))
    agree(WordPiece(tokens, 0, max_characters=6), WORD_STAGES, texts)
    agree(WordLevel(tokens, 0), WORD_STAGES, texts)
    agree(WordLevel(tokens, None), WORD_STAGES, texts)


@pytest.mark.parametrize("repeats", [1, 7, 10])
def test_short_chunks_that_become_many_tokens(repeats: int) -> None:
    """NFKC makes 18 characters of U+FDFA, so a chunk of a few bytes can have hundreds of ids."""
    letters = sorted({*"abcdefgh ", *unicodedata.normalize("NFKC", "\ufdfa")})
    vocab = ["?", *letters, *("##" + letter for letter in letters)]
    model = WordPiece(tuple(token.encode() for token in vocab), 0, max_characters=1000)
    known = ["\ufdfa" * repeats, "abc", "\ufdfa" + "a" * 20]
    words = [*known, *(f"{a}{b}\ufdfa{c}" for a in "abc" for b in "defg" for c in "abcdefgh")]
    agree(model, [((UnicodeForm("NFKC"),), WhitespaceSplit())], [" ".join([*words, *known])] * 2)


def test_a_long_document_on_several_threads() -> None:
    """Longer than what one thread takes at once; a sum is carried through all of it."""
    rng = np.random.default_rng(7)
    text = "".join(rng.choice(list("aab1- \n中é"), 200_000).tolist()) * 4
    vocab = ["a", "b", "aa", "ab", "ba", "-", "--", "\u2581", "\u2581a", "中", "aab", "11", "1"]
    for kind in (SentencePieceBPE, Unigram):
        for model in scored(kind, vocab, 3):
            pipeline = Pipeline(model, normalizer=(SentencePieceNormalizer(),))
            expected = engine.compile(pipeline)._stepwise.encode_with_spans([text])  # in one piece
            for threads in (1, 2, 3):
                fused = engine.compile(pipeline)  # with empty caches
                assert np.array_equal(fused.encode(text, threads), expected.ids)
                assert_same_places(fused.encode_with_spans([text], threads), expected)


@given(st.integers(0, 2**32 - 1))
def test_sums_that_round(seed: int) -> None:
    """Far from 0 all but equal ways are decided by rounding, and past 100,000 it starts anew."""
    rng = np.random.default_rng(seed)
    vocab = ["a", "aa", "aaa", "b", "ab", "ba", "\u2581", "\u2581a", "b\u2581"]
    scores = -rng.uniform(0.5, 400.0, 10)
    scores[2], scores[3] = 2 * scores[1] + rng.normal(0, 1e-3), 3 * scores[1]
    types = [PieceType.UNKNOWN, *[PieceType.NORMAL] * 9]
    model = Unigram(tuple(v.encode() for v in ("<unk>", *vocab)), scores, np.array(types), 0)
    pipeline = Pipeline(model, normalizer=(SentencePieceNormalizer(),))
    text = "".join(rng.choice(list("aaab c"), 2_000).tolist())
    fused = engine.compile(pipeline)
    expected = ReferenceEncoder(pipeline).encode_with_spans([text])
    assert fused.encode_list(text, 1) == expected.ids.tolist()
    assert_same_places(fused.encode_with_spans([text], 1), expected)


@few_pipelines
@given(documents)
def test_first_steps_on_whole_texts(texts: list[str]) -> None:
    bytes_and_pairs = (*(bytes([byte]) for byte in range(256)), b" a", b"aa", b"a ")
    merges = np.array([[32, 97, 256], [97, 97, 257], [97, 32, 258]], np.uint32)
    space_first = SplitterSequence((LeadingSpace(), PatternSplitter(r"\s+|\S+")))
    agree(BPE(bytes_and_pairs, merges), [((), space_first)], texts)
    model = LongestMatch((b"<unk>", "\u2581".encode(), "\u2581a".encode(), b"b", b"ca"), 0)
    stages: list[tuple[Normalizer, Splitter | None]] = [
        ((Strip(), Lowercase()), Metaspace()),
        ((Replace("ab", "c"), Replace("ca", "1"), Precompiled(CHARSMAP)), WORDS),
        ((Replace("bb", "b"), Strip(right=False), Replace(" a", " "), ONE_SPACE), Metaspace()),
    ]
    agree(model, stages, texts)


def test_a_split_at_replaced_spaces_never_splits() -> None:
    """As in Gemma's tokenizer.json."""
    model = LongestMatch((b"<unk>", "a\u2581b".encode(), b"a", "\u2581".encode(), b" "), 0)
    stages: list[tuple[Normalizer, Splitter | None]] = [
        ((Replace(" ", "\u2581"),), Split(" ", "merged-with-previous", is_regex=False))
    ]
    agree(model, stages, ["a b", " a", "a b  b ", "ba b"])
    for wrong in (Replace("a", "\u2581"), Replace(" ", "- ")):
        pipeline = Pipeline(model, stages[0][1], normalizer=(wrong,))
        assert not isinstance(engine.compile(pipeline), FusedEncoder)


@pytest.mark.parametrize("symbol", ["  ", " \t", " a", "\u2581\u2581", "\u2581\t"])
@pytest.mark.parametrize("removes", [True, False])
def test_the_space_before_a_text_starts_no_protected_symbol(symbol: str, removes: bool) -> None:
    step = SentencePieceNormalizer(CHARSMAP, remove_extra_whitespaces=removes, protected=(symbol,))
    vocab = ["\u2581", " ", "\t", "a"]
    texts = ["".join(each) for size in (1, 2, 3) for each in itertools.product(vocab, repeat=size)]
    models: list[Model] = [LongestMatch((b"<unk>", *(piece.encode() for piece in vocab)), 0)]
    for kind in (SentencePieceBPE, Unigram):
        models += scored(kind, vocab, 1)
    for model in models:
        pipeline = Pipeline(model, None, normalizer=(step,))
        compiled, reference = engine.compile(pipeline), ReferenceEncoder(pipeline)
        assert compiled.encode_texts(texts, 1) == reference.encode_texts(texts)
        assert_same_places(compiled.encode_with_spans(texts, 1), reference.encode_with_spans(texts))


def test_a_split_at_line_breaks_that_no_token_crosses_is_left_out() -> None:
    """As in Gemma 4's vocabulary."""
    vocab = (b"<unk>", b"a", b"b", b"\n", b"ab", b"\n\n", "\u2581".encode(), b"\n\n\n")
    merges = np.array([[1, 2, 4], [3, 3, 5], [5, 3, 7]], np.uint32)
    texts = ["ab\n\n\nab b", "\n", "a\r\nb\n\n", "c\nc c", "\n\n\n\n\n a"]
    mark: Normalizer = (Replace(" ", "\u2581"),)
    for fuse in (False, True):
        model = CharacterBPE(vocab, merges, unk_id=0, fuse_unk=fuse)
        agree(model, [(mark, PatternSplitter(r"[^\n]+|[\n]+"))], texts)
        agree(model, [(mark, PatternSplitter(r"\n+")), (mark, Split(r"(?:\n)+"))], texts)
    crossing = CharacterBPE((*vocab, b"a\n"), np.array([[1, 3, 8]], np.uint32))
    unknown = CharacterBPE((b"<unk>", b"a"), np.empty((0, 3), np.uint32), unk_id=0, fuse_unk=True)
    for other, pattern in ((crossing, r"\n+"), (unknown, r"\n+"), (model, r"\n")):
        pipeline = Pipeline(other, PatternSplitter(pattern), normalizer=mark)
        expected = ReferenceEncoder(pipeline).encode_list("a\n\nb", 1)
        assert engine.compile(pipeline).encode_list("a\n\nb", 1) == expected


def test_protected_symbols_that_never_change_need_no_context() -> None:
    step = SentencePieceNormalizer(charsmap=CHARSMAP, protected=("[x]", "b-", "c c"))
    characters = characters_of((step,))
    assert characters
    assert characters.map(list("[bcax")) == (list("[bcax"), [False, True, True, False, False])
