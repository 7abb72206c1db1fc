"""A bound on how much longer a normalizer or a decoder can make a text.

Steps multiply: 30 steps that replace ``a`` by ``aa`` make a billion characters of one. The bound is
computed from the last step to the first. The *cost* of a character is the number of characters that
it can become from a step on, so a replacement costs what its characters cost after it, and steps
that replace different characters do not multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toksmith import decoders, normalizers
from toksmith._base.checks import assert_never
from toksmith.formats.gap_patterns import may_be_empty

_FORMS = {"NFC": 3.0, "NFD": 4.0, "NFKC": 18.0, "NFKD": 18.0}
"""The maximum number of characters that one becomes (https://unicode.org/faq/normalization)."""

_UTF8_BYTES = 4.0
"""The maximum number of bytes of a character in UTF-8."""

_CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that start no character."""


def growth(steps: Iterable[normalizers.Step | decoders.Step]) -> float:
    """Return a bound of how many times as long a text can become.

    A text of ``n`` characters becomes at most ``n + 1`` times the bound; so does each token that
    a decoder gets.

    Args:
        steps: the steps of a normalizer or a decoder.

    Example:
        >>> doubled = normalizers.Replace("a", "aa")
        >>> growth((doubled,) * 10), growth((doubled, normalizers.Replace("b", "bb")))
        (1024.0, 2.0)
    """
    costs = _Costs()
    for step in reversed(tuple(steps)):
        costs.add_before(step)
    return max(costs.highest(), costs.fixed)


def _is_printable_ascii(character: str) -> bool:
    return " " <= character <= "~"


class _Costs:
    """The cost of each character before the steps that were added.

    Attributes:
        fixed: the cost of the characters that the steps put around a text of any length.
    """

    def __init__(self) -> None:
        self.fixed = 0.0
        self._known: dict[str, float] = {}
        self._other = 1.0

    def highest(self) -> float:
        """Return the highest cost of a character."""
        return max(self._other, *self._known.values()) if self._known else self._other

    def add_before(self, step: normalizers.Step | decoders.Step) -> None:
        """Change the costs to those before a step."""
        match step:
            case normalizers.Replace():
                self._replace(step.pattern, step.content, step.is_regex)
            case normalizers.UnicodeForm():
                self._multiply(_FORMS[step.form], str.isascii)
            case normalizers.Lowercase():
                self._lowercase()
            case normalizers.Bert():
                if step.lowercase:
                    self._lowercase()
                if step.strips_accents:
                    self._multiply(_FORMS["NFD"], str.isascii)
                if step.handle_chinese_chars:
                    self._multiply(1.0, str.isascii, added=2 * self._cost(" "))
                if step.clean_text:
                    self._multiply(1.0, _is_printable_ascii)
            case normalizers.Nmt():
                self._multiply(1.0, _is_printable_ascii)
            case normalizers.ByteLevel():
                self._multiply(_UTF8_BYTES, lambda c: c != " " and _is_printable_ascii(c))
            case normalizers.Prepend():
                self.fixed += self._cost(step.prefix)
            case normalizers.Precompiled():
                self._multiply(_longest_replacement(step.charsmap))
            case normalizers.SentencePieceNormalizer():
                self.fixed += self.highest()
                self._multiply(_longest_replacement(step.charsmap))
            case normalizers.Strip() | normalizers.StripAccents() | decoders.Strip():
                pass
            case decoders.BPEDecoder():
                self._replace(step.suffix, " ")
            case decoders.MetaspaceDecoder():
                self._replace(step.replacement, " ")
            case decoders.CTC():
                if step.cleanup:
                    self._replace(step.word_delimiter_token, " ")
                    self._multiply(1.0)
            case decoders.WordPieceDecoder():
                if step.cleanup:
                    self._multiply(1.0)
                self.fixed += self._cost(" ")
            case decoders.Fuse():
                self.fixed += self._cost(step.separator)
            case decoders.ByteFallback() | decoders.ByteLevelDecoder():
                self._multiply(1.0)
            case decoders.SentencePieceDecoder():
                self._multiply(_longest_replacement(step.charsmap))
                self.fixed += self._cost(step.unk_surface)
            case _:
                assert_never(step)

    def _cost(self, text: str) -> float:
        return sum((self._known.get(character, self._other) for character in text), 0.0)

    def _multiply(
        self, times: float, is_kept: Callable[[str], bool] | None = None, added: float = 0.0
    ) -> None:
        """Before a step that makes each character a number of others.

        Args:
            times: the maximum number.
            is_kept: whether the step keeps a character as it is. Default: it keeps none.
            added: the cost of the characters that it puts besides.
        """
        self._other = self.highest() * times + added
        self._known = {c: cost for c, cost in self._known.items() if is_kept and is_kept(c)}

    def _lowercase(self) -> None:
        self._known = {c: cost for c, cost in self._known.items() if c == c.lower()}
        dotted = self._cost("i\u0307")  # the only character that becomes two
        self._multiply(1.0, str.isascii)
        self._known["İ"] = dotted

    def _replace(self, pattern: str, content: str, is_regex: bool = False) -> None:
        cost = self._cost(content)
        if is_regex or not pattern:
            self._other = max(self.highest(), cost)
            self._known = {}
            is_known = pattern == normalizers.SEVERAL_SPACES  # needs no import of regex
            if not is_known and (may_be_empty(pattern) or r"\K" in pattern):
                # A match after each character, and one before the first.
                self._other += cost
                self.fixed += cost
            return
        for character in set(pattern):
            self._known[character] = max(self._cost(character), cost / len(pattern))


def _longest_replacement(charsmap: bytes) -> float:
    """Return the number of characters of the longest replacement of a map; 1 for no map."""
    texts = charsmap[4 + int.from_bytes(charsmap[:4], "little") :]
    return float(max(map(len, [b"_", *texts.translate(None, _CONTINUATION).split(b"\0")])))
