"""Recognise which tool or data set wrote a file of SMPL's parameters, and find its people."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.smpl.flat import PLAIN, flat_parameters
from mimegen.readers.smpl.named import by_frame_and_person, flat_tracks, named_parameters
from mimegen.readers.smpl.parameters import (
    RATE,
    ROOT,
    WHOLE,
    Parameters,
    UnreadableError,
    has_parameters,
    numbers,
    parameters_of,
)
from mimegen.readers.smpl.reading import World
from mimegen.readers.smpl.rotations import is_numeric
from mimegen.readers.smpl.tidying import people_along_an_axis, tidied

AMASS = World("Z", "AMASS has Z up", "AMASS")
# Frame rate (Hz) assumed for videos.
VIDEO_FPS = 30.0
# Keys of a dictionary of people among other entries.
GROUPS = ("people", "persons", "tracks", "humans")
# Keys of a person's parameters in world coordinates, beside those in the camera's.
WORLDS = ("smplx_world", "smpl_world", "smplh_world", "world")


@dataclass(frozen=True)
class People:
    """The people in a file.

    ``by_id`` maps ids to functions that return the parameters, ``frames`` ids to numbers of frames.
    """

    world: World
    by_id: Mapping[str, Callable[[], Parameters]]
    frames: Mapping[str, int]
    notes: tuple[str, ...] = ()


def people_in(tree: Any) -> People | None:
    """Return the people whose SMPL parameters a file holds, or None if it holds none.

    Raises UnreadableError if their arrays do not fit together.
    """
    if isinstance(tree, np.ndarray) and tree.dtype == object and tree.size == 1:
        tree = tree.item()
    tree = tidied(tree)
    if isinstance(tree, np.ndarray):
        flat = flat_parameters(tree)
        return None if flat is None else _single_person(*flat)
    if isinstance(tree, list):
        return _listed_people(tree)
    if not isinstance(tree, dict):
        return None
    tree = _unwrapped(tree)
    for layout in (_mdm, _gvhmr, _glamr, _wham, _phalp, _romp_video, _tram, _aist, _hy_motion,
                   _threedpw, _several, _crowd, _tracks, _one, _named):
        found = layout(tree)
        if found is not None:
            return found
    return None


def _unwrapped(tree: dict[Any, Any]) -> dict[Any, Any]:
    """Return the dictionary inside one that only wraps it, such as ROMP's ``results``."""
    while not _people_of(tree):
        held = [value for key, value in tree.items() if isinstance(value, dict) and (
            (len(tree) == 1 and not _is_frame(key)) or str(key) in GROUPS)]
        if len(held) != 1:
            break
        tree = held[0]
    return tree


def _listed_people(tree: list[Any]) -> People | None:
    """Read a list of dictionaries: one for each frame of one person, or one for each person.

    EasyMocap writes a list of the people of each frame.
    """
    frames = by_frame_and_person(tree)
    if frames is not None:
        people: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        for number, frame in enumerate(frames):
            for key, one in frame:
                people.setdefault(key, []).append((number, one))
        return _stacked(PLAIN, people)
    if not tree or not all(isinstance(one, dict) and has_parameters(one) for one in tree):
        return None
    if all(len(_frames_of(one)) == 1 or np.ndim(_frames_of(one)) == 1 for one in tree):
        return _stacked(PLAIN, {"0": list(enumerate(tree))})
    return _tracks({str(number): one for number, one in enumerate(tree)})


def _several(tree: dict[Any, Any]) -> People | None:
    """Read SLAHMR and others: arrays whose first axis is people."""
    people = people_along_an_axis(tree)
    if people is None:
        return None
    return People(PLAIN, {str(number): _maker(one, one) for number, one in enumerate(people)},
                  {str(number): len(_frames_of(one)) for number, one in enumerate(people)})


def _crowd(tree: dict[Any, Any]) -> People | None:
    """Read CoMotion: all people's frames one after the other, in the camera's axes."""
    people = flat_tracks(tree)
    if people is None or len(people) == 1:
        return None
    return People(_camera("SMPL"), {key: _maker(one, one) for key, one in people.items()},
                  {key: len(_frames_of(one)) for key, one in people.items()})


def _named(tree: dict[Any, Any]) -> People | None:
    """Read data sets and tools with their own names of arrays, or nested dictionaries."""
    found = named_parameters(tree)
    return None if found is None else _single_person(*found)


def _threedpw(tree: dict[Any, Any]) -> People | None:
    """Read 3DPW: ``poses``, ``trans`` and ``betas`` are lists with an array for each person.

    HumanAct12 lists the poses of its takes, without translations.
    """
    poses, positions = tree.get("poses"), tree.get("trans")
    if not isinstance(poses, list) or not all(is_numeric(one) for one in poses):
        return None
    if positions is None:
        positions = [None] * len(poses)
    if not isinstance(positions, list) or len(poses) != len(positions):
        return None
    betas = tree.get("betas")
    shapes: Any = [None] * len(poses)
    if isinstance(betas, list | np.ndarray) and len(betas) == len(poses):
        shapes = betas
    return _tracks({str(number): {"poses": pose, "trans": place, "betas": shape}
                    for number, (pose, place, shape) in enumerate(
                        zip(poses, positions, shapes, strict=True))})


def _hy_motion(tree: dict[Any, Any]) -> People | None:
    """Read HY-Motion: ``Rh`` is the root's part of ``poses``; 30 fps, Y up.

    Source: its save_visualization_data. The file has no rate.
    """
    root, poses = tree.get("Rh"), tree.get("poses")
    if not (isinstance(root, np.ndarray) and isinstance(poses, np.ndarray) and poses.ndim > 1
            and root.shape == (len(poses), 3)):
        return None
    return _single_person(World("Y", "HY-Motion has Y up", "HY-Motion", 30.0), tree)


def _is_frame(name: Any) -> bool:
    """Return whether a key is the file name of a frame's image."""
    return isinstance(name, str) and name.lower().endswith((".jpg", ".jpeg", ".png"))


def _single_person(world: World, tree: Mapping[str, Any], rows: bool = True) -> People:
    """Return the single person of a dictionary."""
    found = parameters_of(tree, rows)
    return People(world, {"0": lambda: found}, {"0": len(found.rotations)})


def _mdm(tree: dict[Any, Any]) -> People | None:
    """Read MDM's ``*_smpl_params.npy``; 20 fps, Y up (its visualize/vis_utils.py).

    It holds ``thetas`` (24, 6, T), two rows of rotation matrices, and the root's path (3, T).
    """
    thetas, path = tree.get("thetas"), tree.get("root_translation")
    if not (isinstance(thetas, np.ndarray) and thetas.dtype.kind == "f" and "motion" in tree):
        return None
    thetas = thetas[0] if thetas.ndim == 4 and len(thetas) == 1 else thetas
    if thetas.ndim != 3 or thetas.shape[:2] != (24, 6) or not isinstance(path, np.ndarray):
        raise UnreadableError(f"the array 'thetas' has the shape {thetas.shape}, expected"
                              " (24, 6, frames)")
    return _single_person(World("Y", "MDM has Y up", "MDM", 20.0), {
        "poses": np.moveaxis(thetas, -1, 0), "trans": path.reshape(3, -1).T})


def _gvhmr(tree: dict[Any, Any]) -> People | None:
    """Read GVHMR: ``smpl_params_global`` with Y up, or else the camera's (its demo.py)."""
    for name, world in (("smpl_params_global",
                         World("Y", "GVHMR's world has Y up", "GVHMR", VIDEO_FPS)),
                        ("smpl_params_incam", _camera("GVHMR"))):
        held = tree.get(name)
        if isinstance(held, dict) and has_parameters(held):
            return _single_person(world, held)
    return None


def _glamr(tree: dict[Any, Any]) -> People | None:
    """Read GLAMR: ``person_data`` by id, with a root and a path in a world with Z up."""
    held = tree.get("person_data", tree)
    if not isinstance(held, dict):
        return None
    people: dict[str, dict[str, Any]] = {str(key): {
        "body_pose": one.get("smpl_pose"), "global_orient": one.get("smpl_orient_world"),
        "transl": one.get("root_trans_world"), "betas": one.get("smpl_beta")}
        for key, one in held.items() if isinstance(one, dict)}
    people = {key: one for key, one in people.items() if has_parameters(one)}
    if not people:
        return None
    return People(World("Z", "GLAMR's world has Z up", "GLAMR", VIDEO_FPS),
                  {key: _maker(one, {}) for key, one in people.items()},
                  {key: len(one["body_pose"]) for key, one in people.items()})


def _camera(kind: str) -> World:
    """Return the world of a camera: Y down, gravity to be estimated."""
    return World("-Y", "the camera's picture has Y down", kind, VIDEO_FPS, camera=True)


def _people_of(tree: dict[Any, Any]) -> dict[str, dict[str, Any]]:
    """Return by id the dictionaries of a file that has one dictionary for each person."""
    return {str(key): value for key, value in tree.items()
            if isinstance(value, dict) and isinstance(key, int | str) and not _is_frame(key)
            and (has_parameters(value) or has_parameters(_world_of(value)))}


def _world_of(person: Mapping[str, Any]) -> dict[str, Any]:
    """Return a person's world parameters by WHAM, PromptHMR or TRAM, under the usual names."""
    if "pose_world" not in person:
        return next((held for name in WORLDS if isinstance(held := person.get(name), dict)), {})
    return {"pose": person["pose_world"], "trans": person.get("trans_world"),
            "betas": person.get("betas")}


def _wham(tree: dict[Any, Any]) -> People | None:
    """Read WHAM: by person, ``pose_world`` and ``trans_world``, Y up (its demo.py)."""
    people = {key: value for key, value in _people_of(tree).items() if "pose_world" in value}
    if not people:
        return None
    world = World("Y", "WHAM's world has Y up", "WHAM", VIDEO_FPS)
    return People(world, {key: _maker(_world_of(one), one) for key, one in people.items()},
                  {key: len(one["pose_world"]) for key, one in people.items()})


def _tracks(tree: dict[Any, Any]) -> People | None:
    """Read VIBE and similar tools: by person, ``pose`` in the camera's axes."""
    people = _people_of(tree)
    if not people:
        return None
    named = "VIBE" if any("orig_cam" in one or "pred_cam" in one for one in people.values()) \
        else "SMPL"
    world = _camera(named) if named == "VIBE" else PLAIN
    shared = {name: value for name, value in tree.items() if name in (*RATE, "gender")}
    held = {key: shared | (_world_of(one) or one) for key, one in people.items()}
    return People(world, {key: _maker(held[key], one | {"frame_ids": one.get("frames")}
                                      if "frames" in one else one) for key, one in people.items()},
                  {key: len(_frames_of(one)) for key, one in held.items()})


def _frames_of(person: Mapping[str, Any]) -> Any:
    """Return a person's pose array, which has one entry per frame."""
    return next((person[name] for name in ("pose", "poses", "global_orient", "root_orient",
                                           "pred_rotmat", "thetas", "smpl_thetas", *ROOT, *WHOLE)
                 if isinstance(person.get(name), np.ndarray)), ())


def _maker(parameters: Mapping[str, Any], person: Mapping[str, Any]) -> Callable[[], Parameters]:
    """Return a function that reads a person's parameters and fills missing frames."""
    return lambda: bridged(parameters_of(parameters), person.get("frame_ids", person.get("frame")))


def _phalp(tree: dict[Any, Any]) -> People | None:
    """Read 4D-Humans and PHALP: by frame, lists of people with ``tid`` and ``smpl`` matrices."""
    frames = [value for value in _in_frame_order(tree)
              if isinstance(value, dict) and "smpl" in value and "tid" in value]
    if len(frames) < max(1, len(tree) // 2):
        return None
    people: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for number, frame in enumerate(frames):
        cameras = frame.get("camera", [])
        for place, (tid, smpl) in enumerate(zip(_listed(frame["tid"]), _listed(frame["smpl"]),
                                                strict=False)):
            if isinstance(smpl, dict):
                camera = cameras[place] if place < len(cameras) else None
                people.setdefault(str(tid), []).append((number, smpl | {"trans": camera}))
    return _stacked(_camera("PHALP"), people)


def _romp_video(tree: dict[Any, Any]) -> People | None:
    """Read ROMP and BEV on a video: by frame, arrays of people with ``track_ids`` (P,)."""
    listed = _romp_lists(tree)
    if listed is not None:
        return listed
    frames = [value for value in _in_frame_order(tree)
              if isinstance(value, dict) and "smpl_thetas" in value]
    if not frames and "smpl_thetas" in tree and "cam" in tree:
        frames = [tree]
    if not frames:
        return None
    people: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for number, frame in enumerate(frames):
        thetas = np.atleast_2d(np.asarray(frame["smpl_thetas"]))
        ids = _listed(frame.get("track_ids", range(len(thetas))))
        for place, one in enumerate(ids[:len(thetas)]):
            people.setdefault(str(one), []).append((number, {
                "pose": thetas[place], "betas": _row(frame.get("smpl_betas"), place),
                "trans": _row(frame.get("cam_trans"), place)}))
    return _stacked(_camera("ROMP"), people)


def _romp_lists(tree: dict[Any, Any]) -> People | None:
    """Read ROMP of 2021: by frame, a list of people without ids, empty if nobody was found."""
    frames = [value for value in _in_frame_order(tree) if isinstance(value, list) and all(
        isinstance(one, dict) and has_parameters(one) for one in value)]
    found = [(number, frame[0]) for number, frame in enumerate(frames) if frame]
    if not found or len(frames) <= len(tree) // 2:
        return None
    people = _stacked(_camera("ROMP"), {"0": found})
    crowded = sum(len(frame) > 1 for frame in frames)
    if people is None or not crowded:
        return people
    return replace(people, notes=(*people.notes, (
        f"{crowded} of {len(frames)} frames show several people without ids; the first of each"
        " frame is taken, who need not be the same person")))


def _in_frame_order(tree: Mapping[Any, Any]) -> list[Any]:
    """Return the values of a dictionary of frames, by the numbers in their keys: 2 before 10."""
    return [tree[key] for key in sorted(tree, key=lambda key: _natural(str(key)))]


def _natural(text: str) -> list[tuple[str, int]]:
    """Return a sorting key that compares numbers in a text by their values."""
    # Every second part is a number, so parts of one kind are compared with each other.
    return [("", int(part)) if place % 2 else (part, 0)
            for place, part in enumerate(re.split("([0-9]+)", text))]


def _row(values: Any, place: int) -> Any:
    return values[place] if isinstance(values, np.ndarray) and len(values) > place else None


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list | tuple | np.ndarray | range) else [found]


def _stacked(world: World, people: Mapping[str, list[tuple[int, dict[str, Any]]]]
             ) -> People | None:
    """Return people whose parameters are given frame by frame, or None if there are none."""
    return People(world, {key: _stacker(frames) for key, frames in people.items()},
                  {key: len(frames) for key, frames in people.items()}) if people else None


def _stacker(frames: list[tuple[int, dict[str, Any]]]) -> Callable[[], Parameters]:
    """Return a function that joins the dictionaries of single frames into parameters."""
    def made() -> Parameters:
        joined: dict[str, Any] = {}
        for name in frames[0][1]:
            values = [value for _, one in frames
                      if isinstance(value := one.get(name), np.ndarray)]
            if len(values) == len(frames):
                if len({value.shape for value in values}) > 1:
                    raise UnreadableError(f"the array {name!r} changes its shape")
                joined[name] = np.stack(values)
        if not has_parameters(joined):
            raise UnreadableError("holds no pose")
        # Three numbers of a weak-perspective camera are not a position, but PHALP's are, in metres.
        return bridged(parameters_of(joined), np.array([number for number, _ in frames]))
    return made


def _tram(tree: dict[Any, Any]) -> People | None:
    """Read TRAM: one person per file, ``pred_rotmat`` and ``pred_trans`` in the camera's axes."""
    if "pred_rotmat" not in tree:
        return None
    found = bridged(parameters_of({
        "pose": tree["pred_rotmat"], "betas": tree.get("pred_shape"),
        "trans": tree.get("pred_trans")}), tree.get("frame"))
    return People(_camera("TRAM"), {"0": lambda: found}, {"0": len(found.rotations)})


def _aist(tree: dict[Any, Any]) -> People | None:
    """Read AIST++: 60 fps, Y up; the translation is divided by ``smpl_scaling``."""
    if not {"smpl_poses", "smpl_trans", "smpl_scaling"} <= tree.keys():
        return None
    scaling = float(np.ravel(numbers("smpl_scaling", tree["smpl_scaling"]))[0])
    if scaling <= 0:
        raise UnreadableError("the array 'smpl_scaling' is not positive")
    world = World("Y", "AIST++ has Y up", "AIST++", 60.0)
    return _single_person(world, {"poses": tree["smpl_poses"],
                                  "trans": numbers("smpl_trans", tree["smpl_trans"]) / scaling})


def _one(tree: dict[Any, Any]) -> People | None:
    """Read AMASS, and plain dictionaries of any tool."""
    if not has_parameters(tree):
        return None
    amass = "mocap_framerate" in tree or "mocap_frame_rate" in tree or (
        "poses" in tree and "trans" in tree and ("gender" in tree or "dmpls" in tree))
    return _single_person(AMASS if amass else PLAIN, tree)


def bridged(found: Parameters, frames: Any) -> Parameters:
    """Interpolate the frames that a tracker has left out.

    ``frames`` (F,) are the frames' numbers in the video; anything else is ignored. Raises
    UnreadableError if they do not increase, or if far more frames are missing than given.
    """
    if not isinstance(frames, np.ndarray | list):
        return found
    numbered = np.ravel(np.asarray(frames))
    if numbered.dtype.kind not in "iu" or len(numbered) != len(found.rotations) \
            or len(numbered) < 2:
        return found
    steps = np.diff(numbered)
    if np.any(steps < 1) or numbered[-1] - numbered[0] > 100 * len(numbered):
        raise UnreadableError("its frames are not in order")
    if np.all(steps == 1):
        return found
    moments = np.arange(numbered[0], numbered[-1] + 1)
    before = np.searchsorted(numbered, moments, side="right") - 1
    after = np.minimum(before + 1, len(numbered) - 1)
    share = (moments - numbered[before]) / np.maximum(numbered[after] - numbered[before], 1)
    place = None if found.place is None else _between(found.place, before, after, share)
    return Parameters(
        found.kind, quaternions.slerp(found.rotations[before], found.rotations[after],
                                      share[:, None]),
        place, found.betas, found.gender, found.fps, found.relative_hands,
        (*found.notes, f"{len(moments) - len(numbered)} frames in which nobody was found are"
                       " bridged"))


def _between(values: FloatArray, before: Any, after: Any, share: FloatArray) -> FloatArray:
    """Return linearly interpolated values (N, ...)."""
    return np.asarray(values[before] + share[:, None] * (values[after] - values[before]))
