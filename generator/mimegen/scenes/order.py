"""The order of a scene's steps: each waits for the steps that it depends on."""

from collections.abc import Callable, Iterator, Sequence

from mimegen.scenes.scene import Scene, Step
from mimegen.scenes.sheet import KeySheet


class Order:
    """The steps of a scene in the order in which they begin.

    ``sheets`` have the time from which each performer is free, so the caller must play each step
    before asking for the next. ``for_two`` returns whether both performers do a step together.
    """

    def __init__(self, scene: Scene, sheets: Sequence[KeySheet], for_two: Callable[[Step], bool]
                 ) -> None:
        self._scene, self._sheets, self._for_two = scene, sheets, for_two
        self._waiting = [list(role.steps) for role in scene.roles]
        # Begin and end, in seconds, of the steps with an id that have been played.
        self._done: dict[str, tuple[float, float]] = {}

    def __iter__(self) -> Iterator[tuple[int, Step, float]]:
        """Yield the performer's number, the step, and its begin in seconds.

        Raises RequestError with file and line if steps wait for each other, or for a partner who
        never joins.
        """
        while any(self._waiting):
            begin, who = min(self._ready())
            step = self._waiting[who].pop(0)
            begun = [step]
            if self._for_two(step):
                begun.append(self._waiting[1 - who].pop(0))
            yield who, step, begin
            self._done |= {one.id: (begin, self._sheets[who].free) for one in begun if one.id}

    def _ready(self) -> list[tuple[float, int]]:
        """Return begin and performer of each next step that can begin now."""
        ready = [(begin, who) for who, steps in enumerate(self._waiting)
                 if steps and (begin := self._begins(who, steps[0])) is not None]
        if not ready:
            step = next(steps[0] for steps in self._waiting if steps)
            raise self._scene.error(step, "waits for a step that waits for it")
        return ready

    def _begins(self, who: int, step: Step) -> float | None:
        """Return the time at which a step can begin, None while it waits for another."""
        if step.join is not None:
            return None
        free = self._sheets[who].free
        if self._for_two(step):
            if not self._is_joined(who, step):
                return None
            free = max(free, self._sheets[1 - who].free)
        for name, which in ((step.after, 1), (step.during, 0)):
            if name is not None:
                if name not in self._done:
                    return None
                free = max(free, self._done[name][which])
        return self._at(step, free) + step.pause

    def _is_joined(self, who: int, step: Step) -> bool:
        """Return whether the other performer's next step joins this one.

        Raises RequestError if the other performer has no steps left.
        """
        others = self._waiting[1 - who] if len(self._waiting) > 1 else []
        if not others:
            raise self._scene.error(step, f"{step.do!r} is for two: give it an id, and let the"
                                          " other performer join it")
        return step.id is not None and others[0].join == step.id

    def _at(self, step: Step, free: float) -> float:
        """Return a step's own time ``at``, or ``free`` if it has none.

        Raises RequestError if it is before ``free``.
        """
        if step.at is None:
            return free
        if step.at < free - 1e-6:
            raise self._scene.error(step, f"at: {step.at:g} s is within the previous step, which"
                                          f" lasts until {free:.1f} s")
        return step.at
