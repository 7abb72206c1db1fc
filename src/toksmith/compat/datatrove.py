"""The tokenizer of datatrove's pipeline steps, run by toksmith."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from toksmith.errors import UnknownTokenError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.results import Encoding
from toksmith.tokenizer import Tokenizer


class PipelineTokenizer:
    """What datatrove's steps call of a ``tokenizers.Tokenizer``.

    Set it as the attribute ``tokenizer`` of a step, such as ``TokensCounter`` or
    ``DocumentTokenizer``; it goes to the workers with the step.

    Args:
        tokenizer: a :class:`toksmith.Tokenizer`, a path, or a name for :func:`toksmith.load`.
        eos_token: the token after each document, in place of the tokenizer's template, as
            datatrove's own argument of this name; ``None`` keeps the template.

    Raises:
        OptionError: there is no such tokenizer or token.

    Example:
        >>> tok = PipelineTokenizer("toksmith-small", eos_token="<|endoftext|>")
        >>> [row.ids for row in tok.encode_batch(["It was", ""])]
        [[1377, 360, 16382], [16382]]
    """

    def __init__(self, tokenizer: AnyTokenizer, eos_token: str | None = None) -> None:
        tok = tokenizer_of(tokenizer)
        self._tok = tok if eos_token is None else tok.with_template(eos=eos_token)

    def encode_batch(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the tokens of each text. Literals of special tokens become these tokens."""
        batch = self._tok.encode_batch(texts, special="encode", add_special_tokens=True)
        return [
            Encoded(self._tok, text, ids) for text, ids in zip(texts, batch.to_lists(), strict=True)
        ]

    def encode(self, text: str) -> Encoded:
        """Return the tokens of a text; see :meth:`encode_batch`."""
        return self.encode_batch([text])[0]

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids."""
        return self._tok.decode(list(ids), skip_special_tokens=skip_special_tokens)

    def get_vocab_size(self) -> int:
        """Return the number of ids, from which datatrove chooses two or four bytes for each."""
        return len(self._tok)

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token as the vocabulary spells it; ``None`` if there is none."""
        try:
            return self._tok.id_of_spelling(token)
        except UnknownTokenError:
            return None


class Encoded:
    """The tokens of a text. All but the ids are made at their first use.

    Attributes:
        ids: the ids.
    """

    def __init__(self, tok: Tokenizer, text: str, ids: list[int]) -> None:
        self.ids = ids
        self._tok, self._text = tok, text

    @property
    def tokens(self) -> list[str]:
        """The tokens as the vocabulary spells them."""
        return [self._tok.spelling(token_id) for token_id in self.ids]

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The characters ``(start, end)`` that each token touches."""
        return [(start, end) for start, end in self._encoding.spans.tolist()]

    def char_to_token(self, char_pos: int) -> int | None:
        """Return the index of the first token that touches a character; ``None`` for none."""
        return self._encoding.char_to_token(char_pos)

    @cached_property
    def _encoding(self) -> Encoding:
        return self._tok.encoding(self._text, special="encode", add_special_tokens=True)
