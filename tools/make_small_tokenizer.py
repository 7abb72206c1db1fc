"""Trains the tokenizer that the package includes, from a folder of public-domain texts.

The folder holds `dickens.txt`, `jargon.txt`, `sqlite3.c`, `yt_dlp.py`, `udhr-major/*.txt` and
`udhr/*.txt`; `src/toksmith/data/README.md` says where each comes from.

    python -m tools.make_small_tokenizer FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import toksmith

TARGET = Path(__file__).resolve().parents[1] / "src/toksmith/data/toksmith-small.tiktoken"
WEIGHTS = {
    "dickens.txt": 1.0,
    "jargon.txt": 2.0,
    "sqlite3.c": 0.15,
    "udhr": 0.1,
    "udhr-major": 4.0,
    "yt_dlp.py": 1.0,
}


def main(folder: Path) -> None:
    """Train on the texts of a folder, and write the file of ranks."""
    tok = toksmith.train(
        [folder / name for name in WEIGHTS],
        vocab_size=16_384,
        split="o200k",
        special_tokens=["<|endoftext|>", "<|pad|>"],
        weights={str(folder / name): weight for name, weight in WEIGHTS.items()},
    )
    tok.save(TARGET, record=False)
    # Split and special tokens are in toksmith.formats.published, as for other published tokenizers.
    TARGET.with_name(TARGET.name + ".json").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
