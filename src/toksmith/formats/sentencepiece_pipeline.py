"""Builds the pipeline of a SentencePiece model, for the file format and for the trainers."""

from __future__ import annotations

from toksmith.decoders import SentencePieceDecoder
from toksmith.framing import AddedToken, Framing
from toksmith.models import Pieces, PieceType, SentencePieceBPE, Unigram
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline

UNK_SURFACE = " \u2047 "
"""SentencePiece's default text for the unknown piece."""


def sentencepiece_pipeline(
    model: SentencePieceBPE | Unigram,
    normalizer: SentencePieceNormalizer,
    *,
    unk_surface: str = UNK_SURFACE,
    denormalizer: bytes = b"",
) -> Pipeline:
    """Return the pipeline that runs a model as SentencePiece does.

    Control pieces and the unknown piece are special tokens; the model itself finds user-defined
    pieces. A model file has no template; as in Llama, the piece of ``bos_id`` comes before a text.

    Args:
        model: the pieces.
        normalizer: the normalizer.
        unk_surface: the text that the unknown piece decodes to.
        denormalizer: a compiled character map, applied last in decoding; empty for none.
    """
    special = sorted(model.of_type(PieceType.CONTROL) + model.of_type(PieceType.UNKNOWN))
    return Pipeline(
        model,
        framing=Framing(
            tuple(AddedToken(model.vocab[i].decode(), i) for i in special),
            prefix=() if model.bos_id is None else (model.bos_id,),
        ),
        normalizer=(normalizer,),
        decoder=(
            SentencePieceDecoder(
                unk_surface,
                normalizer.add_dummy_prefix,
                normalizer.remove_extra_whitespaces,
                normalizer.whitespace_as_suffix,
                denormalizer,
            ),
        ),
    )


def protected_symbols(model: Pieces) -> tuple[str, ...]:
    """Return the user-defined pieces for the normalizer, the longest first."""
    symbols = [model.vocab[i].decode() for i in model.of_type(PieceType.USER_DEFINED)]
    return tuple(sorted(symbols, key=lambda symbol: (-len(symbol), symbol)))
