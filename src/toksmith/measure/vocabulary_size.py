"""Advice on the vocabulary size, from a text and from the size of a model.

BPE is nested: the first k merges are the tokenizer of 256 + k ids. So one training up to the
largest vocabulary tells how many tokens the text has with every smaller one, and how often each
token is used there: a merge takes as many of its left and of its right token as it makes of the
new one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from toksmith._base.checks import whole
from toksmith._base.lazy import np, npt
from toksmith._base.report import Report
from toksmith._base.text import Texts
from toksmith._base.visible import count_of, short_repr
from toksmith.engine.columns import texts_of
from toksmith.errors import OptionError, UnsupportedError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.measure.vocabulary_advice import Recommendation, recommend
from toksmith.measure.vocabulary_scaling import ModelShape
from toksmith.models import BPE

if TYPE_CHECKING:
    from toksmith.corpus import AnyPath
    from toksmith.tokenizer import Tokenizer
    from toksmith.trainers import Counts

MAX_VOCAB = 131_072
"""The default of the largest vocabulary to look at."""

ENOUGH = 100
"""The default of the number of occurrences below which a token is called rare."""


@short_repr
@dataclass(frozen=True)
class SizePoint:
    """One vocabulary size, special tokens not included.

    Attributes:
        vocab_size: the number of ids.
        tokens: the number of tokens of the text.
        bytes_per_token: the bytes of the text for each token.
        gain: the share of tokens that the text saves against half as many ids; ``None`` if half
            as many are fewer than 256.
        last_count: the number of occurrences of the last pair that was merged, when it was merged.
        rare: the number of learned tokens that occur in the text less often than is enough.
        unused: the number of learned tokens that do not occur in the text: they were only steps to
            longer ones.
        embedding_parameters: the number of parameters of the embedding; ``None``, as all below, if
            no model's shape is given.
        output_parameters: the number of parameters of the output layer; 0 if it shares the
            embedding's.
        vocabulary_share: the share of embedding and output layer in the model's parameters.
        flops_per_token: FLOPs of training for each token.
        flops_per_byte: FLOPs of training for each byte of the text.
        logits_share: the share of the output layer in these FLOPs.
    """

    vocab_size: int
    tokens: int
    bytes_per_token: float
    gain: float | None
    last_count: int
    rare: int
    unused: int
    embedding_parameters: int | None = None
    output_parameters: int | None = None
    vocabulary_share: float | None = None
    flops_per_token: int | None = None
    flops_per_byte: float | None = None
    logits_share: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class VocabularyAdvice(Report):
    """Vocabulary sizes for a text and for a model, with a recommendation.

    Attributes:
        documents: the number of documents that were read; 0 if they were not counted.
        bytes: the size of the text that was trained on.
        points: the listed sizes, ascending.
        tokens: uint64, shape ``(max - 255,)``: tokens of the text for each size from 256 on.
        shape: the model, if it is known.
        enough: how often a token should be seen in the model's training text.
        training_bytes: the size of that text; ``None`` if it is this text.
        recommendation: a size, with the reasons.
    """

    documents: int
    bytes: int
    points: tuple[SizePoint, ...]
    tokens: npt.NDArray[np.uint64]
    shape: ModelShape | None
    enough: int
    training_bytes: int | None
    recommendation: Recommendation

    @property
    def max_vocab(self) -> int:
        """The largest size that the text gave."""
        return 255 + len(self.tokens)

    def tokens_at(self, vocab_size: int) -> int:
        """Return the number of tokens of the text with a vocabulary of this size.

        Raises:
            OptionError: the size is below 256, or above :attr:`max_vocab`.
        """
        if not 256 <= vocab_size <= self.max_vocab:
            raise OptionError(
                f"vocab_size is {vocab_size}: sizes from 256 to {self.max_vocab} are known"
            )
        return int(self.tokens[vocab_size - 256])

    def to_dict(self) -> dict[str, Any]:
        """Return all but the long array, for JSON."""
        return {
            "documents": self.documents,
            "bytes": self.bytes,
            "enough": self.enough,
            "training_bytes": self.training_bytes,
            "model": self.shape
            and {**asdict(self.shape), "non_vocabulary_parameters": self.shape.non_vocabulary},
            "sizes": [asdict(point) for point in self.points],
            "recommendation": asdict(self.recommendation),
        }

    def __repr__(self) -> str:
        chosen = self.recommendation.vocab_size
        return f"<VocabularyAdvice: {chosen:,} ids for a text of {count_of(self.bytes, 'byte')}>"


def advise(
    files: AnyPath | Sequence[AnyPath] | None = None,
    *,
    texts: Texts | None = None,
    counts: Counts | None = None,
    tokenizer: AnyTokenizer | None = None,
    max_vocab: int = MAX_VOCAB,
    sizes: Sequence[int] | None = None,
    d_model: int | None = None,
    layers: int | None = None,
    parameters: int | None = None,
    tied: bool = True,
    training_bytes: int | None = None,
    enough: int = ENOUGH,
    **options: Any,
) -> VocabularyAdvice:
    """Recommend a vocabulary size, from a text and from the size of a model.

    Args:
        files: what to train on: a path, a directory, a pattern, or a list of them; or one of the
            following three.
        texts: a text, documents, or a mapping from names to either.
        counts: chunks that were counted before.
        tokenizer: byte-level BPE that toksmith trained and that has its ``training`` record; a
            tokenizer or its path.
        max_vocab: the largest size to look at.
        sizes: the sizes to list; ``None`` for powers of two.
        d_model: the width of the model's embeddings. Without it, only the text is looked at.
        layers: the number of layers of the model.
        parameters: of the model outside embedding and output layer, in place of an estimate from
            ``layers``.
        tied: whether embedding and output layer share their matrix.
        training_bytes: the size of the model's training text in bytes, if this text is a sample.
        enough: how often a token should be seen there.
        options: those of ``train`` (``split``, ``ties``, ``threads``, ``separator`` …).

    Raises:
        OptionError: an argument is out of range, or it is not clear what to train on.
        UnsupportedError: the tokenizer is no byte-level BPE with the record of a whole training.

    Example:
        >>> advice = advise(texts=["low lower lowest " * 50], max_vocab=260)
        >>> advice.tokens_at(256), advice.tokens_at(260)
        (850, 301)
        >>> [point.vocab_size for point in advice.points]
        [260]
    """
    shape = _shape(d_model, layers, parameters, tied)
    whole("enough", enough, least=1)
    if training_bytes is not None:
        whole("training_bytes", training_bytes, least=1)
    whole("max_vocab", max_vocab, least=257)
    if "on" in options:
        raise OptionError("advise takes no on=: use texts= for text at hand, or files= for paths")
    given = [each is not None for each in (files, texts, counts, tokenizer)]
    if sum(given) != 1:
        raise OptionError(
            f"advise takes one of files, texts=, counts= and tokenizer=, not {sum(given) or 'none'}"
        )
    if tokenizer is not None:
        if options:
            raise OptionError(
                f"{next(iter(options))}= is for training, and tokenizer= is trained already: "
                "leave it out"
            )
        tok = tokenizer_of(tokenizer)
    else:
        source = {"files": files, "texts": None if texts is None else texts_of(texts)}
        tok = _trained(max_vocab, **source, counts=counts, **options)
    merges, tokens = _curve(tok, max_vocab)
    record = tok.training
    assert record is not None
    wanted = _sizes(sizes, 255 + len(tokens))
    size = int(tokens[0])
    scale = (training_bytes or size) / size
    points = [
        _priced(shape, point, size)
        for point in _points(wanted, merges, tokens, size, enough / scale)
    ]
    return VocabularyAdvice(
        documents=record.documents,
        bytes=size,
        points=tuple(points),
        tokens=tokens,
        shape=shape,
        enough=enough,
        training_bytes=training_bytes,
        recommendation=recommend(
            tokens,
            record.counts[: len(merges)],
            shape,
            bytes_=size,
            training_bytes=training_bytes,
            enough=enough,
            max_vocab=max_vocab,
        ),
    )


def _shape(
    d_model: int | None, layers: int | None, parameters: int | None, tied: bool
) -> ModelShape | None:
    if d_model is not None:
        return ModelShape(d_model, layers, parameters, tied)
    for name, value in (("layers", layers), ("parameters", parameters)):
        if value is not None:
            raise OptionError(f"{name}= needs d_model=, too: a vocabulary's cost is V · d_model")
    return None


def _trained(max_vocab: int, **given: Any) -> Tokenizer:
    from toksmith.trainers import train

    for name in ("model", "vocab_size", "unit", "special_tokens"):
        if name in given:
            raise OptionError(f"{name}= is no option here: sizes are those of byte-level BPE alone")
    with warnings.catch_warnings():
        # The text may run out of pairs: the advice says so.
        warnings.filterwarnings("ignore", "the text ran out")
        return train(vocab_size=max_vocab, **given)


def _curve(tok: Tokenizer, max_vocab: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
    """Return the merges, and the text's tokens for each size from 256 on."""
    model, record = tok.pipeline.model, tok.training
    if not isinstance(model, BPE) or record is None:
        what = "no training record" if isinstance(model, BPE) else f"{type(model).__name__}"
        raise UnsupportedError(
            f"this tokenizer has {what}: sizes are known of byte-level BPE that was trained here "
            "and, if it was saved, with its record (record=True)"
        )
    if len(record.tokens_after) != len(model.merges):
        raise UnsupportedError(
            f"this tokenizer has {len(model.merges):,} merges, and its training record tells of "
            f"{len(record.tokens_after):,}: it was not trained from its first merge on"
        )
    steps = min(len(model.merges), max_vocab - 256)
    # Of bytes, only those count that occur in chunks which are frequent enough (min_count=).
    start = record.bytes
    if steps:
        start = min(start, int(record.tokens_after[0] + record.counts[0]))
    tokens = np.concatenate([np.array([start], np.uint64), record.tokens_after[:steps]])
    return model.merges[:steps], tokens


def _sizes(given: Sequence[int] | None, largest: int) -> list[int]:
    if given is not None:
        if not isinstance(given, Iterable):
            raise OptionError(f"sizes is {given!r:.80}: use a list of whole numbers")
        return sorted({min(whole("a size", size, least=256), largest) for size in given})
    powers = [1 << power for power in range(8, 40) if 1 << power < largest]
    return [*(size for size in powers if size < 0.9 * largest), largest]


def _points(
    sizes: Sequence[int],
    merges: npt.NDArray[np.uint32],
    tokens: npt.NDArray[np.uint64],
    bytes_: int,
    enough: float,
) -> Iterable[SizePoint]:
    """Yield what the text says of ascending sizes."""
    length = tokens.astype(np.int64)
    made = length[:-1] - length[1:]  # the number of occurrences of each merge
    place = np.full(int(merges.max(initial=0)) + 1, -1, np.int64)
    place[merges[:, 2]] = np.arange(len(merges))
    uses = np.zeros(len(merges), np.int64)
    done = 0
    for size in sizes:
        steps = size - 256
        uses[done:steps] = made[done:steps]
        for side in (0, 1):
            parts = place[merges[done:steps, side]]
            known = parts >= 0
            np.subtract.at(uses, parts[known], made[done:steps][known])
        done = steps
        half = size // 2
        yield SizePoint(
            vocab_size=size,
            tokens=int(length[steps]),
            bytes_per_token=bytes_ / int(length[steps]),
            gain=1 - float(length[steps] / length[half - 256]) if half >= 256 else None,
            last_count=int(made[steps - 1]) if steps else 0,
            rare=int((uses[:steps] < enough).sum()),
            unused=int((uses[:steps] == 0).sum()),
        )


def _priced(shape: ModelShape | None, point: SizePoint, bytes_: int) -> SizePoint:
    if shape is None:
        return point
    size = point.vocab_size
    embedding, output = shape.embedding(size), shape.output(size)
    vocabulary = embedding + output
    return SizePoint(
        **{
            **asdict(point),
            "embedding_parameters": embedding,
            "output_parameters": output,
            "vocabulary_share": vocabulary / (vocabulary + shape.non_vocabulary),
            "flops_per_token": shape.flops_per_token(size),
            "flops_per_byte": shape.flops_per_token(size) * point.tokens / bytes_,
            "logits_share": shape.logits_share(size),
        }
    )
