"""Byte-level BPE, as GPT-2 uses it."""

from __future__ import annotations

from typing import Any

from toksmith.compat.tokenizers import decoders, pre_tokenizers, processors, trainers
from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.implementations.base_tokenizer import (
    BaseTokenizer,
    given_options,
    joined_normalizer,
)
from toksmith.compat.tokenizers.models import BPE
from toksmith.compat.tokenizers.tokenizer import Tokenizer


class ByteLevelBPETokenizer(BaseTokenizer):
    """Byte-level BPE, as GPT-2 uses it.

    Args:
        vocab: the id of each token, or the path of a vocab.json.
        merges: the pairs that are merged, or the path of a merges.txt.
        add_prefix_space: put a space before each text.
        lowercase: lowercase texts.
        dropout: the probability that a merge is skipped; that of ``BPE``.
        unicode_normalizer: ``"nfc"``, ``"nfd"``, ``"nfkc"`` or ``"nfkd"``.
        continuing_subword_prefix: the mark of a token inside a word.
        end_of_word_suffix: the mark of a token at the end of a word.
        trim_offsets: leave spaces out of the offsets.

    Example:
        >>> tokenizer = ByteLevelBPETokenizer()
        >>> tokenizer.train_from_iterator(["low lower lowest"], vocab_size=259, show_progress=False)
        >>> tokenizer.encode("low").tokens
        ['low']
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | list[tuple[str, str]] | None = None,
        add_prefix_space: bool = False,
        lowercase: bool = False,
        dropout: float | None = None,
        unicode_normalizer: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        trim_offsets: bool = False,
    ) -> None:
        parameters = {"model": "ByteLevelBPE", **given_options(locals())}
        model = BPE()
        if vocab is not None and merges is not None:
            model = BPE(
                vocab,
                merges,
                dropout=dropout,
                continuing_subword_prefix=continuing_subword_prefix or "",
                end_of_word_suffix=end_of_word_suffix or "",
            )
        tokenizer = Tokenizer(model)
        tokenizer.normalizer = joined_normalizer(unicode_normalizer, False, lowercase)
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(
        vocab_filename: str, merges_filename: str, **options: Any
    ) -> ByteLevelBPETokenizer:
        """Return the tokenizer of a vocab.json and a merges.txt; options are those of the class."""
        return ByteLevelBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **options)

    def trainer(
        self,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: list[str | AddedToken] = [],  # noqa: B006  # a trainer copies it
    ) -> trainers.Trainer:
        """Return the trainer; options are those of ``BpeTrainer``."""
        return trainers.BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            show_progress=show_progress,
            special_tokens=special_tokens,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
