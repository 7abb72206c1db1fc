"""Rewrites SentencePiece's normalizer and decoder as steps that ``tokenizers`` has.

Without a character map, the normalizer is a few replacements: remove spaces at the ends, collapse
runs of spaces, write each as ▁, and put one ▁ before the text. A map has no exact equivalent: the
step ``Precompiled`` applies it by grapheme cluster and by the shortest key, which gives another
text for a lone accent, for example.

SentencePiece's BPE cuts out user-defined pieces before it merges. They become added tokens, which
are looked for in the normalized text if they contain ▁, since that may have been a space.
"""

from __future__ import annotations

from functools import cache

from toksmith import decoders
from toksmith._base.lazy import regex
from toksmith._base.records import replace
from toksmith.decoders import Decoder, SentencePieceDecoder
from toksmith.errors import UnsupportedError
from toksmith.framing import AddedToken, Framing
from toksmith.models import Pieces, PieceType, SentencePieceBPE
from toksmith.normalizers import Normalizer, Prepend, Replace, SentencePieceNormalizer
from toksmith.pipeline import Pipeline

_MARK = "\u2581"
_ALL = 1 << 16
_MARK_SPACES = Replace(" ", _MARK)


@cache
def _trimmed_marks() -> tuple[Replace, ...]:
    """Return the steps that trim spaces and write each run of them as ▁."""
    return (
        Replace(r"(?<![\s\S]) +", "", is_regex=True),
        Replace(" +", _MARK, is_regex=True),
        Replace(_MARK + r"+(?![\s\S])", "", is_regex=True),
    )


def to_steps(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline that gives the same tokens without SentencePiece's own steps.

    Decoding gives the same texts, except for invalid bytes: ``tokenizers`` writes U+FFFD for each
    byte of a run in which one is wrong.

    Raises:
        UnsupportedError: no such steps are equivalent.
    """
    model, normalizer, decoder = pipeline.model, pipeline.normalizer, pipeline.decoder
    framing = pipeline.framing
    if len(normalizer) == 1 and isinstance(normalizer[0], SentencePieceNormalizer):
        step = normalizer[0]
        if isinstance(model, SentencePieceBPE) and _only_marks_spaces(step):
            framing = _with_user_defined(framing, model)
            step = replace(step, protected=())
        normalizer = _normalizer(step)
    if decoder and isinstance(decoder[0], SentencePieceDecoder) and isinstance(model, Pieces):
        decoder = _decoder(decoder[0], model)
    return replace(pipeline, framing=framing, normalizer=normalizer, decoder=decoder)


def found_before_merging(pipeline: Pipeline) -> list[AddedToken]:
    """Return the added tokens that no normalized text between two added tokens contains.

    Args:
        pipeline: the result of :func:`to_steps`.
    """
    normalizer = pipeline.normalizer
    if not set(normalizer) <= {*_trimmed_marks(), _MARK_SPACES, Prepend(_MARK)}:
        return []
    tokens = [token for token in pipeline.framing.added_tokens if not token.single_word]
    if not normalizer:
        return tokens
    is_exact = normalizer == (_MARK_SPACES,)
    return [
        token
        for token in tokens
        if (is_exact and " " not in token.content if token.normalized
            else _MARK not in token.content)
    ]  # fmt: skip


def _only_marks_spaces(step: SentencePieceNormalizer) -> bool:
    """Return whether a normalizer only writes ▁ for a space, also with its protected pieces."""
    return (
        step.escape_whitespaces
        and not (step.charsmap or step.add_dummy_prefix or step.remove_extra_whitespaces)
        and not any(" " in piece for piece in step.protected)
    )


def _with_user_defined(framing: Framing, model: SentencePieceBPE) -> Framing:
    """Return a framing with the user-defined pieces as added tokens."""
    pieces = {model.vocab[i].decode(): i for i in model.of_type(PieceType.USER_DEFINED)}
    marked = {piece for piece in pieces if _MARK in piece}
    # Of overlapping pieces, the leftmost is taken: a single search has to find both.
    shared = set("".join(marked)) & set("".join(pieces.keys() - marked))
    held = {token.content for token in framing.added_tokens}
    tokens = [
        AddedToken(piece, i, special=False, normalized=bool(shared) or piece in marked)
        for piece, i in pieces.items()
        if piece not in held
    ]
    return Framing(
        (*framing.added_tokens, *tokens),
        template=framing.template,
        trim_offsets=framing.trim_offsets,
        padding=framing.padding,
        truncation=framing.truncation,
    )


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
    steps = _trimmed_marks() if step.remove_extra_whitespaces else (_MARK_SPACES,)
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
