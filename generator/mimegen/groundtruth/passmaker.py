"""Make the frames of ground-truth passes, with one rendering for all kinds, and publish them."""

import time
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from mimegen.base.files import publish
from mimegen.groundtruth.flow import flow_to
from mimegen.groundtruth.job import PassJob
from mimegen.groundtruth.keypoints import KeypointMaker
from mimegen.groundtruth.kinds import DEPTH, FLOW, KEYPOINTS, MASK, NORMALS, PARTS, Kind
from mimegen.groundtruth.surface import PosedScene
from mimegen.groundtruth.visible_surface import SeenSurface, SurfaceRenderer, in_camera
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig
from mimegen.shots.jobs import FrameDone
from mimegen.shots.publishing import ShotError
from mimegen.shots.seen_shadow import seen_shadow
from mimegen.shots.shadow import ground_shadow
from mimegen.shots.skinning import SkinMatrix, posed_points
from mimegen.shots.surface_points import surface_matrix
from mimegen.store.passes import pack_arrays

Arrays = Mapping[str, NDArray[np.generic]]


class PassMaker:
    """Makes the passes of a scene; rendered surfaces are cached for other kinds and frames."""

    def __init__(self, scene: PosedScene, config: RenderConfig,
                 open_renderer: Callable[[], SurfaceRenderer]) -> None:
        """Make passes of ``scene``; ``open_renderer`` is called when something must be rendered."""
        self.scene, self._config, self._open = scene, config, open_renderer
        # All passes of a frame use the same surface, and flow uses those of neighbouring frames.
        self.surface = lru_cache(maxsize=16)(self._surface)

    def arrays(self, kind: Kind, frame: int, camera: Camera) -> Arrays:
        """Return a frame's arrays of a kind of pass; see docs/guide/passes.md and ``store/passes``.

        ``at`` is the upper left pixel of arrays that cover a part of the picture.
        """
        makers: dict[Kind, Callable[[int, Camera], Arrays]] = {
            KEYPOINTS: self._keypoints.frame, DEPTH: self._depth, MASK: self._mask,
            NORMALS: self._normals, FLOW: self._flow, PARTS: self._parts}
        return makers[kind](frame, camera)

    @cached_property
    def _keypoints(self) -> KeypointMaker:
        return KeypointMaker.of(self.scene)

    @cached_property
    def _renderer(self) -> SurfaceRenderer:
        return self._open()

    @cached_property
    def _shading(self) -> list[SkinMatrix]:
        return [surface_matrix(character, self._config.shadow.cell_m)
                for character in self.scene.characters]

    def _surface(self, frame: int, camera: Camera) -> SeenSurface:
        return self._renderer.render(frame, camera)

    def _depth(self, frame: int, camera: Camera) -> Arrays:
        seen = self.surface(frame, camera)
        return {"at": np.array(seen.region[:2]), "depth": seen.depth}

    def _normals(self, frame: int, camera: Camera) -> Arrays:
        seen = self.surface(frame, camera)
        # Half precision has an error of up to 0.00025 in a unit vector's components, about 0.02
        # degrees.
        normals = in_camera(seen.normals, camera).astype(np.float16)
        return {"at": np.array(seen.region[:2]), "normals": normals}

    def _parts(self, frame: int, camera: Camera) -> Arrays:
        seen = self.surface(frame, camera)
        return {"at": np.array(seen.region[:2]), "parts": seen.labels[..., 1],
                "garments": seen.labels[..., 2],
                "garment_names": np.array(self.scene.surface.garment_names)}

    def _mask(self, frame: int, camera: Camera) -> Arrays:
        seen = self.surface(frame, camera)
        points = np.concatenate([
            posed_points(matrix, self.scene.columns(figure, frame))
            for matrix, figure in zip(self._shading, self.scene.figures, strict=True)])
        cast = ground_shadow(points, self._config.light, self._config.shadow.cell_m)
        shadow, shadow_at = seen_shadow(cast, camera, self._config.shadow.strength)
        return {"at": np.array(seen.region[:2]), "persons": seen.labels[..., 0],
                "shadow_at": np.array(shadow_at), "shadow": shadow}

    def _flow(self, frame: int, camera: Camera) -> Arrays:
        now = self.surface(frame, camera)
        arrays: dict[str, NDArray[np.generic]] = {}
        for name, step, places in (("forward", 1, now.following), ("backward", -1, now.preceding)):
            if 0 <= frame + step < self.scene.frames:
                other = self.surface(frame + step, camera)
                flow, occluded, region = flow_to(now, other, places, camera)
                arrays |= {name: flow, f"{name}_occluded": occluded,
                           f"{name}_at": np.array(region[:2])}
        return arrays


def publish_passes(job: PassJob, maker: PassMaker, send: Callable[[FrameDone], None]) -> None:
    """Publish every missing frame, with all its passes before the next, in existing folders.

    Raises ShotError, naming frame, pass and folder, if a frame fails.
    """
    for frame in np.flatnonzero(job.missing.any(axis=1)):
        for column in np.flatnonzero(job.missing[frame]):
            started, kind = time.perf_counter(), job.kinds[column]
            try:
                packed = pack_arrays(maker.arrays(kind, int(frame), job.cameras[column]))
                publish(job.frame_file(int(frame), int(column)), packed, makes_folder=False)
            except Exception as problem:
                where = f"{kind} of frame {frame} in {job.folders[column]}"
                raise ShotError(f"{where}: {type(problem).__name__}: {problem}") from problem
            send(FrameDone(int(column), int(frame), time.perf_counter() - started))
