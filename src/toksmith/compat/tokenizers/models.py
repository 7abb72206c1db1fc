"""tokenizers' models: the vocabularies that turn a word into tokens."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from math import exp
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from toksmith._base import files
from toksmith.compat.tokenizers.checks import (
    Check,
    an_id,
    arguments,
    boolean,
    named,
    optional,
    real,
    sequence,
    string,
    unsigned,
)
from toksmith.compat.tokenizers.component import Component, compact_json, setting
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.compat.tokenizers.pre_tokenized_string import Token
from toksmith.compat.tokenizers.random_merges import merge_at_random
from toksmith.errors import OptionError, ToksmithError, UnsupportedError, warn
from toksmith.formats.huggingface import models as reading
from toksmith.formats.huggingface.entries import Entry
from toksmith.reference import Token as ChunkToken
from toksmith.reference import bpe, character_bpe, unigram, unigram_sampling
from toksmith.reference.chunk_models import ChunkModel, chunk_model

__all__ = ["BPE", "Model", "Unigram", "WordLevel", "WordPiece"]

UNKNOWN = "\ue000<unknown>\ue000"
"""A token for :meth:`Model.spec_for_reading` of a model that lacks its unknown token."""


TRAINERS: dict[type[Model], Callable[[], Any]] = {}
"""The trainer of each kind of model; the module of trainers fills it in."""


RANDOM = Random()
"""The source of random segmentations; a forked process gets a new seed."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=RANDOM.seed)


class Model(Component):
    """The base of models."""

    _missing = "Missing unknown token"

    def spec_for_reading(self) -> tuple[dict[str, Any], int | None]:
        """Return an entry that toksmith reads, and the id that marks an unknown token in it.

        tokenizers accepts a model without its unknown token, and fails at the first unknown word.
        The entry then has a token more, which is the unknown one.
        """
        return listed(self.spec()), None

    @property
    def vocab(self) -> dict[str, int]:
        """The id of each token; do not change it."""
        held: dict[str, int] = self._spec["vocab"]
        return held

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, or ``None``.

        Args:
            token: as it is spelled.
        """
        return self.vocab.get(string(token))

    def id_to_token(self, id: int) -> str | None:
        """Return a token as it is spelled, or ``None``.

        Args:
            id: its id.
        """
        return self.spellings.get(an_id(id))

    @property
    def spellings(self) -> dict[int, str]:
        """The spelling of each id; do not change it."""
        found: dict[int, str] = self._of_version(
            "spellings", lambda: {token_id: token for token, token_id in self.vocab.items()}
        )
        return found

    def tokenize(self, sequence: str) -> list[Token]:
        """Return the tokens of a word.

        Args:
            sequence: the word.

        Raises:
            TokenizersError: it is unknown, and the model has no unknown token.
        """
        if not string(sequence):
            return []
        data = sequence.encode()
        run = self._of_version("run", self._runner)
        try:
            return [
                Token(each.id, self._value(each.id, data[each.start : each.end]), each[1:])
                for each in run(data)
            ]
        except ToksmithError as wrong:
            if isinstance(wrong, TokenizersError):
                raise
            raise self.unknown() from wrong

    def is_random(self) -> bool:
        """Whether a word has other tokens at each call."""
        return False

    def unknown(self) -> TokenizersError:
        """Return the error for a word that is unknown to a model without an unknown token."""
        return TokenizersError(self._missing)

    def _value(self, token_id: int, data: bytes) -> str:
        return self.spellings[token_id]

    def _runner(self) -> Callable[[bytes], Iterable[Any]]:
        spec, unknown = self.spec_for_reading()
        run = self._run_by(reading.read(Entry(Path("model"), "model", spec), [], False))
        if unknown is None:
            return run

        def checked(data: bytes) -> Iterable[Any]:
            found = run(data)
            if any(each.id == unknown for each in found):
                raise self.unknown()
            return found

        return checked

    def _run_by(self, model: Any) -> ChunkModel:
        """Return the function that runs toksmith's model on a word."""
        return chunk_model(model)

    def _of_version(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what was made of the model as it is, made again after a change."""
        cache: dict[str, tuple[int, Any]] = self.__dict__.setdefault("_cache", {})
        found = cache.get(name)
        if found is None or found[0] != self._version:
            found = cache[name] = self._version, make()
        return found[1]

    def _extended(self) -> tuple[dict[str, Any], int]:
        """Return the entry with the token ``UNKNOWN``, and its id."""
        vocab = self.vocab
        marker = max(vocab.values(), default=-1) + 1
        spec = {**self.spec(), "vocab": {**vocab, UNKNOWN: marker}, "unk_token": UNKNOWN}
        return listed(spec), marker

    def get_trainer(self) -> Any:
        """Return the trainer for this kind of model, with its defaults."""
        return TRAINERS[type(self)]()

    @arguments(folder=string, prefix=optional(string), name=optional(string))
    def save(self, folder: str, prefix: str | None = None, name: str | None = None) -> list[str]:
        """Write the model's files, and return their paths.

        Args:
            folder: an existing folder.
            prefix: the start of each file's name.
            name: the same.

        Raises:
            TokenizersError: the folder cannot be written to.
        """
        start = prefix if prefix is not None else name
        found = []
        for ending, content in self._files().items():
            path = Path(folder, ending if start is None else f"{start}-{ending}")
            try:
                path.write_text(content, encoding="utf-8", newline="")
            except OSError as wrong:
                raise TokenizersError(f"{path}: {wrong.strerror}") from wrong
            found.append(str(path))
        return found

    def _files(self) -> dict[str, str]:
        """Return the content of each file, by the end of its name."""
        raise NotImplementedError

    def _clear_cache(self) -> None:
        """Do nothing: toksmith has no cache of a model's own."""

    def _resize_cache(self, capacity: int) -> None:
        """Do nothing: toksmith has no cache of a model's own."""

    def _read_vocab(self, spec: Mapping[str, Any], **defaults: Any) -> None:
        if not isinstance(spec.get("vocab"), dict):
            raise TokenizersError("a model needs a vocab, a dictionary")
        self._start(**{**defaults, **{k: v for k, v in spec.items() if k in self._defaults}})
        self._spec["vocab"] = by_id(spec["vocab"])


_BPE_OPTIONS: dict[str, Check] = {
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
        vocab = vocab if vocab is None or isinstance(vocab, str) else _mapping(vocab)
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
        kept = _known(options, _BPE_OPTIONS, "kwarg")
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
        ids = _json_ids(vocab)
        for number, line in enumerate(_lines(merges), 1):
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


class _WordModel(Model):
    """The base of the models that have one token for all unknown words."""

    unk_token = setting("unk_token", "The unknown token.", string)

    def _read(self, spec: Mapping[str, Any]) -> None:
        self._read_vocab(spec)

    def spec_for_reading(self) -> tuple[dict[str, Any], int | None]:
        """Return an entry that toksmith reads, and the id that marks an unknown token in it."""
        return super().spec_for_reading() if self.unk_token in self.vocab else self._extended()


_WORD_PIECE_OPTIONS: dict[str, Check] = {
    "unk_token": string,
    "max_input_chars_per_word": unsigned,
    "continuing_subword_prefix": string,
}


class WordPiece(_WordModel, type="WordPiece"):
    """WordPiece: the longest token that fits, again and again.

    Args:
        vocab: the id of each token, or the path of a vocab.txt.
        options: ``unk_token``, ``max_input_chars_per_word`` and ``continuing_subword_prefix``.

    Example:
        >>> model = WordPiece({"play": 0, "##ing": 1, "[UNK]": 2})
        >>> [token.value for token in model.tokenize("playing")]
        ['play', '##ing']
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {},
    }
    _missing = "WordPiece error: Missing [UNK] token from the vocabulary"
    continuing_subword_prefix = setting(
        "continuing_subword_prefix", "The start of tokens inside a word.", string
    )
    max_input_chars_per_word = setting(
        "max_input_chars_per_word", "The most characters of a known word.", unsigned
    )

    def __init__(self, vocab: dict[str, int] | str | None = None, **options: Any) -> None:
        if isinstance(vocab, str):
            vocab = self.read_file(vocab)
        kept = _known(options, _WORD_PIECE_OPTIONS, "kwargs")
        self._start(**kept, vocab=by_id({} if vocab is None else _mapping(vocab)))

    @staticmethod
    @arguments(vocab=string)
    def read_file(vocab: str) -> dict[str, int]:
        """Return the content of a vocab.txt.

        Args:
            vocab: its path.

        Raises:
            TokenizersError: the file cannot be read.
        """
        return {token.rstrip(): token_id for token_id, token in enumerate(_lines(vocab))}

    @classmethod
    @arguments(vocab=string)
    def from_file(cls, vocab: str, **options: Any) -> WordPiece:
        """Return the model of a vocab.txt.

        Args:
            vocab: its path.
            options: see the class.

        Raises:
            TokenizersError: the file cannot be read.
        """
        return cls(cls.read_file(vocab), **options)

    def _files(self) -> dict[str, str]:
        return {"vocab.txt": "".join(f"{token}\n" for token in self.vocab)}


class WordLevel(_WordModel, type="WordLevel"):
    """Each word is a token.

    Args:
        vocab: the id of each word, or the path of a vocab.json.
        unk_token: the token for all other words; by default ``<unk>``.

    Example:
        >>> WordLevel({"to": 0, "be": 1}).token_to_id("be")
        1
    """

    _defaults: ClassVar[dict[str, Any]] = {"vocab": {}, "unk_token": "<unk>"}
    _missing = "WordLevel error: Missing [UNK] token from the vocabulary"

    @arguments(unk_token=optional(string))
    def __init__(
        self, vocab: dict[str, int] | str | None = None, unk_token: str | None = None
    ) -> None:
        if isinstance(vocab, str):
            vocab = self.read_file(vocab)
        unk = "<unk>" if unk_token is None else unk_token
        self._start(vocab=by_id({} if vocab is None else _mapping(vocab)), unk_token=unk)

    @staticmethod
    @arguments(vocab=string)
    def read_file(vocab: str) -> dict[str, int]:
        """Return the content of a vocab.json.

        Args:
            vocab: its path.

        Raises:
            TokenizersError: the file cannot be read.
        """
        return _json_ids(vocab)

    @classmethod
    @arguments(vocab=string, unk_token=optional(string))
    def from_file(cls, vocab: str, unk_token: str | None = None) -> WordLevel:
        """Return the model of a vocab.json.

        Args:
            vocab: its path.
            unk_token: see the class.

        Raises:
            TokenizersError: the file cannot be read.
        """
        return cls(cls.read_file(vocab), unk_token)

    def _files(self) -> dict[str, str]:
        return {"vocab.json": compact_json(self.vocab)}


class Unigram(Model, type="Unigram"):
    """Unigram: the most probable pieces of a word.

    Args:
        vocab: each piece with its score; its id is its place.
        unk_id: the id of the unknown piece.
        byte_fallback: replace unknown characters by the pieces ``<0x00>`` … of their bytes.
        alpha: draw each segmentation with a probability proportional to ``exp(alpha * score)``.
            ``None`` or 0: the best one.
        nbest_size: draw from this many of the best segmentations. ``None`` or 0: from all.

    Raises:
        OptionError: an ``unk_id`` without a vocabulary.
        TokenizersError: there is no piece of that id.

    Example:
        >>> model = Unigram([("<unk>", 0.0), ("lo", -1.0), ("w", -2.0)], unk_id=0)
        >>> [token.value for token in model.tokenize("low!")]
        ['lo', 'w', '!']
    """

    _defaults: ClassVar[dict[str, Any]] = {"unk_id": None, "vocab": [], "byte_fallback": False}
    _missing = "Encountered an unknown token but `unk_id` is missing"
    _alpha: float | None
    _nbest_size: int | None

    @arguments(
        unk_id=optional(unsigned),
        byte_fallback=optional(boolean),
        alpha=optional(real),
        nbest_size=optional(unsigned),
    )
    def __init__(
        self,
        vocab: list[tuple[str, float]] | None = None,
        unk_id: int | None = None,
        byte_fallback: bool | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
    ) -> None:
        if vocab is None and unk_id is not None:
            raise OptionError("`vocab` and `unk_id` must be both specified")
        self._alpha, self._nbest_size = alpha, nbest_size
        if vocab is None:
            self._start(unk_id=0, vocab=[("<unk>", 0.0)], byte_fallback=False)
        else:
            self._start(
                unk_id=unk_id,
                vocab=[*map(_scored, sequence(vocab))],
                byte_fallback=bool(byte_fallback),
            )
        self._check()

    def _read(self, spec: Mapping[str, Any]) -> None:
        self._alpha = self._nbest_size = None
        pieces = [(piece, float(score)) for piece, score in spec.get("vocab", [])]
        self._start(
            unk_id=spec.get("unk_id"),
            vocab=pieces,
            byte_fallback=bool(spec.get("byte_fallback", False)),
        )
        self._check()

    @property
    def alpha(self) -> float | None:
        """The temperature of sampling."""
        return self._alpha

    @alpha.setter
    def alpha(self, value: float | None) -> None:
        self._alpha = optional(real)(value)
        self._changed()

    @property
    def nbest_size(self) -> int | None:
        """The number of segmentations to sample from."""
        return self._nbest_size

    @nbest_size.setter
    def nbest_size(self, value: int | None) -> None:
        self._nbest_size = optional(unsigned)(value)
        self._changed()

    def _check(self) -> None:
        unk_id, pieces = self._spec["unk_id"], self._spec["vocab"]
        if unk_id is not None and not pieces:
            raise TokenizersError(
                "Error while loading Unigram: The vocabulary is empty but at least <unk> is needed"
            )
        if unk_id is not None and unk_id >= len(pieces):
            raise TokenizersError(
                "Error while loading Unigram: The `unk_id` is larger than vocabulary size"
            )

    @property
    def vocab(self) -> dict[str, int]:
        """The id of each piece; do not change it."""
        found: dict[str, int] = self._of_version(
            "vocab", lambda: {piece: i for i, (piece, _) in enumerate(self._spec["vocab"])}
        )
        return found

    @property
    def unk_id(self) -> int | None:
        """The id of the unknown piece."""
        held: int | None = self._spec["unk_id"]
        return held

    def _value(self, token_id: int, data: bytes) -> str:
        """Return the spelling of a piece; that of the unknown one is its text."""
        return data.decode() if token_id == self.unk_id else self.spellings[token_id]

    def _runner(self) -> Callable[[bytes], Iterable[Any]]:
        try:
            return super()._runner()
        except UnsupportedError:
            pass
        # Only some bytes have a piece: an unknown text has them all, or is unknown.
        plain = listed({**self.spec(), "byte_fallback": False})
        run = self._run_by(reading.read(Entry(Path("model"), "model", plain), [], False))

        def with_bytes(data: bytes) -> Iterable[Any]:
            for each in run(data):
                names = [f"<0x{byte:02X}>" for byte in data[each.start : each.end]]
                found = [self.vocab[name] for name in names if name in self.vocab]
                if each.id != self.unk_id or len(found) < len(names):
                    yield each
                else:
                    yield from (each._replace(id=token_id) for token_id in found)

        return with_bytes

    def is_random(self) -> bool:
        """Whether a word has other tokens at each call: there is an ``alpha``."""
        return bool(self._alpha)

    def _run_by(self, model: Any) -> ChunkModel:
        alpha, size = self._alpha, self._nbest_size
        if not alpha:
            return super()._run_by(model)
        lattice = unigram.Lattice(model)
        if not size:
            return lambda word: unigram_sampling.sample(lattice, word, alpha, RANDOM)

        def draw(word: bytes) -> list[ChunkToken]:
            found = unigram_sampling.nbest(lattice, word, size)
            weights = [exp(alpha * (score - found[0][1])) for _, score in found]
            return RANDOM.choices([tokens for tokens, _ in found], weights)[0]

        return draw

    def _files(self) -> dict[str, str]:
        content = json.dumps(self.spec(), ensure_ascii=False, indent=2)
        return {"unigram.json": content}


def listed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return an entry whose pairs are lists, as JSON has them."""
    return {
        key: [*map(list, value)] if isinstance(value, list) else value
        for key, value in spec.items()
    }


def by_id(vocab: Mapping[str, int]) -> dict[str, int]:
    """Return a vocabulary ordered by id, as tokenizers writes it."""
    return dict(sorted(vocab.items(), key=lambda item: item[1]))


def _check_dropout(dropout: float | None, start: str) -> None:
    if dropout is not None and not 0 <= dropout <= 1:
        raise TokenizersError(
            f"{start}Dropout should be between 0 and 1, inclusive; it is {dropout}"
        )


def _mapping(vocab: Any) -> dict[str, int]:
    if not isinstance(vocab, dict):
        raise ComponentTypeError(
            f"vocab is a {type(vocab).__name__}: give a dictionary from tokens to ids, or the "
            "path of a file"
        )
    for token, id_ in vocab.items():
        if not isinstance(token, str) or not isinstance(id_, int) or not 0 <= id_ < 2**32:
            raise ComponentTypeError(f"vocab has {token!r:.80}: {id_!r:.80}: give tokens and ids")
    return vocab


def _pairs(merges: Any) -> list[tuple[str, str]]:
    if not all(
        isinstance(each, tuple) and list(map(type, each)) == [str, str] for each in sequence(merges)
    ):
        raise ComponentTypeError("merges is no list of pairs: give tuples of two tokens")
    return [*merges]


def _scored(piece: Any) -> tuple[str, float]:
    if not isinstance(piece, tuple) or len(piece) != 2:
        raise ComponentTypeError(f"expected a tuple of a piece and its score, got {piece!r:.80}")
    return string(piece[0]), real(piece[1])


def _known(options: dict[str, Any], checks: dict[str, Check], what: str) -> dict[str, Any]:
    """Return the known options; others are ignored with a warning, as tokenizers does."""
    for name in options.keys() - checks.keys() - {"max_length"}:
        warn(f"Ignored unknown {what} option {name}")
    kept = {name: named(name, checks[name], options[name]) for name in options if name in checks}
    kept.pop("cache_capacity", None)
    return kept


def _lines(path: str) -> list[str]:
    try:
        text = files.read_bytes(Path(path)).decode()
    except (ToksmithError, UnicodeDecodeError) as wrong:
        raise TokenizersError(f"{path} cannot be read: {wrong}") from wrong
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def _json_ids(path: str) -> dict[str, int]:
    try:
        content = json.loads("\n".join(_lines(path)))
    except ValueError as wrong:
        raise TokenizersError(f"{path} is no JSON: {wrong}") from wrong
    return {token: token_id for token, token_id in content.items() if isinstance(token_id, int)}
