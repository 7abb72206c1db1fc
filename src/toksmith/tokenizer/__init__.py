"""The object that people hold: a pipeline, and an engine that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, TypeVar

from toksmith._base import habits
from toksmith._base.arrays import IdArray, Ids, OffsetArray
from toksmith._base.checks import flag, whole
from toksmith._base.habits import TokenizerHabits
from toksmith._base.lazy import np
from toksmith._base.report import html_of
from toksmith._base.text import Text, check_texts, refuse_list, utf8
from toksmith._base.threads import SMALL
from toksmith.errors import OptionError, UnsupportedError, warn
from toksmith.framing import Padding
from toksmith.models import BPE, CharacterBPE
from toksmith.pipeline import Pipeline
from toksmith.results import Batch, Encoding, Inputs, stack
from toksmith.tokenizer.chunking import Chunker, TextChunk, Unit, text_chunks
from toksmith.tokenizer.decode import IncrementalDecoder, TextDecoder
from toksmith.tokenizer.encode import ENGINE_REFUSALS, Special, TextEncoder, make_encoding
from toksmith.tokenizer.explaining import Explaining
from toksmith.tokenizer.merge_table import Merges, MergeTable
from toksmith.tokenizer.model_inputs import (
    Cut,
    Fill,
    Preparation,
    columns_of,
    pad_id,
    resolve_lengths,
)
from toksmith.tokenizer.offsets import Trimmer
from toksmith.tokenizer.rows import RowPart, concat, frame
from toksmith.tokenizer.subword_sampling import Sampling
from toksmith.tokenizer.truncate import truncate_text
from toksmith.tokenizer.variants import (
    SpecialTokens,
    with_matching,
    with_special_tokens,
    with_split,
    with_template,
)
from toksmith.vocabulary import Tokens, TokenTable, Vocabulary

if TYPE_CHECKING:
    from toksmith.tokenizer.training_record import TrainingRecord

AnyText = TypeVar("AnyText", str, bytes)


class Tokenizer(Explaining, Sampling, TokenizerHabits):
    """Encodes text to ids and decodes ids to text.

    Made by :func:`toksmith.train`, :func:`toksmith.load` or :func:`toksmith.get`. Threads may share
    one; it survives pickling and forking.

    Args:
        pipeline: what it does.
        training: how it was trained, or what finds that out when it is asked for.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> tok.encode("lowest")
        [257, 101, 115, 116]
        >>> tok.decode([257, 101, 115, 116])
        'lowest'
    """

    def __init__(
        self,
        pipeline: Pipeline,
        training: TrainingRecord | Callable[[], TrainingRecord | None] | None = None,
    ) -> None:
        if not isinstance(pipeline, Pipeline):
            raise OptionError(
                f"Tokenizer takes a Pipeline, not {pipeline!r:.80}: toksmith.load(path) reads a "
                "file, and toksmith.train(files) makes a new tokenizer"
            )
        self.pipeline = pipeline
        self._training = training
        self._warned_of_padding = False
        self._framing = pipeline.framing
        if training is None or callable(training):
            self._encoder = TextEncoder(pipeline)

    @cached_property
    def _encoder(self) -> TextEncoder:
        # What was just trained is often saved and nothing more.
        return TextEncoder(self.pipeline)

    @cached_property
    def _encode_short(self) -> Callable[[Text, int], list[int]]:
        return self._encoder.encode_short

    def __repr__(self) -> str:
        name = f"{self.name:.100}: " if self.name else ""
        model = type(self.pipeline.model).__name__
        special = f", {len(self.special_tokens)} special" if self.special_tokens else ""
        return f"<Tokenizer {name}{model}, {self.vocab_size:,} ids{special}>"

    def _repr_html_(self) -> str:
        return html_of(self)

    def __reduce__(self) -> tuple[type[Tokenizer], tuple[Pipeline, object]]:
        return type(self), (self.pipeline, self._training)

    # What it is

    @property
    def name(self) -> str | None:
        """The published name, if it has one."""
        return self.pipeline.name

    @property
    def training(self) -> TrainingRecord | None:
        """How it was trained, if that is known.

        Of a file's tokenizer, that stands in a file beside it: see :meth:`save`. A record that is
        damaged, or does not belong to the tokenizer's file, is not used, with a warning.
        """
        if callable(self._training):
            self._training = self._training()
        return self._training

    @cached_property
    def vocab_size(self) -> int:
        """The highest id and one, special tokens included: the rows an embedding needs."""
        return len(self._table.tokens)

    def __len__(self) -> int:
        """Return :attr:`vocab_size`."""
        return self.vocab_size

    @cached_property
    def vocab(self) -> Vocabulary:
        """The id of each token by its bytes, special tokens included; read-only.

        Models of text spell tokens in their own way: ``▁the``, ``##ing``, ``<0x0A>``. Where several
        ids have the same bytes, there are fewer tokens than ids.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.vocab[b"low"], b"lo" in tok.vocab, len(tok.vocab)
            (257, True, 258)
        """
        return Vocabulary(self._table)

    @cached_property
    def tokens(self) -> Tokens:
        """The bytes of each id, special tokens included, ``b""`` for an id without a token.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.tokens[257], tok.tokens[97:100], len(tok.tokens)
            (b'low', [b'a', b'b', b'c'], 258)
        """
        return Tokens(self._table)

    def __contains__(self, token: object) -> bool:
        """Return whether a str or bytes is one token of the vocabulary, special or not."""
        if not isinstance(token, str | bytes):
            raise OptionError(
                f"{token!r:.80} in tokenizer: use a token, as str or bytes; ids go from 0 to "
                f"{self.vocab_size - 1}"
            )
        return self._table.find(token) is not None

    def __eq__(self, other: object) -> bool:
        """Return whether both do the same: their pipelines are equal, whatever their names."""
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self is other or replace(self.pipeline, name=None) == replace(
            other.pipeline, name=None
        )

    @cached_property
    def _hash(self) -> int:
        special = frozenset(self.special_tokens.items())
        return hash((type(self.pipeline.model), tuple(self.pipeline.model.vocab), special))

    def __hash__(self) -> int:
        return self._hash

    @property
    def special_tokens(self) -> dict[str, int]:
        """The ids of the special tokens by literal.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.with_special_tokens(["<|end|>"]).special_tokens
            {'<|end|>': 258}
        """
        return dict(self._framing.special_tokens)

    @cached_property
    def merges(self) -> Merges:
        """The merges of a BPE model in rank order, as ``(left id, right id)``; it equals a list.

        Raises:
            UnsupportedError: the model has no list of merges.
        """
        rows = self._with_merges.merges.tolist()
        return Merges((left, right) for left, right, _ in rows)

    @cached_property
    def merge_table(self) -> MergeTable:
        """The merges as rows ``(rank, left, right, new, bytes, count)``; print it to read it.

        ``count`` is how often the pair stood in the training text when it was merged; ``None``
        where :attr:`training` does not tell.

        Raises:
            UnsupportedError: the model has no list of merges.
        """
        model = self._with_merges
        counts = self.training.counts if self.training else ()
        known = counts if len(counts) <= len(model.merges) else ()
        return MergeTable(model.merges, model.vocab, known)

    @property
    def _with_merges(self) -> BPE | CharacterBPE:
        model = self.pipeline.model
        if not isinstance(model, BPE | CharacterBPE):
            raise UnsupportedError(f"{type(model).__name__} has no list of merges")
        return model

    @cached_property
    def _table(self) -> TokenTable:
        return TokenTable(self.pipeline)

    @cached_property
    def _decoder(self) -> TextDecoder:
        return TextDecoder(self.pipeline, self._table.tokens)

    def token_bytes(self, token_id: int) -> bytes:
        r"""Return the bytes of a token.

        Raises:
            UnknownTokenError: no token has this id.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.token_bytes(257), tok.token_bytes(0xFF)
            (b'low', b'\xff')
        """
        return self._table.bytes_of(token_id)

    def token_text(self, token_id: int) -> str:
        """Return a token as text: its bytes as UTF-8, with U+FFFD for what is invalid.

        Raises:
            UnknownTokenError: no token has this id.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.token_text(257), tok.token_text(0xFF)
            ('low', '�')
        """
        return self._table.bytes_of(token_id).decode("utf-8", "replace")

    def token_id(self, token: str | bytes) -> int:
        """Return the id of a token, special or not.

        Raises:
            UnknownTokenError: there is no such token.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.token_id("low"), tok.token_id(b"l")
            (257, 108)
        """
        return self._table.id_of(token)

    # Encoding

    def encode(
        self,
        text: Text,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
        pair: Text | None = None,
        **_unknown: NoReturn,
    ) -> list[int]:
        """Return the ids of a text.

        All of them: a truncation or padding that the tokenizer's file asks for is for
        :meth:`prepare` alone.

        Args:
            text: a string, or UTF-8 bytes. Invalid bytes are kept as they are; surrogates in a
                string are joined where they are a pair, and become U+FFFD where they are not.
            special: what the literal of a special token inside the text means: ``"text"`` (plain
                text), ``"encode"`` (the special token), ``"raise"`` (an error), or a set of the
                literals to encode, the rest being plain text.
            add_special_tokens: put the template's own ids around the text.
            threads: for long texts; ``None`` for the cores this process may use.
            pair: a second text, which the template puts after the first.

        Raises:
            SpecialTokenError: ``special="raise"`` and the text holds a special token.
            OptionError: ``special`` is none of these, or the text is no text.
            SplitError: a split pattern of the user's took too long.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.encode("low low!"), tok.encode("low", add_special_tokens=True)
            ([257, 32, 257, 33], [257])
        """
        if _unknown:
            raise habits.unknown_keywords("encode", _unknown)
        if special == "text" and pair is None and not add_special_tokens:
            if threads is None:
                try:  # the most frequent call of all: straight to the engine
                    if len(text) < SMALL:
                        return self._encode_short(text, 1)
                except ENGINE_REFUSALS:
                    pass
            return self._encoder.encode_list(text, threads)
        found = self.encode_array(
            text, special=special, add_special_tokens=add_special_tokens, threads=threads, pair=pair
        )
        ids: list[int] = found.tolist()
        return ids

    def encode_array(
        self,
        text: Text,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
        pair: Text | None = None,
        **_unknown: NoReturn,
    ) -> IdArray:
        """Return the ids of a text as a uint32 array of shape ``(tokens,)``; see :meth:`encode`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.encode_array("low!").tolist()
            [257, 33]
        """
        if _unknown:
            raise habits.unknown_keywords("encode_array", _unknown)
        flag("add_special_tokens", add_special_tokens)
        ids = self._encoder.encode(text, special, threads)
        if pair is None and not add_special_tokens and self._encoder.times == 1:
            return ids
        texts = [RowPart(ids, 0, 0)]
        if pair is not None:
            texts.append(RowPart(self._encoder.encode(pair, special, threads), 1, 1))
        return concat(frame(self._framing.template, texts, add_special_tokens))

    def encode_batch(
        self,
        texts: Iterable[Text],
        pairs: Iterable[Text] | None = None,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
        **_unknown: NoReturn,
    ) -> Batch:
        """Return the ids of many texts, or pairs of texts, in one array; see :meth:`encode`.

        Args:
            texts: the documents.
            pairs: as many again: the second text of each, which the template puts after the first.
            special: see :meth:`encode`.
            add_special_tokens: put the template's own ids around each text.
            threads: ``None`` for the cores this process may use.

        Returns:
            ``.ids``, uint32 of shape ``(tokens,)``, and ``.offsets``, int64 of shape
            ``(texts + 1,)``.

        Raises:
            OptionError: a text is no text (``texts[2] is nan``), or there are not as many pairs as
                texts.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> tok.encode_batch(["ab", "ba"]).to_lists()
            [[256], [98, 97]]
        """
        if _unknown:
            raise habits.unknown_keywords("encode_batch", _unknown)
        flag("add_special_tokens", add_special_tokens)
        columns = columns_of("encode_batch", texts, pairs)
        if pairs is None and not add_special_tokens and self._encoder.times == 1:
            return self._encoder.encode_batch(columns[0], special, threads, "texts")
        batches = [
            self._encoder.encode_batch(column, special, threads, name)
            for column, name in zip(columns, ("texts", "pairs"), strict=False)
        ]
        template = self._framing.template
        rows = [
            [RowPart(ids, place, place) for place, ids in enumerate(row)]
            for row in zip(*batches, strict=True)
        ]
        return stack([concat(frame(template, row, add_special_tokens)) for row in rows])

    def encode_file(
        self,
        path: str | PathLike[str],
        *,
        separator: str | None = None,
        field: str = "text",
        read_as: str | None = None,
        encoding_errors: str = "strict",
        special: Special = "text",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> Batch:
        """Return the ids of a file's documents, which are read as in training.

        Args:
            path: a file of UTF-8 text, JSON Lines, Parquet, CSV or TSV, compressed or not.
            separator: the text between documents, which is part of none; a separator at the end
                starts no empty document. Without it, a text file is one document.
            field: the field of JSON Lines, or the column of Parquet, CSV or TSV, that holds the
                text; each line or row is a document.
            read_as: ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``; ``None`` goes
                by the file's name.
            encoding_errors: ``"strict"`` refuses a file that is not UTF-8 text; ``"replace"`` puts
                U+FFFD in place of other bytes.
            special: see :meth:`encode`.
            add_special_tokens: put the template's own ids around each document.
            threads: ``None`` for the cores this process may use.

        Raises:
            FormatError: the file cannot be read, is not UTF-8 text, or has no such field.

        Example:
            >>> import pathlib, tempfile, toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "lows.txt")
            ...     _ = path.write_text("low|low!|")
            ...     tok.encode_file(path, separator="|").to_lists()
            [[257], [257, 33]]
        """
        from toksmith.corpus.opening import open_documents
        from toksmith.corpus.options import Reading

        flag("add_special_tokens", add_special_tokens)
        reading = Reading(separator, field, read_as, encoding_errors=encoding_errors)
        with open_documents(path, reading) as (data, bounds):
            if self._is_plain(special, add_special_tokens):
                return self._encoder.encode_slices(data, bounds, threads)
            slices = (data[start:end] for start, end in bounds.tolist())
            return self._stacked(slices, special, add_special_tokens, threads)

    def encoding(
        self,
        text: Text,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        pair: Text | None = None,
        **_unknown: NoReturn,
    ) -> Encoding:
        """Return the tokens of a text with the characters and bytes that each covers.

        The spans of characters leave out spaces at the ends of tokens where the tokenizer's file
        says so (``Framing.trim_offsets``); the spans of bytes never do.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> tok.encoding("abé").spans.tolist()
            [[0, 2], [2, 3], [2, 3]]
        """
        if _unknown:
            raise habits.unknown_keywords("encoding", _unknown)
        flag("add_special_tokens", add_special_tokens)
        refuse_list(text, "for a list of texts, there is encodings")
        both = [text] if pair is None else [text, pair]
        texts = [self._encoder.locate(each, special) for each in both]
        parts = [self._trim(each.row_part(place)) for place, each in enumerate(texts)]
        row = frame(self._framing.template, parts, add_special_tokens)
        special_ids = set(self._framing.special_tokens.values())
        return make_encoding(row, texts, self._table.tokens, special_ids)

    def encodings(
        self,
        texts: Iterable[Text],
        pairs: Iterable[Text] | None = None,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
    ) -> list[Encoding]:
        """Return the tokens of many texts, or pairs of texts; see :meth:`encoding`.

        Raises:
            OptionError: a text is no text, or there are not as many pairs as texts.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> [each.strings for each in tok.encodings(["ab", "b a"])]
            [['ab'], ['b', '·', 'a']]
        """
        columns = columns_of("encodings", texts, pairs)
        for column, name in zip(columns, ("texts", "pairs"), strict=False):
            check_texts(column, name)
        return [
            self.encoding(
                text, special=special, add_special_tokens=add_special_tokens, pair=(*pair, None)[0]
            )
            for text, *pair in zip(*columns, strict=True)
        ]

    def prepare(
        self,
        texts: Iterable[Text],
        pairs: Iterable[Text] | None = None,
        *,
        max_length: int | None = None,
        stride: int | None = None,
        padding: Fill | None = None,
        truncation: Cut | None = None,
        overflow: bool = False,
        spans: bool = False,
        special: Special = "text",
        add_special_tokens: bool = True,
        threads: int | None = None,
        **_unknown: NoReturn,
    ) -> Inputs:
        """Return texts, or pairs of texts, as arrays that a model takes: ``n`` rows of ``L`` ids.

        Args:
            texts: one a row.
            pairs: as many again: the second text of each row.
            max_length: how many tokens a row has at most, those of the template included; the rest
                is cut off. Without it, as the tokenizer's file says, or no limit.
            stride: how many tokens a further row repeats from the one before, with ``overflow``.
            padding: the length of rows: a number, ``"longest"`` or ``True`` (the longest row),
                ``"max_length"``, ``False`` (rows must have one length as they are), or a
                :class:`~toksmith.framing.Padding`. Default: as the tokenizer's file says, else
                ``"longest"``. Rows are filled with the file's padding token, else with a special
                token such as ``<pad>`` or ``[PAD]``, else with id 0, which is said once.
            truncation: ``True`` (to ``max_length``), ``False`` (not at all), which of two texts is
                cut (``"longest_first"``, ``"only_first"``, ``"only_second"``), or a
                :class:`~toksmith.framing.Truncation`. Default: cut where a length is known.
            overflow: whether what is cut off makes further rows; ``Inputs.document`` then says
                which text each row is from.
            spans: whether to find the characters that each token stands for.
            special: see :meth:`encode`.
            add_special_tokens: put the template's own ids around the texts.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: there are not as many pairs as texts, texts cannot be made to fit, or a row
                is longer than its padding.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=258, special_tokens=["<pad>"])
            >>> inputs = tok.prepare(["ab", "abba"], max_length=2, overflow=True)
            >>> inputs.ids.tolist(), inputs.document.tolist()
            ([[256, 257], [256, 98], [97, 257]], [0, 1, 1])
        """
        if _unknown:
            raise habits.unknown_keywords("prepare", _unknown)
        flag("overflow", overflow)
        flag("spans", spans)
        flag("add_special_tokens", add_special_tokens)
        cut, fill, must_fit = resolve_lengths(
            self._framing, truncation, padding, max_length, stride
        )
        how = Preparation(
            cut, fill, special, add_special_tokens, overflow, spans, threads, must_fit
        )
        inputs = how.inputs(self._encoder, self._framing, self._trim, texts, pairs)
        if not isinstance(padding, Padding) and not inputs.attention_mask.all():
            self._warn_of_padding(fill.id)
        return inputs

    def _warn_of_padding(self, filled_with: int) -> None:
        """Say once that rows are filled with an id that is no padding token."""
        if self._warned_of_padding or pad_id(self._framing) is not None:
            return
        self._warned_of_padding = True
        warn(
            f"this tokenizer has no padding token: rows are filled with id {filled_with} "
            f"({self._table.tokens[filled_with]!r:.40}), and attention_mask marks it; name one "
            "with padding=toksmith.framing.Padding(id=...) or with_special_tokens(['<pad>'])"
        )

    def count(
        self,
        text: Text,
        *,
        special: Special = "text",
        threads: int | None = None,
        **_unknown: NoReturn,
    ) -> int:
        """Return how many tokens a text has, without making them; see :meth:`encode`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.count("low low!")
            4
        """
        if _unknown:
            raise habits.unknown_keywords("count", _unknown)
        refuse_list(text, "for a list of texts, there is count_batch")
        return self._encoder.count(text, special, threads) * self._encoder.times

    def count_batch(
        self, texts: Iterable[Text], *, special: Special = "text", threads: int | None = None
    ) -> OffsetArray:
        """Return how many tokens each text has, as an int64 array of shape ``(texts,)``.

        Args:
            texts: the documents; a column of a data frame is one, if each of its values is text.
            special: see :meth:`encode`.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: a text is no text (``texts[2] is nan``).

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> tok.count_batch(["ab", "ba", ""]).tolist()
            [1, 2, 0]
        """
        (column,) = columns_of("count_batch", texts, None)
        batch = self._encoder.encode_batch(column, special, threads, "texts")
        return np.diff(batch.offsets) * self._encoder.times

    def truncate(
        self,
        text: AnyText,
        max_tokens: int,
        *,
        side: Literal["left", "right"] = "right",
        special: Special = "text",
    ) -> AnyText:
        """Return the start of a text, or its end, that has at most ``max_tokens`` tokens.

        The text is cut between two tokens and between two characters, as late as that allows.

        Args:
            text: a string or bytes.
            max_tokens: how many tokens the result may have.
            side: which end is cut off: ``"right"`` keeps the start, ``"left"`` the end.
            special: see :meth:`encode`.

        Raises:
            OptionError: ``max_tokens`` is negative, ``side`` is no side, or the text is no text.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.truncate("low lower", 3), tok.truncate("low lower", 3, side="left")
            ('low low', 'lower')
        """
        refuse_list(text, "for a list of texts, call truncate for each of them")
        limit = whole("max_tokens", max_tokens, least=0)
        if side not in ("left", "right"):
            raise OptionError(f'side is {side!r:.80}: use "right" (cut the end off) or "left"')
        if not isinstance(text, str | bytes):
            text = utf8(text)
        return truncate_text(
            text,
            limit,
            side,
            places=lambda part: self._encoder.places(utf8(part), special),
            count=lambda part: self._encoder.count(part, special, None),
        )

    def chunks(
        self,
        text: AnyText,
        max_tokens: int,
        *,
        overlap: int = 0,
        at: Unit = "token",
        special: Special = "text",
    ) -> list[TextChunk[AnyText]]:
        """Cut a text into parts of at most ``max_tokens`` tokens.

        No part has more tokens than that when it is encoded by itself. The parts cover the text:
        without overlap, they joined are the text.

        Args:
            text: a string or bytes.
            max_tokens: how many tokens a part has at most, those of the template not included.
            overlap: how many tokens a part repeats of the one before, at most.
            at: where parts end: ``"token"`` (as late as possible), ``"word"`` or ``"sentence"``,
                by :func:`toksmith.words` and :func:`toksmith.sentences`. A sentence that is longer
                than a part is cut at words, a word at tokens. A repeated stretch starts at a
                sentence if one starts in it, else at a word.
            special: see :meth:`encode`.

        Returns:
            A list of parts with ``.text``, ``.span`` (characters of the whole text) and
            ``.tokens``; it is empty for an empty text.

        Raises:
            OptionError: an argument is out of range, ``overlap`` is not below ``max_tokens``, or a
                single character has more tokens than ``max_tokens``.
            MissingExtraError: words and sentences need ``pip install toksmith[segment]``.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> [chunk.text for chunk in tok.chunks("low lower", 3)]
            ['low low', 'er']
            >>> tok.chunks("low lower", 3, overlap=1)[1]
            TextChunk(text='lower', span=Span(start=4, end=9), tokens=3)
        """
        refuse_list(text, "for a list of texts, call chunks for each of them")
        limit = whole("max_tokens", max_tokens, least=1)
        repeated = whole("overlap", overlap, least=0)
        if not isinstance(text, str | bytes):
            text = utf8(text)
        if special == "raise":
            self._encoder.refuse_special_tokens(utf8(text))
            special = "text"
        chunker = Chunker(
            text,
            limit,
            repeated,
            at,
            places=lambda part: self._encoder.places(part, special),
            count=lambda part: self.count(part, special=special),
        )
        return text_chunks(text, chunker)

    # Decoding

    def decode(
        self,
        ids: Ids,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        threads: int | None = None,
    ) -> str:
        """Return the text of ids.

        Args:
            ids: a list or an integer array.
            errors: what becomes of invalid UTF-8, as in :meth:`bytes.decode`; for models
                of bytes (others know none).
            skip_special_tokens: leave special tokens out.
            threads: for many ids; ``None`` for the cores this process may use.

        Raises:
            OptionError: ``ids`` is no flat sequence of whole numbers, or no error handler is called
                ``errors``.
            UnknownTokenError: an id that no token has.
            UnicodeDecodeError: ``errors="strict"`` and the bytes are invalid UTF-8.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.decode([257, 33]), tok.decode([0xF0, 257])
            ('low!', '�low')
        """
        return self._decoder.to_text(ids, errors, skip_special_tokens, threads)

    def decode_bytes(
        self, ids: Ids, *, skip_special_tokens: bool = False, threads: int | None = None
    ) -> bytes:
        r"""Return the exact bytes of ids; see :meth:`decode`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.decode_bytes([257, 0xF0])
            b'low\xf0'
        """
        return self._decoder.to_bytes(ids, skip_special_tokens, threads)

    def decode_batch(
        self,
        batch: Batch | Sequence[Ids],
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[str]:
        """Return the text of each document of a batch; see :meth:`decode`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.decode_batch(tok.encode_batch(["low", "é"])), tok.decode_batch([[257], [33]])
            (['low', 'é'], ['low', '!'])
        """
        return self._decoder.to_texts(batch, errors, skip_special_tokens, threads)

    def decoder(
        self, *, errors: str = "replace", skip_special_tokens: bool = False
    ) -> IncrementalDecoder:
        """Return a decoder for a stream of ids, which gives whole characters only.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> stream = tok.decoder()
            >>> [stream.decode(token_id) for token_id in tok.encode("low é")]
            ['low', ' ', '', 'é']
        """
        return IncrementalDecoder(self._decoder, errors, skip_special_tokens)

    # Variants

    def with_special_tokens(self, tokens: SpecialTokens) -> Tokenizer:
        """Return a tokenizer with more special tokens; this one stays as it is.

        Args:
            tokens: a mapping from literals to ids, or a list of literals: one that is a token
                already keeps its id, the others get the ids after the highest.

        Raises:
            OptionError: a literal or an id is another token's already.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> more = tok.with_special_tokens({"<|end|>": 300})
            >>> more.encode("low<|end|>", special="encode"), len(more), len(tok)
            ([257, 300], 301, 258)
            >>> more.with_special_tokens(["<|pad|>"]).special_tokens
            {'<|end|>': 300, '<|pad|>': 301}
        """
        return self._variant(with_special_tokens(self.pipeline, tokens))

    def with_template(
        self, *, bos: str | int | None = None, eos: str | int | None = None
    ) -> Tokenizer:
        """Return a tokenizer that puts a token before each text, and one after it.

        It does so where ``add_special_tokens=True``, as in :meth:`prepare`; of a pair, around both
        texts. This tokenizer stays as it is.

        Args:
            bos: the token before a text, or its id; ``None`` for none.
            eos: the token after it.

        Raises:
            OptionError: there is no such token: see :meth:`with_special_tokens`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low"], vocab_size=257, special_tokens=["<s>"])
            >>> tok.with_template(bos="<s>").encode("a", add_special_tokens=True)
            [256, 97]
        """
        return self._variant(with_template(self.pipeline, bos, eos))

    def with_split(self, split: str | None) -> Tokenizer:
        """Return a tokenizer that cuts texts in another way before its model; this one stays.

        Args:
            split: a name such as ``"gpt2"`` or ``"gpt4"``, a regular expression, or ``None`` for
                no cuts; see :func:`toksmith.split`.

        Raises:
            SplitError: it is no name, and no pattern that compiles.
            UnsupportedError: what cuts the text also changes it, as SentencePiece's ``▁`` does.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["a b a b"], vocab_size=258, split=None)
            >>> tok.encoding("a b").strings, tok.with_split("gpt2").encoding("a b").strings
            (['a·b'], ['a', '·', 'b'])
        """
        return self._variant(with_split(self.pipeline, split))

    def with_matching(self, matching: Literal["longest", "merges"]) -> Tokenizer:
        """Return a tokenizer that applies the same vocabulary in another way; this one stays.

        Args:
            matching: ``"longest"``: from left to right, the longest token first, whatever the order
                of the merges. ``"merges"``: by merges, which BPE does anyway.

        Raises:
            OptionError: it is neither, or ``"merges"`` and the model has none.
            UnsupportedError: the model is no BPE, or spells its tokens in its own way.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["bc", "bc", "ab"], vocab_size=258)
            >>> tok.encoding("abc").strings, tok.with_matching("longest").encoding("abc").strings
            (['a', 'bc'], ['ab', 'c'])
        """
        return self._variant(with_matching(self.pipeline, matching))

    def _variant(self, pipeline: Pipeline) -> Tokenizer:
        return type(self)(pipeline, self._training)

    # Housekeeping

    def save(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002
        record: bool = False,
    ) -> None:
        """Write the tokenizer to a file or a directory; a kill at any moment leaves old or new.

        Args:
            path: where to. A directory, or a name that has no suffix or ends in ``/``, becomes a
                directory in Hugging Face's form: tokenizer.json, tokenizer_config.json and
                special_tokens_map.json. Of other names, the suffix says which format.
            format: the format, whatever the name: one of :data:`toksmith.formats.WRITTEN`. See
                :data:`toksmith.formats.LISTED` for the models that each holds, and its suffixes.
            record: whether to write :attr:`training`, with the paths and SHA-256 of the training
                files, to ``<path>.training.json`` (in a directory, ``training.json``), where
                :func:`toksmith.load` finds it.

        Raises:
            UnsupportedError: the format cannot hold this tokenizer; the message says why.
            OptionError: the path says no format, or cannot be written to.

        Example:
            >>> import tempfile, toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     tok.save(f"{folder}/low.json")
            ...     toksmith.load(f"{folder}/low.json") == tok
            True
        """
        from toksmith import formats
        from toksmith.tokenizer import training_record

        flag("record", record)
        contents = formats.contents(self.pipeline, path, format)
        if record and self.training is not None:
            contents |= training_record.contents(self.training, Path(path), contents)
        formats.replace(path, contents)

    def forget(self, *, cache_bytes: int | None = None) -> None:
        """Give back the memory of the chunk caches; they fill again as texts are encoded.

        The memory of the largest result that is out of use, which is kept for the next one, is
        given back as well.

        Args:
            cache_bytes: the most that a cache takes from now on, at least about 400 kB: one for
                all threads of a call, or one for each when that has had no room for what they
                met. ``None`` leaves it as it is (48 MiB to begin with,
                ``engine.CACHE_BYTES``). Models of characters keep up to 1 MiB more, for single
                ones beyond ASCII; a result that is kept may take four times as much. Speed
                depends on it, ids do not.

        Raises:
            OptionError: ``cache_bytes`` is no whole number, or negative.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> tok.forget(cache_bytes=1_000_000)
        """
        if cache_bytes is not None:
            cache_bytes = whole("cache_bytes", cache_bytes, least=0, otherwise=", or None")
        self._encoder.forget(cache_bytes)

    # Behind the scenes

    def _is_plain(self, special: Special, add_special_tokens: bool) -> bool:
        """Whether a text goes to the engine as it is."""
        is_plain = self._encoder.is_plain(special) and self._encoder.times == 1
        return is_plain and not add_special_tokens

    def _stacked(
        self, texts: Iterable[Text], special: Special, add_special_tokens: bool, threads: int | None
    ) -> Batch:
        """Return the ids of each text, encoded one by one."""
        encode = partial(
            self.encode_array,
            special=special,
            add_special_tokens=add_special_tokens,
            threads=threads,
        )
        return stack([encode(text) for text in texts])

    def _framed(self, ids: IdArray) -> IdArray:
        return concat(frame(self._framing.template, [RowPart(ids, 0, 0)]))

    @cached_property
    def _trim(self) -> Trimmer:
        return Trimmer(self.pipeline, self._table.tokens)
