"""Comparison of tokenizers: measures each on each text, and assembles the figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from toksmith._base.checks import whole
from toksmith._base.lazy import np
from toksmith._base.text import Texts
from toksmith.corpus import Reading
from toksmith.errors import OptionError
from toksmith.measure.bootstrap import check_level, draw
from toksmith.measure.bootstrap import intervals as intervals_of
from toksmith.measure.comparison import (
    ALL,
    Comparison,
    Figures,
    MeasuredText,
    MeasuredTokenizer,
    ScriptFigures,
)
from toksmith.measure.counting import MeasureOptions, TextCounts, TokenCounts, measure_text, sum_of
from toksmith.measure.distribution import coverage, gini
from toksmith.measure.inputs import (
    AnyFiles,
    AnyTokenizers,
    check_sources,
    name_texts,
    name_tokenizers,
)
from toksmith.measure.metrics import MEASURES, METRICS, Measurement, check_measures, evaluate, share
from toksmith.measure.scripts import SCRIPTS
from toksmith.tokenizer import Tokenizer

SAMPLE = 250_000
"""Bytes of each text on which words and round trips are measured."""


def compare(  # noqa: D417  # on= only has an error
    tokenizers: AnyTokenizers,
    *,
    texts: Texts | None = None,
    files: AnyFiles | None = None,
    reference: str | None = None,
    separator: str | None = None,
    field: str = "text",
    read_as: str | None = None,
    encoding_errors: str = "strict",
    parallel: bool | None = None,
    measures: Iterable[str] | None = None,
    intervals: float | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    speed: bool = True,
    threads: int | None = None,
    progress: bool | None = None,
    on: None = None,
) -> Comparison:
    """Measure tokenizers on texts or files.

    Tokens are counted on whole texts. Words, round trips and speed are measured on a sample:
    passages picked at random, the same for all tokenizers and each time.

    Args:
        tokenizers: objects, published names or paths; or a mapping to them from the names that they
            are called by.
        texts: a text, a list of documents, which are one text, or a mapping from names, such as
            those of languages, to either. Never taken for a path.
        files: a path, a directory, a pattern such as ``"corpus/*.txt"``, or a list of them, where
            each file is a text; or a mapping from names to either, where each name is a text.
        reference: the name of the tokenizer that others' tokens are counted against; the first.
        separator: the string between the documents of a file.
        field: the field of JSON Lines, or the column of Parquet, CSV or TSV, that holds the text.
        read_as: ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``, where a file's name
            does not tell.
        encoding_errors: ``"strict"`` refuses files that are not UTF-8 text; ``"replace"`` puts
            U+FFFD in place of other bytes.
        parallel: whether the texts say the same in several languages, so that parity means
            something; ``None``: if they have as many lines as each other.
        measures: the names of the measures to show and to write, such as ``["tokens",
            "fertility"]``; ``None`` for all. See :data:`toksmith.measure.metrics.MEASURES`.
        intervals: the level of bootstrap intervals, such as 0.95; ``None`` for none. They are
            percentile intervals over the passages of the sample (Efron & Tibshirani 1993) of the
            measures that are ratios of sums, such as bytes a token and fertility; a sample of one
            passage has none. See bootstrap.py.
        sample: the approximate size of each text's sample in bytes.
        seed: of the sample, and of the draws of the intervals.
        speed: whether to measure it.
        threads: to encode with; ``None`` for the cores this process may use. Speed is of one.
        progress: whether to show it on standard error; ``None``: where that is a terminal.

    Raises:
        OptionError: no tokenizer; not exactly one of ``texts`` and ``files``; a path in ``texts``;
            two tokenizers of one name; no tokenizer has the reference's name; an unknown
            measure; a level that is not between 0 and 1.
        FormatError: a file cannot be read.
        UnknownNameError: no published tokenizer has this name.

    Example:
        >>> import toksmith
        >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> found = toksmith.compare({"low": low}, texts={"en": "lower", "de": "niedriger"})
        >>> found["low", "en"].tokens, found["low", "de"].tokens, found.tokenizers[0].gini
        (3, 9, 0.125)
    """
    check_sources("compare", texts, files, on)
    named = name_tokenizers(tokenizers)
    reading = Reading(separator, field, read_as, encoding_errors=encoding_errors)
    sources = name_texts(texts=texts, files=files, reading=reading)
    if len(sources) > 1 and any(text.name == ALL for text in sources):
        raise OptionError(
            f"a text is called {ALL!r}, which is the name of all texts together: give it another"
        )
    whole("sample", sample, least=1)
    whole("seed", seed, least=0)
    chosen, level = check_measures(measures), check_level(intervals)
    speed = speed and (not chosen or "megabytes_per_second" in chosen)
    words = not chosen or any(MEASURES[name].needs_words for name in chosen)
    if reference is None:
        reference = next(iter(named))
    if not isinstance(reference, str) or reference not in named:
        raise OptionError(f"reference is {reference!r}: use one of {', '.join(named)}")
    from toksmith._base.progress import comparing_progress

    sizes = [text.size * len(named) for text in sources]
    with comparing_progress(sum(sizes), progress) as report:
        found = [
            measure_text(
                named,
                text,
                MeasureOptions(
                    reading, sample, seed, speed, threads, report, words, sum(sizes[:i])
                ),
            )
            for i, text in enumerate(sources)
        ]
    if parallel is None:
        lines = {each.lines for each in found}
        parallel = len(found) > 1 and len(lines) == 1
    compared = _comparison(named, found, reference, parallel, seed)
    notes = compared.notes if words else ()
    compared = replace(compared, measures=chosen, level=level, notes=notes)
    return compared if level is None else _with_intervals(compared, found, level)


def _with_intervals(compared: Comparison, texts: Sequence[TextCounts], level: float) -> Comparison:
    """Return a comparison with the intervals of its figures."""
    drawn = {
        text.about.name: draw(
            text.about.bytes,
            text.sample,
            {name: counted.sampled for name, counted in text.counted.items()},
            [compared.seed, place],
        )
        for place, text in enumerate(texts)
    }

    def add(figures: Figures) -> Figures:
        of = list(drawn.values()) if figures.text == ALL else [drawn[figures.text]]
        return replace(
            figures, intervals=intervals_of(of, figures.tokenizer, compared.reference, level)
        )

    figures = tuple(map(add, compared.figures))
    total = figures if len(texts) == 1 else tuple(map(add, compared.total))
    return replace(compared, figures=figures, total=total)


def _comparison(
    named: Mapping[str, Tokenizer],
    texts: Sequence[TextCounts],
    reference: str,
    parallel: bool,
    seed: int,
) -> Comparison:
    figures: list[Figures] = []
    for text in texts:
        base = texts[0].counted if parallel else None
        figures += [
            _figures(name, tok, text.about, text.counted[name], text.counted[reference],
                     None if base is None else base[name])
            for name, tok in named.items()
        ]  # fmt: skip
    total = figures
    if len(texts) > 1:
        about = _sum_of_texts([text.about for text in texts])
        sums = {name: sum_of([text.counted[name] for text in texts]) for name in named}
        total = [
            _figures(name, tok, about, sums[name], sums[reference], None)
            for name, tok in named.items()
        ]
    tokenizers = [_tokenizer(name, tok, texts) for name, tok in named.items()]
    notes = []
    if any(text.about.sample_words is None for text in texts):
        notes.append("words were not looked for: pip install toksmith[segment]")
    return Comparison(
        tuple(tokenizers),
        tuple(text.about for text in texts),
        tuple(figures),
        tuple(total),
        tuple(figures for text in texts for figures in _scripts(named, text)),
        reference,
        parallel,
        seed,
        tuple(notes),
        tuple(text.passage for text in texts),
    )


def _figures(
    name: str,
    tok: Tokenizer,
    text: MeasuredText,
    counted: TokenCounts,
    reference: TokenCounts,
    base: TokenCounts | None,
) -> Figures:
    unk_id = getattr(tok.pipeline.model, "unk_id", None)
    measurement = Measurement(
        text=text,
        vocab_size=tok.vocab_size,
        frequencies=counted.frequencies,
        tokens=int(counted.frequencies.sum()),
        distinct_tokens=int(np.count_nonzero(counted.frequencies)),
        unknown_tokens=0 if unk_id is None else int(counted.frequencies[unk_id]),
        reference_tokens=int(reference.frequencies.sum()),
        sampled=counted.sampled,
        base_tokens=None if base is None else int(base.frequencies.sum()),
        seconds=counted.seconds,
        timed_bytes=counted.timed_bytes,
    )
    values = {metric.name: evaluate(metric, measurement) for metric in METRICS.values()}
    return Figures(name, text.name, measurement.distinct_tokens, measurement.unknown_tokens, values)


def _scripts(named: Mapping[str, Tokenizer], text: TextCounts) -> Iterator[ScriptFigures]:
    size, characters = text.sample.script_bytes, text.sample.script_characters
    for place in np.argsort(-characters, kind="stable").tolist():
        if not characters[place]:
            return
        for name in named:
            tokens = int(text.counted[name].sampled.script_tokens[place])
            count = int(characters[place])
            yield ScriptFigures.of(
                name, text.about.name, SCRIPTS[place], tokens, int(size[place]), count
            )


def _sum_of_texts(texts: Sequence[MeasuredText]) -> MeasuredText:
    has_words = all(text.sample_words is not None for text in texts)
    return MeasuredText(
        ALL,
        sum(text.documents for text in texts),
        sum(text.bytes for text in texts),
        sum(text.characters for text in texts),
        sum(text.sample_bytes for text in texts),
        sum(text.sample_passages for text in texts),
        sum(text.sample_words or 0 for text in texts) if has_words else None,
    )


def _tokenizer(name: str, tok: Tokenizer, texts: Sequence[TextCounts]) -> MeasuredTokenizer:
    counted = [text.counted[name].frequencies for text in texts]
    costs = [
        share(int(frequencies.sum()), text.about.bytes)
        for frequencies, text in zip(counted, texts, strict=True)
    ]
    return MeasuredTokenizer(
        name=name,
        model=type(tok.pipeline.model).__name__,
        vocab_size=tok.vocab_size,
        gini=gini(costs) if len(costs) > 1 else None,
        coverage=tuple(coverage(np.sum(counted, axis=0))),
    )
