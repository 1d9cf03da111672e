"""Solve labelled markers to a skeleton in motion, with numpy and scipy only."""

from mimegen.markers.sets import MarkerSet, find_marker_set
from mimegen.markers.solve import Solution, solve

__all__ = ["MarkerSet", "Solution", "find_marker_set", "solve"]
