"""The settings of a model folder: roles by id, lengths, sides and chat templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from toksmith._base import commits, files
from toksmith._base.plain_names import is_plain
from toksmith.errors import FormatError, warn
from toksmith.formats.huggingface import config
from toksmith.formats.huggingface.class_rules import TokenizerClass
from toksmith.formats.huggingface.declared import MAIN, Declared
from toksmith.framing import Settings
from toksmith.framing.settings import DEFAULT
from toksmith.pipeline import Pipeline

_NO_LIMIT = 10**20  # transformers writes 10**30 for "no limit"
_SIDES = ("left", "right")


def read_settings(
    declared: Declared,
    rules: TokenizerClass | None,
    pipeline: Pipeline,
    roles: dict[str, str],
) -> Settings:
    """Return the settings that a folder declares.

    Args:
        declared: the configuration.
        rules: the tokenizer's class; ``None`` for none.
        pipeline: the tokenizer.
        roles: the special tokens by role.

    Raises:
        FormatError: a file is damaged.
    """
    length = declared.config.get("model_max_length").value
    if length is None:
        length = declared.config.get("max_len").value
    if length is None and rules is not None:
        length = rules.model_max_length
    side = _side(declared, "padding_side") or (rules.padding_side if rules is not None else None)
    limit = int(length) if isinstance(length, int | float) and 0 < length < _NO_LIMIT else None
    padding = pipeline.framing.padding
    if padding and "pad_token" not in declared.named:  # transformers takes it from tokenizer.json
        roles.setdefault("pad_token", padding.token)
    _take_generation_ids(declared, pipeline, roles)
    declares = bool(declared.kind or declared.named or roles)
    return Settings(
        roles if declares else None,
        limit,
        side,  # type: ignore[arg-type]
        _side(declared, "truncation_side"),
        _chat_templates(declared),
    )


def _side(declared: Declared, key: str) -> Literal["left", "right"] | None:
    value = declared.config.get(key).value
    if value is not None and value not in _SIDES:
        raise FormatError(declared.config.path, f"{key} is {value!r:.40}: use left or right")
    return value  # type: ignore[no-any-return]


def _take_generation_ids(declared: Declared, pipeline: Pipeline, roles: dict[str, str]) -> None:
    """Add the roles that only generation_config.json names, by id."""
    path = declared.folder / config.GENERATION
    held = files.json_if_there(path, declared.folder / MAIN)
    texts = {token.id: token.content for token in pipeline.framing.added_tokens if not token.alias}
    by_text = {content: token_id for token_id, content in texts.items()}
    for name in config.BY_ID:
        role, value = f"{name}_token", held.get(f"{name}_token_id")
        ids = [i for i in (value if isinstance(value, list) else [value]) if type(i) is int]
        if not ids:
            continue
        if role in roles:
            own = by_text.get(roles[role])
            if own is not None and own not in ids:
                warn(
                    f"{declared.folder}: {role}_id is {value} in generation_config.json, but "
                    f"{role} is {roles[role]!r} (id {own}) in tokenizer_config.json; the latter is "
                    "used, as in transformers"
                )
        elif role not in declared.named and (text := _text_of(pipeline, texts, ids[0])):
            roles[role] = text


def _text_of(pipeline: Pipeline, texts: Mapping[int, str], token_id: int) -> str | None:
    if token_id in texts:
        return texts[token_id]
    vocab = pipeline.model.vocab
    held = vocab[token_id] if 0 <= token_id < len(vocab) else b""
    try:
        return held.decode() or None
    except UnicodeDecodeError:
        return None


def _chat_templates(declared: Declared) -> dict[str, str]:
    """Return the chat templates by name; files take precedence over tokenizer_config.json."""
    folder, entry = declared.folder, declared.config.get("chat_template")
    held: dict[str, str] = {}
    if isinstance(entry.value, str):
        held[DEFAULT] = entry.value
    elif isinstance(entry.value, dict):
        held = {name: entry.get(name).of(str) for name in entry.value}
    elif entry.value is not None:
        held = {item.text("name"): item.text("template") for item in entry.items()}
    for name in held:
        if not is_plain(name):  # saving writes each template to a file of its name
            raise FormatError(
                entry.path,
                f"chat_template has the name {name!r:.80}, which cannot be that of a file: "
                "rename the template",
            )
    found: dict[str, str] = {}
    first = folder / MAIN
    waiting = {path for path in commits.waiting(first) if path.suffix == config.SUFFIX}
    for path in sorted({*config.template_files(folder), *waiting}):
        name = config.template_name(folder, path)
        found[name] = files.text_of(path, files.read_any(path, first))
    if DEFAULT in found and DEFAULT in held and found[DEFAULT] != held[DEFAULT]:
        warn(
            f"{folder}: chat_template.jinja and the chat_template of tokenizer_config.json differ; "
            "chat_template.jinja is used, as in transformers"
        )
    return found or held
