"""``dataclass`` and ``field`` that defer their work until a class is used.

Importing ``dataclasses`` takes as long as starting Python, and making one of its classes takes
0.3 ms. The pipeline's parts are about seventy such classes, of which loading a tokenizer uses ten.
So a class gets its ``__init__`` when its first object is made, and becomes a dataclass of the
standard library when something else needs it, such as ``repr`` or ``dataclasses.fields``.

Type checkers see the real functions.
"""

from __future__ import annotations

import sys
from _thread import RLock  # threading imports more
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field", "fields", "replace"]

_OF_CLASSES = ("__dataclass_fields__", "__dataclass_params__", "__match_args__", "__signature__")


class _Field:
    """The arguments of ``field()``."""

    def __init__(self, **options: Any) -> None:
        self.options = options


def _dataclass(kind: type | None = None, **options: Any) -> Any:
    """Return a class whose dataclass methods are made later."""
    if kind is None:
        return partial(_dataclass, **options)
    _Deferred(kind, options)
    return kind


class _Deferred:
    """A class that is no dataclass yet.

    Threads may use the class while one of them makes it a dataclass, so it never lacks a method:
    each is replaced in one step by the one of a copy of the class. ``__init__`` and the methods
    that compare are made here, and stay.

    Args:
        kind: the class.
        options: the arguments of ``dataclass()``.
    """

    def __init__(self, kind: type, options: dict[str, Any]) -> None:
        self._kind = kind
        self._options = options
        self._compared: list[str] | None = None
        self._put: dict[str, object] = {}  # the attributes that finish() replaces or removes
        frozen, eq = options.get("frozen", False), options.get("eq", True)
        methods = {
            "__init__": options.get("init", True) and self._first_init(),
            "__eq__": eq and self._equality(),
            "__hash__": eq and frozen and self._hashing(),
            "__repr__": options.get("repr", True) and self._call("__repr__"),
            "__setattr__": frozen and self._refusal("__setattr__", "assign to"),
            "__delattr__": frozen and self._refusal("__delattr__", "delete"),
        }
        for name, method in methods.items():
            if method and name not in vars(kind):
                self._replace(name, method)
        for name in _OF_CLASSES:
            self._replace(name, _OfClass(self, name))

    def _replace(self, name: str, value: object) -> None:
        self._put[name] = value
        setattr(self._kind, name, value)

    def finish(self) -> None:
        """Make the class a dataclass."""
        from dataclasses import dataclass, field

        with _LOCK:
            if not self._put:
                return
            held = vars(self._kind)
            # A decorator may have replaced one of them since.
            put = [name for name, value in self._put.items() if held.get(name) is value]
            given = {name: value for name, value in held.items() if isinstance(value, _Field)}
            body = {
                name: value
                for name, value in held.items()
                if name not in put and name not in ("__dict__", "__weakref__")
            }
            body |= {name: field(**value.options) for name, value in given.items()}
            kind = self._kind
            made = vars(dataclass(**self._options)(type(kind)(kind.__name__, kind.__bases__, body)))
            for name in (*_OF_CLASSES, "__init__", "__repr__", *given):
                if name not in put and name not in given:
                    continue  # the class has its own
                if name in made:
                    setattr(kind, name, made[name])
                else:
                    delattr(kind, name)
            kind.__doc__ = made["__doc__"]
            self._put = {}

    def _call(self, name: str) -> Callable[..., Any]:
        def finish_and_call(*args: Any) -> Any:
            self.finish()
            return getattr(self._kind, name)(*args)

        return finish_and_call

    def _refusal(self, name: str, what: str) -> Callable[..., None]:
        def refuse(record: Any, attribute: str, *value: object) -> None:
            if type(record) is self._kind or attribute in self._names():
                from dataclasses import FrozenInstanceError

                raise FrozenInstanceError(f"cannot {what} field {attribute!r}")
            getattr(super(self._kind, record), name)(attribute, *value)

        return refuse

    def _names(self) -> list[str]:
        with _LOCK:
            return [*_all_fields(self._kind)]

    def _values(self, record: object) -> tuple[object, ...]:
        """Return the values that make two objects equal."""
        if self._compared is None:
            with _LOCK:
                fields = _all_fields(self._kind)
            self._compared = [name for name in fields if fields[name].get("compare", True)]
        return tuple([getattr(record, name) for name in self._compared])

    def _equality(self) -> Callable[[Any, object], Any]:
        def equals(record: Any, other: object) -> Any:
            if type(other) is not type(record):
                return NotImplemented
            return self._values(record) == self._values(other)

        return equals

    def _hashing(self) -> Callable[[Any], int]:
        return lambda record: hash(self._values(record))

    def _first_init(self) -> Callable[..., None]:
        def make() -> Callable[..., None]:
            with _LOCK:
                init = _make_init(self._kind, self._options.get("kw_only", False))
                if self._put:
                    self._replace("__init__", init)
            return init

        def make_and_call(*args: Any, **named: Any) -> None:
            make()(*args, **named)

        make_and_call.make = make  # type: ignore[attr-defined]  # replace() needs its arguments
        return make_and_call


class _OfClass:
    """An attribute of a dataclass itself: looking at it makes the class a dataclass."""

    def __init__(self, deferred: _Deferred, name: str) -> None:
        self._deferred, self._name = deferred, name

    def __get__(self, holder: object, kind: type) -> Any:
        self._deferred.finish()
        return getattr(kind, self._name)


def _fields(kind: type) -> dict[str, dict[str, Any]]:
    """Return the options of each field that a class itself declares."""
    made = vars(kind).get("__dataclass_fields__")
    if made is None:
        return {}
    if isinstance(made, dict):
        names = ("default", "default_factory", "init", "kw_only", "compare")
        return {name: {each: getattr(made[name], each) for each in names} for name in made}
    hints = vars(kind).get("__annotations__")
    if hints is None and sys.version_info >= (3, 14):
        hints = kind.__annotations__  # of this class alone; before 3.14, also of its bases
    found = {}
    for name, hint in (hints or {}).items():
        if "ClassVar" not in str(hint):
            given = getattr(kind, name, _NONE)
            found[name] = given.options if isinstance(given, _Field) else {"default": given}
    return found


def _all_fields(kind: type) -> dict[str, dict[str, Any]]:
    """Return the options of each field of a class and of its bases."""
    held: dict[str, dict[str, Any]] = {}
    for base in reversed(kind.__mro__[:-1]):
        held |= _fields(base)
    return held


def _make_init(kind: type, kw_only: bool) -> Callable[..., None]:
    """Return the ``__init__`` that ``dataclasses`` would make."""
    held = _all_fields(kind)
    values: dict[str, Any] = {"_set": object.__setattr__, "_none": _NONE}
    by_place, by_name, body = ["self"], list[str](), list[str]()
    for name, options in held.items():
        argument, value = name, name
        if _is_given(options.get("default_factory", _NONE)):
            values[f"_{name}"] = options["default_factory"]
            argument, value = f"{name}=_none", f"_{name}() if {name} is _none else {name}"
        elif _is_given(options.get("default", _NONE)):
            values[f"_{name}"] = options["default"]
            argument = f"{name}=_{name}"
        if options.get("init", True):
            (by_name if options.get("kw_only", kw_only) else by_place).append(argument)
        elif argument == name:
            continue  # it has no default: __post_init__ sets it
        else:
            value = f"_{name}()" if _is_given(options.get("default_factory", _NONE)) else f"_{name}"
        body.append(f" _set(self, {name!r}, {value})")
    if hasattr(kind, "__post_init__"):
        body.append(" self.__post_init__()")
    arguments = ", ".join([*by_place, *(["*", *by_name] if by_name else [])])
    exec(f"def __init__({arguments}):\n" + "\n".join(body or [" pass"]), values)
    init: Callable[..., None] = values["__init__"]
    init.__qualname__ = f"{kind.__qualname__}.__init__"
    return init


def _is_given(value: object) -> bool:
    # The standard library's mark for a missing default is known by its type's name.
    return value is not _NONE and type(value).__name__ != "_MISSING_TYPE"


_NONE = object()
_LOCK = RLock()


def _fields_of(record: Any) -> Any:
    from dataclasses import fields as fields_of

    return fields_of(record)


def _replace(record: Any, /, **changes: Any) -> Any:
    """Return a copy of an object with other values for some arguments of its class."""
    init = type(record).__init__
    make = getattr(init, "make", None)  # no object was made by a call yet, but by pickle
    code = (make() if make else init).__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return type(record)(**{name: getattr(record, name) for name in names} | changes)


if TYPE_CHECKING:
    from dataclasses import dataclass, field, fields, replace
else:
    dataclass, field, fields, replace = _dataclass, _Field, _fields_of, _replace
