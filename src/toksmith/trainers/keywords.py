"""The keyword arguments of ``train`` for each model, so that editors and type checkers know them.

They repeat the fields of the options' dataclasses, which hold the defaults and the help texts; a
test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from toksmith._base.text import Texts
from toksmith.corpus import AnyPath
from toksmith.loading import AnyTokenizer
from toksmith.trainers.given_counts import AnyCounts


class CommonKeywords(TypedDict, total=False):
    """Keyword arguments of ``train`` for every model."""

    vocab_size: int | None
    texts: Texts | None
    counts: AnyCounts | None
    continue_from: AnyTokenizer | None
    separator: str | None
    field: str
    read_as: str | None
    weights: Mapping[str, float] | None
    sample: float
    seed: int
    deduplicate: bool | str
    encoding_errors: str
    checkpoint: AnyPath | None
    memory: int | str | None
    spill_limit: int | str | None
    min_count: int
    threads: int | None
    progress: bool | None


class BPEKeywords(CommonKeywords, total=False):
    """Keyword arguments for ``"bpe"``."""

    split: str | None
    special_tokens: Sequence[str]
    ties: Literal["first-seen", "smallest-pair"]
    min_frequency: int
    max_token_length: int | None
    unit: Literal["bytes", "characters"]
    unk_token: str | None


class WordPieceKeywords(CommonKeywords, total=False):
    """Keyword arguments for ``"wordpiece"``."""

    objective: Literal["likelihood", "frequency"]
    min_frequency: int
    limit_alphabet: int | None
    initial_alphabet: str
    special_tokens: Sequence[str]
    unk_token: str
    prefix: str
    max_characters: int
    lowercase: bool
    strip_accents: bool | None
    normalize: bool
    split: str | None


class MetaspaceUnigramKeywords(CommonKeywords, total=False):
    """Keyword arguments for ``"unigram"``."""

    special_tokens: Sequence[str]
    unk_token: str
    max_token_length: int
    seed_sentencepiece_size: int
    shrinking_factor: float
    num_sub_iterations: int


class SentencePieceKeywords(CommonKeywords, total=False):
    """Keyword arguments for ``"sentencepiece-bpe"`` and ``"sentencepiece-unigram"``."""

    model_type: Literal["bpe", "unigram"] | None
    input_format: Literal["text", "tsv"]
    input_sentence_size: int
    shuffle_input_sentence: bool
    random_seed: int
    max_sentence_length: int
    character_coverage: float
    required_chars: str
    byte_fallback: bool
    max_sentencepiece_length: int
    split_by_unicode_script: bool
    split_by_number: bool
    split_digits: bool
    split_by_whitespace: bool
    treat_whitespace_as_suffix: bool
    allow_whitespace_only_pieces: bool
    pretokenization_delimiter: str
    seed_sentencepiece_size: int
    shrinking_factor: float
    num_sub_iterations: int
    control_symbols: str | Iterable[str]
    user_defined_symbols: str | Iterable[str]
    hard_vocab_limit: bool
    use_all_vocab: bool
    unk_id: int
    bos_id: int
    eos_id: int
    pad_id: int
    unk_piece: str
    bos_piece: str
    eos_piece: str
    pad_piece: str
    unk_surface: str
    normalization_rule_name: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]
    normalization_rule_tsv: str
    denormalization_rule_tsv: str
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool


class WordKeywords(CommonKeywords, total=False):
    """Keyword arguments for ``"word"``."""

    unk_token: str
    special_tokens: Sequence[str]
    min_frequency: int
    split: str | None


class CharKeywords(CommonKeywords, total=False):
    """Keyword arguments for ``"char"``."""

    unk_token: str
    special_tokens: Sequence[str]
    min_frequency: int
