"""``toksmith quickstart``: trains a first tokenizer in under a minute, on Python's own library."""

from __future__ import annotations

import shlex
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toksmith._base.visible import count_of
from toksmith.cli.common import Quiet
from toksmith.errors import TrainingError

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer

EXAMPLE = "toksmith quickstart --output first.model"

_VOCAB_SIZE = 8_192
_MOST_BYTES = 40_000_000
_SENTENCE = "Tokenizers read text like this: def tokenize(text): return naïve_split(text)  # 3.14"
_LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "__pycache__"}


def run(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The file to write.")
    ] = Path("quickstart.model"),
    quiet: Quiet = False,
) -> None:
    """Train a first tokenizer on Python's own library, and show its tokens."""
    from toksmith.cli.common import shown_size
    from toksmith.cli.train import figures
    from toksmith.cli.writing import check_folder

    check_folder(output)
    files = _corpus()
    size = sum(file.stat().st_size for file in files)
    if not quiet:
        print(
            f"Training {count_of(_VOCAB_SIZE, 'token')} on {count_of(len(files), 'file')} of "
            "Python's own library"
        )
        print(f"and its documentation ({shown_size(size)}) …")

    import toksmith

    tok = toksmith.train(
        [str(file) for file in files],
        vocab_size=_VOCAB_SIZE,
        special_tokens=["<|endoftext|>"],
        progress=False if quiet else None,
    )
    tok.save(output)
    if not quiet:
        print(f"{figures(tok)} → {output}\n")
        _show(tok)
        _print_next_steps(output, files)


def _corpus() -> list[Path]:
    """Return the standard library's sources, the documentation topics first."""
    root = Path(sysconfig.get_path("stdlib"))
    files: list[Path] = []
    size = 0
    for file in sorted(
        root.rglob("*.py"), key=lambda file: (file.parent.name != "pydoc_data", file)
    ):
        if _LEFT_OUT.isdisjoint(file.relative_to(root).parts):
            size += file.stat().st_size
            if size > _MOST_BYTES:
                break
            files.append(file)
    if not files:
        raise TrainingError(
            f"this Python has no sources in {root}; "
            "toksmith train FILES -o PATH --vocab-size N trains on any other text"
        )
    return files


def _show(tok: Tokenizer) -> None:
    from rich.console import Console

    from toksmith.show.terminal import encoding_text, has_colour

    console = Console(highlight=False)
    encoding = tok.encoding(_SENTENCE)
    console.print(
        encoding_text(encoding, colour=has_colour(console), width=console.width),
        end="\n\n",
    )
    size = len(_SENTENCE.encode())
    print(f"raw bytes       {size:>4} tokens   1.00 bytes a token")
    print(f"this tokenizer  {len(encoding):>4} tokens   {size / len(encoding):.2f} bytes a token\n")


def _print_next_steps(output: Path, files: list[Path]) -> None:
    program, path = _program(), shlex.quote(str(output))
    text = shlex.quote(str(files[-1]))
    target = shlex.quote(str(output.with_suffix(".json")))
    print("What to do next:")
    print(f"  {program} explore {path}")
    print(f"  {program} inspect 'Any text of yours' -t {path} --steps")
    print(f"  {program} encode --file {text} -t {path} | {program} decode -t {path}")
    print(f"  {program} convert {path} {target}")


def _program() -> str:
    """Return the command that runs this program."""
    if shutil.which("toksmith"):
        return "toksmith"
    beside = Path(sys.executable).with_name("toksmith")
    return (
        shlex.quote(str(beside))
        if beside.exists()
        else f"{shlex.quote(sys.executable)} -m toksmith"
    )
