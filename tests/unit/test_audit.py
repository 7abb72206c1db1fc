"""Audits: tokenizers with one fault each, made by hand."""

from __future__ import annotations

import gc
import io
import json
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import toksmith
from tests.kits.bpe import BYTES
from tests.kits.pipelines import PIPELINES, WORDS, plain_sentencepiece, utf8
from tests.kits.sentencepiece import sentencepiece
from tests.processes import POSIX
from toksmith.corpus import Reading
from toksmith.decoders import WordPieceDecoder
from toksmith.errors import FormatError, OptionError
from toksmith.framing import AddedToken, Framing
from toksmith.measure.audit import KINDS, token_use
from toksmith.measure.findings import Audit, Finding, Severity
from toksmith.measure.inputs import name_texts
from toksmith.measure.partial_characters import completions
from toksmith.measure.reachability import Category, reachability
from toksmith.models import BPE, LongestMatch, SentencePieceBPE, WordLevel, WordPiece
from toksmith.normalizers import Lowercase
from toksmith.pipeline import Pipeline
from toksmith.show.audit import audit_view
from toksmith.splitters import BertSplitter, splitter
from toksmith.tokenizer import Tokenizer


def bpe(*tokens: str | bytes, split: str | None = None, **options: object) -> Pipeline:
    """Byte-level BPE whose merges are spelled ``left+right``; other tokens have none."""
    vocab, rows = list(BYTES), []
    for token in tokens:
        spelled = token.encode() if isinstance(token, str) else token
        left, plus, right = spelled.partition(b"+")
        if plus and left:
            rows.append([vocab.index(left), vocab.index(right), len(vocab)])
        vocab.append(left + right if plus and left else spelled)
    model = BPE(tuple(vocab), np.array(rows, np.uint32), **options)  # type: ignore[arg-type]
    return Pipeline(model, splitter(split) if split else None)


def audit(pipeline: Pipeline, **options: object) -> Audit:
    return toksmith.audit(Tokenizer(pipeline), **options)  # type: ignore[arg-type]


def finding(found: Audit, kind: str) -> Finding:
    one = found.of(kind)
    assert one is not None, [each.kind for each in found.findings]
    return one


class TestReachability:
    def test_categories_of_bytes(self) -> None:
        found = reachability(Tokenizer(bpe("e+r", b"\xe2+\x82")))
        assert found.of(Category.ALONE) == [*range(128), 256]
        assert found.of(Category.PARTIAL) == [*range(128, 256), 257]
        assert found.counts == {
            "alone": 129, "in context": 0, "special": 0, "partial": 129, "unreachable": 0,
        }  # fmt: skip

    def test_a_token_without_merges_is_unreachable(self) -> None:
        found = audit(bpe("e+r", "ol", b"\xe2\x82"))
        never = finding(found, "never made")
        assert [example.id for example in never.examples] == [257, 258]
        assert (never.severity, never.count) == (Severity.WARNING, 2)
        assert found.categories["unreachable"] == 2

    def test_other_merges_come_first(self) -> None:
        # "abc" is ab + c, but b + c goes first.
        found = audit(bpe("b+c", "a+b", "ab+c"))
        assert [example.id for example in finding(found, "never made").examples] == [258]

    def test_whole_chunks(self) -> None:
        found = audit(bpe("e+r", "ol", split="gpt2", whole_chunk_first=True))
        assert found.of("never made") is None
        assert [example.id for example in finding(found, "whole only").examples] == [257]

    def test_a_splitter_cuts_a_token(self) -> None:
        found = audit(bpe("a+ ", "a +b", split="gpt2"))
        unreachable = finding(found, "unreachable")
        assert [example.text for example in unreachable.examples] == [b"a ", b"a b"]
        assert found.of("never made") is None

    def test_a_normalizer_changes_a_token(self) -> None:
        vocab = utf8(("[UNK]", "low", "Low", "##er", "##Er", *"qxzj"))
        normalizer, decoder = (Lowercase(),), (WordPieceDecoder(),)
        pipeline = Pipeline(
            WordPiece(vocab, 0), BertSplitter(), normalizer=normalizer, decoder=decoder
        )
        found = reachability(Tokenizer(pipeline))
        assert found.of(Category.ALONE) == [1, 5, 6, 7, 8]
        assert found.of(Category.IN_CONTEXT) == [3]
        assert found.of(Category.UNREACHABLE) == [2, 4]
        assert found.never == []

    def test_only_in_context(self) -> None:
        # The pattern gives line breaks to the punctuation before them.
        found = reachability(Tokenizer(bpe("\n+/", split="o200k")))
        assert found.of(Category.IN_CONTEXT) == [256]

    def test_pieces(self) -> None:
        pipeline = sentencepiece(byte_fallback=True)
        found = reachability(Tokenizer(pipeline))
        vocab = pipeline.model.vocab
        characters = [byte for byte in range(128) if bytes([byte]) in vocab]
        shadowed = {vocab.index(b"<0x%02X>" % byte) for byte in characters}
        assert shadowed
        assert shadowed <= set(found.of(Category.UNREACHABLE))
        assert vocab.index(b"<0xC3>") in found.of(Category.PARTIAL)
        assert finding(audit(pipeline), "byte pieces").severity is Severity.INFO
        plain = reachability(Tokenizer(plain_sentencepiece(SentencePieceBPE)))
        assert plain.counts["unreachable"] == 0

    @pytest.mark.parametrize("kind", PIPELINES)
    def test_every_token_said_to_be_reached_alone_is(self, kind: str) -> None:
        tok = Tokenizer(PIPELINES[kind])
        found = reachability(tok)
        for token_id in range(tok.vocab_size):
            category = found.categories[token_id]
            if category in (Category.ALONE, Category.UNREACHABLE, Category.IN_CONTEXT):
                is_alone = tok.encode(tok.decode([token_id])) == [token_id]
                assert is_alone == (category == Category.ALONE), token_id


class TestPartial:
    @pytest.mark.parametrize(
        ("part", "text"),
        [
            (b"\xc3", "é"), (b"\xa9", "é"), (b" \xe2\x82", " €"), (b"\x82\xac!", "€!"),
            (b"\x82", "€"), (b"\xac\xe2\x82", "€€"), (b"\xf0\x9f\x91", "👋"), (b"\x91\x8b", "👋"),
        ],
    )  # fmt: skip
    def test_completions(self, part: bytes, text: str) -> None:
        found = completions(part)
        assert found
        assert all(part in each.encode() for each in found)
        assert part in text.encode()

    @pytest.mark.parametrize(
        "part", [b"\xff", b"\xc0", b"\x80\x80\x80\x80", b"a\xffb", b"\xc3a\xc3"]
    )
    def test_tokens_that_no_text_contains(self, part: bytes) -> None:
        assert completions(part) == []

    def test_unassigned_characters(self) -> None:
        assert completions(b"\xf1\x8e")
        assert all(text.encode().startswith(b"\xf1\x8e") for text in completions(b"\xf1\x8e"))

    def test_parts_that_always_merge(self) -> None:
        # All that may stand behind C3 merges with it, so that no text has it alone.
        found = audit(bpe(*(b"\xc3+" + bytes([byte]) for byte in range(0x80, 0xC0))))
        parts = finding(found, "parts of none")
        assert (parts.count, parts.figures) == (14, {"never_in_utf8": 13})
        assert parts.examples[0].text == b"\xc3"


class TestVocabulary:
    def test_duplicates(self) -> None:
        found = finding(audit(bpe("a+b", "b+c", "ab+c", "a+bc")), "duplicates")
        assert (found.count, found.severity) == (1, Severity.WARNING)
        assert [(e.text, e.id, e.note) for e in found.examples] == [(b"abc", 258, "also 259")]

    def test_near_duplicates(self) -> None:
        model = LongestMatch(utf8(("low", "Low", "LOW", " low", "<unk>", "1", " 1")), 4)
        found = finding(audit(Pipeline(model)), "near-duplicates")
        assert (found.count, found.figures["by_space"], found.figures["by_case"]) == (3, 1, 2)
        assert found.examples[0].note == "Low; LOW; ·low"

    def test_long_tokens(self) -> None:
        model = LongestMatch(utf8(("<unk>", "é" * 9, "ab" * 5, "x" * 8)), 0)
        found = finding(audit(Pipeline(model), longest=8), "long tokens")
        assert [(e.id, e.note) for e in found.examples] == [
            (2, "10 characters"),
            (1, "9 characters"),
        ]
        assert found.figures == {"longest": 10, "repetitions": 2}
        assert audit(Pipeline(model)).of("long tokens") is None

    def test_holes(self) -> None:
        pipeline = bpe("e+r")
        framed = Pipeline(pipeline.model, framing=Framing.of({"<s>": 260}))
        assert [e.id for e in finding(audit(framed), "holes").examples] == [257, 258, 259]

    def test_unused(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("er<|x|>er a")
        tok = Tokenizer(bpe("e+r", "o+l"))
        used = token_use(tok, name_texts(files=tmp_path / "a.txt"), Reading("<|x|>"))
        assert {i: int(used[i]) for i in np.flatnonzero(used)} == {32: 1, 97: 1, 256: 2}
        assert token_use(tok, name_texts(texts=["er", "er a"]), Reading()).tolist() == used.tolist()
        (tmp_path / "b.jsonl").write_text('{"t": "er"}\n{"t": "er a"}\n')
        lines = name_texts(files=tmp_path / "b.jsonl")
        assert token_use(tok, lines, Reading(field="t")).tolist() == used.tolist()
        (tmp_path / "b.jsonl").unlink()
        found = finding(toksmith.audit(tok, files=tmp_path, separator="<|x|>"), "unused")
        assert found.count == 258 - 3
        assert found.figures == {"corpus_tokens": 4, "share": round(255 / 258, 4), "rare": 3}


class TestTexts:
    def test_each_digit(self) -> None:
        found = finding(audit(bpe()), "digits")
        assert found.severity is Severity.INFO
        assert found.figures == {"single_tokens": {"2": 0, "3": 0, "4": 0}, "longest": 1}
        assert {e.text: e.note for e in found.examples}[b"365"] == "3 | 6 | 5"

    def test_two_digits(self) -> None:
        pairs = [f"{a}+{b}" for a in range(10) for b in range(10)]
        found = finding(audit(bpe(*pairs, split="gpt2")), "digits")
        assert found.severity is Severity.INFO
        assert found.figures["single_tokens"] == {"2": 100, "3": 0, "4": 0}
        assert "all numbers of up to 2 digits are one token" in found.summary

    def test_uneven_digits(self) -> None:
        found = finding(audit(bpe("1+9", "19+0")), "digits")
        assert found.severity is Severity.WARNING
        assert found.figures == {"single_tokens": {"2": 1, "3": 1, "4": 0}, "longest": 3}

    def test_white_space(self) -> None:
        kept = finding(audit(bpe(" + ")), "white space")
        assert (kept.severity, kept.figures["lost"], kept.figures["longest"]) == (
            Severity.INFO, [], 2,
        )  # fmt: skip
        assert kept.figures["tokens_for"]["4 space"] == 2
        lost = finding(audit(PIPELINES["wordpiece"]), "white space")
        assert lost.severity is Severity.WARNING
        assert lost.figures["lost"] == ["spaces", "tabs", "line breaks"]

    def test_round_trips(self) -> None:
        assert audit(bpe()).of("round trip") is None
        unknown = finding(audit(PIPELINES["char"]), "round trip")
        assert unknown.severity is Severity.ERROR  # not even small letters come back
        assert "small letters" in unknown.figures["kinds"]
        vocab = utf8(("<unk>", *"abcdefghijklmnopqrstuvwxyz "))
        lower = Pipeline(LongestMatch(vocab, 0), normalizer=(Lowercase(),))
        changed = finding(audit(lower), "round trip")
        assert changed.severity is Severity.WARNING
        assert changed.examples[0].note == "capitals: the·quick·brown·fox"

    def test_special_tokens_in_plain_text(self) -> None:
        model = WordLevel((b"<unk>", b"<s>", b"a"), 0)
        framing = Framing((AddedToken("<s>", 1), AddedToken("<new>", 3, special=False)))
        found = audit(Pipeline(model, WORDS, framing))
        assert found.worst is Severity.ERROR
        assert found.findings[0].kind == "injection"
        assert [example.id for example in found.findings[0].examples] == [1]
        assert [e.text for e in finding(found, "added tokens").examples] == [b"<new>"]
        safe = audit(Pipeline(bpe().model, framing=Framing.of({"<s>": 256})))
        assert safe.of("injection") is None
        assert finding(safe, "special tokens").count == 1


class TestAudit:
    def test_as_json(self, tmp_path: Path) -> None:
        found = audit(bpe("ol"))
        held = json.loads(found.to_json(tmp_path / "a.json"))
        assert held == found.to_dict() == json.loads((tmp_path / "a.json").read_text())
        assert (held["tokenizer"], held["model"], held["vocab_size"]) == ("tokenizer 1", "BPE", 257)
        assert held["findings"][0]["severity"] == "warning"
        assert held["findings"][0]["examples"] == [{"text": "ol", "id": 256, "note": ""}]

    def test_grave_ones_first_and_all_kinds_are_known(self) -> None:
        for kind in ("bpe", "sentencepiece-unigram", "wordpiece", "character-bpe"):
            findings = audit(PIPELINES[kind]).findings
            assert [f.severity for f in findings] == sorted(
                (f.severity for f in findings), reverse=True
            )
            assert {f.kind for f in findings} <= KINDS.keys()

    def test_view(self) -> None:
        console = Console(file=io.StringIO(), width=100, color_system=None)
        console.print(audit_view(audit(bpe("ol", b"\x1b+[", split="gpt2")), colour=False))
        shown = console.file.getvalue()  # type: ignore[attr-defined]
        assert "BPE, 258 ids" in shown
        assert "warning  never made  1\n    Tokens that the model does not make" in shown
        assert "    256  ol" in shown
        assert "\x1b" not in shown

    def test_wrong_arguments(self) -> None:
        with pytest.raises(OptionError, match="longest"):
            audit(bpe(), longest=0)
        with pytest.raises(OptionError, match="is no tokenizer"):
            toksmith.audit(3)  # type: ignore[arg-type]


def test_a_corpus_is_texts_or_files() -> None:
    tok = Tokenizer(bpe("e+r"))
    assert toksmith.audit(tok).of("unused") is None
    assert finding(toksmith.audit(tok, texts={"a": "er", "b": ["a"]}), "unused").count == 255
    wrong: list[tuple[dict[str, object], str]] = [
        ({"on": "er"}, "audit takes no on=: use texts= .*, or files="),
        ({"texts": "er", "files": "a.txt"}, "audit takes one of texts= and files="),
        ({"texts": Path("a.txt")}, "texts is a path, and texts are always text"),
        ({"files": "no/such.txt"}, "there is no such file"),
        ({"texts": []}, "texts is empty"),
    ]
    for arguments, message in wrong:
        with pytest.raises((OptionError, FormatError), match=message):
            toksmith.audit(tok, **arguments)  # type: ignore[arg-type]


@POSIX
def test_an_interrupt_at_any_moment_ends_it() -> None:
    # A signal that arrives while NumPy looks up an attribute would be lost there.
    tok = toksmith.get("toksmith-small")
    fired: list[float] = []

    def interrupt(*_: object) -> None:
        fired.append(time.monotonic())
        raise KeyboardInterrupt

    begun = time.monotonic()
    toksmith.audit(tok)
    whole = time.monotonic() - begun
    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # hypothesis watches collections: an exception in its callback would be lost
    try:
        lost = []
        for part in range(4, 36, 4):
            fired.clear()
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, whole * part / 40)
                toksmith.audit(tok)
                if fired:
                    lost.append(part)
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    assert lost == []
