"""BPE of text in which ▁ marks the spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toksmith.compat.tokenizers import normalizers, trainers
from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.implementations.base_tokenizer import (
    BaseTokenizer,
    bpe_model,
    given_options,
    mark_special,
    set_metaspace,
)
from toksmith.compat.tokenizers.models import BPE
from toksmith.compat.tokenizers.tokenizer import Tokenizer


class SentencePieceBPETokenizer(BaseTokenizer):
    """BPE on characters, with ▁ before each word.

    Args:
        vocab: the id of each token, or the path of a vocab.json.
        merges: the pairs that are merged, or the path of a merges.txt.
        unk_token: the unknown token.
        replacement: the mark.
        add_prefix_space: put a mark before each text too.
        dropout: the probability that a merge is skipped; that of ``BPE``.
        fuse_unk: consecutive unknown characters are one token.
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | list[tuple[str, str]] | None = None,
        unk_token: str | AddedToken = "<unk>",
        replacement: str = "▁",
        add_prefix_space: bool = True,
        dropout: float | None = None,
        fuse_unk: bool | None = False,
    ) -> None:
        parameters = {"model": "SentencePieceBPE", **given_options(locals())}
        del parameters["fuse_unk"]
        options = {"dropout": dropout, "unk_token": unk_token, "fuse_unk": fuse_unk}
        tokenizer = Tokenizer(bpe_model(vocab, merges, options))
        mark_special(tokenizer, [unk_token])
        tokenizer.normalizer = normalizers.NFKC()
        set_metaspace(tokenizer, replacement, add_prefix_space)
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(
        vocab_filename: str, merges_filename: str, **options: Any
    ) -> SentencePieceBPETokenizer:
        """Return the tokenizer of a vocab.json and a merges.txt; options are those of the class."""
        return SentencePieceBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **options)

    def trainer(
        self,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: list[str | AddedToken] = ["<unk>"],  # noqa: B006  # a trainer copies it
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        show_progress: bool = True,
    ) -> trainers.Trainer:
        """Return the trainer; options are those of ``BpeTrainer``."""
        return trainers.BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            special_tokens=special_tokens,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            show_progress=show_progress,
        )
