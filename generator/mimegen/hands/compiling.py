"""Compile a hand action, with the variation that a seed draws, to a score."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.seeds import generator
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.choreography.happenings import Happenings, TimelineStep
from mimegen.choreography.places import LEFT, RIGHT, Direction, Place
from mimegen.choreography.score import (
    GazeKey,
    HandKey,
    Phase,
    Prop,
    PropKey,
    Score,
    Variety,
)
from mimegen.hands.table import PALM_TO_CAMERA_DEG, Gesture, Hand, HandClass, Stop

HandName = Literal["left", "right", "both"]
SIDES = {"left": LEFT, "right": RIGHT}
# Ranges that seeds draw from: size and tempo as factors; posture as displacements outward, forward
# and up, in cm.
SIZES = (0.85, 1.2)
TEMPI = (0.8, 1.25)
POSTURES = (-3.0, 4.0), (-5.0, 2.0), (-9.0, 5.0)
RIGHT_HANDED = 0.65
# How long a hand is held before it starts and at the end, in seconds.
BEFORE_S = 0.35
AFTER_S = 0.5
# How far hands sink at the end, in cm.
SINKING_CM = 2.5
# Anchors on the trunk, where the posture may displace hands; at the face they stay where they are.
MOVABLE = ("shoulder", "chest")
FORWARD = Direction(0, 1, 0)
# Hands that meet are placed relative to a prop in front of the chest, so that a seed's variation
# moves them together.
MEETING = "meeting"
CHEST = "chest"


@dataclass(frozen=True)
class Drawn:
    """The variation of a hand action: hand or hands, size and tempo (factors), posture (cm)."""

    hand: HandName
    size: float = 1.0
    tempo: float = 1.0
    posture: tuple[float, float, float] = (0.0, 0.0, 0.0)


def drawn(gesture: Gesture, seed: int, hand: HandName | None) -> Drawn:
    """Return the variation that a seed draws.

    Seed 0 is the right hand and the action as it is in the table. ``hand`` is the requested one, or
    None. Raises RequestError if one hand is requested for an action of both.
    """
    if gesture.both and hand in ("left", "right"):
        raise RequestError(f"--hand {hand}: {gesture.id} takes both hands")
    rng = generator(seed, gesture.id, gesture.take, "hand")
    own: HandName = "right" if seed == 0 or rng.uniform() < RIGHT_HANDED else "left"
    chosen = "both" if gesture.both else hand or own
    if gesture.other is not None and chosen == "both":
        chosen = own
    if seed == 0:
        return Drawn(chosen)
    size, tempo = (round(float(rng.uniform(*span)), 3) for span in (SIZES, TEMPI))
    out, forward, up = (round(float(rng.uniform(*span)), 2) for span in POSTURES)
    if gesture.two_handed:
        out, forward, up = 0.0, round(forward / 2, 2), round(up / 2, 2)
    return Drawn(chosen, size, tempo, (out, forward, up))


def score_of(gesture: Gesture, hand_class: HandClass, draw: Drawn, source: Path) -> Score:
    """Return the score of a gesture with its variation; ``source`` is the table's file."""
    phases = tuple(_phases(gesture, draw))
    score = Score(
        action=gesture.id, about=hand_class.does, duration=round(phases[-1].at, 3),
        facing=_facing(gesture, draw), phases=phases,
        props={MEETING: Prop(about="where the hands meet")} if _meets(gesture) else {},
        vary=Variety(tempo=0.0, amplitude=0.0, stance=0.6, repeats=0, mirror=False))
    score.came_from(str(source.with_name(f"{gesture.take}.score.yaml")), compiled=True)
    return score


def _meets(gesture: Gesture) -> bool:
    """Return whether the gesture is one of two hands that meet in front of the chest."""
    return gesture.two_handed and gesture.hand.anchor == CHEST


def _meeting(gesture: Gesture, draw: Drawn) -> PropKey:
    """Return the position at which the hands meet, in the middle in front of the chest."""
    _, forward, up = np.add(gesture.hand.at, draw.posture)
    return PropKey(to=Place(CHEST, (0.0, round(float(forward), 4), round(float(up), 4))))


def _facing(gesture: Gesture, draw: Drawn) -> float:
    """Return the performer's facing in degrees, mirrored about the camera for the left hand."""
    if gesture.two_handed or draw.hand == "both":
        return MIME_AZIMUTH_DEG if gesture.facing == PALM_TO_CAMERA_DEG else gesture.facing
    return gesture.facing if draw.hand == "right" else 2 * MIME_AZIMUTH_DEG - gesture.facing


def happenings_of(gesture: Gesture, hand_class: HandClass, draw: Drawn, score: Score) -> Happenings:
    """Return the timeline: one step from when the hand starts moving until it rests."""
    start, end = BEFORE_S / draw.tempo, score.phases[-2].at
    hand = None if draw.hand == "both" else draw.hand
    return Happenings(steps=(TimelineStep.model_validate(
        {"from": round(start, 3), "to": round(end, 3), "does": hand_class.does, "hand": hand}),))


def _phases(gesture: Gesture, draw: Drawn) -> Iterator[Phase]:
    """Yield the phases of the score, with the keys of both hands in each."""
    cycle = [*gesture.way] * gesture.times
    at = 0.0
    yield _phase(0.0, gesture, cycle[0], draw, gaze=True)
    yield _phase(BEFORE_S / draw.tempo, gesture, cycle[0], draw)
    at = BEFORE_S / draw.tempo
    for stop in cycle[1:]:
        at += stop.s / draw.tempo
        yield _phase(round(at, 4), gesture, stop, draw)
    yield _phase(round(at + AFTER_S / draw.tempo, 4), gesture, _sinking(cycle[-1]), draw)


def _sinking(stop: Stop) -> Stop:
    """Return the final stop, in which hands sink, so that no take ends as a still picture."""
    return stop.model_copy(update={"up": stop.up - SINKING_CM, "how": "pass"})


def _phase(at: float, gesture: Gesture, stop: Stop, draw: Drawn, gaze: bool = False) -> Phase:
    """Return the phase at time ``at`` (seconds), with the keys of both hands."""
    keys = {}
    for name, side in SIDES.items():
        if draw.hand in (name, "both"):
            keys[f"{name}_hand"] = _key(gesture, gesture.hand, stop, side, draw)
        elif gesture.other is not None:
            keys[f"{name}_hand"] = _key(gesture, gesture.other, Stop(), side, draw)
    look = GazeKey(to=Place("here", (0.0, 400.0, 150.0))) if gaze else None
    props = {MEETING: _meeting(gesture, draw)} if gaze and _meets(gesture) else {}
    return Phase(at=at, gaze=look, left_hand=keys.get("left_hand"),
                 right_hand=keys.get("right_hand"), props=props)


def _key(gesture: Gesture, hand: Hand, stop: Stop, side: float, draw: Drawn) -> HandKey:
    """Return a hand's key at a stop; ``side`` is that of the hand."""
    turn = (hand.turn if stop.turn is None else stop.turn) + stop.spin
    palm, fingers = stop.palm or hand.palm, stop.fingers or hand.fingers
    if hand.thumb is not None:
        palm, fingers = _thumb_to(hand.thumb, side), Direction(0, 0, 1)
    return HandKey(
        to=_to(gesture, hand, stop, side, draw), touch=hand.touch,
        palm=_turned(palm, turn, side), fingers=_turned(fingers, turn, side),
        shape=stop.shape or hand.shape, elbow=hand.elbow or Direction(0.5, 0, -1), how=stop.how)


def _thumb_to(way: str, side: float) -> Direction:
    """Return the direction of an upright hand's palm for which its thumb points to ``way``."""
    return FORWARD if SIDES[way] != side else Direction(0, -1, 0)


def _to(gesture: Gesture, hand: Hand, stop: Stop, side: float, draw: Drawn) -> Place:
    """Return the position of a hand, relative to the meeting point if both hands meet."""
    if not _meets(gesture):
        return Place(hand.anchor, _place(hand, stop, side, draw))
    _, forward, up = gesture.hand.at
    near = hand.model_copy(update={"anchor": MEETING, "at": (
        hand.at[0], hand.at[1] - forward, hand.at[2] - up)})
    return Place(MEETING, _place(near, stop, side, draw))


def _place(hand: Hand, stop: Stop, side: float, draw: Drawn) -> tuple[float, float, float]:
    """Return a hand's position relative to its anchor (outward, forward, up), in cm."""
    own = np.array([stop.out - stop.inward + side * (stop.left - stop.right), stop.forward,
                    stop.up])
    at = np.array(hand.at) + draw.size * own
    if hand.anchor in MOVABLE:
        at = at + draw.posture
    if stop.spin:
        across, up = _clockwise(-side * at[0], at[2], stop.spin)
        at = np.array([-side * across, at[1], up])
    out, forward, up = (round(float(number), 4) for number in at)
    return out, forward, up


def _turned(direction: Direction | None, degrees: float, side: float) -> Direction | None:
    """Return a direction rotated about the person's forward axis, clockwise as they see it."""
    if direction is None or not degrees:
        return direction
    rightward = -(side * direction.out + direction.left)
    across, up = _clockwise(rightward, direction.up, degrees)
    return Direction(-side * across, direction.forward, up)


def _clockwise(right: float, up: float, degrees: float) -> tuple[float, float]:
    """Return right and up after a clockwise rotation by ``degrees``."""
    cosine, sine = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return float(right * cosine + up * sine), float(up * cosine - right * sine)
