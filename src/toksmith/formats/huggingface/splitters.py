"""Reads and writes the pre-tokenizer of a tokenizer.json.

For byte-level models, ``tokenizers`` spells the bytes of each piece as characters, by ``ByteLevel``
at the end. Byte-level BPE takes bytes, so only the regular expression and the leading space of that
step remain. Before any other model, the step spells the bytes here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from toksmith._base import files
from toksmith._base.checks import assert_never
from toksmith._base.lazy import regex
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats.gap_patterns import may_be_empty
from toksmith.formats.huggingface import patterns
from toksmith.formats.huggingface.entries import Entry
from toksmith.splitters import (
    FAMILIES,
    Behavior,
    BertSplitter,
    ByteSpelling,
    CharacterDelimiter,
    Digits,
    FixedLength,
    LeadingSpace,
    Metaspace,
    PatternSplitter,
    Punctuation,
    SpelledBytes,
    Split,
    Splitter,
    SplitterSequence,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)

MOST_PARTS = 32
"""The maximum number of pre-tokenizers of a file. Each takes up to 50 ms to combine with others."""

BYTE_LEVEL: dict[str, Any] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}

_GPT2 = PatternSplitter(FAMILIES["gpt2"].pattern)
_BEHAVIORS: dict[str, Behavior] = {
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged-with-previous",
    "MergedWithNext": "merged-with-next",
    "Contiguous": "contiguous",
}
_BEHAVIOR_NAMES = {behavior: name for name, behavior in _BEHAVIORS.items()}
_WITHOUT_OPTIONS: dict[str, Splitter] = {
    "BertPreTokenizer": BertSplitter(),
    "UnicodeScripts": UnicodeScripts(),
    "Whitespace": Whitespace(),
    "WhitespaceSplit": WhitespaceSplit(),
}


def is_byte_level(entry: Entry) -> bool:
    """Return whether the text is spelled as bytes once, and only cut after that."""
    kinds = [part.get("type").value for part in _parts(entry)]
    return kinds.count("ByteLevel") == 1 and "Metaspace" not in kinds[kinds.index("ByteLevel") :]


def read(entry: Entry, byte_level: bool) -> Splitter | None:
    """Return the splitter.

    Args:
        entry: the file's pre-tokenizer.
        byte_level: whether the model takes the bytes themselves where they are spelled.

    Raises:
        FormatError: the file is damaged.
        UnsupportedError: a pre-tokenizer is not supported; the message names it.
    """
    steps: list[Splitter] = []
    spelled: list[Splitter] = []  # those after ByteLevel
    place = steps
    with files.reading(entry.path):
        for number, part in enumerate(_parts(entry), 1):
            if number > MOST_PARTS:
                raise FormatError(
                    entry.path,
                    f"{entry.name} has more than {MOST_PARTS} pre-tokenizers, which is the limit, "
                    "as tables for all of them together take time: join their patterns",
                )
            kind = part.get("type").value
            if kind == "ByteLevel":
                steps += _read_byte_level(part)
                if byte_level:
                    place = spelled
                else:
                    steps.append(ByteSpelling())
            elif isinstance(kind, str) and kind in _READERS:
                place.append(_READERS[kind](part))
            else:
                raise part.refusal()
    if spelled:
        steps.append(SpelledBytes(tuple(spelled)))
    if len(steps) > 1:
        return _joined(steps) or SplitterSequence(tuple(steps))
    return steps[0] if steps else None


def _joined(steps: list[Splitter]) -> PatternSplitter | None:
    """Return one splitter of several patterns; ``None`` if a step is something else."""
    cuts = [step for step in steps if isinstance(step, PatternSplitter) and step.gaps == "keep"]
    if len(cuts) < len(steps):
        return None
    first, *then = (pattern for cut in cuts for pattern in cut.patterns)
    return PatternSplitter(first, then=tuple(then))


def _parts(entry: Entry) -> Iterator[Entry]:
    """Yield the pre-tokenizers in order, with nested sequences flattened."""
    if entry.value is None:
        return
    if entry.get("type").value != "Sequence":
        yield entry
        return
    entry.only("type", "pretokenizers")
    for part in entry.get("pretokenizers").items():
        part.of(dict)
        yield from _parts(part)


def _read_byte_level(entry: Entry) -> list[Splitter]:
    entry.only(*BYTE_LEVEL)
    entry.expect("add_prefix_space", False, True)
    entry.expect("trim_offsets", None, False, True)  # moves offsets, not tokens
    entry.expect("use_regex", None, False, True)
    steps: list[Splitter] = [LeadingSpace()] if entry.value["add_prefix_space"] else []
    return steps if entry.value.get("use_regex") is False else [*steps, _GPT2]


def _read_split(entry: Entry) -> Splitter:
    entry.only("type", "pattern", "behavior", "invert")
    entry.expect("invert", False, True)
    pattern, is_regex = patterns.read(entry.get("pattern"))
    behavior, invert = _read_behavior(entry.get("behavior")), entry.value["invert"]
    # The two most common patterns have their own splitters, which drop empty matches.
    keeps, drops = behavior == "isolated", behavior == "removed" and invert
    if (keeps or drops) and not (is_regex and may_be_empty(pattern)):
        if not is_regex:
            pattern = regex.escape(pattern, special_only=True, literal_spaces=True)
        return PatternSplitter(pattern, "drop" if drops else "keep")
    return Split(pattern, behavior, invert, is_regex)


def _read_behavior(entry: Entry) -> Behavior:
    if (name := entry.of(str)) not in _BEHAVIORS:
        raise entry.refusal()
    return _BEHAVIORS[name]


def _read_delimiter(entry: Entry) -> Splitter:
    entry.only("type", "delimiter")
    return CharacterDelimiter(entry.text("delimiter"))


def _read_digits(entry: Entry) -> Splitter:
    entry.only("type", "individual_digits")
    return Digits(entry.get("individual_digits").of(bool))


def _read_fixed_length(entry: Entry) -> Splitter:
    entry.only("type", "length")
    length = entry.get("length")
    return FixedLength() if length.value is None else FixedLength(length.of(int))


def _read_punctuation(entry: Entry) -> Splitter:
    entry.only("type", "behavior")
    behavior = entry.get("behavior")
    return Punctuation() if behavior.value is None else Punctuation(_read_behavior(behavior))


def _read_metaspace(entry: Entry) -> Splitter:
    entry.only("type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep")
    entry.expect("prepend_scheme", "always", "first", "never", None)
    entry.expect("split", True, False, None)
    entry.expect("add_prefix_space", True, False, None)  # of older files, for prepend_scheme
    scheme = entry.value.get("prepend_scheme")
    prefix = entry.value.get("add_prefix_space")
    if prefix is False and scheme not in ("never", None):
        raise entry.get("add_prefix_space").refusal(
            f"it contradicts prepend_scheme {scheme!r}, and tokenizers refuses it too"
        )
    return Metaspace(
        entry.text("replacement"),
        scheme or ("never" if prefix is False else "always"),
        entry.value.get("split") is not False,
    )


def _read_without_options(entry: Entry) -> Splitter:
    entry.only("type")
    return _WITHOUT_OPTIONS[entry.value["type"]]


_READERS: dict[str, Callable[[Entry], Splitter]] = {
    "CharDelimiterSplit": _read_delimiter,
    "Digits": _read_digits,
    "FixedLength": _read_fixed_length,
    "Metaspace": _read_metaspace,
    "Punctuation": _read_punctuation,
    "Split": _read_split,
    **dict.fromkeys(_WITHOUT_OPTIONS, _read_without_options),
}


def write(cut: Splitter | None, byte_level: bool) -> dict[str, Any] | None:
    """Return the entry of a splitter.

    Args:
        cut: the splitter.
        byte_level: whether the model takes bytes.

    Raises:
        UnsupportedError: ``tokenizers`` has no such splitter, or the pattern may match differently.
    """
    steps = _flat(cut)
    if byte_level:
        spelled = steps.pop() if steps and isinstance(steps[-1], SpelledBytes) else None
        steps += [ByteSpelling(), *(spelled.steps if isinstance(spelled, SpelledBytes) else ())]
    parts: list[dict[str, Any]] = []
    while steps:
        if ByteSpelling() not in steps:
            parts += map(_write, steps)
            break
        place = steps.index(ByteSpelling())
        before, steps = steps[:place], steps[place + 1 :]
        use_regex = bool(before) and before[-1] == _GPT2
        before = before[:-1] if use_regex else before
        leading = bool(before) and before[-1] == LeadingSpace()
        before = before[:-1] if leading else before
        parts += map(_write, before)
        parts.append(BYTE_LEVEL | {"add_prefix_space": leading, "use_regex": use_regex})
    if len(parts) <= 1:
        return parts[0] if parts else None
    return {"type": "Sequence", "pretokenizers": parts}


def _flat(cut: Splitter | None) -> list[Splitter]:
    if isinstance(cut, SplitterSequence):
        return [step for part in cut.steps for step in _flat(part)]
    if isinstance(cut, PatternSplitter) and cut.then:
        return [PatternSplitter(pattern) for pattern in cut.patterns]
    return [] if cut is None else [cut]


def _write(step: Splitter) -> dict[str, Any]:
    match step:
        case BertSplitter() | UnicodeScripts() | Whitespace() | WhitespaceSplit():
            return {"type": next(name for name, known in _WITHOUT_OPTIONS.items() if known == step)}
        case PatternSplitter():
            drops = step.gaps == "drop"
            return _write(Split(step.pattern, "removed" if drops else "isolated", drops))
        case Split():
            return {
                "type": "Split",
                "pattern": patterns.write(step.pattern, step.is_regex),
                "behavior": _BEHAVIOR_NAMES[step.behavior],
                "invert": step.invert,
            }
        case CharacterDelimiter():
            return {"type": "CharDelimiterSplit", "delimiter": step.delimiter}
        case Digits():
            return {"type": "Digits", "individual_digits": step.individual}
        case FixedLength():
            return {"type": "FixedLength", "length": step.length}
        case Punctuation():
            return {"type": "Punctuation", "behavior": _BEHAVIOR_NAMES[step.behavior]}
        case Metaspace():
            return {
                "type": "Metaspace",
                "replacement": step.replacement,
                "prepend_scheme": step.prepend,
                "split": step.split,
            }
        case ByteSpelling() | LeadingSpace() | SpelledBytes() | SplitterSequence():
            raise UnsupportedError(
                f"huggingface: {step!r:.80} has no equivalent at its place in a tokenizer.json"
            )
        case _:
            assert_never(step)
