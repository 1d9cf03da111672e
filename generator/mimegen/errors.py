"""Errors that are meant for the person at the keyboard."""

import difflib
from collections.abc import Iterable


class RequestError(Exception):
    """The request or its input is wrong; the message is one line that says where and what to do.

    The command line prints it and ends with exit status 2.
    """


def near_misses(word: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean a or b?)"``, or a list of what there is if nothing is close."""
    names = sorted(set(known))
    close = difflib.get_close_matches(word.lower(), names, n=3, cutoff=0.55)
    if close:
        return f" (did you mean {' or '.join(close)}?)"
    return f" (there is: {', '.join(names)})" if names else ""
