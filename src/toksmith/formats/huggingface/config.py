"""Writes tokenizer_config.json, special_tokens_map.json and chat templates.

If ordinary tokens have roles, also generation_config.json, which names them by id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toksmith._base import files
from toksmith._base.plain_names import is_plain
from toksmith._base.visible import visible_name
from toksmith.errors import FormatError, OptionError, UnsupportedError, warn
from toksmith.formats.huggingface.declared import MAIN, is_role
from toksmith.formats.huggingface.framing import write_added_token
from toksmith.framing import Framing, TextPart, TokenPart
from toksmith.framing.settings import DEFAULT
from toksmith.pipeline import Pipeline
from toksmith.splitters import LeadingSpace, Splitter, SplitterSequence
from toksmith.vocabulary import TokenTable

TEMPLATE, TEMPLATES, SUFFIX = "chat_template.jinja", "additional_chat_templates", ".jinja"
"""The file of the default chat template, the folder of the others, and their suffix."""

_OTHER_TEMPLATES = "chat_templates"  # read, but not written

GENERATION, BY_ID = "generation_config.json", ("bos", "eos", "pad")
"""The file that gives roles to tokens by id, and these roles."""

_SHOWN = 4
"""The number of files that a warning names."""

_LENGTHS = ("model_max_length", "truncation_side", "padding_side")
_DROPPED = (
    *("added_tokens_decoder", "add_bos_token", "add_eos_token", "add_prefix_space", "legacy"),
    *("do_lower_case", "strip_accents", "tokenize_chinese_chars", "fast_tokenizer_files"),
)

# The literals that published models use for each role, the most common first.
_LITERALS: Mapping[str, tuple[str, ...]] = {
    "bos_token": ("<s>", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<|bos|>", "[BOS]"),
    "eos_token": ("</s>", "<eos>", "<|endoftext|>", "<|end_of_text|>", "<|eos|>", "[EOS]"),
    "unk_token": ("<unk>", "[UNK]", "<|unk|>"),
    "sep_token": ("[SEP]",),
    "pad_token": ("<pad>", "[PAD]", "<|pad|>", "<|finetune_right_pad_id|>"),
    "cls_token": ("[CLS]",),
    "mask_token": ("<mask>", "[MASK]"),
}


def contents(pipeline: Pipeline, folder: Path) -> dict[Path, bytes]:
    """Return the contents of the configuration files of a folder.

    ``transformers.AutoTokenizer`` needs them to load the folder and to know the :func:`roles`. Keys
    of an existing ``tokenizer_config.json`` that toksmith does not know are kept. Keys that would
    make ``transformers`` change the tokenizer of tokenizer.json are dropped.

    Raises:
        OptionError: the name of a chat template cannot be that of a file.
        UnsupportedError: an ordinary token has a role that no file can give to it.
    """
    known, settings, framing = roles(pipeline), pipeline.settings, pipeline.framing
    ordinary = _ordinary(pipeline, known)
    known = {role: literal for role, literal in known.items() if role not in ordinary}
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,  # the decoder does it if necessary
        "model_input_names": ["input_ids", *_types(framing), "attention_mask"],
    }
    if _has_leading_space(pipeline.splitter):
        config["add_prefix_space"] = True  # else transformers 4 takes the space away
    sides = settings.truncation_side, settings.padding_side
    length = settings.model_max_length
    if framing.truncation:
        length = framing.truncation.max_length if length is None else length
        sides = sides[0] or framing.truncation.direction, sides[1]
    if framing.padding:
        sides = sides[0], framing.padding.direction
    lengths = zip(_LENGTHS, (length, *sides), strict=True)
    config |= {key: value for key, value in lengths if value is not None}
    templates = dict(settings.chat_templates)
    old = _existing(folder / "tokenizer_config.json")
    kept = {key: value for key, value in old.items() if key not in _DROPPED}
    kept = {
        key: value
        for key, value in kept.items()
        if key not in ordinary and not _is_stale(key, value, pipeline)
    }
    if isinstance(kept.get("auto_map"), dict):
        kept["auto_map"] = {k: v for k, v in kept["auto_map"].items() if k != "AutoTokenizer"}
    if templates:
        kept.pop("chat_template", None)
    if (folder / "added_tokens.json").is_file():  # with this entry, transformers ignores that file
        config["added_tokens_decoder"] = {
            str(token.id): {
                key: value for key, value in write_added_token(token).items() if key != "id"
            }
            for token in framing.added_tokens
        }
    if others := {role: literal for role, literal in known.items() if not is_role(role)}:
        config["extra_special_tokens"] = others
    named = {role: literal for role, literal in known.items() if role not in others}
    found = {
        folder / "tokenizer_config.json": _to_json(kept | config | named),
        folder / "special_tokens_map.json": _to_json(
            {role: literal for role, literal in known.items() if role in _LITERALS}
        ),
        **_generation(folder / GENERATION, pipeline, ordinary),
    }
    for name, text in templates.items():
        if not is_plain(name):
            raise OptionError(
                f"chat_templates has the name {name!r:.80}, which cannot be that of a file: "
                "use letters, digits, _ and -"
            )
        path = TEMPLATE if name == DEFAULT else f"{TEMPLATES}/{name}{SUFFIX}"
        found[folder / path] = text.encode()
    _warn_of_templates(folder, templates, kept.get("chat_template") is not None)
    return found


def template_files(folder: Path) -> list[Path]:
    """Return the files of a folder that hold chat templates."""
    if not folder.is_dir():  # since Python 3.13, glob() raises an error for a name with a null
        return []
    folders = (folder / TEMPLATES, folder / _OTHER_TEMPLATES)
    found = [path for each in folders for path in sorted(each.glob(f"*{SUFFIX}"))]
    return [folder / TEMPLATE, *found] if (folder / TEMPLATE).is_file() else found


def template_name(folder: Path, path: Path) -> str:
    """Return the name of the chat template in a file."""
    return DEFAULT if path == folder / TEMPLATE else path.stem


def _warn_of_templates(folder: Path, templates: Mapping[str, str], has_entry: bool) -> None:
    """Warn of chat templates in a folder that are not those of the tokenizer saved there."""
    left = [
        visible_name(path.relative_to(folder).as_posix())
        for path in template_files(folder)
        if not _is_rewritten(folder, path, templates)
    ]
    if has_entry:
        left.append("chat_template in tokenizer_config.json")
    if left:
        more = f" and {len(left) - _SHOWN:,} more" if left[_SHOWN:] else ""
        warn(
            f"{folder} keeps chat templates that the saved tokenizer does not have: "
            f"{', '.join(left[:_SHOWN])}{more}. "
            "load(folder) will read them as its own: delete them, or save to another folder"
        )


def _is_rewritten(folder: Path, path: Path, templates: Mapping[str, str]) -> bool:
    """Return whether a chat template is one of those saved, or has the same text."""
    text = templates.get(template_name(folder, path))
    if text is None:
        return False
    if path.parent.name != _OTHER_TEMPLATES:
        return True
    try:
        return path.is_file() and path.read_bytes() == text.encode()
    except OSError:
        return False


def _ordinary(pipeline: Pipeline, known: Mapping[str, str]) -> dict[str, int]:
    """Return the ids of the roles that ordinary tokens have.

    As literals in tokenizer_config.json, they would become special tokens, maybe with new ids.

    Raises:
        UnsupportedError: an ordinary token has a role that no file can give to it.
    """
    added = {token.content for token in pipeline.framing.added_tokens}
    if added.issuperset(known.values()):
        return {}
    table = TokenTable(pipeline)
    found = {}
    for role, literal in known.items():
        if literal in added or (token_id := table.find(literal)) is None:
            continue
        if role.removesuffix("_token") not in BY_ID:
            raise UnsupportedError(
                f"a model folder cannot hold that {role} is {literal!r:.80}, which is an ordinary "
                "token: only bos_token, eos_token and pad_token can be one; leave the role out of "
                'the settings, or save the tokenizer without roles: save("tokenizer.json")'
            )
        found[role] = token_id
    return found


def _generation(path: Path, pipeline: Pipeline, ordinary: Mapping[str, int]) -> dict[Path, bytes]:
    """Return generation_config.json, if it has to give other roles than it does."""
    old = _existing(path)
    changed = {}
    for role, token_id in ordinary.items():
        if role == "pad_token" and pipeline.framing.padding:
            continue  # tokenizer.json names it
        held = old.get(f"{role}_id")
        if (held[:1] if isinstance(held, list) else [held]) != [token_id]:
            changed[f"{role}_id"] = token_id
    return {path: _to_json(old | changed)} if changed else {}


def _existing(path: Path) -> dict[str, Any]:
    """Return the old content of a JSON file; nothing if there is none, or it is damaged."""
    try:
        return files.json_if_there(path, path.with_name(MAIN))
    except FormatError:
        return {}


def _is_stale(key: str, value: object, pipeline: Pipeline) -> bool:
    """Return whether an old entry names special tokens that this tokenizer does not have."""
    if not key.endswith(("_token", "_special_tokens")):
        return False
    items = list(value.values()) if isinstance(value, dict) and "content" not in value else value
    named = [
        item.get("content") if isinstance(item, dict) else item
        for item in (items if isinstance(items, list) else [items])
    ]
    added = {token.content for token in pipeline.framing.added_tokens}
    return any(isinstance(name, str) and name not in added for name in named)


def _has_leading_space(cut: Splitter | None) -> bool:
    first = cut.steps[0] if isinstance(cut, SplitterSequence) and cut.steps else cut
    return isinstance(first, LeadingSpace)


def role_of(literal: str) -> str | None:
    """Return the role that published models give to a literal; ``None`` if they do not use it.

    Example:
        >>> role_of("<pad>"), role_of("<|tool|>")
        ('pad_token', None)
    """
    return next((role for role, literals in _LITERALS.items() if literal in literals), None)


def role_ids(pipeline: Pipeline, find: Callable[[str], int | None]) -> dict[str, int]:
    """Return the ids of the special tokens whose use is known, by role.

    Args:
        pipeline: the tokenizer.
        find: returns the id of a literal.
    """
    found = {role: find(literal) for role, literal in roles(pipeline).items()}
    if pipeline.settings.roles is None:
        for role in ("bos", "eos", "unk", "pad"):
            found.setdefault(f"{role}_token", getattr(pipeline.model, f"{role}_id", None))
    return {role: token_id for role, token_id in found.items() if token_id is not None}


def roles(pipeline: Pipeline) -> dict[str, str]:
    """Return the literals of the special tokens whose use is known, by role.

    The roles come from the model, the template and the padding; for other tokens, from a literal
    that published models use.

    Example:
        >>> import toksmith
        >>> special = ["<|endoftext|>", "<pad>", "<|tool|>"]
        >>> tok = toksmith.train(texts=["low"], vocab_size=259, special_tokens=special)
        >>> roles(tok.pipeline)
        {'eos_token': '<|endoftext|>', 'pad_token': '<pad>'}
    """
    framing, model = pipeline.framing, pipeline.model
    if (held := pipeline.settings.roles) is not None:
        return {role: held[role] for role in (*_LITERALS, *held) if role in held}
    names = {t.id: t.content for t in framing.added_tokens if t.special and not t.alias}
    known: dict[str, str] = {}
    for role in ("bos", "eos", "unk", "pad"):
        token_id = getattr(model, f"{role}_id", None)
        if token_id in names:
            known[f"{role}_token"] = names[token_id]
    if framing.padding and framing.padding.token in names.values():
        known["pad_token"] = framing.padding.token
    ends = (framing.prefix, "bos_token", "cls_token"), (framing.suffix, "eos_token", "sep_token")
    for ids, role, other in ends:
        if len(ids) == 1 and (name := names.get(ids[0])):
            known.setdefault(other if name in _LITERALS[other] else role, name)
    for role, literals in _LITERALS.items():
        if found := next((name for name in literals if name in names.values()), None):
            known.setdefault(role, found)
    return {role: known[role] for role in _LITERALS if role in known}


def _types(framing: Framing) -> list[str]:
    """Return the name of the input for type ids, if the template sets any."""
    parts = framing.template.pair
    has_tokens = any(isinstance(part, TokenPart) for part in parts)
    second = any(isinstance(part, TextPart) and part.type_id for part in parts)
    return ["token_type_ids"] if has_tokens and second else []


def _to_json(held: Mapping[str, Any]) -> bytes:
    return (json.dumps(held, ensure_ascii=False, indent=2) + "\n").encode()
