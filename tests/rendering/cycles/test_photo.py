"""What a picture of the config photo_fast must have, in small pictures."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.paths import data_folder
from mimegen.characters.character import Performance
from mimegen.compositing.background import Background, read_background
from mimegen.compositing.clipjob import ClipJob
from mimegen.compositing.color import srgb_to_linear
from mimegen.compositing.decode import clip_pictures, read_clip
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.rendering.worker import StageWorker
from mimegen.scenery.job import SetJob
from mimegen.shots.config import FramedCamera, RenderConfig, read_config
from mimegen.shots.figures import publish_figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.jobs import FigureFiles, JobDone, JobFailed, Ready, ShotJob
from mimegen.shots.look import FilmedLook, looks, read_look
from mimegen.store.frames import frame_name, read_frame

pytestmark = pytest.mark.render
CATALOGUE = Catalogue.with_libraries(())
# What its processing adds hides what its lens does. In so small a picture a lens blurs as much that
# is opened wider.
LOOK = read_look(looks()["dslr"]).model_copy(update={
    "grain": 0.0, "color_grain": 0.0, "sharpen": 0.0, "contrast": 0.0, "saturation": 1.0,
    "f_number": 0.7, "crf": 4})


def small(samples: int = 8) -> RenderConfig:
    """Return photo_fast in few pixels of few samples."""
    config = read_config(data_folder() / "render_configs" / "photo_fast.yaml")
    fewer = {"samples": samples}
    return config.model_copy(update={
        "width": 160, "height": 90, "sampling": config.sampling.model_copy(update=fewer),
        "set_sampling": config.set_sampling.model_copy(update=fewer)})


@pytest.fixture(scope="module")
def worker() -> Iterator[StageWorker]:
    warm = StageWorker("cpu", 2)
    assert isinstance(warm.connection.recv(), Ready)
    yield warm
    warm.kill()


@pytest.fixture(scope="module")
def boxer() -> Performance:
    """The man, boxing."""
    take = library_take(CATALOGUE.action("boxing"), None, 0)
    return Casting(take, (cast_member(CATALOGUE, "man"),)).perform(24.0)[0]


def carried_out(worker: StageWorker, job: ShotJob | SetJob) -> None:
    worker.submit(job)
    message: object = None
    while not isinstance(message, JobDone | JobFailed):
        assert worker.connection.poll(120), "the worker is silent"
        message = worker.connection.recv()
    assert isinstance(message, JobDone), message


def shot(worker: StageWorker, out: Path, boxer: Performance, config: RenderConfig) -> ShotJob:
    """Render the first frame; return what was done."""
    files = FigureFiles(out / "character.npz", out / "performance.npz")
    publish_figure(boxer, files)
    missing = np.zeros((boxer.motion.frames, 1), np.bool_)
    missing[0] = True
    job = ShotJob((files,), (frame_camera([boxer], config, 0.0),), config, (out / "shot",), missing)
    carried_out(worker, job)
    return job


def filmed(job: ShotJob, background: Background, still: Path | None, look: bool) -> NDArray[Any]:
    """Return the picture (H, W, 3) of a clip of one frame, linear light."""
    target = job.folders[0].parent / "clip.mp4"
    target.unlink(missing_ok=True)
    ClipJob(job.folders[0], (0,), 1.0, background, job.cameras[0], still, 24.0, target,
            look=FilmedLook(LOOK, (0, "boxing")) if look else None).run()
    return srgb_to_linear(next(clip_pictures(read_clip(target))) / 255)


HEAD = """
import sys
import numpy as np
from mimegen.base.paths import data_folder
from mimegen.characters.character import Performance
from mimegen.compositing.color import srgb_to_linear
from mimegen.characters.build import build_character
from mimegen.characters.spec import read_character
from mimegen.motion import Motion
from mimegen.rendering.cycles import materials
from mimegen.rendering.cycles.render import PictureReader, use_device
from mimegen.rendering.cycles.shot import FigureStage
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.figures import Figure
from mimegen.shots.framing import frame_camera

man = build_character(read_character(data_folder() / "rigs" / "man.yaml"))
rest = np.zeros((1, len(man.skeleton.names), 4)) + [1.0, 0.0, 0.0, 0.0]
scene = [Performance(man, Motion(man.skeleton, 24.0, man.skeleton.heads[:1], rest))]
config = RenderConfig.model_validate_json(sys.argv[1])
use_device("cpu", 2)


def head():
    stage = FigureStage([man], config)
    stage.pose([Figure.of(one).columns_at(0) for one in scene])
    figure = stage.picture(frame_camera(scene, config, 0.0), PictureReader()).figure
    return srgb_to_linear(figure[figure[..., 3] > 250][:, :3] / 255)


def without_travel(shader, photo):
    own(shader, photo)
    shader.set(subsurface_weight=0.0)


travelling, own = head(), materials.PHOTO["skin"]
materials.PHOTO["skin"] = without_travel
staying = head()
skin = (staying[:, 0] > 1.3 * staying[:, 1]) & (staying[:, 1] > staying[:, 2])
light = staying.sum(axis=1)
low, high = np.percentile(light[skin], [40, 80])
half_lit = skin & (light > low) & (light < high)
print("red", half_lit.sum(), *(color[half_lit, 0].sum() / color[half_lit].sum()
                               for color in (staying, travelling)))
"""


def test_skin_in_half_light_is_redder_as_light_travels_in_it() -> None:
    config = small()
    assert isinstance(config.camera, FramedCamera)
    config = config.model_copy(update={
        "camera": config.camera.model_copy(update={"head_only": True, "azimuth_deg": 0.0}),
        "light": config.light.model_copy(update={
            "sun_from_deg": (-75.0, 10.0), "sun_size_deg": 0.5, "sky_strength": 0.02,
            "rim_strength": 0.0, "ground_albedo": 0.0})})
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", HEAD, config.model_dump_json()],
                          capture_output=True, text=True, check=False)
    assert "red " in done.stdout, done.stderr[-800:]
    pixels, staying, travelling = map(float, done.stdout.split("red ")[1].split()[:3])
    assert pixels > 300
    assert travelling > staying + 0.005


def test_the_place_behind_is_softer_than_the_person_and_corners_are_darker(
    worker: StageWorker, tmp_path: Path, boxer: Performance
) -> None:
    # With fewer samples a person's noise is what a lens takes away.
    job = shot(worker, tmp_path, boxer, small(16))
    gym = read_background(data_folder() / "backgrounds" / "boxing_gym.yaml")
    assert gym.set is not None
    still = tmp_path / "still.png"
    carried_out(worker, SetJob(gym.set, job.cameras[0], job.config, still))
    plain, shown = (filmed(job, gym, still, look).mean(axis=-1) for look in (False, True))
    frame = read_frame(job.folders[0] / frame_name(0))
    person = np.zeros((90, 160), np.bool_)
    left, top = frame.figure_at
    rows, columns = frame.figure.shape[:2]
    person[top:top + rows, left:left + columns] = frame.figure[..., 3] > 250
    behind = ~person & (np.arange(90) < job.cameras[0].horizon_y - 2)[:, None]

    def sharpness(picture: NDArray[Any], where: NDArray[Any]) -> float:
        across = np.abs(np.diff(picture, axis=1)) / (picture[:, 1:] + picture[:, :-1] + 0.01)
        return float(across[where[:, 1:] & where[:, :-1]].mean())

    kept = [sharpness(shown, where) / sharpness(plain, where) for where in (person, behind)]
    assert kept[1] < 0.9 * kept[0]

    blank = read_background(data_folder() / "backgrounds" / "blank.yaml")
    plain, shown = (filmed(job, blank, None, look).mean(axis=-1) for look in (False, True))
    corners = np.ix_((0, 1, -2, -1), (0, 1, -2, -1))
    assert shown[corners].mean() / plain[corners].mean() == pytest.approx(
        1 - LOOK.vignette, abs=0.06)
    assert shown[2, 80] / plain[2, 80] > 1 - LOOK.vignette / 2


def test_a_photo_is_the_same_again(
    worker: StageWorker, tmp_path: Path, boxer: Performance
) -> None:
    config = small(4).model_copy(update={"shutter": LOOK.shutter})
    one, other = ((shot(worker, tmp_path / name, boxer, config).folders[0]
                   / frame_name(0)).read_bytes() for name in ("one", "other"))
    assert one == other


def test_hairs_change_the_head_alone(worker: StageWorker, tmp_path: Path, boxer: Performance
                                     ) -> None:
    config = small().model_copy(update={"width": 320, "height": 180})
    assert config.photo is not None
    bare = config.model_copy(update={"photo": config.photo.model_copy(update={"hairs": 0})})
    covered = []
    for name, each in (("hairs", config), ("bare", bare)):
        frame = read_frame(shot(worker, tmp_path / name, boxer, each).folders[0] / frame_name(0))
        whole = np.zeros((180, 320), np.int16)
        left, top = frame.figure_at
        rows, columns = frame.figure.shape[:2]
        whole[top:top + rows, left:left + columns] = frame.figure[..., 3]
        covered.append(whole)
    changed = np.flatnonzero((np.abs(covered[0] - covered[1]) > 40).any(axis=1))
    seen = np.flatnonzero((covered[1] > 128).any(axis=1))
    assert len(changed) > 3
    assert changed.max() < seen.min() + 0.25 * (seen.max() - seen.min())
