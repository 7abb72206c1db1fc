"""A Unigram model of text in which ▁ marks the spaces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toksmith._base import files as reading
from toksmith.compat.tokenizers import normalizers, trainers
from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.failures import TokenizersError
from toksmith.compat.tokenizers.implementations.base_tokenizer import (
    BaseTokenizer,
    given_options,
    set_metaspace,
)
from toksmith.compat.tokenizers.models import Unigram
from toksmith.compat.tokenizers.pattern import Regex
from toksmith.compat.tokenizers.tokenizer import Tokenizer
from toksmith.formats.sentencepiece_proto import model_class


class SentencePieceUnigramTokenizer(BaseTokenizer):
    """Unigram, with ▁ before each word.

    Args:
        vocab: each piece with its score.
        replacement: the mark.
        add_prefix_space: put a mark before each text too.
    """

    def __init__(
        self,
        vocab: list[tuple[str, float]] | None = None,
        replacement: str = "▁",
        add_prefix_space: bool = True,
    ) -> None:
        parameters = {"model": "SentencePieceUnigram", **given_options(locals())}
        tokenizer = Tokenizer(Unigram() if vocab is None else Unigram(vocab))
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
        )
        set_metaspace(tokenizer, replacement, add_prefix_space)
        super().__init__(tokenizer, parameters)

    def trainer(
        self,
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: list[str | AddedToken] | None = None,
        initial_alphabet: Sequence[str] | None = None,
        unk_token: str | None = None,
    ) -> trainers.Trainer:
        """Return the trainer; options are those of ``UnigramTrainer``."""
        return trainers.UnigramTrainer(
            vocab_size=vocab_size,
            special_tokens=[] if special_tokens is None else special_tokens,
            show_progress=show_progress,
            initial_alphabet=[] if initial_alphabet is None else initial_alphabet,
            unk_token=unk_token,
        )

    @staticmethod
    def from_spm(filename: str) -> SentencePieceUnigramTokenizer:
        """Return the tokenizer of a Unigram model of SentencePiece.

        Args:
            filename: the path of the .model.

        Raises:
            TokenizersError: it is of another kind.
        """
        path = Path(filename)
        from google.protobuf.message import DecodeError

        model = model_class()()
        try:
            model.ParseFromString(reading.read_bytes(path))
        except DecodeError as wrong:
            raise TokenizersError(f"{filename} is no model of SentencePiece") from wrong
        if model.trainer_spec.model_type != 1:
            raise TokenizersError(
                "You're trying to run a `Unigram` model but you're file was trained with a "
                "different algorithm"
            )
        made = SentencePieceUnigramTokenizer()
        made.model = Unigram(
            [(piece.piece, piece.score) for piece in model.pieces],
            model.trainer_spec.unk_id,
            model.trainer_spec.byte_fallback,
        )
        steps: list[Any] = [normalizers.Replace(Regex(" {2,}"), " ")]
        if model.normalizer_spec.precompiled_charsmap:
            steps.insert(0, normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap))
        made.normalizer = normalizers.Sequence(steps)
        return made
