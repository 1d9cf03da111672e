"""Links and pictures in all pages of the repository lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")])
FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(\s*<?([^)>\s]+)|(?:src|href)=\"([^\"]+)\"")
# Paths of pages that code and configs name in comments, docstrings and messages.
NAMED = re.compile(r"(?<![\w/.-])docs/[\w./-]+\.(?:md|yaml|jpg|png|svg)\b")
CODE_FOLDERS = ("generator", "tests", "tools", "benchmarks", "render_configs", "rigs", "mocap")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert sorted(set(dead_links(page, text))) == []


def test_pages_that_code_names_are_there() -> None:
    files = [file for folder in CODE_FOLDERS for suffix in ("py", "yaml", "sh")
             for file in (ROOT / folder).rglob(f"*.{suffix}")]
    named = {(str(file.relative_to(ROOT)), name) for file in [*files, *PAGES]
             for name in NAMED.findall(file.read_text(encoding="utf-8"))}
    assert sorted(one for one in named if not (ROOT / one[1]).exists()) == []


def test_the_site_lists_every_page_once() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", site, re.MULTILINE)
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(name for name in listed if not (ROOT / name).exists() or name == "README.md"
                  ) == sorted(pages)


@pytest.mark.parametrize(("text", "dead"), [
    ("[a](no_such.md)", ["no_such.md"]), ("![a](no_such.jpg)", ["no_such.jpg"]),
    ("[a](README.md#no-such-part)", ["README.md#no-such-part"]), ("[a](#no-such)", ["#no-such"]),
    ('<img src="no_such.png">', ["no_such.png"]), ("`[a](no_such.md)`", []),
    ("```\n[a](no_such.md)\n```", []), ("# A part: `x` & y!\n[a](#a-part-x--y)", []),
    ("[a](https://example.org/no_such.md)", []), ("[a](LICENSE)", [])])
def test_dead_links_are_found(text: str, dead: list[str]) -> None:
    assert list(dead_links(ROOT / "page.md", text)) == dead


def dead_links(page: Path, text: str) -> Iterator[str]:
    """Yield the relative links of a page to files, or to headings of pages, that are not there."""
    for groups in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        link = next(filter(None, groups))
        if re.match(r"[a-z]+:", link):
            continue
        name, _, heading = link.partition("#")
        target = page.parent / name if name else page
        words = text if not name else _text(target)
        if words is None or (heading and heading not in anchors(words)):
            yield link


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in headings}


def _text(target: Path) -> str | None:
    """Return a page's text, nothing of another file or folder, and None where there is none."""
    if target.suffix == ".md" and target.is_file():
        return target.read_text(encoding="utf-8")
    return "" if target.exists() else None
