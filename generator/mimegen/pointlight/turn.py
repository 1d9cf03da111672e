"""Turn one performer about an axis through the middle of their path."""

from dataclasses import dataclass, replace

from mimegen.base.arrays import FloatArray
from mimegen.motion import quaternions
from mimegen.pointlight.dots import DotTracks


@dataclass(frozen=True, eq=False)
class Turn:
    """A rotation (4,) of a ``performer``'s whole motion about a ``centre`` (3,) in the world."""

    performer: int
    rotation: FloatArray
    centre: FloatArray

    def points(self, positions: FloatArray) -> FloatArray:
        """Return turned positions (..., 3)."""
        return quaternions.rotate(self.rotation, positions - self.centre) + self.centre

    def rotations(self, rotations: FloatArray) -> FloatArray:
        """Return turned rotations (..., 4) of joints."""
        return quaternions.multiply(self.rotation, rotations)

    def roots(self, roots: FloatArray) -> FloatArray:
        """Return the performers' positions (F, P, 3), those of the turned one changed."""
        turned = roots.copy()
        turned[:, self.performer] = self.points(roots[:, self.performer])
        return turned

    def dots(self, dots: DotTracks) -> DotTracks:
        """Return the dots, those of the turned performer changed."""
        positions, own = dots.positions.copy(), dots.performers == self.performer
        positions[:, own] = self.points(positions[:, own])
        return replace(dots, positions=positions)
