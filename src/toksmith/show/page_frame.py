"""The frame of every page that is written to a file: one self-contained HTML document.

A page loads nothing, and its Content-Security-Policy forbids it to; the only script that may run is
the one whose hash the policy names.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape


def wrap_page(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """Return a whole HTML page.

    Args:
        title: of the page, as plain text without controls.
        body: HTML; the caller has escaped all text in it.
        style: a style sheet.
        script: the one script of the page; empty for none.

    Example:
        >>> page = wrap_page("<b>", "<p>text</p>")
        >>> "<title>&lt;b&gt;</title>" in page, "<script" in page, "default-src 'none'" in page
        (True, False, True)
    """
    policy = ["default-src 'none'", "style-src 'unsafe-inline'"]
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy.append(f"script-src 'sha256-{digest}'")
        script = f"<script>{script}</script>\n"
    policy += ["base-uri 'none'", "form-action 'none'"]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{"; ".join(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body class="ts">
{body}
{script}</body>
</html>
"""
