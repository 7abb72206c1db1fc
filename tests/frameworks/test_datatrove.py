"""datatrove's steps with toksmith's tokenizer against the same steps with its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith.compat.datatrove import PipelineTokenizer

pytest.importorskip("datatrove", reason="datatrove is not installed")
pytest.importorskip("tokenizers")

from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.tokens import (
    DocumentTokenizer,
    MegatronDocumentTokenizer,
    TokensCounter,
)

TEXTS = ["It was the best of times", "", "né ☃ 😀 <|endoftext|> 1234", "low lower lowest"]
EOS = "<|endoftext|>"


@pytest.fixture
def path(tmp_path: Path) -> str:
    toksmith.get("toksmith-small").save(tmp_path / "tokenizer.json")
    return str(tmp_path / "tokenizer.json")


def documents() -> list[Document]:
    return [
        Document(text=text, id=str(n), metadata={"no_loss_ranges": [(0, 3)]} if n == 3 else {})
        for n, text in enumerate(TEXTS)
    ]


def with_ours(step: Any, path: str, eos_token: str | None = None) -> Any:
    step.tokenizer = PipelineTokenizer(path, eos_token)
    return step


def files(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(folder.iterdir())}


def test_tokens_are_counted_as_by_datatrove_itself(path: str) -> None:
    counts = [
        [document.metadata["token_count"] for document in step.run(documents())]
        for step in (TokensCounter(path), with_ours(TokensCounter(path), path))
    ]
    assert counts[0] == counts[1]
    assert counts[0][:2] == [6, 0]


@pytest.mark.parametrize("step", [DocumentTokenizer, MegatronDocumentTokenizer])
def test_the_same_files_are_written(tmp_path: Path, path: str, step: Any) -> None:
    options: dict[str, Any] = {"eos_token": EOS}
    if step is DocumentTokenizer:
        options |= {"seed": 1, "save_loss_metadata": True}
    options["tokenizer_name_or_path"] = path
    for writer in (
        step(str(tmp_path / "stock"), **options),
        with_ours(step(str(tmp_path / "ours"), **options), path, EOS),
    ):
        list(writer.run(iter(documents())) or ())  # some steps pass the documents on
    assert files(tmp_path / "ours") == files(tmp_path / "stock")
    assert any(files(tmp_path / "ours").values())


def test_workers_of_an_executor_take_the_tokenizer_along(tmp_path: Path, path: str) -> None:
    counter = with_ours(TokensCounter("there is no such file"), path)
    writer = with_ours(
        DocumentTokenizer(str(tmp_path / "ours"), "no file", shuffle_documents=False), path
    )
    steps = [documents(), counter, writer]
    LocalPipelineExecutor(steps, tasks=2, workers=2, logging_dir=str(tmp_path / "logs")).run()
    tok = toksmith.load(path)
    ids = np.concatenate([tok.encode_array(text, special="encode") for text in TEXTS])
    for task in (0, 1):  # each reads the list of documents
        assert (
            files(tmp_path / "ours")[f"0000{task}_unshuffled.ds"] == ids.astype(np.uint16).tobytes()
        )
