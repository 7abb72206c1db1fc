"""What HTML views look like: colours for light and dark pages, and the shapes of diagrams."""

from __future__ import annotations

FOREGROUND = "#1a1a1a"
"""Dark letters, which can be read on every colour of the palette."""

PALETTE = ("#8fd3f5", "#f7c873", "#7ee787", "#ff8a80", "#c4a7ff")
"""Backgrounds of neighbouring tokens, in turn: blue, yellow, green, red, violet.

Terminals of 16 colours show them as five different ones, too.
"""

SPECIAL = "#e879c6"
"""The background of special tokens."""

NEUTRAL = ("#c3c9d2", "#dfe3e8")
"""Backgrounds of neighbouring tokens, in turn, where others are to stand out."""

SERIES = (
    *("#2f81c7", "#c2571a", "#2a9150", "#8250c4"),
    *("#c23a77", "#128a9a", "#8a7a12", "#6b7280"),
)
"""Of lines and bars, in turn: they can be seen on light and on dark pages."""


_LIGHT = """
  --ts-ink: #1c1e21; --ts-dim: #5d636b; --ts-line: #9aa1aa; --ts-rule: #dfe2e6;
  --ts-paper: #ffffff; --ts-card: #f6f7f9; --ts-mark: #0b62c4; --ts-bad: #b3261e;
"""
_DARK = """
  --ts-ink: #e6e8eb; --ts-dim: #a0a7b0; --ts-line: #6d757f; --ts-rule: #33383e;
  --ts-paper: #16181b; --ts-card: #1f2226; --ts-mark: #7db7ff; --ts-bad: #ff8a80;
"""
_COLOURS = "\n".join(
    f".ts-c{place} {{ --ts-fill: {colour}; }}" for place, colour in enumerate((*PALETTE, SPECIAL))
)
SPECIAL_CLASS = f"ts-c{len(PALETTE)}"
"""The class of what has the colour of special tokens; others are ``ts-c0``, ``ts-c1`` …"""

STYLE = f"""
.ts {{ {_LIGHT}
  --ts-mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --ts-sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}}
@media (prefers-color-scheme: dark) {{ .ts {{ {_DARK} }} }}
:is(.body--light, .vscode-light, [data-jp-theme-light="true"]) .ts {{ {_LIGHT} }}
:is(.body--dark, .vscode-dark, [data-jp-theme-light="false"]) .ts {{ {_DARK} }}
{_COLOURS}

.ts {{ color: var(--ts-ink); font: 14px/1.5 var(--ts-sans); }}
.ts-token {{
  font-family: var(--ts-mono); white-space: pre-wrap; overflow-wrap: anywhere;
}}

.ts s {{ text-decoration: none; opacity: .45; }}  /* marks of white space */

/* Diagrams scroll sideways in their own box. */
.ts-diagram {{ overflow-x: auto; padding: 4px 2px 10px; }}
.ts-box {{
  display: inline-block; padding: 2px 7px; border-radius: 6px; text-align: center;
  border: 1px solid var(--ts-rule); background: var(--ts-paper); line-height: 1.35;
  white-space: nowrap; position: relative;
}}
.ts-box .ts-token {{ white-space: pre; }}
.ts-box small {{ display: block; font-size: 10.5px; color: var(--ts-dim); line-height: 1.25; }}
.ts-fill {{ background: var(--ts-fill); border-color: var(--ts-fill); color: {FOREGROUND}; }}
.ts-fill small {{ color: #33383e; }}
.ts-note {{ color: var(--ts-dim); font-size: 12.5px; margin: 2px 0 6px; }}
.ts-note b {{ color: var(--ts-ink); font-weight: 600; }}

/* A tree of merges: leaves above, what they come to below. */
.ts-tree {{ display: flex; width: max-content; gap: 14px; align-items: stretch; }}
.ts-node {{ display: flex; flex-direction: column; align-items: center; }}
.ts-parts {{ display: flex; flex: 1; }}
.ts-part {{
  display: flex; flex-direction: column; align-items: center; position: relative;
  padding: 0 3px;
}}
.ts-part > .ts-node {{ flex: none; }}
.ts-part::after {{  /* down to the line that joins the two */
  content: ""; flex: 1; min-height: 9px; border-left: 1.5px solid var(--ts-line);
}}
.ts-down {{ flex: 1; min-height: 9px; border-left: 1.5px solid var(--ts-line); }}
.ts-join {{ align-self: stretch; position: relative; height: 9px; }}
.ts-part::before {{
  content: ""; position: absolute; bottom: 0; border-bottom: 1.5px solid var(--ts-line);
}}
.ts-part:first-child::before {{ left: 50%; right: 0; }}
.ts-part:last-child::before {{ left: 0; right: 50%; }}
.ts-join::before {{
  content: ""; position: absolute; left: 50%; height: 100%;
  border-left: 1.5px solid var(--ts-line);
}}
.ts-used > .ts-box {{ color: var(--ts-dim); background: transparent; }}
.ts-now > .ts-box {{ outline: 2px solid var(--ts-mark); outline-offset: 1px; }}
.ts-later > .ts-box, .ts-later > .ts-join {{ visibility: hidden; }}
.ts-later > .ts-parts > .ts-part::before, .ts-later > .ts-parts > .ts-part::after {{
  visibility: hidden;
}}
.ts-apart > .ts-box .ts-token {{ text-decoration: line-through; }}
.ts-steps {{
  display: flex; flex-wrap: wrap; align-items: center; gap: 4px; margin: 2px 0 8px;
  border-radius: 6px;
}}
.ts-steps[hidden] {{ display: none; }}
.ts-steps button {{
  font: 13px/1 var(--ts-sans); color: var(--ts-ink); background: var(--ts-card);
  border: 1px solid var(--ts-rule); border-radius: 6px; min-width: 32px; min-height: 0;
  height: 28px; padding: 0 6px; cursor: pointer;
}}
.ts-steps button:hover:enabled {{ border-color: var(--ts-line); }}
.ts-steps button:disabled {{ opacity: .4; cursor: default; }}
.ts-steps:focus-visible, .ts-steps button:focus-visible {{
  outline: 2px solid var(--ts-mark); outline-offset: 1px;
}}
.ts-steps output {{
  flex: 1 1 240px; margin-left: 8px; color: var(--ts-dim); font-size: 12.5px;
  overflow-wrap: anywhere;
}}
.ts-steps output b {{
  color: var(--ts-ink); font: 13px var(--ts-mono); unicode-bidi: isolate;
}}

/* Characters above, and below them what lies over them. */
.ts-grid {{ display: grid; width: max-content; gap: 4px 3px; align-items: stretch; }}
.ts-grid .ts-box {{ display: flex; flex-direction: column; justify-content: center; }}
.ts-character {{
  grid-row: 1; text-align: center; color: var(--ts-dim); font-family: var(--ts-mono);
  border-bottom: 1px solid var(--ts-rule); padding: 0 4px 2px; min-width: 14px;
  unicode-bidi: isolate; white-space: pre;
}}
.ts-label {{ grid-column: 1; color: var(--ts-dim); font-size: 12.5px; padding-right: 10px;
  align-self: center; white-space: nowrap; }}
.ts-label b {{ color: var(--ts-ink); font-weight: 600; }}
.ts-second {{ border: 1.5px dashed var(--ts-line); }}
.ts-faint {{ background: transparent; color: var(--ts-dim); }}
.ts-tried {{ border-style: dashed; background: transparent; color: var(--ts-dim); padding: 0 7px; }}
.ts-tried .ts-token {{ text-decoration: line-through; font-size: 12px; }}
.ts-unknown {{ border-color: var(--ts-bad); color: var(--ts-bad); background: transparent; }}
"""
"""The style sheet of all fragments; they stand inside an element of class ``ts``.

It follows the reader's light or dark scheme, or what an element above says: a class ``body--light``
or ``body--dark``, or how JupyterLab and Visual Studio Code mark their themes.
"""
