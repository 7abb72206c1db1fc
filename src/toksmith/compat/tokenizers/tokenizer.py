"""tokenizers' ``Tokenizer``: components that can be changed at any time, run by toksmith."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from toksmith._base import files
from toksmith.compat.tokenizers.added_token import AddedToken, added_token
from toksmith.compat.tokenizers.added_vocabulary import AddedVocabulary
from toksmith.compat.tokenizers.callbacks import checked
from toksmith.compat.tokenizers.checks import (
    an_id,
    arguments,
    boolean,
    instance,
    optional,
    sequence,
    sequence_of,
    string,
    unsigned,
)
from toksmith.compat.tokenizers.compiled import Compiled
from toksmith.compat.tokenizers.component import (
    LONG,
    SHORT,
    Component,
    compact_json,
    last_change,
    shown,
)
from toksmith.compat.tokenizers.decoders import Decoder
from toksmith.compat.tokenizers.encoding import Encoding
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.compat.tokenizers.inputs import Row, a_text, lines_of, rows, texts_of, words
from toksmith.compat.tokenizers.lengths import Padding, Truncation
from toksmith.compat.tokenizers.models import Model
from toksmith.compat.tokenizers.processors import PostProcessor
from toksmith.compat.tokenizers.stepwise import Stepwise
from toksmith.errors import OptionError, ToksmithError, warn
from toksmith.formats import hub
from toksmith.tokenizer.encode import Special


class Tokenizer:
    """A model with the components around it.

    toksmith's tokenizer is compiled from them at the first text, and again after a change of a
    component, also one in place. Components that are written in Python run step by step.

    Args:
        model: the model.

    Raises:
        ComponentTypeError: it is no model.

    Example:
        >>> from toksmith.compat.tokenizers.models import BPE
        >>> tokenizer = Tokenizer(BPE({"l": 0, "o": 1, "w": 2, "lo": 3}, [("l", "o")]))
        >>> encoding = tokenizer.encode("low")
        >>> encoding.tokens, encoding.ids, encoding.offsets
        (['lo', 'w'], [3, 2], [(0, 2), (2, 3)])
    """

    def __init__(self, model: Model) -> None:
        self._start(_checked(model, Model))

    def _start(self, model: Model) -> None:
        self._parts: dict[str, Component | None] = {
            "normalizer": None,
            "pre_tokenizer": None,
            "post_processor": None,
            "decoder": None,
            "model": model,
        }
        self._added = AddedVocabulary()
        self._truncation: Truncation | None = None
        self._padding: Padding | None = None
        self._encode_special_tokens = False
        self._lock = Lock()
        self._forget()

    # Components

    @property
    def model(self) -> Any:
        """The model."""
        return self._parts["model"]

    @model.setter
    def model(self, model: Model) -> None:
        self._put("model", _checked(model, Model))

    @property
    def normalizer(self) -> Any:
        """The normalizer, or ``None``."""
        return self._parts["normalizer"]

    @normalizer.setter
    def normalizer(self, normalizer: Any) -> None:
        from toksmith.compat.tokenizers.normalizers import Normalizer

        self._put("normalizer", _optional(normalizer, Normalizer))

    @property
    def pre_tokenizer(self) -> Any:
        """The pre-tokenizer, or ``None``."""
        return self._parts["pre_tokenizer"]

    @pre_tokenizer.setter
    def pre_tokenizer(self, pre_tokenizer: Any) -> None:
        from toksmith.compat.tokenizers.pre_tokenizers import PreTokenizer

        self._put("pre_tokenizer", _optional(pre_tokenizer, PreTokenizer))

    @property
    def post_processor(self) -> Any:
        """The post-processor, or ``None``."""
        return self._parts["post_processor"]

    @post_processor.setter
    def post_processor(self, processor: PostProcessor | None) -> None:
        self._put("post_processor", _optional(processor, PostProcessor))

    @property
    def decoder(self) -> Any:
        """The decoder, or ``None``."""
        return self._parts["decoder"]

    @decoder.setter
    def decoder(self, decoder: Decoder | None) -> None:
        self._put("decoder", _optional(decoder, Decoder))

    def _put(self, name: str, component: Component | None) -> None:
        self._parts = {**self._parts, name: component}
        self._forget()

    def _forget(self) -> None:
        self._engine: Compiled | Stepwise | None = None
        self._state: tuple[Any, ...] = ()
        self._change = -1
        self._contents: dict[int, str] | None = None

    def engine(self) -> Compiled | Stepwise:
        """Return what encodes texts with the components as they are now."""
        change = last_change()
        engine = self._engine
        if engine is not None and change == self._change:
            return engine
        with self._lock:
            parts = self._parts
            state = tuple(
                None if part is None else (id(part), part.version()) for part in parts.values()
            )
            if self._engine is None or state != self._state:
                self._contents = None
                self._engine, self._state = self._compiled(parts), state
            self._change = change
            return self._engine

    def _compiled(self, parts: dict[str, Component | None]) -> Compiled | Stepwise:
        custom = any(part is not None and part.is_custom() for part in parts.values())
        model: Any = parts["model"]
        if not custom and not model.is_random():
            try:
                return self._run_by_toksmith(parts)
            except ToksmithError:
                pass
        return Stepwise(parts, self._added.copy())

    def _run_by_toksmith(self, parts: dict[str, Component | None]) -> Compiled:
        model: Any = parts["model"]
        spec, unknown = model.spec_for_reading()
        content = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": self._added.spec(),
            **{name: None if part is None else part.spec() for name, part in parts.items()},
            "model": spec,
        }
        changes_texts = parts["normalizer"] is not None or parts["pre_tokenizer"] is not None
        added = self._added
        return Compiled(
            content,
            unknown,
            model.unknown,
            lambda id_: self.id_to_token(id_) or "",
            (lambda: Stepwise(parts, added)) if changes_texts else None,
        )

    # Reading and writing

    @staticmethod
    @arguments(json=string)
    def from_str(json: str) -> Tokenizer:
        """Return the tokenizer of the content of a tokenizer.json.

        Args:
            json: the content.

        Raises:
            TokenizersError: it is damaged.
        """
        made = Tokenizer.__new__(Tokenizer)
        made._load(json)
        return made

    @staticmethod
    @arguments(buffer=instance(bytes))
    def from_buffer(buffer: bytes) -> Tokenizer:
        """Return the tokenizer of the content of a tokenizer.json.

        Args:
            buffer: the content, UTF-8.

        Raises:
            OptionError: it is damaged.
        """
        try:
            return Tokenizer.from_str(buffer.decode())
        except (TokenizersError, UnicodeDecodeError) as wrong:
            raise OptionError(f"Cannot instantiate Tokenizer from buffer: {wrong}") from wrong

    @staticmethod
    @arguments(path=string)
    def from_file(path: str) -> Tokenizer:
        """Return the tokenizer of a tokenizer.json.

        Args:
            path: its path.

        Raises:
            TokenizersError: it cannot be read.
        """
        try:
            data = files.read_bytes(Path(path))
        except ToksmithError as wrong:
            raise TokenizersError(str(wrong)) from wrong
        return Tokenizer.from_str(data.decode())

    @staticmethod
    def from_pretrained(
        identifier: str, revision: str = "main", token: str | None = None
    ) -> Tokenizer:
        """Return the tokenizer of a model on the Hugging Face Hub.

        Args:
            identifier: its name, such as ``"openai-community/gpt2"``.
            revision: a branch, tag or commit.
            token: not used: ``HF_TOKEN`` is.

        Raises:
            TokenizersError: it is in no cache and cannot be downloaded.
        """
        try:
            folder = hub.find(identifier, revision) or hub.download(identifier, revision)
        except (ToksmithError, ImportError) as wrong:
            raise TokenizersError(str(wrong)) from wrong
        return Tokenizer.from_file(str(folder / "tokenizer.json"))

    def __getstate__(self) -> bytes:
        try:
            return self.to_str().encode()
        except TokenizersError as wrong:
            raise TokenizersError(f"Error while attempting to pickle Tokenizer: {wrong}") from wrong

    def __setstate__(self, state: bytes) -> None:
        self._load(checked(state, bytes))

    def _load(self, state: bytes | str) -> None:
        from toksmith.compat.tokenizers.normalizers import Normalizer
        from toksmith.compat.tokenizers.pre_tokenizers import PreTokenizer

        try:
            content = json.loads(state)
        except ValueError as wrong:
            raise TokenizersError(str(wrong)) from wrong
        if not isinstance(content, dict) or "model" not in content:
            raise TokenizersError("Model missing.")
        self._start(_model_of(content["model"]))
        families = {
            "normalizer": Normalizer,
            "pre_tokenizer": PreTokenizer,
            "post_processor": PostProcessor,
            "decoder": Decoder,
        }
        for name, family in families.items():
            if content.get(name) is not None:
                self._parts[name] = family.from_spec(content[name])
        if content.get("truncation") is not None:
            self._truncation = Truncation.of(content["truncation"])
        if content.get("padding") is not None:
            self._padding = Padding.of(content["padding"])
        for entry in content.get("added_tokens") or ():
            given = {key: value for key, value in entry.items() if key not in ("id", "content")}
            self._added.put(AddedToken(entry["content"], **given), entry["id"])

    def __deepcopy__(self, memo: dict[int, Any]) -> Tokenizer:
        """Return a tokenizer of its own; what was compiled is shared."""
        made = Tokenizer.__new__(Tokenizer)
        made._start(self.model)
        made._parts = {name: copy.deepcopy(part, memo) for name, part in self._parts.items()}
        made._added = self._added.copy()
        made._truncation, made._padding = self._truncation, self._padding
        made._encode_special_tokens = self._encode_special_tokens
        return made

    @arguments(pretty=boolean)
    def to_str(self, pretty: bool = False) -> str:
        """Return the tokenizer as a tokenizer.json.

        Args:
            pretty: indent it.

        Raises:
            TokenizersError: a component is written in Python.
        """
        content = {
            "version": "1.0",
            "truncation": self._truncation and self._truncation.spec(),
            "padding": self._padding and self._padding.spec(),
            "added_tokens": self._added.spec(),
            **{name: None if part is None else part.spec() for name, part in self._parts.items()},
        }
        return (
            json.dumps(content, ensure_ascii=False, indent=2) if pretty else compact_json(content)
        )

    @arguments(path=string, pretty=boolean)
    def save(self, path: str, pretty: bool = True) -> None:
        """Write the tokenizer to a tokenizer.json.

        Args:
            path: the path of the file.
            pretty: indent it.

        Raises:
            TokenizersError: it cannot be written.
        """
        try:
            Path(path).write_text(self.to_str(pretty), encoding="utf-8", newline="")
        except OSError as wrong:
            raise TokenizersError(f"{path}: {wrong.strerror}") from wrong

    def __repr__(self) -> str:
        return self._shown(LONG)

    def __str__(self) -> str:
        return self._shown(SHORT)

    def _shown(self, limit: int) -> str:
        parts = {
            "version": '"1.0"',
            "truncation": str(self._truncation),
            "padding": str(self._padding),
            **{
                name: shown(held, limit)
                for name, held in (("added_tokens", self._added.spec()), *self._parts.items())
            },
        }
        return f"Tokenizer({', '.join(f'{name}={held}' for name, held in parts.items())})"

    # Vocabulary

    @arguments(with_added_tokens=boolean)
    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return the id of each token.

        Args:
            with_added_tokens: with the added tokens.
        """
        vocab = dict(self.model.vocab)
        return vocab | self._added.ids if with_added_tokens else vocab

    @arguments(with_added_tokens=boolean)
    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens.

        Args:
            with_added_tokens: with the added tokens.
        """
        vocab = self.model.vocab
        if not with_added_tokens:
            return len(vocab)
        return len(vocab) + sum(token not in vocab for token in self._added.ids)

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, or ``None``.

        Args:
            token: as it is spelled.
        """
        found: int | None = self._added.ids.get(string(token))
        return self.model.token_to_id(token) if found is None else found

    def id_to_token(self, id: int) -> str | None:
        """Return a token as it is spelled, or ``None``.

        Args:
            id: its id.
        """
        added = self._added_contents().get(an_id(id))
        found: str | None = self.model.id_to_token(id) if added is None else added
        return found

    def _added_contents(self) -> dict[int, str]:
        """Return the text of each added token; that of a normalized one is normalized."""
        self.engine()
        found = self._contents
        if found is None:
            normalizer = self.normalizer
            found = self._contents = {
                token_id: normalizer.normalize_str(token.content)
                if normalizer is not None and token.normalized
                else token.content
                for token_id, token in self._added.tokens.items()
            }
        return found

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Return the added token of each id."""
        return {token_id: token.copy() for token_id, token in sorted(self._added.tokens.items())}

    def add_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """Add tokens, and return how many were not known.

        Args:
            tokens: strings or ``AddedToken`` objects.

        Raises:
            ComponentTypeError: one is neither.
        """
        return self._add(tokens)

    def add_special_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """Add special tokens, which decoding leaves out, and return how many were not known.

        Args:
            tokens: strings or ``AddedToken`` objects.

        Raises:
            ComponentTypeError: one is neither.
        """
        return self._add(tokens, special=True)

    def _add(self, given: Iterable[str | AddedToken], *, special: bool = False) -> int:
        tokens = [added_token(token, special=special) for token in checked(given, list)]
        vocabulary = self._added.copy()
        added = vocabulary.add(tokens, self.model)
        self._added = vocabulary
        self._forget()
        return added

    # Settings of encoding

    @property
    def encode_special_tokens(self) -> bool:
        """Whether special tokens in a text are taken as text."""
        return self._encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._encode_special_tokens = boolean(value)

    @property
    def truncation(self) -> dict[str, Any] | None:
        """The arguments of ``enable_truncation``, or ``None``."""
        return self._truncation and self._truncation._asdict()

    @property
    def padding(self) -> dict[str, Any] | None:
        """The arguments of ``enable_padding``, or ``None``."""
        return self._padding and self._padding._asdict()

    def enable_truncation(self, max_length: int, **options: Any) -> None:
        """Cut all encodings to a length.

        Args:
            max_length: the number of tokens, special tokens included.
            options: ``stride``, ``strategy`` (``"longest_first"``, ``"only_first"`` or
                ``"only_second"``) and ``direction``.

        Raises:
            OptionError: an option has another value, or the stride is too large.
        """
        known = _options("enable_truncation", options, Truncation._fields)
        found = Truncation(max_length, **known).checked()
        added = self._number_added(False)
        room = max_length - added
        if (room >= 0 and found.stride > room) or (max_length and room < 0):
            raise OptionError(
                f"tokenizer stride set to {found.stride}, which is greater than or equal to its "
                f"effective max length of {room} (= {max_length} original max length - {added} "
                "added special tokens), "
            )
        self._truncation = found

    def no_truncation(self) -> None:
        """Cut no encodings."""
        self._truncation = None

    def enable_padding(self, **options: Any) -> None:
        """Fill all encodings up to a length.

        Args:
            options: ``length`` (default: that of the longest of a batch), ``direction``,
                ``pad_to_multiple_of``, ``pad_id``, ``pad_type_id`` and ``pad_token``.

        Raises:
            OptionError: the direction is neither ``"left"`` nor ``"right"``.
        """
        if "max_length" in options:
            options = {"length": options.pop("max_length"), **options}
            warn("enable_padding(max_length=X) is deprecated, use enable_padding(length=X) instead")
        known = _options("enable_padding", options, Padding._fields)
        self._padding = Padding(**known).checked()

    def no_padding(self) -> None:
        """Fill no encodings."""
        self._padding = None

    @arguments(is_pair=boolean)
    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return the number of special tokens that encoding adds.

        Args:
            is_pair: whether there are two texts.
        """
        return self._number_added(is_pair)

    def _number_added(self, is_pair: bool) -> int:
        processor = self.post_processor
        return 0 if processor is None else processor.num_special_tokens_to_add(is_pair)

    # Encoding

    @arguments(is_pretokenized=boolean, add_special_tokens=boolean)
    def encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Return the tokens of a text.

        Args:
            sequence: a string, or a list of words.
            pair: a second text.
            is_pretokenized: whether texts are lists of words.
            add_special_tokens: put special tokens around the texts.

        Raises:
            ComponentTypeError: a text is of another type.
        """
        read = words if is_pretokenized else a_text
        texts = read(sequence), None if pair is None else read(pair)
        return self._encode([texts], is_pretokenized, add_special_tokens, True)[0]

    @arguments(is_pretokenized=boolean, add_special_tokens=boolean)
    def encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return the tokens of each text.

        Args:
            input: strings, or pairs of strings; or lists of words, or pairs of them.
            is_pretokenized: whether texts are lists of words.
            add_special_tokens: put special tokens around the texts.

        Raises:
            ComponentTypeError: a text is of another type.
        """
        return self._encode(rows(input, is_pretokenized), is_pretokenized, add_special_tokens, True)

    @arguments(is_pretokenized=boolean, add_special_tokens=boolean)
    def encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return the tokens of each text, with offsets that are all zero.

        Args:
            input: strings, or pairs of strings; or lists of words, or pairs of them.
            is_pretokenized: whether texts are lists of words.
            add_special_tokens: put special tokens around the texts.

        Raises:
            ComponentTypeError: a text is of another type.
        """
        return self._encode(
            rows(input, is_pretokenized), is_pretokenized, add_special_tokens, False
        )

    async def async_encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Run :meth:`encode` in a thread of its own."""
        options = sequence, pair, is_pretokenized, add_special_tokens
        return await asyncio.to_thread(self.encode, *options)

    async def async_encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Run :meth:`encode_batch` in a thread of its own."""
        return await asyncio.to_thread(
            self.encode_batch, input, is_pretokenized, add_special_tokens
        )

    async def async_encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Run :meth:`encode_batch_fast` in a thread of its own."""
        return await asyncio.to_thread(
            self.encode_batch_fast, input, is_pretokenized, add_special_tokens
        )

    def _encode(
        self, batch: list[Row], pre_split: bool, add_special_tokens: bool, spans: bool
    ) -> list[Encoding]:
        engine, truncation, padding = self.engine(), self._truncation, self._padding
        special: Special = "text" if self._encode_special_tokens else "encode"
        found: list[Encoding] = [None] * len(batch)  # type: ignore[list-item]
        for is_pair in (False, True):
            places = [place for place, row in enumerate(batch) if (row[1] is not None) is is_pair]
            if not places:
                continue
            texts = [batch[place][0] for place in places]
            pairs = [batch[place][1] for place in places] if is_pair else None
            if isinstance(engine, Compiled) and engine.frames:
                made = engine.framed(
                    texts,
                    pairs,
                    add_special_tokens=add_special_tokens,
                    truncation=truncation,
                    special=special,
                    pre_split=pre_split,
                    spans=spans,
                )
            else:
                columns = [
                    engine.texts(each, type_id, special=special, pre_split=pre_split, spans=spans)
                    for type_id, each in enumerate([texts] if pairs is None else [texts, pairs])
                ]
                made = [
                    self._processed(first, second, add_special_tokens)
                    for first, second in zip(
                        columns[0], columns[1] if is_pair else [None] * len(texts), strict=True
                    )
                ]
            for place, encoding in zip(places, made, strict=True):
                found[place] = encoding
        if padding is not None:
            padding.fill(found)
        return found

    @arguments(
        encoding=instance(Encoding), pair=optional(instance(Encoding)), add_special_tokens=boolean
    )
    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Cut encodings, put special tokens around them, and fill them.

        Args:
            encoding: the encoding of a text.
            pair: that of a second text.
            add_special_tokens: put special tokens around the texts.
        """
        other = None if pair is None else pair._copy()
        found = self._processed(encoding._copy(), other, add_special_tokens)
        if self._padding is not None:
            self._padding.fill([found])
        return found

    def _processed(
        self, text: Encoding, pair: Encoding | None, add_special_tokens: bool
    ) -> Encoding:
        """Cut texts, and run the post-processor."""
        processor = self.post_processor
        if self._truncation is not None:
            added = self._number_added(pair is not None) if add_special_tokens else 0
            room = self._truncation.max_length - added
            self._truncation._replace(max_length=room).cut(text, pair)
        if processor is not None:
            found: Encoding = processor.process(text, pair, add_special_tokens)
            return found
        if pair is None:
            return text
        for place, each in enumerate((text, pair)):
            for part in (each, *each.overflowing):
                part.set_sequence_id(place)
        return Encoding.merge([text, pair], False)

    # Decoding

    @arguments(ids=sequence, skip_special_tokens=boolean)
    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids; those that no token has are left out.

        Args:
            ids: the ids.
            skip_special_tokens: leave special tokens out.

        Raises:
            ComponentTypeError: ids is no list of ids.
        """
        return self.decode_batch([ids], skip_special_tokens)[0]

    def _decode(self, ids: Sequence[int], skip_special_tokens: bool) -> str:
        """Return the text of ids by the components' own code."""
        tokens = [token for token in map(self.id_to_token, ids) if token is not None]
        if skip_special_tokens and self._added.special:
            special = self._added.special
            tokens = [token for token in tokens if token not in special]
        decoder = self.decoder
        return " ".join(tokens) if decoder is None else decoder.decode(tokens)

    @arguments(sequences=sequence_of(sequence), skip_special_tokens=boolean)
    def decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Return the text of each list of ids.

        Args:
            sequences: lists of ids.
            skip_special_tokens: leave special tokens out.
        """
        engine = self.engine()
        if isinstance(engine, Compiled) and engine.decodes:
            try:
                return engine.tokenizer.decode_batch(
                    sequences, skip_special_tokens=skip_special_tokens
                )
            except ToksmithError:  # such as an id that no token has
                pass
        return [self._decode(ids, skip_special_tokens) for ids in sequences]

    async def async_decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Run :meth:`decode_batch` in a thread of its own."""
        return await asyncio.to_thread(self.decode_batch, sequences, skip_special_tokens)

    # Training

    @arguments(files=sequence_of(string))
    def train(self, files: Sequence[str], trainer: Any = None) -> None:
        """Train the model on files, line by line.

        Args:
            files: their paths.
            trainer: the trainer; by default that of the model.

        Raises:
            TokenizersError: a file cannot be read, or the trainer is for another model.
        """
        self.train_from_iterator(lines_of(files), trainer)

    @arguments(length=optional(unsigned))
    def train_from_iterator(
        self, iterator: Iterable[Any], trainer: Any = None, length: int | None = None
    ) -> None:
        """Train the model on texts.

        Args:
            iterator: strings, or lists of strings.
            trainer: the trainer; by default that of the model.
            length: the number of texts, for a progress bar.

        Raises:
            TokenizersError: the trainer is for another model.
        """
        from toksmith.compat.tokenizers.trainers import Trainer

        trainer = self.model.get_trainer() if trainer is None else _checked(trainer, Trainer)
        trainer.check(self.model)
        trainer.feed(self.normalizer, self.pre_tokenizer, texts_of(iterator))
        special = trainer.train(self.model)
        self._forget()
        self.add_special_tokens(special)


def _model_of(spec: Any) -> Model:
    """Return the model of an entry of tokenizer.json; old ones have no type."""
    if isinstance(spec, dict) and "type" not in spec:
        kinds = {"merges": "BPE", "continuing_subword_prefix": "WordPiece", "unk_id": "Unigram"}
        kind = next((kind for key, kind in kinds.items() if key in spec), "WordLevel")
        spec = {"type": kind, **spec}
    found: Model = Model.from_spec(spec)
    return found


def _checked(component: Any, family: type[Component]) -> Any:
    if not isinstance(component, family):
        raise ComponentTypeError(
            f"'{type(component).__name__}' object is not an instance of '{family.__name__}'"
        )
    return component


def _optional(component: Any, family: type[Component]) -> Any:
    return None if component is None else _checked(component, family)


def _options(call: str, options: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    for name in options.keys() - {*known}:
        warn(f"{call} has no option {name!r}: it is ignored")
    return {name: value for name, value in options.items() if name in known}
