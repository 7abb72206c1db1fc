"""minbpe's functions of pairs, and the class that its tokenizers share."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from toksmith._base import lazy
from toksmith._base.files import write_bytes
from toksmith.formats.gap_patterns import uncover_gaps
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter
from toksmith.tokenizer import Tokenizer as Engine

if TYPE_CHECKING:
    from toksmith import trainers
else:
    trainers = lazy.module("toksmith.trainers")

Pair = tuple[int, int]

_MAGIC = "minbpe v1"


def get_stats(ids: Sequence[int], counts: dict[Pair, int] | None = None) -> dict[Pair, int]:
    """Count the pairs of neighbours; overlapping pairs all count.

    Args:
        ids: the ids.
        counts: counts to add to, which are changed; ``None`` starts from nothing.

    Example:
        >>> get_stats([1, 2, 3, 1, 2])
        {(1, 2): 2, (2, 3): 1, (3, 1): 1}
    """
    counts = {} if counts is None else counts
    for pair in pairwise(ids):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge(ids: Sequence[int], pair: Pair, idx: int) -> list[int]:
    """Return ids with each occurrence of a pair replaced by one id, from left to right.

    Args:
        ids: the ids.
        pair: the two ids to join.
        idx: the new id.

    Example:
        >>> merge([1, 2, 3, 1, 2], (1, 2), 4)
        [4, 3, 4]
    """
    merged: list[int] = []
    place = 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == tuple(pair):
            merged.append(idx)
            place += 2
        else:
            merged.append(ids[place])
            place += 1
    return merged


def replace_control_characters(s: str) -> str:
    r"""Return a text with control characters, and other invisible ones, escaped.

    Args:
        s: the text.

    Example:
        >>> print(replace_control_characters("a\n"))
        a\u000a
    """
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c)[0] == "C" else c for c in s)


def render_token(t: bytes) -> str:
    r"""Return the text of a token, with U+FFFD for invalid UTF-8, and control characters escaped.

    Args:
        t: the token.

    Example:
        >>> print(render_token(b"low\n\xff"))
        low\u000a�
    """
    return replace_control_characters(t.decode("utf-8", "replace"))


class Tokenizer:
    """The base of minbpe's tokenizers.

    Attributes:
        merges: the id that each pair becomes, in the order of training.
        pattern: the split pattern; ``""`` for none.
        special_tokens: the ids of special tokens by literal.
        vocab: the bytes of each id.

    Example:
        >>> Tokenizer().vocab[97]
        b'a'
    """

    def __init__(self) -> None:
        self.merges: dict[Pair, int] = {}
        self.pattern = ""
        self.special_tokens: dict[str, int] = {}
        self.vocab = self._build_vocab()
        self._compiled: tuple[object, Engine] | None = None

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Learn merges from a text; of equally frequent pairs, the one seen first comes first.

        Args:
            text: the text.
            vocab_size: the number of ids, 256 for the bytes included.
            verbose: whether to print each merge.

        Raises:
            AssertionError: ``vocab_size`` is less than 256.
            ValueError: the text has too few pairs.

        Example:
            >>> from toksmith.compat.minbpe import BasicTokenizer
            >>> tokenizer = BasicTokenizer()
            >>> tokenizer.train("low low", 257, verbose=True)
            merge 1/1: (108, 111) -> 256 (b'lo') had 2 occurrences
        """
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text.

        Args:
            text: the text.

        Example:
            >>> from toksmith.compat.minbpe import BasicTokenizer
            >>> BasicTokenizer().encode("low")
            [108, 111, 119]
        """
        raise NotImplementedError

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids, with U+FFFD for invalid UTF-8.

        Args:
            ids: the ids.

        Example:
            >>> from toksmith.compat.minbpe import BasicTokenizer
            >>> BasicTokenizer().decode([108, 111, 119])
            'low'
        """
        raise NotImplementedError

    def save(self, file_prefix: str) -> None:
        r"""Write ``<prefix>.model``, which :meth:`load` reads, and ``<prefix>.vocab`` to look at.

        Args:
            file_prefix: the path without its suffix.

        Example:
            >>> from toksmith.compat.minbpe import BasicTokenizer
            >>> BasicTokenizer().save("bytes")
            >>> Path("bytes.model").read_text()
            'minbpe v1\n\n0\n'
        """
        lines = [_MAGIC, self.pattern, str(len(self.special_tokens))]
        lines += [f"{literal} {idx}" for literal, idx in self.special_tokens.items()]
        lines += [f"{left} {right}" for left, right in self.merges]
        write_bytes(Path(f"{file_prefix}.model"), "".join(f"{each}\n" for each in lines).encode())
        write_bytes(Path(f"{file_prefix}.vocab"), vocab_text(self.vocab, self.merges).encode())

    def load(self, model_file: str) -> None:
        """Read a ``.model`` file that :meth:`save` wrote.

        Args:
            model_file: its path.

        Raises:
            AssertionError: the name does not end in ``.model``, or the file is no minbpe model.
            ValueError: a line of the file is damaged.

        Example:
            >>> from toksmith.compat.minbpe import BasicTokenizer
            >>> trained, loaded = BasicTokenizer(), BasicTokenizer()
            >>> trained.train("low low", 258)
            >>> trained.save("low")
            >>> loaded.load("low.model")
            >>> loaded.merges == trained.merges
            True
        """
        if not model_file.endswith(".model"):
            raise AssertionError(f"{model_file}: the name of a model ends in .model")
        magic, pattern, count, *rest = Path(model_file).read_text("utf-8").split("\n")
        if magic.strip() != _MAGIC:
            raise AssertionError(f"{model_file}: line 1 is {magic[:40]!r}, not {_MAGIC!r}")
        special: dict[str, int] = {}
        for line in rest[: int(count)]:
            literal, idx = line.split()
            special[literal] = int(idx)
        merges: dict[Pair, int] = {}
        lines = [line for line in rest[int(count) :] if line]
        for new, line in enumerate(lines, 256):
            left, right = map(int, line.split())
            merges[left, right] = new
        self.pattern = pattern.strip()
        self.merges, self.special_tokens = merges, special
        self.vocab = self._build_vocab()

    def _build_vocab(self) -> dict[int, bytes]:
        vocab = merged_vocab(self.merges)
        vocab.update((idx, literal.encode()) for literal, idx in self.special_tokens.items())
        return vocab

    def _learn(self, text: str, vocab_size: int, verbose: bool) -> None:
        """Train on the matches of the pattern in a text."""
        if vocab_size < 256:
            raise AssertionError(f"vocab_size is {vocab_size}: 256 ids are those of the bytes")
        wanted = vocab_size - 256
        merges: dict[Pair, int] = {}
        counts: Sequence[int] = ()
        if wanted:
            counted = trainers.Counts.from_texts([text], split=self.pattern or None, gaps="drop")
            with warnings.catch_warnings():  # of a text that runs out of pairs, an error here
                warnings.simplefilter("ignore")
                tok = trainers.train(
                    counts=counted, vocab_size=vocab_size, ties="first-seen", min_frequency=1
                )
            merges = {pair: 256 + rank for rank, pair in enumerate(tok.merges)}
            counts = tok.training.counts.tolist() if tok.training else ()
        if len(merges) < wanted:
            raise ValueError(
                f"the text runs out of pairs after {len(merges)} merges of {wanted}: use more "
                "text, or a smaller vocab_size"
            )
        self.merges, self.vocab = merges, merged_vocab(merges)
        if verbose:
            for (pair, idx), count in zip(merges.items(), counts, strict=True):
                new = f"{pair} -> {idx} ({self.vocab[idx]!r})"
                print(f"merge {idx - 255}/{wanted}: {new} had {count} occurrences")

    def _engine(self) -> Engine:
        """Return the tokenizer that encodes ordinary text, compiled anew after a change."""
        key = self._key()
        if self._compiled is None or self._compiled[0] != key:
            self._compiled = key, Engine(self._pipeline())
        return self._compiled[1]

    def _key(self) -> object:
        return id(self.merges), len(self.merges), self.pattern

    def _pipeline(self) -> Pipeline:
        tokens = merged_vocab(self.merges)
        vocab = tuple(tokens.get(idx, b"") for idx in range(max(tokens) + 1))
        ranked = sorted(self.merges.items(), key=lambda item: item[1])
        rows = [(*pair, idx) for pair, idx in ranked]
        return Pipeline(BPE(vocab, rows), split_of(self.pattern))


def split_of(pattern: str) -> PatternSplitter | None:
    """Return the splitter of a pattern, which drops the text between its matches."""
    return uncover_gaps(pattern) if pattern else None


def merged_vocab(merges: Mapping[Pair, int]) -> dict[int, bytes]:
    """Return the bytes of each id: of the 256 bytes, and of each merge."""
    vocab = {idx: bytes([idx]) for idx in range(256)}
    for (left, right), idx in merges.items():
        vocab[idx] = vocab[left] + vocab[right]
    return vocab


def vocab_text(vocab: Mapping[int, bytes], merges: Mapping[Pair, int]) -> str:
    """Return the content of a ``.vocab`` file: ``[a][b] -> [ab] 256`` for each id."""
    pairs = {idx: pair for pair, idx in merges.items()}
    lines = []
    for idx, token in vocab.items():
        parts = "".join(f"[{render_token(vocab[part])}]" for part in pairs.get(idx, ()))
        lines.append(f"{parts}{' -> ' if parts else ''}[{render_token(token)}] {idx}\n")
    return "".join(lines)
