"""Tasks last as long as the farm wants, as soon as anybody knows what a picture takes."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.farm.executor import WorkerReport
from mimegen.farm.task import Task
from mimegen.production.sizes import SIZING, Sizes
from mimegen.production.tasks import in_parts
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.jobs import FrameDone, Ready, ShotJob

CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")
CAMERA = Camera((0.0, -9.0, 1.0), (1.0, 0.0, 0.0, 0.0), 50.0, 64, 36)


def job(missing: object) -> ShotJob:
    wanted = np.asarray(missing, bool)
    cameras = wanted.shape[1]
    return ShotJob((), (CAMERA,) * cameras, CONFIG, (Path("x"),) * cameras, wanted)


def after(sizes: Sizes, pictures: int, seconds: float) -> Sizes:
    task = Task(job(np.ones((1, 1))), "task")
    for _ in range(pictures):
        sizes.receive(WorkerReport("worker", FrameDone(0, 0, seconds), task))
    return sizes


def test_an_unknown_config_begins_small_and_grows_to_the_time_that_is_wanted() -> None:
    sizes = Sizes(task_s=120.0, left=10**6)
    assert sizes.pictures("preview") == SIZING.first_pictures
    assert after(sizes, 20, 0.5).pictures("preview") == 240
    assert after(Sizes(120.0, left=10**6), 20, 200.0).pictures("preview") == 1


def test_what_was_known_before_counts_until_it_is_measured() -> None:
    sizes = Sizes(60.0, known={"preview": 2.0}, left=10**6)
    assert sizes.pictures("preview") == 30 and sizes.pictures("mime") == SIZING.first_pictures
    assert after(sizes, 20, 0.5).pictures("preview") == 120


def test_towards_the_end_all_workers_get_some() -> None:
    sizes = after(Sizes(60.0, workers=2, left=10**6), 20, 0.5)
    sizes.left = 240
    assert sizes.pictures("preview") == 40
    for worker in range(10):
        sizes.receive(WorkerReport(f"worker {worker}", Ready("cpu", 1, "", "")))
    assert sizes.pictures("preview") == 8, "four seconds at the least"


@pytest.mark.parametrize("size", [1, 3, 4, 7, 100])
def test_every_missing_picture_is_in_one_task_and_frames_are_whole(size: int) -> None:
    missing = np.random.default_rng(size).random((50, 3)) < 0.4
    missing[10:20] = False
    tasks = list(in_parts(job(missing), "dance", lambda name: size))
    parts = [task.job.missing for task in tasks if isinstance(task.job, ShotJob)]
    assert np.array_equal(np.sum(parts, axis=0), missing.astype(int))
    rows = [set(np.flatnonzero(part.any(axis=1))) for part in parts]
    assert all(not one & two for one, two in pairwise(rows))
    assert all(size <= part.sum() < size + 3 for part in parts[:-1])
    first, *_ = rows
    assert tasks[0].title == f"dance, frames {min(first)}-{max(first)}"
