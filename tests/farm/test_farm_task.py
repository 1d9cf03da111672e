"""Tasks as JSON: another machine with another mount point makes the same of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.compositing.background import Background, Picture, read_background
from mimegen.compositing.clipjob import ClipJob
from mimegen.compositing.passfiles import PassSource
from mimegen.compositing.passjob import PassFilesJob
from mimegen.farm.task import Task, task_from_json, task_to_json
from mimegen.groundtruth.job import PassJob
from mimegen.pointlight.displayjob import DisplayJob
from mimegen.pointlight.presets import read_display
from mimegen.scenery.job import SetJob
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.jobs import FigureFiles, ShotJob
from mimegen.store.store import Store

HERE, THERE = Path("/mnt/here/store"), Path("/somewhere else")
CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")
CAMERA = Camera((0.1, -9.573200000000001, 1 / 3), (0.5, 0.5, 0.5, 0.5), 50.0, 640, 360)


def shot_task(missing: Any) -> Task:
    missing = np.asarray(missing, bool)
    store = Store(HERE)
    cameras = missing.shape[1]
    return Task(ShotJob((FigureFiles(store.character("ab12"), store.performance("cd34")),) * 2,
                        (CAMERA,) * cameras, CONFIG,
                        tuple(store.shot_folder(f"e{number}") for number in range(cameras)),
                        missing, world=store.picture("ab" * 32, ".hdr")),
                "juggling by a woman, frames 0-11")


def moved(task: Task) -> Task:
    twin = task_from_json(json.loads(json.dumps(task_to_json(task, HERE))), THERE)
    assert twin.title == task.title
    return twin


@given(arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 4))))
def test_a_shot_goes_elsewhere_unchanged_but_for_its_place(missing: Any) -> None:
    task, there = shot_task(missing), Store(THERE)
    twin = moved(task)
    assert isinstance(twin.job, ShotJob) and isinstance(task.job, ShotJob)
    assert twin.job.cameras == task.job.cameras and twin.job.config == task.job.config
    assert np.array_equal(twin.job.missing, missing)
    assert twin.job.figures == (FigureFiles(there.character("ab12"),
                                            there.performance("cd34")),) * 2
    assert twin.job.folders == tuple(there.shot_folder(f"e{number}")
                                     for number in range(missing.shape[1]))
    assert twin.job.world == there.picture("ab" * 32, ".hdr")


@pytest.mark.parametrize("name", ["beach", "gym", "soccer_field", "concert_hall"])
def test_a_set_goes_elsewhere_unchanged_but_for_its_place(name: str) -> None:
    scenery = read_background(data_folder() / "backgrounds" / f"{name}.yaml").set
    assert scenery is not None
    task = Task(SetJob(scenery, CAMERA, CONFIG, Store(HERE).still("abcd")), "background")
    twin = moved(task)
    assert isinstance(twin.job, SetJob)
    assert twin.job.scenery == scenery and twin.job.target == Store(THERE).still("abcd")
    assert twin.job.camera == CAMERA and twin.job.config == CONFIG


def picture_background() -> Background:
    ground = ((0.1, 0.7), (0.9, 0.7), (0.5, 0.95))
    return Background(
        name="street", description="a street", licence="CC0", author="a", source="b",
        picture=Picture(file=Path("street.jpg"), horizon=0.4, camera_height_m=1.6, ground=ground))


@pytest.mark.parametrize("background", [
    picture_background(), read_background(data_folder() / "backgrounds" / "blank.yaml"),
    read_background(data_folder() / "backgrounds" / "gym.yaml")], ids=lambda each: each.name)
def test_a_clip_goes_elsewhere_unchanged_but_for_its_places(background: Background) -> None:
    def clip(root: Path) -> Task:
        store = Store(root)
        placed = background if background.picture is None else background.model_copy(update={
            "picture": background.picture.model_copy(
                update={"file": store.picture("ab", ".jpg")})})
        return Task(ClipJob(store.shot_folder("e1"), (0, 1, 1, 3), 0.25, placed, CAMERA,
                            store.still("ef") if background.set else None, 23.976,
                            store.encoded("0123"), 45.0, (1.1, 1.0, 0.8)), "clip")

    twin, wanted = moved(clip(HERE)), clip(THERE)
    assert isinstance(twin.job, ClipJob) and isinstance(wanted.job, ClipJob)
    assert vars(twin.job) == vars(wanted.job) and twin.needs_no_engine


@pytest.mark.parametrize("geometry", [None, "ef"])
def test_files_of_a_pass_go_elsewhere_unchanged_but_for_their_places(geometry: str | None) -> None:
    def files(root: Path) -> Task:
        store = Store(root)
        source = PassSource(
            "depth", store.pass_folder("ab"), (0, 1, 1, 3), CAMERA, 23.976, "cycles", 0.25,
            None if geometry is None else store.pass_folder(geometry) / "000000.npz", "flo")
        return Task(PassFilesJob(source, store.encoded_folder("0123")), "depth of a clip")

    twin, wanted = moved(files(HERE)), files(THERE)
    assert vars(twin.job) == vars(wanted.job)
    assert twin.title == wanted.title and twin.needs_no_engine


def test_frames_of_passes_go_elsewhere_unchanged() -> None:
    whole = shot_task([[True, False], [True, True]]).job
    assert isinstance(whole, ShotJob)
    task = Task(PassJob(**vars(whole), kinds=("flow", "keypoints"), engine="cycles"), "passes")
    twin = moved(task).job
    assert isinstance(twin, PassJob) and twin.kinds == ("flow", "keypoints")
    assert twin.engine == "cycles" and twin.missing.tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("shared", [None, CONFIG])
def test_a_display_goes_elsewhere_unchanged_but_for_its_places(shared: RenderConfig | None
                                                               ) -> None:
    display = read_display("actpld")

    def shown(root: Path) -> Task:
        store = Store(root)
        figures = (FigureFiles(store.character("ab12"), store.performance("cd34")),) * 2
        return Task(DisplayJob(figures, "juggling by a woman", display, 3, 1 / 3, shared,
                               store.encoded("0123"), ({"name": "float", "value": 0.35},)),
                    "display")

    twin, wanted = moved(shown(HERE)), shown(THERE)
    assert vars(twin.job) == vars(wanted.job) and twin.needs_no_engine


@pytest.mark.parametrize(("change", "words"), [
    ({"kind": "dance"}, "kind"),
    ({"folders": ["/etc"]}, "folders.*is no place in a store"),
    ({"folders": ["shots/../../x"]}, "is no place in a store"),
    ({"missing": [[3]]}, "frames before 2 are expected"),
    ({"missing": [[0], [1]]}, "as many cameras as folders"),
    ({"fingers": 5}, "fingers"),
    ({"cameras": [{"position": [0, 0, 0]}]}, "cameras.*Field required"),
])
def test_what_is_no_task_is_refused_in_one_line(change: dict[str, Any], words: str) -> None:
    content = task_to_json(shot_task([[1], [1]]), HERE) | change
    with pytest.raises(RequestError, match=words) as refused:
        task_from_json(content, HERE)
    assert "\n" not in str(refused.value)


def test_a_file_outside_of_the_store_cannot_be_named() -> None:
    with pytest.raises(ValueError, match="is not in the subpath"):
        task_to_json(shot_task([[1]]), THERE)
