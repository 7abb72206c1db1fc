"""tokenizers' ``AddedToken``: a token that is looked for in a text before it is split."""

from __future__ import annotations

from typing import Any

from toksmith.compat.tokenizers.callbacks import checked
from toksmith.compat.tokenizers.checks import boolean, named, string
from toksmith.compat.tokenizers.component import compact_json
from toksmith.compat.tokenizers.failures import ComponentTypeError
from toksmith.errors import warn

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class AddedToken:
    """A token that is found in texts as it is written, and how it is looked for.

    Args:
        content: the text of the token.
        single_word: find it only between characters that are no letters, digits or ``_``.
        lstrip: let it include the white space before it.
        rstrip: let it include the white space after it.
        normalized: look for it in the normalized text. Default: unless it is special.
        special: whether decoding leaves it out.

    Example:
        >>> token = AddedToken("<mask>", lstrip=True)
        >>> token.lstrip, token.normalized, str(token)
        (True, True, '<mask>')
    """

    def __init__(self, content: str | None = None, **options: Any) -> None:
        self._content = "" if content is None else named("content", string, content)
        self._flags: dict[str, bool | None] = dict.fromkeys(_FLAGS)
        for name, value in options.items():
            if name not in _FLAGS:
                warn(f"AddedToken has no option {name!r}: it is ignored")
            else:
                self._flags[name] = named(name, boolean, value)

    @property
    def content(self) -> str:
        """The text of the token."""
        return self._content

    @content.setter
    def content(self, value: str) -> None:
        self._content = string(value)

    @property
    def single_word(self) -> bool:
        """Whether it is found only as a word of its own."""
        return bool(self._flags["single_word"])

    @property
    def lstrip(self) -> bool:
        """Whether it includes the white space before it."""
        return bool(self._flags["lstrip"])

    @property
    def rstrip(self) -> bool:
        """Whether it includes the white space after it."""
        return bool(self._flags["rstrip"])

    @property
    def normalized(self) -> bool:
        """Whether it is looked for in the normalized text."""
        held = self._flags["normalized"]
        return not self.special if held is None else held

    @property
    def special(self) -> bool:
        """Whether decoding leaves it out."""
        return bool(self._flags["special"])

    @special.setter
    def special(self, value: bool) -> None:
        self._flags["special"] = boolean(value)

    def copy(self) -> AddedToken:
        """Return a token of its own with the same settings, all of them explicit."""
        return AddedToken(**self.__getstate__())

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self.content, **{name: getattr(self, name) for name in _FLAGS}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        content = checked(state, dict).get("content", "")
        self.__init__(content, **{key: state[key] for key in _FLAGS if key in state})  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddedToken):
            return NotImplemented
        return self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        names = ("rstrip", "lstrip", "single_word", "normalized", "special")
        flags = ", ".join(f"{name}={getattr(self, name)}" for name in names)
        return f"AddedToken({compact_json(self.content)}, {flags})"


def added_token(token: object, special: bool = False) -> AddedToken:
    """Return what was given as a token, as an ``AddedToken``; one that was given is changed.

    Args:
        token: a string or an ``AddedToken``.
        special: make it special.

    Raises:
        ComponentTypeError: it is neither.
    """
    if isinstance(token, str):
        return AddedToken(token, special=special)
    if not isinstance(token, AddedToken):
        raise ComponentTypeError("Input must be a List[Union[str, AddedToken]]")
    if special:
        token.special = True
    return token
