"""Parse and check the values of a request that users write as texts, numbers or lists."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from mimegen.plan.permute.axes import NumberAxis, axes
from mimegen.rendering.surroundings import SUFFIXES
from mimegen.shots.config import WORLDS

# JSON numbers above this are not exact in every program that reads a manifest.
MAX_SEED = 2**53 - 1
# Most seeds in one request.
MAX_SEEDS = 100_000
# A cue repeated more often makes a clip longer than any of the library.
MAX_TIMES = 20
PLACE = "place"
_LIGHT = ("light_azimuth", "light_elevation", "light_strength")


def seed_range(value: Any) -> range:
    """Return the seeds in ``N``, ``"A:B"`` or a range. Raises ValueError."""
    if isinstance(value, range):
        return _checked_seeds(value, f"{value.start}:{value.stop}")
    text = str(value)
    first, colon, end = text.partition(":")
    if not first.isdecimal() or (colon and not end.isdecimal()):
        raise ValueError(f"{text}: expected a whole number, or A:B as in 0:10")
    return _checked_seeds(range(int(first), int(end) if colon else int(first) + 1), text)


def _checked_seeds(seeds: range, text: str) -> range:
    if not seeds or seeds.step != 1:
        raise ValueError(f"{text}: empty seed range; the end must exceed the start, as in 0:10")
    if seeds[0] < 0 or seeds[-1] > MAX_SEED:
        raise ValueError(f"{text}: seeds go up to {MAX_SEED}")
    if len(seeds) > MAX_SEEDS:
        raise ValueError(f"{text}: at most {MAX_SEEDS:,} seeds at once")
    return seeds


def seeds_text(seeds: range) -> str:
    """Return a range of seeds in the form that ``seed_range`` reads."""
    return str(seeds.start) if len(seeds) == 1 else f"{seeds.start}:{seeds.stop}"


def joined(value: Any) -> Any:
    """Return a list of names as one text with commas; other values are unchanged."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return value


def listed(value: Any) -> Any:
    """Return a single text or path as a tuple of one; other values are unchanged."""
    return (value,) if isinstance(value, str | Path) else value


def intensities(value: Any) -> Any:
    """Return the intensities in ``0.5``, ``"0,0.5,1"`` or a list. Raises ValueError."""
    return _numbers(value, float, (0, 1), "numbers from 0 to 1, as 0.5 or 0,0.5,1")


def frequencies(value: Any) -> Any:
    """Return the frequencies in ``2``, ``"1,2,4"`` or a list. Raises ValueError."""
    return _numbers(value, int, (1, MAX_TIMES),
                    f"whole numbers from 1 to {MAX_TIMES}, as 2 or 1,2,4")


def _numbers(value: Any, kind: type, ends: tuple[float, float], expected: str) -> Any:
    """Return numbers within ``ends`` of a text, list or number. Raises ValueError."""
    if value is None:
        return None
    words: Iterable[Any] = value if isinstance(value, list | tuple) else str(value).split(",")
    try:
        numbers = tuple(kind(word) for word in words)
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not all(ends[0] <= number <= ends[1] for number in numbers):
        raise ValueError(f"{value}: expected {expected}")
    return numbers


def on_axis(name: str) -> BeforeValidator:
    """Return a validator that checks a number against the range of an axis in ``axes.yaml``."""
    def check(value: Any) -> float | None:
        return None if value is None else axis_value(name, value)
    return BeforeValidator(check)


def light_from(value: Any) -> tuple[float, ...] | str | None:
    """Return azimuth and elevation in degrees, and any strength, of ``"60,40,0.8"`` or a list.

    The text ``place`` gives an empty tuple: figures are lit to match their backgrounds. An
    environment map, ``NAME`` or ``FILE`` with or without ``@DEGREES``, stays a text. Raises
    ValueError.
    """
    if value is None:
        return None
    if value == PLACE or value in ((), []):
        return ()
    if isinstance(value, str | Path) and picture_from(str(value)) is not None:
        return str(value)
    parts = value if isinstance(value, list | tuple) else str(value).split(",")
    if len(parts) not in (2, 3):
        raise ValueError(f"{value}: expected AZIMUTH,ELEVATION or with a strength, as in"
                         f" 60,40,0.8; {PLACE}; {', '.join(WORLDS)}; or a file that ends in"
                         f" {' or '.join(SUFFIXES)}")
    return tuple(axis_value(name, part) for name, part in zip(_LIGHT, parts, strict=False))


def picture_from(text: str) -> tuple[str, float | None] | None:
    """Return an environment map's name or file, and the azimuth in degrees of its main light.

    The azimuth is None if not given. Returns None if the text names no environment map. Raises
    ValueError for an invalid angle.
    """
    what, at, angle = text.rpartition("@")
    if at and _is_picture(what):
        return what, axis_value("light_azimuth", angle)
    return (text, None) if _is_picture(text) else None


def _is_picture(what: str) -> bool:
    return what in WORLDS or Path(what).suffix.lower() in SUFFIXES


def axis_value(name: str, value: Any) -> float:
    """Return a number after checking it against the range of an axis. Raises ValueError."""
    axis = axes().numbers[name]
    assert isinstance(axis, NumberAxis)
    try:
        return axis.value(str(value))
    except ValueError as problem:
        raise ValueError(f"{value}: {problem}") from problem


def axis_range(name: str) -> str:
    """Return the range of an axis as help texts show it, such as ``0.5 to 2``."""
    low, high = axes().numbers[name].range
    return f"{low:g} to {high:g}"


_TEXT = WithJsonSchema({"type": "string"})
Names = Annotated[str | None, BeforeValidator(joined)]
Texts = Annotated[tuple[str, ...], BeforeValidator(listed)]
Folders = Annotated[tuple[Path, ...], BeforeValidator(listed)]
Seeds = Annotated[Any, BeforeValidator(seed_range), PlainSerializer(seeds_text), _TEXT]
Intensities = Annotated[tuple[float, ...] | None, BeforeValidator(intensities)]
Frequencies = Annotated[tuple[int, ...] | None, BeforeValidator(frequencies)]
Tempo = Annotated[float | None, on_axis("tempo")]
Elevation = Annotated[float | None, on_axis("elevation")]
Lens = Annotated[float | None, on_axis("lens")]
Sunlight = Annotated[tuple[float, ...] | str | None, BeforeValidator(light_from)]
