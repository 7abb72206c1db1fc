"""Every public name has a docstring with an example, and every command has a help with one."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytest
from typer.testing import CliRunner

import toksmith
from toksmith.cli.app import GROUPS, app

MODULES = [
    "pipeline",
    "models",
    "normalizers",
    "splitters",
    "decoders",
    "framing",
    "formats",
    "trainers",
    "measure",
    "segment",
    "errors",
]


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the functions and classes of a module's ``__all__``, and the methods of classes."""
    for name in getattr(module, "__all__", []):
        value = getattr(module, name)
        if inspect.isfunction(value):
            yield f"{module.__name__}.{name}", value
        elif inspect.isclass(value):
            yield f"{module.__name__}.{name}", value
            own_fields = getattr(value, "__dataclass_fields__", {})  # one may default to a function
            for method, member in vars(value).items():
                function = inspect.unwrap(getattr(member, "__func__", member))
                if isinstance(member, property):
                    function = member.fget
                elif isinstance(member, cached_property):
                    function = member.func
                if method[0] != "_" and method not in own_fields and inspect.isfunction(function):
                    yield f"{module.__name__}.{name}.{method}", function


NAMES = dict(
    pair
    for module in (toksmith, *(importlib.import_module(f"toksmith.{each}") for each in MODULES))
    for pair in public(module)
)


def test_public_names_have_a_docstring_with_an_example() -> None:
    assert len(NAMES) > 100
    without = [name for name, value in NAMES.items() if ">>>" not in (value.__doc__ or "")]
    assert without == []


def test_public_functions_describe_their_parameters() -> None:
    missing = [
        f"{name}: {parameter}"
        for name, value in NAMES.items()
        if inspect.isfunction(value)
        for parameter in inspect.signature(value).parameters
        if parameter not in {"self", "cls", "on"} and parameter[0] != "_"  # on= only has an error
        if f"{parameter}:" not in (value.__doc__ or "")
    ]
    assert missing == []


@pytest.mark.parametrize("command", [name for names in GROUPS.values() for name in names])
def test_help_begins_with_a_sentence_and_ends_with_an_example(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "100", "NO_COLOR": "1"})
    lines = [line.strip() for line in shown.output.splitlines() if line.strip()]
    assert lines[0].startswith("Usage:")
    assert lines[1].endswith("."), lines[1]
    assert lines[-1].startswith("Example"), lines[-1]
