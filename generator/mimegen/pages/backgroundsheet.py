"""Show a background from four sides with a person standing in it, as small rendered pictures."""

import math
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.characters.character import Character, Performance
from mimegen.compositing.backdrop import backdrop
from mimegen.compositing.background import Background
from mimegen.compositing.compose import Compositor
from mimegen.farm.dispatch import TaskFailed, run_tasks
from mimegen.farm.local import LocalExecutor
from mimegen.farm.task import Task
from mimegen.motion import Motion, standard_skeleton
from mimegen.motion.hand_shapes import finger_bends, finger_joints, side_pose
from mimegen.pages.drawn import DrawnScene, drawn, tiled
from mimegen.retarget import retarget
from mimegen.scenery.job import SetJob
from mimegen.scenery.standing import wall_hides_the_performer
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig
from mimegen.shots.figures import publish_figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.jobs import FigureFiles, ShotJob
from mimegen.store.frames import frame_name, read_frame

ANGLES = (0, 90, 180, 270)
LABELS = tuple(f"@{angle}" for angle in ANGLES)
# Width and height of each picture, in pixels.
SIZE = (320, 180)
SAMPLES = 8
# The angle of the arms from straight down.
ARMS_OUT_DEG = 12.0


def background_sheet(background: Background, character: Character, config: RenderConfig,
                     device: str) -> Image.Image:
    """Return four pictures, two by two, of a character standing in front of a background.

    They are rendered like the variants @0, @90, @180 and @270, with the camera and light of
    ``config``, but smaller and with fewer samples. Raises RequestError if rendering fails.
    """
    config = _quick(config)
    person = standing(character)
    cameras = [frame_camera([person], config, float(angle)) for angle in ANGLES]
    with scratch_folder() as folder:
        _render(background, person, cameras, config, device, folder)
        pictures = [
            Compositor(
                backdrop(background, camera, _still(background, folder, angle), angle)
            ).compose(read_frame(folder / str(angle) / frame_name(0)))
            for angle, camera in zip(ANGLES, cameras, strict=True)]
    return tiled(pictures, LABELS, 2)


def drawn_background_sheet(background: Background, character: Character, config: RenderConfig
                           ) -> Image.Image:
    """Return the same four pictures, drawn by OpenGL in this process.

    Raises RequestError if OpenGL is not available.
    """
    scene = DrawnScene([standing(character)], background, _quick(config))
    pictures, = drawn(scene, ANGLES, [0])
    return tiled(pictures, LABELS, 2)


def angles_behind_walls(background: Background, character: Character, config: RenderConfig
                        ) -> list[str]:
    """Return the labels of the pictures in which a wall of the set hides the character."""
    person = standing(character)
    return [label for label, angle in zip(LABELS, ANGLES, strict=True)
            if background.set and wall_hides_the_performer(
                background.set, frame_camera([person], config, float(angle)))]


def _quick(config: RenderConfig) -> RenderConfig:
    sparse = {"samples": SAMPLES, "min_samples": min(SAMPLES, config.sampling.min_samples)}
    return config.model_copy(update={
        "width": SIZE[0], "height": SIZE[1],
        "sampling": config.sampling.model_copy(update=sparse),
        "set_sampling": config.set_sampling.model_copy(update=sparse)})


def standing(character: Character) -> Performance:
    """Return a single frame of a character standing with arms down and hands relaxed."""
    skeleton = standard_skeleton()
    rotations = np.zeros((1, len(skeleton.names), 4))
    rotations[..., 0] = 1.0
    for side, turn in (("Left", 1.0), ("Right", -1.0)):
        arm = skeleton.index[f"{side}Arm"]
        along = skeleton.tails[arm] - skeleton.heads[arm]
        raised = math.degrees(math.asin(along[2] / np.linalg.norm(along)))
        half = math.radians(raised + 90.0 - ARMS_OUT_DEG) / 2
        rotations[0, arm] = math.cos(half), 0.0, turn * math.sin(half), 0.0
        rotations[0, finger_joints(skeleton, side)] = finger_bends(
            side_pose("relaxed", turn)).reshape(-1, 4)
    return retarget(Motion(skeleton, 30.0, skeleton.heads[None, 0], rotations), character)


def _still(background: Background, folder: Path, angle: int) -> Path | None:
    return folder / f"{angle}.png" if background.set is not None else None


def _render(background: Background, person: Performance, cameras: list[Camera],
            config: RenderConfig, device: str, folder: Path) -> None:
    """Render the person and, if the background is a set, its stills into ``folder``."""
    sets = [] if background.set is None else [
        Task(SetJob(background.set, camera, config, folder / f"{angle}.png"),
             f"background {background.name} from @{angle}")
        for angle, camera in zip(ANGLES, cameras, strict=True)]
    files = FigureFiles(folder / "character.npz", folder / "performance.npz")
    publish_figure(person, files)
    shot = ShotJob((files,), tuple(cameras), config,
                   tuple(folder / str(angle) for angle in ANGLES), np.ones((1, len(ANGLES)), bool))
    start = partial(LocalExecutor, [device], 0, folder)
    with closing(run_tasks([*sets, Task(shot, "the person")], start)) as events:
        for event in events:
            if isinstance(event, TaskFailed):
                raise RequestError(event.why)
