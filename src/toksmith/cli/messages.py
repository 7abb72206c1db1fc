"""Error messages of the library and the parser, rewritten with the command line's options.

The base classes of all commands adapt help, errors and warnings in this way.
"""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand, TyperGroup

from toksmith.cli.clashes import check_outputs
from toksmith.errors import ToksmithError

_VALUE = r"""(?:r?"[^"]*"|'[^']*'|\{[^}]*\}|[\w.\-]+)"""
_NAMED = re.compile(rf"(?<!--option )(?<![\w.'\"-])([a-z][a-z0-9_]*)=({_VALUE})?(?![\w=])")
_ALONE = re.compile(r"(?<![\w.'\"\-=])(?<!, )(?<!has )([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?![\w='\"(])")
"""An argument name with an underscore, unless it is an item of a list."""

_QUOTED_WORD = re.compile(r"""(["'])([\w.\-]+)\1""")
_PATTERN = re.compile(r'r"([^"]*)"')
_NONE = re.compile(r", or None\b")
_CALL = re.compile(r"[\w.]+\([^()]*\) \((toksmith [^()]*)\)")
"""A call in Python, and the command in parentheses that does the same."""

_OF_TIKTOKEN = re.compile(r"give split=(?: \(| and ).*", re.DOTALL)
_OF_GGUF = re.compile(
    r"give split= if you know.*|give the split pattern of the model .*", re.DOTALL
)
"""Advice to give the split of a tokenizer's file."""

_WORDS = {"None": "none", "True": "true", "False": "false"}
_EXTRA = re.compile(r"Got unexpected extra arguments? ?(?:\(s\) )?\((.*)\)", re.DOTALL)
_SUBJECT = re.compile(r"([a-z][a-z0-9_]*)(?= (?:is|holds|must|has|cannot) )")
_LONG_WORD = re.compile(r"(\S{200})\S{200,}(\S{60})")
_REASONS = {
    "int_parsing": "{value!r} is not a whole number",
    "int_from_float": "{value!r} is not a whole number",
    "float_parsing": "{value!r} is not a number",
    "greater_than_equal": "{value} is too small: use {ge} or more",
    "less_than_equal": "{value} is too large: use {le} or less",
}
"""Messages for the error codes of the parser's validation."""


def say(message: str) -> None:
    """Print one line on standard error, whatever the message holds; very long words are cut."""
    short = _LONG_WORD.sub(r"\1…\2", " ".join(message.splitlines()))
    line = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in short
    )
    print(f"toksmith: {line}", file=sys.stderr)


def use_option_names(message: str, options: Mapping[str, str]) -> str:
    """Return a message with Python's argument names replaced by options.

    Args:
        message: the message of an error or a warning.
        options: the option of each argument, by the argument's name.

    Example:
        >>> use_option_names("give split= and unit='bytes'", {"split": "--split"})
        "give --split and unit='bytes'"
        >>> use_option_names("seed is -1: use 0 or more", {"seed": "--seed"})
        '--seed is -1: use 0 or more'
        >>> use_option_names("use a smaller vocab_size", {"vocab_size": "--vocab-size"})
        'use a smaller --vocab-size'
        >>> options = {"special_tokens": "--special-token"}
        >>> use_option_names("give special_tokens={'<s>': 256}", options)
        "give --special-token '<s>=256'"
        >>> use_option_names("seed is x: use 0 or more, or None", {})
        'seed is x: use 0 or more, or leave it out'
        >>> use_option_names("count them with count_corpus(shard=…) (toksmith counts make)", {})
        'count them with toksmith counts make'
    """
    message = _CALL.sub(r"\1", _NONE.sub(", or leave it out", message))

    def written(found: re.Match[str]) -> str:
        option, value = options.get(found[1]), found[2]
        if option is None and found.end() == len(found[0]) and "option" in options:
            option = f"--option {found[1]}"  # an unknown option of a model
        if option is None:
            return found[0]
        value = _WORDS.get(value, value)
        if option.startswith("--option "):
            return f"{option}={_unquoted(value)}" if value else option
        if option == "--drop-gaps":
            return option
        if value and (entry := re.fullmatch(r"\{'([^']*)': (\d+)\}", value)):
            return f"{option} '{entry[1]}={entry[2]}'"
        if not value or value[0] == "{" or value == "true":
            return option
        return f"{option} {_unquoted(value)}"

    message = _NAMED.sub(written, message)
    message = _ALONE.sub(
        lambda found: (
            option
            if (option := options.get(found[1], "")).startswith("--") and " " not in option
            else found[0]
        ),
        message,
    )
    subject = _SUBJECT.match(message)
    option = subject and options.get(subject[1])
    return option + message[subject.end() :] if subject and option else message


def _unquoted(value: str) -> str:
    """Return a value of Python as it is written on the command line."""
    if word := _QUOTED_WORD.fullmatch(value):
        return word[2]
    pattern = _PATTERN.fullmatch(value)
    return shlex.quote(pattern[1]) if pattern else value


def _advise_conversion(message: str, command: Any) -> str:
    """Replace advice to give ``split=`` in a message of a command that has no --split for files."""
    if any(each.metavar == "TEXT=ID" for each in command.params):
        return message
    does = "write it to a file that holds {}, as toksmith convert FILE tokenizer.json {} does, "
    does += "and give that file"
    split_and_specials = "--split cl100k --special-token '<|endoftext|>=100257'"
    message = _OF_TIKTOKEN.sub(does.format("them", split_and_specials), message)
    return _OF_GGUF.sub(does.format("the split pattern of the model", "--split llama3"), message)


def options_of(command: Any) -> dict[str, str]:
    """Return the option or metavar of each argument of a command, by its name and plural."""
    found: dict[str, str] = {}
    plurals: dict[str, str] = {}
    for parameter in command.params:
        option = max(parameter.opts, key=len) if parameter.param_type_name == "option" else None
        shown = option or parameter.metavar or parameter.name.upper()
        found.setdefault(parameter.name, shown)
        plurals.setdefault(f"{parameter.name}s", shown)
        if option:
            found.setdefault(option.strip("-").replace("-", "_"), option)
    found = {**plurals, **found}
    if "drop_gaps" in found:
        found["gaps"] = "--drop-gaps"
    found.setdefault(
        "record", "--record"
    )  # an option of train that messages of other commands name
    if "on" in found:  # compare and audit
        found.setdefault("files", found["on"])
    if "option" in found:  # train: options of models without an option of their own
        from dataclasses import fields

        from toksmith.trainers import MODELS

        for kind, _ in MODELS.values():
            for field in fields(kind):  # type: ignore[arg-type]  # all are dataclasses
                found.setdefault(field.name, f"--option {field.name}")
    return found


def describe_usage_error(error: Any) -> str:
    """Return the message of a usage error, with the command that shows help.

    Args:
        error: the parser's exception.
    """
    parameter, context = getattr(error, "param", None), getattr(error, "ctx", None)
    names = "" if parameter is None else _names(parameter)
    if type(error).__name__ == "MissingParameter" and parameter is not None:
        reason = f"{names} is missing{_such_as(parameter)}"
    elif parameter is not None:
        reason = f"{names}: {_reason(error)}"
    elif (extra := _EXTRA.match(error.format_message())) is not None:
        text = context.params.get("text") if context is not None else None
        if context is not None and text:
            whole = f"{text} {extra[1]}"
            return (
                f"TEXT must be one word, but {len(whole.split())} are given: quote the text, as in "
                f"{context.command_path} {shlex.quote(whole)}"
            )
        reason = f"unexpected argument: {extra[1]}"
    else:
        reason = error.format_message()
    reason = reason.rstrip(".")
    return f"{reason}; see {context.command_path} --help" if context else reason


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return " / ".join(parameter.opts)
    return str(parameter.metavar or parameter.name.upper())


def _such_as(parameter: Any) -> str:
    """Return a hint: an example of a value, and the environment variable that sets a default."""
    example = {
        "tokenizer": "such as -t gpt2",
        "output": "such as -o mine.json",
    }.get(parameter.name)
    variable = parameter.envvar and f"or set {parameter.envvar}"
    added = ", ".join(filter(None, (example, variable)))
    return f" ({added})" if added else ""


def _reason(error: Any) -> str:
    """Return the reason why a value was refused, from ``_REASONS`` if the parser gives a code."""
    details = getattr(error.__cause__, "errors", None)
    if details is not None:
        first = details()[0]
        known = _REASONS.get(first["type"])
        if known is not None:
            return known.format(value=first["input"], **first.get("ctx", {}))
    return str(error.message).removeprefix("Value error, ")


VALUES_OF = {"--deduplicate": ("documents", "lines")}
"""The values of options that may be given without one; it is then the first."""


class Command(TyperCommand):
    """A command whose messages use its option names, and whose help shows no Python types."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the default value to an option that is given without one."""
        complete = []
        for place, word in enumerate(args):
            if word == "--":
                complete += args[place:]
                break
            complete.append(word)
            values = VALUES_OF.get(word)
            if values and args[place + 1 : place + 2] not in [[value] for value in values]:
                complete[-1] = f"{word}={values[0]}"
        return super().parse_args(ctx, complete)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            advised = _advise_conversion(str(message), self)
            say(f"warning: {use_option_names(advised, options_of(self))}")

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = show
                check_outputs(ctx)
                return super().invoke(ctx)
        except ToksmithError as error:
            message = _advise_conversion(str(error), self)
            error.args = (use_option_names(message, options_of(self)),)
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
