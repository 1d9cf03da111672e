"""The stage's worker with real Blender, on tiny pictures."""

import os
import platform
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from bodies import capsule_character, wandering_motion
from hdr_files import sky_with_light, write_hdr
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.characters.character import Character, Material, Performance
from mimegen.compositing.background import read_background
from mimegen.compositing.compose import compose
from mimegen.groundtruth.job import PassJob
from mimegen.plan.surroundings import lit_by
from mimegen.rendering.auto import choose_device
from mimegen.rendering.surroundings import read_environment_map
from mimegen.rendering.worker import StageWorker
from mimegen.scenery.job import SetJob
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.devices import Device, kind_of_cpu
from mimegen.shots.figures import publish_figure, read_figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.jobs import FigureFiles, FrameDone, JobDone, JobFailed, Ready, ShotJob
from mimegen.store.frames import Frame, frame_name, read_frame
from mimegen.store.makers import makers
from mimegen.store.passes import read_arrays
from waiting import wait_until

BODY = capsule_character(8, 7)
FRAMES = 3


def tiny(**changes: object) -> RenderConfig:
    content = read_config(data_folder() / "render_configs" / "preview.yaml").model_dump()
    content |= {"width": 128, "height": 72}
    content["sampling"] |= {"samples": 4, "denoise": False}
    return RenderConfig.model_validate(content | changes)


def shot(out: Path, config: RenderConfig, angles: tuple[float, ...] = (0.0,),
         body: Character = BODY) -> ShotJob:
    motion = wandering_motion(body.skeleton, FRAMES, 3, 0.3)
    performance = Performance(body, motion)
    cameras = tuple(frame_camera([performance], config, angle) for angle in angles)
    files = FigureFiles(out.parent / "character.npz", out.parent / "performance.npz")
    out.mkdir(parents=True, exist_ok=True)
    publish_figure(performance, files)
    return ShotJob(
        (files,), cameras, config,
        tuple(out / f"camera{number}" for number in range(len(angles))),
        np.ones((FRAMES, len(angles)), np.bool_),
    )


def carried_out(worker: StageWorker, job: ShotJob | SetJob | PassJob) -> list[object]:
    worker.submit(job)
    messages: list[object] = []
    while not messages or not isinstance(messages[-1], JobDone | JobFailed):
        assert worker.connection.poll(120), "the worker is silent"
        messages.append(worker.connection.recv())
    return messages


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def worker() -> Iterator[StageWorker]:
    warm = StageWorker("cpu", 2)
    ready = warm.connection.recv()
    assert isinstance(ready, Ready) and ready.device == "cpu" and ready.program
    assert ready.cpu == kind_of_cpu() and ready.cpu.startswith(platform.machine())
    yield warm
    warm.kill()


@pytest.fixture(scope="module")
def rendered(worker: StageWorker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rendered")
    carried_out(worker, shot(out, tiny(), (0.0, 90.0)))
    return out


def test_exactly_the_missing_frames_are_published_frames_outer(
    worker: StageWorker, tmp_path: Path
) -> None:
    job = shot(tmp_path, tiny(), (0.0, 90.0))
    job.missing[0, 1] = job.missing[2, 0] = False
    messages = carried_out(worker, job)
    done = [(m.frame, m.camera) for m in messages if isinstance(m, FrameDone)]
    assert done == [(0, 0), (1, 0), (1, 1), (2, 1)]
    assert isinstance(messages[-1], JobDone)
    assert {name for name in files_below(tmp_path) if name.endswith(".npz")} == {
        f"camera{camera}/{frame_name(frame)}" for frame, camera in done
    }
    assert [makers(folder) for folder in job.folders] == 2 * [(kind_of_cpu(),)]


def test_the_figure_stands_where_the_camera_projects_it(rendered: Path) -> None:
    job = shot(rendered, tiny(), (0.0, 90.0))
    for camera, folder in enumerate(job.folders):
        frame = read_frame(folder / frame_name(1))
        rows, columns = np.nonzero(frame.figure[..., 3] > 127)
        hips = read_figure(job.figures[0]).positions[1, BODY.skeleton.index["Hips"]]
        head = job.cameras[camera].project(hips)
        x, y = head[:2] - frame.figure_at - 0.5
        nearest = np.hypot(rows - y, columns - x).min()
        assert nearest < 1.5
        assert frame.figure[..., 3].min() == 0, "no sky on the film"


def test_colors_are_neither_burnt_nor_black(rendered: Path) -> None:
    for folder in ("camera0", "camera1"):
        figure = read_frame(rendered / folder / frame_name(0)).figure
        solid = figure[figure[..., 3] > 250][:, :3].astype(int)
        assert len(solid) > 100
        assert np.percentile(solid.max(axis=1), 99) < 250
        assert np.percentile(solid.max(axis=1), 2) > 30


def test_edges_have_the_figures_color(rendered: Path) -> None:
    figure = read_frame(rendered / "camera0" / frame_name(0)).figure
    solid = figure[figure[..., 3] == 255][:, :3].astype(float)
    edge = figure[(figure[..., 3] > 60) & (figure[..., 3] < 200)][:, :3].astype(float)
    assert len(edge) > 20
    # The body is of one blue: edges are no darker, lighter or grayer than what they bound.
    blueness = [color[:, 2].sum() / color[:, 0].sum() for color in (edge, solid)]
    assert blueness[0] == pytest.approx(blueness[1], rel=0.1)
    assert edge.mean() == pytest.approx(solid.mean(), rel=0.2)


def whole(frame: Frame) -> NDArray[Any]:
    width, height = frame.size
    picture = np.zeros((height, width, 4), np.uint8)
    left, top = frame.figure_at
    rows, columns = frame.figure.shape[:2]
    picture[top:top + rows, left:left + columns] = frame.figure
    return picture


@pytest.mark.parametrize("kind", ["projected", "catcher"])
def test_cropping_loses_nothing(worker: StageWorker, tmp_path: Path, kind: str) -> None:
    pictures = []
    for crop in (True, False):
        out = tmp_path / str(crop)
        light = read_config(data_folder() / "render_configs" / "mime.yaml").light
        config = tiny(crop=crop, shadow={"kind": kind}, light=light.model_dump())
        job = shot(out, config)
        job.missing[1:] = False
        assert isinstance(carried_out(worker, job)[-1], JobDone)
        frame = read_frame(out / "camera0" / frame_name(0))
        assert (frame.shadow.size > 0) == (kind == "projected")
        pictures.append(whole(frame))
    cropped, full = pictures
    assert (full[..., 3] > 0).sum() > 100
    outside = (cropped[..., 3] == 0) & (full[..., 3] > 12)
    assert outside.sum() == 0
    assert np.abs(cropped[..., 3].astype(int) - full[..., 3]).mean() < 1.5


def test_a_picture_lights_figures_from_where_it_is_bright(
    worker: StageWorker, tmp_path: Path
) -> None:
    file = write_hdr(tmp_path / "spot.hdr", sky_with_light(-20, 20, 900.0))
    found = read_environment_map(str(file))
    brighter = []
    for from_deg in (-60.0, 60.0):
        config = lit_by(tiny(camera=tiny().camera.model_dump() | {"azimuth_deg": 0.0}), "spot.hdr",
                        found, from_deg)
        job = replace(shot(tmp_path / f"{from_deg:g}", config), world=file)
        job.missing[1:] = False
        assert isinstance(carried_out(worker, job)[-1], JobDone)
        figure = whole(read_frame(job.folders[0] / frame_name(0)))
        solid = figure[..., 3] > 250
        columns = np.nonzero(solid)[1]
        left, right = (figure[..., :3].mean(axis=-1)[solid & side].mean() for side in (
            np.arange(128) < columns.mean() - 1, np.arange(128) > columns.mean() + 1))
        brighter.append(left - right)
    # From the person's left, who faces the camera: from the picture's right.
    assert brighter[0] > 5 and brighter[1] < -5


def moving(out: Path, config: RenderConfig) -> ShotJob:
    """Return a job of the second frame of a body that goes 20 cm to its left in each frame."""
    job = shot(out, config)
    still = wandering_motion(BODY.skeleton, 1, 3, 0.3)
    going = replace(still, root_positions=still.root_positions + np.array([0.2, 0.0, 0.0])
                    * np.arange(FRAMES)[:, None], rotations=np.repeat(still.rotations, FRAMES, 0))
    files = FigureFiles(out / "going.npz", out / "path.npz")
    publish_figure(Performance(BODY, going), files)
    job.missing[[0, 2]] = False
    return replace(job, figures=(files,))


def in_motion(worker: StageWorker, out: Path, shutter: dict[str, float] | None
              ) -> tuple[NDArray[Any], float]:
    """Return how much the moving body covers of each pixel, 0 to 1, and pixels in a metre there."""
    front = tiny().camera.model_dump() | {"azimuth_deg": 0.0}
    job = moving(out, tiny(camera=front, shutter=shutter, width=256, height=144,
                           sampling=tiny().sampling.model_dump() | {"samples": 64}))
    assert isinstance(carried_out(worker, job)[-1], JobDone)
    camera = job.cameras[0]
    depth = camera.project(np.array([0.0, 0.0, 1.0]))[2]
    return (whole(read_frame(job.folders[0] / frame_name(1)))[..., 3] / 255,
            camera.focal_pixels / float(depth))


def middles(covered: NDArray[Any], rows: NDArray[np.bool_]) -> NDArray[Any]:
    """Return where in rows the body is on average."""
    columns = np.arange(covered.shape[1])
    return np.asarray((covered[rows] * columns).sum(axis=1) / covered[rows].sum(axis=1))


def test_what_moves_is_blurred_along_its_way_about_the_frame_s_moment(
    worker: StageWorker, tmp_path: Path
) -> None:
    sharp, metre = in_motion(worker, tmp_path / "sharp", None)
    blurred, _ = in_motion(worker, tmp_path / "blurred", {"open_deg": 180.0})
    again, _ = in_motion(worker, tmp_path / "again", {"open_deg": 180.0})
    assert (blurred == again).all()
    rows = sharp.sum(axis=1) > 4
    wider = ((blurred > 0.02).sum(axis=1) - (sharp > 0.02).sum(axis=1))[rows]
    assert np.median(wider) == pytest.approx(0.1 * metre, abs=1.5)
    assert np.abs(middles(blurred, rows) - middles(sharp, rows)).max() < 0.5
    heights = [np.flatnonzero((covered > 0.02).any(axis=1)) for covered in (sharp, blurred)]
    assert abs(len(heights[0]) - len(heights[1])) <= 1, "nothing is blurred across"


def test_a_rolling_shutter_shows_the_lower_rows_later(worker: StageWorker, tmp_path: Path) -> None:
    sharp, metre = in_motion(worker, tmp_path / "sharp", None)
    rolled, _ = in_motion(worker, tmp_path / "rolled", {"open_deg": 20.0, "readout_deg": 340.0})
    rows = sharp.sum(axis=1) > 4
    late = middles(rolled, rows) - middles(sharp, rows)
    slope, _ = np.polyfit(np.flatnonzero(rows), late, 1)
    assert slope * 144 == pytest.approx(0.2 * 340 / 360 * metre, rel=0.15)


def test_the_catcher_catches_a_shadow(worker: StageWorker, tmp_path: Path) -> None:
    config = tiny(shadow={"kind": "catcher"})
    job = shot(tmp_path, config)
    job.missing[1:] = False
    carried_out(worker, job)
    figure = read_frame(tmp_path / "camera0" / frame_name(0)).figure
    dark = (figure[..., 3] > 60) & (figure[..., :3].max(axis=-1) < 20)
    assert dark.sum() > 50


def test_the_projected_shadow_looks_like_the_traced_one(
    worker: StageWorker, tmp_path: Path
) -> None:
    light = read_config(data_folder() / "render_configs" / "mime.yaml").light.model_dump()
    sampling = tiny().sampling.model_dump() | {"samples": 64}
    pictures, covered = [], np.zeros(())
    for kind in ("projected", "catcher"):
        config = tiny(shadow={"kind": kind, "strength": 1.0, "cell_m": 0.004},
                      light=light | {"ground_albedo": 0.8, "sun_from_deg": (-60, 50)},
                      width=320, height=180, sampling=sampling)
        job = shot(tmp_path / kind, config)
        job.missing[1:] = False
        assert isinstance(carried_out(worker, job)[-1], JobDone)
        frame = read_frame(tmp_path / kind / "camera0" / frame_name(0))
        if kind == "projected":
            solid = whole(frame)[..., 3] > 0
            covered = np.asarray(ndimage.binary_dilation(solid, iterations=2), bool)
        pictures.append(compose(frame, np.ones((180, 320, 3), np.float32)).astype(int)[..., 0])
    ground = ~covered.astype(bool) & ((pictures[0] < 250) | (pictures[1] < 250))
    assert (ground & (pictures[1] < 100)).sum() > 100, "there is a dark shadow"
    apart = np.abs(pictures[0] - pictures[1])[ground]
    assert apart.mean() < 10
    assert (apart > 60).mean() < 0.01


def test_another_worker_after_other_work_makes_the_same_bytes(
    rendered: Path, tmp_path: Path
) -> None:
    other = StageWorker("cpu", 1)
    try:
        assert isinstance(other.connection.recv(), Ready)
        carried_out(other, shot(tmp_path / "before", tiny(shadow={"kind": "catcher"})))
        job = shot(tmp_path / "again", tiny(), (0.0, 90.0))
        later = replace(job, missing=job.missing & (np.arange(FRAMES) > 0)[:, None])
        carried_out(other, later)
        carried_out(other, replace(job, missing=job.missing & ~later.missing))
    finally:
        other.kill()
    assert files_below(tmp_path / "again") == files_below(rendered)


def test_a_failed_job_says_where_and_the_worker_lives_on(
    worker: StageWorker, tmp_path: Path
) -> None:
    (tmp_path / "camera0").write_text("a file where the folder should be")
    answer = carried_out(worker, shot(tmp_path, tiny()))[-1]
    assert isinstance(answer, JobFailed)
    assert "camera0" in answer.message
    assert "\n" not in answer.message
    unknown = replace(BODY, fingerprint="x", materials={"cloth": Material("cloth", "wool", {})})
    job = shot(tmp_path / "unknown" / "shot", tiny(), body=unknown)
    answer = carried_out(worker, job)[-1]
    assert isinstance(answer, JobFailed) and "capsules" in answer.message
    assert isinstance(carried_out(worker, shot(tmp_path / "good", tiny()))[-1], JobDone)


@pytest.mark.parametrize("between", ["shot", "set"])
def test_ground_truth_goes_on_after_other_work(worker: StageWorker, tmp_path: Path, between: str
                                               ) -> None:
    config = tiny()
    other = shot(tmp_path / "shot", config)
    scenery = read_background(data_folder() / "backgrounds" / "basketball_court.yaml").set
    assert scenery is not None
    work: ShotJob | SetJob = other
    if between == "set":
        work = SetJob(scenery, other.cameras[0], config, tmp_path / "set.png")
    folder = tmp_path / "depth"
    folder.mkdir()

    def seen(frame: int) -> list[object]:
        # Another frame each time: what was seen of a frame is kept.
        missing = np.arange(FRAMES)[:, None] == frame
        return carried_out(worker, PassJob(other.figures, other.cameras, config, (folder,),
                                           missing, ("depth",), "cycles"))

    for jobs in (seen(0), carried_out(worker, work), seen(1)):
        assert isinstance(jobs[-1], JobDone), jobs[-1]
    depth = np.asarray(read_arrays(folder / frame_name(1))["depth"], float)
    assert 2 < np.min(depth) < 20


def test_interrupts_are_the_main_processs_business(worker: StageWorker, tmp_path: Path) -> None:
    assert worker._process.pid is not None
    os.kill(worker._process.pid, signal.SIGINT)
    assert isinstance(carried_out(worker, shot(tmp_path, tiny()))[-1], JobDone)


def test_a_crash_ends_the_connection(tmp_path: Path) -> None:
    victim = StageWorker("cpu", 1)
    victim.connection.recv()
    victim.submit(shot(tmp_path, tiny()))
    assert victim._process.pid is not None
    os.kill(victim._process.pid, signal.SIGKILL)
    with pytest.raises((EOFError, ConnectionError)):
        while True:
            victim.connection.recv()
    victim.submit(shot(tmp_path, tiny()))
    victim.kill()
    assert not [name for name in files_below(tmp_path)
                if not name.endswith((".npz", ".part")) and "/cpu-" not in name]


def test_an_absent_device_is_refused_and_a_long_start_explained(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with pytest.raises(RequestError, match="metal"):
        choose_device("metal", said.append)
    assert choose_device("cpu", said.append) == Device("cpu", 1)
    assert not said
    monkeypatch.setattr("mimegen.rendering.auto.LONG_S", 0.01)
    with pytest.raises(RequestError, match="metal"):
        choose_device("metal", said.append)
    assert len(said) == 1 and "compiles" in said[0]


def test_a_worker_is_quiet_and_ends_with_its_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent("""
        import os, sys
        from mimegen.rendering.worker import StageWorker
        if __name__ == "__main__":
            worker = StageWorker("auto", 1)
            worker.connection.recv()
            print(worker._process.pid, "bpy" in sys.modules, flush=True)
            os._exit(0)
    """))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    told = subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                          timeout=60, check=True, env=os.environ | {"TMPDIR": str(scratch)})
    pid, imported = told.stdout.split()
    assert imported == "False" and told.stderr == ""
    try:
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), 10.0)
    except AssertionError:
        os.kill(int(pid), signal.SIGKILL)
        pytest.fail("the worker outlived its parent")
    assert not list(scratch.iterdir())


def test_a_worker_is_worn_by_all_the_frames_it_was_given_to_render(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mimegen.rendering.worker.FRAMES_UNTIL_WORN", 5)
    fresh = StageWorker("cpu", 1)
    try:
        fit = []
        for missing in ([1, 1, 0], [0, 1, 1], [1, 0, 0]):
            job = shot(tmp_path, tiny())
            job.missing[:, 0] = missing
            fresh.submit(job)
            fit.append(fresh.is_fit)
        assert fit == [True, True, False]
    finally:
        fresh.kill()
