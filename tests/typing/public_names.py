"""Uses every public name once: `mypy --strict` accepts it, and the tests run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import toksmith
from toksmith import (
    Audit,
    Batch,
    Comparison,
    Counts,
    CountsFile,
    Encoding,
    Inputs,
    MergeStep,
    RaggedInputs,
    Span,
    TextChunk,
    Token,
    TokenFiles,
    Tokenizer,
    UnicodeText,
)
from toksmith.measure import Difference, LibraryDifference
from toksmith.tokenfiles import PackedRow, PackedRows, PackIndex, RowOrder, pack

TEXT = "low low lower lowest newest widest"


def train(folder: Path) -> Tokenizer:
    """Train each kind of model, from files, texts and counts."""
    path = folder / "corpus.txt"
    path.write_text(f"{TEXT}\n" * 20)
    toksmith.train(path, vocab_size=262, split="gpt2", special_tokens=["<|end|>"])
    toksmith.train(str(path), model="wordpiece", vocab_size=30, unk_token="[UNK]")
    toksmith.train([path], model="unigram", vocab_size=18)
    toksmith.train(texts=TEXT, model="word", vocab_size=6)
    toksmith.train(texts=[TEXT], model="char")
    toksmith.train(path, model="sentencepiece-bpe", vocab_size=24, character_coverage=1.0)
    counts: Counts = Counts.from_files(path, split="gpt4")
    total: Counts = sum([counts, counts], start=counts)
    first = toksmith.train(counts=total, vocab_size=262, special_tokens=["<|end|>"])
    return toksmith.train(path, continue_from=first, vocab_size=266, split=None)


def load(tok: Tokenizer, folder: Path) -> None:
    """Save and load, by path and by name."""
    tok.save(folder / "saved")
    tok.save(folder / "saved.json", format="huggingface", record=True)
    same: Tokenizer = toksmith.load(folder / "saved")
    assert same.encode(TEXT) == tok.encode(TEXT)
    held: bytes = tok.dumps()
    again: Tokenizer = toksmith.loads(held, format="huggingface")
    assert again.encode(TEXT) == tok.encode(TEXT)
    small: Tokenizer = toksmith.get("toksmith-small")
    assert small == toksmith.load("toksmith-small")


def encode(tok: Tokenizer) -> None:
    """Encode and decode in all forms."""
    ids: list[int] = tok.encode(TEXT, special="text", add_special_tokens=False, threads=1)
    array: npt.NDArray[np.uint32] = tok.encode_array(TEXT.encode())
    batch: Batch = tok.encode_batch([TEXT, b"low"], special={"<|end|>"})
    lists: list[list[int]] = batch.to_lists()
    assert lists[0] == ids == array.tolist() == batch[0].tolist()
    text: str = tok.decode(ids)
    data: bytes = tok.decode_bytes(array)
    texts: list[str] = tok.decode_batch(batch)
    assert text == data.decode() == texts[0]
    parts: list[bytes] = tok.decode_bytes_batch(batch)
    assert parts[0] == data
    covered, spans = tok.decode_spans(ids)
    first: int = spans[0, 0]
    assert (covered, first) == (text, 0)
    framed: list[int] = tok.frame(ids, pair=array)
    assert framed == ids + ids
    normal: str = tok.normalize(TEXT)
    same, places = tok.normalize(TEXT, offsets=True)
    assert normal == same
    assert places.shape == (len(same), 2)
    decoder = tok.decoder()
    assert "".join(map(decoder.decode, ids)) + decoder.decode(final=True) == text
    counted: int = tok.count(TEXT)
    many: npt.NDArray[np.int64] = tok.count_batch([TEXT, "low"])
    assert counted == len(ids) == many[0]
    start: str = tok.truncate(TEXT, 2)
    end: str = tok.truncate(TEXT, 2, side="left")
    assert TEXT.startswith(start)
    assert TEXT.endswith(end)
    chunks: list[TextChunk[str]] = tok.chunks(TEXT, 3, overlap=0, at="token")
    assert "".join(chunk.text for chunk in chunks) == TEXT
    span: Span = chunks[0].span
    assert TEXT[span.start : span.end] == chunks[0].text
    small = toksmith.get("toksmith-small")  # it has a padding token
    inputs: Inputs = small.prepare(
        [TEXT, "low"], max_length=4, truncation=True, padding="max_length"
    )
    assert inputs["input_ids"].shape == inputs.ids.shape == (2, 4)
    named: Mapping[str, npt.NDArray[np.int64]] = inputs
    assert set(named) == {"input_ids", "attention_mask", "token_type_ids"}
    rows: RaggedInputs = tok.prepare_ragged([TEXT, "low"])
    assert rows.lists(rows.ids)[1] == tok.encode("low")
    assert tok.encode_words(["low", "low"]).words is not None
    tok.forget(cache_bytes=1_000_000)


def look(tok: Tokenizer) -> None:
    """Look at tokens, vocabulary, merges and explanations."""
    encoding: Encoding = tok.encoding(TEXT)
    more: list[Encoding] = tok.encodings([TEXT, "low"])
    strings: list[str] = encoding.strings
    tokens: list[bytes] = encoding.tokens
    spans: npt.NDArray[np.int64] = encoding.spans
    assert len(strings) == len(tokens) == len(spans) == len(more[0])
    token: Token = encoding[0]
    assert [each.id for each in encoding] == encoding.ids
    vocab: Mapping[bytes, int] = tok.vocab
    by_id: Sequence[bytes] = tok.tokens
    number: int = tok.token_id("low")
    assert vocab[b"low"] == number == tok.token_id(b"low")
    assert by_id[number] == tok.token_bytes(number) == tok.token_text(number).encode()
    spelled: str = tok.spelling(number)
    spellings: tuple[str, ...] = tok.spellings
    assert spellings[number] == spelled
    assert tok.id_of_spelling(spelled) == number
    pieces = toksmith.train(texts=[TEXT] * 20, model="unigram", vocab_size=18)
    scores: npt.NDArray[np.float64] = pieces.scores
    score: float = pieces.score(5)
    assert score == scores[5]
    assert "low" in tok
    assert len(tok) == tok.vocab_size == len(by_id)
    assert tok.engine.startswith("kernel")
    assert token.id == encoding.ids[0]
    merges: Sequence[tuple[int, int]] = tok.merges
    assert len(merges) == len(tok.merge_table)
    special: dict[str, int] = tok.special_tokens
    assert special
    roles: list[int | None] = [tok.bos_token_id, tok.eos_token_id, tok.pad_token_id]
    unknown: int | None = tok.unk_token_id
    assert unknown is None, roles
    limit: int | None = tok.model_max_length
    template: str | None = tok.chat_template
    assert limit is template is None
    assert str(tok.explain("lowest"))
    assert tok == tok.with_split("gpt2").with_split(None)
    assert hash(tok) == hash(tok)
    tok.with_special_tokens({"<|more|>": 300}).with_template(bos="<|more|>", eos="<|end|>")
    assert len(tok.with_matching("longest").encode(TEXT)) > 0


def learn() -> None:
    """Take byte-pair encoding apart."""
    assert toksmith.pairs(TEXT).most_common(1)[0][1] > 0
    ids: list[int] = toksmith.merge([1, 2, 1, 2], pair=(1, 2), new=3)
    assert ids == [3, 3]
    steps: list[MergeStep] = list(toksmith.training_steps(TEXT, vocab_size=258))
    assert [step.new for step in steps] == [256, 257]
    pieces: list[str] = toksmith.split(TEXT, "gpt2")
    assert "".join(pieces) == TEXT
    points: UnicodeText = toksmith.unicode("é")
    assert str(points)


def measure(tok: Tokenizer, folder: Path) -> None:
    """Compare, audit and advise."""
    compared: Comparison = toksmith.compare([tok], texts={"en": TEXT}, progress=False)
    assert compared.to_markdown()
    assert compared.to_latex()
    assert compared.to_json()
    found: Audit = toksmith.audit(tok, texts=TEXT, progress=False)
    differs: Difference | LibraryDifference | None = toksmith.verify(tok, tok, texts=[TEXT])
    assert differs is None
    assert str(found)
    advice = toksmith.advise(folder / "corpus.txt", max_vocab=262, progress=False)
    assert advice.recommendation.vocab_size > 0


def counted_shards(folder: Path) -> None:
    """Count a corpus in shards, and merge the counts."""
    made: list[CountsFile] = toksmith.count_corpus(
        folder / "corpus.txt", output=folder / "shards", shard=(0, 1), memory="1G"
    )
    merged: CountsFile = toksmith.merge_counts(folder / "shards", output=folder / "all.counts")
    assert merged.occurrences == made[0].occurrences
    assert len(merged.read()) == merged.chunks
    assert sum(len(ends) for _, ends, _ in merged.batches()) == merged.chunks


def token_files(tok: Tokenizer, folder: Path) -> None:
    """Write and read token files."""
    done = toksmith.tokenize_corpus(
        folder / "corpus.txt", tokenizer=tok, format="megatron", output=folder / "tokens", eos=False
    )
    tokens: TokenFiles = toksmith.open_tokens(folder / "tokens")
    assert tokens.num_tokens == done.tokens
    assert len(tokens[0]) == tokens.lengths[0]
    index: PackIndex = pack(tokens, length=8, method="best-fit", seed=1)
    index.save(folder / "a.pack")
    rows: PackedRows = tokens.packed(folder / "a.pack")
    row: PackedRow = rows[next(iter(RowOrder(len(rows), seed=1)))]
    bounds: npt.NDArray[np.int32] = row.cu_seqlens
    assert bounds[-1] == len(row.ids) <= 8
    full: float = index.report.utilisation
    assert full > 0


def segment() -> None:
    """Cut a text into words, sentences and graphemes."""
    assert len(toksmith.words("It's 3.5 km.")) > 0
    assert len(toksmith.sentences("One. Two.")) == 2
    assert len(toksmith.graphemes("é")) == 1


def main(folder: Path) -> None:
    """Use all of it."""
    assert toksmith.__version__
    tok = train(folder)
    load(tok, folder)
    encode(tok)
    look(tok)
    learn()
    measure(tok, folder)
    counted_shards(folder)
    token_files(tok, folder)
    segment()
    assert issubclass(toksmith.errors.UnknownTokenError, toksmith.errors.ToksmithError)
