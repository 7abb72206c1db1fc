"""The parts around the model in a tokenizer.json: pre-tokenizer, template, decoder."""

from __future__ import annotations

from typing import Any

import regex

from toksmith.errors import UnsupportedError
from toksmith.formats.byte_alphabet import spell
from toksmith.formats.hf_entries import Entry
from toksmith.formats.oniguruma import from_oniguruma, to_oniguruma
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, splitter

BYTE_LEVEL: dict[str, Any] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}


def read_pre_tokenizer(entry: Entry) -> PatternSplitter | None:
    """Return how the text is cut.

    Raises:
        UnsupportedError: in a way that cannot be read yet.
    """
    parts = [entry]
    if entry.value is not None and entry.get("type").value == "Sequence":
        entry.only("type", "pretokenizers")
        parts = list(entry.get("pretokenizers").items())
    # Without the byte level at the end, the model would see characters and not bytes.
    if not parts or parts[-1].value is None or parts[-1].get("type").value != "ByteLevel":
        raise entry.refused()
    *before, last = parts
    last.only(*BYTE_LEVEL)
    last.expect("add_prefix_space", False)
    last.expect("trim_offsets", None, False, True)  # moves offsets, not tokens
    last.expect("use_regex", None, False, True)
    use_regex = last.value.get("use_regex") is not False
    if use_regex and before:
        raise last.get("use_regex").refused()
    if use_regex:
        return splitter("gpt2")
    if len(before) > 1:
        raise entry.refused()
    return _read_split(before[0]) if before else None


def _read_split(entry: Entry) -> PatternSplitter:
    entry.expect("type", "Split")
    entry.only("type", "pattern", "behavior", "invert")
    entry.expect("invert", False, True)
    holder = entry.get("pattern")
    holder.only("Regex", "String")
    if len(holder.value) != 1:
        raise holder.refused()
    if "String" in holder.value:
        pattern = regex.escape(holder.text("String"), special_only=True, literal_spaces=True)
    else:
        pattern = from_oniguruma(holder.text("Regex")) or ""
    if not pattern:
        raise holder.refused()
    behavior, invert = entry.get("behavior").of(str), entry.value["invert"]
    if behavior == "Isolated":
        return PatternSplitter(pattern)
    if behavior == "Removed" and invert:
        return PatternSplitter(pattern, gaps="drop")
    raise entry.get("behavior").refused()


def write_pre_tokenizer(cut: PatternSplitter | None) -> dict[str, Any]:
    """Return the pre-tokenizer that cuts so.

    Raises:
        UnsupportedError: ``tokenizers`` would read the pattern otherwise.
    """
    if cut is not None and cut == splitter("gpt2"):
        return BYTE_LEVEL
    byte_level = BYTE_LEVEL | {"use_regex": False}
    if cut is None:
        return byte_level
    if not (pattern := to_oniguruma(cut.pattern)):
        raise UnsupportedError(
            f"huggingface runs patterns with another engine, which may read {cut.pattern!r} "
            r"otherwise; of anchors, \w, \b, flags, nested sets and possessive intervals it can "
            "hold none (minbpe and tiktoken can)"
        )
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated" if cut.gaps == "keep" else "Removed",
        "invert": cut.gaps == "drop",
    }
    return {"type": "Sequence", "pretokenizers": [split, byte_level]}


def check_decoder(entry: Entry) -> None:
    """Check that ids are decoded byte by byte.

    Raises:
        UnsupportedError: they are not.
    """
    if entry.value is None or entry.get("type").value != "ByteLevel":
        raise entry.refused()
    entry.only(*BYTE_LEVEL)


def read_post_processor(entry: Entry) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids that the template puts before and after a text.

    Raises:
        UnsupportedError: it does something else, or something more.
    """
    if entry.value is None:
        return (), ()
    kind = entry.get("type").value
    if kind == "ByteLevel":
        entry.only(*BYTE_LEVEL)
        return (), ()
    if kind == "Sequence":
        entry.only("type", "processors")
        found = [read_post_processor(part) for part in entry.get("processors").items()]
        # Each template goes around what the ones before it made.
        prefix = tuple(i for part in reversed(found) for i in part[0])
        return prefix, tuple(i for part in found for i in part[1])
    if kind != "TemplateProcessing":
        raise entry.refused()
    entry.only("type", "single", "pair", "special_tokens")
    return _read_template(entry)


def _read_template(entry: Entry) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sides: list[list[int]] = [[]]
    special = entry.get("special_tokens")
    for piece in entry.get("single").items():
        piece.only("SpecialToken", "Sequence")
        if len(piece.value) != 1:
            raise piece.refused()
        if "Sequence" in piece.value:
            piece.get("Sequence").expect("id", "A")
            sides.append([])
            continue
        ids = special.get(piece.get("SpecialToken").text("id")).get("ids")
        sides[-1] += [item.token_id() for item in ids.items()]
    if len(sides) != 2:
        raise entry.get("single").refused()
    return tuple(sides[0]), tuple(sides[1])


def write_post_processor(pipeline: Pipeline) -> dict[str, Any]:
    """Return the template of the pipeline's framing."""
    framing, vocab = pipeline.framing, pipeline.model.vocab
    if not framing.prefix and not framing.suffix:
        return BYTE_LEVEL
    names = {i: spell(token) for i, token in enumerate(vocab) if token}
    names |= {token.id: token.content for token in framing.added_tokens}
    around = framing.prefix + framing.suffix
    if unknown := [i for i in around if i not in names]:
        raise UnsupportedError(f"the template puts id {unknown[0]}, which is no token")

    def template(kind: int, sequence: str) -> list[dict[str, Any]]:
        pieces = [
            [{"SpecialToken": {"id": names[i], "type_id": kind}} for i in ids]
            for ids in (framing.prefix, framing.suffix)
        ]
        return [*pieces[0], {"Sequence": {"id": sequence, "type_id": kind}}, *pieces[1]]

    return {
        "type": "TemplateProcessing",
        "single": template(0, "A"),
        "pair": template(0, "A") + template(1, "B"),
        "special_tokens": {
            names[i]: {"id": names[i], "ids": [i], "tokens": [names[i]]} for i in around
        },
    }
