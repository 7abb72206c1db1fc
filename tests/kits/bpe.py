"""Small pipelines for the tests of formats."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np

from toksmith.decoders import WordPieceDecoder
from toksmith.framing import AddedToken, Framing, Template, TextPart, TokenPart
from toksmith.models import BPE, WordPiece
from toksmith.normalizers import Bert
from toksmith.pipeline import Pipeline
from toksmith.splitters import BertSplitter, PatternSplitter, splitter

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


def tekken(version: str = "v11") -> dict[str, Any]:
    """What a tekken.json holds: three special tokens, one without a name, and two merges."""
    tokens = [*BYTES, b"ab", b"abab", b"left out"]
    return {
        "config": {
            "pattern": "[a-z]+|[^a-z]+",
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": 261,
            "default_num_special_tokens": 3,
            "version": version,
        },
        "vocab": [
            {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
        "special_tokens": [
            {"rank": rank, "token_str": token, "is_control": True}
            for rank, token in enumerate(("<unk>", "<s>"))
        ],
    }


BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er", "é", "[Unused]")


def bert(tokens: tuple[str, ...] = BERT, **model: Any) -> Pipeline:
    """BERT's pipeline with these tokens."""
    ids = {token: i for i, token in enumerate(tokens)}
    added = tuple(AddedToken(token, ids[token]) for token in BERT[:5] if token in ids)
    single = (TextPart("A"),)
    pair = (TextPart("A"), TextPart("B", 1))
    if "[CLS]" in ids:
        single = (TokenPart(2), *single, TokenPart(3))
        pair = (*single, TextPart("B", 1), TokenPart(3, 1))
    return Pipeline(
        WordPiece(
            tuple(token.encode("utf-8", "surrogateescape") for token in tokens),
            **({"unk_id": ids["[UNK]"]} | model),
        ),
        BertSplitter(),
        Framing(added, template=Template(single, pair)),
        normalizer=(Bert(),),
        decoder=(WordPieceDecoder(),),
    )
