"""Import tables of motion files: CSV, one file per row."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.yaml_file import text_of
from mimegen.library.importing import Imported, ImportRequest, import_take, take_location
from mimegen.library.naming import plain
from mimegen.readers import ReadOptions
from mimegen.readers.options import FPS_OF_FILE, parse_trim, take_number

# Possible column names, and the field that each stands for.
COLUMNS = {
    "file": "file", "action": "action", "take": "take", "name": "take", "label": "labels",
    "labels": "labels", "group": "group", "semantic_group": "group", "aligned": "aligned",
    "aligned_background": "aligned", "misaligned": "misaligned",
    "misaligned_background": "misaligned", "licence": "licence", "license": "licence",
    "source": "source", "segment": "segment", "trim": "trim", "map": "mapping",
    "skeleton": "skeleton", "stack": "stack", "subject": "subject", "sample": "sample",
    "fps": "fps", "fps_of_file": "fps",
}
_DELIMITERS = (",", ";", "\t")
_YES = ("yes", "true", "1", "x")
_NO = ("no", "false", "0")
# Separates the labels in a cell.
_BETWEEN_LABELS = "|"


@dataclass(frozen=True)
class TableRow:
    """A row of a table: its number as in a spreadsheet (the header is 1), and its filled cells.

    ``problem`` is an error in the row itself.
    """

    number: int
    cells: Mapping[str, str]
    problem: str | None = None


@dataclass(frozen=True)
class RowDone:
    """The result for a row: what was imported, or why nothing was."""

    number: int
    imported: Imported | None
    problem: str | None


def read_table(path: Path) -> list[TableRow]:
    """Read a table, without its empty rows; cells are separated by commas, semicolons or tabs.

    Raises RequestError for a file that is not such a table, for an unknown column, and if there is
    no column ``file`` or no row.
    """
    lines = _lines(path)
    if not lines:
        raise RequestError(f"{path}: is empty; expected a header row, as in"
                           " file,action,label,group,licence")
    heads = _heads(path, lines[0])
    rows = [_row(number, heads, cells) for number, cells in enumerate(lines[1:], start=2)
            if any(cell.strip() for cell in cells)]
    if not rows:
        raise RequestError(f"{path}: has no row below the header")
    return rows


def import_table(path: Path, defaults: ImportRequest) -> Iterator[RowDone]:
    """Import every row of a table and yield each row's result, in the table's order.

    Empty cells take their value from ``defaults``, except for the file and the take. Paths are
    relative to the table's folder. Raises RequestError as ``read_table``, before anything is
    imported.
    """
    rows = read_table(path)
    return _all_done(path, rows, defaults)


def _all_done(path: Path, rows: list[TableRow], defaults: ImportRequest) -> Iterator[RowDone]:
    """Import the rows one after the other and yield each one's result."""
    done: dict[int, ImportRequest] = {}
    for row in rows:
        try:
            request = _request(path.parent, row, defaults)
            _refuse_contradiction(request, done)
            imported = import_take(request)
        except (RequestError, OSError) as problem:
            yield RowDone(row.number, None, " ".join(str(problem).split()))
            continue
        done[row.number] = request
        yield RowDone(row.number, imported, None)


def _refuse_contradiction(request: ImportRequest, done: Mapping[int, ImportRequest]) -> None:
    """Raise RequestError if an earlier row has the same take or another group for the action.

    With ``replaces``, the later row would otherwise silently win.
    """
    for number, one in done.items():
        if take_location(one)[0] != take_location(request)[0]:
            continue
        if take_location(one) == take_location(request):
            raise RequestError(f"has the same take as row {number}; give one of them another name"
                               " in the column take")
        if one.group and request.group and plain(one.group) != plain(request.group):
            raise RequestError(f"assigns {request.action} to the group '{request.group}', but row"
                               f" {number} to '{one.group}'")


def _request(folder: Path, row: TableRow, defaults: ImportRequest) -> ImportRequest:
    """Return the request of a row. Raises RequestError for an invalid cell."""
    if row.problem:
        raise RequestError(row.problem)
    cells = row.cells
    labels = tuple(label.strip() for label in cells.get("labels", "").split(_BETWEEN_LABELS)
                   if label.strip()) or defaults.labels
    action = cells.get("action", defaults.action) or next(iter(labels), "")
    if "file" not in cells or not action:
        raise RequestError(f"has no {'action or label' if 'file' in cells else 'file'}")
    segment = cells.get("segment", "")
    if segment.lower() not in (*_YES, *_NO, ""):
        raise RequestError(f"segment: {segment}: expected yes or no")
    return replace(
        defaults, file=folder / cells["file"], action=action, labels=labels,
        take=cells.get("take"), group=cells.get("group", defaults.group),
        aligned=cells.get("aligned", defaults.aligned),
        misaligned=cells.get("misaligned", defaults.misaligned),
        licence=cells.get("licence", defaults.licence),
        source=cells.get("source", defaults.source),
        segment=segment.lower() in _YES if segment else defaults.segment,
        reading=_reading(folder, cells, defaults.reading))


def _reading(folder: Path, cells: Mapping[str, str], defaults: ReadOptions) -> ReadOptions:
    """Return the options for reading a row's file."""
    return replace(
        defaults, stack=cells.get("stack", defaults.stack),
        subject=cells.get("subject", defaults.subject),
        take=take_number(cells["sample"]) if "sample" in cells else defaults.take,
        mapping=folder / cells["mapping"] if "mapping" in cells else defaults.mapping,
        skeleton=folder / cells["skeleton"] if "skeleton" in cells else defaults.skeleton,
        trim=parse_trim(cells["trim"]) if "trim" in cells else defaults.trim,
        fps_of_file=_fps(cells["fps"]) if "fps" in cells else defaults.fps_of_file)


def _fps(cell: str) -> float:
    """Return a cell as a frame rate. Raises RequestError if it is not a valid one."""
    least, most = FPS_OF_FILE
    try:
        rate = float(cell)
    except ValueError:
        rate = math.nan
    if not least <= rate <= most:
        raise RequestError(f"fps: {cell}: expected frames per second from {least:g} to {most:g}")
    return rate


def _lines(path: Path) -> list[list[str]]:
    """Return the cells of every line of a CSV file. Raises RequestError if it is not CSV."""
    text = text_of(path).removeprefix("\ufeff")
    head = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    try:
        return list(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error as problem:
        raise RequestError(f"{path}: not a CSV table ({problem})") from problem


def _heads(path: Path, cells: list[str]) -> list[str]:
    """Return the field of each column. Raises RequestError for unknown or missing columns."""
    names = [plain(cell) for cell in cells]
    for name, cell in zip(names, cells, strict=True):
        if name not in COLUMNS:
            raise RequestError(f"{path}: row 1: unknown column '{cell}'"
                               f"{near_misses(name, COLUMNS)}")
    heads = [COLUMNS[name] for name in names]
    for head, cell in zip(heads, cells, strict=True):
        if heads.count(head) > 1:
            raise RequestError(f"{path}: row 1: duplicate column '{cell}'")
    if "file" not in heads:
        raise RequestError(f"{path}: row 1: the column 'file' is missing")
    return heads


def _row(number: int, heads: list[str], cells: list[str]) -> TableRow:
    filled = {head: cell.strip() for head, cell in zip(heads, cells, strict=False) if cell.strip()}
    many = len(cells) > len(heads) and any(cell.strip() for cell in cells[len(heads):])
    return TableRow(number, filled, f"has {len(cells)} cells, the heads are {len(heads)}; put texts"
                    " with commas in quotation marks" if many else None)
