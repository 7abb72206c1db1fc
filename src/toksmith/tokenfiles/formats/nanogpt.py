"""nanoGPT's files: bare ids, ``train.bin`` and ``val.bin``.

Source: ``data/*/prepare.py``, ``train.py`` and ``sample.py`` of
https://github.com/karpathy/nanoGPT. A file holds ids in uint16 and nothing else, so tokenizers have
65,536 ids at most. A document is followed by the end-of-text id, and an empty one is this id alone.
Bounds of documents are not stored: they are found again by the end-of-text id.

Without a split, the one file is ``train.bin``; ``train.py`` of nanoGPT needs ``val.bin`` too. At
character level a file ``meta.pkl`` is beside them: a pickled dictionary with the number of ids
(``vocab_size``), the character of each id (``itos``) and the id of each character (``stoi``).
``train.py`` takes the size of the model's vocabulary from it; without it that size is 50,304, as
GPT-2's tokenizer needs.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toksmith.errors import FormatError
from toksmith.models import LongestMatch
from toksmith.tokenfiles.format import Format, Place, Settings, type_of
from toksmith.tokenfiles.maps import map_ids
from toksmith.tokenfiles.source import TokenSource
from toksmith.tokenfiles.token_files import StreamPart, TokenFiles, head

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer

META = "meta.pkl"
_PROTOCOL = 4  # of pickles, the default of Python 3.8 to 3.13

_OTHERS = (
    *(magic.to_bytes(4, "little") for magic in (20240326, 20240328, 20240520, 20240522, 20240801)),
    b"PK\x03\x04\x00\x00\x08\x08",
    b"\x80\x02\x8a\nl\xfc\x9cF",
    b"GGUF\x03\x00\x00\x00",
)
"""The first bytes of other ``.bin`` files: those of llm.c, PyTorch's new and old, and GGUF."""


class NanoGPT(Format):
    """Bare ids in uint16."""

    name = "nanogpt"
    eos = "after"
    empty = "frame"
    stores_bounds = False
    types = (("uint16", 1 << 16),)

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM.bin``, and ``meta.pkl`` at character level."""
        path = folder / f"{settings.stem}.bin"
        tokens.save_ids(path)
        characters = _characters(settings.tokenizer) if settings.tokenizer else None
        if characters is None:
            return [path]
        meta = folder / META
        with meta.open("xb") as file:
            pickle.dump(
                {
                    "vocab_size": len(characters),
                    "itos": dict(enumerate(characters)),
                    "stoi": {character: number for number, character in enumerate(characters)},
                },
                file,
                protocol=_PROTOCOL,
            )
        return [path, meta]

    def find(self, path: Path) -> list[Path]:
        """Return the ``.bin`` files that no other format of ``.bin`` files claims."""
        found = sorted(path.glob("*.bin")) if path.is_dir() else [path]
        return [file for file in found if file.suffix == ".bin" and _is_bare(file)]

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the files; documents end with ``eos``."""
        kind = type_of(dtype)
        files = self.find(path)
        parts = [
            StreamPart([file], [map_ids(file, kind)], eos, place or self.eos) for file in files
        ]
        meta = files[0].with_name(META) if files else path
        metadata = _read_meta(meta) if meta.name == META and meta.is_file() else {}
        return TokenFiles(path, self.name, kind, parts, metadata)


def _is_bare(path: Path) -> bool:
    if not path.is_file() or path.stat().st_size % 2:
        return False
    of_megatron = path.with_suffix(".idx").exists()
    of_litdata = path.name.startswith("chunk-") and path.with_name("index.json").exists()
    return not of_megatron and not of_litdata and not head(path, 8).startswith(_OTHERS)


def _characters(tokenizer: Tokenizer) -> list[str] | None:
    """Return the text of each id of a tokenizer at character level, ``None`` for any other."""
    model = tokenizer.pipeline.model
    if not isinstance(model, LongestMatch):
        return None
    named = {*tokenizer.special_tokens.values(), model.unk_id}
    texts = [token.decode("utf-8", "replace") for token in tokenizer.tokens]
    if all(len(text) == 1 for number, text in enumerate(texts) if number not in named):
        return texts
    return None


class _Unpickler(pickle.Unpickler):
    """Reads dictionaries, strings and numbers, and no objects: no code is run."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it holds an object, {module:.40}.{name:.40}")


def _read_meta(path: Path) -> dict[str, object]:
    """Return the entries of a ``meta.pkl``.

    Raises:
        FormatError: it cannot be read, or is no dictionary of plain values.
    """
    try:
        found = _Unpickler(io.BytesIO(path.read_bytes())).load()
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong
    except Exception as wrong:  # a damaged pickle raises errors of many kinds
        raise FormatError(path, f"is no pickle of plain values: {wrong}") from wrong
    if not isinstance(found, dict):
        raise FormatError(path, "is no pickled dictionary")
    return {str(name): value for name, value in found.items()}


FORMAT = NanoGPT()
