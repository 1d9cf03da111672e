"""Turn the tracked joints of people into a recording."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import BoolArray
from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.similar_names import nearest
from mimegen.base.vectors import product
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.skeletons import MAX_COORDINATE
from mimegen.readers.canonical import canonical_recording
from mimegen.readers.gravity import SMOOTH_S, levelled
from mimegen.readers.options import ReadOptions
from mimegen.readers.planting import path_of_feet
from mimegen.readers.position_layouts import file_layout, in_order_of
from mimegen.readers.positions import motion_of_positions
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.reading import UPRIGHT

# A person seen in fewer than this fraction of the frames of the most seen one is ignored unless
# --subject names them.
PASSING = 0.1
# Joints with less jitter than this fraction of the body's size (2.5 mm) are not smoothed: quick
# movement at 20 fps measures as half of it. Motions of fewer frames than ENOUGH are always
# smoothed.
CALM = 1.5e-3
ENOUGH = 8
# Longest gap of a joint that is bridged, in seconds.
MAX_GAP_S = 2.0
# If the root moves less than this (metres), the file gives joints relative to the hips.
STANDS_STILL = 1e-3


@dataclass(frozen=True, eq=False)
class Tracked:
    """The people of a file as joints (F, J, 3) by id, in its unit and axes, NaN where not seen.

    ``layout`` names their skeleton. ``up`` is the up axis in the camera's picture; if ``is_level``,
    it is up in the world too. ``usual_fps`` is the rate assumed if ``fps`` is None. ``notes`` are
    those in the file. ``guesses`` are, by id, the estimator's positions (F, J, 3) including joints
    that it does not see.
    """

    format: str
    layout: str
    up: str
    people: Mapping[str, FloatArray]
    fps: float | None
    usual_fps: float = 30.0
    notes: tuple[str, ...] = ()
    is_level: bool = False
    guesses: Mapping[str, FloatArray] = field(default_factory=dict)


def recording_of_tracked(path: Path, found: Tracked, options: ReadOptions) -> Recording:
    """Return the recording of the only person, or of the one that ``--subject`` names.

    Raises RequestError if there are several people, nobody, or too little of a body.
    """
    person = _chosen(path, found, options)
    positions = found.people[person]
    fps = options.fps_of_file or found.fps or found.usual_fps
    rated = () if options.fps_of_file or found.fps else (
        f"the file has no frame rate: {fps:g} fps is assumed; give the true one with"
        " --fps-of-file",)
    whole = len(positions)
    span = _seen(path, positions)
    positions, bridged = _bridged(path, positions, fps, span, found.guesses.get(person))
    used = (f"frames {span.start} to {span.stop - 1} of {whole} are used: before and after them"
            " most of the body is not seen",) if len(positions) < whole else ()
    noisy = _jitter(positions) > CALM
    positions = low_passed(positions, SMOOTH_S * fps) if noisy else positions
    known = file_layout(found.layout)
    layout = known.layout
    turned = product(known.placed(positions), UPRIGHT[found.up].T)
    motion = motion_of_positions(layout, turned, fps)
    motion, level = (motion, ()) if found.is_level else levelled(motion, layout.roles)
    went: tuple[str, ...] = ()
    if np.ptp(motion.root_positions, axis=0).max() < STANDS_STILL:
        feet = [motion.skeleton.index[layout.roles[f"{side}_{part}"]]
                for side in ("left", "right") for part in ("foot", "toe")
                if f"{side}_{part}" in layout.roles]
        motion, went = path_of_feet(motion, feet, np.array([0.0, 0.0, 1.0]))
    notes = (*found.notes, *rated, *used, *bridged, "the file has joint positions alone: rotations"
             " are solved from them" + (f", smoothed by a Gaussian of {SMOOTH_S:g} s" if noisy else
                                        ""), *level, *went)
    recording = canonical_recording(path, motion, found.format, notes, options, first=span.start,
                                    known=layout.roles)
    return replace(recording, system=in_order_of(found.format), up_axis=found.up,
                   up_source="the camera's picture and how the body stands")


def _jitter(positions: FloatArray) -> float:
    """Return the jitter of joints (F, J, 3), as a fraction of the body's size.

    It is estimated from third differences: they are small in smooth movement, and white noise of
    deviation s gives them a variance of 20 s^2.
    """
    if len(positions) < ENOUGH:
        return np.inf
    jerks = np.linalg.norm(np.diff(positions, n=3, axis=0), axis=-1) / np.sqrt(3 * 20.0)
    size = float(np.median(np.ptp(positions, axis=1).max(axis=1)))
    return float(np.median(jerks)) / max(size, 1e-9)


def _chosen(path: Path, found: Tracked, options: ReadOptions) -> str:
    """Return the id of the only person, or of the one that ``options.subject`` names."""
    seen = {key: int(np.isfinite(positions[..., 0]).any(axis=1).sum())
            for key, positions in found.people.items()}
    if not seen or max(seen.values()) < 2:
        raise RequestError(f"{path}: shows no person in at least 2 frames")
    if options.subject is not None:
        if options.subject not in seen:
            near = nearest(options.subject, seen) or list(seen)
            raise RequestError(f"{path}: no subject {options.subject!r}; expected one of:"
                               f" {', '.join(near[:8])}")
        return options.subject
    often = [key for key, count in seen.items() if count >= PASSING * max(seen.values())]
    if len(often) > 1:
        said = ", ".join(f"{key} ({seen[key]} frames)" for key in
                         sorted(often, key=lambda key: -seen[key])[:8])
        raise RequestError(f"{path}: contains {len(often)} people: {said}; choose one with"
                           " --subject ID")
    return often[0]


def _seen(path: Path, positions: FloatArray) -> slice:
    """Return the frames from the first to the last in which most of a body is seen."""
    whole = np.flatnonzero(_visible(positions).mean(axis=1) > 0.5)
    if len(whole) < 2:
        raise RequestError(f"{path}: shows most of a body in {len(whole)} frames, expected at"
                           " least 2")
    return slice(int(whole[0]), int(whole[-1]) + 1)


def _visible(positions: FloatArray) -> BoolArray:
    """Return a mask (F, J) of the joints that are seen."""
    return np.asarray((np.abs(positions) < MAX_COORDINATE).all(axis=2))


def _bridged(path: Path, positions: FloatArray, fps: float, span: slice,
             guesses: FloatArray | None = None) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the positions in a span of frames, with gaps linearly interpolated, and notes.

    For a joint that is hidden too long for that, the estimator's guesses are used. Raises
    RequestError if there are none.
    """
    positions = positions[span].copy()
    seen = _visible(positions)
    guessed = None if guesses is None else guesses[span]
    hidden = 0
    for joint in range(positions.shape[1]):
        known, gap = _known(seen[:, joint], fps)
        if gap and guessed is not None and _visible(guessed)[:, joint].any():
            there = _visible(guessed)[:, joint]
            positions[:, joint] = np.where(there[:, None], guessed[:, joint], np.nan)
            known, gap = _known(there, fps)
            hidden += 1
        if gap:
            raise RequestError(f"{path}: joint {joint} is lost {gap}, longer than can be bridged;"
                               " cut the file, or record again")
        for axis in range(3):
            positions[:, joint, axis] = np.interp(np.arange(len(positions)), known,
                                                  positions[known, joint, axis])
    lost = int((~seen).any(axis=1).sum())
    notes = [f"joints that were not visible in {lost} frames are bridged"] if lost else []
    if hidden:
        notes.append(f"{counted(hidden, 'joint')} hidden for longer than {MAX_GAP_S:g} s:"
                     " the estimator's guesses are used")
    return positions, tuple(notes)


def _known(seen: BoolArray, fps: float) -> tuple[NDArray[np.intp], str]:
    """Return the frames in which a joint is seen, and how long it is lost.

    The latter is an empty text if no gap is too long to be bridged.
    """
    known = np.flatnonzero(seen)
    if len(known) < 2:
        return known, "always"
    longest = float(np.diff(known).max()) / fps
    return known, f"for {longest:.1f} s" if longest > MAX_GAP_S else ""
