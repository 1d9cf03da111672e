"""Plans: the castings, shots and clips of a request.

A plan knows how many clips it has but stores none: they are made during iteration.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from mimegen.base.errors import RequestError, did_you_mean
from mimegen.compositing.background import read_background
from mimegen.faults.fault import Fault
from mimegen.faults.showing import SHADOW_MISSING
from mimegen.library.cast import CastMember, cast_member, partner_of
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.places import load_background
from mimegen.library.take import LibraryTake
from mimegen.manifest.left_out import LeftOut
from mimegen.manifest.row import NOBODY
from mimegen.plan.clips import NAMED, ChosenBackground, DisplayClip, PlannedClip
from mimegen.plan.front import angle_from_front, camera_azimuth
from mimegen.plan.lighting import PlaceLight, place_light
from mimegen.plan.shots import Rendering, Shot
from mimegen.plan.variants import BACKGROUNDS, CAST, Variant
from mimegen.pointlight.spec import Display, changed
from mimegen.pointlight.words import worded_display
from mimegen.shots.config import Light, RenderConfig
from mimegen.shots.look import CameraLook

# Dot diameter as a fraction of the picture's height; a typical value in the literature.
DOT_SHARE = 0.014


@dataclass(frozen=True)
class CastingPlan:
    """A casting and the clips wanted of it."""

    casting: Casting
    clips: tuple[PlannedClip, ...]
    displays: tuple[DisplayClip, ...] = ()

    @property
    def shots(self) -> tuple[Shot, ...]:
        """The shots that the clips use, each once."""
        return _shots_of(self.clips)

    @property
    def peopled(self) -> tuple[PlannedClip, ...]:
        """The clips that show performers, of whom there is ground truth."""
        return tuple(clip for clip in self.clips if not clip.is_empty)

    @property
    def peopled_shots(self) -> tuple[Shot, ...]:
        """The shots of those clips, each once."""
        return _shots_of(self.peopled)


def _shots_of(clips: Sequence[PlannedClip]) -> tuple[Shot, ...]:
    return tuple({clip.shot.angle: clip.shot for clip in clips}.values())


@dataclass(frozen=True)
class Plan:
    """The clips of a request: the number of rendered ``clips``, their ``shots`` and ``displays``.

    ``left_out`` are the variants that takes do not have, or that would repeat another.
    """

    castings: Callable[[], Iterator[CastingPlan]]
    clips: int
    shots: int
    displays: int
    left_out: tuple[LeftOut, ...] = ()

    def __len__(self) -> int:
        return self.clips + self.displays

    def __iter__(self) -> Iterator[PlannedClip | DisplayClip]:
        for part in self.castings():
            yield from part.clips
            yield from part.displays


@dataclass(frozen=True)
class _Kind:
    """The properties of a take that decide which variants it has."""

    performers: int
    aligned: str | None
    misaligned: str | None

    @staticmethod
    def of(take: LibraryTake) -> "_Kind":
        return _Kind(take.performers, take.aligned, take.misaligned)

    def background_name(self, variant: Variant) -> str | None:
        """Return the name of a variant's background; None if the take has no such background."""
        return {"aligned": self.aligned, "misaligned": self.misaligned}.get(
            variant.background, variant.background)


_Members = tuple[CastMember, ...]
_Cell = tuple[Variant, ChosenBackground]


@dataclass(frozen=True)
class _Cells:
    """All variants of takes of one kind, by performers, each once.

    ``repeated`` are variants that show the same as another one, which is the value.
    """

    rendered: dict[_Members, list[_Cell]]
    displayed: dict[_Members, list[tuple[Variant, Display, bool]]]
    repeated: dict[Variant, Variant]

    @cached_property
    def members(self) -> list[_Members]:
        """All groups of performers for takes of the kind, in order."""
        return list(dict.fromkeys([*self.rendered, *self.displayed]))

    @property
    def clips(self) -> int:
        """How many clips of a take are rendered."""
        return sum(len(cells) for cells in self.rendered.values())

    def shots(self, take: LibraryTake, config: RenderConfig) -> int:
        """Return how many shots the rendered clips use."""
        return sum(len({_turn(variant, take, config) for variant, _ in cells})
                   for cells in self.rendered.values())

    @property
    def depends_on_front(self) -> bool:
        """Whether camera positions depend on the take, because some refer to its front."""
        return any(variant.from_front for cells in self.rendered.values() for variant, _ in cells)

    @property
    def displays(self) -> int:
        """How many displays are made of a take."""
        return sum(len(cells) for cells in self.displayed.values())


@dataclass(frozen=True)
class _Matrix:
    """Assigns performers and a background to every variant, for every kind of take."""

    catalogue: Catalogue
    variants: Sequence[Variant]
    config: RenderConfig
    performer: str | None
    partner: str | None
    set_seed: int | None
    known: dict[str, CastMember] = field(default_factory=dict)
    places: dict[tuple[str, str, int | None], ChosenBackground] = field(default_factory=dict)

    def cells(self, kind: _Kind) -> _Cells:
        """Return all variants of takes of a kind, except those whose background the takes lack."""
        cells = _Cells({}, {}, {})
        seen: dict[tuple[_Members, str, str, bool], Variant] = {}
        for variant in self.variants:
            if variant.words is None and kind.background_name(variant) is None:
                continue
            members = self._members(variant, kind.performers)
            if variant.words is not None:
                cells.displayed.setdefault(members, []).append(
                    (variant, *display_of(variant, self.config)))
                continue
            chosen = self._background(variant, kind)
            cell = members, variant.view, chosen.word, variant.character == NOBODY
            if cell in seen:
                cells.repeated[variant] = seen[cell]
                continue
            seen[cell] = variant
            cells.rendered.setdefault(members, []).append((variant, chosen))
        return cells

    def _background(self, variant: Variant, kind: _Kind) -> ChosenBackground:
        """Return the background of a variant, shared by all kinds of takes."""
        name = kind.background_name(variant)
        assert name is not None, "cells without a background are passed over"
        kind_of_cell = variant.background if variant.background in BACKGROUNDS else NAMED
        file = self.catalogue.file("background", name)
        asked = kind_of_cell, name, self._set_seed(variant, file)
        # Shared by all kinds of takes, so that each background's visibility is looked up only once.
        return self.places.setdefault(asked, ChosenBackground(asked[0], name, file, asked[2]))

    def _set_seed(self, variant: Variant, file: Path) -> int | None:
        """Return the set seed of a variant: its own, or the common one if the set varies."""
        if variant.set_seed is not None or self.set_seed is None:
            return variant.set_seed
        background = read_background(file)
        return self.set_seed if background.set and background.set.vary else None

    def _members(self, variant: Variant, performers: int) -> _Members:
        """Return the performers of a variant, one for each part."""
        name = CAST.get(variant.character, variant.character)
        if variant.character in ("base", NOBODY) and self.performer is not None:
            name = self.performer
        first = self._member(name)
        if performers == 1:
            return (first,)
        return first, self._member(self.partner or partner_of(name))

    def _member(self, name: str) -> CastMember:
        """Return a character; its file is read once for all kinds of takes."""
        if name not in self.known:
            self.known[name] = cast_member(self.catalogue, name)
        return self.known[name]


def make_plan(catalogue: Catalogue, takes: Sequence[LibraryTake], variants: Sequence[Variant],
              config: RenderConfig, device: str, performer: str | None = None,
              partner: str | None = None, faults: tuple[Fault, ...] = (),
              set_seed: int | None = None, follow_place: bool = False,
              camera_look: CameraLook | None = None) -> Plan:
    """Return the plan of all variants of all takes.

    ``performer`` replaces the character of ``base``; ``partner`` plays the second person of every
    scene. All clips have the ``faults`` and the ``camera_look``. Clips in front of a set that
    varies use ``set_seed``, unless a variant names its own. If ``follow_place``, figures are lit
    like their backgrounds as far as their light is known. ``takes`` may be a lazy sequence. Raises
    RequestError if a variant requested by name needs a background that a take does not have, if
    backgrounds or characters cannot be read, and for faults that a display cannot have.
    """
    matrix = _Matrix(catalogue, variants, config, performer, partner, set_seed)
    kinds: Counter[_Kind] = Counter()
    left_out: dict[LeftOut, None] = {}
    cells: dict[_Kind, _Cells] = {}
    for take in takes:
        kind = _Kind.of(take)
        kinds[kind] += 1
        lacking = _without_background(catalogue, take, kind, variants, config)
        if kind not in cells:
            cells[kind] = matrix.cells(kind)
        left_out |= dict.fromkeys([*lacking, *_repeated(take, cells[kind], config)])
    _check_backgrounds(cells.values())
    check_displays(variants, faults)
    check_shadow(config, faults)
    rendering = Rendering(config, device)
    lights = PlaceLights()

    def castings() -> Iterator[CastingPlan]:
        for take in takes:
            for part in _castings(take, cells[_Kind.of(take)], rendering, faults):
                lit = lit_by_backgrounds(part, lights) if follow_place else [part]
                yield from (_looking(each, camera_look) for each in lit)

    clips = sum(count * cells[kind].clips for kind, count in kinds.items())
    # With a light of its own, each clip needs its own shot.
    shots = clips if follow_place else _shots(takes, cells, config)
    displays = sum(count * cells[kind].displays for kind, count in kinds.items())
    return Plan(castings, clips, shots, displays, left_out=tuple(left_out))


def _looking(part: CastingPlan, camera_look: CameraLook | None) -> CastingPlan:
    """Return a casting whose clips have this camera look."""
    if camera_look is None:
        return part
    return replace(part, clips=tuple(replace(clip, camera_look=camera_look)
                                     for clip in part.clips))


def _shots(takes: Sequence[LibraryTake], cells: Mapping[_Kind, _Cells],
           config: RenderConfig) -> int:
    """Return how many shots takes have: equally many per kind, unless cameras refer to fronts."""
    known: dict[_Kind, int] = {}
    total = 0
    for take in takes:
        kind = _Kind.of(take)
        if kind not in known or cells[kind].depends_on_front:
            known[kind] = cells[kind].shots(take, config)
        total += known[kind]
    return total


def _turn(variant: Variant, take: LibraryTake, config: RenderConfig) -> float:
    """Return how far a config's camera is turned for a variant of a take, in degrees."""
    if not variant.from_front:
        return variant.angle
    return angle_from_front(take, variant.angle, camera_azimuth(config))


class PlaceLights:
    """A cache of the light of each background, for one plan."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, float], PlaceLight | None] = {}

    def __call__(self, chosen: ChosenBackground, shot: Shot) -> PlaceLight | None:
        """Return the light of a shot's background; that of a set does not depend on the angle."""
        key = chosen.key, shot.angle if chosen.background.set is None else 0.0
        if key not in self._found:
            self._found[key] = place_light(chosen.background, shot.config, shot.angle)
        return self._found[key]


def lit_by_backgrounds(part: CastingPlan, lights: PlaceLights) -> list[CastingPlan]:
    """Return a casting's clips lit by their backgrounds, as one casting plan for each light."""
    lit: dict[Light | None, list[PlannedClip]] = {}
    for clip in part.clips:
        found = lights(clip.chosen, clip.shot)
        if found is None:
            lit.setdefault(None, []).append(clip)
            continue
        shot = replace(clip.shot, rendering=replace(clip.shot.rendering, light=found.light))
        lit.setdefault(found.light, []).append(
            replace(clip, shot=shot, tint=found.tint, shade=found.shade))
    parts = [CastingPlan(part.casting, tuple(clips)) for clips in lit.values()] or [part]
    return [replace(parts[0], displays=part.displays), *parts[1:]]


def _castings(take: LibraryTake, cells: _Cells, rendering: Rendering, faults: tuple[Fault, ...]
              ) -> Iterator[CastingPlan]:
    """Yield a plan for each group of performers of a take."""
    for members in cells.members:
        casting = Casting(take, members, faults)
        rendered = cells.rendered.get(members, [])
        angles = {variant: _turn(variant, take, rendering.config) for variant, _ in rendered}
        shots = {angle: Shot(casting, angle, rendering) for angle in angles.values()}
        yield CastingPlan(
            casting,
            tuple(PlannedClip(variant, shots[angles[variant]], chosen)
                  for variant, chosen in rendered),
            tuple(DisplayClip(variant, casting, rendering.config, display, has_own_camera)
                  for variant, display, has_own_camera in cells.displayed.get(members, [])))


def _repeated(take: LibraryTake, cells: _Cells, config: RenderConfig) -> Iterator[LeftOut]:
    """Yield the variants of a take that would repeat the clip of another variant."""
    for variant, same in cells.repeated.items():
        yield LeftOut(take.action, take.name, config.name, (str(variant),),
                      f"shows the same as {same}", f"{variant} shows the same as {same}")


def _without_background(catalogue: Catalogue, take: LibraryTake, kind: _Kind,
                        variants: Sequence[Variant], config: RenderConfig) -> list[LeftOut]:
    """Return the variants that are left out; raises RequestError if one was requested by name."""
    lacking = [variant for variant in variants
               if variant.words is None and kind.background_name(variant) is None]
    if not lacking:
        return []
    roles = sorted({variant.background for variant in lacking})
    remedy = (f"add {' and '.join(f'--{role} NAME' for role in roles)} (mimegen list backgrounds),"
              " or give it the label of an action of the library (--label for a motion file)"
              f"{_near_labels(catalogue, take) or ' (mimegen list actions)'}")
    named = next((variant for variant in lacking if not variant.from_group), None)
    if named is not None:
        raise RequestError(f"{take.action}: {named} requires a background; {remedy}")
    why, names = "no background is known", tuple(map(str, lacking))
    return [LeftOut(take.action, take.name, config.name, names, why,
                    f"{take.action}: {why} for {', '.join(names)}; {remedy}")]


def _near_labels(catalogue: Catalogue, take: LibraryTake) -> str:
    """Return a hint at actions similar to a take's labels, as " (did you mean dancing?)"."""
    near = [name for label in take.labels for name in catalogue.near_names(label)]
    return did_you_mean(dict.fromkeys(near)) if near else ""


def display_of(variant: Variant, config: RenderConfig) -> tuple[Display, bool]:
    """Return a variant's display, and whether it has its own picture instead of the config's."""
    base = Display(name="pointlight", description="dots where the body's joints are",
                   dot_diameter=f"{DOT_SHARE * config.height:.4g}px")
    display, has_own_camera = worded_display(variant.words or (), base)
    if not has_own_camera:
        display = changed(display, width=config.width, height=config.height, fps=config.fps)
    return display, has_own_camera


def check_displays(variants: Iterable[Variant], faults: Sequence[Fault]) -> None:
    """Raise RequestError if displays of dots are to have faults that only rendered frames have."""
    in_frames = [fault.name for fault in faults if fault.kind.acts_on != "motion"]
    if in_frames and any(variant.words is not None for variant in variants):
        raise RequestError(f"--fault {in_frames[0]}: applies to rendered frames; point-light"
                           " variants use manipulations instead")


def check_shadow(config: RenderConfig, faults: Sequence[Fault]) -> None:
    """Raise RequestError for a fault of the shadow if this is part of the rendered figure."""
    if config.shadow.kind == "catcher" and any(fault.name == SHADOW_MISSING for fault in faults):
        raise RequestError(f"--fault {SHADOW_MISSING}: {config.name} renders the shadow as part of"
                           " the figure, so it cannot be left out; use mime_fast or another config"
                           " with a projected shadow")


def _check_backgrounds(kinds: Iterable[_Cells]) -> None:
    """Read every background before rendering, so that errors are reported first."""
    places = {(chosen.file, chosen.seed) for cells in kinds
              for found in cells.rendered.values() for _, chosen in found}
    for file, seed in sorted(places, key=str):
        load_background(file, seed)
