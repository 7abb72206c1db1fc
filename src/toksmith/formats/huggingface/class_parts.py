"""The parts of a tokenizer.json that the tokenizer classes of ``transformers`` are made of."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from toksmith.formats.huggingface.declared import Declared

Step: TypeAlias = "dict[str, Any]"
"""An entry of a tokenizer.json, with its type."""

_MARK = "\u2581"


def byte_level(prefix: bool = False, use_regex: bool = True) -> Step:
    """Return the pre-tokenizer of GPT-2; ``prefix`` puts a space before a text."""
    flags = {"add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def metaspace(scheme: str = "always", split: bool = True) -> Step:
    """Return the step that writes spaces as ▁."""
    return {"type": "Metaspace", "replacement": _MARK, "prepend_scheme": scheme, "split": split}


def words_metaspace(scheme: str = "always") -> Step:
    """Return the pre-tokenizer that cuts at white space, and puts ▁ before each word."""
    return pre_tokenizers({"type": "WhitespaceSplit"}, metaspace(scheme))


def bert_normalizer(declared: Declared) -> Step:
    """Return BERT's normalizer with the switches of tokenizer_config.json."""
    return {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": declared.flag("tokenize_chinese_chars", True),
        "strip_accents": declared.optional_flag("strip_accents"),
        "lowercase": declared.flag("do_lower_case", True),
    }


def split(pattern: str, behavior: str = "Isolated", invert: bool = False) -> Step:
    """Return the pre-tokenizer that cuts at a regular expression."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def regex(pattern: str, content: str) -> Step:
    """Return the step that replaces the matches of a regular expression."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def literal(pattern: str, content: str) -> Step:
    """Return the step that replaces a literal."""
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def step(kind: str, **options: object) -> Step:
    """Return a step by its type."""
    return {"type": kind, **options}


def precompiled(charsmap: bytes) -> list[Step]:
    """Return the step that applies a character map of SentencePiece; none for an empty map."""
    if not charsmap:
        return []
    return [step("Precompiled", precompiled_charsmap=base64.b64encode(charsmap).decode())]


def normalizers(*steps: Step) -> Step | None:
    """Return one normalizer of several; ``None`` for none."""
    return step("Sequence", normalizers=list(steps)) if steps else None


def pre_tokenizers(*steps: Step) -> Step:
    """Return one pre-tokenizer of several."""
    return step("Sequence", pretokenizers=list(steps))


def byte_fallback_decoder(strips: bool) -> Step:
    """Return Llama's decoder; ``strips`` takes off the space that was put before the text."""
    ends = [step("Strip", content=" ", start=1, stop=0)] if strips else []
    steps = [literal(_MARK, " "), step("ByteFallback"), step("Fuse"), *ends]
    return step("Sequence", decoders=steps)


def template(single: str, pair: str, find: Callable[[str], tuple[str, int]]) -> Step:
    """Return a template.

    Args:
        single: parts separated by spaces: ``A``, a role such as ``cls_token``, or a literal; ``:1``
            at the end is the type.
        pair: the same for two texts, ``A`` and ``B``.
        find: returns the literal and the id of a role or literal.
    """
    used: dict[str, int] = {}

    def piece(part: str) -> Step:
        name, _, kind = part.partition(":")
        type_id = int(kind or 0)
        if name in ("A", "B"):
            return {"Sequence": {"id": name, "type_id": type_id}}
        content, token_id = find(name)
        used[content] = token_id
        return {"SpecialToken": {"id": content, "type_id": type_id}}

    parts = {
        "single": [piece(part) for part in single.split()],
        "pair": [piece(part) for part in pair.split()],
    }
    tokens = {name: {"id": name, "ids": [i], "tokens": [name]} for name, i in used.items()}
    return step("TemplateProcessing", **parts, special_tokens=tokens)


def scored_merges(ids: Mapping[str, int]) -> list[list[str]]:
    """Return the merges of SentencePiece's BPE, from pieces in the order of their scores.

    Each pair of pieces that forms a piece is a merge. Its rank is that of the piece; of one piece,
    the pair with the shorter left side comes first, as in ``transformers``.
    """
    found: list[tuple[int, int, str, str]] = []
    for piece, token_id in ids.items():
        for place in range(1, len(piece)):
            left, right = piece[:place], piece[place:]
            if left in ids and right in ids:
                found.append((token_id, place, left, right))
    found.sort(key=lambda merge: merge[:2])
    return [[left, right] for _, _, left, right in found]


def unigram(pieces: Sequence[tuple[str, float]], unk_id: int) -> Step:
    """Return the entry of a Unigram model."""
    vocab = [[piece, score] for piece, score in pieces]
    return step("Unigram", unk_id=unk_id, vocab=vocab, byte_fallback=False)
