"""A tokenizer's components as toksmith runs them: whole batches in the kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from toksmith import framing
from toksmith.compat.tokenizers.encoding import Encoding
from toksmith.compat.tokenizers.failures import TokenizersError
from toksmith.compat.tokenizers.lengths import NO_SECOND, TOO_SHORT, Truncation
from toksmith.compat.tokenizers.stepwise import Stepwise
from toksmith.errors import OptionError, ToksmithError, UnsupportedError
from toksmith.formats.huggingface import file
from toksmith.framing.template import TextPart
from toksmith.models import Unigram
from toksmith.results import RaggedInputs
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special

_SOURCE = Path("tokenizer.json")


class Compiled:
    """What encodes the texts of a tokenizer in one state of its components.

    Args:
        content: the tokenizer as tokenizer.json, with the entry that the model gives for reading.
        unknown: the id that marks an unknown token in it.
        failure: makes the error for an unknown token.
        spelled: the spelling of each id.
        stepwise: makes the encoder that knows the normalized text of each token; ``None`` if no
            component changes texts.

    Attributes:
        tokenizer: toksmith's tokenizer.
        frames: whether it runs the post-processor.
        decodes: whether it decodes as tokenizers does.

    Raises:
        ToksmithError: toksmith cannot run it.
    """

    def __init__(
        self,
        content: dict[str, Any],
        unknown: int | None,
        failure: Callable[[], TokenizersError],
        spelled: Callable[[int], str],
        stepwise: Callable[[], Stepwise] | None,
    ) -> None:
        self._unknown, self._failure, self._spelled = unknown, failure, spelled
        self._make_stepwise = stepwise
        self.frames = True
        content = {name: _listed(entry) for name, entry in content.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                pipeline = file.pipeline_of(_SOURCE, content)
            except (UnsupportedError, OptionError):
                pipeline = file.pipeline_of(_SOURCE, {**content, "post_processor": None})
                self.frames = False
            self.tokenizer = Tokenizer(pipeline)
        self._added = content["added_tokens"]
        self._unk_id = None
        model = pipeline.model
        if isinstance(model, Unigram) and model.unk_id is not None:
            self._unk_id = model.unk_id
        self._has_processor = content["post_processor"] is not None
        # tokenizers shows the normalized text of an added token, and joins tokens by spaces.
        self.decodes = unknown is None and content["decoder"] is not None
        if pipeline.normalizer and any(token["normalized"] for token in content["added_tokens"]):
            self.decodes = False

    def texts(
        self,
        texts: Sequence[Any],
        type_id: int,
        *,
        special: Special,
        pre_split: bool,
        spans: bool = True,
    ) -> list[Encoding]:
        """Return the encoding of each text, before the post-processor."""
        rows = self._rows(texts, None, False, special, pre_split, spans, False, False)
        lists = rows.lists(rows.ids)
        make = _Columns(self, rows, texts, None, special, pre_split, spans=spans)
        return [
            Encoding.of(ids, lambda name, row=row: make.column(row, name), type_id)  # type: ignore[misc]
            for row, ids in enumerate(lists)
        ]

    def framed(
        self,
        texts: Sequence[Any],
        pairs: Sequence[Any] | None,
        *,
        add_special_tokens: bool,
        truncation: Truncation | None,
        special: Special,
        pre_split: bool,
        spans: bool,
    ) -> list[Encoding]:
        """Return the encoding of each text or pair, cut and post-processed."""
        cut: framing.Truncation | bool = False
        if truncation is not None:
            cut = framing.Truncation(
                truncation.max_length,
                stride=truncation.stride,
                strategy=truncation.strategy,  # type: ignore[arg-type]
                direction=truncation.direction,  # type: ignore[arg-type]
            )
        how = cut, special, pre_split, spans
        shown = {"spans": spans, "framed": add_special_tokens}
        rows = self._rows(texts, pairs, *how, add_special_tokens, False)
        made = _Columns(self, rows, texts, pairs, special, pre_split, truncation, **shown)

        def overflowing(row: int) -> list[Encoding]:
            pair = None if pairs is None else [pairs[row]]
            try:
                found = self._rows([texts[row]], pair, *how, add_special_tokens, True)
            except TokenizersError:  # a text is cut to nothing
                return []
            columns = _Columns(
                self, found, [texts[row]], pair, special, pre_split, truncation, **shown
            )
            return [columns.encoding(place, None) for place in range(1, len(found))]

        def of(row: int) -> Encoding:
            later = None if truncation is None else lambda: overflowing(row)
            return made.encoding(row, later)

        return [of(row) for row in range(len(rows))]

    def _rows(
        self,
        texts: Sequence[Any],
        pairs: Sequence[Any] | None,
        cut: framing.Truncation | bool,
        special: Special,
        pre_split: bool,
        spans: bool,
        add_special_tokens: bool,
        overflow: bool,
    ) -> RaggedInputs:
        try:
            rows = self.tokenizer.prepare_ragged(
                texts,
                pairs,
                truncation=cut,
                special=special,
                pre_split=pre_split,
                spans=spans,
                add_special_tokens=add_special_tokens,
                overflow=overflow,
            )
        except OptionError as wrong:
            raise self._refusal(cut, pairs) or wrong from wrong
        except ToksmithError as wrong:
            raise self._failure() from wrong
        if self._unknown is not None and (rows.ids == self._unknown).any():
            raise self._failure()
        return rows

    def _refusal(
        self, cut: framing.Truncation | bool, pairs: Sequence[Any] | None
    ) -> TokenizersError | None:
        """Return the error for texts that cannot be cut; ``None`` if they are not to be cut."""
        if not isinstance(cut, framing.Truncation):
            return None
        return NO_SECOND if cut.strategy == "only_second" and pairs is None else TOO_SHORT

    def words(self, text: Any, pair: Any, special: Special) -> list[list[int | None]]:
        """Return the word of each token of a text, and of its pair."""
        return [
            self.tokenizer.encodings([each], special=special)[0].words
            for each in (text, pair)
            if each is not None
        ]

    def spelling(self, token_id: int) -> str:
        """Return the spelling of a token."""
        return self._spelled(token_id)

    @cached_property
    def _stepwise(self) -> Stepwise | None:
        return None if self._make_stepwise is None else self._make_stepwise()

    def surfaces(
        self, texts: Sequence[Any], special: Special, pre_split: bool
    ) -> list[list[str]] | None:
        """Return the normalized text of each token; ``None`` if that is the text of its span."""
        if self._stepwise is None:
            return None
        found = self._stepwise.texts(texts, 0, special=special, pre_split=pre_split)
        return [each.tokens for each in found]

    def has_surface(self, token_id: int) -> bool:
        """Return whether a token is shown as its text, whatever its spelling."""
        return token_id in self._surfaces

    @cached_property
    def _surfaces(self) -> set[int | None]:
        # A normalized literal may be spelled otherwise where the model makes the same token.
        of_added = {
            token["id"]
            for token in self._added
            if token["lstrip"] or token["rstrip"] or self._spelled(token["id"]) != token["content"]
        }
        return {self._unk_id, *of_added}

    def places(
        self, sizes: dict[int, int], is_pair: bool, framed: bool
    ) -> dict[int, tuple[int, int]]:
        """Return the tokens of each text of a row, from the number of tokens of each."""
        if not is_pair and not self._has_processor:
            return {}
        template = self.tokenizer.pipeline.framing.template
        found, at = {}, 0
        for part in template.pair if is_pair else template.single:
            if isinstance(part, TextPart):
                which = "AB".index(part.which)
                found[which] = at, at + sizes[which]
                at += sizes[which]
            else:
                at += framed
        return found


def _listed(entry: Any) -> Any:
    """Return an entry of tokenizer.json whose pairs are lists, as JSON has them."""
    if isinstance(entry, dict):
        return {
            key: value if key in ("vocab", "merges") else _listed(value)
            for key, value in entry.items()
        }
    return [*map(_listed, entry)] if isinstance(entry, list | tuple) else entry


class _Columns:
    """The columns of some rows: each is made for all rows at its first use."""

    def __init__(
        self,
        compiled: Compiled,
        rows: RaggedInputs,
        texts: Sequence[Any],
        pairs: Sequence[Any] | None,
        special: Special,
        pre_split: bool,
        truncation: Truncation | None = None,
        *,
        spans: bool = True,
        framed: bool = False,
    ) -> None:
        self._spans, self._framed = spans, framed
        self._compiled, self._rows = compiled, rows
        self._texts, self._pairs = texts, pairs
        self._special, self._pre_split, self._truncation = special, pre_split, truncation
        self._sizes = (rows.offsets[1:] - rows.offsets[:-1]).tolist()

    def encoding(self, row: int, overflowing: Callable[[], list[Encoding]] | None) -> Encoding:
        """Return the encoding of a row."""
        return Encoding.later(
            self._sizes[row],
            lambda name: self.column(row, name),
            lambda: self.places(row),
            overflowing,
        )

    def column(self, row: int, name: str) -> list[Any]:
        """Return a column of a row."""
        match name:
            case "ids":
                return [*self._ids[row]]
            case "type_ids":
                return [*self._type_ids[row]]
            case "tokens":
                return self._tokens(row)
            case "words":
                return self._words(row)
            case "offsets":
                return [*self._offsets[row]]
            case "special_tokens_mask":
                return [*self._special_tokens_mask[row]]
            case "attention_mask":
                return [1] * self._sizes[row]
        raise ValueError(f"an encoding has no column {name!r}")

    @cached_property
    def _ids(self) -> list[list[int]]:
        return self._rows.lists(self._rows.ids)

    @cached_property
    def _type_ids(self) -> list[list[int]]:
        return self._rows.lists(self._rows.type_ids)

    @cached_property
    def _special_tokens_mask(self) -> list[list[int]]:
        return self._rows.lists(self._rows.special_tokens_mask)

    @cached_property
    def _sequence(self) -> list[list[int]]:
        return self._rows.lists(self._rows.sequence)

    @cached_property
    def _offsets(self) -> list[list[tuple[int, int]]]:
        if not self._spans:
            return [[(0, 0)] * size for size in self._sizes]
        return self._rows.span_lists()

    def _tokens(self, row: int) -> list[str]:
        ids = self._ids[row]
        compiled = self._compiled
        tokens = list(map(compiled.spelling, ids))
        if any(map(compiled.has_surface, ids)) and self._spans:
            document = int(self._rows.document[row])
            texts = [self._texts[document], self._pairs and self._pairs[document]]
            words = self._words(row) if self._pre_split else None
            given = [text for text in texts if text is not None]
            surfaces = None
            if found := self._compiled.surfaces(given, self._special, self._pre_split):
                surfaces = self._placed(row, found)
            for place, token_id in enumerate(ids):
                sequence = self._sequence[row][place]
                if sequence < 0 or not compiled.has_surface(token_id):
                    continue
                if surfaces is not None:
                    tokens[place] = surfaces[place] or tokens[place]
                else:
                    start, end = self._offsets[row][place]
                    text = texts[sequence]
                    if words is not None:
                        text = text[words[place]]
                    tokens[place] = text[start:end] or tokens[place]
        return tokens

    def _words(self, row: int) -> list[int | None]:
        held = self._rows.words
        if held is not None:
            return [None if word < 0 else word for word in self._word_lists[row]]
        document = int(self._rows.document[row])
        pair = None if self._pairs is None else self._pairs[document]
        words = self._compiled.words(self._texts[document], pair, self._special)
        return self._placed(row, words)

    @cached_property
    def _word_lists(self) -> list[list[int]]:
        assert self._rows.words is not None, "the texts are lists of words"
        return self._rows.lists(self._rows.words)

    def _placed(self, row: int, words: Sequence[list[Any]]) -> list[Any]:
        """Return the words of a row whose texts have these words before they are cut."""
        parts = self._parts(row)
        texts = [Encoding.of([0] * len(each), lambda _, each=each: each) for each in words]  # type: ignore[misc]
        if self._truncation is not None:
            room = self._truncation.max_length - self._sequence[row].count(-1)
            pair = texts[1] if len(texts) > 1 else None
            self._truncation._replace(max_length=room).cut(texts[0], pair)
        merged = Encoding.merge(texts, False)
        place = row - self._rows.document.tolist().index(int(self._rows.document[row]))
        every = iter([merged, *merged.overflowing][place].word_ids)
        found: list[Any] = [None] * self._sizes[row]
        for _, (start, end) in sorted(parts.items(), key=lambda part: part[1]):
            found[start:end] = [next(every) for _ in range(end - start)]
        return found

    def _parts(self, row: int) -> dict[int, tuple[int, int]]:
        """Return the tokens of each text."""
        sequence = self._sequence[row]
        found = dict.fromkeys((0,) if self._pairs is None else (0, 1), (0, 0))  # without tokens
        for which in sorted(set(sequence) - {-1}):
            start = sequence.index(which)
            found[which] = start, len(sequence) - sequence[::-1].index(which)
        return found

    def places(self, row: int) -> dict[int, tuple[int, int]]:
        """Return the tokens of each text, as tokenizers keeps them."""
        sequence = self._sequence[row]
        sizes = {which: sequence.count(which) for which in (0, 1)}
        return self._compiled.places(sizes, self._pairs is not None, self._framed)
