"""transformers 4's tokenizers in Python that toksmith runs: ``GPT2Tokenizer``, ``BertTokenizer``.

They find added tokens, cut and pad in Python; toksmith splits the text between the added tokens.
Other classes stay as they are: those of SentencePiece are not faster with toksmith, since their
model is compiled already.
"""

from __future__ import annotations

import functools
import json
import unicodedata
from collections.abc import Callable
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from toksmith.errors import ToksmithError
from toksmith.loading import loads
from toksmith.tokenizer import Tokenizer

CLASSES = {
    "transformers.models.gpt2.tokenization_gpt2": "GPT2Tokenizer",
    "transformers.models.bert.tokenization_bert": "BertTokenizer",
}
"""The classes by module; in transformers 5 they are fast tokenizers."""

UNICODE_16 = (16, 0, 0)
"""The version of toksmith's tables."""


MARK = "_toksmith"
"""The attribute of the tokenizers that toksmith runs."""

_SPLITTERS: WeakKeyDictionary[Any, Splitter] = WeakKeyDictionary()


class Splitter:
    """toksmith in place of the ``_tokenize`` method of one slow tokenizer.

    Args:
        tokenizer: the tokenizer of transformers 4.

    Attributes:
        settings: what it was made for.
        tokenizer: toksmith's; ``None`` if it cannot run this one.
        reason: why there is none.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.settings = _settings(tokenizer)
        self.tokenizer: Tokenizer | None = None
        self.reason = ""
        self._is_bert = _is_bert(tokenizer)
        try:
            made = _bert(tokenizer) if self._is_bert else _gpt2(tokenizer)
            self.tokenizer = loads(json.dumps(made), format="huggingface")
        except ToksmithError as wrong:
            self.reason = str(wrong)
            return
        vocab = made["model"]["vocab"]
        self._spelled = {number: token for token, number in vocab.items()}

    def tokens(self, text: str, kept: list[str]) -> list[str] | None:
        """Return the tokens of a text; ``None`` if Python's rules may give others.

        Args:
            text: a text without added tokens.
            kept: tokens that stay whole where a text has them.
        """
        if self.tokenizer is None or not (text.isascii() or self._is_known(text)):
            return None
        if any(token in text for token in kept):
            return None
        ids = self.tokenizer.encode(text, special="text", add_special_tokens=False)
        return [self._spelled[number] for number in ids]

    def _is_known(self, text: str) -> bool:
        """Return whether both treat the characters of a text that is not ASCII the same.

        BERT's rules in Python differ from those of the fast tokenizer (lower case in context,
        private and unassigned characters). GPT-2's differ for unassigned characters only, which
        may be letters in a newer Unicode.
        """
        if self._is_bert or tuple(map(int, unicodedata.unidata_version.split("."))) > UNICODE_16:
            return False
        return not {"Cn", "Cs"}.intersection(map(unicodedata.category, {*text}))


def splitter_of(tokenizer: Any) -> Splitter:
    """Return the splitter of a tokenizer of :data:`CLASSES`, made again after a change."""
    found = _SPLITTERS.get(tokenizer)
    if found is None or found.settings != _settings(tokenizer):
        found = _SPLITTERS[tokenizer] = Splitter(tokenizer)
    return found


def patched(before: Callable[..., list[str]]) -> Any:
    """Return a ``_tokenize`` method that runs toksmith for the tokenizers with :data:`MARK`.

    Args:
        before: the method of the class.
    """

    @functools.wraps(before)
    def tokenize(self: Any, text: str, *args: Any, **options: Any) -> list[str]:
        found = None
        if not args and not options and MARK in self.__dict__:
            kept = self.all_special_tokens if _is_bert(self) else []
            found = splitter_of(self).tokens(text, kept)
        return before(self, text, *args, **options) if found is None else found

    return tokenize


def classes() -> list[Any]:
    """Return the classes that toksmith runs in this version of transformers."""
    if not import_module("transformers").__version__.startswith("4."):
        return []
    return [getattr(import_module(module), name) for module, name in CLASSES.items()]


def _is_bert(tokenizer: Any) -> bool:
    return hasattr(tokenizer, "wordpiece_tokenizer")


def _settings(tokenizer: Any) -> tuple[Any, ...]:
    """Return the settings of a tokenizer on which its tokens depend, to notice changes."""
    if not _is_bert(tokenizer):
        return len(tokenizer.encoder), len(tokenizer.bpe_ranks)
    words = tokenizer.wordpiece_tokenizer
    basic = vars(tokenizer.basic_tokenizer) if tokenizer.do_basic_tokenize else {}
    settings = (*basic.values(), words.unk_token, words.max_input_chars_per_word)
    return (*map(str, settings), len(tokenizer.vocab))


def _gpt2(tokenizer: Any) -> dict[str, Any]:
    """Return the ``tokenizer.json`` of a ``GPT2Tokenizer`` without its added tokens."""
    return {
        "added_tokens": [],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "decoder": {"type": "ByteLevel"},
        "model": {
            "type": "BPE",
            "vocab": tokenizer.encoder,
            "merges": sorted(tokenizer.bpe_ranks, key=tokenizer.bpe_ranks.__getitem__),
        },
    }


def _bert(tokenizer: Any) -> dict[str, Any]:
    """Return the ``tokenizer.json`` of a ``BertTokenizer`` without its added tokens."""
    basic = tokenizer.basic_tokenizer if tokenizer.do_basic_tokenize else None
    if basic is None or basic.never_split or not basic.do_split_on_punc:
        raise ToksmithError("its BasicTokenizer has settings that toksmith does not have")
    return {
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": basic.tokenize_chinese_chars,
            "strip_accents": basic.strip_accents,
            "lowercase": basic.do_lower_case,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": str(tokenizer.wordpiece_tokenizer.unk_token),
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": tokenizer.wordpiece_tokenizer.max_input_chars_per_word,
            "vocab": dict(tokenizer.vocab),
        },
    }
