"""Reading and writing GPT-2's vocab.json and merges.txt files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.kits.bpe import BYTES, model, pipeline, plain_token
from toksmith import formats
from toksmith._base.byte_alphabet import ALPHABET, spell, unspell, unspell_all
from toksmith.errors import FormatError, OptionError, UnsupportedError
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter

ENCODER = {spell(byte): i for i, byte in enumerate(BYTES)} | {"ab": 256, "Ġab": 257, "<|end|>": 258}
MERGES = "#version: 0.2\na b\nĠ ab\n"


def written(folder: Path, encoder: object = ENCODER, merges: str = MERGES, start: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{start}encoder.json").write_text(
        encoder if isinstance(encoder, str) else json.dumps(encoder)
    )
    (folder / f"{start}vocab.bpe").write_text(merges)
    return folder


def test_the_byte_alphabet() -> None:
    assert len(set(ALPHABET.values())) == 256
    assert all(character.isprintable() and character != " " for character in ALPHABET.values())
    assert spell(b"\n a~\x7f\xa0\xad\xff") == "ĊĠa~ġł\u0143ÿ"
    assert [unspell(spell(byte)) for byte in BYTES] == list(BYTES)
    assert [unspell(wrong) for wrong in (" ", "\n", "\xad", "▁", "\uffff", "\ud800")] == [None] * 6
    assert unspell_all(["Ġa", "▁", "", "é"]) == [b" a", None, b"", b"\xe9"]
    assert unspell_all(["Ġa", "", "é"]) == [b" a", b"", b"\xe9"]


@pytest.mark.parametrize("name", ["", "encoder.json", "vocab.bpe"])
@pytest.mark.parametrize("start", ["", "gpt2_"])
def test_read_by_hand(tmp_path: Path, name: str, start: str) -> None:
    folder = written(tmp_path, start=start)
    pipe = formats.read(folder / (start + name) if name else folder)
    assert pipe.model.vocab == (*BYTES, b"ab", b" ab")
    assert pipe.model.merges.tolist() == [[97, 98, 256], [32, 256, 257]]
    assert not pipe.model.whole_chunk_first
    assert pipe.splitter == splitter("gpt2")
    assert pipe.framing.special_tokens == {"<|end|>": 258}


def test_the_later_names(tmp_path: Path) -> None:
    expected = formats.read(written(tmp_path / "a"))
    other = tmp_path / "b"
    other.mkdir()
    (tmp_path / "a/encoder.json").rename(other / "vocab.json")
    (tmp_path / "a/vocab.bpe").rename(other / "merges.txt")
    assert formats.read(other) == formats.read(other / "merges.txt") == expected


def test_merges_without_a_head(tmp_path: Path) -> None:
    expected = formats.read(written(tmp_path))
    written(tmp_path, merges="a b\r\nĠ ab")
    assert formats.read(tmp_path) == expected
    assert formats.read(tmp_path / "vocab.bpe", format="gpt2") == expected


def test_write_by_hand(tmp_path: Path) -> None:
    pipe = formats.read(written(tmp_path / "a"))
    formats.write(pipe, tmp_path / "new/folder", "gpt2")
    assert json.loads((tmp_path / "new/folder/encoder.json").read_text()) == ENCODER
    assert (tmp_path / "new/folder/vocab.bpe").read_text() == MERGES


def test_round_trip(tmp_path: Path) -> None:
    formats.write(pipeline(whole=True), tmp_path / "folder", "gpt2")
    assert formats.read(tmp_path / "folder") == pipeline()


@pytest.mark.parametrize(
    ("encoder", "merges", "reason"),
    [
        (ENCODER, "#version: 0.2\na b c\n", "vocab.bpe: line 2 is 'a b c'"),
        (ENCODER, "#version: 0.2\na b\n\nĠ ab\n", "vocab.bpe: line 3 is ''"),
        (ENCODER, "a b\na c\n", "vocab.bpe: line 2 joins 'a' and 'c', but 'ac' is not in"),
        (ENCODER, MERGES + "a b\n", "merge 2 (97, 98) repeats merge 0"),
        (ENCODER, "", "vocab.bpe: the file is empty"),
        (ENCODER | {"Ā": 300}, MERGES, ""),
        (ENCODER | {"b": 97}, MERGES, "id 97 belongs to two tokens, b'a' and b'b'"),
        (ENCODER | {"<|end|>": 97}, MERGES, "'<|end|>' has id 97, which the model's"),
        (ENCODER | {"<|more|>": 258}, MERGES, "share id 258"),
        ({k: v for k, v in ENCODER.items() if k != "b"}, MERGES, "'b' is not in the vocabulary"),
        (ENCODER | {"ab": 1e3}, MERGES, "token 'ab' has id 1000.0"),
        (ENCODER | {"ab": "256"}, MERGES, "token 'ab' has id '256'"),
        (ENCODER | {"ab": None}, MERGES, "token 'ab' has id None"),
        (ENCODER | {"ab": True}, MERGES, "token 'ab' has id True"),
        (ENCODER | {"ab": -1}, MERGES, "token 'ab' has id -1"),
        (ENCODER | {"ab": 10**9}, MERGES, "token 'ab' has id 1000000000"),
        ([1], MERGES, "a JSON list; an object is wanted"),
        ('{"a": 1, "a": 2}', MERGES, "key 'a' occurs twice"),
        ('{"a": 1', MERGES, "line 1, column 8 is not JSON"),
        ('{"a": NaN}', MERGES, "NaN is not a JSON value"),
        ('{"a": ' + "9" * 5000 + "}", MERGES, "not the JSON of a tokenizer"),
        ('{"a": ' + "[" * 10**5, MERGES, "nested deeper"),
        ('{"\\udcff": 1}', MERGES, "surrogates not allowed"),
        ('{"": 1}', MERGES, ""),
    ],
)
def test_bad_files(tmp_path: Path, encoder: object, merges: str, reason: str) -> None:
    if encoder == ENCODER | {"Ā": 300}:  # a byte moved: the ids have a hole now, which is fine
        assert formats.read(written(tmp_path, encoder, merges)).model.byte_ids[0] == 300
        return
    with pytest.raises(FormatError) as caught:
        formats.read(written(tmp_path, encoder, merges), format="gpt2")
    assert reason in str(caught.value)


def test_a_missing_partner(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "vocab.bpe").unlink()
    with pytest.raises(FormatError, match=r"vocab\.bpe: there is no such file"):
        formats.read(tmp_path / "encoder.json")
    with pytest.raises(FormatError, match=r"holds neither encoder\.json \+ vocab\.bpe nor"):
        formats.read(tmp_path, format="gpt2")
    (tmp_path / "encoder.json").rename(tmp_path / "ids.json")
    with pytest.raises(FormatError, match="its name does not determine the other"):
        formats.read(tmp_path / "ids.json")


def test_marks_of_ends_of_words_need_the_class(tmp_path: Path) -> None:
    ends = {f"{spell(byte)}</w>": 300 + i for i, byte in enumerate(BYTES)}
    with pytest.raises(UnsupportedError, match=r"put the model's tokenizer_config\.json beside"):
        formats.read(written(tmp_path, ENCODER | ends))


def unmade() -> BPE:
    return BPE((*BYTES, b"ab", b"xyz"), np.array([[97, 98, 256]], np.uint32))


@pytest.mark.parametrize(
    ("pipe", "reason"),
    [
        (pipeline(None), "cannot hold None"),
        (pipeline("gpt4"), "imply GPT-2's split"),
        (pipeline("[a-z]+"), "imply GPT-2's split"),
        (pipeline(framing=plain_token("x", 400)), "no special token"),
        (pipeline(special={"é": 400}), "'é' (id 400) has the spelling of id 233"),
        (pipeline(special={"ab": 400}), "'ab' (id 400) has the spelling of id 263"),
        (pipeline(special={"ab": 263}), "as both a special token and a token of the model"),
        (Pipeline(unmade(), splitter("gpt2")), "no merge produces"),
        (
            Pipeline(BPE((*BYTES, b"a"), np.empty((0, 3), np.uint32)), splitter("gpt2")),
            "ids 97 and 256 are both b'a'",
        ),
        (
            Pipeline(model(((b"b", b"c"), (b"a", b"b"), (b"ab", b"c")), True), splitter("gpt2")),
            "this model encodes it to id",
        ),
    ],
)
def test_pipelines_that_the_format_cannot_hold(tmp_path: Path, pipe: Pipeline, reason: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        formats.write(pipe, tmp_path / "folder", "gpt2")
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_the_directory_should_be(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("")
    with pytest.raises(OptionError, match="is no directory"):
        formats.write(pipeline(), tmp_path / "folder", "gpt2")


def test_three_files_of_gpt2_are_one_tokenizer(shared: Path) -> None:
    folder = shared / "data/vocab"
    figures = json.loads((shared / "data/golden/seeds.json").read_text())["gpt2_files"]
    pair = formats.read(folder / "gpt2_encoder.json")
    assert formats.read(folder / "gpt2_tokenizer.json") == pair
    ranks = formats.read(
        folder / "gpt2.tiktoken", split="gpt2", special_tokens={"<|endoftext|>": 50256}
    )
    assert (ranks.model.vocab, ranks.splitter, ranks.framing) == (
        pair.model.vocab,
        pair.splitter,
        pair.framing,
    )
    assert np.array_equal(ranks.model.merges, pair.model.merges)
    assert len(pair.model.merges) == figures["merges"]
    assert pair.framing.special_tokens == {"<|endoftext|>": figures["endoftext_id"]}
    assert len(pair.model.vocab) + 1 == figures["encoder_size"]
