"""A fast SentencePiece normalizer, which maps most texts character by character."""

from __future__ import annotations

import re

from toksmith.normalizers import SentencePieceNormalizer
from toksmith.reference.piece_rules import SPACE
from toksmith.stages.charsmap import CharacterMap, character_map
from toksmith.stages.normalize import normalize

_RUNS = """
300-304 306-30C 30F 311 313-314 31B 323-328 32D-32E 330-331 338 340-343 345 653-655 93C 9BE 9D7 B3E
B56-B57 BBE BD7 C56 CC2 CD5-CD6 D3E D57 DCA DCF DDF 102E 1161-1175 11A8-11C2 1B35 3099-309A 3133
3135-3136 313A-313F 314F-3163 FF9E-FF9F FFA3 FFA5-FFA6 FFAA-FFAF FFC2-FFC7 FFCA-FFCF FFD2-FFD7
FFDA-FFDC 110BA 11127 1133E 11357 113B8 113BB 113C2 113C9 114B0 114BA 114BD 115AF 11930 1611E-16120
16129 16D67
"""

LATER = "".join(
    chr(code)
    for first, _, last in (run.partition("-") for run in _RUNS.split())
    for code in range(int(first, 16), int(last or first, 16) + 1)
)
"""The characters after the first one in the keys of SentencePiece's own rules."""

_SPACES = re.compile("  +")


class QuickNormalizer:
    r"""A function that normalizes like :func:`toksmith.stages.normalize.normalize`, but faster.

    A text is mapped character by character if it holds no character of ``LATER``, with which a
    longer key could continue, and no first character of a user-defined symbol. Other texts, and
    all texts if the rules are the user's own, go to ``normalize``.

    Args:
        step: the normalizer; it must escape white space as ``▁``.

    Example:
        >>> QuickNormalizer(SentencePieceNormalizer())(" a  b ")
        '▁a▁b'
    """

    def __init__(self, step: SentencePieceNormalizer) -> None:
        self.step = step
        self._table = _Table(character_map(step.charsmap))
        hard = "".join(sorted({symbol[0] for symbol in step.protected}))
        if step.charsmap:
            hard += LATER
        self._hard = re.compile(f"[{re.escape(hard)}]" if hard else "(?!)")
        if step.charsmap and not step.name:
            self._hard = re.compile("")  # all texts

    def __call__(self, text: str) -> str:
        """Return the normalized text; surrogates are bytes of invalid UTF-8."""
        if self._hard.search(text):
            return normalize((self.step,), text)
        new = text.translate(self._table)
        if self.step.remove_extra_whitespaces:
            new = _SPACES.sub(" ", new).lstrip(" ").rstrip(" " + SPACE)
        if not new:  # the dummy space then depends on the original text
            return normalize((self.step,), text)
        if self.step.add_dummy_prefix:
            new = new + " " if self.step.whitespace_as_suffix else " " + new
        return new.replace(" ", SPACE)

    def ascii_letters(self) -> list[str]:
        """Return the ASCII character that each one is mapped to; ``""`` if there is none."""
        new = (self._table[code] for code in range(128))
        return [letter if len(letter) == 1 and letter.isascii() else "" for letter in new]


class _Table(dict[int, str]):
    """A table for ``str.translate``, filled on demand."""

    def __init__(self, charsmap: CharacterMap) -> None:
        super().__init__()
        self._map = charsmap

    def __missing__(self, code: int) -> str:
        if 0xD800 <= code < 0xE000:
            new = "\ufffd"
        else:
            found = self._map.longest(chr(code))
            new = chr(code) if found is None else found[1]
        self[code] = new
        return new
