"""The package without its compiled module: files are read, and the reference engine encodes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES
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
    found = run(ENCODE, files, "kernel")
    assert "EngineError: the compiled module of toksmith cannot be imported" in found.stderr
    assert "TOKSMITH_ENGINE=reference" in found.stderr


@pytest.fixture(scope="module")
def python_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the Python files of the package, as on a platform without a wheel."""
    folder = tmp_path_factory.mktemp("alone")
    ignored = shutil.ignore_patterns("_kernel.*.so", "_kernel.*.pyd", "_kernel*.so", "__pycache__")
    shutil.copytree(Path(toksmith.__file__).parent, folder / "toksmith", ignore=ignored)
    return folder


def run_alone(
    code: str, folder: Path, engine: str = "", paths: Sequence[Path] = ()
) -> subprocess.CompletedProcess[str]:
    start = f"import sys; sys.path.insert(0, {str(folder)!r}); import toksmith\n"
    check = f"assert toksmith.__file__.startswith({str(folder)!r}), toksmith.__file__\n"
    return run(start + check + code, paths, engine, hide="")


def test_python_files_alone_encode_with_one_warning(
    files: Sequence[Path], python_alone: Path
) -> None:
    found = run_alone(ENCODE, python_alone, paths=files)
    assert found.returncode == 0, found.stderr
    assert found.stdout == run(ENCODE, files, "kernel", hide="import sys").stdout
    assert found.stderr.count("UserWarning: toksmith has no compiled module") == 1
    assert run_alone(ENCODE, python_alone, "reference", files).stderr == ""


def test_python_files_alone_train_bpe_as_the_kernel_does(
    tmp_path: Path, python_alone: Path
) -> None:
    text = "low lower lowest newest é " * 9 + "aaaa\n\nbbbb 2026"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    code = """
for ties in ("first-seen", "smallest-pair"):
    tok = toksmith.train(sys.argv[1], vocab_size=280, ties=ties, special_tokens=["<s>"])
    found = tok.training
    print(tok.merge_table[:], found.tokens, found.chunks, found.bytes, found.documents)
    print(found.tokens_after.tolist())
"""
    alone = run_alone(code, python_alone, paths=[tmp_path / "a.txt"])
    assert alone.returncode == 0, alone.stderr
    kernel = run("import toksmith\n" + code, [tmp_path / "a.txt"], "", hide="import sys\n")
    assert kernel.returncode == 0, kernel.stderr
    assert alone.stdout == kernel.stdout


def test_other_training_says_what_is_missing(python_alone: Path) -> None:
    code = """
for options in (
    {"model": "wordpiece"}, {"model": "unigram"}, {"model": "sentencepiece-bpe"}, {"model": "char"},
    {"unit": "characters"}, {"memory": "1G"}, {"min_count": 2}, {"continue_from": "toksmith-small"},
):
    try:
        toksmith.train(texts=["low lower"], vocab_size=17000, **options)
    except toksmith.errors.EngineError as missing:
        print("compiled module of toksmith" in str(missing))
"""
    found = run_alone(code, python_alone, "reference")
    assert found.stdout == "True\n" * 8, found.stderr


def test_a_damaged_module_is_an_error(tmp_path: Path, python_alone: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(python_alone, folder)
    (folder / "toksmith" / f"_kernel{EXTENSION_SUFFIXES[0]}").write_bytes(b"damaged")
    found = run_alone("toksmith.get('toksmith-small')", folder)
    assert "EngineError: the compiled module of toksmith cannot be imported" in found.stderr


def test_the_command_line_without_the_module(python_alone: Path) -> None:
    code = "from toksmith.cli import main; sys.argv[1:] = ['encode', 'low', '-t', 'toksmith-small']"
    found = run_alone(f"{code}; main()", python_alone)
    assert found.stdout.split() == [*map(str, toksmith.get("toksmith-small").encode("low"))]
    assert found.stderr.count("toksmith has no compiled module") == 1
