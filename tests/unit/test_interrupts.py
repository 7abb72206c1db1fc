"""Ctrl-C during a long native call ends it soon, and the tokenizer works on as before."""

from __future__ import annotations

import ctypes
import enum
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import toksmith
import toksmith._base.text
import toksmith.errors
import toksmith.splitters
import toksmith.tokenizer
import toksmith.tokenizer.decode
from tests.processes import POSIX
from toksmith import _kernel
from toksmith.corpus import opening
from toksmith.engine import portable
from toksmith.stages import aligned
from toksmith.trainers import by_frequency
from toksmith.trainers.counting import symbol_words

pytestmark = POSIX

ROOT = Path(__file__).parents[2]
SHORT = "some words that each tokenizer knows, 12 and 345"
LONG_ENOUGH = 0.3  # seconds: twelve times as long as a call may go on before it looks for signals

Call = Callable[[toksmith.Tokenizer, int, int], Callable[[], object]]
"""Takes a tokenizer, a size in bytes and the number of threads; what it returns is interrupted."""


def words(size: int) -> bytes:
    """Return random words, most of which come once: no cache makes the call short."""
    return many_words(size.bit_length())[: size // 8 * 8]


@cache
def many_words(bits: int) -> bytes:
    letters = np.random.default_rng(7).integers(97, 123, (1 << bits - 3, 8), np.uint8)
    letters[:, 0] = 32
    return letters.tobytes()


def encode(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    text = words(size).decode()
    return lambda: tok.encode(text, threads=threads)


def encode_array(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    text = words(size)
    return lambda: tok.encode_array(text, threads=threads)


def encode_wide(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    text = "\U0001f600" + words(size).decode()
    return lambda: tok.encode_array(text, threads=threads)


def encode_batch(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    texts = [text.decode() for text in words(size).split(b" a")]
    return lambda: tok.encode_batch(texts, threads=threads)


def encode_file(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(words(size))
    return lambda: tok.encode_file(file.name, threads=threads)


def count(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    text = words(size).decode()
    return lambda: tok.count(text, threads=threads)


def one_letter(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    text = b"a" * size
    return lambda: tok.encode_array(text, threads=threads)


def one_chunk(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    text = words(size).replace(b" ", b"")
    return lambda: tok.encode_array(text, threads=threads)


def with_spans(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    text = words(size).decode()
    return lambda: tok.encoding(text)


def many_ids(size: int) -> np.ndarray:
    return np.resize(np.arange(97, 123, dtype=np.uint32), size)


def decode(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    ids = many_ids(size)
    return lambda: tok.decode(ids)


def decode_invalid(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    ids = np.resize(np.array([195, 97], np.uint32), size)
    return lambda: tok.decode(ids)


def decode_skipping(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    ids = many_ids(size)
    return lambda: tok.decode(ids, skip_special_tokens=True)


def decode_bytes(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    ids = many_ids(size)
    return lambda: tok.decode_bytes(ids, threads=threads)


def decode_batch(tok: toksmith.Tokenizer, size: int, threads: int) -> Callable[[], object]:
    batch = toksmith.Batch(many_ids(size), np.array([0, size], np.int64))
    return lambda: tok.decode_batch(batch, threads=threads)


CALLS: dict[str, Call] = {
    call.__name__: call
    for call in (
        encode, encode_array, encode_wide, encode_batch, encode_file, count, one_letter, one_chunk,
        with_spans, decode, decode_invalid, decode_skipping, decode_bytes, decode_batch,
    )
}  # fmt: skip


def tokenizer(model: str) -> toksmith.Tokenizer:
    sample = words(20_000).decode()
    if model == "bpe":
        return toksmith.train(texts=[sample], model="bpe", vocab_size=300, split="gpt2")
    if model == "whole":
        return toksmith.train(texts=[sample], model="bpe", vocab_size=300, split=None)
    lines = [SHORT, *sample.split(" a")]
    return toksmith.train(texts=lines, model=model, vocab_size=400)


def interrupt_all(model: str, calls: list[tuple[str, int]]) -> None:
    """Interrupt each call in the midst of native code, and print how long it took to end."""
    tok = tokenizer(model)
    expected = tok.encode(SHORT)
    for name, threads in calls:
        took, natural = interrupt_one(tok, name, threads)
        assert tok.encode(SHORT) == expected
        print(json.dumps({"name": name, "threads": threads, "took": took, "natural": natural}))


def interrupt_one(tok: toksmith.Tokenizer, name: str, threads: int) -> tuple[float, float]:
    """Return how long a call took to end when it was interrupted, and how long by itself."""
    size = 1 << 21
    while True:
        call = CALLS[name](tok, size, threads)
        call()  # what is done once only
        begin = time.perf_counter()
        call()
        natural = time.perf_counter() - begin
        if natural >= LONG_ENOUGH:
            break
        size = int(size * min(max(1.3 * LONG_ENOUGH / natural, 1.3), 16))

    # Another thread runs as soon as this one gives the GIL away, which is in native code.
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    begun = threading.Event()
    sent: list[float] = []

    def interrupt() -> None:
        begun.wait()
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    check = opening.check_slices
    if name == "encode_file":  # to map a file takes no GIL either

        def then_begin(*given: object) -> object:
            found = check(*given)  # type: ignore[arg-type]
            begun.set()
            return found

        opening.check_slices = then_begin  # type: ignore[assignment]
    try:  # without a GIL, the signal may come before the call, or after it
        if name != "encode_file":
            begun.set()
        call()
        thread.join()
    except KeyboardInterrupt:
        took = time.perf_counter() - sent[0]
    else:
        took = natural
    thread.join()
    opening.check_slices = check  # type: ignore[assignment]
    sys.setswitchinterval(usual)
    return took, natural


SEVERAL_THREADS = ("encode_array", "encode_wide", "count", "decode_bytes")
PIECES = [(name, 2) for name in ("encode_wide", "one_letter", "with_spans")]
INTERRUPTED = {
    "bpe": [*((name, 1) for name in CALLS), *((name, 2) for name in SEVERAL_THREADS)],
    "whole": [("one_chunk", 1), ("one_letter", 1)],
    "sentencepiece-bpe": PIECES,
    "unigram": PIECES,
    "wordpiece": PIECES,
}


@pytest.mark.parametrize("model", INTERRUPTED)
def test_interrupted_calls_end_soon(model: str) -> None:
    calls = INTERRUPTED[model]
    child = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import *; interrupt_all({model!r}, {calls})"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    found = [*map(json.loads, child.stdout.splitlines())]
    assert [(each["name"], each["threads"]) for each in found] == calls
    assert [each for each in found if each["took"] >= each["natural"] / 2] == []


def test_signal_handlers_run_while_a_list_of_ids_is_read() -> None:
    ids = [97] * (1 << 24)
    before = signal.signal(signal.SIGALRM, lambda *_: ids.clear())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        assert portable.to_array(ids) is None  # the list changed meanwhile
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


PIPE = """
import signal, sys, toksmith, toksmith.corpus.file_blocks as reader
tok = toksmith.train(texts=["x"], vocab_size=256)
prefetch = reader.prefetch

def then_interrupt(items):
    signal.setitimer(signal.ITIMER_REAL, 0.3)  # the thread waits in open() by then
    return prefetch(items)

reader.prefetch = then_interrupt
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    CALL
except KeyboardInterrupt:
    print("ended")
"""


@pytest.mark.parametrize(
    "call",
    [
        "toksmith.train(sys.argv[1], vocab_size=300)",
        "toksmith.compare([tok], files=sys.argv[1])",
    ],
)
def test_reading_an_idle_pipe_can_be_interrupted(tmp_path: Path, call: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = subprocess.run(
        [sys.executable, "-c", PIPE.replace("CALL", call), str(pipe)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (child.returncode, child.stdout, child.stderr) == (0, "ended\n", "")


IMPORT = """
import signal, sys, toksmith
from toksmith._base import lazy

class Finder:
    def find_spec(self, name, *_):
        if name in WANTED:
            WANTED.clear()
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:  # as NumPy's C code does during its import
                print("lost")

BEFORE
WANTED = MODULES
sys.meta_path.insert(0, Finder())
try:
    CALL
except KeyboardInterrupt:
    print("heard")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
import numpy
print(numpy.random.default_rng(3).integers(1))
"""


def run_import(before: str, call: str, modules: tuple[str, ...] = ("numpy", "regex")) -> str:
    """Run a call in a new process, with Ctrl-C at the start of imports; return what it printed."""
    script = IMPORT.replace("MODULES", repr([*modules])).replace("BEFORE", before)
    child = subprocess.run(
        [sys.executable, "-c", script.replace("CALL", call)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (child.returncode, child.stderr) == (0, "")
    return child.stdout


@pytest.mark.parametrize(
    ("before", "call"),
    [
        ("", "toksmith.train(texts=['low lower'], vocab_size=257, progress=False)"),
        ("tok = toksmith.get('toksmith-small')", "tok.encode_array('low')"),
        ("", "lazy.np.int64"),
        ("", "lazy.extra('numpy', 'arrow')"),
        ("", "lazy.pattern('low').match('low')"),
    ],
)
def test_an_interrupted_import_ends_before_the_call_does(before: str, call: str) -> None:
    assert run_import(before, call) == "heard\n0\n"


def test_a_part_of_numpy_is_imported_as_a_whole() -> None:
    program = "import sys, numpy; sys.exit('numpy.random' in sys.modules)"
    if subprocess.run([sys.executable, "-c", program], check=False).returncode:
        pytest.skip("this version of NumPy imports numpy.random at its start")
    call = "lazy.np.random.default_rng"
    assert run_import("lazy.np.int64", call, ("numpy.random",)) == "heard\n0\n"


def test_imports_in_other_threads_leave_the_handler_alone() -> None:
    before = "import threading; thread = threading.Thread(target=lambda: lazy.np.int64)"
    assert run_import(before, "thread.start(); thread.join()", ()) == "0\n"


def test_an_import_keeps_ctrl_c_ignored() -> None:
    before = "signal.signal(signal.SIGINT, signal.SIG_IGN)"
    call = (
        "lazy.np.int64; print(signal.getsignal(signal.SIGINT).name); "
        "signal.signal(signal.SIGINT, signal.default_int_handler)"
    )
    assert run_import(before, call) == "SIG_IGN\n0\n"


@pytest.mark.parametrize("errors", ["replace", "ignore", "backslashreplace", "surrogatepass"])
def test_blocks_of_invalid_text_are_decoded_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, errors: str
) -> None:
    pieces = ["é".encode(), "語".encode(), "😀".encode(), b"a", b"\xed\xa0\x80"]
    if errors != "surrogatepass":
        pieces += [b"\x80", b"\xf0\x9f", b"\xe2", b"\xff", b"\x80" * 9]
    random = np.random.default_rng(3)
    data = b"".join(pieces[i] for i in random.integers(0, len(pieces), 3_000))
    for block in range(1, 9):
        monkeypatch.setattr(toksmith._base.text, "_BLOCK", block)
        assert toksmith._base.text.decode_utf8(data, errors) == data.decode("utf-8", errors)


def test_long_strings_are_encoded_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["", "a", "aé語😀" * 3, "a" * 9, "ab\ud83d\ude00c", "\ud83dab"]
    whole = [toksmith._base.text.utf8(text) for text in texts]
    assert whole[4:] == ["ab😀c".encode(), "\ufffdab".encode()]
    for block in (1, 2, 3, 4):
        monkeypatch.setattr(toksmith._base.text, "_CHARACTERS", block)
        assert [toksmith._base.text.utf8(text) for text in texts] == whole


def test_words_of_a_long_text_are_counted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "to be  or not to be, that is the question: whether 'tis nobler in the mind"

    def vocabulary() -> list[bytes]:
        return [
            *toksmith.train(texts=[text], model="unigram", vocab_size=30, progress=False).tokens
        ]

    whole = vocabulary()
    monkeypatch.setattr(aligned, "_BLOCK", 3)
    monkeypatch.setattr(symbol_words, "_BLOCK", 2)
    assert vocabulary() == whole


@pytest.mark.parametrize("size", [0, 1, 4, 5, 9, 100])
def test_words_are_sorted_in_parts(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(by_frequency, "_SORTED", 4)
    numbers = np.random.default_rng(size).integers(0, 9, size).tolist()
    pairs = [(-number, b"%d" % (number * place % 7)) for place, number in enumerate(numbers)]
    assert by_frequency.sort_in_parts(pairs) == sorted(pairs)


def test_ids_of_other_types_are_converted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portable, "_BLOCK", 2)
    ids = np.array([97, 98, 99, 100, 2**32 - 1], np.int64)
    found = toksmith.tokenizer.decode.id_array(ids)
    assert found.dtype == np.uint32
    assert found.tolist() == [97, 98, 99, 100, 2**32 - 1]
    ids[3] = -1
    with pytest.raises(toksmith.errors.UnknownTokenError, match="id -1 at position 3"):
        toksmith.tokenizer.decode.id_array(ids)


def test_numpy_never_looks_up_attributes_of_enums(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where NumPy compares with an enum, it drops what Python code raises, Ctrl-C included."""
    found: list[str] = []

    def look_up(cls: type, name: str) -> object:
        if name.startswith("__array"):
            found.append(f"{name} of {cls.__name__}")
        raise AttributeError(name)

    monkeypatch.setattr(enum.EnumType, "__getattr__", look_up, raising=False)
    assert (np.ones(1, np.uint8) == enum.IntEnum("Sample", "ONE").ONE).all()
    assert found  # what the test looks for
    found.clear()
    sizes = {"wordpiece": 50, "unigram": 30}
    for model in ("wordpiece", "unigram", "sentencepiece-bpe", "sentencepiece-unigram"):
        size = sizes.get(model, 34)
        tok = toksmith.train(texts=[SHORT] * 9, model=model, vocab_size=size, progress=False)
        toksmith.audit(tok)
        for suffix in (".json", ".model", ".gguf"):
            with suppress(toksmith.errors.ToksmithError):
                tok.save(tmp_path / f"{model}{suffix}")
                assert toksmith.load(tmp_path / f"{model}{suffix}").encode(SHORT)
        monkeypatch.setenv("TOKSMITH_ENGINE", "reference")
        slow = toksmith.Tokenizer(tok.pipeline)
        assert slow.decode(slow.encode(SHORT)) == SHORT
        monkeypatch.delenv("TOKSMITH_ENGINE")
    assert found == []


def test_a_call_without_the_gil_looks_for_signals_first() -> None:
    """Between two such calls, no code of Python that would notice the signal need run."""
    decoder = _kernel.Decoder((b"a",), None)
    no_ids = np.zeros(0, np.uint32)
    reached: list[int] = []
    calls = [
        partial(ctypes.pythonapi.PyErr_SetInterrupt),
        partial(decoder.decode, no_ids, 1),
        partial(reached.append, 1),
    ]
    with pytest.raises(KeyboardInterrupt):
        any(map(partial.__call__, calls))  # calls one after the other without code of Python
    assert not reached
