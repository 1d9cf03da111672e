"""Questions about the factors of a grid: which value a display was made with."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import content_key
from mimegen.base.spelling import spelled, value_order
from mimegen.base.yaml_file import Strict, YamlFile, read_yaml
from mimegen.evaluation.making import clip_fields, versions
from mimegen.evaluation.question import Question, named_by_content
from mimegen.evaluation.sampling import FrameSampling
from mimegen.evaluation.subjects import known_actions, subject_of_row
from mimegen.evaluation.templates import FOLDER, ChoicePrompt, filled
from mimegen.manifest.row import Row

DIRECTION = "direction"
AZIMUTH = "azimuth"
# Degrees by which a display may be seen from another side than its azimuth says.
MAX_OFF_DEG = 20.0
# The direction of a walker in the picture, by the azimuth of the view in degrees.
DIRECTION_NAMES = {0: "towards you", 90: "to the left", 180: "away from you", 270: "to the right"}
# Manipulations of a display under which it does not look as its factor's value says.
CONTRADICTED = {
    DIRECTION: {"mirrored", "reversed", "rotated", "turning"},
    AZIMUTH: {"mirrored", "rotated", "turning"},
    "phase": {"mirrored", "reversed"}, "speed": {"speed"}, "cadence": {"speed"}}
# Factors with more values are not asked about: too many options.
MAX_VALUES = 9


class FactorWords(Strict):
    """A factor's question, and the names of its values."""

    question: str
    values: dict[str, str] = Field(default_factory=dict)


class FactorWording(Strict):
    """The prompt with ``{question}`` and ``{options}``, and the wording of each factor."""

    about: str
    instruction: ChoicePrompt
    default: str
    factors: dict[str, FactorWords]

    def words(self, factor: str) -> FactorWords:
        """Return the wording of a factor, or the default one."""
        name = factor.replace("_", " ")
        return self.factors.get(factor) or FactorWords(
            question=self.default.replace("{factor}", name))


def read_factor_wording(file: Path | None) -> FactorWording:
    """Return mimegen's wording, overridden by a user's file.

    Raises RequestError as ``read_yaml`` does.
    """
    own = read_yaml(FOLDER / "factors.yaml", FactorWording)
    if file is None:
        return own
    given = YamlFile(file)
    factors = given.content.get("factors", {})
    words = own.model_dump()
    merged = words | given.content | (
        {"factors": words["factors"] | factors} if isinstance(factors, dict) else {})
    return given.parsed(FactorWording, merged)


def factor_questions(rows: Sequence[Row], factors: str, wording: FactorWording, seed: int,
                     sampling: FrameSampling | None = None, sampling_text: str = "video"
                     ) -> list[Question]:
    """Return a question about every display of a grid, for each factor in ``A,B`` or ``all``.

    The options are the factor's values in ascending order. Directions and sides are those that a
    display shows. Factors that a display's manipulations contradict are left out, as the direction
    of one that is mirrored. Raises RequestError if no row belongs to a grid, and for a factor that
    does not vary.
    """
    asked = [row for row in rows if row.grid]
    grids = _grids(asked)
    names = _chosen({name for grid in grids.values() for name in grid.values}, factors)
    known = known_actions()
    made = []
    for row in asked:
        subject = subject_of_row(row, known, "label")
        grid = grids[_axes(row)]
        for factor in (name for name in names if name in grid.values and _is_seen(name, row)):
            words = wording.words(factor)
            options, answer = grid.offered(row, factor, words.values)
            if answer is None:
                continue
            made.append(Question(
                **clip_fields(row, seed) | {"variant": _cell(row)}, format="factor",
                asks=factor, category=factor,
                question_id=content_key("factor", seed, row.sample_id, factor)[:16],
                prompt=filled(wording.instruction.replace("{question}", words.question), options),
                question=words.question, options=options, answer=answer,
                labels=[answer],
                semantic_group=subject.group, performance=subject.name, order=[],
                sampling=sampling_text, window=[0, row.frames / row.fps],
                frames=sampling.frames(row.frames, row.fps) if sampling else None,
                versions=versions(wording.about)))
    return named_by_content(made)


def _is_seen(factor: str, row: Row) -> bool:
    """Return whether a display looks as the value of its factor says."""
    made = {step.get("name") for step in row.manipulations or ()}
    return not made & CONTRADICTED.get(factor, set())


@dataclass(frozen=True)
class _Grid:
    """The ordered values of each factor that varies in a grid, and the directions in pictures.

    ``directions`` are empty if some are none of the four that have a name.
    """

    values: dict[str, list[str]]
    directions: list[str]

    def offered(self, row: Row, factor: str, names: Mapping[str, str]
                ) -> tuple[list[str], str | None]:
        """Return the options about a display, and the right one; None if that is unclear."""
        values = self.values[factor]
        if factor == DIRECTION and not names and self.directions:
            return self.directions, _direction(row)
        options = _named(values, names)
        value = spelled((row.grid or {})[factor])
        if factor == DIRECTION and not _keeps_way(row):
            return options, None
        shown = _side(row, values, value) if factor == AZIMUTH else value
        return options, None if shown is None else options[values.index(shown)]


def _keeps_way(row: Row) -> bool:
    """Return whether the figure goes where it faces, not backwards."""
    return _is_seen(DIRECTION, row) and not row.reversed and (row.gait or {}).get("speed", 1) >= 0


def _direction(row: Row) -> str | None:
    """Return where the figure walks in the picture; None if it is none of four, or unclear."""
    view = row.view_azimuth_deg
    return DIRECTION_NAMES.get(round(view) % 360) if view is not None and _keeps_way(row) else None


def _side(row: Row, values: Sequence[str], value: str) -> str | None:
    """Return the azimuth, of those of a grid, from which the figure is seen; None for none."""
    view = row.view_azimuth_deg
    if view is None:
        return value
    near = [one for one in values
            if abs((float(one) - view + 180) % 360 - 180) <= MAX_OFF_DEG]
    return near[0] if len(near) == 1 else None


def _axes(row: Row) -> tuple[str, ...]:
    """Return the names of a display's factors; a folder may hold several grids."""
    return tuple(sorted(row.grid or {}))


def _grids(rows: Sequence[Row]) -> dict[tuple[str, ...], _Grid]:
    parts: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        parts.setdefault(_axes(row), []).append(row)
    return {axes: _grid(part) for axes, part in parts.items()}


def _grid(rows: Sequence[Row]) -> _Grid:
    values = _values(rows)
    return _Grid(values, _directions(rows) if DIRECTION in values else [])


def _values(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the ordered values of each factor that varies."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        for factor, value in (row.grid or {}).items():
            found.setdefault(factor, {})[spelled(value)] = value
    return {factor: sorted(values, key=lambda text: value_order(values[text]))
            for factor, values in found.items() if 1 < len(values) <= MAX_VALUES}


def _chosen(varying: Collection[str], factors: str) -> list[str]:
    """Return the distinct factors to ask about."""
    if not varying:
        raise RequestError("no clip is of a set whose factors vary; make one with mimegen"
                           " pointlight --grid, --conditions or --azimuth")
    if factors == "all":
        return sorted(varying)
    names = list(dict.fromkeys(name.strip() for name in factors.split(",")))
    for name in names:
        if name not in varying:
            raise RequestError(f"--factor {name}: no factor of this grid that varies"
                               f"{near_misses(name, sorted(varying))}")
    return names


def _directions(rows: Sequence[Row]) -> list[str]:
    """Return the names of all directions of walkers in the picture, in the order of their values.

    They are empty if any has no name.
    """
    ordered = sorted((row for row in rows if row.grid and _keeps_way(row)),
                     key=lambda row: value_order((row.grid or {})[DIRECTION]))
    names = list(dict.fromkeys(map(_direction, ordered)))
    return [name for name in names if name] if None not in names and len(names) > 1 else []


def _cell(row: Row) -> str:
    """Return the values of all of a display's factors, by which results are grouped."""
    return ", ".join(f"{name}={spelled(value)}" for name, value in (row.grid or {}).items())


def _named(values: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """Return names for values; if two would get the same name, return the values themselves."""
    names = [words.get(value, value) for value in values]
    return names if len({*names}) == len(names) else list(values)
