"""The guides "Use it inside …": their lines run against stubs of the frameworks' interfaces.

A stub has the names that the framework's own code calls, and no more. datatrove itself is run in
tests/frameworks.
"""

from __future__ import annotations

import pickle
import sys
from abc import ABC, abstractmethod
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import toksmith
import toksmith.compat.tiktoken
from tools.doc_pages import snippets

GUIDES = Path(__file__).resolve().parents[2] / "docs/guides"
PATTERN = r"\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+"
SPECIAL = ["<|bos|>", "<|user_start|>"]


def put(monkeypatch: pytest.MonkeyPatch, name: str, **held: object) -> ModuleType:
    """Add a module, and the packages it is in, to those that can be imported."""
    parent = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        each = ".".join(parts[:count])
        module = sys.modules.get(each) or ModuleType(each)
        monkeypatch.setitem(sys.modules, each, module)
        if parent is not None:
            monkeypatch.setattr(parent, parts[count - 1], module, raising=False)
        parent = module
    assert parent is not None
    for key, value in held.items():
        monkeypatch.setattr(parent, key, value, raising=False)
    return parent


def blocks_of(page: str) -> list[str]:
    return [each.source for each in snippets(GUIDES / f"{page}.md") if each.language == "python"]


def run(*blocks: str, **names: Any) -> dict[str, Any]:
    for block in blocks:
        exec(compile(block, "<guide>", "exec"), names)
    return names


class MegatronText:
    """The tokenizer of megatron.core: a library's class, made from a path and options."""

    def __init__(self, library: type, path: str, **options: Any) -> None:
        self._tokenizer = library(path, **options)
        self.chat_template = self._tokenizer.chat_template

    def tokenize(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer.text_to_ids(text)
        return found

    def detokenize(self, ids: list[int]) -> str:
        found: str = self._tokenizer.ids_to_text(ids)
        return found

    def __getattr__(self, name: str) -> Any:
        names = {"pad": "pad_id", "bos": "bos_id", "eos": "eos_id", "unk": "unk_id",
                 "mask": "mask_id", "cls": "cls_id", "sep": "sep_id"}  # fmt: skip
        return getattr(self._tokenizer, names.get(name, name))


def build_tokenizer(libraries: Any, path: str, **arguments: Any) -> MegatronText:
    """Build a tokenizer from the arguments that Megatron's command line sets for this type."""
    options = {
        "vocab_file": None,
        "merges_file": None,
        "additional_special_tokens": [],
        "use_fast": True,
        "trust_remote_code": False,
        "include_special_tokens": True,
    }
    return MegatronText(libraries.HuggingFaceTokenizer, path, **{**options, **arguments})


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """A tokenizer.json with a template."""
    path = tmp_path / "tokenizer.json"
    toksmith.get("toksmith-small").with_template(bos="<|endoftext|>").save(path)
    return str(path)


def test_megatron(monkeypatch: pytest.MonkeyPatch, saved: str) -> None:
    libraries = put(
        monkeypatch, "megatron.core.tokenizers.text.libraries", HuggingFaceTokenizer=None
    )
    first, _, *rest = blocks_of("megatron")
    run(first)
    tok = build_tokenizer(libraries, saved)
    assert tok.tokenize("It was<|pad|>") == [16382, 1377, 360, 16383]
    assert tok.detokenize([16382, 1377, 360]) == "<|endoftext|>It was"
    assert (tok.eod, tok.eos, tok.pad, tok.bos) == (16382, 16382, 16383, 16382)
    assert (tok.mask, tok.vocab_size, tok.chat_template) == (None, 16384, None)
    assert tok.vocab[360] == tok.inv_vocab[360] == "Ġwas"
    bare = build_tokenizer(libraries, saved, include_special_tokens=False)
    assert bare.tokenize("It was") == [1377, 360]
    assert bare.detokenize([16382, 1377, 360]) == "It was"
    more = build_tokenizer(libraries, saved, additional_special_tokens=["<|image|>", "<|pad|>"])
    assert more.additional_special_tokens_ids == [16384, 16383]
    assert more.tokenize("<|image|>") == [16382, 16384]
    assert more.add_special_tokens({"mask_token": "<mask>", "cls_token": "<|image|>"}) == 1
    assert (more.mask, more.cls, more.vocab_size) == (16385, 16384, 16386)
    run(*rest)


def test_megatrons_older_class(monkeypatch: pytest.MonkeyPatch, saved: str) -> None:
    module = put(monkeypatch, "megatron.training.tokenizer.tokenizer", _HuggingFaceTokenizer=None)
    run(blocks_of("megatron")[1])
    tok = module._HuggingFaceTokenizer(saved, trust_remote_code=False)
    assert tok.tokenize("It was") == [16382, 1377, 360]
    assert tok.detokenize(tok.tokenize("It was")) == "<|endoftext|>It was"
    assert (tok.eod, tok.pad, tok.bos, tok.vocab_size) == (16382, 16383, 16382, 16384)
    assert tok.offsets([1377, 360], "It was") == [0, 2]
    assert isinstance(tok.unique_identifiers, OrderedDict)
    other = module._HuggingFaceTokenizer(saved, additional_special_tokens=["<x>"])
    assert other.unique_identifiers != tok.unique_identifiers


def test_offsets_of_special_tokens(saved: str) -> None:
    from toksmith.compat.megatron import TextTokenizer

    tok = TextTokenizer(saved)
    ids = [16382, 1377, 16383, 360, 16382]
    assert tok.offsets(ids, "<|endoftext|>It<|pad|> was<|endoftext|>") == [0, 13, 15, 22, 26]
    assert tok.offsets(ids, "It was") == [0, 0, 2, 2, 6]
    assert (tok.eos_token, tok.pad_token, tok.mask_token) == ("<|endoftext|>", "<|pad|>", None)


def test_what_megatron_cannot_have(tmp_path: Path, saved: str) -> None:
    from toksmith.compat.megatron import TextTokenizer

    with pytest.raises(toksmith.errors.OptionError, match="no vocab_file"):
        TextTokenizer(saved, vocab_file="vocab.json", merges_file="merges.txt")
    tok = TextTokenizer(saved)
    with pytest.raises(toksmith.errors.UnsupportedError, match="render the conversation"):
        tok.apply_chat_template([], "")
    with pytest.raises(toksmith.errors.OptionError, match="'end_token' is no use"):
        tok.add_special_tokens({"end_token": "x"})
    with pytest.raises(toksmith.errors.UnknownTokenError, match="spelled 'Ġ!nothing'"):
        tok.token_to_id("Ġ!nothing")
    assert TextTokenizer(saved, unk_token="<unk>").token_to_id("Ġ!nothing") == 16384
    tok.save_pretrained(str(tmp_path / "folder"))
    assert TextTokenizer(tmp_path / "folder").text_to_ids("It") == tok.text_to_ids("It")


class TokenizerSpec(ABC):
    """NeMo's interface, by its abstract methods."""

    @abstractmethod
    def text_to_tokens(self, text: str) -> Any: ...
    @abstractmethod
    def tokens_to_text(self, tokens: Any) -> Any: ...
    @abstractmethod
    def token_to_id(self, token: Any) -> Any: ...
    @abstractmethod
    def ids_to_tokens(self, ids: Any) -> Any: ...
    @abstractmethod
    def text_to_ids(self, text: str) -> Any: ...
    @abstractmethod
    def ids_to_text(self, ids: Any) -> Any: ...


def test_nemo(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def take(*_: Any, tokenizer: Any, **__: Any) -> None:
        assert isinstance(tokenizer, TokenizerSpec)
        given.append(tokenizer)

    put(
        monkeypatch,
        "nemo.collections.common.tokenizers.tokenizer_spec",
        TokenizerSpec=TokenizerSpec,
    )
    llm = SimpleNamespace(PreTrainingDataModule=take, GPTModel=take)
    made = run(*blocks_of("nemo"), llm=llm, paths=[], config=None)
    tok = made["tokenizer"]
    assert given == [tok, tok]
    for name in TokenizerSpec.__abstractmethods__:
        assert callable(getattr(tok, name))
    tokens = tok.text_to_tokens("It was é <|pad|>")
    assert tokens == ["It", "Ġwas", "ĠÃ©", "Ġ", "<|pad|>"]
    assert tok.tokens_to_text(tokens) == "It was é <|pad|>"
    assert tok.ids_to_text(tok.tokens_to_ids(tokens)) == "It was é "


class Step:
    """A step of datatrove, which makes its tokenizer at the first use unless it has one."""

    def __init__(self, name: str, eos_token: str | None = None) -> None:
        self.name, self.eos_token = name, eos_token

    @cached_property
    def tokenizer(self) -> Any:
        raise AssertionError("the step loads its own tokenizer")


class TokensCounter(Step):
    def run(self, documents: list[Any]) -> Any:
        texts = [document.text for document in documents]
        for document, encoded in zip(documents, self.tokenizer.encode_batch(texts), strict=True):
            document.metadata["token_count"] = len(encoded.ids)
            yield document


class DocumentTokenizer(Step):
    def __init__(self, folder: str, name: str, eos_token: str | None, seed: int) -> None:
        super().__init__(name, eos_token)


def test_datatrove(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def document(text: str, id: str) -> SimpleNamespace:  # noqa: A002
        return SimpleNamespace(text=text, id=id, metadata={})

    put(
        monkeypatch,
        "datatrove.pipeline.tokens",
        TokensCounter=TokensCounter,
        DocumentTokenizer=DocumentTokenizer,
    )
    put(monkeypatch, "datatrove.data", Document=document)
    monkeypatch.chdir(tmp_path)
    toksmith.get("toksmith-small").save("tokenizer.json")
    *blocks, executor = blocks_of("datatrove")
    assert "LocalPipelineExecutor" in executor
    made = run(*blocks)
    tok = pickle.loads(pickle.dumps(made["writer"])).tokenizer
    assert [row.ids for row in tok.encode_batch(["It was", ""])] == [[1377, 360, 16382], [16382]]
    assert (tok.get_vocab_size(), tok.token_to_id("Ġwas"), tok.token_to_id("Ġ?!")) == (
        16384, 360, None,
    )  # fmt: skip
    encoded = tok.encode("It was<|pad|>")
    assert encoded.tokens == ["It", "Ġwas", "<|pad|>", "<|endoftext|>"]
    assert encoded.offsets == [(0, 2), (2, 6), (6, 13), (13, 13)]
    assert [encoded.char_to_token(place) for place in (0, 3, 6, 13)] == [0, 1, 2, None]
    assert tok.decode([1377, 16382]) == "It"
    assert tok.decode([1377, 16382], skip_special_tokens=False) == "It<|endoftext|>"


class RustBPETokenizer:
    """nanochat's tokenizer, by what it calls of tiktoken."""

    def __init__(self, enc: Any, bos_token: str) -> None:
        self.enc = enc
        self.bos_token_id = enc.encode_single_token(bos_token)

    @classmethod
    def from_pretrained(cls, name: str) -> RustBPETokenizer:
        tiktoken: Any = sys.modules["nanochat.tokenizer"].tiktoken
        return cls(tiktoken.get_encoding(name), "<|endoftext|>")

    def encode(self, text: Any, prepend: int | None = None) -> Any:
        start = [] if prepend is None else [prepend]
        if isinstance(text, str):
            return start + self.enc.encode_ordinary(text)
        return [start + row for row in self.enc.encode_ordinary_batch(text, num_threads=8)]

    def decode(self, ids: list[int]) -> str:
        found: str = self.enc.decode(ids)
        return found

    def save(self, folder: str) -> None:
        Path(folder, "tokenizer.pkl").write_bytes(pickle.dumps(self.enc))


def test_nanochat(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = put(
        monkeypatch,
        "nanochat.tokenizer",
        tiktoken=None,
        RustBPETokenizer=RustBPETokenizer,
        SPLIT_PATTERN=PATTERN,
        SPECIAL_TOKENS=SPECIAL,
    )
    monkeypatch.chdir(tmp_path)
    Path("tokenizer").mkdir()
    lines, convert, train = blocks_of("nanochat")
    names = run(lines)
    tok = module.RustBPETokenizer.from_pretrained("toksmith-small")
    assert tok.encode(["It was", ""], prepend=tok.bos_token_id) == [[16382, 1377, 360], [16382]]

    documents = ["low lower lowest", "low low 1234"]
    made = run(train, **names, vocab_size=262, documents=documents)["tokenizer"]
    assert made.enc.n_vocab == 262
    assert made.bos_token_id == 260
    assert made.decode(made.encode("low 12")) == "low 12"
    assert len(made.encode("low")) == 1

    Path("tokenizer/tokenizer.pkl").write_bytes(
        pickle.dumps(
            SimpleNamespace(
                name="old",
                _pat_str=PATTERN,
                _mergeable_ranks=made.enc._mergeable_ranks,
                _special_tokens=made.enc._special_tokens,
            )
        )
    )
    run(convert, **names)
    again = pickle.loads(Path("tokenizer/tokenizer.pkl").read_bytes())
    assert isinstance(again, toksmith.compat.tiktoken.Encoding)
    assert again.encode_ordinary("low lower") == made.encode("low lower")
