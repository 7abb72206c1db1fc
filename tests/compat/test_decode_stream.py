"""DecodeStream against that of tokenizers, step by step."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.strategies import random_texts
from toksmith import Tokenizer, models
from toksmith.compat.tokenizers.decoders import DecodeStream
from toksmith.decoders import ByteFallback, Fuse, Replace, Strip
from toksmith.errors import ToksmithError
from toksmith.framing import AddedToken, Framing
from toksmith.pipeline import Pipeline

tokenizers = pytest.importorskip("tokenizers")

CORPUS = ["low lower lowest 日本語 naïve é 👍🏽 привет мир नमस्ते " * 4]
BYTES = tuple(f"<0x{byte:02X}>".encode() for byte in range(256))
LLAMA = Tokenizer(
    Pipeline(
        models.WordLevel((b"<unk>", *BYTES, "▁low".encode(), b"er", "▁".encode(), "é".encode()), 0),
        framing=Framing((AddedToken("<s>", 261),)),
        decoder=(Replace("▁", " "), ByteFallback(), Fuse(), Strip(" ", 1, 0)),
    )
)
TOKENIZERS = {
    "byte-level BPE": toksmith.train(
        texts=CORPUS, vocab_size=300, split="gpt4", special_tokens=["<|end|>"]
    ),
    "byte fallback": LLAMA,
    "wordpiece": toksmith.train(
        texts=CORPUS, model="wordpiece", vocab_size=50, special_tokens=["[UNK]", "[CLS]", "[SEP]"]
    ),
}


def peer_of(tok: Tokenizer) -> Any:
    return tokenizers.Tokenizer.from_str(tok.dumps().decode())


def steps(stream: Any, tokenizer: Any, ids: list[Any]) -> list[str | None]:
    """Return what each step returns, up to an invalid prefix."""
    found: list[str | None] = []
    try:
        for each in ids:
            found.append(stream.step(tokenizer, each))  # noqa: PERF401 - what comes before an error
    except Exception as error:
        found.append(str(error)[:26])
    return found


@pytest.mark.parametrize("name", TOKENIZERS)
class TestSameSteps:
    def test_random_ids(self, name: str) -> None:
        tok = TOKENIZERS[name]
        peer, rng = peer_of(tok), random.Random(1)
        for _ in range(150):
            skip = rng.random() < 0.5
            ids = rng.choices(range(len(tok)), k=12)
            ours = steps(DecodeStream(skip_special_tokens=skip), tok, ids)
            theirs = tokenizers.decoders.DecodeStream(skip_special_tokens=skip)
            assert ours == steps(theirs, peer, ids)

    def test_texts(self, name: str) -> None:
        tok = TOKENIZERS[name]
        peer = peer_of(tok)
        for text in (*random_texts(8, 60, surrogates=False), *CORPUS):
            ids = tok.encode(text)
            theirs = tokenizers.decoders.DecodeStream()
            assert steps(DecodeStream(), tok, ids) == steps(theirs, peer, ids)

    def test_lists_and_prompts(self, name: str) -> None:
        tok = TOKENIZERS[name]
        peer, rng = peer_of(tok), random.Random(2)
        for _ in range(100):
            ids = tok.encode("".join(rng.choices(["low", "é", " ", "日本", "er", "👍"], k=14)))
            cut = rng.randrange(len(ids) + 1)
            if tok.decode(ids[:cut]).endswith("\ufffd"):
                continue  # there, tokenizers returns the whole prompt
            rest = [[ids[cut : cut + 2]], *ids[cut + 2 :]] if rng.random() < 0.5 else ids[cut:]
            rest = [each[0] if isinstance(each, list) and len(each) == 1 else each for each in rest]
            prompt = ids[:cut] if cut else None
            theirs = tokenizers.decoders.DecodeStream(ids=prompt)
            assert steps(DecodeStream(prompt), tok, rest) == steps(theirs, peer, rest)

    def test_a_prompt_that_ends_inside_a_character(self, name: str) -> None:
        tok = TOKENIZERS[name]
        for text in ("low é", "lowlowlowlowlow low low 日本", "👍🏽 low👍"):
            ids = tok.encode(text)
            for cut in range(len(ids)):
                stream = DecodeStream(ids[:cut])
                text = "".join(stream.step(tok, each) or "" for each in ids[cut:])
                shown = tok.decode(ids[:cut]).rstrip("\ufffd")
                assert shown + text == tok.decode(ids)
                rest = tok.decoder(ids=ids[:cut])
                again = "".join(map(rest.decode, ids[cut:])) + rest.decode(final=True)
                assert again.endswith(text)
                assert len(again) <= len(text) + 3


class TestByteFallback:
    def test_invalid_bytes_after_valid_ones(self) -> None:
        stream = DecodeStream()
        assert stream.step(LLAMA, [1 + 0xC3, 1 + 0xA9]) == "é"
        assert stream.step(LLAMA, 1 + 0xFF) is None
        with pytest.raises(ToksmithError, match=r"^Invalid prefix encountered"):
            stream.step(LLAMA, 257)


class TestStream:
    TOK = TOKENIZERS["byte-level BPE"]

    def test_copies_go_on_independently(self) -> None:
        for make in (copy.copy, copy.deepcopy):
            stream = DecodeStream(self.TOK.encode("low"))
            assert stream.step(self.TOK, 0xC3) is None
            other = make(stream)
            assert stream.step(self.TOK, 0xA9) == "é"
            assert other.step(self.TOK, 0xA8) == "è"
            assert stream.step(self.TOK, 33) == other.step(self.TOK, 33) == "!"

    def test_a_tokenizer_of_the_other_library(self) -> None:
        peer = peer_of(self.TOK)
        ids = self.TOK.encode("low 日本 é!")
        for prompt in ([], self.TOK.encode("low low"), [97, 0xE6, 0x97]):
            ours = DecodeStream(prompt)
            assert steps(ours, peer, ids) == steps(DecodeStream(prompt), self.TOK, ids)

    def test_wrong_ids(self) -> None:
        stream = DecodeStream()
        for wrong in (-1, 2**32, 1.5):
            with pytest.raises(TypeError, match="StreamInput must be either an integer or a list"):
                stream.step(self.TOK, wrong)  # type: ignore[arg-type]
        assert stream.step(self.TOK, 100_000) is None
        assert stream.step(self.TOK, [100_000, 97]) == "a"

    def test_a_step_decodes_few_ids(self, monkeypatch: pytest.MonkeyPatch) -> None:
        sizes: list[int] = []
        decode = Tokenizer.decode
        monkeypatch.setattr(
            Tokenizer,
            "decode",
            lambda tok, ids, **options: sizes.append(len(ids)) or decode(tok, ids, **options),
        )
        stream = DecodeStream(self.TOK.encode("low lower " * 500))
        for each in self.TOK.encode("lowest low " * 50):
            stream.step(self.TOK, each)
        assert max(sizes) <= 10


class TestIncrementalDecoder:
    def test_prompts(self) -> None:
        tok = TOKENIZERS["byte-level BPE"]
        assert tok.decoder(ids=tok.encode("low ")).decode(tok.encode("er")) == "er"
        decoder = tok.decoder(ids=[97, 0xC3])
        assert decoder.decode(0xA9) == "é"
        assert decoder.decode(final=True) == ""
        assert decoder.decode(tok.encode("low")) == "low"  # a new text
        assert LLAMA.decoder(ids=[257]).decode(257) == " low"
        assert LLAMA.decoder().decode(257) == "low"

    @pytest.mark.parametrize("name", TOKENIZERS)
    def test_copies(self, name: str) -> None:
        tok, rng = TOKENIZERS[name], random.Random(3)
        for _ in range(60):
            ids = rng.choices(range(len(tok)), k=8)
            decoder, text = tok.decoder(), ""
            for place, each in enumerate(ids):
                text += decoder.decode(each)
                for make in (copy.copy, copy.deepcopy, type(decoder).copy):
                    assert text + make(decoder).decode(final=True) == tok.decode(ids[: place + 1])


@pytest.mark.parametrize(
    "name", ["gpt2_tokenizer", "bert_uncased_tokenizer", "t5_envit5_tokenizer"]
)
def test_published(name: str, shared: Path) -> None:
    path = shared / f"data/vocab/{name}.json"
    tok, peer = toksmith.load(path), tokenizers.Tokenizer.from_file(str(path))
    lines = (
        (shared / "data/corpus/multilingual.txt").read_bytes()[:400_000].decode("utf-8", "ignore")
    )
    texts = [line[:60] for line in lines.splitlines() if line.strip()]
    random.Random(1).shuffle(texts)
    for text in texts[:300]:
        ids = tok.encode(text)
        theirs = tokenizers.decoders.DecodeStream()
        assert steps(DecodeStream(), tok, ids) == steps(theirs, peer, ids)
        cut = len(ids) // 2
        if not tok.decode(ids[:cut]).endswith("\ufffd") and cut:
            theirs = tokenizers.decoders.DecodeStream(ids=ids[:cut])
            assert steps(DecodeStream(ids[:cut]), tok, ids[cut:]) == steps(theirs, peer, ids[cut:])
