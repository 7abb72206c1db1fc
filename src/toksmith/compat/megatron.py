"""A tokenizer with the names that Megatron and NeMo call, run by toksmith.

The names are those of ``megatron.core.tokenizers`` (``text_to_ids``, ``pad_id``), of NeMo's
``TokenizerSpec``, which are the same, and of Megatron's older classes (``tokenize``, ``eod``).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from toksmith.errors import OptionError, UnknownTokenError, UnsupportedError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.tokenizer import Tokenizer

_ROLES = ("bos", "eos", "pad", "unk", "sep", "cls", "mask")
_SHARED = {"bos": "cls", "cls": "bos", "eos": "sep", "sep": "eos"}
"""The role whose token serves if a model has none for another, as in both frameworks."""


class TextTokenizer:
    """A tokenizer as Megatron's ``HuggingFaceTokenizer`` and NeMo's ``AutoTokenizer`` are.

    Args:
        tokenizer_path: a :class:`toksmith.Tokenizer`, a path, or a name for :func:`toksmith.load`.
        vocab_file: ``None``; Megatron passes it.
        merges_file: ``None``; Megatron passes it.
        mask_token: the literal of the special token for this use, and so for the others; each is
            added if it is no token yet.
        bos_token: see ``mask_token``.
        eos_token: see ``mask_token``.
        pad_token: see ``mask_token``.
        sep_token: see ``mask_token``.
        cls_token: see ``mask_token``.
        unk_token: see ``mask_token``.
        additional_special_tokens: literals of more special tokens.
        use_fast: ignored.
        trust_remote_code: ignored: no code is loaded.
        include_special_tokens: whether :meth:`text_to_ids` puts the template's tokens around a
            text, and :meth:`ids_to_text` keeps special tokens.
        chat_template: kept as an attribute, else the tokenizer's own.

    Attributes:
        tokenizer: the :class:`toksmith.Tokenizer`.
        bos_id: the id of a special token, or ``None``; so are ``eos_id``, ``pad_id``, ``unk_id``,
            ``sep_id``, ``cls_id``, ``mask_id``, and the same names without ``_id``.
        bos_token: the literal of this token, or ``None``; so are ``eos_token`` and the others.
        additional_special_tokens: the literals given under this name.
        original_vocab_size: the number of ids before special tokens were added.
        eod: the id that ends a document: that of ``eos_id``.

    Raises:
        OptionError: there is no such tokenizer, or ``vocab_file`` is given.

    Example:
        >>> tok = TextTokenizer("toksmith-small")
        >>> tok.text_to_ids("It was"), tok.ids_to_text([1377, 360]), tok.eod, tok.vocab_size
        ([1377, 360], 'It was', 16382, 16384)
    """

    bos_id: int | None
    eos_id: int | None
    pad_id: int | None
    unk_id: int | None
    sep_id: int | None
    cls_id: int | None
    mask_id: int | None
    bos_token: str | None
    eos_token: str | None
    pad_token: str | None
    unk_token: str | None
    sep_token: str | None
    cls_token: str | None
    mask_token: str | None
    eod: int | None
    tokenizer: Tokenizer

    def __init__(
        self,
        tokenizer_path: AnyTokenizer,
        vocab_file: str | None = None,
        merges_file: str | None = None,
        mask_token: str | None = None,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        sep_token: str | None = None,
        cls_token: str | None = None,
        unk_token: str | None = None,
        additional_special_tokens: Sequence[str] | None = (),
        use_fast: bool = True,
        trust_remote_code: bool = False,
        include_special_tokens: bool = True,
        chat_template: str | None = None,
    ) -> None:
        if vocab_file is not None or merges_file is not None:
            raise OptionError(
                "TextTokenizer reads a tokenizer from one path: give the tokenizer.json, or the "
                "folder of GPT-2's vocab.json and merges.txt, and no vocab_file"
            )
        self.tokenizer = tokenizer_of(tokenizer_path)
        self.include_special_tokens = include_special_tokens
        self.chat_template = chat_template or self.tokenizer.chat_template
        self.original_vocab_size = len(self.tokenizer)
        self._path = str(tokenizer_path)
        self._ids = {
            role: token_id
            for role in _ROLES
            if (token_id := self.tokenizer._roles.get(f"{role}_token")) is not None
        }
        given = {
            "mask_token": mask_token,
            "bos_token": bos_token,
            "eos_token": eos_token,
            "pad_token": pad_token,
            "sep_token": sep_token,
            "cls_token": cls_token,
            "unk_token": unk_token,
        }
        roles = {name: token for name, token in given.items() if token is not None}
        self.additional_special_tokens: list[str] = []
        self.add_special_tokens(
            {**roles, "additional_special_tokens": list(additional_special_tokens or ())}
        )

    def add_special_tokens(self, tokens: Mapping[str, str | Sequence[str]] | Sequence[str]) -> int:
        """Add special tokens, and return the number of new ones.

        Args:
            tokens: literals by use, such as ``{"pad_token": "<pad>"}``, with more of them under
                ``"additional_special_tokens"``; or a list of literals.

        Raises:
            OptionError: there is no such use.

        Example:
            >>> tok = TextTokenizer("toksmith-small")
            >>> tok.add_special_tokens({"mask_token": "<mask>"}), tok.mask_id
            (1, 16384)
        """
        if not isinstance(tokens, Mapping):
            tokens = {"additional_special_tokens": tokens}
        uses: dict[str, str] = {}
        more: list[str] = []
        for name, value in tokens.items():
            if name == "additional_special_tokens":
                more += [value] if isinstance(value, str) else value
            elif name.removesuffix("_token") in _ROLES and isinstance(value, str):
                uses[name.removesuffix("_token")] = value
            else:
                raise OptionError(
                    f"{name!r:.80} is no use of a special token: use "
                    f"{', '.join(f'{role}_token' for role in _ROLES)} with a literal, or "
                    "additional_special_tokens with a list"
                )
        before = len(self.tokenizer)
        literals = [*uses.values(), *more]
        if literals:
            self.tokenizer = self.tokenizer.with_special_tokens(list(dict.fromkeys(literals)))
        known = self.additional_special_tokens
        known += [token for token in dict.fromkeys(more) if token not in known]
        self._ids |= {role: self.tokenizer.token_id(token) for role, token in uses.items()}
        for role in _ROLES:
            token_id = self._ids.get(role, self._ids.get(_SHARED.get(role, "")))
            setattr(self, f"{role}_id", token_id)
            setattr(self, role, token_id)
            literal = None if token_id is None else self.tokenizer.spelling(token_id)
            setattr(self, f"{role}_token", literal)
        self.eod = self.eos_id
        return len(self.tokenizer) - before

    def text_to_ids(self, text: str, add_special_tokens: bool | None = None) -> list[int]:
        """Return the ids of a text. Literals of special tokens become these tokens.

        Args:
            text: the text.
            add_special_tokens: whether the template's tokens are put around it; ``None``: as
                ``include_special_tokens`` says.
        """
        framed = self.include_special_tokens if add_special_tokens is None else add_special_tokens
        return self.tokenizer.encode(text, special="encode", add_special_tokens=framed)

    def ids_to_text(self, ids: Sequence[int], remove_special_tokens: bool | None = None) -> str:
        """Return the text of ids.

        Args:
            ids: the ids.
            remove_special_tokens: whether special tokens are left out; ``None``: unless
                ``include_special_tokens`` is set.
        """
        without = remove_special_tokens
        if without is None:
            without = not self.include_special_tokens
        return self.tokenizer.decode(list(ids), skip_special_tokens=without)

    def text_to_tokens(self, text: str) -> list[str]:
        """Return the tokens of a text as the vocabulary spells them, without the template's.

        Example:
            >>> TextTokenizer("toksmith-small").text_to_tokens("It was")
            ['It', 'Ġwas']
        """
        return self.ids_to_tokens(self.text_to_ids(text, add_special_tokens=False))

    def tokens_to_text(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens as the vocabulary spells them."""
        return self.tokenizer.decode(self.tokens_to_ids(tokens))

    def tokens_to_ids(self, tokens: Sequence[str]) -> list[int]:
        """Return the ids of tokens as the vocabulary spells them."""
        return [self.token_to_id(token) for token in tokens]

    def token_to_id(self, token: str) -> int:
        """Return the id of a token as the vocabulary spells it; of an unknown one, ``unk_id``.

        Raises:
            UnknownTokenError: there is no such token, and no token for unknown text.
        """
        try:
            return self.tokenizer.id_of_spelling(token)
        except UnknownTokenError:
            if self.unk_id is None:
                raise
            return self.unk_id

    def ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the tokens of ids as the vocabulary spells them."""
        return [self.tokenizer.spelling(token_id) for token_id in ids]

    def offsets(self, ids: Sequence[int], text: str) -> list[int]:
        """Return the character of the text at which each id starts.

        Args:
            ids: the ids of the text.
            text: their text, with or without special tokens, as :meth:`ids_to_text` returns it.

        Example:
            >>> TextTokenizer("toksmith-small").offsets([1377, 360, 16382], "It was")
            [0, 2, 6]
        """
        ids = list(ids)
        found, spans = self.tokenizer.decode_spans(ids)
        if found == text:
            starts: list[int] = spans[:, 0].tolist()
            return starts
        special = {*self.tokenizer.special_tokens.values()}
        spans = self.tokenizer.decode_spans([i for i in ids if i not in special])[1]
        rest = iter([*spans[:, 0].tolist(), len(text)])
        start = next(rest)
        starts = []
        for token_id in ids:  # a special token is where the next token is
            starts.append(start)
            if token_id not in special:
                start = next(rest)
        return starts

    def apply_chat_template(self, conversation: object, chat_template: str, **_: object) -> None:
        """Raise an error: toksmith keeps chat templates, and does not run them.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "toksmith keeps chat templates, and does not run them: render the conversation with "
            "Jinja or transformers, and give the text to text_to_ids(text, False)"
        )

    def save_pretrained(self, save_directory: str) -> None:
        """Write a folder that this class and transformers read; see :meth:`Tokenizer.save`."""
        self.tokenizer.save(f"{save_directory}/")

    # Megatron's older classes

    def tokenize(self, text: str, **_: object) -> list[int]:
        """Return the ids of a text; see :meth:`text_to_ids`."""
        return self.text_to_ids(text)

    def detokenize(self, token_ids: Sequence[int], **_: object) -> str:
        """Return the text of ids, with special tokens."""
        return self.tokenizer.decode(list(token_ids))

    # The vocabulary

    @property
    def vocab_size(self) -> int:
        """The number of ids, special tokens included."""
        return len(self.tokenizer)

    @property
    def vocab(self) -> list[str]:
        """The tokens by id, as the vocabulary spells them."""
        return list(self.tokenizer.spellings)

    @property
    def inv_vocab(self) -> dict[int, str]:
        """The token of each id."""
        return dict(enumerate(self.tokenizer.spellings))

    @property
    def additional_special_tokens_ids(self) -> list[int]:
        """The ids of the additional special tokens."""
        return [self.tokenizer.token_id(token) for token in self.additional_special_tokens]

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def unique_identifiers(self) -> OrderedDict[str, str]:
        """What Megatron's caches of a data set depend on: the class, the path, and the tokens."""
        return OrderedDict(
            {
                "class": f"{type(self).__module__}.{type(self).__qualname__}",
                "tokenizer_path": self._path,
                "special_tokens": str(self.tokenizer.special_tokens),
                "include_special_tokens": str(self.include_special_tokens),
            }
        )
