"""A hook of mkdocs: adds pages of the repository's root, and turns links out of the site into text.

mkdocs knows only the files below docs/. Other links, as to rigs/man.yaml, lead somewhere only in
the repository; tests/project/test_docs.py checks them there.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
ROOT_PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md",
              "SECURITY.md")
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^)\s:]+)\)")


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add the root's pages."""
    for name in ROOT_PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Return a page with links that stay within the site; others become plain text."""
    source = page.file.src_uri
    folder = posixpath.dirname(source if source in ROOT_PAGES else f"docs/{source}")

    def within(link: re.Match[str]) -> str:
        text, (name, mark, heading) = link[1], link[2].partition("#")
        if not name:
            return link[0]
        target = posixpath.normpath(posixpath.join(folder, name)).removeprefix("docs/")
        if files.get_file_from_path(target) is None:
            return text
        path = posixpath.relpath(target, posixpath.dirname(source) or ".")
        return f"[{text}]({path}{mark}{heading})"

    return LINK.sub(within, markdown)
