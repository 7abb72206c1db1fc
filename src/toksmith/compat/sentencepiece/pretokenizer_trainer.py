"""Training with a pretokenizer: a function that cuts each normalized sentence into parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from toksmith.compat.sentencepiece.failures import SentencePieceError
from toksmith.compat.sentencepiece.reading import read_file
from toksmith.formats.sentencepiece_pipeline import sentencepiece_pipeline
from toksmith.models import SentencePieceBPE, Unigram
from toksmith.stages.normalize import normalize
from toksmith.tokenizer import Tokenizer
from toksmith.trainers import train
from toksmith.trainers.options import options_of
from toksmith.trainers.sentencepiece import normalizer_of
from toksmith.trainers.sentencepiece.vocabulary import BOUNDARY
from toksmith.trainers.sentencepiece_options import SentencePieceOptions

_NORMALIZED_ALREADY = {
    "normalization_rule_name": "identity", "normalization_rule_tsv": "",
    "add_dummy_prefix": False, "remove_extra_whitespaces": False,
    "pretokenization_delimiter": BOUNDARY, "max_sentence_length": 1 << 30,
}  # fmt: skip


def train_on_parts(
    pretokenizer: Callable[[str], Iterable[str]],
    is_lenient: bool,
    kind: str,
    size: int,
    given: Mapping[str, Any],
    files: Sequence[str] | None,
    texts: Iterable[str | bytes] | None,
    threads: int | None,
) -> Tokenizer:
    """Return a tokenizer with pieces that cross no border between parts.

    Args:
        pretokenizer: returns the parts of a normalized sentence, which has \u2581 for spaces.
        is_lenient: whether the parts together may differ from the sentence.
        kind: ``"unigram"`` or ``"bpe"``.
        size: the number of pieces.
        given: options of :class:`~toksmith.trainers.sentencepiece_options.SentencePieceOptions`.
        files: the files to train on.
        texts: sentences, instead of files.
        threads: the number of threads.

    Raises:
        SentencePieceError: the pretokenizer fails, or its parts differ from the sentence.
        OptionError, TrainingError: see :func:`toksmith.train`.
    """
    model = f"sentencepiece-{kind}"
    options = options_of(SentencePieceOptions, model, given)
    normalizer = normalizer_of(options)

    def cut(sentence: str) -> str:
        normalized = normalize((normalizer,), sentence)
        try:
            parts = [*pretokenizer(normalized)]
            joined = "".join(parts)
        except Exception as wrong:
            raise SentencePieceError(f"pretokenizer failed: {wrong!r:.200}") from wrong
        if not is_lenient and joined != normalized:
            raise SentencePieceError(
                f"pretokenizer returns {parts!r:.80} for {normalized!r:.80}: return parts that "
                "join to it, or set allow_inconsistent_pretokenization"
            )
        return BOUNDARY.join(parts)

    lines = _lines(files or ()) if texts is None else texts
    sentences = (
        cut(line.decode("utf-8", "surrogateescape") if isinstance(line, bytes) else line)
        for line in lines
        if len(line.encode() if isinstance(line, str) else line) <= options.max_sentence_length
    )
    # Normalized sentences are trained on as they are; the model gets the normalizer afterwards.
    trained = train(
        texts=sentences, model=model, vocab_size=size, threads=threads, progress=False,
        **{**given, **_NORMALIZED_ALREADY},
    ).pipeline.model  # fmt: skip
    assert isinstance(trained, SentencePieceBPE | Unigram)
    return Tokenizer(sentencepiece_pipeline(trained, normalizer, unk_surface=options.unk_surface))


def _lines(files: Sequence[str]) -> Iterator[bytes]:
    for path in files:
        for line in read_file(path).split(b"\n"):
            if line:
                yield line
