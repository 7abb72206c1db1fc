"""Checks before writing that a format can hold a pipeline, so that nothing is dropped silently."""

from __future__ import annotations

from collections.abc import Container

from toksmith._base.records import replace
from toksmith.errors import UnsupportedError
from toksmith.framing import AddedToken
from toksmith.framing.added import search_order_matters
from toksmith.models import BPE, Model, Pieces
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter


def require_byte_level(pipeline: Pipeline, name: str) -> BPE:
    """Return the model of a pipeline that is byte-level BPE without normalizer and decoder.

    Raises:
        UnsupportedError: the pipeline has another model, a normalizer, a decoder, or a splitter
            that is no pattern.
    """
    model = require_bpe(pipeline.model, name)
    if missing := model.missing_bytes:
        raise UnsupportedError(
            f"{name} needs an id for each of the 256 bytes, but {len(missing)} have none "
            f"({missing[:4]!r} …); huggingface can hold that"
        )
    if pipeline.normalizer:
        steps = ", ".join(type(step).__name__ for step in pipeline.normalizer)
        raise UnsupportedError(f"{name} cannot hold a normalizer ({steps}); huggingface can")
    require_pattern(pipeline, name)
    if pipeline.decoder is not None:
        steps = ", ".join(type(step).__name__ for step in pipeline.decoder)
        raise UnsupportedError(f"{name} cannot hold a decoder ({steps}); huggingface can")
    return model


def require_bpe(model: Model, name: str) -> BPE:
    """Return the model if it is byte-level BPE.

    Raises:
        UnsupportedError: it is another model.
    """
    if isinstance(model, BPE):
        return model
    holders = "sentencepiece and huggingface" if isinstance(model, Pieces) else "huggingface"
    raise UnsupportedError(
        f"{name} holds byte-level BPE, but this model is {kind(model)}; {holders} may hold it"
    )


def kind(model: Model) -> str:
    """Return the name of a kind of model, for messages."""
    return "byte-level BPE" if isinstance(model, BPE) else type(model).__name__


def require_pattern(pipeline: Pipeline, name: str) -> PatternSplitter | None:
    """Return the splitter if it is a pattern or ``None``.

    Raises:
        UnsupportedError: it is of another kind.
    """
    cut = pipeline.splitter
    if isinstance(cut, PatternSplitter) and cut.then:
        raise UnsupportedError(
            f"{name} splits by one pattern, and this splitter has {len(cut.patterns)}; "
            "huggingface can hold that"
        )
    if cut is None or isinstance(cut, PatternSplitter):
        return cut
    raise UnsupportedError(
        f"{name} splits by a pattern or not at all, and this splitter is {type(cut).__name__}; "
        "huggingface can hold that"
    )


def check_framing(pipeline: Pipeline, name: str) -> None:
    """Check that the framing holds only special tokens.

    Padding, truncation and the trimming of spans are allowed: they do not change ids.

    Raises:
        UnsupportedError: there is a template, or an added token that is not special, is found only
            in some places, or takes white space with it.
    """
    framing = pipeline.framing
    if framing.prefix or framing.suffix:
        raise UnsupportedError(
            f"{name} cannot hold a template (ids {list(framing.prefix)} before and "
            f"{list(framing.suffix)} after each text); huggingface can"
        )
    single, pair = framing.template.single, framing.template.pair
    if len(single) > 1 or [getattr(part, "which", "") for part in pair] != ["A", "B"]:
        raise UnsupportedError(f"{name} cannot hold a template of two texts; huggingface can")
    for token in framing.added_tokens:
        if token.single_word or token.lstrip or token.rstrip:
            how = "only as a word" if token.single_word else "with the white space next to it"
            raise UnsupportedError(
                f"{name} cannot hold {token.content!r}, a token that is found {how}; "
                "huggingface can"
            )
        if token.normalized and (pipeline.normalizer or search_order_matters(framing.added_tokens)):
            raise UnsupportedError(
                f"{name} cannot hold {token.content!r}, a token that is found in the normalized "
                "text; huggingface can"
            )
        if not token.special:
            raise UnsupportedError(
                f"{name} cannot hold {token.content!r}, an added token that is no special token; "
                "huggingface can"
            )


def check_no_aliases(pipeline: Pipeline, name: str) -> None:
    """Check that each added token has an id of its own.

    Raises:
        UnsupportedError: a token is a second literal of another token's id.
    """
    for token in pipeline.framing.added_tokens:
        if token.alias:
            raise UnsupportedError(
                f"{name} cannot hold {token.content!r}, a second literal of id {token.id}; "
                "tiktoken can"
            )


def check_unique_tokens(model: Model, name: str, apart: Container[int] = ()) -> None:
    """Check that no two ids have the same bytes.

    Args:
        model: the model.
        name: the format, for the error.
        apart: ids whose tokens the format spells in another way.

    Raises:
        UnsupportedError: two ids do; only minbpe's format tells them apart.
    """
    if len(model.ids) == len(model.vocab) - model.vocab.count(b""):
        return
    first: dict[bytes, int] = {}
    for token_id, token in enumerate(model.vocab):
        if not token or token_id in apart:
            continue
        if first.setdefault(token, token_id) != token_id:
            raise UnsupportedError(
                f"{name} keeps one id for equal bytes, but ids {first[token]} and {token_id} "
                f"are both {token!r}; minbpe can hold that"
            )


def check_merging_suffices(model: BPE, name: str) -> None:
    """Check that merging the bytes of each token gives the token, as a lookup does.

    Raises:
        UnsupportedError: ``model.whole_chunk_first`` changes the ids of a chunk.
    """
    if not model.whole_chunk_first:
        return
    from toksmith.engine import compile as compile_pipeline

    tokens = [token for token in model.vocab if token]
    encoder = compile_pipeline(Pipeline(replace(model, whole_chunk_first=False)))
    for token, ids in zip(tokens, encoder.encode_texts(tokens, 1), strict=True):
        if ids.tolist() != [model.ids[token]]:
            raise UnsupportedError(
                f"{name} only applies merges, which encode {token!r} to ids {ids.tolist()}, but "
                f"this model encodes it to id {model.ids[token]}; tiktoken and huggingface "
                "can hold that"
            )


def merge_results(model: BPE) -> set[int]:
    """Return the ids of all merged tokens."""
    return set(model.merges[:, 2].tolist())


def find_unmade(model: BPE) -> tuple[int, bytes] | None:
    """Return the first token of several bytes that no merge produces, or ``None``."""
    made = merge_results(model)
    rest = ((i, token) for i, token in enumerate(model.vocab) if len(token) > 1 and i not in made)
    return next(rest, None)


def require_literal(token: AddedToken, name: str) -> str:
    """Return the token's literal.

    Raises:
        UnsupportedError: the literal holds a lone surrogate, which UTF-8 cannot encode.
    """
    try:
        token.content.encode()
    except UnicodeEncodeError:
        raise UnsupportedError(
            f"{name} cannot hold {token.content!r}, which UTF-8 cannot encode"
        ) from None
    return token.content
