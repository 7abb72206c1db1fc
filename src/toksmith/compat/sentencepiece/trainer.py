"""``SentencePieceTrainer``: trains models with SentencePiece's options."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

from toksmith import formats
from toksmith.compat.sentencepiece.failures import (
    MissingFileError,
    PieceTypeError,
    SentencePieceError,
)
from toksmith.compat.sentencepiece.frequency_trainer import train_by_frequency
from toksmith.compat.sentencepiece.messages import message_classes
from toksmith.compat.sentencepiece.normalizer import SentencePieceNormalizer
from toksmith.compat.sentencepiece.pretokenizer_trainer import train_on_parts
from toksmith.errors import FormatError, ToksmithError, UnsupportedError
from toksmith.stages.charsmap_rules import RULES, charsmap_of
from toksmith.tokenizer import Tokenizer
from toksmith.trainers import train
from toksmith.trainers.sentencepiece_options import SentencePieceOptions

_WITHOUT_EFFECT = frozenset(
    {
        "accept_language", "minloglevel", "self_test_sample_size", "train_extremely_large_corpus",
        "mining_sentence_size", "training_sentence_size",
    }
)  # fmt: skip
"""Options that change nothing here."""

_KINDS = get_type_hints(SentencePieceOptions)
_MODEL_TYPES = {"unigram": 1, "bpe": 2, "word": 3, "char": 4}


class SentencePieceTrainer:
    """Trains SentencePiece models; all it has is :meth:`train`."""

    @staticmethod
    def train(arg: str | None = None, logstream: Any = None, **options: Any) -> None:
        """Train a model, and write it.

        Args:
            arg: options as one string, ``"--input=a.txt --model_prefix=m --vocab_size=1000"``.
            logstream: a text file that gets a line about the training.
            options: SentencePiece's options: ``input`` (a file or several), or
                ``sentence_iterator``; ``model_prefix`` (writes ``<prefix>.model`` and
                ``<prefix>.vocab``) or ``model_writer`` (a binary file for the model);
                ``model_type``, ``vocab_size``, ``normalizer`` and those of
                :class:`~toksmith.trainers.sentencepiece_options.SentencePieceOptions`.

        Raises:
            RuntimeError, ValueError: an option is wrong, or the text is too small.
            OSError: there is no such file, or no such option.
        """
        given = dict(options) if arg is None else flags_of(arg)
        writer = given.pop("model_writer", None)
        prefix = given.get("model_prefix")
        if writer is None and not prefix:
            raise SentencePieceError("model_prefix is missing: give the name of the files to write")
        try:
            tokenizer, spec = _train(given)
        except FormatError as wrong:
            raise MissingFileError(str(wrong)) from wrong
        except (SentencePieceError, PieceTypeError):
            raise
        except ToksmithError as wrong:
            raise SentencePieceError(str(wrong)) from wrong
        model, vocab = _contents(tokenizer, given, spec)
        if writer is not None:
            writer.write(model)
        else:
            Path(f"{prefix}.model").write_bytes(model)
            Path(f"{prefix}.vocab").write_bytes(vocab)
        if logstream is not None:
            logstream.write(f"trained {tokenizer.vocab_size:,} pieces\n")
            logstream.flush()

    Train = train


def flags_of(written: str) -> dict[str, Any]:
    """Return the options of a string of flags.

    Example:
        >>> flags_of("--vocab_size=100 --hard_vocab_limit=false")
        {'vocab_size': '100', 'hard_vocab_limit': 'false'}
    """
    found = {}
    for part in written.split(" "):
        name, _, value = part.removeprefix("--").partition("=")
        if name:
            found[name] = value
    return found


def _train(given: Mapping[str, Any]) -> tuple[Tokenizer, Mapping[str, Any]]:
    """Return the trained tokenizer, and the options for the model's file."""
    wanted = {name: value for name, value in given.items() if name not in _WITHOUT_EFFECT}
    files = _list("input", wanted.pop("input", ()))
    sentences = wanted.pop("sentence_iterator", None)
    if sentences is None:
        sentences = wanted.pop("sentence_reader", None)
    if sentences is not None and not isinstance(sentences, Iterable):
        raise PieceTypeError(f"sentence_iterator is {sentences!r:.40}: use an iterator of texts")
    pretokenizer = wanted.pop("pretokenizer", None)
    is_lenient = bool(wanted.pop("allow_inconsistent_pretokenization", False))
    for name in ("model_prefix", "vocabulary_output_piece_score"):
        wanted.pop(name, None)
    kind = str(wanted.pop("model_type", "unigram")).lower()
    if kind not in _MODEL_TYPES:
        raise SentencePieceError(f"model_type is {kind!r:.40}: use {', '.join(_MODEL_TYPES)}")
    if sentences is not None and files:
        raise SentencePieceError("sentence_iterator and input are both given: use one of them")
    size = _whole("vocab_size", wanted.pop("vocab_size", 8000))
    threads = _whole("num_threads", wanted.pop("num_threads")) if "num_threads" in wanted else None
    if threads is not None and threads < 1:
        raise SentencePieceError(f"num_threads is {threads}: use 1 or more")
    with TemporaryDirectory() as folder:
        if (normalizer := wanted.pop("normalizer", None)) is not None:
            wanted |= _options_of(normalizer, wanted, Path(folder))
        chosen = {name: _value(name, value) for name, value in wanted.items()}
        source: dict[str, Any] = (
            {"texts": _lines(sentences)} if sentences is not None
            else {"files": [os.fspath(path) for path in files]}
        )  # fmt: skip
        if pretokenizer is not None:
            if kind in ("word", "char") or chosen.get("pretokenization_delimiter"):
                raise SentencePieceError(
                    "pretokenizer is for unigram and bpe models, without pretokenization_delimiter"
                )
            tokenizer = train_on_parts(
                pretokenizer, is_lenient, kind, size, chosen, source.get("files"),
                source.get("texts"), threads,
            )  # fmt: skip
            return tokenizer, chosen | {"vocab_size": len(tokenizer), "model_type": kind}
        if kind in ("word", "char"):
            tokenizer = train_by_frequency(
                kind, size, chosen, source.get("files"), source.get("texts"), threads
            )
            return tokenizer, chosen | {"vocab_size": len(tokenizer), "model_type": kind}
        tokenizer = train(
            source.get("files"),
            texts=source.get("texts"),
            model=f"sentencepiece-{kind}",
            vocab_size=size,
            threads=threads,
            progress=False,
            **chosen,
        )
    return tokenizer, chosen | {"vocab_size": len(tokenizer), "model_type": kind}


def _lines(sentences: Iterable[str | bytes]) -> Iterator[str | bytes]:
    for sentence in sentences:
        if isinstance(sentence, str):
            yield sentence.rstrip("\r\n")
        elif isinstance(sentence, bytes):
            yield sentence.rstrip(b"\r\n")
        else:
            raise PieceTypeError(
                f"sentence_iterator yields {sentence!r:.40}: it must yield str or bytes"
            )


def _whole(name: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise SentencePieceError(f"{name} is {value!r:.80}: use a whole number") from None


def _list(name: str, value: Any) -> list[Any]:
    """Return the items of an option that is a list, or a string of values separated by commas."""
    if isinstance(value, str):
        return next(csv.reader([value]), []) if value else []
    if isinstance(value, os.PathLike):
        return [value]
    if not isinstance(value, Iterable):
        raise SentencePieceError(f"{name} is {value!r:.80}: use a str or a list")
    return list(value)


def _value(name: str, value: Any) -> Any:
    """Return the value of an option, which may be spelled as a string, in its own type."""
    if name not in _KINDS:
        if name in SentencePieceOptions.refused:
            raise UnsupportedError(f"{name}: {SentencePieceOptions.refused[name]}")
        raise MissingFileError(f"unknown option {name!r:.80}: see SentencePieceTrainer.train")
    kind = _KINDS[name]
    if name in ("control_symbols", "user_defined_symbols"):
        return tuple(map(str, _list(name, value)))
    try:
        if kind is bool:
            return value if isinstance(value, bool) else _switch(str(value))
        if kind in (int, float):
            return kind(value)
    except ValueError:
        raise SentencePieceError(f"{name} is {value!r:.80}: use {kind.__name__}") from None
    return str(value)


def _switch(written: str) -> bool:
    """Return the value of a switch; one without a value is on."""
    if (word := written.lower()) in ("", "1", "t", "true", "y", "yes"):
        return True
    if word in ("0", "f", "false", "n", "no"):
        return False
    raise ValueError(written)


def _options_of(
    normalizer: SentencePieceNormalizer, given: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """Return the options that train with a normalizer; rules of its own go to a file."""
    spec = message_classes()["NormalizerSpec"].FromString(normalizer.serialized_normalizer_spec())
    own = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
    names = (*own, "normalization_rule_name", "normalization_rule_tsv")
    if twice := [name for name in names if name in given]:
        raise SentencePieceError(
            f"normalizer and {twice[0]} are both given: the normalizer has that option"
        )
    options = {name: getattr(spec, name) for name in own}
    if spec.name in RULES and charsmap_of(spec.name) == spec.precompiled_charsmap:
        return {**options, "normalization_rule_name": spec.name}
    if spec.precompiled_charsmap:
        path = folder / "rules.tsv"
        path.write_text(
            "".join(
                "\t".join(" ".join(f"{ord(c):X}" for c in text) for text in pair) + "\n"
                for pair in normalizer.decompile()
            )
        )
        options["normalization_rule_tsv"] = str(path)
    return options


def _contents(
    tokenizer: Tokenizer, given: Mapping[str, Any], spec: Mapping[str, Any]
) -> tuple[bytes, bytes]:
    """Return the contents of the ``.model`` and of the ``.vocab``."""
    model, vocab = formats.contents(tokenizer.pipeline, "m.model", "sentencepiece").values()
    message = message_classes()["ModelProto"].FromString(model)
    trainer = message.trainer_spec
    for name, value in {**given, **spec}.items():
        if name not in trainer.DESCRIPTOR.fields_by_name:
            continue
        if name == "model_type":
            trainer.model_type = _MODEL_TYPES[value]
        elif name == "vocab_size":
            trainer.vocab_size = len(tokenizer)  # the text may yield fewer pieces
        elif name in ("input", "accept_language", "control_symbols", "user_defined_symbols"):
            trainer.ClearField(name)
            getattr(trainer, name).extend(str(each) for each in _list(name, value))
        else:
            kind = type(getattr(trainer, name))
            setattr(trainer, name, _switch(str(value)) if kind is bool else kind(value))
    if not _switch(str(given.get("vocabulary_output_piece_score", True))):
        vocab = b"".join(line.rpartition(b"\t")[0] + b"\n" for line in vocab.splitlines())
    return message.SerializeToString(deterministic=True), vocab
