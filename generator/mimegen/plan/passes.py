"""Declarations of clips' ground truth: which passes, made by which engine, under which keys."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self

from mimegen.base.blender import blender_version, require_blender
from mimegen.base.code import code_key
from mimegen.base.files import content_key
from mimegen.groundtruth.kinds import FLOW, KEYPOINTS, MASK, WITH_SET, Engine, Kind, parse_kinds
from mimegen.plan.clips import PlannedClip
from mimegen.plan.shots import Shot
from mimegen.plan.staging import Filmed


@dataclass(frozen=True)
class WantedPasses:
    """The passes wanted of every rendered clip; ``engine`` renders them."""

    kinds: tuple[Kind, ...]
    engine: Engine = "raster"
    flow_files: str = "exr"

    @classmethod
    def of(cls, words: str, engine: Engine) -> Self:
        """Return the passes that the user's words name.

        Raises RequestError for unknown passes, and if Cycles is requested but Blender is not
        available.
        """
        kinds, flow_files = parse_kinds(words)
        if engine == "cycles":
            require_blender("--passes-from cycles")
        return cls(kinds, engine, flow_files)

    def key(self, shot: Shot, kind: Kind) -> str:
        """Return the key of a pass of a shot; it covers all that changes the pass and nothing else.

        The light counts for masks alone, which show shadows; the engine counts for all passes but
        keypoints.
        """
        config = shot.config
        light = (config.light.model_dump(mode="json"), config.shadow.model_dump(mode="json"))
        return content_key(
            "pass", kind, shot.casting.key, shot.casting.looks, shot.angle,
            config.camera.model_dump(mode="json"), config.width, config.height, config.fps,
            light if kind == MASK else None, self._looking(kind, shot))

    def geometry_key(self, clip: PlannedClip, filmed: Filmed) -> str | None:
        """Return the key of a set's geometry as a clip's camera sees it; None without a set."""
        key = clip.set_key(filmed)
        if key is None:
            return None
        return content_key("geometry", key, asdict(filmed.camera), self.engine,
                           *((blender_version(), clip.shot.rendering.device)
                             if self.engine == "cycles" else ()),
                           geometry_code(self.engine))

    def files_key(self, clip: PlannedClip, kind: Kind, filmed: Filmed, shown: Sequence[int],
                  shadow: float) -> str:
        """Return the key of a clip's pass files; clips for which it is equal share them.

        ``shown`` are the shot's frames that the clip shows, ``shadow`` is the opacity of the
        shadow.
        """
        geometry = self.geometry_key(clip, filmed) if kind in WITH_SET else None
        return content_key(
            self.key(clip.shot, kind), geometry, self.flow_files if kind == FLOW else None,
            shown, shadow if kind == MASK else None, code_key("mimegen.compositing.passfiles"),
            *clip.look_key)

    def _looking(self, kind: Kind, shot: Shot) -> tuple[str, ...]:
        if kind == KEYPOINTS:
            return (keypoint_code(),)
        if self.engine == "raster":
            return self.engine, pass_code(self.engine)
        return (self.engine, shot.rendering.device, blender_version(), pass_code(self.engine))


_EYES: dict[Engine, str] = {
    "raster": "mimegen.rendering.opengl.passes", "cycles": "mimegen.rendering.cycles.passes"}
_SETS: dict[Engine, str] = {
    "raster": "mimegen.rendering.opengl.geometry", "cycles": "mimegen.rendering.cycles.geometry"}


def keypoint_code() -> str:
    """Return the key of the code that frames figures and finds keypoints."""
    return code_key("mimegen.shots.framing", "mimegen.groundtruth.keypoints")


def pass_code(engine: Engine) -> str:
    """Return the key of the code that frames figures and makes passes with an engine."""
    return code_key("mimegen.shots.framing", "mimegen.groundtruth.passmaker", _EYES[engine],
                    without=["mimegen.groundtruth.keypoints"])


def geometry_code(engine: Engine) -> str:
    """Return the key of the code that renders sets' geometry with an engine."""
    return code_key(_SETS[engine])
