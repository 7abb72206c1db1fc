"""Reading the tokenizers in GGUF files."""

from __future__ import annotations

import errno
import io
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.kits import gguf as kit
from tests.kits.bpe import BYTES, TEXTS, pipeline
from tests.kits.gguf import INT32, STRING, UINT8, Array, converted, tokens_of, write
from tests.kits.sentencepiece import sentencepiece
from tests.kits.words import bert
from toksmith import Tokenizer, formats
from toksmith._base.byte_alphabet import spell
from toksmith.errors import FormatError, OptionError, UnsupportedError
from toksmith.formats import gguf_metadata
from toksmith.formats.gguf_splits import pre_tokenizers
from toksmith.framing import AddedToken, Framing
from toksmith.measure.hard_texts import hard_texts
from toksmith.measure.verify import find_differing
from toksmith.models import Unigram

LONG = [*TEXTS, " a  b<s>ab</s> b", "[CLS] low er [MASK] Low É", "ﬁ № Ａ e\u0301 \x01 日本語"]


def load(tmp_path: Path, values: dict[str, Any], **hints: Any) -> Tokenizer:
    return toksmith.load(write(tmp_path / "model.gguf", values), **hints)


def encoded(tok: Tokenizer, texts: list[str]) -> list[list[int]]:
    return [tok.encode(text, special="encode", add_special_tokens=False) for text in texts]


@pytest.mark.parametrize(
    ("own", "prefix", "suffix"),
    [
        (pipeline(), (), ()),
        (bert(), (2,), (3,)),
        (sentencepiece(charsmap=b"", byte_fallback=True, remove_extra_whitespaces=False), (1,), ()),
        (sentencepiece(charsmap=b"", add_dummy_prefix=False, remove_extra_whitespaces=False),
         (1,), ()),
        (sentencepiece(Unigram), (), (2,)),
        (sentencepiece(Unigram, charsmap=b"", remove_extra_whitespaces=False), (), (2,)),
    ],
    ids=["bytes", "words", "bpe", "bpe without a first space", "unigram", "unigram with spaces"],
)  # fmt: skip
def test_every_kind(
    tmp_path: Path, own: Any, prefix: tuple[int, ...], suffix: tuple[int, ...]
) -> None:
    tok, expected = load(tmp_path, converted(own)), Tokenizer(own)
    ids = encoded(tok, LONG)
    assert ids == encoded(expected, LONG)
    assert [tok.decode(row) for row in ids] == [expected.decode(row) for row in ids]
    assert tok.encode("a", add_special_tokens=True) == [
        *prefix, *tok.encode("a", add_special_tokens=False), *suffix
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("llama2.model", {}),
        ("spm_toy400_bpe.model", {}),
        ("gpt2_tokenizer.json", {}),
        ("bert_uncased_vocab.txt", {}),
        ("english8k_unigram.model", {}),
        ("spm_test_unigram.model", {}),
    ],
)
def test_published_vocabularies(
    tmp_path: Path, shared: Path, corpus: Callable[..., bytes], file: str, changes: dict[str, Any]
) -> None:
    own = toksmith.load(shared / "data/vocab" / file)
    tok = load(tmp_path, converted(own.pipeline, **changes))
    texts = [*LONG]
    texts += corpus("multilingual.txt", 60_000).decode(errors="ignore").splitlines()
    rng = random.Random(file)
    texts += ["".join(chr(rng.choice([32, 97, 0xE9, 0x2581, rng.randrange(0xD800)]))
                      for _ in range(12)) for _ in range(300)]  # fmt: skip
    assert encoded(tok, texts) == encoded(own, texts)


def test_llama_by_hand(tmp_path: Path) -> None:
    values = tokens_of(
        "llama",
        ["<unk>", "<s>", "</s>", "▁", "a", "b", "▁a", "ab", "<tool>", "", "▁▁"],
        scores=Array(kit.FLOAT32, [0, 0, 0, -9, -8, -7, -1, -2, 0, 0, -3]),
        token_type=Array(INT32, [2, 3, 3, 1, 1, 1, 1, 5, 4, 5, 4]),
        tokenizer_pre="ignored",
    )
    tok = load(tmp_path, values)
    # The absent ids are 1 and 2. A space comes before each text between added tokens; unused
    # tokens result from merges, and so do user-defined ones.
    assert tok.encode("ab", add_special_tokens=True) == [1, 6, 5]
    assert tok.encode("b<tool>ab", add_special_tokens=False) == [3, 5, 8, 6, 5]
    assert tok.encode("bab", add_special_tokens=False) == [3, 5, 7]
    assert tok.encode("  b", add_special_tokens=False) == [10, 3, 5]
    assert tok.decode(tok.encode("b<tool>ab")) == "b<tool> ab"
    assert tok.tokens[9] == b"[EMPTY_9]"
    assert tok.decode([6, 5]) == "ab"
    options = {"add_space_prefix": False, "add_bos_token": False, "add_eos_token": True}
    plain = load(tmp_path, values | kit.keys(options | {"eos_token_id": 1}))
    assert plain.encode("ab", add_special_tokens=True) == [7, 1]


def gpt2_values(**more: Any) -> dict[str, Any]:
    names = [*map(spell, BYTES), "ab", "Ġab", "<|end|>", "  ", "‼"]
    merges = Array(STRING, ["a b", "Ġ ab", "a b"])
    kinds = [*[1] * 258, 3, 4, 1]
    return tokens_of("gpt2", names, token_type=Array(INT32, kinds), merges=merges) | kit.keys(more)


def test_gpt2_by_hand(tmp_path: Path) -> None:
    tok = load(tmp_path, gpt2_values(pre="gpt-2"))
    assert tok.encode("ab ab<|end|>", special="encode") == [256, 257, 258]
    assert tok.encode("a  ab") == [97, 259, 256]  # two spaces are a user-defined token
    assert tok.decode([260]) == "‼"  # outside of the alphabet
    assert tok.encode("‼") == [0xE2, 0x80, 0xBC]
    assert tok.encode("a", add_special_tokens=True) == [97]
    bos = load(tmp_path, gpt2_values(pre="llama-bpe", bos_token_id=258))
    assert bos.encode("ab", add_special_tokens=True) == [258, 256]
    assert bos.pipeline.model.whole_chunk_first


def test_roles_and_chat_template(tmp_path: Path) -> None:
    template = {"tokenizer.chat_template": "{{ messages }}"}
    tok = load(tmp_path, gpt2_values(pre="llama-bpe", bos_token_id=258) | template)
    assert (tok.bos_token_id, tok.pad_token_id) == (258, None)
    assert tok.chat_template == "{{ messages }}"
    tok.save(tmp_path / "folder")
    again = toksmith.load(tmp_path / "folder")
    assert (again.bos_token_id, again.chat_template) == (258, "{{ messages }}")


@pytest.mark.filterwarnings("ignore:.*does not name its split")
def test_split_patterns(tmp_path: Path) -> None:
    text = "It's 12345 days,  isn't it?\n\n  x"
    assert len(pre_tokenizers()) == 86
    for name in pre_tokenizers():
        if pre_tokenizers()[name].bytes:
            tok = load(tmp_path, gpt2_values(pre=name, bos_token_id=0))
            assert tok.decode(tok.encode(text)) == text, name


@pytest.mark.parametrize(
    ("name", "text", "chunks"),
    [
        ("gpt-2", "a  12", ["a", " ", " 12"]),
        ("deepseek-v3", "a12345 b", ["a", "123", "45", " b"]),
        ("falcon", "a 12345,x", ["a", " ", "123", "45", ",", "x"]),
        ("superbpe", "a 1234567b", ["a ", "1", "234", "567", "b"]),
        ("afmoe", "ab1234", ["ab", "1", "234"]),
        ("kimi-k2", "漢字ab's 1234", ["漢字", "ab's", " ", "123", "4"]),
        ("tiny_aya", "a1234", ["a", "1", "234"]),
    ],
)
def test_chunks_of_a_name(name: str, text: str, chunks: list[str]) -> None:
    from toksmith.stages.split_classes import split_text

    assert split_text(pre_tokenizers()[name].splitter, text) == chunks


def test_the_caller_gives_the_split(tmp_path: Path) -> None:
    values = gpt2_values(pre="of-tomorrow")
    with pytest.raises(UnsupportedError, match=r"pre-tokenizer 'of-tomorrow'.*give the split"):
        load(tmp_path, values)
    assert load(tmp_path, values, split="gpt2").encode("ab ab") == [256, 257]
    with pytest.raises(OptionError, match="leave special_tokens= out"):
        load(tmp_path, values, split="gpt2", special_tokens={"x": 1})
    with pytest.raises(OptionError, match=r"'t5', which has no split pattern"):
        load(tmp_path, converted(sentencepiece(Unigram)), split="gpt2")


def test_a_file_without_a_pattern(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"llama.cpp's default is used"):
        tok = load(tmp_path, gpt2_values())
    assert tok.decode(tok.encode("a 12345.")) == "a 12345."


def gemma4_values() -> dict[str, Any]:
    names = ["<bos>", "▁", "a", "b", "ab", "▁ab", *(f"<0x{i:02X}>" for i in range(256)), "\n"]
    kinds = [3, *[1] * 5, *[6] * 256, 1]
    return tokens_of(
        "gemma4", names, token_type=Array(INT32, kinds), merges=Array(STRING, ["a b", "▁ ab"]),
        bos_token_id=0, add_bos_token=False,
    )  # fmt: skip


def test_gemma4_by_hand(tmp_path: Path) -> None:
    tok = load(tmp_path, gemma4_values())
    assert tok.encode("ab ab\né", add_special_tokens=True) == [0, 4, 5, 262, 6 + 0xC3, 6 + 0xA9]
    assert tok.decode([4, 5, 262, 6 + 0xC3, 6 + 0xA9]) == "ab ab\né"


def test_bert_by_hand(tmp_path: Path) -> None:
    tok = load(tmp_path, converted(bert()))
    assert tok.tokens[:7] == [b"[PAD]", b"[UNK]", b"[CLS]", b"[SEP]", b"[MASK]", b"low", b"##er"]
    assert tok.encode("Lower!", add_special_tokens=True) == [2, 5, 6, 1, 3]
    assert tok.encode("low" + "er" * 80, add_special_tokens=False) == [5, *[6] * 80]
    cased = load(tmp_path, converted(bert(), **{"normalizer.lowercase": False}))
    assert cased.encode("Low low", add_special_tokens=False) == [1, 5]


def test_added_tokens_take_white_space(tmp_path: Path) -> None:
    names = ["<unk>", "<s>", "</s>", "▁", "a", "<|end|>"]
    values = tokens_of("llama", names, token_type=Array(INT32, [2, 3, 3, 1, 1, 4]))
    values |= {"general.name": "Phi-3 mini"}
    tok = load(tmp_path, values)
    assert tok.encode("<|end|>  a", special="encode", add_special_tokens=False) == [5, 3, 4]
    values |= {"general.name": "another"}
    tok = load(tmp_path, values)
    assert tok.encode("<|end|>  a", special="encode", add_special_tokens=False) == [5, 3, 3, 3, 4]


def test_control_tokens_by_name(tmp_path: Path) -> None:
    values = gpt2_values(pre="gpt-2")
    names = [*map(spell, BYTES), "<|im_end|>"]
    values = tokens_of("gpt2", names, pre="gpt-2", merges=Array(STRING, []))
    tok = load(tmp_path, values)
    assert tok.special_tokens == {"<|im_end|>": 256}


@pytest.mark.parametrize(
    ("values", "error", "reason"),
    [
        ({}, FormatError, "holds no tokenizer"),
        (tokens_of("rwkv", ["a"]), UnsupportedError, "kind 'rwkv'"),
        (tokens_of("llama", []), FormatError, "tokens is empty"),
        (tokens_of("llama", ["a", "a"]), FormatError, "ids 0 and 1 have the same token"),
        (tokens_of("llama", ["a", b"\xff"]), FormatError, "token 1 is b'\\xff', which is invalid"),
        (tokens_of("llama", ["a"], scores=Array(kit.FLOAT32, [])), FormatError, "0 elements"),
        (tokens_of("llama", ["a"], scores=Array(kit.FLOAT32, [float("nan")])), FormatError,
         "token 0 has no finite score"),
        (tokens_of("llama", ["a"], scores="x"), FormatError, "scores is of type bytes, not an arr"),
        (tokens_of("llama", ["a"], add_bos_token=1), FormatError, "of type int, not a boolean"),
        (tokens_of("llama", ["a"], bos_token_id="x"), FormatError, "not a whole number"),
        (tokens_of("llama", ["a"]), FormatError, "add_bos_token is set, but bos_token_id is"),
        (tokens_of("bert", ["a"]), FormatError, "needs tokenizer.ggml.unknown_token_id"),
        (tokens_of("gemma4", ["a"]), FormatError, "merges is missing"),
        (tokens_of("gemma4", ["a"], merges=Array(STRING, ["a"])), FormatError, "has 'a', not two"),
        (tokens_of("gemma4", ["a"], merges=Array(STRING, ["a a"])), FormatError,
         "'aa' is not in the vocabulary"),
        (tokens_of("t5", ["a"], precompiled_charsmap=Array(UINT8, b"\1\2")), FormatError, ""),
        (tokens_of("t5", ["a"], precompiled_charsmap=Array(INT32, [1])), FormatError,
         "not an array of bytes"),
        ({"tokenizer.ggml.model": 7}, FormatError, "model is of type int, not a string"),
        ({"tokenizer.ggml.model": "llama"}, FormatError, "tokens is missing"),
    ],
)  # fmt: skip
def test_bad_files(
    tmp_path: Path, values: dict[str, Any], error: type[Exception], reason: str
) -> None:
    with pytest.raises(error) as caught:
        load(tmp_path, values)
    assert reason in str(caught.value)
    assert "model.gguf" in str(caught.value)


def test_an_id_outside_of_the_vocabulary(tmp_path: Path) -> None:
    values = converted(sentencepiece(charsmap=b""), padding_token_id=9999)
    with pytest.warns(UserWarning, match="padding_token_id is 9999, but there are 11 tokens"):
        tok = load(tmp_path, values)
    assert tok.pipeline.model.pad_id is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GGUF", "the version reaches beyond the end"),
        (b"GGUF\3\0\0\0" + struct.pack("<QQ", 0, 2**60), "claims 1,152,921,504,606,846,976 key"),
        (b"GGUF\3\0\0\0" + struct.pack("<QQQ", 0, 1, 2**63) + b"\0" * 16, "a key reaches beyond"),
        (kit.gguf({"a": "b"}, version=1), "version 1 is not supported"),
        (kit.gguf({"a": "b"}, version=3 << 24), "version 3 in big-endian byte order"),
        (kit.gguf({"a": Array(STRING, [])})[:-72] + struct.pack("<Q", 2**40) + b"\0" * 64,
         "claims 1,099,511,627,776 strings in the value of a"),
        (kit.gguf({"a": Array(UINT8, b"x")}).replace(b"\0" * 4 + b"\1" + b"\0" * 7 + b"x",
                                                     b"\x09\0\0\0" + b"\1" + b"\0" * 7 + b"x"),
         "is an array of type 9"),
        (b"GGUF\3\0\0\0" + struct.pack("<QQQ", 0, 1, 1) + b"k" + struct.pack("<IQ", 13, 0) * 2,
         "has type 13"),
    ],
)  # fmt: skip
def test_damaged_containers(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises((FormatError, UnsupportedError)) as caught:
        formats.read(path)
    assert reason in str(caught.value)


def test_a_key_twice(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    data = kit.gguf({"a": 1, "b": 2})
    path.write_bytes(data.replace(b"b", b"a"))
    with pytest.raises(FormatError, match="key b'a' occurs twice"):
        formats.read(path)


def test_every_truncation(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    sound = kit.gguf(converted(sentencepiece(Unigram)), tail=b"")
    for end in range(len(sound)):
        path.write_bytes(sound[:end])
        with pytest.raises(FormatError):
            formats.read(path)
    path.write_bytes(sound)
    formats.read(path)


def test_only_the_metadata_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.gguf"
    with path.open("wb") as file:
        file.write(kit.gguf(converted(pipeline())))
        file.truncate(2**36)  # sparse: reading all of it would take minutes
    assert toksmith.load(path).encode("the") == [257]


def test_it_is_a_format_to_read(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="GGUF files cannot be written"):
        formats.write(pipeline(), tmp_path / "a.gguf")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("values", "target"),
    [
        (converted(pipeline(framing=Framing((AddedToken("<|end|>", 266),)))), "x.json"),
        (converted(pipeline(framing=Framing((AddedToken("<|end|>", 266),)))), "x.tiktoken"),
        (converted(pipeline(framing=Framing((AddedToken("<|end|>", 266),)))), "x.model"),
        (gpt2_values(pre="deepseek-llm"), "x.json"),
        (gpt2_values(pre="tiny_aya"), "x.json"),
        (converted(bert()), "x.json"),
        (converted(sentencepiece(charsmap=b"", byte_fallback=True,
                                 remove_extra_whitespaces=False)), "x.json"),
        (converted(sentencepiece(Unigram, charsmap=b"")), "x.json"),
        (gemma4_values(), "x.json"),
    ],
    ids=["bytes", "tiktoken", "minbpe", "splits", "word boundaries", "words", "bpe", "unigram",
         "gemma4"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:in a tokenizer.json, every piece of a Unigram model")
def test_conversion(tmp_path: Path, values: dict[str, Any], target: str) -> None:
    tok = load(tmp_path, values)
    tok.save(tmp_path / target)
    again = toksmith.load(tmp_path / target)
    texts = [*LONG, "<u>a <u>", *hard_texts(tok.special_tokens, count=100)]
    for framed in (False, True):
        assert find_differing(
            tok, again, texts, by="ids", special="encode", add_special_tokens=framed
        ) == []  # fmt: skip


def test_bytes_without_an_id_are_left_out(tmp_path: Path) -> None:
    names = [spell(byte) for byte in BYTES if byte not in (b"\xff", b"x")]
    values = tokens_of("gpt2", [*names, "ab"], pre="gpt-2", merges=Array(STRING, ["a b"]))
    tok = load(tmp_path, values)
    assert tok.encode("ab xxab") == [254, 32, 254]
    assert tok.encode(b"a\xffb ab") == [97, 98, 32, 254]


def test_strings_longer_than_a_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load(tmp_path, gpt2_values(pre="gpt-2"))
    for size in (8, 9, 17, 100):
        monkeypatch.setattr("toksmith.formats.gguf_metadata._WINDOW", size)
        assert load(tmp_path, gpt2_values(pre="gpt-2")) == expected
        test_every_truncation(tmp_path)


def test_a_file_that_becomes_shorter_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toksmith.formats.gguf_metadata._WINDOW", 64)
    path = write(tmp_path / "model.gguf", gpt2_values(pre="gpt-2"))
    size = path.stat().st_size
    with path.open("rb", buffering=0) as file:
        reader = gguf_metadata._Reader(path, file, ("tokenizer.",))
        os.truncate(path, 100)
        with pytest.raises(FormatError, match=f"became shorter than {size:,} bytes while it was"):
            reader.entries()


def test_a_file_whose_reads_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    path = write(tmp_path / "model.gguf", gpt2_values(pre="gpt-2"))
    reader = gguf_metadata._Reader(path, Broken(path.read_bytes()), ("tokenizer.",))
    with pytest.raises(FormatError, match=r"model\.gguf: cannot be read: Input/output error"):
        reader.entries()
