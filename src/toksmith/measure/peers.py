"""The libraries that published tokenizers come from, as peers for verification.

Each peer loads the same file as toksmith where the library reads its format; any other tokenizer is
written in that format first. All libraries are optional.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import Sequence
from importlib import import_module, metadata
from os import fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, NamedTuple

from toksmith import formats
from toksmith._base.lazy import importing
from toksmith._base.visible import visible
from toksmith.errors import OptionError, ToksmithError, UnsupportedError
from toksmith.formats.tiktoken import sidecar
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special


class Mode(NamedTuple):
    """A way to encode: the same arguments as :meth:`Tokenizer.encode`."""

    special: Special
    add_special_tokens: bool


class Peer(ABC):
    """A tokenizer of another library.

    Args:
        library: the imported library.
        path: the file or folder that the library reads.
    """

    modes: ClassVar[tuple[Mode, ...]]
    """The ways to encode that both the library and toksmith have."""

    takes_surrogates: ClassVar[bool] = False
    """Whether it takes strings with halves of surrogate pairs."""

    def __init__(self, library: Any, path: Path) -> None:
        self._model: Any = self.load(library, path)

    @abstractmethod
    def load(self, library: Any, path: Path) -> Any:
        """Return the library's own object."""

    @abstractmethod
    def encode(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Return the ids of each text."""

    @abstractmethod
    def token(self, token_id: int) -> str:
        """Return a token as the library spells it."""


class Tokenizers(Peer):
    """Hugging Face's ``tokenizers``; its truncation and padding are switched off."""

    modes: ClassVar = (Mode("encode", False), Mode("encode", True))

    def load(self, library: Any, path: Path) -> Any:
        """Return a ``tokenizers.Tokenizer``."""
        model = library.Tokenizer.from_file(fspath(path))
        model.no_truncation()
        model.no_padding()
        return model

    def encode(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Return the ids of each text."""
        found = self._model.encode_batch_fast(
            list(texts), add_special_tokens=mode.add_special_tokens
        )
        return [each.ids for each in found]

    def token(self, token_id: int) -> str:
        """Return a token as the library spells it."""
        return self._model.id_to_token(token_id) or ""


class Transformers(Peer):
    """The tokenizer that ``AutoTokenizer`` chooses for a folder."""

    modes: ClassVar = (Mode("encode", False), Mode("encode", True))

    def load(self, library: Any, path: Path) -> Any:
        """Return the tokenizer of a folder, or of a tokenizer.json alone."""
        if path.is_dir():
            return library.AutoTokenizer.from_pretrained(fspath(path))
        return library.PreTrainedTokenizerFast(tokenizer_file=fspath(path))

    def encode(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Return the ids of each text."""
        found: list[list[int]] = self._model(
            list(texts),
            add_special_tokens=mode.add_special_tokens,
            truncation=False,
            padding=False,
            verbose=False,
        )["input_ids"]
        return found

    def token(self, token_id: int) -> str:
        """Return a token as the library spells it."""
        return str(self._model.convert_ids_to_tokens(token_id) or "")


class SentencePiece(Peer):
    """``sentencepiece``, with and without the piece that begins a text."""

    modes: ClassVar = (Mode("text", False), Mode("text", True))

    def load(self, library: Any, path: Path) -> Any:
        """Return a processor."""
        return library.SentencePieceProcessor(model_file=fspath(path))

    def encode(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Return the ids of each text."""
        found: list[list[int]] = self._model.encode(
            list(texts), add_bos=mode.add_special_tokens and self._model.bos_id() >= 0
        )
        return found

    def token(self, token_id: int) -> str:
        """Return a token as the library spells it."""
        return str(self._model.id_to_piece(token_id))


class Tiktoken(Peer):
    """``tiktoken``, with literals of special tokens as text and as special tokens."""

    modes: ClassVar = (Mode("text", False), Mode("encode", False))
    takes_surrogates: ClassVar = True

    def load(self, library: Any, path: Path) -> Any:
        """Return an encoding of the ranks, with the pattern and special tokens beside them."""
        lines = path.read_bytes().splitlines()
        held = json.loads(sidecar(path).read_bytes())
        pattern = held["pattern"]
        return library.Encoding(
            path.name,
            pat_str=r"[\s\S]+" if pattern is None else pattern,
            mergeable_ranks={
                b64decode(token): int(rank) for token, rank in map(bytes.split, filter(None, lines))
            },
            special_tokens=held["special_tokens"] | held.get("aliases", {}),
        )

    def encode(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Return the ids of each text."""
        found: list[list[int]]
        if mode.special == "text":
            found = self._model.encode_ordinary_batch(list(texts), num_threads=1)
        else:
            found = self._model.encode_batch(list(texts), num_threads=1, allowed_special="all")
        return found

    def token(self, token_id: int) -> str:
        """Return a token as the library spells it."""
        try:
            return visible(self._model.decode_single_token_bytes(token_id))
        except KeyError:
            return ""


class LlamaCpp(Peer):
    """llama.cpp, which reads the vocabulary of a GGUF file alone."""

    modes: ClassVar = (Mode("text", False), Mode("encode", True))

    def load(self, library: Any, path: Path) -> Any:
        """Return a model without its tensors."""
        return library.Llama(fspath(path), vocab_only=True, verbose=False)

    def encode(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Return the ids of each text."""
        special = mode.special == "encode"
        return [
            self._model.tokenize(text.encode(), add_bos=mode.add_special_tokens, special=special)
            for text in texts
        ]

    def token(self, token_id: int) -> str:
        """Return a token as the library spells it."""
        return visible(self._model.detokenize([token_id], special=True))


class _Library(NamedTuple):
    """A library: its module, the package that installs it, and the format that it reads."""

    module: str
    package: str
    format: str
    peer: type[Peer]


LIBRARIES: dict[str, _Library] = {
    "transformers": _Library("transformers", "transformers", "huggingface", Transformers),
    "tokenizers": _Library("tokenizers", "tokenizers", "huggingface", Tokenizers),
    "tiktoken": _Library("tiktoken", "tiktoken", "tiktoken", Tiktoken),
    "sentencepiece": _Library("sentencepiece", "sentencepiece", "sentencepiece", SentencePiece),
    "llama-cpp": _Library("llama_cpp", "llama-cpp-python", "gguf", LlamaCpp),
}
"""The libraries by the name that ``against=`` takes."""


def version_of(library: str) -> str:
    """Return the package of a library with its version, such as ``tiktoken 0.14.0``."""
    package = LIBRARIES[library].package
    return f"{package} {metadata.version(package)}"


def load_peer(library: str, tokenizer: Tokenizer, path: Path | None) -> Peer:
    """Load a tokenizer with another library.

    Args:
        library: a name of :data:`LIBRARIES`.
        tokenizer: the tokenizer as toksmith loaded it.
        path: its file or folder, which the library reads itself if it is in the library's format.
            Otherwise the tokenizer is written in that format first.

    Raises:
        OptionError: there is no such library.
        MissingExtraError: the library is not installed; the message names its package.
        UnsupportedError: the library's format cannot hold the tokenizer, or the library refuses
            the file.
    """
    if not isinstance(library, str) or library not in LIBRARIES:
        raise OptionError(f"against is {library!r:.80}: use one of {', '.join(LIBRARIES)}")
    module, package, form, peer = LIBRARIES[library]
    with importing(module, f"{package} is not installed: pip install {package}"):
        imported = import_module(module)
    with TemporaryDirectory() as folder:
        try:
            return peer(imported, _file(form, library, tokenizer, path, Path(folder)))
        except ToksmithError:
            raise
        except Exception as wrong:  # of whatever kind the library raises
            name = path or tokenizer.name or "the tokenizer"
            raise UnsupportedError(f"{library} cannot load {name}: {wrong}") from wrong


def _file(form: str, library: str, tokenizer: Tokenizer, path: Path | None, folder: Path) -> Path:
    """Return the tokenizer's file if the library reads it, else one that is written for it."""
    is_read = path is not None and formats.FORMATS[form].recognise(path)
    if (
        library == "transformers"
        and path is not None
        and (path / "tokenizer_config.json").is_file()
    ):
        return path
    if form == "tiktoken":  # the pattern and the special tokens may be the caller's
        place = folder / "ranks.tiktoken"
        formats.replace(place, formats.contents(tokenizer.with_template().pipeline, place, form))
        if path is not None and is_read:
            place.write_bytes(path.read_bytes())
        return place
    if path is not None and is_read:
        is_folder = library == "tokenizers" and path.is_dir()
        return path / "tokenizer.json" if is_folder else path
    if not formats.LISTED[form].is_written:
        raise UnsupportedError(
            f"{library} needs a {form} file, which toksmith only reads: give the path of one"
        )
    suffix = "" if library == "transformers" else formats.LISTED[form].suffixes[0]
    formats.write(tokenizer.pipeline, folder / f"written{suffix}", form)
    return folder / f"written{suffix}"
