"""Adapters of `sentencepiece` and `tokenizers` that load the same file as our tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import sentencepiece
import tokenizers

from toksmith import Tokenizer
from toksmith._base.byte_alphabet import spell
from toksmith.models import BPE

Ids = list[int]
Row = list[tuple[Any, ...]]
"""The tokens of a text with their spans."""


class Peer(Protocol):
    special: str
    """``special=`` of toksmith that treats literals of special tokens as the library does."""
    skips: tuple[bool, ...]
    """Whether its decoder can leave special tokens out: no, or no and yes."""
    pieces: list[str]
    groups: list[list[int]]
    """Ids of one kind each."""

    def __init__(self, path: Path) -> None: ...
    def encode(self, texts: Sequence[str], framed: bool = False) -> list[Ids]: ...
    def located(self, texts: Sequence[str]) -> list[Row]: ...
    def located_by(self, ours: Tokenizer, texts: Sequence[str]) -> list[Row]: ...
    def decode(self, lists: Sequence[Ids], skip_special_tokens: bool) -> list[str]: ...


class SentencePiece:
    """Tokens with their characters and bytes; of the unknown one its piece, not the text's.

    Of the byte pieces of a character sentencepiece gives all of it to the last one, and nothing to
    the others; ours give it to each, and of its bytes to each one. Here each has all of both.
    """

    special = "text"
    skips = (False,)

    def __init__(self, path: Path) -> None:
        self._model = sp = sentencepiece.SentencePieceProcessor(model_file=str(path), num_threads=1)
        every = range(sp.get_piece_size())
        self.pieces = [sp.id_to_piece(i) for i in every]
        self._continues = [sp.is_byte(i) and self.pieces[i][3] in "89AB" for i in every]
        groups = [
            list(every),
            [i for i in every if sp.is_control(i) or sp.is_unknown(i)],
            [i for i in every if sp.is_byte(i)],
            [i for i in every if self.pieces[i].startswith("▁")],
            [i for i in every if not self.pieces[i].strip("▁")],
        ]
        self.groups = [group for group in groups if group]

    def encode(self, texts: Sequence[str], framed: bool = False) -> list[Ids]:
        found: list[Ids] = self._model.encode(list(texts), add_bos=framed)
        return found

    def located(self, texts: Sequence[str]) -> list[Row]:
        return [self._row(text) for text in texts]

    def _row(self, text: str) -> Row:
        characters = self._model.encode(text, return_type="offset_mapping")
        data = self._model.encode(text.encode(), return_type="offset_mapping")
        ids = characters["ids"]
        places = [self._united(ids, each["offsets"]) for each in (characters, data)]
        return list(zip((self.pieces[i] for i in ids), *places, strict=True))

    def located_by(self, ours: Tokenizer, texts: Sequence[str]) -> list[Row]:
        rows = []
        for each in map(ours.encoding, texts):
            tokens, spans = map(bytes.decode, each.tokens), map(tuple, each.spans.tolist())
            data = self._united(each.ids, list(map(tuple, each.byte_spans.tolist())))
            rows.append(list(zip(tokens, spans, data, strict=True)))
        return rows

    def _united(self, ids: Ids, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the spans, of the byte pieces of one character what they cover together."""
        united = list(spans)
        for i in range(1, len(ids)):
            if self._continues[ids[i]]:
                united[i] = united[i - 1][0], spans[i][1]
        for i in reversed(range(1, len(ids))):
            if self._continues[ids[i]]:
                united[i - 1] = united[i]
        return united

    def decode(self, lists: Sequence[Ids], skip_special_tokens: bool) -> list[str]:
        return [self._model.decode(ids) for ids in lists]


class HuggingFace:
    """Tokens with their characters, those of the template without; never truncated or padded."""

    special = "encode"
    skips = (False, True)

    def __init__(self, path: Path) -> None:
        self._model = tokenizers.Tokenizer.from_file(str(path))
        self._model.no_truncation()
        self._model.no_padding()
        every = range(self._model.get_vocab_size())
        self.pieces = [self._model.id_to_token(i) or "" for i in every]
        added = self._model.get_added_tokens_decoder()
        groups = [
            list(every),
            list(added),
            [i for i in every if self.pieces[i][:1] in ("▁", "Ġ", "#")],
            [i for i in every if not self.pieces[i].isalnum()],
        ]
        self.groups = [group for group in groups if group]

    def encode(self, texts: Sequence[str], framed: bool = False) -> list[Ids]:
        found = self._model.encode_batch_fast(list(texts), add_special_tokens=framed)
        return [each.ids for each in found]

    def located(self, texts: Sequence[str]) -> list[Row]:
        return [
            [
                (token, None if sequence is None else span)
                for token, sequence, span in zip(
                    each.tokens, each.sequence_ids, each.offsets, strict=True
                )
            ]
            for each in self._model.encode_batch(list(texts))
        ]

    def located_by(self, ours: Tokenizer, texts: Sequence[str]) -> list[Row]:
        spelled = spell if isinstance(ours.pipeline.model, BPE) else bytes.decode
        return [
            [
                (spelled(token), None if sequence < 0 else tuple(span))
                for token, sequence, span in zip(
                    each.tokens, each.sequence, each.spans.tolist(), strict=True
                )
            ]
            for each in (
                ours.encoding(text, special="encode", add_special_tokens=True) for text in texts
            )
        ]

    def decode(self, lists: Sequence[Ids], skip_special_tokens: bool) -> list[str]:
        found: list[str] = self._model.decode_batch(lists, skip_special_tokens=skip_special_tokens)
        return found
