"""Read the text of motion files: handle encodings, comments and decimal commas."""

import math
import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

from mimegen.base.errors import RequestError
from mimegen.base.file_signatures import refuse_foreign
from mimegen.readers.files import check_size
from mimegen.readers.names import roles_by_name

# Byte order marks, longer ones first: UTF-32's little-endian mark begins with UTF-16's.
MARKS = ((b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be"), (b"\xff\xfe", "utf-16-le"),
         (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"))
# Encodings tried on text that is not UTF-8. If bone names do not decide, the first that fits is
# taken.
OLD_ENCODINGS = {"cp932": "Shift-JIS", "euc_jp": "EUC-JP", "gb18030": "GB 18030",
                 "cp949": "EUC-KR", "big5": "Big5", "cp1252": "Windows-1252", "latin-1": "Latin-1"}
ONE_BYTE = ("cp1252", "latin-1")
# Bytes of a file from which its encoding is found, and the fraction of zero bytes above which they
# indicate UTF-16 or UTF-32.
SAMPLE = 200_000
ZEROS = 0.3
COMMENT = re.compile(r"(?:^|\s)(?:#|//|;|%).*")
HAS_COMMENT = re.compile(r"#|//|;|%")
COMMA = re.compile(r"(?<=\d),(?=\d)")
POINT = re.compile(r"\d\.\d")


# How programs write NaN: C, Python, and Microsoft's C.
NO_NUMBER = re.compile(r"[+-]?(nan(\(\w*\))?|1\.?#(qnan|snan|ind|nan)0*)", re.IGNORECASE)


class Text(NamedTuple):
    """A file's lines, without line ends, and notes on the assumptions made in reading them."""

    rows: list[str]
    notes: tuple[str, ...]


def text_of(path: Path, expected: str) -> Text:
    """Return a text file's lines.

    The encoding is found by a byte order mark, by zero bytes, or by bone names that are known in
    one encoding. Raises RequestError if the file cannot be read or holds binary data;
    ``expected`` names the expected content in the message.
    """
    try:
        check_size(path)
        refuse_foreign(path)
        data = path.read_bytes()
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read: {problem.strerror}") from None
    text, notes = _decoded(data)
    if "\0" in text:
        raise RequestError(f"{path}: contains binary data, expected {expected}")
    return Text(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), notes)


def number_of(word: str) -> float:
    """Return a word as a number: NaN if it is written as NaN, infinity if it is no number."""
    if NO_NUMBER.fullmatch(word):
        return math.nan
    try:
        return float(word)
    except ValueError:
        return math.inf


def without_comments(rows: list[str], named: tuple[str, ...] = ()) -> list[str]:
    """Return lines without comments, which begin with #, //, ; or % at the start or after a space.

    If a line begins with one of the words ``named``, the name up to the brace is kept unchanged.
    """
    cleaned = list(rows)
    for number, row in enumerate(rows):
        if HAS_COMMENT.search(row):
            name, rest = _name_and_rest(row, named)
            cleaned[number] = name + COMMENT.sub("", rest)
    return cleaned


def with_decimal_points(rows: list[str], named: tuple[str, ...] = ()) -> Text:
    """Return lines whose numbers have decimal points and spaces between them, and a note.

    If any line with commas has a decimal point too, commas separate numbers; otherwise they are
    decimal commas. If a line begins with one of the words ``named``, the name up to the brace is
    kept unchanged.
    """
    mixed = {number: parts for number, row in enumerate(rows)
             if "," in row and "," in (parts := _name_and_rest(row, named))[1]}
    if not mixed:
        return Text(rows, ())
    decimal = not any(POINT.search(rest) for _, rest in mixed.values())
    changed = list(rows)
    for number, (name, rest) in mixed.items():
        changed[number] = name + (COMMA.sub(".", rest) if decimal else rest.replace(",", " "))
    return Text(changed, ("numbers have decimal commas, which are read as points",) if decimal
                else ("commas separate the numbers",))


def _name_and_rest(row: str, named: tuple[str, ...]) -> tuple[str, str]:
    """Split a line that begins with one of the words ``named`` after the brace that ends its name.
    """
    if not named or not row.lstrip()[:8].upper().startswith(named):
        return "", row
    name, brace, rest = row.partition("{")
    return name + brace, rest


def _decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Decode bytes, with damaged letters replaced; return the text and notes on its encoding."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return data[len(mark):].decode(encoding, errors="replace"), ()
    wide = _wide_encoding(data[:SAMPLE])
    if wide:
        return data.decode(wide, errors="replace"), (
            f"the text is read as {wide.upper()}, by its zero bytes",)
    try:
        return data.decode(), ()
    except UnicodeDecodeError:
        encoding = _old_encoding(data)
    return data.decode(encoding, errors="replace"), (
        f"the text is not UTF-8: it is read as {OLD_ENCODINGS[encoding]}",)


def _wide_encoding(data: bytes) -> str | None:
    """Return UTF-16 or UTF-32 if the zero bytes lie as in such Latin text, otherwise None."""
    zeros = [data[at::4].count(0) * 4 / max(len(data), 1) > ZEROS for at in range(4)]
    return {(False, True, True, True): "utf-32-le", (True, True, True, False): "utf-32-be",
            (False, True, False, True): "utf-16-le", (True, False, True, False): "utf-16-be",
            }.get((zeros[0], zeros[1], zeros[2], zeros[3]))


def _old_encoding(data: bytes) -> str:
    """Return the encoding in which most names are known bones, or else the first that fits."""
    lines = b"\n".join(line for line in data.splitlines() if not line.isascii())[:SAMPLE]
    fitting = [encoding for encoding in OLD_ENCODINGS if _fits(lines, encoding)]
    return max(fitting, key=lambda encoding: _known_bones(lines.decode(encoding, "replace")))


def _fits(data: bytes, encoding: str) -> bool:
    """Return whether bytes are plausible text of an encoding.

    In East Asian encodings, all letters beyond ASCII must be wide, and none may stand alone
    between Latin letters.
    """
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return encoding == "latin-1"
    if encoding in ONE_BYTE:
        return True
    foreign = [letter for letter in text if not letter.isascii()]
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in foreign)
    return wide == len(foreign) and not re.search(r"[a-zA-Z][^\x00-\x7f][a-zA-Z]", text)


def _known_bones(text: str) -> int:
    """Return the number of roles that the words beyond ASCII in a text identify."""
    names = dict.fromkeys(word for word in text.split() if not word.isascii())
    return len(roles_by_name(tuple(names)))
