"""The Starlette app of the explorer: the routes of its pages and requests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from toksmith.errors import ToksmithError
from toksmith.explorer.compare_page import ComparePage
from toksmith.explorer.folder import Folder
from toksmith.explorer.guard import App, Guard
from toksmith.explorer.jobs import Jobs
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.requests import (
    Fields,
    Reply,
    error_reply,
    make_endpoint,
    read_body,
    run_in_thread,
)
from toksmith.explorer.text_page import TextPage, text_card
from toksmith.explorer.texts import MOST_BYTES, Texts
from toksmith.explorer.token_html import palette_css
from toksmith.explorer.train_page import TrainPage
from toksmith.explorer.uploads import Uploads
from toksmith.explorer.vocabulary_page import VocabularyPage
from toksmith.loading import load
from toksmith.show.style import read_scripts, read_styles

BINARY = "application/octet-stream"

_HERE = Path(__file__).parent


def make_app(loaded: LoadedTokenizers, folder: Path, port: int) -> tuple[App, Callable[[], None]]:
    """Return the app for a port, and the function that cleans up after it.

    Args:
        loaded: the tokenizers to begin with.
        folder: pages can read files below it, and save tokenizers there.
        port: the port that it will be served on.
    """
    jobs = Jobs()
    uploads = Uploads(jobs)
    texts = Texts()
    text, vocabulary = TextPage(loaded, texts), VocabularyPage(loaded, texts)
    files = Folder(folder)
    train = TrainPage(loaded, files, jobs)
    compare = ComparePage(loaded, files, jobs)

    async def tokenizers(_: Request) -> Response:
        entries = [
            {"key": entry.key, "name": entry.name, "given": entry.is_given}
            for entry in loaded.entries()
        ]
        return JSONResponse(entries)

    report = f".report {{\n{read_styles('comparison_page')}}}"
    styles = "\n".join([palette_css(), read_styles("base", "comparison"), report])

    async def tokens_css(_: Request) -> Response:
        return Response(styles, media_type="text/css")

    async def stepper_js(_: Request) -> Response:
        return Response(read_scripts("stepper"), media_type="text/javascript")

    def cancel(_: Fields) -> Reply:
        jobs.cancel()
        return {}

    async def upload(request: Request) -> Response:
        try:
            name, path = await uploads.take(request)
            key = files.add_upload(name, path)
            return JSONResponse({"name": name, "key": key, "size": path.stat().st_size})
        except (ToksmithError, OSError) as wrong:
            return error_reply(wrong)

    async def keep_text(request: Request) -> Response:
        name = request.query_params.get("name", "")[-80:] or "text"
        try:
            data = await read_body(request, MOST_BYTES)
            return JSONResponse(text_card(await run_in_thread(texts.keep, name, data)))
        except (ToksmithError, OSError) as wrong:
            return error_reply(wrong)

    def load_upload(name: str, path: Path) -> str:
        try:
            return loaded.put(name, load(path))
        except ToksmithError as wrong:
            wrong.args = (str(wrong).replace(str(path), name),)
            raise

    async def open_tokenizer(request: Request) -> Response:
        try:
            name, path = await uploads.take(request)
            return JSONResponse({"key": await run_in_thread(load_upload, name, path)})
        except (ToksmithError, OSError) as wrong:
            return error_reply(wrong)

    async def download(request: Request) -> Response:
        key, form = (request.query_params.get(name, "") for name in ("t", "format"))
        try:
            name, data = await run_in_thread(train.export, key, form)
        except (ToksmithError, OSError) as wrong:
            return error_reply(wrong)
        return Response(data, headers={"x-name": quote(name)}, media_type=BINARY)

    routes = [
        Route("/", page("text")),
        Route("/vocabulary", page("vocabulary")),
        Route("/ask/vocabulary", make_endpoint(vocabulary.rows), methods=["POST"]),
        Route("/ask/token", make_endpoint(vocabulary.token), methods=["POST"]),
        Route("/train", page("train")),
        Route("/ask/options", make_endpoint(train.options), methods=["POST"]),
        Route("/ask/files", make_endpoint(train.files), methods=["POST"]),
        Route("/ask/train", make_endpoint(train.start), methods=["POST"]),
        Route("/ask/training", make_endpoint(train.progress), methods=["POST"]),
        Route("/ask/cancel", make_endpoint(cancel), methods=["POST"]),
        Route("/ask/save", make_endpoint(train.save), methods=["POST"]),
        Route("/ask/upload", upload, methods=["POST"]),
        Route("/ask/text", keep_text, methods=["POST"]),
        Route("/ask/kept", make_endpoint(text.kept), methods=["POST"]),
        Route("/ask/open", open_tokenizer, methods=["POST"]),
        Route("/ask/download", download, methods=["POST"]),
        Route("/compare", page("compare")),
        Route("/ask/compare", make_endpoint(compare.start), methods=["POST"]),
        Route("/ask/comparing", make_endpoint(compare.progress), methods=["POST"]),
        Route("/ask/comparison", make_endpoint(compare.file), methods=["POST"]),
        Route("/ask/tokenizers", tokenizers),
        Route("/ask/tokens", make_endpoint(text.tokens), methods=["POST"]),
        Route("/tokens.css", tokens_css),
        Route("/stepper.js", stepper_js),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
    ]
    missing = page("missing", status=404)

    async def not_found(request: Request, _: Exception) -> Response:
        if request.url.path.startswith(("/ask/", "/static/")):
            return JSONResponse({"error": f"there is no {request.url.path}"}, 404)
        return missing(request)

    return Guard(Starlette(routes=routes, exception_handlers={404: not_found}), port), jobs.close


def page(name: str, status: int = 200) -> Callable[[Request], Response]:
    """Return the endpoint of a page: its content inside the frame that all pages share."""
    frame, inside = (
        (_HERE / "pages" / f"{part}.html").read_text("utf-8") for part in ("frame", name)
    )
    chooser = (_HERE / "pages/chooser.html").read_text("utf-8")
    html = (
        frame.replace("{{page}}", inside).replace("{{chooser}}", chooser).replace("{{name}}", name)
    )
    html = html.replace(f'data-page="{name}"', f'data-page="{name}" aria-current="page"')

    def endpoint(_: Request) -> Response:
        return Response(html, status, media_type="text/html")

    return endpoint
