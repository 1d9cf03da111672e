"""What users read is plain English: no idiom of this project's own, and option help that helps."""
import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mimegen.cli import main
from places import ROOT

PACKAGE = ROOT / "generator" / "mimegen"
# Regular expressions, in no case of letters. Each stands for a way of speaking that earlier help
# texts, errors and documents had, and that readers did not understand.
BANNED = (
    r"\bsay\b", r"^tell\b", r"\btold (by|apart)\b", r"\bit is said\b", r"\bsaid of\b",
    r"\b(no|some|every|any)body\b", r"^who(se)?\b", r"\bon whom\b", r"\bwho (stands|pays|has)\b",
    r"\blook(ed|s)? (at|for|whether)\b", r"\bthey look\b",
    r"\belsewhere\b", r"\btoo near\b",
    r"\bas of mimegen\b", r"^of (the|what|a)\b", r"^what\b", r"\bof their kinds?\b",
    r"\bmust not be there\b", r"\bis there (already|twice)\b", r"\bthere is: ",
    r"\bgoes (with|all around)\b", r"\bin place of equally\b",
    r"\bholds no seed\b", r"\bcannot be performed\b", r"\bwithout a change of\b",
    r"\bthat are not numbers\b", r"\bgo home\b", r"\bgone on with\b", r"\bmapping right\b",
    r"\bmeans nothing to\b", r"\bwanted is\b", r"\bis called\b", r"\bis no (table|json|number)\b",
    r"\ball that is around\b", r"\bcould stand\b", r"\bnothing tells\b", r"\blooks without\b",
    r"\bin each other's way\b", r"\bdraw (more|the axis|new)\b", r"\blay out\b",
    r"\bfirst folder\b", r"\bmade to happen\b",
)
IDIOM = re.compile("|".join(BANNED), re.IGNORECASE | re.MULTILINE)
# Plain English in a paragraph, a heading or a table, though not as the help of an option.
FINE_IN_PAGES = (r"\belsewhere\b", r"\blook(ed|s)? (at|for|whether)\b", r"^of (the|what|a)\b",
                 r"^what\b", r"^who(se)?\b", r"\bit is said\b")
BANNED_IN_PAGES = (
    *(pattern for pattern in BANNED if pattern not in FINE_IN_PAGES),
    r"\blook(ed|s) (for|whether)\b", r"\b(is|are) looked at\b", r"\bsaid to be\b",
    r"\bis told\b", r"\bof (yours|theirs) too\b", r"\bfor who\b", r"\bmend(s|ed|ing)?\b",
    r"\bwhoever\b", r"\bas who\b", r"\b(make|made|do|does|draw|drawn|render) (\w+ )?anew\b",
    r"\bunless said\b", r"\bgoes before\b", r"\btells? (nothing|of)\b", r"\bis away\b",
    r"\bcome by themselves\b", r"\bwhere nothing is\b", r"\bit does not yet\b",
    r"\bsigns? of life\b", r"\bnothing follows\b", r"\bsays nothing\b", r"\bwarned of\b",
    r"\bis not believed\b", r"\bcomes in by\b", r"\bwhat has no\b", r"\bserves? too\b",
    r"\bare no numbers\b", r"\bgives it a manner\b", r"\bas its \w+ asks for\b",
    r"\bwhat (goes wrong|reads well)\b",
)
PAGE_IDIOM = re.compile("|".join(BANNED_IN_PAGES), re.IGNORECASE)
PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md",
                ROOT / "docs" / "README.md",
                *(page for part in ("guide", "reference", "explanation")
                  for page in (ROOT / "docs" / part).rglob("*.md"))])
CODE = re.compile(r"^ *(`{3,})[^\n]*\n.*?^ *\1`*$|^ {4,}\S[^\n]*$", re.DOTALL | re.MULTILINE)
# What earlier versions said, from the review that asked for plain English.
OLD = (
    "Take the library's takes elsewhere.",
    "Take bodies elsewhere, and look at those from there.",
    "Say what render would make and take, and make nothing.",
    "Say how far the jobs are that write to OUT.",
    "Say what the store DIR holds",
    "Tell whether a model remembers or understands.",
    "Draw clips that nobody has seen, and announce them.",
    "what is nearer is too near",
    "Clips that mimegen permute declared; nothing else is said of them, but --config",
    "Other places of their kinds: another seed of every set that varies; of one, say beach:7.",
    "What looks for passes.",
    "Whether all machines see the store's folder. [default: they look]",
    "Who pays for them.",
    "place lights figures as their backgrounds are, in place of equally",
    "On whom to look whether what must be seen is there; a character is slower.",
    "Made by this; must not be there.",
    "It goes all around (equirectangular), and serves all angles.",
    "As of mimegen render.",
    "Of what is random in the display.",
    "--label goes with --motion: what the library holds has its own",
    "say one of them, each is a selection of its own",
    "5:2: holds no seed; B is above A",
    "cannot be performed flying",
    "nobody has a partner in what is asked for",
    "holds coordinates that are not numbers",
    "cannot be laid out without a change of what it says",
    "Who stands, stands straight.",
    "What hangs follows in closed form",
    "Which bone is which is told by names",
    "Takes of permutations are looked at on all cores",
    "You may go home.",
    "and it is said why",
    "who has stood still for two hours is no longer counted",
    "A closed tab is gone on with where it was",
    "What may lie how deep in what is told by names",
    "Mapping right with zero edits",
)
RAISED = ("RequestError", "BadParameter", "UsageError", "error", "fail", "_fail")


def commands(group: click.Group, path: str = "mimegen") -> Iterator[tuple[str, click.Command]]:
    """Yield every command below a group with its full name."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


def options() -> Iterator[tuple[str, click.Option]]:
    for name, command in commands(main):
        for option in command.params:
            if isinstance(option, click.Option):
                yield f"{name} {option.opts[0]}", option


def text_of(node: ast.expr) -> str:
    """Return a string literal's text, where f-strings have X for each value; '' for all else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "X" for part in node.values)
    return ""


def errors() -> Iterator[tuple[str, str]]:
    """Yield where an error is raised in the package, and its text."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in RAISED:
                yield from ((f"{file.relative_to(PACKAGE)}:{one.lineno}", text)
                            for one in node.args if (text := text_of(one)))


def idioms(texts: Iterator[tuple[str, str]]) -> list[str]:
    # An option's name is none: --say has faces speak.
    return [f"{where}: '{found[0]}' in {text!r}" for where, text in texts
            if (found := IDIOM.search(re.sub(r"--[\w-]+", "", text)))]


@pytest.mark.parametrize("old", OLD)
def test_earlier_wording_is_found(old: str) -> None:
    assert IDIOM.search(old)


def test_command_help_is_plain_english() -> None:
    assert not idioms((name, command.help or "") for name, command in commands(main))
    assert not idioms((name, option.help or "") for name, option in options())


def test_errors_are_plain_english() -> None:
    found = list(errors())
    assert len(found) > 500
    assert not idioms(iter(found))


def sentences(page: str) -> Iterator[str]:
    """Yield a page's sentences, headings, list items and cells of tables, code as X."""
    text = re.sub(r"`[^`]*`", "X", CODE.sub("", page))
    for block in re.split(r"\n\s*\n|\n(?=[ ]*(?:[-*|#>]|\d+\.) ?)|\|", text):
        words = re.sub(r"^[\s#>*-]+|^\d+\. ", "", " ".join(block.split()))
        yield from re.split(r"(?<=[.!?;:])\W+(?=\w)", words.replace("**", ""))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_plain_english(page: Path) -> None:
    assert [f"'{found[0]}' in {sentence!r}" for sentence in sentences(page.read_text("utf-8"))
            if (found := PAGE_IDIOM.search(sentence))] == []


def test_idioms_of_pages_are_found_in_sentences_alone() -> None:
    page = ("# Who stands\n\nIt is\ntold by names. `say` this.\n\n```\nsay it\n```\n"
            "- Whoever asks\n\n    say it\n\n| a | said of it |\n")
    assert [found[0] for one in sentences(page) if (found := PAGE_IDIOM.search(one))] == [
        "Who stands", "is told", "Whoever", "said of"]


def test_every_command_has_help() -> None:
    assert all(command.help for _, command in commands(main))


@pytest.mark.parametrize(("name", "option"), [pytest.param(name, option, id=name)
                                              for name, option in options()])
def test_option_help_is_a_sentence(name: str, option: click.Option) -> None:
    shown = option.help or ""
    assert re.match(r"[A-Z]|'\S+'", shown), f"{name}: {shown!r}"
    assert re.search(r"\.$|\]$", shown), f"{name}: {shown!r} has no full stop"
    assert len(re.findall(r"\w+", shown)) >= 3, f"{name}: {shown!r} is too short"
