"""Compile a scene to one score that performs it, and to the events in it."""

from dataclasses import dataclass

from mimegen.choreography.happenings import speeches
from mimegen.choreography.score import Partner, Score, Stands
from mimegen.choreography.variation import vary
from mimegen.manifest.timeline import Interval, cut, retold
from mimegen.scenes.play import Find, Play
from mimegen.scenes.relations import relations
from mimegen.scenes.scene import Scene


@dataclass(frozen=True)
class Compiled:
    """A scene as a score, and its events, in the score's seconds."""

    score: Score
    happens: tuple[Interval, ...]

    def timeline(self, seed: int, style: str | None) -> list[Interval]:
        """Return the events of the take by a seed and a style, in order of time."""
        renditions = vary(self.score, seed, style)
        performed, written = renditions[0].line.clock
        found = [*cut(self.happens, written, performed), *speeches(self.score, renditions, seed)]
        return retold(sorted(found, key=_order), renditions[0].mirror)


def _order(one: Interval) -> tuple[float, float, str, str, str]:
    return one.start_s, one.end_s, one.kind, one.name, one.performer


def compiled(scene: Scene, find: Find) -> Compiled:
    """Return a scene as one score.

    Raises RequestError with file and line for steps that are unknown or cannot be performed.
    """
    play = Play(scene, find)
    first, *others = play.sheets
    score = Score(
        action=scene.name, about=scene.description, duration=round(play.duration, 3),
        facing=scene.facing + first.start.turn, balanced=play.balanced[0], props=first.props,
        vary=scene.vary, phases=tuple(first.phases()),
        partner=_partner(scene, play) if others else None)
    score.came_from(scene.source, compiled=True)
    found = relations([sheet.spots for sheet in play.sheets],
                      {name: scene.spot(name) for name in scene.marks}, score.duration)
    return Compiled(score, (*play.happens, *found))


def _partner(scene: Scene, play: Play) -> Partner:
    first, other = play.sheets
    stands = other.start.seen_from(first.start)
    return Partner(
        about=scene.roles[1].about, balanced=play.balanced[1], props=other.props,
        stands=Stands(left=stands.left, forward=stands.forward, turn=stands.turn),
        phases=tuple(other.phases()))
