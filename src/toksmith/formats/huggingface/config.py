"""tokenizer_config.json and special_tokens_map.json: the roles of special tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toksmith.framing import Framing, TextPart, TokenPart
from toksmith.pipeline import Pipeline

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
    """Return the contents of tokenizer_config.json and special_tokens_map.json.

    ``transformers.AutoTokenizer`` needs them to load the folder and to know the :func:`roles`.
    """
    known = roles(pipeline)
    framing = pipeline.framing
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,  # the decoder does it if necessary
        "model_input_names": ["input_ids", *_types(framing), "attention_mask"],
    }
    if framing.truncation:
        config["model_max_length"] = framing.truncation.max_length
        config["truncation_side"] = framing.truncation.direction
    if framing.padding:
        config["padding_side"] = framing.padding.direction
    return {
        folder / "tokenizer_config.json": _to_json(config | known),
        folder / "special_tokens_map.json": _to_json(known),
    }


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
