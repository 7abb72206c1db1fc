"""The folder that the explorer may read and write: the one it was started in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from toksmith.corpus.streams import kind_of
from toksmith.errors import FormatError, OptionError

MOST_ENTRIES = 2_000

_HEAD = 4_096
_TOKENIZER_NAMES = {
    *("vocab.json", "encoder.json", "vocab.bpe", "merges.txt", "vocab.txt"),
    *("tokenizer_config.json", "special_tokens_map.json"),
}
_TOKENIZER_SUFFIXES = {".model", ".tiktoken", ".bpe", ".vocab"}


@dataclass(frozen=True)
class FolderEntry:
    """A file or folder.

    Attributes:
        path: from the root, with ``/``.
        name: its own name.
        size: in bytes; ``None`` for folders.
    """

    path: str
    name: str
    size: int | None


class Folder:
    """Access to the files below a folder, and to none outside it, also not through links.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._uploads: dict[str, tuple[str, Path]] = {}

    def add_upload(self, name: str, path: Path) -> str:
        """Add an uploaded file to those that can be chosen, and return its key."""
        key = path.name
        self._uploads[key] = (name, path)
        return key

    def replace_upload_paths(self, message: str) -> str:
        """Return a message with the names of uploaded files in place of their temporary paths."""
        for name, path in self._uploads.values():
            message = message.replace(str(path), name)
        return message

    def choose(self, files: Sequence[str], text: str) -> tuple[dict[str, list[str]], list[str]]:
        """Return the input that a page chose: the paths of files by name, or a text.

        A folder means all files in it, at any depth, except links that lead out of the root.

        Raises:
            OptionError: neither or both are given, or a path is no file or folder below the root.
        """
        found: dict[str, list[str]] = {}
        for file in files:
            if file in self._uploads:
                name, path = self._uploads[file]
                paths = [path]
            else:
                name, paths = file, self._below(file)
            found[name if name not in found else f"{name} ({len(found) + 1})"] = [*map(str, paths)]
        texts = [text] if text else []
        if bool(found) == bool(texts):
            raise OptionError("choose files, or paste a text")
        return found, texts

    def _below(self, file: str) -> list[Path]:
        path = self.resolve_inside(file)
        if path.is_file():
            return [path]
        if not path.is_dir():
            raise OptionError(f"{file[:200]!r} is neither a file nor a folder")
        files = sorted(each for each in path.rglob("*") if each.is_file() and self._is_ours(each))
        if not files:
            raise OptionError(f"the folder {file[:200]!r} holds no files")
        return files

    def resolve_inside(self, path: str) -> Path:
        """Return a path below the root, resolved.

        Raises:
            OptionError: it is outside the root, or does not exist.
        """
        try:
            found = (self.root / path).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            raise OptionError(f"{path[:200]!r}: there is no such file") from None
        if not found.is_relative_to(self.root):
            raise OptionError(f"{path[:200]!r} is not below {self.root}")
        return found

    def find(self, keys: Sequence[str]) -> list[FolderEntry]:
        """Return those files that exist, by their paths or the keys of uploads."""
        found = []
        for key in keys:
            if key in self._uploads:
                name, path = self._uploads[key]
            else:
                try:
                    path = self.resolve_inside(key)
                except OptionError:
                    continue
                name = path.name
            if path.is_file():
                found.append(FolderEntry(key, name, path.stat().st_size))
        return found

    def list_entries(self, path: str) -> list[FolderEntry]:
        """Return the entries of a folder, folders first.

        Hidden files, links out of the root, tokenizers, and what is not text are left out.

        Raises:
            OptionError: there is no such folder below the root.
        """
        folder = self.resolve_inside(path)
        if not folder.is_dir():
            raise OptionError(f"{path[:200]!r} is not a folder")
        found: list[FolderEntry] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not self._is_ours(Path(entry.path)):
                    continue
                here = Path(entry.path).relative_to(self.root).as_posix()
                if entry.is_dir():
                    found.append(FolderEntry(here, entry.name, None))
                elif entry.is_file() and holds_text(Path(entry.path)):
                    found.append(FolderEntry(here, entry.name, entry.stat().st_size))
                if len(found) >= MOST_ENTRIES:
                    break
        return sorted(found, key=lambda each: (each.size is not None, each.name.lower(), each.name))

    def _is_ours(self, path: Path) -> bool:
        try:
            return path.resolve(strict=True).is_relative_to(self.root)
        except (OSError, RuntimeError):
            return False

    @contextmanager
    def open_new(self, path: str) -> Iterator[tuple[Path, Path]]:
        """Yield a temporary path for a new file, and its final path.

        At the end the file, and all others in the temporary folder, move to the final folder.

        Raises:
            OptionError: there is no such folder below the root, or a file of that name exists.
        """
        target = self._free(path)
        with TemporaryDirectory(prefix=".toksmith-", dir=target.parent) as temporary:
            yield Path(temporary, target.name), target
            made = sorted(Path(temporary).iterdir())
            for each in made:
                self._free(str(Path(path).with_name(each.name)))
            for each in made:
                each.rename(target.with_name(each.name))

    def _free(self, path: str) -> Path:
        """Return the path of a new file below the root."""
        given = Path(path)
        if not given.name or given.name.startswith(".") or "\0" in path:
            raise OptionError(
                f"{path[:200]!r} is not a file name: use a name that does not begin with a dot"
            )
        target = self.resolve_inside(given.parent.as_posix()) / given.name
        if target.exists() or target.is_symlink():
            raise OptionError(f"{path[:200]!r} exists already: choose another name")
        return target


def holds_text(path: Path) -> bool:
    """Return whether a file is likely to hold texts, by its name and its first bytes.

    Compressed files and tables may; tokenizers do not.
    """
    if path.name in _TOKENIZER_NAMES or path.suffix.lower() in _TOKENIZER_SUFFIXES:
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        kind = kind_of(path, head)
    except (OSError, FormatError):
        return False
    if kind.compression or kind.content == "parquet":
        return True
    if b"\0" in head or (path.suffix == ".json" and b'"added_tokens"' in head):
        return False
    try:
        head.decode()
    except UnicodeDecodeError as wrong:
        return len(head) == _HEAD and wrong.start > _HEAD - 4  # a character is cut
    return True
