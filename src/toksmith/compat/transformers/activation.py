"""Puts toksmith into transformers' tokenizers, and takes it out again."""

from __future__ import annotations

import copyreg
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any

from toksmith._base.lazy import extra
from toksmith.compat.tokenizers.decoders import DecodeStream
from toksmith.compat.transformers import slow
from toksmith.compat.transformers.backend import Backend
from toksmith.compat.transformers.batch import Call, encode
from toksmith.errors import OptionError

_PATCHED: list[tuple[Any, str, Any]] = []
"""What :func:`activate` has replaced: object, name, and the value before."""
_STOPPED: list[bool] = []
"""Not empty once :func:`deactivate` was called: then unpickling activates nothing."""


def activate() -> None:
    """Let toksmith encode for all tokenizers that are made from now on.

    These are the fast tokenizers, and of transformers 4 also ``GPT2Tokenizer`` and
    ``BertTokenizer``. Calling it twice does no harm.

    Raises:
        MissingExtraError: transformers is not installed.
    """
    base = _base_class()
    _patch_calls(base)
    if any(name == "__init__" for _, name, _ in _PATCHED):
        return
    for each in (base, *slow.classes()):
        _replace(each, "__init__", _init(each.__init__))


def _init(before: Callable[..., None]) -> Any:
    """Return a constructor that puts toksmith into what it has made."""

    @functools.wraps(before)
    def init(self: Any, *args: Any, **options: Any) -> None:
        before(self, *args, **options)
        _put_in(self)

    return init


def deactivate() -> None:
    """Let transformers encode by itself again, also with tokenizers made before."""
    _STOPPED.append(True)
    _restore(0)


@contextmanager
def active() -> Iterator[None]:
    """Activate toksmith for the tokenizers that are made and used inside a ``with`` block."""
    kept = len(_PATCHED)
    activate()
    try:
        yield
    finally:
        _restore(kept)


def accelerate(tokenizer: Any) -> Any:
    """Let toksmith encode for one tokenizer, and return it.

    Args:
        tokenizer: a tokenizer of transformers. A slow one that toksmith does not run stays as it
            is; :func:`engine_of` says so.

    Raises:
        OptionError: it is none.
        MissingExtraError: transformers is not installed.
    """
    base = _base_class()
    if not isinstance(tokenizer, import_module("transformers").PreTrainedTokenizerBase):
        raise OptionError(
            f"tokenizer is a {type(tokenizer).__name__}: accelerate takes a tokenizer of "
            "transformers, such as AutoTokenizer.from_pretrained returns"
        )
    _patch_calls(base)
    _put_in(tokenizer)
    return tokenizer


def engine_of(tokenizer: Any) -> str:
    """Return where a tokenizer of transformers encodes its texts, and why.

    Args:
        tokenizer: one of transformers' tokenizers.

    Example:
        >>> engine_of(object())
        'transformers: toksmith is not active'
    """
    if not _PATCHED:
        return "transformers: toksmith is not active"
    if slow.MARK in getattr(tokenizer, "__dict__", {}):
        splitter = slow.splitter_of(tokenizer)
        if splitter.tokenizer is None:
            return f"transformers: {splitter.reason}"
        return f"toksmith: {splitter.tokenizer.engine}; added tokens in transformers"
    if getattr(tokenizer, "is_fast", True) is False:
        name = type(tokenizer).__name__
        return f"transformers: {name} is a slow tokenizer that toksmith does not run"
    backend = getattr(tokenizer, "_tokenizer", None)
    if isinstance(backend, Backend):
        return backend.engine
    return "transformers: it has no backend of toksmith"


def _base_class() -> Any:
    """Return the class of fast tokenizers: ``TokenizersBackend``, or that of transformers 4."""
    extra("transformers", of="transformers")
    # Not taken from transformers itself, so that it works while that is imported.
    try:
        return import_module("transformers.tokenization_utils_tokenizers").TokenizersBackend
    except ModuleNotFoundError:
        return import_module("transformers.tokenization_utils_fast").PreTrainedTokenizerFast


def _put_in(tokenizer: Any) -> None:
    if type(tokenizer) in slow.classes():
        setattr(tokenizer, slow.MARK, True)
    elif tokenizer.is_fast and not isinstance(tokenizer._tokenizer, Backend):
        tokenizer._tokenizer = Backend(tokenizer._tokenizer)


def _revived(stock: Any) -> Backend:
    """Return a backend that was pickled, maybe in a worker process that has activated nothing."""
    if not _PATCHED and not _STOPPED:
        _patch_calls(_base_class())
    return Backend(stock)


copyreg.pickle(Backend, lambda backend: (_revived, (backend.stock,)))


def _replace(owner: Any, name: str, value: Any) -> None:
    _PATCHED.append((owner, name, owner.__dict__[name]))
    setattr(owner, name, value)


def _restore(kept: int) -> None:
    """Take all replacements back but the first ones."""
    while len(_PATCHED) > kept:
        owner, name, value = _PATCHED.pop()
        setattr(owner, name, value)


def _patch_calls(base: Any) -> None:
    """Put toksmith before the methods through which all calls go."""
    if any(owner is base and name.endswith("_encode_plus") for owner, name, _ in _PATCHED):
        return
    known = None
    if "_batch_encode_plus" in base.__dict__:  # transformers 4: two methods, no unknown options
        known = {*inspect.signature(base._batch_encode_plus).parameters}
        _replace(base, "_batch_encode_plus", _batch_encode_plus(base._batch_encode_plus, known))
    _replace(base, "_encode_plus", _encode_plus(base._encode_plus, known))
    for each in slow.classes():
        _replace(each, "_tokenize", slow.patched(each._tokenize))
    from tokenizers import decoders

    # The stock stream takes no backend for a tokenizer; serving engines look it up here.
    _replace(decoders, "DecodeStream", DecodeStream)


def _batch_encode_plus(before: Callable[..., Any], known: set[str]) -> Callable[..., Any]:
    """Return transformers 4's method for batches, with toksmith in it."""

    @functools.wraps(before)
    def batch_encode_plus(self: Any, batch_text_or_text_pairs: Any, **options: Any) -> Any:
        pre_split = options.get("is_split_into_words", False)
        found = None
        if isinstance(batch_text_or_text_pairs, list | tuple) and known.issuperset(options):
            found = _encoded(self, *_texts_and_pairs(batch_text_or_text_pairs, pre_split), options)
        if found:
            return found
        with _alone(self):
            return before(self, batch_text_or_text_pairs, **options)

    return batch_encode_plus


def _alone(self: Any) -> AbstractContextManager[Any]:
    """Return what keeps other threads from the stock tokenizer, which a call changes."""
    backend = self._tokenizer
    lock: AbstractContextManager[Any] = (
        backend.stock_lock if isinstance(backend, Backend) else nullcontext()
    )
    return lock


def _texts_and_pairs(
    rows: Sequence[Any], pre_split: bool
) -> tuple[Sequence[Any], Sequence[Any] | None]:
    """Return the texts and second texts of transformers 4's mixed rows."""

    def is_pair(row: Any) -> bool:
        is_two = isinstance(row, tuple) and len(row) == 2
        return is_two and not (pre_split and isinstance(row[0], str))

    if rows and all(map(is_pair, rows)):
        return [row[0] for row in rows], [row[1] for row in rows]
    return rows, None


def _encode_plus(before: Callable[..., Any], known: set[str] | None) -> Callable[..., Any]:
    """Return the method for all calls (transformers 4: for single texts), with toksmith in it."""

    @functools.wraps(before)
    def encode_plus(self: Any, text: Any, text_pair: Any = None, **options: Any) -> Any:
        if options.get("is_split_into_words"):
            is_batch = isinstance(text, list | tuple) and text and isinstance(text[0], list | tuple)
        else:
            is_batch = isinstance(text, list | tuple)
        texts, pairs = text, text_pair
        if not is_batch:
            texts, pairs = [text], [text_pair] if text_pair else None
        found = None
        if known is None or known.issuperset(options):
            found = _encoded(self, texts, pairs, options)
        if found is None:
            with _alone(self):
                return before(self, text, text_pair, **options)
        if is_batch or options.get("return_tensors") or options.get("return_overflowing_tokens"):
            return found
        for key, value in found.data.items():
            if value and isinstance(value[0], list):
                found.data[key] = value[0]
        return found

    return encode_plus


def _encoded(
    self: Any, texts: Sequence[Any], pairs: Sequence[Any] | None, options: dict[str, Any]
) -> Any:
    """Return the ``BatchEncoding`` of texts, or ``None`` if toksmith cannot take the call."""
    backend = self._tokenizer
    if not isinstance(backend, Backend) or options.get("sanitize_control_tokens"):
        return None
    pre_split = options.get("is_split_into_words", False)
    is_text = _is_words if pre_split else _is_str
    compiled = backend.compiled()
    if not texts or not all(map(is_text, texts)) or compiled.tokenizer is None:
        return None
    if isinstance(pairs, str) or (pairs is not None and len(pairs) != len(texts)):
        return None
    if pairs is not None and not all(map(is_text, pairs)):
        return None
    try:
        call = _call(self, options)
        data, encodings = encode(compiled, texts, pairs, call)
    except OptionError:  # transformers raises its own error, or accepts it with a warning
        return None
    max_length = options.get("max_length")
    if max_length is None:
        longest = max(data["input_ids"], key=len)
        self._eventual_warn_about_too_long_sequence(
            longest, max_length, options.get("verbose", True)
        )
    from transformers import BatchEncoding

    return BatchEncoding(
        data,
        encodings,
        tensor_type=options.get("return_tensors"),
        n_sequences=1 if pairs is None else 2,
    )


def _call(self: Any, options: dict[str, Any]) -> Call:
    """Return the options of a call with transformers' defaults."""
    inputs = self.model_input_names
    types = options.get("return_token_type_ids")
    mask = options.get("return_attention_mask")
    wanted = {
        "input_ids": True,
        "token_type_ids": "token_type_ids" in inputs if types is None else types,
        "attention_mask": "attention_mask" in inputs if mask is None else mask,
        "special_tokens_mask": options.get("return_special_tokens_mask", False),
        "offset_mapping": options.get("return_offsets_mapping", False),
        "length": options.get("return_length", False),
    }
    split = options.get("split_special_tokens")
    return Call(
        add_special_tokens=options.get("add_special_tokens", True),
        split_special_tokens=self.split_special_tokens if split is None else split,
        is_pretokenized=options.get("is_split_into_words", False),
        truncation=_truncation(self, options),
        padding=_padding(self, options),
        overflow=options.get("return_overflowing_tokens", False),
        fields=tuple(name for name, is_wanted in wanted.items() if is_wanted),
        tensors=options.get("return_tensors") is not None,
    )


def _truncation(self: Any, options: dict[str, Any]) -> dict[str, Any] | None:
    strategy = options.get("truncation_strategy")
    if strategy is None or strategy.value == "do_not_truncate":
        return None
    return {
        "max_length": options.get("max_length"),
        "stride": options.get("stride", 0),
        "strategy": strategy.value,
        "direction": self.truncation_side,
    }


def _padding(self: Any, options: dict[str, Any]) -> dict[str, Any] | None:
    strategy = options.get("padding_strategy")
    if strategy is None or strategy.value == "do_not_pad":
        return None
    return {
        "length": options.get("max_length") if strategy.value == "max_length" else None,
        "direction": options.get("padding_side") or self.padding_side,
        "pad_id": self.pad_token_id,
        "pad_token": self.pad_token,
        "pad_type_id": self.pad_token_type_id,
        "pad_to_multiple_of": options.get("pad_to_multiple_of"),
    }


def _is_str(text: Any) -> bool:
    return type(text) is str


def _is_words(text: Any) -> bool:
    return isinstance(text, list | tuple) and all(map(_is_str, text))
