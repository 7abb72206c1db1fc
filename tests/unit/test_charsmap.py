"""SentencePiece's maps of characters: reading, matching, building, the named rules."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toksmith.errors import OptionError
from toksmith.stages.charsmap import CharacterMap, any_of
from toksmith.stages.charsmap_building import MOST_CHARACTERS, MOST_PREFIXES, compile_charsmap
from toksmith.stages.charsmap_rules import (
    RULES,
    charsmap_from_tsv,
    charsmap_of,
    rule_entries,
)


def by_hand(units: dict[int, int], texts: bytes = b"x\0") -> bytes:
    trie = np.full(256, 1 << 31, "<u4")
    for place, unit in units.items():
        trie[place] = unit
    return (1024).to_bytes(4, "little") + trie.tobytes() + texts


def test_a_trie_by_hand() -> None:
    # The root has base 0x60, so "a" is unit 1; that one has base 2, where its leaf is.
    charsmap = by_hand({0: 0x60 << 10, 1: ord("a") | 1 << 8 | 3 << 10, 2: 1 << 31 | 2}, b"x\0yz\0")
    assert CharacterMap(charsmap).entries == {"a": "yz"}
    assert CharacterMap(charsmap).first_characters == {"a"}


def test_matches_are_the_keys_that_start_there_shortest_first() -> None:
    entries = {"a": "1", "abc": "2", "é": "", "é\u0301x": "long", "\U0001f600": "😃"}
    character_map = CharacterMap(compile_charsmap(entries))
    assert list(character_map.matches("xabcd", 1)) == [(2, "1"), (4, "2")]
    assert character_map.longest("abc") == (3, "2")
    assert character_map.longest("abx") == (1, "1")
    assert character_map.longest("é\u0301") == (1, "")
    assert character_map.longest("xa") is None
    assert character_map.longest("\0") is None
    assert character_map.longest("\udcff") is None
    assert character_map.first_characters == {"a", "é", "\U0001f600"}
    assert character_map.entries == entries


def test_the_empty_map() -> None:
    assert compile_charsmap({}) == b""
    assert CharacterMap(b"").entries == {}
    assert CharacterMap(b"").longest("a") is None
    assert CharacterMap(b"").first_characters == frozenset()
    assert any_of(frozenset()).search("anything") is None


@given(st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
))  # fmt: skip
def test_a_compiled_map_reads_back(entries: dict[str, str]) -> None:
    assert CharacterMap(compile_charsmap(entries)).entries == entries


def test_equal_branches_are_one() -> None:
    many = {f"{start}{end}": "x" for start in "abcdefgh" for end in "ijklmnop"}
    few = {f"a{end}": "x" for end in "ijklmnop"}
    assert len(compile_charsmap(many)) == len(compile_charsmap(few)) == 4 + 1024 + 2


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [
        ({"": "a"}, "a key of 0 characters"),
        ({"a" * (MOST_CHARACTERS + 1): "a"}, f"1 to {MOST_CHARACTERS}"),
        ({"a\0": "a"}, "holds U\\+0000"),
        ({"a": "\0"}, "holds U\\+0000"),
        ({"\ud800": "a"}, "half of a surrogate pair"),
        ({"a" * size: "b" for size in range(1, MOST_PREFIXES + 1)}, "start each other"),
    ],
)
def test_maps_that_cannot_be_compiled(entries: dict[str, str], wanted: str) -> None:
    with pytest.raises(OptionError, match=wanted):
        compile_charsmap(entries)


@pytest.mark.parametrize(
    ("charsmap", "wanted"),
    [
        (b"\0", "a trie of"),
        (b"\0\4\0\0", "a trie of 1024 bytes in 4"),
        (b"\1\4\0\0" + bytes(2000), "multiple of 1024"),
        (by_hand({0: 0x60 << 10, 1: ord("a") | 1 << 8 | 3 << 10}, b""), "no replacement"),
        (by_hand({0: 0x60 << 10, 1: ord("a") | 1 << 8 | 3 << 10}, b"xyz"), "no replacement"),
        (by_hand({0: 0x60 << 10, 1: ord("a") | 1 << 8 | 3 << 10}, b"\xff\0"), "is invalid UTF-8"),
        (by_hand({0: 0x60 << 10, 1: ord("a") | 1 << 8 | 3 << 10, 2: 7}), "has no value"),
        (by_hand({0: 0x60 << 10, 1: ord("a") | 0x1000 << 10}), "points outside"),
        (by_hand({0: 0x60 << 10, 1: ord("a") | 0x61 << 10}), "loops"),
        (by_hand({0: 0xC3 << 10, 0x43: 0x80}), "invalid UTF-8"),
        (by_hand({0: 0xC1 << 10, 2: 0xC3 | 1 << 8 | 1 << 10, 3: 1 << 31}), "invalid UTF-8"),
    ],
)  # fmt: skip
def test_damage_by_hand(charsmap: bytes, wanted: str) -> None:
    with pytest.raises(OptionError, match=wanted):
        CharacterMap(charsmap)


def test_damage_at_random() -> None:
    sound = compile_charsmap({"ab": "x", "é": "yy", "가나": "", "😀": "z", "b": "x", "bc": "q"})
    rng = random.Random(3)
    refused = 0
    for _ in range(3000):
        data = bytearray(sound)
        for _ in range(rng.choice([1, 2, 8])):
            place = rng.choice([rng.randrange(4), *[rng.randrange(4, len(data))] * 9])
            data[place] = rng.choice([0, 1, 0x80, 0xFF, rng.randrange(256)])
        try:
            character_map = CharacterMap(bytes(data))
        except OptionError:
            refused += 1
            continue
        for text in ("abc", "é", "가나", "😀", "a" * 100):
            for place in range(len(text)):
                character_map.longest(text, place)
    assert 0 < refused < 3000


def test_rules_from_tsv() -> None:
    rules = "41 302 300\t1EA6\nU+0410\t0061  62\tnote\n0061\t\r\n\n62\n"
    entries = {"A\u0302\u0300": "Ầ", "А": "ab", "a": "", "b": ""}
    assert CharacterMap(charsmap_from_tsv(rules)).entries == entries
    assert charsmap_from_tsv("") == b""


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("41\t42\nxyz\t41", "line 2: 'xyz' is no list of code points"),
        ("\t41", "line 1: .* replaces nothing"),
        ("41\t0", "line 1: .* U\\+0000"),
        ("41\t110000", "no list of code points"),
        ("41\tD800", "no list of code points"),
        ("41\t99999999999999999999", "no list of code points"),
        ("-41\t41", "no list of code points"),
        ("4_1\t41", "no list of code points"),
        ("0x41\t41", "no list of code points"),
        ("41\t41\n41\t42", "line 2: '41' occurs twice"),
    ],
)
def test_wrong_rules(rules: str, wanted: str) -> None:
    with pytest.raises(OptionError, match=wanted):
        charsmap_from_tsv(rules)


def test_named_rules() -> None:
    nfkc = rule_entries("nfkc")
    assert nfkc["ﬁ"] == "fi"
    assert nfkc["e\u0301"] == "é"
    assert nfkc["ｶﾞ"] == nfkc["カ\u3099"] == "ガ"
    assert nfkc["ㄱᅡᆫ"] == nfkc["ᄀㅏᆫ"] == nfkc["ﾡￂᆫ"] == "간"
    assert nfkc["～"] == "~"
    assert nfkc["\ua7f1"] == "S"  # of Unicode 17
    assert nfkc["\U00011382\U000113c9"] == "\U00011383"  # of Unicode 16
    assert not {"\u0558", "a", "ABC", "\t", "\x01"} & nfkc.keys()  # U+0558 of Unicode 18

    nmt = rule_entries("nmt_nfkc")
    assert nmt["\t"] == nmt["\u200b"] == nmt["\ufffd"] == nmt["▁"] == " "
    assert nmt["\x01"] == nmt["\x7f"] == ""
    assert "～" not in nmt
    assert "\u200d" not in nmt

    folded = rule_entries("nmt_nfkc_cf")
    assert folded["A"] == "a"
    assert folded["ẞ"] == "ß"
    assert "ß" not in folded
    assert folded["ℌ"] == "h"
    assert folded["Σ"] == folded["ς"] == "σ"
    assert folded["E\u0301"] == "é"
    assert folded["\u2c2f"] == "\u2c5f"  # of Unicode 14
    assert charsmap_of("identity") == b""


@pytest.mark.parametrize("name", [name for name in RULES if name != "identity"])
def test_shipped_maps_equal_the_compiled_rules(name: str) -> None:
    assert charsmap_of(name) == compile_charsmap(rule_entries(name))


def test_names_of_rules() -> None:
    with pytest.raises(OptionError, match="no normalization rule 'nfc'; use nmt_nfkc, nfkc"):
        charsmap_of("nfc")


@pytest.mark.parametrize("name", ["identity", "nfkc", "nmt_nfkc_cf"])
def test_characters_of_keys(name: str) -> None:
    character_map = CharacterMap(charsmap_of(name))
    keys = character_map.entries
    assert character_map.first_characters == {key[0] for key in keys}
    assert character_map.later_characters == {each for key in keys for each in key[1:]}


def test_characters_of_keys_that_share_nodes() -> None:
    keys = ["a", "ab", "abé", "é", "éa", "\U0001f600x\U0001f600", "xyxy", "yxyx", "ﬁa"]
    character_map = CharacterMap(compile_charsmap(dict.fromkeys(keys, "-")))
    assert character_map.later_characters == set("béax\U0001f600y")
