"""Encoding with normalizer, splitter and model fused in the kernel."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from toksmith._base.arrays import Bounds, Continuing
from toksmith._base.lazy import np
from toksmith._base.records import replace
from toksmith._base.text import Text, without_surrogates
from toksmith.engine.around import encode_around, kernel_search, locate_around
from toksmith.engine.compiled import _kernel, instruction_set, is_missing
from toksmith.engine.kernel import KernelEncoder, kernel_model
from toksmith.errors import OptionError
from toksmith.framing import AddedSearch
from toksmith.framing.added import NONE
from toksmith.fusion import Undecided, Unfused, symbol_takes_prefix
from toksmith.models import SentencePieceBPE, Unigram
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline
from toksmith.results import Batch, LocatedBatch, concat_located, stack
from toksmith.stages import charsmap

if TYPE_CHECKING:
    from toksmith.engine.leading import LeadingEncoder
    from toksmith.engine.stepwise import StepwiseEncoder
    from toksmith.fusion.rules import FusionRules
    from toksmith.normalizers import Replace, Strip

if not is_missing:
    charsmap.read_first_characters = _kernel.first_characters

_Found = TypeVar("_Found")


class FusedEncoder:
    """Runs normalizer, splitter and model in the kernel, one cached chunk at a time.

    Chunks that a normalizer rewrites across character boundaries run through the stages in Python
    once, and are cached. Whole texts fall back to the step-by-step encoder in three cases: chunks
    whose leading space may be the text's own or the one that the normalizer added; if only the
    first piece of a document is marked, texts whose first character the normalizer drops; and, if
    spans are wanted, texts whose first character a compiled map may drop, because ``tokenizers``
    then shifts the origins of all characters after it.

    Args:
        model: the stages and the model as the kernel holds them.
        make_stepwise: returns the encoder that runs the same pipeline step by step.
        first_only: see :class:`~toksmith.fusion.rules.FusionRules`.
        keeps_start: likewise.
    """

    def __init__(
        self,
        model: _kernel.FusedModel,
        make_stepwise: Callable[[], StepwiseEncoder],
        first_only: bool = False,
        keeps_start: Callable[[str], bool] | None = None,
    ) -> None:
        # The functions below do not hold the encoder, or its caches would outlive it in a cycle.
        self._make_stepwise = stepwise = cache(make_stepwise)
        self._first_only = first_only
        self._keeps_start = keeps_start
        self._model = model
        self._instructions = instruction_set()
        self._cache_bytes: int | None = None  # the default
        self._encoder = encoder = _kernel.Encoder(
            model, _kernel.Splitter("model"), self._instructions
        )

        def either(run: Callable[[Text, int], _Found], name: str) -> Callable[[Text, int], _Found]:
            checked = run if keeps_start is None else _checked(run, keeps_start)
            return _with_fallback(checked, lambda *args: getattr(stepwise(), name)(*args))

        self.encode = either(encoder.encode, "encode")
        self.encode_list = either(encoder.encode_list, "encode_list")
        self.count = either(encoder.count, "count")

    @property
    def _stepwise(self) -> StepwiseEncoder:
        return self._make_stepwise()

    def encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        """Return the ids of each text."""
        try:
            self._check_starts(texts)
            return Batch(*self._encoder.encode_texts(texts, threads))
        except Undecided:
            return stack([self.encode(text, threads) for text in texts])

    def encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each slice ``[start, end)`` of a text, as those of a text."""
        try:
            self._check_starts(_slices(text, bounds))
            return Batch(*self._encoder.encode_slices(text, bounds, threads))
        except Undecided:
            return stack([self.encode(each, threads) for each in _slices(text, bounds)])

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document."""
        if literals:
            return self._stepwise.encode_segments(text, bounds, threads, literals)
        if not self._first_only:
            return self.encode_slices(text, bounds, threads)
        try:
            self._check_starts((text,))
            return Batch(*self._encoder.encode_segments(text, bounds, threads))
        except Undecided:
            return self._stepwise.encode_segments(text, bounds, threads)

    def encode_around(self, texts: Sequence[Text], threads: int, added: AddedSearch) -> Batch:
        """Return the ids of each text and of the added tokens in it."""
        search = kernel_search(added, self._first_only)
        if search is not None:
            with suppress(Undecided):
                self._check_starts(texts)
                return Batch(*self._encoder.encode_texts(texts, threads, search))
        return encode_around(self, texts, threads, added)

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""
        self._encoder.forget(cache_bytes)
        if cache_bytes is not None:
            self._cache_bytes = cache_bytes
        self.__dict__.pop("_locator", None)
        self._stepwise.forget(cache_bytes)

    def _check_starts(self, texts: Iterable[Text]) -> None:
        """Raise Undecided if the kernel cannot mark the first piece of one of the texts."""
        if self._keeps_start is not None:
            for text in texts:
                _check_start(text, self._keeps_start)

    @cached_property
    def _locator(self) -> _kernel.Encoder:
        """The encoder that makes spans. It has a cache of its own."""
        locator = _kernel.Encoder(
            _kernel.SpanModel(self._model), _kernel.Splitter("model"), self._instructions
        )
        locator.forget(self._cache_bytes)
        return locator

    def encode_with_spans(
        self,
        texts: Sequence[Text],
        threads: int,
        continuing: Continuing | None = None,
        literals: frozenset[str] = NONE,
    ) -> LocatedBatch:
        """Return the ids of each text, and the bytes and characters that each token covers."""
        if literals:
            return self._stepwise.encode_with_spans(texts, threads, continuing, literals)
        found = self._locate(texts, threads, continuing if self._first_only else None)
        if found is not None:
            return found
        if len(texts) == 1:
            return self._stepwise.encode_with_spans(texts, threads, continuing)
        # Halves, so that all texts but those that need the stages in Python are encoded here.
        half = len(texts) // 2
        parts = []
        for start, end in ((0, half), (half, len(texts))):
            each = None if continuing is None else continuing[start:end]
            parts.append(self.encode_with_spans(texts[start:end], threads, each))
        return concat_located(parts)

    def locate_around(
        self, texts: Sequence[Text], threads: int, added: AddedSearch
    ) -> LocatedBatch:
        """Return the same with added tokens."""
        search = kernel_search(added, self._first_only)
        found = None if search is None else self._locate(texts, threads, None, search)
        return locate_around(self, texts, threads, added) if found is None else found

    def _locate(
        self,
        texts: Sequence[Text],
        threads: int,
        continuing: Continuing | None,
        search: _kernel.AddedTokens | None = None,
    ) -> LocatedBatch | None:
        """Return the tokens of texts; ``None`` if the kernel cannot decide."""
        try:
            self._check_starts(
                text
                for place, text in enumerate(texts)
                if continuing is None or not continuing[place]
            )
            found = self._locator.encode_with_spans(texts, continuing, threads, search)
        except Undecided:
            return None
        return None if found is None else LocatedBatch.of(*found)


def _check_start(text: Text, keeps_start: Callable[[str], bool]) -> None:
    """Raise Undecided if the kernel cannot mark the first piece of this text."""
    if isinstance(text, str):
        first = text[:1]
    else:
        head = bytes(memoryview(text)[:_LONGEST_CHARACTER])
        first = without_surrogates(head.decode("utf-8", "surrogateescape")[:1])
    if first and not keeps_start(first):
        raise Undecided


def _checked(
    run: Callable[[Text, int], _Found], keeps_start: Callable[[str], bool]
) -> Callable[[Text, int], _Found]:
    """Return a function that checks the start of a text first."""

    def check_and_run(text: Text, threads: int) -> _Found:
        _check_start(text, keeps_start)
        return run(text, threads)

    return check_and_run


def _with_fallback(
    fused: Callable[[Text, int], _Found], stepwise: Callable[[Text, int], _Found]
) -> Callable[[Text, int], _Found]:
    """Return a function that calls the second one if the first raises Undecided."""

    def run(text: Text, threads: int) -> _Found:
        try:
            return fused(text, threads)
        except Undecided:
            return stepwise(text, threads)

    return run


def _slices(text: Text, bounds: Bounds) -> Iterator[memoryview]:
    data = memoryview(text.encode() if isinstance(text, str) else text)
    for start, end in bounds.tolist():
        yield data[start:end]


def fuse(pipeline: Pipeline) -> FusedEncoder | LeadingEncoder | StepwiseEncoder:
    """Return an encoder with all stages in the kernel, or with the model alone if need be."""
    model = pipeline.model
    kernel = kernel_model(model)

    def make_stepwise(pipeline: Pipeline = pipeline) -> StepwiseEncoder:
        from toksmith.engine.stepwise import StepwiseEncoder

        return StepwiseEncoder(pipeline, KernelEncoder(model, kernel=kernel))

    if isinstance(model, SentencePieceBPE | Unigram) and pipeline.splitter is None:
        step = pipeline.normalizer[0] if len(pipeline.normalizer) == 1 else None
        if isinstance(step, SentencePieceNormalizer):
            fused = _fuse_sentencepiece(kernel, pipeline, model, step)
            return FusedEncoder(fused, make_stepwise) if fused else make_stepwise()

    try:
        leading, rules = rules_of(pipeline)
    except Unfused:
        return make_stepwise()
    fused = _kernel.FusedModel(kernel, stage_runner(rules))
    if not leading:
        return FusedEncoder(fused, make_stepwise, rules.first_only, rules.keeps_start)
    from toksmith.engine.leading import LeadingEncoder

    inner = replace(pipeline, normalizer=pipeline.normalizer[len(leading) :])
    return LeadingEncoder(
        leading,
        FusedEncoder(fused, partial(make_stepwise, inner), False, rules.keeps_start),
        make_stepwise,
    )


def rules_of(pipeline: Pipeline) -> tuple[list[Strip | Replace], FusionRules]:
    """Return the first steps, which run on whole texts, and the rules of all other stages.

    Raises:
        Unfused: the kernel cannot run the other stages; the message says why.
    """
    from toksmith.engine.leading import leading_steps
    from toksmith.fusion.rules import find_rules

    leading = leading_steps(pipeline.normalizer)
    inner = replace(pipeline, normalizer=pipeline.normalizer[len(leading) :])
    rules = find_rules(inner, _kernel.neighbours)
    if leading and rules.first_only:
        raise Unfused("whether the first piece gets a mark depends on the whole text")
    return leading, rules


def stage_runner(rules: FusionRules) -> _kernel.StageRunner:
    """Return the normalizer and the splitter as the kernel runs them."""
    return _kernel.StageRunner(
        describe_block=rules.describe_block,
        inseparable=_rows_of_pairs(rules.inseparable),
        prefix_space=rules.prefix_space,
        collapse=rules.collapse,
        trim=rules.trim,
        origins=rules.origins,
        space_precedes_piece=rules.space_precedes_piece,
        run_stages=rules.run_stages,
        locate_stages=rules.locate_stages,
    )


def _rows_of_pairs(flat: array[int]) -> Any:
    """Return numbers as rows of two."""
    if not flat:  # no memoryview has rows without content
        return np.zeros((0, 2), np.uint16)
    return memoryview(flat).cast("B").cast("H", (len(flat) // 2, 2))


def _fuse_sentencepiece(
    kernel: _kernel.Model,
    pipeline: Pipeline,
    model: SentencePieceBPE | Unigram,
    step: SentencePieceNormalizer,
) -> _kernel.FusedModel | None:
    if step.whitespace_as_suffix or symbol_takes_prefix(step):
        return None
    if isinstance(model, Unigram) and not model.single:
        return None

    @cache
    def locate() -> Callable[[bytes, bool], object]:
        from toksmith.fusion.rules import find_rules

        return find_rules(pipeline, _kernel.neighbours).locate_stages

    try:
        return _kernel.sentencepiece_model(
            kernel,
            model.vocab,
            types=bytes(model.held("types")),
            fuses_unknown=not model.byte_fallback
            and (not isinstance(model, Unigram) or model.fuse_unk),
            charsmap=step.charsmap,
            protected_symbols=tuple(symbol.encode() for symbol in step.protected),
            add_dummy_prefix=step.add_dummy_prefix,
            remove_extra_whitespaces=step.remove_extra_whitespaces,
            escape_whitespaces=step.escape_whitespaces,
            locate_stages=lambda chunk, prefixed: locate()(chunk, prefixed),
        )
    except ValueError as damaged:
        raise OptionError(f"charsmap: {damaged}") from None


_LONGEST_CHARACTER = 4
"""The most bytes of a character in UTF-8."""
