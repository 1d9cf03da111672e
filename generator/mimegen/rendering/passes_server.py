"""Ground-truth jobs in a worker, whichever engine the worker itself renders with."""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from mimegen.base.errors import RequestError
from mimegen.groundtruth.job import GeometryJob, PassJob
from mimegen.groundtruth.kinds import Engine
from mimegen.groundtruth.passmaker import PassMaker, publish_passes
from mimegen.groundtruth.surface import PosedScene
from mimegen.groundtruth.visible_surface import SurfaceRenderer
from mimegen.rendering.cores import seeing_cores
from mimegen.rendering.remote_blender import use_remote_blender
from mimegen.shots.config import RenderConfig
from mimegen.shots.figures import read_figure
from mimegen.shots.jobs import FigureFiles, FrameDone

if TYPE_CHECKING:
    import moderngl


class PassServer:
    """Does ground-truth jobs; starts an engine when a job needs it and keeps the latest scene."""

    def __init__(self, threads: int, context: "moderngl.Context | None" = None) -> None:
        """Use the worker's OpenGL ``context``, or open one with ``threads`` when first needed.

        A worker without a context is taken to be one that already runs Cycles.
        """
        self._threads, self._context = threads, context
        self._has_cycles = context is None
        self._engine: Engine | None = None
        self._maker = lru_cache(maxsize=1)(self._make)

    def do(self, job: PassJob | GeometryJob, send: Callable[[FrameDone], None]) -> None:
        """Publish a job's frames, or the depth and normals of a set.

        Raises ShotError if a frame fails, and RequestError if OpenGL is needed but not available.
        """
        if isinstance(job, GeometryJob):
            self._geometry(job)
        else:
            publish_passes(job, self._maker(job.figures, job.config, job.engine), send)

    def blender_was_emptied(self) -> None:
        """Forget figures in Blender's scene; call it before a job that empties the scene."""
        if self._engine == "cycles":
            self._maker.cache_clear()

    def _geometry(self, job: GeometryJob) -> None:
        if job.engine == "cycles":
            self._start_cycles()
            from mimegen.rendering.cycles.geometry import render_geometry

            self.blender_was_emptied()
            render_geometry(job)
            return
        from mimegen.rendering.opengl.geometry import draw_geometry

        draw_geometry(self._opengl(), job)

    def _make(self, files: tuple[FigureFiles, ...], config: RenderConfig, engine: Engine
              ) -> PassMaker:
        self._engine = engine
        scene = PosedScene([read_figure(each) for each in files])
        return PassMaker(scene, config, lambda: self._renderer(scene, engine))

    def _renderer(self, scene: PosedScene, engine: Engine) -> SurfaceRenderer:
        if engine == "cycles":
            self._start_cycles()
            from mimegen.rendering.cycles.passes import CyclesSurfaceRenderer

            renderer: SurfaceRenderer = CyclesSurfaceRenderer(scene)
            return renderer
        from mimegen.rendering.opengl.passes import OpenGLSurfaceRenderer

        return OpenGLSurfaceRenderer(self._opengl(), scene)

    def _start_cycles(self) -> None:
        """Start Cycles on the CPU in an OpenGL worker; does nothing if Cycles runs already."""
        if not self._has_cycles:
            use_remote_blender()
            with seeing_cores(self._threads):
                from mimegen.rendering.cycles.render import use_device

            use_device("cpu", self._threads)
            self._has_cycles = True

    def draws(self) -> bool:
        """Return whether OpenGL still draws; True if it was never opened."""
        if self._context is None:
            return True
        from mimegen.rendering.opengl.context import is_sound

        return is_sound(self._context)

    def _opengl(self) -> "moderngl.Context":
        if self._context is None:
            from mimegen.rendering.opengl.context import context_of_process

            try:
                self._context = context_of_process(self._threads)
            except RequestError as problem:
                raise RequestError(f"{problem}; --passes-from cycles needs no OpenGL") from problem
        return self._context
