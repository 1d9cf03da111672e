"""Convert plain text to HTML paragraphs, lists and bold; everything else is escaped."""

import html
import re

_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_ITEM = re.compile(r"^- ", re.MULTILINE)


def as_html(text: str) -> str:
    """Return a text as HTML paragraphs; a paragraph whose lines begin with ``- `` becomes a list.
    """
    parts = re.split(r"\n\s*\n", text.strip())
    return "".join(_list(part) if part.startswith("- ") else f"<p>{inline(part)}</p>"
                   for part in parts)


def inline(text: str) -> str:
    """Return a text as escaped HTML within a line, with its bold parts."""
    return _BOLD.sub(r"<strong>\1</strong>", html.escape(text.strip()))


def _list(part: str) -> str:
    items = [item for item in _ITEM.split(part) if item.strip()]
    return f"<ul>{''.join(f'<li>{inline(item)}</li>' for item in items)}</ul>"
