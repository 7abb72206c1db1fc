"""The pre-tokenizer of a tokenizer.json."""

from __future__ import annotations

from typing import Any

import regex

from toksmith.errors import UnsupportedError
from toksmith.formats.hf_entries import Entry
from toksmith.formats.oniguruma import from_oniguruma, to_oniguruma
from toksmith.splitters import PatternSplitter, Splitter, splitter

BYTE_LEVEL: dict[str, Any] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}


def read(entry: Entry) -> tuple[Splitter | None, bool]:
    """Return how the text is cut, and whether the model then sees bytes (spelled) or characters.

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
        return splitter("gpt2"), True
    if len(before) > 1:
        raise entry.refused()
    return (_read_split(before[0]) if before else None), True


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


def write(cut: Splitter | None, byte_level: bool) -> dict[str, Any] | None:
    """Return the pre-tokenizer that cuts so.

    Raises:
        UnsupportedError: ``tokenizers`` would read the pattern otherwise.
    """
    if cut is not None and cut == splitter("gpt2"):
        return BYTE_LEVEL
    spelling = BYTE_LEVEL | {"use_regex": False}
    if cut is None:
        return spelling
    if not isinstance(cut, PatternSplitter) or not byte_level:
        raise UnsupportedError(f"huggingface: {cut!r:.80} cannot be written yet")
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
    return {"type": "Sequence", "pretokenizers": [split, spelling]}
