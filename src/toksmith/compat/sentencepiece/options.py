"""The base of the processor: its model, and the options that are defaults of later calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from toksmith._base.text import Text
from toksmith.compat.sentencepiece.failures import (
    NotLoadedError,
    PieceTypeError,
    SentencePieceError,
)
from toksmith.compat.sentencepiece.forms import FORMS, Marks, OutType, form_name
from toksmith.compat.sentencepiece.model import Model
from toksmith.compat.sentencepiece.reading import read_file, read_model, serialized_bytes
from toksmith.compat.sentencepiece.segmentation import Segmentation

if TYPE_CHECKING:
    from typing_extensions import Self

_Found = TypeVar("_Found")
_Number = TypeVar("_Number", bound=float)


class ModelWithOptions:
    """A model, and the options of :class:`SentencePieceProcessor`."""

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: Any = None,
        out_type: OutType | None = None,
        add_bos: bool = False,
        add_eos: bool = False,
        reverse: bool = False,
        emit_unk_piece: bool = False,
        enable_sampling: bool = False,
        nbest_size: int = -1,
        alpha: float = 0.1,
        num_threads: int = -1,
        return_type: OutType | None = None,
    ) -> None:
        self._out_type: OutType = int
        self._out_type = self._form(out_type, return_type)
        self._add_bos = add_bos
        self._add_eos = add_eos
        self._reverse = reverse
        self._emit_unk_piece = emit_unk_piece
        self._enable_sampling = enable_sampling
        self._nbest_size = nbest_size
        self._alpha = alpha
        self._num_threads = num_threads
        self._encode_extra: list[str] = []
        self._decode_extra: list[str] = []
        self._data = b""
        self._loaded: Model | None = None
        if model_file or model_proto:
            self.load(model_file, model_proto)

    # Loading

    @classmethod
    def from_file(cls, model_file: str | os.PathLike[str], **options: Any) -> Self:
        """Return a processor of a ``.model`` file.

        Args:
            model_file: the file.
            options: those of the class.
        """
        processor = cls(**_without_model("from_file", options))
        processor.load_from_file(model_file)
        return processor

    @classmethod
    def from_proto(cls, model_proto: Any, **options: Any) -> Self:
        """Return a processor of the content of a ``.model`` file, or of a message ``ModelProto``.

        Args:
            model_proto: bytes, or the message.
            options: those of the class.
        """
        processor = cls(**_without_model("from_proto", options))
        processor.load_from_serialized_proto(model_proto)
        return processor

    def load(
        self, model_file: str | os.PathLike[str] | None = None, model_proto: Any = None
    ) -> bool:
        """Load a model: a file, or the content of one.

        Args:
            model_file: the file.
            model_proto: bytes, or a message ``ModelProto``.
        """
        if model_file and model_proto:
            raise SentencePieceError("model_file and model_proto are both given: use one of them")
        if model_proto:
            return self.load_from_serialized_proto(model_proto)
        if not model_file:
            raise SentencePieceError("there is no model: give model_file or model_proto")
        return self.load_from_file(model_file)

    def load_from_file(self, model_file: str | os.PathLike[str]) -> bool:
        """Load a ``.model`` file."""
        return self.load_from_serialized_proto(read_file(model_file))

    def load_from_serialized_proto(self, serialized: Any) -> bool:
        """Load the content of a ``.model`` file, or a message ``ModelProto``."""
        data = serialized_bytes(serialized)
        self._loaded = read_model(data)
        self._data = data
        return True

    Load, LoadFromFile = load, load_from_file
    LoadFromSerializedProto = load_from_serialized_proto

    def serialized_model_proto(self) -> bytes:
        """Return the content of the model's file; ``b""`` before a model is loaded."""
        return self._data

    def __getstate__(self) -> dict[str, Any]:
        made = {"_loaded", "_batch_decoder"}  # made again from the model's file
        return {name: value for name, value in vars(self).items() if name not in made}

    def __setstate__(self, state: Any) -> None:
        ModelWithOptions.__init__(self)
        if isinstance(state, bytes):  # as SentencePiece pickles
            state = {"_data": state}
        vars(self).update(state)
        if self._data:
            self.load_from_serialized_proto(self._data)

    @property
    def _model(self) -> Model:
        if self._loaded is None:
            raise NotLoadedError("no model is loaded: call load() first")
        return self._loaded

    # Options

    def set_encode_extra_options(self, extra_option: str) -> bool:
        """Set what is done to the pieces of each text, before the options of the call.

        Args:
            extra_option: ``bos``, ``eos``, ``reverse`` and ``unk``, joined by colons.
        """
        self._encode_extra = self._extra(extra_option)
        return True

    def set_decode_extra_options(self, extra_option: str) -> bool:
        """Set what is done to pieces before they are decoded; see the one for encoding."""
        self._decode_extra = self._extra(extra_option)
        return True

    SetEncodeExtraOptions = set_encode_extra_options
    SetDecodeExtraOptions = set_decode_extra_options

    def _extra(self, written: str) -> list[str]:
        options = written.split(":") if written else []
        for option in options:
            if option not in ("bos", "eos", "reverse", "unk", "unk_piece"):
                raise SentencePieceError(
                    f"unknown option {option!r:.40}: use bos, eos, reverse or unk"
                )
            if option in ("bos", "eos"):
                self._mark_id(option)
        return options

    def _with_extra(self, row: Segmentation, options: Sequence[str]) -> Segmentation:
        for option in options:
            if option == "reverse":
                row = row.reverse()
            elif option in ("unk", "unk_piece"):
                row = row.spell(self._model.unk_id, self._model.vocab[self._model.unk_id])
            else:
                token_id = self._mark_id(option)
                row = row.mark(token_id, self._model.vocab[token_id], at_start=option == "bos")
        return row

    def _role(self, name: str) -> int:
        found: int | None = getattr(self._model.pipeline.model, name)
        return -1 if found is None else found

    def _mark_id(self, name: str) -> int:
        token_id = self._role(f"{name}_id")
        if token_id < 0:
            raise SentencePieceError(f"the model has no {name} piece: leave add_{name} out")
        return token_id

    def _marks(
        self,
        form: OutType,
        add_bos: bool | None,
        add_eos: bool | None,
        reverse: bool | None,
        emit_unk_piece: bool | None,
    ) -> Marks:
        """Return the options that change ids and pieces; messages refuse them."""
        bos = self._add_bos if add_bos is None else check_number("add_bos", add_bos)
        eos = self._add_eos if add_eos is None else check_number("add_eos", add_eos)
        backwards = self._reverse if reverse is None else check_number("reverse", reverse)
        unk = self._emit_unk_piece if emit_unk_piece is None else emit_unk_piece
        if form not in (int, str, bytes, "numpy") and (bos or eos or backwards or unk):
            raise SentencePieceError(
                f"add_bos, add_eos, reverse and emit_unk_piece do not apply to {form_name(form)}: "
                "leave them out, or use ids or pieces"
            )
        return Marks(
            self._model,
            self._mark_id("bos") if bos else None,
            self._mark_id("eos") if eos else None,
            bool(backwards),
            bool(unk),
        )

    def _form(
        self, out_type: OutType | None, return_type: OutType | None, default: OutType | None = None
    ) -> OutType:
        if out_type is not None and return_type is not None:
            raise SentencePieceError(
                "out_type and return_type are both given: they are the same option"
            )
        form = return_type if out_type is None else out_type
        if form is None:
            return self._out_type if default is None else default
        if form not in FORMS:
            raise SentencePieceError(
                f"unknown out_type {form_name(form)}: use int, str, bytes, or one of "
                f"{', '.join(repr(each) for each in FORMS[3:])}"
            )
        return form

    @staticmethod
    def _check_return_bytes(form: OutType, return_bytes: bool | None) -> None:
        if return_bytes is not None and form != "offset_mapping":
            raise SentencePieceError(
                f"return_bytes is for out_type='offset_mapping', not {form_name(form)}"
            )

    def _threads(self, num_threads: int | None, pool: ThreadPool | None) -> int | None:
        if pool is not None:
            if not isinstance(pool, ThreadPool):
                raise PieceTypeError(f"thread_pool is {pool!r:.40}: use a ThreadPool")
            return pool.num_threads()
        count = self._num_threads if num_threads is None else num_threads
        if not isinstance(count, int) or abs(count) >= 2**31:
            raise PieceTypeError(f"num_threads is {count!r:.40}: use a whole number below 2**31")
        return None if count < 0 else max(count, 1)

    def _for_each(self, input: Any, run: Callable[[Text], _Found]) -> _Found | list[_Found]:
        """Return the result for a text, or for each of a list of texts."""
        if isinstance(input, list):
            check_texts(input)
            return [run(text) for text in input]
        check_texts([input])
        return run(input)


class ThreadPool:
    """A number of threads, for the argument ``thread_pool`` of calls.

    Args:
        num_threads: the number; negative for the cores of this machine.
    """

    def __init__(self, num_threads: int) -> None:
        self._count = max(num_threads if num_threads >= 0 else os.cpu_count() or 1, 1)

    def num_threads(self) -> int:
        """Return the number of threads."""
        return self._count


def _without_model(call: str, options: dict[str, Any]) -> dict[str, Any]:
    if {"model_file", "model_proto"} & options.keys():
        raise SentencePieceError(
            f"{call} takes the model first: leave model_file and model_proto out"
        )
    return options


def check_number(name: str, value: _Number) -> _Number:
    """Return a value that is a bool or a number.

    Raises:
        PieceTypeError: it is something else.
    """
    if not hasattr(type(value), "__float__"):
        raise PieceTypeError(f"{name} is {value!r:.40}: use a bool or a number")
    return value


def check_count(name: str, value: int) -> int:
    """Return a value that is a whole number of 32 bits.

    Raises:
        PieceTypeError: it is something else.
    """
    if not hasattr(type(value), "__index__") or abs(value) >= 2**31:
        raise PieceTypeError(f"{name} is {value!r:.40}: use a whole number below 2**31")
    return value


def check_texts(texts: Sequence[Any]) -> None:
    """Raise PieceTypeError unless all items are texts."""
    for text in texts:
        if not isinstance(text, str | bytes):
            raise PieceTypeError(f"{text!r:.40} is no text: use a str, or UTF-8 bytes")
