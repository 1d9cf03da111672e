"""Draw declarations by number; the same seed gives the same ones, however many are drawn."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from mimegen.base.angles import wrapped_deg
from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.base.seeds import generator
from mimegen.choreography.manner import CueManner
from mimegen.library.cast import CastMember, cast_member, partner_of
from mimegen.library.hand_take import HandTake
from mimegen.library.score_take import ScoreTake
from mimegen.library.take import LibraryTake
from mimegen.library.takes import usual_left_out
from mimegen.plan.clips import NAMED, ChosenBackground
from mimegen.plan.front import DIGITS, angle_from_front, camera_azimuth, side_degrees
from mimegen.plan.permute.axes import (
    AZIMUTH,
    CHARACTER,
    FAULT,
    FAULT_AMOUNT,
    FREQUENCY,
    MANNERS,
    MISLEADING,
    NO_FAULT,
    OWN_MANNER,
    SEED,
    SET_SEED,
    Value,
    axes,
)
from mimegen.plan.permute.declaration import OWN_STYLE, VIDEO, Declaration
from mimegen.plan.permute.designs import Cell, Design
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.plan.permute.space import OWN_ROLES, RANDOM_PERSON, VIEW, Space, TakeSpace
from mimegen.plan.view import ViewOverrides
from mimegen.shots.config import FramedCamera

# After this many rejected draws in a row, no clip is assumed to be left.
MAX_TRIED = 500
# If a view hardly shows its place, up to this many views are drawn. Each takes the random numbers
# of a clip redrawn ``VIEWS_APART`` times more, so that no redrawn clip shares them.
MAX_VIEWS = 12
VIEWS_APART = 1_000_000


@dataclass(frozen=True)
class Drawing:
    """A space, a design over it and the seed; ``good`` reports which takes are without faults."""

    space: Space
    design: Design
    seed: int
    good: GoodTakes
    _taken: set[str] = field(default_factory=set)

    def declarations(self, count: int) -> Iterator[Declaration]:
        """Yield the first ``count`` declarations, all distinct. Raises RequestError as ``draw``."""
        for number in range(count):
            yield self.draw(number)

    def draw(self, number: int, redraws: int = 0, frame_redraws: int = 0) -> Declaration:
        """Return the declaration of a number, redrawn if another number already has it.

        ``frame_redraws`` counts the redraws due to similar pictures. Raises RequestError if no
        distinct clip is left.
        """
        for redraw in range(redraws, redraws + MAX_TRIED):
            found = self.candidate(number, redraw, frame_redraws)
            text = str(found.model_copy(update={
                "sub_seed": 0, "frame_redraws": 0, "view_redraws": None}))
            if text not in self._taken:
                self._taken.add(text)
                return found
        raise RequestError(f"item {number}: all distinct clips are declared already; vary more"
                           " axes, fix fewer, or request fewer clips")


    def candidate(self, number: int, redraw: int = 0, frame_redraws: int = 0) -> Declaration:
        """Return the declaration of a number, whether or not another number has it."""
        return _Item(self, number, redraw + frame_redraws, frame_redraws).declaration()


@dataclass(frozen=True)
class _Item:
    """One clip being drawn; ``redraw`` counts its earlier draws."""

    drawing: Drawing
    number: int
    redraw: int
    frame_redraws: int

    def declaration(self) -> Declaration:
        """Return the declaration that is drawn."""
        space = self.drawing.space
        cell = self.drawing.design.cell(self.number, self.redraw)
        part = space.parts[cell.part]
        values = {name: self._value(cell, name) for name in axes().levelled}
        take, people, passed = self._cast(part, self._unseeded(part, values))
        self._check_not_seen(take, people[0])
        view = self._view_of_place(cell, part, values, take)
        return Declaration.model_validate({
            "action": take.action, "take": take.name, "motion_sha256": file_hash(take.file),
            "seed": take.seed, "sub_seed": passed, "frame_redraws": self.frame_redraws,
            "style": getattr(take, "style", None) or OWN_STYLE, "mirror": take.mirror,
            "tempo": take.tempo, "character": people[0],
            "partner": people[1] if len(people) > 1 else None,
            **view, **{name: values[name] for name in _AS_THEY_ARE},
            **_light(values, space), **_fault(values), **_manner(values),
        })

    def _value(self, cell: Cell, name: str) -> Value | None:
        return cell.levels[name] if name in cell.levels else (
            self.drawing.space.freedom.usual(name))

    def _integer(self, name: str, attempt: int, below: int, least: int = 0) -> int:
        draw = generator(self.drawing.seed, "permute", name, self.number, self.redraw, attempt)
        return int(draw.integers(least, below))

    def _unseeded(self, part: TakeSpace, values: dict[str, Any]) -> LibraryTake:
        """Return the take with the values of its axes, except for its seed."""
        take = replace(part.take, tempo=float(values["tempo"]),  # type: ignore[type-var]
                       mirror=values["mirror"] == "yes")
        if not isinstance(take, ScoreTake):
            return take
        style = None if values["style"] == OWN_STYLE else values["style"]
        if isinstance(take, HandTake):
            return replace(take, style=style)
        return replace(take, style=style,
                       manner=usual_left_out(take.file, CueManner(**_manner(values))))

    def _cast(self, part: TakeSpace, take: LibraryTake) -> tuple[LibraryTake, list[str], int]:
        """Return the take, its performers' names, and the number of attempts rejected before.

        An attempt is rejected if the manifests show its seed, if lint finds faults, or if
        performers drawn by seed do not show the action.
        """
        freedom = self.drawing.space.freedom
        if not isinstance(take, ScoreTake):
            return take, self._people(part), 0
        if SEED not in freedom.drawn:
            return replace(take, seed=int(str(freedom.usual(SEED)))), self._people(part), 0
        for attempt in range(MAX_TRIED):
            seed = self._integer(SEED, attempt, axes().seeds[SEED].below, 1)
            if self.drawing.space.seen.takes_seed(take.action, take.name, seed):
                drawn, people = replace(take, seed=seed), self._people(part, attempt)
                if not self.drawing.good.findings(drawn, self._drawn_people(people)):
                    return drawn, people, attempt
        raise RequestError(f"item {self.number}: {MAX_TRIED} takes of {take.action}, take"
                           f" {take.name}, style {take.style or OWN_STYLE}, failed mimegen score"
                           " lint; leave it out of --actions")

    @property
    def _draws_people(self) -> bool:
        freedom = self.drawing.space.freedom
        return CHARACTER in freedom.drawn or freedom.usual(CHARACTER) == RANDOM_PERSON

    def _drawn_people(self, people: list[str]) -> list[CastMember]:
        """Return the performers if drawn by seed, since nobody has checked their performance."""
        return [cast_member(self.drawing.space.catalogue, name) for name in people
                ] if self._draws_people else []

    def _people(self, part: TakeSpace, attempt: int = 0) -> list[str]:
        """Return the names of the performers: fixed ones, or random people drawn by ``attempt``."""
        if not self._draws_people:
            name = str(self.drawing.space.freedom.usual(CHARACTER))
            return [name, partner_of(name)][:part.take.performers]
        people: list[str] = []
        while len(people) < part.take.performers:
            people.append(self._person(people, attempt))
        return people

    def _person(self, others: list[str], attempt: int) -> str:
        """Return a person who differs enough from everybody in the rows and from the ``others``."""
        below, seen = axes().seeds[CHARACTER].below, self.drawing.space.seen
        for tried in range(attempt * MAX_TRIED, (attempt + 1) * MAX_TRIED):
            name = f"random:{self._integer(f'{CHARACTER}{len(others)}', tried, below)}"
            if seen.takes_person(name) and seen.are_distinct(name, others):
                return name
        raise RequestError(f"item {self.number}: none of {MAX_TRIED} random people is far enough"
                           f" from those in the {seen.rows} rows; use a fixed character with --fix"
                           " character=NAME")

    def _check_not_seen(self, take: LibraryTake, person: str) -> None:
        """Raise RequestError if the rows already show this take, with this seed, by this person."""
        seen = self.drawing.space.seen
        if seen.rows and not seen.takes_seed(take.action, take.name, take.seed) \
                and not seen.takes_person(person):
            raise RequestError(f"item {self.number}: {take.action}, seed {take.seed}, by {person}"
                               " already occurs in rows of the given manifests; vary the axis seed"
                               " or character")

    def _view_of_place(self, cell: Cell, part: TakeSpace, values: dict[str, Any], take: LibraryTake
                       ) -> dict[str, Any]:
        """Return place and camera: the first of ``MAX_VIEWS`` draws that shows the place enough.

        If none does, return the first; the clip's row then records how little it shows.
        """
        first = self._one_view(part, values, take, 0)
        if not self._hides_place(first):
            return first
        for attempt in range(1, MAX_VIEWS):
            other = self.drawing.design.cell(self.number, self.redraw + attempt * VIEWS_APART)
            if other.part != cell.part:
                continue
            drawn = {name: level for name, level in other.levels.items() if name in CAMERA}
            view = self._one_view(part, values | drawn, take, attempt)
            if not self._hides_place(view):
                return view | {"view_redraws": attempt}
        return first

    def _one_view(self, part: TakeSpace, values: dict[str, Any], take: LibraryTake, attempt: int
                  ) -> dict[str, Any]:
        space = self.drawing.space
        return {**self._background(part, values, attempt),
                AZIMUTH: _azimuth(values[AZIMUTH], take, space),
                **(_view(values, space) if isinstance(space.config.camera, FramedCamera) else {})}

    def _hides_place(self, view: dict[str, Any]) -> bool:
        space, name = self.drawing.space, view["background"]
        chosen = ChosenBackground(view["background_kind"], name,
                                  space.catalogue.file("background", name), view["set_seed"])
        config = ViewOverrides(view.get("elevation"), view.get("lens")).of(space.config)
        return bool(self.drawing.good.place_findings(chosen, config, view[AZIMUTH]))

    def _background(self, part: TakeSpace, values: dict[str, Any], attempt: int = 0
                   ) -> dict[str, Any]:
        """Return the background's kind, name and set seed; dots are always shown on blank."""
        role = values["background"] if values["display"] == VIDEO else "blank"
        kind = role if role in OWN_ROLES else NAMED
        name = role if role != "aligned" else str(part.take.aligned)
        if role in ("other", "misaligned"):
            names = part.others if role == "other" else part.misaligned[str(values[MISLEADING])]
            name = names[self._integer("set", attempt, len(names))]
        return {"background_kind": kind, "background": name,
                "set_seed": self._set_seed(part.take.action, name, attempt)}

    def _set_seed(self, action: str, background: str, view: int) -> int | None:
        """Return a set seed that no row shows with the action; None if the set does not vary.

        ``view`` counts the views that were drawn before.
        """
        space = self.drawing.space
        if background not in space.varying:
            return None
        if SET_SEED not in space.freedom.drawn:
            fixed = str(space.freedom.usual(SET_SEED))
            return int(fixed) if fixed.isdecimal() else None
        seeds = (self._integer(SET_SEED, attempt, axes().seeds[SET_SEED].below)
                 for attempt in range(view * MAX_TRIED, (view + 1) * MAX_TRIED))
        return next(seed for seed in seeds if space.seen.takes_place(action, background, seed))


CAMERA = {AZIMUTH, *VIEW}
_AS_THEY_ARE = ("light_strength", "display", "config")


def _azimuth(value: Value | None, take: LibraryTake, space: Space) -> float:
    """Return the camera's angle; a side of the performer is converted for the take."""
    side = side_degrees(value) if isinstance(value, str) else None
    if side is None:
        return float(value or 0)
    return round(wrapped_deg(angle_from_front(take, side, camera_azimuth(space.config))), DIGITS)


def _view(values: dict[str, Any], space: Space) -> dict[str, Any]:
    camera = space.config.camera
    assert isinstance(camera, FramedCamera)
    own = {"elevation": camera.elevation_deg, "lens": camera.lens_mm}
    return {name: own[name] if values[name] is None else values[name] for name in sorted(VIEW)}


def _light(values: dict[str, Any], space: Space) -> dict[str, Any]:
    azimuth, elevation = space.config.light.sun_from_deg
    own = {"light_azimuth": azimuth, "light_elevation": elevation}
    return {name: own[name] if values[name] is None else values[name] for name in own}


def _manner(values: dict[str, Any]) -> dict[str, Any]:
    """Return how a cue is performed, without the fields left to the cue."""
    given = {name: values[name] for name in MANNERS if values[name] not in (None, OWN_MANNER)}
    return given | ({FREQUENCY: round(given[FREQUENCY])} if FREQUENCY in given else {})


def _fault(values: dict[str, Any]) -> dict[str, Any]:
    return {} if values[FAULT] == NO_FAULT else {
        name: values[name] for name in (FAULT, FAULT_AMOUNT)}
