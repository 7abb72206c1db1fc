"""tiktoken's ``Encoding``: ranks, a split pattern and special tokens, run by a Tokenizer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from toksmith._base.arrays import IdArray
from toksmith._base.lazy import np, regex
from toksmith._base.text import utf8
from toksmith._base.threads import thread_count
from toksmith.compat.tiktoken.ranks import ranked_pipeline
from toksmith.compat.tiktoken.unstable import completions, last_chunk
from toksmith.errors import OptionError, UnknownTokenError
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.tokenizer import Tokenizer

if TYPE_CHECKING:
    from toksmith._base.arrays import OffsetArray

Allowed: TypeAlias = "Literal['all'] | AbstractSet[str]"
Disallowed: TypeAlias = "Literal['all'] | Collection[str]"

_MOST = 2**32
_NONE: frozenset[str] = frozenset()

REGISTERED: dict[str, Encoding] = {}
"""The encodings that get_encoding() has made, by name; pickles hold only their names."""

find_registered: list[Callable[[str], Encoding]] = []
"""The function that finds an encoding by name, which the registry adds."""


class Encoding:
    r"""A vocabulary of ranks with a split pattern and special tokens, as tiktoken has it.

    Args:
        name: its name, which its representation shows.
        pat_str: the split pattern; text between its matches is dropped.
        mergeable_ranks: the rank, which is the id, of each token by its bytes. Of all pairs of
            neighbours whose bytes together are a token, the one of the lowest rank merges first.
        special_tokens: the ids of special tokens by literal.
        explicit_n_vocab: the number of all tokens, if it is to be checked.

    Raises:
        ValueError: two tokens have one rank, or the pattern does not compile.
        AssertionError: the number of tokens is not ``explicit_n_vocab``, or ids have gaps.

    Example:
        >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"lo": 256, b"low": 257}
        >>> end = {"<e>": 258}
        >>> enc = Encoding("low", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens=end)
        >>> enc, enc.encode("low lo"), enc.n_vocab
        (<Encoding 'low'>, [257, 32, 256], 259)
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        pipeline, outer = ranked_pipeline(mergeable_ranks, special_tokens, pat_str)
        self._set_up(name, pat_str, special_tokens, Tokenizer(pipeline), outer)
        self._mergeable_ranks = mergeable_ranks
        self.max_token_value = max(
            max(mergeable_ranks.values()), max(special_tokens.values(), default=0)
        )
        if explicit_n_vocab:
            found = len(mergeable_ranks) + len(special_tokens)
            if found != explicit_n_vocab or self.max_token_value != explicit_n_vocab - 1:
                raise AssertionError(
                    f"explicit_n_vocab is {explicit_n_vocab}, but there are {found} tokens with "
                    f"ids up to {self.max_token_value}"
                )

    def _set_up(
        self,
        name: str,
        pat_str: str,
        special_tokens: dict[str, int],
        tokenizer: Tokenizer,
        outer: OffsetArray | None,
    ) -> None:
        self.name = name
        self._pat_str = pat_str
        self._special_tokens = special_tokens
        self._tokenizer = tokenizer
        self._outer = outer
        self._inner = (
            None if outer is None else {i: place for place, i in enumerate(outer.tolist())}
        )
        self._has_all = frozenset(special_tokens)
        self._special_ids = frozenset(special_tokens.values())

    @classmethod
    def of(cls, name: str, pipeline: Pipeline) -> Encoding:
        """Return the encoding of a published pipeline; its ranks are listed on first use.

        Args:
            name: its name.
            pipeline: byte-level BPE with a split pattern and special tokens.

        Example:
            >>> import toksmith
            >>> Encoding.of("small", toksmith.get("toksmith-small").pipeline).n_vocab
            16384
        """
        self = cls.__new__(cls)
        special = {token.content: token.id for token in pipeline.framing.added_tokens}
        pattern: str = pipeline.splitter.pattern  # type: ignore[union-attr]
        self._set_up(name, pattern, special, Tokenizer(pipeline), None)
        self.max_token_value = self._tokenizer.vocab_size - 1
        return self

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        vocab = self._tokenizer.pipeline.model.vocab
        return {token: token_id for token_id, token in enumerate(vocab) if token}

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text in which special tokens are plain text.

        Args:
            text: the text.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_ordinary("hello world")
            [12700, 111, 1683]
        """
        if type(text) is not str:
            _check_text(text)
        ids = self._tokenizer.encode(text)
        return ids if self._outer is None else self._own(ids)

    def encode(
        self,
        text: str,
        *,
        allowed_special: Allowed = _NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[int]:
        """Return the ids of a text; by default, a text that holds a special token is an error.

        Args:
            text: the text.
            allowed_special: the special tokens that become their ids; ``"all"`` for all of them.
                Other strings in the set have no effect.
            disallowed_special: the strings that may not occur in the text; ``"all"`` for the
                special tokens that are not allowed, ``()`` for none.

        Raises:
            ValueError: the text holds a disallowed string.
            TypeError: ``text`` is no str, or ``allowed_special`` is no set.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> enc = get_encoding("toksmith-small")
            >>> enc.encode("<|endoftext|>", allowed_special={"<|endoftext|>"})
            [16382]
        """
        allowed = self._check_special(text, allowed_special, disallowed_special)
        if not allowed:
            return self.encode_ordinary(text)
        ids = self._tokenizer.encode(text, special=allowed)
        return ids if self._outer is None else self._own(ids)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Allowed = _NONE,
        disallowed_special: Disallowed = "all",
    ) -> IdArray:
        """Return the ids of a text as a uint32 array; see :meth:`encode`.

        Args:
            text: the text.
            allowed_special: see :meth:`encode`.
            disallowed_special: see :meth:`encode`.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_to_numpy("hello world")
            array([12700,   111,  1683], dtype=uint32)
        """
        allowed = self._check_special(text, allowed_special, disallowed_special)
        ids = self._tokenizer.encode_array(text, special=allowed)
        return ids if self._outer is None else np.array(self._own(ids), np.uint32)

    def encode_ordinary_batch(
        self, text: list[str], *, num_threads: int | None = 8
    ) -> list[list[int]]:
        """Return the ids of many texts; see :meth:`encode_ordinary`.

        Args:
            text: the texts.
            num_threads: the most threads to use.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_ordinary_batch(["hello", " world"])
            [[12700, 111], [1683]]
        """
        return self._encode_batch(_checked_texts(text), _NONE, num_threads)

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int | None = 8,
        allowed_special: Allowed = _NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Return the ids of many texts; see :meth:`encode`.

        Args:
            text: the texts.
            num_threads: the most threads to use.
            allowed_special: see :meth:`encode`.
            disallowed_special: see :meth:`encode`.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_batch(["hello", " world"])
            [[12700, 111], [1683]]
        """
        texts = _checked_texts(text)
        allowed, disallowed = self._special(allowed_special, disallowed_special)
        if disallowed:
            for each in texts:
                _refuse(each, disallowed)
        return self._encode_batch(texts, allowed, num_threads)

    def _encode_batch(
        self, texts: list[str], allowed: frozenset[str], num_threads: int | None
    ) -> list[list[int]]:
        batch = self._tokenizer.encode_batch(
            texts, special=allowed or "text", threads=_threads(num_threads)
        )
        lists = batch.to_lists()
        return lists if self._outer is None else list(map(self._own, lists))

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Allowed = _NONE,
        disallowed_special: Disallowed = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that more text cannot change, and the ids that may come after them.

        Args:
            text: the start of a text.
            allowed_special: see :meth:`encode`.
            disallowed_special: see :meth:`encode`.

        Returns:
            The stable ids, and the possible continuations: each begins with the rest of the text,
            and has no more ids than needed for that. Their order is not defined.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> stable, others = get_encoding("toksmith-small").encode_with_unstable("hello wor")
            >>> stable, [1683] in others
            ([12700, 111], True)
        """
        allowed = self._check_special(text, allowed_special, disallowed_special)
        ids = self.encode(text, allowed_special=allowed, disallowed_special=())
        last = self._unstable_length(ids, utf8(text), allowed)
        stable, rest = ids[: len(ids) - last], ids[len(ids) - last :]
        if not rest:
            return stable, []
        found = completions(
            self.decode_bytes(rest),
            self.token_byte_values(),
            self._mergeable_ranks,
            self.encode_ordinary_batch,
            self._merge,
        )
        return stable, [list(each) for each in found]

    def _unstable_length(self, ids: list[int], data: bytes, allowed: frozenset[str]) -> int:
        """Return the number of ids at the end that more text may change.

        They come from the last chunk, and from white space before it if it is white space too.
        """
        chunk = last_chunk(self._tokenizer.pipeline, data, allowed)
        if not chunk:
            return 0
        last = len(self._encode_single_piece(chunk))
        spaces = self._space_ids
        if ids[len(ids) - last] in spaces:
            while last < len(ids) and ids[len(ids) - last - 1] in spaces:
                last += 1
        return last

    @cached_property
    def _space_ids(self) -> frozenset[int]:
        ranks = self._mergeable_ranks.items()
        return frozenset(token_id for token, token_id in ranks if not token.strip(b" \n\t"))

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of a token, special or not.

        Args:
            text_or_bytes: the token.

        Raises:
            KeyError: there is no such token.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_single_token(" world")
            1683
        """
        token = _bytes_of(text_or_bytes)
        found = self._mergeable_ranks.get(token)
        if found is None:
            found = self._special_tokens.get(token.decode("utf-8", "surrogateescape"))
        if found is None:
            raise KeyError(token)
        return found

    # Decoding

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of ids.

        Args:
            tokens: the ids.

        Raises:
            KeyError: no token has one of the ids.
            OverflowError: an id is negative, or 2**32 or more.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_bytes([12700, 111])
            b'hello'
        """
        if self._outer is None:
            try:
                return self._tokenizer.decode_bytes(tokens)
            except (UnknownTokenError, OptionError):
                pass  # the loop below raises tiktoken's errors
        return b"".join(self._each_token(tokens))

    def _each_token(self, tokens: Sequence[int]) -> Iterable[bytes]:
        for token in tokens:
            data = self._decoder.get(_id(token))
            if data is None:
                raise KeyError(f"Invalid token for decoding: {token}")
            yield data

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text of ids.

        Args:
            tokens: the ids.
            errors: the handler of invalid UTF-8, as in :meth:`bytes.decode`.

        Raises:
            KeyError, OverflowError: see :meth:`decode_bytes`.
            UnicodeDecodeError: ``errors="strict"`` and the bytes are invalid UTF-8.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode([12700, 111, 1683])
            'hello world'
        """
        return self.decode_bytes(tokens).decode("utf-8", errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token, special or not.

        Args:
            token: its id.

        Raises:
            KeyError: no token has this id.
            OverflowError: the id is negative, or 2**32 or more.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_single_token_bytes(1683)
            b' world'
        """
        data = self._decoder.get(_id(token))
        if data is None:
            raise KeyError(str(token))
        return data

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each id; see :meth:`decode_single_token_bytes`.

        Args:
            tokens: the ids.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_tokens_bytes([12700, 111])
            [b'hell', b'o']
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text of ids, and the character at which each token starts.

        A token that starts inside a character starts at that character.

        Args:
            tokens: the ids.

        Raises:
            KeyError, OverflowError: see :meth:`decode_single_token_bytes`.
            UnicodeDecodeError: the bytes of the ids are invalid UTF-8.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_with_offsets([12700, 111, 1683])
            ('hello world', [0, 4, 5])
        """
        from toksmith.tokenizer.decode_spans import locate_bytes

        text, spans = locate_bytes(self.decode_tokens_bytes(tokens), "strict")
        return text, spans[:, 0].tolist()

    def decode_batch(
        self,
        batch: Sequence[Sequence[int]],
        *,
        errors: str = "replace",
        num_threads: int | None = 8,
    ) -> list[str]:
        """Return the text of each list of ids; see :meth:`decode`.

        Args:
            batch: the lists.
            errors: see :meth:`decode`.
            num_threads: the most threads to use.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_batch([[12700, 111], [1683]])
            ['hello', ' world']
        """
        found = self.decode_bytes_batch(batch, num_threads=num_threads)
        return [data.decode("utf-8", errors) for data in found]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int | None = 8
    ) -> list[bytes]:
        """Return the bytes of each list of ids; see :meth:`decode_bytes`.

        Args:
            batch: the lists.
            num_threads: the most threads to use.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_bytes_batch([[12700, 111], [1683]])
            [b'hello', b' world']
        """
        threads = _threads(num_threads)
        if self._outer is None:
            try:
                return self._tokenizer.decode_bytes_batch(batch, threads=threads)
            except (UnknownTokenError, OptionError):
                pass
        return list(map(self.decode_bytes, batch))

    # The vocabulary

    def token_byte_values(self) -> list[bytes]:
        r"""Return the bytes of all tokens but the special ones, in the order of the bytes.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").token_byte_values()[:2]
            [b'\x00', b'\x01']
        """
        return list(self._sorted_tokens)

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self._mergeable_ranks)

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``; without such a token, a KeyError.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").eot_token
            16382
        """
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The literals of the special tokens.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> sorted(get_encoding("toksmith-small").special_tokens_set)
            ['<|endoftext|>', '<|pad|>']
        """
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Return whether an id is that of a special token.

        Args:
            token: the id.

        Raises:
            AssertionError: ``token`` is no int.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").is_special_token(16382)
            True
        """
        if not isinstance(token, int):
            raise AssertionError(f"token is {token!r:.80}: use an int")
        return token in self._special_ids

    @property
    def n_vocab(self) -> int:
        """The highest id plus one.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").n_vocab
            16384
        """
        return self.max_token_value + 1

    # Names that start with an underscore, but that other packages use

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Return the ids of a text that is not split."""
        return self._own(self._unsplit.encode(_bytes_of(text_or_bytes)))

    def _merge(self, pieces: Sequence[bytes]) -> list[list[int]]:
        """Return the ids of unsplit texts, found by merging even if the whole is a token."""
        return list(map(self._own, self._merging.encode_batch(pieces).to_lists()))

    @cached_property
    def _unsplit(self) -> Tokenizer:
        return Tokenizer(Pipeline(self._tokenizer.pipeline.model))

    @cached_property
    def _merging(self) -> Tokenizer:
        model: Any = self._tokenizer.pipeline.model
        return Tokenizer(Pipeline(BPE(model.vocab, vars(model)["merges"])))

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Return the ids of a text that Python's ``regex`` splits."""
        return [
            token_id
            for match in regex.finditer(self._pat_str, text)
            for token_id in self._encode_single_piece(match.group())
        ]

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Return the ids of bytes; from the last chunk before invalid UTF-8 on, nothing is split.

        A text that was cut inside a character gets ids that fit the text that it was cut from.
        """
        try:
            return self.encode_ordinary(text.decode())
        except UnicodeDecodeError as wrong:
            valid = text[: wrong.start]
        ids = self.encode_ordinary(valid.decode())
        last = self._unstable_length(ids, valid, _NONE)
        kept, rest = ids[: len(ids) - last], ids[len(ids) - last :]
        return kept + self._encode_single_piece(self.decode_bytes(rest) + text[len(valid) :])

    # Pickling

    def __getstate__(self) -> object:
        if self is REGISTERED.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, str):
            vars(self).update(vars(find_registered[0](state)))
        else:
            self.__init__(**state)  # type: ignore[misc]

    # Special tokens and ids

    def _check_special(
        self, text: str, allowed_special: Allowed, disallowed_special: Disallowed
    ) -> frozenset[str]:
        """Return the special tokens to look for, after a check of the text for the others."""
        allowed, disallowed = self._special(allowed_special, disallowed_special)
        if type(text) is not str:
            _check_text(text)
        if disallowed:
            _refuse(text, disallowed)
        return allowed

    def _special(
        self, allowed_special: Allowed, disallowed_special: Disallowed
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return the special tokens to look for, and the strings that may not occur."""
        if isinstance(allowed_special, str) and allowed_special == "all":
            allowed = self._has_all
        elif not allowed_special and isinstance(allowed_special, AbstractSet):
            allowed = _NONE
        elif isinstance(allowed_special, AbstractSet):
            allowed = self._has_all.intersection(allowed_special)
        else:
            raise TypeError(
                f"allowed_special is {allowed_special!r:.80}: use a set of strings, or 'all', not "
                f"{type(allowed_special).__name__}"
            )
        if isinstance(disallowed_special, str) and disallowed_special == "all":
            return allowed, self._has_all - allowed if allowed else self._has_all
        return allowed, frozenset(disallowed_special)

    def _own(self, ids: Sequence[int] | IdArray) -> list[int]:
        """Return this encoding's ids for those of its pipeline."""
        if self._outer is None:
            return list(ids)
        own = self._outer[np.asarray(ids, np.int64)]
        if own.min(initial=0) < 0:
            place = int(own.argmin())
            raise KeyError(self._tokenizer.token_bytes(int(ids[place])))
        found: list[int] = own.tolist()
        return found

    @cached_property
    def _decoder(self) -> Mapping[int, bytes]:
        tokens = {token_id: token for token, token_id in self._mergeable_ranks.items()}
        for literal, token_id in self._special_tokens.items():
            tokens.setdefault(token_id, literal.encode())
        return tokens


def _id(token: int) -> int:
    number = index(token)
    if not 0 <= number < _MOST:
        raise OverflowError(f"{number} is no id: use 0 to {_MOST - 1}")
    return number


def _bytes_of(text: str | bytes) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if not isinstance(text, bytes):
        raise TypeError(f"{text!r:.80} is no text: use str or bytes, not {type(text).__name__}")
    return text


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"text is {text!r:.80}: use a str, not {type(text).__name__}")


def _checked_texts(texts: Iterable[str]) -> list[str]:
    found = list(texts)
    for text in found:
        _check_text(text)
    return found


def _threads(num_threads: int | None) -> int:
    if num_threads is None:
        return thread_count(None)
    if num_threads <= 0:
        raise ValueError("num_threads must be greater than 0")
    return min(num_threads, thread_count(None))


@lru_cache(maxsize=128)
def _finder(literals: frozenset[str]) -> tuple[str, re.Pattern[str]]:
    """Return what all literals start with, and a pattern that finds the longest one."""
    longest_first = sorted(literals, key=len, reverse=True)
    first, last = min(literals), max(literals)
    common = 0
    while common < len(first) and first[common : common + 1] == last[common : common + 1]:
        common += 1
    return first[:common], re.compile("|".join(map(re.escape, longest_first)))


def _refuse(text: str, disallowed: frozenset[str]) -> None:
    start, pattern = _finder(disallowed)
    if start in text and (match := pattern.search(text)):
        raise_disallowed_special_token(match.group())


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the error for a text that holds a special token.

    Args:
        token: the token.

    Raises:
        ValueError: always.

    Example:
        >>> raise_disallowed_special_token("<|end|>")
        Traceback (most recent call last):
        ValueError: Encountered text corresponding to disallowed special token '<|end|>'.
        ...
    """
    raise ValueError(
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, "
        f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
        "If you want this text to be encoded as normal text, disable the check for this token "
        f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n"
    )
