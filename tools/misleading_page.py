"""Write anew what docs/reference/misleading.md says from the library: run it after new actions."""

import re
import textwrap
from pathlib import Path

from mimegen.library.catalogue import Catalogue
from mimegen.library.misleading import is_indoors, misleading

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "misleading.md"
LINE_LETTERS = 116
HEAD = "| action | group | aligned | MIME's | by rule |\n|---|---|---|---|---|\n"


def rewritten(page: str, catalogue: Catalogue) -> str:
    """Return the page with its count, its list of sets and its table said anew."""
    kinds = {name: is_indoors(catalogue, name) for name in sorted(catalogue.backgrounds)}
    page = re.sub(r"for \d+ of \d+\.", _alike(catalogue, kinds), page)
    page = re.sub(r"Indoors are .*?leaves out\.", _listed(kinds), page, flags=re.DOTALL)
    return page[: page.index(HEAD)] + HEAD + "".join(_rows(catalogue, kinds))


def _alike(catalogue: Catalogue, kinds: dict[str, bool | None]) -> str:
    actions = [entry.action for entry in catalogue.actions.values()]
    alike = sum(kinds[str(one.aligned_background)] is kinds[str(one.misaligned_background)]
                for one in actions)
    return f"for {alike} of {len(actions)}."


def _listed(kinds: dict[str, bool | None]) -> str:
    inside, outside = ([name for name, kind in kinds.items() if kind is one]
                       for one in (True, False))
    return textwrap.fill(
        f"Indoors are {_and(inside)}. Outdoors are {_and(outside)}. The last column says from how"
        " many backgrounds the rule draws, and which it leaves out.", LINE_LETTERS,
        break_on_hyphens=False, break_long_words=False)


def _and(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _rows(catalogue: Catalogue, kinds: dict[str, bool | None]) -> list[str]:
    rows = []
    for name, entry in sorted(catalogue.actions.items()):
        facts, by_rule = entry.action, misleading(catalogue, name, min(entry.takes))
        kind = kinds[str(facts.aligned_background)]
        fitting = [one for one, its in kinds.items() if its is kind and one not in by_rule]
        rows.append(
            f"| {name} | {facts.semantic_group} | {facts.aligned_background} |"
            f" {facts.misaligned_background} | {len(by_rule)} {'in' if kind else 'out'}doors,"
            f" not {', '.join(fitting)} |\n")
    return rows


if __name__ == "__main__":
    written = rewritten(PAGE.read_text(encoding="utf-8"), Catalogue.with_libraries(()))
    PAGE.write_text(written, encoding="utf-8")
