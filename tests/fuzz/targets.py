"""The fuzz targets: every file and request that toksmith reads in Python."""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import toksmith
from tests.damage import (
    ANY,
    JSON,
    KINDS,
    LINES,
    NUMBERS,
    TEXT,
    Damage,
    Kind,
    lead_outside,
    replace_word,
    restructure_json,
    restructure_protobuf,
    swap_values,
)
from tests.fuzz.explorer import EXPLORER
from tests.fuzz.running import HALTED, REFUSED, WORKED, Subject, Target
from tests.kits.bpe import BYTES, pipeline
from tests.kits.sentencepiece import sentencepiece
from tests.unit.tokenfiles.documents import write as write_tokens
from toksmith import formats
from toksmith._base.byte_alphabet import spell
from toksmith.engine.training import Merges, UnigramPieces, UnigramState
from toksmith.errors import (
    FormatError,
    OptionError,
    SplitError,
    ToksmithError,
    TrainingError,
    UnsupportedError,
)
from toksmith.models import Unigram
from toksmith.tokenfiles import verify_tokens
from toksmith.tokenfiles.formats import NAMES
from toksmith.tokenfiles.manifest import parse_manifest
from toksmith.tokenfiles.spool import latest_progress, read_journal
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.training_record import sidecar
from toksmith.trainers.checkpoint import Checkpoint, describe_checkpoint
from toksmith.trainers.counting.files.parquet import CountsFile

READS = (FormatError, UnsupportedError)
"""The errors of reading a tokenizer."""

PARSERS = {
    "minbpe": "formats.minbpe",
    "tiktoken": "formats.tiktoken",
    "gpt2": "formats.gpt2",
    "huggingface": "formats.huggingface",
    "wordpiece": "formats.wordpiece_vocab",
    "tekken": "formats.tekken",
    "sentencepiece": "formats.sentencepiece",
    "gguf": "formats.gguf",
}
MORE = {
    "sentencepiece": ("formats.sentencepiece_proto", "formats.sentencepiece_pipeline"),
    "gguf": ("formats.gguf_metadata", "formats.gguf_splits", "formats.gguf_vocabulary"),
}
"""The parser of each format, and the other modules of some."""


def in_folder(files: Mapping[str, bytes], read: Callable[[Path, str], str], work: Path) -> Subject:
    """Return a subject whose input is the name of a file, a line end, and its damaged content.

    Args:
        files: the sound files by name.
        read: reads the folder, and says what became of it; it gets the damaged file's name.
        work: the folder.
    """
    for name, content in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)
    seeds = [name.encode() + b"\n" + content for name, content in files.items()]
    first = next(iter(files))

    def try_one(data: bytes) -> str:
        head, _, content = data.partition(b"\n")
        name = head.decode("utf-8", "replace")
        name = name if name in files else first
        (work / name).write_bytes(content)
        try:
            return read(work, name)
        finally:
            (work / name).write_bytes(files[name])

    return Subject(seeds, try_one)


def after_name(damage: Damage) -> Damage:
    """Return a damage that leaves the first line of an input as it is."""

    def changed(data: bytearray, rng: random.Random) -> None:
        head, _, content = bytes(data).partition(b"\n")
        inner = bytearray(content)
        damage(inner, rng)
        data[:] = head + b"\n" + inner

    return changed


def named(damage: list[Damage]) -> list[Damage]:
    """Return the damages of the content of named files."""
    return [after_name(each) for each in damage]


# Tokenizers


def use(tok: Tokenizer) -> str:
    """Run a tokenizer that was read; what it saves is read as the same tokenizer."""
    try:
        ids = tok.encode(TEXT, special="encode", add_special_tokens=True)
        tok.decode(ids)
        tok.count(b"ab \xff\xfe")
        tok.encode_batch(["", "ab", TEXT])
    except ToksmithError:
        return HALTED
    try:
        data = formats.data(tok.pipeline, "huggingface")
    except ToksmithError:
        return WORKED
    again = toksmith.loads(data, format="huggingface")
    assert again.encode(TEXT, special="encode", add_special_tokens=True) == ids
    return WORKED


def check_path(wrong: ToksmithError, path: Path) -> None:
    """Check that an error names the file."""
    if str(path) not in str(wrong):
        raise AssertionError(f"the error does not name its file: {wrong}") from wrong


def load(path: Path, form: str | None) -> Tokenizer | None:
    """Load a tokenizer; ``None`` for a typed error, which names the file."""
    try:
        return toksmith.load(path, format=form)
    except READS as wrong:
        check_path(wrong, path)
        return None


def tokenizer_target(kind: Kind) -> Target:
    """Return the target of a kind of file."""

    def prepare(work: Path) -> Subject:
        if kind.content is None:
            formats.write(kind.pipeline(), work / kind.target, kind.format)
        else:
            (work / kind.target).write_bytes(kind.content)
        damaged = work / (kind.file or kind.target)

        def try_one(data: bytes) -> str:
            damaged.write_bytes(data)
            by_content = load(work / kind.target, None)
            found = load(work / kind.target, kind.format) or by_content
            return REFUSED if found is None else use(found)

        return Subject([damaged.read_bytes()], try_one)

    parser = PARSERS[kind.format]
    return Target((parser, *MORE.get(kind.format, ())), kind.damage, prepare)


# Model folders

MARKS = ["<|im|>", "<|startoftranscript|>", "<|notimestamps|>"]
IDS = {
    token: i for i, token in enumerate([*map(spell, BYTES), "lo", "low", "Ġlow", "<|end|>", *MARKS])
}
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "Low", "##er", ".", "é", "e", "the"]
CONFIG: dict[str, Any] = {
    "model_max_length": 64,
    "bos_token": {"content": "<|end|>", "lstrip": False, "special": True},
    "eos_token": "<|end|>",
    "additional_special_tokens": ["<|im|>"],
    "added_tokens_decoder": {"260": {"content": "<|im|>", "special": True, "rstrip": True}},
    "clean_up_tokenization_spaces": True,
    "chat_template": [
        {"name": "default", "template": "{{ x }}"},
        {"name": "tool_use", "template": "{{ y }}"},
    ],
    "padding_side": "left",
    "add_prefix_space": True,
    "split_special_tokens": False,
}


def encoded(value: object) -> bytes:
    """Return JSON."""
    return json.dumps(value).encode()


def model_folder(name: str) -> dict[str, bytes]:
    """Return the files of a model folder of a class of ``transformers``."""
    config = {"tokenizer_class": f"{name}Tokenizer"}
    ids = {
        "vocab.json": encoded(IDS),
        "merges.txt": "#version: 0.2\nl o\nlo w\nĠ low\n".encode(),
    }
    if name in ("GPT2", "Whisper"):
        added = {"<|pad|>": 263}
        return {"tokenizer_config.json": encoded(config | CONFIG), **ids,
                "special_tokens_map.json": encoded({"pad_token": "<|pad|>"}),
                "added_tokens.json": encoded(added)}  # fmt: skip
    if name == "Bert":
        more = {"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True}
        return {"tokenizer_config.json": encoded(config | more),
                "vocab.txt": "\n".join(WORDS).encode()}  # fmt: skip
    if name == "PreTrainedFast":
        pipe = pipeline("[a-z]+")
        added = {"268": {"content": "<|im|>", "special": True}}
        more = CONFIG | {"added_tokens_decoder": added}
        return {"tokenizer_config.json": encoded(config | more),
                "tokenizer.json": formats.data(pipe, "huggingface"),
                "config.json": encoded({"model_type": "llama", "vocab_size": 300})}  # fmt: skip
    model = sentencepiece(Unigram) if name in ("T5", "XLMRoberta") else sentencepiece()
    file = {"T5": "spiece.model", "XLMRoberta": "sentencepiece.bpe.model"}.get(
        name, "tokenizer.model"
    )
    more = {"add_bos_token": True, "legacy": False, "extra_ids": 3, "use_default_system_prompt": 0}
    return {"tokenizer_config.json": encoded(config | more),
            file: formats.data(model, "sentencepiece")}  # fmt: skip


def folder_target(name: str) -> Target:
    """Return the target of a model folder."""

    def read(work: Path, _: str) -> str:
        try:
            tok = toksmith.load(work)
        except READS as wrong:
            check_path(wrong, work)
            return REFUSED
        save_below(tok, work.with_name("saved"))
        return use(tok)

    def prepare(work: Path) -> Subject:
        return in_folder(model_folder(name), read, work)

    modules = ("formats.model_folder", "formats.huggingface")
    return Target(modules, named([*JSON, lead_outside, restructure_protobuf]), prepare)


def save_below(tok: Tokenizer, folder: Path) -> None:
    """Save a tokenizer to a folder in a folder: nothing is written elsewhere."""
    path = folder / "a" / "b"
    path.mkdir(parents=True)
    before = [{*place.iterdir()} for place in (folder.parent, folder, path.parent)]
    try:
        with suppress(ToksmithError):  # the format cannot hold it
            tok.save(path)
        assert [{*place.iterdir()} for place in (folder.parent, folder, path.parent)] == before
    finally:
        shutil.rmtree(folder)


# Token files

DOCUMENTS = [[1, 2, 3], [4], [500] * 30, [6, 7], [0, 8], [9, 10, 11, 0]]


def tokens_target(name: str) -> Target:
    """Return the target of a format of token files."""

    def read(work: Path, file: str) -> str:
        try:
            tokens = toksmith.open_tokens(work, format=name, eos=0)
            lengths = tokens.lengths.tolist()
            assert [len(each) for each in tokens] == lengths
            assert len(tokens.ids(0, len(tokens))) == sum(lengths)
            return WORKED
        except FormatError as wrong:
            check_path(wrong, work)
            return REFUSED

    def prepare(work: Path) -> Subject:
        write_tokens(name, DOCUMENTS, work, tokenizer_name="t")
        files = {str(path.relative_to(work)): path for path in work.rglob("*") if path.is_file()}
        return in_folder({each: path.read_bytes() for each, path in files.items()}, read, work)

    damage = [*ANY, *NUMBERS, *[restructure_json] * 2]
    return Target((f"tokenfiles.formats.{name}", "tokenfiles.token_files"), named(damage), prepare)


def compressed(kind: Damage) -> Damage:
    """Return a damage of what a gzip file holds."""

    def changed(data: bytearray, rng: random.Random) -> None:
        try:
            inner = bytearray(gzip.decompress(bytes(data)))
        except (OSError, EOFError, zlib.error) as wrong:
            raise ValueError(wrong) from wrong
        kind(inner, rng)
        data[:] = gzip.compress(inner, 1, mtime=0)

    return changed


def prepare_job(work: Path, then: Callable[[Path], Subject]) -> Subject:
    """Tokenize a small corpus, and return the subject that is made of its output folder."""
    (work / "a.txt").write_text("low lower\nlowest\n" * 3)
    toksmith.tokenize_corpus(
        [work / "a.txt"],
        tokenizer="toksmith-small",
        format="megatron",
        output=work / "out",
        separator="\n",
        split={"train": 0.7, "val": 0.3},
    )
    return then(work / "out")


def manifest_target() -> Target:
    """Return the target of the manifest, which must also be safe to open and to check by."""

    def subject(out: Path) -> Subject:
        def try_one(data: bytes) -> str:
            (out / "token-manifest.json").write_bytes(data)
            try:
                found = parse_manifest(data, out / "token-manifest.json")
                assert parse_saved(found, out.parent) == found
                tokens = toksmith.open_tokens(out)
                tokens.ids(0, len(tokens))
                verify_tokens(out)
            except FormatError as wrong:
                check_path(wrong, out)
                return REFUSED
            return WORKED

        return Subject([(out / "token-manifest.json").read_bytes()], try_one)

    def prepare(work: Path) -> Subject:
        return prepare_job(work, subject)

    modules = ("tokenfiles.manifest", "tokenfiles.job", "_base.typed", "tokenfiles.checking")
    return Target(modules, JSON, prepare)


def parse_saved(manifest: Any, folder: Path) -> Any:
    """Return a manifest that was saved and read again."""
    manifest.save(folder)
    return parse_manifest((folder / "token-manifest.json").read_bytes(), folder)


def journal_target() -> Target:
    """Return the target of the journal of a shard."""

    def prepare(work: Path) -> Subject:
        def subject(out: Path) -> Subject:
            job = json.loads((out / "token-manifest.json").read_bytes())["job"]
            line = {"documents": 2, "splits": {"train": [1, 2, 3]}, "damages": [["a", 1, "b"]]}
            seed = encoded({"job": job, "shard": 0}) + b"\n" + encoded(line) + b"\n"
            (work / "spool").mkdir()

            def try_one(data: bytes) -> str:
                (work / "spool" / "journal").write_bytes(data)
                latest_progress(work / "spool")
                try:
                    found = read_journal(work / "spool")
                except (OptionError, FormatError):
                    return REFUSED
                return REFUSED if found is None else WORKED

            return Subject([seed], try_one)

        return prepare_job(work, subject)

    modules = ("tokenfiles.spool", "tokenfiles.job", "_base.typed")
    return Target(modules, [*LINES, *named(LINES), *by_line(restructure_json)], prepare)


def by_line(damage: Damage) -> list[Damage]:
    """Return the damages of the first line, and of the others, of an input."""

    def first(data: bytearray, rng: random.Random) -> None:
        head, _, rest = bytes(data).partition(b"\n")
        inner = bytearray(head)
        damage(inner, rng)
        data[:] = inner + b"\n" + rest

    def second(data: bytearray, rng: random.Random) -> None:
        lines = bytes(data).split(b"\n")
        at = rng.randrange(1, len(lines))
        inner = bytearray(lines[at])
        damage(inner, rng)
        lines[at] = bytes(inner)
        data[:] = b"\n".join(lines)

    return [first, first, second, second]


# Counts and checkpoints


def counts_target() -> Target:
    """Return the target of files of counts."""

    def prepare(work: Path) -> Subject:
        path = work / "a.counts"
        counts = toksmith.Counts.from_texts(["low lower lowest newest " * 3], split="gpt2")
        counts.save(path)

        def try_one(data: bytes) -> str:
            path.write_bytes(data)
            try:
                file = CountsFile(path)
                found = file.read()
                assert sum(found.counts.tolist()) == file.occurrences
                assert sum(len(ends) for _, ends, _ in file.batches()) == len(found)
                assert found.splitter == counts.splitter
                toksmith.train(counts=found, vocab_size=270)
            except (FormatError, OptionError, TrainingError) as wrong:
                return REFUSED if isinstance(wrong, FormatError) else HALTED
            return WORKED

        return Subject([path.read_bytes()], try_one)

    return Target(
        ("trainers.counting.files.parquet", "trainers.counting.counts"), [*ANY, *NUMBERS], prepare
    )


def tsv_target() -> Target:
    """Return the target of counts as TSV."""

    def prepare(work: Path) -> Subject:
        def try_one(data: bytes) -> str:
            (work / "a.tsv").write_bytes(data)
            try:
                found = toksmith.Counts.from_tsv(work / "a.tsv")
                found.to_tsv(work / "b.tsv")
            except (FormatError, OptionError) as wrong:
                return REFUSED if isinstance(wrong, FormatError) else HALTED
            assert dict(toksmith.Counts.from_tsv(work / "b.tsv")) == dict(found)
            return WORKED

        return Subject([b"low\t2\nlower\t1\n\xc3\xa9\t1000000000000000000\n"], try_one)

    return Target(("trainers.counting.files.tsv", "trainers.counting.counts"), LINES, prepare)


def checkpoint_target() -> Target:
    """Return the target of a checkpoint's files."""

    def files(work: Path) -> dict[str, bytes]:
        found = Checkpoint(work, {"options": {"vocab_size": 260}, "sources": {"a": [1, 2]}})
        merges = np.array([[97, 98, 256], [256, 99, 257]], np.uint32)
        found.keep(Merges(merges, np.array([5, 4], np.uint64), np.array([20, 16], np.uint64)))
        symbols, lengths = np.array([0, 1, 0, 1], np.uint32), np.array([1, 1, 2], np.uint32)
        found.keep_pieces(UnigramState(2, UnigramPieces(symbols, lengths, np.zeros(3))))
        return {path.name: path.read_bytes() for path in work.iterdir()}

    def read(work: Path, _: str) -> str:
        describe_checkpoint(work)
        try:
            found = Checkpoint(work, {"options": {"vocab_size": 260}, "sources": {"a": [1, 2]}})
            assert len(found.merges(most=2).merges) == 2
            state = found.pieces(2)
            assert state is not None
            assert len(state.pieces.lengths) == 3
        except (FormatError, OptionError):
            return REFUSED
        return WORKED

    def prepare(work: Path) -> Subject:
        return in_folder(files(work), read, work)

    return Target(
        ("trainers.checkpoint",), named([*ANY, *NUMBERS, *[restructure_json] * 4]), prepare
    )


def training_target() -> Target:
    """Return the target of a checkpoint that training continues from."""

    def again(work: Path) -> Tokenizer:
        options = {"vocab_size": 262, "checkpoint": work / "c"}
        return toksmith.train(files=[work / "a.txt"], **options)  # type: ignore[arg-type]

    def read(work: Path, _: str) -> str:
        kept = {path.name: path.read_bytes() for path in (work / "c").iterdir()}
        try:
            return WORKED if again(work).vocab_size == 262 else HALTED
        except (FormatError, OptionError):
            return REFUSED
        except TrainingError:  # a sound record of an empty text, or of one with a tiny weight
            return HALTED
        finally:
            for path in (work / "c").iterdir():
                path.unlink()
            for name, content in kept.items():
                (work / "c" / name).write_bytes(content)

    def prepare(work: Path) -> Subject:
        (work / "a.txt").write_text("low lower lowest " * 30)
        again(work)
        files = {f"c/{path.name}": path.read_bytes() for path in (work / "c").iterdir()}
        return in_folder(files, read, work)

    modules = (
        "trainers.checkpoint",
        "trainers.counting.counted_parts",
        "trainers.counting.files.parquet",
    )
    return Target(modules, named([*ANY, *NUMBERS, *[restructure_json] * 4]), prepare)


def record_target() -> Target:
    """Return the target of the record of a training, which can be shown if it is read."""

    def prepare(work: Path) -> Subject:
        (work / "a.txt").write_text("low lower lowest " * 30)
        tok = toksmith.train(files=[work / "a.txt"], vocab_size=262)
        tok.save(work / "a.json", record=True)
        place = sidecar(work / "a.json")

        def try_one(data: bytes) -> str:
            place.write_bytes(data)
            record = toksmith.load(work / "a.json").training
            if record is None:
                return REFUSED
            assert str(record)
            assert record._repr_html_()
            return WORKED

        return Subject([place.read_bytes()], try_one)

    return Target(("tokenizer.training_record",), [*ANY, *JSON], prepare)


# Corpora and patterns


def corpus_target(suffix: str, damage: list[Damage]) -> Target:
    """Return the target of the readers of a kind of corpus file."""
    texts = ["low lower", "lowest é\n", "", "日本 " * 5]
    lines = b"".join(encoded({"text": text, "id": i}) + b"\n" for i, text in enumerate(texts))

    def seed() -> bytes:
        if suffix == "jsonl":
            return lines
        if suffix == "jsonl.gz":
            return gzip.compress(lines, mtime=0)
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = io.BytesIO()
        pq.write_table(pa.table({"text": texts}), file)
        return file.getvalue()

    def prepare(work: Path) -> Subject:
        path = work / f"a.{suffix}"

        def try_one(data: bytes) -> str:
            path.write_bytes(data)
            try:
                toksmith.Counts.from_files([path])
            except ToksmithError:
                return REFUSED
            return WORKED

        return Subject([seed()], try_one)

    return Target(("corpus",), damage, prepare)


PATTERNS = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}{1,3}|\s+(?!\S)|\s+",
    r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{Lu}*[\p{Ll}\p{M}]+|\s*[\r\n]+",
    r"[a-z&&[^aeiou]]+|\d{2,}?|(?>x+)y|(a|b)*+|\b\w+\b|^.|.$",
]


def pattern_target() -> Target:
    """Return the target of the compiler of split patterns: the kernel's chunks are the regex's."""

    def prepare(work: Path) -> Subject:
        def try_one(data: bytes) -> str:
            pattern = data.decode("utf-8", "replace")
            try:
                chunks = toksmith.split(TEXT, pattern)
            except (SplitError, UnsupportedError):
                return REFUSED
            assert "".join(chunks) == TEXT
            counts = toksmith.Counts.from_texts([TEXT], split=pattern)
            assert dict(counts) == Counter(chunk.encode() for chunk in chunks)
            return WORKED

        return Subject([each.encode() for each in PATTERNS], try_one)

    return Target(
        ("splitters", "engine.split_tables"), [*ANY, replace_word, *[swap_values] * 2], prepare
    )


TARGETS: dict[str, Target] = {
    **{name: tokenizer_target(kind) for name, kind in KINDS.items()},
    **{
        f"folder of {name}": folder_target(name)
        for name in ("GPT2", "Whisper", "Bert", "Llama", "T5", "XLMRoberta", "PreTrainedFast")
    },
    **{f"{name} token files": tokens_target(name) for name in NAMES},
    "token manifest": manifest_target(),
    "token journal": journal_target(),
    "counts": counts_target(),
    "counts in TSV": tsv_target(),
    "checkpoint": checkpoint_target(),
    "training from a checkpoint": training_target(),
    "training record": record_target(),
    "corpus in JSON Lines": corpus_target("jsonl", JSON),
    "corpus in gzip": corpus_target("jsonl.gz", [*ANY, *map(compressed, LINES)]),
    "corpus in Parquet": corpus_target("parquet", [*ANY, *NUMBERS]),
    "split patterns": pattern_target(),
    "explorer requests": EXPLORER,
}
