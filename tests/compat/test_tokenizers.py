"""toksmith.compat.tokenizers against tokenizers: the same calls, the same results."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers as theirs

from toksmith.compat import tokenizers as ours
from toksmith.compat.tokenizers.compiled import Compiled

Make = Callable[[Any], Any]
TEXTS = ["low lower", "a newest wide low", "", " wider  [M]low", "Tow é low"]
WORDS = ["low", "lower", "newest", "wide", "wider", "a"]


def bpe(lib: Any) -> Any:
    vocab = {token: i for i, token in enumerate("lowernstaid ")}
    for token in ("lo", "low", "er", "es", "est", "<unk>"):
        vocab[token] = len(vocab)
    merges = [("l", "o"), ("lo", "w"), ("e", "r"), ("e", "s"), ("es", "t")]
    tok = lib.Tokenizer(lib.models.BPE(vocab, merges, unk_token="<unk>"))
    tok.add_special_tokens(["<s>", "</s>"])
    return tok


def byte_level(lib: Any) -> Any:
    vocab = {token: i for i, token in enumerate(lib.pre_tokenizers.ByteLevel.alphabet())}
    vocab = dict.fromkeys(sorted(vocab))
    vocab = {token: i for i, token in enumerate([*vocab, "lo", "low", "Ġlow"])}
    merges = [("l", "o"), ("lo", "w"), ("Ġ", "low")]
    tok = lib.Tokenizer(lib.models.BPE(vocab, merges))
    tok.pre_tokenizer = lib.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = lib.decoders.ByteLevel()
    tok.add_special_tokens(["<s>", "</s>"])
    tok.post_processor = lib.processors.RobertaProcessing(
        ("</s>", tok.token_to_id("</s>")), ("<s>", tok.token_to_id("<s>")), add_prefix_space=False
    )
    return tok


def word_piece(lib: Any) -> Any:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "low", "##er", "new", "##est", "wide", "##r", "a"]
    tok = lib.BertWordPieceTokenizer({token: i for i, token in enumerate(tokens)})._tokenizer
    tok.add_tokens([lib.AddedToken("[M]", lstrip=True)])
    return tok


def unigram(lib: Any) -> Any:
    pieces = [("<unk>", 0.0), ("▁", -2.0), ("▁low", -1.0), ("er", -2.0), ("l", -5.0), ("o", -5.0),
              ("w", -5.0), ("e", -5.5), ("r", -6.0), ("▁new", -3.0), ("est", -3.0)]  # fmt: skip
    tok = lib.Tokenizer(lib.models.Unigram(pieces, unk_id=0))
    tok.normalizer = lib.normalizers.Sequence([lib.normalizers.NFKC(), lib.normalizers.Lowercase()])
    tok.pre_tokenizer = lib.pre_tokenizers.Metaspace()
    tok.decoder = lib.decoders.Metaspace()
    tok.add_special_tokens(["</s>"])
    tok.post_processor = lib.processors.TemplateProcessing(
        "$A </s>", "$A </s> $B:1 </s>:1", [("</s>", tok.token_to_id("</s>"))]
    )
    return tok


def word_level(lib: Any) -> Any:
    ids = {word: i for i, word in enumerate([*WORDS, "[UNK]"])}
    tok = lib.Tokenizer(lib.models.WordLevel(ids, unk_token="[UNK]"))
    tok.pre_tokenizer = lib.pre_tokenizers.Whitespace()
    return tok


KINDS = [bpe, byte_level, word_piece, unigram, word_level]


def state(encoding: Any) -> Any:
    """Return everything that an encoding holds.

    But what tokenizers repeats inside of overflowing encodings, and the texts of their tokens,
    which it loses without a post-processor.
    """
    held = json.loads(encoding.__getstate__())
    held["sequence_ids"] = encoding.sequence_ids
    for each in held["overflowing"]:
        del each["overflowing"], each["sequence_ranges"]
    return held


def same(make: Make, call: Callable[[Any], Any]) -> None:
    """Check that a call gives the same encodings."""
    mine, peer = (call(make(lib)) for lib in (ours, theirs))
    mine, peer = (each if isinstance(each, list) else [each] for each in (mine, peer))
    assert list(map(state, mine)) == list(map(state, peer))


@pytest.mark.parametrize("make", KINDS)
def test_the_kernel_encodes(make: Make) -> None:
    engine = make(ours).engine()
    assert isinstance(engine, Compiled)
    assert engine.frames
    assert engine.tokenizer.engine.startswith("kernel")


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("special", [True, False])
def test_texts_words_and_pairs(make: Make, special: bool) -> None:
    same(make, lambda tok: tok.encode_batch(TEXTS, add_special_tokens=special))
    same(make, lambda tok: tok.encode("low lower", "wide", add_special_tokens=special))
    same(make, lambda tok: tok.encode_batch([("low", "wide a"), "newest", ["a", "low"]]))
    same(make, lambda tok: tok.encode(WORDS, is_pretokenized=True))
    same(make, lambda tok: tok.encode(WORDS, ["low", "a"], is_pretokenized=True))
    fast = make(ours).encode_batch_fast(TEXTS, add_special_tokens=special)
    assert [each.ids for each in fast] == [
        each.ids for each in make(theirs).encode_batch_fast(TEXTS, add_special_tokens=special)
    ]
    assert fast[0].offsets == [(0, 0)] * len(fast[0])
    same(make, lambda tok: tok.encode_batch(np.array(["low", "wide low"])))


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("direction", ["left", "right"])
def test_truncation_and_padding(make: Make, direction: str) -> None:
    def cut(tok: Any, **options: Any) -> Any:
        tok.enable_truncation(7, direction=direction, **options)
        tok.enable_padding(direction=direction, pad_id=1, pad_type_id=2, pad_token="[P]")
        return tok

    same(make, lambda tok: cut(tok).encode_batch(TEXTS))
    same(make, lambda tok: cut(tok, stride=1).encode("low lower newest wide a"))
    same(make, lambda tok: cut(tok).encode("low lower newest", "wide a low low"))
    same(make, lambda tok: cut(tok).encode(WORDS, is_pretokenized=True))

    def padded(tok: Any) -> Any:
        tok.enable_padding(pad_to_multiple_of=4)
        return tok.encode_batch(["low", "lower wide", ("a", "low")])

    same(make, padded)


@pytest.mark.parametrize("strategy", ["only_first", "only_second"])
def test_one_side_is_cut(strategy: str) -> None:
    def cut(tok: Any) -> Any:
        tok.enable_truncation(6, strategy=strategy)
        return tok.encode("low low low", "low low wide a")

    same(word_level, cut)
    for lib in (ours, theirs):
        tok = word_level(lib)
        tok.enable_truncation(2, strategy=strategy)
        with pytest.raises(Exception, match="Truncation error: Sequence to truncate too short"):
            tok.encode("low low", "low low")
        tok.enable_truncation(1, strategy="only_second")
        with pytest.raises(Exception, match="Truncation error: Second sequence not provided"):
            tok.encode("low low")


@pytest.mark.parametrize("make", KINDS)
def test_a_tokenizer_is_written_and_read(make: Make, tmp_path: Path) -> None:
    mine, peer = make(ours), make(theirs)
    for tok in (mine, peer):
        tok.enable_truncation(9, stride=2)
        tok.enable_padding(length=3)
    assert mine.to_str() == peer.to_str()
    assert mine.to_str(pretty=True) == peer.to_str(pretty=True)
    assert repr(mine) == repr(peer)
    assert str(mine) == str(peer)
    assert mine.truncation == peer.truncation
    assert mine.padding == peer.padding
    mine.save(str(tmp_path / "tokenizer.json"))
    again = ours.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for other in (again, pickle.loads(pickle.dumps(mine)), copy.deepcopy(mine)):
        assert other.to_str() == peer.to_str()
        assert other.encode("low wide").ids == peer.encode("low wide").ids
    assert ours.Tokenizer.from_buffer(peer.to_str().encode()).to_str() == peer.to_str()


@pytest.mark.parametrize("make", KINDS)
def test_vocabulary_and_decoding(make: Make) -> None:
    mine, peer = make(ours), make(theirs)
    assert mine.get_vocab() == peer.get_vocab()
    assert mine.get_vocab_size() == peer.get_vocab_size()
    assert mine.get_vocab(with_added_tokens=False) == peer.get_vocab(with_added_tokens=False)
    assert mine.num_special_tokens_to_add(True) == peer.num_special_tokens_to_add(True)
    for token_id in range(peer.get_vocab_size() + 2):
        assert mine.id_to_token(token_id) == peer.id_to_token(token_id)
    assert mine.token_to_id("no such token") is None
    for text in TEXTS:
        ids = peer.encode(text).ids
        for skip in (True, False):
            assert mine.decode(ids, skip) == peer.decode(ids, skip)
            assert mine.decode([*ids, 999], skip) == peer.decode([*ids, 999], skip)


def test_added_tokens_are_numbered_and_matched_alike() -> None:
    def make(lib: Any) -> Any:
        tok = bpe(lib)
        tok.normalizer = lib.normalizers.Lowercase()
        assert tok.add_tokens(["LOW", lib.AddedToken("Wide", normalized=False), "", "est"]) == 3
        assert tok.add_tokens(["LOW"]) == 0
        assert tok.add_tokens([lib.AddedToken("X", lstrip=True, rstrip=True)]) == 1
        assert tok.add_special_tokens(["[new]", "x"]) == 2
        return tok

    mine, peer = make(ours), make(theirs)
    assert mine.to_str() == peer.to_str()
    assert [mine.id_to_token(i) for i in range(25)] == [peer.id_to_token(i) for i in range(25)]
    for text in ("low LOW wide Wide x  X  a", "a[new]LOW<s>"):
        assert state(mine.encode(text)) == state(peer.encode(text))
    mine.encode_special_tokens = peer.encode_special_tokens = True
    assert state(mine.encode("[new] x")) == state(peer.encode("[new] x"))
    shown = {i: repr(token) for i, token in peer.get_added_tokens_decoder().items()}
    assert {i: repr(token) for i, token in mine.get_added_tokens_decoder().items()} == shown


def test_a_component_that_changes_counts_at_once() -> None:
    tok = word_level(ours)
    assert tok.encode("low LOW").tokens == ["low", "[UNK]"]
    tok.normalizer = ours.normalizers.Sequence([ours.normalizers.NFC()])
    assert tok.encode("low LOW").tokens == ["low", "[UNK]"]
    tok.normalizer[0] = ours.normalizers.Lowercase()
    assert tok.encode("low LOW").tokens == ["low", "low"]
    tok.model.unk_token = "a"
    assert tok.encode("low x").tokens == ["low", "a"]
    tok.post_processor = ours.processors.BertProcessing(("a", 5), ("wide", 3))
    tok.post_processor.sep = ("low", 0)
    assert tok.encode("newest").tokens == ["wide", "newest", "low"]


def test_components_in_python_run_step_by_step() -> None:
    class Halves:
        def pre_tokenize(self, pretok: Any) -> None:
            pretok.split(lambda _, text: text.split(" ", "removed"))

    class Louder:
        def normalize(self, normalized: Any) -> None:
            normalized.replace("!", "")
            normalized.lowercase()

    class Joined:
        def decode_chain(self, tokens: list[str]) -> list[str]:
            return [f"{token}-" for token in tokens]

    def make(lib: Any) -> Any:
        tok = word_level(lib)
        tok.pre_tokenizer = lib.pre_tokenizers.PreTokenizer.custom(Halves())
        tok.normalizer = lib.normalizers.Normalizer.custom(Louder())
        tok.decoder = lib.decoders.Decoder.custom(Joined())
        tok.post_processor = lib.processors.BertProcessing(("a", 5), ("wide", 3))
        tok.add_tokens([lib.AddedToken("[M]", lstrip=True), lib.AddedToken("WIDE")])
        return tok

    same(make, lambda tok: tok.encode_batch(["LOW! wide", "a [M]low", ("low", "wide WIDE")]))
    same(make, lambda tok: tok.encode(["Low", "wide!"], is_pretokenized=True))
    assert make(ours).decode([0, 5]) == make(theirs).decode([0, 5]) == "low-a-"
    with pytest.raises(Exception, match="cannot be serialized"):
        make(ours).to_str()


def test_encodings_are_looked_up_padded_cut_and_merged() -> None:
    def looked_up(lib: Any) -> Any:
        encoding = word_piece(lib).encode("newest low", "wider")
        places = range(9)
        return [
            [encoding.token_to_sequence(i) for i in places],
            [encoding.token_to_chars(i) for i in places],
            [encoding.token_to_word(i) for i in places],
            [encoding.char_to_token(i, s) for s in (0, 1) for i in places],
            [encoding.char_to_word(i, s) for s in (0, 1) for i in places],
            [encoding.word_to_tokens(i, s) for s in (0, 1) for i in places],
            [encoding.word_to_chars(i, s) for s in (0, 1) for i in places],
            encoding.n_sequences,
            len(encoding),
            repr(encoding),
        ]

    assert looked_up(ours) == looked_up(theirs)

    def changed(lib: Any) -> list[Any]:
        tok = word_piece(lib)
        first, second = tok.encode("newest low wider"), tok.encode("low", "a")
        found = [lib.Encoding.merge([first, second]), lib.Encoding.merge([second, first], False)]
        first.pad(12, direction="left", pad_id=7, pad_token="<p>")
        second.truncate(3, stride=1)
        found += [first, second, pickle.loads(pickle.dumps(second))]
        third = tok.encode("low wider a a")
        third.truncate(4, direction="left")
        third.set_sequence_id(1)
        return [*found, third, tok.post_process(tok.encode("low", add_special_tokens=False))]

    assert list(map(state, changed(ours))) == list(map(state, changed(theirs)))
    with pytest.raises(ValueError, match="Invalid truncation direction value : up"):
        ours.Encoding().truncate(1, direction="up")


def test_models_write_their_files_and_read_them(tmp_path: Path) -> None:
    def files(lib: Any, folder: Path) -> dict[str, str]:
        folder.mkdir()
        models = lib.models
        for model in (
            models.BPE({"a": 0, "é": 1, "aé": 2}, [("a", "é")]),
            models.WordPiece({"a": 0, "##b": 1}),
            models.Unigram([("<unk>", 0.0), ("é", -1.5)], unk_id=0),
        ):
            assert model.save(str(folder))
            assert model.save(str(folder), "p")
        assert models.BPE.from_file(f"{folder}/vocab.json", f"{folder}/merges.txt").token_to_id("é")
        assert models.BPE.read_file(f"{folder}/vocab.json", f"{folder}/merges.txt")[1]
        assert models.WordPiece.from_file(f"{folder}/vocab.txt").id_to_token(1) == "##b"
        assert models.WordLevel.read_file(f"{folder}/vocab.json")["aé"] == 2
        return {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir()}

    assert files(ours, tmp_path / "ours") == files(theirs, tmp_path / "theirs")


def test_models_tokenize_words() -> None:
    def tokens(lib: Any) -> list[Any]:
        models = lib.models
        found = []
        for model in (
            models.BPE({"a": 0, "b": 1, "ab": 2, "<u>": 3}, [("a", "b")], unk_token="<u>"),
            models.BPE({"a": 0, "b</w>": 1, "?": 2}, [], unk_token="?", end_of_word_suffix="</w>"),
            models.WordPiece({"a": 0, "##b": 1, "[UNK]": 2}),
            models.WordLevel({"ab": 0, "u": 1}, unk_token="u"),
            models.Unigram([("?", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -1.5)], unk_id=0),
            models.Unigram([("?", 0.0), ("a", -1.0), ("<0xC3>", -1.0), ("<0xA9>", -1.5)], 0, True),
        ):
            words = ("ab", "aéb", "aé", "a")
            found += [[token.as_tuple() for token in model.tokenize(word)] for word in words]
            found += [repr(model), str(model), model.__getstate__()]
        return found

    assert tokens(ours) == tokens(theirs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda lib: lib.models.WordLevel({"a": 0}), "WordLevel error: Missing"),
        (lambda lib: lib.models.WordPiece({"a": 0}), "WordPiece error: Missing"),
        (lambda lib: lib.models.BPE({"a": 0}, [], unk_token="u"), "Unk token `u` not found"),
        (lambda lib: lib.models.Unigram([("a", 0.0)]), "`unk_id` is missing"),
    ],
)
def test_unknown_words_fail_without_an_unknown_token(make: Make, message: str) -> None:
    for lib in (ours, theirs):
        tok = lib.Tokenizer(make(lib))
        assert tok.encode("a").tokens == ["a"]
        for call in (tok.encode, tok.model.tokenize):
            with pytest.raises(Exception, match=message):
                call("ba")


CORPUS = ["low lower lowest", "the newest and the widest", "wider wide, new newer aaaa aaa"] * 2


@pytest.mark.parametrize(
    ("model", "trainer", "splitter", "options"),
    [
        ("BPE", "BpeTrainer", "Whitespace", {"special_tokens": ["<s>"], "min_frequency": 3}),
        ("BPE", "BpeTrainer", "ByteLevel", {"vocab_size": 60, "initial_alphabet": ["é", "xy"]}),
        ("BPE", "BpeTrainer", None, {"vocab_size": 50, "limit_alphabet": 12}),
        ("BPE", "BpeTrainer", "Metaspace", {"max_token_length": 4}),
        ("WordLevel", "WordLevelTrainer", "Digits", {"special_tokens": ["[UNK]", "low"]}),
    ],
)
def test_training_learns_the_same(
    model: str, trainer: str, splitter: str | None, options: dict[str, Any]
) -> None:
    def trained(lib: Any) -> str:
        tok = lib.Tokenizer(getattr(lib.models, model)())
        if splitter is not None:
            tok.pre_tokenizer = getattr(lib.pre_tokenizers, splitter)()
        made = getattr(lib.trainers, trainer)(show_progress=False, **options)
        tok.train_from_iterator([CORPUS[0], CORPUS[1:]], made)
        text: str = tok.to_str()
        return text

    assert trained(ours) == trained(theirs)


def test_trainers_have_their_settings() -> None:
    for name in ("BpeTrainer", "WordPieceTrainer", "WordLevelTrainer", "UnigramTrainer"):
        mine, peer = (
            getattr(lib.trainers, name)(vocab_size=77, special_tokens=["a", lib.AddedToken("b")])
            for lib in (ours, theirs)
        )
        assert repr(mine) == repr(peer)
        assert mine.__getstate__() == peer.__getstate__()
        mine.vocab_size = 88
        assert pickle.loads(pickle.dumps(mine)).vocab_size == 88
    with pytest.raises(Exception, match="UnigramTrainer can only train a Unigram"):
        bpe(ours).train_from_iterator(["a"], ours.trainers.UnigramTrainer())


@pytest.mark.parametrize(
    "name",
    [
        "BertWordPieceTokenizer",
        "ByteLevelBPETokenizer",
        "CharBPETokenizer",
        "SentencePieceBPETokenizer",
    ],
)
def test_ready_made_tokenizers(name: str) -> None:
    def trained(lib: Any) -> list[Any]:
        tok = getattr(lib, name)()
        tok.train_from_iterator(CORPUS, vocab_size=400, min_frequency=1, show_progress=False)
        encoding = tok.encode("the lowest wide newer")
        return [repr(tok), encoding.tokens, encoding.offsets, tok.decode(encoding.ids)]

    assert trained(ours) == trained(theirs)


def test_decoders_and_processors_show_and_keep_their_settings() -> None:
    def made(lib: Any) -> list[Any]:
        decoders, processors = lib.decoders, lib.processors
        return [
            decoders.Sequence([decoders.Replace("_", " "), decoders.Strip(" ", 1, 0)]),
            decoders.WordPiece("@@", cleanup=False),
            decoders.CTC(),
            decoders.Metaspace("-", "never"),
            decoders.BPEDecoder(),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.ByteLevel(),
            processors.BertProcessing(("a", 1), ("b", 2)),
            processors.Sequence([processors.ByteLevel(), processors.ByteLevel(False)]),
            processors.TemplateProcessing(
                ["[C]", "$0", "Q"],
                "[C]:3 $A $B:1",
                [("[C]", 1), {"id": "Q", "ids": [5, 6], "tokens": ["x", "y"]}],
            ),
        ]

    for mine, peer in zip(made(ours), made(theirs), strict=True):
        assert repr(mine) == repr(peer)
        assert mine.__getstate__() == peer.__getstate__()
        assert repr(pickle.loads(pickle.dumps(mine))) == repr(peer)
        if hasattr(peer, "decode"):
            tokens = ["_My", "na@@", "-me", "I", "'m", "<0x41>", "lo</w>", "lo</w>", "Ġĉ"]
            assert mine.decode(tokens) == peer.decode(tokens)
    with pytest.raises(ValueError, match="Missing SpecialToken"):
        ours.processors.TemplateProcessing("[C] $A")
    with pytest.raises(ValueError, match="Cannot build Piece"):
        ours.processors.TemplateProcessing("$A:")
    with pytest.raises(IndexError):
        made(ours)[0][2]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda tok: tok.encode(1), TypeError, "TextInputSequence must be str"),
        (lambda tok: tok.encode("a", is_pretokenized=True), TypeError, "InputSequence must be"),
        (lambda tok: tok.encode_batch("ab"), TypeError, "Can't extract `str` to `Vec`"),
        (lambda tok: tok.encode_batch([("a", "b", "c")]), TypeError, "TextEncodeInput must be"),
        (lambda tok: tok.decode("a"), TypeError, "Can't extract `str` to `Vec`"),
        (lambda tok: tok.add_tokens([1]), TypeError, "Input must be a List"),
        (lambda tok: tok.add_tokens("ab"), TypeError, "is not an instance of 'list'"),
        (lambda tok: tok.add_special_tokens("ab"), TypeError, "is not an instance of 'list'"),
        (lambda tok: tok.enable_truncation(3, stride=5), ValueError, "tokenizer stride set to 5"),
        (lambda tok: tok.enable_truncation(3, strategy="x"), ValueError, "Unknown `strategy`: `x`"),
        (lambda tok: tok.enable_padding(direction="x"), ValueError, "Unknown `direction`: `x`"),
        (lambda tok: tok.from_str("{}"), Exception, "Model missing"),
        (lambda tok: tok.from_buffer(b"x"), ValueError, "Cannot instantiate Tokenizer"),
        (lambda tok: type(tok)(1), TypeError, "is not an instance of 'Model'"),
    ],
)
def test_wrong_calls_fail_alike(
    call: Callable[[Any], Any], kind: type[Exception], message: str
) -> None:
    for lib in (ours, theirs):
        with pytest.raises(kind, match=message):
            call(bpe(lib))


def test_calls_run_in_threads_for_coroutines() -> None:
    tok = bpe(ours)

    async def run() -> list[Any]:
        return [
            (await tok.async_encode("low")).ids,
            [each.ids for each in await tok.async_encode_batch(TEXTS)],
            await tok.async_decode_batch([[0, 1]]),
        ]

    batch = [each.ids for each in tok.encode_batch(TEXTS)]
    assert asyncio.run(run()) == [tok.encode("low").ids, batch, ["l o"]]
