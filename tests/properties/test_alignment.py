"""Spans of normalized and split text always refer to the original."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toksmith.normalizers import (
    Bert,
    Lowercase,
    Nmt,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from toksmith.splitters import (
    BertSplitter,
    CharacterDelimiter,
    Digits,
    FixedLength,
    LeadingSpace,
    Metaspace,
    Punctuation,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from toksmith.stages.aligned import Aligned
from toksmith.stages.normalize import normalize
from toksmith.stages.split_classes import split_text

texts = st.text(max_size=24) | st.text(
    st.sampled_from("aB \u0301\u0323é한ᄀ\u1161ﬁ中.,1²\u3000▁'\n")
)
behaviors = st.sampled_from(
    ["removed", "isolated", "merged-with-previous", "merged-with-next", "contiguous"]
)
steps = st.one_of(
    st.builds(Bert, st.booleans(), st.booleans(), st.none() | st.booleans(), st.booleans()),
    st.builds(UnicodeForm, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"])),
    st.sampled_from([Lowercase(), StripAccents(), Nmt(), Prepend("▁"), Prepend("ab")]),
    st.builds(Strip, st.booleans(), st.booleans()),
    st.builds(Replace, st.sampled_from([" ", "a", "é", "  "]), st.sampled_from(["", "x", "▁▁"])),
    st.builds(Replace, st.sampled_from([r"\s+", "a*", "^", "."]), st.just("-"), st.just(True)),
)
keeping = st.one_of(  # what drops no character
    st.builds(Punctuation, behaviors.filter(lambda b: b != "removed")),
    st.builds(Digits, st.booleans()),
    st.builds(FixedLength, st.integers(1, 4)),
    st.builds(Split, st.sampled_from([r"\s", "a*", "(?=B)"]), behaviors, st.booleans()).filter(
        lambda split: split.behavior != "removed"
    ),
    st.sampled_from([Metaspace(), Metaspace(prepend="never", split=False), LeadingSpace()]),
)
dropping = st.one_of(
    st.sampled_from([BertSplitter(), Whitespace(), WhitespaceSplit(), UnicodeScripts()]),
    st.sampled_from([CharacterDelimiter("a"), Punctuation("removed")]),
    st.builds(Split, st.sampled_from([r"\s", "a*", "(?=B)"]), st.just("removed"), st.booleans()),
)


@given(texts, st.lists(steps, max_size=4))
def test_spans_lie_in_the_text_and_in_order(text: str, normalizer: list[object]) -> None:
    aligned = normalize(tuple(normalizer), Aligned.of(text))
    assert aligned.text == normalize(tuple(normalizer), text)
    assert len(aligned.text) == len(aligned.starts) == len(aligned.ends)
    size = len(text.encode("utf-8", "surrogatepass"))
    last = (0, 0)
    for span in zip(aligned.starts, aligned.ends, strict=True):
        assert 0 <= span[0] <= span[1] <= size
        assert last[0] <= span[0]
        assert last[1] <= span[1]
        last = span


@given(texts)
def test_steps_without_effect_keep_every_span(text: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        once = normalize((UnicodeForm(form),), text)
        aligned = Aligned.of(once)
        assert normalize((UnicodeForm(form),), aligned) == aligned
    lower = normalize((Lowercase(),), text)
    assert normalize((Lowercase(),), lower) == lower


@given(texts, keeping)
def test_pieces_cover_the_text(text: str, splitter: object) -> None:
    chunks = split_text(splitter, Aligned.of(text))
    assert all(len(chunk) for chunk in chunks)
    assert [chunk.text for chunk in chunks] == split_text(splitter, text)
    starts = [start for chunk in chunks for start in chunk.starts]
    ends = [end for chunk in chunks for end in chunk.ends]
    whole = Aligned.of(text)
    assert sorted(set(zip(starts, ends, strict=True))) == sorted(
        zip(whole.starts, whole.ends, strict=True)
    )
    assert starts == sorted(starts)


@given(texts, dropping)
def test_pieces_are_stretches_of_the_text(text: str, splitter: object) -> None:
    whole = Aligned.of(text)
    done = 0
    for chunk in split_text(splitter, whole):
        start = whole.starts.index(chunk.starts[0])
        assert start >= done
        done = start + len(chunk)
        assert whole[start:done] == chunk
