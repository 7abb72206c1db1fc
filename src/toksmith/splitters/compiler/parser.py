r"""Reads a pattern into a tree: the syntax that ``regex``, Oniguruma and tiktoken's engine share.

Where the engines differ, a pattern means what it means in the ``regex`` package. Files of other
libraries are translated when they are read (``formats/huggingface/patterns.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NoReturn

from toksmith.errors import UnsupportedError
from toksmith.splitters.compiler.code_points import (
    EVERY,
    LIMIT,
    NONE,
    CodePoints,
    complement,
    intersection,
    union,
)
from toksmith.splitters.compiler.properties import (
    digits,
    named,
    white_space,
    with_case_variants,
    word_characters,
)
from toksmith.splitters.compiler.tree import (
    Atomic,
    Characters,
    Choice,
    Look,
    Repeat,
    Sequence,
    Tree,
)

_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}
_HEX = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")
_PROPERTY = re.compile(r"[pP](?:\{(\^?)([\w =:&-]+)\}|([A-Za-z]))")
_COUNT = re.compile(r"\{(?:([0-9]+)(,?)([0-9]*)|,([0-9]+))\}")
_FUZZY = re.compile(r"\{[^{}]*[a-z][^{}]*\}")
_GROUP_NAME = re.compile(r"\?P?<\w+>")
_FLAGS = re.compile(r"\?([a-zA-Z01]*)(?:-([a-zA-Z]+))?([:)])")
_KNOWN_FLAGS = re.compile("(?:[imsu]|V0)*")
_ANCHOR = re.compile("[AZzbB]")
_SHORT_NAME = re.compile("[sSdDwW]")
_SHORT_NAMES: dict[str, Callable[[], CodePoints]] = {
    "s": white_space,
    "d": digits,
    "w": word_characters,
}
_LINE_BREAK: CodePoints = (10, 11)


def parse(pattern: str) -> Tree:
    """Return the tree of a pattern that the ``regex`` package accepts.

    Raises:
        UnsupportedError: it uses a construct outside the subset; the message is a clause that
            names it.

    Example:
        >>> parse("[ab]?")
        Repeat(item=Characters(points=(97, 99)), least=0, most=1, kind='greedy')
    """
    parser = _Parser(pattern)
    tree = parser.alternatives("")
    if parser.place < len(pattern):
        raise UnsupportedError("a parenthesis is not balanced")
    return tree


class _Parser:
    """A place in a pattern, and the flags that apply there."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.place = 0

    def rest(self, start: str) -> bool:
        return self.text.startswith(start, self.place)

    def takes(self, start: str) -> bool:
        """Skip some text if it is next, and return whether it was."""
        found = self.rest(start)
        if found:
            self.place += len(start)
        return found

    def found(self, wanted: re.Pattern[str]) -> re.Match[str] | None:
        """Skip a match if it is next, and return it."""
        found = wanted.match(self.text, self.place)
        if found:
            self.place = found.end()
        return found

    def next(self) -> str:
        if self.place >= len(self.text):
            raise UnsupportedError("the pattern ends too early")
        self.place += 1
        return self.text[self.place - 1]

    def alternatives(self, flags: str) -> Tree:
        """Read up to a closing parenthesis, or to the end."""
        choices: list[Tree] = []
        items: list[Tree] = []
        while self.place < len(self.text) and not self.rest(")"):
            if self.takes("|"):
                choices.append(_sequence(items))
                items = []
            elif self.rest("(?") and (changed := self.flags_until_end()) is not None:
                flags = _changed(flags, *changed)
            else:
                items.append(self.repeated(self.item(flags, items)))
        choices.append(_sequence(items))
        return choices[0] if len(choices) == 1 else Choice(tuple(choices))

    def flags_until_end(self) -> tuple[str, str] | None:
        """Read flags such as ``(?i)``, which apply up to the end of the group."""
        found = _FLAGS.match(self.text, self.place + 1)
        if not found or found[3] != ")":
            return None
        if self.place:
            raise UnsupportedError(f"the flags ({found[0]} are not at the start of the pattern")
        self.place = found.end()
        return found[1], found[2] or ""

    def item(self, flags: str, before: list[Tree]) -> Tree:
        start = self.next()
        match start:
            case "(":
                return self.group(flags)
            case "[":
                return Characters(self.set(flags))
            case ".":
                return Characters(EVERY if "s" in flags else complement(_LINE_BREAK))
            case "^":
                return Look(_LINE_BREAK if "m" in flags else NONE, True, behind=True)
            case "$":
                return self.dollar(flags, before)
            case "\\":
                return self.escape(flags)
            case "*" | "+" | "?":
                raise UnsupportedError(f"{start!r} has nothing to repeat")
            case "{" if _COUNT.match(self.text, self.place - 1):
                raise UnsupportedError("a count has nothing to repeat")
        return Characters(_cased((ord(start), ord(start) + 1), flags))

    def dollar(self, flags: str, before: list[Tree]) -> Tree:
        r"""Return the condition of ``$``, which also holds before a line break at the very end.

        After a greedy loop that takes line breaks it only matters at the very end: where it holds
        before the last line break, the loop goes on and it holds at the end as well.
        """
        if "m" in flags:
            return Look(_LINE_BREAK, True)
        match before[-1:]:
            case [Repeat(Characters(points), _, None, "greedy" | "possessive")]:
                if intersection(points, _LINE_BREAK):
                    return Look(NONE, True)
        raise UnsupportedError(
            r"'$' also matches before a line break at the end of the text; \Z does not"
        )

    def escape(self, flags: str) -> Tree:
        """Read what follows a backslash outside of a set."""
        if found := self.found(_ANCHOR):
            if found[0] in "bB":
                return _word_boundary(found[0] == "B")
            return Look(NONE, True, behind=found[0] == "A")
        named_set = self.named_set(flags)
        if named_set is not None:
            return Characters(named_set)
        code = self.escaped_character()
        return Characters(_cased((code, code + 1), flags))

    def named_set(self, flags: str) -> CodePoints | None:
        r"""Read ``\p{…}``, ``\s`` and the like after the backslash, if one is next."""
        if found := self.found(_PROPERTY):
            points = named(found[2] or found[3], "i" in flags)
            return complement(points) if (found[0][0] == "P") != (found[1] == "^") else points
        if found := self.found(_SHORT_NAME):
            points = _SHORT_NAMES[found[0].lower()]()
            return complement(points) if found[0].isupper() else points
        return None

    def escaped_character(self) -> int:
        """Read one character after a backslash."""
        if found := self.found(_HEX):
            code = int(found[1] or found[2] or found[3], 16)
            if code >= LIMIT:
                raise UnsupportedError(rf"\{found[0]} is not a code point")
            return code
        letter = self.next()
        if letter.isdigit():
            raise UnsupportedError(rf"\{letter} is a back-reference or an octal number")
        if letter.isalnum() and letter not in _CONTROLS:
            raise UnsupportedError(rf"\{letter} means different things in different libraries")
        return ord(_CONTROLS.get(letter, letter))

    def group(self, flags: str) -> Tree:
        if self.takes("?#"):
            while self.next() != ")":
                pass
            return Sequence(())
        if self.takes("?>"):
            return Atomic(self.closed(flags))
        for start, behind, negative in (
            ("?=", False, False),
            ("?!", False, True),
            ("?<=", True, False),
            ("?<!", True, True),
        ):
            if self.takes(start):
                return _look(self.closed(flags), behind, negative)
        if self.rest("?"):
            if found := self.found(_GROUP_NAME):
                return self.closed(flags)
            found = self.found(_FLAGS)
            if not found or found[3] != ":":
                start = self.text[self.place : self.place + 3]
                raise UnsupportedError(f"({start} starts no group of the common syntax")
            return self.closed(_changed(flags, found[1], found[2] or ""))
        if self.rest("*"):
            raise UnsupportedError("it uses a verb such as (*SKIP)")
        return self.closed(flags)

    def closed(self, flags: str) -> Tree:
        tree = self.alternatives(flags)
        if not self.takes(")"):
            raise UnsupportedError("a parenthesis is not balanced")
        return tree

    def repeated(self, item: Tree) -> Tree:
        """Read the quantifier of an item, if it has one."""
        least, most = 1, None
        if self.takes("*"):
            least = 0
        elif self.takes("?"):
            least, most = 0, 1
        elif self.takes("+"):
            pass
        elif found := self.found(_COUNT):
            least = int(found[1] or 0)
            most = least if found[1] and not found[2] else int(found[3] or found[4] or -1)
            most = None if most == -1 else most
        elif self.found(_FUZZY):
            raise UnsupportedError("it allows errors, such as {e<=1}")
        else:
            return item
        kind: Literal["greedy", "lazy", "possessive"] = "greedy"
        if self.takes("?"):
            kind = "lazy"
        elif self.takes("+"):
            kind = "possessive"
        if any(map(self.rest, "*+?")) or _COUNT.match(self.text, self.place):
            raise UnsupportedError("a repetition is repeated without a group")
        return Repeat(item, least, most, kind)

    def set(self, flags: str) -> CodePoints:
        """Read a set after its opening bracket.

        ``[A&&[B]]`` is the intersection that it is in Oniguruma and tiktoken. The older syntax of
        ``regex`` has no such operation, and reads a set, and then a bracket.
        """
        negative = self.takes("^")
        operands: list[CodePoints] = []
        parts: list[CodePoints] = []
        if self.takes("]"):
            parts.append(_cased((0x5D, 0x5E), flags))
        while not self.takes("]"):
            if self.takes("&&"):
                if not (operands or self.rest("[") or self.text[: self.place - 2].endswith("]")):
                    self.refuse_set("'&&'")
                operands.append(union(*parts))
                parts = []
            else:
                parts.append(self.set_part(flags, bool(operands)))
        points = intersection(*operands, union(*parts)) if operands else union(*parts)
        return complement(points) if negative else points

    def set_part(self, flags: str, in_operation: bool) -> CodePoints:
        """Read a character, a range, an escape or, after ``&&``, a nested set."""
        if any(map(self.rest, ("--", "||", "~~"))):
            self.refuse_set(f"{self.text[self.place] * 2!r}")
        if self.rest("["):
            if self.rest("[:") or not (in_operation or self._has_intersection()):
                self.refuse_set("'['")
            self.place += 1
            return self.set(flags)
        if self.takes("\\"):
            named_set = self.named_set(flags)
            if named_set is not None:
                return named_set
            first = self.escaped_character()
        else:
            first = ord(self.next())
        last = first
        if self.rest("-") and not self.rest("-]") and not self.rest("-&&"):
            self.place += 1
            if self.rest("["):
                self.refuse_set("'['")
            last = self.escaped_character() if self.takes("\\") else ord(self.next())
            if last < first:
                raise UnsupportedError("a set has a range whose end is before its start")
        return _cased((first, last + 1), flags)

    def _has_intersection(self) -> bool:
        """Return whether ``&&`` follows a nested set, so that the set is no list of characters."""
        return re.match(r"\[(?:\\.|[^\[\]\\])*\]&&", self.text[self.place :]) is not None

    def refuse_set(self, what: str) -> NoReturn:
        raise UnsupportedError(
            rf"{what} inside a set has not the same meaning in all libraries; write \[ for the "
            "character, and nested sets as one set"
        )


def _sequence(items: list[Tree]) -> Tree:
    return items[0] if len(items) == 1 else Sequence(tuple(items))


def _changed(flags: str, on: str, off: str) -> str:
    if not _KNOWN_FLAGS.fullmatch(on) or not _KNOWN_FLAGS.fullmatch(off):
        raise UnsupportedError(f"the flags {on + off!r} change the meaning of the pattern")
    return "".join(flag for flag in "ims" if (flag in flags or flag in on) and flag not in off)


def _cased(points: CodePoints, flags: str) -> CodePoints:
    return with_case_variants(points) if "i" in flags else points


def _look(tree: Tree, behind: bool, negative: bool) -> Look:
    points, at_edge = _one_character(tree, behind)
    if negative:
        return Look(complement(points), not at_edge, behind)
    return Look(points, at_edge, behind)


def _one_character(tree: Tree, behind: bool) -> tuple[CodePoints, bool]:
    """Return the characters that fulfil a look-around, and whether the edge of the text does."""
    match tree:
        case Characters(points):
            return points, False
        case Look(points, at_edge, of_behind) if behind == of_behind:
            return points, at_edge
        case Sequence(()):
            return EVERY, True
        case Choice(items):
            found = [_one_character(item, behind) for item in items]
            return union(*(points for points, _ in found)), any(edge for _, edge in found)
        case Repeat(item, least, _, _) if least <= 1:
            return (EVERY, True) if least == 0 else _one_character(item, behind)
        case Sequence(items) if not behind:
            # Conditions on the next character, then perhaps the character itself.
            *conditions, last = (_one_character(item, behind) for item in items)
            if all(isinstance(item, Look) for item in items[:-1]):
                points = intersection(last[0], *(points for points, _ in conditions))
                return points, last[1] and all(edge for _, edge in conditions)
    raise UnsupportedError(f"a look-{'behind' if behind else 'ahead'} sees more than one character")


def _word_boundary(negative: bool) -> Tree:
    r"""Return the condition of ``\b``: a word character on one side only."""
    words = word_characters()
    others = complement(words)
    after_word, after_other = Look(words, False, behind=True), Look(others, True, behind=True)
    word_next, other_next = Look(words, False), Look(others, True)
    first, second = (word_next, other_next) if negative else (other_next, word_next)
    return Choice((Sequence((after_word, first)), Sequence((after_other, second))))
