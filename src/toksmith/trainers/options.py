"""Each model's own options: frozen dataclasses, filled from keyword arguments.

Each field has a help text in its metadata: the command line and the explorer show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache
from inspect import cleandoc
from math import isfinite
from numbers import Real
from textwrap import fill, indent
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from toksmith._base.checks import literal, whole
from toksmith.engine.training import MergeRules
from toksmith.errors import OptionError
from toksmith.framing import AddedToken, Framing
from toksmith.splitters import FAMILIES


class ModelDefault(Enum):
    """The type of :data:`MODEL_DEFAULT`."""

    MODEL_DEFAULT = "default"

    def __repr__(self) -> str:
        return "<the model's default>"


MODEL_DEFAULT: Final = ModelDefault.MODEL_DEFAULT
"""Marks an option that was not given; for some options, ``None`` is a value."""


class ModelOptions:
    """The base of all models' options; see :func:`options_of`."""

    refused: ClassVar[Mapping[str, str]] = {}
    """Options that toksmith does not have, each with the reason, for error messages."""


Given = TypeVar("Given", bound=ModelOptions)


AnyOptions = TypeVar("AnyOptions", bound=type)


def document_fields(options: AnyOptions) -> AnyOptions:
    """Put the help of a dataclass's fields (``metadata={"help": …}``) into its docstring."""
    if options.__doc__:
        before, raises, after = cleandoc(options.__doc__).partition("Raises:\n")
        lines = (
            indent(fill(f"{each.name}: {each.metadata['help']}", 88, subsequent_indent="    "),
                   " " * 4)
            for each in fields(options)
        )  # fmt: skip
        before = before.rstrip() + "\n\n"
        options.__doc__ = before + "Attributes:\n" + "\n".join(lines) + "\n\n" + raises + after
    return options


def options_of(kind: type[Given], model: str, given: Mapping[str, Any]) -> Given:
    """Return a model's options from keyword arguments.

    Raises:
        OptionError: an option is unknown; the message lists the options of the model.
    """
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # all are dataclasses
    for name in given:
        if name in kind.refused:
            raise OptionError(f"{name}= is not supported: {kind.refused[name]}")
        if name not in known:
            raise OptionError(
                f"{name}= is no option of model {model!r}, which has {', '.join(known)}"
            )
    check_kinds(kind, given)
    return kind(**given)


def check_kinds(kind: type[ModelOptions], given: Mapping[str, Any]) -> None:
    """Check the types of options against the types of their fields.

    Raises:
        OptionError: an option has a wrong type.
    """
    hints = _hints(kind)  # type: ignore[arg-type]  # a class is hashable
    for name, value in given.items():
        kinds = hints[name]
        kinds = get_args(kinds) if get_origin(kinds) in (Union, UnionType) else (kinds,)
        if not any(_is_of(value, each) for each in kinds):
            words = " or ".join(_WORDS.get(get_origin(each) or each, "a list") for each in kinds)
            raise OptionError(f"{name} is {value!r:.80}: use {words}, not {type(value).__name__}")


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


_WORDS = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a str",
    NoneType: "None",
    Literal: "one of its names",
}


def _is_of(value: object, kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return True  # the dataclass checks the values
    if get_origin(kind) is not None:
        return isinstance(value, Iterable)
    if kind is int:
        return hasattr(value, "__index__")
    if kind is float:
        return isinstance(value, Real) and isfinite(value)
    return isinstance(value, kind)


def choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Check an option that has a fixed set of values.

    Raises:
        OptionError: it has another value.
    """
    if value not in choices:
        raise OptionError(f"{name} is {value!r:.80}: use {' or '.join(map(repr, choices))}")


def literals(special_tokens: Sequence[str]) -> tuple[str, ...]:
    """Check special tokens, early: before a long training, not after it.

    Raises:
        OptionError: they are no list of strings, or one is empty or repeated.
    """
    if isinstance(special_tokens, str | bytes):
        raise OptionError("special_tokens is one string: give a list of strings")
    if not isinstance(special_tokens, Iterable) or isinstance(special_tokens, Set | Mapping):
        raise OptionError(
            f"special_tokens is {type(special_tokens).__name__}: give a list, whose order decides "
            "the ids"
        )
    found = tuple(special_tokens)
    for place, token in enumerate(found):
        if not isinstance(token, str):
            raise OptionError(
                f"special_tokens[{place}] is {token!r:.80}: use a str, not {type(token).__name__}"
            )
    framing_of(found, 0)
    return found


def framing_of(special_tokens: Sequence[str], first: int) -> Framing:
    """Return a framing with special tokens, whose ids start at ``first``."""
    return Framing(tuple(AddedToken(text, first + i) for i, text in enumerate(special_tokens)))


_UNK = "<unk>"


@document_fields
@dataclass(frozen=True)
class BPEOptions(ModelOptions):
    """The options of ``model="bpe"``.

    Raises:
        OptionError: an option is out of range.
    """

    split: str | None = field(
        default="gpt4",
        metadata={
            "continued": True,
            "help": "the split of text into chunks before learning; no token crosses a cut. A "
            f"published name ({', '.join(FAMILIES)}, …), ``words``, a regular expression, or "
            "``None``, which splits at documents only.",
        },
    )
    special_tokens: Sequence[str] = field(
        default=(),
        metadata={
            "continued": True,
            "help": "a list of strings; their ids follow the model's. In the training text they "
            "are plain text.",
        },
    )
    ties: Literal["first-seen", "smallest-pair"] = field(
        default="first-seen",
        metadata={
            "continued": True,
            "help": "which of two equally frequent pairs is merged first: ``first-seen`` as in "
            "minbpe, or ``smallest-pair`` as in Hugging Face's tokenizers.",
        },
    )
    min_frequency: int = field(
        default=1,
        metadata={
            "continued": True,
            "help": "training stops when the best pair occurs fewer times than this.",
        },
    )
    max_token_length: int | None = field(
        default=None,
        metadata={
            "continued": True,
            "help": "the maximum length of a token, in units; a longer one is never merged.",
        },
    )
    unit: Literal["bytes", "characters"] = field(
        default="bytes",
        metadata={
            "help": "the initial symbols: ``bytes``, or ``characters`` (characters that are not in "
            "the training text are unknown later)."
        },
    )
    unk_token: str | None = field(
        default=_UNK,
        metadata={
            "help": "the token for unknown characters; ``None`` drops them. Only for characters."
        },
    )

    def __post_init__(self) -> None:
        choice("ties", self.ties, ("first-seen", "smallest-pair"))
        choice("unit", self.unit, ("bytes", "characters"))
        whole("min_frequency", self.min_frequency, least=1)
        if self.max_token_length is not None:
            whole("max_token_length", self.max_token_length, least=1, otherwise=", or None")
        object.__setattr__(self, "special_tokens", literals(self.special_tokens))
        if self.unk_token is not None:
            literal("unk_token", self.unk_token)
        if self.unit == "bytes" and self.unk_token != _UNK:
            raise OptionError('unk_token= is only for unit="characters": bytes are never unknown')

    @property
    def rules(self) -> MergeRules:
        """The rules of merging, for the kernel."""
        return MergeRules.of(self)
