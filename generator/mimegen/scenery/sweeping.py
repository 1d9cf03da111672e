"""How much of the floor a performance takes, from the joints of its performers in all frames."""

from collections.abc import Iterable, Sequence

import numpy as np

from mimegen.base.grid import on_grid
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.swept import CELL_M, Cells, GroundGrid, Swept

# How far a body, its clothes included, reaches around a joint; and around one of the standard
# person, in whose place taller and shorter ones walk a little further or less far.
BODY_M = 0.2
ANYBODY_M = 0.3
# How far the top of a head is above its highest joint.
HEAD_M = 0.15
# Heights are told in steps.
TOP_STEP_M = 0.25


def swept_by(scene: Sequence[Motion], standard: Iterable[FloatArray] = ()) -> Swept:
    """Return what performers take of a place, who move in one world.

    ``standard`` are places (F, J, 3) of the same performance by the standard person: with it
    people of usual sizes take the same floor. Imagined things that they hold take nothing.
    """
    own = [motion.global_pose.positions for motion in scene]
    cells = [_widened(_squares(places), BODY_M) for places in own]
    cells += [_widened(_squares(places), ANYBODY_M) for places in standard]
    top = max(float(on_grid(places[..., 2].max())) for places in own) + HEAD_M
    return Swept(GroundGrid.of(np.concatenate(cells)),
                 float(np.ceil(top / TOP_STEP_M) * TOP_STEP_M))


def _squares(places: FloatArray) -> Cells:
    """Return the squares (N, 2) below places (F, J, 3) and between them and the frame after."""
    level = on_grid(places[..., :2])
    halfway = (level[1:] + level[:-1]) / 2
    points = np.concatenate([level.reshape(-1, 2), halfway.reshape(-1, 2)])
    return np.asarray(np.unique(np.floor(points / CELL_M).astype(np.intp), axis=0))


def _widened(cells: Cells, reach_m: float) -> Cells:
    """Return the squares (N, 2) that are no further from some squares."""
    steps = int(np.ceil(reach_m / CELL_M))
    ways = np.arange(-steps, steps + 1)
    around = np.stack(np.meshgrid(ways, ways), axis=-1).reshape(-1, 2)
    around = around[np.linalg.norm(around, axis=1) <= steps + 0.5]
    return np.asarray(np.unique((cells[:, None] + around).reshape(-1, 2), axis=0))
