"""SentencePiece's own options, under its own names.

Each option is supported with SentencePiece's meaning (``sentencepiece_model.proto``), or refused
with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal

from toksmith._base.checks import whole
from toksmith.errors import FormatError, OptionError
from toksmith.formats.sentencepiece_pipeline import UNK_SURFACE
from toksmith.reference.piece_rules import SPACE, PieceRules
from toksmith.trainers.options import ModelOptions, choice, document_fields

RULES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")

_REFUSED = {
    "input": "the files of the text are the first argument",
    "model_prefix": "Tokenizer.save(path) (toksmith train --output) writes model and .vocab",
    "vocabulary_output_piece_score": "a .vocab file always has the scores",
    "accept_language": "it has no effect in SentencePiece, which only stores it",
    "num_threads": "say threads=",
    "minloglevel": "nothing is logged; progress= shows the progress",
    "self_test_sample_size": "no test is written into the model; `toksmith verify` compares models",
    "train_extremely_large_corpus": "counts always have 64 bits, so leave it out",
    "mining_sentence_size": "SentencePiece itself no longer uses it",
    "training_sentence_size": "SentencePiece itself no longer uses it",
    "enable_differential_privacy": "the trainer adds no noise: add it to the counts in counts=",
    "differential_privacy_noise_level": "toksmith has no differential privacy",
    "differential_privacy_clipping_threshold": "toksmith has no differential privacy",
    "auto_character_coverage": "set character_coverage, or byte_fallback=True for rare characters",
    "seed_sentencepieces_file": "seeds are found in the text; required pieces can be "
    "user_defined_symbols",
    "protocol": "it is no option of training",
}


@document_fields
@dataclass(frozen=True)
class SentencePieceOptions(ModelOptions):
    r"""The options of SentencePiece's trainer; a sentence is a line.

    Raises:
        OptionError: an option is out of range, or contradicts another.
    """

    model_type: Literal["bpe", "unigram"] | None = field(
        default=None,
        metadata={"help": '``"bpe"`` or ``"unigram"``, as in ``model=``; not needed.'},
    )
    input_format: Literal["text", "tsv"] = field(
        default="text",
        metadata={
            "help": '``"text"``, or ``"tsv"``: each line is a sentence, a tab and its count.'
        },
    )
    input_sentence_size: int = field(
        default=0,
        metadata={"help": "the largest number of sentences to train on; 0 for all."},
    )
    shuffle_input_sentence: bool = field(
        default=True,
        metadata={"help": "draw these sentences at random, instead of the first ones."},
    )
    random_seed: int = field(
        default=0,
        metadata={
            "help": "the random seed; SentencePiece draws other sentences with the same seed."
        },
    )
    max_sentence_length: int = field(
        default=4192,
        metadata={"help": "the maximum size of a line in bytes; longer lines are skipped."},
    )
    character_coverage: float = field(
        default=0.9995,
        metadata={"help": "the share of the text that the characters of the alphabet must cover."},
    )
    required_chars: str = field(
        default="",
        metadata={"help": "characters that are always in the alphabet."},
    )
    byte_fallback: bool = field(
        default=False,
        metadata={"help": "add 256 byte pieces, which encode unknown characters."},
    )
    max_sentencepiece_length: int = field(
        default=16,
        metadata={"help": "in characters."},
    )
    split_by_unicode_script: bool = field(
        default=True,
        metadata={"help": "all characters of a piece have one script; kana count as Han."},
    )
    split_by_number: bool = field(
        default=True,
        metadata={"help": "digits are a separate script; otherwise they may join any script."},
    )
    split_digits: bool = field(
        default=False,
        metadata={"help": "each digit is a separate piece."},
    )
    split_by_whitespace: bool = field(
        default=True,
        metadata={"help": "a piece holds ▁ at its start only."},
    )
    treat_whitespace_as_suffix: bool = field(
        default=False,
        metadata={"help": "▁ ends words instead of starting them."},
    )
    allow_whitespace_only_pieces: bool = field(
        default=False,
        metadata={"help": "a piece may consist of ▁ only."},
    )
    pretokenization_delimiter: str = field(
        default="",
        metadata={"help": "no piece crosses this string."},
    )
    seed_sentencepiece_size: int = field(
        default=1_000_000,
        metadata={"help": "Unigram: the number of pieces to start with."},
    )
    shrinking_factor: float = field(
        default=0.75,
        metadata={"help": "Unigram: the share of the pieces kept after each round."},
    )
    num_sub_iterations: int = field(
        default=2,
        metadata={"help": "Unigram: the number of EM steps in each round."},
    )
    control_symbols: str | Iterable[str] = field(
        default=(),
        metadata={"help": "symbols that text never encodes to; a list, or a string with commas."},
    )
    user_defined_symbols: str | Iterable[str] = field(
        default=(),
        metadata={"help": "symbols that are always one piece; a list, or a string with commas."},
    )
    hard_vocab_limit: bool = field(
        default=True,
        metadata={"help": "raise an error if the text yields fewer than ``vocab_size`` pieces."},
    )
    use_all_vocab: bool = field(
        default=False,
        metadata={"help": "for word and character models only."},
    )
    unk_id: int = field(
        default=0,
        metadata={"help": "id of the unknown piece."},
    )
    bos_id: int = field(
        default=1,
        metadata={"help": "id of the start of a sentence; -1 for none."},
    )
    eos_id: int = field(
        default=2,
        metadata={"help": "id of the end of a sentence; -1 for none."},
    )
    pad_id: int = field(
        default=-1,
        metadata={"help": "id of padding; -1 for none."},
    )
    unk_piece: str = field(
        default="<unk>",
        metadata={"help": "the spelling of the unknown piece."},
    )
    bos_piece: str = field(
        default="<s>",
        metadata={"help": "the spelling of the start of a sentence."},
    )
    eos_piece: str = field(
        default="</s>",
        metadata={"help": "the spelling of the end of a sentence."},
    )
    pad_piece: str = field(
        default="<pad>",
        metadata={"help": "the spelling of padding."},
    )
    unk_surface: str = field(
        default=UNK_SURFACE,
        metadata={"help": "the text that the unknown piece decodes to."},
    )
    normalization_rule_name: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"] = (
        field(
            default="nmt_nfkc",
            metadata={
                "help": "``nmt_nfkc``, ``nfkc``, ``nmt_nfkc_cf``, ``nfkc_cf``, ``identity``."
            },
        )
    )
    normalization_rule_tsv: str = field(
        default="",
        metadata={"help": "a file of rules, one ``HEX HEX …<TAB>HEX HEX …`` per line."},
    )
    denormalization_rule_tsv: str = field(
        default="",
        metadata={"help": "a file of rules for decoding, of the same form."},
    )
    add_dummy_prefix: bool = field(
        default=True,
        metadata={"help": "put a space before each sentence."},
    )
    remove_extra_whitespaces: bool = field(
        default=True,
        metadata={"help": "strip spaces at the ends of sentences, and collapse others."},
    )
    escape_whitespaces: bool = field(
        default=True,
        metadata={"help": "replace spaces by ▁; training needs it."},
    )

    refused: ClassVar[Mapping[str, str]] = MappingProxyType(_REFUSED)

    def __post_init__(self) -> None:
        choice("input_format", self.input_format, ("text", "tsv"))
        choice("normalization_rule_name", self.normalization_rule_name, RULES)
        for name, least, most in _WHOLE:
            if whole(name, getattr(self, name), least=least) > most:
                raise OptionError(f"{name} is {getattr(self, name)}: use {most:,} or less")
        for name, low, high in _SHARES:
            if not low <= getattr(self, name) <= high:
                raise OptionError(f"{name} is {getattr(self, name)}: use {low} to {high}")
        for name in ("control_symbols", "user_defined_symbols"):
            object.__setattr__(self, name, _symbols(name, getattr(self, name)))
        if self.use_all_vocab:
            raise OptionError("use_all_vocab is only for word and character models: leave it out")
        if not self.escape_whitespaces:
            raise OptionError("escape_whitespaces is False: training needs ▁ to find words")
        if self.unk_id < 0:
            raise OptionError(f"unk_id is {self.unk_id}: every model has an unknown piece")

    def rules(self) -> PieceRules:
        """Return the rules for valid pieces."""
        return PieceRules(
            self.max_sentencepiece_length,
            self.split_by_unicode_script,
            self.split_by_number,
            self.split_digits,
            self.split_by_whitespace,
            self.treat_whitespace_as_suffix,
            self.allow_whitespace_only_pieces,
        )


_WHOLE = (
    ("input_sentence_size", 0, 2**62),
    ("random_seed", 0, 2**62),
    ("max_sentence_length", 10, 2**30),
    ("max_sentencepiece_length", 1, 512),
    ("seed_sentencepiece_size", 1, 2**31),
    ("num_sub_iterations", 1, 10),
    *((name, -1, 2**31) for name in ("unk_id", "bos_id", "eos_id", "pad_id")),
)
_SHARES = (("character_coverage", 0.98, 1.0), ("shrinking_factor", 0.5, 0.95))


def _symbols(name: str, given: str | Iterable[str]) -> tuple[str, ...]:
    symbols = given.split(",") if isinstance(given, str) and given else given
    found = tuple(symbols)
    for symbol in found:
        if not isinstance(symbol, str) or not symbol:
            raise OptionError(f"{name} holds {symbol!r:.80}: each must be a non-empty str")
    return found


def read_rules(name: str, path: str) -> str:
    """Return the text of a file of rules.

    Raises:
        FormatError: it cannot be read.
    """
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        raise FormatError(path, f"{name}: cannot be read: {wrong}") from wrong


def reaches_across_words(symbol: str) -> bool:
    """Return whether a symbol can hold parts of two words."""
    return " " in symbol or SPACE in symbol[1:]
