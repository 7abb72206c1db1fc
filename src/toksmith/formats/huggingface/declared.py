"""The configuration files of a model folder, merged as ``transformers`` merges them.

``tokenizer_config.json`` is the main file. Without ``added_tokens_decoder`` in it, the older files
``special_tokens_map.json`` and ``added_tokens.json`` take precedence; with it, they are ignored. If
two files disagree, a warning names both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from toksmith._base import files
from toksmith._base.records import dataclass, field
from toksmith.errors import FormatError, warn
from toksmith.formats.huggingface.entries import Entry
from toksmith.formats.huggingface.model_types import class_of

ROLES = (
    *("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"),
)
"""The roles of special tokens, in the order in which ``transformers`` adds them."""

ADDS = ("add_bos_token", "add_eos_token")
"""Keys that are named like roles, but hold whether a token is added to texts."""

MAIN = "tokenizer.json"
"""The file that holds the vocabulary and all rules; the others are saved together with it."""

_CONFIG, _MAP, _ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
_EXTRA = ("extra_special_tokens", "additional_special_tokens")
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_FLAGS_OF_ROLES = {"special": True, "normalized": False}


@dataclass(frozen=True)
class Literal:
    """A token that a configuration file declares.

    Attributes:
        content: its literal.
        flags: those of its flags that the file gives.
        id: its id; ``None`` if the file gives none.
        source: the file.
    """

    content: str
    flags: Mapping[str, bool]
    id: int | None = None
    source: str = _CONFIG


@dataclass
class Declared:
    """What the configuration files of a folder declare.

    Attributes:
        folder: the folder.
        config: the content of ``tokenizer_config.json``; empty if there is none.
        kind: the tokenizer's class without "Fast"; ``None`` if no file names one.
        numbered: tokens with ids, in the order of their ids.
        named: the special token of each role, model-specific roles (``image_token``) last;
            ``None`` for a role that a file sets to null.
        extra: further special tokens.
    """

    folder: Path
    config: Entry
    kind: str | None
    numbered: list[Literal] = field(default_factory=list)
    named: dict[str, Literal | None] = field(default_factory=dict)
    extra: list[Literal] = field(default_factory=list)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean of tokenizer_config.json; the default if it is null or missing."""
        entry = self.config.get(key)
        return default if entry.value is None else entry.of(bool)

    def optional_flag(self, key: str) -> bool | None:
        """Return a boolean of tokenizer_config.json; ``None`` if it is null or missing."""
        entry = self.config.get(key)
        return None if entry.value is None else entry.of(bool)

    def literals(self) -> Iterator[Literal]:
        """Yield the named and the further special tokens."""
        yield from (each for each in self.named.values() if each is not None)
        yield from self.extra


def read_declared(folder: Path) -> Declared:
    """Return what the configuration files of a folder declare.

    Raises:
        FormatError: a file is damaged, or two files give one id to two tokens.
    """
    config, tokens, added = (_entry(folder / name) for name in (_CONFIG, _MAP, _ADDED))
    found = Declared(folder, config, _kind(folder, config))
    for key in ADDS:
        found.optional_flag(key)  # raises if it is no boolean
    decoder = config.get("added_tokens_decoder")
    is_modern = decoder.value is not None
    found.named = _named(config)
    found.extra = _extra(config)
    older_names, older_extra = _named(tokens, _MAP), _extra(tokens, _MAP)
    for role, literal in older_names.items():
        known = found.named.get(role)
        if role in found.named and _content(known) != _content(literal):
            _warn_of_role(folder, role, known, literal, is_modern)
    if not is_modern:
        found.named |= older_names
        known_extra = {each.content for each in found.extra}
        found.extra += [each for each in older_extra if each.content not in known_extra]
    numbered = _numbered(decoder) if is_modern else []
    older = _older(added, {each.content for each in found.literals()})
    _check_ids(folder, numbered, older)
    found.numbered = sorted(numbered if is_modern else older, key=lambda each: each.id or 0)
    _take_flags(found)
    return found


def _entry(path: Path) -> Entry:
    return Entry(path, "", files.json_if_there(path, path.with_name(MAIN)))


def _kind(folder: Path, config: Entry) -> str | None:
    """Return the tokenizer's class, which the model's own configuration may determine."""
    for entry in (config, _model_config(folder / "config.json")):
        named = entry.get("tokenizer_class")
        if named.value is not None:
            return named.of(str).removesuffix("Fast")
    model_type = entry.get("model_type").value
    return class_of(model_type) if isinstance(model_type, str) else None


def _model_config(path: Path) -> Entry:
    """Return the model's configuration, which is no tokenizer's file and may be anything."""
    try:
        return _entry(path)
    except FormatError:
        return Entry(path, "", {})


def _literal(entry: Entry, source: str, **defaults: bool) -> Literal | None:
    """Return the token of an entry, which is its content or an object with flags."""
    if entry.value is None:
        return None
    if isinstance(entry.value, dict):
        flags = {key: entry.get(key).of(bool) for key in _FLAGS if key in entry.value}
        return Literal(entry.text("content"), defaults | flags, source=source)
    return Literal(entry.of(str), defaults, source=source)


def is_role(key: str) -> bool:
    """Return whether a key of a configuration file can name a special token by its role."""
    return key.endswith("_token") and key not in ADDS


def _named(entry: Entry, source: str = _CONFIG) -> dict[str, Literal | None]:
    held = entry.of(dict)
    others = [
        key
        for key, value in held.items()
        if is_role(key) and key not in ROLES and isinstance(value, str | dict)
    ]
    named = {
        role: _literal(entry.get(role), source, **_FLAGS_OF_ROLES)
        for role in (*ROLES, *others)
        if role in held and not isinstance(held[role], bool)
    }
    extra = entry.get(_EXTRA[0])
    if isinstance(extra.value, dict):  # further roles by name
        named |= {
            role: _literal(extra.get(role), source, **_FLAGS_OF_ROLES) for role in extra.value
        }
    return named


def _extra(entry: Entry, source: str = _CONFIG) -> list[Literal]:
    found: dict[str, Literal] = {}
    for key in _EXTRA:
        held = entry.get(key)
        for item in () if held.value is None or isinstance(held.value, dict) else held.items():
            if (literal := _literal(item, source, **_FLAGS_OF_ROLES)) is not None:
                found.setdefault(literal.content, literal)
    return list(found.values())


def _numbered(decoder: Entry) -> list[Literal]:
    """Return the tokens of ``added_tokens_decoder``, which maps ids to tokens."""
    found = []
    for key in decoder.of(dict):
        item = decoder.get(key)
        if not key.isdecimal():
            raise FormatError(decoder.path, f"{decoder.name} has the key {key!r:.40}, not an id")
        flags = {name: item.get(name).of(bool) for name in _FLAGS if name in item.of(dict)}
        number = Entry(decoder.path, item.name, int(key)).token_id()
        found.append(Literal(item.text("content"), flags, number))
    return found


def _older(added: Entry, special: set[str]) -> list[Literal]:
    """Return the tokens of ``added_tokens.json``, which maps literals to ids."""
    found = []
    for content in added.of(dict):
        number = added.get(content).token_id()
        is_special = content in special
        flags = {"special": is_special, "normalized": not is_special}
        found.append(Literal(content, flags, number, _ADDED))
    return found


def _check_ids(folder: Path, numbered: list[Literal], older: list[Literal]) -> None:
    """Check that no id has two tokens; warn if a token has two ids."""
    by_id: dict[int, Literal] = {}
    by_content: dict[str, Literal] = {}
    for literal in (*numbered, *older):
        assert literal.id is not None
        held = by_id.setdefault(literal.id, literal)
        if held.content != literal.content:
            place = _ADDED if literal.source == _ADDED else _CONFIG
            raise FormatError(
                folder / place,
                f"id {literal.id} is {literal.content!r:.80}, but in {held.source} it is "
                f"{held.content!r:.80}: give each id one token",
            )
        first = by_content.setdefault(literal.content, literal)
        if first.id != literal.id:
            warn(
                f"{folder}: {literal.content!r:.80} has id {first.id} in {first.source} and id "
                f"{literal.id} in {literal.source}; {first.source} is used, as in transformers"
            )


def _warn_of_role(
    folder: Path, role: str, first: Literal | None, second: Literal | None, first_counts: bool
) -> None:
    used = _CONFIG if first_counts else _MAP
    warn(
        f"{folder}: {role} is {_content(first)!r:.80} in {_CONFIG} and {_content(second)!r:.80} in "
        f"{_MAP}; {used} is used, as in transformers"
    )


def _content(literal: Literal | None) -> str | None:
    return None if literal is None else literal.content


def _take_flags(found: Declared) -> None:
    """Give named tokens the flags of the numbered token with the same content."""
    by_content = {each.content: each for each in found.numbered}
    for role, literal in found.named.items():
        if literal is not None and literal.content in by_content:
            found.named[role] = by_content[literal.content]
