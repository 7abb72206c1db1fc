"""The base of the ready-made tokenizers, and what several of them share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toksmith.compat.tokenizers import decoders, normalizers, pre_tokenizers, trainers
from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.encoding import Encoding
from toksmith.compat.tokenizers.models import BPE
from toksmith.compat.tokenizers.tokenizer import Tokenizer
from toksmith.errors import OptionError

_PASSED_ON = (
    *("model", "normalizer", "pre_tokenizer", "post_processor", "decoder"),
    *("truncation", "padding", "encode_special_tokens"),
)


class BaseTokenizer:
    """A tokenizer that passes its calls on to a ``Tokenizer``.

    Args:
        tokenizer: the tokenizer.
        parameters: what its ``repr`` shows.
    """

    def __init__(self, tokenizer: Tokenizer, parameters: dict[str, Any] | None = None) -> None:
        self._tokenizer = tokenizer
        self._parameters = parameters or {}

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self._parameters.items())
        return f"Tokenizer(vocabulary_size={self._tokenizer.get_vocab_size()}, {shown})"

    def __getattr__(self, name: str) -> Any:
        if name == "_tokenizer":
            raise AttributeError(name)
        return getattr(self._tokenizer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        target = self._tokenizer if name in _PASSED_ON else self
        object.__setattr__(target, name, value)

    def normalize(self, sequence: str) -> str:
        """Return a text normalized.

        Args:
            sequence: the text.
        """
        text: str = self._tokenizer.normalizer.normalize_str(sequence)
        return text

    def encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Return the tokens of a text; see :meth:`Tokenizer.encode`."""
        if sequence is None:
            raise OptionError("encode: `sequence` can't be `None`")
        return self._tokenizer.encode(sequence, pair, is_pretokenized, add_special_tokens)

    def encode_batch(
        self, inputs: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return the tokens of each text; see :meth:`Tokenizer.encode_batch`."""
        if inputs is None:
            raise OptionError("encode_batch: `inputs` can't be `None`")
        return self._tokenizer.encode_batch(inputs, is_pretokenized, add_special_tokens)

    async def async_encode_batch(
        self, inputs: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Run :meth:`encode_batch` in a thread of its own."""
        if inputs is None:
            raise OptionError("async_encode_batch: `inputs` can't be `None`")
        return await self._tokenizer.async_encode_batch(inputs, is_pretokenized, add_special_tokens)

    async def async_encode_batch_fast(
        self, inputs: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Run :meth:`Tokenizer.encode_batch_fast` in a thread of its own."""
        if inputs is None:
            raise OptionError("async_encode_batch_fast: `inputs` can't be `None`")
        return await self._tokenizer.async_encode_batch_fast(
            inputs, is_pretokenized, add_special_tokens
        )

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids; see :meth:`Tokenizer.decode`."""
        if ids is None:
            raise OptionError("None input is not valid. Should be a list of integers.")
        return self._tokenizer.decode(ids, skip_special_tokens)

    def decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Return the text of each list of ids; see :meth:`Tokenizer.decode_batch`."""
        if sequences is None:
            raise OptionError("None input is not valid. Should be list of list of integers.")
        return self._tokenizer.decode_batch(sequences, skip_special_tokens)

    def add_special_tokens(self, special_tokens: Iterable[str | AddedToken]) -> int:
        """Add special tokens; see :meth:`Tokenizer.add_special_tokens`."""
        return self._tokenizer.add_special_tokens(special_tokens)

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Write the files of the model, and return their paths.

        Args:
            directory: an existing folder.
            prefix: the start of each file's name.
        """
        paths: list[str] = self._tokenizer.model.save(directory, prefix=prefix)
        return paths

    def train(self, files: str | Sequence[str], *values: Any, **options: Any) -> None:
        """Train the model on files.

        Args:
            files: a path, or several.
            values: options by place, in tokenizers' order.
            options: those of :meth:`trainer`.
        """
        paths = [files] if isinstance(files, str) else files
        self._tokenizer.train(paths, self.trainer(*values, **options))

    def train_from_iterator(
        self, iterator: Iterable[Any], *values: Any, length: int | None = None, **options: Any
    ) -> None:
        """Train the model on texts.

        Args:
            iterator: strings, or lists of strings.
            values: options by place, in tokenizers' order.
            length: the number of texts, for a progress bar.
            options: those of :meth:`trainer`.
        """
        self._tokenizer.train_from_iterator(iterator, self.trainer(*values, **options), length)

    def trainer(self) -> trainers.Trainer:
        """Return the trainer of the model."""
        trainer: trainers.Trainer = self._tokenizer.model.get_trainer()
        return trainer


def given_options(named: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a constructor that its ``repr`` shows."""
    left_out = ("self", "vocab", "merges", "__class__")
    return {name: value for name, value in named.items() if name not in left_out}


def bpe_model(vocab: Any, merges: Any, options: dict[str, Any]) -> BPE:
    """Return a model with a vocabulary and merges, or one to be trained."""
    if vocab is None or merges is None:
        return BPE(**options)
    return BPE(vocab, merges, **options)


def mark_special(tokenizer: Tokenizer, tokens: Iterable[str | AddedToken]) -> None:
    """Let tokens of the vocabulary be special tokens."""
    known = [str(token) for token in tokens if tokenizer.token_to_id(str(token)) is not None]
    tokenizer.add_special_tokens(known)


def joined_normalizer(form: str | None, bert: bool, lowercase: bool) -> Any:
    """Return the normalizers that were asked for as one; ``None`` for none."""
    steps: list[Any] = [normalizers.unicode_normalizer_from_str(form)] if form else []
    steps += [normalizers.BertNormalizer(lowercase=False)] if bert else []
    steps += [normalizers.Lowercase()] if lowercase else []
    if len(steps) > 1:
        return normalizers.Sequence(steps)
    return steps[0] if steps else None


def set_metaspace(tokenizer: Tokenizer, mark: str, add_prefix_space: bool) -> None:
    """Let a mark replace spaces, and become spaces again in decoding."""
    scheme = "always" if add_prefix_space else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=mark, prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(replacement=mark, prepend_scheme=scheme)
