"""Paths for pyarrow, which takes no name that is not UTF-8."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from toksmith._base.lazy import extra


def arrow_source(path: Path) -> Any:
    """Return what pyarrow reads a file from: its path, or the open file if the name is not UTF-8.

    Raises:
        OSError: the file cannot be opened.
    """
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        return extra("pyarrow", "arrow").OSFile(os.fsencode(path))
    return path
