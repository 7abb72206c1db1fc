"""Token files: writes a corpus as token files for training, reads them, checks and packs them.

A corpus goes through these steps:

1. A *job* (``job.py``) is all that decides the bytes of the output: sources, tokenizer, options. It
   divides the sources into shards.
2. Each shard is tokenized (``shard.py``) into a *spool* (``spool.py``): ids and lengths on disk,
   with a journal, so that a killed run goes on where it stopped.
3. When all shards are done, the spools are joined, shuffled or cut to sequences
   (``arrangement.py``), a *format* writes its files (``format.py``, ``formats/``), and the manifest
   comes last (``finishing.py``, ``manifest.py``).

:func:`open_tokens` reads the files of all formats. :func:`pack` assigns documents to sequences
(``packing/``) as an index, through which the files are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toksmith._base.lazy import names

if TYPE_CHECKING:
    from toksmith.tokenfiles.checking import verify_tokens
    from toksmith.tokenfiles.converting import convert_tokens
    from toksmith.tokenfiles.findings import Problem, TokenCheck
    from toksmith.tokenfiles.manifest import Manifest
    from toksmith.tokenfiles.opening import open_tokens
    from toksmith.tokenfiles.packing.index import PackIndex, PackReport, pack
    from toksmith.tokenfiles.packing.order import RowOrder
    from toksmith.tokenfiles.packing.rows import PackedRow, PackedRows
    from toksmith.tokenfiles.token_files import TokenFiles
    from toksmith.tokenfiles.tokenizing import finish_corpus, tokenize_corpus

__all__ = [
    "Manifest",
    "PackIndex",
    "PackReport",
    "PackedRow",
    "PackedRows",
    "Problem",
    "RowOrder",
    "TokenCheck",
    "TokenFiles",
    "convert_tokens",
    "finish_corpus",
    "open_tokens",
    "pack",
    "tokenize_corpus",
    "verify_tokens",
]

_MODULES = {
    "Manifest": "manifest",
    "PackIndex": "packing.index",
    "PackReport": "packing.index",
    "PackedRow": "packing.rows",
    "PackedRows": "packing.rows",
    "Problem": "findings",
    "RowOrder": "packing.order",
    "TokenCheck": "findings",
    "TokenFiles": "token_files",
    "convert_tokens": "converting",
    "finish_corpus": "tokenizing",
    "open_tokens": "opening",
    "pack": "packing.index",
    "tokenize_corpus": "tokenizing",
    "verify_tokens": "checking",
}
"""The module of each public name."""

__getattr__ = names(__name__, _MODULES)
