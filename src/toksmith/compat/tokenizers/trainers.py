"""tokenizers' trainers: they learn the vocabulary of a model from counted words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from toksmith._base.lazy import np
from toksmith._base.threads import thread_count
from toksmith.compat.tokenizers.added_token import AddedToken, added_token
from toksmith.compat.tokenizers.callbacks import checked
from toksmith.compat.tokenizers.checks import (
    Check,
    an_id,
    boolean,
    named,
    optional,
    real,
    sequence_of,
    string,
    unsigned,
)
from toksmith.compat.tokenizers.component import Component, setting, shown
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.compat.tokenizers.models import BPE, Model, Unigram, WordLevel, WordPiece
from toksmith.compat.tokenizers.models.base import TRAINERS
from toksmith.compat.tokenizers.unigram_training import Settings, learn_pieces
from toksmith.corpus import Reading
from toksmith.engine.training import MergeRules, SymbolWords, merge_symbols
from toksmith.errors import TrainingError, warn
from toksmith.splitters import SplitterSequence
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.words import count_words

__all__ = ["BpeTrainer", "Trainer", "UnigramTrainer", "WordLevelTrainer", "WordPieceTrainer"]

_COMMON = {"show_progress": True, "special_tokens": [], "words": {}}


class Trainer(Component):
    """The base of trainers."""

    model: type[Model]
    """The kind of model that is trained."""

    def _given(self, options: Mapping[str, Any]) -> None:
        """Set the settings that were given; others are ignored with a warning."""
        known = {}
        for name, value in options.items():
            if name not in self._defaults or name in ("type", "words"):
                warn(f"Ignored unknown kwargs option {name}")
            else:
                known[name] = named(name, _REQUIRED.get(name, _same), value)
        self._start(**known)
        self._spec["words"] = Counter()
        for name, check in self._checks().items():
            self._spec[name] = named(name, check, self._spec[name])

    def _checks(self) -> dict[str, Check]:
        """Return the check of each setting, which also converts its value."""
        return {name: _CHECKS[name] for name in self._defaults if name in _CHECKS}

    def _set(self, key: str, value: Any) -> None:
        self._spec[key] = self._checks().get(key, _same)(value)

    def spec(self) -> dict[str, Any]:
        """Return the state as tokenizers writes it."""
        held = {key: value for key, value in self._spec.items() if key != "type"}
        held["special_tokens"] = [_entry(token) for token in self._spec["special_tokens"]]
        return {self._spec["type"]: held}

    def _read(self, spec: Mapping[str, Any]) -> None:
        held = dict(spec[self._defaults["type"]])
        tokens = [AddedToken(**token) for token in held.pop("special_tokens")]
        words: Counter[str] = Counter(held.pop("words"))
        self._given({name: value for name, value in held.items() if value is not None})
        self._spec["special_tokens"], self._spec["words"] = tokens, words

    def _shown(self, limit: int | None) -> str:
        name = self._spec["type"]
        parts = []
        for key, value in self._spec.items():
            if key == "special_tokens":
                tokens = [_shown_token(token) for token in value[:limit]]
                tokens += ["..."] if limit is not None and len(value) > limit else []
                parts.append(f"{key}=[{', '.join(tokens)}]")
            elif key != "type":
                parts.append(f"{key}={value if key in self._words else shown(value, limit)}")
        return f"{name}({self._inner(', '.join(parts))})"

    def _inner(self, parts: str) -> str:
        return f"{self._spec['type']}({parts})"

    def check(self, model: Model) -> None:
        """Check that a model can be trained.

        Raises:
            TokenizersError: it is of another kind.
        """
        if not isinstance(model, self.model):
            name = type(self).__name__
            raise TokenizersError(f"{name} can only train a {self.model.__name__}")

    def feed(self, normalizer: Any, pre_tokenizer: Any, texts: Iterable[str]) -> None:
        """Count the words of texts.

        Args:
            normalizer: the tokenizer's normalizer, or ``None``.
            pre_tokenizer: its pre-tokenizer, or ``None``.
            texts: the texts.
        """
        if any(part is not None and part.is_custom() for part in (normalizer, pre_tokenizer)):
            words = _counted_in_python(normalizer, pre_tokenizer, texts)
        else:
            words = _counted(normalizer, pre_tokenizer, texts)
        words.pop("", None)
        self._spec["words"] = words

    def train(self, model: Any) -> list[AddedToken]:
        """Give a model the vocabulary of the counted words, and return the special tokens."""
        raise NotImplementedError


class BpeTrainer(Trainer, type="BpeTrainer"):
    """Learns the merges of byte pair encoding.

    Args:
        options: ``vocab_size``, ``min_frequency``, ``show_progress``, ``progress_format``,
            ``special_tokens``, ``limit_alphabet``, ``initial_alphabet``,
            ``continuing_subword_prefix``, ``end_of_word_suffix`` and ``max_token_length``.

    Example:
        >>> trainer = BpeTrainer(vocab_size=100, special_tokens=["<s>"])
        >>> trainer.vocab_size
        100
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "min_frequency": 0,
        "vocab_size": 30000,
        "show_progress": True,
        "progress_format": "Indicatif",
        "special_tokens": [],
        "limit_alphabet": None,
        "initial_alphabet": [],
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "max_token_length": None,
        "words": {},
    }
    _words = frozenset({"progress_format"})
    model = BPE
    vocab_size = setting("vocab_size")
    min_frequency = setting("min_frequency")
    show_progress = setting("show_progress")
    special_tokens = setting("special_tokens")
    limit_alphabet = setting("limit_alphabet")
    initial_alphabet = setting("initial_alphabet")
    continuing_subword_prefix = setting("continuing_subword_prefix")
    end_of_word_suffix = setting("end_of_word_suffix")
    max_token_length = setting("max_token_length")

    def __init__(self, **options: Any) -> None:
        self._given(options)

    @property
    def progress_format(self) -> str:
        """How progress is shown; toksmith shows it in its own way."""
        held: str = self._spec["progress_format"]
        return held.lower()

    @progress_format.setter
    def progress_format(self, value: str) -> None:
        self._set("progress_format", value)

    def get_word_count(self) -> int:
        """Return the number of distinct words that were counted."""
        return len(self._spec["words"])

    def train(self, model: Any) -> list[AddedToken]:
        """Give a model the vocabulary of the counted words, and return the special tokens."""
        vocab, merges = learn_merges(self)
        model._spec.update(
            vocab=vocab,
            merges=merges,
            continuing_subword_prefix=self.continuing_subword_prefix,
            end_of_word_suffix=self.end_of_word_suffix,
        )
        model._changed()
        return [*self._spec["special_tokens"]]


class WordPieceTrainer(BpeTrainer, type="WordPieceTrainer"):
    """Learns the pieces of WordPiece, by the merges of byte pair encoding.

    Args:
        options: those of :class:`BpeTrainer` but ``max_token_length``; the prefix is ``##``.
    """

    _defaults: ClassVar[dict[str, Any]] = {
        **BpeTrainer._defaults,
        "continuing_subword_prefix": "##",
    }
    model = WordPiece  # type: ignore[assignment]

    def spec(self) -> dict[str, Any]:
        """Return the state as tokenizers writes it."""
        ((name, held),) = super().spec().items()
        return {name: {"bpe_trainer": held}}

    def _read(self, spec: Mapping[str, Any]) -> None:
        name = self._defaults["type"]
        super()._read({name: spec[name]["bpe_trainer"]})

    def _inner(self, parts: str) -> str:
        return f"WordPieceTrainer(bpe_trainer=BpeTrainer({parts}))"

    def train(self, model: Any) -> list[AddedToken]:
        """Give a model the vocabulary of the counted words, and return the special tokens."""
        vocab, _ = learn_merges(self)
        prefix = self.continuing_subword_prefix
        model._spec.update(
            vocab=vocab, continuing_subword_prefix="##" if prefix is None else prefix
        )
        model._changed()
        return [*self._spec["special_tokens"]]


class WordLevelTrainer(Trainer, type="WordLevelTrainer"):
    """Takes the most frequent words.

    Args:
        options: ``vocab_size``, ``min_frequency``, ``show_progress`` and ``special_tokens``.
    """

    _defaults: ClassVar[dict[str, Any]] = {"min_frequency": 0, "vocab_size": 30000, **_COMMON}
    model = WordLevel
    vocab_size = setting("vocab_size")
    min_frequency = setting("min_frequency")
    show_progress = setting("show_progress")
    special_tokens = setting("special_tokens")

    def __init__(self, **options: Any) -> None:
        self._given(options)

    def train(self, model: Any) -> list[AddedToken]:
        """Give a model the vocabulary of the counted words, and return the special tokens."""
        special = self._spec["special_tokens"]
        counted = self._spec["words"].items()
        words = [
            word
            for word, count in sorted(counted, key=lambda item: (-item[1], item[0].encode()))
            if count >= self.min_frequency
        ]
        tokens = [*(token.content for token in special), *words][: self.vocab_size]
        ids = {token: token_id for token_id, token in enumerate(tokens)}
        model._spec["vocab"] = dict(sorted(ids.items(), key=lambda item: item[1]))
        model._changed()
        return [*special]


class UnigramTrainer(Trainer, type="UnigramTrainer"):
    """Learns the pieces of a Unigram model.

    Args:
        options: ``vocab_size``, ``show_progress``, ``special_tokens``, ``initial_alphabet``,
            ``shrinking_factor``, ``unk_token``, ``max_piece_length``, ``n_sub_iterations`` and
            ``seed_size``.
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "show_progress": True,
        "vocab_size": 8000,
        "n_sub_iterations": 2,
        "shrinking_factor": 0.75,
        "special_tokens": [],
        "initial_alphabet": [],
        "unk_token": None,
        "max_piece_length": 16,
        "seed_size": 1000000,
        "words": {},
    }
    model = Unigram
    vocab_size = setting("vocab_size")
    show_progress = setting("show_progress")
    special_tokens = setting("special_tokens")
    initial_alphabet = setting("initial_alphabet")

    def __init__(self, **options: Any) -> None:
        self._given(options)

    def _checks(self) -> dict[str, Check]:
        return {**super()._checks(), "vocab_size": an_id}

    def train(self, model: Any) -> list[AddedToken]:
        """Give a model the vocabulary of the counted words, and return the special tokens."""
        spec = self._spec
        special, unk = spec["special_tokens"], spec["unk_token"]
        first = [token.content for token in special]
        unk_id = None
        if unk is not None:
            if unk not in first:
                first.insert(0, unk)
            unk_id = first.index(unk)
        pieces = learn_pieces(
            spec["words"],
            Settings(
                spec["vocab_size"],
                len(first),
                "".join(spec["initial_alphabet"]),
                spec["max_piece_length"],
                spec["seed_size"],
                spec["shrinking_factor"],
                spec["n_sub_iterations"],
            ),
            progress=bool(spec["show_progress"]) and None,
        )
        model._spec.update(vocab=[*((token, 0.0) for token in first), *pieces], unk_id=unk_id)
        model._changed()
        return [*special]


def _counted(normalizer: Any, pre_tokenizer: Any, texts: Iterable[str]) -> Counter[str]:
    """Return the number of occurrences of each word."""
    steps = () if pre_tokenizer is None else pre_tokenizer._steps()
    splitter = SplitterSequence(steps) if len(steps) > 1 else steps[0] if steps else None
    try:
        with Corpus(None, texts, None, Reading(), None, False) as corpus:
            counts = count_words(
                corpus, () if normalizer is None else normalizer._steps(), splitter
            )
            return Counter({word.decode(): count for word, count in counts})
    except TrainingError:  # there is no text
        return Counter()


def _counted_in_python(normalizer: Any, pre_tokenizer: Any, texts: Iterable[str]) -> Counter[str]:
    """Return the same, for components that are objects of the caller's."""
    words: Counter[str] = Counter()
    for text, count in Counter(texts).items():
        if normalizer is not None:
            text = normalizer.normalize_str(text)
        if pre_tokenizer is None:
            words[text] += count
        else:
            for word, _ in pre_tokenizer.pre_tokenize_str(text):
                words[word] += count
    return words


for _kind in (BpeTrainer, WordPieceTrainer, WordLevelTrainer, UnigramTrainer):
    TRAINERS[_kind.model] = _kind


def learn_merges(trainer: BpeTrainer) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return the vocabulary and the merges of a trainer's words.

    The ids are those of the special tokens, of the characters by code point, of characters with
    the prefix or suffix, and of the merged tokens in the order of learning.
    """
    spec = trainer._spec
    prefix, suffix = spec["continuing_subword_prefix"] or "", spec["end_of_word_suffix"] or ""
    vocab: dict[str, int] = {}
    for token in spec["special_tokens"]:
        vocab.setdefault(token.content, len(vocab))
    counted: Mapping[str, int] = spec["words"]
    alphabet = _alphabet(counted, spec["initial_alphabet"], spec["limit_alphabet"])
    for character in alphabet:
        vocab.setdefault(character, len(vocab))
    known = set(alphabet)
    words: list[list[int]] = []
    for word in counted:
        symbols, last = [], len(word) - 1
        for place, character in enumerate(word):
            if character in known:
                before, after = prefix if place else "", suffix if place == last else ""
                spelled = f"{before}{character}{after}"
                symbols.append(vocab.setdefault(spelled, len(vocab)))
        words.append(symbols)
    ends = np.cumsum([len(word) for word in words], dtype=np.uint64)
    longest = spec["max_token_length"]
    if longest is not None:  # tokenizers stops one short of it, but takes all pairs of characters
        longest = max(longest - 1, 2)
    found = merge_symbols(
        SymbolWords(
            np.array([symbol for word in words for symbol in word], np.uint32),
            ends,
            np.array([*counted.values()], np.uint64),
            len(vocab),
        ),
        max(spec["vocab_size"] - len(vocab), 0),
        MergeRules("smallest-pair", max(spec["min_frequency"], 1), longest),
        threads=thread_count(None),
    )
    spelled_by_id = [*vocab]
    merges = []
    for left, right, _ in found.merges.tolist():
        pair = spelled_by_id[left], spelled_by_id[right]
        made = pair[0] + pair[1].removeprefix(prefix)
        spelled_by_id.append(made)
        vocab.setdefault(made, len(vocab))
        merges.append(pair)
    return vocab, merges


def _alphabet(counted: Mapping[str, int], initial: list[str], limit: int | None) -> list[str]:
    """Return the characters that are kept, by code point."""
    counts: Counter[str] = Counter()
    for word, count in counted.items():
        for character in word:
            counts[character] += count
    wanted = {*initial}
    order = sorted(counts.keys() | wanted, key=lambda c: (c not in wanted, -counts[c], c))
    return sorted(order[:limit])


def special_tokens(given: Any) -> list[AddedToken]:
    """Return special tokens, each an ``AddedToken`` of its own.

    Raises:
        ComponentTypeError: it is no list, or one is neither a string nor an ``AddedToken``.
    """
    found = []
    for token in checked(given, list):
        if not isinstance(token, str | AddedToken):
            raise ComponentTypeError("special_tokens must be a List[Union[str, AddedToken]]")
        found.append(added_token(token, special=True).copy())
    return found


def _first_characters(given: Any) -> list[str]:
    return sorted({each[0] for each in sequence_of(string)(given) if each})


def _progress_format(given: Any) -> str:
    given = string(given)
    known = {"indicatif": "Indicatif", "json": "JsonLines", "silent": "Silent"}
    return known.get(given.lower(), given if given in known.values() else "Indicatif")


_CHECKS: dict[str, Check] = {
    "vocab_size": unsigned,
    "min_frequency": unsigned,
    "show_progress": boolean,
    "progress_format": _progress_format,
    "special_tokens": special_tokens,
    "limit_alphabet": optional(unsigned),
    "initial_alphabet": _first_characters,
    "continuing_subword_prefix": optional(string),
    "end_of_word_suffix": optional(string),
    "max_token_length": optional(unsigned),
    "n_sub_iterations": an_id,
    "shrinking_factor": real,
    "unk_token": optional(string),
    "max_piece_length": unsigned,
    "seed_size": unsigned,
}
"""The check of each setting, which also converts its value."""

_REQUIRED: dict[str, Check] = {
    "limit_alphabet": unsigned,
    "continuing_subword_prefix": string,
    "end_of_word_suffix": string,
}
"""Settings that can be ``None``, but not as an argument of the constructor."""


def _same(value: Any) -> Any:
    return value


def _entry(token: AddedToken) -> dict[str, Any]:
    return token.__getstate__()


def _shown_token(token: AddedToken) -> str:
    parts = ", ".join(f"{key}={shown(value)}" for key, value in token.__getstate__().items())
    return f"AddedToken({parts})"
