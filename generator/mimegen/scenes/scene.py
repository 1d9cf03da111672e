"""Scene files (``scenes/*.yaml``): performers, marks on the floor, objects and steps in order."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.choreography.happenings import Words
from mimegen.choreography.places import Place
from mimegen.choreography.score import Centimetres, Degrees, HandKey, Seconds, Speakable, Variety
from mimegen.manifest.timeline import Hand
from mimegen.scenes.spots import Spot

VERBS = ("do", "walk", "face", "join", "wait")
# Least distances between two marks, and between two people.
MARKS_APART_CM = 12.0
PEOPLE_APART_CM = 30.0
PERFORMERS = 2
# The fields that a step may have, by its verb.
WHEN = {"id", "at", "after", "during", "pause", "look", "say", "does", "line"}
SAID = {
    "do": WHEN | {"take", "start", "end", "legs", "style", "intensity", "times", "stance", "takes",
                  "leaves", "gives", "uses", "hand"},
    "walk": WHEN | {"style"}, "face": WHEN | {"style"}, "wait": WHEN, "join": {"id", "line"},
}
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class Mark(Strict):
    """A named place of a scene, where people stand or an imagined object is.

    ``left`` and ``forward`` are in centimetres from the scene's middle, for a person who faces
    front. ``facing`` is the turn to the left, in degrees, of a person who stands there, or the mark
    that they face. Looks at the mark go to ``up`` centimetres above the floor.
    """

    left: Centimetres
    forward: Centimetres
    facing: Degrees | str = 0.0
    up: Centimetres = 140.0


class SceneThing(Strict):
    """An imagined object that is taken, carried or handed over.

    ``size_m`` is its longest side in metres, ``carried`` the key of a hand that carries it.
    """

    size_m: float | None = Field(default=None, gt=0, le=50)
    carried: HandKey = HandKey(to=Place("hip", (15.0, 3.0, 3.0)), touch="wrist", loose=True,
                               shape="grip")


class Step(Strict):
    """One step of a performer: exactly one of ``do``, ``walk``, ``face``, ``join`` and ``wait``.

    ``do`` names an action, a cue, or a gesture of ``scenes/gestures``. Only its seconds ``from`` to
    ``to`` may be used, and with ``legs: false`` nothing of its legs; ``times`` is how often it
    performs its repeated part. ``join`` is the id of the other performer's step with an action for
    two. A step begins once the performer's step before has ended, or ``at`` a second of the scene,
    ``after`` the end of another step, or ``during`` it; then a ``pause`` is added. With a text to
    ``say`` it lasts at least until the text is spoken. ``look`` is a mark or a performer to look
    at. ``does`` describes the step in the record of events. ``takes``, ``leaves``, ``gives`` and
    ``uses`` name objects; ``hand`` is the hand that takes or receives one.
    """

    id: Name | None = None
    do: str | None = None
    walk: str | None = None
    face: Degrees | str | None = None
    join: str | None = None
    wait: Seconds | None = None
    take: str | None = None
    start: Seconds | None = Field(default=None, alias="from")
    end: Seconds | None = Field(default=None, alias="to")
    legs: bool = True
    at: Seconds | None = None
    after: str | None = None
    during: str | None = None
    pause: Seconds = 0.0
    style: str | None = None
    intensity: float | None = Field(default=None, ge=0, le=1)
    times: int | None = Field(default=None, ge=1, le=20)
    stance: str | None = None
    look: str | None = None
    say: Speakable | None = None
    does: Words | None = None
    takes: str | None = None
    leaves: str | None = None
    gives: str | None = None
    uses: str | None = None
    hand: Hand = "right"
    line: int = 0

    @property
    def verb(self) -> str:
        """The verb of the step."""
        return next(verb for verb in VERBS if getattr(self, verb) is not None)

    @property
    def things(self) -> tuple[str, ...]:
        """The names of the objects that the step takes, leaves, gives or uses."""
        return tuple(filter(None, (self.takes, self.leaves, self.gives, self.uses)))


class Role(Strict):
    """A performer: a description, the mark where they start, and their steps."""

    about: str
    starts: str
    steps: tuple[Step, ...] = Field(min_length=1)


class Scene(Strict):
    """One file ``scenes/<name>.yaml``.

    The first performer is ``performer`` in manifest rows, the second ``partner``. ``facing`` turns
    the whole scene to the left, in degrees; by default front is towards the camera at angle 0, and
    left is right in the picture. ``place`` is the background that fits, ``misplaced`` one that
    misleads.
    """

    description: str
    labels: tuple[str, ...] = Field(min_length=1)
    intentions: tuple[str, ...] = ()
    place: str
    misplaced: str
    semantic_group: str = "scene"
    licence: str
    author: str
    facing: Degrees = MIME_AZIMUTH_DEG
    vary: Variety = Variety()
    marks: dict[Name, Mark] = Field(min_length=1)
    things: dict[Words, SceneThing] = Field(default_factory=dict)
    performers: dict[Name, Role] = Field(min_length=1, max_length=PERFORMERS)
    _source: str = PrivateAttr(default="scene")

    @property
    def source(self) -> str:
        """The file the scene was read from, for messages."""
        return self._source

    @property
    def name(self) -> str:
        """The scene's name, derived from the file's name."""
        return Path(self._source).stem

    @property
    def roles(self) -> tuple[Role, ...]:
        """The performers in order."""
        return tuple(self.performers.values())

    def spot(self, mark: str) -> Spot:
        """Return the position of a mark, with the turn of a person who stands there."""
        place = self.marks[mark]
        bare = Spot(place.left, place.forward)
        if isinstance(place.facing, str):
            other = self.marks[place.facing]
            return bare._replace(turn=bare.heading(Spot(other.left, other.forward)))
        return bare._replace(turn=place.facing)

    def error(self, step: Step, message: str) -> RequestError:
        """Return an error that names the file and a step's line."""
        return RequestError(f"{self.source}: line {step.line}: {message}")


def read_scene(path: Path) -> Scene:
    """Read a scene's file.

    Raises RequestError with the file, line and key of the first error.
    """
    document = YamlFile(path)
    scene = document.parsed(Scene, _with_lines(document))
    scene._source = str(path)
    _check_marks(document, scene)
    ids = _ids(document, scene)
    for who, role in scene.performers.items():
        _check_known(document, ("performers", who, "starts"), "mark", role.starts, scene.marks)
        for number, step in enumerate(role.steps):
            _check_step(document, scene, ("performers", who, "steps", number), step, ids)
    return scene


def _with_lines(document: YamlFile) -> dict[str, Any]:
    """Return the file's content with its line added to each step."""
    content = dict(document.content)
    performers = content.get("performers")
    if not isinstance(performers, dict):
        return content
    content["performers"] = {who: role if not isinstance(role, dict) else role | {
        "steps": list(_lined(document, who, role.get("steps")))}
        for who, role in performers.items()}
    return content


def _lined(document: YamlFile, who: str, steps: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(steps, list):
        raise document.error(("performers", who, "steps"), "expected a list of steps")
    for number, step in enumerate(steps):
        where = ("performers", who, "steps", number)
        if not isinstance(step, dict) or "line" in step:
            raise document.error(where, f"expected one of {', '.join(VERBS)}")
        yield step | {"line": document.line(where)}


def _check_marks(document: YamlFile, scene: Scene) -> None:
    for name, mark in scene.marks.items():
        if isinstance(mark.facing, str):
            _check_known(document, ("marks", name, "facing"), "mark", mark.facing, scene.marks)
    spots = [(name, scene.spot(name)) for name in scene.marks]
    for number, (name, spot) in enumerate(spots):
        for other, there in spots[:number]:
            if spot.distance(there) < MARKS_APART_CM:
                raise document.error(("marks", name), f"collides with the mark {other!r}:"
                                     f" {spot.distance(there):.0f} cm apart, expected at least"
                                     f" {MARKS_APART_CM:g}")


def _ids(document: YamlFile, scene: Scene) -> dict[str, tuple[str, Step]]:
    """Return the steps that have an id, with their performers' names.

    Raises RequestError if two steps have the same id.
    """
    found: dict[str, tuple[str, Step]] = {}
    for who, role in scene.performers.items():
        for number, step in enumerate(role.steps):
            if step.id is not None and step.id in found:
                raise document.error(("performers", who, "steps", number, "id"),
                                     f"two steps are called {step.id!r}")
            if step.id is not None:
                found[step.id] = who, step
    return found


# The path of keys and indices from the top of the file to one of its parts.
Where = tuple[str | int, ...]
Kinds = Literal["mark", "step", "thing", "mark or performer"]


def _check_known(document: YamlFile, where: Where, kind: Kinds, name: str,
                 known: Collection[str]) -> None:
    if name not in known:
        raise document.error(where, f"unknown {kind} {name!r}{near_misses(name, known)}")


def _check_step(document: YamlFile, scene: Scene, where: Where, step: Step,
                ids: dict[str, tuple[str, Step]]) -> None:
    _check_verb(document, where, step)
    _check_names(document, scene, where, step, ids)
    if sum(moment is not None for moment in (step.at, step.after, step.during)) > 1:
        raise document.error(where, "expected exactly one of at, after and during")
    if step.join is not None and (ids[step.join][0] == where[1] or ids[step.join][1].do is None):
        raise document.error((*where, "join"), "expected the id of an action of the other"
                                               " performer")
    for name in ("look", "face"):
        if getattr(step, name) == where[1]:
            raise document.error((*where, name), "is the performer's own name")


def _check_verb(document: YamlFile, where: Where, step: Step) -> None:
    """Raise RequestError for a step without exactly one verb, or with fields not for its verb."""
    verbs = [verb for verb in VERBS if getattr(step, verb) is not None]
    if len(verbs) != 1:
        raise document.error(where, f"expected exactly one of {', '.join(VERBS)}"
                                    f" (got {', '.join(verbs) or 'none'})")
    for key in step.model_fields_set - SAID[step.verb] - {step.verb}:
        written = type(step).model_fields[key].alias or key
        raise document.error((*where, written), f"does not apply to '{step.verb}:'")


def _check_names(document: YamlFile, scene: Scene, where: Where, step: Step,
                 ids: dict[str, tuple[str, Step]]) -> None:
    """Raise RequestError for marks, performers, steps and objects that the scene does not have."""
    places = {**scene.marks, **scene.performers}
    expected: tuple[tuple[str, Kinds, Collection[str]], ...] = (
        ("walk", "mark", scene.marks), ("face", "mark or performer", places),
        ("look", "mark or performer", places), ("after", "step", ids), ("during", "step", ids),
        ("join", "step", ids), ("takes", "thing", scene.things), ("leaves", "thing", scene.things),
        ("gives", "thing", scene.things), ("uses", "thing", scene.things))
    for key, kind, known in expected:
        name = getattr(step, key)
        if isinstance(name, str):
            _check_known(document, (*where, key), kind, name, known)
