"""tokenizers' post-processors: they put special tokens around texts, and trim offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from toksmith.compat.tokenizers.checks import (
    arguments,
    boolean,
    instance,
    optional,
    sequence,
    sequence_of,
    string,
    token_with_id,
)
from toksmith.compat.tokenizers.component import Component, Members, compact_json, setting
from toksmith.compat.tokenizers.encoding import Encoding
from toksmith.compat.tokenizers.failures import ComponentTypeError
from toksmith.errors import OptionError

__all__ = [
    "BertProcessing",
    "ByteLevel",
    "PostProcessor",
    "RobertaProcessing",
    "Sequence",
    "TemplateProcessing",
]


class PostProcessor(Component):
    """The base of post-processors."""

    def __init__(self) -> None:
        self._check_is_a_kind()
        self._start()

    @arguments(is_pair=boolean)
    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return the number of special tokens that are added.

        Args:
            is_pair: whether there are two texts.
        """
        return 0

    @arguments(
        encoding=instance(Encoding), pair=optional(instance(Encoding)), add_special_tokens=boolean
    )
    def process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Return encodings with their special tokens, as one.

        Args:
            encoding: the first text.
            pair: the second text.
            add_special_tokens: put the special tokens in.
        """
        texts = [encoding] if pair is None else [encoding, pair]
        return Encoding.merge(self.processed(texts, add_special_tokens), False)

    def processed(self, texts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts that the texts become, in order; the texts themselves may change."""
        raise NotImplementedError


class BertProcessing(PostProcessor, type="BertProcessing"):
    """``[CLS] a [SEP]``, or ``[CLS] a [SEP] b [SEP]``.

    Args:
        sep: the token ``[SEP]`` and its id.
        cls: the token ``[CLS]`` and its id.
    """

    _defaults: ClassVar[dict[str, Any]] = {"sep": None, "cls": None}
    sep = setting("sep", "The token at the end and its id.", token_with_id)
    cls = setting("cls", "The token at the start and its id.", token_with_id)

    @arguments(sep=token_with_id, cls=token_with_id)
    def __init__(self, sep: tuple[str, int], cls: tuple[str, int]) -> None:
        self._start(sep=sep, cls=cls)

    def _read(self, spec: Mapping[str, Any]) -> None:
        self._start(sep=_pair(spec["sep"]), cls=_pair(spec["cls"]))

    @arguments(is_pair=boolean)
    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return the number of special tokens that are added.

        Args:
            is_pair: whether there are two texts.
        """
        return 3 if is_pair else 2

    def processed(self, texts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts that the texts become, in order."""
        _number(texts)
        if not add_special_tokens:
            return texts
        cls, sep = _special(self.cls, 0), [_special(self.sep, type_id) for type_id in (0, 1)]
        parts = [cls, texts[0], sep[0]]
        return parts if len(texts) == 1 else [*parts, texts[1], sep[1]]


class RobertaProcessing(PostProcessor, type="RobertaProcessing"):
    """``<s> a </s>``, or ``<s> a </s></s> b </s>``.

    Args:
        sep: the token ``</s>`` and its id.
        cls: the token ``<s>`` and its id.
        trim_offsets: leave spaces out of the offsets.
        add_prefix_space: the pre-tokenizer puts a space before the text.
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "sep": None,
        "cls": None,
        "trim_offsets": True,
        "add_prefix_space": True,
    }
    sep = setting("sep", "The token at the end and its id.", token_with_id)
    cls = setting("cls", "The token at the start and its id.", token_with_id)
    trim_offsets = setting("trim_offsets", "Whether offsets leave spaces out.", boolean)
    add_prefix_space = setting(
        "add_prefix_space", "Whether the pre-tokenizer puts a space first.", boolean
    )

    @arguments(sep=token_with_id, cls=token_with_id, trim_offsets=boolean, add_prefix_space=boolean)
    def __init__(
        self,
        sep: tuple[str, int],
        cls: tuple[str, int],
        trim_offsets: bool = True,
        add_prefix_space: bool = True,
    ) -> None:
        self._start(
            sep=sep,
            cls=cls,
            trim_offsets=trim_offsets,
            add_prefix_space=add_prefix_space,
        )

    def _read(self, spec: Mapping[str, Any]) -> None:
        super()._read(spec)
        self._spec.update(sep=_pair(spec["sep"]), cls=_pair(spec["cls"]))

    @arguments(is_pair=boolean)
    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return the number of special tokens that are added.

        Args:
            is_pair: whether there are two texts.
        """
        return 4 if is_pair else 2

    def processed(self, texts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts that the texts become, in order."""
        if self.trim_offsets:
            _trim(texts, self.add_prefix_space)
        _number(texts)
        for text in texts:
            _set_type(text, 0)
        if not add_special_tokens:
            return texts
        cls, sep = _special(self.cls, 0), _special(self.sep, 0)
        parts = [cls, texts[0], sep]
        return parts if len(texts) == 1 else [*parts, sep, texts[1], sep]


class ByteLevel(PostProcessor, type="ByteLevel"):
    """Leaves spaces out of the offsets of byte-level tokens.

    Args:
        add_prefix_space: the pre-tokenizer puts a space before the text.
        trim_offsets: leave spaces out.
        use_regex: kept for tokenizer.json.
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "add_prefix_space": True,
        "trim_offsets": True,
        "use_regex": True,
    }
    add_prefix_space = setting(
        "add_prefix_space", "Whether the pre-tokenizer puts a space first.", boolean
    )
    trim_offsets = setting("trim_offsets", "Whether offsets leave spaces out.", boolean)
    use_regex = setting("use_regex", "Kept for tokenizer.json.", boolean)

    @arguments(
        add_prefix_space=optional(boolean),
        trim_offsets=optional(boolean),
        use_regex=optional(boolean),
    )
    def __init__(
        self,
        add_prefix_space: bool | None = None,
        trim_offsets: bool | None = None,
        use_regex: bool | None = None,
        **_unused: Any,
    ) -> None:
        given = {
            "add_prefix_space": add_prefix_space,
            "trim_offsets": trim_offsets,
            "use_regex": use_regex,
        }
        self._start(**{name: value for name, value in given.items() if value is not None})

    def processed(self, texts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts that the texts become, in order."""
        if self.trim_offsets:
            _trim(texts, self.add_prefix_space)
        _number(texts)
        return texts


class TemplateProcessing(PostProcessor, type="TemplateProcessing"):
    """Special tokens and texts, in the order of a template.

    Args:
        single: the template of one text: a string such as ``"[CLS] $A [SEP]"``, or the list of its
            pieces. ``:1`` after a piece is its type.
        pair: the template of two texts, ``$A`` and ``$B``.
        special_tokens: each special token of the templates: a token and its id (in any order), or a
            dictionary with ``id``, ``ids`` and ``tokens``.

    Raises:
        OptionError: a piece is no piece, or a special token is missing.

    Example:
        >>> template = TemplateProcessing("<s> $A", special_tokens=[("<s>", 1)])
        >>> template.num_special_tokens_to_add(False)
        1
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "single": [{"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {},
    }

    def __init__(
        self,
        single: str | list[str] | None = None,
        pair: str | list[str] | None = None,
        special_tokens: Iterable[Any] | None = None,
    ) -> None:
        given: dict[str, Any] = {}
        if single is not None:
            given["single"] = _pieces(single)
        if pair is not None:
            given["pair"] = _pieces(pair)
        tokens = [
            _special_entry(each)
            for each in sequence(() if special_tokens is None else special_tokens)
        ]
        given["special_tokens"] = {each["id"]: each for each in sorted(tokens, key=_id_of)}
        self._start(**given)
        self._check()

    def _read(self, spec: Mapping[str, Any]) -> None:
        super()._read(spec)
        self._check()

    def _check(self) -> None:
        spec = self._spec
        texts = {each["Sequence"]["id"] for each in spec["pair"] if "Sequence" in each}
        if texts != {"A", "B"}:
            raise OptionError("Template for `pair` must use both sequences")
        named = [
            each["SpecialToken"]["id"]
            for each in (*spec["single"], *spec["pair"])
            if "SpecialToken" in each
        ]
        missing = sorted(set(named) - spec["special_tokens"].keys())
        if missing:
            shown = ", ".join(f"`{each}`" for each in missing)
            raise OptionError(f"Missing SpecialToken(s) with id(s) {shown}")

    @property
    def single(self) -> str:
        """The template of one text."""
        return f"Template([{', '.join(map(_debug, self._spec['single']))}])"

    @single.setter
    def single(self, value: str | list[str]) -> None:
        self._set("single", _pieces(value))

    @property
    def pair(self) -> str:
        """The template of two texts."""
        return f"Template([{', '.join(map(_debug, self._spec['pair']))}])"

    @pair.setter
    def pair(self, value: str | list[str]) -> None:
        self._set("pair", _pieces(value))

    @arguments(is_pair=boolean)
    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return the number of special tokens that are added.

        Args:
            is_pair: whether there are two texts.
        """
        tokens = self._spec["special_tokens"]
        return sum(
            len(tokens[piece["SpecialToken"]["id"]]["ids"])
            for piece in self._spec["pair" if is_pair else "single"]
            if "SpecialToken" in piece
        )

    def processed(self, texts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts that the texts become, in order."""
        parts = []
        tokens = self._spec["special_tokens"]
        for piece in self._spec["pair" if len(texts) > 1 else "single"]:
            if "Sequence" in piece:
                place = int(piece["Sequence"]["id"] == "B")
                text = texts[place]
                _set_type(text, piece["Sequence"]["type_id"])
                for each in (text, *text.overflowing):
                    each.set_sequence_id(place)
                parts.append(text._copy())
            elif add_special_tokens:
                special = piece["SpecialToken"]
                held = tokens[special["id"]]
                parts.append(Encoding.special(held["ids"], held["tokens"], special["type_id"]))
        return parts

    def _shown(self, limit: int | None) -> str:
        def template(pieces: list[dict[str, Any]]) -> str:
            return "[" + ", ".join(map(_shown_piece, pieces)) + "]"

        tokens = ", ".join(
            f"{compact_json(key)}:SpecialToken(id={compact_json(held['id'])}, "
            f"ids={held['ids']}, tokens=[{', '.join(map(compact_json, held['tokens']))}])"
            for key, held in self._spec["special_tokens"].items()
        )
        return (
            f"TemplateProcessing(single={template(self._spec['single'])}, "
            f"pair={template(self._spec['pair'])}, special_tokens={{{tokens}}})"
        )


class Sequence(Members[PostProcessor], PostProcessor, type="Sequence"):
    """Post-processors one after the other.

    Args:
        processors: the post-processors.
    """

    _key = "processors"
    _member = PostProcessor

    def __init__(self, processors: list[PostProcessor]) -> None:
        self._fill_given(processors)

    @arguments(is_pair=boolean)
    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return the number of special tokens that are added.

        Args:
            is_pair: whether there are two texts.
        """
        return sum(each.num_special_tokens_to_add(is_pair) for each in self._members)

    def processed(self, texts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts that the texts become, in order."""
        for each in self._members:
            texts = each.processed(texts, add_special_tokens)
        return texts


def _pair(value: Any) -> tuple[str, int]:
    token, token_id = value
    return token, token_id


def _special(token: tuple[str, int], type_id: int) -> Encoding:
    return Encoding.special([token[1]], [token[0]], type_id)


def _number(texts: list[Encoding]) -> None:
    """Give each text its index."""
    for place, text in enumerate(texts):
        for each in (text, *text.overflowing):
            each.set_sequence_id(place)


def _set_type(text: Encoding, type_id: int) -> None:
    for each in (text, *text.overflowing):
        each._columns["type_ids"] = [type_id] * len(each)


def _trim(texts: list[Encoding], add_prefix_space: bool) -> None:
    """Leave spaces out of the offsets."""

    def trimmed(text: Encoding) -> list[tuple[int, int]]:
        offsets = []
        for place, (token, (start, end)) in enumerate(
            zip(text._column("tokens"), text._column("offsets"), strict=True)
        ):
            leading = len(token) - len(_without_spaces(token, str.lstrip))
            trailing = len(token) - len(_without_spaces(token, str.rstrip))
            if leading:
                if (place == 0 or start == 0) and add_prefix_space:
                    leading -= 1
                start = min(start + leading, end)
            if trailing and end >= trailing:
                end = max(end - trailing, start)
            offsets.append((start, end))
        return offsets

    for text in texts:
        for each in (text, *text.overflowing):
            each._columns["offsets"] = trimmed(each)


def _without_spaces(token: str, strip: Any) -> str:
    """Return a token without white space and ``Ġ`` on a side."""
    before = None
    while before != token:
        before = token
        token = strip(strip(token), "Ġ")
    return token


def _pieces(template: str | list[str]) -> list[dict[str, Any]]:
    if isinstance(template, str):
        template = template.split(" ")
    try:
        return [_piece(part) for part in sequence_of(string)(template)]
    except ComponentTypeError as wrong:
        raise ComponentTypeError(f"Expected Union[str, List[str]]: {wrong}") from None


def _piece(spelled: str) -> dict[str, Any]:
    """Return a piece of a template: ``$A``, ``$0``, ``$B:1`` or ``[SEP]:1``."""
    wrong = OptionError(f'Cannot build Piece from string "{spelled}"')
    name, type_id = spelled, "0"
    if ":" in spelled:
        name, type_id = spelled.rsplit(":", 1) if spelled.count(":") == 1 else (spelled, "")
    if not (type_id.isascii() and type_id.isdigit()):
        raise wrong
    if not name.startswith("$"):
        return {"SpecialToken": {"id": name, "type_id": int(type_id)}}
    which = name[1:]
    if which in ("", "A", "a", "B", "b"):
        return {"Sequence": {"id": which.upper() or "A", "type_id": int(type_id)}}
    if which.isascii() and which.isdigit():
        held = int(which) if ":" not in spelled else int(type_id)
        return {"Sequence": {"id": "A", "type_id": held}}
    raise wrong


def _special_entry(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {"id": given["id"], "ids": [*given["ids"]], "tokens": [*given["tokens"]]}
    if not isinstance(given, tuple) or sorted(type(each).__name__ for each in given) != [
        "int",
        "str",
    ]:
        raise ComponentTypeError(
            f"expected Union[Tuple[str, int], Tuple[int, str], dict], got {given!r:.80}"
        )
    first, second = given
    token, token_id = (second, first) if isinstance(first, int) else (first, second)
    return {"id": token, "ids": [token_id], "tokens": [token]}


def _id_of(entry: dict[str, Any]) -> str:
    found: str = entry["id"]
    return found


def _shown_piece(piece: dict[str, Any]) -> str:
    ((kind, held),) = piece.items()
    name = compact_json(held["id"]) if kind == "SpecialToken" else held["id"]
    return f"{kind}(id={name}, type_id={held['type_id']})"


def _debug(piece: dict[str, Any]) -> str:
    ((kind, held),) = piece.items()
    name = compact_json(held["id"]) if kind == "SpecialToken" else held["id"]
    return f"{kind} {{ id: {name}, type_id: {held['type_id']} }}"
