"""What the rules of a tokenizer class of ``transformers`` are, and what several classes share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toksmith._base.records import dataclass, field
from toksmith.formats.huggingface import class_parts as parts
from toksmith.formats.huggingface.class_parts import Step
from toksmith.formats.huggingface.declared import Declared

MODELS = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model")
PLAIN = ("A", "A B:1")
BERT = ("cls_token A sep_token", "cls_token A sep_token B:1 sep_token:1")
ROBERTA = ("cls_token A sep_token", "cls_token A sep_token sep_token B sep_token")
FAIRSEQ = ("bos_token A eos_token", "bos_token A eos_token eos_token B eos_token")
EOS = ("A eos_token", "A eos_token B eos_token")


@dataclass(frozen=True)
class Build:
    """The parts of a tokenizer.json that a class makes of its vocabulary.

    Attributes:
        model: the entry of the model.
        normalizer: the entry of the normalizer.
        pre_tokenizer: the entry of the pre-tokenizer.
        decoder: the entry of the decoder.
    """

    model: Step
    normalizer: Step | None = None
    pre_tokenizer: Step | None = None
    decoder: Step | None = None


@dataclass(frozen=True)
class TokenizerClass:
    """The rules of a tokenizer class.

    Attributes:
        files: the names of its vocabulary file; several alternatives for a SentencePiece model;
            none if its ids are bytes.
        build: makes the parts of a tokenizer.json of the configuration and the vocabulary; ``None``
            if the vocabulary file alone determines them.
        roles: the literals of its special tokens, unless a file names others.
        template: the templates of one text and of two; ``None`` if ``add_bos_token`` and
            ``add_eos_token`` decide.
        add_bos: whether the beginning token is put before a text if no file says so.
        trims: whether the spans of tokens leave out spaces, as RoBERTa's do.
        mask_lstrip: whether the mask token takes the space before it.
        strips: whether its special tokens take the spaces around them.
        plain_pieces: whether the control pieces of its SentencePiece model never do, whatever the
            configuration says; unless ``added_tokens_decoder`` says it.
        extra: further special tokens of the class.
        model_max_length: the length that the class sets, in tokens.
        padding_side: the end at which the class pads.
        overrides: the parts that the class rebuilds from its own flags (``do_lower_case``,
            ``add_prefix_space``) even if there is a tokenizer.json.
        prefix: the class's default of ``add_prefix_space``, where it overrides that.
    """

    files: tuple[str, ...]
    build: Callable[[Declared, Any], Build] | None
    roles: Mapping[str, str] = field(default_factory=dict)
    template: tuple[str, str] | None = None
    add_bos: bool = False
    trims: bool = False
    mask_lstrip: bool = False
    strips: bool = False
    plain_pieces: bool = False
    extra: Callable[[Declared], list[str]] = lambda _: []
    model_max_length: int | None = None
    padding_side: str = "right"
    overrides: tuple[str, ...] = ()
    prefix: bool = False


def same(literal: str, *roles: str) -> dict[str, str]:
    """Return several roles, such as ``"bos"``, with one literal."""
    return dict.fromkeys((f"{role}_token" for role in roles), literal)


GPT2_ROLES = same("<|endoftext|>", "bos", "eos", "unk")
ROBERTA_ROLES = (
    same("<s>", "bos", "cls") | same("</s>", "eos", "sep") | same("<unk>", "unk")
    | same("<pad>", "pad") | same("<mask>", "mask")
)  # fmt: skip
BERT_ROLES = (
    same("[UNK]", "unk") | same("[SEP]", "sep") | same("[PAD]", "pad") | same("[CLS]", "cls")
    | same("[MASK]", "mask")
)  # fmt: skip
BERT_ENDS = BERT_ROLES | same("[CLS]", "bos") | same("[SEP]", "eos")
LLAMA_ROLES = same("<s>", "bos") | same("</s>", "eos") | same("<unk>", "unk")
T5_ROLES = same("</s>", "eos") | same("<unk>", "unk") | same("<pad>", "pad")
GEMMA_ROLES = (
    same("<bos>", "bos") | same("<eos>", "eos") | same("<unk>", "unk") | same("<pad>", "pad")
    | same("<mask>", "mask")
)  # fmt: skip
XLNET_ROLES = LLAMA_ROLES | (
    same("<sep>", "sep") | same("<pad>", "pad") | same("<cls>", "cls") | same("<mask>", "mask")
)
ALBERT_ROLES = BERT_ENDS | same("<unk>", "unk") | same("<pad>", "pad")

NFC = parts.step("NFC")


def role_literal(declared: Declared, role: str, default: str) -> str:
    """Return the literal of a role, from the configuration or by default."""
    named = declared.named.get(role)
    return default if named is None else named.content
