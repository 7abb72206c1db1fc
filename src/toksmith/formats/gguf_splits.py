"""How llama.cpp splits text for byte-pair models, by the name in ``tokenizer.ggml.pre``.

``toksmith/data/gguf_pre.json`` lists the names, their regular expressions and their rules. Where a
name runs code in llama.cpp and no expression (``kimi-k2``, ``afmoe``), the list has an expression
with the same chunks.
"""

from __future__ import annotations

from functools import cache

from toksmith._base.records import dataclass
from toksmith.splitters import PatternSplitter
from toksmith.splitters.names import llama_cpp_splits


@dataclass(frozen=True)
class PreTokenizer:
    """The rules of one name.

    Attributes:
        patterns: each cuts the chunks of the one before it into its matches and the text between.
        ignore_merges: a chunk that is a token is not merged.
        add_bos: the BOS token comes before a text if the file does not say.
        escape_whitespaces: spaces become ▁.
        bytes: tokens are bytes in GPT-2's alphabet, not text.
    """

    patterns: tuple[str, ...]
    ignore_merges: bool = False
    add_bos: bool = False
    escape_whitespaces: bool = False
    bytes: bool = True

    @property
    def splitter(self) -> PatternSplitter:
        """The splitter of the patterns."""
        return PatternSplitter(self.patterns[0], then=self.patterns[1:])


@cache
def pre_tokenizers() -> dict[str, PreTokenizer]:
    """Return the rules by name."""
    return {
        name: PreTokenizer(
            tuple(each["patterns"]),
            **{key: value for key, value in each.items() if key not in ("names", "patterns")},
        )
        for each in llama_cpp_splits()
        for name in each["names"]
    }
