"""The one base of results that people read, and the table of the views that show them.

A view registers itself for the results that it shows, with :func:`shows`. It is imported when a
result is first shown, so a result never loads a view that nobody looks at.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any

from toksmith._base.lazy import import_error
from toksmith._base.records import dataclass, field
from toksmith.errors import OptionError


@dataclass(frozen=True)
class Views:
    """The views of one kind of result.

    Attributes:
        text: returns what ``print`` shows; ``None`` where that is the repr.
        html: returns a fragment of HTML, for notebooks.
        page: returns a whole page; ``None`` where that is the fragment on a page.
        forms: return other forms by their names, such as ``"latex"``.
    """

    text: Callable[[Any], str] | None
    html: Callable[[Any], str]
    page: Callable[[Any], str] | None = None
    forms: Mapping[str, Callable[..., str]] = field(default_factory=dict)


_VIEWS: dict[type, Views] = {}

_MODULES = {
    "Audit": "audit",
    "Batch": "cards",
    "Comparison": "comparison_page",
    "Counts": "cards",
    "Encoding": "notebook",
    "Explanation": "diagram_html",
    "Inputs": "cards",
    "MergeTable": "cards",
    "Spans": "segments",
    "Tokenizer": "cards",
    "TrainingRecord": "cards",
    "UnicodeText": "unicode",
    "VocabularyAdvice": "vocabulary_size",
}
"""The module of ``show`` that registers the views of a result, by the result's name."""


def shows(
    kind: type,
    *,
    text: Callable[[Any], str] | None = None,
    html: Callable[[Any], str],
    page: Callable[[Any], str] | None = None,
    **forms: Callable[..., str],
) -> None:
    """Register the views of a kind of result; see :class:`Views`."""
    _VIEWS[kind] = Views(text, html, page, forms)


def views_of(result: object) -> Views:
    """Return the views of a result, and import them if they are not yet.

    Raises:
        TypeError: this kind of result has none.
    """
    kinds = type(result).__mro__
    for kind in kinds:
        if kind not in _VIEWS and kind.__name__ in _MODULES:
            import_module(f"toksmith.show.{_MODULES[kind.__name__]}")
        if kind in _VIEWS:
            return _VIEWS[kind]
    raise TypeError(f"no view shows {kinds[0].__name__}")


def text_of(result: object) -> str:
    """Return the text that ``print`` shows of a result."""
    text = views_of(result).text
    return repr(result) if text is None else text(result)


def html_of(result: object) -> str:
    """Return a result as a fragment of HTML, for notebooks."""
    return views_of(result).html(result)


def convert(result: object, form: str, *arguments: object) -> str:
    """Return a result in a form that its view registered, such as ``"latex"``."""
    return views_of(result).forms[form](result, *arguments)


class Report(ABC):
    """A result that people read: printed, in a notebook, as JSON and as a page.

    Subclasses are dataclasses with ``repr=False``; each has a :meth:`to_dict` and a repr of one
    line.
    """

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as dicts, lists, strings and numbers."""

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the result as JSON; NaN is ``null``.

        Args:
            path: also write it to this file. The file is written whole or not at all.

        Raises:
            OptionError: the file cannot be written.

        Example:
            >>> import toksmith
            >>> toksmith.audit("toksmith-small").to_json()[4:30]
            '"tokenizer": "toksmith-sma'
        """
        import json  # results are imported with the package, which need not load it

        text = json.dumps(_without_nan(self.to_dict()), indent=2, ensure_ascii=False)
        return write_or_return(f"{text}\n", path)

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Return the result as one HTML page that needs no other file.

        Every name, text and token is escaped, and the page may load nothing.

        Args:
            path: also write it to this file. The file is written whole or not at all.

        Raises:
            OptionError: the file cannot be written.

        Example:
            >>> import toksmith
            >>> toksmith.audit("toksmith-small").to_html()[:15]
            '<!doctype html>'
        """
        views = views_of(self)
        if views.page is not None:
            return write_or_return(views.page(self), path)
        frame = import_module("toksmith.show.style")
        return write_or_return(frame.wrap_page(type(self).__name__, views.html(self)), path)

    def __str__(self) -> str:
        return text_of(self)

    @abstractmethod
    def __repr__(self) -> str: ...

    def _repr_html_(self) -> str:
        return html_of(self)


def write_or_return(text: str, path: str | PathLike[str] | None) -> str:
    """Return a text, and write it to a file if there is a path."""
    if path is not None:
        from toksmith._base.checks import file_path
        from toksmith._base.files import write_bytes

        write_bytes(file_path(path), text.encode("utf-8", "surrogateescape"))
    return text


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_without_nan(each) for each in value]
    return None if value != value else value


LIBRARIES = ("pandas", "polars")


def frame(rows: Sequence[Mapping[str, object]], library: str | None = None) -> Any:
    """Return rows as a data frame.

    Args:
        rows: all with the same columns.
        library: ``"pandas"`` or ``"polars"``; ``None`` for the first that is installed.

    Raises:
        MissingExtraError: the library is not installed, or neither is.
        OptionError: ``library`` is none of these.
    """
    if library is not None and library not in LIBRARIES:
        raise OptionError(f"library is {library!r:.80}: use {' or '.join(LIBRARIES)}")
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    wanted = LIBRARIES if library is None else (library,)
    needed = " or ".join(wanted)
    message = f"a data frame needs {needed}, which is not installed: pip install {wanted[0]}"
    errors = []
    for name in wanted:
        try:
            return import_module(name).DataFrame(columns)
        except (ImportError, OSError) as wrong:  # noqa: PERF203 - at most two
            errors.append(import_error(name, wrong, message))
    raise errors[0]
