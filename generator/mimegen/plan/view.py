"""Another camera and another light than a render config's own."""

from dataclasses import dataclass

from mimegen.base.errors import RequestError
from mimegen.shots.config import FramedCamera, RenderConfig


@dataclass(frozen=True)
class ViewOverrides:
    """What differs from a render config; None is as the config has it.

    ``elevation`` of the camera and ``sun_from`` (azimuth, elevation) are in degrees, ``lens`` in mm
    on a sensor of 36; ``strength`` is times the config's sun. A camera can ``follow``.
    """

    elevation: float | None = None
    lens: float | None = None
    sun_from: tuple[float, float] | None = None
    strength: float = 1.0
    follow: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """What stands for it in a config's name."""
        parts = [("elevation", self.elevation), ("lens", self.lens)]
        if self.sun_from is not None:
            parts += [("light", self.sun_from[0]), ("", self.sun_from[1])]
        if self.strength != 1:
            parts += [("strength", self.strength)]
        return (*(f"{word}{number:g}" for word, number in parts if number is not None),
                *(["follow"] if self.follow else []))

    def of(self, config: RenderConfig) -> RenderConfig:
        """Return a render config with this camera and light.

        Raises RequestError for a config whose camera stands at one place for every action.
        """
        light = config.light.model_copy(update={
            "sun_from_deg": self.sun_from or config.light.sun_from_deg,
            "sun_strength": config.light.sun_strength * self.strength})
        wanted = {"elevation_deg": self.elevation, "lens_mm": self.lens,
                  "follow": self.follow or None}
        camera = {name: value for name, value in wanted.items() if value is not None}
        if camera and not isinstance(config.camera, FramedCamera):
            raise RequestError(f"config {config.name}: has a fixed camera; elevation, lens and"
                               " --camera follow require a config that frames the performer")
        return config.model_copy(update={
            "camera": config.camera.model_copy(update=camera), "light": light})

    def named(self, config: RenderConfig) -> RenderConfig:
        """Return the same under a name of its own, where anything differs. Raises as ``of``."""
        name = "_".join((config.name, *self.words))
        return self.of(config).model_copy(update={"name": name}) if self.words else config
