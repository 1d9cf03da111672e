"""Questions about the factors of a grid: which of its values a display was made with."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import content_key
from mimegen.base.spelling import spelled, value_order
from mimegen.base.yaml_file import Strict, YamlFile, read_yaml
from mimegen.evaluation.making import about_clip, versions
from mimegen.evaluation.question import Question
from mimegen.evaluation.sampling import FrameSampling
from mimegen.evaluation.subjects import known_actions, subject_of_row
from mimegen.evaluation.templates import FOLDER, ChoicePrompt, filled
from mimegen.manifest.row import Row

DIRECTION = "direction"
# What a viewer sees of a walker from in front, from their left, from behind, from their right.
SEEN = {0: "towards you", 90: "to the left", 180: "away from you", 270: "to the right"}
# More values than letters of a list that anybody reads are no choice.
MOST_VALUES = 9


class FactorWords(Strict):
    """A factor's question, and what its values are called."""

    question: str
    values: dict[str, str] = Field(default_factory=dict)


class FactorWording(Strict):
    """The prompt with ``{question}`` and ``{options}``, and the words of each factor."""

    about: str
    instruction: ChoicePrompt
    default: str
    factors: dict[str, FactorWords]

    def words(self, factor: str) -> FactorWords:
        """Return the words of a factor."""
        name = factor.replace("_", " ")
        return self.factors.get(factor) or FactorWords(
            question=self.default.replace("{factor}", name))


def read_factor_wording(file: Path | None) -> FactorWording:
    """Return mimegen's wording, with what a user's file says in its place.

    Raises RequestError as ``read_yaml``.
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
    """Return a question about every display of a grid and each of its ``A,B`` or all factors.

    The options are the factor's values, in their order. Raises RequestError where no row is of a
    grid, and for a factor that does not vary.
    """
    asked = [row for row in rows if row.grid]
    grids = _grids(asked)
    names = _chosen({name for grid in grids.values() for name in grid.values}, factors)
    known = known_actions()
    made = []
    for row in asked:
        subject = subject_of_row(row, known, "label")
        grid = grids[_axes(row)]
        for factor in (name for name in names if name in grid.values):
            values, words = grid.values[factor], wording.words(factor)
            options = _named(values, words.values or grid.called.get(factor, {}))
            answer = options[values.index(spelled((row.grid or {})[factor]))]
            made.append(Question(
                **about_clip(row, seed) | {"variant": _cell(row)}, format="factor",
                asks=factor, category=factor,
                question_id=content_key("factor", seed, row.sample_id, factor)[:16],
                prompt=filled(wording.instruction.replace("{question}", words.question), options),
                question=words.question, options=options, answer=answer,
                labels=[answer],
                semantic_group=subject.group, performance=subject.name, order=[],
                sampling=sampling_text, window=[0, row.frames / row.fps],
                frames=sampling.frames(row.frames, row.fps) if sampling else None,
                versions=versions(wording.about)))
    return sorted(made, key=lambda one: one.question_id)


@dataclass(frozen=True)
class _Grid:
    """The values of each factor that varies in a grid, in their order, and what some are called."""

    values: dict[str, list[str]]
    called: dict[str, dict[str, str]]


def _axes(row: Row) -> tuple[str, ...]:
    """Return the names of a display's factors: a folder may hold grids of several."""
    return tuple(sorted(row.grid or {}))


def _grids(rows: Sequence[Row]) -> dict[tuple[str, ...], _Grid]:
    parts: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        parts.setdefault(_axes(row), []).append(row)
    return {axes: _grid(part) for axes, part in parts.items()}


def _grid(rows: Sequence[Row]) -> _Grid:
    values = _values(rows)
    return _Grid(values, {DIRECTION: _directions(rows, values.get(DIRECTION, []))})


def _values(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the values of each factor that varies, in their order."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        for factor, value in (row.grid or {}).items():
            found.setdefault(factor, {})[spelled(value)] = value
    return {factor: sorted(values, key=lambda text: value_order(values[text]))
            for factor, values in found.items() if 1 < len(values) <= MOST_VALUES}


def _chosen(varying: Collection[str], factors: str) -> list[str]:
    """Return the factors to ask about, each once."""
    if not varying:
        raise RequestError("no clip is of a grid whose factors vary; make one with mimegen"
                           " pointlight --grid")
    if factors == "all":
        return sorted(varying)
    names = list(dict.fromkeys(name.strip() for name in factors.split(",")))
    for name in names:
        if name not in varying:
            raise RequestError(f"--factor {name}: no factor of this grid that varies"
                               f"{near_misses(name, sorted(varying))}")
    return names


def _directions(rows: Sequence[Row], values: Sequence[str]) -> dict[str, str]:
    """Return where walkers of each direction go in the picture, where that is one of four ways."""
    seen: dict[str, set[float | None]] = {}
    for row in rows:
        if row.grid and DIRECTION in row.grid:
            view = row.view_azimuth_deg
            seen.setdefault(spelled(row.grid[DIRECTION]), set()).add(
                None if view is None else round(view) % 360)
    names = {value: SEEN.get(int(next(iter(views)) or 0), "") for value, views in seen.items()
             if len(views) == 1 and None not in views}
    return names if all(names.get(value) for value in values) else {}


def _cell(row: Row) -> str:
    """Return the values of all of a display's factors, by which results are broken down."""
    return ", ".join(f"{name}={spelled(value)}" for name, value in (row.grid or {}).items())


def _named(values: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """Return what values are called; two that are called alike keep their own names."""
    names = [words.get(value, value) for value in values]
    return names if len({*names}) == len(names) else list(values)
