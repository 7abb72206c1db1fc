"""Names from other libraries: the error says what to use here."""

from __future__ import annotations

import copy
import inspect
import re

import pytest

import toksmith
from toksmith import Tokenizer
from toksmith._base import habits

TOK = toksmith.train(texts=["low lower lowest"], vocab_size=259)


@pytest.mark.parametrize("name", habits.TOKENIZER)
def test_names_of_a_tokenizer(name: str) -> None:
    assert not hasattr(TOK, name)
    with pytest.raises(AttributeError) as missing:
        getattr(TOK, name)
    assert str(missing.value) == (
        f"'Tokenizer' object has no attribute {name!r}: use {habits.TOKENIZER[name]}"
    )
    assert len(str(missing.value)) <= 200


def test_a_sentence_of_each_kind() -> None:
    with pytest.raises(AttributeError) as missing:
        TOK.sep_token_id  # noqa: B018
    assert str(missing.value) == (
        "'Tokenizer' object has no attribute 'sep_token_id': use special_tokens, which maps each "
        "special token to its id"
    )
    for said in habits.TOKENIZER.values():
        assert " holds " not in said.split(",")[0], said  # "use ..." goes on with a noun


@pytest.mark.parametrize("name", habits.CLASS)
def test_names_of_the_class(name: str) -> None:
    assert not hasattr(Tokenizer, name)
    with pytest.raises(AttributeError, match=f"type object 'Tokenizer' has no attribute '{name}'"):
        getattr(Tokenizer, name)


@pytest.mark.parametrize("name", habits.MODULE)
def test_names_of_the_package(name: str) -> None:
    assert not hasattr(toksmith, name)
    with pytest.raises(AttributeError) as missing:
        getattr(toksmith, name)
    assert str(missing.value) == (
        f"module 'toksmith' has no attribute {name!r}: use {habits.MODULE[name]}"
    )
    with pytest.raises(ImportError):
        exec(f"from toksmith import {name}")


@pytest.mark.parametrize("name", habits.KEYWORDS)
def test_keywords(name: str) -> None:
    calls = (TOK.encode, TOK.encode_array, TOK.encode_batch, TOK.encoding, TOK.count, TOK.prepare)
    for call in calls:
        if name in inspect.signature(call).parameters:
            continue
        with pytest.raises(TypeError) as refused:
            call("low", **{name: True})  # type: ignore[operator]
        assert str(refused.value) == (
            f"{call.__name__}() got an unexpected keyword argument {name!r}: "
            f"use {habits.KEYWORDS[name]}"
        )
    with pytest.raises(TypeError, match=r"^encode\(\) got an unexpected keyword argument 'x'$"):
        TOK.encode("low", x=1)  # type: ignore[call-arg]


def test_other_names_are_plain_errors() -> None:
    with pytest.raises(AttributeError, match=r"^'Tokenizer' object has no attribute 'x'$"):
        TOK.x  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'toksmith' has no attribute 'x'$"):
        toksmith.x  # type: ignore[attr-defined]  # noqa: B018


def test_a_tokenizer_is_not_called() -> None:
    with pytest.raises(TypeError, match=re.escape("use tok.encode(text) for ids, or tok.prepare")):
        TOK("low", return_tensors="pt")  # type: ignore[operator]


def test_errors_inside_a_property_are_not_hidden() -> None:
    class Broken(Tokenizer):
        @property
        def name(self) -> str:
            raise AttributeError("inside")

    with pytest.raises(AttributeError, match=r"^inside$"):
        Broken(TOK.pipeline).name  # noqa: B018


def test_names_in_hints_exist() -> None:
    """Each call that a message names, as tok.x or x(…), is one of ours."""
    for said in habits.TOKENIZER.values():
        if (first := re.match(r"(?:\[?tok\.)?(\w+)", said)) and not said.startswith("toksmith"):
            assert hasattr(TOK, first[1]) or said.startswith("id in"), said
    for said in (*habits.CLASS.values(), *habits.MODULE.values(), *habits.TOKENIZER.values()):
        for name in re.findall(r"toksmith\.(\w+)", said):
            assert hasattr(toksmith, name), said


def test_copies_and_the_names_of_the_package() -> None:
    assert copy.copy(TOK) == copy.deepcopy(TOK) == TOK
    assert {"encode_ordinary", "token_to_id"}.isdisjoint(dir(TOK))
    names = dir(toksmith)
    assert names == sorted(names)
    assert {"train", "Tokenizer", "measure", "__version__"} <= set(names)
    assert {"lazy", "text", "rows", "annotations", "TYPE_CHECKING"}.isdisjoint(names)
    assert all(hasattr(toksmith, name) for name in names)
