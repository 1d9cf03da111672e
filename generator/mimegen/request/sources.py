"""Collect the takes to perform: takes of the library, scenes or a motion file, with options."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.choreography.manner import CueManner
from mimegen.faces.gaze import CAMERA, camera_at
from mimegen.faces.overlay import FaceOverlay
from mimegen.faces.words import emotions
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import Entry
from mimegen.library.scene_take import scene_take
from mimegen.library.score_take import read_score_once
from mimegen.library.takes import SeededTakes, library_take, user_take
from mimegen.library.watched import camera_text
from mimegen.plan.front import camera_azimuth
from mimegen.request.render_request import RenderRequest
from mimegen.shots.config import FramedCamera, RenderConfig, read_config

# Name of the render config that stands for an automatic choice.
AUTO = "auto"
# A config whose camera is that of all configs which the automatic choice may take.
SAME_CAMERA = "standard"
# Height of a standing person's eyes in metres.
EYES_ABOVE_M = 1.6


def takes_of(catalogue: Catalogue, request: RenderRequest) -> SeededTakes:
    """Return the takes of a request. Raises RequestError for unknown names, or without a source."""
    if request.motion is not None:
        take = user_take(catalogue, request.motion, request.label, request.aligned,
                         request.misaligned, request.licence, request.partner, request.reading,
                         group=request.group)
        return SeededTakes(tuple(request.altering.take(take, overlay)
                                 for overlay in overlays_of(catalogue, request)), request.seed)
    if request.scene is not None:
        return _scene_takes(catalogue, request.scene, request)
    if request.action is not None:
        return _library_takes(catalogue, request.action, request)
    raise RequestError("expected one of --action NAME, --scene NAME, --motion FILE and"
                       f" --permutations SPEC.jsonl (actions: {', '.join(catalogue.actions)};"
                       f" scenes: {', '.join(catalogue.scenes)})")


def _library_takes(catalogue: Catalogue, actions: str, request: RenderRequest) -> SeededTakes:
    """Return every combination of take, manner and face overlay of the actions."""
    entries = entries_of(catalogue, actions)
    if request.emotion is not None and request.intensity is not None:
        _refuse_sized_cue(entries)
    takes = [request.altering.take(library_take(entry, name, request.seed[0], request.style,
                                                manner, request.gait, request.hand), overlay)
             for entry in entries
             for name in (list(entry.takes) if request.take == "all" else [request.take])
             for manner in _manners(entry.take(name), request)
             for overlay in overlays_of(catalogue, request)]
    return SeededTakes(tuple(dict.fromkeys(takes)), request.seed)


def _refuse_sized_cue(entries: Sequence[Entry]) -> None:
    """Raise RequestError for a cue: an intensity beside an emotion could be either's."""
    cue = next((entry.action.id for entry in entries if entry.action.cue is not None), None)
    if cue is not None:
        raise RequestError(f"--intensity could be that of the cue {cue} or of the --emotion; leave"
                           " out --intensity (both are then at 1), or leave out --emotion to set"
                           " the cue's")


def _scene_takes(catalogue: Catalogue, scenes: str, request: RenderRequest) -> SeededTakes:
    names = list(catalogue.scenes) if scenes.strip() == "all" else scenes.split(",")
    takes = [request.altering.take(scene_take(catalogue, name.strip(), request.seed[0],
                                              request.style), overlay)
             for name in names for overlay in overlays_of(catalogue, request)]
    return SeededTakes(tuple(dict.fromkeys(takes)), request.seed)


def entries_of(catalogue: Catalogue, actions: str) -> list[Entry]:
    """Return the actions that ``A,B``, ``all``, ``cues``, ``directed`` or ``set:NAME`` selects.

    Ambiguous actions are selected only by their own names. Raises RequestError for unknown names,
    and for a set without any action in the library.
    """
    if actions.strip() == "all":
        return list(catalogue.recognisable.values())
    if actions.strip() == "cues":
        return list(catalogue.cues.values())
    if actions.strip() == "directed":
        return list(catalogue.directed.values())
    found: list[Entry] = []
    wrong: list[str] = []
    for name in actions.split(","):
        try:
            found += _entries(catalogue, name.strip())
        except RequestError as problem:
            wrong.append(str(problem))
    if wrong:
        raise RequestError("; ".join(dict.fromkeys(wrong)))
    return found


def _entries(catalogue: Catalogue, name: str) -> list[Entry]:
    of = _set_of(name)
    if of is None:
        return [catalogue.action(name)]
    found = [entry for entry in catalogue.in_set(of).values() if not entry.action.ambiguous]
    if not found:
        raise RequestError(f"the set '{of}' has no action in this library")
    return found


def _set_of(name: str) -> str | None:
    """Return NAME of ``set:NAME``; None for any other text."""
    kind, _, of = name.strip().partition(":")
    return of.strip() if kind.lower() == "set" and of else None


def ambiguous_left_out(catalogue: Catalogue, actions: str) -> int:
    """Return how many ambiguous actions ``entries_of`` leaves out of ``all`` or of sets."""
    if actions.strip() == "all":
        return len(catalogue.actions) - len(catalogue.recognisable)
    sets = [of for name in actions.split(",") if (of := _set_of(name)) is not None]
    return len({name for of in sets for name, entry in catalogue.in_set(of).items()
                if entry.action.ambiguous})


def _manners(file: Path, request: RenderRequest) -> list[CueManner]:
    """Return every requested combination of stance, intensity and frequency for a take.

    The stance ``all`` selects every stance in the take's score.
    """
    stances: Sequence[str | None] = [None] if request.stance is None else [
        name.strip() for name in request.stance.split(",")]
    if stances == ["all"]:
        stances = read_score_once(file).stances
    # With an emotion, the intensity is the emotion's.
    sizes = (request.emotion is None and request.intensity) or [None]
    return [CueManner(*one) for one in product(stances, sizes, request.frequency or [None])]


def overlays_of(catalogue: Catalogue, request: RenderRequest) -> list[FaceOverlay | None]:
    """Return the requested overlays on faces; ``[None]`` if there are none.

    Raises RequestError for an unknown emotion, a file that is not a captured face, a text that
    cannot be spoken, and an invalid gaze target.
    """
    gaze, filmed = _gaze_of(catalogue, request)
    if request.emotion is None:
        beside = FaceOverlay(file=request.face, say=request.say, gaze=gaze, filmed=filmed)
        return [None] if beside == FaceOverlay() else [_checked(beside)]
    names = [*emotions()] if request.emotion.strip() == "all" else [
        name.strip() for name in request.emotion.split(",")]
    return [_checked(FaceOverlay(name, size, request.face, request.say, gaze, filmed))
            for name, size in product(names, request.intensity or [1.0])]


def _gaze_of(catalogue: Catalogue, request: RenderRequest) -> tuple[str | None, str | None]:
    """Return the gaze target and, if it is the camera, what decides where that stands."""
    if request.gaze != CAMERA:
        return request.gaze, None
    name = SAME_CAMERA if request.config == AUTO else request.config
    config = request.altering.view.of(read_config(catalogue.file("config", name)))
    return camera_target(config), camera_text(config)


def camera_target(config: RenderConfig) -> str:
    """Return the gaze target that is the direction of the camera of angle 0."""
    camera = config.camera
    if isinstance(camera, FramedCamera):
        return camera_at(camera_azimuth(config), camera.elevation_deg)
    x, y, z = camera.position
    elevation = np.degrees(np.arctan2(z - EYES_ABOVE_M, np.hypot(x, y)))
    return camera_at(camera_azimuth(config), round(float(elevation), 1))


def _checked(overlay: FaceOverlay) -> FaceOverlay:
    """Return an overlay after reading its file, so that errors in it are found before rendering."""
    assert overlay.captured is None or overlay.captured.duration > 0
    return overlay
