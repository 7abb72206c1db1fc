"""Added tokens, templates, padding and truncation of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toksmith.byte_alphabet import spell
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats.hf_entries import Entry
from toksmith.formats.hf_splitters import BYTE_LEVEL
from toksmith.framing import AddedToken
from toksmith.pipeline import Pipeline


def read_added_tokens(entry: Entry) -> list[AddedToken]:
    """Return the added tokens, in the order of the file."""
    tokens = []
    for item in entry.items():
        item.only("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")
        for key in ("single_word", "lstrip", "rstrip"):
            item.expect(key, False, None)
        tokens.append(
            AddedToken(
                content=item.text("content"),
                id=item.get("id").token_id(),
                special=item.get("special").of(bool),
            )
        )
    _check_order(entry)
    return tokens


def _check_order(entry: Entry) -> None:
    """Check that it does not matter which added tokens are looked for first.

    ``tokenizers`` looks for those that are not "normalized" in the whole text, then for the others
    in the rest; here all are looked for at once, from left to right.
    """
    first = [item["content"] for item in entry.value if not item.get("normalized")]
    starts = {content[:end] for content in first for end in range(1, len(content) + 1)}
    for item in entry.items():
        content = item.value["content"]
        if item.value.get("normalized") and (
            any(content[start:] in starts for start in range(1, len(content)))
            or any(other in content for other in first)
        ):
            raise item.get("normalized").refused()


def check_added_ids(path: Path, added: list[AddedToken], ids: Mapping[str, int]) -> None:
    """Check that ``tokenizers`` would give the added tokens the ids that the file says.

    It looks each one up in the vocabulary, and numbers those that are not there onwards.
    """
    highest = -1
    for token in added:
        onwards = highest + 1 if highest >= len(ids) else len(ids)
        expected = ids.get(token.content, onwards)
        if token.id != expected:
            raise FormatError(
                path,
                f"added token {token.content!r} has id {token.id}, but by the vocabulary it is "
                f"{expected}",
            )
        highest = max(highest, token.id)


def write_added_token(token: AddedToken) -> dict[str, Any]:
    """Return the entry of an added token."""
    return {
        "id": token.id,
        "content": token.content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": token.special,
    }


def read_post_processor(entry: Entry) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids that the template puts before and after a text.

    Raises:
        UnsupportedError: it does something else, or something more.
    """
    if entry.value is None:
        return (), ()
    kind = entry.get("type").value
    if kind == "ByteLevel":
        entry.only(*BYTE_LEVEL)
        return (), ()
    if kind == "Sequence":
        entry.only("type", "processors")
        found = [read_post_processor(part) for part in entry.get("processors").items()]
        # Each template goes around what the ones before it made.
        prefix = tuple(i for part in reversed(found) for i in part[0])
        return prefix, tuple(i for part in found for i in part[1])
    if kind != "TemplateProcessing":
        raise entry.refused()
    entry.only("type", "single", "pair", "special_tokens")
    return _read_template(entry)


def _read_template(entry: Entry) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sides: list[list[int]] = [[]]
    special = entry.get("special_tokens")
    for piece in entry.get("single").items():
        piece.only("SpecialToken", "Sequence")
        if len(piece.value) != 1:
            raise piece.refused()
        if "Sequence" in piece.value:
            piece.get("Sequence").expect("id", "A")
            sides.append([])
            continue
        ids = special.get(piece.get("SpecialToken").text("id")).get("ids")
        sides[-1] += [item.token_id() for item in ids.items()]
    if len(sides) != 2:
        raise entry.get("single").refused()
    return tuple(sides[0]), tuple(sides[1])


def write_post_processor(pipeline: Pipeline) -> dict[str, Any]:
    """Return the template of the pipeline's framing."""
    framing, vocab = pipeline.framing, pipeline.model.vocab
    if not framing.prefix and not framing.suffix:
        return BYTE_LEVEL
    names = {i: spell(token) for i, token in enumerate(vocab) if token}
    names |= {token.id: token.content for token in framing.added_tokens}
    around = framing.prefix + framing.suffix
    if unknown := [i for i in around if i not in names]:
        raise UnsupportedError(f"the template puts id {unknown[0]}, which is no token")

    def template(kind: int, sequence: str) -> list[dict[str, Any]]:
        pieces = [
            [{"SpecialToken": {"id": names[i], "type_id": kind}} for i in ids]
            for ids in (framing.prefix, framing.suffix)
        ]
        return [*pieces[0], {"Sequence": {"id": sequence, "type_id": kind}}, *pieces[1]]

    return {
        "type": "TemplateProcessing",
        "single": template(0, "A"),
        "pair": template(0, "A") + template(1, "B"),
        "special_tokens": {
            names[i]: {"id": names[i], "ids": [i], "tokens": [names[i]]} for i in around
        },
    }
