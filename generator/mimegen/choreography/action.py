"""Actions: what is mimed, and what is said of it (``mocap/<action>/action.yaml``)."""

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from mimegen.base.errors import near_misses
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.motion.hand_shapes import hand_shapes

# What earlier versions wrote for an action whose group nobody gave.
NO_GROUP = "not stated"


def _stated(group: object) -> object:
    return None if group == NO_GROUP else group


class TakeFacts(Strict):
    """Where one take differs from its action: what is left out is the action's.

    ``aliases`` are further names to ask for this very take by.
    """

    labels: tuple[str, ...] | None = Field(default=None, min_length=1)
    aliases: tuple[str, ...] = ()
    aligned_background: str | None = None
    misaligned_background: str | None = None
    hand_shapes: tuple[str, ...] | None = None
    recognised_by: str | None = None


class Cue(Strict):
    """What a nonverbal cue may mean, where it is one that the action shows.

    ``region`` is the part of the body; ``explanations`` are mental states, likeliest first, which
    the works under ``sources`` (names in ``cues/sources.yaml``) connect with it;
    ``means_in`` are situations in which it means the first of them, ``means_nothing_in`` others in
    which it means nothing. Takes say in their ``.timeline.yaml`` when it is seen.
    """

    region: str = Field(min_length=1)
    explanations: tuple[str, ...] = Field(min_length=1)
    sources: tuple[str, ...] = ()
    means_in: tuple[str, ...] = ()
    means_nothing_in: tuple[str, ...] = ()


class Action(Strict):
    """One file ``action.yaml``; its takes lie beside it.

    ``labels`` are the right answers, MIME's where MIME has the action; ``aliases`` are further
    names to ask for it by; ``intentions`` say what the person wants, best first; the misaligned
    background belongs to another action (imported actions may name none); ``hand_shapes`` are the
    ones that its takes are known by; ``takes`` says where single takes differ. Actions of one
    ``semantic_group`` are like each other; None where nobody gave one. ``sets`` says under which
    names or numbers sets that others publish have it. An ``ambiguous`` action is one that viewers
    took for others, as ``viewers`` says; it is asked for by name alone.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    name: str
    labels: tuple[str, ...] = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    aligned_background: str | None = None
    misaligned_background: str | None = None
    semantic_group: Annotated[str | None, BeforeValidator(_stated)] = None
    sets: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    ambiguous: bool = False
    viewers: str | None = Field(default=None, min_length=1)
    intentions: tuple[str, ...] = ()
    cue: Cue | None = None
    hand_shapes: tuple[str, ...] = ()
    recognised_by: str
    licence: str
    author: str
    takes: dict[str, TakeFacts] = Field(default_factory=dict)

    def of_take(self, name: str) -> "Action":
        """Return what is said of one of the action's takes."""
        facts = self.takes.get(name, TakeFacts())
        return self.model_copy(update=facts.model_dump(exclude_none=True, exclude_defaults=True))


def read_action(path: Path) -> Action:
    """Read an ``action.yaml``.

    Raises RequestError with the file, line and key of the first thing that is wrong.
    """
    document = YamlFile(path)
    action = document.parsed(Action)
    if action.id != path.parent.name:
        raise document.error(("id",), f"{action.id!r} is in a folder named {path.parent.name!r}")
    if action.ambiguous and action.viewers is None:
        raise document.error(("ambiguous",), "requires 'viewers:', what viewers saw instead")
    known = hand_shapes()
    for where, shapes in (
        (("hand_shapes",), action.hand_shapes),
        *((("takes", take, "hand_shapes"), facts.hand_shapes or ())
          for take, facts in action.takes.items()),
    ):
        for shape in shapes:
            if shape not in known:
                raise document.error(where, f"unknown hand shape {shape!r}"
                                     f"{near_misses(shape, known)}")
    for take in action.takes:
        if not (path.parent / f"{take}.score.yaml").is_file():
            raise document.error(("takes", take), f"no file {take}.score.yaml next to it")
    return action
