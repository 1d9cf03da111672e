"""Append-only files of lines, in which an incomplete write damages no other line.

A full disk or a kill can leave half a line at the end of a file, and a power failure zeros. Writers
therefore begin on a new line, and readers skip lines that are not JSON objects.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def append_line(path: Path, line: str) -> None:
    """Append a line to a file in one write; start a new line if the last one is incomplete.

    The file is opened for each line, because a file server shows the data only after it is closed.
    Characters that UTF-8 cannot encode become ``?``. Raises OSError if the line is not written
    whole.
    """
    text = line.encode("utf-8", "replace") + b"\n"
    opened = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _write(opened, text if _ends_with_newline(opened) else b"\n" + text)
    finally:
        os.close(opened)


def _ends_with_newline(opened: int) -> bool:
    """Return whether a file is empty or ends with a newline."""
    size = os.fstat(opened).st_size
    return size == 0 or os.pread(opened, 1, size - 1) == b"\n"


def _write(opened: int, text: bytes) -> None:
    # A disk that is almost full accepts a part first and refuses the rest.
    while text:
        text = text[os.write(opened, text):]


def json_lines(content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in lines; skip lines that are not JSON objects."""
    for line in content.split(b"\n"):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
