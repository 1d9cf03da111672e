"""Takes of hand actions: a row of their table, varied by a seed and performed as a score."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mimegen.choreography.happenings import Happenings, happenings
from mimegen.choreography.score import Score
from mimegen.hands.compiling import Drawn, HandName, drawn, happenings_of, score_of
from mimegen.hands.table import Gesture, HandClass
from mimegen.library.hand_entries import HandEntry
from mimegen.library.score_take import ComputedScoreTake
from mimegen.library.take import with_speech
from mimegen.manifest.timeline import Interval, retold

HANDS = "hands"


@dataclass(frozen=True, kw_only=True)
class HandTake(ComputedScoreTake):
    """A hand action; ``hand`` is the requested one, None lets the seed draw it."""

    gesture: Gesture = field(compare=False, repr=False)
    hand_class: HandClass = field(compare=False, repr=False)
    hand: HandName | None = None

    @cached_property
    def draw(self) -> Drawn:
        """The values drawn by the seed.

        Raises RequestError if one hand is requested of an action that takes both.
        """
        return drawn(self.gesture, self.seed, self.hand)

    @cached_property
    def score(self) -> Score:
        """The action as a score."""
        return score_of(self.gesture, self.hand_class, self.draw, self.file)

    @property
    def version(self) -> tuple[str, ...]:
        """The seed, the requested style and hand, and the words for alterations."""
        return (f"seed{self.seed}", *filter(None, [self.style, self.hand]), *self.altered_words)

    @property
    def declared_happenings(self) -> Happenings:
        """When the hand performs the action."""
        return happenings_of(self.gesture, self.hand_class, self.draw, self.score)

    @cached_property
    def timeline(self) -> list[Interval]:
        """The timeline, without contacts, because no object is held where the hands meet."""
        found = happenings(self.score, self.declared_happenings, self.seed, self.style)
        seen = [one for one in found if one.kind != "contact"]
        return with_speech(self, retold(seen, self.mirror, self.tempo))

    def facts(self) -> dict[str, Any]:
        """Return the manifest's fields for the take."""
        draw = self.draw
        return {**self.described(), "seed": self.seed, "style": self.style, "motion_kind": HANDS,
                "hand_action": {"hand": draw.hand, "asked": self.hand, "size": draw.size,
                                "tempo": draw.tempo, "posture_cm": list(draw.posture),
                                "hand_shape": self.gesture.hand.shape}}


def hand_take(entry: HandEntry, take: str | None, seed: int, style: str | None,
              hand: HandName | None) -> HandTake:
    """Return a take of a hand action.

    Raises RequestError for an unknown take, and if one hand is requested of a two-handed action.
    """
    gesture, hand_class = entry.gesture(take)
    action = entry.action
    made = HandTake(
        action=action.id, name=gesture.take, labels=action.labels,
        aligned=action.aligned_background, misaligned=action.misaligned_background,
        file=entry.file, seed=seed, actor="choreography", licence=action.licence, style=style,
        semantic_group=action.semantic_group, intentions=action.intentions,
        gesture=gesture, hand_class=hand_class, hand=hand)
    assert made.draw is not None, "a wrong hand is told here"
    return made
