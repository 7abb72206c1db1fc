"""The backend of a fast tokenizer: a ``tokenizers.Tokenizer``, and what toksmith makes of it."""

from __future__ import annotations

import copy
import warnings
from threading import Lock, RLock
from typing import Any

from toksmith.errors import ToksmithError
from toksmith.loading import loads
from toksmith.tokenizer import Tokenizer

_COMPONENTS = frozenset({"model", "normalizer", "pre_tokenizer", "post_processor", "decoder"})
_CHANGES = frozenset(
    {"add_tokens", "add_special_tokens", "train", "train_from_iterator", "from_pretrained"}
)


class Backend:
    """A wrapper of the ``tokenizers.Tokenizer`` of a fast tokenizer, which passes everything on.

    toksmith's tokenizer is made from it at the first batch, and again after a change: a component
    that is set, tokens that are added, or a component that was read and then changed in place.

    Args:
        stock: the ``tokenizers.Tokenizer``.

    Attributes:
        stock: the same.
        stock_lock: held while the stock tokenizer encodes a call, since it keeps the truncation
            and padding of the call as settings.
    """

    def __init__(self, stock: Any) -> None:
        parts = {"stock": stock, "_shown": set(), "_slot": _Slot(), "stock_lock": RLock()}
        self.__dict__.update(parts)

    def __getattr__(self, name: str) -> Any:
        stock = self.__dict__["stock"]
        if name in _COMPONENTS:
            self._shown.add(name)
            if self._slot.compiled is None:  # copies do not see a change in place
                self.__dict__["_slot"] = _Slot()
        found = getattr(stock, name)
        if name not in _CHANGES:
            return found

        def change(*args: Any, **options: Any) -> Any:
            self._forget()
            return found(*args, **options)

        return change

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _COMPONENTS:
            self._forget()
        setattr(self.stock, name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Backend:
        """Return a backend with a tokenizer of its own, and the same compiled tokenizer.

        If there is none yet, the first of the two that encodes makes it for both.
        """
        made = Backend(copy.deepcopy(self.stock, memo))
        if self._slot.compiled is not None or not self._shown:
            made.__dict__["_slot"] = self._slot
        return made

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
        found: Compiled = self._slot.filled(self.stock)
        if any(_state(self.stock, name) != found.states[name] for name in tuple(self._shown)):
            self.__dict__["_slot"] = _Slot()
            found = self._slot.filled(self.stock)
        return found

    def _forget(self) -> None:
        """Compile again at the next call. Call it before the change."""
        if self._slot.compiled is not None:
            self._slot.compiled.keep_copy()
        self.__dict__["_slot"] = _Slot()


class _Slot:
    """Where a backend and its copies keep the compiled tokenizer."""

    def __init__(self) -> None:
        self.compiled: Compiled | None = None
        self._lock = Lock()

    def filled(self, stock: Any) -> Compiled:
        """Return the compiled tokenizer, made from ``stock`` if there is none yet."""
        with self._lock:
            if self.compiled is None:
                self.compiled = Compiled(stock)
            return self.compiled


class Compiled:
    """What toksmith makes of a ``tokenizers.Tokenizer`` in a state.

    Args:
        stock: the ``tokenizers.Tokenizer``.

    Attributes:
        tokenizer: the tokenizer; ``None`` if toksmith cannot run it, or not faster.
        reason: why there is none.
        states: the state of each component, by name.
        zero_types: whether the template gives the type id 0 to all tokens of one text.
    """

    def __init__(self, stock: Any) -> None:
        self.tokenizer: Tokenizer | None = None
        self.reason = ""
        self.zero_types = False
        self.states = {name: _state(stock, name) for name in _COMPONENTS}
        self._stock = stock
        self._copy: Any = None
        self._lock = Lock()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tok = loads(stock.to_str(), format="huggingface")
        except ToksmithError as wrong:
            self.reason = str(wrong)
            return
        if self.states["model"]:
            self.reason = "the model has a dropout or an alpha, so its ids are random"
        elif not tok.engine.startswith("kernel"):
            self.reason = f"toksmith runs it in part in Python ({tok.engine})"
        else:
            self.tokenizer = tok
            self.zero_types = not tok.prepare_ragged(["a"], truncation=False).type_ids.any()

    def keep_copy(self) -> None:
        """Copy the stock tokenizer, so that the settings of a call and later changes stay apart."""
        with self._lock:
            if self._copy is None:
                self._copy = copy.deepcopy(self._stock)

    def stock_encodings(self, text: Any, pair: Any, options: dict[str, Any]) -> list[Any]:
        """Return the ``tokenizers.Encoding`` objects of a text: one for each row.

        Args:
            text: a string or a list of words.
            pair: the second text, or ``None``.
            options: ``split_special_tokens``, ``add_special_tokens``, ``is_pretokenized``,
                and ``truncation`` and ``padding``, each a dict or ``None``.
        """
        self.keep_copy()
        tokenizer = self._copy
        with self._lock:
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


def _state(stock: Any, name: str) -> Any:
    """Return what differs when a component is changed in place.

    Of the model, that is the number that makes its segmentations random.
    """
    component = getattr(stock, name)
    if name == "model":
        return getattr(component, "dropout", None) or getattr(component, "alpha", None)
    return None if component is None else component.__getstate__()
