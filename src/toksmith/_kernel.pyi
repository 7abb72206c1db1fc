"""The compiled kernel; only toksmith's engines import this module."""

from collections.abc import Sequence
from typing import Annotated, Final, overload

import numpy
from numpy.typing import NDArray

class TextColumn:
    """A column of texts in Arrow's memory layout."""

    def __init__(self, column: object) -> None:
        """Read an object with __arrow_c_stream__ or __arrow_c_array__."""

    @property
    def first_null(self) -> int | None: ...
    @property
    def nbytes(self) -> int: ...
    def end_of_block(self, start: int, size: int) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: object) -> object: ...

def arrow_lists(
    ids: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    offsets: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> tuple[object, object]:
    """
    Return the capsules of an Arrow array of lists over the memory of both arrays.
    """

class Model:
    pass

class BpeModel(Model):
    def __init__(
        self,
        tokens: tuple[bytes, ...],
        merges: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        whole_chunk_first: bool,
    ) -> None: ...

class CharacterModel(Model):
    def __init__(
        self,
        tokens: tuple[bytes, ...],
        merges: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        unk: int | None,
        fuse_unk: bool,
        byte_fallback: bool,
        prefix: str,
        suffix: str,
        whole_chunk_first: bool,
    ) -> None: ...

class SentencePieceModel(Model):
    def __init__(
        self,
        tokens: tuple[bytes, ...],
        scores: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        types: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        unk: int | None,
        byte_fallback: bool,
    ) -> None: ...

class UnigramModelSingle(Model):
    pass

class UnigramModelDouble(Model):
    pass

def unigram_model(
    tokens: tuple[bytes, ...],
    scores: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    types: Annotated[
        NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    unk: int | None,
    byte_fallback: bool,
    fuse_unk: bool,
    single: bool,
) -> Model: ...

class LongestMatchModel(Model):
    def __init__(self, tokens: tuple[bytes, ...], unk: int | None, fuse_unk: bool) -> None: ...

def wordpiece_model(
    tokens: tuple[bytes, ...], unk: int, prefix: str, max_characters: int
) -> LongestMatchModel: ...

class WordLevelModel(Model):
    def __init__(self, tokens: tuple[bytes, ...], unk: int | None) -> None: ...

class CharacterMapper:
    def __init__(self, describe_block: object, rewrite: object) -> None: ...
    def map(self, text: object) -> bytes | None: ...

OPEN: int = 65535

CHARACTERS_A_BLOCK: int = 64

class StageRunner:
    def __init__(
        self,
        describe_block: object,
        inseparable: Annotated[
            NDArray[numpy.uint16], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        prefix_space: str,
        collapse: bool,
        trim: bool,
        origins: str,
        space_precedes_piece: bool,
        run_stages: object,
        locate_stages: object,
    ) -> None: ...

class FusedModel(Model):
    def __init__(self, model: Model, stages: StageRunner) -> None: ...

class SpanModel(Model):
    """A fused model for Encoder.encode_with_spans."""

    def __init__(self, model: FusedModel) -> None: ...

def is_character_map(charsmap: bytes) -> bool:
    """Return whether a compiled map of characters is free of damage."""

def first_characters(charsmap: bytes) -> str | None:
    """
    Return the characters that the keys of a compiled map start with, or None if the map is damaged.
    """

def sentencepiece_model(
    model: Model,
    tokens: tuple[bytes, ...],
    types: bytes,
    fuses_unknown: bool,
    charsmap: bytes,
    protected_symbols: tuple[bytes, ...],
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
    locate_stages: object,
) -> FusedModel | None:
    """
    Return a model after SentencePiece's normalizer, or None if it cannot be fused.
    """

class SplitTable:
    def __init__(
        self,
        starts: Sequence[int],
        classes: Sequence[int],
        following: Sequence[int],
        actions: Sequence[int],
        sure_cuts: Sequence[int],
    ) -> None: ...

    MOST_BACK: Final[int] = ...
    """(arg: object, /) -> int"""

    END_AT_REGISTER: Final[int] = ...
    """(arg: object, /) -> int"""

    MARK: Final[int] = ...
    """(arg: object, /) -> int"""

    FREE: Final[int] = ...
    """(arg: object, /) -> int"""

class Splitter:
    @overload
    def __init__(self, family: str) -> None: ...
    @overload
    def __init__(self, tables: Sequence[SplitTable]) -> None: ...

def safe_cut(text: object, splitter: Splitter, start: int, end: int) -> int:
    """
    Return the first place from start on where the text may be cut between chunks, or end.
    """

class AddedTokens:
    """Finds the literals of added tokens."""

    def __init__(
        self, tokens: Sequence[tuple[str, int, bool, bool, bool]], continues: bool, is_word: object
    ) -> None: ...
    def first_text(self, texts: Sequence[object]) -> int | None: ...

def instruction_set(wanted: str) -> str:
    """
    Return the name of the instruction set for `wanted`; "" is the best of this machine.
    """

CACHE_BYTES: int = 50331648

def recover_merges(
    tokens: tuple[bytes, ...],
) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """
    Return the merges of a vocabulary of ranks: left, right, id of each, flat.
    """

class Encoder:
    def __init__(self, model: Model, splitter: Splitter, instruction_set: str) -> None: ...
    def encode(
        self, text: object, threads: int
    ) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...
    def encode_list(self, text: object, threads: int) -> list[int]: ...
    def encode_texts(
        self, texts: Sequence[object], threads: int, added: AddedTokens | None = None
    ) -> tuple[
        Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    ]: ...
    def encode_slices(
        self,
        text: object,
        bounds: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        threads: int,
    ) -> tuple[
        Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    ]: ...
    def encode_segments(
        self,
        text: object,
        bounds: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        threads: int,
    ) -> tuple[
        Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    ]: ...
    def encode_chunks_with_spans(
        self,
        text: object,
        bounds: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> tuple[
        Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    ]: ...
    def encode_with_spans(
        self,
        texts: Sequence[object],
        continuing: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        threads: int,
        added: AddedTokens | None = None,
    ) -> (
        tuple[
            Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
            Annotated[NDArray[numpy.int64], dict(shape=(None,))],
            Annotated[NDArray[numpy.int64], dict(shape=(None, None))],
            Annotated[NDArray[numpy.int64], dict(shape=(None, None))] | None,
        ]
        | None
    ): ...
    def count(self, text: object, threads: int) -> int: ...
    def forget(self, cache_bytes: int | None = None) -> None: ...
    @property
    def instruction_set(self) -> str: ...

class Rows:
    """The tokens of the rows of model inputs."""

    def __init__(
        self,
        first: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        second: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        parts: Sequence[int],
        max_length: int | None,
        stride: int,
        strategy: str,
        cuts_left: bool,
        overflow: bool,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def longest(self) -> int: ...
    def starts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def documents(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    @overload
    def gather(
        self,
        out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
        first: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        second: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        values: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        padding: int,
        width: int | None,
        pads_left: bool,
        threads: int,
    ) -> None: ...
    @overload
    def gather(
        self,
        out: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu")],
        first: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        second: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        values: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        padding: int,
        width: int | None,
        pads_left: bool,
        threads: int,
    ) -> None: ...
    @overload
    def fill(
        self,
        out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
        values: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        padding: int,
        width: int | None,
        pads_left: bool,
        threads: int,
    ) -> None: ...
    @overload
    def fill(
        self,
        out: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu")],
        values: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        padding: int,
        width: int | None,
        pads_left: bool,
        threads: int,
    ) -> None: ...
    def gather_spans(
        self,
        out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
        first: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        second: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        first_ids: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        second_ids: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        spaces: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        keeps_first: bool,
        width: int | None,
        pads_left: bool,
        threads: int,
    ) -> None: ...

def read_ranks(text: bytes, most: int) -> tuple[bytes, ...] | None:
    """
    Return the tokens of a .tiktoken file by rank, or None if it is malformed.
    """

def read_pieces(file: bytes) -> tuple[tuple[bytes, ...], bytes, bytes, bytes] | None:
    """
    Return a SentencePiece file's pieces, scores (float64), types and other fields.
    """

def neighbours(tokens: tuple[bytes, ...]) -> tuple[str, str] | None:
    """
    Return the characters of tokens, and the pairs that are side by side in one.
    """

class TokenIds:
    @staticmethod
    def read(file: bytes) -> TokenIds | None: ...
    def __len__(self) -> int: ...
    def __contains__(self, arg: str, /) -> bool: ...
    def __getitem__(self, arg: str, /) -> int: ...
    def get(self, token: str, otherwise: int | None = None) -> int | None: ...
    def is_merged(self, token_id: int) -> bool: ...
    def spelled_bytes(self, dropped: Sequence[int]) -> tuple[bytes, ...] | None: ...
    @property
    def rest(self) -> bytes: ...
    @property
    def tokens(self) -> tuple[bytes, ...]: ...
    @property
    def scores(self) -> bytes | None: ...
    @property
    def merges(self) -> bytes | None: ...

class Decoder:
    def __init__(
        self,
        tokens: tuple[bytes, ...],
        known: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
    ) -> None: ...
    def check(
        self,
        ids: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        threads: int,
    ) -> bool: ...
    def decode(
        self,
        ids: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        threads: int,
    ) -> bytes: ...
    def decode_text(
        self, ids: NDArray[numpy.uint32], errors: str, threads: int, before: bytes
    ) -> str: ...

def to_lists(ids: NDArray[numpy.uint32], offsets: NDArray[numpy.int64]) -> list[list[int]]:
    """Return a list of the ids between each two adjacent offsets."""

def to_array(ids: list[int]) -> NDArray[numpy.uint32] | None:
    """
    Return the ids of a list as an array, or None unless all are ints of 32 bits.
    """

def serialize_segmentations(
    texts: list[bytes],
    offsets: NDArray[numpy.int64],
    ids: NDArray[numpy.uint32],
    begins: NDArray[numpy.int64],
    ends: NDArray[numpy.int64],
    silent: NDArray[numpy.bool_],
    pieces: list[bytes],
) -> list[bytes]:
    """
    Return the message SentencePieceText of each text; its places are in bytes.
    """

class ChunkCounter:
    def __init__(self, splitter: Splitter, instruction_set: str) -> None: ...
    def add_texts(self, texts: Sequence[object], threads: int) -> None: ...
    def add_slices(
        self,
        text: object,
        bounds: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        threads: int,
    ) -> None: ...
    def add_chunks(
        self,
        text: object,
        bounds: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def chunks_of(
        self, texts: Sequence[object]
    ) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...
    def finish(
        self,
    ) -> tuple[
        bytes,
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    ]: ...
    def limit(self, memory: int, descriptor: int, space: int) -> None: ...
    @property
    def spilled(self) -> int: ...
    @property
    def file_size(self) -> int: ...
    def weigh(self, weight: int) -> None: ...
    def estimate(
        self, unit: int
    ) -> tuple[
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    ]: ...
    def merge(
        self, min_count: int, unit: int, memory: int
    ) -> tuple[
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    ]: ...
    def merged(
        self,
    ) -> tuple[
        bytes,
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    ]: ...
    def stream(self, min_count: int) -> CountedStream: ...

class CountedStream:
    @property
    def totals(self) -> tuple[int, int, int]: ...
    def next(
        self, chunks: int, size: int
    ) -> tuple[
        bytes,
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    ]: ...

class PlainRules:
    def __init__(
        self, letters: bytes, ends: bytes, starts: bytes, drop_spaces: bool, symbols: Sequence[str]
    ) -> None: ...

class WordCounter:
    def __init__(
        self,
        words: bool,
        longest: int,
        reserved: bool,
        plain: PlainRules | None,
        stages: StageRunner | None,
    ) -> None: ...
    def add_texts(self, texts: Sequence[object], threads: int) -> None: ...
    def add_slices(
        self,
        text: object,
        bounds: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        threads: int,
    ) -> None: ...
    def finish(
        self,
    ) -> tuple[
        tuple[
            bytes,
            Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
            Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        ],
        tuple[
            bytes,
            Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
            Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        ],
    ]: ...
    def limit(self, memory: int, chunks: int, plain: int, space: int) -> None: ...
    @property
    def spilled(self) -> int: ...
    @property
    def file_size(self) -> int: ...
    def estimate(
        self, unit: int
    ) -> tuple[
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    ]: ...
    def weigh(self, weight: int) -> None: ...
    def merge(self, min_count: int, unit: int, memory: int) -> bool: ...
    def stream(self, plain: bool) -> CountedStream: ...
    def lines(self) -> tuple[int, int, int]: ...

def count_pieces(
    pieces: object,
    piece_ends: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    piece_counts: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    chunks: object,
    ends: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    counts: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    stages: StageRunner,
    threads: int,
) -> tuple[
    bytes,
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
]:
    """
    Return counted pieces, and those that the stages make of counted chunks.
    """

def first_invalid(text: object, start: int, end: int, instruction_set: str) -> int:
    """Return the first byte from start on that is invalid UTF-8, or end."""

def read_json_lines(
    lines: object, field: bytes, instruction_set: str
) -> tuple[
    bytes,
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    int,
]:
    """
    Return the texts of a field, the end of each, the refused lines and the number of lines.
    """

def segments(
    symbols: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    ends: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    counts: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    numbers: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> tuple[
    Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
]: ...
def mixed_segments(
    text: bytes,
    text_ends: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    text_counts: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    of_bytes: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    symbols: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    ends: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    counts: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    numbers: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> tuple[
    tuple[
        Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    ],
    int,
]: ...
@overload
def symbol_counts(
    symbols: bytes,
    ends: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    counts: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    alphabet: int,
) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...
@overload
def symbol_counts(
    symbols: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    ends: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    counts: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    alphabet: int,
) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

class ChunkStore:
    def __init__(self, memory: int, descriptor: int) -> None: ...
    def add_bytes(
        self,
        chunks: bytes,
        ends: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def add_symbols(
        self,
        symbols: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        ends: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        alphabet: int,
    ) -> None: ...

def train_store(
    store: ChunkStore,
    alphabet: int,
    tokens: int,
    ties: str,
    min_frequency: int,
    max_token_length: int,
    threads: int,
    watch: object | None,
    places: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    lengths: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    keep: object | None,
    keep_seconds: float,
    memory: int,
) -> tuple[
    Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
]: ...
def train_store_pieces(
    store: ChunkStore,
    scripts: Annotated[
        NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    kinds: Annotated[
        NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    tokens: int,
    longest: int,
    split_by_script: bool,
    split_by_space: bool,
    split_digits: bool,
    space_as_suffix: bool,
    only_spaces: bool,
    threads: int,
    watch: object | None,
    memory: int,
) -> tuple[
    Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
]: ...
def train_store_likelihood(
    store: ChunkStore,
    alphabet: int,
    tokens: int,
    min_frequency: int,
    threads: int,
    watch: object | None,
    memory: int,
) -> tuple[
    Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
]: ...
def train_pieces(
    symbols: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    ends: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    counts: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    scripts: Annotated[
        NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    kinds: Annotated[
        NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    tokens: int,
    longest: int,
    split_by_script: bool,
    split_by_space: bool,
    split_digits: bool,
    space_as_suffix: bool,
    only_spaces: bool,
    cut: int,
    threads: int,
    watch: object | None,
) -> tuple[
    Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
]: ...

class UnigramWords:
    def __init__(
        self,
        scripts: Annotated[
            NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        kinds: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        longest: int,
        split_by_script: bool,
        split_by_space: bool,
        split_digits: bool,
        space_as_suffix: bool,
        only_spaces: bool,
        threads: int,
        memory: int,
        descriptor: int,
        space: int | None,
        has_pieces: bool,
    ) -> None: ...
    def add(
        self,
        symbols: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        ends: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def finish(self) -> None: ...
    @property
    def substrings(self) -> int: ...
    @property
    def spilled(self) -> int: ...
    def train(
        self,
        seeds: int,
        enough: int,
        shrinking_factor: float,
        sub_iterations: int,
        watch: object | None,
        keep: object | None,
        keep_seconds: float,
        start: tuple[
            int,
            Annotated[
                NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
            ],
            Annotated[
                NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
            ],
            Annotated[
                NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
            ],
        ]
        | None,
    ) -> tuple[
        Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]: ...

def unigram_memory(pieces: int) -> int: ...
