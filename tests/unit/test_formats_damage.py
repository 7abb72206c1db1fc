"""Truncated files; ``test_fuzzing.py`` has other damages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kits.bpe import pipeline
from toksmith import formats
from toksmith.errors import FormatError


def test_every_truncation(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    formats.write(pipeline(), path)
    sound = path.read_bytes()
    for end in range(0, len(sound) - 2, 37):  # the last bytes are the brace and a line end
        path.write_bytes(sound[:end])
        with pytest.raises(FormatError):
            formats.read(path)
