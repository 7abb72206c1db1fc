"""Running normalizers: each step returns the edits that it makes in a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from toksmith._base.byte_alphabet import spell
from toksmith._base.checks import assert_never
from toksmith.normalizers import (
    Bert,
    ByteLevel,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    SentencePieceNormalizer,
    Step,
    Strip,
    StripAccents,
    UnicodeForm,
)
from toksmith.stages.aligned import AnyText, Edit, apply_edits
from toksmith.stages.character_classes import (
    CODE_POINTS,
    WHITE_SPACE,
    Flags,
    flags_of,
    lower_case,
    places,
    ranges,
    singles,
)
from toksmith.stages.normalize_forms import form_edits
from toksmith.stages.normalize_sentencepiece import precompiled_edits, sentencepiece_edits
from toksmith.stages.split_behaviors import find_matches


def replace_edits(step: Replace, text: str) -> list[Edit]:
    """Return the edits that replace each match.

    The replacement of a match has the origin of its last character; that of an empty match, the
    origin of the character before it.

    Example:
        >>> replace_edits(Replace("--", "-"), "a--b")
        [Edit(start=1, end=2, new=''), Edit(start=2, end=3, new='-')]
    """
    edits: list[Edit] = []
    for start, end in find_matches(step.pattern, step.is_regex, text):
        if start < end - 1:
            edits.append(Edit(start, end - 1, ""))
        if start < end or end == 0:
            edits.append(Edit(max(start, end - 1), end, step.content))
        else:
            edits.append(Edit(end - 1, end, text[end - 1] + step.content))
    return edits


def prepend_edits(step: Prepend, text: str) -> list[Edit]:
    """Return the edit that puts a prefix before a text, with the origin of its first character.

    Example:
        >>> prepend_edits(Prepend("_"), "ab")
        [Edit(start=0, end=1, new='_a')]
    """
    return [Edit(0, 1, step.prefix + text[0])] if text and step.prefix else []


def strip_edits(step: Strip, text: str) -> list[Edit]:
    """Return the edits that remove white space at the ends."""
    start = len(text) - len(text.lstrip(WHITE_SPACE)) if step.left else 0
    end = len(text.rstrip(WHITE_SPACE)) if step.right else len(text)
    if start >= end:  # nothing else is there
        return [Edit(0, len(text), "")] if text and (step.left or step.right) else []
    around = [Edit(0, start, ""), Edit(end, len(text), "")]
    return [edit for edit in around if edit.start < edit.end]


Pass = Callable[[str], list[Edit]]
"""One pass over a text: returns its edits."""


def character_edits(changes: Flags, new: Callable[[str], str], text: str) -> list[Edit]:
    """Return the edits of a text whose characters change each by itself.

    Args:
        changes: which characters change.
        new: what becomes of one of them.
        text: the text.
    """
    return [Edit(place, place + 1, new(text[place])) for place in places(changes, text)]


def lowercase_edits(step: Lowercase, text: str) -> list[Edit]:
    """Return the edits that lower-case each character by itself."""
    return character_edits(_cased(), lower_case().__getitem__, text)


def accent_edits(step: StripAccents, text: str) -> list[Edit]:
    """Return the edits that remove combining marks."""
    return character_edits(flags_of("MARK"), _nothing, text)


def nmt_edits(step: Nmt, text: str) -> list[Edit]:
    """Return the edits of ``Nmt``."""
    return character_edits(_unwanted(), lambda c: " " if c in _NMT_SPACES else "", text)


def bert_passes(step: Bert) -> list[Pass]:
    """Return BERT's passes over a text, one after the other.

    Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers".
    """
    passes: list[Pass] = []
    if step.clean_text:
        passes.append(_clean)
    if step.handle_chinese_chars:
        passes.append(_space_ideographs)
    if step.strips_accents:
        passes += [partial(form_edits, UnicodeForm("NFD")), _strip_nonspacing]
    if step.lowercase:
        passes.append(partial(lowercase_edits, Lowercase()))
    return passes


def _clean(text: str) -> list[Edit]:
    return character_edits(_unclean(), lambda c: " " if c in _BERT_SPACES else "", text)


def _space_ideographs(text: str) -> list[Edit]:
    return character_edits(flags_of("IDEOGRAPH"), lambda c: f" {c} ", text)


def _strip_nonspacing(text: str) -> list[Edit]:
    return character_edits(flags_of("NONSPACING"), _nothing, text)


def _nothing(character: str) -> str:
    return ""


# Control characters that are white space are still removed, but for tabs and line breaks.
_BERT_SPACES = "".join(c for c in WHITE_SPACE if c not in "\x0b\x0c\x85 ")

_NMT_REMOVED = "".join(map(chr, [*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F]))
# Some white space, marks of zero width and of direction, ▁, the byte order mark and U+FFFD.
_NMT_SPACES = "\t\n\f\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"


@cache
def _cased() -> Flags:
    return Flags(singles(lower_case()))


@cache
def _unclean() -> Flags:
    return Flags(ranges("CONTROL"), singles(_BERT_SPACES))


@cache
def _unwanted() -> Flags:
    return Flags(singles(_NMT_REMOVED + _NMT_SPACES))


@cache
def _hidden() -> Flags:
    """Return the characters that the byte alphabet does not spell by themselves."""
    return Flags([(0, 0x20), (0x7F, CODE_POINTS - 1)])


def _spell(character: str) -> str:
    return spell(character.encode("utf-8", "surrogateescape"))


def normalize(normalizer: Normalizer, text: AnyText) -> AnyText:
    """Return a text with all steps of a normalizer done.

    Args:
        normalizer: the steps.
        text: a string, or one that keeps the places of the original.

    Example:
        >>> from toksmith.normalizers import Lowercase, Prepend
        >>> normalize((Lowercase(), Prepend("_")), "Ab")
        '_ab'
    """
    for step in normalizer:
        for edits_of in list_passes(step):
            found = edits_of(str(text))
            text = apply_edits(text, found) if found else text
    return text


def list_passes(step: Step) -> Sequence[Callable[[str], list[Edit]]]:
    """Return the edits of a step on a text, one list per pass; most steps have one pass."""
    match step:
        case Bert():
            return bert_passes(step)
        case (
            UnicodeForm()
            | ByteLevel()
            | Lowercase()
            | StripAccents()
            | Nmt()
            | Precompiled()
            | Prepend()
            | Replace()
            | Strip()
            | SentencePieceNormalizer()
        ):
            return (partial(find_edits, step),)
        case _:
            assert_never(step)


def find_edits(step: Step, text: str) -> list[Edit]:
    """Return the edits of a step of one pass, from left to right."""
    match step:
        case Bert():
            raise NotImplementedError("Bert has several passes")
        case ByteLevel():
            return character_edits(_hidden(), _spell, text)
        case Lowercase():
            return lowercase_edits(step, text)
        case StripAccents():
            return accent_edits(step, text)
        case Nmt():
            return nmt_edits(step, text)
        case UnicodeForm():
            return form_edits(step, text)
        case Prepend():
            return prepend_edits(step, text)
        case Replace():
            return replace_edits(step, text)
        case Strip():
            return strip_edits(step, text)
        case Precompiled():
            return precompiled_edits(step, text)
        case SentencePieceNormalizer():
            return sentencepiece_edits(step, text)
        case _:
            assert_never(step)
