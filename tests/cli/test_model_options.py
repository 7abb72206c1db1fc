"""Options of models as ``NAME=VALUE``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pytest

from toksmith.errors import OptionError
from toksmith.trainers.written_options import Described, described, parsed


@dataclass(frozen=True)
class Options:
    """Some options.

    Attributes:
        fallback: whether unknown characters
            become ``bytes``.
        coverage: of characters, as in :class:`~a.b.Options`.
        size: how many.
        symbols: pieces that are always whole.
        split: a name, a pattern, or ``None``.
        rule: one of two.
        share: of lines, or how many.

    Raises:
        OptionError: never.
    """

    fallback: bool = False
    coverage: float = 0.9995
    size: int | None = None
    symbols: Sequence[str] = ()
    split: str | None = "gpt4"
    rule: Literal["nfkc", "identity"] = "nfkc"
    share: int | float | str = 1


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
    found = parsed(Options, [word])
    assert found == {name: value}
    assert type(found[name]) is type(value)


def test_names_lists_and_unknown_options() -> None:
    @dataclass
    class Named:
        long_name: tuple[str, ...] = ()

    assert parsed(Named, ["long-name=a", "long_name=b,c"]) == {"long_name": ["a", "b", "c"]}
    # Which options there are is the trainer's to say.
    assert parsed(Named, ["other=1"]) == {"other": "1"}
    assert parsed(Named, []) == {}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["fallback=maybe"], "--option fallback='maybe': true or false is wanted"),
        (["coverage=half"], "a number is wanted"),
        (["size=1.5"], "a whole number or none is wanted"),
        (["rule=nfc"], "nfkc or identity is wanted"),
        (["fallback"], "NAME=VALUE is wanted, such as fallback=…"),
        (["size=1", "size=2"], "size is given twice"),
    ],
)
def test_errors(words: list[str], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        parsed(Options, words)


def test_described() -> None:
    found = described(Options)
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
