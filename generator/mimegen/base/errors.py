"""Errors whose messages are meant for the user."""

import errno
import re
from collections.abc import Iterable

from mimegen.base.similar_names import nearest


class RequestError(Exception):
    """The request or its input is wrong; the message is one line that says where and what to do.

    The command line prints it and ends with exit status 2.
    """


class DiskFullError(RequestError):
    """No disk space, or none of the user's quota, is left; further attempts would fail too."""


def disk_full(doing: str) -> DiskFullError:
    """Return the error for a disk that was full while ``doing``, as in "writing clips/a.mp4"."""
    return DiskFullError(f"no space left on the disk while {doing}; free some or name another"
                         " place with --out or --store, and run again")


# Error numbers of a full disk and of a used-up quota.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def means_full_disk(problem: BaseException | None) -> bool:
    """Return whether a full disk caused an error, or any error that led to it."""
    while problem is not None:
        if isinstance(problem, DiskFullError):
            return True
        if isinstance(problem, OSError) and problem.errno in NO_SPACE:
            return True
        problem = problem.__cause__ or problem.__context__
    return False


# Characters of an input value that an error message repeats.
MAX_VALUE = 80
# Names that an error message lists; longer lists do not help.
MAX_NAMES = 40
MAX_SUGGESTED = 3  # similar names that a message suggests at most


def with_given(message: str, given: object) -> str:
    """Return a message about a value, followed by the value unless the message contains it.

    Messages contain a value as ``got 3``, or a text literally.
    """
    match = re.search(r"\bgot\b", message) or (
        isinstance(given, str) and re.search(rf"(?<!\w){re.escape(given)}(?!\w)", message))
    return message if match else f"{message} (got {shortened(repr(given))})"


def shortened(text: str, longest: int = MAX_VALUE) -> str:
    """Return a text that fits in a line, its middle left out if it is too long."""
    if len(text) <= longest:
        return text
    return f"{text[:longest * 2 // 3]} ... {text[-longest // 4:]}"


def near_misses(word: str, known: Iterable[object]) -> str:
    """Return ``" (did you mean a or b?)"``, or the available names if none is similar.

    ``known`` may be the keys of a user's file, which need not be text. If the word itself is known,
    it is only in the wrong place, and nothing is suggested.
    """
    names = sorted({str(name) for name in known})
    if word in names:
        return ""
    close = nearest(word, names)
    if close:
        return did_you_mean(close)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f" (available: {', '.join(names[:MAX_NAMES])}{more})" if names else ""


def did_you_mean(names: Iterable[str]) -> str:
    """Return ``" (did you mean a or b?)"`` for names, the most similar first."""
    return f" (did you mean {' or '.join([*names][:MAX_SUGGESTED])}?)"
