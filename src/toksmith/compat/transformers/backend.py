"""The backend of a fast tokenizer: a ``tokenizers.Tokenizer``, and what toksmith makes of it."""

from __future__ import annotations

import copy
import warnings
from threading import Lock
from typing import Any

from toksmith.errors import ToksmithError
from toksmith.loading import loads
from toksmith.tokenizer import Tokenizer

_COMPONENTS = frozenset({"normalizer", "pre_tokenizer", "post_processor", "decoder"})
_CHANGES = frozenset(
    {"add_tokens", "add_special_tokens", "train", "train_from_iterator", "from_pretrained"}
)


class Backend:
    """Stands where transformers has a ``tokenizers.Tokenizer``, and passes everything on to it.

    toksmith's tokenizer is made from it at the first batch, and again after a change: a component
    that is set, tokens that are added, or a component that was read and then changed in place.

    Args:
        stock: the ``tokenizers.Tokenizer``.

    Attributes:
        stock: the same.
    """

    def __init__(self, stock: Any) -> None:
        object.__setattr__(self, "stock", stock)
        object.__setattr__(self, "_compiled", None)
        object.__setattr__(self, "_shown", set())
        object.__setattr__(self, "_lock", Lock())
        object.__setattr__(self, "_copy", None)

    def __getattr__(self, name: str) -> Any:
        stock = self.__dict__["stock"]
        if name in _COMPONENTS or name == "model":
            self._shown.add(name)
        found = getattr(stock, name)
        if name not in _CHANGES:
            return found

        def change(*args: Any, **options: Any) -> Any:
            self._forget()
            return found(*args, **options)

        return change

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _COMPONENTS or name == "model":
            self._forget()
        setattr(self.stock, name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Backend:
        """Return a backend with a tokenizer of its own, and the same compiled tokenizer."""
        made = Backend(copy.deepcopy(self.stock, memo))
        made.__dict__["_compiled"] = self._compiled
        made.__dict__["_shown"] = set(self._shown)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return (Backend, (self.stock,))

    def __repr__(self) -> str:
        return f"<Backend: {self.engine}>"

    @property
    def engine(self) -> str:
        """Where batches are encoded, and why not by toksmith if they are not."""
        compiled = self.compiled()
        if compiled.tokenizer is None:
            return f"tokenizers: {compiled.reason}"
        return f"toksmith: {compiled.tokenizer.engine}"

    def compiled(self) -> Compiled:
        """Return what toksmith makes of the tokenizer as it is now."""
        found: Compiled | None = self._compiled
        if found is not None and not (self._shown and found.parts != _parts(self.stock)):
            return found
        with self._lock:
            self._shown.clear()
            made = Compiled(self.stock)
            self.__dict__["_compiled"] = made
        return made

    def stock_encoding(self, text: Any, pair: Any, options: dict[str, Any]) -> list[Any]:
        """Return the ``tokenizers.Encoding`` objects of a text: one for each row.

        Args:
            text: a string or a list of words.
            pair: the second text, or ``None``.
            options: ``split_special_tokens``, ``add_special_tokens``, ``is_pretokenized``,
                and ``truncation`` and ``padding``, each a dict or ``None``.
        """
        with self._lock:  # a copy, so that nobody sees the settings of this call
            if self._copy is None:
                self.__dict__["_copy"] = copy.deepcopy(self.stock)
            tokenizer = self._copy
            tokenizer.encode_special_tokens = options["split_special_tokens"]
            if options["truncation"] is None:
                tokenizer.no_truncation()
            else:
                tokenizer.enable_truncation(**options["truncation"])
            if options["padding"] is None:
                tokenizer.no_padding()
            else:
                tokenizer.enable_padding(**options["padding"])
            found = tokenizer.encode(
                text,
                pair,
                is_pretokenized=options["is_pretokenized"],
                add_special_tokens=options["add_special_tokens"],
            )
        return [found, *found.overflowing]

    def _forget(self) -> None:
        self.__dict__["_compiled"] = None
        self.__dict__["_copy"] = None


class Compiled:
    """What toksmith makes of a ``tokenizers.Tokenizer``.

    Attributes:
        tokenizer: the tokenizer; ``None`` if toksmith cannot run it, or not faster.
        reason: why there is none.
        parts: the components as they were; different ones need a new tokenizer.
        zero_types: whether the template gives the type id 0 to all tokens of one text.
    """

    def __init__(self, stock: Any) -> None:
        self.tokenizer: Tokenizer | None = None
        self.reason = ""
        self.zero_types = False
        self.parts = _parts(stock)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tok = loads(stock.to_str(), format="huggingface")
        except ToksmithError as wrong:
            self.reason = str(wrong)
            return
        if getattr(stock.model, "dropout", None):
            self.reason = "the model has a dropout, so its ids are random"
        elif not tok.engine.startswith("kernel"):
            self.reason = f"toksmith runs it in part in Python ({tok.engine})"
        else:
            self.tokenizer = tok
            self.zero_types = not tok.prepare_ragged(["a"], truncation=False).type_ids.any()


def engine_of(tokenizer: Any) -> str:
    """Return where a tokenizer of transformers encodes its batches, and why.

    Args:
        tokenizer: one of transformers' tokenizers.

    Example:
        >>> engine_of(object())
        'transformers: it has no backend of toksmith'
    """
    backend = getattr(tokenizer, "_tokenizer", None)
    if isinstance(backend, Backend):
        return backend.engine
    return "transformers: it has no backend of toksmith"


def _parts(stock: Any) -> tuple[Any, ...]:
    """Return what changes when a component is changed in place."""
    parts = [getattr(stock, name) for name in sorted(_COMPONENTS)]
    states = tuple(None if part is None else part.__getstate__() for part in parts)
    return (*states, getattr(stock.model, "dropout", None))
