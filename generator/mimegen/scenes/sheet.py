"""One performer's keys while a scene is played, and their current state."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np

from mimegen.choreography.score import FaceKey, FootKey, Key, Phase, Prop, WalkKey
from mimegen.faces.speech import slowest, speech_of
from mimegen.motion.quaternions import FloatArray
from mimegen.scenes.postures import Tracks, posture
from mimegen.scenes.spots import Spot

# Feet that would move by less than this stay where they are.
FOOT_CM = 3.0
FOOT_DEG = 12.0
TRACKS = {*Phase.model_fields} - {"at", "props", "line", "hands", "feet"}


class KeySheet:
    """One performer's keys by time.

    ``now`` has the last key of every track, ``spot`` the position on the scene's floor, ``free``
    the time in seconds from which the performer is free for another step.
    """

    def __init__(self, start: Spot) -> None:
        self.start = self.spot = start
        self.free = 0.0
        self.now: Tracks = posture("standing")
        self.props: dict[str, Prop] = {}
        self.spots: list[tuple[float, Spot]] = [(0.0, start)]
        self._keys: dict[int, Tracks] = defaultdict(dict)
        self._lines: dict[int, int] = {}

    def hold(self, moment: float, line: int = 0) -> None:
        """Add an empty phase, so that tracks hold until then before they move to later keys."""
        self.put(moment, {}, line)

    def put(self, moment: float, keys: Mapping[str, Key], line: int = 0) -> None:
        """Add keys that tracks reach at a time, in seconds."""
        self._keys[round(1000 * moment)] |= keys
        self._lines.setdefault(round(1000 * moment), line)
        self.now |= {track: key.held() for track, key in keys.items()
                     if track in posture("standing")}

    def say(self, moment: float, text: str, line: int = 0) -> None:
        """Add a text that is spoken from a time on; the performer is not free before its end."""
        key = self._keys[round(1000 * moment)].get("face", FaceKey())
        self.put(moment, {"face": key.model_copy(update={"say": text})}, line)
        self.free = max(self.free, moment + slowest(speech_of(text)))

    def go(self, since: float, arrives: float, there: Spot, how: Mapping[str, Any],
           line: int = 0) -> None:
        """Add a walk to a spot between two times; ``how`` has further fields of its key."""
        own = there.seen_from(self.start)
        self.put(arrives, {"walk": WalkKey(
            left=own.left, forward=own.forward, turn=there.turn - self.start.turn,
            since=round(since, 3), **how)}, line)
        self.spots += [(since, self.spot), (arrives, there)]
        self.spot = there

    def where(self, moment: float) -> Spot:
        """Return the last spot that the performer has reached at a time, as far as played."""
        return [spot for since, spot in self.spots if since <= moment + 1e-6][-1]

    def positions(self, moments: FloatArray) -> FloatArray:
        """Return the performer's positions (F, 2), left and forward, at times (F,).

        After the last walk so far, it is where that walk ends.
        """
        times, spots = [since for since, _ in self.spots], [spot for _, spot in self.spots]
        return np.stack([np.interp(moments, times, [spot.left for spot in spots]),
                         np.interp(moments, times, [spot.forward for spot in spots])], axis=-1)

    def stepping(self, wanted: Mapping[str, Key]) -> list[str]:
        """Return the tracks of the feet that must step to stand as ``wanted``."""
        return [track for track in ("left_foot", "right_foot") if track in wanted
                and _elsewhere(cast(FootKey, self.now[track]), cast(FootKey, wanted[track]))]

    def phases(self) -> Iterator[Phase]:
        """Yield all keys as a score's phases."""
        for moment in sorted(self._keys):
            keys = self._keys[moment]
            yield Phase(at=moment / 1000, line=self._lines[moment]).model_copy(update={
                **{track: key for track, key in keys.items() if track in TRACKS},
                "props": {name: key for name, key in keys.items() if name not in TRACKS}})


def _elsewhere(one: FootKey, other: FootKey) -> bool:
    if one.to is None or other.to is None:
        return one.to is not other.to
    apart = max(abs(a - b) for a, b in zip(one.to.offset, other.to.offset, strict=True))
    turned = abs((one.turn or 0.0) - (other.turn or 0.0))
    return apart > FOOT_CM or turned > FOOT_DEG
