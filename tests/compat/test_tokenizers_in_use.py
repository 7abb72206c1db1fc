"""Ways in which other people's code uses tokenizers, with the installed one and with ours."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import toksmith.compat.tokenizers as ours

theirs = pytest.importorskip("tokenizers")

LINES = [
    "Low lower lowest, newer newest: a slow walk is slower than a fast run.",
    "don't you'll it's 12 345 café naïve  two  spaces",
    "日本語 テキスト und Übermut; ÇA VA? 👋 ok",
] * 6
PROBES = ("The lowest café, isn't it?", "", "12345 日本 👋 <s> x", "  a\n\n b ")
CHAT = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s+"
SMILES = r"(\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|[0-9])"


def from_iterator(module: Any, tokenizer: Any, kind: str, **options: Any) -> Any:
    trainer = getattr(module.trainers, kind)(show_progress=False, **options)
    tokenizer.train_from_iterator(iter(LINES), trainer)
    return tokenizer


def chat(module: Any, folder: Path) -> Any:
    splitters = module.pre_tokenizers
    tokenizer = module.Tokenizer(
        module.models.BPE(byte_fallback=True, unk_token=None, fuse_unk=False)
    )
    tokenizer.normalizer = tokenizer.post_processor = None
    tokenizer.pre_tokenizer = splitters.Sequence(
        [
            splitters.Split(pattern=module.Regex(CHAT), behavior="isolated", invert=False),
            splitters.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = module.decoders.ByteLevel()
    return from_iterator(
        module,
        tokenizer,
        "BpeTrainer",
        vocab_size=300,
        min_frequency=0,
        initial_alphabet=splitters.ByteLevel.alphabet(),
        special_tokens=["<|bos|>", "<s>"],
    )


def files_of_gpt2(module: Any, folder: Path) -> Any:
    (folder / "text.txt").write_text("\n".join(LINES))
    made = module.ByteLevelBPETokenizer()
    made.train(
        files=[str(folder / "text.txt")],
        vocab_size=290,
        min_frequency=2,
        special_tokens=["<s>", "<pad>", "</s>"],
        show_progress=False,
    )
    made.save_model(str(folder))
    again = module.implementations.ByteLevelBPETokenizer(
        str(folder / "vocab.json"), str(folder / "merges.txt")
    )
    again._tokenizer.post_processor = module.processors.BertProcessing(
        ("</s>", again.token_to_id("</s>")), ("<s>", again.token_to_id("<s>"))
    )
    again.enable_truncation(max_length=8)
    again.save(str(folder / "tokenizer.json"))
    return module.Tokenizer.from_file(str(folder / "tokenizer.json"))


def molecules(module: Any, folder: Path) -> Any:
    tokenizer = module.Tokenizer(module.models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = module.pre_tokenizers.Sequence(
        [
            module.pre_tokenizers.WhitespaceSplit(),
            module.pre_tokenizers.Split(module.Regex(SMILES), behavior="isolated"),
        ]
    )
    trainer = module.trainers.WordLevelTrainer(special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator(["CC(=O)Oc1ccccc1 Br", "C[C@H](N)C(=O)O"], trainer)
    return tokenizer


def own_class(module: Any, folder: Path) -> Any:
    base = import_module(f"{module.__name__}.implementations.base_tokenizer").BaseTokenizer

    class Spaces(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self.special = {"pad": "<pad>", "unk": "<unk>"}
            tokenizer = module.Tokenizer(module.models.WordLevel(unk_token="<unk>"))
            tokenizer.normalizer = module.normalizers.Sequence(
                [
                    module.normalizers.Nmt(),
                    module.normalizers.NFKC(),
                    module.normalizers.Replace(module.Regex(" {2,}"), " "),
                    module.normalizers.Lowercase(),
                ]
            )
            tokenizer.pre_tokenizer = module.pre_tokenizers.Sequence(
                [
                    module.pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always"),
                    module.pre_tokenizers.Digits(individual_digits=True),
                    module.pre_tokenizers.Punctuation(),
                ]
            )
            tokenizer.decoder = module.decoders.Metaspace(replacement="▁", prepend_scheme="always")
            super().__init__(tokenizer, {"model": "Spaces"})

        def learn(self) -> None:
            from_iterator(
                module, self._tokenizer, "WordLevelTrainer", special_tokens=[*self.special.values()]
            )
            content = json.loads(self._tokenizer.to_str())
            content["model"]["unk_token"] = self.special["pad"]
            self._tokenizer = module.Tokenizer.from_str(json.dumps(content))

    made = Spaces()
    made.learn()
    made.enable_padding(pad_token="<pad>", length=12)
    return made


@pytest.mark.parametrize("make", [chat, files_of_gpt2, molecules, own_class])
def test_the_same_code_gives_the_same_tokenizer(make: Any, tmp_path: Path) -> None:
    mine, peer = make(ours, tmp_path), make(theirs, tmp_path)
    assert mine.get_vocab() == peer.get_vocab()
    assert json.loads(mine.to_str()) == json.loads(peer.to_str())
    for text in (*PROBES, "C[C@H](N)Br"):
        made, expected = mine.encode(text), peer.encode(text)
        for name in ("ids", "tokens", "offsets", "word_ids", "special_tokens_mask"):
            assert getattr(made, name) == getattr(expected, name), (text, name)
        for skip in (True, False):
            assert mine.decode(made.ids, skip) == peer.decode(made.ids, skip)


@pytest.mark.parametrize("module", [ours, theirs])
def test_a_decoder_replaces_a_pattern(module: Any) -> None:
    decoder = module.decoders.Replace(module.Regex("_+"), " ")
    assert decoder.decode(["a__", "b", "_c"]) == "a b c"
    assert decoder.__getstate__() == b'{"type":"Replace","pattern":{"Regex":"_+"},"content":" "}'
