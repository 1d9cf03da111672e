"""Read the table of hand actions (``mocap/hands/actions.yaml``) and expand its grids."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from mimegen.base.errors import near_misses
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.choreography.places import DirectionField
from mimegen.choreography.score import Arrival
from mimegen.motion.hand_shapes import hand_shapes

# The sets whose names for actions the table holds.
GAIA = "gaia-hands"
FINGERSPELLING = "fingerspelling"
HAND_SHAPES = "hand-shapes"
# The name of the first take of every action.
USUAL = "hands"
# A performer turned this far to the left shows the palm of the raised right hand to MIME's camera:
# forearms cannot turn the palm all the way to the front.
PALM_TO_CAMERA_DEG = 30.0

Cm = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]
Degrees = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]
Touch = Literal["palm", "skin", "fingertips", "pinch", "knuckles", "wrist"]


class Stop(Strict):
    """The next position on a hand's path, and how the hand differs there from its declaration.

    Lengths are in cm: to the person's ``left`` (or ``right``), ``out`` to the hand's own side (or
    ``in``), ``forward``, ``up``. ``turn`` rotates the hand; ``spin`` rotates position and hand
    about the anchor's middle. Both are in degrees, clockwise as the person sees it. ``s`` is the
    time to get there, in seconds.
    """

    left: Cm = 0.0
    right: Cm = 0.0
    out: Cm = 0.0
    inward: Cm = Field(default=0.0, alias="in")
    forward: Cm = 0.0
    up: Cm = 0.0
    palm: DirectionField | None = None
    fingers: DirectionField | None = None
    shape: str | None = None
    turn: Degrees | None = None
    spin: Degrees = 0.0
    s: Annotated[float, Field(ge=0.05, le=5)] = 0.5
    how: Arrival = "stop"


class Hand(Strict):
    """How a hand is held: its shape, its position relative to an anchor, and its orientation.

    ``at`` is in cm: outward, forward, up. With ``thumb`` the hand is upright, with the thumb
    pointing to the person's left or right.
    """

    shape: str
    anchor: str = "shoulder"
    at: tuple[Cm, Cm, Cm] = (3.0, 33.0, 4.0)
    touch: Touch = "skin"
    palm: DirectionField | None = None
    fingers: DirectionField | None = None
    elbow: DirectionField | None = None
    turn: Degrees = 0.0
    thumb: Literal["left", "right"] | None = None


class HandClass(Strict):
    """Descriptions that all actions of one class share."""

    semantic_group: str
    aligned: str
    misaligned: str
    does: str
    recognised_by: str
    intentions: tuple[str, ...]


class Gesture(Strict):
    """One take of a hand action: what the ``hand`` does, and what the ``other`` one does.

    With ``both``, each hand does the same, and the stops of ``way`` apply to each hand's own side.
    ``facing`` is how far the performer is turned to the left when the right hand acts, in degrees.
    ``sets`` are the action's names in published sets.
    """

    id: str
    take: str
    kind: str
    labels: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    sets: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    hand: Hand
    other: Hand | None = None
    both: bool = False
    way: tuple[Stop, ...]
    times: int = Field(default=1, ge=1, le=20)
    facing: Degrees = PALM_TO_CAMERA_DEG

    @property
    def two_handed(self) -> bool:
        """Whether the gesture takes both hands."""
        return self.both or self.other is not None


class HandTable(Strict):
    """All takes of all hand actions, by action and take, and the classes of actions."""

    classes: dict[str, HandClass]
    gestures: dict[str, dict[str, Gesture]]


def table_file() -> Path:
    """Return the path of the table: the library's own, or the one that comes with mimegen."""
    return data_file("mocap/hands/actions.yaml")


@cache
def read_table(path: Path) -> HandTable:
    """Read a table of hand actions.

    Raises RequestError with the file and line of the first error.
    """
    document = YamlFile(path)
    rows: list[dict[str, Any]] = []
    for where, row in _rows(document.content):
        try:
            rows += _takes(row, document.content)
        except (KeyError, TypeError, AttributeError) as problem:
            raise document.error(where, f"refers to {problem}, which does not exist") from problem
    gestures: dict[str, dict[str, Gesture]] = {}
    for row in rows:
        gesture = document.parsed(Gesture, row)
        _check_shapes(document, gesture)
        gestures.setdefault(gesture.id, {})[gesture.take] = gesture
    return document.parsed(HandTable, {"classes": document.content.get("classes"),
                                       "gestures": gestures})


def _check_shapes(document: YamlFile, gesture: Gesture) -> None:
    """Raise RequestError if a gesture uses an unknown hand shape."""
    known = hand_shapes()
    hands = (gesture.hand, *([gesture.other] if gesture.other else ()))
    for shape in (*(hand.shape for hand in hands), *(stop.shape for stop in gesture.way)):
        if shape is not None and shape not in known:
            raise document.error(("actions", gesture.id), f"unknown hand shape {shape!r}"
                                                          f"{near_misses(shape, known)}")


Row = dict[str, Any]


def _rows(content: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Yield all rows of the file, including those of grids, with their position in the file."""
    for grid in content.get("grids", ()):
        for row in _cells(grid, content):
            yield ("grids",), row
    for name, row in content.get("actions", {}).items():
        sets = {GAIA: [row["gaia"]]} if "gaia" in row else {}
        yield ("actions", name), {"id": name, **_without(row, "gaia"), "sets": sets}
    for letter, row in content.get("letters", {}).items():
        yield ("letters", letter), {
            "id": f"letter_{letter}", "class": "letter", "shape": f"letter_{letter}",
            "labels": [f"letter {letter.upper()}"], "aliases": [f"fingerspelled {letter.upper()}"],
            "pose": "show", "sets": {FINGERSPELLING: [letter.upper()]}, **row}
    for name, row in content.get("hand_shapes", {}).items():
        yield ("hand_shapes", name), {
            "id": f"handshape_{name}", "class": "shape", "pose": "show",
            "labels": [f"{row['label']} hand shape"], "sets": {HAND_SHAPES: [row["label"]]},
            **_without(row, "label")}


def _cells(grid: Mapping[str, Any], content: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of a grid: every verb with every thing in every direction."""
    for verb, manner in grid["verbs"].items():
        for thing, own in grid["things"].items():
            for way, words in grid["directions"].items():
                name = grid["id"].format(verb=verb, thing=thing, way=way)
                gaia = content.get("sets", {}).get(name)
                yield {
                    "id": name, "class": grid["class"], "shape": own["shape"],
                    "labels": [grid["label"].format(verb=verb, thing=thing, way=words)],
                    "sets": {GAIA: [gaia]} if gaia else {}, "at": [4, 35, 0],
                    "elbow": "down+0.7out", **grid["turns"][own["turns"]][way],
                    "facing": 0 if way in ("forward", "backward") else PALM_TO_CAMERA_DEG,
                    **(_flicked(content["ways"][way], grid["flicks"][way])
                       if manner.get("quick") else {"way": way})}


def _flicked(way: list[Row], turns: list[Row]) -> Row:
    """Return a path as a wave of the hand: shorter, faster and repeated."""
    first, last = ({**{name: 0.6 * value for name, value in stop.items() if name != "s"}, **turn}
                   for stop, turn in zip(way, turns, strict=False))
    return {"way": [{**first, "s": 0.55}, {**last, "s": 0.28}, {**last, "s": 0.2}], "times": 3}


def _takes(row: Row, content: Mapping[str, Any]) -> Iterator[Row]:
    """Yield a row's takes: the usual one, and those that differ from it."""
    yield _gesture(_without(row, "takes"), USUAL, content)
    for name, differs in row.get("takes", {}).items():
        own = {key: value for key, value in row.items() if key not in ("takes", "other")}
        yield _gesture({**own, **differs}, name, content)


def _gesture(row: Row, take: str, content: Mapping[str, Any]) -> Row:
    """Return a row as the fields of a ``Gesture``, with its path and poses expanded."""
    way = row.get("way", "still")
    other = row.get("other")
    known = {"id", "labels", "aliases", "sets", "both", "times", "facing"}
    return {
        **{name: value for name, value in row.items() if name in known}, "take": take,
        "kind": row["class"], "way": content["ways"][way] if isinstance(way, str) else way,
        "hand": _hand(_without(row, "class", "way", "other", *known), content),
        "other": None if other is None else _hand(other, content)}


def _hand(row: Row, content: Mapping[str, Any]) -> Row:
    """Return a hand with its pose expanded; the row's own values take precedence."""
    pose = content["poses"][row["pose"]] if "pose" in row else {}
    return {**pose, **_without(row, "pose")}


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}
