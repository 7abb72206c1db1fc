"""The tokens of a GGUF file, and the keys of its tokenizer, after checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toksmith._base.lazy import np, npt
from toksmith.errors import FormatError, warn
from toksmith.formats import byte_spelling
from toksmith.formats.gguf_metadata import Metadata
from toksmith.formats.listed import Hints
from toksmith.framing import AddedToken, Framing, Settings
from toksmith.framing.settings import DEFAULT
from toksmith.models import PieceType

KEY = "tokenizer.ggml."
"""The start of the names of the tokenizer's keys."""

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = map(int, PieceType)
BYTES = frozenset(b"<0x%02X>" % byte for byte in range(256))
"""The tokens for bytes."""

_ADDED_TYPES = (UNKNOWN, CONTROL, USER_DEFINED)

# Tokens that end a generation: llama.cpp treats them as control tokens, whatever their type.
_ENDS = frozenset(
    (
        *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>"),
        *("<|calls|>", "<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>"),
        *("[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>"),
        *("<|tool_response>", "<｜end▁of▁sentence｜>", "[e~["),
    )
)


_ROLES = {
    "bos_token": "bos",
    "eos_token": "eos",
    "unk_token": "unknown",
    "sep_token": "seperator",
    "pad_token": "padding",
    "cls_token": "cls",
    "mask_token": "mask",
}
"""GGUF's names of the roles of special tokens."""


class Vocabulary:
    """The vocabulary of a file, checked, and its special tokens."""

    def __init__(self, held: Metadata, hints: Hints) -> None:
        self.held = held
        self.path = held.path
        self.split = hints.split
        tokens = held.strings(KEY + "tokens")
        if not tokens:
            raise FormatError(self.path, f"{KEY}tokens is empty")
        if not all(tokens):  # as llama.cpp names them
            tokens = [token or b"[EMPTY_%d]" % i for i, token in enumerate(tokens)]
        if len(set(tokens)) != len(tokens):
            seen: dict[bytes, int] = {}
            for token_id, token in enumerate(tokens):
                if (first := seen.setdefault(token, token_id)) != token_id:
                    raise FormatError(
                        self.path, f"ids {first} and {token_id} have the same token, {token!r:.60}"
                    )
        self.tokens = tokens
        size = len(tokens)
        types = held.numbers(KEY + "token_type", "iu", size)
        types = np.ones(size, np.int64) if types is None else types.astype(np.int64)
        types[~np.isin(types, list(PieceType))] = NORMAL
        self.types: npt.NDArray[np.uint8] = types.astype(np.uint8)

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean of the tokenizer's keys."""
        return self.held.flag(KEY + name, default)

    def token_id(self, name: str, default: int | None = None) -> int | None:
        """Return the id in ``NAME_token_id``; one outside the vocabulary counts as missing."""
        found = self.held.number(f"{KEY}{name}_token_id")
        if found is not None and not 0 <= found < len(self.tokens):
            warn(
                f"{self.path}: {name}_token_id is {found}, but there are {len(self.tokens):,} "
                f"tokens; {default} is used, as in llama.cpp"
            )
            found = None
        if found is None and default is not None and default < len(self.tokens):
            return default
        return found

    def texts(self) -> list[str]:
        """Return the tokens as text; invalid UTF-8 becomes lone surrogates."""
        try:
            return b"\0".join(self.tokens).decode().split("\0")
        except UnicodeDecodeError:
            return [token.decode(errors="surrogateescape") for token in self.tokens]

    def check_text(self) -> None:
        """Raise FormatError if a token is invalid UTF-8, which no text can match."""
        token = b""
        try:
            for token in self.tokens:
                token.decode()
        except UnicodeDecodeError:
            token_id = self.tokens.index(token)
            raise FormatError(
                self.path, f"token {token_id} is {token!r:.60}, which is invalid UTF-8"
            ) from None

    def piece_types(self) -> npt.NDArray[np.uint8]:
        """Return the types; a byte token that spells no byte is a normal one."""
        types: npt.NDArray[np.uint8] = self.types.copy()
        for token_id in np.flatnonzero(types == BYTE).tolist():
            if self.tokens[token_id] not in BYTES:
                types[token_id] = NORMAL
        return types

    def added(self) -> list[AddedToken]:
        """Return the tokens that are found in a text before it is split."""
        types = self.types.tolist()
        ids = {i for i, kind in enumerate(types) if kind in _ADDED_TYPES}
        ends = {end.encode() for end in _ENDS}
        ids |= {i for i, token in enumerate(self.tokens) if token in ends}
        strips = self._strips()
        found = []
        for token_id in sorted(ids):
            try:
                content = self.tokens[token_id].decode()
            except UnicodeDecodeError:  # no text holds it
                continue
            is_special = types[token_id] != USER_DEFINED or content in _ENDS
            lstrip, rstrip = strips(content)
            found.append(
                AddedToken(content, token_id, special=is_special, lstrip=lstrip, rstrip=rstrip)
            )
        return found

    def _strips(self) -> Callable[[str], tuple[bool, bool]]:
        """Return the rule by which added tokens take the white space before and after them.

        The file does not say it; llama.cpp knows some models by name.
        """
        name = (self.held.text("general.name") or "").lower()
        architecture = self.held.text("general.architecture") or ""
        pre = self.held.text(KEY + "pre") or ""
        if any(each in pre for each in ("jina-v2-de", "jina-v2-es", "jina-v2-code")) or any(
            each in architecture for each in ("nomic-bert-moe", "jina-bert-v3")
        ):
            return lambda content: (content == "<mask>", False)
        if "phi-3" in name or "phi3" in name:
            kept = ("<unk>", "<s>", "<|endoftext|>")
            return lambda content: (False, content not in kept)
        if "modern-bert" in name:
            return lambda content: (content == "[MASK]", False)
        return lambda content: (False, False)

    def framing(
        self,
        added: Sequence[AddedToken],
        add_bos: bool,
        add_eos: bool,
        bos: int | None,
        eos: int | None,
    ) -> Framing:
        """Return the framing with BOS and EOS around a text where the file or its kind says so."""
        for name, token_id, is_added in (("bos", bos, add_bos), ("eos", eos, add_eos)):
            if is_added and token_id is None:
                raise FormatError(
                    self.path, f"{KEY}add_{name}_token is set, but {name}_token_id is missing"
                )
        return Framing(
            tuple(added),
            prefix=(bos,) if add_bos and bos is not None else (),
            suffix=(eos,) if add_eos and eos is not None else (),
        )

    def settings(self, framing: Framing) -> Settings:
        """Return the roles of the special tokens and the chat template."""
        names = {token.id: token.content for token in framing.added_tokens if not token.alias}
        roles = {}
        for role, name in _ROLES.items():
            token_id = self.held.number(f"{KEY}{name}_token_id")
            if token_id in names:
                roles[role] = names[token_id]
        template = self.held.text("tokenizer.chat_template")
        return Settings(
            roles or None, chat_templates={} if template is None else {DEFAULT: template}
        )

    def scores(self) -> npt.NDArray[np.float64]:
        """Return the score of each token; 0 if the file has none."""
        held = self.held.numbers(KEY + "scores", "fi", len(self.tokens))
        scores = np.zeros(len(self.tokens)) if held is None else held.astype(np.float64)
        if not np.isfinite(scores).all():
            raise FormatError(
                self.path, f"token {int(np.isfinite(scores).argmin())} has no finite score"
            )
        return scores

    def merges(self, texts: list[str]) -> npt.NDArray[np.uint32]:
        """Return the merges as ids; of one that occurs twice, the first rank counts."""
        held = self.held.strings(KEY + "merges")
        try:
            lines = b"\0".join(held).decode().split("\0") if held else []
        except UnicodeDecodeError:
            lines = [merge.decode(errors="surrogateescape") for merge in held]
        if len(lines) != len(held):
            raise FormatError(self.path, f"{KEY}merges holds a null character")
        pairs = byte_spelling.split_pairs(lines)
        if pairs is None:  # a token may start with a space
            parts = [(line[:at], line[at + 1 :]) for line in lines if (at := line.find(" ", 1)) > 0]
            if len(parts) != len(lines):
                wrong = next(line for line in lines if line.find(" ", 1) < 0)
                raise FormatError(
                    self.path, f"{KEY}merges has {wrong!r:.60}, not two tokens and a space"
                )
            pairs = [left for left, _ in parts], [right for _, right in parts]
        ids = {text: token_id for token_id, text in enumerate(texts)}
        merges = byte_spelling.merges_by_id(self.path, *pairs, ids, "merge", 0)
        keys = merges[:, 0].astype(np.uint64) << np.uint64(32) | merges[:, 1]
        _, first = np.unique(keys, return_index=True)
        return merges if len(first) == len(merges) else merges[np.sort(first)]
