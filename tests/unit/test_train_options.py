"""The options of ``train``: its signature, overloads, and errors."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith.errors import OptionError, TrainingError
from toksmith.trainers import MODELS, keywords

KEYWORDS = {
    "bpe": keywords.BPEKeywords,
    "wordpiece": keywords.WordPieceKeywords,
    "unigram": keywords.MetaspaceUnigramKeywords,
    "sentencepiece-bpe": keywords.SentencePieceKeywords,
    "sentencepiece-unigram": keywords.SentencePieceKeywords,
    "word": keywords.WordKeywords,
    "char": keywords.CharKeywords,
}
PARAMETERS = inspect.signature(toksmith.train).parameters


def spelled(kinds: Mapping[str, Any]) -> dict[str, str]:
    return {name: getattr(kind, "__forward_arg__", kind) for name, kind in kinds.items()}


def test_every_model_has_its_keywords() -> None:
    assert sorted(KEYWORDS) == sorted(MODELS)


@pytest.mark.parametrize("model", sorted(MODELS))
def test_keywords_are_the_options_of_the_dataclass(model: str) -> None:
    common = keywords.CommonKeywords.__annotations__
    own = {
        name: kind
        for name, kind in spelled(KEYWORDS[model].__annotations__).items()
        if name not in common
    }
    assert own == {field.name: field.type for field in fields(MODELS[model][0])}  # type: ignore[arg-type]
    assert not set(own) & set(common)


def test_common_keywords_are_parameters_of_train() -> None:
    for name, kind in spelled(keywords.CommonKeywords.__annotations__).items():
        assert PARAMETERS[name].annotation == kind, name
    options = {field.name for field in fields(MODELS["bpe"][0])}  # type: ignore[arg-type]
    others = {"files", "model", "options"}
    assert set(PARAMETERS) == set(keywords.CommonKeywords.__annotations__) | options | others


def test_help_lists_the_options_of_bpe() -> None:
    for field in fields(MODELS["bpe"][0]):  # type: ignore[arg-type]
        assert PARAMETERS[field.name].kind is inspect.Parameter.KEYWORD_ONLY
        assert f"\n    {field.name}: " in (inspect.getdoc(toksmith.train) or "")


def test_every_parameter_is_in_the_docstring() -> None:
    for name in PARAMETERS:
        assert f"\n    {name}: " in (inspect.getdoc(toksmith.train) or ""), name


@pytest.mark.filterwarnings("ignore:the text ran out")
@pytest.mark.parametrize("model", ["bpe", "wordpiece", "word"])
def test_an_option_that_is_not_given_is_the_models_own(model: str) -> None:
    tok = toksmith.train(texts=["low low lower"], vocab_size=300, model=model, progress=False)
    assert tok.training is not None
    for field in fields(MODELS[model][0]):  # type: ignore[arg-type]
        if field.name not in {"split", "special_tokens"}:
            assert tok.training.options[field.name] == field.default


def test_a_wrong_option_names_those_that_there_are() -> None:
    with pytest.raises(OptionError, match=r"special_token= is no option of model 'bpe', which has"):
        toksmith.train(texts="a", vocab_size=257, special_token="<s>")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match=r"ties= is no option of model 'unigram', which has"):
        toksmith.train(texts="a", vocab_size=257, model="unigram", ties="first-seen")


def test_the_error_for_a_missing_size() -> None:
    with pytest.raises(OptionError, match=r"vocab_size is missing.* vocab_size=32000; .*advise"):
        toksmith.train(texts="a")


def test_what_to_train_on() -> None:
    with pytest.raises(
        OptionError, match=r"give exactly one of files, texts= and counts=.* none is given"
    ):
        toksmith.train(vocab_size=257)
    with pytest.raises(
        OptionError, match=r"exactly one of files, texts= and counts=; files and texts are given"
    ):
        toksmith.train("a.txt", texts="a", vocab_size=257)


@pytest.mark.parametrize("name", ["low low", "a\nb", "*.nothing"])
def test_files_are_never_text(name: str, tmp_path: Path) -> None:
    with pytest.raises(toksmith.errors.ToksmithError):
        toksmith.train(name, vocab_size=257)
    (tmp_path / "x.txt").write_text("ab ab")
    assert toksmith.train(tmp_path / "x.txt", vocab_size=257).training.bytes == 5  # type: ignore[union-attr]
    tok = toksmith.train(texts=str(tmp_path / "x.txt"), vocab_size=257)
    assert tok.training is not None
    assert tok.training.bytes == len(str(tmp_path / "x.txt").encode())


@pytest.mark.parametrize(
    "texts",
    ["low low", b"low low", bytearray(b"low low"), ["low", " low"], {"a": "low", "b": [" low"]}],
)
def test_texts_are_one_or_several(texts: Any) -> None:
    tok = toksmith.train(texts=texts, vocab_size=258, split="gpt2")
    assert tok.token_bytes(257) == b"low"
    assert tok.training is not None
    assert tok.training.bytes == 7


@pytest.mark.parametrize("texts", [Path("a.txt"), [Path("a.txt")], {"a": [Path("a.txt")]}])
def test_texts_are_never_paths(texts: Any) -> None:
    for call in (
        lambda: toksmith.train(texts=texts, vocab_size=257),
        lambda: toksmith.Counts.from_texts(texts),
        lambda: toksmith.training_steps(texts, vocab_size=257),
    ):
        with pytest.raises(OptionError, match=r"is a path, and texts are always text"):
            call()


def test_the_position_of_an_item_that_is_no_text() -> None:
    with pytest.raises(OptionError, match=r"texts\[2\] is nan: each must be a str"):
        toksmith.train(texts=["a", "b", float("nan")], vocab_size=257)  # type: ignore[call-overload]


def test_a_type_checker_knows_the_options(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    source = tmp_path / "uses.py"
    source.write_text(
        "import toksmith\n"
        'toksmith.train("a", vocab_size=300, split="gpt2", ties="first-seen")\n'
        'toksmith.train(texts="a", model="wordpiece", objective="frequency")\n'
        'toksmith.train("a", model="sentencepiece-bpe", byte_fallback=True)\n'
        'name: str = "bpe"\n'
        'toksmith.train("a", model=name, vocab_size=300)\n'
        'toksmith.train("a", vocab_size=300, splt="gpt2")\n'
        'toksmith.train("a", vocab_size=300, ties="smallest")\n'
        'toksmith.train("a", model="sentencepiece-bpe", nope=1)\n'
        'toksmith.train("a", model="wordpiece", character_coverage=1.0)\n'
    )
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in found.stdout.splitlines() if ": error:" in line]
    lines = list(dict.fromkeys(line.split(":")[1] for line in errors))
    assert lines == ["7", "8", "9", "10"], found.stdout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"vocab_size": 300}, "the text ran out of pairs: 263 tokens instead of 300. Use more "
         "text, or a smaller vocab_size"),
        ({"vocab_size": 300, "min_frequency": 9}, "the text ran out of pairs that occur 9 times "
         "or more: 256 tokens instead of 300. Use more text, or a smaller vocab_size, or a lower "
         "min_frequency"),
        ({"model": "bpe", "unit": "characters", "vocab_size": 90}, "ran out of pairs"),
        ({"model": "wordpiece", "vocab_size": 90}, "ran out of pairs"),
        ({"model": "unigram", "vocab_size": 90}, "the text yields only"),
        ({"model": "sentencepiece-bpe", "vocab_size": 90, "hard_vocab_limit": False},
         "the text yields only"),
        ({"model": "sentencepiece-unigram", "vocab_size": 90, "hard_vocab_limit": False},
         "the text yields only"),
        ({"model": "sentencepiece-bpe", "vocab_size": 10, "max_sentence_length": 10},
         "lines of more than 10 bytes were skipped"),
    ],
)  # fmt: skip
def test_warnings_point_at_the_line_of_the_call(given: dict[str, Any], message: str) -> None:
    texts = ["low lower lowest", "low"]
    with pytest.warns(UserWarning, match=re.escape(message)) as seen:
        toksmith.train(texts=texts, **given)
    assert {Path(each.filename).name for each in seen} == {Path(__file__).name}
    assert len(seen) == 1


def test_warnings_of_a_second_stage_and_of_steps_point_at_the_call() -> None:
    tok = toksmith.train(texts="ab", vocab_size=257)
    with pytest.warns(UserWarning, match="ran out of pairs") as seen:
        toksmith.train(texts="ab", vocab_size=300, continue_from=tok)
    assert Path(seen[0].filename).name == Path(__file__).name
    with pytest.warns(UserWarning, match="ran out of pairs") as seen:
        toksmith.training_steps("ab", vocab_size=300)
    assert Path(seen[0].filename).name == Path(__file__).name


@pytest.mark.parametrize("model", sorted(MODELS))
def test_values_of_no_kind_are_option_errors(model: str) -> None:
    for field in fields(MODELS[model][0]):  # type: ignore[arg-type]
        for value in (object(), [1], 2.5j, Path("q")):
            with pytest.raises(OptionError, match=field.name):
                toksmith.train(texts="low", vocab_size=300, model=model, **{field.name: value})


@pytest.mark.parametrize("name", ["min_count", "memory", "sample", "seed", "threads", "weights"])
@pytest.mark.parametrize("model", ["bpe", "unigram"])
def test_values_of_no_kind_for_all_models(name: str, model: str) -> None:
    for value in (object(), "x", 2.5j, Path("q")):
        with pytest.raises(OptionError, match=name):
            toksmith.train(texts="low", vocab_size=300, model=model, **{name: value})


def test_a_value_of_another_kind_says_which_is_wanted() -> None:
    for given, message in (
        ({"lowercase": "no"}, "lowercase is 'no': use True or False, not str"),
        ({"strip_accents": 1}, "strip_accents is 1: use True or False or None, not int"),
        ({"prefix": 5}, "prefix is 5: use a str, not int"),
        ({"special_tokens": 5}, "special_tokens is 5: use a list, not int"),
        ({"min_frequency": "2"}, "min_frequency is '2': use a whole number, not str"),
    ):
        with pytest.raises(OptionError, match=re.escape(message)):
            toksmith.train(texts="a", model="wordpiece", **given)  # type: ignore[call-overload]


@pytest.mark.parametrize("model", sorted(MODELS))
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"sample": 1e-7}, "the corpus is empty, or sample=1e-07 selects none of its documents"),
        ({"weights": {"low.jsonl": 1e-6}}, "the weights round all counts to 0"),
        ({"min_count": 99}, "min_count=99 leaves nothing of the text (25 bytes in 5 documents)"),
    ],
)
def test_the_option_that_leaves_no_text_is_named(
    model: str,
    options: dict[str, Any],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("low.jsonl").write_text('{"text": "lower"}\n' * 5, encoding="utf-8")
    with pytest.raises(TrainingError, match=re.escape(reason)):
        toksmith.train("low.jsonl", model=model, vocab_size=300, **options)


def test_empty_counts_are_named() -> None:
    with pytest.raises(TrainingError, match="the counts are empty"):
        toksmith.train(counts=toksmith.Counts.of({}), vocab_size=300)
