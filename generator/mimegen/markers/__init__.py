"""Solve labelled markers to a skeleton in motion, with numpy and scipy only.

`find_marker_set` finds where labelled markers sit on the body (``sets``). `solve` then scales the
standard skeleton to the performer's bone lengths (``centres``, ``rig``), finds initial poses
(``start``), fits poses to the markers (``fitting``), and bridges gaps (``solve``). Joints without
markers are inferred (``hidden``, ``standing``).
"""

from mimegen.markers.sets import MarkerSet, find_marker_set
from mimegen.markers.solve import Solution, solve

__all__ = ["MarkerSet", "Solution", "find_marker_set", "solve"]
