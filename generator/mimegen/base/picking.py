"""Which frames ffmpeg picks."""

from collections.abc import Sequence


def picking(numbers: Sequence[int]) -> str:
    """Return an expression for ffmpeg's filter ``select`` that is true of these frames, from 0.

    ``numbers`` ascend. Frames in a row are one term, and terms are added in pairs, pairs in pairs:
    ffmpeg follows a sum of more than a hundred in no other way.
    """
    known = {*numbers}
    firsts = [number for number in numbers if number - 1 not in known]
    lasts = [number for number in numbers if number + 1 not in known]
    terms = [f"between(n\\,{first}\\,{last})" for first, last in zip(firsts, lasts, strict=True)]
    while len(terms) > 1:
        pairs = [f"({one}+{other})" for one, other in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(terms) - len(terms) % 2:]
    return terms[0]
