"""The audit of a tokenizer: checks before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, chain
from os import PathLike
from typing import TYPE_CHECKING

from toksmith._base.checks import whole
from toksmith._base.lazy import np, npt
from toksmith._base.text import Text, Texts
from toksmith.corpus import Reading
from toksmith.errors import OptionError
from toksmith.loading import AnyTokenizer
from toksmith.measure import audit_texts, audit_vocabulary
from toksmith.measure.findings import Audit, Finding
from toksmith.measure.inputs import AnyFiles, NamedText, check_sources, name_texts, name_tokenizers
from toksmith.measure.reachability import Reachability, reachability
from toksmith.tokenizer import Tokenizer

if TYPE_CHECKING:
    from toksmith._base.arrays import Bounds
    from toksmith._base.progress import BytesCallback

KINDS = {
    "injection": "special tokens that text becomes by default",
    "never made": "tokens that the model does not make of their own bytes",
    "unreachable": "tokens that none of many texts becomes",
    "duplicates": "tokens whose bytes another id has",
    "round trip": "what does not come back from its ids",
    "digits": "how numbers are cut",
    "white space": "what becomes of runs of spaces, tabs and line breaks",
    "partial characters": "tokens whose bytes are no whole characters",
    "parts of none": "partial characters that no character is cut into",
    "byte pieces": "bytes that are never fallen back to",
    "whole only": "tokens that only whole chunks become",
    "near-duplicates": "tokens that differ in case or in white space around them",
    "long tokens": "tokens of many characters",
    "unused": "tokens that a corpus never uses",
    "special tokens": "special tokens that text becomes with special=encode",
    "added tokens": "tokens that their literals become in any text",
    "holes": "ids without a token",
    "bytes": "bytes of invalid UTF-8 that do not come back",
}
"""The kinds of findings."""


def audit(  # noqa: D417  # on= only has an error
    tokenizer: AnyTokenizer,
    *,
    texts: Texts | None = None,
    files: AnyFiles | None = None,
    separator: str | None = None,
    field: str = "text",
    read_as: str | None = None,
    encoding_errors: str = "strict",
    longest: int = audit_vocabulary.LONG,
    threads: int | None = None,
    progress: bool | None = None,
    on: None = None,
) -> Audit:
    """Look for what is wrong or odd in a tokenizer: tokens no text becomes, what is lost, and more.

    Which tokens a text can become is found out by encoding each: alone, and between others. A token
    that the model does not make of its own bytes is proved unreachable; of one that is merely
    not found, only the texts that were tried are known.

    Args:
        tokenizer: a tokenizer, a published name or a path.
        texts: a corpus, to find the tokens that it never uses; as in :func:`toksmith.compare`.
        files: the same, as paths and patterns.
        separator: the string between the documents of a text file.
        field: the field of JSON Lines, or the column of Parquet, CSV or TSV, that holds the text.
        read_as: ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``, where a file's name
            does not tell.
        encoding_errors: ``"strict"`` refuses files that are not UTF-8 text; ``"replace"`` puts
            U+FFFD in place of other bytes.
        longest: tokens of more characters are long.
        threads: ``None`` for the cores this process may use.
        progress: whether to show how far the corpus is read; ``None``: in a terminal.

    Raises:
        OptionError: an argument is wrong.

    Example:
        >>> from toksmith import train
        >>> found = audit(train(texts=["abab abab"], vocab_size=258))
        >>> found.worst.name, found.of("partial characters").count
        ('INFO', 128)
    """
    longest = whole("longest", longest, least=1)
    has_corpus = not (texts is None and files is None and on is None)
    if has_corpus:
        check_sources("audit", texts, files, on)
    if not isinstance(tokenizer, Tokenizer | str | PathLike):
        raise OptionError(f"{tokenizer!r:.80} is no tokenizer: use a Tokenizer, a name or a path")
    ((name, tok),) = name_tokenizers([tokenizer]).items()
    reading = Reading(separator, field, read_as, encoding_errors=encoding_errors)
    used = None
    if has_corpus:
        sources = name_texts(texts=texts, files=files, reading=reading)
        used = token_use(tok, sources, reading, threads, progress)
    found = reachability(tok, threads)
    findings = list(_findings(tok, found, longest, used))
    findings.sort(key=lambda finding: -finding.severity)
    model = type(tok.pipeline.model).__name__
    return Audit(name, model, tok.vocab_size, found.counts, tuple(findings))


def _findings(
    tok: Tokenizer, found: Reachability, longest: int, used: npt.NDArray[np.int64] | None
) -> Iterator[Finding]:
    return chain(
        audit_texts.special_tokens(tok),
        audit_vocabulary.unreached_tokens(tok, found),
        audit_vocabulary.duplicates(tok),
        audit_texts.round_trips(tok),
        audit_texts.digits(tok),
        audit_texts.white_space(tok),
        audit_vocabulary.near_duplicates(tok, found),
        audit_vocabulary.long_tokens(tok, longest),
        () if used is None else audit_vocabulary.unused(tok, found, used),
    )


def token_use(
    tok: Tokenizer,
    texts: Sequence[NamedText],
    reading: Reading,
    threads: int | None = None,
    progress: bool | None = None,
) -> npt.NDArray[np.int64]:
    """Return the number of occurrences of each token in texts: int64, shape ``(vocab_size,)``."""
    from toksmith._base.progress import counting_progress

    used = _Use(tok, threads)
    with counting_progress(sum(text.size for text in texts), progress) as report:
        before = accumulate((text.size for text in texts), initial=0)
        for done, text in zip(before, texts, strict=False):
            text.feed(used, reading, partial(_add, report, done))
    return used.counts


def _add(report: BytesCallback, before: int, done: int) -> None:
    report(before + done)


class _Use:
    """Counts the tokens of documents."""

    def __init__(self, tok: Tokenizer, threads: int | None) -> None:
        self.counts = np.zeros(tok.vocab_size, np.int64)
        self._tok, self._threads = tok, threads

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""
        ids = self._tok.encode_batch(texts, threads=self._threads).ids
        self.counts += np.bincount(ids, minlength=len(self.counts))

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""
        from toksmith.measure.counting import blocks, token_counts

        for block in blocks(bounds):
            self.counts += token_counts(self._tok, text, block, self._threads)  # type: ignore[arg-type]

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the end: documents are not cut."""
        return end
