"""``toksmith advise``: recommends a vocabulary size for a text and a model."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toksmith.cli.common import SPLITS, Quiet, load_tokenizer, parse_split
from toksmith.cli.corpus import CorpusOptions, CountsFiles, Files, with_corpus_options
from toksmith.errors import OptionError

if TYPE_CHECKING:
    from toksmith.measure.vocabulary_size import VocabularyAdvice

EXAMPLE = "toksmith advise corpus/*.txt --max-vocab 65536 --d-model 768 --layers 12"
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "B": 10**9}


@with_corpus_options
def run(
    files: Files = None,
    counts: CountsFiles = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            "-t",
            metavar="PATH",
            help="A byte-level BPE tokenizer written by train --record, instead of a text.",
        ),
    ] = None,
    max_vocab: Annotated[
        int, typer.Option(min=257, help="The largest vocabulary to consider.")
    ] = 131_072,
    size: Annotated[
        list[int] | None,
        typer.Option(
            min=256,
            metavar="N",
            help="A size to report, instead of powers of two. Repeat for several.",
        ),
    ] = None,
    d_model: Annotated[
        int | None, typer.Option(min=1, help="The width of the model's embeddings.")
    ] = None,
    layers: Annotated[
        int | None, typer.Option(min=1, help="The number of layers of the model.")
    ] = None,
    parameters: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="The model's parameters outside embedding and output layer, such as 7B, instead "
            "of 12 * layers * d_model^2.",
        ),
    ] = None,
    tied: Annotated[
        bool, typer.Option("--tied/--untied", help="Whether the output layer is the embedding.")
    ] = True,
    training_bytes: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="The size of the model's training text, such as 20G, if FILES are a sample.",
        ),
    ] = None,
    enough: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="The least number of occurrences of a token in the model's training text.",
        ),
    ] = 100,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|REGEX",
            help=f"The split of text into chunks: a published rule ({SPLITS}), words, none, or a "
            "regular expression. \\[gpt4]",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write the report as a page.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="PATH", help="Write the plot.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON instead.")
    ] = False,
    *,
    corpus: CorpusOptions,
    quiet: Quiet = False,
) -> None:
    """Recommend a vocabulary size for a text and a model, with reasons for and against.

    Byte-level BPE is trained once, up to the largest size; it contains all smaller vocabularies.
    """
    import toksmith
    from toksmith.cli.writing import check_folder

    if [bool(files), bool(counts), bool(tokenizer)].count(True) != 1:
        raise OptionError("advise reads FILES, --counts PATH or --tokenizer PATH: give one of them")
    for path in (html, svg):
        if path is not None:
            check_folder(path)
    reading: dict[str, Any] = {**corpus, "progress": False if quiet else None}
    if split is not None:
        reading["split"] = parse_split(split)
    if tokenizer is not None:
        if split is not None or corpus["separator"] is not None:
            raise OptionError(
                "--split and --separator are for texts: leave them out with --tokenizer"
            )
        reading = {"tokenizer": load_tokenizer(tokenizer)}
    advice = toksmith.advise(
        files or None,
        counts=toksmith.Counts.merge(counts, memory=corpus["memory"]) if counts else None,
        max_vocab=max_vocab,
        sizes=size,
        d_model=d_model,
        layers=layers,
        parameters=parse_number("--parameters", parameters),
        tied=tied,
        training_bytes=parse_number("--training-bytes", training_bytes),
        enough=enough,
        **reading,
    )
    advice = _use_option_names(advice)
    from toksmith._base.files import write_text
    from toksmith.show.chart import plot_svg
    from toksmith.show.vocabulary_size import advice_plot, advice_view

    if html is not None:
        advice.to_html(html)
    if svg is not None:
        write_text(svg, plot_svg(advice_plot(advice)) + "\n")
    if as_json:
        print(advice.to_json(), end="")
        return
    from rich.console import Console

    console = Console(highlight=False)
    is_ascii = not (sys.stdout.encoding or "").lower().startswith("utf")
    console.print(advice_view(advice, console.width, ascii_only=is_ascii))


def _use_option_names(advice: VocabularyAdvice) -> VocabularyAdvice:
    """Return the advice with Python's argument names replaced by options."""
    from dataclasses import replace

    from toksmith.cli.messages import use_option_names

    named = ("training_bytes", "d_model", "layers", "parameters")
    options = {name: f"--{name.replace('_', '-')}" for name in named}
    chosen = advice.recommendation
    reasons, caveats = (
        tuple(use_option_names(line, options) for line in lines)
        for lines in (chosen.reasons, chosen.caveats)
    )
    return replace(advice, recommendation=replace(chosen, reasons=reasons, caveats=caveats))


def parse_number(option: str, text: str | None) -> int | None:
    """Return a number that may end in K, M, G (or B) or T.

    Raises:
        OptionError: the text is not such a number.

    Example:
        >>> parse_number("--parameters", "1.5B")
        1500000000
    """
    if text is None:
        return None
    found = re.fullmatch(r"([0-9][0-9_,]*(?:\.[0-9]+)?)([KMGTB]?)B?", text.strip(), re.IGNORECASE)
    value = found and float(re.sub("[_,]", "", found[1])) * _UNITS[found[2].upper()]
    if not value:
        raise OptionError(f"{option} is {text!r}: use a number such as 7B or 20G")
    return round(value)
