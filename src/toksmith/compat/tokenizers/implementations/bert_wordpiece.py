"""BERT's tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toksmith.compat.tokenizers import decoders, normalizers, pre_tokenizers, processors, trainers
from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.failures import ComponentTypeError
from toksmith.compat.tokenizers.implementations.base_tokenizer import (
    BaseTokenizer,
    given_options,
    mark_special,
)
from toksmith.compat.tokenizers.models import WordPiece
from toksmith.compat.tokenizers.tokenizer import Tokenizer

_BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class BertWordPieceTokenizer(BaseTokenizer):
    """WordPiece, as BERT uses it.

    Args:
        vocab: the id of each token, or the path of a vocab.txt.
        unk_token: the unknown token.
        sep_token: the token after each text.
        cls_token: the token before the first text.
        pad_token: the padding token.
        mask_token: the token of a hidden word.
        clean_text: remove control characters.
        handle_chinese_chars: split Chinese characters.
        strip_accents: remove accents; ``None``: if lowercase.
        lowercase: lowercase texts.
        wordpieces_prefix: the mark of a token inside a word.
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        unk_token: str | AddedToken = "[UNK]",
        sep_token: str | AddedToken = "[SEP]",
        cls_token: str | AddedToken = "[CLS]",
        pad_token: str | AddedToken = "[PAD]",
        mask_token: str | AddedToken = "[MASK]",
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        parameters = {"model": "BertWordPiece", **given_options(locals())}
        tokenizer = Tokenizer(WordPiece(vocab, unk_token=str(unk_token)))
        mark_special(tokenizer, [unk_token, sep_token, cls_token, pad_token, mask_token])
        tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text=clean_text,
            handle_chinese_chars=handle_chinese_chars,
            strip_accents=strip_accents,
            lowercase=lowercase,
        )
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        if vocab is not None:
            pairs = []
            for name, token in (("sep_token", str(sep_token)), ("cls_token", str(cls_token))):
                token_id = tokenizer.token_to_id(token)
                if token_id is None:
                    raise ComponentTypeError(f"{name} not found in the vocabulary")
                pairs.append((token, token_id))
            tokenizer.post_processor = processors.BertProcessing(*pairs)
        tokenizer.decoder = decoders.WordPiece(prefix=wordpieces_prefix)
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab: str, **options: Any) -> BertWordPieceTokenizer:
        """Return the tokenizer of a vocab.txt; options are those of the class."""
        return BertWordPieceTokenizer(WordPiece.read_file(vocab), **options)

    def trainer(
        self,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        special_tokens: list[str | AddedToken] = [*_BERT_TOKENS],  # noqa: B006  # a trainer copies it
        show_progress: bool = True,
        wordpieces_prefix: str = "##",
    ) -> trainers.Trainer:
        """Return the trainer; options are those of ``WordPieceTrainer``."""
        return trainers.WordPieceTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            special_tokens=special_tokens,
            show_progress=show_progress,
            continuing_subword_prefix=wordpieces_prefix,
        )
