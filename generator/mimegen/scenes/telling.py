"""What is told of a scene: what happens in it, from when to when, and whose it is."""

from typing import Any

from mimegen.base.names import words
from mimegen.manifest.timeline import PARTNER, PERFORMER, Interval
from mimegen.scenes.parts import ActionExcerpt, Known
from mimegen.scenes.scene import Scene, Step

NAMES = (PERFORMER, PARTNER)


class Telling:
    """Takes down what happens as a scene is played; ``happens`` is in the scene's own seconds."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.happens: list[Interval] = []

    def add(self, who: int, kind: str, name: str, start: float, end: float, **facts: Any) -> None:
        """Take down one thing that a performer does, between two moments in seconds."""
        self.happens.append(Interval(kind=kind, name=name, performer=NAMES[who],
                                     start_s=round(start, 3), end_s=round(end, 3), **facts))

    def action(self, who: int, step: Step, known: Known, used: ActionExcerpt, start: float) -> None:
        """Take down an action that begins at a moment, with all that happens in it."""
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
        """Return what a mark or the other performer is called."""
        return words(name) if name in self._scene.marks else "other person"


def _stated_by_step(one: Interval, step: Step, known: Known) -> bool:
    """Say whether a step tells better of what an action's own timeline tells."""
    return bool((one.kind == "held" and step.things)
                or (one.kind == "step" and step.does and known.action is None))


def _in_the_scene(one: Interval, who: int, start: float) -> Interval:
    """Return what happens in an action that a performer of the scene begins at a moment."""
    swapped = {PERFORMER: NAMES[who], PARTNER: NAMES[1 - who]}
    moments = {name: round(float(value) + start, 3) for name in ("start_s", "end_s", "peak_s")
               if (value := getattr(one, name)) is not None}
    return one.model_copy(update={
        "performer": swapped[one.performer],
        "target": swapped.get(one.target or "", one.target), **moments})
