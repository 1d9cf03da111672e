"""Takes that are choreographed: a score and a seed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mimegen.base.files import content_key, file_hash
from mimegen.base.seeds import generator
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
from mimegen.choreography.timing import frame_moments
from mimegen.choreography.variation import is_written
from mimegen.library.keys import score_code
from mimegen.library.score_facts import ScoreFacts, score_facts
from mimegen.library.take import RELAXED, Described, Source
from mimegen.manifest.timeline import SPEECH, CueFacts, Interval, retold
from mimegen.motion.editing import at_rate
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, kw_only=True)
class ScoreTake(Described):
    """A score, performed by a seed and in a style (None: the seed's own); a cue's in a manner."""

    seed: int
    style: str | None = None
    cue: CueFacts | None = field(default=None, hash=False)
    manner: CueManner = AS_WRITTEN

    @cached_property
    def key(self) -> str:
        """What the motions depend on."""
        return content_key(file_hash(self.file), self.seed, self.style, score_code(),
                           *self._limits_key, *self._cue_key, *self.altered_key)

    @property
    def _limits_key(self) -> tuple[str, ...]:
        """What keys say of what must be seen: it limits how far seeds and styles vary."""
        if is_written(self.seed, self.style):
            return ()
        checks = checks_file(self.score)
        return (file_hash(checks),) if checks.is_file() else ()

    @property
    def known(self) -> ScoreFacts:
        """What is known of the score before it is read."""
        return score_facts(self.file)

    @property
    def _cue_key(self) -> tuple[str, ...]:
        """What keys say of a cue: its score as its stance and manner make it."""
        return (self.score.model_dump_json(),) if self.known.stances else ()

    @property
    def hand_shape(self) -> str:
        """Scores say what every finger does."""
        return RELAXED

    @property
    def version(self) -> tuple[str, ...]:
        """The seed and, where they were asked for, style, manner and what was altered."""
        return (f"seed{self.seed}", *filter(None, [self.style]), *self.manner.words,
                *self.altered_words)

    @property
    def words(self) -> tuple[str, ...]:
        """Action, take and seed."""
        return self.action, self.name, f"seed{self.seed}"

    @property
    def front_deg(self) -> float:
        """The azimuth of the score's forward, which seed and mirroring turn."""
        return self.seen_front(front_deg(self.score, self.seed, self.style))

    @property
    def files(self) -> tuple[Path, ...]:
        """The score alone: it holds all performers."""
        return (self.file,)

    @property
    def performers(self) -> int:
        """How many people the score has."""
        return self.known.performers

    @property
    def score(self) -> Score:
        """The score as it is to be performed. Raises RequestError as ``read_score``."""
        return in_manner(read_score_once(self.file, self.manner.stance), self.manner)

    def sources(self, fps: float) -> tuple[Source, ...]:
        """Return every performer's motion at ``fps``, in one world."""
        scene = perform_scene(self.score, self.seed, fps / self.tempo, self.style)
        return tuple((at_rate(motion, fps), None) for motion in scene)

    def frames(self, fps: float) -> int:
        """Return how many frames it has at a rate, as its score's own times tell."""
        facts = self.known
        # How long a cue is told depends on its stance too, which is another file.
        if is_written(self.seed, self.style) and not facts.stances:
            return len(frame_moments(facts.seconds, fps / self.tempo))
        return frames_of(self.score, self.seed, self.style, fps / self.tempo)

    def faces(self, fps: float) -> tuple[Mapping[str, FloatArray], ...]:
        """Return what each performer's face does, where the score has a face track."""
        if not moves_face(self.score):
            return ()
        return faces(self.score, self.seed, fps / self.tempo, self.style)

    @property
    def declared_happenings(self) -> Happenings:
        """What lies beside the score about things and steps. Raises RequestError where it is wrong.
        """
        path = self.file.with_name(self.name + TIMELINE_SUFFIX)
        return read_happenings(path, self.score) if path.is_file() else NOTHING

    @cached_property
    def timeline(self) -> list[Interval]:
        """What happens, from when to when. Raises RequestError as ``said``."""
        cue = (self.labels[0], self.cue) if self.cue else None
        return self.with_speech(retold(happenings(
            self.score, self.declared_happenings, self.seed, self.style, cue),
            self.mirror, self.tempo))

    def with_speech(self, found: list[Interval]) -> list[Interval]:
        """Return what happens, with what is said by an overlay on the face."""
        overlay = self.overlay
        span = None if overlay is None else overlay.spoken_span(
            generator(self.seed, *self.words, "face", 0))
        if overlay is None or span is None:
            return found
        lasts = max((one.end_s for one in found), default=span[1])
        own = Interval(kind=SPEECH, name=overlay.say or "", start_s=round(span[0], 3),
                       end_s=round(min(span[1], lasts), 3))
        return sorted([*found, own], key=lambda one: one.start_s)

    def facts(self) -> dict[str, Any]:
        """Return what a manifest says of it."""
        stances = self.score.stances
        how = {"stance": self.manner.stance or stances[0], "intensity": self.manner.intensity,
               "frequency": self.manner.frequency} if stances else {}
        return {**self.described(), "seed": self.seed, "style": self.style, **how,
                "motion_kind": "score"}


def read_score_once(file: Path, stance: str | None = None) -> Score:
    """Return a score, read anew only where its file has been touched."""
    stat = file.stat()
    return _read(file, stance, stat.st_size, stat.st_mtime_ns)


# More than a library of actions has: a plan asks for every score several times.
@lru_cache(maxsize=4096)
def _read(file: Path, stance: str | None, size: int, modified: int) -> Score:
    return read_score(file, stance)
