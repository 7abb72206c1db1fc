"""The pages and questions of the explorer behind their addresses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from toksmith.errors import ToksmithError
from toksmith.explorer.compare_page import ComparePage
from toksmith.explorer.folder import Folder
from toksmith.explorer.guard import App, Guard
from toksmith.explorer.jobs import Jobs
from toksmith.explorer.loaded import Shelf
from toksmith.explorer.requests import Answer, Asked, asking, refused
from toksmith.explorer.text_page import TextPage
from toksmith.explorer.token_html import palette_css
from toksmith.explorer.train_page import TrainPage
from toksmith.explorer.uploads import Uploads
from toksmith.explorer.vocabulary_page import VocabularyPage
from toksmith.loading import load
from toksmith.show.style import read_scripts, read_styles

BINARY = "application/octet-stream"

_HERE = Path(__file__).parent


def make_app(shelf: Shelf, folder: Path, port: int) -> tuple[App, Callable[[], None]]:
    """Return the app for a port, and what has to be called when it ends.

    Args:
        shelf: the tokenizers to begin with.
        folder: files below it can be trained on, and tokenizers be saved there.
        port: the port that it will be served on.
    """
    jobs = Jobs()
    uploads = Uploads(jobs)
    text, vocabulary = TextPage(shelf), VocabularyPage(shelf)
    files = Folder(folder)
    train = TrainPage(shelf, files, jobs)
    compare = ComparePage(shelf, files, jobs)

    async def tokenizers(_: Request) -> Response:
        entries = [
            {"key": entry.key, "name": entry.name, "given": entry.is_given}
            for entry in shelf.entries()
        ]
        return JSONResponse(entries)

    report = f".report {{\n{read_styles('comparison_page')}}}"
    styles = "\n".join([palette_css(), read_styles("base", "comparison"), report])

    async def tokens_css(_: Request) -> Response:
        return Response(styles, media_type="text/css")

    async def stepper_js(_: Request) -> Response:
        return Response(read_scripts("stepper"), media_type="text/javascript")

    def cancel(_: Asked) -> Answer:
        jobs.cancel()
        return {}

    async def upload(request: Request) -> Response:
        try:
            name, path = await uploads.take(request)
            key = files.add_upload(name, path)
            return JSONResponse({"name": name, "key": key, "size": path.stat().st_size})
        except (ToksmithError, OSError) as wrong:
            return refused(wrong)

    def opened(name: str, path: Path) -> str:
        try:
            return shelf.put(name, load(path))
        except ToksmithError as wrong:
            wrong.args = (str(wrong).replace(str(path), name),)
            raise

    async def open_tokenizer(request: Request) -> Response:
        try:
            name, path = await uploads.take(request)
            return JSONResponse({"key": await run_in_threadpool(opened, name, path)})
        except (ToksmithError, OSError) as wrong:
            return refused(wrong)

    async def download(request: Request) -> Response:
        key, form = (request.query_params.get(name, "") for name in ("t", "format"))
        try:
            name, data = await run_in_threadpool(train.saved, key, form)
        except (ToksmithError, OSError) as wrong:
            return refused(wrong)
        return Response(data, headers={"x-name": quote(name)}, media_type=BINARY)

    routes = [
        Route("/", page("text")),
        Route("/vocabulary", page("vocabulary")),
        Route("/ask/vocabulary", asking(vocabulary.rows), methods=["POST"]),
        Route("/ask/token", asking(vocabulary.token), methods=["POST"]),
        Route("/train", page("train")),
        Route("/ask/options", asking(train.options), methods=["POST"]),
        Route("/ask/files", asking(train.files), methods=["POST"]),
        Route("/ask/train", asking(train.start), methods=["POST"]),
        Route("/ask/training", asking(train.progress), methods=["POST"]),
        Route("/ask/cancel", asking(cancel), methods=["POST"]),
        Route("/ask/save", asking(train.save), methods=["POST"]),
        Route("/ask/upload", upload, methods=["POST"]),
        Route("/ask/open", open_tokenizer, methods=["POST"]),
        Route("/ask/download", download, methods=["POST"]),
        Route("/compare", page("compare")),
        Route("/ask/compare", asking(compare.start), methods=["POST"]),
        Route("/ask/comparing", asking(compare.progress), methods=["POST"]),
        Route("/ask/comparison", asking(compare.file), methods=["POST"]),
        Route("/ask/tokenizers", tokenizers),
        Route("/ask/tokens", asking(text.tokens), methods=["POST"]),
        Route("/tokens.css", tokens_css),
        Route("/stepper.js", stepper_js),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
    ]
    return Guard(Starlette(routes=routes), port), jobs.close


def page(name: str) -> Callable[[Request], Response]:
    """Return the endpoint of a page: its own part inside the frame that all pages share."""
    frame, inside = (
        (_HERE / "pages" / f"{part}.html").read_text("utf-8") for part in ("frame", name)
    )
    chooser = (_HERE / "pages/chooser.html").read_text("utf-8")
    html = (
        frame.replace("{{page}}", inside).replace("{{chooser}}", chooser).replace("{{name}}", name)
    )
    html = html.replace(f'data-page="{name}"', f'data-page="{name}" aria-current="page"')

    def endpoint(_: Request) -> Response:
        return Response(html, media_type="text/html")

    return endpoint
