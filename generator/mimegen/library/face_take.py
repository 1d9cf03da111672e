"""Takes of emotions: a standing person whose face shows one, or plays a captured face."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mimegen.choreography.happenings import NOTHING, Happenings, TimelineStep
from mimegen.choreography.score import Score
from mimegen.faces.overlay import BEGINS_S, FaceOverlay
from mimegen.library.face_entries import FaceEntry
from mimegen.library.score_take import ComputedScoreTake, read_score_once
from mimegen.manifest.row import FACE
from mimegen.manifest.timeline import Interval


@dataclass(frozen=True, kw_only=True)
class FaceTake(ComputedScoreTake):
    """A take whose ``overlay`` is an emotion; a captured face or spoken text may lengthen it."""

    emotion: str | None = None

    @property
    def version(self) -> tuple[str, ...]:
        """The seed, the requested style, and the words for alterations and face overlay."""
        own = () if self.emotion is None else FaceOverlay(self.emotion).words
        words = (word for word in self.altered_words if word not in own)
        return (f"seed{self.seed}", *filter(None, [self.style]), *words)

    @cached_property
    def score(self) -> Score:
        """The score of the body, as long as the face needs."""
        written = read_score_once(self.file)
        lasts = None if self.overlay is None else self.overlay.lasts
        if lasts is None:
            return written
        end = round(lasts, 3)
        last = written.phases[-1].model_copy(update={"at": end})
        return written.model_copy(update={
            "duration": end, "phases": (*written.phases[:-1], last)})

    @property
    def declared_happenings(self) -> Happenings:
        """When the emotion is visible."""
        if self.emotion is None:
            return NOTHING
        return Happenings(steps=(TimelineStep.model_validate({
            "from": BEGINS_S, "to": round(self.score.duration, 3), "does": f"shows {self.emotion}",
            "hand": None}),))

    @cached_property
    def timeline(self) -> list[Interval]:
        """The timeline, whose score is that of every face."""
        return [one.model_copy(update={"name": self.action}) if one.kind == "action" else one
                for one in super().timeline]

    def facts(self) -> dict[str, Any]:
        """Return the manifest's fields for the take."""
        return {**self.described(), "seed": self.seed, "style": self.style, "motion_kind": FACE}


def face_take(entry: FaceEntry, seed: int, style: str | None, intensity: float | None) -> FaceTake:
    """Return the take of an emotion."""
    action = entry.action
    overlay = None if entry.emotion is None else FaceOverlay(
        entry.emotion, 1.0 if intensity is None else intensity)
    return FaceTake(
        action=action.id, name=action.id, labels=action.labels,
        aligned=action.aligned_background, misaligned=action.misaligned_background,
        file=entry.take(None), seed=seed, actor="choreography", licence=action.licence, style=style,
        semantic_group=action.semantic_group, intentions=action.intentions,
        emotion=entry.emotion, overlay=overlay)
