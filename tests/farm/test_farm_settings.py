"""Settings of clusters: their file, and what the command line says before it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from mimegen.base.errors import RequestError
from mimegen.cli import main
from mimegen.farm.ray import _fitting
from mimegen.farm.settings import FarmSettings, read_settings


def file_with(folder: Path, text: str) -> Path:
    path = folder / "farm.yaml"
    path.write_text(text)
    return path


def test_a_settings_file_is_typed(tmp_path: Path) -> None:
    settings = read_settings(file_with(
        tmp_path, "farm: ray\naddress: ray://head:10001\ngpus_per_task: 0.5\nworkers: 40\n"
                  "shared_store: false\nstore_there: /mnt/store\n"))
    assert settings == FarmSettings(farm="ray", address="ray://head:10001", gpus_per_task=0.5,
                                    workers=40, shared_store=False, store_there=Path("/mnt/store"))


def test_slurm_settings_are_typed(tmp_path: Path) -> None:
    settings = read_settings(file_with(
        tmp_path, "farm: slurm\nslurm_partition: gpu\nslurm_time: '4:00:00'\n"
                  "slurm_setup: module load cuda\nslurm_options: [--mem=8G, --qos=low]\n"))
    assert settings == FarmSettings(farm="slurm", slurm_partition="gpu", slurm_time="4:00:00",
                                    slurm_setup=("module load cuda",),
                                    slurm_options=("--mem=8G", "--qos=low"))


@pytest.mark.parametrize(("text", "words"), [
    ("farm: ray\nadress: auto\n", r"line 2: adress: unknown key \(did you mean address\?\)"),
    ("farm: kubernetes\n", "line 1: farm: Input should be 'local', 'ray' or 'slurm'"),
    ("farm: slurm\nslurm_time: 4:00:00\n", "line 2: slurm_time: put it in quotes"),
    ("slurm_partion: gpu\n", r"slurm_partion: unknown key \(did you mean slurm_partition"),
    ("workers: 0\n", "line 1: workers: "),
    ("workers_per_gpu: 0\n", "workers_per_gpu: .*greater than or equal to 1"),
    ("cpus_per_task: 0\n", "cpus_per_task: .*greater than or equal to 1"),
    ("gpus_per_task: -0.5\n", "gpus_per_task: .*greater than or equal to 0"),
    ("silence_s: 0\n", "silence_s: .*greater than 0"),
    ("task_s: 0\n", "task_s: .*greater than 0"),
])
def test_a_wrong_settings_file_is_one_clear_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        read_settings(file_with(tmp_path, text))


def test_the_least_of_each_is_enough_and_one_line_may_stand_alone(tmp_path: Path) -> None:
    settings = read_settings(file_with(
        tmp_path, "workers: 1\nworkers_per_gpu: 1\ncpus_per_task: 1\ngpus_per_task: 0\n"
                  "slurm_setup: module load cuda\n"))
    assert settings == FarmSettings(workers=1, workers_per_gpu=1, cpus_per_task=1,
                                    gpus_per_task=0, slurm_setup=("module load cuda",))
    assert (settings.farm, settings.address, settings.silence_s) == ("local", "auto", 1800)


def test_the_command_line_goes_before_the_file(tmp_path: Path) -> None:
    settings = file_with(tmp_path, "farm: ray\naddress: 127.0.0.1:1\n")
    arguments = ["render", "--action", "basketball", "--variants", "base+blank@0", "--quiet",
                 "--out", str(tmp_path / "out"), "--farm-config", str(settings)]
    refused = CliRunner().invoke(main, [*arguments, "--gpus-per-task", "1"])
    assert refused.exit_code == 2
    assert "expected the kind of device of the farm's machines: optix" in refused.output


def test_a_machine_holds_as_many_workers_as_its_scarcest_resource_allows() -> None:
    machine = {"CPU": 16.0, "GPU": 4.0}
    assert [_fitting(machine, 1, 0), _fitting(machine, 3, 0), _fitting(machine, 4, 1),
            _fitting(machine, 1, 0.5), _fitting({"CPU": 8.0}, 1, 1),
            _fitting({"CPU": 16.0, "GPU": 1.0}, 1, 0.1)] == [16, 5, 4, 8, 0, 10]
