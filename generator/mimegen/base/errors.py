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
    lower = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.lower(), lower, n=3, cutoff=0.55)
    if close:
        return f" (did you mean {' or '.join(lower[name] for name in close)}?)"
    return f" (there is: {', '.join(names)})" if names else ""
