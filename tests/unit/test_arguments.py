"""Wrong arguments raise a typed error before any work."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.processes import POSIX
from toksmith import Counts
from toksmith._base import threads
from toksmith._base.documents import open_mapped
from toksmith.errors import FormatError, OptionError
from toksmith.framing.added import literal_pattern

TOK = toksmith.train(texts=["low low lower lowest"], vocab_size=260)


@pytest.mark.parametrize("call", ["encode", "encode_array", "count", "encoding", "explain"])
@pytest.mark.parametrize("text", [None, 3, 3.5, ["low"], object()])
def test_a_value_that_is_not_text(call: str, text: Any) -> None:
    with pytest.raises(OptionError, match=type(text).__name__):
        getattr(TOK, call)(text)


@pytest.mark.parametrize("text", [None, 3, ["low"]])
def test_a_value_that_is_not_text_in_other_calls(text: Any) -> None:
    for call in (
        lambda: TOK.truncate(text, 2),
        lambda: TOK.encode_batch([text]),
        lambda: TOK.encode(text, special="encode"),
        lambda: TOK.token_id(text),
    ):
        with pytest.raises(OptionError, match=type(text).__name__):
            call()


@pytest.mark.parametrize("texts", [None, 3, "low", b"low", bytearray(b"low"), memoryview(b"low")])
def test_one_text_is_not_a_batch(texts: Any) -> None:
    with pytest.raises(OptionError, match="list of texts"):
        TOK.encode_batch(texts)


def test_buffers() -> None:
    gaps = memoryview(b"l?o?w?")[::2]
    assert TOK.encode(gaps) == TOK.encode("low") == TOK.encode_batch([gaps]).to_lists()[0]
    assert TOK.truncate(memoryview(b"low lower x"), 1) == b"low"  # type: ignore[type-var]


def test_a_buffer_of_numbers_is_not_text() -> None:
    numbers: Any = np.array([1, 2], np.int32)
    for call in (TOK.encode, TOK.encode_array, TOK.count, TOK.encoding):
        with pytest.raises(OptionError, match="ndarray"):
            call(numbers)
    with pytest.raises(OptionError, match="ndarray"):
        TOK.encode_batch([numbers])


@pytest.mark.parametrize("special", [None, 3, "<|x|>", {"<|x|>"}])
def test_special(special: Any) -> None:
    with pytest.raises(OptionError, match="special"):
        TOK.encode("low", special=special)


def test_no_batch() -> None:
    with pytest.raises(OptionError, match="Batch"):
        TOK.decode_batch(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [1.5, "2", 2**70, 0, -1])
def test_threads(number: Any) -> None:
    with pytest.raises(OptionError, match="threads"):
        TOK.encode("low", threads=number)


def test_half_a_core_is_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(threads.Path, "read_text", lambda _: "50000 100000\n")
    assert threads.thread_count(None) == 1


@pytest.mark.parametrize("number", [1.5, "2", None, -1])
def test_max_tokens(number: Any) -> None:
    with pytest.raises(OptionError, match="max_tokens"):
        TOK.truncate("low", number)


@pytest.mark.parametrize("token_id", [None, "a", 1.5])
def test_token_ids(token_id: Any) -> None:
    with pytest.raises(OptionError, match="token_id"):
        TOK.token_bytes(token_id)
    with pytest.raises(OptionError, match="whole numbers"):
        TOK.decode([token_id])


@pytest.mark.parametrize("separator", ["", b"x", 3, "\ud800"])
def test_separators(separator: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("low lower")
    with pytest.raises(OptionError, match="separator"):
        TOK.encode_file(path, separator=separator)
    with pytest.raises(OptionError, match="separator"):
        toksmith.train(path, vocab_size=256, separator=separator)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("special_tokens", value) for value in ["x", [""], ["a", "a"], [3], None, ["\ud800"]]),
        *(("special_tokens", value) for value in [{"a", "b"}, {"a": 1}]),
        *(("vocab_size", value) for value in [255, 300.5, "300", None, 2**70]),
        *(("min_frequency", value) for value in [0, 1.5, "3", None, 2**64]),
        *(("max_token_length", value) for value in [0, 1.5, "3", 2**64]),
        *(("ties", value) for value in ["x", None]),
        *(("split", value) for value in [3, b"x", "gpt9", "GPTT2 ", "cl200k_base", "bert", "("]),
    ],
)
def test_training_options_are_checked_before_the_text_is_read(name: str, value: Any) -> None:
    def texts() -> Iterator[str]:
        raise AssertionError("the text was read")
        yield ""

    options: dict[str, Any] = {"vocab_size": 300, name: value}
    with pytest.raises(OptionError):
        toksmith.train(texts=texts(), **options)


@pytest.mark.parametrize("files", [3, b"a.txt", [3], [None]])
def test_a_value_that_is_not_a_path(files: Any) -> None:
    with pytest.raises(OptionError, match="path"):
        toksmith.train(files, vocab_size=256)
    with pytest.raises(OptionError, match="path"):
        TOK.encode_file(files)


@pytest.mark.parametrize("special_tokens", [["x"], "x", {"x": 4_000_000_000}, {"x": -1}, {3: 300}])
def test_special_tokens_of_a_bare_file(special_tokens: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.tiktoken"
    TOK.save(path)
    path.with_name("a.tiktoken.json").unlink()
    with pytest.raises((OptionError, FormatError), match=r"special_tokens|has id"):
        toksmith.load(path, split="gpt4", special_tokens=special_tokens)


def test_special_tokens_from_a_generator() -> None:
    tok = toksmith.train(
        texts=["x"],
        vocab_size=258,
        special_tokens=(f"<{i}>" for i in range(2)),  # type: ignore[arg-type]
    )
    assert tok.special_tokens == {"<0>": 256, "<1>": 257}


def test_counts() -> None:
    ends, counts = np.array([2, 3], np.uint64), np.array([1, 1], np.uint64)
    assert Counts(b"abc", ends, counts).bytes == 3
    for wrong in (
        lambda: Counts(b"abc", ends[::-1], counts),
        lambda: Counts(b"abcd", ends, counts),
        lambda: Counts(b"abc", ends, counts[:1]),
        lambda: Counts.of({b"": 1}),
        lambda: Counts.of({"ab": 1}),  # type: ignore[dict-item]
        lambda: Counts.of({b"ab": 1.5}),  # type: ignore[dict-item]
        lambda: Counts.of({b"ab": -1}),
        lambda: Counts.of({b"abab": 2**62, b"ab": 5}),
        lambda: toksmith.train(counts={b"ab": 3}, vocab_size=256),  # type: ignore[arg-type]
    ):
        with pytest.raises(OptionError):
            wrong()


@POSIX
def test_pipes_and_devices(tmp_path: Path) -> None:
    assert TOK.encode_file(os.devnull).to_lists() == [[]]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("low lower",))
    writer.start()
    assert TOK.encode_file(pipe).to_lists() == [TOK.encode("low lower")]
    writer.join()


def test_errors_inside_a_file_keep_their_kind(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("low")
    with pytest.raises(OptionError, match="special is"):
        TOK.encode_file(path, special="foo")
    views: list[memoryview] = []

    def interrupted() -> None:
        with open_mapped(path) as data:
            views.append(memoryview(data))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert views[0] == b"low"


def test_many_literals() -> None:
    literals = frozenset([*(f"{i * 7919:08x}" for i in range(3000)), "z", "zb", "zbc", "x|", "|"])
    pattern = literal_pattern(literals)
    text = " ".join(sorted(literals)) + "zbcdzb0000000"
    flat = sorted(literals, key=len, reverse=True)
    at, expected = 0, []
    while at < len(text):
        found = next((literal for literal in flat if text.startswith(literal, at)), None)
        expected += [found.encode()] if found else []
        at += len(found or " ")
    assert pattern.findall(text.encode()) == expected
    started = time.perf_counter()
    assert pattern.search(b"0123456 fedcb " * 20_000) is None
    assert time.perf_counter() - started < 2


def test_truncating_a_long_text_looks_at_its_start_only() -> None:
    started = time.perf_counter()
    assert TOK.truncate("low " * 10_000_000, 8) == "low" + " low" * 7
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: TOK.count(["a"]), "not list: for a list of texts, use count_batch"),
        (lambda: TOK.encode(["a"]), "not list: for a list of texts, use encode_batch"),
        (
            lambda: TOK.encode_array(["a"], special="encode"),
            "not list: for a list of texts, use encode_batch",
        ),
        (lambda: TOK.encoding(["a"]), "not list: for a list of texts, use encodings"),
        (lambda: toksmith.split(["a"], "gpt2"), "not list: pass one text at a time$"),
        (lambda: toksmith.split(("a",), "gpt2"), "not tuple: pass one text at a time$"),
        (lambda: TOK.truncate(["a"], 3), "call truncate for each"),
        (lambda: TOK.chunks(["a"], 3), "call chunks for each"),
        (lambda: TOK.explain(("a",)), "not tuple: for a list of texts, call explain for each"),
    ],
)
def test_a_list_where_one_text_is_expected_names_the_call_for_several(call: Any, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        call()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: TOK.encode("a", add_special_tokens="yes"), "add_special_tokens"),
        (lambda: TOK.encode_array("a", add_special_tokens=2), "add_special_tokens"),
        (lambda: TOK.encode_batch(["a"], add_special_tokens="no"), "add_special_tokens"),
        (lambda: TOK.encode_file("a", add_special_tokens="no"), "add_special_tokens"),
        (lambda: TOK.encoding("a", add_special_tokens="no"), "add_special_tokens"),
        (lambda: TOK.prepare(["a"], add_special_tokens="no"), "add_special_tokens"),
        (lambda: TOK.prepare(["a"], overflow="no"), "overflow"),
        (lambda: TOK.prepare(["a"], spans="no"), "spans"),
        (lambda: TOK.decode([97], skip_special_tokens="no"), "skip_special_tokens"),
        (lambda: TOK.decode_batch([[97]], skip_special_tokens="no"), "skip_special_tokens"),
        (lambda: TOK.decoder(skip_special_tokens="no"), "skip_special_tokens"),
        (lambda: TOK.save("a.json", record="no"), "record"),
        (lambda: toksmith.train(texts="aa", vocab_size=257, deduplicate=2), "deduplicate"),
    ],
)
def test_flags_must_be_booleans(call: Any, name: str) -> None:
    with pytest.raises(OptionError, match=f"{name} is .*: use True or False, not (str|int)"):
        call()


def test_flags_of_numpy_are_flags() -> None:
    assert TOK.encode("low", add_special_tokens=np.True_) == TOK.encode("low")


def test_an_empty_path_is_none(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"^the path is empty: give the name of a file$"):
        TOK.encode_file("")
    taken = tmp_path / "taken"
    taken.touch()
    with pytest.raises(OptionError, match=r"there is a file of this name, .*tokenizer\.json"):
        TOK.save(taken)


def test_an_empty_file_is_reported_once(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.touch()
    with pytest.raises(FormatError) as caught:
        toksmith.load(path)
    assert str(caught.value) == f"{path}: the file is empty"


def test_names_count_in_any_case() -> None:
    assert toksmith.get("TOKSMITH-SMALL") == toksmith.get("toksmith-small")
    assert toksmith.load("TokSmith-Small").vocab_size == 16384
    assert toksmith.formats.published.encoding_of("GPT-4o") == "o200k_base"
    tok = toksmith.train(texts="aa aa", vocab_size=257, model="BPE")
    assert tok.training is not None
    assert tok.training.model == "bpe"


def test_sources_that_are_refused() -> None:
    with pytest.raises(OptionError, match=r"^files is 5: use a path"):
        toksmith.train(5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="split is an empty string: use None"):
        toksmith.train(texts="aa", vocab_size=257, split="")
    with pytest.raises(OptionError, match="empty string: use None"):
        TOK.with_split("")
    with pytest.raises(OptionError, match=r"advise takes no on=: use texts= .* or files="):
        toksmith.advise(on="x")
