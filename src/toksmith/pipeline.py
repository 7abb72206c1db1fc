"""The pipeline: all stages of a tokenizer as frozen data, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from toksmith._base.lazy import hashlib, np
from toksmith._base.records import dataclass, field, fields, replace
from toksmith._base.visible import short_repr
from toksmith.errors import OptionError
from toksmith.framing import Framing
from toksmith.framing.settings import NO_SETTINGS, Settings

if TYPE_CHECKING:
    from toksmith.decoders import Decoder
    from toksmith.models import Model
    from toksmith.normalizers import Normalizer
    from toksmith.splitters import Splitter

__all__ = ["Pipeline"]

NO_FRAMING = Framing()


@short_repr
@dataclass(frozen=True)
class Pipeline:
    """The stages of a tokenizer, as data; engines run it.

    ``text → normalizer → splitter → model → ids → framing``, and back ``ids → decoder → text``.

    Attributes:
        model: turns each chunk into ids.
        splitter: cuts the text into chunks; ``None`` leaves it whole.
        framing: added tokens and the template.
        name: the published name, if it has one.
        normalizer: the steps that rewrite the text before it is split; ``()`` for none.
        decoder: the steps that turn tokens into text; ``None`` if the bytes of the tokens,
            concatenated, are the text.
        settings: what a model folder says besides: roles of special tokens, lengths, chat
            templates. They change no ids, so two pipelines that differ in them are equal.

    Raises:
        OptionError: an added token's id belongs to a token of the model with other bytes.

    Example:
        >>> from toksmith import Tokenizer, models, normalizers, splitters
        >>> model = models.WordLevel((b"?", b"to", b"be"), unk_id=0)
        >>> lower = (normalizers.Lowercase(),)
        >>> tok = Tokenizer(Pipeline(model, splitters.WhitespaceSplit(), normalizer=lower))
        >>> tok.encode("To be so")
        [1, 2, 0]
    """

    model: Model
    splitter: Splitter | None = None
    framing: Framing = NO_FRAMING
    name: str | None = None
    normalizer: Normalizer = ()
    decoder: Decoder | None = None
    settings: Settings = field(default=NO_SETTINGS, compare=False)

    def __post_init__(self) -> None:
        vocab = self.model.vocab
        for token in self.framing.added_tokens:
            held = vocab[token.id] if token.id < len(vocab) else b""
            if held and held != token.content.encode():
                raise OptionError(
                    f"added token {token.content!r} has id {token.id}, which the model's "
                    f"vocabulary gives to {held!r}"
                )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all stages, in hexadecimal: equal for equal pipelines on every machine.

        Names and settings change no ids, and are left out.

        Example:
            >>> from toksmith import models
            >>> Pipeline(models.WordLevel((b"to",))).digest[:16]
            'fb09298d3b855994'
        """
        found = hashlib.sha256()
        _feed(replace(self, name=None, settings=NO_SETTINGS), found.update)
        return found.hexdigest()

    def with_name(self, name: str) -> Pipeline:
        """Return the same pipeline under a published name.

        Args:
            name: the name, which a tokenizer shows and a comparison uses.

        Example:
            >>> from toksmith import models
            >>> Pipeline(models.WordLevel((b"to",))).with_name("tiny").name
            'tiny'
        """
        return replace(self, name=name)


def _feed(value: object, update: Callable[[bytes], object]) -> None:
    """Pass a value to a hash so that only equal values give equal bytes."""
    kind = type(value)
    if isinstance(value, bytes):
        update(b"b%d:" % len(value) + value)
    elif value is None or isinstance(value, str | bool | int | float):
        text = repr(value).encode()
        update(b"s%d:" % len(text) + text)
    elif isinstance(value, np.ndarray):
        update(f"a{value.dtype.str}{value.shape}:".encode() + value.tobytes())
    elif isinstance(value, tuple | list):
        update(b"l%d:" % len(value))
        if value and all(type(item) is bytes for item in value):
            update(np.array([len(item) for item in value], "<i8").tobytes() + b"".join(value))
            return
        for item in value:
            _feed(item, update)
    elif isinstance(value, Mapping):
        _feed(sorted(value.items(), key=repr), update)
    elif isinstance(value, frozenset | set):
        _feed(sorted(value, key=repr), update)
    elif hasattr(kind, "__dataclass_fields__"):
        update(kind.__qualname__.encode() + b"{")
        for item in fields(cast(Any, value)):
            if item.compare:
                update(item.name.encode() + b"=")
                _feed(getattr(value, item.name), update)
        update(b"}")
    else:
        raise TypeError(f"a {kind.__name__} has no digest")
