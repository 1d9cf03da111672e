"""The cells of the matrix that a request leaves out because they do not exist: left_out.jsonl."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.lines import json_lines
from mimegen.base.locks import locked
from mimegen.manifest.file import MANIFEST, rows_or_problems

LEFT_OUT = "left_out.jsonl"


@dataclass(frozen=True, order=True)
class LeftOutCell:
    """A variant of a take that was not rendered in a render config, and why."""

    action: str
    take: str
    render_config_name: str
    variant: str
    why: str

    @property
    def place(self) -> tuple[str, str, str, str]:
        """The cell itself, which a later request may render."""
        return self.action, self.take, self.render_config_name, self.variant


@dataclass(frozen=True)
class LeftOut:
    """The variants of a take that a request leaves out for the same reason.

    ``line`` says so to the user, with a remedy if there is one.
    """

    action: str
    take: str
    render_config_name: str
    variants: tuple[str, ...]
    why: str
    line: str

    @property
    def cells(self) -> list[LeftOutCell]:
        """The cells, one for each variant."""
        return [LeftOutCell(self.action, self.take, self.render_config_name, variant, self.why)
                for variant in self.variants]


def lines_of(left_out: Iterable[LeftOut]) -> list[str]:
    """Return the distinct lines, in order: one line may be about many takes."""
    return list(dict.fromkeys(one.line for one in left_out))


def variants_by_reason(cells: Iterable[LeftOutCell]) -> dict[tuple[str, str, str, str], list[str]]:
    """Return the variants that are left out of each action, take and config for each reason."""
    variants: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for cell in cells:
        variants[cell.action, cell.take, cell.render_config_name, cell.why].append(cell.variant)
    return variants


def read_left_out(out: Path) -> list[LeftOutCell]:
    """Return the cells that requests for ``out`` left out, sorted; other lines are skipped."""
    try:
        content = (out / LEFT_OUT).read_bytes()
    except FileNotFoundError:
        return []
    fields = LeftOutCell.__dataclass_fields__
    return sorted(LeftOutCell(*(line[name] for name in fields)) for line in json_lines(content)
                  if all(isinstance(line.get(name), str) for name in fields))


def note_left_out(out: Path, left_out: Iterable[LeftOut]) -> None:
    """Add cells to ``out``/left_out.jsonl, and remove those of which there are clips by now.

    Raises RequestError if the file cannot be written.
    """
    added = [cell for one in left_out for cell in one.cells]
    if not added and not (out / LEFT_OUT).exists():
        return
    with locked(out / MANIFEST):
        cells = {cell.place: cell for cell in (*read_left_out(out), *added)}
        made = {(row.action, row.take, row.render_config_name, row.config_name)
                for row in rows_or_problems(out) if not isinstance(row, RequestError)}
        left = sorted(cells.keys() - made)
        if not left:
            (out / LEFT_OUT).unlink(missing_ok=True)
            return
        publish(out / LEFT_OUT, "".join(
            json.dumps(asdict(cells[place]), ensure_ascii=False) + "\n" for place in left))
