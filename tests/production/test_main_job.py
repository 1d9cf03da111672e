"""The main job from the outside: real commands, real Blender, tiny pictures."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import jsonschema
import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from mimegen.base.paths import data_folder
from mimegen.manifest.row import Row
from mimegen.manifest.schema import row_schema
from mimegen.plan.variants import MIME
from mimegen.shots.devices import kind_of_cpu
from running import blender_processes, command, frames_of, mimegen, processes_of_group, rows_of
from waiting import wait_until

pytestmark = pytest.mark.render

# Until a job has rendered some frames, also where others need the processors.
LONGEST_S = 300.0
REQUIRED = {
    "sample_id", "file_name", "action", "take", "actor", "labels", "avatar", "angle",
    "background_config", "background_name", "config_name", "seed", "fps", "frames", "width",
    "height", "sha256", "shot_key", "licence", "motion_sha256", "camera", "light", "render_config",
    "blender_version", "device", "row_version", "label", "render_config_name",
}


def main_job(config: Path, out: Path) -> list[str]:
    return command("render", "--action", "basketball", "--variants", "all", "--config", config,
                   "--out", out)


def clip_hashes(out: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (out / "clips").iterdir()}


def first_picture(path: Path) -> NDArray[Any]:
    reader = imageio_ffmpeg.read_frames(str(path))
    size = next(reader)["size"]
    return np.frombuffer(next(reader), np.uint8).reshape(size[1], size[0], 3)


def test_ten_clips_of_six_shots(basketball: Path) -> None:
    rows = rows_of(basketball)
    assert len(rows) == 10 and len(list((basketball / "clips").glob("*.mp4"))) == 10
    assert len({row["shot_key"] for row in rows}) == 6
    assert {row["config_name"] for row in rows} == set(MIME)
    assert {row["render_config_name"] for row in rows} == {"tiny"}
    assert {repr(row["angle"]) for row in rows} == {"0", "90", "180", "270"}
    assert len(list(basketball.glob("store/shots/*/*"))) == 6
    assert (basketball / "index.html").is_file()


def test_every_row_says_what_its_clip_is(basketball: Path) -> None:
    hashes = clip_hashes(basketball)
    for row in rows_of(basketball):
        assert row.keys() >= REQUIRED
        assert row.keys() <= Row.model_fields.keys(), "a field that the model does not know"
        jsonschema.validate(row, row_schema())
        assert hashes[Path(row["file_name"]).name] == row["sha256"]
        picture = first_picture(basketball / row["file_name"])
        assert picture.shape == (row["height"], row["width"], 3)
        frames, _ = imageio_ffmpeg.count_frames_and_secs(str(basketball / row["file_name"]))
        assert frames == row["frames"] > 5
        assert "basketball shot" in row["labels"]
        assert row["cpu"] == kind_of_cpu()


def test_blank_is_white_around_a_figure_and_other_backgrounds_are_not(basketball: Path) -> None:
    for row in rows_of(basketball):
        picture = first_picture(basketball / row["file_name"]).astype(int)
        corner, middle = picture[:4, :4].mean(), picture[20:40, 40:56]
        assert (corner > 250) == (row["background_config"] == "blank"), row["sample_id"]
        assert middle.min() < 150, row["sample_id"]


def logs(out: Path) -> dict[str, int]:
    """What workers have said, as the sizes of their logs."""
    return {path.name: path.stat().st_size for path in (out / "logs").iterdir()}


def test_a_second_run_renders_nothing_and_starts_no_worker(
    basketball: Path, tiny_config: Path
) -> None:
    before, heard = frames_of(basketball), logs(basketball)
    done = subprocess.run(main_job(tiny_config, basketball), capture_output=True, text=True)
    assert done.returncode == 0 and heard
    assert frames_of(basketball) == before and logs(basketball) == heard


def test_rows_say_what_happens_also_of_clips_that_older_versions_made(
    basketball: Path, tiny_config: Path, tmp_path: Path
) -> None:
    told = {row["sample_id"]: row["timeline"] for row in rows_of(basketball)}
    assert all({"action", "step", "held"} <= {one["kind"] for one in timeline}
               for timeline in told.values())
    out = tmp_path / "out"
    shutil.copytree(basketball, out)
    (out / "manifest.jsonl").unlink()
    for record in out.glob("store/clips/**/*.json"):
        content = json.loads(record.read_text())
        del content["timeline"]
        record.write_text(json.dumps(content))
    done = subprocess.run(main_job(tiny_config, out), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {row["sample_id"]: row["timeline"] for row in rows_of(out)} == told


def killed_after(config: Path, out: Path, wanted: int) -> dict[Path, int]:
    """Run the main job, kill it when it has made so many frames, and return those."""
    run = subprocess.Popen(main_job(config, out), start_new_session=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: len(frames_of(out)) >= wanted or run.poll() is not None, LONGEST_S)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    wait_until(lambda: not processes_of_group(run.pid))
    return frames_of(out)


def test_killed_at_any_moment_it_goes_on_where_it_was(
    basketball: Path, tiny_config: Path, tmp_path: Path
) -> None:
    out, frames = tmp_path / "out", len(frames_of(basketball))
    for share in (0.15, 0.6):
        kept = killed_after(tiny_config, out, int(frames * share))
        assert frames * share - 1 <= len(kept) < frames
    done = subprocess.run(main_job(tiny_config, out), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert kept.items() <= frames_of(out).items()
    assert clip_hashes(out) == clip_hashes(basketball)
    assert not list(out.rglob("*.part")) and not list(out.rglob(".mimegen*"))


def test_a_damaged_frame_and_a_damaged_clip_are_made_again(
    basketball: Path, tiny_config: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(basketball, out)
    clip = sorted((out / "clips").iterdir())[0]
    row = next(row for row in rows_of(out) if Path(row["file_name"]).name == clip.name)
    frame = out / "store" / "shots" / row["shot_key"][:2] / row["shot_key"] / "000003.npz"
    clip.write_bytes(clip.read_bytes()[:-10])
    frame.write_bytes(frame.read_bytes()[:-30])
    done = subprocess.run(main_job(tiny_config, out), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert clip_hashes(out) == clip_hashes(basketball)
    theirs = basketball / frame.relative_to(out)
    assert frame.read_bytes() == theirs.read_bytes()


def test_a_crash_of_all_blenders_at_once_is_survived(tiny_config: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = subprocess.Popen(
        command("render", "--action", "basketball", "--variants", "base+blank@0", "--config",
                tiny_config, "--out", out), stderr=subprocess.PIPE, text=True)
    wait_until(lambda: frames_of(out) or run.poll() is not None, LONGEST_S)
    victims = blender_processes(run.pid)
    assert victims
    # Without a moment between their deaths in which a task could go from one to the next.
    os.kill(run.pid, signal.SIGSTOP)
    wait_until(lambda: " T " in Path(f"/proc/{run.pid}/stat").read_text())
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    wait_until(lambda: all(" Z " in Path(f"/proc/{victim}/stat").read_text()
                           for victim in victims))
    os.kill(run.pid, signal.SIGCONT)
    _, errors = run.communicate(timeout=300)
    assert run.returncode == 0, errors
    assert len(rows_of(out)) == 1


def test_ctrl_c_stops_cleanly(tiny_config: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = subprocess.Popen(main_job(tiny_config, out), stderr=subprocess.PIPE, text=True,
                           start_new_session=True,
                           # Whoever runs tests in the background passes on that it is ignored.
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    wait_until(lambda: frames_of(out) or run.poll() is not None, LONGEST_S)
    workers = blender_processes(run.pid)
    os.killpg(run.pid, signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "goes on where it was" in errors and "Traceback" not in errors
    wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def test_a_users_bvh_with_a_known_label(samples: Path, tiny_config: Path, tmp_path: Path) -> None:
    done = mimegen("render", "--motion", samples / "bvh" / "bvhpython_test_freebvh.bvh",
                   "--label", "playing violin", "--variants", "base+blank@0,woman+aligned@270",
                   "--config", tiny_config, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    blank, aligned = sorted(rows_of(tmp_path / "out"), key=lambda row: row["avatar"])
    assert (blank["avatar"], aligned["avatar"]) == ("man", "woman")
    assert aligned["background_name"] == "concert_hall" and aligned["angle"] == 270
    assert blank["labels"] == ["playing violin"] and blank["motion_kind"] == "bvh"
    assert blank["motion_unit_m"] == 0.01 and blank["motion_up_axis"] == "Y"


def test_clips_that_replace_others_of_the_same_name_are_named(tmp_path: Path) -> None:
    config = yaml.safe_load((data_folder() / "render_configs" / "draft.yaml").read_text())
    mine = tmp_path / "mine.yaml"
    request = ("render", "--action", "wave", "--variants", "base+blank@0", "--config", mine,
               "--out", tmp_path / "out")
    said = []
    for width in (96, 96, 128):
        mine.write_text(yaml.safe_dump(config | {
            "name": "mine", "width": width, "height": 54, "fps": 5}))
        done = mimegen(*request)
        said.append(done.stdout + done.stderr)
    [row] = rows_of(tmp_path / "out")
    assert row["width"] == 128
    assert ["replaced 1 clip" in one for one in said] == [False, False, True]
    assert row["sample_id"] in said[2]


def test_the_same_request_gives_the_same_frames_elsewhere(
    basketball: Path, tiny_config: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = mimegen("render", "--action", "basketball", "--variants", "adversarial+aligned@0",
                   "--config", tiny_config, "--out", out, "--workers", 2)
    assert done.returncode == 0, done.stderr
    name, = clip_hashes(out)
    assert clip_hashes(out)[name] == clip_hashes(basketball)[name]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a tiny tmpfs needs root")
@pytest.mark.parametrize("size", ["40k", "150k"], ids=["too small at once", "full on the way"])
def test_a_full_disk_is_one_clear_line(tiny_config: Path, tmp_path: Path, size: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk]).returncode:
        pytest.skip("this machine does not let root mount a tmpfs")
    try:
        done = mimegen("render", "--action", "basketball", "--variants", "angles", "--quiet",
                       "--config", tiny_config, "--out", disk / "out")
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        line, = done.stderr.strip().splitlines()
        assert "space" in line
        assert not list(disk.rglob("*.part"))
    finally:
        subprocess.run(["umount", disk], check=True)
