"""What the main process asks of the stage for ground truth: typed, picklable, no bpy."""

from dataclasses import dataclass

from mimegen.groundtruth.kinds import Engine, Kind
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import ShotJob


@dataclass(frozen=True, eq=False)
class PassJob(ShotJob):
    """Frames of ground truth: column ``c`` of ``missing`` is the pass ``kinds[c]``.

    It is seen from ``cameras[c]`` and published in ``folders[c]``; columns may share a camera.
    ``engine`` is what looks: raster or cycles.
    """

    kinds: tuple[Kind, ...] = ()
    engine: Engine = "raster"


@dataclass(frozen=True, eq=False)
class GeometryJob(SetJob):
    """Depth and normals of a set from a camera, published at ``target`` as arrays."""

    engine: Engine = "raster"
