"""SentencePiece's ``.model``, and its companion ``.vocab`` for human readers.

A ``.model`` is a protobuf of pieces with scores and types, the trainer's options, and the
normalization. It has no template: ``read`` adds a template that puts the piece of ``bos_id`` before
a text, as in Llama. Self-test data and options of training alone are dropped.

A character model is read as BPE without merges, which is equivalent.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from toksmith._base import files
from toksmith._base.lazy import np
from toksmith.decoders import SentencePieceDecoder
from toksmith.engine import portable
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats import checks
from toksmith.formats.listed import Hints
from toksmith.formats.sentencepiece_pipeline import protected_symbols, sentencepiece_pipeline
from toksmith.formats.sentencepiece_proto import model_class, read_specs
from toksmith.framing import Framing
from toksmith.models import Pieces, PieceType, SentencePieceBPE, Unigram
from toksmith.models.pieces import find_all
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline

NAME = "sentencepiece"

UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4
"""The values of ``model_type``."""

LEAST = float.fromhex("-0x1.fffffep+127")
"""The least score in float32. It replaces minus infinity, the score that the trainer of character
models gives to required characters that the text lacks."""

_ROLES = ("unk", "bos", "eos", "pad")
_VOCAB_LINE = re.compile(rb"[^\t\r\n]+\t-?[0-9.e+-]+\r?\n")


def recognise(path: Path) -> bool:
    """Return whether the file starts with a piece, or is a ``.vocab`` of pieces and scores."""
    head = files.read_head(path)
    if path.suffix == ".vocab":
        return _VOCAB_LINE.match(head) is not None
    # The first field is a piece: a message of less than 128 bytes that starts with a string,
    # followed by a score, a type or its end.
    if len(head) < 4 or head[0] != 0x0A or head[2] != 0x0A or not 2 < head[1] < 0x80:
        return False
    end = 4 + head[3]
    return end == 2 + head[1] or head[end : end + 1] in (b"\x15", b"\x18")


def read(path: Path, hints: Hints) -> Pipeline:
    """Read a ``.model`` file.

    Raises:
        OptionError: there are hints.
        FormatError: the file is damaged.
        UnsupportedError: the file is a ``.vocab``, which has neither types nor a normalizer, or it
            uses a feature that toksmith does not have.
    """
    hints.refuse(path, NAME)
    if path.suffix == ".vocab" and recognise(path):
        raise UnsupportedError(
            f"{path}: a .vocab has neither the types of pieces nor a normalizer; load the .model "
            "file instead"
        )
    return parse(files.read_bytes(path), path)


def parse(data: bytes, path: Path) -> Pipeline:
    """Read the content of a ``.model`` file; error messages call it ``path``.

    Raises:
        FormatError, UnsupportedError: see :func:`read`.
    """
    found = portable.read_pieces(data)
    specs = found and read_specs(found[3])
    with files.reading(path):
        if found and specs:
            vocab, scores, types, _ = found
        else:
            vocab, scores, types, specs = _read_slowly(path, data)
        if not vocab:
            raise FormatError(path, "holds no pieces")
        model = _model(path, specs.trainer_spec, vocab, scores, types)
        portable.check_character_map(specs.normalizer_spec.precompiled_charsmap)
        return sentencepiece_pipeline(
            model,
            _normalizer(specs, model),
            unk_surface=specs.trainer_spec.unk_surface.decode(),
            denormalizer=_denormalizer(path, specs),
        )


def _read_slowly(path: Path, data: bytes) -> tuple[tuple[bytes, ...], array[float], bytes, Any]:
    """Return the pieces, their scores and types, and the message; raise for a damaged one."""
    from google.protobuf.message import DecodeError

    try:
        proto = model_class().FromString(data)
    except DecodeError as wrong:
        raise FormatError(path, f"not the protobuf of a SentencePiece model: {wrong}") from wrong
    vocab = tuple(piece.piece for piece in proto.pieces)
    types = [piece.type for piece in proto.pieces]
    scores = array("d", [piece.score for piece in proto.pieces])
    for token_id, (piece, kind, score) in enumerate(zip(vocab, types, scores, strict=True)):
        if kind not in {*PieceType}:
            raise FormatError(path, f"piece {token_id} has type {kind}, not 1 to 6")
        piece.decode()
        if score == -inf and proto.trainer_spec.model_type == CHAR:
            scores[token_id] = LEAST
        elif not isfinite(score):
            raise FormatError(path, f"piece {token_id} has no finite score")
    return vocab, scores, bytes(types), proto


def _model(
    path: Path, trainer: Any, vocab: tuple[bytes, ...], scores: Any, types: Any
) -> SentencePieceBPE | Unigram:
    kinds: dict[int, type[SentencePieceBPE | Unigram]] = {
        UNIGRAM: Unigram,
        BPE: SentencePieceBPE,
        CHAR: SentencePieceBPE,
    }
    if trainer.model_type == WORD:
        raise UnsupportedError(
            f"{path}: a word model, which fuses adjacent unknown words, is not supported"
        )
    if trainer.model_type not in kinds:
        raise FormatError(path, f"model_type is {trainer.model_type}, not 1 to 4")
    if (unknown := types.count(PieceType.UNKNOWN)) != 1:
        raise FormatError(path, f"{unknown} pieces have type UNKNOWN, not one")
    spelled = {vocab[token_id] for token_id in find_all(types, PieceType.BYTE)}
    wanted = range(256) if trainer.byte_fallback else ()
    if spelled != {b"<0x%02X>" % byte for byte in wanted}:
        raise FormatError(
            path,
            f"{len(spelled)} pieces have type BYTE: use <0x00> to <0xFF> with byte_fallback, "
            "none without",
        )
    control = {vocab[i]: i for i in find_all(types, PieceType.CONTROL)}
    return kinds[trainer.model_type](
        vocab,
        scores,
        types,
        unk_id=types.index(PieceType.UNKNOWN),
        byte_fallback=trainer.byte_fallback,
        bos_id=control.get(trainer.bos_piece),
        eos_id=control.get(trainer.eos_piece),
        pad_id=control.get(trainer.pad_piece),
    )


def _normalizer(proto: Any, model: Pieces) -> SentencePieceNormalizer:
    spec = proto.normalizer_spec
    return SentencePieceNormalizer(
        charsmap=spec.precompiled_charsmap,
        add_dummy_prefix=spec.add_dummy_prefix,
        remove_extra_whitespaces=spec.remove_extra_whitespaces,
        escape_whitespaces=spec.escape_whitespaces,
        whitespace_as_suffix=proto.trainer_spec.treat_whitespace_as_suffix,
        protected=protected_symbols(model),
        name=spec.name.decode(),
    )


def _denormalizer(path: Path, proto: Any) -> bytes:
    spec = proto.denormalizer_spec
    charsmap: bytes = spec.precompiled_charsmap
    if charsmap and (
        spec.add_dummy_prefix or spec.remove_extra_whitespaces or spec.escape_whitespaces
    ):
        raise UnsupportedError(
            f"{path}: the denormalizer adds, drops or escapes spaces, which cannot be read yet"
        )
    portable.check_character_map(charsmap)
    return charsmap


def contents(pipeline: Pipeline, path: Path) -> dict[Path, bytes]:
    """Return the contents of a ``.model`` file and of its ``.vocab`` for human readers.

    If ``path`` is a ``.vocab``, that is the only file.

    Raises:
        UnsupportedError: the pipeline has a feature that the format cannot hold.
    """
    parts = _parts(pipeline)
    vocab_path = (
        path.with_suffix(".vocab") if path.suffix in (".model", ".vocab") else f"{path}.vocab"
    )
    vocab = {Path(vocab_path): "".join(_vocab_lines(parts.model)).encode()}
    if path.suffix == ".vocab":
        return vocab
    return {path: _proto(parts).SerializeToString(deterministic=True), **vocab}


def _vocab_lines(model: Pieces) -> Iterator[str]:
    for piece, score in zip(model.vocab, model.scores.tolist(), strict=True):
        yield f"{piece.decode()}\t{score:g}\n"


class _Parts(NamedTuple):
    """The stages that a file holds."""

    model: SentencePieceBPE | Unigram
    normalizer: SentencePieceNormalizer
    decoder: SentencePieceDecoder


def _parts(pipeline: Pipeline) -> _Parts:
    """Return the parts of a pipeline, after a check that reading them gives an equal pipeline."""
    model, (normalizer, *_), (decoder, *_) = (
        pipeline.model,
        pipeline.normalizer or (None,),
        pipeline.decoder or (None,),
    )
    if not isinstance(model, SentencePieceBPE | Unigram):
        raise UnsupportedError(
            f"{NAME} holds SentencePiece's BPE and Unigram, not {checks.kind(model)}"
        )
    if isinstance(model, Unigram) and not (model.single and model.fuse_unk):
        raise UnsupportedError(
            f"{NAME} adds scores in float32 and fuses unknown characters, but this Unigram does "
            "not; huggingface can hold it"
        )
    if model.unk_id is None:
        raise UnsupportedError(f"{NAME} needs an unknown piece, but this model has none")
    if not np.array_equal(model.scores, model.scores.astype(np.float32)):
        raise UnsupportedError(
            f"{NAME} stores scores in float32, which would change the scores of this model"
        )
    if not isinstance(normalizer, SentencePieceNormalizer) or len(pipeline.normalizer) != 1:
        raise UnsupportedError(
            f"{NAME} only holds SentencePiece's normalizer, not {pipeline.normalizer!r:.80}"
        )
    if normalizer.protected != protected_symbols(model):
        raise UnsupportedError(f"{NAME} can only protect user-defined pieces from the normalizer")
    if pipeline.splitter is not None:
        raise UnsupportedError(f"{NAME} cannot hold a splitter ({pipeline.splitter!r:.80})")
    if not isinstance(decoder, SentencePieceDecoder):
        raise UnsupportedError(
            f"{NAME} only holds SentencePiece's decoder, not {pipeline.decoder!r:.80}"
        )
    held = sentencepiece_pipeline(
        model, normalizer, unk_surface=decoder.unk_surface, denormalizer=decoder.charsmap
    )
    if pipeline.decoder != held.decoder:
        raise UnsupportedError(
            f"{NAME} has the decoder of the normalizer, and cannot hold {pipeline.decoder!r:.80}"
        )
    if pipeline.framing.added_tokens != held.framing.added_tokens:
        raise UnsupportedError(
            f"{NAME} has no added tokens: only control pieces and the unknown piece are special"
        )
    if pipeline.framing not in (held.framing, Framing(held.framing.added_tokens)):
        raise UnsupportedError(
            f"{NAME} holds no padding, truncation or trimming, and no template but its bos piece "
            "before a text; a tokenizer without one can be written: with_template() returns it"
        )
    return _Parts(model, normalizer, decoder)


def _proto(parts: _Parts) -> Any:
    model, normalizer, decoder = parts
    proto = model_class()()
    types = model.types.tolist()
    for piece, score, kind in zip(model.vocab, model.scores.tolist(), types, strict=True):
        added = proto.pieces.add(piece=piece, score=score)
        if kind != PieceType.NORMAL:
            added.type = kind
    trainer = proto.trainer_spec
    trainer.model_type = UNIGRAM if isinstance(model, Unigram) else BPE
    trainer.vocab_size = len(model.vocab)
    trainer.byte_fallback = model.byte_fallback
    trainer.treat_whitespace_as_suffix = normalizer.whitespace_as_suffix
    trainer.unk_surface = decoder.unk_surface.encode()
    for role in _ROLES:
        token_id = getattr(model, f"{role}_id")
        setattr(trainer, f"{role}_id", -1 if token_id is None else token_id)
        if token_id is not None:
            setattr(trainer, f"{role}_piece", model.vocab[token_id])
    roles = {model.unk_id, model.bos_id, model.eos_id, model.pad_id}
    control = [i for i in model.of_type(PieceType.CONTROL) if i not in roles]
    trainer.control_symbols.extend(model.vocab[i] for i in control)
    user_defined = model.of_type(PieceType.USER_DEFINED)
    trainer.user_defined_symbols.extend(model.vocab[i] for i in user_defined)
    spec = proto.normalizer_spec
    spec.name = normalizer.name.encode()
    spec.precompiled_charsmap = normalizer.charsmap
    spec.add_dummy_prefix = normalizer.add_dummy_prefix
    spec.remove_extra_whitespaces = normalizer.remove_extra_whitespaces
    spec.escape_whitespaces = normalizer.escape_whitespaces
    if decoder.charsmap:
        spec = proto.denormalizer_spec
        spec.precompiled_charsmap = decoder.charsmap
        spec.add_dummy_prefix = spec.remove_extra_whitespaces = spec.escape_whitespaces = False
    return proto
