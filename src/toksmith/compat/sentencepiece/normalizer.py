"""``SentencePieceNormalizer``: a normalizer without a model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from toksmith._base.text import utf8
from toksmith.compat.sentencepiece.failures import MissingFileError, SentencePieceError
from toksmith.compat.sentencepiece.forms import normalized_form
from toksmith.compat.sentencepiece.messages import message_classes
from toksmith.compat.sentencepiece.normalized_text import normalize_with_origins
from toksmith.compat.sentencepiece.reading import read_file, serialized_bytes
from toksmith.engine import portable
from toksmith.errors import FormatError, OptionError
from toksmith.normalizers import SentencePieceNormalizer as Step
from toksmith.stages.charsmap import character_map
from toksmith.stages.charsmap_building import compile_charsmap
from toksmith.stages.charsmap_rules import charsmap_from_tsv, charsmap_of


class SentencePieceNormalizer:
    """SentencePiece's normalization of texts, from a model, rules or a map.

    The three switches are off by default, as in SentencePiece 0.2.1; ``None`` takes them from the
    model or the specification, as 0.2.3 does.

    Args:
        model_file: a ``.model`` file.
        model_proto: the content of one, or a message ``ModelProto``.
        rule_tsv: a file of rules, one ``HEX HEX …<TAB>HEX HEX …`` per line.
        rule_name: ``nmt_nfkc``, ``nfkc``, ``nmt_nfkc_cf``, ``nfkc_cf`` or ``identity``.
        add_dummy_prefix: put a space before each text.
        escape_whitespaces: write ▁ for a space.
        remove_extra_whitespaces: drop spaces at the ends, and make one of several.
        norm_map: pairs of a text and its replacement.
        normalizer_spec: a message ``NormalizerSpec``, or its bytes.

    Raises:
        RuntimeError, ValueError: no source is given, or it is wrong.
        OSError: there is no such file.
    """

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: Any = None,
        rule_tsv: str | os.PathLike[str] | None = None,
        rule_name: str | None = None,
        add_dummy_prefix: bool | None = False,
        escape_whitespaces: bool | None = False,
        remove_extra_whitespaces: bool | None = False,
        norm_map: Iterable[tuple[str | bytes, str | bytes]] | None = None,
        normalizer_spec: Any = None,
    ) -> None:
        self._spec = message_classes()["NormalizerSpec"]()
        if model_file:
            self._spec = _spec_of(read_file(model_file))
        elif model_proto:
            self._spec = _spec_of(serialized_bytes(model_proto))
        elif normalizer_spec:
            self._spec = _parsed("NormalizerSpec", serialized_bytes(normalizer_spec))
        elif rule_tsv:
            self._spec.name = "user_defined"
            self._spec.normalization_rule_tsv = os.fspath(rule_tsv)
            self._spec.precompiled_charsmap = _charsmap_of_file(rule_tsv)
        elif rule_name:
            self._spec.name = rule_name
            try:
                self._spec.precompiled_charsmap = charsmap_of(rule_name)
            except OptionError as wrong:
                raise SentencePieceError(str(wrong)) from wrong
        elif norm_map is not None:
            self._spec.precompiled_charsmap = _charsmap_of_pairs(norm_map)
        else:
            raise SentencePieceError(
                "no model is specified: give model_file, rule_name or another source"
            )
        for name, value in (
            ("add_dummy_prefix", add_dummy_prefix),
            ("escape_whitespaces", escape_whitespaces),
            ("remove_extra_whitespaces", remove_extra_whitespaces),
        ):
            if value is not None:
                setattr(self._spec, name, bool(value))
        self._step = _step_of(self._spec)

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Return a normalized text, or each of a list of texts.

        Args:
            input: a text, or a list of texts.
            with_offsets: return pairs: the text, and the place in the original of each of its
                characters (of each byte, for bytes), with that of its end.
        """
        if isinstance(input, list):
            return [self.normalize(text, with_offsets) for text in input]
        return normalized_form(normalize_with_origins(self._step, utf8(input)), input, with_offsets)

    def decompile(self) -> list[tuple[str, str]]:
        """Return the pairs of a text and its replacement, sorted."""
        if not self._spec.precompiled_charsmap:
            raise SentencePieceError(
                "the normalizer has no map of characters: nothing can be decompiled"
            )
        return sorted(character_map(self._spec.precompiled_charsmap).entries.items())

    def serialized_normalizer_spec(self) -> bytes:
        """Return the message ``NormalizerSpec``."""
        data: bytes = self._spec.SerializeToString(deterministic=True)
        return data

    def serialized_model_proto(self) -> bytes:
        """Return a message ``ModelProto`` that holds the normalizer alone."""
        model = message_classes()["ModelProto"](normalizer_spec=self._spec)
        data: bytes = model.SerializeToString(deterministic=True)
        return data

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, state: bytes) -> None:
        self._spec = _spec_of(state)
        self._step = _step_of(self._spec)

    Normalize, Decompile = normalize, decompile


def _spec_of(model: bytes) -> Any:
    return _parsed("ModelProto", model).normalizer_spec


def _parsed(name: str, data: bytes) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return message_classes()[name].FromString(data)
    except DecodeError as wrong:
        raise SentencePieceError(f"not a message {name}: {wrong}") from wrong


def _step_of(spec: Any) -> Step:
    try:
        portable.check_character_map(spec.precompiled_charsmap)
    except (FormatError, OptionError) as wrong:
        raise SentencePieceError(str(wrong)) from wrong
    return Step(
        spec.precompiled_charsmap,
        spec.add_dummy_prefix,
        spec.remove_extra_whitespaces,
        spec.escape_whitespaces,
    )


def _charsmap_of_file(path: str | os.PathLike[str]) -> bytes:
    try:
        return charsmap_from_tsv(read_file(path).decode())
    except MissingFileError:
        raise
    except (OptionError, UnicodeDecodeError) as wrong:
        raise SentencePieceError(f"{os.fspath(path)}: {wrong}") from wrong


def _charsmap_of_pairs(pairs: Iterable[tuple[str | bytes, str | bytes]]) -> bytes:
    entries: dict[str, str] = {}
    try:
        for source, target in pairs:
            key, value = (utf8(each).decode() for each in (source, target))
            if key in entries or key == value:
                raise SentencePieceError(
                    f"norm_map: {key!r:.80} occurs twice, or stays as it is: leave it out"
                )
            entries[key] = value
        return compile_charsmap(entries)
    except (OptionError, UnicodeDecodeError) as wrong:
        raise SentencePieceError(f"norm_map: {wrong}") from wrong
