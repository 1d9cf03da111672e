"""The camera of a photograph, told by the straight edges of what people build.

Edges of buildings and furniture run upright or along two level directions at a right angle. Each
such direction has a vanishing point; the focal length, pitch and roll under which most edges point
to theirs are the camera's (Coughlan and Yuille, Manhattan World, 1999; by edges in place of pixels,
as Denis, Elder and Estrada compare them, 2008).
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image
from scipy.optimize import minimize

from mimegen.base.decisions import first_most
from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray

# Lines are looked for in a picture of this size, and so many of the longest are used.
LARGEST = 1400
MOST_LINES = 400
LEAST_LENGTH = 0.02
# Edges point to their vanishing point up to this many degrees: where one seeks, and at last.
SOUGHT_DEG = 2.5
FOUND_DEG = 0.7
PITCHES_DEG = np.arange(-20.0, 41.0, 2.0)
YAWS_DEG = np.arange(0.0, 90.0, 2.5)
# Focal lengths as shares of the picture's longer side: 96 to 19 degrees across.
FOCALS = np.geomspace(0.45, 3.0, 10)
# Where edges tell nothing of it: a telephone's 26 mm, and how much of all edges it weighs against.
USUAL_FOCAL = 0.75
USUAL_SPREAD = 0.5
USUAL_WEIGHT = 0.01
# Cameras are held level: a degree of roll counts as little, ten as much.
ROLL_WEIGHT = 0.0005
# Edges within this of one row, and as level as this, make one line if they cover so much.
LEVEL_DEG = 1.0
SAME_ROW = 0.004
ACROSS = 0.4
# So much of all edges' length must point to one of the three, in so many edges.
LEAST_SHARE = 0.55
LEAST_LINES = 25


@dataclass(frozen=True)
class PhotoView:
    """How a camera looks: ``focal`` as a share of the picture's longer side, degrees of turn.

    ``pitch_deg`` is above 0 where it looks down, ``roll_deg`` where it leans clockwise, so that
    the picture's content leans counterclockwise; ``lines`` is how many edges say so, 0 where it
    is only a guess.
    """

    focal: float
    pitch_deg: float
    roll_deg: float = 0.0
    lines: int = 0

    def horizon(self, width: int, height: int) -> float:
        """Return the row of the horizon in the picture's middle, as a share of its height."""
        rise = self.focal * max(width, height) * np.tan(np.radians(self.pitch_deg))
        return float(0.5 - rise / height)


def straight_lines(image: Image.Image) -> FloatArray:
    """Return the ends x y x y (N, 4) of straight edges, the longest first.

    They count from the picture's middle, right and down, as shares of its longer side.
    Raises RequestError where OpenCV is not installed.
    """
    try:
        import cv2
    except ImportError as problem:
        raise RequestError("OpenCV, which finds the horizon, is not installed; run pip install"
                           " 'mimegen[photos]', or give --horizon ROW") from problem
    small = image.convert("L")
    small.thumbnail((LARGEST, LARGEST), Image.Resampling.LANCZOS)
    found = cv2.createLineSegmentDetector().detect(np.asarray(small))[0]
    if found is None:
        return np.empty((0, 4))
    middle = np.array([small.width, small.height, small.width, small.height]) / 2
    lines = (found[:, 0].astype(float) + 0.5 - middle) / max(small.size)
    lengths = _lengths(lines)
    order = np.argsort(-lengths, kind="stable")[:MOST_LINES]
    return np.asarray(lines[order][lengths[order] >= LEAST_LENGTH])


def _lengths(lines: FloatArray) -> FloatArray:
    return np.hypot(lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1])


def view_of_lines(lines: FloatArray, focal: float | None) -> PhotoView | None:
    """Return the camera that edges (N, 4) as from ``straight_lines`` tell; None if they do not.

    With a ``focal`` length, as a share of the longer side, only the camera's turn is looked for.
    """
    if len(lines) < LEAST_LINES:
        return None
    edges = _Edges.of(lines)
    start = _sought(edges, FOCALS if focal is None else np.array([focal]))
    for spread in (SOUGHT_DEG, 1.2, FOUND_DEG):
        start = _refined(edges, start, focal, spread)
    pointing = edges.agreement(_axes(start), FOUND_DEG).max(axis=0) > 0.3
    if pointing.sum() < LEAST_LINES or edges.weights[pointing].sum() < LEAST_SHARE:
        return None
    return PhotoView(float(np.exp(start[0])), float(start[1]), float(start[2]), int(pointing.sum()))


def level_row(lines: FloatArray, width: float) -> float | None:
    """Return the row at which level edges cross most of the picture: where sea or field end.

    ``lines`` and the row count as in ``straight_lines``, and so does the picture's ``width``. None
    where no row has edges over ``ACROSS`` of it.
    """
    rise, run = lines[:, 3] - lines[:, 1], np.abs(lines[:, 2] - lines[:, 0])
    level = np.abs(rise) < np.tan(np.radians(LEVEL_DEG)) * run
    rows, runs = (lines[level, 1] + lines[level, 3]) / 2, run[level]
    # The same edge is found from both of its sides, and in pieces.
    near = np.abs(rows[:, None] - rows) < SAME_ROW
    across = near @ runs
    if not len(rows) or across.max() < ACROSS * width:
        return None
    most = int(first_most(across))
    return float(np.average(rows[near[most]], weights=runs[near[most]]))


@dataclass(frozen=True, eq=False)
class _Edges:
    """Middles (N, 2), directions (N, 2) and shares (N,) of all edges' length."""

    middles: FloatArray
    ways: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, lines: FloatArray) -> "_Edges":
        lengths = _lengths(lines)
        return cls((lines[:, :2] + lines[:, 2:]) / 2,
                   (lines[:, 2:] - lines[:, :2]) / lengths[:, None], lengths / lengths.sum())

    def agreement(self, points: FloatArray, spread_deg: float) -> FloatArray:
        """Return how well edges point to vanishing points (..., 3), homogeneous: (..., N), 0 to 1.

        ``points`` are the directions' x, y and depth, x and y already in focal lengths.
        """
        towards = points[..., None, :2] - points[..., None, 2:] * self.middles
        cross = towards[..., 0] * self.ways[:, 1] - towards[..., 1] * self.ways[:, 0]
        far = np.maximum(np.linalg.norm(towards, axis=-1), 1e-9)
        return np.asarray(np.exp(-((cross / far / np.radians(spread_deg)) ** 2) / 2))


def _axes(view: FloatArray) -> FloatArray:
    """Return the vanishing points (3, ..., 3) of what is upright and of two level directions.

    ``view`` (..., 4) is the focal length's logarithm, pitch, roll and yaw in degrees.
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
    """Return the best view (4,) of a coarse grid, whose roll is 0; see ``_axes``."""
    best: list[tuple[float, FloatArray]] = []
    for focal in np.log(focals):
        views = np.stack(np.meshgrid(focal, PITCHES_DEG, 0.0, YAWS_DEG), axis=-1).reshape(-1, 4)
        scores = _scores(edges, views, SOUGHT_DEG)
        most = int(first_most(scores))
        best.append((float(scores[most]), views[most]))
    return max(best, key=lambda each: each[0])[1]


def _scores(edges: _Edges, views: FloatArray, spread_deg: float) -> FloatArray:
    """Return how well edges agree with views (M, 4), less for unusual ones: (M,)."""
    agreement = edges.agreement(_axes(views), spread_deg).max(axis=0) @ edges.weights
    unusual = ((views[:, 0] - np.log(USUAL_FOCAL)) / USUAL_SPREAD) ** 2
    return np.asarray(agreement - USUAL_WEIGHT * unusual - ROLL_WEIGHT * views[:, 2] ** 2)


def _refined(edges: _Edges, start: FloatArray, focal: float | None, spread_deg: float
             ) -> FloatArray:
    """Return the best view (4,) near ``start``; a given focal length stays."""
    steps = np.diag([0.1, 1.0, 1.0, 1.0])[0 if focal is None else 1:]

    def loss(moved: FloatArray) -> float:
        return -float(_scores(edges, (start + moved @ steps)[None], spread_deg)[0])

    simplex = np.vstack([np.zeros(len(steps)), np.eye(len(steps))])
    found = minimize(loss, simplex[0], method="Nelder-Mead", options={
        "initial_simplex": simplex, "xatol": 1e-3, "fatol": 1e-7, "maxiter": 400})
    return np.asarray(start + found.x @ steps)
