"""Choreographed takes: a score and a seed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mimegen.base.files import content_key, file_hash
from mimegen.choreography.checks import checks_file
from mimegen.choreography.face import faces, moves_face
from mimegen.choreography.front import front_deg
from mimegen.choreography.happenings import (
    NOTHING,
    TIMELINE_SUFFIX,
    Happenings,
    happenings,
    read_happenings,
)
from mimegen.choreography.length import frames_of
from mimegen.choreography.manner import AS_WRITTEN, CueManner, in_manner
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import Score
from mimegen.choreography.timing import frame_times
from mimegen.choreography.variation import is_written
from mimegen.library.keys import score_code
from mimegen.library.score_facts import ScoreFacts, facts_from, score_facts
from mimegen.library.take import RELAXED, Source, TakeDescription, with_speech
from mimegen.manifest.timeline import CueFacts, Interval, retold
from mimegen.motion.editing import at_rate
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, kw_only=True)
class ScoreTake(TakeDescription):
    """A score with a seed, a style (None for the seed's own) and, for a cue, a manner."""

    seed: int
    style: str | None = None
    cue: CueFacts | None = field(default=None, hash=False)
    manner: CueManner = AS_WRITTEN

    @cached_property
    def key(self) -> str:
        """The content key of the motions."""
        return content_key(file_hash(self.file), self.seed, self.style, score_code(),
                           *self._limits_key, *self._cue_key, *self.altered_key)

    @property
    def _limits_key(self) -> tuple[str, ...]:
        """The part of the key for the checks file, which limits variation by seed and style."""
        if is_written(self.seed, self.style):
            return ()
        checks = checks_file(self.score)
        return (file_hash(checks),) if checks.is_file() else ()

    @property
    def known(self) -> ScoreFacts:
        """Facts about the score, available without reading it."""
        return score_facts(self.file)

    @property
    def _cue_key(self) -> tuple[str, ...]:
        """The part of the key for a cue: its score in its stance and manner."""
        return (self.score.model_dump_json(),) if self.known.stances else ()

    @property
    def hand_shape(self) -> str:
        """The default hand shape; a score defines every finger itself."""
        return RELAXED

    @property
    def version(self) -> tuple[str, ...]:
        """The seed and, if requested, style, manner and the words for alterations."""
        return (f"seed{self.seed}", *filter(None, [self.style]), *self.manner.words,
                *self.altered_words)

    @property
    def words(self) -> tuple[str, ...]:
        """Action, take and seed."""
        return self.action, self.name, f"seed{self.seed}"

    @property
    def front_deg(self) -> float:
        """The azimuth of the score's forward direction, which seed and mirroring change."""
        return self.seen_front(front_deg(self.score, self.seed, self.style))

    @property
    def files(self) -> tuple[Path, ...]:
        """The score alone: it has all performers."""
        return (self.file,)

    @property
    def performers(self) -> int:
        """The number of people in the score."""
        return self.known.performers

    @property
    def score(self) -> Score:
        """The score in the requested manner. Raises RequestError as ``read_score``."""
        return in_manner(read_score_once(self.file, self.manner.stance), self.manner)

    def sources(self, fps: float) -> tuple[Source, ...]:
        """Return every performer's motion at ``fps``, in one world."""
        scene = perform_scene(self.score, self.seed, fps / self.tempo, self.style)
        return tuple((at_rate(motion, fps), None) for motion in scene)

    def frames(self, fps: float) -> int:
        """Return the number of frames at a rate, from the times in the score."""
        facts = self.known
        # The duration of a cue also depends on its stance, which is in another file.
        if is_written(self.seed, self.style) and not facts.stances:
            return len(frame_times(facts.seconds, fps / self.tempo))
        return frames_of(self.score, self.seed, self.style, fps / self.tempo)

    def faces(self, fps: float) -> tuple[Mapping[str, FloatArray], ...]:
        """Return the motion of each performer's face, if the score has a face track."""
        if not moves_face(self.score):
            return ()
        return faces(self.score, self.seed, fps / self.tempo, self.style)

    @property
    def declared_happenings(self) -> Happenings:
        """The objects and steps declared beside the score. Raises RequestError if invalid."""
        path = self.file.with_name(self.name + TIMELINE_SUFFIX)
        return read_happenings(path, self.score) if path.is_file() else NOTHING

    @cached_property
    def timeline(self) -> list[Interval]:
        """The timeline of the take. Raises RequestError as ``declared_happenings``."""
        cue = (self.labels[0], self.cue) if self.cue else None
        return with_speech(self, retold(happenings(
            self.score, self.declared_happenings, self.seed, self.style, cue),
            self.mirror, self.tempo))

    def facts(self) -> dict[str, Any]:
        """Return the manifest's fields for the take."""
        stances = self.score.stances
        how = {"stance": self.manner.stance or stances[0], "intensity": self.manner.intensity,
               "frequency": self.manner.frequency} if stances else {}
        return {**self.described(), "seed": self.seed, "style": self.style, **how,
                "motion_kind": "score"}


@dataclass(frozen=True, kw_only=True)
class ComputedScoreTake(ScoreTake):
    """A take whose score is computed, so that it differs from its file or has none."""

    @cached_property
    def key(self) -> str:
        """The content key of the motion; it covers the score alone, and no other row of a table."""
        return content_key(self.score.model_dump_json(), self.seed, self.style, score_code(),
                           *self._limits_key, *self.altered_key)

    @property
    def known(self) -> ScoreFacts:
        """Facts about the computed score."""
        return facts_from(self.score)


def read_score_once(file: Path, stance: str | None = None) -> Score:
    """Return a score; it is read again only if its file has changed."""
    stat = file.stat()
    return _read(file, stance, stat.st_size, stat.st_mtime_ns)


# More than a library has actions: a plan needs every score several times.
@lru_cache(maxsize=4096)
def _read(file: Path, stance: str | None, size: int, modified: int) -> Score:
    return read_score(file, stance)
