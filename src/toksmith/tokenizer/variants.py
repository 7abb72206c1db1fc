"""Copies of a pipeline with one stage changed: special tokens, template, split or matching."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toksmith._base.checks import literal, whole
from toksmith._base.records import replace
from toksmith.errors import OptionError, UnsupportedError
from toksmith.framing import AddedToken, Framing, Settings, Template
from toksmith.models import BPE, CharacterBPE, LongestMatch, Model
from toksmith.pipeline import Pipeline
from toksmith.splitters import (
    ByteSpelling,
    LeadingSpace,
    Metaspace,
    Splitter,
    SplitterSequence,
    splitter,
)
from toksmith.vocabulary import TokenTable

SpecialTokens = Mapping[str, int] | Iterable[str]
"""Special tokens by id, or a list of literals, which get the next free ids."""


def with_special_tokens(pipeline: Pipeline, tokens: SpecialTokens) -> Pipeline:
    """Return a pipeline with more special tokens.

    Raises:
        OptionError: a literal or an id already belongs to another token.
    """
    table = TokenTable(pipeline)
    added = {token.content: token for token in pipeline.framing.added_tokens}
    old = set(added)
    for content, token_id in _assign_ids(tokens, table).items():
        known = table.find(content)
        if known is not None and known != token_id:
            raise OptionError(
                f"special token {content!r:.80} cannot have id {token_id}: it is already token "
                f"{known}"
            )
        held = added.get(content, AddedToken(content, token_id))
        added[content] = replace(held, special=True)
    return _replace_stages(
        pipeline,
        framing=_replace_framing(pipeline.framing, tuple(added.values())),
        settings=_with_roles(pipeline.settings, added.keys() - old),
    )


def _with_roles(settings: Settings, added: Iterable[str]) -> Settings:
    """Return the settings with the roles that new tokens take by their literals.

    A role that a file gives to a token stays with it.
    """
    if settings.roles is None:
        return settings
    from toksmith.formats.huggingface.config import role_of

    found = {role: literal for literal in added if (role := role_of(literal)) is not None}
    return replace(settings, roles=found | dict(settings.roles))


def _assign_ids(tokens: SpecialTokens, table: TokenTable) -> dict[str, int]:
    if isinstance(tokens, Mapping):
        given = {content: whole(f"the id of {content!r:.80}", token_id, least=0)
                 for content, token_id in tokens.items()}  # fmt: skip
        for content in given:
            literal("special token", content)
        return given
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
        raise OptionError(
            f"special tokens are {tokens!r:.80}: give a mapping from literals to ids, or a list of "
            "literals"
        )
    ids: dict[str, int] = {}
    free = len(table.tokens)
    for content in tokens:
        literal("special token", content)
        known = table.find(content)
        if known is None and content not in ids:
            ids[content], free = free, free + 1
        elif known is not None:
            ids[content] = known
    return ids


def with_template(
    pipeline: Pipeline, bos: str | int | None = None, eos: str | int | None = None
) -> Pipeline:
    """Return a pipeline whose template puts a token before each text, and one after it.

    Raises:
        OptionError: ``bos`` or ``eos`` is no token; add special tokens first.
    """
    table = TokenTable(pipeline)

    def ids(name: str, token: str | int | None) -> tuple[int, ...]:
        if token is None:
            return ()
        if isinstance(token, str):
            known = table.find(token)
            if known is None:
                raise OptionError(
                    f"{name} is {token!r:.80}, which is no token: add it with "
                    f"with_special_tokens([{token!r:.80}])"
                )
            return (known,)
        token = whole(name, token, least=0, otherwise=", or the token itself")
        if token >= len(table.tokens) or not table.tokens[token]:
            raise OptionError(f"{name} is {token}, and no token has this id")
        return (token,)

    template = Template.around(ids("bos", bos), ids("eos", eos))
    return _replace_stages(pipeline, framing=_replace_framing(pipeline.framing, template=template))


def with_split(pipeline: Pipeline, split: str | None) -> Pipeline:
    """Return a pipeline with another split pattern and the same vocabulary.

    Raises:
        SplitError: ``split`` is neither a known name nor a pattern that compiles.
        UnsupportedError: the splitter also changes the text, and the vocabulary depends on that.
    """
    if _changes_text(pipeline.splitter):
        raise UnsupportedError(
            f"{type(pipeline.splitter).__name__} also changes the text (it marks word starts, or "
            "spells bytes), and the tokens are spelled so: the split cannot be replaced"
        )
    return _replace_stages(pipeline, splitter=splitter(split))


def _changes_text(each: Splitter | None) -> bool:
    """Return whether a splitter also changes the text."""
    if isinstance(each, SplitterSequence):
        return any(map(_changes_text, each.steps))
    return isinstance(each, ByteSpelling | Metaspace | LeadingSpace)


def with_matching(pipeline: Pipeline, matching: str) -> Pipeline:
    """Return a pipeline with another matching rule and the same vocabulary.

    Args:
        pipeline: a pipeline with a BPE model.
        matching: ``"longest"`` takes the longest token at each place, from left to right;
            ``"merges"`` returns the pipeline unchanged.

    Raises:
        OptionError: ``matching`` has another value, or the model has no merges.
        UnsupportedError: the model's tokens are not spelled as the text is.
    """
    model = pipeline.model
    if matching == "merges":
        if isinstance(model, BPE | CharacterBPE):
            return pipeline
        raise OptionError(
            f"{type(model).__name__} has no merges: keep the tokenizer that they were learned for"
        )
    if matching != "longest":
        raise OptionError(f'matching is {matching!r:.80}: use "longest" or "merges"')
    return _replace_stages(pipeline, model=_longest_match(model))


def _longest_match(model: Model) -> LongestMatch:
    if isinstance(model, LongestMatch):
        return model
    if isinstance(model, BPE):
        return LongestMatch(model.vocab, unit="bytes")
    if isinstance(model, CharacterBPE):
        spells = model.continuing_prefix or model.word_suffix or model.byte_fallback
        if not spells:
            return LongestMatch(model.vocab, model.unk_id, model.fuse_unk)
        raise UnsupportedError(
            "its tokens are not spelled as the text is (a prefix, a suffix or <0x00> bytes), so "
            "the longest match would not find them"
        )
    raise UnsupportedError(
        f"the longest match is for BPE, not for {type(model).__name__}, whose tokens are not "
        "spelled as the text is"
    )


def _replace_stages(pipeline: Pipeline, **stages: object) -> Pipeline:
    # A changed pipeline is no longer the one published under the name.
    return replace(pipeline, name=None, **stages)  # type: ignore[arg-type]


def _replace_framing(
    framing: Framing,
    added_tokens: tuple[AddedToken, ...] | None = None,
    template: Template | None = None,
) -> Framing:
    return Framing(
        framing.added_tokens if added_tokens is None else added_tokens,
        template=template or framing.template,
        trim_offsets=framing.trim_offsets,
        padding=framing.padding,
        truncation=framing.truncation,
    )
