"""Actions: what is mimed, and its labels and other facts (``mocap/<action>/action.yaml``)."""

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from mimegen.base.errors import near_misses
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.motion.hand_shapes import hand_shapes

# Earlier versions wrote this for an action without a semantic group.
NO_GROUP = "not stated"


def _stated(group: object) -> object:
    return None if group == NO_GROUP else group


class TakeFacts(Strict):
    """Facts of one take that differ from its action's; a field left out has the action's value.

    ``aliases`` are further names that select this take alone.
    """

    labels: tuple[str, ...] | None = Field(default=None, min_length=1)
    aliases: tuple[str, ...] = ()
    aligned_background: str | None = None
    misaligned_background: str | None = None
    hand_shapes: tuple[str, ...] | None = None
    recognised_by: str | None = None


class Cue(Strict):
    """What the nonverbal cue that an action shows may mean.

    ``region`` is the part of the body. ``explanations`` are the mental states that the works in
    ``sources`` (names in ``cues/sources.yaml``) connect with the cue, likeliest first. In the
    situations ``means_in`` it means the first of them; in those of ``means_nothing_in`` it means
    nothing. A take's ``.timeline.yaml`` says when the cue is seen. A ``facial`` cue is seen in the
    face alone.
    """

    region: str = Field(min_length=1)
    facial: bool | None = None
    explanations: tuple[str, ...] = Field(min_length=1)
    sources: tuple[str, ...] = ()
    means_in: tuple[str, ...] = ()
    means_nothing_in: tuple[str, ...] = ()


class Action(Strict):
    """One file ``action.yaml``; the action's takes lie beside it.

    ``labels`` are the correct answers, MIME's own if MIME has the action. ``aliases`` are further
    names that select it. ``intentions`` are what the person wants, best description first. The
    misaligned background belongs to another action (imported actions may name none).
    ``hand_shapes`` are those by which its takes are recognised. ``takes`` has the facts in which
    single takes differ. Actions of the same ``semantic_group`` resemble each other; None if not
    given. ``sets`` maps published sets to their names or numbers for the action. An ``ambiguous``
    action is one that viewers mistook for others, described in ``viewers``; it is selected only by
    its name.
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
        """Return the action with the facts of one of its takes instead of its own."""
        facts = self.takes.get(name, TakeFacts())
        return self.model_copy(update=facts.model_dump(exclude_none=True, exclude_defaults=True))


def read_action(path: Path) -> Action:
    """Read an ``action.yaml``.

    Raises RequestError with the file, line and key of the first error.
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
