"""The object that people hold: a pipeline, and an engine that runs it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from toksmith.arguments import whole
from toksmith.decoding import IncrementalDecoder, TextDecoder, id_array
from toksmith.documents import document_bounds, open_mapped
from toksmith.encoding import Special, TextEncoder
from toksmith.errors import OptionError, UnknownTokenError, UnsupportedError
from toksmith.models import BPE, CharacterBPE
from toksmith.pipeline import Pipeline
from toksmith.sampling import Sampling
from toksmith.text import Text, characters, utf8
from toksmith.truncation import truncated
from toksmith.types import Batch, Encoding, IdArray, Ids, Span, stack

if TYPE_CHECKING:
    from toksmith.reference.trace import Explanation
    from toksmith.trainers.record import TrainingRecord

AnyText = TypeVar("AnyText", str, bytes)


class Tokenizer(Sampling):
    """Encodes text to ids and decodes ids to text.

    Made by :func:`toksmith.train`, :func:`toksmith.load` or :func:`toksmith.get`. Threads may share
    one; it survives pickling and forking.

    Args:
        pipeline: what it does.
        training: how it was trained, if that was here.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> tok.encode("lowest")
        [257, 101, 115, 116]
        >>> tok.decode([257, 101, 115, 116])
        'lowest'
    """

    def __init__(self, pipeline: Pipeline, training: TrainingRecord | None = None) -> None:
        self.pipeline = pipeline
        self.training = training
        self._framing = pipeline.framing
        self._encoder = TextEncoder(pipeline)

    def __repr__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        model = type(self.pipeline.model).__name__
        special = f", {len(self.special_tokens)} special" if self.special_tokens else ""
        return f"<Tokenizer {name}{model}, {self.vocab_size:,} ids{special}>"

    def __reduce__(self) -> tuple[type[Tokenizer], tuple[Pipeline, TrainingRecord | None]]:
        return type(self), (self.pipeline, self.training)

    # What it is

    @property
    def name(self) -> str | None:
        """The published name, if it has one."""
        return self.pipeline.name

    @cached_property
    def vocab_size(self) -> int:
        """The highest id and one, special tokens included: the rows an embedding needs."""
        return len(self._tokens)

    @property
    def special_tokens(self) -> dict[str, int]:
        """The ids of the special tokens by literal."""
        return dict(self._framing.special_tokens)

    @cached_property
    def merges(self) -> list[tuple[int, int]]:
        """The merges of a BPE model in rank order, as ``(left id, right id)``.

        Raises:
            UnsupportedError: the model has no list of merges.
        """
        model = self.pipeline.model
        if not isinstance(model, BPE | CharacterBPE):
            raise UnsupportedError(f"{type(model).__name__} has no list of merges")
        return [(left, right) for left, right, _ in model.merges.tolist()]

    @cached_property
    def _tokens(self) -> list[bytes]:
        tokens = list(self.pipeline.model.vocab)
        for added in self._framing.added_tokens:
            tokens += [b""] * (added.id + 1 - len(tokens))
            if not added.alias:
                tokens[added.id] = added.content.encode()
        return tokens

    @cached_property
    def _added_ids(self) -> dict[bytes, int]:
        return {token.content.encode(): token.id for token in self._framing.added_tokens}

    @cached_property
    def _decoder(self) -> TextDecoder:
        return TextDecoder(self.pipeline, self._tokens)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of a token.

        Raises:
            UnknownTokenError: no token has this id.
        """
        try:
            token = self._tokens[token_id] if 0 <= token_id < self.vocab_size else b""
        except TypeError:
            raise OptionError(f"token_id is {token_id!r:.80}: use a whole number") from None
        if not token:
            raise UnknownTokenError(
                f"no token has id {token_id}; ids go from 0 to {self.vocab_size - 1}"
            )
        return token

    def token_id(self, token: str | bytes) -> int:
        """Return the id of a token, special or not.

        Raises:
            UnknownTokenError: there is no such token.
        """
        literal = utf8(token)
        found = self._added_ids.get(literal, self.pipeline.model.ids.get(literal))
        if found is None:
            raise UnknownTokenError(f"{token!r} is not one token of this vocabulary")
        return found

    # Encoding

    def encode(
        self,
        text: Text,
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[int]:
        """Return the ids of a text.

        Args:
            text: a string, or UTF-8 bytes. Invalid bytes are kept as they are; surrogates in a
                string are joined where they are a pair, and become U+FFFD where they are not.
            special: what the literal of a special token inside the text means: ``"text"`` (plain
                text), ``"encode"`` (the special token), ``"raise"`` (an error), or a set of the
                literals to encode, the rest being plain text.
            add_special_tokens: put the template's own ids around the text.
            threads: for long texts; ``None`` for the cores this process may use.

        Raises:
            SpecialTokenError: ``special="raise"`` and the text holds a special token.
            OptionError: ``special`` is none of these, or the text is no text.
            SplitError: a split pattern of the user's took too long.
        """
        if self._is_plain(special, add_special_tokens):
            return self._encoder.encode_list(text, threads)
        ids: list[int] = self.encode_array(text, special, add_special_tokens, threads).tolist()
        return ids

    def encode_array(
        self,
        text: Text,
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> IdArray:
        """Return the ids of a text as a uint32 array of shape ``(tokens,)``; see :meth:`encode`."""
        ids = self._encoder.encode(text, special, threads)
        return self._framed(ids) if add_special_tokens else ids

    def encode_batch(
        self,
        texts: Iterable[Text],
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> Batch:
        """Return the ids of many texts in one array; see :meth:`encode`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> tok.encode_batch(["ab", "ba"]).to_lists()
            [[256], [98, 97]]
        """
        if isinstance(texts, Text) or not isinstance(texts, Iterable):
            raise OptionError("encode_batch takes a list of texts; for one text there is encode")
        texts = list(texts)
        if not self._is_plain(special, add_special_tokens):
            return stack(
                [self.encode_array(text, special, add_special_tokens, threads) for text in texts]
            )
        return self._encoder.encode_texts(texts, threads)

    def encode_file(
        self,
        path: str | PathLike[str],
        separator: str | None = None,
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> Batch:
        """Return the ids of a file's documents; the file never becomes a Python string.

        Args:
            path: a file of UTF-8 text.
            separator: what stands between documents, and belongs to none (nor does an empty
                document after the last one count); without it the file is one document.
            special: see :meth:`encode`.
            add_special_tokens: put the template's own ids around each document.
            threads: ``None`` for the cores this process may use.

        Raises:
            FormatError: the file cannot be read.
        """
        with open_mapped(path) as data:
            bounds = document_bounds(data, separator)
            if self._is_plain(special, add_special_tokens):
                return self._encoder.encode_slices(data, bounds, threads)
            return stack(
                [
                    self.encode_array(data[start:end], special, add_special_tokens, threads)
                    for start, end in bounds.tolist()
                ]
            )

    def encoding(
        self, text: Text, special: Special = "text", add_special_tokens: bool = False
    ) -> Encoding:
        """Return the tokens of a text with the characters and bytes that each covers.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> tok.encoding("abé").spans
            [Span(start=0, end=2), Span(start=2, end=3), Span(start=2, end=3)]
        """
        data = utf8(text)
        found, places = self._encoder.places(data, special)
        ids, spans = found.tolist(), places.tolist()
        if add_special_tokens:
            before, after = self._framing.prefix, self._framing.suffix
            ids = [*before, *ids, *after]
            spans = [*[[0, 0]] * len(before), *spans, *[[len(data)] * 2] * len(after)]
        shown, touched = characters(text, np.array(spans, np.int64).reshape(-1, 2))
        special_ids = set(self._framing.special_tokens.values())
        return Encoding(
            text=shown,
            ids=ids,
            tokens=[self._tokens[i] for i in ids],
            spans=[Span(*span) for span in touched.tolist()],
            byte_spans=[Span(*span) for span in spans],
            special=[i in special_ids for i in ids],
        )

    def explain(self, text: Text) -> Explanation:
        """Return every chunk of a text and every merge inside it; print it to read it.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> print(tok.explain("ab"))
            'ab': 2 bytes, 1 chunk, 1 token
            <BLANKLINE>
            chunk 1: 'ab'
                a b
                ab     a + b, merge 0
              = ab 256
        """
        from toksmith.reference.trace import explain

        return explain(self.pipeline, text)

    def count(self, text: Text, special: Special = "text", threads: int | None = None) -> int:
        """Return how many tokens a text has, without making them; see :meth:`encode`."""
        return self._encoder.count(text, special, threads)

    def truncate(self, text: AnyText, max_tokens: int, special: Special = "text") -> AnyText:
        """Return the start of a text that has at most so many tokens.

        The result ends at the end of a token and of a character, as late as that allows.

        Args:
            text: a string or bytes.
            max_tokens: how many tokens the result may have.
            special: see :meth:`encode`.

        Raises:
            OptionError: ``max_tokens`` is negative, or the text is no text.
        """
        limit = whole("max_tokens", max_tokens, least=0)
        if not isinstance(text, str | bytes):
            text = utf8(text)
        return truncated(
            text,
            limit,
            places=lambda part: self._encoder.places(utf8(part), special),
            count=lambda part: self.count(part, special),
        )

    # Decoding

    def decode(self, ids: Ids, errors: str = "replace", skip_special_tokens: bool = False) -> str:
        """Return the text of ids.

        Args:
            ids: a list or an integer array.
            errors: what becomes of bytes that are no UTF-8, as in :meth:`bytes.decode`; for models
                of bytes (others know none).
            skip_special_tokens: leave special tokens out.

        Raises:
            OptionError: ``ids`` is no flat sequence of whole numbers.
            UnknownTokenError: an id that no token has.
            UnicodeDecodeError: ``errors="strict"`` and the bytes are no UTF-8.
        """
        return self._decoder.to_text(ids, errors, skip_special_tokens)

    def decode_bytes(
        self, ids: Ids, skip_special_tokens: bool = False, threads: int | None = None
    ) -> bytes:
        """Return the exact bytes of ids; see :meth:`decode`."""
        return self._decoder.to_bytes(ids, skip_special_tokens, threads)

    def decode_batch(
        self,
        batch: Batch | Sequence[Ids],
        errors: str = "replace",
        skip_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[str]:
        """Return the text of each document of a batch; see :meth:`decode`."""
        if not isinstance(batch, Batch):
            if not isinstance(batch, Iterable):
                raise OptionError("decode_batch takes a Batch, or a list with the ids of each text")
            batch = stack([id_array(ids) for ids in batch])
        return self._decoder.to_texts(batch, errors, skip_special_tokens, threads)

    def decoder(self, errors: str = "replace") -> IncrementalDecoder:
        """Return a decoder that takes ids as they come and gives whole characters only."""
        return IncrementalDecoder(self.decode_bytes, errors)

    # Housekeeping

    def save(self, path: str | PathLike[str], format: str | None = None) -> None:  # noqa: A002
        """Write the tokenizer to a file.

        Args:
            path: where to; its form says which format, unless ``format`` does.
            format: ``"minbpe"``, ``"tiktoken"``, ``"gpt2"`` or ``"huggingface"``.

        Raises:
            UnsupportedError: the format cannot hold this tokenizer; the message says why.
        """
        from toksmith import formats

        formats.write(self.pipeline, path, format)

    def forget(self) -> None:
        """Give back the memory of the chunk caches (``engine.CACHE_BYTES`` a thread at most)."""
        self._encoder.forget()

    # Behind the scenes

    def _is_plain(self, special: Special, add_special_tokens: bool) -> bool:
        """Whether a text goes to the engine as it is."""
        return self._encoder.is_plain(special) and not add_special_tokens

    def _framed(self, ids: IdArray) -> IdArray:
        around = (self._framing.prefix, self._framing.suffix)
        before, after = (np.array(part, np.uint32) for part in around)
        return np.concatenate([before, ids, after])
