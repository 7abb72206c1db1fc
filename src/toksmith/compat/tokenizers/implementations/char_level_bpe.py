"""BPE of characters with a mark at the end of each word, as OpenAI GPT uses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toksmith.compat.tokenizers import decoders, pre_tokenizers, trainers
from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.implementations.base_tokenizer import (
    BaseTokenizer,
    bpe_model,
    given_options,
    joined_normalizer,
    mark_special,
)
from toksmith.compat.tokenizers.models import BPE
from toksmith.compat.tokenizers.tokenizer import Tokenizer


class CharBPETokenizer(BaseTokenizer):
    """BPE on characters with a mark at the end of words, as OpenAI's GPT uses it.

    Args:
        vocab: the id of each token, or the path of a vocab.json.
        merges: the pairs that are merged, or the path of a merges.txt.
        unk_token: the unknown token.
        suffix: the mark at the end of a word.
        dropout: the probability that a merge is skipped; that of ``BPE``.
        lowercase: lowercase texts.
        unicode_normalizer: ``"nfc"``, ``"nfd"``, ``"nfkc"`` or ``"nfkd"``.
        bert_normalizer: clean texts, and split Chinese characters.
        split_on_whitespace_only: do not split at punctuation.
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | list[tuple[str, str]] | None = None,
        unk_token: str | AddedToken = "<unk>",
        suffix: str = "</w>",
        dropout: float | None = None,
        lowercase: bool = False,
        unicode_normalizer: str | None = None,
        bert_normalizer: bool = True,
        split_on_whitespace_only: bool = False,
    ) -> None:
        parameters = {"model": "BPE", **given_options(locals())}
        options = {
            "dropout": dropout,
            "unk_token": str(unk_token),
            "end_of_word_suffix": suffix,
        }
        tokenizer = Tokenizer(bpe_model(vocab, merges, options))
        mark_special(tokenizer, [unk_token])
        tokenizer.normalizer = joined_normalizer(unicode_normalizer, bert_normalizer, lowercase)
        tokenizer.pre_tokenizer = (
            pre_tokenizers.WhitespaceSplit()
            if split_on_whitespace_only
            else pre_tokenizers.BertPreTokenizer()
        )
        tokenizer.decoder = decoders.BPEDecoder(suffix=suffix)
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **options: Any) -> CharBPETokenizer:
        """Return the tokenizer of a vocab.json and a merges.txt; options are those of the class."""
        return CharBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **options)

    def trainer(
        self,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: list[str | AddedToken] = ["<unk>"],  # noqa: B006  # a trainer copies it
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        suffix: str | None = "</w>",
        show_progress: bool = True,
    ) -> trainers.Trainer:
        """Return the trainer; options are those of ``BpeTrainer``."""
        return trainers.BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            special_tokens=special_tokens,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            end_of_word_suffix=suffix,
            show_progress=show_progress,
        )
