"""Names for the tokenizers of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from toksmith.errors import OptionError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.tokenizer import Tokenizer

AnyTokenizers: TypeAlias = "AnyTokenizer | Iterable[AnyTokenizer] | Mapping[str, AnyTokenizer]"


def name_tokenizers(tokenizers: AnyTokenizers) -> dict[str, Tokenizer]:
    """Return tokenizers by the names that they are called by.

    Raises:
        OptionError: there is none, two have one name, or one is no tokenizer.
    """
    if isinstance(tokenizers, Mapping):
        named = {str(name): tokenizer_of(each) for name, each in tokenizers.items()}
    else:
        is_one = isinstance(tokenizers, str) or not isinstance(tokenizers, Iterable)
        several: list[AnyTokenizer]
        several = [tokenizers] if is_one else list(tokenizers)  # type: ignore[arg-type,list-item]
        names = names_of(several)
        if len(set(names)) < len(names):
            name = max(names, key=names.count)
            raise OptionError(f"two tokenizers are called {name!r}: give a mapping from names")
        named = {name: tokenizer_of(each) for name, each in zip(names, several, strict=True)}
    if not named:
        raise OptionError("there is no tokenizer to compare")
    return named


def names_of(tokenizers: Sequence[AnyTokenizer]) -> list[str]:
    """Return what tokenizers are called that nobody gave a name; of two paths, all that differs.

    Example:
        >>> names_of(["gpt2", "mine/my.model", "llama/tokenizer.json"])
        ['gpt2', 'my', 'llama']
    """
    names = [_name(each, place) for place, each in enumerate(tokenizers)]
    return [
        fspath(each) if names.count(name) > 1 and isinstance(each, str | PathLike) else name
        for name, each in zip(names, tokenizers, strict=True)
    ]


_SAYS_NOTHING = {"tokenizer", "vocab", "model", "spiece", "tekken", "merges"}


def _name(tokenizer: AnyTokenizer, place: int) -> str:
    if isinstance(tokenizer, Tokenizer):
        return tokenizer.name or f"tokenizer {place + 1}"
    if not isinstance(tokenizer, str | PathLike):
        raise OptionError(f"{tokenizer!r:.80} is no tokenizer: use a Tokenizer, a name or a path")
    path = Path(tokenizer)
    is_plain = path.stem in _SAYS_NOTHING and path.resolve().parent.name
    return path.resolve().parent.name if is_plain else path.stem
