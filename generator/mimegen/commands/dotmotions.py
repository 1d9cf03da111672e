"""The motions that ``mimegen pointlight`` shows: takes of actions, or a user's own file."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.commands.grid import AFFECT, OWN_PARTNER
from mimegen.hands.compiling import HandName
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.gait_take import GaitTake
from mimegen.library.naming import plain
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take, user_take
from mimegen.pointlight.filming import source_fps
from mimegen.pointlight.landmarks import dot_sets
from mimegen.pointlight.spec import Display
from mimegen.pointlight.stimulus import DotScene
from mimegen.production.displays import cast_scene, looped, marker_scene, take_scene
from mimegen.readers import ReadOptions, Trim
from mimegen.readers.options import take_number
from mimegen.request.sources import entries_of

NOT_STATED = "not stated"


@dataclass(frozen=True)
class StatedFacts:
    """What the user states about a motion file."""

    labels: tuple[str, ...] = ()
    group: str | None = None
    licence: str = NOT_STATED

    def __post_init__(self) -> None:
        for name, values in (("--label", self.labels), ("--group", (self.group,)),
                             ("--licence", (self.licence,))):
            if any(value is not None and not value.strip() for value in values):
                raise RequestError(f"{name} is empty; give a value or leave it out")

    def of_markers(self, scene: DotScene, catalogue: Catalogue) -> DotScene:
        """Return a scene of a file's markers with these facts."""
        facts: dict[str, Any] = {"licence": self.licence}
        if self.labels:
            facts |= {"action": plain(self.labels[0]), "labels": [*self.labels]}
        if self.group:
            facts["semantic_group"] = catalogue.group_named(self.group)
        return replace(scene, facts=scene.facts | facts)


@dataclass(frozen=True)
class Motions:
    """The motions to show as dots, selected by the command's options.

    ``partner`` is the file of a second person or, without ``file``, the action that they are from.
    """

    catalogue: Catalogue
    file: Path | None
    actions: str | None
    take: str | None
    partner: Path | None
    seed: int
    character: str | None
    out: Path
    reading: ReadOptions
    walker: bool = False
    affect: str | None = None
    hand: HandName | None = None
    about: StatedFacts = field(default_factory=StatedFacts)
    made: dict[tuple[object, ...], list[DotScene]] = field(default_factory=dict)

    def scenes(self, display: Display, gait: dict[str, Any], partner: str | None = None
               ) -> list[DotScene]:
        """Return every motion as dots; displays that share all relevant settings share the dots.

        ``partner`` is the action that a grid takes the second person from.
        """
        key = (display.fps, display.dots, display.add, display.occlusion, display.style,
               display.sample is None, tuple(sorted(gait.items())), partner)
        if key not in self.made:
            self.made[key] = self._scenes(display, gait, self._other(partner))
        return self.made[key]

    def _other(self, name: str | None) -> LibraryTake | None:
        """Return the take whose partner replaces the second person, if any."""
        if self.file is not None:
            if name is not None:
                raise RequestError("--grid: partner requires --action")
            return None
        name = name or (None if self.partner is None else str(self.partner))
        if name is None or name == OWN_PARTNER:
            return None
        if Path(name).suffix:
            raise RequestError(f"--partner {name}: a motion file requires a motion capture FILE;"
                               " with --action, name the action that the second person is from")
        return library_take(self.catalogue.action(name), None, self.seed)

    def _scenes(self, display: Display, gait: dict[str, Any], other: LibraryTake | None
                ) -> list[DotScene]:
        if self.file is not None and self.file.suffix.lower() == ".c3d" and _wants_markers(display):
            if self.reading.trim.kind == "span":
                raise RequestError("--trim A:B does not apply to raw markers; use --start and"
                                   " --duration")
            markers = marker_scene(self.file, display, self.reading.subject,
                                   self.reading.fps_of_file)
            return [self.about.of_markers(markers, self.catalogue)]
        takes = self._takes(display, gait)
        if len(takes) > 1 and self.out.suffix:
            raise RequestError(f"--out {self.out}: several actions need a folder; leave out the"
                               " file name's ending")
        return [_scene(self.catalogue, one, self.character, display, other) for one in takes]

    def _takes(self, display: Display, gait: dict[str, Any]) -> list[LibraryTake]:
        """Return the takes of the actions or of the file."""
        if self.file is None:
            walker = {name: value for name, value in gait.items() if name != AFFECT}
            return [self._looped(library_take(entry, self.take, self.seed,
                                              gait.get(AFFECT, self.affect), gait=walker,
                                              hand=self.hand), display)
                    for entry in entries_of(self.catalogue, self.actions or "")]
        if gait:
            raise RequestError(f"--grid: {min(gait)} requires --action or --walker")
        reading = replace(self.reading, take=take_number(self.take))
        if display.sample is not None and reading.trim.kind == "auto":
            # The sample itself cuts off the ends of the whole take.
            reading = replace(reading, trim=Trim())
        return [_user_take(self.catalogue, self.file, self.partner, reading, self.about)]

    def _looped(self, take: LibraryTake, display: Display) -> LibraryTake:
        """Return a walker in whole cycles of the display's frames; other takes are unchanged."""
        if not self.walker or not isinstance(take, GaitTake):
            return take
        return looped(take, display)


def _user_take(catalogue: Catalogue, file: Path, partner: Path | None,
               reading: ReadOptions, about: StatedFacts) -> LibraryTake:
    """Return the take of a file; for C3D files, errors mention the raw markers."""
    try:
        return user_take(catalogue, file, about.labels, None, None, about.licence, partner, reading,
                         group=about.group)
    except RequestError as problem:
        if file.suffix.lower() != ".c3d":
            raise
        raise RequestError(f"{problem}; show its raw markers with --dots all_markers"
                           ) from problem


def _wants_markers(display: Display) -> bool:
    """Whether the dots are markers: by dot set, or by labels that are not landmarks."""
    if display.dots in dot_sets():
        return dot_sets()[display.dots].everything == "markers"
    landmarks = {name for offered in dot_sets().values() for name in offered.dots}
    return not set(display.dots.split(",")) <= landmarks


def _scene(catalogue: Catalogue, take: LibraryTake, character: str | None, display: Display,
           other: LibraryTake | None) -> DotScene:
    if character is None and not display.needs_body:
        return take_scene(take, display, other)
    member = cast_member(catalogue, character or "man")
    casting = Casting(take, (member,) * take.performers)
    return cast_scene(casting, display, source_fps(display), other)
