"""Small stills of sets, made in a process of their own as the stage does."""

import hashlib
import multiprocessing
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from PIL import Image

from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig
from small_set import MINIMAL
from test_scenery import framed, scenery

pytestmark = pytest.mark.engines

CONFIG = yaml.safe_load("""
name: test
description: very small
width: 96
height: 54
fps: 10
camera: {kind: framed, azimuth_deg: 48.5, elevation_deg: 11, lens_mm: 50, margin: 0.1}
light: {sun_strength: 2, sun_from_deg: [15, 52], sun_size_deg: 5, sky_strength: 0.4}
shadow: {kind: projected}
sampling: &sampling
  {samples: 2, adaptive_threshold: 0, max_bounces: 1, denoise: false}
set_sampling: *sampling
""")
BALL = {"kind": "sphere", "radius": 0.5, "at": [-3, 3, 0.5], "material": "red"}
NET = {"kind": "box", "size": [6, 0.004, 3], "at": [-2, 2, 0], "turn": [0, 0, 45],
       "material": "net"}
WHITE = {**cast(dict[str, Any], MINIMAL["materials"]), "white": {"color": "#ffffff"}}


def render(jobs: list[SetJob]) -> None:
    # Imported in the spawned process alone: bpy is for workers.
    from mimegen.rendering.cycles.render import PictureReader
    from mimegen.rendering.cycles.scenery import render_set

    reader = PictureReader()
    for job in jobs:
        render_set(job, reader)


def picture(path: Path) -> NDArray[Any]:
    return np.asarray(Image.open(path)).astype(float)


@pytest.fixture(scope="module")
def stills(tmp_path_factory) -> dict[str, tuple[Path, Camera]]:
    folder = tmp_path_factory.mktemp("stills")
    config = RenderConfig.model_validate(CONFIG)
    beach, court = scenery("beach"), scenery("basketball_court")
    plain = Scenery.model_validate({
        **MINIMAL, "materials": WHITE, "floors": [{"material": "white"}], "objects": [BALL]})
    cords = {"color": "#ffffff", "pattern": "net", "size": [0.04, 0.04], "gap": 0.3}
    netted = Scenery.model_validate({
        **MINIMAL, "materials": {**WHITE, "net": cords}, "floors": [{"material": "white"}],
        "objects": [BALL, NET]})
    wanted = {
        "beach": (beach, framed(0, elevation=4)), "again": (beach, framed(0, elevation=4)),
        "court": (court, framed(0)), "behind": (plain, framed(0)), "before": (plain, framed(180)),
        "netted": (netted, framed(0)),
    }
    jobs = [SetJob(made, camera, config, folder / f"{name}.png")
            for name, (made, camera) in wanted.items()]
    process = multiprocessing.get_context("spawn").Process(target=render, args=(jobs,))
    process.start()
    process.join(100)
    assert process.exitcode == 0
    return {job.target.stem: (job.target, job.camera) for job in jobs}


def test_a_still_is_published_alone_at_the_cameras_size(stills):
    folder = stills["beach"][0].parent
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{n}.png" for n in stills)
    for path, camera in stills.values():
        assert Image.open(path).size == (camera.width, camera.height)
        assert Image.open(path).mode == "RGB"


def test_same_request_same_bytes(stills):
    hashes = [hashlib.sha256(stills[name][0].read_bytes()).hexdigest()
              for name in ("beach", "again")]
    assert hashes[0] == hashes[1]


def test_the_horizon_of_the_sea_is_the_cameras(stills):
    path, camera = stills["beach"]
    # Right of the palms there is nothing but sky above sea.
    red = np.median(picture(path)[:, 52:58, 0], axis=1)
    edge = int((np.diff(red) < -12).argmax()) + 1
    assert abs(edge - camera.horizon_y) <= 1.5


def test_the_courts_floor_is_lit_wood(stills):
    near_feet = picture(stills["court"][0])[36:50].reshape(-1, 3)
    red, green, blue = np.median(near_feet, axis=0)
    assert red > green > blue
    assert 90 < green < 210
    assert picture(stills["court"][0]).std() > 20


def test_a_thing_behind_the_performer_is_seen_and_one_before_is_not(stills):
    def redness(name: str) -> float:
        pixels = picture(stills[name][0])
        return float((pixels[..., 0] - pixels[..., 1] > 60).mean())

    assert redness("behind") > 0.005
    assert redness("before") == 0


def test_a_net_is_seen_through(stills):
    def redness(name: str) -> float:
        pixels = picture(stills[name][0])
        return float((pixels[..., 0] - pixels[..., 1]).clip(0).sum())

    # 0.7 x 0.7 of a mesh is open.
    assert 0.3 < redness("netted") / redness("behind") < 0.8
