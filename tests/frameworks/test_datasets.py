"""datasets and transformers' collators with toksmith."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from toksmith.compat import transformers as fast  # noqa: E402

pytestmark = pytest.mark.usefixtures("unpatched")

TEXTS = ["Hello world", "", "one two three four", "héllo <new> 🙂"] * 5
SPECIAL = {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"}


def load(file: Path) -> Any:
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(file), **SPECIAL)


@pytest.mark.filterwarnings("ignore")  # of datasets
def test_map_hits_its_cache(file: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    folder, log = str(tmp_path / "data"), tmp_path / "log"
    datasets.Dataset.from_dict({"text": TEXTS}).save_to_disk(folder)

    def encoded(tokenizer: Any, **options: Any) -> tuple[list[list[int]], int]:
        """Return the ids, and how many batches were encoded for them."""
        log.write_text("")
        name = str(log)

        def encode(batch: dict[str, Any]) -> Any:
            with Path(name).open("a") as file:
                file.write("batch\n")
            return tokenizer(batch["text"], truncation=True, max_length=6)

        found = datasets.load_from_disk(folder).map(encode, batched=True, batch_size=10, **options)
        return found["input_ids"][:], len(log.read_text().splitlines())

    tokenizer = fast.accelerate(load(file))
    ids = [tokenizer(text, truncation=True, max_length=6).input_ids for text in TEXTS]
    assert encoded(tokenizer) == (ids, 2)
    assert encoded(tokenizer) == (ids, 0)
    tokenizer(TEXTS, padding=True, truncation=True, max_length=3)  # the settings of a call
    assert encoded(tokenizer) == (ids, 0)
    assert encoded(fast.accelerate(load(file))) == (ids, 0)  # loaded again
    assert encoded(tokenizer, num_proc=2, load_from_cache_file=False) == (ids, 2)
    tokenizer.add_tokens(["<new>"])
    changed = [tokenizer(text, truncation=True, max_length=6).input_ids for text in TEXTS]
    assert changed != ids
    assert encoded(tokenizer) == (changed, 2)
    assert encoded(tokenizer) == (changed, 0)


def test_collators(file: Path) -> None:
    stock, ours = load(file), fast.accelerate(load(file))
    stock.add_special_tokens({"mask_token": "<mask>"})
    ours.add_special_tokens({"mask_token": "<mask>"})
    for tokenizer in (stock, ours):
        assert tokenizer("<mask>").input_ids == [tokenizer.mask_token_id]
    rows = [
        [tokenizer(text, return_special_tokens_mask=True) for text in TEXTS if text]
        for tokenizer in (stock, ours)
    ]
    padded, language, masked = [], [], []
    for tokenizer, each in zip((stock, ours), rows, strict=True):
        options = {"return_tensors": "np"}
        padded.append(transformers.DataCollatorWithPadding(tokenizer, **options)(each))
        collator = transformers.DataCollatorForLanguageModeling
        language.append(collator(tokenizer, mlm=False, **options)(each))
        masked.append(collator(tokenizer, mlm_probability=0.5, seed=3, **options)(each))
    for expected, found in (padded, language, masked):
        assert [*found] == [*expected]
        for field, value in expected.items():
            np.testing.assert_array_equal(found[field], value)
    assert (masked[1]["input_ids"] == ours.mask_token_id).any()
