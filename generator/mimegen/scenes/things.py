"""The imagined objects of a scene: which hand holds them, and where they lie."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from mimegen.choreography.score import Key
from mimegen.manifest.timeline import LIES, RELATION, Hand, Interval, Thing
from mimegen.scenes.parts import ActionExcerpt, NamedScore, PerformerPart
from mimegen.scenes.postures import complete
from mimegen.scenes.scene import Scene, Step


class Holding(NamedTuple):
    """An object in a hand since a time; ``line`` is that of the step that took it."""

    thing: str
    since: float
    line: int


class LyingThing(NamedTuple):
    """An object that a performer put down at a mark at a time."""

    who: int
    mark: str
    since: float


class RecordEvent(Protocol):
    """A function that records an event: performer, kind, name, start and end."""

    def __call__(self, who: int, kind: str, name: str, start: float, end: float, /, *,
                 hand: Hand | None = None, target: str | None = None,
                 object: Thing | None = None) -> None:
        """Record the event."""


class Things:
    """The state of all objects while a scene is played.

    ``record`` is called for each span of holding or lying when it ends.
    """

    def __init__(self, scene: Scene, record: RecordEvent) -> None:
        self._scene, self._record = scene, record
        self._hands: dict[tuple[int, Hand], Holding] = {}
        self._lying: dict[str, LyingThing] = {}

    def carried(self, who: int) -> Iterator[tuple[Hand, Key]]:
        """Yield side and key of each of a performer's hands that holds an object."""
        for (actor, side), holding in self._hands.items():
            if actor == who:
                yield side, complete(self._scene.things[holding.thing].carried)

    def check_free(self, who: int, part: PerformerPart, step: Step, known: NamedScore) -> None:
        """Raise RequestError if a part needs a hand that holds an object not of this step."""
        for (actor, side), holding in self._hands.items():
            if actor == who and part.uses(side) and holding.thing not in step.things:
                raise self._scene.error(
                    step, f"{known.name} needs the {side} hand, which has held the {holding.thing}"
                          f" since line {holding.line}; put it down or hand it over first")

    def check_available(self, who: int, step: Step) -> None:
        """Raise RequestError if a step takes with a full hand, or gives what is not held."""
        if step.takes and (who, step.hand) in self._hands:
            taken = self._hands[who, step.hand]
            raise self._scene.error(step, f"the {step.hand} hand cannot take the {step.takes}: it"
                                          f" has held the {taken.thing} since line {taken.line}")
        for thing in filter(None, (step.leaves, step.gives)):
            if not any(actor == who and holding.thing == thing
                       for (actor, _), holding in self._hands.items()):
                raise self._scene.error(step, f"does not hold the {thing}; expected a step that"
                                              " takes it before")

    def pass_on(self, who: int, step: Step, used: ActionExcerpt, start: float, mark: str) -> None:
        """Take, leave and give the step's objects, at the times at which its action holds them.

        An object that is left lies at ``mark``. Raises RequestError if the receiving hand is full.
        """
        spans = [one for one in used.happens if one.kind == "held"] or [Interval(
            kind="held", name="", start_s=used.duration / 2, end_s=used.duration / 2)]
        taken = start + min(float(one.start_s) for one in spans)
        left = start + max(float(one.end_s) for one in spans)
        for thing in filter(None, (step.leaves, step.gives)):
            [(actor, side)] = [place for place, holding in self._hands.items()
                               if place[0] == who and holding.thing == thing]
            self._end_holding(actor, side, self._hands.pop((actor, side)), left)
        if step.leaves:
            self._lying[step.leaves] = LyingThing(who, mark, left)
        if step.gives:
            self._take(1 - who, step, step.gives, left)
        if step.takes:
            self._take(who, step, step.takes, taken)

    def end(self, moment: float) -> None:
        """Record all objects that are still held or lying at the end of the scene."""
        for (who, side), holding in self._hands.items():
            self._end_holding(who, side, holding, moment)
        for thing in [*self._lying]:
            self._lain(thing, moment)

    def _take(self, who: int, step: Step, thing: str, moment: float) -> None:
        if (who, step.hand) in self._hands:
            raise self._scene.error(step, f"the other's {step.hand} hand already holds the"
                                          f" {self._hands[who, step.hand].thing}")
        self._hands[who, step.hand] = Holding(thing, moment, step.line)
        self._lain(thing, moment)

    def _lain(self, thing: str, until: float) -> None:
        """Record where an object has lain until now, if it was put down."""
        if thing in self._lying:
            who, mark, since = self._lying.pop(thing)
            self._record(who, RELATION, LIES, since, until, target=mark, object=self._thing(thing))

    def _end_holding(self, who: int, side: Hand, holding: Holding, until: float) -> None:
        self._record(who, "held", holding.thing, holding.since, until, hand=side,
                     object=self._thing(holding.thing))

    def _thing(self, name: str) -> Thing:
        return Thing(name=name, size_m=self._scene.things[name].size_m)
