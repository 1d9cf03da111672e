"""What single clips may differ in, as permutations do: tempo, mirror, camera and light."""

from dataclasses import dataclass
from typing import Self

from mimegen.faces.overlay import FaceOverlay
from mimegen.library.take import LibraryTake
from mimegen.library.takes import altered
from mimegen.plan.view import ViewOverrides
from mimegen.shots.config import RenderConfig

FOLLOW = "follow"


@dataclass(frozen=True)
class Altering:
    """Another tempo, the mirror image, another camera and another light.

    With ``follow_place``, figures are lit as their backgrounds are.
    """

    tempo: float
    mirror: bool
    view: ViewOverrides
    follow_place: bool = False

    @classmethod
    def of(cls, tempo: float | None = None, mirror: bool = False, elevation: float | None = None,
           lens: float | None = None, light: tuple[float, ...] | None = None,
           harmonise: bool = False, camera: str = "fixed") -> Self:
        """Return what these options ask for; an empty ``light`` is the place's own."""
        sun = (light[0], light[1]) if light else None
        strength = light[2] if light and light[2:] else 1.0
        return cls(tempo or 1.0, mirror, ViewOverrides(elevation, lens, sun, strength,
                                                       camera == FOLLOW),
                   harmonise or light == ())

    def take(self, take: LibraryTake, overlay: FaceOverlay | None = None) -> LibraryTake:
        """Return a take altered, with an overlay on the first performer's face.

        Raises RequestError for one that cannot be mirrored.
        """
        return altered(take, self.tempo, self.mirror, overlay)

    def config(self, config: RenderConfig) -> RenderConfig:
        """Return a render config altered. Raises RequestError for one whose camera is fixed."""
        return self.view.named(config)
