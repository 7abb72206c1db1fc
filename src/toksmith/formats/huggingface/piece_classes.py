"""The tokenizer classes of ``transformers`` for SentencePiece models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toksmith.formats.huggingface import class_parts as parts
from toksmith.formats.huggingface.class_parts import Step
from toksmith.formats.huggingface.class_rules import (
    ALBERT_ROLES,
    BERT,
    BERT_ENDS,
    EOS,
    FAIRSEQ,
    GEMMA_ROLES,
    LLAMA_ROLES,
    MODELS,
    NFC,
    PLAIN,
    ROBERTA,
    ROBERTA_ROLES,
    T5_ROLES,
    XLNET_ROLES,
    Build,
    TokenizerClass,
    role_literal,
    same,
)
from toksmith.formats.huggingface.declared import Declared
from toksmith.formats.huggingface.folder_vocabulary import Pieces

# SentencePiece's Unigram


def _decode(scheme: str) -> Step:
    return parts.metaspace(scheme)


def _scheme(declared: Declared) -> str:
    return "always" if declared.flag("add_prefix_space", True) else "never"


def _unigram(
    normalizer: Callable[[Declared, bytes], list[Step]],
    words: bool,
    head: tuple[str, ...] = (),
    drop: int = 0,
    tail: Callable[[Declared], list[str]] = lambda _: [],
    unk_id: int | None = None,
) -> Callable[[Declared, Pieces], Build]:
    """Return the rules of a Unigram model.

    Args:
        normalizer: makes the steps of the configuration and the model's character map.
        words: whether to cut at white space before spaces become ▁.
        head: pieces that replace the first ``drop`` pieces of the model.
        drop: their number.
        tail: makes the pieces after those of the model.
        unk_id: the id of the unknown piece; ``None`` for that of the model.
    """

    def build(declared: Declared, vocabulary: Pieces) -> Build:
        pieces = [*((piece, 0.0) for piece in head), *vocabulary.scored[drop:]]
        pieces += [(piece, 0.0) for piece in tail(declared)]
        scheme = _scheme(declared)
        cut = parts.words_metaspace(scheme) if words else parts.metaspace(scheme)
        unknown = vocabulary.unk_id if unk_id is None else unk_id
        steps = normalizer(declared, vocabulary.charsmap)
        return Build(
            parts.unigram(pieces, unknown), parts.normalizers(*steps), cut, _decode(scheme)
        )

    return build


def _mapped(_: Declared, charsmap: bytes) -> list[Step]:
    return parts.precompiled(charsmap)


def _pegasus(_: Declared, charsmap: bytes) -> list[Step]:
    first = parts.precompiled(charsmap) or [parts.regex(r"\n", " ")]
    return [*first, parts.regex(" {2,}", " ")]


def _mapped_spaces(_: Declared, charsmap: bytes) -> list[Step]:
    return [*parts.precompiled(charsmap), parts.regex(" {2,}", " ")]


def _fixed(*steps: Step) -> Callable[[Declared, bytes], list[Step]]:
    return lambda _declared, _charsmap: list(steps)


def _quotes(
    keeps_accents: bool, lowercase: bool, spaces: bool = False
) -> Callable[[Declared, bytes], list[Step]]:
    """Return ALBERT's normalizer: plain quotes, then the flags of the configuration."""

    def steps(declared: Declared, charsmap: bytes) -> list[Step]:
        found = [parts.literal("``", '"'), parts.literal("''", '"')]
        if spaces:
            found.append(parts.regex(" {2,}", " "))
        if not declared.flag("keep_accents", keeps_accents):
            found += [parts.step("NFKD"), parts.step("StripAccents")]
        if declared.flag("do_lower_case", lowercase):
            found.append(parts.step("Lowercase"))
        return [*found, *parts.precompiled(charsmap)]

    return steps


def _albert(declared: Declared, charsmap: bytes) -> list[Step]:
    return [*_quotes(False, True)(declared, charsmap), parts.regex(" {2,}", " ")]


_SPACES_NFC = (
    parts.regex(r"\s{2,}|[\n\r\t]", " "),
    NFC,
    parts.step("Strip", strip_left=False, strip_right=True),
)


def _deberta_v2(declared: Declared, vocabulary: Pieces) -> Build:
    lower = [parts.step("Lowercase")] if declared.flag("do_lower_case") else []
    scheme = "always" if declared.flag("add_prefix_space", True) else "first"
    punctuation = parts.step("Punctuation", behavior="Isolated")
    before = [punctuation] if declared.flag("split_by_punct") else []
    unk = (role_literal(declared, "unk_token", "[UNK]"), 0.0)
    unk_id = vocabulary.scored.index(unk) if unk in vocabulary.scored else vocabulary.unk_id
    return Build(
        parts.unigram(vocabulary.scored, unk_id),
        parts.normalizers(*lower, *_SPACES_NFC),
        parts.pre_tokenizers(*before, parts.metaspace(scheme)),
        _decode(scheme),
    )


_MOST_SENTINELS = 65_536


def _extra_ids(declared: Declared) -> list[str]:
    """Return T5's sentinels, ``<extra_id_0>`` first."""
    entry = declared.config.get("extra_ids")
    count = 100 if entry.value is None else entry.token_id()
    if count > _MOST_SENTINELS:
        raise entry.refusal(f"there are {_MOST_SENTINELS:,} at most")
    return [f"<extra_id_{i}>" for i in range(count)]


def _extra_ids_down(declared: Declared) -> list[str]:
    return _extra_ids(declared)[::-1]


_PEGASUS = ["<mask_1>", *(f"<unk_{i}>" for i in range(2, 103))]


_MBART = [
    *("ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN"),
    *("it_IT", "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO"),
    *("ru_RU", "si_LK", "tr_TR", "vi_VN", "zh_CN"),
]
_MBART50 = [
    *_MBART,
    *("af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH", "mk_MK"),
    *("ml_IN", "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN"),
    *("th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"),
]


def _languages(codes: list[str]) -> Callable[[Declared], list[str]]:
    return lambda _: [*codes, "<mask>"]


def _pieces(
    build: Callable[[Declared, Pieces], Build] | None,
    roles: Mapping[str, str] = ROBERTA_ROLES,
    template: tuple[str, str] | None = None,
    **rules: Any,
) -> TokenizerClass:
    return TokenizerClass(MODELS, build, roles, template, **rules)


_FAIRSEQ_HEAD = ("<s>", "<pad>", "</s>", "<unk>")
_T5 = _unigram(_mapped, words=True, tail=_extra_ids_down, unk_id=2)

# SentencePiece's BPE


def _llama(unk: bool) -> Callable[[Declared, Pieces], Build]:
    def build(declared: Declared, vocabulary: Pieces) -> Build:
        prefix = declared.flag("add_prefix_space", True)
        scheme = "never" if not prefix else "always" if declared.flag("legacy") else "first"
        model = vocabulary.model(
            byte_fallback=True,
            unk_token=role_literal(declared, "unk_token", "<unk>") if unk else None,
        )
        cut = parts.metaspace(scheme, split=False)
        return Build(model, None, cut, parts.byte_fallback_decoder(strips=prefix))

    return build


def _gemma(*before: Step) -> Callable[[Declared, Pieces], Build]:
    def build(declared: Declared, vocabulary: Pieces) -> Build:
        unk = role_literal(declared, "unk_token", "<unk>")
        model = vocabulary.model(byte_fallback=True, unk_token=unk)
        marks = parts.literal(" ", "\u2581")
        cut = {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        }
        normalizer = parts.normalizers(*before, marks) if before else marks
        return Build(model, normalizer, cut, parts.byte_fallback_decoder(strips=False))

    return build


def _reformer(declared: Declared, vocabulary: Pieces) -> Build:
    unk = role_literal(declared, "unk_token", "<unk>")
    model = vocabulary.model(byte_fallback=False, unk_token=unk)
    return Build(model, None, parts.metaspace(), _decode("always"))


_CODE_LLAMA = ("\u2581<PRE>", "\u2581<MID>", "\u2581<SUF>", "\u2581<EOT>", "<FILL_ME>")

CLASSES: dict[str, TokenizerClass] = {
    "AlbertTokenizer": _pieces(  # as in transformers 4; 5 fails on its SentencePiece model
        _unigram(_albert, words=False), ALBERT_ROLES, BERT
    ),
    "BarthezTokenizer": _pieces(
        _unigram(_fixed(*_SPACES_NFC), words=False, unk_id=3), mask_lstrip=True
    ),
    "BigBirdTokenizer": _pieces(
        _unigram(_fixed(parts.regex(" {2,}", "\u2581")), words=False),
        LLAMA_ROLES
        | same("<pad>", "pad")
        | same("[SEP]", "sep")
        | same("[CLS]", "cls")
        | same("[MASK]", "mask"),
        BERT,
        mask_lstrip=True,
    ),
    "CamembertTokenizer": _pieces(
        _unigram(
            _mapped,
            words=True,
            drop=1,
            tail=lambda _: ["<mask>"],
            unk_id=3,
            head=("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"),
        ),
        template=FAIRSEQ,
        mask_lstrip=True,
    ),
    "DebertaV2Tokenizer": _pieces(_deberta_v2, BERT_ENDS, BERT),
    "LayoutXLMTokenizer": _pieces(
        _unigram(
            _fixed(_SPACES_NFC[2], parts.regex(" {2,}", "\u2581")),
            words=False,
            head=_FAIRSEQ_HEAD,
            drop=3,
            tail=lambda _: ["<mask>"],
            unk_id=3,
        ),
        template=ROBERTA,
        mask_lstrip=True,
    ),
    "MBartTokenizer": _pieces(
        _unigram(
            _fixed(), words=True, head=_FAIRSEQ_HEAD, drop=3, tail=_languages(_MBART), unk_id=3
        ),
        template=("A eos_token src_lang", "A B eos_token src_lang"),
        extra=lambda _: _MBART,
        mask_lstrip=True,
    ),
    "MBart50Tokenizer": _pieces(
        _unigram(
            _mapped_spaces,
            words=False,
            head=_FAIRSEQ_HEAD,
            drop=3,
            tail=_languages(_MBART50),
            unk_id=3,
        ),
        {role: text for role, text in ROBERTA_ROLES.items() if role != "bos_token"},
        ("src_lang A eos_token", "src_lang A B eos_token"),
        extra=lambda _: _MBART50,
        mask_lstrip=True,
    ),
    "PegasusTokenizer": _pieces(
        _unigram(
            _pegasus,
            words=False,
            drop=2,
            unk_id=105,
            head=("<pad>", "</s>", "<mask_2>", *_PEGASUS),
        ),
        T5_ROLES | same("<mask_2>", "mask"),
        ("A eos_token", "A B eos_token"),
        extra=lambda _: _PEGASUS,
    ),
    "RemBertTokenizer": _pieces(
        _unigram(_quotes(True, False, spaces=True), words=False, unk_id=2), ALBERT_ROLES
    ),
    "T5Tokenizer": _pieces(_T5, T5_ROLES, EOS, extra=_extra_ids),
    "UdopTokenizer": _pieces(_unigram(_fixed(), words=True), T5_ROLES | same("</s>", "sep"), EOS),
    "VideoPrismTokenizer": _pieces(_T5, T5_ROLES, PLAIN, extra=_extra_ids),
    "XLMRobertaTokenizer": _pieces(
        _unigram(
            _mapped, words=True, head=_FAIRSEQ_HEAD, drop=3, tail=lambda _: ["<mask>"], unk_id=3
        ),
        template=FAIRSEQ,
    ),
    "XLNetTokenizer": _pieces(
        _unigram(_quotes(False, False), words=True, unk_id=0),
        XLNET_ROLES,
        ("A sep_token cls_token:2", "A sep_token B:1 sep_token:1 cls_token:2"),
        padding_side="left",
        mask_lstrip=True,
    ),
    "LlamaTokenizer": _pieces(
        _llama(unk=False), LLAMA_ROLES, padding_side="left", plain_pieces=True
    ),
    "CodeLlamaTokenizer": _pieces(
        _llama(unk=True),
        LLAMA_ROLES,
        add_bos=True,
        padding_side="left",
        plain_pieces=True,
        extra=lambda _: list(_CODE_LLAMA),
    ),
    "FNetTokenizer": _pieces(None, ALBERT_ROLES | same("<s>", "bos") | same("</s>", "eos")),
    "GemmaTokenizer": _pieces(_gemma(), GEMMA_ROLES, padding_side="left"),
    "Siglip2Tokenizer": _pieces(_gemma(parts.step("Lowercase")), GEMMA_ROLES, padding_side="left"),
    "ReformerTokenizer": _pieces(_reformer, same("</s>", "eos") | same("<unk>", "unk")),
}
"""The classes of SentencePiece models, by name."""
