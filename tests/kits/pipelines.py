"""Small pipelines of every kind of model, for tests that cover all of them."""

from __future__ import annotations

import numpy as np

from tests.kits.bpe import pipeline
from tests.kits.character_bpe import merges
from tests.kits.sentencepiece import sentencepiece
from toksmith.decoders import BPEDecoder, Fuse, MetaspaceDecoder, WordPieceDecoder
from toksmith.decoders import Strip as DecoderStrip
from toksmith.formats.sentencepiece_pipeline import sentencepiece_pipeline
from toksmith.framing import AddedToken, Framing, Padding, Template, Truncation
from toksmith.models import (
    CharacterBPE,
    LongestMatch,
    SentencePieceBPE,
    Unigram,
    WordLevel,
    WordPiece,
)
from toksmith.normalizers import (
    Bert,
    Lowercase,
    Nmt,
    Replace,
    SentencePieceNormalizer,
    Strip,
    StripAccents,
    UnicodeForm,
)
from toksmith.pipeline import Pipeline
from toksmith.splitters import (
    BertSplitter,
    Digits,
    Metaspace,
    PatternSplitter,
    Punctuation,
    Split,
    SplitterSequence,
    UnicodeScripts,
    WhitespaceSplit,
)

MARK = "▁"
WORDS = PatternSplitter(r"\S+", gaps="drop")
LETTERS = tuple("abcdehlowr")
PIECES = (
    "<unk>",
    "<s>",
    "<u>",
    *LETTERS,
    MARK,
    "lo",
    "low",
    MARK + "low",
    "er",
    "ab",
    "abc",
    "hex",
)
TYPES = (2, 3, 4, *(1 for _ in LETTERS), 1, 1, 1, 1, 1, 1, 5, 1)
SCORES = (0, 0, 0, *(-9.0 - i / 4 for i in range(len(LETTERS))), -3, -1, -2, -4, -2.5, -6, -5, -7)


def utf8(tokens: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(token.encode() for token in tokens)


CHARACTERS = ("<unk>", *LETTERS, "lo", "low", "er")
MODELS = {
    "bpe": pipeline("gpt2"),
    "character-bpe": Pipeline(
        CharacterBPE(utf8(CHARACTERS), merges(CHARACTERS, "l o", "lo w", "e r"), unk_id=0), WORDS
    ),
    "sentencepiece-bpe": Pipeline(
        SentencePieceBPE(utf8(PIECES), np.array(SCORES), np.array(TYPES))
    ),
    "unigram": Pipeline(Unigram(utf8(PIECES), np.array(SCORES), np.array(TYPES))),
    "wordpiece": Pipeline(
        WordPiece(utf8(("[UNK]", "low", "lo", "##w", "##er", "##e", "a")), unk_id=0), WORDS
    ),
    "word": Pipeline(WordLevel(utf8(("<unk>", "low", "lower")), unk_id=0), WORDS),
    "longest-match": Pipeline(LongestMatch(utf8(("<unk>", *LETTERS, "low")), unk_id=0)),
}
"""One pipeline per kind of model, with the fewest other stages."""

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "low", "##er", "##e", "##r", "a", "b", ",", "日", "hex")
PLAIN = ("<unk>", "<s>", "</s>", *LETTERS, MARK, "lo", "low", MARK + "low", "er")
PLAIN_TYPES = (2, 3, 3, *(1 for _ in PLAIN[3:]))
PLAIN_SCORES = (0, 0, 0, *(-9.0 - i / 4 for i in range(len(LETTERS))), -3, -1, -2, -4, -2.5)


def plain_sentencepiece(kind: type[SentencePieceBPE] | type[Unigram]) -> Pipeline:
    """Return a pipeline without user-defined pieces, byte pieces or a character map."""
    model = kind(utf8(PLAIN), np.array(PLAIN_SCORES), np.array(PLAIN_TYPES), bos_id=1, eos_id=2)
    return sentencepiece_pipeline(model, SentencePieceNormalizer())


PIPELINES = {
    "bpe": pipeline("gpt2"),
    "bpe of another pattern": pipeline("[a-z]+|[0-9]| ", framing=Framing()),
    "bpe with a template": pipeline(
        "o200k", framing=Framing((AddedToken("<s>", 266),), prefix=(266,))
    ),
    "sentencepiece-bpe": sentencepiece(byte_fallback=True),
    "sentencepiece-unigram": sentencepiece(Unigram),
    "plain sentencepiece-bpe": plain_sentencepiece(SentencePieceBPE),
    "plain sentencepiece-unigram": plain_sentencepiece(Unigram),
    "tokenizers' unigram": Pipeline(
        Unigram(utf8(PLAIN), np.array(PLAIN_SCORES), np.array(PLAIN_TYPES), single=False),
        Metaspace(),
        Framing.of({"<s>": 1}),
        decoder=(MetaspaceDecoder(),),
    ),
    "wordpiece": Pipeline(
        WordPiece(utf8(BERT), 1),
        BertSplitter(),
        Framing(
            tuple(AddedToken(token, i) for i, token in enumerate(BERT[:4])),
            template=Template.bert(2, 3),
        ),
        normalizer=(Bert(),),
        decoder=(WordPieceDecoder(),),
    ),
    "character-bpe": MODELS["character-bpe"],
    "word": MODELS["word"],
    "char": Pipeline(LongestMatch(utf8(("<unk>", *LETTERS, " ")), unk_id=0)),
    "longest-match": MODELS["longest-match"],
    "all stages": Pipeline(
        WordLevel(utf8(("<unk>", "low", "er", ",", "1")), unk_id=0),
        SplitterSequence(
            (
                WhitespaceSplit(),
                Punctuation("isolated"),
                Digits(individual=True),
                Split("(?:ow)e", "merged-with-previous"),
                UnicodeScripts(),
            )
        ),
        Framing(
            (
                AddedToken("<s>", 5),
                AddedToken("New", 6, special=False, lstrip=True, normalized=True),
            ),
            template=Template.around((5,), ()),
            padding=Padding(length=4, id=5),
            truncation=Truncation(8, stride=2),
        ),
        normalizer=(
            UnicodeForm("NFKC"), Lowercase(), Replace("ö", "o"),
            Replace("[xy]+", "w", is_regex=True), StripAccents(), Nmt(), Strip(),
        ),
        decoder=(BPEDecoder(), DecoderStrip("<", 1, 1), Fuse()),
    ),
}  # fmt: skip
"""Pipelines as files hold them, with all their stages."""

TEXTS = (
    "",
    "low",
    "lower low",
    "abcabc lowe",
    f"{MARK}low{MARK}er<u>",
    "é 日本 a\u0301",
    "hex\x00 x",
)
