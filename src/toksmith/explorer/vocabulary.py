"""A vocabulary that can be searched and sorted, also with 200,000 tokens."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from toksmith._base.lazy import np, npt, regex
from toksmith.errors import OptionError
from toksmith.models import BPE, CharacterBPE
from toksmith.tokenizer import Tokenizer
from toksmith.vocabulary import TokenTable

TokenIds: TypeAlias = "npt.NDArray[np.int64]"

HOW = ("text", "bytes", "regex", "id")
"""The kinds of query: a part of the text, bytes in hex, a regular expression, an id or a range."""

SORTS = ("id", "longest", "shortest", "text", "rank")
KINDS = ("all", "special", "added", "partial", "space", "digits", "control", "unused")
"""The tokens to list; "partial" tokens are not valid UTF-8."""

_SECONDS = 5.0
"""The time limit of a regular expression in seconds."""

_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_PIECE_SPACE = "▁".encode()


class Vocabulary:
    """All tokens of a tokenizer, with indexes for searching.

    Args:
        tok: the tokenizer.

    Example:
        >>> import toksmith
        >>> vocabulary = Vocabulary(toksmith.train(texts=["low lower"], vocab_size=258))
        >>> [vocabulary.tokens[i] for i in vocabulary.search("ow", "text").tolist()]
        [b'low']
        >>> vocabulary.search("6c 6f", "bytes").tolist(), vocabulary.search("250-300", "id").size
        ([256, 257], 8)
    """

    def __init__(self, tok: Tokenizer) -> None:
        self.tok = tok
        self.tokens = TokenTable(tok.pipeline).tokens
        self.sizes = np.array(list(map(len, self.tokens)), np.int64)
        added = tok.pipeline.framing.added_tokens
        self.special = {token.id for token in added if token.special}
        self.added = {token.id for token in added} - self.special
        self.search = lru_cache(16)(self._search)

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def merges(self) -> npt.NDArray[np.uint32]:
        """The merges, shape ``(n, 3)``; none for models that have no list of them."""
        model = self.tok.pipeline.model
        if isinstance(model, BPE | CharacterBPE):
            return model.merges
        return np.zeros((0, 3), np.uint32)

    @cached_property
    def _first_merges(self) -> TokenIds:
        """The rank of the first merge that makes each token; -1 for none."""
        ranks = np.full(len(self), -1, np.int64)
        ranks[self.merges[::-1, 2]] = np.arange(len(self.merges))[::-1]
        return ranks

    @cached_property
    def scores(self) -> npt.NDArray[np.float64] | None:
        """The score of each piece; ``None`` where the model has none."""
        scores: Any = getattr(self.tok.pipeline.model, "scores", None)
        return None if scores is None else np.asarray(scores, np.float64)

    def rank(self, token_id: int) -> str:
        """Return the rank of a token's merge, or its score, as text; empty if it has neither."""
        if self._first_merges[token_id] >= 0:
            return f"merge {self._first_merges[token_id]:,}"
        if self.scores is not None and token_id < len(self.scores):
            return f"score {self.scores[token_id]:,.6g}".replace("-", "−")
        return ""

    def made_of(self, token_id: int) -> tuple[int, int] | None:
        """Return the two tokens that a token is merged from; ``None`` if no merge makes it."""
        rank = self._first_merges[token_id]
        if rank < 0:
            return None
        left, right, _ = self.merges[rank].tolist()
        return left, right

    def made_into(self, token_id: int) -> TokenIds:
        """Return the tokens that are merged from a token and another, the lowest rank first."""
        with_it = (self.merges[:, 0] == token_id) | (self.merges[:, 1] == token_id)
        made: TokenIds = self.merges[with_it, 2].astype(np.int64)
        return made

    def kind(self, token_id: int) -> str:
        """Return the kind of a token in a word; empty for plain text."""
        token = self.tokens[token_id]
        if token_id in self.special:
            return "special"
        if token_id in self.added:
            return "added"
        if not token:
            return "unused"
        return "" if _is_text(token) else "partial"

    def _search(
        self, query: str, how: str = "text", kind: str = "all", sort: str = "id"
    ) -> TokenIds:
        """Return the ids of the matching tokens, in order.

        Args:
            query: what to look for; an empty query matches all.
            how: the kind of query, one of :data:`HOW`.
            kind: the kind of tokens, one of :data:`KINDS`.
            sort: the order, one of :data:`SORTS`.

        Raises:
            OptionError: the query is invalid, or takes too long.
        """
        for name, value, known in (("how", how, HOW), ("kind", kind, KINDS), ("sort", sort, SORTS)):
            if value not in known:
                raise OptionError(f"{name} is {value!r}: use one of {known}")
        found = self._of_kind(kind)
        if query:
            found = found[self._matching(query, how, found)]
        ordered: TokenIds = found[self._order(found, sort)]
        return ordered

    def _of_kind(self, kind: str) -> TokenIds:
        if kind == "all":
            return np.flatnonzero(self.sizes)
        if kind == "unused":
            return np.flatnonzero(self.sizes == 0)
        if kind in ("special", "added"):
            return np.array(sorted(self.special if kind == "special" else self.added), np.int64)
        tests: dict[str, Callable[[bytes], bool]] = {
            "partial": lambda token: not _is_text(token),
            "space": lambda token: not token.replace(_PIECE_SPACE, b" ").strip(),
            "digits": lambda token: token.replace(_PIECE_SPACE, b"").strip().isdigit(),
            "control": lambda token: (
                (not token.isascii() and not _printable(token))
                or _CONTROL.search(token) is not None
            ),
        }
        test = tests[kind]
        return np.flatnonzero([bool(token) and test(token) for token in self.tokens])

    def _matching(self, query: str, how: str, among: TokenIds) -> npt.NDArray[np.bool_]:
        if how == "id":
            low, high = _id_range(query)
            return (among >= low) & (among <= high)
        if how == "regex":
            tokens = [self.tokens[i] for i in among.tolist()]
            return np.array(_regex_matches(query, tokens), np.bool_)
        needles = {_hex(query)} if how == "bytes" else _spellings(query)
        found = np.zeros(len(self), np.bool_)
        for needle in needles:
            found[self._holding(needle)] = True
        return found[among]

    def _holding(self, needle: bytes) -> TokenIds:
        """Return the ids of the tokens that contain some bytes."""
        data, starts = self._joined
        places = np.arange(len(data) - len(needle) + 1)
        for i, byte in enumerate(needle):
            places = places[data[places + i] == byte]
        holders = np.searchsorted(starts, places, "right") - 1
        inside = places + len(needle) <= starts[holders] + self.sizes[holders]
        return holders[inside]

    @cached_property
    def _joined(self) -> tuple[npt.NDArray[np.uint8], TokenIds]:
        """All tokens concatenated, and the start of each."""
        data = np.frombuffer(b"".join(self.tokens), np.uint8)
        return data, np.cumsum(self.sizes) - self.sizes

    def _order(self, found: TokenIds, sort: str) -> npt.NDArray[np.intp]:
        if sort in ("longest", "shortest"):
            sizes = self.sizes[found]
            return np.argsort(-sizes if sort == "longest" else sizes, kind="stable")
        if sort == "text":
            tokens = [self.tokens[i] for i in found.tolist()]
            return np.array(sorted(range(len(tokens)), key=tokens.__getitem__), np.intp)
        if sort == "rank" and len(self.merges):
            ranks = self._first_merges[found]
            return np.argsort(np.where(ranks < 0, len(self.merges), ranks), kind="stable")
        if sort == "rank" and self.scores is not None:
            padded = np.append(self.scores, np.full(len(self) - len(self.scores), -np.inf))
            return np.argsort(-padded[found], kind="stable")
        return np.arange(len(found))


def _is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def _printable(token: bytes) -> bool:
    return token.decode("utf-8", "replace").isprintable()


def _spellings(query: str) -> set[bytes]:
    """Return the spellings of a text in a vocabulary: with spaces, or with SentencePiece's mark."""
    return {query.encode(), query.replace(" ", "▁").encode()}


def _hex(query: str) -> bytes:
    try:
        found = bytes.fromhex(query.replace("0x", " ").replace(",", " "))
    except ValueError:
        raise OptionError(f"{query!r} is not bytes in hex, such as e2 82") from None
    if not found:
        raise OptionError(f"{query!r} is not bytes in hex, such as e2 82")
    return found


def _id_range(query: str) -> tuple[int, int]:
    low, dash, high = query.replace(",", "").replace("–", "-").partition("-")
    ends = [low.strip(), high.strip() if dash else low.strip()]
    if not all(end.isascii() and end.isdigit() and len(end) < 12 for end in ends):
        raise OptionError(f"{query!r} is not an id, nor a range such as 100-200")
    return int(ends[0]), int(ends[1])


def _regex_matches(query: str, tokens: Sequence[bytes]) -> list[bool]:
    try:
        search = regex.compile(query).search
    except (regex.error, OverflowError) as wrong:
        raise OptionError(f"the regular expression is wrong: {wrong}") from None
    ends = time.monotonic() + _SECONDS
    found: list[bool] = []
    try:
        for token in tokens:
            text = token.decode("utf-8", "replace")
            found.append(search(text, timeout=max(ends - time.monotonic(), 1e-3)) is not None)
    except TimeoutError:
        raise OptionError(f"the regular expression takes more than {_SECONDS:g} seconds") from None
    return found
