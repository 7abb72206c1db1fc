"""The part of a text that each token covers, for models whose tokens are not the text itself."""

from __future__ import annotations

from toksmith._base.text import utf8
from toksmith._base.visible import visible_start
from toksmith.results import Encoding


def covered_texts(encoding: Encoding) -> list[str] | None:
    """Return the text that each token covers, in readable form; ``None`` if tokens are their text.

    Models of text spell tokens in their own way (``▁the``, ``##ing``, ``<0x0A>``), and some tokens
    cover no text: the mark before a text, or the tokens of a template.

    Args:
        encoding: the tokens.

    Example:
        >>> from toksmith._base.arrays import Span
        >>> from toksmith.results import Encoding
        >>> spans = [Span(0, 3), Span(3, 5)]
        >>> covered_texts(Encoding("aping", [7, 9], [b"ap", b"##ing"], spans, spans, [False] * 2))
        ['api', 'ng']
        >>> covered_texts(Encoding("aping", [7, 9], [b"api", b"ng"], spans, spans, [False] * 2))
    """
    if all(
        len(token) == end - start
        for token, (start, end) in zip(encoding.tokens, encoding.byte_spans.tolist(), strict=True)
    ):
        return None
    texts = (encoding.text, encoding.pair or "")
    places = zip(encoding.spans.tolist(), encoding.sequence, strict=True)
    return [visible_start(utf8(texts[which == 1][start:end])) for (start, end), which in places]
