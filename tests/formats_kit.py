"""Small pipelines for the tests of formats."""

from __future__ import annotations

import numpy as np

from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, splitter

BYTES = tuple(bytes([byte]) for byte in range(256))
PAIRS = (
    *((b"t", b"h"), (b"th", b"e"), (b" ", b"the"), (b"\xc3", b"\xa9"), (b" ", b" ")),
    *((b"\n", b"\n"), (b"1", b"2"), (b"a", b"b"), (b"ab", b"ab"), (b"\x00", b"\xff")),
)
TEXTS = (
    *("the then  the\n\n  éé 1212 abab", "", " ", "a the<|end|>the", "don't WON'T ſ 'ſ x²½"),
    *(
        "日本語 テキスト 한국어 👩‍👩‍👧 é\u0301",
        "a  \n b\t\r\n ",
        "１２３४५ 123456 1,000.5",
        "\x00\x1c\x85\u2028z",
    ),
)


def model(pairs: tuple[tuple[bytes, bytes], ...] = PAIRS, whole: bool = False) -> BPE:
    """Bytes by value, then one token a merge."""
    vocab = [*BYTES, *(left + right for left, right in pairs)]
    ids = {token: i for i, token in enumerate(vocab)}
    rows = [(ids[left], ids[right], ids[left + right]) for left, right in pairs]
    return BPE(tuple(vocab), np.array(rows, np.uint32).reshape(-1, 3), whole)


def pipeline(
    split: str | PatternSplitter | None = "gpt2",
    special: dict[str, int] | None = None,
    framing: Framing | None = None,
    **options: object,
) -> Pipeline:
    cut = split if isinstance(split, PatternSplitter) else splitter(split)
    if framing is None:
        framing = Framing.of({"<|end|>": 266, "<|pad|>": 300} if special is None else special)
    return Pipeline(model(**options), cut, framing)  # type: ignore[arg-type]


def plain_token(content: str, token_id: int) -> Framing:
    return Framing((AddedToken(content, token_id, special=False),))


def with_whole(pipe: Pipeline) -> Pipeline:
    """The same, as tiktoken's reader gives it."""
    held = pipe.model
    return Pipeline(BPE(held.vocab, held.merges, True), pipe.splitter, pipe.framing)
