"""Select frames with ffmpeg."""

from collections.abc import Sequence


def picking(numbers: Sequence[int]) -> str:
    """Return an expression for ffmpeg's filter ``select`` that is true for these frames, from 0.

    ``numbers`` must ascend. Consecutive frames become one term. Terms are added pairwise, as a
    balanced tree: ffmpeg cannot parse a flat sum of more than a hundred terms.
    """
    known = {*numbers}
    firsts = [number for number in numbers if number - 1 not in known]
    lasts = [number for number in numbers if number + 1 not in known]
    terms = [f"between(n\\,{first}\\,{last})" for first, last in zip(firsts, lasts, strict=True)]
    while len(terms) > 1:
        pairs = [f"({one}+{other})" for one, other in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(terms) - len(terms) % 2:]
    return terms[0]
