"""Tokenizers to and from bytes, spelled tokens, framed ids, scores, and normalized text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import toksmith
from tests.kits import gguf
from tests.kits.pipelines import PIPELINES
from toksmith import Tokenizer, normalizers
from toksmith.decoders import BPEDecoder, ByteFallback, Fuse, Replace, Strip
from toksmith.errors import FormatError, OptionError, UnknownTokenError, UnsupportedError
from toksmith.framing import Framing, Template, TextPart, TokenPart
from toksmith.models import WordLevel
from toksmith.pipeline import Pipeline

TEXT = "low lower lowest é"
BPE = toksmith.train(texts=[TEXT], vocab_size=262, split="gpt2", special_tokens=["<|end|>"])
UNIGRAM = toksmith.train(texts=[TEXT] * 9, model="sentencepiece-unigram", vocab_size=16)
WORDPIECE = toksmith.train(
    texts=[TEXT] * 9, model="wordpiece", vocab_size=20, special_tokens=["[UNK]", "[CLS]", "[SEP]"]
)


class TestLoadsAndDumps:
    @pytest.mark.parametrize(
        ("tok", "kind"),
        [
            (BPE, "huggingface"),
            (BPE, "minbpe"),
            (UNIGRAM, "sentencepiece"),
            (WORDPIECE, "huggingface"),
        ],
    )
    def test_round_trip(self, tok: Tokenizer, kind: str) -> None:
        data = tok.dumps(kind)
        assert isinstance(data, bytes)
        for given in (data, bytearray(data), memoryview(data)):
            assert toksmith.loads(given) == tok
        assert toksmith.loads(data, format=kind).dumps(kind) == data

    def test_dumps_is_the_main_file_of_save(self, tmp_path: Path) -> None:
        for tok, kind, name in (
            (BPE, "huggingface", "a.json"),
            (BPE, "tiktoken", "a.tiktoken"),
            (BPE, "minbpe", "a.model"),
            (UNIGRAM, "sentencepiece", "b.model"),
        ):
            tok.save(tmp_path / name, format=kind)
            assert tok.dumps(kind) == (tmp_path / name).read_bytes()

    def test_text(self) -> None:
        assert toksmith.loads(BPE.dumps().decode()) == BPE
        assert BPE.dumps() == BPE.dumps("huggingface")

    def test_ranks_need_a_split(self) -> None:
        data = BPE.dumps("tiktoken")
        special = {"<|end|>": BPE.token_id("<|end|>")}
        tok = toksmith.loads(data, split="gpt2", special_tokens=special)
        assert tok.encode(TEXT) == BPE.encode(TEXT)
        with pytest.raises(FormatError, match=r"<data>: a \.tiktoken file holds neither split"):
            toksmith.loads(data)

    def test_files_beside_it_are_not_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("<data>.json").write_text("[]")
        Path("tokenizer_config.json").write_text("[]")
        with pytest.raises(FormatError, match="holds neither split"):
            toksmith.loads(BPE.dumps("tiktoken"))
        words = toksmith.loads("[PAD]\n[UNK]\nlow\n##er\n")
        assert words.encode("lower") == [2, 3]

    def test_gguf(self) -> None:
        data = gguf.gguf(gguf.converted(BPE.pipeline))
        assert toksmith.loads(data).encode(TEXT) == BPE.encode(TEXT)

    def test_errors(self) -> None:
        with pytest.raises(FormatError, match="<data>: the content is of none of the known"):
            toksmith.loads(b"nothing known")
        with pytest.raises(FormatError, match="<data>: the file is empty"):
            toksmith.loads(b"")
        with pytest.raises(FormatError, match="one of GPT-2's two files"):
            toksmith.loads('{"!": 0, "\\"": 1}')
        with pytest.raises(OptionError, match="data is 5: use the content of a file"):
            toksmith.loads(5)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="unknown format 'hf'"):
            toksmith.loads(b"x", format="hf")
        with pytest.raises(OptionError, match="unknown format 'hf'"):
            BPE.dumps("hf")
        with pytest.raises(UnsupportedError, match=r"two files: save\(folder"):
            BPE.dumps("gpt2")
        with pytest.raises(UnsupportedError):
            UNIGRAM.dumps("minbpe")


class TestSpellings:
    def test_bytes_are_spelled_in_the_printable_alphabet(self) -> None:
        assert BPE.spelling(0) == "Ā"
        assert BPE.spelling(32) == "Ġ"
        assert BPE.spelling(BPE.token_id(" low")) == "Ġlow"
        assert BPE.spelling(BPE.token_id("<|end|>")) == "<|end|>"
        assert BPE.id_of_spelling("Ġlow") == BPE.token_id(" low")

    def test_pieces_and_words_as_they_are(self) -> None:
        assert UNIGRAM.spelling(UNIGRAM.encode("low")[0]) == "▁low"
        assert WORDPIECE.id_of_spelling("##o") == WORDPIECE.token_id("##o")

    @pytest.mark.parametrize("tok", [BPE, UNIGRAM, WORDPIECE])
    def test_there_and_back(self, tok: Tokenizer) -> None:
        assert len(tok.spellings) == len(tok)
        for token_id, spelling in enumerate(tok.spellings):
            assert tok.spelling(token_id) == spelling
            assert tok.id_of_spelling(spelling) == token_id

    def test_they_are_those_of_the_file(self) -> None:
        import json

        for tok in (BPE, WORDPIECE):
            held = json.loads(tok.dumps())
            ids = held["model"]["vocab"] | {t["content"]: t["id"] for t in held["added_tokens"]}
            assert ids == {spelling: i for i, spelling in enumerate(tok.spellings)}

    def test_the_longest_match_of_bytes(self) -> None:
        assert BPE.with_matching("longest").spellings == BPE.spellings

    def test_errors(self) -> None:
        for wrong in (-1, len(BPE)):
            with pytest.raises(UnknownTokenError, match="no token has id"):
                BPE.spelling(wrong)
        with pytest.raises(UnknownTokenError, match="no token of this vocabulary is spelled ' low"):
            BPE.id_of_spelling(" low")
        with pytest.raises(OptionError, match="spelling is b'low': use a str"):
            BPE.id_of_spelling(b"low")  # type: ignore[arg-type]
        gap = BPE.with_special_tokens({"<|far|>": 300})
        assert gap.spellings[299] == ""
        with pytest.raises(UnknownTokenError):
            gap.spelling(299)
        with pytest.raises(UnknownTokenError):
            gap.id_of_spelling("")


class TestNormalize:
    LOWER = Tokenizer(
        Pipeline(
            WordLevel((b"a",)),
            normalizer=(normalizers.UnicodeForm("NFD"), normalizers.Lowercase()),
        )
    )

    def test_places_are_characters_of_the_text(self) -> None:
        text, places = self.LOWER.normalize("aÉb", offsets=True)
        assert text == "ae\u0301b"
        assert places.tolist() == [[0, 1], [1, 2], [1, 2], [2, 3]]
        assert self.LOWER.normalize("aÉb") == text

    def test_sentencepiece(self) -> None:
        text, places = UNIGRAM.normalize("  low  é ", offsets=True)
        assert text == "▁low▁é"
        assert places.dtype == np.int64
        assert [("  low  é "[a:b]).strip() for a, b in places.tolist()][1:4] == ["l", "o", "w"]

    def test_invalid_bytes_and_surrogates(self) -> None:
        assert self.LOWER.normalize(b"A\xffB") == "a\ufffdb"
        assert BPE.normalize(b"A\xff", offsets=True)[0] == "A\ufffd"
        text, places = self.LOWER.normalize("\ud83d\ude00A", offsets=True)
        assert (text, places.tolist()) == ("😀a", [[0, 2], [2, 3]])

    @pytest.mark.parametrize("name", PIPELINES)
    def test_both_forms_agree(self, name: str) -> None:
        tok = Tokenizer(PIPELINES[name])
        for text in (TEXT, "", " Low\tÄ. ", "ﬁ日本 e\u0301"):
            found, places = tok.normalize(text, offsets=True)
            assert tok.normalize(text) == found
            assert places.shape == (len(found), 2)
            assert (places[:, 0] <= places[:, 1]).all()
            assert places.max(initial=0) <= len(text)

    def test_wrong_text(self) -> None:
        with pytest.raises(OptionError, match="a text is a str or UTF-8 bytes"):
            BPE.normalize(5)  # type: ignore[call-overload]


class TestDecodeSpans:
    def test_divided_characters_belong_to_each_token(self) -> None:
        ids = [*BPE.encode("low"), 0xC3, 0xA9, 33]
        assert BPE.decode_spans(ids)[0] == "lowé!"
        assert BPE.decode_spans(ids)[1].tolist()[-3:] == [[3, 4], [3, 4], [4, 5]]

    def test_invalid_bytes(self) -> None:
        ids = [0xE6, 0x97, 97, 0xFF, 0xA9]
        text, spans = BPE.decode_spans(ids)
        assert text == BPE.decode(ids) == "\ufffda\ufffd\ufffd"
        assert spans.tolist() == [[0, 1], [0, 1], [1, 2], [2, 3], [3, 4]]
        text, spans = BPE.decode_spans(ids, errors="ignore")
        assert (text, spans.tolist()) == ("a", [[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]])
        with pytest.raises(UnicodeDecodeError):
            BPE.decode_spans(ids, errors="strict")
        with pytest.raises(OptionError, match="errors is 'zzz'"):
            BPE.decode_spans(ids, errors="zzz")

    def test_none(self) -> None:
        text, spans = BPE.decode_spans([])
        assert (text, spans.shape) == ("", (0, 2))

    def test_unknown_id(self) -> None:
        with pytest.raises(UnknownTokenError, match="ids go from 0 to 261"):
            BPE.decode_spans([262])

    def test_pieces(self) -> None:
        ids = UNIGRAM.encode("low lower")
        text, spans = UNIGRAM.decode_spans(ids)
        assert text == UNIGRAM.decode(ids) == "low lower"
        assert [text[a:b] for a, b in spans.tolist()] == ["low", " lower"]

    def test_byte_pieces(self) -> None:
        tokens = (b"<0xC3>", b"<0xA9>", "▁a".encode(), b"<0x41>")
        steps = (Replace("▁", " "), ByteFallback(), Fuse(), Strip(" ", 1, 0))
        tok = Tokenizer(Pipeline(WordLevel(tokens), decoder=steps))
        text, spans = tok.decode_spans([2, 0, 1, 3, 2])
        assert (text, spans.tolist()) == ("aéA a", [[0, 1], [1, 2], [1, 2], [2, 3], [3, 5]])
        text, spans = tok.decode_spans([2, 0, 3])
        assert (text, spans.tolist()) == ("a\ufffd\ufffd", [[0, 1], [1, 2], [2, 3]])

    @pytest.mark.parametrize("name", PIPELINES)
    def test_text_is_that_of_decode(self, name: str) -> None:
        tok = Tokenizer(PIPELINES[name])
        for text in (TEXT, "", "hello low, 日本!", "hex 😀 lower"):
            ids = tok.encode(text, add_special_tokens=True)
            found, spans = tok.decode_spans(ids)
            assert found == tok.decode(ids)
            assert spans.shape == (len(ids), 2)
            covered = {place for a, b in spans.tolist() for place in range(a, b)}
            assert covered == set(range(len(found)))

    def test_decoders_of_the_whole_text(self) -> None:
        tok = Tokenizer(Pipeline(WordLevel((b"a</w>",)), decoder=(Fuse(), BPEDecoder())))
        with pytest.raises(UnsupportedError, match="not known after the decoder step BPEDecoder"):
            tok.decode_spans([0])


class TestBatchesOfBytes:
    def test_bytes(self) -> None:
        batch = BPE.encode_batch(["low", "", b"\xff!"])
        assert BPE.decode_bytes_batch(batch) == [b"low", b"", b"\xff!"]
        assert BPE.decode_bytes_batch(batch.to_lists()) == [b"low", b"", b"\xff!"]

    def test_special_tokens(self) -> None:
        ids = BPE.encode_batch(["a<|end|>b", "<|end|>"], special="encode")
        assert BPE.decode_bytes_batch(ids, skip_special_tokens=True) == [b"ab", b""]

    def test_pieces(self) -> None:
        assert UNIGRAM.decode_bytes_batch(UNIGRAM.encode_batch(["low é"])) == ["low é".encode()]

    def test_errors(self) -> None:
        with pytest.raises(OptionError, match="decode_bytes_batch takes a Batch, or a list"):
            BPE.decode_bytes_batch(5)  # type: ignore[arg-type]
        with pytest.raises(UnknownTokenError):
            BPE.decode_bytes_batch([[9999]])


class TestFewIds:
    """Short lists are decoded without arrays: the results and errors are those of long ones."""

    @pytest.mark.parametrize("skip", [False, True])
    def test_same_as_arrays(self, skip: bool) -> None:
        for ids in ([], [97], [0xC3, 0xA9], [261, 97, 0xFF], [*range(90, 122)], [*range(90, 123)]):
            array = np.array(ids, np.int64)
            for errors in ("replace", "ignore", "backslashreplace"):
                found = BPE.decode(ids, errors=errors, skip_special_tokens=skip)
                assert found == BPE.decode(array, errors=errors, skip_special_tokens=skip)
            assert BPE.decode_bytes(ids, skip_special_tokens=skip) == BPE.decode_bytes(
                array, skip_special_tokens=skip
            )

    @pytest.mark.parametrize("wrong", [[262], [-1], [2**40], [1.5], ["a"], [None], [[1]]])
    def test_same_errors(self, wrong: list[int]) -> None:
        raised = []
        for ids in ([97, *wrong], [97] * 200 + wrong):
            for call in (BPE.decode, BPE.decode_bytes):
                with pytest.raises((OptionError, UnknownTokenError)) as error:
                    call(ids)
                raised.append(type(error.value))
        assert len(set(raised)) == 1
        with pytest.raises(UnicodeDecodeError):
            BPE.decode([0xFF], errors="strict")
        with pytest.raises(OptionError, match="skip_special_tokens"):
            BPE.decode([97], skip_special_tokens=1)  # type: ignore[arg-type]
        with pytest.raises(UnknownTokenError):
            BPE.with_special_tokens({"<|far|>": 300}).decode([299])


class TestFrame:
    PARTS = (TokenPart(1), TextPart("A"), TokenPart(2), TextPart("B", 1), TokenPart(2, 1))
    TOK = Tokenizer(
        Pipeline(BPE.pipeline.model, framing=Framing(template=Template(PARTS[:3], PARTS)))
    )

    def test_frames_as_encoding_does(self) -> None:
        one, two = self.TOK.encode("low"), self.TOK.encode("er")
        assert self.TOK.frame(one) == self.TOK.encode("low", add_special_tokens=True)
        assert self.TOK.frame(np.array(one), two) == [1, *one, 2, *two, 2]
        assert self.TOK.frame([], []) == [1, 2, 2]
        assert BPE.frame(one) == one

    def test_unknown_ids(self) -> None:
        for call in ([9999], [1]):
            with pytest.raises(UnknownTokenError, match="9999"):
                self.TOK.frame(call, [9999])


class TestScores:
    def test_they_are_those_of_the_pieces(self) -> None:
        assert UNIGRAM.scores is UNIGRAM.pipeline.model.scores  # type: ignore[union-attr]
        assert UNIGRAM.score(0) == 0.0
        assert UNIGRAM.score(7) == float(UNIGRAM.scores[7]) < 0

    def test_models_without_scores(self) -> None:
        with pytest.raises(UnsupportedError, match="tokens of BPE have no scores"):
            BPE.scores  # noqa: B018
        with pytest.raises(UnsupportedError, match="tokens of BPE have no scores"):
            BPE.score(0)

    def test_unknown_ids_and_added_tokens(self) -> None:
        tok = UNIGRAM.with_special_tokens(["<extra>"])
        with pytest.raises(UnknownTokenError, match="is an added token, which has no score"):
            tok.score(len(tok) - 1)
        with pytest.raises(UnknownTokenError):
            tok.score(len(tok))
