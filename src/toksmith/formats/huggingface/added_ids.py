"""Numbers the added tokens of a model folder as ``tokenizers`` does.

A token that the vocabulary holds keeps its id; every other token gets the next free id. The ids
that files declare are checked, never used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from toksmith._base import files
from toksmith._base.records import replace
from toksmith.errors import FormatError, warn
from toksmith.formats.huggingface.class_rules import TokenizerClass
from toksmith.formats.huggingface.declared import ROLES, Declared, Literal
from toksmith.framing import AddedToken

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class Numbering:
    """Added tokens with their ids.

    Args:
        path: the file of the vocabulary, for messages.
        find_ids: returns the ids of the model's tokens; called only if a token needs them.
        added: the added tokens so far, in the order in which they were added.
        size: the number of the model's tokens; by default, that of its ids.
    """

    def __init__(
        self,
        path: Path,
        find_ids: Callable[[], Mapping[str, int]],
        added: Iterable[AddedToken] = (),
        size: int | None = None,
    ) -> None:
        self.added = list(added)
        self._path = path
        self._find_ids = find_ids
        self._given_size = size
        self._by_content = {token.content: place for place, token in enumerate(self.added)}

    @cached_property
    def _ids(self) -> Mapping[str, int]:
        return self._find_ids()

    @property
    def _size(self) -> int:
        return len(self._ids) if self._given_size is None else self._given_size

    def add_declared(
        self,
        declared: Declared,
        rules: TokenizerClass | None,
        pieces: Sequence[tuple[str, bool]] = (),
    ) -> dict[str, str]:
        """Add the tokens that the configuration and the class declare.

        Args:
            declared: the configuration.
            rules: the class; ``None`` for none.
            pieces: added tokens of a SentencePiece model, each with whether it is special.

        Returns:
            The literals of the special tokens by role, those of the model's own roles included.

        Raises:
            FormatError: the configuration gives the id of one token to another.
        """
        for literal in declared.numbered:
            self._check(declared, literal)
            self._add(literal.content, **literal.flags)
        named = self._named(declared, rules)
        plain = {content for content, special in pieces if special and rules and rules.plain_pieces}
        for literal in named.values():
            if literal.content not in self._by_content:
                flags = {"normalized": False} if literal.content in plain else literal.flags
                self._add(literal.content, **{**flags, "special": True})
        if declared.extra:
            for literal in declared.extra:
                if literal.content not in self._by_content:
                    self._add(literal.content, **literal.flags)
        else:
            others = [(piece, special) for piece, special in pieces]
            others += [(content, True) for content in (rules.extra(declared) if rules else ())]
            for content, special in others:
                if content not in self._by_content:
                    self._add(content, special=special, normalized=False)
        return {role: literal.content for role, literal in named.items()}

    def reserve(self, declared: Declared) -> None:
        """Add a token for each id from the end of the vocabulary to the highest declared one.

        A file of ranks has no special tokens. ``transformers`` fills the gaps between declared
        ids with tokens such as ``<|reserved_token_100261|>``.
        """
        names = {literal.id: literal.content for literal in declared.numbered}
        first = self._size
        last = max((literal.id or 0 for literal in declared.numbered), default=-1)
        files.check_highest(self._path, last, first + len(names))
        for token_id in range(first, last + 1):
            self._add(names.get(token_id, f"<|reserved_token_{token_id}|>"), special=True)

    def _named(self, declared: Declared, rules: TokenizerClass | None) -> dict[str, Literal]:
        """Return the token of each role, those of the class where the configuration has none."""
        found: dict[str, Literal] = {}
        defaults = rules.roles if rules else {}
        for role in dict.fromkeys((*ROLES, *defaults, *declared.named)):
            if role in declared.named:
                literal = declared.named[role]
            elif role in defaults:
                literal = Literal(defaults[role], {"normalized": False})
            else:
                continue
            if literal is None:
                continue
            if (
                role == "mask_token"
                and rules
                and rules.mask_lstrip
                and "lstrip" not in literal.flags
            ):
                literal = replace(literal, flags={**literal.flags, "lstrip": True})
            if (
                rules
                and rules.strips
                and role in defaults
                and not {"lstrip", "rstrip"} & {*literal.flags}
            ):
                literal = replace(literal, flags={**literal.flags, "lstrip": True, "rstrip": True})
            found[role] = literal
        return found

    def _add(self, content: str, **flags: bool) -> None:
        """Add a token; one that is known gets the new flags."""
        if not content:
            return
        special = flags.get("special", False)
        known = {key: flags.get(key, False) for key in _FLAGS}
        known |= {"special": special, "normalized": flags.get("normalized", not special)}
        place = self._by_content.get(content)
        if place is not None:
            self.added[place] = AddedToken(content, self.added[place].id, **known)
            return
        self._by_content[content] = len(self.added)
        self.added.append(AddedToken(content, self._next_id(content), **known))

    def _next_id(self, content: str) -> int:
        if (held := self._ids.get(content)) is not None:
            return held
        size = self._size
        highest = max((token.id for token in self.added), default=-1)
        return highest + 1 if highest >= size else size

    def _check(self, declared: Declared, literal: Literal) -> None:
        """Compare a declared id with the one that the token gets."""
        place = self._by_content.get(literal.content)
        own = self._next_id(literal.content) if place is None else self.added[place].id
        if own == literal.id:
            return
        assert literal.id is not None
        if (holder := self._holder(literal.id)) is not None:
            raise FormatError(
                declared.folder / literal.source,
                f"id {literal.id} is {literal.content!r:.80}, but in {self._path.name} it is "
                f"{holder!r:.80}: give each id one token",
            )
        warn(
            f"{declared.folder}: {literal.content!r:.80} has id {literal.id} in {literal.source}, "
            f"but id {own} after the vocabulary of {self._path.name}; {own} is used, as in "
            "transformers"
        )

    def _holder(self, token_id: int) -> str | None:
        """Return the token that has an id."""
        for token in self.added:
            if token.id == token_id:
                return token.content
        return next((content for content, held in self._ids.items() if held == token_id), None)

    def finder(self, roles: Mapping[str, str]) -> Callable[[str], tuple[str, int]]:
        """Return the function that finds the literal and the id of a role or a literal."""

        def find(name: str) -> tuple[str, int]:
            content = roles.get(name, name)
            if (place := self._by_content.get(content)) is not None:
                return content, self.added[place].id
            if content in self._ids:
                return content, self._ids[content]
            raise FormatError(
                self._path,
                f"{name} is {files.dump(content)}, which is no token, but the template needs it",
            )

        return find
