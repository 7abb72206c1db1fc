"""Docstrings as the site's generator reads them: their reStructuredText becomes Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe


class DocstringMarkdown(griffe.Extension):
    """Rewrites docstrings before they are parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """Return a docstring with roles as code, and its example as a section.

    Example:
        >>> markdown("As :func:`~toksmith.train`.")
        'As `train`.'
    """
    text = re.sub(r":\w+:`~(?:\w+\.)*(\w+)`", r"`\1`", text)
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text)
    return re.sub(r"^(\s*)Example:$", r"\1Examples:", text, flags=re.MULTILINE)
