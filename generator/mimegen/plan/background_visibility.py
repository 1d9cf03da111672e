"""How much a clip shows of its place: whether viewers can see what its background is."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from mimegen.base.code import code_key
from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.base.paths import data_folder
from mimegen.base.user_cache import cached_json, keep
from mimegen.base.vectors import direction_from
from mimegen.compositing.background import Background
from mimegen.compositing.scene_visibility import photograph_shown
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.plan.clips import PlannedClip
from mimegen.plan.staging import Filmed
from mimegen.scenery.place_visibility import TellingSet
from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import SENSOR_WIDTH_MM, Camera
from mimegen.shots.config import FramedCamera, RenderConfig
from mimegen.shots.framing import DISTANCE_STEP_M, frame_camera
from mimegen.store.shotfacts import ShotFacts

# Fraction of the picture's area. If less is visible, viewers cannot say which place it is.
MIN_SHOWN_SHARE = 0.02
DIGITS = 3  # decimal places of the fraction
# The cache of results, shared by all processes: measuring a view takes a fifth of a second.
SHOWN = "shown"
# Written by tools/bake_plans.py; no content key depends on it.
BAKED = Path("backgrounds", "shown.json")
# A standing person: height, height of the head, and reach of the arms from the middle, in metres.
STANDING_M = 1.8
HEAD_M = 1.65
REACH_M = 0.4
# How far a picture of a face extends below the middle of the head, in metres.
FACE_ROOM_M = 0.2


@dataclass(frozen=True)
class _TellingPlace:
    """A set and the names of the objects that identify it; equal if key and names are equal."""

    key: str
    tells: tuple[str, ...]
    scenery: Scenery = field(compare=False)


def background_shown(background: Background, key: str | None, camera: Camera, angle_deg: float
                     ) -> float | None:
    """Return the fraction of a picture's area that shows what identifies its place, 0 to 1.

    ``key`` is the content key of the visible set, ``angle_deg`` how far the camera is turned from
    @0. Returns None for colors and for sets without identifying objects. Raises RequestError if a
    photograph cannot be placed behind the figure.
    """
    if background.color is not None:
        return None
    if background.set is None:
        return round(photograph_shown(background, camera, angle_deg), DIGITS)
    if key is None or not background.tells:
        return None
    return _share(_TellingPlace(key, background.tells, background.set), camera)


def clip_shown(clip: PlannedClip, facts: ShotFacts) -> float | None:
    """Return ``background_shown`` of a clip, given the ``facts`` that the store has of its shot.

    Objects removed from the set for the performers do not count.
    """
    return filmed_shown(clip, clip.filmed(facts))


def filmed_shown(clip: PlannedClip, filmed: Filmed) -> float | None:
    """Return ``background_shown`` of a clip whose set is ``filmed`` in this way."""
    background = clip.background.model_copy(update={"set": clip.scenery(filmed)})
    return background_shown(background, clip.set_key(filmed), filmed.camera, clip.shot.angle)


def too_little_shown(clip: PlannedClip, facts: ShotFacts | None = None) -> str:
    """Return a warning if a clip hardly shows its place; empty if it shows enough.

    Without ``facts``, the camera is assumed to frame a standing person.
    """
    with suppress(RequestError):
        shown = clip_shown(clip, facts) if facts is not None else filmed_shown(
            clip, Filmed(standing_camera(clip.shot.config, clip.shot.angle)))
        if shown is not None and shown < MIN_SHOWN_SHARE:
            return (f"{' '.join(clip.shot.casting.words)} in {clip.chosen.name}: hardly anything in"
                    f" the picture tells what place it is (less than {MIN_SHOWN_SHARE:.0%} of its"
                    " area); take a lower elevation, a shorter lens or another angle")
    return ""


@lru_cache(maxsize=8)
def _telling(place: _TellingPlace) -> TellingSet:
    return TellingSet(place.scenery, frozenset(place.tells))


@lru_cache(maxsize=4096)
def _share(place: _TellingPlace, camera: Camera) -> float:
    key = content_key(place.key, place.tells, asdict(camera),
                      code_key("mimegen.scenery.place_visibility"))
    found = _baked().get(key, cached_json(SHOWN, key))
    if not isinstance(found, float):
        found = round(_telling(place).shown(camera), DIGITS)
        keep(SHOWN, key, found)
    return found


@cache
def _baked() -> dict[str, float]:
    """Return the results shipped with mimegen for its own sets; empty if they cannot be read.

    Keys cover the set, the camera and the code, so outdated results are not found.
    """
    with suppress(OSError, ValueError):
        found = json.loads((data_folder() / BAKED).read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def standing_camera(config: RenderConfig, angle_deg: float) -> Camera:
    """Return, approximately, the camera with which a config frames a standing person."""
    framed = config.camera
    if not isinstance(framed, FramedCamera):
        return frame_camera((), config, angle_deg)
    return _standing(framed, config.width, config.height, angle_deg)


@lru_cache(maxsize=1024)
def _standing(framed: FramedCamera, width: int, height: int, angle_deg: float) -> Camera:
    """Return the camera that frames a standing person, modelled as an upright cylinder."""
    near = FACE_ROOM_M if framed.head_only else framed.head_room_m or framed.hand_room_m
    low = 0.0 if near is None else HEAD_M - near
    middle = (low + STANDING_M) / 2
    towards = direction_from(framed.azimuth_deg + angle_deg, framed.elevation_deg)
    away = _distance(width, height, framed, STANDING_M - low)
    position = np.array([0.0, 0.0, middle]) + away * towards
    x, y, z = position.round(9).tolist()
    turn = quaternions.from_euler("xyz", np.array(
        [90.0 - framed.elevation_deg, 0.0, framed.azimuth_deg + angle_deg]))
    w, *axis = turn.round(12).tolist()
    return Camera((x, y, z), (w, axis[0], axis[1], axis[2]), framed.lens_mm, width, height)


def _distance(width: int, height: int, framed: FramedCamera, tall_m: float) -> float:
    """Return the distance, in metres, from which an upright cylinder fits within the margins."""
    across, along, up = _rims(tall_m)
    elevation = np.radians(framed.elevation_deg)
    focal = framed.lens_mm / SENSOR_WIDTH_MM * width
    free = (1.0 - 2.0 * framed.margin) / 2.0
    rise = up * np.cos(elevation) - along * np.sin(elevation)
    needed = up * np.sin(elevation) + along * np.cos(elevation) + focal / free * np.maximum(
        np.abs(across) / width, np.abs(rise) / height)
    return float(np.ceil(needed.max() / DISTANCE_STEP_M) * DISTANCE_STEP_M)


def _rims(tall_m: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a cylinder's rim points: sideways, towards the camera, and up from its middle."""
    around = np.linspace(0.0, 2.0 * np.pi, 49)
    aside, ahead = REACH_M * np.sin(around), REACH_M * np.cos(around)
    half = np.full_like(around, tall_m / 2)
    return np.tile(aside, 2), np.tile(ahead, 2), np.concatenate([half, -half])
