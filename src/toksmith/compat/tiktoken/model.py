"""The encodings of models by the models' names."""

from __future__ import annotations

from toksmith._base.model_names import MODELS, PREFIXES
from toksmith.compat.tiktoken.core import Encoding
from toksmith.compat.tiktoken.registry import get_encoding

MODEL_TO_ENCODING: dict[str, str] = {
    model: encoding for encoding, models in MODELS.items() for model in models
} | {"gpt2": "gpt2"}
"""The name of each model's encoding."""

MODEL_PREFIX_TO_ENCODING: dict[str, str] = {
    prefix: encoding for encoding, prefixes in PREFIXES.items() for prefix in prefixes
}
"""The encoding of all models whose names start so."""


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding that a model uses.

    Args:
        model_name: the name of the model, with or without a date.

    Raises:
        KeyError: the model is unknown.

    Example:
        >>> encoding_name_for_model("gpt-4o-2024-05-13"), encoding_name_for_model("gpt-4")
        ('o200k_base', 'cl100k_base')
    """
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    longest_first = sorted(MODEL_PREFIX_TO_ENCODING.items(), key=lambda item: -len(item[0]))
    for prefix, encoding in longest_first:
        if model_name.startswith(prefix):
            return encoding
    raise KeyError(
        f"Could not automatically map {model_name} to a tokeniser. "
        "Please use `tiktoken.get_encoding` to explicitly get the tokeniser you expect."
    )


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding that a model uses; see :func:`encoding_name_for_model`.

    Args:
        model_name: the name of the model.

    Raises:
        KeyError: the model is unknown.
        toksmith.errors.DownloadError: the file is in no cache and cannot be downloaded.

    Example:
        >>> encoding_for_model("gpt-4").name    # doctest: +SKIP
        'cl100k_base'
    """
    return get_encoding(encoding_name_for_model(model_name))
