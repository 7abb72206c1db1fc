"""Reads and writes the post-processor of a tokenizer.json: templates, trimmed offsets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from toksmith._base.byte_alphabet import spell
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats.huggingface.entries import Entry
from toksmith.formats.huggingface.splitters import BYTE_LEVEL
from toksmith.framing import Part, Template, TextPart, TokenPart, TrimOffsets
from toksmith.models import BPE
from toksmith.pipeline import Pipeline

_PLAIN = Template()

MOST_PARTS = 1 << 14
"""The maximum number of ids and texts in a template."""

MOST_TEXTS = 64
"""The maximum number of texts in a template, which may repeat a text."""


def read(entry: Entry) -> tuple[Template, TrimOffsets | None]:
    """Return the template, and the trimming of white space from spans.

    Raises:
        UnsupportedError: the post-processor has other steps.
    """
    if entry.value is None:
        return _PLAIN, None
    template, trim = _PLAIN, None
    for part in _flat(entry):
        kind = part.text("type")
        if kind in _READERS:
            if template != _PLAIN:
                raise part.refusal("there are two templates, on which tokenizers fails too")
            template = _READERS[kind](part)
        elif kind != "ByteLevel":
            raise part.refusal()
        if kind in ("ByteLevel", "RobertaProcessing") and (found := _read_trim(part)):
            if trim:
                raise part.refusal("the spans would be trimmed twice")
            trim = found
    return template, trim


def _flat(entry: Entry) -> Iterator[Entry]:
    if entry.get("type").value != "Sequence":
        yield entry
        return
    entry.only("type", "processors")
    for part in entry.get("processors").items():
        yield from _flat(part)


def _read_trim(entry: Entry) -> TrimOffsets | None:
    if entry.get("type").value == "ByteLevel":
        entry.only(*BYTE_LEVEL)
    flags = [entry.get(key) for key in ("trim_offsets", "add_prefix_space")]
    trim, add_prefix_space = (flag.value is not None and flag.of(bool) for flag in flags)
    return TrimOffsets(add_prefix_space) if trim else None


def _read_bert(entry: Entry) -> Template:
    entry.only("type", "sep", "cls")
    return Template.bert(*(_named_id(entry.get(key)) for key in ("cls", "sep")))


def _read_roberta(entry: Entry) -> Template:
    entry.only("type", "sep", "cls", "trim_offsets", "add_prefix_space")
    first, end = (TokenPart(_named_id(entry.get(key))) for key in ("cls", "sep"))
    single: tuple[Part, ...] = (first, TextPart("A"), end)
    return Template(single, (*single, end, TextPart("B"), end))


def _named_id(entry: Entry) -> int:
    name, token_id = entry.items() if len(entry.of(list)) == 2 else (entry, entry)
    name.of(str)
    return token_id.token_id()


def _read_template(entry: Entry) -> Template:
    entry.only("type", "single", "pair", "special_tokens")
    special = entry.get("special_tokens")

    def parts(key: str) -> tuple[Part, ...]:
        pieces = entry.get(key).items()
        every = (part for piece in pieces for part in _read_piece(piece, special))
        found = tuple(islice(every, MOST_PARTS + 1))
        texts = sum(isinstance(part, TextPart) for part in found)
        if len(found) > MOST_PARTS or texts > MOST_TEXTS:
            raise FormatError(
                entry.path,
                f"{entry.name}.{key} is too long: a template may put {MOST_PARTS:,} ids around a "
                f"text, and repeat texts {MOST_TEXTS} times, as each row takes that much memory",
            )
        return found

    single = parts("single")
    if {part.which for part in single if isinstance(part, TextPart)} != {"A"}:
        raise entry.get("single").refusal("the template of one text needs $A, and has no $B")
    return Template(single, parts("pair"))


def _read_piece(piece: Entry, special: Entry) -> Iterator[Part]:
    piece.only("SpecialToken", "Sequence")
    if len(piece.value) != 1:
        raise piece.refusal("a part of a template is either a SpecialToken or a Sequence")
    (held,) = (piece.get(key) for key in piece.value)
    held.only("id", "type_id")
    type_id = held.get("type_id").token_id()
    if "Sequence" in piece.value:
        held.expect("id", "A", "B")
        yield TextPart(held.value["id"], type_id)
        return
    for item in special.get(held.text("id")).get("ids").items():
        yield TokenPart(item.token_id(), type_id)


_READERS = {
    "BertProcessing": _read_bert,
    "RobertaProcessing": _read_roberta,
    "TemplateProcessing": _read_template,
}


def write(pipeline: Pipeline) -> dict[str, Any] | None:
    """Return the post-processor of a pipeline's framing.

    Raises:
        UnsupportedError: the template has an id without a token.
    """
    framing = pipeline.framing
    parts = []
    if trim := framing.trim_offsets:
        parts.append(BYTE_LEVEL | {"add_prefix_space": trim.add_prefix_space})
    if framing.template != _PLAIN:
        parts.append(_written(framing.template, _names(pipeline)))
    if len(parts) == 2:
        return {"type": "Sequence", "processors": parts}
    return parts[0] if parts else None


def _names(pipeline: Pipeline) -> dict[int, str]:
    """Return the name of each id in the file."""
    bytes_level = isinstance(pipeline.model, BPE)
    names = {
        token_id: spell(token) if bytes_level else token.decode("utf-8", "replace")
        for token_id, token in enumerate(pipeline.model.vocab)
        if token
    }
    return names | {t.id: t.content for t in pipeline.framing.added_tokens if not t.alias}


def _written(template: Template, names: dict[int, str]) -> dict[str, Any]:
    tokens = [part.id for part in template.single + template.pair if isinstance(part, TokenPart)]
    if unknown := [token_id for token_id in tokens if token_id not in names]:
        raise UnsupportedError(f"the template has id {unknown[0]}, which no token has")

    def piece(part: Part) -> dict[str, Any]:
        if isinstance(part, TextPart):
            return {"Sequence": {"id": part.which, "type_id": part.type_id}}
        return {"SpecialToken": {"id": names[part.id], "type_id": part.type_id}}

    return {
        "type": "TemplateProcessing",
        "single": [piece(part) for part in template.single],
        "pair": [piece(part) for part in template.pair],
        "special_tokens": {
            names[i]: {"id": names[i], "ids": [i], "tokens": [names[i]]} for i in tokens
        },
    }
