"""Estimate the camera of a photograph from straight edges of buildings and furniture.

Such edges are vertical or run along two horizontal directions at right angles. Each direction has a
vanishing point; the estimate is the focal length, pitch and roll for which most edges point to one
of the three (Coughlan and Yuille, Manhattan World, 1999; with edges instead of pixels, as Denis,
Elder and Estrada compare them, 2008).
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image
from scipy.optimize import minimize

from mimegen.base.decisions import first_most
from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray

# Longer side in pixels of the picture searched for lines, the number of longest lines used, and the
# shortest length used in units of the longer side.
MAX_SIDE_PX = 1400
MAX_LINES = 400
MIN_LENGTH = 0.02
# Tolerance in degrees of an edge's direction to its vanishing point: for the coarse search, and for
# the final fit.
SOUGHT_DEG = 2.5
FOUND_DEG = 0.7
PITCHES_DEG = np.arange(-20.0, 41.0, 2.0)
YAWS_DEG = np.arange(0.0, 90.0, 2.5)
# Focal lengths in units of the picture's longer side: fields of view from 96 to 19 degrees.
FOCALS = np.geomspace(0.45, 3.0, 10)
# Prior for the focal length: that of a phone (26 mm equivalent), the spread of its logarithm, and
# its weight compared with all edges.
USUAL_FOCAL = 0.75
USUAL_SPREAD = 0.5
USUAL_WEIGHT = 0.01
# Penalty per squared degree of roll: one degree counts little, ten count much.
ROLL_WEIGHT = 0.0005
# Edges at most LEVEL_DEG degrees off level, within SAME_ROW (of the longer side) of one row, form a
# horizon line if they cover the fraction ACROSS of the width.
LEVEL_DEG = 1.0
SAME_ROW = 0.004
ACROSS = 0.4
# Fraction of all edges' length, and number of edges, that must point to one of the three vanishing
# points.
MIN_SHARE = 0.55
MIN_LINES = 25


@dataclass(frozen=True)
class PhotoView:
    """A camera's view: ``focal`` in units of the picture's longer side, and angles in degrees.

    ``pitch_deg`` is positive if the camera looks down; ``roll_deg`` is positive if it is tilted
    clockwise, so that the picture's content is tilted counterclockwise. ``lines`` is the number of
    edges that support it, 0 for a guess.
    """

    focal: float
    pitch_deg: float
    roll_deg: float = 0.0
    lines: int = 0

    def horizon(self, width: int, height: int) -> float:
        """Return the row of the horizon at the picture's middle, as a fraction of its height."""
        rise = self.focal * max(width, height) * np.tan(np.radians(self.pitch_deg))
        return float(0.5 - rise / height)


def straight_lines(image: Image.Image) -> FloatArray:
    """Return the end points x y x y (N, 4) of straight edges, the longest first.

    Coordinates are relative to the picture's middle, rightwards and downwards, in units of its
    longer side. Raises RequestError if OpenCV is not installed.
    """
    try:
        import cv2
    except ImportError as problem:
        raise RequestError("OpenCV, which finds the horizon, is not installed; run pip install"
                           " 'mimegen[photos]', or give --horizon ROW") from problem
    small = image.convert("L")
    small.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX), Image.Resampling.LANCZOS)
    found = cv2.createLineSegmentDetector().detect(np.asarray(small))[0]
    if found is None:
        return np.empty((0, 4))
    middle = np.array([small.width, small.height, small.width, small.height]) / 2
    lines = (found[:, 0].astype(float) + 0.5 - middle) / max(small.size)
    lengths = _lengths(lines)
    order = np.argsort(-lengths, kind="stable")[:MAX_LINES]
    return np.asarray(lines[order][lengths[order] >= MIN_LENGTH])


def _lengths(lines: FloatArray) -> FloatArray:
    return np.hypot(lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1])


def view_of_lines(lines: FloatArray, focal: float | None) -> PhotoView | None:
    """Return the camera that best explains edges (N, 4); None if they do not suffice.

    Edges are as returned by ``straight_lines``. If ``focal``, in units of the longer side, is
    given, only the angles are estimated.
    """
    if len(lines) < MIN_LINES:
        return None
    edges = _Edges.of(lines)
    start = _sought(edges, FOCALS if focal is None else np.array([focal]))
    for spread in (SOUGHT_DEG, 1.2, FOUND_DEG):
        start = _refined(edges, start, focal, spread)
    pointing = edges.agreement(_axes(start), FOUND_DEG).max(axis=0) > 0.3
    if pointing.sum() < MIN_LINES or edges.weights[pointing].sum() < MIN_SHARE:
        return None
    return PhotoView(float(np.exp(start[0])), float(start[1]), float(start[2]), int(pointing.sum()))


def level_row(lines: FloatArray, width: float) -> float | None:
    """Return the row at which level edges cross most of the picture, such as the end of the sea.

    ``lines``, the picture's ``width`` and the row have the units of ``straight_lines``. None if no
    row has edges over the fraction ``ACROSS`` of the width.
    """
    rise, run = lines[:, 3] - lines[:, 1], np.abs(lines[:, 2] - lines[:, 0])
    level = np.abs(rise) < np.tan(np.radians(LEVEL_DEG)) * run
    rows, runs = (lines[level, 1] + lines[level, 3]) / 2, run[level]
    # The same edge is detected on both of its sides, and in pieces.
    near = np.abs(rows[:, None] - rows) < SAME_ROW
    across = near @ runs
    if not len(rows) or across.max() < ACROSS * width:
        return None
    most = int(first_most(across))
    return float(np.average(rows[near[most]], weights=runs[near[most]]))


@dataclass(frozen=True, eq=False)
class _Edges:
    """Midpoints (N, 2), directions (N, 2), and fractions (N,) of the total length of edges."""

    middles: FloatArray
    ways: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, lines: FloatArray) -> "_Edges":
        lengths = _lengths(lines)
        return cls((lines[:, :2] + lines[:, 2:]) / 2,
                   (lines[:, 2:] - lines[:, :2]) / lengths[:, None], lengths / lengths.sum())

    def agreement(self, points: FloatArray, spread_deg: float) -> FloatArray:
        """Return how well edges point to vanishing points (..., 3): (..., N), from 0 to 1.

        ``points`` are homogeneous: x and y, already multiplied by the focal length, and depth.
        """
        towards = points[..., None, :2] - points[..., None, 2:] * self.middles
        cross = towards[..., 0] * self.ways[:, 1] - towards[..., 1] * self.ways[:, 0]
        far = np.maximum(np.linalg.norm(towards, axis=-1), 1e-9)
        return np.asarray(np.exp(-((cross / far / np.radians(spread_deg)) ** 2) / 2))


def _axes(view: FloatArray) -> FloatArray:
    """Return the vanishing points (3, ..., 3) of the vertical and of two horizontal directions.

    ``view`` (..., 4) is the logarithm of the focal length, and pitch, roll and yaw in degrees.
    """
    focal = np.exp(view[..., 0])
    pitch, roll, yaw = np.moveaxis(np.radians(view[..., 1:]), -1, 0)
    none = np.zeros_like(pitch)
    down = np.stack([none, np.cos(pitch), np.sin(pitch)])
    ahead = np.stack([none, -np.sin(pitch), np.cos(pitch)])
    side = np.stack([none + 1, none, none])
    sine, cosine = np.sin(yaw), np.cos(yaw)
    x, y, z = np.stack([down, cosine * ahead + sine * side, cosine * side - sine * ahead], axis=1)
    return np.stack([focal * (np.cos(roll) * x - np.sin(roll) * y),
                     focal * (np.sin(roll) * x + np.cos(roll) * y), z], axis=-1)


def _sought(edges: _Edges, focals: FloatArray) -> FloatArray:
    """Return the best view (4,) of a coarse grid with roll 0; see ``_axes``."""
    best: list[tuple[float, FloatArray]] = []
    for focal in np.log(focals):
        views = np.stack(np.meshgrid(focal, PITCHES_DEG, 0.0, YAWS_DEG), axis=-1).reshape(-1, 4)
        scores = _scores(edges, views, SOUGHT_DEG)
        most = int(first_most(scores))
        best.append((float(scores[most]), views[most]))
    return max(best, key=lambda each: each[0])[1]


def _scores(edges: _Edges, views: FloatArray, spread_deg: float) -> FloatArray:
    """Return how well edges agree with views (M, 4), minus a penalty for unusual ones: (M,)."""
    agreement = edges.agreement(_axes(views), spread_deg).max(axis=0) @ edges.weights
    unusual = ((views[:, 0] - np.log(USUAL_FOCAL)) / USUAL_SPREAD) ** 2
    return np.asarray(agreement - USUAL_WEIGHT * unusual - ROLL_WEIGHT * views[:, 2] ** 2)


def _refined(edges: _Edges, start: FloatArray, focal: float | None, spread_deg: float
             ) -> FloatArray:
    """Return the best view (4,) near ``start``; a given focal length is kept."""
    steps = np.diag([0.1, 1.0, 1.0, 1.0])[0 if focal is None else 1:]

    def loss(moved: FloatArray) -> float:
        return -float(_scores(edges, (start + moved @ steps)[None], spread_deg)[0])

    simplex = np.vstack([np.zeros(len(steps)), np.eye(len(steps))])
    found = minimize(loss, simplex[0], method="Nelder-Mead", options={
        "initial_simplex": simplex, "xatol": 1e-3, "fatol": 1e-7, "maxiter": 400})
    return np.asarray(start + found.x @ steps)
