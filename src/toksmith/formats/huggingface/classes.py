"""The tokenizer classes of ``transformers``: what each makes of its vocabulary files.

A folder without tokenizer.json holds the vocabulary alone; the class in ``tokenizer_config.json``
determines the normalizer, the pre-tokenizer, the special tokens and the template. The rules are
those of ``transformers`` 5 (``models/*/tokenization_*.py``), which builds a ``tokenizers`` pipeline
for each class. So every class is written here as the parts of a tokenizer.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toksmith._base.records import dataclass, field
from toksmith.formats.huggingface import class_parts as parts
from toksmith.formats.huggingface.class_parts import Step
from toksmith.formats.huggingface.declared import Declared
from toksmith.formats.huggingface.folder_vocabulary import Merges, Pieces, Words

PAIR = ("vocab.json", "merges.txt")
"""The files of byte-level BPE."""

_MODELS = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model")
_PLAIN = ("A", "A B:1")
_BERT = ("cls_token A sep_token", "cls_token A sep_token B:1 sep_token:1")
_ROBERTA = ("cls_token A sep_token", "cls_token A sep_token sep_token B sep_token")
_FAIRSEQ = ("bos_token A eos_token", "bos_token A eos_token eos_token B eos_token")
_EOS = ("A eos_token", "A eos_token B eos_token")


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
        files: the names of its vocabulary file; several alternatives for a SentencePiece model.
        build: makes the parts of a tokenizer.json of the configuration and the vocabulary; ``None``
            if the vocabulary file alone determines them.
        roles: the literals of its special tokens, unless a file names others.
        template: the templates of one text and of two; ``None`` if ``add_bos_token`` and
            ``add_eos_token`` decide.
        add_bos: whether the beginning token is put before a text if no file says so.
        trims: whether the spans of tokens leave out spaces, as RoBERTa's do.
        mask_lstrip: whether the mask token takes the space before it.
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
    extra: Callable[[Declared], list[str]] = lambda _: []
    model_max_length: int | None = None
    padding_side: str = "right"
    overrides: tuple[str, ...] = ()
    prefix: bool = False


def _same(literal: str, *roles: str) -> dict[str, str]:
    return dict.fromkeys((f"{role}_token" for role in roles), literal)


_GPT2_ROLES = _same("<|endoftext|>", "bos", "eos", "unk")
_ROBERTA_ROLES = (
    _same("<s>", "bos", "cls") | _same("</s>", "eos", "sep") | _same("<unk>", "unk")
    | _same("<pad>", "pad") | _same("<mask>", "mask")
)  # fmt: skip
_BERT_ROLES = (
    _same("[UNK]", "unk") | _same("[SEP]", "sep") | _same("[PAD]", "pad") | _same("[CLS]", "cls")
    | _same("[MASK]", "mask")
)  # fmt: skip
_BERT_ENDS = _BERT_ROLES | _same("[CLS]", "bos") | _same("[SEP]", "eos")
_LLAMA_ROLES = _same("<s>", "bos") | _same("</s>", "eos") | _same("<unk>", "unk")
_T5_ROLES = _same("</s>", "eos") | _same("<unk>", "unk") | _same("<pad>", "pad")
_GEMMA_ROLES = (
    _same("<bos>", "bos") | _same("<eos>", "eos") | _same("<unk>", "unk") | _same("<pad>", "pad")
    | _same("<mask>", "mask")
)  # fmt: skip
_XLNET_ROLES = _LLAMA_ROLES | (
    _same("<sep>", "sep") | _same("<pad>", "pad") | _same("<cls>", "cls") | _same("<mask>", "mask")
)
_ALBERT_ROLES = _BERT_ENDS | _same("<unk>", "unk") | _same("<pad>", "pad")

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
    roles: Mapping[str, str] = _GPT2_ROLES,
    template: tuple[str, str] | None = None,
    **rules: Any,
) -> TokenizerClass:
    rules = {"overrides": ("add_prefix_space",)} | rules
    return TokenizerClass(PAIR, build or _bytes(), roles, template, **rules)


_NFC = parts.step("NFC")
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
        unk = _role(declared, "unk_token", "<unk>")
        model = vocabulary.model(unk_token=unk, end_of_word_suffix="</w>")
        decoder = parts.step("BPEDecoder", suffix="</w>")
        return Build(model, normalizer, parts.step("BertPreTokenizer"), decoder)

    return build


def _role(declared: Declared, role: str, default: str) -> str:
    named = declared.named.get(role)
    return default if named is None else named.content


def _bert_step(strip_accents: bool | None, lowercase: bool) -> Step:
    flags = {"clean_text": True, "handle_chinese_chars": True}
    return parts.step("BertNormalizer", **flags, strip_accents=strip_accents, lowercase=lowercase)


# WordPiece


def _wordpiece(unk: str) -> Callable[[Declared, Words], Build]:
    def build(declared: Declared, vocabulary: Words) -> Build:
        default = unk if unk in vocabulary.ids else "[UNK]"
        model = vocabulary.model(_role(declared, "unk_token", default))
        cut = parts.step("BertPreTokenizer")
        decoder = parts.step("WordPiece", prefix="##", cleanup=True)
        return Build(model, parts.bert_normalizer(declared), cut, decoder)

    return build


_BERT_FLAGS = ("do_lower_case", "strip_accents", "tokenize_chinese_chars")


def _vocab_txt(
    roles: Mapping[str, str] = _BERT_ROLES,
    template: tuple[str, str] = _BERT,
    **rules: Any,
) -> TokenizerClass:
    rules = {"overrides": _BERT_FLAGS} | rules
    return TokenizerClass(("vocab.txt",), _wordpiece(roles["unk_token"]), roles, template, **rules)


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
    _NFC,
    parts.step("Strip", strip_left=False, strip_right=True),
)


def _deberta_v2(declared: Declared, vocabulary: Pieces) -> Build:
    lower = [parts.step("Lowercase")] if declared.flag("do_lower_case") else []
    scheme = "always" if declared.flag("add_prefix_space", True) else "first"
    punctuation = parts.step("Punctuation", behavior="Isolated")
    before = [punctuation] if declared.flag("split_by_punct") else []
    unk = (_role(declared, "unk_token", "[UNK]"), 0.0)
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
        raise entry.refusal()
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
    roles: Mapping[str, str] = _ROBERTA_ROLES,
    template: tuple[str, str] | None = None,
    **rules: Any,
) -> TokenizerClass:
    return TokenizerClass(_MODELS, build, roles, template, **rules)


_FAIRSEQ_HEAD = ("<s>", "<pad>", "</s>", "<unk>")
_T5 = _unigram(_mapped, words=True, tail=_extra_ids_down, unk_id=2)

# SentencePiece's BPE


def _llama(unk: bool) -> Callable[[Declared, Pieces], Build]:
    def build(declared: Declared, vocabulary: Pieces) -> Build:
        prefix = declared.flag("add_prefix_space", True)
        scheme = "never" if not prefix else "always" if declared.flag("legacy") else "first"
        model = vocabulary.model(
            byte_fallback=True,
            unk_token=_role(declared, "unk_token", "<unk>") if unk else None,
        )
        cut = parts.metaspace(scheme, split=False)
        return Build(model, None, cut, parts.byte_fallback_decoder(strips=prefix))

    return build


def _gemma(*before: Step) -> Callable[[Declared, Pieces], Build]:
    def build(declared: Declared, vocabulary: Pieces) -> Build:
        unk = _role(declared, "unk_token", "<unk>")
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
    unk = _role(declared, "unk_token", "<unk>")
    model = vocabulary.model(byte_fallback=False, unk_token=unk)
    return Build(model, None, parts.metaspace(), _decode("always"))


_CODE_LLAMA = ("\u2581<PRE>", "\u2581<MID>", "\u2581<SUF>", "\u2581<EOT>", "<FILL_ME>")

CLASSES: dict[str, TokenizerClass] = {
    "GPT2Tokenizer": _pair(),
    "GPTNeoXTokenizer": _pair(_bytes(_NFC), _GPT2_ROLES | _same("<|padding|>", "pad")),
    "CohereTokenizer": _pair(
        _bytes(_NFC, (parts.step("Digits", individual_digits=True),)),
        _same("<BOS_TOKEN>", "bos")
        | _same("<|END_OF_TURN_TOKEN|>", "eos")
        | _same("<UNK>", "unk")
        | _same("<SEP>", "sep")
        | _same("<PAD>", "pad")
        | _same("<CLS>", "cls")
        | _same("<MASK_TOKEN>", "mask"),
        padding_side="left",
    ),
    "Qwen2Tokenizer": _pair(
        _bytes(_NFC, (parts.split(_QWEN2),), use_regex=False),
        _same("<|endoftext|>", "eos", "unk", "pad"),
    ),
    "Qwen3_5Tokenizer": _pair(
        _bytes(_NFC, (parts.split(_QWEN35),), use_regex=False),
        _same("<|endoftext|>", "eos", "unk", "pad"),
    ),
    "WhisperTokenizer": _pair(
        template=(
            "<|startoftranscript|> task A eos_token",
            "<|startoftranscript|> task A B:1 eos_token:1",
        ),
    ),
    "RobertaTokenizer": _pair(None, _ROBERTA_ROLES, _ROBERTA, trims=True),
    "BlenderbotTokenizer": _pair(
        _bytes(prefix=True), _ROBERTA_ROLES, mask_lstrip=True, prefix=True
    ),
    "LayoutLMv3Tokenizer": _pair(
        _bytes(prefix=True), _ROBERTA_ROLES, _ROBERTA, trims=True, prefix=True
    ),
    "DebertaTokenizer": _pair(None, _BERT_ENDS, _ROBERTA),
    "OpenAIGPTTokenizer": _pair(
        _words_with_ends(_bert_step(None, lowercase=True)), _same("<unk>", "unk"), overrides=()
    ),
    "HerbertTokenizer": _pair(
        _words_with_ends(_bert_step(strip_accents=False, lowercase=False)),
        {role: text for role, text in _ROBERTA_ROLES.items() if role[:3] not in ("bos", "eos")},
        _BERT,
        overrides=(),
    ),
    "BertTokenizer": _vocab_txt(),
    "DPRQuestionEncoderTokenizer": _vocab_txt(overrides=()),
    "LayoutLMv2Tokenizer": _vocab_txt(model_max_length=512),
    "FunnelTokenizer": _vocab_txt(
        _XLNET_ROLES,
        ("cls_token:2 A sep_token", "cls_token:2 A sep_token B:1 sep_token:1"),
    ),
    "SplinterTokenizer": _vocab_txt(
        _BERT_ROLES | _same("[QUESTION]", "question"),
        ("cls_token A sep_token", "cls_token A question_token . sep_token B:1 sep_token:1"),
    ),
    "MPNetTokenizer": _vocab_txt(
        _ROBERTA_ROLES | _same("[UNK]", "unk"), _ROBERTA, trims=True, mask_lstrip=True
    ),
    "AlbertTokenizer": _pieces(  # as in transformers 4; 5 fails on its SentencePiece model
        _unigram(_albert, words=False), _ALBERT_ROLES, _BERT
    ),
    "BarthezTokenizer": _pieces(
        _unigram(_fixed(*_SPACES_NFC), words=False, unk_id=3), mask_lstrip=True
    ),
    "BigBirdTokenizer": _pieces(
        _unigram(_fixed(parts.regex(" {2,}", "\u2581")), words=False),
        _LLAMA_ROLES
        | _same("<pad>", "pad")
        | _same("[SEP]", "sep")
        | _same("[CLS]", "cls")
        | _same("[MASK]", "mask"),
        _BERT,
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
        template=_FAIRSEQ,
        mask_lstrip=True,
    ),
    "DebertaV2Tokenizer": _pieces(_deberta_v2, _BERT_ENDS, _BERT),
    "LayoutXLMTokenizer": _pieces(
        _unigram(
            _fixed(_SPACES_NFC[2], parts.regex(" {2,}", "\u2581")),
            words=False,
            head=_FAIRSEQ_HEAD,
            drop=3,
            tail=lambda _: ["<mask>"],
            unk_id=3,
        ),
        template=_ROBERTA,
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
        {role: text for role, text in _ROBERTA_ROLES.items() if role != "bos_token"},
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
        _T5_ROLES | _same("<mask_2>", "mask"),
        ("A eos_token", "A B eos_token"),
        extra=lambda _: _PEGASUS,
    ),
    "RemBertTokenizer": _pieces(
        _unigram(_quotes(True, False, spaces=True), words=False, unk_id=2), _ALBERT_ROLES
    ),
    "T5Tokenizer": _pieces(_T5, _T5_ROLES, _EOS, extra=_extra_ids),
    "UdopTokenizer": _pieces(
        _unigram(_fixed(), words=True), _T5_ROLES | _same("</s>", "sep"), _EOS
    ),
    "VideoPrismTokenizer": _pieces(_T5, _T5_ROLES, _PLAIN, extra=_extra_ids),
    "XLMRobertaTokenizer": _pieces(
        _unigram(
            _mapped, words=True, head=_FAIRSEQ_HEAD, drop=3, tail=lambda _: ["<mask>"], unk_id=3
        ),
        template=_FAIRSEQ,
    ),
    "XLNetTokenizer": _pieces(
        _unigram(_quotes(False, False), words=True, unk_id=0),
        _XLNET_ROLES,
        ("A sep_token cls_token:2", "A sep_token B:1 sep_token:1 cls_token:2"),
        padding_side="left",
        mask_lstrip=True,
    ),
    "LlamaTokenizer": _pieces(_llama(unk=False), _LLAMA_ROLES, padding_side="left"),
    "CodeLlamaTokenizer": _pieces(
        _llama(unk=True),
        _LLAMA_ROLES,
        add_bos=True,
        padding_side="left",
        extra=lambda _: list(_CODE_LLAMA),
    ),
    "FNetTokenizer": _pieces(None, _ALBERT_ROLES | _same("<s>", "bos") | _same("</s>", "eos")),
    "GemmaTokenizer": _pieces(_gemma(), _GEMMA_ROLES, padding_side="left"),
    "Siglip2Tokenizer": _pieces(_gemma(parts.step("Lowercase")), _GEMMA_ROLES, padding_side="left"),
    "ReformerTokenizer": _pieces(_reformer, _same("</s>", "eos") | _same("<unk>", "unk")),
}
"""The classes whose vocabulary files toksmith reads, by name."""

ALIASES: dict[str, str] = {
    alias: name
    for name, aliases in {
        "GPT2Tokenizer": ("CodeGenTokenizer",),
        "RobertaTokenizer": (
            *("BartTokenizer", "LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"),
        ),
        "BertTokenizer": (
            *("ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"),
            *("LayoutLMTokenizer", "LxmertTokenizer", "MobileBertTokenizer", "NezhaTokenizer"),
            *("RealmTokenizer", "RetriBertTokenizer", "SqueezeBertTokenizer"),
        ),
        "DPRQuestionEncoderTokenizer": ("DPRContextEncoderTokenizer", "DPRReaderTokenizer"),
        "Qwen2Tokenizer": ("Qwen3Tokenizer",),
    }.items()
    for alias in aliases
}
"""Further names of the classes."""


ANY_FILE = (
    *("PreTrainedTokenizer", "TokenizersBackend", "PythonBackend", "SentencePieceBackend"),
    *("BertGenerationTokenizer", "BloomTokenizer", "MistralCommonBackend", "ParakeetTokenizer"),
)
"""Classes without rules of their own: the vocabulary file alone determines the tokenizer."""

_OWN_CODE = "it runs Python code of its own, which no file describes"
UNREAD: dict[str, str] = {
    "BartphoTokenizer": "its ids are those of dict.txt, not of its SentencePiece model",
    "BertJapaneseTokenizer": "it cuts words with MeCab, Sudachi or Juman++",
    "BertweetTokenizer": "it rewrites tweets with Python code, and its ids are those of vocab.txt",
    "BioGptTokenizer": "it cuts words with Moses",
    "BlenderbotSmallTokenizer": _OWN_CODE,
    "CLIPTokenizer": "its byte-level BPE marks the ends of words",
    "CTRLTokenizer": _OWN_CODE,
    "CanineTokenizer": "it has no vocabulary: ids are code points",
    "ClvpTokenizer": "it spells numbers and abbreviations out",
    "CpmAntTokenizer": "it cuts words with jieba",
    "CpmTokenizer": "it cuts words with jieba",
    "DiaTokenizer": "it has no vocabulary file: ids are bytes and speaker tags",
    "ByT5Tokenizer": "it has no vocabulary file: ids are bytes",
    "EsmTokenizer": "its vocab.txt is a list of amino acids without rules",
    "EsmcTokenizer": "it has no vocabulary file but tokenizer.json",
    "FSMTTokenizer": "it cuts words with Moses, and has two vocabularies",
    "FastSpeech2ConformerTokenizer": "it turns words into phonemes",
    "FlaubertTokenizer": "it cuts words with Moses",
    "GPTNeoXJapaneseTokenizer": _OWN_CODE,
    "GPTSw3Tokenizer": _OWN_CODE,
    "LasrTokenizer": "transformers numbers its unknown token differently from its model",
    "LukeTokenizer": "it has a second vocabulary, of entities",
    "M2M100Tokenizer": "its ids are those of vocab.json, not of its SentencePiece model",
    "MLukeTokenizer": "it has a second vocabulary, of entities",
    "MarianTokenizer": "it has two SentencePiece models, and its ids are those of vocab.json",
    "MarkupLMTokenizer": "it reads HTML nodes, not text",
    "MgpstrTokenizer": "it only decodes",
    "MyT5Tokenizer": "it rewrites bytes by a table of its own",
    "NllbTokenizer": "its languages are not in its SentencePiece model",
    "NougatTokenizer": "it has no vocabulary file but tokenizer.json",
    "PLBartTokenizer": "its languages are not in its SentencePiece model",
    "PerceiverTokenizer": "it has no vocabulary file: ids are bytes",
    "PhobertTokenizer": "its merges and ids are in two files that no other class has",
    "ProphetNetTokenizer": _OWN_CODE,
    "RagTokenizer": "it is two tokenizers: load the folder of each",
    "RoCBertTokenizer": "it has vocabularies of shapes and sounds besides",
    "RoFormerTokenizer": "it cuts words with jieba",
    "SeamlessM4TTokenizer": "its languages are not in its SentencePiece model",
    "SiglipTokenizer": _OWN_CODE,
    "Speech2TextTokenizer": "its ids are those of vocab.json, not of its SentencePiece model",
    "SpeechT5Tokenizer": _OWN_CODE,
    "TapasTokenizer": "it reads tables, not text",
    "Tipsv2Tokenizer": "it has no vocabulary file but tokenizer.json",
    "VitsTokenizer": "it turns words into phonemes",
    "Wav2Vec2CTCTokenizer": "it only decodes",
    "Wav2Vec2PhonemeCTCTokenizer": "it turns words into phonemes",
    "XGLMTokenizer": "it has no vocabulary file but tokenizer.json",
    "XLMTokenizer": "it cuts words with Moses",
}
"""The reason why toksmith does not read the vocabulary files of a class.

With a tokenizer.json in the folder, which holds all rules, most of these classes are read.
"""


def find_class(name: str) -> TokenizerClass | None:
    """Return the rules of a class; ``None`` if toksmith does not know its vocabulary files."""
    return CLASSES.get(ALIASES.get(name, name))
