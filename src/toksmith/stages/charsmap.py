"""SentencePiece's compiled maps of characters (``precompiled_charsmap``): reading and matching.

A map replaces strings by others: ``ｶﾞ`` by ``ガ``. The compiled form is

    u32         the size of the trie in bytes
    u32 …       the trie, a double array: one unit a node
    text        the replacements, each ended by a NUL; a leaf holds where its own starts

A node of the trie knows its *base*; the child along byte ``b`` is unit ``base ^ b``, if that unit
carries the label ``b``. Child 0 is the leaf, with the value of the key that ends there. The bits of
a unit (those of the library darts-clone):

    0-7    label
    8      whether child 0 is a leaf
    9      whether the offset counts in units of 256
    10-30  offset: base = place of the unit ^ offset
    31     whether this is a leaf; the other 31 bits are then its value

:mod:`~toksmith.stages.charsmap_building` goes the other way.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from typing import TypeAlias

from toksmith._base.lazy import np, npt
from toksmith.errors import OptionError

LEAF = 1 << 31
HAS_LEAF = 1 << 8

_Units: TypeAlias = "npt.NDArray[np.uint32]"
_Places: TypeAlias = "npt.NDArray[np.int64]"


class CharacterMap:
    """A compiled map of characters.

    Args:
        charsmap: the compiled form; empty for the map that changes nothing.

    Raises:
        OptionError: it is damaged.

    Example:
        >>> from toksmith.stages.charsmap_building import compile_charsmap
        >>> character_map = CharacterMap(compile_charsmap({"a": "b", "ab": "c"}))
        >>> list(character_map.matches("abc")), list(character_map.matches("c"))
        ([(1, 'b'), (2, 'c')], [])
    """

    def __init__(self, charsmap: bytes) -> None:
        self._units, self._texts = _parts(charsmap)
        firsts = read_first_characters(charsmap)
        if firsts is None:
            _check_replacements(self._trie.values(), self._texts)
            firsts = "".join(map(chr, self._trie.first_codes()))
        self._firsts = firsts
        self._step = lru_cache(65_536)(self._walk)

    @cached_property
    def _trie(self) -> _Trie:
        return _Trie(np.array(self._units, np.uint32))

    def matches(self, text: str, start: int = 0) -> Iterator[tuple[int, str]]:
        """Return the keys that start at a place of a text, the shortest first.

        Yields:
            Where the key ends, and what replaces it.
        """
        node = 0
        if start < len(text) and text[start] not in self.first_characters:
            return  # as from most places
        for place in range(start, len(text)):
            step = self._step(node, text[place])
            if step is None:
                return
            node, replacement = step
            if replacement is not None:
                yield place + 1, replacement

    def longest(self, text: str, start: int = 0) -> tuple[int, str] | None:
        """Return the last of :meth:`matches`, ``None`` where there is none."""
        last = None
        for match in self.matches(text, start):
            last = match
        return last

    @cached_property
    def entries(self) -> dict[str, str]:
        """All keys and their replacements (hundreds of thousands, for SentencePiece's rules)."""
        found = {}
        todo = [(0, b"")]
        while todo:
            node, key = todo.pop()
            unit = self._units[node] if self._units else LEAF
            if unit & HAS_LEAF and key and not unit & LEAF:
                found[key.decode()] = self._replacement(node)
            todo += [(child, key + bytes([byte])) for byte, child in self._children(node)]
        return found

    @cached_property
    def first_characters(self) -> frozenset[str]:
        """The characters that some key starts with."""
        return frozenset(self._firsts)

    @cached_property
    def later_characters(self) -> frozenset[str]:
        """The characters that are in some key, but not first."""
        return frozenset(map(chr, self._trie.later_codes()))

    def _walk(self, node: int, character: str) -> tuple[int, str | None] | None:
        """Return the node after a character, and the replacement of the key that ends there."""
        if character == "\0" or 0xD800 <= ord(character) < 0xE000:
            return None
        for byte in character.encode():
            if (child := self._child(node, byte)) is None:
                return None
            node = child
        if not self._units[node] & HAS_LEAF:
            return node, None
        return node, self._replacement(node)

    def _replacement(self, node: int) -> str:
        """Return the replacement of the key that ends at a node."""
        value = self._units[self._base(node)] ^ LEAF
        return self._texts[value : self._texts.index(b"\0", value)].decode()

    def _base(self, node: int) -> int:
        unit = self._units[node]
        return node ^ ((unit >> 10 & 0x1FFFFF) << ((unit & 1 << 9) >> 6))

    def _child(self, node: int, byte: int) -> int | None:
        """Return the child of a node along a byte; ``None`` if there is none."""
        if not self._units:
            return None
        child = self._base(node) ^ byte
        return child if self._units[child] & (LEAF | 0xFF) == byte else None

    def _children(self, node: int) -> list[tuple[int, int]]:
        """Return the label and the node of each child."""
        return self._below.get(self._base(node), []) if self._units else []

    @cached_property
    def _below(self) -> dict[int, list[tuple[int, int]]]:
        """The results of :meth:`_children`, by the base of the node."""
        below: dict[int, list[tuple[int, int]]] = {}
        for node, unit in enumerate(self._units):
            if node and unit & 0xFF and not unit & LEAF:
                below.setdefault(node ^ unit & 0xFF, []).append((unit & 0xFF, node))
        return below


@lru_cache(maxsize=16)
def character_map(charsmap: bytes) -> CharacterMap:
    """Return the map, read once."""
    return CharacterMap(charsmap)


def any_of(characters: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of these characters.

    Example:
        >>> any_of(frozenset("a]")).findall("[ab]")
        ['a', ']']
    """
    # A range is compiled much faster than as many characters.
    codes = set(map(ord, characters))
    starts = sorted(code for code in codes if code - 1 not in codes)
    ends = sorted(code for code in codes if code + 1 not in codes)
    ranges = (f"{re.escape(chr(a))}-{re.escape(chr(b))}" for a, b in zip(starts, ends, strict=True))
    return re.compile(f"[{''.join(ranges)}]" if characters else r"(?!)")


def read_first_characters(charsmap: bytes) -> str | None:
    """Return the characters that the keys of a map start with; ``None`` if it may be damaged.

    ``engine/fused.py`` replaces this function by one of the compiled module. Without that,
    :class:`CharacterMap` checks a map in Python, which needs NumPy and takes longer.
    """
    return None


def _parts(charsmap: bytes) -> tuple[array[int], bytes]:
    """Return the units of the trie, and the replacements."""
    units = array("I")
    if not charsmap:
        return units, b""
    size = int.from_bytes(charsmap[:4], "little")
    # Children are found by xor with a byte: whole blocks of 256 units keep them inside.
    if len(charsmap) < 5 or not size or size % 1024 or 4 + size > len(charsmap):
        raise OptionError(
            f"charsmap: a trie of {size} bytes in {len(charsmap)}; wanted: a multiple of 1024 "
            "bytes, and the replacements after it"
        )
    units.frombytes(charsmap[4 : 4 + size])
    if sys.byteorder == "big":
        units.byteswap()
    return units, charsmap[4 + size :]


def _check_replacements(values: npt.NDArray[np.int64], texts: bytes) -> None:
    """Raise OptionError where a value is no place of a replacement."""
    if not len(values):
        return
    last = int(values[-1])
    if last >= len(texts) or texts.find(b"\0", last) < 0:
        raise OptionError(f"charsmap: no replacement ends after byte {last} of {len(texts)}")
    starts = np.frombuffer(texts, np.uint8)[values]
    if _is_utf8(texts) and not (starts & 0xC0 == 0x80).any():
        return  # bytes between replacements may be invalid UTF-8
    for value in values.tolist():
        if not _is_utf8(texts[value : texts.index(b"\0", value)]):
            raise OptionError(f"charsmap: the replacement at byte {value} is invalid UTF-8")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Trie:
    """The nodes of a trie as arrays, so that those of a depth are walked at once."""

    def __init__(self, units: _Units) -> None:
        places = np.arange(len(units), dtype=np.int64)
        self.units = units.astype(np.int64)
        self.bases = places ^ ((self.units >> 10 & 0x1FFFFF) << ((self.units & 1 << 9) >> 6))
        self.labels = self.units & 0xFF
        is_child = (self.units & LEAF == 0) & (self.labels != 0) & (places != 0)
        children = places[is_child]
        parents = children ^ self.labels[children]
        order = np.argsort(parents, kind="stable")
        self._children, self._parents = children[order], parents[order]

    def below(self, nodes: _Places) -> tuple[_Places, _Places]:
        """Return the children of nodes, and which of the nodes each is a child of."""
        first = np.searchsorted(self._parents, self.bases[nodes])
        counts = np.searchsorted(self._parents, self.bases[nodes], "right") - first
        which = np.repeat(np.arange(len(nodes)), counts)
        steps = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._children[first[which] + steps], which

    def values(self) -> _Places:
        """Return the values of all keys, after checking that all are UTF-8 and end.

        Nodes are shared, so keys that loop look like any others: a trie that goes on for too long
        is refused.

        Raises:
            OptionError: a key is invalid UTF-8 or has no end.
        """
        if not len(self.units):
            return self.bases
        values = []
        nodes, missing = np.zeros(1, np.int64), np.zeros(1, np.int64)  # bytes to a character's end
        budget = 64 * len(self.units)
        while len(nodes):
            budget -= len(nodes)
            if budget < 0 or (self.bases[nodes] >= len(self.units)).any():
                raise OptionError("charsmap: the trie loops, or points outside itself")
            is_end = self.units[nodes] & HAS_LEAF != 0
            leaves = self.units[self.bases[nodes[is_end]]]
            if (missing[is_end] != 0).any() or (leaves & LEAF == 0).any():
                raise OptionError("charsmap: a key is invalid UTF-8, or has no value")
            values.append(leaves ^ LEAF)
            below, which = self.below(nodes)
            missing = _missing()[missing[which], self.labels[below]]
            if (missing < 0).any():
                raise OptionError("charsmap: a key is invalid UTF-8")
            nodes, missing = np.divmod(_distinct(below * 4 + missing), 4)
        return _distinct(np.concatenate(values))

    def first_codes(self) -> list[int]:
        """Return the code points that keys start with; :meth:`values` has found no fault."""
        codes: list[int] = self._characters(np.zeros(1, np.int64))[0].tolist()
        return codes

    def later_codes(self) -> list[int]:
        """Return the code points inside keys; :meth:`values` has found no fault."""
        nodes = self._characters(np.zeros(1, np.int64))[1]
        is_seen = np.zeros(len(self.units), bool)
        found = []
        while len(nodes):
            is_seen[nodes] = True
            codes, nodes = self._characters(nodes)
            found.append(_distinct(codes))
            nodes = _distinct(nodes)
            nodes = nodes[~is_seen[nodes]]
        later: list[int] = _distinct(np.concatenate(found)).tolist() if found else []
        return later

    def _characters(self, nodes: _Places) -> tuple[_Places, _Places]:
        """Return the characters that lead on from nodes, and the node after each."""
        none = np.zeros(0, np.int64)
        if not len(self.units):
            return none, none
        found, ends = [none], [none]
        codes, missing = np.zeros((2, len(nodes)), np.int64)
        size = 0
        while len(nodes):
            size += 1
            nodes, which = self.below(nodes)
            labels, missing = self.labels[nodes], _missing()[missing[which], self.labels[nodes]]
            if size == 1:
                codes = labels & 0x7F >> missing + (missing > 0)
            else:
                codes = codes[which] << 6 | labels & 0x3F
            is_last, goes_on = missing == 0, missing > 0
            ended, after = codes[is_last], nodes[is_last]
            is_character = (ended >= (0, 0, 0x80, 0x800, 0x10000)[size]) & (ended < 0x110000)
            is_character &= ended >> 11 != 0xD800 >> 11
            found.append(ended[is_character])
            ends.append(after[is_character])
            nodes, codes, missing = nodes[goes_on], codes[goes_on], missing[goes_on]
        return np.concatenate(found), np.concatenate(ends)


def _distinct(values: _Places) -> _Places:
    """Return the values in order, each once; ``np.unique`` imports much for the same."""
    values = np.sort(values)
    is_new = np.ones(len(values), bool)
    is_new[1:] = values[1:] != values[:-1]
    return values[is_new]


def _character_size(first: int) -> int:
    return 1 + (first >= 0xC2) + (first >= 0xE0) + (first >= 0xF0)


@cache
def _missing() -> npt.NDArray[np.int64]:
    """``[bytes missing before, byte]`` → bytes missing after; -1 where the byte is invalid."""
    table = np.full((4, 256), -1, np.int64)
    table[0, 1:0x80] = 0
    for first in range(0xC2, 0xF5):
        table[0, first] = _character_size(first) - 1
    for before in (1, 2, 3):
        table[before, 0x80:0xC0] = before - 1
    return table
