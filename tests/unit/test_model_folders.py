"""Model folders: a vocabulary with the configuration files beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.kits.bpe import BYTES
from toksmith._base.byte_alphabet import spell
from toksmith.errors import FormatError, ToksmithError, UnsupportedError
from toksmith.framing import Framing, Padding, Settings

IDS = {
    token: i for i, token in enumerate([*map(spell, BYTES), "lo", "low", "Ġlow", "<|endoftext|>"])
}
MERGES = "#version: 0.2\nl o\nlo w\nĠ low\n"
LOW, SPACE_LOW, END = (IDS[token] for token in ("low", "Ġlow", "<|endoftext|>"))
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "Low", "##er", ".", "é", "e"]


def write(folder: Path, **files: Any) -> Path:
    """Write JSON files by name, and others (``merges.txt``) by their full name."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        path = folder / (name if "." in name else f"{name}.json")
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def gpt2(folder: Path, config: dict[str, Any], **files: Any) -> Path:
    config = {"tokenizer_class": "GPT2Tokenizer"} | config
    return write(folder, vocab=IDS, **{"merges.txt": MERGES}, tokenizer_config=config, **files)


def bert(folder: Path, config: dict[str, Any], **files: Any) -> Path:
    config = {"tokenizer_class": "BertTokenizer"} | config
    return write(folder, **{"vocab.txt": "\n".join(BERT)}, tokenizer_config=config, **files)


def with_main(folder: Path) -> Path:
    """Write the tokenizer.json of a folder with a vocabulary, and remove that."""
    toksmith.load(folder).save(folder / "tokenizer.json")
    for name in ("vocab.json", "merges.txt", "vocab.txt"):
        (folder / name).unlink(missing_ok=True)
    return folder


def test_the_class_determines_rules_and_roles(tmp_path: Path) -> None:
    tok = toksmith.load(gpt2(tmp_path, {"model_max_length": 64}))
    assert tok.encode("low low<|endoftext|>", special="encode") == [LOW, SPACE_LOW, END]
    assert tok.encode("low", add_special_tokens=True) == [LOW]
    assert (tok.bos_token_id, tok.eos_token_id, tok.unk_token_id) == (END, END, END)
    assert (tok.pad_token_id, tok.model_max_length, tok.chat_template) == (None, 64, None)


@pytest.mark.parametrize(
    ("model", "roles"),
    [
        ({"model_type": "gpt2"}, (END, END, None)),
        ({"tokenizer_class": "Qwen2TokenizerFast", "model_type": "gpt2"}, (None, END, END)),
        ({"model_type": "unheard-of"}, (None, END, None)),  # by the literals of its tokens
        ([1, 2], (None, END, None)),
    ],
)
def test_the_class_follows_from_the_model(tmp_path: Path, model: Any, roles: Any) -> None:
    folder = write(tmp_path, vocab=IDS, config=model, **{"merges.txt": MERGES})
    tok = toksmith.load(folder)
    assert tok.encode("low low") == [LOW, SPACE_LOW]
    assert (tok.bos_token_id, tok.eos_token_id, tok.pad_token_id) == roles
    with_main(folder)
    tok = toksmith.load(folder)
    assert (tok.bos_token_id, tok.eos_token_id, tok.pad_token_id) == roles


@pytest.mark.parametrize("main", [False, True])
def test_a_space_before_the_text(tmp_path: Path, main: bool) -> None:
    folder = gpt2(tmp_path, {})
    if main:
        with_main(folder)
    write(
        folder, tokenizer_config={"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": True}
    )
    if main:
        with pytest.warns(UserWarning, match=r"add_prefix_space is true in tokenizer_config.json"):
            tok = toksmith.load(folder)
    else:
        tok = toksmith.load(folder)
    assert tok.encode("low") == [SPACE_LOW]


def test_flags_around_a_text(tmp_path: Path) -> None:
    config = {"add_bos_token": True, "add_eos_token": True, "eos_token": "<end>"}
    tok = toksmith.load(gpt2(tmp_path, config))
    end = len(IDS)
    assert tok.eos_token_id == end
    assert tok.encode("low", add_special_tokens=True) == [END, LOW, end]
    assert tok.encode("low", pair="low", add_special_tokens=True) == [END, LOW, end] * 2


def test_berts_flags(tmp_path: Path) -> None:
    lower = toksmith.load(bert(tmp_path / "lower", {}))
    assert lower.encode("Lower é", add_special_tokens=True) == [2, 5, 7, 10, 3]
    cased = toksmith.load(bert(tmp_path / "cased", {"do_lower_case": False}))
    assert cased.encode("Lower é") == [6, 7, 9]
    kept = toksmith.load(bert(tmp_path / "kept", {"strip_accents": False}))
    assert kept.encode("Lower é") == [5, 7, 9]
    assert (lower.pad_token_id, lower.unk_token_id, lower.bos_token_id) == (0, 1, None)


def test_berts_flags_beside_a_tokenizer_json(tmp_path: Path) -> None:
    folder = with_main(bert(tmp_path, {}))
    write(folder, tokenizer_config={"tokenizer_class": "BertTokenizer", "do_lower_case": False})
    both = "do_lower_case is false in tokenizer_config.json, .* is true in tokenizer.json"
    with pytest.warns(UserWarning, match=both):
        tok = toksmith.load(folder)
    assert tok.encode("Lower") == [6, 7]


def test_added_tokens_of_three_files(tmp_path: Path) -> None:
    new = len(IDS)
    folder = gpt2(
        tmp_path,
        {},
        added_tokens={"<tool>": new, "<pad>": new + 1},
        special_tokens_map={"pad_token": "<pad>", "additional_special_tokens": ["<x>"]},
    )
    tok = toksmith.load(folder)
    assert tok.encode("low<tool>") == [LOW, new]  # not special, so it is always found
    assert tok.encode("<pad><x>", special="encode") == [new + 1, new + 2]
    assert tok.pad_token_id == new + 1
    assert tok.special_tokens == {"<|endoftext|>": END, "<pad>": new + 1, "<x>": new + 2}


def test_added_tokens_decoder_takes_precedence(tmp_path: Path) -> None:
    new = len(IDS)
    held = {str(new): {"content": "<pad>", "lstrip": True, "special": True}}
    config = {"added_tokens_decoder": held, "pad_token": "<pad>"}
    folder = gpt2(tmp_path, config, special_tokens_map={"pad_token": "<|endoftext|>"})
    with pytest.warns(UserWarning, match="tokenizer_config.json is used"):
        tok = toksmith.load(folder)
    assert tok.pad_token_id == new
    assert tok.encode("low <pad>", special="encode") == [LOW, new]


@pytest.mark.parametrize(
    "files",
    [
        {"added_tokens": {"<new>": LOW}},
        {"tokenizer_config": {"added_tokens_decoder": {str(LOW): {"content": "<new>"}}}},
        {
            "tokenizer_config": {"added_tokens_decoder": {"260": {"content": "<a>"}}},
            "added_tokens": {"<b>": 260},
        },
    ],
)
def test_one_id_of_two_tokens_is_an_error(tmp_path: Path, files: dict[str, Any]) -> None:
    folder = gpt2(tmp_path, {})
    write(folder, **files)
    with pytest.raises(FormatError, match=r"id \d+ is '<.*>', but in .* it is '.*': give each id"):
        toksmith.load(folder)


def test_roles_of_generation_config(tmp_path: Path) -> None:
    folder = gpt2(tmp_path, {}, generation_config={"pad_token_id": 7, "eos_token_id": [END, 3]})
    tok = toksmith.load(folder)
    assert (tok.pad_token_id, tok.eos_token_id) == (7, END)
    write(folder, generation_config={"eos_token_id": 3})
    with pytest.warns(UserWarning, match=r"eos_token_id is 3 in generation_config.json"):
        assert toksmith.load(folder).eos_token_id == END


@pytest.mark.parametrize("key", ["add_bos_token", "add_eos_token"])
def test_flags_that_are_named_like_roles(tmp_path: Path, key: str) -> None:
    config = {"tokenizer_class": "PreTrainedTokenizerFast", key: "low"}
    main = write(with_main(gpt2(tmp_path / "main", {})), tokenizer_config=config)
    for folder in (bert(tmp_path / "bert", {key: "low"}), main):
        with pytest.raises(FormatError, match=f'json: {key} is "low", not a boolean'):
            toksmith.load(folder)


def test_roles_that_are_named_like_settings(tmp_path: Path) -> None:
    roles = {"tokenizer_class": "<a>", "add_bos_token": "<b>", "voice": "<c>", "image_token": "<d>"}
    tok = toksmith.load(gpt2(tmp_path / "first", {"extra_special_tokens": roles}))
    tok.save(tmp_path / "second")
    again = toksmith.load(tmp_path / "second")
    assert again.pipeline == tok.pipeline
    assert (again.pipeline.settings.roles or {}).items() >= roles.items()


def test_a_role_of_an_ordinary_token_is_saved_by_its_id(tmp_path: Path) -> None:
    """As a literal in tokenizer_config.json, it would become a special token with a new id."""
    folder = with_main(gpt2(tmp_path / "model", {}))
    (folder / "tokenizer_config.json").unlink()
    write(folder, generation_config={"eos_token_id": [10, END], "top_k": 5})
    tok = toksmith.load(folder)
    assert tok.eos_token_id == 10
    other = write(tmp_path / "other", generation_config={"eos_token_id": END, "top_k": 6})
    write(other, tokenizer_config={"eos_token": "<|endoftext|>"})
    for saved, generation in (
        (folder, {"eos_token_id": [10, END], "top_k": 5}),
        (other, {"eos_token_id": 10, "top_k": 6}),
        (tmp_path / "new", {"eos_token_id": 10}),
    ):
        tok.save(saved)
        assert json.loads((saved / "generation_config.json").read_text()) == generation
        again = toksmith.load(saved)
        assert again.pipeline == tok.pipeline
        assert again.encode("low\n", special="encode") == [LOW, 10]


def test_padding_by_an_ordinary_token_is_saved(tmp_path: Path) -> None:
    tok = toksmith.load(gpt2(tmp_path, {}))
    framing = Framing(tok.pipeline.framing.added_tokens, padding=Padding(id=LOW, token="low"))
    toksmith.Tokenizer(replace(tok.pipeline, framing=framing)).save(tmp_path / "a.json")
    folder = write(tmp_path / "model", tokenizer_config={"eos_token": "<|endoftext|>"})
    (tmp_path / "a.json").rename(folder / "tokenizer.json")
    tok = toksmith.load(folder)
    tok.save(folder)
    again = toksmith.load(folder)
    assert again.pipeline == tok.pipeline
    assert (again.pad_token_id, again.special_tokens) == (LOW, {"<|endoftext|>": END})
    assert not (folder / "generation_config.json").exists()


def test_other_roles_of_ordinary_tokens_are_refused(tmp_path: Path) -> None:
    tok = toksmith.load(gpt2(tmp_path, {}))
    settings = Settings({"unk_token": "low"})
    with pytest.raises(UnsupportedError, match="unk_token is 'low', which is an ordinary token"):
        toksmith.Tokenizer(replace(tok.pipeline, settings=settings)).save(tmp_path / "new")


def test_padding_and_truncation(tmp_path: Path) -> None:
    config = {"padding_side": "left", "pad_token": "<|endoftext|>", "model_max_length": 3}
    tok = toksmith.load(gpt2(tmp_path, config))
    inputs = tok.prepare(["low", "low low low low"], truncation=True)
    assert inputs.ids.tolist() == [[END, END, LOW], [LOW, SPACE_LOW, SPACE_LOW]]
    assert tok.prepare(["low"], padding="max_length").ids.tolist() == [[END, END, LOW]]
    no_limit = toksmith.load(gpt2(tmp_path, {"model_max_length": 10**30}))
    assert no_limit.model_max_length is None


@pytest.mark.parametrize(
    ("config", "pad_id"), [({}, END + 1), ({"pad_token": "<|endoftext|>"}, END)]
)
def test_the_padding_of_a_tokenizer_json_names_the_pad_token(
    tmp_path: Path, config: dict[str, Any], pad_id: int
) -> None:
    with_main(gpt2(tmp_path, {}))
    held = json.loads((tmp_path / "tokenizer.json").read_text())
    held["added_tokens"].append(held["added_tokens"][0] | {"id": END + 1, "content": "<|p|>"})
    held["padding"] = {
        "strategy": "BatchLongest",
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": END + 1,
        "pad_type_id": 0,
        "pad_token": "<|p|>",
    }
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|endoftext|>"} | config
    write(tmp_path, tokenizer=held, tokenizer_config=config)
    tok = toksmith.load(tmp_path)
    assert (tok.pad_token_id, tok.bos_token_id, tok.eos_token_id) == (pad_id, END, None)


def test_a_new_special_token_takes_a_free_role(tmp_path: Path) -> None:
    tok = toksmith.load(gpt2(tmp_path, {}))
    more = tok.with_special_tokens(["</s>", "<pad>"])
    assert (more.pad_token_id, more.eos_token_id) == (more.special_tokens["<pad>"], END)
    assert more.prepare(["low", "low low"]).ids[0].tolist() == [LOW, more.pad_token_id]
    assert tok.pad_token_id is None


def test_special_tokens_that_transformers_splits(tmp_path: Path) -> None:
    folder = gpt2(tmp_path, {"split_special_tokens": True})
    with pytest.warns(UserWarning, match="split_special_tokens is true in tokenizer_config.json"):
        tok = toksmith.load(folder)
    assert END not in tok.encode("low<|endoftext|>")
    assert tok.encode("low<|endoftext|>", special="encode") == [LOW, END]


def test_clean_up_of_spaces(tmp_path: Path) -> None:
    tokens = "\n".join([*BERT, "'", "s"])
    plain = toksmith.load(write(bert(tmp_path / "plain", {}), **{"vocab.txt": tokens}))
    folder = bert(tmp_path / "clean", {"clean_up_tokenization_spaces": True})
    clean = toksmith.load(write(folder, **{"vocab.txt": tokens}))
    ids = clean.encode("low ' s low.")
    assert plain.decode(ids) == "low ' s low."
    assert clean.decode(ids) == "low's low."
    clean.save(tmp_path / "saved")
    assert toksmith.load(tmp_path / "saved").decode(ids) == "low's low."


@pytest.mark.parametrize("place", ["config", "file", "both", "named"])
def test_chat_templates(tmp_path: Path, place: str) -> None:
    held = {
        "config": "{{ c }}",
        "named": [
            {"name": "default", "template": "{{ c }}"},
            {"name": "rag", "template": "{{ r }}"},
        ],
    }.get(place, "{{ c }}" if place == "both" else None)
    folder = gpt2(tmp_path, {} if held is None else {"chat_template": held})
    if place in ("file", "both"):
        write(folder, **{"chat_template.jinja": "{{ f }}"})
    if place == "both":
        with pytest.warns(UserWarning, match=r"chat_template.jinja is used"):
            tok = toksmith.load(folder)
    else:
        tok = toksmith.load(folder)
    assert tok.chat_template == ("{{ f }}" if place in ("file", "both") else "{{ c }}")
    tok.save(tmp_path / "saved")
    again = toksmith.load(tmp_path / "saved")
    assert again.chat_template == tok.chat_template
    assert again.pipeline.settings.chat_templates == tok.pipeline.settings.chat_templates


def test_saved_folders_keep_everything(tmp_path: Path) -> None:
    config = {
        "model_max_length": 77,
        "padding_side": "left",
        "truncation_side": "left",
        "pad_token": "<pad>",
        "add_bos_token": True,
        "chat_template": "{{ messages }}",
    }
    tok = toksmith.load(gpt2(tmp_path / "first", config))
    tok.save(tmp_path / "second")
    again = toksmith.load(tmp_path / "second")
    assert again == tok
    assert again.pipeline.settings == tok.pipeline.settings
    assert again.encode("low", add_special_tokens=True) == [END, LOW]
    assert (tmp_path / "second/chat_template.jinja").read_text() == "{{ messages }}"


def test_saving_warns_of_chat_templates_of_another_tokenizer(tmp_path: Path) -> None:
    tok = toksmith.load(gpt2(tmp_path / "model", {}))
    files = {f"additional_chat_templates/{name}.jinja": name for name in "abcde"}
    for name in ("additional_chat_templates", "chat_templates"):
        (tmp_path / "old" / name).mkdir(parents=True)
    write(
        tmp_path / "old", **{"chat_template.jinja": "old", "chat_templates/f.jinja": "f"}, **files
    )
    with pytest.warns(UserWarning, match="keeps chat templates") as caught:
        tok.save(tmp_path / "old")
    assert str(caught[0].message) == (
        f"{tmp_path / 'old'} keeps chat templates that the saved tokenizer does not have: "
        "chat_template.jinja, additional_chat_templates/a.jinja, "
        "additional_chat_templates/b.jinja, additional_chat_templates/c.jinja and 3 more. "
        "load(folder) will read them as its own: "
        "delete them, or save to another folder"
    )
    assert caught[0].filename == __file__
    again = toksmith.load(tmp_path / "old")
    again.save(tmp_path / "old")  # they are its own
    settings = replace(tok.pipeline.settings, chat_templates={"default": "new", "f": "new"})
    with pytest.warns(UserWarning, match=r"a\.jinja, .*d\.jinja and 2 more"):
        toksmith.Tokenizer(replace(tok.pipeline, settings=settings)).save(tmp_path / "old")


def test_saving_keeps_settings_that_toksmith_does_not_know(tmp_path: Path) -> None:
    tok = toksmith.load(gpt2(tmp_path / "first", {"add_prefix_space": True}))
    old = {
        "tokenizer_class": "LlamaTokenizer",
        "processor_class": "OwnProcessor",
        "response_schema": {"x": 1},
        "chat_template": "{{ kept }}",
        "image_token": "<image>",
        "add_bos_token": True,
        "legacy": False,
        "added_tokens_decoder": {"5": {"content": "<gone>"}},
        "auto_map": {"AutoTokenizer": ["own.Tokenizer", None], "AutoModel": "own.Model"},
    }
    write(tmp_path / "second", tokenizer_config=old)
    with pytest.warns(UserWarning, match="have: chat_template in tokenizer_config.json"):
        tok.save(tmp_path / "second")
    held = json.loads((tmp_path / "second/tokenizer_config.json").read_text())
    assert held == {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "processor_class": "OwnProcessor",
        "response_schema": {"x": 1},
        "chat_template": "{{ kept }}",
        "auto_map": {"AutoModel": "own.Model"},
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
        "padding_side": "right",
        "add_prefix_space": True,
        "bos_token": "<|endoftext|>",
        "eos_token": "<|endoftext|>",
        "unk_token": "<|endoftext|>",
    }
    assert toksmith.load(tmp_path / "second").encode("low") == [SPACE_LOW]


def test_ranks_in_a_folder(tmp_path: Path) -> None:
    """Declared ids beyond the ranks are kept, and reserved tokens fill the gaps."""
    small = toksmith.train(texts=["low low"], vocab_size=258, split="gpt4")
    small.save(tmp_path / "tokenizer.tiktoken")
    (tmp_path / "tokenizer.tiktoken.json").unlink()
    held = {"258": {"content": "<s>", "special": True}, "260": {"content": "</s>", "special": True}}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": held}
    folder = write(tmp_path, tokenizer_config=config | {"bos_token": "<s>", "add_bos_token": True})
    (folder / "tokenizer.tiktoken").rename(folder / "tokenizer.model")
    tok = toksmith.load(folder)
    assert tok.encode("low</s>", special="encode", add_special_tokens=True) == [258, 257, 260]
    assert tok.token_text(259) == "<|reserved_token_259|>"
    assert (tok.bos_token_id, len(tok)) == (258, 261)


def test_a_sentencepiece_model_in_a_folder(tmp_path: Path) -> None:
    trained = toksmith.train(
        texts=["low lower lowest"], model="sentencepiece-bpe", vocab_size=14,
        normalization_rule_name="identity",
    )  # fmt: skip
    trained.save(tmp_path / "spiece.model")
    assert toksmith.load(tmp_path) == toksmith.load(tmp_path / "spiece.model")
    config = {"tokenizer_class": "PreTrainedTokenizer", "eos_token": "</s>", "add_eos_token": True}
    tok = toksmith.load(write(tmp_path, tokenizer_config=config))
    assert tok.encode("low") == trained.encode("low")
    end = trained.eos_token_id
    assert tok.encode("low", add_special_tokens=True) == [*trained.encode("low"), end]


@pytest.mark.parametrize("name", ["LlamaTokenizer", "CodeLlamaTokenizer"])
def test_control_pieces_take_no_spaces(name: str, tmp_path: Path) -> None:
    """The classes of Llama ignore the flags of a control piece, but not those of new tokens."""
    toksmith.train(
        texts=["low lower lowest"], model="sentencepiece-bpe", vocab_size=274, byte_fallback=True,
        normalization_rule_name="identity",
    ).save(tmp_path / "tokenizer.model")  # fmt: skip
    end = {"content": "</s>", "lstrip": True, "rstrip": True}
    config = {"tokenizer_class": name, "eos_token": end, "mask_token": end | {"content": "<m>"}}
    tok = toksmith.load(write(tmp_path, tokenizer_config=config))
    flags = {token.content: token.lstrip for token in tok.pipeline.framing.added_tokens}
    assert (flags["</s>"], flags["<m>"]) == (False, True)
    with_space = tok.encode("low </s>", special="encode")
    assert with_space != tok.encode("low</s>", special="encode")
    assert tok.encode("low <m>", special="encode") == tok.encode("low<m>", special="encode")


VALUES: list[Any] = [
    *(None, True, 5, -1, 1e30, 10**30, "x", "<|endoftext|>", [], {}, [5], ["<a>"], [[]]),
    *({"content": "<a>"}, {"content": 5}, {"x": "<a>"}, [{"content": "<a>"}], {"5": "<a>"}),
    *({"300": {"content": "<a>"}}, {"-1": {"content": "<a>"}}, {"300": {"content": ""}}),
    *([{"name": "default", "template": "t"}], [{"name": 5}], {"default": 5}, "\ud800"),
    *({str(10**9): {"content": "<a>"}}, {"300": {"content": "\ud800"}}),
]
KEYS = (
    *("tokenizer_class", "bos_token", "mask_token", "image_token", "extra_special_tokens"),
    *("additional_special_tokens", "added_tokens_decoder", "add_bos_token", "add_prefix_space"),
    *("model_max_length", "padding_side", "truncation_side", "chat_template", "do_lower_case"),
    *("clean_up_tokenization_spaces", "extra_ids", "src_lang", "trim_offsets"),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [gpt2, bert])
@pytest.mark.parametrize("key", [*KEYS, "special_tokens_map", "added_tokens", "generation_config"])
def test_any_value_loads_or_raises_a_typed_error(tmp_path: Path, make: Any, key: str) -> None:
    failed = 0
    for value in VALUES:
        folder = make(tmp_path, {key: value} if key in KEYS else {})
        if key not in KEYS:
            write(folder, **{key: value if isinstance(value, dict) else {"eos_token": value}})
        try:
            tok = toksmith.load(folder)
        except ToksmithError:
            failed += 1
            continue
        tok.encode("low Lower", special="encode", add_special_tokens=True)
        assert tok.model_max_length is None or tok.model_max_length > 0
    assert failed < len(VALUES)
