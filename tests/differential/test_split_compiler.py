"""Automata of split patterns against the regex package, which backtracks."""

from __future__ import annotations

import json
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise, product

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import NO_SHARED, SHARED
from tests.strategies import random_text
from toksmith.errors import UnsupportedError
from toksmith.splitters import FAMILIES
from toksmith.splitters.compiler import Automaton, compile_covering, compile_pattern, refusal_of
from toksmith.splitters.compiler.code_points import Partition
from toksmith.splitters.compiler.composition import compose, make_transducer
from toksmith.splitters.compiler.cuts import sure_cuts
from toksmith.splitters.compiler.parser import parse
from toksmith.splitters.compiler.program import make_program
from toksmith.splitters.compiler.properties import named, with_case_variants
from toksmith.splitters.compiler.transducer import Transducer
from toksmith.splitters.names import listed_patterns

LIST = SHARED / "data/patterns/gguf_pre.json"
CORPORA = ["botchan", "cjk", "code", "english", "multilingual", "taylorswift"]

CONSTRUCTS = [
    r"[a-z]+?b|\d{2,3}?|.",
    r"\w+|[^\w\s]+",
    r"\b\w+\b|\B.|\s",
    r"(?<=\s)[a-z]+|(?<![a-z])\d|[^\d]",
    r"^ +|\A\w|[ \n]+$|(?s:.)\Z|x+",
    r"(?m)^ +|[a-z]+$|\s",
    r"a*+a|a++b|[ab]{1,3}+c|(?>\d+)x|.",
    r"(?>ab|a)|(?:c(?:ab|b)?+)|.(?:b|bc)++",
    r"(?i)[k-s]+|'(?:ll|ve)|straße|\x41\u0042\U00000043|i",
    r"(?:ab|a)(?:c|bcd)?|(?P<name>b)|(?#comment)c",
    r"[\p{L}&&[^\p{Han}]]+|[[^a-f]&&\w&&[^\d]]\d",
    r"\p{Lu}\p{^Ll}|\P{L}\pM|\p{Script=Greek}+|\p{gc=Sm}|\p{Alphabetic}|\p{Cs}",
    r"(?=[a-c])(?=[^b]).|(?!\s|\Z)\S\s",
    r"[]a]|[^]\s]b|[-a]+|[a\-c]{2}|[\]\\]",
    r"a{,2}b|a{2,}c|x{2}y|\{z",
    r"(?:(?:a|b)+c)+|(?:a?b?)c",
    r"'(?i:[sdmt]|ll|ve|re)|(?i:ABC)d",
]


def listed() -> list[str]:
    if not LIST.is_file():
        return []
    entries = json.loads(LIST.read_text(encoding="utf-8"))
    found = [p for entry in entries for p in (*entry["patterns"], *entry.get("published", []))]
    return [p for p in dict.fromkeys(found) if refusal_of(p) is None]


def spellings() -> list[str]:
    return [each for family in FAMILIES.values() for each in (family.pattern, *family.spellings)]


PATTERNS = [*spellings(), *CONSTRUCTS, *(p for p in listed() if p not in spellings())]
every_pattern = pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p[:40])
needs_list = pytest.mark.skipif(not LIST.is_file(), reason=NO_SHARED)


@cache
def engine(pattern: str) -> regex.Pattern[str]:
    # Only the newer syntax of regex has operations on sets.
    return regex.compile(pattern, regex.V1 if "&&" in pattern else 0)


def expected(pattern: str, text: str) -> list[tuple[int, int]]:
    return [match.span() for match in engine(pattern).finditer(text) if match.end() > match.start()]


def is_known(character: str) -> bool:
    """Return whether a character has the same properties in Unicode 16.0 and in newer versions."""
    # ʕ became an uncased letter.
    return bisect_right(named("Cn"), ord(character)) % 2 == 0 and character != "ʕ"


def known(text: str) -> str:
    return "".join(filter(is_known, text))


def samples(classes: Partition, rng: random.Random) -> list[str]:
    """Return a random character of each class that has one of Unicode 16.0."""
    ends = (*classes.starts[1:], 0x110000)
    runs: dict[int, list[range]] = {}
    for start, end, kind in zip(classes.starts, ends, classes.classes, strict=True):
        runs.setdefault(kind, []).append(range(start, end))
    found = []
    for kind in sorted(runs):
        tried = (chr(rng.choice(rng.choice(runs[kind]))) for _ in range(200))
        found += [next(filter(is_known, tried), "")]
    return [*filter(None, found)]


def minterms(pattern: str) -> Partition:
    return make_program(parse(pattern)).classes


@every_pattern
def test_every_one_two_and_three_classes(pattern: str) -> None:
    rng = random.Random(pattern)
    automaton = compile_pattern(pattern)
    fewer = len(samples(minterms(pattern), rng)) > 24
    for size in (1, 2, 3):
        characters = samples(automaton.classes if size == 3 and fewer else minterms(pattern), rng)
        for letters in product(characters, repeat=size):
            text = "".join(letters)
            assert automaton.spans(text) == expected(pattern, text), text


def transitions(automaton: Automaton) -> Iterator[list[int]]:
    """Yield classes that lead to each state by a shortest way, and one or two more classes."""
    kinds = range(automaton.classes.count)
    ways: dict[int, list[int]] = {automaton.starts[-1]: []}
    for state in (order := list(ways)):
        for kind, following in enumerate(automaton.next[state]):
            if following >= 0 and following not in ways:
                ways[following] = [*ways[state], kind]
                order.append(following)
    for way in ways.values():
        yield way
        for kind in kinds:
            yield [*way, kind]
            if len(ways) < 50:
                yield from ([*way, kind, other] for other in kinds)


@every_pattern
def test_every_transition(pattern: str) -> None:
    automaton = compile_pattern(pattern)
    characters = samples(automaton.classes, random.Random(1))
    if len(characters) < automaton.classes.count:
        pytest.skip("a class has no character that all versions of Unicode know")
    for kinds in transitions(automaton):
        text = "".join(characters[kind] for kind in kinds)
        assert automaton.spans(text) == expected(pattern, text), text


@every_pattern
def test_random_texts(pattern: str) -> None:
    rng = random.Random(2)
    automaton = compile_pattern(pattern)
    characters = samples(minterms(pattern), rng)
    for _ in range(150):
        pieces = (rng.choice(characters) * rng.choice((1, 1, 1, 2, 3, 4)) for _ in range(12))
        for text in ("".join(pieces), known(random_text(rng, surrogates=True))):
            assert automaton.spans(text) == expected(pattern, text), text


@given(st.sampled_from(PATTERNS), st.text(st.characters(), max_size=40))
def test_any_text(pattern: str, text: str) -> None:
    text = known(text)
    assert compile_pattern(pattern).spans(text) == expected(pattern, text)


ATOMS = [
    "a",
    "b",
    "c",
    " ",
    r"\n",
    ".",
    r"\s",
    r"\S",
    "[ab]",
    "[^a]",
    r"\d",
    r"\w",
    "(?i:a)",
    "[]c]",
]
LOOKS = ["(?=[ab])", "(?!a)", "(?<=a)", "(?<!b)", r"(?!\S)", r"(?=\s|\Z)", r"\b", r"\B", "^", r"\A"]
LOOKS += [r"\Z", "$", "(?!b|c)", "(?<=[^a]|^)", "(?!a+)", "(?=(?!a)[ab])"]
COUNTS = [
    "",
    "",
    "",
    "*",
    "+",
    "?",
    "*?",
    "+?",
    "??",
    "*+",
    "++",
    "?+",
    "{2}",
    "{,2}",
    "{2,}",
    "{1,3}+",
]


def random_pattern(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(ATOMS) + rng.choice(COUNTS)
    parts = [random_pattern(rng, depth - 1) for _ in range(rng.randint(2, 3))]
    match rng.randrange(10):
        case 0 | 1 | 2:
            return f"(?:{'|'.join(parts)}){rng.choice(COUNTS)}"
        case 3:
            return f"(?>{parts[0]})"
        case 4 | 5:
            return rng.choice(LOOKS).join(parts)
    return "".join(parts)


@pytest.mark.parametrize("name", CORPORA)
def test_corpora(name: str, corpus: Callable[..., bytes]) -> None:
    text = known(corpus(f"{name}.txt", 60_000).decode())
    families = {compile_pattern(family.pattern): family.pattern for family in FAMILIES.values()}
    for automaton, pattern in families.items():
        assert automaton.spans(text) == expected(pattern, text), pattern
    part = text[:12_000]  # of the many others, to save time
    for automaton, pattern in {compile_pattern(p): p for p in listed()}.items():
        if automaton not in families:
            assert automaton.spans(part) == expected(pattern, part), pattern


@every_pattern
def test_gaps_of_one_character(pattern: str) -> None:
    rng = random.Random(3)
    covering = compile_covering(pattern)
    characters = samples(minterms(pattern), rng)
    longest = 0
    for _ in range(400):
        text = "".join(rng.choices(characters, k=8))
        spans = expected(pattern, text)
        ends = [0, *(end for _, end in spans)]
        starts = [*(start for start, _ in spans), len(text)]
        gaps = [(a, b) for a, b in zip(ends, starts, strict=True) if a < b]
        longest = max([longest, *(b - a for a, b in gaps)])
        if covering is not None:
            assert covering.spans(text) == sorted([*spans, *gaps]), text
    assert (covering is None) == (longest > 1)


def all_ends(automata: Sequence[Automaton], text: str) -> list[int]:
    """Return the ends of matches, and of the gaps between, each splitting the pieces before it."""
    bounds = {0, len(text)}
    for automaton in automata:
        for start, end in pairwise(sorted(bounds)):
            for span in automaton.spans(text[start:end]):
                bounds |= {start + place for place in span}
    return sorted(bounds - {0})


def texts_for(classes: Partition, rng: random.Random, count: int) -> Iterator[str]:
    """Yield random texts of characters of each class, some of them in runs."""
    characters = samples(classes, rng)
    for _ in range(count):
        pieces = (rng.choice(characters) * rng.choice((1, 1, 1, 2, 3, 12)) for _ in range(10))
        yield "".join(pieces)


TOO_FAR = {
    *(pattern for pattern in PATTERNS if "{512}" in pattern),
    *(CONSTRUCTS[at] for at in (0, 6)),
}
"""The patterns that have no transducer."""


@every_pattern
def test_one_pass_finds_the_same_ends_as_one_match_after_the_other(pattern: str) -> None:
    automaton = compile_pattern(pattern)
    if pattern in TOO_FAR:
        with pytest.raises(
            UnsupportedError, match=r"more than 8 chunks may have to be read|two ends may lie 8"
        ):
            make_transducer(automaton)
        return
    check_transducer(automaton, count=100)


SEQUENCES = [
    (r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+", r" ?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s+(?!\S)|\s+"),
    (r"\p{N}", FAMILIES["gpt2"].pattern),
    (r"[\r\n]", r"[0-9]{1,2}", r"\s?\p{L}+|\s?[!-/:-~]+|\s+$"),
    (r"[0-9]", r"(?<=a)b|(?<!a)b+|\p{Han}\b"),
    (r"[^a]", r"\s*\n|x"),
    (r"\s?\p{L}+", r"\s?[!-/:-~]+", r"\s+$", r"[0-9]{3}"),
    (r"[a-z]{1,4}!|[a-z]", r"a?b|.c", r"\s+(?!\S)|\s+"),
    (r"(?<=a)b|(?<!a)b+|\p{Han}\b", r"(?<=b)\w|\w\b|\s+"),
    (r"\s+(?!\S)|\s+", r"\S\s+x|\S+"),
    *dict.fromkeys(each for each in listed_patterns().values() if len(each) > 1),
]


@pytest.mark.parametrize("patterns", SEQUENCES, ids=lambda patterns: patterns[-1][:40])
def test_one_pass_splits_by_several_patterns(patterns: tuple[str, ...]) -> None:
    if any(map(refusal_of, patterns)):
        pytest.skip("a pattern has no automaton")
    automata = [*map(compile_pattern, patterns)]
    if patterns in OPEN_FAR_BACK:
        with pytest.raises(UnsupportedError, match="two ends may lie 8 characters back"):
            make_transducer(*automata)
    else:
        check_transducer(*automata, count=150)


OPEN_FAR_BACK = {listed_patterns()[name] for name in ("chameleon", "deepseek-llm")}
"""Sequences in which several ends may be open however far back."""


def classes_in(transducer: Transducer, text: str) -> list[int]:
    return transducer.classes.classes_of(text)


def check_transducer(*automata: Automaton, count: int) -> None:
    transducer = make_transducer(*automata)
    sure = sure_cuts(transducer.classes, [transducer])
    for text in texts_for(transducer.classes, random.Random(5), count):
        kinds = classes_in(transducer, text)
        ends = transducer.ends_in(kinds)
        assert ends == all_ends(automata, text), text
        for place in range(1, len(text)):
            if sure[kinds[place - 1]] >> kinds[place] & 1:
                first, second = transducer.ends_in(kinds[:place]), transducer.ends_in(kinds[place:])
                assert ends == [*first, *(end + place for end in second)], text
        check_free_cuts(transducer, kinds, ends)


def check_free_cuts(transducer: Transducer, kinds: list[int], ends: list[int]) -> None:
    """Cut a text where that is free: no other end moves."""
    state = 0
    for place, kind in enumerate(kinds):
        if transducer.is_free(state, kind) and place not in ends:
            context = transducer.next[0][kinds[place - 1]]
            anew = transducer.ends_in(kinds[place:])
            if transducer.next[context][kind] == transducer.next[0][kind]:  # no look-behind
                assert [end + place for end in anew] == [end for end in ends if end > place]
        state = transducer.next[state][kind]


def test_one_pass_is_refused_where_several_ends_are_open_far_back() -> None:
    tag, digit = compile_pattern("<[0-9]+>"), compile_pattern("[0-9]")
    with pytest.raises(UnsupportedError, match="two ends may lie 8 characters back"):
        make_transducer(tag, digit)
    assert make_transducer(digit, tag).states < 10


def test_a_sequence_in_which_each_split_is_one_pass_is_one_pass() -> None:
    for name in ("deepseek-coder", "deepseek-v3", "falcon", "starcoder", "viking", "minicpm5"):
        patterns = listed_patterns()[name]
        assert make_transducer(*map(compile_pattern, patterns)).states <= 36, name


LOSING = [
    (["<[0-9]+>"], ["[0-9]", "[a-z]|>"]),
    ([r"\s+$"], [r"[\u2003\u3000]+"]),
    (["a[a-z]*!"], ["b?[c-z]"]),
    (listed_patterns()["chameleon"][:2], listed_patterns()["chameleon"][2:]),
    (listed_patterns()["deepseek-llm"][:4], listed_patterns()["deepseek-llm"][4:]),
]


@pytest.mark.parametrize(("before", "after"), LOSING, ids=lambda patterns: patterns[0][:30])
def test_a_pass_may_lose_track(before: Sequence[str], after: Sequence[str]) -> None:
    stages = [make_transducer(*map(compile_pattern, patterns)) for patterns in (before, after)]
    whole = compose(*stages, may_lose=True)
    sure = sure_cuts(whole.classes, stages)
    automata = [*map(compile_pattern, (*before, *after))]
    lost = 0
    hard = ["\r IMGIMGABCDZ", "\u3000 " * 6, "中" + "\u2003 " * 6, "abcdefghijk!", "<123456789>"]
    for text in texts_for(whole.classes, random.Random(6), 100):
        text = hard[len(text) % len(hard)].join(text.partition(text[3]))
        kinds = classes_in(whole, text)
        ends, found = all_ends(automata, text), whole.ends_in(kinds)
        if found != ends:
            lost += 1
            assert found == ends[: len(found)], text
        for place in range(1, len(text)):
            if sure[kinds[place - 1]] >> kinds[place] & 1:
                parts = all_ends(automata, text[:place]), all_ends(automata, text[place:])
                assert ends == [*parts[0], *(end + place for end in parts[1])], text
    assert whole.lost is not None
    assert 0 < lost < 100


@pytest.mark.parametrize("seed", range(3))
def test_random_sequences(seed: int) -> None:
    rng = random.Random(seed)
    found = 0
    while found < 30:
        patterns = [random_pattern(rng, 2) for _ in range(rng.choice((2, 2, 3)))]
        if any(map(refusal_of, patterns)):
            continue
        automata = [*map(compile_pattern, patterns)]
        try:
            transducer = make_transducer(*automata)
        except UnsupportedError:
            continue
        found += 1
        for _ in range(20):
            text = "".join(rng.choices("aaabbc A1\n\n .é", k=rng.randint(0, 14)))
            ends = transducer.ends_in(classes_in(transducer, text))
            assert ends == all_ends(automata, text), (patterns, text)


@pytest.mark.parametrize("seed", range(10))
def test_random_patterns(seed: int) -> None:
    rng = random.Random(seed)
    compiled = 0
    while compiled < 25:
        pattern = random_pattern(rng, 3)
        if refusal_of(pattern) is not None:
            continue
        compiled += 1
        automaton = compile_pattern(pattern)
        transducer = None
        with suppress(UnsupportedError):
            transducer = make_transducer(automaton)
        for _ in range(20):
            text = "".join(rng.choices("aaabbc A1\n\n .é", k=rng.randint(0, 9)))
            assert automaton.spans(text) == expected(pattern, text), (pattern, text)
            if transducer:
                ends = transducer.ends_in(classes_in(transducer, text))
                assert ends == all_ends([automaton], text), (pattern, text)


def test_sure_cuts_of_gpt2_are_where_words_end() -> None:
    automaton = compile_pattern(FAMILIES["gpt2"].pattern)
    sure = sure_cuts(automaton.classes, [make_transducer(automaton)])
    kinds = dict(zip("a1 .\n'", automaton.classes.classes_of("a1 .\n'"), strict=True))
    cuts = {one + two for one in kinds for two in kinds if sure[kinds[one]] >> kinds[two] & 1}
    # Not after white space, whose last character may belong to the next chunk.
    assert cuts == {
        *("a1", "a ", "a.", "a\n", "a'", "1a", "1 ", "1.", "1\n", "1'"),
        *(".a", ".1", ". ", ".\n", "'a", "'1", "' ", "'\n"),
    }


@needs_list
def test_patterns_of_the_list_that_have_no_automaton() -> None:
    entries = json.loads(LIST.read_text(encoding="utf-8"))
    found = {p: refusal_of(p) for entry in entries for p in entry["patterns"] if refusal_of(p)}
    assert found == {
        r"\d{1,3}(?=(?:\d{3})*\b)": "a look-ahead sees more than one character",
        r"(?=(\d{3})+(?!\d))": "a look-ahead sees more than one character",
        r"\p{AFMoE_digits}": (
            r"\p{AFMoE_digits} is not a general category, a script or Alphabetic"
        ),
    }


def test_properties_are_those_of_unicode_16() -> None:
    unicodedata2 = pytest.importorskip("unicodedata2")
    assert unicodedata2.unidata_version == "16.0.0"
    categories: dict[str, set[str]] = {}
    for character in map(chr, range(0x110000)):
        name = unicodedata2.category(character)
        categories.setdefault(name, set()).add(character)
        categories.setdefault(name[0], set()).add(character)
    assert len(categories) == 37
    for name, members in categories.items():
        assert members_of(named(name)) == members, name


@pytest.mark.parametrize(
    "name", ["Han", "Latin", "Greek", "Hiragana", "Common", "Alphabetic", "LC"]
)
def test_properties_are_those_of_regex(name: str) -> None:
    every = known_characters()
    assert members_of(named(name)) & set(every) == set(regex.findall(rf"\p{{{name}}}", every))


@cache
def known_characters() -> str:
    return "".join(filter(is_known, map(chr, range(0x110000))))


def members_of(points: tuple[int, ...]) -> set[str]:
    pairs = zip(points[::2], points[1::2], strict=True)
    return {chr(code) for start, end in pairs for code in range(start, end)}


def test_case_variants_are_those_of_regex() -> None:
    cased = "".join(filter(is_known, members_of(named("LC"))))
    for character in random.Random(4).sample(cased, 200):
        points = with_case_variants((ord(character), ord(character) + 1))
        assert members_of(points) & set(cased) == set(regex.findall(f"(?i){character}", cased))
