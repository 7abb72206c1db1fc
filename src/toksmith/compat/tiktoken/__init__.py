"""tiktoken's interface: ``import toksmith.compat.tiktoken as tiktoken``.

The ids are tiktoken's. Vocabularies come from the caches of toksmith and tiktoken, else from the
network. ``core``, ``load``, ``model`` and ``registry`` are modules here as they are there.

Example:
    >>> import toksmith.compat.tiktoken as tiktoken
    >>> enc = tiktoken.get_encoding("toksmith-small")
    >>> enc.encode("hello <|endoftext|>", allowed_special="all")
    [12700, 111, 32, 16382]
"""

from toksmith.compat.tiktoken.core import Encoding
from toksmith.compat.tiktoken.model import encoding_for_model, encoding_name_for_model
from toksmith.compat.tiktoken.registry import get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "__version__",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

__version__ = "0.14.0"
"""The version of tiktoken whose interface this is."""
