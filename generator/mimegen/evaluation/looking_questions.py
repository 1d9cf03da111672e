"""Questions about where people look, and the choice of looks that can be asked about.

Options come in blocks of three or two: each is right for one clip of the block and clearly wrong
for the others. So no option is likelier than another, and none is half right.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.evaluation.looking import POINT_TARGETS, GazeSpan, GazeTrack
from mimegen.evaluation.sampling import FrameSampling
from mimegen.manifest.row import Row

GAZE_TARGET = "gaze_target"
# Numbers of options in a block, in order of preference.
SIZES = (3, 2)
DOTS = "pointlight"


@dataclass(frozen=True)
class AskedGaze:
    """A look in a clip; ``side`` identifies the person, as `GazeTrack.side` returns it."""

    row: Row
    look: GazeSpan
    side: int
    choices: tuple[int, ...] = ()

    @property
    def name(self) -> tuple[str, ...]:
        """The key that distinguishes the look from all others."""
        return self.row.sample_id, str(self.look.person), str(self.look.target)


@dataclass(frozen=True)
class GazeTime:
    """Total seconds for which a person looks at a target; ``unsure_s`` more are unclear."""

    side: int
    target: int
    seconds: float
    unsure_s: float


def gaze_tracks(folder: Path, rows: Sequence[Row]) -> list[tuple[Row, GazeTrack]]:
    """Return the clips whose keypoints contain gaze; each file is read once."""
    read: dict[str, GazeTrack | None] = {}
    found = []
    for row in rows:
        facts = (row.passes or {}).get("keypoints")
        if facts is None or row.type == DOTS:
            continue
        if facts.folder not in read:
            read[facts.folder] = GazeTrack.of(folder / facts.folder / "keypoints.npz",
                                              float(row.fps))
        if (looking := read[facts.folder]) is not None:
            found.append((row, looking))
    return found


def gazes_to_ask(clips: Sequence[tuple[Row, GazeTrack]], seed: int,
                 sampling: FrameSampling | None = None) -> list[AskedGaze]:
    """Return the looks to ask about, at most one for each person and target, in blocks."""
    found = [one for row, looking in clips for one in _of_clip(row, looking, sampling)]
    return list(_in_blocks(found, seed))


def _of_clip(row: Row, looking: GazeTrack, sampling: FrameSampling | None) -> Iterator[AskedGaze]:
    """Yield a clip's looks to ask about: the person is identifiable, the look is in shown frames.
    """
    shown = sampling.frames(row.frames, row.fps) if sampling else None
    done: set[tuple[int, int]] = set()
    for look in looking.spans():
        side = looking.side(look.person, look.start, look.end)
        visible = shown is None or any(look.start <= frame < look.end for frame in shown)
        if side is not None and visible and (look.person, look.target) not in done:
            done.add((look.person, look.target))
            yield AskedGaze(row, look, side)


_Kind = tuple[int, frozenset[int]]


def _in_blocks(found: Sequence[AskedGaze], seed: int) -> Iterator[AskedGaze]:
    """Yield looks with their options; those that fit into no block are dropped."""
    kinds: dict[_Kind, list[AskedGaze]] = defaultdict(list)
    ordered = sorted(found, key=lambda one: one.name)
    for place in generator(seed, "probes", GAZE_TARGET, "blocks").permutation(len(ordered)):
        one = ordered[int(place)]
        kinds[one.look.target, one.look.clearly_not_at].append(one)
    for size in SIZES:
        yield from _blocks_of(size, kinds)


def _blocks_of(size: int, kinds: dict[_Kind, list[AskedGaze]]) -> Iterator[AskedGaze]:
    """Take as many blocks of one size out of ``kinds`` as possible."""
    passed: set[_Kind] = set()
    while first := _commonest(kinds, passed):
        block = _block(first, size, kinds)
        if not block:
            passed.add(first)
            continue
        choices = tuple(sorted(target for target, _ in block))
        for kind in block:
            one = kinds[kind].pop()
            yield AskedGaze(one.row, one.look, one.side, choices)
            if not kinds[kind]:
                del kinds[kind]


def _commonest(kinds: dict[_Kind, list[AskedGaze]], passed: set[_Kind]) -> _Kind | None:
    """Return a kind whose target has the most looks left; None if all were passed."""
    order = [kind for kind in _ordered(kinds) if kind not in passed]
    return order[0] if order else None


def _ordered(kinds: dict[_Kind, list[AskedGaze]]) -> list[_Kind]:
    left: dict[int, int] = defaultdict(int)
    for (target, _), own in kinds.items():
        left[target] += len(own)
    return sorted(kinds, key=lambda kind: (-left[kind[0]], kind[0], sorted(kind[1])))


def _block(first: _Kind, size: int, kinds: dict[_Kind, list[AskedGaze]]) -> list[_Kind]:
    """Return the first kind with others that exclude each other; empty if too few do."""
    fitting = [kind for kind in _ordered(kinds) if _exclude(first, kind)]
    for others in combinations(fitting, size - 1):
        if all(_exclude(*pair) for pair in combinations(others, 2)):
            return [first, *others]
    return []


def _exclude(one: _Kind, other: _Kind) -> bool:
    return one[0] in other[1] and other[0] in one[1]


def drawn_choices(one: AskedGaze, seed: int) -> list[int]:
    """Return the indices of the options in a random order fixed for the question."""
    order = generator(seed, "probes", GAZE_TARGET, "order", *one.name).permutation(len(one.choices))
    return [one.choices[int(place)] for place in order]


def question_key(one: AskedGaze, seed: int) -> str:
    """Return the question's id."""
    return content_key("probe", GAZE_TARGET, seed, *one.name)[:16]


def gaze_times(looking: GazeTrack) -> Iterator[GazeTime]:
    """Yield how long each person looks at each target, if it is clear who they are."""
    for person in range(looking.states.shape[1]):
        side = looking.side(person)
        for target in POINT_TARGETS if side is not None else ():
            seconds, unsure = looking.seconds(person, target)
            yield GazeTime(side or 0, target, seconds, unsure)
