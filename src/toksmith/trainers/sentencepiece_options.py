"""SentencePiece's own options, under its own names.

Each is honoured, or refused with the reason; what they mean is what SentencePiece's trainer makes
of them (``sentencepiece_model.proto``).
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
    "input": "files come first, as in train(files, …); texts= takes documents",
    "model_prefix": "tokenizer.save(path) writes the model, and its .vocab next to it",
    "vocabulary_output_piece_score": "a .vocab file always has the scores",
    "accept_language": "SentencePiece itself only writes it into the file",
    "num_threads": "say threads=",
    "minloglevel": "nothing is logged; progress= shows the progress",
    "self_test_sample_size": "no test is written into the model; `toksmith verify` compares models",
    "train_extremely_large_corpus": "counts are 64-bit always; there is nothing to switch on",
    "mining_sentence_size": "SentencePiece itself no longer uses it",
    "training_sentence_size": "SentencePiece itself no longer uses it",
    "enable_differential_privacy": "noise on the counts is no work of a trainer: add it to counts=",
    "differential_privacy_noise_level": "there is no differential privacy here",
    "differential_privacy_clipping_threshold": "there is no differential privacy here",
    "auto_character_coverage": "set character_coverage, or byte_fallback=True for what is rare",
    "seed_sentencepieces_file": "seeds are found in the text; required pieces can be "
    "user_defined_symbols",
    "protocol": "it is no option of training",
}


@document_fields
@dataclass(frozen=True)
class SentencePieceOptions(ModelOptions):
    r"""The options of SentencePiece's trainer; a sentence is a line.

    Raises:
        OptionError: an option is out of range, or at odds with another.
    """

    model_type: Literal["bpe", "unigram"] | None = field(
        default=None,
        metadata={"help": '``"bpe"`` or ``"unigram"``, which ``model=`` says already.'},
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
        metadata={"help": "draw them at random, not the first ones."},
    )
    random_seed: int = field(
        default=0,
        metadata={
            "help": "random seed of the draw; SentencePiece itself draws other sentences with it."
        },
    )
    max_sentence_length: int = field(
        default=4192,
        metadata={"help": "longer lines, in bytes, are skipped; a warning says how many were."},
    )
    character_coverage: float = field(
        default=0.9995,
        metadata={
            "help": "characters are taken by frequency until so much of the text is covered."
        },
    )
    required_chars: str = field(
        default="",
        metadata={"help": "characters that are taken in any case."},
    )
    byte_fallback: bool = field(
        default=False,
        metadata={"help": "add the 256 bytes, which unknown characters then become."},
    )
    max_sentencepiece_length: int = field(
        default=16,
        metadata={"help": "in characters."},
    )
    split_by_unicode_script: bool = field(
        default=True,
        metadata={"help": "a piece has one script; Hiragana and Katakana count as Han."},
    )
    split_by_number: bool = field(
        default=True,
        metadata={"help": "digits are a script of their own; without this, they join any script."},
    )
    split_digits: bool = field(
        default=False,
        metadata={"help": "each digit is a piece."},
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
        metadata={"help": "several ▁ may be a piece."},
    )
    pretokenization_delimiter: str = field(
        default="",
        metadata={"help": "no piece reaches across this string."},
    )
    seed_sentencepiece_size: int = field(
        default=1_000_000,
        metadata={"help": "Unigram: how many pieces to start with."},
    )
    shrinking_factor: float = field(
        default=0.75,
        metadata={"help": "Unigram: how many of them stay after each round."},
    )
    num_sub_iterations: int = field(
        default=2,
        metadata={"help": "Unigram: steps of expectation and maximization in each round."},
    )
    control_symbols: str | Iterable[str] = field(
        default=(),
        metadata={"help": "pieces that text never becomes; a list, or a string with commas."},
    )
    user_defined_symbols: str | Iterable[str] = field(
        default=(),
        metadata={"help": "always one piece, wherever they occur; given in the same way."},
    )
    hard_vocab_limit: bool = field(
        default=True,
        metadata={"help": "it is an error where the text is too small for ``vocab_size``."},
    )
    use_all_vocab: bool = field(
        default=False,
        metadata={"help": "for words and characters only, as in SentencePiece."},
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
        metadata={"help": "how the unknown piece is written."},
    )
    bos_piece: str = field(
        default="<s>",
        metadata={"help": "how the start of a sentence is written."},
    )
    eos_piece: str = field(
        default="</s>",
        metadata={"help": "how the end of a sentence is written."},
    )
    pad_piece: str = field(
        default="<pad>",
        metadata={"help": "how padding is written."},
    )
    unk_surface: str = field(
        default=UNK_SURFACE,
        metadata={"help": "what the unknown piece decodes to."},
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
        metadata={"help": "a file of rules instead: ``HEX HEX …<TAB>HEX HEX …`` a line."},
    )
    denormalization_rule_tsv: str = field(
        default="",
        metadata={"help": "such a file for the way back."},
    )
    add_dummy_prefix: bool = field(
        default=True,
        metadata={"help": "put a space before each sentence."},
    )
    remove_extra_whitespaces: bool = field(
        default=True,
        metadata={"help": "drop spaces at the ends of sentences, and make one of several."},
    )
    escape_whitespaces: bool = field(
        default=True,
        metadata={"help": "write ▁ for a space; training cannot do without."},
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
            raise OptionError("use_all_vocab is for models of words and characters")
        if not self.escape_whitespaces:
            raise OptionError("escape_whitespaces=False: training finds words by the ▁")
        if self.unk_id < 0:
            raise OptionError(f"unk_id is {self.unk_id}: every model has an unknown piece")

    def rules(self) -> PieceRules:
        """Return what may be a piece."""
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
            raise OptionError(f"{name} holds {symbol!r:.80}; each must be a str, and not empty")
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
