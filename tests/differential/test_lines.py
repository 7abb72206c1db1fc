"""Counting and normalizing the words of lines one by one, against the plain way."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import toksmith
from toksmith.engine.counting import LineCounter
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.reference.piece_rules import SPACE, PieceRules
from toksmith.stages.charsmap_rules import RULES, charsmap_of, rule_entries
from toksmith.stages.normalize import normalize
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.symbol_words import AnyWords
from toksmith.trainers.sentencepiece.quick_normalizer import LATER, QuickNormalizer
from toksmith.trainers.sentencepiece.sentences import read_sentences
from toksmith.trainers.sentencepiece_options import SentencePieceOptions

ODD = (
    *("a", "b.", "Z", " ", "  ", "\t", "\u3000", "\u00a0", "é", "e\u0301", "\u0301", "ｶﾞ", "ﾞ"),
    *(",", "1", "c(", "\r"),
    *("\u2581", "<s>", "\ufffd", "\u200b", "\x01", "¨", "½", "가", "ᄀ", "ᅡ", "漢", "\u2585", "𝒳"),
)


def random_lines(seed: int) -> str:
    rng = random.Random(seed)
    return "".join(rng.choices([*ODD, " ", " ", "\n"], k=rng.randint(0, 60)))


def expected_chunks(documents: list[bytes], longest: int) -> Iterator[bytes]:
    for document in documents:
        for line in document.split(b"\n"):
            if line and not (longest and len(line) > longest) and b"\xe2\x96\x85" not in line:
                yield from re.split(rb"(?<=[!-~])(?= )", b"\n" + line)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("threads", [1, 3])
def test_words_of_lines(seed: int, threads: int) -> None:
    documents = [random_lines(seed * 100 + i).encode() for i in range(20)]
    longest = seed % 3 * 12
    counter = LineCounter(threads, longest=longest, skip_reserved=True)
    counter.add_texts(documents)
    found = counter.finish()
    assert list(found.items()) == list(Counter(expected_chunks(documents, longest)).items())
    lines = [line for document in documents for line in document.split(b"\n") if line]
    assert found.lines + found.too_long + found.reserved == len(lines)
    whole = LineCounter(threads, words=False)
    whole.add_texts(documents)
    assert dict(whole.finish().items()) == Counter(lines)


def test_long_documents_are_cut_at_lines() -> None:
    rng = random.Random(1)
    document = b"\n".join(b"ab c" * rng.randrange(40) for _ in range(40_000))
    found = {}
    for threads in (1, 2):
        counter = LineCounter(threads)
        counter.add_texts([document])
        found[threads] = list(counter.finish().items())
    assert found[1] == found[2]
    assert found[1] == list(Counter(expected_chunks([document], 0)).items())
    assert LineCounter.cut(document, 100, len(document)) == document.index(b"\n", 100) + 1


@pytest.mark.parametrize("name", RULES)
def test_keys_go_on_with_these(name: str) -> None:
    """What the quick ways rest on, of each of SentencePiece's own rules."""
    entries = rule_entries(name) if name != "identity" else {}
    later = {character for key in entries for character in key[1:]}
    assert later <= set(LATER)
    assert not any(" " in key or "  " in new for key, new in entries.items())
    plain = {chr(code) for code in range(0x21, 0x7F)}
    changed = {key: new for key, new in entries.items() if key in plain}
    assert all(name.endswith("_cf") and new == key.lower() for key, new in changed.items())


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", range(8))
def test_quick_normalizer(name: str, seed: int) -> None:
    rng = random.Random(seed)
    step = SentencePieceNormalizer(
        charsmap_of(name), *(rng.random() < 0.5 for _ in range(2)), True, rng.random() < 0.5,
        rng.choice([(), ("b.",)]), name,
    )  # fmt: skip
    quick = QuickNormalizer(step)
    for i in range(60):
        for line in [*random_lines(1000 * seed + i).split("\n"), "a\udcff b"]:
            assert quick(line) == normalize((step,), line), line


def as_text(words: AnyWords) -> Counter[str]:
    found: Counter[str] = Counter()
    words = words.only(words.characters)
    start = 0
    for end, count in zip(words.words.ends.tolist(), words.words.counts.tolist(), strict=True):
        symbols = words.words.symbols[start:end].tolist()
        found["".join(words.characters[symbol] for symbol in symbols)] += count
        start = end
    return found


def one_by_one(text: str, options: SentencePieceOptions, symbols: list[str]) -> Counter[str]:
    """Normalize each line with the reference, and cut it."""
    name = options.normalization_rule_name
    step = SentencePieceNormalizer(
        charsmap_of(name), options.add_dummy_prefix, options.remove_extra_whitespaces, name=name
    )
    words: Counter[str] = Counter()
    for line in text.split("\n"):
        if "\u2585" in line or len(line.encode()) > options.max_sentence_length:
            continue
        new = normalize((step,), line)
        for symbol in symbols:
            new = new.replace(symbol, "\x1f")
        words.update(re.findall(f"{SPACE}[^{SPACE}]*|[^{SPACE}]+", new))
    return words


def stretches(words: Counter[str], rules: PieceRules) -> Counter[str]:
    """Cut words where no piece reaches across: those of ASCII come cut."""
    found: Counter[str] = Counter()
    for word, count in words.items():
        start = 0
        for place in range(1, len(word) + 1):
            if place == len(word) or rules.apart(word[place - 1], word[place]):
                found[word[start:place]] += count
                start = place
    return found


def check(text: str, **given: Any) -> None:
    options = SentencePieceOptions(**given)
    name = options.normalization_rule_name
    step = SentencePieceNormalizer(
        charsmap_of(name), options.add_dummy_prefix, options.remove_extra_whitespaces, name=name
    )
    try:
        found = as_text(read_sentences(Corpus(texts=[text]), options, step, ["<s>", "b."]).words)
    except toksmith.errors.TrainingError:
        found = Counter()
    rules = options.rules()
    assert stretches(found, rules) == stretches(one_by_one(text, options, ["<s>", "b."]), rules)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("add_dummy_prefix", [True, False])
@pytest.mark.parametrize("remove_extra_whitespaces", [True, False])
def test_words_by_chunks(name: str, add_dummy_prefix: bool, remove_extra_whitespaces: bool) -> None:
    for seed in range(120):
        check(
            random_lines(seed),
            normalization_rule_name=name,
            add_dummy_prefix=add_dummy_prefix,
            remove_extra_whitespaces=remove_extra_whitespaces,
            split_digits=seed % 5 == 0,
            split_by_number=seed % 3 > 0,
            split_by_unicode_script=seed % 7 > 0,
        )


def test_words_of_a_corpus(corpus: Callable[..., bytes]) -> None:
    for name in ("english", "multilingual", "code"):
        text = corpus(f"{name}.txt", 60_000).decode("utf-8", "ignore")
        check(text, max_sentence_length=100_000)
