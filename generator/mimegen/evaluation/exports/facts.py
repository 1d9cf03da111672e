"""Facts about a set of clips, counted from its rows, for cards, datasheets and archives."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from mimegen.evaluation.exports.licences import licences
from mimegen.manifest.row import Row


@dataclass(frozen=True)
class SetFacts:
    """Counts and distinct values of a set of clips; texts are sorted."""

    clips: int
    seconds: float
    actions: tuple[str, ...]
    backgrounds: tuple[str, ...]
    sides: tuple[str, ...]
    sizes: tuple[str, ...]
    views: tuple[str, ...]
    codecs: tuple[str, ...]
    licences: tuple[str, ...]
    versions: tuple[str, ...]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """Return the facts about rows."""
        rows = list(rows)
        counted = licences(rows)
        return cls(
            len(rows), round(sum(row.frames / row.fps for row in rows), 1),
            _distinct(row.action for row in rows),
            _distinct(row.background_name for row in rows),
            _numbers(row.angle for row in rows),
            _distinct(f"{row.width} x {row.height} at {row.fps:g} fps" for row in rows),
            _numbers(row.view_azimuth_deg for row in rows),
            _distinct(row.codec for row in rows),
            _distinct(licence for _, licence, _ in counted),
            _distinct(row.mimegen_version for row in rows))


def _numbers(numbers: Iterable[float | None]) -> tuple[str, ...]:
    return tuple(f"{number:g}" for number in sorted({one for one in numbers if one is not None}))


def _distinct(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({text for text in texts if text}))
