"""Pipelines that the kernel runs with all their stages, against the same stages one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toksmith import engine
from toksmith.engine import FusedEncoder
from toksmith.models import LongestMatch
from toksmith.normalizers import Normalizer
from toksmith.pipeline import Pipeline
from toksmith.reference import ReferenceEncoder
from toksmith.splitters import Splitter

LETTERS = "ab c\u2581\u00e9\u4e2d\U0001f600\ufffd"
texts = st.text(st.sampled_from(LETTERS), max_size=30)
vocabularies = st.sets(
    st.text(st.sampled_from(LETTERS.replace(" ", "")), min_size=1, max_size=4), max_size=14
)
STAGES: list[tuple[Normalizer, Splitter | None]] = [
    ((), None),
    # ((), Metaspace()),
    # ((), Metaspace(prepend="first")),
    # ((), Metaspace(prepend="never", split=False)),
]


@given(vocabularies, st.lists(texts, max_size=4), st.booleans(), st.booleans())
def test_longest_match(vocab: set[str], documents: list[str], unk: bool, fuse: bool) -> None:
    tokens = ("<unk>", *sorted(vocab))
    model = LongestMatch(tuple(t.encode() for t in tokens), 0 if unk else None, fuse)
    for normalizer, splitter in STAGES:
        pipeline = Pipeline(model, splitter, normalizer=normalizer)
        fused, reference = engine.compile(pipeline), ReferenceEncoder(pipeline)
        assert isinstance(fused, FusedEncoder)
        expected = reference.encode_texts(documents)
        assert fused.encode_texts(documents, 1).to_lists() == expected.to_lists()
        assert fused.encode_texts(documents, 2) == expected
        for document in documents:
            ids, spans = fused.encode_with_spans(document)
            assert ids.tolist() == fused.encode_list(document, 1)
            assert spans.tolist() == reference.encode_with_spans(document)[1].tolist()
