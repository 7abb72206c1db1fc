"""One adapter class per library: the same few calls, each in that library's fastest way.

A result is handed back in the library's own type, so that converting it is never timed;
``ids`` makes the flat array that is compared.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.forms import SEPARATOR

if TYPE_CHECKING:  # a library that does without numpy is not charged for it
    import numpy as np

# All lines, of any length, with all their characters.
SENTENCEPIECE_OPTIONS = {
    "character_coverage": 1.0,
    "input_sentence_size": 0,
    "max_sentence_length": 1 << 30,
}
Job = dict[str, Any]


class Adapter:
    """What the worker asks for. A library that cannot do something leaves it ``None``.

    The methods get the threads, at most the cores of the process, and return the call to time: the
    library's own where there is one, so that nothing is timed besides.

    Attributes:
        package: its name on the package index.
        files: the kinds of file that it loads: ranks (.tiktoken), model (SentencePiece's), json
            (tokenizer.json), tekken (Mistral's tekken.json).
        takes: the type of text it is given: bytes where it accepts them.
        array: for one text to an array.
        list: for one text to a Python list.
        batch: for many texts to whatever the library returns.
        lists: for many texts to Python lists.
        spans: for many texts to where their tokens stand, in characters.
        count: for one text to the number of its tokens.
        decode: for a list of ids to a string.
        decode_array: for an array of ids to a string.
        trains: the kinds of model that it trains, see :mod:`benchmarks.training`.
        train: learn from a file and save the result; returns the saved file. Byte-level BPE learns
            from the file's documents, the others from its lines.
    """

    package: ClassVar[str]
    files: ClassVar[Sequence[str]] = ()
    trains: ClassVar[Sequence[str]] = ()
    takes: ClassVar[type] = bytes
    array: Any = None
    list: Any = None
    batch: Any = None
    lists: Any = None
    spans: Any = None
    count: Any = None
    decode: Any = None
    train: Any = None

    @property
    def decode_array(self) -> Any:
        """One that takes only lists is given one."""
        return self.decode and (lambda threads: _of_list(self.decode(threads)))

    def load(self, vocabulary: Job) -> None:
        """Make the tokenizer of a vocabulary's files."""
        raise NotImplementedError

    def ids(self, result: Any) -> np.ndarray:
        """Return a result's ids as one flat uint32 array."""
        return _flat(result)


class Toksmith(Adapter):
    package = "toksmith"
    files = ("ranks", "model", "json", "tekken")
    trains = (
        "byte-bpe",
        "byte-bpe-lines",
        "sentencepiece-bpe",
        "sentencepiece-unigram",
        "wordpiece",
    )

    def load(self, vocabulary: Job) -> None:
        import toksmith

        if "ranks" in vocabulary:
            self.tokenizer = toksmith.load(
                vocabulary["ranks"],
                split=vocabulary["pattern"],
                special_tokens=vocabulary["special_tokens"],
            )
        else:
            kind = next(kind for kind in ("model", "json", "tekken") if kind in vocabulary)
            self.tokenizer = toksmith.load(vocabulary[kind])

    def array(self, threads: int) -> Any:
        return partial(self.tokenizer.encode_array, threads=threads)

    def list(self, threads: int) -> Any:
        return self.tokenizer.encode

    def batch(self, threads: int) -> Any:
        return partial(self.tokenizer.encode_batch, threads=threads)

    def lists(self, threads: int) -> Any:
        return lambda texts: self.tokenizer.encode_batch(texts, threads=threads).to_lists()

    def spans(self, threads: int) -> Any:
        return lambda texts: [self.tokenizer.encoding(text).spans for text in texts]

    def count(self, threads: int) -> Any:
        return partial(self.tokenizer.count, threads=threads)

    def decode(self, threads: int) -> Any:
        return self.tokenizer.decode

    decode_array = decode

    def ids(self, result: Any) -> np.ndarray:
        return _flat(getattr(result, "ids", result))

    def train(self, job: Job, out: Path) -> Path:
        import toksmith

        options: Job
        if job["model"] == "byte-bpe":
            saved = out / "toksmith.tiktoken"
            options = {"split": job["split"], "separator": SEPARATOR, "ties": "smallest-pair"}
        elif job["model"] == "byte-bpe-lines":
            saved = out / "toksmith.tiktoken"
            options = {"split": job["split"], "ties": "smallest-pair"}
            job = {**job, "vocab_size": 256 + job["merges"]}
        elif job["model"] == "wordpiece":
            saved = out / "toksmith.json"
            options = {"model": "wordpiece", "special_tokens": ["[UNK]"]}
            options |= {"objective": "frequency", "min_frequency": 0}
        else:
            saved = out / "toksmith.model"
            options = {"model": job["model"], **SENTENCEPIECE_OPTIONS}
        size, threads = job["vocab_size"], job["threads"]
        toksmith.train(job["text"], vocab_size=size, threads=threads, **options).save(saved)
        return saved


class Tiktoken(Adapter):
    package = "tiktoken"
    files = ("ranks", "tekken")
    takes = str

    def load(self, vocabulary: Job) -> None:
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        if "tekken" in vocabulary:  # as mistral-common does
            held = json.loads(Path(vocabulary["tekken"]).read_bytes())
            config = held["config"]
            pattern, special = config["pattern"], {}
            first = config["default_num_special_tokens"]
            used = held["vocab"][: config["default_vocab_size"] - first]
            ranks = {base64.b64decode(each["token_bytes"]): first + each["rank"] for each in used}
        else:
            pattern, special = vocabulary["pattern"], vocabulary["special_tokens"]
            ranks = load_tiktoken_bpe(vocabulary["ranks"])
        self.encoding = tiktoken.Encoding(
            vocabulary["name"], pat_str=pattern, mergeable_ranks=ranks, special_tokens=special
        )

    def array(self, threads: int) -> Any:
        _one_thread(threads)
        return partial(self.encoding.encode_to_numpy, disallowed_special=())

    def list(self, threads: int) -> Any:
        return self.encoding.encode_ordinary

    def batch(self, threads: int) -> Any:
        return partial(self.encoding.encode_ordinary_batch, num_threads=threads)

    lists = batch

    def decode(self, threads: int) -> Any:
        return self.encoding.decode


class Tokenizers(Adapter):
    package = "tokenizers"
    files = ("json",)
    trains = ("byte-bpe", "wordpiece")
    takes = str

    def load(self, vocabulary: Job) -> None:
        import tokenizers

        self.tokenizer = tokenizers.Tokenizer.from_file(vocabulary["json"])
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def list(self, threads: int) -> Any:
        _one_thread(threads)
        return lambda text: self.tokenizer.encode(text, add_special_tokens=False).ids

    def batch(self, threads: int) -> Any:
        return partial(self.tokenizer.encode_batch_fast, add_special_tokens=False)

    def lists(self, threads: int) -> Any:
        encode = self.batch(threads)
        return lambda texts: [encoding.ids for encoding in encode(texts)]

    def spans(self, threads: int) -> Any:
        encode = partial(self.tokenizer.encode, add_special_tokens=False)
        return lambda texts: [encode(text).offsets for text in texts]

    def decode(self, threads: int) -> Any:
        return partial(self.tokenizer.decode, skip_special_tokens=False)

    def ids(self, result: Any) -> np.ndarray:
        return _flat([getattr(each, "ids", each) for each in result])

    def train(self, job: Job, out: Path) -> Path:
        train = self._train_words if job["model"] == "wordpiece" else self._train_bytes
        train(job).save(str(saved := out / "tokenizers.json"))
        return saved

    def _train_words(self, job: Job) -> Any:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        size, special = job["vocab_size"], ["[UNK]"]
        trainer = trainers.WordPieceTrainer(
            vocab_size=size, special_tokens=special, show_progress=False
        )
        tokenizer.train([job["text"]], trainer)
        return tokenizer

    def _train_bytes(self, job: Job) -> Any:
        from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

        byte_level = pre_tokenizers.ByteLevel
        tokenizer = Tokenizer(models.BPE())
        tokenizer.decoder = decoders.ByteLevel()
        if job["split"] == "gpt2":
            tokenizer.pre_tokenizer = byte_level(add_prefix_space=False)
        else:
            split = pre_tokenizers.Split(Regex(job["pattern"]), "isolated")
            rest = byte_level(add_prefix_space=False, use_regex=False)
            tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, rest])
        trainer = trainers.BpeTrainer(
            vocab_size=job["vocab_size"],
            show_progress=False,
            initial_alphabet=byte_level.alphabet(),
        )
        tokenizer.train_from_iterator(_documents(job["text"]), trainer)
        return tokenizer


class Gigatoken(Adapter):
    package = "gigatoken"
    files = ("ranks", "model")
    trains = ("byte-bpe",)
    schemes: ClassVar = {"gpt2": "gpt2", "cl100k-tiktoken": "gpt4", "o200k": "o200k"}

    def load(self, vocabulary: Job) -> None:
        import gigatoken

        if "model" in vocabulary:
            self.tokenizer = gigatoken.Tokenizer.from_sentencepiece(vocabulary["model"])
            return
        # Given special tokens, it would always find them inside text; here text is just text.
        scheme = self.schemes[vocabulary["family"]]
        self.tokenizer = gigatoken.Tokenizer.from_tiktoken(vocabulary["ranks"], scheme, {})

    def array(self, threads: int) -> Any:
        if threads == 1:
            return self.tokenizer.encode
        return lambda text: self.tokenizer.encode_batch([text], parallel=True)

    def list(self, threads: int) -> Any:
        return lambda text: self.tokenizer.encode(text).tolist()

    def batch(self, threads: int) -> Any:
        return partial(self.tokenizer.encode_batch, parallel=threads > 1)

    def lists(self, threads: int) -> Any:
        return partial(self.tokenizer.encode_batch_list, parallel=threads > 1)

    def decode(self, threads: int) -> Any:
        return lambda ids: self.tokenizer.decode(ids).decode("utf-8", "replace")

    decode_array = decode

    def ids(self, result: Any) -> np.ndarray:
        if type(result).__module__.partition(".")[0] != "awkward":
            return _flat(result)
        import awkward

        return _flat(awkward.to_numpy(awkward.flatten(result)))

    def train(self, job: Job, out: Path) -> Path:
        import gigatoken

        if job["split"] != "gpt2":
            raise NotImplementedError("it trains with the GPT-2 pattern only")
        vocab, _ = gigatoken.train_bpe(
            gigatoken.TextFileSource([job["text"]], separator=SEPARATOR), job["vocab_size"], []
        )
        return _save_ranks(list(vocab.values()), out / "gigatoken.tiktoken")


class SentencePiece(Adapter):
    package = "sentencepiece"
    files = ("model",)
    trains = ("sentencepiece-bpe", "sentencepiece-unigram")
    takes = str

    def load(self, vocabulary: Job) -> None:
        import sentencepiece

        self.processor = sentencepiece.SentencePieceProcessor(model_file=vocabulary["model"])

    def list(self, threads: int) -> Any:
        _one_thread(threads)
        return self.processor.encode

    def batch(self, threads: int) -> Any:
        return partial(self.processor.encode, num_threads=threads)

    lists = batch

    def decode(self, threads: int) -> Any:
        return self.processor.decode

    def train(self, job: Job, out: Path) -> Path:
        import sentencepiece

        saved = out / "sentencepiece.model"
        sentencepiece.SentencePieceTrainer.train(
            input=job["text"],
            model_prefix=str(saved.with_suffix("")),
            model_type=job["model"].removeprefix("sentencepiece-"),
            vocab_size=job["vocab_size"],
            num_threads=job["threads"],
            minloglevel=2,
            **SENTENCEPIECE_OPTIONS,
        )
        return saved


class Tokie(Adapter):
    package = "tokie"
    files = ("json",)
    takes = str

    def load(self, vocabulary: Job) -> None:
        import tokie

        self.tokenizer = tokie.Tokenizer.from_json(vocabulary["json"])
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def list(self, threads: int) -> Any:
        return lambda text: self.tokenizer.encode(text, add_special_tokens=False).ids

    def batch(self, threads: int) -> Any:
        return partial(self.tokenizer.encode_batch_flat, add_special_tokens=False)

    def lists(self, threads: int) -> Any:
        encode = partial(self.tokenizer.encode_batch, add_special_tokens=False)
        return lambda texts: [encoding.ids for encoding in encode(texts)]

    def count(self, threads: int) -> Any:
        return self.tokenizer.count_tokens

    def decode(self, threads: int) -> Any:
        return self.tokenizer.decode

    def ids(self, result: Any) -> np.ndarray:
        return _flat(result[0] if isinstance(result, tuple) else result)


class Rustbpe(Adapter):
    package = "rustbpe"
    trains = ("byte-bpe",)

    def train(self, job: Job, out: Path) -> Path:
        import rustbpe

        tokenizer = rustbpe.Tokenizer()
        tokenizer.train_from_iterator(
            _documents(job["text"]), job["vocab_size"], pattern=job["pattern"]
        )
        ranks = [bytes(token) for token, _ in tokenizer.get_mergeable_ranks()]
        return _save_ranks(ranks, out / "rustbpe.tiktoken")


class Gigabpe(Adapter):
    package = "gigabpe"
    trains = ("byte-bpe-lines",)

    def train(self, job: Job, out: Path) -> Path:
        import gigabpe

        saved = out / "gigabpe.json"
        gigabpe.train_tokenizer(
            [job["text"]],
            job["bytes"] + job["merges"],
            str(saved),
            special_tokens=[],
            pretokenizer="bytelevel",
            threads=job["threads"],
        )
        return saved


ADAPTERS: dict[str, type[Adapter]] = {
    kind.package: kind
    for kind in (
        Toksmith,
        Tiktoken,
        Gigatoken,
        SentencePiece,
        Tokie,
        Tokenizers,
        Rustbpe,
        Gigabpe,
    )
}


def installed(names: Sequence[str]) -> dict[str, str]:
    """Return the versions of those libraries that are installed."""
    present = [name for name in names if find_spec(name) is not None]
    return {name: metadata.version(name) for name in present}


def learned_tokens(saved: Path) -> list[bytes]:
    """Return the tokens of more than one byte in a trained file, in the order of their ids."""
    if saved.suffix == ".json":
        alphabet = _printable_bytes()
        model = json.loads(saved.read_text())["model"]
        vocab = model["vocab"]
        ordered = sorted(vocab, key=vocab.__getitem__)
        if model["type"] == "WordPiece":
            tokens = [token.encode() for token in ordered]
        else:
            tokens = [bytes(alphabet[character] for character in token) for token in ordered]
    elif saved.suffix == ".model":
        from toksmith import load

        tokens = list(load(saved).pipeline.model.vocab)
    else:
        tokens = [base64.b64decode(line.split()[0]) for line in saved.read_bytes().splitlines()]
    return [token for token in tokens if len(token) > 1]


def _one_thread(threads: int) -> None:
    if threads > 1:
        raise NotImplementedError("one call runs on one thread")


def _of_list(decode: Any) -> Any:
    return lambda ids: decode(ids.tolist())


def _documents(path: str) -> Iterator[str]:
    return iter(Path(path).read_bytes().decode().split(SEPARATOR))


def _flat(ids: Any) -> np.ndarray:
    """Return an array, a list, or a list of these (of ids, or of spans) as one array."""
    import numpy as np

    if len(ids) and isinstance(ids[0], list | np.ndarray):
        return np.concatenate([np.asarray(document, np.uint32).ravel() for document in ids])
    return np.asarray(ids, np.uint32)


def _save_ranks(tokens: Sequence[bytes], path: Path) -> Path:
    lines = (base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))
    path.write_bytes(b"".join(lines))
    return path


def _printable_bytes() -> dict[str, int]:
    """GPT-2's way to show a byte as a character."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(b): b for b in shown} | {chr(256 + i): b for i, b in enumerate(hidden)}
