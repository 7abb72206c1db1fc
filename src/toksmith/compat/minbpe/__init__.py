"""minbpe's interface: ``from toksmith.compat.minbpe import RegexTokenizer``.

``base``, ``basic``, ``regex`` and ``gpt4`` are modules here as they are there. toksmith's kernel
trains and encodes, with minbpe's merges and ids.

Example:
    >>> from toksmith.compat.minbpe import BasicTokenizer
    >>> tokenizer = BasicTokenizer()
    >>> tokenizer.train("aaabdaaabac", 256 + 3)
    >>> tokenizer.encode("aaabdaaabac")
    [258, 100, 258, 97, 99]
"""

from toksmith.compat.minbpe.base import Tokenizer
from toksmith.compat.minbpe.basic import BasicTokenizer
from toksmith.compat.minbpe.gpt4 import GPT4Tokenizer
from toksmith.compat.minbpe.regex import RegexTokenizer

__all__ = ["BasicTokenizer", "GPT4Tokenizer", "RegexTokenizer", "Tokenizer"]
