"""Anchors: the moving frames of landmarks, props, hands and partner that keys refer to."""

from typing import NamedTuple, cast

import numpy as np

from mimegen.base.vectors import product
from mimegen.choreography import hands, trunk
from mimegen.choreography.body import (
    FLOOR,
    HERE,
    PARTNER,
    MovingFrame,
    centimetre,
    landmark_frames,
    partner_position,
)
from mimegen.choreography.freedom import apartness, play, prop_play
from mimegen.choreography.life import Life, life_values
from mimegen.choreography.places import LEFT, RIGHT, Place, in_body_axes
from mimegen.choreography.score import GazeKey, PropKey, Score
from mimegen.choreography.tracks import (
    Clock,
    Timeline,
    eased_weights,
    track_keys,
    track_values,
    track_weights,
)
from mimegen.choreography.walking import body_ground, walk_start, walks
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray

SIDES = {"Left": LEFT, "Right": RIGHT}
# The gaze of a score without gaze keys: 6 m ahead, 1.4 m above the floor.
AHEAD = GazeKey(to=Place(HERE, (0.0, 600.0, 140.0)))


class Context(NamedTuple):
    """Data shared by all parts of one performer's solution.

    ``line`` has the keys, ``moments`` (F,) the times of the frames in seconds, ``life`` the small
    movements. ``partner`` is the other performer's pose in this one's world, None if there is none.
    """

    skeleton: Skeleton
    line: Timeline
    moments: FloatArray
    fps: float
    life: Life
    partner: GlobalPose | None

    def clock(self, track: str) -> Clock:
        """Return a track's clock: the frames' times, and how late the track is at each."""
        return Clock(self.moments, self.life.lateness(track, self.moments))

    @property
    def walked(self) -> FloatArray:
        """The times in the score (F,), in seconds, that the performer's steps have reached."""
        return self.line.score_time(self.clock("walk").now)

    @property
    def unit(self) -> float:
        """A score's centimetre in metres."""
        return centimetre(self.skeleton)


def own_floor(context: Context) -> MovingFrame:
    """Return the frame of the floor under the performer, which moves and turns as they walk."""
    phases = context.line.phases_in_score_time
    ground = body_ground(walks(phases), walk_start(phases), context.walked)
    places = in_body_axes(np.column_stack([ground.place, np.zeros(len(ground.place))]))
    return MovingFrame(places * context.unit, about_z(ground.turn))


def about_z(degrees: FloatArray) -> FloatArray:
    """Return the rotations (F, 4) about Z that turn to the left by ``degrees`` (F,)."""
    vectors = np.zeros((len(degrees), 3))
    vectors[:, 2] = np.deg2rad(degrees)
    return quaternions.from_rotation_vectors(vectors)


class Anchors:
    """Landmarks, props, hands and the partner as moving frames."""

    def __init__(self, score: Score, context: Context, pose: GlobalPose) -> None:
        """Take the frames from ``pose``, the global pose as far as it has been solved."""
        self.score, self.context, self.pose = score, context, pose
        self._known: dict[tuple[str, float], MovingFrame] = {}
        self._tracks: dict[str, hands.HandTrack] = {}

    def hand_track(self, side: str) -> hands.HandTrack:
        """Return one hand's keys, with its clock and its deviations from them.

        Hands near each other share lateness and drift; the farther apart they are, the more each
        has its own.
        """
        if side not in self._tracks:
            self._tracks[side] = self._hand_track(side)
        return self._tracks[side]

    def _hand_track(self, side: str) -> hands.HandTrack:
        life, moments = self.context.life, self.context.moments
        own, other = f"{side.lower()}_hand", "left_hand" if side == "Right" else "right_hand"
        keys, others = (track_keys(self.context.line.phases, name, hands.HANGING)
                        for name in (own, other))
        shared = Clock(moments, life.lateness("hands", moments))
        weights = track_weights(keys, shared.now)
        apart = np.clip(product(weights, apartness(keys, others)), 0.0, 1.0)
        ease = np.clip(life.fingers[own].at(moments) + life_values().fingers.relaxed, 0.0, 1.0)
        bare = hands.HandTrack(keys, SIDES[side], shared, np.zeros(3), np.zeros(3), ease)
        late = shared.late + apart * bare.weighted_mean(play) * life.lateness(own, moments)
        drift, alike = (life.drifted(name, moments) for name in (own, "left_hand"))
        drift = alike + apart[:, None] * (drift - alike)
        return bare._replace(clock=Clock(moments, late), drift=drift * self.context.unit,
                             stray=apart[:, None] * life.stray[own].at(moments))

    def resolve(self, name: str, side: float) -> MovingFrame:
        """Return the frame of an anchor; ``side`` is that of the hand that uses it."""
        if (name, side) not in self._known:
            self._known[name, side] = self._found(name, side)
        return self._known[name, side]

    def _found(self, name: str, side: float) -> MovingFrame:
        count = len(self.context.moments)
        if name == FLOOR:
            return MovingFrame(np.zeros((count, 3)), np.tile(quaternions.IDENTITY, (count, 1)))
        if name == HERE:
            return own_floor(self.context)
        if name in self.score.props:
            return self._prop(name)
        if name.startswith(PARTNER) and self.context.partner is not None:
            places = partner_position(self.context.skeleton, self.context.partner, name)
            return MovingFrame(places, np.tile(quaternions.IDENTITY, (count, 1)))
        if name in ("left_hand", "right_hand", "other_hand"):
            own = side if name == "other_hand" else (LEFT if name == "right_hand" else RIGHT)
            return self._hand("Right" if own == LEFT else "Left")
        return landmark_frames(self.context.skeleton, self.pose, name, side)

    def _hand(self, side: str) -> MovingFrame:
        self._known[f"{side.lower()}_hand", LEFT] = self.resolve("chest", LEFT)
        points = hands.touching_points(self.hand_track(side), self.resolve, self.context.unit)
        return MovingFrame(points, self.resolve("chest", LEFT).rotations)

    def _prop(self, name: str) -> MovingFrame:
        """Return a prop's frame: its keys' anchors blended, with its own rotation and drift."""
        start = PropKey(to=Place("chest", (0.0, 35.0, -5.0)))
        keys = track_keys(self.context.line.phases, name, start)
        now = self.context.clock("hands").now
        weights = track_weights(keys, now)
        turns = track_values(keys, ("turn", "lean", "tilt"), now)
        own = trunk.turned(trunk.TrunkAngles(*turns.T))
        frames = [self._on(timed.key) for timed in keys]
        places = np.einsum("fk,kfc->fc", weights, np.stack([f.positions for f in frames]))
        free = product(weights, [prop_play(cast(PropKey, timed.key)) for timed in keys])
        drift = self.context.life.drifted("left_hand", self.context.moments)
        places += free[:, None] * drift * self.context.unit
        rotations = quaternions.normalise(
            np.einsum("fk,kfc->fc", weights, np.stack([f.rotations for f in frames]))
        )
        return MovingFrame(places, quaternions.multiply(rotations, own))

    def _on(self, key: object) -> MovingFrame:
        """Return the anchor's frame of a prop's or gaze's key, displaced by the key's offset."""
        assert isinstance(key, PropKey | GazeKey) and key.to is not None
        frame = self.resolve(key.to.anchor, LEFT)
        offset = in_body_axes(np.array(key.to.offset) * self.context.unit)
        return MovingFrame(frame.place(offset), frame.rotations)

    def gaze(self) -> FloatArray:
        """Return the positions (F, 3) that the person looks at."""
        keys = track_keys(self.context.line.phases, "gaze", AHEAD)
        weights = eased_weights(keys, self.context.clock("gaze"), life_values().follow["gaze"])
        places = np.stack([self._on(timed.key).positions for timed in keys])
        return np.asarray(np.einsum("fk,kfc->fc", weights, places))
