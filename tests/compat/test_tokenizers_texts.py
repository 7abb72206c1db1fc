"""NormalizedString, PreTokenizedString and their components against the installed tokenizers."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest

import toksmith.compat.tokenizers as ours
from tests.strategies import random_text
from toksmith.errors import ToksmithError

theirs = pytest.importorskip("tokenizers")

CHARACTERS = (
    "aAbB  -\t\u00a0éÉßİΣςŉ\u0301\u0323\u0344가각ᄀ\u1161\u11a8ｶﾞﬁﬀ½①東京👋\u200d👩\u200b\u3000_"
    "\u1e9b\u01c5\n\r,.!?013\u0663\u2581\ua7cb"
)
PATTERNS = ["a", " ", "aA", "é", "👋", "▁"]
REGEXES = [r"\s+", r"\w+", r"\p{L}+", "[^a-z]", "x*", r"\d", "(?=a)"]
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
METHODS = (
    *("nfd", "nfc", "nfkd", "nfkc", "lowercase", "uppercase", "prepend", "append", "lstrip"),
    *("rstrip", "strip", "clear", "filter", "map", "replace", "split", "slice"),
)
PLAIN_NORMALIZERS = ("NFD", "NFC", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")
PLAIN_SPLITTERS = ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")

Call = tuple[str, tuple[Any, ...]]
"""The name of a method, and its arguments; ("Regex", pattern) is a regular expression."""


def some_text(rng: random.Random, most: int = 12) -> str:
    ranges = [(0x20, 0x3000), (0x3000, 0xD800), (0xE000, 0x20000), (0x20000, 0x110000)]
    return "".join(
        rng.choice(CHARACTERS) if rng.random() < 0.9 else chr(rng.randrange(*rng.choice(ranges)))
        for _ in range(rng.randrange(most))
    )


def some_pattern(rng: random.Random) -> Any:
    return rng.choice(PATTERNS) if rng.random() < 0.5 else ("Regex", rng.choice(REGEXES))


def realized(module: Any, value: Any) -> Any:
    """Return an argument with each ("Regex", pattern) made an object of a module."""
    if isinstance(value, tuple) and value[0] == "Regex":
        return module.Regex(value[1])
    return value


def some_call(rng: random.Random) -> Call:
    name = rng.choice(METHODS)
    start, size = rng.randrange(8), rng.randrange(12)
    dropped = set(rng.sample(CHARACTERS, len(CHARACTERS) // 5))
    arguments: dict[str, tuple[Any, ...]] = {
        "prepend": (some_text(rng, 4) + "z",),
        "append": (some_text(rng, 4) + "z",),
        "filter": (lambda c: c not in dropped,),
        "map": (lambda c: chr(ord("a") + ord(c) % 26) if ord(c) % 3 else c,),
        "replace": (some_pattern(rng), some_text(rng, 3)),
        "split": (some_pattern(rng), rng.choice(BEHAVIORS)),
        "slice": (
            rng.choice([slice(start, start + size), slice(start, None), (start, start + size), 1]),
        ),
    }
    return name, arguments.get(name, ())


def state_of(text: Any) -> Any:
    """Return a text, its original, and the original of each character."""
    if text is None:
        return None
    parts = [text[place : place + 1] for place in range(len(text.normalized))]
    return text.normalized, text.original, [part.original for part in parts]


def starts_with_insertion(text: Any) -> bool:
    """Whether the first character has no origin, which makes the peer repeat or keep it."""
    return bool(text.normalized) and text[0].original == ""


@pytest.mark.parametrize("seed", range(3))
def test_random_calls_give_the_same_text_and_alignment(seed: int) -> None:
    rng = random.Random(seed)
    compared = 0
    for _ in range(80):
        text = some_text(rng)
        mine, peer = ours.NormalizedString(text), theirs.NormalizedString(text)
        for _ in range(5):
            name, given = some_call(rng)
            if starts_with_insertion(peer) or (name == "append" and not peer.normalized):
                break
            mine_made = getattr(mine, name)(*[realized(ours, each) for each in given])
            peer_made = getattr(peer, name)(*[realized(theirs, each) for each in given])
            if name == "split":
                assert [*map(state_of, mine_made)] == [*map(state_of, peer_made)], (text, given)
            elif name == "slice":
                assert state_of(mine_made) == state_of(peer_made), (text, given)
                if mine_made is None:
                    break
                mine, peer = mine_made, peer_made
            else:
                assert mine_made is None
                assert state_of(mine) == state_of(peer), (text, name, given)
            compared += 1
    assert compared > 180


def some_component(rng: random.Random, kind: str, depth: int = 0) -> Call:
    """Return the name of a class and the arguments of its constructor."""

    def coin() -> bool:
        return rng.random() < 0.5

    kinds: dict[str, dict[str, Callable[[], tuple[Any, ...]]]] = {
        "normalizers": {
            "BertNormalizer": lambda: (coin(), coin(), rng.choice([None, True, False]), coin()),
            "Strip": lambda: (coin(), coin()),
            "Prepend": lambda: (rng.choice(["▁", "ab", "é"]),),
            "Replace": lambda: (some_pattern(rng), rng.choice(["", "x", "é👋"])),
            **dict.fromkeys(PLAIN_NORMALIZERS, tuple),
        },
        "pre_tokenizers": {
            "ByteLevel": lambda: (coin(), coin(), coin()),
            "Split": lambda: (some_pattern(rng), rng.choice(BEHAVIORS), coin()),
            "Metaspace": lambda: (
                rng.choice("▁_é"),
                rng.choice(["always", "never", "first"]),
                coin(),
            ),
            "CharDelimiterSplit": lambda: (rng.choice("a-é "),),
            "Punctuation": lambda: (rng.choice(BEHAVIORS),),
            "Digits": lambda: (coin(),),
            "FixedLength": lambda: (rng.randrange(1, 4),),
            **dict.fromkeys(PLAIN_SPLITTERS, tuple),
        },
    }
    if depth < 2 and rng.random() < 0.2:
        parts = [some_component(rng, kind, depth + 1) for _ in range(rng.randrange(4))]
        return "Sequence", tuple(parts)
    name = rng.choice(sorted(kinds[kind]))
    return name, kinds[kind][name]()


def made(module: Any, kind: str, call: Call) -> Any:
    name, given = call
    family = getattr(module, kind)
    if name == "Sequence":
        return family.Sequence([made(module, kind, each) for each in given])
    return getattr(family, name)(*[realized(module, each) for each in given])


def panics(normalizer: Any, text: Any) -> bool:
    """Normalize a text, unless the peer fails: it does where a first character has no origin."""
    try:
        normalizer.normalize(text)
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        return True
    return False


@pytest.mark.parametrize("seed", range(3))
def test_random_components_give_the_same_text_words_and_offsets(seed: int) -> None:
    rng = random.Random(seed)
    compared = 0
    for _ in range(40):
        calls = some_component(rng, "normalizers"), some_component(rng, "pre_tokenizers")
        kinds = "normalizers", "pre_tokenizers"
        mine = [made(ours, kind, call) for kind, call in zip(kinds, calls, strict=True)]
        peer = [made(theirs, kind, call) for kind, call in zip(kinds, calls, strict=True)]
        for one, other in zip(mine, peer, strict=True):
            assert repr(one) == repr(other)
            assert one.__getstate__() == other.__getstate__()
            assert repr(pickle.loads(pickle.dumps(one))) == repr(other)
        for coin in (True, True, False):
            text = random_text(rng, 5) if coin else some_text(rng)
            normalized = theirs.NormalizedString(text)
            if panics(peer[0], normalized):
                continue
            again = ours.NormalizedString(text)
            mine[0].normalize(again)
            assert state_of(again) == state_of(normalized), (text, calls)
            assert mine[0].normalize_str(text) == normalized.normalized
            assert mine[1].pre_tokenize_str(text) == peer[1].pre_tokenize_str(text), (text, calls)
            splits = []
            for module, (normalizer, pre_tokenizer) in ((ours, mine), (theirs, peer)):
                whole = module.PreTokenizedString(text)
                whole.normalize(normalizer.normalize)
                pre_tokenizer.pre_tokenize(whole)
                splits.append(
                    [
                        whole.get_splits(text_meant, unit)
                        for text_meant in ("original", "normalized")
                        for unit in ("char", "byte")
                    ]
                )
            assert splits[0] == splits[1], (text, calls)
            compared += 1
    assert compared > 80


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (-2, "l"),
        (slice(-3, None), "rld"),
        (slice(1, -1), "éllo wörl"),
        (slice(5, 2), None),
        (slice(11, None), None),
        ((3, 100), "lo wörld"),
        ((0, 0), ""),
        (20, None),
    ],
)
def test_a_slice_counts_characters(given: Any, expected: str | None) -> None:
    part = ours.NormalizedString("héllo wörld")[given]
    assert (None if part is None else part.normalized) == expected


def test_slices_that_are_refused() -> None:
    text = ours.NormalizedString("abc")
    with pytest.raises(ValueError, match="4 is bigger than max len"):
        text[-4]
    for wrong in ("a", 1.5, (1, 2, 3), (-1, 2)):
        with pytest.raises(TypeError, match="give an int, a slice, or two ints"):
            text[wrong]  # type: ignore[index]


def test_an_empty_literal_matches_nothing() -> None:
    text = ours.NormalizedString("abc")
    text.replace("", "x")
    assert [part.normalized for part in text.split("", "isolated")] == ["abc"]


class Lower:
    def normalize(self, text: Any) -> None:
        self.kept = text
        text.lowercase()
        text.replace("you", "all")


class Camels:
    def pre_tokenize(self, text: Any) -> None:
        self.kept = text
        text.split(self.cut)

    def cut(self, place: int, text: Any) -> list[Any]:
        starts = [at for at, letter in enumerate(text.normalized) if letter.isupper()]
        return [text[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]


def test_custom_components() -> None:
    lower, camels = Lower(), Camels()
    normalizer = ours.normalizers.Sequence(
        [ours.normalizers.Normalizer.custom(lower), ours.normalizers.Strip()]
    )
    text = ours.NormalizedString(" Hey YOU ")
    normalizer.normalize(text)
    parts = text.split(" ", "removed")
    assert [(part.normalized, part.original) for part in parts] == [("hey", "Hey"), ("all", "U")]
    assert normalizer.normalize_str("YOU ") == "all"
    assert type(normalizer[0]) is ours.normalizers.Normalizer
    splitter = ours.pre_tokenizers.PreTokenizer.custom(camels)
    assert splitter.pre_tokenize_str("HeyYou") == [("Hey", (0, 3)), ("You", (3, 6))]
    with pytest.raises(ToksmithError, match="Cannot use a NormalizedStringRefMut outside"):
        lower.kept.nfc()
    with pytest.raises(ToksmithError, match="Cannot use a PreTokenizedStringRefMut outside"):
        camels.kept.get_splits()
    for each in (normalizer, splitter):
        with pytest.raises(ToksmithError, match=r"Custom .* cannot be serialized"):
            pickle.dumps(each)


def test_an_error_of_a_custom_component_is_named_and_kept_as_the_cause() -> None:
    class Broken:
        def normalize(self, text: Any) -> None:
            text.lowercase()
            raise KeyError("no such word")

    text = ours.NormalizedString("ABC")
    with pytest.raises(ToksmithError, match="KeyError: 'no such word'") as caught:
        ours.normalizers.Normalizer.custom(Broken()).normalize(text)
    assert isinstance(caught.value.__cause__, KeyError)
    assert text.normalized == "ABC"


def test_tokens_of_splits() -> None:
    text = ours.PreTokenizedString("go on")
    text.split(lambda place, part: part.split(" ", "removed"))
    text.tokenize(lambda word: [ours.Token(len(word), word, (0, len(word)))])
    text.normalize(lambda part: part.clear())
    text.split(lambda place, part: [])
    (first, offsets, tokens), (_, _, others) = text.get_splits()
    assert (first, offsets) == ("go", (0, 2))
    assert [each.as_tuple() for each in (tokens or []) + (others or [])] == [
        (2, "go", (0, 2)),
        (2, "on", (0, 2)),
    ]


def test_functions_that_return_something_else() -> None:
    text = ours.PreTokenizedString("go on")
    with pytest.raises(TypeError, match="not an instance of 'Token'"):
        text.tokenize(lambda word: [1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="not an instance of 'NormalizedString'"):
        text.split(lambda place, part: [1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="expect a callable"):
        text.split(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected one of `original, normalized`"):
        text.get_splits("whole")
    with pytest.raises(TypeError, match="for 'a' it returned ''"):
        ours.NormalizedString("a").map(lambda character: "")
    assert text.get_splits() == [("go on", (0, 5), None)]


def test_settings_are_checked() -> None:
    splitters, normalizers = ours.pre_tokenizers, ours.normalizers
    wrong: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (ValueError, "string of length 1", lambda: splitters.Metaspace("ab")),
        (ValueError, "unknown variant", lambda: splitters.Metaspace(prepend_scheme="last")),
        (ValueError, "expected one of", lambda: splitters.Punctuation("gone")),
        (ValueError, "1 or more", lambda: splitters.FixedLength(0)),
        (TypeError, "instance of 'bool'", lambda: splitters.Digits(3)),  # type: ignore[arg-type]
        (TypeError, "give a str, or a Regex", lambda: splitters.Split(3, "removed")),  # type: ignore[arg-type]
        (TypeError, "use a subclass", normalizers.Normalizer),
        (TypeError, "use a subclass", splitters.PreTokenizer),
        (ToksmithError, "Cannot parse", lambda: normalizers.Precompiled(b"abc")),
        (ToksmithError, "does not compile", lambda: ours.Regex("(")),
        (ToksmithError, "back-references", lambda: ours.Regex(r"(a)\1")),
        (ToksmithError, "Cannot get pattern", lambda: splitters.Split("a", "removed").pattern),
        (ValueError, "Available are nfc", lambda: normalizers.unicode_normalizer_from_str("x")),
    ]
    for kind, message, call in wrong:
        with pytest.raises(kind, match=message):
            call()


def test_a_change_of_a_member_is_a_change_of_the_sequence() -> None:
    both = ours.normalizers.Sequence(
        [ours.normalizers.Strip(), ours.normalizers.Sequence([ours.normalizers.Lowercase()])]
    )
    assert len(both) == 2
    assert both.normalize_str(" A ") == "a"
    both[0].left = False
    assert both.normalize_str(" A ") == " a"
    both[1] = ours.normalizers.NFD()
    assert both.normalize_str(" É ") == " E\u0301"
    with pytest.raises(IndexError, match="Index not found"):
        both[2]
