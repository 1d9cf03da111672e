"""How a rendition runs through its score: which span is performed when, and how often."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mimegen.choreography.score import Repeat, Score
from mimegen.choreography.variation import Rendition
from mimegen.motion.quaternions import FloatArray


class ScoreCourse(NamedTuple):
    """The spans of a score in the order in which a rendition performs them.

    Each piece is (start in the score, end in the score, start in the take, end in the take), in
    seconds.
    """

    pieces: tuple[tuple[float, float, float, float], ...]

    def times(self, start: float, end: float) -> Iterator[tuple[float, float]]:
        """Yield each start and end, in the take, of a span of the score: none, one or several."""
        begins = [piece for piece in self.pieces if piece[0] <= start < piece[1]]
        ends = [piece for piece in self.pieces if piece[0] < end <= piece[1]]
        within = [piece for piece in begins if piece in ends]
        for piece in within:
            yield _at(piece, start), _at(piece, end)
        if not within and (after := [piece for piece in self.pieces if piece[1] > start]):
            before = [piece for piece in self.pieces if piece[0] < end]
            yield _at(after[0], max(start, after[0][0])), _at(before[-1], min(end, before[-1][1]))

    def score_time(self, moment: float) -> float:
        """Return the time in the score, in seconds, that is performed at a time of the take."""
        begun = [piece for piece in self.pieces if piece[2] <= moment] or [self.pieces[0]]
        first, last, begin, end = begun[-1]
        share = (moment - begin) / (end - begin) if end > begin else 1.0
        return first + (last - first) * min(max(share, 0.0), 1.0)


def _at(piece: tuple[float, float, float, float], moment: float) -> float:
    first, last, begin, end = piece
    return begin + (end - begin) * (moment - first) / (last - first)


def course_of(score: Score, rendition: Rendition) -> ScoreCourse:
    """Return how a rendition runs through its score, with repeats written out."""
    performed, written = rendition.line.clock
    pieces, shift, begin = [], 0.0, 0.0
    for repeat in score.repeat:
        length = repeat.until - repeat.after
        pieces.append((begin, repeat.after, begin + shift))
        times = _times(score, repeat, rendition)
        pieces += [(repeat.after, repeat.until, repeat.after + shift + turn * length)
                   for turn in range(times)]
        shift, begin = shift + (times - 1) * length, repeat.until
    pieces.append((begin, score.duration, begin + shift))
    return ScoreCourse(tuple(_timed(piece, performed, written) for piece in pieces
                              if piece[1] > piece[0]))


def _times(score: Score, repeat: Repeat, rendition: Rendition) -> int:
    """Return how often the rendition performs a repeat: its phases with the repeat's last line."""
    [last] = [phase.line for phase in score.phases if phase.at == repeat.until]
    return sum(phase.line == last for phase in rendition.line.phases)


def _timed(piece: tuple[float, float, float], performed: FloatArray, written: FloatArray
           ) -> tuple[float, float, float, float]:
    first, last, begin = piece
    ends = np.interp([begin, begin + last - first], written, performed)
    return first, last, float(ends[0]), float(ends[1])
