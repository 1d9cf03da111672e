"""A take on bodies."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.characters.character import Performance as Performed
from mimegen.characters.posing import posed_meshes
from mimegen.compositing.background import read_background
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.foot_contacts import cast_contacts
from mimegen.library.takes import library_take
from mimegen.manifest.footfalls import FootEvent, events_of
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.objects.arguments import checked_seed
from mimegen.objects.dots import Dots, display_named
from mimegen.objects.media import Video
from mimegen.objects.within import within_libraries
from mimegen.pages.drawn import DrawnScene, drawn, drawn_sheet
from mimegen.pointlight.filming import source_fps
from mimegen.pointlight.stimulus import make_stimulus
from mimegen.production.displays import cast_scene
from mimegen.readers.roles import find_roles
from mimegen.retarget import retarget_scene
from mimegen.retarget.report import FIELDS, quality
from mimegen.shots.config import read_config
from mimegen.writers import write_motion

SHEET_TILE = {"width": 320, "height": 180}


def lasting(frames: int, fps: float) -> str:
    """Return how long frames last at a rate, for descriptions of one line."""
    return f"{frames / fps:.1f} s, {frames} frames at {fps:g} fps"


class Report(dict[str, Any]):
    """The quality of retargeting, whose one-line description has the main figures."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {self[name]:.3g}" for name in FIELDS)
        others = ", ".join(f"['{name}']" for name in self if name not in FIELDS)
        return f"<Report: {shown}; more in {others}>"


class RetargetedTake:
    """A take retargeted onto one character, or onto two for a take of two people.

    Places are in metres: Z up, the performer faces -Y, frames come first.
    """

    def __init__(self, casting: Casting, fps: float, catalogue: Catalogue) -> None:
        self._casting, self._catalogue = casting, catalogue
        self.fps = fps

    @cached_property
    @within_libraries
    def _performed(self) -> tuple[Performed, ...]:
        return self._casting.perform(self.fps)

    @property
    def characters(self) -> tuple[str, ...]:
        """The characters' names, one per performer."""
        return tuple(member.name for member in self._casting.members)

    @property
    def frames(self) -> int:
        """The number of frames."""
        return self._performed[0].motion.frames

    @property
    def joints(self) -> tuple[str, ...]:
        """The names of the first character's joints, in the order of ``positions``."""
        return self._performed[0].motion.skeleton.names

    def motion(self, performer: int = 0) -> Motion:
        """Return a performer's skeleton and its rotations."""
        return self._performed[performer].motion

    def positions(self, performer: int = 0) -> FloatArray:
        """Return a performer's joints (frames, joints, 3) in metres."""
        return np.array(self.motion(performer).global_pose.positions)

    def foot_events(self, performer: int = 0) -> list[FootEvent] | None:
        """Return when a performer's feet strike the ground and leave it, by the take's frames.

        None where that cannot be told: on slopes and stairs, and at less than 20 frames a second.
        """
        return events_of(cast_contacts(self._casting, self._performed), performer)

    @within_libraries
    def vertices(self, frame: int, performer: int = 0) -> FloatArray:
        """Return the posed surface (vertices, 3) of one frame in metres; -1 is the last frame."""
        performed = self._performed[performer]
        pose = performed.motion.global_pose
        return np.concatenate(posed_meshes(performed.character, pose.positions[frame],
                                           pose.rotations[frame]))

    def faces(self, performer: int = 0) -> NDArray[np.int64]:
        """Return the surface's triangles (triangles, 3) as numbers of rows of ``vertices``."""
        triangles, first = [], 0
        for mesh in self._performed[performer].character.meshes:
            corners = mesh.faces.astype(np.int64)
            four = corners[corners[:, 3] >= 0]
            triangles += [corners[:, :3] + first, four[:, [0, 2, 3]] + first]
            first += len(mesh.vertices)
        return np.concatenate(triangles)

    @cached_property
    @within_libraries
    def report(self) -> dict[str, Any]:
        """How close the first performer comes to the source: see ``mimegen retarget --report``."""
        sources = [(motion, dict(roles or find_roles(motion.skeleton).joints))
                   for motion, roles in self._casting.take.sources(self.fps)]
        bodies = [performed.character for performed in self._performed]
        scene = retarget_scene(sources, bodies)
        return Report(quality(*sources[0], scene[0]))

    @within_libraries
    def pointlight(self, display: str = "standard", manipulations: str | Sequence[str] = (),
                   seed: int = 0, partner: str | None = None, **options: Any) -> Dots:
        """Return the performance as dots at the characters' joints.

        ``display`` is a preset's name or a file, ``options`` are fields of a display
        (``azimuth_deg=90, fps=30``). ``partner`` is another action, whose partner or only person
        replaces the second of two. Raises RequestError for what is unknown.
        """
        chosen = display_named(display, manipulations, options)
        other = None if partner is None else library_take(self._catalogue.action(partner), None,
                                                          self._casting.take.seed)
        scene = cast_scene(self._casting, chosen, source_fps(chosen), other)
        return Dots(make_stimulus(scene, chosen, checked_seed(seed)))

    @within_libraries
    def show(self, frames: int = 8, angle: float = 0.0, background: str = "blank") -> Image.Image:
        """Return a contact sheet of evenly spaced frames, drawn by OpenGL."""
        if frames < 1:
            raise RequestError(f"frames={frames}: expected at least 1")
        return drawn_sheet(self._scene(background, SHEET_TILE), angle, frames)

    @within_libraries
    def preview(self, angle: float = 0.0, background: str = "blank") -> Video:
        """Return a short video, drawn by OpenGL as ``--config draft`` draws it."""
        scene = self._scene(background, {})
        size = (scene.config.width, scene.config.height)
        pictures = (picture for picture, in drawn(scene, [angle], range(self.frames)))
        return Video.of(pictures, size, self.fps)

    def _scene(self, background: str, size: dict[str, int]) -> DrawnScene:
        config = read_config(self._catalogue.file("config", "draft"))
        behind = read_background(self._catalogue.file("background", background))
        return DrawnScene(self._casting.seen(self._performed), behind,
                          config.model_copy(update=size))

    @within_libraries
    def save(self, path: str | Path, performer: int = 0) -> Path:
        """Write one performer's motion, and their body where the format has one.

        The ending says what is written: ``.bvh``, ``.npz``, ``.fbx`` or ``.glb``. FBX and GLB
        need Blender. Raises RequestError for any other ending.
        """
        performed = self._performed[performer]
        write_motion(Path(path), performed.motion, performed.character)
        return Path(path)

    def __repr__(self) -> str:
        take = self._casting.take
        return (f"<Performance: {take.action} by {' and '.join(self.characters)},"
                f" {lasting(self.frames, self.fps)}; take {take.name}, seed {take.seed}>")
