"""Errors that are meant for the person at the keyboard."""

import errno
import re
from collections.abc import Iterable

from mimegen.base.near import nearest


class RequestError(Exception):
    """The request or its input is wrong; the message is one line that says where and what to do.

    The command line prints it and ends with exit status 2.
    """


class DiskFullError(RequestError):
    """No space, or none of the person's quota, is left; whatever else is tried would fail too."""


def disk_full(doing: str) -> DiskFullError:
    """Return the error for a disk that was full while ``doing``, as ``"writing clips/a.mp4"``."""
    return DiskFullError(f"no space left on the disk while {doing}; free some or name another"
                         " place with --out or --store, and run again")


NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def means_full_disk(problem: BaseException | None) -> bool:
    """Whether a full disk caused an error, or any error that led to it."""
    while problem is not None:
        if isinstance(problem, DiskFullError):
            return True
        if isinstance(problem, OSError) and problem.errno in NO_SPACE:
            return True
        problem = problem.__cause__ or problem.__context__
    return False


# Of what an error repeats of an input, in characters.
LONGEST_VALUE = 80
# A list that is longer than a screen's few lines says nothing.
MOST_NAMES = 40
MOST_SUGGESTED = 3


def with_given(message: str, given: object) -> str:
    """Return what is wrong with a value, and the value, unless the message already has it.

    Messages give a value as ``got 3``, a text also as it is.
    """
    match = re.search(r"\bgot\b", message) or (
        isinstance(given, str) and re.search(rf"(?<!\w){re.escape(given)}(?!\w)", message))
    return message if match else f"{message} (got {shortened(repr(given))})"


def shortened(text: str, longest: int = LONGEST_VALUE) -> str:
    """Return a text that fits in a line that a person reads, its middle left out if need be."""
    if len(text) <= longest:
        return text
    return f"{text[:longest * 2 // 3]} ... {text[-longest // 4:]}"


def near_misses(word: str, known: Iterable[object]) -> str:
    """Return ``" (did you mean a or b?)"``, or what there is, the first of it, if nothing is close.

    What is known may be the keys of a person's file, which need not be texts. A word that is known
    itself stands at the wrong place: nothing is suggested.
    """
    names = sorted({str(name) for name in known})
    if word in names:
        return ""
    close = nearest(word, names)
    if close:
        return did_you_mean(close)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f" (available: {', '.join(names[:MOST_NAMES])}{more})" if names else ""


def did_you_mean(names: Iterable[str]) -> str:
    """Return ``" (did you mean a or b?)"`` of names, the nearest first."""
    return f" (did you mean {' or '.join([*names][:MOST_SUGGESTED])}?)"
