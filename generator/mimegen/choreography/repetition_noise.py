"""Unevenness: keys that a score repeats differ in size and position, as people's movements do."""

from dataclasses import replace
from typing import Any, cast

import numpy as np

from mimegen.base.seeds import generator
from mimegen.choreography.freedom import FREE, hand_separation, play
from mimegen.choreography.hands import HANGING
from mimegen.choreography.life import SmallMovements, life_values
from mimegen.choreography.places import Offset, Place
from mimegen.choreography.score import FootKey, HandKey, Key, PelvisKey, PropKey, Turned
from mimegen.choreography.tracks import Timeline, track_keys
from mimegen.motion.quaternions import FloatArray

# A foot has stepped if its keys are at least this far apart.
STEP_CM = 4.0
# Turns beyond this are not enlarged, and displacements of the pelvis beyond DEEP_CM (deep bends and
# jumps) are not scaled.
FAR_DEG = 35.0
DEEP_CM = 12.0
# Hands at least FAR_CM from their anchor, on a stretched arm, vary by this fraction of the others.
FAR_CM = 44.0
STRETCHED = 0.4
# The sign of outward: the variation that both hands share goes in one direction of the room.
OUTWARD = {"left_hand": 1.0, "right_hand": -1.0}
OTHER = {"left_hand": "right_hand", "right_hand": "left_hand"}


def uneven(line: Timeline, name: str, small: SmallMovements) -> Timeline:
    """Return a part's timeline with its keys varied at random.

    ``name`` and the seed of ``small`` seed the generator. Size and position of people's repeated
    movements vary by some percent, more the farther and faster they go (Schmidt et al. 1979). Hands
    near each other vary together.
    """
    rng = generator(small.seed, f"unevenness of {name}")
    complete = {track: {timed.time: cast(HandKey, timed.key)
                        for timed in track_keys(line.phases, track, HANGING)}
                for track in OUTWARD}
    means = middles(line)
    feet: dict[str, tuple[FloatArray, FloatArray]] = {}
    phases = []
    for phase in line.phases:
        alike = small.size * rng.normal(size=4)
        update: dict[str, Key] = {}
        for track, key in phase.moves():
            own, turns = small.size * rng.normal(size=4), small.size * rng.normal(size=3)
            if isinstance(key, FootKey):
                update[track] = _uneven_foot(key, own, feet, track)
            elif isinstance(key, HandKey) and key.to is not None:
                full = complete[track][phase.at]
                share = hand_separation(full, _at(complete[OTHER[track]], phase.at))
                noise = share * own + np.sqrt(1 - share**2) * alike * [1, OUTWARD[track], 1, 1]
                offset = _uneven_offset(key.to.offset, noise * _freedom(full),
                                        means[track, key.to.anchor])
                update[track] = key.model_copy(update={"to": Place(key.to.anchor, offset)})
            elif isinstance(key, Turned) and not isinstance(key, PropKey):
                update[track] = _uneven_turn(key, own, turns)
        whole = {"hands": None, "feet": None} if update else {}
        phases.append(phase.model_copy(update={**{
            track: key for track, key in phase.moves() if track not in phase.props}, **whole,
            **update}))
    return replace(line, phases=tuple(phases))


def middles(line: Timeline) -> dict[tuple[str, str], FloatArray]:
    """Return the mean offsets (3,) of each hand and prop, by track and anchor."""
    offsets: dict[tuple[str, str], list[Offset]] = {}
    for phase in line.phases:
        for track, key in phase.moves():
            if isinstance(key, HandKey | PropKey) and key.to is not None:
                offsets.setdefault((track, key.to.anchor), []).append(key.to.offset)
    return {name: np.mean(places, axis=0) for name, places in offsets.items()}


def _at(keys: dict[float, HandKey], moment: float) -> HandKey:
    """Return the last key at or before a time."""
    return keys[max(time for time in keys if time <= moment)]


def _freedom(key: HandKey) -> FloatArray:
    """Return a hand's factors on the noise (4,): of its movement's size, and of its position."""
    free = key.to is not None and key.to.anchor in FREE
    return np.array([1.0 if free else play(key), *np.repeat(play(key), 3)])


def _uneven_offset(offset: Offset, noise: FloatArray, middle: FloatArray) -> Offset:
    """Return an offset varied by ``noise`` (4,): its distance from the mean, and its position."""
    values = life_values().uneven
    # An arm that is stretched out varies less, so that it stays stretched out.
    noise = noise * (STRETCHED if np.linalg.norm(offset) > FAR_CM else 1.0)
    moved = middle + (np.array(offset) - middle) * (1 + values.size * noise[0])
    out, forward, up = (float(step) for step in moved + values.place_cm * noise[1:])
    return out, forward, up


def _uneven_turn(key: Turned, own: FloatArray, turns: FloatArray) -> Turned:
    values, update = life_values().uneven, {}
    for name, noise in zip(("turn", "lean", "tilt"), turns, strict=True):
        if (degrees := getattr(key, name)) is not None:
            grown = 1 + values.size * own[0] * (abs(degrees) < FAR_DEG or own[0] < 0)
            update[name] = degrees * grown + values.turn_deg * noise
    if isinstance(key, PelvisKey):
        for name, noise in zip(("left", "forward", "up"), own[1:], strict=True):
            if (centimetres := getattr(key, name)) is not None:
                # Lower the pelvis only: knees may bend more, but hardly stretch beyond the score.
                grown = values.size * centimetres * own[0] if abs(centimetres) < DEEP_CM else 0.0
                update[name] = centimetres + (
                    grown - values.pelvis_cm * abs(noise) if name == "up"
                    else values.pelvis_cm * noise)
    return key.model_copy(update=update)


def _uneven_foot(key: FootKey, own: FloatArray, feet: dict[str, tuple[FloatArray, FloatArray]],
                 track: str) -> FootKey:
    """Return a foot's key with its position varied at each step; a foot that stays is not moved."""
    values, update = life_values().uneven, cast(dict[str, Any], {})
    if key.to is not None:
        written = np.array(key.to.offset)
        before, aside = feet.get(track, (np.full(3, np.inf), np.zeros(3)))
        if not np.linalg.norm((written - before)[:2]) < STEP_CM:
            aside = values.foot_cm * np.append(own[:2], 0.0)
        feet[track] = written, aside
        out, forward, up = (float(step) for step in written + aside)
        update["to"] = Place(key.to.anchor, (out, forward, up))
    if key.turn is not None:
        update["turn"] = key.turn + values.turn_deg * own[2]
    if key.heel is not None:
        update["heel"] = key.heel * (1 + values.size * own[3])
    return key.model_copy(update=update)
