"""nanoGPT's files: bare uint16 ids, ``train.bin`` and ``val.bin``.

Source: ``data/*/prepare.py`` and ``train.py`` of https://github.com/karpathy/nanoGPT. A document is
followed by the end-of-text id. Bounds of documents are not stored.
"""

from __future__ import annotations

from pathlib import Path

from toksmith._base.lazy import np
from toksmith.tokenfiles.format import Format, Settings
from toksmith.tokenfiles.source import TokenSource
from toksmith.tokenfiles.token_files import RawPart, TokenFiles, lengths_by_eos, map_ids


class NanoGPT(Format):
    """Bare ids in uint16."""

    name = "nanogpt"
    eos = "after"
    empty = "frame"
    types = (("uint16", 1 << 16),)

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM.bin``."""
        path = folder / f"{settings.stem}.bin"
        tokens.save_ids(path)
        return [path]

    def find(self, path: Path) -> list[Path]:
        """Return ``*.bin`` of a folder that are no pair with an ``.idx``."""
        if path.is_dir():
            found = sorted(path.glob("*.bin"))
        else:
            found = [path] if path.suffix == ".bin" and path.is_file() else []
        return [file for file in found if not file.with_suffix(".idx").exists()]

    def open(self, path: Path, *, eos: int | None, dtype: str | None) -> TokenFiles:
        """Open the files; documents end with ``eos``."""
        kind = np.dtype(dtype or "uint16").newbyteorder("<")
        parts = []
        for file in self.find(path):
            lengths = lengths_by_eos(map_ids(file, kind), eos, self.eos)
            parts.append(RawPart(file, kind, lengths))
        return TokenFiles(path, self.name, kind, parts)


FORMAT = NanoGPT()
