"""Changes to the camera and light of a render config."""

from dataclasses import dataclass

from mimegen.base.errors import RequestError
from mimegen.shots.config import FramedCamera, RenderConfig


@dataclass(frozen=True)
class ViewOverrides:
    """Values that replace those of a render config; None keeps the config's.

    ``elevation`` of the camera and ``sun_from`` (azimuth, elevation) are in degrees, ``lens`` is
    the focal length in mm for a sensor 36 mm wide; ``strength`` multiplies the strength of the
    config's sun. If ``follow``, the camera follows the performer.
    """

    elevation: float | None = None
    lens: float | None = None
    sun_from: tuple[float, float] | None = None
    strength: float = 1.0
    follow: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The words for the changes in a config's name."""
        parts = [("elevation", self.elevation), ("lens", self.lens)]
        if self.sun_from is not None:
            parts += [("light", self.sun_from[0]), ("", self.sun_from[1])]
        if self.strength != 1:
            parts += [("strength", self.strength)]
        return (*(f"{word}{number:g}" for word, number in parts if number is not None),
                *(["follow"] if self.follow else []))

    def of(self, config: RenderConfig) -> RenderConfig:
        """Return a render config with these changes.

        Raises RequestError if a change needs a camera that frames the performer and the config's is
        fixed.
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
        """Return the changed config under a new name, or ``config`` if nothing changes.

        Raises as ``of``.
        """
        name = "_".join((config.name, *self.words))
        return self.of(config).model_copy(update={"name": name}) if self.words else config
