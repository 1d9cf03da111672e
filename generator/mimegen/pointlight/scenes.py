"""Make a display's dots from motions, performances on characters, or raw markers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mimegen.characters.character import Performance
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import DotTracks
from mimegen.pointlight.landmarks import (
    DotSet,
    dot_set,
    marker_dots,
    motion_dots,
    together,
    with_landmarks,
)
from mimegen.pointlight.spec import Display
from mimegen.pointlight.stimulus import DotScene
from mimegen.readers.points import Points
from mimegen.readers.roles import find_roles

Source = tuple[Motion, Mapping[str, str] | None]


def chosen_set(display: Display) -> DotSet:
    """Return the display's dot set with its added landmarks."""
    return with_landmarks(dot_set(display.dots), display.add)


def scene_of_motions(name: str, sources: Sequence[Source], display: Display,
                     facts: Mapping[str, Any], bodies: tuple[Performance, ...] = ()) -> DotScene:
    """Return performers in one world frame, each a motion with its joints by role if known.

    ``bodies``, if given, are the performances on characters to which the motions belong. Raises
    RequestError if a skeleton lacks a joint that the display's dots need.
    """
    chosen = chosen_set(display)
    known = [(motion, roles or find_roles(motion.skeleton).joints) for motion, roles in sources]
    people = [motion_dots(motion, roles, chosen, person)
              for person, (motion, roles) in enumerate(known)]
    dots = together(people)
    roots = [motion.global_pose.positions[:dots.frames, motion.skeleton.index[roles["hips"]]]
             for motion, roles in known]
    stature = max(_stature(motion) for motion, _ in known)
    return DotScene(name, dots, np.stack(roots, axis=1), known[0][0].fps, stature, bodies,
                    dict(facts))


def scene_of_performances(name: str, bodies: tuple[Performance, ...], display: Display,
                          facts: Mapping[str, Any]) -> DotScene:
    """Return performances on characters, with dots at the characters' own joints."""
    return scene_of_motions(name, [(body.motion, None) for body in bodies], display, facts, bodies)


def _stature(motion: Motion) -> float:
    rest = np.concatenate([motion.skeleton.heads, motion.skeleton.tails])[:, 2]
    return float(rest.max() - rest.min())


def scene_of_markers(name: str, points: Points, display: Display,
                     facts: Mapping[str, Any]) -> DotScene:
    """Return raw markers as dots; ``display.dots`` is ``all_markers`` or a list of labels.

    Raises RequestError for missing labels.
    """
    wanted = () if display.dots == "all_markers" else tuple(
        label.strip() for label in display.dots.split(","))
    dots = marker_dots(points.labels, points.positions, wanted=wanted)
    return DotScene(name, dots, _middle(dots), points.fps, _span(dots), (), dict(facts))


def _middle(dots: DotTracks) -> FloatArray:
    """Return the mean (F, 1, 3) of the dots seen in each frame, else that of the last seen ones."""
    seen = dots.visible.any(axis=1)
    middle = np.full((dots.frames, 1, 3), np.nan)
    middle[seen, 0] = np.nanmean(dots.positions[seen], axis=1)
    nearest = np.maximum.accumulate(np.where(seen, np.arange(dots.frames), seen.argmax()))
    return np.asarray(middle[nearest])


def _span(dots: DotTracks) -> float:
    heights = dots.positions[dots.visible.any(axis=1)][..., 2]
    return float(np.nanmedian(np.nanmax(heights, axis=1) - np.nanmin(heights, axis=1)))
