"""The Tokenizer class: a pipeline, and an engine that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, overload

from toksmith._base import habits, lazy
from toksmith._base.arrays import Bounds, IdArray, Ids, OffsetArray, SpanArray
from toksmith._base.checks import flag, whole
from toksmith._base.habits import TokenizerHabits
from toksmith._base.lazy import np, npt
from toksmith._base.records import replace
from toksmith._base.report import html_of
from toksmith._base.text import Text, refuse_list, utf8
from toksmith._base.threads import SMALL
from toksmith.errors import OptionError, UnknownTokenError, UnsupportedError, warn
from toksmith.framing import Padding
from toksmith.models import BPE, CharacterBPE, Pieces
from toksmith.pipeline import Pipeline
from toksmith.results import Batch, Encoding, Inputs, RaggedInputs, stack
from toksmith.tokenizer.encode import (
    ENGINE_REFUSALS,
    LocatedTokens,
    Special,
    TextEncoder,
    each_located,
    each_located_in_words,
    make_encoding,
)

if TYPE_CHECKING:
    from toksmith.tokenizer.chunking import Chunker, TextChunk, Unit, text_chunks, truncate_text
    from toksmith.tokenizer.decode import IncrementalDecoder, TextDecoder
    from toksmith.tokenizer.merge_table import Merges, MergeTable
    from toksmith.tokenizer.model_inputs import (
        Cut,
        Fill,
        KnownLengths,
        Preparation,
        PreparedRows,
        all_words,
        columns_of,
        known_lengths,
        resolve_lengths,
    )
    from toksmith.tokenizer.normalizing import located_text, normalized_text
    from toksmith.tokenizer.rows import RowPart, Trimmer, concat, frame
    from toksmith.tokenizer.training_record import TrainingRecord
    from toksmith.tokenizer.variants import (
        SpecialTokens,
        with_matching,
        with_special_tokens,
        with_split,
        with_template,
    )
    from toksmith.trace.explain import Explainer, Explanation
    from toksmith.vocabulary import Tokens, TokenTable, Vocabulary
else:  # neither loading nor encoding a text to a list needs these modules
    _later = partial(lazy.callables, "toksmith.tokenizer")
    Chunker, text_chunks, truncate_text = _later("chunking", "Chunker text_chunks truncate_text")
    IncrementalDecoder, TextDecoder = _later("decode", "IncrementalDecoder TextDecoder")
    Merges, MergeTable = _later("merge_table", "Merges MergeTable")
    Preparation, all_words, columns_of, known_lengths, resolve_lengths = _later(
        "model_inputs", "Preparation all_words columns_of known_lengths resolve_lengths"
    )
    located_text, normalized_text = _later("normalizing", "located_text normalized_text")
    RowPart, Trimmer, concat, frame = _later("rows", "RowPart Trimmer concat frame")
    with_matching, with_special_tokens, with_split, with_template = _later(
        "variants", "with_matching with_special_tokens with_split with_template"
    )
    Tokens, TokenTable, Vocabulary = lazy.callables(
        "toksmith", "vocabulary", "Tokens TokenTable Vocabulary"
    )

AnyText = TypeVar("AnyText", str, bytes)


class Tokenizer(TokenizerHabits):
    """Encodes text to ids and decodes ids to text.

    Made by :func:`toksmith.train`, :func:`toksmith.load` or :func:`toksmith.get`. Threads may share
    one; it survives pickling and forking.

    Args:
        pipeline: the stages it runs.
        training: the record of its training, or a function that reads the record on first use.

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
        # A tokenizer that was just trained is often only saved: compile it on first use.
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

    # Data

    @property
    def name(self) -> str | None:
        """The published name, if it has one.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> Tokenizer(tok.pipeline.with_name("low")).name
            'low'
        """
        return self.pipeline.name

    @property
    def engine(self) -> str:
        """Where encoding runs: in the kernel, or which stages in Python and why.

        Example:
            >>> import toksmith
            >>> toksmith.get("toksmith-small").engine
            "kernel, with o200k's scanner"
        """
        return self._encoder.route

    @property
    def training(self) -> TrainingRecord | None:
        """The record of its training, or ``None`` if there is none.

        For a loaded tokenizer, the record comes from ``<path>.training.json``, if :meth:`save`
        wrote one. A damaged record, or the record of another file, is ignored with a warning.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> tok.training.merges, tok.training.counts.tolist()
            (3, [3, 3, 2])
        """
        if callable(self._training):
            self._training = self._training()
        return self._training

    @cached_property
    def vocab_size(self) -> int:
        """The highest id plus one, special tokens included: the rows that an embedding needs.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258, special_tokens=["<eos>"])
            >>> tok.vocab_size
            258
        """
        return len(self._table.tokens)

    def __len__(self) -> int:
        """Return :attr:`vocab_size`."""
        return self.vocab_size

    @cached_property
    def vocab(self) -> Vocabulary:
        """The id of each token by its bytes, special tokens included; read-only.

        Tokens are spelled as in the vocabulary: ``▁the``, ``##ing``, ``<0x0A>``. If several ids
        have the same bytes, the mapping has fewer entries than there are ids.

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
        """Return whether both have equal pipelines; names are ignored."""
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
    def _roles(self) -> dict[str, int]:
        from toksmith.formats.huggingface.config import role_ids

        return role_ids(self.pipeline, self._table.find)

    @property
    def bos_token_id(self) -> int | None:
        """The id of the token that begins a text; ``None`` if the tokenizer has none.

        A model folder names it. For other files, it follows from the model, the template and the
        literals of the special tokens (``<s>``, ``<|begin_of_text|>`` …).

        Example:
            >>> import toksmith
            >>> toksmith.train(texts=["a"], vocab_size=257, special_tokens=["<s>"]).bos_token_id
            256
        """
        return self._roles.get("bos_token")

    @property
    def eos_token_id(self) -> int | None:
        """The id of the token that ends a text; see :attr:`bos_token_id`.

        Example:
            >>> import toksmith
            >>> toksmith.get("toksmith-small").eos_token_id
            16382
        """
        return self._roles.get("eos_token")

    @property
    def pad_token_id(self) -> int | None:
        """The id of the token that pads rows; see :attr:`bos_token_id`.

        Example:
            >>> import toksmith
            >>> toksmith.get("toksmith-small").pad_token_id
            16383
        """
        return self._roles.get("pad_token")

    @property
    def unk_token_id(self) -> int | None:
        """The id of the token for unknown text; see :attr:`bos_token_id`.

        Example:
            >>> import toksmith
            >>> print(toksmith.get("toksmith-small").unk_token_id)
            None
        """
        return self._roles.get("unk_token")

    @property
    def model_max_length(self) -> int | None:
        """The most tokens that the model takes; ``None`` if no file says so.

        It is that of a model folder, else the length to which the tokenizer's file cuts texts.
        :meth:`prepare` cuts to it with ``truncation=True``.

        Example:
            >>> import toksmith
            >>> print(toksmith.get("toksmith-small").model_max_length)
            None
        """
        limit, cut = self.pipeline.settings.model_max_length, self._framing.truncation
        return cut.max_length if limit is None and cut is not None else limit

    @property
    def chat_template(self) -> str | None:
        """The chat template of a model folder, a Jinja text; ``None`` if there is none.

        toksmith keeps it, and does not run it.

        Example:
            >>> import toksmith
            >>> print(toksmith.get("toksmith-small").chat_template)
            None
        """
        return self.pipeline.settings.chat_template

    @cached_property
    def merges(self) -> Merges:
        """The merges of a BPE model in rank order, as ``(left id, right id)``; it equals a list.

        Raises:
            UnsupportedError: the model has no list of merges.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> list(tok.merges)
            [(108, 111), (256, 119)]
        """
        rows = self._with_merges.merges.tolist()
        return Merges((left, right) for left, right, _ in rows)

    @cached_property
    def merge_table(self) -> MergeTable:
        """The merges as rows ``(rank, left, right, new, bytes, count)``; print it to read it.

        ``count`` is the number of times the pair occurred in the training text when it was merged;
        ``None`` if :attr:`training` has no counts.

        Raises:
            UnsupportedError: the model has no list of merges.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> print(tok.merge_table)
            rank  left + right   id  token  count
               0  l + o         256  lo         2
               1  lo + w        257  low        2
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
        return TextDecoder(self.pipeline, self._table)

    def token_bytes(self, token_id: int) -> bytes:
        r"""Return the bytes of a token.

        Args:
            token_id: the id.

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
        """Return the text of a token: its bytes as UTF-8, with U+FFFD for invalid bytes.

        Args:
            token_id: the id.

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

        Args:
            token: the token as text or as bytes.

        Raises:
            UnknownTokenError: there is no such token.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.token_id("low"), tok.token_id(b"l")
            (257, 108)
        """
        return self._table.id_of(token)

    def spelling(self, token_id: int) -> str:
        """Return a token as a file spells it, such as ``Ġthe``, ``##ing``, ``▁the``, ``<0x0A>``.

        Byte-level models spell each byte as one printable character, as GPT-2's files do.

        Args:
            token_id: the id.

        Raises:
            UnknownTokenError: no token has this id.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["a low low"], vocab_size=259)
            >>> tok.spelling(258), tok.token_text(258)
            ('Ġlow', ' low')
        """
        self._table.bytes_of(token_id)
        return self._table.spelled[token_id]

    def id_of_spelling(self, spelling: str) -> int:
        """Return the id of a token that is spelled as in a tokenizer's file; see :meth:`spelling`.

        Args:
            spelling: the spelled token.

        Raises:
            UnknownTokenError: no token is spelled so.
            OptionError: ``spelling`` is no str.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["a low low"], vocab_size=259)
            >>> tok.id_of_spelling("Ġlow")
            258
        """
        if not isinstance(spelling, str):
            raise OptionError(f"spelling is {spelling!r:.80}: use a str; token_id takes bytes")
        found = self._table.spelled_ids.get(spelling)
        if found is None:
            raise UnknownTokenError(f"no token of this vocabulary is spelled {spelling!r:.80}")
        return found

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The spelling of each id, ``""`` for an id without a token; see :meth:`spelling`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["a low low"], vocab_size=259)
            >>> tok.spellings[256:], tok.spellings[0]
            (('Ġl', 'Ġlo', 'Ġlow'), 'Ā')
        """
        return tuple(self._table.spelled)

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The score of each piece of SentencePiece's models: float64, shape ``(pieces,)``.

        Added tokens that are no pieces have none.

        Raises:
            UnsupportedError: the tokens of the model have no scores.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"] * 9, model="unigram", vocab_size=12)
            >>> tok.scores.shape, bool((tok.scores <= 0).all())
            ((12,), True)
        """
        model = self.pipeline.model
        if not isinstance(model, Pieces):
            raise UnsupportedError(
                f"the tokens of {type(model).__name__} have no scores; those of Unigram and of "
                "SentencePiece's BPE have"
            )
        return model.scores

    def score(self, token_id: int) -> float:
        """Return the score of a piece; see :attr:`scores`.

        Args:
            token_id: the id.

        Raises:
            UnknownTokenError: no piece has this id.
            UnsupportedError: the tokens of the model have no scores.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"] * 9, model="unigram", vocab_size=12)
            >>> tok.score(0), tok.score(5) == float(tok.scores[5])
            (0.0, True)
        """
        scores = self.scores
        self._table.bytes_of(token_id)
        if token_id >= len(scores):
            raise UnknownTokenError(f"id {token_id} is an added token, which has no score")
        return float(scores[token_id])

    # Encoding

    @overload
    def normalize(self, text: Text, *, offsets: Literal[False] = False) -> str: ...
    @overload
    def normalize(self, text: Text, *, offsets: Literal[True]) -> tuple[str, SpanArray]: ...
    @overload
    def normalize(self, text: Text, *, offsets: bool) -> str | tuple[str, SpanArray]: ...
    def normalize(self, text: Text, *, offsets: bool = False) -> str | tuple[str, SpanArray]:
        """Return the text that the normalizer makes of a text, before it is split.

        The whole text is normalized, the literals of special tokens too.

        Args:
            text: a string, or UTF-8 bytes.
            offsets: whether to return the places in ``text`` too.

        Returns:
            The normalized text; with ``offsets``, also int64 of shape ``(characters, 2)``: the
            characters ``[start, end)`` of ``text`` that each of its characters comes from.

        Raises:
            OptionError: ``text`` is neither str nor bytes.

        Example:
            >>> from toksmith import models, normalizers
            >>> lower = (normalizers.Lowercase(),)
            >>> tok = Tokenizer(Pipeline(models.WordLevel((b"a",)), normalizer=lower))
            >>> tok.normalize("Low Ä")
            'low ä'
            >>> tok.normalize("İ", offsets=True)
            ('i̇', array([[0, 1],
                   [0, 1]]))
        """
        if flag("offsets", offsets):
            return located_text(self.pipeline, text)
        return normalized_text(self.pipeline, text)

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

        Truncation and padding settings of the tokenizer's file are ignored here; :meth:`prepare`
        applies them.

        Args:
            text: a string, or UTF-8 bytes. Invalid bytes are kept. In a string, a surrogate pair
                becomes one character, and a lone surrogate becomes U+FFFD.
            special: what the literal of a special token inside the text means: ``"text"`` (plain
                text), ``"encode"`` (the special token), ``"raise"`` (an error), or a set of the
                literals to encode, the rest being plain text.
            add_special_tokens: put the template's ids around the text.
            threads: the number of threads for a long text; ``None`` for the cores this process may
                use.
            pair: a second text, which the template puts after the first.

        Raises:
            SpecialTokenError: ``special="raise"`` and the text holds a special token.
            OptionError: ``special`` has another value, or ``text`` is neither str nor bytes.
            SplitError: a custom split pattern took too long.

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
                try:  # the fast path for the most frequent call: directly to the engine
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

        Args:
            text: a string, or UTF-8 bytes.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around the text.
            threads: see :meth:`encode`.
            pair: a second text, which the template puts after the first.

        Raises:
            SpecialTokenError, OptionError, SplitError: see :meth:`encode`.

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
            texts: the documents: a list, or any iterable of texts. A column of pyarrow or polars,
                or of another library that exports Arrow, is read where it is.
            pairs: the second text of each document, which the template puts after the first.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around each text.
            threads: ``None`` for the cores this process may use.

        Returns:
            ``.ids``, uint32 of shape ``(tokens,)``, and ``.offsets``, int64 of shape
            ``(texts + 1,)``.

        Raises:
            OptionError: an element is no text (``texts[2] is nan``), or ``pairs`` and ``texts``
                have different lengths.

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
        how = Preparation(None, special, add_special_tokens, False, False, threads)
        return self._rows(how, columns[0], columns[1] if pairs is not None else None).batch()

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
        """Return the ids of the documents of a file; it is read as in training.

        Args:
            path: a file of UTF-8 text, JSON Lines, Parquet, CSV or TSV, compressed or not.
            separator: the text between two documents; it belongs to neither. A separator at the end
                of the file starts no empty document. Without it, a text file is one document.
            field: the field of JSON Lines, or the column of Parquet, CSV or TSV, that holds the
                text; each line or row is one document.
            read_as: ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``; ``None``
                chooses by the file's name.
            encoding_errors: ``"strict"`` refuses a file that is not UTF-8 text; ``"replace"``
                replaces invalid bytes by U+FFFD.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around each document.
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
            return self._encode_slices(data, bounds, special, add_special_tokens, threads)

    def _encode_slices(
        self,
        data: Text,
        bounds: Bounds,
        special: Special,
        add_special_tokens: bool,
        threads: int | None,
    ) -> Batch:
        """Return the ids of each slice of a text, in UTF-8, as a document of its own."""
        is_plain = self._encoder.is_plain(special) and self._encoder.times == 1
        if is_plain and not add_special_tokens:
            return self._encoder.encode_slices(data, bounds, threads)
        encode = partial(
            self.encode_array,
            special=special,
            add_special_tokens=add_special_tokens,
            threads=threads,
        )
        return stack([encode(data[start:end]) for start, end in bounds.tolist()])

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

        If the tokenizer's file sets ``Framing.trim_offsets``, character spans leave out spaces at
        the ends of tokens; byte spans never do.

        Args:
            text: a string, or UTF-8 bytes.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around the text.
            pair: a second text, which the template puts after the first.

        Raises:
            SpecialTokenError, OptionError, SplitError: see :meth:`encode`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> tok.encoding("abé").spans.tolist()
            [[0, 2], [2, 3], [2, 3]]
        """
        if _unknown:
            raise habits.unknown_keywords("encoding", _unknown)
        flag("add_special_tokens", add_special_tokens)
        refuse_list(text, "for a list of texts, use encodings")
        columns = [[text]] if pair is None else [[text], [pair]]
        return self._encodings(columns, special, add_special_tokens, None)[0]

    def frame(self, ids: Ids, pair: Ids | None = None) -> list[int]:
        """Return ids with the template's ids around them, as ``add_special_tokens=True`` does.

        Args:
            ids: the ids of a text: a list or an integer array.
            pair: the ids of a second text, which the template puts after the first.

        Raises:
            OptionError: ``ids`` or ``pair`` is no flat sequence of whole numbers.
            UnknownTokenError: no token has one of the ids.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low"], vocab_size=257, special_tokens=["<s>"])
            >>> tok.with_template(bos="<s>").frame([97, 98])
            [256, 97, 98]
        """
        texts = [RowPart(self._decoder.known_ids(ids), 0, 0)]
        if pair is not None:
            texts.append(RowPart(self._decoder.known_ids(pair), 1, 1))
        framed: list[int] = concat(frame(self._framing.template, texts)).tolist()
        return framed

    def encode_words(
        self,
        words: Sequence[Text],
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        pair: Sequence[Text] | None = None,
    ) -> Encoding:
        """Return the tokens of a text that is split into words already.

        Each word is encoded as a text of its own. The text of the result is its words with spaces
        between them, and spans are those in this text. :meth:`encodings` and :meth:`prepare` take
        many such texts.

        Args:
            words: a list or a column of words.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around the text.
            pair: the words of a second text, which the template puts after the first.

        Raises:
            OptionError: ``words`` is no list of texts, or holds a null.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> encoding = tok.encode_words(["a", "low", "b"])
            >>> encoding.text, encoding.words, encoding.spans.tolist()
            ('a low b', [0, 1, 2], [[0, 1], [2, 5], [6, 7]])
        """
        flag("add_special_tokens", add_special_tokens)
        columns = columns_of("encodings", [words], None if pair is None else [pair], True)
        return self._encodings(columns, special, add_special_tokens, None, True)[0]

    def encodings(
        self,
        texts: Iterable[Text] | Iterable[Sequence[Text]],
        pairs: Iterable[Text] | Iterable[Sequence[Text]] | None = None,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        pre_split: bool = False,
        threads: int | None = None,
    ) -> list[Encoding]:
        """Return the tokens of many texts, or pairs of texts; see :meth:`encoding`.

        Args:
            texts: the documents.
            pairs: the second text of each document, which the template puts after the first.
            pre_split: whether each text is a list of words; see :meth:`encode_words`.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around each text.
            threads: see :meth:`encode_batch`.

        Raises:
            OptionError: an element is no text, or ``pairs`` and ``texts`` have different lengths.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> [each.strings for each in tok.encodings(["ab", "b a"])]
            [['ab'], ['b', '·', 'a']]
        """
        flag("add_special_tokens", add_special_tokens)
        flag("pre_split", pre_split)
        columns = columns_of("encodings", texts, pairs, pre_split)
        return self._encodings(columns, special, add_special_tokens, threads, pre_split)

    def _encodings(
        self,
        columns: Sequence[Sequence[Any]],
        special: Special,
        add_special_tokens: bool,
        threads: int | None,
        pre_split: bool = False,
    ) -> list[Encoding]:
        special_ids = set(self._framing.special_tokens.values())

        def locate(column: Sequence[Any], name: str) -> Iterator[LocatedTokens]:
            if not pre_split:
                located = self._encoder.locate(column, special, threads, name)
                return each_located(column, located, partial(self._encoder.words, special=special))
            words, _ = all_words(column)
            located = self._encoder.locate(words, special, threads, f"the words of {name}")
            return each_located_in_words(column, located)

        found = []
        for texts in zip(*map(locate, columns, ("texts", "pairs")), strict=True):
            parts = [each.row_part(place, self._trim) for place, each in enumerate(texts)]
            row = frame(self._framing.template, parts, add_special_tokens)
            found.append(make_encoding(row, texts, self._table.tokens, special_ids))
        return found

    def prepare(
        self,
        texts: Iterable[Text] | Iterable[Sequence[Text]],
        pairs: Iterable[Text] | Iterable[Sequence[Text]] | None = None,
        *,
        max_length: int | None = None,
        stride: int | None = None,
        padding: Fill | None = None,
        truncation: Cut | None = None,
        overflow: bool = False,
        spans: bool = False,
        pre_split: bool = False,
        special: Special = "text",
        add_special_tokens: bool = True,
        threads: int | None = None,
        **_unknown: NoReturn,
    ) -> Inputs:
        """Return texts, or pairs of texts, as model inputs: arrays of ``n`` rows of ``L`` ids.

        Args:
            texts: the text of each row.
            pairs: the second text of each row.
            max_length: the most tokens of a row, template included; the rest is cut off. Default:
                the tokenizer file's setting, else no limit.
            stride: with ``overflow``, the number of tokens that an additional row repeats from the
                row before it.
            padding: the row length: an int, ``"longest"`` or ``True`` (pad to the longest row),
                ``"max_length"``, ``False`` (no padding: rows must have equal lengths), or a
                :class:`~toksmith.framing.Padding`. Default: the tokenizer file's setting, else
                ``"longest"``. The padding token is the file's, else a special token such as
                ``<pad>`` or ``[PAD]``, else id 0, with one warning.
            truncation: ``True`` (cut to ``max_length``), ``False`` (do not cut), the text of a pair
                to cut (``"longest_first"``, ``"only_first"``, ``"only_second"``), or a
                :class:`~toksmith.framing.Truncation`. Default: cut if a maximum length is known.
            overflow: whether tokens that are cut off form additional rows of the same text;
                ``Inputs.document`` is the index of each row's text.
            spans: whether to return the characters that each token covers.
            pre_split: whether each text is a list of words. Each word is encoded as a text of its
                own; spans count from the start of the word, and ``Inputs.words`` says which it is.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around the texts.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: ``pairs`` and ``texts`` have different lengths, a text cannot be cut to
                ``max_length``, or a row is longer than the fixed row length.

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
        flag("pre_split", pre_split)
        cut, fill, must_fit = resolve_lengths(
            self._framing, self._lengths, truncation, padding, max_length, stride
        )
        how = Preparation(cut, special, add_special_tokens, overflow, spans, threads, pre_split)
        rows = self._rows(how, texts, pairs)
        if must_fit and len(np.unique(np.diff(rows.table.starts))) > 1:
            raise OptionError(
                "padding=False, but the rows have different lengths: pad them, or use "
                "prepare_ragged, which returns rows without padding"
            )
        inputs = rows.padded(fill)
        is_named = isinstance(padding, Padding) and padding.id is not None
        if not is_named and len(inputs.ids) and inputs.lengths.min() < inputs.ids.shape[1]:
            self._warn_of_padding(fill.id or 0)
        return inputs

    def prepare_ragged(
        self,
        texts: Iterable[Text] | Iterable[Sequence[Text]],
        pairs: Iterable[Text] | Iterable[Sequence[Text]] | None = None,
        *,
        max_length: int | None = None,
        stride: int | None = None,
        truncation: Cut | None = None,
        overflow: bool = False,
        spans: bool = False,
        pre_split: bool = False,
        special: Special = "text",
        add_special_tokens: bool = True,
        threads: int | None = None,
    ) -> RaggedInputs:
        """Return texts, or pairs of texts, as rows of ids without padding; see :meth:`prepare`.

        Args:
            texts: the text of each row.
            pairs: the second text of each row.
            max_length: see :meth:`prepare`.
            stride: see :meth:`prepare`.
            truncation: see :meth:`prepare`.
            overflow: see :meth:`prepare`.
            spans: whether to return the characters that each token covers.
            pre_split: see :meth:`prepare`.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around the texts.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: ``pairs`` and ``texts`` have different lengths, or a text cannot be cut to
                ``max_length``.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> rows = tok.prepare_ragged(["abba", "b"], max_length=2, overflow=True)
            >>> rows.lists(rows.ids), rows.document.tolist()
            ([[256, 98], [97], [98]], [0, 0, 1])
        """
        flag("overflow", overflow)
        flag("spans", spans)
        flag("add_special_tokens", add_special_tokens)
        flag("pre_split", pre_split)
        cut, _, _ = resolve_lengths(
            self._framing, self._lengths, truncation, None, max_length, stride
        )
        how = Preparation(cut, special, add_special_tokens, overflow, spans, threads, pre_split)
        return self._rows(how, texts, pairs).ragged()

    def _rows(
        self,
        how: Preparation,
        texts: Iterable[Text] | Iterable[Sequence[Text]],
        pairs: Iterable[Text] | Iterable[Sequence[Text]] | None,
    ) -> PreparedRows:
        return how.rows(self._encoder, self._framing, self._trim, texts, pairs)

    @cached_property
    def _lengths(self) -> KnownLengths:
        return known_lengths(self._framing, self.pipeline.settings, self.pad_token_id)

    def _warn_of_padding(self, filled_with: int) -> None:
        """Warn, once, that rows are padded with an id that is no padding token."""
        if self._warned_of_padding or self._lengths.pad_id is not None:
            return
        self._warned_of_padding = True
        warn(
            f"this tokenizer has no padding token: rows are padded with id {filled_with} "
            f"({self._table.tokens[filled_with]!r:.40}), and attention_mask is 0 there; set one "
            "by padding=toksmith.framing.Padding(id=...) or with_special_tokens(['<pad>'])"
        )

    def count(
        self,
        text: Text,
        *,
        special: Special = "text",
        threads: int | None = None,
        **_unknown: NoReturn,
    ) -> int:
        """Return the number of tokens of a text, without making a list; see :meth:`encode`.

        Args:
            text: a string, or UTF-8 bytes.
            special: see :meth:`encode`.
            threads: see :meth:`encode`.

        Raises:
            SpecialTokenError, OptionError, SplitError: see :meth:`encode`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.count("low low!")
            4
        """
        if _unknown:
            raise habits.unknown_keywords("count", _unknown)
        refuse_list(text, "for a list of texts, use count_batch")
        return self._encoder.count(text, special, threads) * self._encoder.times

    def count_batch(
        self, texts: Iterable[Text], *, special: Special = "text", threads: int | None = None
    ) -> OffsetArray:
        """Return the number of tokens of each text, as an int64 array of shape ``(texts,)``.

        Args:
            texts: the documents: a list, a column or an iterable; see :meth:`encode_batch`.
            special: see :meth:`encode`.
            threads: ``None`` for the cores this process may use.

        Raises:
            OptionError: an element is no text (``texts[2] is nan``).

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
        """Return the longest start, or end, of a text that has at most ``max_tokens`` tokens.

        The text is cut between two tokens and between two characters.

        Args:
            text: a string or bytes.
            max_tokens: the most tokens of the result.
            side: the end to cut off: ``"right"`` keeps the start, ``"left"`` keeps the end.
            special: see :meth:`encode`.

        Raises:
            OptionError: ``max_tokens`` is negative, ``side`` has another value, or ``text`` is
                neither str nor bytes.

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

        Each part, encoded by itself, keeps to that limit. The parts cover the text: without
        overlap, concatenating them gives the text.

        Args:
            text: a string or bytes.
            max_tokens: the most tokens of a part, template not included.
            overlap: the most tokens that a part repeats from the part before it.
            at: where parts end: ``"token"`` (as late as possible), ``"word"`` or ``"sentence"``,
                by :func:`toksmith.words` and :func:`toksmith.sentences`. A sentence that is longer
                than a part is cut at words, a word at tokens. An overlap starts at a sentence if
                one starts in it, else at a word.
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

    # Other segmentations, and explanations

    def sample(
        self,
        text: Text,
        *,
        seed: int | None = None,
        alpha: float | None = None,
        nbest_size: int = -1,
        dropout: float | None = None,
        special: Special = "text",
        add_special_tokens: bool = False,
    ) -> list[int]:
        """Return the ids of a random segmentation (subword regularization).

        Args:
            text: a string or bytes.
            seed: equal seeds give equal ids; ``None`` draws a new seed for each call.
            alpha: (Unigram) the probability of a segmentation is proportional to
                ``exp(alpha * score)``: 0 is uniform, 1 (the default) is the model's distribution.
            nbest_size: (Unigram) draw from the ``nbest_size`` best segmentations; negative draws
                from all.
            dropout: (BPE) the probability that a merge is skipped. Default: the model's, if its
                file has one.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around the text.

        Raises:
            UnsupportedError: the model has only one segmentation of a text.
            OptionError: an argument is out of range, or is for another kind of model.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> tok.sample("ab", dropout=0), tok.sample("ab", dropout=1)
            ([256], [97, 98])
        """
        from toksmith.tokenizer.subword_sampling import draw

        ids = draw(
            self.pipeline,
            text,
            special,
            seed=None if seed is None else whole("seed", seed, least=-(2**63)),
            alpha=alpha,
            nbest_size=whole("nbest_size", nbest_size, least=-(2**63)),
            dropout=dropout,
        )
        drawn: list[int] = (self._frame(ids) if add_special_tokens else ids).tolist()
        return drawn

    def samples(
        self,
        text: Text,
        count: int,
        *,
        alpha: float = 1.0,
        distinct: bool = False,
        include_best: bool = False,
        seed: int | None = None,
        special: Special = "text",
        add_special_tokens: bool = False,
    ) -> list[tuple[list[int], float]]:
        """Return the ids and scores of random segmentations, drawn by their probability.

        Args:
            text: a string or bytes.
            count: the number of samples.
            alpha: the probability of a segmentation is proportional to ``exp(alpha * score)``.
            distinct: whether the samples differ from each other (sampling without replacement); a
                short text may have fewer than ``count``.
            include_best: with ``distinct``: put the best segmentation first.
            seed: equal seeds give equal samples; ``None`` draws a new seed for each call.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around the text.

        Returns:
            Pairs of ids and score. The score is the logarithm of the probability of the
            segmentation; with ``distinct``, of the probability that it is among the samples (Kool,
            van Hoof & Welling 2019), which is 0 for the best one of ``include_best``, and for all
            if there are no more than ``count``.

        Raises:
            UnsupportedError: the model does not score segmentations; only Unigram does.
            OptionError: an argument is out of range.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"] * 9, model="unigram", vocab_size=12)
            >>> found = tok.samples("low low", 4, distinct=True, include_best=True, seed=1)
            >>> len({tuple(ids) for ids, _ in found}), found[0][0] == tok.encode("low low")
            (4, True)
        """
        from toksmith.tokenizer.subword_sampling import draw_several

        found = draw_several(
            self.pipeline,
            text,
            whole("count", count, least=1),
            special,
            seed=None if seed is None else whole("seed", seed, least=-(2**63)),
            alpha=alpha,
            distinct=flag("distinct", distinct),
            include_best=flag("include_best", include_best),
        )
        return self._scored_lists(found, add_special_tokens)

    def segmentation_entropy(
        self, text: Text, *, alpha: float = 1.0, special: Special = "text"
    ) -> float:
        """Return the entropy of the segmentations of a text, in nats: how uncertain the best is.

        Args:
            text: a string or bytes.
            alpha: the probability of a segmentation is proportional to ``exp(alpha * score)``.
            special: see :meth:`encode`.

        Raises:
            UnsupportedError: the model does not score segmentations; only Unigram does.
            OptionError: ``alpha`` is out of range.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"] * 9, model="unigram", vocab_size=12)
            >>> 0 < tok.segmentation_entropy("low") < tok.segmentation_entropy("low low")
            True
        """
        from toksmith.tokenizer.subword_sampling import entropy

        return entropy(self.pipeline, text, special, alpha)

    def nbest(
        self,
        text: Text,
        size: int,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
    ) -> list[tuple[list[int], float]]:
        """Return the ids and scores of the best segmentations, the best first.

        Args:
            text: a string or bytes.
            size: the number of segmentations, up to 1,024; a short text may have fewer.
            special: see :meth:`encode`.
            add_special_tokens: put the template's ids around the text.

        Returns:
            Pairs of ids and score: the logarithm of the probability of the segmentation.

        Raises:
            UnsupportedError: the model does not score segmentations; only Unigram does.
            OptionError: ``size`` is out of range.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low lower lowest"] * 9, model="unigram", vocab_size=12)
            >>> [[tok.token_text(i) for i in ids] for ids, _ in tok.nbest("low", 2)]
            [['▁low'], ['▁', 'l', 'o', 'w']]
        """
        from toksmith.tokenizer.subword_sampling import best

        found = best(self.pipeline, text, whole("size", size, least=1), special)
        return self._scored_lists(found, add_special_tokens)

    def _scored_lists(
        self, found: list[tuple[IdArray, float]], add_special_tokens: bool
    ) -> list[tuple[list[int], float]]:
        return [
            ((self._frame(ids) if add_special_tokens else ids).tolist(), score)
            for ids, score in found
        ]

    def explain(self, text: Text, *, special: Special = "text") -> Explanation:
        """Explain the encoding of a text: each chunk, and each step of the model. Print to read.

        ``.diagrams`` holds the same steps as drawable data: for each chunk a merge tree, a lattice,
        or the longest matches.

        Args:
            text: a string or bytes.
            special: see :meth:`encode`; ``"raise"`` means the same as ``"text"``.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> print(tok.explain("ab"))
            'ab': 2 bytes, 1 chunk, 1 token
            <BLANKLINE>
            chunk 1: 'ab'
                a b
                ab    a + b, merge 0
              = ab 256
        """
        refuse_list(text, "for a list of texts, call explain for each of them")
        return replace(self._explainer.text(text, special), engine=self.engine)

    def explain_token(self, token: int | str | bytes) -> Explanation:
        """Explain how the model builds a token; ``.reached`` is whether it can.

        The token's bytes go to the model directly, without normalizer and splitter.

        Args:
            token: an id, or the token itself.

        Raises:
            UnknownTokenError: there is no such token.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abcabc"], vocab_size=258)
            >>> tok.explain_token(257).diagrams[0].nodes[-1]
            Node(token=b'abc', id=257, parts=(3, 2), rank=1)
        """
        if isinstance(token, str | bytes):
            return self._explainer.token(self.token_id(token))
        return self._explainer.token(whole("token", token, least=0))

    @cached_property
    def _explainer(self) -> Explainer:
        from toksmith.trace.explain import Explainer

        return Explainer(self.pipeline)

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
            errors: the handler of invalid UTF-8, as in :meth:`bytes.decode`; only byte-level models
                use it.
            skip_special_tokens: leave special tokens out.
            threads: the number of threads for many ids; ``None`` for the cores this process may
                use.

        Raises:
            OptionError: ``ids`` is no flat sequence of whole numbers, or there is no error handler
                ``errors``.
            UnknownTokenError: no token has one of the ids.
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

        Args:
            ids: a list or an integer array.
            skip_special_tokens: leave special tokens out.
            threads: see :meth:`decode`.

        Raises:
            OptionError, UnknownTokenError: see :meth:`decode`.

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

        Args:
            batch: the result of :meth:`encode_batch`, a list of lists or arrays of ids, or a
                column of lists of ids.
            errors: see :meth:`decode`.
            skip_special_tokens: leave special tokens out.
            threads: see :meth:`decode`.

        Raises:
            OptionError, UnknownTokenError, UnicodeDecodeError: see :meth:`decode`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.decode_batch(tok.encode_batch(["low", "é"])), tok.decode_batch([[257], [33]])
            (['low', 'é'], ['low', '!'])
        """
        return self._decoder.to_texts(batch, errors, skip_special_tokens, threads)

    def decode_bytes_batch(
        self,
        batch: Batch | Sequence[Ids],
        *,
        skip_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[bytes]:
        r"""Return the exact bytes of each document of a batch; see :meth:`decode_bytes`.

        Args:
            batch: see :meth:`decode_batch`.
            skip_special_tokens: leave special tokens out.
            threads: see :meth:`decode`.

        Raises:
            OptionError, UnknownTokenError: see :meth:`decode`.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.decode_bytes_batch([[257], [0xF0, 33]])
            [b'low', b'\xf0!']
        """
        return self._decoder.to_bytes_batch(batch, skip_special_tokens, threads)

    def decode_spans(self, ids: Ids, *, errors: str = "replace") -> tuple[str, SpanArray]:
        """Return the text of ids, and the characters of the text that each id covers.

        A character that is divided between several tokens belongs to each of them.

        Args:
            ids: a list or an integer array.
            errors: see :meth:`decode`.

        Returns:
            The text, and int64 of shape ``(ids, 2)``: the characters ``[start, end)`` of each id.

        Raises:
            OptionError, UnknownTokenError, UnicodeDecodeError: see :meth:`decode`.
            UnsupportedError: a step of the decoder changes the text of several tokens as one.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> text, spans = tok.decode_spans([257, 0xC3, 0xA9])
            >>> text, spans.tolist()
            ('lowé', [[0, 3], [3, 4], [3, 4]])
        """
        return self._decoder.locate(ids, errors)

    def decoder(
        self, *, errors: str = "replace", skip_special_tokens: bool = False, ids: Ids = ()
    ) -> IncrementalDecoder:
        """Return an incremental decoder for a stream of ids; it returns whole characters only.

        Args:
            errors: see :meth:`decode`.
            skip_special_tokens: leave special tokens out.
            ids: the ids before the stream, such as those of a prompt: their text is not returned,
                and the stream continues it. A character that the prompt begins is returned once the
                stream completes it.

        Raises:
            OptionError: there is no error handler ``errors``, or ``ids`` is no list of ids.
            UnknownTokenError: no token has one of the ids.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> stream = tok.decoder()
            >>> [stream.decode(token_id) for token_id in tok.encode("low é")]
            ['low', ' ', '', 'é']
        """
        return IncrementalDecoder(self._decoder, errors, skip_special_tokens, ids)

    # Variants

    def with_special_tokens(self, tokens: SpecialTokens) -> Tokenizer:
        """Return a tokenizer with more special tokens; this one does not change.

        Args:
            tokens: a mapping from literals to ids, or a list of literals. In a list, a literal that
                is already a token keeps its id; the others get the ids after the highest.

        Raises:
            OptionError: a literal or an id already belongs to another token.

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

        They are added if ``add_special_tokens=True``, the default of :meth:`prepare`; for a pair,
        around both texts. This tokenizer does not change.

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
        """Return a tokenizer with another split pattern; this one does not change.

        Args:
            split: a name such as ``"gpt2"`` or ``"gpt4"``, a regular expression, or ``None`` for
                no cuts; see :func:`toksmith.split`.

        Raises:
            SplitError: ``split`` is neither a known name nor a pattern that compiles.
            UnsupportedError: the splitter also changes the text, as SentencePiece's ``▁`` does.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["a b a b"], vocab_size=258, split=None)
            >>> tok.encoding("a b").strings, tok.with_split("gpt2").encoding("a b").strings
            (['a·b'], ['a', '·', 'b'])
        """
        return self._variant(with_split(self.pipeline, split))

    def with_matching(self, matching: Literal["longest", "merges"]) -> Tokenizer:
        """Return a tokenizer with another matching rule; this one does not change.

        Args:
            matching: ``"longest"`` takes the longest token at each place, from left to right, and
                ignores the order of the merges. ``"merges"`` applies the merges, as BPE does.

        Raises:
            OptionError: ``matching`` has another value, or is ``"merges"`` for a model without
                merges.
            UnsupportedError: the model is not BPE, or its tokens are not spelled as the text is.

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
        """Write the tokenizer to a file or a directory.

        The write is atomic: a process that is killed leaves either the old or the new content. Of
        a symbolic link, the target is replaced. Permissions of the old file are kept.

        Args:
            path: the file or directory. A directory, or a name without a suffix or with a ``/`` at
                the end, becomes a directory as Hugging Face's libraries read it: tokenizer.json,
                tokenizer_config.json and special_tokens_map.json. For other names, the suffix
                decides the format.
            format: one of :data:`toksmith.formats.WRITTEN`; it overrides the suffix. See
                :data:`toksmith.formats.LISTED` for the models and suffixes of each format.
            record: whether to write :attr:`training`, with the paths and SHA-256 of the training
                files, to ``<path>.training.json`` (in a directory, ``training.json``), where
                :func:`toksmith.load` finds it.

        Raises:
            UnsupportedError: the format cannot hold this tokenizer; the message says why.
            OptionError: the suffix is that of no format, or the path cannot be written to, such as
                that of a pipe or a device.

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

    def dumps(self, format: str = "huggingface") -> bytes:  # noqa: A002
        """Return the content of the tokenizer's file; :func:`toksmith.loads` is the reverse.

        Args:
            format: one of :data:`toksmith.formats.WRITTEN`. Files that :meth:`save` writes beside
                the main file are left out: tiktoken's, which holds the split pattern and the
                special tokens, and the listings of minbpe and sentencepiece.

        Raises:
            UnsupportedError: the format cannot hold this tokenizer, or is several files (gpt2).
            OptionError: there is no such format.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.dumps("minbpe").splitlines()[-2:]
            [b'108 111', b'256 119']
        """
        from toksmith import formats

        return formats.data(self.pipeline, format)

    def forget(self, *, cache_bytes: int | None = None) -> None:
        """Free the memory of the chunk caches; they fill again as texts are encoded.

        This also frees the memory of large results that nothing refers to any more, which is
        otherwise kept for later results.

        Args:
            cache_bytes: the maximum size of a cache from now on, in bytes, at least about 400 kB.
                ``None`` keeps the current maximum (at first 48 MiB, ``engine.CACHE_BYTES``).
                Character models use up to 1 MiB more, for single characters beyond ASCII. Kept
                memory of ids may be four times as large, and so may that of spans; that of the
                arrays of :meth:`prepare` twelve times. The limit changes the speed, never the ids.

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

    def _frame(self, ids: IdArray) -> IdArray:
        return concat(frame(self._framing.template, [RowPart(ids, 0, 0)]))

    @cached_property
    def _trim(self) -> Trimmer:
        return Trimmer(self.pipeline, self._table.tokens)
