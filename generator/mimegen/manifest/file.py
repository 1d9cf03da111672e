"""Read, check and write the file manifest.jsonl."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash, publish
from mimegen.base.locks import locked
from mimegen.manifest.row import Row
from mimegen.manifest.versions import upgraded

MANIFEST = "manifest.jsonl"
# Lines that are not valid rows are moved to this file so that the others can be used.
DAMAGED = "manifest.damaged.jsonl"
# In bytes. A row has about 6 KB.
MAX_LINE = 4 * 2**20


def read_manifest(out: Path | str) -> list[Row]:
    """Return the rows of ``out``/manifest.jsonl; an empty list if there is no such file.

    ``out`` is the folder that holds the manifest. Raises RequestError as ``rows_of`` does.
    """
    return list(rows_of(Path(out)))


def single_rows(out: Path) -> list[Row]:
    """Return the rows as ``read_manifest`` does; raise RequestError if a sample_id occurs twice."""
    rows = read_manifest(out)
    for name, count in Counter(row.sample_id for row in rows).items():
        if count > 1:
            raise RequestError(f"{out / MANIFEST}: {name} has {count} rows, expected one; mimegen"
                               " verify --repair keeps the row of the existing clip")
    return rows


def some_rows(out: Path, remedy: str = "") -> list[Row]:
    """Return the rows as ``single_rows`` does; raise RequestError if there are none."""
    rows = single_rows(out)
    if not rows:
        raise RequestError(f"{out / MANIFEST}: no such file, or it has no rows; expected a folder"
                           f" that mimegen render or pointlight wrote{remedy}")
    return rows


def rows_of(out: Path) -> Iterator[Row]:
    """Yield the rows of ``out``/manifest.jsonl, one line at a time.

    Raises RequestError, naming the line, if a line is not a valid row or its clip lies outside
    ``out``.
    """
    for row in rows_or_problems(out):
        if isinstance(row, RequestError):
            raise row
        yield row


def rows_or_problems(out: Path) -> Iterator[Row | RequestError]:
    """Yield each line of ``out``/manifest.jsonl as a row, or as the error that describes it.

    Raises RequestError for a line longer than ``MAX_LINE``.
    """
    path = out / MANIFEST
    for number, line in _lines(path):
        try:
            row = row_from(line)
            clip_path(out, row)
            yield row
        except ValueError as problem:
            yield RequestError(f"{path}: line {number} is not a manifest row ({problem}); move the"
                               " file away and run again, nothing is rendered twice")
        except RequestError as problem:
            yield problem


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield a file's lines with their numbers."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise RequestError(f"{path}: line {number} is longer than"
                                       f" {MAX_LINE // 2**20} MiB, so it is not a manifest row")
                yield number, line
    except FileNotFoundError:
        return


def row_from(line: bytes | str) -> Row:
    """Return the row in a line of JSON, of this version or older. Raises ValueError if invalid."""
    try:
        content = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as problem:
        raise ValueError("it is nested too deeply") from problem
    except UnicodeDecodeError as problem:
        raise ValueError("it is no UTF-8 text") from problem
    except json.JSONDecodeError as problem:
        raise ValueError(f"it is no JSON: {problem.msg}, character {problem.pos + 1}") from problem
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")
    _refuse_halves(content)
    return typed_row(content)


def typed_row(content: dict[str, Any]) -> Row:
    """Return JSON content as a row. Raises ValueError, naming the first wrong field, if invalid."""
    try:
        return Row.model_validate(upgraded(content))
    except ValidationError as problem:
        first = problem.errors()[0]
        place = " ".join(map(str, first["loc"])) or "it"
        raise ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from problem


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number that JSON has")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _refuse_halves(content: dict[str, Any]) -> None:
    """Raise ValueError for a lone surrogate, which no text file can hold."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as problem:
        raise ValueError("it holds what is no Unicode text") from problem


def json_of(row: Row, indent: int | None = None) -> str:
    """Return a row as one line of JSON; in file names, bytes that are not Unicode become ``?``."""
    text = json.dumps(content_of(row), indent=indent, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace").decode() + "\n"


def content_of(row: Row) -> dict[str, Any]:
    """Return a row as JSON content, without fields that were never set."""
    return row.model_dump(mode="json", exclude_unset=True)


def clip_path(out: Path, row: Row) -> Path:
    """Return the path of a row's clip.

    Raises RequestError if a symbolic link leads outside the manifest's folder.
    """
    path = out / row.file_name
    if not path.resolve().is_relative_to(out.resolve()):
        raise RequestError(f"{out / MANIFEST}: file_name {row.file_name!r} leads outside of that"
                           " folder; nothing there is touched")
    return path


def add_rows(out: Path, rows: Iterable[Row]) -> Path:
    """Add or replace rows in ``out``/manifest.jsonl, sorted by sample_id; return the file's path.

    Rows of earlier requests are kept while their clips exist. A replaced row's passes are kept if
    the shot is the same. Without rows nothing is written.

    Several processes may add rows at the same time. Raises RequestError as ``rows_of`` does, and if
    the file cannot be locked or written.
    """
    rows = list(rows)
    if not rows:
        return out / MANIFEST
    with locked(out / MANIFEST):
        earlier = {row.sample_id: row for row in rows_of(out) if clip_path(out, row).exists()}
        merged = earlier | {row.sample_id: _with_passes(row, earlier.get(row.sample_id))
                            for row in rows}
        # Earlier rows exist only in this file, so it must survive a power cut: sync it to disk.
        publish(out / MANIFEST, "".join(json_of(merged[name]) for name in sorted(merged)),
                synced=True)
    return out / MANIFEST


def _with_passes(row: Row, earlier: Row | None) -> Row:
    """Return a row with the passes added that only an earlier row of the same shot has."""
    if earlier is None or not earlier.passes or earlier.shot_key != row.shot_key:
        return row
    return row.model_copy(update={"passes": earlier.passes | (row.passes or {})})


def move_damaged_rows(out: Path) -> list[bytes]:
    """Move invalid lines from the manifest to ``out``/manifest.damaged.jsonl; return those lines.

    Raises RequestError as ``add_rows`` does.
    """
    with locked(out / MANIFEST):
        lines = [line for _, line in _lines(out / MANIFEST)]
        damaged = [line for line in lines if not _is_row(out, line)]
        if damaged:
            _part(out, [line for line in lines if line not in damaged], damaged)
    return damaged


def move_duplicate_rows(out: Path) -> list[Row]:
    """Keep one row for each clip: the last with the clip's SHA-256, else the last.

    Other rows are moved as by ``move_damaged_rows`` and returned, except exact duplicates, which
    are dropped. All lines must be valid rows. Raises RequestError as ``add_rows`` does.
    """
    with locked(out / MANIFEST):
        lines = [line.rstrip(b"\n") + b"\n" for _, line in _lines(out / MANIFEST)]
        of_clips: dict[str, list[bytes]] = defaultdict(list)
        for line in lines:
            of_clips[row_from(line).file_name].append(line)
        kept = [_line_of_clip(out, each) if len(each) > 1 else each[0]
                for each in of_clips.values()]
        aside = sorted({*lines} - {*kept})
        if len(kept) < len(lines):
            _part(out, kept, aside)
    return [row_from(line) for line in aside]


def _line_of_clip(out: Path, lines: Sequence[bytes]) -> bytes:
    path = clip_path(out, row_from(lines[0]))
    sha256 = file_hash(path) if path.is_file() else None
    return max(lines[::-1], key=lambda line: row_from(line).sha256 == sha256)


def _part(out: Path, kept: Iterable[bytes], aside: Sequence[bytes]) -> None:
    """Append lines, if any, to the file of damaged lines and publish the others as the manifest."""
    if aside:
        path = out / DAMAGED
        before = path.read_bytes() if path.exists() else b""
        publish(path, before + b"".join(line.rstrip(b"\n") + b"\n" for line in aside), synced=True)
    publish(out / MANIFEST, b"".join(kept), synced=True)


def _is_row(out: Path, line: bytes) -> bool:
    """Whether a line is a valid row whose clip lies in the manifest's folder."""
    try:
        clip_path(out, row_from(line))
    except (ValueError, RequestError):
        return False
    return True
