"""Compiling a map of characters to the form that SentencePiece reads; see :mod:`.charsmap`.

The keys go into a trie whose equal branches are one (a minimal automaton: SentencePiece's rules
spell each Hangul syllable in dozens of ways, which differ at the start alone). Each node is then
given a base that no other node has, at which there is room for all its children.
"""

from __future__ import annotations

from collections.abc import Mapping

from toksmith._base.lazy import np
from toksmith.errors import OptionError
from toksmith.stages.charsmap import HAS_LEAF, LEAF

MOST_PREFIXES = 32
"""SentencePiece looks at fewer matches than this at one place."""

MOST_CHARACTERS = 100
"""The most characters of a key."""

_Children = tuple[tuple[int, int], ...]
"""Label and node of each child; with label 0, the value instead of a node."""


def compile_charsmap(entries: Mapping[str, str]) -> bytes:
    """Return a map in its compiled form (``precompiled_charsmap``).

    Args:
        entries: what each key is replaced by. None: the map that changes nothing, ``b""``.

    Raises:
        OptionError: a key is empty or too long, too many keys start each other, or there is a NUL
            or a surrogate.

    Example:
        >>> len(compile_charsmap({"a": "b"}))
        1030
    """
    if not entries:
        return b""
    places: dict[str, int] = {}
    texts = bytearray()
    for text in sorted(set(entries.values())):
        places[text] = len(texts)
        texts += _utf8(text) + b"\0"
    root, nodes = _automaton({_key(key): places[text] for key, text in entries.items()})
    units = _double_array(root, nodes)
    data = np.array(units, "<u4").tobytes()
    return len(data).to_bytes(4, "little") + data + bytes(texts)


def _key(key: str) -> bytes:
    if not key or len(key) > MOST_CHARACTERS:
        raise OptionError(
            f"charsmap: a key of {len(key)} characters; wanted: 1 to {MOST_CHARACTERS}"
        )
    return _utf8(key)


def _utf8(text: str) -> bytes:
    if "\0" in text:
        raise OptionError(f"charsmap: {text!r:.80} holds U+0000, which ends a text there")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise OptionError(f"charsmap: {text!r:.80} holds half of a surrogate pair") from None


def _automaton(values: Mapping[bytes, int]) -> tuple[int, list[_Children]]:
    """Return the root, and the children of each node of the smallest automaton of the keys."""
    nodes: list[_Children] = []
    known: dict[_Children, int] = {}

    def node(children: list[tuple[int, int]]) -> int:
        """Return the node with these children, which all are nodes already."""
        key = tuple(children)
        found = known.setdefault(key, len(nodes))
        if found == len(nodes):
            nodes.append(key)
        return found

    # Keys come in order, so a branch is whole as soon as a key leaves it.
    branch: list[list[tuple[int, int]]] = [[]]  # the children of each node on the way to ``last``
    last = b""
    for key, value in sorted(values.items()):
        shared = 0
        for ours, theirs in zip(key, last):  # noqa: B905 - the shorter one decides
            if ours != theirs:
                break
            shared += 1
        while len(branch) > shared + 1:
            done = branch.pop()
            branch[-1].append((last[len(branch) - 1], node(done)))
        branch += [[] for _ in range(len(key) - shared)]
        branch[-1].append((0, value))
        if sum(1 for children in branch if children and children[0][0] == 0) >= MOST_PREFIXES:
            raise OptionError(
                f"charsmap: {MOST_PREFIXES} keys start each other, up to {key.decode()!r}; "
                "SentencePiece looks at fewer"
            )
        last = key
    while len(branch) > 1:
        done = branch.pop()
        branch[-1].append((last[len(branch) - 1], node(done)))
    return node(branch[0]), nodes


class _Room:
    """The free units of a growing array, in blocks of 256."""

    def __init__(self) -> None:
        self.units: list[int] = []
        self._bases = {0}  # sentencepiece takes base 0 for damage
        self._blocks: list[list[int]] = []  # free places of the blocks that are still looked at
        self._grow()
        self._blocks[0].remove(0)  # the root

    def place(self, labels: list[int]) -> int:
        """Take a base for children of these labels."""
        while True:
            for block in self._blocks:
                free = set(block)
                for place in block:
                    base = place ^ labels[0]
                    if base not in self._bases and free.issuperset(base ^ b for b in labels):
                        self._take(block, base, labels)
                        return base
            self._grow()

    def _take(self, block: list[int], base: int, labels: list[int]) -> None:
        self._bases.add(base)
        taken = {base ^ label for label in labels}
        block[:] = [place for place in block if place not in taken]
        if not block:
            self._blocks.remove(block)

    def _grow(self) -> None:
        # Places in old blocks are few, and hard to fill.
        self._blocks = self._blocks[-15:]
        start = len(self.units)
        self._blocks.append(list(range(start, start + 256)))
        self.units += [LEAF] * 256  # a leaf is nobody's child


def _double_array(root: int, nodes: list[_Children]) -> list[int]:
    """Return the units of the trie."""
    room = _Room()
    bases: dict[int, int] = {}
    todo = [(0, root)]  # a unit, and the node that it leads to
    while todo:
        unit, node = todo.pop()
        children = nodes[node]
        base = bases.get(node)
        if base is None:
            base = bases[node] = room.place([label for label, _ in children])
            for label, child in children:
                if label:
                    room.units[base ^ label] = label
                    todo.append((base ^ label, child))
                else:
                    room.units[base] = child | LEAF
        has_leaf = HAS_LEAF if children[0][0] == 0 else 0
        room.units[unit] = room.units[unit] & 0xFF | has_leaf | _offset(unit ^ base)
    return room.units


def _offset(offset: int) -> int:
    """Return the bits of an offset: 21 of them, or 21 above the lowest eight."""
    if offset < 1 << 21:
        return offset << 10
    if offset & 0xFF or offset >= 1 << 29:
        raise OptionError("charsmap: too many entries")
    return offset << 2 | 1 << 9
