"""The jobs for ground truth that the main process sends to workers: picklable, without bpy."""

from dataclasses import dataclass

from mimegen.groundtruth.kinds import Engine, Kind
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import ShotJob


@dataclass(frozen=True, eq=False)
class PassJob(ShotJob):
    """A job for frames of ground truth.

    Column ``c`` of ``missing`` is the pass ``kinds[c]``, seen from ``cameras[c]`` and published in
    ``folders[c]``; columns may share a camera. ``engine`` is the engine that renders it.
    """

    kinds: tuple[Kind, ...] = ()
    engine: Engine = "raster"


@dataclass(frozen=True, eq=False)
class GeometryJob(SetJob):
    """A job for depth and normals of a set from a camera, published as arrays at ``target``."""

    engine: Engine = "raster"
