"""``toksmith train --checkpoint``."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_the_folder_is_gone_when_the_file_is_written(
    run: Run, corpus_file: Path, tmp_path: Path
) -> None:
    arguments = ("train", corpus_file, "--vocab-size", 280, "-q", "-o")
    ran = run(*arguments, tmp_path / "a.model", "--checkpoint", tmp_path / "kept")
    assert (ran.code, ran.out, ran.err) == (0, b"", "")
    assert run(*arguments, tmp_path / "b.model").code == 0
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    assert not (tmp_path / "kept").exists()


def test_another_training_is_refused(run: Run, corpus_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    arguments = ("train", corpus_file, "-q", "--checkpoint", folder, "-o", tmp_path / "a.model")
    folder.mkdir()
    (folder / "training.json").write_text(
        '{"layout": 2, "options": {"model": "bpe", "vocab_size": 300}, "sources": {}}'
    )
    ran = run(*arguments, "--vocab-size", 280)
    assert ran.code == 2
    assert "is of another training: --vocab-size was 300, now 280" in ran.err
    ran = run(*arguments[:-1], tmp_path / "a.json", "--model", "unigram")
    assert "model was 'bpe', now 'unigram'" in ran.err


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_tells_how_to_go_on(tmp_path: Path) -> None:
    text, folder, path = tmp_path / "a.txt", tmp_path / "kept", tmp_path / "a.model"
    rng = random.Random(3)
    text.write_text("".join(rng.choices("abcdefghijklmnop", k=2_000_000)), encoding="utf-8")
    command = [
        *(sys.executable, "-m", "toksmith", "train", str(text), "--vocab-size", "500000"),
        *("--split", "none", "-o", str(path), "--checkpoint", str(folder), "-q"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        while not (folder / "counts-0000.json").exists():
            time.sleep(0.02)
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert re.fullmatch(
        r"toksmith: interrupted: (the counts of 1 part of the text|[\d,]+ merges? and the counts) "
        f"are stored in {re.escape(str(folder))}: the same command continues from them\n",
        err,
    )
    assert not path.exists()
    assert (folder / "counts-0000.json").exists()
