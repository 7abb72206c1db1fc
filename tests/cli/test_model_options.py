"""Options of models as ``NAME=VALUE``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import pytest

from toksmith.errors import OptionError
from toksmith.trainers import MODELS
from toksmith.trainers.option_parsing import Described, describe_options, parse_options


@dataclass(frozen=True)
class Options:
    """Some options."""

    fallback: bool = field(
        default=False,
        metadata={"help": "whether unknown characters become ``bytes``."},
    )
    coverage: float = field(
        default=0.9995, metadata={"help": "of characters, as in :class:`~a.b.Options`."}
    )
    size: int | None = None
    symbols: Sequence[str] = ()
    split: str | None = "gpt4"
    rule: Literal["nfkc", "identity"] = "nfkc"
    share: int | float | str = field(default=1, metadata={"help": "of lines, or how many."})


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("fallback=true", True),
        ("fallback=No", False),
        ("coverage=1", 1.0),
        ("size=7", 7),
        ("size=none", None),
        ("symbols=", []),
        ('symbols=<a>,"b,c"', ["<a>", "b,c"]),
        ("split=none", None),
        ("split=a=b", "a=b"),
        ("rule=identity", "identity"),
        ("share=3", 3),
        ("share=0.5", 0.5),
        ("share=x", "x"),
    ],
)
def test_values(word: str, value: object) -> None:
    name = word.partition("=")[0]
    found = parse_options(Options, [word])
    assert found == {name: value}
    assert type(found[name]) is type(value)


def test_names_lists_and_unknown_options() -> None:
    @dataclass
    class Named:
        long_name: tuple[str, ...] = ()

    assert parse_options(Named, ["long-name=a", "long_name=b,c"]) == {"long_name": ["a", "b", "c"]}
    # Which options there are is the trainer's to say.
    assert parse_options(Named, ["other=1"]) == {"other": "1"}
    assert parse_options(Named, []) == {}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["fallback=maybe"], "--option fallback='maybe': use true or false"),
        (["coverage=half"], "use a number"),
        (["size=1.5"], "use a whole number or none"),
        (["rule=nfc"], "use nfkc or identity"),
        (["fallback"], "write NAME=VALUE, such as --option fallback=…"),
        (["size=1", "size=2"], "size is given twice"),
    ],
)
def test_errors(words: list[str], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        parse_options(Options, words)


def test_described() -> None:
    found = describe_options(Options)
    assert found[0] == Described(
        "fallback", "true or false", "false", "whether unknown characters become bytes."
    )
    assert [(each.name, each.kind, each.default) for each in found[1:]] == [
        ("coverage", "a number", "0.9995"),
        ("size", "a whole number or none", "none"),
        ("symbols", "text,text,…", ""),
        ("split", "text or none", "gpt4"),
        ("rule", "nfkc or identity", "nfkc"),
        ("share", "a whole number or a number or text", "1"),
    ]
    assert found[1].meaning == "of characters, as in a.b.Options."
    assert found[-1].meaning == "of lines, or how many."


def test_help_needs_no_docstrings() -> None:
    found = subprocess.run(
        [sys.executable, "-OO", "-m", "toksmith", "train", "--list-options", "bpe"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert "which of two equally frequent pairs is merged first: first-seen as in" in found.stdout


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_option_has_a_help_and_is_in_the_docstring(model: str) -> None:
    kind = MODELS[model][0]
    for option in describe_options(kind):
        assert option.meaning.endswith("."), option.name
        assert f"\n    {option.name}: " in (kind.__doc__ or "")
