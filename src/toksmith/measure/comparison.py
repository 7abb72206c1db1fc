"""The result of a comparison, and its JSON, CSV, data frame, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import nan
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from toksmith._base.report import Report, convert, frame, write_or_return
from toksmith._base.visible import count_of, short_repr
from toksmith.errors import OptionError
from toksmith.measure.distribution import characters_per_token
from toksmith.measure.metrics import METRICS
from toksmith.measure.scripts import WHITE

if TYPE_CHECKING:
    from toksmith.results import Encoding

ALL = "all"
"""The name of all texts together, in figures."""


@short_repr
@dataclass(frozen=True)
class Figures:
    """The values of all metrics of one tokenizer on one text, each also an attribute.

    A value is ``None`` if it was not measured: words without the extra ``segment``, parity of texts
    that are not parallel. It is NaN in Python and ``null`` in JSON if it is undefined for this
    text, such as the fertility of a text without words.

    Attributes:
        tokenizer: its name.
        text: the name of the text.
        distinct_tokens: ids that occur in the text.
        unknown_tokens: the number of tokens that are the unknown token.
        values: the value of each metric by its name; see :data:`toksmith.measure.METRICS`.
        intervals: the lower and the upper end by the name of the metric, if intervals were
            requested; see bootstrap.py.

    Example:
        >>> found = Figures("low", "en", 3, 0, {"tokens": 4, "fertility": None})
        >>> found.tokens, found.fertility
        (4, None)
    """

    tokenizer: str
    text: str
    distinct_tokens: int
    unknown_tokens: int
    values: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("values", {})
        if name not in values:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return values[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.values]

    def to_dict(self) -> dict[str, Any]:
        """Return the names, the counts, the values and the intervals as one flat dict.

        Example:
            >>> found = Figures("low", "en", 3, 0, {"tokens": 4}).to_dict()
            >>> found["text"], found["tokens"], found["distinct_tokens"]
            ('en', 4, 3)
        """
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**held.pop("values"), **held}


@short_repr
@dataclass(frozen=True)
class MeasuredText:
    """A text of a comparison.

    Attributes:
        name: of the language or file.
        documents: how many there are.
        bytes: of all documents.
        characters: code points of all documents.
        sample_bytes: of the passages that words and round trips were measured on.
        sample_passages: the number of passages of the sample.
        sample_words: words in them; ``None`` where words were not looked for.
    """

    name: str
    documents: int
    bytes: int
    characters: int
    sample_bytes: int
    sample_passages: int
    sample_words: int | None

    @property
    def is_whole(self) -> bool:
        """Whether the sample is all of the text."""
        return self.sample_bytes == self.bytes


@short_repr
@dataclass(frozen=True)
class MeasuredTokenizer:
    """A tokenizer of a comparison.

    Attributes:
        name: what it is called there.
        model: the kind of its model.
        vocab_size: V, special tokens included.
        gini: how unequally it serves the texts; ``None`` for a single text.
        coverage: which share of all tokens of all texts its 1, 2, 4, 8 … most frequent tokens
            make; the last one all that occur.
    """

    name: str
    model: str
    vocab_size: int
    gini: float | None = None
    coverage: tuple[float, ...] = ()


@short_repr
@dataclass(frozen=True)
class ScriptFigures:
    """One tokenizer on what is of one script in the sample of a text; see scripts.py.

    Attributes:
        tokenizer: its name.
        text: its name.
        script: of the tokens' first characters that are no white space.
        tokens: of this script.
        bytes: of the script's characters.
        characters: how many of them there are.
        characters_per_token: these two; ``nan`` for white space, most of which is in tokens of
            other scripts.
    """

    tokenizer: str
    text: str
    script: str
    tokens: int
    bytes: int
    characters: int
    characters_per_token: float

    @classmethod
    def of(
        cls, tokenizer: str, text: str, script: str, tokens: int, size: int, characters: int
    ) -> ScriptFigures:
        """Return the figures of these counts."""
        ratio = nan if script == WHITE else characters_per_token(characters, tokens)
        return cls(tokenizer, text, script, tokens, size, characters, ratio)


@short_repr
@dataclass(frozen=True)
class Passage:
    """The start of a text, by each tokenizer.

    Attributes:
        text: the name of the text.
        encodings: its tokens by tokenizer, in the order of the comparison.
        is_whole: whether this is all of the text.
    """

    text: str
    encodings: dict[str, Encoding]
    is_whole: bool


@dataclass(frozen=True, repr=False)
class Comparison(Report):
    """Tokenizers and their figures on texts; made by :func:`toksmith.compare`.

    A notebook shows it as tables; :func:`print` shows the same as text.

    Attributes:
        tokenizers: in the order in which they were given.
        texts: likewise.
        figures: of each tokenizer on each text, text by text.
        total: of each tokenizer on all texts together; the same as ``figures`` for a single text.
            What is measured on samples is that of all samples together, so that large texts weigh
            no more in it than others.
        scripts: of each tokenizer on each script of each text's sample, the most frequent first.
        reference: the tokenizer that others' tokens are counted against.
        parallel: whether the texts say the same, so that parity means something.
        seed: of the sample.
        notes: what was left out, and why.
        passages: the start of each text, token by token.
        measures: the names of the measures that are shown and written, in this order; all if
            empty.
        level: of the intervals, such as 0.95; ``None`` if there are none.

    Example:
        >>> import toksmith
        >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> bytes_ = toksmith.train(texts=["low"], vocab_size=256)
        >>> found = toksmith.compare({"low": low, "bytes": bytes_}, texts="lower")
        >>> [(each.tokenizer, each.tokens) for each in found.figures]
        [('low', 3), ('bytes', 5)]
        >>> found["low"].bytes_per_token
        1.6666666666666667
    """

    tokenizers: tuple[MeasuredTokenizer, ...]
    texts: tuple[MeasuredText, ...]
    figures: tuple[Figures, ...]
    total: tuple[Figures, ...]
    scripts: tuple[ScriptFigures, ...]
    reference: str
    parallel: bool
    seed: int
    notes: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    measures: tuple[str, ...] = ()
    level: float | None = None

    def __getitem__(self, key: str | tuple[str, str]) -> Figures:
        """Return the figures of a tokenizer on all texts, or of ``[tokenizer, text]``.

        Raises:
            OptionError: there is no such tokenizer or text.
        """
        tokenizer, text = (key, ALL) if isinstance(key, str) else key
        rows = self.total if text == ALL else self.of_text(text)
        for figures in rows:
            if figures.tokenizer == tokenizer:
                return figures
        names = ", ".join(each.name for each in self.tokenizers)
        raise OptionError(f"no tokenizer of this comparison is called {tokenizer!r}: use {names}")

    def of_text(self, text: str) -> tuple[Figures, ...]:
        """Return the figures of all tokenizers on a text.

        Args:
            text: the name of the text.

        Returns:
            One entry for each tokenizer, in the order of the comparison.

        Raises:
            OptionError: there is no such text.

        Example:
            >>> import toksmith
            >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> found = toksmith.compare({"low": low}, texts={"en": "lower", "de": "niedriger"})
            >>> [each.tokens for each in found.of_text("de")]
            [9]
        """
        found = tuple(figures for figures in self.figures if figures.text == text)
        if not found:
            names = ", ".join(each.name for each in self.texts)
            raise OptionError(f"no text of this comparison is called {text!r}: use {names}")
        return found

    def by_script(self) -> dict[str, tuple[ScriptFigures, ...]]:
        """Return the figures of each script in all samples together, the most frequent first.

        Example:
            >>> import toksmith
            >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> found = toksmith.compare({"low": low}, texts="lower ниже")
            >>> {script: each[0].tokens for script, each in found.by_script().items()}
            {'Latin': 3, 'Cyrillic': 8, 'white space': 1}
        """
        sums: dict[str, dict[str, list[int]]] = {}
        for each in self.scripts:
            held = sums.setdefault(each.script, {}).setdefault(each.tokenizer, [0, 0, 0])
            for place, number in enumerate((each.tokens, each.bytes, each.characters)):
                held[place] += number
        found = {
            script: tuple(ScriptFigures.of(name, ALL, script, *held[name]) for name in held)
            for script, held in sums.items()
        }
        return dict(sorted(found.items(), key=lambda item: -item[1][0].characters))

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as dicts and lists; the passages are left out.

        Example:
            >>> import toksmith
            >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> found = toksmith.compare({"low": low}, texts="lower")
            >>> found.to_dict()["figures"][0]["tokens"]
            3
        """
        held: dict[str, Any] = {}
        for each in fields(self):
            if each.name == "passages":
                continue
            value = getattr(self, each.name)
            if isinstance(value, tuple):
                value = [_plain(item) for item in value]
            held[each.name] = value
        return held

    def rows(self) -> list[dict[str, str | float | None]]:
        """Return a row for each tokenizer and text, and for all texts: names and measures.

        Where there are intervals, ``fertility_low`` and ``fertility_high`` follow ``fertility``.

        Example:
            >>> import toksmith
            >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> found = toksmith.compare({"low": low}, texts="lower", measures=["tokens"])
            >>> found.rows()
            [{'tokenizer': 'low', 'text': 'text', 'tokens': 3}]
        """
        names = self.measures or (*METRICS, "distinct_tokens", "unknown_tokens")
        ginis = {tok.name: tok.gini for tok in self.tokenizers}
        with_intervals = {name for each in self.figures for name in each.intervals}
        found = []
        for figures in [*self.figures, *(self.total if len(self.texts) > 1 else ())]:
            is_total = figures.text == ALL
            gini = ginis[figures.tokenizer] if is_total else None
            row: dict[str, str | float | None] = {}
            row["tokenizer"], row["text"] = figures.tokenizer, figures.text
            for name in names:
                row[name] = gini if name == "gini" else getattr(figures, name)
                if name in with_intervals:
                    ends = figures.intervals.get(name, (None, None))
                    row[f"{name}_low"], row[f"{name}_high"] = ends
            found.append(row)
        return found

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return a row for each tokenizer and text, and for all texts, as CSV.

        Args:
            path: also write it to this file. The file is written whole or not at all.

        Example:
            >>> import toksmith
            >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> found = toksmith.compare({"low": low}, texts="lower", measures=["tokens"])
            >>> print(found.to_csv(), end="")
            tokenizer,text,tokens
            low,text,3
        """
        rows = self.rows()
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(rows[0])
        for row in rows:
            values = row.values()
            writer.writerow(["" if value is None or value != value else value for value in values])
        return write_or_return(out.getvalue(), path)

    def to_frame(self, library: Literal["pandas", "polars"] | None = None) -> Any:
        """Return the rows of :meth:`to_csv` as a data frame.

        Args:
            library: whose; ``None`` for pandas, or polars if pandas is not installed.

        Raises:
            MissingExtraError: the library is not installed, or neither is.
            OptionError: ``library`` is none of these.

        Example:
            >>> import toksmith
            >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> found = toksmith.compare({"low": low}, texts="lower", measures=["tokens"])
            >>> found.to_frame("pandas")["tokens"].tolist()  # doctest: +SKIP
            [3]
        """
        return frame(self.rows(), library)

    def to_markdown(self, measure: str | None = None) -> str:
        """Return a table in Markdown, as GitHub reads it; the best values are bold.

        Args:
            measure: the name of a measure, for a row for each text; ``None`` for all texts
                together, with a row for each measure.

        Raises:
            OptionError: no such measure, or one that is not of single texts.

        Example:
            >>> import toksmith
            >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> bytes_ = toksmith.train(texts=["low"], vocab_size=256)
            >>> names = ["tokens", "bytes_per_token"]
            >>> found = toksmith.compare({"low": low, "b": bytes_}, texts="lower", measures=names)
            >>> print(found.to_markdown(), end="")
            |  | low | b |
            | :-- | --: | --: |
            | tokens ↓ | **3** | 5 |
            | bytes a token ↑ | **1.67** | 1.00 |
        """
        return convert(self, "markdown", measure)

    def to_latex(self, measure: str | None = None) -> str:
        r"""Return a table in LaTeX, for the package booktabs; see :meth:`to_markdown`.

        Args:
            measure: as in :meth:`to_markdown`.

        Raises:
            OptionError: no such measure, or one that is not of single texts.

        Example:
            >>> import toksmith
            >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
            >>> found = toksmith.compare({"low": low}, texts="lower", measures=["tokens"])
            >>> print(found.to_latex())
            \begin{tabular}{lr}
            \toprule
             & low \\
            \midrule
            tokens $\downarrow$ & 3 \\
            \bottomrule
            \end{tabular}
        """
        return convert(self, "latex", measure)

    def __repr__(self) -> str:
        tokenizers, texts = (
            count_of(len(each), unit)
            for each, unit in ((self.tokenizers, "tokenizer"), (self.texts, "text"))
        )
        return f"<Comparison: {tokenizers} on {texts}>"


def _plain(item: Any) -> Any:
    if isinstance(item, str):
        return item
    return item.to_dict() if isinstance(item, Figures) else asdict(item)
