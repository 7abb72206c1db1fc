"""Unigram, SentencePiece's BPE and BPE on characters, by hand, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kits.pieces import BYTE_PIECES, Piece, model_of
from toksmith.engine.kernel import KernelEncoder
from toksmith.errors import UnknownTokenError
from toksmith.models import CharacterBPE, Model, PieceType, SentencePieceBPE, Unigram
from toksmith.reference.chunk_models import chunk_model

UNK = Piece("<unk>", 0, PieceType.UNKNOWN)
BYTES = [Piece(text, 0, PieceType.BYTE) for text in BYTE_PIECES]
USER, UNUSED = PieceType.USER_DEFINED, PieceType.UNUSED


def tokens(model: Model, text: str) -> list[tuple[str, int, int]]:
    """Return each token's piece and span; both engines must agree."""
    chunk = text.encode()
    found = [tuple(token) for token in chunk_model(model)(chunk)]
    batch, spans = KernelEncoder(model).encode_chunks_with_spans(chunk, np.array([[0, len(chunk)]]))
    assert [(i, *s) for i, s in zip(batch.ids.tolist(), spans.tolist(), strict=True)] == found
    return [(model.vocab[token_id].decode(), start, end) for token_id, start, end in found]


def pieces(model: Model, text: str) -> list[str]:
    return [piece for piece, _, _ in tokens(model, text)]


class TestUnigram:
    MODEL = model_of(
        Unigram,
        [UNK, Piece("a", -2), Piece("b", -3), Piece("ab", -4), Piece("ba", -4), Piece("é", -3)],
    )

    def test_the_best_sum_wins(self) -> None:
        assert tokens(self.MODEL, "ab") == [("ab", 0, 2)]
        assert tokens(self.MODEL, "aba") == [("a", 0, 1), ("ba", 1, 3)]  # -6 either way

    def test_of_equal_sums_the_first_stays(self) -> None:
        # The way to a place that ends with the longest piece is found first.
        model = model_of(Unigram, [UNK, Piece("a", -2), Piece("aa", -4)])
        assert pieces(model, "aa") == ["aa"]
        assert pieces(model, "aaa") == ["a", "aa"]

    def test_spans_are_bytes(self) -> None:
        assert tokens(self.MODEL, "éa") == [("é", 0, 2), ("a", 2, 3)]

    def test_unknown_characters_fuse(self) -> None:
        assert tokens(self.MODEL, "axéyüb") == [
            *[("a", 0, 1), ("<unk>", 1, 2), ("é", 2, 4)],
            *[("<unk>", 4, 7), ("b", 7, 8)],
        ]
        apart = Unigram(
            self.MODEL.vocab, self.MODEL.scores, self.MODEL.types, fuse_unk=False, single=False
        )
        assert tokens(apart, "xy") == [("<unk>", 0, 1), ("<unk>", 1, 2)]

    def test_a_character_is_unknown_only_where_no_piece_is_just_it(self) -> None:
        # "ü" is no piece: "aü" may start with it, or the unknown character may stand at -16.
        model = model_of(Unigram, [UNK, Piece("a", -2), Piece("aü", -6), Piece("bü", -1)])
        assert tokens(model, "aü") == [("aü", 0, 3)]
        assert tokens(model, "üa") == [("<unk>", 0, 2), ("a", 2, 3)]

    def test_byte_fallback(self) -> None:
        model = model_of(Unigram, [UNK, Piece("a", -2), *BYTES])
        assert tokens(model, "aé") == [("a", 0, 1), ("<0xC3>", 1, 2), ("<0xA9>", 2, 3)]

    def test_types(self) -> None:
        rest = [Piece("a", -1), Piece("b", -1), Piece("c", -9)]
        model = model_of(Unigram, [UNK, *rest, Piece("ab", -0.5, UNUSED), Piece("bc", -99, USER)])
        assert pieces(model, "ab") == ["a", "b"]  # unused pieces are not there
        assert pieces(model, "abc") == ["a", "bc"]  # user-defined ones win whatever their score
        assert pieces(model, "<unk>") == ["<unk>"]  # five unknown characters

    def test_control_pieces_are_no_text(self) -> None:
        model = model_of(Unigram, [UNK, Piece("x", 0, PieceType.CONTROL), Piece("a", -1)])
        assert pieces(model, "axa") == ["a", "<unk>", "a"]

    def test_float32_rounds_where_float64_does_not(self) -> None:
        # 700 times -100: float32 then counts in steps of 1/128, and -1.999 is -2.
        vocab = [UNK, Piece("a", -100), Piece("b", -1), Piece("c", -0.999), Piece("bc", -2)]
        single = model_of(Unigram, vocab)
        double = Unigram(single.vocab, single.scores, single.types, single=False)
        text = "a" * 700 + "bc"
        assert pieces(single, text)[700:] == ["bc"]
        assert pieces(double, text)[700:] == ["b", "c"]
        assert pieces(single, "bc") == ["b", "c"]
        assert pieces(single, "a" * 1001 + "bc")[1001:] == ["b", "c"]  # it starts anew at -100,000

    def test_options_as_in_tokenizers(self) -> None:
        vocab = (b"<unk>", b"a", b"xy", b"<s>")
        scores, types = np.array([-1, -2, 30.0, -2]), np.array([1, 1, 1, 1])
        model = Unigram(vocab, scores, types, unk_id=0, single=False)
        assert pieces(model, "a<s>") == ["a", "<s>"]  # what is in the vocabulary is text
        low = Unigram(vocab, np.array([-1, -2, -60.0, -2]), types, unk_id=0, single=False)
        # Two unknown characters at -70 each are worse than "xy" at -60 …
        assert pieces(low, "xy") == ["xy"]
        assert pieces(low, "xyx") == ["xy", "<unk>"]
        high = Unigram(vocab, np.array([40, 40, 30.0, 40]), types, unk_id=0, single=False)
        # … at 20 each better; but then what was fused is looked up once more.
        assert pieces(high, "xy") == ["xy"]
        assert pieces(high, "xyx") == ["<unk>"]

    def test_no_unknown_piece(self) -> None:
        model = Unigram((b"a", b"xy"), np.zeros(2), np.ones(2), unk_id=None, single=False)
        assert pieces(model, "aa") == ["a", "a"]
        for run in (
            chunk_model(model),
            lambda chunk: KernelEncoder(model).encode_list(chunk, 1),
            lambda chunk: KernelEncoder(model).encode_texts([chunk] * 9, 2),
            lambda chunk: KernelEncoder(model).count(chunk, 1),
        ):
            with pytest.raises(UnknownTokenError, match=r"U\+00FC at byte 1 of its chunk"):
                run("aü".encode())


class TestSentencePieceBPE:
    def test_the_best_score_goes_first(self) -> None:
        vocab = [UNK, *[Piece(c, -9) for c in "abc"], Piece("ab", -2), Piece("bc", -1)]
        model = model_of(SentencePieceBPE, vocab)
        assert tokens(model, "abc") == [("a", 0, 1), ("bc", 1, 3)]
        assert pieces(model, "abab") == ["ab", "ab"]

    def test_any_neighbours_that_make_a_piece_merge(self) -> None:
        vocab = [UNK, *[Piece(c, -9) for c in "abcd"]]
        vocab += [Piece("ab", -1), Piece("cd", -2), Piece("abcd", -3), Piece("xyz", 0)]
        model = model_of(SentencePieceBPE, vocab)
        assert pieces(model, "abcd") == ["abcd"]
        assert pieces(model, "xyz") == ["<unk>"]  # no two characters of it make a piece

    def test_equal_scores_go_from_the_left(self) -> None:
        vocab = [UNK, *[Piece(c, 0) for c in "abc"], Piece("ab", 0), Piece("bc", 0), Piece("ca", 0)]
        model = model_of(SentencePieceBPE, vocab)
        assert pieces(model, "abcabc") == ["ab", "ca", "bc"]
        assert pieces(model, "cabca") == ["ca", "bc", "a"]

    def test_user_defined_pieces_are_found_first_and_stay(self) -> None:
        vocab = [UNK, *[Piece(c, -9) for c in "abc"], Piece("ab", 0), Piece("abc", 0)]
        vocab += [Piece("bc", -99, USER), Piece("bca", -99, USER)]
        model = model_of(SentencePieceBPE, vocab)
        assert pieces(model, "abc") == ["a", "bc"]
        assert pieces(model, "abcab") == ["a", "bca", "b"]
        assert tokens(model, "ab") == [("ab", 0, 2)]

    def test_unused_pieces_are_taken_apart(self) -> None:
        vocab = [UNK, *[Piece(c, -9) for c in "abcd"], Piece("ab", -1, UNUSED)]
        vocab += [Piece("abc", -2), Piece("abcd", -3, UNUSED)]
        model = model_of(SentencePieceBPE, vocab)
        assert tokens(model, "ab") == [("a", 0, 1), ("b", 1, 2)]
        assert pieces(model, "abc") == ["abc"]
        assert tokens(model, "abcd") == [("abc", 0, 3), ("d", 3, 4)]

    def test_an_unused_character_is_unknown(self) -> None:
        model = model_of(SentencePieceBPE, [UNK, Piece("a", 0, UNUSED), Piece("ab", 0)])
        assert tokens(model, "abax") == [("ab", 0, 2), ("<unk>", 2, 4)]

    def test_characters_of_pieces_that_are_no_pieces(self) -> None:
        model = model_of(SentencePieceBPE, [UNK, Piece("éa", 0), Piece("b", 0)])
        assert tokens(model, "éabéxa") == [("éa", 0, 3), ("b", 3, 4), ("<unk>", 4, 8)]
        model = model_of(SentencePieceBPE, [UNK, Piece("éa", 0), *BYTES])
        assert tokens(model, "éaé") == [("éa", 0, 3), ("<0xC3>", 3, 4), ("<0xA9>", 4, 5)]


class TestCharacterBPE:
    VOCAB = (b"<unk>", b"a", b"b", b"ab", b"##a", b"##b", b"##ba", b"b</w>", b"ab</w>", b"<0xC3>")

    def make(self, *merges: tuple[str, str, str], **options: object) -> CharacterBPE:
        ids = {token.decode(): i for i, token in enumerate(self.VOCAB)}
        rows = np.array([[ids[each] for each in merge] for merge in merges], np.uint32)
        return CharacterBPE(self.VOCAB, rows.reshape(-1, 3), **options)

    def test_merges_by_rank(self) -> None:
        model = self.make(("a", "b", "ab"))
        assert tokens(model, "abba") == [("ab", 0, 2), ("b", 2, 3), ("a", 3, 4)]

    def test_unknown_characters(self) -> None:
        merges = ("a", "b", "ab")
        assert tokens(self.make(merges), "axb") == [("ab", 0, 3)]  # without unk_id it is dropped
        assert pieces(self.make(merges, unk_id=0), "xya") == ["<unk>", "<unk>", "a"]
        fused = self.make(merges, unk_id=0, fuse_unk=True)
        assert tokens(fused, "üya") == [("<unk>", 0, 3), ("a", 3, 4)]

    def test_unknown_may_merge(self) -> None:
        model = self.make(("<unk>", "a", "b"), unk_id=0)
        assert tokens(model, "xab") == [("b", 0, 2), ("b", 2, 3)]

    def test_prefix_and_suffix(self) -> None:
        prefixed = self.make(("##b", "##a", "##ba"), ("a", "##b", "ab"), continuing_prefix="##")
        assert tokens(prefixed, "aba") == [("a", 0, 1), ("##ba", 1, 3)]
        assert pieces(prefixed, "ab") == ["ab"]
        suffixed = self.make(("a", "b</w>", "ab</w>"), ("a", "b", "ab"), word_suffix="</w>")
        assert tokens(suffixed, "abab") == [("ab", 0, 2), ("ab</w>", 2, 4)]
        assert pieces(suffixed, "b") == ["b</w>"]

    def test_bytes_need_all_of_a_character(self) -> None:
        model = self.make(unk_id=0, byte_fallback=True)
        assert pieces(model, "é") == ["<unk>"]  # <0xA9> is missing
        vocab = (*self.VOCAB, b"<0xA9>")
        model = CharacterBPE(vocab, model.merges, unk_id=0, byte_fallback=True)
        assert tokens(model, "é") == [("<0xC3>", 0, 1), ("<0xA9>", 1, 2)]
        # An unknown character waits for the next that is known, and bytes go before it.
        assert tokens(model, "xéa") == [
            *[("<0xC3>", 1, 2), ("<0xA9>", 2, 3), ("<unk>", 0, 1), ("a", 3, 4)],
        ]

    def test_the_whole_chunk_first(self) -> None:
        assert pieces(self.make(whole_chunk_first=True), "##ba") == ["##ba"]
        assert pieces(self.make(unk_id=0), "##ba") == ["<unk>", "<unk>", "b", "a"]
