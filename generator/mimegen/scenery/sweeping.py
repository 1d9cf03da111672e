"""Compute the floor area that a performance occupies from its performers' joints in all frames."""

from collections.abc import Iterable, Sequence

import numpy as np

from mimegen.base.grid import on_grid
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.swept import CELL_M, Cells, GroundGrid, Swept

# Radius of a clothed body around each joint. It is larger around the standard person's joints,
# because taller and shorter people walk a little farther or less far.
BODY_M = 0.2
ANYBODY_M = 0.3
# Height of the top of the head above its highest joint.
HEAD_M = 0.15
# Heights are rounded up to multiples of this.
TOP_STEP_M = 0.25


def swept_by(scene: Sequence[Motion], standard: Iterable[FloatArray] = ()) -> Swept:
    """Return the floor area and height that performers occupy, in shared world coordinates.

    ``standard`` has joint positions (F, J, 3) of the same performance by the standard person.
    Including them gives people of usual sizes the same area. Mimed objects occupy nothing.
    """
    own = [motion.global_pose.positions for motion in scene]
    cells = [_widened(_squares(places), BODY_M) for places in own]
    cells += [_widened(_squares(places), ANYBODY_M) for places in standard]
    top = max(float(on_grid(places[..., 2].max())) for places in own) + HEAD_M
    return Swept(GroundGrid.of(np.concatenate(cells)),
                 float(np.ceil(top / TOP_STEP_M) * TOP_STEP_M))


def _squares(places: FloatArray) -> Cells:
    """Return the squares (N, 2) below positions (F, J, 3) and halfway to those of the next frame.
    """
    level = on_grid(places[..., :2])
    halfway = (level[1:] + level[:-1]) / 2
    points = np.concatenate([level.reshape(-1, 2), halfway.reshape(-1, 2)])
    return np.asarray(np.unique(np.floor(points / CELL_M).astype(np.intp), axis=0))


def _widened(cells: Cells, reach_m: float) -> Cells:
    """Return all squares (N, 2) within ``reach_m`` of the given ones."""
    steps = int(np.ceil(reach_m / CELL_M))
    ways = np.arange(-steps, steps + 1)
    around = np.stack(np.meshgrid(ways, ways), axis=-1).reshape(-1, 2)
    around = around[np.linalg.norm(around, axis=1) <= steps + 0.5]
    return np.asarray(np.unique((cells[:, None] + around).reshape(-1, 2), axis=0))
