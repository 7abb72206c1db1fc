"""tokenizers' ready-made tokenizers: a ``Tokenizer`` with the components of a kind of model."""

from toksmith.compat.tokenizers.implementations.base_tokenizer import BaseTokenizer
from toksmith.compat.tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer
from toksmith.compat.tokenizers.implementations.byte_level_bpe import ByteLevelBPETokenizer
from toksmith.compat.tokenizers.implementations.char_level_bpe import CharBPETokenizer
from toksmith.compat.tokenizers.implementations.sentencepiece_bpe import SentencePieceBPETokenizer
from toksmith.compat.tokenizers.implementations.sentencepiece_unigram import (
    SentencePieceUnigramTokenizer,
)

__all__ = [
    "BaseTokenizer",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
]
