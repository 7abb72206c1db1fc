"""Families are recognised however a pattern spells them, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
from typing import Literal

import pytest
import regex

from tests.kits import bpe
from toksmith import Counts, engine
from toksmith.engine.kernel import KernelEncoder
from toksmith.formats.gap_patterns import cover_gaps, uncover_gaps
from toksmith.splitters import FAMILIES, PatternSplitter, family_of
from toksmith.splitters.compiler import compile_pattern, refusal_of
from toksmith.splitters.recognition import _BY_FINGERPRINT, fingerprint
from toksmith.stages.split_classes import split_text

GPT2 = r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"
CL100K = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K_TAIL = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"

EQUAL = [
    ("gpt2", rf"'s|'t|'re|'ve|'m|'ll|'d|{GPT2}|\s+(?!\S)"),
    ("gpt2", rf"'s|'t|'re|'ve|'m|'ll|'d|{GPT2}|\s+(?!\S)|\s"),
    ("gpt2", rf"(?:'(?:ll|ve|re|m|d|t|s))|{GPT2}|\s+(?=\s|\Z)|\s+"),
    ("gpt2", rf"'[stmd]|'(?:re|ve|ll)|((?:{GPT2}))|(\s+(?!\S)|\s+)"),
    ("gpt2", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^ \t-\r\p{Z}\x85\p{L}\p{N}]+"
             r"|\s+(?!\S)"),
    ("gpt2", r"'s|'t|'re|'ve|'m|'ll|'d|\x20?[\p{Lu}\p{Ll}\p{Lt}\p{Lm}\p{Lo}]+"
             r"| ?[\p{Nd}\p{Nl}\p{No}]+|\ {0,1}[^\s\p{Letter}\pN]+|\s+(?!\S)|\s+"),
    ("cl100k", rf"{SUFFIX}|{CL100K}"),
    ("cl100k", rf"({SUFFIX})|({CL100K})"),
    ("cl100k", rf"(?:'[sSſ]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|{CL100K}"),
    ("cl100k", rf"'(?i:s|t|re|ve|m|ll|d)|{CL100K}"),
    ("cl100k", r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++"
               r"[\r\n]*+|\s*[\r\n]|\s+(?!\S)|\s"),
    ("cl100k-tiktoken", r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
                        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\Z|\s*[\r\n]+|\s+(?!\S)|\s+"),
    ("qwen2", rf"{SUFFIX}|{CL100K}".replace("{1,3}", "{1}")),
    ("qwen2", r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
              r"|\s*[\r\n]|\s+(?!\S)|\s+"),
    ("o200k", rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SUFFIX}?"
              rf"|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SUFFIX}?"
              rf"|{O200K_TAIL}".replace(r"[\r\n/]", r"[\n/\r]")),
]  # fmt: skip

DIFFERENT = [
    # For a mark before a capital, the first alternative without its prefix comes before the second.
    rf"[^\r\n\p{{L}}\p{{N}}]?(?:{UPPER}*{LOWER}+|{UPPER}+{LOWER}*){SUFFIX}?|{O200K_TAIL}",
    # Where case does not matter, ſ is an s.
    rf"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|{CL100K}",
    rf"{SUFFIX}|{CL100K}".replace("{1,3}", "{1,2}"),
    rf"{SUFFIX}|{CL100K}".replace("{1,3}", "+"),
    rf"{SUFFIX}|{CL100K}".replace(r"[\r\n]*", r"[\r\n/]*"),
    rf"{SUFFIX}|{CL100K}".replace(r"[^\r\n\p{L}\p{N}]?", r"[^\r\n\p{L}]?"),
    rf"{SUFFIX}|{CL100K}".replace(r"\p{L}+|", r"[\p{L}\p{M}]+|"),
    rf"{SUFFIX}|{CL100K}".replace(r"\p{N}{1,3}", r"\d{1,3}"),
    rf"{SUFFIX}|{CL100K}".replace(r"\s+(?!\S)|", ""),
    rf"{CL100K}|{SUFFIX}",
    CL100K,
    rf"'s|'t|'re|'ve|'m|'ll|'d|{GPT2}",
    rf"'s|'t|'re|'ve|'m|'ll|'d|'n|{GPT2}|\s+(?!\S)|\s+",
    rf"'s|'t|'re|'ve|'m|'ll|{GPT2}|\s+(?!\S)|\s+",
    rf"'s|'t|'re|'ve|'m|'ll|'d|{GPT2}|\s+(?!\S)|\s+".replace(r"\p{N}+", r"\d+"),
    rf"'s|'t|'re|'ve|'m|'ll|'d|{GPT2}|\s+".replace(" ?", r"\s?"),
    rf"'s|'t|'re|'ve|'m|'ll|'d|{GPT2}|[^\S\n]+(?!\S)|\s+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}--ª]+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?(?!ª)\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)",
    r"\p{L}+|\p{N}",
]


@pytest.mark.parametrize(("name", "pattern"), EQUAL)
def test_a_family_in_other_words(name: str, pattern: str) -> None:
    assert family_of(pattern) is FAMILIES[name]
    assert PatternSplitter(pattern).family is FAMILIES[name]


@pytest.mark.parametrize("pattern", DIFFERENT)
def test_a_pattern_that_differs_in_one_place_is_no_family(pattern: str) -> None:
    assert family_of(pattern) is None
    assert family_of(pattern, "drop") is None


def test_every_spelling_has_the_automaton_of_its_family() -> None:
    for name, family in FAMILIES.items():
        for spelling in (family.pattern, *family.spellings):
            assert _BY_FINGERPRINT[fingerprint(compile_pattern(spelling))] == name


def test_a_pattern_with_gaps_is_a_family_only_where_gaps_are_chunks() -> None:
    pattern = rf"'s|'t|'re|'ve|'m|'ll|'d|{GPT2}|\s+(?!\S)"
    assert PatternSplitter(pattern, "keep").family is FAMILIES["gpt2"]
    assert PatternSplitter(pattern, "drop").family is None
    whole = rf"(?:{pattern})|\s+"
    assert PatternSplitter(whole, "drop").family is FAMILIES["gpt2"]


def test_known_spellings_need_no_compiler() -> None:
    code = (
        "import sys; from toksmith.splitters import FAMILIES, PatternSplitter\n"
        "for family in FAMILIES.values():\n"
        "    for spelling in (family.pattern, *family.spellings):\n"
        "        assert PatternSplitter(spelling).family is family\n"
        "assert 'toksmith.splitters.compiler' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


REFUSED = [
    (r"a*", "it can match without a character"),
    (r"a|b?", "it can match without a character"),
    (r"\b", "it can match without a character"),
    (r"(a)\1", r"\1 is a back-reference or an octal number"),
    (r"\X", r"\X means different things in different libraries"),
    (r"a\G", r"\G means different things in different libraries"),
    (r"\h+", r"\h means different things in different libraries"),
    (r"(?=ab)\w", "a look-ahead sees more than one character"),
    (r"\w(?!\s*x)", "a look-ahead sees more than one character"),
    (r"(?<=ab)\w", "a look-behind sees more than one character"),
    (r"a$", r"'$' also matches before a line break at the end of the text; \Z does not"),
    (r"(?:ab|a)++b", "a possessive repetition of more than one set is followed by other items"),
    (r"(?>ab|a)b", "an atomic group is followed by other items"),
    (r"(?:a*)+b", "a repeated item can match without a character"),
    (r"(?:a|b??){,2}c", "a repeated item can match without a character"),
    (r"(?:a{200}){200}", "it needs more than 10,000 instructions"),
    (r"(?:a|b)*a(?:a|b){14}", "its automaton has more than 4,096 states"),
    (r"[a[bc]]", r"'[' inside a set has not the same meaning in all libraries; write \[ for the "
                 "character, and nested sets as one set"),
    (r"[a&&b]", r"'&&' inside a set has not the same meaning in all libraries; write \[ for the "
                "character, and nested sets as one set"),
    (r"[a||b]", r"'||' inside a set has not the same meaning in all libraries; write \[ for the "
                "character, and nested sets as one set"),
    (r"[[:alpha:]]+", r"'[' inside a set has not the same meaning in all libraries; write \[ for "
                      "the character, and nested sets as one set"),
    (r"\p{InGreek}", r"\p{InGreek} is not a general category, a script or Alphabetic"),
    (r"(?i)\p{Lu}+", r"\p{Lu} means another set where case does not matter"),
    (r"(?i)[\p{Ll}x]+", r"\p{Ll} means another set where case does not matter"),
    (r"(?x)a b", "the flags 'x' change the meaning of the pattern"),
    (r"(?V1)a", "the flags 'V1' change the meaning of the pattern"),
    (r"(?:foo){e<=1}", "it allows errors, such as {e<=1}"),
    (r"(a)(?(1)b|c)", "(?(1 starts no group of the common syntax"),
    (r"(?|a|b)", "(?|a starts no group of the common syntax"),
    (r"a(*SKIP)b", "it uses a verb such as (*SKIP)"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "reason"), REFUSED)
def test_a_refusal_names_its_reason(pattern: str, reason: str) -> None:
    regex.compile(pattern)  # it is a pattern
    assert refusal_of(pattern) == reason
    assert family_of(pattern) is None


WITHOUT_TAIL = rf"'s|'t|'re|'ve|'m|'ll|'d|{GPT2}|\s+(?!\S)"


def test_files_that_drop_gaps_hold_a_pattern_without_gaps() -> None:
    assert cover_gaps(PatternSplitter(WITHOUT_TAIL)) == FAMILIES["gpt2"].pattern
    assert uncover_gaps(WITHOUT_TAIL) == PatternSplitter(WITHOUT_TAIL, "drop")
    whole = WITHOUT_TAIL + r"|\s"
    assert cover_gaps(PatternSplitter(whole)) == whole
    assert uncover_gaps(whole) == PatternSplitter(whole)


@pytest.mark.parametrize("gaps", ["keep", "drop"])
def test_the_step_by_step_splitter_follows_the_pattern_itself(
    gaps: Literal["keep", "drop"],
) -> None:
    # U+1CEC0 is younger than Unicode 16.0: no letter, mark, number or space.
    text = "it's\na  b\t12 \u2003c \U0001cec0d\n"
    found = split_text(PatternSplitter(WITHOUT_TAIL, gaps), text)
    kept = ["it", "'s", "\n", "a", " ", " b", "\t", "12", " ", "\u2003", "c"]
    kept += [" \U0001cec0", "d", "\n"]
    alone = {2, 6, 9}  # white space that the pattern does not match
    assert found == [c for at, c in enumerate(kept) if gaps == "keep" or at not in alone]


def test_an_intersection_of_sets_is_what_publishers_mean() -> None:
    split = PatternSplitter(r"[\p{Han}]+|[\p{L}&&[^\p{Han}]]+|[&|]+")
    assert split_text(split, "ab中文c]&&|") == ["ab", "中文", "c", "]", "&&|"]
    unclear = PatternSplitter(r"[a&&b]+")  # as in the older syntax of regex
    assert split_text(unclear, "a&b ab") == ["a&b", " ", "ab"]


def test_another_spelling_runs_in_the_kernel() -> None:
    other = engine.compile(bpe.pipeline(PatternSplitter(WITHOUT_TAIL)))
    assert isinstance(other, KernelEncoder)
    known = engine.compile(bpe.pipeline("gpt2"))
    for text in bpe.TEXTS:
        assert other.encode_list(text, 1) == known.encode_list(text, 1)


def test_a_count_of_another_spelling_is_the_count_of_its_family() -> None:
    texts = ["it's\na  b\t12", "don't"]
    other = Counts.from_texts(texts, split=WITHOUT_TAIL)
    assert dict(other) == dict(Counts.from_texts(texts, split="gpt2"))
