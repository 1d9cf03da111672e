"""Takes in which one person performs two actions, one right after the other."""

from collections.abc import Sequence
from pathlib import Path

from mimegen.base.files import content_key
from mimegen.choreography.score import Variety
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import SCORE_SUFFIX, Entry
from mimegen.library.scene_take import STANDING, SceneTake
from mimegen.library.score_take import ScoreTake, read_score_once
from mimegen.scenes.compiling import compiled
from mimegen.scenes.parts import NamedScore
from mimegen.scenes.scene import Mark, Role, Scene, Step

# Longest part in seconds; longer ones make clips too tedious to watch twice.
MAX_PART_S = 7.0
WORD = "then"
_HERE, _WHO = "here", "person"


def may_follow(take: ScoreTake) -> bool:
    """Return whether a take can be combined with another: short, standing free, without walking."""
    score = take.score
    walks = any(track == "walk" for phase in score.phases for track, _ in phase.moves())
    return (take.performers == 1 and score.duration <= MAX_PART_S and score.balanced
            and not walks)


def sequence_take(catalogue: Catalogue, parts: Sequence[tuple[str, str]], seed: int,
                  style: str | None = None) -> SceneTake:
    """Return one take of several actions, given as (action, take) pairs in this order.

    Raises RequestError if the library lacks one of them, or one cannot follow another.
    """
    entries = [(catalogue.action(action), take) for action, take in parts]
    known = [_known(entry, take) for entry, take in entries]
    first = entries[0][0].action
    licence = " AND ".join(dict.fromkeys(entry.action.licence for entry, _ in entries))
    name = f"_{WORD}_".join(one.name for one in known)
    scene = Scene(
        description=f", {WORD} ".join(str(one.score.about) for one in known),
        labels=(f", {WORD} ".join(entry.action.labels[0] for entry, _ in entries),),
        place=str(first.aligned_background), misplaced=str(first.misaligned_background),
        licence=licence, author=first.author, facing=0.0,
        vary=Variety(mirror=all(one.score.vary.mirror for one in known)),
        marks={_HERE: Mark(left=0.0, forward=0.0)},
        performers={_WHO: Role(about="Performs them.", starts=_HERE, steps=tuple(
            Step(do=str(number)) for number in range(len(known))))})
    # A path beside the first score, used in messages only; there is no such file.
    scene._source = str(known[0].file.with_name(f"{name}.yaml"))
    return SceneTake(
        action=name, name=name, labels=scene.labels, aligned=first.aligned_background,
        misaligned=first.misaligned_background, file=known[0].file, actor="choreography",
        licence=licence, seed=seed, style=style,
        compiled=compiled(scene, lambda step: known[int(str(step.do))]),
        used=tuple(content_key(one.score.model_dump_json()) for one in known))


def _known(entry: Entry, take: str) -> NamedScore:
    file: Path = entry.take(take)
    stance = STANDING if STANDING in read_score_once(file).stances else None
    return NamedScore(file, read_score_once(file, stance),
                      entry.action.of_take(file.name.removesuffix(SCORE_SUFFIX)))
