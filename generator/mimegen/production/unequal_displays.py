"""Find out whether displays of a set differ in size, view, presence or length, unasked."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from mimegen.manifest.row import Row
from mimegen.production.trials import AZIMUTH, requested

MAX_HEIGHT_RATIO = 1.1
# Settings that change the height of the dots without a change of posture.
SHOWN_BY = ("figure_height", "elevation", "dots", "add", "style")
MAX_VIEW_SPREAD_DEG = 10.0
HEIGHT = "figure_height"
DIRECTION = "direction"
Span = tuple[float, float]


def height_warning(rows: Sequence[Row]) -> str | None:
    """Return a warning if figures of one preset and condition differ in height; None otherwise."""
    heights = _grouped(rows, (HEIGHT,), lambda row: row.figure_height_px)
    least, most = max(((min(own), max(own)) for own in heights),
                      key=lambda span: span[1] / span[0], default=(1.0, 1.0))
    if most <= least * MAX_HEIGHT_RATIO:
        return None
    return (f"standing figures of these displays are {least:.0f} to {most:.0f} px high;"
            " --figure-height draws all of them at one height")


def length_warning(rows: Sequence[Row]) -> str | None:
    """Return a warning if displays of one motion differ in length because of a delay, else None."""
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.display, row.action, row.take, row.seed].append(row)
    spans = [(min(lengths), max(lengths)) for own in groups.values() if any(map(_is_delayed, own))
             for lengths in [[float(row.duration_s or 0) for row in own]]]
    least, most = max(spans, key=lambda span: span[1] - span[0], default=(0.0, 0.0))
    if least == most:
        return None
    return (f"displays of one motion last {least:.2f} to {most:.2f} s, because only frames are"
            " shown in which both performers move; --start and --duration can give all of them"
            " one length")


def _is_delayed(row: Row) -> bool:
    return any(step.get("name") == "delayed" for step in row.manipulations or ())


def shown_height_warning(rows: Sequence[Row]) -> str | None:
    """Return a warning if figures that stand equally high cover different heights; else None."""
    if height_warning(rows):
        return None
    heights = _grouped(rows, SHOWN_BY, lambda row: row.shown_height_px)
    least, most = max(((min(own), max(own)) for own in heights if min(own) > 0),
                      key=lambda span: span[1] / span[0], default=(1.0, 1.0))
    if most <= least * MAX_HEIGHT_RATIO:
        return None
    return (f"the dots of figures in these displays cover {least:.0f} to {most:.0f} px of height"
            " (shown_height_px), because postures differ; to make them alike, show each motion"
            " with a --figure-height of its own")


def view_warning(rows: Sequence[Row]) -> str | None:
    """Return a warning if displays of one preset and condition show different sides; else None.

    Displays for which an azimuth or a direction was requested may differ.
    """
    views = _grouped(rows, (AZIMUTH, DIRECTION), lambda row: row.view_azimuth_deg)
    first, last = max((span_of(own) for own in views), key=lambda span: span[1] - span[0],
                      default=(0.0, 0.0))
    if last - first <= MAX_VIEW_SPREAD_DEG:
        return None
    return (f"these displays show performers from {first:.0f} to {last:.0f} degrees from their"
            " front; --azimuth front shows all of them from the same side")


def span_of(angles_deg: Iterable[float]) -> Span:
    """Return the first and last angle of the shortest arc that contains all ``angles_deg``.

    The first one lies between -180 and 180 degrees.
    """
    around = sorted({angle % 360 for angle in angles_deg})
    around.append(around[0] + 360)
    _, start, end = max((after - before, after % 360, before) for before, after in
                        pairwise(around))
    first = start - 360 if start > 180 else start
    return first, first + (end - start) % 360


def _grouped(rows: Iterable[Row], factors: Iterable[str],
             value: Callable[[Row], float | None]) -> Iterator[list[float]]:
    """Yield a value of the rows that were not asked to differ, by preset and condition."""
    groups = defaultdict(list)
    for row in rows:
        known = value(row)
        if known is not None and not {*factors} & {*requested(row)}:
            groups[row.display, row.condition].append(float(known))
    yield from groups.values()
