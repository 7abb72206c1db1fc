"""compat.tiktoken against tiktoken itself, call by call: results, and errors with their classes."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import toksmith
import toksmith.compat.tiktoken as ours
from tests.strategies import random_texts
from toksmith.compat.tiktoken import core, load, model, registry
from toksmith.formats import published

theirs = pytest.importorskip("tiktoken")

END, PAD = "<|endoftext|>", "<|pad|>"
SMALL = ours.get_encoding("toksmith-small")
ARGUMENTS = {
    "pat_str": SMALL._pat_str,
    "mergeable_ranks": SMALL._mergeable_ranks,
    "special_tokens": {END: 16382, PAD: 16383},
}
PEER = theirs.Encoding("toksmith-small", **ARGUMENTS)
TEXTS = [
    *("", " ", "hello world", "  two\n\n three ", "it's 12345 o'clock", "\t\r\n x"),
    *(
        "日本語のテキスト",
        "naïve 👍🏽 é",
        f"a{END}b",
        f"{END}{PAD} {END[:5]}",
        "\ud83d\ude00 \ud83d!",
    ),
    *random_texts(3, 120, surrogates=False),
]


def outcome(call: Callable[[], Any]) -> tuple[str, Any]:
    """Return the result of a call, or the class of what it raises."""
    try:
        found = call()
    except Exception as error:
        return "raised", type(error).__name__
    return "returned", found.tolist() if isinstance(found, np.ndarray) else found


def assert_same(call: Callable[[Any], Any], one: Any = SMALL, other: Any = PEER) -> None:
    assert outcome(lambda: call(one)) == outcome(lambda: call(other))


class TestSurface:
    def test_every_public_name_and_parameter(self) -> None:
        assert {*dir(theirs)} <= {*dir(ours)}
        for name in dir(theirs.Encoding):
            assert hasattr(ours.Encoding, name) or name in vars(SMALL), name
            call = getattr(theirs.Encoding, name)
            if name[0] != "_" and callable(call):
                assert list(inspect.signature(call).parameters) == list(
                    inspect.signature(getattr(ours.Encoding, name)).parameters
                ), name
        attributes = set(vars(PEER))
        assert {name for name in attributes if not hasattr(SMALL, name)} == {
            "_special_token_values"
        }

    @pytest.mark.parametrize("name", ["core", "load", "model", "registry"])
    def test_modules(self, name: str) -> None:
        peer = getattr(__import__(f"tiktoken.{name}"), name)
        mine = {"core": core, "load": load, "model": model, "registry": registry}[name]
        calls = {
            each
            for each, value in vars(peer).items()
            if inspect.isfunction(value) and value.__module__ == peer.__name__
        }
        assert {each for each in calls if not hasattr(mine, each)} <= {"_special_token_regex"}

    def test_models(self) -> None:
        peer = __import__("tiktoken.model").model
        assert model.MODEL_TO_ENCODING == peer.MODEL_TO_ENCODING
        assert model.MODEL_PREFIX_TO_ENCODING == peer.MODEL_PREFIX_TO_ENCODING
        names = ("gpt-4o-2024", "gpt-4-0314", "ft:gpt-4o:x", "ft:gpt-4:x", "gpt2", "gpt-5.1-mini")
        for name in (*names, "gpt-oss-20b", "llama3", "", "GPT-4"):
            assert_same(lambda m, name=name: m.encoding_name_for_model(name), ours, theirs)
        with pytest.raises(KeyError, match="Could not automatically map llama3 to a tokeniser"):
            ours.encoding_for_model("llama3")

    def test_names(self) -> None:
        assert sorted(ours.list_encoding_names()) == sorted(theirs.list_encoding_names())
        assert ours.get_encoding("toksmith-small") is SMALL
        with pytest.raises(ValueError, match=r"^Unknown encoding nothing\.\nPlugins found"):
            ours.get_encoding("nothing")
        with pytest.raises(ValueError, match="Expected a string in get_encoding, got <class 'int"):
            ours.get_encoding(5)  # type: ignore[arg-type]
        assert repr(SMALL) == repr(PEER) == "<Encoding 'toksmith-small'>"


class TestEncode:
    @pytest.mark.parametrize("text", TEXTS)
    def test_texts(self, text: str) -> None:
        assert_same(lambda enc: enc.encode_ordinary(text))
        assert_same(lambda enc: enc.encode(text))
        for allowed in ("all", {END}, frozenset({PAD}), {"nothing", END}, set()):
            for disallowed in ("all", (), {END}, [PAD, END], {"b"}, "x", frozenset({"é", "日"})):
                assert_same(
                    lambda enc, a=allowed, d=disallowed: enc.encode(
                        text, allowed_special=a, disallowed_special=d
                    )
                )

    def test_the_text_of_the_error(self) -> None:
        for text, arguments in (
            (f"a{END}", {}),
            (PAD, {"disallowed_special": {PAD}}),
            ("it's", {"disallowed_special": ["'"]}),
        ):
            with pytest.raises(ValueError, match="Encountered text") as one:
                SMALL.encode(text, **arguments)  # type: ignore[arg-type]
            with pytest.raises(ValueError, match="Encountered text") as other:
                PEER.encode(text, **arguments)
            assert str(one.value) == str(other.value)

    @pytest.mark.parametrize(
        "call",
        [
            lambda enc: enc.encode(b"bytes"),
            lambda enc: enc.encode(None),
            lambda enc: enc.encode_ordinary(5),
            lambda enc: enc.encode("a", allowed_special=["a"]),
            lambda enc: enc.encode("a", allowed_special="none"),
            lambda enc: enc.encode("a", allowed_special=[], disallowed_special=()),
            lambda enc: enc.encode("a<|endoftext|>", disallowed_special=None),
            lambda enc: enc.encode("a", disallowed_special=5),
            lambda enc: enc.encode("a", disallowed_special=[5]),
            lambda enc: enc.encode("a", disallowed_special=[""]),
            lambda enc: enc.encode_batch(["a", None]),
            lambda enc: enc.encode_ordinary_batch(["a"], num_threads=0),
            lambda enc: enc.encode_batch(["a"], num_threads=-1),
            lambda enc: enc.encode_batch([f"a{END}"]),
            lambda enc: enc.encode_batch("abc"),
            lambda enc: enc.encode_ordinary_batch(iter(["abc"])),
            lambda enc: enc.encode_batch([f"{PAD}", "b"], allowed_special={PAD}),
            lambda enc: enc.encode_batch(["a"], allowed_special="all", num_threads=1),
            lambda enc: enc.encode_to_numpy(f"a{END}", allowed_special="all"),
            lambda enc: enc.encode_to_numpy(f"a{END}"),
            lambda enc: enc.encode_single_token("hello there"),
            lambda enc: enc.encode_single_token(END),
            lambda enc: enc.encode_single_token(b" world"),
            lambda enc: enc.encode_single_token(b"\xff\xff"),
            lambda enc: enc.encode_single_token(5),
            lambda enc: enc._encode_single_piece("hello world"),
            lambda enc: enc._encode_single_piece(b"\xff\xfe hello"),
            lambda enc: enc._encode_only_native_bpe(" hello  world's"),
        ],
    )
    def test_calls(self, call: Callable[[Any], Any]) -> None:
        assert_same(call)

    def test_numpy(self) -> None:
        found = SMALL.encode_to_numpy("hello world")
        assert found.dtype == np.uint32
        assert found.tolist() == PEER.encode_to_numpy("hello world").tolist()

    def test_batches(self) -> None:
        texts = [text for text in TEXTS if "<|" not in text]
        assert SMALL.encode_batch(texts) == PEER.encode_batch(texts)
        assert SMALL.encode_ordinary_batch(TEXTS, num_threads=2) == [
            PEER.encode_ordinary(text) for text in TEXTS
        ]

    def test_bytes_that_end_inside_a_character(self) -> None:
        rng = random.Random(1)
        for text in (*random_texts(5, 150, surrogates=False), " 실패", "a \n 日本", "  \n\né"):
            data = text.encode()
            for _ in range(3):
                cut = data[: rng.randrange(len(data) + 1)] + rng.choice(
                    [b"", b"\xed", b"\x80 a\xff"]
                )
                assert SMALL._encode_bytes(cut) == PEER._encode_bytes(cut), cut

    @pytest.mark.parametrize(
        "text",
        [*("", "hello wor", "hello fanta", "a\n \n", "x ", "日本", "naïv", f"a{END}", f"{END}b")],
    )
    def test_unstable(self, text: str) -> None:
        def found(enc: Any) -> Any:
            stable, rest = enc.encode_with_unstable(text, allowed_special="all")
            return stable, sorted(rest)

        assert_same(found)


class TestDecode:
    @pytest.mark.parametrize(
        "call",
        [
            lambda enc: enc.decode([12700, 111]),
            lambda enc: enc.decode((12700, 16382)),
            lambda enc: enc.decode([]),
            lambda enc: enc.decode([0xE6, 0xFF]),
            lambda enc: enc.decode([0xE6], errors="strict"),
            lambda enc: enc.decode([0xE6], "ignore"),
            lambda enc: enc.decode([97], errors="nothing"),
            lambda enc: enc.decode([16384]),
            lambda enc: enc.decode([-1]),
            lambda enc: enc.decode([2**32]),
            lambda enc: enc.decode([1.5]),
            lambda enc: enc.decode("abc"),
            lambda enc: enc.decode(None),
            lambda enc: enc.decode_bytes([0xE6, 12700]),
            lambda enc: enc.decode_bytes([99999]),
            lambda enc: enc.decode_single_token_bytes(16383),
            lambda enc: enc.decode_single_token_bytes(16384),
            lambda enc: enc.decode_single_token_bytes(-1),
            lambda enc: enc.decode_single_token_bytes("a"),
            lambda enc: enc.decode_tokens_bytes([12700, 111, 16382]),
            lambda enc: enc.decode_tokens_bytes([99999]),
            lambda enc: enc.decode_batch([[12700], [111, 111], []]),
            lambda enc: enc.decode_batch([[0xE6]], errors="strict"),
            lambda enc: enc.decode_batch([[99999]]),
            lambda enc: enc.decode_batch([[97]], num_threads=0),
            lambda enc: enc.decode_bytes_batch([[12700], [0xE6]], num_threads=1),
            lambda enc: enc.decode_bytes_batch([[-5]]),
            lambda enc: enc.decode_with_offsets([]),
            lambda enc: enc.decode_with_offsets([0xE6]),
            lambda enc: enc.decode_with_offsets([99999]),
        ],
    )
    def test_calls(self, call: Callable[[Any], Any]) -> None:
        assert_same(call)

    @pytest.mark.parametrize("text", TEXTS)
    def test_offsets(self, text: str) -> None:
        ids = PEER.encode(text, allowed_special="all")
        assert SMALL.decode_with_offsets(ids) == PEER.decode_with_offsets(ids)
        assert SMALL.decode_tokens_bytes(ids) == PEER.decode_tokens_bytes(ids)


class TestVocabulary:
    @pytest.mark.parametrize(
        "call",
        [
            lambda enc: enc.n_vocab,
            lambda enc: enc.max_token_value,
            lambda enc: enc.eot_token,
            lambda enc: enc.special_tokens_set,
            lambda enc: enc.token_byte_values(),
            lambda enc: enc._mergeable_ranks,
            lambda enc: enc._special_tokens,
            lambda enc: enc._pat_str,
            lambda enc: enc.name,
            lambda enc: [enc.is_special_token(i) for i in (0, 16381, 16382, 16383, 16384)],
            lambda enc: enc.is_special_token("a"),
        ],
    )
    def test_values(self, call: Callable[[Any], Any]) -> None:
        assert_same(call)

    def test_no_end(self) -> None:
        arguments = ARGUMENTS | {"special_tokens": {}}
        pair = [module.Encoding("x", **arguments) for module in (ours, theirs)]
        assert_same(lambda enc: enc.eot_token, *pair)
        assert_same(lambda enc: enc.n_vocab, *pair)
        assert_same(lambda enc: enc.encode(END), *pair)


BYTES = {bytes([byte]): byte for byte in range(256)}


class TestConstructor:
    CASES: ClassVar = {
        "special ids with holes": (BYTES | {b"lo": 256}, {"<a>": 300, "<b>": 5_000_000}),
        "ranks with holes": (BYTES | {b"lo": 400, b"low": 9_000_000}, {"<a>": 2**32 - 1}),
        "special ids of other tokens": (BYTES | {b"lo": 256, b"low": 257}, {"<a>": 97, "<b>": 256}),
        "bytes after tokens": (
            {b"lo": 0, b"low": 1} | {byte: rank + 2 for byte, rank in BYTES.items()},
            {"<a>": 258},
        ),
        "a special token that is a token": (BYTES | {b"lo": 256}, {"lo": 300}),
        "a token of no bytes": (BYTES | {b"": 256, b"lo": 257}, {"<a>": 258}),
        "no bytes but some": (
            {b"l": 0, b"o": 1, b"w": 2, b"lo": 3, b" ": 4, b"<": 5, b"a": 6, b">": 7, b"b": 8},
            {"<a>": 20},
        ),
    }

    @pytest.mark.parametrize("name", CASES)
    def test_odd_ranks(self, name: str) -> None:
        ranks, special = self.CASES[name]
        arguments = {"pat_str": r"\w+|[^\w]", "mergeable_ranks": ranks, "special_tokens": special}
        pair = [module.Encoding("x", **arguments) for module in (ours, theirs)]
        for text in ("low lo ow", "<a>low<b>", "lo<a><b>b", "a b"):
            assert_same(lambda enc, t=text: enc.encode(t), *pair)
            assert_same(lambda enc, t=text: enc.encode_ordinary(t), *pair)
            assert_same(lambda enc, t=text: enc.encode(t, allowed_special="all"), *pair)
            assert_same(lambda enc, t=text: enc.encode_to_numpy(t, allowed_special="all"), *pair)
            assert_same(lambda enc, t=text: enc.encode_ordinary_batch([t, "low"]), *pair)
        ids = [*sorted(ranks.values())[-4:], *special.values()]
        assert_same(lambda enc: enc.decode_bytes(ids), *pair)
        assert_same(lambda enc: enc.decode_tokens_bytes(ids), *pair)
        assert_same(lambda enc: enc.decode_batch([ids, ids[:1]]), *pair)
        assert_same(lambda enc: enc.n_vocab, *pair)
        assert_same(lambda enc: enc.decode([7_000_000]), *pair)
        assert_same(lambda enc: enc._encode_single_piece("low"), *pair)
        again = pickle.loads(pickle.dumps(pair[0]))
        assert_same(lambda enc: enc.encode("low <a>", allowed_special="all"), again, pair[1])

    def test_text_outside_of_the_matches_is_dropped(self) -> None:
        arguments = {"pat_str": "[a-z]+", "mergeable_ranks": BYTES, "special_tokens": {}}
        pair = [module.Encoding("x", **arguments) for module in (ours, theirs)]
        for text in ("a b!c", "!", ""):
            assert_same(lambda enc, t=text: enc.encode(t), *pair)
            assert_same(lambda enc, t=text: enc.encode_with_unstable(t)[0], *pair)

    def test_a_byte_without_a_token(self) -> None:
        enc = ours.Encoding("x", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
        assert enc.encode("aa") == [0, 0]
        with pytest.raises(KeyError, match="b'b'"):
            enc.encode("ab")

    def test_the_number_of_tokens(self) -> None:
        for count in (258, 259, 260, 0, None):
            arguments = {"pat_str": ".", "mergeable_ranks": BYTES, "special_tokens": {"<a>": 257}}
            arguments["explicit_n_vocab"] = count  # type: ignore[assignment]
            assert_same(lambda m, a=arguments: m.Encoding("x", **a).n_vocab, ours, theirs)
        contiguous = {"pat_str": ".", "mergeable_ranks": BYTES, "special_tokens": {"<a>": 256}}
        assert ours.Encoding("x", explicit_n_vocab=257, **contiguous).n_vocab == 257  # type: ignore[arg-type]

    def test_wrong_arguments(self) -> None:
        for pattern in ("(", "[a"):
            with pytest.raises(ValueError):  # noqa: PT011
                ours.Encoding("x", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
        for ranks in (BYTES | {b"lo": 3}, BYTES | {b"lo": -3}, BYTES | {b"lo": 2**32}):
            with pytest.raises(ValueError):  # noqa: PT011
                ours.Encoding("x", pat_str=".", mergeable_ranks=ranks, special_tokens={})

    def test_documented_extension_of_an_encoding(self) -> None:
        special = {**SMALL._special_tokens, "<|im_start|>": 16384}
        enc = ours.Encoding(
            name="small_im",
            pat_str=SMALL._pat_str,
            mergeable_ranks=SMALL._mergeable_ranks,
            special_tokens=special,
        )
        assert enc.encode("<|im_start|>hello", allowed_special={"<|im_start|>"}) == [
            16384,
            *SMALL.encode("hello"),
        ]


class TestPickling:
    def test_registered_encodings_are_pickled_by_name(self) -> None:
        data = pickle.dumps(SMALL)
        assert len(data) < 200
        assert pickle.loads(data).encode("hello") == SMALL.encode("hello")
        assert copy.deepcopy(SMALL)._core_bpe is SMALL._core_bpe
        assert copy.copy(SMALL).name == SMALL.name

    def test_others_by_content(self) -> None:
        arguments = {"pat_str": ".", "mergeable_ranks": BYTES, "special_tokens": {"<a>": 300}}
        enc = ours.Encoding("mine", **arguments)  # type: ignore[arg-type]
        again = pickle.loads(pickle.dumps(enc))
        assert again.encode("a<a>", allowed_special="all") == [97, 300]
        assert again.__getstate__() == enc.__getstate__()


class TestPlugins:
    @pytest.fixture(autouse=True)
    def plugins(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        package = types.ModuleType("tiktoken_ext")
        package.__path__ = [str(tmp_path)]
        monkeypatch.setitem(sys.modules, "tiktoken_ext", package)
        monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", None)
        monkeypatch.setattr(registry, "ENCODINGS", {})
        registry._available_plugin_modules.cache_clear()
        yield tmp_path
        registry._available_plugin_modules.cache_clear()
        for name in [name for name in sys.modules if name.startswith("tiktoken_ext.")]:
            del sys.modules[name]

    SOURCE = (
        "def make():\n"
        "    ranks = {bytes([byte]): byte for byte in range(256)}\n"
        "    return dict(name='mine', pat_str='.', mergeable_ranks=ranks, special_tokens={})\n"
    )

    def test_found(self, plugins: Path) -> None:
        (plugins / "mine.py").write_text(self.SOURCE + "ENCODING_CONSTRUCTORS = {'mine': make}\n")
        assert ours.list_encoding_names()[-1] == "mine"
        assert ours.get_encoding("mine").encode("ab") == [97, 98]
        assert ours.get_encoding("mine") is ours.get_encoding("mine")

    def test_wrong_plugins(self, plugins: Path) -> None:
        (plugins / "bare.py").write_text("x = 1\n")
        with pytest.raises(ValueError, match="bare does not define ENCODING_CONSTRUCTORS"):
            ours.list_encoding_names()
        (plugins / "bare.py").unlink()
        registry._available_plugin_modules.cache_clear()
        (plugins / "twice.py").write_text("ENCODING_CONSTRUCTORS = {'gpt2': None}\n")
        with pytest.raises(ValueError, match="Duplicate encoding name gpt2 in tiktoken plugin"):
            ours.get_encoding("gpt2")

    def test_constructors_that_are_added(self) -> None:
        ours.list_encoding_names()
        assert registry.ENCODING_CONSTRUCTORS is not None
        registry.ENCODING_CONSTRUCTORS["added"] = lambda: ARGUMENTS | {"name": "added"}
        assert ours.get_encoding("added").encode("hello world") == SMALL.encode("hello world")


class TestLoad:
    @pytest.fixture(autouse=True)
    def cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
        return tmp_path

    @property
    def peer(self) -> Any:
        return __import__("tiktoken.load").load

    def test_ranks(self, cache: Path) -> None:
        path = str(cache / "small.tiktoken")
        load.dump_tiktoken_bpe(SMALL._mergeable_ranks, path)
        assert load.load_tiktoken_bpe(path) == SMALL._mergeable_ranks
        assert self.peer.load_tiktoken_bpe(path) == SMALL._mergeable_ranks
        Path(path).write_text("YQ== 0\n\nYg== x\n")
        monkey = str(cache / "other.tiktoken")
        Path(path).rename(monkey)
        for module in (load, self.peer):
            with pytest.raises(ValueError, match="Error parsing line b'Yg== x' in "):
                module.load_tiktoken_bpe(monkey)

    def test_the_cache_is_tiktokens(self, cache: Path) -> None:
        path = cache / "a.txt"
        path.write_bytes(b"low")
        assert load.read_file_cached(str(path)) == b"low"
        path.write_bytes(b"new")
        assert load.read_file_cached(str(path)) == self.peer.read_file_cached(str(path)) == b"low"
        digest = "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"
        assert load.check_hash(b"new", digest) == self.peer.check_hash(b"new", digest)
        assert load.read_file(str(path)) == b"new"

    def test_hashes(self, cache: Path) -> None:
        import hashlib

        path = cache / "a.txt"
        path.write_bytes(b"old")
        load.read_file_cached(str(path))
        path.write_bytes(b"new")
        digest = hashlib.sha256(b"new").hexdigest()
        assert load.read_file_cached(str(path), digest) == b"new"
        with pytest.raises(ValueError, match="Hash mismatch for data downloaded from"):
            load.read_file_cached(str(path), "00")

    def test_no_cache(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
        path = cache / "a.txt"
        path.write_bytes(b"low")
        load.read_file_cached(str(path))
        assert [each.name for each in cache.iterdir()] == ["a.txt"]

    def test_other_storage(self) -> None:
        for call in (load.read_file, lambda path: load.dump_tiktoken_bpe({}, path)):
            with pytest.raises(ImportError, match="pip install blobfile"):
                call("s3://bucket/file")

    def test_gpt2s_files(self, cache: Path) -> None:
        tok = toksmith.train(texts=["low lower lowest"], vocab_size=260, split="gpt2")
        tok.with_special_tokens([END]).save(cache / "gpt2", format="gpt2")
        vocab, encoder = str(cache / "gpt2/vocab.bpe"), str(cache / "gpt2/encoder.json")
        for clobber in (False, True):
            assert_same(
                lambda m, c=clobber: m.data_gym_to_mergeable_bpe_ranks(
                    vocab, encoder, clobber_one_byte_tokens=c
                ),
                load,
                self.peer,
            )
        ranks = load.data_gym_to_mergeable_bpe_ranks(vocab, encoder, clobber_one_byte_tokens=True)
        assert ranks == dict(tok.vocab)


class TestPublished:
    @pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
    def test_same_as_tiktoken(
        self,
        name: str,
        shared: Path,
        tiktoken_encoding: Callable[[str], Any],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        ranks = published.ENCODINGS[name].ranks
        assert isinstance(ranks, published.Ranks)
        (tmp_path / ranks.file_name).symlink_to(shared / f"data/vocab/{name}.tiktoken")
        monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(tmp_path))
        monkeypatch.setattr(registry, "ENCODINGS", {})
        enc, peer = ours.get_encoding(name), tiktoken_encoding(name)
        assert enc.name == name
        assert enc._mergeable_ranks == peer._mergeable_ranks
        assert enc._special_tokens == peer._special_tokens
        assert enc.n_vocab == peer.n_vocab
        for text in TEXTS:
            assert_same(lambda e, t=text: e.encode(t, allowed_special="all"), enc, peer)
        assert_same(lambda e: e._encode_bytes(b" \xec\x8b\xa4\xed"), enc, peer)
        for text in ("hello wor", "a\n\n", " 12"):
            one, other = (e.encode_with_unstable(text) for e in (enc, peer))
            assert one[0] == other[0]
            assert sorted(one[1]) == sorted(other[1])


class TestCore:
    """``_core_bpe`` and ``_tiktoken.CoreBPE``, which some packages use or replace."""

    @pytest.mark.parametrize(
        "call",
        [
            lambda core: core.encode_ordinary("hello world"),
            lambda core: core.encode(f"a{END}b", {END, "x"}),
            lambda core: core.encode(f"a{END}b", set()),
            lambda core: core.encode_single_token(b" world"),
            lambda core: core.encode_single_token(b"<|pad|>"),
            lambda core: core.encode_single_token(b"\xff\xff"),
            lambda core: core.encode_single_piece(b"hello world\xff"),
            lambda core: core.decode_bytes([12700, 111, 16382]),
            lambda core: core.decode_bytes([99999]),
            lambda core: core.decode_single_token_bytes(111),
            lambda core: core._encode_bytes(b"a\xe6\x97"),
            lambda core: core.token_byte_values(),
            lambda core: memoryview(core.encode_to_tiktoken_buffer("hello", set())).tobytes(),
        ],
    )
    def test_calls(self, call: Callable[[Any], Any]) -> None:
        assert_same(call, SMALL._core_bpe, PEER._core_bpe)

    def test_a_core_can_be_replaced(self) -> None:
        from toksmith.compat.tiktoken import _tiktoken

        enc = ours.Encoding("mine", pat_str=".", mergeable_ranks=BYTES, special_tokens={"<a>": 300})
        enc._special_tokens["<b>"] = 301
        enc._core_bpe = _tiktoken.CoreBPE(enc._mergeable_ranks, enc._special_tokens, enc._pat_str)
        assert enc.encode("a<b>", allowed_special={"<b>"}) == [97, 301]
        assert enc.decode([97, 301]) == "a<b>"
        again = pickle.loads(pickle.dumps(enc._core_bpe))
        assert again.encode("a<b>", {"<b>"}) == [97, 301]

    def test_many_ids(self) -> None:
        ids = PEER.encode("hello world 日本 " * 300)
        for call in (
            lambda enc: enc.decode(ids),
            lambda enc: enc.decode(tuple(ids)),
            lambda enc: enc.decode([*ids, 99999]),
            lambda enc: enc.decode([*ids, -1]),
            lambda enc: enc.decode_batch([ids, ids[:3]]),
        ):
            assert_same(call)
        assert SMALL.decode(np.array(ids)) == PEER.decode(ids)


class TestWrongCalls:
    """Arguments of wrong types and ranges: the same results, or errors of the same class."""

    WRONG: ClassVar[list[Any]] = [
        *(None, True, 5, -1, 1.5, 2**33, "x", b"x", [], ["x"], [5], [-1], [1.0], [[1]], [["a"]]),
        *([None], ("a", 1), {1}, {END}, set(), frozenset(), {1: 1}, {}, [99999], [[1.0]], [2**33]),
    ]

    @pytest.mark.parametrize(
        "name",
        [
            *("encode_ordinary", "encode", "encode_to_numpy", "encode_ordinary_batch"),
            *("encode_batch", "encode_single_token", "decode_bytes", "decode"),
            *("decode_single_token_bytes", "decode_tokens_bytes", "decode_with_offsets"),
            *("decode_batch", "decode_bytes_batch", "is_special_token", "_encode_bytes"),
            *("_encode_single_piece", "_encode_only_native_bpe"),
        ],
    )
    def test_methods(self, name: str) -> None:
        for wrong in self.WRONG:
            assert_same(lambda enc, wrong=wrong: getattr(enc, name)(wrong))

    @pytest.mark.parametrize("name", ["encode", "encode_to_numpy", "encode_batch"])
    @pytest.mark.parametrize("option", ["allowed_special", "disallowed_special"])
    def test_options(self, name: str, option: str) -> None:
        text: Any = ["low lo"] if "batch" in name else "low lo"
        for wrong in self.WRONG:
            assert_same(lambda enc, wrong=wrong: getattr(enc, name)(text, **{option: wrong}))

    @pytest.mark.parametrize(
        "name",
        [
            *("encode", "encode_to_tiktoken_buffer", "encode_ordinary", "encode_single_piece"),
            *("encode_single_token", "decode_bytes", "decode_single_token_bytes", "_encode_bytes"),
        ],
    )
    def test_the_core(self, name: str) -> None:
        takes_set = name in ("encode", "encode_to_tiktoken_buffer")
        for wrong in self.WRONG:

            def call(core: Any, wrong: Any = wrong) -> Any:
                if not takes_set:
                    return getattr(core, name)(wrong)
                found = getattr(core, name)("a", wrong)
                return found if name == "encode" else memoryview(found).tobytes()

            assert_same(call, SMALL._core_bpe, PEER._core_bpe)

    def test_the_constructor_of_the_core(self) -> None:
        from toksmith.compat.tiktoken import _tiktoken

        peer = __import__("tiktoken._tiktoken")._tiktoken
        for wrong in self.WRONG:
            for place in range(3):
                given: list[Any] = [BYTES, {"<a>": 300}, "."]
                given[place] = wrong
                assert_same(lambda lib, given=given: bool(lib.CoreBPE(*given)), _tiktoken, peer)

    def test_a_message_names_what_to_use(self) -> None:
        with pytest.raises(TypeError, match=r"'text' is of the type str: use bytes"):
            SMALL._encode_bytes("text")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"1 is no literal of a special token: use strings"):
            SMALL.encode("low", allowed_special={1})  # type: ignore[arg-type]
