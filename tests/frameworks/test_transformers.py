"""transformers with toksmith against transformers without it, call by call."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import toksmith

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
tokenizers = pytest.importorskip("tokenizers")

from toksmith.compat import transformers as fast  # noqa: E402
from toksmith.errors import OptionError  # noqa: E402

SPECIAL = {
    "gpt2": {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
    "bert_uncased": {
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "unk_token": "[UNK]",
        "mask_token": "[MASK]",
    },
    "t5_envit5": {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
    "small": {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
}
TEXTS = [
    "Hello world! How's it going?",
    "",
    "héllo wörld 日本語 🙂 naïve",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 3,
    "<|endoftext|> and [MASK] x </s>  end",
]
PAIRS = ["second one", "x", "foo bar baz", "p q r s t u v w " * 9, "[SEP] ok"]
WORDS, PAIR_WORDS = [text.split() for text in TEXTS], [text.split() for text in PAIRS]
TEXT_ARGUMENTS = [(TEXTS,), (TEXTS, PAIRS), (TEXTS[0],), (TEXTS[0], PAIRS[0]), ("",)]
WORD_ARGUMENTS = [(WORDS,), (WORDS, PAIR_WORDS), (WORDS[0],)]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"padding": True},
    {"truncation": True, "max_length": 12},
    {"padding": "max_length", "max_length": 40, "truncation": True},
    {"return_offsets_mapping": True},
    {"return_special_tokens_mask": True, "return_length": True},
    {"truncation": True, "max_length": 12, "stride": 3, "return_overflowing_tokens": True},
    {
        "truncation": True,
        "max_length": 12,
        "stride": 3,
        "return_overflowing_tokens": True,
        "padding": "max_length",
        "return_offsets_mapping": True,
        "return_special_tokens_mask": True,
        "return_tensors": "np",
    },
    {"padding": True, "return_tensors": "np"},
    {"padding": True, "padding_side": "left", "pad_to_multiple_of": 8},
    {"add_special_tokens": False},
    {"split_special_tokens": True},
    {"return_token_type_ids": True},
    {"return_attention_mask": False},
]
CALLS = [
    *product(TEXT_ARGUMENTS, OPTIONS),
    *product(WORD_ARGUMENTS, [{**options, "is_split_into_words": True} for options in OPTIONS]),
    (([TEXTS[0], TEXTS[3]], [PAIRS[0], PAIRS[3]]), {"truncation": "only_first", "max_length": 99}),
    (([TEXTS[0], TEXTS[3]], [PAIRS[0], PAIRS[3]]), {"truncation": "only_second", "max_length": 99}),
]


@pytest.fixture(scope="module", params=[*SPECIAL])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name: str = request.param
    if name == "small":
        path = tmp_path_factory.mktemp("small") / "small_tokenizer.json"
        toksmith.get("toksmith-small").save(path)
        return path
    shared: Path = request.getfixturevalue("shared")
    return shared / "data/vocab" / f"{name}_tokenizer.json"


@pytest.fixture
def unpatched() -> Iterator[None]:
    yield
    fast.deactivate()


def load(file: Path) -> Any:
    special = SPECIAL[file.name.removesuffix("_tokenizer.json")]
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(file), **special)


def comparable(found: Any) -> dict[str, Any]:
    """Return the fields as lists; spans as lists too."""
    lists = {}
    for field, value in found.items():
        lists[field] = value.tolist() if isinstance(value, np.ndarray) else value
        if field == "offset_mapping":
            lists[field] = np.array(value, object).tolist()
    return lists


def rows(found: Any) -> list[tuple[Any, ...]]:
    return [(row.ids, row.offsets, row.word_ids, row.tokens) for row in found._encodings]


@pytest.mark.usefixtures("unpatched")
def test_calls(file: Path) -> None:
    stock, ours = load(file), fast.accelerate(load(file))
    assert fast.engine_of(ours).startswith("toksmith: kernel")
    # tokenizers before 0.23 forgets the type ids of overflowing pairs.
    is_old = tuple(map(int, tokenizers.__version__.split(".")[:2])) < (0, 23)
    served = 0
    for texts, options in CALLS:
        expected, found = stock(*texts, **options), ours(*texts, **options)
        assert list(found) == list(expected), options
        served += type(found._encodings) is not list
        assert not getattr(found._encodings, "_made", None)  # no encoding unless it is looked at
        expected_fields, fields = comparable(expected), comparable(found)
        if is_old and options.get("return_overflowing_tokens"):
            for each in (expected_fields, fields):
                each.pop("token_type_ids", None)
        assert fields == expected_fields, (texts, options)
        assert rows(found) == rows(expected), (texts, options)
        assert found.n_sequences == expected.n_sequences
    assert served == len(CALLS)


@pytest.mark.usefixtures("unpatched")
def test_changes(file: Path, tmp_path: Path) -> None:
    stock, ours = load(file), fast.accelerate(load(file))
    text = "héllo wörld <new> x"
    earlier, tokens = ours(text), stock(text).tokens()
    for each in (stock, ours):
        each.add_tokens(["wörld"])
        each.add_special_tokens({"additional_special_tokens": ["<new>"]})
    ids = stock(text).input_ids
    assert ours(text).input_ids == ids
    assert earlier.tokens() == tokens  # as they were when it was encoded
    for same in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert fast.engine_of(same).startswith("toksmith")
        assert same(text).input_ids == ids
    batch = pickle.loads(pickle.dumps(ours(TEXTS, PAIRS)))
    assert batch.char_to_token(0, 1) == stock(TEXTS, PAIRS).char_to_token(0, 1)
    assert ours.decode(ids) == stock.decode(ids)
    ours.save_pretrained(tmp_path)
    assert transformers.AutoTokenizer.from_pretrained(tmp_path)(text).input_ids == ids
    processors = tokenizers.processors.TemplateProcessing("<new> $A", None, [("<new>", ids[-2])])
    for each in (stock, ours):
        each.backend_tokenizer.post_processor = processors
    assert ours(text).input_ids == stock(text).input_ids != ids


@pytest.mark.usefixtures("unpatched")
def test_a_component_that_is_changed_in_place(file: Path) -> None:
    stock, ours = load(file), fast.accelerate(load(file))
    ours("x")
    for each in (stock, ours):
        each.backend_tokenizer.post_processor = tokenizers.processors.ByteLevel(trim_offsets=False)
        each("x")
        each.backend_tokenizer.post_processor.trim_offsets = True
    options = {"return_offsets_mapping": True}
    assert ours(" a b", **options).offset_mapping == stock(" a b", **options).offset_mapping


@pytest.mark.usefixtures("unpatched")
def test_activate_and_deactivate(file: Path) -> None:
    before = load(file)
    with fast.active():
        inside = load(file)
        assert fast.engine_of(inside).startswith("toksmith")
        assert fast.engine_of(before).startswith("transformers")
        assert inside(TEXTS).input_ids == before(TEXTS).input_ids
    outside = load(file)
    for each in (inside, outside):
        assert fast.engine_of(each) == "transformers: toksmith is not active"
    assert inside(TEXTS).input_ids == outside(TEXTS).input_ids


@pytest.mark.usefixtures("unpatched")
def test_a_block_leaves_what_was_accelerated_before(file: Path) -> None:
    before = fast.accelerate(load(file))
    with fast.active():
        load(file)
    assert type(before("a")._encodings) is not list
    assert fast.engine_of(load(file)).startswith("transformers")


@pytest.mark.usefixtures("unpatched")
def test_wrong_texts_are_refused_as_before(file: Path) -> None:
    stock, ours = load(file), fast.accelerate(load(file))
    for texts in ((["a", "b"], "cd"), (["a"], ["b", "c"]), ([1],), (None,), ([None],), (["a", 2],)):
        with pytest.raises((TypeError, ValueError)) as expected:
            stock(*texts)
        with pytest.raises(expected.type):
            ours(*texts)


@pytest.mark.usefixtures("unpatched")
def test_a_copy_shares_what_was_compiled(file: Path) -> None:
    tokenizer = fast.accelerate(load(file))
    same = copy.deepcopy(tokenizer)
    assert same._tokenizer.compiled() is tokenizer._tokenizer.compiled()
    same.add_tokens(["wörld"])
    text = TEXTS[2]
    assert same(text).input_ids != tokenizer(text).input_ids == load(file)(text).input_ids


@pytest.mark.usefixtures("unpatched")
def test_chat_templates(file: Path) -> None:
    pytest.importorskip("jinja2")
    template = (
        "{% for message in messages %}{% if message.role == 'assistant' %}{% generation %}"
        "{{ message.content }}{{ eos_token }}{% endgeneration %}{% else %}"
        "{{ message.content }}{% endif %}{% endfor %}"
    )
    roles = ("user", "assistant") * 2
    chat = [{"role": role, "content": text} for role, text in zip(roles, PAIRS, strict=False)]
    options: dict[str, Any] = {
        "chat_template": template,
        "return_dict": True,
        "return_assistant_tokens_mask": True,
    }
    stock, ours = load(file), fast.accelerate(load(file))
    for chats, more in (
        (chat, {}),
        ([chat, chat[:2]], {}),
        ([chat, chat[:2]], {"padding": True, "truncation": True, "max_length": 9}),
        ([chat, chat[:2]], {"padding": True, "return_tensors": "np"}),
    ):
        expected = stock.apply_chat_template(chats, **options, **more)
        found = ours.apply_chat_template(chats, **options, **more)
        assert comparable(found) == comparable(expected)
        assert "1" in str(comparable(found)["assistant_masks"])


@pytest.mark.usefixtures("unpatched")
def test_train_new_from_iterator(file: Path, tmp_path: Path) -> None:
    texts = [["hello world hello there", "a b c d e"]] * 20
    with fast.active():
        trained = load(file).train_new_from_iterator(texts, 300)
        assert fast.engine_of(trained).startswith("toksmith")
        found = trained(TEXTS).data
        trained.save_pretrained(tmp_path)
    same = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert fast.engine_of(same).startswith("transformers")
    assert same(TEXTS).data == found


@pytest.mark.usefixtures("unpatched")
def test_unknown_options_are_treated_as_before(file: Path) -> None:
    stock, ours = load(file), fast.accelerate(load(file))

    def called(tokenizer: Any, texts: Any) -> Any:
        try:
            return tokenizer(texts, colour=3).input_ids
        except TypeError:  # transformers 4
            return TypeError

    for texts in ("a", ["a", "b"]):
        assert called(ours, texts) == called(stock, texts)


@pytest.mark.usefixtures("unpatched")
def test_a_lone_surrogate_is_a_replacement_character(file: Path) -> None:
    tokenizer = fast.accelerate(load(file))
    assert tokenizer("a\ud800b").input_ids == tokenizer("a\ufffdb").input_ids


@pytest.mark.usefixtures("unpatched")
def test_threads_with_different_lengths(file: Path) -> None:
    tokenizer = fast.accelerate(load(file))
    stock, wrong = load(file), []

    def call(tokenizer: Any, length: int) -> Any:
        return tokenizer(
            TEXTS,
            truncation=True,
            max_length=length,
            padding="max_length" if length % 2 else True,
            padding_side="left" if length % 3 else "right",
            return_offsets_mapping=not length % 5,
        ).data

    expected = {length: call(stock, length) for length in range(5, 21)}

    def work(length: int) -> None:
        found = [call(tokenizer, length) for _ in range(20)]
        wrong.extend(length for each in found if each != expected[length])

    threads = [Thread(target=work, args=(length,)) for length in range(5, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.usefixtures("unpatched")
def test_threads_share_a_tokenizer_in_calls_that_transformers_encodes(file: Path) -> None:
    # Rows that are longer than max_length are not cut, so toksmith refuses the call.
    texts = ["a b c d e f g h", "b"]
    tokenizer = load(file)
    expected = [tokenizer(texts, padding="max_length", max_length=n).input_ids for n in range(7)]
    tokenizer = fast.accelerate(load(file))
    wrong: list[int] = []

    def work(length: int) -> None:
        for _ in range(50):
            found = tokenizer(texts, padding="max_length", max_length=length).input_ids
            if found != expected[length]:
                wrong.append(length)

    threads = [Thread(target=work, args=(length,)) for length in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_is_no_fast_tokenizer() -> None:
    with pytest.raises(OptionError, match="takes a tokenizer"):
        fast.accelerate("gpt2")


@pytest.mark.usefixtures("unpatched")
def test_a_model_that_toksmith_does_not_take() -> None:
    model = tokenizers.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], dropout=0.5)
    tokenizer = fast.accelerate(
        transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(model))
    )
    assert fast.engine_of(tokenizer).startswith("tokenizers: ")
    assert tokenizer("ab").input_ids in ([2], [0, 1])


@pytest.mark.usefixtures("unpatched")
def test_a_model_that_draws_segmentations() -> None:
    pieces = [("<unk>", 0.0), ("a", -1.0), ("aa", -2.0)]
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, 0))
    )
    if not hasattr(tokenizer.backend_tokenizer.model, "alpha"):
        pytest.skip("tokenizers before 0.23 does not draw segmentations of a Unigram model")
    tokenizer.backend_tokenizer.model.alpha = 0.5
    fast.accelerate(tokenizer)
    assert "random" in fast.engine_of(tokenizer)
    assert len({tuple(tokenizer("aaaa").input_ids) for _ in range(60)}) > 1
    tokenizer.backend_tokenizer.model.alpha = None
    assert len({tuple(tokenizer("aaaa").input_ids) for _ in range(60)}) == 1


@pytest.mark.usefixtures("unpatched")
def test_streams_take_a_backend(file: Path) -> None:
    tokenizer = fast.accelerate(load(file))
    ids = tokenizer("héllo 🙂", add_special_tokens=False).input_ids
    stream, same = (tokenizers.decoders.DecodeStream(skip_special_tokens=True) for _ in range(2))
    for each in ids:
        backend = tokenizer._tokenizer
        assert stream.step(backend, each) == same.step(backend.stock, each)


@pytest.mark.usefixtures("unpatched")
def test_the_guide(
    shared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(__file__).parents[2] / "docs/guides/transformers.md"
    [code] = re.findall(r"```python no-run\n(.*?)```", page.read_text(), re.DOTALL)
    file = shared / "data/vocab/gpt2_tokenizer.json"
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda name: load(file))
    exec(code, {})
    [shown] = re.findall(r"print\(.*\)  # (.*)", code)
    assert capsys.readouterr().out.strip() == shown
