"""Plan tells what a request takes; its plan file is done by work, piece by piece or by openjd."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.cli import main
from mimegen.commands.plan import _three
from mimegen.commands.render import _warn_if_long
from mimegen.farm.remote import version
from mimegen.farm.settings import FarmSettings
from mimegen.farm.slurmarray import SlurmArray
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.plan.plan import make_plan
from mimegen.plan.variants import parse_variants
from mimegen.production import paces
from mimegen.production.estimate import TYPICAL_SECONDS, at_least_s
from mimegen.production.progress import roughly
from mimegen.production.sizes import Sum
from mimegen.request import RenderRequest
from mimegen.request.openjd import job_template
from mimegen.request.planfile import PlanFile, numbers_of
from mimegen.shots.config import read_config
from mimegen.shots.devices import Device
from mimegen.store.store import Store
from running import frames_of, invoke, invoked, mimegen, rows_of

VARIANTS = "base+blank@0,base+aligned@0,pointlight@0"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def selected(config: Path, out: Path, *more: object) -> tuple[object, ...]:
    return ("--action", "basketball", "--variants", VARIANTS, "--config", config, "--out", out,
            *more)


def told(*arguments: object) -> dict[str, Any]:
    done = invoked("plan", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def planned_text(*arguments: object) -> str:
    done = invoked("plan", "--action", "basketball", "--variants", "base+blank@0", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_plan_for_slurm_prints_the_batch_script_that_render_submits(tmp_path: Path) -> None:
    out = tmp_path / "out"
    text = planned_text("--config", "draft", "--out", out, "--farm", "slurm", "--workers", 3,
                        "--slurm-partition", "short", "--slurm-setup", "module load cuda")
    assert "slurm    up to 3 jobs at the same time" in text
    script = text.partition("batch script for Slurm:\n\n")[2]
    settings = FarmSettings(farm="slurm", workers=3, slurm_partition="short",
                            slurm_setup=("module load cuda",))
    array = SlurmArray.of(out, out / "store", settings, "opengl")
    lines = script.splitlines()
    assert lines[0] == "#!/bin/bash" and "#SBATCH --partition=short" in lines
    asked = [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH")]
    assert asked == array.queue.options(array.options(3))
    assert script.rstrip("\n").endswith(array.queue.script(array.command).rstrip("\n")[12:])
    assert not out.exists()
    assert planned_text("--config", "draft", "--out", out, "--farm", "slurm", "--workers", 3,
                        "--slurm-partition", "short", "--slurm-setup", "module load cuda",
                        "--detach") == text


@pytest.mark.parametrize(("words", "said"), [
    (("--config", "draft"), "workers of 1 CPU and 0 GPU each, as many as fit, on the running"),
    (("--config", "preview", "--device", "optix", "--workers", 3, "--cpus-per-task", 2,
      "--address", "ray://head:10001"),
     "workers of 2 CPU and 1 GPU each, at most 3, on ray://head:10001")])
def test_a_plan_for_ray_shows_what_render_asks_the_cluster_for(words: tuple[object, ...], said: str,
                                                               tmp_path: Path) -> None:
    text = planned_text(*words, "--farm", "ray", "--out", tmp_path / "out")
    assert f"ray      {said}" in text


@pytest.mark.parametrize(("words", "said"), [
    (("--slurm-partition", "gpu"), "--slurm-partition requires --farm slurm"),
    (("--slurm-setup", "module load cuda", "--farm", "ray"), "--slurm-setup requires --farm slurm"),
    (("--gpus-per-task", 1), "--gpus-per-task requires --farm ray or --farm slurm"),
    (("--address", "none", "--farm", "slurm"), "--address requires --farm ray"),
    (("--workers-per-gpu", 2, "--farm", "slurm"), "--workers-per-gpu requires --farm local")])
def test_options_of_another_farm_are_refused(words: tuple[object, ...], said: str, tmp_path: Path
                                             ) -> None:
    done = invoked("plan", "--action", "boxing", "--config", "draft", *words, "--out",
                   tmp_path / "out")
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_plan_divides_by_the_workers_it_is_given(tmp_path: Path) -> None:
    config = read_config(Catalogue.with_libraries(()).file("config", "draft"))
    paces._keep(config, paces.RenderPace("draft", "opengl", 10.0, 0.5, 1000.0, 2000.0))
    cost = told("--action", "basketball", "--variants", "base+blank@0", "--config", "draft",
                "--out", tmp_path / "out", "--workers", 4)
    hours = (cost["hours"] + cost["encoding_cpu_core_hours"]) / 4
    text = planned_text("--config", "draft", "--out", tmp_path / "out", "--workers", 4)
    assert f"about {roughly(3600 * hours)} with 4 workers" in text


def test_sizes_that_one_device_measured_hold_for_another(tmp_path: Path) -> None:
    config = read_config(Catalogue.with_libraries(()).file("config", "standard"))
    paces._keep(config, paces.RenderPace("standard", "cpu", 9.0, 0.5, 1e6, 2e5))
    wanted = ("--action", "basketball", "--variants", "base+blank@0", "--config", "standard",
              "--out", tmp_path / "out", "--device")
    there, elsewhere = told(*wanted, "cpu"), told(*wanted, "optix")
    assert elsewhere["hours"] is None and there["hours"] > 0
    assert elsewhere["storage_gb"] == there["storage_gb"] > 0
    assert there["storage_is_measured"] and "a guess" not in planned_text(*wanted[4:], "cpu")


def test_storage_of_a_config_that_was_never_measured_is_marked_as_a_guess(tmp_path: Path) -> None:
    text = planned_text("--config", "standard", "--out", tmp_path / "out")
    assert "GB more, a guess from other configs; --calibrate measures it" in text


def timed(*seconds: float) -> paces.RenderPace:
    """Return the pace of drafts after jobs that took so many seconds for each frame."""
    config = read_config(Catalogue.with_libraries(()).file("config", "draft"))
    for each in seconds:
        job = paces.PaceMeasurement(config, "opengl")
        job.encoded.add(100, 100 * each, 1000)
        rendered = Sum()
        rendered.add(100, 100 * each, 1000)
        job.keep(rendered)
    known = paces.known_pace(config, "opengl")
    assert known is not None
    return known


def test_a_busy_hour_does_not_change_the_pace(tmp_path: Path) -> None:
    assert timed(0.04, 0.5).seconds_per_frame == pytest.approx(0.04)
    text = planned_text("--config", "draft", "--out", tmp_path / "out")
    assert "; 0.04 to 0.5 s a frame in the last 2 runs: a busy machine is slower), and" in text
    pace = timed(0.05, 0.04, 0.06, 0.045, 0.7)
    assert pace.seconds_per_frame == pace.encoding_seconds_per_frame == pytest.approx(0.05)
    assert len(pace.jobs) == paces.CALIBRATION.kept_jobs


def test_like_paces_are_not_told_one_by_one(tmp_path: Path) -> None:
    timed(0.04, 0.06)
    assert "busy" not in planned_text("--config", "draft", "--out", tmp_path / "out")


def test_paces_of_older_versions_are_read_and_count_as_one_job() -> None:
    timed(0.04)
    known = json.loads(paces._file().read_text())
    for pace in known.values():
        del pace["jobs"], pace["encoding_jobs"]
    paces._file().write_text(json.dumps(known))
    assert timed(0.5).jobs == pytest.approx([0.04, 0.5])


def test_a_plan_says_what_all_plates_take(tmp_path: Path) -> None:
    text = invoked("plan", "--action", "basketball", "--variants", "base+aligned@0,base+aligned@90",
                   "--config", "draft", "--out", tmp_path / "out").stdout
    assert "up to 2 background plates of sets, not in that time: 6 s to 2 min of one" in text


@pytest.mark.slow
def test_a_plan_needs_no_such_device_at_hand(tmp_path: Path) -> None:
    wanted = ("--action", "basketball", "--variants", "base+blank@0", "--out", tmp_path / "out")
    assert told(*wanted, "--device", "metal:1")["device"] == "metal"
    done = invoked("plan", *wanted, "--device", "abacus")
    assert done.returncode == 2 and "--device abacus" in done.stderr
    done = mimegen("render", *wanted, "--device", "metal")
    assert done.returncode == 2 and "not on this machine" in done.stderr


def test_it_counts_what_is_to_be_made_and_what_is_there(
    three_clips: Path, tiny_config: Path, tmp_path: Path
) -> None:
    frames = len(frames_of(three_clips))
    empty = told(*selected(tiny_config, tmp_path / "out"))
    assert (empty["clips"], empty["shots"], empty["displays"]) == (3, 1, 1)
    assert empty["clips_there"] == empty["shots_there"] == empty["frames_there"] == 0
    assert empty["frames"] == empty["frames_left"] == frames and empty["frames_are_exact"]
    assert empty["hours"] is None and empty["storage_gb"] > 0
    assert not (tmp_path / "out").exists()
    there = told(*selected(tiny_config, three_clips))
    assert there["clips_there"] == 3 and there["shots_there"] == 1
    assert there["frames_there"] == frames and there["frames_left"] == 0
    assert there["storage_gb"] == there["hours"] == there["encoding_cpu_core_hours"] == 0
    assert "--calibrate" in invoked("plan", *selected(tiny_config, tmp_path / "out")).stdout
    assert "all frames are rendered" in invoked("plan", *selected(tiny_config, three_clips)).stdout


def test_an_unmeasured_device_has_the_hours_of_the_cpu_if_that_was_measured(
        tiny_config: Path, tmp_path: Path) -> None:
    words = ("plan", *selected(tiny_config, tmp_path / "out", "--device", "optix"))
    assert "core hours" not in (plain := invoked(*words).stdout)
    assert "with --calibrate on a machine with optix" in plain
    paces._keep(read_config(tiny_config), paces.RenderPace("tiny", "cpu", 36.0, 0.1, 1.0, 1.0))
    plan = json.loads(invoked(*words, "--json").stdout)
    assert plan["hours"] is None and plan["frames_left"] > 0
    assert plan["cpu_core_hours"] == pytest.approx(plan["frames_left"] / 100)
    assert "says little about optix" in invoked(*words).stdout


def test_an_unmeasured_config_has_the_figure_of_another_machine_if_there_is_one() -> None:
    table = (Path(__file__).parents[2] / "docs/guide/farm.md").read_text(encoding="utf-8")
    for (config, device), seconds in TYPICAL_SECONDS.items():
        assert device == "cpu"
        row = next(line for line in table.splitlines() if line.startswith(f"| `{config}` on CPUs"))
        assert float(row.split("|")[3]) == seconds
        words = ("--config", config, "--device", "cpu")
        said = planned_text(*words)
        hours = told("--action", "basketball", "--variants", "base+blank@0", *words)
        assert f"which is not this one, a frame took {seconds} s" in said
        assert hours["hours"] is None and hours["elsewhere_seconds_per_frame"] == seconds
    said = planned_text("--config", "standard", "--device", "optix")
    assert "docs/guide/farm.md has the times of another machine" in said


@pytest.mark.slow
def test_what_was_calibrated_is_remembered(tiny_config: Path, tmp_path: Path) -> None:
    measured = told(*selected(tiny_config, tmp_path / "out", "--calibrate"))
    assert measured["hours_of"] == "CPU core" and measured["device"] == "cpu"
    assert measured["hours"] == pytest.approx(
        measured["frames"] * measured["seconds_per_frame"] / 3600, abs=1e-4)
    again = told(*selected(tiny_config, tmp_path / "out"))
    assert again == measured and not (tmp_path / "out").exists()


def test_work_does_the_tasks_that_are_named_and_nothing_else(
    three_clips: Path, tiny_config: Path, tmp_path: Path
) -> None:
    out, job = tmp_path / "out", tmp_path / "job.json"
    said = told(*selected(tiny_config, out, "--export", "openjd", job))
    assert said["exported"] == [str(job), str(tmp_path / "job.plan.json")]
    told(*selected(tiny_config, out, "--export", "openjd", job.with_suffix(".yaml")))
    in_yaml = yaml.safe_load(job.with_suffix(".yaml").read_text(encoding="utf-8"))
    assert in_yaml == json.loads(job.read_text(encoding="utf-8"))
    work = ("work", tmp_path / "job.plan.json")
    assert mimegen(*work, "--frames", "2-4").returncode == 0
    assert [path.name for path in sorted(frames_of(out))] == [
        "000002.npz", "000003.npz", "000004.npz"]
    before = frames_of(out)
    assert mimegen(*work, "--frames", f"0-{said['frames'] - 1}").returncode == 0
    assert len(frames_of(out)) == said["frames"] and before.items() <= frames_of(out).items()
    assert mimegen(*work, "--stills", "0").returncode == 0
    done = mimegen(*work, "--clips")
    assert done.returncode == 0, done.stderr
    assert [row["sha256"] for row in rows_of(out)] == [row["sha256"] for row in
                                                       rows_of(three_clips)]
    for wrong, hint in ((("--frames", "999"), "frames"), (("--frames", "x"), "0-11"), ((), "one")):
        refused = mimegen(*work, *wrong)
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
        assert hint in refused.stderr


def openjd(*arguments: object) -> subprocess.CompletedProcess[str]:
    tool = shutil.which("openjd", path=Path(sys.executable).parent) or shutil.which("openjd")
    if tool is None:
        pytest.skip("the openjd command line is not installed (pip install mimegen[openjd])")
    return subprocess.run([tool, *map(str, arguments), "--extensions", "TASK_CHUNKING"],
                          capture_output=True, text=True, timeout=900)


def test_openjd_checks_and_runs_the_template(
    three_clips: Path, tiny_config: Path, tmp_path: Path
) -> None:
    out, job = tmp_path / "out", tmp_path / "job.yaml"
    told(*selected(tiny_config, out, "--export", "openjd", job))
    assert openjd("check", job).returncode == 0
    run = openjd("run", job, "--step", "Clips", "--run-dependencies")
    assert run.returncode == 0, run.stdout[-3000:]
    assert [row["sha256"] for row in rows_of(out)] == [row["sha256"] for row in
                                                       rows_of(three_clips)]


def plan_file(folder: Path, **fields: Any) -> PlanFile:
    """Return a plan file of which only the clips are left."""
    request = RenderRequest.of(**{"action": "boxing", "device": "cpu"} | fields)
    return PlanFile(request, folder / "out", folder / "store", False, (), ())


def test_without_anything_to_render_only_clips_are_left(tmp_path: Path) -> None:
    plan = plan_file(tmp_path)
    template = job_template(tmp_path / "a.plan.json", plan, "name", "mimegen", 1.5)
    assert [step["name"] for step in template["steps"]] == ["Clips"]
    assert "dependencies" not in template["steps"][0]


@pytest.mark.parametrize(("text", "numbers"), [
    ("3", [3]), ("0-3", [0, 1, 2, 3]), ("0-1,7,9-13:2", [0, 1, 7, 9, 11, 13])])
def test_numbers_as_openjd_writes_them(text: str, numbers: list[int]) -> None:
    assert numbers_of(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "3-", "-1", "1-2:0", "1,,2"])
def test_what_says_no_numbers_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="0-11"):
        numbers_of(text)


@pytest.mark.parametrize("content", [
    "", "[]", "{}", '{"format": "mimegen plan 9"}', '{"format": "mimegen plan 3", "store": 3}',
    '{"format": "mimegen plan 3", "store": "s", "shots": [], "stills": [], "request": []}'])
def test_what_is_no_plan_file_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(RequestError, match=r"plan\.json: not a plan file"):
        PlanFile.read(tmp_path / "plan.json")


def written_again(file: Path, **fields: Any) -> None:
    """Write a plan file with other fields, and with the key of these."""
    content = json.loads(file.read_text()) | fields
    del content["key"]
    file.write_text(json.dumps(content | {"key": content_key(content)}))


def test_a_plan_file_of_other_code_or_blender_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    plan_file(tmp_path).write(file)
    assert PlanFile.read(file) == plan_file(tmp_path)
    code, _, blender = version().partition(" with Blender ")
    written_again(file, version=code)
    PlanFile.read(file)
    others = ["0.1.0 0123456789ab", *([f"{code} with Blender 9.9.9"] if blender else [])]
    for other in others:
        written_again(file, version=other)
        with pytest.raises(RequestError, match="plan and work with the same version"):
            PlanFile.read(file)


def test_an_edited_plan_file_is_refused(tmp_path: Path) -> None:
    """What its tasks make lies under the keys that were planned, whatever the tasks say."""
    file = tmp_path / "plan.json"
    plan_file(tmp_path, seed="1").write(file)
    file.write_text(file.read_text().replace('"seed": "1"', '"seed": "2"'))
    with pytest.raises(RequestError, match="was edited or damaged"):
        PlanFile.read(file)


def test_a_plan_file_of_an_older_version_says_what_to_do(tmp_path: Path) -> None:
    words = ["--action", "boxing", "--out", "out"]
    (tmp_path / "plan.json").write_text(json.dumps(
        {"format": "mimegen plan 1", "store": "s", "device": "cpu", "request": words,
         "shots": [], "stills": []}))
    done = invoke("work", tmp_path / "plan.json", "--clips")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert "older mimegen" in done.stderr and "mimegen plan --export" in done.stderr


@pytest.mark.slow
def test_a_plan_file_holds_the_request_with_whole_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names stay names, also where the folder has a file of that name."""
    monkeypatch.chdir(tmp_path)
    for name in ("boxing", "man"):
        Path(name).touch()
    shutil.copy(Catalogue.with_libraries(()).file("config", "draft"), "own.yaml")
    done = invoke("plan", "--action", "boxing", "--variants", "man+blank@0,pointlight@0",
                  "--config", "own.yaml", "--seed", "2:4", "--light", "place", "--names", "opaque",
                  "--character", "man", "--out", "made", "--export", "openjd", "job.json")
    assert done.exit_code == 0, done.output
    plan = PlanFile.read(tmp_path / "job.plan.json")
    assert plan.request == RenderRequest.of(
        action="boxing", variants="man+blank@0,pointlight@0", seed="2:4", light="place",
        config=str(tmp_path.resolve() / "own.yaml"), device="opengl", character="man")
    assert plan.out == tmp_path.resolve() / "made" and plan.opaque
    assert plan.store == plan.out / "store" and plan.frames > 0


@pytest.mark.parametrize("planted", [
    {"slurm_setup": "touch hacked"}, {"farm": "slurm"}, {"farm_config": "farm.yaml"},
    {"address": "ray://example"}])
def test_a_plan_file_names_no_farm(planted: dict[str, str], tmp_path: Path) -> None:
    """Commands of --slurm-setup would run in a shell."""
    file = tmp_path / "job.plan.json"
    plan_file(tmp_path).write(file)
    written_again(file, request=json.loads(file.read_text())["request"] | planted)
    done = invoke("work", file, "--clips")
    assert done.exit_code == 2 and f"unknown option '{next(iter(planted))}'" in done.stderr
    assert done.stderr.count("\n") == 1 and not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("actions", "long"), [(["basketball"], False), (["all"], True)])
def test_what_takes_over_ten_minutes_is_known_before_it_begins(
    tmp_path: Path, actions: list[str], long: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue = Catalogue.with_libraries(())
    names = list(catalogue.actions) if actions == ["all"] else actions
    takes = [library_take(catalogue.action(name), None, 0) for name in names]
    config = read_config(catalogue.file("config", "preview"))
    cells = parse_variants("mime", set(catalogue.characters), set(catalogue.backgrounds))
    plan = make_plan(catalogue, takes, cells, config, "cpu")
    seconds = at_least_s(plan, config, "cpu", Store(tmp_path), 2, 600.0)
    assert seconds is not None and (seconds >= 600.0) == long
    assert at_least_s(plan, config, "cuda", Store(tmp_path), 2, 600.0) is None
    selection: Any = SimpleNamespace(plan=plan, config=config, device=Device("cpu", 1))
    farm: Any = SimpleNamespace(workers=2)
    _warn_if_long(selection, Store(tmp_path), farm)
    said = capsys.readouterr().out
    assert said.count("\n") == int(long) and ("--config draft" in said) == long


@pytest.mark.parametrize(("value", "said"), [
    (0.0, "0"), (0.00004, "less than 0.001"), (0.0412345, "0.0412"), (3.0, "3"), (12.345, "12.3"),
    (12345.6, "12,300"), (2.5e6, "2,500,000")])
def test_hours_and_gigabytes_are_said_as_people_write_them(value: float, said: str) -> None:
    assert _three(value) == said


@pytest.mark.slow
def test_who_calibrates_sees_frame_after_frame_and_waits_a_minute_at_most(
    tiny_config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paces, "CALIBRATION", replace(paces.CALIBRATION, long_enough_s=1e-6))
    done = CliRunner().invoke(main, ["plan", *map(str, selected(
        tiny_config, tmp_path / "out", "--calibrate"))])
    assert done.exit_code == 0, done.output
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [
        "frame 1 of 9", "frame 2 of 9"]
    assert "s a frame, as timed on this machine)" in done.stdout


def test_a_camera_look_is_part_of_what_a_clip_is(tmp_path: Path) -> None:
    words = ("plan", "--action", "basketball", "--variants", "base+blank@0", "--config", "draft")
    for extra, error in ((("--camera-look", "phoen"), "did you mean"),
                         (("--camera-look", "phone", "--camera", "follow"), "fixed camera")):
        answer = invoke(*words, *extra)
        assert answer.exit_code == 2 and error in answer.output, answer.output
