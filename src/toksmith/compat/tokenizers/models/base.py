"""The base of models, which run toksmith's model on one word at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from toksmith.compat.tokenizers.checks import an_id, arguments, optional, string
from toksmith.compat.tokenizers.component import Component
from toksmith.compat.tokenizers.failures import TokenizersError
from toksmith.compat.tokenizers.pre_tokenized_string import Token
from toksmith.errors import ToksmithError
from toksmith.formats.huggingface import models as reading
from toksmith.formats.huggingface.entries import Entry
from toksmith.reference.chunk_models import ChunkModel, chunk_model

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


def listed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return an entry whose pairs are lists, as JSON has them."""
    return {
        key: [*map(list, value)] if isinstance(value, list) else value
        for key, value in spec.items()
    }


def by_id(vocab: Mapping[str, int]) -> dict[str, int]:
    """Return a vocabulary ordered by id, as tokenizers writes it."""
    return dict(sorted(vocab.items(), key=lambda item: item[1]))
