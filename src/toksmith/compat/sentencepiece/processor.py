"""``SentencePieceProcessor``: encodes and decodes with a SentencePiece model."""

from __future__ import annotations

from typing import Any

from toksmith._base.records import replace
from toksmith.compat.sentencepiece.decoding import Decoding
from toksmith.compat.sentencepiece.encoding import Encoding
from toksmith.compat.sentencepiece.forms import normalized_form
from toksmith.compat.sentencepiece.messages import message_classes
from toksmith.compat.sentencepiece.reading import set_switches
from toksmith.compat.sentencepiece.sampling import Sampling


class SentencePieceProcessor(Encoding, Sampling, Decoding):
    """A SentencePiece model that encodes and decodes; its options are defaults of later calls.

    Args:
        model_file: a ``.model`` file.
        model_proto: the content of one, instead of a file.
        out_type: the form of results: ``int`` (ids, the default), ``str`` or ``bytes`` (pieces),
            ``"proto"``, ``"serialized_proto"``, ``"immutable_proto"``, ``"numpy"`` or
            ``"offset_mapping"``.
        add_bos: put the piece ``<s>`` before the ids or pieces of a text.
        add_eos: put ``</s>`` after them.
        reverse: reverse them first.
        emit_unk_piece: spell an unknown piece ``<unk>``, not as the text that it covers.
        enable_sampling: draw a random segmentation.
        nbest_size: draw from this many of the best segmentations; -1 draws from all.
        alpha: the power of the probabilities; for BPE, the probability that a merge is skipped.
        num_threads: the number of threads of batches; -1 for the cores this process may use.
        return_type: another name of ``out_type``.

    Raises:
        RuntimeError, ValueError: the model is damaged or not supported, or options are wrong.
        OSError: there is no such file.
    """

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Return a text as the model sees it, or each of a list of texts.

        Args:
            input: a text, or a list of texts.
            with_offsets: return pairs: the text, and the place in the original of each of its
                characters (of each byte, for bytes), with that of its end.
        """
        return self._for_each(
            input, lambda text: normalized_form(self._model.normalize(text), text, with_offsets)
        )

    def override_normalizer_spec(self, **switches: Any) -> bool:
        """Change the normalizer.

        Args:
            switches: ``add_dummy_prefix``, ``remove_extra_whitespaces``, ``escape_whitespaces``.
        """
        message = message_classes()["ModelProto"].FromString(self._data)
        set_switches(message.normalizer_spec, switches)
        spec = message.normalizer_spec
        step = replace(
            self._model.normalizer,
            add_dummy_prefix=spec.add_dummy_prefix,
            remove_extra_whitespaces=spec.remove_extra_whitespaces,
            escape_whitespaces=spec.escape_whitespaces,
        )
        self._loaded = self._model.with_normalizer(step)
        self._data = message.SerializeToString(deterministic=True)
        return True

    Normalize, OverrideNormalizerSpec = normalize, override_normalizer_spec
