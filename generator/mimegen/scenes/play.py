"""Play a scene: perform each step at its time, from where the steps before left the performers."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.names import words
from mimegen.choreography.places import Place
from mimegen.choreography.score import FootKey, GazeKey, Key, PelvisKey
from mimegen.choreography.styles import style_named
from mimegen.scenes.event_log import EventLog
from mimegen.scenes.order import Order
from mimegen.scenes.parts import ActionExcerpt, NamedScore, PerformerPart, excerpt
from mimegen.scenes.postures import Tracks, complete, posture
from mimegen.scenes.readiness import FIRST_FOOT_S, READY_S, SITTING_S, lead, prepare, seated
from mimegen.scenes.routes import STEP_S, route_legs
from mimegen.scenes.scene import PEOPLE_APART_CM, Scene, Step
from mimegen.scenes.sheet import KeySheet
from mimegen.scenes.spots import Spot, in_world
from mimegen.scenes.things import Things

Find = Callable[[Step], NamedScore]
# A performer with nothing to do for more than IDLE_S comes to rest, within RESTING_S.
IDLE_S = 1.2
RESTING_S = 1.0
# Largest deviation of the second performer from where an action for two requires them to stand.
MEET_CM = 15.0
MEET_DEG = 20.0
# A look at something takes LOOK_S; the scene lasts TAIL_S beyond its last step.
LOOK_S = 0.5
TAIL_S = 0.8
# An object is put down this far ahead of the performer.
BEFORE_CM = 40.0


class Play:
    """A scene that is played; ``find`` returns what a step's ``do`` refers to.

    ``sheets`` are the performers' keys and ``happens`` the events, both in the scene's own seconds.
    ``balanced`` is, for each performer, whether they need nothing to sit or lean on.
    """

    def __init__(self, scene: Scene, find: Find) -> None:
        """Play the whole scene. Raises RequestError with file and line for an impossible step."""
        self.scene, self.find = scene, find
        self.sheets = [KeySheet(scene.spot(role.starts)) for role in scene.roles]
        self._events = EventLog(scene)
        self.happens = self._events.happens
        self.balanced = [True] * len(self.sheets)
        self.duration = 0.0
        self._things = Things(scene, self._events.add)
        self._count = 0
        self._begin()
        self._play()
        self._finish()

    def _begin(self) -> None:
        _check_collisions(self.scene, self.scene.roles[0].steps[0], self.sheets)
        for sheet in self.sheets:
            sheet.put(0.0, posture("standing") | posture("settling"))

    def _play(self) -> None:
        for who, step, begin in Order(self.scene, self.sheets, self._of_two):
            self._do(who, step, begin)

    def _of_two(self, step: Step) -> bool:
        return step.do is not None and self._known(step).score.partner is not None

    def _known(self, step: Step) -> NamedScore:
        try:
            return self.find(step)
        except RequestError as problem:
            raise self.scene.error(step, str(problem)) from problem

    def _do(self, who: int, step: Step, begin: float) -> None:
        actors = (who, 1 - who) if self._of_two(step) else (who,)
        for actor in actors:
            self._rest(actor, begin)
        {"do": self._act, "walk": self._walk, "face": self._face, "wait": self._wait}[step.verb](
            who, step, begin)
        if step.say is not None:
            self.sheets[who].say(begin, step.say, step.line)

    # Actions

    def _act(self, who: int, step: Step, begin: float) -> None:
        """Play a step's action with one or both performers, after the time to get ready."""
        known = self._known(step)
        used = self._excerpt(step, known)
        self._count += 1
        actors = (who, 1 - who)[:len(used.parts)]
        for actor, part in zip(actors, used.parts, strict=True):
            self._things.check_free(actor, part, step, known)
        self._things.check_available(who, step)
        origins = self._origins(actors, used, step, known)
        parts = [self._keys(actor, part, origin, step)
                 for actor, part, origin in zip(actors, used.parts, origins, strict=True)]
        leads = [lead(self.sheets[actor], _first(keys))
                 for actor, keys in zip(actors, parts, strict=True)]
        start = begin + max(leads) if begin else begin
        for actor, part, keys, origin in zip(actors, used.parts, parts, origins, strict=True):
            prepare(self.sheets[actor], begin, start, _first(keys), step.line)
            self._perform(actor, part, keys, origin, start, step)
            self.sheets[actor].free = start + used.duration
            self.balanced[actor] &= part.balanced
        self._events.action(who, step, known, used, start)
        self._things.pass_on(who, step, used, start, self._before(who))

    def _excerpt(self, step: Step, known: NamedScore) -> ActionExcerpt:
        if step.end is not None and not (step.start or 0.0) < step.end <= known.score.duration:
            raise self.scene.error(step, f"{step.start or 0:g} to {step.end:g} s is not a valid"
                                         f" span of {known.name}, which lasts"
                                         f" {known.score.duration:g} s")
        try:
            return excerpt(known, step.style, step.start, step.end, step.legs)
        except RequestError as problem:
            raise self.scene.error(step, str(problem)) from problem

    def _origins(self, actors: Sequence[int], used: ActionExcerpt, step: Step, known: NamedScore
                 ) -> list[Spot]:
        """Return the origin of each part's own world on the scene's floor.

        Raises RequestError if the second performer does not stand where the action requires.
        """
        found = [self.sheets[actor].spot.of(Spot(0, 0).seen_from(part.begins))
                 for actor, part in zip(actors, used.parts, strict=True)]
        if used.stands is not None:
            meant = found[0].of(used.stands)
            off, turned = found[1].distance(meant), abs(found[1].to_turn_to(meant.turn))
            if off > MEET_CM or turned > MEET_DEG:
                where = meant.of(used.parts[1].begins)
                raise self.scene.error(
                    step, f"{known.name}: the other performer stands {off:.0f} cm and"
                    f" {turned:.0f} degrees off; expected a mark at left: {where.left:.0f},"
                    f" forward: {where.forward:.0f}, facing: {where.turn % 360:.0f}")
        return found

    def _keys(self, who: int, part: PerformerPart, origin: Spot, step: Step
              ) -> dict[str, list[tuple[float, Key]]]:
        """Return a part's keys in the performer's own world of this scene.

        Props get names that are unique in the scene; hands that the part does not use keep what
        they carry.
        """
        own = origin.seen_from(self.sheets[who].start)
        names = {name: f"{name}#{self._count}" for name in part.props}
        keys = {names.get(track, track): [(moment, _renamed(in_world(track, key, own), names))
                                          for moment, key in found]
                for track, found in part.keys.items()}
        for side, carried in self._things.carried(who):
            if not part.uses(side):
                keys[f"{side}_hand"] = [(0.0, carried)]
        if step.look is not None:
            keys["gaze"] = [(0.0, self._gaze(who, step.look))]
        return keys

    def _perform(self, who: int, part: PerformerPart, keys: Mapping[str, Sequence[tuple[float,
                                                                                        Key]]],
                 origin: Spot, start: float, step: Step) -> None:
        sheet = self.sheets[who]
        for track, found in keys.items():
            for moment, key in found:
                sheet.put(start + moment, {track: key}, step.line)
            if "#" in track:
                sheet.put(0.0, {track: found[0][1]})
        sheet.props |= {f"{name}#{self._count}": prop for name, prop in part.props.items()}
        for number, (since, arrives, there, key) in enumerate(part.walks, 1):
            fields = key.model_dump(include={"steps", "lift", "first"}, exclude_none=True)
            how = "stop" if number == len(part.walks) else key.how
            sheet.go(start + since, start + arrives, origin.of(there), {**fields, "how": how},
                     step.line)

    # Ways

    def _walk(self, who: int, step: Step, begin: float) -> None:
        """Play a walk to a mark. Raises RequestError if the performers collide."""
        sheet, there = self.sheets[who], self.scene.spot(str(step.walk))
        since = self._stand_up(who, step, begin)
        legs = route_legs(sheet.spot, there)
        self._go(who, step, since, [(leg.there, leg.steps) for leg in legs])
        mark = words(str(step.walk))
        self._events.add(who, "step", step.does or f"walks to the {mark}", since, sheet.free,
                         target=mark)
        _check_collisions(self.scene, step, self.sheets, since, sheet.free + 0.1)

    def _face(self, who: int, step: Step, begin: float) -> None:
        """Play a turn on the spot towards a mark, the other performer or an angle."""
        sheet = self.sheets[who]
        turn = self._turn(who, step, begin)
        since = self._stand_up(who, step, begin)
        there = sheet.spot._replace(turn=sheet.spot.turn + sheet.spot.to_turn_to(turn))
        self._go(who, step, since,
                 [(leg.there, leg.steps) for leg in route_legs(sheet.spot, there)])
        whom = self._events.called(step.face) if isinstance(step.face, str) else None
        does = step.does or (f"turns to the {whom}" if whom else "turns")
        self._events.add(who, "step", does, since, sheet.free, target=whom)

    def _turn(self, who: int, step: Step, begin: float) -> float:
        """Return the turn, in degrees, that a ``face`` step asks for."""
        here = self.sheets[who].spot
        if isinstance(step.face, float):
            return step.face
        if step.face in self.scene.marks:
            return here.heading(self.scene.spot(str(step.face)))
        return here.heading(self.sheets[1 - who].where(begin))

    def _stand_up(self, who: int, step: Step, begin: float) -> float:
        """Bring the performer to a stand, ready to walk; return the time when they are."""
        sheet = self.sheets[who]
        wanted = self._posture(who, "standing", step)
        feet = sheet.stepping(wanted)
        if not feet and not seated(sheet):
            prepare(sheet, begin, begin + READY_S, wanted, step.line)
            return begin
        since = begin + (SITTING_S if seated(sheet) else FIRST_FOOT_S * len(feet))
        prepare(sheet, begin, since, wanted, step.line)
        return since

    def _go(self, who: int, step: Step, since: float, legs: Sequence[tuple[Spot, int]]) -> None:
        """Walk along legs, each a spot and a number of steps, from ``since`` on without a stop."""
        sheet = self.sheets[who]
        pace = STEP_S * (style_named(step.style).time if step.style else 1.0)
        arrives = since
        for number, (there, steps) in enumerate(legs, 1):
            arrives += pace * steps
            how = "stop" if number == len(legs) else "pass"
            sheet.go(since, arrives, there, {"how": how, "steps": steps}, step.line)
        sheet.free = arrives

    def _wait(self, who: int, step: Step, begin: float) -> None:
        """Play a wait, with a look at something if the step has one."""
        sheet = self.sheets[who]
        if step.look is not None:
            sheet.hold(begin, step.line)
            sheet.put(begin + LOOK_S, {"gaze": self._gaze(who, step.look)}, step.line)
            self._events.add(who, "gaze", self._events.called(step.look), begin + LOOK_S,
                             begin + max(step.wait or 0.0, LOOK_S) + 0.1)
        sheet.free = begin + (step.wait or 0.0)
        if step.does:
            self._events.add(who, "step", step.does, begin, sheet.free)

    # Rest

    def _rest(self, who: int, until: float) -> None:
        """Bring a performer to rest, standing or sitting, if idle for more than IDLE_S."""
        sheet = self.sheets[who]
        if until - sheet.free > IDLE_S:
            sheet.hold(sheet.free)
            sheet.put(sheet.free + RESTING_S, self._at_rest(who))

    def _at_rest(self, who: int) -> Tracks:
        sheet = self.sheets[who]
        if seated(sheet):
            return self._posture(who, "seated")
        wanted = self._posture(who, "standing")
        feet = {track: cast(FootKey, sheet.now[track]) for track in ("left_foot", "right_foot")}
        flat = {track: complete(key.model_copy(update={"heel": 0.0, "how": "stop"}))
                for track, key in feet.items()}
        usual = cast(FootKey, wanted["left_foot"]).to
        left, right = (key.to for key in feet.values())
        assert usual and left and right
        over = cast(PelvisKey, wanted["pelvis"]).model_copy(update={
            "left": (left.offset[0] - right.offset[0]) / 2,
            "forward": (left.offset[1] + right.offset[1]) / 2 - usual.offset[1]})
        return wanted | flat | {"pelvis": over}

    def _finish(self) -> None:
        """Set the scene's duration, and let performers come to rest and objects be recorded."""
        self.duration = max(sheet.free for sheet in self.sheets) + TAIL_S
        for who, sheet in enumerate(self.sheets):
            self._rest(who, self.duration)
            if self.duration - sheet.free > IDLE_S + RESTING_S:
                sheet.hold(max(sheet.free + RESTING_S, self.duration - 1.5))
            ending = {track: key for track, key in posture("settling").items()
                      if track in ("chest", "head")}
            sheet.put(self.duration, ending)
        self._things.end(self.duration)

    def _posture(self, who: int, name: str, step: Step | None = None) -> Tracks:
        """Return a posture's keys, with hands as they carry objects and gaze as the step has it."""
        wanted = posture(name) | {
            f"{side}_hand": carried for side, carried in self._things.carried(who)}
        if step is not None and step.look is not None:
            wanted["gaze"] = self._gaze(who, step.look)
        return wanted

    def _before(self, who: int) -> str:
        """Return the name, in words, of the mark nearest to the point ahead of a performer."""
        before = self.sheets[who].spot.of(Spot(0.0, BEFORE_CM))
        return words(min(self.scene.marks,
                          key=lambda mark: before.distance(self.scene.spot(mark))))

    def _gaze(self, who: int, name: str) -> Key:
        if name in self.scene.marks:
            spot = self.scene.spot(name).seen_from(self.sheets[who].start)
            up = self.scene.marks[name].up
            return complete(GazeKey(to=Place("floor", (spot.left, spot.forward, up))))
        return complete(GazeKey(to=Place("partner_eyes", (0.0, 0.0, 0.0))))

def _first(keys: Mapping[str, Sequence[tuple[float, Key]]]) -> Tracks:
    return {track: found[0][1].held() for track, found in keys.items()}


def _renamed(key: Key, names: Mapping[str, str]) -> Key:
    place: Place | None = getattr(key, "to", None)
    if place is None or place.anchor not in names:
        return key
    return key.model_copy(update={"to": Place(names[place.anchor], place.offset)})


def _check_collisions(scene: Scene, step: Step, sheets: Sequence[KeySheet], since: float = 0.0,
                      until: float = 0.1) -> None:
    """Raise RequestError if the performers collide between two times."""
    if len(sheets) < 2:
        return
    moments = np.arange(since, until, 0.1)
    apart = np.hypot(*(sheets[0].positions(moments) - sheets[1].positions(moments)).T)
    if apart.min() < PEOPLE_APART_CM:
        raise scene.error(step, f"the performers collide at"
                                f" {moments[apart.argmin()]:.1f} s, {apart.min():.0f} cm apart;"
                                f" expected at least {PEOPLE_APART_CM:g} cm")
