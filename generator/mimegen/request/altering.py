"""Options that alter clips: tempo, mirroring, reversal, camera and light."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mimegen.base.errors import RequestError
from mimegen.faces.overlay import FaceOverlay
from mimegen.library.take import LibraryTake
from mimegen.library.takes import altered
from mimegen.plan.surroundings import lit_by
from mimegen.plan.view import ViewOverrides
from mimegen.rendering.surroundings import read_environment_map
from mimegen.request.values import picture_from
from mimegen.shots.config import RenderConfig

FOLLOW = "follow"


@dataclass(frozen=True)
class Altering:
    """Changes to a take and its render config: tempo, mirroring, reversal, camera and light.

    With ``follow_place``, figures are lit to match their backgrounds. ``picture`` is an environment
    map that lights them: its name or file, and the azimuth in degrees from which its main light
    comes, or None for the azimuth of the config's sun.
    """

    tempo: float
    mirror: bool
    view: ViewOverrides
    follow_place: bool = False
    picture: tuple[str, float | None] | None = None
    reverse: bool = False

    @classmethod
    def of(cls, tempo: float | None = None, mirror: bool = False, elevation: float | None = None,
           lens: float | None = None, light: tuple[float, ...] | str | None = None,
           harmonise: bool = False, camera: str = "fixed", reverse: bool = False) -> Self:
        """Return the changes that these options ask for; an empty ``light`` means the place's own.

        Raises RequestError if an environment map is combined with ``harmonise``.
        """
        if isinstance(light, str):
            if harmonise:
                raise RequestError(f"--light {light} and --harmonise are mutually exclusive")
            view = ViewOverrides(elevation, lens, follow=camera == FOLLOW)
            return cls(tempo or 1.0, mirror, view, harmonise, picture_from(light), reverse)
        sun = (light[0], light[1]) if light else None
        strength = light[2] if light and light[2:] else 1.0
        return cls(tempo or 1.0, mirror, ViewOverrides(elevation, lens, sun, strength,
                                                       camera == FOLLOW),
                   harmonise or light == (), reverse=reverse)

    def take(self, take: LibraryTake, overlay: FaceOverlay | None = None) -> LibraryTake:
        """Return a take with these changes, and with ``overlay`` on the first performer's face.

        Raises RequestError if the take cannot be mirrored.
        """
        return altered(take, self.tempo, self.mirror, overlay, self.reverse)

    def config(self, config: RenderConfig) -> RenderConfig:
        """Return a render config with these changes, renamed to match.

        Raises RequestError if the config's camera cannot be changed or the environment map cannot
        be read.
        """
        altered = self.view.named(config)
        if self.picture is None:
            return altered
        what, from_deg = self.picture
        lit = lit_by(altered, Path(what).name, read_environment_map(what), from_deg)
        words = f"light_{Path(what).stem}" + ("" if from_deg is None else f"{from_deg:g}")
        return lit.model_copy(update={"name": f"{altered.name}_{words}"})
