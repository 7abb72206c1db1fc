"""Compares published models with the libraries they come from, on whole corpora.

Each `.model` is compared with `sentencepiece`, each `tokenizer.json` with `tokenizers`:

- ids of all documents of the corpora (separated by `<|endoftext|>`) and of random strings, these
  also with what the model puts around a text;
- tokens, their characters and their bytes, of the random strings and of some documents;
- the texts of these ids, and of random lists of ids;
- ids after the model was written and read in two formats that hold it, one after the other,
  and of the files that we write read by the other library.

Run with (half an hour on one core; `--size`, `--strings` and `--models` make it less):

    pip install sentencepiece==0.2.3 tokenizers==0.23.3; python -m tools.verify_published DATA

DATA holds `vocab/*.model`, `vocab/*_tokenizer.json` and `corpus/*.txt`. Each line of the table says
how many texts or lists of ids were compared, and how many of them differ; the first that does is
shown below it. The exit code is 1 if any does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import toksmith
from toksmith import Tokenizer
from toksmith.errors import UnsupportedError
from toksmith.formats import FORMATS
from toksmith.measure.hard_texts import random_strings
from toksmith.measure.verify import find_differing, same_vocabulary
from tools.peers import HuggingFace, Peer, SentencePiece
from tools.random_input import random_ids

CORPORA = ("english", "code", "multilingual", "cjk")
PEERS: dict[str, type[Peer]] = {".model": SentencePiece, ".json": HuggingFace}
Function: TypeAlias = Callable[[Sequence[Any]], list[Any]]
BATCH = 1_000_000  # characters that are encoded at a time


class Table:
    """Prints what was compared, a line each, and knows how much differed."""

    differences = 0

    def compare(
        self, model: str, what: str, items: Sequence[Any], ours: Function, theirs: Function
    ) -> None:
        """Compare what two functions make of items; both take a list of them and return one."""
        wrong, first = 0, ""
        start = time.perf_counter()
        for part in batches(items):
            for item, one, other in zip(part, ours(part), theirs(part), strict=True):
                if one != other:
                    wrong += 1
                    first = first or parted(item, one, other)
        self.line(model, what, len(items), wrong, first, time.perf_counter() - start)

    def line(
        self, model: str, what: str, count: int, wrong: int, first: str, seconds: float
    ) -> None:
        self.differences += wrong
        print(f"{model:18} {what:45} {count:8,} {wrong:7,} {seconds:6.0f} s", flush=True)
        if first:
            print(f"    {first}", flush=True)


def batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    start = size = 0
    for end, item in enumerate(items, 1):
        size += len(item)
        if size > BATCH or end == len(items):
            yield items[start:end]
            start, size = end, 0


def parted(item: Any, one: Sequence[Any], other: Sequence[Any]) -> str:
    """Return what differs, from a little before the first difference."""
    pairs = enumerate(zip_longest(one, other))
    place = next(place for place, (a, b) in pairs if a != b)
    part = slice(max(place - 3, 0), place + 5)
    return f"{item!r:.300} at {place}: ours {one[part]!r}, theirs {other[part]!r}"


def verify(table: Table, path: Path, documents: dict[str, list[str]], options: Any) -> None:
    name, peer, ours = _name(path), PEERS[path.suffix](path), toksmith.load(path)
    strings = random_strings(peer.pieces, options.strings)
    encode, framed = encoder(ours, peer.special), encoder(ours, peer.special, framed=True)
    for corpus, texts in documents.items():
        table.compare(name, f"ids of {corpus}", texts, encode, peer.encode)
    table.compare(name, "ids of random strings", strings, encode, peer.encode)
    theirs_framed = partial(peer.encode, framed=True)
    table.compare(name, "ids of random strings, framed", strings, framed, theirs_framed)

    located = partial(peer.located_by, ours), peer.located
    for corpus, texts in documents.items():
        table.compare(name, f"tokens and spans of {corpus}", sample(texts, options.spans), *located)
    table.compare(name, "tokens and spans of random strings", strings, *located)

    encoded, random = framed(strings), random_ids(peer.groups, options.ids)
    for skip in peer.skips:
        kind = ", special tokens skipped" if skip else ""
        decode = partial(decoded, ours, skip), partial(peer.decode, skip_special_tokens=skip)
        table.compare(name, f"texts of these ids{kind}", encoded, *decode)
        table.compare(name, f"texts of random ids{kind}", random, *decode)
    few = strings[:5_000] + [t for texts in documents.values() for t in sample(texts, 100_000)]
    round_trips(table, name, ours, few)


def encoder(tok: Tokenizer, special: str, framed: bool = False) -> Function:
    return lambda texts: tok.encode_batch(
        texts, special=special, add_special_tokens=framed, threads=1
    ).to_lists()


def decoded(tok: Tokenizer, skip: bool, lists: Sequence[list[int]]) -> list[str]:
    return [tok.decode(ids, skip_special_tokens=skip) for ids in lists]


def sample(texts: list[str], size: int) -> list[str]:
    """Return texts at equal distances, about ``size`` characters in all."""
    step = max(1, sum(map(len, texts)) // max(1, size))
    return texts[step // 2 :: step]


def round_trips(table: Table, name: str, ours: Tokenizer, texts: list[str]) -> None:
    """Write and read in one format, then another; have our files read by the other library."""
    with TemporaryDirectory() as folder:
        held = held_by(ours, Path(folder), reasons := {})
        for form, reason in reasons.items():
            print(f"{name:18} {form} refuses: {reason}")
        for first, tok in held.items():
            again = held_by(tok, Path(folder, f"from {first}"), {})
            for second, one in again.items():
                start = time.perf_counter()
                check = partial(find_differing, ours, one, texts, by="ids", special="encode")
                wrong = check() + check(add_special_tokens=True)
                differences = len(wrong) + (not same_vocabulary(ours, one))
                shown = f"{texts[wrong[0]]!r:.300}" if wrong else ""
                what, seconds = f"ids through {first} and {second}", time.perf_counter() - start
                table.line(name, what, len(texts), differences, shown, seconds)
        for form, kind, file in (
            ("sentencepiece", SentencePiece, "sentencepiece"),
            ("huggingface", HuggingFace, "huggingface/tokenizer.json"),
        ):
            if form in held:
                encode = encoder(ours, kind.special), kind(Path(folder, file)).encode
                table.compare(name, f"ids of our file of {form} there", texts, *encode)


def held_by(tok: Tokenizer, folder: Path, reasons: dict[str, str]) -> dict[str, Tokenizer]:
    """Return the tokenizer, written and read, of each format that holds it; collect refusals."""
    folder.mkdir(exist_ok=True)
    held = {}
    for form in FORMATS:
        path = folder / form
        try:
            tok.save(path, format=form)
            held[form] = toksmith.load(path, format=form)
        except UnsupportedError as reason:
            reasons[form] = str(reason).removeprefix(f"{path}: ")
    return held


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    documents = {name: _documents(options.data, name, options.size) for name in CORPORA}
    vocab = options.data / "vocab"
    paths = sorted(vocab.glob("*.model")) + sorted(vocab.glob("*_tokenizer.json"))
    table = Table()
    print(f"{'model':18} {'what':45} {'compared':>8} {'differ':>7}")
    for path in paths:
        if options.models is None or _name(path) in options.models:
            verify(table, path, documents, options)
    print(f"{table.differences} differences")
    return int(table.differences > 0)


def _name(path: Path) -> str:
    return path.stem.removesuffix("_tokenizer")


def _documents(data: Path, name: str, size: int | None) -> list[str]:
    with (data / "corpus" / f"{name}.txt").open(encoding="utf-8", newline="") as file:
        return file.read(size).split("<|endoftext|>")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    about = (__doc__ or "").split("\n", 1)[0]
    parser = argparse.ArgumentParser(prog="python -m tools.verify_published", description=about)
    parser.add_argument("data", type=Path, help="the folder that holds vocab/ and corpus/")
    parser.add_argument("--models", nargs="+", metavar="NAME", help="only these, such as llama2")
    parser.add_argument("--size", type=int, help="characters of each corpus (all)")
    number = partial(parser.add_argument, type=int)
    number("--strings", default=100_000, help="how many random strings (%(default)s)")
    number("--ids", default=20_000, help="how many random lists of ids (%(default)s)")
    number("--spans", default=300_000, help="characters of each corpus for spans (%(default)s)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
