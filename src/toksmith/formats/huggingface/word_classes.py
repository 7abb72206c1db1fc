"""The tokenizer classes of ``transformers`` for byte-level BPE, WordPiece and bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toksmith._base.byte_alphabet import spell
from toksmith.formats.huggingface import class_parts as parts
from toksmith.formats.huggingface.class_parts import Step
from toksmith.formats.huggingface.class_rules import (
    BERT,
    BERT_ENDS,
    BERT_ROLES,
    GPT2_ROLES,
    NFC,
    ROBERTA,
    ROBERTA_ROLES,
    XLNET_ROLES,
    Build,
    TokenizerClass,
    role_literal,
    same,
)
from toksmith.formats.huggingface.declared import Declared
from toksmith.formats.huggingface.folder_vocabulary import Merges, Words
from toksmith.formats.listed import PAIR

_BYTES = [bytes([byte]) for byte in range(256)]

# Byte-level BPE


def _bytes(
    normalizer: Step | None = None,
    before: tuple[Step, ...] = (),
    prefix: bool = False,
    use_regex: bool = True,
) -> Callable[[Declared, Merges], Build]:
    def build(declared: Declared, vocabulary: Merges) -> Build:
        level = parts.byte_level(declared.flag("add_prefix_space", prefix), use_regex)
        cut = parts.pre_tokenizers(*before, level) if before else level
        model = vocabulary.model(continuing_subword_prefix="", end_of_word_suffix="")
        return Build(model, normalizer, cut, parts.byte_level(True))

    return build


def _pair(
    build: Callable[[Declared, Merges], Build] | None = None,
    roles: Mapping[str, str] = GPT2_ROLES,
    template: tuple[str, str] | None = None,
    **rules: Any,
) -> TokenizerClass:
    rules = {"overrides": ("add_prefix_space",)} | rules
    return TokenizerClass(PAIR, build or _bytes(), roles, template, **rules)


_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|"
    r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _words_with_ends(normalizer: Step) -> Callable[[Declared, Merges], Build]:
    """Return the rules of BPE on characters with a mark at the end of each word."""

    def build(declared: Declared, vocabulary: Merges) -> Build:
        unk = role_literal(declared, "unk_token", "<unk>")
        model = vocabulary.model(unk_token=unk, end_of_word_suffix="</w>")
        decoder = parts.step("BPEDecoder", suffix="</w>")
        return Build(model, normalizer, parts.step("BertPreTokenizer"), decoder)

    return build


_CLIP = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)


def _clip(declared: Declared, vocabulary: Merges) -> Build:
    """Return the rules of BPE on spelled bytes with a mark at the end of each word."""
    model = vocabulary.model(
        unk_token=role_literal(declared, "unk_token", "<|endoftext|>"),
        continuing_subword_prefix="",
        end_of_word_suffix="</w>",
    )
    spaces = parts.regex(r"\s+", " ")
    normalizer = parts.normalizers(NFC, spaces, parts.step("Lowercase"))
    cut = parts.pre_tokenizers(parts.split(_CLIP, "Removed", invert=True), parts.byte_level())
    # transformers writes spaces for the marks, and none at the ends of the text.
    ends = parts.step("Strip", content=" ", start=1, stop=1)
    text = [parts.byte_level(), parts.literal("</w>", " "), ends]
    return Build(model, normalizer, cut, parts.step("Sequence", decoders=text))


def _bert_step(strip_accents: bool | None, lowercase: bool) -> Step:
    flags = {"clean_text": True, "handle_chinese_chars": True}
    return parts.step("BertNormalizer", **flags, strip_accents=strip_accents, lowercase=lowercase)


# WordPiece


def _wordpiece(unk: str) -> Callable[[Declared, Words], Build]:
    def build(declared: Declared, vocabulary: Words) -> Build:
        default = unk if unk in vocabulary.ids else "[UNK]"
        model = vocabulary.model(role_literal(declared, "unk_token", default))
        cut = parts.step("BertPreTokenizer")
        decoder = parts.step("WordPiece", prefix="##", cleanup=True)
        return Build(model, parts.bert_normalizer(declared), cut, decoder)

    return build


_BERT_FLAGS = ("do_lower_case", "strip_accents", "tokenize_chinese_chars")


def _vocab_txt(
    roles: Mapping[str, str] = BERT_ROLES,
    template: tuple[str, str] = BERT,
    **rules: Any,
) -> TokenizerClass:
    rules = {"overrides": _BERT_FLAGS} | rules
    return TokenizerClass(("vocab.txt",), _wordpiece(roles["unk_token"]), roles, template, **rules)


# Bytes


def _byte_ids(roles: Mapping[str, str], template: tuple[str, str], **rules: Any) -> TokenizerClass:
    """Return the rules of a vocabulary of special tokens and then the 256 bytes."""

    def build(declared: Declared, _: None) -> Build:
        special = [role_literal(declared, role, default) for role, default in roles.items()]
        ids = {token: i for i, token in enumerate([*special, *map(spell, _BYTES)])}
        cut = parts.byte_level(use_regex=False)
        model = Merges(ids, []).model(continuing_subword_prefix="", end_of_word_suffix="")
        return Build(model, None, cut, parts.byte_level(True))

    return TokenizerClass((), build, roles, template, **rules)


CLASSES: dict[str, TokenizerClass] = {
    "GPT2Tokenizer": _pair(),
    "GPTNeoXTokenizer": _pair(_bytes(NFC), GPT2_ROLES | same("<|padding|>", "pad")),
    "CohereTokenizer": _pair(
        _bytes(NFC, (parts.step("Digits", individual_digits=True),)),
        same("<BOS_TOKEN>", "bos")
        | same("<|END_OF_TURN_TOKEN|>", "eos")
        | same("<UNK>", "unk")
        | same("<SEP>", "sep")
        | same("<PAD>", "pad")
        | same("<CLS>", "cls")
        | same("<MASK_TOKEN>", "mask"),
        padding_side="left",
    ),
    "Qwen2Tokenizer": _pair(
        _bytes(NFC, (parts.split(_QWEN2),), use_regex=False),
        same("<|endoftext|>", "eos", "unk", "pad"),
    ),
    "Qwen3_5Tokenizer": _pair(
        _bytes(NFC, (parts.split(_QWEN35),), use_regex=False),
        same("<|endoftext|>", "eos", "unk", "pad"),
    ),
    "WhisperTokenizer": _pair(
        template=(
            "<|startoftranscript|> task A eos_token",
            "<|startoftranscript|> task A B:1 eos_token:1",
        ),
    ),
    "RobertaTokenizer": _pair(None, ROBERTA_ROLES, ROBERTA, trims=True),
    "BlenderbotTokenizer": _pair(_bytes(prefix=True), ROBERTA_ROLES, mask_lstrip=True, prefix=True),
    "LayoutLMv3Tokenizer": _pair(
        _bytes(prefix=True), ROBERTA_ROLES, ROBERTA, trims=True, prefix=True
    ),
    "DebertaTokenizer": _pair(None, BERT_ENDS, ROBERTA),
    "CLIPTokenizer": _pair(
        _clip,
        same("<|endoftext|>", "eos", "pad", "unk") | same("<|startoftext|>", "bos"),
        ("bos_token A eos_token", "bos_token A eos_token eos_token B eos_token"),
        overrides=(),
    ),
    "OpenAIGPTTokenizer": _pair(
        _words_with_ends(_bert_step(None, lowercase=True)), same("<unk>", "unk"), overrides=()
    ),
    "HerbertTokenizer": _pair(
        _words_with_ends(_bert_step(strip_accents=False, lowercase=False)),
        {role: text for role, text in ROBERTA_ROLES.items() if role[:3] not in ("bos", "eos")},
        BERT,
        overrides=(),
    ),
    "BertTokenizer": _vocab_txt(),
    "DPRQuestionEncoderTokenizer": _vocab_txt(overrides=()),
    "LayoutLMv2Tokenizer": _vocab_txt(model_max_length=512),
    "FunnelTokenizer": _vocab_txt(
        XLNET_ROLES,
        ("cls_token:2 A sep_token", "cls_token:2 A sep_token B:1 sep_token:1"),
    ),
    "SplinterTokenizer": _vocab_txt(
        BERT_ROLES | same("[QUESTION]", "question"),
        ("cls_token A sep_token", "cls_token A question_token . sep_token B:1 sep_token:1"),
    ),
    "MPNetTokenizer": _vocab_txt(
        ROBERTA_ROLES | same("[UNK]", "unk"), ROBERTA, trims=True, mask_lstrip=True
    ),
    "ByT5Tokenizer": _byte_ids(
        same("<pad>", "pad") | same("</s>", "eos") | same("<unk>", "unk"),
        ("A eos_token", "A eos_token B eos_token"),
        strips=True,
        extra=lambda _: [f"<extra_id_{i}>" for i in range(125)],
    ),
    "PerceiverTokenizer": _byte_ids(
        same("[PAD]", "pad")
        | same("[BOS]", "bos")
        | same("[EOS]", "eos")
        | same("[MASK]", "mask")
        | same("[CLS]", "cls")
        | same("[SEP]", "sep"),
        ("cls_token A sep_token", "cls_token A sep_token B sep_token"),
        model_max_length=2048,
    ),
}
"""The classes of byte-level BPE, of WordPiece and of bytes, by name."""
