"""tokenizers' ready-made tokenizers: a ``Tokenizer`` with the components of a kind of model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from toksmith._base import files as reading
from toksmith.compat.tokenizers import decoders, normalizers, pre_tokenizers, processors, trainers
from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.encoding import Encoding
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.compat.tokenizers.models import BPE, Unigram, WordPiece
from toksmith.compat.tokenizers.pattern import Regex
from toksmith.compat.tokenizers.tokenizer import Tokenizer
from toksmith.errors import OptionError
from toksmith.formats.sentencepiece_proto import model_class

__all__ = [
    "BaseTokenizer",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
]

_PASSED_ON = (
    *("model", "normalizer", "pre_tokenizer", "post_processor", "decoder"),
    *("truncation", "padding", "encode_special_tokens"),
)
_BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class BaseTokenizer:
    """A tokenizer that passes its calls on to a ``Tokenizer``.

    Args:
        tokenizer: the tokenizer.
        parameters: what its ``repr`` shows.
    """

    def __init__(self, tokenizer: Tokenizer, parameters: dict[str, Any] | None = None) -> None:
        self._tokenizer = tokenizer
        self._parameters = parameters or {}

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self._parameters.items())
        return f"Tokenizer(vocabulary_size={self._tokenizer.get_vocab_size()}, {shown})"

    def __getattr__(self, name: str) -> Any:
        if name == "_tokenizer":
            raise AttributeError(name)
        return getattr(self._tokenizer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        target = self._tokenizer if name in _PASSED_ON else self
        object.__setattr__(target, name, value)

    def normalize(self, sequence: str) -> str:
        """Return a text normalized.

        Args:
            sequence: the text.
        """
        text: str = self._tokenizer.normalizer.normalize_str(sequence)
        return text

    def encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Return the tokens of a text; see :meth:`Tokenizer.encode`."""
        if sequence is None:
            raise OptionError("encode: `sequence` can't be `None`")
        return self._tokenizer.encode(sequence, pair, is_pretokenized, add_special_tokens)

    def encode_batch(
        self, inputs: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return the tokens of each text; see :meth:`Tokenizer.encode_batch`."""
        if inputs is None:
            raise OptionError("encode_batch: `inputs` can't be `None`")
        return self._tokenizer.encode_batch(inputs, is_pretokenized, add_special_tokens)

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids; see :meth:`Tokenizer.decode`."""
        if ids is None:
            raise OptionError("None input is not valid. Should be a list of integers.")
        return self._tokenizer.decode(ids, skip_special_tokens)

    def decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Return the text of each list of ids; see :meth:`Tokenizer.decode_batch`."""
        if sequences is None:
            raise OptionError("None input is not valid. Should be list of list of integers.")
        return self._tokenizer.decode_batch(sequences, skip_special_tokens)

    def add_special_tokens(self, special_tokens: Iterable[str | AddedToken]) -> int:
        """Add special tokens; see :meth:`Tokenizer.add_special_tokens`."""
        return self._tokenizer.add_special_tokens(special_tokens)

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Write the files of the model, and return their paths.

        Args:
            directory: an existing folder.
            prefix: the start of each file's name.
        """
        paths: list[str] = self._tokenizer.model.save(directory, prefix=prefix)
        return paths

    def train(self, files: str | Sequence[str], *values: Any, **options: Any) -> None:
        """Train the model on files.

        Args:
            files: a path, or several.
            values: options by place, in tokenizers' order.
            options: those of :meth:`trainer`.
        """
        self._tokenizer.train(files, self.trainer(*values, **options))

    def train_from_iterator(
        self, iterator: Iterable[Any], *values: Any, length: int | None = None, **options: Any
    ) -> None:
        """Train the model on texts.

        Args:
            iterator: strings, or lists of strings.
            values: options by place, in tokenizers' order.
            length: the number of texts, for a progress bar.
            options: those of :meth:`trainer`.
        """
        self._tokenizer.train_from_iterator(iterator, self.trainer(*values, **options), length)

    def trainer(self) -> trainers.Trainer:
        """Return the trainer of the model."""
        trainer: trainers.Trainer = self._tokenizer.model.get_trainer()
        return trainer


class ByteLevelBPETokenizer(BaseTokenizer):
    """Byte-level BPE, as GPT-2 uses it.

    Args:
        vocab: the id of each token, or the path of a vocab.json.
        merges: the pairs that are merged, or the path of a merges.txt.
        add_prefix_space: put a space before each text.
        lowercase: lowercase texts.
        dropout: kept for tokenizer.json.
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
        parameters = {"model": "ByteLevelBPE", **_given(locals())}
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
        tokenizer.normalizer = _normalizer(unicode_normalizer, False, lowercase)
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
        special_tokens: Sequence[str | AddedToken] = (),
    ) -> trainers.Trainer:
        """Return the trainer; options are those of ``BpeTrainer``."""
        return trainers.BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            show_progress=show_progress,
            special_tokens=special_tokens,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )


class CharBPETokenizer(BaseTokenizer):
    """BPE on characters with a mark at the end of words, as OpenAI's GPT uses it.

    Args:
        vocab: the id of each token, or the path of a vocab.json.
        merges: the pairs that are merged, or the path of a merges.txt.
        unk_token: the unknown token.
        suffix: the mark at the end of a word.
        dropout: kept for tokenizer.json.
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
        parameters = {"model": "BPE", **_given(locals())}
        options = {
            "dropout": dropout,
            "unk_token": str(unk_token),
            "end_of_word_suffix": suffix,
        }
        tokenizer = Tokenizer(_bpe(vocab, merges, options))
        _mark_special(tokenizer, [unk_token])
        tokenizer.normalizer = _normalizer(unicode_normalizer, bert_normalizer, lowercase)
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
        special_tokens: Sequence[str | AddedToken] = ("<unk>",),
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


class SentencePieceBPETokenizer(BaseTokenizer):
    """BPE on characters, with ▁ before each word.

    Args:
        vocab: the id of each token, or the path of a vocab.json.
        merges: the pairs that are merged, or the path of a merges.txt.
        unk_token: the unknown token.
        replacement: the mark.
        add_prefix_space: put a mark before each text too.
        dropout: kept for tokenizer.json.
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
        parameters = {"model": "SentencePieceBPE", **_given(locals())}
        del parameters["fuse_unk"]
        options = {"dropout": dropout, "unk_token": str(unk_token), "fuse_unk": bool(fuse_unk)}
        tokenizer = Tokenizer(_bpe(vocab, merges, options))
        _mark_special(tokenizer, [unk_token])
        tokenizer.normalizer = normalizers.NFKC()
        _set_metaspace(tokenizer, replacement, add_prefix_space)
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
        special_tokens: Sequence[str | AddedToken] = ("<unk>",),
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
        parameters = {"model": "SentencePieceUnigram", **_given(locals())}
        tokenizer = Tokenizer(Unigram() if vocab is None else Unigram(vocab))
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
        )
        _set_metaspace(tokenizer, replacement, add_prefix_space)
        super().__init__(tokenizer, parameters)

    def trainer(
        self,
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] | None = None,
        initial_alphabet: Sequence[str] | None = None,
        unk_token: str | None = None,
    ) -> trainers.Trainer:
        """Return the trainer; options are those of ``UnigramTrainer``."""
        return trainers.UnigramTrainer(
            vocab_size=vocab_size,
            special_tokens=special_tokens or (),
            show_progress=show_progress,
            initial_alphabet=initial_alphabet or (),
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
        parameters = {"model": "BertWordPiece", **_given(locals())}
        tokenizer = Tokenizer(WordPiece(vocab, unk_token=str(unk_token)))
        _mark_special(tokenizer, [unk_token, sep_token, cls_token, pad_token, mask_token])
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
        special_tokens: Sequence[str | AddedToken] = _BERT_TOKENS,
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


def _given(named: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a constructor that its ``repr`` shows."""
    left_out = ("self", "vocab", "merges", "__class__")
    return {name: value for name, value in named.items() if name not in left_out}


def _bpe(vocab: Any, merges: Any, options: dict[str, Any]) -> BPE:
    if vocab is None or merges is None:
        return BPE(**options)
    return BPE(vocab, merges, **options)


def _mark_special(tokenizer: Tokenizer, tokens: Iterable[str | AddedToken]) -> None:
    """Let tokens of the vocabulary be special tokens."""
    known = [str(token) for token in tokens if tokenizer.token_to_id(str(token)) is not None]
    tokenizer.add_special_tokens(known)


def _normalizer(form: str | None, bert: bool, lowercase: bool) -> Any:
    steps: list[Any] = [normalizers.unicode_normalizer_from_str(form)] if form else []
    steps += [normalizers.BertNormalizer(lowercase=False)] if bert else []
    steps += [normalizers.Lowercase()] if lowercase else []
    if len(steps) > 1:
        return normalizers.Sequence(steps)
    return steps[0] if steps else None


def _set_metaspace(tokenizer: Tokenizer, mark: str, add_prefix_space: bool) -> None:
    scheme = "always" if add_prefix_space else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=mark, prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(replacement=mark, prepend_scheme=scheme)
