"""Estimate from a pilot's answers how many answers a study needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import stats

from mimegen.base.errors import RequestError
from mimegen.evaluation.contamination.power import PowerDesign, smallest_fall
from mimegen.evaluation.contamination.rows import read_arm, read_clips
from mimegen.evaluation.contamination.verdict import Judged, judge


@dataclass(frozen=True)
class Pilot:
    """Mean pairs per model, the share of pairs that disagree, and the smallest detectable fall.

    ``clustered`` is the fall that the model with the widest error detects, with actions as
    clusters.
    """

    pairs: int
    discordance: float
    clustered: float

    def smallest(self, actions: int | None) -> float | None:
        """Return the fall that these pairs detect with 80 % power, if they are independent."""
        return smallest_fall(PowerDesign(self.discordance, self.discordance, actions=actions),
                             self.pairs)

    def words(self, actions: int | None) -> str:
        """Return a sentence about what the pilot can detect."""
        fall = self.smallest(actions)
        alone = "no fall" if fall is None else f"a fall of {100 * fall:.1f} points"
        return (f"the pilot's {self.pairs} pairs detect {alone} with 80 % power if they are"
                f" independent, and {100 * self.clustered:.1f} points with actions as clusters")

    def as_json(self, actions: int | None) -> dict[str, Any]:
        """Return the pilot as JSON content, with falls in percentage points."""
        fall = self.smallest(actions)
        return {"pairs": self.pairs, "discordance": self.discordance,
                "smallest_fall": None if fall is None else 100 * fall,
                "smallest_fall_clustered": 100 * self.clustered}


def read_pilot(seen: Path, unseen: Path, manifests: Sequence[Path]) -> Pilot:
    """Return the figures of a pilot.

    Raises RequestError as ``read_arm`` and ``judge``, and if no pair disagrees.
    """
    clips = read_clips(manifests)
    judged = judge(read_arm("seen", seen, clips), read_arm("unseen", unseen, clips), 0.05).judged
    found = [model.discordance for model in judged if model.discordance]
    asked = sum(one.pairs for one in found)
    disagree = sum(one.pairs * one.share for one in found)
    if not disagree:
        raise RequestError(f"{seen}, {unseen}: no pairs of the same action and variant with scores"
                           " of 0 or 1 that disagree; set --discordance instead")
    return Pilot(round(asked / len(found)), disagree / asked, max(map(_smallest, judged)))


def _smallest(model: Judged) -> float:
    """Return the fall that a model detects with 80 % power, from its own standard error."""
    fall = model.whole.fall
    low, top = fall.interval()
    high, target = stats.t.ppf([0.975, 0.8], fall.df)
    return float(high + target) / float(high) * (top - low) / 2
