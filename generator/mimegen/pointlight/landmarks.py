"""Read dot sets, and place the dots of a motion or of raw markers."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import Stamp, stamp
from mimegen.base.paths import data_files
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import DotTracks


class DotSet(Strict):
    """One file of rigs/dot_sets/: the points of a body that carry a dot.

    ``dots`` maps each dot's name to the roles of the joints whose mean position it marks;
    ``head.tail`` is the far end of the head's bone. ``everything`` uses all joints, or all markers,
    instead. ``trunk`` are lines of a stick figure that are not limbs.
    """

    name: str
    description: str
    source: str
    everything: Literal["joints", "markers"] | None = None
    dots: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    limbs: tuple[tuple[str, str], ...] = ()
    trunk: tuple[tuple[str, str], ...] = ()


def dot_sets() -> Mapping[str, DotSet]:
    """Return the dot sets that come with mimegen and those of the user's libraries, by name."""
    files = data_files("rigs/dot_sets/*.yaml")
    return _read(files, tuple(stamp(file) for file in files))


@lru_cache(maxsize=8)
def _read(files: tuple[Path, ...], written: tuple[Stamp | None, ...]) -> Mapping[str, DotSet]:
    del written
    return {file.stem: read_yaml(file, DotSet) for file in files}


def dot_set(name: str) -> DotSet:
    """Return a dot set by its name, its file, or a comma-separated list of landmarks.

    Raises RequestError, with similar names, for a word that is no landmark of any set.
    """
    known = dot_sets()
    if name in known:
        return known[name]
    if name.endswith(".yaml"):
        return read_yaml(Path(name), DotSet)
    return with_landmarks(DotSet(name="list", description="chosen dots", source="request"),
                          name.split(","))


def with_landmarks(chosen: DotSet, names: Sequence[str]) -> DotSet:
    """Return the set with additional dots: landmarks of any set, by name.

    Stick-figure lines of any set are added if both of their dots are in the result. Raises
    RequestError, with similar names, for an unknown landmark.
    """
    landmarks = {name: points for offered in dot_sets().values()
                 for name, points in offered.dots.items()}
    limbs = {limb for offered in dot_sets().values() for limb in offered.limbs}
    dots = dict(chosen.dots)
    for name in (word.strip() for word in names):
        if name not in landmarks:
            raise RequestError(f"dots: '{name}' is neither a dot set nor a"
                               f" landmark{near_misses(name, [*dot_sets(), *landmarks])}")
        dots[name] = landmarks[name]
    joined = {*chosen.limbs, *(limb for limb in limbs if set(limb) <= set(dots))}
    return chosen.model_copy(update={"dots": dots, "limbs": tuple(sorted(joined))})


def motion_dots(motion: Motion, roles: Mapping[str, str], chosen: DotSet,
                performer: int = 0) -> DotTracks:
    """Return the dots of a motion at the joints of its skeleton.

    ``roles`` maps roles to joint names. Raises RequestError if the skeleton has none of the joints
    that a dot marks.
    """
    skeleton, pose = motion.skeleton, motion.global_pose
    if chosen.everything == "markers":
        raise RequestError("dots: this file contains a skeleton, not markers; use --dots"
                           " all_joints")
    names, limbs, positions = [], [], []
    if chosen.everything == "joints":
        names = list(skeleton.names)
        positions = list(np.moveaxis(pose.positions, 1, 0))
        limbs = [(int(parent), joint) for joint, parent in enumerate(skeleton.parents)
                 if parent >= 0]
    for name, points in chosen.dots.items():
        names.append(name)
        found = [_point(motion, roles, point) for point in points]
        known = [place for place in found if place is not None]
        if not known:
            raise RequestError(f"dots: the skeleton has no joint {' or '.join(points)}, which dot"
                               f" '{name}' requires; choose another set with --dots")
        positions.append(np.mean(known, axis=0))
    number = {name: i for i, name in enumerate(names)}
    limbs += [(number[a], number[b]) for a, b in chosen.limbs]
    trunk = [(number[a], number[b]) for a, b in chosen.trunk]
    return DotTracks.of(tuple(names), np.full(len(names), performer), np.stack(positions, axis=1),
                        limbs, trunk)


def _point(motion: Motion, roles: Mapping[str, str], point: str) -> FloatArray | None:
    """Return the position (F, 3) of a role's joint, or of its bone's far end, or None."""
    role, _, end = point.partition(".")
    joint = motion.skeleton.index.get(roles.get(role, ""))
    if joint is None:
        return None
    pose = motion.global_pose
    if not end:
        return pose.positions[:, joint]
    bone = motion.skeleton.tails[joint] - motion.skeleton.heads[joint]
    return pose.positions[:, joint] + quaternions.rotate(pose.rotations[:, joint], bone)


def marker_dots(labels: Sequence[str], positions: FloatArray, chosen: DotSet | None = None,
                wanted: Sequence[str] = ()) -> DotTracks:
    """Return raw markers (F, M, 3) in metres as dots: those with ``wanted`` labels, or all.

    Markers that are never seen are left out. Raises RequestError for a missing label, and for a set
    that needs joints.
    """
    if chosen is not None and chosen.everything != "markers":
        raise RequestError("dots: these markers were not solved to a skeleton; use --dots"
                           " all_markers")
    for label in wanted:
        if label not in labels:
            raise RequestError(f"dots: no marker '{label}'{near_misses(label, labels)}")
    seen = np.isfinite(positions).all(axis=-1).any(axis=0)
    keep = [i for i, label in enumerate(labels) if seen[i] and (not wanted or label in wanted)]
    if not keep:
        raise RequestError("dots: no marker is visible in any frame")
    return DotTracks.of(tuple(labels[i] for i in keep), np.zeros(len(keep), dtype=np.intp),
                        positions[:, keep])


def together(people: Sequence[DotTracks]) -> DotTracks:
    """Return several performers' dots as one; with two or more, names get the performer's number.
    """
    if len(people) == 1:
        return people[0]
    shortest = min(one.frames for one in people)
    both: DotTracks | None = None
    for person, one in enumerate(people):
        part = DotTracks.of(tuple(f"{person + 1}:{name}" for name in one.names),
                            np.full(one.count, person), one.positions[:shortest], one.limbs,
                            one.trunk)
        both = part if both is None else both.joined(part)
    assert both is not None, "a scene has somebody in it"
    return both
