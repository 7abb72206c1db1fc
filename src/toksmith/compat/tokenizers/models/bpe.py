"""The model of byte pair encoding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from toksmith.compat.tokenizers.checks import (
    Check,
    arguments,
    boolean,
    optional,
    real,
    sequence,
    string,
    unsigned,
)
from toksmith.compat.tokenizers.component import compact_json, setting
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.compat.tokenizers.models.arguments import (
    check_vocab,
    known_options,
    read_ids,
    read_lines,
)
from toksmith.compat.tokenizers.models.base import RANDOM, Model, by_id
from toksmith.compat.tokenizers.random_merges import merge_at_random
from toksmith.errors import OptionError
from toksmith.reference import bpe, character_bpe
from toksmith.reference.chunk_models import ChunkModel

_OPTIONS: dict[str, Check] = {
    "cache_capacity": unsigned,
    "dropout": optional(real),
    "unk_token": optional(string),
    "continuing_subword_prefix": string,
    "end_of_word_suffix": string,
    "fuse_unk": boolean,
    "byte_fallback": boolean,
    "ignore_merges": boolean,
}


class BPE(Model, type="BPE"):
    """Byte pair encoding.

    Args:
        vocab: the id of each token, or the path of a vocab.json.
        merges: the pairs that are merged, the first one first, or the path of a merges.txt.
        options: ``dropout`` (the probability that a merge is skipped, drawn anew for each word of
            each text), ``unk_token``, ``continuing_subword_prefix``,
            ``end_of_word_suffix``, ``fuse_unk``, ``byte_fallback``, ``ignore_merges`` and
            ``cache_capacity``, which does nothing.

    Raises:
        OptionError: only one of vocab and merges is given.
        TokenizersError: a merge has a token that the vocabulary lacks.

    Example:
        >>> model = BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])
        >>> [token.as_tuple() for token in model.tokenize("abb")]
        [(2, 'ab', (0, 2)), (1, 'b', (2, 3))]
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {},
        "merges": [],
    }
    dropout = setting("dropout", "The share of merges that encoding leaves out.", optional(real))
    unk_token = setting("unk_token", "The unknown token.", optional(string))
    continuing_subword_prefix = setting(
        "continuing_subword_prefix", "The start of tokens inside a word.", optional(string)
    )
    end_of_word_suffix = setting(
        "end_of_word_suffix", "The end of tokens at the end of a word.", optional(string)
    )
    fuse_unk = setting("fuse_unk", "Whether unknown tokens in a row become one.", boolean)
    byte_fallback = setting("byte_fallback", "Whether unknown characters become bytes.", boolean)
    ignore_merges = setting("ignore_merges", "Whether whole words need no merges.", boolean)

    def __init__(
        self,
        vocab: dict[str, int] | str | None = None,
        merges: list[tuple[str, str]] | str | None = None,
        **options: Any,
    ) -> None:
        vocab = vocab if vocab is None or isinstance(vocab, str) else check_vocab(vocab)
        merges = merges if merges is None or isinstance(merges, str) else _pairs(merges)
        if (vocab is None) != (merges is None):
            raise OptionError("`vocab` and `merges` must be both specified")
        if isinstance(vocab, str) or isinstance(merges, str):
            if not (isinstance(vocab, str) and isinstance(merges, str)):
                raise OptionError("`vocab` and `merges` must be both be from memory or both files")
            try:
                vocab, merges = self.read_file(vocab, merges)
            except TokenizersError as wrong:
                raise TokenizersError(f"Error while initializing BPE: {wrong}") from wrong
        kept = known_options(options, _OPTIONS, "kwarg")
        _check_dropout(kept.get("dropout"), "Error while initializing BPE: ")
        self._start(**kept, vocab=by_id(vocab or {}), merges=[*(merges or ())])
        self._check_merges("Error while initializing BPE: ")

    def _read(self, spec: Mapping[str, Any]) -> None:
        merges = spec.get("merges", [])
        self._read_vocab(spec)
        self._spec["merges"] = [
            tuple(each.split(" ", 1)) if isinstance(each, str) else tuple(each) for each in merges
        ]
        _check_dropout(self.dropout, "")
        self._check_merges("")

    def _check_merges(self, start: str) -> None:
        vocab = self.vocab
        prefix = len(self.continuing_subword_prefix or "")
        for left, right in self._spec["merges"]:
            for token in (left, right, left + right[prefix:]):
                if token not in vocab:
                    raise TokenizersError(f"{start}Token `{token}` out of vocabulary")

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The pairs that are merged; do not change it."""
        held: list[tuple[str, str]] = self._spec["merges"]
        return held

    def spec_for_reading(self) -> tuple[dict[str, Any], int | None]:
        """Return an entry that toksmith reads, and the id that marks an unknown token in it."""
        if self.unk_token is not None and self.unk_token not in self.vocab:
            found: tuple[dict[str, Any], int | None] = self._extended()
        else:
            found = super().spec_for_reading()
        return {**found[0], "dropout": None}, found[1]

    def is_random(self) -> bool:
        """Whether a word has other tokens at each call: there is a ``dropout``."""
        return bool(self.dropout)

    def _run_by(self, model: Any) -> ChunkModel:
        if not self.is_random():
            return super()._run_by(model)
        table = bpe.merge_table(model)
        chance = self.dropout
        return lambda word: merge_at_random(
            table, character_bpe.symbols(model, word), chance, RANDOM
        )

    def unknown(self) -> TokenizersError:
        """Return the error for an unknown character."""
        return TokenizersError(f"Unk token `{self.unk_token}` not found in the vocabulary")

    @staticmethod
    @arguments(vocab=string, merges=string)
    def read_file(vocab: str, merges: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """Return the content of a vocab.json and a merges.txt.

        Args:
            vocab: the path of the vocab.json.
            merges: the path of the merges.txt.

        Raises:
            TokenizersError: a file cannot be read.
        """
        pairs = []
        ids = read_ids(vocab)
        for number, line in enumerate(read_lines(merges), 1):
            if line.startswith("#version"):
                continue
            parts = line.split(" ")
            if len(parts) != 2:
                raise TokenizersError(f"Merges text file invalid at line {number}")
            pairs.append((parts[0], parts[1]))
        return ids, pairs

    @classmethod
    @arguments(vocab=string, merges=string)
    def from_file(cls, vocab: str, merges: str, **options: Any) -> BPE:
        """Return the model of a vocab.json and a merges.txt.

        Args:
            vocab: the path of the vocab.json.
            merges: the path of the merges.txt.
            options: see the class.

        Raises:
            TokenizersError: a file cannot be read.
        """
        try:
            found = cls.read_file(vocab, merges)
        except TokenizersError as wrong:
            raise TokenizersError(f"Error while reading BPE files: {wrong}") from wrong
        return cls(*found, **options)

    def _files(self) -> dict[str, str]:
        lines = ["#version: 0.2", *(" ".join(pair) for pair in self.merges)]
        return {"vocab.json": compact_json(self.vocab), "merges.txt": "\n".join(lines) + "\n"}


def _check_dropout(dropout: float | None, start: str) -> None:
    if dropout is not None and not 0 <= dropout <= 1:
        raise TokenizersError(
            f"{start}Dropout should be between 0 and 1, inclusive; it is {dropout}"
        )


def _pairs(merges: Any) -> list[tuple[str, str]]:
    if not all(
        isinstance(each, tuple) and list(map(type, each)) == [str, str] for each in sequence(merges)
    ):
        raise ComponentTypeError("merges is no list of pairs: give tuples of two tokens")
    return [*merges]
