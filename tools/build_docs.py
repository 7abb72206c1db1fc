"""Build the documentation site: ``make docs``.

Pages are Markdown in ``docs/``. A build copies them to ``build/docs``, where three things happen:

- A page of the course is executed as a notebook. Outputs follow their blocks on the page, and the
  notebook and the course's texts can be downloaded.
- ``<!-- table: NAME -->`` is replaced by the table of that name (``tools/doc_tables.py``), made
  from the package itself.
- Zensical makes the site in ``build/site``, and refuses links that lead nowhere. Its pages then
  load nothing from other hosts.
"""

from __future__ import annotations

import argparse
import copy
import html
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

import toksmith
from tools.doc_pages import Snippet, notebook_prose, parts, shown_page
from tools.doc_tables import TABLES

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "docs"
PAGES = ROOT / "build/docs"
SITE = ROOT / "build/site"
CONFIGURATION = ROOT / "zensical.toml"
TABLE = re.compile(r"<!-- table: ([\w-]+) -->")
COPIED = {  # pages of the repository's root, by their place in the site
    "CHANGELOG.md": "project/changelog.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
FRAME_WORKER = "https://unpkg.com/iframe-worker/shim"  # what Zensical loads for search in files
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["']?(https?:[^"'\s>]*)""")
ROW = re.compile(r"^\|.*$", re.MULTILINE)
BAR = re.compile(r"`([^`]*\\\|[^`]*)`")
"""Code in a table that holds a vertical bar."""

PUBLISHED = "# needs a published vocabulary"

GUARD = """\
# Some cells need a vocabulary that toksmith downloads. Without a network, they are skipped.
import toksmith

try:
    for name in {names}:
        toksmith.get(name)
except toksmith.errors.DownloadError as missing:
    reason = f"Skipped: {{missing}}"

    def skip_published(lines, reason=reason):
        return [f"print({{reason!r}})\\n"] if lines[:1] == [{first_line!r}] else lines

    get_ipython().input_transformers_post.append(skip_published)
    print(reason)
"""
"""The cell of a notebook that skips others where their vocabularies cannot be had."""

NOT_HERE = "*Not shown: the published vocabulary was not on the machine that built this page.*"


def main() -> None:
    """Build the site in ``build/site``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-run", action="store_true", help="leave the outputs of code out")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run_code = not parser.parse_args().no_run
    copy_pages()
    for page in sorted(PAGES.rglob("*.md")):
        text = TABLE.sub(lambda found: TABLES[found[1]](), page.read_text(encoding="utf-8"))
        text = ROW.sub(lambda row: BAR.sub(code_with_bars, row[0]), text)
        if page.parent.name == "course" and page.name[0].isdigit():
            text = course_page(page, text, run_code=run_code)
        page.write_text(shown_page(text), encoding="utf-8")
    pack_texts()
    build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f"]
    subprocess.run([*build, str(CONFIGURATION)], check=True, cwd=ROOT)
    for page in SITE.rglob("*.html"):
        page.write_text(load_from_here(page.read_text(encoding="utf-8"), page), encoding="utf-8")


def load_from_here(text: str, page: Path) -> str:
    """Return a page of the site that loads nothing from another host.

    Raises:
        SystemExit: it does, and there is no file to load in its place.
    """
    ours = os.path.relpath(SITE / "assets/file-worker.js", page.parent)
    text = text.replace(FRAME_WORKER, ours)
    if found := LOADED.search(text):
        raise SystemExit(f"{page} loads {found[1]}: add the file to docs/assets")
    return text


def copy_pages() -> None:
    """Copy ``docs/`` and the pages of the root to ``build/docs``."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(SOURCE, PAGES, ignore=shutil.ignore_patterns("*.toml"))
    copied = {ROOT / name: PAGES / place for name, place in COPIED.items()}
    pages = {page: PAGES / page.relative_to(SOURCE) for page in SOURCE.rglob("*.md")}
    for source, target in (copied | pages).items():
        text = source.read_text(encoding="utf-8")
        target.parent.mkdir(exist_ok=True)
        target.write_text(site_links(text, source, target), encoding="utf-8")


def code_with_bars(found: re.Match[str]) -> str:
    r"""Return code in a table as HTML: Python-Markdown would show ``\|`` as it stands.

    No character of it is left that Markdown could read as its own.
    """
    text = html.escape(found[1].replace("\\|", "|"), quote=False)
    text = re.sub(r"[|\[\]\\*_`~]", lambda each: f"&#{ord(each[0])};", text)
    return f"<code>{text}</code>"


def site_links(text: str, source: Path, target: Path) -> str:
    """Turn the links of a page of the repository into links between pages of the site.

    Links to files of the repository that the site does not hold become plain text.

    Args:
        text: the page.
        source: where it is in the repository.
        target: where it goes in ``build/docs``.
    """
    start = os.path.relpath(PAGES, target.parent)

    def link(found: re.Match[str]) -> str:
        label, (path, mark, anchor) = found[1], found[2].partition("#")
        place = os.path.relpath(source.parent / path, ROOT)
        if not path or ":" in path or (source.is_relative_to(SOURCE) and place[:5] == "docs/"):
            return found[0]
        page = COPIED.get(place, place.removeprefix("docs/"))
        if place in COPIED or (place.startswith("docs/") and (SOURCE / page).is_file()):
            return f"[{label}]({start}/{page}{mark}{anchor})"
        return label

    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def course_page(page: Path, text: str, *, run_code: bool) -> str:
    """Write the notebook of a page of the course beside it; return the page with its outputs."""
    made = notebook(text)
    nbformat.write(guarded(made), page.with_suffix(".ipynb"))
    if run_code:
        execute(made, page)
    outputs = iter([cell for cell in made.cells if cell.cell_type == "code"])
    shown = []
    for part in parts(text):
        if isinstance(part, str):
            shown.append(part)
            continue
        shown.append(f"```{part.language}\n{part.source}```\n")
        if part.runs:
            cell = next(outputs)
            if part.language == "python":  # a console block shows its output itself
                shown += output_of(part, cell)
    title, _, rest = "".join(shown).partition("\n")
    download = (
        f"[Download this chapter as a notebook]({page.stem}.ipynb)"
        f'{{ .md-button download="{page.stem}.ipynb" }} '
        '[and its texts](data.zip){ .md-button download="data.zip" }'
    )
    return f"{title}\n\n{download}\n{rest}"


def notebook(text: str) -> NotebookNode:
    """Return a page as a notebook: a code cell for each block that runs.

    The code of answers to exercises is folded.
    """
    cells, prose, in_answer = [], "", False
    for part in parts(text):
        if isinstance(part, str):
            prose += part
            opened, closed = part.rfind("<details"), part.rfind("</details>")
            in_answer = opened > closed or (in_answer and closed < 0)
        elif part.runs:
            cells += markdown_cells(prose)
            prose = ""
            cell = nbformat.v4.new_code_cell(cell_source(part))
            cell.metadata["tags"] = sorted(part.marks)
            if in_answer:
                cell.metadata["jupyter"] = {"source_hidden": True}
            cells.append(cell)
        else:
            prose += f"```{part.language}\n{part.source}```"
    cells += markdown_cells(prose)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # the same file for the same page
    return nbformat.v4.new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"},
            "language_info": {"name": "python"},
        },
    )


def cell_source(block: Snippet) -> str:
    """Return what a cell of a notebook holds for a block: commands begin with ``!``."""
    if block.language == "python":
        return block.source.rstrip("\n")
    return "\n".join(f"!{command}" for command, _ in block.commands())


def guarded(made: NotebookNode) -> NotebookNode:
    """Return a notebook whose cells with the mark ``published`` are skipped without a network.

    A cell before the first of them downloads what they need. If it cannot, it has IPython replace
    each of them by one line that says why; it knows them by their first line.
    """
    kept = copy.deepcopy(made)
    cells = [cell for cell in kept.cells if "published" in cell.metadata.get("tags", [])]
    if not cells:
        return kept
    names = [
        name
        for name in ("gpt2", "cl100k_base")
        if any(f'"{name}"' in cell.source for cell in cells)
    ]
    for cell in cells:
        cell.source = f"{PUBLISHED}\n{cell.source}"
    guard = nbformat.v4.new_code_cell(GUARD.format(names=names, first_line=f"{PUBLISHED}\n"))
    guard.id = "published-vocabularies"
    kept.cells.insert(kept.cells.index(cells[0]), guard)
    return kept


def markdown_cells(prose: str) -> list[NotebookNode]:
    """Return a cell with the text between blocks, or none if there is no text."""
    text = notebook_prose(prose)
    return [nbformat.v4.new_markdown_cell(text)] if text else []


def execute(made: NotebookNode, page: Path) -> None:
    """Run the cells of a notebook in a folder that holds the texts of the course."""
    absent = set() if has_published() else {"published"}
    left_out = [cell for cell in made.cells if absent & set(cell.metadata.get("tags", []))]
    for cell in left_out:
        cell.metadata["tags"].append("skip-execution")
    with TemporaryDirectory() as folder:  # what a chapter saves is no part of the site
        shutil.copytree(page.parent / "data", Path(folder) / "data")
        client = NotebookClient(
            made,
            timeout=120,
            kernel_name="python3",
            extra_arguments=["--IPKernelApp.log_level=40"],  # no warning of its TCP ports
            skip_cells_with_tag="skip-execution",
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    print(f"{page.name}: {len(made.cells)} cells, {len(left_out)} left out", flush=True)


def has_published() -> bool:
    """Return whether GPT-2's and cl100k's vocabularies can be loaded here."""
    try:
        toksmith.get("gpt2")
        toksmith.get("cl100k_base")
    except toksmith.errors.DownloadError:
        return False
    return True


def output_of(block: Snippet, cell: NotebookNode) -> list[str]:
    """Return what a cell printed and gave, as Markdown."""
    if "skip-execution" in cell.metadata.get("tags", []):
        return [f"\n{NOT_HERE}\n"]
    shown, printed = [], ""
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/html" in data:
            shown += preformatted(printed)
            printed = ""
            # A blank line would end the HTML for a Markdown parser.
            lines = [line for line in data["text/html"].splitlines() if line.strip()]
            shown.append('\n<div class="output">\n' + "\n".join(lines) + "\n</div>\n")
        else:
            # What a cell prints may come in several outputs.
            printed += output.get("text") or data.get("text/plain", "")
    return shown + preformatted(printed)


def preformatted(text: str) -> list[str]:
    """Return a box with text as it was printed, or none if there is no text."""
    text = html.escape(text.rstrip("\n"), quote=False)
    return [f'\n<pre class="output"><code>{text}\n</code></pre>\n'] if text else []


def pack_texts() -> None:
    """Pack the texts of the course into one file, beside its pages."""
    folder = PAGES / "course"
    with zipfile.ZipFile(folder / "data.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for text in sorted((folder / "data").iterdir()):
            packed.write(text, Path("data") / text.name)


if __name__ == "__main__":
    main()
