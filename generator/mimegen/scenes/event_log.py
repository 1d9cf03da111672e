"""The record of a scene's events, with their times and performers."""

from typing import Any

from mimegen.base.names import words
from mimegen.manifest.timeline import PARTNER, PERFORMER, Interval
from mimegen.scenes.parts import ActionExcerpt, NamedScore
from mimegen.scenes.scene import Scene, Step

NAMES = (PERFORMER, PARTNER)


class EventLog:
    """Records events while a scene is played; ``happens`` is in the scene's own seconds."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.happens: list[Interval] = []

    def add(self, who: int, kind: str, name: str, start: float, end: float, **facts: Any) -> None:
        """Record one event of a performer, between two times in seconds."""
        self.happens.append(Interval(kind=kind, name=name, performer=NAMES[who],
                                     start_s=round(start, 3), end_s=round(end, 3), **facts))

    def action(self, who: int, step: Step, known: NamedScore, used: ActionExcerpt,
               start: float) -> None:
        """Record an action that begins at ``start``, with all events in it."""
        end = start + used.duration
        self.add(who, "action", known.name, start, end)
        if step.does:
            self.add(who, "step", step.does, start, end)
        if step.look:
            self.add(who, "gaze", self.called(step.look), start, end)
        for one in used.happens:
            if not _stated_by_step(one, step, known):
                self.happens.append(_in_the_scene(one, who, start))

    def called(self, name: str) -> str:
        """Return the name of a mark in words, or "other person" for the other performer."""
        return words(name) if name in self._scene.marks else "other person"


def _stated_by_step(one: Interval, step: Step, known: NamedScore) -> bool:
    """Return whether the step itself states an event of the action's timeline, and better."""
    return bool((one.kind == "held" and step.things)
                or (one.kind == "step" and step.does and known.action is None))


def _in_the_scene(one: Interval, who: int, start: float) -> Interval:
    """Return an action's event in the scene, where performer ``who`` begins it at ``start``."""
    swapped = {PERFORMER: NAMES[who], PARTNER: NAMES[1 - who]}
    moments = {name: round(float(value) + start, 3) for name in ("start_s", "end_s", "peak_s")
               if (value := getattr(one, name)) is not None}
    return one.model_copy(update={
        "performer": swapped[one.performer],
        "target": swapped.get(one.target or "", one.target), **moments})
