"""Every kind of model through the commands: train, encode, inspect, convert."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import toksmith
from tests.cli.conftest import CORPUS, Run
from tests.kits.bpe import pipeline
from tests.kits.gguf import converted, write
from toksmith import formats
from toksmith.cli.common import FORMATS
from toksmith.cli.train import Model
from toksmith.formats.sentencepiece_pipeline import sentencepiece_pipeline
from toksmith.models import SentencePieceBPE
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.trainers import MODELS

PIECES = ("-O", "hard_vocab_limit=false", "-O", "normalization_rule_name=identity")
TRAINED = {
    "bpe": ("a.json", ("--vocab-size", 280)),
    "wordpiece": ("a.txt", ("--vocab-size", 60, "-O", "min_frequency=1")),
    "unigram": ("a.json", ("--vocab-size", 60)),
    "sentencepiece-bpe": ("a.model", ("--vocab-size", 60, *PIECES)),
    "sentencepiece-unigram": ("a.model", ("--vocab-size", 60, *PIECES)),
    "word": ("a.json", ("--vocab-size", 30)),
    "char": ("a.json", ()),
}
TEXT = "low, lower newest; the quick fox"


@pytest.fixture(scope="module")
def trained(
    run: Run, corpus_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """A file of each model, made by ``toksmith train``."""
    found = {}
    for model, (name, options) in TRAINED.items():
        found[model] = tmp_path_factory.mktemp("trained") / name
        ran = run("train", corpus_file, "-m", model, "-o", found[model], *options)
        assert ran.code == 0, ran.err
        assert ran.out.decode().startswith(f"{model}: 1 document, {len(CORPUS):,} bytes, ")
    return found


def test_all_models_are_there() -> None:
    assert [model.value for model in Model] == list(MODELS)
    assert TRAINED.keys() == MODELS.keys()


@pytest.mark.parametrize("model", TRAINED)
def test_run_and_look(run: Run, trained: dict[str, Path], model: str) -> None:
    tok = toksmith.load(trained[model])
    encoding = tok.encoding(TEXT)
    ran = run("encode", TEXT, "-t", trained[model])
    assert (ran.code, ran.ids) == (0, encoding.ids)
    assert 4 < len(encoding) <= len(TEXT)
    assert run("count", TEXT, "-t", trained[model]).out == b"%d\n" % len(encoding)
    decoded = run("decode", "-t", trained[model], stdin=ran.out).out.decode()
    assert decoded == tok.decode(encoding.ids)
    assert re.sub(r"\W", "", decoded) == re.sub(r"\W", "", TEXT)
    shown = run("inspect", TEXT, "-t", trained[model], "--steps").out.decode()
    assert shown.endswith(f"\n\n{tok.explain(TEXT)}\n")
    rows = [line.split() for line in shown.splitlines()]
    for token_id, token in zip(encoding.ids, encoding.tokens, strict=True):
        name = token.decode().replace(" ", "·")
        assert any(row[:2] in ([str(token_id), name], [f"*{token_id}", name]) for row in rows)


@pytest.mark.parametrize("model", TRAINED)
def test_convert_and_verify(
    run: Run, trained: dict[str, Path], model: str, corpus_file: Path, tmp_path: Path
) -> None:
    target = tmp_path / "other.json"
    ran = run("convert", trained[model], target, "--verify", corpus_file, "--separator", "\n")
    assert ran.code == 0, ran.out.decode() + ran.err
    assert ran.out.decode().endswith(
        f"{trained[model]} and {target} agree by ids: 20 documents, {len(CORPUS) - 20:,} bytes\n"
    )
    assert run("verify", trained[model], target, TEXT, "--by", "tokens").code == 0


def test_convert_verifies_decoded_texts(run: Run, tmp_path: Path) -> None:
    """Without a piece for ▁, a tokenizer.json takes the space off an unknown first piece."""
    model, target, texts = (tmp_path / name for name in ("a.model", "a.json", "a.txt"))
    types, scores = np.array([2, 1, 1, 1, 1]), np.array([0, -2, -2, -2, -1])
    pieces = SentencePieceBPE((b"<unk>", b"l", b"o", b"w", b"lo"), scores, types)
    toksmith.Tokenizer(sentencepiece_pipeline(pieces, SentencePieceNormalizer())).save(model)
    texts.write_text("low\nlow low\n", "utf-8")
    ran = run("convert", model, target, "--verify", texts, "--separator", "\n")
    assert ran.code == 1
    assert ran.out.decode().splitlines()[1:] == [
        f"{texts}: document 1 of 2 has the same ids, but from character 0 on, {model} decodes them "
        f"to ·⁇·low and {target} to ⁇·low"
    ]


def test_two_models_compared_by_the_text_of_their_tokens(
    run: Run, trained: dict[str, Path]
) -> None:
    """▁low and " low" are other tokens; what they stand for may be the same."""
    pair = (trained["char"], trained["bpe"])
    assert run("verify", *pair, "xyz", "--by", "spans").code == 0
    ran = run("verify", trained["sentencepiece-bpe"], trained["word"], "low, fox")
    assert ran.code == 1
    assert "differs at character 0 (byte 0), after 0 equal tokens" in ran.out.decode()


@pytest.mark.parametrize("model", TRAINED)
def test_list_options(run: Run, model: str) -> None:
    ran = run("train", "--list-options", model)
    names = [line.partition("=")[0] for line in ran.out.decode().splitlines()[::2]]
    assert ran.code == 0
    assert names == [field.name for field in fields(MODELS[model][0])]
    assert "`" not in ran.out.decode()
    assert not re.search(r": $", ran.out.decode(), re.M)  # each has a meaning


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["-m", "char", "-O", "byte_fallback=true"],
            "--option byte_fallback is no option of model 'char'",
        ),
        (
            ["-m", "sentencepiece-bpe", "-O", "input=x"],
            "--option input is not supported: the files of",
        ),
        (["-m", "sentencepiece-bpe", "-O", "byte_fallback=x"], "use true or false"),
        (["-m", "sentencepiece-bpe", "--split", "gpt2"], "--split is no option of model"),
        (["-m", "bpe", "--split", "gpt2", "-O", "split=none"], "split is given twice"),
        (["-m", "bpe"], "--vocab-size is missing: use a size such as 32000"),
        (["-m", "wordpiece", "-o", "t.tiktoken"], "tiktoken holds byte-level BPE"),
        (["-m", "char", "-o", "t.model"], "minbpe holds byte-level BPE"),
    ],
)
def test_errors_come_before_the_work(
    run: Run, corpus_file: Path, tmp_path: Path, arguments: list[str], reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    ran = run("train", corpus_file, "-o", "t.json", *arguments)
    assert ran.code == 2
    assert reason in ran.err
    assert ran.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


REFUSED = {
    "sentencepiece-unigram -o x.json": "maps characters (nmt_nfkc): use -o x.model",
    "sentencepiece-unigram -o out": "maps characters (nmt_nfkc): use -o out.model",
    "sentencepiece-unigram -o x.json -O input_format=tsv -O byte_fallback=true": "use -o x.model",
    "sentencepiece-bpe -o .": "maps characters (nmt_nfkc): use -o ./tokenizer.model",
    "sentencepiece-bpe -o ..": "maps characters (nmt_nfkc): use -o ../tokenizer.model",
    "sentencepiece-bpe -o x --to huggingface": "maps characters (nmt_nfkc): use --to sentencepiece",
    "wordpiece -o x.model": "this model is WordPiece: use -o x.json or -o x.txt",
    "wordpiece -o x.model --min-frequency 1000": "WordPiece: use -o x.json or -o x.txt",
    "unigram -o x.tiktoken": "this model is Unigram: use -o x.json",
    "unigram -o x.model": "this Unigram does not: use -o x.json",
    "bpe -o x.txt --vocab-size 300": "byte-level BPE: use -o x.model or -o x.tiktoken or -o x.json",
    "char -o x.tiktoken": "this model is LongestMatch: use -o x.json",
    "word -o x.vocab": "not WordLevel: use -o x.json",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_a_format_that_cannot_hold_the_model_is_refused_before_any_text_is_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("train", "no-such-file.txt", "-m", *arguments.split())
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert REFUSED[arguments] + "\n" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model", ["sentencepiece-bpe", "sentencepiece-unigram"])
def test_a_normalizer_that_huggingface_holds_is_not_refused(
    run: Run, corpus_file: Path, tmp_path: Path, model: str
) -> None:
    path = tmp_path / "x.json"
    options = ("-O", "normalization_rule_name=identity", "-O", "hard_vocab_limit=false")
    ran = run("train", corpus_file, "-q", "-m", model, "-o", path, *options, "--vocab-size", 60)
    assert ran.code == 0
    assert path.exists()
    assert len(set(ran.err.splitlines())) == ran.err.count("\n")  # no warning comes twice


def test_a_refusal_because_of_the_text_names_the_checkpoint(
    run: Run, corpus_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toksmith.cli import train

    monkeypatch.setattr(train, "_rehearse", lambda *_: None)
    kept = tmp_path / "kept"
    arguments = ("train", corpus_file, "-q", "-m", "wordpiece", "--checkpoint", kept, "-o")
    ran = run(*arguments, tmp_path / "x.model")
    assert ran.code == 2
    assert f"stored in {kept}: the same command continues" in ran.err
    assert run(*arguments, tmp_path / "x.json").code == 0
    assert not kept.exists()


def test_convert_names_the_path_that_can_hold_the_tokenizer(
    run: Run, trained: dict[str, Path], tmp_path: Path
) -> None:
    ran = run("convert", trained["wordpiece"], tmp_path / "x.model")
    assert ran.code == 2
    assert f"use {tmp_path / 'x.json'} or {tmp_path / 'x.txt'}" in ran.err


def test_help_names_all_formats_that_can_be_written() -> None:
    assert set(re.findall(r"\w+", FORMATS)) - {"or"} == formats.FORMATS.keys() - {"tekken", "gguf"}


def test_the_tokenizer_of_a_gguf_file(run: Run, tmp_path: Path) -> None:
    model, target = write(tmp_path / "model.gguf", converted(pipeline())), tmp_path / "t.json"
    ran = run("convert", model, target, "--verify", TEXT)
    assert ran.code == 0, ran.err
    assert run("encode", TEXT, "-t", target).ids == run("encode", TEXT, "-t", model).ids
    unknown = write(tmp_path / "model.gguf", converted(pipeline(), pre="of-tomorrow"))
    ran = run("encode", TEXT, "-t", unknown)
    assert ran.code == 2
    assert "pre-tokenizer 'of-tomorrow' (tokenizer.ggml.pre) is unknown" in ran.err
    assert run("encode", TEXT, "-t", unknown, "--split", "gpt2").code == 0
