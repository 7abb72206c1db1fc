"""The package without its compiled module: files are read, and the reference engine encodes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import toksmith

HIDE = """
import sys

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name == "toksmith._kernel":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hide())
"""

ENCODE = """
import toksmith

for path in sys.argv[1:]:
    tok = toksmith.load(path)
    encoding = tok.encoding("lowest é")
    print(tok.encode("lowest é"), encoding.byte_spans.tolist(), tok.decode(encoding.ids))
    print(tok.encode_batch(["low", "", "lowest"]).to_lists())
"""


def run(
    code: str, paths: Sequence[Path], engine: str, hide: str = HIDE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", hide + code, *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TOKSMITH_ENGINE": engine, "PYTHONUTF8": "1"},
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """A file of byte-level BPE in each of three formats, and one of WordPiece."""
    folder = tmp_path_factory.mktemp("files")
    bpe = toksmith.train(texts=["low lower lowest"], vocab_size=259)
    words = toksmith.train(texts=["low lower lowest é"], vocab_size=21, model="wordpiece")
    paths = [folder / name for name in ("a.tiktoken", "a.model", "a.json", "words.json")]
    bpe.save(paths[0], format="tiktoken")
    bpe.save(paths[1], format="minbpe")
    bpe.save(paths[2], format="huggingface")
    words.save(paths[3], format="huggingface")
    return paths


def test_files_are_read_and_texts_encoded(files: Sequence[Path]) -> None:
    found = run(ENCODE, files, "reference")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.count("lowest é\n") == 3
    assert found.stdout.count("lowest e\n") == 1  # WordPiece's normalizer strips accents
    assert found.stdout == run(ENCODE, files, "kernel", hide="import sys").stdout


def test_the_kernel_engine_says_what_is_missing(files: Sequence[Path]) -> None:
    found = run(ENCODE, files, "")
    assert "EngineError: the compiled module of toksmith cannot be imported" in found.stderr
    assert "TOKSMITH_ENGINE=reference" in found.stderr
