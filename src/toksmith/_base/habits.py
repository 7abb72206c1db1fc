"""Names from other libraries that do not exist here, and toksmith's name for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn

_IDS = "special_tokens, which maps each special token to its id"
_NAME = 'toksmith.get(name), such as get("gpt2") or get("gpt-4o"), or toksmith.load(path)'
_TRAIN = "toksmith.train(texts=[...], vocab_size=...)"

TOKENIZER: Mapping[str, str] = {
    # tiktoken
    "encode_ordinary": 'encode(text), whose special="text" is the default',
    "encode_ordinary_batch": "encode_batch(texts)",
    "encode_to_numpy": "encode_array(text)",
    "encode_single_token": "token_id(token)",
    "encode_with_unstable": "toksmith.compat.tiktoken, whose encodings have it",
    "decode_with_offsets": "decode_spans(ids), the text and the characters of each id",
    "decode_tokens_bytes": "[tok.token_bytes(i) for i in ids]",
    "decode_single_token_bytes": "token_bytes(id)",
    "n_vocab": "vocab_size, or len(tok)",
    "max_token_value": "vocab_size - 1",
    "eot_token": "special_tokens['<|endoftext|>']",
    "special_tokens_set": "special_tokens",
    "is_special_token": "id in tok.special_tokens.values()",
    "token_byte_values": "tokens",
    # tokenizers and transformers
    "tokenize": "encoding(text).strings, or .tokens for bytes",
    "convert_tokens_to_ids": "token_id(token), for each",
    "convert_ids_to_tokens": "spelling(id), for each",
    "convert_tokens_to_string": "decode(ids)",
    "token_to_id": "id_of_spelling(token), or token_id(token) for its bytes",
    "id_to_token": "spelling(id), or token_bytes(id)",
    "get_vocab": "vocab, a mapping from bytes to ids",
    "get_vocab_size": "vocab_size, or len(tok)",
    "get_added_vocab": "special_tokens",
    "all_special_tokens": "special_tokens",
    "all_special_ids": "special_tokens.values()",
    "special_tokens_map": "special_tokens",
    "add_tokens": "with_special_tokens([...]), which returns a new tokenizer",
    "add_special_tokens": "with_special_tokens([...]), which returns a new tokenizer",
    "enable_padding": "prepare(texts, padding=...)",
    "no_padding": "prepare(texts, padding=...)",
    "pad": "prepare(texts, padding=...)",
    "enable_truncation": "prepare(texts, max_length=...), or truncate(text, max_tokens)",
    "no_truncation": "encode(text), which returns all tokens",
    "post_processor": "with_template(bos=..., eos=...), which returns a new tokenizer",
    "build_inputs_with_special_tokens": "encode(text, add_special_tokens=True)",
    "num_special_tokens_to_add": "pipeline.framing.template.added()",
    "pre_tokenizer": "pipeline.splitter; toksmith.split(text, split) shows what it does",
    "normalizer": "pipeline.normalizer",
    "model": "pipeline.model",
    "backend_tokenizer": "pipeline",
    "to_str": "dumps(), which returns bytes",
    "save_pretrained": 'save("folder/"), which writes tokenizer.json and its two companions',
    "save_vocabulary": "save(path)",
    "batch_decode": "decode_batch(batch)",
    "encode_plus": "prepare([text]), or encoding(text)",
    "batch_encode_plus": "prepare(texts)",
    "batch_encode": "encode_batch(texts)",
    "apply_chat_template": "encode(text, special='encode'), with the messages as one text",
    "padding_side": 'prepare(texts, padding=toksmith.framing.Padding(direction="left"))',
    "truncation_side": 'truncate(text, max_tokens, side="left")',
    **dict.fromkeys(
        [f"{name}_token" for name in ("bos", "eos", "pad", "unk", "cls", "sep", "mask")]
        + [f"{name}_token_id" for name in ("cls", "sep", "mask")],
        _IDS,
    ),
    # SentencePiece
    **{f"{name}_id": f"{name}_token_id" for name in ("bos", "eos", "pad", "unk")},
    "id_to_piece": "spelling(id)",
    "IdToPiece": "spelling(id)",
    "piece_to_id": "id_of_spelling(piece)",
    "PieceToId": "id_of_spelling(piece)",
    "piece_size": "vocab_size, or len(tok)",
    "get_piece_size": "vocab_size, or len(tok)",
    "GetPieceSize": "vocab_size, or len(tok)",
    "encode_as_ids": "encode(text)",
    "EncodeAsIds": "encode(text)",
    "encode_as_pieces": "encoding(text).strings, or .tokens for bytes",
    "EncodeAsPieces": "encoding(text).strings, or .tokens for bytes",
    "decode_ids": "decode(ids)",
    "DecodeIds": "decode(ids)",
    "decode_pieces": "decode([tok.token_id(piece) for piece in pieces])",
    "sample_encode_as_ids": "sample(text, seed=...)",
    "nbest_encode_as_ids": "nbest(text, size)",
    "sample_encode_and_score": "samples(text, count)",
    "calculate_entropy": "segmentation_entropy(text)",
    "Encode": "encode(text)",
    "Decode": "decode(ids)",
    # minbpe
    "register_special_tokens": "with_special_tokens({...}), which returns a new tokenizer",
    "pattern": "pipeline.splitter",
    "train": "toksmith.train, which returns a tokenizer",
    "load": "toksmith.load(path)",
}  # fmt: skip
"""Our call for each attribute that other libraries' tokenizers have."""

CLASS: Mapping[str, str] = {
    "from_pretrained": f"{_NAME}; a folder of Hugging Face's is a path",
    "from_file": "toksmith.load(path)",
    "from_str": "toksmith.loads(text)",
    "from_buffer": "toksmith.loads(data)",
    "train": "toksmith.train, which returns a tokenizer",
    "load": "toksmith.load(path)",
}
"""Our call for each attribute of other libraries' tokenizer classes."""

MODULE: Mapping[str, str] = {
    "get_encoding": _NAME,
    "encoding_for_model": _NAME,
    "encoding_name_for_model": "toksmith.get(name).name",
    "list_encoding_names": _NAME,
    "from_pretrained": CLASS["from_pretrained"],
    "AutoTokenizer": _NAME,
    "PreTrainedTokenizerFast": _NAME,
    "GPT2Tokenizer": _NAME,
    "SentencePieceProcessor": "toksmith.load(path)",
    "SentencePieceTrainer": 'toksmith.train(files, model="sentencepiece-unigram", ...)',
    "BasicTokenizer": f"{_TRAIN}, with split=None",
    "RegexTokenizer": _TRAIN,
    "GPT4Tokenizer": 'toksmith.get("cl100k_base")',
    "ByteLevelBPETokenizer": _TRAIN,
    "BertWordPieceTokenizer": 'toksmith.train(texts=[...], model="wordpiece", ...)',
    "BpeTrainer": _TRAIN,
    "encode": "toksmith.get(name).encode(text)",
    "decode": "toksmith.get(name).decode(ids)",
    "tokenize": "toksmith.get(name).encoding(text).strings",
    "count_tokens": "toksmith.get(name).count(text)",
}
"""Our call for each name of other packages."""

KEYWORDS: Mapping[str, str] = {
    "allowed_special": 'special="encode" (all of them) or special={"<|endoftext|>"}',
    "disallowed_special": 'special="raise"; the default, "text", takes them as text',
    "num_threads": "threads=",
    "text_pair": "pair=",
    "out_type": "encoding(text).strings, or encode_array(text)",
    "add_bos": "add_special_tokens=True; with_template(bos=...) says which",
    "add_eos": "add_special_tokens=True; with_template(eos=...) says which",
    **dict.fromkeys(
        ("max_length", "truncation", "padding", "stride", "return_attention_mask"),
        "prepare(texts, ...), which makes rows for a model",
    ),
    "return_tensors": "prepare(texts), whose arrays are NumPy's: torch.from_numpy(inputs.ids)",
    "return_offsets_mapping": "encoding(text).spans, or prepare(texts, spans=True)",
    "return_overflowing_tokens": "prepare(texts, overflow=True)",
    "is_split_into_words": "encode_batch(words)",
}
"""Our keyword for each keyword of other libraries' methods that encode."""

CALLED = (
    "a Tokenizer is not called: use tok.encode(text) for ids, or tok.prepare(texts) for arrays "
    "that a model takes"
)


def unknown_name(owner: str, name: str, habits: Mapping[str, str]) -> str:
    """Return the message for a name that an owner does not have.

    Example:
        >>> unknown_name("'Tokenizer' object", "n_vocab", TOKENIZER)
        "'Tokenizer' object has no attribute 'n_vocab': use vocab_size, or len(tok)"
    """
    said = f"{owner} has no attribute {name!r}"
    return f"{said}: use {habits[name]}" if name in habits else said


def unknown_keywords(call: str, names: Iterable[str]) -> TypeError:
    """Return the error for keywords that a method does not have.

    Example:
        >>> print(unknown_keywords("encode", ["num_threads"]))
        encode() got an unexpected keyword argument 'num_threads': use threads=
    """
    name = next(iter(names))
    said = f"{call}() got an unexpected keyword argument {name!r}"
    return TypeError(f"{said}: use {KEYWORDS[name]}" if name in KEYWORDS else said)


class _Elsewhere:
    """An attribute that does not exist: looking it up raises an error that names our call.

    A descriptor, since a class with ``__getattr__`` makes every look-up of its attributes slower.
    """

    __slots__ = ("_name", "_use")

    def __init__(self, name: str, use: str) -> None:
        self._name = name
        self._use = use

    def __get__(self, owner: object, kind: type) -> NoReturn:
        thing = f"type object {kind.__name__!r}" if owner is None else f"{kind.__name__!r} object"
        said = unknown_name(thing, self._name, {self._name: self._use})
        raise AttributeError(said, name=self._name, obj=owner)


class _WithoutHabits(type):
    """Leaves the names out of ``dir()``, so that neither help nor completion shows them."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name not in TOKENIZER and name not in CLASS]


class TokenizerHabits(metaclass=_WithoutHabits):
    """Base of a tokenizer: what users of other libraries look for raises an error that helps."""

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in TOKENIZER and name not in CLASS]

    if not TYPE_CHECKING:  # for checkers, a tokenizer is not callable

        def __call__(self, *texts: object, **options: object) -> NoReturn:
            """Raise an error that names what to call."""
            raise TypeError(CALLED)


for _name, _use in {**CLASS, **TOKENIZER}.items():
    setattr(TokenizerHabits, _name, _Elsewhere(_name, _use))
