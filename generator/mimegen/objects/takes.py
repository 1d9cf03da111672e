"""Takes: performances of actions before they are put on a body."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.library.cast import cast_member, partner_of
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.foot_contacts import take_contacts
from mimegen.library.take import LibraryTake, Source
from mimegen.library.takes import library_take
from mimegen.manifest.footfalls import FootEvent, events_of
from mimegen.manifest.timeline import Interval
from mimegen.motion.editing import resampled
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.objects.arguments import checked_seed
from mimegen.objects.dots import Dots, display_named
from mimegen.objects.performances import RetargetedTake, lasting
from mimegen.objects.within import within_libraries
from mimegen.pointlight.stimulus import make_stimulus
from mimegen.production.displays import take_scene
from mimegen.readers.roles import find_roles
from mimegen.writers import write_motion

# The highest frame rate at which a take is performed or resampled.
MAX_FPS = 1000


class Take:
    """One performance of an action, by one person or by two.

    Places are in metres: Z up, the performer faces -Y, frames come first.
    """

    def __init__(self, take: LibraryTake, catalogue: Catalogue, fps: float | None) -> None:
        if fps is not None and not 0 < fps <= MAX_FPS:
            raise RequestError(f"fps={fps!r}: expected frames per second, above 0 and at most"
                               f" {MAX_FPS}")
        self._take, self._catalogue, self._fps = take, catalogue, fps

    @cached_property
    @within_libraries
    def _sources(self) -> tuple[Source, ...]:
        found = self._take.sources(self._fps or 1.0)
        if self._fps is None:
            return found
        return tuple((motion if motion.fps == self._fps else resampled(motion, self._fps), roles)
                     for motion, roles in found)

    @property
    def action(self) -> str:
        """The action's id."""
        return self._take.action

    @property
    def name(self) -> str:
        """The take's name among those of its action."""
        return self._take.name

    @property
    def labels(self) -> tuple[str, ...]:
        """What the take shows, the best label first."""
        return self._take.labels

    @property
    def seed(self) -> int:
        """The seed of a choreographed take; 0 for motion capture."""
        return self._take.seed

    @property
    def performers(self) -> int:
        """How many people perform."""
        return self._take.performers

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self.motion().fps

    @property
    def frames(self) -> int:
        """The number of frames."""
        return self.motion().frames

    @property
    def joints(self) -> tuple[str, ...]:
        """The names of the first performer's joints, in the order of ``positions``."""
        return self.motion().skeleton.names

    @property
    def notes(self) -> list[str]:
        """Every assumption and doubt about the motion file; empty for choreographed takes."""
        return list(self._take.facts().get("motion_notes") or ())

    @property
    def timeline(self) -> list[Interval]:
        """What happens from when to when; empty where that is not known."""
        return list(self._take.timeline or ())

    @within_libraries
    def foot_events(self, performer: int = 0) -> list[FootEvent] | None:
        """Return when a performer's feet strike the ground and leave it, by the take's frames.

        None where that cannot be told: on slopes and stairs, for skeletons without toes, and at
        less than 20 frames a second.
        """
        return events_of(take_contacts(self._take, self._sources), performer)

    def motion(self, performer: int = 0) -> Motion:
        """Return a performer's skeleton and its rotations."""
        return self._sources[performer][0]

    @within_libraries
    def roles(self, performer: int = 0) -> Mapping[str, str]:
        """Return the joint's name for each role, such as ``left_forearm``."""
        motion, roles = self._sources[performer]
        return dict(roles or find_roles(motion.skeleton).joints)

    def positions(self, performer: int = 0) -> FloatArray:
        """Return a performer's joints (frames, joints, 3) in metres."""
        return np.array(self.motion(performer).global_pose.positions)

    @within_libraries
    def on(self, character: str | Path, partner: str | Path | None = None) -> RetargetedTake:
        """Retarget the take onto a character.

        ``character`` and ``partner`` are a name, a rigged file's path or ``random:SEED``; without
        ``partner`` the second person of a scene is chosen as ``mimegen render`` chooses. Raises
        RequestError for an unknown character, or for a partner of a take of one.
        """
        if partner is not None and self.performers == 1:
            raise RequestError(f"partner={str(partner)!r}: {self.name} has one performer")
        first = str(character)
        names = (first, str(partner or partner_of(first)))[:self.performers]
        members = tuple(cast_member(self._catalogue, name) for name in names)
        return RetargetedTake(Casting(self._take, members), self.fps, self._catalogue)

    @within_libraries
    def pointlight(self, display: str = "standard", manipulations: str | Sequence[str] = (),
                   seed: int = 0, partner: str | None = None, **options: Any) -> Dots:
        """Return the take as dots at its own joints, or at the man's if a body hides dots.

        A body hides dots in displays such as ``johansson``.
        ``display`` is a preset's name or a file, ``options`` are fields of a display
        (``azimuth_deg=90, fps=30``). ``partner`` is another action, whose partner or only person
        replaces the second of two. Raises RequestError for what is unknown.
        """
        chosen = display_named(display, manipulations, options)
        if chosen.needs_body:
            return self.on("man").pointlight(display, manipulations, seed, partner, **options)
        other = None if partner is None else library_take(self._catalogue.action(partner), None,
                                                          self.seed)
        return Dots(make_stimulus(take_scene(self._take, chosen, other), chosen,
                                  checked_seed(seed)))

    @within_libraries
    def save(self, path: str | Path, performer: int = 0) -> Path:
        """Write one performer's motion on the take's own skeleton.

        The ending says what is written, as in ``RetargetedTake.save``, which also has a body.
        """
        write_motion(Path(path), self.motion(performer))
        return Path(path)

    @within_libraries
    def show(self, frames: int = 8, angle: float = 0.0, background: str = "blank",
             character: str = "man") -> Image.Image:
        """Return a contact sheet of the take on a character; see ``RetargetedTake.show``."""
        return self.on(character).show(frames, angle, background)

    def __repr__(self) -> str:
        shown = self.labels[0] if self.labels else self.action
        of = "" if self.name == self.action else f" of {self.action}"
        return (f"<Take: {shown}, {lasting(self.frames, self.fps)},"
                f" {counted(self.performers, 'performer')}; take {self.name}{of},"
                f" seed {self.seed}>")
