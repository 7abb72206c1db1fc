"""SentencePiece's normalizer and character maps against sentencepiece and tokenizers."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from toksmith.normalizers import Precompiled, SentencePieceNormalizer
from toksmith.stages.aligned import Aligned
from toksmith.stages.charsmap import character_map
from toksmith.stages.charsmap_building import compile_charsmap
from toksmith.stages.charsmap_rules import charsmap_from_tsv, charsmap_of, rule_entries
from toksmith.stages.normalize import normalize

spm = pytest.importorskip("sentencepiece")
pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
spm.SetMinLogLevel(3)

MAP = {
    "x": "", "y": " ", "z": "  a ", "w": " ", "ab": "b a", "q": "  ", "é": "e\u0301c", "v": "▁",
    "か\u3099": "が", "\ufffd": " ",
}  # fmt: skip


def their_normalizer(charsmap: bytes, **options: bool) -> Any:
    spec = pb.NormalizerSpec(name="user_defined", precompiled_charsmap=charsmap, **options)
    return spm.SentencePieceNormalizer(normalizer_spec=spec.SerializeToString())


@pytest.mark.parametrize(("dummy", "extra", "escape"), list(product([False, True], repeat=3)))
def test_normalizing_and_its_places(dummy: bool, extra: bool, escape: bool) -> None:
    charsmap = compile_charsmap(MAP)
    theirs = their_normalizer(
        charsmap, add_dummy_prefix=dummy, remove_extra_whitespaces=extra, escape_whitespaces=escape
    )
    step = SentencePieceNormalizer(charsmap, dummy, extra, escape)
    rng = random.Random(f"{dummy}{extra}{escape}")
    for _ in range(500):
        text = "".join(rng.choices("  xyzwabqcé▁vか\u3099あ😀\u3000\ufffd", k=rng.randrange(9)))
        wanted, places = theirs.Normalize(text, with_offsets=True)
        aligned = normalize((step,), Aligned.of(text))
        assert aligned.text == normalize((step,), text) == wanted
        byte = [len(text[:place].encode()) for place in places]
        assert [*aligned.starts, *aligned.ends[-1:]] == byte[: len(wanted) + bool(wanted)]


@pytest.mark.parametrize("name", ["nfkc", "nmt_nfkc_cf"])
def test_named_rules_are_theirs_entry_by_entry(name: str) -> None:
    theirs = spm.SentencePieceNormalizer(rule_name=name)
    assert rule_entries(name) == dict(theirs.Decompile())


def test_sentencepiece_reads_the_character_maps_we_compile(corpus: Callable[..., bytes]) -> None:
    charsmap = charsmap_of("nmt_nfkc_cf")
    theirs = spm.SentencePieceNormalizer(rule_name="nmt_nfkc_cf")
    again = their_normalizer(charsmap)
    step = SentencePieceNormalizer(charsmap)
    every = "".join(chr(c) + ("a " if c % 5 else "") for c in range(1, 0x30000) if c >> 11 != 0x1B)
    assert again.Normalize(every) == theirs.Normalize(every)
    firsts = "a ".join(sorted(character_map(charsmap).first_characters))
    samples = [corpus(f"{name}.txt", 20_000).decode() for name in ("multilingual", "cjk")]
    for text in (firsts, *samples):
        assert normalize((step,), text) == theirs.Normalize(text)


def test_rules_of_the_users(tmp_path: Path) -> None:
    rules = "41 302 300\t1EA6\n0410\t0061 0062\n61\t\n"
    (tmp_path / "rules.tsv").write_text(rules)
    theirs = spm.SentencePieceNormalizer(rule_tsv=str(tmp_path / "rules.tsv"))
    ours = their_normalizer(charsmap_from_tsv(rules))
    assert ours.Decompile() == theirs.Decompile()


def test_precompiled_of_tokenizers(corpus: Callable[..., bytes]) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    charsmap = charsmap_of("nmt_nfkc")
    step = Precompiled(charsmap)
    theirs = tokenizers.normalizers.Precompiled(charsmap)
    whole = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    whole.normalizer = theirs
    whole.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    pool = (
        "ab e\u0301½ﬁㄱ각가か\u3099カﾞ\r\n\t\x01\u200d\ufeff株㍿ｱA\u0300\u0327ÀẬ﷽ก็เ\u0e33नि्षி🇩🇪👩🏽"
    )
    rng = random.Random(8)
    for _ in range(1500):
        text = "".join(rng.choices(pool, k=rng.randrange(1, 10)))
        aligned = normalize((step,), Aligned.of(text))
        assert aligned.text == normalize((step,), text) == theirs.normalize_str(text)
        byte = [len(text[:place].encode()) for place in range(len(text) + 1)]
        offsets = [(byte[start], byte[end]) for start, end in whole.encode(text).offsets]
        assert list(zip(aligned.starts, aligned.ends, strict=True)) == offsets, text
    for file in ("multilingual", "cjk"):
        data = corpus(f"{file}.txt", 20_000).decode()
        assert normalize((step,), data) == theirs.normalize_str(data)
