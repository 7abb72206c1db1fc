"""The inputs: texts, and vocabularies with the files that each library loads."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.forms import SEPARATOR
from toksmith import load, train
from toksmith.splitters import FAMILIES

SHARED = Path(__file__).resolve().parents[2] / "shared/data"
TEXTS = ("english", "code", "multilingual", "cjk")
FAMILY_OF = {"gpt2": "gpt2", "cl100k_base": "cl100k-tiktoken", "o200k_base": "o200k"}
# Those that one file describes in full: the kind of file, and its name.
FILE_OF = {
    "llama2": ("model", "llama2.model"),
    "english8k": ("model", "english8k_unigram.model"),
    "bert_uncased": ("json", "bert_uncased_tokenizer.json"),
}
LIBRARY_BYTES = 20_000_000
MOST_IDS = 10_000_000

Vocabulary = dict[str, Any]
"""As the worker wants it: ``name`` and, by kind, its files: ``ranks``, ``model``, ``json``.

Ranks alone say little; ``family``, ``pattern`` and ``special_tokens`` stand beside them.
"""


def texts(
    folder: Path | None, names: Sequence[str], limit: int | None, scratch: Path
) -> dict[str, Path]:
    """Return the texts to measure by name; the standard library's sources where there are none."""
    if folder is None:
        path = scratch / "standard_library.txt"
        path.write_text(SEPARATOR.join(_standard_library()), encoding="utf-8")
        found = {"standard_library": path}
    else:
        there = {path.stem: path for path in sorted(folder.glob("*.txt"))}
        wanted = names or [name for name in TEXTS if name in there] or list(there)
        if not wanted or not set(wanted) <= set(there):
            raise SystemExit(
                f"{folder} holds no {', '.join(wanted) or 'texts'}, but: {list(there)}"
            )
        found = {name: there[name] for name in wanted}
    if limit is None:
        return found
    return {name: shortened(path, limit, scratch) for name, path in found.items()}


def vocabularies(
    folder: Path | None, names: Sequence[str], text: Path, scratch: Path
) -> dict[str, Vocabulary]:
    """Return what to encode with, by name; one trained on the text where there is nothing."""
    if folder is None:
        split = "cl100k-tiktoken"
        tokenizer = train(text, vocab_size=16_384, split=split, separator=SEPARATOR)
        tokenizer.save(ranks := scratch / "trained.tiktoken")
        return {"trained": _vocabulary("trained", ranks, split, {}, scratch)}
    specials = json.loads((folder / "encodings.json").read_text())
    found = {}
    for name in names or FAMILY_OF:
        if name in FILE_OF:
            kind, file = FILE_OF[name]
            found[name] = {"name": name, kind: str(folder / file)}
            continue
        ranks, special = folder / f"{name}.tiktoken", specials[name]["special_tokens"]
        found[name] = _vocabulary(name, ranks, FAMILY_OF[name], special, scratch)
    return found


def shortened(path: Path, limit: int, scratch: Path) -> Path:
    """Return a file with so many bytes of a text, or less where a character would be cut."""
    if path.stat().st_size <= limit:
        return path
    short = scratch / f"{limit} bytes of {path.name}"
    with path.open("rb") as file:
        short.write_bytes(file.read(limit).decode("utf-8", "ignore").encode())
    return short


def joined(paths: Sequence[Path], scratch: Path) -> Path:
    """Return a file with several texts, the separator of documents between them."""
    whole = scratch / f"{' and '.join(path.stem for path in paths)}.txt"
    if not whole.exists():
        whole.write_bytes(SEPARATOR.encode().join(path.read_bytes() for path in paths))
    return whole


def some_ids(vocabulary: Vocabulary, path: Path, scratch: Path) -> Path:
    """Return a file with the first ids of a text, as many as are decoded, as uint32."""
    ids = scratch / f"{vocabulary['name']} ids of {path.name}"
    if not ids.exists():
        tokenizer = load(vocabulary.get("model") or vocabulary["json"])
        ids.write_bytes(tokenizer.encode_array(path.read_bytes())[:MOST_IDS].tobytes())
    return ids


def _vocabulary(
    name: str, ranks: Path, family: str, special_tokens: dict[str, int], scratch: Path
) -> Vocabulary:
    # The last spelling of a family is tiktoken's own, which is the fastest there.
    pattern = (FAMILIES[family].pattern, *FAMILIES[family].spellings)[-1]
    # tokenizers loads nothing but its own format, and knows the patterns as first published.
    as_json = scratch / f"{name}.json"
    plain = family.removesuffix("-tiktoken")
    load(ranks, split=plain, special_tokens=special_tokens).save(as_json)
    return {
        "name": name,
        "ranks": str(ranks),
        "json": str(as_json),
        "family": family,
        "pattern": pattern,
        "special_tokens": special_tokens,
    }


def _standard_library() -> Iterator[str]:
    size = 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if size > LIBRARY_BYTES or "site-packages" in path.parts:
            continue
        text = path.read_text(encoding="utf-8", errors="replace").replace(SEPARATOR, "")
        size += len(text)
        yield text
