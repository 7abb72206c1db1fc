"""PyTorch with toksmith: tensors, a step of Trainer, and workers of DataLoader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (dependency group torch)")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from toksmith.compat import transformers as fast  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("unpatched"),
    pytest.mark.filterwarnings("ignore"),  # of torch and transformers
]
TEXTS = ["Hello world", "one two three four", "héllo 🙂"] * 2
SPECIAL = {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"}


def load(file: Path) -> Any:
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(file), **SPECIAL)


def collate(tokenizer: Any, texts: list[str]) -> tuple[Any, str]:
    found = tokenizer(texts, padding=True, return_tensors="pt")
    return found.data, type(found._encodings).__name__


class Collate:
    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __call__(self, texts: list[str]) -> tuple[Any, str]:
        return collate(self.tokenizer, texts)


def equal(found: Any, expected: Any) -> bool:
    return [*found] == [*expected] and all(
        found[field].dtype == expected[field].dtype and torch.equal(found[field], expected[field])
        for field in expected
    )


@pytest.mark.parametrize("options", [{}, {"padding": True}, {"padding": "max_length"}])
def test_tensors(file: Path, options: dict[str, Any]) -> None:
    stock, ours = load(file), fast.accelerate(load(file))
    options = {**options, "return_tensors": "pt", "max_length": 5, "truncation": True}
    for texts in (TEXTS, TEXTS[1]) if options.get("padding") else (TEXTS[1],):
        assert equal(ours(texts, **options), stock(texts, **options))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers(file: Path, method: str) -> None:
    stock, ours = load(file), fast.accelerate(load(file))
    expected, _ = collate(stock, TEXTS)
    assert equal(collate(ours, TEXTS)[0], expected)  # compiled before the workers start
    loader = torch.utils.data.DataLoader(
        TEXTS, 6, num_workers=1, multiprocessing_context=method, collate_fn=Collate(ours)
    )
    [(found, encodings)] = [*loader]
    assert equal(found, expected)
    assert encodings == "Encodings"  # toksmith's


def test_a_step_of_trainer(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="accelerate is not installed")

    def loss(tokenizer: Any) -> tuple[int, float]:
        config = transformers.GPT2Config(
            vocab_size=len(tokenizer), n_positions=16, n_embd=8, n_layer=1, n_head=1
        )
        torch.manual_seed(0)
        trainer = transformers.Trainer(
            model=transformers.GPT2LMHeadModel(config),
            args=transformers.TrainingArguments(
                output_dir=str(tmp_path),
                max_steps=1,
                per_device_train_batch_size=3,
                use_cpu=True,
                report_to=[],
                save_strategy="no",
                disable_tqdm=True,
            ),
            train_dataset=[tokenizer(text) for text in TEXTS],
            data_collator=transformers.DataCollatorForLanguageModeling(tokenizer, mlm=False),
            processing_class=tokenizer,
        )
        done = trainer.train()
        return done.global_step, done.training_loss

    expected = loss(load(file))
    assert loss(fast.accelerate(load(file))) == expected
    assert expected[0] == 1
