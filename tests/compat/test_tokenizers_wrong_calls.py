"""toksmith.compat.tokenizers against tokenizers: calls with arguments of wrong types and ranges."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import tokenizers as theirs

from toksmith.compat import tokenizers as ours
from toksmith.errors import ToksmithError

Call = Callable[[Any, Any], object]

VOCAB = {"a": 0, "b": 1, "ab": 2, "<unk>": 3}
WRONG: list[Any] = [
    *(None, True, 5, -1, 1.5, 2**33, 2**70, float("nan")),
    *("0", "xy", "", b"x", [], ["x"], [5], [-1], [1.5], [[1]], [None]),
    *(("a", "b"), ("a", 1), ("a", -1), (1, 2), {}, {"a": "b"}, {"a": 1}, {"a": -1}, {1: 1}),
    object(),
]


def bpe(lib: Any) -> Any:
    return lib.models.BPE(dict(VOCAB), [("a", "b")], unk_token="<unk>")


def tokenizer(lib: Any) -> Any:
    return lib.Tokenizer(bpe(lib))


@cache
def pickled(lib: Any) -> bytes:
    return pickle.dumps(tokenizer(lib).encode("ab a"))


def encoding(lib: Any) -> Any:
    return pickle.loads(pickled(lib))


def assigned(thing: Any, name: str, value: object) -> object:
    setattr(thing, name, value)
    return thing


def of_tokenizer(name: str, *before: object, **fixed: object) -> Call:
    """Return a call of a method of a tokenizer, whose last positional argument is wrong."""
    return lambda lib, wrong: getattr(tokenizer(lib), name)(*before, wrong, **fixed)


def of_encoding(name: str, *before: object) -> Call:
    return lambda lib, wrong: getattr(encoding(lib), name)(*before, wrong)


def option_of(make: Callable[[Any], Any], name: str) -> Call:
    """Return a call with one keyword argument that is wrong."""
    return lambda lib, wrong: make(lib)(**{name: wrong})


def setter_of(make: Callable[[Any], Any], name: str) -> Call:
    return lambda lib, wrong: assigned(make(lib), name, wrong)


def at(path: str) -> Callable[[Any], Any]:
    """Return a function from a library to an object in it."""
    family, name = path.split(".")
    return lambda lib: getattr(getattr(lib, family), name)


CALLS: dict[str, Call] = {
    "AddedToken": lambda lib, wrong: lib.AddedToken(wrong),
    "Tokenizer": lambda lib, wrong: lib.Tokenizer(wrong),
    "Tokenizer.from_str": lambda lib, wrong: lib.Tokenizer.from_str(wrong),
    "Tokenizer.from_buffer": lambda lib, wrong: lib.Tokenizer.from_buffer(wrong),
    "Tokenizer.from_file": lambda lib, wrong: lib.Tokenizer.from_file(wrong),
    "Tokenizer.train_from_iterator": of_tokenizer("train_from_iterator"),
    "Tokenizer.train_from_iterator trainer": of_tokenizer("train_from_iterator", ["a b"]),
    "Tokenizer.train_from_iterator length": of_tokenizer("train_from_iterator", ["a b"], None),
    "Tokenizer.encode pair": of_tokenizer("encode", "ab"),
    "Tokenizer.encode is_pretokenized": of_tokenizer("encode", "ab", None),
    "Tokenizer.encode add_special_tokens": of_tokenizer("encode", "ab", None, False),
    "Tokenizer.decode skip_special_tokens": of_tokenizer("decode", [1]),
    "Tokenizer.post_process pair": lambda lib, wrong: tokenizer(lib).post_process(
        encoding(lib), wrong
    ),
    "Encoding.merge": lambda lib, wrong: lib.Encoding.merge(wrong),
    "Encoding.merge growing_offsets": lambda lib, wrong: lib.Encoding.merge([], wrong),
    "Encoding.truncate stride": of_encoding("truncate", 1),
    "Encoding.truncate direction": of_encoding("truncate", 1, 0),
    "NormalizedString.append": lambda lib, wrong: lib.NormalizedString("abc").append(wrong),
    "NormalizedString.prepend": lambda lib, wrong: lib.NormalizedString("abc").prepend(wrong),
    "NormalizedString.replace": lambda lib, wrong: lib.NormalizedString("abc").replace("a", wrong),
    "NormalizedString.slice": lambda lib, wrong: lib.NormalizedString("abc").slice(wrong),
    "PreTokenizedString.to_encoding": lambda lib, wrong: lib.PreTokenizedString("").to_encoding(
        wrong
    ),
    "Token": lambda lib, wrong: lib.Token(wrong, "a", (0, 1)),
    "Token offsets": lambda lib, wrong: lib.Token(1, "a", wrong),
    "BPE": lambda lib, wrong: lib.models.BPE(wrong, [("a", "b")]),
    "BPE merges": lambda lib, wrong: lib.models.BPE(dict(VOCAB), wrong),
    "BPE.read_file": lambda lib, wrong: lib.models.BPE.read_file(wrong, "/no/such"),
    "BPE.from_file": lambda lib, wrong: lib.models.BPE.from_file("/no/such", wrong),
    "WordPiece": lambda lib, wrong: lib.models.WordPiece(wrong),
    "WordLevel": lambda lib, wrong: lib.models.WordLevel(wrong),
    "Unigram": lambda lib, wrong: lib.models.Unigram(wrong, 0),
    "Unigram unk_id": lambda lib, wrong: lib.models.Unigram([("<unk>", 0.0)], wrong),
    "Unigram alpha": lambda lib, wrong: lib.models.Unigram([("<unk>", 0.0)], 0, alpha=wrong),
    "Unigram nbest_size": lambda lib, wrong: lib.models.Unigram(
        [("<unk>", 0.0)], 0, nbest_size=wrong
    ),
    "Precompiled": lambda lib, wrong: lib.normalizers.Precompiled(wrong),
    "Replace.pattern =": lambda lib, wrong: assigned(
        lib.normalizers.Replace("a", "b"), "pattern", wrong
    ),
    "normalizers.Sequence": lambda lib, wrong: lib.normalizers.Sequence(wrong),
    "pre_tokenizers.Sequence": lambda lib, wrong: lib.pre_tokenizers.Sequence(wrong),
    "FixedLength": lambda lib, wrong: lib.pre_tokenizers.FixedLength(wrong),
    "decoders.Decoder.decode": lambda lib, wrong: lib.decoders.Fuse().decode(wrong),
    "decoders.Replace": lambda lib, wrong: lib.decoders.Replace("a", wrong),
    "decoders.Sequence": lambda lib, wrong: lib.decoders.Sequence(wrong),
    "processors.Sequence": lambda lib, wrong: lib.processors.Sequence(wrong),
    "DecodeStream": lambda lib, wrong: lib.decoders.DecodeStream(wrong),
    "DecodeStream skip_special_tokens": lambda lib, wrong: lib.decoders.DecodeStream(None, wrong),
    "DecodeStream.step": lambda lib, wrong: lib.decoders.DecodeStream().step(wrong, 1),
    "DecodeStream.step id": lambda lib, wrong: lib.decoders.DecodeStream().step(
        tokenizer(lib), wrong
    ),
    "BertProcessing": lambda lib, wrong: lib.processors.BertProcessing(wrong, ("a", 0)),
    "RobertaProcessing": lambda lib, wrong: lib.processors.RobertaProcessing(("a", 0), wrong),
    "RobertaProcessing.sep =": lambda lib, wrong: assigned(
        lib.processors.RobertaProcessing(("a", 0), ("a", 0)), "sep", wrong
    ),
    "PostProcessor.process": lambda lib, wrong: lib.processors.ByteLevel().process(wrong),
    "PostProcessor.process pair": lambda lib, wrong: lib.processors.ByteLevel().process(
        encoding(lib), wrong
    ),
    "TemplateProcessing": lambda lib, wrong: lib.processors.TemplateProcessing(wrong),
    "TemplateProcessing tokens": lambda lib, wrong: lib.processors.TemplateProcessing(
        "$A", "$A $B", wrong
    ),
}
for name in ("token_to_id", "id_to_token", "tokenize", "continuing_subword_prefix", "dropout"):
    setter = name in ("continuing_subword_prefix", "dropout")
    CALLS[f"BPE.{name}"] = (
        setter_of(bpe, name)
        if setter
        else (lambda lib, wrong, name=name: getattr(bpe(lib), name)(wrong))
    )
for name in (
    *("token_to_id", "id_to_token", "decode", "decode_batch", "encode", "encode_batch"),
    *("encode_batch_fast", "add_tokens", "add_special_tokens", "enable_truncation", "to_str"),
    *("get_vocab", "get_vocab_size", "num_special_tokens_to_add", "post_process"),
):
    CALLS[f"Tokenizer.{name}"] = of_tokenizer(name)
for name in (
    *("char_to_token", "char_to_word", "token_to_chars", "token_to_word", "token_to_sequence"),
    *("word_to_chars", "word_to_tokens", "set_sequence_id", "truncate"),
):
    CALLS[f"Encoding.{name}"] = of_encoding(name)
for name in ("direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"):
    CALLS[f"Tokenizer.enable_padding {name}"] = option_of(
        lambda lib: tokenizer(lib).enable_padding, name
    )
for name in ("stride", "strategy", "direction"):
    CALLS[f"Tokenizer.enable_truncation {name}"] = lambda lib, wrong, name=name: tokenizer(  # type: ignore[misc]
        lib
    ).enable_truncation(2, **{name: wrong})
OPTIONS = {
    "models.BPE": "dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk "
    "byte_fallback ignore_merges cache_capacity",
    "models.WordPiece": "unk_token max_input_chars_per_word continuing_subword_prefix",
    "models.WordLevel": "unk_token",
    "trainers.BpeTrainer": "vocab_size min_frequency show_progress progress_format special_tokens "
    "limit_alphabet initial_alphabet continuing_subword_prefix end_of_word_suffix max_token_length",
    "trainers.WordPieceTrainer": "vocab_size min_frequency limit_alphabet initial_alphabet "
    "continuing_subword_prefix",
    "trainers.WordLevelTrainer": "vocab_size min_frequency show_progress special_tokens",
    "trainers.UnigramTrainer": "vocab_size n_sub_iterations shrinking_factor unk_token "
    "max_piece_length seed_size special_tokens initial_alphabet",
    "normalizers.BertNormalizer": "clean_text strip_accents",
    "pre_tokenizers.ByteLevel": "add_prefix_space use_regex",
    "decoders.BPEDecoder": "suffix",
    "decoders.CTC": "pad_token word_delimiter_token cleanup",
    "decoders.Metaspace": "replacement prepend_scheme split",
    "decoders.Strip": "content left right",
    "decoders.WordPiece": "prefix cleanup",
    "processors.ByteLevel": "add_prefix_space trim_offsets use_regex",
}
SETTERS = {
    "models.BPE": "unk_token fuse_unk byte_fallback ignore_merges end_of_word_suffix",
    "models.WordPiece": "unk_token max_input_chars_per_word continuing_subword_prefix",
    "models.WordLevel": "unk_token",
    "models.Unigram": "alpha nbest_size",
    "trainers.BpeTrainer": "vocab_size min_frequency limit_alphabet initial_alphabet "
    "special_tokens show_progress progress_format max_token_length",
    "trainers.UnigramTrainer": "vocab_size special_tokens initial_alphabet",
    "decoders.CTC": "pad_token cleanup",
    "decoders.Metaspace": "replacement prepend_scheme split",
    "decoders.Strip": "content start stop",
    "processors.ByteLevel": "add_prefix_space trim_offsets use_regex",
}
for path, names in OPTIONS.items():
    for name in names.split():
        CALLS[f"{path} {name}"] = option_of(at(path), name)
for path, names in SETTERS.items():
    for name in names.split():
        CALLS[f"{path}.{name} ="] = setter_of(lambda lib, path=path: at(path)(lib)(), name)  # type: ignore[misc]
for name in ("single_word", "lstrip", "rstrip", "normalized", "special"):
    CALLS[f"AddedToken {name}"] = lambda lib, wrong, name=name: lib.AddedToken(  # type: ignore[misc]
        "a", **{name: wrong}
    )
for name in ("content", "special"):
    CALLS[f"AddedToken.{name} ="] = setter_of(lambda lib: lib.AddedToken("a"), name)
MEMBERS: dict[str, Callable[[Any], Any]] = {
    "normalizers": lambda lib: lib.normalizers.Sequence([lib.normalizers.NFC()]),
    "pre_tokenizers": lambda lib: lib.pre_tokenizers.Sequence([lib.pre_tokenizers.Digits()]),
    "processors": lambda lib: lib.processors.Sequence([lib.processors.ByteLevel()]),
}
for name, make in MEMBERS.items():
    CALLS[f"{name}.Sequence[]"] = lambda lib, wrong, make=make: make(lib)[wrong]  # type: ignore[misc]
STATES: dict[str, Callable[[Any], Any]] = {
    "Encoding": encoding,
    "Tokenizer": tokenizer,
    "BPE": bpe,
    "NFC": lambda lib: lib.normalizers.NFC(),
    "BpeTrainer": lambda lib: lib.trainers.BpeTrainer(),
}
for name, make in STATES.items():
    CALLS[f"{name}.__setstate__"] = lambda lib, wrong, make=make: make(lib).__setstate__(wrong)  # type: ignore[misc]
CALLS |= {
    "BPE.save prefix": lambda lib, wrong: bpe(lib).save("/no/such/folder", wrong),
    "BPE.save": lambda lib, wrong: bpe(lib).save(f"/no/such/{wrong}" if wrong == "" else wrong),
    "Tokenizer.train": of_tokenizer("train"),
    "Tokenizer.enable_truncation stride of no room": lambda lib, wrong: lib.Tokenizer(
        lib.models.BPE()
    ).enable_truncation(0, stride=wrong),
    "SentencePieceBPETokenizer": lambda lib, wrong: lib.SentencePieceBPETokenizer(unk_token=wrong),
    "SentencePieceBPETokenizer.trainer": lambda lib, wrong: (
        lib.SentencePieceBPETokenizer().train_from_iterator(
            ["a b"], special_tokens=wrong, show_progress=False
        )
    ),
    "SentencePieceUnigramTokenizer.trainer": lambda lib, wrong: (
        lib.SentencePieceUnigramTokenizer().train_from_iterator(
            ["a b"], initial_alphabet=wrong, show_progress=False
        )
    ),
    "BertWordPieceTokenizer.encode": lambda lib, wrong: lib.BertWordPieceTokenizer(
        {"[UNK]": 0, "[SEP]": 1, "[CLS]": 2}
    ).encode(wrong),
}
CALLS["Tokenizer.encode_special_tokens ="] = setter_of(tokenizer, "encode_special_tokens")

KINDS = (OverflowError, IndexError, KeyError, TypeError, ValueError, AttributeError, Exception)


def outcome(call: Call, lib: Any, wrong: object) -> tuple[str, BaseException | None]:
    """Return the kind of error that a call raises."""
    try:
        call(lib, wrong)
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            return "crash", error
        return next(kind.__name__ for kind in KINDS if isinstance(error, kind)), error
    return "no error", None


@pytest.mark.parametrize("name", CALLS)
def test_the_kind_of_error_is_that_of_tokenizers(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for wrong in WRONG:
            (expected, _), (found, error) = (
                outcome(CALLS[name], lib, wrong) for lib in (theirs, ours)
            )
            assert found == expected or (expected == "crash" and error), (wrong, error)
            assert error is None or isinstance(error, ToksmithError), (wrong, error)
            assert error is None or str(error)


def test_a_message_names_the_argument_and_shows_the_value() -> None:
    with pytest.raises(OverflowError, match=r"argument 'vocab_size': -1 is out of range: give 0"):
        ours.trainers.BpeTrainer(vocab_size=-1)
    with pytest.raises(TypeError, match=r"argument 'content': 'int' object is not .* 'str': 5"):
        ours.AddedToken(5)  # type: ignore[arg-type]
    with pytest.raises(OverflowError, match=r"argument 'max_length': -1"):
        tokenizer(ours).enable_truncation(-1)
    with pytest.raises(TypeError, match=r"'int' object is not an instance of 'str': 5"):
        tokenizer(ours).token_to_id(5)
    with pytest.raises(TypeError, match=r"'NoneType' object is not an instance of 'Tokenizer'"):
        ours.decoders.DecodeStream().step(None, 1)  # type: ignore[arg-type]
    for family in ("Normalizer", "PreTokenizer", "Decoder"):
        module = {"Normalizer": ours.normalizers, "PreTokenizer": ours.pre_tokenizers}
        with pytest.raises(TypeError, match=f"cannot create '{family}' instances"):
            getattr(module.get(family, ours.decoders), family)()
