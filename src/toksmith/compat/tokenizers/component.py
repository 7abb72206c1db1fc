"""The base of tokenizers' component classes: settings as tokenizer.json spells them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, ClassVar, Generic, TypeVar

from toksmith.compat.tokenizers.callbacks import checked
from toksmith.compat.tokenizers.checks import unsigned
from toksmith.compat.tokenizers.failures import (
    ComponentIndexError,
    ComponentTypeError,
    TokenizersError,
)

_changes = count(1)
_last_change = 0


def last_change() -> int:
    """Return a number that grows with each change of any component.

    A tokenizer compares it with the number at its last compilation: if they are equal, nothing
    has changed.
    """
    return _last_change


class Component:
    """A component: a kind and its settings, in the spelling of tokenizer.json.

    A *family* (``Normalizer``) is a direct subclass, and a *kind* (``Lowercase``) a subclass of a
    family with ``type=``: ``class Lowercase(Normalizer, type="Lowercase")``. A kind lists its
    settings with their defaults in ``_defaults``, in the order of tokenizer.json, calls
    ``self._start(**settings)`` in its constructor, and has a ``setting("key")`` for each property.

    Attributes:
        _spec: the settings, with the key ``type``. Change them with :meth:`_set` only.
    """

    _kinds: ClassVar[dict[str, type[Component]]] = {}
    _defaults: ClassVar[dict[str, Any]] = {}
    _words: ClassVar[frozenset[str]] = frozenset()
    """The settings that are choices: ``repr`` shows their values without quotes."""
    _spec: dict[str, Any]
    _version: int = 0

    def __init_subclass__(cls, type: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if Component in cls.__bases__:
            cls._kinds = {}
        elif type is not None:
            cls._kinds[type] = cls
            others = {key: value for key, value in cls._defaults.items() if key != "type"}
            cls._defaults = {"type": type, **others}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Any:
        """Return the component of a family that an entry of tokenizer.json describes.

        Args:
            spec: the entry, a mapping with the key ``type``.

        Raises:
            TokenizersError: the family has no such kind, or the entry is none.
        """
        name = spec.get("type") if isinstance(spec, Mapping) else None
        kind = cls._kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            raise TokenizersError(
                f"no {cls.__name__} is of the type {name!r}; there are {', '.join(cls._kinds)}"
            )
        made = kind.__new__(kind)
        made._read(spec)
        return made

    def spec(self) -> dict[str, Any]:
        """Return the entry of tokenizer.json for this component.

        Raises:
            TokenizersError: it is written in Python.
        """
        if self.is_custom():
            raise TokenizersError(f"Custom {self._family()} cannot be serialized")
        return self._spec

    def is_custom(self) -> bool:
        """Whether this component, or a member of it, is an object of the caller's."""
        return False

    def version(self) -> int:
        """Return a number that differs after each change of this component and its members."""
        return self._version

    def _check_is_a_kind(self) -> None:
        """Check that an object is of a kind, not of the family itself.

        Raises:
            ComponentTypeError: it is of the family.
        """
        name = self._family()
        if type(self).__name__ == name:
            raise ComponentTypeError(f"cannot create '{name}' instances: use a subclass of it")

    def _start(self, **settings: Any) -> None:
        """Set the settings of a new object."""
        self._spec = {**self._defaults, **settings}

    def _read(self, spec: Mapping[str, Any]) -> None:
        """Set the settings from an entry of tokenizer.json; keys that are missing get defaults."""
        known = {key: value for key, value in spec.items() if key in self._defaults}
        self._start(**known)

    def _set(self, key: str, value: Any) -> None:
        """Change a setting."""
        self._spec[key] = value
        self._changed()

    def _changed(self) -> None:
        """Let tokenizers that have this component compile again."""
        global _last_change
        _last_change = self._version = next(_changes)

    @classmethod
    def _family(cls) -> str:
        """Return the name of the family."""
        for base in cls.__mro__:
            if Component in base.__bases__:
                return base.__name__
        return cls.__name__

    def __getstate__(self) -> bytes:
        """Return the entry of tokenizer.json as JSON."""
        try:
            return compact_json(self.spec()).encode()
        except TokenizersError as wrong:
            raise TokenizersError(
                f"Error while attempting to pickle {self._family()}: {wrong}"
            ) from wrong

    def __setstate__(self, state: bytes) -> None:
        checked(state, bytes)
        try:
            spec = json.loads(state)
            if spec.get("type", self._defaults.get("type")) != self._defaults.get("type"):
                raise ValueError(f"it is of the type {spec['type']!r}")
            self._read(spec)
        except (ValueError, AttributeError, TokenizersError) as wrong:
            raise TokenizersError(
                f"Error while attempting to unpickle {self._family()}: {wrong}"
            ) from wrong

    def __repr__(self) -> str:
        return self._shown(LONG)

    def __str__(self) -> str:
        return self._shown(SHORT)

    def _shown(self, limit: int | None) -> str:
        """Return the settings as tokenizers shows them: cut after some members of each list."""
        parts = [
            f"{key}={value if key in self._words else shown(value, limit)}"
            for key, value in self.spec().items()
            if key != "type"
        ]
        return f"{self._defaults['type']}({', '.join(parts)})"


LONG, SHORT = 99, 5
"""The most members of a list that ``repr`` and ``str`` show."""

MemberT = TypeVar("MemberT", bound=Component)


class Members(Generic[MemberT]):
    """Mixin of a family's ``Sequence``: its members, by place.

    Put it before the family: ``class Sequence(Members[Normalizer], Normalizer,
    type="Sequence")``, with ``_key`` (the name of the list in tokenizer.json) and ``_member``
    (the family).
    """

    _key: ClassVar[str]
    _member: ClassVar[type[Component]]
    _members: list[MemberT]

    def _fill(self, members: Iterable[MemberT]) -> None:
        """Set the members of a new object."""
        self._members = [self._checked(each) for each in members]

    def _fill_given(self, members: Any) -> None:
        """Set the members of a new object.

        Raises:
            ComponentTypeError: it is no list of such objects.
        """
        self._fill(checked(members, list))

    def _fill_flat(self, members: Iterable[MemberT]) -> None:
        """Set the members of a new object; those of a ``Sequence`` among them join the others."""
        self._fill(single for each in checked(members, list) for single in _singles(each))

    def _checked(self, member: MemberT) -> MemberT:
        if not isinstance(member, self._member):
            raise ComponentTypeError(
                f"'{type(member).__name__}' object is not an instance of "
                f"'{self._member.__name__}': give a list of such objects"
            )
        return member

    def spec(self) -> dict[str, Any]:
        """Return the entry of tokenizer.json for this component."""
        return {"type": "Sequence", self._key: [each.spec() for each in self._members]}

    def is_custom(self) -> bool:
        """Whether a member is an object of the caller's."""
        return any(each.is_custom() for each in self._members)

    def version(self) -> int:
        """Return a number that differs after each change of this component and its members."""
        own: int = self._version  # type: ignore[attr-defined]
        return max([own, *(each.version() for each in self._members)])

    def _read(self, spec: Mapping[str, Any]) -> None:
        self._fill(self._member.from_spec(each) for each in spec.get(self._key, ()))

    def _shown(self, limit: int | None) -> str:
        items = [each._shown(limit) for each in self._members]
        return f"Sequence({self._key}=[{_joined(items, limit)}])"

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, place: int) -> MemberT:
        return self._members[self._place(place)]

    def __setitem__(self, place: int, member: MemberT) -> None:
        self._members[self._place(place)] = self._checked(member)
        self._changed()  # type: ignore[attr-defined]

    def _place(self, place: int) -> int:
        if not 0 <= unsigned(place) < len(self._members):
            raise ComponentIndexError(
                f"Index not found: {place}, and there are {len(self._members)} members"
            )
        return place


def _singles(member: Any) -> Iterator[Any]:
    """Yield a component, or the members of a ``Sequence``."""
    if isinstance(member, Members):
        yield from member._members
    else:
        yield member


def setting(key: str, doc: str = "", to_spec: Callable[[Any], Any] | None = None) -> Any:
    """Return a property that reads and changes a setting of a component.

    Args:
        key: its name in tokenizer.json.
        doc: the docstring of the property.
        to_spec: a function that checks a new value and returns its spelling in tokenizer.json.
    """

    def get(self: Component) -> Any:
        return self._spec[key]

    def put(self: Component, value: Any) -> None:
        self._set(key, value if to_spec is None else to_spec(value))

    return property(get, put, None, doc or None)


def compact_json(value: Any) -> str:
    """Return JSON as tokenizers writes it: no spaces, and characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shown(value: Any, limit: int | None = None) -> str:
    """Return a setting as tokenizers' ``repr`` shows it.

    Args:
        value: the value, as in tokenizer.json. ``{"Regex": "a"}`` is shown as ``Regex("a")``.
        limit: the number of members after which lists and dictionaries are cut.
    """
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, Component):
        return value._shown(limit)
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value)) in ("String", "Regex"):
            ((name, inner),) = value.items()
            return f"{name}({shown(inner, limit)})"
        items = [f'"{key}":{shown(each, limit)}' for key, each in _some(value.items(), limit)]
        return "{" + _joined(items, limit, len(value)) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(shown(each, limit) for each in value) + ")"
    if isinstance(value, list):
        items = [shown(each, limit) for each in _some(value, limit)]
        return "[" + _joined(items, limit, len(value)) + "]"
    return str(value)


def _some(values: Iterable[Any], limit: int | None) -> list[Any]:
    return list(values)[:limit]


def _joined(items: list[str], limit: int | None, size: int | None = None) -> str:
    more = limit is not None and (len(items) if size is None else size) > limit
    return ", ".join([*items[:limit], "..."] if more else items)
