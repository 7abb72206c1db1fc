"""Rewrites SentencePiece's normalizer and decoder as steps that ``tokenizers`` has.

Without a character map, the normalizer is a few replacements: remove spaces at the ends, collapse
runs of spaces, write each as ▁, and put one ▁ before the text. A map has no exact equivalent: the
step ``Precompiled`` applies it by grapheme cluster and by the shortest key, which gives another
text for a lone accent, for example.
"""

from __future__ import annotations

from toksmith import decoders
from toksmith._base.lazy import regex
from toksmith._base.records import replace
from toksmith.decoders import Decoder, SentencePieceDecoder
from toksmith.errors import UnsupportedError
from toksmith.models import Pieces, PieceType
from toksmith.normalizers import Normalizer, Prepend, Replace, SentencePieceNormalizer
from toksmith.pipeline import Pipeline

_MARK = "\u2581"
_ALL = 1 << 16


def to_steps(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline that gives the same tokens without SentencePiece's own steps.

    Decoding gives the same texts, except for invalid bytes: ``tokenizers`` writes U+FFFD for each
    byte of a run in which one is wrong.

    Raises:
        UnsupportedError: no such steps are equivalent.
    """
    model, normalizer, decoder = pipeline.model, pipeline.normalizer, pipeline.decoder
    if len(normalizer) == 1 and isinstance(normalizer[0], SentencePieceNormalizer):
        normalizer = _normalizer(normalizer[0])
    if decoder and isinstance(decoder[0], SentencePieceDecoder) and isinstance(model, Pieces):
        decoder = _decoder(decoder[0], model)
    return replace(pipeline, normalizer=normalizer, decoder=decoder)


def _normalizer(step: SentencePieceNormalizer) -> Normalizer:
    for wrong, what in (
        (step.charsmap, f"maps characters ({step.name or 'by a map of its own'})"),
        (step.whitespace_as_suffix, "puts a space after the text"),
        (not step.escape_whitespaces, "does not replace spaces by ▁"),
        (step.protected, f"leaves {step.protected[:1]} unchanged"),
    ):
        if wrong:
            raise UnsupportedError(
                f"huggingface has no equivalent of this normalizer, which {what}; "
                'sentencepiece can hold it: save("x.model")'
            )
    steps: list[Replace | Prepend] = [Replace(" ", _MARK)]
    if step.remove_extra_whitespaces:
        steps = [
            Replace(r"(?<![\s\S]) +", "", is_regex=True),
            Replace(" +", _MARK, is_regex=True),
            Replace(_MARK + r"+(?![\s\S])", "", is_regex=True),
        ]
    return (*steps, *[Prepend(_MARK)] * step.add_dummy_prefix)


def _decoder(step: SentencePieceDecoder, model: Pieces) -> Decoder:
    if step.charsmap or step.whitespace_as_suffix:
        raise UnsupportedError(
            "huggingface has no equivalent of this decoder, which "
            + ("maps characters back" if step.charsmap else "takes a space off the end")
            + '; sentencepiece can hold it: save("x.model")'
        )
    special: list[decoders.Replace] = []
    if control := [model.vocab[i].decode() for i in model.of_type(PieceType.CONTROL)]:
        longest_first = sorted(control, key=len, reverse=True)
        any_of = "|".join(regex.escape(piece, literal_spaces=True) for piece in longest_first)
        special.append(decoders.Replace(any_of, "", is_regex=True))
    if model.unk_id is not None:
        special.append(decoders.Replace(model.vocab[model.unk_id].decode(), step.unk_surface))
    count = _ALL if step.remove_extra_whitespaces else int(step.add_dummy_prefix)
    marks: tuple[decoders.Step, ...] = (decoders.Replace(_MARK, " "),)
    joined = (decoders.ByteFallback(), decoders.Fuse())
    if not count:
        return (*special, *marks, *joined)
    if step.unk_surface.startswith(" ") and _MARK.encode() in model.ids:
        # Marks are removed first, because the space of an unknown first piece is kept.
        return (*special, *joined, decoders.Strip(_MARK, start=count), *marks)
    return (*special, *marks, *joined, decoders.Strip(" ", start=count))
