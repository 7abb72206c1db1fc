"""Checkpoints: their content, resuming from one, and the ones that are refused."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests import damage
from tests.interrupting import interrupted
from tests.processes import POSIX
from toksmith._base.seals import seal
from toksmith.engine.training import ChunkStore, MergeRules, Merges, merge_symbols
from toksmith.errors import FormatError, OptionError
from toksmith.trainers import checkpoint
from toksmith.trainers.counting import counted_parts

SIZE = 700


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Five files of numbers, words of a kind, in a folder."""
    folder = tmp_path / "files"
    folder.mkdir()
    rng = random.Random(5)
    for number in range(5):
        words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 9))) for _ in range(4000)]
        (folder / f"{number}.txt").write_text(" ".join(words), encoding="utf-8")
    return folder


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is kept by itself, merges at every look."""
    monkeypatch.setattr(counted_parts, "PART_BYTES", 1)
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)


def train(files: Path, folder: Path | None = None, **given: Any) -> toksmith.Tokenizer:
    given.setdefault("vocab_size", SIZE)
    return toksmith.train(files, checkpoint=folder, **given)


def same(a: toksmith.Tokenizer, b: toksmith.Tokenizer) -> bool:
    one, other = a.training, b.training
    assert one is not None
    assert other is not None
    return (
        a.pipeline == b.pipeline
        and one.tokens_after.tolist() == other.tokens_after.tolist()
        and one.counts.tolist() == other.counts.tolist()
        and (one.documents, one.bytes, one.chunks) == (other.documents, other.bytes, other.chunks)
        and (one.tokens, one.merges, one.skipped) == (other.tokens, other.merges, other.skipped)
        and (one.sources, one.options) == (other.sources, other.options)
    )


class StopTrainingError(Exception):
    """Ends a training where a test wants it."""


def stop_after(monkeypatch: pytest.MonkeyPatch, name: str, calls: int) -> None:
    """Let a checkpoint end the training after some of its writes."""
    owner = counted_parts if hasattr(counted_parts, name) else checkpoint.Checkpoint
    method = getattr(owner, name)
    left = iter(range(calls))

    def stopping(*given: Any, **named: Any) -> Any:
        found = method(*given, **named)
        if next(left, None) is None:
            raise StopTrainingError
        return found

    monkeypatch.setattr(owner, name, stopping)


def test_a_whole_training_keeps_all(files: Path, tmp_path: Path, often: None) -> None:
    folder = tmp_path / "kept"
    tok = train(files, folder)
    assert same(tok, train(files))
    names = sorted(path.name for path in folder.iterdir())
    counts = [f"counts-000{number}.{kind}" for number in range(5) for kind in ("json", "parquet")]
    assert names == [*counts, "merges.npz", "training.json"]
    parts = [folder / name for name in names if name.endswith(".parquet")]
    counts = toksmith.Counts.merge(parts)
    assert toksmith.train(counts=counts, vocab_size=SIZE).pipeline == tok.pipeline
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert same(train(files, folder), tok)  # nothing is left to do
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    checkpoint.delete(folder)
    assert not folder.exists()


@pytest.mark.parametrize("parts", [0, 1, 3])
def test_counts_of_finished_files_are_not_made_again(
    files: Path, tmp_path: Path, often: None, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    folder = tmp_path / "kept"
    with monkeypatch.context() as patch:
        stop_after(patch, "_read_entry", parts)
        with pytest.raises(StopTrainingError):
            train(files, folder)
    told = sorted(folder.glob("counts-*.json"))
    assert len(told) == parts
    before = [path.stat().st_mtime_ns for path in told]
    assert same(train(files, folder), train(files))
    assert [path.stat().st_mtime_ns for path in told] == before


def cut_to(folder: Path, merges: int) -> None:
    """Leave what a training had kept after so many merges."""
    kept = checkpoint.Checkpoint.__new__(checkpoint.Checkpoint)
    kept.folder = folder
    kept.keep(Merges(*(values[:merges] for values in kept.merges())))


@pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
@pytest.mark.parametrize("split", ["gpt4", None])
def test_after_any_merge_the_same_follows(
    files: Path, tmp_path: Path, ties: str, split: str | None
) -> None:
    options: dict[str, Any] = {
        "ties": ties, "split": split, "separator": " ab", "special_tokens": ["<s>"],
        "max_token_length": 7, "vocab_size": 3000,
    }  # fmt: skip
    folder = tmp_path / "kept"
    wanted = train(files, folder, **options)
    for merges in (0, 1, 17, 300, 2742, 2743):
        cut_to(folder, merges)
        assert same(train(files, folder, **options), wanted)


def test_continuing_a_tokenizer_is_gone_on_with(files: Path, tmp_path: Path) -> None:
    tok = train(files, vocab_size=400, special_tokens=["<s>"])
    folder = tmp_path / "kept"
    wanted = train(files, folder, continue_from=tok, vocab_size=1400)
    for merges in (0, 1, 500, 1000):
        cut_to(folder, merges)
        assert same(train(files, folder, continue_from=tok, vocab_size=1400), wanted)
    other = train(files, vocab_size=401, special_tokens=["<s>"])
    with pytest.raises(OptionError, match="continue_from was"):
        train(files, folder, continue_from=other, vocab_size=1400)


def letters(size: int) -> toksmith.Counts:
    text = "".join(random.Random(2).choices("abcdefghijklmnop", k=size))
    return toksmith.Counts.from_texts([text], split=None)


def stored(counts: toksmith.Counts) -> ChunkStore:
    store = ChunkStore()
    store.add_bytes(counts.chunks, counts.ends, counts.counts)
    return store


def test_merges_are_handed_over_while_they_are_learned() -> None:
    counts = letters(1_500_000)
    kept: list[Merges] = []
    found = merge_symbols(
        stored(counts),
        400_000,
        MergeRules("first-seen"),
        keep=kept.append,
    )
    assert len(kept) > 1
    for name in Merges._fields:
        handed = np.concatenate([getattr(part, name) for part in kept])
        assert np.array_equal(handed, getattr(found, name)[: len(handed)])


@POSIX
def test_ctrl_c_returns_the_learned_merges() -> None:
    counts = letters(2_000_000)
    kept: list[Merges] = []
    with interrupted() as learning:
        merge_symbols(
            stored(counts),
            500_000, MergeRules("first-seen"), watch=lambda *_: learning.set(), keep=kept.append,
            keep_seconds=1e9,
        )  # fmt: skip
    assert len(kept) == 1
    assert len(kept[0].merges) > 0


def test_from_counts(files: Path, tmp_path: Path, often: None) -> None:
    counts = toksmith.Counts.from_files(files)
    kept = toksmith.train(counts=counts, vocab_size=SIZE, checkpoint=tmp_path / "kept")
    assert kept.pipeline == train(files).pipeline
    assert kept.training is not None
    assert kept.training.documents == 5
    with pytest.raises(OptionError, match="the counts differ"):
        toksmith.train(counts=counts.filter(2), vocab_size=SIZE, checkpoint=tmp_path / "kept")


def test_skipped_documents_are_reported_again(files: Path, tmp_path: Path, often: None) -> None:
    for options in ({"sample": 0.5, "separator": " "}, {"deduplicate": True, "separator": " "}):
        folder = tmp_path / next(iter(options))
        wanted = train(files, **options)
        assert wanted.training is not None
        assert wanted.training.skipped
        assert same(train(files, folder, **options), wanted)
        assert same(train(files, folder, **options), wanted)


def test_weights(files: Path, tmp_path: Path, often: None) -> None:
    for name, weights in {
        "some": {str(files / "1.txt"): 0.4, str(files / "3.txt"): 2.5},
        "one": {str(files / "2.txt"): 1.0},
    }.items():
        wanted = train(files, weights=weights)
        for _ in range(2):
            assert same(train(files, tmp_path / name, weights=weights), wanted)


def test_rare_chunks_are_left_out_of_the_sum(files: Path, tmp_path: Path, often: None) -> None:
    """A chunk that is rare in each file need not be rare in all."""
    options = {"min_count": 3, "memory": "64M"}
    wanted = train(files, **options)
    for memory in ("64M", "64M", "128M"):
        kept = train(files, tmp_path / "kept", min_count=3, memory=memory)
        assert kept.pipeline == wanted.pipeline
    with pytest.raises(OptionError, match="min_count was 3, now 1"):
        train(files, tmp_path / "kept")


def test_the_memory_may_change_between_two_runs(files: Path, tmp_path: Path, often: None) -> None:
    wanted, folder = train(files), tmp_path / "kept"
    assert same(train(files, folder, memory="1100K"), wanted)
    for memory in ("1G", None):
        assert same(train(files, folder, memory=memory), wanted)
    with pytest.raises(OptionError, match="min_count was"):  # the merges depend on it
        train(files, folder, min_count=3)


def test_another_training_is_refused(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    train(files, folder)
    with pytest.raises(OptionError, match="is of another training: vocab_size was 700, now 800"):
        train(files, folder, vocab_size=800)
    with pytest.raises(OptionError, match=r"ties was 'first-seen', now 'smallest-pair'"):
        train(files, folder, ties="smallest-pair")
    with pytest.raises(OptionError, match=r"sample was 1\.0, now 0\.5"):
        train(files, folder, sample=0.5)
    with pytest.raises(OptionError, match="other order"):
        toksmith.train(sorted(files.iterdir())[::-1], vocab_size=SIZE, checkpoint=folder)
    time.sleep(0.01)
    (files / "2.txt").write_text("another text", encoding="utf-8")
    (files / "1.txt").unlink()
    (files / "9.txt").write_text("new", encoding="utf-8")
    with pytest.raises(OptionError) as refused:
        train(files, folder)
    for words in ("1.txt is gone", "2.txt has changed", "9.txt is new", "Give another folder"):
        assert words in str(refused.value)


def test_threads_may_differ(files: Path, tmp_path: Path, often: None) -> None:
    train(files, tmp_path / "kept", threads=2)
    train(files, tmp_path / "kept", threads=1)


def test_texts_cannot_be_read_again(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="count them first"):
        toksmith.train(texts=["a b"], vocab_size=257, checkpoint=tmp_path / "kept")


def test_a_folder_of_other_things(files: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="holds other files"):
        train(files, files)
    with pytest.raises(OptionError, match="cannot be a folder"):
        train(files, files / "1.txt")


def test_damage_is_reported(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    train(files, folder)
    merges = folder / "merges.npz"
    merges.write_bytes(merges.read_bytes()[:1000])
    with pytest.raises(FormatError, match=r"merges\.npz: is damaged"):
        train(files, folder)
    merges.unlink()
    assert same(train(files, folder), train(files))
    entry = folder / "counts-0000.json"
    held = json.loads(entry.read_text(encoding="utf-8"))
    changed = {**held, "documents": held["documents"] + 1}
    del held["documents"], held["files"], held["sha256"]
    for damaged in (changed, seal(held)):
        entry.write_text(json.dumps(damaged), encoding="utf-8")
        with pytest.raises(FormatError, match=r"counts-0000\.json: is damaged"):
            train(files, folder)


@pytest.mark.parametrize(
    ("model", "name"), [("bpe", "counts-0000"), ("sentencepiece-bpe", "plain-0000")]
)
def test_a_damaged_part_can_be_counted_again(tmp_path: Path, model: str, name: str) -> None:
    text, folder = tmp_path / "text.txt", tmp_path / "kept"
    text.write_text("low lower lowest\nnew newer\n" * 9, encoding="utf-8")
    options: dict[str, Any] = {"model": model, "vocab_size": 260 if model == "bpe" else 16}
    wanted = train(text, folder, **options)
    (folder / f"{name}.parquet").write_bytes(b"PAR1")
    (folder / "merges.npz").unlink(missing_ok=True)
    advice = rf"{name}\.parquet: is no Parquet.*; remove counts-0000\.json beside it, and the part"
    with pytest.raises(FormatError, match=advice):
        train(text, folder, **options)
    (folder / "counts-0000.json").unlink()
    assert train(text, folder, **options).pipeline == wanted.pipeline


def test_a_write_that_was_killed_leaves_nothing(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    train(files, folder)
    (folder / ".merges.npz.12345678.tmp").write_bytes(b"half")
    train(files, folder)
    checkpoint.delete(folder)
    assert not folder.exists()


PROGRAM = """
import sys
import toksmith
from toksmith.trainers import checkpoint
from toksmith.trainers.counting import counted_parts
checkpoint.SECONDS, counted_parts.PART_BYTES = 0.1, 1
files, folder, output = sys.argv[1:]
tok = toksmith.train(files, checkpoint=folder, vocab_size=25_000, threads=1)
tok.save(output)
"""


@POSIX
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Killed by -9 at random moments, it gives the same bytes in the end."""
    rng = random.Random(7)
    files, folder = tmp_path / "files", tmp_path / "kept"
    files.mkdir()
    for number in range(4):
        words = ["".join(rng.choices("abcdefghijkl", k=rng.randint(2, 9))) for _ in range(25_000)]
        (files / f"{number}.txt").write_text(" ".join(words), encoding="utf-8")
    command = [sys.executable, "-c", PROGRAM, str(files)]
    whole, resumed = tmp_path / "whole.model", tmp_path / "resumed.model"
    subprocess.run([*command, str(tmp_path / "first"), str(whole)], check=True)
    # How long a training takes is nobody's to say: one that ended before its kill is run again,
    # with less time.
    kills, patience = 0, 2.0
    while kills < 4:
        child = subprocess.Popen([*command, str(folder), str(resumed)])
        try:
            assert child.wait(rng.uniform(0.2, 0.9) * patience) == 0
            resumed.unlink()
            patience /= 2
        except subprocess.TimeoutExpired:
            child.kill()
            assert child.wait() in (0, -signal.SIGKILL)
            kills += 1
    subprocess.run([*command, str(folder), str(resumed)], check=True)
    assert resumed.read_bytes() == whole.read_bytes()


def test_the_message_has_the_values_in_effect(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    train(files, folder)
    for given, message in (
        ({"split": "gpt2"}, "split was 'gpt4', now 'gpt2'"),
        ({"split": None}, "split was 'gpt4', now None"),
        ({"special_tokens": ["<s>"]}, r"special_tokens was \[\], now \['<s>'\]"),
        ({"weights": {files / "1.txt": 2.0}}, r"weights was \{\}, now \{'"),
    ):
        with pytest.raises(OptionError, match=message):
            train(files, folder, **given)
    # What is the default is the same training, whether it is given or not.
    for split in ("gpt4", "GPT-4", "cl100k", "llama3"):
        assert same(train(files, folder, split=split, ties="first-seen", min_count=1), train(files))


def test_no_split_is_not_the_default_split(files: Path, tmp_path: Path) -> None:
    train(files, tmp_path / "kept", split=None)
    with pytest.raises(OptionError, match="split was None, now 'gpt4'"):
        train(files, tmp_path / "kept")


def test_a_second_stage_with_another_split_is_gone_on_with(files: Path, tmp_path: Path) -> None:
    tok, folder = train(files, vocab_size=400), tmp_path / "kept"
    options: dict[str, Any] = {"continue_from": tok, "vocab_size": 900, "split": r"[^a]+|a"}
    wanted = train(files, **options)
    assert same(train(files, folder, **options), wanted)
    for merges in (0, 1, 250, 500):
        cut_to(folder, merges)
        assert same(train(files, folder, **options), wanted)
    with pytest.raises(OptionError, match=r"split was '\[\^a\]\+\|a', now \"\(\?i:"):
        train(files, folder, continue_from=tok, vocab_size=900)


def test_the_checkpoint_of_an_interrupted_training(
    files: Path, tmp_path: Path, often: None
) -> None:
    folder = tmp_path / "kept"
    nothing = "no part was counted completely: the same command starts over"
    assert checkpoint.describe_checkpoint(folder) == nothing
    tok = train(files, folder)
    assert tok.training is not None
    assert checkpoint.describe_checkpoint(folder) == (
        f"444 merges and the counts are stored in {folder}: the same command continues from them"
    )
    (folder / "merges.npz").unlink()
    assert "the counts of 5 parts of the text are stored" in checkpoint.describe_checkpoint(folder)
    for path in folder.glob("counts-*.json"):
        path.unlink()
    assert checkpoint.describe_checkpoint(folder) == nothing


def whole_arrays(rng: random.Random, path: Path) -> None:
    """Other arrays in a file that is whole."""
    with np.load(path) as held:
        arrays = {name: held[name].copy() for name in held.files}
    name = rng.choice(list(arrays))
    one = arrays["merges"]
    match rng.randrange(9):
        case 0:
            arrays[name] = arrays[name].astype(rng.choice([np.float64, np.int64, np.bool_, "U3"]))
        case 1:
            arrays["merges"] = one[:, :2]
        case 2:
            one[rng.randrange(len(one)), rng.randrange(3)] = rng.choice([0, 300, 2**31, 2**32 - 1])
        case 3:
            arrays[name] = arrays[name][: rng.randrange(len(one))]
        case 4:
            del arrays[name]
        case 5:
            arrays[name] = arrays[name][..., None]
        case 6:
            arrays[name] = np.array(5, arrays[name].dtype)
        case 7:
            arrays = {each: np.concatenate([array, array]) for each, array in arrays.items()}
        case _:
            one[:, 2] += 1
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("name", "rounds"),
    [("training.json", 250), ("counts-0000.json", 250), ("merges.npz", 250),
     ("counts-0001.parquet", 60)],
)  # fmt: skip
def test_damage_is_a_typed_error_or_no_damage(
    tmp_path: Path, often: None, name: str, rounds: int
) -> None:
    """Each file, damaged in many ways: the same tokenizer, or an error that says where."""
    files, folder = tmp_path / "files", tmp_path / "kept"
    files.mkdir()
    for number, text in enumerate(("low lower lowest", "new newer newest low", "wide wider")):
        (files / f"{number}.txt").write_text(text * 3, encoding="utf-8")
    wanted = train(files, folder, vocab_size=275)
    sound = {path.name: path.read_bytes() for path in folder.iterdir()}
    rng = random.Random(f"damage {name}")
    refusals = []
    for _ in range(rounds):
        for each, data in sound.items():
            (folder / each).write_bytes(data)
        if name == "merges.npz" and rng.random() < 0.6:
            whole_arrays(rng, folder / name)
        else:
            damaged = bytearray(sound[name])
            rng.choice(damage.JSON if name.endswith(".json") else damage.ANY)(damaged, rng)
            (folder / name).write_bytes(damaged)
        try:
            tok = train(files, folder, vocab_size=275)
        except (FormatError, OptionError) as error:
            refusals.append(error)
        else:
            assert tok.pipeline == wanted.pipeline
    assert len(refusals) > rounds // 3
    for error in refusals:
        is_other = name == "training.json" and "of another training" in str(error)
        assert is_other or isinstance(error, FormatError)
        assert str(folder) in str(error)
