"""Parts that the pages of reports share: style, tables and figures."""

import base64
import html
from collections.abc import Sequence
from pathlib import Path


def style() -> str:
    """Return the style sheet of all reports."""
    return Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def escape(text: str) -> str:
    """Return a text escaped for HTML."""
    return html.escape(text, quote=True)


def figure(title: str, picture: bytes) -> str:
    """Return a PNG picture with its title, embedded."""
    data = base64.b64encode(picture).decode()
    return (f'<figure><figcaption>{escape(title)}</figcaption><img alt="{escape(title)}"'
            f' src="data:image/png;base64,{data}"></figure>\n')


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table of plain text that scrolls horizontally if it is wide."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
                   for row in rows)
    return (f'<div class="table"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")
