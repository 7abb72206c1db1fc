"""Fixtures that all tests share, and a count of tests skipped because data is missing."""

from __future__ import annotations

import base64
import signal
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe import recover_merges
from toksmith.splitters import splitter

SHARED = Path(__file__).resolve().parents[2] / "shared"
NO_SHARED = f"needs the shared test data, expected in ../{SHARED.name} beside the checkout"

# A shell's background jobs ignore Ctrl-C, and so would the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("toksmith", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("toksmith")


@pytest.fixture
def threads_alternate_often() -> Iterator[None]:
    """Let Python switch threads at every chance, so that a race shows with a GIL too."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of corpora, vocabularies and figures beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED


@pytest.fixture(scope="session")
def corpus(shared: Path) -> Callable[..., bytes]:
    """``corpus(name, size=None, start=0)``: a corpus or a part of it, cut between characters."""

    def read(name: str, size: int | None = None, start: int = 0) -> bytes:
        with (shared / "data/corpus" / name).open("rb") as file:
            file.seek(start)
            data = file.read() if size is None else file.read(size)
        return data.decode("utf-8", "ignore").encode()

    return read


@pytest.fixture(scope="session")
def bert_vocab(shared: Path) -> tuple[bytes, ...]:
    """The tokens of BERT's uncased vocabulary."""
    return tuple((shared / "data/vocab/bert_uncased_vocab.txt").read_bytes().splitlines())


@pytest.fixture(scope="session")
def ranks(shared: Path) -> Callable[[str], dict[bytes, int]]:
    """``ranks(name)``: the ranks of gpt2, cl100k_base or o200k_base, as tiktoken reads them."""

    @cache
    def read(name: str) -> dict[bytes, int]:
        lines = (shared / f"data/vocab/{name}.tiktoken").read_bytes().splitlines()
        pairs = (line.split() for line in lines)
        return {base64.b64decode(token): int(rank) for token, rank in pairs}

    return read


@pytest.fixture(scope="session")
def tiktoken_encoding(ranks: Callable[[str], dict[bytes, int]]) -> Callable[[str], Any]:
    """``tiktoken_encoding(name)``: tiktoken's own encoding, from the shared files, offline."""
    tiktoken = pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")

    def from_file(url: str, **_: object) -> dict[bytes, int]:
        return ranks(Path(url).stem.replace("r50k_base", "gpt2"))

    @cache
    def build(name: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(public, "load_tiktoken_bpe", from_file)
            patch.setattr(public, "data_gym_to_mergeable_bpe_ranks", lambda **_: ranks("gpt2"))
            return tiktoken.Encoding(**public.ENCODING_CONSTRUCTORS[name]())

    return build


@pytest.fixture(scope="session")
def published(ranks: Callable[[str], dict[bytes, int]]) -> Callable[[str], Pipeline]:
    """``published(name)``: the pipeline of gpt2 or cl100k_base, built without the formats."""
    families = {"gpt2": "gpt2", "cl100k_base": "cl100k-tiktoken", "o200k_base": "o200k"}

    @cache
    def build(name: str) -> Pipeline:
        vocab = tuple(sorted(ranks(name), key=ranks(name).__getitem__))
        model = BPE(vocab, recover_merges(vocab), whole_chunk_first=True)
        return Pipeline(model, splitter(families[name]))

    return build


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = [r for r in terminalreporter.stats.get("skipped", []) if NO_SHARED in str(r.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} tests skipped: {NO_SHARED}", yellow=True)
