"""The tokenizer classes of ``transformers``: what each makes of its vocabulary files.

A folder without tokenizer.json holds the vocabulary alone; the class in ``tokenizer_config.json``
determines the normalizer, the pre-tokenizer, the special tokens and the template. The rules are
those of ``transformers`` 5 (``models/*/tokenization_*.py``), which builds a ``tokenizers`` pipeline
for each class. So every class is written as the parts of a tokenizer.json.
"""

from __future__ import annotations

from toksmith.formats.huggingface import piece_classes, word_classes
from toksmith.formats.huggingface.class_rules import TokenizerClass

CLASSES: dict[str, TokenizerClass] = word_classes.CLASSES | piece_classes.CLASSES
"""The classes whose vocabulary files toksmith reads, by name."""

ALIASES: dict[str, str] = {
    alias: name
    for name, aliases in {
        "GPT2Tokenizer": ("CodeGenTokenizer",),
        "RobertaTokenizer": (
            *("BartTokenizer", "LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"),
        ),
        "BertTokenizer": (
            *("ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"),
            *("LayoutLMTokenizer", "LxmertTokenizer", "MobileBertTokenizer", "NezhaTokenizer"),
            *("RealmTokenizer", "RetriBertTokenizer", "SqueezeBertTokenizer"),
        ),
        "DPRQuestionEncoderTokenizer": ("DPRContextEncoderTokenizer", "DPRReaderTokenizer"),
        "Qwen2Tokenizer": ("Qwen3Tokenizer",),
    }.items()
    for alias in aliases
}
"""Further names of the classes."""


ANY_FILE = (
    *("PreTrainedTokenizer", "TokenizersBackend", "PythonBackend", "SentencePieceBackend"),
    *("BertGenerationTokenizer", "BloomTokenizer", "MistralCommonBackend", "ParakeetTokenizer"),
)
"""Classes without rules of their own: the vocabulary file alone determines the tokenizer."""


def find_class(name: str) -> TokenizerClass | None:
    """Return the rules of a class; ``None`` if toksmith does not know its vocabulary files."""
    return CLASSES.get(ALIASES.get(name, name))
