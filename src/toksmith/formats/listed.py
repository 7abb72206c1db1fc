"""The list of file formats, from which help texts, errors and the explorer take their names.

It holds the facts that are needed before a format's module is imported. A new format is one module
and one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from toksmith._base.records import dataclass
from toksmith.errors import OptionError


class Listed(NamedTuple):
    """One format of the list.

    Attributes:
        name: the value of ``format=``.
        about: a description of its files and of the models that they hold.
        suffixes: the suffixes of files that are written in this format by default; the first is
            used for a new file.
        folder: the main file of a directory in this format; ``""`` if it is a single file.
        is_written: whether toksmith can also write the format.
        module: the module in ``toksmith.formats``; ``""`` if it has the name of the format.
    """

    name: str
    about: str
    suffixes: tuple[str, ...] = ()
    folder: str = ""
    is_written: bool = True
    module: str = ""


# In the order of recognition: a directory may hold both a tokenizer.json and GPT-2's files, and
# tokenizer.json holds more.
LISTED: dict[str, Listed] = {
    each.name: each
    for each in (
        Listed("minbpe", "byte-level BPE, with a .vocab to read beside it", (".model",)),
        Listed("tiktoken", "byte-level BPE, with a .tiktoken.json beside it", (".tiktoken",)),
        Listed(
            "huggingface",
            "tokenizer.json: every model but the longest match; SentencePiece's where its "
            "normalizer maps no characters",
            (".json",),
            folder="tokenizer.json",
            module="huggingface.file",
        ),
        Listed(
            "gguf",
            "the tokenizer in a GGUF file of llama.cpp: SentencePiece's BPE, byte-level BPE, "
            "WordPiece, Unigram",
            (".gguf",),
            is_written=False,
        ),
        Listed("tekken", "Mistral's tekken.json", is_written=False),
        Listed("gpt2", "GPT-2's two files in a directory: byte-level BPE", folder="encoder.json"),
        Listed(
            "wordpiece",
            "BERT's vocab.txt",
            (".txt",),
            folder="vocab.txt",
            module="wordpiece_vocab",
        ),
        Listed(
            "sentencepiece",
            "SentencePiece's BPE and Unigram, with a .vocab beside it",
            (".model", ".vocab"),
        ),
    )
}
"""The formats by name."""

PAIR = ("vocab.json", "merges.txt")
"""The files of byte-level BPE in a model folder."""

WRITTEN = [each.name for each in LISTED.values() if each.is_written]
"""The names of the formats that toksmith can write."""


class Unset(Enum):
    """The type of :data:`UNSET`."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
"""Marks a split that was not given; ``None`` means no splitting."""


@dataclass(frozen=True)
class Hints:
    """Arguments of the caller for files without a split or special tokens.

    Attributes:
        split: a name, a pattern, or ``None`` for no splitting.
        special_tokens: ids by literal; ``None`` if they are not given.
    """

    split: str | Unset | None = UNSET
    special_tokens: Mapping[str, int] | None = None

    def refuse(self, path: Path, name: str) -> None:
        """Raise an error if there are hints, because files of this format need none.

        Raises:
            OptionError: a hint is given.
        """
        if self.split is not UNSET or self.special_tokens is not None:
            raise OptionError(
                f"{path} is a {name} file, which has its own split and special tokens; "
                "split= and special_tokens= are for .tiktoken files"
            )
