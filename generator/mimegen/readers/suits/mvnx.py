"""Read Xsens MVNX files: XML with the position and orientation of each segment in every frame.

Format: "MVN User Manual", Movella (2023), chapter on MVNX. Quaternions w x y z rotate a segment
from the T pose, in which the axes of all segments are those of the world: X forward, Y to the
left, Z up, in metres.
"""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.canonical import Stated, canonical_recording
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.suits.segments import motion_of_segments

# Roles of the trunk's segments, and of those with a side.
TRUNK = {"Pelvis": "hips", "L5": "spine1", "L3": "spine2", "T12": "spine3", "T8": "chest",
         "Neck": "neck1", "Head": "head"}
PARTS = {"Shoulder": "clavicle", "UpperArm": "upper_arm", "ForeArm": "forearm", "Hand": "hand",
         "UpperLeg": "thigh", "LowerLeg": "shin", "Foot": "foot", "Toe": "toe"}
MAX_FRAMES = 2_000_000


def read_mvnx(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read the motion of the person in an Xsens suit.

    Raises RequestError, one line, if the file is not a complete MVNX file.
    """
    try:
        segments, parents, rate, rotations, positions = _parsed(path)
    except (ElementTree.ParseError, ValueError, OverflowError, LookupError) as problem:
        raise RequestError(f"{path}: is not a complete MVNX file"
                           f" ({str(problem).splitlines()[0][:120]});"
                           " export it again from MVN") from None
    missing = [name for name in TRUNK if name in ("Pelvis", "Head") and name not in segments]
    if missing or len(rotations) < 2:
        raise RequestError(f"{path}: has {len(rotations)} frames of {len(segments)} segments;"
                           " expected at least 2 of a whole body")
    fps = options.fps_of_file or rate
    if not fps > 0:
        raise RequestError(f"{path}: has no frame rate; give it with --fps-of-file")
    motion = motion_of_segments(path, segments, parents, fps, rotations, positions)
    return canonical_recording(path, motion, "MVNX", (), options, Stated(1.0, "Z"),
                               known=_roles(segments))


def _parsed(path: Path) -> tuple[tuple[str, ...], NDArray[np.intp], float, FloatArray, FloatArray]:
    """Return segments, parents, rate, orientations (F, S, 4) and positions (F, S, 3)."""
    names: list[str] = []
    links: dict[str, str] = {}
    rate, frame_rotations, frame_positions = 0.0, [], []
    for _, element in ElementTree.iterparse(path):
        tag = element.tag.rpartition("}")[2]
        if tag == "subject" and not rate:
            rate = float(element.get("frameRate") or 0.0)
        elif tag == "segment":
            names.append(element.get("label") or f"segment {len(names) + 1}")
        elif tag == "joint" and len(element) >= 2:
            ends = [(end.text or "").partition("/")[0].strip() for end in element[:2]]
            links[ends[1]] = ends[0]
        elif tag == "frame":
            if element.get("type", "normal") == "normal":
                found = {child.tag.rpartition("}")[2]: child.text or "" for child in element}
                frame_rotations.append(np.array(found["orientation"].split(), float))
                frame_positions.append(np.array(found["position"].split(), float))
            if len(frame_rotations) > MAX_FRAMES:
                raise ValueError(f"more than {MAX_FRAMES} frames")
            element.clear()
    count = len(names)
    orientations = np.array(frame_rotations).reshape(len(frame_rotations), count, 4) \
        if frame_rotations else np.zeros((0, 0, 4))
    positions = np.array(frame_positions).reshape(len(frame_positions), count, 3) \
        if frame_positions else np.zeros((0, 0, 3))
    if not (np.isfinite(orientations).all() and np.isfinite(positions).all()):
        raise ValueError("it has values that are not numbers")
    parents = np.array([names.index(links[name]) if name in links else -1 for name in names])
    return tuple(names), parents, rate, orientations, positions


def _roles(names: tuple[str, ...]) -> dict[str, str]:
    """Return role -> segment."""
    roles = {TRUNK[name]: name for name in names if name in TRUNK}
    for side in ("Left", "Right"):
        roles |= {f"{side.lower()}_{role}": f"{side}{part}" for part, role in PARTS.items()
                  if f"{side}{part}" in names}
    return roles
