"""Takes of scenes: several actions of one or two performers in one score."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import content_key, file_hash
from mimegen.base.paths import data_files
from mimegen.choreography.manner import CueManner, in_manner
from mimegen.choreography.score import Score
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import SCORE_SUFFIX
from mimegen.library.hand_entries import HandEntry
from mimegen.library.keys import scene_code
from mimegen.library.score_take import ComputedScoreTake, read_score_once
from mimegen.library.take import with_speech
from mimegen.manifest.timeline import Interval, retold
from mimegen.scenes.compiling import Compiled, compiled
from mimegen.scenes.parts import NamedScore
from mimegen.scenes.scene import Step, read_scene

SCENE = "scene"
STANDING = "standing"


@dataclass(frozen=True, kw_only=True)
class SceneTake(ComputedScoreTake):
    """A scene with a seed and a style; ``used`` are the keys of its actions' scores."""

    compiled: Compiled = field(compare=False, repr=False)
    used: tuple[str, ...]

    @cached_property
    def key(self) -> str:
        """The content key of the motions."""
        return content_key(file_hash(self.file), self.used, self.seed, self.style, scene_code(),
                           *self._limits_key, *self.altered_key)

    @property
    def score(self) -> Score:
        """The whole scene as one score."""
        return self.compiled.score

    @cached_property
    def timeline(self) -> list[Interval]:
        """The timeline of the scene."""
        return with_speech(self, retold(self.compiled.timeline(self.seed, self.style),
                                       self.mirror, self.tempo))

    def facts(self) -> dict[str, Any]:
        """Return the manifest's fields for the take."""
        return {**self.described(), "seed": self.seed, "style": self.style, "motion_kind": SCENE}


def scene_take(catalogue: Catalogue, name: str, seed: int, style: str | None = None) -> SceneTake:
    """Return the scene with a name or in a file. Raises RequestError as ``compiled``."""
    file = catalogue.file(SCENE, name)
    scene = read_scene(file)
    for background in (scene.place, scene.misplaced):
        catalogue.file("background", background)
    used: dict[str, None] = {}

    def find(step: Step) -> NamedScore:
        known = _known(catalogue, step)
        used[content_key(known.score.model_dump_json())] = None
        return known

    return SceneTake(
        action=scene.name, name=scene.name, labels=scene.labels, aligned=scene.place,
        misaligned=scene.misplaced, file=file, actor="choreography", licence=scene.licence,
        semantic_group=scene.semantic_group, intentions=scene.intentions, seed=seed, style=style,
        compiled=compiled(scene, find), used=tuple(used))


def _known(catalogue: Catalogue, step: Step) -> NamedScore:
    """Return the gesture, action or cue that a step performs, in its manner.

    Gestures have no takes: a step that names a take means the action of that name. Raises
    RequestError if there is no such action, or it cannot be performed in that manner.
    """
    word = str(step.do)
    gestures = {file.name.removesuffix(SCORE_SUFFIX): file
                for file in data_files("scenes/gestures/*.score.yaml")}
    manner = CueManner(None, step.intensity, step.times)
    if word in gestures and step.take is None:
        return NamedScore(gestures[word], in_manner(read_score_once(gestures[word]), manner))
    try:
        entry = catalogue.action(word)
    except RequestError as problem:
        words = [*gestures, *catalogue.cues, *catalogue.actions]
        raise RequestError("no action, cue or gesture"
                           f" '{word}'{near_misses(word, words)}") from problem
    if isinstance(entry, HandEntry):
        raise RequestError(f"'{word}' is a hand action; scenes can only use scores")
    file = entry.take(step.take)
    if not file.name.endswith(SCORE_SUFFIX):
        raise RequestError(f"'{word}': {file.name} is motion capture; scenes can only use scores")
    score = in_manner(read_score_once(file, _stance(file, step)), manner)
    return NamedScore(file, score, entry.action.of_take(file.name.removesuffix(SCORE_SUFFIX)))


def _stance(file: Path, step: Step) -> str | None:
    """Return the stance of a cue: by default standing, if it has that stance."""
    stances = read_score_once(file).stances
    return STANDING if step.stance is None and STANDING in stances else step.stance
