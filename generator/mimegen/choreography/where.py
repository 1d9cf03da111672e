"""The position in a score's file that a finding comes from, and advice against it."""

from collections.abc import Sequence
from typing import NamedTuple

from mimegen.choreography.course import course_of
from mimegen.choreography.finding import Finding, Kind
from mimegen.choreography.perform import kept_variation
from mimegen.choreography.score import Phase, Score
from mimegen.choreography.variation import vary

# Keys within this many seconds of a finding, in the score, may be its cause.
NEAR_S = 1.0
HELP: dict[Kind, str] = {
    "reach": "bring the target nearer, or let pelvis or chest go with the hand",
    "twist": "turn the palm or the elbow less",
    "wrist": "let the fingers point more along the forearm, or move the elbow",
    "range": "ask for less of this turn, or share it with its neighbours",
    "speed": "give the move more time, or less way",
    "contact": "move the targets apart, or add a key that leads around",
    "feet": "keep the foot where it is, or lift it and give the step time",
    "floor": "raise the target, or the pelvis",
    "balance": "bring the pelvis over the feet, or say balanced: false of who leans on something",
    "frozen": "let the first and last keys still be moving, or end the score earlier",
    "form": "change the key that bends this part",
    "seen": "make the move larger, or change its check",
}


class ScorePosition(NamedTuple):
    """A line and a key of a score's file, and the time in the score (not the take), in seconds."""

    line: int
    key: str
    second: float

    def __str__(self) -> str:
        return f"line {self.line}: {self.key}" if self.line else self.key


def spot_of(finding: Finding, score: Score, seed: int, style: str | None) -> ScorePosition:
    """Return the position in its score that a finding of a take comes from.

    The key is the one that the faulty part is moving towards. The line is 0 for scenes, whose
    scores are in no file.
    """
    rendition = vary(score, seed, style, kept_variation(score, seed, style))[0]
    second = course_of(score, rendition).score_time(finding.time)
    part = finding.part.removeprefix("partner's ")
    phases = score.parts()[int(part != finding.part)].phases
    sides = {"left": "right", "right": "left"} if rendition.mirror else {}
    track = _track(finding.kind, part, sides)
    line, key = _line_and_key(phases, track, second)
    return ScorePosition(0 if score.compiled else line, key, second)


def moments_of(score: Score, seed: int, style: str | None, times: Sequence[float]
               ) -> list[tuple[float, list[str]]]:
    """Return, for times of a take, the time in the score and the tracks that move then.

    The tracks are the first performer's. Before them comes the line of their phase, if the score
    is in a file.
    """
    rendition = vary(score, seed, style, kept_variation(score, seed, style))[0]
    course = course_of(score, rendition)
    seconds = [course.score_time(time) for time in times]
    return [(second, _keys_at(score, second)) for second in seconds]


def _keys_at(score: Score, second: float) -> list[str]:
    phase = next((phase for phase in score.phases if phase.at >= second - 1e-6), score.phases[-1])
    tracks = [track for track, _ in phase.moves()]
    return tracks if score.compiled else [f"line {phase.line}, at {phase.at:g}:", *tracks]


def _track(kind: Kind, part: str, sides: dict[str, str]) -> str:
    """Return the track that moves a part of the body."""
    words = part.replace("(", " ").lower()
    side = next((side for side in ("left", "right") if side in words), None)
    limb = "foot" if kind in ("feet", "floor") or any(
        word in words for word in ("foot", "leg", "knee", "toe", "ankle")) else "hand"
    if side is not None:
        return f"{sides.get(side, side)}_{limb}"
    body = {"neck": "head", "head": "head", "spine": "chest", "chest": "chest"}
    return next((track for word, track in body.items() if word in words), "pelvis")


def _line_and_key(phases: tuple[Phase, ...], track: str, second: float) -> tuple[int, str]:
    """Return the line of the phase that a track is moving towards, and the track's name there."""
    moved = [phase for phase in phases if track in dict(phase.moves())] or list(phases)
    phase = next((phase for phase in moved if phase.at >= second - 1e-6), moved[-1])
    if track in phase.model_fields_set or track not in dict(phase.moves()):
        return phase.line, track if track in dict(phase.moves()) else "phases"
    return phase.line, "hands" if track.endswith("hand") else "feet"


def changed_keys(old: Score, new: Score, second: float) -> list[str]:
    """Return the keys within NEAR_S of a time that differ between two versions of a score."""
    return [f"{track} at {at:g} s" for at, track in sorted(
        {name for name, _ in {*_keys(old)} ^ {*_keys(new)}})
        if abs(at - second) <= NEAR_S]


def _keys(score: Score) -> list[tuple[tuple[float, str], str]]:
    return [((phase.at, track), key.model_dump_json()) for part in score.parts()
            for phase in part.phases for track, key in phase.moves()]
