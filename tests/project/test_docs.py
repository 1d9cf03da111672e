"""Links and pictures in all pages of the repository lead somewhere."""
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from mimegen.cli import main
from places import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")])
FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(\s*<?([^)>\s]+)|(?:src|href)=\"([^\"]+)\"")
# Paths of pages that code and configs name in comments, docstrings and messages.
NAMED = re.compile(r"(?<![\w/.-])docs/[\w./-]+\.(?:md|yaml|jpg|png|svg)\b(?:\.gz)?")
FENCED = re.compile(r"^ *```([a-z]*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
SHELLS = ("sh", "console", "")
# A command that a wrapped comment has swallowed.
COMMENTED = re.compile(r"#.* mimegen [a-z]+ -")
COMMAND = re.compile(r"\s*(?:\$ )?mimegen ")
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


@pytest.mark.parametrize("page", ["api", "cli"])
def test_tables_of_the_reference_are_up_to_date(page: str, monkeypatch: pytest.MonkeyPatch
                                                ) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    tool = import_module("reference_pages")
    tables = {"api": tool.api_tables, "cli": tool.cli_table}[page]()
    text = (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")
    assert tool.page_with(text, tables) == text, "run tools/reference_pages.py"


def test_tables_of_the_reference_name_functions_members_and_commands(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    tool = import_module("reference_pages")
    api = tool.api_tables()
    for name in ("`mg.take(action, take=None, seed=0", "`mg.RequestError`",
                 "`positions(performer=0)`", "| `partner_character` |"):
        assert name in api
    assert "`mimegen study serve`" in tool.cli_table()


def test_the_site_lists_every_page_once() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", site, re.MULTILINE)
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(name for name in listed if not (ROOT / name).exists() or name == "README.md"
                  ) == sorted(pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_on_pages_have_options_that_there_are(page: Path) -> None:
    shown = commands(page.read_text(encoding="utf-8"))
    assert [(line, wrong) for line in shown for wrong in unknown_words(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_line_of_a_shell_block_begins_a_command(page: Path) -> None:
    blocks = [block for kind, block in FENCED.findall(page.read_text(encoding="utf-8"))
              if kind == "sh"]
    lines = [line.strip() for block in blocks for line in block.replace("\\\n", "").splitlines()]
    assert [line for line in lines if line.startswith("-") or line[:1].isdigit()
            or COMMENTED.search(line)] == []


def test_commands_are_found_in_shells_alone() -> None:
    text = ("```python\nmimegen = 1\n```\nmimegen in words\n```sh\nmimegen a \\\n  --b\n```\n"
            "\n    mimegen c"
            "\n\n```console\n$ mimegen d\nits output\n```\n")
    assert [line.split() for line in commands(text)] == [
        ["mimegen", "a", "--b"], ["mimegen", "d"], ["mimegen", "c"]]


@pytest.mark.parametrize(("line", "wrong"), [
    ("mimegen render --action boxing --out out   # ten clips", []),
    ("mimegen render --acton boxing", ["--acton"]), ("mimegen rendr --action boxing", ["rendr"]),
    ("mimegen background add a.jpg --name a && mimegen background ad", ["ad"]),
    ("mimegen pointlight a.bvh -m masked=40 --azimuth -30,45", []),
    ("mimegen study q.jsonl --out study && mimegen study serve study", [])])
def test_wrong_options_on_pages_are_found(line: str, wrong: list[str]) -> None:
    assert list(unknown_words(line)) == wrong


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


def commands(text: str) -> list[str]:
    """Return the lines of mimegen in a page's blocks of a shell, fenced or indented."""
    fenced = [block for language, block in FENCED.findall(text) if language in SHELLS]
    indented = re.findall(r"^ {4}\S.*\n(?: {4}.*\n)*", FENCED.sub("", text), re.MULTILINE)
    lines = "".join([*fenced, *indented]).replace("\\\n", " ").splitlines()
    return [line.strip().removeprefix("$ ") for line in lines if COMMAND.match(line)]


def unknown_words(line: str) -> Iterator[str]:
    """Yield commands and options in a line of a shell that mimegen does not have."""
    for part in re.split(r"&&|\|\||;(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)|\| ", line):
        words = shlex.split(part, comments=True)
        if words and words[0] == "mimegen":
            yield from _unknown(main, words[1:])


def _unknown(command: click.Command, words: list[str]) -> Iterator[str]:
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            # mimegen study QUESTIONS is mimegen study make QUESTIONS.
            if command.name != "study":
                yield words[0]
            return
        command, words = found, words[1:]
    known = {"--help", "-h", "--version"}.union(
        *({*one.opts, *one.secondary_opts} for one in command.params))
    yield from (word for word in words
                if re.match(r"-[a-z-]", word) and word.split("=")[0] not in known)


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
