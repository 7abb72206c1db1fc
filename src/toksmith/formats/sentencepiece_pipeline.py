"""The pipeline around a SentencePiece model: one for its files and for its trainers."""

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
    """Return what SentencePiece does with a model.

    Control pieces and the unknown piece are special tokens; user-defined pieces are the model's
    own business. A model has no template; as with Llama, it is the piece of ``bos_id`` before a
    text.

    Args:
        model: the pieces.
        normalizer: what is done to a text first.
        unk_surface: what an unknown piece decodes to.
        denormalizer: the compiled map that decoding ends with; empty for none.
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
    """Return the user-defined pieces as the normalizer wants them: the longest first."""
    symbols = [model.vocab[i].decode() for i in model.of_type(PieceType.USER_DEFINED)]
    return tuple(sorted(symbols, key=lambda symbol: (-len(symbol), symbol)))
