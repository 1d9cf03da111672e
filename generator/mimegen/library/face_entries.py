"""Catalogue entries of facial emotions and of a neutral face, from one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from mimegen.base.paths import data_file
from mimegen.choreography.action import Action
from mimegen.faces.words import Emotion, emotions
from mimegen.library.entry import Entry

LICENCE = "CC0-1.0"
GAIA = "gaia-faces"
NEUTRAL = "neutral_face"
ALIGNED = "living_room"
MISALIGNED = "warehouse"


@dataclass(frozen=True)
class FaceEntry(Entry):
    """An emotion shown by a standing person; None for a face at rest."""

    emotion: str | None = None

    @property
    def file(self) -> Path:
        """The table of emotions."""
        return data_file("rigs/faces/emotions.yaml")

    @cached_property
    def takes(self) -> dict[str, Path]:
        """The score of the body, under the action's own name."""
        return {self.action.id: data_file("rigs/faces/standing.score.yaml")}


@cache
def face_entries() -> Mapping[str, FaceEntry]:
    """Return the emotions and the neutral face by id."""
    shown = {name: FaceEntry(_action(name, emotion), (), None, name)
             for name, emotion in emotions().items()}
    return shown | {NEUTRAL: FaceEntry(_neutral(), ())}


def _action(name: str, emotion: Emotion) -> Action:
    """Return the action that describes an emotion."""
    return Action(
        id=name, name=name, labels=(name,), aliases=(f"{name} face", f"{name} expression"),
        aligned_background=ALIGNED, misaligned_background=MISALIGNED,
        semantic_group=f"{emotion.kind} face", sets={GAIA: (name,)} if emotion.gaia else {},
        intentions=(f"to show {name}",), licence=LICENCE, author="mimegen",
        recognised_by=f"The face shows {', '.join(emotion.units)}: {emotion.source}.")


def _neutral() -> Action:
    return Action(
        id=NEUTRAL, name="a neutral face", labels=("a neutral face",), aliases=("no expression",),
        aligned_background=ALIGNED, misaligned_background=MISALIGNED,
        semantic_group="neutral face", licence=LICENCE, author="mimegen",
        recognised_by="The face is at rest; it plays the captured face of --face, or speaks the"
                      " text of --say.")
