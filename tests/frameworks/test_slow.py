"""Tokenizers in Python: ids with toksmith against ids without it."""

from __future__ import annotations

import copy
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_startup import run

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from toksmith.compat import transformers as fast  # noqa: E402

pytestmark = pytest.mark.usefixtures("unpatched")

IS_4 = transformers.__version__.startswith("4.")
CHARACTERS = "ab AB'sd1\n\t .,!-\x0b\x1c\x00\x7f[]MASKUN\xa0é 中İΣ🙂\u0378\ue000"


@pytest.fixture(params=["GPT2Tokenizer", "BertTokenizer"])
def pair(request: pytest.FixtureRequest, shared: Path) -> tuple[Any, Any]:
    """A slow tokenizer of transformers 4, and the same with toksmith."""
    folder = shared / "data/vocab"
    files = ["gpt2_encoder.json", "gpt2_vocab.bpe"]
    if request.param == "BertTokenizer":
        files = ["bert_uncased_vocab.txt"]
    if not IS_4:
        pytest.skip("these classes are fast tokenizers in transformers 5")
    make = getattr(transformers, request.param)
    stock, ours = (make(*(str(folder / name) for name in files)) for _ in range(2))
    return stock, fast.accelerate(ours)


def test_slow_tokenizers(pair: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    stock, ours = pair
    assert fast.engine_of(ours).startswith("toksmith: kernel")
    assert fast.engine_of(stock).startswith("transformers: ")
    rng = random.Random(1)
    texts = ["".join(rng.choices(CHARACTERS, k=rng.randint(0, 30))) for _ in range(800)]
    special = stock.all_special_tokens[0]
    texts += ["Hello world! It's 1999.", f"a {special} b{special}", "a" * 150]
    for options in ({}, {"padding": "max_length", "max_length": 9, "truncation": True}):
        if options and stock.pad_token is None:
            continue
        assert ours(texts, **options).data == stock(texts, **options).data
    assert ours(texts, split_special_tokens=True).data == (
        stock(texts, split_special_tokens=True).data
    )
    assert ours(texts[:9], texts[9:18]).data == stock(texts[:9], texts[9:18]).data
    assert ours.tokenize(texts[-3]) == stock.tokenize(texts[-3])
    expected = stock(texts).data
    for each in (stock, ours):
        each.add_tokens(["wor"])
    assert ours(texts).data == stock(texts).data != expected
    for same in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert fast.engine_of(same).startswith("toksmith")
        assert same(texts).data == ours(texts).data
    # A plain text runs on toksmith: the class's own steps are not called.
    owner, name = (ours, "bpe") if hasattr(ours, "bpe") else (ours.wordpiece_tokenizer, "tokenize")
    monkeypatch.setattr(owner, name, None)
    assert ours("Hello").input_ids == stock("Hello").input_ids


def test_settings_that_change(pair: tuple[Any, Any]) -> None:
    stock, ours = pair
    if not hasattr(ours, "basic_tokenizer"):
        pytest.skip("GPT2Tokenizer has none")
    ours("Hello")
    for each in (stock, ours):
        each.basic_tokenizer.strip_accents = False
        each.basic_tokenizer.do_lower_case = False
    assert ours("HELLO World").input_ids == stock("HELLO World").input_ids
    for each in (stock, ours):
        each.basic_tokenizer.never_split = {"a.b"}
    assert ours("a.b c").input_ids == stock("a.b c").input_ids
    assert fast.engine_of(ours).startswith("transformers: its BasicTokenizer")


def test_activate_takes_slow_tokenizers(pair: tuple[Any, Any], tmp_path: Path) -> None:
    stock, _ = pair
    stock.save_pretrained(tmp_path)
    with fast.active():
        inside = type(stock).from_pretrained(tmp_path)
        assert fast.engine_of(inside).startswith("toksmith: kernel")
        assert inside("Hello world").input_ids == stock("Hello world").input_ids
    assert fast.engine_of(type(stock).from_pretrained(tmp_path)).startswith("transformers: ")


def test_other_slow_tokenizers_stay_as_they_are() -> None:
    stock, ours = (transformers.ByT5Tokenizer() for _ in range(2))
    assert fast.accelerate(ours) is ours
    assert fast.engine_of(ours) == (
        "transformers: ByT5Tokenizer is a slow tokenizer that toksmith does not run"
    )
    assert ours("héllo").input_ids == stock("héllo").input_ids


@pytest.mark.skipif(not IS_4, reason="GPT2Tokenizer is a fast tokenizer in transformers 5")
def test_the_environment_variable_takes_slow_tokenizers(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3}')
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n")
    script = (
        "from transformers import GPT2Tokenizer\n"
        f"tokenizer = GPT2Tokenizer.from_pretrained({str(tmp_path)!r})\n"
        "from toksmith.compat.transformers import engine_of\n"
        "print(tokenizer('abba').input_ids, engine_of(tokenizer))\n"
    )
    done = run(script, "1", tmp_path)
    assert done.stdout.startswith("[2, 1, 0] toksmith: kernel")
    assert "RuntimeWarning" not in done.stderr
