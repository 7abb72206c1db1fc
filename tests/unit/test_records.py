"""Deferred dataclasses behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import pytest

from tests.processes import at_once
from toksmith._base.records import dataclass, field, replace


@dataclass(frozen=True)
class Place:
    name: str
    size: int = 3
    parts: list[int] = field(default_factory=list)
    note: str | None = field(default=None, kw_only=True)
    shared: ClassVar[int] = 9


@dataclass(frozen=True)
class Town(Place):
    people: int = 0

    def __post_init__(self) -> None:
        if self.people < 0:
            raise ValueError("people")


@dataclass
class Open:
    size: int = 1


def _fresh() -> tuple[type, type]:
    """Return two classes of which no object exists."""
    names = {"__annotations__": {"name": "str", "size": "int"}, "size": 3}
    one = dataclass(frozen=True)(type("One", (), dict(names)))
    two = dataclass(frozen=True)(
        type("Two", (one,), {"__annotations__": {"more": "str"}, "more": "x"})
    )
    return one, two


def test_arguments() -> None:
    assert vars(Town("a", 4, [1], 5, note="n")) == {
        "name": "a",
        "size": 4,
        "parts": [1],
        "note": "n",
        "people": 5,
    }
    assert vars(Place("a")) == {"name": "a", "size": 3, "parts": [], "note": None}
    assert Place("a").parts is not Place("b").parts
    with pytest.raises(TypeError, match="name"):
        Place()  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="people"):
        Town("a", people=-1)


def test_fields_that_are_no_arguments() -> None:
    @dataclass
    class Square:
        side: int
        area: int = field(init=False)
        marks: list[int] = field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            self.area = self.side**2

    assert vars(Square(3)) == {"side": 3, "area": 9, "marks": []}
    with pytest.raises(TypeError):
        Square(3, 9)  # type: ignore[call-arg]


def test_a_copy_of_an_object_that_was_made_without_its_init() -> None:
    @dataclass(frozen=True)
    class River:
        name: str
        length: int = 1
        source: str = field(init=False, default="spring")

    river = object.__new__(River)  # as pickle makes it
    river.__dict__.update(name="Oker", length=128)
    assert vars(replace(river, length=2)) == {"name": "Oker", "length": 2, "source": "spring"}


def test_methods() -> None:
    one, two = Town("a", people=5), Town("a", people=5)
    assert one == two
    assert one != Town("b")
    assert one != Place("a")
    assert repr(one) == "Town(name='a', size=3, parts=[], note=None, people=5)"
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    assert dataclasses.replace(one, size=7).size == 7
    assert [each.name for each in dataclasses.fields(Town)] == [
        *("name", "size", "parts", "note", "people")
    ]
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.size = 4  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.size
    changed = Open()
    changed.size = 2
    assert changed == Open(2)


def test_each_use_finishes_a_class_without_objects() -> None:
    one, two = _fresh()
    assert [*inspect.signature(two).parameters] == ["name", "size", "more"]
    one, two = _fresh()
    assert two.__match_args__ == ("name", "size", "more")
    one, two = _fresh()
    assert dataclasses.is_dataclass(one)
    assert vars(two("a", more="b")) == {"name": "a", "size": 3, "more": "b"}
    one, two = _fresh()
    assert hash(one("a")) == hash(one("a"))
    assert len({two("a"), two("a"), two("a", 4)}) == 2
    one, two = _fresh()
    assert two("a") == two("a")  # the base has no object yet
    assert one("a") != two("a")


@pytest.mark.usefixtures("threads_alternate_often")
def test_threads_that_use_a_class_first_at_the_same_time() -> None:
    uses: list[Callable[[Any], object]] = [
        lambda kind: vars(kind("a", more="y")),
        lambda kind: repr(kind("a")),
        lambda kind: kind("a") == kind("a"),
        lambda kind: hash(kind("a")) == hash(kind("a")),
        lambda kind: replace(kind("a"), size=5).size,
        lambda kind: kind.__match_args__,
        lambda kind: [each.name for each in dataclasses.fields(kind)],
        lambda kind: [*inspect.signature(kind).parameters],
    ]
    expected = [each(_fresh()[1]) for each in uses]
    for _ in range(50):
        kind = _fresh()[1]
        assert at_once([partial(use, kind) for use in uses]) == expected


def test_objects_need_no_dataclasses_module() -> None:
    code = (
        "import sys\nfrom toksmith.framing import AddedToken\nAddedToken('a', id=1)\n"
        "assert AddedToken('a', 1) == AddedToken('a', 1)\nhash(AddedToken('a', 1))\n"
        "assert 'dataclasses' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
