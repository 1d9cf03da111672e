"""Read score files: expand their shorthand and report errors with file, line and key."""

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

import numpy as np

from mimegen.base.errors import near_misses
from mimegen.base.yaml_file import YamlFile
from mimegen.choreography.body import landmark_names, partner_landmarks, sideless_anchors
from mimegen.choreography.places import LEFT, Direction, Place
from mimegen.choreography.score import (
    Arrival,
    FaceKey,
    FootKey,
    GazeKey,
    HandKey,
    Partner,
    PelvisKey,
    Phase,
    Prop,
    PropKey,
    Repeat,
    Score,
    ShouldersKey,
    Stands,
    Variety,
    WalkKey,
)
from mimegen.choreography.stances import staged
from mimegen.choreography.walking import walks
from mimegen.faces.speech import speech_of
from mimegen.gait.walker import FASTEST_M_S
from mimegen.motion.hand_shapes import hand_shapes

# The path of keys and indices from the top of the file to one of its parts.
Where = tuple[str | int, ...]
TRACKS = tuple(name for name in Phase.model_fields if name not in ("at", "props", "line"))
# Largest speed of speech, as a multiple of the usual.
FASTEST = 1.5
HAND_TRACKS = ("left_hand", "right_hand", "hands")


def read_score(path: Path, stance: str | None = None) -> Score:
    """Read a ``.score.yaml`` file.

    ``stance`` selects one of the stances of a cue's score, by default its first. Raises
    RequestError with the file, line and key of the first error: unknown tracks, landmarks and hand
    shapes (with near misses), time running backwards.
    """
    document = YamlFile(path)
    staging = "stances" in document.content
    content = staged(document, stance) if staging else document.content
    content = _with_props(document, content, ())
    names = set(content.get("props") or ())
    if isinstance(partner := content.get("partner"), dict):
        content["partner"] = _with_props(document, partner, ("partner",))
        names |= set(partner.get("props") or ())
    score = document.parsed(Score, content, (*TRACKS, *names, *_field_names()))
    for where, part in zip(((), ("partner",)), score.parts(), strict=False):
        _check_times(document, part, where)
        _check_walks(document, part, where)
        _check_words(document, part, where, with_partner=score.partner is not None)
        _check_speech(document, part, where)
    _check_repeats(document, score)
    score.came_from(str(path))
    return score


def _with_props(document: YamlFile, part: dict[str, Any], where: Where) -> dict[str, Any]:
    """Gather each phase's keys for props, which the file writes beside the other tracks."""
    phases, props = part.get("phases"), part.get("props") or {}
    if not isinstance(props, dict):
        raise document.error((*where, "props"), f"expected a mapping of names, got {props!r}")
    if not isinstance(phases, list):
        return dict(part)
    states = part.get("hand_states") or {}
    gathered: list[Any] = []
    for number, phase in enumerate(phases):
        place = (*where, "phases", number)
        if not isinstance(phase, dict):
            raise document.error(place, "expected 'at:' and tracks")
        if "props" in phase or "line" in phase:
            raise document.error(place, "props are written as tracks, by their names")
        phase = _with_how(document, _with_hand_states(document, phase, states, place), place)
        own = {name: phase[name] for name in props if name in phase}
        rest = {name: value for name, value in phase.items() if name not in own}
        gathered.append({**rest, "props": own, "line": document.line(place)})
    return {name: value for name, value in part.items() if name != "hand_states"} | {
        "phases": gathered}


def _with_hand_states(document: YamlFile, phase: dict[str, Any], states: Any,
                      where: Where) -> dict[str, Any]:
    """Return the phase with each hand state written out; a key's own values take precedence."""
    if not isinstance(states, dict) or not all(isinstance(one, dict) for one in states.values()):
        raise document.error((*where[:-2], "hand_states"), "expected a mapping of names to keys")
    written = dict(phase)
    for track in HAND_TRACKS:
        key = phase.get(track)
        if isinstance(key, dict) and "state" in key:
            if not isinstance(key["state"], str) or key["state"] not in states:
                raise document.error((*where, track, "state"), "unknown hand state"
                                     f" {key['state']!r}{near_misses(str(key['state']), states)}")
            own = {name: value for name, value in key.items() if name != "state"}
            written[track] = {**states[key["state"]], **own}
    return written


def _with_how(document: YamlFile, phase: dict[str, Any], where: Where) -> dict[str, Any]:
    """Return the phase with its ``how`` copied to all tracks that do not have their own."""
    if "how" not in phase:
        return phase
    how, known = phase["how"], get_args(Arrival)
    if not isinstance(how, str) or how not in known:
        raise document.error((*where, "how"), f"unknown way to arrive {how!r}"
                                              f"{near_misses(str(how), known)}")
    return {name: {"how": how, **key} if isinstance(key, dict) else key
            for name, key in phase.items() if name != "how"}


def _field_names() -> set[str]:
    kinds = (WalkKey, PelvisKey, GazeKey, PropKey, FootKey, ShouldersKey, FaceKey, HandKey, Score,
             Repeat, Variety, Partner, Stands, Prop)
    return {name for kind in kinds for name in kind.model_fields} | {"hand_states", "state"}


def _check_times(document: YamlFile, score: Score, where: Where) -> None:
    moments = [phase.at for phase in score.phases]
    if moments[0] != 0:
        raise document.error((*where, "phases", 0, "at"), "the first phase is at 0")
    for number in range(1, len(moments)):
        if moments[number] <= moments[number - 1]:
            raise document.error(
                (*where, "phases", number, "at"),
                f"time runs backwards: {moments[number]:g} s follows {moments[number - 1]:g} s",
            )
    for number, phase in enumerate(score.phases):
        if phase.walk and phase.walk.since is not None and phase.walk.since >= phase.at:
            raise document.error((*where, "phases", number, "walk", "since"),
                                 f"time runs backwards: {phase.walk.since:g} s is not before"
                                 f" {phase.at:g} s")
    if score.duration < moments[-1]:
        raise document.error(
            ("duration",), f"{score.duration:g} s ends before the last phase at {moments[-1]:g} s"
        )


def _check_walks(document: YamlFile, score: Score, where: Where) -> None:
    """Raise RequestError for a walk that would be faster than people run."""
    for walk in walks(score.phases):
        if walk.speed_m_s > FASTEST_M_S:
            [number] = [number for number, phase in enumerate(score.phases)
                        if phase.at == walk.times[-1]]
            raise document.error((*where, "phases", number, "walk"),
                                 f"{walk.speed_m_s:.1f} m/s: people run at {FASTEST_M_S:g} m/s at"
                                 " most; give more time, or a nearer place")


def _check_speech(document: YamlFile, score: Score, where: Where) -> None:
    """Raise RequestError for a text that cannot be spoken in the time until the next."""
    texts = [(number, phase.at, speech_of(phase.face.say).duration)
             for number, phase in enumerate(score.phases) if phase.face and phase.face.say]
    ends = (*(at for _, at, _ in texts[1:]), score.duration)
    for (number, at, lasts), end in zip(texts, ends, strict=False):
        if end - at < lasts / FASTEST:
            raise document.error((*where, "phases", number, "face", "say"),
                                 f"takes {lasts:.1f} s to speak, and there are {end - at:.1f} s for"
                                 " it; shorten it, or let it begin earlier")


def _check_repeats(document: YamlFile, score: Score) -> None:
    moments = [phase.at for phase in score.phases]
    end = 0.0
    for number, repeat in enumerate(score.repeat):
        for name, moment in (("after", repeat.after), ("until", repeat.until)):
            if moment not in moments:
                raise document.error(("repeat", number, name), f"no phase is at {moment:g} s")
        if not end <= repeat.after < repeat.until:
            raise document.error(("repeat", number), "spans come one after another")
        end = repeat.until
    optional = sum(repeat.until - repeat.after for repeat in score.repeat if not repeat.least)
    if optional >= score.duration:
        raise document.error(("repeat",), "with `least: 0` everywhere, a seed may leave out the"
                                          " whole take; raise one of them")


def _check_words(document: YamlFile, score: Score, where: Where, with_partner: bool) -> None:
    """Raise RequestError for unknown landmarks and hand shapes."""
    partner = partner_landmarks() if with_partner else ()
    landmarks = (*landmark_names(), *score.props, *partner)
    sideless = (*sideless_anchors(), *score.props, *partner)
    shapes = hand_shapes()
    for number, phase in enumerate(score.phases):
        for track, key in phase.moves():
            key_at = (*where, "phases", number, _written_as(track, phase))
            place: Place | None = getattr(key, "to", None)
            if place is not None:
                known = landmarks if track.endswith("hand") else sideless
                _check_place(document, place.anchor, key_at, landmarks, known)
            if isinstance(key, HandKey):
                _check_hand(document, key, key_at, shapes)


def _written_as(track: str, phase: Phase) -> str:
    """Return a track's name in the file, which may be ``hands`` or ``feet`` for both sides."""
    if track in phase.model_fields_set or track in phase.props:
        return track
    return "hands" if track.endswith("hand") else "feet"


def _check_place(document: YamlFile, anchor: str, key_at: Where, landmarks: Collection[str],
                 fitting: Collection[str]) -> None:
    """Raise RequestError for an anchor that is unknown, or not ``fitting`` for its track."""
    if anchor not in landmarks:
        raise document.error((*key_at, "to"), f"unknown landmark {anchor!r}"
                                              f"{near_misses(anchor, landmarks)}")
    if anchor not in fitting:
        raise document.error((*key_at, "to"),
                             f"{anchor!r} has two sides; only a hand has its own")


def _check_hand(document: YamlFile, key: HandKey, key_at: Where, shapes: Collection[str]) -> None:
    """Raise RequestError for an unknown hand shape, or fingers parallel to the palm's direction."""
    if key.shape is not None and key.shape not in shapes:
        raise document.error((*key_at, "shape"), f"unknown hand shape {key.shape!r}"
                                                 f"{near_misses(key.shape, shapes)}")
    if key.palm and key.fingers and _on_one_line(key.palm, key.fingers):
        raise document.error((*key_at, "fingers"), "the fingers must not point in the"
                             " palm's direction or opposite to it")


@lru_cache(maxsize=4096)
def _on_one_line(first: Direction, second: Direction) -> bool:
    a, b = first.in_axes(LEFT), second.in_axes(LEFT)
    return bool(np.linalg.norm(np.cross(a, b)) < 0.1 * np.linalg.norm(a) * np.linalg.norm(b))
