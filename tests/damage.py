"""Damages of files, and the kinds of tokenizer files. ``tests/fuzz`` runs them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.kits.bpe import pipeline, tekken
from tests.kits.gguf import INT32, STRING, Array, converted, gguf, tokens_of
from tests.kits.pipelines import PIPELINES
from tests.kits.sentencepiece import sentencepiece
from tests.kits.words import bert
from toksmith.framing import AddedToken, Framing
from toksmith.models import Unigram
from toksmith.pipeline import Pipeline

TEXT = "The then  the\n abab é 12 <|end|>"
HOSTILE = [
    *(b"\0", b"\xff\xfe", b"\xc3", b"\n", b"\r\n", b" ", b"", b"=", b'"', b"\\", b"\\ud800"),
    *(b"-1", b"1.5", b"1e999", b"9" * 30, b"9" * 5000, b"null", b"true", b"[]", b"{}", b"NaN"),
    *(b"[" * 5000, b"(" * 500, b'{"a":' * 3000, "\u2028é".encode(), b"(?i", b"[[", b"a{9999999}"),
]
VALUES: list[Any] = [
    *(None, True, False, -1, 0, 1, 3.5, 1e308, 2**31, 2**64, 10**6),
    *(
        "",
        "x",
        "▁",
        "\udfff",
        "(",
        "(?<=a+)b",
        "[a-z]*",
        "BPE",
        "Sequence",
        [],
        {},
        [[]],
        [1],
        {"": 0},
    ),
]

Damage = Callable[[bytearray, random.Random], None]


def flip(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 3, 20])):
        data[rng.randrange(len(data))] = rng.randrange(256)


def cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def drop(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice([1, 5, 50, 500])]


def insert(data: bytearray, rng: random.Random) -> None:
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.choice(HOSTILE)


def replace_word(data: bytearray, rng: random.Random) -> None:
    words = bytes(data).replace(b"\n", b" \n ").split(b" ")
    words[rng.randrange(len(words))] = rng.choice(HOSTILE)
    data[:] = b" ".join(words)


def repeat(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    data[start:start] = data[start : start + rng.choice([1, 10, 100])]


def swap_values(data: bytearray, rng: random.Random) -> None:
    """Another value in JSON, another word elsewhere."""
    separator = b"," if data[:1] == b"{" else b"\n"
    parts = bytes(data).split(separator)
    one, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    if rng.random() < 0.5 and b":" in parts[one]:
        parts[one] = parts[one].split(b":")[0] + b":" + rng.choice(HOSTILE)
    else:
        parts[one] = parts[other]
    data[:] = separator.join(parts)


def restructure_json(data: bytearray, rng: random.Random) -> None:
    """JSON that is still JSON: values are removed, doubled, or replaced by others."""
    root = json.loads(bytes(data))
    places = list(_places(root))
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        holder, key = rng.choice(places)
        other, other_key = rng.choice(places)
        try:
            match rng.randrange(5):
                case 0:
                    del holder[key]
                case 1 if isinstance(holder, list):
                    holder.insert(key, holder[key])
                case 1:
                    holder[str(rng.choice(VALUES))] = holder.pop(key)
                case 2:
                    holder[key] = json.loads(json.dumps(other[other_key]))
                case _:
                    holder[key] = rng.choice(VALUES)
        except (KeyError, IndexError):  # a change before took it away
            continue
    data[:] = json.dumps(root).encode()


def overwrite_number(data: bytearray, rng: random.Random) -> None:
    """JSON in which a number is negative, or fits no fixed size."""
    root = json.loads(bytes(data))
    holder, key = rng.choice([each for each in _places(root) if type(each[0][each[1]]) is int])
    holder[key] = rng.choice([1, -1]) * rng.choice([1, 5, 2**31, 2**53, 2**63, 2**64, 10**20])
    data[:] = json.dumps(root).encode()


def lead_outside(data: bytearray, rng: random.Random) -> None:
    """JSON in which a string is a path out of the folder."""
    root = json.loads(bytes(data))
    holder, key = rng.choice([each for each in _places(root) if isinstance(each[0][each[1]], str)])
    holder[key] = "../../outside"
    data[:] = json.dumps(root).encode()


def repeat_item(data: bytearray, rng: random.Random) -> None:
    """JSON in which a list holds an item many times more."""
    root = json.loads(bytes(data))
    lists = [(holder, key) for holder, key in _places(root) if isinstance(holder, list)]
    holder, key = rng.choice(lists)
    holder[key:key] = [holder[key]] * rng.choice([2, 8, 30, 200, 2000])
    data[:] = json.dumps(root).encode()


def _places(value: Any) -> Any:
    """Yield each value inside a value as what holds it and its key, the big lists' first only."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, inner in items[:40]:
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def restructure_protobuf(data: bytearray, rng: random.Random) -> None:
    """A message that is still one: fields are removed, doubled, moved, or hold something else."""
    data[:] = _restructured(bytes(data), rng)


def _restructured(message: bytes, rng: random.Random) -> bytes:
    fields = protobuf_fields(message)
    if not fields:
        return rng.choice(HOSTILE)
    place = rng.randrange(len(fields)) if rng.random() < 0.7 else len(fields) - 1
    number, wire, value = fields[place]
    match rng.randrange(6):
        case 0:
            del fields[place]
        case 1:
            fields.insert(rng.randrange(len(fields)), fields[place])
        case 2:
            fields[place] = (number, 2, rng.choice(HOSTILE))
        case 3:
            fields[place] = (number, 0, varint(rng.choice([0, 1, 2, 6, 7, 1000, 2**31, 2**63])))
        case 4 if wire == 5:
            fields[place] = (number, 5, rng.choice([b"\0\0\xc0\x7f", b"\0\0\x80\xff", b"\xff" * 4]))
        case 4:
            fields[place] = (rng.randrange(1, 60), wire, value)
        case _ if wire == 2:
            fields[place] = (number, 2, _restructured(value, rng))
    return b"".join(
        varint(number << 3 | wire) + (varint(len(value)) if wire == 2 else b"") + value
        for number, wire, value in fields
    )


def protobuf_fields(message: bytes) -> list[tuple[int, int, bytes]]:
    """Return the fields of a message: number, wire type, bytes; none where it is no message."""
    fields = []
    at = 0
    try:
        while at < len(message):
            tag, at = _read_varint(message, at)
            number, wire = tag >> 3, tag & 7
            if wire == 0:
                end = _read_varint(message, at)[1]
            elif wire == 2:
                size, at = _read_varint(message, at)
                end = at + size
            else:
                end = at + {1: 8, 5: 4}[wire]
            if end > len(message):
                return []
            fields.append((number, wire, message[at:end]))
            at = end
    except (IndexError, KeyError):
        return []
    return fields


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def varint(value: int) -> bytes:
    found = bytearray()
    while value >= 128:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def overwrite_count(data: bytearray, rng: random.Random) -> None:
    """A length or count, or any other eight bytes, becomes a number that does not fit."""
    at = rng.randrange(len(data) - 8)
    if rng.random() < 0.7:  # in GGUF, small numbers in eight bytes are lengths
        places = [i for i in range(len(data) - 8) if data[i] and not any(data[i + 2 : i + 8])]
        at = rng.choice(places)
    value = rng.choice([0, 1, 255, 2**16, 2**31, 2**32, 2**40, 2**62, 2**63, 2**64 - 1])
    data[at : at + 8] = value.to_bytes(8, "little")


def overwrite_type(data: bytearray, rng: random.Random) -> None:
    """Four bytes that look like a type become another type."""
    places = [i for i in range(len(data) - 4) if data[i] < 13 and not any(data[i + 1 : i + 4])]
    at = rng.choice(places)
    data[at : at + 4] = rng.randrange(14).to_bytes(4, "little")


ANY: list[Damage] = [flip, cut, drop, insert, repeat]
LINES: list[Damage] = [*ANY, replace_word, swap_values, swap_values]
JSON: list[Damage] = [*LINES, *[restructure_json] * 8, repeat_item]
PROTOBUF: list[Damage] = [*ANY, *[restructure_protobuf] * 5]
NUMBERS: list[Damage] = [overwrite_count, overwrite_type]
GGUF: list[Damage] = [*ANY, *NUMBERS * 3]

FRAMING = Framing((AddedToken("<|end|>", 266), AddedToken("<|pad|>", 267)))
TEMPLATED = Framing(FRAMING.added_tokens, prefix=(266,), suffix=(267,))


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        target: what is read, in the folder.
        format: its format.
        pipeline: what is in it.
        damage: what may happen to it.
        file: what is damaged, where that is one of several files.
        content: the file, where the format can only be read.
    """

    target: str
    format: str
    pipeline: Callable[[], Pipeline]
    damage: list[Damage]
    file: str = ""
    content: bytes | None = None


KINDS = {
    "minbpe": Kind(
        "a.model", "minbpe", lambda: pipeline("[a-z]+|[^a-z]", framing=FRAMING), LINES
    ),
    "tiktoken": Kind("a.tiktoken", "tiktoken", lambda: pipeline(None, framing=FRAMING), LINES),
    "tiktoken sidecar": Kind(
        "a.tiktoken", "tiktoken", lambda: pipeline("[a-z]+", framing=FRAMING), JSON,
        "a.tiktoken.json",
    ),
    "gpt2 ids": Kind(
        "folder", "gpt2", lambda: pipeline(framing=FRAMING), JSON, "folder/encoder.json"
    ),
    "gpt2 merges": Kind(
        "folder", "gpt2", lambda: pipeline(framing=FRAMING), LINES, "folder/vocab.bpe"
    ),
    "tokenizer.json": Kind(
        "a.json", "huggingface", lambda: pipeline("[a-z]+", framing=TEMPLATED), JSON
    ),
    **{
        f"tokenizer.json of {name}": Kind(
            "a.json", "huggingface", lambda name=name: PIPELINES[name], JSON
        )
        for name in (
            "wordpiece", "tokenizers' unigram", "plain sentencepiece-bpe", "character-bpe", "word",
            "all stages",
        )
    },
    "vocab.txt": Kind("a.txt", "wordpiece", bert, LINES),
    "tekken.json": Kind(
        "a.json", "tekken", pipeline, JSON, content=json.dumps(tekken()).encode()
    ),
    "sentencepiece bpe": Kind(
        "a.model", "sentencepiece", lambda: sentencepiece(byte_fallback=True), PROTOBUF
    ),
    "sentencepiece unigram": Kind(
        "a.model", "sentencepiece", lambda: sentencepiece(Unigram), PROTOBUF
    ),
    **{
        f"gguf of {name}": Kind("a.gguf", "gguf", pipeline, GGUF, content=gguf(values))
        for name, values in {
            "bytes": converted(pipeline(framing=FRAMING)),
            "words": converted(bert()),
            "bpe": converted(sentencepiece(byte_fallback=True)),
            "unigram": converted(sentencepiece(Unigram)),
            "characters": tokens_of(
                "gemma4", ["<s>", "a", "b", "▁", "ab", "▁a"],
                token_type=Array(INT32, [3, 1, 1, 1, 1, 1]), bos_token_id=0,
                merges=Array(STRING, ["a b", "▁ a"]),
            ),
        }.items()
    },
}  # fmt: skip
