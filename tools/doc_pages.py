"""Fenced blocks of documentation pages.

Words after the language of a block decide what is done with it:

    python                runs; the blocks of a page share their names
    python no-run         is shown only
    python published      needs GPT-2's or cl100k's vocabulary: skipped where it cannot be had
    console run, bash run runs in bash; a console block shows what its commands print
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    """A fenced block: its language, the words after it, its first line's number, its lines."""

    language: str
    marks: frozenset[str]
    line: int
    source: str

    @property
    def runs(self) -> bool:
        if self.language == "python":
            return "no-run" not in self.marks
        return self.language in {"bash", "console"} and "run" in self.marks

    def commands(self) -> Iterator[tuple[str, str]]:
        """Yield each command for the shell with what it must print (nothing: anything)."""
        if self.language == "bash":
            yield self.source, ""
            return
        for part in re.split(r"^\$ ", self.source, flags=re.MULTILINE)[1:]:
            command, _, wanted = part.partition("\n")
            while command.endswith("\\"):
                more, _, wanted = wanted.partition("\n")
                command = f"{command}\n{more}"
            yield command, wanted


def snippets(page: Path) -> Iterator[Snippet]:
    """Yield the fenced blocks of a page in their order."""
    for part in parts(page.read_text(encoding="utf-8")):
        if isinstance(part, Snippet):
            yield part


def parts(text: str) -> Iterator[Snippet | str]:
    """Yield the blocks of a page and the text between them, in their order."""
    end = 0
    for block in FENCE.finditer(text):
        yield text[end : block.start()]
        line = text.count("\n", 0, block.start()) + 2
        yield Snippet(block[1], frozenset(block[2].split()), line, block[3])
        end = block.end()
    yield text[end:]


def shown_page(text: str) -> str:
    """Return a page without what only the tests read: marks of blocks, and ``<BLANKLINE>``."""
    return "".join(
        part
        if isinstance(part, str)
        else f"```{part.language}\n{part.source.replace('<BLANKLINE>', '')}```"
        for part in parts(text)
    )


def notebook_prose(text: str) -> str:
    """Return the text between blocks as a cell of a notebook.

    A cell cannot hold half of a ``<details>`` element, so the summary of an answer becomes a bold
    line; links to chapters lead to their notebooks.
    """
    text = re.sub(r"</?details[^>]*>\n*", "", text)
    text = re.sub(r"<summary>(.*?)</summary>", r"**\1**", text)
    return re.sub(r"\]\((\d\d-[\w-]+)\.md\)", r"](\1.ipynb)", text).strip()
