"""tokenizers' models: the vocabularies that turn a word into tokens."""

from toksmith.compat.tokenizers.models.base import Model
from toksmith.compat.tokenizers.models.bpe import BPE
from toksmith.compat.tokenizers.models.unigram import Unigram
from toksmith.compat.tokenizers.models.word_models import WordLevel, WordPiece

__all__ = ["BPE", "Model", "Unigram", "WordLevel", "WordPiece"]
