"""GGUF: the tokenizer inside a model file of llama.cpp.

A GGUF file holds metadata and tensors; the tokenizer is in the metadata, and the tensors are never
read. ``tokenizer.ggml.model`` names the kind of tokenizer. Ids follow llama.cpp's rules, which
differ from those of the model's own library in places: a byte-level model is split by the patterns
of :mod:`toksmith.formats.gguf_splits`, BERT's words may be of any length, and each text between
special tokens gets its own space in front.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from toksmith._base import files
from toksmith._base.byte_alphabet import unspell_all
from toksmith._base.lazy import np, npt
from toksmith._base.records import replace
from toksmith.decoders import ByteFallback, Fuse, Replace, WordPieceDecoder
from toksmith.decoders import Step as DecoderStep
from toksmith.errors import FormatError, OptionError, UnsupportedError, warn
from toksmith.formats import byte_spelling
from toksmith.formats.gguf_metadata import MAGIC, read_metadata
from toksmith.formats.gguf_splits import PreTokenizer, pre_tokenizers
from toksmith.formats.gguf_vocabulary import (
    BYTES,
    CONTROL,
    KEY,
    NORMAL,
    UNUSED,
    USER_DEFINED,
    Vocabulary,
)
from toksmith.formats.listed import UNSET, Hints, Unset
from toksmith.formats.sentencepiece_pipeline import sentencepiece_pipeline
from toksmith.framing import AddedToken, Framing, Template
from toksmith.models import (
    BPE,
    CharacterBPE,
    SentencePieceBPE,
    Unigram,
    WordPiece,
)
from toksmith.normalizers import Bert, Normalizer, SentencePieceNormalizer
from toksmith.normalizers import Replace as ReplaceText
from toksmith.pipeline import Pipeline
from toksmith.splitters import BertSplitter, Splitter, splitter
from toksmith.stages.charsmap import character_map

NAME = "gguf"

_MARK = "\u2581"
_LONGEST_WORD = 2**31 - 1
"""Characters of a word of BERT: llama.cpp has no limit."""


def recognise(path: Path) -> bool:
    """Return whether the file starts with GGUF's magic number."""
    return files.read_head(path).startswith(MAGIC)


def read(path: Path, hints: Hints) -> Pipeline:
    """Read the tokenizer of a GGUF file.

    Args:
        path: the file; of a model in several parts, the first.
        hints: ``split`` takes the place of the pre-tokenizer that the file names.

    Raises:
        OptionError: there are special tokens, or a split for a model without a pre-tokenizer.
        FormatError: the file is damaged, or holds no tokenizer.
        UnsupportedError: toksmith lacks this kind of tokenizer, or the file's pre-tokenizer.
    """
    if hints.special_tokens is not None:
        raise OptionError(
            f"{path} is a {NAME} file, which has its own special tokens: leave special_tokens= out"
        )
    held = read_metadata(path, ("tokenizer.", "general."))
    kind = held.text(KEY + "model")
    if kind is None:
        raise FormatError(
            path,
            f"holds no tokenizer ({KEY}model is missing): of a model in several parts, load the "
            "first; other files, such as adapters and image encoders, have none",
        )
    if kind not in _KINDS:
        raise UnsupportedError(
            f"{path}: a tokenizer of kind {kind!r:.60} ({KEY}model) is not supported, only "
            f"{', '.join(_KINDS)}; load the tokenizer.json of the same model instead"
        )
    if hints.split is not UNSET and kind != "gpt2":
        raise OptionError(
            f"{path} holds a tokenizer of kind {kind!r}, which has no split pattern: leave split= "
            "out"
        )
    with files.reading(path):
        vocabulary = Vocabulary(held, hints)
        pipeline = _KINDS[kind](vocabulary)
        return replace(pipeline, settings=vocabulary.settings(pipeline.framing))


def _llama(file: Vocabulary) -> Pipeline:
    """SentencePiece's BPE: unused and user-defined tokens, too, may result from merges."""
    file.check_text()
    known = set(file.tokens)
    types = file.piece_types()
    for token_id in np.flatnonzero(np.isin(types, (USER_DEFINED, UNUSED))).tolist():
        text = file.tokens[token_id].decode()
        if _may_result(text, known):
            types[token_id] = NORMAL
        elif types[token_id] == UNUSED:
            types[token_id] = CONTROL
        elif _MARK in text:  # it must not be found where a space was
            types[token_id] = NORMAL
    bos, eos = file.token_id("bos", 1), file.token_id("eos", 2)
    model = SentencePieceBPE(
        tuple(file.tokens),
        file.scores(),
        types,
        unk_id=file.token_id("unknown", 0),
        byte_fallback=known >= BYTES,
        bos_id=bos,
        eos_id=eos,
        pad_id=file.token_id("padding"),
    )
    normalizer = SentencePieceNormalizer(
        add_dummy_prefix=file.flag("add_space_prefix", True), remove_extra_whitespaces=False
    )
    return _pieces(file, model, normalizer, True, False)


def _may_result(text: str, known: Collection[bytes]) -> bool:
    """Return whether a token is a character, or two characters or tokens may merge to it."""
    return len(text) == 1 or any(
        all(len(part) == 1 or part.encode() in known for part in (text[:at], text[at:]))
        for at in range(1, len(text))
    )


def _t5(file: Vocabulary) -> Pipeline:
    """Unigram with SentencePiece's character map; sums of scores are SentencePiece's float32."""
    file.check_text()
    scores, types = file.scores(), file.piece_types()
    types[types == UNUSED] = NORMAL
    # A user-defined token is found in the text before the model runs. Its score must not lower
    # that of unknown characters, which follows from the lowest score.
    own, normal = types == USER_DEFINED, types == NORMAL
    scores[own] = np.maximum(scores[own], scores[normal].min(initial=0.0))
    types[own] = NORMAL
    model = Unigram(
        tuple(file.tokens),
        scores,
        types,
        unk_id=file.token_id("unknown", 2),
        bos_id=file.token_id("bos"),
        eos_id=file.token_id("eos", 1),
        pad_id=file.token_id("padding", 0),
    )
    charsmap = file.held.numbers(KEY + "precompiled_charsmap", "iu")
    if charsmap is not None and charsmap.dtype.itemsize != 1:
        raise FormatError(file.path, f"{KEY}precompiled_charsmap is not an array of bytes")
    compiled = b"" if charsmap is None else charsmap.tobytes()
    character_map(compiled)
    collapses = file.flag("remove_extra_whitespaces", False)
    normalizer = SentencePieceNormalizer(
        charsmap=compiled,
        add_dummy_prefix=collapses or file.flag("add_space_prefix", False),
        remove_extra_whitespaces=collapses,
    )
    return _pieces(file, model, normalizer, False, True)


def _pieces(
    file: Vocabulary,
    model: SentencePieceBPE | Unigram,
    normalizer: SentencePieceNormalizer,
    adds_bos: bool,
    adds_eos: bool,
) -> Pipeline:
    plain = sentencepiece_pipeline(model, normalizer)
    framing = file.framing(
        file.added(),
        file.flag("add_bos_token", adds_bos),
        file.flag("add_eos_token", adds_eos),
        model.bos_id,
        model.eos_id,
    )
    return Pipeline(model, framing=framing, normalizer=plain.normalizer, decoder=plain.decoder)


def _bert(file: Vocabulary) -> Pipeline:
    """WordPiece: ▁ marks the first token of a word in the file, and ## the others here."""
    file.check_text()
    added = {token.id for token in file.added()}

    def spelled(token_id: int, token: bytes) -> bytes:
        mark = _MARK.encode()
        if token_id in added or (token[:1] == b"[" and token[-1:] == b"]"):
            return token
        return token[len(mark) :] if token.startswith(mark) else b"##" + token

    vocab = tuple(spelled(token_id, token) for token_id, token in enumerate(file.tokens))
    unk = file.token_id("unknown", 100)
    bos = file.token_id("bos", file.token_id("cls", 101))
    sep = file.token_id("seperator", 102)
    if unk is None or bos is None or sep is None:
        raise FormatError(
            file.path,
            f"a tokenizer of kind 'bert' needs {KEY}unknown_token_id, bos_token_id and "
            "seperator_token_id, and one of them is missing",
        )
    lowercase = file.flag("normalizer.lowercase", True)
    return Pipeline(
        WordPiece(vocab, unk, max_characters=_LONGEST_WORD),
        BertSplitter(),
        Framing(tuple(file.added()), template=Template.bert(bos, sep)),
        normalizer=(
            Bert(
                lowercase=lowercase,
                strip_accents=file.flag("normalizer.strip_accents", lowercase),
            ),
        ),
        decoder=(WordPieceDecoder(),),
    )


def _gpt2(file: Vocabulary) -> Pipeline:
    """Byte-level BPE, split by the caller's pattern or by those of the file's pre-tokenizer."""
    rules = _pre_tokenizer(file)
    split = file.split
    return _bpe(file, rules, rules.splitter if isinstance(split, Unset) else splitter(split))


def _gemma4(file: Vocabulary) -> Pipeline:
    """BPE on characters, with ▁ for a space."""
    rules = pre_tokenizers()["gemma4"]
    return _bpe(file, rules, rules.splitter)


def _pre_tokenizer(file: Vocabulary) -> PreTokenizer:
    """Return the rules that the file names; plain ones if only the caller's split is known."""
    known = pre_tokenizers()
    name = file.held.text(KEY + "pre")
    if name in known and name != "default":
        return known[name]
    if file.split is not UNSET:
        return PreTokenizer(())
    if name in (None, "", "default"):
        warn(
            f"{file.path} does not name its split pattern ({KEY}pre), so llama.cpp's default is "
            "used, as there; give split= if you know the pattern of the model"
        )
        return known["default"]
    raise UnsupportedError(
        f"{file.path}: pre-tokenizer {name!r:.60} ({KEY}pre) is unknown: give the split pattern "
        "of the model with split=, as a name such as llama3 or a regular expression"
    )


def _bpe(file: Vocabulary, rules: PreTokenizer, cut: Splitter | None) -> Pipeline:
    texts = file.texts()
    merges = file.merges(texts)
    bos = file.token_id("bos", 11 if rules.bytes else None)
    eos = file.token_id("eos", 11 if rules.bytes else None)
    make = _byte_model if rules.bytes else _character_model
    model, added = make(texts, merges, file.added(), rules)
    normalizer: Normalizer = ()
    decoder: tuple[DecoderStep, ...] | None = None
    if not rules.bytes:
        spaces: tuple[DecoderStep, ...] = ()
        if rules.escape_whitespaces:
            normalizer = (ReplaceText(" ", _MARK),)
            spaces = (Replace(_MARK, " "),)
        decoder = (*spaces, ByteFallback(), Fuse())
    framing = file.framing(
        added,
        rules is pre_tokenizers()["gemma4"] or file.flag("add_bos_token", rules.add_bos),
        file.flag("add_eos_token", False),
        bos,
        eos,
    )
    return Pipeline(model, cut, framing, normalizer=normalizer, decoder=decoder)


def _byte_model(
    texts: list[str], merges: npt.NDArray[np.uint32], added: list[AddedToken], rules: PreTokenizer
) -> tuple[BPE, list[AddedToken]]:
    """Return the model of tokens in GPT-2's alphabet, and the tokens that are added to it.

    An added token is removed from the model, unless it is a byte or part of a merge.
    """
    vocab = [
        byte_spelling.bytes_outside(text, rules.ignore_merges) if token is None else token
        for text, token in zip(texts, unspell_all(texts), strict=True)
    ]
    in_merges = np.isin([token.id for token in added], merges).tolist()
    kept = []
    for token, is_used in zip(added, in_merges, strict=True):
        if not is_used and len(vocab[token.id]) != 1:
            vocab[token.id] = b""
        if vocab[token.id] in (b"", token.content.encode()):
            kept.append(token)
    return BPE(tuple(vocab), merges, rules.ignore_merges), kept


def _character_model(
    texts: list[str], merges: npt.NDArray[np.uint32], added: list[AddedToken], rules: PreTokenizer
) -> tuple[CharacterBPE, list[AddedToken]]:
    """Return the model whose tokens are text, with byte fallback, and the added tokens."""
    vocab = tuple(text.encode(errors="surrogateescape") for text in texts)
    model = CharacterBPE(vocab, merges, byte_fallback=True, whole_chunk_first=rules.ignore_merges)
    return model, added


_KINDS: dict[str, Callable[[Vocabulary], Pipeline]] = {
    "llama": _llama,
    "gpt2": _gpt2,
    "bert": _bert,
    "t5": _t5,
    "gemma4": _gemma4,
}
"""The readers by the name in ``tokenizer.ggml.model``."""


def contents(pipeline: Pipeline, path: Path) -> dict[Path, bytes]:
    """Raise an error, because this format is only read.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        f"{path}: GGUF files cannot be written, because they hold a whole model; write a "
        "tokenizer.json and convert the model with llama.cpp"
    )
