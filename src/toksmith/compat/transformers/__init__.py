"""transformers' tokenizers, run by toksmith.

After :func:`activate`, or in a process with ``TOKSMITH_TRANSFORMERS=1``, the fast tokenizers that
transformers loads encode with toksmith, with the same results: calls, batches, pairs, truncation,
padding, overflow, offsets, masks, words. All else they do as before, since each keeps its
``tokenizers.Tokenizer``. What toksmith cannot take, it encodes with that; :func:`engine_of` says
so, and why. Of transformers 4's slow tokenizers, ``GPT2Tokenizer`` and ``BertTokenizer`` take part.

Example:
    >>> import toksmith.compat.transformers as fast  # doctest: +SKIP
    >>> fast.activate()  # doctest: +SKIP
    >>> tokenizer = AutoTokenizer.from_pretrained("gpt2")  # doctest: +SKIP
    >>> fast.engine_of(tokenizer)  # doctest: +SKIP
    "toksmith: kernel, with gpt2's scanner"
"""

from __future__ import annotations

from toksmith.compat.transformers.activation import (
    accelerate,
    activate,
    active,
    deactivate,
    engine_of,
)
from toksmith.compat.transformers.backend import Backend

__all__ = ["Backend", "accelerate", "activate", "active", "deactivate", "engine_of"]
