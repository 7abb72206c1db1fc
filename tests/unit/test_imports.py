"""The cost of starting: most modules are imported at their first use."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest

import toksmith
from tests.kits.bpe import pipeline
from toksmith import formats
from toksmith._base import lazy
from toksmith.stages.charsmap_building import compile_charsmap

HEAVY = ("numpy", "regex", "google.protobuf", "toksmith.reference", "toksmith.trainers")


def imported_by(code: str) -> set[str]:
    """Return which of the heavy modules a new process imports to run this."""
    code += f"\nimport sys\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_import_alone() -> None:
    code = "import sys\nimport toksmith\nassert 'dataclasses' not in sys.modules"
    assert imported_by(code) == set()


def test_load_and_encode_to_a_list(tmp_path: Path) -> None:
    formats.write(pipeline("gpt2"), tmp_path / "a.tiktoken")
    load = f"import toksmith\ntok = toksmith.load({str(tmp_path / 'a.tiktoken')!r})\n"
    assert imported_by(load + "tok.encode('abc')\ntok.count('abc')") == set()
    assert imported_by(load + "tok.encode_array('abc')") == {"numpy"}


def _files(folder: Path) -> dict[str, Path]:
    """Return a small file of each kind of model."""
    texts = ["low lower lowest", "a cat sat on a mat, and low it sat"] * 4
    made = {
        "byte-level.json": toksmith.train(texts=texts, vocab_size=270, split="gpt2"),
        "wordpiece.json": toksmith.train(texts=texts, model="wordpiece", vocab_size=40),
        "bpe.model": toksmith.train(texts=texts, model="sentencepiece-bpe", vocab_size=36),
        "unigram.model": toksmith.train(texts=texts, model="sentencepiece-unigram", vocab_size=26),
    }
    for name, tok in made.items():
        tok.save(folder / name)
    content = json.loads((folder / "wordpiece.json").read_bytes())
    content["model"] = {"type": "BPE", "unk_token": "<unk>", "vocab": {"<unk>": 0, "▁low": 1}}
    content["model"]["vocab"] |= {c: 2 + i for i, c in enumerate("▁acatlow!")}
    content["model"]["merges"] = []
    precompiled = base64.b64encode(compile_charsmap({"ﬁ": "fi", "\t": " "})).decode()
    content |= {
        "added_tokens": [],
        "post_processor": None,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": precompiled},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
        "decoder": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    }
    (folder / "mapped.json").write_text(json.dumps(content))
    made["mapped.json"] = toksmith.load(folder / "mapped.json")
    return {name: folder / name for name in made}


def test_no_numpy_to_load_and_encode(tmp_path: Path) -> None:
    for name, path in _files(tmp_path).items():
        load = f"import toksmith\ntok = toksmith.load({str(path)!r})\n"
        ids = toksmith.load(path).encode("a low cat!")
        assert imported_by(load + f"assert tok.encode('a low cat!') == {ids}") == set(), name


def test_public_names() -> None:
    assert set(toksmith.__all__) <= set(dir(toksmith))
    assert all(getattr(toksmith, name) for name in toksmith.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        toksmith.nothing  # noqa: B018


def test_packages_are_attributes() -> None:
    packages = ("decoders", "formats", "framing", "models", "normalizers", "reference")
    packages += ("splitters", "trainers")
    for name in packages:
        code = f"import toksmith\nassert toksmith.{name}.__name__ == 'toksmith.{name}'"
        subprocess.run([sys.executable, "-c", code], check=True)


def test_later() -> None:
    module = lazy.module("fractions")
    assert module.Fraction(1, 2) + module.Fraction(1, 2) == 1
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # noqa: B018
    with pytest.raises(ModuleNotFoundError):
        lazy.module("no_module_of_this_name").anything  # noqa: B018
