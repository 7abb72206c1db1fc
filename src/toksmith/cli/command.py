"""The base classes of all commands: they adapt help, errors and warnings to the command line."""

from __future__ import annotations

import warnings
from typing import Any

from typer.core import TyperCommand, TyperGroup

from toksmith.cli.messages import options_of, say, use_option_names
from toksmith.errors import ToksmithError


class Command(TyperCommand):
    """A command whose errors and warnings name its options, and whose help names no types."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            say(f"warning: {use_option_names(str(message), options_of(self))}")

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = show
                return super().invoke(ctx)
        except ToksmithError as error:
            error.args = (use_option_names(str(error), options_of(self)),)
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, as help shows them."""
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, as help shows them."""
        return _without_types(super().get_params(ctx))


def _without_types(parameters: list[Any]) -> list[Any]:
    """Return parameters whose help shows neither Python's types nor ranges."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda **_: None
        elif getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        else:
            parameter._get_number_range_help_str = lambda: None
            if parameter.metavar is None and getattr(parameter, "min", None) is not None:
                parameter.metavar = "N"
    return parameters
