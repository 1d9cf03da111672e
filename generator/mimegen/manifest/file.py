"""The file manifest.jsonl: read, checked, written."""

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
# Lines that are no rows, set aside so that the others can be used.
DAMAGED = "manifest.damaged.jsonl"
# A row has some 6 KB.
LONGEST_LINE = 4 * 2**20


def read_manifest(out: Path | str) -> list[Row]:
    """Return the rows of ``out``/manifest.jsonl; none where there is no such file.

    ``out`` is the folder that holds the manifest. Raises RequestError as ``rows_of``.
    """
    return list(rows_of(Path(out)))


def single_rows(out: Path) -> list[Row]:
    """Return the rows as ``read_manifest``; raises RequestError where two are of one clip."""
    rows = read_manifest(out)
    for name, count in Counter(row.sample_id for row in rows).items():
        if count > 1:
            raise RequestError(f"{out / MANIFEST}: {name} has {count} rows, expected one; mimegen"
                               " verify --repair keeps the row of the existing clip")
    return rows


def rows_of(out: Path) -> Iterator[Row]:
    """Yield the rows of ``out``/manifest.jsonl, one line at a time.

    Raises RequestError naming a line that is not a row, or whose clip lies outside of ``out``.
    """
    for row in rows_or_problems(out):
        if isinstance(row, RequestError):
            raise row
        yield row


def rows_or_problems(out: Path) -> Iterator[Row | RequestError]:
    """Yield the rows of ``out``/manifest.jsonl, and for a line that is none what is wrong.

    Raises RequestError for a line longer than any row.
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
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise RequestError(f"{path}: line {number} is longer than"
                                       f" {LONGEST_LINE // 2**20} MiB, so it is not a manifest row")
                yield number, line
    except FileNotFoundError:
        return


def row_from(line: bytes | str) -> Row:
    """Return a line's row, of this version or an older one; ValueError says what is wrong."""
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
    """Return JSON content as a row; ValueError says in one line which field is wrong."""
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
    """Raise ValueError for a lone half of a surrogate pair, which no file of text can hold."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as problem:
        raise ValueError("it holds what is no Unicode text") from problem


def json_of(row: Row, indent: int | None = None) -> str:
    """Return a row as a line of JSON; what is no Unicode in a file's name becomes ``?``."""
    text = json.dumps(content_of(row), indent=indent, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace").decode() + "\n"


def content_of(row: Row) -> dict[str, Any]:
    """Return a row as JSON content: what was given or read, and nothing else."""
    return row.model_dump(mode="json", exclude_unset=True)


def clip_path(out: Path, row: Row) -> Path:
    """Return where a row's clip lies.

    Raises RequestError where a symbolic link leads it out of the manifest's folder.
    """
    path = out / row.file_name
    if not path.resolve().is_relative_to(out.resolve()):
        raise RequestError(f"{out / MANIFEST}: file_name {row.file_name!r} leads outside of that"
                           " folder; nothing there is touched")
    return path


def add_rows(out: Path, rows: Iterable[Row]) -> Path:
    """Publish ``out``/manifest.jsonl with these rows added or renewed, in order of sample_id.

    Rows of earlier requests stay as long as their clips are there, and their passes as long as
    the shot is the same. Without rows nothing is written.
    Any number of processes may add rows at a time. Raises RequestError as ``rows_of``, and where
    the file cannot be locked or written.
    """
    rows = list(rows)
    if not rows:
        return out / MANIFEST
    with locked(out / MANIFEST):
        earlier = {row.sample_id: row for row in rows_of(out) if clip_path(out, row).exists()}
        merged = earlier | {row.sample_id: _with_passes(row, earlier.get(row.sample_id))
                            for row in rows}
        # Rows of earlier requests are nowhere else, so they must outlast a loss of power too.
        publish(out / MANIFEST, "".join(json_of(merged[name]) for name in sorted(merged)),
                synced=True)
    return out / MANIFEST


def _with_passes(row: Row, earlier: Row | None) -> Row:
    """Return a row with those passes that only an earlier row of the same shot names."""
    if earlier is None or not earlier.passes or earlier.shot_key != row.shot_key:
        return row
    return row.model_copy(update={"passes": earlier.passes | (row.passes or {})})


def set_damaged_aside(out: Path) -> list[bytes]:
    """Move what is no row from the manifest to ``out``/manifest.damaged.jsonl; return those lines.

    Raises RequestError as ``add_rows``.
    """
    with locked(out / MANIFEST):
        lines = [line for _, line in _lines(out / MANIFEST)]
        damaged = [line for line in lines if not _is_row(out, line)]
        if damaged:
            _part(out, [line for line in lines if line not in damaged], damaged)
    return damaged


def set_doubles_aside(out: Path) -> list[Row]:
    """Leave of several rows of one clip the last that has the clip's hash, else the last.

    Others that differ from it are moved as by ``set_damaged_aside`` and returned. All lines must
    be rows.
    Raises RequestError as ``add_rows``.
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
    """Set lines aside, if any, and publish the others as the manifest."""
    if aside:
        path = out / DAMAGED
        before = path.read_bytes() if path.exists() else b""
        publish(path, before + b"".join(line.rstrip(b"\n") + b"\n" for line in aside), synced=True)
    publish(out / MANIFEST, b"".join(kept), synced=True)


def _is_row(out: Path, line: bytes) -> bool:
    try:
        clip_path(out, row_from(line))
    except (ValueError, RequestError):
        return False
    return True
