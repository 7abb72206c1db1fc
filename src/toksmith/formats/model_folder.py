"""Reads a model folder: the vocabulary and the configuration files beside it, as one tokenizer.

The vocabulary is tokenizer.json, else the files of the tokenizer's class (see
huggingface/classes.py), else any file that another format reads. The configuration adds special
tokens, their roles, the template, lengths and chat templates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard

from toksmith import decoders
from toksmith._base import files
from toksmith._base.commits import read_whole_save
from toksmith._base.records import replace
from toksmith.errors import FormatError, UnsupportedError, warn
from toksmith.formats import gpt2, tekken, tiktoken, wordpiece_vocab
from toksmith.formats.huggingface import class_parts, file, pair
from toksmith.formats.huggingface.added_ids import Numbering
from toksmith.formats.huggingface.class_rules import MODELS, Build, TokenizerClass
from toksmith.formats.huggingface.classes import ANY_FILE, find_class
from toksmith.formats.huggingface.declared import MAIN, Declared, read_declared
from toksmith.formats.huggingface.folder_settings import read_settings
from toksmith.formats.huggingface.folder_vocabulary import (
    Pieces,
    read_merges,
    read_pieces,
    read_words,
)
from toksmith.formats.huggingface.framing import read_added_tokens, write_added_token
from toksmith.formats.huggingface.unread_classes import UNREAD
from toksmith.formats.listed import PAIR, Hints
from toksmith.framing import Framing, Template
from toksmith.models import BPE, CharacterBPE, SentencePieceBPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter

CONFIG_FILES = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
"""The files that declare special tokens and rules."""

_SUFFIXES = (".model", ".tiktoken")
_CLEANED = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"),
    (" n't", "n't"), (" 'm", "'m"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


def holds_pair(folder: Path) -> bool:
    """Return whether a folder has vocab.json, merges.txt and a file that declares the class."""
    declares = (folder / name for name in (*CONFIG_FILES, "config.json"))
    return all((folder / name).is_file() for name in PAIR) and any(map(Path.is_file, declares))


def holds(folder: Path) -> bool:
    """Return whether a folder has a configuration file, or a vocabulary that only folders have."""
    names = (MAIN, *CONFIG_FILES)
    return any((folder / name).is_file() for name in names) or bool(_models(folder))


def _models(folder: Path) -> list[str]:
    """Return the names of SentencePiece models and ranks, those of ``transformers`` first."""
    known = ["tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model"]
    try:
        others = sorted(path.name for path in folder.iterdir() if path.suffix in _SUFFIXES)
    except OSError:
        others = []
    return [name for name in dict.fromkeys([*known, *others]) if (folder / name).is_file()]


def read(folder: Path, use_main: bool = True) -> Pipeline:
    """Read a model folder.

    Args:
        folder: the folder.
        use_main: whether a tokenizer.json in it comes before the files of the class.

    Raises:
        FormatError: a file is damaged, or two files give one id to two tokens.
        UnsupportedError: the folder holds no vocabulary that the tokenizer's class reads.
    """
    return read_whole_save(folder / MAIN, lambda: _read(folder, use_main))


def _read(folder: Path, use_main: bool) -> Pipeline:
    declared = read_declared(folder)
    if declared.flag("split_special_tokens"):
        warn(
            f"{folder}: split_special_tokens is true in tokenizer_config.json, so transformers "
            "encodes special tokens in a text as text; toksmith decides this per call: leave "
            'special= at "text" for the same ids'
        )
    rules = find_class(declared.kind or "")
    if use_main and (folder / MAIN).is_file():
        pipeline, roles = _read_json(folder, declared, rules)
    elif rules is not None and rules.build is not None and not _has_ranks(folder, rules):
        path, vocabulary = _vocabulary(folder, declared, rules)
        build = rules.build(declared, vocabulary)
        pipeline, roles = _read_class(path, declared, rules, build, vocabulary)
    else:
        pipeline, roles = _read_plain(folder, declared, rules)
    return replace(
        pipeline,
        decoder=_cleaned(declared, pipeline),
        settings=read_settings(declared, rules, pipeline, roles),
    )


# The three kinds of vocabulary


def _read_json(
    folder: Path, declared: Declared, rules: TokenizerClass | None
) -> tuple[Pipeline, dict[str, str]]:
    path = folder / MAIN
    root = file.root_of(path)
    held = read_added_tokens(root)
    model = root.get("model").of(dict)
    numbering = Numbering(path, partial(_ids_of, model), held)
    roles = numbering.add_declared(declared, rules)
    changed = root.value | {"added_tokens": [write_added_token(t) for t in numbering.added]}
    if rules is not None:
        changed |= _overridden(path, declared, rules, changed)
        if root.get("post_processor").value is None:
            changed["post_processor"] = _post_processor(declared, rules, numbering.finder(roles))
    pipeline = file.pipeline_of(path, changed)
    if rules is None or rules.template is None:
        _check_ends(declared, pipeline, roles, numbering)
    return pipeline, roles


def _ids_of(model: Mapping[str, Any]) -> dict[str, int]:
    """Return the ids of the tokens in the model of a tokenizer.json, which is not checked yet."""
    vocab = model.get("vocab")
    if isinstance(vocab, dict):
        return {content: i for content, i in vocab.items() if type(i) is int}
    pairs = enumerate(vocab if isinstance(vocab, list) else ())
    return {
        item[0]: place
        for place, item in pairs
        if isinstance(item, list) and item and isinstance(item[0], str)
    }


def _ids_of_bytes(vocab: Sequence[bytes]) -> dict[str, int]:
    return {token.decode("utf-8", "replace"): i for i, token in enumerate(vocab) if token}


def _read_class(
    path: Path, declared: Declared, rules: TokenizerClass, build: Build, vocabulary: object
) -> tuple[Pipeline, dict[str, str]]:
    numbering = Numbering(path, partial(_ids_of, build.model))
    pieces = vocabulary.added if isinstance(vocabulary, Pieces) else []
    roles = numbering.add_declared(declared, rules, pieces)
    root = {
        "version": "1.0",
        "added_tokens": [write_added_token(token) for token in numbering.added],
        "normalizer": build.normalizer,
        "pre_tokenizer": build.pre_tokenizer,
        "post_processor": _post_processor(declared, rules, numbering.finder(roles)),
        "decoder": build.decoder,
        "model": build.model,
    }
    return file.pipeline_of(path, root), roles


def _has_ranks(folder: Path, rules: TokenizerClass) -> bool:
    """Return whether the file of a SentencePiece model holds ranks, as Llama 3's does."""
    models = _models(folder)
    return rules.files == MODELS and bool(models) and tiktoken.recognise(folder / models[0])


def _vocabulary(folder: Path, declared: Declared, rules: TokenizerClass) -> tuple[Path, Any]:
    """Return the path and the content of the class's vocabulary file."""
    if not rules.files:
        return folder / "tokenizer_config.json", None
    if rules.files == PAIR:
        vocab, merges = (folder / name for name in PAIR)
        if vocab.is_file() and merges.is_file():
            return vocab, read_merges(vocab, merges)
    elif rules.files == ("vocab.txt",):
        if (folder / "vocab.txt").is_file():
            return folder / "vocab.txt", read_words(folder / "vocab.txt")
    elif models := _models(folder):
        return folder / models[0], read_pieces(folder / models[0])
    names = " + ".join(PAIR) if rules.files == PAIR else " or ".join(rules.files)
    raise FormatError(folder, f"{declared.kind} needs {MAIN} or {names}, and there is neither")


def _read_plain(
    folder: Path, declared: Declared, rules: TokenizerClass | None
) -> tuple[Pipeline, dict[str, str]]:
    """Read the folder by its vocabulary alone, for classes without rules of their own."""
    kind = declared.kind
    if kind in UNREAD:
        raise UnsupportedError(f"{folder}: {kind} cannot be read: {UNREAD[kind]}")
    if kind is not None and kind not in ANY_FILE and rules is None:
        raise UnsupportedError(
            f"{folder}: tokenizer_class is {kind!r:.80}, whose rules are not in the vocabulary "
            f"files; load its {MAIN} instead (AutoTokenizer.from_pretrained(…).save_pretrained(…) "
            "writes one)"
        )
    path, pipeline = _by_file(folder)
    framing = pipeline.framing
    vocab = pipeline.model.vocab
    numbering = Numbering(path, partial(_ids_of_bytes, vocab), framing.added_tokens, len(vocab))
    if isinstance(pipeline.model, BPE) and path.is_file() and not framing.added_tokens:
        numbering.reserve(declared)
    roles = _roles_of_model(pipeline) | numbering.add_declared(declared, rules)
    template = framing.template
    if path.is_file() and (
        kind is not None or declared.config.get("add_bos_token").value is not None
    ):
        template = _around(declared, roles, numbering.finder(roles))
    changed = Framing(tuple(numbering.added), template=template, trim_offsets=framing.trim_offsets)
    return replace(pipeline, framing=changed), roles


def _by_file(folder: Path) -> tuple[Path, Pipeline]:
    from toksmith.formats import sentencepiece  # imports protobuf

    for model in _models(folder):
        path = folder / model
        if sentencepiece.recognise(path):
            return path, sentencepiece.read(path, Hints())
        if tiktoken.sidecar(path).is_file():
            return path, tiktoken.read(path, Hints())
        if tiktoken.recognise(path):  # such as Llama 3's tokenizer.model
            cut = splitter("gpt4")
            return path, tiktoken.pipeline_of(path, files.read_bytes(path), cut, Framing())
    if all((folder / name).is_file() for name in PAIR):
        encoder, merges = (folder / name for name in PAIR)
        return folder, pair.apply_config(encoder, gpt2.read_pair(encoder, merges))
    for format_ in (tekken, gpt2, wordpiece_vocab):
        if format_.recognise(folder):
            return folder, format_.read(folder, Hints())
    raise FormatError(
        folder,
        f"holds no vocabulary: neither {MAIN}, {' + '.join(PAIR)}, vocab.txt, tekken.json nor a "
        "SentencePiece model (tokenizer.model, spiece.model)",
    )


def _roles_of_model(pipeline: Pipeline) -> dict[str, str]:
    names = {token.id: token.content for token in pipeline.framing.added_tokens}
    found = {}
    for role in ("bos", "eos", "unk"):
        token_id = getattr(pipeline.model, f"{role}_id", None)
        if token_id in names:
            found[f"{role}_token"] = names[token_id]
    return found


# Templates


def _post_processor(
    declared: Declared, rules: TokenizerClass, find: Callable[[str], tuple[str, int]]
) -> dict[str, Any] | None:
    if rules.template is None:
        add_bos = declared.flag("add_bos_token", rules.add_bos)
        add_eos = declared.flag("add_eos_token")
        before, after = ("bos_token:{} " if add_bos else ""), (" eos_token:{}" if add_eos else "")
        single = f"{before}A:{{}}{after}".format(*[0] * 3)
        pair = f"{single} {before}B:{{}}{after}".format(*[1] * 3)
        return class_parts.template(single, pair, find)
    if rules.trims and declared.flag("trim_offsets", True):
        cls, sep = (find(role) for role in ("cls_token", "sep_token"))
        prefix = declared.flag("add_prefix_space")
        return class_parts.step(
            "RobertaProcessing", sep=[*sep], cls=[*cls], trim_offsets=True, add_prefix_space=prefix
        )
    single, pair = (part.replace("src_lang", _language(declared)) for part in rules.template)
    if "task" in single:
        single, pair = (part.replace("task", _task(declared)) for part in (single, pair))
    return class_parts.template(single, pair, find)


def _language(declared: Declared) -> str:
    entry = declared.config.get("src_lang")
    return "en_XX" if entry.value is None else entry.of(str)


def _task(declared: Declared) -> str:
    """Return Whisper's tokens for the language and the task that the configuration sets."""
    set_ = [declared.config.get(key) for key in ("language", "task")]
    tokens = [f"<|{entry.of(str)}|>" for entry in set_ if entry.value is not None]
    if not declared.flag("predict_timestamps"):
        tokens.append("<|notimestamps|>")
    return " ".join(tokens)


def _around(
    declared: Declared,
    roles: Mapping[str, str],
    find: Callable[[str], tuple[str, int]],
) -> Template:
    """Return the template that the flags of the configuration ask for."""
    ends = [
        [find(role)[1]] if declared.flag(f"add_{role}") and role in roles else []
        for role in ("bos_token", "eos_token")
    ]
    return Template.around(*ends)


def _check_ends(
    declared: Declared, pipeline: Pipeline, roles: Mapping[str, str], numbering: Numbering
) -> None:
    """Warn if the configuration's BOS and EOS rules are not those of tokenizer.json."""
    template = pipeline.framing.template
    for role, has in (("bos_token", template.prefix), ("eos_token", template.suffix)):
        wanted = declared.optional_flag(f"add_{role}")
        if wanted is None or role not in roles:
            continue
        token_id = numbering.finder(roles)(role)[1]
        if wanted != (token_id in has):
            warn(
                f"{declared.folder}: add_{role} is {str(wanted).lower()} in tokenizer_config.json, "
                f"but the template of {MAIN} says otherwise; {MAIN} is used, as in transformers"
            )


# What the configuration overrides


def _overridden(
    path: Path, declared: Declared, rules: TokenizerClass, root: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parts of tokenizer.json that the class makes anew from its own flags."""
    changed: dict[str, Any] = {}
    normalizer, cut = root.get("normalizer"), root.get("pre_tokenizer")
    if "do_lower_case" in rules.overrides and _is(normalizer, "BertNormalizer"):
        own = class_parts.bert_normalizer(declared)
        for key, name in (
            ("lowercase", "do_lower_case"),
            ("strip_accents", "strip_accents"),
            ("handle_chinese_chars", "tokenize_chinese_chars"),
        ):
            if normalizer.get(key) != own[key]:
                _warn_of_flag(path, declared, name, own[key], f"normalizer.{key}", normalizer, key)
                changed["normalizer"] = own
    if "add_prefix_space" in rules.overrides:
        steps: list[Any] = list(cut["pretokenizers"]) if _is(cut, "Sequence") else [cut]
        last = steps[-1] if steps else None
        key, prefix = "add_prefix_space", declared.flag("add_prefix_space", rules.prefix)
        if _is(last, "ByteLevel") and last.get(key) != prefix:
            _warn_of_flag(path, declared, key, prefix, f"pre_tokenizer.{key}", last, key)
            steps[-1] = {**last, key: prefix}
            changed["pre_tokenizer"] = class_parts.pre_tokenizers(*steps)
    return changed


def _is(step: object, kind: str) -> TypeGuard[dict[str, Any]]:
    return isinstance(step, dict) and step.get("type") == kind


def _warn_of_flag(
    path: Path,
    declared: Declared,
    name: str,
    value: object,
    entry: str,
    step: Mapping[str, Any],
    key: str,
) -> None:
    source = "tokenizer_config.json" if name in declared.config.of(dict) else f"{declared.kind}"
    warn(
        f"{path}: {name} is {files.dump(value)} in {source}, but {entry} is "
        f"{files.dump(step.get(key))} in {MAIN}; the former is used, as in transformers"
    )


def _cleaned(declared: Declared, pipeline: Pipeline) -> decoders.Decoder | None:
    """Return the decoder, with the clean-up of spaces if the configuration sets it.

    Transformers leaves the text of BPE models as it is.
    """
    is_bpe = isinstance(pipeline.model, BPE | CharacterBPE | SentencePieceBPE)
    if is_bpe or not declared.flag("clean_up_tokenization_spaces"):
        return pipeline.decoder
    steps = (decoders.Replace(spaced, text) for spaced, text in _CLEANED)
    return (*(pipeline.decoder or ()), decoders.Fuse(), *steps)
