"""Files of lines that only ever grow: a write that was cut off spoils no other line.

A full disk or a kill can leave half a line at the end of a file, and a loss of power zeros. Writers
therefore begin on a new line, and readers pass over what is no JSON object.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def append_line(path: Path, line: str) -> None:
    """Add a line to a file in one write, on a new line where the last one was cut off.

    The file is opened for each line: a file server shows what was written once the file is closed.
    What no encoding holds becomes ``?``. Raises OSError where the line is not written whole.
    """
    text = line.encode("utf-8", "replace") + b"\n"
    opened = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _write(opened, text if _ends_whole(opened) else b"\n" + text)
    finally:
        os.close(opened)


def _ends_whole(opened: int) -> bool:
    """Whether a file is empty or ends with the end of a line."""
    size = os.fstat(opened).st_size
    return size == 0 or os.pread(opened, 1, size - 1) == b"\n"


def _write(opened: int, text: bytes) -> None:
    # A disk that fills up takes a part first and refuses the rest.
    while text:
        text = text[os.write(opened, text):]


def json_lines(content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of lines, and nothing of what is none."""
    for line in content.split(b"\n"):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
